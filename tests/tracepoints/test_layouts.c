/* Programs whose headers are older or newer than the library: no struct of theirs is read or
 * written beyond its end, and nothing that they ask for is ignored silently. */
#include <errno.h>
#include <pythia/collector.h>
#include <pythia/variable.h>
#include <stddef.h>

#include "traced.h"

#define LAYOUT(condition) _Static_assert(condition, "programs that were compiled have it so")

/* The layouts that programs have compiled into them, on machines of 64 bits. */
#if UINTPTR_MAX == UINT64_MAX
LAYOUT(sizeof(struct pythia_point) == 40 && offsetof(struct pythia_point, kind) == 24);
LAYOUT(offsetof(struct pythia_point, version) == 25 && offsetof(struct pythia_point, near) == 32);
LAYOUT(sizeof(struct pythia_request) == 24 && offsetof(struct pythia_request, version) == 16);
LAYOUT(sizeof(struct pythia_label) == 24 && offsetof(struct pythia_label, version) == 16);
LAYOUT(sizeof(struct pythia_context) == 40 && offsetof(struct pythia_context, version) == 38);
LAYOUT(sizeof(struct pythia_scope) == 112 && offsetof(struct pythia_scope, version) == 109);
LAYOUT(offsetof(struct pythia_scope, span) == 56 && offsetof(struct pythia_scope, error) == 108);
#endif

static int begin(void **state)
{
    traced_begin();
    return 0;
}

static int end(void **state)
{
    traced_end();
    return 0;
}

static void fields_that_the_library_lacks_must_be_0(void **state)
{
    struct {
        struct pythia_tracepoints_options known;
        uint64_t later;
    } options = {.later = 1};
    assert_int_equal(pythia_tracepoints_setup_sized(&options.known, sizeof(options)), -E2BIG);
    options.later = 0;
    options.known.rings = 5000;
    assert_int_equal(pythia_tracepoints_setup_sized(&options.known, sizeof(options)), -EINVAL);
    struct {
        struct pythia_collector_options known;
        uint64_t later;
    } collector = {.later = 1};
    assert_int_equal(pythia_collector_start_sized(&collector.known, sizeof(collector)), -E2BIG);
    struct {
        struct pythia_drain_handler known;
        void *later;
    } handler = {.later = &handler};
    struct pythia_drain *drain = NULL;
    char why[256] = "";
    assert_int_equal(
        pythia_drain_open_sized(traced.directory, &handler.known, sizeof(handler), &drain, why),
        -E2BIG);
    assert_null(drain);
    assert_string_equal(why, "the program was built for a later version of this library");
    struct {
        struct pythia_variable_source known;
        uint64_t later;
    } source = {PYTHIA_SOURCE_LONG(&(long){0}), 1};
    assert_int_equal(pythia_variable_define_sized("later", PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS,
                                                  &source.known, sizeof(source)),
                     -E2BIG);
    assert_int_equal(pythia_variable_count(), 0);
}

/* Fields that an older program does not have are not read, and count as 0. */
static void fields_that_the_program_lacks_are_0(void **state)
{
    const struct pythia_tracepoints_options options = {.service = "test", .rings = 5000};
    assert_int_equal(pythia_tracepoints_setup(&options), -EINVAL);
    assert_int_equal(pythia_tracepoints_setup_sized(
                         &options, offsetof(struct pythia_tracepoints_options, rings)),
                     0);
}

