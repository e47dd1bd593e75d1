#include "decompress.h"

#include <inttypes.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define BOMB_BYTES ((uint64_t)256 * 1024 * 1024)
#define GZIP_ONLY  (15 + 16) /* the largest window; the format must be gzip's, not zlib's */

bool pythia__decompressor_begin_gzip(struct pythia__decompressor *d)
{
    d->gzip_ready = inflateInit2(&d->gzip, GZIP_ONLY) == Z_OK;
    return d->gzip_ready;
}

bool pythia__decompressor_begin_zstd(struct pythia__decompressor *d)
{
    d->zstd = ZSTD_createDStream();
    return d->zstd != NULL;
}

void pythia__decompressor_free(struct pythia__decompressor *d)
{
    if (d->gzip_ready)
        inflateEnd(&d->gzip);
    ZSTD_freeDStream(d->zstd);
    pythia_free(d->raw);
    *d = (struct pythia__decompressor){0};
}

/* A file may have several members, one after the other: a log that was appended to has. */
static int inflate_step(struct pythia__decompressor *d, void *to, size_t capacity, size_t *got,
                        struct pythia_error *e)
{
    if (d->between && d->raw_at < d->raw_size) {
        if (inflateReset(&d->gzip) != Z_OK)
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to decompress");
        d->between = false;
    }
    d->gzip.next_in = d->raw + d->raw_at;
    d->gzip.avail_in = (uInt)(d->raw_size - d->raw_at);
    d->gzip.next_out = to;
    d->gzip.avail_out = capacity < UINT32_MAX ? (uInt)capacity : UINT32_MAX;
    uInt available = d->gzip.avail_out;
    int result = inflate(&d->gzip, Z_NO_FLUSH);
    d->raw_at = d->raw_size - d->gzip.avail_in;
    *got = available - d->gzip.avail_out;
    if (result == Z_STREAM_END)
        d->between = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return pythia_error_set(
            e, PYTHIA_EFORMAT, "broken gzip data after %" PRIu64 " bytes of content: %s",
            d->content_total, d->gzip.msg ? d->gzip.msg : "cannot be decompressed");
    return PYTHIA_OK;
}

int pythia__decompressor_step(struct pythia__decompressor *d, void *to, size_t capacity,
                              size_t *got, struct pythia_error *e)
{
    if (!d->zstd)
        return inflate_step(d, to, capacity, got, e);
    ZSTD_inBuffer in = {d->raw, d->raw_size, d->raw_at};
    ZSTD_outBuffer out = {to, capacity, 0};
    size_t left = ZSTD_decompressStream(d->zstd, &out, &in);
    d->raw_at = in.pos;
    *got = out.pos;
    if (ZSTD_isError(left))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "broken Zstandard data after %" PRIu64 " bytes of content: %s",
                                d->content_total, ZSTD_getErrorName(left));
    d->between = left == 0;
    return PYTHIA_OK;
}

int pythia__decompressor_fail_cut(const struct pythia__decompressor *d, struct pythia_error *e)
{
    return pythia_error_set(e, PYTHIA_EFORMAT,
                            "the compressed data end prematurely, after %" PRIu64
                            " bytes of content",
                            d->content_total);
}

int pythia__decompressor_check(uint64_t raw, uint64_t content, double expansion_max,
                               struct pythia_error *e)
{
    if (content < BOMB_BYTES || (double)content < (double)raw * expansion_max)
        return PYTHIA_OK;
    return pythia_error_set(
        e, PYTHIA_ELIMIT,
        "%" PRIu64 " bytes expand more than %.0f times: a decompression bomb? (--max-expansion "
        "allows more)",
        raw, expansion_max);
}
