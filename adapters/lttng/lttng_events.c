/* The side of the process that wants the events: a child reads them (reader_child.h), and what it
 * does not survive is an error like any other. Nothing that the child writes is trusted; its frames
 * are read by the decoder of records, as those of any recording. */
#define _GNU_SOURCE
#include "pythia/lttng_events.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "babeltrace.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "reader_process.h"

#define READ_BYTES ((size_t)256 * 1024)
#define TICK_MS    100                  /* between looks at a child that gives nothing */
#define END_NS     UINT64_C(2000000000) /* for a child that was told to end */
#define GAP_NS     UINT64_C(1000000000) /* between two looks: this process was stopped */
#define SECOND_NS  UINT64_C(1000000000)
#define BUSY_NS    (10 * SECOND_NS) /* of processor time without an event */
#define SILENT_NS  (60 * SECOND_NS) /* without an event, or word that there is none yet */

struct pythia_lttng_events {
    struct pythia__event_source source; /* `where` is owned, with its texts */
    struct pythia_lttng_reader *reader; /* claimed */
    bool owns_reader;
    struct pythia__reader_words *words; /* borrowed from the reader */
    struct pythia_buf held;             /* bytes that have come, and were not given away */
    uint64_t came, given;               /* bytes, of all that there were */
    uint64_t beats, beat_ns, beat_busy_ns, asked_ns;
    uint64_t busy_max_ns, silent_max_ns;
    bool begun, ended;
    struct pythia_error why; /* once it has ended; status PYTHIA_OK: all was read */
};

int pythia_lttng_events_load(struct pythia_error *e)
{
    return pythia__babeltrace_load(e);
}

/* ---- which folder is a trace ---- */

/* A metadata file is packets, each with this number in the byte order of the machine that wrote it,
 * or a text. One that cannot be read counts: why not is said when the trace is opened. */
