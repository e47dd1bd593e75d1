/* What is forbidden is tried, each in a child of its own, as it holds for good. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pythia/confine.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static char place[] = "/tmp/pythia-confine-XXXXXX", folder[64], output[96];

/* What a child does once it is confined: 0, or the errno of what failed. */
typedef int attempt(void);

#define NO_SECCOMP  200 /* what the kernel cannot do is not tried */
#define NO_LANDLOCK 201

static int try_confined(attempt *what, bool about_files, unsigned may)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *const outputs[] = {NULL, "-", output, "/nowhere/at/all"};
        struct pythia_confinement held;
        if (pythia_confine(outputs, 4, may, &held) != PYTHIA_OK)
            _exit(202);
        if (about_files ? !held.files : !held.calls)
            _exit(about_files ? NO_LANDLOCK : NO_SECCOMP);
        _exit(what());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect_with(attempt *what, bool about_files, unsigned may, int expected)
{
    int got = try_confined(what, about_files, may);
    if (got == NO_SECCOMP || got == NO_LANDLOCK)
        skip(); /* this kernel has it not */
    assert_int_equal(got, expected);
}

static void expect(attempt *what, bool about_files, int expected)
{
    expect_with(what, about_files, 0, expected);
}

static int result(int returned)
{
    return returned < 0 ? errno : 0;
}

/* ---- calls ---- */

static int open_internet(void)
{
    return result(socket(AF_INET, SOCK_STREAM, 0));
}

static int open_unix(void)
{
    return result(socket(AF_UNIX, SOCK_DGRAM, 0));
}

static int pair_sockets(void)
{
    int both[2];
    return result(socketpair(AF_UNIX, SOCK_STREAM, 0, both));
}

static int run_program(void)
{
    char *const arguments[] = {"true", NULL};
    return result(execv("/bin/true", arguments));
}

static int end_parent(void)
{
    return result(kill(getppid(), 0));
}

/* A folder of /proc stands for its process, too. */
static int end_parent_by_folder(void)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d", (int)getppid());
    int folder_of_it = open(path, O_RDONLY | O_DIRECTORY);
    return folder_of_it < 0 ? errno
                            : result((int)syscall(SYS_pidfd_send_signal, folder_of_it, 0, NULL, 0));
}

static void no_network_and_no_programs(void **state)
{
    expect(open_internet, false, EPERM);
    expect(open_unix, false, EPERM);
    expect(pair_sockets, false, EPERM);
    expect(run_program, false, EPERM);
    expect(end_parent, false, EPERM);
    expect(end_parent_by_folder, false, EPERM);
}

#ifndef PYTHIA_SANITIZED /* they make processes */
static int make_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return result(child);
}

static int run_by_shell(void)
{
    FILE *pipe = popen("true", "r"); /* NOLINT(cert-env33-c): it must fail */
    return pipe ? 0 : EPERM;         /* the C library says that there is no memory */
}

static int end_thread_of_parent(void)
{
    return result((int)syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static void no_processes(void **state)
{
    expect(make_process, false, EPERM);
    expect(run_by_shell, false, EPERM);
    expect(end_thread_of_parent, false, EPERM);
}
#endif

static int serve_internet(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int server = socket(AF_INET, SOCK_STREAM, 0);
    return server < 0 ? 1 : result(bind(server, (const struct sockaddr *)&any, sizeof(any)));
}

static void who_may_connect_may_do_nothing_else(void **state)
{
    expect_with(open_internet, false, PYTHIA_CONFINE_MAY_CONNECT, 0);
    expect_with(serve_internet, false, PYTHIA_CONFINE_MAY_CONNECT, EPERM);
    expect_with(run_program, false, PYTHIA_CONFINE_MAY_CONNECT, EPERM);
    expect_with(end_parent, false, PYTHIA_CONFINE_MAY_CONNECT, EPERM);
#ifndef PYTHIA_SANITIZED
    expect_with(make_process, false, PYTHIA_CONFINE_MAY_CONNECT, EPERM);
#endif
}

static void *open_socket(void *seen)
{
    *(int *)seen = socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
    return NULL;
}

/* A thread is made, and is confined too. */
static int make_thread(void)
{
    pthread_t thread;
    int seen = -1, made = pthread_create(&thread, NULL, open_socket, &seen);
    if (made == 0)
        pthread_join(thread, NULL);
    return made ? made : seen;
}

static void threads_are_made_and_confined(void **state)
{
    expect(make_thread, false, EPERM);
}

/* ---- files ---- */

static int make_file(const char *name)
{
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int number = result(file);
    if (file >= 0)
        close(file);
    return number;
}

static int make_elsewhere(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/other", place);
    return make_file(path);
}

static int write_elsewhere(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/there", place);
    return result(open(path, O_WRONLY | O_APPEND));
}

static int remove_elsewhere(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/there", place);
    return result(unlink(path));
}

static int make_folder(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/in", folder);
    return result(mkdir(path, 0700));
}

static int link_elsewhere(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/link", folder);
    return result(symlink("/etc/passwd", path));
}

static void no_files_but_the_output(void **state)
{
    expect(make_elsewhere, true, EACCES);
    expect(write_elsewhere, true, EACCES);
    expect(remove_elsewhere, true, EACCES);
    expect(make_folder, false, EPERM);
    expect(link_elsewhere, false, EPERM);
}

static int write_output(void)
{
    char beside[128];
    snprintf(beside, sizeof(beside), "%s.1.tmp", output);
    int number = make_file(beside);
    if (number == 0)
        number = result(truncate(beside, 0)) == EPERM ? 0 : EINVAL; /* by its name, it is not */
    return number ? number : result(rename(beside, output));
}

static int read_there(void)
{
    char path[128], byte;
    snprintf(path, sizeof(path), "%s/there", place);
    int file = open(path, O_RDONLY);
    return file < 0 || read(file, &byte, 1) != 1 || byte != 'x' ? 1 : 0;
}

static void outputs_are_written_and_files_are_read(void **state)
{
    expect(write_output, false, 0);
    assert_int_equal(access(output, F_OK), 0);
    assert_int_equal(unlink(output), 0);
    expect(read_there, true, 0);
}

static void without_memory_it_says_so(void **state)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *const outputs[] = {output};
        struct pythia_confinement held;
        pythia_mem_fail_after(0);
        int got = pythia_confine(outputs, 1, 0, &held);
        _exit(got == PYTHIA_ENOMEM || !held.files ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int begin(void **state)
{
    char path[128];
    if (!mkdtemp(place))
        return 1;
    snprintf(folder, sizeof(folder), "%s/results", place);
    snprintf(output, sizeof(output), "%s/report.html", folder);
    snprintf(path, sizeof(path), "%s/there", place);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    bool good = mkdir(folder, 0700) == 0 && file >= 0 && write(file, "x", 1) == 1;
    if (file >= 0)
        close(file);
    (void)state;
    return good ? 0 : 1;
}

static int end(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof(path), "%s/there", place);
    return unlink(path) == 0 && rmdir(folder) == 0 && rmdir(place) == 0 ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_network_and_no_programs),
#ifndef PYTHIA_SANITIZED
        cmocka_unit_test(no_processes),
#endif
        cmocka_unit_test(who_may_connect_may_do_nothing_else),
        cmocka_unit_test(threads_are_made_and_confined),
        cmocka_unit_test(no_files_but_the_output),
        cmocka_unit_test(outputs_are_written_and_files_are_read),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
