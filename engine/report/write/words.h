/* Numbers as people read them, and members of JSON with their defaults. */
#ifndef PYTHIA_REPORT_WORDS_H
#define PYTHIA_REPORT_WORDS_H

#include <stddef.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/text.h"

/* Members of objects, with a default where one is missing or null: NaN, "", NULL. */
double pythia__number(const json_t *object, const char *key);
const char *pythia__string(const json_t *object, const char *key);
const json_t *pythia__array(const json_t *object, const char *key);

/* "9.11 s", "686 ms", "12.3 us", "-": three digits. */
void pythia__add_duration(struct pythia_buf *to, double ns);
/* "97 %", "0.5 %", "-". */
void pythia__add_percent(struct pythia_buf *to, double part);

/* "= 2e-46", "< 1e-300" */
void pythia__add_chance(struct pythia_buf *to, double p);

/* 36133 as "36 133" */
void pythia__add_count(struct pythia_buf *to, double count);

#endif
