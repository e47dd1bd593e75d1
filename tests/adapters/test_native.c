/* What the corpus of native records is too small for: many spans at once, memory that is missing,
 * sinks and sources that stop. */
#include <pythia/records.h>
#include <stdio.h>

#include "check.h"
#include "collect.h"

/* ---- frames, as the library writes them ---- */

static uint64_t fnv(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of the frames to come: */
static uint32_t frame_flags;
static uint64_t anchor_ns, lost[4];

/* Put a frame around what is in `payload`, which is emptied. Ticks are nanoseconds of the epoch. */
static void add_frame(struct pythia_buf *to, struct pythia_buf *payload, uint32_t stream,
                      uint64_t *position)
{
    struct pythia_frame frame = {
        .version = PYTHIA_FRAME_VERSION,
        .header_bytes = sizeof(frame),
        .payload_bytes = (uint32_t)payload->size,
        .process_low = 1,
        .stream = stream,
        .flags = frame_flags,
        .position = *position,
        .ns_per_tick = 1,
        .anchor_ns = anchor_ns,
        .lost_spans = lost[0],
        .lost_ends = lost[1],
        .lost_annotations = lost[2],
        .lost_values = lost[3],
    };
    memcpy(frame.magic, PYTHIA_FRAME_MAGIC, 8);
    frame.check = fnv(&frame, sizeof(frame) - 8);
    pythia_buf_add(to, &frame, sizeof(frame));
    pythia_buf_text_add(to, pythia_buf_text(payload));
    *position += payload->size;
    pythia_buf_clear(payload);
}

static void add_definitions(struct pythia_buf *to)
{
    struct pythia_buf payload = {0};
    uint64_t position = 0;
    const struct pythia_record_process process = {
        .head = {.bytes = 24, .kind = PYTHIA_RECORD_PROCESS}, .pid = 1, .service_bytes = 1};
    const struct pythia_record_point point = {
        .head = {.bytes = 24, .kind = PYTHIA_RECORD_POINT, .number = 1}, .name_bytes = 1};
    pythia_buf_add(&payload, &process, sizeof(process));
    pythia_buf_add(&payload, "s\0\0\0\0\0\0\0", 8);
    pythia_buf_add(&payload, &point, sizeof(point));
    pythia_buf_add(&payload, "p\0\0\0\0\0\0\0", 8);
    add_frame(to, &payload, 0, &position);
    pythia_buf_free(&payload);
}

static void add_enter(struct pythia_buf *to, uint64_t span, uint64_t ticks)
{
    const struct pythia_record_enter record = {
        .head = {.bytes = sizeof(record), .kind = PYTHIA_RECORD_ENTER, .number = 1},
        .ticks = ticks,
        .trace_low = 1,
        .span = span,
    };
    pythia_buf_add(to, &record, sizeof(record));
}

static void add_exit(struct pythia_buf *to, uint64_t span, uint64_t ticks)
{
    const struct pythia_record_exit record = {
        .head = {.bytes = sizeof(record), .kind = PYTHIA_RECORD_EXIT},
        .ticks = ticks,
        .trace_low = 1,
        .span = span,
    };
    pythia_buf_add(to, &record, sizeof(record));
}

/* A text of `size` bytes (a multiple of 8, less one for the key), each of them 'x'. */
static void add_text(struct pythia_buf *to, uint64_t span, uint16_t size)
{
    struct pythia_record_value record = {
        .head = {.bytes = (uint16_t)(sizeof(record) + 1 + size), .kind = PYTHIA_RECORD_VALUE},
        .trace_low = 1,
        .span = span,
        .value_kind = PYTHIA_VALUE_TEXT,
        .key_bytes = 1,
        .value_bytes = size,
    };
    pythia_buf_add(to, &record, sizeof(record));
    pythia_buf_putc(to, 'k');
    for (int i = 0; i < size; i++)
        pythia_buf_putc(to, 'x');
}

static void decode(struct collection *c, const struct pythia_buf *bytes, size_t piece)
{
    struct pythia_memory_source memory;
    assert_int_equal(pythia_buf_status(bytes), PYTHIA_OK);
    pythia_memory_source_init(&memory, "test", bytes->bytes, bytes->size);
    memory.piece = piece;
    collect_source(c, "native", &memory.source);
}

/* ---- tests ---- */

#define MANY 70000 /* more than are held */

/* The oldest are given on as begun, and end as parts: nothing is left out. */
static void more_open_spans_than_are_held_come_in_parts(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    struct collection c;
    uint64_t position = 0;
    add_definitions(&bytes);
    for (uint64_t i = 1; i <= MANY; i++) {
        add_enter(&payload, i, i);
        if (i % 1000 == 0)
            add_frame(&bytes, &payload, 1, &position);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        add_exit(&payload, i, MANY + i);
        if (i % 1000 == 0)
            add_frame(&bytes, &payload, 1, &position);
    }
    collection_open(&c);
    decode(&c, &bytes, 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_problems(&c, "");
    size_t parts[3] = {0, 0, 0};
    for (size_t i = 0; i < c.count; i++)
        parts[span_at(&c, i)->part]++;
    assert_int_equal(parts[PYTHIA_PART_START], MANY - 65536);
    assert_int_equal(parts[PYTHIA_PART_STOP], MANY - 65536);
    assert_int_equal(parts[PYTHIA_PART_WHOLE], 65536);
    assert_times(&c, 0, 1, 0); /* the oldest first */
    collection_close(&c);
    pythia_buf_free(&bytes);
    pythia_buf_free(&payload);
}

/* Key-values are held to a limit, too. */
static void more_key_values_than_are_held_are_given_on(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    struct collection c;
    uint64_t position = 0;
    const uint64_t spans = 600;
    add_definitions(&bytes);
    for (uint64_t i = 1; i <= spans; i++) {
        add_enter(&payload, i, i);
        for (int k = 0; k < 1000; k++)
            add_text(&payload, i, 159);
        add_frame(&bytes, &payload, 1, &position);
    }
    collection_open(&c);
    decode(&c, &bytes, 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_problems(&c, "");
    assert_int_equal(c.count, spans);
    for (size_t i = 0; i < c.count; i++) {
        assert_times(&c, i, i + 1, 0);
        assert_int_equal(attribute_count(&c, i), 1000);
    }
    collection_close(&c);
    pythia_buf_free(&bytes);
    pythia_buf_free(&payload);
}

static void long_texts_are_cut_and_still_differ(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    struct collection c;
    struct pythia_attribute found;
    uint64_t position = 0;
    add_definitions(&bytes);
    add_enter(&payload, 1, 1);
    add_text(&payload, 1, 4095);
    add_exit(&payload, 1, 2);
    add_frame(&bytes, &payload, 1, &position);
    collection_open(&c);
    decode(&c, &bytes, 0);
    assert_true(find_attribute(&c, attributes_at(&c, 0), "k", &found));
    assert_int_equal(found.text.size, 160);
    assert_memory_equal(found.text.bytes + 136, "xxxx...#", 8);
    collection_close(&c);
    pythia_buf_free(&bytes);
    pythia_buf_free(&payload);
}

/* Rings are read one after the other: the end of a span may come before its beginning, which has
 * its key-values with it. */
static void add_span(struct pythia_buf *to, uint64_t span)
{
    add_enter(to, span, 10 * span);
    add_exit(to, span, 10 * span + 5);
}

/* A frame of the largest size is read, and of a larger one nothing; what stands behind it is. */
static void a_frame_has_a_largest_size(void **state)
{
    for (int more = -8; more <= 8; more += 8) {
        struct pythia_buf bytes = {0}, payload = {0};
        struct collection c;
        uint64_t position = 0;
        add_definitions(&bytes);
        add_span(&payload, 1);
        size_t wanted = (size_t)(PYTHIA_PAYLOAD_BYTES + more);
        while (payload.size < wanted) { /* with records of a later version */
            size_t size = wanted - payload.size;
            size = size < PYTHIA_RECORD_BYTES ? size : PYTHIA_RECORD_BYTES;
            const struct pythia_record later = {.bytes = (uint16_t)size, .kind = 99};
            pythia_buf_add(&payload, &later, sizeof(later));
            for (size_t i = sizeof(later); i < size; i++)
                pythia_buf_putc(&payload, 0);
        }
        assert_int_equal(payload.size, wanted);
        add_frame(&bytes, &payload, 1, &position);
        add_span(&payload, 2);
        add_frame(&bytes, &payload, 2, &(uint64_t){0});
        collection_open(&c);
        decode(&c, &bytes, 0);
        assert_int_equal(c.status, PYTHIA_OK);
        assert_int_equal(c.count, more > 0 ? 1 : 2);
        assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE] > 0, more <= 0);
        assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD] > 0, more > 0);
        assert_int_equal(strstr(c.problems.bytes, "a frame of an impossible size") != NULL,
                         more > 0);
        collection_close(&c);
        pythia_buf_free(&payload);
        pythia_buf_free(&bytes);
    }
}

