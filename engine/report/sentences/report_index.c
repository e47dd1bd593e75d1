#include "report_index.h"

#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* A number that something is known by, and its place in a list. */
struct key {
    uint64_t number;
    size_t at;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void sort_index_keys(struct key *keys, size_t count)
{
    if (count > 1)
        qsort(keys, count, sizeof(*keys), compare_keys);
}

static const struct key *find_key(const struct key *keys, size_t count, uint64_t number)
{
    const struct key wanted = {number, 0};
    return count > 0 ? bsearch(&wanted, keys, count, sizeof(*keys), compare_keys) : NULL;
}

static int index_types(const struct pythia_report_source *s, struct pythia__index *x)
{
    const struct pythia_diagnosis *d = s->diagnosis;
    struct key *keys = pythia_calloc(d->type_count + 1, sizeof(*keys));
    if (!keys)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->type_count; i++)
        keys[i] = (struct key){d->types[i].type->name, i};
    sort_index_keys(keys, d->type_count);
    for (size_t i = 0; i < s->verdicts->count; i++) {
        const struct key *key = find_key(keys, d->type_count, s->verdicts->list[i].type);
        if (key)
            x->of_types[key->at] = &s->verdicts->list[i];
    }
    pythia_free(keys);
    return PYTHIA_OK;
}

static int index_groups(const struct pythia_report_source *s, struct pythia__index *x)
{
    const struct pythia_diagnosis *d = s->diagnosis;
    struct key *keys = pythia_calloc(d->group_count + 1, sizeof(*keys));
    if (!keys)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count; i++)
        keys[i] = (struct key){d->groups[i].id, i};
    sort_index_keys(keys, d->group_count);
    for (size_t i = 0; i < s->verdicts->count; i++) {
        uint64_t id = s->verdicts->list[i].group;
        const struct key *key = id != 0 ? find_key(keys, d->group_count, id) : NULL;
        x->of_verdicts[i] = key ? &d->groups[key->at] : NULL;
    }
    pythia_free(keys);
    return PYTHIA_OK;
}

static int index_problems(const struct pythia_report_source *s, struct pythia__index *x)
{
    size_t count = s->loop ? s->loop->problem_count : 0;
    struct key *keys = pythia_calloc(count + 1, sizeof(*keys));
    if (!keys)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct key){s->loop->problems[i].type, i};
    sort_index_keys(keys, count);
    for (size_t i = 0; i < s->verdicts->count; i++) {
        const struct key *key = find_key(keys, count, s->verdicts->list[i].type);
        x->problems[i] = key ? &s->loop->problems[key->at] : NULL;
    }
    pythia_free(keys);
    return PYTHIA_OK;
}

int pythia__index_make(const struct pythia_report_source *s, struct pythia__index *out)
{
    size_t types = s->diagnosis->type_count, verdicts = s->verdicts ? s->verdicts->count : 0;
    struct pythia__index x = {
        pythia_calloc(types + 1, sizeof(const struct pythia_verdict *)),
        pythia_calloc(verdicts + 1, sizeof(const struct pythia_problem *)),
        pythia_calloc(verdicts + 1, sizeof(const struct pythia_group *)),
    };
    int status = x.of_types && x.problems && x.of_verdicts ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK || (verdicts > 0 && ((status = index_types(s, &x)) != PYTHIA_OK ||
                                                 (status = index_groups(s, &x)) != PYTHIA_OK ||
                                                 (status = index_problems(s, &x)) != PYTHIA_OK))) {
        pythia__index_free(&x);
        return status;
    }
    *out = x;
    return PYTHIA_OK;
}

void pythia__index_free(struct pythia__index *x)
{
    pythia_free(x->of_types);
    pythia_free(x->problems);
    pythia_free(x->of_verdicts);
    *x = (struct pythia__index){0};
}
