#include <stdio.h>

#include "check.h"
#include "protobuf_text.h"
#include "pythia/mem.h"
#include "pythia/protobuf.h"
#include "pythia/protobuf_stream.h"
#include "pythia/protobuf_writer.h"
#include "pythia/status.h"

/* ---- messages in memory ---- */

/* Print what a message in memory says: "number=value" for each field, then "end" or the fault. */
static void print_fields(struct pythia_buf *to, struct pythia_text bytes)
{
    struct pythia_protobuf m = pythia_protobuf_of(bytes);
    struct pythia_protobuf_field f;
    char why[200];
    int status;
    pythia_buf_clear(to);
    while ((status = pythia_protobuf_next(&m, &f)) == 0)
        if (f.type == PYTHIA_PROTOBUF_BYTES)
            pythia_buf_printf(to, "%u'%.*s' ", f.number, (int)f.bytes.size, f.bytes.bytes);
        else
            pythia_buf_printf(to, "%u%c%llu ", f.number,
                              f.type == PYTHIA_PROTOBUF_VARINT    ? '='
                              : f.type == PYTHIA_PROTOBUF_FIXED64 ? '!'
                                                                  : '~',
                              (unsigned long long)f.value);
    if (status == 1) {
        pythia_buf_puts(to, "end");
        return;
    }
    assert_int_equal(status, PYTHIA_EFORMAT);
    bool missing = pythia_protobuf_fault(m, why, sizeof(why));
    pythia_buf_printf(to, "%d: %s%s", (int)(m.at - bytes.bytes), why, missing ? " …" : "");
}

/* Of a message in memory of its own, so that a sanitizer sees what is read beyond it. */
static void assert_reads_as(const char *text, const char *expected)
{
    struct pythia_buf message = protobuf_of(text), printed = {0};
    char *copy = malloc(message.size ? message.size : 1);
    assert_non_null(copy);
    if (message.size)
        memcpy(copy, message.bytes, message.size);
    print_fields(&printed, (struct pythia_text){copy, message.size});
    assert_string_equal(printed.bytes, expected);
    free(copy);
    pythia_buf_free(&message);
    pythia_buf_free(&printed);
}

/* 150 and "testing" are the examples of the encoding's documentation. */
static void fields_are_read_one_by_one(void **state)
{
    assert_reads_as("", "end");
    assert_reads_as("<089601>", "1=150 end");
    assert_reads_as("<120774657374696e67>", "2'testing' end");
    assert_reads_as("3!18446744073709551615 4~4294967295 5'' 6=0",
                    "3!18446744073709551615 4~4294967295 5'' 6=0 end");
    assert_reads_as("<090102030405060708>", "1!578437695752307201 end"); /* 0x0807060504030201 */
    assert_reads_as("<0d01020304>", "1~67305985 end");
    assert_reads_as("<f8ffffff0f01>", "536870911=1 end"); /* the highest number there is */
    assert_reads_as("<800101>", "16=1 end");
}

/* Zeros above the highest bit that is set; what no 64 bits hold is dropped. */
static void longer_varints_than_need_be_are_read(void **state)
{
    assert_reads_as("<0881808080808080808000>", "1=1 end");
    assert_reads_as("<08ffffffffffffffffff01>", "1=18446744073709551615 end");
    assert_reads_as("<08ffffffffffffffffff7f>", "1=18446744073709551615 end");
    assert_reads_as("<88808080000a>", "1=10 end"); /* a tag of five bytes */
    assert_reads_as("<0a8180808080808080800061>", "1'a' end");
}

