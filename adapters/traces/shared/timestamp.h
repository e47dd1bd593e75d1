/* Times that are written as a date and a time of day, as in RFC 3339. */
#ifndef PYTHIA_TRACES_TIMESTAMP_H
#define PYTHIA_TRACES_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/text.h"

/* The date that was parsed last: nearly all times of an input are of one day. Begin with zeros. */
struct pythia__day {
    int64_t begin_s; /* since 1970 */
    char text[10];
    bool known;
};

/* "2026-11-21T00:53:15.900775" in nanoseconds since 1970: with 'T' or a blank, 0 to 9 digits of a
 * fraction, and a zone, which is Z, +hh:mm, -hh:mm, or absent for UTC. Returns false for any other
 * text, and for a time before 1970 or after 2262. */
bool pythia__parse_timestamp(struct pythia__day *day, struct pythia_text text, uint64_t *out_ns);

#endif
