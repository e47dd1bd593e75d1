/* The answers of a pythiad, for a person: each function appends one answer as text. */
#ifndef PYTHIA_CLI_CTL_SHOW_H
#define PYTHIA_CLI_CTL_SHOW_H

#include <jansson.h>

#include "pythia/buf.h"

/* Append an answer of pythiad, as it parsed from JSON (borrowed), in the form for a terminal. */
void pythia__show_status(struct pythia_buf *to, const json_t *s);
void pythia__show_groups(struct pythia_buf *to, const json_t *groups);
void pythia__show_decisions(struct pythia_buf *to, const json_t *decisions);
void pythia__show_points(struct pythia_buf *to, const json_t *points);
/* The ids of points alone, one per line: completions and scripts read them. */
void pythia__show_ids(struct pythia_buf *to, const json_t *points);
void pythia__show_variables(struct pythia_buf *to, const json_t *variables);
void pythia__show_plan(struct pythia_buf *to, const json_t *plan);
void pythia__show_hash(struct pythia_buf *to, const json_t *answer);
void pythia__show_done(struct pythia_buf *to, const json_t *answer);

/* Append a text of an answer as it may be shown; nothing if it is none. */
void pythia__show_text(struct pythia_buf *to, const json_t *value);

#endif
