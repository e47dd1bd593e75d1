/* Shares, moments and keys of planted causes against formulas. With n nodes of own time m and noise
 * c one after the other, the duration T of a request has the variance c^2 sum(m^2) + Var(cause),
 * and the share of a node is Cov(time of the node, T) / Var(T). */
#include "workflow_nodes.h"
#include "workflow_run.h"

enum { NODES = 40, REQUESTS = 6000 };

#define NOISE    0.2
#define STRENGTH 0.3
#define SIZE     (STRENGTH * S)

/* Times of many requests. */
struct sample {
    struct run run;
    double (*times)[NODES], *durations;
    double noise_variance[NODES], noise_total;
};

static void sample_begin(struct sample *m, enum pythia_planted_kind kind, double parameter)
{
    run_begin(&m->run, PYTHIA_WORKFLOW_BUSHY, NODES);
    m->run.options.noise = NOISE;
    if (kind != PYTHIA_PLANTED_KINDS)
        run_cause(&m->run, kind, parameter, STRENGTH);
}

static void sample_draw(struct sample *m)
{
    run_make(&m->run);
    m->times = calloc(REQUESTS, sizeof(*m->times));
    m->durations = calloc(REQUESTS, sizeof(*m->durations));
    m->noise_total = 0;
    for (uint64_t i = 0; i < REQUESTS; i++) {
        run_request(&m->run, i, NULL);
        m->durations[i] = run_times(&m->run, m->times[i]);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        m->noise_variance[i] = pow(NOISE * node_time_ns(m->run.workflow, i), 2);
        m->noise_total += m->noise_variance[i];
    }
}

static void sample_end(struct sample *m)
{
    free(m->times);
    free(m->durations);
    run_end(&m->run);
}

static struct pythia_planted planted(const struct sample *m)
{
    struct pythia_planted p;
    pythia_workflow_planted(m->run.workflow, 0, 0, &p);
    return p;
}

/* The share of a node, and its standard error from the influence of each request: ((x - mean x)(t -
 * mean t) - share (t - mean t)^2) / Var(T). */
static double share(const struct sample *m, uint32_t node, double *error)
{
    double x = 0, t = 0, cov = 0, var = 0, squares = 0;
    for (size_t i = 0; i < REQUESTS; i++) {
        x += m->times[i][node] / REQUESTS;
        t += m->durations[i] / REQUESTS;
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        cov += (m->times[i][node] - x) * (m->durations[i] - t) / REQUESTS;
        var += (m->durations[i] - t) * (m->durations[i] - t) / REQUESTS;
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        double dx = m->times[i][node] - x, dt = m->durations[i] - t;
        double influence = (dx * dt - cov / var * dt * dt) / var;
        squares += influence * influence;
    }
    *error = sqrt(squares) / REQUESTS;
    return cov / var;
}

/* Is the share of a node (what the cause has in common with the duration + its noise) / total? */
static void assert_share(const struct sample *m, uint32_t node, double covariance, double variance)
{
    double error, found = share(m, node, &error);
    double expected = (covariance + m->noise_variance[node]) / (variance + m->noise_total);
    if (fabs(found - expected) > 4 * error)
        fail_msg("node %u has the share %g (standard error %g), not %g", node, found, error,
                 expected);
}

static double mean_duration(const struct sample *m)
{
    double mean = 0;
    for (size_t i = 0; i < REQUESTS; i++)
        mean += m->durations[i] / REQUESTS;
    return mean;
}

/* ---- shares ---- */