/* And so is a record: of the rest of the frame behind a larger one nobody knows where it begins. */
static void a_record_has_a_largest_size(void **state)
{
    for (int more = -8; more <= 8; more += 8) {
        struct pythia_buf bytes = {0}, payload = {0};
        struct collection c;
        uint64_t position = 0;
        add_definitions(&bytes);
        add_enter(&payload, 1, 10);
        add_text(&payload, 1, (uint16_t)(PYTHIA_RECORD_BYTES + more - 41));
        add_exit(&payload, 1, 20);
        add_frame(&bytes, &payload, 1, &position);
        add_span(&payload, 2);
        add_frame(&bytes, &payload, 2, &(uint64_t){0});
        collection_open(&c);
        decode(&c, &bytes, 0);
        assert_int_equal(c.status, PYTHIA_OK);
        assert_int_equal(c.count, 2);
        size_t whole = 0;
        for (size_t i = 0; i < c.count; i++)
            whole += span_at(&c, i)->part == PYTHIA_PART_WHOLE;
        assert_int_equal(whole, more > 0 ? 1 : 2);
        assert_int_equal(c.counts.long_values, more <= 0);
        assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], more > 0);
        collection_close(&c);
        pythia_buf_free(&payload);
        pythia_buf_free(&bytes);
    }
}