static void what_is_no_field_is_told(void **state)
{
    assert_reads_as("<00>", "0: there is no field 0");
    assert_reads_as("<0701>", "0: there is no field 0");
    assert_reads_as("<0c>", "0: field 1 ends a group that has not begun");
    assert_reads_as("<0e>", "0: field 1 has wire type 6, which does not exist");
    assert_reads_as("<0f>", "0: field 1 has wire type 7, which does not exist");
    assert_reads_as("<8080808010>",
                    "0: a field's number has more than 5 bytes or is above 536870911");
    assert_reads_as("<88808080800001>",
                    "0: a field's number has more than 5 bytes or is above 536870911");
    assert_reads_as("<08ffffffffffffffffffff01>", "0: field 1 has a number of more than 10 bytes");
    assert_reads_as("<0affffffffffffffffffff01>", "0: field 1 has a number of more than 10 bytes");
    assert_reads_as("1=1 2'ab' <1c>", "1=1 2'ab' 6: field 3 ends a group that has not begun");
}

#define EIGHT(hex) hex hex hex hex hex hex hex hex

/* A group begins with type 3 and ends with type 4: 0b and 0c for number 1, 13 and 14 for 2. */
static void groups_are_passed_over(void **state)
{
    assert_reads_as("<0b0c>", "end");
    assert_reads_as("1=1 <0b> 2=2 1'x' 3!4 5~6 1{2=3} <0c> 2'ab'", "1=1 2'ab' end");
    assert_reads_as("<0b0b130b0c140c0c> 1=1 <1314>", "1=1 end"); /* in one another, of one number */
    assert_reads_as("<ffffffff0f>", "0: field 536870911 has wire type 7, which does not exist");
    assert_reads_as("<fbffffff0ffcffffff0f>", "end"); /* the highest number there is */
    assert_reads_as("<" EIGHT("0b0b0b0b") EIGHT("0c0c0c0c") ">", "end"); /* 32, the most */
    assert_reads_as("<0b" EIGHT("0b0b0b0b") EIGHT("0c0c0c0c") "0c>",
                    "0: field 1 is a group that is broken, or has more than 31 in it");
}

static void groups_that_do_not_end_are_told(void **state)
{
    static const char broken[] =
        "1=1 2: field 1 is a group that is broken, or has more than 31 in it";
    static const char cut[] = "1=1 2: the message ends in the middle of field 1 …";
    assert_reads_as("1=1 <0b14>", broken); /* the end of another one */
    assert_reads_as("1=1 <0b130c14>", broken);
    assert_reads_as("1=1 <0b0e0c>", broken); /* no type, no number */
    assert_reads_as("1=1 <0b000c>", broken);
    assert_reads_as("1=1 <0b>", cut);
    assert_reads_as("1=1 <0b> 2=2", cut);
    assert_reads_as("1=1 <0b13140b>", cut);
    assert_reads_as("1=1 <0b0a05>", cut);
    assert_reads_as("1=1 <0b0a7f0c>", cut); /* a text that takes the end for its own */
}

static void what_is_missing_is_told_from_what_is_wrong(void **state)
{
    assert_reads_as("<88>", "0: the message ends in the middle of a field's number …");
    assert_reads_as("<80808080>", "0: the message ends in the middle of a field's number …");
    assert_reads_as("<08>", "0: the message ends in the middle of field 1 …");
    assert_reads_as("<0896>", "0: the message ends in the middle of field 1 …");
    assert_reads_as("<08ffffffffffffffffff>", "0: the message ends in the middle of field 1 …");
    assert_reads_as("<0901020304050607>", "0: the message ends in the middle of field 1 …");
    assert_reads_as("<0d010203>", "0: the message ends in the middle of field 1 …");
    assert_reads_as("<0a>", "0: the message ends in the middle of field 1 …");
    assert_reads_as("<0a0561626364>", "0: field 1 of 5 bytes in a message that ends 4 bytes on …");
    assert_reads_as("<0affffffffffffffffff01>",
                    "0: field 1 of 18446744073709551615 bytes in a message that ends 0 bytes on …");
}

/* ---- streams ---- */

/* A stream over some bytes, in pieces of so many (0: lent). */
struct flow {
    struct pythia_memory_source memory;
    struct pythia_protobuf_stream stream;
    struct pythia_buf bytes, printed;
    unsigned told;
};

