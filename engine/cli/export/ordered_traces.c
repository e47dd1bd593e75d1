/* The file has one record for each trace, which this process alone reads:
 *
 *     struct pythia_trace | its spans | the key-values of the first span, of the second, ...
 *
 * Pointers in a record are stale; reading it sets them again. */
#include "ordered_traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static int report_spill_failure(void)
{
    pythia_log(PYTHIA_LOG_ERROR, "The temporary file of traces: %s", strerror(errno));
    return PYTHIA_EIO;
}

static int compare_traces(const void *a, const void *b)
{
    const struct pythia__ordered_trace *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->id.high != y->id.high)
        return x->id.high < y->id.high ? -1 : 1;
    if (x->id.low != y->id.low)
        return x->id.low < y->id.low ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

int pythia__ordered_traces_restart(struct pythia__ordered_traces *o)
{
    if (o->file)
        fclose(o->file);
    o->count = 0;
    o->end = 0;
    o->cut = false;
    o->file = tmpfile();
    return o->file ? PYTHIA_OK : report_spill_failure();
}

void pythia__ordered_traces_free(struct pythia__ordered_traces *o)
{
    if (o->file)
        fclose(o->file);
    pythia_free(o->index);
    o->file = NULL;
    o->index = NULL;
}

static void sort_index(struct pythia__ordered_traces *o)
{
    if (o->count > 1)
        qsort(o->index, o->count, sizeof(*o->index), compare_traces);
}

/* With a limit the index is cut whenever it has twice as many traces: a trace is sorted a few
 * times, and the file grows only by those that were among the first when they came. */
static bool is_beyond_limit(struct pythia__ordered_traces *o,
                            const struct pythia__ordered_trace *entry)
{
    if (o->limit > 0 && o->count / 2 >= o->limit) {
        sort_index(o);
        o->count = (size_t)o->limit;
        o->last = o->index[o->count - 1];
        o->cut = true;
    }
    return o->cut && compare_traces(entry, &o->last) > 0;
}

static bool write_spill_bytes(FILE *file, const void *bytes, size_t size)
{
    return size == 0 || fwrite(bytes, 1, size, file) == size;
}

int pythia__ordered_traces_add(struct pythia__ordered_traces *o, const struct pythia_trace *trace)
{
    struct pythia__ordered_trace entry = {
        .start_ns = trace->start_ns, .id = trace->id, .at = o->end};
    size_t spans_size = trace->count * sizeof(*trace->spans);
    if (is_beyond_limit(o, &entry))
        return PYTHIA_OK;
    if (pythia_grow(&o->index, &o->capacity, o->count, sizeof(*o->index)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    bool written = write_spill_bytes(o->file, trace, sizeof(*trace)) &&
                   write_spill_bytes(o->file, trace->spans, spans_size);
    entry.size = sizeof(*trace) + spans_size;
    for (uint32_t i = 0; i < trace->count && written; i++) {
        struct pythia_text values = trace->spans[i].attributes;
        written = write_spill_bytes(o->file, values.bytes, values.size);
        entry.size += values.size;
    }
    if (!written)
        return report_spill_failure();
    o->end += (long)entry.size;
    o->index[o->count++] = entry;
    return PYTHIA_OK;
}

/* The trace of a record, which is in memory that suits any struct. */
static struct pythia_trace open_record(char *record)
{
    struct pythia_trace trace;
    memcpy(&trace, record, sizeof(trace));
    struct pythia_trace_span *spans = (struct pythia_trace_span *)(void *)(record + sizeof(trace));
    char *values = record + sizeof(trace) + trace.count * sizeof(*spans);
    for (uint32_t i = 0; i < trace.count; i++) {
        spans[i].attributes.bytes = values;
        values += spans[i].attributes.size;
    }
    trace.spans = spans;
    return trace;
}

int pythia__ordered_traces_each(struct pythia__ordered_traces *o,
                                int (*take)(void *context, const struct pythia_trace *trace),
                                void *context)
{
    struct pythia_buf record = {0};
    int status = PYTHIA_OK;
    sort_index(o);
    if (o->limit > 0 && o->count > o->limit)
        o->count = (size_t)o->limit;
    for (size_t i = 0; i < o->count && status == PYTHIA_OK; i++) {
        const struct pythia__ordered_trace *entry = &o->index[i];
        pythia_buf_clear(&record);
        char *bytes = pythia_buf_reserve(&record, entry->size);
        if (!bytes) {
            status = PYTHIA_ENOMEM;
            break;
        }
        if (fseek(o->file, entry->at, SEEK_SET) != 0 ||
            fread(bytes, 1, entry->size, o->file) != entry->size) {
            status = report_spill_failure();
            break;
        }
        struct pythia_trace trace = open_record(bytes);
        status = take(context, &trace);
    }
    pythia_buf_free(&record);
    return status;
}
