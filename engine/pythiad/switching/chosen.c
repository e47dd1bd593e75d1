#include "chosen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pythia/attributes.h"
#include "pythia/control_http.h"
#include "pythia/hash.h"
#include "pythia/json_text.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define AGAIN_NS  UINT64_C(10000000000) /* between attempts to choose: resources become known */
#define RETURN_NS UINT64_C(30000000000) /* in which an instance reports after a start of pythiad */

static struct pythia__chosen *find_chosen(const struct pythia__switching *w, uint32_t service)
{
    for (size_t i = 0; i < w->chosen_count; i++)
        if (w->chosen[i].service == service)
            return &w->chosen[i];
    return NULL;
}

/* The service as one that may have instances. NULL when out of memory. */
static struct pythia__chosen *meet_service(struct pythia__switching *w, uint32_t service)
{
    struct pythia__chosen *c = find_chosen(w, service);
    if (c)
        return c;
    if (pythia_grow(&w->chosen, &w->chosen_capacity, w->chosen_count, sizeof(*w->chosen)) !=
        PYTHIA_OK)
        return NULL;
    c = &w->chosen[w->chosen_count++];
    *c = (struct pythia__chosen){.service = service};
    return c;
}

static struct pythia__chosen *find_chosen_of(const struct pythia__switching *w, uint32_t tracepoint)
{
    uint32_t service = pythia_vocabulary_tracepoint_at(w->e->vocabulary, tracepoint)->service;
    return service ? find_chosen(w, service) : NULL;
}

int pythia__chosen_note(struct pythia__switching *w, const struct pythia_controlled *point)
{
    uint32_t service = pythia_vocabulary_string_find(w->e->vocabulary, point->target);
    if (service == PYTHIA_NONE)
        return PYTHIA_OK;
    struct pythia__chosen *c = meet_service(w, service);
    if (!c)
        return PYTHIA_ENOMEM;
    if (pythia_control_named(point->plane)->by_instance)
        c->instances = point->instances;
    else
        c->one_switch = true;
    return PYTHIA_OK;
}

/* ---- an instance, by the name of its agent and by the resource of its spans ---- */

/* Cut off the part of an agent's name up to the next colon. */
static struct pythia_text take_name_part(struct pythia_text *rest)
{
    const char *colon = rest->size ? memchr(rest->bytes, ':', rest->size) : NULL;
    struct pythia_text part = {rest->bytes, colon ? (size_t)(colon - rest->bytes) : rest->size};
    size_t used = part.size + (colon != NULL);
    *rest = (struct pythia_text){rest->bytes + used, rest->size - used};
    return part;
}

static bool has_pid(const struct pythia_vocabulary *v, struct pythia_text attributes,
                    struct pythia_text pid)
{
    struct pythia_attribute found;
    char text[24];
    uint32_t key = pythia_vocabulary_string_find(v, PYTHIA_TEXT("process.pid"));
    if (key == PYTHIA_NONE || !pythia_attributes_find(attributes, key, &found) ||
        found.kind != PYTHIA_ATTRIBUTE_INTEGER)
        return false;
    snprintf(text, sizeof(text), "%lld", (long long)found.integer);
    return pythia_text_equal(pythia_text_of(text), pid);
}

/* HOST:PID:NUMBER is the process with that host.name and process.pid; any name is also that of the
 * process with this service.instance.id. */
static bool is_instance(const struct pythia_vocabulary *v, struct pythia_text name,
                        const struct pythia_resource *r)
{
    struct pythia_text rest = name, host = take_name_part(&rest), pid = take_name_part(&rest);
    if (r->instance && pythia_text_equal(pythia_vocabulary_text(v, r->instance), name))
        return true;
    return r->host && pid.size > 0 && pythia_text_equal(pythia_vocabulary_text(v, r->host), host) &&
           has_pid(v, r->attributes, pid);
}

/* `host` empty: any. */
static bool has_resource(const struct pythia_vocabulary *v, uint32_t service,
                         struct pythia_text host, struct pythia_text name)
{
    uint32_t count = pythia_vocabulary_numbers(v).resources;
    for (uint32_t i = 0; i < count; i++) {
        struct pythia_resource r = pythia_vocabulary_resource_at(v, i);
        if (r.service == service && is_instance(v, name, &r) &&
            (host.size == 0 || pythia_text_equal(pythia_vocabulary_text(v, r.host), host)))
            return true;
    }
    return false;
}

/* ---- choosing ---- */

