/* The format of libpythia-tracepoints: records in frames (pythia-records(5), pythia/records.h).
 *
 * A span is an ENTER and an EXIT, with key-values between, from one thread or several, and so from
 * several streams: it is held from its ENTER to its EXIT and then passed on whole. Rings are read
 * one after the other, so an EXIT may come before the ENTER, or a key-value, that another thread
 * has written: a span that has ended is held until all is there that its process had committed at
 * that moment, and an EXIT without its ENTER for some frames more. What has not ended when the
 * input has is passed on as begun; an EXIT whose ENTER is elsewhere (in another file) as a stop. If
 * more are open than is sensible the oldest are passed on as begun, and their EXIT becomes a stop:
 * the same trace is put together from the parts.
 *
 * A duration is a difference of CLOCK_MONOTONIC, so that a clock that was set does not change it. A
 * start is that clock and what the epoch was ahead of it, which a span below another one takes over
 * from that: a trace within one process is of one piece whatever happens to the clock meanwhile.
 *
 * Streams are numbered by bytes. What comes twice (a reader was killed between writing a frame and
 * saying so) is passed over and counted as a duplicate; what is missing is reported. */
#include "native.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/symbols.h"
#include "shared/formats.h"

#define EARLY_FRAMES 1024 /* that are waited for the ENTER of an EXIT */
#define EARLY_MAX    4096 /* that wait for it at once */
#define NS_MAX       ((double)(INT64_MAX / 4))
#define WHOLE_MAX    9e15 /* a real that is a whole number, and smaller, is one exactly */

/* ---- time ---- */

/* Ticks as nanoseconds of CLOCK_MONOTONIC; false if they cannot be meant. */
static bool read_ticks(const struct pythia__native *n, uint64_t ticks, int64_t *out_ns)
{
    const struct pythia_frame *f = n->frame;
    double since = (double)(int64_t)(ticks - f->anchor_ticks) * f->ns_per_tick;
    if (!(since > -NS_MAX && since < NS_MAX))
        return false;
    *out_ns = (int64_t)f->anchor_ns + (int64_t)(since < 0 ? since - .5 : since + .5);
    return true;
}

/* ---- spans ---- */

static int emit_span(struct pythia__native *n, const struct pythia_trace_id *trace,
                     const struct pythia_span *span, struct pythia_text attributes)
{
    struct pythia_span out = *span;
    pythia__set_apart(trace, &out);
    pythia_buf_clear(&n->d.attributes);
    pythia_buf_text_add(&n->d.attributes, attributes);
    return pythia__emit(&n->d, trace, &out);
}

/* Emit a span that is held, and of which both ends are known. */
static int emit_whole_span(struct pythia__native *n, const struct pythia__open_span *s)
{
    struct pythia_span span = s->span;
    span.part = PYTHIA_PART_WHOLE;
    span.duration_ns = s->end_ns - s->start_ns;
    if (s->clock_back && span.duration_ns >= 0)
        span.duration_ns = -1; /* the clock was mended in between: how long it took is not known */
    return emit_span(n, &s->trace, &span, pythia_buf_text(&s->attributes));
}

/* Stop holding a span: emit what has begun and has not ended, or the other way round. Key-values
 * of a span that has not even begun are reported as lost. */
static int emit_unfinished(struct pythia__native *n, uint32_t number)
{
    const struct pythia__open_span *s = &n->open.spans[number];
    int status = PYTHIA_OK;
    if (s->begun && s->ended)
        status = emit_whole_span(n, s);
    else if (s->begun || s->ended)
        status = emit_span(n, &s->trace, &s->span, pythia_buf_text(&s->attributes));
    else
        pythia__native_tell_at(n, s->frame, s->offset, "key-values of a span that does not begin");
    pythia__open_spans_remove(&n->open, number);
    return status;
}

/* Emit the spans that have ended, and EXITs that have waited too long for their ENTER. A number
 * that has been given to another span since, or to none, is left out. After a failure the rest
 * stays in the list. */