static void a_cause_has_the_share_that_follows_from_its_parameters(void **state)
{
    static const struct {
        enum pythia_planted_kind kind;
        double parameter, mean, variance; /* of the cause, in SIZE and its square */
    } rows[] = {
        {PYTHIA_PLANTED_SLEEP, 0.3, 0.3, 0.3 * 0.7},
        {PYTHIA_PLANTED_SLEEP, 0.05, 0.05, 0.05 * 0.95},
        {PYTHIA_PLANTED_SLEEP, 0.02, 0.02, 0.02 * 0.98},
        {PYTHIA_PLANTED_EXPONENTIAL, 1, 1, 1},
        {PYTHIA_PLANTED_EXPONENTIAL, 0.1, 0.1, 0.1 * 2 - 0.01}, /* E[x^2] = 2 */
        {PYTHIA_PLANTED_UNIFORM, 1, 1, 1 / 3.0},                /* of 0 to 2 */
        {PYTHIA_PLANTED_UNIFORM, 0.3, 0.3, 0.3 * 4 / 3 - 0.09}, /* E[x^2] = 4 / 3 */
        {PYTHIA_PLANTED_OWN_TIME, 1, 1, 1 / 3.0},               /* of 0 to 2 */
        {PYTHIA_PLANTED_HOST, 0, 0.25, 0.25 * 0.75},            /* one of 4 */
        {PYTHIA_PLANTED_NUMERIC, 0, 1, 1 / 3.0},
        {PYTHIA_PLANTED_DIFFERENCE, 0, 1, 1 / 6.0}, /* of two of 0 to 1 */
        {PYTHIA_PLANTED_CATEGORICAL, 0.2, 0.2, 0.2 * 0.8},
        /* 1, 2, 4 or 8 by their mean of 3.75 */
        {PYTHIA_PLANTED_SETTING, 0, 1, (1 + 4 + 16 + 64) / 4.0 / (3.75 * 3.75) - 1},
        {PYTHIA_PLANTED_TENANT, 0, 0.1, 0.1 * 0.9}, /* four of 40 */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sample m;
        sample_begin(&m, rows[i].kind, rows[i].parameter);
        sample_draw(&m);
        double variance = rows[i].variance * SIZE * SIZE;
        struct pythia_planted p = planted(&m);
        assert_int_equal(p.kind, rows[i].kind);
        assert_true(p.node > 0 && p.other_count == 0 && p.known);
        assert_rel_equal(p.size_ns, SIZE, 1e-9);
        for (uint32_t node = 0; node < NODES; node++)
            assert_share(&m, node, node == p.node ? variance : 0, variance);
        double sd = sqrt(variance + m.noise_total);
        assert_true(fabs(mean_duration(&m) - S - rows[i].mean * SIZE) < 4 * sd / sqrt(REQUESTS));
        sample_end(&m);
    }
}

/* busy_ns is a tenth of a span or less, and with idle_ns all of it but for up to 1023 ns. */
static void timed_spans_have_their_time_as_keys(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, NODES);
    r.options.timed = true;
    run_make(&r);
    run_request(&r, 3, NULL);
    assert_int_equal(r.count, NODES);
    for (size_t i = 0; i < r.count; i++) {
        struct pythia_text rest = r.spans[i].attributes;
        struct pythia_attribute a;
        int64_t busy_ns = -1, idle_ns = -1, ns = r.spans[i].duration_ns;
        while (pythia_attributes_next(&rest, &a)) {
            struct pythia_text key = pythia_vocabulary_text(r.vocabulary, a.key);
            busy_ns = pythia_text_equal(key, PYTHIA_TEXT("busy_ns")) ? a.integer : busy_ns;
            idle_ns = pythia_text_equal(key, PYTHIA_TEXT("idle_ns")) ? a.integer : idle_ns;
        }
        assert_true(busy_ns >= 0 && busy_ns <= ns / 10 && idle_ns > 0);
        assert_in_range(ns - busy_ns - idle_ns, 0, 1023);
    }
    run_end(&r);
}

static void without_a_cause_there_is_nothing_but_noise(void **state)
{
    struct sample m;
    sample_begin(&m, PYTHIA_PLANTED_KINDS, 0);
    sample_draw(&m);
    for (uint32_t node = 0; node < NODES; node++)
        assert_share(&m, node, 0, 0);
    sample_end(&m);
}

/* The wait is W = Q unit: 70, 20 and 10 % of it are at three nodes, each times a factor uniform
 * from .8 to 1.2, of mean 1 and variance .16 / 12. Of a geometric Q of utilisation u the mean is
 * u / (1 - u) and the variance u / (1 - u)^2. */
