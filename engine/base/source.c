#include "pythia/source.h"

#include <string.h>

#include "pythia/status.h"

static int memory_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                       struct pythia_error *e)
{
    (void)e;
    struct pythia_memory_source *m = (struct pythia_memory_source *)source;
    size_t left = m->size - m->at, size = left < capacity ? left : capacity;
    if (m->piece && size > m->piece)
        size = m->piece;
    if (size)
        memcpy(to, m->bytes + m->at, size);
    m->at += size;
    *got = size;
    return PYTHIA_OK;
}

static struct pythia_text memory_borrow(struct pythia_source *source)
{
    struct pythia_memory_source *m = (struct pythia_memory_source *)source;
    if (m->piece || !m->bytes)
        return (struct pythia_text){NULL, 0};
    struct pythia_text left = {(const char *)m->bytes + m->at, m->size - m->at};
    m->at = m->size;
    return left;
}

void pythia_memory_source_init(struct pythia_memory_source *m, const char *name, const void *bytes,
                               size_t size)
{
    *m = (struct pythia_memory_source){
        .source = {.name = name, .read = memory_read, .borrow = memory_borrow},
        .bytes = bytes,
        .size = size};
}
