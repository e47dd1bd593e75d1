/* A document for a terminal. Each line is first made as glyphs, each with a style and with whether
 * the line may end there, because widths are of what is shown and not of bytes. */
#include <math.h>
#include <string.h>

#include "document.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

#define INDENT      2
#define LABEL_WIDTH 7
#define BAR_WIDTH   10
#define NAME_MIN    20  /* characters that stay of a name */
#define NAME_FULL   240 /* of a full name */
#define NUMBER_MAX  4   /* "10. " */
#define ASIDE_END   80  /* the column that what stands aside of a heading ends at */
#define COLUMN_GAP  3
#define NARROW_GAP  2 /* of a table that is wider than a line with COLUMN_GAP */
#define ELLIPSIS    "\xE2\x80\xA6"
#define BLOCK       "\xE2\x96\x88"

enum style { PLAIN, STRONG, DIM, NAME, CODE, BAR, CAUSE, NOTE, STYLES };

/* Escape sequences of terminals. */
static const char *const styles[STYLES] = {"0", "1", "2", "1", "32", "36", "1;31", "1;33"};

/* Replacements for our symbols on a terminal that cannot show them. */
static const struct {
    const char *symbol;
    char ascii;
} plain_symbols[] = {
    {ELLIPSIS, '~'},       {BLOCK, '#'},          {"\xE2\x9C\x96", 'x'}, {"\xE2\x96\xB3", '!'},
    {"\xC2\xB7", '-'},     {"\xE2\x80\x93", '-'}, {"\xE2\x80\xBA", '>'}, {"\xE2\x94\x94", '`'},
    {"\xE2\x96\x81", '_'}, {"\xE2\x96\x82", '.'}, {"\xE2\x96\x83", '-'}, {"\xE2\x96\x84", '='},
    {"\xE2\x96\x85", '+'}, {"\xE2\x96\x86", '*'}, {"\xE2\x96\x87", '%'},
};

struct glyph {
    struct pythia_glyph shown;
    unsigned char width;
    enum style style;
    bool breaks; /* a blank that a line may end at */
};

struct glyphs {
    struct glyph *list; /* owned */
    size_t count, capacity, width;
    bool failed;
};

struct page {
    const struct pythia__doc_view *view;
    struct pythia_buf *out;
    enum style style; /* in force */
    size_t column;
};

/* ---- glyphs ---- */

static void push_glyph(struct glyphs *to, const struct pythia_glyph *shown, enum style style,
                       bool breaks)
{
    if (pythia_grow(&to->list, &to->capacity, to->count, sizeof(*to->list)) != PYTHIA_OK) {
        to->failed = true;
        return;
    }
    unsigned char width =
        shown->bytes[0] == '\\' && shown->size > 1 ? (unsigned char)shown->size : 1;
    to->list[to->count++] = (struct glyph){*shown, width, style, breaks};
    to->width += width;
}

static void push_text(struct glyphs *to, struct pythia_text text, enum style style, bool breaks)
{
    struct pythia_glyph glyph;
    while (pythia_glyph_next(&text, &glyph))
        push_glyph(to, &glyph, style, breaks && glyph.bytes[0] == ' ');
}

static void push_name(struct glyphs *to, struct pythia_text name, size_t limit)
{
    struct pythia_buf text = {0};
    pythia_shown_add(&text, name, limit < NAME_MIN ? NAME_MIN : limit);
    to->failed = to->failed || text.failed;
    push_text(to, pythia_buf_text(&text), NAME, false);
    pythia_buf_free(&text);
}

static void push_bar(struct glyphs *to, double share)
{
    long full = lround(share * BAR_WIDTH);
    for (long i = 0; i < BAR_WIDTH; i++)
        push_text(to, i < full ? PYTHIA_TEXT(BLOCK) : PYTHIA_TEXT(" "), BAR, false);
}

