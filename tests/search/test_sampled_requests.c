/* A stream that was sampled, against all requests of which it is a sample. */
#include "pythia/compare.h"
#include "pythia/diagnosis.h"
#include "requests.h"
#include "sketch_values.h"

#define POPULATION 60000

/* ---- by hand ---- */

static void counts_moments_and_quantiles_weigh_requests(void **state)
{
    struct requests r;
    size_t count;
    requests_begin_folded(&r);
    requests_add(&r, "A(sampling.probability=0.1){20}");
    requests_add(&r, "A(sampling.probability=0.1){40}");
    requests_add(&r, "A(sampling.probability=1){100}");
    requests_add(&r, "C(sampling.probability=0.25){10}"); /* beside it, of another type */
    const struct pythia_type *types = requests_finish(&r, &count);
    assert_int_equal(count, 2);
    const struct pythia_exact_moments *m = &types[0].moments,
                                      *all = pythia_groups_moments(r.groups);
    assert_int_equal(m->n, 3);
    assert_int_equal(m->weight, 21);
    assert_rel_equal(pythia_exact_moments_mean(m), 700 / 21.0, 1e-15);
    assert_rel_equal(pythia_exact_moments_variance(m), 3500 / 6.0, 1e-15); /* see stats */
    assert_int_equal(count_sketch_values(types[0].sketch), 21);
    assert_rel_equal(pythia_sketch_quantile(types[0].sketch, .45), 20, .01); /* rank 9 of 21 */
    assert_rel_equal(pythia_sketch_quantile(types[0].sketch, .5), 40, .01);
    assert_rel_equal(pythia_sketch_quantile(types[0].sketch, 1), 100, .01);
    assert_int_equal(types[1].moments.weight, 4);
    assert_int_equal(all->n, 4);
    assert_int_equal(all->weight, 25);
    assert_rel_equal(pythia_exact_moments_mean(all), 740 / 25.0, 1e-15);
    assert_rel_equal(pythia_type_evidence(&types[0]), 2.1, 1e-15); /* 21 / 10 */
    assert_rel_equal(pythia_type_evidence(&types[1]), 1, 0);
    requests_end(&r);
}

/* 16 requests of weight 1 and one of weight 4 in a type are worth 5: of the light ones every fourth
 * by duration (fair_sample.h). In each structure by itself all count the same. */
static void rows_of_mixed_weights_are_thinned_to_equal_ones(void **state)
{
    struct requests r;
    size_t count, stay = 17;
    const struct pythia_row *rows[17];
    int64_t sum = 0;
    requests_begin_folded(&r);
    for (int i = 0; i < 16; i++)
        requests_add(&r, "A{%d}", i);
    requests_add(&r, "A(sampling.probability=0.25){%d B{1}}", 50);
    const struct pythia_type *t = requests_finish(&r, &count);
    assert_int_equal(pythia_sample_count(t->rows), 17);
    assert_int_equal(pythia_type_rows(t), 5);
    for (size_t i = 0; i < 5; i++)
        sum += pythia_type_row(t, i)->duration_ns;
    assert_int_equal(sum, 1 + 5 + 9 + 13 + 51);
    for (size_t i = stay = 0; i < 17; i++) {
        const struct pythia_row *row = pythia_sample_row(t->rows, i);
        if (row->weight == 1)
            rows[stay++] = row;
    }
    assert_int_equal(pythia_type_leave_fair(t, rows, &stay), PYTHIA_OK);
    assert_int_equal(stay, 16);
    requests_end(&r);
}

/* A sample that is full holds light rows with a probability below 1, so they stand for more: where
 * the heaviest weight is below that, all rows count the same. */
static void a_full_sample_is_fair_already(void **state)
{
    struct requests r;
    size_t count;
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.rows_per_type = 64, .rows = 1000});
    for (int i = 0; i < 4000; i++)
        requests_add(&r, i % 4 == 0 ? "A(sampling.probability=0.5){%d}" : "A{%d}", 5 + i);
    const struct pythia_type *t = requests_finish(&r, &count);
    assert_int_equal(t->moments.weight, 5000);
    assert_int_equal(pythia_type_rows(t), 64);
    size_t heavy = 0; /* 2 / 5 of the requests that they stand for */
    for (size_t i = 0; i < 64; i++)
        heavy += pythia_type_row(t, i)->weight == 2;
    assert_in_range(heavy, 26 - 8, 26 + 8); /* with a standard deviation of 3.9 */
    requests_end(&r);
}

