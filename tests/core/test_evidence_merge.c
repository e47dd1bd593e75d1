/* Files of evidence: what is in them, by the manual; that broken ones are refused; that what is
 * merged does not depend on who read it first. tests/merge compares whole reports. */
#include <inttypes.h>
#include <zstd.h>

#include "pythia/evidence_merge.h"
#include "pythia/hash.h"
#include "pythia/protobuf.h"
#include "pythia/protobuf_writer.h"
#include "search/requests.h"

#define OPTIONS ((struct pythia_groups_options){.rows_per_type = 100, .rows = 400})

/* Write what was grouped, and end it. */
static void write_grouped(struct requests *r, uint64_t traces, size_t rows, const char *asked,
                          struct pythia_buf *out)
{
    size_t types;
    const char *const source = "here";
    requests_finish(r, &types);
    struct pythia_pipeline_result result = {.counts = {.traces = traces}, .files = 1};
    const struct pythia_evidence_input input = {.sources = &source, .source_count = 1};
    const struct pythia_evidence_source from_groups = {.vocabulary = r->vocabulary,
                                                       .groups = r->groups,
                                                       .result = &result,
                                                       .settings = {.rows = rows, .asked = asked},
                                                       .inputs = &input,
                                                       .input_count = 1};
    assert_int_equal(pythia_evidence_write(&from_groups, out), PYTHIA_OK);
    requests_end(r);
}

/* Requests `from` to `to` as a file: of two types, with values of each kind. */
static void write_requests(uint64_t from, uint64_t to, const char *asked, struct pythia_buf *out)
{
    struct requests r;
    requests_begin(&r);
    requests_group(&r, &OPTIONS);
    for (uint64_t i = from; i < to; i++) {
        r.count = i;
        if (i % 3)
            requests_add(&r, "a(size=%d,user=u%d){10 b(part=%d.25){%d} 30}", (int)i, (int)(i % 4),
                         (int)i, (int)(100 + i * 7 % 50));
        else
            requests_add(&r, "c(size=x){%d *d 5 b{6}}", (int)i);
    }
    write_grouped(&r, to - from, 100, asked, out);
}

/* Requests of six types, of which 64 rows each are retained: more than four times 64 in all. Each
 * takes a millisecond and more, so that its times are rounded. */
static void write_many_types(uint64_t from, uint64_t to, struct pythia_buf *out)
{
    struct requests r;
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.rows_per_type = 64, .rows = 256});
    for (r.count = from; r.count < to;)
        requests_add(&r, "t%d{1000%d b{1%d0457} 30%d}", (int)(r.count % 6), (int)(r.count % 7),
                     (int)(r.count % 5), (int)(r.count % 3));
    write_grouped(&r, to - from, 64, "", out);
}

/* A merge, and what it says. */
struct merging {
    struct pythia_vocabulary *vocabulary;
    struct pythia_evidence_merge *merge;
    struct pythia_error why;
};

static void begin(struct merging *x)
{
    *x = (struct merging){0};
    assert_int_equal(pythia_vocabulary_create(&x->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_evidence_merge_create(x->vocabulary, true, &x->merge), PYTHIA_OK);
}

static void end(struct merging *x)
{
    pythia_evidence_merge_destroy(x->merge);
    pythia_vocabulary_destroy(x->vocabulary);
}

/* Look at files, add them and finish: the first status that is not PYTHIA_OK. */
static int merge(struct merging *x, const struct pythia_text *files, size_t count)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        status = pythia_evidence_merge_look(x->merge, names[i], files[i], &x->why);
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        status = pythia_evidence_merge_add(x->merge, names[i], files[i], &x->why);
    return status == PYTHIA_OK ? pythia_evidence_merge_finish(x->merge) : status;
}

static int merge_one(struct pythia_text file, struct pythia_error *why)
{
    struct merging x;
    begin(&x);
    int status = merge(&x, &file, 1);
    *why = x.why;
    end(&x);
    return status;
}

static void write_merged(const struct pythia_text *files, size_t count, struct pythia_buf *out)
{
    struct merging x;
    begin(&x);
    assert_int_equal(merge(&x, files, count), PYTHIA_OK);
    const struct pythia_evidence_source source = pythia_evidence_merge_source(x.merge);
    assert_int_equal(pythia_evidence_write(&source, out), PYTHIA_OK);
    end(&x);
}

/* What follows the first line, decompressed. */
static void unpack(struct pythia_text file, struct pythia_buf *out)
{
    const char *frame = memchr(file.bytes, '\n', file.size);
    size_t size = file.size - (size_t)(++frame - file.bytes);
    unsigned long long content = ZSTD_getFrameContentSize(frame, size);
    char *to = pythia_buf_reserve(out, content);
    assert_non_null(to);
    assert_int_equal(ZSTD_decompress(to, content, frame, size), content);
    out->size += content;
}

