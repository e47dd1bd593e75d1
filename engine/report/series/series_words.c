#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "pythia/shown_text.h"
#include "series_forms.h"

#define SECOND_NS  UINT64_C(1000000000)
#define NAME_LIMIT 80

const struct pythia__series_column pythia__series_columns[PYTHIA__SERIES_COLUMNS] = {
    {"count", "count"}, {"rate", "rate/s"}, {"mean", "mean"}, {"sd", "sd"},  {"min", "min"},
    {"p50", "p50"},     {"p90", "p90"},     {"p99", "p99"},   {"max", "max"}};

const char *pythia__series_number(const json_t *value, char text[32])
{
    if (json_is_integer(value))
        snprintf(text, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, 32, "%.6g", json_real_value(value));
    else
        snprintf(text, 32, "-");
    return text;
}

const char *pythia__series_time(json_int_t ns, char text[40])
{
    time_t seconds = (time_t)((uint64_t)ns / SECOND_NS);
    struct tm parts;
    char date[24];
    if (!gmtime_r(&seconds, &parts) || strftime(date, sizeof(date), "%F %T", &parts) == 0)
        snprintf(date, sizeof(date), "%lld s", (long long)seconds);
    snprintf(text, 40, "%s.%03d", date, (int)((uint64_t)ns % SECOND_NS / 1000000));
    return text;
}

static struct pythia_text text_of(const json_t *string)
{
    const char *bytes = json_string_value(string);
    return (struct pythia_text){bytes ? bytes : "", json_string_length(string)};
}

void pythia__series_name(const json_t *entry, struct pythia_buf *to)
{
    struct pythia_text label = text_of(json_object_get(entry, "label"));
    const json_t *over = json_object_get(entry, "over"),
                 *process = json_object_get(entry, "process");
    pythia_shown_add(to, label.size ? label : PYTHIA_TEXT("(no name)"), NAME_LIMIT);
    if (json_is_string(over)) {
        pythia_buf_puts(to, " / ");
        pythia_shown_add(to, text_of(over), NAME_LIMIT);
    }
    if (json_is_integer(process))
        pythia_buf_printf(to, ", process %" JSON_INTEGER_FORMAT, json_integer_value(process));
}