static void flow_over(struct flow *f, size_t piece, size_t limit)
{
    pythia_memory_source_init(&f->memory, "bytes", f->bytes.bytes, f->bytes.size);
    f->memory.piece = piece;
    f->told = 0;
    pythia_buf_clear(&f->printed);
    pythia_protobuf_stream_begin(&f->stream, &f->memory.source, limit);
}

static void flow_end(struct flow *f)
{
    pythia_protobuf_stream_free(&f->stream);
    pythia_buf_free(&f->bytes);
    pythia_buf_free(&f->printed);
}

/* An error of the message that ends at `end`: print it, and pass over the rest. */
static void tell(struct flow *f, uint64_t end)
{
    struct pythia_protobuf_stream *s = &f->stream;
    assert_true(s->error.status == PYTHIA_EFORMAT || s->error.status == PYTHIA_ELIMIT);
    assert_string_equal(s->error.source, "bytes");
    pythia_buf_printf(&f->printed, "[%llu: %s]", (unsigned long long)s->error.offset,
                      s->error.sentence);
    pythia_error_clear(&s->error);
    f->told++;
    if (pythia_protobuf_stream_pass(s, end) != PYTHIA_OK) {
        assert_true(s->cut_off);
        pythia_error_clear(&s->error);
    }
}

/* Print what a message says: field 1 is entered, field 2 taken, what else there is passed. */
static void print_stream(struct flow *f, uint64_t end)
{
    struct pythia_protobuf_stream *s = &f->stream;
    struct pythia_protobuf_field field;
    struct pythia_text text;
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK && (status = pythia_protobuf_stream_field(s, end, &field)) == 0) {
        uint64_t inner = pythia_protobuf_stream_end(s, &field);
        pythia_buf_printf(&f->printed, "%u", field.number);
        if (field.type != PYTHIA_PROTOBUF_BYTES) {
            pythia_buf_printf(&f->printed, "=%llu ", (unsigned long long)field.value);
        } else if (field.number == 1) {
            pythia_buf_putc(&f->printed, '{');
            print_stream(f, inner);
            pythia_buf_puts(&f->printed, "} ");
        } else if (field.number == 2) {
            status = pythia_protobuf_stream_take(s, &field, &text);
            if (status == PYTHIA_ELIMIT) {
                tell(f, inner);
                status = PYTHIA_OK;
            } else if (status == PYTHIA_OK) {
                assert_int_equal(pythia_protobuf_stream_offset(s, text.bytes, 9),
                                 inner - text.size);
                pythia_buf_printf(&f->printed, "'%.*s' ", text.size < 20 ? (int)text.size : 20,
                                  text.bytes);
            }
        } else {
            status = pythia_protobuf_stream_pass(s, inner);
            pythia_buf_puts(&f->printed, "- ");
        }
    }
    if (status < 0)
        tell(f, end);
}

static const size_t pieces[] = {0, 1, 2, 3, 7, 100, 70000};

/* Whatever the pieces, the stream prints as expected. */
static void assert_streams_as(struct flow *f, size_t limit, const char *expected)
{
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        flow_over(f, pieces[i], limit);
        print_stream(f, PYTHIA_PROTOBUF_OPEN);
        pythia_buf_putc(&f->printed, '\0');
        assert_string_equal(f->printed.bytes, expected);
        assert_int_equal(f->stream.error.status, PYTHIA_OK);
    }
}

static void messages_are_entered_taken_and_passed(void **state)
{
    struct flow f = {.bytes = protobuf_of("1{1{2'deep' 3=1} 2'record' 7'passed'} 1{} 5~4 2''")};
    assert_streams_as(&f, 100, "1{1{2'deep' 3=1 } 2'record' 7- } 1{} 5=4 2'' ");
    flow_end(&f);
}

