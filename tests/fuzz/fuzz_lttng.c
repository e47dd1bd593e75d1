/* A stream of the Common Trace Format, as somebody may have written it: whatever is in it, it is
 * read to its end, or refused with a reason; and the records that its events become can be read
 * again without a fault. It is read in this process, and not in a child as programs do it, so that
 * the fuzzer sees what is run. The input is the stream; its metadata is given, with fields of all
 * kinds, because libbabeltrace2 2.0.4 ends the process itself at some broken metadata
 * (SECURITY.md). It does so, too, at packets of 2^63 bits, and goes on for good at those of none,
 * so that there are none of either. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_reader.h"
#include "fuzz.h"
#include "pythia/adapter.h"
#include "pythia/status.h"

static const char text[] =
    "service: shop\nprovider: shop\npoints:\n"
    "  sell: {start: begin, done: end, request: true, type: title,\n"
    "    keys: {order: start order, title: start 2 text, result: done result}}\n"
    "  wait: {start: wait, done: waited, keys: {share: start share real,\n"
    "    mode: start mode text, code: start 2}}\n";

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
    "typealias integer { size = 3; align = 1; signed = true; } := i3;\n"
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { u32 magic; u32 stream_id; }; };\n"
    "env { hostname = \"till\"; };\n"
    "clock { name = monotonic; freq = 1000000000; offset = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }\n"
    "  := time;\n"
    "stream { id = 0; event.header := struct { u16 id; time timestamp; };\n"
    "  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size;\n"
    "    u64 packet_size; u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"
    "  event.context := struct { i32 _vpid; i32 _vtid; }; };\n"
    "event { name = \"shop:begin\"; id = 0; stream_id = 0;\n"
    "  fields := struct { u64 _order; string _title; }; };\n"
    "event { name = \"shop:end\"; id = 1; stream_id = 0;\n"
    "  fields := struct { i32 _result; i3 _flags; u8 _count; u32 _list[_count]; }; };\n"
    "event { name = \"shop:wait\"; id = 2; stream_id = 0; fields := struct { f64 _share;\n"
    "  enum : u8 { none = 0, lock = 1 ... 3 } _mode;\n"
    "  variant <_mode> { u8 none; string lock; } _what; }; };\n"
    "event { name = \"shop:waited\"; id = 3; stream_id = 0; fields := struct { }; };\n"
    "event { name = \"shop:other\"; id = 4; stream_id = 0; fields := struct { u8 _bytes[4]; }; "
    "};\n";

static char folder[] = "/dev/shm/fuzz_lttng.XXXXXX";
static struct pythia_lttng_rules *rules;

/* The library keeps memory for good. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void name_file(const char *name, char path[64])
{
    snprintf(path, 64, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[64];
    name_file(name, path);
    FILE *file = fopen(path, "wb");
    MUST(file);
    MUST(fwrite(bytes, 1, size, file) == size);
    MUST(fclose(file) == 0);
}

static void remove_file(const char *name)
{
    char path[64];
    name_file(name, path);
    unlink(path);
}

static void remove_folder(void)
{
    remove_file("metadata");
    remove_file("stream");
    rmdir(folder);
    pythia_lttng_rules_free(rules);
}

static void begin_once(void)
{
    char path[64];
    struct pythia_error e = {0};
    if (rules)
        return;
    MUST(mkdtemp(folder));
    write_file("rules", text, sizeof(text) - 1);
    name_file("rules", path);
    MUST(pythia_lttng_rules_read(path, &rules, &e) == PYTHIA_OK);
    remove_file("rules");
    write_file("metadata", metadata, sizeof(metadata) - 1);
    atexit(remove_folder);
}

/* No record of ours is broken; but a stream may say that it has lost more than there could be. */
static void check_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    (void)sink;
    MUST(strstr(why->sentence, "lost"));
}

static int count_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    (void)sink;
    MUST(trace->high && span->id);
    return PYTHIA_OK;
}

static void decode(const struct pythia_buf *frames)
{
    struct pythia_vocabulary *vocabulary = NULL;
    struct pythia_adapter *adapter = NULL;
    struct pythia_counts counts = {0};
    struct pythia_error e = {0};
    struct pythia_memory_source source;
    struct pythia_sink sink = {.span = count_span, .broken = check_broken, .counts = &counts};
    const struct pythia_adapter_ops *native = pythia_adapter_named("native");
    MUST(pythia_vocabulary_create(&vocabulary) == PYTHIA_OK);
    MUST(native->create(vocabulary, &adapter) == PYTHIA_OK);
    pythia_memory_source_init(&source, "frames", frames->bytes ? frames->bytes : "", frames->size);
    MUST(native->decode(adapter, &source.source, &sink, &e) == PYTHIA_OK);
    native->destroy(adapter);
    pythia_vocabulary_destroy(vocabulary);
}

static uint64_t read_number(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

/* The sizes of a packet and its content stand after its number and two times. */
static bool has_impossible_packet(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + 40 <= size;) {
        uint64_t content = read_number(bytes + at + 24), packet = read_number(bytes + at + 32);
        if (content > INT64_MAX || packet > INT64_MAX || packet < 8)
            return true;
        if (packet / 8 > size)
            return false;
        at += (size_t)(packet / 8);
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia__event_reader *reader = NULL;
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    bool more = true;
    begin_once();
    if (has_impossible_packet(bytes, size))
        return 0;
    write_file("stream", bytes, size);
    const char *const where[] = {folder};
    const struct pythia__event_source source = {
        .where = where, .count = 1, .rules = rules, .quiet = true};
    int status = pythia__event_reader_open(&source, &reader, &e);
    while (status == PYTHIA_OK && more)
        status = pythia__event_reader_read(reader, &frames, &more, &e);
    MUST(status == PYTHIA_OK || (status == PYTHIA_EFORMAT && e.sentence[0]));
    if (reader)
        decode(&frames);
    pythia__event_reader_close(reader);
    pythia_buf_free(&frames);
    return 0;
}
