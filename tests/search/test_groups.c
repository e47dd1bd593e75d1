#include <malloc.h>

#include "pythia/groups.h"
#include "pythia/hash.h"
#include "requests.h"
#include "sketch_values.h"

static const struct pythia_type *only_type(struct requests *r)
{
    size_t count;
    const struct pythia_type *types = requests_finish(r, &count);
    assert_int_equal(count, 1);
    return types;
}

static const char *name_of(const struct requests *r, const struct pythia_type *t)
{
    return pythia_vocabulary_text(r->vocabulary, t->name).bytes;
}

/* The structures of a level as text, "3 5w": numbers of requests, rising, "w" behind those that
 * have nothing deeper, which are also among the others. */
static void assert_structures(const struct pythia_type *t, uint32_t level, const char *wanted)
{
    char text[256] = "";
    size_t size = 0;
    for (uint64_t n = 0; n < 10000; n++)
        for (int whole = 0; whole < 2; whole++)
            for (size_t i = 0; i < t->structure_count; i++) {
                const struct pythia_structure *s = &t->structures[i];
                if (s->level == level && s->moments.n == n && s->whole == whole)
                    size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%d%s",
                                             size ? " " : "", (int)n, whole ? "w" : "");
            }
    assert_string_equal(text, wanted);
}

/* ---- types and structures ---- */

static void nesting_is_told_from_a_sequence(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 3; i++)
        requests_add(&r, "A{1 B{2 B{3} 4} 5}");
    for (int i = 0; i < 5; i++)
        requests_add(&r, "A{1 B{2} 3 B{4} 5}");
    const struct pythia_type *t = only_type(&r);
    assert_int_equal(t->levels, 4);
    assert_structures(t, 1, "8");
    assert_structures(t, 2, "5w 8"); /* folded, five have no more than A{B}, as all begin */
    assert_structures(t, 3, "3 3w");
    assert_false(t->too_varied);
    requests_end(&r);
}

static void an_incomplete_request_is_evidence_of_nothing(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 3; i++)
        requests_add(&r, "A{1 B{2} 3}");
    struct pythia_trace trace = *requests_trace(&r, 3, "A{9}");
    trace.incomplete = true;
    assert_int_equal(pythia_groups_add(r.groups, &trace), PYTHIA_OK);
    const struct pythia_type *t = only_type(&r);
    assert_int_equal(t->moments.n, 3);
    requests_end(&r);
}

static void the_same_events_are_two_groups_in_two_types(void **state)
{
    struct requests r;
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.types = {.attribute = "kind"}});
    for (int i = 0; i < 6; i++)
        requests_add(&r, "A(kind=%s){1 B{2} 3}", i % 3 ? "read" : "write");
    size_t count;
    const struct pythia_type *t = requests_finish(&r, &count);
    assert_int_equal(count, 2);
    assert_string_equal(name_of(&r, &t[0]), "read");
    assert_string_equal(name_of(&r, &t[1]), "write");
    assert_structures(&t[0], 2, "4 4w");
    assert_structures(&t[1], 2, "2 2w");
    for (size_t i = 0; i < t[0].structure_count; i++)
        for (size_t k = 0; k < t[1].structure_count; k++)
            assert_int_not_equal(t[0].structures[i].name, t[1].structures[k].name);
    /* XXH3 of the names, by libxxhash from Python */
    assert_int_equal(t[0].hash, UINT64_C(0x2c2622a151f2cdf2));
    assert_int_equal(t[1].hash, UINT64_C(0x3ec2ad5c308c53da));
    requests_end(&r);
}

static void loops_are_one_structure_if_they_are_folded(void **state)
{
    for (int fold = 0; fold < 2; fold++) {
        struct requests r;
        requests_begin(&r);
        requests_group(&r, &(struct pythia_groups_options){.fold = fold});
        for (int i = 0; i < 7; i++)
            requests_add(&r,
                         i < 3 ? "A{1 B{1} 1 B{1} 1 B{1} 1}" : "A{1 B{1} 1 B{1} 1 B{1} 1 B{1} 1}");
        const struct pythia_type *t = only_type(&r);
        assert_structures(t, 2, fold ? "7 7w" : "3 3w 4 4w");
        requests_end(&r);
    }
}