static void an_empty_input_has_no_fields(void **state)
{
    struct flow f = {0};
    uint64_t end;
    unsigned char byte;
    assert_streams_as(&f, 100, "");
    for (size_t piece = 0; piece < 2; piece++) {
        flow_over(&f, piece, 100);
        assert_int_equal(pythia_protobuf_stream_peek(&f.stream, &byte), 1);
        assert_int_equal(pythia_protobuf_stream_frame(&f.stream, &end), 1);
    }
    flow_end(&f);
}

/* Records larger than the window, and one to be passed, and what stands behind them. */
static void what_is_larger_than_the_window_is_read(void **state)
{
    enum { LARGE = 1500000 };
    struct flow f = {0};
    static char large[LARGE];
    memset(large, 'x', LARGE);
    for (uint32_t field = 2; field <= 4; field += 2) {
        pythia_protobuf_put_bytes(&f.bytes, field, (struct pythia_text){large, LARGE});
        pythia_protobuf_put_number(&f.bytes, 3, field);
    }
    pythia_protobuf_put_size(&f.bytes, 1, LARGE + 7); /* 1 + 3 + LARGE: a record; 3: a number */
    pythia_protobuf_put_bytes(&f.bytes, 2, (struct pythia_text){large, LARGE});
    pythia_protobuf_put_number(&f.bytes, 3, 300);
    assert_streams_as(&f, LARGE,
                      "2'xxxxxxxxxxxxxxxxxxxx' 3=2 4- 3=4 1{2'xxxxxxxxxxxxxxxxxxxx' 3=300 } ");
    flow_end(&f);
}

static void a_record_above_the_limit_is_told_and_passed(void **state)
{
    struct flow f = {.bytes = protobuf_of("1{2'12345' 2'123456' 2'1234'}")};
    assert_streams_as(&f, 5, "1{2'12345' 2[11: a record is larger than 5 bytes]2'1234' } ");
    flow_end(&f);
}

/* Also one that is larger than a window, and more than may be taken as a whole. */
static void groups_in_streams_are_passed_over(void **state)
{
    struct flow f = {.bytes = protobuf_of(
                         "<0b0c> 1{<13> 2'a' 1{2'b'} <13> 3=1 <1414> 2'c' <0b0c>} 2'd' <0b0c>")};
    assert_streams_as(&f, 100, "1{2'c' } 2'd' ");
    flow_end(&f);
    enum { LARGE = 1500000 };
    static const char large[LARGE];
    f = (struct flow){.bytes = protobuf_of("1=1 <13>")};
    pythia_protobuf_put_bytes(&f.bytes, 3, (struct pythia_text){large, LARGE});
    pythia_buf_putc(&f.bytes, 0x14);
    pythia_protobuf_put_number(&f.bytes, 3, 300);
    assert_streams_as(&f, 100, "1=1 3=300 ");
    flow_end(&f);
}

static void a_fault_ends_the_message_it_is_in(void **state)
{
    struct flow f = {.bytes = protobuf_of("1{2'a' 1{3=1 <0c> 3=2} 2'b'} 2'c'")};
    assert_streams_as(&f, 100,
                      "1{2'a' 1{3=1 [9: field 1 ends a group that has not begun]} 2'b' } 2'c' ");
    flow_end(&f);
    f = (struct flow){.bytes = protobuf_of("1{2'a' 1{3=1 <0b> 3=2} 2'b'} 2'c'")};
    assert_streams_as(&f, 100,
                      "1{2'a' 1{3=1 [9: the message ends in the middle of field 1]} 2'b' } 2'c' ");
    flow_end(&f);
    f = (struct flow){.bytes = protobuf_of("1{2'a' 1{3=1 <0b14> 3=2} 2'b'} 2'c'")};
    assert_streams_as(&f, 100,
                      "1{2'a' 1{3=1 [9: field 1 is a group that is broken, or has more than 31 in "
                      "it]} 2'b' } 2'c' ");
    flow_end(&f);
    f = (struct flow){.bytes = protobuf_of("1{2'a' <120561> } 2'c'")};
    assert_streams_as(&f, 100,
                      "1{2'a' [5: field 2 of 5 bytes in a message that ends 1 bytes on]} 2'c' ");
    flow_end(&f);
    f = (struct flow){.bytes = protobuf_of("1{1{<1a0462>} 2'b'} 2'c'")};
    assert_streams_as(
        &f, 100, "1{1{[4: field 3 of 4 bytes in a message that ends 1 bytes on]} 2'b' } 2'c' ");
    flow_end(&f);
    f = (struct flow){.bytes = protobuf_of("2'a' 1{<089696>} 2'c'")};
    assert_streams_as(&f, 100, "2'a' 1{[5: the message ends in the middle of field 1]} 2'c' ");
    flow_end(&f);
}

