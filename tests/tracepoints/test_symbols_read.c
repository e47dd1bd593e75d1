/* The symbols of a file that changes while they are read. */
#define _GNU_SOURCE /* mkstemp */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "symbols.h"

static char path[] = "/tmp/symbols_read.XXXXXX";

/* This program is long enough: whole pages of it go. */
static void copy_program(void)
{
    char bytes[65536];
    snprintf(path, sizeof(path), "/tmp/symbols_read.XXXXXX");
    int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
    ssize_t size;
    assert_true(from >= 0 && to >= 0);
    while ((size = read(from, bytes, sizeof(bytes))) > 0)
        assert_int_equal(write(to, bytes, (size_t)size), size);
    close(from);
    close(to);
}

static void count_function(void *context, const char *name, uint64_t value)
{
    (void)name;
    (void)value;
    ++*(size_t *)context;
}

static void cut_file(void *context, const char *name, uint64_t value)
{
    if (*(size_t *)context == 0)
        assert_int_equal(truncate(path, 4096), 0);
    count_function(context, name, value);
}

/* It would end the program that is traced: memory that is mapped from it is gone (SIGBUS). */
static void a_file_that_is_cut_short_meanwhile_harms_nobody(void **state)
{
    size_t all = 0, seen = 0;
    const struct pythia__symbol_handler count = {count_function, &all}, cut = {cut_file, &seen};
    copy_program();
    int kind = pythia__symbols_read(path, &count);
    assert_in_range(kind, PYTHIA__FILE_STATIC, PYTHIA__FILE_DYNAMIC);
    assert_true(all > 0);
    assert_int_equal(pythia__symbols_read(path, &cut), kind);
    assert_in_range(seen, 1, all);
    assert_int_equal(unlink(path), 0);
}

static void a_file_that_has_lost_its_end_is_passed_over(void **state)
{
    size_t seen = 0;
    const struct pythia__symbol_handler count = {count_function, &seen};
    struct stat about;
    copy_program();
    assert_int_equal(stat(path, &about), 0);
    for (off_t size = about.st_size - 1; size > 0; size -= about.st_size / 16)
        if (truncate(path, size) == 0)
            assert_in_range(pythia__symbols_read(path, &count), PYTHIA__FILE_OTHER,
                            PYTHIA__FILE_DYNAMIC);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(pythia__symbols_read(path, &count), PYTHIA__FILE_OTHER);
    assert_int_equal(unlink(path), 0);
}

static void nobody_waits_for_the_writer_of_a_pipe(void **state)
{
    copy_program();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pythia__symbols_read(path, NULL), PYTHIA__FILE_OTHER);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_cut_short_meanwhile_harms_nobody),
        cmocka_unit_test(a_file_that_has_lost_its_end_is_passed_over),
        cmocka_unit_test(nobody_waits_for_the_writer_of_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
