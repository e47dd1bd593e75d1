/* Trees that look like those of real requests, and the names of their nodes.
 *
 *   BUSHY      a node hangs on any earlier one that has room: a random recursive tree (Smythe and
 *              Mahmoud, "A Survey of Recursive Trees", Theory of Probability and Mathematical
 *              Statistics 51, 1995), whose depth is some e ln n
 *   DEEP       a node hangs on one of the last six: chains with short branches
 *   OPENSTACK  breadth first by a small grammar:
 *              entry -> functions and database calls;  function -> functions, database calls, hop;
 *              hop -> an entry of another service;     names from a limited pool for each service,
 *              so that trace points are in several contexts, siblings never sharing one */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/status.h"
#include "workflow_parts.h"

#define CHILDREN_MAX 8
#define RECENT       6

uint32_t pythia__services(const struct pythia_workflow_options *o)
{
    if (o->services > 0)
        return o->services;
    return o->shape == PYTHIA_WORKFLOW_OPENSTACK ? 6 : 1;
}

/* ---- bushy and deep ---- */

/* Each service is entered once: where, is random; what is below belongs to it. */
static void enter_services(struct pythia__sapling *all, uint32_t nodes, uint32_t services,
                           struct pythia_random *random)
{
    uint32_t entered = 1;
    for (uint32_t tries = 0; entered < services && tries < 64 * services; tries++) {
        struct pythia__sapling *s = &all[pythia_random_below(random, nodes)];
        if (s == all || s->role == PYTHIA__ENTRY)
            continue;
        s->role = PYTHIA__ENTRY;
        s->service = (uint16_t)entered++;
    }
    for (uint32_t i = 1; i < nodes; i++)
        if (all[i].role != PYTHIA__ENTRY)
            all[i].service = all[all[i].parent].service;
}

static void grow_plain(const struct pythia_workflow_options *o, struct pythia_random *random,
                       struct pythia__sapling *all)
{
    all[0] = (struct pythia__sapling){.role = PYTHIA__ENTRY, .repeat = 1};
    for (uint32_t i = 1; i < o->nodes; i++) {
        uint32_t parent;
        do {
            uint32_t recent = i < RECENT ? i : RECENT;
            parent = o->shape == PYTHIA_WORKFLOW_DEEP
                         ? i - 1 - (uint32_t)pythia_random_below(random, recent)
                         : (uint32_t)pythia_random_below(random, i);
        } while (all[parent].functions >= CHILDREN_MAX);
        all[parent].functions++;
        all[i] = (struct pythia__sapling){.parent = parent, .name = i, .repeat = 1};
    }
    enter_services(all, o->nodes, pythia__services(o), random);
}

/* ---- like OpenStack ---- */

struct growth {
    struct pythia__sapling *all;
    struct pythia_random *random;
    uint32_t count, wanted, services;
    uint32_t functions, statements, entries; /* names of a service */
};

/* A capture of server creates has 136 trace points in 318 contexts: 2.5 * 318^.7 = 141. */
static void size_pools(struct growth *g)
{
    double points = 2.5 * pow(g->wanted, 0.7) / g->services;
    g->functions = (uint32_t)fmax(4, points * 0.55);
    g->statements = (uint32_t)fmax(4, points * 0.3);
    g->entries = (uint32_t)fmax(1, points * 0.05);
}

static struct pythia__sapling *add_sapling(struct growth *g, uint32_t parent,
                                           enum pythia__role role, uint32_t service, uint32_t name)
{
    if (g->count == g->wanted)
        return NULL;
    struct pythia__sapling *s = &g->all[g->count++];
    *s = (struct pythia__sapling){.parent = parent,
                                  .name = name,
                                  .service = (uint16_t)service,
                                  .role = (uint8_t)role,
                                  .repeat = 1};
    return s;
}

/* The name of a node's k-th child of one role: no two are the same, also when there are more of
 * them than names in the pool, which then grows. */
