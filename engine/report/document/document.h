/* A report as a document: headings, paragraphs, labelled lines, lists, tables and pictures, made of
 * words, names, numbers, commands and bars. It is built once, from typed results, and rendered as
 * text, Markdown or HTML by renderers that know nothing of what it says. Text from traces is
 * escaped by the renderers, so a report cannot forget to.
 *
 *   pythia__doc_begin ── blocks and their runs ──> pythia__doc_finish ──> pythia__doc_write_…
 */
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
    PYTHIA__DOC_NAME,   /* in one of PYTHIA__DOC_FORMS, chosen when the document is finished */
    PYTHIA__DOC_CODE,   /* to be copied: nothing of it is left out */
    PYTHIA__DOC_BAR,    /* from 0 to 1 */
    PYTHIA__DOC_SPARK,  /* counts, side by side, as blocks of their height */
    PYTHIA__DOC_LINK,   /* what follows leads to `text`: "#id", or an address */
    PYTHIA__DOC_UNLINK, /* up to here */
    PYTHIA__DOC_BELOW,  /* what follows stands below, small, on a page; elsewhere it is left out */
};

/* The forms of a name from the shortest to the full one: "read", "store > read", and
 * "store:com.shop.Store.read". A document shows the shortest that no other name has there, or the
 * full one if the reader asks for that; a page shows the full one on hover. */
#define PYTHIA__DOC_FORMS 3
#define PYTHIA__DOC_FULL  (PYTHIA__DOC_FORMS - 1)

/* The kind of thing that is named: a trace point and a request type may look the same, as nobody
 * takes one for the other. */
enum pythia__doc_space { PYTHIA__DOC_POINT, PYTHIA__DOC_TYPE, PYTHIA__DOC_KEY, PYTHIA__DOC_FILE };

struct pythia__doc_name {
    struct pythia__doc_name *next;
    enum pythia__doc_space space;
    struct pythia_text forms[PYTHIA__DOC_FORMS];
    int form; /* that is shown, once finished */
};

enum pythia__doc_bar { PYTHIA__DOC_SHARE, PYTHIA__DOC_TIME, PYTHIA__DOC_OTHER };

struct pythia__doc_run {
    struct pythia__doc_run *next;
    enum pythia__doc_run_kind kind;
    enum pythia__doc_bar bar; /* of BAR */
    struct pythia_text text;  /* "" of NAME and BAR */
    union {
        const struct pythia__doc_name *name; /* of NAME */
        struct {
            double value, low, high; /* of BAR; low and high NaN: there is no interval */
        };
    };
};

struct pythia__doc_line {
    struct pythia__doc_run *first, *last;
};

/* How much a heading matters: a cause, something to know, nothing. */
enum pythia__doc_mark { PYTHIA__DOC_PLAIN, PYTHIA__DOC_CAUSE, PYTHIA__DOC_NOTE };

/* The kind of a paragraph, which decides how a page shows it. */
enum pythia__doc_role {
    PYTHIA__DOC_TEXT,
    PYTHIA__DOC_LEAD,  /* the answer of the whole report */
    PYTHIA__DOC_READ,  /* what was read */
    PYTHIA__DOC_WARN,  /* to be known before the rest is believed */
    PYTHIA__DOC_WHERE, /* the answer of a section, */
    PYTHIA__DOC_WHY,   /* and its reason */
    PYTHIA__DOC_REMARK,
    PYTHIA__DOC_EYEBROW, /* above a heading */
};

/* Containers, which mean something to a page alone. */
enum pythia__doc_box {
    PYTHIA__DOC_HEAD,    /* of the page: title and what was read */
    PYTHIA__DOC_SECTION, /* with an id that links lead to, and a short title for the navigation */
    PYTHIA__DOC_FINDING, /* the section of one finding */
    PYTHIA__DOC_TWO,     /* side by side: a picture and its figures */
    PYTHIA__DOC_CARDS,
    PYTHIA__DOC_CARD,
    PYTHIA__DOC_PAGE, /* only for a page */
    PYTHIA__DOC_FOLD, /* the same, and folded away below its line */
};

