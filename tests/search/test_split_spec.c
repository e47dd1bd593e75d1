#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/split_spec.h"
#include "pythia/status.h"

static struct pythia_split_spec read_text(struct pythia_text text)
{
    struct pythia_split_spec s;
    struct pythia_error e = {0};
    if (pythia_split_spec_read(text, &s, &e) != PYTHIA_OK)
        fail_msg("%s", e.sentence);
    return s;
}

static struct pythia_split_spec read_spec(const char *text)
{
    return read_text(pythia_text_of(text));
}

static void assert_key(const struct pythia_split_spec *s, enum pythia_key_source source,
                       const char *text)
{
    assert_int_equal(s->key.source, source);
    assert_int_equal(s->key.text.size, strlen(text));
    assert_memory_equal(s->key.text.bytes, text, strlen(text));
}

/* ---- what can be said ---- */

static void a_key_alone_is_to_be_looked_at(void **state)
{
    struct pythia_split_spec s = read_spec("http.route@api:GET /users");
    assert_key(&s, PYTHIA_KEY_OF_SPANS, "http.route@api:GET /users");
    assert_int_equal(s.rule.form, PYTHIA_SPLIT_LEARNT);
    pythia_split_spec_clear(&s);
}

static void cut_points_are_read(void **state)
{
    struct pythia_split_spec s = read_spec("queue_length=-2.5,3,1e3");
    assert_key(&s, PYTHIA_KEY_OF_SPANS, "queue_length");
    assert_int_equal(s.rule.form, PYTHIA_SPLIT_CUTS);
    assert_int_equal(s.rule.cut_count, 3);
    assert_rel_equal(s.rule.cuts[0], -2.5, 0);
    assert_rel_equal(s.rule.cuts[1], 3, 0);
    assert_rel_equal(s.rule.cuts[2], 1000, 0);
    pythia_split_spec_clear(&s);
}

static void levels_are_read(void **state)
{
    struct pythia_split_spec s = read_spec("host={cp-3,cp-1},{},{a=b|c%2Cd,e f}");
    assert_int_equal(s.rule.form, PYTHIA_SPLIT_SETS);
    assert_int_equal(s.rule.set_count, 3);
    static const char *const texts[] = {"", "a=b|c,d", "cp-1", "cp-3", "e f"};
    static const size_t sets[] = {1, 2, 0, 0, 2};
    assert_int_equal(s.rule.level_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(pythia_text_equal(s.rule.levels[i].text, pythia_text_of(texts[i])));
        assert_int_equal(s.rule.levels[i].set, sets[i]);
    }
    pythia_split_spec_clear(&s);
}

static void presence_is_read(void **state)
{
    struct pythia_split_spec s = read_spec("region=*");
    assert_key(&s, PYTHIA_KEY_OF_SPANS, "region");
    assert_int_equal(s.rule.form, PYTHIA_SPLIT_PRESENT);
    pythia_split_spec_clear(&s);
    s = read_spec("has:db:nova:SELECT:");
    assert_key(&s, PYTHIA_KEY_VISITED, "db:nova:SELECT:");
    assert_int_equal(s.rule.form, PYTHIA_SPLIT_PRESENT);
    pythia_split_spec_clear(&s);
    s = read_spec("count:api:GET %2525%3D=2");
    assert_key(&s, PYTHIA_KEY_VISITS, "api:GET %25=");
    assert_int_equal(s.rule.cut_count, 1);
    pythia_split_spec_clear(&s);
    s = read_spec("has%3Ax={*}"); /* an attribute of that name, and a level */
    assert_key(&s, PYTHIA_KEY_OF_SPANS, "has:x");
    assert_int_equal(s.rule.form, PYTHIA_SPLIT_SETS);
    pythia_split_spec_clear(&s);
}

static void any_byte_can_be_said(void **state)
{
    struct pythia_split_spec s = read_spec("%00%ff={%0a}");
    assert_int_equal(s.key.text.size, 2);
    assert_memory_equal(s.key.text.bytes, "\0\xff", 2);
    assert_memory_equal(s.rule.levels[0].text.bytes, "\n", 1);
    pythia_split_spec_clear(&s);
    s = read_text((struct pythia_text){"a\0\x1b={\xf0}", 7}); /* as they are */
    assert_int_equal(s.key.text.size, 3);
    assert_int_equal(s.rule.levels[0].text.size, 1);
    pythia_split_spec_clear(&s);
}

