#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "pythia/log.h"

/* stderr as a socket that keeps the borders between writes: what one receive gives was one write.
 */
static int ends[2], saved;

static void catch_stderr(void)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
}

static void give_back_stderr(void)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
}

/* What was written, one write after the other with '|' between them; stderr is given back. */
static const char *caught(void)
{
    static char all[8192];
    size_t size = 0;
    give_back_stderr();
    for (;;) {
        ssize_t got = recv(ends[0], all + size, sizeof(all) - size - 2, 0);
        if (got <= 0)
            break;
        size += (size_t)got;
        all[size++] = '|';
    }
    all[size] = '\0';
    close(ends[0]);
    return all;
}

static int setup(void **state)
{
    pythia_log_setup("pythia", PYTHIA_LOG_INFO);
    return 0;
}

static void a_line_is_one_write_with_the_program_and_the_level_before_it(void **state)
{
    pythia_log_setup("prog", PYTHIA_LOG_DEBUG);
    catch_stderr();
    pythia_log(PYTHIA_LOG_ERROR, "No %s: number=%d", "luck", 7);
    pythia_log(PYTHIA_LOG_WARNING, "Careful");
    pythia_log(PYTHIA_LOG_INFO, "Read it");
    pythia_log(PYTHIA_LOG_DEBUG, "Here");
    assert_string_equal(caught(), "prog: error: No luck: number=7\n|prog: warning: Careful\n|"
                                  "prog: Read it\n|prog: debug: Here\n|");
}

static void levels_above_the_chosen_one_are_silent(void **state)
{
    catch_stderr();
    pythia_log(PYTHIA_LOG_DEBUG, "not this");
    pythia_log(PYTHIA_LOG_INFO, "this");
    pythia_log_setup("pythia", PYTHIA_LOG_ERROR);
    pythia_log(PYTHIA_LOG_WARNING, "nor this");
    pythia_log(PYTHIA_LOG_ERROR, "but this");
    assert_string_equal(caught(), "pythia: this\n|pythia: error: but this\n|");
}

static void control_characters_become_question_marks(void **state)
{
    catch_stderr();
    pythia_log(PYTHIA_LOG_INFO, "name=%s",
               "a\x1b[31m\nb\tc\rd\x7f\x01"
               "e\xc3\xa9\xc2\x9b"
               "f\xe2\x80\xae"
               "g\x9b");
    assert_string_equal(caught(), "pythia: name=a?[31m?b?c?d?\?e\xc3\xa9?\?f?\?\?g?\n|");
}

static void a_long_line_is_cut_and_still_a_line(void **state)
{
    catch_stderr();
    pythia_log(PYTHIA_LOG_INFO, "%05000d", 1);
    const char *line = caught();
    size_t size = strlen(line);
    assert_int_equal(size, 1024); /* with its newline, and the '|' of this test instead of a NUL */
    assert_memory_equal(line, "pythia: 0000", 12);
    assert_memory_equal(line + size - 4, "00\n|", 4);
}

static void a_long_name_of_the_program_is_cut_too(void **state)
{
    static char name[3000];
    memset(name, 'p', sizeof(name) - 1);
    pythia_log_setup(name, PYTHIA_LOG_INFO);
    catch_stderr();
    pythia_log(PYTHIA_LOG_ERROR, "%s", "unseen");
    const char *line = caught();
    size_t size = strlen(line);
    assert_true(size > 500 && size <= 1024);
    assert_memory_equal(line + size - 4, "pp\n|", 4);
}

static void nobody_listening_is_no_error(void **state)
{
    catch_stderr();
    close(STDERR_FILENO);
    pythia_log(PYTHIA_LOG_ERROR, "lost");
    assert_string_equal(caught(), "");
}

static void *talk(void *context)
{
    for (int i = 0; i < 100; i++)
        pythia_log(PYTHIA_LOG_INFO, "thread=%d", *(int *)context);
    return NULL;
}

/* The reader checks that every write was a whole line. */
static void lines_of_threads_do_not_mix(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int numbers[THREADS], seen[THREADS] = {0};
    catch_stderr();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, talk, &numbers[i]);
    }
    for (int i = 0; i < THREADS * 100; i++) {
        char line[64] = "";
        assert_int_equal(recv(ends[0], line, sizeof(line) - 1, 0), 17);
        assert_memory_equal(line, "pythia: thread=", 15);
        seen[line[15] - '0']++;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_string_equal(caught(), "");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(seen[i], 100);
}

/* The pipe is full: a line more would wait for good. */
static void fill_pipe(int end)
{
    static const char bytes[4096];
    assert_int_equal(fcntl(end, F_SETFL, O_NONBLOCK), 0);
    while (write(end, bytes, sizeof(bytes)) > 0)
        continue;
    assert_int_equal(fcntl(end, F_SETFL, 0), 0);
}

static void empty_pipe(int end)
{
    static char bytes[1 << 20];
    assert_int_equal(fcntl(end, F_SETFL, O_NONBLOCK), 0);
    while (read(end, bytes, sizeof(bytes)) > 0)
        continue;
}

/* Last, because it cannot be taken back. */
static void a_daemon_leaves_lines_out_that_nobody_reads_and_counts_them(void **state)
{
    static const char expected[] = "pythia: warning: Left lines of the log out, because nobody "
                                   "read it: lines=3\npythia: four\npythia: five\n";
    char got[256] = "";
    assert_int_equal(pipe(ends), 0);
    saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    pythia_log_never_wait();
    fill_pipe(STDERR_FILENO);
    pythia_log(PYTHIA_LOG_INFO, "one");
    pythia_log(PYTHIA_LOG_ERROR, "two");
    pythia_log(PYTHIA_LOG_INFO, "three");
    empty_pipe(ends[0]);
    pythia_log(PYTHIA_LOG_INFO, "four");
    pythia_log(PYTHIA_LOG_INFO, "five");
    give_back_stderr();
    ssize_t size = read(ends[0], got, sizeof(got) - 1);
    close(ends[0]);
    assert_int_equal(size, sizeof(expected) - 1);
    assert_string_equal(got, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_line_is_one_write_with_the_program_and_the_level_before_it, setup),
        cmocka_unit_test_setup(levels_above_the_chosen_one_are_silent, setup),
        cmocka_unit_test_setup(control_characters_become_question_marks, setup),
        cmocka_unit_test_setup(a_long_line_is_cut_and_still_a_line, setup),
        cmocka_unit_test_setup(a_long_name_of_the_program_is_cut_too, setup),
        cmocka_unit_test_setup(nobody_listening_is_no_error, setup),
        cmocka_unit_test_setup(lines_of_threads_do_not_mix, setup),
        cmocka_unit_test_setup(a_daemon_leaves_lines_out_that_nobody_reads_and_counts_them, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
