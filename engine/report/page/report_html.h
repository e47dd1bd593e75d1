/* The parts of the report as a page; each writes one. */
#ifndef PYTHIA_REPORT_HTML_H
#define PYTHIA_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "write/html_writer.h"

/* The whole page. */
void pythia__report_html(const json_t *report, struct pythia_buf *out);

/* Shares of the variance have steps of colour, from "hardly any" to "nearly all". */
#define PYTHIA__SHARE_STEPS 7
/* The step of a share; the first for NaN. */
size_t pythia__share_step(double share);
/* The class that gives a step its colours, and its range in words. */
const char *pythia__share_class(size_t step);
const char *pythia__share_range(size_t step);

/* The style sheet. */
void pythia__html_sheet(struct pythia__html *h);

/* All that belongs to a group that is diagnosed. `number` counts them from 1, to `of`. */
void pythia__html_group(struct pythia__html *h, const json_t *group, size_t number, size_t of);
/* How long the requests of a group took, and the critical path that they took. */
void pythia__html_histogram(struct pythia__html *h, const json_t *group);
void pythia__html_icicle(struct pythia__html *h, const json_t *group);
/* What trace points explained that a search opened; nothing if there were none. */
void pythia__html_effects(struct pythia__html *h, const json_t *report);
/* What the requests were parted by; what a group may be parted by. */
void pythia__html_split_by(struct pythia__html *h, const json_t *report);
void pythia__html_proposals(struct pythia__html *h, const json_t *group);
/* Which keys go with the difference: of a group, or of a type. */
void pythia__html_keys(struct pythia__html *h, const json_t *of);

/* The cycles of a search as a picture; and what came of each type of request that was searched, or
 * why it was not. */
void pythia__html_timeline(struct pythia__html *h, const json_t *cycles, const json_t *search);
void pythia__html_ends(struct pythia__html *h, const json_t *search);

/* ---- pieces ---- */

/* The head of a document, with all that keeps it from loading or running anything. */
void pythia__html_head(struct pythia__html *h, const char *title);
/* An item of a list that leads to a part of the page. */
void pythia__html_part_link(struct pythia__html *h, const char *id, const char *text);
/* What was found about a group, or what a verdict says: where and why of `finding`, with the names
 * that `of` knows, the group or the verdict itself. And what a verdict says beside that. */
void pythia__html_found(struct pythia__html *h, const json_t *finding, const json_t *of);
void pythia__html_notes(struct pythia__html *h, const json_t *finding, const json_t *of);

/* A number as text, as words.h writes it: duration, percent, count. */
void pythia__html_duration(struct pythia__html *h, double ns);
void pythia__html_percent(struct pythia__html *h, double part);
void pythia__html_count(struct pythia__html *h, double count);
/* "3 requests", "1 request" */
void pythia__html_things(struct pythia__html *h, double count, const char *one, const char *many);

/* A name from a trace, set as code, with places where a line may break. A very long one is
 * shortened and has a title. */
void pythia__html_name(struct pythia__html *h, const char *name);
/* Text that can hold what a trace brought: an endless one is shortened. */
void pythia__html_prose(struct pythia__html *h, const char *text);
/* A sentence about a group, in which the names that it is about are set as code. */
void pythia__html_sentence(struct pythia__html *h, const char *sentence, const json_t *group);
/* What tells a group from the largest of its type, as an element of its own; nothing for that one.
 */
void pythia__html_unlike(struct pythia__html *h, const char *element, const json_t *group);
void pythia__html_edge(struct pythia__html *h, const json_t *edge);

/* "g-762a29ba4dc63374": what links to a group lead to. */
void pythia__html_group_anchor(struct pythia_buf *to, const char *id);

/* Bars, each in an element of its own that assistive technology passes over: the number stands
 * beside it. Values are parts of the full width; low and high, if they are not NaN, are the ends of
 * an interval. */
void pythia__html_bar(struct pythia__html *h, const char *class, double value, double low,
                      double high);

/* Begin a table of that class, with its head and its body, and end it. A label that begins with '>' is of a column of numbers, one with '=' of two
 * columns: of a bar, and of its number. */
void pythia__html_table_begin(struct pythia__html *h, const char *class, const char *const *labels,
                              size_t count);
void pythia__html_table_end(struct pythia__html *h);
/* Open a cell. `label` names its column where the page is too narrow for columns. */
void pythia__html_cell(struct pythia__html *h, const char *class, const char *label);
/* A cell with a number, as the functions above write it, or with a bar. */
void pythia__html_duration_cell(struct pythia__html *h, const char *label, double ns);
void pythia__html_percent_cell(struct pythia__html *h, const char *label, double part);
void pythia__html_chance_cell(struct pythia__html *h, const char *label, double p); /* "2e-46" */
void pythia__html_count_cell(struct pythia__html *h, const char *label, double count);
void pythia__html_bar_cell(struct pythia__html *h, const char *class, double value);
/* A share of the variance of all requests, as a bar and a number: two cells. */
void pythia__html_share_cells(struct pythia__html *h, const char *class, double share);
/* How many requests something has, and their mean duration: two cells. */
void pythia__html_size_cells(struct pythia__html *h, const json_t *of);
/* A row: a name, the mean duration of its requests beside that of others, and how many they are. */
void pythia__html_mean_row(struct pythia__html *h, const char *name, const json_t *of,
                           double largest_ns);

#endif
