/* Every input of tests/corpus, and what comes of it:
 *
 *     <format>/valid/<case>/input    and  expected: a line for each span, see print_span, and the
 *                                         counts
 *     <format>/invalid/<case>/input  and  error: "line:offset: sentence" of the first broken
 *                                         record ("none" if there is none), and the counts */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "collect.h"
#include "pythia/spans_writer.h"

#define CORPUS PYTHIA_TESTS "/corpus"

/* ---- printing ---- */

static void print_id(struct pythia_buf *to, const char *name, uint64_t high, uint64_t low)
{
    if (high)
        pythia_buf_printf(to, "%s=%" PRIx64 "%016" PRIx64 " ", name, high, low);
    else
        pythia_buf_printf(to, "%s=%" PRIx64 " ", name, low);
}

static void print_attribute(struct pythia_buf *to, const struct collection *c,
                            const struct pythia_attribute *a)
{
    pythia_buf_printf(to, " %s=", pythia_vocabulary_text(c->vocabulary, a->key).bytes);
    switch (a->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        pythia_buf_printf(to, "'%.*s'", (int)a->text.size, a->text.bytes);
        break;
    case PYTHIA_ATTRIBUTE_INTEGER:
        pythia_buf_printf(to, "%" PRId64, a->integer);
        break;
    case PYTHIA_ATTRIBUTE_REAL:
        pythia_buf_printf(to, "%#.10g", a->real);
        break;
    case PYTHIA_ATTRIBUTE_BOOL:
        pythia_buf_puts(to, a->integer ? "true" : "false");
        break;
    }
}

/* trace=1f id=a1 parent=0 whole server call start=5 duration=7 s:o (service|host|instance) error …
 */
static void print_span(struct pythia_buf *to, const struct collection *c, size_t i)
{
    static const char *const parts[] = {"whole", "start", "stop",    "annotation",
                                        "fork",  "wait",  "addition"};
    static const char *const kinds[] = {"unknown", "internal", "server",
                                        "client",  "producer", "consumer"};
    static const char *const relations[] = {"unknown", "call", "spawn"};
    const struct pythia_span *s = span_at(c, i);
    const struct pythia_vocabulary *v = c->vocabulary;
    struct pythia_resource r = resource_at(c, i);
    print_id(to, "trace", c->spans[i].trace.high, c->spans[i].trace.low);
    print_id(to, "id", 0, s->id);
    print_id(to, "parent", 0, s->parent);
    pythia_buf_printf(to, "%s %s %s start=%" PRIu64 " duration=%" PRId64 " %s", parts[s->part],
                      kinds[s->kind], relations[s->relation], s->start_ns, s->duration_ns,
                      s->tracepoint == PYTHIA_NONE
                          ? "-"
                          : pythia_vocabulary_tracepoint_id(v, s->tracepoint).bytes);
    pythia_buf_printf(to, " (%s|%s|%s)", pythia_vocabulary_text(v, r.service).bytes,
                      pythia_vocabulary_text(v, r.host).bytes,
                      pythia_vocabulary_text(v, r.instance).bytes);
    pythia_buf_printf(to, "%s%s", s->error ? " error" : "", s->shared ? " shared" : "");
    pythia_buf_puts(to, s->lossy ? " lossy" : "");
    if (s->link.high | s->link.low) {
        pythia_buf_putc(to, ' ');
        print_id(to, "link", s->link.high, s->link.low);
        to->size--;
    }
    struct pythia_text rest = attributes_at(c, i);
    struct pythia_attribute attribute = {0};
    while (pythia_attributes_next(&rest, &attribute))
        print_attribute(to, c, &attribute);
    pythia_buf_putc(to, '\n');
}

