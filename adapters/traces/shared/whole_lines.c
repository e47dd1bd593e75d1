#include "whole_lines.h"

#include <string.h>

#include "pythia/status.h"

#define READ_BYTES ((size_t)64 * 1024)

int pythia__whole_lines_fail(const struct pythia__whole_lines *l, size_t at,
                             struct pythia_error *why, const char *sentence)
{
    pythia_error_clear(why);
    pythia_error_set(why, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(why, l->source, l->number, l->offset + at);
    return PYTHIA_EFORMAT;
}

/* Take the lines that are in memory as a whole. The rest of a line that is too long is dropped as
 * it comes, so that memory stays bounded. */
static int take_lines(struct pythia__whole_lines *l, bool ended,
                      int (*take)(void *context, struct pythia_text line),
                      void (*refuse)(void *context), void *context)
{
    size_t from = 0;
    while (from < l->line.size) {
        const char *begin = l->line.bytes + from,
                   *newline = memchr(begin, '\n', l->line.size - from);
        if (!newline && !ended)
            break;
        size_t size = newline ? (size_t)(newline - begin) : l->line.size - from;
        if (!l->too_long) {
            int status = take(context, (struct pythia_text){begin, size});
            if (status != PYTHIA_OK)
                return status;
        }
        l->too_long = false;
        l->number++;
        l->offset += size + (newline != NULL);
        from += size + (newline != NULL);
    }
    if (from < l->line.size && l->line.size - from > PYTHIA__LINE_BYTES) {
        if (!l->too_long)
            refuse(context);
        l->too_long = true;
        l->offset += l->line.size - from;
        from = l->line.size;
    }
    if (from > 0)
        memmove(l->line.bytes, l->line.bytes + from, l->line.size - from);
    l->line.size -= from;
    return PYTHIA_OK;
}

int pythia__whole_lines_read(struct pythia__whole_lines *l, struct pythia_source *from,
                             int (*take)(void *context, struct pythia_text line),
                             void (*refuse)(void *context), void *context, struct pythia_error *e)
{
    size_t got;
    l->source = from->name;
    l->number = 1;
    l->offset = 0;
    l->too_long = false;
    l->line.failed = 0;
    l->line.size = 0;
    do {
        char *free_bytes = pythia_buf_reserve(&l->line, READ_BYTES);
        if (!free_bytes)
            return PYTHIA_ENOMEM;
        int status = from->read(from, free_bytes, READ_BYTES, &got, e);
        if (status != PYTHIA_OK)
            return status;
        l->line.size += got;
        status = take_lines(l, got == 0, take, refuse, context);
        if (status != PYTHIA_OK)
            return status;
    } while (got > 0);
    return PYTHIA_OK;
}

void pythia__whole_lines_free(struct pythia__whole_lines *l)
{
    pythia_buf_free(&l->line);
}
