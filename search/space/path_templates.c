/* A family is a prefix and a number of segments; its tree has that depth, so that leaves have
 * nothing but their segment. Nodes are in one array and name each other by index; nodes freed by a
 * merge are reused. Merging needs no memory, and cannot fail half-way:
 *
 *   tenants ─┬─ ada ─── orders              tenants ─── {} ─┬─ orders
 *            ├─ bob ─┬─ orders    becomes                   └─ bills
 *            ┆       └─ bills
 */
#include "pythia/path_templates.h"

#include <pthread.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

#define NO_NODE      0 /* the first node is of no tree */
#define VARIABLE     PYTHIA_TEXT("{}")
#define STRING_BYTES ((size_t)16 * 1024 * 1024)

struct node {
    uint32_t segment;            /* number of a string */
    uint32_t first, next, count; /* its children, and of its parent the next child */
};

struct pythia_path_templates {
    struct pythia_strtab *strings; /* segments, and names of families */
    struct node *nodes;
    size_t node_count, node_capacity;
    uint32_t spare;  /* nodes that are left over, linked by `next` */
    uint32_t *roots; /* by number of a family's name: its root, or NO_NODE */
    size_t root_capacity;
    uint32_t variable; /* number of "{}" */
    uint64_t changes;
    struct pythia_buf family; /* scratch: the name of one */
    pthread_mutex_t lock;     /* of all of it, while paths are learnt */
};

/* The rest of a path to split into segments: `rest` begins with '/', or is empty when none is
 * left. */
struct cutter {
    struct pythia_text rest;
    size_t count;
};

int pythia_path_templates_create(struct pythia_path_templates **out)
{
    struct pythia_path_templates *t = pythia_calloc(1, sizeof(*t));
    if (!t)
        return PYTHIA_ENOMEM;
    pthread_mutex_init(&t->lock, NULL);
    int status = pythia_strtab_create(&t->strings);
    if (status != PYTHIA_OK)
        goto out;
    t->variable = pythia_strtab_intern(t->strings, VARIABLE);
    status = t->variable == PYTHIA_STRTAB_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_grow(&t->nodes, &t->node_capacity, 0, sizeof(*t->nodes));
    if (status != PYTHIA_OK)
        goto out;
    t->nodes[t->node_count++] = (struct node){0};
    *out = t;
    return PYTHIA_OK;
out:
    pythia_path_templates_destroy(t);
    return status;
}

void pythia_path_templates_destroy(struct pythia_path_templates *t)
{
    if (!t)
        return;
    pythia_strtab_destroy(t->strings);
    pythia_buf_free(&t->family);
    pythia_free(t->nodes);
    pythia_free(t->roots);
    pthread_mutex_destroy(&t->lock);
    pythia_free(t);
}

/* ---- segments ---- */

static bool cut_segment(struct cutter *c, struct pythia_text *segment)
{
    if (c->rest.size == 0)
        return false;
    const char *from = c->rest.bytes + 1, *end = c->rest.bytes + c->rest.size;
    const char *to =
        c->count + 1 < PYTHIA_PATH_SEGMENTS ? memchr(from, '/', (size_t)(end - from)) : NULL;
    to = to ? to : end;
    *segment = (struct pythia_text){from, (size_t)(to - from)};
    c->rest = (struct pythia_text){to, (size_t)(end - to)};
    c->count++;
    return true;
}

static size_t count_segments(struct pythia_text path)
{
    struct cutter c = {.rest = path};
    struct pythia_text segment;
    while (cut_segment(&c, &segment))
        ;
    return c.count;
}

/* ---- nodes ---- */

static bool is_variable(const struct pythia_path_templates *t, uint32_t node)
{
    uint32_t first = t->nodes[node].first;
    return first != NO_NODE && t->nodes[first].segment == t->variable;
}

static uint32_t find_segment_child(const struct pythia_path_templates *t, uint32_t node,
                                   uint32_t segment)
{
    uint32_t child = t->nodes[node].first;
    while (child != NO_NODE && t->nodes[child].segment != segment)
        child = t->nodes[child].next;
    return child;
}

static void link_child(struct pythia_path_templates *t, uint32_t node, uint32_t child)
{
    t->nodes[child].next = t->nodes[node].first;
    t->nodes[node].first = child;
    t->nodes[node].count++;
}

