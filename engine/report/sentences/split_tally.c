#include "split_tally.h"

#include <math.h>

#include "pythia/exact_moments.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/text.h"

/* The rule for a type without requests at the time when rules were learnt. */
static const struct pythia_split_rule present = {.form = PYTHIA_SPLIT_PRESENT};

/* All requests of one request type, and those in each part of one split. */
struct moments {
    struct pythia_exact_moments all, *parts;
    uint32_t count;
};

/* Add up the parts of a type; whether any request of it has the key. */
static bool add_up_parts(struct moments *m, const struct pythia_grouping_key *key, size_t split,
                         uint32_t type, const struct pythia_type *const *types, size_t count)
{
    bool with = false;
    for (size_t i = 0; i < count; i++) {
        if (types[i]->unsplit != type)
            continue;
        uint32_t part = pythia_grouping_key_part_of(key, types[i]->part, split);
        with = with || part != PYTHIA_SPLIT_WITHOUT;
        pythia_exact_moments_merge(&m->all, &types[i]->moments);
        pythia_exact_moments_merge(&m->parts[part], &types[i]->moments);
    }
    return with;
}

static double share_between(const struct moments *m)
{
    double mean = pythia_exact_moments_mean(&m->all), between = 0;
    double squares = pythia_exact_moments_squares(&m->all);
    for (uint32_t part = 0; part < m->count; part++) {
        double d = pythia_exact_moments_mean(&m->parts[part]) - mean;
        between += m->parts[part].n ? (double)m->parts[part].weight * d * d : 0;
    }
    return m->all.n > 1 && squares > 0 ? fmin(between / squares, 1) : NAN;
}

static int list_parts(struct pythia__split_type *t, const struct moments *m,
                      const struct pythia_key_name *key)
{
    t->parts = pythia_calloc(m->count, sizeof(*t->parts));
    if (!t->parts)
        return PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < m->count; n++) {
        uint32_t part = (n + PYTHIA_SPLIT_FIRST) % m->count; /* those without the key come last */
        struct pythia_buf label = {0};
        if (m->parts[part].n == 0)
            continue;
        pythia_split_rule_label(t->rule, key, part, &label);
        if (pythia_buf_status(&label) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        t->parts[t->part_count++] = (struct pythia__split_part){
            label.bytes, m->parts[part].weight, pythia_exact_moments_mean(&m->parts[part])};
    }
    return PYTHIA_OK;
}

static int add_type(struct pythia__split_tally *t, const struct pythia_grouping_key *key,
                    size_t split, uint32_t name, const struct pythia_type *const *types,
                    size_t count)
{
    struct pythia__split_type *out = &t->types[t->type_count];
    *out = (struct pythia__split_type){.type = name};
    out->rule = pythia_grouping_key_rule(key, split, name, &out->origin, &out->others);
    if (!out->rule) {
        out->rule = &present;
        out->origin = PYTHIA_SPLIT_OF_NONE;
        out->others = 0;
    }
    struct moments m = {.count = pythia_split_rule_parts(out->rule)};
    m.parts = pythia_calloc(m.count, sizeof(*m.parts));
    int status = m.parts ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (m.parts && add_up_parts(&m, key, split, name, types, count)) {
        out->share = share_between(&m);
        status = list_parts(out, &m, &pythia_grouping_key_split(key, split)->key);
        t->type_count++;
    }
    pythia_free(m.parts);
    return status;
}

int pythia__split_tally_make(const struct pythia_grouping_key *key, size_t split,
                             const struct pythia_type *const *types, size_t count,
                             struct pythia__split_tally *out)
{
    struct pythia__split_tally t = {0};
    t.types = pythia_calloc(count + 1, sizeof(*t.types));
    int status = t.types ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; status == PYTHIA_OK && i < count; i++) {
        bool first = true;
        uint32_t part = pythia_grouping_key_part_of(key, types[i]->part, split);
        *(part == PYTHIA_SPLIT_WITHOUT ? &t.without : &t.requests) += types[i]->moments.weight;
        for (size_t k = 0; k < i; k++)
            first = first && types[k]->unsplit != types[i]->unsplit;
        if (first)
            status = add_type(&t, key, split, types[i]->unsplit, types, count);
    }
    if (status == PYTHIA_OK)
        *out = t;
    else
        pythia__split_tally_free(&t);
    return status;
}

void pythia__split_tally_free(struct pythia__split_tally *t)
{
    for (size_t i = 0; i < t->type_count; i++) {
        for (size_t k = 0; k < t->types[i].part_count; k++)
            pythia_free(t->types[i].parts[k].label);
        pythia_free(t->types[i].parts);
    }
    pythia_free(t->types);
    *t = (struct pythia__split_tally){0};
}

void pythia__say_split_counts(struct pythia__doc *d, const struct pythia__split_tally *t)
{
    pythia__doc_count(d, (double)t->requests, " request has it, ", " requests have it, ");
    pythia__doc_count(d, (double)t->without, " does not.", " do not.");
}

void pythia__say_split_type(struct pythia__doc *d, const struct pythia__split_type *t)
{
    bool modes = t->origin == PYTHIA_SPLIT_OF_MODES;
    struct pythia_buf cuts = {0};
    for (size_t i = 0; i < t->rule->cut_count; i++) {
        pythia_buf_puts(&cuts, i == 0 ? "" : i + 1 == t->rule->cut_count ? " and " : ", ");
        pythia_split_number_add(t->rule->cuts[i], &cuts);
    }
    if (modes || t->origin == PYTHIA_SPLIT_OF_VARIANCE) {
        pythia__doc_words(d, "Cut at ");
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_buf_text(&cuts));
        pythia__doc_words(d, modes ? ", which separates the modes of the durations. "
                                   : ", which separates most of the variance. ");
    } else if (t->origin == PYTHIA_SPLIT_OF_NONE) {
        pythia__doc_words(d, "No cut separates its values. ");
    } else if (t->others > 0) {
        pythia__doc_words(d, "The %zu most frequent levels are subsets, ", t->rule->set_count);
        pythia__doc_count(d, (double)t->others, " more is in the rest. ",
                          " more are in the rest. ");
    }
    d->failed = d->failed || cuts.failed;
    pythia_buf_free(&cuts);
    pythia__doc_words(d, "This split accounts for ");
    pythia__doc_percent(d, t->share);
    pythia__doc_words(d, " of the variance of the type.");
}