static void an_end_that_comes_first_waits_for_its_beginning(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    struct collection c;
    struct pythia_attribute found;
    uint64_t first = 0, second = 0;
    add_definitions(&bytes);
    add_exit(&payload, 7, 50);
    add_enter(&payload, 8, 60); /* of another one, meanwhile */
    add_exit(&payload, 8, 61);
    add_frame(&bytes, &payload, 2, &second);
    add_enter(&payload, 7, 20);
    add_text(&payload, 7, 7);
    add_enter(&payload, 9, 70);
    add_enter(&payload, 11, 80);
    add_exit(&payload, 11, 84); /* before a key-value of another thread */
    add_frame(&bytes, &payload, 1, &first);
    add_exit(&payload, 9, 72);
    add_text(&payload, 11, 15);
    add_exit(&payload, 10, 73); /* whose beginning is nowhere */
    add_frame(&bytes, &payload, 2, &second);
    collection_open(&c);
    decode(&c, &bytes, 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_problems(&c, "");
    assert_int_equal(c.count, 5);
    assert_times(&c, 0, 20, 30);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WHOLE);
    assert_true(find_attribute(&c, attributes_at(&c, 0), "k", &found));
    assert_int_equal(found.text.size, 7);
    assert_times(&c, 1, 60, 1);
    assert_times(&c, 2, 80, 4);
    assert_true(find_attribute(&c, attributes_at(&c, 2), "k", &found));
    assert_int_equal(found.text.size, 15);
    assert_times(&c, 3, 70, 2);
    assert_times(&c, 4, 73, 0);
    assert_int_equal(span_at(&c, 4)->part, PYTHIA_PART_STOP);
    collection_close(&c);
    pythia_buf_free(&bytes);
    pythia_buf_free(&payload);
}

/* So many frames later it is given on by itself, and a beginning that comes then, too: as parts. */
static void an_end_does_not_wait_for_ever(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    struct collection c;
    uint64_t first = 0, second = 0;
    frame_flags = PYTHIA_FRAME_LAST;
    add_definitions(&bytes);
    add_exit(&payload, 7, 50);
    add_frame(&bytes, &payload, 2, &second);
    for (uint64_t i = 0; i < 1100; i++) {
        add_enter(&payload, 100 + i, 100 + i);
        add_exit(&payload, 100 + i, 100 + i);
        add_frame(&bytes, &payload, 2, &second);
    }
    add_enter(&payload, 7, 20);
    add_frame(&bytes, &payload, 1, &first);
    frame_flags = 0;
    collection_open(&c);
    decode(&c, &bytes, 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.count, 1102);
    for (size_t i = 0; i < 1101; i++)
        if (span_at(&c, i)->part == PYTHIA_PART_STOP)
            assert_in_range(i, 1020, 1028);
    assert_int_equal(span_at(&c, 1101)->part, PYTHIA_PART_START);
    collection_close(&c);
    pythia_buf_free(&bytes);
    pythia_buf_free(&payload);
}

