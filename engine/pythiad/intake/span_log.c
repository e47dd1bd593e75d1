#include "span_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/own_file.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

#define HELD_MAX ((size_t)64 * 1024) /* bytes, until they are written */

struct pythia__span_log {
    const char *path;
    uint64_t bytes_max, bytes; /* bytes: of the file, with what is held */
    const struct pythia_vocabulary *vocabulary;
    int file;
    struct pythia_buf held;
    uint64_t held_lines;
    bool failing;
    struct pythia__span_log_numbers numbers;
};

/* ---- the file ---- */

static int open_span_log(struct pythia__span_log *l, struct pythia_error *e)
{
    struct stat about;
    l->file = pythia_own_file_open(l->path, O_WRONLY | O_CREAT | O_APPEND, e);
    if (l->file < 0 || fstat(l->file, &about) != 0)
        return PYTHIA_EIO;
    l->bytes = (uint64_t)about.st_size;
    return PYTHIA_OK;
}

int pythia__span_log_open(const char *path, uint64_t bytes_max,
                          const struct pythia_vocabulary *vocabulary, struct pythia__span_log **out,
                          struct pythia_error *e)
{
    struct pythia__span_log *l = pythia_calloc(1, sizeof(*l));
    if (!l)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the log of spans");
    *l = (struct pythia__span_log){
        .path = path, .bytes_max = bytes_max, .vocabulary = vocabulary, .file = -1};
    if (open_span_log(l, e) != PYTHIA_OK) {
        pythia_error_set(e, PYTHIA_EIO, "the log of spans cannot be opened: %s", strerror(errno));
        pythia_error_place(e, path, 0, 0);
        pythia__span_log_close(l);
        return PYTHIA_EIO;
    }
    *out = l;
    return PYTHIA_OK;
}

void pythia__span_log_close(struct pythia__span_log *l)
{
    if (!l)
        return;
    pythia__span_log_flush(l);
    if (l->file >= 0)
        close(l->file);
    pythia_buf_free(&l->held);
    pythia_free(l);
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* A disk that is full may have space again: each failure is counted, the first is reported. */
static void note_writing(struct pythia__span_log *l, bool written)
{
    l->numbers.lines += written ? l->held_lines : 0;
    l->numbers.lost += written ? 0 : l->held_lines;
    if (!written && !l->failing)
        pythia_log(PYTHIA_LOG_ERROR, "The log of spans cannot be written: file=%s, reason=%s",
                   l->path, strerror(errno));
    l->failing = !written;
}

static void rotate_span_log(struct pythia__span_log *l)
{
    struct pythia_buf old = {0};
    pythia_buf_printf(&old, "%s.1", l->path);
    bool moved = pythia_buf_status(&old) == PYTHIA_OK && rename(l->path, old.bytes) == 0;
    pythia_buf_free(&old);
    if (!moved)
        return; /* it grows until that works */
    close(l->file);
    l->numbers.rotations++;
    if (open_span_log(l, NULL) != PYTHIA_OK)
        note_writing(l, false);
}

void pythia__span_log_flush(struct pythia__span_log *l)
{
    if (!l || l->held_lines == 0)
        return;
    if (l->file < 0)
        (void)open_span_log(l, NULL);
    bool written = pythia_buf_status(&l->held) == PYTHIA_OK && l->file >= 0 &&
                   write_all(l->file, l->held.bytes, l->held.size);
    note_writing(l, written);
    pythia_buf_clear(&l->held);
    l->held.failed = 0;
    l->held_lines = 0;
    if (written && l->bytes >= l->bytes_max)
        rotate_span_log(l);
}

/* ---- lines ---- */

static void add_log_time(struct pythia_buf *to, uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm at;
    char text[32] = "";
    if (gmtime_r(&seconds, &at))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &at);
    pythia_buf_printf(to, "%s.%09" PRIu64 "Z - [time] [", text, unix_ns % 1000000000);
}

static void add_log_text(struct pythia__span_log *l, struct pythia_text text)
{
    pythia_shown_add(&l->held, text, SIZE_MAX);
}

static void add_string(struct pythia__span_log *l, uint32_t string)
{
    add_log_text(l, pythia_vocabulary_text(l->vocabulary, string));
}

