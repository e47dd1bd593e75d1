/* The forms of a report, each made of its JSON. */
#ifndef PYTHIA_CORE_REPORT_FORMS_H
#define PYTHIA_CORE_REPORT_FORMS_H

#include <stdbool.h>

#include <jansson.h>

#include "pythia/buf.h"

void pythia__report_text(const json_t *report, bool colour, struct pythia_buf *out);
void pythia__report_markdown(const json_t *report, struct pythia_buf *out);
void pythia__report_html(const json_t *report, struct pythia_buf *out);

/* What a group's figures mean, in sentences: an object {"where", "why"}, either null. */
json_t *pythia__report_finding(const json_t *group);

/* ---- what forms share ---- */

/* Members of objects, with a default where one is missing or null: NaN, "", NULL. */
double pythia__number(const json_t *object, const char *key);
const char *pythia__string(const json_t *object, const char *key);
const json_t *pythia__array(const json_t *object, const char *key);

/* "9.11 s", "686 ms", "12.3 us", "-": three digits. */
void pythia__add_duration(struct pythia_buf *to, double ns);
/* "97 %", "0.5 %", "-". */
void pythia__add_percent(struct pythia_buf *to, double part);
/* 36133 as "36 133" */
void pythia__add_count(struct pythia_buf *to, double count);
/* "the time inside X", "from the end of A to the start of B" */
void pythia__add_edge(struct pythia_buf *to, const json_t *edge);
/* " Where it is >= 2, the mean is 16.0 s, else 4.23 s.", or nothing. */
void pythia__add_split(struct pythia_buf *to, const json_t *explanation);

#endif
