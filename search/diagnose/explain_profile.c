/* An explanation in words and numbers: where the latency splits by a key, its mean by value, and
 * whether requests without a trace point end before it. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain_parts.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SPLIT_MAX    6    /* levels named in a split; of more, how many there are */
#define WITHOUT_MOST 0.75 /* of the rows, which may end early */

/* ---- splits ---- */

/* Do all numbers of a key have no fraction? Then a cut between two of them is better said by one of
 * them. */
static bool is_whole(const struct pythia__explainer *x, const struct pythia__candidate *c)
{
    for (size_t i = 0; i < x->n; i++)
        if (!isnan(c->numbers[i]) && c->numbers[i] != floor(c->numbers[i]))
            return false;
    return true;
}

/* Are the slow levels those of a pool, which have names of their own? */
static bool names_pooled(const struct pythia__candidate *c, const struct pythia_split *s)
{
    return c->slow && s->level_count == 1 && s->levels[0] == 1;
}

/* The requests with more of what the key goes with, as words behind its name: "is >= 2", "is in {a,
 * b}", "is missing". */
char *pythia__explain_split_text(const struct pythia__explainer *x,
                                 const struct pythia__candidate *c, const struct pythia_split *s)
{
    struct pythia_buf text = {0};
    if (s->by_absence) {
        pythia_buf_puts(&text, s->above ? "is missing" : "is there");
    } else if (s->levels) {
        pythia_buf_puts(&text, "is in {");
        size_t most = x->values_max < SPLIT_MAX ? x->values_max : SPLIT_MAX;
        size_t count = names_pooled(c, s) ? c->slow_count : s->level_count;
        for (size_t i = 0; i < count && i < most; i++) {
            pythia_buf_puts(&text, i ? ", " : "");
            pythia_buf_text_add(&text, names_pooled(c, s) ? c->slow[i] : c->texts[s->levels[i]]);
        }
        if (count > most)
            pythia_buf_printf(&text, ", and %zu more", count - most);
        pythia_buf_putc(&text, '}');
    } else if (c->kind == PYTHIA_KEY_MEMBER) {
        pythia_buf_puts(&text, s->above ? "does" : "does not");
        /* A cut of 2.5 between whole numbers is written as ">= 3", which is a value that requests
     * have. */
    } else if (is_whole(x, c)) {
        pythia_buf_printf(&text, "is %s %.15g",
                          s->above ? ">=" : "<=", s->above ? ceil(s->cut) : floor(s->cut));
    } else {
        pythia_buf_printf(&text, "is %s %.6g", s->above ? ">" : "<=", s->cut);
    }
    if (pythia_buf_status(&text) == PYTHIA_OK)
        return text.bytes;
    pythia_buf_free(&text);
    return NULL;
}

/* ---- profiles ---- */

/* A value and how long its request took. */
struct point {
    double value, duration_ns;
};

static int compare_candidate_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Takes the label, which may be missing memory. */
static int add_bin(struct pythia_explanation *found, char *label, const struct point *points,
                   size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += points[i].duration_ns;
    if (!label)
        return PYTHIA_ENOMEM;
    struct pythia_profile_bin *bin = &found->profile[found->profile_bins++];
    bin->label = label;
    bin->requests = count;
    bin->mean_ns = sum / (double)count;
    return PYTHIA_OK;
}

static char *range_label(enum pythia_key_kind kind, double low, double high)
{
    struct pythia_buf text = {0};
    if (kind == PYTHIA_KEY_HAS || kind == PYTHIA_KEY_MEMBER)
        return pythia_strndup(low > 0 ? "with" : "without", low > 0 ? 4 : 7);
    pythia_buf_printf(&text, "%.6g", low);
    if (high > low)
        pythia_buf_printf(&text, " to %.6g", high);
    return text.bytes;
}

/* Numbers: one bin a value if there are at most `bins`, else bins of about as many requests each,
 * never parting equal values. */
