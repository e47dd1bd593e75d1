#include "intake.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "expansion.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/span_batch.h"
#include "pythia/spans_writer.h"
#include "pythia/status.h"
#include "recording_file.h"

#define INFLATED_BYTES ((size_t)16 * 1024 * 1024)
#define RECORD_BYTES   ((size_t)4 * 1024 * 1024) /* of a span; indexed it takes 5 times that */
#define PIECE_BYTES    ((size_t)64 * 1024)
#define BROKEN_MAX     100000 /* records of a body: none of it is taken if there are more */

/* Bodies that are worked on at once: enough that threads find the next one when the loop is
 * busy. */
#define LANES      8
#define LANE_BYTES ((size_t)2 * 1024 * 1024) /* that a lane keeps */

/* A format's decoder, which is used again for the next body of that format. */
struct decoder {
    struct decoder *next;
    const struct pythia_adapter_ops *format;
    struct pythia_adapter *adapter;
};

/* A decoded body may be many times its size, so that their number is limited. */
struct lane {
    struct lane *next;
    struct pythia_span_batch *batch;
    struct pythia_buf content;          /* unpacked, or written anew, for the recording */
    struct pythia_spans_writer *writer; /* NULL: it is not written anew */
};

struct job {
    uv_work_t work; /* first, so that one is the other */
    struct job *next;
    struct pythia__intake *intake;
    struct pythia_sink sink;
    struct pythia_counts counts;
    struct pythia__intake_body body;
    struct decoder *decoder; /* while it is worked on, */
    struct lane *lane;       /* and so is this */
    bool recorded;           /* what is not as it came is kept as well, in the lane */
    struct pythia__intake_result result;
    uint64_t decode_ns; /* that decoding took */
    pythia__intake_done done;
    void *context;
};

struct pythia__intake {
    uv_loop_t *loop;
    struct pythia_vocabulary *vocabulary;
    struct pythia_live *live;
    struct pythia__intake_options o;
    struct decoder *decoders; /* that are not in use */
    struct lane lanes[LANES], *free_lanes;
    struct job *first, **last; /* that wait for a lane */
    struct job *spare;
    size_t waiting;
    bool stopped;
    int record;              /* a file, or -1 */
    uint64_t recorded_bytes; /* of it: whole records */
    struct pythia__intake_numbers numbers;
    struct pythia_counts counts;
};

/* ---- on a worker's thread ---- */

static struct job *job_of(struct pythia_sink *sink)
{
    return (struct job *)((char *)sink - offsetof(struct job, sink));
}

static int add_body_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                         const struct pythia_span *span)
{
    return pythia_span_batch_add(job_of(sink)->lane->batch, trace, span);
}

static void keep_reason(struct job *j, const struct pythia_error *why)
{
    if (!*j->result.reason)
        pythia_error_text(why, j->result.reason, sizeof(j->result.reason));
}

static void count_broken_record(struct pythia_sink *sink, const struct pythia_error *why)
{
    struct job *j = job_of(sink);
    keep_reason(j, why);
    j->result.broken++;
}

/* All that a source has, into j->lane->content. */
static int unpack_whole(struct job *j, struct pythia_source *from, struct pythia_error *e)
{
    size_t got = 1;
    while (got > 0) {
        char *to = pythia_buf_reserve(&j->lane->content, PIECE_BYTES);
        if (!to)
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to record");
        int status = from->read(from, to, PIECE_BYTES, &got, e);
        if (status != PYTHIA_OK)
            return status;
        j->lane->content.size += got;
    }
    return PYTHIA_OK;
}

static int write_body_span(void *context, const struct pythia_trace_id *trace,
                           const struct pythia_span *span)
{
    return pythia_spans_writer_add(context, trace, span);
}

/* The spans, as they were taken. */
static void write_body_spans(struct job *j)
{
    struct lane *lane = j->lane;
    if (pythia_span_batch_count(lane->batch) == 0)
        return;
    pythia_spans_writer_begin(lane->writer, &lane->content);
    if (pythia_span_batch_each(lane->batch, write_body_span, lane->writer) != PYTHIA_OK)
        lane->content.failed = 1;
}

/* The reason of the first of them is in j->result.reason. */
static void tell_too_broken(struct job *j)
{
    char first[sizeof(j->result.reason)];
    snprintf(first, sizeof(first), "%s", j->result.reason);
    snprintf(j->result.reason, sizeof(j->result.reason),
             "more than %d of its records are broken; the first: %.180s", BROKEN_MAX, first);
}

/* A compressed body that is recorded as it arrived has to be unpacked as a whole first, as the
 * recording holds plain bytes; others are unpacked while they are decoded. Of what is too large
 * nothing is taken, because its sender is told so. */
