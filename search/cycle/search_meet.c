/* A cycle begins with what its requests say of each type, before any edge is looked at: are there
 * enough of them, do they vary, and is that a part of the variance that matters? */
#include <math.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

#define UNKNOWN_MAX 1024 /* types that the search space does not know */
/* Cycles in a row with another share, after which a type begins to matter or does so no more. One
 * may be chance; no experiment has chosen between 2 and more. */
#define MATTERS_AGAINST 2

void pythia__search_run_step(const struct pythia_search *s, struct pythia__search_run *run, bool on)
{
    if (on && run->cycles == 0)
        run->since = s->clock - pythia__search_took(s);
    run->cycles = on ? run->cycles + 1 : 0;
}

bool pythia__search_run_lasts(const struct pythia_search *s, const struct pythia__search_run *run,
                              size_t cycles, double holds)
{
    return run->cycles >= cycles && s->clock - run->since >= holds * s->o.hold_seconds;
}

/* Does the type have a problem, or may it have one? A type that the search space does not know may
 * never be searched: where types come without number, those would fill the memory. */
static bool may_have_problem(const struct pythia_search *s, const struct pythia_type *type,
                             size_t *unknown)
{
    size_t at = type->name < s->problem_of_capacity ? s->problem_of[type->name] : 0;
    if ((at > 0 && at <= s->problem_count && s->problems[at - 1].type == type->name) ||
        pythia_space_type(s->space, type->unsplit))
        return true;
    return (*unknown)++ < UNKNOWN_MAX;
}

