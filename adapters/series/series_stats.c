/* System statistics as SYMBIOSYS writes them (profile-<host>-<pid>.stats): host, process id and
 * number of samples, a line each; and then a line for each sample: seconds, cpu %, memory %, and
 * the load of 1, 5 and 15 minutes, with commas between. Each of the five is a series. */
#include "series_stats.h"

#include <string.h>

#include "pythia/status.h"
#include "series_real.h"

#define HEAD_LINES 3

static const char *const labels[] = {"cpu %", "memory %", "load 1m", "load 5m", "load 15m"};
#define LABELS (sizeof(labels) / sizeof(labels[0]))

/* The next line, without its end; whether it has one. */
static bool take_stats_line(struct pythia_text *rest, struct pythia_text *line)
{
    const char *newline = memchr(rest->bytes, '\n', rest->size);
    size_t size = newline ? (size_t)(newline - rest->bytes) : rest->size;
    *line = (struct pythia_text){rest->bytes, size};
    rest->bytes += size + (newline != NULL);
    rest->size -= size + (newline != NULL);
    return newline != NULL;
}

static bool read_head(struct pythia_text *rest, uint64_t *process)
{
    struct pythia_text line;
    uint64_t samples;
    return take_stats_line(rest, &line) && pythia_text_trim(line).size > 0 &&
           !memchr(line.bytes, ',', line.size) && take_stats_line(rest, &line) &&
           pythia_text_unsigned(pythia_text_trim(line), UINT32_MAX, process) &&
           take_stats_line(rest, &line) &&
           pythia_text_unsigned(pythia_text_trim(line), UINT64_MAX, &samples);
}

bool pythia__series_is_stats(struct pythia_text content)
{
    uint64_t process;
    return read_head(&content, &process);
}

/* NULL, or what is wrong with a sample; it is added as a whole or not at all. */
static const char *read_sample(struct pythia_text line, uint64_t *time_ns, double values[LABELS])
{
    for (size_t i = 0; i <= LABELS; i++) {
        const char *comma = memchr(line.bytes, ',', line.size);
        size_t size = comma ? (size_t)(comma - line.bytes) : line.size;
        struct pythia_text field = pythia_text_trim((struct pythia_text){line.bytes, size});
        const char *wrong = NULL;
        if (!comma != (i == LABELS))
            return comma ? "has more fields than 6" : "has fewer fields than 6";
        if (i > 0)
            wrong = pythia__series_real(field, &values[i - 1]);
        else if (!pythia_text_seconds(field, time_ns))
            wrong = "the time is not a number of seconds";
        if (wrong)
            return wrong;
        line.bytes += size + (comma != NULL);
        line.size -= size + (comma != NULL);
    }
    return NULL;
}

static void tell_sample(struct pythia_series_csv *csv, const char *name, uint64_t line,
                        size_t offset, const char *sentence)
{
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(&why, name, line, offset);
    csv->counts.broken++;
    csv->broken(csv->context, &why);
}

int pythia__series_stats_read(struct pythia_series_csv *csv, const char *name,
                              struct pythia_text content)
{
    struct pythia_text rest = content, line;
    uint64_t process = 0, time_ns, number = HEAD_LINES;
    double values[LABELS];
    if (!read_head(&rest, &process))
        return PYTHIA_EFORMAT;
    while (rest.size > 0) {
        (void)take_stats_line(&rest, &line);
        number++;
        if (pythia_text_trim(line).size == 0)
            continue;
        const char *wrong = read_sample(line, &time_ns, values);
        if (wrong) {
            tell_sample(csv, name, number, (size_t)(line.bytes - content.bytes), wrong);
            continue;
        }
        for (size_t i = 0; i < LABELS; i++)
            if (pythia_series_set_add(csv->to, pythia_text_of(labels[i]), (uint32_t)process,
                                      time_ns, values[i]) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
        csv->counts.rows += LABELS;
    }
    return PYTHIA_OK;
}
