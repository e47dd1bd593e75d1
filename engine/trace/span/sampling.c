#include "pythia/sampling.h"

#include <math.h>
#include <stdlib.h>

#define DIGITS 14 /* hexadecimal ones, of the 56 random bits of a trace id */

static enum pythia_sampling check_probability(double p, double *probability)
{
    if (!(p * PYTHIA_SAMPLING_WEIGHT_MAX >= 1 && p <= 1)) /* NaN is none either */
        return PYTHIA_SAMPLING_INVALID;
    *probability = p;
    return PYTHIA_SAMPLING_STATED;
}

/* Cut what stands before the first `separator` from the front of *rest, without blanks around it.
 * False when nothing is left. */
static bool cut_part(struct pythia_text *rest, char separator, struct pythia_text *part)
{
    if (!rest->bytes || rest->size == 0)
        return false;
    const char *end = memchr(rest->bytes, separator, rest->size);
    *part = (struct pythia_text){rest->bytes, end ? (size_t)(end - rest->bytes) : rest->size};
    size_t used = end ? part->size + 1 : part->size;
    *rest = (struct pythia_text){rest->bytes + used, rest->size - used};
    while (part->size > 0 && (part->bytes[0] == ' ' || part->bytes[0] == '\t'))
        *part = (struct pythia_text){part->bytes + 1, part->size - 1};
    while (part->size > 0 &&
           (part->bytes[part->size - 1] == ' ' || part->bytes[part->size - 1] == '\t'))
        part->size--;
    return true;
}

/* Find the part of *list that begins with `prefix`; what follows the prefix is put in *out. */
static bool find_list_member(struct pythia_text list, char separator, struct pythia_text prefix,
                             struct pythia_text *out)
{
    struct pythia_text part;
    while (cut_part(&list, separator, &part))
        if (pythia_text_starts(part, prefix)) {
            *out = (struct pythia_text){part.bytes + prefix.size, part.size - prefix.size};
            return true;
        }
    return false;
}

/* The standard has small letters only. */
static int read_lower_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum pythia_sampling pythia_sampling_of_tracestate(struct pythia_text tracestate,
                                                   double *probability)
{
    struct pythia_text fields, threshold;
    uint64_t t = 0;
    if (!find_list_member(tracestate, ',', PYTHIA_TEXT("ot="), &fields) ||
        !find_list_member(fields, ';', PYTHIA_TEXT("th:"), &threshold))
        return PYTHIA_SAMPLING_ABSENT;
    if (threshold.size == 0 || threshold.size > DIGITS)
        return PYTHIA_SAMPLING_INVALID;
    for (size_t i = 0; i < DIGITS; i++) {
        /* Trailing zeros may be left out (OpenTelemetry, tracestate: probability sampling). */
        int digit = i < threshold.size ? read_lower_hex(threshold.bytes[i]) : 0;
        if (digit < 0)
            return PYTHIA_SAMPLING_INVALID;
        t = t << 4 | (uint64_t)digit;
    }
    return check_probability((double)((UINT64_C(1) << 56) - t) * 0x1p-56, probability);
}

/* Many sources know nothing but text. */
static double read_probability_text(struct pythia_text text)
{
    char copy[64], *end;
    if (text.size == 0 || text.size >= sizeof(copy))
        return NAN;
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    if (strspn(copy, "0123456789.eE+-") != text.size)
        return NAN;
    double number = strtod(copy, &end);
    return *end == '\0' ? number : NAN;
}

enum pythia_sampling pythia_sampling_of_attribute(const struct pythia_attribute *attribute,
                                                  double *probability)
{
    switch (attribute->kind) {
    case PYTHIA_ATTRIBUTE_REAL:
        return check_probability(attribute->real, probability);
    case PYTHIA_ATTRIBUTE_INTEGER:
        return check_probability((double)attribute->integer, probability);
    case PYTHIA_ATTRIBUTE_TEXT:
        return check_probability(read_probability_text(attribute->text), probability);
    case PYTHIA_ATTRIBUTE_BOOL:
        break;
    }
    return PYTHIA_SAMPLING_INVALID;
}

uint64_t pythia_sampling_requests(double weight, struct pythia_trace_id id)
{
    if (!(weight > 1))
        return 1;
    uint64_t hash = pythia_hash_mix(pythia_hash_mix(id.high, id.low), UINT64_C(0x73616D706C65));
    return (uint64_t)floor(weight + (double)(hash >> 11) * 0x1p-53);
}