static void contention_is_shared_by_edges_that_go_together(void **state)
{
    static const double parts[] = {0.7, 0.2, 0.1};
    struct sample m;
    double u = 0.6, unit = SIZE * (1 - u) / u, mean = u / (1 - u), var = mean / (1 - u);
    sample_begin(&m, PYTHIA_PLANTED_CONTENTION, u);
    sample_draw(&m);
    struct pythia_planted p = planted(&m);
    assert_int_equal(p.other_count, 2);
    uint32_t nodes[] = {p.node, p.others[0], p.others[1]};
    double own[3], total = 0; /* what factors add to the variance of each part */
    for (size_t i = 0; i < 3; i++)
        own[i] = pow(parts[i] * unit, 2) * (var + mean * mean) * 0.16 / 12;
    total = unit * unit * var + own[0] + own[1] + own[2];
    for (size_t i = 0; i < 3; i++)
        assert_share(&m, nodes[i], parts[i] * unit * unit * var + own[i], total);
    assert_true(fabs(mean_duration(&m) - S - SIZE) < 4 * sqrt((total + m.noise_total) / REQUESTS));
    sample_end(&m);
}

static double variance_of(const struct sample *m, uint32_t node, bool duration)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < REQUESTS; i++)
        mean += (duration ? m->durations[i] : m->times[i][node]) / REQUESTS;
    for (size_t i = 0; i < REQUESTS; i++) {
        double x = (duration ? m->durations[i] : m->times[i][node]) - mean;
        squares += x * x / REQUESTS;
    }
    return squares;
}

/* What the node takes longer, 2 u SIZE with u from 0 to 1, the other takes less, or part of it. */
static void compensating_waits_leave_the_total_as_it_is(void **state)
{
    static const double compensated[] = {1, 0.9};
    double tolerance = 4 * sqrt(2.0 / REQUESTS); /* of a variance whose law has no heavy tail */
    for (size_t i = 0; i < 2; i++) {
        struct sample m;
        double part = compensated[i], grows = SIZE * SIZE / 3;
        sample_begin(&m, PYTHIA_PLANTED_COMPENSATING, part);
        sample_draw(&m);
        struct pythia_planted p = planted(&m);
        assert_int_equal(p.other_count, 1);
        double total = (1 - part) * (1 - part) * grows;
        assert_rel_equal(variance_of(&m, p.node, false), grows + m.noise_variance[p.node],
                         tolerance);
        assert_rel_equal(variance_of(&m, p.others[0], false),
                         part * part * grows + m.noise_variance[p.others[0]], tolerance);
        assert_rel_equal(variance_of(&m, 0, true), total + m.noise_total, tolerance);
        assert_share(&m, p.node, (1 - part) * grows, total);
        assert_share(&m, p.others[0], -part * (1 - part) * grows, total);
        sample_end(&m);
    }
}

static void several_causes_are_at_several_nodes(void **state)
{
    struct sample m;
    sample_begin(&m, PYTHIA_PLANTED_SLEEP, 0.3);
    run_cause(&m.run, PYTHIA_PLANTED_UNIFORM, 0, 0.2);
    run_cause(&m.run, PYTHIA_PLANTED_EXPONENTIAL, 0, 0.1);
    sample_draw(&m);
    double variances[] = {0.21 * SIZE * SIZE, 0.04 * S * S / 3, 0.01 * S * S};
    double total = variances[0] + variances[1] + variances[2];
    uint32_t nodes[3];
    for (size_t i = 0; i < 3; i++) {
        struct pythia_planted p;
        pythia_workflow_planted(m.run.workflow, i, 0, &p);
        nodes[i] = p.node;
        assert_share(&m, p.node, variances[i], total);
    }
    assert_true(nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[0] != nodes[2]);
    sample_end(&m);
}

/* ---- keys ---- */

static double correlation(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / sqrt(xx * yy);
}

/* Requests of one cause without noise: of each the key, and what the cause added at its node. */
struct keyed {
    struct run run;
    struct pythia_planted planted;
    struct pythia_attribute *keys;
    char (*texts)[32];
    double *numbers, *added;
};

