#include "pythia/critical_path.h"
#include "workflow_nodes.h"
#include "workflow_run.h"

/* Everything that can happen in a tree. */
static void with_structure(struct run *r)
{
    r->options.forks = 0.3;
    r->options.async = 0.1;
    r->options.retries = 0.2;
    r->options.loops = 0.2;
    r->options.unknown = 0.1;
    r->options.spikes = 0.004;
    r->options.load = 0.1;
    run_cause(r, PYTHIA_PLANTED_SLEEP, 0, 0.3);
    run_cause(r, PYTHIA_PLANTED_CONTENTION, 0, 0.3);
}

static bool same_span(const struct pythia_span *a, const struct pythia_span *b)
{
    return a->id == b->id && a->parent == b->parent && a->start_ns == b->start_ns &&
           a->duration_ns == b->duration_ns && a->tracepoint == b->tracepoint &&
           a->resource == b->resource && a->kind == b->kind && a->relation == b->relation &&
           a->part == b->part && a->error == b->error && a->many_roots == b->many_roots &&
           pythia_text_equal(a->attributes, b->attributes);
}

static void assert_same_request(struct run *a, struct run *b, uint64_t number)
{
    run_request(a, number, NULL);
    run_request(b, number, NULL);
    assert_true(pythia_trace_id_equal(a->trace, b->trace));
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        if (!same_span(&a->spans[i], &b->spans[i]))
            fail_msg("span %zu of request %u differs", i, (unsigned)number);
}

static void the_same_seed_gives_the_same_requests_in_any_order(void **state)
{
    for (int shape = 0; shape <= PYTHIA_WORKFLOW_OPENSTACK; shape++) {
        struct run a, b;
        run_begin(&a, (enum pythia_workflow_shape)shape, 300);
        with_structure(&a);
        b = a;
        run_make(&a);
        run_make(&b);
        static const uint64_t numbers[] = {0, 1, 17, 3, 1000000, 3, 0};
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
            assert_same_request(&a, &b, numbers[i]);
        run_end(&a);
        run_end(&b);
    }
}

static void another_seed_gives_another_tree(void **state)
{
    struct run a, b;
    run_begin(&a, PYTHIA_WORKFLOW_BUSHY, 100);
    b = a;
    b.options.seed = 2;
    run_make(&a);
    run_make(&b);
    uint32_t same = 0;
    for (uint32_t i = 1; i < 100; i++)
        same += pythia_workflow_parent(a.workflow, i) == pythia_workflow_parent(b.workflow, i);
    assert_in_range(same, 0, 60);
    assert_false(pythia_trace_id_equal(pythia_workflow_trace(a.workflow, 0),
                                       pythia_workflow_trace(b.workflow, 0)));
    run_end(&a);
    run_end(&b);
}

/* ---- the tree ---- */

static void assert_is_a_tree(const struct run *r)
{
    const struct pythia_workflow *w = r->workflow;
    uint32_t n = r->facts.nodes;
    assert_int_equal(pythia_workflow_parent(w, 0), PYTHIA_NONE);
    assert_int_equal(node_after_subtree(w, 0), n);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = pythia_workflow_parent(w, i), behind = node_after_subtree(w, i);
        assert_true(parent < i && behind > i && behind <= node_after_subtree(w, parent));
        /* two siblings of one trace point would be one context */
        for (uint32_t other = parent + 1; other < i; other = node_after_subtree(w, other))
            assert_int_not_equal(pythia_workflow_tracepoint(w, other),
                                 pythia_workflow_tracepoint(w, i));
    }
}

