#include "pythia/hash.h"
#include "pythia/row.h"
#include "requests.h"

struct bench {
    struct requests r;
    struct pythia_cct *cct;
    struct pythia_shape_maker *shapes;
    struct pythia_shape *shape; /* of the last row */
    struct pythia_keys *keys;
    struct pythia_row_maker *maker;
    struct pythia_row *row; /* the last one */
};

static void begin(struct bench *b)
{
    *b = (struct bench){0};
    requests_begin(&b->r);
    assert_int_equal(pythia_cct_create(b->r.vocabulary, &b->cct), PYTHIA_OK);
    assert_int_equal(pythia_shape_maker_create(b->cct, true, &b->shapes), PYTHIA_OK);
    assert_int_equal(pythia_keys_create(b->r.vocabulary, &b->keys), PYTHIA_OK);
    assert_int_equal(pythia_row_maker_create(b->r.vocabulary, b->keys, &b->maker), PYTHIA_OK);
}

static void end(struct bench *b)
{
    pythia_row_free(b->maker, b->row);
    pythia_free(b->shape);
    pythia_row_maker_destroy(b->maker);
    pythia_keys_destroy(b->keys);
    pythia_shape_maker_destroy(b->shapes);
    pythia_cct_destroy(b->cct);
    requests_end(&b->r);
}

/* The row of a request, which stays until the next one. */
static const struct pythia_row *row_of(struct bench *b, const char *text)
{
    const struct pythia_trace *trace = requests_trace(&b->r, 3, text);
    const struct pythia_critical_path *path = requests_path(&b->r, trace);
    pythia_row_free(b->maker, b->row);
    pythia_free(b->shape);
    b->shape = pythia_shape_make(b->shapes, path, 1);
    b->row = pythia_row_make(b->maker, trace, path, b->shape);
    assert_non_null(b->row);
    for (uint32_t i = 1; i < b->row->value_count; i++)
        assert_true(b->row->values[i - 1].key < b->row->values[i].key);
    return b->row;
}

/* The value of the attribute from that place; NULL: the row has none. */
static const struct pythia_row_value *value_of(const struct bench *b, const char *attribute,
                                               const char *origin)
{
    const struct pythia_row_value *found = NULL;
    for (uint32_t i = 0; i < b->row->value_count; i++) {
        uint32_t key = b->row->values[i].key;
        if (pythia_text_equal(pythia_keys_attribute(b->keys, key), pythia_text_of(attribute)) &&
            pythia_text_equal(pythia_keys_origin(b->keys, key), pythia_text_of(origin))) {
            assert_null(found);
            found = &b->row->values[i];
        }
    }
    return found;
}

static void assert_number(const struct bench *b, const char *attribute, const char *origin,
                          double wanted)
{
    const struct pythia_row_value *v = value_of(b, attribute, origin);
    assert_non_null(v);
    assert_int_equal(v->size, PYTHIA_ROW_NUMBER);
    assert_rel_equal(v->number, wanted, 1e-15);
}

static void assert_text(const struct bench *b, const char *attribute, const char *origin,
                        const char *wanted)
{
    const struct pythia_row_value *v = value_of(b, attribute, origin);
    assert_non_null(v);
    assert_int_not_equal(v->size, PYTHIA_ROW_NUMBER);
    assert_int_equal(v->size, strlen(wanted));
    assert_memory_equal(v->text, wanted, v->size);
}

/* ---- times ---- */

static void times_are_by_edge_over_all_repeats_and_add_up(void **state)
{
    struct bench b;
    begin(&b);
    const struct pythia_row *row = row_of(&b, "A{1 B{20} 300 B{4000} 50000}");
    const int64_t wanted[] = {1, 4020, 300, 50000}; /* A -> B, B -> /B, /B -> B, /B -> /A */
    assert_int_equal(row->shape->edge_count, 4);
    assert_memory_equal(row->times_ns, wanted, sizeof(wanted));
    assert_int_equal(row->duration_ns, 54321);
    assert_int_equal(row->client_ns, 54321);
    assert_int_equal(row->start_ns, REQUESTS_BEGIN + 3 * REQUESTS_EVERY);
    assert_ptr_equal(row->shape, b.shape);
    end(&b);
}

