/* Five sources of a name are tried, in a fixed order: a key that the user names, what the program
 * said, the route of an instrumentation, the trace points of the roots, and their path. */
#include "pythia/request_type.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/hash.h"
#include "pythia/http_name.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CACHED 256 /* sets of roots; a power of two */

/* The known facts of a trace point as a root. */
enum { NOT_LOOKED, COUNTS, LEFT_OUT };

/* Keys of the semantic conventions, in the order in which each is preferred. */
enum key {
    HTTP_ROUTE,
    HTTP_METHOD,
    HTTP_METHOD_OLD, /* before version 1.23 of the conventions */
    URL_PATH,
    HTTP_TARGET, /* before version 1.23 */
    URL_FULL,
    HTTP_URL, /* before version 1.23 */
    RPC_SERVICE,
    RPC_METHOD,
    MESSAGING_TEMPLATE,
    MESSAGING_OPERATION,
    MESSAGING_OPERATION_TYPE,
    MESSAGING_OPERATION_OLD, /* before version 1.27 */
    KEYS
};
static const char *const key_names[KEYS] = {"http.route",
                                            "http.request.method",
                                            "http.method",
                                            "url.path",
                                            "http.target",
                                            "url.full",
                                            "http.url",
                                            "rpc.service",
                                            "rpc.method",
                                            "messaging.destination.template",
                                            "messaging.operation.name",
                                            "messaging.operation.type",
                                            "messaging.operation"};

struct pythia_request_types {
    struct pythia_vocabulary *vocabulary;
    struct pythia_request_type_options options;
    uint32_t told; /* number of the string PYTHIA_REQUEST_TYPE_KEY; PYTHIA_NONE: nobody said it */
    uint32_t attribute, keys[KEYS]; /* numbers of strings */
    uint8_t *roots;                 /* by trace point */
    size_t root_capacity;
    uint32_t *names; /* scratch: patterns of the roots at hand */
    size_t name_capacity;
    struct pythia_buf name, path;
    bool was_path;
    uint32_t path_at;
    struct {
        uint64_t set;
        uint32_t type;
    } cache[CACHED];
};

int pythia_request_types_create(struct pythia_vocabulary *vocabulary,
                                const struct pythia_request_type_options *options,
                                struct pythia_request_types **out)
{
    struct pythia_request_types *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->vocabulary = vocabulary;
    r->options = *options;
    r->told = PYTHIA_NONE;
    r->attribute = pythia_vocabulary_string(
        vocabulary, pythia_text_of(options->attribute ? options->attribute : ""));
    bool known = r->attribute != PYTHIA_NONE;
    for (size_t i = 0; i < KEYS && known; i++) {
        r->keys[i] = pythia_vocabulary_string(vocabulary, pythia_text_of(key_names[i]));
        known = r->keys[i] != PYTHIA_NONE;
    }
    if (!known) {
        pythia_free(r);
        return PYTHIA_ENOMEM;
    }
    *out = r;
    return PYTHIA_OK;
}

void pythia_request_types_destroy(struct pythia_request_types *r)
{
    if (!r)
        return;
    pythia_buf_free(&r->name);
    pythia_buf_free(&r->path);
    pythia_free(r->roots);
    pythia_free(r->names);
    pythia_free(r);
}

/* ---- 1: an attribute ---- */

static void add_attribute_value(struct pythia_buf *to, const struct pythia_attribute *a)
{
    if (a->kind == PYTHIA_ATTRIBUTE_TEXT)
        pythia_buf_text_add(to, a->text);
    else if (a->kind == PYTHIA_ATTRIBUTE_REAL)
        pythia_buf_printf(to, "%.15g", a->real);
    else if (a->kind == PYTHIA_ATTRIBUTE_BOOL)
        pythia_buf_puts(to, a->integer ? "true" : "false");
    else
        pythia_buf_printf(to, "%" PRId64, a->integer);
}

/* Does the span say it, and what? */
typedef bool find_on(const struct pythia_request_types *r, const struct pythia_trace_span *span,
                     struct pythia_attribute *out);

static bool find_attribute(const struct pythia_request_types *r,
                           const struct pythia_trace_span *span, struct pythia_attribute *out)
{
    return pythia_attributes_find(span->attributes, r->attribute, out) ||
           pythia_attributes_find(
               pythia_vocabulary_resource_at(r->vocabulary, span->resource).attributes,
               r->attribute, out);
}