static void trees_have_as_many_nodes_as_asked_for(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 7, 100, 500, 5000};
    for (int shape = 0; shape <= PYTHIA_WORKFLOW_OPENSTACK; shape++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct run r;
            run_begin(&r, (enum pythia_workflow_shape)shape, sizes[i]);
            run_make(&r);
            assert_int_equal(r.facts.nodes, sizes[i]);
            assert_int_equal(r.facts.known_nodes, sizes[i]);
            assert_is_a_tree(&r);
            run_request(&r, 0, NULL);
            assert_rel_equal((double)r.count, r.facts.calls, 1e-12);
            if (shape != PYTHIA_WORKFLOW_OPENSTACK) {
                assert_int_equal(r.count, sizes[i]);
                assert_int_equal(r.facts.tracepoints, sizes[i]);
            }
            run_end(&r);
        }
}

static void shapes_are_what_they_are_called(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 500); /* e ln 500 = 16.9 */
    run_make(&r);
    assert_in_range(r.facts.depth, 8, 24);
    run_end(&r);
    run_begin(&r, PYTHIA_WORKFLOW_DEEP, 500);
    run_make(&r);
    assert_in_range(r.facts.depth, 100, 250);
    run_end(&r);
    run_begin(&r, PYTHIA_WORKFLOW_OPENSTACK, 500);
    run_make(&r);
    assert_int_equal(r.facts.services, 6);
    assert_in_range(r.facts.tracepoints, 50, 250); /* in 500 contexts */
    assert_true(r.facts.calls > 550);              /* leaves repeat */
    run_end(&r);
}

static void services_are_entered_once_and_have_hosts(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 200);
    r.options.services = 5;
    r.options.hosts = 3;
    run_make(&r);
    size_t entries = 0;
    bool seen[5][3] = {{false}};
    for (uint64_t number = 0; number < 100; number++) {
        run_request(&r, number, NULL);
        uint32_t host_of[5] = {0};
        for (size_t i = 0; i < r.count; i++) {
            const struct pythia_span *s = &r.spans[i];
            struct pythia_resource at = pythia_vocabulary_resource_at(r.vocabulary, s->resource);
            struct pythia_text host = pythia_vocabulary_text(r.vocabulary, at.host);
            struct pythia_text service = pythia_vocabulary_text(r.vocabulary, at.service);
            static const char *const names[] = {"api", "conductor", "compute", "scheduler",
                                                "network"};
            size_t which = 0;
            while (!pythia_text_equal(service, pythia_text_of(names[which])))
                which++;
            assert_true(host_of[which] == 0 || host_of[which] == at.host); /* one in a request */
            host_of[which] = at.host;
            seen[which][host.bytes[host.size - 1] - '1'] = true;
            entries += number == 0 && s->kind == PYTHIA_SPAN_SERVER;
        }
    }
    assert_int_equal(entries, 5);
    for (size_t i = 0; i < 15; i++)
        assert_true(seen[i / 3][i % 3]);
    run_end(&r);
}

static int count_span(void *context, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    (void)trace;
    (void)span;
    ++*(uint64_t *)context;
    return PYTHIA_OK;
}

static void a_chain_of_a_million_nodes_needs_no_stack(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_DEEP, 1000000);
    r.options.unknown = 0.1;
    r.options.async = 0.05;
    r.options.forks = 0.1;
    r.options.retries = 0.05;
    run_cause(&r, PYTHIA_PLANTED_SLEEP, 0, 0.3);
    run_make(&r);
    assert_true(r.facts.depth > 200000);
    uint64_t spans = 0;
    assert_int_equal(pythia_workflow_request(r.workflow, 0, NULL, count_span, &spans), PYTHIA_OK);
    assert_in_range(spans, 1000000, 1100000);
    run_end(&r);
}

/* ---- what is closed ---- */

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct pythia_span *)a)->id, y = ((const struct pythia_span *)b)->id;
    return (x > y) - (x < y);
}

