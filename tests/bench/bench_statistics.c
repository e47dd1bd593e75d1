/* How often the methods are right, on generated requests whose truth is known: one line a scenario
 * with the rate over many seeds, its Wilson 95 % interval, and what it must be. Exit status 0, or 1
 * if a scenario misses its bar, or 2 for wrong usage.
 *
 * A scenario is a row of a table: a trial, which draws from the stream it is given and says yes or
 * no, and its setup. The tables, here and in bench_statistics_*.c, are walked in turn; another
 * method is another table. */
#include "bench_statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "exponential.h"
#include "pythia/gate.h"
#include "pythia/option.h"
#include "pythia/proportion.h"
#include "pythia/random.h"
#include "pythia/shares.h"
#include "pythia/status.h"

void fail_if(bool failed, const char *what)
{
    if (!failed)
        return;
    (void)fprintf(stderr, "bench_statistics: %s failed\n", what);
    exit(1);
}

/* ---- 1. Which edge makes requests slow? A path of 20 edges, of which one may be the source
 * ---- */

enum { EDGES = 20, LOOKS = 30, N_MAX = 300 };

struct path {
    double slow;   /* share of slow requests; 0: any of three kinds of delay; NAN: no source */
    double spikes; /* share of cells with a spike */
    bool tiny;     /* one short edge with a coefficient of variation of 2.9 */
    bool load;     /* a factor that all edges share */
    bool alike;    /* all edges are of one law */
};

/* Times are in units of the mean duration of a request without its source. */
struct sample {
    size_t source;
    double x[EDGES * N_MAX];
};

static double lognormal(struct pythia_random *r, double sigma)
{
    return exp(sigma * pythia_random_normal(r) - sigma * sigma / 2); /* of mean 1 */
}

/* One of three delays of about the same sd, .14: 30 % of requests by .3, exponential, uniform. */
static double delay(struct pythia_random *r, const struct path *p, unsigned kind)
{
    if (p->slow > 0)
        return pythia_random_unit(r) < p->slow ? .3 : 0;
    switch (kind) {
    case 0:
        return pythia_random_unit(r) < .3 ? .3 : 0;
    case 1:
        return .14 * draw_exponential(r);
    default:
        return .48 * pythia_random_unit(r);
    }
}

static void draw(struct pythia_random *r, const struct path *p, size_t n, struct sample *out)
{
    double mean[EDGES], sum = 0;
    unsigned kind = (unsigned)pythia_random_below(r, 3);
    size_t tiny = (size_t)pythia_random_below(r, EDGES);
    out->source = (tiny + 1 + (size_t)pythia_random_below(r, EDGES - 1)) % EDGES;
    for (size_t e = 0; e < EDGES; e++)
        sum += mean[e] = p->alike ? 1 : lognormal(r, .7);
    for (size_t i = 0; i < n; i++) {
        double load = p->load ? lognormal(r, .15) : 1;
        for (size_t e = 0; e < EDGES; e++) {
            double *cell = &out->x[e * n + i];
            *cell = load * mean[e] / sum * lognormal(r, .2);
            if (p->tiny && e == tiny)
                *cell = .001 * lognormal(r, 1.5);
            if (!isnan(p->slow) && e == out->source)
                *cell += delay(r, p, kind);
            if (pythia_random_unit(r) < p->spikes) /* Pareto, 1.5 */
                *cell += .2 * pow(1 - pythia_random_unit(r), -1 / 1.5);
        }
    }
}

static void shares_of(const struct sample *s, size_t n, struct pythia_share *out)
{
    fail_if(pythia_shares(s->x, n, EDGES, NULL, out) != PYTHIA_OK, "pythia_shares");
}

/* Is the source the edge of the highest share? */
static bool share_finds(const struct scenario *s, struct pythia_random *r)
{
    static struct sample sample;
    struct pythia_share shares[EDGES];
    size_t best = 0;
    draw(r, s->setup, s->n, &sample);
    shares_of(&sample, s->n, shares);
    for (size_t e = 1; e < EDGES; e++)
        if (shares[e].share > shares[best].share)
            best = e;
    return best == sample.source;
}

