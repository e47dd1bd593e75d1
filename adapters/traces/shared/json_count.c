#include "json_count.h"

static void open_bracket(struct pythia_span_count *c, const char *path, char bracket)
{
    uint64_t depth = c->json.depth;
    if (depth == 0 && bracket == '[')
        return;
    if (depth == c->json.on_path && path[depth] == bracket) {
        c->json.on_path++;
        c->spans += path[depth + 1] == '\0';
    }
    c->json.depth++;
}

static void close_bracket(struct pythia_span_count *c)
{
    if (c->json.depth == 0)
        return;
    c->json.depth--;
    if (c->json.on_path > c->json.depth)
        c->json.on_path = (uint8_t)c->json.depth;
}

/* Behind the text at hand, or `end`. */
static const char *pass_text(struct pythia_span_count *c, const char *at, const char *end)
{
    for (; at < end; at++)
        if (c->json.escaped)
            c->json.escaped = false;
        else if (*at == '\\')
            c->json.escaped = true;
        else if (*at == '"')
            break;
    c->json.in_text = at == end;
    return c->json.in_text ? end : at + 1;
}

/* Counts before anything is decoded, to say how far reading has come: brackets and strings suffice
 * for that. */
void pythia__count_json_spans(struct pythia_span_count *c, const char *path, const char *bytes,
                              size_t size)
{
    const char *at = bytes, *end = bytes + size;
    while (at < end) {
        if (c->json.in_text) {
            at = pass_text(c, at, end);
            continue;
        }
        switch (*at++) {
        case '"':
            c->json.in_text = true;
            break;
        case '{':
            open_bracket(c, path, '{');
            break;
        case '[':
            open_bracket(c, path, '[');
            break;
        case '}':
        case ']':
            close_bracket(c);
        }
    }
}
