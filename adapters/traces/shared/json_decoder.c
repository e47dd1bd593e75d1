/* A record is read within one window and in one pass. Whatever makes it unfit costs that record
 * alone: it is counted, and the cursor goes on after it. */
#include "json_decoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- documents and records ---- */

/* Errors after which nothing more can be read. */
static bool is_fatal_json(const struct pythia__decoder *d, int status)
{
    return status == PYTHIA_ENOMEM || d->json->source_failed || d->stopped < 0;
}

void pythia__broken(struct pythia__decoder *d)
{
    pythia__tell(d, &d->json->error);
}

/* A broken document costs only itself: it is reported, and reading resumes at the next one. What
 * ends the source (no memory, a failed read, too many faults) ends the loop. */
int pythia__decode(struct pythia__decoder *d, struct pythia_source *from, struct pythia_sink *to,
                   int (*document)(struct pythia__decoder *d), struct pythia_error *e)
{
    struct pythia_json *outer = d->json;
    int status = pythia_json_create(from, to->record_max, &d->json);
    if (status != PYTHIA_OK)
        return status;
    pythia__decoder_begin(d, to);
    for (;;) {
        status = pythia_json_document(d->json);
        if (status == 0)
            status = document(d);
        if (status == 1)
            break;
        if (status < 0) {
            if (is_fatal_json(d, status))
                break;
            pythia__broken(d);
            if (d->stopped < 0 || pythia_json_recover(d->json) != PYTHIA_OK)
                break;
        }
    }
    to->counts->repaired[PYTHIA_REPAIR_ENCODING] += d->json->repaired;
    if (status < 0 && e && e->status == PYTHIA_OK)
        *e = d->json->error;
    pythia_json_destroy(d->json);
    d->json = outer; /* a document may hold another one in a string */
    return status == 1 ? PYTHIA_OK : d->stopped < 0 ? d->stopped : status;
}

/* Pass over a record that is larger than the limit, piece by piece. One piece may be too large by
 * itself: then the document ends here, and its reader reports that once. */
static int pass_over_large(struct pythia__decoder *d)
{
    struct pythia_error large = d->json->error;
    pythia_error_clear(&d->json->error);
    int status = pythia_json_skip(d->json);
    if (status != PYTHIA_OK)
        return status;
    d->json->error = large;
    pythia__broken(d);
    if (d->stopped < 0)
        return d->stopped;
    pythia_error_clear(&d->json->error);
    return PYTHIA_OK;
}

/* All of a record is brought into memory before it is read, so that the text handed out stays valid
 * while the span is built, and so that a broken record can be passed over from its beginning. */
int pythia__record(struct pythia__decoder *d, int (*read)(struct pythia__decoder *d, void *context),
                   void *context)
{
    struct pythia_json *j = d->json;
    int status = pythia_json_whole(j);
    if (status < 0 && (status != PYTHIA_ELIMIT || is_fatal_json(d, status)))
        return status;
    if (status == PYTHIA_ELIMIT)
        return pass_over_large(d);
    const uint32_t *mark = d->record = pythia_json_mark(j);
    status = read(d, context);
    if (status >= 0 || is_fatal_json(d, status))
        return status < 0 ? status : PYTHIA_OK;
    if (j->error.status == PYTHIA_OK) /* nobody said why: the status has to do */
        pythia_json_fail_at(j, mark, status, "%s", pythia_status_text(status));
    pythia__broken(d);
    if (d->stopped < 0)
        return d->stopped;
    pythia_error_clear(&j->error);
    pythia_json_again(j, mark);
    return pythia_json_skip(j);
}

int pythia__unfit(struct pythia__decoder *d, const char *sentence)
{
    return pythia_json_fail_at(d->json, d->record, PYTHIA_EFORMAT, "%s", sentence);
}

/* Read the next value, which begins as null does: 1 if it is null. */
static int read_null(struct pythia__decoder *d)
{
    struct pythia_json_value value;
    int status = pythia_json_value(d->json, &value);
    return status < 0 ? status : 1;
}

int pythia__enter_object(struct pythia__decoder *d)
{
    return pythia_json_peek(d->json) == 'n' ? read_null(d) : pythia_json_object(d->json);
}

int pythia__enter_array(struct pythia__decoder *d)
{
    return pythia_json_peek(d->json) == 'n' ? read_null(d) : pythia_json_array(d->json);
}

int pythia__is(struct pythia__decoder *d, char bracket)
{
    struct pythia_json_value value;
    int c = pythia_json_peek(d->json);
    if (c == bracket || c < 0)
        return c < 0 ? c : 1;
    int status = pythia__read_scalar(d, &value); /* which finds out whether it is a value at all */
    if (status != PYTHIA_OK)
        return status;
    d->to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE]++;
    return PYTHIA_OK;
}

int pythia__read_objects(struct pythia__decoder *d, int (*object)(struct pythia__decoder *d))
{
    int c = pythia_json_peek(d->json);
    if (c == '{')
        return object(d);
    int status = pythia__is(d, '[');
    if (status != 1)
        return status;
    status = pythia_json_array(d->json);
    while (pythia_json_next_element(d->json, &status)) {
        status = pythia__is(d, '{');
        if (status == 1)
            status = object(d);
    }
    return status;
}