static void types_are_in_order_of_name_and_know_what_clients_waited(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    requests_add(&r, "c{10}");
    requests_add(&r, "a{5 ~K{500} 20}");
    requests_add(&r, "b{7}");
    requests_add(&r, "a{5 ~K{600} 40}");
    static const char *const in_order[] = {"a", "b", "c"};
    size_t count;
    const struct pythia_type *t = requests_finish(&r, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(name_of(&r, &t[i]), in_order[i]);
    assert_rel_equal(pythia_exact_moments_mean(&t[0].moments), 555, 1e-15); /* 505 and 605 */
    assert_rel_equal(pythia_exact_moments_mean(&t[0].client), 35, 1e-15);   /* 25 and 45 */
    assert_int_equal(pythia_groups_moments(r.groups)->n, 4);
    assert_rel_equal(pythia_exact_moments_mean(pythia_groups_moments(r.groups)), 1127 / 4., 1e-15);
    requests_end(&r);

    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.latency = PYTHIA_LATENCY_CLIENT});
    requests_add(&r, "a{5 ~K{500} 20}");
    assert_rel_equal(pythia_exact_moments_mean(&only_type(&r)->moments), 25, 1e-15);
    requests_end(&r);
}

static void no_request_makes_no_type(void **state)
{
    struct requests r;
    size_t count = 7;
    requests_begin_folded(&r);
    requests_finish(&r, &count);
    assert_int_equal(count, 0);
    assert_int_equal(pythia_groups_moments(r.groups)->n, 0);
    requests_end(&r);
    pythia_groups_destroy(NULL);
}

/* ---- levels ---- */

/* `count` requests that differ `depth` deep. */
static void add_varied(struct requests *r, size_t count, int depth)
{
    for (size_t i = 0; i < count; i++)
        requests_add(r, depth == 2 ? "A{1 P%zu{1} 1}" : "A{1 B{1 P%zu{1} 1} 1}", i);
}

static void a_level_with_too_many_structures_tells_nothing_and_goes(void **state)
{
    struct requests r;
    for (int depth = 2; depth <= 3; depth++) {
        /* each counts twice at its last level: as a structure, and as one with nothing deeper */
        for (size_t count = 512; count <= 513; count++) {
            requests_begin_folded(&r);
            add_varied(&r, count, depth);
            const struct pythia_type *t = only_type(&r);
            bool kept = count <= 512;
            assert_int_equal(t->levels, kept ? depth + 1 : depth);
            assert_int_equal(t->too_varied, !kept);
            assert_int_equal(t->structure_count, (size_t)(depth - 1) + (kept ? 2 * count : 0));
            for (size_t i = 0; i < t->structure_count; i++)
                assert_true(t->structures[i].level < t->levels);
            assert_int_equal(t->moments.n, count);
            requests_end(&r);
        }
    }
}