/* The best one so far: the smallest hash, so that not all services choose the first host. */
struct choosing {
    const struct pythia_vocabulary *vocabulary;
    uint32_t service;
    struct pythia_text host;         /* it has to be on; empty: on any */
    size_t count;                    /* instances on it that could be chosen */
    struct pythia_text best, wanted; /* wanted: is it still there? */
    uint64_t best_hash;
    bool there;
};

static int compare_with_chosen(void *context, struct pythia_text instance)
{
    struct choosing *c = context;
    c->there = c->there || pythia_text_equal(instance, c->wanted);
    return PYTHIA_OK;
}

static int offer_instance(void *context, struct pythia_text instance)
{
    struct choosing *c = context;
    uint64_t hash = pythia_hash_bytes(instance.bytes, instance.size);
    if (!has_resource(c->vocabulary, c->service, c->host, instance))
        return PYTHIA_OK;
    c->count++;
    if (c->best.size > 0 && hash >= c->best_hash)
        return PYTHIA_OK;
    c->best = instance;
    c->best_hash = hash;
    return PYTHIA_OK;
}

static void forget_chosen(struct pythia__chosen *c)
{
    pythia_free(c->name);
    pythia_free(c->place);
    c->name = c->place = NULL;
}

/* The place that only this instance has: any host, and its whole name, in which what fnmatch would
 * read as a pattern is escaped. NULL when out of memory. */
static char *make_place(struct pythia_text name)
{
    struct pythia_buf place = {0};
    pythia_buf_putc(&place, '/');
    for (size_t i = 0; i < name.size; i++) {
        if (strchr("*?[\\", name.bytes[i]))
            pythia_buf_putc(&place, '\\');
        pythia_buf_putc(&place, name.bytes[i]);
    }
    char *text =
        pythia_buf_status(&place) == PYTHIA_OK ? pythia_strndup(place.bytes, place.size) : NULL;
    pythia_buf_free(&place);
    return text;
}

/* On a host, if one is given, that has no other one. PYTHIA_OK, also if there is none to choose:
 * then it is as it was if a host is given, and otherwise none is chosen. Or PYTHIA_ENOMEM with none
 * chosen. */
static int choose_instance(struct pythia__switching *w, struct pythia__chosen *c,
                           struct pythia_text host)
{
    struct choosing all = {.vocabulary = w->e->vocabulary, .service = c->service, .host = host};
    struct pythia_text service = pythia_vocabulary_text(w->e->vocabulary, c->service);
    (void)pythia_control_http_instances(w->agents, service, offer_instance, &all);
    if (host.size > 0 && all.count != 1)
        return PYTHIA_OK;
    forget_chosen(c);
    c->until_ns = 0;
    c->tried_ns = pythia__engine_now(w->e);
    if (all.best.size == 0)
        return PYTHIA_OK;
    c->name = pythia_strndup(all.best.bytes, all.best.size);
    c->place = make_place(all.best);
    if (c->name && c->place)
        return PYTHIA_OK;
    forget_chosen(c);
    return PYTHIA_ENOMEM;
}

uint32_t pythia__chosen_count(void *switching, uint32_t tracepoint)
{
    struct pythia__switching *w = switching;
    struct pythia__chosen *c = find_chosen_of(w, tracepoint);
    if (!c || c->one_switch || c->instances < 2 || w->e->s.observe_only)
        return 1;
    uint64_t now = pythia__engine_now(w->e);
    if (!c->name && (c->tried_ns == 0 || now - c->tried_ns >= AGAIN_NS))
        (void)choose_instance(w, c, PYTHIA_TEXT("")); /* without memory: later */
    return c->name ? (uint32_t)c->instances : 1;
}

/* Is any point open at one instance of the service only? */
static bool is_used(const struct pythia__switching *w, const struct pythia__chosen *c)
{
    uint32_t points = pythia_vocabulary_tracepoints(w->e->vocabulary);
    for (uint32_t point = 0; point < points; point++)
        if (pythia_live_is_open(w->e->live, point) && pythia_live_part(w->e->live, point) > 1 &&
            find_chosen_of(w, point) == c)
            return true;
    return false;
}

/* Is the chosen instance on the host? */
static bool is_on_host(const struct pythia__switching *w, const struct pythia__chosen *c,
                       struct pythia_text host)
{
    return c->name && has_resource(w->e->vocabulary, c->service, host, pythia_text_of(c->name));
}

bool pythia__chosen_prefer(void *switching, uint32_t tracepoint, struct pythia_text host)
{
    struct pythia__switching *w = switching;
    struct pythia__chosen *c = find_chosen_of(w, tracepoint);
    if (!c || c->one_switch || w->e->s.observe_only)
        return false;
    /* Points that are open at another instance would have to move. */
    if (!is_on_host(w, c, host) && !is_used(w, c))
        (void)choose_instance(w, c, host);
    return is_on_host(w, c, host);
}