/* On the first root that has it, else on the span that began first, with `own` only of those in the
 * process of the first root. */
static bool find_in_trace(const struct pythia_request_types *r, const struct pythia_trace *t,
                          find_on *find, bool own, struct pythia_attribute *found)
{
    struct pythia_attribute one;
    for (uint32_t root = t->first_root; root != PYTHIA_NO_SPAN; root = t->spans[root].next_sibling)
        if (find(r, &t->spans[root], found))
            return true;
    const struct pythia_trace_span *first = NULL;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct pythia_trace_span *span = &t->spans[i];
        /* A service that was called may have an attribute of the same name, with another meaning.
         */
        if (own && span->resource != t->spans[t->first_root].resource)
            continue;
        if (first && (span->start_ns > first->start_ns ||
                      (span->start_ns == first->start_ns && span->id > first->id)))
            continue;
        if (find(r, span, &one)) {
            first = span;
            *found = one;
        }
    }
    return first != NULL;
}

static bool by_attribute(struct pythia_request_types *r, const struct pythia_trace *t)
{
    struct pythia_attribute found;
    if (!find_in_trace(r, t, find_attribute, false, &found))
        return false;
    add_attribute_value(&r->name, &found);
    return true;
}

/* ---- 2: what the program told ---- */

static bool find_told(const struct pythia_request_types *r, const struct pythia_trace_span *span,
                      struct pythia_attribute *out)
{
    return pythia_attributes_find(span->attributes, r->told, out) &&
           out->kind == PYTHIA_ATTRIBUTE_TEXT && out->text.size > 0;
}

/* A process called further down may use a type name of its own. No span is looked at before the
 * key was found. */
static bool by_program(struct pythia_request_types *r, const struct pythia_trace *t)
{
    struct pythia_attribute found;
    if (r->told == PYTHIA_NONE)
        r->told =
            pythia_vocabulary_string_find(r->vocabulary, PYTHIA_TEXT(PYTHIA_REQUEST_TYPE_KEY));
    if (r->told == PYTHIA_NONE || !find_in_trace(r, t, find_told, true, &found))
        return false;
    add_attribute_value(&r->name, &found);
    return true;
}

/* ---- 3: what instrumentations say of the route ---- */

/* The text of a span under a key; false if there is none, or an empty one. */
static bool span_text_of_key(const struct pythia_trace_span *span, uint32_t key,
                             struct pythia_text *out)
{
    struct pythia_attribute a;
    if (!pythia_attributes_find(span->attributes, key, &a) || a.kind != PYTHIA_ATTRIBUTE_TEXT ||
        a.text.size == 0)
        return false;
    *out = a.text;
    return true;
}

/* The first of some keys, in their order, that a span has a text under. */
static bool first_text_of(const struct pythia_request_types *r,
                          const struct pythia_trace_span *span, enum key from, enum key last,
                          struct pythia_text *out)
{
    for (enum key k = from; k <= last; k++)
        if (span_text_of_key(span, r->keys[k], out))
            return true;
    return false;
}

/* Begin a name: "<service> ", if it is known. */
static void add_service_prefix(struct pythia_request_types *r, const struct pythia_trace_span *root)
{
    uint32_t service = pythia_vocabulary_resource_at(r->vocabulary, root->resource).service;
    pythia_buf_text_add(&r->name, pythia_vocabulary_text(r->vocabulary, service));
    pythia_buf_puts(&r->name, service ? " " : "");
}

static void add_name_word(struct pythia_request_types *r, struct pythia_text word)
{
    pythia_buf_text_add(&r->name, word);
    pythia_buf_puts(&r->name, word.size ? " " : "");
}

static struct pythia_http_name http_name_of(const struct pythia_request_types *r,
                                            const struct pythia_trace_span *root)
{
    uint32_t name = pythia_vocabulary_tracepoint_at(r->vocabulary, root->tracepoint)->name;
    return pythia_http_name_of(pythia_vocabulary_text(r->vocabulary, name));
}

/* The method that the root's attributes say, or else its name; empty: neither does. */
static struct pythia_text method_of(const struct pythia_request_types *r,
                                    const struct pythia_trace_span *root)
{
    struct pythia_text method;
    return first_text_of(r, root, HTTP_METHOD, HTTP_METHOD_OLD, &method)
               ? method
               : http_name_of(r, root).method;
}

