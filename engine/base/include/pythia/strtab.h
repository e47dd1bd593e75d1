#ifndef PYTHIA_STRTAB_H
#define PYTHIA_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* Strings as numbers: each different string is kept once and has an index 0, 1, 2, … for as long as
 * the table lives. Index 0 is the empty string. The indices depend on who comes first, so nothing
 * that a person sees may depend on them. Any number of threads: a string that is known is found
 * without a lock. */
struct pythia_strtab;
#define PYTHIA_STRTAB_NONE UINT32_MAX

/* Make a table that holds only the empty string. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_strtab_create(struct pythia_strtab **out);
void pythia_strtab_destroy(struct pythia_strtab *t); /* t may be NULL */

/* The index of `text`, which is copied if it is new; PYTHIA_STRTAB_NONE when out of memory. O(1).
 */
uint32_t pythia_strtab_intern(struct pythia_strtab *t, struct pythia_text text);

/* The index of `text`, or PYTHIA_STRTAB_NONE if it was never interned. */
uint32_t pythia_strtab_find(const struct pythia_strtab *t, struct pythia_text text);

/* The string of an index that was handed out, NUL-terminated. Borrowed: until the table is
 * destroyed. */
struct pythia_text pythia_strtab_text(const struct pythia_strtab *t, uint32_t index);

/* How many strings there are: all indices are below. */
uint32_t pythia_strtab_count(const struct pythia_strtab *t);

/* The memory that it holds. */
size_t pythia_strtab_bytes(const struct pythia_strtab *t);

#endif
