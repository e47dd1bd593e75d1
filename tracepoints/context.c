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
#include <string.h>

#include "process.h"

#define ENTRY       "pythia="
#define ENTRY_BYTES 7
#define STATE_MOST  256 /* of the value of one entry */
#define MEMBERS     32

/* Ids go with every call, whether anything is recorded or not, and through threads that were just
 * woken: eight digits are read and written as one word, since those of an id cannot be foreseen by
 * a processor, and no function of libc is called, which would have to be fetched first. */

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE(word) __builtin_bswap64(word)
#else
#define LITTLE(word) (word)
#endif

/* ---- reading ---- */

/* Eight bytes, the first of them lowest. */
static inline uint64_t load(const char *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
    return LITTLE(word);
}

static inline void store(char *to, uint64_t word)
{
    word = LITTLE(word);
    memcpy(to, &word, 8);
}

/* In each byte the highest bit, if it is at least `least`; all bytes are below 128. */
static inline uint64_t at_least(uint64_t word, unsigned char least)
{
    return (word + EACH(128U - least)) & EACH(0x80);
}

/* Eight hexadecimal digits in lower case; 0 if they are not. */
static inline int read_word(uint64_t word, uint64_t *out)
{
    uint64_t low = word & EACH(0x7f);
    uint64_t letters = at_least(low, 'a') & ~at_least(low, 'f' + 1);
    uint64_t sound = ((at_least(low, '0') & ~at_least(low, '9' + 1)) | letters) & ~word;
    word = (low & EACH(0x0f)) + (letters >> 7) * 9;
    word = (word << 4 | word >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word << 8 | word >> 16) & UINT64_C(0x0000ffff0000ffff);
    *out = (word << 16 | word >> 32) & UINT32_MAX;
    return sound == EACH(0x80);
}

/* Up to eight of them. */
static inline int read_short(const char *from, size_t digits, uint64_t *out)
{
    uint64_t word = EACH('0');
    for (size_t i = 0; i < digits; i++)
        word = word >> 8 | (uint64_t)(unsigned char)from[i] << 56;
    return read_word(word, out);
}

static PYTHIA__HOT __attribute__((noinline)) int read_id(const char *from, uint64_t *out)
{
    uint64_t high, low;
    int sound = read_word(load(from), &high) & read_word(load(from + 8), &low);
    *out = high << 32 | low;
    return sound;
}