static void the_client_waited_for_the_roots_alone(void **state)
{
    struct bench b;
    begin(&b);
    const struct pythia_row *row = row_of(&b, "A{5 ~K{500} 20}");
    assert_int_equal(row->client_ns, 25);
    assert_int_equal(row->duration_ns, 505);
    int64_t sum = 0;
    for (uint32_t i = 0; i < row->shape->edge_count; i++)
        sum += row->times_ns[i];
    assert_int_equal(sum, 505);
    end(&b);
}

static void a_row_is_known_by_the_hash_of_its_trace(void **state)
{
    struct bench b;
    begin(&b);
    const struct pythia_row *row = row_of(&b, "A{1}");
    assert_int_equal(row->trace.high, 7);
    assert_int_equal(row->trace.low, 4);
    assert_int_equal(row->hash, pythia_hash_mix(7, 4));
    row_of(&b, "*A"); /* without an edge or a value it is a row, too */
    assert_int_equal(b.row->value_count, 0);
    assert_int_equal(b.row->duration_ns, 0);
    end(&b);
}

/* ---- key-values ---- */

/* The spans of a request have the same method and the same host, which their row has once. */
static void a_text_of_an_attribute_is_held_once_in_a_row(void **state)
{
    struct bench b;
    begin(&b);
    row_of(&b, "A(verb=GET,path=same){1 B(verb=GET,path=other){1} C(verb=GET,path=same){1} "
               "D(verb=PUT,host=GET){1}}");
    assert_text(&b, "verb", "A", "GET");
    assert_text(&b, "verb", "B", "GET");
    assert_text(&b, "verb", "D", "PUT");
    assert_text(&b, "path", "B", "other");
    assert_text(&b, "path", "C", "same");
    assert_text(&b, "host", "D", "GET");
    const char *first = value_of(&b, "verb", "A")->text;
    assert_ptr_equal(value_of(&b, "verb", "B")->text, first);
    assert_ptr_equal(value_of(&b, "verb", "C")->text, first);
    end(&b);
}

static void numbers_that_repeat_are_averaged(void **state)
{
    struct bench b;
    begin(&b);
    row_of(&b, "A(whole=-3,real=2.5,yes=true,no=false){1 B(n=1){1} B(n=4){1} B(n=2.5){1}}");
    assert_number(&b, "whole", "A", -3);
    assert_number(&b, "real", "A", 2.5);
    assert_number(&b, "yes", "A", 1);
    assert_number(&b, "no", "A", 0);
    assert_number(&b, "n", "B", 2.5); /* (1 + 4 + 2.5) / 3 */
    assert_int_equal(b.row->value_count, 5);
    end(&b);
}

static void what_is_no_number_is_as_good_as_missing(void **state)
{
    struct bench b;
    begin(&b);
    row_of(&b, "A(x=nan,y=inf,z=-inf){1 B(n=nan){1} B(n=3){1}}");
    assert_null(value_of(&b, "x", "A"));
    assert_null(value_of(&b, "y", "A"));
    assert_null(value_of(&b, "z", "A"));
    assert_number(&b, "n", "B", 3);
    end(&b);
}

static void different_texts_stand_beside_each_other_in_order(void **state)
{
    struct bench b;
    static const char *const orders[] = {
        "A{B(h=cp-2){1} B(h=cp-1){1} B(h=cp-2){1} B(h=cp-10){1}}",
        "A{B(h=cp-10){1} B(h=cp-10){1} B(h=cp-1){1} B(h=cp-2){1}}",
    };
    begin(&b);
    for (size_t i = 0; i < 2; i++) {
        row_of(&b, orders[i]);
        assert_text(&b, "h", "B", "cp-1|cp-10|cp-2");
    }
    row_of(&b, "A{B(h=cp-2){1} B(h=cp-2){1}}");
    assert_text(&b, "h", "B", "cp-2");
    row_of(&b, "A{B(h='17'){1} B(h=''){1} B(h=x){1}}"); /* an empty one counts */
    assert_text(&b, "h", "B", "|17|x");
    row_of(&b, "A{B(h=''){1}}");
    assert_text(&b, "h", "B", "");
    row_of(&b, "A{B(h=5){1} B(h=none){1}}"); /* a text says more than a number beside it */
    assert_text(&b, "h", "B", "none");
    end(&b);
}