static void keyed_draw(struct keyed *k, enum pythia_planted_kind kind, double parameter, size_t n)
{
    double times[NODES];
    run_begin(&k->run, PYTHIA_WORKFLOW_BUSHY, NODES);
    k->run.options.noise = 0;
    run_cause(&k->run, kind, parameter, STRENGTH);
    run_make(&k->run);
    pythia_workflow_planted(k->run.workflow, 0, 0, &k->planted);
    k->keys = calloc(n, sizeof(*k->keys));
    k->texts = calloc(n, sizeof(*k->texts));
    k->numbers = calloc(n, sizeof(*k->numbers));
    k->added = calloc(n, sizeof(*k->added));
    for (size_t i = 0; i < n; i++) {
        run_request(&k->run, i, NULL);
        run_times(&k->run, times);
        uint32_t node = k->planted.node;
        k->added[i] = times[node] - node_time_ns(k->run.workflow, node);
        if (k->planted.key_node == PYTHIA_NONE) {
            size_t at = 0; /* a span of the node: its resource has the key */
            while (k->run.node_of[k->run.spans[at].tracepoint] != node)
                at++;
            struct pythia_resource r =
                pythia_vocabulary_resource_at(k->run.vocabulary, k->run.spans[at].resource);
            assert_true(pythia_attributes_find(r.attributes, k->planted.key, &k->keys[i]));
        } else {
            assert_true(run_key(&k->run, k->planted.key_node, k->planted.key, &k->keys[i]));
        }
        k->numbers[i] = (double)k->keys[i].integer;
        assert_in_range(k->keys[i].text.size, 0, 31);
        if (k->keys[i].text.size)
            memcpy(k->texts[i], k->keys[i].text.bytes, k->keys[i].text.size);
    }
}

static const char *text_of(const struct keyed *k, uint32_t string)
{
    return pythia_vocabulary_text(k->run.vocabulary, string).bytes;
}

static void keyed_end(struct keyed *k)
{
    free(k->keys);
    free(k->texts);
    free(k->numbers);
    free(k->added);
    run_end(&k->run);
}

static bool is_added(double added)
{
    assert_true(fabs(added) < 10 || fabs(added - SIZE) < 10);
    return added > 10;
}

/* The squared correlation of Q with Q f, f of variance v beside Q: Var(Q) / (Var(Q) + v E[Q^2]). */
static void the_queue_goes_with_the_wait(void **state)
{
    enum { N = 3000 };
    struct keyed k;
    double u = 0.6, mean = u / (1 - u), var = mean / (1 - u), v = 0.16 / 12;
    keyed_draw(&k, PYTHIA_PLANTED_CONTENTION, u, N);
    assert_string_equal(text_of(&k, k.planted.key), "queue_length");
    assert_int_equal(k.planted.key_node, k.planted.node);
    double r = correlation(k.numbers, k.added, N), none = 0;
    assert_rel_equal(r * r, var / (var + v * (var + mean * mean)), 0.01);
    for (size_t i = 0; i < N; i++) {
        none += k.numbers[i] == 0;
        assert_true(k.numbers[i] > 0 || fabs(k.added[i]) < 10);
    }
    assert_true(fabs(none / N - (1 - u)) < 4 * sqrt(u * (1 - u) / N));
    keyed_end(&k);
}

static void the_bad_host_is_where_requests_are_slow(void **state)
{
    enum { N = 400 };
    struct keyed k;
    keyed_draw(&k, PYTHIA_PLANTED_HOST, 0, N);
    assert_string_equal(text_of(&k, k.planted.key), "host.name");
    for (size_t i = 0; i < N; i++)
        assert_int_equal(is_added(k.added[i]),
                         strcmp(k.texts[i], text_of(&k, k.planted.key_value)) == 0);
    keyed_end(&k);
}

static void a_slow_host_is_slow_in_each_call(void **state)
{
    enum { N = 400 };
    struct keyed k;
    double times[NODES];
    keyed_draw(&k, PYTHIA_PLANTED_SLOW, 0, N);
    assert_string_equal(text_of(&k, k.planted.key), "host.name");
    size_t slow = 0;
    for (size_t i = 0; i < N; i++) {
        bool bad = strcmp(k.texts[i], text_of(&k, k.planted.key_value)) == 0;
        run_request(&k.run, i, NULL);
        run_times(&k.run, times);
        slow += bad;
        for (uint32_t node = 0; node < NODES; node++) {
            double usual = node_time_ns(k.run.workflow, node);
            /* Each gap of it is a whole number of ns. */
            assert_true(fabs(times[node] - (bad ? 1 + STRENGTH : 1) * usual) < 20);
        }
    }
    assert_true(fabs((double)slow / N - .25) < 4 * sqrt(.25 * .75 / N)); /* one of 4 */
    keyed_end(&k);
}