/* At each byte: what is before the cut is there, the cut is told once and where it is, unless it
 * is where the outermost message may end. */
static void an_input_that_is_cut_off_is_told_once(void **state)
{
    static const char text[] = "2'ab' 1{2'record' 1{3=300 2'x'} 4'passed'} 3!9 2'end'";
    static const char whole[] = "2'ab' 1{2'record' 1{3=300 2'x' } 4- } 3=9 2'end' ";
    struct flow f = {.bytes = protobuf_of(text)};
    size_t all = f.bytes.size;
    for (size_t size = 0; size < all; size++)
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
            char place[32];
            f.bytes.size = size;
            flow_over(&f, pieces[i], 100);
            print_stream(&f, PYTHIA_PROTOBUF_OPEN);
            pythia_buf_putc(&f.printed, '\0');
            /* fields of the outermost message begin at 0, 4, 30 and 39 */
            bool between = size == 0 || size == 4 || size == 30 || size == 39;
            assert_int_equal(f.told, between ? 0 : 1);
            char *cut = strchr(f.printed.bytes, '[');
            assert_int_equal(cut != NULL, !between);
            size_t same = cut ? (size_t)(cut - f.printed.bytes) : strlen(f.printed.bytes);
            assert_memory_equal(f.printed.bytes, whole, same);
            if (!cut)
                continue;
            snprintf(place, sizeof(place), "[%zu: ", size);
            assert_memory_equal(cut, place, strlen(place));
            assert_non_null(strstr(cut, "the input ends in the middle of a "));
            assert_true(f.stream.cut_off);
        }
    f.bytes.size = all;
    assert_streams_as(&f, 100, whole);
    flow_end(&f);
}

/* What is said to be there is not allocated before it is. */
static void a_size_that_is_not_true_costs_no_memory(void **state)
{
    struct flow f = {.bytes = protobuf_of("<12ffffff1d6161>")};
    assert_streams_as(
        &f, PYTHIA_PROTOBUF_LIMIT,
        "2[7: the input ends in the middle of a message: 62914557 bytes are missing]");
    assert_in_range(f.stream.capacity, 1, 1 << 20);
    flow_end(&f);
    f = (struct flow){.bytes = protobuf_of("<12ffffffffffffffffff01>")};
    assert_streams_as(&f, PYTHIA_PROTOBUF_LIMIT,
                      "[0: field 2 of 18446744073709551615 bytes, more than there can be]");
    flow_end(&f);
}