/* Before, between and after the many: what is left is the same. */
static void what_is_cut_does_not_depend_on_the_order(void **state)
{
    struct pythia_structure *first = NULL;
    size_t first_count = 0;
    struct pythia_random random;
    pythia_random_init(&random, 4);
    enum { N = 1500 };
    for (int run = 0; run < 6; run++) {
        struct requests r;
        size_t order[N];
        requests_begin_folded(&r);
        for (size_t i = 0; i < N; i++)
            order[i] = run == 1 ? N - 1 - i : i;
        if (run > 1)
            pythia_random_shuffle(&random, order, N);
        for (size_t i = 0; i < N; i++) {
            size_t k = order[i];
            char text[64];
            if (k % 3 == 0)
                snprintf(text, sizeof(text), "A{1 Q%zu{1 R{1 S{1}}}}", k % 50);
            else if (k % 3 == 1)
                snprintf(text, sizeof(text), "A{1 B{1 P%zu{1 T%zu{1}} 1}}", k, k);
            else
                snprintf(text, sizeof(text), "A{5}");
            requests_add_as(&r, k, text);
        }
        const struct pythia_type *t = only_type(&r);
        assert_int_equal(t->levels, 4);
        assert_true(
            t->too_varied); /* of 1100 four deep: 50 and 500, each also with nothing deeper */
        if (run == 0) {
            first_count = t->structure_count;
            first = malloc(first_count * sizeof(*first));
            memcpy(first, t->structures, first_count * sizeof(*first));
        }
        assert_int_equal(t->structure_count, first_count);
        for (size_t i = 0; i < first_count; i++) {
            assert_int_equal(t->structures[i].name, first[i].name);
            assert_int_equal(t->structures[i].whole, first[i].whole);
            assert_memory_equal(&t->structures[i].moments, &first[i].moments,
                                sizeof(first[i].moments));
        }
        requests_end(&r);
    }
    free(first);
}

/* ---- samples ---- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sample is those requests, of numbers 0 to n - 1, whose ids have the lowest hashes. */
static void assert_sampled(const struct pythia_type *t, size_t n, size_t step, size_t k)
{
    uint64_t *hashes = calloc(n, sizeof(*hashes));
    size_t count = 0;
    for (size_t i = 0; i < n; i += step)
        hashes[count++] = pythia_hash_mix(7, i + 1); /* see requests_trace */
    qsort(hashes, count, sizeof(*hashes), compare_numbers);
    assert_int_equal(pythia_sample_count(t->rows), count < k ? count : k);
    for (size_t i = 0; i < pythia_sample_count(t->rows); i++) {
        const struct pythia_row *row = pythia_sample_row(t->rows, i);
        assert_int_equal(row->hash, hashes[i]);
        assert_int_equal(row->hash, pythia_hash_mix(row->trace.high, row->trace.low));
        assert_int_equal(row->duration_ns, 1000 + (int64_t)row->trace.low - 1);
    }
    free(hashes);
}

static void a_sample_is_uniform_and_counts_are_of_all(void **state)
{
    enum { N = 4000, K = 500, PARTS = 8 };
    struct pythia_random random;
    pythia_random_init(&random, 1);
    for (int run = 0; run < 3; run++) {
        struct requests r;
        size_t order[N], parts[PARTS] = {0};
        char text[64];
        requests_begin(&r);
        requests_group(&r, &(struct pythia_groups_options){.fold = true, .rows_per_type = K});
        for (size_t i = 0; i < N; i++)
            order[i] = i;
        if (run)
            pythia_random_shuffle(&random, order, N);
        for (size_t i = 0; i < N; i++) {
            snprintf(text, sizeof(text), "A{%zu}", 1000 + order[i]);
            requests_add_as(&r, order[i], text);
        }
        const struct pythia_type *t = only_type(&r);
        assert_sampled(t, N, 1, K);
        assert_int_equal(t->moments.n, N);
        assert_int_equal(t->moments.sum[0], UINT64_C(1000) * N + (uint64_t)N * (N - 1) / 2);
        assert_rel_equal(pythia_exact_moments_variance(&t->moments), N * (N + 1.) / 12, 1e-12);
        assert_int_equal(count_sketch_values(t->sketch), N);
        assert_rel_equal(pythia_sketch_quantile(t->sketch, .5), 1000 + N / 2., .011);
        double chi2 =
            0; /* of the eight parts of the input, 7 degrees of freedom: 24.3 is 1 in 1000 */
        for (size_t i = 0; i < K; i++)
            parts[(((const struct pythia_row *)pythia_sample_row(t->rows, i))->trace.low - 1) *
                  PARTS / N]++;
        for (size_t i = 0; i < PARTS; i++)
            chi2 += pow((double)parts[i] - (double)K / PARTS, 2) * PARTS / K;
        assert_true(chi2 < 24.3);
        requests_end(&r);
    }
}