static int emit_ended(struct pythia__native *n)
{
    size_t kept = 0;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < n->ended_count; i++) {
        uint32_t number = n->ended[i];
        const struct pythia__open_span *s = &n->open.spans[number];
        bool waits = s->ended && !s->begun && kept < EARLY_MAX &&
                     n->frames->number - s->frame < EARLY_FRAMES;
        if (waits || status != PYTHIA_OK)
            n->ended[kept++] = number;
        else if (s->ended)
            status = emit_unfinished(n, number);
    }
    n->ended_count = n->waiting = kept;
    return status;
}

/* When too much is held: first what has ended, whether or not all of its moment is there. */
static bool holds_too_much(const struct pythia__native *n)
{
    return n->open.open > PYTHIA__OPEN_SPANS_MAX || n->open.bytes > PYTHIA__OPEN_BYTES_MAX;
}

/* Emit spans while too many are held: first those that have ended, whether or not all other rings
 * have been read up to that moment, then the oldest. */
static int evict_open_spans(struct pythia__native *n)
{
    if (n->ended_count > n->waiting && holds_too_much(n)) {
        int status = emit_ended(n);
        if (status != PYTHIA_OK)
            return status;
    }
    while (n->open.oldest && holds_too_much(n)) {
        int status = emit_unfinished(n, n->open.oldest);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Find an open span, or add one; 0 when out of memory. */
static uint32_t reach_span(struct pythia__native *n, const struct pythia_trace_id *trace,
                           uint64_t id)
{
    uint32_t number = pythia__open_spans_find(&n->open, trace, id);
    if (number)
        return number;
    number = pythia__open_spans_add(&n->open, trace, id);
    if (number) {
        n->open.spans[number].frame = n->frames->number;
        n->open.spans[number].offset = n->offset;
    }
    return number;
}

/* ---- key-values ---- */

/* Put a value into the decoder's attributes; false if its size is not that of its kind. */
static bool add_span_value(struct pythia__native *n, uint32_t key, uint64_t kind,
                           struct pythia_text value)
{
    struct pythia_buf *to = &n->d.attributes;
    if ((kind == PYTHIA_VALUE_INTEGER || kind == PYTHIA_VALUE_REAL) && value.size != 8)
        return false;
    if (kind == PYTHIA_VALUE_BOOL && value.size != 1)
        return false;
    if (kind == PYTHIA_VALUE_TEXT && n->d.to->symbols)
        value = pythia_symbols_of(n->d.to->symbols, value);
    if (kind == PYTHIA_VALUE_TEXT)
        pythia__add_text(&n->d, key, pythia__native_clean(n, value));
    else if (kind == PYTHIA_VALUE_INTEGER)
        pythia_attributes_integer(to, key, (int64_t)pythia__little(value.bytes, 8));
    else if (kind == PYTHIA_VALUE_REAL)
        pythia_attributes_real(to, key, pythia__little_real(value.bytes));
    else if (kind == PYTHIA_VALUE_BOOL)
        pythia_attributes_bool(to, key, *value.bytes != 0);
    return kind <= PYTHIA_VALUE_BOOL;
}

/* Add a number whose type in the program is not known here: a whole number counts as an integer. */
static void add_variable_value(struct pythia__native *n, uint32_t key, double value)
{
    if (value > -WHOLE_MAX && value < WHOLE_MAX && value == (double)(int64_t)value)
        pythia_attributes_integer(&n->d.attributes, key, (int64_t)value);
    else
        pythia_attributes_real(&n->d.attributes, key, value);
}

/* Append the decoder's attributes, `values` of them, to those of an open span: as many as it may
 * have. */
static int append_values(struct pythia__native *n, uint32_t number, size_t values)
{
    struct pythia__open_span *s = &n->open.spans[number];
    size_t before = s->attributes.size, max = n->d.to->limits.attributes_max;
    if (max > 0 && s->values + values > max) {
        pythia__limit_attributes(&n->d, max - s->values);
        values = max - s->values;
    }
    if (max == 0 && s->values + values > PYTHIA__OPEN_VALUES_MAX)
        return pythia__native_tell(n, "a span with more than 1024 key-values: the rest is dropped");
    pythia_buf_text_add(&s->attributes, pythia_buf_text(&n->d.attributes));
    if (pythia_buf_status(&s->attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->values += (uint32_t)values;
    n->open.bytes += s->attributes.size - before;
    return PYTHIA_OK;
}

static int add_request_type(struct pythia__native *n, struct pythia_text name)
{
    uint32_t key = pythia__key(&n->d, PYTHIA_TEXT("request_type"));
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia__add_text(&n->d, key, pythia__native_clean(n, name));
    return PYTHIA_OK;
}

/* Add what follows an ENTER: the values of variables, and the name of the request's type. */
static int add_enter_values(struct pythia__native *n, struct pythia_text record, uint32_t number)
{
    const size_t head = sizeof(struct pythia_record_enter);
    size_t count = PYTHIA__MEMBER(record.bytes, pythia_record_enter, values),
           type_bytes = PYTHIA__MEMBER(record.bytes, pythia_record_enter, type_bytes), kept = 0,
           named = (count * 9 + 7) & ~(size_t)7;
    const char *values = record.bytes + head;
    if (count * 9 > record.size - head)
        return pythia__native_tell(n,
                                   "a span with more values of variables than there is room for");
    if (type_bytes > 0 && named + type_bytes > record.size - head)
        return pythia__native_tell(n, "a span whose request's kind is longer than it");
    pythia_buf_clear(&n->d.attributes);
    if (type_bytes > 0) {
        if (add_request_type(n, (struct pythia_text){values + named, type_bytes}) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        kept++;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t key = pythia__native_find_variable(n, (unsigned char)values[count * 8 + i]);
        if (key == PYTHIA_NONE) {
            pythia__native_tell(n, "the value of a variable that is not defined");
            continue;
        }
        add_variable_value(n, key, pythia__little_real(values + i * 8));
        kept++;
    }
    if (pythia_buf_status(&n->d.attributes) != PYTHIA_OK || pythia__redact(&n->d) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    return kept ? append_values(n, number, kept) : PYTHIA_OK;
}

/* ---- beginnings and ends ---- */

static enum pythia_span_kind map_point_kind(uint64_t point_kind)
{
    static const enum pythia_span_kind kinds[] = {PYTHIA_SPAN_INTERNAL, PYTHIA_SPAN_SERVER,
                                                  PYTHIA_SPAN_CLIENT, PYTHIA_SPAN_PRODUCER,
                                                  PYTHIA_SPAN_CONSUMER};
    return point_kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[point_kind] : PYTHIA_SPAN_UNKNOWN;
}

static struct pythia_trace_id read_trace_id(const char *high)
{
    return (struct pythia_trace_id){pythia__little(high, 8), pythia__little(high + 8, 8)};
}

/* An ENTER opens a span, or completes one whose EXIT was read first. The ENTER of a span that is
 * complete is the same span again, as it is when a capture is read twice. */
static int begin_span(struct pythia__native *n, const struct pythia_trace_id *trace,
                      const struct pythia_span *span, int64_t start_ns, int64_t epoch_ns,
                      struct pythia_text record)
{
    uint32_t number = reach_span(n, trace, span->id);
    if (!number)
        return PYTHIA_ENOMEM;
    if (n->open.spans[number].begun && n->open.spans[number].ended) {
        int status = emit_unfinished(n, number);
        if (status != PYTHIA_OK)
            return status;
        number = reach_span(n, trace, span->id);
        if (!number)
            return PYTHIA_ENOMEM;
    }
    struct pythia__open_span *s = &n->open.spans[number];
    if (s->begun) {
        n->d.to->counts->repaired[PYTHIA_REPAIR_DUPLICATE]++;
        return PYTHIA_OK;
    }
    bool error = s->ended && s->span.error, lossy = s->ended && s->span.lossy;
    s->span = *span;
    s->span.error = error;
    s->span.lossy = s->span.lossy || lossy;
    s->start_ns = start_ns;
    s->epoch_ns = epoch_ns;
    s->ticks = PYTHIA__MEMBER(record.bytes, pythia_record_enter, ticks);
    s->begun = true;
    int status = add_enter_values(n, record, number);
    if (status != PYTHIA_OK)
        return status;
    return evict_open_spans(n);
}

/* Read an ENTER or an ANNOTATION. A span takes the difference of its clock to the epoch from its
 * parent in the same process: a clock that is set meanwhile does not tear the trace apart. */
static int read_enter(struct pythia__native *n, struct pythia_text record, bool annotation)
{
    const char *at = record.bytes;
    if (record.size < sizeof(struct pythia_record_enter))
        return pythia__native_tell(n, "the beginning of a span that is too short");
    struct pythia_trace_id trace =
        read_trace_id(at + offsetof(struct pythia_record_enter, trace_high));
    uint64_t ticks = PYTHIA__MEMBER(at, pythia_record_enter, ticks);
    struct pythia_span span = {
        .id = PYTHIA__MEMBER(at, pythia_record_enter, span),
        .parent = PYTHIA__MEMBER(at, pythia_record_enter, parent),
        .tracepoint =
            pythia__native_find_point(n, (uint32_t)PYTHIA__MEMBER(at, pythia_record, number)),
        .resource = n->processes[n->process].resource,
        .kind = map_point_kind(PYTHIA__MEMBER(at, pythia_record_enter, point_kind)),
        .part = annotation ? PYTHIA_PART_ANNOTATION : PYTHIA_PART_START,
        .many_roots = true, /* what was above them may have been closed */
        .lossy = (PYTHIA__MEMBER(at, pythia_record, flags) & PYTHIA_RECORD_LOSSY) != 0,
    };
    int64_t start_ns, epoch_ns = n->frame->epoch_ns;
    if (span.tracepoint == PYTHIA_NONE)
        return pythia__native_tell(n, "a span of a trace point that is not defined");
    if (span.id == 0 || !(trace.high | trace.low))
        return pythia__native_tell(n, "a span without an id, or without a trace");
    uint32_t parent = pythia__open_spans_find(&n->open, &trace, span.parent);
    if (parent && n->open.spans[parent].begun &&
        n->open.spans[parent].span.resource == span.resource)
        epoch_ns = n->open.spans[parent].epoch_ns;
    if (!read_ticks(n, ticks, &start_ns) || start_ns + epoch_ns < 0)
        return pythia__native_tell(n, "a span that begins at an impossible time");
    span.start_ns = (uint64_t)(start_ns + epoch_ns);
    span.relation = span.kind == PYTHIA_SPAN_SERVER     ? PYTHIA_RELATION_CALL
                    : span.kind == PYTHIA_SPAN_CONSUMER ? PYTHIA_RELATION_SPAWN
                                                        : PYTHIA_RELATION_UNKNOWN;
    return annotation ? emit_span(n, &trace, &span, PYTHIA_TEXT(""))
                      : begin_span(n, &trace, &span, start_ns, epoch_ns, record);
}

/* Make an EXIT whose ENTER has not been read a stop, unless the ENTER comes later. */
static void note_stop(struct pythia__native *n, struct pythia__open_span *s)
{
    s->span.start_ns = (uint64_t)(s->end_ns + n->frame->epoch_ns);
    s->span.tracepoint = PYTHIA_NONE;
    s->span.resource = n->processes[n->process].resource;
    s->span.part = PYTHIA_PART_STOP;
    s->span.many_roots = true;
}

/* An ended span is not emitted at once: a key-value, or its ENTER, may be in another thread's ring,
 * which is read later. */
static int read_exit(struct pythia__native *n, struct pythia_text record)
{
    const char *at = record.bytes;
    int64_t end_ns;
    if (record.size < sizeof(struct pythia_record_exit))
        return pythia__native_tell(n, "the end of a span that is too short");
    struct pythia_trace_id trace =
        read_trace_id(at + offsetof(struct pythia_record_exit, trace_high));
    uint64_t id = PYTHIA__MEMBER(at, pythia_record_exit, span),
             flags = PYTHIA__MEMBER(at, pythia_record, flags);
    if (id == 0 || !(trace.high | trace.low))
        return pythia__native_tell(n, "the end of a span without an id, or without a trace");
    if (!read_ticks(n, PYTHIA__MEMBER(at, pythia_record_exit, ticks), &end_ns) ||
        end_ns + n->frame->epoch_ns < 0)
        return pythia__native_tell(n, "a span that ends at an impossible time");
    uint32_t number = reach_span(n, &trace, id);
    if (!number)
        return PYTHIA_ENOMEM;
    struct pythia__open_span *s = &n->open.spans[number];
    if (s->ended)
        return PYTHIA_OK; /* said before */
    s->ended = true;
    s->end_ns = end_ns;
    s->clock_back = (flags & PYTHIA_RECORD_CLOCK_BACK) != 0;
    s->span.error = (flags & PYTHIA_RECORD_ERROR) != 0;
    s->span.lossy = s->span.lossy || flags & PYTHIA_RECORD_LOSSY;
    if (!s->begun)
        note_stop(n, s);
    if (!s->begun && n->open.open > PYTHIA__OPEN_SPANS_MAX)
        return emit_unfinished(n, number); /* its ENTER may have been passed on to make room */
    if (pythia_grow(&n->ended, &n->ended_capacity, n->ended_count, sizeof(*n->ended)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    n->ended[n->ended_count++] = number;
    return PYTHIA_OK;
}

/* ---- key-values that stand by themselves ---- */

/* Records come from a program that may have crashed while it wrote: all sizes are checked. */
static int read_value_record(struct pythia__native *n, struct pythia_text record)
{
    const char *at = record.bytes;
    const size_t head = sizeof(struct pythia_record_value);
    if (record.size < head)
        return pythia__native_tell(n, "a key-value that is too short");
    struct pythia_trace_id trace =
        read_trace_id(at + offsetof(struct pythia_record_value, trace_high));
    uint64_t id = PYTHIA__MEMBER(at, pythia_record_value, span),
             kind = PYTHIA__MEMBER(at, pythia_record_value, value_kind),
             flags = PYTHIA__MEMBER(at, pythia_record, flags);
    size_t key_bytes = PYTHIA__MEMBER(at, pythia_record_value, key_bytes),
           value_bytes = PYTHIA__MEMBER(at, pythia_record_value, value_bytes);
    if (key_bytes + value_bytes > record.size - head)
        return pythia__native_tell(n, "a key-value whose texts are longer than it");
    if (id == 0 || !(trace.high | trace.low))
        return pythia__native_tell(n, "a key-value of a span without an id, or without a trace");
    uint64_t variable = PYTHIA__MEMBER(at, pythia_record, number);
    uint32_t key =
        variable ? pythia__native_find_variable(n, variable)
                 : pythia__key(&n->d,
                               pythia__native_clean(n, (struct pythia_text){at + head, key_bytes}));
    if (key == PYTHIA_NONE)
        return variable ? pythia__native_tell(n, "the value of a variable that is not defined")
                        : PYTHIA_ENOMEM;
    pythia_buf_clear(&n->d.attributes);
    if (variable && kind == PYTHIA_VALUE_REAL && value_bytes == 8)
        add_variable_value(n, key, pythia__little_real(at + head + key_bytes));
    else if (!add_span_value(n, key, kind,
                             (struct pythia_text){at + head + key_bytes, value_bytes}))
        return pythia__native_tell(
            n, "a key-value of an unknown kind, or of a size that is not its kind's");
    if (flags & (PYTHIA_RECORD_KEY_CUT | PYTHIA_RECORD_TEXT_CUT))
        n->d.to->counts->dropped[PYTHIA_DROP_CUT_TEXT]++;
    if (pythia_buf_status(&n->d.attributes) != PYTHIA_OK || pythia__redact(&n->d) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t number = reach_span(n, &trace, id);
    if (!number)
        return PYTHIA_ENOMEM;
    int status = append_values(n, number, 1);
    if (status != PYTHIA_OK)
        return status;
    return evict_open_spans(n);
}

/* ---- frames ---- */

static int read_native_record(struct pythia__native *n, struct pythia_text record)
{
    switch (PYTHIA__MEMBER(record.bytes, pythia_record, kind)) {
    case PYTHIA_RECORD_PROCESS:
        return pythia__native_process(n, record);
    case PYTHIA_RECORD_POINT:
        return pythia__native_point(n, record);
    case PYTHIA_RECORD_VARIABLE:
        return pythia__native_variable(n, record);
    case PYTHIA_RECORD_ENTER:
        return read_enter(n, record, false);
    case PYTHIA_RECORD_ANNOTATION:
        return read_enter(n, record, true);
    case PYTHIA_RECORD_EXIT:
        return read_exit(n, record);
    case PYTHIA_RECORD_VALUE:
        return read_value_record(n, record);
    case PYTHIA_RECORD_COST:
        return pythia__native_cost(n, record);
    case PYTHIA_RECORD_DROPPED:
        return pythia__native_dropped(n, record);
    default: /* of a later version */
        n->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE]++;
        return PYTHIA_OK;
    }
}

/* Read the records of a payload after its first `skip` bytes. *whole is where the last record that
 * was read ends: the next frame of the ring continues there. A size that cannot be right leaves the
 * rest unreadable, because nothing else separates records. */
static int read_records(struct pythia__native *n, const struct pythia__frame_read *f, uint64_t skip,
                        uint64_t *whole)
{
    size_t at = 0;
    int status = PYTHIA_OK;
    while (f->payload.size - at >= sizeof(struct pythia_record)) {
        const char *record = f->payload.bytes + at;
        size_t size = PYTHIA__MEMBER(record, pythia_record, bytes);
        n->offset = f->offset + at;
        if (size < sizeof(struct pythia_record) || size % 8 || size > PYTHIA_RECORD_BYTES) {
            pythia__native_tell(n,
                                "a record of an impossible size: the rest of the frame is skipped");
            *whole = f->payload.size;
            return PYTHIA_OK;
        }
        if (size > f->payload.size - at)
            break;
        if (at >= skip)
            status = read_native_record(n, (struct pythia_text){record, size});
        at += size;
        if (status != PYTHIA_OK)
            break;
    }
    *whole = at;
    n->offset = f->offset + at;
    if (status != PYTHIA_OK)
        return status;
    if (at < f->payload.size && f->missing == 0)
        pythia__native_tell(n, "a record that does not end in its frame");
    return PYTHIA_OK;
}

/* Count the bytes of the payload that have been read before, by its position in the stream. */
static uint64_t count_overlap(struct pythia__native *n, const struct pythia__native_stream *s,
                              const struct pythia_frame *f)
{
    if (!s->begun || f->position == s->next)
        return 0;
    if (f->position > s->next) {
        pythia__native_tell(n,
                            "records are missing between this frame and the last one of its ring");
        return 0;
    }
    n->d.to->counts->repaired[PYTHIA_REPAIR_DUPLICATE]++;
    return s->next - f->position;
}

/* All rings of a process are read at one moment of its clock: when a frame of a later moment comes,
 * what had ended at the earlier one is complete, and is emitted. */
static int read_frame(struct pythia__native *n, const struct pythia__frame_read *f)
{
    n->frame = &f->header;
    n->offset = f->offset;
    int status = pythia__native_enter_process(n);
    if (status != PYTHIA_OK)
        return status;
    if (n->process != n->moment_process || f->header.anchor_ticks != n->moment_ticks) {
        status = emit_ended(n);
        if (status != PYTHIA_OK)
            return status;
    }
    n->moment_process = n->process;
    n->moment_ticks = f->header.anchor_ticks;
    uint32_t index = pythia__native_intern(n->stream_ids, n->process, f->header.stream);
    if (index == PYTHIA_STRTAB_NONE ||
        pythia_reach(&n->streams, &n->stream_capacity, index, sizeof(*n->streams)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia__native_stream *s = &n->streams[index];
    uint64_t whole = 0, skip = count_overlap(n, s, &f->header);
    pythia__native_count_losses(n, s, &f->header);
    if (f->header.flags & PYTHIA_FRAME_CLOCK_STEP && f->payload.size > skip)
        n->d.to->counts->repaired[PYTHIA_REPAIR_CLOCK_STEP]++;
    status = read_records(n, f, skip, &whole);
    if (!s->begun || f->header.position + whole > s->next)
        s->next = f->header.position + whole;
    s->begun = true;
    if (status != PYTHIA_OK)
        return status;
    if (f->missing > 0)
        pythia__native_tell(n, "the last frame is truncated");
    return f->header.flags & PYTHIA_FRAME_LAST ? emit_ended(n) : PYTHIA_OK;
}

/* A broken frame is counted, and reading goes on at the next one: frames begin with a magic number.
 */
static int read_frames(struct pythia__native *n, struct pythia_error *e)
{
    for (;;) {
        struct pythia__frame_read frame;
        struct pythia_error why = {0};
        int status = pythia__frames_next(n->frames, &frame, &why);
        if (status == 1)
            return PYTHIA_OK;
        if (status == PYTHIA_EFORMAT && why.line > 0) {
            n->d.to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD]++;
            n->d.to->broken(n->d.to, &why);
            continue;
        }
        if (status == 0)
            status = read_frame(n, &frame);
        else if (e && e->status == PYTHIA_OK)
            *e = why;
        if (status != PYTHIA_OK)
            return status;
    }
}

/* ---- the row ---- */

static int native_likeness(const struct pythia_head *head)
{
    return head->text.size >= 8 && memcmp(head->text.bytes, PYTHIA_FRAME_MAGIC, 8) == 0 ? 100 : 0;
}

static void destroy_native(struct pythia_adapter *a)
{
    struct pythia__native *n = (struct pythia__native *)a;
    if (!n)
        return;
    pythia__open_spans_free(&n->open);
    for (size_t i = 0; i < n->process_capacity; i++)
        pythia_free(n->processes[i].variables);
    pythia_strtab_destroy(n->process_ids);
    pythia_strtab_destroy(n->stream_ids);
    pythia_strtab_destroy(n->point_ids);
    pythia_free(n->processes);
    pythia_free(n->streams);
    pythia_free(n->tracepoints);
    pythia_free(n->ended);
    pythia_buf_free(&n->text);
    pythia__decoder_free(&n->d);
    pythia_free(n);
}

static int create_native(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct pythia__native *n = pythia_calloc(1, sizeof(*n));
    if (!n)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&n->d, &pythia__native, vocabulary);
    if (pythia_strtab_create(&n->process_ids) != PYTHIA_OK ||
        pythia_strtab_create(&n->stream_ids) != PYTHIA_OK ||
        pythia_strtab_create(&n->point_ids) != PYTHIA_OK) {
        destroy_native(&n->d.adapter);
        return PYTHIA_ENOMEM;
    }
    *out = &n->d.adapter;
    return PYTHIA_OK;
}

/* Spans that have not ended when the input ends are emitted as begun, also after a fault in it. */
static int decode_native(struct pythia_adapter *a, struct pythia_source *from,
                         struct pythia_sink *to, struct pythia_error *e)
{
    struct pythia__native *n = (struct pythia__native *)a;
    struct pythia__frames frames = {.from = from};
    pythia__decoder_begin(&n->d, to);
    n->frames = &frames;
    int status = read_frames(n, e);
    if (pythia__goes_on(&n->d, status)) {
        int given = emit_ended(n);
        status = given != PYTHIA_OK ? given : status;
    }
    while (n->open.oldest && pythia__goes_on(&n->d, status)) {
        int given = emit_unfinished(n, n->open.oldest);
        status = given != PYTHIA_OK ? given : status;
    }
    n->ended_count = n->waiting = 0;
    pythia__frames_free(&frames);
    return n->d.stopped < 0 ? n->d.stopped : status;
}

const struct pythia_adapter_ops pythia__native = {
    .name = "native",
    .help = "Records of libpythia-tracepoints, as it writes them to a file",
    .likeness = native_likeness,
    .create = create_native,
    .decode = decode_native,
    .destroy = destroy_native,
};