/* Memory may be missing wherever rows are thinned. */
static void missing_memory_fails_cleanly(void **state)
{
    int status = PYTHIA_ENOMEM;
    for (long allowed = 0; status == PYTHIA_ENOMEM; allowed++) {
        struct requests r;
        struct pythia_diagnosis *d = NULL;
        requests_begin_folded(&r);
        for (int i = 0; i < 40; i++) {
            requests_add(&r, "A{%d}", i);
            requests_add(&r, "A(sampling.probability=0.5){%d B{3}}", 7 * i);
        }
        pythia_mem_fail_after(allowed);
        status = pythia_groups_finish(r.groups);
        if (status == PYTHIA_OK)
            status = pythia_diagnose(r.groups, &(struct pythia_diagnosis_options){.seed = 1}, &d);
        pythia_mem_fail_after(-1);
        pythia_diagnosis_destroy(d);
        requests_end(&r);
        assert_true(allowed < 100000);
    }
    assert_int_equal(status, PYTHIA_OK);
}

/* ---- the whole, a tenth, and all that is slow with a tenth of the rest ---- */

enum { WHOLE, TENTH, MIXED, WITHOUT_WEIGHTS, SETS };

struct set {
    struct requests r;
    struct pythia_diagnosis *d;
    uint64_t kept;
};

/* A: two calls, of which one is longer for one tenant of ten; a tenth fails early. C: like A, but
 * quick. */
static void write_request(struct pythia_random *random, const char *probability, char *text,
                          size_t room, bool *slow)
{
    int own = 20000 + (int)pythia_random_below(random, 60000),
        call = 30000 + (int)pythia_random_below(random, 50000);
    bool acme = pythia_random_below(random, 10) == 0, fails = pythia_random_below(random, 10) == 0,
         quick = pythia_random_below(random, 3) == 0;
    int waits = (acme ? 120000 : 20000) + (int)pythia_random_below(random, 20000);
    const char *tenant = acme ? "acme" : "other";
    *slow = !fails && !quick && acme;
    if (quick)
        snprintf(text, room, "C(tenant=%s%s){%d B{%d} 100}", tenant, probability, own / 10,
                 call / 10);
    else if (fails)
        snprintf(text, room, "A(tenant=%s%s){%d}", tenant, probability, own);
    else
        snprintf(text, room, "A(tenant=%s%s){%d B{%d} D{%d} 1000}", tenant, probability, own, call,
                 waits);
}

static void gather(struct set *sets)
{
    struct pythia_random random, sampler;
    pythia_random_init(&random, 1);
    pythia_random_init(&sampler, 2);
    for (size_t s = 0; s < SETS; s++) {
        sets[s].kept = 0;
        requests_begin(&sets[s].r);
        requests_group(&sets[s].r, &(struct pythia_groups_options){.fold = true,
                                                                   .rows_per_type = POPULATION,
                                                                   .rows = POPULATION});
    }
    for (uint64_t i = 0; i < POPULATION; i++) {
        struct pythia_random same = random;
        char plain[256], tenth[256], certain[256];
        bool slow, drawn = pythia_random_below(&sampler, 10) == 0;
        write_request(&random, "", plain, sizeof(plain), &slow);
        random = same;
        write_request(&random, ",sampling.probability=1", certain, sizeof(certain), &slow);
        random = same;
        write_request(&random, ",sampling.probability=0.1", tenth, sizeof(tenth), &slow);
        const char *const seen[SETS] = {plain, drawn ? tenth : NULL,
                                        slow    ? certain
                                        : drawn ? tenth
                                                : NULL,
                                        drawn ? plain : NULL};
        for (size_t s = 0; s < SETS; s++)
            if (seen[s]) {
                requests_add_as(&sets[s].r, i, seen[s]);
                sets[s].kept++;
            }
    }
    const struct pythia_diagnosis_options usual = {.seed = 1};
    for (size_t s = 0; s < SETS; s++) {
        size_t count;
        requests_finish(&sets[s].r, &count);
        assert_int_equal(count, 2);
        assert_int_equal(pythia_diagnose(sets[s].r.groups, &usual, &sets[s].d), PYTHIA_OK);
    }
}

static int gather_all(void **state)
{
    struct set *sets = calloc(SETS, sizeof(*sets));
    gather(sets);
    *state = sets;
    return 0;
}

static int free_all(void **state)
{
    struct set *sets = *state;
    for (size_t s = 0; s < SETS; s++) {
        pythia_diagnosis_destroy(sets[s].d);
        requests_end(&sets[s].r);
    }
    free(sets);
    return 0;
}

/* Shares of the whole and of a sample are within 2 points of each other. */
static void assert_share(double sampled, double whole)
{
    if (!(fabs(sampled - whole) <= .02))
        fail_msg("the share is %.4f, of the whole %.4f", sampled, whole);
}