static int find_or_add_problem(struct pythia_search *s, const struct pythia_type *type, size_t *out)
{
    if (pythia_reach(&s->problem_of, &s->problem_of_capacity, type->name, sizeof(*s->problem_of)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    size_t at = s->problem_of[type->name];
    /* A cycle that failed may have left a number here of a problem that was taken back. */
    if (at > 0 && at <= s->problem_count && s->problems[at - 1].type == type->name) {
        *out = at - 1;
        return PYTHIA_OK;
    }
    if (pythia_grow(&s->problems, &s->problem_capacity, s->problem_count, sizeof(*s->problems)) !=
            PYTHIA_OK ||
        pythia_grow(&s->keeping, &s->keeping_capacity, s->problem_count, sizeof(*s->keeping)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->keeping[s->problem_count] = (struct pythia__search_keeping){.idle = 0};
    s->problems[s->problem_count] = (struct pythia_problem){
        .type = type->name, .unsplit = type->unsplit, .top = {.share = NAN}, .rest = NAN};
    *out = s->problem_count++;
    s->problem_of[type->name] = (uint32_t)s->problem_count;
    return PYTHIA_OK;
}

/* Has a type enough of the variance to be searched? Its first requests decide, and then only
 * MATTERS_AGAINST cycles in a row can turn that over: where the type that varies most has few
 * requests in a cycle, or another type has a single slow one, shares are quite different once. */
static bool matters_still(const struct pythia_search *s, size_t problem)
{
    struct pythia__search_keeping *k = &s->keeping[problem];
    bool now = s->problems[problem].variance_share >= s->o.min_share;
    pythia__search_run_step(s, &k->against, k->judged && now != k->matters);
    if (!k->judged || pythia__search_run_lasts(s, &k->against, MATTERS_AGAINST, 0)) {
        k->matters = now;
        k->against.cycles = 0;
    }
    k->judged = true;
    return k->matters;
}

static bool is_violated(const struct pythia_search *s, uint32_t type)
{
    for (size_t i = 0; i < s->expected.count; i++)
        if (s->expected.list[i].type == type &&
            s->expected.list[i].state == PYTHIA_EXPECTED_VIOLATED)
            return true;
    return false;
}

/* Classify a type by its evidence before any edge is inspected. Findings of a type stay true
 * when other types vary more: its search ends then, and only a type that varies no more is
 * quiet. */
static enum pythia_problem_state judge_problem_state(const struct pythia_search *s, size_t problem)
{
    const struct pythia_problem *p = &s->problems[problem];
    struct pythia__search_keeping *k = &s->keeping[problem];
    double cov = pythia_exact_moments_cov(&k->evidence->moments);
    if (!pythia_space_type(s->space, k->evidence->unsplit))
        return PYTHIA_PROBLEM_UNKNOWN;
    if (pythia_type_evidence(k->evidence) < (double)s->o.min_requests)
        return PYTHIA_PROBLEM_TOO_FEW;
    /* Also if it is NaN: then all durations are 0. */
    if (!(cov >= s->o.min_cov)) {
        k->judged = false;
        return PYTHIA_PROBLEM_QUIET;
    }
    bool matters = matters_still(s, problem);
    if (matters || k->violated)
        return PYTHIA_PROBLEM_SEARCHING;
    return p->cause_count > 0 || pythia__search_is_spread(p) ? PYTHIA_PROBLEM_DONE
                                                             : PYTHIA_PROBLEM_QUIET;
}

/* Requests of the type vary no more: what made them do so is past. */
static void clear_past_causes(struct pythia_search *s, size_t problem)
{
    struct pythia_problem *p = &s->problems[problem];
    p->refuted = p->cause_count > 0;
    p->cause_count = 0;
    p->top.share = p->rest = NAN;
    p->retries = p->retry_in = 0;
    s->keeping[problem].looked = p->cycles;
    s->keeping[problem].idle = s->keeping[problem].unanswered = 0;
    pythia__search_forget(s, problem);
}

/* Requests in one cycle: those of a rare type came in several. */
static double requests_in_cycle(const struct pythia_type *t)
{
    return (double)t->moments.weight / (t->cycles > 1 ? (double)t->cycles : 1);
}

/* The variance within a type, of all its requests in one cycle. */
static double variance_in_cycle(const struct pythia_type *t)
{
    double variance = pythia_exact_moments_variance(&t->moments);
    return isnan(variance) ? 0 : variance * requests_in_cycle(t);
}

bool pythia__search_is_resting(const struct pythia_search *s, size_t problem)
{
    const struct pythia_problem *p = &s->problems[problem];
    const struct pythia__search_keeping *k = &s->keeping[problem];
    /* `judged`: it varies, and too little to matter. */
    return p->state == PYTHIA_PROBLEM_QUIET && p->cycles > 0 && !k->judged &&
           !pythia__search_run_lasts(s, &k->quiet, PYTHIA__SEARCH_QUIET, 1);
}

int pythia__search_meet(struct pythia_search *s, const struct pythia_type *types, size_t count)
{
    double all = 0;
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++)
        all += variance_in_cycle(&types[i]);
    for (size_t i = 0; i < s->problem_count; i++) {
        unknown += !pythia_space_type(s->space, s->problems[i].unsplit);
        s->problems[i].requests = s->problems[i].carried = 0;
        s->problems[i].grown = s->problems[i].refuted = s->problems[i].retried = false;
        s->keeping[i].evidence = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t number;
        if (!may_have_problem(s, &types[i], &unknown))
            continue;
        if (find_or_add_problem(s, &types[i], &number) != PYTHIA_OK ||
            pythia__search_meet_type(s, types[i].unsplit) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        struct pythia_problem *p = &s->problems[number];
        s->keeping[number].evidence = &types[i];
        s->keeping[number].violated = is_violated(s, types[i].name);
        p->requests = types[i].moments.n;
        p->carried = types[i].carried;
        p->variance_share = all > 0 ? variance_in_cycle(&types[i]) / all : 0;
        bool settled = p->state == PYTHIA_PROBLEM_DONE || p->state == PYTHIA_PROBLEM_GIVEN_UP;
        enum pythia_problem_state now = judge_problem_state(s, number);
        if (!settled || now == PYTHIA_PROBLEM_QUIET || now == PYTHIA_PROBLEM_UNKNOWN)
            p->state = now;
        if (p->state != PYTHIA_PROBLEM_GIVEN_UP && !pythia__search_is_spread(p))
            p->retry_in = 0;
    }
    for (size_t i = 0; i < s->problem_count; i++)
        if (s->problems[i].requests == 0 && s->problems[i].state == PYTHIA_PROBLEM_SEARCHING)
            s->problems[i].state = PYTHIA_PROBLEM_TOO_FEW;
    for (size_t i = 0; i < s->problem_count; i++) {
        struct pythia__search_keeping *k = &s->keeping[i];
        enum pythia_problem_state state = s->problems[i].state;
        bool grows = k->evidence && k->evidence->moments.n > k->evidence->carried;
        pythia__search_run_step(s, &k->starved, state == PYTHIA_PROBLEM_TOO_FEW && !grows);
        pythia__search_run_step(s, &k->quiet, state == PYTHIA_PROBLEM_QUIET);
        if (pythia__search_run_lasts(s, &k->quiet, PYTHIA__SEARCH_QUIET, 1))
            clear_past_causes(s, i);
        s->problems[i].resting = pythia__search_is_resting(s, i);
    }
    return PYTHIA_OK;
}
