#include "ends_early.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define WITHOUT_MOST 0.75 /* of the rows */

static bool passes_point(const struct pythia_shape *shape, uint32_t tracepoint)
{
    for (uint32_t k = 0; k < shape->point_count; k++)
        if (shape->points[k] == tracepoint)
            return true;
    return false;
}

/* Does this path come, after it first passed the trace point, to one that it has not passed before
 * and that most rows without the trace point pass? `passing` counts these, by trace point; `seen`
 * is scratch of the same size. */
static bool rejoins_after(const struct pythia_shape *shape, const struct pythia_cct *cct,
                          uint32_t tracepoint, const size_t *passing, size_t without, bool *seen)
{
    bool after = false, rejoins = false;
    for (uint32_t i = 0; i < shape->gap_count && !rejoins; i++) {
        const struct pythia_edge *edge = pythia_cct_edge_at(cct, shape->edges[shape->slots[i]]);
        uint32_t to = edge->to_tracepoint;
        if (i == 0)
            seen[edge->from_tracepoint] = true;
        /* Only the first event of a point says that the path has come back. */
        if (edge->to_event == PYTHIA_EVENT_END || seen[to])
            continue;
        seen[to] = true;
        rejoins = after && 2 * passing[to] > without;
        after = after || to == tracepoint;
    }
    /* The caller reuses the scratch for the next shape. */
    for (uint32_t k = 0; k < shape->point_count; k++)
        seen[shape->points[k]] = false;
    return rejoins;
}

int pythia__ends_early(const struct pythia_row *const *rows, size_t count,
                       const struct pythia_cct *cct, uint32_t tracepoint, size_t *without,
                       bool *early)
{
    size_t points = pythia_vocabulary_tracepoints(pythia_cct_vocabulary(cct)), rejoining = 0;
    size_t *passing = pythia_calloc(points, sizeof(*passing));
    bool *seen = pythia_calloc(points, sizeof(*seen)), rejoins = false;
    size_t lacking = 0;
    int status = PYTHIA_ENOMEM;
    if (!passing || !seen)
        goto out;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        if (passes_point(shape, tracepoint))
            continue;
        lacking++;
        for (uint32_t k = 0; k < shape->point_count; k++)
            passing[shape->points[k]]++;
    }
    const struct pythia_shape *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        if (!passes_point(shape, tracepoint))
            continue;
        /* Rows share their shapes: a run of rows of the same shape needs one walk. */
        if (shape != last)
            rejoins = rejoins_after(shape, cct, tracepoint, passing, lacking, seen);
        rejoining += rejoins;
        last = shape;
    }
    *without = lacking;
    /* A request that lacks the point has ended early only if the requests that hit it do not
     * come back to the common path; otherwise the point is an ordinary branch. */
    *early = lacking > 0 && lacking < count && (double)lacking <= WITHOUT_MOST * (double)count &&
             2 * rejoining < count - lacking;
    status = PYTHIA_OK;
out:
    pythia_free(passing);
    pythia_free(seen);
    return status;
}
