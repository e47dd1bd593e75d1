/* The search goes down a layer once one node holds the variance. */
#include "hunt.h"

static void lay(struct hunt *h, const char *id, enum pythia_layer layer)
{
    if (!h->how.layers)
        assert_int_equal(pythia_layers_create(h->r.vocabulary, &h->how.layers), PYTHIA_OK);
    assert_int_equal(pythia_layers_set(h->how.layers, pythia_text_of(id), layer), PYTHIA_OK);
}

static void finish(struct hunt *h)
{
    pythia_prices_destroy(h->how.prices);
    pythia_layers_destroy(h->how.layers);
    end(h);
}

/* When a point was opened first: the number of the decision; SIZE_MAX: never. */
static size_t opened_at(const struct hunt *h, const char *id)
{
    for (size_t i = 0; i < h->history_count; i++)
        if (h->history[i].open && h->history[i].point == point(h, id))
            return i;
    return SIZE_MAX;
}

/* Six steps, each done twice. S0 and S3 wait for a lock, S1 and S4 for a disk, which takes S1
 * longest and S4 longer in some requests than in others. */
static void write_steps(char *to, size_t room, uint64_t number)
{
    static const char *const waits[] = {"lock{100}", "disk{800}", "100", "lock{100}", NULL, "100"};
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 12; i++)
        if (waits[i % 6])
            at += (size_t)snprintf(to + at, room - at, " S%d{10 %s 10}", i % 6, waits[i % 6]);
        else
            at += (size_t)snprintf(to + at, room - at, " S4{10 disk{%d} 10}",
                                   100 + (int)(number * 7 % 10 * 100));
    snprintf(to + at, room - at, " 10}");
}

static void begin_steps(struct hunt *h)
{
    begin_text(h, write_steps, NULL);
    lay(h, "disk", PYTHIA_LAYER_KERNEL);
    lay(h, "lock", PYTHIA_LAYER_KERNEL);
}

static void the_kernel_is_opened_under_the_step_that_holds_the_variance(void **state)
{
    struct hunt h;
    begin_steps(&h);
    h.how.budget.points_per_cycle = 1;
    search(&h);
    assert_in_range(run(&h, 50, 30), 1, 12);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside disk in S4");
    assert_true(opened_at(&h, "S4") < opened_at(&h, "disk"));
    assert_true(opened_at(&h, "S4") < opened_at(&h, "lock"));
    const char *reason = h.history[opened_at(&h, "disk")].reason;
    assert_int_equal(times(&h, "S4", false), 0); /* it says for what the disk is waited for */
    assert_non_null(strstr(reason, "; S4 holds it with a probability of "));
    assert_non_null(strstr(reason, " %, so the search goes down to the kernel"));
    finish(&h);
}

/* The same requests, in which all points are of one layer: it makes a difference. */
static void without_layers_the_kernel_may_come_first(void **state)
{
    struct hunt h;
    begin_text(&h, write_steps, NULL);
    h.how.budget.points_per_cycle = 1;
    search(&h);
    run(&h, 50, 30);
    assert_true(opened_at(&h, "disk") < opened_at(&h, "S4"));
    for (size_t i = 0; i < h.history_count; i++)
        assert_null(strstr(h.history[i].reason, "goes down"));
    finish(&h);
}

/* By hand: the standard deviation of durations is that of 0, 200, …, 1800 ns: 574 ns. A request
 * waits four times for the disk. Even if S4 holds all of it, 4 * 150 ns = 600 ns is more. */
static void a_layer_that_costs_more_than_its_host_may_explain_stays_closed(void **state)
{
    struct hunt h;
    begin_steps(&h);
    assert_int_equal(pythia_prices_create(h.r.vocabulary, &h.how.prices), PYTHIA_OK);
    assert_int_equal(pythia_prices_set(h.how.prices, PYTHIA_TEXT("disk"), 150), PYTHIA_OK);
    assert_int_equal(pythia_prices_set(h.how.prices, PYTHIA_TEXT("lock"), 150), PYTHIA_OK);
    search(&h);
    run(&h, 50, 30);
    assert_int_equal(times(&h, "disk", true) + times(&h, "lock", true), 0);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside S4");
    finish(&h);
}

/* Three steps share the variance: none holds half of it. */
static void write_shared(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    struct pythia_random random;
    pythia_random_init(&random, number);
    for (int i = 0; i < 3; i++)
        at += (size_t)snprintf(to + at, room - at, " S%d{10 disk{%d} 10}", i,
                               100 + (int)(pythia_random_below(&random, 10) * 100));
    snprintf(to + at, room - at, " 10}");
}

static void where_no_node_holds_it_the_search_goes_down_at_last(void **state)
{
    struct hunt h;
    begin_text(&h, write_shared, NULL);
    lay(&h, "disk", PYTHIA_LAYER_KERNEL);
    search(&h);
    run(&h, 50, 40);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    for (int i = 0; i < 3; i++) {
        char id[] = {'S', (char)('0' + i), '\0'};
        assert_true(opened_at(&h, id) < opened_at(&h, "disk"));
    }
    finish(&h);
}

/* An application, a library that it calls, and the kernel below that. */
static void write_three_layers(char *to, size_t room, uint64_t number)
{
    int ns = 100 + (int)(number * 7 % 10 * 100);
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 4; i++)
        at += (size_t)snprintf(to + at, room - at,
                               " S%d{10 read{10 disk{20} 10} 10 sync{10 disk{%d} 10 lock{5} 5} 10}",
                               i, i == 2 ? ns : 100);
    snprintf(to + at, room - at, " 10}");
}

static void layers_are_gone_down_one_after_the_other(void **state)
{
    struct hunt h;
    begin_text(&h, write_three_layers, NULL);
    lay(&h, "read", PYTHIA_LAYER_LIBRARY);
    lay(&h, "sync", PYTHIA_LAYER_LIBRARY);
    lay(&h, "disk", PYTHIA_LAYER_KERNEL);
    lay(&h, "lock", PYTHIA_LAYER_KERNEL);
    search(&h);
    run(&h, 50, 40);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside disk in sync");
    assert_true(opened_at(&h, "S2") < opened_at(&h, "sync"));
    assert_true(opened_at(&h, "sync") < opened_at(&h, "disk"));
    finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_is_opened_under_the_step_that_holds_the_variance),
        cmocka_unit_test(without_layers_the_kernel_may_come_first),
        cmocka_unit_test(a_layer_that_costs_more_than_its_host_may_explain_stays_closed),
        cmocka_unit_test(where_no_node_holds_it_the_search_goes_down_at_last),
        cmocka_unit_test(layers_are_gone_down_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
