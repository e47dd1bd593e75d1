/* Two files, of three pieces and of one, whose pieces are decoded in any order. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "input/file_messages.h"
#include "pythia/mem.h"
#include "pythia/status.h"

enum { PIECES = 4 };

struct decoded {
    struct pythia_input_file files[2];
    struct pythia__divided_file divided[2];
    struct pythia__piece list[PIECES];
    struct pythia__file_messages *messages;
    FILE *logged;
    int saved; /* stderr */
    char text[4096];
};

static struct decoded d;

static int begin(void **state)
{
    memset(&d, 0, sizeof(d));
    d.files[0].path = "a";
    d.files[1].path = "b";
    for (size_t i = 0; i < PIECES; i++) {
        d.divided[i / 3].file = &d.files[i / 3];
        d.list[i].of = &d.divided[i / 3];
        d.list[i].number = i;
        d.list[i].last = i >= 2;
    }
    assert_int_equal(pythia__file_messages_create(&d.messages), PYTHIA_OK);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(pythia__file_messages_begin(d.messages, &d.list[i]), PYTHIA_OK);
    d.logged = tmpfile();
    assert_non_null(d.logged);
    d.saved = dup(STDERR_FILENO);
    dup2(fileno(d.logged), STDERR_FILENO);
    return 0;
}

static int end(void **state)
{
    pythia__file_messages_destroy(d.messages);
    dup2(d.saved, STDERR_FILENO);
    close(d.saved);
    fclose(d.logged);
    return 0;
}

/* What was logged so far, one letter a line: the first of its sentence. */
static const char *logged_letters(void)
{
    size_t size = 0;
    char line[256];
    rewind(d.logged);
    while (fgets(line, sizeof(line), d.logged)) {
        char *colon = strrchr(line, ':');
        assert_non_null(colon);
        d.text[size++] = colon[2];
    }
    d.text[size] = '\0';
    fseek(d.logged, 0, SEEK_END);
    return d.text;
}

static void add(size_t piece, const char *letter, bool broken)
{
    struct pythia_error why = {0};
    (void)pythia_error_set(&why, PYTHIA_EFORMAT, "%s", letter);
    pythia_error_place(&why, d.list[piece].of->file->path, 0, 0);
    if (broken)
        pythia__file_messages_add_broken(d.messages, &d.list[piece], NULL, &why);
    else
        pythia__file_messages_add(d.messages, &d.list[piece], NULL, PYTHIA_LOG_ERROR, &why);
}

static void finish(size_t piece)
{
    pythia__file_messages_end(d.messages, &d.list[piece]);
}

static void messages_wait_for_the_pieces_before_theirs(void **state)
{
    add(3, "w", false);
    add(1, "q", true);
    finish(3);
    assert_string_equal(logged_letters(), "");
    add(0, "p", true);
    assert_string_equal(logged_letters(), "p"); /* nothing is before it */
    finish(1);
    assert_string_equal(logged_letters(), "p");
    finish(0);
    assert_string_equal(logged_letters(), "pq");
    add(2, "r", false);
    assert_string_equal(logged_letters(), "pqr");
    add(2, "s", true);
    finish(2);
    assert_string_equal(logged_letters(), "pqrsw");
}

/* Whichever piece has more of them earlier: the first five in order of place are logged. The line
 * that counts the others begins with their number. */
static void the_first_five_broken_records_of_a_file_are_logged(void **state)
{
    for (int i = 0; i < 9; i++)
        add(2, "x", true);
    finish(2);
    add(3, "y", true); /* of another file, which has five of its own */
    add(1, "q", true);
    add(1, "r", true);
    finish(1);
    add(0, "p", true);
    finish(0);
    assert_string_equal(logged_letters(), "pqrxx7y");
    finish(3);
    assert_string_equal(logged_letters(), "pqrxx7y");
    rewind(d.logged);
    char line[256];
    for (int i = 0; i < 6; i++)
        assert_non_null(fgets(line, sizeof(line), d.logged));
    assert_non_null(strstr(line, "a: 7 more broken records\n"));
    fseek(d.logged, 0, SEEK_END);
}

/* While the last piece that was found has ended, and the next one is not known yet. */
static void messages_of_a_piece_found_later_come_in_order(void **state)
{
    struct pythia__piece later = d.list[3];
    later.number = PIECES;
    for (size_t i = 0; i < PIECES; i++)
        finish(i);
    assert_int_equal(pythia__file_messages_begin(d.messages, &later), PYTHIA_OK);
    struct pythia_error why = {0};
    (void)pythia_error_set(&why, PYTHIA_EFORMAT, "z");
    pythia_error_place(&why, "b", 0, 0);
    pythia__file_messages_add(d.messages, &later, NULL, PYTHIA_LOG_ERROR, &why);
    assert_string_equal(logged_letters(), "z");
    pythia__file_messages_end(d.messages, &later);
}

static void what_waits_when_decoding_is_given_up_is_logged(void **state)
{
    add(3, "w", false);
    add(2, "r", true);
    pythia__file_messages_destroy(d.messages);
    d.messages = NULL;
    assert_string_equal(logged_letters(), "rw");
}

static void without_memory_a_message_is_logged_at_once(void **state)
{
    add(2, "r", true);
    pythia_mem_fail_after(0);
    add(1, "q", true);
    pythia_mem_fail_after(-1);
    assert_string_equal(logged_letters(), "q");
    for (size_t i = 0; i < PIECES; i++)
        finish(i);
    assert_string_equal(logged_letters(), "qr");
    struct pythia__file_messages *none = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia__file_messages_create(&none), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(none);
    assert_int_equal(pythia__file_messages_create(&none), PYTHIA_OK);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia__file_messages_begin(none, &d.list[0]), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia__file_messages_begin(none, &d.list[0]), PYTHIA_OK);
    pythia__file_messages_destroy(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_wait_for_the_pieces_before_theirs, begin, end),
        cmocka_unit_test_setup_teardown(the_first_five_broken_records_of_a_file_are_logged, begin,
                                        end),
        cmocka_unit_test_setup_teardown(messages_of_a_piece_found_later_come_in_order, begin, end),
        cmocka_unit_test_setup_teardown(what_waits_when_decoding_is_given_up_is_logged, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_a_message_is_logged_at_once, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
