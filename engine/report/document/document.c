#include "document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "write/words.h"

void pythia__doc_begin(struct pythia__doc *d)
{
    *d = (struct pythia__doc){0};
    pythia_arena_init(&d->memory);
}

void pythia__doc_free(struct pythia__doc *d)
{
    pythia_arena_free(&d->memory);
    pythia_free(d->points);
    *d = (struct pythia__doc){0};
}

void *pythia__doc_alloc(struct pythia__doc *d, size_t size)
{
    void *memory = d->failed ? NULL : pythia_arena_alloc(&d->memory, size);
    if (!memory) {
        d->failed = true;
        return NULL;
    }
    return memset(memory, 0, size);
}

struct pythia_text pythia__doc_copy(struct pythia__doc *d, struct pythia_text text)
{
    char *bytes = pythia__doc_alloc(d, text.size + 1);
    if (!bytes)
        return PYTHIA_TEXT("");
    if (text.size > 0)
        memcpy(bytes, text.bytes, text.size);
    return (struct pythia_text){bytes, text.size};
}

/* ---- blocks ---- */

static struct pythia__doc_block *add_block(struct pythia__doc *d, enum pythia__doc_block_kind kind)
{
    struct pythia__doc_block *b = pythia__doc_alloc(d, sizeof(*b));
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

void pythia__doc_open(struct pythia__doc *d, enum pythia__doc_box box, struct pythia_text id,
                      const char *title)
{
    bool gap = d->gap; /* it is the first block's that shows something */
    d->gap = false;
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_OPEN);
    d->gap = gap;
    if (!b)
        return;
    b->box = box;
    b->id = pythia__doc_copy(d, id);
    b->label = title;
}

void pythia__doc_close(struct pythia__doc *d)
{
    bool gap = d->gap;
    (void)add_block(d, PYTHIA__DOC_CLOSE);
    d->gap = gap;
}

void pythia__doc_heading(struct pythia__doc *d, unsigned level, enum pythia__doc_mark mark)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_HEADING);
    if (!b)
        return;
    b->mark = mark;
    b->level = level;
}

void pythia__doc_title(struct pythia__doc *d, unsigned level, const char *words)
{
    pythia__doc_gap(d);
    pythia__doc_heading(d, level, PYTHIA__DOC_PLAIN);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(words));
}

void pythia__doc_aside(struct pythia__doc *d)
{
    d->line = d->failed ? NULL : &d->last->aside;
}

void pythia__doc_paragraph(struct pythia__doc *d, enum pythia__doc_role role)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_PARAGRAPH);
    if (b)
        b->role = role;
}

void pythia__doc_entry(struct pythia__doc *d, const char *label, enum pythia__doc_role role)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_ENTRY);
    if (!b)
        return;
    b->label = label;
    b->role = role;
}

void pythia__doc_item(struct pythia__doc *d)
{
    (void)add_block(d, PYTHIA__DOC_ITEM);
}

void pythia__doc_figure(struct pythia__doc *d, const char *label)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_FIGURE);
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

void pythia__doc_limit_rows(struct pythia__doc *d, size_t seen)
{
    if (!d->failed)
        d->last->seen = seen;
}

