#include "json_splits.h"

#include "pythia/buf.h"
#include "pythia/status.h"
#include "sentences/split_tally.h"

/* ---- JSON: what any split has ---- */

static json_t *json_of_buffer(struct pythia__json *w, struct pythia_buf *text)
{
    json_t *out = pythia__json_text(pythia_buf_text(text));
    w->failed = pythia_buf_status(text) != 0 || w->failed;
    pythia_buf_free(text);
    return out;
}

static json_t *key_name(struct pythia__json *w, const struct pythia_key_name *key)
{
    struct pythia_buf text = {0};
    pythia_key_name_add(key, &text);
    return json_of_buffer(w, &text);
}

/* "cuts" and "levels" of a rule. */
static void set_rule(struct pythia__json *w, json_t *to, const struct pythia_split_rule *rule)
{
    json_t *cuts = json_array(), *levels = json_array();
    for (size_t i = 0; rule && i < rule->cut_count; i++)
        pythia__json_append(w, cuts, pythia__json_real(rule->cuts[i]));
    for (size_t set = 0; rule && set < rule->set_count; set++) {
        json_t *one = json_array();
        for (size_t i = 0; i < rule->level_count; i++)
            if (rule->levels[i].set == set)
                pythia__json_append(w, one, pythia__json_text(rule->levels[i].text));
        pythia__json_append(w, levels, one);
    }
    pythia__json_set(w, to, "cuts", cuts);
    pythia__json_set(w, to, "levels", levels);
}

static json_t *part_object(struct pythia__json *w, struct pythia_text label, uint64_t requests,
                           double mean_ns)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "part", pythia__json_text(label));
    pythia__json_set(w, out, "requests", pythia__json_count(requests));
    pythia__json_set(w, out, "mean_ns", pythia__json_real(mean_ns));
    return out;
}

/* ---- JSON: proposals ---- */

static json_t *make_split_proposal(struct pythia__json *w, const struct pythia_group *g,
                                   const struct pythia_split_proposal *s)
{
    const struct pythia_explanation *x = &g->explanations.found[s->explanation];
    bool categorical = x->kind == PYTHIA_KEY_CATEGORICAL || x->kind == PYTHIA_KEY_HAS;
    json_t *out = json_object(), *parts = json_array();
    struct pythia_buf option = {0};
    pythia_buf_printf(&option, "--split '%s'", s->text); /* which has no quote in it */
    for (size_t i = 0; i < s->part_count; i++)
        pythia__json_append(w, parts,
                            part_object(w, pythia_text_of(s->parts[i].label), s->parts[i].requests,
                                        s->parts[i].mean_ns));
    pythia__json_set(w, out, "key", pythia__json_text(pythia_text_of(x->name)));
    pythia__json_set(w, out, "kind", json_string(categorical ? "categorical" : "numeric"));
    pythia__json_set(w, out, "split", pythia__json_text(pythia_text_of(s->text)));
    pythia__json_set(w, out, "option", json_of_buffer(w, &option));
    pythia__json_set(w, out, "instead_of",
                     s->instead ? pythia__json_text(pythia_text_of(s->instead)) : json_null());
    pythia__json_set(w, out, "found_by", json_string(s->of_modes ? "modes" : "explanation"));
    set_rule(w, out, &s->rule);
    pythia__json_set(w, out, "variance_share", pythia__json_real(s->between.share));
    pythia__json_set(w, out, "share_low", pythia__json_real(s->between.low));
    pythia__json_set(w, out, "share_high", pythia__json_real(s->between.high));
    pythia__json_set(w, out, "q", pythia__json_real(x->result.q));
    pythia__json_set(w, out, "parts", parts);
    return out;
}

json_t *pythia__json_proposals(struct pythia__json *w, const struct pythia_group *g)
{
    json_t *out = json_array();
    for (size_t i = 0; i < g->splits.count; i++)
        pythia__json_append(w, out, make_split_proposal(w, g, &g->splits.all[i]));
    return out;
}

/* ---- JSON: the grouping key ---- */

static json_t *split_type(struct pythia__json *w, const struct pythia__split_type *t)
{
    json_t *out = json_object(), *parts = json_array();
    for (size_t i = 0; i < t->part_count; i++)
        pythia__json_append(w, parts,
                            part_object(w, pythia_text_of(t->parts[i].label), t->parts[i].requests,
                                        t->parts[i].mean_ns));
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->type)));
    pythia__json_set(w, out, "found_by", json_string(pythia_split_origin_name(t->origin)));
    set_rule(w, out, t->rule);
    pythia__json_set(w, out, "other_levels", pythia__json_count(t->others));
    pythia__json_set(w, out, "variance_share", pythia__json_real(t->share));
    pythia__json_set(w, out, "parts", parts);
    return out;
}

/* The effect of one split on the types that have its key, and the number of requests with it. */
static json_t *one_split(struct pythia__json *w, const struct pythia_grouping_key *key,
                         size_t split, const struct pythia_type *const *types, size_t count)
{
    const struct pythia_split_spec *spec = pythia_grouping_key_split(key, split);
    struct pythia__split_tally tally = {0};
    json_t *out = json_object(), *list = json_array();
    struct pythia_buf text = {0};
    if (pythia__split_tally_make(key, split, types, count, &tally) != PYTHIA_OK)
        w->failed = true;
    for (size_t i = 0; i < tally.type_count; i++)
        pythia__json_append(w, list, split_type(w, &tally.types[i]));
    pythia_split_spec_write(spec, &text);
    pythia__json_set(w, out, "split", json_of_buffer(w, &text));
    pythia__json_set(w, out, "key", key_name(w, &spec->key));
    pythia__json_set(w, out, "requests", pythia__json_count(tally.requests));
    pythia__json_set(w, out, "without", pythia__json_count(tally.without));
    pythia__json_set(w, out, "types", list);
    pythia__split_tally_free(&tally);
    return out;
}

json_t *pythia__json_split_by(struct pythia__json *w, const struct pythia_grouping_key *key,
                              const struct pythia_type *const *types, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; key && i < pythia_grouping_key_count(key); i++)
        pythia__json_append(w, out, one_split(w, key, i, types, count));
    return out;
}

json_t *pythia__json_compared_splits(struct pythia__json *w, const struct pythia_grouping_key *key,
                                     const struct pythia_comparison *c)
{
    static const char *const names[] = {"before", "after"};
    json_t *out = json_array();
    for (size_t split = 0; key && split < pythia_grouping_key_count(key); split++) {
        const struct pythia_split_spec *spec = pythia_grouping_key_split(key, split);
        json_t *one = json_object(), *requests = json_object(), *without = json_object();
        struct pythia_buf text = {0};
        for (size_t side = 0; side < 2; side++) {
            uint64_t counts[2] = {0, 0}; /* with the key, without it */
            for (size_t i = 0; i < c->type_count; i++) {
                const struct pythia_type *t = side ? c->types[i].after : c->types[i].before;
                if (t)
                    counts[pythia_grouping_key_part_of(key, t->part, split) ==
                           PYTHIA_SPLIT_WITHOUT] += t->moments.weight;
            }
            pythia__json_set(w, requests, names[side], pythia__json_count(counts[0]));
            pythia__json_set(w, without, names[side], pythia__json_count(counts[1]));
        }
        pythia_split_spec_write(spec, &text);
        pythia__json_set(w, one, "split", json_of_buffer(w, &text));
        pythia__json_set(w, one, "key", key_name(w, &spec->key));
        pythia__json_set(w, one, "requests", requests);
        pythia__json_set(w, one, "without", without);
        pythia__json_append(w, out, one);
    }
    return out;
}
