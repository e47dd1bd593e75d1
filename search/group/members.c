#include "members.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/column.h"
#include "pythia/mem.h"
#include "pythia/row.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define MANY_VALUES 0.2 /* of the requests present; as of levels in stats/column.c */
#define CUT_MARK    20  /* bytes that pythia_row_cut appends: "...#" and 16 digits */

/* A value in a request. */
struct token {
    struct pythia_text text;
    size_t row;
};

/* Equal tokens that follow each other in order of text: [from, to) of the order. */
struct run {
    size_t from, to, rows;
};

struct finding {
    const struct pythia_text *values;
    size_t n;
    struct token *tokens;
    uint32_t *order; /* of the tokens, by text and row */
    size_t count;
    struct run *runs;
    size_t run_count;
    struct pythia_text *last; /* [n]: the last whole value of a text that was cut; NULL bytes */
    bool *cut;                /* [n] */
};

/* Was the joined text cut? What stands before the mark then begins a value, and may not be all of
 * it. */
static bool is_cut(struct pythia_text text)
{
    return text.size > PYTHIA_ROW_TEXT_MAX - 4 && text.size > CUT_MARK &&
           memcmp(text.bytes + text.size - CUT_MARK, "...#", 4) == 0;
}

static size_t count_member_parts(struct pythia_text text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size; i++)
        count += text.bytes[i] == '|';
    return count;
}

/* Take the values of one request apart; they are in order of text. */
static void take_apart(struct finding *f, size_t row)
{
    struct pythia_text text = f->values[row];
    size_t from = 0;
    f->cut[row] = is_cut(text);
    for (size_t i = 0; i <= text.size; i++) {
        if (i < text.size && text.bytes[i] != '|')
            continue;
        if (i == text.size && f->cut[row] && from > 0)
            break; /* the last one is not whole */
        struct pythia_text part = {text.bytes + from, i - from};
        f->tokens[f->count++] = (struct token){part, row};
        f->last[row] = part;
        from = i + 1;
    }
}

static bool token_before(const void *context, uint32_t a, uint32_t b)
{
    const struct finding *f = context;
    int order = pythia_text_compare(f->tokens[a].text, f->tokens[b].text);
    return order ? order < 0 : f->tokens[a].row < f->tokens[b].row;
}

static int take_all_apart(struct finding *f)
{
    size_t parts = 0;
    for (size_t i = 0; i < f->n; i++)
        parts += f->values[i].bytes ? count_member_parts(f->values[i]) : 0;
    f->tokens = pythia_calloc(parts, sizeof(*f->tokens));
    f->order = pythia_calloc(2 * parts, sizeof(*f->order));
    f->runs = pythia_calloc(parts, sizeof(*f->runs));
    if (!f->tokens || !f->order || !f->runs)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < f->n; i++)
        if (f->values[i].bytes)
            take_apart(f, i);
    for (size_t i = 0; i < f->count; i++)
        f->order[i] = (uint32_t)i;
    pythia_sort_indexes(f->order, f->count, f->order + parts, token_before, f);
    return PYTHIA_OK;
}

static const struct token *token_at(const struct finding *f, size_t place)
{
    return &f->tokens[f->order[place]];
}

/* Equal tokens side by side; a request counts once. */
static void find_runs(struct finding *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct token *t = token_at(f, i);
        bool same = i > 0 && pythia_text_equal(t->text, token_at(f, i - 1)->text);
        if (!same)
            f->runs[f->run_count++] = (struct run){.from = i};
        struct run *run = &f->runs[f->run_count - 1];
        run->to = i + 1;
        run->rows += !same || t->row != token_at(f, i - 1)->row;
    }
}

/* The most frequent first; equally frequent ones in order of text. */
static int compare_rows(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return x->rows != y->rows ? (x->rows < y->rows) - (x->rows > y->rows)
                              : (x->from > y->from) - (x->from < y->from);
}

