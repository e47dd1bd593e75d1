#include "pythia/unpack.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define RAW_BYTES  ((size_t)128 * 1024)
#define BOMB_BYTES ((uint64_t)256 * 1024 * 1024) /* below so much content nobody is harmed */
#define WINDOW_LOG 23 /* of a body; RFC 8878 asks decoders for no more than 8 MiB */

struct pythia_unpack {
    struct pythia_source source; /* first, so that one is the other */
    struct pythia_source *from;
    enum pythia_packing packing;
    struct pythia_unpack_limits limits;
    bool ended, between; /* between two members, or two frames: the end may come */
    unsigned char *raw;
    size_t raw_size, raw_at;
    z_stream gzip;
    bool gzip_ready;
    ZSTD_DStream *zstd;
    uint64_t raw_total, content_total;
};

enum pythia_packing pythia_packing_named(const char *name)
{
    if (!name || !*name || strcasecmp(name, "identity") == 0)
        return PYTHIA_PACKING_NONE;
    if (strcasecmp(name, "gzip") == 0 || strcasecmp(name, "x-gzip") == 0)
        return PYTHIA_PACKING_GZIP;
    return strcasecmp(name, "zstd") == 0 ? PYTHIA_PACKING_ZSTD : PYTHIA_PACKINGS;
}

static int fill_raw(struct pythia_unpack *u, struct pythia_error *e)
{
    if (u->raw_at < u->raw_size || u->ended)
        return PYTHIA_OK;
    u->raw_at = u->raw_size = 0;
    int status = u->from->read(u->from, u->raw, RAW_BYTES, &u->raw_size, e);
    if (status != PYTHIA_OK)
        return status;
    u->ended = u->raw_size == 0;
    u->raw_total += u->raw_size;
    return PYTHIA_OK;
}

/* One step of inflating: some bytes out, or more bytes in. */
static int step_gzip(struct pythia_unpack *u, void *to, size_t capacity, size_t *got,
                     struct pythia_error *e)
{
    if (u->between && u->raw_at < u->raw_size) { /* another member follows */
        if (inflateReset(&u->gzip) != Z_OK)
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to decompress");
        u->between = false;
    }
    u->gzip.next_in = u->raw + u->raw_at;
    u->gzip.avail_in = (uInt)(u->raw_size - u->raw_at);
    u->gzip.next_out = to;
    u->gzip.avail_out = capacity < UINT32_MAX ? (uInt)capacity : UINT32_MAX;
    uInt room = u->gzip.avail_out;
    int result = inflate(&u->gzip, Z_NO_FLUSH);
    u->raw_at = u->raw_size - u->gzip.avail_in;
    *got = room - u->gzip.avail_out;
    if (result == Z_STREAM_END)
        u->between = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return pythia_error_set(
            e, PYTHIA_EFORMAT, "broken gzip data after %" PRIu64 " bytes of content: %s",
            u->content_total, u->gzip.msg ? u->gzip.msg : "cannot be decompressed");
    return PYTHIA_OK;
}

static int step_zstd(struct pythia_unpack *u, void *to, size_t capacity, size_t *got,
                     struct pythia_error *e)
{
    ZSTD_inBuffer in = {u->raw, u->raw_size, u->raw_at};
    ZSTD_outBuffer out = {to, capacity, 0};
    size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
    u->raw_at = in.pos;
    *got = out.pos;
    if (ZSTD_isError(left))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "broken Zstandard data after %" PRIu64 " bytes of content: %s",
                                u->content_total, ZSTD_getErrorName(left));
    u->between = left == 0;
    return PYTHIA_OK;
}

static int check_limits(const struct pythia_unpack *u, struct pythia_error *e)
{
    if (u->limits.content_max > 0 && u->content_total > u->limits.content_max)
        return pythia_error_set(e, PYTHIA_ELIMIT,
                                "it has more than %" PRIu64 " bytes of content, the most allowed",
                                u->limits.content_max);
    if (!(u->limits.expansion_max > 0) || u->content_total < BOMB_BYTES ||
        (double)u->content_total < (double)u->raw_total * u->limits.expansion_max)
        return PYTHIA_OK;
    return pythia_error_set(
        e, PYTHIA_ELIMIT,
        "%" PRIu64 " bytes expand to more than %.0f times as much: taken for a decompression bomb "
        "(--max-expansion allows more)",
        u->raw_total, u->limits.expansion_max);
}

static int decompress_some(struct pythia_unpack *u, void *to, size_t capacity, size_t *got,
                           struct pythia_error *e)
{
    for (;;) {
        int status = fill_raw(u, e);
        if (status != PYTHIA_OK || (u->ended && u->between))
            return status;
        status = u->packing == PYTHIA_PACKING_GZIP ? step_gzip(u, to, capacity, got, e)
                                                   : step_zstd(u, to, capacity, got, e);
        if (status != PYTHIA_OK || *got > 0)
            return status;
        if (u->ended && !u->between)
            return pythia_error_set(e, PYTHIA_EFORMAT,
                                    "the compressed data end in the middle, after %" PRIu64
                                    " bytes of content",
                                    u->content_total);
    }
}

static int unpack_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                       struct pythia_error *e)
{
    struct pythia_unpack *u = (struct pythia_unpack *)source;
    *got = 0;
    int status = u->packing == PYTHIA_PACKING_NONE ? u->from->read(u->from, to, capacity, got, e)
                                                   : decompress_some(u, to, capacity, got, e);
    if (status == PYTHIA_OK) {
        u->raw_total += u->packing == PYTHIA_PACKING_NONE ? *got : 0;
        u->content_total += *got;
        status = check_limits(u, e);
    }
    if (status != PYTHIA_OK)
        pythia_error_place(e, u->source.name, 0, 0);
    return status;
}

int pythia_unpack_create(struct pythia_source *from, enum pythia_packing packing,
                         const struct pythia_unpack_limits *limits, struct pythia_unpack **out,
                         struct pythia_error *e)
{
    struct pythia_unpack *u = pythia_calloc(1, sizeof(*u));
    bool ready = u != NULL;
    if (ready) {
        *u = (struct pythia_unpack){.source = {.name = from->name, .read = unpack_read},
                                    .from = from,
                                    .packing = packing,
                                    .limits = *limits};
        if (packing != PYTHIA_PACKING_NONE)
            u->raw = pythia_realloc(NULL, RAW_BYTES, 1);
        if (packing == PYTHIA_PACKING_GZIP)
            u->gzip_ready = inflateInit2(&u->gzip, 15 + 16) == Z_OK;
        if (packing == PYTHIA_PACKING_ZSTD)
            u->zstd = ZSTD_createDStream();
        if (u->zstd && limits->content_max > 0)
            ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG);
        ready = packing == PYTHIA_PACKING_NONE || (u->raw && (u->gzip_ready || u->zstd));
    }
    if (!ready) {
        pythia_unpack_destroy(u);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to decompress %s", from->name);
    }
    *out = u;
    return PYTHIA_OK;
}

void pythia_unpack_destroy(struct pythia_unpack *u)
{
    if (!u)
        return;
    if (u->gzip_ready)
        inflateEnd(&u->gzip);
    ZSTD_freeDStream(u->zstd);
    pythia_free(u->raw);
    pythia_free(u);
}

struct pythia_source *pythia_unpack_source(struct pythia_unpack *u)
{
    return &u->source;
}