static const char *host_of(const struct keyed *k, size_t span)
{
    struct pythia_attribute a;
    struct pythia_resource r =
        pythia_vocabulary_resource_at(k->run.vocabulary, k->run.spans[span].resource);
    assert_true(pythia_attributes_find(r.attributes, k->planted.key, &a));
    return a.text.bytes;
}

/* Each request has 3 of 12 hosts, at three nodes; it is slow at the one that the bad host
 * serves. */
static void a_bad_host_is_one_of_three_of_a_request(void **state)
{
    enum { N = 300, HOSTS = 12 };
    struct keyed k = {.keys = NULL};
    double times[NODES];
    size_t slow = 0;
    run_begin(&k.run, PYTHIA_WORKFLOW_BUSHY, NODES);
    k.run.options.noise = 0;
    k.run.options.hosts = HOSTS;
    run_cause(&k.run, PYTHIA_PLANTED_REPLICA, 0, STRENGTH);
    run_make(&k.run);
    pythia_workflow_planted(k.run.workflow, 0, 0, &k.planted);
    assert_string_equal(text_of(&k, k.planted.key), "host.name");
    assert_int_equal(k.planted.other_count, 2);
    uint32_t nodes[] = {k.planted.node, k.planted.others[0], k.planted.others[1]};
    const char *bad = text_of(&k, k.planted.key_value);
    for (size_t i = 0; i < N; i++) {
        const char *hosts[3] = {"", "", ""};
        run_request(&k.run, i, NULL);
        run_times(&k.run, times);
        for (size_t s = 0; s < k.run.count; s++)
            for (size_t n = 0; n < 3; n++)
                if (k.run.node_of[k.run.spans[s].tracepoint] == nodes[n])
                    hosts[n] = host_of(&k, s);
        for (size_t n = 0; n < 3; n++) {
            bool is_bad = strcmp(hosts[n], bad) == 0;
            double own = node_time_ns(k.run.workflow, nodes[n]);
            assert_int_equal(is_added(times[nodes[n]] - own), is_bad);
            assert_string_not_equal(hosts[n], hosts[(n + 1) % 3]);
            slow += is_bad;
        }
    }
    assert_true(fabs((double)slow / N - 3. / HOSTS) < 4 * sqrt(.25 * .75 / N));
    run_end(&k.run);
}

/* 5 of 500 requests make the call, which takes half to one and a half of its size longer. */
static void a_rare_call_is_made_by_few(void **state)
{
    struct sample m;
    sample_begin(&m, PYTHIA_PLANTED_RARE, .01);
    m.run.options.noise = 0;
    run_make(&m.run);
    double times[NODES];
    size_t made = 0;
    struct pythia_planted p = planted(&m);
    for (size_t i = 0; i < 500; i++) {
        bool there = false;
        run_request(&m.run, i, NULL);
        run_times(&m.run, times);
        for (size_t s = 0; s < m.run.count; s++)
            there = there || m.run.node_of[m.run.spans[s].tracepoint] == p.node;
        double added = times[p.node] - node_time_ns(m.run.workflow, p.node);
        assert_true(!there || (added > .5 * SIZE - 10 && added < 1.5 * SIZE + 10));
        made += there;
    }
    assert_int_equal(made, 5);
    run_end(&m.run);
}

static void a_number_grows_with_what_it_adds(void **state)
{
    enum { N = 400 };
    struct keyed k;
    keyed_draw(&k, PYTHIA_PLANTED_NUMERIC, 0, N);
    assert_string_equal(text_of(&k, k.planted.key), "item_count");
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(k.numbers[i] == k.numbers[j] ||
                        (k.numbers[i] > k.numbers[j]) == (k.added[i] > k.added[j]));
    /* Uniform from 0 to twice the size: the standard error of the mean is 2 SIZE / sqrt(12 N). */
    double mean = 0;
    for (size_t i = 0; i < N; i++) {
        assert_true(k.added[i] > -10 && k.added[i] < 2 * SIZE + 10);
        mean += k.added[i] / N;
        /* From 10 items to e^5 times as many, the logarithm in proportion; times are whole ns. */
        double items = 10 * exp(5 * k.added[i] / (2 * SIZE));
        assert_true(fabs(k.numbers[i] - items) < 1 + items / 1000);
    }
    assert_true(fabs(mean - SIZE) < 4 * 2 * SIZE / sqrt(12 * N));
    keyed_end(&k);
}

