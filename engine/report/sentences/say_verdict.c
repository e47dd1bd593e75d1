/* The verdict of a request type, in words. */
#include <math.h>
#include <string.h>

#include "document/document_names.h"
#include "report_index.h"
#include "report_why.h"
#include "sentences.h"

const struct pythia_problem *pythia__problem_of(const struct pythia_report_source *s,
                                                const struct pythia_verdict *v)
{
    return s->index->problems[v - s->verdicts->list];
}

const struct pythia_group *pythia__group_of(const struct pythia_report_source *s,
                                            const struct pythia_verdict *v)
{
    return s->index->of_verdicts[v - s->verdicts->list];
}

/* ---- who speaks of a group ---- */

static bool is_searched(const struct pythia_problem *p)
{
    return p && p->state != PYTHIA_PROBLEM_QUIET && p->state != PYTHIA_PROBLEM_TOO_FEW &&
           p->state != PYTHIA_PROBLEM_UNKNOWN;
}

/* The search leaves a type alone whose requests hardly differ or hardly matter, and its verdict is
 * that nothing stands out. An edge with a large share of that small variance would contradict the
 * verdict, so all diagnosed groups of the type become quiet ones. */
struct pythia__standing pythia__standing_of(const struct pythia_report_source *s,
                                            const struct pythia_group *g)
{
    if (!s->loop)
        return (struct pythia__standing){0};
    const struct pythia_verdict *v = s->index->of_types[g->type];
    const struct pythia_problem *p = v ? pythia__problem_of(s, v) : NULL;
    bool quiet = p && p->state == PYTHIA_PROBLEM_QUIET && v->state == PYTHIA_VERDICT_NOTHING &&
                 g->status == PYTHIA_GROUP_DIAGNOSED,
         shows = v && v->group == g->id && (v->state == PYTHIA_VERDICT_FOUND || is_searched(p));
    return (struct pythia__standing){quiet || shows ? v : NULL, quiet};
}

bool pythia__is_diagnosed(const struct pythia_report_source *s, const struct pythia_group *g)
{
    return g->status == PYTHIA_GROUP_DIAGNOSED && !pythia__standing_of(s, g).quiet;
}

/* ---- sentences ---- */

static void say_share(struct pythia__doc *d, const struct pythia_finding *f, const char *of)
{
    pythia__doc_percent(d, fmin(f->share, 1));
    pythia__doc_words(d, "%s (%.0f to %.0f %%)", of, 100 * fmax(f->low, 0), 100 * fmin(f->high, 1));
}

static void say_spread(struct pythia__doc *d, const struct pythia_report_source *s,
                       const struct pythia_group *g)
{
    pythia__doc_words(d, "No single place stands out");
    if (g && g->inclusive != PYTHIA_CCT_ROOT) {
        pythia__doc_words(d, "; more than half of the latency variance lies below ");
        pythia__doc_point(d, s->vocabulary,
                          pythia_cct_tracepoint(pythia_groups_cct(s->groups), g->inclusive));
    }
    pythia__doc_words(d, ".");
}

/* "A accounts for 77 % of the latency variance (75 to 79 %), and B for 20 % (12 to 28 %)." */
static void say_verdict_found(struct pythia__doc *d, const struct pythia_report_source *s,
                              const struct pythia_verdict *v)
{
    if (pythia_verdict_is_spread(v))
        say_spread(d, s, pythia__group_of(s, v));
    if (v->found_count == 0)
        return;
    pythia__doc_words(d, pythia_verdict_is_spread(v) ? " " : "");
    for (size_t i = 0; i < v->found_count; i++) {
        bool last = i + 1 == v->found_count;
        pythia__doc_words(d, i == 0 ? "" : last ? ", and " : ", ");
        pythia__doc_place(d, s->vocabulary, &v->found[i].finding.place, i == 0);
        pythia__doc_words(d, i == 0 ? " accounts for " : " for ");
        say_share(d, &v->found[i].finding, i == 0 ? " of the latency variance" : "");
    }
    pythia__doc_words(d, ".");
}

void pythia__say_verdict_where(struct pythia__doc *d, const struct pythia_report_source *s,
                               const struct pythia_verdict *v)
{
    const struct pythia_problem *p = pythia__problem_of(s, v);
    struct pythia_buf why = {0};
    switch (v->state) {
    case PYTHIA_VERDICT_FOUND:
        say_verdict_found(d, s, v);
        break;
    case PYTHIA_VERDICT_SEARCHING:
        pythia__doc_words(d, "Nothing found yet; the search continues.");
        break;
    case PYTHIA_VERDICT_LEARNING:
        pythia__doc_words(d, "The search space does not know this type of request yet.");
        break;
    case PYTHIA_VERDICT_TOO_FEW:
        pythia__doc_words(d, "Too few requests to say anything.");
        break;
    case PYTHIA_VERDICT_NOTHING:
        if (p && p->why != PYTHIA_WHY_NONE && p->state == PYTHIA_PROBLEM_GIVEN_UP)
            pythia__add_why(&why, s->vocabulary, s->loop, p);
        else
            pythia_buf_puts(&why, "these requests hardly vary, or account for hardly any of the "
                                  "total variance");
        pythia__doc_words(d, "Nothing stands out: ");
        pythia__doc_take(d, PYTHIA__DOC_WORDS, &why);
        pythia__doc_words(d, ".");
        if (p && p->retries > 0 && p->state == PYTHIA_PROBLEM_GIVEN_UP)
            pythia__doc_words(d, " The search has begun again %zu time%s, with the same result.",
                              (size_t)p->retries, p->retries == 1 ? "" : "s");
        break;
    }
}

