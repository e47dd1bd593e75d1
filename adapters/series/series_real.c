#include "series_real.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXACT UINT64_C(9007199254740992) /* 2^53 */

/* Digits and a point, of up to 2^53 and 22 decimals: one division of exact numbers, rounded once
 * (Clinger, "How to Read Floating Point Numbers Accurately", PLDI 1990). */
static bool parse_short_real(struct pythia_text t, double *out)
{
    static const double powers[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t number = 0;
    size_t i = 0, digits = 0, decimals = 0;
    bool minus = t.size && t.bytes[0] == '-', point = false;
    for (i = minus; i < t.size; i++) {
        unsigned digit = (unsigned)(unsigned char)t.bytes[i] - '0';
        if (t.bytes[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9 || number > (EXACT - 9) / 10 || decimals == 22)
            return false;
        number = number * 10 + digit;
        digits++;
        decimals += point;
    }
    *out = (minus ? -1 : 1) * ((double)number / powers[decimals]);
    return digits > 0;
}

const char *pythia__series_real(struct pythia_text t, double *out)
{
    char text[64], *end;
    if (parse_short_real(t, out))
        return NULL;
    if (t.size == 0 || t.size >= sizeof(text) || t.bytes[0] == ' ')
        return "the measurement is not a number";
    memcpy(text, t.bytes, t.size);
    text[t.size] = '\0';
    *out = strtod(text, &end);
    if (end != text + t.size || strpbrk(text, "xXpP"))
        return "the measurement is not a number";
    return isfinite(*out) ? NULL : "the measurement is not finite";
}