/* "spans=1 broken_record=2 encoding=1": what is not 0. */
static void print_counts(struct pythia_buf *to, const struct collection *c)
{
    pythia_buf_printf(to, "spans=%zu", c->count);
    for (int i = 0; i < PYTHIA_DROPS; i++)
        if (c->counts.dropped[i])
            pythia_buf_printf(to, " %s=%" PRIu64, pythia_drop_name((enum pythia_drop)i),
                              c->counts.dropped[i]);
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        if (c->counts.repaired[i])
            pythia_buf_printf(to, " %s=%" PRIu64, pythia_repair_name((enum pythia_repair)i),
                              c->counts.repaired[i]);
    pythia_buf_putc(to, '\n');
}

static void print_valid(struct pythia_buf *to, const struct collection *c)
{
    for (size_t i = 0; i < c->count; i++)
        print_span(to, c, i);
    print_counts(to, c);
}

static void print_invalid(struct pythia_buf *to, const struct collection *c)
{
    const char *problems = c->problems.bytes;
    const char *end = strchr(problems, '\n');
    if (end)
        pythia_buf_add(to, problems, (size_t)(end - problems) + 1);
    else
        pythia_buf_puts(to, "none\n");
    print_counts(to, c);
}

/* ---- walking ---- */

static struct pythia_buf read_file(const char *path)
{
    struct pythia_buf content = {0};
    size_t size = 0;
    char *room;
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be read", path);
    while ((room = pythia_buf_reserve(&content, 65536)) && (size = fread(room, 1, 65536, file)) > 0)
        content.size += size;
    fclose(file);
    assert_int_equal(pythia_buf_status(&content), PYTHIA_OK);
    return content;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* What an input must become, in `folder`, whatever the size of the pieces it comes in. */
static void check_case(const char *format, const char *folder, const char *answer,
                       void (*print)(struct pythia_buf *to, const struct collection *c))
{
    char path[512];
    snprintf(path, sizeof(path), "%s/input", folder);
    struct pythia_buf input = read_file(path);
    snprintf(path, sizeof(path), "%s/%s", folder, answer);
    struct pythia_buf expected = read_file(path);
    for (size_t piece = 0; piece < 30; piece += piece < 2 ? 1 : 13) {
        struct collection c;
        struct pythia_buf printed = {0};
        struct pythia_memory_source memory;
        collection_open(&c);
        pythia_memory_source_init(&memory, "input", input.bytes, input.size);
        memory.piece = piece;
        collect_source(&c, format, &memory.source);
        assert_int_equal(c.status, PYTHIA_OK);
        print(&printed, &c);
        if (!pythia_text_equal(pythia_buf_text(&printed), pythia_buf_text(&expected)))
            fail_msg("%s, in pieces of %zu bytes: expected\n%.*s\nbut found\n%.*s", folder, piece,
                     (int)expected.size, expected.bytes, (int)printed.size, printed.bytes);
        pythia_buf_free(&printed);
        collection_close(&c);
    }
    pythia_buf_free(&input);
    pythia_buf_free(&expected);
}

/* Run `check` on every case of every format; returns how many there are. */
static int for_each_case(const char *kind, void (*check)(const char *format, const char *folder))
{
    size_t formats;
    int cases = 0;
    const struct pythia_adapter_ops *const *all = pythia_adapters(&formats);
    for (size_t i = 0; i < formats; i++) {
        char folder[256], path[512];
        struct dirent **entries;
        snprintf(folder, sizeof(folder), CORPUS "/%s/%s", all[i]->name, kind);
        int count = scandir(folder, &entries, is_visible, alphasort);
        if (count <= 0)
            fail_msg("there is nothing in %s", folder);
        for (int k = 0; k < count; k++) {
            snprintf(path, sizeof(path), "%s/%s", folder, entries[k]->d_name);
            check(all[i]->name, path);
            free(entries[k]);
        }
        free(entries);
        cases += count;
    }
    return cases;
}

static void check_valid(const char *format, const char *folder)
{
    check_case(format, folder, "expected", print_valid);
}

static void check_invalid(const char *format, const char *folder)
{
    check_case(format, folder, "error", print_invalid);
}

/* The format is found by looking at an input, and never another one however little of it is seen.
 */
static void check_likeness(const char *format, const char *folder)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/input", folder);
    struct pythia_buf input = read_file(path);
    const struct pythia_adapter_ops *found = pythia_adapter_like(pythia_buf_text(&input));
    if (!found || strcmp(found->name, format) != 0)
        fail_msg("%s looks like %s", folder, found ? found->name : "nothing");
    for (size_t size = 0; size < input.size; size++) {
        found = pythia_adapter_like((struct pythia_text){input.bytes, size});
        if (found && strcmp(found->name, format) != 0)
            fail_msg("the first %zu bytes of %s look like %s", size, folder, found->name);
    }
    pythia_buf_free(&input);
}