static void pack(const struct pythia_buf *content, const char *line, struct pythia_buf *out)
{
    pythia_buf_puts(out, line);
    size_t bound = ZSTD_compressBound(content->size);
    char *to = pythia_buf_reserve(out, bound);
    assert_non_null(to);
    out->size += ZSTD_compress(to, bound, content->bytes, content->size, 1);
}

/* ---- files by hand ---- */

/* As the manual has it: two requests of type "t" at point "a", of 100 and 300 ns, the first with
 * the key size=7, the second with size=7 and user=me. */
static void write_by_hand(struct pythia_buf *content)
{
    struct pythia_buf m = {0}, part = {0};
    static const unsigned char moments[] = {2, 2, 2, 0, 0x90, 3, 0, 0xa0, 0x8d, 6, 0, 0};
    /* ln(100) / ln(1.01 / .99) is 230.25, ln(300) by the same 285.18: bins 231 and 286 */
    static const unsigned char bins[] = {0xce, 3, 1, 110, 1};
    static const unsigned char events[] = {0, 1}; /* start and end of point 0 */
    /* From 10 in steps of 5, 2 bits each: 0 and 2. Waits of 1 and 3 less the durations, from -297
     * in steps of 198, in Rice's code without low bits: 1 is a zero and a one, 0 is a one. From 100
     * in steps of 200, 1 bit each: 0 and 1. */
    static const unsigned char starts[] = {20, 5, 2 * 2, 2 << 2};
    static const unsigned char client[] = {0xd1, 4, 198, 1, 1, 2 | 1 << 2};
    static const unsigned char times[] = {0xc8, 1, 200, 1, 2 * 1, 1 << 1};
    static const unsigned char second[] = {1 << 1}, code[] = {2, 0}, sizes[] = {14, 0};
    static const unsigned char ids[32] = {[15] = 1, [16] = 9, [31] = 2};
#define BYTES(array) ((struct pythia_text){(const char *)(array), sizeof(array)})
    pythia_protobuf_put_number(&m, 2, 100); /* rows */
    pythia_protobuf_put_number(&m, 99, 1);  /* of a later version */
    pythia_protobuf_put_bytes(&part, 1, PYTHIA_TEXT("traces"));
    pythia_protobuf_put_number(&part, 2, 2);
    pythia_protobuf_put_bytes(&m, 6, pythia_buf_text(&part));
    pythia_protobuf_put_bytes(content, 1, pythia_buf_text(&m));
    pythia_buf_clear(&m);
    pythia_protobuf_put_bytes(&m, 1, PYTHIA_TEXT("a"));
    pythia_protobuf_put_bytes(content, 2, pythia_buf_text(&m));
    for (int key = 0; key < 2; key++) {
        pythia_buf_clear(&m);
        pythia_protobuf_put_bytes(&m, 1, key ? PYTHIA_TEXT("user") : PYTHIA_TEXT("size"));
        pythia_protobuf_put_number(&m, 2, 1);
        pythia_protobuf_put_bytes(content, 3, pythia_buf_text(&m));
    }
    pythia_buf_clear(&m);
    pythia_protobuf_put_bytes(&m, 1, PYTHIA_TEXT("t"));
    pythia_protobuf_put_bytes(&m, 3, BYTES(moments));
    pythia_protobuf_put_bytes(&m, 4, BYTES(moments));
    pythia_buf_clear(&part);
    pythia_protobuf_put_number(&part, 1, 100);
    pythia_protobuf_put_number(&part, 2, 300);
    pythia_protobuf_put_bytes(&part, 3, BYTES(bins));
    pythia_protobuf_put_bytes(&m, 5, pythia_buf_text(&part));
    pythia_protobuf_put_double(&m, 6, 1);
    pythia_buf_clear(&part);
    pythia_protobuf_put_number(&part, 1, 1);
    pythia_protobuf_put_fixed64(&part, 2, 42);
    pythia_protobuf_put_number(&part, 3, 1);
    pythia_protobuf_put_bytes(&m, 8, pythia_buf_text(&part));
    pythia_protobuf_put_bytes(content, 4, pythia_buf_text(&m));
    pythia_buf_clear(&m);
    pythia_protobuf_put_bytes(&m, 1, BYTES(events));
    pythia_protobuf_put_bytes(&m, 2, BYTES(ids));
    pythia_protobuf_put_bytes(&m, 4, BYTES(starts));
    pythia_protobuf_put_bytes(&m, 5, BYTES(client));
    pythia_protobuf_put_bytes(&m, 6, (struct pythia_text){(const char *)times, 6});
    pythia_buf_clear(&part);
    pythia_protobuf_put_number(&part, 1, 0);
    pythia_protobuf_put_bytes(&part, 5, BYTES(sizes));
    pythia_protobuf_put_bytes(&m, 7, pythia_buf_text(&part));
    pythia_buf_clear(&part);
    pythia_protobuf_put_number(&part, 1, 1);
    pythia_protobuf_put_bytes(&part, 2, BYTES(second));
    pythia_protobuf_put_bytes(&part, 3, PYTHIA_TEXT("me"));
    pythia_protobuf_put_bytes(&part, 4, BYTES(code));
    pythia_protobuf_put_bytes(&m, 7, pythia_buf_text(&part));
    pythia_protobuf_put_bytes(content, 5, pythia_buf_text(&m));
    pythia_buf_free(&m);
    pythia_buf_free(&part);
}