/* The request at hand without what is closed, made of all its spans. */
static size_t hide(const struct run *all, const bool *open, struct pythia_span *out)
{
    struct pythia_span *sorted = calloc(all->count, sizeof(*sorted));
    memcpy(sorted, all->spans, all->count * sizeof(*sorted));
    qsort(sorted, all->count, sizeof(*sorted), by_id);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct pythia_span s = all->spans[i];
        if (!open[s.tracepoint])
            continue;
        bool was_root = s.parent == 0;
        while (s.parent) {
            struct pythia_span key = {.id = s.parent};
            const struct pythia_span *p = bsearch(&key, sorted, all->count, sizeof(*sorted), by_id);
            assert_non_null(p);
            if (open[p->tracepoint])
                break;
            s.parent = p->parent;
        }
        s.many_roots = !was_root && s.parent == 0;
        out[count++] = s;
    }
    free(sorted);
    return count;
}

static void closing_points_changes_nothing_of_the_rest(void **state)
{
    struct pythia_random random;
    pythia_random_init(&random, 5);
    for (int shape = 0; shape <= PYTHIA_WORKFLOW_OPENSTACK; shape++) {
        struct run all, some;
        run_begin(&all, (enum pythia_workflow_shape)shape, 300);
        with_structure(&all);
        some = all;
        run_make(&all);
        run_make(&some);
        uint32_t points = pythia_vocabulary_tracepoints(all.vocabulary);
        bool *open = calloc(points, sizeof(*open));
        for (uint64_t number = 0; number < 40; number++) {
            for (uint32_t i = 0; i < points; i++)
                open[i] = pythia_random_below(&random, 40) < number;
            struct pythia_workflow_view view = {.open = open};
            run_request(&all, number, NULL);
            run_request(&some, number, &view);
            struct pythia_span *expected = calloc(all.count, sizeof(*expected));
            assert_int_equal(hide(&all, open, expected), some.count);
            for (size_t i = 0; i < some.count; i++)
                assert_true(same_span(&expected[i], &some.spans[i]));
            free(expected);
        }
        free(open);
        run_end(&all);
        run_end(&some);
    }
}

static void a_share_of_the_nodes_is_not_known(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 1000);
    r.options.unknown = 0.1;
    run_make(&r);
    uint32_t known = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        known += pythia_workflow_known(r.workflow, i);
        if (i > 0 && !pythia_workflow_known(r.workflow, pythia_workflow_parent(r.workflow, i)))
            assert_false(pythia_workflow_known(r.workflow, i)); /* whole subtrees */
    }
    assert_true(pythia_workflow_known(r.workflow, 0));
    assert_int_equal(known, 900); /* 10 % of 999, rounded, are not */
    assert_int_equal(r.facts.known_nodes, known);
    struct pythia_workflow_view view = {.known_only = true};
    run_request(&r, 0, &view);
    assert_int_equal(r.count, known);
    for (size_t i = 0; i < r.count; i++)
        assert_true(pythia_workflow_known(r.workflow, r.node_of[r.spans[i].tracepoint]));
    run_end(&r);
}

/* ---- times ---- */