static uint32_t unlink_first(struct pythia_path_templates *t, uint32_t node)
{
    uint32_t child = t->nodes[node].first;
    if (child == NO_NODE)
        return NO_NODE;
    t->nodes[node].first = t->nodes[child].next;
    t->nodes[node].count--;
    return child;
}

static bool is_full(const struct pythia_path_templates *t)
{
    return (t->spare == NO_NODE && t->node_count >= PYTHIA_PATH_NODES) ||
           pythia_strtab_bytes(t->strings) >= STRING_BYTES;
}

/* A node without children; NO_NODE if there may be no more. */
static int make_node(struct pythia_path_templates *t, uint32_t segment, uint32_t *out)
{
    *out = NO_NODE;
    if (t->spare != NO_NODE) {
        *out = t->spare;
        t->spare = t->nodes[*out].next;
    } else if (t->node_count >= PYTHIA_PATH_NODES) {
        return PYTHIA_OK;
    } else if (pythia_grow(&t->nodes, &t->node_capacity, t->node_count, sizeof(*t->nodes)) !=
               PYTHIA_OK) {
        return PYTHIA_ENOMEM;
    } else {
        *out = (uint32_t)t->node_count++;
    }
    t->nodes[*out] = (struct node){.segment = segment};
    return PYTHIA_OK;
}

static void make_variable(struct pythia_path_templates *t, uint32_t node);

/* Give a node all that is below another one, which is left over. */
static void merge_nodes(struct pythia_path_templates *t, uint32_t node, uint32_t other)
{
    if (is_variable(t, other) && t->nodes[node].first != NO_NODE)
        make_variable(t, node);
    for (uint32_t child; (child = unlink_first(t, other)) != NO_NODE;) {
        uint32_t same = is_variable(t, node) ? t->nodes[node].first
                                             : find_segment_child(t, node, t->nodes[child].segment);
        if (same != NO_NODE)
            merge_nodes(t, same, child);
        else
            link_child(t, node, child);
        if (t->nodes[node].count > PYTHIA_PATH_VALUES)
            make_variable(t, node);
    }
    t->nodes[other].next = t->spare;
    t->spare = other;
}

/* All children, of which there are some, become one. */
static void make_variable(struct pythia_path_templates *t, uint32_t node)
{
    if (is_variable(t, node))
        return;
    uint32_t one = unlink_first(t, node);
    t->changes++;
    for (uint32_t child; (child = unlink_first(t, node)) != NO_NODE;)
        merge_nodes(t, one, child);
    t->nodes[one].segment = t->variable;
    link_child(t, node, one);
}

/* ---- families ---- */

static int name_family(struct pythia_buf *to, struct pythia_text prefix, struct pythia_text path)
{
    pythia_buf_clear(to);
    to->failed = 0; /* memory may be there again */
    pythia_buf_text_add(to, prefix);
    pythia_buf_printf(to, "\n%zu", count_segments(path));
    return pythia_buf_status(to);
}

