/* Writes HTML and SVG that are well-formed XML too. There is no way to write text or the value of
 * an attribute but through the functions below, which escape it: escaping cannot be forgotten. */
#ifndef PYTHIA_REPORT_HTML_WRITER_H
#define PYTHIA_REPORT_HTML_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"

#define PYTHIA__HTML_DEPTH 32

struct pythia__html {
    struct pythia_buf *out;                   /* borrowed */
    struct pythia_buf scratch;                /* owned */
    const char *elements[PYTHIA__HTML_DEPTH]; /* that are open; names are literals */
    size_t depth;
    bool in_tag; /* attributes of the innermost element may still come */
};

/* Begin a document; the doctype is written. All is given back by `end`, which wants all elements
 * closed. */
void pythia__html_begin(struct pythia__html *h, struct pythia_buf *out);
void pythia__html_end(struct pythia__html *h);

/* Open an element. Behind its name come names and values of attributes, and NULL. Names of elements
 * and attributes are literals; they are the only bytes written as they are. */
void pythia__html_open(struct pythia__html *h, const char *element, ...) __attribute__((sentinel));
void pythia__html_close(struct pythia__html *h); /* the innermost */

/* An attribute of the element that was just opened. */
void pythia__html_attribute(struct pythia__html *h, const char *name, const char *value);
void pythia__html_attribute_printf(struct pythia__html *h, const char *name, const char *format,
                                   ...) __attribute__((format(printf, 3, 4)));

/* Text of the innermost element, escaped. */
void pythia__html_text(struct pythia__html *h, const char *text);
void pythia__html_printf(struct pythia__html *h, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An element of a class (NULL: of none) that holds nothing but text. */
void pythia__html_leaf(struct pythia__html *h, const char *element, const char *class,
                       const char *text);

/* The rules of a style sheet, literals only. They hold no '<' and no '&'. */
void pythia__html_style(struct pythia__html *h, const char *const *rules, size_t count);

#endif
