/* A rule is cuts of numbers, sets of levels, or the presence of a key. The first parts are the same
 * for every rule, without the key and without a number, so that each request is in exactly one
 * part. */
#include "pythia/split_rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* ---- making ---- */

int pythia_split_rule_cuts(const double *cuts, size_t count, struct pythia_split_rule *out)
{
    double *copy = pythia_calloc(count, sizeof(*copy));
    if (!copy)
        return PYTHIA_ENOMEM;
    if (count)
        memcpy(copy, cuts, count * sizeof(*copy));
    *out = (struct pythia_split_rule){.form = PYTHIA_SPLIT_CUTS, .cuts = copy, .cut_count = count};
    return PYTHIA_OK;
}

static int compare_rule_levels(const void *a, const void *b)
{
    const struct pythia_split_level *x = a, *y = b;
    return pythia_text_compare(x->text, y->text);
}

/* The levels and their texts are one block. */
int pythia_split_rule_sets(const struct pythia_split_level *levels, size_t count, size_t sets,
                           struct pythia_split_rule *out)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++)
        bytes += levels[i].text.size;
    struct pythia_split_level *copy = pythia_calloc(1, count * sizeof(*copy) + bytes);
    if (!copy)
        return PYTHIA_ENOMEM;
    char *room = (char *)(copy + count);
    for (size_t i = 0; i < count; i++) {
        struct pythia_text text = levels[i].text;
        if (text.size)
            memcpy(room, text.bytes, text.size);
        copy[i] = (struct pythia_split_level){{room, text.size}, levels[i].set};
        room += text.size;
    }
    /* In order of text, because each request's value is looked up in it. */
    qsort(copy, count, sizeof(*copy), compare_rule_levels);
    for (size_t i = 1; i < count; i++)
        if (pythia_text_equal(copy[i - 1].text, copy[i].text)) {
            pythia_free(copy);
            return PYTHIA_EINVAL;
        }
    *out = (struct pythia_split_rule){
        .form = PYTHIA_SPLIT_SETS, .levels = copy, .level_count = count, .set_count = sets};
    return PYTHIA_OK;
}

int pythia_split_rule_copy(const struct pythia_split_rule *rule, struct pythia_split_rule *out)
{
    if (rule->form == PYTHIA_SPLIT_CUTS)
        return pythia_split_rule_cuts(rule->cuts, rule->cut_count, out);
    if (rule->form == PYTHIA_SPLIT_SETS)
        return pythia_split_rule_sets(rule->levels, rule->level_count, rule->set_count, out);
    *out = (struct pythia_split_rule){.form = rule->form};
    return PYTHIA_OK;
}

static int refine_cuts(const struct pythia_split_rule *a, const struct pythia_split_rule *b,
                       struct pythia_split_rule *out)
{
    size_t i = 0, j = 0, count = 0;
    double *cuts = pythia_calloc(a->cut_count + b->cut_count, sizeof(*cuts));
    if (!cuts)
        return PYTHIA_ENOMEM;
    while (i < a->cut_count || j < b->cut_count) {
        double cut = j == b->cut_count || (i < a->cut_count && a->cuts[i] <= b->cuts[j])
                         ? a->cuts[i]
                         : b->cuts[j];
        i += i < a->cut_count && a->cuts[i] == cut;
        j += j < b->cut_count && b->cuts[j] == cut;
        cuts[count++] = cut;
    }
    int status = pythia_split_rule_cuts(cuts, count, out);
    pythia_free(cuts);
    return status;
}

static bool has_level(const struct pythia_split_rule *rule, struct pythia_text text)
{
    for (size_t i = 0; i < rule->level_count; i++)
        if (pythia_text_equal(rule->levels[i].text, text))
            return true;
    return false;
}

/* Give sets that have levels numbers without a gap. */
static size_t close_gaps(struct pythia_split_level *levels, size_t count, size_t sets)
{
    size_t kept = 0;
    for (size_t set = 0; set < sets; set++) {
        bool any = false;
        for (size_t i = 0; i < count; i++)
            if (levels[i].set == set) {
                levels[i].set = kept; /* at most `set`, and below all that come */
                any = true;
            }
        kept += any;
    }
    return kept;
}