/* The sum of the gaps of the critical path of the request at hand. */
static double path_duration(const struct run *r)
{
    struct pythia_trace_builder *b;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace;
    struct pythia_critical_path path;
    assert_int_equal(pythia_trace_builder_create(r->vocabulary, NULL, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, r->trace);
    for (size_t i = 0; i < r->count; i++)
        assert_int_equal(pythia_trace_builder_add(b, &r->spans[i]), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        assert_int_equal(counts.repaired[i], 0);
    pythia_critical_path_init(&path);
    assert_int_equal(pythia_critical_path_find(&path, trace, PYTHIA_LATENCY_COMPLETION), PYTHIA_OK);
    uint64_t sum = 0;
    for (size_t i = 1; i < path.count; i++)
        sum += path.events[i].at_ns - path.events[i - 1].at_ns;
    pythia_critical_path_free(&path);
    pythia_trace_builder_destroy(b);
    return (double)sum;
}

/* Each call and gap is rounded to 1 ns: half of one, on average nothing, for each of them. */
static double rounding(const struct run *r)
{
    return 2.0 * (double)r->count;
}

static void without_noise_a_request_takes_what_the_model_says(void **state)
{
    for (int shape = 0; shape <= PYTHIA_WORKFLOW_OPENSTACK; shape++)
        for (int structure = 0; structure < 2; structure++) {
            struct run r;
            run_begin(&r, (enum pythia_workflow_shape)shape, 300);
            r.options.noise = 0;
            r.options.duration_ns = 2 * S;
            r.options.forks = structure * 0.5;
            r.options.async = structure * 0.2;
            run_make(&r);
            assert_rel_equal(r.facts.duration_ns, 2 * S, 1e-12);
            run_request(&r, 4, NULL);
            assert_true(fabs(run_duration(&r) - 2 * S) <= rounding(&r));
            assert_true(fabs(path_duration(&r) - 2 * S) <= rounding(&r));
            run_end(&r);
        }
}

static void sequential_times_are_the_sum_of_the_nodes(void **state)
{
    struct run r;
    double times[200];
    run_begin(&r, PYTHIA_WORKFLOW_DEEP, 200);
    r.options.noise = 0;
    r.options.cause_count = 1;
    r.options.causes[0] = (struct pythia_workflow_cause){
        .kind = PYTHIA_PLANTED_SLEEP, .parameter = 0.5, .strength = 0.25, .node = 50};
    run_make(&r);
    size_t slow = 0;
    for (uint64_t number = 0; number < 50; number++) {
        run_request(&r, number, NULL);
        double duration = run_times(&r, times), more = duration > 1.1 * S ? 0.25 * S : 0;
        slow += more > 0;
        assert_true(fabs(duration - S - more) <= rounding(&r));
        assert_true(fabs(path_duration(&r) - duration) < 0.5);
        for (uint32_t i = 0; i < 200; i++) {
            double expected = node_time_ns(r.workflow, i) + (i == 50 ? more : 0);
            assert_true(fabs(times[i] - expected) <= 10);
        }
    }
    assert_in_range(slow, 10, 40); /* of 50, of which half are expected; sd 3.5 */
    run_end(&r);
}

/* Slow one node down a little: does the request end as much later? */
static void the_duration_depends_on_what_is_called_critical(void **state)
{
    size_t critical = 0;
    for (uint32_t node = 0; node < 80; node++) {
        struct run r;
        run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 80);
        r.options.noise = 0;
        r.options.forks = 0.5;
        r.options.async = 0.2;
        r.options.seed = 11;
        if (node > 0) {
            run_cause(&r, PYTHIA_PLANTED_SLEEP, 1, 1e-4);
            r.options.causes[0].node = node;
        }
        run_make(&r);
        run_request(&r, 0, NULL);
        double later = run_duration(&r) - S;
        if (node > 0 && node_is_critical(r.workflow, node)) {
            assert_true(fabs(later - 1e-4 * S) <= rounding(&r));
            critical++;
        } else {
            assert_true(later < 0.9e-4 * S);
        }
        run_end(&r);
    }
    assert_in_range(critical, 5, 75);
}

static void noise_has_the_mean_and_the_deviation_asked_for(void **state)
{
    enum { N = 20000 };
    static const double levels[] = {0.05, 0.5};
    for (size_t i = 0; i < 2; i++) {
        struct run r;
        run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 1);
        r.options.noise = levels[i];
        run_make(&r);
        double sum = 0, squares = 0;
        for (uint64_t number = 0; number < N; number++) {
            run_request(&r, number, NULL);
            double x = run_duration(&r) / S - 1;
            sum += x;
            squares += x * x;
        }
        double sd = sqrt(squares / N - sum / N * (sum / N));
        assert_true(fabs(sum / N) < 4 * levels[i] / sqrt(N));
        /* The relative standard error of a variance, sqrt((kurtosis - 1) / n); a log-normal
         * of coefficient .5 has kurtosis 8.9 */
        assert_rel_equal(sd, levels[i], 4 * 0.5 * sqrt(7.9 / N));
        run_end(&r);
    }
}

