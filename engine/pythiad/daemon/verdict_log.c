#include "verdict_log.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "daemon.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/reporting.h"

/* A verdict whose confidence has risen without another change. */
struct rise {
    size_t index; /* of the verdict */
    enum pythia_confidence from, to;
    const char *reason; /* static */
};

struct waiting {
    struct pythia__daemon *d;
    uint64_t cycle;
    size_t rise_count;
    struct rise rises[];
};

static const char *get_verdict_text(const json_t *verdict, const char *member)
{
    const char *text = json_string_value(json_object_get(verdict, member));
    return text ? text : "";
}

static bool is_found(const json_t *verdict)
{
    return strcmp(get_verdict_text(verdict, "state"), "found") == 0 ||
           strcmp(get_verdict_text(verdict, "was"), "found") == 0;
}

/* A search that begins again is reported with its reason; its verdict names nothing yet. */
static bool is_begun_again(const json_t *verdict)
{
    const char *reason = get_verdict_text(verdict, "reason");
    return strcmp(reason, pythia_verdict_reason_name(PYTHIA_VERDICT_AGAIN)) == 0 ||
           strcmp(reason, pythia_verdict_reason_name(PYTHIA_VERDICT_RETRY)) == 0;
}

static void announce_verdict(const struct waiting *w, const json_t *verdict)
{
    const char *change = get_verdict_text(verdict, "change");
    pythia_log(PYTHIA_LOG_INFO,
               "Verdict: request-type=%s, cycle=%" PRIu64 ", confidence=%s, verdict=%s%s%s",
               get_verdict_text(verdict, "request_type"), w->cycle,
               is_found(verdict) ? get_verdict_text(verdict, "confidence") : "none",
               get_verdict_text(verdict, "sentence"), change[0] ? " " : "", change);
    if (!is_found(verdict))
        return;
    pythia__notify_verdict(w->d->notify, verdict,
                           strcmp(get_verdict_text(verdict, "state"), "found") != 0,
                           pythia__unix_ns());
}

static void announce_rise(const struct waiting *w, const struct rise *r, const json_t *verdict)
{
    const char *to = pythia_confidence_name(r->to);
    if (strcmp(get_verdict_text(verdict, "confidence"), to) != 0) /* a later cycle has changed it */
        return;
    pythia_log(PYTHIA_LOG_INFO,
               "Verdict: request-type=%s, cycle=%" PRIu64 ", confidence=%s, verdict=%s Its "
               "confidence rose from %s in cycle %" PRIu64 ": %s.",
               get_verdict_text(verdict, "request_type"), w->cycle, to,
               get_verdict_text(verdict, "sentence"), pythia_confidence_name(r->from), w->cycle,
               r->reason);
}

static void announce_verdicts(void *context, int status, const char *bytes, size_t size)
{
    struct waiting *w = context;
    json_t *verdicts = status == PYTHIA_OK ? json_loadb(bytes, size, 0, NULL) : NULL, *one;
    size_t i;
    json_array_foreach (verdicts, i, one) {
        uint64_t since = (uint64_t)json_integer_value(json_object_get(one, "since_cycle"));
        if (since == w->cycle && (is_found(one) || is_begun_again(one)))
            announce_verdict(w, one);
    }
    for (i = 0; i < w->rise_count; i++)
        announce_rise(w, &w->rises[i], json_array_get(verdicts, w->rises[i].index));
    json_decref(verdicts);
    pythia_free(w);
}

static bool has_risen(const struct pythia_verdict *v, uint64_t cycle)
{
    return v->state == PYTHIA_VERDICT_FOUND && v->raised == cycle;
}

void pythia__verdict_log_cycle(struct pythia__daemon *d)
{
    const struct pythia_verdicts *all = &d->engine.search_log.verdicts;
    size_t rises = 0;
    bool changed = false;
    if (d->engine.search_log.problem_count == 0) /* it is paused: there is no new verdict */
        return;
    for (size_t i = 0; i < all->count; i++) {
        const struct pythia_verdict *v = &all->list[i];
        bool reported = v->state == PYTHIA_VERDICT_FOUND || v->was == PYTHIA_VERDICT_FOUND ||
                        v->reason == PYTHIA_VERDICT_AGAIN || v->reason == PYTHIA_VERDICT_RETRY;
        changed = changed || (reported && v->since == d->cycle && v->looks == 1);
        rises += has_risen(v, d->cycle);
    }
    struct waiting *w =
        changed || rises > 0 ? pythia_calloc(1, sizeof(*w) + rises * sizeof(w->rises[0])) : NULL;
    if (!w)
        return;
    w->d = d;
    w->cycle = d->cycle;
    for (size_t i = 0; i < all->count; i++) {
        const struct pythia_verdict *v = &all->list[i];
        if (has_risen(v, d->cycle))
            w->rises[w->rise_count++] =
                (struct rise){i, v->raised_from, v->highest, pythia_verdict_confidence_reason(v)};
    }
    pythia__reporting_ask(d->engine.reporting, PYTHIA__REPORT_VERDICTS, 0, announce_verdicts, w);
}
