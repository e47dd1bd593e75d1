#include "pythia/request_variables.h"

#include <math.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define PREFIX "variable."

enum { OF_MAX, OF_MEAN, OF_LAST, OFS };

/* A key that is a variable's, what is made of it, and the values of the trace at hand. */
struct variable {
    uint32_t key, made[OFS];
    uint64_t n, last_ns;
    double max, mean, last;
};

struct pythia_request_variables {
    struct pythia_vocabulary *vocabulary;
    uint32_t looked_at;  /* strings */
    uint32_t *of_string; /* by number of a string: 1 + index of the variable, 0: it is none */
    size_t strings;      /* capacity of of_string */
    struct variable *all;
    size_t count, capacity;
    struct pythia_trace trace;
    struct pythia_trace_span *spans;
    size_t span_capacity;
    struct pythia_buf attributes;
};

int pythia_request_variables_create(struct pythia_vocabulary *vocabulary,
                                    struct pythia_request_variables **out)
{
    struct pythia_request_variables *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->vocabulary = vocabulary;
    *out = r;
    return PYTHIA_OK;
}

void pythia_request_variables_destroy(struct pythia_request_variables *r)
{
    if (!r)
        return;
    pythia_free(r->of_string);
    pythia_free(r->all);
    pythia_free(r->spans);
    pythia_buf_free(&r->attributes);
    pythia_free(r);
}

/* ---- which keys ---- */

static bool is_made(struct pythia_text key)
{
    return pythia_text_ends(key, PYTHIA_TEXT(".max")) ||
           pythia_text_ends(key, PYTHIA_TEXT(".mean")) ||
           pythia_text_ends(key, PYTHIA_TEXT(".last"));
}

/* The three names are interned once: then a request costs no lookup by text. */
static int add_request_variable(struct pythia_request_variables *r, uint32_t key,
                                struct pythia_text text)
{
    static const char *const ends[OFS] = {".max", ".mean", ".last"};
    struct variable v = {.key = key};
    struct pythia_buf name = {0};
    if (pythia_grow(&r->all, &r->capacity, r->count, sizeof(*r->all)) != PYTHIA_OK ||
        pythia_reach(&r->of_string, &r->strings, key, sizeof(*r->of_string)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_ENOMEM;
    for (size_t i = 0; i < OFS; i++) {
        pythia_buf_clear(&name);
        pythia_buf_text_add(&name, text);
        pythia_buf_puts(&name, ends[i]);
        if (pythia_buf_status(&name) != PYTHIA_OK)
            goto out;
        v.made[i] = pythia_vocabulary_string(r->vocabulary, pythia_buf_text(&name));
        if (v.made[i] == PYTHIA_NONE)
            goto out;
    }
    r->all[r->count++] = v;
    r->of_string[key] = (uint32_t)r->count;
    status = PYTHIA_OK;
out:
    pythia_buf_free(&name);
    return status;
}

/* Look at the names that have come since the last time. */
static int look_at_names(struct pythia_request_variables *r)
{
    uint32_t strings = pythia_vocabulary_numbers(r->vocabulary).strings;
    for (; r->looked_at < strings; r->looked_at++) {
        struct pythia_text text = pythia_vocabulary_text(r->vocabulary, r->looked_at);
        if (!pythia_text_starts(text, PYTHIA_TEXT(PREFIX)) || is_made(text))
            continue;
        if (add_request_variable(r, r->looked_at, text) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* ---- values ---- */

static void take_value(struct variable *v, double value, uint64_t at_ns)
{
    v->max = v->n ? fmax(v->max, value) : value;
    v->mean = v->n ? v->mean + (value - v->mean) / (double)(v->n + 1) : value;
    if (!v->n || at_ns >= v->last_ns) { /* of one span, the one that was said last */
        v->last = value;
        v->last_ns = at_ns;
    }
    v->n++;
}

static bool take_span_values(struct pythia_request_variables *r,
                             const struct pythia_trace_span *span)
{
    struct pythia_text rest = span->attributes;
    struct pythia_attribute a;
    bool found = false;
    while (pythia_attributes_next(&rest, &a)) {
        uint32_t index = a.key < r->strings ? r->of_string[a.key] : 0;
        double value = a.kind == PYTHIA_ATTRIBUTE_INTEGER ? (double)a.integer
                       : a.kind == PYTHIA_ATTRIBUTE_REAL  ? a.real
                                                          : NAN;
        if (!index || !isfinite(value))
            continue;
        take_value(&r->all[index - 1], value, span->start_ns);
        found = true;
    }
    return found;
}

/* The trace is immutable: its root gets the values in a copy of the spans, which is made only for
 * traces that have some. */
const struct pythia_trace *pythia_request_variables_trace(struct pythia_request_variables *r,
                                                          const struct pythia_trace *trace)
{
    bool found = false;
    if (look_at_names(r) != PYTHIA_OK)
        return NULL;
    if (r->count == 0 || trace->first_root == PYTHIA_NO_SPAN)
        return trace;
    for (size_t i = 0; i < r->count; i++)
        r->all[i].n = 0;
    for (uint32_t i = 0; i < trace->count; i++)
        found |= take_span_values(r, &trace->spans[i]);
    if (!found)
        return trace;
    if (pythia_reach(&r->spans, &r->span_capacity, trace->count, sizeof(*r->spans)) != PYTHIA_OK)
        return NULL;
    memcpy(r->spans, trace->spans, trace->count * sizeof(*r->spans));
    struct pythia_trace_span *root = &r->spans[trace->first_root];
    pythia_buf_clear(&r->attributes);
    pythia_buf_text_add(&r->attributes, root->attributes);
    for (size_t i = 0; i < r->count; i++) {
        const struct variable *v = &r->all[i];
        if (v->n == 0)
            continue;
        pythia_attributes_real(&r->attributes, v->made[OF_MAX], v->max);
        pythia_attributes_real(&r->attributes, v->made[OF_MEAN], v->mean);
        pythia_attributes_real(&r->attributes, v->made[OF_LAST], v->last);
    }
    if (pythia_buf_status(&r->attributes) != PYTHIA_OK)
        return NULL;
    root->attributes = pythia_buf_text(&r->attributes);
    r->trace = *trace;
    r->trace.spans = r->spans;
    return &r->trace;
}
