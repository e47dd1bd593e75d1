#include <string.h>

#include "fuzz.h"
#include "pythia/hash.h"
#include "pythia/protobuf_stream.h"
#include "pythia/status.h"

#define LIMIT 512 /* of a record */
#define DEPTH 64

/* A walk over a stream that knows no schema, and what it has seen. */
struct walk {
    struct pythia_protobuf_stream *stream;
    uint64_t hash, told;
    size_t size;
};

static void see(struct walk *w, uint64_t number)
{
    w->hash = pythia_hash_mix(w->hash, number);
}

/* All fields of a message in memory: they fill it, and do not reach beyond. */
static void walk_record(struct walk *w, struct pythia_text record)
{
    struct pythia_protobuf m = pythia_protobuf_of(record);
    struct pythia_protobuf_field f;
    char why[200];
    int status;
    while ((status = pythia_protobuf_next(&m, &f)) == 0) {
        MUST(m.at <= m.end && f.number > 0 && f.number < 1u << 29);
        MUST(f.type != PYTHIA_PROTOBUF_BYTES ||
             (f.bytes.bytes >= record.bytes && f.bytes.bytes + f.bytes.size == m.at));
        see(w, f.number);
        see(w, f.value);
    }
    MUST(status == 1 ? m.at == m.end : status == PYTHIA_EFORMAT && m.at < m.end);
    if (status == PYTHIA_EFORMAT)
        see(w, pythia_protobuf_fault(m, why, sizeof(why)) + strlen(why));
}

/* A fault: where it is, once, and on behind the message. */
static void tell(struct walk *w, uint64_t end)
{
    struct pythia_protobuf_stream *s = w->stream;
    MUST(s->error.status == PYTHIA_EFORMAT || s->error.status == PYTHIA_ELIMIT);
    MUST(s->error.offset <= w->size && s->error.sentence[0] && !s->source_failed);
    see(w, s->error.offset);
    see(w, pythia_hash_bytes(s->error.sentence, strlen(s->error.sentence)));
    w->told++;
    pythia_error_clear(&s->error);
    if (pythia_protobuf_stream_pass(s, end) != PYTHIA_OK) {
        MUST(s->cut_off);
        pythia_error_clear(&s->error);
    }
}

/* Odd fields are entered, those of a multiple of 4 passed, others taken. */
static void walk_message(struct walk *w, uint64_t end, unsigned depth)
{
    struct pythia_protobuf_stream *s = w->stream;
    struct pythia_protobuf_field f;
    struct pythia_text record;
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK && (status = pythia_protobuf_stream_field(s, end, &f)) == 0) {
        uint64_t inner = pythia_protobuf_stream_end(s, &f);
        see(w, f.number);
        see(w, f.value);
        if (f.type != PYTHIA_PROTOBUF_BYTES)
            continue;
        MUST(inner <= end);
        if (f.number % 2 && depth < DEPTH) {
            walk_message(w, inner, depth + 1);
            MUST(s->cut_off || pythia_protobuf_stream_at(s) == inner);
        } else if (f.number % 4 == 0) {
            status = pythia_protobuf_stream_pass(s, inner);
        } else {
            status = pythia_protobuf_stream_take(s, &f, &record);
            if (status == PYTHIA_OK)
                walk_record(w, record);
            else if (status == PYTHIA_ELIMIT) {
                tell(w, inner);
                status = PYTHIA_OK;
            }
        }
    }
    if (status < 0)
        tell(w, end);
}

/* Everything in pieces of so many bytes (0: lent), as one message or as several with their sizes;
 * always by the same stream, whose memory is kept. */
static uint64_t walk_all(const uint8_t *bytes, size_t size, size_t piece, bool framed)
{
    static struct pythia_protobuf_stream stream;
    struct pythia_memory_source memory;
    struct walk w = {.stream = &stream, .size = size};
    pythia_memory_source_init(&memory, "input", bytes, size);
    memory.piece = piece;
    pythia_protobuf_stream_begin(&stream, &memory.source, LIMIT);
    uint64_t end = PYTHIA_PROTOBUF_OPEN;
    int status = PYTHIA_OK;
    if (!framed)
        walk_message(&w, end, 0);
    while (framed && (status = pythia_protobuf_stream_frame(&stream, &end)) == 0) {
        uint64_t told = w.told;
        walk_message(&w, end, 0);
        MUST(!stream.cut_off || w.told > told);
    }
    MUST(status >= 0 || (stream.cut_off && stream.error.offset == size));
    MUST(stream.cut_off || pythia_protobuf_stream_at(&stream) == size);
    return pythia_hash_mix(w.hash, w.told);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (int framed = 0; framed < 2; framed++) {
        uint64_t whole = walk_all(bytes, size, 0, framed);
        MUST(walk_all(bytes, size, 1, framed) == whole);
        MUST(walk_all(bytes, size, size % 97 + 2, framed) == whole);
    }
    return 0;
}
