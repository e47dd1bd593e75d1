/* A report of a comparison: its document, and the sentences in it. */
#ifndef PYTHIA_REPORT_COMPARE_FORMS_H
#define PYTHIA_REPORT_COMPARE_FORMS_H

#include "document/document.h"
#include "document/document_levels.h"
#include "pythia/compare_report.h"

/* Build the document. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__compare_build(const struct pythia_compare_source *s, struct pythia__doc *d);
/* The short form, which is at most PYTHIA_REPORT_LINES lines long. PYTHIA_OK with *out to be freed,
 * or PYTHIA_ENOMEM. */
int pythia__compare_brief(const struct pythia_compare_source *s, struct pythia__doc_levels *out);

/* ---- sentences, added to the current line ---- */

/* The meaning of the figures of a request type, in this order; each may add nothing. */
enum {
    PYTHIA__COMPARE_DURATION,
    PYTHIA__COMPARE_VARIANCE,
    PYTHIA__COMPARE_EDGES, /* where the mean did not change for certain */
    PYTHIA__COMPARE_FAILURES,
    PYTHIA__COMPARE_COUNT,
    PYTHIA__COMPARE_STRUCTURE,
    PYTHIA__COMPARE_FINDINGS
};
extern void (*const pythia__compare_findings[PYTHIA__COMPARE_FINDINGS])(
    struct pythia__doc *d, const struct pythia_compare_source *s,
    const struct pythia_compared_type *t);

/* The name of a type; its short form is that of the root below which it changed. */
void pythia__say_compared_type(struct pythia__doc *d, const struct pythia_compare_source *s,
                               const struct pythia_compared_type *t);
/* "inside charge, of service payment"; "…, where frontend waits for payment" */
void pythia__say_compared_edge(struct pythia__doc *d, const struct pythia_compare_source *s,
                               const struct pythia_compared_edge *e);
/* "1 509 requests before, 581 after, of 1 type; 3 files and 1. Nothing…" */
void pythia__say_compared_input(struct pythia__doc *d, const struct pythia_compare_source *s);
/* The conclusion in one sentence: whether something changed, and in which services. */
void pythia__say_conclusion(struct pythia__doc *d, const struct pythia_compare_source *s);
/* The path in a sentence: who takes it, before and after, and what tells it from the commonest. */
void pythia__say_compared_path(struct pythia__doc *d, const struct pythia_compare_source *s,
                               const struct pythia_compared_type *t,
                               const struct pythia_compared_path *path);
/* The change of a trace point, as a sentence without its name: "is passed no longer: …". */
void pythia__say_compared_point(struct pythia__doc *d, const struct pythia_compare_source *s,
                                const struct pythia_compared_type *t,
                                const struct pythia_compared_point *point);
/* "+40 %", "-3.0 %"; nothing where there was nothing before. */
void pythia__say_relative(struct pythia__doc *d, double before, double after);
/* "q = 6e-110" */
void pythia__say_chance(struct pythia__doc *d, double q);
void pythia__say_service(struct pythia__doc *d, const struct pythia_compare_source *s,
                         uint32_t service);

/* The edge that shows a change of the mean (or, with `variance`, of the variance) best, among those
 * that changed in its direction. NULL if there is none. */
const struct pythia_compared_edge *pythia__find_telling_edge(const struct pythia_compared_type *t,
                                                             bool variance, double alpha);
/* A part of a change; NaN of a whole of nothing. */
double pythia__share_of_change(double part, double whole);

/* Is there anything certain about it? */
bool pythia__edge_changed(const struct pythia_compared_edge *e, double alpha);
size_t pythia__count_changed_edges(const struct pythia_compared_type *t, double alpha);
bool pythia__path_changed(const struct pythia_compared_path *path, double alpha);
bool pythia__point_changed(const struct pythia_compared_point *point, double alpha);

#endif
