#include "pythia/buf.h"

#include <stdio.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

void pythia_buf_free(struct pythia_buf *b)
{
    pythia_free(b->bytes);
    *b = (struct pythia_buf){0};
}

char *pythia_buf_grow(struct pythia_buf *b, size_t size)
{
    if (b->failed)
        return NULL;
    size_t capacity = b->capacity ? b->capacity : 64;
    while (capacity - b->size <= size && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    char *moved = capacity - b->size > size ? pythia_realloc(b->bytes, capacity, 1) : NULL;
    if (!moved) {
        b->failed = 1;
        return NULL;
    }
    b->bytes = moved;
    b->capacity = capacity;
    return b->bytes + b->size;
}

void pythia_buf_add(struct pythia_buf *b, const void *bytes, size_t size)
{
    char *to = pythia_buf_reserve(b, size);
    if (!to)
        return;
    if (size)
        memcpy(to, bytes, size);
    b->size += size;
    b->bytes[b->size] = '\0';
}

void pythia_buf_text_add(struct pythia_buf *b, struct pythia_text text)
{
    pythia_buf_add(b, text.bytes, text.size);
}

void pythia_buf_puts(struct pythia_buf *b, const char *string)
{
    pythia_buf_add(b, string, strlen(string));
}

void pythia_buf_putc(struct pythia_buf *b, char c)
{
    pythia_buf_add(b, &c, 1);
}

void pythia_buf_printf(struct pythia_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = size < 0 ? NULL : pythia_buf_reserve(b, (size_t)size + 1);
    if (to) {
        vsnprintf(to, (size_t)size + 1, format, again);
        b->size += (size_t)size;
    } else {
        b->failed = 1;
    }
    va_end(again);
}

int pythia_buf_status(const struct pythia_buf *b)
{
    return b->failed ? PYTHIA_ENOMEM : PYTHIA_OK;
}
