/* Compare the report of a capture with the planted causes. */
#include <math.h>

#include "pythia/diagnosis.h"
#include "pythia/status.h"
#include "trial_parts.h"

/* Bounds for a joint finding of a difference: the canonical correlation, and the distance of
 * the coefficients from 1 and -1. */
#define JOINT_R_MIN     0.99
#define COEFFICIENT_OFF 0.02

/* The finding that a person reads first: why the paths of a type differ, where that is most of
 * the variance; else the first group's explanations. */
static const struct pythia_explanations *first_explanations(const struct pythia_diagnosis *d)
{
    for (size_t i = 0; i < d->type_count; i++) {
        const struct pythia_type_result *t = &d->types[i];
        double share = t->variance_share * t->between_share;
        if (t->explanations.found_count > 0 &&
            (d->group_count == 0 || share >= d->groups[0].variance_share))
            return &t->explanations;
    }
    return d->group_count > 0 ? &d->groups[0].explanations : NULL;
}

/* Is it the trace point of nodes that a request which fails at `node` never calls? */
static bool is_after(const struct pythia__world *w, uint32_t node, uint32_t tracepoint)
{
    for (uint32_t i = 0; i <= node; i++)
        if (pythia_workflow_tracepoint(w->workflow, i) == tracepoint)
            return false;
    return true;
}

/* Do the two keys of a difference act together, and alone, with opposite coefficients of one size?
 */
static bool is_difference(const struct pythia__world *w, const struct pythia_planted *p,
                          const struct pythia_explanations *all)
{
    const struct pythia_joint *j = &all->joint;
    struct pythia_text key = pythia_vocabulary_text(w->vocabulary, p->key);
    struct pythia_text other = pythia_vocabulary_text(w->vocabulary, p->other_key);
    if (j->count != 2 || !(j->r >= JOINT_R_MIN))
        return false;
    size_t grows = j->coefficients[0] > 0 ? 0 : 1;
    return pythia__trial_is_key(&all->found[j->keys[grows]], key) &&
           pythia__trial_is_key(&all->found[j->keys[1 - grows]], other) &&
           fabs(j->coefficients[grows] - 1) <= COEFFICIENT_OFF &&
           fabs(j->coefficients[1 - grows] + 1) <= COEFFICIENT_OFF;
}

/* "host.name has <value>", or "host.name@<service> has <value>". */
static bool is_member(const struct pythia_explanation *x, struct pythia_text key,
                      struct pythia_text value)
{
    struct pythia_text name = pythia_text_of(x->name);
    return x->kind == PYTHIA_KEY_MEMBER && pythia_text_starts(name, key) &&
           pythia_text_ends(name, value) && name.size > key.size + value.size &&
           (name.bytes[key.size] == ' ' || name.bytes[key.size] == '@') &&
           name.bytes[name.size - value.size - 1] == ' ';
}

static bool is_edge_at_place(const struct pythia__world *w, const struct pythia_ranked_edge *e,
                             const struct pythia_cct *cct, uint32_t node)
{
    return pythia_place_of(cct, e->edge).context == pythia_workflow_tracepoint(w->workflow, node);
}

/* For the group that a person reads first: is its first edge at the node of the cause, and does it
 * not rest on a handful? */
static bool is_first_edge(const struct pythia__hunt *h, const struct pythia_diagnosis *d,
                          const struct pythia_planted *p)
{
    const struct pythia_ranking *r = d->group_count > 0 ? &d->groups[0].ranking : NULL;
    return r && r->edge_count > 0 && !r->edges[0].few &&
           is_edge_at_place(h->world, &r->edges[0], pythia_groups_cct(h->groups), p->node);
}

/* Is the rare call marked wherever it is an edge, and after all edges that are not marked? */
static bool is_marked_last(const struct pythia__hunt *h, const struct pythia_diagnosis *d,
                           const struct pythia_planted *p)
{
    const struct pythia_ranking *r = d->group_count > 0 ? &d->groups[0].ranking : NULL;
    bool seen = false, after = false, right = true;
    for (size_t e = 0; r && e < r->edge_count; e++) {
        bool there =
            is_edge_at_place(h->world, &r->edges[e], pythia_groups_cct(h->groups), p->node);
        seen = seen || there;
        after = after || r->edges[e].few;
        right = right && (r->edges[e].few || (!there && !after));
    }
    return seen && right;
}

static bool is_right(const struct pythia__hunt *h, const struct pythia_diagnosis *d,
                     const struct pythia_planted *p, const struct pythia_explanations *all)
{
    const struct pythia__world *w = h->world;
    const struct pythia_explanation *x = all && all->found_count > 0 ? &all->found[0] : NULL;
    if (p->kind == PYTHIA_PLANTED_SLEEP)
        return is_first_edge(h, d, p);
    if (p->kind == PYTHIA_PLANTED_RARE)
        return is_marked_last(h, d, p);
    if (!x)
        return false;
    if (p->kind == PYTHIA_PLANTED_DIFFERENCE)
        return is_difference(w, p, all);
    if (p->kind == PYTHIA_PLANTED_REPLICA)
        return is_member(x, pythia_vocabulary_text(w->vocabulary, p->key),
                         pythia_vocabulary_text(w->vocabulary, p->key_value));
    if (p->kind == PYTHIA_PLANTED_FAILING)
        return x->ends_early && is_after(w, p->node, x->tracepoint);
    return p->key && pythia__trial_is_key(x, pythia_vocabulary_text(w->vocabulary, p->key));
}

int pythia__capture_explain(const struct pythia__hunt *h, struct pythia_trial_outcome *out)
{
    struct pythia_diagnosis_options how = {.seed = h->trial->seed};
    struct pythia_diagnosis *d = NULL;
    int status = pythia_diagnose(h->groups, &how, &d);
    if (status != PYTHIA_OK)
        return status;
    const struct pythia_explanations *x = first_explanations(d);
    out->causes = 0; /* nobody searched for them, so none was missed */
    for (size_t i = 0; i < h->world->options.cause_count; i++) {
        struct pythia_planted p;
        pythia_workflow_planted(h->world->workflow, i, h->number - 1, &p);
        if (!(p.strength > 0)) { /* any key that is named is a wrong one */
            out->wrong = out->named = x && x->found_count > 0;
            continue;
        }
        out->keys++;
        out->keys_first += is_right(h, d, &p, x);
    }
    pythia_diagnosis_destroy(d);
    return PYTHIA_OK;
}