static void messages_with_their_sizes_in_front_are_read(void **state)
{
    struct flow f = {.bytes = protobuf_of("<00000004>2'ab'<00000000><00000102>2=1")};
    struct pythia_buf long_text = {0};
    uint64_t end;
    for (int i = 0; i < 252; i++)
        pythia_buf_putc(&long_text, 'y');
    f.bytes.size -= 2;
    pythia_protobuf_put_number(&f.bytes, 3, 1); /* 2 bytes, 3 + 252 behind them: 257 = 0x101 */
    pythia_protobuf_put_bytes(&f.bytes, 4, pythia_buf_text(&long_text));
    f.bytes.bytes[15] = 1;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        int status;
        unsigned char first;
        flow_over(&f, pieces[i], 100);
        assert_int_equal(pythia_protobuf_stream_peek(&f.stream, &first), 0);
        assert_int_equal(first, 0);
        while ((status = pythia_protobuf_stream_frame(&f.stream, &end)) == 0) {
            print_stream(&f, end);
            pythia_buf_puts(&f.printed, "| ");
        }
        assert_int_equal(status, 1);
        pythia_buf_putc(&f.printed, '\0');
        assert_string_equal(f.printed.bytes, "2'ab' | | 3=1 4- | ");
    }
    f.bytes.size = 11; /* in the middle of the second size */
    flow_over(&f, 1, 100);
    assert_int_equal(pythia_protobuf_stream_frame(&f.stream, &end), 0);
    print_stream(&f, end);
    assert_int_equal(pythia_protobuf_stream_frame(&f.stream, &end), PYTHIA_EFORMAT);
    assert_string_equal(f.stream.error.sentence,
                        "the input ends in the middle of a message: 1 bytes are missing");
    assert_int_equal(f.stream.error.offset, 11);
    pythia_error_clear(&f.stream.error);
    assert_int_equal(pythia_protobuf_stream_frame(&f.stream, &end), 1);
    pythia_buf_free(&long_text);
    flow_end(&f);
}

/* A source that fails behind its bytes. */
static int fail_at_end(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                       struct pythia_error *e)
{
    struct pythia_memory_source *m = (struct pythia_memory_source *)source;
    if (m->at == m->size)
        return pythia_error_set(e, PYTHIA_EIO, "the disk is on fire");
    *got = capacity < m->size - m->at ? capacity : m->size - m->at;
    memcpy(to, m->bytes + m->at, *got);
    m->at += *got;
    return PYTHIA_OK;
}

static void what_a_source_gave_before_it_failed_is_read(void **state)
{
    struct flow f = {.bytes = protobuf_of("1{2'a' 2'b'} 2'c'")};
    for (size_t size = 0; size <= f.bytes.size; size++) {
        struct pythia_protobuf_field field;
        unsigned char first;
        int status = PYTHIA_OK, fields = 0;
        flow_over(&f, 1, 100);
        f.memory.size = size;
        f.memory.source.read = fail_at_end;
        while (status == PYTHIA_OK && (status = pythia_protobuf_stream_field(
                                           &f.stream, PYTHIA_PROTOBUF_OPEN, &field)) == 0) {
            fields++;
            status = pythia_protobuf_stream_pass(&f.stream,
                                                 pythia_protobuf_stream_end(&f.stream, &field));
        }
        assert_int_equal(status, PYTHIA_EIO);
        assert_true(f.stream.source_failed);
        assert_string_equal(f.stream.error.sentence, "the disk is on fire");
        assert_int_equal(fields, (size >= 2) + (size >= 10)); /* where their sizes end */
        flow_over(&f, 1, 100);
        f.memory.size = 0;
        f.memory.source.read = fail_at_end;
        assert_int_equal(pythia_protobuf_stream_peek(&f.stream, &first), PYTHIA_EIO);
    }
    flow_end(&f);
}