/* A tenth of the requests has the slow shard, and so has each other one. */
static void one_shard_in_the_middle_is_slow(void **state)
{
    enum { N = 400 };
    struct keyed k;
    size_t counts[10] = {0};
    keyed_draw(&k, PYTHIA_PLANTED_MIDDLE, 0, N);
    assert_string_equal(text_of(&k, k.planted.key), "shard");
    for (size_t i = 0; i < N; i++) {
        assert_true(k.numbers[i] >= 0 && k.numbers[i] <= 9);
        counts[(size_t)k.numbers[i]]++;
        assert_int_equal(is_added(k.added[i]), k.numbers[i] == 4);
    }
    for (size_t shard = 0; shard < 10; shard++)
        assert_true(fabs((double)counts[shard] / N - .1) < 4 * sqrt(.1 * .9 / N));
    keyed_end(&k);
}

static void a_difference_is_of_two_keys(void **state)
{
    enum { N = 400 };
    struct keyed k;
    keyed_draw(&k, PYTHIA_PLANTED_DIFFERENCE, 0, N);
    assert_string_equal(text_of(&k, k.planted.key), "arrived_count");
    assert_string_equal(text_of(&k, k.planted.other_key), "served_count");
    for (size_t i = 0; i < N; i++) {
        struct pythia_attribute served;
        run_request(&k.run, i, NULL);
        assert_true(run_key(&k.run, k.planted.key_node, k.planted.other_key, &served));
        double difference = k.numbers[i] - (double)served.integer;
        assert_true(fabs(k.added[i] - (1 + difference / 1000) * k.planted.size_ns) < 10);
    }
    keyed_end(&k);
}

static void one_category_is_slow(void **state)
{
    enum { N = 400 };
    struct keyed k;
    keyed_draw(&k, PYTHIA_PLANTED_CATEGORICAL, 0.2, N);
    assert_string_equal(text_of(&k, k.planted.key), "plan");
    assert_string_equal(text_of(&k, k.planted.key_value), "premium");
    for (size_t i = 0; i < N; i++)
        assert_int_equal(is_added(k.added[i]), strcmp(k.texts[i], "premium") == 0);
    keyed_end(&k);
}

static void a_shift_moves_time_between_two_nodes(void **state)
{
    enum { N = 400 };
    struct keyed k;
    double times[NODES];
    keyed_draw(&k, PYTHIA_PLANTED_SHIFT, 0, N);
    assert_string_equal(text_of(&k, k.planted.key), "cache");
    uint32_t other = k.planted.others[0];
    for (size_t i = 0; i < N; i++) {
        run_request(&k.run, i, NULL);
        assert_true(fabs(run_times(&k.run, times) - S - SIZE) < 2 * NODES);
        double there = times[other] - node_time_ns(k.run.workflow, other);
        assert_int_equal(is_added(k.added[i]), strcmp(k.texts[i], "miss") == 0);
        assert_int_equal(is_added(there), strcmp(k.texts[i], "hit") == 0);
    }
    keyed_end(&k);
}

static void distractors_mean_nothing(void **state)
{
    enum { KEYS = 16 };
    struct sample m;
    static double values[KEYS][REQUESTS];
    sample_begin(&m, PYTHIA_PLANTED_SLEEP, 0.3);
    m.run.options.distractors = KEYS;
    sample_draw(&m);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        run_request(&m.run, i, NULL);
        struct pythia_text packed = m.run.spans[m.run.count - 1].attributes; /* the root is last */
        struct pythia_attribute a = {0};
        size_t key = 0;
        for (; pythia_attributes_next(&packed, &a); key++) {
            assert_in_range(key, 0, KEYS - 1);
            values[key][i] = a.kind == PYTHIA_ATTRIBUTE_REAL ? a.real
                             : a.kind == PYTHIA_ATTRIBUTE_TEXT
                                 ? (double)a.text.bytes[a.text.size - 1]
                                 : (double)a.integer;
        }
        assert_int_equal(key, KEYS);
    }
    for (size_t key = 0; key < KEYS; key++)
        assert_true(fabs(correlation(values[key], m.durations, REQUESTS)) < 4 / sqrt(REQUESTS));
    sample_end(&m);
}

