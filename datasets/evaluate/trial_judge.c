/* Compare the findings of a search with the planted causes. */
#include <math.h>
#include <string.h>

#include "pythia/diagnosis.h"
#include "pythia/groups.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "trial_parts.h"

/* The trace point by which a node is seen: its own, or that of the nearest one above that the
 * search space knows. */
static uint32_t seen_as(const struct pythia_workflow *w, uint32_t node)
{
    while (node && !pythia_workflow_known(w, node))
        node = pythia_workflow_parent(w, node);
    return pythia_workflow_tracepoint(w, node);
}

/* Is a place in the service whose host is slow? */
static bool is_in_service(const struct pythia__world *world, const struct pythia_planted *p,
                          const struct pythia_place *place)
{
    const struct pythia_vocabulary *v = world->vocabulary;
    return pythia_vocabulary_tracepoint_at(v, place->context)->service ==
           pythia_vocabulary_tracepoint_at(v, pythia_workflow_tracepoint(world->workflow, p->node))
               ->service;
}

/* One segment of an own time is not all of it. */
static bool is_place_of_cause(const struct pythia__world *world, const struct pythia_planted *p,
                              const struct pythia_place *place)
{
    const struct pythia_workflow *w = world->workflow;
    if (p->kind == PYTHIA_PLANTED_OWN_TIME && !place->own)
        return false;
    if (p->kind == PYTHIA_PLANTED_SLOW)
        return is_in_service(world, p, place);
    bool at = place->context == seen_as(w, p->node);
    for (uint32_t i = 0; i < p->other_count; i++)
        at = at || place->context == seen_as(w, p->others[i]);
    return at;
}

static bool is_cause_known(const struct pythia__hunt *h, const struct pythia_place *place)
{
    for (size_t i = 0; i < h->named_count; i++)
        if (pythia_place_equal(&h->named[i].place, place))
            return true;
    return false;
}

/* A place counts by what was there when it was named: what moves away later was found all the same.
 */
