/* An explanation says that a key goes with the durations; here a rule is made of it that parts
 * later requests too. Proposals are worth making only if the parts surely differ. */
#include "pythia/split_proposal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "group/split_cuts.h"
#include "pythia/mem.h"
#include "pythia/mode_cuts.h"
#include "pythia/shares.h"
#include "pythia/status.h"

/* The requests, and the values of the current key. */
struct proposing {
    const struct pythia_row *const *rows;
    size_t n;
    const struct pythia_modes *modes;
    const struct pythia_explanations *found;
    struct pythia_key_name *names; /* of the explanations */
    struct pythia_key_reader *reader;
    const struct pythia_grouping_key *key; /* NULL: none */
    uint32_t type;
    double alpha;
    double *durations, *clipped, *numbers; /* NaN: no number */
    uint32_t *parts;                       /* of a split at hand */
    uint32_t *keys;                        /* of all rows, rising; owned */
    size_t key_count, key_capacity;
};

/* ---- numbers ---- */

/* Cut a number where the modes of the durations change, or else where the explanation cuts it. */
static int cut_numbers(struct proposing *p, size_t which, struct pythia_split_proposal *out)
{
    const struct pythia_split *s = &p->found->found[which].result.split;
    double cuts[PYTHIA_MODES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct pythia_key_value value;
        int status = pythia_key_reader_row(p->reader, which, p->rows[i], &value);
        if (status != PYTHIA_OK)
            return status;
        p->numbers[i] = value.numeric ? value.number : NAN;
    }
    int status = pythia__split_by_modes(p->numbers, p->durations, p->n, p->modes, cuts, &count);
    if (status != PYTHIA_OK)
        return status;
    out->of_modes = count > 0;
    if (count == 0 && isfinite(s->cut)) {
        cuts[count++] = s->cut;
        pythia__split_tidy(p->numbers, p->n, cuts, count);
    }
    if (count > 0)
        return pythia_split_rule_cuts(cuts, count, &out->rule);
    out->rule.form = PYTHIA_SPLIT_PRESENT; /* all values are one, or there is no split */
    return PYTHIA_OK;
}

/* ---- levels ---- */

struct level {
    struct pythia_text text; /* owned by the array's texts */
    double sum;
    size_t requests;
};

static int compare_part_texts(const void *a, const void *b)
{
    return pythia_text_compare(((const struct level *)a)->text, ((const struct level *)b)->text);
}

static int compare_means(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    double p = x->sum / (double)x->requests, q = y->sum / (double)y->requests;
    return p != q ? (p > q) - (p < q) : compare_part_texts(a, b);
}

/* The different levels in the order of their mean durations, which are clipped; place_of[i] becomes
 * the place of request i in that order, NaN if it has none. */
struct levels {
    struct level *all;
    size_t count;
    struct pythia_buf *texts; /* [n]: of each request */
};

static void free_levels(struct levels *l, size_t n)
{
    for (size_t i = 0; l->texts && i < n; i++)
        pythia_buf_free(&l->texts[i]);
    pythia_free(l->texts);
    pythia_free(l->all);
}

/* Merge the levels, which are sorted by text: one entry for each, with its sum. */
static void merge_levels(struct levels *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct level *last = l->count ? &l->all[l->count - 1] : NULL;
        if (last && pythia_text_equal(last->text, l->all[i].text)) {
            last->sum += l->all[i].sum;
            last->requests++;
        } else {
            l->all[l->count++] = l->all[i];
        }
    }
}

/* The texts are copied, because the reader reuses its buffer for the next row. */
static int read_levels(struct proposing *p, size_t which, struct levels *l)
{
    size_t n = 0;
    l->texts = pythia_calloc(p->n, sizeof(*l->texts));
    l->all = pythia_calloc(p->n, sizeof(*l->all));
    if (!l->texts || !l->all)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < p->n; i++) {
        struct pythia_key_value value;
        struct pythia_text text;
        p->numbers[i] = NAN;
        int status = pythia_key_reader_row(p->reader, which, p->rows[i], &value);
        if (status != PYTHIA_OK)
            return status;
        if (!value.present)
            continue;
        p->numbers[i] = 0; /* it has one; place_levels finds which */
        status = pythia_key_reader_text(p->reader, &text);
        if (status != PYTHIA_OK)
            return status;
        pythia_buf_text_add(&l->texts[i], text);
        if (pythia_buf_status(&l->texts[i]) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        l->all[n++] = (struct level){pythia_buf_text(&l->texts[i]), p->clipped[i], 1};
    }
    if (n > 0)
        qsort(l->all, n, sizeof(*l->all), compare_part_texts);
    merge_levels(l, n);
    return PYTHIA_OK;
}

