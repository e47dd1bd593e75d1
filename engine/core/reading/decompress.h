/* Gzip and Zstandard, step by step, for whoever supplies the compressed bytes. */
#ifndef PYTHIA_CORE_DECOMPRESS_H
#define PYTHIA_CORE_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#include "pythia/error.h"

/* {0} decompresses nothing, and may be freed. */
struct pythia__decompressor {
    unsigned char *raw; /* owned; compressed bytes, which the owner reads */
    size_t raw_size, raw_at;
    bool between; /* two gzip members, or two frames: the end may come here */
    uint64_t content_total;
    z_stream gzip;
    bool gzip_ready;
    ZSTD_DStream *zstd; /* owned; NULL: it is gzip */
};

/* Begin with gzip or Zstandard. False: there is no memory. */
bool pythia__decompressor_begin_gzip(struct pythia__decompressor *d);
bool pythia__decompressor_begin_zstd(struct pythia__decompressor *d);
void pythia__decompressor_free(struct pythia__decompressor *d);

/* Decompress some of the raw bytes. *got may be 0: more of them are needed then. */
int pythia__decompressor_step(struct pythia__decompressor *d, void *to, size_t capacity,
                              size_t *got, struct pythia_error *e);

/* The error of compressed bytes that end where they must not. */
int pythia__decompressor_fail_cut(const struct pythia__decompressor *d, struct pythia_error *e);

/* PYTHIA_ELIMIT if `content` bytes came of `raw` ones that may expand to so many times as much.
 * Less than 256 MiB harm nobody, and are never refused. */
int pythia__decompressor_check(uint64_t raw, uint64_t content, double expansion_max,
                               struct pythia_error *e);

#endif
