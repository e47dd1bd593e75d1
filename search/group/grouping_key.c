/* A request comes to its parts in three steps: the values of the keys on its critical path, the
 * part of each split that these are in, and one number for the type with all these parts, found in
 * a hash table. Names are made when they are asked for, because only then it is known which keys
 * the requests of a type have at all. */
#include "pythia/grouping_key.h"

#include <string.h>

#include "grouping_key_state.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

const char *pythia_split_origin_name(enum pythia_split_origin origin)
{
    static const char *const names[] = {"asked", "levels", "modes", "variance", "none"};
    return names[origin];
}

/* ---- making ---- */

/* Two splits by one key would part requests twice, and their parts could contradict each other: the
 * user is asked to merge them. */
static int check_split_keys(const struct pythia_split_spec *splits, size_t count,
                            struct pythia_error *e)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            struct pythia_buf key = {0};
            if (splits[i].key.source != splits[j].key.source ||
                !pythia_text_equal(splits[i].key.text, splits[j].key.text))
                continue;
            pythia_shown_add(&key, splits[i].key.text, 60);
            pythia_error_set(e, PYTHIA_EUSAGE,
                             "--split: the key %s is there twice: give all its parts in one, such "
                             "as KEY=3,10",
                             key.bytes ? key.bytes : "");
            pythia_buf_free(&key);
            return PYTHIA_EUSAGE;
        }
    return PYTHIA_OK;
}

static int copy_split(const struct pythia_split_spec *from, struct pythia__grouping_split *to)
{
    to->point = PYTHIA_NONE;
    to->spec.key = from->key;
    to->spec.key.text.bytes = pythia_strndup(from->key.text.bytes, from->key.text.size);
    if (!to->spec.key.text.bytes)
        return PYTHIA_ENOMEM;
    int status = pythia_split_rule_copy(&from->rule, &to->spec.rule);
    if (status != PYTHIA_OK)
        return status;
    to->seen_parts = pythia_calloc(pythia_split_rule_parts(&from->rule), sizeof(*to->seen_parts));
    if (!to->seen_parts)
        return PYTHIA_ENOMEM;
    to->seen_levels = pythia_calloc(from->rule.level_count, sizeof(*to->seen_levels));
    return to->seen_levels ? PYTHIA_OK : PYTHIA_ENOMEM;
}

struct pythia_key_name *pythia__grouping_names(const struct pythia_grouping_key *k)
{
    struct pythia_key_name *names = pythia_calloc(k->count, sizeof(*names));
    for (size_t i = 0; names && i < k->count; i++)
        names[i] = k->splits[i].spec.key;
    return names;
}

/* Tell the row maker which key-values of requests some split may mean: the others are skipped,
 * which are most of a span's attributes. */
static int choose_attributes(struct pythia_grouping_key *k)
{
    uint32_t *all = NULL;
    size_t count = 0;
    int status;
    for (size_t i = 0; i < k->count; i++) {
        size_t more;
        if (k->splits[i].spec.key.source != PYTHIA_KEY_OF_SPANS)
            continue;
        /* One name may be an attribute of many services. */
        uint32_t *some = pythia_key_attributes(k->vocabulary, k->splits[i].spec.key.text, &more);
        uint32_t *grown = some ? pythia_realloc(all, count + more, sizeof(*all)) : NULL;
        if (!grown) {
            pythia_free(some);
            status = PYTHIA_ENOMEM;
            goto out;
        }
        memcpy(grown + count, some, more * sizeof(*some));
        all = grown;
        count += more;
        pythia_free(some);
    }
    status = pythia_row_maker_only(k->rows, all, count);
out:
    pythia_free(all);
    return status;
}

