#include "pythia/unpack.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "decompress.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define RAW_BYTES  ((size_t)128 * 1024)
#define WINDOW_LOG 23 /* of a body; RFC 8878 asks decoders for no more than 8 MiB */

struct pythia_unpack {
    struct pythia_source source; /* first, so that one is the other */
    struct pythia_source *from;
    enum pythia_packing packing;
    struct pythia_unpack_limits limits;
    bool ended;
    struct pythia__decompressor packed; /* its content is counted of plain bytes too */
    uint64_t raw_total;
};

enum pythia_packing pythia_packing_named(const char *name)
{
    if (!name || !*name || strcasecmp(name, "identity") == 0)
        return PYTHIA_PACKING_NONE;
    if (strcasecmp(name, "gzip") == 0 || strcasecmp(name, "x-gzip") == 0)
        return PYTHIA_PACKING_GZIP;
    return strcasecmp(name, "zstd") == 0 ? PYTHIA_PACKING_ZSTD : PYTHIA_PACKINGS;
}

static int fill_from_source(struct pythia_unpack *u, struct pythia_error *e)
{
    if (u->packed.raw_at < u->packed.raw_size || u->ended)
        return PYTHIA_OK;
    u->packed.raw_at = u->packed.raw_size = 0;
    int status = u->from->read(u->from, u->packed.raw, RAW_BYTES, &u->packed.raw_size, e);
    if (status != PYTHIA_OK)
        return status;
    u->ended = u->packed.raw_size == 0;
    u->raw_total += u->packed.raw_size;
    return PYTHIA_OK;
}

static int check_limits(const struct pythia_unpack *u, struct pythia_error *e)
{
    if (u->limits.content_max > 0 && u->packed.content_total > u->limits.content_max)
        return pythia_error_set(e, PYTHIA_ELIMIT,
                                "it expands to more than %" PRIu64 " bytes, the limit",
                                u->limits.content_max);
    return u->limits.expansion_max > 0
               ? pythia__decompressor_check(u->raw_total, u->packed.content_total,
                                            u->limits.expansion_max, e)
               : PYTHIA_OK;
}

static int decompress_body(struct pythia_unpack *u, void *to, size_t capacity, size_t *got,
                           struct pythia_error *e)
{
    for (;;) {
        int status = fill_from_source(u, e);
        if (status != PYTHIA_OK || (u->ended && u->packed.between))
            return status;
        status = pythia__decompressor_step(&u->packed, to, capacity, got, e);
        if (status != PYTHIA_OK || *got > 0)
            return status;
        if (u->ended && !u->packed.between)
            return pythia__decompressor_fail_cut(&u->packed, e);
    }
}

static int unpack_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                       struct pythia_error *e)
{
    struct pythia_unpack *u = (struct pythia_unpack *)source;
    *got = 0;
    int status = u->packing == PYTHIA_PACKING_NONE ? u->from->read(u->from, to, capacity, got, e)
                                                   : decompress_body(u, to, capacity, got, e);
    if (status != PYTHIA_OK)
        goto out;
    u->raw_total += u->packing == PYTHIA_PACKING_NONE ? *got : 0;
    u->packed.content_total += *got;
    if ((status = check_limits(u, e)) != PYTHIA_OK)
        goto out;
    return PYTHIA_OK;
out:
    pythia_error_place(e, u->source.name, 0, 0);
    return status;
}

/* A body comes from the network: its window is bounded, or a few bytes could ask for gigabytes. */
int pythia_unpack_create(struct pythia_source *from, enum pythia_packing packing,
                         const struct pythia_unpack_limits *limits, struct pythia_unpack **out,
                         struct pythia_error *e)
{
    struct pythia_unpack *u = pythia_calloc(1, sizeof(*u));
    if (!u)
        goto out;
    *u = (struct pythia_unpack){.source = {.name = from->name, .read = unpack_read},
                                .from = from,
                                .packing = packing,
                                .limits = *limits};
    if (packing != PYTHIA_PACKING_NONE && !(u->packed.raw = pythia_realloc(NULL, RAW_BYTES, 1)))
        goto out;
    if (packing == PYTHIA_PACKING_GZIP && !pythia__decompressor_begin_gzip(&u->packed))
        goto out;
    if (packing == PYTHIA_PACKING_ZSTD && !pythia__decompressor_begin_zstd(&u->packed))
        goto out;
    if (packing == PYTHIA_PACKING_ZSTD && limits->content_max > 0)
        ZSTD_DCtx_setParameter(u->packed.zstd, ZSTD_d_windowLogMax, WINDOW_LOG);
    *out = u;
    return PYTHIA_OK;
out:
    pythia_unpack_destroy(u);
    return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to decompress %s", from->name);
}

void pythia_unpack_destroy(struct pythia_unpack *u)
{
    if (!u)
        return;
    pythia__decompressor_free(&u->packed);
    pythia_free(u);
}

struct pythia_source *pythia_unpack_source(struct pythia_unpack *u)
{
    return &u->source;
}
