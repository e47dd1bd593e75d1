#include "series_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "pythia/log.h"
#include "pythia/status.h"

#define TOLD_MAX 20 /* rows of one kind of trouble that are told one by one */

struct telling {
    size_t told;
};

static void log_series_problem(void *context, const struct pythia_error *why)
{
    struct telling *t = context;
    if (t->told++ < TOLD_MAX)
        pythia_log_error(PYTHIA_LOG_WARNING, why);
}

static void log_count(enum pythia_log_level level, uint64_t count, const char *what)
{
    if (count)
        pythia_log(level, "%s: count=%" PRIu64, what, count);
}

/* A collector tells in a series of its own what it has dropped: the last number is all of it. */
static uint64_t count_dropped(const struct pythia_series_set *set)
{
    size_t count;
    const struct pythia_series *each = pythia_series_each(set, &count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (PYTHIA_TEXT_IS(each[i].label, "dropped measurements"))
            sum += each[i].points[each[i].count - 1].value;
    return sum >= 0 && sum < 1e18 ? (uint64_t)sum : 0;
}

/* A path that was named and is not there ends the command: statistics without it would answer
 * another question than the one that was asked. */
static int check_paths(const char *const *paths, size_t count)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count; i++)
        if (strcmp(paths[i], "-") != 0 && access(paths[i], F_OK) != 0) {
            pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be read: %s", paths[i], strerror(errno));
            status = PYTHIA_EIO;
        }
    return status;
}

/* Everything that was left out is logged with its number: a series with a gap looks like one
 * without. */
int pythia__series_read(const char *const *paths, size_t count, bool follow,
                        struct pythia_series_set **out, struct pythia_series_files_result *r,
                        size_t *problems)
{
    struct telling telling = {0};
    int status = check_paths(paths, count);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_series_files_read(paths, count, follow, log_series_problem, &telling, out, r);
    if (status != PYTHIA_OK)
        return status;
    if (telling.told > TOLD_MAX)
        pythia_log(PYTHIA_LOG_WARNING, "Suppressed further messages of this kind: count=%zu",
                   telling.told - TOLD_MAX);
    *problems += r->refused;
    size_t series;
    pythia_series_all(*out, &series);
    pythia_log(PYTHIA_LOG_INFO, "Read %" PRIu64 " measurements: series=%zu, files=%" PRIu64,
               r->csv.rows, series, r->files);
    log_count(PYTHIA_LOG_ERROR, r->refused, "Skipped files that could not be read");
    log_count(PYTHIA_LOG_WARNING, r->csv.broken, "Skipped broken rows");
    log_count(PYTHIA_LOG_WARNING, r->killed,
              "Files of processes that were killed (what they held in memory is lost)");
    log_count(PYTHIA_LOG_WARNING, r->csv.cut,
              "Skipped rows that were cut off when a process was killed");
    log_count(
        PYTHIA_LOG_WARNING, r->outward_links,
        "Skipped symbolic links that lead out of their folder (--follow-symlinks follows them)");
    log_count(PYTHIA_LOG_WARNING, r->missing, "Files are missing in the middle of a sequence");
    log_count(PYTHIA_LOG_WARNING, r->csv.back,
              "Times go back by more than a second (a clock was set): measurements were sorted");
    log_count(PYTHIA_LOG_WARNING, count_dropped(*out),
              "Measurements dropped by their programs because a buffer was full");
    log_count(PYTHIA_LOG_INFO, r->writing, "Skipped files that are still being written");
    log_count(PYTHIA_LOG_INFO, r->gone, "Files removed while they were being read");
    log_count(PYTHIA_LOG_INFO, r->others, "Skipped other files");
    return PYTHIA_OK;
}
