#include "pythia/diagnosis.h"
#include "pythia/grouping_key.h"
#include "pythia/random.h"
#include "requests.h"

#define REQUESTS 240

/* Requests of one type, made by a function of their number, and what is proposed for them. */
struct proposed {
    struct requests r;
    struct pythia_diagnosis *d;
    char *texts[REQUESTS];
};

typedef void (*maker)(struct pythia_random *random, int i, char *text, size_t size);

static void regroup(struct proposed *p, struct pythia_grouping_key *key)
{
    requests_group(&p->r, &(struct pythia_groups_options){.fold = true, .key = key});
    for (int i = 0; i < REQUESTS; i++)
        requests_add_as(&p->r, (uint64_t)i, p->texts[i]);
}

static struct pythia_diagnosis *diagnose(struct proposed *p)
{
    size_t count;
    struct pythia_diagnosis *d;
    struct pythia_diagnosis_options how = {.min_cov = .01, .seed = 1};
    requests_finish(&p->r, &count);
    assert_int_equal(pythia_diagnose(p->r.groups, &how, &d), PYTHIA_OK);
    return d;
}

static void propose(struct proposed *p, maker make)
{
    struct pythia_random random;
    pythia_random_init(&random, 17);
    *p = (struct proposed){0};
    requests_begin(&p->r);
    for (int i = 0; i < REQUESTS; i++) {
        char text[1024];
        make(&random, i, text, sizeof(text));
        p->texts[i] = pythia_strndup(text, strlen(text));
    }
    regroup(p, NULL);
    p->d = diagnose(p);
    assert_int_equal(p->d->group_count, 1);
}

static void end(struct proposed *p)
{
    pythia_diagnosis_destroy(p->d);
    requests_end(&p->r);
    for (int i = 0; i < REQUESTS; i++)
        pythia_free(p->texts[i]);
}

static const struct pythia_split_proposals *splits_of(const struct proposed *p)
{
    return &p->d->groups[0].splits;
}

/* The share by definition, of clipped durations in the parts that a rule makes of them. */
static void assert_share(const struct proposed *p, const struct pythia_split_proposal *s)
{
    const struct pythia_group *g = &p->d->groups[0];
    struct pythia_key_reader *reader;
    double sums[20] = {0}, counts[20] = {0}, mean = 0, all = 0, between = 0;
    double *x = calloc(g->sampled, sizeof(*x));
    for (size_t i = 0; i < g->sampled; i++)
        x[i] = (double)g->rows[i]->duration_ns;
    pythia_winsorise(x, g->sampled, .005, .005);
    assert_int_equal(pythia_key_reader_create(p->r.vocabulary, pythia_groups_keys(p->r.groups),
                                              &s->key, 1, &reader),
                     PYTHIA_OK);
    for (size_t i = 0; i < g->sampled; i++)
        mean += x[i] / (double)g->sampled;
    for (size_t i = 0; i < g->sampled; i++) {
        struct pythia_key_value value;
        uint32_t part;
        assert_int_equal(pythia_key_reader_row(reader, 0, g->rows[i], &value), PYTHIA_OK);
        assert_int_equal(pythia_split_rule_part(&s->rule, reader, &value, &part), PYTHIA_OK);
        sums[part] += x[i];
        counts[part]++;
        all += (x[i] - mean) * (x[i] - mean);
    }
    for (size_t k = 0; k < 20; k++)
        if (counts[k] > 0)
            between += counts[k] * (sums[k] / counts[k] - mean) * (sums[k] / counts[k] - mean);
    assert_rel_equal(s->between.share, between / all, 1e-9);
    assert_true(s->between.low >= .05 && s->between.low <= s->between.share &&
                s->between.share <= s->between.high && s->between.high <= 1);
    pythia_key_reader_destroy(reader);
    free(x);
}

/* Who pastes a proposal gets the parts that it tells of: as many requests in each, with that mean.
 */