bool pythia__chosen_is(void *switching, uint32_t resource)
{
    const struct pythia__switching *w = switching;
    struct pythia_resource r = pythia_vocabulary_resource_at(w->e->vocabulary, resource);
    const struct pythia__chosen *c = find_chosen(w, r.service);
    return !c || !c->name || is_instance(w->e->vocabulary, pythia_text_of(c->name), &r);
}

struct pythia_text pythia__chosen_place(const struct pythia__switching *w, uint32_t tracepoint)
{
    const struct pythia__chosen *c = find_chosen_of(w, tracepoint);
    return c && c->place ? pythia_text_of(c->place) : PYTHIA_TEXT("");
}

int pythia__chosen_look(struct pythia__switching *w)
{
    for (size_t i = 0; i < w->chosen_count; i++) {
        struct pythia__chosen *c = &w->chosen[i];
        if (!c->name)
            continue;
        struct choosing still = {.wanted = pythia_text_of(c->name)};
        struct pythia_text service = pythia_vocabulary_text(w->e->vocabulary, c->service);
        (void)pythia_control_http_instances(w->agents, service, compare_with_chosen, &still);
        if (still.there)
            c->until_ns = 0;
        if (still.there || pythia__engine_now(w->e) < c->until_ns)
            continue;
        bool used = is_used(w, c);
        int status = choose_instance(w, c, PYTHIA_TEXT(""));
        if (used)
            pythia_log(PYTHIA_LOG_INFO,
                       "An instance with open trace points is gone, and another one takes its "
                       "place: service=%.*s, instance=%s",
                       (int)service.size, service.bytes, c->name ? c->name : "none");
        if (status == PYTHIA_OK && used)
            status = pythia_live_choose_again(w->e->live);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

void pythia__chosen_name(const struct pythia__switching *w, struct pythia_verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->count; i++) {
        struct pythia_verdict *v = &verdicts->list[i];
        const struct pythia__chosen *c = v->part > 1 ? find_chosen_of(w, v->part_point) : NULL;
        if (v->part < 2 || (c && c->name))
            v->instance = 0;
        if (c && c->name) {
            uint32_t name = pythia_vocabulary_string(w->e->vocabulary, pythia_text_of(c->name));
            v->instance = name == PYTHIA_NONE ? 0 : name; /* without memory it has no name */
        }
    }
}

/* ---- over a restart ---- */

int pythia__chosen_save(const struct pythia__switching *w, struct pythia_buf *out)
{
    json_t *all = json_object();
    for (size_t i = 0; all && i < w->chosen_count; i++) {
        struct pythia_text service = pythia_vocabulary_text(w->e->vocabulary, w->chosen[i].service);
        if (w->chosen[i].name && is_used(w, &w->chosen[i]) &&
            json_object_setn_new(all, service.bytes, service.size,
                                 json_string(w->chosen[i].name)) != 0) {
            json_decref(all);
            return PYTHIA_ENOMEM;
        }
    }
    int status = pythia_json_put(out, all, JSON_COMPACT, "");
    json_decref(all);
    return status;
}

static int restore_chosen(struct pythia__switching *w, const char *service, const json_t *name)
{
    uint32_t number = pythia_vocabulary_string(w->e->vocabulary, pythia_text_of(service));
    struct pythia__chosen *c = number == PYTHIA_NONE ? NULL : meet_service(w, number);
    if (!c)
        return PYTHIA_ENOMEM;
    if (c->name || json_string_length(name) == 0)
        return PYTHIA_OK;
    struct pythia_text text = {json_string_value(name), json_string_length(name)};
    c->name = pythia_strndup(text.bytes, text.size);
    c->place = make_place(text);
    c->until_ns = pythia__engine_now(w->e) + RETURN_NS;
    if (c->name && c->place)
        return PYTHIA_OK;
    forget_chosen(c);
    return PYTHIA_ENOMEM;
}

int pythia__chosen_restore(struct pythia__switching *w, struct pythia_text saved)
{
    json_t *all = saved.size > 0 ? json_loadb(saved.bytes, saved.size, 0, NULL) : NULL, *name;
    const char *service;
    int status = PYTHIA_OK;
    json_object_foreach (all, service, name)
        if ((status = restore_chosen(w, service, name)) != PYTHIA_OK)
            break;
    json_decref(all);
    return status;
}

void pythia__chosen_free(struct pythia__switching *w)
{
    for (size_t i = 0; i < w->chosen_count; i++)
        forget_chosen(&w->chosen[i]);
    pythia_free(w->chosen);
}
