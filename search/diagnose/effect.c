/* The requests are measured once as they are seen, with the point, and the stretch that they would
 * show without it is the sum of parts. What the point explains is the difference between both. */
#include "pythia/effect.h"

#include <math.h>
#include <string.h>

#include "pythia/dispersion.h"
#include "pythia/mem.h"
#include "pythia/shares.h"
#include "pythia/status.h"

#define MATRIX_MAX ((size_t)1024 * 1024) /* numbers, as in rank.c */
#define TENTH      .1  /* of a share, a variance or a time: what is less is not worth a point */
#define LEAST      .03 /* the share of a stretch that is worth a point: that of a cause */
#define COUNTS_MAX 32u /* passes that are told apart with loops not folded, the last: or more */

/* The relation of a segment to a point. */
struct tie {
    uint32_t effect, part;
    bool inside;       /* the part is in a span of it */
    bool touches;      /* it begins or ends with an event of it */
    bool starts, ends; /* it begins with the start of it (or the point in time), with the end */
};

struct measuring {
    const struct pythia_refinement *r;
    const struct pythia_effect_options *o;
    const struct pythia_cct *cct;
    const struct pythia_refinement_part *parts;
    uint32_t part_count;
    size_t n; /* rows */
    /* Columns of matrices; what begins before the coarser path, or ends behind it, is in no
     * stretch: PYTHIA_NONE. */
    uint32_t *stretch, *column; /* by part */
    uint32_t *edges;            /* by stretch */
    size_t stretches, columns;
    double *coarse_ns, *fine_ns; /* [column * n + row] */
    uint32_t *visits;            /* to the finer edge, as fine_ns */
    double *clipped, *total;     /* of finer edges, and their sum */
    struct pythia_share *coarse, *fine;
    struct tie *ties; /* by effect, from first[effect] on */
    size_t tie_count, tie_capacity;
    uint32_t *first;
};

const char *pythia_effect_verdict_name(enum pythia_effect_verdict verdict)
{
    static const char *const names[] = {"explains", "does_not_pay", "not_passed", "too_few"};
    return names[verdict];
}

/* ---- matrices ---- */

static int find_effect_columns(struct measuring *m)
{
    m->parts = pythia_refinement_parts(m->r, &m->part_count);
    m->stretch = pythia_calloc(m->part_count, sizeof(*m->stretch));
    m->column = pythia_calloc(m->part_count, sizeof(*m->column));
    m->edges = pythia_calloc(m->part_count, sizeof(*m->edges));
    if (!m->stretch || !m->column || !m->edges)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < m->part_count; i++) { /* parts of a stretch follow each other */
        bool of_stretch = m->parts[i].coarse != PYTHIA_NONE;
        if (of_stretch && (m->stretches == 0 || m->edges[m->stretches - 1] != m->parts[i].coarse))
            m->edges[m->stretches++] = m->parts[i].coarse;
        m->stretch[i] = of_stretch ? (uint32_t)m->stretches - 1 : PYTHIA_NONE;
        m->column[i] = m->parts[i].fine == PYTHIA_NONE ? PYTHIA_NONE : (uint32_t)m->columns++;
    }
    m->n = pythia_refinement_rows(m->r);
    if (m->columns > 0 && m->n > MATRIX_MAX / m->columns)
        m->n = MATRIX_MAX / m->columns;
    return PYTHIA_OK;
}

static int fill_effect_matrix(struct measuring *m)
{
    size_t n = m->n;
    m->coarse_ns = pythia_calloc(m->stretches * n, sizeof(double));
    m->fine_ns = pythia_calloc(m->columns * n, sizeof(double));
    m->clipped = pythia_calloc(m->columns * n, sizeof(double));
    m->visits = pythia_calloc(m->columns * n, sizeof(*m->visits));
    m->total = pythia_calloc(n, sizeof(double));
    m->coarse = pythia_calloc(m->stretches, sizeof(*m->coarse));
    m->fine = pythia_calloc(m->columns, sizeof(*m->fine));
    if (!m->coarse_ns || !m->fine_ns || !m->clipped || !m->visits || !m->total || !m->coarse ||
        !m->fine)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_refined *row = pythia_refinement_row(m->r, i);
        for (uint32_t k = 0; k < row->count; k++) {
            const struct pythia_refined_time *t = &row->times[k];
            uint32_t stretch = m->stretch[t->part], column = m->column[t->part];
            if (stretch != PYTHIA_NONE)
                /* Several fine segments lie in one coarse segment, so coarse times add up,
                 * whereas each fine column has one segment. */
                m->coarse_ns[stretch * n + i] += (double)t->time_ns;
            if (column != PYTHIA_NONE) {
                m->fine_ns[column * n + i] = (double)t->time_ns;
                m->visits[column * n + i] = t->visits;
            }
        }
    }
    return PYTHIA_OK;
}

