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

/* ---- a directory of another user, which root reads ---- */

#define THEIRS "/tmp/pythia-theirs-XXXXXX"

static struct {
    char directory[64], path[128], victim[64];
} theirs;

static void make_victim(void)
{
    snprintf(theirs.victim, sizeof(theirs.victim), "/tmp/pythia-victim-XXXXXX");
    int file = mkstemp(theirs.victim);
    assert_true(file >= 0);
    assert_int_equal(write(file, "of root\n", 8), 8);
    close(file);
}

static void expect_victim(void)
{
    char text[16] = "";
    FILE *file = fopen(theirs.victim, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof(text), file), 8);
    assert_string_equal(text, "of root\n");
    (void)fclose(file);
}

/* What the user has put where root would have a file of that name. */
enum planted { LINK, HARD_LINK, PIPE, FOLDER, PLANTED };

static void plant(const char *name, enum planted what)
{
    snprintf(theirs.path, sizeof(theirs.path), "%s/%s", theirs.directory, name);
    const int made = what == LINK        ? symlink(theirs.victim, theirs.path)
                     : what == HARD_LINK ? link(theirs.victim, theirs.path)
                     : what == PIPE      ? mkfifo(theirs.path, 0600)
                                         : mkdir(theirs.path, 0700);
    assert_int_equal(made, 0);
    assert_int_equal(geteuid() == 0 && what != HARD_LINK ? lchown(theirs.path, USER, USER) : 0, 0);
}

static void expect_no_switchboard(void)
{
    struct pythia_switchboard *board = NULL;
    char why[256] = "";
    int status = pythia_switchboard_open(theirs.directory, 1, &board, why);
    assert_true(status < 0);
    assert_non_null(strstr(why, theirs.directory));
}

/* The name of each file that root reads, makes or locks in a directory of switches and rings. */
static void nothing_that_a_user_has_planted_is_followed_by_root(void **state)
{
    const struct pythia_drain_handler handler = {.frame = traced_frame, .refused = traced_refused};
    struct pythia_drain *d = NULL;
    char why[256] = "";
    if (geteuid() != 0)
        skip();
    snprintf(theirs.directory, sizeof(theirs.directory), THEIRS);
    assert_non_null(mkdtemp(theirs.directory));
    assert_int_equal(chown(theirs.directory, USER, USER), 0);
    make_victim();
    for (enum planted what = LINK; what < PLANTED; what++) {
        plant("switchboard-2", what);
        expect_no_switchboard();
        assert_int_equal(remove(theirs.path), 0);
        plant("switchboard.lock", what);
        expect_no_switchboard();
        assert_int_equal(remove(theirs.path), 0);
        plant("reader.lock", what);
        assert_true(pythia_drain_open(theirs.directory, &handler, &d, why) < 0);
        assert_non_null(strstr(why, theirs.directory));
        assert_int_equal(remove(theirs.path), 0);
        plant("area-1-0000000000000001", what);
        assert_int_equal(pythia_drain_open(theirs.directory, &handler, &d, why), 0);
        pythia_buf_clear(&traced.refusals);
        assert_int_equal(pythia_drain_pass(d), 0);
        assert_true(traced.refusals.size > 0);
        pythia_drain_close(d);
        assert_int_equal(remove(theirs.path), 0);
        snprintf(theirs.path, sizeof(theirs.path), "%s/reader.lock", theirs.directory);
        assert_int_equal(remove(theirs.path), 0);
        expect_victim();
    }
    pythia_buf_free(&traced.refusals);
    assert_int_equal(remove(theirs.victim), 0);
    assert_int_equal(remove(theirs.directory), 0);
}

/* The directory itself, named by its user: whatever it is, it is refused by its path. */
static void a_directory_that_is_none_is_refused(void **state)
{
    char why[256];
    struct pythia_switchboard *board = NULL;
    snprintf(theirs.directory, sizeof(theirs.directory), THEIRS);
    assert_non_null(mkdtemp(theirs.directory));
    make_victim();
    for (enum planted what = LINK; what < FOLDER; what++) {
        plant("there", what);
        why[0] = '\0';
        assert_int_equal(pythia_switchboard_open(theirs.path, 1, &board, why), -ENOTDIR);
        assert_non_null(strstr(why, theirs.path));
        assert_non_null(strstr(why, "is not a directory"));
        assert_int_equal(remove(theirs.path), 0);
    }
    snprintf(theirs.path, sizeof(theirs.path), "%s/there", theirs.directory);
    assert_int_equal(symlink("/tmp", theirs.path), 0);
    assert_int_equal(pythia_switchboard_open(theirs.path, 1, &board, why), -ENOTDIR);
    assert_int_equal(remove(theirs.path), 0);
    expect_victim();
    assert_int_equal(remove(theirs.victim), 0);
    assert_int_equal(remove(theirs.directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_user_cannot_block_the_directory),
        cmocka_unit_test(the_folder_of_the_session_comes_first),
        cmocka_unit_test(nothing_that_a_user_has_planted_is_followed_by_root),
        cmocka_unit_test(a_directory_that_is_none_is_refused),
    };
    traced.owner = getpid();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
