/* The library is in this program twice. Whether the two become one, as the dynamic linker has it
 * for a library that is linked, or stay two, as for one that is loaded with a copy inside: both
 * obey the switchboard that everybody shares, and neither is in the other's way. */
#include <dlfcn.h>

#include "linked_twice.h"
#include "traced.h"

static void (*pass_in_copy)(int passes);

static void throw_both(unsigned open)
{
    throw_types("test:in program", open & 1 ? PYTHIA_SWITCHES_ALL : 0);
    throw_types("test:in library", open & 2 ? PYTHIA_SWITCHES_ALL : 0);
}

static void check_both(void (*pass)(int passes))
{
    for (unsigned open = 0; open < 4; open++) {
        struct collection c;
        throw_both(open);
        {
            PYTHIA_SPAN("in program");
            pass(3);
        }
        read_spans(&c);
        assert_problems(&c, "");
        assert_int_equal(count_of(&c, "test:in program"), open & 1 ? 1 : 0);
        assert_int_equal(count_of(&c, "test:in library"), open & 2 ? 3 : 0);
        collection_close(&c);
    }
}

static void a_library_that_is_linked_shares_what_the_program_has(void **state)
{
    struct pythia_drain_counts counts;
    check_both(pass_in_library);
    pythia_drain_counts_get(traced.drain, &counts);
    assert_int_equal(counts.processes, 1);
}

static void a_library_with_a_copy_inside_has_rings_of_its_own(void **state)
{
    struct pythia_drain_counts counts;
    void *library = dlopen(LINKED_TWICE, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)&pass_in_copy = dlsym(library, "pass_in_library");
    assert_non_null(pass_in_copy);
    check_both(pass_in_copy);
    pythia_drain_counts_get(traced.drain, &counts);
    assert_int_equal(counts.processes, 2); /* as they look from outside */
}

static void in_all_three(void)
{
    PYTHIA_SPAN("in program");
    pass_in_library(2);
    pass_in_copy(1);
}

static void both_survive_a_fork(void **state)
{
    struct collection c;
    throw_both(3);
    pass_in_copy(1);
    in_child(in_all_three);
    in_all_three();
    read_spans(&c);
    assert_int_equal(count_of(&c, "test:in program"), 2);
    assert_int_equal(count_of(&c, "test:in library"), 7);
    collection_close(&c);
}

/* What was in its rings is read; the program's own go on. */
static void a_copy_may_be_unloaded(void **state)
{
    struct collection c;
    if (SANITIZED)
        skip(); /* names of points stay, and nothing refers to them then: they would be leaks */
    void *library = dlopen(LINKED_TWICE, RTLD_NOW | RTLD_LOCAL);
    pass_in_copy(5);
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(dlclose(library), 0); /* the first of the two tests has loaded it, too */
    {
        PYTHIA_SPAN("in program");
    }
    read_spans(&c);
    assert_int_equal(count_of(&c, "test:in program"), 1);
    assert_int_equal(count_of(&c, "test:in library"), 5);
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_linked_shares_what_the_program_has),
        cmocka_unit_test(a_library_with_a_copy_inside_has_rings_of_its_own),
        cmocka_unit_test(both_survive_a_fork),
        cmocka_unit_test(a_copy_may_be_unloaded),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
