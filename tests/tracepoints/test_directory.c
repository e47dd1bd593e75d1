/* Where programs and their reader meet if nobody has said where, and another user was there first.
 * It takes two users: only root can be others. */
#define _GNU_SOURCE /* setgroups */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>

#include "traced.h"

#define USER    61234
#define HOSTILE 61235

static char usual[64];

static void report(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
    _exit(1);
}

/* As that user, without a session of its own. */
static void become(uid_t user)
{
    if (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0)
        report("cannot be another user");
    unsetenv("PYTHIA_DIRECTORY");
    unsetenv("XDG_RUNTIME_DIR");
    setenv("PYTHIA_OPEN", "*", 1);
    setenv("PYTHIA_SERVICE", "test", 1);
}

static void record_a_span(void)
{
    PYTHIA_SPAN("point");
}

static struct pythia_drain *opened(void)
{
    struct pythia_drain *d = NULL;
    const struct pythia_drain_handler handler = {.frame = traced_frame, .refused = traced_refused};
    char why[256] = "";
    if (pythia_drain_open(NULL, &handler, &d, why) != 0)
        report(why);
    return d;
}

/* A reader and a program, neither of which was told anything, in two processes. */
static void meet(void)
{
    become(USER);
    struct pythia_drain *d = opened();
    struct stat about;
    if (strncmp(pythia_drain_directory(d), usual, strlen(usual)) != 0 ||
        strlen(pythia_drain_directory(d)) != strlen(usual) + 7)
        report(pythia_drain_directory(d));
    if (stat(pythia_drain_directory(d), &about) != 0 || about.st_uid != USER ||
        (about.st_mode & 0777) != 0700)
        report("the directory is not for this user alone");
    pid_t program = fork();
    if (program == 0) {
        record_a_span();
        _exit(0);
    }
    int status = 0;
    waitpid(program, &status, 0);
    if (pythia_drain_pass(d) != 0 || traced.frames.size == 0)
        report("nothing came of the program");
    pythia_drain_close(d);
    d = opened(); /* it is found again, and nothing else is made */
    struct stat again;
    if (stat(pythia_drain_directory(d), &again) != 0 || again.st_ino != about.st_ino)
        report("another directory was made");
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", pythia_drain_directory(d));
    pythia_drain_close(d);
    _exit(system(command) == 0 ? 0 : 1);
}

static void run_as_user(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        meet();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void another_user_cannot_block_the_directory(void **state)
{
    char other[80];
    if (geteuid() != 0 || access("/dev/shm", W_OK) != 0 || access("/run/user/61234", F_OK) == 0)
        skip();
    snprintf(usual, sizeof(usual), "/dev/shm/pythia-%d", USER);
    snprintf(other, sizeof(other), "%s-aaaaaa", usual); /* it looks like one of this user */
    for (int as_file = 0; as_file < 2; as_file++) {
        if (as_file)
            close(open(usual, O_CREAT | O_WRONLY, 0600));
        else
            assert_int_equal(mkdir(usual, 0700), 0);
        assert_int_equal(mkdir(other, 0700), 0);
        assert_int_equal(chown(usual, HOSTILE, HOSTILE), 0);
        assert_int_equal(chown(other, HOSTILE, HOSTILE), 0);
        run_as_user();
        assert_int_equal(remove(usual), 0);
        assert_int_equal(remove(other), 0);
    }
}

static void leave_session(void)
{
    become(USER);
    struct pythia_drain *d = opened();
    bool here = strcmp(pythia_drain_directory(d), "/run/user/61234/pythia") == 0;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", pythia_drain_directory(d));
    pythia_drain_close(d);
    _exit(here && system(command) == 0 ? 0 : 1);
}

/* Without XDG_RUNTIME_DIR, as under cron or sudo, the folder of the session is taken all the same:
 * nobody else can make anything in it. */
static void the_folder_of_the_session_comes_first(void **state)
{
    if (geteuid() != 0 || access("/run/user/61234", F_OK) == 0)
        skip();
    bool made = mkdir("/run/user", 0755) == 0;
    if (mkdir("/run/user/61234", 0700) != 0)
        skip();
    assert_int_equal(chown("/run/user/61234", USER, USER), 0);
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        leave_session();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(rmdir("/run/user/61234"), 0);
    if (made)
        rmdir("/run/user");
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_user_cannot_block_the_directory),
        cmocka_unit_test(the_folder_of_the_session_comes_first),
    };
    traced.owner = getpid();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