/* Values in both sets go to the set of `b`. */
static int refine_sets(const struct pythia_split_rule *a, const struct pythia_split_rule *b,
                       struct pythia_split_rule *out)
{
    size_t count = 0;
    struct pythia_split_level *levels =
        pythia_calloc(a->level_count + b->level_count, sizeof(*levels));
    if (!levels)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < a->level_count; i++)
        if (!has_level(b, a->levels[i].text))
            levels[count++] = a->levels[i];
    for (size_t i = 0; i < b->level_count; i++)
        levels[count++] =
            (struct pythia_split_level){b->levels[i].text, a->set_count + b->levels[i].set};
    size_t sets = close_gaps(levels, count, a->set_count + b->set_count);
    int status = pythia_split_rule_sets(levels, count, sets, out);
    pythia_free(levels);
    return status;
}

static bool parts_values(const struct pythia_split_rule *rule)
{
    return rule->form == PYTHIA_SPLIT_CUTS || rule->form == PYTHIA_SPLIT_SETS;
}

int pythia_split_rule_refine(const struct pythia_split_rule *rule,
                             const struct pythia_split_rule *more, struct pythia_split_rule *out)
{
    if (!parts_values(rule) || !parts_values(more)) /* who parts values parts by presence, too */
        return pythia_split_rule_copy(parts_values(rule) ? rule : more, out);
    if (rule->form != more->form)
        return PYTHIA_EINVAL;
    return rule->form == PYTHIA_SPLIT_CUTS ? refine_cuts(rule, more, out)
                                           : refine_sets(rule, more, out);
}

void pythia_split_rule_clear(struct pythia_split_rule *rule)
{
    pythia_free(rule->cuts);
    pythia_free(rule->levels);
    *rule = (struct pythia_split_rule){0};
}

/* ---- parts ---- */

uint32_t pythia_split_rule_parts(const struct pythia_split_rule *rule)
{
    size_t more = rule->form == PYTHIA_SPLIT_CUTS   ? rule->cut_count
                  : rule->form == PYTHIA_SPLIT_SETS ? rule->set_count
                                                    : 0;
    return PYTHIA_SPLIT_FIRST + 1 + (uint32_t)more;
}

/* A cut that is equal to the number stands before it. */
static int compare_cut(const void *cuts, size_t index, const void *number)
{
    return ((const double *)cuts)[index] <= *(const double *)number ? -1 : 1;
}

static int compare_level_text(const void *rule, size_t index, const void *level)
{
    return pythia_text_compare(((const struct pythia_split_rule *)rule)->levels[index].text,
                               *(const struct pythia_text *)level);
}

size_t pythia_split_rule_find(const struct pythia_split_rule *rule, struct pythia_text level)
{
    size_t found = pythia_sorted_find(rule->level_count, compare_level_text, rule, &level);
    return found == PYTHIA_SORTED_NONE ? rule->level_count : found;
}

int pythia_split_rule_part(const struct pythia_split_rule *rule, struct pythia_key_reader *reader,
                           const struct pythia_key_value *value, uint32_t *part)
{
    struct pythia_text text;
    if (!value->present) {
        *part = PYTHIA_SPLIT_WITHOUT;
        return PYTHIA_OK;
    }
    if (rule->form == PYTHIA_SPLIT_CUTS) {
        *part = value->numeric ? PYTHIA_SPLIT_FIRST +
                                     (uint32_t)pythia_sorted_place(rule->cut_count, compare_cut,
                                                                   rule->cuts, &value->number)
                               : PYTHIA_SPLIT_NO_NUMBER;
        return PYTHIA_OK;
    }
    *part = PYTHIA_SPLIT_FIRST;
    if (rule->form != PYTHIA_SPLIT_SETS)
        return PYTHIA_OK;
    int status = pythia_key_reader_text(reader, &text);
    if (status != PYTHIA_OK)
        return status;
    size_t level = pythia_split_rule_find(rule, text);
    /* The set after the last one has all levels that no set names. */
    *part += (uint32_t)(level < rule->level_count ? rule->levels[level].set : rule->set_count);
    return PYTHIA_OK;
}

