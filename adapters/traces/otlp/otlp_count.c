#include "pythia/otlp_count.h"

#include <stdbool.h>

enum { KEY, LENGTH, VARINT, SKIP, BROKEN };

/* So many bytes of the message at hand are, or will be, behind us. What is outermost has no end. */
static bool pass(struct pythia_otlp_count *c, uint64_t bytes)
{
    if (c->depth > 0 && bytes > c->left[c->depth]) {
        c->state = BROKEN;
        return false;
    }
    if (c->depth > 0)
        c->left[c->depth] -= bytes;
    return true;
}

static void end_field(struct pythia_otlp_count *c)
{
    c->state = KEY;
    while (c->depth > 0 && c->left[c->depth] == 0)
        c->depth--;
}

static void skip(struct pythia_otlp_count *c, uint64_t bytes)
{
    if (!pass(c, bytes))
        return;
    c->skip = bytes;
    c->state = SKIP;
    if (bytes == 0)
        end_field(c);
}

static void begin_field(struct pythia_otlp_count *c, uint64_t key)
{
    c->field = key >> 3 <= UINT32_MAX ? (uint32_t)(key >> 3) : 0;
    switch (key & 7) {
    case 0:
        c->state = VARINT;
        break;
    case 1:
        skip(c, 8);
        break;
    case 2:
        c->state = LENGTH;
        break;
    case 5:
        skip(c, 4);
        break;
    default:
        c->state = BROKEN;
    }
}

/* TracesData has ResourceSpans (1), these have ScopeSpans (2, once 1000), and these spans (2). */
static void begin_bytes(struct pythia_otlp_count *c, uint64_t size)
{
    bool holds =
        c->depth == 0 ? c->field == 1 : c->field == 2 || (c->depth == 1 && c->field == 1000);
    c->spans += holds && c->depth == 2;
    if (!holds || c->depth == 2) {
        skip(c, size);
    } else if (pass(c, size)) {
        c->left[++c->depth] = size;
        end_field(c);
    }
}

static void add_byte(struct pythia_otlp_count *c, unsigned char byte)
{
    if (!pass(c, 1))
        return;
    if (c->shift >= 64) {
        c->state = BROKEN;
        return;
    }
    c->number |= (uint64_t)(byte & 127) << c->shift;
    c->shift += 7;
    if (byte & 128)
        return;
    uint64_t number = c->number;
    c->number = 0;
    c->shift = 0;
    if (c->state == KEY)
        begin_field(c, number);
    else if (c->state == LENGTH)
        begin_bytes(c, number);
    else
        end_field(c);
}

void pythia_otlp_count_add(struct pythia_otlp_count *c, const char *bytes, size_t size)
{
    while (size > 0 && c->state != BROKEN) {
        size_t step = 1;
        if (c->state == SKIP) {
            step = c->skip < size ? (size_t)c->skip : size;
            c->skip -= step;
            if (c->skip == 0)
                end_field(c);
        } else {
            add_byte(c, (unsigned char)*bytes);
        }
        bytes += step;
        size -= step;
    }
}