/* The root of a family, made if it is new; NO_NODE if there may be no more. */
static int find_family_root(struct pythia_path_templates *t, struct pythia_text prefix,
                            struct pythia_text path, uint32_t *out)
{
    int status = name_family(&t->family, prefix, path);
    bool full = is_full(t);
    *out = NO_NODE;
    if (status != PYTHIA_OK)
        return status;
    uint32_t name = full ? pythia_strtab_find(t->strings, pythia_buf_text(&t->family))
                         : pythia_strtab_intern(t->strings, pythia_buf_text(&t->family));
    if (name == PYTHIA_STRTAB_NONE)
        return full ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (pythia_reach(&t->roots, &t->root_capacity, name, sizeof(*t->roots)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (t->roots[name] == NO_NODE)
        status = make_node(t, 0, &t->roots[name]);
    *out = t->roots[name];
    return status;
}

/* ---- learning ---- */

/* The child of a node for a segment, made if it is new; NO_NODE if there may be no more. */
static int meet_child(struct pythia_path_templates *t, uint32_t node, struct pythia_text segment,
                      uint32_t *out)
{
    uint32_t number = pythia_strtab_find(t->strings, segment), made = NO_NODE;
    *out = is_variable(t, node)           ? t->nodes[node].first
           : number == PYTHIA_STRTAB_NONE ? NO_NODE
                                          : find_segment_child(t, node, number);
    if (*out != NO_NODE)
        return PYTHIA_OK;
    /* So many different segments in one place are values, such as ids, and not names. */
    bool variable = number == t->variable || t->nodes[node].count == PYTHIA_PATH_VALUES;
    if (variable && t->nodes[node].count > 0) {
        make_variable(t, node);
        *out = t->nodes[node].first;
        return PYTHIA_OK;
    }
    /* Memory is bounded: beyond that, paths share the variable. */
    if (is_full(t))
        return PYTHIA_OK;
    number = pythia_strtab_intern(t->strings, segment);
    int status = number == PYTHIA_STRTAB_NONE ? PYTHIA_ENOMEM : make_node(t, number, &made);
    if (status != PYTHIA_OK)
        return status;
    link_child(t, node, made);
    *out = made;
    return PYTHIA_OK;
}

static int learn_path(struct pythia_path_templates *t, struct pythia_text prefix,
                      struct pythia_text path, struct pythia_buf *out)
{
    struct cutter c = {.rest = path};
    struct pythia_text segment;
    uint32_t node;
    int status = find_family_root(t, prefix, path, &node);
    if (status != PYTHIA_OK)
        return status;
    while (cut_segment(&c, &segment)) {
        uint32_t child = NO_NODE;
        if (node != NO_NODE) {
            status = meet_child(t, node, segment, &child);
            if (status != PYTHIA_OK)
                return status;
        }
        /* Below a segment that is not stored nothing is stored either. */
        node = child;
        pythia_buf_putc(out, '/');
        pythia_buf_text_add(out, node == NO_NODE
                                     ? VARIABLE
                                     : pythia_strtab_text(t->strings, t->nodes[node].segment));
    }
    return pythia_buf_status(out);
}

int pythia_path_templates_add(struct pythia_path_templates *t, struct pythia_text prefix,
                              struct pythia_text path, struct pythia_buf *out)
{
    pthread_mutex_lock(&t->lock);
    int status = learn_path(t, prefix, path, out);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* ---- names ---- */

/* Part a name into prefix and path. A path has no blank in it, and a service may have a '/'. */
static bool part_name(struct pythia_text name, struct pythia_text *prefix, struct pythia_text *path)
{
    size_t at = name.size;
    while (at > 0 && name.bytes[at - 1] != ' ')
        at--;
    *prefix = (struct pythia_text){name.bytes, at};
    *path = (struct pythia_text){name.bytes + at, name.size - at};
    return path->size > 0 && path->bytes[0] == '/';
}

int pythia_path_templates_know(struct pythia_path_templates *t, struct pythia_text name)
{
    struct pythia_text prefix, path, segment;
    struct pythia_buf unused = {0};
    bool any = false;
    if (!part_name(name, &prefix, &path))
        return PYTHIA_OK;
    for (struct cutter c = {.rest = path}; cut_segment(&c, &segment);)
        any = any || pythia_text_compare(segment, VARIABLE) == 0;
    int status = any ? pythia_path_templates_add(t, prefix, path, &unused) : PYTHIA_OK;
    pythia_buf_free(&unused);
    return status;
}

bool pythia_path_templates_replaced(const struct pythia_path_templates *t, struct pythia_text name)
{
    struct pythia_text prefix, path, segment;
    struct pythia_buf family = {0};
    if (!part_name(name, &prefix, &path))
        return false;
    uint32_t number = name_family(&family, prefix, path) == PYTHIA_OK
                          ? pythia_strtab_find(t->strings, pythia_buf_text(&family))
                          : PYTHIA_STRTAB_NONE;
    pythia_buf_free(&family);
    uint32_t node = number < t->root_capacity ? t->roots[number] : NO_NODE;
    for (struct cutter c = {.rest = path}; node != NO_NODE && cut_segment(&c, &segment);) {
        /* A variable node replaces this segment by "{}", unless the name has "{}" there already. */
        if (is_variable(t, node)) {
            if (pythia_text_compare(segment, VARIABLE) != 0)
                return true;
            node = t->nodes[node].first;
        } else {
            uint32_t string = pythia_strtab_find(t->strings, segment);
            node = string == PYTHIA_STRTAB_NONE ? NO_NODE : find_segment_child(t, node, string);
        }
    }
    return false;
}

uint64_t pythia_path_templates_changes(const struct pythia_path_templates *t)
{
    return t->changes;
}