static struct pythia_buf file_of(const char *name)
{
    char path[512];
    struct pythia_buf content = {0};
    size_t size;
    char *room;
    snprintf(path, sizeof(path), PYTHIA_TESTS "/corpus/native/%s/input", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while ((room = pythia_buf_reserve(&content, 4096)) && (size = fread(room, 1, 4096, file)) > 0)
        content.size += size;
    fclose(file);
    return content;
}

static void each_allocation_may_fail(void **state)
{
    static const char *const names[] = {"valid/nested", "valid/threads", "valid/any-bytes",
                                        "invalid/cut-by-another-frame"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct pythia_buf bytes = file_of(names[i]);
        int status = PYTHIA_ENOMEM;
        for (long allowed = 0; status == PYTHIA_ENOMEM; allowed++) {
            struct collection c;
            struct pythia_memory_source memory;
            collection_open(&c);
            pythia_memory_source_init(&memory, "test", bytes.bytes, bytes.size);
            pythia_mem_fail_after(allowed);
            collect_source(&c, "native", &memory.source);
            pythia_mem_fail_after(-1);
            status = c.status;
            assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
            collection_close(&c);
        }
        pythia_buf_free(&bytes);
    }
}

static void a_sink_may_stop_at_any_span(void **state)
{
    struct pythia_buf bytes = file_of("valid/nested");
    for (size_t stop = 1; stop <= 6; stop++) {
        struct collection c;
        collection_open(&c);
        c.stop_after = stop;
        decode(&c, &bytes, 0);
        assert_int_equal(c.status, PYTHIA_ESTOPPED);
        assert_int_equal(c.count, stop);
        collection_close(&c);
    }
    pythia_buf_free(&bytes);
    bytes = file_of("valid/unfinished"); /* stopped while the rest is given on */
    struct collection c;
    collection_open(&c);
    c.stop_after = 1;
    decode(&c, &bytes, 0);
    assert_int_equal(c.status, PYTHIA_ESTOPPED);
    assert_int_equal(c.count, 1);
    collection_close(&c);
    pythia_buf_free(&bytes);
}

/* A source that fails in the middle: what was read before counts. */
struct failing {
    struct pythia_source source;
    const struct pythia_buf *bytes;
    size_t at, end;
};

static int read_failing(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                        struct pythia_error *e)
{
    struct failing *f = (struct failing *)source;
    *got = 0;
    if (f->at == f->end)
        return pythia_error_set(e, PYTHIA_EIO, "the cable was pulled");
    *got = f->end - f->at < capacity ? f->end - f->at : capacity;
    memcpy(to, f->bytes->bytes + f->at, *got);
    f->at += *got;
    return PYTHIA_OK;
}

static void a_source_that_fails_is_told_behind_what_it_gave(void **state)
{
    struct pythia_buf bytes = file_of("valid/one-span");
    struct failing f = {{"cable", read_failing, NULL, NULL}, &bytes, 0, bytes.size};
    struct collection c;
    collection_open(&c);
    collect_source(&c, "native", &f.source);
    assert_int_equal(c.status, PYTHIA_EIO);
    assert_string_equal(c.error.sentence, "the cable was pulled");
    assert_int_equal(c.count, 1);
    collection_close(&c);
    pythia_buf_free(&bytes);
}

/* A stream in which nothing comes any more for now; and what had been decoded by then. */
struct idle {
    struct pythia_source source;
    const struct pythia_buf *bytes;
    const struct collection *c;
    size_t at, decoded;
};

static int read_idle(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                     struct pythia_error *e)
{
    struct idle *s = (struct idle *)source;
    (void)e;
    *got = s->bytes->size - s->at < capacity ? s->bytes->size - s->at : capacity;
    if (*got == 0)
        s->decoded = s->c->count;
    memcpy(to, s->bytes->bytes + s->at, *got);
    s->at += *got;
    return PYTHIA_OK;
}

static bool idle_waits(struct pythia_source *source)
{
    const struct idle *s = (const struct idle *)source;
    return s->at == s->bytes->size;
}

static void the_last_frame_of_a_stream_is_not_held_back(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    struct collection c;
    uint64_t position = 0;
    add_definitions(&bytes);
    frame_flags = PYTHIA_FRAME_LAST;
    for (uint64_t span = 1; span <= 2; span++) {
        add_enter(&payload, span, 5);
        add_exit(&payload, span, 9);
        add_frame(&bytes, &payload, 1, &position);
    }
    frame_flags = 0;
    struct idle stream = {.source = {.name = "idle", .read = read_idle, .waits = idle_waits},
                          .bytes = &bytes,
                          .c = &c};
    collection_open(&c);
    collect_source(&c, "native", &stream.source);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.count, 2);
    assert_int_equal(stream.decoded, 2);
    collection_close(&c);
    pythia_buf_free(&bytes);
    pythia_buf_free(&payload);
}

