#include "saved_search.h"

#include <inttypes.h>

#include "chosen.h"
#include "pythia/live_snapshot.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define SECOND         UINT64_C(1000000000)
#define PACE_NS        SECOND
#define BYTES_A_SECOND 262144
#define REPORT_NS      (10 * SECOND) /* to wait for a report, which finds the keys of verdicts */

/* Cycles of a verdict without a key after each of which a report is made to find it. Later ones add
 * no request to a report, so that a type whose requests go with no key costs none any more. */
#define KEY_CYCLES 3

/* ---- going on ---- */

int pythia__saved_search_show(struct pythia__switching *w, struct pythia_text verdicts)
{
    struct pythia_verdicts read = {0};
    int status =
        verdicts.size > 0 ? pythia_verdicts_load(&read, w->e->vocabulary, verdicts) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_loop_resume(&w->e->search_log, w->e->live, &read);
out:
    pythia_verdicts_free(&read);
    return status;
}

static size_t count_found(const struct pythia_verdicts *v)
{
    size_t found = 0;
    for (size_t i = 0; i < v->count; i++)
        found += v->list[i].state == PYTHIA_VERDICT_FOUND;
    return found;
}

static void log_restored(const struct pythia__switching *w, uint64_t unix_ns)
{
    uint64_t now = pythia__unix_ns();
    pythia_log(PYTHIA_LOG_INFO,
               "Goes on with the search of the state: cycle=%" PRIu64
               ", request-types=%zu, found=%zu, saved-seconds-ago=%" PRIu64,
               w->saved.restored_cycle, pythia_live_last(w->e->live)->problem_count,
               count_found(&w->e->search_log.verdicts),
               now > unix_ns ? (now - unix_ns) / SECOND : 0);
}

/* Not to start because of it would be worse than to search anew. */
static void log_refused(struct pythia__switching *w, int status, const struct pythia_error *why)
{
    if (status == PYTHIA_EFORMAT) {
        bool aside = pythia_state_put_search_aside(w->e->state) == PYTHIA_OK;
        pythia_log(PYTHIA_LOG_WARNING,
                   "The search of the state cannot be read, and a new one begins: reason=%s, "
                   "put-aside=%s",
                   why->sentence, aside ? "search.broken" : "no");
        return;
    }
    pythia_log(PYTHIA_LOG_WARNING,
               "The search of the state cannot go on, and a new one begins: "
               "reason=%s",
               why->sentence[0] ? why->sentence : pythia_status_text(status));
}

bool pythia__saved_search_exists(struct pythia__switching *w)
{
    struct pythia_buf texts = {0};
    struct pythia_state_search saved;
    bool exists = pythia_state_get_search(w->e->state, &texts, &saved) == PYTHIA_OK &&
                  saved.snapshot.size > 0;
    pythia_buf_free(&texts);
    return exists;
}

static size_t count_bytes(const struct pythia_state_search *s)
{
    return s->snapshot.size + s->verdicts.size + s->instances.size;
}

bool pythia__saved_search_restore(struct pythia__switching *w)
{
    struct pythia_buf texts = {0};
    struct pythia_state_search saved;
    struct pythia_error why = {0};
    int status = pythia_state_get_search(w->e->state, &texts, &saved);
    if (status == PYTHIA_OK)
        status = pythia_live_snapshot_restore(w->e->live, saved.snapshot, &why);
    if (status == PYTHIA_OK)
        status = pythia__chosen_restore(w, saved.instances);
    if (status != PYTHIA_OK) {
        log_refused(w, status, &why);
        goto out;
    }
    /* Without its verdicts, or the memory for them, the search finds them again. */
    int shown = pythia__saved_search_show(w, saved.verdicts);
    if (shown != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_WARNING,
                   "The verdicts of the state cannot be read; the search finds them again: "
                   "reason=%s",
                   pythia_status_text(shown));
    w->saved.cycle = w->saved.restored_cycle = pythia_live_last(w->e->live)->number;
    w->saved.bytes = count_bytes(&saved);
    w->saved.unix_ns = saved.unix_ns;
    w->saved.whole = true;
    log_restored(w, saved.unix_ns);
out:
    pythia_buf_free(&texts);
    return status == PYTHIA_OK;
}

/* ---- writing ---- */

/* A search that has become too large stays in the state as it was when it still fitted. */
static void note_too_large(struct pythia__saved_search *s, size_t bytes)
{
    if (!s->told_large)
        pythia_log(PYTHIA_LOG_WARNING,
                   "The search is too large for the state, where it stays as it was after an "
                   "earlier cycle: bytes=%zu, limit=%zu, cycle=%" PRIu64,
                   bytes, PYTHIA_STATE_SEARCH_MAX, s->cycle);
    s->told_large = true;
}

