#include "pythia/own_time.h"
#include "pythia/place.h"
#include "pythia/rank.h"
#include "requests.h"

static const struct pythia_rank_options by_share = {.level = .95, .alpha = .05};

struct ranked {
    const struct pythia_row **rows;
    size_t count;
    const struct pythia_cct *cct;
    struct pythia_ranking ranking;
};

static struct ranked rank(struct requests *r)
{
    size_t types;
    const struct pythia_type *type = requests_finish(r, &types);
    struct ranked out = {.cct = pythia_groups_cct(r->groups)};
    out.rows = requests_rows(type, &out.count);
    assert_int_equal(pythia_rank(out.rows, out.count, out.cct, &by_share, &out.ranking), PYTHIA_OK);
    return out;
}

static void end(struct requests *r, struct ranked *x)
{
    pythia_ranking_free(&x->ranking);
    free(x->rows);
    requests_end(r);
}

/* B takes 7 v and A three times u, both 1 to 40 in different orders: B has most of the variance.
 * The covariance with the total is linear, so A has the sum of what its segments have. */
static void the_share_is_the_sum_of_those_of_the_segments(void **state)
{
    struct requests r;
    struct pythia_own_time t;
    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "A{%d B{%d} %d C{5} %d}", 1 + i, 7 * (1 + i * 17 % 40), 1 + i, 1 + i);
    struct ranked x = rank(&r);
    uint32_t a = requests_point(&r, "A");
    double sum = 0;
    for (size_t e = 0; e < x.ranking.edge_count; e++)
        if (pythia_place_own_has(x.cct, x.ranking.edges[e].edge, a))
            sum += x.ranking.edges[e].share.share;
    assert_int_equal(pythia_own_time_measure(&x.ranking, x.cct, a, .95, &t), PYTHIA_OK);
    assert_int_equal(t.segments, 3);
    assert_rel_equal(t.share.slope, sum, 1e-12);
    assert_rel_equal(t.mean_ns, 3 * 20.5, 1e-12);
    assert_int_equal(pythia_own_time_find(&x.ranking, x.cct, NULL, .95, &t), PYTHIA_OK);
    assert_int_equal(t.tracepoint, PYTHIA_NONE); /* B has more */
    end(&r, &x);
}

/* Three equal segments have a third each, and nothing else varies: the own time has all. */
static void time_in_many_segments_is_the_own_time_of_their_trace_point(void **state)
{
    struct requests r;
    struct pythia_own_time t;
    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "R{9 A{%d B{50} %d C{5} %d} 9}", 1 + i, 1 + i, 1 + i);
    struct ranked x = rank(&r);
    assert_int_equal(pythia_own_time_find(&x.ranking, x.cct, NULL, .95, &t), PYTHIA_OK);
    assert_int_equal(t.tracepoint, requests_point(&r, "A"));
    assert_int_equal(t.segments, 3);
    assert_rel_equal(t.share.slope, 1, 1e-12);
    assert_int_equal(pythia_own_time_localise(&x.ranking, x.cct, .95, &t), PYTHIA_OK);
    assert_true(t.localised);
    bool except[8] = {false};
    for (size_t e = 0; e < x.ranking.edge_count; e++)
        except[e] = x.ranking.edges[e].share.share > 0;
    assert_int_equal(pythia_own_time_find(&x.ranking, x.cct, except, .95, &t), PYTHIA_OK);
    assert_int_equal(t.tracepoint, PYTHIA_NONE);
    end(&r, &x);
}

/* Of 2 u + u the first segment has two thirds: that edge is the narrowest place with most of it. */
static void a_segment_with_most_of_it_is_named_instead(void **state)
{
    struct requests r;
    struct pythia_own_time t;
    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "A{%d B{50} %d}", 2 * (1 + i), 1 + i);
    struct ranked x = rank(&r);
    assert_int_equal(pythia_own_time_find(&x.ranking, x.cct, NULL, .95, &t), PYTHIA_OK);
    assert_int_equal(t.tracepoint, PYTHIA_NONE);
    end(&r, &x);
}

static void a_place_of_its_own_has_words_and_segments(void **state)
{
    struct requests r;
    struct pythia_buf text = {0};
    requests_begin_folded(&r);
    for (int i = 0; i < 4; i++)
        requests_add(&r, "A{%d B{50} %d}", 2 + i, 1 + i);
    struct ranked x = rank(&r);
    struct pythia_place own = pythia_place_own(requests_point(&r, "A"));
    size_t segments = 0;
    for (size_t e = 0; e < x.ranking.edge_count; e++)
        segments += pythia_place_has(&own, x.cct, x.ranking.edges[e].edge);
    assert_int_equal(segments, 2);
    pythia_place_add(&text, r.vocabulary, &own);
    assert_true(strstr(text.bytes, "in the own time of ") == text.bytes);
    pythia_buf_free(&text);
    struct pythia_place edge = own;
    edge.own = false; /* inside A */
    assert_false(pythia_place_equal(&own, &edge));
    end(&r, &x);
}

static void a_failed_allocation_leaves_out_untouched(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "A{%d B{50} %d C{5} %d}", 1 + i, 1 + i, 1 + i);
    struct ranked x = rank(&r);
    struct pythia_own_time t = {.segments = 77};
    for (long after = 0; after < 2; after++) {
        pythia_mem_fail_after(after);
        assert_int_equal(pythia_own_time_find(&x.ranking, x.cct, NULL, .95, &t), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_int_equal(t.segments, 77);
    }
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_own_time_localise(&x.ranking, x.cct, .95, &t), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    end(&r, &x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_the_sum_of_those_of_the_segments),
        cmocka_unit_test(time_in_many_segments_is_the_own_time_of_their_trace_point),
        cmocka_unit_test(a_segment_with_most_of_it_is_named_instead),
        cmocka_unit_test(a_place_of_its_own_has_words_and_segments),
        cmocka_unit_test(a_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