/* Of a span whose children follow each other: the times before each and after the last one. */
static uint32_t find_gaps(const struct run *r, uint32_t node, double *gaps)
{
    size_t found = r->count;
    uint32_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->node_of[r->spans[i].tracepoint] == node)
            found = i;
    assert_true(found < r->count);
    const struct pythia_span *parent = &r->spans[found];
    uint64_t at = parent->start_ns;
    for (size_t i = 0; i < r->count; i++) /* a child comes before those after it */
        if (r->spans[i].parent == parent->id) {
            gaps[count++] = (double)(r->spans[i].start_ns - at);
            at = end_of(&r->spans[i]);
        }
    gaps[count++] = (double)(end_of(parent) - at);
    return count;
}

/* The node has 4 gaps or more where there is such a one, and all of them have the same time: a part
 * of its own time without the cause, and of what the cause adds. */
static void own_time_is_spread_over_the_gaps_of_a_node(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run r;
        double times[NODES], gaps[NODES], most = 0;
        struct pythia_planted p;
        run_begin(&r, PYTHIA_WORKFLOW_BUSHY, NODES);
        r.options.noise = 0;
        r.options.seed = seed;
        run_cause(&r, PYTHIA_PLANTED_OWN_TIME, 1, STRENGTH);
        run_make(&r);
        pythia_workflow_planted(r.workflow, 0, 0, &p);
        for (uint64_t number = 0; number < 20; number++) {
            run_request(&r, number, NULL);
            double added = run_times(&r, times) - S;
            uint32_t count = find_gaps(&r, p.node, gaps);
            assert_in_range(count, 4, 9);
            for (uint32_t i = 0; i < count; i++)
                assert_true(fabs(gaps[i] - times[p.node] / count) < 10);
            assert_true(fabs(times[p.node] - node_time_ns(r.workflow, p.node) - added) < 2 * NODES);
            assert_true(added > -2 * NODES && added < 2 * SIZE + 2 * NODES);
            most = fmax(most, added);
        }
        assert_true(most > SIZE); /* of 20 from 0 to 2 SIZE; the chance that none is: 2^-20 */
        run_end(&r);
    }
}

/* ---- drift ---- */

static void a_cause_grows(void **state)
{
    struct run r;
    double times[NODES];
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, NODES);
    r.options.noise = 0;
    r.options.drift = PYTHIA_DRIFT_GROW;
    r.options.drift_requests = 100;
    run_cause(&r, PYTHIA_PLANTED_SLEEP, 1, STRENGTH);
    run_make(&r);
    for (uint64_t number = 0; number < 200; number++) {
        run_request(&r, number, NULL);
        double expected = number < 100 ? SIZE * (double)number / 100 : SIZE;
        assert_true(fabs(run_times(&r, times) - S - expected) < 2 * NODES);
    }
    run_end(&r);
}

static void a_cause_moves(void **state)
{
    struct run r;
    double times[NODES];
    uint32_t different = 0, before = 0;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, NODES);
    r.options.noise = 0;
    r.options.drift = PYTHIA_DRIFT_MOVE;
    r.options.drift_requests = 10;
    run_cause(&r, PYTHIA_PLANTED_SLEEP, 1, STRENGTH);
    run_make(&r);
    for (uint64_t number = 0; number < 200; number++) {
        struct pythia_planted p;
        pythia_workflow_planted(r.workflow, 0, number, &p);
        assert_true(number % 10 == 0 || p.node == before);
        different += p.node != before;
        before = p.node;
        run_request(&r, number, NULL);
        run_times(&r, times);
        for (uint32_t i = 0; i < NODES; i++) {
            double more = times[i] - node_time_ns(r.workflow, i);
            assert_true(fabs(more - (i == p.node ? SIZE : 0)) < 10);
        }
    }
    assert_in_range(different, 15, 20); /* of 20; the same again has the chance 1 in 39 */
    run_end(&r);
}

/* ---- where there is no place ---- */

