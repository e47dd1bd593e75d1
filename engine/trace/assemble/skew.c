/* The best calls of each pair of processes in each interval of time are kept; offsets and drifts
 * of all clocks are then the least squares solution over all pairs at once. */
#include "pythia/skew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

#define SLOTS      32
#define SLOT_BITS  23 /* of ns: stretches of 8 ms to begin with */
#define PAIRS_MAX  65536
#define LEAST_NS   1000.0 /* of a way: clocks are no better than that */
#define DRIFT_SD   1e-4
#define ITERATIONS 400
#define CLOSE      1e-12 /* of the first residual */

/* The call of a stretch that was shortest on its way. */
struct slot {
    double way_ns, ahead_ns; /* way_ns < 0: there is none */
    uint64_t at_ns;
};

/* Two processes, the one with the smaller number first; how far the second is ahead. Stretches have
 * 2^bits ns and begin at multiples of that, so that they are the same whatever comes first. */
struct pair {
    uint32_t first, second;
    int bits;
    uint64_t from; /* number of the first stretch */
    struct slot slots[SLOTS];
    uint64_t calls;
    double least_ns;
};

struct clock {
    struct pythia_skew_clock shown;
    uint32_t group; /* the first process of those that are connected */
    bool known;
};

struct pythia_skew {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_strtab *ids;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    uint64_t impossible, beyond;
    struct clock *clocks; /* by resource */
    size_t clock_capacity;
    struct pythia_skew_clock *shown;
    size_t shown_count, shown_capacity;
    double middle_ns, half_ns; /* of the time in which calls were made */
    uint64_t base_ns;
};

int pythia_skew_create(const struct pythia_vocabulary *vocabulary, struct pythia_skew **out)
{
    struct pythia_skew *s = pythia_calloc(1, sizeof(*s));
    if (!s || pythia_strtab_create(&s->ids) != PYTHIA_OK) {
        pythia_free(s);
        return PYTHIA_ENOMEM;
    }
    s->vocabulary = vocabulary;
    *out = s;
    return PYTHIA_OK;
}

void pythia_skew_destroy(struct pythia_skew *s)
{
    if (!s)
        return;
    pythia_strtab_destroy(s->ids);
    pythia_free(s->pairs);
    pythia_free(s->clocks);
    pythia_free(s->shown);
    pythia_free(s);
}

static void clear_pair(struct pair *p)
{
    *p = (struct pair){.first = p->first, .second = p->second, .bits = SLOT_BITS};
    p->least_ns = INFINITY;
    for (int i = 0; i < SLOTS; i++)
        p->slots[i].way_ns = -1;
}

void pythia_skew_clear(struct pythia_skew *s)
{
    for (size_t i = 0; i < s->pair_count; i++)
        clear_pair(&s->pairs[i]);
    s->impossible = s->beyond = 0;
}

/* ---- calls ---- */

/* An order that does not depend on the input: the shortest, then the earliest, then the smaller
 * number. */
static bool is_better_sample(const struct slot *a, const struct slot *b)
{
    if (b->way_ns < 0 || a->way_ns != b->way_ns)
        return b->way_ns < 0 || a->way_ns < b->way_ns;
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->ahead_ns < b->ahead_ns;
}

/* Stretches of twice the length. */
static void double_stretches(struct pair *p)
{
    struct slot old[SLOTS];
    uint64_t from = p->from >> 1;
    /* Twice as long is half as many, so that the old ones always fit; of each two the better sample
     * stays. */
    memcpy(old, p->slots, sizeof(old));
    for (int i = 0; i < SLOTS; i++)
        p->slots[i].way_ns = -1;
    for (uint64_t i = 0; i < SLOTS; i++) {
        struct slot *to = &p->slots[((p->from + i) >> 1) - from];
        if (old[i].way_ns >= 0 && is_better_sample(&old[i], to))
            *to = old[i];
    }
    p->from = from;
    p->bits++;
}

/* Make the stretch of `at_ns` one of those that there is room for. */
static struct slot *reach_slot(struct pair *p, uint64_t at_ns)
{
    if (p->calls == 0)
        p->from = at_ns >> p->bits;
    for (;;) {
        uint64_t number = at_ns >> p->bits;
        if (number >= p->from && number - p->from < SLOTS)
            return &p->slots[number - p->from];
        uint64_t last = p->from;
        for (uint64_t i = 0; i < SLOTS; i++)
            last = p->slots[i].way_ns >= 0 ? p->from + i : last;
        if (number < p->from && last - number < SLOTS) { /* earlier, and there is room behind */
            uint64_t by = p->from - number;
            for (uint64_t i = SLOTS; i-- > 0;)
                p->slots[i] = i >= by ? p->slots[i - by] : (struct slot){-1, 0, 0};
            p->from = number;
        } else {
            double_stretches(p);
        }
    }
}

