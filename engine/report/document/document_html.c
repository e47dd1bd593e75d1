/* A document as a page: one file that needs no other and runs no script. */
#include <math.h>
#include <string.h>

#include "document.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "write/page_pieces.h"

#define VALUE_SHORT 14 /* characters of a row's name that stay on one line of a card */

static const char *const roles[] = {
    [PYTHIA__DOC_TEXT] = NULL,     [PYTHIA__DOC_LEAD] = "lead",      [PYTHIA__DOC_READ] = "read",
    [PYTHIA__DOC_WARN] = "warn",   [PYTHIA__DOC_WHERE] = "where",    [PYTHIA__DOC_WHY] = "why",
    [PYTHIA__DOC_REMARK] = "note", [PYTHIA__DOC_EYEBROW] = "eyebrow"};

struct page {
    struct pythia__html h;
    const struct pythia__doc *d;
    enum pythia__doc_box boxes[PYTHIA__HTML_DEPTH]; /* that are open */
    size_t depth;
};

/* ---- lines ---- */

static void write_code(struct pythia__html *h, struct pythia_text text)
{
    struct pythia_buf shown = {0};
    pythia_shown_add(&shown, text, SIZE_MAX);
    pythia__html_leaf(h, "code", NULL, shown.bytes ? shown.bytes : "");
    h->out->failed = h->out->failed || shown.failed;
    pythia_buf_free(&shown);
}

static void write_bar(struct pythia__html *h, const struct pythia__doc_run *run)
{
    static const char *const classes[] = {"share", "time", "other"};
    pythia__html_bar(h, classes[run->bar], run->value, run->low, run->high);
}

/* Only addresses of the web become links, whatever else a setting may contain. */
static bool is_target(struct pythia_text text)
{
    return pythia_text_starts(text, PYTHIA_TEXT("#")) ||
           pythia_text_starts(text, PYTHIA_TEXT("http://")) ||
           pythia_text_starts(text, PYTHIA_TEXT("https://"));
}

static void write_runs(struct pythia__html *h, const struct pythia__doc_run *run)
{
    bool link = false, below = false;
    for (; run; run = run->next) {
        switch (run->kind) {
        case PYTHIA__DOC_WORDS:
        case PYTHIA__DOC_NUMBER:
            pythia__html_prose(h, run->text.bytes);
            break;
        case PYTHIA__DOC_STRONG:
            pythia__html_leaf(h, "strong", NULL, run->text.bytes);
            break;
        case PYTHIA__DOC_DIM:
            pythia__html_leaf(h, "span", "dim", run->text.bytes);
            break;
        case PYTHIA__DOC_NAME:
            pythia__html_name(h, pythia__doc_name_text(run, false),
                              pythia__doc_name_text(run, true));
            break;
        case PYTHIA__DOC_CODE:
            write_code(h, run->text);
            break;
        case PYTHIA__DOC_BAR:
            write_bar(h, run);
            break;
        case PYTHIA__DOC_LINK:
            link = is_target(run->text);
            if (link)
                pythia__html_open(h, "a", "href", run->text.bytes, NULL);
            break;
        case PYTHIA__DOC_UNLINK:
            if (link)
                pythia__html_close(h);
            link = false;
            break;
        case PYTHIA__DOC_BELOW:
            if (below)
                pythia__html_close(h);
            below = true;
            pythia__html_open(h, "span", "class", "sub", NULL);
            break;
        case PYTHIA__DOC_SPARK:
            pythia__html_leaf(h, "span", "spark", run->text.bytes);
            break;
        }
    }
    if (below)
        pythia__html_close(h);
}

static void write_element(struct pythia__html *h, const char *element, const char *class,
                          const struct pythia__doc_line *line)
{
    pythia__html_open(h, element, NULL);
    if (class)
        pythia__html_attribute(h, "class", class);
    write_runs(h, line->first);
    pythia__html_close(h);
}

/* ---- tables ---- */

/* The column that names the rows: it comes first. */
static size_t find_shown_name(const struct pythia__doc_block *b)
{
    size_t c = 0;
    while (c < b->column_count && !b->columns[c].name)
        c++;
    return c < b->column_count ? c : 0;
}

/* The `place`-th column from the left. */
static size_t column_at(const struct pythia__doc_block *b, size_t place)
{
    size_t name = find_shown_name(b);
    return place == 0 ? name : place <= name ? place - 1 : place;
}

