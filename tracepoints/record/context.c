/* SPDX-License-Identifier: MIT */
/* W3C trace context, level 1 (Kanzhelev and others, W3C Recommendation, 23 November 2021), and the
 * binary form of it (W3C, github.com/w3c/trace-context-binary, a draft, archived in 2025).
 *
 *     traceparent  00-<32 digits: trace id>-<16 digits: parent id>-<2 digits: flags>
 *     tracestate   pythia=l:2a;t:checkout,<entries of others>
 *
 * l is the Lamport count, in hexadecimal; t the kind of request, where a byte that is not a letter,
 * a digit or one of - . _ / is %XX.
 *
 *     binary       0  version (0)   1  0   2  trace id   18  1   19  parent id   27  2   28  flags
 *                 29  'P'  30  bytes of the kind's name  31  Lamport count (4)  35  the name
 *
 * Numbers stand with their highest byte first. A reader takes other versions for this one, as the
 * draft has it, as long as these fields are where they are.
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
#define LETTERS    ('a' - '0' - 10)

/* Trace id and parent's of a traceparent, by words of eight digits, and where each of them is. */
#define ID_WORDS    6
#define PLACE_OF(i) (3 + 8 * (i) + ((i) >= 4))

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE(word) __builtin_bswap64(word)
#else
#define LITTLE(word) (word)
#endif

/* ---- reading ---- */

/* Eight bytes, the first of them lowest. */
static inline uint64_t load_word(const char *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
    return LITTLE(word);
}

static inline void store_word(char *to, uint64_t word)
{
    word = LITTLE(word);
    memcpy(to, &word, 8);
}

/* In each byte the highest bit, if it is at least `least`; all bytes are below 128. */
static inline uint64_t at_least(uint64_t word, unsigned char least)
{
    return (word + EACH(128U - least)) & EACH(0x80);
}

/* Eight hexadecimal digits in lower case, the first of them lowest; *wrong is set, and never
 * cleared, if they are not: then others would be written for that number. */
