#include "explain_case.h"

/* No figure of a finding may be undefined that a test defines. */
static void assert_defined(const struct explained *e)
{
    for (size_t i = 0; i < e->x.found_count; i++) {
        const struct pythia_association_result *r = &e->x.found[i].result;
        bool undefined = isnan(r->p) || isnan(r->q) || isnan(r->r) || isnan(r->effect) ||
                         isnan(r->explained) || isnan(r->omega_squared);
        for (size_t k = 0; k < e->x.edges; k++)
            undefined = undefined || isnan(r->loadings[k]);
        assert_false(undefined);
    }
}

/* " d0=3,d1=…": 20 numbers and names that mean nothing. */
static const char *distractors(struct pythia_random *random)
{
    static char text[1024];
    size_t size = 0;
    for (int k = 0; k < 16; k++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "d%02d=%d,", k,
                                 (int)pythia_random_below(random, 10 + (uint64_t)k * 30));
    for (int k = 0; k < 4; k++)
        size +=
            (size_t)snprintf(text + size, sizeof(text) - size, "c%d=level-%d%s", k,
                             (int)pythia_random_below(random, 3 + (uint64_t)k), k < 3 ? "," : "");
    return text;
}

/* ---- several values of a key in a request ---- */

/* 300 requests ask 3 of 12 nodes each, all ask "any", and dn-07 takes 5 ms longer; up to 4 read
 * twice, on the node "spare". */
static void one_slow_node_of_several_is_named(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 3);
    int slow = 0, spare = 0;
    for (int i = 0; i < 300; i++) {
        size_t order[12];
        for (size_t k = 0; k < 12; k++)
            order[k] = k;
        pythia_random_shuffle(&random, order, 12);
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, "A{1000 ");
        for (int k = 0; k < 3; k++) {
            bool is_slow = order[k] == 7;
            slow += is_slow;
            pythia_buf_printf(&text, "B(node=dn-%02zu){%.0f} 1000 ", order[k],
                              1e6 * (is_slow ? 7 : 2) + 3e5 * pythia_random_normal(&random));
        }
        pythia_buf_printf(&text, "B(node=any){1000}%s}", i % 90 == 0 ? " B(node=spare){1000}" : "");
        spare += i % 90 == 0;
        requests_add(&r, "%s", text.bytes);
        pythia_buf_free(&text);
    }
    struct explained e = explain(&r);
    const struct pythia_explanation *x = found(&e, "node has dn-07");
    assert_non_null(x);
    assert_string_equal(e.x.found[0].name, "node has dn-07");
    assert_int_equal(x->kind, PYTHIA_KEY_MEMBER);
    assert_string_equal(x->split, "does");
    assert_int_equal(x->result.split.high_rows, slow);
    assert_true(x->result.explained > .9 && x->result.p_permutation <= .001);
    assert_int_equal(x->profile_bins, 2);
    assert_string_equal(x->profile[0].label, "without");
    assert_string_equal(x->profile[1].label, "with");
    assert_int_equal(x->profile[1].requests, slow);
    assert_null(skipped(&e, "node")); /* its combinations are not asked */
    assert_int_equal(spare, 4);
    assert_string_equal(skipped(&e, "node@B has (2 values)"), "in too few or nearly all requests");
    for (size_t i = 1; i < e.x.found_count; i++) /* others are there with it, or without it */
        assert_true(e.x.found[i].result.proxy_of == x->result.column);
    assert_defined(&e);
    end(&e, &r);
}

/* Requests that read 1, 2 or 3 shards: the number of them is a key. */
static void the_number_of_values_is_a_key(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 120; i++) {
        int shards = 1 + i % 3, first = i / 3;
        requests_add(&r, "A(shard=s%d,shard=%s%d,shard=%s%d){%d}", first % 5,
                     shards > 1 ? "t" : "s", first % 5, shards > 2 ? "u" : "s", first % 5,
                     1000 * shards + i % 7);
    }
    struct explained e = explain(&r);
    assert_true(e.x.found_count > 0);
    assert_string_equal(e.x.found[0].name, "number of shard");
    assert_int_equal(e.x.found[0].kind, PYTHIA_KEY_VALUES);
    assert_rel_equal(e.x.found[0].low, 1, 0);
    assert_rel_equal(e.x.found[0].high, 3, 0);
    end(&e, &r);
}

/* A key of which one request in ten has two values: its levels are asked as before, and so are its
 * members. */