static void an_attribute_is_another_key_at_another_place(void **state)
{
    struct bench b;
    begin(&b);
    row_of(&b, "s:A(h=1)[zone=eu]{1 s:B(h=2)[zone=eu]{1} t:B(h=3)[zone=us,rack=4]{1}}");
    assert_number(&b, "h", "s:A", 1);
    assert_number(&b, "h", "s:B", 2);
    assert_number(&b, "h", "t:B", 3);
    assert_text(&b, "zone", "s", "eu"); /* of a process: by its service */
    assert_text(&b, "zone", "t", "us");
    assert_number(&b, "rack", "t", 4);
    assert_int_equal(b.row->value_count, 6);
    assert_int_equal(pythia_keys_count(b.keys), 6);
    row_of(&b, "s:A(h=9)[zone=eu]{1}");
    assert_int_equal(pythia_keys_count(b.keys), 6);
    end(&b);
}

static void every_annotation_on_the_path_is_used(void **state)
{
    struct bench b;
    begin(&b);
    row_of(&b, "A(first=1){1 *E(wait=1,at=x) 2 B(late=5){3 *E(wait=7,at=y) 1} *F(only=here) 4}");
    assert_number(&b, "first", "A", 1);
    assert_number(&b, "wait", "E", 4);
    assert_text(&b, "at", "E", "x|y");
    assert_number(&b, "late", "B", 5);
    assert_text(&b, "only", "F", "here");
    end(&b);
}

static void what_ran_beside_the_path_has_no_say(void **state)
{
    struct bench b;
    begin(&b);
    row_of(&b, "A(a=1){10 ~B(b=1){50} 20 C(c=1){100} 5}"); /* B ends within C */
    assert_number(&b, "c", "C", 1);
    assert_null(value_of(&b, "b", "B"));
    end(&b);
}

/* ---- limits ---- */

/* 100 spans with texts of `size` bytes, of which the last one in order of text is `last`. */
static const struct pythia_row *many_texts(struct bench *b, size_t count, const char *stem,
                                           const char *last)
{
    static char text[8192];
    size_t size = (size_t)snprintf(text, sizeof(text), "A{B(t=%s){1}", last);
    for (size_t i = 0; i + 1 < count; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, " B(t=%s%02zu){1}", stem, i);
    snprintf(text + size, sizeof(text) - size, "}");
    return row_of(b, text);
}

static void copy_value(const struct bench *b, char *to, size_t room)
{
    const struct pythia_row_value *v = value_of(b, "t", "B");
    assert_non_null(v);
    assert_in_range(v->size, 0, room - 1);
    memcpy(to, v->text, v->size);
    to[v->size] = '\0';
}

static void too_many_texts_are_cut_and_still_told_apart(void **state)
{
    struct bench b;
    char one[512], two[512], again[512];
    begin(&b);
    for (size_t count = 20; count <= 100; count += 80)
        for (size_t k = 0; k < 2; k++) { /* long ones and short ones */
            const char *stem = k ? "a" : "a-rather-long-value-";
            many_texts(&b, count, stem, "z1");
            copy_value(&b, one, sizeof(one));
            many_texts(&b, count, stem, "z2"); /* the last of all is another */
            copy_value(&b, two, sizeof(two));
            many_texts(&b, count, stem, "z1");
            copy_value(&b, again, sizeof(again));
            assert_string_not_equal(one, two);
            assert_string_equal(one, again);
            assert_true(strlen(one) <= 240 + strlen("...#0123456789abcdef"));
            assert_memory_equal(one, stem, strlen(stem));
        }
    end(&b);
}