static void assert_value(const struct pythia_groups *g, const struct pythia_row *row,
                         const char *attribute, double number, const char *text)
{
    const struct pythia_keys *keys = pythia_groups_keys(g);
    for (uint32_t i = 0; i < row->value_count; i++) {
        const struct pythia_row_value *v = &row->values[i];
        if (strcmp(pythia_keys_attribute(keys, v->key).bytes, attribute) != 0)
            continue;
        assert_string_equal(pythia_keys_origin(keys, v->key).bytes, "a");
        if (!text)
            assert_true(v->size == PYTHIA_ROW_NUMBER && v->number == number);
        else
            assert_true(v->size == strlen(text) && memcmp(v->text, text, v->size) == 0);
        return;
    }
    fail_msg("no value of %s", attribute);
}

static void a_file_that_follows_the_manual_is_read(void **state)
{
    struct pythia_buf content = {0}, file = {0};
    struct merging x;
    size_t count;
    write_by_hand(&content);
    pack(&content, "pythia evidence 2\n", &file);
    begin(&x);
    if (merge(&x, &(struct pythia_text){file.bytes, file.size}, 1) != PYTHIA_OK)
        fail_msg("%s", x.why.sentence);
    const struct pythia_evidence_source source = pythia_evidence_merge_source(x.merge);
    const struct pythia_type *t = pythia_groups_types(source.groups, &count);
    assert_int_equal(count, 1);
    assert_int_equal(source.result->counts.traces, 2);
    assert_string_equal(pythia_vocabulary_text(x.vocabulary, t->name).bytes, "t");
    assert_rel_equal(pythia_exact_moments_mean(&t->moments), 200, 0);
    assert_rel_equal(pythia_exact_moments_variance(&t->moments), 20000, 0);
    assert_rel_equal(pythia_sketch_quantile(t->sketch, 1), 300, .01);
    assert_int_equal(t->structure_count, 1);
    assert_int_equal(t->structures[0].name, 42);
    assert_int_equal(t->structures[0].moments.n, 2);
    assert_int_equal(pythia_type_rows(t), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pythia_row *row = pythia_type_row(t, i);
        bool first = row->trace.high == 0;
        assert_int_equal(row->trace.low, first ? 1 : 2);
        assert_int_equal(row->trace.high, first ? 0 : UINT64_C(9) << 56);
        assert_int_equal(row->start_ns, first ? 10 : 20);
        assert_int_equal(row->client_ns, first ? 1 : 3);
        assert_int_equal(row->duration_ns, first ? 100 : 300);
        assert_int_equal(row->times_ns[0], row->duration_ns);
        assert_int_equal(row->value_count, first ? 1 : 2);
        assert_value(source.groups, row, "size", 7, NULL);
        if (!first)
            assert_value(source.groups, row, "user", 0, "me");
    }
    end(&x);
    pythia_buf_free(&content);
    pythia_buf_free(&file);
}

/* ---- merging ---- */