static enum style style_of(enum pythia__doc_run_kind kind)
{
    static const enum style of[] = {
        [PYTHIA__DOC_WORDS] = PLAIN,  [PYTHIA__DOC_STRONG] = STRONG, [PYTHIA__DOC_DIM] = DIM,
        [PYTHIA__DOC_NUMBER] = PLAIN, [PYTHIA__DOC_CODE] = CODE,     [PYTHIA__DOC_NAME] = NAME,
        [PYTHIA__DOC_BAR] = BAR,      [PYTHIA__DOC_SPARK] = BAR};
    return of[kind];
}

/* A line as glyphs; of each name at most `limit` characters. */
static void push_line(const struct page *p, struct glyphs *to, const struct pythia__doc_line *line,
                      size_t limit)
{
    const struct pythia__doc_run *run = line->first;
    for (; run && run->kind != PYTHIA__DOC_BELOW; run = run->next) {
        if (run->kind == PYTHIA__DOC_NAME && p->view->full)
            push_name(to, pythia__doc_name_text(run, true), NAME_FULL);
        else if (run->kind == PYTHIA__DOC_NAME)
            push_name(to, pythia__doc_name_text(run, false), limit);
        else if (run->kind == PYTHIA__DOC_BAR)
            push_bar(to, run->value);
        else if (run->kind != PYTHIA__DOC_LINK && run->kind != PYTHIA__DOC_UNLINK)
            push_text(to, run->text, style_of(run->kind),
                      run->kind != PYTHIA__DOC_NUMBER && run->kind != PYTHIA__DOC_DIM &&
                          run->kind != PYTHIA__DOC_SPARK);
    }
}

/* Cut what is wider than `width`, where a word ends if that is not far before. */
static void cut_glyphs(struct glyphs *g, size_t width)
{
    size_t column = 0, count = 0, word = 0;
    if (g->width <= width)
        return;
    while (count < g->count && column + g->list[count].width < width) {
        if (g->list[count].breaks && column > width / 2)
            word = count;
        column += g->list[count++].width;
    }
    g->count = word > 0 ? word : count;
    push_text(g, PYTHIA_TEXT(ELLIPSIS), PLAIN, false);
    g->width = 0;
    for (size_t i = 0; i < g->count; i++)
        g->width += g->list[i].width;
}

/* The most characters that each name of a line may have for the line to be `width` wide. */
static size_t name_limit(const struct page *p, const struct pythia__doc_line *line, size_t all,
                         size_t width)
{
    size_t limit = 0, names = 1;
    while (all > width && names > 0) {
        names = 0;
        size_t longest = 0;
        for (const struct pythia__doc_run *run = line->first; run; run = run->next) {
            size_t size = run->kind == PYTHIA__DOC_NAME
                              ? pythia_glyph_count(pythia__doc_name_text(run, p->view->full))
                              : 0;
            size = limit > 0 && size > limit ? limit : size;
            names = size > longest ? 1 : names + (size == longest && size > 0);
            longest = size > longest ? size : longest;
        }
        limit = longest - (longest > 0);
        if (longest <= NAME_MIN)
            break;
        all -= names;
    }
    return limit;
}

/* A line as glyphs within `width`: names lose their middles first, and then the line its end. */
static struct glyphs fit_line(const struct page *p, const struct pythia__doc_line *line,
                              size_t width)
{
    struct glyphs g = {0};
    push_line(p, &g, line, SIZE_MAX);
    size_t limit = g.width > width ? name_limit(p, line, g.width, width) : 0;
    if (limit > 0) {
        g.count = g.width = 0;
        push_line(p, &g, line, limit);
    }
    cut_glyphs(&g, width);
    return g;
}

static void end_glyphs(const struct page *p, struct glyphs *g)
{
    p->out->failed = p->out->failed || g->failed;
    pythia_free(g->list);
}

/* ---- the page ---- */

static void set_style(struct page *p, enum style style)
{
    if (p->view->colour && p->style != style) {
        if (p->style != PLAIN)
            pythia_buf_puts(p->out, "\033[0m");
        if (style != PLAIN)
            pythia_buf_printf(p->out, "\033[%sm", styles[style]);
    }
    p->style = style;
}

