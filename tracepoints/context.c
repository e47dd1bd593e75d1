/* SPDX-License-Identifier: MIT */
/* W3C trace context, level 1 (Kanzhelev and others, W3C Recommendation, 23 November 2021).
 *
 *     traceparent  00-<32 digits: trace id>-<16 digits: parent id>-<2 digits: flags>
 *     tracestate   pythia=l:2a;t:checkout,<entries of others>
 *
 * l is the Lamport count, in hexadecimal; t the kind of request, where a byte that is not a letter,
 * a digit or one of - . _ / is %XX.
 *
 * A request of which no span is open here has no id to give as the parent's, and must give one that
 * is not 0: it gives the low half of its trace id. Who reads that takes it for none. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "process.h"

#define ENTRY       "pythia="
#define ENTRY_BYTES 7
#define STATE_MOST  256 /* of the value of one entry */
#define MEMBERS     32

/* ---- reading ---- */

/* `digits` hexadecimal digits in lower case; 0 if they are not. */
static int read_hex(const char *from, int digits, uint64_t *out)
{
    uint64_t number = 0;
    for (int i = 0; i < digits; i++) {
        char c = from[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return 0;
        number = number << 4 | (uint64_t)digit;
    }
    *out = number;
    return 1;
}

int pythia_traceparent_read(const char *header, size_t bytes, struct pythia_context *out)
{
    uint64_t version, high, low, parent, flags;
    if (!header || bytes < PYTHIA_TRACEPARENT_BYTES || !read_hex(header, 2, &version) ||
        version == 0xff || header[2] != '-' || !read_hex(header + 3, 16, &high) ||
        !read_hex(header + 19, 16, &low) || header[35] != '-' ||
        !read_hex(header + 36, 16, &parent) || header[52] != '-' ||
        !read_hex(header + 53, 2, &flags))
        return -EINVAL;
    if (bytes > PYTHIA_TRACEPARENT_BYTES &&
        (version == 0 || header[PYTHIA_TRACEPARENT_BYTES] != '-'))
        return -EINVAL;
    if ((high | low) == 0 || parent == 0)
        return -EINVAL;
    *out = (struct pythia_context){
        .trace_high = high,
        .trace_low = low,
        .span = parent == low ? 0 : parent,
        .flags = (uint8_t)(PYTHIA_CONTEXT_REQUEST | PYTHIA_CONTEXT_REMOTE |
                           (flags & 1 ? PYTHIA_CONTEXT_SAMPLED : 0)),
    };
    return 0;
}

/* A member of a list: *from goes behind it. Returns its bytes without blanks around. */
static size_t next_member(const char **from, size_t *left, const char **member)
{
    const char *comma = memchr(*from, ',', *left);
    size_t bytes = comma ? (size_t)(comma - *from) : *left;
    const char *begin = *from;
    *from += bytes + (comma != NULL);
    *left -= bytes + (comma != NULL);
    while (bytes > 0 && (*begin == ' ' || *begin == '\t')) {
        begin++;
        bytes--;
    }
    while (bytes > 0 && (begin[bytes - 1] == ' ' || begin[bytes - 1] == '\t'))
        bytes--;
    *member = begin;
    return bytes;
}

static int is_ours(const char *member, size_t bytes)
{
    return bytes >= ENTRY_BYTES && memcmp(member, ENTRY, ENTRY_BYTES) == 0;
}

/* A name with its %XX made bytes again; 0 if it is none. */
static size_t unescape(const char *from, size_t bytes, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < bytes; i++, used++) {
        uint64_t byte = (unsigned char)from[i];
        if (byte == '%') {
            if (bytes - i < 3 || !read_hex(from + i + 1, 2, &byte))
                return 0;
            i += 2;
        }
        out[used] = (char)byte;
    }
    return used;
}

static void read_count(const char *field, size_t bytes, struct pythia_context *out)
{
    uint64_t count;
    if (bytes >= 1 && bytes <= 8 && read_hex(field, (int)bytes, &count))
        out->lamport = (uint32_t)count < UINT32_MAX ? (uint32_t)count + 1 : UINT32_MAX;
}

