#include "held.h"

#include "pythia/mem.h"

void pythia__held_free(struct pythia__held *h)
{
    pythia_free(h->spans);
    pythia_buf_free(&h->attributes);
    *h = (struct pythia__held){0};
}

int pythia__hold(struct pythia__held *h, struct pythia__decoder *d,
                 const struct pythia__held_span *span)
{
    if (pythia__complete(d) != PYTHIA_OK ||
        pythia_grow(&h->spans, &h->capacity, h->count, sizeof(*h->spans)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia__held_span *kept = &h->spans[h->count++];
    *kept = *span;
    kept->offset = h->attributes.size;
    kept->span.attributes.size = d->attributes.size;
    pythia_buf_text_add(&h->attributes, pythia_buf_text(&d->attributes));
    return pythia_buf_status(&h->attributes);
}

int pythia__release(struct pythia__held *h, struct pythia__decoder *d, size_t index)
{
    struct pythia__held_span *kept = &h->spans[index];
    pythia_buf_clear(&d->attributes);
    if (kept->span.attributes.size)
        pythia_buf_add(&d->attributes, h->attributes.bytes + kept->offset,
                       kept->span.attributes.size);
    return pythia__emit_complete(d, &kept->trace, &kept->span);
}
