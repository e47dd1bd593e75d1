#include <stdio.h>
#include <time.h>

#include "pythia/shown_text.h"
#include "series_forms.h"

#define SECOND_NS  UINT64_C(1000000000)
#define NAME_LIMIT 80

const char *const pythia__series_names[PYTHIA__SERIES_NUMBERS][2] = {
    {"rate", "rate/s"}, {"mean", "mean"}, {"sd", "sd"},   {"min", "min"},
    {"p50", "p50"},     {"p90", "p90"},   {"p99", "p99"}, {"max", "max"}};

const char *pythia__resampling_name(enum pythia_resampling how)
{
    static const char *const names[] = {"mean", "count", "sum", "min", "max", "last"};
    return names[how];
}

const char *pythia__series_time(uint64_t ns, char text[40])
{
    time_t seconds = (time_t)(ns / SECOND_NS);
    struct tm parts;
    char date[24];
    if (!gmtime_r(&seconds, &parts) || strftime(date, sizeof(date), "%F %T", &parts) == 0)
        snprintf(date, sizeof(date), "%lld s", (long long)seconds);
    snprintf(text, 40, "%s.%03d", date, (int)(ns % SECOND_NS / 1000000));
    return text;
}

void pythia__series_name(const struct pythia_series *s, const struct pythia_series *over,
                         struct pythia_buf *to)
{
    pythia_shown_add(to, s->label.size ? s->label : PYTHIA_TEXT("(no name)"), NAME_LIMIT);
    if (over) {
        pythia_buf_puts(to, " / ");
        pythia_shown_add(to, over->label, NAME_LIMIT);
    }
    if (s->process != PYTHIA_SERIES_ALL)
        pythia_buf_printf(to, ", process %llu", (unsigned long long)s->process);
}