/* ---- values ---- */

int pythia__join_scalar(struct pythia__decoder *d, struct pythia_buf *joined)
{
    struct pythia_json_value value;
    int status = pythia__read_scalar(d, &value);
    if (status != PYTHIA_OK)
        return status;
    if (value.kind >= PYTHIA_JSON_OBJECT || joined->size >= PYTHIA__ARRAY_MAX)
        return PYTHIA_OK;
    if (joined->size)
        pythia_buf_putc(joined, ',');
    if (value.kind == PYTHIA_JSON_BOOL)
        pythia_buf_puts(joined, value.integer ? "true" : "false");
    else if (value.kind != PYTHIA_JSON_NULL)
        pythia_buf_text_add(joined, value.text);
    return PYTHIA_OK;
}

/* Add the scalars of the next value, an array, as one text with commas between. */
static int add_json_array(struct pythia__decoder *d, struct pythia_text name)
{
    struct pythia_buf joined = {0};
    uint32_t key;
    int status = pythia_json_array(d->json);
    while (pythia_json_next_element(d->json, &status))
        status = pythia__join_scalar(d, &joined);
    if (status != PYTHIA_OK)
        goto out;
    key = pythia__key(d, name);
    status = key == PYTHIA_NONE ? PYTHIA_ENOMEM : pythia_buf_status(&joined);
    if (status != PYTHIA_OK)
        goto out;
    pythia__add_text(d, key, pythia_buf_text(&joined));
out:
    pythia_buf_free(&joined);
    return status;
}

static int add_nested_value(struct pythia__decoder *d, struct pythia_text name, int depth);