/* 20 types of up to 100 requests are 2000 rows where 1000 are wanted: all types keep as few. */
static void the_limit_of_all_rows_is_one_for_all_types(void **state)
{
    enum { N = 2000, TYPES = 20 };
    struct pythia_random random;
    pythia_random_init(&random, 2);
    for (int run = 0; run < 3; run++) {
        struct requests r;
        size_t order[N], count, kept = 0;
        char text[64];
        requests_begin(&r);
        requests_group(
            &r, &(struct pythia_groups_options){.fold = true, .rows_per_type = 200, .rows = 1300});
        for (size_t i = 0; i < N; i++)
            order[i] = i;
        if (run)
            pythia_random_shuffle(&random, order, N);
        for (size_t i = 0; i < N; i++) {
            snprintf(text, sizeof(text), "T%02zu{%zu}", order[i] % TYPES, 1000 + order[i]);
            requests_add_as(&r, order[i], text);
        }
        const struct pythia_type *types = requests_finish(&r, &count);
        assert_int_equal(count, TYPES);
        for (size_t i = 0; i < TYPES; i++) {
            assert_int_equal(types[i].moments.n, N / TYPES);
            kept += pythia_sample_count(types[i].rows);
            /* a quarter less, again and again: 200, 150, 113, 85, 64 */
            assert_int_equal(pythia_sample_count(types[i].rows), 64);
        }
        assert_in_range(kept, 1, 1300);
        requests_end(&r);
    }
    struct requests r; /* of one type, with more than its own limit */
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.rows_per_type = 100, .rows = 1000});
    for (int i = 0; i < 300; i++)
        requests_add(&r, "T%02d{%d}", i % 2, 1000 + i);
    size_t count;
    const struct pythia_type *types = requests_finish(&r, &count);
    assert_sampled(&types[0], 300, 2, 100);
    requests_end(&r);
}

/* By hand, as in test_row.c: 1 000 000 / 65536 is 15.3, and 333 333 less its rest by 8 is 333 328.
 * Three types of 64 rows are 192, which are rounded where fewer were asked for. */
static void times_are_rounded_where_types_are_too_many(void **state)
{
    for (size_t rows = 191; rows <= 192; rows++) {
        struct requests r;
        size_t count;
        requests_begin(&r);
        requests_group(&r, &(struct pythia_groups_options){.rows_per_type = 64, .rows = rows});
        for (int i = 0; i < 300; i++)
            requests_add(&r, "T%d{333333 B{333334} 333333}", i % 3);
        const struct pythia_type *types = requests_finish(&r, &count);
        assert_int_equal(count, 3);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(pythia_type_rows(&types[i]), 64);
            for (size_t k = 0; k < 64; k++) {
                const struct pythia_row *row = pythia_type_row(&types[i], k);
                assert_int_equal(row->times_ns[0], rows < 192 ? 333328 : 333333);
                assert_int_equal(row->duration_ns, 1000000);
            }
        }
        requests_end(&r);
    }
}

/* ---- the cache ---- */

enum { SIDE = 22, SHAPES = SIDE * SIDE * SIDE }; /* more than the cache holds */

static void add_looped(struct requests *r, uint64_t number, size_t shape)
{
    char text[4096] = "A{10";
    size_t size = strlen(text);
    const size_t rounds[] = {shape % SIDE + 1, shape / SIDE % SIDE + 1, shape / SIDE / SIDE + 1};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < rounds[k]; i++)
            size += (size_t)snprintf(text + size, sizeof(text) - size, " %c{3}", (char)('B' + k));
    snprintf(text + size, sizeof(text) - size, " %d}", (int)(number % 100));
    requests_add_as(r, number, text);
}

/* Every shape twice, and some of them all the time: loops of 1 to 22 rounds of three kinds are one
 * structure, with more shapes than the cache holds. */