static int take_cause(struct pythia__hunt *h, const struct pythia_finding *cause)
{
    if (is_cause_known(h, &cause->place))
        return PYTHIA_OK;
    if (pythia_grow(&h->named, &h->named_capacity, h->named_count, sizeof(*h->named)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia__named *named = &h->named[h->named_count++];
    *named = (struct pythia__named){cause->place, cause->share, SIZE_MAX, SIZE_MAX};
    for (size_t c = 0; c < h->world->options.cause_count; c++) {
        struct pythia_planted p;
        pythia_workflow_planted(h->world->workflow, c, h->number - 1, &p);
        if (!is_place_of_cause(h->world, &p, &cause->place))
            continue;
        *(named->cause == SIZE_MAX ? &named->cause : &named->also_cause) = c;
    }
    return PYTHIA_OK;
}

static bool is_slow_host(const struct pythia__hunt *h, size_t cause)
{
    return h->world->options.causes[cause].kind == PYTHIA_PLANTED_SLOW;
}

/* A slow host is not found by any of the places where it is slow, but by the end of the search that
 * says so. */
static bool is_found(const struct pythia__hunt *h, size_t cause)
{
    if (is_slow_host(h, cause))
        return h->spread;
    for (size_t i = 0; i < h->named_count; i++)
        if (h->named[i].cause == cause || h->named[i].also_cause == cause)
            return true;
    return false;
}

int pythia__hunt_judge(struct pythia__hunt *h, const struct pythia_cycle *cycle)
{
    for (size_t i = 0; i < cycle->problem_count; i++) {
        h->spread = h->spread || cycle->problems[i].why == PYTHIA_WHY_SPREAD;
        for (size_t c = 0; c < cycle->problems[i].cause_count; c++) {
            int status = take_cause(h, &cycle->problems[i].causes[c]);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    struct pythia_trial_outcome now;
    pythia__hunt_count(h, &now);
    if (h->localised == 0 && now.causes > 0 && now.found == now.causes)
        h->localised = h->cycles;
    return PYTHIA_OK;
}

void pythia__hunt_count(const struct pythia__hunt *h, struct pythia_trial_outcome *out)
{
    out->causes = h->world->options.cause_count;
    out->named = h->named_count;
    out->found = out->wrong = 0;
    out->first = out->any_three = false;
    for (size_t c = 0; c < out->causes; c++)
        out->found += is_found(h, c);
    for (size_t i = 0; i < h->named_count; i++) {
        bool right = h->named[i].cause != SIZE_MAX;
        out->wrong += !right;
        out->first = out->first || (right && i == 0);
        out->any_three = out->any_three || (right && i < 3);
    }
}

/* ---- the variable ---- */

static bool has_edge(const struct pythia_group *g, const struct pythia_cct *cct,
                     const struct pythia_place *place)
{
    for (size_t e = 0; e < g->ranking.edge_count; e++)
        if (pythia_place_has(place, cct, g->ranking.edges[e].edge))
            return true;
    return false;
}

bool pythia__trial_is_key(const struct pythia_explanation *x, struct pythia_text key)
{
    return (x->kind == PYTHIA_KEY_NUMERIC || x->kind == PYTHIA_KEY_CATEGORICAL) &&
           strncmp(x->name, key.bytes, key.size) == 0 &&
           (x->name[key.size] == '\0' || x->name[key.size] == '@');
}

/* A person reads the group with the highest score, of those that pass the place. */
static bool is_cause_explained(const struct pythia__hunt *h, const struct pythia_diagnosis *d,
                               const struct pythia_place *place, struct pythia_text key)
{
    for (size_t g = 0; g < d->group_count; g++)
        if (has_edge(&d->groups[g], pythia_groups_cct(h->groups), place))
            return d->groups[g].explanations.found_count > 0 &&
                   pythia__trial_is_key(&d->groups[g].explanations.found[0], key);
    return false;
}

/* The key of the group that has most of the variance. */
static bool is_host_explained(const struct pythia_diagnosis *d, struct pythia_text key)
{
    return d->group_count > 0 && d->groups[0].explanations.found_count > 0 &&
           pythia__trial_is_key(&d->groups[0].explanations.found[0], key);
}

/* Does a key go with any of the causes? */
static bool has_keyed_cause(const struct pythia__hunt *h)
{
    struct pythia_planted p = {.key = 0};
    for (size_t c = 0; c < h->world->options.cause_count && !p.key; c++)
        pythia_workflow_planted(h->world->workflow, c, h->number - 1, &p);
    return p.key != 0;
}

/* Was it found in a place, and in no other before? */
static bool is_first_place(const struct pythia__hunt *h, size_t named)
{
    size_t cause = h->named[named].cause;
    for (size_t k = 0; k < named; k++)
        if (h->named[k].cause == cause)
            return false;
    return cause != SIZE_MAX && !is_slow_host(h, cause);
}

int pythia__hunt_explain(const struct pythia__hunt *h, struct pythia_trial_outcome *out)
{
    const struct pythia_vocabulary *v = h->world->vocabulary;
    struct pythia_diagnosis_options how = {.seed = h->trial->seed};
    struct pythia_diagnosis *d = NULL;
    struct pythia_planted p;
    int status = has_keyed_cause(h) ? pythia_diagnose(h->groups, &how, &d) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; d && i < h->named_count; i++) {
        if (!is_first_place(h, i))
            continue;
        pythia_workflow_planted(h->world->workflow, h->named[i].cause, h->number - 1, &p);
        if (!p.key)
            continue;
        out->keys++;
        out->keys_first +=
            is_cause_explained(h, d, &h->named[i].place, pythia_vocabulary_text(v, p.key));
    }
    for (size_t c = 0; d && c < h->world->options.cause_count; c++) {
        if (!is_slow_host(h, c) || !h->spread)
            continue;
        pythia_workflow_planted(h->world->workflow, c, h->number - 1, &p);
        out->keys++;
        out->keys_first += is_host_explained(d, pythia_vocabulary_text(v, p.key));
    }
    pythia_diagnosis_destroy(d);
    return PYTHIA_OK;
}

/* ---- the story ---- */

static void tell_finding(const struct pythia__hunt *h, const char *what,
                         const struct pythia_finding *f, struct pythia_buf *to)
{
    pythia_buf_printf(to, "        %s: %.1f %% of the variance (%.1f to %.1f) ", what,
                      100 * f->share, 100 * f->low, 100 * f->high);
    pythia_place_add(to, h->world->vocabulary, &f->place);
    pythia_buf_putc(to, '\n');
}

/* With --verbose a person follows the search: what it saw, what it believes, and why it opened what
 * it did. */
void pythia__hunt_tell(const struct pythia__hunt *h, const struct pythia_cycle *cycle,
                       struct pythia_buf *to)
{
    pythia_buf_printf(to, "%s, %s, seed %llu, cycle %zu: %zu open\n", h->trial->problem->name,
                      h->trial->strategy->name, (unsigned long long)h->trial->seed, h->cycles,
                      cycle->open_count);
    for (size_t i = 0; i < cycle->problem_count; i++) {
        const struct pythia_problem *p = &cycle->problems[i];
        struct pythia_text type = pythia_vocabulary_text(h->world->vocabulary, p->type);
        pythia_buf_printf(to, "    %.*s: %s", (int)type.size, type.bytes,
                          pythia_problem_state_name(p->state));
        if (!isnan(p->rest))
            pythia_buf_printf(to, ", %.1f %% of the variance without a cause", 100 * p->rest);
        pythia_buf_putc(to, '\n');
        for (size_t c = 0; c < p->cause_count; c++)
            tell_finding(h, "cause", &p->causes[c], to);
        if (!isnan(p->top.share))
            tell_finding(h, "most of the rest", &p->top, to);
    }
    for (size_t i = 0; i < cycle->switch_count; i++) {
        struct pythia_text id =
            pythia_vocabulary_tracepoint_id(h->world->vocabulary, cycle->switches[i].tracepoint);
        pythia_buf_printf(to, "    %s %.*s: %s\n", cycle->switches[i].open ? "opens" : "closes",
                          (int)id.size, id.bytes, cycle->switches[i].reason);
    }
}
