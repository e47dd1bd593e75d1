/* Protobuf as it is written in tests: each field is its number and its value.
 *
 *     1{…}     a message, of fields      2=-7   a varint         !9 behind a number: 8 bytes of it
 *     5'text'  text                      ~9     4 bytes of it    :0.5  a double
 *     1#ab12   bytes, in hexadecimal     <ff0a> bytes as they are, wherever they stand
 *
 * Blanks and newlines say nothing. An encoder by itself: it shares nothing with the writer and the
 * readers that are tested with it. */
#ifndef PROTOBUF_TEXT_H
#define PROTOBUF_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/status.h"

static inline void assemble_varint(struct pythia_buf *to, uint64_t number)
{
    while (number > 127) {
        pythia_buf_putc(to, (char)(128 + number % 128));
        number /= 128;
    }
    pythia_buf_putc(to, (char)number);
}

static inline void assemble_fixed(struct pythia_buf *to, uint64_t number, int size)
{
    for (; size > 0; size--, number /= 256)
        pythia_buf_putc(to, (char)(number % 256));
}

static inline const char *assemble_hex(struct pythia_buf *to, const char *text)
{
    while (strspn(text, "0123456789abcdef") >= 2) {
        char pair[3] = {text[0], text[1], '\0'};
        pythia_buf_putc(to, (char)strtoul(pair, NULL, 16));
        text += 2;
    }
    return text;
}

static inline const char *assemble_fields(struct pythia_buf *to, const char *text);

/* The value of field `number` behind it. */
static inline const char *assemble_value(struct pythia_buf *to, uint64_t number, const char *text)
{
    struct pythia_buf inner = {0};
    char *end = NULL;
    double real;
    uint64_t bits;
    switch (*text) {
    case '=':
        assemble_varint(to, number * 8);
        assemble_varint(to, text[1] == '-' ? (uint64_t)strtoll(text + 1, &end, 10)
                                           : strtoull(text + 1, &end, 10));
        return end;
    case '!':
        assemble_varint(to, number * 8 + 1);
        assemble_fixed(to, strtoull(text + 1, &end, 10), 8);
        return end;
    case ':':
        real = strtod(text + 1, &end);
        memcpy(&bits, &real, sizeof(bits));
        assemble_varint(to, number * 8 + 1);
        assemble_fixed(to, bits, 8);
        return end;
    case '~':
        assemble_varint(to, number * 8 + 5);
        assemble_fixed(to, strtoull(text + 1, &end, 10), 4);
        return end;
    case '\'':
        end = strchr(text + 1, '\'');
        pythia_buf_add(&inner, text + 1, (size_t)(end - text) - 1);
        text = end + 1;
        break;
    case '#':
        text = assemble_hex(&inner, text + 1);
        break;
    case '{':
        text = assemble_fields(&inner, text + 1) + 1;
        break;
    default:
        fail_msg("no value: %s", text);
    }
    assemble_varint(to, number * 8 + 2);
    assemble_varint(to, inner.size);
    pythia_buf_text_add(to, pythia_buf_text(&inner));
    pythia_buf_free(&inner);
    return text;
}

/* Up to the end of the text, or the brace that ends a message. */
static inline const char *assemble_fields(struct pythia_buf *to, const char *text)
{
    for (;;) {
        text += strspn(text, " \n");
        if (*text == '\0' || *text == '}')
            return text;
        if (*text == '<') {
            text = assemble_hex(to, text + 1);
            assert_int_equal(*text++, '>');
            continue;
        }
        char *end;
        uint64_t number = strtoull(text, &end, 10);
        assert_ptr_not_equal(text, end);
        text = assemble_value(to, number, end);
    }
}

/* Freed by the caller. */
static inline struct pythia_buf protobuf_of(const char *text)
{
    struct pythia_buf message = {0};
    assert_int_equal(*assemble_fields(&message, text), '\0');
    assert_int_equal(pythia_buf_status(&message), PYTHIA_OK);
    return message;
}

#endif
