/* A search that is saved, and restored by an engine that begins, as after a restart: it ends like
 * one that went on all the time, and what is broken, foreign or of other settings is refused. */
#include "obey.h"
#include "pythia/closed_loop.h"
#include "pythia/live_shared.h"
#include "pythia/live_snapshot.h"

#define CYCLES 10

static const struct pythia_live_options usual = {
    .window = {.quiet_ns = MS},
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 80,
    .learn_requests = 10,
    .shared = {.settings = "points=3, seed=1"},
};

/* An engine and what its owner logs of it. */
struct run {
    struct stream s;
    struct pythia_loop log;
    size_t opened;
};

static struct run *run_of(struct stream *s)
{
    return (struct run *)(void *)s; /* the stream is its first member */
}

static void log_cycle(struct stream *s, const struct pythia_live_cycle *cycle)
{
    struct run *r = run_of(s);
    r->opened += s->seen[s->cycles - 1].opened;
    assert_int_equal(pythia_loop_tell(&r->log, cycle, 100, 1 << 20), PYTHIA_OK);
}

static void begin_run(struct run *r, const struct pythia_live_options *o)
{
    *r = (struct run){.opened = 0};
    stream_begin(&r->s);
    r->s.look = log_cycle;
    stream_attach(&r->s, NULL, o);
}

static void end_run(struct run *r)
{
    pythia_loop_free(&r->log);
    stream_end(&r->s);
}

struct saved {
    struct pythia_buf snapshot, verdicts;
    uint64_t number, now_ms;
};

static void save_run(const struct run *r, struct saved *to)
{
    *to = (struct saved){.number = r->s.number, .now_ms = r->s.now_ms};
    assert_true(pythia_live_has_snapshot(r->s.live));
    assert_int_equal(pythia_live_snapshot_save(r->s.live, &to->snapshot), PYTHIA_OK);
    assert_int_equal(pythia_verdicts_save(&r->log.verdicts, r->s.vocabulary, &to->verdicts),
                     PYTHIA_OK);
}

static void free_saved(struct saved *saved)
{
    pythia_buf_free(&saved->snapshot);
    pythia_buf_free(&saved->verdicts);
}

/* A new engine, in a process with a vocabulary of its own, which had the points of its pins before.
 */
static void restore_run(struct run *r, const struct saved *from)
{
    struct pythia_error e = {0};
    struct pythia_verdicts verdicts = {0};
    begin_run(r, &usual);
    r->s.number = from->number;
    r->s.now_ms = from->now_ms;
    assert_int_equal(pythia_live_know(r->s.live, PYTHIA_TEXT("pinned")), PYTHIA_OK);
    assert_int_equal(pythia_live_snapshot_restore(r->s.live, pythia_buf_text(&from->snapshot), &e),
                     PYTHIA_OK);
    assert_int_equal(
        pythia_verdicts_load(&verdicts, r->s.vocabulary, pythia_buf_text(&from->verdicts)),
        PYTHIA_OK);
    assert_int_equal(pythia_loop_resume(&r->log, r->s.live, &verdicts), PYTHIA_OK);
    stream_applied(&r->s);
}

static const struct pythia_verdict *verdict_of(const struct run *r)
{
    assert_int_equal(r->log.verdicts.count, 1);
    return &r->log.verdicts.list[0];
}

/* The first place that was found, as text. */
static const char *place_of(const struct run *r)
{
    static char text[256];
    struct pythia_buf place = {0};
    assert_true(verdict_of(r)->found_count > 0);
    pythia_place_add(&place, r->s.vocabulary, &verdict_of(r)->found[0].finding.place);
    snprintf(text, sizeof(text), "%s", place.bytes);
    pythia_buf_free(&place);
    return text;
}

