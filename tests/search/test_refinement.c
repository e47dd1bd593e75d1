/* The same requests with some trace points open and with fewer. What the finer view says of the
 * coarser one is held against what requests look like whose points were closed when they were
 * built. */
#include "pythia/rank.h"
#include "pythia/refinement.h"
#include "pythia/shares.h"
#include "pythia/workflow.h"
#include "requests.h"

/* Requests under two sets of open points. */
struct twice {
    struct requests fine, coarse; /* coarse: its own vocabulary */
    struct pythia_open_points *coarser;
    struct pythia_refinement *refinement;
    struct pythia_critical_path path;
};

static struct pythia_open_points *points_of(struct pythia_vocabulary *v, const char *ids)
{
    struct pythia_open_points *open = NULL;
    assert_int_equal(pythia_open_points_create(v, &open), PYTHIA_OK);
    while (*(ids += strspn(ids, " "))) {
        struct pythia_text id = {ids, strcspn(ids, " ")};
        assert_int_equal(pythia_open_points_add(open, id), PYTHIA_OK);
        ids += id.size;
    }
    return open;
}

/* Everything is open in the finer set, `coarser` in the other. */
static void begin(struct twice *t, const char *coarser, size_t rows)
{
    requests_begin_folded(&t->fine);
    requests_begin_folded(&t->coarse);
    requests_open(&t->coarse, coarser);
    t->coarser = points_of(t->fine.vocabulary, coarser);
    pythia_critical_path_init(&t->path);
    assert_int_equal(pythia_refinement_create(t->fine.vocabulary, t->coarser,
                                              &(struct pythia_refinement_options){.rows = rows},
                                              &t->refinement),
                     PYTHIA_OK);
}

static void end(struct twice *t)
{
    pythia_refinement_destroy(t->refinement);
    pythia_open_points_destroy(t->coarser);
    pythia_critical_path_free(&t->path);
    requests_end(&t->fine);
    requests_end(&t->coarse);
}

static void add_trace(struct twice *t, const struct pythia_trace *trace)
{
    assert_int_equal(pythia_refinement_add(t->refinement, trace, requests_path(&t->fine, trace)),
                     PYTHIA_OK);
    assert_int_equal(pythia_groups_add(t->fine.groups, trace), PYTHIA_OK);
}

static void add(struct twice *t, const char *text)
{
    uint64_t number = t->fine.count++;
    add_trace(t, requests_trace(&t->fine, number, text));
    requests_add_as(&t->coarse, number, text);
}

/* "A: A -> C | A: A -> B | 10 ns, 1 of 1" of each part, one a line: the stretch, the edge, time,
 * visits to the edge, and to the stretch, of all rows. */
static const char *parts_of(const struct pythia_refinement *r)
{
    static char text[8192];
    size_t size = 0;
    uint32_t count;
    const struct pythia_refinement_part *parts = pythia_refinement_parts(r, &count);
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time_ns = 0, visits = 0, begins = 0;
        for (size_t k = 0; k < pythia_refinement_rows(r); k++) {
            const struct pythia_refined *row = pythia_refinement_row(r, k);
            for (uint32_t x = 0; x < row->count; x++)
                if (row->times[x].part == i) {
                    time_ns += row->times[x].time_ns;
                    visits += row->times[x].visits;
                    begins += row->times[x].begins;
                }
        }
        uint32_t edges[2] = {parts[i].coarse, parts[i].fine};
        for (int k = 0; k < 2; k++)
            size += (size_t)snprintf(text + size, sizeof(text) - size, "%s | ",
                                     edges[k] == PYTHIA_NONE
                                         ? "nothing"
                                         : requests_edge(pythia_refinement_cct(r), edges[k]));
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%d ns, %d, %d\n", (int)time_ns,
                                 (int)visits, (int)begins);
    }
    return text;
}

static size_t rerouted(const struct pythia_refinement *r)
{
    size_t count = 0;
    for (size_t i = 0; i < pythia_refinement_rows(r); i++)
        count += pythia_refinement_row(r, i)->rerouted;
    return count;
}