static void add_log_value(struct pythia__span_log *l, const struct pythia_attribute *a)
{
    switch (a->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        add_log_text(l, a->text);
        break;
    case PYTHIA_ATTRIBUTE_INTEGER:
        pythia_buf_printf(&l->held, "%" PRId64, a->integer);
        break;
    case PYTHIA_ATTRIBUTE_REAL:
        pythia_buf_printf(&l->held, "%.17g", a->real);
        break;
    case PYTHIA_ATTRIBUTE_BOOL:
        pythia_buf_puts(&l->held, a->integer ? "true" : "false");
        break;
    }
}

static void begin_log_line(struct pythia__span_log *l, uint64_t unix_ns, const char *event,
                           const struct pythia_span *span)
{
    struct pythia_resource r = pythia_vocabulary_resource_at(l->vocabulary, span->resource);
    add_log_time(&l->held, unix_ns);
    add_string(l, r.service);
    if (r.host) {
        pythia_buf_putc(&l->held, '@');
        add_string(l, r.host);
    }
    pythia_buf_printf(&l->held, "] %s [", event);
    if (span->tracepoint != PYTHIA_NONE)
        add_log_text(l, pythia_vocabulary_tracepoint_id(l->vocabulary, span->tracepoint));
    pythia_buf_puts(&l->held, "] ");
}

/* What is known of a span is known when it has ended; of one whose end comes by itself, when it
 * begins. */
static void end_log_line(struct pythia__span_log *l, const struct pythia_trace_id *trace,
                         const struct pythia_span *span, bool values)
{
    struct pythia_text packed = span->attributes;
    struct pythia_attribute one;
    pythia_buf_printf(&l->held, " trace=%016" PRIx64 "%016" PRIx64 " span=%016" PRIx64, trace->high,
                      trace->low, span->id);
    if (span->parent)
        pythia_buf_printf(&l->held, " parent=%016" PRIx64, span->parent);
    if (values && span->error)
        pythia_buf_puts(&l->held, " error=true");
    while (values && pythia_attributes_next(&packed, &one)) {
        pythia_buf_putc(&l->held, ' ');
        add_string(l, one.key);
        pythia_buf_putc(&l->held, '=');
        add_log_value(l, &one);
    }
    pythia_buf_putc(&l->held, '\n');
    l->held_lines++;
}

static void add_event(struct pythia__span_log *l, const struct pythia_trace_id *trace,
                      const struct pythia_span *span, const char *event, bool values)
{
    begin_log_line(l, span->start_ns, event, span);
    pythia_buf_putc(&l->held, '-');
    end_log_line(l, trace, span, values);
}

static void add_end(struct pythia__span_log *l, const struct pythia_trace_id *trace,
                    const struct pythia_span *span)
{
    begin_log_line(l, span->start_ns + (uint64_t)span->duration_ns, "end", span);
    pythia_buf_printf(&l->held, "%.9f", (double)span->duration_ns / 1e9);
    end_log_line(l, trace, span, true);
}

/* A span that is reported whole has both of its events at once. */
void pythia__span_log_add(struct pythia__span_log *l, const struct pythia_trace_id *trace,
                          const struct pythia_span *span)
{
    if (!l)
        return;
    size_t before = l->held.size;
    switch (span->part) {
    case PYTHIA_PART_WHOLE:
        add_event(l, trace, span, "start", false);
        add_end(l, trace, span);
        break;
    case PYTHIA_PART_START:
    case PYTHIA_PART_WAIT:
        add_event(l, trace, span, "start", true);
        break;
    case PYTHIA_PART_STOP:
        add_event(l, trace, span, "end", true);
        break;
    case PYTHIA_PART_ANNOTATION:
    case PYTHIA_PART_FORK:
        add_event(l, trace, span, "point", true);
        break;
    case PYTHIA_PART_ADDITION: /* no event */
        break;
    }
    l->bytes += l->held.size - before;
    if (l->held.size >= HELD_MAX || l->bytes >= l->bytes_max)
        pythia__span_log_flush(l);
}

struct pythia__span_log_numbers pythia__span_log_numbers(const struct pythia__span_log *l)
{
    return l ? l->numbers : (struct pythia__span_log_numbers){0};
}
