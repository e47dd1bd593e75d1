#include "pythia/otlp_json.h"

#include <inttypes.h>
#include <math.h>

#include "pythia/shown_text.h"

/* JSON has no numbers for these; protobuf's mapping to JSON writes them as strings. */
static const char *name_special_number(double real)
{
    if (isnan(real))
        return "NaN";
    return real > 0 ? "Infinity" : "-Infinity";
}

static void write_real_value(struct pythia_buf *out, double real)
{
    if (isfinite(real))
        pythia_buf_printf(out, "{\"doubleValue\":%.17g", real);
    else
        pythia_buf_printf(out, "{\"doubleValue\":\"%s\"", name_special_number(real));
}

void pythia_otlp_json_value(struct pythia_buf *out, const struct pythia_attribute *value)
{
    switch (value->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        pythia_buf_puts(out, "{\"stringValue\":");
        pythia_shown_json_text(out, value->text);
        break;
    case PYTHIA_ATTRIBUTE_INTEGER:
        pythia_buf_printf(out, "{\"intValue\":\"%" PRId64 "\"", value->integer);
        break;
    case PYTHIA_ATTRIBUTE_BOOL:
        pythia_buf_printf(out, "{\"boolValue\":%s", value->integer ? "true" : "false");
        break;
    case PYTHIA_ATTRIBUTE_REAL:
        write_real_value(out, value->real);
        break;
    }
    pythia_buf_putc(out, '}');
}