static void load_moves_all_calls_of_a_request_together(void **state)
{
    enum { N = 4000 };
    struct run r;
    double times[50], sum = 0, squares = 0;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 50);
    r.options.noise = 0;
    r.options.load = 0.2;
    run_make(&r);
    for (uint64_t number = 0; number < N; number++) {
        run_request(&r, number, NULL);
        double factor = run_times(&r, times) / S;
        sum += factor;
        squares += factor * factor;
        for (uint32_t i = 0; i < 50; i++)
            assert_true(fabs(times[i] - factor * node_time_ns(r.workflow, i)) < 100);
    }
    double mean = sum / N;
    assert_true(fabs(mean - 1) < 4 * 0.2 / sqrt(N));
    assert_rel_equal(sqrt(squares / N - mean * mean), 0.2, 4 * 0.5 * sqrt(3 / (double)N));
    run_end(&r);
}

/* ---- what calls do ---- */

static void loops_and_retries_are_as_frequent_as_said(void **state)
{
    enum { N = 2000, NODES = 400 };
    struct run r;
    static double sums[NODES], squares[NODES], failures[NODES];
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, NODES);
    r.options.loops = 0.2;
    r.options.retries = 0.2;
    run_make(&r);
    assert_in_range(r.facts.loops, 10, 80);
    assert_int_equal(r.facts.retries, r.facts.loops);
    for (uint64_t number = 0; number < N; number++) {
        double calls[NODES] = {0}, failed[NODES] = {0};
        run_request(&r, number, NULL);
        for (size_t i = 0; i < r.count; i++) {
            uint32_t node = r.node_of[r.spans[i].tracepoint];
            calls[node]++;
            failed[node] += r.spans[i].error;
        }
        for (uint32_t i = 0; i < NODES; i++) {
            assert_true(calls[i] >= 1 && calls[i] <= 5);
            assert_true(failed[i] == 0 || failed[i] == calls[i] - 1); /* the last one succeeds */
            sums[i] += calls[i];
            squares[i] += calls[i] * calls[i];
            failures[i] += failed[i];
        }
    }
    uint32_t looping = 0, retried = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        double mean = sums[i] / N, variance = squares[i] / N - mean * mean;
        double expected = pythia_workflow_calls(r.workflow, i);
        assert_true(fabs(mean - expected) <= 4.5 * sqrt(variance / N) + 1e-9);
        looping += mean > 1.5;
        retried += failures[i] > 0;
    }
    assert_true(looping >= r.facts.loops);
    assert_int_equal(retried, r.facts.retries);
    run_end(&r);
}

static void asynchronous_work_outlives_its_parent(void **state)
{
    for (int shape = 0; shape <= PYTHIA_WORKFLOW_OPENSTACK; shape++) {
        struct run r;
        run_begin(&r, (enum pythia_workflow_shape)shape, 400);
        r.options.async = 0.2;
        run_make(&r);
        assert_true(r.facts.async >= 1);
        run_request(&r, 0, NULL);
        uint32_t found = 0;
        for (size_t i = 0; i < r.count; i++) {
            const struct pythia_span *s = &r.spans[i];
            if (s->relation != PYTHIA_RELATION_SPAWN)
                continue;
            found++;
            size_t parent = i;
            while (r.spans[parent].id != s->parent)
                parent++;
            assert_true(s->start_ns == end_of(&r.spans[parent]));
            assert_true(s->duration_ns > 0);
        }
        assert_int_equal(found, r.facts.async);
        run_end(&r);
    }
}

static void children_of_a_fork_begin_together(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 200);
    r.options.forks = 1;
    run_make(&r);
    run_request(&r, 0, NULL);
    uint64_t starts[200] = {0}, ends[200] = {0};
    for (size_t i = 0; i < r.count; i++) {
        starts[r.node_of[r.spans[i].tracepoint]] = r.spans[i].start_ns;
        ends[r.node_of[r.spans[i].tracepoint]] = end_of(&r.spans[i]);
    }
    uint32_t forks = 0;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t first = i + 1, behind = node_after_subtree(r.workflow, i);
        forks += first < behind && node_after_subtree(r.workflow, first) < behind;
        for (uint32_t c = first; c < behind; c = node_after_subtree(r.workflow, c)) {
            assert_true(starts[c] == starts[first]);
            assert_true(ends[c] < ends[i]);
        }
    }
    assert_int_equal(r.facts.forks, forks);
    run_end(&r);
}

