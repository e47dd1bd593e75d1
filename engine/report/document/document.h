/* A report as a document: headings, paragraphs, labelled lines and tables, made of words, names,
 * commands, bars and sparklines. It is built once, from typed results, and rendered as text,
 * Markdown or HTML by renderers that know nothing of what it says. Text from traces is escaped by
 * the renderers, so a report cannot forget to. */
#ifndef PYTHIA_REPORT_DOCUMENT_H
#define PYTHIA_REPORT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/text.h"

enum pythia__doc_run_kind {
    PYTHIA__DOC_WORDS,
    PYTHIA__DOC_STRONG,
    PYTHIA__DOC_DIM,    /* beside what matters; no line ends in it */
    PYTHIA__DOC_NUMBER, /* with its unit; no line ends between them */
    PYTHIA__DOC_NAME,   /* one of PYTHIA__DOC_FORMS, chosen when the document is finished */
    PYTHIA__DOC_CODE,   /* to be copied: nothing of it is left out */
    PYTHIA__DOC_BAR,    /* a share, drawn from 0 to 1 */
    PYTHIA__DOC_SPARK,  /* counts, side by side */
};

/* The forms of a name from the shortest to the full one: "read", "store > read", and
 * "store:com.shop.Store.read". A document shows the shortest that no other name has there. */
#define PYTHIA__DOC_FORMS 3

/* What is named: a trace point and a request type may look the same, as nobody takes one for the
 * other. */
enum pythia__doc_space { PYTHIA__DOC_POINT, PYTHIA__DOC_TYPE, PYTHIA__DOC_KEY, PYTHIA__DOC_FILE };

struct pythia__doc_run {
    struct pythia__doc_run *next, *next_name;
    enum pythia__doc_run_kind kind;
    enum pythia__doc_space space; /* of NAME */
    struct pythia_text text;      /* of a NAME the form that is shown, once finished */
    struct pythia_text forms[PYTHIA__DOC_FORMS];
    int form;
    double share;           /* of BAR */
    const uint64_t *counts; /* of SPARK, `count` of them */
    size_t count;
};

struct pythia__doc_line {
    struct pythia__doc_run *first, *last;
};

/* How much a heading matters: a cause, something to know, nothing. */
enum pythia__doc_mark { PYTHIA__DOC_PLAIN, PYTHIA__DOC_CAUSE, PYTHIA__DOC_NOTE };

enum pythia__doc_block_kind {
    PYTHIA__DOC_HEADING,   /* `line`, and `aside` at the right margin */
    PYTHIA__DOC_PARAGRAPH, /* `line` */
    PYTHIA__DOC_ENTRY,     /* `label` and `line`; without a label it continues the entry before */
    PYTHIA__DOC_TABLE,
};

struct pythia__doc_column {
    const char *title; /* "" for none */
    bool right;        /* aligned */
    bool flexible;     /* gets what the other columns leave; one column at most */
    bool one_line;     /* what does not fit is left out; else it goes on in a further line */
    unsigned max;      /* characters of a line of it at most; 0: as many as fit */
};
#define PYTHIA__DOC_COLUMNS 8

struct pythia__doc_row {
    struct pythia__doc_row *next;
    enum pythia__doc_mark mark;
    struct pythia__doc_line cells[PYTHIA__DOC_COLUMNS];
};

struct pythia__doc_block {
    struct pythia__doc_block *next;
    enum pythia__doc_block_kind kind;
    enum pythia__doc_mark mark;
    bool gap; /* a blank line stands before it */
    const char *label;
    struct pythia__doc_line line, aside;
    const struct pythia__doc_column *columns; /* borrowed */
    size_t column_count, cell;                /* cell: the last begun of the last row */
    size_t width;                             /* of a table as text, at most; 0: the page's */
    struct pythia__doc_row *first, *last;
};

struct pythia__doc {
    struct pythia_arena memory;
    struct pythia__doc_block *first, *last;
    struct pythia__doc_line *line; /* what runs are added to */
    struct pythia__doc_run *names;
    size_t name_count;
    bool gap, failed;
};

/* Begin an empty document, and give back all of it. */
void pythia__doc_begin(struct pythia__doc *d);
void pythia__doc_free(struct pythia__doc *d);

/* No more will be added: choose the form of each name, so that different names look different.
 * PYTHIA_OK, or PYTHIA_ENOMEM if anything since _begin found no memory. O(names log names). */
int pythia__doc_finish(struct pythia__doc *d);

/* ---- blocks: what is added next goes to the block that was begun last ---- */

void pythia__doc_gap(struct pythia__doc *d); /* a blank line before the next block */
void pythia__doc_heading(struct pythia__doc *d, enum pythia__doc_mark mark);
void pythia__doc_aside(struct pythia__doc *d); /* of the heading */
void pythia__doc_paragraph(struct pythia__doc *d);
void pythia__doc_entry(struct pythia__doc *d, const char *label); /* a literal; "": continues */
/* `columns` are static. Rows have at most that many cells. */
void pythia__doc_table(struct pythia__doc *d, const struct pythia__doc_column *columns,
                       size_t count);
void pythia__doc_limit_width(struct pythia__doc *d, size_t columns); /* of that table, as text */
void pythia__doc_row(struct pythia__doc *d, enum pythia__doc_mark mark);
void pythia__doc_cell(struct pythia__doc *d);

/* ---- runs ---- */

/* Add words to the line that is being built, as printf writes them. */
void pythia__doc_words(struct pythia__doc *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text of any kind, copied. */
void pythia__doc_text(struct pythia__doc *d, enum pythia__doc_run_kind kind,
                      struct pythia_text text);
void pythia__doc_strong(struct pythia__doc *d, const char *text);
/* The forms of a name, shortest first, copied; the last is the full name. */
void pythia__doc_name(struct pythia__doc *d, enum pythia__doc_space space,
                      struct pythia_text shortest, struct pythia_text longer,
                      struct pythia_text full);
void pythia__doc_bar(struct pythia__doc *d, double share);
void pythia__doc_spark(struct pythia__doc *d, const uint64_t *counts, size_t count);
void pythia__doc_duration(struct pythia__doc *d, double ns);   /* "9.11 s" */
void pythia__doc_percent(struct pythia__doc *d, double share); /* "97 %" */
void pythia__doc_count(struct pythia__doc *d, double count, const char *one, const char *many);

/* ---- renderers; PYTHIA_OK or PYTHIA_ENOMEM ---- */

struct pythia__doc_view {
    size_t width; /* columns of the terminal */
    bool colour;
    bool ascii; /* the terminal shows nothing else */
};

/* Append it as text. No word is broken; a name that is longer than a line loses its middle. */
int pythia__doc_write_text(const struct pythia__doc *d, const struct pythia__doc_view *view,
                           struct pythia_buf *out);
int pythia__doc_write_markdown(const struct pythia__doc *d, struct pythia_buf *out);
struct pythia__html;
/* As elements, within a page that the caller has begun. */
int pythia__doc_write_html(const struct pythia__doc *d, struct pythia__html *h);

#endif