/* So many of n requests, of which each was kept with a probability of .1 or more: within three
 * standard deviations, which are at most sqrt(n (1 - .1) / .1). */
static void assert_count(uint64_t sampled, uint64_t whole)
{
    if (!(fabs((double)sampled - (double)whole) <= 3 * sqrt(9 * (double)whole)))
        fail_msg("%d requests, of the whole %d", (int)sampled, (int)whole);
}

static const struct pythia_group *find_group(const struct set *set, uint64_t id)
{
    for (size_t i = 0; i < set->d->group_count; i++)
        if (set->d->groups[i].id == id)
            return &set->d->groups[i];
    fail_msg("no group %llx", (unsigned long long)id);
    return NULL;
}

static const char *type_name(const struct set *set, size_t type)
{
    return pythia_vocabulary_text(set->r.vocabulary, set->d->types[type].type->name).bytes;
}

static void assert_types_alike(const struct set *sampled, const struct set *whole)
{
    assert_int_equal(whole->d->requests, POPULATION);
    assert_int_equal(sampled->d->seen, sampled->kept);
    assert_count(sampled->d->requests, POPULATION);
    assert_rel_equal(sampled->d->mean_ns, whole->d->mean_ns, .03);
    assert_rel_equal(sampled->d->sd_ns, whole->d->sd_ns, .03);
    assert_share(sampled->d->between_types_share, whole->d->between_types_share);
    for (size_t i = 0; i < 2; i++) {
        const struct pythia_type_result *a = &sampled->d->types[i], *b = &whole->d->types[i];
        assert_string_equal(type_name(sampled, i), type_name(whole, i));
        assert_count(a->type->moments.weight, b->type->moments.weight);
        assert_share(a->variance_share, b->variance_share);
        assert_share(a->between_share, b->between_share);
    }
}

static const struct pythia_ranked_edge *find_edge(const struct set *set,
                                                  const struct pythia_group *g, const char *name)
{
    for (size_t e = 0; e < g->ranking.edge_count; e++)
        if (strcmp(requests_edge(pythia_groups_cct(set->r.groups), g->ranking.edges[e].edge),
                   name) == 0)
            return &g->ranking.edges[e];
    fail_msg("no edge %s", name);
    return NULL;
}

static void assert_edges_alike(const struct set *sampled, const struct pythia_group *a,
                               const struct set *whole, const struct pythia_group *b)
{
    assert_int_equal(a->ranking.edge_count, b->ranking.edge_count);
    for (size_t e = 0; e < a->ranking.edge_count; e++) {
        char name[256];
        snprintf(name, sizeof(name), "%s",
                 requests_edge(pythia_groups_cct(sampled->r.groups), a->ranking.edges[e].edge));
        const struct pythia_ranked_edge *same = find_edge(whole, b, name);
        assert_share(a->ranking.edges[e].share.share, same->share.share);
    }
}

/* The tenant is what the whole names, and nothing says that how it was sampled matters. */
static void assert_tenant(const struct set *set, const struct pythia_group *g)
{
    const struct pythia_keys *keys = pythia_groups_keys(set->r.groups);
    assert_int_equal(g->explanations.found_count, 1);
    assert_string_equal(g->explanations.found[0].name, "tenant");
    for (uint32_t key = 0; key < pythia_keys_count(keys); key++)
        assert_string_not_equal(pythia_keys_attribute(keys, key).bytes, "sampling.probability");
}

static void assert_groups_alike(const struct set *sampled, const struct set *whole)
{
    assert_int_equal(sampled->d->group_count, whole->d->group_count);
    uint64_t seen = 0;
    for (size_t i = 0; i < whole->d->group_count; i++) {
        const struct pythia_group *b = &whole->d->groups[i], *a = find_group(sampled, b->id);
        assert_count(a->count, b->count);
        assert_share(a->variance_share, b->variance_share);
        assert_int_equal(a->status, b->status);
        assert_rel_equal(a->mean_ns, b->mean_ns, .05);
        assert_rel_equal(a->p50_ns, b->p50_ns, .05);
        assert_rel_equal(a->p90_ns, b->p90_ns, .05);
        assert_edges_alike(sampled, a, whole, b);
        assert_true(a->sampled <= a->seen); /* nothing counts as evidence that was not seen */
        seen += a->seen;
        if (i == 0) /* the one with the cause */
            assert_tenant(sampled, a);
    }
    assert_int_equal(seen, sampled->kept);
}

static void the_whole_has_a_cause(void **state)
{
    const struct set *sets = *state;
    const struct pythia_group *g = &sets[WHOLE].d->groups[0];
    assert_int_equal(g->status, PYTHIA_GROUP_DIAGNOSED);
    assert_true(g->ranking.edges[0].share.share > .6);
    assert_tenant(&sets[WHOLE], g);
}

