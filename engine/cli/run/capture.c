#define _GNU_SOURCE
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CHUNK 65536 /* what a pipe holds */

static bool is_one_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
           x.st_rdev == y.st_rdev;
}

/* The terminal of the program has the size of ours and changes no byte: ours will add the carriage
 * returns. It is not the controlling terminal of anybody, so that Ctrl-C goes where it went. */
static int open_terminal(int like, int ends[2])
{
    struct winsize size = {0};
    struct termios raw;
    ioctl(like, TIOCGWINSZ, &size);
    if (openpty(&ends[0], &ends[1], NULL, NULL, &size) != 0)
        return -1;
    if (tcgetattr(ends[1], &raw) == 0) {
        cfmakeraw(&raw);
        tcsetattr(ends[1], TCSANOW, &raw);
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

static int begin_stream(struct pythia__captured *s, int output)
{
    int ends[2];
    s->head = pythia_malloc(PYTHIA_RUN_OUTPUT_MAX);
    if (!s->head)
        return PYTHIA_ENOMEM;
    if ((isatty(output) ? open_terminal(output, ends) : pipe2(ends, O_CLOEXEC)) != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "The output of the program cannot be captured: %s",
                   strerror(errno));
        return PYTHIA_EIO;
    }
    s->source = ends[0];
    s->target = ends[1];
    fcntl(s->source, F_SETFL, fcntl(s->source, F_GETFL) | O_NONBLOCK);
    return PYTHIA_OK;
}

/* An output that is closed, as a daemon may have it, is left so. */
int pythia__capture_begin(struct pythia__capture *c)
{
    *c = (struct pythia__capture){{{.source = -1, .target = -1}, {.source = -1, .target = -1}}};
    for (int i = 0; i < 2; i++) {
        if (fcntl(1 + i, F_GETFD) < 0 || (i == 1 && c->streams[0].source >= 0 && is_one_file(1, 2)))
            continue;
        int status = begin_stream(&c->streams[i], 1 + i);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia__capture_enter(const struct pythia__capture *c, posix_spawn_file_actions_t *actions)
{
    bool shared = c->streams[1].source < 0 && c->streams[0].source >= 0 && is_one_file(1, 2);
    int ends[2] = {c->streams[0].target, shared ? c->streams[0].target : c->streams[1].target};
    int error = 0;
    for (int i = 0; i < 2 && error == 0; i++)
        if (ends[i] >= 0)
            error = posix_spawn_file_actions_adddup2(actions, ends[i], 1 + i);
    return error;
}

/* Write all of it, as the program itself would have waited to. */
static void pass_output_on(struct pythia__captured *s, int output, const char *bytes, size_t size)
{
    while (size > 0 && !s->broken) {
        ssize_t written = write(output, bytes, size);
        if (written >= 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN) { /* somebody has made our output non-blocking */
            struct pollfd ready = {.fd = output, .events = POLLOUT};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            s->broken = true;
        }
    }
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Take what waits. False: there is nothing more for now. A pseudo-terminal says EIO at its end. */
static bool relay_once(struct pythia__captured *s, int output)
{
    char chunk[CHUNK];
    ssize_t size = read(s->source, chunk, sizeof(chunk));
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (size <= 0) {
        close_end(&s->source);
        return false;
    }
    size_t space = PYTHIA_RUN_OUTPUT_MAX - s->size;
    size_t stored = (size_t)size < space ? (size_t)size : space;
    memcpy(s->head + s->size, chunk, stored);
    s->size += stored;
    s->all += size;
    pass_output_on(s, output, chunk, (size_t)size);
    if (s->broken) /* the program gets the SIGPIPE that it would have got */
        close_end(&s->source);
    return s->source >= 0;
}

/* After the terminal was resized: the program got SIGWINCH together with us, and may have asked for
 * the size before ours reached its end, so it gets the signal once more. */
static void follow_window(const struct pythia__capture *c, int pidfd)
{
    for (int i = 0; i < 2; i++) {
        struct winsize ours, theirs;
        if (c->streams[i].source < 0 || ioctl(1 + i, TIOCGWINSZ, &ours) != 0 ||
            ioctl(c->streams[i].source, TIOCGWINSZ, &theirs) != 0 ||
            memcmp(&ours, &theirs, sizeof(ours)) == 0)
            continue;
        ioctl(c->streams[i].source, TIOCSWINSZ, &ours);
        if (pidfd >= 0)
            pidfd_send_signal(pidfd, SIGWINCH, NULL, 0);
    }
}

/* Until `pidfd` is readable, or, if it is -1, until both ends are closed. */
static void relay_until(struct pythia__capture *c, int pidfd)
{
    for (;;) {
        struct pollfd on[3] = {{.fd = c->streams[0].source, .events = POLLIN},
                               {.fd = c->streams[1].source, .events = POLLIN},
                               {.fd = pidfd, .events = POLLIN}};
        if (pidfd < 0 && on[0].fd < 0 && on[1].fd < 0)
            return;
        if (poll(on, 3, -1) < 0) {
            if (errno != EINTR)
                return;
            follow_window(c, pidfd);
            continue;
        }
        for (int i = 0; i < 2; i++)
            if (on[i].fd >= 0 && on[i].revents)
                relay_once(&c->streams[i], 1 + i);
        if (pidfd >= 0 && on[2].revents)
            return;
    }
}

void pythia__capture_relay(struct pythia__capture *c, int pidfd)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    close_end(&c->streams[0].target);
    close_end(&c->streams[1].target);
    sigaction(SIGPIPE, &ignore, &before); /* the program shall have it, not we */
    relay_until(c, pidfd);
    for (int i = 0; i < 2; i++)
        while (c->streams[i].source >= 0 && relay_once(&c->streams[i], 1 + i)) {
        }
    if ((c->streams[0].source >= 0 || c->streams[1].source >= 0) && fork() == 0) {
        relay_until(c, -1);
        _exit(0);
    }
    sigaction(SIGPIPE, &before, NULL);
}

void pythia__capture_end(struct pythia__capture *c)
{
    for (int i = 0; i < 2; i++) {
        close_end(&c->streams[i].source);
        close_end(&c->streams[i].target);
        pythia_free(c->streams[i].head);
        c->streams[i].head = NULL;
    }
}