static int decode_message(struct job *j, struct pythia_text body)
{
    struct pythia_error why = {0};
    struct pythia_memory_source bytes;
    struct pythia_source *from = &bytes.source;
    struct pythia__expansion packed = {.unpack = NULL};
    struct pythia_unpack_limits limits = {.content_max = j->intake->o.inflated_max};
    size_t count = pythia_span_batch_count(j->lane->batch),
           size = pythia_span_batch_size(j->lane->batch);
    uint64_t broken = j->result.broken;
    int status = PYTHIA_OK;
    pythia_memory_source_init(&bytes, "body", body.bytes, body.size);
    if (j->body.packing != PYTHIA_PACKING_NONE) {
        status = pythia__expansion_init(&packed, body, j->body.packing, &limits, &why);
        if (status != PYTHIA_OK)
            goto out;
        from = &packed.source;
    }
    if (packed.unpack && j->recorded && !j->lane->writer) {
        if ((status = unpack_whole(j, from, &why)) != PYTHIA_OK)
            goto out;
        pythia_memory_source_init(&bytes, "body", j->lane->content.bytes, j->lane->content.size);
        from = &bytes.source;
    }
    status = j->decoder->format->decode(j->decoder->adapter, from, &j->sink, &why);
out:
    pythia__expansion_free(&packed);
    if (status == PYTHIA_ELIMIT && j->result.broken - broken > BROKEN_MAX)
        tell_too_broken(j);
    else if (status != PYTHIA_OK && why.status)
        keep_reason(j, &why);
    if (status == PYTHIA_ELIMIT)
        pythia_span_batch_truncate(j->lane->batch, count, size);
    j->result.broken += status == PYTHIA_EFORMAT; /* the rest */
    return status;
}

/* Decode message after message; only what would befall the next one too ends it. */
static int decode_parts(struct job *j)
{
    const char *at = j->body.bytes;
    for (size_t i = 0; i < j->body.part_count; i++) {
        struct pythia__intake_part *part = &j->body.parts[i];
        const char *end = j->body.bytes + part->end;
        uint64_t broken = j->result.broken;
        int status = decode_message(j, (struct pythia_text){at, (size_t)(end - at)});
        if (status == PYTHIA_ENOMEM)
            return status;
        part->broken = status != PYTHIA_OK || j->result.broken > broken;
        at = end;
    }
    return PYTHIA_OK;
}

/* Runs on a worker thread. */
static void decode_body(uv_work_t *work)
{
    struct job *j = (struct job *)work;
    struct pythia_text whole = {j->body.bytes, j->body.size};
    const uint64_t begin_ns = uv_hrtime();
    j->result.status = j->body.parts ? decode_parts(j) : decode_message(j, whole);
    if (j->recorded && j->lane->writer)
        write_body_spans(j);
    j->result.spans = pythia_span_batch_count(j->lane->batch);
    j->decode_ns = uv_hrtime() - begin_ns;
}

/* ---- on the loop's thread ---- */

static void write_whole(struct pythia__intake *i, const char *bytes, size_t size)
{
    while (size > 0 && i->record >= 0) {
        ssize_t written = write(i->record, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            pythia_log(PYTHIA_LOG_ERROR, "Stopped recording: file=%s, reason=%s", i->o.record,
                       strerror(errno));
            /* Half a record cannot be read; if it cannot be cut off either, its reader says so. */
            (void)!ftruncate(i->record, (off_t)i->recorded_bytes);
            close(i->record);
            i->record = -1;
            i->numbers.record_failed = 1;
            return;
        }
        bytes += written;
        size -= (size_t)written;
    }
}

/* The format that recording.c of the adapters reads. */
static void record_message(struct pythia__intake *i, const char *format, struct pythia_text content)
{
    char head[96];
    int size = snprintf(head, sizeof(head), "%s %zu\n", format, content.size);
    write_whole(i, head, (size_t)size);
    write_whole(i, content.bytes, content.size);
    write_whole(i, "\n", 1);
    i->recorded_bytes += (uint64_t)size + content.size + 1;
}

static void record_body(struct pythia__intake *i, const struct job *j)
{
    const struct pythia__intake_body *body = &j->body;
    bool anew = j->lane->writer != NULL;
    if (!j->recorded || i->record < 0 || (anew && j->result.spans == 0))
        return;
    if (pythia_buf_status(&j->lane->content) != PYTHIA_OK) {
        pythia_log(PYTHIA_LOG_ERROR, "Stopped recording: file=%s, reason=out of memory",
                   i->o.record);
        close(i->record);
        i->record = -1;
        i->numbers.record_failed = 1;
        return;
    }
    if (anew || body->packing != PYTHIA_PACKING_NONE) {
        record_message(i, anew ? "spans" : body->format->name, pythia_buf_text(&j->lane->content));
        return;
    }
    size_t at = 0;
    for (size_t part = 0; part < body->part_count; at = body->parts[part++].end)
        record_message(i, body->format->name,
                       (struct pythia_text){body->bytes + at, body->parts[part].end - at});
    if (!body->parts)
        record_message(i, body->format->name, (struct pythia_text){body->bytes, body->size});
}