static void an_engine_restarted_after_any_cycle_ends_as_one_that_was_not(void **state)
{
    static const char *const points[] = {"A", "C0", "C5", "D0", "D4", "D5", "D6", "D7"};
    struct run stayed;
    begin_run(&stayed, &usual);
    stream_run(&stayed.s, CYCLES, stream_varied);
    assert_int_equal(verdict_of(&stayed)->state, PYTHIA_VERDICT_FOUND);
    assert_string_equal(place_of(&stayed), "inside D5");
    assert_int_equal(verdict_of(&stayed)->found_count, 1);
    for (size_t cut = 2; cut < CYCLES; cut++) {
        struct run first, second;
        struct saved saved;
        begin_run(&first, &usual);
        stream_run(&first.s, cut, stream_varied);
        save_run(&first, &saved);
        restore_run(&second, &saved);
        /* It learns nothing again. */
        assert_false(pythia_live_numbers(second.s.live).learning);
        assert_int_equal(pythia_live_last(second.s.live)->number,
                         first.s.seen[first.s.cycles - 1].number);
        stream_run(&second.s, CYCLES - cut, stream_varied);

        assert_int_equal(verdict_of(&second)->state, PYTHIA_VERDICT_FOUND);
        assert_string_equal(place_of(&second), "inside D5");
        assert_int_equal(verdict_of(&second)->found_count, 1);
        assert_int_equal(verdict_of(&second)->since, verdict_of(&stayed)->since);
        assert_int_equal(verdict_of(&second)->changes, verdict_of(&stayed)->changes);
        /* Neither more points were opened in all, nor are others open. */
        assert_int_equal(first.opened + second.opened, stayed.opened);
        for (size_t p = 0; p < sizeof(points) / sizeof(points[0]); p++)
            assert_int_equal(stream_is_open(&second.s, points[p]),
                             stream_is_open(&stayed.s, points[p]));
        /* Nor did it need more cycles or requests, but for those of the cycle in progress. */
        assert_int_equal(second.s.seen[second.s.cycles - 1].number,
                         stayed.s.seen[CYCLES - 1].number);
        assert_true(second.s.number <= stayed.s.number + usual.cycle_requests);
        end_run(&first);
        end_run(&second);
        free_saved(&saved);
    }
    end_run(&stayed);
}

/* The owner shows it before any request has come, and does not hear of it as if it were new. */
static void a_verdict_stands_from_the_first_moment_and_stays(void **state)
{
    struct run first, second;
    struct saved saved;
    begin_run(&first, &usual);
    stream_run(&first.s, CYCLES, stream_varied);
    save_run(&first, &saved);
    restore_run(&second, &saved);
    const struct pythia_verdict was = *verdict_of(&first), *is = verdict_of(&second);
    assert_int_equal(is->state, PYTHIA_VERDICT_FOUND);
    assert_string_equal(place_of(&second), "inside D5");
    assert_int_equal(is->since, was.since);
    assert_int_equal(is->since_unix_ns, was.since_unix_ns);
    assert_int_equal(is->confidence, was.confidence);
    stream_run(&second.s, 6, stream_varied);
    stream_run(&first.s, CYCLES + 6, stream_varied);
    assert_int_equal(verdict_of(&second)->state, PYTHIA_VERDICT_FOUND);
    assert_int_equal(verdict_of(&second)->since, was.since);
    assert_int_equal(verdict_of(&second)->looks, verdict_of(&first)->looks);
    assert_int_equal(verdict_of(&second)->changes, was.changes);
    for (size_t c = 0; c < second.log.cycle_count; c++)
        assert_int_equal(second.log.cycles[c].found_count, 0);
    end_run(&first);
    end_run(&second);
    free_saved(&saved);
}

/* A point that showed nothing is not opened again. */
static void what_was_excluded_stays_excluded(void **state)
{
    struct run first, second;
    struct saved saved;
    begin_run(&first, &usual);
    stream_run(&first.s, CYCLES, stream_varied);
    save_run(&first, &saved);
    restore_run(&second, &saved);
    assert_int_equal(stream_is_open(&second.s, "D5"), true);
    stream_run(&second.s, 8, stream_varied);
    assert_int_equal(second.opened, 0);
    end_run(&first);
    end_run(&second);
    free_saved(&saved);
}

