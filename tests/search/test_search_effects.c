/* What was measured of opened points goes with the cycle it was measured in, and with the reason
 * when such a point is closed. */
#include "pythia/effects.h"
#include "pythia/search.h"
#include "requests.h"

/* A search over requests as text, as a closed loop drives it. */
struct hunt {
    struct requests r;
    struct pythia_space *space;
    struct pythia_search *search;
    struct pythia_effects *effects;
    struct pythia_cycle cycle;
    uint64_t number;
};

/* Five calls one behind the other, of which C varies, and within it what lies behind K. */
static void write(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{A{10 F{5}} B{10} C{5 K{5} %d L{5}} D{10} E{10}}",
             (int)(20 + i * 37 % 100));
}

static uint32_t type_of(struct hunt *h)
{
    return requests_string(&h->r, "R");
}

static void begin(struct hunt *h)
{
    struct pythia_search_options how = {
        .budget = {.points_per_cycle = 2}, .price_ns = 1000, .seed = 1};
    *h = (struct hunt){.number = 0};
    requests_begin(&h->r);
    assert_int_equal(pythia_space_create(h->r.vocabulary, &h->space), PYTHIA_OK);
    for (uint64_t i = 0; i < 5; i++) {
        char text[256];
        write(text, sizeof(text), i);
        const struct pythia_trace *trace = requests_trace(&h->r, i, text);
        assert_int_equal(pythia_space_add(h->space, type_of(h), trace, requests_path(&h->r, trace)),
                         PYTHIA_OK);
    }
    assert_int_equal(pythia_search_create(h->space, &how, &h->search), PYTHIA_OK);
    assert_int_equal(pythia_effects_create(h->r.vocabulary,
                                           &(struct pythia_effects_options){.fold = true},
                                           &h->effects),
                     PYTHIA_OK);
}

static void end(struct hunt *h)
{
    pythia_effects_destroy(h->effects);
    pythia_search_destroy(h->search);
    pythia_space_destroy(h->space);
    requests_end(&h->r);
}

/* Requests under the open points, measured, and decided about. */
static void see(struct hunt *h, uint64_t requests, uint64_t *hits)
{
    pythia_trace_builder_destroy(h->r.builder);
    pythia_open_points_destroy(h->r.open);
    assert_int_equal(pythia_search_open_points(h->search, &h->r.open), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(h->r.vocabulary, h->r.open, &h->r.builder),
                     PYTHIA_OK);
    requests_group(&h->r, &(struct pythia_groups_options){.fold = true});
    assert_int_equal(pythia_effects_begin(h->effects, h->r.open), PYTHIA_OK);
    for (uint64_t i = 0; i < requests; i++) {
        char text[256];
        write(text, sizeof(text), h->number);
        const struct pythia_trace *trace = requests_trace(&h->r, h->number++, text);
        for (uint32_t k = 0; k < trace->count; k++)
            hits[trace->spans[k].tracepoint]++;
        const struct pythia_critical_path *path = requests_path(&h->r, trace);
        assert_int_equal(pythia_groups_add_typed(h->r.groups, type_of(h), trace, path), PYTHIA_OK);
        assert_int_equal(pythia_effects_add(h->effects, trace, type_of(h), path), PYTHIA_OK);
    }
    assert_int_equal(pythia_groups_finish(h->r.groups), PYTHIA_OK);
}

