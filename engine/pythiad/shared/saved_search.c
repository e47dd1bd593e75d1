#include "saved_search.h"

#include <inttypes.h>

#include "engine.h"
#include "pythia/live_snapshot.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define SECOND         UINT64_C(1000000000)
#define PACE_NS        SECOND
#define BYTES_A_SECOND 262144
#define REPORT_NS (10 * SECOND) /* a report that finds the keys of verdicts is waited for as long */

/* ---- going on ---- */

int pythia__saved_search_show(struct pythia__engine *e, struct pythia_text verdicts)
{
    struct pythia_verdicts read = {0};
    size_t count;
    const struct pythia_problem *problems = pythia_live_problems(e->live, &count);
    int status = verdicts.size > 0 ? pythia_verdicts_load(&read, e->vocabulary, verdicts)
                                   : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_loop_resume(&e->search_log, problems, count, &read);
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

static void log_restored(const struct pythia__engine *e, uint64_t unix_ns)
{
    uint64_t now = pythia__unix_ns();
    size_t types;
    pythia_live_problems(e->live, &types);
    pythia_log(PYTHIA_LOG_INFO,
               "Goes on with the search of the state: cycle=%" PRIu64
               ", request-types=%zu, found=%zu, saved-seconds-ago=%" PRIu64,
               e->saved.restored_cycle, types, count_found(&e->search_log.verdicts),
               now > unix_ns ? (now - unix_ns) / SECOND : 0);
}

/* Not to start because of it would be worse than to search anew. */
static void log_refused(struct pythia__engine *e, int status, const struct pythia_error *why)
{
    if (status == PYTHIA_EFORMAT) {
        bool aside = pythia_state_put_search_aside(e->state) == PYTHIA_OK;
        pythia_log(PYTHIA_LOG_WARNING,
                   "The search of the state cannot be read, and a new one begins: reason=%s, "
                   "put-aside=%s",
                   why->sentence, aside ? "search.broken" : "no");
        return;
    }
    pythia_log(PYTHIA_LOG_WARNING, "The search of the state cannot go on, and a new one begins: "
                                   "reason=%s",
               why->sentence[0] ? why->sentence : pythia_status_text(status));
}

bool pythia__saved_search_exists(struct pythia__engine *e)
{
    struct pythia_buf snapshot = {0}, verdicts = {0};
    uint64_t unix_ns;
    bool exists =
        pythia_state_get_search(e->state, &snapshot, &verdicts, &unix_ns) == PYTHIA_OK &&
        snapshot.size > 0;
    pythia_buf_free(&snapshot);
    pythia_buf_free(&verdicts);
    return exists;
}

bool pythia__saved_search_restore(struct pythia__engine *e)
{
    struct pythia_buf snapshot = {0}, verdicts = {0};
    struct pythia_error why = {0};
    uint64_t unix_ns = 0;
    int status = pythia_state_get_search(e->state, &snapshot, &verdicts, &unix_ns);
    if (status == PYTHIA_OK)
        status = pythia_live_snapshot_restore(e->live, pythia_buf_text(&snapshot), &why);
    if (status != PYTHIA_OK) {
        log_refused(e, status, &why);
        goto out;
    }
    /* Without its verdicts, or the memory for them, the search finds them again. */
    int shown = pythia__saved_search_show(e, pythia_buf_text(&verdicts));
    if (shown != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_WARNING,
                   "The verdicts of the state cannot be read; the search finds them again: "
                   "reason=%s",
                   pythia_status_text(shown));
    e->saved.cycle = e->saved.restored_cycle = pythia_live_last_cycle(e->live);
    e->saved.bytes = snapshot.size + verdicts.size;
    e->saved.unix_ns = unix_ns;
    e->saved.whole = true;
    log_restored(e, unix_ns);
out:
    pythia_buf_free(&snapshot);
    pythia_buf_free(&verdicts);
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

static void write_search(struct pythia__engine *e)
{
    struct pythia__saved_search *s = &e->saved;
    struct pythia_buf snapshot = {0}, verdicts = {0};
    uint64_t now = pythia__engine_now(e), unix_ns = pythia__unix_ns();
    int status = pythia_live_snapshot_save(e->live, &snapshot);
    if (status == PYTHIA_OK)
        status = pythia_verdicts_save(&e->search_log.verdicts, e->vocabulary, &verdicts);
    size_t bytes = snapshot.size + verdicts.size;
    s->next_ns = now + PACE_NS + bytes * SECOND / BYTES_A_SECOND;
    if (status == PYTHIA_OK)
        status = pythia_state_put_search(e->state, pythia_buf_text(&snapshot),
                                         pythia_buf_text(&verdicts), unix_ns);
    s->writes += status == PYTHIA_OK;
    s->failures += status != PYTHIA_OK;
    if (status == PYTHIA_OK) {
        s->due = s->told_large = false;
        s->cycle = pythia_live_last_cycle(e->live);
        s->unix_ns = unix_ns;
        s->bytes = bytes;
    } else if (status == PYTHIA_ELIMIT) {
        s->due = false;
        note_too_large(s, bytes);
    } /* else it is tried again, and a state that cannot be written says so itself */
    pythia_buf_free(&snapshot);
    pythia_buf_free(&verdicts);
}

/* A cycle without enough requests of any type teaches nothing, and a search that is saved after it
 * would say "too few requests" at the next start. */
static bool has_enough(const struct pythia__engine *e, const struct pythia_cycle *c)
{
    for (size_t i = 0; i < c->problem_count; i++)
        if (c->problems[i].requests >= (uint64_t)e->s.min_requests)
            return true;
    return false;
}

void pythia__saved_search_cycle(struct pythia__engine *e, const struct pythia_live_cycle *cycle)
{
    struct pythia__saved_search *s = &e->saved;
    if (!s->is_kept || !pythia_live_has_snapshot(e->live) || pythia_live_numbers(e->live).paused)
        return;
    s->whole = has_enough(e, &cycle->decisions);
    if (s->whole && !s->due)
        s->due_ns = pythia__engine_now(e);
    s->due = s->due || s->whole;
}

void pythia__saved_search_tick(struct pythia__engine *e, uint64_t now)
{
    const struct pythia__saved_search *s = &e->saved;
    bool reports = pythia__reporting_is_busy(e->reporting) && now - s->due_ns < REPORT_NS;
    if (s->due && s->whole && now >= s->next_ns && !reports)
        write_search(e);
}

/* The verdicts may have got their keys since the last write, by a report that was asked for. */
void pythia__saved_search_stop(struct pythia__engine *e)
{
    if (e->saved.is_kept && e->saved.whole && pythia_live_has_snapshot(e->live))
        write_search(e);
}
