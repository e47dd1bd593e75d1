/* Requests of one type, and what explains the differences between them. */
#ifndef PYTHIA_TEST_EXPLAIN_CASE_H
#define PYTHIA_TEST_EXPLAIN_CASE_H

#include "pythia/explain.h"
#include "requests.h"

/* What explains the differences within a set of one type. */
struct explained {
    const struct pythia_row **rows;
    size_t count;
    const struct pythia_cct *cct;
    struct pythia_ranking ranking;
    struct pythia_explanations x;
};

static inline void rank_all(struct requests *r, struct explained *e)
{
    size_t types;
    const struct pythia_type *type = requests_finish(r, &types);
    struct pythia_rank_options options = {.level = .95, .alpha = .05};
    assert_int_equal(types, 1);
    e->cct = pythia_groups_cct(r->groups);
    e->rows = requests_rows(type, &e->count);
    assert_int_equal(pythia_rank(e->rows, e->count, e->cct, &options, &e->ranking), PYTHIA_OK);
}

static inline struct explained explain(struct requests *r)
{
    struct explained e;
    rank_all(r, &e);
    int status =
        pythia_explain(e.rows, &e.ranking, pythia_groups_keys(r->groups), e.cct, .05, 1, 0, &e.x);
    assert_int_equal(status, PYTHIA_OK);
    return e;
}

static inline void end(struct explained *e, struct requests *r)
{
    pythia_explanations_free(&e->x);
    pythia_ranking_free(&e->ranking);
    free(e->rows);
    requests_end(r);
}

static inline const struct pythia_explanation *found(const struct explained *e, const char *name)
{
    for (size_t i = 0; i < e->x.found_count; i++)
        if (strcmp(e->x.found[i].name, name) == 0)
            return &e->x.found[i];
    return NULL;
}

/* Why a key was not tested; NULL: it was, or there is none. */
static inline const char *skipped(const struct explained *e, const char *name)
{
    for (size_t i = 0; i < e->x.skipped_count; i++)
        if (strcmp(e->x.skipped[i].name, name) == 0)
            return e->x.skipped[i].reason;
    return NULL;
}

#endif
