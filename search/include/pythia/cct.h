#ifndef PYTHIA_CCT_H
#define PYTHIA_CCT_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/vocabulary.h"

struct pythia_path_event;

/* A calling context tree: a node is a chain of trace points, each called by the one before it; the
 * empty chain is the root, which stands for the request. (Ammons, Ball and Larus, "Exploiting
 * Hardware Performance Counters with Flow and Context Sensitive Profiling", PLDI 1997.) With it the
 * edges of critical paths: what lies between two events that follow each other, in a context. Nodes
 * and edges are numbers 0, 1, 2, …, given in the order of asking. One thread at a time. */
struct pythia_cct;
#define PYTHIA_CCT_ROOT 0u

struct pythia_edge {
    uint32_t context; /* the spans that are open in it: a node */
    uint32_t from_tracepoint, to_tracepoint;
    uint8_t from_event, to_event; /* enum pythia_event_kind */
};

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_cct_create(const struct pythia_vocabulary *vocabulary, struct pythia_cct **out);
void pythia_cct_destroy(struct pythia_cct *c);       /* c may be NULL */
size_t pythia_cct_bytes(const struct pythia_cct *c); /* that it holds */
const struct pythia_vocabulary *pythia_cct_vocabulary(const struct pythia_cct *c);

/* The node of `tracepoint` called from `node`, made if it is new; PYTHIA_NONE when out of memory.
 * O(1). */
uint32_t pythia_cct_child(struct pythia_cct *c, uint32_t node, uint32_t tracepoint);

/* As pythia_cct_child, without creating it: PYTHIA_NONE if it does not exist. */
uint32_t pythia_cct_find(const struct pythia_cct *c, uint32_t node, uint32_t tracepoint);

uint32_t pythia_cct_nodes(const struct pythia_cct *c);                 /* how many */
uint32_t pythia_cct_parent(const struct pythia_cct *c, uint32_t node); /* PYTHIA_NONE of the root */
uint32_t pythia_cct_tracepoint(const struct pythia_cct *c,
                               uint32_t node);                        /* PYTHIA_NONE of the root */
uint32_t pythia_cct_depth(const struct pythia_cct *c, uint32_t node); /* 0 of the root */

/* The node above `node`, or the node itself, that has a depth; `node` if it is not that deep. O(log
 * depth). */
uint32_t pythia_cct_ancestor(const struct pythia_cct *c, uint32_t node, uint32_t depth);

/* The number of an edge, made if it is new; PYTHIA_NONE when out of memory. O(1). */
uint32_t pythia_cct_edge(struct pythia_cct *c, const struct pythia_edge *edge);
uint32_t pythia_cct_edges(const struct pythia_cct *c);

/* The context after an event of a critical path, whose context before it was `context`: its start
 * leads into a child, its end back to the parent. PYTHIA_NONE when out of memory. */
uint32_t pythia_cct_follow(struct pythia_cct *c, uint32_t context,
                           const struct pythia_path_event *event);

/* The edge from an event, after which the context is `context`, to the event that follows it in
 * the array of a path. */
struct pythia_edge pythia_edge_from(uint32_t context, const struct pythia_path_event *event);

/* Borrowed until the next edge is made. */
const struct pythia_edge *pythia_cct_edge_at(const struct pythia_cct *c, uint32_t edge);

/* An order of nodes, and of edges, by the names in them: the same in every process. Negative, 0 or
 * positive. O(log depth). */
int pythia_cct_compare_nodes(const struct pythia_cct *c, uint32_t a, uint32_t b);
int pythia_cct_compare_edges(const struct pythia_cct *c, uint32_t a, uint32_t b);

/* All nodes in that order, the root first and each before those below it, owned by the caller;
 * *count of them. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_cct_sorted_nodes(const struct pythia_cct *c, uint32_t **nodes, uint32_t *count);

#endif
