#ifndef PYTHIA_BUF_H
#define PYTHIA_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* A growing string of bytes, public because it is embedded in many structs. Once an append has
 * failed for want of memory, `failed` stays set and further appends do nothing: check once, at the
 * end. */
struct pythia_buf {
    char *bytes; /* owned; NUL-terminated whenever it is not NULL */
    size_t size, capacity;
    int failed;
};

static inline void pythia_buf_init(struct pythia_buf *b)
{
    *b = (struct pythia_buf){0};
}
void pythia_buf_free(struct pythia_buf *b); /* also makes it empty again */

/* Forget the content and keep the memory. */
static inline void pythia_buf_clear(struct pythia_buf *b)
{
    b->size = 0;
    if (b->bytes)
        b->bytes[0] = '\0';
}

/* The content. Borrowed: valid until the next append. */
static inline struct pythia_text pythia_buf_text(const struct pythia_buf *b)
{
    return (struct pythia_text){b->bytes ? b->bytes : "", b->size};
}

/* Room for `size` more bytes, by making the buffer larger; NULL when there is none. */
char *pythia_buf_grow(struct pythia_buf *b, size_t size);

/* As above, if necessary. The caller writes there and adds to `size`. */
static inline char *pythia_buf_reserve(struct pythia_buf *b, size_t size)
{
    return !b->failed && size < b->capacity && b->size < b->capacity - size
               ? b->bytes + b->size
               : pythia_buf_grow(b, size);
}

/* Append bytes or text. Without memory the buffer is marked as failed, and later calls do
 * nothing, so that a caller needs to check only once, at the end. */
void pythia_buf_add(struct pythia_buf *b, const void *bytes, size_t size);
void pythia_buf_text_add(struct pythia_buf *b, struct pythia_text text);
void pythia_buf_puts(struct pythia_buf *b, const char *string);
void pythia_buf_putc(struct pythia_buf *b, char c);
void pythia_buf_printf(struct pythia_buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* PYTHIA_OK, or PYTHIA_ENOMEM if any append has failed. */
int pythia_buf_status(const struct pythia_buf *b);

#endif