/* One request: its parts, and whether its path is another one with fewer points open. */
static void check_parts(const char *text, const char *coarser, bool other, const char *parts)
{
    struct twice t = {0};
    begin(&t, coarser, 0);
    add(&t, text);
    assert_int_equal(pythia_refinement_finish(t.refinement), PYTHIA_OK);
    assert_string_equal(parts_of(t.refinement), parts);
    assert_int_equal(rerouted(t.refinement), other);
    end(&t);
}

/* ---- by hand ---- */

static void a_point_between_two_others_parts_the_stretch(void **state)
{
    check_parts("R{1 A{2 B{3} 4 C{5} 6} 7}", "R A C", false,
                "R: /A -> /R | R: /A -> /R | 7 ns, 1, 1\n"
                "R: R -> A | R: R -> A | 1 ns, 1, 1\n"
                "R/A: A -> C | R/A: A -> B | 2 ns, 1, 1\n"
                "R/A: A -> C | R/A: /B -> C | 4 ns, 1, 0\n"
                "R/A: A -> C | R/A/B: B -> /B | 3 ns, 1, 0\n"
                "R/A: /C -> /A | R/A: /C -> /A | 6 ns, 1, 1\n"
                "R/A/C: C -> /C | R/A/C: C -> /C | 5 ns, 1, 1\n");
}

static void a_point_around_others_is_a_part_of_the_stretches_at_its_ends(void **state)
{
    check_parts("R{1 B{2 C{3} 4} 5}", "R C", false,
                "R: /C -> /R | R: /B -> /R | 5 ns, 1, 0\n"
                "R: /C -> /R | R/B: /C -> /B | 4 ns, 1, 1\n"
                "R: R -> C | R: R -> B | 1 ns, 1, 1\n"
                "R: R -> C | R/B: B -> C | 2 ns, 1, 0\n"
                "R/C: C -> /C | R/B/C: C -> /C | 3 ns, 1, 1\n");
}

static void one_edge_can_be_in_several_stretches(void **state)
{
    check_parts("R{B{10} A{20} B{30}}", "R A", false,
                "R: /A -> /R | R: /A -> B | 0 ns, 1, 1\n"
                "R: /A -> /R | R: /B -> /R | 0 ns, 1, 0\n"
                "R: /A -> /R | R/B: B -> /B | 30 ns, 1, 0\n"
                "R: R -> A | R: /B -> A | 0 ns, 1, 0\n"
                "R: R -> A | R: R -> B | 0 ns, 1, 1\n"
                "R: R -> A | R/B: B -> /B | 10 ns, 1, 0\n"
                "R/A: A -> /A | R/A: A -> /A | 20 ns, 1, 1\n");
}

static void rounds_of_a_loop_are_added_up(void **state)
{
    check_parts("R{A{1 B{2} 3} A{4 B{5} 6} A{7}}", "R A", false,
                "R: /A -> A | R: /A -> A | 0 ns, 2, 2\n"
                "R: /A -> /R | R: /A -> /R | 0 ns, 1, 1\n"
                "R: R -> A | R: R -> A | 0 ns, 1, 1\n"
                "R/A: A -> /A | R/A: A -> /A | 7 ns, 1, 1\n"
                "R/A: A -> /A | R/A: A -> B | 5 ns, 2, 2\n"
                "R/A: A -> /A | R/A: /B -> /A | 9 ns, 2, 0\n"
                "R/A: A -> /A | R/A/B: B -> /B | 7 ns, 2, 0\n");
    check_parts("R{A{1} 2 A{3}}", "R", false, /* the loop itself is closed */
                "R: R -> /R | R: /A -> A | 2 ns, 1, 0\n"
                "R: R -> /R | R: /A -> /R | 0 ns, 1, 0\n"
                "R: R -> /R | R: R -> A | 0 ns, 1, 1\n"
                "R: R -> /R | R/A: A -> /A | 4 ns, 2, 0\n");
}

static void a_point_in_time_parts_as_well(void **state)
{
    check_parts("R{5 *E 6}", "R", false,
                "R: R -> /R | R: *E -> /R | 6 ns, 1, 0\n"
                "R: R -> /R | R: R -> *E | 5 ns, 1, 1\n");
}

