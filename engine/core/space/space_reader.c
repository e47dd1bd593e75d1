/* Reads a search space (space_file.c shows the layout) row by row, so that a million nodes take no
 * more memory than the space itself. Members may stand in any order as far as that allows: what
 * others refer to comes before them, as the writer puts it. Nothing in the file is taken on trust.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "pythia/json.h"
#include "pythia/mem.h"
#include "pythia/source.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "space_parts.h"

#define ROW 7 /* numbers of a node or an edge */

struct file_source {
    struct pythia_source source;
    int file;
};

struct reading {
    struct pythia_json *j;
    struct pythia_space *space;
    struct pythia_vocabulary *vocabulary;
    uint32_t *points, *nodes; /* numbers in memory by number in the file */
    size_t point_count, point_capacity, node_count, node_capacity;
    bool schema, listed; /* the schema is right; trace points are known */
};

static int file_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                     struct pythia_error *e)
{
    struct file_source *f = (struct file_source *)source;
    ssize_t size;
    do
        size = read(f->file, to, capacity);
    while (size < 0 && errno == EINTR);
    *got = size > 0 ? (size_t)size : 0;
    return size >= 0 ? PYTHIA_OK
                     : pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(errno));
}

/* ---- pieces ---- */

/* Fail at the current value. */
static int fail_value(struct reading *r, const char *what, size_t row)
{
    return pythia_json_fail(r->j, PYTHIA_EFORMAT, "is not a valid search space: %s %zu", what, row);
}

/* Fail at the beginning of a row. */
static int wrong_row(struct reading *r, const uint32_t *mark, const char *what, size_t row)
{
    return pythia_json_fail_at(r->j, mark, PYTHIA_EFORMAT, "is not a valid search space: %s %zu",
                               what, row);
}

/* A row must be in memory as a whole, or its mark could not be used after reading it. */
static int begin_value(struct reading *r, const uint32_t **mark)
{
    int status = pythia_json_whole(r->j);
    *mark = pythia_json_mark(r->j);
    return status;
}

/* A whole number that is not negative; 1 if the value is something else. */
static int read_whole_number(struct reading *r, uint64_t *out)
{
    struct pythia_json_value value;
    int status = pythia_json_value(r->j, &value);
    if (status != PYTHIA_OK)
        return status;
    if ((value.kind == PYTHIA_JSON_OBJECT || value.kind == PYTHIA_JSON_ARRAY) &&
        (status = pythia_json_skip(r->j)) != PYTHIA_OK)
        return status;
    if (value.kind != PYTHIA_JSON_INTEGER || value.integer < 0)
        return 1;
    *out = (uint64_t)value.integer;
    return PYTHIA_OK;
}

/* A row of ROW numbers; 1 if there is something else, and then the cursor is after it. */
static int read_space_row(struct reading *r, uint64_t row[ROW])
{
    bool good = true;
    size_t count = 0;
    int status = pythia_json_peek(r->j);
    if (status != '[')
        return status < 0 ? status : (status = pythia_json_skip(r->j)) != PYTHIA_OK ? status : 1;
    if ((status = pythia_json_array(r->j)) != PYTHIA_OK)
        return status;
    while ((status = pythia_json_element(r->j)) == PYTHIA_OK) {
        uint64_t ignored;
        if ((status = read_whole_number(r, count < ROW ? &row[count] : &ignored)) < 0)
            return status;
        good = good && status != 1 && count < ROW;
        count++;
    }
    return status < 0 ? status : good && count == ROW ? PYTHIA_OK : 1;
}

/* Read an array of *count elements by `take`. */
static int read_space_array(struct reading *r, void *context,
                            int (*take)(struct reading *r, void *context, size_t i), size_t *count)
{
    *count = 0;
    int status = pythia_json_array(r->j);
    if (status != PYTHIA_OK)
        return status;
    while ((status = pythia_json_element(r->j)) == PYTHIA_OK)
        if ((status = take(r, context, (*count)++)) != PYTHIA_OK)
            return status;
    return status < 0 ? status : PYTHIA_OK;
}

