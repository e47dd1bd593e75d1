#ifndef PYTHIA_JSON_TEXT_H
#define PYTHIA_JSON_TEXT_H

#include <stdlib.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

/* JSON values of jansson as text. This is a header alone: whoever includes it links jansson. */

/* Append a value in the form that jansson's flags say, and then `end`. Returns PYTHIA_OK or
 * PYTHIA_ENOMEM, also for a value of NULL, which could not be made; then nothing was appended. */
static inline int pythia_json_put(struct pythia_buf *to, const json_t *value, size_t flags,
                                  const char *end)
{
    char *text = value ? json_dumps(value, flags) : NULL;
    if (!text)
        return PYTHIA_ENOMEM;
    pythia_buf_puts(to, text);
    pythia_buf_puts(to, end);
    free(text);
    return pythia_buf_status(to);
}

static inline int pythia__json_add_shown(const char *bytes, size_t size, void *to)
{
    pythia_shown_json(to, bytes, size);
    return pythia_buf_status(to) == PYTHIA_OK ? 0 : -1;
}

/* As pythia_json_put, with names from outside made harmless (pythia_shown_json), and without a copy
 * of the whole: what was appended before memory ran out stays there. */
static inline int pythia_json_put_shown(struct pythia_buf *to, const json_t *value, size_t flags,
                                        const char *end)
{
    if (!value || json_dump_callback(value, pythia__json_add_shown, to, flags) != 0)
        return PYTHIA_ENOMEM;
    pythia_buf_puts(to, end);
    return pythia_buf_status(to);
}

#endif
