/* The forms of a comparison, each made of its JSON. */
#ifndef PYTHIA_REPORT_COMPARE_FORMS_H
#define PYTHIA_REPORT_COMPARE_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "pythia/buf.h"

/* Append the comparison in this form, with at most `top` rows of each table. Without memory `out`
 * has failed. */
void pythia__compare_text(const json_t *report, size_t top, bool colour, struct pythia_buf *out);
void pythia__compare_markdown(const json_t *report, size_t top, struct pythia_buf *out);
void pythia__compare_html(const json_t *report, size_t top, struct pythia_buf *out);

/* What the figures of a request type mean: an array of sentences, what matters most first; NULL
 * when out of memory. */
json_t *pythia__compare_findings(const json_t *type, double alpha);

/* ---- what forms share ---- */

/* A number inside an object inside another: number_in(edge, "mean_ns", "change"). */
double pythia__number_in(const json_t *object, const char *key, const char *member);

/* "inside charge, of service payment"; "…, where frontend waits for payment" */
void pythia__add_compared_edge(struct pythia_buf *to, const json_t *edge);
/* "1 509 requests before, 581 after, of 1 type; 3 files and 1. Nothing…" */
void pythia__add_compared_input(struct pythia_buf *to, const json_t *report);
/* The conclusion in one sentence: whether something changed, and in which services. */
void pythia__add_conclusion(struct pythia_buf *to, const json_t *report);
/* The path in a sentence: who takes it, before and after, and what tells it from the commonest. */
void pythia__add_compared_path(struct pythia_buf *to, const json_t *path, const json_t *type);
/* What became of a trace point, in a sentence without its name: "is passed no longer: …". */
void pythia__add_compared_point(struct pythia_buf *to, const json_t *point, const json_t *type,
                                double alpha);

/* Is there anything certain about it? */
bool pythia__edge_changed(const json_t *edge, double alpha);
bool pythia__path_changed(const json_t *path, double alpha);
bool pythia__point_changed(const json_t *point, double alpha);

#endif
