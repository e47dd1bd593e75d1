/* Trace points of programs with LTTng-UST. A point of the plane is a point of the rules: the event
 * that begins its span and the one that ends it. Both are enabled in a session of our own, which a
 * reader follows by the relay daemon (lttng_feed.h).
 *
 * What LTTng says is not believed. It enables events that no program has, and switches while the
 * relay daemon is gone and all events are lost; with the session daemon the sessions end, and
 * programs register anew after some seconds. So a thread of the plane asks four times a second
 * which events are enabled and which programs have, and the reader says whether the session can be
 * followed. What is not as it should be is done again. The thread also waits for the session
 * daemon, which the plane's callers must not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lttng/lttng_feed.h"
#include "lttng/lttng_library.h"
#include "lttng/lttng_session.h"
#include "pythia/log.h"
#include "pythia/lttng_events.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/wishes.h"
#include "shared/guard.h"
#include "shared/planes.h"

#define PASS_NS      UINT64_C(250000000)   /* between looks at what LTTng has */
#define RETRY_NS     UINT64_C(1000000000)  /* between sessions that cannot be had */
#define PAUSE_MAX_NS UINT64_C(60000000000) /* between sessions that cannot be read */
#define FOLLOW_NS    UINT64_C(5000000000)  /* in which a new session must be followed */
#define ABSENT_NS                                                                                  \
    UINT64_C(30000000000) /* after which events that no program has are offered no more */
#define UNKNOWN_NS                                                                                 \
    UINT64_C(10000000000) /* after the first event of a program, when others are named */
#define PRESENT_NS                                                                                 \
    UINT64_C(3000000000) /* for which an event of a program is believed to be there */
#define OFF_NS    UINT64_C(500000000)
#define END_NS    UINT64_C(2000000000)
#define NAMES_MAX 8 /* of events, in a message */

struct settings {
    const char *rules, *relay;
};

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("rules", 0, "FILE", offsetof(struct settings, rules),
                       "which events become spans"),
    {"relay", 0, PYTHIA_OPTION_TEXT, "HOST[:CONTROL:DATA:LIVE]", "localhost", NULL, 0, 0,
     offsetof(struct settings, relay), "where lttng-relayd listens"},
    {0},
};

struct event {
    bool wanted, enabled, refused;
    uint64_t there_ns; /* when a program last had it; 0: none had */
};

struct lttng {
    struct pythia_control control;
    struct pythia_lttng_feed *feed;
    const struct pythia_lttng_rules *rules; /* the feed's */
    struct pythia__lttng_relay relay;
    char **ids; /* "SERVICE:NAME" of each point; owned */
    struct pythia_wishes wishes;
    uint64_t version;
    struct pythia__guard *guard;           /* NULL: not needed yet, or it could not be had */
    char prefix[PYTHIA__LTTNG_NAME_BYTES]; /* of our sessions: the guard destroys them */
    uint64_t lease_ns;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    struct event *events;   /* owned: two of each point */
    uint64_t wish, seen;    /* number of the last change, and of that which the thread acted upon */
    uint64_t until_ns;      /* when the lease ends; 0: there is none yet */
    bool off, stopping, up; /* up: there is a session, and it is followed */
    /* of the thread */
    struct event *work; /* owned: as the thread has them */
    struct pythia__lttng_session session;
    uint64_t number, tried_ns, opened_ns, first_ns, pass_ns;
    uint64_t pause_ns; /* before the next session; 0: the last one could be read */
    bool cleaned, followed, unknown_told;
    char told[2][320]; /* the last troubles that were logged; "": there is none */
};

static uint64_t read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static size_t count_points(const struct lttng *l)
{
    return pythia_lttng_rules_of(l->rules)->point_count;
}

/* ---- the thread ---- */

/* Log a trouble, once. A try may leave liblttng-ctl with a broken connection, so that every other
 * one fails for that reason. */
static void tell_trouble(struct lttng *l, const char *why)
{
    if (strcmp(l->told[0], why) == 0 || strcmp(l->told[1], why) == 0)
        return;
    memcpy(l->told[1], l->told[0], sizeof(l->told[0]));
    snprintf(l->told[0], sizeof(l->told[0]), "%s", why);
    pythia_log(PYTHIA_LOG_WARNING,
               "Trace points of LTTng cannot be opened, and it is tried again: relay=%s:%u, "
               "reason=%s",
               l->relay.host, l->relay.control, why);
}