/* After a failure the caller destroys the half-made key. */
static int fill_grouping_splits(struct pythia_grouping_key *k,
                                const struct pythia_split_spec *splits, size_t count)
{
    k->at_hand = pythia_calloc(count + 1, sizeof(*k->at_hand));
    k->splits = pythia_calloc(count, sizeof(*k->splits));
    if (!k->at_hand || !k->splits)
        return PYTHIA_ENOMEM;
    /* The count is set before the copies: destroy frees this many splits, and splits that were
     * not copied are zero. */
    k->count = count;
    for (size_t i = 0; i < count; i++) {
        int status = copy_split(&splits[i], &k->splits[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    int status = pythia_keys_create(k->vocabulary, &k->keys);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_row_maker_create(k->vocabulary, k->keys, &k->rows);
    if (status != PYTHIA_OK)
        return status;
    status = choose_attributes(k);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_key_name *names = pythia__grouping_names(k);
    if (!names)
        return PYTHIA_ENOMEM;
    status = pythia_key_reader_create(k->vocabulary, k->keys, names, count, &k->reader);
    pythia_free(names);
    return status;
}

int pythia_grouping_key_create(struct pythia_vocabulary *vocabulary,
                               const struct pythia_split_spec *splits, size_t count,
                               struct pythia_grouping_key **out, struct pythia_error *e)
{
    int status = check_split_keys(splits, count, e);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_grouping_key *k = pythia_calloc(1, sizeof(*k));
    if (!k)
        return PYTHIA_ENOMEM;
    k->vocabulary = vocabulary;
    status = fill_grouping_splits(k, splits, count);
    if (status != PYTHIA_OK) {
        pythia_grouping_key_destroy(k);
        return status;
    }
    *out = k;
    return PYTHIA_OK;
}

static void free_split(struct pythia__grouping_split *s)
{
    for (size_t i = 0; i < s->learnt_count; i++)
        pythia_split_rule_clear(&s->learnt[i].rule);
    pythia_split_spec_clear(&s->spec);
    pythia_free(s->learnt);
    pythia_free(s->seen);
    pythia_free(s->seen_parts);
    pythia_free(s->seen_levels);
}

void pythia_grouping_key_destroy(struct pythia_grouping_key *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->count; i++)
        free_split(&k->splits[i]);
    for (size_t i = 0; i < k->set_count; i++)
        pythia_free(k->sets[i].points);
    pythia_key_reader_destroy(k->reader);
    pythia_row_maker_destroy(k->rows);
    pythia_keys_destroy(k->keys);
    pythia_free(k->splits);
    pythia_free(k->parts);
    pythia_hash_table_free(&k->by_parts);
    pythia_free(k->at_hand);
    pythia_free(k->sets);
    pythia_buf_free(&k->name);
    pythia_free(k);
}

/* ---- the parts of a request ---- */

static uint32_t count_split_hits(struct pythia_grouping_key *k, struct pythia__grouping_split *s,
                                 const struct pythia_critical_path *path)
{
    uint32_t visits = 0;
    if (s->point == PYTHIA_NONE)
        s->point = pythia_vocabulary_tracepoint_find(k->vocabulary, s->spec.key.text);
    for (size_t i = 0; s->point != PYTHIA_NONE && i < path->count; i++)
        visits +=
            path->events[i].kind != PYTHIA_EVENT_END && path->events[i].tracepoint == s->point;
    return visits;
}

static const struct pythia_split_rule *rule_of(const struct pythia__grouping_split *s,
                                               uint32_t type)
{
    bool learnt = type < s->learnt_count && s->learnt[type].known;
    return learnt ? &s->learnt[type].rule : &s->spec.rule;
}

/* Find the points that report the value found last. A point that is never hit reports none. */
static int note_reporting_points(struct pythia_grouping_key *k,
                                 const struct pythia__grouping_split *s,
                                 const struct pythia_key_value *value)
{
    bool process = false;
    size_t count = 0;
    const uint32_t *points = pythia_key_reader_points(k->reader, &count, &process);
    if (s->spec.key.source != PYTHIA_KEY_OF_SPANS) {
        points = &s->point;
        count = value->present && value->number > 0;
        process = false;
    }
    if (count == 0 || process)
        return PYTHIA_OK;
    return pythia__grouping_note(k, points, count);
}

/* Remember that the value found last is one of the given levels: levels that no request had are
 * reported as a likely typing error. */
static int mark_level(struct pythia_grouping_key *k, struct pythia__grouping_split *s)
{
    struct pythia_text text;
    int status = pythia_key_reader_text(k->reader, &text);
    if (status != PYTHIA_OK)
        return status;
    size_t level = pythia_split_rule_find(&s->spec.rule, text);
    if (level < s->spec.rule.level_count)
        s->seen_levels[level] = true;
    return PYTHIA_OK;
}

/* Find the part of one split that a request is in, and note on the way what the report says about
 * the split: the points that report its key, and the levels that occurred. */
static int find_split_part(struct pythia_grouping_key *k, size_t split, uint32_t type,
                           const struct pythia_critical_path *path,
                           const struct pythia_row_value *values, uint32_t value_count,
                           uint32_t *part)
{
    struct pythia__grouping_split *s = &k->splits[split];
    const struct pythia_split_rule *rule = rule_of(s, type);
    struct pythia_key_value value;
    int status = PYTHIA_OK;
    if (s->spec.key.source == PYTHIA_KEY_OF_SPANS)
        status = pythia_key_reader_values(k->reader, split, values, value_count, &value);
    else
        value = pythia_key_reader_visits(k->reader, split, count_split_hits(k, s, path));
    if (status != PYTHIA_OK)
        return status;
    /* Only a grouping key that may open points needs to know which points report it. */
    if (k->note) {
        status = note_reporting_points(k, s, &value);
        if (status != PYTHIA_OK)
            return status;
    }
    if (value.present && s->spec.rule.form == PYTHIA_SPLIT_SETS) {
        status = mark_level(k, s);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_split_rule_part(rule, k->reader, &value, part);
}

/* Remember what was seen of a split in a type. */
static int mark_seen_part(struct pythia__grouping_split *s, uint32_t type, uint32_t part)
{
    if (pythia_reach(&s->seen, &s->seen_count, type, sizeof(*s->seen)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->seen[type] |= part == PYTHIA_SPLIT_WITHOUT ? PYTHIA__SEEN_WITHOUT : PYTHIA__SEEN_WITH;
    if (s->spec.rule.form != PYTHIA_SPLIT_LEARNT)
        s->seen_parts[part] = true;
    return PYTHIA_OK;
}

int pythia_grouping_key_see(struct pythia_grouping_key *k, uint32_t part)
{
    const uint32_t *of = k->parts + (size_t)part * (k->count + 1);
    for (size_t i = 0; i < k->count; i++) {
        int status = mark_seen_part(&k->splits[i], of[0], of[i + 1]);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

void pythia_grouping_key_forget(struct pythia_grouping_key *k)
{
    for (size_t i = 0; i < k->count; i++) {
        struct pythia__grouping_split *s = &k->splits[i];
        if (s->seen_count)
            memset(s->seen, 0, s->seen_count * sizeof(*s->seen));
        memset(s->seen_parts, 0, pythia_split_rule_parts(&s->spec.rule) * sizeof(*s->seen_parts));
    }
    for (size_t i = 0; i < k->set_count; i++)
        pythia_free(k->sets[i].points);
    k->set_count = 0;
}

static uint64_t hash_part_numbers(const uint32_t *numbers, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        hash = pythia_hash_mix(hash, numbers[i]);
    return hash;
}

static bool has_parts(const void *grouping_key, uint32_t number, const void *parts)
{
    const struct pythia_grouping_key *k = grouping_key;
    size_t width = k->count + 1;
    return memcmp(k->parts + number * width, parts, width * sizeof(*k->parts)) == 0;
}

/* The number of the type and the parts at hand. */
static uint32_t number_current_parts(struct pythia_grouping_key *k)
{
    size_t width = k->count + 1;
    uint64_t hash = hash_part_numbers(k->at_hand, width);
    uint32_t number = pythia_hash_table_find(&k->by_parts, hash, has_parts, k, k->at_hand);
    if (number != PYTHIA_HASH_TABLE_NONE)
        return number;
    number = (uint32_t)k->part_count;
    if (pythia_grow(&k->parts, &k->part_capacity, number, width * sizeof(*k->parts)) != PYTHIA_OK ||
        pythia_hash_table_add(&k->by_parts, hash, number) != PYTHIA_OK)
        return PYTHIA_NONE;
    memcpy(k->parts + k->part_count++ * width, k->at_hand, width * sizeof(*k->parts));
    return number;
}

uint32_t pythia_grouping_key_part(struct pythia_grouping_key *k, uint32_t type,
                                  const struct pythia_trace *trace,
                                  const struct pythia_critical_path *path)
{
    const struct pythia_row_value *values;
    uint32_t count;
    if (pythia_row_values(k->rows, trace, path, &values, &count) != PYTHIA_OK)
        return PYTHIA_NONE;
    k->at_hand[0] = type;
    for (size_t i = 0; i < k->count; i++) {
        uint32_t *part = &k->at_hand[i + 1];
        if (find_split_part(k, i, type, path, values, count, part) != PYTHIA_OK ||
            mark_seen_part(&k->splits[i], type, *part) != PYTHIA_OK)
            return PYTHIA_NONE;
    }
    return number_current_parts(k);
}

/* ---- names ---- */

/* Is there something to say of the part? */
static bool is_part_reported(const struct pythia__grouping_split *s, uint32_t type, uint32_t part)
{
    const struct pythia_split_rule *rule = rule_of(s, type);
    uint8_t seen = type < s->seen_count ? s->seen[type] : 0;
    bool only = part == PYTHIA_SPLIT_FIRST &&
                pythia_split_rule_parts(rule) == PYTHIA_SPLIT_FIRST + 1; /* the key is there */
    return part == PYTHIA_SPLIT_WITHOUT ? (seen & PYTHIA__SEEN_WITH) != 0
                                        : !only || (seen & PYTHIA__SEEN_WITHOUT) != 0;
}

/* A name says only what distinguishes: "has the key" is left out where all requests of the type
 * have it, and a request without the key is named so only where others have it. */
uint32_t pythia_grouping_key_name(struct pythia_grouping_key *k, uint32_t part)
{
    const uint32_t *of = k->parts + (size_t)part * (k->count + 1);
    size_t told = 0;
    pythia_buf_clear(&k->name);
    k->name.failed = 0;
    pythia_buf_text_add(&k->name, pythia_vocabulary_text(k->vocabulary, of[0]));
    for (size_t i = 0; i < k->count; i++) {
        const struct pythia__grouping_split *s = &k->splits[i];
        if (!is_part_reported(s, of[0], of[i + 1]))
            continue;
        /* The brackets follow the name of the type, so that parts sort after it. */
        pythia_buf_puts(&k->name, told++ ? ", " : " [");
        pythia_split_rule_label(rule_of(s, of[0]), &s->spec.key, of[i + 1], &k->name);
    }
    if (told == 0)
        return of[0];
    pythia_buf_putc(&k->name, ']');
    if (pythia_buf_status(&k->name) != PYTHIA_OK)
        return PYTHIA_NONE;
    return pythia_vocabulary_string(k->vocabulary, pythia_buf_text(&k->name));
}

/* ---- what it is ---- */

size_t pythia_grouping_key_count(const struct pythia_grouping_key *k)
{
    return k->count;
}

const struct pythia_split_spec *pythia_grouping_key_split(const struct pythia_grouping_key *k,
                                                          size_t split)
{
    return &k->splits[split].spec;
}

bool pythia_grouping_key_was_seen(const struct pythia_grouping_key *k, size_t split)
{
    const struct pythia__grouping_split *s = &k->splits[split];
    if (s->spec.key.source != PYTHIA_KEY_OF_SPANS)
        return pythia_vocabulary_tracepoint_find(k->vocabulary, s->spec.key.text) != PYTHIA_NONE;
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i] & PYTHIA__SEEN_WITH)
            return true;
    return false;
}

bool pythia_grouping_key_level_was_seen(const struct pythia_grouping_key *k, size_t split,
                                        size_t level)
{
    return k->splits[split].seen_levels[level];
}

bool pythia_grouping_key_part_was_seen(const struct pythia_grouping_key *k, size_t split,
                                       uint32_t part)
{
    return k->splits[split].seen_parts[part];
}

const struct pythia_split_rule *pythia_grouping_key_rule(const struct pythia_grouping_key *k,
                                                         size_t split, uint32_t type,
                                                         enum pythia_split_origin *origin,
                                                         size_t *other_levels)
{
    const struct pythia__grouping_split *s = &k->splits[split];
    bool learnt = type < s->learnt_count && s->learnt[type].known;
    *origin = learnt ? s->learnt[type].origin : PYTHIA_SPLIT_ASKED;
    *other_levels = learnt ? s->learnt[type].other_levels : 0;
    return learnt || s->spec.rule.form != PYTHIA_SPLIT_LEARNT ? rule_of(s, type) : NULL;
}

uint32_t pythia_grouping_key_part_of(const struct pythia_grouping_key *k, uint32_t part,
                                     size_t split)
{
    return k->parts[(size_t)part * (k->count + 1) + split + 1];
}
