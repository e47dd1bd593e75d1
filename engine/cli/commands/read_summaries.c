#include "read_summaries.h"

#include <inttypes.h>
#include <string.h>

#include "pythia/call_summaries.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define READ_BYTES ((size_t)1024 * 1024)
#define TOLD_MAX   20 /* lines that are logged one by one */

struct summing {
    struct pythia__reading *reading;
    struct pythia_call_summaries *summaries;
    struct pythia_buf content;
    uint64_t told;
    size_t files, failed, others;
};

static void log_broken_summary(void *context, const struct pythia_error *why)
{
    struct summing *m = context;
    if (m->told++ < TOLD_MAX)
        pythia_log_error(PYTHIA_LOG_WARNING, why);
}

/* The end of the name may be followed by that of a compression. */
static bool has_name_of_summaries(const char *path)
{
    static const char *const ends[] = {".csv", ".stats.json"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const char *at = strstr(name, ends[i]), *rest = at ? at + strlen(ends[i]) : "?";
        if (*rest == '\0' || strcmp(rest, ".gz") == 0 || strcmp(rest, ".zst") == 0)
            return true;
    }
    return false;
}

static int load_summaries(struct summing *m, const struct pythia_input_file *file,
                          struct pythia_error *e)
{
    struct pythia_input_stream *stream;
    size_t got = 1;
    int status = pythia_input_open(file, m->reading->pipeline.expansion_max, NULL, &stream, e);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_source *source = pythia_input_source(stream);
    pythia_buf_clear(&m->content);
    while (status == PYTHIA_OK && got > 0) {
        char *to = pythia_buf_reserve(&m->content, READ_BYTES);
        if (!to) {
            status = PYTHIA_ENOMEM;
            break;
        }
        status = source->read(source, to, READ_BYTES, &got, e);
        m->content.size += status == PYTHIA_OK ? got : 0;
    }
    pythia_input_close(stream);
    return status;
}

static int read_summary_file(struct summing *m, const struct pythia_input_file *file)
{
    struct pythia_error why = {0};
    if (!file->named && !has_name_of_summaries(file->path)) {
        m->others++;
        return PYTHIA_OK;
    }
    int status = load_summaries(m, file, &why);
    if (status == PYTHIA_OK)
        status = pythia_call_summaries_read(m->summaries, file->path, pythia_buf_text(&m->content),
                                            &why);
    if (status == PYTHIA_ENOMEM)
        return status;
    m->files += status == PYTHIA_OK;
    m->failed += status != PYTHIA_OK;
    if (status != PYTHIA_OK) {
        pythia_error_place(&why, file->path, 0, 0);
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    }
    return PYTHIA_OK;
}

static void log_summaries(const struct summing *m)
{
    struct pythia_call_summaries_counts c = pythia_call_summaries_counts(m->summaries);
    pythia_log(PYTHIA_LOG_INFO, "Read %" PRIu64 " summaries of calls: files=%zu", c.read, m->files);
    if (c.unused > 0)
        pythia_log(PYTHIA_LOG_INFO, "Skipped summaries of no calls: count=%" PRIu64, c.unused);
    if (m->others > 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "Skipped files that hold no summaries, by their names: "
                   "count=%zu",
                   m->others);
    if (m->told > TOLD_MAX)
        pythia_log(PYTHIA_LOG_WARNING, "Suppressed further messages of this kind: count=%" PRIu64,
                   m->told - TOLD_MAX);
    if (c.refused > 0)
        pythia_log(PYTHIA_LOG_WARNING, "Skipped what cannot be read: count=%" PRIu64, c.refused);
}

static int read_summaries(struct pythia__reading *reading,
                          int (*take)(void *context, const struct pythia_call_summary *all,
                                      size_t count),
                          void *context)
{
    struct summing m = {.reading = reading};
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(reading->input, &count);
    int status =
        pythia_call_summaries_create(reading->vocabulary, log_broken_summary, &m, &m.summaries);
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        status = read_summary_file(&m, &files[i]);
    if (status != PYTHIA_OK)
        goto out;
    const struct pythia_call_summary *all = pythia_call_summaries_all(m.summaries, &count);
    status = all ? take(context, all, count) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    log_summaries(&m);
    reading->result.failed_files = m.failed;
    reading->result.counts.traces = count;
out:
    pythia_call_summaries_destroy(m.summaries);
    pythia_buf_free(&m.content);
    return status;
}

int pythia__check_summaries(bool summaries, const char *with)
{
    if (!summaries || !with)
        return PYTHIA_OK;
    pythia_log(PYTHIA_LOG_ERROR, "--summaries and %s exclude each other: sums have no spans", with);
    return PYTHIA_EUSAGE;
}

int pythia__read_calls(struct pythia__reading *reading, bool summaries,
                       const struct pythia_consumer *consumer,
                       int (*take)(void *context, const struct pythia_call_summary *all,
                                   size_t count))
{
    if (!summaries)
        return pythia__reading_run(reading, consumer);
    int status = consumer->begin(consumer->context);
    if (status != PYTHIA_OK)
        return status;
    return read_summaries(reading, take, consumer->context);
}