static void end_session(struct lttng *l)
{
    pythia__lttng_session_close(&l->session);
    (void)pythia__lttng_feed_follow(l->feed, l->number, "");
    l->followed = false;
    for (size_t i = 0; i < 2 * count_points(l); i++)
        l->work[i].enabled = l->work[i].refused = false;
}

/* Remove what pythiads that were killed have left, once. */
static bool clean_sessions(struct lttng *l)
{
    struct pythia_error why = {0};
    size_t count = 0;
    if (l->cleaned)
        return true;
    if (pythia__lttng_sessions_clean(&count, &why) != PYTHIA_OK) {
        tell_trouble(l, why.sentence);
        return false;
    }
    if (count > 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "Destroyed sessions of LTTng that a pythiad has left: count=%zu", count);
    return l->cleaned = true;
}

static void begin_session(struct lttng *l, uint64_t now_ns)
{
    struct pythia_error why = {0};
    struct pythia_buf url = {0};
    uint64_t pause_ns = l->pause_ns > RETRY_NS ? l->pause_ns : RETRY_NS;
    if (l->session.handle || (l->tried_ns && now_ns - l->tried_ns < pause_ns))
        return;
    l->tried_ns = now_ns;
    if (!clean_sessions(l))
        return;
    if (pythia__lttng_session_open(&l->relay, ++l->number, &l->session, &why) != PYTHIA_OK) {
        tell_trouble(l, why.sentence);
        return;
    }
    l->opened_ns = now_ns;
    pythia__lttng_session_url(&l->session, &l->relay, &url);
    if (!url.bytes || pythia__lttng_feed_follow(l->feed, l->number, url.bytes) != PYTHIA_OK)
        end_session(l);
    pythia_buf_free(&url);
}

/* What comes of a session cannot be read, and that of the next may be as bad: it is begun later
 * each time. */
static void begin_pause(struct lttng *l, uint64_t now_ns)
{
    l->pause_ns = l->pause_ns ? 2 * l->pause_ns : RETRY_NS;
    if (l->pause_ns > PAUSE_MAX_NS)
        l->pause_ns = PAUSE_MAX_NS;
    l->tried_ns = now_ns;
}

/* Is the session followed? One that is not for some seconds, or no more, is replaced. */
static bool is_followed(struct lttng *l, uint64_t now_ns)
{
    char why[320];
    if (!l->session.handle)
        return false;
    enum pythia__lttng_feed_state state = pythia__lttng_feed_look(l->feed, l->number, now_ns, why);
    bool follows = state == PYTHIA__LTTNG_FEED_FOLLOWS;
    if (follows && !l->followed)
        pythia_log(PYTHIA_LOG_INFO, "Follows a session of LTTng: session=%s, relay=%s:%u",
                   l->session.name, l->relay.host, l->relay.live);
    if (follows && now_ns - l->opened_ns > PAUSE_MAX_NS)
        l->pause_ns = 0;
    if (follows)
        l->told[0][0] = l->told[1][0] = '\0';
    else if (state == PYTHIA__LTTNG_FEED_HANGS)
        tell_trouble(l, "the relay daemon does not answer");
    else if (state == PYTHIA__LTTNG_FEED_BROKEN || state == PYTHIA__LTTNG_FEED_LOST ||
             now_ns - l->opened_ns > FOLLOW_NS) {
        tell_trouble(l, why);
        end_session(l);
        if (state == PYTHIA__LTTNG_FEED_BROKEN)
            begin_pause(l, now_ns);
    }
    l->followed = follows;
    return follows;
}

struct look {
    struct lttng *l;
    uint64_t now_ns;
};

static void note_enabled(void *context, const char *name)
{
    const struct look *look = context;
    bool done;
    size_t point = pythia_lttng_rules_find(look->l->rules, name, &done);
    if (point != SIZE_MAX)
        look->l->work[2 * point + done].enabled = true;
}

static void note_there(void *context, const char *name)
{
    const struct look *look = context;
    bool done;
    size_t point = pythia_lttng_rules_find(look->l->rules, name, &done);
    if (point != SIZE_MAX)
        look->l->work[2 * point + done].there_ns = look->now_ns;
}