static void assert_it_does_what_it_says(struct proposed *p, const struct pythia_split_proposal *s)
{
    struct pythia_split_spec spec;
    struct pythia_grouping_key *key;
    size_t count;
    assert_int_equal(pythia_split_spec_read(pythia_text_of(s->text), &spec, NULL), PYTHIA_OK);
    assert_false(spec.rule.form == PYTHIA_SPLIT_LEARNT);
    assert_int_equal(pythia_grouping_key_create(p->r.vocabulary, &spec, 1, &key, NULL), PYTHIA_OK);
    struct pythia_groups *before = p->r.groups;
    p->r.groups = NULL;
    regroup(p, key);
    const struct pythia_type *types = requests_finish(&p->r, &count);
    assert_int_equal(count, s->part_count);
    for (size_t i = 0; i < s->part_count; i++) {
        bool found = false;
        for (size_t t = 0; t < count; t++) {
            const char *name = pythia_vocabulary_text(p->r.vocabulary, types[t].name).bytes;
            const char *part = strstr(name, " [");
            size_t size = strlen(s->parts[i].label);
            if (!part || strncmp(part + 2, s->parts[i].label, size) != 0 || part[2 + size] != ']')
                continue;
            found = true;
            assert_int_equal(types[t].moments.n, s->parts[i].requests);
            assert_rel_equal(pythia_exact_moments_mean(&types[t].moments), s->parts[i].mean_ns,
                             1e-12);
        }
        if (!found)
            fail_msg("no part %s of %s", s->parts[i].label, s->text);
    }
    pythia_groups_destroy(p->r.groups);
    p->r.groups = before;
    pythia_grouping_key_destroy(key);
    pythia_split_spec_clear(&spec);
}

/* All proposals, "; " between them: the text, M for one of the modes, and the parts. */
static void assert_proposed(maker make, const char *wanted)
{
    struct proposed p;
    struct pythia_buf text = {0};
    propose(&p, make);
    const struct pythia_split_proposals *all = splits_of(&p);
    for (size_t i = 0; i < all->count; i++) {
        const struct pythia_split_proposal *s = &all->all[i];
        pythia_buf_printf(&text, "%s%s%s:", i ? "; " : "", s->text, s->of_modes ? " M" : "");
        for (size_t k = 0; k < s->part_count; k++)
            pythia_buf_printf(&text, "%s %s %d", k ? "," : "", s->parts[k].label,
                              (int)s->parts[k].requests);
        assert_share(&p, s);
        assert_it_does_what_it_says(&p, s);
    }
    assert_string_equal(text.bytes ? text.bytes : "", wanted);
    pythia_buf_free(&text);
    end(&p);
}

static int around(struct pythia_random *random, double mean, double sd)
{
    return (int)(mean + sd * pythia_random_normal(random));
}

/* ---- numbers ---- */

static void with_a_gpu_or_without(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, "A(gpu=%d,noise=%d){%d}", i % 4 == 0, i * 7 % 10,
             around(random, i % 4 ? 100000 : 300000, 5000));
}

static void a_binary_key_gives_two_parts(void **state)
{
    assert_proposed(with_a_gpu_or_without, "gpu=1 M: gpu < 1 180, gpu >= 1 60");
}

static void three_clusters(struct pythia_random *random, int i, char *text, size_t size)
{
    int queue = i % 8;
    snprintf(text, size, "A(queue=%d){%d}", queue,
             around(random,
                    queue < 3   ? 100000
                    : queue < 6 ? 300000
                                : 900000,
                    4000));
}

static void three_modes_give_two_cuts(void **state)
{
    assert_proposed(three_clusters, "queue=3,6 M: queue < 3 90, queue 3 to < 6 90, queue >= 6 60");
}

static void one_mode(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, "A(load=%d){%d}", i % 10, around(random, 100000 + 3000 * (i % 10), 4000));
}