static void no_more_is_written_than_the_program_has(void **state)
{
    union {
        struct pythia_tracepoints_state state;
        struct pythia_switchboard_point point;
        unsigned char bytes[sizeof(struct pythia_tracepoints_state) + 8];
    } small, large;
    size_t two = offsetof(struct pythia_tracepoints_state, types);
    PYTHIA_SPAN("point");
    memset(small.bytes, 0xAA, sizeof(small));
    memset(large.bytes, 0xAA, sizeof(large));
    pythia_tracepoints_state_get_sized(&small.state, two);
    pythia_tracepoints_state_get_sized(&large.state, sizeof(large));
    assert_int_equal(small.state.points, 1);
    assert_memory_equal(small.bytes, large.bytes, two);
    for (size_t i = two; i < sizeof(small); i++)
        assert_int_equal(small.bytes[i], 0xAA);
    for (size_t i = sizeof(large.state); i < sizeof(large); i++)
        assert_int_equal(large.bytes[i], 0);
    memset(small.bytes, 0xAA, sizeof(small));
    assert_int_equal(
        pythia_switchboard_at_sized(traced.board, 0, &small.point,
                                    offsetof(struct pythia_switchboard_point, switches)),
        0);
    assert_string_equal(small.point.id, "test:point");
    assert_int_equal(small.point.switches, UINT64_C(0xAAAAAAAAAAAAAAAA));
    struct pythia_switchboard_state board = {.removed_bytes = 7};
    pythia_switchboard_state_get_sized(traced.board, &board,
                                       offsetof(struct pythia_switchboard_state, removed_bytes));
    assert_int_equal(board.points, 1);
    assert_int_equal(board.removed_bytes, 7);
    struct pythia_drain_counts counts = {.refused_bytes = 7};
    pythia_drain_counts_get_sized(traced.drain, &counts,
                                  offsetof(struct pythia_drain_counts, refused_bytes));
    assert_int_equal(counts.refused_bytes, 7);
    struct pythia_collector_state collector = {.room = 7};
    pythia_collector_state_get_sized(&collector, offsetof(struct pythia_collector_state, room));
    assert_int_equal(collector.room, 7);
    struct pythia_variable_info info = {.value = 7};
    int tries = pythia_variable_define("tries", PYTHIA_CLASS_COUNTER, PYTHIA_BIND_REQUEST, NULL);
    assert_int_equal(
        pythia_variable_get_sized(tries, &info, offsetof(struct pythia_variable_info, value)), 0);
    assert_string_equal(info.name, "tries");
    assert_rel_equal(info.value, 7, 0);
}

/* Structs without a size have a version. A program that leaves it out has the first layout. */
static void structs_of_the_program_have_a_version(void **state)
{
    static struct pythia_point with = PYTHIA_POINT(PYTHIA_POINT_INTERNAL, "with", 4),
                               without = PYTHIA_POINT(PYTHIA_POINT_INTERNAL, "without", 7);
    static const struct pythia_label label = PYTHIA_LABEL("label");
    struct pythia_scope first, second;
    struct pythia_context context, mine = {.flags = PYTHIA_CONTEXT_SAMPLED}, back;
    without.version = 0;
    assert_int_equal(with.version, PYTHIA_TRACEPOINTS_VERSION);
    assert_int_equal(label.version, PYTHIA_TRACEPOINTS_VERSION);
    open_point("test:with");
    open_point("test:without");
    assert_ptr_equal(pythia_enter(&with, &first), &first);
    assert_ptr_equal(pythia_enter(&without, &second), &second);
    assert_int_equal(first.version, PYTHIA_TRACEPOINTS_VERSION);
    assert_int_equal(second.version, 0);
    pythia_exit(&second);
    pythia_exit(&first);
    pythia_context_get(&context);
    assert_int_equal(context.version, PYTHIA_TRACEPOINTS_VERSION);
    pythia_context_set(&mine, &back); /* made by the program */
    pythia_context_get(&context);
    assert_int_equal(context.version, PYTHIA_TRACEPOINTS_VERSION);
    assert_int_equal(back.version, PYTHIA_TRACEPOINTS_VERSION);
    pythia_context_set(&back, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_the_library_lacks_must_be_0),
        cmocka_unit_test(fields_that_the_program_lacks_are_0),
        cmocka_unit_test(no_more_is_written_than_the_program_has),
        cmocka_unit_test(structs_of_the_program_have_a_version),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