/* B [10,40] with D [15,35] in it runs beside C [10,70], with B open and with B closed. */
static void what_runs_beside_the_path_is_no_part_of_it(void **state)
{
    check_parts("R{10 ~B{5 D{20} 5} C{60} 30}", "R C D", false,
                "R: /C -> /R | R: /C -> /R | 30 ns, 1, 1\n"
                "R: R -> C | R: R -> C | 10 ns, 1, 1\n"
                "R/C: C -> /C | R/C: C -> /C | 60 ns, 1, 1\n");
}

/* B [0,40] has D [5,15] in it; C [30,90] begins before B ends. With B open the path passes over B,
 * with B closed it goes through D, which had ended when C began. */
static void where_a_closed_span_overlaps_the_path_goes_another_way(void **state)
{
    check_parts("R{~B{5 D{10} 25} 30 C{60} 10}", "R C D", true,
                "R: /C -> /R | R: /C -> /R | 10 ns, 1, 1\n"
                "R: /D -> C | R: R -> C | 15 ns, 0, 1\n"
                "R: R -> D | R: R -> C | 5 ns, 1, 1\n"
                "R/C: C -> /C | R/C: C -> /C | 60 ns, 1, 1\n"
                "R/D: D -> /D | R: R -> C | 10 ns, 0, 1\n");
}

/* What goes on by itself after all else has ended, and is closed: the request seems to end with R.
 */
static void what_outlives_the_request_is_outside_of_all_stretches(void **state)
{
    check_parts("R{10 ~K{100} 20}", "R", true,
                "R: R -> /R | R: R -> K | 10 ns, 1, 1\n"
                "R: R -> /R | R/K: K -> /K | 20 ns, 1, 0\n"
                "nothing | R: /K -> /R | 0 ns, 1, 0\n"
                "nothing | R/K: K -> /K | 80 ns, 0, 0\n");
}

static void several_roots_are_one_request(void **state)
{
    check_parts("A{1 B{2}} 3 C{4 D{5}}", "A C", false,
                ": /A -> C | : /A -> C | 3 ns, 1, 1\n"
                "A: A -> /A | A: A -> B | 1 ns, 1, 1\n"
                "A: A -> /A | A: /B -> /A | 0 ns, 1, 0\n"
                "A: A -> /A | A/B: B -> /B | 2 ns, 1, 0\n"
                "C: C -> /C | C: C -> D | 4 ns, 1, 1\n"
                "C: C -> /C | C: /D -> /C | 0 ns, 1, 0\n"
                "C: C -> /C | C/D: D -> /D | 5 ns, 1, 0\n");
}

/* ---- laws ---- */

/* What a set of requests spends on an edge, by its name. */
struct spent {
    char edge[1024];
    int64_t time_ns;
    uint64_t visits;
};

static struct spent *spent_on(struct spent *list, size_t *count, const char *edge)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i].edge, edge) == 0)
            return &list[i];
    assert_in_range(*count, 0, 1023);
    list[*count] = (struct spent){.visits = 0};
    snprintf(list[*count].edge, sizeof(list[0].edge), "%s", edge);
    return &list[(*count)++];
}

/* Of a row as groups have it. */
static size_t spend_row(struct spent *to, const struct pythia_groups *g,
                        const struct pythia_row *row)
{
    size_t count = 0;
    for (uint32_t i = 0; i < row->shape->edge_count; i++) {
        struct spent *s =
            spent_on(to, &count, requests_edge(pythia_groups_cct(g), row->shape->edges[i]));
        s->time_ns += row->times_ns[i];
        s->visits += row->shape->repeats[i];
    }
    return count;
}

/* Of the stretches of a request, or of its finer edges, from its parts. */
static size_t spend_parts(struct spent *to, const struct pythia_refinement *r,
                          const struct pythia_refined *row, bool coarse)
{
    size_t count = 0;
    uint32_t all;
    const struct pythia_refinement_part *parts = pythia_refinement_parts(r, &all);
    for (uint32_t i = 0; i < row->count; i++) {
        const struct pythia_refined_time *t = &row->times[i];
        uint32_t edge = coarse ? parts[t->part].coarse : parts[t->part].fine;
        assert_in_range(t->part, i ? row->times[i - 1].part + 1 : 0, all - 1);
        if (edge == PYTHIA_NONE)
            continue;
        struct spent *s = spent_on(to, &count, requests_edge(pythia_refinement_cct(r), edge));
        s->time_ns += (int64_t)t->time_ns;
        s->visits += coarse ? t->begins : t->visits;
    }
    return count;
}

