/* A report of a comparison: its document, and the sentences in it. */
#ifndef PYTHIA_REPORT_COMPARE_FORMS_H
#define PYTHIA_REPORT_COMPARE_FORMS_H

#include "document/document.h"
#include "pythia/compare_report.h"

/* Build the document. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__compare_build(const struct pythia_compare_source *s, struct pythia__doc *d);

/* ---- sentences, added to the line at hand ---- */

/* The meaning of the figures of a request type, in this order; each may add nothing. */
#define PYTHIA__COMPARE_FINDINGS 6
extern void (*const pythia__compare_findings[PYTHIA__COMPARE_FINDINGS])(
    struct pythia__doc *d, const struct pythia_compare_source *s,
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
/* A part of a change; NaN of a whole of nothing. */
double pythia__share_of_change(double part, double whole);

/* Is there anything certain about it? */
bool pythia__edge_changed(const struct pythia_compared_edge *e, double alpha);
bool pythia__path_changed(const struct pythia_compared_path *path, double alpha);
bool pythia__point_changed(const struct pythia_compared_point *point, double alpha);

#endif
