/* The meaning of the figures of a comparison in words, which all formats share. */
#include <math.h>

#include "compare_forms.h"
#include "document/document_names.h"
#include "sentences/sentences.h"
#include "write/words.h"

double pythia__share_of_change(double part, double whole)
{
    return whole != 0 ? part / whole : NAN;
}

static bool is_certain(double q, double alpha)
{
    return q <= alpha; /* false for NaN */
}

bool pythia__edge_changed(const struct pythia_compared_edge *e, double alpha)
{
    return is_certain(e->mean_test.q, alpha) || is_certain(e->variance_test.q, alpha);
}

size_t pythia__count_changed_edges(const struct pythia_compared_type *t, double alpha)
{
    size_t changed = 0;
    for (size_t i = 0; i < t->edge_count; i++)
        changed += pythia__edge_changed(&t->edges[i], alpha);
    return changed;
}

bool pythia__path_changed(const struct pythia_compared_path *path, double alpha)
{
    return is_certain(path->count.q, alpha);
}

bool pythia__point_changed(const struct pythia_compared_point *point, double alpha)
{
    return is_certain(point->requests.q, alpha) || is_certain(point->visits_q, alpha) ||
           is_certain(point->failed.q, alpha);
}

static double alpha_of(const struct pythia_compare_source *s)
{
    return s->comparison->alpha;
}

/* "120 ms longer", "3.00 us shorter" */
static void say_longer(struct pythia__doc *d, double change_ns)
{
    pythia__doc_duration(d, fabs(change_ns));
    pythia__doc_words(d, change_ns < 0 ? " shorter" : " longer");
}

void pythia__say_relative(struct pythia__doc *d, double before, double after)
{
    struct pythia_buf text = {0};
    double part = after / before - 1;
    if (!isfinite(part))
        return;
    pythia_buf_puts(&text, part > 0 ? "+" : "");
    pythia__add_percent(&text, part);
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__say_chance(struct pythia__doc *d, double q)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "q ");
    pythia__add_chance(&text, q);
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__say_service(struct pythia__doc *d, const struct pythia_compare_source *s,
                         uint32_t service)
{
    struct pythia_text name = pythia_vocabulary_text(s->vocabulary, service);
    (void)pythia__doc_name(d, PYTHIA__DOC_KEY, name, name, name);
}

void pythia__say_compared_edge(struct pythia__doc *d, const struct pythia_compare_source *s,
                               const struct pythia_compared_edge *e)
{
    struct pythia_place place = pythia_place_of(s->comparison->cct, e->edge);
    pythia__doc_place_phrase(d, s->vocabulary, &place);
    if (e->service == 0)
        return;
    pythia__doc_words(d, e->common  ? ", as in other waits of service "
                         : e->waits ? ", waiting for service "
                                    : ", of service ");
    pythia__say_service(d, s, e->service);
}

/* ---- edges ---- */

const struct pythia_compared_edge *pythia__find_telling_edge(const struct pythia_compared_type *t,
                                                             bool variance, double alpha)
{
    const struct pythia_certain *whole = variance ? &t->variance_test : &t->mean_test;
    const struct pythia_compared_edge *best = NULL;
    double most = 0, direction = whole->clipped.change < 0 ? -1 : 1;
    for (size_t i = 0; i < t->edge_count; i++) {
        const struct pythia_certain *test =
            variance ? &t->edges[i].variance_test : &t->edges[i].mean_test;
        double bound = direction * (direction < 0 ? test->clipped.high : test->clipped.low);
        if (is_certain(test->q, alpha) && bound > most) {
            most = bound;
            best = &t->edges[i];
        }
    }
    return best;
}

void pythia__say_compared_type(struct pythia__doc *d, const struct pythia_compare_source *s,
                               const struct pythia_compared_type *t)
{
    const struct pythia_cct *cct = s->comparison->cct;
    const struct pythia_compared_edge *e = pythia__find_telling_edge(t, false, alpha_of(s));
    uint32_t context = e ? pythia_cct_edge_at(cct, e->edge)->context : PYTHIA_CCT_ROOT,
             root = PYTHIA_NONE;
    if (context != PYTHIA_CCT_ROOT)
        root = pythia_cct_tracepoint(cct, pythia_cct_ancestor(cct, context, 1));
    pythia__doc_type(d, s->vocabulary, t->after ? t->after : t->before, root);
}