static void with_one_mode_it_parts_as_the_explanation(void **state)
{
    struct proposed p;
    char condition[64];
    propose(&p, one_mode);
    const struct pythia_explanation *x = &p.d->groups[0].explanations.found[0];
    const struct pythia_split_proposal *s = &splits_of(&p)->all[0];
    assert_int_equal(p.d->groups[0].modes.count, 1);
    assert_int_equal(splits_of(&p)->count, 1);
    assert_false(s->of_modes);
    assert_string_equal(x->name, "load");
    assert_int_equal(s->rule.cut_count, 1);
    snprintf(condition, sizeof(condition), "is >= %g", s->rule.cuts[0]);
    assert_string_equal(x->split, condition);
    assert_int_equal(s->parts[1].requests, x->result.split.high_rows);
    assert_rel_equal(s->parts[1].mean_ns, x->result.high_total, 1e-12);
    assert_rel_equal(s->parts[0].mean_ns, x->result.low_total, 1e-12);
    assert_share(&p, s);
    assert_it_does_what_it_says(&p, s);
    end(&p);
}

static void a_real_number(struct pythia_random *random, int i, char *text, size_t size)
{
    double ratio = .1 + .2 * pythia_random_unit(random) + (i % 3 == 0 ? .5 : 0);
    if (i % 12 == 5)
        snprintf(text, size, "A{%d}", around(random, 100000, 4000));
    else
        snprintf(text, size, "A(ratio=%.6f){%d}", ratio,
                 around(random, i % 3 ? 100000 : 200000, 4000));
}

/* Fractions are cut at a short number; requests without the key are a part. */
static void fractions_are_cut_at_a_short_number(void **state)
{
    assert_proposed(a_real_number,
                    "ratio=0.4 M: ratio < 0.4 140, ratio >= 0.4 80, without ratio 20");
}

/* ---- levels ---- */

static void three_hosts(struct pythia_random *random, int i, char *text, size_t size)
{
    static const char *const hosts[] = {"cp-1", "cp-2", "cp-3", "cp-4"};
    static const int means[] = {100000, 900000, 100000, 300000};
    snprintf(text, size, "A(host=%s){%d}", hosts[i % 4], around(random, means[i % 4], 4000));
}

static void levels_go_with_the_modes(void **state)
{
    assert_proposed(three_hosts,
                    "host={cp-4},{cp-2} M: host = cp-4 60, host = cp-2 60, other host 120");
}

/* Half of the requests of one host are slow: most of them in no host, and still it is the host. */
static void a_host_that_is_bad_at_times(struct pythia_random *random, int i, char *text,
                                        size_t size)
{
    bool slow = i % 6 == 1 && i % 12 < 6;
    snprintf(text, size, "A(host=cp-%d){%d}", i % 6, around(random, slow ? 900000 : 100000, 9000));
}

static void a_level_counts_though_few_of_its_requests_are_slow(void **state)
{
    assert_proposed(a_host_that_is_bad_at_times, "host={cp-1} M: host = cp-1 40, other host 200");
}

static void one_mode_of_levels(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, "A(plan=%c){%d}", "abc"[i % 3],
             around(random, 100000 + (i % 3 == 1 ? 6000 : 0), 4000));
}

static void levels_of_one_mode_are_those_of_the_explanation(void **state)
{
    assert_proposed(one_mode_of_levels, "plan={b}: plan = b 80, other plan 160");
}

static void a_level_of_any_bytes(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, "A(it's a %%key%%=%s){%d}", i % 3 ? "x{1}|\x1b[31m" : "y",
             around(random, i % 3 ? 100000 : 300000, 4000));
}

static void hostile_names_can_be_pasted(void **state)
{
    assert_proposed(a_level_of_any_bytes, "it%27s%20a%20%25key%25={y} M: it's a %key% = y 80, "
                                          "other it's a %key% 160");
}

/* ---- presence and structure ---- */