static void a_tenth_of_all_tells_what_the_whole_does(void **state)
{
    const struct set *sets = *state;
    assert_types_alike(&sets[TENTH], &sets[WHOLE]);
    assert_groups_alike(&sets[TENTH], &sets[WHOLE]);
}

static void slow_requests_kept_more_often_tell_it_too(void **state)
{
    const struct set *sets = *state;
    assert_true(sets[MIXED].kept > sets[TENTH].kept * 3 / 2); /* 6 % are slow, and all there */
    assert_types_alike(&sets[MIXED], &sets[WHOLE]);
    assert_groups_alike(&sets[MIXED], &sets[WHOLE]);
}

/* Equal weights change counts and nothing else: not a share, nor what is significant. */
static void equal_weights_are_not_more_evidence(void **state)
{
    const struct set *sets = *state;
    const struct set *weighted = &sets[TENTH], *plain = &sets[WITHOUT_WEIGHTS];
    assert_int_equal(weighted->kept, plain->kept);
    assert_int_equal(plain->d->requests, plain->kept);
    assert_int_equal(weighted->d->requests, 10 * weighted->kept);
    assert_int_equal(weighted->d->group_count, plain->d->group_count);
    for (size_t i = 0; i < plain->d->group_count; i++) {
        const struct pythia_group *a = &weighted->d->groups[i], *b = &plain->d->groups[i];
        assert_int_equal(a->id, b->id);
        assert_int_equal(a->count, 10 * b->count);
        assert_int_equal(a->seen, b->count);
        assert_int_equal(a->sampled, b->sampled);
        assert_int_equal(a->status, b->status);
        assert_int_equal(a->cause, b->cause);
        assert_int_equal(a->ranking.localised, b->ranking.localised);
        assert_rel_equal(a->modes_q, b->modes_q, 0);
        for (size_t e = 0; e < b->ranking.edge_count; e++) {
            const struct pythia_share *x = &a->ranking.edges[e].share,
                                      *y = &b->ranking.edges[e].share;
            assert_rel_equal(x->share, y->share, 0);
            assert_rel_equal(x->low, y->low, 0);
            assert_rel_equal(x->high, y->high, 0);
        }
        assert_int_equal(a->explanations.found_count, b->explanations.found_count);
        for (size_t k = 0; k < b->explanations.found_count; k++)
            assert_rel_equal(a->explanations.found[k].result.q, b->explanations.found[k].result.q,
                             0);
    }
}

/* So many requests of weight 1 and so many of weight 1000 have so many requests, and nothing can be
 * said of them. */
static void assert_too_few(int light, int heavy, uint64_t count_wanted)
{
    struct requests r;
    size_t count;
    struct pythia_diagnosis *d;
    requests_begin_folded(&r);
    for (int i = 0; i < light; i++)
        requests_add(&r, "A{%d}", 100 + 7 * i);
    for (int i = 0; i < heavy; i++)
        requests_add(&r, "A(sampling.probability=0.001){%d}", 200 + 11 * i);
    requests_finish(&r, &count);
    assert_int_equal(
        pythia_diagnose(r.groups, &(struct pythia_diagnosis_options){.min_requests = 30}, &d),
        PYTHIA_OK);
    assert_int_equal(d->groups[0].seen, light + heavy);
    assert_int_equal(d->groups[0].count, count_wanted);
    assert_int_equal(d->groups[0].status, PYTHIA_GROUP_TOO_FEW);
    pythia_diagnosis_destroy(d);
    requests_end(&r);
}

/* The first are worth 20 by Kish; the others 20 000^2 / 1 019 000 = 393, but a fair sample of them
 * has 20. */
static void few_heavy_requests_are_few(void **state)
{
    assert_too_few(20, 20, 20020);
    assert_too_few(19000, 1, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_moments_and_quantiles_weigh_requests),
        cmocka_unit_test(rows_of_mixed_weights_are_thinned_to_equal_ones),
        cmocka_unit_test(a_full_sample_is_fair_already),
        cmocka_unit_test(missing_memory_fails_cleanly),
        cmocka_unit_test(few_heavy_requests_are_few),
    };
    const struct CMUnitTest samples[] = {
        cmocka_unit_test(the_whole_has_a_cause),
        cmocka_unit_test(a_tenth_of_all_tells_what_the_whole_does),
        cmocka_unit_test(slow_requests_kept_more_often_tell_it_too),
        cmocka_unit_test(equal_weights_are_not_more_evidence),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + cmocka_run_group_tests(samples, gather_all, free_all);
}