static void say_where(struct pythia__doc *d, const struct pythia_compare_source *s,
                      const struct pythia_compared_type *t, bool variance)
{
    const struct pythia_compared_edge *e = pythia__find_telling_edge(t, variance, alpha_of(s));
    if (!e) {
        pythia__doc_words(d, " No single edge stands out.");
        return;
    }
    double share = variance ? pythia__share_of_change(e->variance.change, t->sample_variance.change)
                            : pythia__share_of_change(e->mean.change, t->sample_mean.change);
    pythia__doc_words(d, " ");
    if (share > 1.005) {
        pythia__doc_words(d, "More than all of that");
    } else if (share > 0) {
        pythia__doc_words(d, share < .5 ? "The most significant part, " : "");
        pythia__doc_percent(d, share);
        pythia__doc_words(d, share < .5 ? "," : " of that");
    } else {
        pythia__doc_words(d, "The most significant part"); /* a few requests turn the sum around */
    }
    pythia__doc_words(d, " is the time ");
    pythia__say_compared_edge(d, s, e);
    pythia__doc_words(d, ".");
    if (e->outlier_driven)
        pythia__doc_words(d, " A few requests account for much of it.");
    if (!variance && fabs(e->often) > fabs(e->longer))
        pythia__doc_words(d, " It is hit %.3g times per request, before %.3g.", e->visits.after,
                          e->visits.before);
}

static void say_duration(struct pythia__doc *d, const struct pythia_compare_source *s,
                         const struct pythia_compared_type *t)
{
    double before = t->mean.before, after = t->mean.after, clipped = t->mean_test.clipped.change;
    if (!is_certain(t->mean_test.q, alpha_of(s)))
        return;
    if ((after - before) * clipped > 0) {
        pythia__doc_words(d, "They take ");
        say_longer(d, after - before);
        pythia__doc_words(d, ": on average ");
    } else {
        pythia__doc_words(d, "But for a few, they take ");
        say_longer(d, clipped);
        pythia__doc_words(d, "; with those, on average ");
    }
    pythia__doc_duration(d, after);
    pythia__doc_words(d, ", before ");
    pythia__doc_duration(d, before);
    pythia__doc_words(d, " (");
    pythia__say_relative(d, before, after);
    pythia__doc_words(d, ", ");
    pythia__say_chance(d, t->mean_test.q);
    pythia__doc_words(d, ").");
    say_where(d, s, t, false);
}

static void say_variance(struct pythia__doc *d, const struct pythia_compare_source *s,
                         const struct pythia_compared_type *t)
{
    if (!is_certain(t->variance_test.q, alpha_of(s)))
        return;
    pythia__doc_words(d, "They vary %s: sd ",
                      t->variance_test.clipped.change < 0 ? "less" : "more");
    pythia__doc_duration(d, sqrt(t->sample_variance.after));
    pythia__doc_words(d, ", before ");
    pythia__doc_duration(d, sqrt(t->sample_variance.before));
    pythia__doc_words(d, " (");
    pythia__say_chance(d, t->variance_test.q);
    pythia__doc_words(d, ").");
    say_where(d, s, t, true);
}

/* That a change of the mean is not certain does not make two means equal: they are only if all that
 * the interval leaves possible is too small to be an effect. */
static bool is_as_long_as_before(const struct pythia_compared_type *t)
{
    return fabs(t->sample_mean.change) < t->effect_min &&
           t->mean_test.clipped.low > -t->effect_min && t->mean_test.clipped.high < t->effect_min;
}

