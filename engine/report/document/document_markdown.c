/* A document as GitHub-flavoured Markdown. Names are code with their full form, numbers stand where
 * bars and pictures are on a page. */
#include <ctype.h>
#include <string.h>

#include "document.h"
#include "write/markdown_writer.h"

/* An address that no bracket, blank or bar in it can end. */
static void add_target(struct pythia_buf *to, struct pythia_text target)
{
    for (size_t i = 0; i < target.size; i++) {
        unsigned char c = (unsigned char)target.bytes[i];
        if (c > ' ' && c < 0x7f && !strchr("()<>|\\\"`", c))
            pythia_buf_putc(to, (char)c);
        else
            pythia_buf_printf(to, "%%%02X", c);
    }
}

static bool is_address(const struct pythia__doc_run *run)
{
    return pythia_text_starts(run->text, PYTHIA_TEXT("http"));
}

static void add_strong(struct pythia_buf *to, const char *text)
{
    pythia_buf_puts(to, "**");
    pythia__markdown_prose(to, text);
    pythia_buf_puts(to, "**");
}

static void add_markdown_line(struct pythia_buf *to, const struct pythia__doc_line *line,
                              bool in_table)
{
    const struct pythia__doc_run *link = NULL, *run = line->first;
    for (; run && run->kind != PYTHIA__DOC_BELOW; run = run->next) {
        switch (run->kind) {
        case PYTHIA__DOC_NAME:
            pythia__markdown_name(to, pythia__doc_name_text(run, true).bytes, in_table);
            break;
        case PYTHIA__DOC_CODE:
        case PYTHIA__DOC_SPARK:
            pythia__markdown_code(to, run->text.bytes);
            break;
        case PYTHIA__DOC_STRONG:
            add_strong(to, run->text.bytes);
            break;
        case PYTHIA__DOC_LINK:
            link = is_address(run) ? run : NULL;
            pythia_buf_puts(to, link ? "[" : "");
            break;
        case PYTHIA__DOC_UNLINK:
            if (!link)
                break;
            pythia_buf_puts(to, "](");
            add_target(to, link->text);
            pythia_buf_putc(to, ')');
            link = NULL;
            break;
        case PYTHIA__DOC_WORDS:
        case PYTHIA__DOC_DIM:
        case PYTHIA__DOC_NUMBER:
            pythia__markdown_prose(to, run->text.bytes);
            break;
        case PYTHIA__DOC_BAR:
        case PYTHIA__DOC_BELOW:
            break;
        }
    }
}

static void add_markdown_heading(struct pythia_buf *to, const struct pythia__doc_block *b)
{
    pythia_buf_puts(to, to->size > 0 ? "\n" : "");
    for (unsigned i = 0; i < b->level; i++)
        pythia_buf_putc(to, '#');
    pythia_buf_putc(to, ' ');
    add_markdown_line(to, &b->line, false);
    pythia_buf_putc(to, '\n');
}

static void add_markdown_entry(struct pythia_buf *to, const struct pythia__doc_block *b)
{
    pythia_buf_putc(to, '\n');
    if (b->label && b->label[0])
        pythia_buf_printf(to, "**%c%s.** ", toupper((unsigned char)b->label[0]), b->label + 1);
    add_markdown_line(to, &b->line, false);
    pythia_buf_putc(to, '\n');
}

/* Figures that follow each other are a table of one row; the last of them. */
static const struct pythia__doc_block *add_markdown_figures(struct pythia_buf *to,
                                                            const struct pythia__doc_block *b)
{
    const struct pythia__doc_block *first = b, *end = b, *last = b;
    pythia_buf_puts(to, "\n|");
    for (; end && end->kind == PYTHIA__DOC_FIGURE; last = end, end = end->next)
        pythia_buf_printf(to, " %s |", end->label);
    pythia_buf_puts(to, "\n|");
    for (b = first; b != end; b = b->next)
        pythia_buf_puts(to, " --: |");
    pythia_buf_puts(to, "\n|");
    for (b = first; b != end; b = b->next) {
        pythia_buf_putc(to, ' ');
        add_markdown_line(to, &b->line, true);
        pythia_buf_puts(to, " |");
    }
    pythia_buf_putc(to, '\n');
    return last;
}

static void add_markdown_table(struct pythia_buf *to, const struct pythia__doc_block *b)
{
    size_t rows = 0;
    pythia_buf_puts(to, "\n|");
    for (size_t c = 0; c < b->column_count; c++)
        pythia_buf_printf(to, " %s%s|", b->columns[c].title, b->columns[c].title[0] ? " " : "");
    pythia_buf_puts(to, "\n|");
    for (size_t c = 0; c < b->column_count; c++)
        pythia_buf_puts(to, b->columns[c].right || b->columns[c].bar ? " --: |" : " --- |");
    pythia_buf_putc(to, '\n');
    for (const struct pythia__doc_row *row = b->first; row; row = row->next) {
        if (b->seen > 0 && rows++ >= b->seen)
            continue;
        pythia_buf_putc(to, '|');
        for (size_t c = 0; c < b->column_count; c++) {
            pythia_buf_putc(to, ' ');
            add_markdown_line(to, &row->cells[c], true);
            pythia_buf_puts(to, " |");
        }
        pythia_buf_putc(to, '\n');
    }
    if (b->seen > 0 && rows > b->seen)
        pythia_buf_printf(to, "\nand %zu more\n", rows - b->seen);
}

static void add_item(struct pythia_buf *to, const struct pythia__doc_block *b, bool first)
{
    pythia_buf_puts(to, first ? "\n- " : "- ");
    add_markdown_line(to, &b->line, false);
    pythia_buf_putc(to, '\n');
}

int pythia__doc_write_markdown(const struct pythia__doc *d, struct pythia_buf *out)
{
    bool listing = false;
    for (const struct pythia__doc_block *b = d->first; b; b = b->next) {
        b = pythia__doc_skip(b);
        if (pythia__doc_is_empty(b))
            continue;
        bool goes_on = listing;
        listing = b->kind == PYTHIA__DOC_ITEM;
        switch (b->kind) {
        case PYTHIA__DOC_OPEN:
        case PYTHIA__DOC_CLOSE:
        case PYTHIA__DOC_PICTURE:
            break;
        case PYTHIA__DOC_HEADING:
            add_markdown_heading(out, b);
            break;
        case PYTHIA__DOC_PARAGRAPH:
        case PYTHIA__DOC_ENTRY:
            add_markdown_entry(out, b);
            break;
        case PYTHIA__DOC_ITEM:
            add_item(out, b, !goes_on);
            break;
        case PYTHIA__DOC_FIGURE:
            b = add_markdown_figures(out, b);
            break;
        case PYTHIA__DOC_TABLE:
            add_markdown_table(out, b);
            break;
        }
    }
    return pythia_buf_status(out);
}