/* The published ranker: is it the edge of the highest variance? */
static bool variance_finds(const struct scenario *s, struct pythia_random *r)
{
    static struct sample sample;
    struct pythia_share shares[EDGES];
    size_t best = 0;
    draw(r, s->setup, s->n, &sample);
    shares_of(&sample, s->n, shares);
    for (size_t e = 1; e < EDGES; e++)
        if (shares[e].sd > shares[best].sd)
            best = e;
    return best == sample.source;
}

/* Does any of 30 looks, which spend alpha = .05 together, name an edge where all are alike? */
static bool looks_name_an_edge(const struct scenario *s, struct pythia_random *r)
{
    static struct sample sample;
    for (uint64_t look = 1; look <= LOOKS; look++) {
        size_t top;
        bool found = false;
        draw(r, s->setup, s->n, &sample);
        int status = pythia_gate_localise(sample.x, s->n, EDGES, 1 - pythia_gate_alpha(.05, look),
                                          &found, &top);
        fail_if(status != PYTHIA_OK, "pythia_gate_localise");
        if (found)
            return true;
    }
    return false;
}

static const struct path plain = {0}, spike = {.spikes = .004},
                         all = {.spikes = .004, .tiny = true, .load = true}, slow = {.slow = .05},
                         slow_spike = {.slow = .05, .spikes = .002},
                         null = {.slow = NAN, .alike = true},
                         null_spike = {.slow = NAN, .alike = true, .spikes = .004},
                         null_all = {.slow = NAN, .alike = true, .spikes = .004, .load = true};

static const struct scenario edges[] = {
    {"plain: raw variance", 30, variance_finds, &plain, SHOWN, 0, 0},
    {"plain: clipped share", 30, share_finds, &plain, SHOWN, 0, 0},
    {"spike: raw variance", 30, variance_finds, &spike, SHOWN, 0, 0},
    {"spike: clipped share", 30, share_finds, &spike, SHOWN, 0, .2},
    {"spike: raw variance", 100, variance_finds, &spike, SHOWN, 0, 0},
    {"spike: clipped share", 100, share_finds, &spike, SHOWN, 0, .2},
    {"all: raw variance", 30, variance_finds, &all, SHOWN, 0, 0},
    {"all: clipped share", 30, share_finds, &all, AT_LEAST, .97, .2},
    {"all: raw variance", 100, variance_finds, &all, SHOWN, 0, 0},
    {"all: clipped share", 100, share_finds, &all, AT_LEAST, .97, .2},
    {"all: raw variance", 300, variance_finds, &all, SHOWN, 0, 0},
    {"all: clipped share", 300, share_finds, &all, AT_LEAST, .98, .2},
    {"5 % slow path, .2 % spikes: raw variance", 200, variance_finds, &slow_spike, SHOWN, 0, 0},
    {"5 % slow path, .2 % spikes: clipped share", 200, share_finds, &slow_spike, AT_LEAST, .90, .2},
    {"5 % slow path: raw variance", 200, variance_finds, &slow, SHOWN, 0, 0},
    {"5 % slow path: clipped share", 200, share_finds, &slow, AT_LEAST, .97, 0},
    {"no source: named in 30 looks", 30, looks_name_an_edge, &null, AT_MOST, .05, 0},
    {"no source: named in 30 looks", 100, looks_name_an_edge, &null, AT_MOST, .05, 0},
    {"no source, spikes: named in 30 looks", 30, looks_name_an_edge, &null_spike, AT_MOST, .05, 0},
    {"no source, spikes: named in 30 looks", 100, looks_name_an_edge, &null_spike, AT_MOST, .05, 0},
    {"no source, spikes: named in 30 looks", 300, looks_name_an_edge, &null_spike, AT_MOST, .05, 0},
    {"no source, all: named in 30 looks", 30, looks_name_an_edge, &null_all, AT_MOST, .05, 0},
    {"no source, all: named in 30 looks", 100, looks_name_an_edge, &null_all, AT_MOST, .05, 0},
};

/* ---- The tables, and what walks them ---- */

