#include "trace_events.h"

#include <inttypes.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/lttng_events.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia__trace_events {
    const struct pythia_input_file *file; /* borrowed */
    struct pythia_lttng_events *reader;
    struct pythia_buf frames; /* that were read, and given away up to `at` */
    size_t at;
};

int pythia__trace_events_open(const struct pythia_input_file *file,
                              struct pythia__trace_events **out, struct pythia_error *e)
{
    if (!file->rules)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "holds events of LTTng: say with --events FILE which of them begin "
                                "and end spans (pythia-control-lttng(7))");
    struct pythia__trace_events *t = pythia_calloc(1, sizeof(*t));
    if (!t)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", file->path);
    t->file = file;
    int status = pythia_lttng_events_open(
        file->reader, file->chunk_count ? file->chunks : &file->path,
        file->chunk_count ? file->chunk_count : 1, file->rules, *file->told, &t->reader, e);
    if (status != PYTHIA_OK) {
        pythia_free(t);
        return status;
    }
    *out = t;
    return PYTHIA_OK;
}

/* A failure is reported once what was read before it is used up. */
int pythia__trace_events_read(struct pythia__trace_events *t, void *to, size_t capacity,
                              size_t *got, struct pythia_error *e)
{
    bool more = true;
    int status = PYTHIA_OK;
    if (t->at == t->frames.size) {
        pythia_buf_clear(&t->frames);
        t->at = 0;
    }
    while (t->frames.size == 0 && more && status == PYTHIA_OK)
        status = pythia_lttng_events_read(t->reader, &t->frames, &more, e);
    *got = t->frames.size - t->at < capacity ? t->frames.size - t->at : capacity;
    if (*got == 0)
        return status;
    pythia_error_clear(e);
    memcpy(to, t->frames.bytes + t->at, *got);
    t->at += *got;
    return PYTHIA_OK;
}

static void tell_numbers(const struct pythia__trace_events *t)
{
    struct pythia_lttng_numbers n = pythia_lttng_events_numbers(t->reader);
    uint64_t lost = n.discarded_events + n.discarded_packets + n.unmatched + n.abandoned +
                    n.oversize + n.crowded;
    pythia_log(lost ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO,
               "Read %" PRIu64 " events: trace=%s, of-no-rule=%" PRIu64
               ", outside-of-requests=%" PRIu64 ", ends-without-begin=%" PRIu64
               ", spans-in-requests-without-end=%" PRIu64 ", spans-in-requests-too-large=%" PRIu64
               ", events-discarded-by-LTTng=%" PRIu64 ", packets-discarded-by-LTTng=%" PRIu64,
               n.events, t->file->path, n.other, n.outside, n.unmatched, n.abandoned,
               n.oversize + n.crowded, n.discarded_events, n.discarded_packets);
}

void pythia__trace_events_close(struct pythia__trace_events *t)
{
    if (!t)
        return;
    if (!*t->file->told)
        tell_numbers(t);
    *t->file->told = true;
    pythia_lttng_events_close(t->reader);
    pythia_buf_free(&t->frames);
    pythia_free(t);
}