/* One adapter, two files of one process: what begins in the first may end in the second. */
static void definitions_are_kept_from_source_to_source(void **state)
{
    struct pythia_buf first = {0}, second = {0}, payload = {0};
    struct collection c;
    uint64_t position = 0;
    struct pythia_adapter *adapter = NULL;
    const struct pythia_adapter_ops *ops = pythia_adapter_named("native");
    add_definitions(&first);
    add_enter(&payload, 1, 5);
    add_frame(&first, &payload, 1, &position);
    add_exit(&payload, 1, 9);
    add_enter(&payload, 2, 10);
    add_exit(&payload, 2, 12);
    add_frame(&second, &payload, 1, &position);
    collection_open(&c);
    assert_int_equal(ops->create(c.vocabulary, &adapter), PYTHIA_OK);
    const struct pythia_buf *const both[] = {&first, &second};
    for (int i = 0; i < 2; i++) {
        struct pythia_memory_source memory;
        pythia_memory_source_init(&memory, "test", both[i]->bytes, both[i]->size);
        assert_int_equal(ops->decode(adapter, &memory.source, &c.sink, &c.error), PYTHIA_OK);
    }
    ops->destroy(adapter);
    assert_int_equal(c.count, 3);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_int_equal(span_at(&c, 1)->part, PYTHIA_PART_WHOLE);
    assert_tracepoint(&c, 1, "s:p");
    assert_int_equal(span_at(&c, 2)->part, PYTHIA_PART_STOP); /* it was waited for its beginning */
    assert_times(&c, 2, 9, 0);
    collection_close(&c);
    pythia_buf_free(&first);
    pythia_buf_free(&second);
    pythia_buf_free(&payload);
}

/* A frame of nothing but its clock, and what was lost of spans and of values. */
static void add_losses(struct pythia_buf *to, uint64_t at_ns, uint64_t spans, uint64_t values)
{
    struct pythia_buf payload = {0};
    uint64_t position = 0;
    anchor_ns = at_ns;
    lost[0] = spans;
    lost[3] = values;
    add_frame(to, &payload, 1, &position);
    anchor_ns = lost[0] = lost[3] = 0;
}

#define SECOND UINT64_C(1000000000)
#define SLACK  UINT64_C(10000000)

/* One a nanosecond, and the slack; the next is counted from the one that was not believed. */
static void losses_are_believed_as_far_as_there_was_time_for_them(void **state)
{
    struct pythia_buf bytes = {0};
    struct collection c;
    collection_open(&c);
    add_losses(&bytes, 5 * SECOND, 5 * SECOND, SLACK);             /* since the machine began */
    add_losses(&bytes, 6 * SECOND, 6 * SECOND, SLACK + 7);         /* a nanosecond a loss, and 7 */
    add_losses(&bytes, 7 * SECOND, 7 * SECOND + SLACK, SLACK + 8); /* 1 s and 10 ms and one more */
    add_losses(&bytes, 7 * SECOND, 7 * SECOND + SLACK, SLACK + 9); /* one more than that */
    decode(&c, &bytes, 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 6 * SECOND + SLACK + 7 + 1);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_LOSS_COUNT], 1);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 0);
    assert_problems(&c, "3:384: the program claims to have lost 1010000001 records since the "
                        "last look, and cannot have lost more than 1010000000: not counted\n");
    collection_close(&c);
    pythia_buf_free(&bytes);
}

