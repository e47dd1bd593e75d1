/* 3. Is the key named that makes requests slow? 18 keys: the id of the request, the user, the port,
 * a row id, eight numbers and four categories of noise, the true key and a noisy copy of it. Times
 * are in ns. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_statistics.h"
#include "pythia/association.h"
#include "pythia/shares.h"
#include "pythia/status.h"

enum { EDGES = 8, N_MAX = 200 };
enum {
    REQUEST,
    USER,
    PORT,
    ROW,
    NUMBERS,
    CATEGORIES = NUMBERS + 8,
    TRUTH = CATEGORIES + 4,
    PROXY,
    KEYS
};
enum { HOSTS = 6, BAD_HOST = 2 };

enum effect { NOTHING, NUMBER, HOST, SHIFT };

struct requests {
    double durations[EDGES * N_MAX], time[N_MAX], numbers[KEYS][N_MAX];
    uint32_t levels[KEYS][N_MAX];
    struct pythia_column keys[KEYS];
};

static void declare_keys(struct requests *q, enum effect effect, size_t n)
{
    for (size_t k = 0; k < KEYS; k++) {
        bool categorical = k == REQUEST || k == USER || (k >= CATEGORIES && k < TRUTH) ||
                           (k >= TRUTH && effect == HOST);
        q->keys[k] = (struct pythia_column){.categorical = categorical,
                                            .numbers = q->numbers[k],
                                            .levels = q->levels[k],
                                            .level_count = HOSTS};
    }
    q->keys[REQUEST].level_count = (uint32_t)n;
    q->keys[USER].level_count = (uint32_t)(n / 4);
    for (size_t k = CATEGORIES; k < TRUTH; k++)
        q->keys[k].level_count = (uint32_t)(3 + 2 * (k - CATEGORIES));
}

static void draw_noise_keys(struct requests *q, size_t i, struct pythia_random *r)
{
    q->time[i] = 1e9 * (double)i;
    q->levels[REQUEST][i] = (uint32_t)i;
    q->levels[USER][i] = (uint32_t)pythia_random_below(r, q->keys[USER].level_count);
    q->numbers[PORT][i] = 32768 + (double)pythia_random_below(r, 28000);
    q->numbers[ROW][i] = 1000 + 3 * (double)i;
    for (size_t k = NUMBERS; k < CATEGORIES; k++) {
        double z = pythia_random_normal(r);
        q->numbers[k][i] = k % 2 ? z : exp(z);
    }
    for (size_t k = CATEGORIES; k < TRUTH; k++)
        q->levels[k][i] = (uint32_t)pythia_random_below(r, q->keys[k].level_count);
}

/* Draw the true key and its copy, and what the key does: to edge 4, or from edge 5 to edge 4. */
static void draw_cause(struct requests *q, enum effect effect, size_t n, size_t i,
                       struct pythia_random *r)
{
    double z = pythia_random_normal(r), copy = .8 * z + .6 * pythia_random_normal(r);
    uint32_t host = (uint32_t)pythia_random_below(r, HOSTS);
    bool copied = pythia_random_unit(r) < .8;
    double *fourth = &q->durations[4 * n + i], *fifth = &q->durations[5 * n + i];
    q->numbers[TRUTH][i] = effect == SHIFT ? z : exp(z);
    q->numbers[PROXY][i] = effect == SHIFT ? copy : exp(copy);
    q->levels[TRUTH][i] = host;
    q->levels[PROXY][i] = copied ? host : (uint32_t)pythia_random_below(r, HOSTS);
    if (effect == NUMBER)
        *fourth += 2.5e6 * q->numbers[TRUTH][i];
    if (effect == HOST && host == BAD_HOST)
        *fourth += 6e6;
    if (effect == SHIFT) {
        double moved = fmin(fmax(1.5e6 * z, -.9 * *fourth), .9 * *fifth);
        *fourth += moved;
        *fifth -= moved;
    }
}

static void draw(struct requests *q, enum effect effect, size_t n, struct pythia_random *r)
{
    declare_keys(q, effect, n);
    for (size_t i = 0; i < n; i++) {
        double load = exp(.2 * pythia_random_normal(r));
        for (size_t e = 0; e < EDGES; e++)
            q->durations[e * n + i] =
                1e6 * (double)(e + 1) * load * exp(.4 * pythia_random_normal(r));
        draw_noise_keys(q, i, r);
        draw_cause(q, effect, n, i, r);
    }
}

/* The first result, of a run without permutations: they say no more about the order. */
static struct pythia_association_result first_of(const struct scenario *s, struct pythia_random *r)
{
    static struct requests requests;
    static struct pythia_association *a; /* lives as long as the program */
    struct pythia_share shares[EDGES];
    double weights[EDGES];
    size_t count;
    draw(&requests, *(const enum effect *)s->setup, s->n, r);
    if (!a)
        fail_if(pythia_association_create(&a) != PYTHIA_OK, "pythia_association_create");
    fail_if(pythia_shares(requests.durations, s->n, EDGES, NULL, shares) != PYTHIA_OK,
            "pythia_shares");
    for (size_t e = 0; e < EDGES; e++)
        weights[e] = shares[e].share;
    struct pythia_association_input in = {.rows = s->n,
                                          .edges = EDGES,
                                          .columns = KEYS,
                                          .durations = requests.durations,
                                          .weights = weights,
                                          .keys = requests.keys,
                                          .time = requests.time,
                                          .alpha = .05};
    fail_if(pythia_association_run(a, &in) != PYTHIA_OK, "pythia_association_run");
    return pythia_association_results(a, &count)[0];
}

static bool truth_is_first(const struct scenario *s, struct pythia_random *r)
{
    struct pythia_association_result first = first_of(s, r);
    return first.significant && first.column == TRUTH;
}

static bool anything_is_found(const struct scenario *s, struct pythia_random *r)
{
    return first_of(s, r).significant;
}

static const enum effect nothing = NOTHING, number = NUMBER, host = HOST, shift = SHIFT;

static const struct scenario explanations[] = {
    {"a number: named first", 60, truth_is_first, &number, SHOWN, 0, 0},
    {"a number: named first", 200, truth_is_first, &number, AT_LEAST, .95, 0},
    {"one bad host of 6: named first", 60, truth_is_first, &host, SHOWN, 0, 0},
    {"one bad host of 6: named first", 200, truth_is_first, &host, AT_LEAST, .95, 0},
    {"a shift, total unchanged: named first", 60, truth_is_first, &shift, SHOWN, 0, 0},
    {"a shift, total unchanged: named first", 200, truth_is_first, &shift, AT_LEAST, .95, 0},
    {"nothing: any discovery", 60, anything_is_found, &nothing, AT_MOST, .07, 0},
    {"nothing: any discovery", 200, anything_is_found, &nothing, AT_MOST, .07, 0},
};

const struct table bench_explain = TABLE("3. Explanation: is the cause named?", explanations, 5);