static void clocks_count_in_steps(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 300);
    r.options.tick_ns = 1000000;
    run_make(&r);
    for (uint64_t number = 0; number < 10; number++) {
        run_request(&r, number, NULL);
        for (size_t i = 0; i < r.count; i++) {
            assert_true(r.spans[i].start_ns % 1000000 == 0);
            assert_true(r.spans[i].duration_ns >= 0 && r.spans[i].duration_ns % 1000000 == 0);
        }
    }
    run_end(&r);
}

/* Pareto: P(size > 2 * least) = 2^-1.5. */
static void spikes_are_as_frequent_and_as_large_as_said(void **state)
{
    enum { N = 20000, NODES = 10 };
    struct run r;
    double times[NODES], calls = (double)N * NODES, spikes = 0, large = 0;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, NODES);
    r.options.noise = 0;
    r.options.spikes = 0.004;
    run_make(&r);
    double least = 10 * S / NODES;
    for (uint64_t number = 0; number < N; number++) {
        run_request(&r, number, NULL);
        run_times(&r, times);
        for (uint32_t i = 0; i < NODES; i++) {
            double more = times[i] - node_time_ns(r.workflow, i);
            assert_true(more < 50 || more > least - 50);
            assert_true(more < 100 * S + 50);
            spikes += more > 50;
            large += more > 2 * least;
        }
    }
    assert_true(fabs(spikes - 0.004 * calls) < 4 * sqrt(0.004 * calls));
    assert_true(fabs(large - 0.35355 * spikes) < 4 * sqrt(0.2286 * spikes));
    run_end(&r);
}

/* Whatever the options, times fit into 63 bits. */
static void no_time_is_out_of_range(void **state)
{
    static const uint64_t numbers[] = {0, 1, 460000, 461169, 1000000000000, UINT64_MAX};
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 20);
    r.options.duration_ns = 1e13;
    r.options.interval_ns = 1e13;
    r.options.load = 1;
    r.options.spikes = 1;
    r.options.spike_size = 1000;
    run_cause(&r, PYTHIA_PLANTED_EXPONENTIAL, 0, 100);
    run_cause(&r, PYTHIA_PLANTED_CONTENTION, 0.95, 100);
    run_make(&r);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        run_request(&r, numbers[i], NULL);
        for (size_t k = 0; k < r.count; k++) {
            assert_true(r.spans[k].start_ns >= 1700000000000000000);
            assert_true(r.spans[k].duration_ns >= 0);
            assert_true(end_of(&r.spans[k]) <= INT64_MAX);
        }
    }
    run_end(&r);
}

/* ---- failures ---- */

static int refuse(void *context, const struct pythia_trace_id *trace,
                  const struct pythia_span *span)
{
    (void)trace;
    (void)span;
    return --*(int *)context == 0 ? PYTHIA_ESTOPPED : PYTHIA_OK;
}

static void a_taker_can_stop_a_request(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 100);
    run_make(&r);
    int left = 5;
    assert_int_equal(pythia_workflow_request(r.workflow, 0, NULL, refuse, &left), PYTHIA_ESTOPPED);
    assert_int_equal(left, 0);
    run_request(&r, 0, NULL); /* and the next one is whole */
    assert_int_equal(r.count, 100);
    run_end(&r);
}

