#include <string.h>

#include "check.h"
#include "pythia/source.h"
#include "pythia/status.h"

static void memory_is_given_out_as_asked(void **state)
{
    struct pythia_memory_source m;
    char to[8];
    size_t got = 99;
    pythia_memory_source_init(&m, "name", "abcdefghij", 10);
    assert_string_equal(m.source.name, "name");
    assert_int_equal(m.source.read(&m.source, to, 8, &got, NULL), PYTHIA_OK);
    assert_int_equal(got, 8);
    assert_memory_equal(to, "abcdefgh", 8);
    assert_int_equal(m.source.read(&m.source, to, 8, &got, NULL), PYTHIA_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(to, "ijcdefgh", 8); /* no byte more was written */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(m.source.read(&m.source, to, 8, &got, NULL), PYTHIA_OK);
        assert_int_equal(got, 0); /* the end stays the end */
    }
}

static void pieces_are_at_most_as_large_as_said(void **state)
{
    static const char bytes[] = "a\0bcdefghijk";
    for (size_t piece = 1; piece <= sizeof(bytes) + 1; piece++) {
        struct pythia_memory_source m;
        char all[sizeof(bytes)], to[5];
        size_t size = 0, got;
        pythia_memory_source_init(&m, "", bytes, sizeof(bytes));
        m.piece = piece;
        for (;;) {
            assert_int_equal(m.source.read(&m.source, to, sizeof(to), &got, NULL), PYTHIA_OK);
            if (got == 0)
                break;
            assert_true(got <= piece && got <= sizeof(to));
            memcpy(all + size, to, got);
            size += got;
        }
        assert_int_equal(size, sizeof(bytes));
        assert_memory_equal(all, bytes, sizeof(bytes));
    }
}

static void no_bytes_are_the_end_at_once(void **state)
{
    struct pythia_memory_source m;
    char to[1];
    size_t got = 99;
    pythia_memory_source_init(&m, "", NULL, 0);
    assert_int_equal(m.source.read(&m.source, to, 1, &got, NULL), PYTHIA_OK);
    assert_int_equal(got, 0);
}

static void memory_is_lent_at_once(void **state)
{
    struct pythia_memory_source m;
    char to[4];
    size_t got;
    static const char bytes[] = "abcdef";
    pythia_memory_source_init(&m, "", bytes, 6);
    assert_int_equal(m.source.read(&m.source, to, 2, &got, NULL), PYTHIA_OK);
    struct pythia_text lent = m.source.borrow(&m.source);
    assert_ptr_equal(lent.bytes, bytes + 2);
    assert_int_equal(lent.size, 4);
    assert_int_equal(m.source.read(&m.source, to, 4, &got, NULL), PYTHIA_OK);
    assert_int_equal(got, 0);
    lent = m.source.borrow(&m.source);
    assert_int_equal(lent.size, 0);
    pythia_memory_source_init(&m, "", bytes, 6);
    m.piece = 2;
    assert_null(m.source.borrow(&m.source).bytes);
    assert_int_equal(m.source.read(&m.source, to, 4, &got, NULL), PYTHIA_OK);
    assert_int_equal(got, 2); /* what is not lent is there to be read */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_given_out_as_asked),
        cmocka_unit_test(pieces_are_at_most_as_large_as_said),
        cmocka_unit_test(no_bytes_are_the_end_at_once),
        cmocka_unit_test(memory_is_lent_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