static void absent(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, i % 3 ? "A(cached=yes){%d}" : "A{%d}",
             around(random, i % 3 ? 100000 : 300000, 4000));
}

static void a_key_that_is_there_or_not_parts_by_that(void **state)
{
    assert_proposed(absent, "cached=*: with cached 160, without cached 80");
}

static void passed(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, i % 3 ? "A{%d}" : "A{%d B{200000}}", around(random, 100000, 4000));
}

static void a_trace_point_that_is_passed_or_not_parts(void **state)
{
    struct proposed p;
    struct pythia_random random;
    pythia_random_init(&random, 3);
    p = (struct proposed){0};
    requests_begin(&p.r);
    for (int i = 0; i < REQUESTS; i++) {
        char text[64];
        passed(&random, i, text, sizeof(text));
        p.texts[i] = pythia_strndup(text, strlen(text));
    }
    regroup(&p, NULL);
    /* a group for each path is the usual; too few requests to look deeper leave them together */
    size_t count;
    struct pythia_diagnosis_options how = {.min_cov = .01, .seed = 1, .min_requests = 100};
    requests_finish(&p.r, &count);
    assert_int_equal(pythia_diagnose(p.r.groups, &how, &p.d), PYTHIA_OK);
    assert_int_equal(p.d->group_count, 1);
    assert_int_equal(splits_of(&p)->count, 1);
    assert_string_equal(splits_of(&p)->all[0].text, "has:B");
    assert_string_equal(splits_of(&p)->all[0].parts[1].label, "without B");
    assert_int_equal(splits_of(&p)->all[0].parts[1].requests, 160);
    assert_string_equal(splits_of(&p)->all[0].parts[0].label, "with B");
    assert_share(&p, &splits_of(&p)->all[0]);
    assert_it_does_what_it_says(&p, &splits_of(&p)->all[0]);
    end(&p);
}

static void rounds(struct pythia_random *random, int i, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "A{%d", around(random, 100000, 4000));
    for (int k = 0; k < (i % 3 == 0 ? 4 : 2); k++)
        used += (size_t)snprintf(text + used, size - used, " B{50000} 10");
    snprintf(text + used, size - used, "}");
}

static void the_rounds_of_a_loop_part(void **state)
{
    assert_proposed(rounds, "count:B=3 M: count:B < 3 160, count:B >= 3 80");
}

static void two_places(struct pythia_random *random, int i, char *text, size_t size)
{
    snprintf(text, size, "s:A(q=%d){%d s:B(q=%d){5}}", i % 2,
             around(random, i % 2 ? 300000 : 100000, 4000), i * 5 % 7);
}

static void a_key_of_several_places_is_named_with_its_place(void **state)
{
    assert_proposed(two_places, "q@s:A=1 M: q@s:A < 1 120, q@s:A >= 1 120");
}

/* ---- what is not proposed ---- */

static void twins(struct pythia_random *random, int i, char *text, size_t size)
{
    int slow = i % 3 == 0, noise = i * 11 % 20 == 0;
    snprintf(text, size, "A(one=%d,same=%d,near=%d){%d}", slow, 5 + slow, noise ? !slow : slow,
             around(random, slow ? 300000 : 100000, 4000));
}

static void twins_and_proxies_are_not_proposed(void **state)
{
    assert_proposed(twins, "one=1 M: one < 1 160, one >= 1 80");
}

static void shift(struct pythia_random *random, int i, char *text, size_t size)
{
    int all = around(random, 100000, 9000);
    snprintf(text, size, "A(cache=%s){B{%d} C{%d}}", i % 2 ? "hit" : "miss", all / (i % 2 ? 4 : 2),
             all - all / (i % 2 ? 4 : 2));
}

/* It moves time from one edge to another: it explains, and parts nothing of the duration. */
static void a_key_that_does_not_part_durations_is_not_proposed(void **state)
{
    struct proposed p;
    propose(&p, shift);
    assert_string_equal(p.d->groups[0].explanations.found[0].name, "cache");
    assert_int_equal(splits_of(&p)->count, 0);
    end(&p);
}

