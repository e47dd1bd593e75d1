/* Between receivers and the engine: a body that came in is decoded on a worker thread, and its
 * spans are given to the engine on the loop's thread. */
#ifndef PYTHIA_PYTHIAD_INTAKE_H
#define PYTHIA_PYTHIAD_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "listen/room.h"
#include "pythia/adapter.h"
#include "pythia/live.h"
#include "pythia/unpack.h"
#include "shared/own_work.h"

struct pythia__intake;

struct pythia__intake_options {
    struct pythia__room *room; /* for bodies that wait or are being decoded; borrowed */
    size_t inflated_max;       /* bytes of one body when it is unpacked; 0: 16 MiB */
    struct pythia_span_limits limits;
    struct pythia_redaction *redaction; /* what nobody may see of them; borrowed; NULL: nothing */
    const char *record; /* a file that gets every body that was accepted, or, with a redaction, its
                           spans; NULL: none */
};

/* The result of a body, for the answer to its sender. */
struct pythia__intake_result {
    int status;             /* PYTHIA_OK; PYTHIA_EFORMAT: it, or the rest of it, could not be read;
                               PYTHIA_ELIMIT: it is too large when it is unpacked; PYTHIA_ENOMEM */
    uint64_t spans, broken; /* taken; records that could not be read */
    char reason[256];       /* why not, of the first that was broken; or "" */
};

/* Called once for each body that was submitted, on the loop's thread. */
typedef void (*pythia__intake_done)(void *context, const struct pythia__intake_result *result);

/* The first line of a recording; each body follows a line "FORMAT SIZE", and ends with a line
 * break of its own. */
#define PYTHIA__RECORDING_HEAD "pythia recording 1\n"

/* `loop`, `vocabulary`, `live` and the texts of `options` are borrowed. PYTHIA_OK with *out owned,
 * or negative with the reason in `e`. */
int pythia__intake_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                          struct pythia_live *live, const struct pythia__intake_options *options,
                          struct pythia__intake **out, struct pythia_error *e);
void pythia__intake_destroy(struct pythia__intake *i); /* after its last body is done */

/* Unpack and decode `size` bytes (taken: freed by pythia_free when done). PYTHIA_OK: `done` will be
 * called, later. PYTHIA_ELIMIT: too much waits, or the engine is full: tell the sender to come
 * again in a while; `bytes` is still the caller's and `done` is not called. PYTHIA_ENOMEM and,
 * after _stop, PYTHIA_ESTOPPED likewise. */
int pythia__intake_submit(struct pythia__intake *i, const struct pythia_adapter_ops *format,
                          enum pythia_packing packing, char *bytes, size_t size,
                          pythia__intake_done done, void *context);

/* Accept no more bodies; waiting ones are decoded. */
void pythia__intake_stop(struct pythia__intake *i);

/* The number of bodies that are not done yet. */
size_t pythia__intake_waiting(const struct pythia__intake *i);

/* The reasons for refusing a body. */
enum pythia__refusal {
    PYTHIA__REFUSED_WAITING, /* too much waits to be decoded */
    PYTHIA__REFUSED_FULL,    /* too many spans are of unfinished requests */
    PYTHIA__REFUSED_NO_MEMORY,
    PYTHIA__REFUSALS
};

struct pythia__intake_numbers {
    uint64_t bodies, bytes, spans, broken;
    uint64_t refused_spans[PYTHIA__REFUSALS];   /* of bodies that could be counted */
    uint64_t refused_uncounted;                 /* bodies that could not: they are packed */
    struct pythia__own_work decoding, grouping; /* of a body, by a worker and by the loop */
    uint64_t record_failed; /* 1: the recording ended because it could not be written */
};
struct pythia__intake_numbers pythia__intake_numbers(const struct pythia__intake *i);
const struct pythia_counts *pythia__intake_counts(const struct pythia__intake *i); /* of decoders */

#endif