static void place_levels(struct proposing *p, struct levels *l)
{
    if (l->count > 0)
        qsort(l->all, l->count, sizeof(*l->all), compare_means);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < l->count && !isnan(p->numbers[i]); k++)
            if (pythia_text_equal(l->all[k].text, pythia_buf_text(&l->texts[i]))) {
                p->numbers[i] = (double)k;
                break;
            }
}

/* The levels above the first cut, each in the set of its interval; those below it are the others.
 */
static int sets_of(const struct levels *l, const double *cuts, size_t count,
                   struct pythia_split_rule *out)
{
    struct pythia_split_level *levels = pythia_calloc(l->count, sizeof(*levels));
    size_t n = 0;
    if (!levels)
        return PYTHIA_ENOMEM;
    for (size_t k = 0; k < l->count; k++) {
        size_t set = 0;
        /* Levels were numbered by their mean duration: cuts lie between two of them. */
        while (set < count && cuts[set] <= (double)k)
            set++;
        if (set > 0)
            levels[n++] = (struct pythia_split_level){l->all[k].text, set - 1};
    }
    int status = pythia_split_rule_sets(levels, n, count, out);
    pythia_free(levels);
    return status;
}

static int slow_set(const struct pythia_explanation *x, struct pythia_split_rule *out)
{
    struct pythia_split_level *levels = pythia_calloc(x->slow_level_count, sizeof(*levels));
    if (!levels)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < x->slow_level_count; i++)
        levels[i] = (struct pythia_split_level){x->slow_levels[i], 0};
    int status = pythia_split_rule_sets(levels, x->slow_level_count, 1, out);
    pythia_free(levels);
    return status;
}

/* Levels are put in the order of their mean durations, and cut as numbers are: levels of one mode
 * form one set. Without modes the set of slow levels that the explanation found is the split. */
static int part_levels(struct proposing *p, size_t which, struct pythia_split_proposal *out)
{
    const struct pythia_explanation *x = &p->found->found[which];
    struct levels l = {0};
    double cuts[PYTHIA_MODES_MAX];
    size_t count = 0;
    int status = PYTHIA_OK;
    if (p->modes->count > 1) {
        status = read_levels(p, which, &l);
        if (status != PYTHIA_OK)
            goto out;
    }
    if (l.count > 0) {
        place_levels(p, &l);
        status = pythia__split_by_modes(p->numbers, p->durations, p->n, p->modes, cuts, &count);
        if (status != PYTHIA_OK)
            goto out;
    }
    /* Durations of one mode have no gap to cut at. */
    out->of_modes = count > 0;
    out->rule.form = PYTHIA_SPLIT_PRESENT;
    if (count > 0)
        status = sets_of(&l, cuts, count, &out->rule);
    else if (x->slow_level_count > 0)
        status = slow_set(x, &out->rule);
out:
    free_levels(&l, p->n);
    return status;
}

/* ---- parts ---- */

static int find_row_part(struct proposing *p, size_t which, const struct pythia_split_rule *rule,
                         size_t row, uint32_t *out)
{
    struct pythia_key_value value;
    int status = pythia_key_reader_row(p->reader, which, p->rows[row], &value);
    if (status != PYTHIA_OK)
        return status;
    return pythia_split_rule_part(rule, p->reader, &value, out);
}

/* Only parts that some request is in are proposed: a rule may have intervals that none falls into.
 */
static int count_proposed_parts(const struct proposing *p, struct pythia_split_proposal *out)
{
    uint32_t most = pythia_split_rule_parts(&out->rule);
    out->parts = pythia_calloc(most, sizeof(*out->parts));
    if (!out->parts)
        return PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < most; n++) {
        uint32_t part = (n + PYTHIA_SPLIT_FIRST) % most; /* requests without the key come last */
        struct pythia_buf label = {0};
        struct pythia_split_part *to = &out->parts[out->part_count];
        for (size_t i = 0; i < p->n; i++)
            if (p->parts[i] == part) {
                to->requests++;
                to->mean_ns += p->durations[i];
            }
        if (to->requests == 0)
            continue;
        to->mean_ns /= (double)to->requests;
        pythia_split_rule_label(&out->rule, &out->key, part, &label);
        if (pythia_buf_status(&label) != PYTHIA_OK) {
            pythia_buf_free(&label);
            return PYTHIA_ENOMEM;
        }
        to->label = label.bytes;
        out->part_count++;
    }
    return PYTHIA_OK;
}