/* A method with a '/' in it has its service before that: so it is since version 1.38 of the
 * conventions. */
static bool by_rpc(struct pythia_request_types *r, const struct pythia_trace_span *root)
{
    struct pythia_text service, method;
    if (!span_text_of_key(root, r->keys[RPC_METHOD], &method))
        return false;
    add_service_prefix(r, root);
    if (!pythia_text_contains(method, PYTHIA_TEXT("/")) &&
        span_text_of_key(root, r->keys[RPC_SERVICE], &service)) {
        pythia_buf_text_add(&r->name, service);
        pythia_buf_putc(&r->name, '/');
    }
    pythia_buf_text_add(&r->name, method);
    return true;
}

static bool by_destination(struct pythia_request_types *r, const struct pythia_trace_span *root)
{
    struct pythia_text destination, operation = PYTHIA_TEXT("");
    if (!span_text_of_key(root, r->keys[MESSAGING_TEMPLATE], &destination))
        return false;
    (void)first_text_of(r, root, MESSAGING_OPERATION, MESSAGING_OPERATION_OLD, &operation);
    add_service_prefix(r, root);
    add_name_word(r, operation);
    pythia_buf_text_add(&r->name, destination);
    return true;
}

static bool by_route(struct pythia_request_types *r, const struct pythia_trace_span *root)
{
    struct pythia_text route;
    if (!span_text_of_key(root, r->keys[HTTP_ROUTE], &route))
        return by_rpc(r, root) || by_destination(r, root);
    add_service_prefix(r, root);
    add_name_word(r, method_of(r, root));
    pythia_buf_text_add(&r->name, route);
    return true;
}

/* ---- 5: the path ---- */

/* Append a path, its identifiers replaced. */
static void add_plain_template(struct pythia_buf *to, struct pythia_text path)
{
    size_t capacity = path.size * 3 + 8;
    char *room = pythia_buf_reserve(to, capacity);
    size_t size = room ? pythia_text_template(path, room, capacity) : 0;
    if (size)
        to->size += size;
    else
        pythia_buf_text_add(to, path);
}

/* Only a root that is named after nothing but its method: any other name says more than a path, of
 * which there may be as many as there are users. */
static bool by_path(struct pythia_request_types *r, const struct pythia_trace_span *root)
{
    struct pythia_text url;
    /* A route template, where the framework gives one, is better than any that can be derived. */
    if (http_name_of(r, root).kind != PYTHIA_HTTP_NAME_BARE ||
        !first_text_of(r, root, URL_PATH, HTTP_URL, &url) || pythia_url_path(url).size == 0)
        return false;
    add_service_prefix(r, root);
    add_name_word(r, method_of(r, root));
    if (r->options.mark_paths) {
        pythia_buf_putc(&r->name, '\n');
        r->path_at = (uint32_t)r->name.size;
    }
    pythia_buf_clear(&r->path);
    r->path.failed = 0;
    add_plain_template(&r->path, pythia_url_path(url));
    if (pythia_buf_status(&r->path) != PYTHIA_OK ||
        (r->options.templates &&
         pythia_path_templates_add(r->options.templates, pythia_buf_text(&r->name),
                                   pythia_buf_text(&r->path), &r->name) != PYTHIA_OK))
        r->name.failed = 1;
    else if (!r->options.templates)
        pythia_buf_text_add(&r->name, pythia_buf_text(&r->path));
    r->was_path = true;
    return true;
}

/* ---- 4: the root trace points ---- */

/* Does this trace point count as a root? Asked once for each. */
static int classify_root(struct pythia_request_types *r, uint32_t tracepoint, bool *counts)
{
    if (tracepoint >= r->root_capacity) {
        size_t capacity = ((size_t)tracepoint + 1) * 2;
        uint8_t *roots = pythia_realloc(r->roots, capacity, 1);
        if (!roots)
            return PYTHIA_ENOMEM;
        memset(roots + r->root_capacity, NOT_LOOKED, capacity - r->root_capacity);
        r->roots = roots;
        r->root_capacity = capacity;
    }
    if (r->roots[tracepoint] == NOT_LOOKED) {
        const char *id =
            pythia_vocabulary_tracepoint_id(r->vocabulary, tracepoint).bytes; /* ends with a NUL */
        r->roots[tracepoint] = COUNTS;
        for (size_t i = 0; i < r->options.left_out_count; i++)
            if (fnmatch(r->options.left_out[i], id, 0) == 0)
                r->roots[tracepoint] = LEFT_OUT;
    }
    *counts = r->roots[tracepoint] == COUNTS;
    return PYTHIA_OK;
}

