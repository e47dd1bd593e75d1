#include "pythia/probe_id.h"

#include <string.h>

#include "pythia/status.h"

int pythia_probe_id_read(struct pythia_text text, struct pythia_probe_id *out,
                         struct pythia_error *e)
{
    const char *end = text.bytes + text.size, *colon = memchr(text.bytes, ':', text.size),
               *space = colon ? memchr(colon, ' ', (size_t)(end - colon)) : NULL;
    if (!space || colon == text.bytes || space == colon + 1 || end - space < 2 || space[1] != '/' ||
        memchr(text.bytes, 0, text.size) || end - space > PATH_MAX)
        return pythia_error_set(e, PYTHIA_EFORMAT, "an id is PROVIDER:NAME /PATH");
    out->whole = text;
    out->provider = (struct pythia_text){text.bytes, (size_t)(colon - text.bytes)};
    out->name = (struct pythia_text){colon + 1, (size_t)(space - colon - 1)};
    memcpy(out->path, space + 1, (size_t)(end - space - 1));
    out->path[end - space - 1] = '\0';
    return PYTHIA_OK;
}