static void assert_same_spent(const struct spent *a, size_t count, struct spent *b, size_t others)
{
    assert_int_equal(count, others);
    for (size_t i = 0; i < count; i++) {
        size_t known = others;
        const struct spent *same = spent_on(b, &known, a[i].edge);
        if (known != others || same->time_ns != a[i].time_ns || same->visits != a[i].visits)
            fail_msg("%s: %lld ns in %llu visits, and not %lld ns in %llu", a[i].edge,
                     (long long)a[i].time_ns, (unsigned long long)a[i].visits,
                     known == others ? (long long)same->time_ns : -1,
                     (unsigned long long)same->visits);
    }
}

static const struct pythia_row *row_of(const struct pythia_row *const *rows, size_t count,
                                       struct pythia_trace_id id)
{
    for (size_t i = 0; i < count; i++)
        if (pythia_trace_id_equal(rows[i]->trace, id))
            return rows[i];
    fail_msg("a request is not among the rows");
    return NULL;
}

/* Each request's parts add up to what groups say of it, in both sets, to the ns. All requests are
 * of one type. */
static void assert_parts_add_up(struct twice *t)
{
    static struct spent a[1024], b[1024];
    size_t types, fine_count, coarse_count;
    const struct pythia_refinement *r = t->refinement;
    const struct pythia_row **fine = requests_rows(requests_finish(&t->fine, &types), &fine_count);
    assert_int_equal(types, 1);
    const struct pythia_row **coarse =
        requests_rows(requests_finish(&t->coarse, &types), &coarse_count);
    assert_int_equal(types, 1);
    assert_int_equal(pythia_refinement_rows(r), fine_count);
    assert_int_equal(coarse_count, fine_count);
    for (size_t i = 0; i < fine_count; i++) {
        const struct pythia_refined *row = pythia_refinement_row(r, i);
        const struct pythia_row *x = row_of(fine, fine_count, row->trace),
                                *y = row_of(coarse, coarse_count, row->trace);
        assert_int_equal(row->fine_ns, x->duration_ns);
        assert_int_equal(row->coarse_ns, y->duration_ns);
        assert_same_spent(a, spend_row(a, t->fine.groups, x), b, spend_parts(b, r, row, false));
        assert_same_spent(a, spend_row(a, t->coarse.groups, y), b, spend_parts(b, r, row, true));
    }
    free(fine);
    free(coarse);
}

static double covariance_of(const double *x, const double *y, size_t n)
{
    double mean_x = 0, mean_y = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean_x) * (y[i] - mean_y);
    return sum;
}

/* The covariance shares of a stretch's parts add up to the share that ranking gives to the edge,
 * from requests whose points were closed when they were built; all add up to 1. */
