/* What another user has put into a folder that all can write to. Files are given to that user by
 * root; without root, what needs it is skipped. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "pythia/own_file.h"
#include "pythia/status.h"

#define OTHER 65534

static char folder[64], path[96], victim[96];

static int begin(void **state)
{
    snprintf(folder, sizeof(folder), "/tmp/pythia-own-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 01777), 0);
    snprintf(path, sizeof(path), "%s/file", folder);
    snprintf(victim, sizeof(victim), "%s/victim", folder);
    return 0;
}

static int end(void **state)
{
    static const char *const parts[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, parts[i]);
        unlink(name);
    }
    unlink(victim);
    rmdir(folder);
    return 0;
}

static void need_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void make(const char *name, mode_t mode)
{
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL, mode);
    assert_true(file >= 0);
    assert_int_equal(write(file, "text", 4), 4);
    close(file);
}

static void assert_opened(int flags)
{
    struct pythia_error e = {0};
    int file = pythia_own_file_open(path, flags, &e);
    assert_true(file >= 0);
    assert_int_equal(e.status, 0);
    close(file);
}

static void assert_refused(int flags, const char *why)
{
    struct pythia_error e = {0};
    errno = 0;
    assert_int_equal(pythia_own_file_open(path, flags, &e), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(e.status, PYTHIA_EIO);
    assert_string_equal(e.source, path);
    assert_non_null(strstr(e.sentence, why));
}

static void a_new_file_is_for_its_user_alone(void **state)
{
    struct stat about;
    mode_t before = umask(0);
    assert_opened(O_RDWR | O_CREAT);
    umask(before);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_opened(O_RDWR | O_CREAT);
    assert_opened(O_WRONLY | O_APPEND);
}

static void a_file_that_is_missing_is_no_refusal(void **state)
{
    struct pythia_error e = {0};
    assert_int_equal(pythia_own_file_open(path, O_RDONLY, &e), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(e.status, 0);
}

static void a_file_of_another_user_is_refused(void **state)
{
    need_root();
    make(path, 0666);
    assert_int_equal(chown(path, OTHER, OTHER), 0);
    assert_refused(O_RDONLY, "is a file of user 65534");
    assert_refused(O_RDWR | O_CREAT, "is a file of user 65534");
    assert_int_equal(chmod(folder, 0755), 0); /* what its owner has there is wanted */
    assert_opened(O_RDWR | O_CREAT);
}

static void a_pipe_of_another_user_is_not_waited_for(void **state)
{
    need_root();
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(chown(path, OTHER, OTHER), 0);
    assert_refused(O_RDONLY, "is a file of user 65534");
}

static void make_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int socket_of_test = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(socket_of_test, (const void *)&address, sizeof(address)), 0);
    close(socket_of_test);
}

static void a_socket_of_another_user_is_refused(void **state)
{
    struct pythia_error e = {0};
    assert_int_equal(pythia_own_socket_check(path, &e), PYTHIA_OK); /* there is none */
    make_socket();
    assert_int_equal(pythia_own_socket_check(path, &e), PYTHIA_OK);
    need_root();
    assert_int_equal(chown(path, OTHER, OTHER), 0);
    assert_int_equal(pythia_own_socket_check(path, &e), PYTHIA_EIO);
    assert_non_null(strstr(e.sentence, "is a socket of user 65534"));
    assert_string_equal(e.source, path);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(pythia_own_socket_check(path, &e), PYTHIA_OK);
}

static void a_symbolic_link_of_another_user_is_refused(void **state)
{
    need_root();
    make(victim, 0600);
    assert_int_equal(symlink(victim, path), 0);
    assert_opened(O_RDWR | O_CREAT);
    assert_int_equal(lchown(path, OTHER, OTHER), 0);
    assert_refused(O_RDWR | O_CREAT, "is a symbolic link of user 65534");
    assert_int_equal(unlink(victim), 0); /* nor is the file created that it leads to */
    assert_refused(O_RDWR | O_CREAT, "is a symbolic link of user 65534");
    assert_int_equal(access(victim, F_OK), -1);
}

static void a_hard_link_is_not_written_to(void **state)
{
    make(victim, 0600);
    assert_int_equal(link(victim, path), 0);
    assert_refused(O_WRONLY | O_APPEND, "has 2 names (hard links)");
    assert_opened(O_RDONLY);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_opened(O_WRONLY | O_APPEND);
}

static void a_device_is_of_nobody(void **state)
{
    struct pythia_error e = {0};
    int file = pythia_own_file_open("/dev/null", O_WRONLY | O_CREAT | O_APPEND, &e);
    assert_true(file >= 0);
    close(file);
}

static void the_log_of_a_database_is_not_another_users(void **state)
{
    static const char *const parts[] = {"-journal", "-wal", "-shm"};
    need_root();
    make(path, 0600);
    make(victim, 0600);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct pythia_error e = {0};
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, parts[i]);
        make(name, 0600);
        assert_int_equal(pythia_own_database_check(path, &e), PYTHIA_OK);
        assert_int_equal(chown(name, OTHER, OTHER), 0);
        assert_int_equal(pythia_own_database_check(path, &e), PYTHIA_EIO);
        assert_string_equal(e.source, name);
        assert_non_null(strstr(e.sentence, "is a file of user 65534"));
        assert_int_equal(unlink(name), 0);

        assert_int_equal(symlink(victim, name), 0);
        pythia_error_clear(&e);
        assert_int_equal(pythia_own_database_check(path, &e), PYTHIA_EIO);
        assert_non_null(strstr(e.sentence, "is a symbolic link of user 0"));
        assert_int_equal(unlink(name), 0);

        assert_int_equal(link(victim, name), 0);
        pythia_error_clear(&e);
        assert_int_equal(pythia_own_database_check(path, &e), PYTHIA_EIO);
        assert_non_null(strstr(e.sentence, "has 2 names (hard links)"));
        assert_int_equal(unlink(name), 0);
        assert_int_equal(pythia_own_database_check(path, &e), PYTHIA_OK);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_is_for_its_user_alone),
        TEST(a_file_that_is_missing_is_no_refusal),
        TEST(a_file_of_another_user_is_refused),
        TEST(a_pipe_of_another_user_is_not_waited_for),
        TEST(a_socket_of_another_user_is_refused),
        TEST(a_symbolic_link_of_another_user_is_refused),
        TEST(a_hard_link_is_not_written_to),
        TEST(a_device_is_of_nobody),
        TEST(the_log_of_a_database_is_not_another_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
