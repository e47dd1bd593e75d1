#include "report_splits.h"

#include <math.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/exact_moments.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "sentences.h"

#define LABEL_SHOWN  120 /* characters of a part's name, in a sentence */
#define OPTION_SHOWN 400 /* bytes of an option */

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

/* All requests of one request type, and those in each part of one split. */
struct tally {
    const struct pythia_grouping_key *key;
    size_t split;
    uint32_t type;
    const struct pythia_split_rule *rule;
    struct pythia_exact_moments all, *parts;
    uint32_t count;
};

static bool count_parts(struct tally *t, const struct pythia_type *const *types, size_t count)
{
    bool with = false;
    t->count = pythia_split_rule_parts(t->rule);
    t->parts = pythia_calloc(t->count, sizeof(*t->parts));
    for (size_t i = 0; t->parts && i < count; i++) {
        if (types[i]->unsplit != t->type)
            continue;
        uint32_t part = pythia_grouping_key_part_of(t->key, types[i]->part, t->split);
        with = with || part != PYTHIA_SPLIT_WITHOUT;
        pythia_exact_moments_merge(&t->all, &types[i]->moments);
        pythia_exact_moments_merge(&t->parts[part], &types[i]->moments);
    }
    return with;
}

/* The part of the type's variance that lies between the parts; NaN if nothing varies. */
static double share_between(const struct tally *t)
{
    double mean = pythia_exact_moments_mean(&t->all), between = 0;
    double squares = pythia_exact_moments_squares(&t->all);
    for (uint32_t part = 0; part < t->count; part++) {
        double d = pythia_exact_moments_mean(&t->parts[part]) - mean;
        between += t->parts[part].n ? (double)t->parts[part].weight * d * d : 0;
    }
    return t->all.n > 1 && squares > 0 ? fmin(between / squares, 1) : NAN;
}

static json_t *split_type(struct pythia__json *w, const struct tally *t,
                          enum pythia_split_origin origin, size_t others)
{
    json_t *out = json_object(), *parts = json_array();
    for (uint32_t n = 0; n < t->count; n++) {
        uint32_t part = (n + PYTHIA_SPLIT_FIRST) % t->count; /* those without the key come last */
        struct pythia_buf label = {0};
        if (t->parts[part].n == 0)
            continue;
        pythia_split_rule_label(t->rule, &pythia_grouping_key_split(t->key, t->split)->key, part,
                                &label);
        pythia__json_append(w, parts,
                            part_object(w, pythia_buf_text(&label), t->parts[part].weight,
                                        pythia_exact_moments_mean(&t->parts[part])));
        w->failed = pythia_buf_status(&label) != 0 || w->failed;
        pythia_buf_free(&label);
    }
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->type)));
    pythia__json_set(w, out, "found_by", json_string(pythia_split_origin_name(origin)));
    set_rule(w, out, t->rule);
    pythia__json_set(w, out, "other_levels", pythia__json_count(others));
    pythia__json_set(w, out, "variance_share", pythia__json_real(share_between(t)));
    pythia__json_set(w, out, "parts", parts);
    return out;
}

/* What one split does, over the types that have its key; and how many requests have it. */
static json_t *one_split(struct pythia__json *w, const struct pythia_grouping_key *key,
                         size_t split, const struct pythia_type *const *types, size_t count)
{
    const struct pythia_split_spec *spec = pythia_grouping_key_split(key, split);
    const struct pythia_split_rule with = {.form = PYTHIA_SPLIT_PRESENT};
    json_t *out = json_object(), *list = json_array();
    struct pythia_buf text = {0};
    uint64_t requests = 0, without = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = true;
        uint32_t part = pythia_grouping_key_part_of(key, types[i]->part, split);
        *(part == PYTHIA_SPLIT_WITHOUT ? &without : &requests) += types[i]->moments.weight;
        for (size_t k = 0; k < i; k++)
            first = first && types[k]->unsplit != types[i]->unsplit;
        if (!first)
            continue;
        enum pythia_split_origin origin;
        size_t others;
        struct tally t = {.key = key, .split = split, .type = types[i]->unsplit};
        t.rule = pythia_grouping_key_rule(key, split, t.type, &origin, &others);
        if (!t.rule) { /* no request of it was there when rules were sought */
            t.rule = &with;
            origin = PYTHIA_SPLIT_OF_NONE;
        }
        if (count_parts(&t, types, count))
            pythia__json_append(w, list, split_type(w, &t, origin, others));
        w->failed = w->failed || !t.parts;
        pythia_free(t.parts);
    }
    pythia_split_spec_write(spec, &text);
    pythia__json_set(w, out, "split", json_of_buffer(w, &text));
    pythia__json_set(w, out, "key", key_name(w, &spec->key));
    pythia__json_set(w, out, "requests", pythia__json_count(requests));
    pythia__json_set(w, out, "without", pythia__json_count(without));
    pythia__json_set(w, out, "types", list);
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

