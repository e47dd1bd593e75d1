#include "document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "sentences/sentences.h"

void pythia__doc_begin(struct pythia__doc *d)
{
    *d = (struct pythia__doc){0};
    pythia_arena_init(&d->memory);
}

void pythia__doc_free(struct pythia__doc *d)
{
    pythia_arena_free(&d->memory);
    *d = (struct pythia__doc){0};
}

static void *alloc_from_document(struct pythia__doc *d, size_t size)
{
    void *memory = d->failed ? NULL : pythia_arena_alloc(&d->memory, size);
    if (!memory) {
        d->failed = true;
        return NULL;
    }
    return memset(memory, 0, size);
}

static struct pythia_text copy_into_document(struct pythia__doc *d, struct pythia_text text)
{
    char *bytes = alloc_from_document(d, text.size + 1);
    if (!bytes)
        return PYTHIA_TEXT("");
    if (text.size > 0)
        memcpy(bytes, text.bytes, text.size);
    return (struct pythia_text){bytes, text.size};
}

/* ---- blocks ---- */

static struct pythia__doc_block *add_block(struct pythia__doc *d, enum pythia__doc_block_kind kind)
{
    struct pythia__doc_block *b = alloc_from_document(d, sizeof(*b));
    d->line = NULL;
    if (!b)
        return NULL;
    b->kind = kind;
    b->gap = d->gap;
    d->gap = false;
    if (d->last)
        d->last->next = b;
    else
        d->first = b;
    d->last = b;
    d->line = &b->line;
    return b;
}

void pythia__doc_gap(struct pythia__doc *d)
{
    d->gap = d->first != NULL;
}

void pythia__doc_heading(struct pythia__doc *d, enum pythia__doc_mark mark)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_HEADING);
    if (b)
        b->mark = mark;
}

void pythia__doc_aside(struct pythia__doc *d)
{
    d->line = d->failed ? NULL : &d->last->aside;
}

void pythia__doc_paragraph(struct pythia__doc *d)
{
    (void)add_block(d, PYTHIA__DOC_PARAGRAPH);
}

void pythia__doc_entry(struct pythia__doc *d, const char *label)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_ENTRY);
    if (b)
        b->label = label;
}

void pythia__doc_table(struct pythia__doc *d, const struct pythia__doc_column *columns,
                       size_t count)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_TABLE);
    if (!b)
        return;
    b->columns = columns;
    b->column_count = count;
}

void pythia__doc_limit_width(struct pythia__doc *d, size_t columns)
{
    if (!d->failed)
        d->last->width = columns;
}

void pythia__doc_row(struct pythia__doc *d, enum pythia__doc_mark mark)
{
    struct pythia__doc_row *row = alloc_from_document(d, sizeof(*row));
    if (!row)
        return;
    struct pythia__doc_block *b = d->last;
    row->mark = mark;
    if (b->last)
        b->last->next = row;
    else
        b->first = row;
    b->last = row;
    b->cell = 0;
    d->line = NULL;
}

void pythia__doc_cell(struct pythia__doc *d)
{
    if (d->failed)
        return;
    struct pythia__doc_block *b = d->last;
    d->line = b->cell < b->column_count ? &b->last->cells[b->cell++] : NULL;
}

/* ---- runs ---- */

static struct pythia__doc_run *add_run(struct pythia__doc *d, enum pythia__doc_run_kind kind)
{
    struct pythia__doc_run *run = alloc_from_document(d, sizeof(*run));
    if (!run || !d->line)
        return NULL;
    run->kind = kind;
    if (d->line->last)
        d->line->last->next = run;
    else
        d->line->first = run;
    d->line->last = run;
    return run;
}

void pythia__doc_text(struct pythia__doc *d, enum pythia__doc_run_kind kind,
                      struct pythia_text text)
{
    struct pythia__doc_run *run = text.size > 0 ? add_run(d, kind) : NULL;
    if (run)
        run->text = copy_into_document(d, text);
}

/* Take what a buffer holds as a run, and give the buffer back. */
static void take_doc_run(struct pythia__doc *d, enum pythia__doc_run_kind kind,
                         struct pythia_buf *text)
{
    d->failed = d->failed || text->failed;
    pythia__doc_text(d, kind, pythia_buf_text(text));
    pythia_buf_free(text);
}

void pythia__doc_words(struct pythia__doc *d, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(text));
}

void pythia__doc_strong(struct pythia__doc *d, const char *text)
{
    pythia__doc_text(d, PYTHIA__DOC_STRONG, pythia_text_of(text));
}

