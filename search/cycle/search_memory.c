/* Keeps problems from cycle to cycle, and rolls back a cycle that failed: whatever it would free
 * is kept until it has succeeded. */
#include <math.h>
#include <string.h>

#include "pythia/dispersion.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

void pythia__search_keeping_free(struct pythia__search_keeping *k)
{
    pythia__belief_free(&k->belief);
    pythia_free(k->log_durations);
    pythia_free(k->retired);
    *k = (struct pythia__search_keeping){0};
}

/* ---- a cycle that may fail ---- */

int pythia__search_begin(struct pythia_search *s)
{
    if (pythia_reach(&s->before, &s->before_capacity, s->problem_count, sizeof(*s->before)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < s->problem_count; i++)
        s->before[i] = (struct pythia__search_before){s->problems[i], s->keeping[i], false};
    s->known = s->problem_count;
    s->in_cycle = true;
    return PYTHIA_OK;
}

void pythia__search_touch(struct pythia_search *s, size_t problem)
{
    if (!s->in_cycle || problem >= s->known || s->before[problem].touched)
        return;
    s->before[problem].touched = true;
    if (s->keeping[problem].belief.nodes)
        pythia__belief_save(&s->keeping[problem].belief);
}

void pythia__search_commit(struct pythia_search *s)
{
    for (size_t i = 0; i < s->known; i++)
        if (s->before[i].keeping.log_durations != s->keeping[i].log_durations)
            pythia_free(s->before[i].keeping.log_durations);
    s->in_cycle = false;
}

void pythia__search_take_back(struct pythia_search *s)
{
    for (size_t i = 0; i < s->known; i++) {
        struct pythia__search_keeping *now = &s->keeping[i], *then = &s->before[i].keeping;
        for (uint32_t point = 0; now->retired && point < s->points; point++)
            if (now->retired[point] == s->cycle)
                now->retired[point] = 0;
        /* The cycle replaced them; the old ones are in `then`. */
        if (now->log_durations != then->log_durations)
            pythia_free(now->log_durations);
        if (then->belief.nodes == 0)
            pythia__belief_free(&now->belief);
        else if (s->before[i].touched)
            pythia__belief_restore(&now->belief);
        s->problems[i] = s->before[i].problem;
        /* Both own the same arrays, which have been restored in place; what the cycle allocated
         * stays for the next one. */
        then->belief = now->belief;
        then->retired = now->retired;
        *now = *then;
    }
    while (s->problem_count > s->known)
        pythia__search_keeping_free(&s->keeping[--s->problem_count]);
    s->in_cycle = false;
}

/* ---- points that told nothing ---- */

int pythia__search_retire(struct pythia_search *s, size_t problem, uint32_t point)
{
    struct pythia__search_keeping *k = &s->keeping[problem];
    if (!k->retired && !(k->retired = pythia_calloc(s->points, sizeof(*k->retired))))
        return PYTHIA_ENOMEM;
    k->retired[point] = s->cycle;
    return PYTHIA_OK;
}

bool pythia__search_is_retired(const struct pythia_search *s, size_t problem, uint32_t point)
{
    const struct pythia__search_keeping *k = &s->keeping[problem];
    return k->retired && k->retired[point] > k->forgotten;
}

int pythia__search_remember(struct pythia_search *s, size_t problem, const struct pythia_type *t)
{
    struct pythia__search_keeping *k = &s->keeping[problem];
    bool is_new =
        problem >= s->known || k->log_durations != s->before[problem].keeping.log_durations;
    size_t n = pythia_type_rows(t);
    if (is_new && k->log_durations && k->duration_count > 0)
        return PYTHIA_OK; /* in this cycle, of another point */
    double *kept = pythia_calloc(n + 1, sizeof(*kept));
    if (!kept)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_row *row = pythia_type_row(t, i);
        kept[i] = log((double)row->duration_ns + 1);
    }
    if (is_new)
        pythia_free(k->log_durations);
    k->log_durations = kept;
    k->duration_count = n;
    return PYTHIA_OK;
}

int pythia__search_has_changed(const struct pythia_search *s, size_t problem,
                               const struct pythia_type *t, bool *changed)
{
    const struct pythia__search_keeping *k = &s->keeping[problem];
    size_t old = k->duration_count, n = pythia_type_rows(t), all = old + n;
    *changed = false;
    if (old == 0)
        return PYTHIA_OK;
    double *x = pythia_calloc(all, sizeof(*x));
    uint32_t *side = pythia_calloc(all, sizeof(*side));
    struct pythia_test_result test = {.p = NAN};
    int status = PYTHIA_ENOMEM;
    if (!x || !side)
        goto out;
    for (size_t i = 0; i < all; i++) {
        const struct pythia_row *row = i < old ? NULL : pythia_type_row(t, i - old);
        /* Durations are compared as logarithms: a program that became twice as fast, with the
         * same relative spread, has not changed what the search looks for. */
        x[i] = row ? log((double)row->duration_ns + 1) : k->log_durations[i];
        side[i] = i >= old;
    }
    status = pythia_dispersion_brown_forsythe(x, side, all, 2, &test);
    if (status != PYTHIA_OK)
        goto out;
    /* The level falls with the number of cycles, because the test is repeated in each of them. */
    *changed = test.p <= pythia_gate_alpha(s->o.alpha, s->cycle);
out:
    pythia_free(x);
    pythia_free(side);
    return status;
}

void pythia__search_forget(struct pythia_search *s, size_t problem)
{
    struct pythia__search_keeping *k = &s->keeping[problem];
    pythia__search_touch(s, problem);
    k->forgotten = s->cycle;
    k->spread = false;
    k->duration_count = 0;
    if (k->belief.nodes)
        pythia__belief_reset(&k->belief);
}