static void a_few_requests_with_several_values_leave_the_levels(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 100; i++)
        requests_add(&r, "A(host=h%d,host=h%d){%d}", i % 2, i % 10 == 0 ? 1 : i % 2,
                     i % 2 ? 5000 + i : 1000 + i);
    struct explained e = explain(&r);
    assert_non_null(found(&e, "host"));
    assert_non_null(found(&e, "host has h1"));
    end(&e, &r);
}

/* 70 values of about 30 requests each are more than 64: the rest is counted. */
static void members_are_bounded_and_the_rest_is_counted(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 350; i++)
        requests_add(&r, "A(n=v%02d,n=v%02d,n=v%02d){%d}", i % 70, (i + 23) % 70, (i + 51) % 70,
                     1000 + i % 11);
    struct explained e = explain(&r);
    assert_string_equal(skipped(&e, "n@A has (6 values)"), "more values than are tested");
    assert_int_equal(e.x.asked, PYTHIA_EXPLAIN_MEMBERS_EACH + 1); /* and the key */
    end(&e, &r);
}

/* Each request has three values that no other five have: they stay an identifier. */
static void values_of_their_own_are_an_identifier(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 100; i++)
        requests_add(&r, "A(n=a%d,n=b%d,n=c%d){%d}", i / 2, i / 2, i / 2, 1000 + i % 11);
    struct explained e = explain(&r);
    assert_non_null(skipped(&e, "n"));
    assert_int_equal(e.x.skipped_count, 1);
    assert_int_equal(e.x.asked, 0);
    end(&e, &r);
}

/* ---- the variable that latency goes with ---- */

static void the_queue_is_named_first_among_20_distractors(void **state)
{
    enum { N = 200 };
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        struct requests r;
        struct pythia_random random;
        size_t order[N];
        int queue[N];
        requests_begin_folded(&r);
        pythia_random_init(&random, 1);
        for (size_t i = 0; i < N; i++) {
            order[i] = i;
            queue[i] = (int)pythia_random_below(&random, 12);
        }
        if (shuffled)
            pythia_random_shuffle(&random, order, N);
        for (size_t i = 0; i < N; i++) { /* ms: 10 + 5 queue + noise */
            double ms = 10 + 5 * queue[order[i]] + pythia_random_normal(&random);
            requests_add(&r, "A(queue=%d){50000 B(%s){%.0f} 70000}", queue[i], distractors(&random),
                         1e6 * (ms > .1 ? ms : .1));
        }
        struct explained e = explain(&r);
        assert_int_equal(e.x.rows, N);
        assert_int_equal(e.x.asked, 21);
        if (shuffled) {
            assert_int_equal(e.x.found_count, 0);
        } else {
            assert_int_equal(e.x.found_count, 1);
            const struct pythia_explanation *first = &e.x.found[0];
            assert_string_equal(first->name, "queue");
            assert_int_equal(first->kind, PYTHIA_KEY_NUMERIC);
            assert_int_equal(first->result.rank, 1);
            assert_true(first->result.r > .9 && first->result.confirmed);
            assert_rel_equal(first->result.p_permutation, .001, 1e-12); /* none of 999 */
            assert_true(first->low == 0 && first->high == 11);
            assert_defined(&e);
        }
        end(&e, &r);
    }
}

static void bad_columns_do_no_harm_and_the_bad_host_is_named(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 2);
    for (int i = 0; i < 240; i++) {
        int host = (int)pythia_random_below(&random, 4),
            size = (int)pythia_random_below(&random, 50);
        double ms = 10 + (host == 2 ? 8 : 0) + .1 * size + pythia_random_normal(&random);
        char sometimes[32] = "";
        if (i % 3)
            snprintf(sometimes, sizeof(sometimes), ",sometimes=%d",
                     (int)pythia_random_below(&random, 9));
        requests_add(&r, "A(always=17,size=%d,size_kib=%d,host=cp-%d%s){1000 B{%.0f} 1000}", size,
                     size * 1024, host, sometimes, 1e6 * ms);
    }
    struct explained e = explain(&r);
    assert_defined(&e);
    assert_string_equal(skipped(&e, "always"), pythia_column_skip_text(PYTHIA_COLUMN_CONSTANT));
    assert_null(found(&e, "sometimes"));
    const struct pythia_explanation *host = found(&e, "host"), *size = found(&e, "size"),
                                    *kib = found(&e, "size_kib");
    assert_ptr_equal(host, &e.x.found[0]);
    assert_int_equal(host->kind, PYTHIA_KEY_CATEGORICAL);
    assert_string_equal(host->split, "is in {cp-2}");
    assert_rel_equal(host->low, NAN, 0);
    assert_non_null(size);
    assert_non_null(kib);
    assert_int_equal(size->result.rank, kib->result.rank); /* nothing can tell them apart */
    assert_int_not_equal(size->result.rank, host->result.rank);
    end(&e, &r);
}