bool pythia_lttng_is_trace(const char *folder)
{
    static const unsigned char packet[][4] = {{0x57, 0x1d, 0xd1, 0x75}, {0x75, 0xd1, 0x1d, 0x57}};
    static const char text[] = "/* CTF 1.";
    struct pythia_buf path = {0};
    char head[sizeof(text) - 1] = "";
    pythia_buf_printf(&path, "%s/metadata", folder);
    int file = path.bytes ? open(path.bytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    ssize_t size = file >= 0 ? read(file, head, sizeof(head)) : 0;
    bool is = (size < 0 && errno != EISDIR && errno != EAGAIN) ||
              (size == (ssize_t)sizeof(head) &&
               (memcmp(head, packet[0], 4) == 0 || memcmp(head, packet[1], 4) == 0 ||
                memcmp(head, text, sizeof(head)) == 0));
    if (file >= 0)
        close(file);
    pythia_buf_free(&path);
    return is;
}

static uint64_t read_reader_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0
               ? (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec
               : 0;
}

/* ---- the child ---- */

static int fail_reading(struct pythia_lttng_events *r, const char *what)
{
    return pythia_error_set(
        &r->why, PYTHIA_EFORMAT, "%s: %s", what,
        r->source.is_live
            ? "use a relay daemon that you trust, of the version of its session daemon"
            : "leave the trace out, or record it again");
}

/* The pipe has ended. What the child says itself comes first: it may end by a signal after that. */
static void take_end(struct pythia_lttng_events *r)
{
    char what[160];
    int how = pythia__lttng_reader_stop(r->reader);
    r->ended = true;
    if (r->why.status)
        return;
    if (atomic_load(&r->words->finished)) {
        struct pythia_error why = r->words->why;
        why.sentence[sizeof(why.sentence) - 1] = '\0';
        bool is_known = why.status == PYTHIA_ENOMEM || why.status == PYTHIA_EIO;
        if (why.status != PYTHIA_OK)
            pythia_error_set(&r->why, is_known ? why.status : PYTHIA_EFORMAT, "%s", why.sentence);
        return;
    }
    const char *name = WIFSIGNALED(how) ? sigabbrev_np(WTERMSIG(how)) : NULL;
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        pythia_error_set(&r->why, r->source.is_live ? PYTHIA_EIO : PYTHIA_EFORMAT,
                         "the process that reads it was killed: read it again, with more memory if "
                         "there was none left");
    else {
        snprintf(what, sizeof(what),
                 "libbabeltrace2 does not survive it, because it is broken (signal %s)",
                 name ? name : "none");
        fail_reading(r, what);
    }
}

/* The child got on, as far as it is known here. */
static void note_progress(struct pythia_lttng_events *r, uint64_t now_ns)
{
    clockid_t clock;
    r->beats = atomic_load(&r->words->beats);
    r->beat_ns = r->asked_ns = now_ns;
    pid_t child = pythia__lttng_reader_child(r->reader);
    if (child > 0 && clock_getcpuclockid(child, &clock) == 0)
        r->beat_busy_ns = read_reader_clock(clock);
}

/* Has the child come to nothing for too long? If this process was stopped, so was the child. */
static bool is_stuck(struct pythia_lttng_events *r)
{
    clockid_t clock;
    uint64_t now_ns = read_reader_clock(CLOCK_MONOTONIC), busy_ns = 0;
    bool was_away = now_ns - r->asked_ns > GAP_NS;
    r->asked_ns = now_ns;
    if (was_away || atomic_load(&r->words->beats) != r->beats) {
        note_progress(r, now_ns);
        return false;
    }
    pid_t child = pythia__lttng_reader_child(r->reader);
    if (child > 0 && clock_getcpuclockid(child, &clock) == 0)
        busy_ns = read_reader_clock(clock);
    if (busy_ns > r->beat_busy_ns + r->busy_max_ns)
        return fail_reading(r, "libbabeltrace2 reads on and on without coming to an event, because "
                               "it is broken") != PYTHIA_OK;
    if (now_ns - r->beat_ns > r->silent_max_ns)
        return pythia_error_set(&r->why, PYTHIA_EIO,
                                r->source.is_live
                                    ? "the relay daemon does not answer, or the process that asks "
                                      "it was stopped"
                                    : "the process that reads it gets no further: was it stopped, "
                                      "or does the disk not answer?") != PYTHIA_OK;
    return false;
}

static void begin_reading(struct pythia_lttng_events *r)
{
    r->begun = true;
    r->ended = pythia__lttng_reader_begin(r->reader, &r->source, &r->why) != PYTHIA_OK;
    note_progress(r, read_reader_clock(CLOCK_MONOTONIC));
}

/* ---- what comes of it ---- */

/* Take what is in the pipe. */
static int receive_bytes(struct pythia_lttng_events *r)
{
    char *at = pythia_buf_reserve(&r->held, READ_BYTES);
    if (!at)
        return PYTHIA_ENOMEM;
    ssize_t size = pythia__lttng_reader_receive(r->reader, at, READ_BYTES);
    if (size < 0)
        take_end(r);
    if (size > 0) {
        r->held.size += (size_t)size;
        r->came += (uint64_t)size;
    }
    return PYTHIA_OK;
}

/* Give away whole frames, and what must become one: the rest of a frame that a child has begun
 * never comes if it ends. */
static int give_frames(struct pythia_lttng_events *r, struct pythia_buf *to)
{
    uint64_t begun = atomic_load(&r->words->begun), whole = atomic_load(&r->words->whole);
    uint64_t sure = r->came <= whole || r->came == begun ? r->came : whole;
    size_t size = sure > r->given ? (size_t)(sure - r->given) : 0;
    if (size > r->held.size)
        size = r->held.size;
    if (size == 0)
        return PYTHIA_OK;
    pythia_buf_add(to, r->held.bytes, size);
    r->given += size;
    r->held.size -= size;
    memmove(r->held.bytes, r->held.bytes + size, r->held.size);
    return pythia_buf_status(to);
}

/* Wait until something has come, for so long. */
static int wait_for_bytes(struct pythia_lttng_events *r, int wait_ms)
{
    if (pythia__lttng_reader_wait(r->reader, wait_ms)) {
        note_progress(r, read_reader_clock(CLOCK_MONOTONIC));
        return receive_bytes(r);
    }
    if (is_stuck(r))
        take_end(r);
    return PYTHIA_OK;
}

int pythia_lttng_events_read(struct pythia_lttng_events *r, struct pythia_buf *to, bool *more,
                             struct pythia_error *e)
{
    size_t begin = to->size;
    int status = PYTHIA_OK;
    if (!r->begun)
        begin_reading(r);
    for (int turn = 0; !r->ended && to->size == begin && status == PYTHIA_OK; turn++) {
        if (r->source.is_live && turn > 1)
            break;
        status = wait_for_bytes(r, r->source.is_live ? 0 : TICK_MS);
        if (status == PYTHIA_OK)
            status = give_frames(r, to);
    }
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "out of memory");
    *more = !r->ended && (!r->source.is_live || to->size > begin);
    if (r->ended && r->why.status)
        *e = r->why;
    return r->ended ? r->why.status : PYTHIA_OK;
}

void pythia_lttng_events_switch(struct pythia_lttng_events *r, uint64_t until_ns)
{
    atomic_store(&r->words->switched_ns, until_ns);
    atomic_fetch_add(&r->words->switches, 1);
}

