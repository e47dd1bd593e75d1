/* The text of a span that all exported formats share. */
#include <inttypes.h>
#include <math.h>

#include "formats.h"

void pythia__add_json_value(struct pythia_buf *out, const struct pythia_attribute *value,
                            bool as_text)
{
    const char *quote =
        as_text || (value->kind == PYTHIA_ATTRIBUTE_REAL && !isfinite(value->real)) ? "\"" : "";
    switch (value->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        pythia_shown_json_text(out, value->text);
        break;
    case PYTHIA_ATTRIBUTE_INTEGER:
        pythia_buf_printf(out, "%s%" PRId64 "%s", quote, value->integer, quote);
        break;
    case PYTHIA_ATTRIBUTE_REAL:
        pythia_buf_printf(out, "%s%.17g%s", quote, value->real, quote);
        break;
    case PYTHIA_ATTRIBUTE_BOOL:
        pythia_buf_printf(out, "%s%s%s", quote, value->integer ? "true" : "false", quote);
        break;
    }
}

void pythia__add_json_attributes(struct pythia_buf *out, const struct pythia_vocabulary *v,
                                 const struct pythia_trace_span *span, bool as_text)
{
    struct pythia_text packed[] = {span->attributes,
                                   pythia_vocabulary_resource_at(v, span->resource).attributes};
    struct pythia_attribute one;
    bool first = true;
    for (size_t i = 0; i < 2; i++)
        while (pythia_attributes_next(&packed[i], &one)) {
            pythia_buf_puts(out, first ? "" : ",");
            pythia_shown_json_text(out, pythia_vocabulary_text(v, one.key));
            pythia_buf_putc(out, ':');
            pythia__add_json_value(out, &one, as_text);
            first = false;
        }
}

struct pythia_text pythia__find_span_name(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(v, tracepoint),
                       name = pythia_vocabulary_text(
                           v, pythia_vocabulary_tracepoint_at(v, tracepoint)->name);
    return name.size > 0 && pythia_text_ends(id, name) ? name : id;
}

bool pythia__has_key(const struct pythia_vocabulary *v, struct pythia_text packed, const char *key)
{
    struct pythia_attribute one;
    while (pythia_attributes_next(&packed, &one))
        if (pythia_text_equal(pythia_vocabulary_text(v, one.key), pythia_text_of(key)))
            return true;
    return false;
}

void pythia__add_trace_id(struct pythia_buf *out, struct pythia_trace_id id)
{
    pythia_buf_printf(out, "%016" PRIx64 "%016" PRIx64, id.high, id.low);
}
