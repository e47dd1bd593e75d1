#ifndef PYTHIA_SPLIT_SPEC_H
#define PYTHIA_SPLIT_SPEC_H

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/key_value.h"
#include "pythia/split_rule.h"

/* The syntax of --split:
 *
 *   KEY            as it comes: levels as they are, numbers where the modes of durations part
 *   KEY=3,10       numbers: below 3, from 3 to below 10, from 10 on
 *   KEY={a,b},{c}  levels: a or b, c, any other
 *   KEY=*          with the key, without it
 *
 * KEY is the name that reports give it (key_value.h). %XX is the byte of these two hexadecimal
 * digits: for what would be taken for something else (% and = in a key; % , { and } in a level; the
 * colon of an attribute "count:…" or "has:…"), and for what cannot be typed. */

struct pythia_split_spec {
    struct pythia_key_name key; /* its text is owned */
    struct pythia_split_rule rule;
};

/* Read one. On success *out is owned by the caller (_clear). Returns PYTHIA_OK, PYTHIA_ENOMEM, or
 * PYTHIA_EUSAGE with the byte and what to write instead in `e`. Any bytes may come. */
int pythia_split_spec_read(struct pythia_text text, struct pythia_split_spec *out,
                           struct pythia_error *e);
void pythia_split_spec_clear(struct pythia_split_spec *s); /* a zeroed one is fine */

/* Append it as it is read: without blanks, single quotes, backticks, control characters and
 * whatever is not seen, so that it may be put between single quotes and pasted. */
void pythia_split_spec_write(const struct pythia_split_spec *s, struct pythia_buf *to);

#endif