static void a_binary_variable_splits_by_its_value(void **state)
{
    static const struct {
        const char *fast, *slow, *split;
        int sign; /* the split says where the number is larger, or where levels take longer */
    } cases[] = {{"0", "1", "is >= 1", 1},        {"1", "0", "is >= 1", -1},
                 {"false", "true", "is >= 1", 1}, {"no", "yes", "is in {yes}", 1},
                 {"yes", "no", "is in {no}", 1},  {"1.25", "2.5", "is > 1.875", 1},
                 {"7", "90", "is >= 49", 1}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct requests r;
        struct pythia_random random;
        requests_begin_folded(&r);
        pythia_random_init(&random, 3);
        for (int i = 0; i < 80; i++) {
            bool slow = pythia_random_below(&random, 2);
            requests_add(&r, "A(cached=%s,other=%d){1000 B{%.0f} 1000}",
                         slow ? cases[c].slow : cases[c].fast,
                         (int)pythia_random_below(&random, 100),
                         1e6 * ((slow ? 30 : 10) + pythia_random_normal(&random)));
        }
        struct explained e = explain(&r);
        assert_string_equal(e.x.found[0].name, "cached");
        assert_string_equal(e.x.found[0].split, cases[c].split);
        assert_true(e.x.found[0].result.split_share > .9);
        double apart = e.x.found[0].result.high_total - e.x.found[0].result.low_total;
        assert_rel_equal(apart, cases[c].sign * 20e6, .05);
        assert_false(e.x.found[0].result.low_confidence);
        assert_defined(&e);
        end(&e, &r);
    }
}

/* A value in the middle, several that are no range, and the largest, which a cut says; 21 different
 * numbers are too many to be levels. */
static void a_number_whose_middle_is_slow_is_named_by_its_values(void **state)
{
    static const struct {
        int values, slow, also;
        const char *split;
        enum pythia_key_kind kind;
    } cases[] = {{3, 1, 1, "is in {50}", PYTHIA_KEY_CATEGORICAL},
                 {10, 2, 7, "is in {100, 350}", PYTHIA_KEY_CATEGORICAL},
                 {10, 9, 9, "is >= 425", PYTHIA_KEY_NUMERIC}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct requests r;
        struct pythia_random random;
        requests_begin_folded(&r);
        pythia_random_init(&random, 11);
        for (int i = 0; i < 300; i++) {
            int value = (int)pythia_random_below(&random, (uint64_t)cases[c].values);
            bool slow = value == cases[c].slow || value == cases[c].also;
            requests_add(&r, "A(batch=%d,other=%d){1000 B{%.0f} 1000}", 50 * value,
                         (int)pythia_random_below(&random, 100),
                         1e6 * ((slow ? 30 : 10) + pythia_random_normal(&random)));
        }
        struct explained e = explain(&r);
        const struct pythia_explanation *x = &e.x.found[0];
        assert_int_equal(e.x.found_count, 1);
        assert_string_equal(x->name, "batch");
        assert_string_equal(x->split, cases[c].split);
        assert_int_equal(x->kind, cases[c].kind);
        assert_int_equal(x->slow_level_count, x->kind == PYTHIA_KEY_CATEGORICAL
                                                  ? 1 + (cases[c].slow != cases[c].also)
                                                  : 0);
        assert_true(x->result.confirmed && x->result.split_share > .9);
        assert_true(x->kind == PYTHIA_KEY_NUMERIC || x->result.explained > .9);
        assert_rel_equal(x->result.high_total - x->result.low_total, 20e6, .05);
        /* The profile shows them in the order of numbers. */
        assert_int_equal(x->profile_bins, cases[c].values);
        assert_string_equal(x->profile[0].label, "0");
        assert_string_equal(x->profile[2].label, "100");
        assert_defined(&e);
        end(&e, &r);
    }
}

/* 40 requests with 300 keys, and 9 edges that all vary: with fewer than 5 requests to a variable
 * what is found is said with little confidence. */