static void assert_shares_add_up(struct twice *t)
{
    const struct pythia_refinement *r = t->refinement;
    size_t n = pythia_refinement_rows(r), types, count, known;
    static struct spent names[1024];
    static double share[1024];
    uint32_t parts_count;
    const struct pythia_refinement_part *parts = pythia_refinement_parts(r, &parts_count);
    const struct pythia_type *type = pythia_groups_types(t->coarse.groups, &types);
    const struct pythia_row **rows = requests_rows(type, &count);
    struct pythia_rank_options how = {.measure = PYTHIA_MEASURE_SHARE, .level = .95, .alpha = .05};
    struct pythia_ranking ranking = {0};
    const struct pythia_cct *cct = pythia_groups_cct(t->coarse.groups);
    assert_int_equal(pythia_rank(rows, count, cct, &how, &ranking), PYTHIA_OK);
    double *total = calloc(n, sizeof(*total)), *time = calloc(n, sizeof(*time)), sum = 0;
    for (size_t i = 0; i < n; i++)
        total[i] = (double)pythia_refinement_row(r, i)->coarse_ns;
    known = 0;
    for (uint32_t p = 0; p < parts_count; p++) {
        if (parts[p].coarse == PYTHIA_NONE)
            continue;
        memset(time, 0, n * sizeof(*time));
        for (size_t i = 0; i < n; i++) {
            const struct pythia_refined *row = pythia_refinement_row(r, i);
            for (uint32_t k = 0; k < row->count; k++)
                if (row->times[k].part == p)
                    time[i] = (double)row->times[k].time_ns;
        }
        size_t before = known;
        size_t at = (size_t)(spent_on(names, &known,
                                      requests_edge(pythia_refinement_cct(r), parts[p].coarse)) -
                             names);
        share[at] = at == before ? 0 : share[at];
        share[at] += covariance_of(time, total, n) / covariance_of(total, total, n);
    }
    assert_int_equal(known, ranking.edge_count);
    for (size_t e = 0; e < ranking.edge_count; e++) {
        size_t all = known;
        const struct spent *s = spent_on(names, &all, requests_edge(cct, ranking.edges[e].edge));
        assert_int_equal(all, known);
        assert_true(fabs(share[s - names] - ranking.edges[e].share.raw_share) <= 1e-12);
        sum += share[s - names];
    }
    assert_true(fabs(sum - 1) <= 1e-12);
    pythia_ranking_free(&ranking);
    free(rows);
    free(total);
    free(time);
}

static void assert_laws(struct twice *t)
{
    assert_int_equal(pythia_refinement_finish(t->refinement), PYTHIA_OK);
    assert_parts_add_up(t);
    assert_shares_add_up(t);
}

/* ---- requests of a workflow ---- */

static int take(void *context, const struct pythia_trace_id *trace, const struct pythia_span *span)
{
    struct requests *r = context;
    struct pythia_span copy = *span;
    (void)trace;
    copy.attributes = (struct pythia_text){"", 0};
    return pythia_trace_builder_add(r->builder, &copy);
}

static const struct pythia_trace *emit(struct requests *r, struct pythia_workflow *w,
                                       uint64_t number, const bool *open)
{
    const struct pythia_trace *trace = NULL;
    struct pythia_workflow_view view = {.open = open};
    pythia_trace_builder_begin(r->builder, pythia_workflow_trace(w, number));
    assert_int_equal(pythia_workflow_request(w, number, &view, take, r), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(r->builder, &r->counts, &trace), PYTHIA_OK);
    return trace;
}

/* Requests of a workflow, which gives out spans as if points had been closed by itself. The root is
 * open in both sets; of the rest `finer` of a hundred, and `coarser` of a hundred of these. */
static size_t check_workflow(const struct pythia_workflow_options *o, uint64_t finer,
                             uint64_t coarser)
{
    struct twice t = {0};
    struct pythia_random random;
    struct pythia_error why = {0};
    struct pythia_workflow *w = NULL;
    requests_begin_folded(&t.fine);
    pythia_random_init(&random, o->seed);
    if (pythia_workflow_create(t.fine.vocabulary, o, &w, &why) != PYTHIA_OK)
        fail_msg("%s", why.sentence);
    uint32_t points = pythia_vocabulary_tracepoints(t.fine.vocabulary);
    bool *more = calloc(points, sizeof(*more)), *fewer = calloc(points, sizeof(*fewer));
    assert_int_equal(pythia_open_points_create(t.fine.vocabulary, &t.coarser), PYTHIA_OK);
    for (uint32_t i = 0; i < points; i++) {
        bool root = i == pythia_workflow_tracepoint(w, 0);
        more[i] = root || pythia_random_below(&random, 100) < finer;
        fewer[i] = root || (more[i] && pythia_random_below(&random, 100) < coarser);
        if (fewer[i])
            assert_int_equal(pythia_open_points_add(
                                 t.coarser, pythia_vocabulary_tracepoint_id(t.fine.vocabulary, i)),
                             PYTHIA_OK);
    }
    assert_int_equal(pythia_refinement_create(t.fine.vocabulary, t.coarser,
                                              &(struct pythia_refinement_options){.rows = 0},
                                              &t.refinement),
                     PYTHIA_OK);
    t.coarse.vocabulary = t.fine.vocabulary; /* so that trace points have one number */
    assert_int_equal(pythia_trace_builder_create(t.fine.vocabulary, NULL, &t.coarse.builder),
                     PYTHIA_OK);
    requests_group(&t.coarse, &(struct pythia_groups_options){.fold = true});
    for (uint64_t i = 0; i < 40; i++) {
        add_trace(&t, emit(&t.fine, w, i, more));
        assert_int_equal(pythia_groups_add(t.coarse.groups, emit(&t.coarse, w, i, fewer)),
                         PYTHIA_OK);
    }
    assert_int_equal(t.fine.counts.repaired[PYTHIA_REPAIR_CLAMPED], 0);
    assert_laws(&t);
    size_t others = rerouted(t.refinement);
    t.coarse.vocabulary = NULL;
    pythia_workflow_destroy(w);
    free(more);
    free(fewer);
    end(&t);
    return others;
}