static void clear_proposal(struct pythia_split_proposal *x)
{
    for (size_t i = 0; i < x->part_count; i++)
        pythia_free(x->parts[i].label);
    pythia_free(x->parts);
    pythia_free(x->text);
    pythia_free(x->instead);
    pythia_split_rule_clear(&x->rule);
}

static char *format_split(const struct pythia_key_name *key, const struct pythia_split_rule *rule)
{
    const struct pythia_split_spec spec = {*key, *rule};
    struct pythia_buf text = {0};
    pythia_split_spec_write(&spec, &text);
    if (pythia_buf_status(&text) != PYTHIA_OK) {
        pythia_buf_free(&text);
        return NULL;
    }
    return text.bytes;
}

/* The split so far of the key; NULL: it is in no grouping key. */
static const struct pythia_split_spec *split_so_far(const struct proposing *p,
                                                    const struct pythia_key_name *key,
                                                    const struct pythia_split_rule **rule)
{
    for (size_t i = 0; p->key && i < pythia_grouping_key_count(p->key); i++) {
        const struct pythia_split_spec *s = pythia_grouping_key_split(p->key, i);
        enum pythia_split_origin origin;
        size_t others;
        if (s->key.source != key->source || !pythia_text_equal(s->key.text, key->text))
            continue;
        *rule = pythia_grouping_key_rule(p->key, i, p->type, &origin, &others);
        return s;
    }
    return NULL;
}

/* The key may be split already: then the rule becomes that of both, to replace the first; *good:
 * there is one of both. */
