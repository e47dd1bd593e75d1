/* The parts of pages: numbers, names, bars, cells, the head with its style sheet. */
#ifndef PYTHIA_REPORT_PAGE_PIECES_H
#define PYTHIA_REPORT_PAGE_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/text.h"
#include "write/html_writer.h"

/* Shares of the variance have steps of colour, from "hardly any" to "nearly all". */
#define PYTHIA__SHARE_STEPS 7
/* The step of a share; the first for NaN. */
size_t pythia__share_step(double share);
/* The class that gives a step its colours, and its range in words. */
const char *pythia__share_class(size_t step);
const char *pythia__share_range(size_t step);

/* The style sheet. */
void pythia__html_sheet(struct pythia__html *h);

/* The head of a document, with all that keeps it from loading or running anything but `script` (the
 * path of a file of the same server; NULL: none). A browser that runs no scripts fetches a document
 * with a script again every `refresh_s` seconds. */
void pythia__html_head(struct pythia__html *h, const char *title, const char *script,
                       unsigned refresh_s);
/* An item of a list that leads to a part of the page. */
void pythia__html_part_link(struct pythia__html *h, const char *id, const char *text);

/* A number as text, as words.h writes it: duration, percent, count. */
void pythia__html_duration(struct pythia__html *h, double ns);
void pythia__html_percent(struct pythia__html *h, double part);
void pythia__html_count(struct pythia__html *h, double count);
/* "3 requests", "1 request" */
void pythia__html_things(struct pythia__html *h, double count, const char *one, const char *many);

/* A name from a trace, set as code, with places where a line may break. If what is shown is not the
 * full name, or is too long to be, the full one is its title. */
void pythia__html_name(struct pythia__html *h, struct pythia_text name, struct pythia_text full);
/* Text that can hold what a trace brought: an endless one is shortened. */
void pythia__html_prose(struct pythia__html *h, const char *text);

/* Bars, each in an element of its own that assistive technology passes over: the number stands
 * beside it. Values are parts of the full width; low and high, if they are not NaN, are the ends of
 * an interval. */
void pythia__html_bar(struct pythia__html *h, const char *class, double value, double low,
                      double high);

/* Open a cell. `label` names its column where the page is too narrow for columns. */
void pythia__html_cell(struct pythia__html *h, const char *class, const char *label);

#endif