static struct decoder *take_decoder(struct pythia__intake *i,
                                    const struct pythia_adapter_ops *format)
{
    for (struct decoder **at = &i->decoders; *at; at = &(*at)->next)
        if ((*at)->format == format) {
            struct decoder *found = *at;
            *at = found->next;
            return found;
        }
    struct decoder *made = pythia_calloc(1, sizeof(*made));
    if (!made || format->create(i->vocabulary, &made->adapter) != PYTHIA_OK) {
        pythia_free(made);
        return NULL;
    }
    made->format = format;
    return made;
}

/* The lane is free again; what only a large body needed goes back. */
static void leave_lane(struct pythia__intake *i, struct job *j)
{
    struct lane *lane = j->lane;
    struct pythia_span_batch *fresh = NULL;
    if (pythia_span_batch_bytes(lane->batch) > LANE_BYTES &&
        pythia_span_batch_create(&fresh) == PYTHIA_OK) {
        pythia_span_batch_destroy(lane->batch);
        lane->batch = fresh;
    }
    pythia_span_batch_clear(lane->batch);
    if (lane->content.capacity > LANE_BYTES)
        pythia_buf_free(&lane->content);
    pythia_buf_clear(&lane->content);
    lane->content.failed = 0;
    lane->next = i->free_lanes;
    i->free_lanes = lane;
    if (j->decoder) {
        j->decoder->next = i->decoders;
        i->decoders = j->decoder;
    }
}

/* A body is done, however it went. */
static void end_job(struct job *j)
{
    struct pythia__intake *i = j->intake;
    i->numbers.bodies++;
    i->numbers.bytes += j->body.size;
    i->numbers.spans += j->result.spans;
    i->numbers.broken += j->result.broken;
    i->waiting--;
    pythia__room_give(i->o.room, j->body.size);
    pythia_free(j->body.bytes);
    leave_lane(i, j);
    j->done(j->context, &j->result);
    j->next = i->spare;
    i->spare = j;
}

static void start_next(struct pythia__intake *i);

/* Finish as many requests as arrive: finishing all at once would delay everything else. */
static void take_spans(struct pythia__intake *i, struct job *j)
{
    uint64_t now_ns = uv_now(i->loop) * 1000000, begin_ns = uv_hrtime();
    pythia_live_set_origin(i->live, j->body.origin);
    int status = pythia_live_add(i->live, j->lane->batch, now_ns);
    pythia_live_set_origin(i->live, 0);
    if (status == PYTHIA_OK)
        status = pythia_live_tick(i->live, now_ns);
    if (status != PYTHIA_OK)
        j->result.status = status;
    pythia__own_work_add(&i->numbers.decoding, j->decode_ns);
    pythia__own_work_add(&i->numbers.grouping, uv_hrtime() - begin_ns);
}

static void finish_job(uv_work_t *work, int cancelled)
{
    struct job *j = (struct job *)work;
    struct pythia__intake *i = j->intake;
    if (cancelled || (j->body.unwanted && *j->body.unwanted)) {
        j->result = (struct pythia__intake_result){.status = PYTHIA_ESTOPPED};
    } else {
        record_body(i, j);
        pythia_counts_add(&i->counts, &j->counts);
        take_spans(i, j);
    }
    end_job(j);
    start_next(i);
}

/* Decode the first waiting bodies, as long as there are free lanes. */
static void start_next(struct pythia__intake *i)
{
    while (i->first && i->free_lanes) {
        struct job *j = i->first;
        i->first = j->next;
        i->last = i->first ? i->last : &i->first;
        j->lane = i->free_lanes;
        i->free_lanes = j->lane->next;
        j->decoder = take_decoder(i, j->body.format);
        if (j->decoder) {
            uv_queue_work(i->loop, &j->work, decode_body,
                          finish_job); /* fails only without a function */
        } else {
            j->result.status = PYTHIA_ENOMEM;
            end_job(j);
        }
    }
}

static struct job *take_job(struct pythia__intake *i)
{
    struct job *j = i->spare;
    if (j)
        i->spare = j->next;
    return j ? j : pythia_calloc(1, sizeof(*j));
}