static void put_glyph(struct page *p, const struct glyph *g)
{
    set_style(p, g->style);
    p->column += g->width;
    for (size_t i = 0; p->view->ascii && i < sizeof(plain_symbols) / sizeof(plain_symbols[0]); i++)
        if (strcmp(g->shown.bytes, plain_symbols[i].symbol) == 0) {
            pythia_buf_putc(p->out, plain_symbols[i].ascii);
            return;
        }
    pythia_buf_add(p->out, g->shown.bytes, g->shown.size);
}

static void put_symbol(struct page *p, const char *symbol, enum style style)
{
    struct glyphs g = {0};
    push_text(&g, pythia_text_of(symbol), style, false);
    for (size_t i = 0; i < g.count; i++)
        put_glyph(p, &g.list[i]);
    end_glyphs(p, &g);
}

static void put_blanks(struct page *p, size_t column)
{
    set_style(p, PLAIN);
    for (; p->column < column; p->column++)
        pythia_buf_putc(p->out, ' ');
}

static void end_line(struct page *p)
{
    set_style(p, PLAIN);
    while (p->out->size > 0 && p->out->bytes[p->out->size - 1] == ' ')
        p->out->bytes[--p->out->size] = '\0';
    pythia_buf_putc(p->out, '\n');
    p->column = 0;
}

/* The columns of the word that begins at `at`, and its end. */
static size_t word_width(const struct glyphs *g, size_t at, size_t *end)
{
    size_t width = 0;
    for (*end = at; *end < g->count && !g->list[*end].breaks; ++*end)
        width += g->list[*end].width;
    return width;
}

/* Glyphs in lines that begin at `indent`, but for the first. A command that goes on in the next
 * line can still be copied. */
static void put_wrapped(struct page *p, const struct glyphs *g, size_t indent)
{
    size_t end = 0;
    for (size_t at = 0; at < g->count; at = end) {
        size_t blanks = at;
        while (at < g->count && g->list[at].breaks)
            at++;
        size_t width = word_width(g, at, &end);
        bool code = end < g->count && g->list[end].style == CODE;
        if (at == g->count)
            break;
        if (blanks > 0 && p->column > indent &&
            p->column + (at - blanks) + width + (code ? 2 : 0) > p->view->width) {
            if (g->list[blanks].style == CODE)
                pythia_buf_puts(p->out, " \\");
            end_line(p);
            put_blanks(p, indent);
        } else {
            for (; blanks < at; blanks++)
                put_glyph(p, &g->list[blanks]);
        }
        for (; at < end; at++)
            put_glyph(p, &g->list[at]);
    }
    end_line(p);
}

/* ---- blocks ---- */

static void put_mark(struct page *p, enum pythia__doc_mark mark)
{
    static const char *const symbols[] = {" ", "\xE2\x9C\x96", "\xE2\x96\xB3"};
    static const enum style of[] = {PLAIN, CAUSE, NOTE};
    put_symbol(p, symbols[mark], of[mark]);
    put_symbol(p, " ", PLAIN);
}

static void put_glyphs(struct page *p, const struct glyphs *g)
{
    for (size_t i = 0; i < g->count; i++)
        put_glyph(p, &g->list[i]);
}

static void embolden(struct glyphs *g)
{
    for (size_t i = 0; i < g->count; i++)
        g->list[i].style = g->list[i].style == PLAIN ? STRONG : g->list[i].style;
}

/* On one line, what stands aside at its end; false: that needs more room. */
static bool write_heading_line(struct page *p, const struct pythia__doc_block *b, size_t indent)
{
    struct glyphs aside = {0}, line = {0};
    push_line(p, &aside, &b->aside, p->view->width / 2);
    size_t width = p->view->width - indent,
           left = aside.width > 0 ? width - aside.width - INDENT : width;
    if (p->view->full)
        push_line(p, &line, &b->line, SIZE_MAX);
    else
        line = fit_line(p, &b->line, left);
    bool fits = line.width <= left || !p->view->full;
    embolden(&line);
    if (fits)
        put_glyphs(p, &line);
    if (fits && aside.count > 0) {
        size_t edge = p->view->width < ASIDE_END ? p->view->width : ASIDE_END;
        put_blanks(p, p->column + INDENT);
        put_blanks(p, edge > aside.width ? edge - aside.width : 0);
        put_glyphs(p, &aside);
    }
    if (fits)
        end_line(p);
    end_glyphs(p, &line);
    end_glyphs(p, &aside);
    return fits;
}

