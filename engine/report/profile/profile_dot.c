/* Services as nodes, calls between them as edges: the topology of the system as it was seen. */
#include <inttypes.h>

#include "profile_forms.h"
#include "pythia/hash.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "write/words.h"

/* All calls from one service to another; strings, or PYTHIA_NONE for what is not traced. */
struct edge {
    uint32_t origin, target;
    uint64_t calls, ns;
};

#define PEN_MAX 6.0 /* points: width of the edge with most time */

static uint32_t find_dot_service(const struct pythia__profile_shown *s, uint32_t process)
{
    return process == PYTHIA_NONE ? PYTHIA_NONE
                                  : pythia_profile_process(s->profile, process)->service;
}

struct topology {
    struct edge *edges;
    size_t count;
    struct pythia_hash_table by_services;
};

static bool joins_services(const void *owner, uint32_t index, const void *key)
{
    const struct edge *edge = &((const struct topology *)owner)->edges[index], *wanted = key;
    return edge->origin == wanted->origin && edge->target == wanted->target;
}

/* The order is that in which pairs first mention an edge: that of time, nearly. */
static int gather_edges(const struct pythia__profile_shown *s, struct topology *t)
{
    t->edges = pythia_calloc(s->pair_count + 1, sizeof(*t->edges));
    if (!t->edges)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < s->pair_count; i++) {
        const struct pythia_profile_pair *pair = &s->pairs[s->pair_order[i]];
        const struct edge wanted = {.origin = find_dot_service(s, pair->origin),
                                    .target = find_dot_service(s, pair->target)};
        uint64_t hash = pythia_hash_mix(wanted.origin, wanted.target);
        uint32_t at = pythia_hash_table_find(&t->by_services, hash, joins_services, t, &wanted);
        if (at == PYTHIA_HASH_TABLE_NONE) {
            at = (uint32_t)t->count;
            if (pythia_hash_table_add(&t->by_services, hash, at) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
            t->edges[t->count++] = wanted;
        }
        t->edges[at].calls += pair->calls;
        t->edges[at].ns += pair->origin == PYTHIA_NONE ? pair->target_ns : pair->origin_ns;
    }
    return PYTHIA_OK;
}

static void add_dot_service(const struct pythia__profile_shown *s, uint32_t service,
                            struct pythia_buf *to)
{
    pythia_buf_putc(to, '"');
    if (service == PYTHIA_NONE || service == 0)
        pythia_buf_puts(to, service == 0 ? "(unknown)" : "(not traced)");
    else
        pythia_shown_dot_label(
            to, pythia_vocabulary_text(pythia_profile_vocabulary(s->profile), service));
    pythia_buf_putc(to, '"');
}

static void write_dot_edges(const struct pythia__profile_shown *s, const struct topology *t,
                            struct pythia_buf *out)
{
    uint64_t most = 1;
    for (size_t i = 0; i < t->count; i++)
        most = t->edges[i].ns > most ? t->edges[i].ns : most;
    pythia_buf_puts(out, "digraph pythia {\n  rankdir=LR;\n  node [shape=box, "
                         "fontname=\"sans-serif\", fontsize=10];\n");
    for (size_t i = 0; i < t->count; i++) {
        const struct edge *edge = &t->edges[i];
        pythia_buf_puts(out, "  ");
        add_dot_service(s, edge->origin, out);
        pythia_buf_puts(out, " -> ");
        add_dot_service(s, edge->target, out);
        pythia_buf_printf(out, " [weight=%" PRIu64 ", label=\"%" PRIu64 " calls, ", edge->calls,
                          edge->calls);
        pythia__add_duration(out, (double)edge->ns);
        pythia_buf_printf(out, "\", penwidth=%.2f];\n",
                          1 + (PEN_MAX - 1) * (double)edge->ns / (double)most);
    }
    pythia_buf_puts(out, "}\n");
}

int pythia__profile_dot(const struct pythia__profile_shown *s, struct pythia_buf *out)
{
    struct topology t = {0};
    int status = gather_edges(s, &t);
    if (status == PYTHIA_OK) {
        write_dot_edges(s, &t, out);
        status = pythia_buf_status(out);
    }
    pythia_hash_table_free(&t.by_services);
    pythia_free(t.edges);
    return status;
}