enum pythia__doc_block_kind {
    PYTHIA__DOC_OPEN, /* a box; `id`, `label` its short title, or of FOLD its `line` */
    PYTHIA__DOC_CLOSE,
    PYTHIA__DOC_HEADING,   /* `line`, and `aside` at the right margin */
    PYTHIA__DOC_PARAGRAPH, /* `line` */
    PYTHIA__DOC_ENTRY,     /* `label` and `line`; without a label it continues the entry before */
    PYTHIA__DOC_ITEM,      /* of a list */
    PYTHIA__DOC_FIGURE,    /* a number with its `label`, beside others */
    PYTHIA__DOC_TABLE,
    PYTHIA__DOC_PICTURE, /* only for a page */
};

struct pythia__doc_column {
    const char *title; /* "" for none */
    bool right;        /* aligned */
    bool name;     /* of what a row is about: a page has it first; else the first column is it */
    bool bar;      /* its cells begin with a bar, which Markdown leaves out */
    bool flexible; /* gets what the other columns leave; one column at most */
    bool one_line; /* what does not fit is left out; else it goes on in a further line */
    unsigned max;  /* characters of a line of it at most; 0: as many as fit */
};
#define PYTHIA__DOC_COLUMNS 20

struct pythia__doc_row {
    struct pythia__doc_row *next;
    enum pythia__doc_mark mark;
    struct pythia__doc_line cells[]; /* one for each column */
};

struct pythia__html;

struct pythia__doc_block {
    struct pythia__doc_block *next;
    enum pythia__doc_block_kind kind;
    enum pythia__doc_box box;
    enum pythia__doc_mark mark;
    enum pythia__doc_role role;
    unsigned level; /* of HEADING, from 1 */
    bool gap;       /* as text, a blank line stands before it */
    struct pythia_text id;
    const char *label;
    struct pythia__doc_line line, aside;
    const struct pythia__doc_column *columns; /* borrowed */
    size_t column_count, cell;                /* cell: the last begun of the last row */
    size_t width;                             /* of a table as text, at most; 0: the page's */
    size_t seen;                              /* rows; a page folds the others away; 0: all */
    struct pythia__doc_row *first, *last;
    void (*draw)(struct pythia__html *h, const void *data); /* of PICTURE */
    const void *data;
};

struct pythia__doc {
    struct pythia_arena memory;
    struct pythia__doc_block *first, *last;
    struct pythia__doc_line *line; /* what runs are added to */
    struct pythia__doc_name *names;
    size_t name_count;
    const struct pythia__doc_name **points; /* by trace point, as far as they were named */
    size_t point_capacity;
    bool gap, failed;
};

/* Begin an empty document, and give back all of it. */
void pythia__doc_begin(struct pythia__doc *d);
void pythia__doc_free(struct pythia__doc *d);

/* No more will be added: choose the form of each name, so that different names look different.
 * PYTHIA_OK, or PYTHIA_ENOMEM if anything since _begin found no memory. O(names log names). */
int pythia__doc_finish(struct pythia__doc *d);

/* Zeroed memory that lives as long as the document, for what pictures are drawn from; NULL when out
 * of memory, and then the document has failed. And a copy of a text there. */
void *pythia__doc_alloc(struct pythia__doc *d, size_t size);
struct pythia_text pythia__doc_copy(struct pythia__doc *d, struct pythia_text text);

/* ---- blocks: what is added next goes to the block that was begun last ---- */

void pythia__doc_gap(struct pythia__doc *d); /* a blank line before the next block, as text */
/* A box, to be closed by _close. `id` is copied ("" for none), `title` a literal (NULL: it is not
 * in the navigation). The line of a FOLD is written next. */
void pythia__doc_open(struct pythia__doc *d, enum pythia__doc_box box, struct pythia_text id,
                      const char *title);
void pythia__doc_close(struct pythia__doc *d);
void pythia__doc_heading(struct pythia__doc *d, unsigned level, enum pythia__doc_mark mark);
void pythia__doc_title(struct pythia__doc *d, unsigned level,
                       const char *words);     /* of words only */