static void what_leaves_the_cache_and_comes_back_counts_in_full(void **state)
{
    struct pythia_random random;
    struct pythia_exact_moments first = {0};
    pythia_random_init(&random, 3);
    for (int run = 0; run < 2; run++) {
        struct requests r;
        size_t *order = calloc(2 * SHAPES, sizeof(*order));
        int64_t sum = 0;
        requests_begin_folded(&r);
        for (size_t i = 0; i < 2 * (size_t)SHAPES; i++)
            order[i] = i;
        if (run)
            pythia_random_shuffle(&random, order, 2 * (size_t)SHAPES);
        for (size_t i = 0; i < 2 * (size_t)SHAPES; i++) {
            size_t k = order[i] % SHAPES;
            add_looped(&r, order[i], k);
            sum += 10 + (int64_t)(order[i] % 100) +
                   3 * (int64_t)(k % SIDE + k / SIDE % SIDE + k / SIDE / SIDE + 3);
        }
        free(order);
        const struct pythia_type *t = only_type(&r);
        assert_int_equal(t->moments.n, 2 * SHAPES);
        assert_int_equal(t->moments.sum[0], sum);
        assert_int_equal(t->structure_count, 3);
        for (size_t i = 0; i < 3; i++) {
            const struct pythia_structure *s = &t->structures[i];
            assert_memory_equal(&s->moments, &t->moments, sizeof(s->moments));
            assert_int_equal(count_sketch_values(s->sketch), 2 * SHAPES);
        }
        if (run == 0)
            first = t->moments;
        assert_memory_equal(&first, &t->moments, sizeof(first));
        requests_end(&r);
    }
}

/* Add a request whose path is A with these points in time in it, one ns after the other. */
static void add_points(struct requests *r, uint64_t number, const uint32_t *points, size_t count)
{
    struct pythia_path_event events[8] = {{.kind = PYTHIA_EVENT_START}};
    const struct pythia_trace *trace = requests_trace(r, number, "A{100}");
    assert_int_equal(requests_point(r, "A"), 0);
    for (size_t i = 0; i < count; i++)
        events[i + 1] = (struct pythia_path_event){
            .at_ns = i + 1, .tracepoint = points[i], .kind = PYTHIA_EVENT_ANNOTATION};
    events[count + 1] = (struct pythia_path_event){.at_ns = count + 1, .kind = PYTHIA_EVENT_END};
    struct pythia_critical_path path = {.events = events, .count = count + 2};
    assert_int_equal(pythia_groups_add_typed(r->groups, requests_string(r, "A"), trace, &path),
                     PYTHIA_OK);
}

/* These two were found by a search of 2^32 paths: both have the hash e14798f04472e663. The shape of
 * one goes to make room for the other, though no row holds it. */
static void two_paths_of_one_hash_are_kept_apart(void **state)
{
    static const uint32_t points[][4] = {{98, 3712, 1}, {43, 1275, 2, 1583}};
    uint64_t lowest = 0;
    struct requests r;
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.rows_per_type = 1});
    for (uint64_t n = 1; n < 100; n++)
        lowest = pythia_hash_mix(7, n + 1) < pythia_hash_mix(7, lowest + 1) ? n : lowest;
    requests_add_as(&r, lowest, "A{100}"); /* its row is the sample */
    for (int i = 1; i <= 4096; i++) {
        char id[16];
        snprintf(id, sizeof(id), "p%d", i);
        uint32_t point = pythia_vocabulary_tracepoint_of_id(r.vocabulary, pythia_text_of(id), 0, 0);
        assert_int_equal(point, i);
    }
    for (uint64_t i = 0; i < 6; i++)
        add_points(&r, 100 + i, points[i % 2], 3 + i % 2);
    const struct pythia_type *t = only_type(&r);
    assert_int_equal(t->moments.n, 7);
    assert_structures(t, 2, "3 3 3w 3w");
    requests_end(&r);
}

/* ---- memory ---- */

