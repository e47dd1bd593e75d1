/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_DRAIN_H
#define PYTHIA_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#ifndef PYTHIA_API
#define PYTHIA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The reader of the rings of all programs that a user traces, as pythiad is one: what they have
 * committed comes out as frames (records.h), of those that run and of those that have ended,
 * however they did. One reader at a time for a directory; one thread at a time for a reader. */
struct pythia_drain;

struct pythia_drain_handler {
    /* Take a frame, which is borrowed for the call: 0, or negative to end the pass: then the frame
     * is kept, and given again. */
    int (*frame)(void *context, const void *bytes, size_t size);

    /* A file of the directory, or what it names, was refused, and why, a sentence; told once. NULL:
     * not asked for. */
    void (*refused)(void *context, const char *name, const char *why);

    void *context;

    /* Are the rings of this process to be read? Those of others stay as they are. NULL: of all. */
    int (*wanted)(void *context, int process);
};

struct pythia_drain_counts {
    uint64_t processes;              /* whose rings are attached now */
    uint64_t ended;                  /* whose rings were read to the end and removed */
    uint64_t frames, records, bytes; /* passed on; bytes of records */
    uint64_t refused;                /* files, areas and rings */
    uint64_t refused_bytes;          /* in rings that are read no further */
};

/* Become the reader of a directory (NULL: where programs look for it). -EBUSY: there is one. On
 * success *out is owned; the handler is copied. `why` has 256 bytes, or is NULL. */
PYTHIA_API int pythia_drain_open_sized(const char *directory,
                                       const struct pythia_drain_handler *handler,
                                       size_t handler_bytes, struct pythia_drain **out, char *why);
static inline int pythia_drain_open(const char *directory,
                                    const struct pythia_drain_handler *handler,
                                    struct pythia_drain **out, char *why)
{
    return pythia_drain_open_sized(directory, handler, sizeof(*handler), out, why);
}
PYTHIA_API void pythia_drain_close(struct pythia_drain *d); /* d may be NULL */

/* The path of the directory; borrowed until _close. */
PYTHIA_API const char *pythia_drain_directory(const struct pythia_drain *d);

/* Pass on all that is committed now: 0, or what the handler returned. A program that writes its
 * records to a file by itself is left alone as long as it lives. */
PYTHIA_API int pythia_drain_pass(struct pythia_drain *d);

/* Fill the first `out_bytes` of *out. The size is that of the struct which the caller was
 * compiled with, so that the struct may grow. Use the function without _sized. */
PYTHIA_API void pythia_drain_counts_get_sized(const struct pythia_drain *d,
                                              struct pythia_drain_counts *out, size_t out_bytes);
static inline void pythia_drain_counts_get(const struct pythia_drain *d,
                                           struct pythia_drain_counts *out)
{
    pythia_drain_counts_get_sized(d, out, sizeof(*out));
}

#ifdef __cplusplus
}
#endif

#endif