/* Every input of OTLP/JSON is there in protobuf too, and its spans are the same. */
static void check_forms(const char *format, const char *folder)
{
    static const char *const formats[] = {"otlp", "otlp-proto"};
    struct pythia_buf printed[2] = {{0}, {0}};
    if (strcmp(format, formats[0]) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        char path[512];
        struct collection c;
        struct pythia_memory_source memory;
        snprintf(path, sizeof(path), CORPUS "/%s/valid/%s/input", formats[i],
                 strrchr(folder, '/') + 1);
        struct pythia_buf input = read_file(path);
        collection_open(&c);
        pythia_memory_source_init(&memory, "input", input.bytes, input.size);
        collect_source(&c, formats[i], &memory.source);
        assert_int_equal(c.status, PYTHIA_OK);
        for (size_t k = 0; k < c.count; k++)
            print_span(&printed[i], &c, k);
        pythia_buf_free(&input);
        collection_close(&c);
    }
    assert_true(printed[0].size > 0);
    assert_string_equal(printed[0].bytes, printed[1].bytes);
    pythia_buf_free(&printed[0]);
    pythia_buf_free(&printed[1]);
}

/* Whatever spans came of an input, written as spans they are the same when they are read again. */
static void check_written(const char *format, const char *folder)
{
    char path[512];
    struct collection c, again;
    struct pythia_memory_source memory;
    struct pythia_spans_writer *writer = NULL;
    struct pythia_buf body = {0}, printed[2] = {{0}, {0}};
    snprintf(path, sizeof(path), "%s/input", folder);
    struct pythia_buf input = read_file(path);
    collection_open(&c);
    pythia_memory_source_init(&memory, "input", input.bytes, input.size);
    collect_source(&c, format, &memory.source);
    assert_int_equal(pythia_spans_writer_create(c.vocabulary, &writer), PYTHIA_OK);
    pythia_spans_writer_begin(writer, &body);
    for (size_t i = 0; i < c.count; i++) {
        c.spans[i].span.lossy = i % 2;
        struct pythia_span span = *span_at(&c, i);
        span.attributes = attributes_at(&c, i);
        assert_int_equal(pythia_spans_writer_add(writer, &c.spans[i].trace, &span), PYTHIA_OK);
        print_span(&printed[0], &c, i);
    }
    collection_open(&again);
    collect_bytes(&again, "spans", pythia_buf_text(&body), 0);
    assert_int_equal(again.status, PYTHIA_OK);
    assert_problems(&again, "");
    for (size_t i = 0; i < again.count; i++)
        print_span(&printed[1], &again, i);
    if (!pythia_text_equal(pythia_buf_text(&printed[0]), pythia_buf_text(&printed[1])))
        fail_msg("%s: expected\n%.*s\nbut found\n%.*s", folder, (int)printed[0].size,
                 printed[0].bytes, (int)printed[1].size, printed[1].bytes);
    pythia_spans_writer_destroy(writer);
    pythia_buf_free(&printed[0]);
    pythia_buf_free(&printed[1]);
    pythia_buf_free(&body);
    pythia_buf_free(&input);
    collection_close(&c);
    collection_close(&again);
}