static int profile_numbers(struct pythia_explanation *found, struct point *points, size_t count,
                           size_t bins)
{
    size_t different = count > 0;
    assert(bins > 0);
    qsort(points, count, sizeof(*points), compare_candidate_points);
    for (size_t i = 1; i < count; i++)
        different += points[i].value != points[i - 1].value;
    size_t wanted = different <= bins ? 1 : (count + bins - 1) / bins;
    for (size_t from = 0; from < count;) {
        size_t to = from + wanted < count ? from + wanted : count;
        /* Equal values stay in one bin: a bin "3 to 3" twice would look like a mistake. */
        while (to < count && points[to].value == points[to - 1].value)
            to++;
        if (found->profile_bins + 1 == bins)
            to = count;
        char *label = range_label(found->kind, points[from].value, points[to - 1].value);
        if (add_bin(found, label, points + from, to - from) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        from = to;
    }
    return PYTHIA_OK;
}

static int compare_counts(const void *a, const void *b)
{
    const size_t *x = a, *y = b; /* requests, level: the most frequent first, ties by name */
    return x[0] != y[0] ? (x[0] < y[0]) - (x[0] > y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Levels: the most frequent ones, and the rest together. */
static int profile_levels(const struct pythia__explainer *x, const struct pythia__candidate *c,
                          struct pythia_explanation *found, struct point *points)
{
    size_t(*counts)[2] = pythia_calloc(c->level_count + 1, sizeof(*counts));
    if (!counts)
        return PYTHIA_ENOMEM;
    for (uint32_t l = 0; l <= c->level_count; l++)
        counts[l][1] = l; /* the last stands for requests without the key */
    for (size_t i = 0; i < x->n; i++)
        counts[c->levels[i] == PYTHIA_COLUMN_MISSING ? c->level_count : c->levels[i]][0]++;
    qsort(counts, c->level_count + 1, sizeof(*counts), compare_counts);
    int status = PYTHIA_OK;
    for (size_t k = 0; k <= c->level_count && counts[k][0] > 0; k++) {
        /* The last bin takes all levels that are left. */
        bool rest = found->profile_bins + 1 == x->values_max;
        size_t count = 0;
        for (size_t i = 0; i < x->n; i++) {
            size_t level = c->levels[i] == PYTHIA_COLUMN_MISSING ? c->level_count : c->levels[i],
                   at = k;
            while (rest && at <= c->level_count && counts[at][1] != level)
                at++;
            if (rest ? at <= c->level_count : level == counts[k][1])
                points[count++].duration_ns = (double)x->rows[i]->duration_ns;
        }
        struct pythia_text name =
            counts[k][1] == c->level_count ? PYTHIA_TEXT("(none)") : c->texts[counts[k][1]];
        if (rest && k < c->level_count && counts[k + 1][0] > 0)
            name = PYTHIA_TEXT("(others)");
        status = add_bin(found, pythia_strndup(name.bytes, name.size), points, count);
        if (status != PYTHIA_OK)
            goto out;
        if (rest)
            break;
    }
out:
    pythia_free(counts);
    return status;
}

int pythia__explain_profile(const struct pythia__explainer *x, const struct pythia__candidate *c,
                            struct pythia_explanation *found)
{
    struct point *points = pythia_calloc(x->n, sizeof(*points));
    size_t count = 0, without = 0;
    int status;
    if (!points)
        return PYTHIA_ENOMEM;
    if (c->kind == PYTHIA_KEY_CATEGORICAL) {
        status = profile_levels(x, c, found, points);
        goto out;
    }
    for (size_t i = 0; i < x->n; i++) {
        double number = c->numbers[i], duration_ns = (double)x->rows[i]->duration_ns;
        size_t at = isnan(number) ? x->n - ++without : count++; /* those without at the end */
        points[at] = (struct point){number, duration_ns};
    }
    status = profile_numbers(found, points, count, x->values_max - (without > 0));
    if (status != PYTHIA_OK)
        goto out;
    if (without > 0)
        status = add_bin(found, pythia_strndup("(none)", 6), points + count, without);
out:
    pythia_free(points);
    return status;
}

/* The levels of the slow group, with their texts, in one block; NULL when out of memory. */
struct pythia_text *pythia__explain_copy_levels(const struct pythia__candidate *c,
                                                const struct pythia_split *s)
{
    size_t bytes = 1, count = names_pooled(c, s) ? c->slow_count : s->level_count;
    for (size_t i = 0; i < count; i++)
        bytes += names_pooled(c, s) ? c->slow[i].size : c->texts[s->levels[i]].size;
    struct pythia_text *out = pythia_calloc(1, count * sizeof(*out) + bytes);
    /* Texts are copied because those of the candidates are freed with the explainer. */
    char *room = out ? (char *)(out + count) : NULL;
    for (size_t i = 0; out && i < count; i++) {
        struct pythia_text text = names_pooled(c, s) ? c->slow[i] : c->texts[s->levels[i]];
        if (text.size)
            memcpy(room, text.bytes, text.size);
        out[i] = (struct pythia_text){room, text.size};
        room += text.size;
    }
    return out;
}

/* ---- requests that end early ---- */

static bool passes_point(const struct pythia_shape *shape, uint32_t tracepoint)
{
    for (uint32_t k = 0; k < shape->point_count; k++)
        if (shape->points[k] == tracepoint)
            return true;
    return false;
}

/* Does this path come, after it first passed the trace point, to one that it has not passed before
 * and that most rows without the trace point pass? `passing` counts these, by trace point; `seen`
 * is scratch of the same size. */
static bool rejoins_after(const struct pythia_shape *shape, const struct pythia_cct *cct,
                          uint32_t tracepoint, const size_t *passing, size_t without, bool *seen)
{
    bool after = false, rejoins = false;
    for (uint32_t i = 0; i < shape->gap_count && !rejoins; i++) {
        const struct pythia_edge *edge = pythia_cct_edge_at(cct, shape->edges[shape->slots[i]]);
        uint32_t to = edge->to_tracepoint;
        if (i == 0)
            seen[edge->from_tracepoint] = true;
        /* Only the first event of a point says that the path has come back. */
        if (edge->to_event == PYTHIA_EVENT_END || seen[to])
            continue;
        seen[to] = true;
        rejoins = after && 2 * passing[to] > without;
        after = after || to == tracepoint;
    }
    /* The caller reuses the scratch for the next shape. */
    for (uint32_t k = 0; k < shape->point_count; k++)
        seen[shape->points[k]] = false;
    return rejoins;
}

int pythia__ends_early(const struct pythia_row *const *rows, size_t count,
                       const struct pythia_cct *cct, uint32_t tracepoint, size_t *without,
                       bool *early)
{
    size_t points = pythia_vocabulary_tracepoints(pythia_cct_vocabulary(cct)), rejoining = 0;
    size_t *passing = pythia_calloc(points, sizeof(*passing));
    bool *seen = pythia_calloc(points, sizeof(*seen)), rejoins = false;
    size_t lacking = 0;
    int status = PYTHIA_ENOMEM;
    if (!passing || !seen)
        goto out;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        if (passes_point(shape, tracepoint))
            continue;
        lacking++;
        for (uint32_t k = 0; k < shape->point_count; k++)
            passing[shape->points[k]]++;
    }
    const struct pythia_shape *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        if (!passes_point(shape, tracepoint))
            continue;
        /* Rows share their shapes: a run of rows of the same shape needs one walk. */
        if (shape != last)
            rejoins = rejoins_after(shape, cct, tracepoint, passing, lacking, seen);
        rejoining += rejoins;
        last = shape;
    }
    *without = lacking;
    /* A request that lacks the point has ended early only if the requests that hit it do not
     * come back to the common path; otherwise the point is an ordinary branch. */
    *early = lacking > 0 && lacking < count && (double)lacking <= WITHOUT_MOST * (double)count &&
             2 * rejoining < count - lacking;
    status = PYTHIA_OK;
out:
    pythia_free(passing);
    pythia_free(seen);
    return status;
}
