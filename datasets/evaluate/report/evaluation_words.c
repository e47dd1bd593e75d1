#include <math.h>

#include "evaluation_forms.h"
#include "pythia/shown_text.h"
#include "write/words.h"

#define HELP_LIMIT 400 /* characters */

bool pythia__evaluation_is_beyond(const json_t *result, unsigned percent)
{
    const json_t *cycles = json_object_get(result, "cycles_to_localise");
    double missed = pythia__number(cycles, "not_localised"),
           of = pythia__number(json_object_get(result, "all_causes"), "of");
    return missed > 0 && ceil(of * percent / 100) > of - missed;
}

void pythia__evaluation_add_problem(struct pythia_buf *to, const json_t *problem)
{
    double causes = pythia__number(problem, "causes");
    pythia_shown_add(to, pythia_text_of(pythia__string(problem, "help")), HELP_LIMIT);
    if (causes > 0)
        pythia_buf_printf(to, "; %.0f cause%s", causes, causes == 1 ? "" : "s");
    pythia_buf_puts(to, causes > 0 ? ", " : "; ");
    pythia__add_count(to, pythia__number(problem, "requests"));
    pythia_buf_puts(to, " requests a cycle");
}

static void add_number_of(struct pythia_buf *to, double number, const char *one, const char *many)
{
    pythia__add_count(to, number);
    pythia_buf_printf(to, " %s", number == 1 ? one : many);
}

void pythia__evaluation_add_settings(struct pythia_buf *to, const json_t *report)
{
    double first = pythia__number(report, "first_seed"), seeds = pythia__number(report, "seeds"),
           points = pythia__number(report, "points"), cycles = pythia__number(report, "cycles");
    add_number_of(to, pythia__number(report, "trials"), "search", "searches");
    pythia_buf_puts(to, ": ");
    add_number_of(to, (double)json_array_size(pythia__array(report, "strategies")), "strategy",
                  "strategies");
    pythia_buf_puts(to, " on ");
    add_number_of(to, (double)json_array_size(pythia__array(report, "problems")), "problem",
                  "problems");
    pythia_buf_printf(to, " with seed%s %.0f", seeds == 1 ? "" : "s", first);
    if (seeds > 1)
        pythia_buf_printf(to, " to %.0f", first + seeds - 1);
    pythia_buf_printf(to, ", %.0f trace point%s a cycle, at most %.0f cycle%s, ", points,
                      points == 1 ? "" : "s", cycles, cycles == 1 ? "" : "s");
    pythia__add_duration(to, pythia__number(report, "price_ns"));
    pythia_buf_puts(to, " a hit. Intervals are of 95 %.");
}