int pythia_lttng_events_end(struct pythia_lttng_events *r, struct pythia_buf *to)
{
    uint64_t until_ns = read_reader_clock(CLOCK_MONOTONIC) + END_NS;
    int status = PYTHIA_OK;
    atomic_store(&r->words->end, true);
    while (r->begun && !r->ended && status == PYTHIA_OK &&
           read_reader_clock(CLOCK_MONOTONIC) < until_ns) {
        status = wait_for_bytes(r, TICK_MS);
        if (status == PYTHIA_OK)
            status = give_frames(r, to);
    }
    (void)pythia__lttng_reader_stop(r->reader);
    r->ended = true;
    return status;
}

bool pythia_lttng_events_has_ended(const struct pythia_lttng_events *r)
{
    return r->ended;
}

uint64_t pythia_lttng_events_beats(const struct pythia_lttng_events *r)
{
    return atomic_load(&r->words->beats);
}

struct pythia_lttng_numbers pythia_lttng_events_numbers(const struct pythia_lttng_events *r)
{
    struct pythia_lttng_numbers numbers;
    uint64_t each[PYTHIA__READER_NUMBERS];
    for (size_t i = 0; i < PYTHIA__READER_NUMBERS; i++)
        each[i] = atomic_load_explicit(&r->words->numbers[i], memory_order_relaxed);
    memcpy(&numbers, each, sizeof(numbers));
    return numbers;
}

/* ---- making and ending it ---- */

static void free_source(struct pythia_lttng_events *r)
{
    for (size_t i = 0; r && i < r->source.count; i++)
        pythia_free(r->source.where[i]);
    if (r)
        pythia_free(r->source.where);
}

static int copy_source(const struct pythia__event_source *source, struct pythia__event_source *copy)
{
    const char **where = pythia_calloc(source->count, sizeof(*where));
    *copy = *source;
    copy->where = where;
    copy->count = where ? source->count : 0;
    for (size_t i = 0; i < copy->count; i++)
        if (!(where[i] = pythia_strndup(source->where[i], strlen(source->where[i]))))
            return PYTHIA_ENOMEM;
    return where ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Takes the reader over, also on failure, if it is `owned`. */
static int make_events(struct pythia_lttng_reader *reader, bool owned,
                       const struct pythia__event_source *source, struct pythia_lttng_events **out,
                       struct pythia_error *e)
{
    struct pythia_lttng_events *r = pythia_calloc(1, sizeof(*r));
    if (!r || copy_source(source, &r->source) != PYTHIA_OK) {
        if (owned)
            pythia_lttng_reader_end(reader);
        free_source(r);
        pythia_free(r);
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    }
    r->reader = reader;
    r->owns_reader = owned;
    r->words = pythia__lttng_reader_claim(reader);
    r->busy_max_ns = BUSY_NS;
    r->silent_max_ns = SILENT_NS;
    *out = r;
    return PYTHIA_OK;
}

int pythia_lttng_events_open(struct pythia_lttng_reader *reader, const char *const *folders,
                             size_t count, const struct pythia_lttng_rules *rules, bool quiet,
                             struct pythia_lttng_events **out, struct pythia_error *e)
{
    const struct pythia__event_source source = {
        .where = folders, .count = count, .rules = rules, .quiet = quiet};
    return make_events(reader, false, &source, out, e);
}

int pythia_lttng_events_follow(const char *url, const struct pythia_lttng_rules *rules,
                               struct pythia_lttng_events **out, struct pythia_error *e)
{
    const struct pythia__event_source source = {
        .where = &url, .count = 1, .rules = rules, .is_live = true};
    struct pythia_lttng_reader *reader = NULL;
    int status = pythia_lttng_reader_start(&reader, e);
    return status == PYTHIA_OK ? make_events(reader, true, &source, out, e) : status;
}

void pythia__lttng_events_limit(struct pythia_lttng_events *r, uint64_t busy_ns, uint64_t silent_ns)
{
    r->busy_max_ns = busy_ns;
    r->silent_max_ns = silent_ns;
}

pid_t pythia__lttng_events_child(const struct pythia_lttng_events *r)
{
    return pythia__lttng_reader_child(r->reader);
}

void pythia_lttng_events_close(struct pythia_lttng_events *r)
{
    if (!r)
        return;
    (void)pythia__lttng_reader_stop(r->reader);
    if (r->owns_reader)
        pythia_lttng_reader_end(r->reader);
    pythia_buf_free(&r->held);
    free_source(r);
    pythia_free(r);
}