static struct pythia_workflow_options workflow(uint64_t seed, enum pythia_workflow_shape shape)
{
    struct pythia_workflow_options o;
    pythia_workflow_options_default(&o);
    o.seed = seed;
    o.shape = shape;
    o.nodes = 60;
    o.distractors = 0;
    o.noise = .3;
    return o;
}

static void parts_add_up_where_nothing_overlaps_and_paths_are_the_same(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_workflow_options o =
            workflow(seed, seed % 3 ? PYTHIA_WORKFLOW_BUSHY : PYTHIA_WORKFLOW_DEEP);
        o.retries = o.loops = seed % 2 ? .3 : 0;
        assert_int_equal(check_workflow(&o, 80, seed % 5 * 25), 0);
    }
}

static void parts_add_up_whatever_forks_joins_and_goes_on_by_itself(void **state)
{
    size_t others = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct pythia_workflow_options o =
            workflow(seed, seed % 3 == 0   ? PYTHIA_WORKFLOW_BUSHY
                           : seed % 3 == 1 ? PYTHIA_WORKFLOW_DEEP
                                           : PYTHIA_WORKFLOW_OPENSTACK);
        o.forks = .4;
        o.async = seed % 2 ? .2 : 0;
        o.retries = o.loops = .3;
        o.tick_ns = seed % 4 ? 0 : 1000000; /* many events at one time */
        others += check_workflow(&o, 50 + seed % 51, 50);
    }
    assert_true(others > 0); /* and the tests above are not all there is */
}

/* ---- random requests ---- */

#define RANDOM_SPANS 16

/* Spans inside of each other and beside each other, points in time, and work that is forked off and
 * waited for, of 8 trace points that repeat below the root. Many events are at one time. */