void pythia__doc_row(struct pythia__doc *d, enum pythia__doc_mark mark)
{
    struct pythia__doc_block *b = d->last;
    struct pythia__doc_row *row =
        d->failed ? NULL
                  : pythia__doc_alloc(d, sizeof(*row) + b->column_count * sizeof(row->cells[0]));
    if (!row)
        return;
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

void pythia__doc_picture(struct pythia__doc *d,
                         void (*draw)(struct pythia__html *h, const void *data), const void *data)
{
    struct pythia__doc_block *b = add_block(d, PYTHIA__DOC_PICTURE);
    if (!b)
        return;
    b->draw = draw;
    b->data = data;
}

bool pythia__doc_is_empty(const struct pythia__doc_block *b)
{
    bool lines = b->kind == PYTHIA__DOC_PARAGRAPH || b->kind == PYTHIA__DOC_ENTRY ||
                 b->kind == PYTHIA__DOC_ITEM;
    return (lines && !b->line.first) || (b->kind == PYTHIA__DOC_TABLE && !b->first);
}

const struct pythia__doc_block *pythia__doc_skip(const struct pythia__doc_block *b)
{
    size_t depth = 0;
    if (b->kind != PYTHIA__DOC_OPEN || (b->box != PYTHIA__DOC_PAGE && b->box != PYTHIA__DOC_FOLD))
        return b;
    for (;; b = b->next) {
        depth += b->kind == PYTHIA__DOC_OPEN;
        depth -= b->kind == PYTHIA__DOC_CLOSE;
        if (depth == 0 || !b->next)
            return b;
    }
}

/* ---- runs ---- */

static struct pythia__doc_run *add_run(struct pythia__doc *d, enum pythia__doc_run_kind kind)
{
    struct pythia__doc_run *run = pythia__doc_alloc(d, sizeof(*run));
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
        run->text = pythia__doc_copy(d, text);
}

void pythia__doc_take(struct pythia__doc *d, enum pythia__doc_run_kind kind,
                      struct pythia_buf *text)
{
    d->failed = d->failed || text->failed;
    pythia__doc_text(d, kind, pythia_buf_text(text));
    pythia_buf_free(text);
}

void pythia__doc_words(struct pythia__doc *d, const char *format, ...)
{
    char text[512];
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

const struct pythia__doc_name *pythia__doc_name(struct pythia__doc *d, enum pythia__doc_space space,
                                                struct pythia_text shortest,
                                                struct pythia_text longer, struct pythia_text full)
{
    struct pythia__doc_name *name = pythia__doc_alloc(d, sizeof(*name));
    if (!name)
        return NULL;
    name->space = space;
    name->forms[PYTHIA__DOC_FULL] = pythia__doc_copy(d, full);
    name->forms[0] = shortest.size ? pythia__doc_copy(d, shortest) : name->forms[PYTHIA__DOC_FULL];
    name->forms[1] = longer.size ? pythia__doc_copy(d, longer) : name->forms[PYTHIA__DOC_FULL];
    name->next = d->names;
    d->names = name;
    d->name_count++;
    pythia__doc_name_again(d, name);
    return name;
}

void pythia__doc_name_again(struct pythia__doc *d, const struct pythia__doc_name *name)
{
    struct pythia__doc_run *run = add_run(d, PYTHIA__DOC_NAME);
    if (run)
        run->name = name;
}

struct pythia_text pythia__doc_name_text(const struct pythia__doc_run *run, bool full)
{
    return run->name->forms[full ? PYTHIA__DOC_FULL : run->name->form];
}

void pythia__doc_bar(struct pythia__doc *d, enum pythia__doc_bar bar, double value, double low,
                     double high)
{
    struct pythia__doc_run *run = add_run(d, PYTHIA__DOC_BAR);
    if (!run)
        return;
    run->bar = bar;
    run->value = isfinite(value) ? fmin(fmax(value, 0), 1) : 0;
    run->low = low;
    run->high = high;
}

void pythia__doc_spark(struct pythia__doc *d, const uint64_t *counts, size_t count)
{
    static const char *const levels[] = {" ",
                                         "\xE2\x96\x81",
                                         "\xE2\x96\x82",
                                         "\xE2\x96\x83",
                                         "\xE2\x96\x84",
                                         "\xE2\x96\x85",
                                         "\xE2\x96\x86",
                                         "\xE2\x96\x87",
                                         "\xE2\x96\x88"};
    enum { HIGHEST = sizeof(levels) / sizeof(levels[0]) - 1 };
    struct pythia_buf text = {0};
    uint64_t most = 1;
    for (size_t i = 0; i < count; i++)
        most = counts[i] > most ? counts[i] : most;
    for (size_t i = 0; i < count; i++)
        pythia_buf_puts(
            &text, levels[(size_t)fmin(ceil((double)counts[i] * HIGHEST / (double)most), HIGHEST)]);
    pythia__doc_take(d, PYTHIA__DOC_SPARK, &text);
}

void pythia__doc_link(struct pythia__doc *d, struct pythia_text target)
{
    pythia__doc_text(d, PYTHIA__DOC_LINK, target);
}

void pythia__doc_unlink(struct pythia__doc *d)
{
    (void)add_run(d, PYTHIA__DOC_UNLINK);
}

void pythia__doc_below(struct pythia__doc *d)
{
    (void)add_run(d, PYTHIA__DOC_BELOW);
}

void pythia__doc_duration(struct pythia__doc *d, double ns)
{
    struct pythia_buf text = {0};
    pythia__add_duration(&text, ns);
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__doc_percent(struct pythia__doc *d, double share)
{
    struct pythia_buf text = {0};
    pythia__add_percent(&text, share);
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__doc_chance(struct pythia__doc *d, double p)
{
    struct pythia_buf text = {0};
    if (isfinite(p))
        pythia__add_chance(&text, p);
    else
        pythia_buf_putc(&text, '-');
    const char *shown = text.bytes ? text.bytes : "";
    pythia__doc_text(d, PYTHIA__DOC_NUMBER,
                     pythia_text_of(strncmp(shown, "= ", 2) == 0 ? shown + 2 : shown));
    d->failed = d->failed || text.failed;
    pythia_buf_free(&text);
}

void pythia__doc_count(struct pythia__doc *d, double count, const char *one, const char *many)
{
    struct pythia_buf text = {0};
    pythia__add_count(&text, count);
    pythia_buf_puts(&text, count == 1 ? one : many);
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

void pythia__doc_more(struct pythia__doc *d, size_t all, size_t shown, const char *one,
                      const char *many)
{
    if (all <= shown)
        return;
    pythia__doc_paragraph(d, PYTHIA__DOC_REMARK);
    pythia__doc_words(d, "And %zu more %s.", all - shown, all - shown == 1 ? one : many);
}

void pythia__doc_plain(const struct pythia__doc_line *line, struct pythia_buf *to)
{
    for (const struct pythia__doc_run *run = line->first; run; run = run->next)
        if (run->kind != PYTHIA__DOC_LINK)
            pythia_buf_text_add(to, run->kind == PYTHIA__DOC_NAME ? pythia__doc_name_text(run, true)
                                                                  : run->text);
}

/* ---- names ---- */

struct naming {
    struct pythia__doc_name **names;
};

static struct pythia_text form_of(const struct pythia__doc_name *name)
{
    return name->forms[name->form];
}

static bool look_same(const struct pythia__doc_name *a, const struct pythia__doc_name *b)
{
    return a->space == b->space && pythia_text_equal(form_of(a), form_of(b));
}

static bool name_comes_before(const void *context, uint32_t a, uint32_t b)
{
    const struct naming *n = context;
    if (n->names[a]->space != n->names[b]->space)
        return n->names[a]->space < n->names[b]->space;
    int order = pythia_text_compare(form_of(n->names[a]), form_of(n->names[b]));
    if (order == 0)
        order = pythia_text_compare(n->names[a]->forms[PYTHIA__DOC_FULL],
                                    n->names[b]->forms[PYTHIA__DOC_FULL]);
    return order < 0;
}

static void lengthen_name(struct pythia__doc_name *name)
{
    if (name->form < PYTHIA__DOC_FULL)
        name->form++;
}

/* Give a longer form to each of the `count` names that look the same, which begin at `order`; false
 * if they all have one name. */
static bool part_alike(const struct naming *n, const uint32_t *order, size_t count)
{
    const struct pythia_text first = n->names[order[0]]->forms[PYTHIA__DOC_FULL];
    bool differ = false;
    for (size_t i = 1; i < count; i++)
        differ = differ || !pythia_text_equal(first, n->names[order[i]]->forms[PYTHIA__DOC_FULL]);
    for (size_t i = 0; differ && i < count; i++)
        lengthen_name(n->names[order[i]]);
    return differ;
}

/* One round: whether any name has got a longer form, so that all are to be looked at again. */
static bool part_names(const struct naming *n, uint32_t *order, size_t count)
{
    bool changed = false;
    pythia_sort_indexes(order, count, order + count, name_comes_before, n);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && look_same(n->names[order[i]], n->names[order[end]]);)
            end++;
        changed = part_alike(n, order + i, end - i) || changed;
    }
    return changed;
}

static int choose_names(struct pythia__doc *d)
{
    size_t count = 0;
    struct naming n = {pythia_calloc(d->name_count, sizeof(struct pythia__doc_name *))};
    uint32_t *order = pythia_calloc(2 * d->name_count, sizeof(*order));
    int status = n.names && order ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (struct pythia__doc_name *name = d->names; status == PYTHIA_OK && name; name = name->next) {
        order[count] = (uint32_t)count;
        n.names[count++] = name;
    }
    for (int round = 0; status == PYTHIA_OK && round < 2 * PYTHIA__DOC_FORMS; round++)
        if (!part_names(&n, order, count))
            break;
    pythia_free(n.names);
    pythia_free(order);
    return status;
}

int pythia__doc_finish(struct pythia__doc *d)
{
    if (d->failed)
        return PYTHIA_ENOMEM;
    return d->name_count > 0 ? choose_names(d) : PYTHIA_OK;
}
