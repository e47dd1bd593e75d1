#include "pythia/series_join.h"

#include <math.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia_series_join {
    const struct pythia_series *series;
    size_t count;
    uint32_t *keys; /* of each series */
    uint64_t age_ns;
    struct pythia_trace trace;
    struct pythia_trace_span *spans;
    size_t capacity;
    struct pythia_buf attributes;
    struct pythia_series_join_counts counts;
};

/* The keys are interned once: then a request costs no lookup by text. */
int pythia_series_join_create(const struct pythia_series_set *set, uint64_t age_ns,
                              struct pythia_vocabulary *vocabulary, struct pythia_series_join **out)
{
    struct pythia_series_join *j = pythia_calloc(1, sizeof(*j));
    struct pythia_buf name = {0};
    if (!j)
        return PYTHIA_ENOMEM;
    j->series = pythia_series_all(set, &j->count);
    j->age_ns = age_ns;
    j->keys = pythia_calloc(j->count, sizeof(*j->keys));
    if (!j->keys)
        goto out;
    for (size_t i = 0; i < j->count; i++) {
        pythia_buf_clear(&name);
        pythia_buf_puts(&name, "series.");
        pythia_buf_text_add(&name, j->series[i].label);
        if (pythia_buf_status(&name) != PYTHIA_OK)
            goto out;
        j->keys[i] = pythia_vocabulary_string(vocabulary, pythia_buf_text(&name));
        if (j->keys[i] == PYTHIA_NONE)
            goto out;
    }
    pythia_buf_free(&name);
    *out = j;
    return PYTHIA_OK;
out:
    pythia_buf_free(&name);
    pythia_series_join_destroy(j);
    return PYTHIA_ENOMEM;
}

void pythia_series_join_destroy(struct pythia_series_join *j)
{
    if (!j)
        return;
    pythia_free(j->keys);
    pythia_free(j->spans);
    pythia_buf_free(&j->attributes);
    pythia_free(j);
}

/* The value as of the beginning of the request: later values may be its consequence. */
const struct pythia_trace *pythia_series_join_trace(struct pythia_series_join *j,
                                                    const struct pythia_trace *trace)
{
    if (trace->first_root == PYTHIA_NO_SPAN || j->count == 0)
        return trace;
    if (pythia_reach(&j->spans, &j->capacity, trace->count, sizeof(*j->spans)) != PYTHIA_OK)
        return NULL;
    memcpy(j->spans, trace->spans, trace->count * sizeof(*j->spans));
    struct pythia_trace_span *root = &j->spans[trace->first_root];
    pythia_buf_clear(&j->attributes);
    pythia_buf_text_add(&j->attributes, root->attributes);
    for (size_t i = 0; i < j->count; i++) {
        const struct pythia_series_point *point =
            pythia_series_as_of(&j->series[i], trace->start_ns, j->age_ns);
        j->counts.joined += point != NULL;
        j->counts.missing += point == NULL;
        if (point)
            pythia_attributes_real(&j->attributes, j->keys[i], point->value);
    }
    if (pythia_buf_status(&j->attributes) != PYTHIA_OK)
        return NULL;
    root->attributes = pythia_buf_text(&j->attributes);
    j->trace = *trace;
    j->trace.spans = j->spans;
    return &j->trace;
}

void pythia_series_join_again(struct pythia_series_join *j)
{
    j->counts = (struct pythia_series_join_counts){0};
}

struct pythia_series_join_counts pythia_series_join_counts(const struct pythia_series_join *j)
{
    return j->counts;
}
