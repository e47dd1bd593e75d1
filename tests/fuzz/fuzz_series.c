/* Rows of CSV: every line is read, told, or empty, and the same in any order of two halves. */
#include <string.h>

#include "fuzz.h"
#include "pythia/series.h"
#include "pythia/status.h"

static uint64_t told;

static void on_broken(void *context, const struct pythia_error *why)
{
    (void)context;
    told++;
    MUST(why->status == PYTHIA_EFORMAT && why->line > 0 && why->sentence[0]);
}

static void check(const struct pythia_series *all, size_t count, bool each, uint64_t rows)
{
    uint64_t points = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_series *s = &all[i];
        MUST(s->count > 0 && pythia_text_is_sound(s->label));
        MUST(each == (s->process != PYTHIA_SERIES_ALL));
        for (size_t p = 1; p < s->count; p++)
            MUST(s->points[p - 1].time_ns <= s->points[p].time_ns);
        if (i > 0)
            MUST(pythia_text_compare(all[i - 1].label, s->label) <= -!each);
        points += s->count;
    }
    MUST(points == rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_series_csv csv = {.broken = on_broken};
    size_t count;
    told = 0;
    MUST(pythia_series_set_create(&csv.to) == PYTHIA_OK);
    struct pythia_text text = {size ? (const char *)bytes : "", size};
    int status = pythia_series_read(&csv, "input", text, size % 2);
    MUST(status == PYTHIA_OK || status == PYTHIA_EFORMAT);
    MUST(told == csv.counts.broken + (status == PYTHIA_EFORMAT));
    MUST(csv.counts.rows + csv.counts.broken + csv.counts.cut <= size + 1);
    MUST(pythia_series_set_finish(csv.to) == PYTHIA_OK);
    const struct pythia_series *series = pythia_series_each(csv.to, &count);
    check(series, count, true, csv.counts.rows);
    series = pythia_series_all(csv.to, &count);
    check(series, count, false, csv.counts.rows);
    pythia_series_set_destroy(csv.to);
    return 0;
}
