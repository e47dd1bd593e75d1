#include "frames.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pythia/status.h"

#define HEADER     sizeof(struct pythia_frame)
#define READ_BYTES ((size_t)256 * 1024)
#define RATE_MIN   1e-6
#define RATE_MAX   1e6

double pythia__little_real(const void *at)
{
    uint64_t bits = pythia__little(at, sizeof(bits));
    double real;
    memcpy(&real, &bits, sizeof(real));
    return real;
}

void pythia__frames_free(struct pythia__frames *f)
{
    pythia_buf_free(&f->bytes);
}

static const char *bytes_here(const struct pythia__frames *f)
{
    return f->bytes.bytes + f->at;
}

static size_t size_here(const struct pythia__frames *f)
{
    return f->bytes.size - f->at;
}

static void drop_bytes(struct pythia__frames *f, size_t size)
{
    f->at += size;
    f->offset += size;
}

/* Read until `size` bytes are there, or the source has ended. PYTHIA_OK or PYTHIA_ENOMEM. */
static int fill_bytes(struct pythia__frames *f, size_t size)
{
    while (size_here(f) < size && !f->ended) {
        size_t left = size_here(f), got = 0;
        if (f->at > 0) {
            memmove(f->bytes.bytes, bytes_here(f), left);
            f->bytes.size = left;
            f->at = 0;
        }
        size_t wanted = size - left > READ_BYTES ? size - left : READ_BYTES;
        char *room = pythia_buf_reserve(&f->bytes, wanted);
        if (!room)
            return PYTHIA_ENOMEM;
        int status = f->from->read(f->from, room, wanted, &got, &f->cause);
        f->ended = status != PYTHIA_OK || got == 0;
        if (status != PYTHIA_OK)
            pythia_error_set(&f->cause, status, "%s", pythia_status_text(status));
        f->bytes.size += got;
    }
    return PYTHIA_OK;
}

/* ---- headers ---- */