static void nothing_goes_with_it(struct pythia_random *random, int i, char *text, size_t size)
{
    (void)i;
    snprintf(text, size, "A(q=%d,h=%c){%d}", (int)pythia_random_below(random, 10),
             "abcd"[pythia_random_below(random, 4)], around(random, 100000, 9000));
}

static void chance_is_not_proposed(void **state)
{
    assert_proposed(nothing_goes_with_it, "");
}

/* ---- what a split is for ---- */

/* Two populations: on cp-2 all requests take 5 s, elsewhere 0.1 s, and there, and only there, C
 * takes 80 ms longer in every fourth request, with the key cold. Of all variance C has a
 * ten-thousandth. */
static void two_populations(struct pythia_random *random, int i, char *text, size_t size)
{
    bool slow = i % 2, cold = !slow && i / 2 % 4 == 0;
    snprintf(text, size, "A(host=%s){%d B{%d} C(cold=%d){%d}}", slow ? "cp-2" : "cp-1",
             around(random, 20000000, 100000), slow ? around(random, 4.9e8, 1e6) : 1000000,
             slow ? i / 2 % 2 : cold, around(random, cold ? 2e7 : 1.2e7, 100000));
}

static void a_second_cause_shows_within_a_part(void **state)
{
    struct proposed p;
    struct pythia_split_spec spec;
    struct pythia_grouping_key *key;
    propose(&p, two_populations);
    const struct pythia_group *whole = &p.d->groups[0];
    assert_string_equal(requests_edge(pythia_groups_cct(p.r.groups), whole->ranking.edges[0].edge),
                        "A/B: B -> /B");
    assert_true(whole->ranking.edges[1].share.share < .001);
    assert_int_equal(splits_of(&p)->count, 1);
    assert_string_equal(splits_of(&p)->all[0].text, "host={cp-2}");
    assert_true(splits_of(&p)->all[0].between.low > .99);
    assert_it_does_what_it_says(&p, &splits_of(&p)->all[0]);
    assert_int_equal(
        pythia_split_spec_read(pythia_text_of(splits_of(&p)->all[0].text), &spec, NULL), PYTHIA_OK);
    assert_int_equal(pythia_grouping_key_create(p.r.vocabulary, &spec, 1, &key, NULL), PYTHIA_OK);
    pythia_diagnosis_destroy(p.d);
    regroup(&p, key);
    p.d = diagnose(&p);
    assert_int_equal(p.d->group_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pythia_group *g = &p.d->groups[i];
        const char *name =
            pythia_vocabulary_text(p.r.vocabulary, p.d->types[g->type].type->name).bytes;
        if (strcmp(name, "A [other host]") != 0) {
            assert_string_equal(name, "A [host = cp-2]");
            assert_int_not_equal(g->status, PYTHIA_GROUP_DIAGNOSED);
            continue;
        }
        assert_int_equal(g->status, PYTHIA_GROUP_DIAGNOSED);
        assert_string_equal(requests_edge(pythia_groups_cct(p.r.groups), g->ranking.edges[0].edge),
                            "A/C: C -> /C");
        assert_true(g->ranking.edges[0].share.low > .95);
        assert_string_equal(g->explanations.found[0].name, "cold");
        assert_string_equal(g->splits.all[0].text, "cold=1");
        assert_int_equal(g->splits.all[0].parts[1].requests, REQUESTS / 8);
    }
    pythia_grouping_key_destroy(key);
    pythia_split_spec_clear(&spec);
    end(&p);
}