static inline uint32_t parse_hex_word(uint64_t word, uint64_t *wrong)
{
    uint64_t nibbles = (word & EACH(0x0f)) + (word >> 6 & EACH(1)) * 9;
    uint64_t letters = at_least(nibbles, 10) >> 7;
    *wrong |= (nibbles & EACH(0xf0)) | (word ^ (nibbles + EACH('0') + letters * LETTERS));
    nibbles = (nibbles << 4 | nibbles >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    nibbles = (nibbles << 8 | nibbles >> 16) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(nibbles << 16 | nibbles >> 32);
}

/* Up to eight of them; 0 if they are not. */
static int read_short(const char *from, size_t digits, uint32_t *out)
{
    uint64_t word = EACH('0'), wrong = 0;
    for (size_t i = 0; i < digits; i++)
        word = word >> 8 | (uint64_t)(unsigned char)from[i] << 56;
    *out = parse_hex_word(word, &wrong);
    return wrong == 0;
}

/* One of another version, with flags that may be any, is as good. */
static PYTHIA__COLD int read_rest(const char *header, size_t bytes, uint32_t *flags)
{
    uint32_t version;
    if (!read_short(header, 2, &version) || version == 0xff || !read_short(header + 53, 2, flags))
        return 0;
    return bytes == PYTHIA_TRACEPARENT_BYTES ||
           (version != 0 && header[PYTHIA_TRACEPARENT_BYTES] == '-');
}

/* Headers are read for each request of a program: what nearly all look like is tested first, and
 * the digits are converted without branches. */
PYTHIA__HOT_HEADER int pythia_traceparent_read(const char *header, size_t bytes,
                                               struct pythia_context *out)
{
    uint32_t words[ID_WORDS], flags;
    uint64_t wrong = 0;
    if (!header || bytes < PYTHIA_TRACEPARENT_BYTES)
        return -EINVAL;
    flags = header[54] == '1';
    int usual = header[0] == '0' && header[1] == '0' && header[53] == '0' &&
                (flags || header[54] == '0') && bytes == PYTHIA_TRACEPARENT_BYTES;
    if (__builtin_expect(!usual, 0) && !read_rest(header, bytes, &flags))
        return -EINVAL;
    if (header[2] != '-' || header[35] != '-' || header[52] != '-')
        return -EINVAL;
    for (unsigned i = 0; i < ID_WORDS; i++)
        words[i] = parse_hex_word(load_word(header + PLACE_OF(i)), &wrong);
    uint64_t high = words[0], low = words[2], parent = words[4];
    high = high << 32 | words[1];
    low = low << 32 | words[3];
    parent = parent << 32 | words[5];
    if (wrong || (high | low) == 0 || parent == 0)
        return -EINVAL;
    *out = (struct pythia_context){
        .trace_high = high,
        .trace_low = low,
        .span = parent == low ? 0 : parent,
        .version = PYTHIA_TRACEPOINTS_VERSION,
        .flags = (uint8_t)(PYTHIA_CONTEXT_REQUEST | PYTHIA_CONTEXT_REMOTE |
                           (flags & 1 ? PYTHIA_CONTEXT_SAMPLED : 0)),
    };
    return 0;
}

/* Bytes before the first `end`, or all. */
static inline size_t find_end(const char *from, size_t bytes, char end)
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
    size_t bytes = find_end(begin, *left, ','), all = bytes + (bytes < *left);
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
static size_t unescape_name(const char *from, size_t bytes, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < bytes; i++, used++) {
        uint32_t byte = (unsigned char)from[i];
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
    uint32_t count;
    if (bytes >= 1 && bytes <= 8 && read_short(field, bytes, &count))
        out->lamport = count < UINT32_MAX ? count + 1 : UINT32_MAX;
}

static void parse_type_field(const char *field, size_t bytes, struct pythia_context *out)
{
    char name[STATE_MOST];
    if (find_end(field, bytes, '%') < bytes) {
        bytes = bytes <= sizeof(name) ? unescape_name(field, bytes, name) : 0;
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
    uint64_t entry, wrong = 0;
    memcpy(&entry, ENTRY "l", 8);
    if (bytes < least || load_word(header) != LITTLE(entry) || header[8] != ':')
        return 0;
    size_t lacking = bytes < before + 8 ? before + 8 - bytes : 0; /* of eight bytes from there on */
    uint64_t digits = load_word(header + before - lacking) >> 8 * lacking,
             other = digits ^ EACH(';');
    uint64_t ends = (other - EACH(1)) & ~other & EACH(0x80); /* the lowest bit is right */
    if (ends == 0 || (ends & 0x80))
        return 0;
    size_t at = (size_t)__builtin_ctzll(ends) / 8, left = 8 * (8 - at),
           name = before + at + between;
    uint32_t count = parse_hex_word(digits << left | EACH('0') >> (64 - left), &wrong);
    if (wrong || name >= bytes || header[name - 2] != 't' || header[name - 1] != ':')
        return 0;
    size_t named = bytes - name, short_by = named < 8 ? 8 - named : 0;
    uint64_t last = load_word(header + bytes - 8) >> 8 * short_by;
    const struct pythia__type *type = pythia__type_met(header + name, named, last);
    if (!type || !type->plain)
        return 0;
    pythia__type_give(type, out);
    out->lamport = count + 1;
    return 1;
}

static PYTHIA__COLD void read_any(const char *header, size_t bytes, struct pythia_context *out)
{
    const char *member;
    while (bytes > 0) {
        size_t size = next_member(&header, &bytes, &member);
        if (!is_ours(member, size))
            continue;
        member += ENTRY_BYTES;
        size -= ENTRY_BYTES;
        while (size > 2 && member[1] == ':') {
            size_t field = find_end(member, size, ';'), all = field + (field < size);
            if (*member == 'l')
                read_count(member + 2, field - 2, out);
            else if (*member == 't')
                parse_type_field(member + 2, field - 2, out);
            member += all;
            size -= all;
        }
        return; /* only the first counts */
    }
}

PYTHIA__HOT_HEADER void pythia_tracestate_read(const char *header, size_t bytes,
                                               struct pythia_context *out)
{
    if (header && !read_usual(header, bytes, out))
        read_any(header, bytes, out);
}

/* ---- writing ---- */

/* The eight digits of a number, the first of them lowest. */
static inline uint64_t digits_of(uint32_t number)
{
    uint64_t word = number >> 16 | (uint64_t)(number & 0xffff) << 32;
    word = (word >> 8 & UINT64_C(0x000000ff000000ff)) | (word & UINT64_C(0x000000ff000000ff)) << 16;
    word = (word >> 4 & UINT64_C(0x000f000f000f000f)) | (word & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = at_least(word, 10) >> 7;
    return word + EACH('0') + letters * LETTERS;
}

/* `digits` of them, at most eight. What is behind is written to as well, eight bytes in all. */
static inline char *write_short(char *to, uint32_t number, unsigned digits)
{
    store_word(to, digits_of(number) >> 8 * (8 - digits));
    return to + digits;
}

/* The context of this thread; a request gets a trace id if it has none. */
static inline const struct pythia_context *context_here(void)
{
    const struct pythia_context *c = &pythia__self.context;
    if (__builtin_expect((c->trace_high | c->trace_low) == 0, 0))
        pythia_context_get(&(struct pythia_context){0});
    return c;
}

PYTHIA__HOT_HEADER size_t pythia_traceparent_write(char out[PYTHIA_TRACEPARENT_BYTES + 1])
{
    const struct pythia_context *c = context_here();
    uint64_t low = c->trace_low, high = c->trace_high, parent = c->span ? c->span : low;
    out[0] = '\0';
    if ((high | low) == 0 || parent == 0)
        return 0; /* there is none, or one of others, with half an id, and no span */
    const uint64_t ids[ID_WORDS / 2] = {high, low, parent};
    out[0] = out[1] = out[53] = '0';
    out[2] = out[35] = out[52] = '-';
    for (unsigned i = 0; i < ID_WORDS; i++)
        store_word(out + PLACE_OF(i), digits_of((uint32_t)(ids[i / 2] >> 32 * (1 - i % 2))));
    out[54] = c->flags & PYTHIA_CONTEXT_SAMPLED ? '1' : '0';
    out[55] = '\0';
    return PYTHIA_TRACEPARENT_BYTES;
}

/* The name of a kind as %XX where it has to be, or nothing if that would be too long: what is
 * written there is ";t:" and the name. */
static PYTHIA__COLD size_t write_escaped(char *to, const struct pythia_context *c)
{
    const struct pythia__type *type = c->type;
    size_t used = 3, most = STATE_MOST - 16;
    if (type->bytes == 0)
        return 0;
    for (size_t i = 0; i < type->bytes; i++) {
        if (used + 3 > most)
            return 0;
        if (pythia__is_plain(type->name[i])) {
            to[used++] = type->name[i];
        } else {
            to[used++] = '%';
            write_short(to + used, (unsigned char)type->name[i], 2);
            used += 2;
        }
    }
    return used;
}

/* ";t:<name>"; nothing if that would be too long. */
static inline size_t write_type_field(char *to, const struct pythia_context *c)
{
    const struct pythia__type *type = c->type;
    if (!type)
        return 0;
    to[0] = ';';
    to[1] = 't';
    to[2] = ':';
    if (__builtin_expect(!type->plain, 0))
        return write_escaped(to, c);
    memcpy(to + 3, type->room, sizeof(type->room)); /* and what is behind */
    return 3 + (size_t)type->bytes;
}

/* The entries of others go along. Returns the bytes of all. */
static PYTHIA__COLD size_t write_others(const char *received, size_t received_bytes, char *out,
                                        size_t bytes)
{
    const char *member;
    for (int members = 1; received_bytes > 0 && members < MEMBERS;) {
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
    return bytes;
}

PYTHIA__HOT_HEADER size_t pythia_tracestate_write(const char *received, size_t received_bytes,
                                                  char out[PYTHIA_TRACESTATE_BYTES + 1])
{
    const struct pythia_context *c = context_here();
    out[0] = '\0';
    if ((c->trace_high | c->trace_low) == 0)
        return 0;
    uint32_t count = c->lamport + (c->lamport < UINT32_MAX); /* sending is an event */
    pythia__self.context.lamport = count;
    memcpy(out, ENTRY "l:", ENTRY_BYTES + 2);
    char *to =
        write_short(out + ENTRY_BYTES + 2, count, 8U - (unsigned)__builtin_clz(count | 1) / 4);
    to += write_type_field(to, c);
    size_t bytes = (size_t)(to - out);
    if (received)
        bytes = write_others(received, received_bytes, out, bytes);
    out[bytes] = '\0';
    return bytes;
}

/* ---- the binary form ---- */

#define PARENT_PACKED 29 /* bytes of a traceparent */
#define OURS          'P'
#define OURS_PACKED   6 /* before the name */

/* Eight bytes, the first of them highest. */
static inline uint64_t load_big(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
    return __builtin_bswap64(LITTLE(word));
}

static inline void store_big(unsigned char *to, uint64_t word)
{
    word = LITTLE(__builtin_bswap64(word));
    memcpy(to, &word, 8);
}

/* Parse the rest after a traceparent, if it is ours and complete. */
static inline void unpack_ours(const unsigned char *from, size_t bytes, struct pythia_context *out)
{
    if (bytes < OURS_PACKED || from[0] != OURS || bytes - OURS_PACKED < from[1])
        return;
    size_t named = from[1], short_by = named < 8 ? 8 - named : 0;
    uint32_t count = (uint32_t)(load_big(from - 2) & UINT32_MAX);
    const char *name = (const char *)from + OURS_PACKED;
    out->lamport = count + (count < UINT32_MAX);
    if (named == 0)
        return;
    const struct pythia__type *type =
        pythia__type_met(name, named, load_word(name + named - 8) >> 8 * short_by);
    if (__builtin_expect(type != NULL, 1))
        pythia__type_give(type, out);
    else
        pythia__type_take(&pythia__self, name, named, out);
}

PYTHIA__HOT_CLOSED int pythia_context_unpack(const void *packed, size_t bytes,
                                             struct pythia_context *out)
{
    const unsigned char *from = packed;
    if (!from || bytes < PARENT_PACKED || from[1] != 0 || from[18] != 1 || from[27] != 2)
        return -EINVAL;
    uint64_t high = load_big(from + 2), low = load_big(from + 10), parent = load_big(from + 19);
    if ((high | low) == 0 || parent == 0)
        return -EINVAL;
    *out = (struct pythia_context){
        .trace_high = high,
        .trace_low = low,
        .span = parent == low ? 0 : parent,
        .version = PYTHIA_TRACEPOINTS_VERSION,
        .flags = (uint8_t)(PYTHIA_CONTEXT_REQUEST | PYTHIA_CONTEXT_REMOTE |
                           (from[28] & 1 ? PYTHIA_CONTEXT_SAMPLED : 0)),
    };
    unpack_ours(from + PARENT_PACKED, bytes - PARENT_PACKED, out);
    return 0;
}

PYTHIA__HOT_CLOSED size_t pythia_context_pack(unsigned char out[PYTHIA_CONTEXT_BYTES])
{
    const struct pythia_context *c = context_here();
    uint64_t low = c->trace_low, high = c->trace_high, parent = c->span ? c->span : low;
    if ((high | low) == 0 || parent == 0)
        return 0;
    uint32_t count = c->lamport + (c->lamport < UINT32_MAX); /* sending is an event */
    const struct pythia__type *type = c->type;
    uint64_t named = type ? type->bytes : 0;
    pythia__self.context.lamport = count;
    out[0] = out[1] = 0;
    store_big(out + 2, high);
    store_big(out + 10, low);
    out[18] = 1;
    store_big(out + 19, parent);
    /* 2, the flags, what says that it is ours, bytes of the name, and the count */
    uint64_t flags = c->flags & PYTHIA_CONTEXT_SAMPLED;
    store_big(out + 27,
              UINT64_C(2) << 56 | flags << 48 | (uint64_t)OURS << 40 | named << 32 | count);
    for (uint64_t i = 0; i < named; i += 8)
        memcpy(out + PARENT_PACKED + OURS_PACKED + i, type->name + i, 8);
    return PARENT_PACKED + OURS_PACKED + named;
}