/* A request may have a text of a key for each of its spans, of which no pair is compared twice. */
static void thousands_of_texts_of_a_key_are_told_apart_and_put_in_order(void **state)
{
    enum { TEXTS = 3000 };
    struct bench b;
    struct pythia_buf text = {0};
    char value[512], other[512];
    begin(&b);
    for (int other_last = 0; other_last < 2; other_last++) {
        pythia_buf_clear(&text);
        pythia_buf_puts(&text, "A{");
        for (int i = 0; i < 2 * TEXTS; i++) /* each twice, and the smallest in the middle */
            pythia_buf_printf(&text, " B(t=x%05d){1}", (i + TEXTS / 2) % TEXTS);
        pythia_buf_printf(&text, " B(t=x%05d){1}}", TEXTS - 1 + other_last);
        row_of(&b, text.bytes);
        copy_value(&b, other_last ? other : value, sizeof(value));
    }
    assert_memory_equal(value, "x00000|x00001|x00002|", 21);
    assert_memory_equal(value, other, 240);
    assert_string_not_equal(value, other);
    pythia_buf_free(&text);
    end(&b);
}

/* By libxxhash from Python: the sum of XXH3 of 200 times "a" and of 200 times "b". Rows of several
 * processes are compared (evidence_merge.h). */
static void texts_that_are_cut_have_one_name_in_every_process(void **state)
{
    struct bench b;
    char text[512], value[512], a[201], c[201];
    begin(&b);
    memset(a, 'a', 200);
    memset(c, 'b', 200);
    a[200] = c[200] = '\0';
    snprintf(text, sizeof(text), "A{B(t=%s){1} B(t=%s){1}}", a, c);
    row_of(&b, text);
    copy_value(&b, value, sizeof(value));
    assert_string_equal(strstr(value, "...#"), "...#cc809e7b11fe75d4");
    end(&b);
}

/* 240 bytes would end within one of the characters of 2 bytes. */
static void a_cut_does_not_part_a_character(void **state)
{
    struct bench b;
    char value[512];
    begin(&b);
    for (int shift = 0; shift < 2; shift++) {
        many_texts(&b, 40, shift ? "aéééé" : "éééé", "z");
        copy_value(&b, value, sizeof(value));
        char *cut = strstr(value, "...#");
        assert_non_null(cut);
        size_t continued = 0;
        for (const char *at = value; at < cut; at++) {
            continued += ((unsigned char)*at & 0xC0) == 0x80;
            continued -= (unsigned char)*at == 0xC3;
        }
        assert_int_equal(continued, 0); /* every first byte has its second one */
    }
    end(&b);
}

static void thousands_of_keys_are_kept_apart(void **state)
{
    struct bench b;
    char text[256];
    begin(&b);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3000; i++) {
            snprintf(text, sizeof(text), "A(k%d=%d){1 B(k%d=%d){1}}", i, i, i, -i);
            row_of(&b, text);
            assert_int_equal(b.row->value_count, 2);
            snprintf(text, sizeof(text), "k%d", i);
            assert_number(&b, text, "A", i);
            assert_number(&b, text, "B", -i);
        }
    assert_int_equal(pythia_keys_count(b.keys), 6000);
    end(&b);
}