/* ---- one decoder for many inputs ---- */

static struct {
    struct pythia_vocabulary *vocabulary;
    struct pythia_adapter *adapter;
} kept;

static void decode_kept(struct collection *c, const char *folder)
{
    char path[512];
    struct pythia_memory_source memory;
    snprintf(path, sizeof(path), "%s/input", folder);
    struct pythia_buf input = read_file(path);
    *c = (struct collection){.sink = {.span = collect_span, .broken = collect_broken}};
    c->sink.counts = &c->counts;
    c->vocabulary = kept.vocabulary;
    pythia_memory_source_init(&memory, "input", input.bytes, input.size);
    c->status = kept.adapter->ops->decode(kept.adapter, &memory.source, &c->sink, &c->error);
    pythia_buf_free(&input);
}

static void end_kept(struct collection *c)
{
    c->vocabulary = NULL;
    collection_close(c);
}

/* A decoder that has just had a bad input makes the same of a good one as a new decoder does. */
static void check_kept(const char *format, const char *folder)
{
    char path[512];
    struct dirent **entries;
    const struct pythia_adapter_ops *ops = pythia_adapter_named(format);
    if (!ops->independent)
        return;
    snprintf(path, sizeof(path), "%s/expected", folder);
    struct pythia_buf expected = read_file(path);
    snprintf(path, sizeof(path), CORPUS "/%s/invalid", format);
    int count = scandir(path, &entries, is_visible, alphasort);
    assert_true(count > 0);
    assert_int_equal(pythia_vocabulary_create(&kept.vocabulary), PYTHIA_OK);
    assert_int_equal(ops->create(kept.vocabulary, &kept.adapter), PYTHIA_OK);
    for (int i = 0; i < count; i++) {
        struct collection bad, good;
        struct pythia_buf printed = {0};
        snprintf(path, sizeof(path), CORPUS "/%s/invalid/%s", format, entries[i]->d_name);
        decode_kept(&bad, path);
        decode_kept(&good, folder);
        print_valid(&printed, &good);
        if (!pythia_text_equal(pythia_buf_text(&printed), pythia_buf_text(&expected)))
            fail_msg("%s, after %s: expected\n%.*s\nbut found\n%.*s", folder, path,
                     (int)expected.size, expected.bytes, (int)printed.size, printed.bytes);
        pythia_buf_free(&printed);
        end_kept(&bad);
        end_kept(&good);
        free(entries[i]);
    }
    free(entries);
    ops->destroy(kept.adapter);
    pythia_vocabulary_destroy(kept.vocabulary);
    pythia_buf_free(&expected);
}

static void inputs_of_an_independent_format_do_not_depend_on_earlier_ones(void **state)
{
    for_each_case("valid", check_kept);
}

static void spans_that_are_written_are_the_same_when_read(void **state)
{
    for_each_case("valid", check_written);
}

static void both_forms_of_otlp_have_the_same_spans(void **state)
{
    for_each_case("valid", check_forms);
}

static void valid_inputs_become_what_is_expected(void **state)
{
    print_message("%d inputs\n", for_each_case("valid", check_valid));
}

static void invalid_inputs_are_told_where_and_why(void **state)
{
    print_message("%d inputs\n", for_each_case("invalid", check_invalid));
}

static void inputs_look_like_their_format(void **state)
{
    for_each_case("valid", check_likeness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_inputs_become_what_is_expected),
        cmocka_unit_test(invalid_inputs_are_told_where_and_why),
        cmocka_unit_test(inputs_look_like_their_format),
        cmocka_unit_test(spans_that_are_written_are_the_same_when_read),
        cmocka_unit_test(both_forms_of_otlp_have_the_same_spans),
        cmocka_unit_test(inputs_of_an_independent_format_do_not_depend_on_earlier_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
