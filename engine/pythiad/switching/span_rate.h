/* Is more traced than a limit of spans a second allows? Closing trace points lowers the rate, so
 * the rate alone cannot say when they may be opened again: it would be exceeded at once. The share
 * of spans that still arrive is measured once closing has had its effect, and the rate with open
 * points is taken to be that much more. */
#ifndef PYTHIA_PYTHIAD_SPAN_RATE_H
#define PYTHIA_PYTHIAD_SPAN_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct pythia__span_rate {
    uint64_t spans;   /* that had arrived at the last look */
    double rate;      /* spans/s, smoothed */
    double open_rate; /* when it exceeded the limit */
    double share;     /* of the spans that still arrive; 1: not known yet */
    double closed_s;  /* since then */
    bool begun, exceeded;
};

/* Look again, `seconds` (> 0) after the last time, at the spans that have arrived so far. Returns
 * `exceeded`: true from when more than `limit` spans a second arrive (0: any number), until, with
 * what is closed open again, four fifths of it would. */
bool pythia__span_rate_look(struct pythia__span_rate *r, double limit, uint64_t spans,
                            double seconds);

#endif