/* Bytes of the heap that are in use; 0 where a sanitizer has taken its place. */
static size_t heap_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* It is told within a half of what the heap says, and that is enough to stop in time: of types
 * without number, of shapes without number, of rows with large values. */
static void how_much_memory_is_held_is_known_roughly(void **state)
{
    if (heap_in_use() == 0)
        skip();
    for (int kind = 0; kind < 3; kind++) {
        struct requests r;
        struct pythia_buf text = {0};
        requests_begin_folded(&r);
        for (uint64_t i = 0; i < 3000; i++) { /* names, first */
            pythia_buf_clear(&text);
            pythia_buf_printf(&text, kind == 0 ? "A%d{5}" : "A{B%d{5}}", (int)i);
            (void)requests_trace(&r, i, text.bytes);
            (void)requests_string(&r, text.bytes);
        }
        size_t before = heap_in_use(), told = pythia_groups_bytes(r.groups);
        for (uint64_t i = 0; i < 3000; i++) {
            pythia_buf_clear(&text);
            if (kind == 0)
                pythia_buf_printf(&text, "A%d{5}", (int)i);
            else if (kind == 1)
                pythia_buf_printf(&text, "A{B%d{5} B%d{5} B%d{5}}", (int)i, (int)(i * 7 % 3000),
                                  (int)(i * 11 % 3000));
            else
                pythia_buf_printf(&text, "A(k=x%0200d,l=x%0200d){B1{5}}", (int)i, (int)i);
            requests_add_as(&r, i, text.bytes);
        }
        double held = (double)(heap_in_use() - before);
        double said = (double)(pythia_groups_bytes(r.groups) - told);
        if (held < 1e6 || said < held / 2 || said > held * 2)
            fail_msg("%d: it says %.0f bytes, and the heap %.0f", kind, said, held);
        pythia_buf_free(&text);
        requests_end(&r);
    }
}

/* ---- failures ---- */

static const char *const mixed[] = {"A(k=1,host=x){1 B{2 C{3} 4} 5}", "A(k=2){1 B{2} 3 B{4} 5}",
                                    "b:A[zone=eu]{1} 5 c:B{3}", "A(host=y){1 B{2 C{3} 4} 5}",
                                    "*E(wait=3)"};
enum { MIXED = sizeof(mixed) / sizeof(mixed[0]) };

static void a_set_that_cannot_be_made_leaves_nothing(void **state)
{
    struct requests r;
    struct pythia_groups *g = NULL;
    long failures = 0;
    requests_begin(&r);
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_groups_create(r.vocabulary, &(struct pythia_groups_options){0}, &g);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(g);
    }
    assert_true(failures >= 7); /* itself, four parts, and a tree with its nodes */
    pythia_groups_destroy(g);
    requests_end(&r);
}

/* Each request is added to a set in which those before it may have failed half-way. */
static void a_request_that_cannot_be_added_stops_no_other(void **state)
{
    long failures = 0;
    for (bool enough = false; !enough; failures += !enough) {
        struct requests r;
        size_t count;
        requests_begin_folded(&r);
        enough = true;
        for (size_t i = 0; i < MIXED; i++) {
            const struct pythia_trace *trace = requests_trace(&r, i, mixed[i]);
            pythia_mem_fail_after(failures);
            int status = pythia_groups_add(r.groups, trace);
            pythia_mem_fail_after(-1);
            assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
            enough = enough && status == PYTHIA_OK;
        }
        for (size_t i = 0; i < MIXED; i++)
            requests_add_as(&r, i + MIXED, mixed[i]);
        const struct pythia_type *types = requests_finish(&r, &count);
        assert_int_equal(count, 3);
        assert_string_equal(name_of(&r, &types[0]), "A");
        assert_true(types[0].moments.n >= 3);
        requests_end(&r);
    }
    assert_true(failures > 20);
}

