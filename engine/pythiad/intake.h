/* Between receivers and the engine: a body that came in is decoded on a worker thread, and its
 * spans are given to the engine on the loop's thread. */
#ifndef PYTHIA_PYTHIAD_INTAKE_H
#define PYTHIA_PYTHIAD_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "pythia/adapter.h"
#include "pythia/live.h"

struct pythia__intake;

struct pythia__intake_options {
    unsigned decoders_max; /* bodies that are decoded at once; 0: as many as libuv has threads */
    size_t waiting_max;    /* bytes of bodies that wait or are being decoded; 0: 64 MiB */
    const char *record;    /* a file that gets every body that was accepted; NULL: none */
};

/* What came of a body, for the answer to its sender. */
struct pythia__intake_result {
    int status;             /* PYTHIA_OK; PYTHIA_EFORMAT: nothing of it could be read */
    uint64_t spans, broken; /* taken; records that could not be read */
    char reason[256];       /* of the first that was broken, or "" */
};

/* Called once for each body that was submitted, on the loop's thread. */
typedef void (*pythia__intake_done)(void *context, const struct pythia__intake_result *result);

/* `loop`, `vocabulary` and `live` are borrowed. */
int pythia__intake_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                          struct pythia_live *live, const struct pythia__intake_options *options,
                          struct pythia__intake **out);
void pythia__intake_destroy(struct pythia__intake *i); /* after its last body is done */

/* Decode `size` bytes (uncompressed; taken: freed by pythia_free when done). PYTHIA_OK: `done` will
 * be called. PYTHIA_ELIMIT: too much waits, or the engine is full: tell the sender to come again in
 * a while; `bytes` is still the caller's and `done` is not called. PYTHIA_ENOMEM likewise. */
int pythia__intake_submit(struct pythia__intake *i, const struct pythia_adapter_ops *format,
                          char *bytes, size_t size, pythia__intake_done done, void *context);

/* How many bodies are not done yet. */
size_t pythia__intake_waiting(const struct pythia__intake *i);

struct pythia__intake_numbers {
    uint64_t bodies, bytes, spans, broken, refused_bodies, refused_bytes;
};
struct pythia__intake_numbers pythia__intake_numbers(const struct pythia__intake *i);

#endif