static uint64_t check_of(const char *header)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < HEADER - 8; i++)
        hash = (hash ^ (unsigned char)header[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_magic(const char *at)
{
    return memcmp(at, PYTHIA_FRAME_MAGIC, 8) == 0;
}

/* Whole, and as it was written. */
static bool is_header(const char *at)
{
    return is_magic(at) && PYTHIA__MEMBER(at, pythia_frame, version) == PYTHIA_FRAME_VERSION &&
           PYTHIA__MEMBER(at, pythia_frame, check) == check_of(at);
}

static void read_header(const char *at, struct pythia_frame *out)
{
    *out = (struct pythia_frame){
        .header_bytes = (uint16_t)PYTHIA__MEMBER(at, pythia_frame, header_bytes),
        .payload_bytes = (uint32_t)PYTHIA__MEMBER(at, pythia_frame, payload_bytes),
        .process_high = PYTHIA__MEMBER(at, pythia_frame, process_high),
        .process_low = PYTHIA__MEMBER(at, pythia_frame, process_low),
        .stream = (uint32_t)PYTHIA__MEMBER(at, pythia_frame, stream),
        .flags = (uint32_t)PYTHIA__MEMBER(at, pythia_frame, flags),
        .position = PYTHIA__MEMBER(at, pythia_frame, position),
        .anchor_ticks = PYTHIA__MEMBER(at, pythia_frame, anchor_ticks),
        .anchor_ns = PYTHIA__MEMBER(at, pythia_frame, anchor_ns),
        .epoch_ns = (int64_t)PYTHIA__MEMBER(at, pythia_frame, epoch_ns),
        .ns_per_tick = pythia__little_real(at + offsetof(struct pythia_frame, ns_per_tick)),
        .lost_spans = PYTHIA__MEMBER(at, pythia_frame, lost_spans),
        .lost_ends = PYTHIA__MEMBER(at, pythia_frame, lost_ends),
        .lost_annotations = PYTHIA__MEMBER(at, pythia_frame, lost_annotations),
        .lost_values = PYTHIA__MEMBER(at, pythia_frame, lost_values),
    };
}

/* The fault of a header with a valid checksum; NULL: none. */
static const char *fault_of(const struct pythia_frame *h)
{
    if (h->header_bytes != HEADER)
        return "a frame whose header has another size than its version says";
    if (h->payload_bytes > PYTHIA_PAYLOAD_BYTES || h->payload_bytes % 8)
        return "a frame of an impossible size";
    if (!isfinite(h->ns_per_tick) || h->ns_per_tick < RATE_MIN || h->ns_per_tick > RATE_MAX ||
        h->anchor_ns > INT64_MAX / 2 || h->epoch_ns > INT64_MAX / 2 || h->epoch_ns < INT64_MIN / 2)
        return "a frame with an impossible clock";
    if (h->position % 8 || h->position > INT64_MAX)
        return "a frame with an impossible position";
    return NULL;
}

/* ---- what is no frame ---- */

static int fail_frame(const struct pythia__frames *f, uint64_t offset, struct pythia_error *why,
                      const char *sentence)
{
    pythia_error_set(why, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(why, f->from->name, f->number, offset);
    return PYTHIA_EFORMAT;
}

/* Where the next magic begins behind the first `from` bytes; all that is there if none does, but
 * for what may be the beginning of one. */
static size_t find_magic(const char *bytes, size_t size, size_t from)
{
    for (size_t at = from; at < size; at++) {
        const char *found = memchr(bytes + at, PYTHIA_FRAME_MAGIC[0], size - at);
        if (!found)
            return size;
        at = (size_t)(found - bytes);
        if (size - at < 8 ? memcmp(found, PYTHIA_FRAME_MAGIC, size - at) == 0 : is_magic(found))
            return at;
    }
    return size;
}

/* Pass over what stands here, to where a frame may begin. */
static int pass_over_bytes(struct pythia__frames *f, struct pythia_error *why)
{
    const char *sentence = "no frame begins here: skipped to the next one";
    uint64_t offset = f->offset;
    if (size_here(f) < HEADER && (size_here(f) < 8 || is_magic(bytes_here(f))))
        sentence = "the input ends in the header of a frame";
    else if (is_magic(bytes_here(f)))
        sentence = PYTHIA__MEMBER(bytes_here(f), pythia_frame, version) == PYTHIA_FRAME_VERSION
                       ? "the header of a frame is damaged: skipped to the next one"
                       : "a frame of another version: skipped to the next one";
    for (size_t from = 1;; from = 0) {
        drop_bytes(f, find_magic(bytes_here(f), size_here(f), from));
        if (fill_bytes(f, 8) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        if (size_here(f) < 8 || is_magic(bytes_here(f)))
            break;
    }
    if (size_here(f) < 8)
        drop_bytes(f, size_here(f));
    return fail_frame(f, offset, why, sentence);
}

/* Where in a payload another frame begins: the one it is of was cut short. `size` if none does. */
static size_t find_next_frame(const char *bytes, size_t size)
{
    size_t at = find_magic(bytes, size, 0);
    while (at < size && (size - at < HEADER || !is_header(bytes + at)))
        at = find_magic(bytes, size, at + 1);
    return at;
}

/* Does nothing come from the stream just now? */
static bool has_pause(const struct pythia__frames *f)
{
    return f->from->waits && f->from->waits(f->from);
}

/* Read the frame of `size` bytes. In a stream that pauses, one that was cut short ends where a
 * whole header begins: what follows it would be held back until so many bytes have come, which may
 * be never. Each byte is searched once, however often the stream pauses. */
static int fill_frame(struct pythia__frames *f, size_t size)
{
    size_t searched = HEADER;
    while (size_here(f) < size && !f->ended) {
        size_t end = size_here(f), left = end - searched;
        if (has_pause(f)) {
            if (find_next_frame(bytes_here(f) + searched, left) < left)
                return PYTHIA_OK;
            searched = end > 2 * HEADER ? end - HEADER : HEADER; /* one may have begun */
        }
        if (fill_bytes(f, end + 1) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* May another header begin in the last bytes of the frame, of which not all is there? */
static bool has_begun_header(const struct pythia__frames *f, size_t size)
{
    const char *bytes = bytes_here(f);
    for (size_t at = HEADER; at < size; at++) {
        at = find_magic(bytes, size_here(f), at);
        size_t left = size_here(f) - at;
        if (at < size && left < HEADER && left >= 8 &&
            (left < 10 ||
             PYTHIA__MEMBER(bytes + at, pythia_frame, version) == PYTHIA_FRAME_VERSION))
            return true;
    }
    return false;
}

/* A header more than the frame of `size` bytes that is there: another may begin in its last ones.
 * Of a stream that pauses that is not waited for, unless one seems to: the last frame would be held
 * back until the next is written, which may be never. */
static int look_further(struct pythia__frames *f, size_t size)
{
    if (size_here(f) < size || (has_pause(f) && !has_begun_header(f, size)))
        return PYTHIA_OK;
    return fill_bytes(f, size + HEADER);
}

/* A frame that is cut short is followed by the next one: whoever wrote it was killed. So the
 * payload ends where another header begins, and what is missing is counted. */
int pythia__frames_next(struct pythia__frames *f, struct pythia__frame_read *out,
                        struct pythia_error *why)
{
    if (fill_bytes(f, HEADER) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (size_here(f) == 0) {
        if (f->cause.status != PYTHIA_OK)
            *why = f->cause;
        return f->cause.status != PYTHIA_OK ? f->cause.status : 1;
    }
    f->number++;
    if (size_here(f) < HEADER || !is_header(bytes_here(f)))
        return pass_over_bytes(f, why);
    read_header(bytes_here(f), &out->header);
    const char *fault = fault_of(&out->header);
    if (fault) {
        uint64_t offset = f->offset;
        drop_bytes(f, HEADER);
        return fail_frame(f, offset, why, fault);
    }
    size_t size = out->header.payload_bytes;
    if (fill_frame(f, HEADER + size) != PYTHIA_OK || look_further(f, HEADER + size) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    drop_bytes(f, HEADER);
    size_t seen = size_here(f) < size + HEADER - 1 ? size_here(f) : size + HEADER - 1,
           end = find_next_frame(bytes_here(f), seen),
           most = size < size_here(f) ? size : size_here(f);
    end = end < most ? end : most;
    out->payload = (struct pythia_text){bytes_here(f), end};
    out->offset = f->offset;
    out->missing = size - end;
    drop_bytes(f, end);
    return 0;
}
