#include "evidence_columns.h"

#include <string.h>

#include "pythia/protobuf.h"

/* Zeros that say that a step follows in 64 bits. Steps are rarely so far from the others. */
#define ESCAPE 24

struct bit_writer {
    unsigned char *at;
    uint64_t bits;
    unsigned count; /* of bits, fewer than 8 between two calls */
};

/* Write the lowest `count` <= 64 bits of a number that has no higher ones. */
static void put_bits(struct bit_writer *w, uint64_t number, unsigned count)
{
    uint64_t rest = w->count > 0 ? number >> (64 - w->count) : 0;
    w->bits |= number << w->count;
    for (w->count += count; w->count >= 8; w->count -= 8) {
        *w->at++ = (unsigned char)w->bits;
        w->bits = w->bits >> 8 | rest << 56;
        rest >>= 8;
    }
}

static unsigned count_bits(uint64_t number)
{
    return number > 0 ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

void pythia__column_put_varint(struct pythia_buf *to, uint64_t number)
{
    char bytes[PYTHIA_PROTOBUF_VARINT_MAX], *at = bytes;
    for (; number >= 0x80; number >>= 7)
        *at++ = (char)(number | 0x80);
    *at++ = (char)number;
    pythia_buf_add(to, bytes, (size_t)(at - bytes));
}

/* Differences are taken modulo 2^64: they are right for any two numbers. */
static uint64_t find_unit(const int64_t *numbers, size_t count, int64_t lowest)
{
    uint64_t unit = 0;
    for (size_t i = 0; i < count && unit != 1; i++)
        for (uint64_t rest = (uint64_t)numbers[i] - (uint64_t)lowest; rest;) {
            uint64_t next = unit % rest;
            unit = rest;
            rest = next;
        }
    return unit;
}

/* How many bits a step takes in Rice's code with `width` low bits. */
static uint64_t size_step(uint64_t step, unsigned width)
{
    uint64_t quotient = step >> width;
    return quotient < ESCAPE ? quotient + 1 + width : ESCAPE + 64;
}

/* The form that takes the fewest bits, and those. Rice's is best near the logarithm of the mean. */
static unsigned choose_form(const uint64_t *steps, size_t count, uint64_t *bits)
{
    uint64_t all = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        all |= steps[i];
        sum += (double)steps[i];
    }
    unsigned form = 2 * count_bits(all);
    *bits = (uint64_t)count * (form / 2);
    double mean = sum / (double)count;
    unsigned most = count_bits(mean < 0x1p56 ? (uint64_t)mean : (uint64_t)1 << 56);
    for (unsigned width = most > 2 ? most - 2 : 0; width <= most; width++) {
        uint64_t size = 0;
        for (size_t i = 0; i < count; i++)
            size += size_step(steps[i], width);
        if (size < *bits) {
            *bits = size;
            form = 2 * width + 1;
        }
    }
    return form;
}

static void put_step(struct bit_writer *w, uint64_t step, unsigned form)
{
    unsigned width = form / 2;
    if (form % 2 == 0) {
        put_bits(w, step, width);
    } else if (step >> width < ESCAPE) {
        put_bits(w, (uint64_t)1 << (step >> width), (unsigned)(step >> width) + 1);
        put_bits(w, step & (((uint64_t)1 << width) - 1), width);
    } else {
        put_bits(w, 0, ESCAPE);
        put_bits(w, step, 64);
    }
}