static void read_type(const char *field, size_t bytes, struct pythia_context *out)
{
    char name[STATE_MOST];
    size_t size = bytes <= sizeof(name) ? unescape(field, bytes, name) : 0;
    const struct pythia__type *type = size ? pythia__type_of(&pythia__self, name, size) : NULL;
    if (!type)
        return;
    out->type = type;
    out->request_type = type->bit;
}

void pythia_tracestate_read(const char *header, size_t bytes, struct pythia_context *out)
{
    const char *member;
    while (header && bytes > 0) {
        size_t size = next_member(&header, &bytes, &member);
        if (!is_ours(member, size))
            continue;
        member += ENTRY_BYTES;
        size -= ENTRY_BYTES;
        while (size > 2 && member[1] == ':') {
            const char *end = memchr(member, ';', size);
            size_t field = end ? (size_t)(end - member) : size;
            if (*member == 'l')
                read_count(member + 2, field - 2, out);
            else if (*member == 't')
                read_type(member + 2, field - 2, out);
            member += field + (end != NULL);
            size -= field + (end != NULL);
        }
        return; /* only the first counts */
    }
}

/* ---- writing ---- */

static char *write_hex(char *to, uint64_t number, int digits)
{
    for (int i = digits - 1; i >= 0; i--, number >>= 4)
        to[i] = "0123456789abcdef"[number & 15];
    return to + digits;
}

size_t pythia_traceparent_write(char out[PYTHIA_TRACEPARENT_BYTES + 1])
{
    struct pythia_context c;
    pythia_context_get(&c);
    out[0] = '\0';
    if ((c.trace_high | c.trace_low) == 0)
        return 0;
    uint64_t parent = c.span ? c.span : c.trace_low;
    if (parent == 0)
        return 0; /* a trace of others, with half an id, and no span */
    char *to = write_hex(out, 0, 2);
    *to++ = '-';
    to = write_hex(to, c.trace_high, 16);
    to = write_hex(to, c.trace_low, 16);
    *to++ = '-';
    to = write_hex(to, parent, 16);
    *to++ = '-';
    to = write_hex(to, c.flags & PYTHIA_CONTEXT_SAMPLED, 2);
    *to = '\0';
    return PYTHIA_TRACEPARENT_BYTES;
}

static int is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '/';
}

/* ";t:<name>"; nothing if that would be too long. */
static size_t write_type(char *to, const struct pythia__type *type)
{
    size_t used = 3, most = STATE_MOST - 16;
    if (!type || type->bytes == 0)
        return 0;
    to[0] = ';';
    to[1] = 't';
    to[2] = ':';
    for (size_t i = 0; i < type->bytes; i++) {
        char c = type->name[i];
        if (used + 3 > most)
            return 0;
        if (is_plain(c)) {
            to[used++] = c;
        } else {
            to[used++] = '%';
            write_hex(to + used, (unsigned char)c, 2);
            used += 2;
        }
    }
    return used;
}

size_t pythia_tracestate_write(const char *received, size_t received_bytes,
                               char out[PYTHIA_TRACESTATE_BYTES + 1])
{
    struct pythia_context c;
    pythia_context_get(&c);
    out[0] = '\0';
    if ((c.trace_high | c.trace_low) == 0)
        return 0;
    pythia__self.context.lamport += c.lamport < UINT32_MAX; /* sending is an event */
    int used =
        snprintf(out, STATE_MOST, ENTRY "l:%lx", (unsigned long)pythia__self.context.lamport);
    size_t bytes = (size_t)used + write_type(out + used, c.type);
    const char *member;
    for (int members = 1; received && received_bytes > 0 && members < MEMBERS;) {
        size_t size = next_member(&received, &received_bytes, &member);
        if (size == 0 || is_ours(member, size))
            continue;
        if (bytes + 1 + size > PYTHIA_TRACESTATE_BYTES)
            break; /* whole entries, and those in front: as the recommendation has it */
        out[bytes++] = ',';
        memcpy(out + bytes, member, size);
        bytes += size;
        members++;
    }
    out[bytes] = '\0';
    return bytes;
}
