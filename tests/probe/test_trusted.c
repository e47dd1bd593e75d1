#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "trusted.h"

static void only_files_of_root_alone_are_opened(void **state)
{
    struct pythia_error e = {0};
    char folder[] = "/tmp/allow_list.XXXXXX", path[64];
    int file = pythia__trusted_open("/etc/passwd", &e);
    assert_true(file >= 0);
    close(file);
    assert_non_null(mkdtemp(folder)); /* below /tmp, where anybody can write */
    snprintf(path, sizeof(path), "%s/program", folder);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
    assert_true(pythia__trusted_open(path, &e) < 0);
    assert_non_null(strstr(e.sentence, "does not belong to root alone"));
    unlink(path);
    pythia_error_clear(&e);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_true(pythia__trusted_open(path, &e) < 0);
    assert_non_null(strstr(e.sentence, "leads to /etc/passwd"));
    unlink(path);
    rmdir(folder);
    pythia_error_clear(&e);
    assert_true(pythia__trusted_open("/etc", &e) < 0);
    pythia_error_clear(&e);
    assert_true(pythia__trusted_open("/etc/../etc/passwd", &e) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_files_of_root_alone_are_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