/* After each failure the same maker makes the row as if nothing had happened. */
static void a_failed_allocation_leaves_no_mark(void **state)
{
    static const char *const text =
        "s:A(a=1,b=x)[z=1]{1 B(t=p){1} B(t=q){1} B(u=p,t=r){1} B(u=q){1} C(c=1,d=2,e=3,f=4){1}}";
    long failures = 0;
    for (bool enough = false; !enough; failures += !enough) {
        struct bench b;
        begin(&b);
        const struct pythia_trace *trace = requests_trace(&b.r, 3, text);
        const struct pythia_critical_path *path = requests_path(&b.r, trace);
        b.shape = pythia_shape_make(b.shapes, path, 1);
        pythia_mem_fail_after(failures);
        b.row = pythia_row_make(b.maker, trace, path, b.shape);
        pythia_mem_fail_after(-1);
        enough = b.row;
        row_of(&b, "C(c=7,f=8){1 B(t=o){1}}"); /* some of the keys, in another order */
        assert_number(&b, "c", "C", 7);
        assert_number(&b, "f", "C", 8);
        assert_text(&b, "t", "B", "o");
        assert_int_equal(b.row->value_count, 3);
        row_of(&b, text);
        assert_text(&b, "t", "B", "p|q|r");
        assert_text(&b, "u", "B", "p|q");
        assert_number(&b, "z", "s", 1);
        assert_number(&b, "e", "C", 3);
        assert_int_equal(b.row->value_count, 9);
        end(&b);
    }
    assert_true(failures > 8);
    struct requests r;
    struct pythia_keys *keys = NULL;
    struct pythia_row_maker *maker = NULL;
    requests_begin(&r);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_keys_create(r.vocabulary, &keys), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(keys);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_row_maker_create(r.vocabulary, keys, &maker), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(maker);
    pythia_keys_destroy(NULL);
    pythia_row_maker_destroy(NULL);
    requests_end(&r);
}

/* By hand: 1 000 000 / 65536 is 15.3, so that all times but the last are multiples of 8. The edges
 * end after 333 333, 666 667 and 1 000 000 ns. Below 131 072 ns nothing is rounded. */
static void times_are_rounded_to_a_part_of_the_duration(void **state)
{
    struct bench b;
    begin(&b);
    const struct pythia_row *row = row_of(&b, "A{333333 B{333334} 333333}");
    assert_int_equal(row->shape->edge_count, 3);
    for (int twice = 0; twice < 2; twice++) {
        pythia_row_round(b.row);
        assert_int_equal(row->times_ns[0], 333328);
        assert_int_equal(row->times_ns[1], 333336);
        assert_int_equal(row->times_ns[2], 333336);
        assert_int_equal(row->duration_ns, 1000000);
    }
    row = row_of(&b, "A{13 B{131045} 13}");
    pythia_row_round(b.row);
    assert_int_equal(row->times_ns[0], 13);
    assert_int_equal(row->times_ns[1], 131045);
    assert_int_equal(row->times_ns[2], 13);
    row = row_of(&b, "A{13 B{131046} 13}"); /* 131 072: a unit of 2 */
    pythia_row_round(b.row);
    assert_int_equal(row->times_ns[0], 12);
    assert_int_equal(row->times_ns[1], 131046);
    assert_int_equal(row->times_ns[2], 14);
    row = row_of(&b, "A{0 B{200003} 0}"); /* nothing becomes negative */
    pythia_row_round(b.row);
    assert_int_equal(row->times_ns[0], 0);
    assert_int_equal(row->times_ns[1], 200002);
    assert_int_equal(row->times_ns[2], 1);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_by_edge_over_all_repeats_and_add_up),
        cmocka_unit_test(the_client_waited_for_the_roots_alone),
        cmocka_unit_test(a_row_is_known_by_the_hash_of_its_trace),
        cmocka_unit_test(a_text_of_an_attribute_is_held_once_in_a_row),
        cmocka_unit_test(numbers_that_repeat_are_averaged),
        cmocka_unit_test(what_is_no_number_is_as_good_as_missing),
        cmocka_unit_test(different_texts_stand_beside_each_other_in_order),
        cmocka_unit_test(an_attribute_is_another_key_at_another_place),
        cmocka_unit_test(every_annotation_on_the_path_is_used),
        cmocka_unit_test(what_ran_beside_the_path_has_no_say),
        cmocka_unit_test(too_many_texts_are_cut_and_still_told_apart),
        cmocka_unit_test(thousands_of_texts_of_a_key_are_told_apart_and_put_in_order),
        cmocka_unit_test(texts_that_are_cut_have_one_name_in_every_process),
        cmocka_unit_test(a_cut_does_not_part_a_character),
        cmocka_unit_test(thousands_of_keys_are_kept_apart),
        cmocka_unit_test(a_failed_allocation_leaves_no_mark),
        cmocka_unit_test(times_are_rounded_to_a_part_of_the_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
