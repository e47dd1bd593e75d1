/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pairs.h"

#include <string.h>

#define TRACEPARENT 55

/* ---- pairs ---- */

/* A request begins with its own point, at the bottom of the stack. The same point once more means
 * that the thread has left it without its second probe: an error does that to PostgreSQL. */
enum pythia__pair pythia__pair_decide(const struct pythia__pairs *pairs, uint32_t point, int done,
                                      int request, uint32_t *left)
{
    uint32_t depth = pairs->depth;
    if (!done && depth > 0 && request && pairs->points[0] == point)
        return PYTHIA__PAIR_ANEW;
    if (!done && depth == 0 && !request)
        return PYTHIA__PAIR_OUTSIDE;
    if (!done)
        return depth < PYTHIA__PAIRS_DEPTH ? PYTHIA__PAIR_BEGIN : PYTHIA__PAIR_DEEP;
    while (depth > 0 && pairs->points[depth - 1] != point)
        depth--;
    if (depth == 0)
        return pairs->depth > 0 ? PYTHIA__PAIR_UNMATCHED : PYTHIA__PAIR_OUTSIDE;
    *left = depth - 1;
    return PYTHIA__PAIR_END;
}

/* ---- statements ---- */

/* Where a comment ends that begins at `at`; `at` itself if none does. A comment that the text
 * does not end was cut with it. */
static size_t skip_comment(const char *text, size_t bytes, size_t at)
{
    if (bytes - at < 2 || text[at] != '/' || text[at + 1] != '*')
        return at;
    const char *end = memmem(text + at + 2, bytes - at - 2, "*/", 2);
    return end ? (size_t)(end - text) + 2 : bytes;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t pythia__statement_type(const char *text, size_t bytes, char out[PYTHIA__TYPE_BYTES])
{
    size_t size = 0;
    for (size_t at = 0; at < bytes && size < PYTHIA__TYPE_BYTES;) {
        size_t after = skip_comment(text, bytes, at);
        char c = text[at];
        if (after > at)
            c = ' ';
        at = after > at ? after : at + 1;
        int space = c == ' ' || c == '\n' || c == '\t' || c == '\r',
            in_word = size > 0 && (out[size - 1] == '_' || (out[size - 1] | 32) >= 'a');
        if (c == '\'') {
            while (at < bytes && text[at++] != '\'')
                ;
            out[size++] = '?';
        } else if (is_digit(c) && !in_word) {
            while (at < bytes && (is_digit(text[at]) || text[at] == '.'))
                at++;
            out[size++] = '?';
        } else if (!space) {
            size -= c == '+' && size > 0 && out[size - 1] == ' ';
            out[size++] = c;
        } else if (size > 0 && out[size - 1] != ' ' && out[size - 1] != '+') {
            out[size++] = ' ';
        }
    }
    while (size > 0 && out[size - 1] == ' ')
        size--;
    return size;
}

const char *pythia__statement_caller(const char *text, size_t bytes)
{
    static const char word[] = "traceparent='";
    const size_t skipped = sizeof(word) - 1;
    const char *at = memmem(text, bytes, word, skipped);
    return at && bytes - (size_t)(at - text) >= skipped + TRACEPARENT ? at + skipped : NULL;
}