static void cycle(struct hunt *h, uint64_t requests)
{
    uint64_t hits[64] = {0};
    const struct pythia_effect *list;
    size_t count;
    see(h, requests, hits);
    assert_int_equal(pythia_effects_finish(h->effects, h->cycle.number + 1, &list, &count),
                     PYTHIA_OK);
    assert_int_equal(pythia_search_tell(h->search, list, count), PYTHIA_OK);
    assert_int_equal(pythia_search_cycle(h->search, h->r.groups, hits, 64, &h->cycle), PYTHIA_OK);
    assert_int_equal(h->cycle.effect_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(h->cycle.effects[i].tracepoint, list[i].tracepoint);
    for (size_t i = 0; i < h->cycle.switch_count; i++) {
        const struct pythia_switch *s = &h->cycle.switches[i];
        if (s->open)
            assert_int_equal(
                pythia_effects_open(h->effects, s->tracepoint, type_of(h), h->cycle.number),
                PYTHIA_OK);
        else
            pythia_effects_close(h->effects, s->tracepoint, type_of(h));
    }
}

/* Everything opened is measured once, in the next cycle; what is closed is closed with a reason
 * that says what was measured. */
static void each_opened_point_is_measured_and_that_stays_with_its_end(void **state)
{
    struct hunt h;
    size_t opened = 0, measured = 0, closed = 0, due = 0;
    begin(&h);
    do {
        cycle(&h, 60);
        assert_int_equal(h.cycle.effect_count, due);
        due = 0;
        for (size_t i = 0; i < h.cycle.effect_count; i++) {
            const struct pythia_effect *e = &h.cycle.effects[i];
            measured++;
            assert_int_equal(e->opened + 1, h.cycle.number);
            assert_int_equal(e->requests, 60);
            assert_true(e->verdict == PYTHIA_EFFECT_EXPLAINS ||
                        e->verdict == PYTHIA_EFFECT_DOES_NOT_PAY);
        }
        for (size_t i = 0; i < h.cycle.switch_count; i++) {
            const struct pythia_switch *s = &h.cycle.switches[i];
            opened += s->open;
            due += s->open;
            if (s->open)
                continue;
            closed++;
            assert_non_null(strstr(s->reason, "; measured after it was opened in cycle "));
            assert_non_null(strstr(s->reason, " % of the variance"));
        }
    } while (!h.cycle.finished && h.cycle.number < 20);
    assert_int_equal(h.cycle.problems[0].state, PYTHIA_PROBLEM_DONE);
    assert_true(opened >= 2 && opened == measured && closed > 0);
    end(&h);
}

static struct pythia_effect made_up(struct hunt *h, const char *id, double share)
{
    uint32_t point = requests_point(&h->r, id);
    struct pythia_finding f = {.place = {.context = point,
                                         .from_tracepoint = point,
                                         .to_tracepoint = point,
                                         .to_event = PYTHIA_EVENT_END},
                               .share = share,
                               .low = NAN,
                               .high = NAN};
    return (struct pythia_effect){.tracepoint = point,
                                  .type = type_of(h),
                                  .opened = 7,
                                  .coarse = f,
                                  .fine = f,
                                  .inside = share,
                                  .verdict = PYTHIA_EFFECT_DOES_NOT_PAY};
}

static void all_that_is_told_before_a_cycle_goes_with_it_and_no_other(void **state)
{
    struct hunt h;
    uint64_t hits[64] = {0};
    begin(&h);
    struct pythia_effect first = made_up(&h, "A", .5), second = made_up(&h, "B", .25);
    see(&h, 60, hits);
    assert_int_equal(pythia_search_tell(h.search, &first, 1), PYTHIA_OK);
    assert_int_equal(pythia_search_tell(h.search, &second, 1), PYTHIA_OK);
    assert_int_equal(pythia_search_cycle(h.search, h.r.groups, hits, 64, &h.cycle), PYTHIA_OK);
    assert_int_equal(h.cycle.effect_count, 2);
    assert_int_equal(h.cycle.effects[0].tracepoint, requests_point(&h.r, "A"));
    assert_int_equal(h.cycle.effects[1].tracepoint, requests_point(&h.r, "B"));
    assert_int_equal(pythia_search_cycle(h.search, h.r.groups, hits, 64, &h.cycle), PYTHIA_OK);
    assert_int_equal(h.cycle.effect_count, 0);
    end(&h);
}

static void without_memory_nothing_is_told(void **state)
{
    struct hunt h;
    uint64_t hits[64] = {0};
    begin(&h);
    struct pythia_effect one = made_up(&h, "A", .5);
    see(&h, 60, hits);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_search_tell(h.search, &one, 1), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_search_cycle(h.search, h.r.groups, hits, 64, &h.cycle), PYTHIA_OK);
    assert_int_equal(h.cycle.effect_count, 0);
    assert_int_equal(pythia_search_tell(h.search, NULL, 0), PYTHIA_OK);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_opened_point_is_measured_and_that_stays_with_its_end),
        cmocka_unit_test(all_that_is_told_before_a_cycle_goes_with_it_and_no_other),
        cmocka_unit_test(without_memory_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
