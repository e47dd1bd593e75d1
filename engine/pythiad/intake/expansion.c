#include "expansion.h"

#include "pythia/status.h"

#define PIECE_BYTES   ((size_t)4096)   /* of the body at once: how far it was read is to be known */
#define HARMLESS      UINT64_C(262144) /* bytes of content that are read whatever they came from */
#define EXPANSION     UINT64_C(50)     /* times: traces are packed into a tenth of their size */
#define DISCARD_BYTES ((size_t)32768)  /* at once */

/* Everything, to nowhere. */
static int look_ahead(const struct pythia__expansion *x, struct pythia_error *e)
{
    struct pythia_memory_source bytes;
    struct pythia_unpack *unpack = NULL;
    char nowhere[DISCARD_BYTES];
    size_t got = 1;
    pythia_memory_source_init(&bytes, x->source.name, x->body.bytes, x->body.size);
    int status = pythia_unpack_create(&bytes.source, x->packing, &x->limits, &unpack, e);
    if (status != PYTHIA_OK)
        goto out;
    while (got > 0) {
        struct pythia_source *from = pythia_unpack_source(unpack);
        if ((status = from->read(from, nowhere, sizeof(nowhere), &got, e)) != PYTHIA_OK)
            goto out;
    }
out:
    pythia_unpack_destroy(unpack);
    return status;
}

static int expansion_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                          struct pythia_error *e)
{
    struct pythia__expansion *x = (struct pythia__expansion *)source;
    *got = 0;
    if (!x->looked && x->given > HARMLESS && x->given > EXPANSION * x->bytes.at) {
        struct pythia_error why = {0};
        x->looked = true;
        int status = look_ahead(x, &why);
        if (status == PYTHIA_ELIMIT || status == PYTHIA_ENOMEM) {
            *e = why;
            return status;
        } /* what is broken further on is told when it is reached */
    }
    struct pythia_source *from = pythia_unpack_source(x->unpack);
    int status = from->read(from, to, capacity, got, e);
    x->given += *got;
    return status;
}

int pythia__expansion_init(struct pythia__expansion *x, struct pythia_text body,
                           enum pythia_packing packing, const struct pythia_unpack_limits *limits,
                           struct pythia_error *e)
{
    *x = (struct pythia__expansion){.source = {.name = "body", .read = expansion_read},
                                    .body = body,
                                    .packing = packing,
                                    .limits = *limits};
    pythia_memory_source_init(&x->bytes, x->source.name, body.bytes, body.size);
    x->bytes.piece = PIECE_BYTES;
    return pythia_unpack_create(&x->bytes.source, packing, limits, &x->unpack, e);
}

void pythia__expansion_free(struct pythia__expansion *x)
{
    pythia_unpack_destroy(x->unpack);
}