static void give_random(struct requests *r, struct pythia_trace_builder *to, uint64_t seed)
{
    struct pythia_random random;
    uint64_t start[RANDOM_SPANS], end[RANDOM_SPANS];
    struct pythia_trace_id work = {9, seed + 1};
    pythia_random_init(&random, seed);
    size_t count = 2 + pythia_random_below(&random, RANDOM_SPANS - 2);
    bool forks = pythia_random_below(&random, 2);
    for (size_t i = 0; i < count; i++) {
        const char *name = &"B\0C\0D\0E\0F\0G\0H\0I"[2 * pythia_random_below(&random, 8)];
        name = i ? name : "A";
        size_t parent = i ? pythia_random_below(&random, i) : 0;
        struct pythia_span span = {.id = i + 1, .parent = i ? parent + 1 : 0};
        start[i] =
            i ? start[parent] + pythia_random_below(&random, end[parent] - start[parent] + 1) : 0;
        end[i] =
            i ? start[i] + pythia_random_below(&random, end[parent] - start[i] + 1) : 40 + seed % 7;
        bool spawned = i && pythia_random_below(&random, 6) == 0;
        if (spawned) {
            end[i] += pythia_random_below(&random, 20);
            span.relation = PYTHIA_RELATION_SPAWN;
        }
        span.start_ns = REQUESTS_BEGIN + start[i];
        span.duration_ns = (int64_t)(end[i] - start[i]);
        span.tracepoint =
            pythia_vocabulary_tracepoint(r->vocabulary, 0, 0, requests_string(r, name));
        if (forks &&
            i == 1) { /* what is forked off, and what waits for it at the end of the root */
            struct pythia_span fork = {.id = pythia_span_id_fold(work.high, work.low),
                                       .parent = 1,
                                       .start_ns = span.start_ns,
                                       .tracepoint = span.tracepoint,
                                       .part = PYTHIA_PART_FORK,
                                       .link = work};
            struct pythia_span wait = {.id = 1000,
                                       .parent = 1,
                                       .start_ns = REQUESTS_BEGIN + 20,
                                       .tracepoint = pythia_vocabulary_tracepoint(
                                           r->vocabulary, 0, 0, requests_string(r, "W")),
                                       .part = PYTHIA_PART_WAIT,
                                       .link = work};
            struct pythia_span stop = {.id = 1000,
                                       .start_ns = REQUESTS_BEGIN + (end[1] > 20 ? end[1] : 21),
                                       .tracepoint = PYTHIA_NONE,
                                       .part = PYTHIA_PART_STOP};
            assert_int_equal(pythia_trace_builder_add(to, &fork), PYTHIA_OK);
            assert_int_equal(pythia_trace_builder_add(to, &wait), PYTHIA_OK);
            assert_int_equal(pythia_trace_builder_add(to, &stop), PYTHIA_OK);
            span.parent = fork.id;
        }
        if (i && !spawned && start[i] == end[i])
            span.part = PYTHIA_PART_ANNOTATION;
        assert_int_equal(pythia_trace_builder_add(to, &span), PYTHIA_OK);
    }
}

static const struct pythia_trace *build_random(struct requests *r, uint64_t number, uint64_t seed)
{
    const struct pythia_trace *trace = NULL;
    pythia_trace_builder_begin(r->builder, (struct pythia_trace_id){7, number + 1});
    give_random(r, r->builder, seed);
    assert_int_equal(pythia_trace_builder_finish(r->builder, &r->counts, &trace), PYTHIA_OK);
    return trace;
}

static void parts_add_up_for_any_request(void **state)
{
    size_t others = 0, joined = 0, all = 0;
    for (uint64_t set = 0; set < 128; set++) {
        char ids[64] = "A";
        struct twice t = {0};
        for (int point = 0; point < 7; point++)
            if (set >> point & 1)
                snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), " %c", 'B' + point);
        if (set % 3)
            snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), " W");
        begin(&t, ids, 0);
        for (uint64_t i = 0; i < 30; i++) {
            uint64_t seed = set * 1000 + i;
            uint64_t moved = t.coarse.counts.repaired[PYTHIA_REPAIR_CLAMPED];
            const struct pythia_trace *coarse = build_random(&t.coarse, i, seed);
            if (t.coarse.counts.repaired[PYTHIA_REPAIR_CLAMPED] > moved)
                continue;
            assert_int_equal(pythia_groups_add(t.coarse.groups, coarse), PYTHIA_OK);
            const struct pythia_trace *fine = build_random(&t.fine, i, seed);
            for (uint32_t k = 0; k < fine->count; k++)
                joined += fine->spans[k].joins != PYTHIA_NO_SPAN;
            add_trace(&t, fine);
            all++;
        }
        assert_laws(&t);
        others += rerouted(t.refinement);
        end(&t);
    }
    assert_true(all > 3500 && others > all / 20 && others < all && joined > all / 4);
}

/* ---- any order, any number, no memory ---- */

static void the_order_of_requests_does_not_matter(void **state)
{
    static char first[8192];
    for (int reversed = 0; reversed < 2; reversed++) {
        struct twice t = {0};
        begin(&t, "A C E", 25);
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t number = reversed ? 199 - i : i;
            add_trace(&t, build_random(&t.fine, number, number));
        }
        assert_int_equal(pythia_refinement_finish(t.refinement), PYTHIA_OK);
        assert_int_equal(pythia_refinement_rows(t.refinement), 25);
        if (reversed)
            assert_string_equal(parts_of(t.refinement), first);
        else
            snprintf(first, sizeof(first), "%s", parts_of(t.refinement));
        end(&t);
    }
}