/* ---- what cannot ---- */

static void mistakes_are_told_with_their_place(void **state)
{
    static const struct {
        const char *text, *place, *says;
    } wrong[] = {
        {"", "byte 1:", "it is empty"},
        {"=3", "byte 1:", "there is no key"},
        {"count:=3", "byte 7:", "there is no trace point: give one, as in count:api:retry=2"},
        {"has:", "byte 5:", "there is no trace point"},
        {"a=", "byte 2:", "nothing follows the ="},
        {"a=x", "byte 3:", "'x' is no cut point"},
        {"a=3,", "byte 5:", "'' is no cut point"},
        {"a=,3", "byte 3:", "'' is no cut point"},
        {"a=3;10", "byte 3:", "'3;10' is no cut point"},
        {"a=3, 10", "byte 5:", "' 10' is no cut point"},
        {"a=nan", "byte 3:", "'nan' is no cut point"},
        {"a=inf", "byte 3:", "'inf' is no cut point"},
        {"a=1e999", "byte 3:", "'1e999' is no cut point"},
        {"a=0x10", "byte 3:", "'0x10' is no cut point"},
        {"a=1-2", "byte 3:", "'1-2' is no cut point"},
        {"a=--1", "byte 3:", "'--1' is no cut point"},
        {"a=**", "byte 3:", "'**' is no cut point"},
        {"a=10,3", "byte 6:", "3 is not above the cut point before it"},
        {"a=3,3.0", "byte 5:", "3.0 is not above the cut point before it"},
        {"a=0,-0", "byte 5:", "-0 is not above"},
        {"a={b", "byte 3:", "this brace is not closed"},
        {"a={b{c}", "byte 3:", "this brace is not closed"},
        {"a={b},{c", "byte 7:", "this brace is not closed"},
        {"a={b}c", "byte 6:", "behind a brace"},
        {"a={b},", "byte 6:", "behind a brace"},
        {"a={b},c", "byte 6:", "behind a brace"},
        {"a={b,c},{c}", "byte 10:", "there twice"},
        {"a={,}", "byte 5:", "there twice"},
        {"a%b", "byte 2:", "two hexadecimal digits"},
        {"a%4", "byte 2:", "two hexadecimal digits"},
        {"a={%zz}", "byte 4:", "two hexadecimal digits"},
        {"has:x=3", "byte 7:", "passed or not"},
        {"count:x=*", "byte 9:", "has: instead of count:"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pythia_split_spec s = {.rule = {.set_count = 77}};
        struct pythia_error e = {0};
        assert_int_equal(pythia_split_spec_read(pythia_text_of(wrong[i].text), &s, &e),
                         PYTHIA_EUSAGE);
        assert_int_equal(s.rule.set_count, 77);
        if (!strstr(e.sentence, wrong[i].place) || !strstr(e.sentence, wrong[i].says) ||
            !strstr(e.sentence, "--split '"))
            fail_msg("%s: %s", wrong[i].text, e.sentence);
    }
}

static void hostile_bytes_are_shown_by_their_codes(void **state)
{
    struct pythia_split_spec s;
    struct pythia_error e = {0};
    assert_int_equal(pythia_split_spec_read(pythia_text_of("\x1b[31m\xe2\x80\xae\xff=\n"), &s, &e),
                     PYTHIA_EUSAGE);
    assert_non_null(strstr(e.sentence, "--split '\\x1b[31m\\u202e\\xff=\\x0a', byte 11: '\\x0a'"));
}

/* ---- what is written ---- */

static void assert_written(const char *from, const char *wanted)
{
    struct pythia_split_spec s = read_spec(from);
    struct pythia_buf text = {0};
    pythia_split_spec_write(&s, &text);
    assert_string_equal(text.bytes, wanted);
    pythia_buf_free(&text);
    pythia_split_spec_clear(&s);
}

static void what_is_written_can_be_pasted(void **state)
{
    assert_written("queue_length", "queue_length");
    assert_written("queue_length=2.50,1e1", "queue_length=2.5,10");
    assert_written("host={b,a},{c}", "host={a,b},{c}");
    assert_written("host={}", "host={}");
    assert_written("host=*", "host=*");
    assert_written("has:a:b=*", "has:a:b");
    assert_written("count:a b=3", "count:a%20b=3");
    assert_written("count%3Ax", "count%3Ax");
    assert_written("has%3a", "has%3A");
    assert_written("it's={50%25,a%2Cb%7b}", "it%27s={50%25,a%2Cb%7B}");
    assert_written("`a`=1", "%60a%60=1");
    assert_written("a%3Db={c=d}", "a%3Db={c=d}");
    assert_written("Gr\xc3\xb6\xc3\x9f"
                   "e=1",
                   "Gr\xc3\xb6\xc3\x9f"
                   "e=1"); /* letters stay */
    assert_written("\xe2\x80\xae\xff\x1b=*", "%E2%80%AE%FF%1B=*");
}

/* Random bytes, most of them with a meaning: nothing breaks, and what is read is written so that
 * it reads the same and nothing in it ends the quotes of a shell or a word. */
static void what_is_written_reads_the_same(void **state)
{
    static const char some[] = "aab=={}{},,12%%3.*:'\\\" \n\x1b\xc3\xbc\xff";
    struct pythia_random r;
    size_t read_well = 0;
    pythia_random_init(&r, 4);
    for (size_t n = 0; n < 200000; n++) {
        char bytes[24];
        size_t size = pythia_random_below(&r, sizeof(bytes));
        for (size_t i = 0; i < size; i++)
            if (n % 3)
                bytes[i] = some[pythia_random_below(&r, sizeof(some))];
            else
                bytes[i] = (char)pythia_random_below(&r, 256);
        struct pythia_split_spec s, again;
        struct pythia_error e = {0};
        if (pythia_split_spec_read((struct pythia_text){bytes, size}, &s, &e) != PYTHIA_OK) {
            assert_true(strlen(e.sentence) > 30);
            continue;
        }
        struct pythia_buf text = {0}, second = {0};
        pythia_split_spec_write(&s, &text);
        for (size_t i = 0; i < text.size; i++)
            assert_true((unsigned char)text.bytes[i] > ' ' && text.bytes[i] != '\'' &&
                        text.bytes[i] != 0x7f);
        again = read_text(pythia_buf_text(&text));
        assert_true(pythia_text_equal(s.key.text, again.key.text));
        assert_int_equal(s.key.source, again.key.source);
        assert_int_equal(s.rule.form, again.rule.form);
        pythia_split_spec_write(&again, &second);
        assert_string_equal(text.bytes, second.bytes);
        read_well++;
        pythia_split_spec_clear(&again);
        pythia_split_spec_clear(&s);
        pythia_buf_free(&text);
        pythia_buf_free(&second);
    }
    assert_true(read_well > 20000);
}

static void memory_that_is_missing_is_told(void **state)
{
    static const char *const texts[] = {"queue=1,2,3", "host={a,b},{c}", "a"};
    for (size_t i = 0; i < 3; i++) {
        struct pythia_split_spec s = {0};
        long n = 0;
        for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
            pythia_mem_fail_after(n);
            status = pythia_split_spec_read(pythia_text_of(texts[i]), &s, NULL);
            pythia_mem_fail_after(-1);
        }
        assert_in_range(n, 3, 9);
        pythia_split_spec_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_alone_is_to_be_looked_at),
        cmocka_unit_test(cut_points_are_read),
        cmocka_unit_test(levels_are_read),
        cmocka_unit_test(presence_is_read),
        cmocka_unit_test(any_byte_can_be_said),
        cmocka_unit_test(mistakes_are_told_with_their_place),
        cmocka_unit_test(hostile_bytes_are_shown_by_their_codes),
        cmocka_unit_test(what_is_written_can_be_pasted),
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(memory_that_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
