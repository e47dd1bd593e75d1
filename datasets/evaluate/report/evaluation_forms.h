/* The forms of an evaluation, each made of its JSON. */
#ifndef PYTHIA_REPORT_EVALUATION_FORMS_H
#define PYTHIA_REPORT_EVALUATION_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "pythia/buf.h"

/* Append an evaluation, given as its JSON document (borrowed), in one of the forms. `colour`:
 * with escape sequences of a terminal. */
void pythia__evaluation_text(const json_t *report, bool colour, struct pythia_buf *out);
void pythia__evaluation_csv(const json_t *report, struct pythia_buf *out);
void pythia__evaluation_markdown(const json_t *report, struct pythia_buf *out);
void pythia__evaluation_svg(const json_t *report, struct pythia_buf *out);

/* ---- what forms share ---- */

/* Do so many trials not find all causes that this percentile of the cycles to localise stands for
 * "not in the cycles there were"? */
bool pythia__evaluation_is_beyond(const json_t *result, unsigned percent);

/* "a bushy tree of 500 nodes; 1 cause, 50 requests a cycle" */
void pythia__evaluation_add_problem(struct pythia_buf *to, const json_t *problem);

/* "180 searches: 9 strategies on 1 problem with seeds 1 to 20, …": what all results have in common.
 */
void pythia__evaluation_add_settings(struct pythia_buf *to, const json_t *report);

#endif
