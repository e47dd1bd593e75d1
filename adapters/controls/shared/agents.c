/* Points, services and agents are sorted arrays, because lists and their etags must be the same
 * whoever reported first. A list is made anew only when something changed, and its etag says which
 * version an agent has in force. While no point is wished for at some instances only, all instances
 * of a service share its list. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent_state.h"
#include "pythia/hash.h"
#include "pythia/instances.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/sort.h"
#include "pythia/status.h"

int pythia__agents_create(const struct pythia__agents_options *options, struct pythia__agents **out)
{
    struct pythia__agents *a = pythia_calloc(1, sizeof(*a));
    if (!a)
        return PYTHIA_ENOMEM;
    a->options = *options;
    a->set = 1;
    a->lease_ns = PYTHIA_CONTROL_LEASE_NS;
    *out = a;
    return PYTHIA_OK;
}

static void free_service(struct pythia__agents *a, struct pythia__agent_service *s)
{
    for (size_t i = 0; i < s->count; i++) {
        pythia_free(s->points[i]->id.bytes);
        pythia_free(s->points[i]);
    }
    a->point_count -= s->count;
    pythia_free(s->points);
    for (size_t i = 0; i < PYTHIA__AGENT_LISTS; i++)
        pythia_buf_free(&s->lists[i].json);
    pythia_free(s->name.bytes);
    if (s != &a->nobody)
        pythia_free(s);
}

static void free_agent(struct pythia__agent *agent)
{
    pythia_free(agent->instance.bytes);
    pythia_free(agent);
}

void pythia__agents_destroy(struct pythia__agents *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->agent_count; i++)
        free_agent(a->agents[i]);
    for (size_t i = 0; i < a->service_count; i++)
        free_service(a, a->services[i]);
    free_service(a, &a->nobody);
    pythia_wishes_free(&a->wishes);
    pythia_buf_free(&a->types);
    pythia_free(a->agents);
    pythia_free(a->services);
    pythia_free(a);
}

void pythia__agents_set_lease(struct pythia__agents *a, uint64_t lease_ns)
{
    a->set += a->lease_ns != lease_ns;
    a->lease_ns = lease_ns;
}

bool pythia__agents_name(struct pythia_text name, size_t most)
{
    if (name.size == 0 || name.size > most)
        return false;
    for (size_t i = 0; i < name.size; i++)
        if ((unsigned char)name.bytes[i] < ' ' || name.bytes[i] == 0x7f)
            return false;
    return true;
}

/* ---- who there is: arrays in order ---- */

static int compare_point_id(const void *service, size_t index, const void *id)
{
    return pythia_text_compare(((const struct pythia__agent_service *)service)->points[index]->id,
                               *(const struct pythia_text *)id);
}

static size_t point_place(const struct pythia__agent_service *s, struct pythia_text id)
{
    return pythia_sorted_place(s->count, compare_point_id, s, &id);
}

static int compare_service_name(const void *agents, size_t index, const void *name)
{
    return pythia_text_compare(((const struct pythia__agents *)agents)->services[index]->name,
                               *(const struct pythia_text *)name);
}

static size_t service_place(const struct pythia__agents *a, struct pythia_text name)
{
    return pythia_sorted_place(a->service_count, compare_service_name, a, &name);
}

static struct pythia__agent_service *find_service(const struct pythia__agents *a,
                                                  struct pythia_text name)
{
    size_t at = service_place(a, name);
    return at < a->service_count && pythia_text_equal(a->services[at]->name, name) ? a->services[at]
                                                                                   : NULL;
}

/* The key of an agent. */
struct agent_key {
    struct pythia_text service, instance;
};

static int compare_agent_key(const void *agents, size_t index, const void *key)
{
    const struct pythia__agent *agent = ((const struct pythia__agents *)agents)->agents[index];
    const struct agent_key *k = key;
    int order = pythia_text_compare(agent->service->name, k->service);
    return order ? order : pythia_text_compare(agent->instance, k->instance);
}

static size_t agent_place(const struct pythia__agents *a, struct pythia_text service,
                          struct pythia_text instance)
{
    const struct agent_key key = {service, instance};
    return pythia_sorted_place(a->agent_count, compare_agent_key, a, &key);
}