/* Count the spans of a refused body as far as that is cheap. */
static int refuse_body(struct pythia__intake *i, const struct pythia__intake_body *body,
                       enum pythia__refusal why)
{
    struct pythia_span_count count = {0};
    pythia__room_refuse(i->o.room, body->size);
    if (body->packing == PYTHIA_PACKING_NONE && body->format->count)
        body->format->count(&count, body->bytes, body->size);
    else
        i->numbers.refused_uncounted++;
    i->numbers.refused_spans[why] += count.spans;
    return why == PYTHIA__REFUSED_NO_MEMORY ? PYTHIA_ENOMEM : PYTHIA_ELIMIT;
}

bool pythia__intake_has_room(const struct pythia__intake *i, size_t size)
{
    return !pythia_live_is_full(i->live) && pythia__room_has(i->o.room, size);
}

/* A body is refused before it is queued or decoded, so that overload costs little more than
 * receiving it. */
int pythia__intake_submit(struct pythia__intake *i, const struct pythia__intake_body *body,
                          pythia__intake_done done, void *context)
{
    if (i->stopped) {
        pythia__room_refuse(i->o.room, body->size);
        return PYTHIA_ESTOPPED;
    }
    if (pythia_live_is_full(i->live))
        return refuse_body(i, body, PYTHIA__REFUSED_FULL);
    if (!pythia__room_take(i->o.room, body->size))
        return refuse_body(i, body, PYTHIA__REFUSED_WAITING);
    struct job *j = take_job(i);
    if (!j) {
        pythia__room_give(i->o.room, body->size);
        return refuse_body(i, body, PYTHIA__REFUSED_NO_MEMORY);
    }
    *j = (struct job){
        .intake = i, .body = *body, .recorded = i->record >= 0, .done = done, .context = context};
    j->sink = (struct pythia_sink){.span = add_body_span,
                                   .broken = count_broken_record,
                                   .counts = &j->counts,
                                   .limits = i->o.limits,
                                   .redaction = i->o.redaction,
                                   .record_max = RECORD_BYTES,
                                   .broken_max = BROKEN_MAX};
    i->waiting++;
    *i->last = j;
    i->last = &j->next;
    start_next(i);
    return PYTHIA_OK;
}

/* ---- making one ---- */

/* Each lane owns its batch and writer, so that workers share nothing but the vocabulary. */
int pythia__intake_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                          struct pythia_live *live, const struct pythia__intake_options *options,
                          struct pythia__intake **out, struct pythia_error *e)
{
    struct pythia__intake *i = pythia_calloc(1, sizeof(*i));
    if (!i)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    *i = (struct pythia__intake){
        .loop = loop, .vocabulary = vocabulary, .live = live, .o = *options, .record = -1};
    i->o.inflated_max = options->inflated_max ? options->inflated_max : INFLATED_BYTES;
    i->last = &i->first;
    for (size_t lane = 0; lane < LANES; lane++) {
        bool writes = options->record && options->redaction;
        if (pythia_span_batch_create(&i->lanes[lane].batch) != PYTHIA_OK ||
            (writes &&
             pythia_spans_writer_create(vocabulary, &i->lanes[lane].writer) != PYTHIA_OK)) {
            pythia__intake_destroy(i);
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
        }
        i->lanes[lane].next = i->free_lanes;
        i->free_lanes = &i->lanes[lane];
    }
    if (options->record) {
        i->record = pythia__recording_open(options->record, PYTHIA__RECORDING_HEAD, e);
        if (i->record < 0) {
            int status = i->record;
            pythia__intake_destroy(i);
            return status;
        }
        write_whole(i, PYTHIA__RECORDING_HEAD, strlen(PYTHIA__RECORDING_HEAD));
        i->recorded_bytes = strlen(PYTHIA__RECORDING_HEAD);
    }
    *out = i;
    return PYTHIA_OK;
}

/* All jobs are done by now: the daemon waits for them before it destroys the intake. */
void pythia__intake_destroy(struct pythia__intake *i)
{
    if (!i)
        return;
    while (i->decoders) {
        struct decoder *next = i->decoders->next;
        i->decoders->format->destroy(i->decoders->adapter);
        pythia_free(i->decoders);
        i->decoders = next;
    }
    while (i->spare) {
        struct job *next = i->spare->next;
        pythia_free(i->spare);
        i->spare = next;
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        pythia_span_batch_destroy(i->lanes[lane].batch);
        pythia_spans_writer_destroy(i->lanes[lane].writer);
        pythia_buf_free(&i->lanes[lane].content);
    }
    if (i->record >= 0)
        close(i->record);
    pythia_free(i);
}

void pythia__intake_stop(struct pythia__intake *i)
{
    i->stopped = true;
}

size_t pythia__intake_waiting(const struct pythia__intake *i)
{
    return i->waiting;
}

struct pythia__intake_numbers pythia__intake_numbers(const struct pythia__intake *i)
{
    return i->numbers;
}

const struct pythia_counts *pythia__intake_counts(const struct pythia__intake *i)
{
    return &i->counts;
}