static void parts_make_the_same_file_in_any_order_and_by_any_tree(void **state)
{
    struct pythia_buf files[4] = {{0}}, trees[6] = {{0}};
    struct pythia_text f[4];
    for (uint64_t i = 0; i < 4; i++) {
        write_requests(i * 100, i * 100 + 100, "", &files[i]);
        f[i] = pythia_buf_text(&files[i]);
    }
    write_merged(f, 4, &trees[0]);
    write_merged((struct pythia_text[]){f[3], f[1], f[0], f[2]}, 4, &trees[1]);
    write_merged(f, 2, &trees[2]);
    write_merged(f + 2, 2, &trees[3]);
    write_merged((struct pythia_text[]){pythia_buf_text(&trees[3]), pythia_buf_text(&trees[2])}, 2,
                 &trees[4]);
    write_merged((struct pythia_text[]){f[0], pythia_buf_text(&trees[3]), f[1]}, 3, &trees[5]);
    const size_t same[] = {1, 4, 5};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(trees[same[i]].size, trees[0].size);
        assert_memory_equal(trees[same[i]].bytes, trees[0].bytes, trees[0].size);
    }
    for (size_t i = 0; i < 4; i++)
        pythia_buf_free(&files[i]);
    for (size_t i = 0; i < 6; i++)
        pythia_buf_free(&trees[i]);
}

/* All but the header, which names the inputs. */
static struct pythia_text body_of(struct pythia_buf *content)
{
    struct pythia_protobuf p = {content->bytes, content->bytes + content->size};
    struct pythia_protobuf_field header = {.number = 0};
    assert_int_equal(pythia_protobuf_next(&p, &header), PYTHIA_OK);
    assert_int_equal(header.number, 1);
    return (struct pythia_text){p.at, (size_t)(p.end - p.at)};
}

static void write_usual(uint64_t from, uint64_t to, struct pythia_buf *out)
{
    write_requests(from, to, "", out);
}

/* Parts of 100 requests each; of those of many types none has too many rows, and the whole has. */
static void merged_parts_are_the_evidence_of_the_whole(void **state)
{
    enum { PARTS = 4 };
    void (*const writers[])(uint64_t, uint64_t, struct pythia_buf *) = {write_usual,
                                                                        write_many_types};
    for (size_t w = 0; w < 2; w++) {
        struct pythia_buf files[PARTS] = {{0}}, whole = {0}, merged = {0}, content[2] = {{0}};
        struct pythia_text parts[PARTS];
        writers[w](0, PARTS * 100, &whole);
        for (uint64_t i = 0; i < PARTS; i++) {
            writers[w](i * 100, i * 100 + 100, &files[i]);
            parts[(i + 2) % PARTS] = pythia_buf_text(&files[i]);
        }
        write_merged(parts, PARTS, &merged);
        unpack(pythia_buf_text(&whole), &content[0]);
        unpack(pythia_buf_text(&merged), &content[1]);
        struct pythia_text a = body_of(&content[0]), b = body_of(&content[1]);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.bytes, b.bytes, a.size);
        struct pythia_buf *const owned[] = {&whole, &merged, &content[0], &content[1]};
        for (size_t i = 0; i < PARTS; i++)
            pythia_buf_free(&files[i]);
        for (size_t i = 0; i < 4; i++)
            pythia_buf_free(owned[i]);
    }
}

/* ---- what is refused ---- */

static void assert_refused(struct pythia_text file, int status, const char *because)
{
    struct pythia_error why;
    assert_int_equal(merge_one(file, &why), status);
    assert_string_equal(why.source, "one");
    if (because && !strstr(why.sentence, because))
        fail_msg("\"%s\" does not say \"%s\"", why.sentence, because);
}

static void what_is_no_evidence_is_refused(void **state)
{
    struct pythia_buf content = {0}, file = {0};
    assert_refused(PYTHIA_TEXT(""), PYTHIA_EFORMAT, "is not evidence");
    assert_refused(PYTHIA_TEXT("{\"spans\": []}"), PYTHIA_EFORMAT, "is not evidence");
    assert_refused(PYTHIA_TEXT("pythia evidence one\n"), PYTHIA_EFORMAT, "a version");
    assert_refused(PYTHIA_TEXT("pythia evidence 2"), PYTHIA_EFORMAT, "a version");
    assert_refused(PYTHIA_TEXT("pythia evidence 2\nplain"), PYTHIA_EFORMAT, "Zstandard");
    assert_refused(PYTHIA_TEXT("pythia evidence 1\n?"), PYTHIA_EUSAGE, "version 1,");
    assert_refused(PYTHIA_TEXT("pythia evidence 10\n?"), PYTHIA_EUSAGE, "version 10");
    pack(&content, "pythia evidence 2\n", &file);
    assert_refused(pythia_buf_text(&file), PYTHIA_EFORMAT, "empty");
    pythia_buf_free(&file);
}

