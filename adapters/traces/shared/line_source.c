#include "line_source.h"

#include <string.h>

#include "pythia/status.h"
#include "pythia/text.h"

#define PIECE_BYTES ((size_t)64 * 1024)
#define LINE_BYTES  ((size_t)64 * 1024 * 1024) /* a longer line is passed on in pieces */

/* ---- looking into a source ---- */

static int read_peeked(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                       struct pythia_error *e)
{
    struct pythia__peeked_source *p = (struct pythia__peeked_source *)source;
    if (p->given == p->size)
        return p->from->read(p->from, to, capacity, got, e);
    size_t left = p->size - p->given, size = left < capacity ? left : capacity;
    memcpy(to, p->head + p->given, size);
    p->given += size;
    *got = size;
    return PYTHIA_OK;
}

static bool waits_behind_head(struct pythia_source *source)
{
    const struct pythia__peeked_source *p = (const struct pythia__peeked_source *)source;
    return p->given == p->size && p->from->waits(p->from);
}

struct pythia_text pythia__skip_white(struct pythia_text text)
{
    static const char skipped[] = {' ', '\t', '\n', '\r', '\xEF', '\xBB', '\xBF'};
    size_t at = 0;
    while (at < text.size && memchr(skipped, text.bytes[at], sizeof(skipped)))
        at++;
    return (struct pythia_text){text.bytes + at, text.size - at};
}

/* May a beginning that is known so far go on to be the word? */
static bool may_become(struct pythia_text begin, struct pythia_text word)
{
    return begin.size == 0 ||
           (begin.size < word.size && memcmp(begin.bytes, word.bytes, begin.size) == 0);
}

/* The first bytes decide what the input is, and have to be read again: memory is simply read twice,
 * a stream gets its head back. */
int pythia__peek_source(struct pythia__peeked_source *p, struct pythia_source *from,
                        struct pythia_text word, struct pythia_text *begin, struct pythia_error *e)
{
    struct pythia_text lent = from->borrow ? from->borrow(from) : (struct pythia_text){NULL, 0};
    if (lent.bytes) {
        pythia_memory_source_init(&p->memory, from->name, lent.bytes, lent.size);
        p->input = &p->memory.source;
        *begin = pythia__skip_white(lent);
        return PYTHIA_OK;
    }
    p->source = (struct pythia_source){
        .name = from->name, .read = read_peeked, .waits = from->waits ? waits_behind_head : NULL};
    p->from = from;
    p->input = &p->source;
    p->size = p->given = 0;
    *begin = (struct pythia_text){"", 0};
    for (size_t got = 1; may_become(*begin, word) && got > 0 && p->size < sizeof(p->head);) {
        int status = from->read(from, p->head + p->size, sizeof(p->head) - p->size, &got, e);
        if (status != PYTHIA_OK)
            return status;
        p->size += got;
        *begin = pythia__skip_white((struct pythia_text){p->head, p->size});
    }
    return PYTHIA_OK;
}

/* ---- rewriting lines ---- */

static void rewrite_line(struct pythia__line_source *l, const char *line, size_t size)
{
    l->rewrite(l, (struct pythia_text){line, size});
    pythia_buf_putc(&l->out, '\n');
}

/* Read on and rewrite each whole line. */
static int read_whole_lines(struct pythia__line_source *l, struct pythia_error *e)
{
    char *room = pythia_buf_reserve(&l->line, PIECE_BYTES);
    size_t got = 0;
    int status = room ? l->from->read(l->from, room, PIECE_BYTES, &got, e) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        return status;
    size_t from = 0, seen = l->line.size; /* no newline is in what was there before */
    l->line.size += got;
    l->ended = got == 0;
    const char *newline;
    while ((newline = memchr(l->line.bytes + seen, '\n', l->line.size - seen))) {
        size_t size = (size_t)(newline - l->line.bytes) - from;
        rewrite_line(l, l->line.bytes + from, size);
        from += size + 1;
        seen = from;
    }
    if (from < l->line.size && (l->ended || l->line.size - from > LINE_BYTES)) {
        rewrite_line(l, l->line.bytes + from, l->line.size - from);
        from = l->line.size;
    }
    memmove(l->line.bytes, l->line.bytes + from, l->line.size - from);
    l->line.size -= from;
    return pythia_buf_status(&l->out);
}

static int read_rewritten(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                          struct pythia_error *e)
{
    struct pythia__line_source *l = (struct pythia__line_source *)source;
    while (l->given == l->out.size && !l->ended) {
        pythia_buf_clear(&l->out);
        l->given = 0;
        int status = read_whole_lines(l, e);
        if (status != PYTHIA_OK)
            return status;
    }
    size_t left = l->out.size - l->given, size = left < capacity ? left : capacity;
    if (size)
        memcpy(to, l->out.bytes + l->given, size);
    l->given += size;
    *got = size;
    return PYTHIA_OK;
}

static bool waits_for_lines(struct pythia_source *source)
{
    const struct pythia__line_source *l = (const struct pythia__line_source *)source;
    return l->given == l->out.size && l->from->waits(l->from);
}

void pythia__line_source_init(struct pythia__line_source *l, struct pythia_source *from,
                              void (*rewrite)(struct pythia__line_source *, struct pythia_text))
{
    *l = (struct pythia__line_source){.source = {.name = from->name,
                                                 .read = read_rewritten,
                                                 .waits = from->waits ? waits_for_lines : NULL},
                                      .from = from,
                                      .rewrite = rewrite};
}

void pythia__line_source_free(struct pythia__line_source *l)
{
    pythia_buf_free(&l->line);
    pythia_buf_free(&l->out);
}