static void write_heading(struct page *p, const struct pythia__doc_block *b)
{
    size_t indent = b->mark || b->level > 2 ? INDENT : 0;
    if (b->mark)
        put_mark(p, b->mark);
    put_blanks(p, indent);
    if (write_heading_line(p, b, indent))
        return;
    struct glyphs whole = {0};
    push_line(p, &whole, &b->line, SIZE_MAX);
    for (size_t i = 0; i < whole.count && i < NUMBER_MAX; i++)
        whole.list[i].breaks = false; /* its number stays with the name */
    embolden(&whole);
    push_text(&whole, PYTHIA_TEXT(" "), PLAIN, true);
    push_line(p, &whole, &b->aside, SIZE_MAX);
    put_wrapped(p, &whole, indent);
    end_glyphs(p, &whole);
}

/* Figures that follow each other share a paragraph. */
static const struct pythia__doc_block *write_figures(struct page *p,
                                                     const struct pythia__doc_block *b)
{
    struct glyphs g = {0};
    put_blanks(p, INDENT);
    for (;; b = b->next) {
        push_text(&g, pythia_text_of(b->label), DIM, false);
        push_text(&g, PYTHIA_TEXT(" "), PLAIN, false);
        push_line(p, &g, &b->line, p->view->width - INDENT);
        if (!b->next || b->next->kind != PYTHIA__DOC_FIGURE)
            break;
        push_text(&g, PYTHIA_TEXT(" \xC2\xB7 "), PLAIN, true);
    }
    put_wrapped(p, &g, INDENT);
    end_glyphs(p, &g);
    return b;
}

static void write_wrapped(struct page *p, const struct pythia__doc_block *b)
{
    size_t indent = b->kind == PYTHIA__DOC_ENTRY  ? INDENT + LABEL_WIDTH
                    : b->kind == PYTHIA__DOC_ITEM ? 2 * INDENT
                                                  : 0;
    struct glyphs g = {0};
    put_blanks(p, b->kind == PYTHIA__DOC_PARAGRAPH ? 0 : INDENT);
    if (b->kind == PYTHIA__DOC_ITEM)
        put_symbol(p, "-", PLAIN);
    if (b->label)
        put_symbol(p, b->label, STRONG);
    put_blanks(p, indent);
    push_line(p, &g, &b->line, p->view->width - indent);
    put_wrapped(p, &g, indent);
    end_glyphs(p, &g);
}

struct layout {
    size_t indent, gap, widths[PYTHIA__DOC_COLUMNS];
    bool titles, marks;
};

static size_t natural_width(const struct page *p, const struct pythia__doc_block *b, size_t column)
{
    size_t width = strlen(b->columns[column].title), rows = b->seen > 0 ? b->seen : SIZE_MAX;
    for (const struct pythia__doc_row *row = b->first; row && rows > 0; row = row->next, rows--) {
        struct glyphs g = {0};
        push_line(p, &g, &row->cells[column], SIZE_MAX);
        g.width += b->columns[column].bar; /* a blank after the bar */
        width = g.width > width ? g.width : width;
        end_glyphs(p, &g);
    }
    unsigned max = b->columns[column].max;
    return max > 0 && width > max ? max : width;
}

/* Take up to `over` columns off one; what is left to be taken off. */
static size_t shrink_column(size_t *width, size_t over)
{
    size_t spare = *width > NAME_MIN ? *width - NAME_MIN : 0, taken = over < spare ? over : spare;
    *width -= taken;
    return over - taken;
}