static void say_uncertain_mean(struct pythia__doc *d, const struct pythia_compared_type *t)
{
    pythia__doc_words(d, "On average they take ");
    pythia__doc_duration(d, t->mean.after);
    pythia__doc_words(d, ", before ");
    pythia__doc_duration(d, t->mean.before);
    pythia__doc_words(d, " (");
    pythia__say_relative(d, t->mean.before, t->mean.after);
    pythia__doc_words(d, "), which may be chance");
    if (!isnan(t->mean_test.q)) {
        pythia__doc_words(d, " (");
        pythia__say_chance(d, t->mean_test.q);
        pythia__doc_words(d, ")");
    }
    pythia__doc_words(d, ". ");
}

/* Edges may change and the whole not: what one takes longer, another takes less. */
static void say_edges(struct pythia__doc *d, const struct pythia_compare_source *s,
                      const struct pythia_compared_type *t)
{
    size_t changed = pythia__count_changed_edges(t, alpha_of(s));
    if (changed == 0 || is_certain(t->mean_test.q, alpha_of(s)))
        return;
    if (is_as_long_as_before(t))
        pythia__doc_words(d, "They take as long as before overall, but ");
    else
        say_uncertain_mean(d, t);
    pythia__doc_words(d, "%zu edge%s changed.", changed, changed == 1 ? "" : "s");
    if (!t->edges[0].slows)
        return;
    pythia__doc_words(d, " The time ");
    pythia__say_compared_edge(d, s, &t->edges[0]);
    pythia__doc_words(d, " is ");
    say_longer(d, t->edges[0].mean.change);
    pythia__doc_words(d, ".");
}

/* ---- counts ---- */

static void say_failures(struct pythia__doc *d, const struct pythia_compare_source *s,
                         const struct pythia_compared_type *t)
{
    if (!is_certain(t->failed.q, alpha_of(s)))
        return;
    pythia__doc_words(d, "A span failed in ");
    pythia__doc_percent(d, (double)t->failed.after / (double)t->count.after);
    pythia__doc_words(d, " of them, before in ");
    pythia__doc_percent(d, (double)t->failed.before / (double)t->count.before);
    pythia__doc_words(d, ".");
}

static void say_both_counts(struct pythia__doc *d, const char *words,
                            const struct pythia_compared_type *t)
{
    pythia__doc_words(d, "%s", words);
    pythia__doc_count(d, (double)t->count.before, " before, ", " before, ");
    pythia__doc_count(d, (double)t->count.after, " after.", " after.");
}

static void say_count(struct pythia__doc *d, const struct pythia_compare_source *s,
                      const struct pythia_compared_type *t)
{
    if (t->status == PYTHIA_COMPARED_NEW) {
        pythia__doc_words(d, "There were none before. Now there are ");
        pythia__doc_count(d, (double)t->count.after, ".", ".");
    } else if (t->status == PYTHIA_COMPARED_LOST) {
        pythia__doc_words(d, "There are none now. Before, there were ");
        pythia__doc_count(d, (double)t->count.before, ".", ".");
    } else if (t->status == PYTHIA_COMPARED_TOO_FEW) {
        say_both_counts(d, "Too few to compare: ", t);
    } else if (is_certain(t->count.q, alpha_of(s))) {
        say_both_counts(d,
                        t->mix < 0 ? "They are a smaller part of all requests: "
                                   : "They are a larger part of all requests: ",
                        t);
    }
}

/* "3 of 106 requests" */
static void say_part(struct pythia__doc *d, uint64_t of, uint64_t all, const char *words)
{
    pythia__doc_count(d, (double)of, "", "");
    pythia__doc_words(d, " of ");
    pythia__doc_count(d, (double)all, words, words);
}

static void say_points(struct pythia__doc *d, const struct pythia_compare_source *s,
                       const char *before, const uint32_t *points, size_t count)
{
    enum { SHOWN = 3 };
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        pythia__doc_words(d, "%s", i ? ", " : before);
        pythia__doc_point(d, s->vocabulary, points[i]);
    }
    if (count > SHOWN)
        pythia__doc_words(d, " and %zu more", count - SHOWN);
}

