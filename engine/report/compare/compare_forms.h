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

/* Is the q of that member at most alpha? */
bool pythia__is_change_certain(const json_t *of, const char *key, double alpha);

/* ---- rows of a list of which there is something to say ---- */

enum pythia__compared {
    PYTHIA__COMPARED_SERVICES, /* of a report: with changed edges */
    PYTHIA__COMPARED_TYPES,    /* that changed */
    PYTHIA__COMPARED_OTHER_TYPES,
    PYTHIA__COMPARED_EDGES, /* of a type: those that changed beyond chance */
    PYTHIA__COMPARED_PATHS,
    PYTHIA__COMPARED_POINTS,
};

struct pythia__compared_rows {
    const json_t *list;
    const char *noun;
    bool (*is_row)(const json_t *row, double alpha);
    size_t top;
    double alpha;
    size_t at, shown, left; /* rows given, and further ones beyond the first `top` */
};

/* The rows of a report or a type, of which at most `top` are given. */
struct pythia__compared_rows pythia__compared_rows(const json_t *of, enum pythia__compared what,
                                                   size_t top, double alpha);

/* The next row; NULL at the end. */
const json_t *pythia__compared_next(struct pythia__compared_rows *rows);

/* How many rows there are. */
size_t pythia__compared_count(const json_t *of, enum pythia__compared what, double alpha);

/* After the end: append "and 3 more edges" with these words around it, if rows are left. */
void pythia__compared_left(struct pythia_buf *to, const struct pythia__compared_rows *rows,
                           const char *before, const char *after);

#endif