static struct layout lay_out(struct page *p, const struct pythia__doc_block *b)
{
    struct layout l = {.indent = INDENT, .gap = COLUMN_GAP};
    size_t all = INDENT;
    for (size_t c = 0; c < b->column_count; c++) {
        l.widths[c] = natural_width(p, b, c);
        l.titles = l.titles || b->columns[c].title[0];
        all += l.widths[c] + (c > 0 ? COLUMN_GAP : 0);
    }
    for (const struct pythia__doc_row *row = b->first; row; row = row->next)
        l.marks = l.marks || row->mark != PYTHIA__DOC_PLAIN;
    size_t width = b->width > 0 && b->width < p->view->width ? b->width : p->view->width,
           over = all > width ? all - width : 0;
    for (size_t c = 0; c < b->column_count; c++)
        if (b->columns[c].flexible)
            over = shrink_column(&l.widths[c], over);
    for (size_t c = 0; c < b->column_count; c++)
        if (!b->columns[c].right)
            over = shrink_column(&l.widths[c], over);
    if (over > 0) /* numbers are never broken, so only the gaps can shrink */
        l.gap = NARROW_GAP;
    return l;
}

static void write_titles(struct page *p, const struct pythia__doc_block *b, const struct layout *l)
{
    size_t at = l->indent;
    for (size_t c = 0; c < b->column_count; c++) {
        size_t size = strlen(b->columns[c].title);
        put_blanks(p, at + (b->columns[c].right ? l->widths[c] - size : 0));
        put_symbol(p, b->columns[c].title, DIM);
        at += l->widths[c] + l->gap;
    }
    end_line(p);
}

/* The glyphs of a cell, of which `at` is the first that is not written yet. */
struct cell {
    struct glyphs glyphs;
    size_t at;
};

/* A bar, and what follows it at the right end of the cell. */
static void push_bar_cell(const struct page *p, struct glyphs *to,
                          const struct pythia__doc_line *line, size_t width)
{
    const struct pythia__doc_run *run = line->first;
    if (!run || run->kind != PYTHIA__DOC_BAR) {
        push_line(p, to, line, width);
        return;
    }
    const struct pythia__doc_line rest = {run->next, line->last};
    struct glyphs number = {0};
    push_line(p, &number, &rest, width);
    push_bar(to, run->value);
    while (!to->failed && to->width + number.width < width)
        push_text(to, PYTHIA_TEXT(" "), PLAIN, false);
    for (size_t i = 0; i < number.count; i++)
        push_glyph(to, &number.list[i].shown, number.list[i].style, number.list[i].breaks);
    to->failed = to->failed || number.failed;
    pythia_free(number.list);
}

static struct cell begin_cell(const struct page *p, const struct pythia__doc_block *b,
                              const struct pythia__doc_row *row, size_t column, size_t width)
{
    struct cell cell = {0};
    if (b->columns[column].bar)
        push_bar_cell(p, &cell.glyphs, &row->cells[column], width);
    else if (b->columns[column].one_line)
        cell.glyphs = fit_line(p, &row->cells[column], width);
    else
        push_line(p, &cell.glyphs, &row->cells[column], width);
    while (!b->columns[column].one_line && cell.at < cell.glyphs.count &&
           cell.glyphs.list[cell.at].breaks)
        cell.at++; /* a line begins with a word */
    return cell;
}

/* Where the next line of a cell ends: after the last word that fits. A first word that is too wide
 * for any line is broken, unless names are to be shown in full. */
static size_t find_cell_end(const struct page *p, const struct cell *cell, size_t width)
{
    const struct glyphs *g = &cell->glyphs;
    size_t end, column = word_width(g, cell->at, &end);
    if (column > width && !p->view->full) {
        for (end = cell->at, column = 0; column + g->list[end].width <= width; end++)
            column += g->list[end].width;
        return end > cell->at ? end : cell->at + 1;
    }
    while (end < g->count) {
        size_t next, blank = end;
        while (blank < g->count && g->list[blank].breaks)
            blank++;
        size_t word = word_width(g, blank, &next);
        if (blank == g->count || column + (blank - end) + word > width)
            break;
        column += blank - end + word;
        end = next;
    }
    return end;
}