/* Ask which events are enabled, and which programs have. */
static void look_at_events(struct lttng *l, uint64_t now_ns)
{
    struct pythia_error why = {0};
    struct look look = {l, now_ns};
    for (size_t i = 0; i < 2 * count_points(l); i++)
        l->work[i].enabled = false;
    if (l->session.handle &&
        pythia__lttng_session_events(&l->session, note_enabled, &look, &why) != PYTHIA_OK) {
        tell_trouble(l, why.sentence);
        end_session(l);
        l->cleaned = false; /* the session daemon may be another one */
        return;
    }
    if (pythia__lttng_session_events(NULL, note_there, &look, &why) != PYTHIA_OK)
        tell_trouble(l, why.sentence);
}

/* Name the events of rules that no program has though programs have others: a name may be wrong. */
static void tell_unknown(struct lttng *l, uint64_t now_ns)
{
    struct pythia_buf names = {0};
    size_t unknown = 0;
    bool any = false;
    for (size_t i = 0; i < 2 * count_points(l); i++)
        any |= l->work[i].there_ns != 0;
    if (any && l->first_ns == 0)
        l->first_ns = now_ns;
    if (l->unknown_told || l->first_ns == 0 || now_ns - l->first_ns < UNKNOWN_NS)
        return;
    l->unknown_told = true;
    for (size_t i = 0; i < 2 * count_points(l); i++) {
        char name[PYTHIA_LTTNG_EVENT_BYTES];
        if (l->work[i].there_ns || !pythia_lttng_rules_has_events(l->rules, i / 2))
            continue;
        pythia_lttng_rules_event(l->rules, i / 2, i % 2, name);
        if (unknown++ < NAMES_MAX)
            pythia_buf_printf(&names, "%s%s", unknown > 1 ? " " : "", name);
    }
    if (unknown > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "No program has these events of the rules ('lttng list --userspace' shows those "
                   "that there are): count=%zu, events=%s%s",
                   unknown, names.bytes ? names.bytes : "", unknown > NAMES_MAX ? " ..." : "");
    pythia_buf_free(&names);
}

static void switch_events(struct lttng *l)
{
    bool switching = false;
    for (size_t i = 0; i < 2 * count_points(l) && l->session.handle; i++) {
        struct event *event = &l->work[i];
        struct pythia_error why = {0};
        char name[PYTHIA_LTTNG_EVENT_BYTES];
        if (event->wanted == event->enabled)
            continue;
        pythia_lttng_rules_event(l->rules, i / 2, i % 2, name);
        if (!switching)
            pythia__lttng_feed_switch(l->feed, true);
        switching = true;
        bool done =
            pythia__lttng_session_switch(&l->session, name, event->wanted, &why) == PYTHIA_OK;
        if (done)
            event->enabled = event->wanted;
        else if (!event->refused)
            pythia_log(PYTHIA_LOG_WARNING, "LTTng refuses a switch: event=%s, reason=%s", name,
                       why.sentence);
        event->refused = !done;
    }
    if (switching)
        pythia__lttng_feed_switch(l->feed, false);
}

/* One pass: what is wanted is brought about, as far as it can be. */
static void reconcile(struct lttng *l, bool off)
{
    uint64_t now_ns = read_clock();
    if (off) {
        if (l->session.handle)
            pythia__lttng_feed_switch(l->feed, true);
        end_session(l);
        return;
    }
    begin_session(l, now_ns);
    if (l->pass_ns == 0 || now_ns - l->pass_ns >= PASS_NS) {
        l->pass_ns = now_ns;
        look_at_events(l, now_ns);
        tell_unknown(l, now_ns);
    }
    switch_events(l);
}

/* Take over what is wanted: nothing without a lease. The rest of an event is the thread's. */
static void take_wanted(struct lttng *l)
{
    bool is_leased = read_clock() < l->until_ns;
    for (size_t i = 0; i < 2 * count_points(l); i++)
        l->work[i].wanted = is_leased && l->events[i].wanted;
}

static void give_result(struct lttng *l, uint64_t wish, bool up)
{
    for (size_t i = 0; i < 2 * count_points(l); i++) {
        bool wanted = l->events[i].wanted;
        l->events[i] = l->work[i];
        l->events[i].wanted = wanted;
    }
    l->seen = wish;
    l->up = up;
    pthread_cond_broadcast(&l->changed);
}