/* ---- another program after the restart ---- */

static const char *constant(uint64_t number)
{
    (void)number;
    return "A{10 C0{1 D0{10} 1} C1{1 D1{10} 1} C2{1 D2{10} 1} C3{1 D3{10} 1} C4{1 D4{10} 1} "
           "C5{1 D5{10} 1} C6{1 D6{10} 1} C7{1 D7{10} 1} 10}";
}

/* Another release: D5 is gone, and E3 in its place; what differs is in D2 now. */
static const char *released(uint64_t number)
{
    static char text[512];
    snprintf(text, sizeof(text),
             "A{10 C0{1 D0{10} 1} C1{1 D1{10} 1} C2{1 D2{%d} 1} C3{1 D3{10} 1} C4{1 D4{10} 1} "
             "C5{1 E3{10} 1} C6{1 D6{10} 1} C7{1 D7{10} 1} 10}",
             10 + (int)(number * 7 % 10 * 10));
    return text;
}

static bool has_d5(const struct run *r)
{
    const struct pythia_verdict *v = verdict_of(r);
    return v->state == PYTHIA_VERDICT_FOUND && strcmp(place_of(r), "inside D5") == 0;
}

/* How many cycles of other requests it takes until D5 is no longer what was found. Where requests
 * still pass it, evidence has to speak against it for a minute, and those that end later count. */
static size_t cycles_to_refute(struct run *r, const char *(*text)(uint64_t))
{
    size_t first = r->s.cycles, late = 0;
    while (has_d5(r) && late < 20) {
        stream_run(&r->s, r->s.cycles + 1, text);
        late += text == released ||
                r->s.seen[r->s.cycles - 1].end_ms >= r->s.seen[first].begin_ms + 60000;
    }
    return late;
}

static void a_program_that_changed_meanwhile_refutes_the_verdict_as_ever(void **state)
{
    static const char *(*const others[])(uint64_t) = {constant, released};
    for (size_t i = 0; i < 2; i++) {
        struct run stayed, second;
        struct saved saved;
        begin_run(&stayed, &usual);
        stream_run(&stayed.s, CYCLES, stream_varied);
        save_run(&stayed, &saved);
        restore_run(&second, &saved);
        size_t here = cycles_to_refute(&second, others[i]);
        /* The one that stayed has requests of the former program in its cycle in progress. */
        assert_true(here > 0 && here <= 3 && here <= cycles_to_refute(&stayed, others[i]));
        free_saved(&saved);
        end_run(&stayed);
        if (others[i] == released) { /* and the new cause is found */
            stream_run(&second.s, second.s.cycles + 15, released);
            assert_int_equal(verdict_of(&second)->state, PYTHIA_VERDICT_FOUND);
            assert_string_equal(place_of(&second), "inside D2");
        }
        end_run(&second);
    }
}

/* ---- what cannot be restored ---- */

static int restore_text(const struct pythia_live_options *o, struct pythia_text text,
                        struct pythia_error *e)
{
    struct stream s;
    *e = (struct pythia_error){0};
    stream_begin(&s);
    stream_attach(&s, NULL, o);
    int status = pythia_live_snapshot_restore(s.live, text, e);
    stream_end(&s);
    return status;
}

static void save_after(struct pythia_buf *out, size_t cycles)
{
    struct run r;
    struct saved saved;
    begin_run(&r, &usual);
    stream_run(&r.s, cycles, stream_varied);
    save_run(&r, &saved);
    *out = saved.snapshot;
    pythia_buf_free(&saved.verdicts);
    end_run(&r);
}