static void more_keys_than_requests_is_low_confidence(void **state)
{
    struct requests r;
    struct pythia_random random;
    char text[4096];
    requests_begin_folded(&r);
    pythia_random_init(&random, 4);
    for (int i = 0; i < 40; i++) {
        bool slow = pythia_random_below(&random, 2);
        double load = pythia_random_normal(&random);
        size_t size = (size_t)snprintf(text, sizeof(text), "A(slow=%d", slow);
        for (int k = 0; k < 300; k++)
            size += (size_t)snprintf(text + size, sizeof(text) - size, ",k%d=%d", k,
                                     (int)pythia_random_below(&random, 5));
        size += (size_t)snprintf(text + size, sizeof(text) - size, "){100");
        for (int k = 0; k < 9; k++)
            size += (size_t)snprintf(
                text + size, sizeof(text) - size, " P%d{%.0f}", k,
                1e6 * (20 + (slow && k == 2 ? 10 : 0) + load + pythia_random_normal(&random)));
        requests_add(&r, "%s}", text);
    }
    struct explained e = explain(&r);
    assert_int_equal(e.x.asked, 301);
    assert_true(e.x.found_count >= 1);
    assert_string_equal(e.x.found[0].name, "slow");
    assert_true(e.x.found[0].result.low_confidence);
    assert_defined(&e);
    end(&e, &r);
}

static void keys_of_later_requests_and_annotations_are_used(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 5);
    for (int i = 0; i < 150; i++) {
        int one = (int)pythia_random_below(&random, 40),
            two = (int)pythia_random_below(&random, 40);
        double ms = 20 + (i < 50 ? 0 : .5 * (one + two)) + pythia_random_normal(&random);
        if (i < 50) /* the first requests do not have the key at all */
            requests_add(&r, "A{1000 *E 1000 B{%.0f} 1000 *E 1000}", 1e6 * ms);
        else /* and the others have it twice: only both together say how long */
            requests_add(&r, "A{1000 *E(wait=%d) 1000 B{%.0f} 1000 *E(wait=%d) 1000}", one,
                         1e6 * ms, two);
    }
    struct explained e = explain(&r);
    const struct pythia_explanation *wait = found(&e, "wait");
    assert_non_null(wait);
    assert_ptr_equal(wait, &e.x.found[0]);
    assert_int_equal(wait->result.present, 100);
    assert_true(wait->result.r > .9);
    assert_defined(&e);
    end(&e, &r);
}

/* ---- structure ---- */

static void the_rounds_of_a_loop_are_a_key(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 6);
    for (int i = 0; i < 60; i++) {
        int rounds = 3 + (i % 3 == 0);
        char text[512] = "A{1000";
        for (int k = 0; k < rounds; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), " B{%.0f} 500",
                     1e6 + 1e4 * pythia_random_normal(&random));
        requests_add(&r, "%s}", text);
    }
    struct explained e = explain(&r);
    const struct pythia_explanation *rounds = &e.x.found[0];
    assert_string_equal(rounds->name, "count:B");
    assert_int_equal(rounds->kind, PYTHIA_KEY_COUNT);
    assert_int_equal(rounds->tracepoint, requests_point(&r, "B"));
    assert_string_equal(rounds->split, "is >= 4");
    assert_true(rounds->low == 3 && rounds->high == 4);
    assert_false(rounds->mostly_once);
    assert_int_equal(rounds->profile_bins, 2);
    assert_string_equal(rounds->profile[0].label, "3");
    assert_int_equal(rounds->profile[0].requests, 40);
    assert_string_equal(rounds->profile[1].label, "4");
    assert_int_equal(rounds->profile[1].requests, 20);
    assert_rel_equal(rounds->profile[1].mean_ns - rounds->profile[0].mean_ns, 1e6, .01);
    end(&e, &r);
}

/* B is made once or not, and C in it too: the one that calls stands for both. */
static void what_is_called_says_no_more_than_what_calls_it(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 7);
    for (int i = 0; i < 80; i++) {
        double own = 1e6 + 1e5 * pythia_random_normal(&random);
        if (i % 4)
            requests_add(&r, "A{%.0f}", own);
        else /* in order of name the callee would be first */
            requests_add(&r, "A{%.0f Y{100 X(seen=1){3000000} 100}}", own);
    }
    struct explained e = explain(&r);
    assert_string_equal(e.x.found[0].name, "has:Y");
    assert_int_equal(e.x.found[0].kind, PYTHIA_KEY_HAS);
    assert_string_equal(e.x.found[0].split, "is >= 1");
    assert_false(e.x.found[0].mostly_once);
    static const char *const same[] = {"has:X", "seen"}; /* and a value that is in X alone */
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(found(&e, same[i]));
        assert_int_equal(found(&e, same[i])->result.rank, 1);
    }
    assert_null(found(&e, "has:A")); /* in all of them: not asked, nor skipped */
    assert_null(skipped(&e, "has:A"));
    end(&e, &r);
}

/* 46 of 91 requests fail and never reach C and D; the number that only C has goes a little with the
 * time of C. That they fail is what makes them differ, and the number is tested among the others.
 */
