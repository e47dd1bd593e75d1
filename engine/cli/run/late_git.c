#define _GNU_SOURCE
#include "late_git.h"

#include <fcntl.h>
#include <unistd.h>

#include "pythia/error.h"
#include "pythia/status.h"

bool pythia__late_git_settle(struct pythia__late_git *late, struct pythia_run_store *store,
                             int wait_ms)
{
    struct pythia_error why = {0};
    if (late->run == 0)
        return true;
    bool answered = pythia_git_take(&late->question, wait_ms, &late->context);
    if (!answered)
        pythia_git_drop(&late->question);
    else if (late->context.git_dirty >= 0) /* a failure leaves it unknown, as it is recorded */
        (void)pythia_run_store_set_git(store, late->run, late->context.git_commit,
                                       late->context.git_dirty, &why);
    late->run = 0;
    return answered;
}

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

static void settle_alone(struct pythia__late_git *late, const char *path)
{
    struct pythia_run_store *store = NULL;
    struct pythia_error why = {0};
    setsid();
    alarm(2 * PYTHIA__LATE_GIT_MS / 1000); /* whatever it may wait for */
    leave_files(late->question.output);
    bool answered = pythia_git_take(&late->question, PYTHIA__LATE_GIT_MS, &late->context);
    if (!answered)
        pythia_git_drop(&late->question);
    if (late->context.git_dirty >= 0 &&
        pythia_run_store_open(path, false, &store, &why) == PYTHIA_OK)
        (void)pythia__late_git_settle(late, store, 0);
    pythia_run_store_close(store);
}

void pythia__late_git_leave(struct pythia__late_git *late, const char *path)
{
    if (late->run == 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        settle_alone(late, path);
        _exit(0);
    }
    if (pid < 0)
        pythia_git_drop(&late->question);
    else
        close(late->question.output);
    late->run = 0;
}