static void other_settings_are_refused_and_named(void **state)
{
    static const struct {
        const char *settings, *sentence;
    } cases[] = {
        {"points=5, seed=1", "it was made with points=3, and now it is points=5"},
        {"points=3, seed=2", "it was made with seed=1, and now it is seed=2"},
        {"points=3", "it was made with seed=1, and now it is no more settings"},
        {"points=3, seed=1, expect=0", "it was made with no more settings, and now it is expect=0"},
        {NULL, "it was made with points=3, and now it is no more settings"},
    };
    struct pythia_buf text = {0};
    save_after(&text, 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_live_options o = usual;
        struct pythia_error e;
        o.shared.settings = cases[i].settings;
        assert_int_equal(restore_text(&o, pythia_buf_text(&text), &e), PYTHIA_EUSAGE);
        assert_string_equal(e.sentence, cases[i].sentence);
    }
    pythia_buf_free(&text);
}

static void a_snapshot_that_is_cut_or_changed_is_refused_and_crashes_nothing(void **state)
{
    struct pythia_buf text = {0};
    struct pythia_error e;
    save_after(&text, 5);
    for (size_t size = 0; size < text.size; size += size < text.size - 200 ? 37 : 1) {
        assert_int_equal(restore_text(&usual, (struct pythia_text){text.bytes, size}, &e),
                         PYTHIA_EFORMAT);
        assert_true(e.sentence[0] != '\0');
    }
    for (size_t at = 0; at < text.size; at += 41) {
        char was = text.bytes[at];
        text.bytes[at] = was == '7' ? '8' : '7';
        int status = restore_text(&usual, pythia_buf_text(&text), &e);
        assert_true(status == PYTHIA_OK || status == PYTHIA_EFORMAT || status == PYTHIA_EUSAGE);
        text.bytes[at] = was;
    }
    pythia_buf_puts(&text, "x");
    assert_int_equal(restore_text(&usual, pythia_buf_text(&text), &e), PYTHIA_EFORMAT);
    static const char foreign[] = "{\"format\":\"pythia.snapshot/9\"}\n";
    assert_int_equal(restore_text(&usual, pythia_text_of(foreign), &e), PYTHIA_EFORMAT);
    assert_non_null(strstr(e.sentence, "pythia.snapshot/9"));
    pythia_buf_free(&text);
}