void pythia__doc_aside(struct pythia__doc *d); /* of the heading */
/* Paragraphs, entries and items without content are not shown. */
void pythia__doc_paragraph(struct pythia__doc *d, enum pythia__doc_role role);
/* `label` is a literal; "": it continues. */
void pythia__doc_entry(struct pythia__doc *d, const char *label, enum pythia__doc_role role);
void pythia__doc_item(struct pythia__doc *d);
void pythia__doc_figure(struct pythia__doc *d, const char *label); /* a literal */
/* `columns` are static. Rows have at most that many cells. */
void pythia__doc_table(struct pythia__doc *d, const struct pythia__doc_column *columns,
                       size_t count);
void pythia__doc_limit_width(struct pythia__doc *d, size_t columns); /* of that table, as text */
void pythia__doc_limit_rows(struct pythia__doc *d, size_t seen);     /* before the rest is folded */
void pythia__doc_row(struct pythia__doc *d, enum pythia__doc_mark mark);
void pythia__doc_cell(struct pythia__doc *d);
void pythia__doc_picture(struct pythia__doc *d,
                         void (*draw)(struct pythia__html *h, const void *data), const void *data);

/* ---- runs ---- */

/* Add words to the line that is being built, as printf writes them, 511 bytes at most. */
void pythia__doc_words(struct pythia__doc *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text of any kind, copied. */
void pythia__doc_text(struct pythia__doc *d, enum pythia__doc_run_kind kind,
                      struct pythia_text text);
/* The text of a buffer, whose memory is released. */
void pythia__doc_take(struct pythia__doc *d, enum pythia__doc_run_kind kind,
                      struct pythia_buf *text);
void pythia__doc_strong(struct pythia__doc *d, const char *text);
/* The forms of a name, shortest first, copied; the last is the full name. To be named again by
 * _name_again; NULL when out of memory. */
const struct pythia__doc_name *pythia__doc_name(struct pythia__doc *d, enum pythia__doc_space space,
                                                struct pythia_text shortest,
                                                struct pythia_text longer, struct pythia_text full);
void pythia__doc_name_again(struct pythia__doc *d, const struct pythia__doc_name *name);
void pythia__doc_bar(struct pythia__doc *d, enum pythia__doc_bar bar, double value, double low,
                     double high);
void pythia__doc_spark(struct pythia__doc *d, const uint64_t *counts, size_t count);
void pythia__doc_link(struct pythia__doc *d, struct pythia_text target);
void pythia__doc_unlink(struct pythia__doc *d);
void pythia__doc_below(struct pythia__doc *d);
void pythia__doc_duration(struct pythia__doc *d, double ns);   /* "9.11 s" */
void pythia__doc_percent(struct pythia__doc *d, double share); /* "97 %" */
void pythia__doc_chance(struct pythia__doc *d, double p);      /* "2e-46"; "-" */
/* "36 133 spans": the words follow the number as they are. */
void pythia__doc_count(struct pythia__doc *d, double count, const char *one, const char *many);
/* "And 3 more types.", if `all` is more than `shown`: a paragraph. */
void pythia__doc_more(struct pythia__doc *d, size_t all, size_t shown, const char *one,
                      const char *many);

/* ---- renderers; PYTHIA_OK or PYTHIA_ENOMEM ---- */

struct pythia__doc_view {
    size_t width; /* columns of the terminal */
    bool colour;
    bool ascii; /* the terminal shows nothing else */
    bool full;  /* full names */
};

/* Append it as text. No word is broken; a name that is longer than a line loses its middle. */
int pythia__doc_write_text(const struct pythia__doc *d, const struct pythia__doc_view *view,
                           struct pythia_buf *out);
/* As GitHub-flavoured Markdown, with full names. */
int pythia__doc_write_markdown(const struct pythia__doc *d, struct pythia_buf *out);
/* As a page that needs no other file and runs no script. */
int pythia__doc_write_html(const struct pythia__doc *d, const char *title, const char *foot,
                           struct pythia_buf *out);

/* One line as plain text, with full names: for a member of JSON. */
void pythia__doc_plain(const struct pythia__doc_line *line, struct pythia_buf *to);

/* ---- for renderers ---- */

/* Where a form that is no page goes on: at the end of a box that only a page shows, else here. */
const struct pythia__doc_block *pythia__doc_skip(const struct pythia__doc_block *b);
/* Is there nothing to show of it? */
bool pythia__doc_is_empty(const struct pythia__doc_block *b);
struct pythia_text pythia__doc_name_text(const struct pythia__doc_run *run, bool full);

#endif