static int add_json_object(struct pythia__decoder *d, struct pythia_text name, int depth)
{
    struct pythia_json *j = d->json;
    struct pythia_text member;
    int status = pythia_json_object(j);
    while (pythia_json_next_field(j, &member, &status)) {
        uint32_t key = pythia__key_below(d, name, member);
        if (key == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        status = add_nested_value(d, pythia_vocabulary_text(d->vocabulary, key), depth + 1);
    }
    return status;
}

/* An object becomes one key-value a member, so that each can explain latency by itself; an array is
 * one text, because the position of an element seldom means anything. */
static int add_nested_value(struct pythia__decoder *d, struct pythia_text name, int depth)
{
    struct pythia_json_value value;
    int status = pythia_json_value(d->json, &value);
    if (status != PYTHIA_OK)
        return status;
    uint32_t key = value.kind == PYTHIA_JSON_OBJECT ? 0 : pythia__key(d, name);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    switch (value.kind) {
    case PYTHIA_JSON_NULL:
        return PYTHIA_OK;
    case PYTHIA_JSON_BOOL:
        pythia_attributes_bool(&d->attributes, key, value.integer != 0);
        return PYTHIA_OK;
    case PYTHIA_JSON_INTEGER:
        pythia_attributes_integer(&d->attributes, key, value.integer);
        return PYTHIA_OK;
    case PYTHIA_JSON_REAL:
        pythia_attributes_real(&d->attributes, key, value.real);
        return PYTHIA_OK;
    case PYTHIA_JSON_STRING:
        pythia__add_text(d, key, value.text);
        return PYTHIA_OK;
    case PYTHIA_JSON_OBJECT:
        if (depth >= PYTHIA__DEPTH_MAX)
            return pythia_json_fail(d->json, PYTHIA_EFORMAT, "key-values are nested deeper than %d",
                                    PYTHIA__DEPTH_MAX);
        return add_json_object(d, name, depth);
    case PYTHIA_JSON_ARRAY:
        return add_json_array(d, name);
    }
    return PYTHIA_EINVAL;
}

int pythia__add_value(struct pythia__decoder *d, struct pythia_text name)
{
    return add_nested_value(d, name, 0);
}

int pythia__read_scalar(struct pythia__decoder *d, struct pythia_json_value *out)
{
    int status = pythia_json_value(d->json, out);
    if (status != PYTHIA_OK || out->kind < PYTHIA_JSON_OBJECT)
        return status;
    return pythia_json_skip(d->json);
}

int pythia__read_text(struct pythia__decoder *d, struct pythia_text *out)
{
    struct pythia_json_value value;
    int status = pythia__read_scalar(d, &value);
    if (status != PYTHIA_OK)
        return status;
    bool text = value.kind >= PYTHIA_JSON_INTEGER && value.kind <= PYTHIA_JSON_STRING;
    *out = text ? value.text : (struct pythia_text){"", 0};
    return PYTHIA_OK;
}

int pythia__read_key(struct pythia__decoder *d, struct pythia_text prefix, uint32_t *out)
{
    struct pythia_text text;
    int status = pythia_json_string(d->json, &text);
    if (status != PYTHIA_OK)
        return status;
    *out = pythia__key_below(d, prefix, text);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

int pythia__read_any_key(struct pythia__decoder *d, uint32_t *out)
{
    struct pythia_text text;
    int status = pythia__read_text(d, &text);
    if (status != PYTHIA_OK)
        return status;
    *out = pythia__key(d, text);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

int pythia__time(struct pythia__decoder *d, uint64_t number, uint64_t unit_ns, uint64_t *out)
{
    if (number > PYTHIA__TIME_MAX / unit_ns)
        return pythia_json_fail_last(d->json, PYTHIA_EFORMAT,
                                     "the time %" PRIu64 " is out of range", number);
    *out = number * unit_ns;
    return PYTHIA_OK;
}

#define US_MAX 9.2e15 /* microseconds: the year 2261 */

/* Exporters write microseconds as whole numbers, with a fraction, or as strings of either. A whole
 * number is multiplied as such, because a double would round the nanoseconds of today's dates. */
int pythia__read_duration_us(struct pythia__decoder *d, int64_t *out_ns)
{
    struct pythia_json_value value;
    int status = pythia_json_value(d->json, &value);
    if (status != PYTHIA_OK)
        return status;
    if (value.kind >= PYTHIA_JSON_OBJECT)
        return pythia_json_fail(d->json, PYTHIA_EFORMAT, "expected a time in microseconds");
    if (value.kind == PYTHIA_JSON_STRING && !pythia_json_number(value.text, &value))
        value.kind = PYTHIA_JSON_NULL;
    if (value.kind != PYTHIA_JSON_INTEGER && value.kind != PYTHIA_JSON_REAL)
        return pythia_json_fail_last(d->json, PYTHIA_EFORMAT, "expected a time in microseconds");
    if (value.real > -US_MAX && value.real < US_MAX) {
        *out_ns =
            value.kind == PYTHIA_JSON_INTEGER ? value.integer * 1000 : (int64_t)(value.real * 1000);
        return PYTHIA_OK;
    }
    return pythia_json_fail_last(d->json, PYTHIA_EFORMAT, "the time %.*s is out of range",
                                 (int)(value.text.size < 40 ? value.text.size : 40),
                                 value.text.bytes);
}

int pythia__read_time_us(struct pythia__decoder *d, uint64_t *out_ns)
{
    int64_t time_ns = 0;
    int status = pythia__read_duration_us(d, &time_ns);
    if (status != PYTHIA_OK)
        return status;
    if (time_ns < 0)
        return pythia_json_fail_last(d->json, PYTHIA_EFORMAT, "a time before 1970 is out of range");
    *out_ns = (uint64_t)time_ns;
    return PYTHIA_OK;
}

/* ---- likeness ---- */

/* Where the walk through a document's outline stands: the brackets around it, at most three of
 * them looked into. */
struct outline {
    struct pythia_json *json;
    struct pythia_buf *out;
    char brackets[4];
    int depth, keys;
};

#define OUTLINE_DEPTH 4
#define OUTLINE_KEYS  400

/* One step: the next member of the innermost container. 0, or anything else to stop. */
static int outline_step(struct outline *o)
{
    struct pythia_text key;
    bool object = o->brackets[o->depth - 1] == '{';
    int status = object ? pythia_json_field(o->json, &key) : pythia_json_element(o->json);
    if (status == 1)
        return --o->depth > 0 ? 0 : 1;
    if (status != 0)
        return status;
    if (object) {
        pythia_buf_printf(o->out, "%d%.*s\n", o->depth, (int)(key.size < 64 ? key.size : 64),
                          key.bytes);
        if (++o->keys > OUTLINE_KEYS)
            return 1;
    }
    int c = pythia_json_peek(o->json);
    if ((c != '{' && c != '[') || o->depth == OUTLINE_DEPTH)
        return c < 0 ? c : pythia_json_skip(o->json);
    o->brackets[o->depth++] = (char)c;
    return c == '{' ? pythia_json_object(o->json) : pythia_json_array(o->json);
}

void pythia__outline(struct pythia_text head, struct pythia_buf *out)
{
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "head", head.bytes, head.size);
    struct outline o = {.out = out};
    /* One byte more than there is, so that the cursor sees the end. */
    if (pythia_json_create(&memory.source, head.size + 1, &o.json) != PYTHIA_OK)
        return;
    int c = pythia_json_peek(o.json);
    if (c == '{' || c == '[') {
        o.brackets[o.depth++] = (char)c;
        int status = c == '{' ? pythia_json_object(o.json) : pythia_json_array(o.json);
        while (status == 0)
            status = outline_step(&o);
    }
    pythia_json_destroy(o.json);
}

bool pythia__outlined(struct pythia_text outline, int depth, const char *key)
{
    char line[80];
    int size = snprintf(line, sizeof(line), "%d%s\n", depth, key);
    struct pythia_text rest = outline;
    while (rest.size > 0) {
        const char *end = memchr(rest.bytes, '\n', rest.size);
        size_t length = end ? (size_t)(end - rest.bytes) + 1 : rest.size;
        if (length == (size_t)size && memcmp(rest.bytes, line, length) == 0)
            return true;
        rest.bytes += length;
        rest.size -= length;
    }
    return false;
}