void pythia__column_put(struct pythia_buf *to, int64_t *numbers, size_t count)
{
    int64_t lowest = numbers[0];
    for (size_t i = 1; i < count; i++)
        lowest = numbers[i] < lowest ? numbers[i] : lowest;
    uint64_t unit = find_unit(numbers, count, lowest), *steps = (uint64_t *)numbers;
    pythia__column_put_varint(to, pythia__zigzag(lowest));
    pythia__column_put_varint(to, unit);
    if (unit == 0)
        return;
    for (size_t i = 0; i < count; i++)
        steps[i] = (steps[i] - (uint64_t)lowest) / unit;
    uint64_t bits;
    unsigned form = choose_form(steps, count, &bits);
    pythia__column_put_varint(to, form);
    size_t size = (size_t)((bits + 7) / 8);
    char *space = pythia_buf_reserve(to, size);
    if (!space)
        return;
    struct bit_writer w = {.at = (unsigned char *)space};
    for (size_t i = 0; i < count; i++)
        put_step(&w, steps[i], form);
    put_bits(&w, 0, w.count > 0 ? 8 - w.count : 0);
    to->size += size;
}

bool pythia__column_varint(struct pythia_text *from, uint64_t *number)
{
    const char *end = from->bytes + from->size;
    struct pythia_protobuf_varint varint = pythia_protobuf_varint(from->bytes, end);
    if (!varint.behind)
        return false;
    *number = varint.value;
    *from = (struct pythia_text){varint.behind, (size_t)(end - varint.behind)};
    return true;
}

/* Bits that are read: those behind the end are zeros. */
struct bit_reader {
    const unsigned char *bytes;
    size_t size;
    uint64_t at; /* the next bit */
};

/* Eight bytes, the low one first: one load, as compilers see. */
static uint64_t load_word(const unsigned char *b)
{
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

static uint64_t load_last(const struct bit_reader *r, size_t at)
{
    unsigned char bytes[8] = {0};
    if (at < r->size)
        memcpy(bytes, r->bytes + at, r->size - at);
    return load_word(bytes);
}

/* The next bits, at least 57 of them. */
static inline uint64_t peek_bits(const struct bit_reader *r)
{
    size_t at = (size_t)(r->at / 8);
    uint64_t bits = at + 8 <= r->size ? load_word(r->bytes + at) : load_last(r, at);
    return bits >> (r->at % 8);
}

/* Take `count` <= 64 bits. */
static inline uint64_t take_bits(struct bit_reader *r, unsigned count)
{
    unsigned first = count <= 56 ? count : 32;
    uint64_t bits = peek_bits(r) & (((uint64_t)1 << first) - 1);
    r->at += first;
    if (first < count) {
        bits |= (peek_bits(r) & (UINT64_MAX >> (64 - (count - first)))) << first;
        r->at += count - first;
    }
    return bits;
}

/* A step in Rice's code; false if no number is so large. */
static bool take_step(struct bit_reader *r, unsigned width, uint64_t *step)
{
    uint64_t bits = peek_bits(r) & (((uint64_t)1 << ESCAPE) - 1);
    if (bits == 0) {
        r->at += ESCAPE;
        *step = take_bits(r, 64);
        return true;
    }
    uint64_t quotient = (uint64_t)__builtin_ctzll(bits);
    r->at += quotient + 1;
    *step = quotient << width | take_bits(r, width);
    return quotient <= UINT64_MAX >> width;
}

bool pythia__column_read(struct pythia_text column, int64_t *numbers, size_t count, size_t stride)
{
    uint64_t lowest, unit, form = 0, step = 0;
    if (!pythia__column_varint(&column, &lowest) || !pythia__column_varint(&column, &unit) ||
        (unit > 0 && !pythia__column_varint(&column, &form)) || form > UINT64_C(2) * 64)
        return false;
    const uint64_t base = (uint64_t)pythia__unzigzag(lowest);
    const unsigned width = (unsigned)form / 2;
    struct bit_reader r = {.bytes = (const unsigned char *)column.bytes, .size = column.size};
    for (size_t i = 0; i < count; i++) {
        if (form % 2 == 0)
            step = take_bits(&r, width);
        else if (!take_step(&r, width, &step))
            return false;
        numbers[i * stride] = (int64_t)(base + step * unit);
    }
    return (r.at + 7) / 8 == r.size;
}
