/* Spans that cannot be passed on yet, because what they share (resource, scope, process) comes
 * after them in the text. */
#ifndef PYTHIA_TRACES_HELD_H
#define PYTHIA_TRACES_HELD_H

#include "decoder.h"

struct pythia__held_span {
    struct pythia_trace_id trace;
    struct pythia_span span; /* its attributes are at .offset until they are passed on */
    size_t offset;
    uint32_t name, scope; /* numbers of strings */
    uint32_t process;     /* a number that the format chose */
};

struct pythia__held {
    struct pythia__held_span *spans; /* owned */
    size_t count, capacity;
    struct pythia_buf attributes;
};

/* Free the spans that are held, and their attributes. */
void pythia__held_free(struct pythia__held *h);

/* Keep a span, with the attributes that the decoder has collected for it. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__hold(struct pythia__held *h, struct pythia__decoder *d,
                 const struct pythia__held_span *span);

/* Pass on span number `index`: its attributes are put back into the decoder first. */
int pythia__release(struct pythia__held *h, struct pythia__decoder *d, size_t index);

#endif