static void a_search_of_a_group_is_not_one_of_an_engine_alone_nor_the_reverse(void **state)
{
    struct pythia_live_options member = usual;
    struct pythia_buf text = {0};
    struct pythia_error e;
    member.shared.group = "g";
    save_after(&text, 4);
    assert_int_equal(restore_text(&member, pythia_buf_text(&text), &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "it is of another group");
    char *group = strstr(text.bytes, "\"group\":\"\"");
    assert_non_null(group);
    group[8] = 'g'; /* "group":g", which is no JSON; a group is more than a byte */
    assert_int_equal(restore_text(&usual, pythia_buf_text(&text), &e), PYTHIA_EFORMAT);
    pythia_buf_free(&text);

    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &member);
    assert_int_equal(pythia_live_snapshot_save(s.live, &text), PYTHIA_OK); /* has not begun */
    assert_int_equal(restore_text(&usual, pythia_buf_text(&text), &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "it is of another group");
    stream_end(&s);
    pythia_buf_free(&text);
}

static void a_restored_search_is_not_a_shared_one(void **state)
{
    struct run first, second;
    struct saved saved;
    begin_run(&first, &usual);
    assert_false(pythia_live_has_snapshot(first.s.live)); /* it learns */
    stream_run(&first.s, 4, stream_varied);
    save_run(&first, &saved);
    restore_run(&second, &saved);
    for (int i = 0; i < 200; i++) { /* a member would send its evidence, and decide nothing */
        stream_request(&second.s, stream_varied(second.s.number));
        assert_false(pythia_live_shared_is_due(second.s.live));
    }
    assert_true(second.s.cycles > 0);
    assert_null(pythia_live_shared_settings(second.s.live));
    assert_int_equal(pythia_live_shared_numbers(second.s.live).rounds, 0);
    end_run(&first);
    end_run(&second);
    free_saved(&saved);
}

static void without_memory_a_restore_fails_and_leaks_nothing(void **state)
{
    struct pythia_buf text = {0};
    struct pythia_error e = {0};
    int status = PYTHIA_ENOMEM;
    save_after(&text, 4);
    for (int64_t allowed = 0; status != PYTHIA_OK; allowed++) {
        struct stream s;
        stream_begin(&s);
        stream_attach(&s, NULL, &usual);
        pythia_mem_fail_after(allowed);
        status = pythia_live_snapshot_restore(s.live, pythia_buf_text(&text), &e);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        stream_end(&s);
    }
    pythia_buf_free(&text);
}

/* ---- trace points that no request hits ---- */

/* They were opened once to see whether any type hits them; a restart is no reason to do so again,
 * but for one that turned up since. */
static void points_that_were_sought_are_not_sought_again(void **state)
{
    struct pythia_live_options o = usual;
    struct pythia_buf text = {0};
    struct pythia_error e = {0};
    struct stream first, second;
    o.learn_hourly = 6;
    o.cycle_requests = 40;
    memset(&target, 0, sizeof(target));
    stream_begin(&first);
    stream_attach(&first, NULL, &o);
    assert_int_equal(pythia_live_know(first.live, PYTHIA_TEXT("idle")), PYTHIA_OK);
    obey(&first);
    for (uint64_t i = 0; first.cycles < 4; i++)
        request(&first, stream_varied(i));
    stream_wait(&first, 300 * SECOND);
    for (uint64_t i = 0; i < 200; i++)
        request(&first, stream_varied(i));
    assert_int_equal(pythia_live_snapshot_save(first.live, &text), PYTHIA_OK);

    for (int more = 0; more < 2; more++) {
        memset(&target, 0, sizeof(target));
        stream_begin(&second);
        second.now_ms = first.now_ms;
        second.number = first.number;
        stream_attach(&second, NULL, &o);
        assert_int_equal(pythia_live_snapshot_restore(second.live, pythia_buf_text(&text), &e),
                         PYTHIA_OK);
        assert_int_equal(pythia_live_know(second.live, PYTHIA_TEXT("idle")), PYTHIA_OK);
        if (more)
            assert_int_equal(pythia_live_know(second.live, PYTHIA_TEXT("later")), PYTHIA_OK);
        obey(&second);
        for (uint64_t i = 0; i < 200; i++)
            request(&second, stream_varied(i));
        stream_wait(&second, 300 * SECOND);
        for (uint64_t i = 0; i < 200; i++)
            request(&second, stream_varied(i));
        assert_int_equal(pythia_live_numbers(second.live).seeks, (uint64_t)more);
        stream_end(&second);
    }
    pythia_buf_free(&text);
    stream_end(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_restarted_after_any_cycle_ends_as_one_that_was_not),
        cmocka_unit_test(a_verdict_stands_from_the_first_moment_and_stays),
        cmocka_unit_test(what_was_excluded_stays_excluded),
        cmocka_unit_test(a_program_that_changed_meanwhile_refutes_the_verdict_as_ever),
        cmocka_unit_test(other_settings_are_refused_and_named),
        cmocka_unit_test(a_snapshot_that_is_cut_or_changed_is_refused_and_crashes_nothing),
        cmocka_unit_test(a_search_of_a_group_is_not_one_of_an_engine_alone_nor_the_reverse),
        cmocka_unit_test(a_restored_search_is_not_a_shared_one),
        cmocka_unit_test(without_memory_a_restore_fails_and_leaks_nothing),
        cmocka_unit_test(points_that_were_sought_are_not_sought_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
