/* Finds the candidates that measure the time itself: numbers, each held against the time of its
 * trace point on the critical paths, and the duration of the request. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "explain_parts.h"
#include "pythia/measured.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* A number with a word for a time in its name, or for a unit of one, needs so many different values
 * to be a measurement. A wait in ms may be set, and most settings have fewer values; what is called
 * a duration is nearly always measured. */
#define TIME_VALUES     21
#define MEASURED_VALUES 5

/* The values that suffice by the name of a key ("elapsedMs", "db.duration", "response_time");
 * SIZE_MAX if it names no time. */
static size_t count_needed_values(struct pythia_text name)
{
    static const struct {
        const char *word;
        size_t values;
    } words[] = {{"duration", MEASURED_VALUES},
                 {"elapsed", MEASURED_VALUES},
                 {"latency", MEASURED_VALUES},
                 {"took", MEASURED_VALUES},
                 {"runtime", MEASURED_VALUES},
                 {"time", TIME_VALUES},
                 {"wait", TIME_VALUES},
                 {"delay", TIME_VALUES},
                 {"ns", TIME_VALUES},
                 {"us", TIME_VALUES},
                 {"ms", TIME_VALUES},
                 {"millis", TIME_VALUES},
                 {"s", TIME_VALUES},
                 {"sec", TIME_VALUES},
                 {"secs", TIME_VALUES},
                 {"seconds", TIME_VALUES}};
    size_t least = SIZE_MAX;
    for (size_t from = 0, to; from < name.size; from = to + (to == from)) {
        for (to = from; to < name.size && isalpha((unsigned char)name.bytes[to]) &&
                        (to == from || !isupper((unsigned char)name.bytes[to]));)
            to++;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (to - from == strlen(words[i].word) && words[i].values < least &&
                strncasecmp(name.bytes + from, words[i].word, to - from) == 0)
                least = words[i].values;
    }
    return least;
}

static size_t find_needed_values(const struct pythia__explainer *x,
                                 const struct pythia__candidate *c)
{
    return count_needed_values(pythia_keys_attribute(x->keys, c->key));
}

/* The time below a trace point in each row, for each of its hits; NaN where it is not hit. */
static void find_point_times(const struct pythia__explainer *x, uint32_t tracepoint, double *times)
{
    const struct pythia_ranking *r = x->ranking;
    for (size_t i = 0; i < x->n; i++)
        times[i] = 0;
    for (size_t e = 0; e < r->edge_count; e++) {
        uint32_t node = pythia_cct_edge_at(x->cct, r->edges[e].edge)->context;
        while (node != PYTHIA_CCT_ROOT && pythia_cct_tracepoint(x->cct, node) != tracepoint)
            node = pythia_cct_parent(x->cct, node);
        for (size_t i = 0; i < x->n && node != PYTHIA_CCT_ROOT; i++)
            times[i] += r->times_ns[e * r->rows + i];
    }
    for (size_t i = 0; i < x->n; i++) {
        const struct pythia_shape *shape = x->rows[i]->shape;
        uint32_t hits = 0;
        for (uint32_t k = 0; k < shape->point_count; k++)
            hits += shape->points[k] == tracepoint ? shape->point_counts[k] : 0;
        times[i] = hits > 0 ? times[i] / hits : NAN;
    }
}

static bool is_number_of_point(const struct pythia__explainer *x, const struct pythia__candidate *c,
                               uint32_t tracepoint)
{
    return c->kind == PYTHIA_KEY_NUMERIC && pythia_keys_tracepoint(x->keys, c->key) == tracepoint;
}

/* Mark two numbers whose sum measures the time: neither does alone, or one leaves out a part that
 * is the other. */
static int mark_pair(const struct pythia__explainer *x, struct pythia__candidate *a,
                     struct pythia__candidate *b, const double *times)
{
    bool part = false;
    if (a->unit && b->unit)
        return PYTHIA_OK;
    if (!a->unit && !b->unit) {
        size_t of_a = find_needed_values(x, a), of_b = find_needed_values(x, b);
        int status = pythia_measured_unit(a->numbers, b->numbers, times, x->n,
                                          of_a > of_b ? of_a : of_b, &a->unit);
        b->unit = status == PYTHIA_OK ? a->unit : NULL;
        return status;
    }
    const struct pythia__candidate *known = a->unit ? a : b;
    struct pythia__candidate *other = a->unit ? b : a;
    int status =
        pythia_measured_part(known->numbers, other->numbers, times, x->n, known->unit, &part);
    if (status == PYTHIA_OK && part)
        other->unit = known->unit;
    return status;
}

/* Mark the numbers of a trace point that measure its time, or the request's; alone, or two of them
 * that add up to it, as busy and idle time do. */
static int mark_measured(struct pythia__explainer *x, uint32_t tracepoint, const double *times,
                         const double *totals)
{
    for (size_t i = 0; i < x->count; i++) {
        struct pythia__candidate *c = &x->candidates[i];
        if (!is_number_of_point(x, c, tracepoint))
            continue;
        size_t values = find_needed_values(x, c);
        int status = pythia_measured_unit(c->numbers, NULL, times, x->n, values, &c->unit);
        if (status == PYTHIA_OK && !c->unit)
            status = pythia_measured_unit(c->numbers, NULL, totals, x->n, values, &c->unit);
        if (status != PYTHIA_OK)
            return status;
    }
    for (size_t i = 0; i < x->count; i++)
        for (size_t k = i + 1; k < x->count; k++) {
            struct pythia__candidate *a = &x->candidates[i], *b = &x->candidates[k];
            if (!is_number_of_point(x, a, tracepoint) || !is_number_of_point(x, b, tracepoint))
                continue;
            int status = mark_pair(x, a, b, times);
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

int pythia__measured_mark(struct pythia__explainer *x, const double *totals)
{
    double *times = pythia_calloc(x->n + 1, sizeof(*times));
    int status = times ? PYTHIA_OK : PYTHIA_ENOMEM;
    /* From here on by trace point: its numbers were looked at. */
    memset(x->places, 0, pythia_vocabulary_tracepoints(x->vocabulary) * sizeof(*x->places));
    for (size_t i = 0; i < x->count && status == PYTHIA_OK; i++) {
        const struct pythia__candidate *c = &x->candidates[i];
        uint32_t tracepoint =
            c->key == PYTHIA_NONE ? PYTHIA_NONE : pythia_keys_tracepoint(x->keys, c->key);
        if (tracepoint == PYTHIA_NONE || c->kind != PYTHIA_KEY_NUMERIC || x->places[tracepoint])
            continue;
        x->places[tracepoint] = 1;
        find_point_times(x, tracepoint, times);
        status = mark_measured(x, tracepoint, times, totals);
    }
    pythia_free(times);
    return status;
}