void pythia__say_compared_path(struct pythia__doc *d, const struct pythia_compare_source *s,
                               const struct pythia_compared_type *t,
                               const struct pythia_compared_path *path)
{
    pythia__doc_words(d, path->count.before == 0  ? "A new path: "
                         : path->count.after == 0 ? "A path that is gone: "
                                                  : "A path: ");
    say_part(d, path->count.before, t->count.before, " requests took it before, ");
    say_part(d, path->count.after, t->count.after, " after");
    if (path->pass_count + path->lack_count > 0) {
        pythia__doc_words(d, "; unlike the most common one before, it hits ");
        say_points(d, s, "", path->passes, path->pass_count);
        say_points(d, s, path->pass_count ? ", and not " : "no ", path->lacks, path->lack_count);
    }
    pythia__doc_words(d, ".");
}

static const char *find_point_words(const struct pythia_compared_type *t,
                                    const struct pythia_count_change *n)
{
    double before = (double)n->before / (double)t->count.before,
           after = (double)n->after / (double)t->count.after;
    return n->before == 0   ? "is new: "
           : n->after == 0  ? "is no longer hit: "
           : after > before ? "is hit by more requests: "
                            : "is hit by fewer requests: ";
}

void pythia__say_compared_point(struct pythia__doc *d, const struct pythia_compare_source *s,
                                const struct pythia_compared_type *t,
                                const struct pythia_compared_point *point)
{
    const struct pythia_count_change *n = &point->requests;
    bool certain = is_certain(n->q, alpha_of(s));
    const char *comma = "";
    if (certain) {
        pythia__doc_words(d, "%s", find_point_words(t, n));
        say_part(d, n->before, t->count.before, " before, ");
        say_part(d, n->after, t->count.after, " after");
        comma = "; ";
    }
    if (is_certain(point->visits_q, alpha_of(s)) &&
        !(certain && (n->before == 0 || n->after == 0))) {
        pythia__doc_words(d, "%s%.3g spans per request, before %.3g", comma, point->visits.after,
                          point->visits.before);
        comma = "; ";
    }
    if (is_certain(point->failed.q, alpha_of(s))) {
        pythia__doc_words(d, "%sfailed in ", comma);
        pythia__doc_percent(d, (double)point->failed.after / (double)n->after);
        pythia__doc_words(d, " of the requests that hit it, before in ");
        pythia__doc_percent(d, (double)point->failed.before / (double)n->before);
    }
    pythia__doc_words(d, ".");
}

static void say_structure(struct pythia__doc *d, const struct pythia_compare_source *s,
                          const struct pythia_compared_type *t)
{
    size_t paths = 0, points = 0;
    for (size_t i = 0; i < t->path_count; i++)
        paths += pythia__path_changed(&t->paths[i], alpha_of(s));
    for (size_t i = 0; i < t->point_count; i++)
        points += pythia__point_changed(&t->points[i], alpha_of(s));
    if (paths > 0)
        pythia__doc_words(d, "%zu path%s taken more or less often.%s", paths,
                          paths == 1 ? " is" : "s are", points > 0 ? " " : "");
    if (points > 0)
        pythia__doc_words(d, "%zu trace point%s hit, or fail%s, more or less often.", points,
                          points == 1 ? " is" : "s are", points == 1 ? "s" : "");
}

void (*const pythia__compare_findings[PYTHIA__COMPARE_FINDINGS])(
    struct pythia__doc *, const struct pythia_compare_source *,
    const struct pythia_compared_type *) = {say_duration, say_variance, say_edges,
                                            say_failures, say_count,    say_structure};

/* ---- head ---- */

static void say_side(struct pythia__doc *d, const struct pythia_pipeline_result *in,
                     const char *side)
{
    const struct {
        uint64_t sum;
        const char *what;
    } counts[] = {{pythia__sum_of(in->counts.repaired, PYTHIA_REPAIRS), " repaired"},
                  {pythia_counts_dropped_spans(&in->counts), " dropped"}};
    pythia__doc_count(d, (double)in->counts.traces, " request", " requests");
    pythia__doc_words(d, " %s (", side);
    pythia__doc_count(d, (double)in->counts.kept, " span", " spans");
    pythia__doc_words(d, ", ");
    pythia__doc_count(d, (double)in->files, " file", " files");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].sum > 0) {
            pythia__doc_words(d, ", ");
            pythia__doc_count(d, (double)counts[i].sum, counts[i].what, counts[i].what);
        }
    pythia__doc_words(d, ")");
}

