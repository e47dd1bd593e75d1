#ifndef PYTHIA_PATH_TEMPLATES_H
#define PYTHIA_PATH_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/text.h"

/* Finds the segments of URL paths that are variables, from the paths themselves: where a segment
 * has more than PYTHIA_PATH_VALUES values, all of them become "{}", so that "/tenants/ada/orders"
 * and "/tenants/bob/orders" are one "/tenants/{}/orders". Only paths with the same number of
 * segments and the same prefix, which says whose paths they are, are compared.
 *
 * The paths of one family form a tree of segments. A node with too many children loses them to a
 * single child, "{}", whose own children are those of all of them; this may be too many again.
 * Whether a node has "{}" depends only on the set of paths below it, and not on their order, so
 * that all paths have the same templates in whatever order they are learnt, as long as there are no
 * more than PYTHIA_PATH_NODES nodes. A fixed depth for each number of segments is the idea of
 * P. He, J. Zhu, Z. Zheng and M. R. Lyu, "Drain: An Online Log Parsing Approach with Fixed Depth
 * Tree", ICWS 2017; we count values instead of comparing whole lines, which depends on the order.
 * Several threads may call pythia_path_templates_add; the other functions are for one thread, while
 * no other learns paths. */
struct pythia_path_templates;

#define PYTHIA_PATH_VALUES   64    /* of a segment; an API has fewer words in one place */
#define PYTHIA_PATH_NODES    65536 /* of all families, with 16 MB of strings at most */
#define PYTHIA_PATH_SEGMENTS 16    /* the last of them is all that is left of a longer path */

/* PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_path_templates_create(struct pythia_path_templates **out);
void pythia_path_templates_destroy(struct pythia_path_templates *t); /* t may be NULL */

/* Learn a path, which begins with '/', and append its template as known by now to `out`. A new
 * segment for which there is no node left is "{}" without being learnt. `prefix` may be what is in
 * `out` already; `path` may not. PYTHIA_OK or PYTHIA_ENOMEM, with a part of the template in `out`.
 * O(segments * PYTHIA_PATH_VALUES); where a segment turns out to be a variable O(nodes below). */
int pythia_path_templates_add(struct pythia_path_templates *t, struct pythia_text prefix,
                              struct pythia_text path, struct pythia_buf *out);

/* Learn a name that was made of a prefix and a template, as from an earlier run: where it has a
 * segment "{}", that is a variable. Nothing happens for other names. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_path_templates_know(struct pythia_path_templates *t, struct pythia_text name);

/* Would a name, made of a prefix and a template once, be another one now, because one of its
 * segments was found to be a variable? Its requests are part of a larger type then. */
bool pythia_path_templates_replaced(const struct pythia_path_templates *t, struct pythia_text name);

/* The number of segments found to be variables so far: when it changes, templates have changed. */
uint64_t pythia_path_templates_changes(const struct pythia_path_templates *t);

#endif
