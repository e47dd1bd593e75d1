#ifndef PYTHIA_SERIES_H
#define PYTHIA_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/text.h"

/* Measurements over time: series by label and process, read from files of CSV as the collector of
 * libpythia-tracepoints and QuantumLeap's telemetry write them. One thread at a time. */
struct pythia_series_set;

struct pythia_series_point {
    uint64_t time_ns; /* Unix epoch */
    double value;     /* finite; in the unit that whoever wrote it had in mind */
};

#define PYTHIA_SERIES_ALL UINT64_MAX /* of all processes together */

struct pythia_series {
    struct pythia_text label;                 /* sound UTF-8 */
    uint64_t process;                         /* its number, or PYTHIA_SERIES_ALL */
    uint32_t processes;                       /* that are in it */
    const struct pythia_series_point *points; /* in order of time, then of value */
    size_t count;
};

/* On success *out is owned; PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_series_set_create(struct pythia_series_set **out);
void pythia_series_set_destroy(struct pythia_series_set *s); /* s may be NULL */

/* Add one measurement; the label is copied. PYTHIA_OK or PYTHIA_ENOMEM. O(1). */
int pythia_series_set_add(struct pythia_series_set *s, struct pythia_text label, uint32_t process,
                          uint64_t time_ns, double value);

/* Put everything in order, before the following and after the last _add. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(n log n). The result does not depend on the order of the _adds. */
int pythia_series_set_finish(struct pythia_series_set *s);

/* The series of single processes, in order of label and process; and those of all processes
 * together, in order of label. Borrowed until the set is destroyed. */
const struct pythia_series *pythia_series_each(const struct pythia_series_set *s, size_t *count);
const struct pythia_series *pythia_series_all(const struct pythia_series_set *s, size_t *count);

/* The last point at or before `time_ns`, and not more than `age_ns` before; NULL: there is none.
 * O(log n). */
const struct pythia_series_point *pythia_series_as_of(const struct pythia_series *s,
                                                      uint64_t time_ns, uint64_t age_ns);

/* ---- files ---- */

struct pythia_series_csv_counts {
    uint64_t rows;   /* read */
    uint64_t broken; /* left out, each told by `broken` */
    uint64_t cut;    /* last lines without an end, of files that nobody will complete */
    uint64_t back;   /* places where the times of a series go back by more than a second: the clock
                        was set */
};

struct pythia_series_csv {
    struct pythia_series_set *to; /* borrowed */
    /* A row was left out, or the whole (line 1): source, line and reason; reading goes on. */
    void (*broken)(void *context, const struct pythia_error *why);
    void *context;
    struct pythia_series_csv_counts counts; /* added to */
};

/* Read the content of one file: the heading Timepoint,Measurement,Label,PID, with blanks or
 * without, and rows of RFC 4180. `unfinished`: its writer has died, so that a last line without an
 * end is nobody's fault. PYTHIA_OK; PYTHIA_EFORMAT, told, if it does not begin as such a file does;
 * PYTHIA_ENOMEM. */
int pythia_series_csv_read(struct pythia_series_csv *csv, const char *name,
                           struct pythia_text content, bool unfinished);

/* Read the content of one file of either format, recognized by how it begins: the above; system
 * statistics of SYMBIOSYS (host, process id and number of samples, a line each, and samples of
 * seconds, cpu %, memory %, and load of 1, 5 and 15 minutes), each sample of which is five rows; or
 * time series of margo (JSON), whose process is in the file's name. */
int pythia_series_read(struct pythia_series_csv *csv, const char *name, struct pythia_text content,
                       bool unfinished);

#endif