static int compare_places(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Keep the runs that become members, in order of text. */
static void choose_runs(struct finding *f, size_t most, struct pythia__members *m)
{
    size_t kept = 0;
    /* Nearly a value of its own for each request: an identifier, not membership. */
    if ((double)f->run_count > MANY_VALUES * (double)m->present)
        f->run_count = 0;
    for (size_t i = 0; i < f->run_count; i++) {
        size_t without = m->present - f->runs[i].rows;
        if (f->runs[i].rows >= PYTHIA_COLUMN_LEVEL_MIN && without >= PYTHIA_COLUMN_LEVEL_MIN)
            f->runs[kept++] = f->runs[i];
    }
    m->uneven = f->run_count - kept;
    if (kept > most) {
        /* The most frequent ones are kept, and then put back into order of text. */
        qsort(f->runs, kept, sizeof(*f->runs), compare_rows);
        qsort(f->runs, most, sizeof(*f->runs), compare_places);
        m->beyond = kept - most;
        kept = most;
    }
    f->run_count = kept;
}

static double *mark_requests(const struct finding *f, const struct run *run)
{
    struct pythia_text text = token_at(f, run->from)->text;
    double *numbers = pythia_calloc(f->n, sizeof(*numbers));
    for (size_t i = 0; numbers && i < f->n; i++)
        if (!f->values[i].bytes || (f->cut[i] && pythia_text_compare(text, f->last[i]) > 0))
            numbers[i] = NAN;
    for (size_t i = run->from; numbers && i < run->to; i++)
        numbers[token_at(f, i)->row] = 1;
    return numbers;
}

static int make_members(const struct finding *f, struct pythia__members *m)
{
    m->list = pythia_calloc(f->run_count, sizeof(*m->list));
    if (!m->list || !m->counts)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < f->run_count; i++) {
        struct pythia__member *one = &m->list[m->count];
        one->text = token_at(f, f->runs[i].from)->text;
        one->numbers = mark_requests(f, &f->runs[i]);
        if (!one->numbers)
            return PYTHIA_ENOMEM;
        m->count++;
    }
    return PYTHIA_OK;
}

/* Count the values of each request. */
static void count_values(const struct finding *f, struct pythia__members *m)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct token *t = token_at(f, i), *before = i > 0 ? token_at(f, i - 1) : NULL;
        if (!before || before->row != t->row || !pythia_text_equal(before->text, t->text))
            m->counts[t->row]++;
    }
    for (size_t i = 0; i < f->n; i++) {
        m->present += f->values[i].bytes != NULL;
        m->several += m->counts[i] > 1;
        if (!f->values[i].bytes || f->cut[i])
            m->counts[i] = NAN;
    }
}

int pythia__members_find(const struct pythia_text *values, size_t n, size_t most,
                         struct pythia__members *out)
{
    struct pythia__members m = {0};
    struct finding f = {.values = values,
                        .n = n,
                        .last = pythia_calloc(n, sizeof(*f.last)),
                        .cut = pythia_calloc(n, sizeof(*f.cut))};
    m.counts = pythia_calloc(n, sizeof(*m.counts));
    int status = f.last && f.cut && m.counts ? take_all_apart(&f) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    count_values(&f, &m);
    /* With fewer lists of several members no member could be tested, and finding runs is the
     * expensive step. */
    if (m.several < PYTHIA_COLUMN_LEVEL_MIN) {
        pythia_free(m.counts);
        m.counts = NULL;
        goto out;
    }
    find_runs(&f);
    choose_runs(&f, most, &m);
    status = make_members(&f, &m);
out:
    pythia_free(f.tokens);
    pythia_free(f.order);
    pythia_free(f.runs);
    pythia_free(f.last);
    pythia_free(f.cut);
    if (status != PYTHIA_OK) {
        pythia__members_free(&m);
        return status;
    }
    *out = m;
    return PYTHIA_OK;
}

void pythia__members_free(struct pythia__members *m)
{
    for (size_t i = 0; i < m->count; i++)
        pythia_free(m->list[i].numbers);
    pythia_free(m->list);
    pythia_free(m->counts);
    *m = (struct pythia__members){0};
}
