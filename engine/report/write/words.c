/* Numbers as people read them, the same in every form of a report. */
#include "words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double pythia__number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *pythia__string(const json_t *object, const char *key)
{
    const char *string = json_string_value(json_object_get(object, key));
    return string ? string : "";
}

const json_t *pythia__array(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

void pythia__add_duration(struct pythia_buf *to, double ns)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    if (!isfinite(ns)) {
        pythia_buf_putc(to, '-');
        return;
    }
    size_t unit = 0;
    double size = fabs(ns);
    while (unit < 5 &&
           size < units[unit].size * (unit < 2 ? 2 : .9995)) /* 90 s rather than 1.5 min */
        unit++;
    double value = ns / units[unit].size;
    int digits = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    pythia_buf_printf(to, "%.*f %s", unit == 5 ? 0 : digits, value, units[unit].name);
}

void pythia__add_percent(struct pythia_buf *to, double part)
{
    if (!isfinite(part))
        pythia_buf_putc(to, '-');
    else if (fabs(part) < .0005)
        pythia_buf_puts(to, part > 0 ? "< 0.1 %" : "0 %");
    else if (fabs(part) < .0995)
        pythia_buf_printf(to, "%.1f %%", 100 * part);
    else
        pythia_buf_printf(to, "%.0f %%", 100 * part);
}

void pythia__add_chance(struct pythia_buf *to, double p)
{
    if (p > 0 || !isfinite(p))
        pythia_buf_printf(to, "= %.1g", p);
    else
        pythia_buf_puts(to, "< 1e-300"); /* smaller than a number can be */
}

void pythia__add_count(struct pythia_buf *to, double count)
{
    if (!isfinite(count)) {
        pythia_buf_putc(to, '-');
        return;
    }
    char digits[40];
    int size = snprintf(digits, sizeof(digits), "%.0f", count);
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0 && digits[i - 1] != '-')
            pythia_buf_putc(to, ' ');
        pythia_buf_putc(to, digits[i]);
    }
}