static uint32_t sibling_name(uint32_t first, uint32_t k, uint32_t pool)
{
    return k < pool ? (first % pool + k) % pool : k;
}

static void add_functions(struct growth *g, uint32_t parent, uint32_t count)
{
    struct pythia__sapling *p = &g->all[parent];
    uint32_t first = p->name * 7 + parent; /* any number, as long as it stays the same */
    for (uint32_t i = 0; i < count; i++)
        if (add_sapling(g, parent, PYTHIA__FUNCTION, p->service,
                        sibling_name(first, p->functions, g->functions)))
            p->functions++;
}

static void add_statements(struct growth *g, uint32_t parent, uint32_t count)
{
    uint32_t first = (uint32_t)pythia_random_below(g->random, g->statements);
    for (uint32_t i = 0; i < count; i++) {
        struct pythia__sapling *s = add_sapling(g, parent, PYTHIA__DATABASE, g->all[parent].service,
                                                sibling_name(first, i, g->statements));
        if (s && pythia_random_below(g->random, 10) < 3)
            s->repeat = (uint8_t)(2 + pythia_random_below(g->random, 4));
    }
}

static void add_hop(struct growth *g, uint32_t parent)
{
    uint32_t from = g->all[parent].service;
    uint32_t to =
        (from + 1 + (uint32_t)pythia_random_below(g->random, g->services - 1)) % g->services;
    uint32_t name = (uint32_t)pythia_random_below(g->random, g->entries);
    struct pythia__sapling *s = add_sapling(g, parent, PYTHIA__HOP, from, name);
    if (s)
        s->target = to;
}

static void expand_node(struct growth *g, uint32_t node)
{
    const struct pythia__sapling *s = &g->all[node];
    switch ((enum pythia__role)s->role) {
    case PYTHIA__ENTRY:
        add_functions(g, node, 1 + (uint32_t)pythia_random_below(g->random, 3));
        add_statements(g, node, (uint32_t)pythia_random_below(g->random, 3));
        break;
    case PYTHIA__FUNCTION:
        add_functions(g, node, (uint32_t)pythia_random_below(g->random, 3));
        add_statements(g, node, (uint32_t)pythia_random_below(g->random, 4));
        if (g->services > 1 && pythia_random_below(g->random, 8) == 0)
            add_hop(g, node);
        break;
    case PYTHIA__HOP:
        add_sapling(g, node, PYTHIA__ENTRY, s->target, s->name);
        break;
    case PYTHIA__DATABASE:
        break;
    }
}

static void grow_openstack(const struct pythia_workflow_options *o, struct pythia_random *random,
                           struct pythia__sapling *all)
{
    struct growth g = {
        .all = all, .random = random, .wanted = o->nodes, .services = pythia__services(o)};
    size_pools(&g);
    all[g.count++] =
        (struct pythia__sapling){.role = PYTHIA__ENTRY, .name = PYTHIA_NONE, .repeat = 1};
    uint32_t next = 0;
    while (g.count < g.wanted) {
        if (next < g.count) {
            expand_node(&g, next++);
            continue;
        }
        uint32_t node =
            (uint32_t)pythia_random_below(random, g.count); /* all branches have ended */
        if (all[node].role == PYTHIA__FUNCTION || all[node].role == PYTHIA__ENTRY)
            add_functions(&g, node, 1);
    }
}

void pythia__grow_shape(const struct pythia_workflow_options *o, struct pythia_random *random,
                        struct pythia__sapling *saplings)
{
    if (o->shape == PYTHIA_WORKFLOW_OPENSTACK)
        grow_openstack(o, random, saplings);
    else
        grow_plain(o, random, saplings);
}

/* ---- names ---- */

static const char *const service_names[] = {"api",     "conductor", "compute", "scheduler",
                                            "network", "image",     "volume",  "identity"};
static const char *const statements[] = {"SELECT", "UPDATE", "INSERT", "DELETE"};