static void a_request_of_which_nothing_is_left_is_counted(void **state)
{
    struct twice t = {0};
    begin(&t, "A", 0);
    add_trace(&t, requests_trace(&t.fine, 0, "A{1 B{2}}"));
    add_trace(&t, requests_trace(&t.fine, 1, "B{1 C{2}}"));
    assert_int_equal(pythia_refinement_finish(t.refinement), PYTHIA_OK);
    assert_int_equal(pythia_refinement_rows(t.refinement), 1);
    end(&t);
}

static void without_memory_it_says_so(void **state)
{
    long failures = 0;
    for (long n = 0, done = 0; !done; n++) {
        struct twice t = {0};
        struct pythia_refinement *r = NULL;
        begin(&t, "A C E", 0);
        int status = PYTHIA_OK;
        const struct pythia_trace *trace = NULL;
        pythia_mem_fail_after(n);
        status = pythia_refinement_create(t.fine.vocabulary, t.coarser,
                                          &(struct pythia_refinement_options){.rows = 0}, &r);
        pythia_mem_fail_after(-1);
        for (uint64_t i = 0; i < 30 && r; i++) {
            trace = build_random(&t.fine, i, i);
            (void)requests_path(&t.fine, trace);
            pythia_mem_fail_after(n % 30);
            int added = pythia_refinement_add(r, trace, &t.fine.path);
            pythia_mem_fail_after(-1);
            status = status == PYTHIA_OK ? added : status;
        }
        pythia_mem_fail_after(n % 7);
        int finished = r ? pythia_refinement_finish(r) : PYTHIA_ENOMEM;
        pythia_mem_fail_after(-1);
        assert_true(finished == PYTHIA_OK || finished == PYTHIA_ENOMEM);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        failures += status != PYTHIA_OK || finished != PYTHIA_OK;
        done = n > 60;
        pythia_refinement_destroy(r);
        end(&t);
    }
    assert_true(failures > 10);
    pythia_refinement_destroy(NULL);
}

/* As of groups: one request of weight 4 and every fourth of 16 of weight 1, by duration. */
static void requests_of_mixed_weights_are_thinned(void **state)
{
    struct twice t;
    char text[64];
    uint64_t sum = 0;
    begin(&t, "A", 0);
    for (int i = 0; i < 16; i++) {
        snprintf(text, sizeof(text), "A{%d B{10}}", i);
        add(&t, text);
    }
    add(&t, "A(sampling.probability=0.25){50 B{10}}");
    assert_int_equal(pythia_refinement_finish(t.refinement), PYTHIA_OK);
    assert_int_equal(pythia_refinement_rows(t.refinement), 5);
    for (size_t i = 0; i < 5; i++)
        sum += pythia_refinement_row(t.refinement, i)->fine_ns - 10;
    assert_int_equal(sum, 1 + 5 + 9 + 13 + 50);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_between_two_others_parts_the_stretch),
        cmocka_unit_test(a_point_around_others_is_a_part_of_the_stretches_at_its_ends),
        cmocka_unit_test(one_edge_can_be_in_several_stretches),
        cmocka_unit_test(rounds_of_a_loop_are_added_up),
        cmocka_unit_test(a_point_in_time_parts_as_well),
        cmocka_unit_test(what_runs_beside_the_path_is_no_part_of_it),
        cmocka_unit_test(where_a_closed_span_overlaps_the_path_goes_another_way),
        cmocka_unit_test(what_outlives_the_request_is_outside_of_all_stretches),
        cmocka_unit_test(several_roots_are_one_request),
        cmocka_unit_test(parts_add_up_where_nothing_overlaps_and_paths_are_the_same),
        cmocka_unit_test(parts_add_up_whatever_forks_joins_and_goes_on_by_itself),
        cmocka_unit_test(parts_add_up_for_any_request),
        cmocka_unit_test(the_order_of_requests_does_not_matter),
        cmocka_unit_test(a_request_of_which_nothing_is_left_is_counted),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(requests_of_mixed_weights_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