/* The texts of what is saved, from the engine as it is now. */
static int make_texts(const struct pythia__switching *w, struct pythia_buf texts[3])
{
    int status = pythia_live_snapshot_save(w->e->live, &texts[0]);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_verdicts_save(&w->e->search_log.verdicts, w->e->vocabulary, &texts[1]);
    return status == PYTHIA_OK ? pythia__chosen_save(w, &texts[2]) : status;
}

static void write_search(struct pythia__switching *w)
{
    struct pythia__saved_search *s = &w->saved;
    struct pythia_buf texts[3] = {{0}};
    int status = make_texts(w, texts);
    const struct pythia_state_search saved = {.snapshot = pythia_buf_text(&texts[0]),
                                              .verdicts = pythia_buf_text(&texts[1]),
                                              .instances = pythia_buf_text(&texts[2]),
                                              .unix_ns = pythia__unix_ns()};
    size_t bytes = count_bytes(&saved);
    s->next_ns = pythia__engine_now(w->e) + PACE_NS + bytes * SECOND / BYTES_A_SECOND;
    s->keys = pythia__reporting_keys(w->e->reporting);
    if (status == PYTHIA_OK)
        status = pythia_state_put_search(w->e->state, &saved);
    s->writes += status == PYTHIA_OK;
    s->failures += status != PYTHIA_OK;
    if (status == PYTHIA_OK) {
        s->due = s->told_large = false;
        s->cycle = pythia_live_last(w->e->live)->number;
        s->unix_ns = saved.unix_ns;
        s->bytes = bytes;
    } else if (status == PYTHIA_ELIMIT) {
        s->due = false;
        note_too_large(s, bytes);
    } /* else it is tried again, and a state that cannot be written says so itself */
    for (size_t i = 0; i < 3; i++)
        pythia_buf_free(&texts[i]);
}

/* A cycle without enough requests of any type teaches nothing, and a search that is saved after it
 * would say "too few requests" at the next start. */
static bool has_enough(const struct pythia__switching *w, const struct pythia_cycle *c)
{
    for (size_t i = 0; i < c->problem_count; i++)
        if (c->problems[i].requests >= (uint64_t)w->e->s.min_requests)
            return true;
    return false;
}

static bool lacks_key(const struct pythia_verdicts *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->list[i].state == PYTHIA_VERDICT_FOUND && !v->list[i].key &&
            v->list[i].looks <= KEY_CYCLES)
            return true;
    return false;
}

/* The keys are in the verdicts by then. */
static void ignore_report(void *context, int status, const char *bytes, size_t size)
{
    (void)context;
    (void)status;
    (void)bytes;
    (void)size;
}

void pythia__saved_search_cycle(struct pythia__switching *w, const struct pythia_live_cycle *cycle)
{
    struct pythia__saved_search *s = &w->saved;
    if (!s->is_kept || !pythia_live_has_snapshot(w->e->live) ||
        pythia_live_numbers(w->e->live).paused)
        return;
    s->whole = has_enough(w, &cycle->decisions);
    if (s->whole && !s->due)
        s->due_ns = pythia__engine_now(w->e);
    s->due = s->due || s->whole;
    /* Nothing but a report finds keys, and what is written without one would lack it. */
    if (s->whole && lacks_key(&w->e->search_log.verdicts))
        pythia__reporting_ask(w->e->reporting, PYTHIA__REPORT_VERDICTS, 0, ignore_report, NULL);
}

void pythia__saved_search_tick(struct pythia__switching *w, uint64_t now)
{
    struct pythia__saved_search *s = &w->saved;
    /* A report that somebody asked for has found a key since. */
    if (s->is_kept && s->whole && !s->due && s->cycle > 0 &&
        s->keys != pythia__reporting_keys(w->e->reporting)) {
        s->due = true;
        s->due_ns = now;
    }
    bool reports = pythia__reporting_is_busy(w->e->reporting) && now - s->due_ns < REPORT_NS;
    /* While the state cannot be written, others try again (pythia__switching_mend): that is less
     * work than to make all of this for nothing. */
    if (s->due && s->whole && now >= s->next_ns && !reports &&
        !pythia_state_is_degraded(w->e->state))
        write_search(w);
}

/* The verdicts may have got their keys since the last write, by a report that was asked for. */
void pythia__saved_search_stop(struct pythia__switching *w)
{
    if (w->saved.is_kept && w->saved.whole && pythia_live_has_snapshot(w->e->live))
        write_search(w);
}
