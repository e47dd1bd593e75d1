#include "trace_chunks.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define ARCHIVES "archives/"

/* The last part of a path that is ARCHIVES; NULL: none is. */
static const char *find_archives(const char *path)
{
    const char *found = NULL;
    for (const char *at = strstr(path, ARCHIVES); at; at = strstr(at + 1, ARCHIVES))
        if (at == path || at[-1] == '/')
            found = at;
    return found;
}

/* The parts of a path that all chunks have alike. */
struct common {
    struct pythia_text session, rest;
};

static struct common split_path(const char *path)
{
    const char *archives = find_archives(path);
    const char *rest = archives ? strchr(archives + strlen(ARCHIVES), '/') : NULL;
    if (!rest)
        return (struct common){.rest = pythia_text_of(path)};
    return (struct common){{path, (size_t)(archives - path)}, pythia_text_of(rest + 1)};
}

/* Is the path REST in the session, or in one of its chunks? */
static bool is_chunk(const struct common *c, const char *path)
{
    const struct common other = split_path(path);
    if (other.session.bytes && c->session.bytes)
        return pythia_text_equal(other.session, c->session) &&
               pythia_text_equal(other.rest, c->rest);
    const struct common *chunk = c->session.bytes ? c : &other;
    struct pythia_text plain = c->session.bytes ? other.rest : c->rest;
    return chunk->session.bytes && plain.size == chunk->session.size + chunk->rest.size &&
           memcmp(plain.bytes, chunk->session.bytes, chunk->session.size) == 0 &&
           memcmp(plain.bytes + chunk->session.size, chunk->rest.bytes, chunk->rest.size) == 0;
}

static int add_chunk(struct pythia_input_file *first, struct pythia_input_file *chunk)
{
    size_t count = first->chunk_count ? first->chunk_count : 1;
    const char **chunks = pythia_realloc(first->chunks, count + 1, sizeof(*chunks));
    if (!chunks)
        return PYTHIA_ENOMEM;
    chunks[0] = first->path;
    chunks[count] = chunk->path;
    first->chunks = chunks;
    first->chunk_count = count + 1;
    first->named |= chunk->named;
    return PYTHIA_OK;
}

int pythia__trace_chunks_join(struct pythia_input_file *files, size_t *count)
{
    size_t kept = 0;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < *count; i++) {
        size_t first = kept;
        const struct common of = split_path(files[i].path);
        for (size_t k = 0; k < kept && files[i].is_events && first == kept; k++)
            if (files[k].is_events && is_chunk(&of, files[k].path))
                first = k;
        if (first < kept && status == PYTHIA_OK)
            status = add_chunk(&files[first], &files[i]);
        if (first == kept || status != PYTHIA_OK)
            files[kept++] = files[i];
    }
    *count = kept;
    return status;
}