static size_t measure_glyphs(const struct glyphs *g, size_t from, size_t to)
{
    size_t width = 0;
    for (size_t i = from; i < to; i++)
        width += g->list[i].width;
    return width;
}

/* One line of a row; whether a cell goes on in another. */
static bool write_row_line(struct page *p, const struct pythia__doc_block *b,
                           const struct layout *l, struct cell *cells)
{
    size_t left = l->indent;
    bool more = false;
    for (size_t c = 0; c < b->column_count; c++) {
        struct glyphs *g = &cells[c].glyphs;
        size_t end = b->columns[c].one_line || b->columns[c].bar
                         ? g->count
                         : find_cell_end(p, &cells[c], l->widths[c]),
               width = measure_glyphs(g, cells[c].at, end);
        bool right = b->columns[c].right && width < l->widths[c];
        if (end > cells[c].at)
            put_blanks(p, left + (right ? l->widths[c] - width : 0));
        for (; cells[c].at < end; cells[c].at++)
            put_glyph(p, &g->list[cells[c].at]);
        while (cells[c].at < g->count && g->list[cells[c].at].breaks)
            cells[c].at++;
        more = more || cells[c].at < g->count;
        left += l->widths[c] + l->gap;
    }
    end_line(p);
    return more;
}

static void write_table(struct page *p, const struct pythia__doc_block *b)
{
    struct layout l = lay_out(p, b);
    if (l.titles)
        write_titles(p, b, &l);
    size_t shown = 0;
    for (const struct pythia__doc_row *row = b->first; row; row = row->next) {
        if (b->seen > 0 && shown++ >= b->seen)
            continue;
        struct cell cells[PYTHIA__DOC_COLUMNS] = {0};
        for (size_t c = 0; c < b->column_count; c++)
            cells[c] = begin_cell(p, b, row, c, l.widths[c]);
        if (l.marks)
            put_mark(p, row->mark);
        while (write_row_line(p, b, &l, cells))
            ;
        for (size_t c = 0; c < b->column_count; c++)
            end_glyphs(p, &cells[c].glyphs);
    }
    if (b->seen > 0 && shown > b->seen)
        pythia_buf_printf(p->out, "%*sand %zu more\n", INDENT, "", shown - b->seen);
}

/* Write a block, or several that belong together; the last of them. */
static const struct pythia__doc_block *write_block(struct page *p,
                                                   const struct pythia__doc_block *b)
{
    switch (b->kind) {
    case PYTHIA__DOC_OPEN:
    case PYTHIA__DOC_CLOSE:
    case PYTHIA__DOC_PICTURE:
        break;
    case PYTHIA__DOC_HEADING:
        write_heading(p, b);
        break;
    case PYTHIA__DOC_FIGURE:
        return write_figures(p, b);
    case PYTHIA__DOC_TABLE:
        write_table(p, b);
        break;
    case PYTHIA__DOC_PARAGRAPH:
    case PYTHIA__DOC_ENTRY:
    case PYTHIA__DOC_ITEM:
        write_wrapped(p, b);
        break;
    }
    return b;
}

int pythia__doc_write_text(const struct pythia__doc *d, const struct pythia__doc_view *view,
                           struct pythia_buf *out)
{
    struct page p = {view, out, PLAIN, 0};
    for (const struct pythia__doc_block *b = d->first; b; b = b->next) {
        b = pythia__doc_skip(b);
        if (pythia__doc_is_empty(b) || (b->kind == PYTHIA__DOC_HEADING && b->level == 1))
            continue; /* who asked for the report knows what it is */
        if (b->gap && b->kind != PYTHIA__DOC_CLOSE)
            pythia_buf_putc(out, '\n');
        b = write_block(&p, b);
    }
    return pythia_buf_status(out);
}