static void every_cut_and_every_changed_byte_is_noticed(void **state)
{
    struct pythia_buf file = {0};
    struct pythia_error why;
    write_requests(0, 12, "", &file);
    assert_int_equal(merge_one(pythia_buf_text(&file), &why), PYTHIA_OK);
    for (size_t size = 0; size < file.size; size++)
        assert_refused((struct pythia_text){file.bytes, size}, PYTHIA_EFORMAT, NULL);
    for (size_t at = 0; at < file.size; at++) {
        file.bytes[at] ^= 0x21;
        assert_int_not_equal(merge_one(pythia_buf_text(&file), &why), PYTHIA_OK);
        file.bytes[at] ^= 0x21;
    }
    pythia_buf_free(&file);
}

/* Without the checksum of the frame it is up to the reader. */
static void a_changed_message_is_refused_or_harmless(void **state)
{
    struct pythia_buf packed = {0}, content = {0}, file = {0};
    struct pythia_error why;
    write_requests(0, 12, "", &packed);
    unpack(pythia_buf_text(&packed), &content);
    size_t refused = 0;
    for (size_t at = 0; at < content.size; at++)
        for (int change = 0; change < 3; change++) {
            static const unsigned char changes[] = {0x01, 0x80, 0xff};
            unsigned char was = (unsigned char)content.bytes[at];
            content.bytes[at] = (char)(was ^ changes[change]);
            pythia_buf_clear(&file);
            pack(&content, "pythia evidence 2\n", &file);
            int status = merge_one(pythia_buf_text(&file), &why);
            assert_true(status == PYTHIA_OK || (why.status == status && why.sentence[0]));
            refused += status != PYTHIA_OK;
            content.bytes[at] = (char)was;
        }
    assert_in_range(refused, content.size, 3 * content.size);
    pythia_buf_free(&packed);
    pythia_buf_free(&content);
    pythia_buf_free(&file);
}

static void a_part_counts_once_and_parts_are_of_one_kind(void **state)
{
    struct pythia_buf files[4] = {{0}}, both = {0};
    struct merging x;
    write_requests(0, 50, "", &files[0]);
    write_requests(50, 100, "", &files[1]);
    write_requests(100, 150, "--latency client ", &files[2]);
    struct pythia_text a = pythia_buf_text(&files[0]), b = pythia_buf_text(&files[1]);
    write_merged((struct pythia_text[]){a, b}, 2, &both);
    const struct {
        struct pythia_text files[3];
        const char *because;
    } cases[] = {
        {{a, b, a}, "contains the evidence of here, and so does one"},
        {{pythia_buf_text(&both), b, a}, "so does one"},
        {{a, b, pythia_buf_text(&files[2])}, "--latency client"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(&x);
        assert_int_equal(merge(&x, cases[i].files, 3), PYTHIA_EUSAGE);
        if (!strstr(x.why.sentence, cases[i].because))
            fail_msg("\"%s\" does not say \"%s\"", x.why.sentence, cases[i].because);
        end(&x);
    }
    /* What holds no trace is nothing twice. */
    write_requests(7, 7, "", &files[3]);
    struct pythia_text nothing = pythia_buf_text(&files[3]);
    begin(&x);
    assert_int_equal(merge(&x, (struct pythia_text[]){nothing, a, nothing}, 3), PYTHIA_OK);
    end(&x);
    for (size_t i = 0; i < 4; i++)
        pythia_buf_free(&files[i]);
    pythia_buf_free(&both);
}

static void each_allocation_may_fail(void **state)
{
    struct pythia_buf file = {0}, again = {0};
    write_requests(0, 12, "", &file);
    const struct pythia_text parts[] = {pythia_buf_text(&file)};
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status != PYTHIA_OK; n++) {
        struct pythia_vocabulary *vocabulary = NULL;
        struct merging x = {0};
        pythia_buf_free(&again);
        assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
        x.vocabulary = vocabulary;
        pythia_mem_fail_after(n);
        status = pythia_evidence_merge_create(vocabulary, true, &x.merge);
        if (status == PYTHIA_OK)
            status = merge(&x, parts, 1);
        if (status == PYTHIA_OK) {
            const struct pythia_evidence_source source = pythia_evidence_merge_source(x.merge);
            status = pythia_evidence_write(&source, &again);
        }
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        end(&x);
    }
    pythia_buf_free(&again);
    pythia_buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_follows_the_manual_is_read),
        cmocka_unit_test(parts_make_the_same_file_in_any_order_and_by_any_tree),
        cmocka_unit_test(merged_parts_are_the_evidence_of_the_whole),
        cmocka_unit_test(what_is_no_evidence_is_refused),
        cmocka_unit_test(every_cut_and_every_changed_byte_is_noticed),
        cmocka_unit_test(a_changed_message_is_refused_or_harmless),
        cmocka_unit_test(a_part_counts_once_and_parts_are_of_one_kind),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