/* What is proposed for the parts of a split by the same key, in place of it: "; " between. */
static void assert_refined(maker make, const char *split, const char *wanted)
{
    struct proposed p;
    struct pythia_split_spec spec;
    struct pythia_grouping_key *key;
    struct pythia_buf text = {0};
    propose(&p, make);
    assert_int_equal(pythia_split_spec_read(pythia_text_of(split), &spec, NULL), PYTHIA_OK);
    assert_int_equal(pythia_grouping_key_create(p.r.vocabulary, &spec, 1, &key, NULL), PYTHIA_OK);
    pythia_diagnosis_destroy(p.d);
    regroup(&p, key);
    p.d = diagnose(&p);
    for (size_t i = 0; i < p.d->group_count; i++)
        for (size_t k = 0; k < p.d->groups[i].splits.count; k++) {
            const struct pythia_split_proposal *s = &p.d->groups[i].splits.all[k];
            pythia_buf_printf(&text, "%s%s instead of %s:", text.size ? "; " : "", s->text,
                              s->instead ? s->instead : "nothing");
            for (size_t part = 0; part < s->part_count; part++)
                pythia_buf_printf(&text, "%s %s %d", part ? "," : "", s->parts[part].label,
                                  (int)s->parts[part].requests);
        }
    assert_string_equal(text.bytes ? text.bytes : "", wanted);
    pythia_buf_free(&text);
    pythia_grouping_key_destroy(key);
    pythia_split_spec_clear(&spec);
    end(&p);
}

static void a_part_is_parted_further_in_one_split(void **state)
{
    assert_refined(three_clusters, "queue=3",
                   "queue=3,6 instead of queue=3: queue 3 to < 6 90, queue >= 6 60");
    assert_refined(three_clusters, "queue=*",
                   "queue=3,6 instead of queue=*: queue < 3 90, queue 3 to < 6 90, queue >= 6 60");
    assert_refined(
        three_hosts, "host={cp-1,cp-2}",
        "host={cp-1},{cp-2} instead of host={cp-1,cp-2}: host = cp-1 60, host = cp-2 60; "
        "host={cp-1,cp-2},{cp-4} instead of host={cp-1,cp-2}: host = cp-4 60, other host "
        "60");
    assert_refined(three_clusters, "queue={1,7}", ""); /* levels stay levels */
}

static void a_failed_allocation_leaves_nothing(void **state)
{
    struct proposed p;
    propose(&p, three_hosts);
    const struct pythia_group *g = &p.d->groups[0];
    long n = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
        struct pythia_split_proposals again = {0};
        pythia_mem_fail_after(n);
        status = pythia_split_propose(g->rows, g->sampled, &g->modes, &g->explanations,
                                      pythia_groups_keys(p.r.groups), p.r.vocabulary, NULL, 0, .05,
                                      &again);
        pythia_mem_fail_after(-1);
        assert_int_equal(again.count, status == PYTHIA_OK);
        pythia_split_proposals_free(&again);
    }
    assert_in_range(n, 20, 2000);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_key_gives_two_parts),
        cmocka_unit_test(three_modes_give_two_cuts),
        cmocka_unit_test(with_one_mode_it_parts_as_the_explanation),
        cmocka_unit_test(fractions_are_cut_at_a_short_number),
        cmocka_unit_test(levels_go_with_the_modes),
        cmocka_unit_test(a_level_counts_though_few_of_its_requests_are_slow),
        cmocka_unit_test(levels_of_one_mode_are_those_of_the_explanation),
        cmocka_unit_test(hostile_names_can_be_pasted),
        cmocka_unit_test(a_key_that_is_there_or_not_parts_by_that),
        cmocka_unit_test(a_trace_point_that_is_passed_or_not_parts),
        cmocka_unit_test(the_rounds_of_a_loop_part),
        cmocka_unit_test(a_key_of_several_places_is_named_with_its_place),
        cmocka_unit_test(twins_and_proxies_are_not_proposed),
        cmocka_unit_test(a_key_that_does_not_part_durations_is_not_proposed),
        cmocka_unit_test(chance_is_not_proposed),
        cmocka_unit_test(a_second_cause_shows_within_a_part),
        cmocka_unit_test(a_part_is_parted_further_in_one_split),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