static void a_tree_of_one_node_has_all_causes_on_its_root(void **state)
{
    struct run r;
    run_begin(&r, PYTHIA_WORKFLOW_BUSHY, 1);
    r.options.noise = 0;
    run_cause(&r, PYTHIA_PLANTED_SLEEP, 1, 0.1);
    run_cause(&r, PYTHIA_PLANTED_SLEEP, 1, 0.2);
    run_cause(&r, PYTHIA_PLANTED_CONTENTION, 0, 0);
    run_make(&r);
    run_request(&r, 0, NULL);
    assert_true(fabs(run_duration(&r) - 1.3 * S) < 10);
    run_end(&r);
}

static void causes_that_cannot_be_are_told(void **state)
{
    static const struct {
        struct pythia_workflow_cause cause;
        uint32_t hosts;
        const char *sentence;
    } rows[] = {
        {{PYTHIA_PLANTED_SLEEP, 2, 0.3, 0},
         4,
         "the parameter of sleep is above 0 and at most 1, not 2"},
        {{PYTHIA_PLANTED_CONTENTION, 0.99, 0.3, 0},
         4,
         "the parameter of contention is above 0 and at most 0.95, not 0.99"},
        {{PYTHIA_PLANTED_NUMERIC, 0.5, 0.3, 0}, 4, "numeric takes no parameter"},
        {{PYTHIA_PLANTED_SLEEP, 0, -1, 0},
         4,
         "the strength of sleep is a number from 0 to 100, not -1"},
        {{PYTHIA_PLANTED_SLEEP, 0, NAN, 0},
         4,
         "the strength of sleep is a number from 0 to 100, not nan"},
        {{PYTHIA_PLANTED_SLEEP, 0, 0.3, 2}, 4, "sleep cannot be at node 2 of 2"},
        {{PYTHIA_PLANTED_HOST, 0, 0.3, 0},
         1,
         "one bad host needs another: there have to be 2 or more"},
        {{PYTHIA_PLANTED_SHIFT, 0, 0.3, 0},
         4,
         "shift needs two nodes on which the duration depends, and there are not so many"},
        {{PYTHIA_PLANTED_REPLICA, 0, 0.3, 0},
         3,
         "replica needs more hosts than the 3 that serve a request"},
        {{PYTHIA_PLANTED_KINDS, 0, 0.3, 0}, 4, "there is no cause of kind 18"},
    };
    struct pythia_vocabulary *v;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pythia_workflow_options o;
        struct pythia_workflow *w = NULL;
        struct pythia_error why = {0};
        pythia_workflow_options_default(&o);
        o.nodes = 2;
        o.hosts = rows[i].hosts;
        o.causes[o.cause_count++] = rows[i].cause;
        assert_int_equal(pythia_workflow_create(v, &o, &w, &why), PYTHIA_EUSAGE);
        assert_string_equal(why.sentence, rows[i].sentence);
        assert_null(w);
    }
    assert_null(pythia_planted_name(PYTHIA_PLANTED_KINDS));
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cause_has_the_share_that_follows_from_its_parameters),
        cmocka_unit_test(timed_spans_have_their_time_as_keys),
        cmocka_unit_test(without_a_cause_there_is_nothing_but_noise),
        cmocka_unit_test(contention_is_shared_by_edges_that_go_together),
        cmocka_unit_test(compensating_waits_leave_the_total_as_it_is),
        cmocka_unit_test(several_causes_are_at_several_nodes),
        cmocka_unit_test(the_queue_goes_with_the_wait),
        cmocka_unit_test(the_bad_host_is_where_requests_are_slow),
        cmocka_unit_test(a_slow_host_is_slow_in_each_call),
        cmocka_unit_test(a_bad_host_is_one_of_three_of_a_request),
        cmocka_unit_test(a_rare_call_is_made_by_few),
        cmocka_unit_test(one_shard_in_the_middle_is_slow),
        cmocka_unit_test(a_number_grows_with_what_it_adds),
        cmocka_unit_test(a_difference_is_of_two_keys),
        cmocka_unit_test(one_category_is_slow),
        cmocka_unit_test(a_shift_moves_time_between_two_nodes),
        cmocka_unit_test(distractors_mean_nothing),
        cmocka_unit_test(own_time_is_spread_over_the_gaps_of_a_node),
        cmocka_unit_test(a_cause_grows),
        cmocka_unit_test(a_cause_moves),
        cmocka_unit_test(a_tree_of_one_node_has_all_causes_on_its_root),
        cmocka_unit_test(causes_that_cannot_be_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
