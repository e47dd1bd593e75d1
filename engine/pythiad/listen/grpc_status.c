#include "grpc_status.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void pythia__grpc_escape(const char *text, char *to, size_t room)
{
    size_t at = 0;
    for (; *text && at + 4 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c > 0x7e || c == '%')
            at += (size_t)snprintf(to + at, room - at, "%%%02X", c);
        else
            to[at++] = (char)c;
    }
    to[at] = '\0';
}

static size_t write_varint(unsigned char *to, uint64_t value)
{
    size_t size = 0;
    for (; value > 127; value >>= 7)
        to[size++] = (unsigned char)(value | 128);
    to[size++] = (unsigned char)value;
    return size;
}

static size_t write_field_bytes(unsigned char *to, unsigned field, const void *bytes, size_t size)
{
    size_t at = write_varint(to, field << 3 | 2);
    at += write_varint(to + at, size);
    memcpy(to + at, bytes, size);
    return at + size;
}

static void write_base64(const unsigned char *bytes, size_t size, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned second = i + 1 < size ? bytes[i + 1] : 0, third = i + 2 < size ? bytes[i + 2] : 0;
        unsigned group = (unsigned)bytes[i] << 16 | second << 8 | third;
        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        if (i + 1 < size)
            *to++ = digits[group >> 6 & 63];
        if (i + 2 < size)
            *to++ = digits[group & 63];
    }
    *to = '\0';
}

void pythia__grpc_retry(char to[static PYTHIA__GRPC_DETAILS], enum pythia__grpc_status code,
                        unsigned retry_ms)
{
    static const char type[] = "type.googleapis.com/google.rpc.RetryInfo";
    unsigned char delay[32], info[48], any[112], status[160];
    size_t size = write_varint(delay, 1 << 3);
    size += write_varint(delay + size, retry_ms / 1000);
    size += write_varint(delay + size, 2 << 3);
    size += write_varint(delay + size, retry_ms % 1000 * UINT64_C(1000000));
    size = write_field_bytes(info, 1, delay, size);
    size_t any_size = write_field_bytes(any, 1, type, sizeof(type) - 1);
    any_size += write_field_bytes(any + any_size, 2, info, size);
    size = write_varint(status, 1 << 3);
    size += write_varint(status + size, (uint64_t)code);
    size += write_field_bytes(status + size, 3, any, any_size);
    write_base64(status, size, to);
}