/* ---- words ---- */

/* "queue_length < 2: 62 requests, mean 4.23 s; …", of an object that has "parts". */
static void add_part_list(struct pythia_buf *to, const json_t *of)
{
    const json_t *parts = pythia__array(of, "parts"), *part;
    size_t i;
    json_array_foreach (parts, i, part) {
        double requests = pythia__number(part, "requests");
        pythia_buf_puts(to, i ? "; " : "");
        pythia_shown_add(to, pythia_text_of(pythia__string(part, "part")), LABEL_SHOWN);
        pythia_buf_puts(to, ": ");
        pythia__add_count(to, requests);
        pythia_buf_puts(to, requests == 1 ? " request, mean " : " requests, mean ");
        pythia__add_duration(to, pythia__number(part, "mean_ns"));
    }
    pythia_buf_putc(to, '.');
}

bool pythia__option_fits(const char *option)
{
    return strlen(option) <= OPTION_SHOWN;
}

void pythia__add_proposal_share(struct pythia_buf *to, const json_t *proposal)
{
    const char *instead = pythia__string(proposal, "instead_of");
    bool modes = strcmp(pythia__string(proposal, "found_by"), "modes") == 0;
    if (instead[0] && pythia__option_fits(instead))
        pythia_buf_printf(to, "instead of '%s' ", instead);
    pythia_buf_puts(to, "accounts for ");
    pythia__add_percent(to, pythia__number(proposal, "variance_share"));
    double low = pythia__number(proposal, "share_low"),
           high = pythia__number(proposal, "share_high");
    if (isfinite(low) && isfinite(high))
        pythia_buf_printf(to, " (%.0f to %.0f)", 100 * low, 100 * high);
    pythia_buf_printf(to, " of the variance%s.", modes ? ", and separates the modes" : "");
}

void pythia__add_proposal(struct pythia_buf *to, const json_t *proposal)
{
    pythia__add_proposal_share(to, proposal);
    pythia_buf_putc(to, ' ');
    add_part_list(to, proposal);
}

void pythia__add_split_by(struct pythia_buf *to, const json_t *split)
{
    double requests = pythia__number(split, "requests"), without = pythia__number(split, "without");
    pythia__add_count(to, requests);
    pythia_buf_puts(to, requests == 1 ? " request has it, " : " requests have it, ");
    pythia__add_count(to, without);
    pythia_buf_puts(to, without == 1 ? " does not." : " do not.");
}

static void add_numbers(struct pythia_buf *to, const json_t *cuts)
{
    size_t count = json_array_size(cuts);
    for (size_t i = 0; i < count; i++) {
        pythia_buf_puts(to, i == 0 ? "" : i + 1 == count ? " and " : ", ");
        pythia_split_number_add(json_number_value(json_array_get(cuts, i)), to);
    }
}

void pythia__add_split_share(struct pythia_buf *to, const json_t *type)
{
    const char *by = pythia__string(type, "found_by");
    double others = pythia__number(type, "other_levels");
    bool modes = strcmp(by, "modes") == 0;
    if (modes || strcmp(by, "variance") == 0) {
        pythia_buf_puts(to, "Cut at ");
        add_numbers(to, pythia__array(type, "cuts"));
        pythia_buf_puts(to, modes ? ", which separates the modes of the durations. "
                                  : ", which separates most of the variance. ");
    } else if (strcmp(by, "none") == 0) {
        pythia_buf_puts(to, "No cut separates its values. ");
    } else if (others > 0) {
        pythia_buf_printf(to, "The %zu most frequent levels are subsets, ",
                          json_array_size(pythia__array(type, "levels")));
        pythia__add_count(to, others);
        pythia_buf_puts(to,
                        others == 1 ? " more is with the others. " : " more are with the others. ");
    }
    pythia_buf_puts(to, "This split accounts for ");
    pythia__add_percent(to, pythia__number(type, "variance_share"));
    pythia_buf_puts(to, " of the variance of the type.");
}

void pythia__add_split_type(struct pythia_buf *to, const json_t *type)
{
    pythia__add_split_share(to, type);
    pythia_buf_putc(to, ' ');
    add_part_list(to, type);
}