/* How many requests have the key of a split, on one side. */
static uint64_t count_with(const struct pythia_compare_source *s, size_t split, bool after)
{
    uint64_t with = 0;
    for (size_t i = 0; i < s->comparison->type_count; i++) {
        const struct pythia_compared_type *c = &s->comparison->types[i];
        const struct pythia_type *t = after ? c->after : c->before;
        if (t &&
            pythia_grouping_key_part_of(s->before->key, t->part, split) != PYTHIA_SPLIT_WITHOUT)
            with += t->moments.weight;
    }
    return with;
}

static void say_splits(struct pythia__doc *d, const struct pythia_compare_source *s)
{
    const struct pythia_grouping_key *key = s->before->key;
    for (size_t i = 0; key && i < pythia_grouping_key_count(key); i++) {
        struct pythia_buf text = {0};
        pythia_split_spec_write(pythia_grouping_key_split(key, i), &text);
        pythia__doc_words(d, " Split by ");
        pythia__doc_take(d, PYTHIA__DOC_WORDS, &text);
        pythia__doc_words(d, ", which ");
        pythia__doc_count(d, (double)count_with(s, i, false), " requests have before, ",
                          " requests have before, ");
        pythia__doc_count(d, (double)count_with(s, i, true), " after.", " after.");
    }
}

void pythia__say_compared_input(struct pythia__doc *d, const struct pythia_compare_source *s)
{
    uint64_t clocks = s->before->result->counts.repaired[PYTHIA_REPAIR_CLOCK_BASE] +
                      s->after->result->counts.repaired[PYTHIA_REPAIR_CLOCK_BASE];
    say_side(d, s->before->result, "before");
    pythia__doc_words(d, ", ");
    say_side(d, s->after->result, "after");
    pythia__doc_words(d, ", of ");
    pythia__doc_count(d, (double)s->comparison->type_count, " type.", " types.");
    pythia__doc_words(d, clocks > 0 ? " " : "");
    pythia__say_clock_bases(d, clocks);
    say_splits(d, s);
}

void pythia__say_conclusion(struct pythia__doc *d, const struct pythia_compare_source *s)
{
    const struct pythia_comparison *c = s->comparison;
    if (!c->changed && c->compared > 0) {
        pythia__doc_words(d, "Nothing changed significantly in %zu tests.", c->tests);
        return;
    }
    if (!c->changed) {
        pythia__doc_words(d, "Not enough data: no type has enough requests on both sides.");
        return;
    }
    pythia__doc_words(d, "Something changed. The mean of all requests is ");
    pythia__doc_duration(d, c->mean.after);
    pythia__doc_words(d, ", before ");
    pythia__doc_duration(d, c->mean.before);
    pythia__doc_words(d, ".");
    const struct pythia_compared_service *first = c->service_count > 0 ? &c->services[0] : NULL;
    if (!first || first->service == 0 || !c->types[first->type].edges[first->edge].slows)
        return;
    if (c->mean.after < c->mean.before) { /* others make up for this type, or are more of all */
        struct pythia_text name = pythia_vocabulary_text(s->vocabulary, c->types[first->type].name);
        pythia__doc_words(d, " Among requests of type ");
        (void)pythia__doc_name(d, PYTHIA__DOC_TYPE, name, name, name);
        pythia__doc_words(d, ", look first at service ");
    } else {
        pythia__doc_words(d, " Look first at service ");
    }
    pythia__say_service(d, s, first->service);
    pythia__doc_words(d, ": at least ");
    say_longer(d, first->score);
    pythia__doc_words(d, " on its worst edge.");
}
