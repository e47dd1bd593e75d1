#include "report_omitted.h"

#include "pythia/mem.h"

unsigned char *pythia__brief_types(const struct pythia_diagnosis *d)
{
    size_t *groups = pythia_calloc(d->type_count + 1, sizeof(*groups));
    unsigned char *types = pythia_calloc(d->type_count + 1, sizeof(*types));
    for (size_t i = 0; groups && types && i < d->group_count; i++) {
        groups[d->groups[i].type]++;
        if (d->groups[i].status == PYTHIA_GROUP_DIAGNOSED)
            types[d->groups[i].type] = PYTHIA__BRIEF_TOLD;
    }
    for (size_t i = 0; groups && types && i < d->type_count; i++)
        if (types[i] == PYTHIA__BRIEF_TOLD && groups[i] == 1)
            types[i] = PYTHIA__BRIEF_ALONE;
    if (!groups) {
        pythia_free(types);
        types = NULL;
    }
    pythia_free(groups);
    return types;
}

json_t *pythia__brief_group(struct pythia__json *w, const struct pythia_diagnosis *d,
                            const struct pythia_group *g)
{
    struct pythia_text name = pythia_vocabulary_text(w->vocabulary, d->types[g->type].type->name);
    json_t *out = json_object();
    pythia__json_set(w, out, "request_type", pythia__json_text(name));
    pythia__json_set(w, out, "status", json_string(pythia_group_status_name(g->status)));
    pythia__json_set(w, out, "count", pythia__json_count(g->count));
    pythia__json_set(w, out, "mean_ns", pythia__json_real(g->mean_ns));
    return out;
}

json_t *pythia__brief_open(struct pythia__json *w, const struct pythia_report_source *source)
{
    json_t *out = json_array();
    for (size_t i = 0; i < source->next_count; i++)
        if (!source->open || pythia_open_points_has(source->open, source->next[i].tracepoint))
            pythia__json_append(w, out, pythia__json_point(w, source->next[i].tracepoint));
    return out;
}