static void each_failed_allocation_is_told(void **state)
{
    struct flow f = {0};
    struct pythia_protobuf_field field;
    struct pythia_text text;
    static char large[600000];
    pythia_protobuf_put_bytes(&f.bytes, 2, (struct pythia_text){large, sizeof(large)});
    for (long allowed = 0; allowed < 3; allowed++) {
        pythia_protobuf_stream_free(&f.stream);
        flow_over(&f, 100, PYTHIA_PROTOBUF_LIMIT);
        pythia_mem_fail_after(allowed);
        int status = pythia_protobuf_stream_field(&f.stream, PYTHIA_PROTOBUF_OPEN, &field);
        if (status == PYTHIA_OK)
            status = pythia_protobuf_stream_take(&f.stream, &field, &text);
        pythia_mem_fail_after(-1);
        assert_int_equal(status, allowed < 2 ? PYTHIA_ENOMEM : PYTHIA_OK);
        assert_int_equal(f.stream.error.status, status);
    }
    flow_over(&f, 100, PYTHIA_PROTOBUF_LIMIT); /* with the memory it has, nothing is allocated */
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_protobuf_stream_field(&f.stream, PYTHIA_PROTOBUF_OPEN, &field), 0);
    assert_int_equal(pythia_protobuf_stream_take(&f.stream, &field, &text), PYTHIA_OK);
    flow_over(&f, 0, PYTHIA_PROTOBUF_LIMIT); /* nor for what is lent, which is not moved */
    assert_int_equal(pythia_protobuf_stream_field(&f.stream, PYTHIA_PROTOBUF_OPEN, &field), 0);
    assert_int_equal(pythia_protobuf_stream_take(&f.stream, &field, &text), PYTHIA_OK);
    pythia_mem_fail_after(-1);
    assert_ptr_equal(text.bytes, f.bytes.bytes + 4);
    flow_end(&f);
}

/* ---- the writer ---- */

static void fields_are_written_as_the_encoding_has_them(void **state)
{
    static const char longer[200] = {0};
    static const unsigned char expected[] = {
        0x08, 0x96, 0x01,                                                 /* 150 */
        0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x00,                               /* 0 */
        0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, /* -1 */
        0x19, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,             /* fixed64 */
        0x29, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xE0, 0xBF,             /* -0.5 */
        0x12, 0x07, 't',  'e',  's',  't',  'i',  'n',  'g',              /* bytes */
        0x32, 0x00,                                                       /* none */
        0x3A, 0xC8, 0x01,                                                 /* 200 */
    };
    struct pythia_buf to = {0};
    pythia_protobuf_put_number(&to, 1, 150);
    pythia_protobuf_put_number(&to, 536870911, 0);
    pythia_protobuf_put_number(&to, 2, UINT64_MAX);
    pythia_protobuf_put_fixed64(&to, 3, UINT64_C(0x0102030405060708));
    pythia_protobuf_put_double(&to, 5, -0.5);
    pythia_protobuf_put_bytes(&to, 2, PYTHIA_TEXT("testing"));
    pythia_protobuf_put_bytes(&to, 6, (struct pythia_text){NULL, 0});
    pythia_protobuf_put_bytes(&to, 7, (struct pythia_text){longer, sizeof(longer)});
    assert_int_equal(to.size, sizeof(expected) + sizeof(longer));
    assert_memory_equal(to.bytes, expected, sizeof(expected));
    assert_memory_equal(to.bytes + sizeof(expected), longer, sizeof(longer));
    pythia_buf_free(&to);
    pythia_mem_fail_after(0);
    pythia_protobuf_put_number(&to, 1, 1);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&to), PYTHIA_ENOMEM);
    pythia_buf_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_one_by_one),
        cmocka_unit_test(longer_varints_than_need_be_are_read),
        cmocka_unit_test(what_is_no_field_is_told),
        cmocka_unit_test(groups_are_passed_over),
        cmocka_unit_test(groups_that_do_not_end_are_told),
        cmocka_unit_test(groups_in_streams_are_passed_over),
        cmocka_unit_test(what_is_missing_is_told_from_what_is_wrong),
        cmocka_unit_test(messages_are_entered_taken_and_passed),
        cmocka_unit_test(an_empty_input_has_no_fields),
        cmocka_unit_test(what_is_larger_than_the_window_is_read),
        cmocka_unit_test(a_record_above_the_limit_is_told_and_passed),
        cmocka_unit_test(a_fault_ends_the_message_it_is_in),
        cmocka_unit_test(an_input_that_is_cut_off_is_told_once),
        cmocka_unit_test(a_size_that_is_not_true_costs_no_memory),
        cmocka_unit_test(messages_with_their_sizes_in_front_are_read),
        cmocka_unit_test(what_a_source_gave_before_it_failed_is_read),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(fields_are_written_as_the_encoding_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