/* ---- trace points ---- */

static int intern_string(struct reading *r, uint32_t *out)
{
    struct pythia_text text;
    int status = pythia_json_string(r->j, &text);
    if (status != PYTHIA_OK)
        return status;
    *out = pythia_vocabulary_string(r->vocabulary, text);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* A trace point gets the number that the vocabulary has for it: its place in the file may
 * differ. */
static int take_space_point(struct reading *r, void *context, size_t i)
{
    (void)context;
    uint32_t names[3] = {0}; /* id, service, name */
    const uint32_t *mark;
    int status = begin_value(r, &mark);
    if (status != PYTHIA_OK || (status = pythia_json_array(r->j)) != PYTHIA_OK)
        return status;
    for (size_t k = 0; k < 3; k++) {
        if ((status = pythia_json_element(r->j)) == 1)
            return wrong_row(r, mark, "trace point", i);
        if (status != PYTHIA_OK || (status = intern_string(r, &names[k])) != PYTHIA_OK)
            return status;
    }
    if ((status = pythia_json_element(r->j)) == PYTHIA_OK)
        return wrong_row(r, mark, "trace point", i);
    if (status < 0)
        return status;
    if (pythia_grow(&r->points, &r->point_capacity, i, sizeof(*r->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    r->points[i] = pythia_vocabulary_tracepoint_of_id(
        r->vocabulary, pythia_vocabulary_text(r->vocabulary, names[0]), names[1], names[2]);
    return r->points[i] == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* ---- types ---- */

/* Begin and read a row; 1: it is wrong, at *mark. */
static int read_marked_row(struct reading *r, const uint32_t **mark, uint64_t row[ROW])
{
    int status = begin_value(r, mark);
    return status != PYTHIA_OK ? status : read_space_row(r, row);
}

static int read_marked_number(struct reading *r, const uint32_t **mark, uint64_t *out)
{
    int status = begin_value(r, mark);
    return status != PYTHIA_OK ? status : read_whole_number(r, out);
}

/* Numbers of a file are checked before they become indices: nothing in it is trusted. */
static int take_space_node(struct reading *r, void *context, size_t i)
{
    struct pythia_space_type *t = context;
    const uint32_t *mark;
    uint64_t row[ROW] = {0};
    int status = read_marked_row(r, &mark, row);
    if (status < 0)
        return status;
    if (status == 1 || row[0] > i || row[1] >= r->point_count)
        return wrong_row(r, mark, "node", i);
    if (pythia_grow(&r->nodes, &r->node_capacity, i + 1, sizeof(*r->nodes)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_space_node *n =
        pythia_space_node_make(t, r->nodes[row[0]], r->points[row[1]], &r->nodes[i + 1]);
    if (!n)
        return PYTHIA_ENOMEM;
    *n = (struct pythia_space_node){.calls = row[2],
                                    .requests = row[3],
                                    .visits = row[4],
                                    .time_ns = row[5],
                                    .root = (row[6] & PYTHIA__SPACE_ROOT) != 0,
                                    .entry = (row[6] & PYTHIA__SPACE_ENTRY) != 0,
                                    .outlived =
                                        row[6] & PYTHIA__SPACE_OUTLIVES ? row[2] + !row[2] : 0};
    return PYTHIA_OK;
}

static int take_node_bytes(struct reading *r, void *context, size_t i)
{
    struct pythia_space_type *t = context;
    const uint32_t *mark;
    uint64_t bytes = 0;
    int status = read_marked_number(r, &mark, &bytes);
    if (status < 0)
        return status;
    if (status == 1 || i + 1 >= r->node_count)
        return wrong_row(r, mark, "bytes of node", i);
    t->nodes[r->nodes[i + 1]].bytes = bytes;
    return PYTHIA_OK;
}

/* The nodes of the type are read already: an edge of a node that it does not have is an error. */
static int take_edge(struct reading *r, void *context, size_t i)
{
    struct pythia_space_type *t = context;
    const uint32_t *mark;
    uint64_t row[ROW] = {0};
    int status = read_marked_row(r, &mark, row);
    if (status < 0)
        return status;
    if (status == 1 || row[0] >= r->node_count || row[1] >= r->point_count ||
        row[3] >= r->point_count || row[2] > PYTHIA_EVENT_ANNOTATION ||
        row[4] > PYTHIA_EVENT_ANNOTATION)
        return wrong_row(r, mark, "edge", i);
    struct pythia_edge edge = {.context = r->nodes[row[0]],
                               .from_tracepoint = r->points[row[1]],
                               .from_event = (uint8_t)row[2],
                               .to_tracepoint = r->points[row[3]],
                               .to_event = (uint8_t)row[4]};
    struct pythia_space_edge *known = pythia_space_edge_make(t, &edge);
    if (!known)
        return PYTHIA_ENOMEM;
    *known = (struct pythia_space_edge){.visits = row[5], .time_ns = row[6]};
    return PYTHIA_OK;
}

static int read_nodes(struct reading *r, struct pythia_space_type *t)
{
    size_t count;
    if (pythia_grow(&r->nodes, &r->node_capacity, 0, sizeof(*r->nodes)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    r->nodes[0] = PYTHIA_CCT_ROOT;
    int status = read_space_array(r, t, take_space_node, &count);
    r->node_count = count + 1;
    return status;
}

static int read_bytes(struct reading *r, struct pythia_space_type *t)
{
    size_t count;
    int status = read_space_array(r, t, take_node_bytes, &count);
    if (status != PYTHIA_OK)
        return status;
    if (count + 1 != r->node_count)
        return fail_value(r, "bytes end behind node", count);
    return PYTHIA_OK;
}

/* Read one member of a type. *t is NULL before its name was read. */
static int read_type_member(struct reading *r, struct pythia_text key, struct pythia_space_type **t,
                            uint64_t *requests, size_t i)
{
    size_t count;
    if (PYTHIA_TEXT_IS(key, "name")) {
        uint32_t name = PYTHIA_NONE;
        int status = *t ? fail_value(r, "a second name of type", i) : intern_string(r, &name);
        if (status != PYTHIA_OK)
            return status;
        *t = pythia_space_type_make(r->space, name);
        return *t ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    if (PYTHIA_TEXT_IS(key, "requests")) {
        const uint32_t *mark;
        int status = read_marked_number(r, &mark, requests);
        return status == 1 ? wrong_row(r, mark, "requests of type", i) : status;
    }
    bool nodes = PYTHIA_TEXT_IS(key, "nodes"), bytes = PYTHIA_TEXT_IS(key, "bytes");
    if (!nodes && !bytes && !PYTHIA_TEXT_IS(key, "edges"))
        return pythia_json_skip(r->j);
    if (!*t || (!nodes && r->node_count == 0))
        return fail_value(r, "name and nodes have to come before what is here of type", i);
    return nodes   ? read_nodes(r, *t)
           : bytes ? read_bytes(r, *t)
                   : read_space_array(r, *t, take_edge, &count);
}

static int take_type(struct reading *r, void *context, size_t i)
{
    (void)context;
    struct pythia_space_type *t = NULL;
    struct pythia_text key;
    uint64_t requests = UINT64_MAX;
    r->node_count = 0;
    int status = pythia_json_object(r->j);
    if (status != PYTHIA_OK)
        return status;
    while ((status = pythia_json_field(r->j, &key)) == PYTHIA_OK)
        if ((status = read_type_member(r, key, &t, &requests, i)) != PYTHIA_OK)
            return status;
    if (status < 0)
        return status;
    if (!t || requests == UINT64_MAX)
        return fail_value(r, "no name, or no requests, of type", i);
    t->requests = requests;
    return PYTHIA_OK;
}

/* ---- the file ---- */

static int no_space(struct reading *r, const char *found, size_t size)
{
    return pythia_error_set(&r->j->error, PYTHIA_EFORMAT,
                            "is not a search space of this version (pythia space build makes one): "
                            "expected schema %s, found "
                            "%.*s",
                            PYTHIA__SPACE_SCHEMA, (int)size, found);
}

/* Members that this version does not know are skipped: a later version may add some. */
static int read_top(struct reading *r, struct pythia_text key)
{
    size_t count;
    if (PYTHIA_TEXT_IS(key, "schema")) {
        struct pythia_text found;
        int status = pythia_json_string(r->j, &found);
        if (status != PYTHIA_OK)
            return status;
        r->schema = PYTHIA_TEXT_IS(found, PYTHIA__SPACE_SCHEMA);
        return r->schema ? PYTHIA_OK
                         : no_space(r, found.bytes, found.size < 100 ? found.size : 100);
    }
    if (PYTHIA_TEXT_IS(key, "trace_points")) {
        int status = read_space_array(r, NULL, take_space_point, &r->point_count);
        r->listed = true;
        return status;
    }
    if (!PYTHIA_TEXT_IS(key, "types"))
        return pythia_json_skip(r->j);
    return r->listed ? read_space_array(r, NULL, take_type, &count)
                     : pythia_json_fail(r->j, PYTHIA_EFORMAT,
                                        "is not a valid search space: trace points must come "
                                        "before types");
}

/* Anything else than one object with the schema is another file: it gets the same message. */
static int read_space_file(struct reading *r)
{
    struct pythia_text key;
    int status = pythia_json_document(r->j);
    if (status < 0)
        return status;
    if (status == 1 || (status = pythia_json_peek(r->j)) != '{')
        return status < 0 ? status : no_space(r, "none", 4);
    if ((status = pythia_json_object(r->j)) != PYTHIA_OK)
        return status;
    while ((status = pythia_json_field(r->j, &key)) == PYTHIA_OK)
        if ((status = read_top(r, key)) != PYTHIA_OK)
            return status;
    if (status < 0)
        return status;
    if (!r->schema)
        return no_space(r, "none", 4);
    status = pythia_json_document(r->j);
    return status == 1 ? PYTHIA_OK
           : status < 0
               ? status
               : pythia_json_fail(r->j, PYTHIA_EFORMAT,
                                  "is not a valid search space: it is followed by other data");
}

/* The first cause stays; the parser has the place of its own errors. */
static void fail_reading(const struct reading *r, const struct pythia_source *from, int status,
                         struct pythia_error *e)
{
    if (!e || e->status != PYTHIA_OK)
        return;
    if (r->j && r->j->error.status != PYTHIA_OK)
        *e = r->j->error;
    else
        pythia_error_set(e, status, "no memory to read it");
    pythia_error_place(e, from->name, 0, 0);
}

static int read_from(struct pythia_source *from, struct pythia_space *space, struct pythia_error *e)
{
    struct reading r = {.space = space, .vocabulary = pythia_space_vocabulary(space)};
    int status = pythia_json_create(from, 0, &r.j);
    if (status != PYTHIA_OK || (status = read_space_file(&r)) != PYTHIA_OK)
        fail_reading(&r, from, status, e);
    pythia_json_destroy(r.j);
    pythia_free(r.points);
    pythia_free(r.nodes);
    return status;
}

int pythia_space_file_read(const char *path, struct pythia_space *space, struct pythia_error *e)
{
    struct file_source from = {.source = {.name = path, .read = file_read},
                               .file = open(path, O_RDONLY | O_CLOEXEC)};
    if (from.file < 0) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(errno));
    }
    int status = read_from(&from.source, space, e);
    close(from.file);
    return status;
}

int pythia_space_file_parse(const char *name, struct pythia_text bytes, struct pythia_space *space,
                            struct pythia_error *e)
{
    struct pythia_memory_source from;
    pythia_memory_source_init(&from, name, bytes.bytes, bytes.size);
    return read_from(&from.source, space, e);
}