PYTHIA__HOT int pythia_traceparent_read(const char *header, size_t bytes,
                                        struct pythia_context *out)
{
    uint64_t version, high, low, parent, flags;
    if (!header || bytes < PYTHIA_TRACEPARENT_BYTES || !read_short(header, 2, &version) ||
        version == 0xff || header[2] != '-' || !read_id(header + 3, &high) ||
        !read_id(header + 19, &low) || header[35] != '-' || !read_id(header + 36, &parent) ||
        header[52] != '-' || !read_short(header + 53, 2, &flags))
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

/* Bytes before the first `end`, or all. */
static inline size_t until(const char *from, size_t bytes, char end)
{
    size_t at = 0;
    while (at < bytes && from[at] != end)
        at++;
    return at;
}

/* A member of a list: *from goes behind it. Returns its bytes without blanks around. */
static inline size_t next_member(const char **from, size_t *left, const char **member)
{
    const char *begin = *from;
    size_t bytes = until(begin, *left, ','), all = bytes + (bytes < *left);
    *from += all;
    *left -= all;
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
            if (bytes - i < 3 || !read_short(from + i + 1, 2, &byte))
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
    if (bytes >= 1 && bytes <= 8 && read_short(field, bytes, &count))
        out->lamport = (uint32_t)count < UINT32_MAX ? (uint32_t)count + 1 : UINT32_MAX;
}

static void read_type(const char *field, size_t bytes, struct pythia_context *out)
{
    char name[STATE_MOST];
    if (until(field, bytes, '%') < bytes) {
        bytes = bytes <= sizeof(name) ? unescape(field, bytes, name) : 0;
        field = name;
    }
    if (bytes > 0 && bytes <= sizeof(name))
        pythia__type_take(&pythia__self, field, bytes, out);
}

/* The entry as it is written here, and nothing else, with a kind that the thread has met: almost
 * all of them. 0 if it is not that, and nothing is read. */
static inline int read_usual(const char *header, size_t bytes, struct pythia_context *out)
{
    const size_t before = ENTRY_BYTES + 2, between = 3, least = before + 1 + between + 1;
    uint64_t entry, count;
    memcpy(&entry, ENTRY "l", 8);
    if (bytes < least || load(header) != LITTLE(entry) || header[8] != ':')
        return 0;
    size_t lacking = bytes < before + 8 ? before + 8 - bytes : 0; /* of eight bytes from there on */
    uint64_t digits = load(header + before - lacking) >> 8 * lacking, other = digits ^ EACH(';');
    uint64_t ends = (other - EACH(1)) & ~other & EACH(0x80); /* the lowest bit is right */
    if (ends == 0 || (ends & 0x80))
        return 0;
    size_t at = (size_t)__builtin_ctzll(ends) / 8, left = 8 * (8 - at),
           name = before + at + between;
    if (name >= bytes || header[name - 2] != 't' || header[name - 1] != ':' ||
        !read_word(digits << left | EACH('0') >> (64 - left), &count) ||
        !pythia__type_take_plain(&pythia__self, header + name, bytes - name, out))
        return 0;
    out->lamport = (uint32_t)count + 1;
    return 1;
}

PYTHIA__HOT void pythia_tracestate_read(const char *header, size_t bytes,
                                        struct pythia_context *out)
{
    const char *member;
    if (header && read_usual(header, bytes, out))
        return;
    while (header && bytes > 0) {
        size_t size = next_member(&header, &bytes, &member);
        if (!is_ours(member, size))
            continue;
        member += ENTRY_BYTES;
        size -= ENTRY_BYTES;
        while (size > 2 && member[1] == ':') {
            size_t field = until(member, size, ';'), all = field + (field < size);
            if (*member == 'l')
                read_count(member + 2, field - 2, out);
            else if (*member == 't')
                read_type(member + 2, field - 2, out);
            member += all;
            size -= all;
        }
        return; /* only the first counts */
    }
}

/* ---- writing ---- */

/* The eight digits of a number, the first of them lowest. */
static inline uint64_t digits_of(uint32_t number)
{
    uint64_t word = number >> 16 | (uint64_t)(number & 0xffff) << 32;
    word = (word >> 8 & UINT64_C(0x000000ff000000ff)) | (word & UINT64_C(0x000000ff000000ff)) << 16;
    word = (word >> 4 & UINT64_C(0x000f000f000f000f)) | (word & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = at_least(word, 10) >> 7;
    return word + EACH('0') + letters * ('a' - '0' - 10);
}

/* `digits` of them, at most eight. What is behind is written to as well, eight bytes in all. */
static inline char *write_short(char *to, uint32_t number, unsigned digits)
{
    store(to, digits_of(number) >> 8 * (8 - digits));
    return to + digits;
}

static inline char *write_id(char *to, uint64_t id)
{
    store(to, digits_of((uint32_t)(id >> 32)));
    store(to + 8, digits_of((uint32_t)id));
    return to + 16;
}

PYTHIA__HOT size_t pythia_traceparent_write(char out[PYTHIA_TRACEPARENT_BYTES + 1])
{
    struct pythia_context c;
    pythia_context_get(&c);
    out[0] = '\0';
    if ((c.trace_high | c.trace_low) == 0)
        return 0;
    uint64_t parent = c.span ? c.span : c.trace_low;
    if (parent == 0)
        return 0; /* a trace of others, with half an id, and no span */
    char *to = write_short(out, 0, 2);
    *to++ = '-';
    to = write_id(to, c.trace_high);
    to = write_id(to, c.trace_low);
    *to++ = '-';
    to = write_id(to, parent);
    *to++ = '-';
    *to++ = '0';
    *to++ = c.flags & PYTHIA_CONTEXT_SAMPLED ? '1' : '0';
    *to = '\0';
    return PYTHIA_TRACEPARENT_BYTES;
}

/* ";t:<name>"; nothing if that would be too long. */
static size_t write_type(char *to, const struct pythia_context *c)
{
    size_t used = 3, most = STATE_MOST - 16, bytes = 0;
    const struct pythia__met *met = &pythia__self.met[c->place % PYTHIA__TYPES_MET];
    if (!c->type)
        return 0;
    to[0] = ';';
    to[1] = 't';
    to[2] = ':';
    if (__builtin_expect(met->type == c->type && met->plain, 1)) {
        memcpy(to + used, met->name, sizeof(met->name)); /* and what is behind */
        return used + met->bytes;
    }
    const char *name = pythia__type_name(&pythia__self, c, &bytes);
    if (bytes == 0)
        return 0;
    for (size_t i = 0; i < bytes; i++) {
        if (used + 3 > most)
            return 0;
        if (pythia__is_plain(name[i])) {
            to[used++] = name[i];
        } else {
            to[used++] = '%';
            write_short(to + used, (unsigned char)name[i], 2);
            used += 2;
        }
    }
    return used;
}

PYTHIA__HOT size_t pythia_tracestate_write(const char *received, size_t received_bytes,
                                           char out[PYTHIA_TRACESTATE_BYTES + 1])
{
    struct pythia_context c;
    pythia_context_get(&c);
    out[0] = '\0';
    if ((c.trace_high | c.trace_low) == 0)
        return 0;
    pythia__self.context.lamport += c.lamport < UINT32_MAX; /* sending is an event */
    uint32_t count = pythia__self.context.lamport;
    memcpy(out, ENTRY "l:", ENTRY_BYTES + 2);
    char *to =
        write_short(out + ENTRY_BYTES + 2, count, 8U - (unsigned)__builtin_clz(count | 1) / 4);
    to += write_type(to, &c);
    size_t bytes = (size_t)(to - out);
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