static void requests_that_end_early_are_named_before_what_only_the_others_have(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 91; i++) {
        int free_gb = i * 37 % 91;
        if (i % 2 == 0)
            requests_add(&r, "A{100 B{%d} 10}", 1000 + i * 31 % 100);
        else
            requests_add(&r, "A{100 B{%d} C(free_gb=%d,zone=z%d){%d} D{%d} 10}",
                         1000 + i * 31 % 100, free_gb, i / 2 % 3, 5000 + 2 * free_gb + i * 17 % 80,
                         200 + i * 13 % 50);
    }
    struct explained e = explain(&r);
    assert_string_equal(e.x.found[0].name, "has:C");
    assert_int_equal(e.x.found[0].without, 46);
    assert_true(e.x.found[0].ends_early);
    const struct pythia_explanation *number = found(&e, "free_gb");
    assert_non_null(number); /* among the 45 it does go with the time of C */
    assert_true(number->result.explained < .2 * e.x.found[0].result.explained);
    assert_null(found(&e, "zone")); /* levels are tested there, too, and this key means nothing */
    end(&e, &r);
}

/* Those that leave a step out come back to what follows it, and a step that few make at the end is
 * one more, not an end of all others. */
static void a_step_that_is_left_out_is_no_early_end(void **state)
{
    static const char *const with[] = {"A{100 C{%d} B{500} 10}", "A{100 B{500} C{%d} 10}"};
    for (int last = 0; last < 2; last++) {
        struct requests r;
        requests_begin_folded(&r);
        for (int i = 0; i < 90; i++)
            if (i % (last ? 9 : 2) == 0)
                requests_add(&r, with[last], 5000 + i * 31 % 100);
            else
                requests_add(&r, "A{100 B{500} %d}", 10 + i * 7 % 30);
        struct explained e = explain(&r);
        assert_string_equal(e.x.found[0].name, "has:C");
        assert_int_equal(e.x.found[0].without, last ? 80 : 45);
        assert_false(e.x.found[0].ends_early);
        end(&e, &r);
    }
}

static void mostly_once_is_at_least_half_of_the_requests(void **state)
{
    for (int often = 0; often < 2; often++) {
        struct requests r;
        requests_begin_folded(&r);
        for (int i = 0; i < 60; i++) { /* 30 of 60, or 29 */
            bool once = i < (often ? 29 : 30);
            requests_add(&r, once ? "A{1000 B{%d} 1000}" : "A{1000 B{%d} 9000 B{4000} 1000}",
                         4000 + i * 7 % 100);
        }
        struct explained e = explain(&r);
        assert_non_null(found(&e, "count:B"));
        assert_int_equal(found(&e, "count:B")->mostly_once, !often);
        end(&e, &r);
    }
}

/* ---- names ---- */

static void an_attribute_of_several_places_is_named_with_its_place(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 8);
    for (int i = 0; i < 100; i++) {
        int a = (int)pythia_random_below(&random, 20), b = (int)pythia_random_below(&random, 20);
        int user = (int)pythia_random_below(&random, 20);
        /* `user` is the same at all three places, `rows` is not */
        requests_add(&r,
                     "s:A(rows=%d,user=%d)[zone=z%d]{1000 s:B(rows=%d,user=%d){%.0f} t:C(user=%d)"
                     "[zone=z%d]{%.0f} 1000}",
                     a, user, a / 10, b, user, 1e6 * (10 + 2 * b + pythia_random_normal(&random)),
                     user, user / 10, 1e6 * (10 + 2 * user + a + pythia_random_normal(&random)));
    }
    struct explained e = explain(&r);
    assert_non_null(found(&e, "rows@s:B"));
    assert_non_null(found(&e, "rows@s:A"));
    assert_null(found(&e, "rows"));
    assert_non_null(found(&e, "user")); /* merged: one key, one question */
    assert_null(found(&e, "user@s:A"));
    assert_non_null(found(&e, "zone@t")); /* of a process: its service */
    assert_non_null(found(&e, "zone@s"));
    assert_int_equal(e.x.asked, 5);
    end(&e, &r);
}