static void wait_for_change(struct lttng *l, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    while (l->seen == l->wish && !l->stopping &&
           pthread_cond_timedwait(&l->changed, &l->lock, &until) == 0)
        continue;
}

static void *run_plane(void *context)
{
    struct lttng *l = context;
    pthread_mutex_lock(&l->lock);
    while (!l->stopping) {
        uint64_t wish = l->wish;
        bool off = l->off;
        take_wanted(l);
        pthread_mutex_unlock(&l->lock);
        reconcile(l, off);
        bool up = is_followed(l, read_clock());
        pthread_mutex_lock(&l->lock);
        give_result(l, wish, up);
        wait_for_change(l, read_clock() + PASS_NS);
    }
    pthread_mutex_unlock(&l->lock);
    end_session(l);
    return NULL;
}

/* ---- making and ending it ---- */

static void free_lttng(struct lttng *l)
{
    for (size_t i = 0; l->ids && i < count_points(l); i++)
        pythia_free(l->ids[i]);
    pythia_free(l->ids);
    pythia_free(l->events);
    pythia_free(l->work);
    pythia_wishes_free(&l->wishes);
    pythia_lttng_feed_release(l->feed);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    pythia_free(l);
}

/* A thread that waits for a session daemon which does not answer is left to the end of the process,
 * with what it uses. */
static void destroy_lttng(struct pythia_control *c)
{
    struct lttng *l = (struct lttng *)c;
    bool is_stuck = false;
    if (!l)
        return;
    if (l->has_thread) {
        struct timespec until;
        pthread_mutex_lock(&l->lock);
        l->stopping = true;
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (time_t)(END_NS / 1000000000);
        is_stuck = pthread_timedjoin_np(l->thread, NULL, &until) != 0;
        pythia__guard_leave(l->guard, !is_stuck);
        if (is_stuck) {
            pythia_log(PYTHIA_LOG_WARNING,
                       "The session daemon of LTTng does not answer, so that a session may be left "
                       "behind until the lease ends: session=%s",
                       l->session.name);
            pthread_detach(l->thread);
            return;
        }
    }
    free_lttng(l);
}

