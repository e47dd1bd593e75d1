/* A search that is saved goes on elsewhere as if nothing had been; a broken text is refused. */
#include "hunt.h"
#include "pythia/buf.h"

/* The search as another process would have it. */
static void move_search(struct hunt *h)
{
    struct pythia_buf saved = {0}, again = {0};
    struct pythia_search *moved = NULL;
    assert_int_equal(pythia_search_save(h->search, &saved), PYTHIA_OK);
    assert_int_equal(pythia_search_create(h->space, &h->how, &moved), PYTHIA_OK);
    assert_int_equal(pythia_search_load(moved, pythia_buf_text(&saved)), PYTHIA_OK);
    assert_int_equal(pythia_search_save(moved, &again), PYTHIA_OK);
    assert_string_equal(again.bytes, saved.bytes);
    pythia_search_destroy(h->search);
    h->search = moved;
    pythia_buf_free(&saved);
    pythia_buf_free(&again);
}

/* Two causes, one of which is small, so that causes are found, points retired and opened again. */
static struct pythia_workflow_options two_causes(uint64_t seed)
{
    struct pythia_workflow_options o = bushy(seed);
    add_sleep(&o);
    o.causes[o.cause_count++] = (struct pythia_workflow_cause){PYTHIA_PLANTED_SLEEP, .3, .1, 0};
    return o;
}

static void a_search_that_moved_in_each_cycle_decides_as_one_that_stayed(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct hunt stayed, moved;
        struct pythia_workflow_options o = two_causes(seed);
        begin_workflow(&stayed, &o);
        begin_workflow(&moved, &o);
        search(&stayed);
        search(&moved);
        for (int i = 0; i < 12; i++) {
            cycle(&stayed, 100);
            cycle(&moved, 100);
            move_search(&moved);
        }
        assert_true(times(&stayed, "", true) > 0);
        assert_true(times(&stayed, "", false) > 0);
        assert_same_decisions(&stayed, &moved);
        end(&stayed);
        end(&moved);
    }
}

static void two_types(char *to, size_t room, uint64_t number)
{
    unsigned late = (unsigned)(number * 7 % 10 * 10);
    if (number % 2)
        snprintf(to, room, "A{10 B{10 C{%u}}}", 10 + late);
    else
        snprintf(to, room, "D{10 E{10 F{%u}}}", 10 + late);
}

static void a_text_that_is_cut_off_or_changed_crashes_nothing(void **state)
{
    struct hunt h;
    struct pythia_workflow_options o = two_causes(3);
    struct pythia_buf saved = {0};
    begin_workflow(&h, &o);
    search(&h);
    for (int i = 0; i < 8; i++)
        cycle(&h, 100);
    assert_int_equal(pythia_search_save(h.search, &saved), PYTHIA_OK);
    struct pythia_text whole = pythia_buf_text(&saved);
    for (size_t size = 0; size < whole.size; size += 1 + size / 200) {
        struct pythia_search *s = NULL;
        assert_int_equal(pythia_search_create(h.space, &h.how, &s), PYTHIA_OK);
        assert_int_equal(pythia_search_load(s, (struct pythia_text){whole.bytes, size}),
                         PYTHIA_EFORMAT);
        pythia_search_destroy(s);
    }
    for (size_t at = 0; at < whole.size; at += 1 + at / 200) {
        struct pythia_search *s = NULL;
        char was = saved.bytes[at];
        saved.bytes[at] = was == '9' ? 'x' : '9';
        assert_int_equal(pythia_search_create(h.space, &h.how, &s), PYTHIA_OK);
        (void)pythia_search_load(s, pythia_buf_text(&saved)); /* may mean something else */
        pythia_search_destroy(s);
        saved.bytes[at] = was;
    }
    pythia_buf_free(&saved);
    end(&h);
}

/* Its types are not in the space that it is loaded into. */
static void a_search_in_another_space_is_refused(void **state)
{
    struct hunt h, other;
    struct pythia_buf saved = {0};
    begin_text(&h, two_types, NULL);
    search(&h);
    cycle(&h, 200);
    assert_int_equal(pythia_search_save(h.search, &saved), PYTHIA_OK);
    begin_text(&other, two_types, "A{10 B{10 C{10}}}");
    search(&other);
    assert_int_equal(pythia_search_load(other.search, pythia_buf_text(&saved)), PYTHIA_EFORMAT);
    pythia_buf_free(&saved);
    end(&h);
    end(&other);
}

static void without_memory_a_load_fails_and_leaks_nothing(void **state)
{
    struct hunt h;
    struct pythia_workflow_options o = two_causes(3);
    struct pythia_buf saved = {0};
    int status = PYTHIA_ENOMEM;
    begin_workflow(&h, &o);
    search(&h);
    for (int i = 0; i < 8; i++)
        cycle(&h, 100);
    assert_int_equal(pythia_search_save(h.search, &saved), PYTHIA_OK);
    for (int64_t allowed = 0; status != PYTHIA_OK; allowed++) {
        struct pythia_search *s = NULL;
        assert_int_equal(pythia_search_create(h.space, &h.how, &s), PYTHIA_OK);
        pythia_mem_fail_after(allowed);
        status = pythia_search_load(s, pythia_buf_text(&saved));
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        pythia_search_destroy(s);
    }
    pythia_buf_free(&saved);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_that_moved_in_each_cycle_decides_as_one_that_stayed),
        cmocka_unit_test(a_text_that_is_cut_off_or_changed_crashes_nothing),
        cmocka_unit_test(a_search_in_another_space_is_refused),
        cmocka_unit_test(without_memory_a_load_fails_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