static void texts_that_are_numbers_are_numbers_but_for_007(void **state)
{
    static const struct {
        const char *low, *high; /* alternately, in texts */
        enum pythia_key_kind kind;
        const char *split;
    } cases[] = {
        {"'3'", "'4'", PYTHIA_KEY_NUMERIC, "is >= 4"},
        {"'-3'", "'-2.5'", PYTHIA_KEY_NUMERIC, "is > -2.75"},
        {"'1e3'", "'2E+3'", PYTHIA_KEY_NUMERIC, "is >= 1500"},
        {"0", "'10'", PYTHIA_KEY_NUMERIC, "is >= 5"}, /* number and text */
        {"'0'", "'0.5'", PYTHIA_KEY_NUMERIC, "is > 0.25"},
        {"'007'", "'008'", PYTHIA_KEY_CATEGORICAL, "is in {008}"},
        {"'7'", "'008'", PYTHIA_KEY_CATEGORICAL, "is in {008}"}, /* all or none */
        {"1", "'none'", PYTHIA_KEY_CATEGORICAL, "is in {none}"},
        {"'none'", "2.5", PYTHIA_KEY_CATEGORICAL, "is in {2.5}"},
        {"'+3'", "'+4'", PYTHIA_KEY_CATEGORICAL, "is in {+4}"},
        {"'0x10'", "'0x11'", PYTHIA_KEY_CATEGORICAL, "is in {0x11}"},
        {"'1.2.3'", "'1.2.4'", PYTHIA_KEY_CATEGORICAL, "is in {1.2.4}"},
        {"'2020-01-01'", "'2020-01-02'", PYTHIA_KEY_CATEGORICAL, "is in {2020-01-02}"},
        {"'1e999'", "'5'", PYTHIA_KEY_CATEGORICAL, "is in {5}"}, /* not finite */
        {"'nan'", "'inf'", PYTHIA_KEY_CATEGORICAL, "is in {inf}"},
        {"'-'", "'.5'", PYTHIA_KEY_CATEGORICAL, "is in {.5}"},
        {"''", "'1'", PYTHIA_KEY_CATEGORICAL, "is in {1}"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct requests r;
        requests_begin_folded(&r);
        for (int i = 0; i < 60; i++)
            requests_add(&r, "A(k=%s){%d}", i % 2 ? cases[c].high : cases[c].low,
                         (i % 2 ? 5000 : 1000) + i * 31 % 100);
        struct explained e = explain(&r);
        assert_int_equal(e.x.found_count, 1);
        assert_int_equal(e.x.found[0].kind, cases[c].kind);
        assert_string_equal(e.x.found[0].split, cases[c].split);
        end(&e, &r);
    }
}

static void names_of_identifiers_are_known_by_their_last_part(void **state)
{
    static const char *const ids[] = {"id",
                                      "request_id",
                                      "db.params.pk_1",
                                      "instance_id_1",
                                      "net.peer.port",
                                      "trace-id",
                                      "UUID",
                                      "image.uuid",
                                      "file_hash",
                                      "auth:token",
                                      "client.addr",
                                      "http.address",
                                      "process.pid",
                                      "requestId",
                                      "x.userId",
                                      "object_guid",
                                      "Id",
                                      "ids",
                                      "cache.key",
                                      "port_ids"};
    static const char *const names[] = {
        "",        "valid",   "paid",   "grid",     "queue.length", "idle", "keys",
        "support", "id.len",  "hashes", "portable", "rows",         "d_1",  "17",
        "_",       "retries", "monkey", "id_count", "token_bucket"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (!pythia_looks_like_id(pythia_text_of(ids[i])))
            fail_msg("%s looks like an identifier", ids[i]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (pythia_looks_like_id(pythia_text_of(names[i])))
            fail_msg("%s does not look like an identifier", names[i]);
}

static void what_is_skipped_is_listed_with_the_reason_in_order_of_name(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 100; i++) {
        char few[32] = "";
        if (i < 5)
            snprintf(few, sizeof(few), ",few=%d", i);
        requests_add(&r, "A(row_id=%d,user=u%d,same=x,clock=%d%s){%d}", i * 7919 % 1000, i,
                     1000 + 3 * i, few, 1000 + i * i % 37);
    }
    struct explained e = explain(&r);
    static const struct {
        const char *name;
        enum pythia_column_skip reason;
    } wanted[] = {{"clock", PYTHIA_COLUMN_SEQUENCE},
                  {"few", PYTHIA_COLUMN_TOO_FEW},
                  {"row_id", PYTHIA_COLUMN_ID},
                  {"same", PYTHIA_COLUMN_CONSTANT},
                  {"user", PYTHIA_COLUMN_MANY_LEVELS}};
    assert_int_equal(e.x.skipped_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(e.x.skipped[i].name, wanted[i].name);
        assert_string_equal(e.x.skipped[i].reason, pythia_column_skip_text(wanted[i].reason));
    }
    assert_int_equal(e.x.asked, 0);
    assert_int_equal(e.x.found_count, 0);
    end(&e, &r);
}

/* 30 shards of which the last ten are slow, and 20 connections of which those made later are. */
static void shared_identifiers_have_no_order(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 300; i++)
        requests_add(&r, "A(shard_id=%d,server.port=%d,net.peer.port=%d){%d}", i % 30,
                     i % 30 >= 20 ? 7103 : 7102, 40000 + i % 30 * 2 / 3,
                     (i % 30 >= 20 ? 5000 : 1000) + i * 31 % 100);
    struct explained e = explain(&r);
    assert_int_equal(found(&e, "shard_id")->kind, PYTHIA_KEY_CATEGORICAL);
    assert_string_equal(found(&e, "server.port")->split, "is in {7103}");
    assert_int_equal(e.x.skipped_count, 1);
    assert_string_equal(e.x.skipped[0].name, "net.peer.port");
    assert_string_equal(e.x.skipped[0].reason, "identifier: ports of connections");
    end(&e, &r);
}

/* ---- splits and profiles in words ---- */

static void splits_by_absence_and_by_many_levels_are_said(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 60; i++) {
        int slow = i % 2;
        requests_add(&r, "A(%sx=1%s){%d}", slow ? "error=E1," : "", slow ? "" : ",hit=yes",
                     (slow ? 5000 : 1000) + i * 31 % 100);
    }
    struct explained e = explain(&r);
    assert_string_equal(found(&e, "error")->split, "is there");
    assert_string_equal(found(&e, "hit")->split, "is missing");
    end(&e, &r);

    requests_begin_folded(&r);
    for (int i = 0; i < 200; i++) {
        int host = i * 7 % 20;
        requests_add(&r, "A(host=h%02d){%d}", host, (host < 9 ? 5000 : 1000) + i * 31 % 100);
    }
    e = explain(&r);
    assert_string_equal(e.x.found[0].split, "is in {h00, h01, h02, h03, h04, h05, and 3 more}");
    end(&e, &r);
}

