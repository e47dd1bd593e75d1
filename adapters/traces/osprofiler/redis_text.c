#include "redis_text.h"

#include <string.h>

#include "pythia/status.h"
#include "pythia/text.h"

#define PIECE_BYTES ((size_t)64 * 1024)
#define LINE_BYTES  ((size_t)64 * 1024 * 1024) /* a longer line is passed on in pieces */

/* Behind "12) " and the like, which nested replies have several of. */
static struct pythia_text skip_numbers(struct pythia_text line)
{
    for (;;) {
        size_t i = 0, digits = 0;
        while (i < line.size && (line.bytes[i] == ' ' || line.bytes[i] == '\t'))
            i++;
        while (i + digits < line.size && line.bytes[i + digits] >= '0' &&
               line.bytes[i + digits] <= '9')
            digits++;
        if (digits == 0 || i + digits >= line.size || line.bytes[i + digits] != ')')
            return (struct pythia_text){line.bytes + i, line.size - i};
        i += digits + 1;
        line = (struct pythia_text){line.bytes + i, line.size - i};
    }
}

static void unquote(struct pythia_text line, struct pythia_buf *out)
{
    static const char names[] = "nrtab", values[] = "\n\r\t\a\b";
    for (size_t i = 1; i < line.size && line.bytes[i] != '"'; i++) {
        char c = line.bytes[i];
        if (c == '\\' && i + 1 < line.size) {
            c = line.bytes[++i];
            const char *simple = strchr(names, c);
            uint64_t high, low;
            if (c == 'x' && i + 2 < line.size &&
                pythia_text_hex((struct pythia_text){line.bytes + i + 1, 2}, &high, &low)) {
                c = (char)low;
                i += 2;
            } else if (simple && c) {
                c = values[simple - names];
            }
        }
        pythia_buf_putc(out, (char)(c == '\n' ? ' ' : c)); /* one line in, one line out */
    }
}

static void convert(struct pythia__redis_text *r, struct pythia_text line)
{
    line = skip_numbers(line);
    if (line.size > 0 && line.bytes[0] == '"')
        unquote(line, &r->out);
    else if (line.size > 0 && (line.bytes[0] == '{' || line.bytes[0] == '['))
        pythia_buf_text_add(&r->out, line);
    else if (line.size > 0 && line.bytes[0] != '\r')
        r->other_lines += !pythia_text_starts(line, PYTHIA_TEXT("osprofiler"));
    pythia_buf_putc(&r->out, '\n');
}

/* Read on and convert each whole line. */
static int advance(struct pythia__redis_text *r, struct pythia_error *e)
{
    char *room = pythia_buf_reserve(&r->line, PIECE_BYTES);
    size_t got = 0;
    int status = room ? r->from->read(r->from, room, PIECE_BYTES, &got, e) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        return status;
    size_t from = 0, seen = r->line.size; /* no newline is in what was there before */
    r->line.size += got;
    r->ended = got == 0;
    const char *newline;
    while ((newline = memchr(r->line.bytes + seen, '\n', r->line.size - seen))) {
        size_t size = (size_t)(newline - r->line.bytes) - from;
        convert(r, (struct pythia_text){r->line.bytes + from, size});
        from += size + 1;
        seen = from;
    }
    if (from < r->line.size && (r->ended || r->line.size - from > LINE_BYTES)) {
        convert(r, (struct pythia_text){r->line.bytes + from, r->line.size - from});
        from = r->line.size;
    }
    memmove(r->line.bytes, r->line.bytes + from, r->line.size - from);
    r->line.size -= from;
    return pythia_buf_status(&r->out);
}

static int redis_text_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                           struct pythia_error *e)
{
    struct pythia__redis_text *r = (struct pythia__redis_text *)source;
    while (r->given == r->out.size && !r->ended) {
        pythia_buf_clear(&r->out);
        r->given = 0;
        int status = advance(r, e);
        if (status != PYTHIA_OK)
            return status;
    }
    size_t left = r->out.size - r->given, size = left < capacity ? left : capacity;
    if (size)
        memcpy(to, r->out.bytes + r->given, size);
    r->given += size;
    *got = size;
    return PYTHIA_OK;
}

static bool redis_text_waits(struct pythia_source *source)
{
    const struct pythia__redis_text *r = (const struct pythia__redis_text *)source;
    return r->given == r->out.size && r->from->waits(r->from);
}

void pythia__redis_text_init(struct pythia__redis_text *r, struct pythia_source *from)
{
    *r = (struct pythia__redis_text){.source = {.name = from->name,
                                                .read = redis_text_read,
                                                .waits = from->waits ? redis_text_waits : NULL},
                                     .from = from};
}

void pythia__redis_text_free(struct pythia__redis_text *r)
{
    pythia_buf_free(&r->line);
    pythia_buf_free(&r->out);
}