static struct pair *reach_process_pair(struct pythia_skew *s, uint32_t first, uint32_t second)
{
    uint32_t key[2] = {first, second};
    struct pythia_text text = {(const char *)key, sizeof(key)};
    /* Beyond the limit known pairs are still counted: a hostile sender of names must not stop the
     * clocks that are in use. */
    uint32_t index = s->pair_count < PAIRS_MAX ? pythia_strtab_intern(s->ids, text)
                                               : pythia_strtab_find(s->ids, text);
    if (index == PYTHIA_STRTAB_NONE ||
        pythia_reach(&s->pairs, &s->pair_capacity, index, sizeof(*s->pairs)) != PYTHIA_OK)
        return NULL;
    if (index >= s->pair_count) {
        s->pair_count = index + 1;
        s->pairs[index] = (struct pair){.first = first, .second = second};
        clear_pair(&s->pairs[index]);
    }
    return &s->pairs[index];
}

int pythia_skew_add(struct pythia_skew *s, uint32_t client, uint32_t server, uint64_t sent_ns,
                    uint64_t answered_ns, uint64_t arrived_ns, uint64_t left_ns)
{
    double waited = (double)(answered_ns - sent_ns), worked = (double)(left_ns - arrived_ns);
    if (client == server)
        return PYTHIA_OK;
    /* A server cannot work longer than its client waits: such a call says nothing of the clocks
     * and is only counted. */
    if (answered_ns < sent_ns || left_ns < arrived_ns || worked > waited) {
        s->impossible++;
        return PYTHIA_OK;
    }
    bool swapped = client > server;
    bool full = s->pair_count >= PAIRS_MAX;
    struct pair *p =
        swapped ? reach_process_pair(s, server, client) : reach_process_pair(s, client, server);
    if (!p) {
        s->beyond += full;
        return full ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    /* The estimate of NTP: the offset is exact if both ways took equally long, and wrong by at
     * most half of the time on the way. Calls with little of it are preferred below. */
    double ahead =
        ((double)(int64_t)(arrived_ns - sent_ns) + (double)(int64_t)(left_ns - answered_ns)) / 2;
    struct slot call = {waited - worked, swapped ? -ahead : ahead, sent_ns};
    struct slot *slot = reach_slot(p, sent_ns);
    if (is_better_sample(&call, slot))
        *slot = call;
    p->calls++;
    p->least_ns = fmin(p->least_ns, call.way_ns);
    return PYTHIA_OK;
}

/* ---- clocks ---- */

static uint32_t find_clock_group(const struct pythia_skew *s, uint32_t process)
{
    while (s->clocks[process].group != process)
        process = s->clocks[process].group;
    return process;
}

static int compare_process_names(const struct pythia_vocabulary *v, uint32_t a, uint32_t b)
{
    struct pythia_resource x = pythia_vocabulary_resource_at(v, a),
                           y = pythia_vocabulary_resource_at(v, b);
    int order = pythia_text_compare(pythia_vocabulary_text(v, x.service),
                                    pythia_vocabulary_text(v, y.service));
    if (order == 0)
        order = pythia_text_compare(pythia_vocabulary_text(v, x.host),
                                    pythia_vocabulary_text(v, y.host));
    if (order == 0)
        order = pythia_text_compare(pythia_vocabulary_text(v, x.instance),
                                    pythia_vocabulary_text(v, y.instance));
    return order ? order : (a > b) - (a < b);
}

/* Who can be compared with whom: each group has its first process by name as its reference. */
static int find_groups(struct pythia_skew *s)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < s->clock_capacity; i++)
        s->clocks[i] = (struct clock){.group = (uint32_t)i};
    for (size_t i = 0; i < s->pair_count; i++) {
        struct pair *p = &s->pairs[i];
        size_t before = s->clock_capacity;
        uint32_t most = p->second; /* the larger number */
        if (p->calls == 0)
            continue;
        if (pythia_reach(&s->clocks, &s->clock_capacity, most, sizeof(*s->clocks)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        for (size_t k = before; k < s->clock_capacity; k++)
            s->clocks[k].group = (uint32_t)k;
        const uint32_t ends[2] = {p->first, p->second};
        for (int k = 0; k < 2; k++) {
            struct pythia_skew_clock *c = &s->clocks[ends[k]].shown;
            c->error_ns =
                s->clocks[ends[k]].known ? fmin(c->error_ns, p->least_ns / 2) : p->least_ns / 2;
            c->calls += p->calls;
            s->clocks[ends[k]].known = true;
        }
        for (int k = 0; k < SLOTS; k++)
            if (p->slots[k].way_ns >= 0) {
                first = p->slots[k].at_ns < first ? p->slots[k].at_ns : first;
                last = p->slots[k].at_ns > last ? p->slots[k].at_ns : last;
            }
        /* The name decides and not the order of the pairs: the reference, from which all offsets
         * are counted, stays the same from run to run. */
        uint32_t a = find_clock_group(s, p->first), b = find_clock_group(s, p->second);
        if (a != b && compare_process_names(s->vocabulary, a, b) < 0)
            s->clocks[b].group = a;
        else if (a != b)
            s->clocks[a].group = b;
    }
    /* Times are scaled around the middle, where offset and drift are least correlated, so that the
     * solver needs few steps. */
    s->base_ns = first == UINT64_MAX ? 0 : first;
    s->half_ns = first < last ? (double)(last - first) / 2 : 1;
    s->middle_ns = s->half_ns;
    return PYTHIA_OK;
}

/* From -1 to 1 over the time in which calls were made. */
static double scale_time(const struct pythia_skew *s, uint64_t at_ns)
{
    return ((double)(int64_t)(at_ns - s->base_ns) - s->middle_ns) / s->half_ns;
}

/* The unknowns: of process i, x[2i] its offset, and x[2i + 1] what it gains over half of the time.
 * `out` = the matrix of the normal equations by `x`; with `right`, that of their right side. A
 * reference has no unknowns: its rows are those of the identity. */
static void multiply_normal_matrix(const struct pythia_skew *s, const double *x, double *out,
                                   bool right)
{
    /* Without it a clock with few calls would get any drift that fits their noise. */
    double prior = 1 / (DRIFT_SD * s->half_ns * DRIFT_SD * s->half_ns);
    for (size_t i = 0; i < s->clock_capacity; i++) {
        out[2 * i] = right ? 0 : 1e-30 * x[2 * i];
        out[2 * i + 1] = right ? 0 : prior * x[2 * i + 1];
    }
    for (size_t i = 0; i < s->pair_count; i++) {
        const struct pair *p = &s->pairs[i];
        size_t a = 2 * (size_t)p->first, b = 2 * (size_t)p->second;
        for (int k = 0; k < SLOTS && p->calls > 0; k++) {
            const struct slot *slot = &p->slots[k];
            if (slot->way_ns < 0)
                continue;
            /* A call says the difference of two clocks to within half of the time its messages
             * took: that is its standard deviation. */
            double at = scale_time(s, slot->at_ns), sd = fmax(slot->way_ns, LEAST_NS) / 2;
            double value = right ? slot->ahead_ns : x[b] + at * x[b + 1] - x[a] - at * x[a + 1];
            value /= sd * sd;
            out[b] += value;
            out[b + 1] += at * value;
            out[a] -= value;
            out[a + 1] -= at * value;
        }
    }
    for (size_t i = 0; i < s->clock_capacity; i++)
        /* Differences alone leave one clock of each group free. */
        if (s->clocks[i].group == i || !s->clocks[i].known)
            for (size_t k = 2 * i; k < 2 * i + 2; k++)
                out[k] = right ? 0 : x[k];
}

/* The diagonal of that matrix. */
static void find_diagonal(const struct pythia_skew *s, double *out)
{
    double prior = 1 / (DRIFT_SD * s->half_ns * DRIFT_SD * s->half_ns);
    for (size_t i = 0; i < s->clock_capacity; i++) {
        out[2 * i] = 1e-30;
        out[2 * i + 1] = prior;
    }
    for (size_t i = 0; i < s->pair_count; i++)
        for (int k = 0; k < SLOTS && s->pairs[i].calls > 0; k++) {
            const struct slot *slot = &s->pairs[i].slots[k];
            const uint32_t ends[2] = {s->pairs[i].first, s->pairs[i].second};
            double at = scale_time(s, slot->at_ns), sd = fmax(slot->way_ns, LEAST_NS) / 2;
            /* A call ties the clocks of its two ends, the tighter the shorter its way was. */
            for (int e = 0; e < 2 && slot->way_ns >= 0; e++) {
                out[2 * (size_t)ends[e]] += 1 / (sd * sd);
                out[2 * (size_t)ends[e] + 1] += at * at / (sd * sd);
            }
        }
    for (size_t i = 0; i < s->clock_capacity; i++)
        if (s->clocks[i].group == i || !s->clocks[i].known)
            out[2 * i] = out[2 * i + 1] = 1;
}

static double multiply_vectors(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Conjugate gradients, scaled by the diagonal (Hestenes and Stiefel, "Methods of Conjugate
 * Gradients for Solving Linear Systems", J. Res. NBS 49(6), 1952). */
static void solve_conjugate_gradients(const struct pythia_skew *s, double *room, size_t n)
{
    double *x = room, *r = room + n, *z = r + n, *d = z + n, *q = d + n, *diagonal = q + n;
    find_diagonal(s, diagonal);
    multiply_normal_matrix(s, NULL, r, true);
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
        d[i] = z[i] = r[i] / diagonal[i];
    }
    double rho = multiply_vectors(r, z, n), first = rho;
    /* The matrix is never stored: it has an entry only for pairs of processes that call each other,
     * and there may be thousands of processes. */
    for (int step = 0; step < ITERATIONS && rho > CLOSE * CLOSE * first; step++) {
        multiply_normal_matrix(s, d, q, false);
        double alpha = rho / multiply_vectors(d, q, n);
        for (size_t i = 0; i < n; i++) {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
            z[i] = r[i] / diagonal[i];
        }
        double next = multiply_vectors(r, z, n);
        for (size_t i = 0; i < n; i++)
            d[i] = z[i] + next / rho * d[i];
        rho = next;
    }
}

/* In order of name: a list of few, which is inserted into. */
static int list_clocks(struct pythia_skew *s)
{
    s->shown_count = 0;
    for (size_t i = 0; i < s->clock_capacity; i++) {
        if (!s->clocks[i].known)
            continue;
        if (pythia_grow(&s->shown, &s->shown_capacity, s->shown_count, sizeof(*s->shown)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        size_t at = s->shown_count++;
        while (at > 0 &&
               compare_process_names(s->vocabulary, s->shown[at - 1].process, (uint32_t)i) > 0) {
            s->shown[at] = s->shown[at - 1];
            at--;
        }
        s->shown[at] = s->clocks[i].shown;
    }
    return PYTHIA_OK;
}

int pythia_skew_solve(struct pythia_skew *s)
{
    if (find_groups(s) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    size_t n = 2 * s->clock_capacity;
    double *room = pythia_calloc(6 * n + 1, sizeof(*room));
    if (!room)
        return PYTHIA_ENOMEM;
    /* Least squares over all pairs instead of a chain of offsets: a chain adds up the errors
     * along it, and its result depends on the order of the pairs. */
    if (n > 0)
        solve_conjugate_gradients(s, room, n);
    for (size_t i = 0; i < s->clock_capacity; i++) {
        struct pythia_skew_clock *c = &s->clocks[i].shown;
        c->process = (uint32_t)i;
        c->reference = find_clock_group(s, (uint32_t)i);
        c->offset_ns = room[2 * i];
        c->drift = room[2 * i + 1] / s->half_ns;
        if (c->reference == i)
            c->error_ns = NAN;
    }
    pythia_free(room);
    return list_clocks(s);
}

const struct pythia_skew_clock *pythia_skew_clocks(const struct pythia_skew *s, size_t *count)
{
    *count = s->shown_count;
    return s->shown;
}

double pythia_skew_offset_ns(const struct pythia_skew *s, uint32_t process, uint64_t at_ns)
{
    if (process >= s->clock_capacity || !s->clocks[process].known)
        return 0;
    const struct pythia_skew_clock *c = &s->clocks[process].shown;
    return c->offset_ns + c->drift * s->half_ns * scale_time(s, at_ns);
}

void pythia_skew_left_out(const struct pythia_skew *s, uint64_t *impossible, uint64_t *beyond)
{
    *impossible = s->impossible;
    *beyond = s->beyond;
}