void pythia__doc_name(struct pythia__doc *d, enum pythia__doc_space space,
                      struct pythia_text shortest, struct pythia_text longer,
                      struct pythia_text full)
{
    struct pythia__doc_run *run = add_run(d, PYTHIA__DOC_NAME);
    if (!run)
        return;
    run->space = space;
    run->forms[0] = copy_into_document(d, shortest.size ? shortest : full);
    run->forms[1] = copy_into_document(d, longer.size ? longer : full);
    run->forms[2] = copy_into_document(d, full);
    run->next_name = d->names;
    d->names = run;
    d->name_count++;
}

void pythia__doc_bar(struct pythia__doc *d, double share)
{
    struct pythia__doc_run *run = add_run(d, PYTHIA__DOC_BAR);
    if (run)
        run->share = isfinite(share) ? fmin(fmax(share, 0), 1) : 0;
}

void pythia__doc_spark(struct pythia__doc *d, const uint64_t *counts, size_t count)
{
    struct pythia__doc_run *run = add_run(d, PYTHIA__DOC_SPARK);
    uint64_t *own = run ? alloc_from_document(d, count * sizeof(*own)) : NULL;
    if (!own)
        return;
    memcpy(own, counts, count * sizeof(*own));
    run->counts = own;
    run->count = count;
}

void pythia__doc_duration(struct pythia__doc *d, double ns)
{
    struct pythia_buf text = {0};
    pythia__add_duration(&text, ns);
    take_doc_run(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__doc_percent(struct pythia__doc *d, double share)
{
    struct pythia_buf text = {0};
    pythia__add_percent(&text, share);
    take_doc_run(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__doc_count(struct pythia__doc *d, double count, const char *one, const char *many)
{
    struct pythia_buf text = {0};
    pythia__add_count(&text, count);
    pythia_buf_puts(&text, count == 1 ? one : many);
    take_doc_run(d, PYTHIA__DOC_NUMBER, &text);
}

/* ---- names ---- */

struct naming {
    struct pythia__doc_run **runs;
};

static struct pythia_text form_of(const struct pythia__doc_run *run)
{
    return run->forms[run->form];
}

static bool look_same(const struct pythia__doc_run *a, const struct pythia__doc_run *b)
{
    return a->space == b->space && pythia_text_equal(form_of(a), form_of(b));
}

static bool comes_before(const void *context, uint32_t a, uint32_t b)
{
    const struct naming *n = context;
    if (n->runs[a]->space != n->runs[b]->space)
        return n->runs[a]->space < n->runs[b]->space;
    int order = pythia_text_compare(form_of(n->runs[a]), form_of(n->runs[b]));
    if (order == 0)
        order = pythia_text_compare(n->runs[a]->forms[PYTHIA__DOC_FORMS - 1],
                                    n->runs[b]->forms[PYTHIA__DOC_FORMS - 1]);
    return order < 0;
}

static void lengthen_run(struct pythia__doc_run *run)
{
    if (run->form < PYTHIA__DOC_FORMS - 1)
        run->form++;
}

/* Give a longer form to each of the `count` runs that look the same, which begin at `order`; false
 * if they all have one name. */
static bool part_runs(const struct naming *n, const uint32_t *order, size_t count)
{
    const struct pythia_text first = n->runs[order[0]]->forms[PYTHIA__DOC_FORMS - 1];
    bool differ = false;
    for (size_t i = 1; i < count; i++)
        differ =
            differ || !pythia_text_equal(first, n->runs[order[i]]->forms[PYTHIA__DOC_FORMS - 1]);
    for (size_t i = 0; differ && i < count; i++)
        lengthen_run(n->runs[order[i]]);
    return differ;
}

/* One round: whether any name has got a longer form, so that all are to be looked at again. */
static bool part_names(const struct naming *n, uint32_t *order, size_t count)
{
    bool changed = false;
    pythia_sort_indexes(order, count, order + count, comes_before, n);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && look_same(n->runs[order[i]], n->runs[order[end]]);)
            end++;
        changed = part_runs(n, order + i, end - i) || changed;
    }
    return changed;
}

static int choose_names(struct pythia__doc *d)
{
    size_t count = 0;
    struct naming n = {pythia_calloc(d->name_count, sizeof(struct pythia__doc_run *))};
    uint32_t *order = pythia_calloc(2 * d->name_count, sizeof(*order));
    int status = n.runs && order ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (struct pythia__doc_run *run = d->names; status == PYTHIA_OK && run; run = run->next_name) {
        order[count] = (uint32_t)count;
        n.runs[count++] = run;
    }
    for (int round = 0; status == PYTHIA_OK && round < 2 * PYTHIA__DOC_FORMS; round++)
        if (!part_names(&n, order, count))
            break;
    for (size_t i = 0; i < count; i++)
        n.runs[i]->text = form_of(n.runs[i]);
    pythia_free(n.runs);
    pythia_free(order);
    return status;
}

int pythia__doc_finish(struct pythia__doc *d)
{
    if (d->failed)
        return PYTHIA_ENOMEM;
    return d->name_count > 0 ? choose_names(d) : PYTHIA_OK;
}
