/* SPDX-License-Identifier: MIT */
/* Rows of CSV. printf would take half a microsecond for each, and the decimal point of whatever
 * locale the program has set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector.h"

#define EXACT    9007199254740992.0 /* 2^53: integers below are doubles */
#define DECIMALS 15

char *pythia__row_unsigned(char *to, uint64_t number)
{
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
        "44454647484950515253545556575859606162636465666768697071727374757677787980818283848586"
        "87888990919293949596979899";
    char digits[20], *at = digits + sizeof(digits);
    for (; number >= 100; number /= 100) {
        at -= 2;
        memcpy(at, pairs + number % 100 * 2, 2);
    }
    if (number >= 10) {
        at -= 2;
        memcpy(at, pairs + number * 2, 2);
    } else {
        *--at = (char)('0' + number);
    }
    size_t size = (size_t)(digits + sizeof(digits) - at);
    memcpy(to, at, size);
    return to + size;
}

/* `number` of 10^-decimals. */
static char *put_decimal(char *to, uint64_t number, int decimals)
{
    char digits[24];
    size_t size = (size_t)(pythia__row_unsigned(digits, number) - digits),
           behind = (size_t)decimals;
    if (size > behind) {
        memcpy(to, digits, size - behind);
        to += size - behind;
    } else {
        *to++ = '0';
    }
    *to++ = '.';
    size_t zeros = size < behind ? behind - size : 0;
    memset(to, '0', zeros);
    memcpy(to + zeros, digits + size - (behind - zeros), behind - zeros);
    return to + behind;
}

char *pythia__row_seconds(char *to, uint64_t ns)
{
    return put_decimal(to, ns, 9);
}

/* By the C library, with a point whatever the locale has in its place. */
static char *put_digits(char *to, double value)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (const char *from = text; *from;) {
        size_t plain = strspn(from, "0123456789eE+-");
        memcpy(to, from, plain);
        to += plain;
        from += plain;
        if (*from)
            *to++ = '.';
        from += strcspn(from, "0123456789eE+-");
    }
    return to;
}

static char *put_word(char *to, const char *word)
{
    while (*word)
        *to++ = *word++;
    return to;
}

char *pythia__row_real(char *to, double value)
{
    static const double powers[DECIMALS + 1] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (isnan(value))
        return put_word(to, "nan");
    if (value < 0) {
        *to++ = '-';
        value = -value;
    }
    if (isinf(value))
        return put_word(to, "inf");
    /* n / 10^d is rounded once if both are exact, as a reader rounds the text: Clinger, "How to
     * Read Floating Point Numbers Accurately", PLDI 1990. */
    for (int d = 0; d <= DECIMALS && value * powers[d] < EXACT - 1; d++) {
        uint64_t number = (uint64_t)(value * powers[d] + .5);
        if ((double)number / powers[d] == value)
            return d ? put_decimal(to, number, d) : pythia__row_unsigned(to, number);
    }
    return put_digits(to, value);
}

size_t pythia__row_label(char *to, const char *name, size_t bytes)
{
    char *begin = to;
    int quoted = bytes == 0;
    for (size_t i = 0; i < bytes; i++)
        quoted |=
            strchr(",\"\r\n", name[i]) != NULL || ((i == 0 || i == bytes - 1) && name[i] == ' ');
    *to++ = ',';
    if (quoted)
        *to++ = '"';
    for (size_t i = 0; i < bytes; i++) {
        if (name[i] == '"')
            *to++ = '"';
        *to++ = name[i];
    }
    if (quoted)
        *to++ = '"';
    *to++ = ',';
    return (size_t)(to - begin);
}
