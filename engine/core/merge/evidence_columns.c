#include "evidence_columns.h"

#include "pythia/protobuf.h"

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

void pythia__column_put(struct pythia_buf *to, const int64_t *numbers, size_t count)
{
    int64_t lowest = numbers[0];
    for (size_t i = 1; i < count; i++)
        lowest = numbers[i] < lowest ? numbers[i] : lowest;
    uint64_t unit = find_unit(numbers, count, lowest);
    pythia__column_put_varint(to, pythia__zigzag(lowest));
    pythia__column_put_varint(to, unit);
    for (size_t i = 0; unit > 0 && i < count; i++)
        pythia__column_put_varint(to, ((uint64_t)numbers[i] - (uint64_t)lowest) / unit);
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

bool pythia__column_read(struct pythia_text column, int64_t *numbers, size_t count, size_t stride)
{
    uint64_t lowest, unit, steps = 0;
    if (!pythia__column_varint(&column, &lowest) || !pythia__column_varint(&column, &unit))
        return false;
    const uint64_t base = (uint64_t)pythia__unzigzag(lowest);
    const char *at = column.bytes, *end = at + column.size;
    for (size_t i = 0; i < count; i++) {
        if (unit > 0) {
            struct pythia_protobuf_varint varint = pythia_protobuf_varint(at, end);
            if (!varint.behind)
                return false;
            steps = varint.value;
            at = varint.behind;
        }
        numbers[i * stride] = (int64_t)(base + steps * unit);
    }
    return at == end;
}
