/* Traces of the Common Trace Format 1.8, written by hand: a text of metadata, and packets. All
 * numbers are little-endian. */
#ifndef CTF_H
#define CTF_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/status.h"

/* Of all traces here: a clock in nanoseconds that begins a second after the epoch. */
#define CTF_HEAD                                                                                   \
    "/* CTF 1.8 */\n"                                                                              \
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"                          \
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"                        \
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"                        \
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"                        \
    "typealias integer { size = 32; align = 8; signed = true; } := i32;\n"                         \
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n"               \
    "trace { major = 1; minor = 8; byte_order = le;\n"                                             \
    "  packet.header := struct { u32 magic; u32 stream_id; }; };\n"                                \
    "env { hostname = \"till\"; };\n"                                                              \
    "clock { name = monotonic; freq = 1000000000; offset = 1000000000; };\n"                       \
    "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }\n"   \
    "  := time;\n"                                                                                 \
    "struct packet_context { time timestamp_begin; time timestamp_end; u64 content_size;\n"        \
    "  u64 packet_size; u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"
#define CTF_STREAM(context)                                                                        \
    "stream { id = 0; event.header := struct { u16 id; time timestamp; };\n"                       \
    "  packet.context := struct packet_context;\n" context "};\n"
#define CTF_THREAD "  event.context := struct { i32 _vpid; i32 _vtid; };\n"
#define CTF_EVENT(id, name, fields)                                                                \
    "event { name = \"" name "\"; id = " #id "; stream_id = 0; fields := struct {" fields "}; "    \
    "};\n"

#define CTF_CONTEXT_BYTES (8 + 6 * 8 + 4) /* of the header and the context of a packet */

static inline void ctf_put(struct pythia_buf *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        pythia_buf_putc(to, (char)(value >> 8 * i));
}

/* The head of an event of a thread; its fields follow. */
static inline void ctf_event(struct pythia_buf *to, unsigned id, uint64_t time_ns, int32_t pid,
                             int32_t tid)
{
    ctf_put(to, id, 2);
    ctf_put(to, time_ns, 8);
    ctf_put(to, (uint32_t)pid, 4);
    ctf_put(to, (uint32_t)tid, 4);
}

/* Append a packet with these events to a stream, and empty them. */
static inline void ctf_packet(struct pythia_buf *to, struct pythia_buf *events, uint64_t begin_ns,
                              uint64_t end_ns, uint64_t number, uint64_t discarded)
{
    uint64_t bits = 8 * (CTF_CONTEXT_BYTES + events->size);
    ctf_put(to, 0xc1fc1fc1, 4);
    ctf_put(to, 0, 4);
    ctf_put(to, begin_ns, 8);
    ctf_put(to, end_ns, 8);
    ctf_put(to, bits, 8);
    ctf_put(to, bits, 8);
    ctf_put(to, number, 8);
    ctf_put(to, discarded, 8);
    ctf_put(to, 0, 4);
    pythia_buf_text_add(to, pythia_buf_text(events));
    pythia_buf_clear(events);
}

static inline void ctf_write(const char *folder, const char *name, struct pythia_text bytes)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.bytes, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
}

/* Remove the folder of a trace, which has nothing but its metadata and one stream. */
static inline void ctf_remove(const char *folder)
{
    static const char *const names[] = {"metadata", "stream"};
    for (int i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

#endif