static void write_head_cells(struct pythia__html *h, const struct pythia__doc_block *b)
{
    pythia__html_open(h, "thead", NULL);
    pythia__html_open(h, "tr", NULL);
    for (size_t c = 0; c < b->column_count; c++) {
        const struct pythia__doc_column *column = &b->columns[column_at(b, c)];
        pythia__html_open(h, "th", "scope", column->bar ? "colgroup" : "col", NULL);
        if (column->right)
            pythia__html_attribute(h, "class", "n");
        if (column->bar)
            pythia__html_attribute(h, "colspan", "2");
        pythia__html_text(h, column->title);
        pythia__html_close(h);
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

/* A bar has a cell of its own, beside that of its number. */
static void write_cell(struct pythia__html *h, const struct pythia__doc_column *column,
                       const struct pythia__doc_line *line)
{
    const struct pythia__doc_run *run = line->first;
    bool bar = run && run->kind == PYTHIA__DOC_BAR;
    if (column->bar) {
        pythia__html_cell(h, "b", NULL);
        if (bar)
            write_bar(h, run);
        else
            pythia__html_text(h, "");
        pythia__html_close(h);
    }
    pythia__html_cell(h, column->right || column->bar ? "n" : "full",
                      column->title[0] ? column->title : NULL);
    write_runs(h, bar ? run->next : run);
    pythia__html_close(h);
}

static void write_rows(struct pythia__html *h, const struct pythia__doc_block *b, const char *class,
                       size_t from, size_t to)
{
    size_t number = 0;
    pythia__html_open(h, "table", "class", class, NULL);
    write_head_cells(h, b);
    pythia__html_open(h, "tbody", NULL);
    for (const struct pythia__doc_row *row = b->first; row; row = row->next, number++) {
        if (number < from || number >= to)
            continue;
        pythia__html_open(h, "tr", NULL);
        pythia__html_open(h, "th", "scope", "row", NULL);
        write_runs(h, row->cells[find_shown_name(b)].first);
        pythia__html_close(h);
        for (size_t c = 1; c < b->column_count; c++)
            write_cell(h, &b->columns[column_at(b, c)], &row->cells[column_at(b, c)]);
        pythia__html_close(h);
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

static bool has_long_names(const struct pythia__doc_block *b)
{
    for (const struct pythia__doc_row *row = b->first; row; row = row->next) {
        size_t size = 0;
        for (const struct pythia__doc_run *run = row->cells[0].first; run; run = run->next)
            size += pythia_glyph_count(
                run->kind == PYTHIA__DOC_NAME ? pythia__doc_name_text(run, false) : run->text);
        if (size > VALUE_SHORT)
            return true;
    }
    return false;
}

/* In a card, names that are long stand above their bars. */
static void write_html_table(struct page *p, const struct pythia__doc_block *b)
{
    struct pythia__html *h = &p->h;
    bool card = p->depth > 0 && p->boxes[p->depth - 1] == PYTHIA__DOC_CARD;
    const char *class = !card ? "stack" : has_long_names(b) ? "tall" : "low";
    size_t rows = 0, seen;
    for (const struct pythia__doc_row *row = b->first; row; row = row->next)
        rows++;
    if (rows == 0)
        return;
    seen = b->seen > 0 && b->seen < rows ? b->seen : rows;
    write_rows(h, b, class, 0, seen);
    if (seen == rows)
        return;
    pythia__html_open(h, "details", NULL);
    pythia__html_open(h, "summary", NULL);
    pythia__html_printf(h, "%zu more", rows - seen);
    pythia__html_close(h);
    write_rows(h, b, class, seen, rows);
    pythia__html_close(h);
}

/* ---- boxes ---- */

/* Links to the sections that have a short title. */
static void write_navigation(struct page *p)
{
    struct pythia__html *h = &p->h;
    pythia__html_open(h, "nav", "aria-label", "Sections of this page", NULL);
    pythia__html_open(h, "ul", NULL);
    for (const struct pythia__doc_block *b = p->d->first; b; b = b->next)
        if (b->kind == PYTHIA__DOC_OPEN && b->box == PYTHIA__DOC_SECTION && b->label)
            pythia__html_part_link(h, b->id.bytes, b->label);
    pythia__html_close(h);
    pythia__html_close(h);
}

static bool has_navigation(const struct page *p)
{
    for (const struct pythia__doc_block *b = p->d->first; b; b = b->next)
        if (b->kind == PYTHIA__DOC_OPEN && b->box == PYTHIA__DOC_SECTION && b->label)
            return true;
    return false;
}

static void open_box(struct page *p, const struct pythia__doc_block *b)
{
    static const struct {
        const char *element, *class;
    } boxes[] = {[PYTHIA__DOC_HEAD] = {"header", NULL},
                 [PYTHIA__DOC_SECTION] = {"section", "part"},
                 [PYTHIA__DOC_FINDING] = {"section", "group"},
                 [PYTHIA__DOC_TWO] = {"div", "two"},
                 [PYTHIA__DOC_CARDS] = {"div", "cards"},
                 [PYTHIA__DOC_CARD] = {"div", "card"},
                 [PYTHIA__DOC_PAGE] = {NULL, NULL},
                 [PYTHIA__DOC_FOLD] = {"details", NULL}};
    p->boxes[p->depth++] = b->box;
    if (!boxes[b->box].element)
        return;
    pythia__html_open(&p->h, boxes[b->box].element, NULL);
    if (boxes[b->box].class)
        pythia__html_attribute(&p->h, "class", boxes[b->box].class);
    if (b->id.size > 0)
        pythia__html_attribute(&p->h, "id", b->id.bytes);
    if (b->box == PYTHIA__DOC_FOLD)
        write_element(&p->h, "summary", NULL, &b->line);
}

static void close_box(struct page *p)
{
    enum pythia__doc_box box = p->boxes[--p->depth];
    if (box != PYTHIA__DOC_PAGE)
        pythia__html_close(&p->h);
    if (box != PYTHIA__DOC_HEAD)
        return;
    if (has_navigation(p))
        write_navigation(p);
    pythia__html_open(&p->h, "main", "id", "main", NULL);
}

/* ---- blocks ---- */

static const struct pythia__doc_block *write_html_list(struct page *p,
                                                       const struct pythia__doc_block *b)
{
    pythia__html_open(&p->h, "ul", NULL);
    for (;; b = b->next) {
        write_element(&p->h, "li", NULL, &b->line);
        if (!b->next || b->next->kind != PYTHIA__DOC_ITEM)
            break;
    }
    pythia__html_close(&p->h);
    return b;
}

static const struct pythia__doc_block *write_html_figures(struct page *p,
                                                          const struct pythia__doc_block *b)
{
    pythia__html_open(&p->h, "dl", "class", "figures", NULL);
    for (;; b = b->next) {
        pythia__html_open(&p->h, "div", NULL);
        pythia__html_leaf(&p->h, "dt", NULL, b->label);
        write_element(&p->h, "dd", NULL, &b->line);
        pythia__html_close(&p->h);
        if (!b->next || b->next->kind != PYTHIA__DOC_FIGURE)
            break;
    }
    pythia__html_close(&p->h);
    return b;
}

/* The last of the blocks that were written. */
static const struct pythia__doc_block *write_html_block(struct page *p,
                                                        const struct pythia__doc_block *b)
{
    static const char *const headings[] = {"h1", "h2", "h3", "h4"};
    switch (b->kind) {
    case PYTHIA__DOC_OPEN:
        open_box(p, b);
        break;
    case PYTHIA__DOC_CLOSE:
        close_box(p);
        break;
    case PYTHIA__DOC_HEADING:
        write_element(&p->h, headings[b->level - 1], NULL, &b->line);
        break;
    case PYTHIA__DOC_PARAGRAPH:
    case PYTHIA__DOC_ENTRY:
        write_element(&p->h, "p", roles[b->role], &b->line);
        break;
    case PYTHIA__DOC_ITEM:
        return write_html_list(p, b);
    case PYTHIA__DOC_FIGURE:
        return write_html_figures(p, b);
    case PYTHIA__DOC_TABLE:
        write_html_table(p, b);
        break;
    case PYTHIA__DOC_PICTURE:
        b->draw(&p->h, b->data);
        break;
    }
    return b;
}

int pythia__doc_write_html(const struct pythia__doc *d, const char *title, const char *foot,
                           struct pythia_buf *out)
{
    struct page p = {.d = d};
    struct pythia__html *h = &p.h;
    pythia__html_begin(h, out);
    pythia__html_open(h, "html", "lang", "en", NULL);
    pythia__html_head(h, title, NULL, 0);
    pythia__html_open(h, "body", NULL);
    pythia__html_open(h, "a", "class", "skip", "href", "#main", NULL);
    pythia__html_text(h, "Skip to the content");
    pythia__html_close(h);
    for (const struct pythia__doc_block *b = d->first; b; b = b->next)
        if (!pythia__doc_is_empty(b))
            b = write_html_block(&p, b);
    pythia__html_close(h);
    pythia__html_leaf(h, "footer", NULL, foot);
    pythia__html_close(h);
    pythia__html_close(h);
    pythia__html_end(h);
    return pythia_buf_status(out);
}