static void a_set_that_cannot_be_finished_is_given_back(void **state)
{
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures += status != PYTHIA_OK) {
        struct requests r;
        requests_begin_folded(&r);
        for (size_t i = 0; i < MIXED; i++)
            requests_add_as(&r, i, mixed[i]);
        pythia_mem_fail_after(failures);
        status = pythia_groups_finish(r.groups);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        requests_end(&r);
    }
    assert_true(failures > 10);
}

/* Whatever memory runs out at, the next call goes on from there, and counts nothing twice. */
static void a_type_that_cannot_be_settled_can_be_tried_again(void **state)
{
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures += status != PYTHIA_OK) {
        struct requests r;
        size_t count;
        requests_begin_folded(&r);
        for (size_t i = 0; i < MIXED; i++)
            requests_add_as(&r, i, mixed[i]);
        assert_int_equal(pythia_groups_close(r.groups), PYTHIA_OK);
        const struct pythia_type *types = pythia_groups_types(r.groups, &count);
        assert_int_equal(count, 3);
        pythia_mem_fail_after(failures);
        status = pythia_groups_settle(r.groups, 0);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(pythia_groups_settle(r.groups, 0), PYTHIA_OK);
            assert_int_equal(types[0].levels, 4);
            assert_structures(&types[0], 1, "3");
            assert_structures(&types[0], 2, "1w 3"); /* one has no more than A{B}, folded */
            assert_structures(&types[0], 3, "2 2w");
            assert_int_equal(types[0].structure_count, 5);
        }
        requests_end(&r);
    }
    assert_true(failures > 8);
}

/* A closed set knows of each type what needs no structures, and they are those of its requests
 * alone. */
static void a_closed_set_settles_one_type_at_a_time(void **state)
{
    struct requests r;
    size_t count;
    requests_begin_folded(&r);
    for (size_t i = 0; i < MIXED; i++)
        requests_add_as(&r, i, mixed[i]);
    assert_int_equal(pythia_groups_close(r.groups), PYTHIA_OK);
    const struct pythia_type *types = pythia_groups_types(r.groups, &count);
    assert_int_equal(count, 3);
    assert_string_equal(name_of(&r, &types[0]), "A");
    assert_int_equal(types[0].moments.n, 3);
    assert_int_equal(pythia_sample_count(types[0].rows), 3);
    assert_int_equal(types[0].structure_count, 0);
    assert_int_equal(pythia_groups_settle(r.groups, 1), PYTHIA_OK);
    assert_string_equal(name_of(&r, &types[1]), "E");
    assert_structures(&types[1], 1, "1 1w");
    assert_int_equal(types[0].structure_count, 0);
    assert_int_equal(types[2].structure_count, 0);
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_is_told_from_a_sequence),
        cmocka_unit_test(an_incomplete_request_is_evidence_of_nothing),
        cmocka_unit_test(the_same_events_are_two_groups_in_two_types),
        cmocka_unit_test(loops_are_one_structure_if_they_are_folded),
        cmocka_unit_test(types_are_in_order_of_name_and_know_what_clients_waited),
        cmocka_unit_test(no_request_makes_no_type),
        cmocka_unit_test(a_level_with_too_many_structures_tells_nothing_and_goes),
        cmocka_unit_test(what_is_cut_does_not_depend_on_the_order),
        cmocka_unit_test(a_sample_is_uniform_and_counts_are_of_all),
        cmocka_unit_test(the_limit_of_all_rows_is_one_for_all_types),
        cmocka_unit_test(times_are_rounded_where_types_are_too_many),
        cmocka_unit_test(what_leaves_the_cache_and_comes_back_counts_in_full),
        cmocka_unit_test(two_paths_of_one_hash_are_kept_apart),
        cmocka_unit_test(how_much_memory_is_held_is_known_roughly),
        cmocka_unit_test(a_set_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(a_request_that_cannot_be_added_stops_no_other),
        cmocka_unit_test(a_set_that_cannot_be_finished_is_given_back),
        cmocka_unit_test(a_type_that_cannot_be_settled_can_be_tried_again),
        cmocka_unit_test(a_closed_set_settles_one_type_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
