#include "redis_text.h"

#include <string.h>

#include "pythia/text.h"

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

static void unquote_line(struct pythia_text line, struct pythia_buf *out)
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

static void rewrite_reply(struct pythia__line_source *source, struct pythia_text line)
{
    struct pythia__redis_text *r = (struct pythia__redis_text *)source;
    struct pythia_buf *out = &source->out;
    line = skip_numbers(line);
    if (line.size > 0 && line.bytes[0] == '"')
        unquote_line(line, out);
    else if (line.size > 0 && (line.bytes[0] == '{' || line.bytes[0] == '['))
        pythia_buf_text_add(out, line);
    else if (line.size > 0 && line.bytes[0] != '\r')
        r->other_lines += !pythia_text_starts(line, PYTHIA_TEXT("osprofiler"));
}

void pythia__redis_text_init(struct pythia__redis_text *r, struct pythia_source *from)
{
    pythia__line_source_init(&r->lines, from, rewrite_reply);
    r->other_lines = 0;
}

void pythia__redis_text_free(struct pythia__redis_text *r)
{
    pythia__line_source_free(&r->lines);
}
