#ifndef TESTS_WORKFLOW_NODES_H
#define TESTS_WORKFLOW_NODES_H

/* What the generator knows of the nodes of a workflow, to compare its requests with. */
#include "workflow_parts.h"

/* The node after the last one of the subtree of `node`. */
static inline uint32_t node_after_subtree(const struct pythia_workflow *w, uint32_t node)
{
    return w->nodes[node].behind;
}

/* Does a request, without noise, take longer when the node does? */
static inline bool node_is_critical(const struct pythia_workflow *w, uint32_t node)
{
    return (w->nodes[node].flags & PYTHIA__CRITICAL) != 0;
}

/* The mean time of a request, without causes, that is in this node and in none below it, over all
 * of its calls. */
static inline double node_time_ns(const struct pythia_workflow *w, uint32_t node)
{
    return w->calls[node] * w->nodes[node].own_ns;
}

#endif