/* ---- how much is asked ---- */

static void at_most_512_requests_and_8_edges_are_asked(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 9);
    for (int i = 0; i < 700; i++) {
        char text[1024] = "A(k=1";
        size_t size = strlen(text);
        int k = (int)pythia_random_below(&random, 10);
        size += (size_t)snprintf(text + size, sizeof(text) - size, ",load=%d){1000", k);
        for (int p = 0; p < 12; p++)
            size += (size_t)snprintf(text + size, sizeof(text) - size, " P%02d{%.0f}", p,
                                     1e6 + 1e3 * (p + 1) * (k + 3 + pythia_random_normal(&random)));
        requests_add(&r, "%s}", text);
    }
    struct explained e = explain(&r);
    assert_int_equal(e.count, 700);
    assert_int_equal(e.x.rows, 512);
    assert_int_equal(e.x.edges, 9);  /* and the rest of the time */
    for (size_t i = 0; i < 8; i++) { /* those with the largest share: the ranking's first */
        assert_int_equal(e.x.chosen[i], i);
        assert_true(e.x.found[0].result.loadings[i] > .5);
    }
    assert_string_equal(e.x.found[0].name, "load");
    end(&e, &r);
}

static void the_edges_asked_are_those_of_the_share_whatever_ranks_them(void **state)
{
    struct requests r;
    struct explained e;
    requests_begin_folded(&r);
    for (int i = 0; i < 60; i++)
        requests_add(&r, "A(k=%d){1 T{%d} 1 B{%d} 1}", i % 7, i % 5 ? 0 : 5, 5000 + 100 * (i % 7));
    rank_all(&r, &e);
    pythia_ranking_free(&e.ranking);
    struct pythia_rank_options options = {
        .measure = PYTHIA_MEASURE_COV, .level = .95, .alpha = .05};
    assert_int_equal(pythia_rank(e.rows, e.count, e.cct, &options, &e.ranking), PYTHIA_OK);
    assert_string_equal(requests_edge(e.cct, e.ranking.edges[0].edge), "A/T: T -> /T");
    assert_int_equal(
        pythia_explain(e.rows, &e.ranking, pythia_groups_keys(r.groups), e.cct, .05, 1, 0, &e.x),
        PYTHIA_OK);
    assert_string_equal(requests_edge(e.cct, e.ranking.edges[e.x.chosen[0]].edge), "A/B: B -> /B");
    assert_string_equal(e.x.found[0].name, "k");
    end(&e, &r);
}

