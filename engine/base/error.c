#include "pythia/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pythia/status.h"

int pythia_error_set(struct pythia_error *e, int status, const char *format, ...)
{
    if (!e || e->status != PYTHIA_OK)
        return status;
    e->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(e->sentence, sizeof(e->sentence), format, args);
    va_end(args);
    return status;
}

void pythia_error_place(struct pythia_error *e, const char *source, uint64_t line, uint64_t offset)
{
    if (!e || e->source[0] != '\0')
        return;
    size_t size = strlen(source),
           skip = size < sizeof(e->source) ? 0 : size - sizeof(e->source) + 1;
    memcpy(e->source, source + skip, size - skip + 1);
    e->line = line;
    e->offset = offset;
}

const char *pythia_error_text(const struct pythia_error *e, char *out, unsigned long size)
{
    const char *sentence = e->sentence[0] ? e->sentence : pythia_status_text(e->status);
    if (e->source[0] && e->line)
        snprintf(out, size, "%s:%" PRIu64 ": %s (byte %" PRIu64 ")", e->source, e->line, sentence,
                 e->offset);
    else if (e->source[0] && e->offset)
        snprintf(out, size, "%s: %s (byte %" PRIu64 ")", e->source, sentence, e->offset);
    else if (e->source[0])
        snprintf(out, size, "%s: %s", e->source, sentence);
    else
        snprintf(out, size, "%s", sentence);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return out;
}