/* Whatever stands there: the sum of all losses does not run over, and is never what was claimed. */
static void wild_losses_are_counted_as_claims(void **state)
{
    struct pythia_buf bytes = {0};
    struct collection c;
    collection_open(&c);
    add_losses(&bytes, SECOND, 0, 0);
    add_losses(&bytes, 2 * SECOND, UINT64_C(4100000000000000000), 0);
    add_losses(&bytes, 3 * SECOND, UINT64_MAX, UINT64_MAX); /* wraps, if it is summed plainly */
    add_losses(&bytes, 4 * SECOND, 3, 0);                   /* the claim is taken back */
    add_losses(&bytes, 5 * SECOND, 5, 0);
    add_losses(&bytes, 4 * SECOND, UINT64_C(1) << 63, UINT64_C(1) << 63); /* the clock went back */
    decode(&c, &bytes, 0);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_LOSS_COUNT], 3);
    collection_close(&c);
    pythia_buf_free(&bytes);
}

static void add_dropped(struct pythia_buf *to, uint32_t reason, uint64_t spans)
{
    const struct pythia_record_dropped record = {
        .head = {.bytes = sizeof(record), .kind = PYTHIA_RECORD_DROPPED, .number = reason},
        .spans = spans};
    pythia_buf_add(to, &record, sizeof(record));
}

/* One a nanosecond, and the slack, for all records of a frame together. */
static void spans_that_were_dropped_are_counted_by_reason_and_believed_within_bounds(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    uint64_t position = 0;
    struct collection c;
    collection_open(&c);
    anchor_ns = SECOND;
    add_dropped(&payload, PYTHIA_DROPPED_SWITCHED, SECOND);
    add_dropped(&payload, PYTHIA_DROPPED_ABANDONED, SLACK - 2);
    add_dropped(&payload, PYTHIA_DROPPED_OVERSIZE, 2);
    add_dropped(&payload, PYTHIA_DROPPED_OVERSIZE, 1);
    add_frame(&bytes, &payload, 1, &position);
    anchor_ns = 2 * SECOND;
    add_dropped(&payload, PYTHIA_DROPPED_SWITCHED, UINT64_MAX);
    add_dropped(&payload, PYTHIA_DROPPED_ABANDONED, 1);
    add_dropped(&payload, 0, 1);
    add_dropped(&payload, 4, 1); /* of a later version */
    add_frame(&bytes, &payload, 1, &position);
    anchor_ns = 0;
    decode(&c, &bytes, 0);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_SWITCHED], SECOND);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_ABANDONED], SLACK - 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_OVERSIZE], 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_LOSS_COUNT], 3);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 0);
    collection_close(&c);
    pythia_buf_free(&payload);
    pythia_buf_free(&bytes);
}

static void a_count_of_dropped_spans_that_is_too_short_is_reported(void **state)
{
    struct pythia_buf bytes = {0}, payload = {0};
    const struct pythia_record record = {
        .bytes = 8, .kind = PYTHIA_RECORD_DROPPED, .number = PYTHIA_DROPPED_SWITCHED};
    uint64_t position = 0;
    struct collection c;
    collection_open(&c);
    pythia_buf_add(&payload, &record, sizeof(record));
    add_frame(&bytes, &payload, 1, &position);
    decode(&c, &bytes, 0);
    assert_problems(&c, "1:128: a count of dropped spans that is too short\n");
    collection_close(&c);
    pythia_buf_free(&payload);
    pythia_buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_were_dropped_are_counted_by_reason_and_believed_within_bounds),
        cmocka_unit_test(a_count_of_dropped_spans_that_is_too_short_is_reported),
        cmocka_unit_test(more_open_spans_than_are_held_come_in_parts),
        cmocka_unit_test(more_key_values_than_are_held_are_given_on),
        cmocka_unit_test(long_texts_are_cut_and_still_differ),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_frame_has_a_largest_size),
        cmocka_unit_test(a_record_has_a_largest_size),
        cmocka_unit_test(an_end_that_comes_first_waits_for_its_beginning),
        cmocka_unit_test(an_end_does_not_wait_for_ever),
        cmocka_unit_test(a_sink_may_stop_at_any_span),
        cmocka_unit_test(a_source_that_fails_is_told_behind_what_it_gave),
        cmocka_unit_test(the_last_frame_of_a_stream_is_not_held_back),
        cmocka_unit_test(definitions_are_kept_from_source_to_source),
        cmocka_unit_test(losses_are_believed_as_far_as_there_was_time_for_them),
        cmocka_unit_test(wild_losses_are_counted_as_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