/* The patterns of the roots, each once, in order of text; with `all` also the ignored ones. */
static int gather_root_patterns(struct pythia_request_types *r, const struct pythia_trace *t,
                                bool all, size_t *count)
{
    size_t n = 0;
    for (uint32_t root = t->first_root; root != PYTHIA_NO_SPAN;
         root = t->spans[root].next_sibling) {
        uint32_t tracepoint = t->spans[root].tracepoint;
        bool counts;
        if (classify_root(r, tracepoint, &counts) != PYTHIA_OK ||
            pythia_grow(&r->names, &r->name_capacity, n, sizeof(*r->names)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        if (!counts && !all)
            continue;
        uint32_t pattern = pythia_vocabulary_tracepoint_at(r->vocabulary, tracepoint)->pattern;
        struct pythia_text text = pythia_vocabulary_text(r->vocabulary, pattern);
        size_t at = 0;
        /* Insertion keeps the patterns in the order of their texts: a request must have the same
         * name whichever of its roots arrived first. Roots are few. */
        while (at < n &&
               pythia_text_compare(pythia_vocabulary_text(r->vocabulary, r->names[at]), text) < 0)
            at++;
        if (at < n && r->names[at] == pattern)
            continue;
        memmove(r->names + at + 1, r->names + at, (n - at) * sizeof(*r->names));
        r->names[at] = pattern;
        n++;
    }
    *count = n;
    return PYTHIA_OK;
}

static uint32_t by_roots(struct pythia_request_types *r, const struct pythia_trace *t)
{
    size_t count = 0;
    if (gather_root_patterns(r, t, false, &count) != PYTHIA_OK ||
        (count == 0 && gather_root_patterns(r, t, true, &count) != PYTHIA_OK))
        return PYTHIA_NONE;
    uint64_t set = count;
    for (size_t i = 0; i < count; i++)
        set = pythia_hash_mix(set, r->names[i]);
    /* Most requests have one of a few sets of roots; the cache saves composing and interning the
     * name. A collision of 64-bit hashes is accepted: it would merge two types. */
    if (r->cache[set % CACHED].set == set)
        return r->cache[set % CACHED].type;
    for (size_t i = 0; i < count; i++) {
        pythia_buf_puts(&r->name, i ? " + " : "");
        pythia_buf_text_add(&r->name, pythia_vocabulary_text(r->vocabulary, r->names[i]));
    }
    if (pythia_buf_status(&r->name) != PYTHIA_OK)
        return PYTHIA_NONE;
    uint32_t type = pythia_vocabulary_string(r->vocabulary, pythia_buf_text(&r->name));
    /* "(other)" is not cached: the vocabulary may admit the name once it has come often enough. */
    if (type != PYTHIA_NONE && !pythia_vocabulary_is_other(r->vocabulary, type)) {
        r->cache[set % CACHED].set = set;
        r->cache[set % CACHED].type = type;
    }
    return type;
}

uint32_t pythia_request_type(struct pythia_request_types *r, const struct pythia_trace *trace)
{
    pythia_buf_clear(&r->name);
    r->name.failed = 0; /* memory may be there again */
    r->was_path = false;
    r->path_at = 0;
    const struct pythia_trace_span *root = &trace->spans[trace->first_root];
    bool named = (r->options.attribute && by_attribute(r, trace)) || by_program(r, trace) ||
                 (trace->roots == 1 && (by_route(r, root) || by_path(r, root)));
    if (!named)
        return by_roots(r, trace);
    return pythia_buf_status(&r->name) == PYTHIA_OK
               ? pythia_vocabulary_string(r->vocabulary, pythia_buf_text(&r->name))
               : PYTHIA_NONE;
}

uint32_t pythia_request_type_path_at(const struct pythia_request_types *r)
{
    return r->path_at;
}

bool pythia_request_type_was_path(const struct pythia_request_types *r)
{
    return r->was_path;
}
