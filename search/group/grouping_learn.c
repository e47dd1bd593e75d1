/* A split without a rule gets one for each request type, from the requests that were sampled before
 * they are parted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grouping_key_state.h"
#include "pythia/arena.h"
#include "pythia/gate.h"
#include "pythia/groups.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/shares.h"
#include "pythia/split.h"
#include "pythia/status.h"
#include "pythia/tail_dip.h"
#include "split_cuts.h"

#define PERMUTATIONS 199

/* The sampled requests of one type. */
struct requests {
    size_t count, capacity;
    const struct pythia_row **rows;
    size_t *set;       /* of the groups that each row is from */
    double *durations; /* [count] */
    /* of one split */
    double *numbers; /* NaN: without the key */
    struct pythia_text *texts;
    bool *present;
    size_t present_count;
    bool numeric;
};

struct learning {
    struct pythia_grouping_key *k;
    const struct pythia_groups *const *groups;
    size_t group_count;
    struct pythia_key_reader **readers; /* of each set of groups */
    double alpha;
    uint64_t seed;
    struct pythia_arena texts;
};

/* ---- requests ---- */

static int add_type_rows(struct requests *r, const struct pythia_type *t, size_t set)
{
    for (size_t i = 0; i < pythia_type_rows(t); i++) {
        size_t sets = r->capacity;
        if (pythia_grow(&r->rows, &r->capacity, r->count, sizeof(struct pythia_row *)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        /* The second array follows the capacity of the first. */
        if (r->capacity != sets) {
            size_t *grown = pythia_realloc(r->set, r->capacity, sizeof(*r->set));
            if (!grown)
                return PYTHIA_ENOMEM;
            r->set = grown;
        }
        r->rows[r->count] = pythia_type_row(t, i);
        r->set[r->count++] = set;
    }
    return PYTHIA_OK;
}

static int gather_requests(const struct learning *l, uint32_t type, struct requests *r)
{
    for (size_t g = 0; g < l->group_count; g++) {
        size_t count;
        const struct pythia_type *types = pythia_groups_types(l->groups[g], &count);
        for (size_t i = 0; i < count; i++) {
            if (types[i].name != type)
                continue;
            int status = add_type_rows(r, &types[i], g);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    /* Allocated when the number of rows of all sets is known. */
    r->durations = pythia_calloc(r->count, sizeof(*r->durations));
    r->numbers = pythia_calloc(r->count, sizeof(*r->numbers));
    r->texts = pythia_calloc(r->count, sizeof(*r->texts));
    r->present = pythia_calloc(r->count, sizeof(*r->present));
    if (!r->durations || !r->numbers || !r->texts || !r->present)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < r->count; i++)
        r->durations[i] = (double)r->rows[i]->duration_ns;
    return PYTHIA_OK;
}

static void free_requests(struct requests *r)
{
    void *const owned[] = {r->rows, r->set, r->durations, r->numbers, r->texts, r->present};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
}

/* A key is numeric only if all its values are: one text among numbers makes levels of them. */
static int read_values(struct learning *l, size_t split, struct requests *r)
{
    r->present_count = 0;
    r->numeric = true;
    pythia_arena_clear(&l->texts);
    for (size_t i = 0; i < r->count; i++) {
        struct pythia_key_value value;
        struct pythia_text text;
        struct pythia_key_reader *reader = l->readers[r->set[i]];
        int status = pythia_key_reader_row(reader, split, r->rows[i], &value);
        if (status != PYTHIA_OK)
            return status;
        r->present[i] = value.present;
        r->numbers[i] = NAN;
        if (!r->present[i])
            continue;
        r->present_count++;
        r->numeric = r->numeric && value.numeric;
        if (value.numeric)
            r->numbers[i] = value.number;
        status = pythia_key_reader_text(reader, &text);
        if (status != PYTHIA_OK)
            return status;
        /* The reader reuses its buffer for the next row; cuts are chosen after all rows were
         * read. */
        char *copy = pythia_arena_alloc(&l->texts, text.size + 1);
        if (!copy)
            return PYTHIA_ENOMEM;
        if (text.size)
            memcpy(copy, text.bytes, text.size);
        r->texts[i] = (struct pythia_text){copy, text.size};
    }
    return PYTHIA_OK;
}

/* ---- numbers ---- */

static int find_duration_modes(const struct learning *l, const struct requests *r, uint64_t seed,
                               struct pythia_modes *modes)
{
    struct pythia_tail_dip dip;
    *modes = (struct pythia_modes){.count = 1};
    int status = pythia_tail_dip(r->durations, r->count, seed, &dip);
    if (status != PYTHIA_OK || !(dip.p <= l->alpha))
        return status;
    return pythia_modes_find(r->durations, r->count, seed, 2, modes);
}

/* One cut, where most of the variance lies between; *share: how much, NaN if there is no cut. */
static int find_duration_cut(const double *numbers, const double *durations, size_t n, double *cut,
                             double *share)
{
    struct pythia_column column = {.numbers = numbers};
    struct pythia_split s;
    int status = pythia_split_find(&column, durations, n, &s);
    if (status != PYTHIA_OK)
        return status;
    *cut = s.cut;
    *share = s.by_absence ? NAN : s.share;
    pythia_split_clear(&s);
    return PYTHIA_OK;
}

/* Count the random orders of the durations whose best cut is at least as good: what chance can do.
 * `mixed` is scratch. */
static int count_chance_cuts(const struct requests *r, const double *clipped, double *mixed,
                             uint64_t seed, double share, size_t *at_least)
{
    size_t *order = pythia_calloc(r->count, sizeof(*order));
    struct pythia_random random;
    double other = NAN, unused;
    int status = PYTHIA_OK;
    *at_least = 0;
    if (!order)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < r->count; i++)
        order[i] = i;
    pythia_random_init(&random, seed);
    for (size_t p = 0; p < PERMUTATIONS; p++) {
        /* Durations keep their values and lose their order, so that only the key's part in them is
         * gone. */
        pythia_random_shuffle(&random, order, r->count);
        for (size_t i = 0; i < r->count; i++)
            mixed[i] = clipped[order[i]];
        status = find_duration_cut(r->numbers, mixed, r->count, &unused, &other);
        if (status != PYTHIA_OK)
            break;
        *at_least += other >= share;
    }
    pythia_free(order);
    return status;
}

/* The best of many cuts looks good by chance, so that it is compared with the best cuts of
 * durations in random order. */
static int cut_by_variance(const struct learning *l, const struct requests *r, uint64_t seed,
                           double *cut, size_t *count)
{
    double share = NAN;
    size_t n = r->count, at_least = 0;
    double *clipped = pythia_calloc(n, sizeof(*clipped));
    double *mixed = pythia_calloc(n, sizeof(*mixed));
    int status = PYTHIA_ENOMEM;
    *count = 0;
    if (!clipped || !mixed)
        goto out;
    memcpy(clipped, r->durations, n * sizeof(*clipped));
    (void)pythia_winsorise(clipped, n, PYTHIA__SPLIT_CLIPPED, PYTHIA__SPLIT_CLIPPED);
    status = find_duration_cut(r->numbers, clipped, n, cut, &share);
    if (status != PYTHIA_OK || isnan(share))
        goto out;
    status = count_chance_cuts(r, clipped, mixed, seed, share, &at_least);
    if (status != PYTHIA_OK)
        goto out;
    /* No cut at all is better than one that noise would have given. */
    *count = pythia_gate_permutation_p(at_least, PERMUTATIONS) <= l->alpha;
    if (*count)
        pythia__split_tidy(r->numbers, n, cut, 1);
out:
    pythia_free(clipped);
    pythia_free(mixed);
    return status;
}

/* Cuts at the modes of the durations come first: they are where an operator would cut. */
static int learn_numbers(const struct learning *l, const struct requests *r, uint64_t seed,
                         struct pythia__learnt_rule *out)
{
    struct pythia_modes modes;
    double cuts[PYTHIA_MODES_MAX];
    size_t count = 0;
    int status = find_duration_modes(l, r, seed, &modes);
    if (status != PYTHIA_OK)
        return status;
    out->origin = PYTHIA_SPLIT_OF_MODES;
    status = pythia__split_by_modes(r->numbers, r->durations, r->count, &modes, cuts, &count);
    if (status != PYTHIA_OK)
        return status;
    /* No modes, or the key does not separate them. */
    if (count == 0) {
        out->origin = PYTHIA_SPLIT_OF_VARIANCE;
        status = cut_by_variance(l, r, seed, cuts, &count);
        if (status != PYTHIA_OK)
            return status;
    }
    out->rule = (struct pythia_split_rule){.form = PYTHIA_SPLIT_PRESENT};
    if (count > 0)
        return pythia_split_rule_cuts(cuts, count, &out->rule);
    out->origin = PYTHIA_SPLIT_OF_NONE;
    return PYTHIA_OK;
}

/* ---- levels ---- */

struct level {
    struct pythia_text text;
    size_t requests;
};

static int compare_level_texts(const void *a, const void *b)
{
    return pythia_text_compare(((const struct level *)a)->text, ((const struct level *)b)->text);
}

/* The most frequent first; of equally frequent ones, by name. */
static int compare_level_counts(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    if (x->requests != y->requests)
        return x->requests < y->requests ? 1 : -1;
    return compare_level_texts(a, b);
}

/* The different levels, the most frequent first; *count of them. */
static struct level *count_text_levels(const struct requests *r, size_t *count)
{
    struct level *all = pythia_calloc(r->present_count, sizeof(*all));
    size_t n = 0, kept = 0;
    for (size_t i = 0; all && i < r->count; i++)
        if (r->present[i])
            all[n++] = (struct level){r->texts[i], 1};
    if (n > 0)
        qsort(all, n, sizeof(*all), compare_level_texts);
    for (size_t i = 0; i < n; i++) {
        /* Equal texts are neighbours after sorting. */
        if (kept > 0 && pythia_text_equal(all[kept - 1].text, all[i].text))
            all[kept - 1].requests++;
        else
            all[kept++] = all[i];
    }
    if (kept > 0)
        qsort(all, kept, sizeof(*all), compare_level_counts);
    *count = kept;
    return all;
}

static int learn_levels(const struct requests *r, struct pythia__learnt_rule *out)
{
    size_t count;
    struct level *all = count_text_levels(r, &count);
    struct pythia_split_level levels[PYTHIA_SPLIT_LEVELS_MAX];
    if (!all)
        return PYTHIA_ENOMEM;
    size_t kept = count < PYTHIA_SPLIT_LEVELS_MAX ? count : PYTHIA_SPLIT_LEVELS_MAX;
    qsort(all, kept, sizeof(*all), compare_level_texts);
    for (size_t i = 0; i < kept; i++)
        levels[i] = (struct pythia_split_level){all[i].text, i};
    out->origin = PYTHIA_SPLIT_OF_LEVELS;
    out->other_levels = count - kept;
    int status = pythia_split_rule_sets(levels, kept, kept, &out->rule);
    pythia_free(all);
    return status;
}

/* ---- all of it ---- */

/* Learn the rule of one split for a type, unless no request of it has the key. */
static int learn_split(struct learning *l, size_t split, uint32_t type, struct requests *r)
{
    struct pythia__grouping_split *s = &l->k->splits[split];
    struct pythia_text name = pythia_vocabulary_text(l->k->vocabulary, type),
                       key = s->spec.key.text;
    /* By names, not numbers: the result is the same whichever type was seen first. */
    uint64_t seed = pythia_hash_mix(l->seed, pythia_hash_bytes(name.bytes, name.size)) ^
                    pythia_hash_bytes(key.bytes, key.size);
    struct pythia__learnt_rule learnt = {.known = true};
    int status = read_values(l, split, r);
    if (status != PYTHIA_OK || r->present_count == 0)
        return status;
    /* The place for the rule comes first, so that nothing fails once it is learnt. */
    status = pythia_reach(&s->learnt, &s->learnt_count, type, sizeof(*s->learnt));
    if (status != PYTHIA_OK)
        return status;
    status = r->numeric ? learn_numbers(l, r, seed, &learnt) : learn_levels(r, &learnt);
    if (status != PYTHIA_OK) {
        pythia_split_rule_clear(&learnt.rule);
        return status;
    }
    pythia_split_rule_clear(&s->learnt[type].rule);
    s->learnt[type] = learnt;
    return PYTHIA_OK;
}

static int learn_type(struct learning *l, uint32_t type)
{
    struct requests r = {0};
    int status = gather_requests(l, type, &r);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < l->k->count; i++) {
        /* Cut points and sets that the user gave are not learnt. */
        if (l->k->splits[i].spec.rule.form != PYTHIA_SPLIT_LEARNT)
            continue;
        status = learn_split(l, i, type, &r);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    free_requests(&r);
    return status;
}

/* Has one of the first `before` sets of groups the type too? */
static bool is_type_learnt(const struct learning *l, size_t before, uint32_t type)
{
    for (size_t g = 0; g < before; g++) {
        size_t count;
        const struct pythia_type *types = pythia_groups_types(l->groups[g], &count);
        for (size_t i = 0; i < count; i++)
            if (types[i].name == type)
                return true;
    }
    return false;
}

/* Learn every type of every set of groups, once. */
static int learn_all(struct learning *l)
{
    for (size_t g = 0; g < l->group_count; g++) {
        size_t count;
        const struct pythia_type *types = pythia_groups_types(l->groups[g], &count);
        for (size_t i = 0; i < count; i++) {
            if (is_type_learnt(l, g, types[i].name))
                continue;
            int status = learn_type(l, types[i].name);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

bool pythia_grouping_key_learns(const struct pythia_grouping_key *k)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->splits[i].spec.rule.form == PYTHIA_SPLIT_LEARNT)
            return true;
    return false;
}

/* A reader for each set of groups, because each has numbers of its own for the same keys. */
int pythia_grouping_key_learn(struct pythia_grouping_key *k,
                              const struct pythia_groups *const *groups, size_t count, double alpha,
                              uint64_t seed)
{
    struct learning l = {
        .k = k, .groups = groups, .group_count = count, .alpha = alpha, .seed = seed};
    struct pythia_key_name *names = pythia__grouping_names(k);
    l.readers = pythia_calloc(count, sizeof(struct pythia_key_reader *));
    int status = PYTHIA_ENOMEM;
    if (!names || !l.readers)
        goto out;
    for (size_t i = 0; i < count; i++) {
        status = pythia_key_reader_create(k->vocabulary, pythia_groups_keys(groups[i]), names,
                                          k->count, &l.readers[i]);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = learn_all(&l);
out:
    for (size_t i = 0; l.readers && i < count; i++)
        pythia_key_reader_destroy(l.readers[i]);
    pythia_free(l.readers);
    pythia_free(names);
    pythia_arena_free(&l.texts);
    return status;
}
