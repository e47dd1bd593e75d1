#include <string.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static void what_is_appended_stands_one_after_the_other(void **state)
{
    struct pythia_buf b;
    pythia_buf_init(&b);
    pythia_buf_puts(&b, "one");
    pythia_buf_putc(&b, ' ');
    pythia_buf_text_add(&b, PYTHIA_TEXT("two"));
    pythia_buf_add(&b, " three!", 6);
    pythia_buf_printf(&b, " %d %s", 4, "five");
    assert_string_equal(b.bytes, "one two three 4 five");
    assert_int_equal(b.size, 20);
    assert_int_equal(pythia_buf_status(&b), PYTHIA_OK);
    pythia_buf_free(&b);
    assert_null(b.bytes);
    assert_int_equal(b.size, 0);
}

static void any_byte_may_be_in_it(void **state)
{
    struct pythia_buf b = {0};
    pythia_buf_add(&b, "a\0b", 3);
    pythia_buf_putc(&b, '\0');
    assert_int_equal(b.size, 4);
    assert_memory_equal(b.bytes, "a\0b\0", 4);
    assert_int_equal(b.bytes[4], '\0');
    pythia_buf_free(&b);
}

static void an_empty_one_is_the_empty_text(void **state)
{
    struct pythia_buf b = {0};
    assert_int_equal(pythia_buf_text(&b).size, 0);
    assert_string_equal(pythia_buf_text(&b).bytes, "");
    pythia_buf_add(&b, NULL, 0);
    pythia_buf_text_add(&b, (struct pythia_text){NULL, 0});
    assert_int_equal(pythia_buf_text(&b).size, 0);
    assert_string_equal(pythia_buf_text(&b).bytes, "");
    pythia_buf_free(&b);
}

/* A NUL stands behind the content at every size, so at each boundary of a growing capacity too. */
static void a_nul_always_stands_behind_the_content(void **state)
{
    struct pythia_buf b = {0};
    for (size_t i = 0; i < 1000; i++) {
        pythia_buf_putc(&b, 'x');
        assert_int_equal(strlen(b.bytes), i + 1);
    }
    pythia_buf_clear(&b);
    assert_int_equal(b.size, 0);
    assert_string_equal(b.bytes, "");
    for (size_t i = 0; i < 300; i++) {
        pythia_buf_printf(&b, "%s", "yz");
        assert_int_equal(strlen(b.bytes), 2 * (i + 1));
    }
    pythia_buf_free(&b);
}

static void clearing_keeps_the_memory(void **state)
{
    struct pythia_buf b = {0};
    for (size_t i = 0; i < 1000; i++)
        pythia_buf_puts(&b, "0123456789");
    pythia_buf_clear(&b);
    pythia_mem_fail_after(0);
    for (size_t i = 0; i < 1000; i++)
        pythia_buf_puts(&b, "0123456789");
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&b), PYTHIA_OK);
    assert_int_equal(b.size, 10000);
    pythia_buf_free(&b);
}

static void there_is_as_much_room_as_was_asked_for(void **state)
{
    struct pythia_buf b = {0};
    for (size_t size = 0; size < 3000; size = size * 2 + 1) {
        char *room = pythia_buf_reserve(&b, size);
        assert_non_null(room);
        assert_ptr_equal(room, b.bytes + b.size);
        memset(room, 'r', size); /* the sanitizer sees if this is too much */
        b.size += size;
    }
    assert_int_equal(b.size, 0 + 1 + 3 + 7 + 15 + 31 + 63 + 127 + 255 + 511 + 1023 + 2047);
    assert_null(pythia_buf_reserve(&b, SIZE_MAX));
    assert_int_equal(pythia_buf_status(&b), PYTHIA_ENOMEM);
    pythia_buf_free(&b);
}

static void a_failure_stays_and_what_was_there_too(void **state)
{
    struct pythia_buf b = {0};
    pythia_buf_puts(&b, "before");
    pythia_mem_fail_after(0);
    for (size_t i = 0; i < 100; i++)
        pythia_buf_puts(&b, "0123456789");
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&b), PYTHIA_ENOMEM);
    assert_memory_equal(b.bytes, "before", 6);
    size_t size = b.size;
    pythia_buf_puts(&b, "after");
    pythia_buf_putc(&b, 'a');
    pythia_buf_printf(&b, "%d", 1);
    assert_null(pythia_buf_reserve(&b, 1));
    assert_int_equal(b.size, size);
    assert_int_equal(pythia_buf_status(&b), PYTHIA_ENOMEM);
    pythia_buf_free(&b);
    pythia_buf_puts(&b, "again"); /* a freed one is an empty one */
    assert_int_equal(pythia_buf_status(&b), PYTHIA_OK);
    pythia_buf_free(&b);
}

static void a_first_append_can_fail(void **state)
{
    struct pythia_buf b = {0};
    pythia_mem_fail_after(0);
    pythia_buf_printf(&b, "%s", "text");
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&b), PYTHIA_ENOMEM);
    assert_string_equal(pythia_buf_text(&b).bytes, "");
    pythia_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_stands_one_after_the_other),
        cmocka_unit_test(any_byte_may_be_in_it),
        cmocka_unit_test(an_empty_one_is_the_empty_text),
        cmocka_unit_test(a_nul_always_stands_behind_the_content),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(there_is_as_much_room_as_was_asked_for),
        cmocka_unit_test(a_failure_stays_and_what_was_there_too),
        cmocka_unit_test(a_first_append_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