static int share_effect_variance(struct measuring *m)
{
    struct pythia_share_options how = PYTHIA_SHARE_OPTIONS_DEFAULT;
    how.level = m->o->level;
    if (m->stretches == 0 || m->columns == 0)
        return PYTHIA_OK;
    int status = pythia_shares(m->coarse_ns, m->n, m->stretches, &how, m->coarse);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_shares(m->fine_ns, m->n, m->columns, &how, m->fine);
    if (status != PYTHIA_OK)
        return status;
    memcpy(m->clipped, m->fine_ns, m->columns * m->n * sizeof(double));
    for (size_t c = 0; c < m->columns; c++) {
        /* Inside times are sums of clipped parts: then their shares add up to that of the whole. */
        pythia_winsorise(m->clipped + c * m->n, m->n, how.clip_top, how.clip_bottom);
        for (size_t i = 0; i < m->n; i++)
            m->total[i] += m->clipped[c * m->n + i];
    }
    return PYTHIA_OK;
}

/* ---- which parts have to do with which points ---- */

/* Note what a part, whose ties so far begin at `from`, has to do with a trace point. `effects` is
 * index + 1 by trace point. */
static int tie_part_to_point(struct measuring *m, const uint32_t *effects, size_t from,
                             uint32_t tracepoint, struct tie what)
{
    if (tracepoint == PYTHIA_NONE || effects[tracepoint] == 0)
        return PYTHIA_OK;
    what.effect = effects[tracepoint] - 1;
    size_t at = from;
    /* A part has ties with the few points of its own context: a list is faster than a table. */
    while (at < m->tie_count && m->ties[at].effect != what.effect)
        at++;
    if (at < m->tie_count) {
        struct tie *known = &m->ties[at];
        known->inside = known->inside || what.inside;
        known->touches = known->touches || what.touches;
        known->starts = known->starts || what.starts;
        known->ends = known->ends || what.ends;
        return PYTHIA_OK;
    }
    if (pythia_grow(&m->ties, &m->tie_capacity, m->tie_count, sizeof(*m->ties)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    m->ties[m->tie_count++] = what;
    return PYTHIA_OK;
}

static int tie_part(struct measuring *m, const uint32_t *effects, uint32_t part)
{
    const struct pythia_edge *edge = pythia_cct_edge_at(m->cct, m->parts[part].fine);
    size_t from = m->tie_count;
    /* A part that begins at the end of a span lies after it, not in it. */
    bool ended = edge->from_event == PYTHIA_EVENT_END;
    struct tie left = {.part = part, .touches = true, .starts = !ended, .ends = ended},
               reached = {.part = part, .touches = true}, inside = {.part = part, .inside = true};
    int status = tie_part_to_point(m, effects, from, edge->from_tracepoint, left);
    if (status != PYTHIA_OK)
        return status;
    status = tie_part_to_point(m, effects, from, edge->to_tracepoint, reached);
    if (status != PYTHIA_OK)
        return status;
    for (uint32_t node = edge->context; node != PYTHIA_CCT_ROOT;
         node = pythia_cct_parent(m->cct, node)) {
        status = tie_part_to_point(m, effects, from, pythia_cct_tracepoint(m->cct, node), inside);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Put the ties of each effect together, in order of part: by counting. */
static int sort_ties(struct measuring *m, size_t count)
{
    struct tie *sorted = pythia_calloc(m->tie_count, sizeof(*sorted));
    m->first = pythia_calloc(count + 2, sizeof(*m->first));
    if (!sorted || !m->first) {
        pythia_free(sorted);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < m->tie_count; i++)
        /* Counting by effect, shifted by two: after the second pass first[e] is where effect e
         * begins. */
        m->first[m->ties[i].effect + 2]++;
    for (size_t e = 2; e < count + 2; e++)
        m->first[e] += m->first[e - 1];
    for (size_t i = 0; i < m->tie_count; i++)
        sorted[m->first[m->ties[i].effect + 1]++] = m->ties[i];
    pythia_free(m->ties);
    m->ties = sorted;
    return PYTHIA_OK;
}

static int find_ties(struct measuring *m, const struct pythia_effect *effects, size_t count)
{
    uint32_t points = pythia_vocabulary_tracepoints(pythia_cct_vocabulary(m->cct));
    uint32_t *index = pythia_calloc(points, sizeof(*index));
    int status = PYTHIA_OK;
    if (!index)
        return PYTHIA_ENOMEM;
    for (size_t e = 0; e < count; e++)
        index[effects[e].tracepoint] = (uint32_t)e + 1;
    for (uint32_t i = 0; i < m->part_count; i++) {
        /* Requests left the part out: it has no column in the matrix. */
        if (m->stretch[i] == PYTHIA_NONE || m->column[i] == PYTHIA_NONE)
            continue;
        status = tie_part(m, index, i);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = sort_ties(m, count);
out:
    pythia_free(index);
    return status;
}

/* ---- one point ---- */

static struct pythia_finding finding_of(const struct measuring *m, uint32_t edge,
                                        const struct pythia_share *share)
{
    return (struct pythia_finding){pythia_place_of(m->cct, edge), share->share, share->low,
                                   share->high};
}

/* Find the segment with the largest share among those that the point has an event in. */
static uint32_t choose_stretch(const struct measuring *m, const struct tie *ties, size_t count)
{
    uint32_t best = PYTHIA_NONE;
    for (size_t i = 0; i < count; i++) {
        uint32_t stretch = m->stretch[ties[i].part];
        if (ties[i].touches &&
            (best == PYTHIA_NONE || m->coarse[stretch].share > m->coarse[best].share))
            best = stretch;
    }
    return best;
}

/* The part with the largest share of a stretch. */
static uint32_t largest_part(const struct measuring *m, uint32_t stretch)
{
    uint32_t best = PYTHIA_NONE;
    for (uint32_t i = 0; i < m->part_count; i++)
        if (m->stretch[i] == stretch && m->column[i] != PYTHIA_NONE &&
            (best == PYTHIA_NONE || m->fine[m->column[i]].share > m->fine[m->column[best]].share))
            best = i;
    return best;
}

/* The share of the time inside of the point's spans: of clipped times, so that it is the sum of the
 * shares of the parts. */
static void measure_inside(const struct measuring *m, const struct tie *ties, size_t count,
                           uint32_t stretch, double *sum, struct pythia_effect *e)
{
    bool any = false;
    struct pythia_slope slope;
    memset(sum, 0, m->n * sizeof(*sum));
    for (size_t i = 0; i < count; i++) {
        if (!ties[i].inside || m->stretch[ties[i].part] != stretch)
            continue;
        const double *times = m->clipped + m->column[ties[i].part] * m->n;
        any = true;
        for (size_t k = 0; k < m->n; k++)
            sum[k] += times[k];
    }
    /* The point has no time of its own there: NaN stays, which is not the same as 0. */
    if (!any)
        return;
    pythia_slope_hc3(sum, m->total, m->n, m->o->level, &slope);
    e->inside = slope.slope;
    e->inside_low = slope.low;
    e->inside_high = slope.high;
}

/* Hits of the point in the segment: its spans that begin there, or end there if they began
 * before it. */
static void count_passes(const struct measuring *m, const struct tie *ties, size_t count,
                         uint32_t stretch, uint32_t *passes)
{
    uint32_t *ends = passes + m->n;
    memset(passes, 0, 2 * m->n * sizeof(*passes));
    for (size_t i = 0; i < count; i++) {
        const uint32_t *visits = m->visits + m->column[ties[i].part] * m->n;
        if (m->stretch[ties[i].part] != stretch || !(ties[i].starts || ties[i].ends))
            continue;
        for (size_t k = 0; k < m->n; k++)
            *(ties[i].starts ? &passes[k] : &ends[k]) += visits[k];
    }
    for (size_t k = 0; k < m->n; k++)
        passes[k] = passes[k] > ends[k] ? passes[k] : ends[k];
}

/* The share of the variance of the segment's time that lies between requests that hit the point
 * in it and requests that do not. */
static int measure_split(const struct measuring *m, const struct tie *ties, size_t count,
                         uint32_t stretch, uint32_t *passes, struct pythia_effect *e)
{
    const double *times = m->coarse_ns + stretch * m->n;
    struct pythia_test_result test = {.effect = NAN, .p = NAN};
    bool several = false, vary = false;
    count_passes(m, ties, count, stretch, passes);
    for (size_t k = 0; k < m->n; k++) {
        e->passed += passes[k] > 0;
        /* Folded, only whether a request hit the point counts; else how often, up to a bound that
         * keeps the groups few. */
        uint32_t most = m->o->fold ? 1 : COUNTS_MAX - 1;
        passes[k] = passes[k] < most ? passes[k] : most;
        several = several || passes[k] != passes[0];
        vary = vary || times[k] != times[0];
    }
    int status =
        several ? pythia_dispersion_anova(times, passes, m->n, COUNTS_MAX, &test) : PYTHIA_OK;
    e->eta_squared = several || !vary ? test.effect : 0;
    e->p = several || !vary ? test.p : 1;
    return status;
}

/* Is the point at one end of the part with most of the share, and what that part leaves out of the
 * stretch worth mentioning? */
static bool narrows_segment(const struct measuring *m, const struct tie *ties, size_t count,
                            uint32_t stretch, uint32_t largest)
{
    const struct pythia_share *whole = &m->coarse[stretch], *part = &m->fine[m->column[largest]];
    bool touches = false;
    for (size_t i = 0; i < count; i++)
        touches = touches || (ties[i].touches && ties[i].part == largest);
    return touches && part->low > 0 && part->share >= whole->share / 2 &&
           part->mean <= (1 - TENTH) * whole->mean;
}

static int measure_point(const struct measuring *m, size_t number, double *sum, uint32_t *passes,
                         struct pythia_effect *e)
{
    const struct tie *ties = m->ties + m->first[number];
    size_t count = m->first[number + 1] - m->first[number];
    uint32_t stretch = choose_stretch(m, ties, count);
    if (stretch == PYTHIA_NONE) {
        e->verdict = PYTHIA_EFFECT_NOT_PASSED;
        return PYTHIA_OK;
    }
    uint32_t largest = largest_part(m, stretch);
    e->coarse = finding_of(m, m->edges[stretch], &m->coarse[stretch]);
    e->fine = finding_of(m, m->parts[largest].fine, &m->fine[m->column[largest]]);
    measure_inside(m, ties, count, stretch, sum, e);
    int status = measure_split(m, ties, count, stretch, passes, e);
    /* A point in a stretch that hardly varies explains nothing, however well it divides it. */
    bool matters = e->coarse.share >= LEAST && e->coarse.low > 0;
    e->by_inside = matters && e->inside_low > 0 && e->inside >= TENTH * e->coarse.share;
    e->by_part = matters && narrows_segment(m, ties, count, stretch, largest);
    e->by_split = matters && e->eta_squared >= TENTH && e->p <= 1 - m->o->level;
    e->verdict = e->by_inside || e->by_part || e->by_split ? PYTHIA_EFFECT_EXPLAINS
                                                           : PYTHIA_EFFECT_DOES_NOT_PAY;
    return status;
}

static void clear_effect(const struct measuring *m, struct pythia_effect *e)
{
    const struct pythia_finding nothing = {.place = {.context = PYTHIA_NONE,
                                                     .from_tracepoint = PYTHIA_NONE,
                                                     .to_tracepoint = PYTHIA_NONE},
                                           .share = NAN,
                                           .low = NAN,
                                           .high = NAN};
    *e = (struct pythia_effect){.tracepoint = e->tracepoint,
                                .type = e->type,
                                .opened = e->opened,
                                .requests = m->n,
                                .coarse = nothing,
                                .fine = nothing,
                                .inside = NAN,
                                .inside_low = NAN,
                                .inside_high = NAN,
                                .eta_squared = NAN,
                                .p = NAN,
                                /* Start with the weakest verdict: an effect that no later step
                                 * measures must not look like "no effect". */
                                .verdict = PYTHIA_EFFECT_TOO_FEW};
    for (size_t i = 0; i < m->n; i++)
        e->rerouted += pythia_refinement_row(m->r, i)->rerouted;
}

/* Measure all points with matrices that are made once: shares are of all edges together, whichever
 * point is asked for. */
static int measure_points(struct measuring *m, struct pythia_effect *effects, size_t count)
{
    double *sum = pythia_calloc(m->n, sizeof(*sum));
    uint32_t *passes = pythia_calloc(2 * m->n, sizeof(*passes));
    /* One pair of scratch arrays serves all points. */
    int status = PYTHIA_ENOMEM;
    if (!sum || !passes)
        goto out;
    status = fill_effect_matrix(m);
    if (status != PYTHIA_OK)
        goto out;
    status = share_effect_variance(m);
    if (status != PYTHIA_OK)
        goto out;
    status = find_ties(m, effects, count);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t e = 0; e < count; e++) {
        status = measure_point(m, e, sum, passes, &effects[e]);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(sum);
    pythia_free(passes);
    return status;
}

int pythia_effect_measure(const struct pythia_refinement *r,
                          const struct pythia_effect_options *options,
                          struct pythia_effect *effects, size_t count)
{
    struct measuring m = {.r = r, .o = options, .cct = pythia_refinement_cct(r)};
    int status = find_effect_columns(&m);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t e = 0; e < count; e++)
        clear_effect(&m, &effects[e]);
    if (m.n > 0 && m.n >= options->min_requests)
        status = measure_points(&m, effects, count);
out:;
    /* Every step may have failed halfway; the arrays are NULL where it never began. */
    void *const owned[] = {m.stretch, m.column, m.edges,  m.coarse_ns, m.fine_ns, m.visits,
                           m.clipped, m.total,  m.coarse, m.fine,      m.ties,    m.first};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    return status;
}

/* ---- in words ---- */

static void add_percent(struct pythia_buf *to, double part)
{
    if (fabs(part) < .0005)
        pythia_buf_puts(to, part > 0 ? "< 0.1 %" : "0 %");
    else if (fabs(part) < .0995)
        pythia_buf_printf(to, "%.1f %%", 100 * part);
    else
        pythia_buf_printf(to, "%.0f %%", 100 * part);
}

/* "97 % of the variance (95 to 98 %)". A time that falls where the rest rises has a negative share:
 * it explains none of the variance. */
static void add_share_text(struct pythia_buf *to, double share, double low, double high)
{
    if (share <= 0) {
        pythia_buf_puts(to, "none of the variance");
        return;
    }
    add_percent(to, share);
    pythia_buf_puts(to, " of the variance");
    low = round(100 * low) + 0.; /* never -0 */
    high = round(100 * high) + 0.;
    if (isfinite(low) && isfinite(high) && low != high)
        pythia_buf_printf(to, " (%.0f to %.0f %%)", low, high);
}

void pythia_effect_add(struct pythia_buf *to, const struct pythia_vocabulary *v,
                       const struct pythia_effect *e, bool place)
{
    if (!isfinite(e->coarse.share) || !isfinite(e->fine.share))
        return;
    /* Say "inside it" only if that, and not one segment, is what the verdict is based on. */
    if (isfinite(e->inside) && (e->by_inside || !e->by_part)) {
        add_share_text(to, e->inside, e->inside_low, e->inside_high);
        pythia_buf_puts(to, " lies inside it, of ");
    } else {
        add_share_text(to, e->fine.share, e->fine.low, e->fine.high);
        pythia_buf_puts(to, " lies ");
        pythia_place_add(to, v, &e->fine.place);
        pythia_buf_puts(to, ", of ");
    }
    add_percent(to, e->coarse.share);
    pythia_buf_puts(to, place ? " " : " where it was opened");
    if (place)
        pythia_place_add(to, v, &e->coarse.place);
    if (e->by_split) {
        pythia_buf_puts(to, "; ");
        add_percent(to, e->eta_squared);
        pythia_buf_puts(to, " of what varies there correlates with whether it is hit");
    }
}
