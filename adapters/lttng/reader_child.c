#define _GNU_SOURCE
#include "reader_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pythia/confine.h"
#include "pythia/status.h"

#define MEMORY_BYTES ((rlim_t)1024 * 1024 * 1024) /* besides what the parent has */
#define PAUSE_MS     20                           /* after a session was found to have no events */

/* ---- what the process gives up ---- */

/* The process ends by its parent, not by a signal to all of its group. What a library prints must
 * not reach what its parent writes. */
void pythia__reader_child_detach(const char *name)
{
    static const int ignored[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            (void)signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        (void)dup2(nothing, STDOUT_FILENO);
        close(nothing);
    }
    prctl(PR_SET_NAME, name);
}

static void close_others(int to)
{
    if (to > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)to - 1, 0);
    close_range((unsigned)to + 1, ~0U, 0);
}

/* A packet without bits is read again and again, and each time some memory is taken. */
static void limit_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    int got = file ? fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) : 0; /* NOLINT(cert-err34-c) */
    if (file)
        (void)fclose(file);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BYTES;
    if (got == 1)
        (void)setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* ---- reading ---- */

static void note_numbers(struct pythia__reader_words *words, struct pythia_lttng_numbers numbers)
{
    uint64_t each[PYTHIA__READER_NUMBERS];
    memcpy(each, &numbers, sizeof(each));
    for (size_t i = 0; i < PYTHIA__READER_NUMBERS; i++)
        atomic_store_explicit(&words->numbers[i], each[i], memory_order_relaxed);
}

/* False: nobody reads it. */
static bool write_frames(struct pythia__reader_words *words, int to, struct pythia_buf *frames)
{
    const char *at = frames->bytes;
    size_t left = frames->size;
    uint64_t whole = atomic_load(&words->whole) + left;
    atomic_store(&words->begun, whole);
    while (left > 0) {
        ssize_t written = write(to, at, left);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            at += written;
            left -= (size_t)written;
        }
    }
    atomic_store(&words->whole, whole);
    pythia_buf_clear(frames);
    return true;
}

/* Wait before a session is asked again. False: nobody reads the pipe any more. */
static bool pause_reader(int to)
{
    struct pollfd pipe = {.fd = to};
    return poll(&pipe, 1, PAUSE_MS) <= 0 || !(pipe.revents & POLLERR);
}

static void take_switch(struct pythia__event_reader *r, struct pythia__reader_words *words,
                        uint64_t *seen)
{
    uint64_t now = atomic_load(&words->switches);
    if (now != *seen)
        pythia__event_reader_switch(r, atomic_load(&words->switched_ns));
    *seen = now;
}

/* False: nobody reads what comes out. */
static bool read_source(struct pythia__event_reader *r, struct pythia__reader_words *words, int to,
                        struct pythia_error *e)
{
    struct pythia_buf frames = {0};
    uint64_t seen = 0, progress = 0;
    int status = PYTHIA_OK;
    bool is_read = true;
    while (is_read && status == PYTHIA_OK && !pythia__event_reader_has_ended(r)) {
        bool more = true;
        take_switch(r, words, &seen);
        if (atomic_load(&words->end))
            status = pythia__event_reader_end(r, &frames);
        else
            status = pythia__event_reader_read(r, &frames, &more, e);
        struct pythia_lttng_numbers n = pythia__event_reader_numbers(r);
        uint64_t now = n.events + n.discarded_events + n.discarded_packets;
        if (now != progress || !more)
            atomic_fetch_add(&words->beats, 1);
        progress = now;
        note_numbers(words, n);
        is_read = write_frames(words, to, &frames) &&
                  (more || pythia__event_reader_has_ended(r) || pause_reader(to));
    }
    pythia_buf_free(&frames);
    return is_read;
}

void pythia__reader_child_end(struct pythia__reader_words *words, const struct pythia_error *why)
{
    words->why = *why;
    atomic_store(&words->finished, true);
    _exit(0);
}

void pythia__reader_child_run(const struct pythia__event_source *source,
                              struct pythia__reader_words *words, int to)
{
    struct pythia__event_reader *r = NULL;
    struct pythia_confinement held;
    struct pythia_error why = {0};
    pythia__reader_child_detach("pythia-lttng");
    close_others(to);
    limit_memory();
    int status = pythia_confine(NULL, 0, source->is_live ? PYTHIA_CONFINE_MAY_CONNECT : 0, &held);
    if (status != PYTHIA_OK)
        pythia_error_set(&why, status, "out of memory");
    else
        status = pythia__event_reader_open(source, &r, &why);
    atomic_fetch_add(&words->beats, 1);
    if (status == PYTHIA_OK && !read_source(r, words, to, &why))
        _exit(0);
    pythia__reader_child_end(words, &why);
}