static int make_tables(struct lttng *l)
{
    const struct pythia_probe_rules *rules = pythia_lttng_rules_of(l->rules);
    l->events = pythia_calloc(2 * rules->point_count, sizeof(*l->events));
    l->work = pythia_calloc(2 * rules->point_count, sizeof(*l->work));
    l->ids = pythia_calloc(rules->point_count, sizeof(*l->ids));
    if (!l->events || !l->work || !l->ids)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < rules->point_count; i++) {
        struct pythia_buf id = {0};
        pythia_buf_printf(&id, "%s:%s", rules->service, rules->points[i].name);
        l->ids[i] = id.bytes;
        if (pythia_buf_status(&id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

static int start_thread(struct lttng *l)
{
    if (pthread_create(&l->thread, NULL, run_plane, l) != 0)
        return PYTHIA_ENOMEM;
    l->has_thread = true;
    return PYTHIA_OK;
}

static struct lttng *allocate_lttng(void)
{
    struct lttng *l = pythia_calloc(1, sizeof(*l));
    pthread_condattr_t attributes;
    if (!l)
        return NULL;
    l->control.ops = &pythia__control_lttng;
    l->lease_ns = PYTHIA_CONTROL_LEASE_NS;
    pythia__lttng_session_prefix(l->prefix);
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return l;
}

static int create_lttng(const void *settings, struct pythia_control **out, struct pythia_error *e)
{
    const struct settings *s = settings;
    struct pythia_lttng_rules *rules = NULL;
    struct pythia__lttng_relay relay;
    if (!s->rules)
        return pythia_error_set(e, PYTHIA_EUSAGE, "a file of rules is needed");
    int status = pythia__lttng_relay_parse(s->relay, &relay, e);
    if (status != PYTHIA_OK || (status = pythia__lttng_library_load(e)) != PYTHIA_OK ||
        (status = pythia_lttng_events_load(e)) != PYTHIA_OK ||
        (status = pythia_lttng_rules_read(s->rules, &rules, e)) != PYTHIA_OK)
        return status;
    struct lttng *l = allocate_lttng();
    if (!l) {
        pythia_lttng_rules_free(rules);
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    }
    l->relay = relay;
    status = pythia__lttng_feed_create(rules, &l->feed);
    if (status == PYTHIA_OK) {
        l->rules = pythia__lttng_feed_rules(l->feed);
        status = make_tables(l);
    }
    if (status == PYTHIA_OK)
        status = start_thread(l);
    if (status != PYTHIA_OK) {
        free_lttng(l);
        return pythia_error_set(e, status, "%s", pythia_status_text(status));
    }
    *out = &l->control;
    return PYTHIA_OK;
}

struct pythia_lttng_feed *pythia_control_lttng_feed(struct pythia_control *c)
{
    return pythia__lttng_feed_share(((struct lttng *)c)->feed);
}

/* ---- what a plane is asked ---- */

/* A program that ends is expected again for some time. The lock is held. */
static bool is_offered(const struct lttng *l, size_t point, uint64_t now_ns)
{
    const struct event *events = &l->events[2 * point];
    return events[0].there_ns && events[1].there_ns && now_ns < events[0].there_ns + ABSENT_NS &&
           now_ns < events[1].there_ns + ABSENT_NS;
}

/* In the guard's process. Of liblttng-ctl it may have a connection that is no longer there, at
 * which the first call fails. */
static void destroy_own_sessions(void *context)
{
    const struct lttng *l = context;
    struct pythia_error why = {0};
    for (int i = 0; i < 2; i++)
        if (pythia__lttng_sessions_destroy(l->prefix, &why) == PYTHIA_OK)
            return;
}

/* The sessions of LTTng have no lease, so that a guard ends ours. It is forked now, while there is
 * little to copy. */
static void set_lttng_lease(struct pythia_control *c, uint64_t lease_ns)
{
    struct lttng *l = (struct lttng *)c;
    l->lease_ns = lease_ns;
    if (!l->guard && pythia__guard_start(destroy_own_sessions, l, &l->guard) != PYTHIA_OK)
        l->guard = NULL; /* apply tries again, and says so */
}

/* A hit of a point is two events. What they cost is measured where they follow each other. */
static int list_events(struct pythia_control *c,
                       int (*each)(void *context, const struct pythia_control_point *point),
                       void *context)
{
    struct lttng *l = (struct lttng *)c;
    const struct pythia_probe_rules *rules = pythia_lttng_rules_of(l->rules);
    uint64_t now_ns = read_clock();
    double price_ns = 2 * pythia__lttng_feed_price(l->feed);
    int status = PYTHIA_OK;
    for (size_t i = 0; i < rules->point_count && status >= 0; i++) {
        const struct pythia_control_point out = {.id = pythia_text_of(l->ids[i]),
                                                 .target = pythia_text_of(rules->service),
                                                 .price_ns = price_ns,
                                                 .layer = rules->points[i].layer};
        pthread_mutex_lock(&l->lock);
        bool offered = is_offered(l, i, now_ns);
        pthread_mutex_unlock(&l->lock);
        if (offered)
            status = each(context, &out);
    }
    return status < 0 ? status : PYTHIA_OK;
}

static int apply_lttng(struct pythia_control *c, const struct pythia_control_wish *wishes,
                       size_t count, uint64_t version, uint64_t now_ns, struct pythia_error *e)
{
    struct lttng *l = (struct lttng *)c;
    struct pythia_wishes copy;
    (void)now_ns;
    set_lttng_lease(c, l->lease_ns);
    if (!l->guard)
        return pythia_error_set(e, PYTHIA_EIO, "there is nobody to watch the lease: fork failed");
    if (pythia_wishes_copy(wishes, count, &copy) != PYTHIA_OK)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    pythia_wishes_free(&l->wishes);
    l->wishes = copy;
    l->version = version;
    pythia__guard_renew(l->guard, l->lease_ns);
    pthread_mutex_lock(&l->lock);
    bool changed = read_clock() >= l->until_ns;
    l->until_ns = read_clock() + l->lease_ns;
    for (size_t i = 0; i < count_points(l); i++) {
        bool wanted = pythia_lttng_rules_has_events(l->rules, i) &&
                      pythia_wishes_find(&l->wishes, pythia_text_of(l->ids[i])) != PYTHIA_NO_WISH;
        changed |= l->events[2 * i].wanted != wanted;
        l->events[2 * i].wanted = l->events[2 * i + 1].wanted = wanted;
    }
    l->wish += changed;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return PYTHIA_OK;
}

/* The lock is held. An event that no program has any more is lost, though LTTng says that it is
 * enabled; and so is one of which the session daemon says nothing any more. */
static enum pythia_control_result judge_point(const struct lttng *l, size_t point, uint64_t now_ns)
{
    const struct event *events = &l->events[2 * point];
    bool wanted = events[0].wanted;
    if (l->seen != l->wish)
        return PYTHIA_CONTROL_PENDING;
    if (wanted && (!l->up || l->off))
        return PYTHIA_CONTROL_LOST;
    for (int i = 0; i < 2 && wanted; i++)
        if (now_ns > events[i].there_ns + PRESENT_NS)
            return PYTHIA_CONTROL_LOST;
    if (events[0].refused || events[1].refused)
        return PYTHIA_CONTROL_REFUSED;
    return events[0].enabled == wanted && events[1].enabled == wanted ? PYTHIA_CONTROL_APPLIED
                                                                      : PYTHIA_CONTROL_PENDING;
}

static size_t find_point(const struct lttng *l, struct pythia_text id)
{
    size_t i = 0;
    while (i < count_points(l) && !pythia_text_equal(pythia_text_of(l->ids[i]), id))
        i++;
    return i;
}

static int observe_lttng(struct pythia_control *c, uint64_t unused_ns,
                         int (*each)(void *context, struct pythia_text id,
                                     struct pythia_text target, enum pythia_control_result result,
                                     uint64_t version),
                         void *context)
{
    struct lttng *l = (struct lttng *)c;
    const struct pythia_text target = pythia_text_of(pythia_lttng_rules_of(l->rules)->service);
    uint64_t now_ns = read_clock();
    int status = PYTHIA_OK;
    (void)unused_ns;
    for (size_t i = 0; i < count_points(l) && status >= 0; i++) {
        pthread_mutex_lock(&l->lock);
        bool offered = is_offered(l, i, now_ns);
        enum pythia_control_result result = judge_point(l, i, now_ns);
        pthread_mutex_unlock(&l->lock);
        if (offered)
            status = each(context, pythia_text_of(l->ids[i]), target, result,
                          result == PYTHIA_CONTROL_APPLIED ? l->version : 0);
    }
    for (size_t i = 0; i < l->wishes.count && status >= 0; i++) {
        struct pythia_text id = l->wishes.wishes[i].id;
        size_t point = find_point(l, id);
        pthread_mutex_lock(&l->lock);
        bool offered = point < count_points(l) && is_offered(l, point, now_ns);
        pthread_mutex_unlock(&l->lock);
        if (!offered)
            status = each(context, id, PYTHIA_TEXT(""), PYTHIA_CONTROL_REFUSED, 0);
    }
    return status < 0 ? status : PYTHIA_OK;
}

/* Without a session nothing is recorded. */
static int switch_off_lttng(struct pythia_control *c, bool off, uint64_t now_ns,
                            struct pythia_error *e)
{
    struct lttng *l = (struct lttng *)c;
    uint64_t until_ns = read_clock() + OFF_NS;
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    (void)now_ns;
    pthread_mutex_lock(&l->lock);
    uint64_t wish = ++l->wish;
    l->off = off;
    pthread_cond_broadcast(&l->changed);
    while (off && l->seen < wish && pthread_cond_timedwait(&l->changed, &l->lock, &until) == 0)
        continue;
    bool done = !off || l->seen >= wish;
    pthread_mutex_unlock(&l->lock);
    return done ? PYTHIA_OK
                : pythia_error_set(e, PYTHIA_EIO, "the session daemon of LTTng does not answer");
}

/* Each event is switched by itself, by a call that waits for its programs. */
static uint64_t estimate_lttng_latency_ns(const struct pythia_control *c)
{
    const struct lttng *l = (const struct lttng *)c;
    return UINT64_C(1000000000) + 2 * count_points(l) * UINT64_C(10000000);
}

const struct pythia_control_ops pythia__control_lttng = {
    .name = "lttng",
    .help = "events of programs with LTTng-UST, through lttng-sessiond and lttng-relayd",
    .options = options,
    .settings_size = sizeof(struct settings),
    .create = create_lttng,
    .destroy = destroy_lttng,
    .set_lease = set_lttng_lease,
    .inventory = list_events,
    .apply = apply_lttng,
    .observe = observe_lttng,
    .off = switch_off_lttng,
    .latency_ns = estimate_lttng_latency_ns,
};
