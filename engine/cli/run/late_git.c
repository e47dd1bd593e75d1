/* Two processes and one socket. The one that asks sends the state once; the other one sends the
 * number of the run if it stored it without. Who closes the socket without a word gives up. */
#define _GNU_SOURCE
#include "late_git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pythia/error.h"
#include "pythia/run_store.h"
#include "pythia/status.h"

#define NICE 10

/* A failure leaves the state unknown, as it is recorded. */
static void add_to_record(const char *path, int64_t run, const struct pythia_git_state *state)
{
    struct pythia_run_store *store = NULL;
    struct pythia_error why = {0};
    if (state->dirty >= 0 && pythia_run_store_open(path, false, &store, &why) == PYTHIA_OK)
        (void)pythia_run_store_set_git(store, run, state->commit, state->dirty, &why);
    pythia_run_store_close(store);
}

/* ---- the process that asks ---- */

/* Whoever waits for the end of pythia's output, or of another pipe, must not wait for git. */
static void leave_files(int kept)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int file = 0; file < 3 && null >= 0; file++)
        dup2(null, file);
    if (kept > 3)
        close_range(3, (unsigned)kept - 1, 0);
    close_range((unsigned)kept + 1, ~0U, 0);
}

/* The other process hands signals on to the program. */
static void reset_signals(void)
{
    struct sigaction now, standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(number, &standard, NULL);
}

/* The number of the run, or 0 if there is none. */
static int64_t receive_run(int link)
{
    int64_t run = 0;
    return recv(link, &run, sizeof(run), MSG_DONTWAIT) == sizeof(run) ? run : 0;
}

static int64_t read_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait for git for as long as the other process runs, and then until it is given up. False: nobody
 * wants to know any more. */
static bool wait_for_answer(struct pythia_git_question *q, int link, struct pythia_git_state *state,
                            int64_t *run)
{
    int64_t until_ms = 0;
    while (!pythia_git_take(q, state)) {
        int64_t left_ms = *run ? until_ms - read_clock_ms() : -1;
        struct pollfd on[2] = {{.fd = q->output, .events = POLLIN},
                               {.fd = *run ? -1 : link, .events = POLLIN}};
        if (*run && left_ms <= 0)
            return false;
        int ready = poll(on, 2, (int)left_ms);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0 || !on[1].revents)
            continue;
        if ((*run = receive_run(link)) == 0)
            return false;
        until_ms = read_clock_ms() + PYTHIA__LATE_GIT_MS;
        alarm(2 * PYTHIA__LATE_GIT_MS / 1000); /* whatever it may wait for */
    }
    return true;
}

/* After the shutdown the other one cannot send any more, so the run is here or will not come. */
static void ask_alone(struct pythia__late_git *late)
{
    struct pythia_git_question q;
    int64_t run = 0;
    late->link = fcntl(late->link, F_DUPFD_CLOEXEC, 3);
    reset_signals();
    setsid();
    leave_files(late->link);
    /* It must not take the program's processor: git may look at many files. */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    pythia_git_ask(&q);
    if (!wait_for_answer(&q, late->link, &late->state, &run)) {
        pythia_git_drop(&q);
        return;
    }
    if (run == 0) {
        send(late->link, &late->state, sizeof(late->state), MSG_NOSIGNAL);
        shutdown(late->link, SHUT_RD);
        run = receive_run(late->link);
    }
    if (run)
        add_to_record(late->path, run, &late->state);
}

/* ---- the other one ---- */

void pythia__late_git_ask(struct pythia__late_git *late)
{
    int ends[2];
    if (late->ended > 0)
        (void)waitpid(late->ended, NULL, 0); /* by now it has */
    late->asker = late->ended = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    late->asker = fork();
    if (late->asker == 0) {
        late->link = ends[1];
        ask_alone(late);
        _exit(0);
    }
    close(ends[1]);
    late->link = ends[0];
    if (late->asker < 0) {
        close(ends[0]);
        late->asker = 0;
    }
}

/* The process ends when it has sent its answer, or when the socket is closed. */
static void end_asking(struct pythia__late_git *late)
{
    close(late->link);
    late->ended = late->asker;
    late->asker = 0;
}

bool pythia__late_git_take(struct pythia__late_git *late, int wait_ms)
{
    struct pythia_git_state state;
    if (late->asker <= 0)
        return true;
    struct pollfd on = {.fd = late->link, .events = POLLIN};
    int ready;
    while ((ready = poll(&on, 1, wait_ms)) < 0 && errno == EINTR) {
    }
    if (ready <= 0)
        return false;
    if (recv(late->link, &state, sizeof(state), MSG_DONTWAIT) == sizeof(state))
        late->state = state;
    end_asking(late);
    return true;
}

bool pythia__late_git_settle(struct pythia__late_git *late, int wait_ms)
{
    bool answered = late->run == 0 || pythia__late_git_take(late, wait_ms);
    if (answered && late->run)
        add_to_record(late->path, late->run, &late->state);
    pythia__late_git_drop(late);
    return answered;
}

void pythia__late_git_leave(struct pythia__late_git *late)
{
    if (late->run == 0 || late->asker <= 0)
        return;
    if (send(late->link, &late->run, sizeof(late->run), MSG_NOSIGNAL) < 0)
        pythia__late_git_settle(late, 0); /* the answer has come meanwhile */
    else
        end_asking(late);
}

void pythia__late_git_drop(struct pythia__late_git *late)
{
    if (late->asker > 0)
        end_asking(late);
    late->run = 0;
}
