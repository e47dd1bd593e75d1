/* The frames of the demo services: whatever comes over a connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "frame.h"

#define CONTEXT "any bytes"

/* By the layout in frame.h: a put of the second attempt, number 258, after 7 events. */
static const unsigned char head_by_hand[FRAME_HEAD] = {'R', 'P', 2, 1, 2, 0, 1, 0, 0, 0, 1, 2,
                                                       0,   0,   0, 7, 0, 0, 0, 3, 0, 9, 0, 0};

static struct frame frame_by_hand(void)
{
    return (struct frame){.kind = FRAME_REQUEST,
                          .method = METHOD_PUT,
                          .attempt = 1,
                          .number = 258,
                          .lamport = 7,
                          .context = (const unsigned char *)CONTEXT,
                          .context_bytes = 9,
                          .body = (const unsigned char *)"abc",
                          .body_bytes = 3};
}

/* Read from memory that ends where the bytes do, so that a sanitizer sees who reads on. */
static long read_copy(const unsigned char *data, size_t bytes, const char **why)
{
    struct frame frame;
    unsigned char *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    long used = frame_read(copy, bytes, &frame, why);
    free(copy);
    return used;
}

static void a_frame_has_the_bytes_that_are_told(void **state)
{
    struct bytes bytes = {0};
    const struct frame frame = frame_by_hand();
    struct frame again;
    const char *why = "";
    assert_int_equal(frame_write(&bytes, &frame), 0);
    assert_int_equal(bytes.used, FRAME_HEAD + 9 + 3);
    assert_memory_equal(bytes.data, head_by_hand, FRAME_HEAD);
    assert_memory_equal(bytes.data + FRAME_HEAD, CONTEXT "abc", 9 + 3);
    assert_int_equal(frame_write(&bytes, &frame), 0); /* a second one behind it */
    assert_int_equal(frame_read(bytes.data, bytes.used, &again, &why), bytes.used / 2);
    assert_null(why);
    assert_int_equal(again.number, 258);
    assert_int_equal(again.lamport, 7);
    assert_int_equal(again.attempt, 1);
    assert_int_equal(again.context_bytes, 9);
    assert_memory_equal(again.context, CONTEXT, 9);
    assert_int_equal(again.body_bytes, 3);
    assert_memory_equal(again.body, "abc", 3);
    bytes_free(&bytes);
}

static void a_frame_that_is_cut_is_waited_for(void **state)
{
    struct bytes bytes = {0};
    const struct frame frame = frame_by_hand();
    const char *why;
    assert_int_equal(frame_write(&bytes, &frame), 0);
    for (size_t size = 0; size < bytes.used; size++)
        assert_int_equal(read_copy(bytes.data, size, &why), 0);
    assert_int_equal(read_copy(bytes.data, bytes.used, &why), bytes.used);
    bytes_free(&bytes);
}

/* One byte is wrong: that is seen as soon as it is there. */
static void what_is_no_frame_is_refused(void **state)
{
    static const struct {
        size_t at;
        unsigned char byte;
        const char *why;
    } faults[] = {
        {0, 'G', "it does not begin with RP"},
        {1, 'Q', "it does not begin with RP"},
        {2, 1, "it is of another version"},
        {2, 3, "it is of another version"},
        {3, 0, "it is neither a request nor an answer"},
        {3, 3, "it is neither a request nor an answer"},
        {4, 0, "there is no such method"},
        {4, METHODS, "there is no such method"},
        {4, 255, "there is no such method"},
        {5, STATUSES, "there is no such status"},
        {7, 1, "a byte that is kept free is not 0"},
        {16, 1, "its body is longer than 1 MiB"},
        {16, 255, "its body is longer than 1 MiB"},
        {17, 17, "its body is longer than 1 MiB"},
        {20, 1, "its trace context is longer than 256 bytes"}, /* 265 */
        {20, 255, "its trace context is longer than 256 bytes"},
        {22, 1, "bytes that are kept free are not 0"},
        {23, 1, "bytes that are kept free are not 0"},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        unsigned char head[FRAME_HEAD];
        const char *why = NULL;
        memcpy(head, head_by_hand, FRAME_HEAD);
        head[faults[i].at] = faults[i].byte;
        size_t seen = faults[i].at < 8 ? faults[i].at + 1 : FRAME_HEAD;
        assert_int_equal(read_copy(head, seen - 1, &why), 0);
        assert_int_equal(read_copy(head, seen, &why), -EPROTO);
        assert_string_equal(why, faults[i].why);
    }
}

static void the_longest_parts_go_and_longer_ones_do_not(void **state)
{
    struct bytes bytes = {0};
    static unsigned char body[FRAME_BODY_MAX + 1];
    static const unsigned char context[CONTEXT_MAX + 1];
    struct frame frame = frame_by_hand(), again;
    const char *why;
    frame.body = body;
    frame.body_bytes = FRAME_BODY_MAX;
    frame.context = context;
    frame.context_bytes = CONTEXT_MAX;
    assert_int_equal(frame_write(&bytes, &frame), 0);
    assert_int_equal(frame_read(bytes.data, bytes.used, &again, &why), bytes.used);
    size_t used = bytes.used;
    frame.body_bytes++;
    assert_int_equal(frame_write(&bytes, &frame), -EMSGSIZE);
    frame.body_bytes = 0;
    frame.context_bytes++;
    assert_int_equal(frame_write(&bytes, &frame), -EMSGSIZE);
    assert_int_equal(bytes.used, used);
    bytes_free(&bytes);
}

static void any_bytes_are_survived(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        unsigned char data[96];
        const char *why;
        memcpy(data, head_by_hand, FRAME_HEAD);
        for (size_t j = i % 2 ? FRAME_HEAD / 2 : FRAME_HEAD; j < sizeof(data); j++)
            data[j] = (unsigned char)((seed = seed * 6364136223846793005U + 1) >> 56);
        data[seed >> 40 & 15] ^= (unsigned char)(seed >> 50);
        size_t bytes = seed >> 33 & 63;
        long used = read_copy(data, bytes, &why);
        assert_true(used == -EPROTO || (used >= 0 && (size_t)used <= bytes));
        assert_true((used < 0) == (why != NULL));
    }
}

static void a_request_has_the_bytes_that_are_told(void **state)
{
    struct bytes bytes = {0};
    struct request again, request = {.tenant = 258,
                                     .key = 0x01020304,
                                     .count = 5,
                                     .value = (const unsigned char *)"xy",
                                     .value_bytes = 2};
    assert_int_equal(request_write(&bytes, &request), 0);
    assert_int_equal(bytes.used, 10);
    assert_memory_equal(bytes.data, "\1\2\1\2\3\4\0\5xy", 10);
    assert_int_equal(request_read(bytes.data, bytes.used, &again), 0);
    assert_int_equal(again.tenant, 258);
    assert_int_equal(again.key, 0x01020304);
    assert_int_equal(again.count, 5);
    assert_int_equal(again.value_bytes, 2);
    for (size_t size = 0; size < REQUEST_HEAD; size++)
        assert_int_equal(request_read(bytes.data, size, &again), -EPROTO);
    assert_int_equal(request_read(bytes.data, REQUEST_HEAD, &again), 0);
    assert_int_equal(again.value_bytes, 0);
    bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_the_bytes_that_are_told),
        cmocka_unit_test(a_frame_that_is_cut_is_waited_for),
        cmocka_unit_test(what_is_no_frame_is_refused),
        cmocka_unit_test(the_longest_parts_go_and_longer_ones_do_not),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(a_request_has_the_bytes_that_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