static int refine_existing_split(const struct proposing *p, struct pythia_split_proposal *out,
                                 bool *good)
{
    const struct pythia_split_rule *rule = NULL;
    const struct pythia_split_spec *before = split_so_far(p, &out->key, &rule);
    struct pythia_split_rule refined;
    *good = true;
    if (before && rule) {
        int status = pythia_split_rule_refine(rule, &out->rule, &refined);
        if (status != PYTHIA_OK) {
            *good = false;
            /* One is of numbers and the other of levels: no proposal, and no failure. */
            return status == PYTHIA_EINVAL ? PYTHIA_OK : status;
        }
        pythia_split_rule_clear(&out->rule);
        out->rule = refined;
    }
    out->text = format_split(&out->key, &out->rule);
    out->instead = before ? format_split(&before->key, &before->rule) : NULL;
    return out->text && (out->instead || !before) ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Make the rule that an explanation leads to; *good: there is one. */
static int make_proposed_rule(struct proposing *p, size_t which, struct pythia_split_proposal *out,
                              bool *good)
{
    const struct pythia_explanation *x = &p->found->found[which];
    int status = PYTHIA_OK;
    if (x->kind == PYTHIA_KEY_MEMBER || x->kind == PYTHIA_KEY_VALUES)
        return PYTHIA_OK; /* no rule can say it */
    if (x->kind == PYTHIA_KEY_HAS)
        out->rule.form = PYTHIA_SPLIT_PRESENT;
    else if (x->kind == PYTHIA_KEY_CATEGORICAL)
        status = part_levels(p, which, out);
    else
        status = cut_numbers(p, which, out);
    if (status != PYTHIA_OK)
        return status;
    return refine_existing_split(p, out, good);
}

/* Make the split that an explanation leads to; *good: it is worth proposing. The explanation was
 * found with all values; what the rule retains of it is measured again, between its parts. */
static int propose_split(struct proposing *p, size_t which, struct pythia_split_proposal *out,
                         bool *good)
{
    *good = false;
    *out = (struct pythia_split_proposal){.explanation = which, .key = p->names[which]};
    int status = make_proposed_rule(p, which, out, good);
    if (status != PYTHIA_OK || !*good)
        return status;
    for (size_t i = 0; i < p->n; i++) {
        status = find_row_part(p, which, &out->rule, i, &p->parts[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    status = pythia_between(p->clipped, p->parts, p->n, pythia_split_rule_parts(&out->rule),
                            1 - p->alpha, &out->between);
    if (status != PYTHIA_OK)
        return status;
    /* By the lower end of the interval: a split is a promise. */
    *good = out->between.low >= PYTHIA_SPLIT_SHARE_MIN;
    return *good ? count_proposed_parts(p, out) : PYTHIA_OK;
}

/* ---- all of them ---- */

/* Keys of one rank cannot be told apart, and a proxy says nothing that a better key does not say.
 */
static bool is_proposal_wanted(const struct proposing *p,
                               const struct pythia_split_proposals *so_far, size_t which)
{
    const struct pythia_association_result *r = &p->found->found[which].result;
    for (size_t i = 0; i < so_far->count; i++)
        if (p->found->found[so_far->all[i].explanation].result.rank == r->rank)
            return false;
    return r->proxy_of == PYTHIA_ASSOCIATION_NONE;
}

static int propose_all(struct proposing *p, struct pythia_split_proposals *out)
{
    for (size_t i = 0; i < p->found->found_count; i++) {
        struct pythia_split_proposal *next = &out->all[out->count];
        bool good;
        if (!is_proposal_wanted(p, out, i))
            continue;
        int status = propose_split(p, i, next, &good);
        if (status != PYTHIA_OK || !good)
            clear_proposal(next);
        if (status != PYTHIA_OK)
            return status;
        out->count += good;
    }
    return PYTHIA_OK;
}

/* Find the keys that any row has. Among thousands of request types they are a small part of all
 * keys, and each name is compared with each of them. */
static int find_present_keys(struct proposing *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (uint32_t k = 0, at = 0; k < p->rows[i]->value_count; k++, at++) {
            uint32_t key = p->rows[i]->values[k].key; /* in rising order */
            while (at < p->key_count && p->keys[at] < key)
                at++;
            if (at < p->key_count && p->keys[at] == key)
                continue;
            if (pythia_grow(&p->keys, &p->key_capacity, p->key_count, sizeof(*p->keys)) !=
                PYTHIA_OK)
                return PYTHIA_ENOMEM;
            memmove(p->keys + at + 1, p->keys + at, (p->key_count - at) * sizeof(*p->keys));
            p->keys[at] = key;
            p->key_count++;
        }
    return PYTHIA_OK;
}

/* Durations are kept twice: as they are, for their modes, and clipped, for shares and means, which
 * one outlier could decide otherwise. */
static int begin_proposing(struct proposing *p, const struct pythia_keys *keys,
                           const struct pythia_vocabulary *vocabulary)
{
    size_t found = p->found->found_count;
    p->names = pythia_calloc(found, sizeof(*p->names));
    p->durations = pythia_calloc(p->n, sizeof(*p->durations));
    p->clipped = pythia_calloc(p->n, sizeof(*p->clipped));
    p->numbers = pythia_calloc(p->n, sizeof(*p->numbers));
    p->parts = pythia_calloc(p->n, sizeof(*p->parts));
    if (!p->names || !p->durations || !p->clipped || !p->numbers || !p->parts)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < found; i++)
        p->names[i] = pythia_explained_key_name(&p->found->found[i], vocabulary);
    for (size_t i = 0; i < p->n; i++)
        p->durations[i] = p->clipped[i] = (double)p->rows[i]->duration_ns;
    (void)pythia_winsorise(p->clipped, p->n, PYTHIA__SPLIT_CLIPPED, PYTHIA__SPLIT_CLIPPED);
    int status = find_present_keys(p);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_key_reader_create(vocabulary, keys, p->names, found, &p->reader);
    if (status != PYTHIA_OK)
        return status;
    if (p->keys)
        pythia_key_reader_among(p->reader, p->keys, p->key_count);
    return PYTHIA_OK;
}

int pythia_split_propose(const struct pythia_row *const *rows, size_t count,
                         const struct pythia_modes *modes, const struct pythia_explanations *found,
                         const struct pythia_keys *keys, const struct pythia_vocabulary *vocabulary,
                         const struct pythia_grouping_key *key, uint32_t type, double alpha,
                         struct pythia_split_proposals *out)
{
    struct proposing p = {.rows = rows,
                          .n = count,
                          .modes = modes,
                          .found = found,
                          .key = key,
                          .type = type,
                          .alpha = alpha};
    struct pythia_split_proposals all = {.all =
                                             pythia_calloc(found->found_count, sizeof(*all.all))};
    int status = PYTHIA_OK;
    if (!all.all)
        return PYTHIA_ENOMEM;
    /* Only keys that were found to correlate are tried: a cut by any other key would be chosen
     * among thousands and would fit noise. */
    if (count > 0 && found->found_count > 0) {
        status = begin_proposing(&p, keys, vocabulary);
        if (status != PYTHIA_OK)
            goto out;
        status = propose_all(&p, &all);
    }
out:;
    void *const owned[] = {p.names, p.durations, p.clipped, p.numbers, p.parts, p.keys};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    pythia_key_reader_destroy(p.reader);
    if (status != PYTHIA_OK) {
        pythia_split_proposals_free(&all);
        return status;
    }
    *out = all;
    return PYTHIA_OK;
}

void pythia_split_proposals_free(struct pythia_split_proposals *p)
{
    for (size_t i = 0; i < p->count; i++)
        clear_proposal(&p->all[i]);
    pythia_free(p->all);
    *p = (struct pythia_split_proposals){0};
}