static int make_service(struct pythia__agents *a, struct pythia_text name,
                        struct pythia__agent_service **out)
{
    struct pythia__agent_service *s = pythia_calloc(1, sizeof(*s));
    char *copy = pythia_strndup(name.bytes, name.size);
    if (!s || !copy ||
        pythia_grow(&a->services, &a->service_capacity, a->service_count,
                    sizeof(struct pythia__agent_service *)) != PYTHIA_OK) {
        pythia_free(s);
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    s->name = (struct pythia_text){copy, name.size};
    size_t at = service_place(a, name);
    memmove(a->services + at + 1, a->services + at,
            (a->service_count - at) * sizeof(struct pythia__agent_service *));
    a->services[at] = s;
    a->service_count++;
    *out = s;
    return PYTHIA_OK;
}

int pythia__agents_agent(struct pythia__agents *a, struct pythia_text service,
                         struct pythia_text instance, bool make, struct pythia__agent **out)
{
    size_t at = agent_place(a, service, instance);
    if (at < a->agent_count && pythia_text_equal(a->agents[at]->instance, instance) &&
        pythia_text_equal(a->agents[at]->service->name, service)) {
        *out = a->agents[at];
        return PYTHIA_OK;
    }
    if (!make)
        return PYTHIA_ENOTFOUND;
    if (a->agent_count >= a->options.agents_max)
        return PYTHIA_ELIMIT;
    struct pythia__agent_service *of = find_service(a, service);
    struct pythia__agent *agent = pythia_calloc(1, sizeof(*agent));
    char *copy = pythia_strndup(instance.bytes, instance.size);
    if (!agent || !copy || (!of && make_service(a, service, &of) != PYTHIA_OK) ||
        pythia_grow(&a->agents, &a->agent_capacity, a->agent_count,
                    sizeof(struct pythia__agent *)) != PYTHIA_OK) {
        pythia_free(agent);
        pythia_free(copy);
        return PYTHIA_ENOMEM; /* a service without agents is forgotten like any other */
    }
    *agent = (struct pythia__agent){.service = of, .instance = {copy, instance.size}};
    memmove(a->agents + at + 1, a->agents + at,
            (a->agent_count - at) * sizeof(struct pythia__agent *));
    a->agents[at] = agent;
    a->agent_count++;
    of->agents++;
    *out = agent;
    return PYTHIA_OK;
}

/* Points are in order of id, so that a list and its etag are the same whoever reported them first.
 * Limits apply to new points only: what is known stays. */
int pythia__agents_point(struct pythia__agents *a, struct pythia__agent_service *service,
                         struct pythia_text id, bool make, struct pythia__agent_point **out)
{
    size_t at = point_place(service, id);
    if (at < service->count && pythia_text_equal(service->points[at]->id, id)) {
        *out = service->points[at];
        return PYTHIA_OK;
    }
    if (!make)
        return PYTHIA_ENOTFOUND;
    if (a->point_count >= a->options.points_max || service->count >= a->options.service_points_max)
        return PYTHIA_ELIMIT;
    struct pythia__agent_point *point = pythia_calloc(1, sizeof(*point));
    char *copy = pythia_strndup(id.bytes, id.size);
    if (!point || !copy ||
        pythia_grow(&service->points, &service->capacity, service->count,
                    sizeof(struct pythia__agent_point *)) != PYTHIA_OK) {
        pythia_free(point);
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    *point = (struct pythia__agent_point){.id = {copy, id.size}, .price_ns = NAN};
    memmove(service->points + at + 1, service->points + at,
            (service->count - at) * sizeof(struct pythia__agent_point *));
    service->points[at] = point;
    service->count++;
    service->changes++;
    a->point_count++;
    *out = point;
    return PYTHIA_OK;
}

bool pythia__agents_seen(struct pythia__agents *a, struct pythia_text service,
                         struct pythia_text instance, struct pythia_text etag, uint64_t now_ns)
{
    struct pythia__agent *agent;
    uint64_t high, low;
    if (pythia__agents_agent(a, service, instance, false, &agent) != PYTHIA_OK)
        return false;
    agent->seen_ns = now_ns;
    uint64_t had = agent->applied;
    agent->applied = etag.size == 16 && pythia_text_hex(etag, &high, &low) ? low : 0;
    a->numbers.losses += had && !agent->applied;
    return true;
}

/* A point that was known before a restart is taken without a report, so that the search can go on
 * before the agents come back. */
int pythia__agents_remember(struct pythia__agents *a, struct pythia_text service,
                            struct pythia_text id, uint64_t hits, uint64_t now_ns)
{
    struct pythia__agent_point *point;
    bool own = id.size > service.size + 1 && pythia_text_starts(id, service) &&
               id.bytes[service.size] == ':';
    if (!pythia__agents_name(service, PYTHIA__SERVICE_BYTES) ||
        !pythia__agents_name(id, PYTHIA__ID_BYTES) || (a->options.own_ids && !own))
        return PYTHIA_EFORMAT;
    if (a->point_count >= a->options.points_max)
        return PYTHIA_ELIMIT;
    struct pythia__agent_service *s = find_service(a, service);
    if (!s) {
        int status = make_service(a, service, &s);
        if (status != PYTHIA_OK)
            return status;
    }
    int status = pythia__agents_point(a, s, id, true, &point);
    if (status != PYTHIA_OK)
        return status;
    s->idle_ns = now_ns;
    point->hits = hits;
    return PYTHIA_OK;
}

static uint64_t measure_age_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Agents that have been silent for long are gone, and services in which none was for as long. */
static void forget_silent(struct pythia__agents *a, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->agent_count; i++) {
        struct pythia__agent *agent = a->agents[i];
        if (measure_age_ns(now_ns, agent->seen_ns) < a->options.forget_ns) {
            a->agents[kept++] = agent;
            continue;
        }
        if (--agent->service->agents == 0)
            agent->service->idle_ns = now_ns;
        free_agent(agent);
        a->numbers.forgotten_agents++;
    }
    a->agent_count = kept;
    kept = 0;
    for (size_t i = 0; i < a->service_count; i++) {
        struct pythia__agent_service *s = a->services[i];
        if (s->agents > 0 || measure_age_ns(now_ns, s->idle_ns) < a->options.forget_ns)
            a->services[kept++] = s;
        else
            free_service(a, s);
    }
    a->service_count = kept;
}

/* ---- the list of an instance ---- */

static size_t wish_of(const struct pythia__agents *a, struct pythia__agent_point *point)
{
    if (point->set != a->set) {
        point->wish = pythia_wishes_find(&a->wishes, point->id);
        point->set = a->set;
    }
    return point->wish;
}

static bool has_instance(const struct pythia_text *places, size_t count,
                         struct pythia_text instance)
{
    for (size_t i = 0; i < count; i++)
        if (pythia_instances_has(places[i], instance))
            return true;
    return false;
}

/* Is the wish about this instance? */
static bool is_for(const struct pythia_control_wish *wish, struct pythia_text instance)
{
    return (!wish->at || has_instance(wish->at, wish->at_count, instance)) &&
           !has_instance(wish->except, wish->except_count, instance);
}

enum part { OPEN, OPEN_FOR, CLOSED, NOT_LISTED };

static enum part find_part(const struct pythia__agents *a, struct pythia__agent_point *point,
                           struct pythia_text instance)
{
    size_t first = wish_of(a, point);
    size_t end = first == PYTHIA_NO_WISH ? first : pythia_wishes_end(&a->wishes, first);
    bool some = false;
    for (size_t i = first; i < end; i++) {
        if (!is_for(&a->wishes.wishes[i], instance))
            continue;
        if (!a->wishes.wishes[i].types)
            return OPEN;
        some = true;
    }
    /* Points that are closed by default are not listed. An entry point that no set could have
     * named yet stays open: closed for a moment, it would make the calls below it look like
     * requests. */
    if (!some)
        return point->open_by_default && point->decided ? CLOSED : NOT_LISTED;
    return OPEN_FOR;
}

/* The types of all wishes for the point that are about the instance. */
static void add_types(const struct pythia__agents *a, const struct pythia__agent_point *point,
                      struct pythia_text instance, struct pythia_buf *to)
{
    bool first = true;
    size_t end = pythia_wishes_end(&a->wishes, point->wish);
    pythia_buf_puts(to, ":[");
    for (size_t i = point->wish; i < end; i++) {
        const struct pythia_control_wish *wish = &a->wishes.wishes[i];
        for (size_t t = 0; t < wish->type_count && is_for(wish, instance); t++) {
            pythia_buf_puts(to, first ? "" : ",");
            pythia_shown_json_text(to, wish->types[t]);
            first = false;
        }
    }
    pythia_buf_putc(to, ']');
}

/* One of the three members, with the points that are in it. */
static void add_list_part(const struct pythia__agents *a, struct pythia__agent_service *s,
                          struct pythia_text instance, enum part part, struct pythia_buf *to)
{
    static const char *const names[] = {"open", "open_for", "closed"};
    bool types = part == OPEN_FOR, first = true;
    pythia_buf_printf(to, ",\"%s\":%c", names[part], types ? '{' : '[');
    for (size_t i = 0; i < s->count && a->version > 0 && !a->off; i++) {
        if (find_part(a, s->points[i], instance) != part)
            continue;
        pythia_buf_puts(to, first ? "" : ",");
        first = false;
        pythia_shown_json_text(to, s->points[i]->id);
        if (types)
            add_types(a, s->points[i], instance, to);
    }
    pythia_buf_putc(to, types ? '}' : ']');
}

/* The agent shall have another list from version `version` on. */
static void replace_etag(struct pythia__agent *agent, uint64_t etag, uint64_t version)
{
    if (agent->etag != 0 && agent->etag != etag && version > 0)
        agent->older[agent->older_count++ % PYTHIA__AGENT_OLDER_LISTS] =
            (struct pythia__agent_older_list){agent->etag, version - 1};
    agent->etag = etag;
}

/* The last version of which an agent has all switches in force, by the list that it has confirmed;
 * 0: none that is known. */
static uint64_t find_list_version(const struct pythia__agents *a, const struct pythia__agent *agent)
{
    if (agent->applied == agent->etag)
        return a->version;
    for (size_t i = agent->older_count; i > 0 && agent->older_count - i < PYTHIA__AGENT_OLDER_LISTS;
         i--) {
        const struct pythia__agent_older_list *old =
            &agent->older[(i - 1) % PYTHIA__AGENT_OLDER_LISTS];
        if (old->etag == agent->applied)
            return old->version;
    }
    return 0;
}

static int write_list(const struct pythia__agents *a, struct pythia__agent_service *s,
                      struct pythia_text instance, struct pythia_buf *list)
{
    pythia_buf_printf(list, "{\"lease_ms\":%" PRIu64 ",\"poll_ms\":%" PRIu64 ",\"default\":\"%s\"",
                      a->lease_ns / 1000000, a->options.poll_ns / 1000000,
                      a->off ? "none" : "skeleton");
    if (a->typed && !a->off && a->options.type_key) {
        pythia_buf_puts(list, ",\"type_key\":");
        pythia_shown_json_text(list, pythia_text_of(a->options.type_key));
    }
    if (a->types.size > 0 && !a->off) {
        pythia_buf_puts(list, ",\"types\":");
        pythia_buf_add(list, a->types.bytes, a->types.size);
    }
    for (enum part part = OPEN; part <= CLOSED; part++)
        add_list_part(a, s, instance, part, list);
    pythia_buf_putc(list, '}');
    return pythia_buf_status(list);
}

/* Which wishes are about the instance, in one number. */
static uint64_t find_list_key(const struct pythia__agents *a, struct pythia_text instance)
{
    uint64_t key = 0;
    for (size_t i = 0; i < a->wishes.count && a->placed; i++)
        if (pythia_wishes_is_placed(&a->wishes.wishes[i]))
            key = pythia_hash_mix(key, is_for(&a->wishes.wishes[i], instance));
    return key;
}

/* The list of a service for an instance, as it is now; it is made if it does not exist. NULL: out
 * of memory. */
static const struct pythia__agent_list *
settle_list(struct pythia__agents *a, struct pythia__agent_service *s, struct pythia_text instance)
{
    uint64_t key = find_list_key(a, instance);
    if (s->list_set != a->set || s->list_changes != s->changes)
        s->list_count = 0;
    for (size_t i = 0; i < s->list_count && i < PYTHIA__AGENT_LISTS; i++)
        if (s->lists[i].key == key)
            return &s->lists[i];
    struct pythia_buf json = {0};
    if (write_list(a, s, instance, &json) != PYTHIA_OK) {
        pythia_buf_free(&json);
        return NULL;
    }
    struct pythia__agent_list *list = &s->lists[s->list_count++ % PYTHIA__AGENT_LISTS];
    uint64_t etag = pythia_hash_bytes(json.bytes, json.size);
    pythia_buf_free(&list->json);
    *list = (struct pythia__agent_list){json, key, etag + (etag == 0)}; /* 0 is none */
    s->list_set = a->set;
    s->list_changes = s->changes;
    return list;
}

/* Which list an agent shall have, as it is now. */
static int settle_agent(struct pythia__agents *a, struct pythia__agent *agent)
{
    struct pythia__agent_service *s = agent->service;
    if (agent->list_set == a->set && agent->list_changes == s->changes)
        return PYTHIA_OK;
    const struct pythia__agent_list *list = settle_list(a, s, agent->instance);
    if (!list)
        return PYTHIA_ENOMEM;
    agent->list_set = a->set;
    agent->list_changes = s->changes;
    replace_etag(agent, list->etag, a->version);
    return PYTHIA_OK;
}

int pythia__agents_list(struct pythia__agents *a, struct pythia_text service,
                        struct pythia_text instance, struct pythia_text *json,
                        char etag[PYTHIA__ETAG])
{
    struct pythia__agent *agent;
    struct pythia__agent_service *s = find_service(a, service);
    if (pythia__agents_agent(a, service, instance, false, &agent) == PYTHIA_OK &&
        settle_agent(a, agent) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    const struct pythia__agent_list *list = settle_list(a, s ? s : &a->nobody, instance);
    if (!list)
        return PYTHIA_ENOMEM;
    *json = pythia_buf_text(&list->json);
    snprintf(etag, PYTHIA__ETAG, "%016" PRIx64, list->etag);
    return PYTHIA_OK;
}

int pythia__agents_untold(struct pythia__agents *a,
                          int (*tell)(void *context, struct pythia_text service,
                                      struct pythia_text json, const char *etag),
                          void *context)
{
    for (size_t i = 0; i < a->service_count; i++) {
        struct pythia__agent_service *s = a->services[i];
        const struct pythia__agent_list *list = settle_list(a, s, PYTHIA_TEXT(""));
        char etag[PYTHIA__ETAG];
        if (!list)
            return PYTHIA_ENOMEM;
        if (s->told == list->etag)
            continue;
        snprintf(etag, sizeof(etag), "%016" PRIx64, list->etag);
        int status = tell(context, s->name, pythia_buf_text(&list->json), etag);
        if (status != PYTHIA_OK)
            return status;
        s->told = list->etag;
    }
    return PYTHIA_OK;
}

void pythia__agents_tell_again(struct pythia__agents *a)
{
    for (size_t i = 0; i < a->service_count; i++)
        a->services[i]->told = 0;
}

/* ---- what a plane is asked ---- */

bool pythia__agents_stale(const struct pythia__agents *a, uint64_t now_ns)
{
    return a->version > 0 && !a->off && measure_age_ns(now_ns, a->applied_ns) > a->lease_ns;
}

static bool is_lost(const struct pythia__agents *a, const struct pythia__agent *agent)
{
    return measure_age_ns(a->observed_ns, agent->seen_ns) >= a->options.lost_ns;
}

int pythia__agents_instances(const struct pythia__agents *a, struct pythia_text service,
                             int (*each)(void *context, struct pythia_text instance), void *context)
{
    const struct pythia__agent_service *s = find_service(a, service);
    int status = PYTHIA_OK;
    if (!s)
        return PYTHIA_OK;
    for (size_t i = agent_place(a, service, PYTHIA_TEXT("")), end = i + s->agents;
         i < end && status == PYTHIA_OK; i++)
        if (!is_lost(a, a->agents[i]))
            status = each(context, a->agents[i]->instance);
    return status;
}

/* Agents of one service lie one after the other. */
static const struct pythia__agent *get_live_agent(const struct pythia__agents *a, size_t at)
{
    return is_lost(a, a->agents[at]) ? NULL : a->agents[at];
}

/* At how many of the agents from `first` on has the list a point open? */
static size_t count_open_at(const struct pythia__agents *a, const struct pythia__agent_service *s,
                            size_t first, struct pythia__agent_point *point)
{
    size_t count = 0;
    for (size_t i = first; i < first + s->agents && !a->off; i++) {
        const struct pythia__agent *agent = get_live_agent(a, i);
        count += agent && find_part(a, point, agent->instance) <= OPEN_FOR;
    }
    return count;
}

/* All instances of a service have its points, as far as is known. `first` is its first agent. */
static int list_points(struct pythia__agents *a, const struct pythia__agent_service *s,
                       size_t first,
                       int (*each)(void *context, const struct pythia_control_point *point),
                       void *context)
{
    int status = PYTHIA_OK;
    size_t live = 0;
    for (size_t i = first; i < first + s->agents; i++)
        live += get_live_agent(a, i) != NULL;
    for (size_t p = 0; p < s->count && status >= 0; p++) {
        struct pythia__agent_point *from = s->points[p];
        size_t wish = wish_of(a, from);
        bool placed = wish != PYTHIA_NO_WISH && a->placed;
        struct pythia_control_point point = {.id = from->id,
                                             .target = s->name,
                                             .price_ns = from->price_ns,
                                             .hits = from->hits,
                                             .open_by_default = from->open_by_default,
                                             .instances = live,
                                             .open_at = placed ? count_open_at(a, s, first, from)
                                                        : wish != PYTHIA_NO_WISH && !a->off ? live
                                                                                            : 0};
        from->listed = true;
        status = each(context, &point);
    }
    return status;
}

int pythia__agents_inventory(struct pythia__agents *a,
                             int (*each)(void *context, const struct pythia_control_point *point),
                             void *context)
{
    int status = PYTHIA_OK;
    size_t first = 0;
    for (size_t i = 0; i < a->service_count && status >= 0; i++) {
        const struct pythia__agent_service *s = a->services[i];
        status = list_points(a, s, first, each, context);
        first += s->agents;
    }
    return status < 0 ? status : PYTHIA_OK;
}

/* The set that was applied is made of all points that were listed before. */
static void note_decided(struct pythia__agents *a)
{
    for (size_t i = 0; i < a->service_count; i++)
        for (size_t p = 0; p < a->services[i]->count; p++) {
            struct pythia__agent_point *point = a->services[i]->points[p];
            if (!point->listed || point->decided)
                continue;
            point->decided = true;
            a->services[i]->changes += point->open_by_default;
        }
}

static int write_types(const struct pythia_wishes *w, struct pythia_buf *to)
{
    struct pythia_text *types = NULL;
    size_t count = 0;
    int status = pythia_wishes_types(w, &types, &count);
    if (status != PYTHIA_OK || count == 0)
        goto out;
    for (size_t i = 0; i < count; i++) {
        pythia_buf_putc(to, i == 0 ? '[' : ',');
        pythia_shown_json_text(to, types[i]);
    }
    pythia_buf_putc(to, ']');
    status = pythia_buf_status(to);
out:
    pythia_free(types);
    return status;
}

int pythia__agents_apply(struct pythia__agents *a, const struct pythia_control_wish *wishes,
                         size_t count, uint64_t version, uint64_t now_ns)
{
    struct pythia_wishes copy = {0};
    struct pythia_buf types = {0};
    int status = pythia_wishes_copy(wishes, count, &copy);
    if (status != PYTHIA_OK ||
        (a->options.names_types && (status = write_types(&copy, &types)) != PYTHIA_OK))
        goto out;
    if (a->version == 0 || !pythia_wishes_equal(&copy, &a->wishes)) {
        struct pythia_wishes old_wishes = a->wishes;
        struct pythia_buf old_types = a->types;
        a->wishes = copy;
        a->types = types;
        copy = old_wishes;
        types = old_types;
        a->set++;
        a->typed = a->placed = false;
        for (size_t i = 0; i < count; i++) {
            a->typed = a->typed || wishes[i].types;
            a->placed = a->placed || pythia_wishes_is_placed(&wishes[i]);
        }
    }
    a->version = version;
    a->applied_ns = now_ns;
    note_decided(a);
out:
    pythia_wishes_free(&copy);
    pythia_buf_free(&types);
    return status;
}

/* How the agents of a service stand to its list: they all have it, or some do not yet, or none can
 * be reached. *version: the last one of which all that can be reached have all switches in force.
 * *at: the next service's first agent. */
static enum pythia_control_result find_point_state(const struct pythia__agents *a,
                                                   const struct pythia__agent_service *s,
                                                   uint64_t now_ns, size_t *at, uint64_t *version)
{
    size_t live = 0;
    *version = a->version;
    for (; *at < a->agent_count && a->agents[*at]->service == s; ++*at) {
        if (measure_age_ns(now_ns, a->agents[*at]->seen_ns) >= a->options.lost_ns)
            continue;
        uint64_t confirmed = find_list_version(a, a->agents[*at]);
        *version = confirmed < *version ? confirmed : *version;
        live++;
    }
    if (live == 0)
        *version = 0;
    return live == 0                ? PYTHIA_CONTROL_LOST
           : *version == a->version ? PYTHIA_CONTROL_APPLIED
                                    : PYTHIA_CONTROL_PENDING;
}

/* A wish that no service has a point for is reported as refused: otherwise the controller would
 * wait for it for ever. */
int pythia__agents_observe(struct pythia__agents *a, uint64_t now_ns,
                           int (*each)(void *context, struct pythia_text id,
                                       struct pythia_text target, enum pythia_control_result result,
                                       uint64_t version),
                           void *context)
{
    a->observed_ns = now_ns;
    forget_silent(a, now_ns);
    bool *found = pythia_calloc(a->wishes.count, sizeof(*found));
    int status = found ? PYTHIA_OK : PYTHIA_ENOMEM;
    size_t agent = 0;
    for (size_t i = 0; i < a->agent_count && status >= 0; i++)
        status = settle_agent(a, a->agents[i]);
    for (size_t i = 0; i < a->service_count && status >= 0; i++) {
        struct pythia__agent_service *s = a->services[i];
        uint64_t version;
        enum pythia_control_result all = find_point_state(a, s, now_ns, &agent, &version);
        for (size_t p = 0; p < s->count && status >= 0; p++) {
            struct pythia__agent_point *point = s->points[p];
            size_t wish = wish_of(a, point);
            size_t end = wish == PYTHIA_NO_WISH ? wish : pythia_wishes_end(&a->wishes, wish);
            for (size_t w = wish; w < end; w++)
                found[w] = true;
            bool no = wish != PYTHIA_NO_WISH && point->refused == a->set;
            status = each(context, point->id, s->name,
                          no && all != PYTHIA_CONTROL_LOST ? PYTHIA_CONTROL_REFUSED : all, version);
        }
    }
    for (size_t i = 0; i < a->wishes.count && status >= 0; i++)
        if (!found[i])
            status = each(context, a->wishes.wishes[i].id, (struct pythia_text){"", 0},
                          PYTHIA_CONTROL_REFUSED, 0);
    pythia_free(found);
    return status < 0 ? status : PYTHIA_OK;
}

void pythia__agents_off(struct pythia__agents *a, bool off)
{
    a->set += a->off != off;
    a->off = off;
}

uint64_t pythia__agents_losses(const struct pythia__agents *a)
{
    return a->numbers.losses;
}

struct pythia__agents_numbers pythia__agents_numbers(const struct pythia__agents *a,
                                                     uint64_t now_ns)
{
    struct pythia__agents_numbers n = a->numbers;
    n.services = a->service_count;
    n.agents = a->agent_count;
    n.points = a->point_count;
    for (size_t i = 0; i < a->agent_count; i++)
        n.lost_agents += measure_age_ns(now_ns, a->agents[i]->seen_ns) >= a->options.lost_ns;
    return n;
}
