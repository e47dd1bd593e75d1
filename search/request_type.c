#include "pythia/request_type.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CACHED 256 /* sets of roots; a power of two */

/* What is known of a trace point as a root. */
enum { NOT_LOOKED, COUNTS, LEFT_OUT };

struct pythia_request_types {
    struct pythia_vocabulary *vocabulary;
    struct pythia_request_type_options options;
    uint32_t told; /* number of the string PYTHIA_REQUEST_TYPE_KEY; PYTHIA_NONE: nobody said it */
    uint32_t attribute, http_route, http_method, http_method_old, http_target,
        url_path;   /* numbers of strings */
    uint8_t *roots; /* by trace point */
    size_t root_capacity;
    uint32_t *names; /* scratch: patterns of the roots at hand */
    size_t name_capacity;
    struct pythia_buf name;
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
    struct {
        uint32_t *number;
        const char *text;
    } keys[] = {
        {&r->attribute, options->attribute ? options->attribute : ""},
        {&r->http_route, "http.route"},
        {&r->http_method, "http.request.method"},
        {&r->http_method_old, "http.method"},
        {&r->http_target, "http.target"},
        {&r->url_path, "url.path"},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        *keys[i].number = pythia_vocabulary_string(vocabulary, pythia_text_of(keys[i].text));
        if (*keys[i].number == PYTHIA_NONE) {
            pythia_free(r);
            return PYTHIA_ENOMEM;
        }
    }
    *out = r;
    return PYTHIA_OK;
}

void pythia_request_types_destroy(struct pythia_request_types *r)
{
    if (!r)
        return;
    pythia_buf_free(&r->name);
    pythia_free(r->roots);
    pythia_free(r->names);
    pythia_free(r);
}

/* ---- 1: an attribute ---- */

static void add_value(struct pythia_buf *to, const struct pythia_attribute *a)
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
    add_value(&r->name, &found);
    return true;
}

/* ---- 2: what the program told ---- */

static bool find_told(const struct pythia_request_types *r, const struct pythia_trace_span *span,
                      struct pythia_attribute *out)
{
    return pythia_attributes_find(span->attributes, r->told, out) &&
           out->kind == PYTHIA_ATTRIBUTE_TEXT && out->text.size > 0;
}

/* Who is called further down, in another process, may have a name of its own for what it does. No
 * span is looked at before the key was met. */
static bool by_program(struct pythia_request_types *r, const struct pythia_trace *t)
{
    struct pythia_attribute found;
    if (r->told == PYTHIA_NONE)
        r->told =
            pythia_vocabulary_string_find(r->vocabulary, PYTHIA_TEXT(PYTHIA_REQUEST_TYPE_KEY));
    if (r->told == PYTHIA_NONE || !find_in_trace(r, t, find_told, true, &found))
        return false;
    add_value(&r->name, &found);
    return true;
}

/* ---- 3: an HTTP route ---- */

static bool by_route(struct pythia_request_types *r, const struct pythia_trace_span *root)
{
    struct pythia_attribute method, route;
    if (!pythia_attributes_find(root->attributes, r->http_method, &method) &&
        !pythia_attributes_find(root->attributes, r->http_method_old, &method))
        return false;
    bool known = pythia_attributes_find(root->attributes, r->http_route, &route);
    if (!known && !pythia_attributes_find(root->attributes, r->http_target, &route) &&
        !pythia_attributes_find(root->attributes, r->url_path, &route))
        return false;
    if (route.kind != PYTHIA_ATTRIBUTE_TEXT || method.kind != PYTHIA_ATTRIBUTE_TEXT)
        return false;
    uint32_t service = pythia_vocabulary_resource_at(r->vocabulary, root->resource).service;
    pythia_buf_text_add(&r->name, pythia_vocabulary_text(r->vocabulary, service));
    pythia_buf_puts(&r->name, service ? " " : "");
    pythia_buf_text_add(&r->name, method.text);
    pythia_buf_putc(&r->name, ' ');
    char *room = known ? NULL : pythia_buf_reserve(&r->name, route.text.size * 2 + 64);
    size_t size = room ? pythia_text_template(route.text, room, route.text.size * 2 + 64) : 0;
    if (size)
        r->name.size += size;
    else
        pythia_buf_text_add(&r->name, route.text);
    return true;
}

/* ---- 4: the root trace points ---- */

/* Does this trace point count as a root? Asked once for each. */
static int look(struct pythia_request_types *r, uint32_t tracepoint, bool *counts)
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

/* The patterns of the roots, each once, in order of text; with `all` also those that do not count.
 */
static int gather(struct pythia_request_types *r, const struct pythia_trace *t, bool all,
                  size_t *count)
{
    size_t n = 0;
    for (uint32_t root = t->first_root; root != PYTHIA_NO_SPAN;
         root = t->spans[root].next_sibling) {
        uint32_t tracepoint = t->spans[root].tracepoint;
        bool counts;
        if (look(r, tracepoint, &counts) != PYTHIA_OK ||
            pythia_grow(&r->names, &r->name_capacity, n, sizeof(*r->names)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        if (!counts && !all)
            continue;
        uint32_t pattern = pythia_vocabulary_tracepoint_at(r->vocabulary, tracepoint)->pattern;
        struct pythia_text text = pythia_vocabulary_text(r->vocabulary, pattern);
        size_t at = 0;
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
    if (gather(r, t, false, &count) != PYTHIA_OK ||
        (count == 0 && gather(r, t, true, &count) != PYTHIA_OK))
        return PYTHIA_NONE;
    uint64_t set = count;
    for (size_t i = 0; i < count; i++)
        set = pythia_hash_mix(set, r->names[i]);
    if (r->cache[set % CACHED].set == set)
        return r->cache[set % CACHED].type;
    for (size_t i = 0; i < count; i++) {
        pythia_buf_puts(&r->name, i ? " + " : "");
        pythia_buf_text_add(&r->name, pythia_vocabulary_text(r->vocabulary, r->names[i]));
    }
    if (pythia_buf_status(&r->name) != PYTHIA_OK)
        return PYTHIA_NONE;
    uint32_t type = pythia_vocabulary_string(r->vocabulary, pythia_buf_text(&r->name));
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
    const struct pythia_trace_span *root = &trace->spans[trace->first_root];
    bool named = (r->options.attribute && by_attribute(r, trace)) || by_program(r, trace) ||
                 (trace->roots == 1 && by_route(r, root));
    if (!named)
        return by_roots(r, trace);
    return pythia_buf_status(&r->name) == PYTHIA_OK
               ? pythia_vocabulary_string(r->vocabulary, pythia_buf_text(&r->name))
               : PYTHIA_NONE;
}
