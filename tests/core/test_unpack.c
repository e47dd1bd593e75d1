#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/unpack.h"

#define CONTENT 100000

struct packed {
    char content[CONTENT], bytes[CONTENT + 1000];
    size_t size;
};

/* Text that packs well, and some that does not. */
static void fill(struct packed *p)
{
    uint32_t random = 1;
    for (size_t i = 0; i < CONTENT; i++) {
        random = random * 1664525 + 1013904223;
        unsigned byte = i < CONTENT / 2 ? 'a' + (unsigned)(i % 7) : random >> 24;
        p->content[i] = (char)byte;
    }
}

static size_t gzip(const char *content, size_t size, char *to, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = pythia_without_const(content);
    z.avail_in = (uInt)size;
    z.next_out = (unsigned char *)to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size = z.total_out;
    deflateEnd(&z);
    return size;
}

/* Read all of a source into `to`: the status it ended with, and *size. */
static int drain(struct pythia_source *source, char *to, size_t room, size_t *size,
                 struct pythia_error *e)
{
    size_t got = 1;
    *size = 0;
    while (got > 0) {
        assert_true(*size < room);
        int status = source->read(source, to + *size, room - *size, &got, e);
        if (status != PYTHIA_OK)
            return status;
        *size += got;
    }
    return PYTHIA_OK;
}

static int unpack(const char *bytes, size_t size, size_t piece, enum pythia_packing packing,
                  struct pythia_unpack_limits limits, char *to, size_t room, size_t *got,
                  struct pythia_error *e)
{
    struct pythia_memory_source memory;
    struct pythia_unpack *u = NULL;
    pythia_memory_source_init(&memory, "body", bytes, size);
    memory.piece = piece;
    assert_int_equal(pythia_unpack_create(&memory.source, packing, &limits, &u, e), PYTHIA_OK);
    int status = drain(pythia_unpack_source(u), to, room, got, e);
    pythia_unpack_destroy(u);
    return status;
}

static struct packed p;
static char out[3 * CONTENT];

static void pack(enum pythia_packing packing)
{
    fill(&p);
    if (packing == PYTHIA_PACKING_GZIP)
        p.size = gzip(p.content, CONTENT, p.bytes, sizeof(p.bytes));
    else
        p.size = ZSTD_compress(p.bytes, sizeof(p.bytes), p.content, CONTENT, 3);
}

static void content_comes_out_as_it_went_in(void **state)
{
    for (int packing = PYTHIA_PACKING_GZIP; packing <= PYTHIA_PACKING_ZSTD; packing++) {
        pack((enum pythia_packing)packing);
        for (size_t piece = 1; piece < 5000; piece = piece * 7 + 1) {
            struct pythia_error why = {0};
            size_t size;
            assert_int_equal(unpack(p.bytes, p.size, piece, (enum pythia_packing)packing,
                                    (struct pythia_unpack_limits){0}, out, sizeof(out), &size,
                                    &why),
                             PYTHIA_OK);
            assert_int_equal(size, CONTENT);
            assert_memory_equal(out, p.content, CONTENT);
        }
    }
}

static void members_one_behind_the_other_are_one_content(void **state)
{
    struct pythia_error why = {0};
    size_t size;
    char two[64], text[16];
    size_t first = gzip("one ", 4, two, sizeof(two));
    size_t both = first + gzip("two", 3, two + first, sizeof(two) - first);
    assert_int_equal(unpack(two, both, 3, PYTHIA_PACKING_GZIP, (struct pythia_unpack_limits){0},
                            text, sizeof(text), &size, &why),
                     PYTHIA_OK);
    assert_int_equal(size, 7);
    assert_memory_equal(text, "one two", 7);
}

static void data_that_are_cut_off_or_broken_are_told(void **state)
{
    for (int packing = PYTHIA_PACKING_GZIP; packing <= PYTHIA_PACKING_ZSTD; packing++) {
        struct pythia_error why = {0};
        size_t size;
        pack((enum pythia_packing)packing);
        assert_int_equal(unpack(p.bytes, p.size - 10, 0, (enum pythia_packing)packing,
                                (struct pythia_unpack_limits){0}, out, sizeof(out), &size, &why),
                         PYTHIA_EFORMAT);
        assert_non_null(strstr(why.sentence, "end prematurely"));
        why = (struct pythia_error){0};
        p.bytes[p.size / 2] ^= 0x55;
        p.bytes[p.size / 2 + 1] ^= 0x55;
        p.bytes[2] ^= 0x70; /* and the head */
        assert_int_equal(unpack(p.bytes, p.size, 0, (enum pythia_packing)packing,
                                (struct pythia_unpack_limits){0}, out, sizeof(out), &size, &why),
                         PYTHIA_EFORMAT);
        assert_non_null(strstr(why.sentence, "broken"));
    }
}

/* One byte less than there is, exactly as much, one more; packed or not. */
static void content_has_a_limit(void **state)
{
    for (int packing = PYTHIA_PACKING_NONE; packing <= PYTHIA_PACKING_ZSTD; packing++) {
        pack(packing ? (enum pythia_packing)packing : PYTHIA_PACKING_GZIP);
        const char *bytes = packing ? p.bytes : p.content;
        size_t size = packing ? p.size : CONTENT, got;
        for (int more = -1; more <= 1; more++) {
            struct pythia_error why = {0};
            struct pythia_unpack_limits limits = {.content_max = (uint64_t)(CONTENT + more)};
            int status = unpack(bytes, size, 0, (enum pythia_packing)packing, limits, out,
                                sizeof(out), &got, &why);
            assert_int_equal(status, more < 0 ? PYTHIA_ELIMIT : PYTHIA_OK);
        }
    }
}

static void packings_have_names(void **state)
{
    assert_int_equal(pythia_packing_named(NULL), PYTHIA_PACKING_NONE);
    assert_int_equal(pythia_packing_named(""), PYTHIA_PACKING_NONE);
    assert_int_equal(pythia_packing_named("identity"), PYTHIA_PACKING_NONE);
    assert_int_equal(pythia_packing_named("GZIP"), PYTHIA_PACKING_GZIP);
    assert_int_equal(pythia_packing_named("zstd"), PYTHIA_PACKING_ZSTD);
    assert_int_equal(pythia_packing_named("br"), PYTHIA_PACKINGS);
}

static void a_failed_allocation_is_told(void **state)
{
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "body", "", 0);
    for (long n = 0; n < 2; n++) {
        struct pythia_unpack *u = NULL;
        struct pythia_error why = {0};
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_unpack_create(&memory.source, PYTHIA_PACKING_GZIP,
                                              &(struct pythia_unpack_limits){0}, &u, &why),
                         PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_null(u);
    }
    pythia_unpack_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_comes_out_as_it_went_in),
        cmocka_unit_test(members_one_behind_the_other_are_one_content),
        cmocka_unit_test(data_that_are_cut_off_or_broken_are_told),
        cmocka_unit_test(content_has_a_limit),
        cmocka_unit_test(packings_have_names),
        cmocka_unit_test(a_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