/* ---- words ---- */

void pythia_split_number_add(double number, struct pythia_buf *to)
{
    char text[32];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    if (fabs(number) < 1e15 && number == floor(number)) /* 20 rather than 2e+01 */
        snprintf(text, sizeof(text), "%.0f", number == 0 ? 0 : number);
    pythia_buf_puts(to, text);
}

double pythia_split_cut(double below, double above, bool whole)
{
    double middle = below / 2 + above / 2; /* the difference may be too large */
    if (whole)
        return fmin(ceil(middle), above);
    for (int digits = 1; digits <= 17; digits++) {
        char text[32];
        snprintf(text, sizeof(text), "%.*g", digits, middle);
        double cut = strtod(text, NULL);
        if (cut > below && cut <= above)
            return cut;
    }
    return above;
}

void pythia_key_name_add(const struct pythia_key_name *key, struct pythia_buf *to)
{
    static const char *const before[] = {"", "count:", "has:"};
    pythia_buf_puts(to, before[key->source]);
    pythia_buf_text_add(to, key->text);
}

static void add_interval_text(const struct pythia_split_rule *rule, size_t interval,
                              struct pythia_buf *to)
{
    if (rule->cut_count == 0)
        return;
    if (interval == rule->cut_count) {
        pythia_buf_puts(to, " >= ");
        pythia_split_number_add(rule->cuts[interval - 1], to);
        return;
    }
    if (interval > 0) {
        pythia_buf_putc(to, ' ');
        pythia_split_number_add(rule->cuts[interval - 1], to);
        pythia_buf_puts(to, " to");
    }
    pythia_buf_puts(to, " < ");
    pythia_split_number_add(rule->cuts[interval], to);
}

static void add_set(const struct pythia_split_rule *rule, size_t set, struct pythia_buf *to)
{
    size_t all = 0, named = 0;
    for (size_t i = 0; i < rule->level_count; i++)
        all += rule->levels[i].set == set;
    pythia_buf_puts(to, all == 1 ? " = " : " in {");
    for (size_t i = 0; i < rule->level_count && named < PYTHIA_SPLIT_LEVELS_NAMED; i++) {
        if (rule->levels[i].set != set)
            continue;
        pythia_buf_puts(to, named++ ? ", " : "");
        pythia_buf_text_add(to, rule->levels[i].text);
    }
    if (all > named)
        pythia_buf_printf(to, ", and %zu more", all - named);
    pythia_buf_puts(to, all == 1 ? "" : "}");
}

void pythia_split_rule_label(const struct pythia_split_rule *rule,
                             const struct pythia_key_name *key, uint32_t part,
                             struct pythia_buf *to)
{
    bool visited = key->source == PYTHIA_KEY_VISITED; /* "with <trace point>" */
    size_t own = part - PYTHIA_SPLIT_FIRST;
    bool with = rule->form == PYTHIA_SPLIT_PRESENT || rule->form == PYTHIA_SPLIT_LEARNT ||
                pythia_split_rule_parts(rule) == PYTHIA_SPLIT_FIRST + 1;
    bool other = rule->form == PYTHIA_SPLIT_SETS && own == rule->set_count;
    pythia_buf_puts(to, part == PYTHIA_SPLIT_WITHOUT ? "without "
                        : part < PYTHIA_SPLIT_FIRST  ? ""
                        : with                       ? "with "
                        : other                      ? "other "
                                                     : "");
    if (visited)
        pythia_buf_text_add(to, key->text);
    else
        pythia_key_name_add(key, to);
    if (part == PYTHIA_SPLIT_NO_NUMBER)
        pythia_buf_puts(to, " is no number");
    else if (part >= PYTHIA_SPLIT_FIRST && !with && !other && rule->form == PYTHIA_SPLIT_CUTS)
        add_interval_text(rule, own, to);
    else if (part >= PYTHIA_SPLIT_FIRST && !with && !other)
        add_set(rule, own, to);
}