static const struct table bench_edges =
    TABLE("1. Edge ranker: is the source ranked first?", edges, 1);
static const struct table *const tables[] = {&bench_edges, &bench_modes, &bench_explain};

static unsigned long hits_of(const struct scenario *s, unsigned long seeds)
{
    unsigned long yes = 0;
    for (unsigned long seed = 1; seed <= seeds; seed++) {
        struct pythia_random r;
        pythia_random_init(&r, seed);
        yes += s->trial(s, &r);
    }
    return yes;
}

/* A scenario's rate, and whether it is what it must be. */
struct outcome {
    double rate, low, high;
    bool ok;
};

static struct outcome judge(const struct scenario *s, unsigned long hits, double previous,
                            unsigned long seeds)
{
    struct pythia_proportion p = pythia_proportion_wilson(hits, seeds, .95);
    struct outcome o = {.rate = p.rate, .low = p.low, .high = p.high, .ok = true};
    if (s->bound != SHOWN)
        o.ok = s->bound == AT_LEAST ? o.rate >= s->must : o.rate <= s->must;
    if (s->above_previous > 0)
        o.ok = o.ok && o.rate >= previous + s->above_previous;
    return o;
}

static void print_row(const struct scenario *s, const struct outcome *o)
{
    char must[48] = "";
    if (s->bound != SHOWN)
        (void)snprintf(must, sizeof(must), "%s %.2f", s->bound == AT_LEAST ? ">=" : "<=", s->must);
    if (s->above_previous > 0) {
        size_t used = strlen(must);
        (void)snprintf(must + used, sizeof(must) - used, "%s>= above + %.2f", used ? ", " : "",
                       s->above_previous);
    }
    printf("%-46s %5zu  %.3f  [%.3f, %.3f]  %-24s %s\n", s->name, s->n, o->rate, o->low, o->high,
           must,
           !*must  ? ""
           : o->ok ? "ok"
                   : "FAIL");
}

/* Walk a table, print it, and add its rows to `out`. Were all rates as they must be? */
static bool run_table(const struct table *table, unsigned long seeds, json_t *out)
{
    unsigned long count = seeds * table->times;
    double previous = NAN;
    bool ok = true;
    printf("%s (%lu seeds)\n%-46s %5s  %5s  %-14s  %s\n", table->title, count, "scenario", "n",
           "rate", "Wilson 95 %", "must");
    for (size_t row = 0; row < table->count; row++) {
        const struct scenario *s = &table->rows[row];
        struct outcome o = judge(s, hits_of(s, count), previous, count);
        print_row(s, &o);
        json_t *entry =
            json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:b}", "table", table->title, "scenario",
                      s->name, "n", (json_int_t)s->n, "seeds", (json_int_t)count, "rate", o.rate,
                      "low", o.low, "high", o.high, "ok", o.ok);
        fail_if(json_array_append_new(out, entry) != 0, "json_array_append_new");
        ok = ok && o.ok;
        previous = o.rate;
    }
    return ok;
}

struct settings {
    int64_t seeds;
    const char *json;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("seeds", 0, "N", "400", 1, 1000000000, offsetof(struct settings, seeds),
                   "Seeds of a scenario"),
    PYTHIA_TEXT_OPTION("json", 0, "FILE", offsetof(struct settings, json),
                       "Write the rates there, too"),
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {0};
    struct pythia_error why = {0};
    int first = 1;
    pythia_options_default(options, &settings);
    if (pythia_options_parse(options, &settings, argc, argv, &first, &why) != PYTHIA_OK ||
        first < argc) {
        (void)fprintf(stderr,
                      "bench_statistics: %s\nusage: bench_statistics [--seeds N] [--json FILE]\n",
                      why.sentence);
        return 2;
    }
    json_t *rows = json_array();
    bool ok = true;
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        ok = run_table(tables[t], (unsigned long)settings.seeds, rows) && ok;
    fail_if(settings.json && json_dump_file(rows, settings.json, JSON_INDENT(1)) != 0,
            "writing --json");
    json_decref(rows);
    return ok ? 0 : 1;
}
