/* Ids, times and texts, in each of the forms that they have. */
#include <math.h>
#include <string.h>

#include "jaeger_parts.h"
#include "shared/base64_id.h"

struct pythia_trace_id pythia__jaeger_parse_id(struct pythia_text text)
{
    struct pythia_trace_id id = {0, 0};
    if (text.size == 0 || pythia_text_hex(text, &id.high, &id.low) ||
        pythia_text_uuid(text, &id.high, &id.low))
        return id;
    return (struct pythia_trace_id){pythia_hash_bytes(text.bytes, text.size), text.size};
}

bool pythia__jaeger_is_none(struct pythia_trace_id id)
{
    return !(id.high | id.low);
}

int pythia__jaeger_read_id(struct pythia__jaeger_reader *j, struct pythia_trace_id *out)
{
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&j->d, &text);
    *out = pythia__jaeger_parse_id(text);
    return status;
}

int pythia__jaeger_read_blob(struct pythia__jaeger_reader *j, struct pythia_trace_id *out)
{
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&j->d, &text);
    if (pythia_text_starts(text, PYTHIA_TEXT("0x")))
        text = (struct pythia_text){text.bytes + 2, text.size - 2};
    *out = pythia__jaeger_parse_id(text);
    return status;
}

int pythia__jaeger_read_number_id(struct pythia__jaeger_reader *j, struct pythia_trace_id *out)
{
    struct pythia_json_value value;
    *out = (struct pythia_trace_id){0, 0};
    int status = pythia_json_value(j->d.json, &value);
    if (status != PYTHIA_OK)
        return status;
    if (value.kind >= PYTHIA_JSON_OBJECT)
        return pythia_json_skip(j->d.json);
    if (value.kind == PYTHIA_JSON_STRING && !pythia_json_number(value.text, &value))
        *out = pythia__jaeger_parse_id(value.text);
    else if (value.kind == PYTHIA_JSON_INTEGER)
        out->low = (uint64_t)value.integer;
    return PYTHIA_OK;
}

int pythia__jaeger_read_model_id(struct pythia__jaeger_reader *j, size_t size,
                                 struct pythia_trace_id *out)
{
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&j->d, &text);
    if (text.size == 0 || text.bytes[text.size - 1] != '=' ||
        !pythia__parse_base64_id(text, size, &out->high, &out->low))
        *out = pythia__jaeger_parse_id(text);
    return status;
}

int pythia__jaeger_read_time(struct pythia__jaeger_reader *j, uint64_t *out_ns)
{
    struct pythia_text text;
    const uint32_t *mark = pythia_json_mark(j->d.json);
    if (pythia_json_peek(j->d.json) != '"')
        return pythia__read_time_us(&j->d, out_ns);
    int status = pythia__read_text(&j->d, &text);
    if (status != PYTHIA_OK || pythia__parse_timestamp(&j->day, text, out_ns))
        return status;
    pythia_json_again(j->d.json, mark);
    return pythia__read_time_us(&j->d, out_ns);
}

/* "0.0012s" or, as old versions write it, "5000ns". */
static bool parse_duration(struct pythia_text text, int64_t *out_ns)
{
    static const struct {
        const char *unit; /* those that end in another one come first */
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const double most_ns = 9.2e18; /* 292 years */
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        struct pythia_text unit = pythia_text_of(units[i].unit);
        struct pythia_json_value value;
        if (text.size <= unit.size ||
            memcmp(text.bytes + text.size - unit.size, unit.bytes, unit.size) != 0)
            continue;
        text.size -= unit.size;
        if (!pythia_json_number(text, &value) || !(fabs(value.real) * units[i].ns < most_ns))
            return false;
        *out_ns = llrint(value.real * units[i].ns);
        return true;
    }
    return false;
}

int pythia__jaeger_read_duration(struct pythia__jaeger_reader *j, int64_t *out_ns)
{
    struct pythia_text text;
    const uint32_t *mark = pythia_json_mark(j->d.json);
    if (pythia_json_peek(j->d.json) != '"')
        return pythia__read_duration_us(&j->d, out_ns);
    int status = pythia__read_text(&j->d, &text);
    if (status != PYTHIA_OK || parse_duration(text, out_ns))
        return status;
    pythia_json_again(j->d.json, mark);
    return pythia__read_duration_us(&j->d, out_ns);
}