static void nothing_is_asked_without_keys_or_with_hardly_a_request(void **state)
{
    for (int n = 1; n <= 40; n += 13) {
        struct requests r;
        requests_begin_folded(&r);
        for (int i = 0; i < n; i++)
            requests_add(&r, n < 10 ? "A(k=%d){%d}" : "A{%d %d}", i, 1000 + i);
        struct explained e = explain(&r);
        assert_int_equal(e.x.found_count, 0);
        assert_int_equal(e.x.asked, 0);
        end(&e, &r);
    }
}

static void requests_that_take_equally_long_are_not_explained(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 60; i++)
        requests_add(&r, "A(k=%d,host=h%d){100 B{50} 100}", i % 7, i % 4);
    struct explained e = explain(&r);
    assert_int_equal(e.x.found_count, 0);
    end(&e, &r);
}

/* ---- failures ---- */

static void a_failed_allocation_leaves_nothing(void **state)
{
    struct requests r;
    struct explained e;
    requests_begin_folded(&r);
    for (int i = 0; i < 60; i++)
        requests_add(&r, "A(k=%d,host=h%d,mixed=%s,row_id=%d){100 B{%d}%s 100}", i % 7, i % 4,
                     i % 3 ? "2" : "none", i, 1000 + 100 * (i % 7) + i % 3,
                     i % 5 ? "" : " C{700} 5 C{900}");
    rank_all(&r, &e);
    const struct pythia_keys *keys = pythia_groups_keys(r.groups);
    struct pythia_explanations wanted, got = {.asked = 77};
    assert_int_equal(pythia_explain(e.rows, &e.ranking, keys, e.cct, .05, 1, 0, &wanted),
                     PYTHIA_OK);
    assert_true(wanted.found_count >= 2 && wanted.skipped_count >= 1);
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_explain(e.rows, &e.ranking, keys, e.cct, .05, 1, 0, &got);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(got.asked, 77);
    }
    assert_true(failures > 50);
    assert_int_equal(got.found_count, wanted.found_count);
    for (size_t i = 0; i < wanted.found_count; i++) {
        assert_string_equal(got.found[i].name, wanted.found[i].name);
        assert_string_equal(got.found[i].split, wanted.found[i].split);
        assert_true(got.found[i].result.p_permutation == wanted.found[i].result.p_permutation ||
                    isnan(wanted.found[i].result.p_permutation));
        for (size_t b = 0; b < wanted.found[i].profile_bins; b++)
            assert_string_equal(got.found[i].profile[b].label, wanted.found[i].profile[b].label);
    }
    pythia_explanations_free(&wanted);
    e.x = got;
    end(&e, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slow_node_of_several_is_named),
        cmocka_unit_test(the_number_of_values_is_a_key),
        cmocka_unit_test(a_few_requests_with_several_values_leave_the_levels),
        cmocka_unit_test(members_are_bounded_and_the_rest_is_counted),
        cmocka_unit_test(values_of_their_own_are_an_identifier),
        cmocka_unit_test(the_queue_is_named_first_among_20_distractors),
        cmocka_unit_test(bad_columns_do_no_harm_and_the_bad_host_is_named),
        cmocka_unit_test(a_binary_variable_splits_by_its_value),
        cmocka_unit_test(a_number_whose_middle_is_slow_is_named_by_its_values),
        cmocka_unit_test(more_keys_than_requests_is_low_confidence),
        cmocka_unit_test(keys_of_later_requests_and_annotations_are_used),
        cmocka_unit_test(the_rounds_of_a_loop_are_a_key),
        cmocka_unit_test(what_is_called_says_no_more_than_what_calls_it),
        cmocka_unit_test(requests_that_end_early_are_named_before_what_only_the_others_have),
        cmocka_unit_test(a_step_that_is_left_out_is_no_early_end),
        cmocka_unit_test(mostly_once_is_at_least_half_of_the_requests),
        cmocka_unit_test(an_attribute_of_several_places_is_named_with_its_place),
        cmocka_unit_test(texts_that_are_numbers_are_numbers_but_for_007),
        cmocka_unit_test(names_of_identifiers_are_known_by_their_last_part),
        cmocka_unit_test(what_is_skipped_is_listed_with_the_reason_in_order_of_name),
        cmocka_unit_test(shared_identifiers_have_no_order),
        cmocka_unit_test(splits_by_absence_and_by_many_levels_are_said),
        cmocka_unit_test(at_most_512_requests_and_8_edges_are_asked),
        cmocka_unit_test(the_edges_asked_are_those_of_the_share_whatever_ranks_them),
        cmocka_unit_test(nothing_is_asked_without_keys_or_with_hardly_a_request),
        cmocka_unit_test(requests_that_take_equally_long_are_not_explained),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
