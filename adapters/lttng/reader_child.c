#define _GNU_SOURCE
#include "reader_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pythia/confine.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define MEMORY_BYTES ((rlim_t)1024 * 1024 * 1024) /* besides what the parent has */
#define PAUSE_MS     20                           /* after a session was found to have no events */

/* ---- what the process gives up ---- */

/* The parent's files and sockets are not held open, and a signal to all of its group is not for
 * this process, which ends with the pipe. What a library prints must not reach a socket. */
static void detach_reader(int to)
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
    }
    if (to > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)to - 1, 0);
    close_range((unsigned)to + 1, ~0U, 0);
    prctl(PR_SET_NAME, "pythia-lttng");
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

/* `why`: status PYTHIA_OK if all was read. */
static _Noreturn void end_child_with(struct pythia__reader_words *words,
                                     const struct pythia_error *why)
{
    words->why = *why;
    atomic_store(&words->finished, true);
    _exit(0);
}

void pythia__reader_child_run(const struct pythia__event_source *source,
                              struct pythia__reader_words *words, int to, pid_t parent)
{
    struct pythia__event_reader *r = NULL;
    struct pythia_confinement held;
    struct pythia_error why = {0};
    detach_reader(to);
    /* A session may keep it waiting after its parent is gone. A folder is read by whichever thread,
     * with whose end this would end, too. */
    if (source->is_live && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(0);
    limit_memory();
    int status = pythia_confine(NULL, 0, source->is_live ? PYTHIA_CONFINE_MAY_CONNECT : 0, &held);
    if (status != PYTHIA_OK)
        pythia_error_set(&why, status, "out of memory");
    else
        status = pythia__event_reader_open(source, &r, &why);
    atomic_fetch_add(&words->beats, 1);
    if (status == PYTHIA_OK && !read_source(r, words, to, &why))
        _exit(0);
    end_child_with(words, &why);
}

/* ---- as a program of its own ---- */

enum { PIPE_FILE = 3, WORDS_FILE, AFTER_FILES = 16 }; /* numbers of its descriptors */

void pythia__reader_child_exec(const struct pythia__event_source *source,
                               struct pythia__reader_words *words, int file, int to, pid_t parent)
{
    char program[] = "/proc/self/exe", word[] = PYTHIA_LTTNG_READER_WORD, number[24], url[1024];
    char rules[4096];
    char *const arguments[] = {program, word, url, rules, number, NULL};
    char *const nothing[] = {NULL}; /* no environment: it may have secrets */
    struct pythia_error why = {0};
    snprintf(number, sizeof(number), "%ld", (long)parent);
    snprintf(url, sizeof(url), "%s", source->where[0]);
    snprintf(rules, sizeof(rules), "%s", pythia_lttng_rules_path(source->rules));
    int pipe_copy = fcntl(to, F_DUPFD, AFTER_FILES), words_copy = fcntl(file, F_DUPFD, AFTER_FILES);
    if (dup2(pipe_copy, PIPE_FILE) == PIPE_FILE && dup2(words_copy, WORDS_FILE) == WORDS_FILE)
        execve(program, arguments, nothing);
    pythia_error_set(&why, PYTHIA_EIO, "no program can be started that reads: %s", strerror(errno));
    end_child_with(words, &why);
}

void pythia_lttng_reader_main(int argc, char **argv)
{
    struct pythia_lttng_rules *rules = NULL;
    struct pythia_error why = {0};
    if (argc != 5 || strcmp(argv[1], PYTHIA_LTTNG_READER_WORD) != 0)
        return;
    struct pythia__reader_words *words =
        mmap(NULL, sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED, WORDS_FILE, 0);
    if (words == MAP_FAILED)
        _exit(2);
    pythia_log_setup("pythiad", PYTHIA_LOG_ERROR); /* what is wrong with rules was said */
    if (pythia_lttng_rules_read(argv[3], &rules, &why) != PYTHIA_OK)
        end_child_with(words, &why);
    pythia_log_setup("pythiad", PYTHIA_LOG_INFO);
    const char *const where[] = {argv[2]};
    const struct pythia__event_source source = {
        .where = where, .count = 1, .rules = rules, .is_live = true};
    pythia__reader_child_run(&source, words, PIPE_FILE, (pid_t)strtol(argv[4], NULL, 10));
}