static void print_service(char *to, size_t room, uint32_t service)
{
    if (service < sizeof(service_names) / sizeof(service_names[0]))
        snprintf(to, room, "%s", service_names[service]);
    else
        snprintf(to, room, "service-%u", (unsigned)service);
}

/* `number` tells apart the nodes of the shapes where each has a name of its own. */
static void print_name(const struct pythia_workflow *w, const struct pythia__sapling *s,
                       uint32_t number, char *to, size_t room)
{
    unsigned name = s->name;
    char target[32];
    if (number == 0) {
        snprintf(to, room, "POST /servers");
    } else if (w->options.shape != PYTHIA_WORKFLOW_OPENSTACK) {
        snprintf(to, room, s->role == PYTHIA__ENTRY ? "entry_%06u" : "op_%06u", (unsigned)number);
    } else if (s->role == PYTHIA__ENTRY) {
        snprintf(to, room, "rpc_%02u", name);
    } else if (s->role == PYTHIA__HOP) {
        print_service(target, sizeof(target), s->target);
        snprintf(to, room, "call_%s_rpc_%02u", target, name);
    } else if (s->role == PYTHIA__DATABASE) {
        snprintf(to, room, "db_%s_table_%02u", statements[name % 4], name / 4);
    } else {
        snprintf(to, room, "step_%03u", name);
    }
}

static uint32_t string_of(struct pythia_workflow *w, const char *text)
{
    return pythia_vocabulary_string(w->vocabulary, pythia_text_of(text));
}

/* A process of a service on a host of its own. */
static int make_resource(struct pythia_workflow *w, const char *service, uint32_t number,
                         uint32_t host)
{
    char name[48];
    snprintf(name, sizeof(name), "%s-%u", service, (unsigned)host + 1);
    struct pythia_buf packed = {0};
    uint32_t service_key = string_of(w, "service.name"), host_name = string_of(w, name);
    struct pythia_resource made = {.service = string_of(w, service), .host = host_name};
    pythia_attributes_text(&packed, service_key, pythia_text_of(service));
    pythia_attributes_text(&packed, w->host_key, pythia_text_of(name));
    made.attributes = pythia_buf_text(&packed);
    uint32_t resource = PYTHIA_NONE;
    if (service_key != PYTHIA_NONE && host_name != PYTHIA_NONE && made.service != PYTHIA_NONE &&
        w->host_key != PYTHIA_NONE && pythia_buf_status(&packed) == PYTHIA_OK)
        resource = pythia_vocabulary_resource(w->vocabulary, &made);
    pythia_buf_free(&packed);
    w->resources[(size_t)number * w->options.hosts + host] = resource;
    w->host_names[(size_t)number * w->options.hosts + host] = host_name;
    return resource == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static int make_resources(struct pythia_workflow *w)
{
    char service[32];
    w->host_key = string_of(w, "host.name");
    for (uint32_t i = 0; i < w->facts.services; i++) {
        print_service(service, sizeof(service), i);
        for (uint32_t host = 0; host < w->options.hosts; host++)
            if (make_resource(w, service, i, host) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

int pythia__name_nodes(struct pythia_workflow *w, const struct pythia__sapling *saplings,
                       const uint32_t *place_of)
{
    char service[32], name[64];
    if (make_resources(w) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < w->options.nodes; i++) {
        const struct pythia__sapling *s = &saplings[i];
        print_service(service, sizeof(service), s->service);
        print_name(w, s, place_of[i], name, sizeof(name));
        uint32_t of_service = string_of(w, service), of_name = string_of(w, name);
        uint32_t point = of_service == PYTHIA_NONE || of_name == PYTHIA_NONE
                             ? PYTHIA_NONE
                             : pythia_vocabulary_tracepoint(w->vocabulary, of_service, 0, of_name);
        if (point == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        w->nodes[place_of[i]].tracepoint = point;
    }
    return PYTHIA_OK;
}