static void each_failed_allocation_is_told(void **state)
{
    struct pythia_workflow_options options;
    pythia_workflow_options_default(&options);
    options.nodes = 40;
    options.cause_count = 1;
    options.causes[0] =
        (struct pythia_workflow_cause){.kind = PYTHIA_PLANTED_CONTENTION, .strength = 0.3};
    bool made = false;
    for (long n = 0; !made; n++) {
        assert_in_range(n, 0, 10000);
        struct pythia_vocabulary *v = NULL;
        struct pythia_workflow *w = NULL;
        struct pythia_error why = {0};
        assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
        pythia_mem_fail_after(n);
        int status = pythia_workflow_create(v, &options, &w, &why);
        if (status == PYTHIA_OK) {
            uint64_t spans = 0;
            status = pythia_workflow_request(w, 0, NULL, count_span, &spans);
            made = status == PYTHIA_OK && spans == 40;
        } else {
            assert_null(w);
        }
        pythia_mem_fail_after(-1);
        assert_int_equal(status, made ? PYTHIA_OK : PYTHIA_ENOMEM);
        assert_int_equal(why.status, PYTHIA_OK);
        pythia_workflow_destroy(w);
        pythia_vocabulary_destroy(v);
    }
}

static void wrong_options_are_told(void **state)
{
    struct pythia_vocabulary *v;
    struct pythia_workflow_options plain, o;
    struct pythia_workflow *w = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    pythia_workflow_options_default(&plain);
#define WRONG(change, expected)                                                                    \
    do {                                                                                           \
        struct pythia_error why = {0};                                                             \
        o = plain;                                                                                 \
        change;                                                                                    \
        assert_int_equal(pythia_workflow_create(v, &o, &w, &why), PYTHIA_EUSAGE);                  \
        assert_null(w);                                                                            \
        assert_string_equal(why.sentence, expected);                                               \
    } while (0)
    WRONG(o.nodes = 0, "nodes of a workflow is a number from 1 to 16777216, not 0");
    WRONG(o.noise = 0.6, "noise of a workflow is a number from 0 to 0.5, not 0.6");
    WRONG(o.noise = NAN, "noise of a workflow is a number from 0 to 0.5, not nan");
    WRONG(o.forks = -1, "forks of a workflow is a number from 0 to 1, not -1");
    WRONG(o.hosts = 0, "hosts of a workflow is a number from 1 to 1024, not 0");
    WRONG((o.drift = PYTHIA_DRIFT_MOVE, o.drift_requests = 0),
          "drift_requests of a workflow is a number from 1 to 1e+18, not 0");
    WRONG(o.cause_count = 9, "9 causes are more than 8");
#undef WRONG
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_requests_in_any_order),
        cmocka_unit_test(another_seed_gives_another_tree),
        cmocka_unit_test(trees_have_as_many_nodes_as_asked_for),
        cmocka_unit_test(shapes_are_what_they_are_called),
        cmocka_unit_test(services_are_entered_once_and_have_hosts),
        cmocka_unit_test(a_chain_of_a_million_nodes_needs_no_stack),
        cmocka_unit_test(closing_points_changes_nothing_of_the_rest),
        cmocka_unit_test(a_share_of_the_nodes_is_not_known),
        cmocka_unit_test(without_noise_a_request_takes_what_the_model_says),
        cmocka_unit_test(sequential_times_are_the_sum_of_the_nodes),
        cmocka_unit_test(the_duration_depends_on_what_is_called_critical),
        cmocka_unit_test(noise_has_the_mean_and_the_deviation_asked_for),
        cmocka_unit_test(load_moves_all_calls_of_a_request_together),
        cmocka_unit_test(loops_and_retries_are_as_frequent_as_said),
        cmocka_unit_test(asynchronous_work_outlives_its_parent),
        cmocka_unit_test(children_of_a_fork_begin_together),
        cmocka_unit_test(clocks_count_in_steps),
        cmocka_unit_test(spikes_are_as_frequent_and_as_large_as_said),
        cmocka_unit_test(no_time_is_out_of_range),
        cmocka_unit_test(a_taker_can_stop_a_request),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(wrong_options_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