/* The key that explains it is told of by the group that shows it. */
void pythia__say_verdict_why(struct pythia__doc *d, const struct pythia_report_source *s,
                             const struct pythia_group *g, const struct pythia_verdict *v)
{
    for (size_t i = 0; v->key && g && i < g->explanations.found_count; i++)
        if (strcmp(g->explanations.found[i].name, v->key) == 0) {
            pythia__say_why(d, s->vocabulary, g, &g->explanations.found[i]);
            return;
        }
    if (!v->key)
        return;
    struct pythia_text key = pythia_text_of(v->key);
    pythia__doc_words(d, "Correlates with ");
    (void)pythia__doc_name(d, PYTHIA__DOC_KEY, key, key, key);
    pythia__doc_words(d, ".");
}

void pythia__say_group_where(struct pythia__doc *d, const struct pythia_report_source *s,
                             const struct pythia_group *g)
{
    struct pythia__standing standing = pythia__standing_of(s, g);
    if (standing.verdict)
        pythia__say_verdict_where(d, s, standing.verdict);
    else
        pythia__say_where(d, s, g);
}

void pythia__say_group_why(struct pythia__doc *d, const struct pythia_report_source *s,
                           const struct pythia_group *g)
{
    struct pythia__standing standing = pythia__standing_of(s, g);
    bool found = standing.verdict && standing.verdict->state == PYTHIA_VERDICT_FOUND;
    if (standing.quiet)
        return;
    if (found)
        pythia__say_verdict_why(d, s, g, standing.verdict);
    else if (g->status == PYTHIA_GROUP_DIAGNOSED && g->explanations.found_count > 0)
        pythia__say_why(d, s->vocabulary, g, &g->explanations.found[0]);
}

void pythia__say_standing(struct pythia__doc *d, const struct pythia_report_source *s,
                          const struct pythia_verdict *v)
{
    static const char *const sure[] = {"Low", "Medium", "High"};
    bool key = v->why == PYTHIA_WHY_SPREAD;
    double hold_s = s->verdicts ? (double)s->verdicts->last.hold_ns / 1e9 : 0;
    if (v->state != PYTHIA_VERDICT_FOUND || (v->found_count == 0 && !key))
        return;
    pythia__doc_words(d, "%s confidence", sure[v->confidence]);
    if (v->since > 0 && v->found_count == 0)
        pythia__doc_words(
            d,
            ", since cycle %zu. The search ended because a key explains at least half "
            "of the variance; it begins again if none does",
            (size_t)v->since);
    else if (v->since > 0)
        pythia__doc_words(d,
                          ", since cycle %zu, in %zu cycle%s. Two consecutive cycles with "
                          "significantly less than 15 %% there would refute it",
                          (size_t)v->since, (size_t)v->looks, v->looks == 1 ? "" : "s");
    if (v->since > 0 && v->found_count > 0 && hold_s > 0)
        pythia__doc_words(d, " after %.3g s", hold_s);
    pythia__doc_words(d, ".%s", v->searched ? " The search for other causes continues." : "");
}

void pythia__say_also(struct pythia__doc *d, const struct pythia_report_source *s,
                      const struct pythia_verdict *v)
{
    for (size_t i = 0; i < v->also_count; i++) {
        pythia__doc_words(d, i == 0 ? "Also seen: " : ", ");
        pythia__doc_place(d, s->vocabulary, &v->also[i].place, false);
        pythia__doc_words(d, " ");
        say_share(d, &v->also[i], "");
    }
    pythia__doc_words(d, v->also_count > 0 ? "." : "");
}

void pythia__say_instance(struct pythia__doc *d, const struct pythia_report_source *s,
                          const struct pythia_verdict *v)
{
    struct pythia_text service, name = pythia_vocabulary_text(s->vocabulary, v->instance);
    if (v->part < 2)
        return;
    service = pythia__point_service(s->vocabulary, v->part_point);
    pythia__doc_words(d, "This describes only requests to one of %u instances of ",
                      (unsigned)v->part);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, service);
    if (name.size > 0) {
        pythia__doc_words(d, ", ");
        pythia__doc_text(d, PYTHIA__DOC_WORDS, name);
    }
    pythia__doc_words(d, ": a trace point is open at that one only.");
}

void pythia__say_change(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_verdict *v)
{
    if (v->reason == PYTHIA_VERDICT_RETRY || v->reason == PYTHIA_VERDICT_AGAIN) {
        pythia__doc_words(d, "The search began again in cycle %zu: %s.", (size_t)v->since,
                          v->reason == PYTHIA_VERDICT_AGAIN
                              ? "the durations of these requests have changed"
                              : "it had found nothing, and these requests still vary");
        return;
    }
    if (v->reason == PYTHIA_VERDICT_REFUTED && isnan(v->was_found.share))
        pythia__doc_words(d, "Before cycle %zu a key explained it, which it does no longer.",
                          (size_t)v->since);
    if (isnan(v->was_found.share))
        return;
    if (v->reason == PYTHIA_VERDICT_MORE) {
        pythia__doc_words(d, "In cycle %zu another place was found.", (size_t)v->since);
        return;
    }
    pythia__doc_words(
        d, "Before cycle %zu %s ", (size_t)v->since,
        v->reason == PYTHIA_VERDICT_REFUTED && v->found_count > 0 ? "the verdict named" : "it was");
    pythia__doc_place(d, s->vocabulary, &v->was_found.place, false);
    pythia__doc_words(
        d, v->reason == PYTHIA_VERDICT_QUIET   ? ". The durations of these requests no longer vary."
           : v->reason == PYTHIA_VERDICT_GROWN ? ". New trace points turned up in it."
                                               : ". It no longer accounts for a relevant share.");
}
