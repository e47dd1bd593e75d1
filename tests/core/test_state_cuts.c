#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/state.h"
#include "pythia/status.h"
#include "state_case.h"

/* ---- power cuts ---- */

#define DECISIONS 12

/* A run of decisions as the disk has it: the file, its log behind each decision, what they say. */
struct run {
    struct pythia_buf file, log;
    size_t log_size[DECISIONS + 1];
    char told[DECISIONS + 1][256];
};

static void make_run(const struct place *place, struct run *r)
{
    char wal[128];
    struct stat about;
    struct pythia_state *s = opened(place->state);
    snprintf(wal, sizeof(wal), "%s-wal", place->state);
    pythia_state_close(s); /* which writes the log into the file: it holds the schema */
    s = opened(place->state);
    for (int n = 0; n <= DECISIONS; n++) {
        if (n > 0)
            assert_int_equal(decide(s, n), PYTHIA_OK);
        r->log_size[n] = stat(wal, &about) == 0 ? (size_t)about.st_size : 0;
        tell(s, r->told[n]);
    }
    read_file(place->state, &r->file);
    read_file(wal, &r->log);
    assert_int_equal(r->log.size, r->log_size[DECISIONS]);
    pythia_state_close(s);
}

static void free_run(struct run *r)
{
    pythia_buf_free(&r->file);
    pythia_buf_free(&r->log);
}

/* Open a copy of which the log is `log_size` long: it says what some decision left, none before
 * `least`, and can be written. */
static void check_copy(const struct place *place, const struct run *r, size_t log_size, int least)
{
    char wal[128], told[256];
    snprintf(wal, sizeof(wal), "%s-wal", place->copy);
    remove_all(place->copy);
    write_file(place->copy, r->file.bytes, r->file.size);
    write_file(wal, r->log.bytes, log_size);
    struct pythia_state *s = opened(place->copy);
    tell(s, told);
    int is = DECISIONS;
    while (is > least && strcmp(told, r->told[is]) != 0)
        is--;
    if (strcmp(told, r->told[is]) != 0)
        print_error("cut at %zu: '%s', wanted '%s' or later\n", log_size, told, r->told[least]);
    assert_string_equal(told, r->told[is]);
    assert_int_equal(decide(s, 2), PYTHIA_OK);
    pythia_state_close(s);
}

/* The power goes while the log is written: at any byte of it, every decision whose write was done
 * is there, and nothing of the one that was under way. */
/* Fault 4. */
static void a_log_cut_at_each_byte_loses_at_most_the_last_decision(void **state)
{
    struct place place;
    struct run r = {0};
    make_place(&place);
    make_run(&place, &r);
    int done = 0;
    for (size_t cut = 0; cut <= r.log.size; cut++) {
        while (done < DECISIONS && cut >= r.log_size[done + 1])
            done++;
        /* All bytes around what matters, and some of the middle of pages. */
        size_t frame = cut > 32 ? (cut - 32) % 4120 : cut;
        if (frame > 40 && frame < 4100 && cut % 509 != 0 && cut + 40 < r.log.size)
            continue;
        check_copy(&place, &r, cut, done);
    }
    assert_int_equal(done, DECISIONS);
    free_run(&r);
    remove_place(&place);
}

/* A page of the log that was not written as a whole, although its end was. */
static void a_log_with_a_torn_page_keeps_what_is_before_it(void **state)
{
    struct place place;
    struct run r = {0};
    make_place(&place);
    make_run(&place, &r);
    for (size_t at = 32; at < r.log.size; at += 4120 / 3) {
        char kept = r.log.bytes[at];
        int done = 0;
        while (done < DECISIONS && r.log_size[done + 1] <= at)
            done++;
        r.log.bytes[at] = (char)~kept;
        check_copy(&place, &r, r.log.size, done);
        r.log.bytes[at] = kept;
    }
    free_run(&r);
    remove_place(&place);
}

/* A file that is cut, as no power cut does it: it opens, as what it was or begun anew. */
static void a_file_cut_at_each_page_opens(void **state)
{
    struct place place;
    struct run r = {0};
    make_place(&place);
    make_run(&place, &r);
    pythia_log_setup("test", PYTHIA_LOG_ERROR);
    for (size_t cut = 0; cut <= r.file.size; cut += cut < 200 ? 1 : 997) {
        remove_all(place.copy);
        write_file(place.copy, r.file.bytes, cut);
        struct pythia_state *s = opened(place.copy);
        assert_int_equal(pythia_state_put_pin(s, point(4), 1), PYTHIA_OK);
        assert_int_equal(pins_of(s).pin[4], 1);
        pythia_state_close(s);
    }
    free_run(&r);
    remove_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_cut_at_each_byte_loses_at_most_the_last_decision),
        cmocka_unit_test(a_log_with_a_torn_page_keeps_what_is_before_it),
        cmocka_unit_test(a_file_cut_at_each_page_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
