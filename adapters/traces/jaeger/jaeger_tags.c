/* Tags of spans and processes, and logs, whose fields are tags as well. */
#include <string.h>

#include "jaeger_parts.h"

/* The columns of a value in a row, of which the type says which one counts; the others are null
 * or nothing. */
static const struct {
    const char *member, *type;
} columns[] = {{"value_string", "string"},  {"value_bool", "bool"},     {"value_long", "int64"},
               {"value_double", "float64"}, {"value_binary", "binary"}, {"vStr", "string"},
               {"vBool", "bool"},           {"vInt64", "int64"},        {"vFloat64", "float64"},
               {"vBinary", "binary"}};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* The types of the model, by name or by number, and the value of one that is left out. */
static const struct {
    const char *name, *number, *type;
    enum pythia_json_kind absent;
} model_types[] = {{"STRING", "0", "string", PYTHIA_JSON_NULL},
                   {"BOOL", "1", "bool", PYTHIA_JSON_BOOL},
                   {"INT64", "2", "int64", PYTHIA_JSON_INTEGER},
                   {"FLOAT64", "3", "float64", PYTHIA_JSON_REAL},
                   {"BINARY", "4", "binary", PYTHIA_JSON_NULL}};

/* {"key", "type", "value"}, its members in any order; text is borrowed from the record. */
struct tag {
    struct pythia_text key, type;
    struct pythia_json_value value;
    const uint32_t *container; /* where a value stands that is no scalar */
};

/* Read a scalar of a row into its column; a member that is no column is passed over. */
static int read_column(struct pythia__jaeger_reader *j, struct pythia_text member,
                       struct pythia_json_value *values)
{
    size_t i = 0;
    while (i < COLUMNS && !pythia_text_equal(member, pythia_text_of(columns[i].member)))
        i++;
    if (i == COLUMNS)
        return pythia_json_skip(j->d.json);
    int status = pythia__read_scalar(&j->d, &values[i]);
    if (status != PYTHIA_OK)
        return status;
    if (values[i].kind >= PYTHIA_JSON_OBJECT)
        values[i].kind = PYTHIA_JSON_NULL;
    return PYTHIA_OK;
}

static void choose_column(struct tag *tag, const struct pythia_json_value *values)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (values[i].kind != PYTHIA_JSON_NULL &&
            (tag->type.size == 0 || pythia_text_equal(tag->type, pythia_text_of(columns[i].type))))
            tag->value = values[i];
}

/* A type of the model: then a number or a truth that is not there is 0 or false. */
static int read_model_type(struct pythia__jaeger_reader *j, struct tag *tag)
{
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&j->d, &text);
    for (size_t i = 0; i < sizeof(model_types) / sizeof(model_types[0]); i++)
        if (pythia_text_equal(text, pythia_text_of(model_types[i].name)) ||
            pythia_text_equal(text, pythia_text_of(model_types[i].number))) {
            tag->type = pythia_text_of(model_types[i].type);
            tag->value = (struct pythia_json_value){.kind = model_types[i].absent};
        }
    return status;
}

/* Read a tag that is written as Jaeger's API writes nearly all; false if it is written otherwise,
 * and nothing has been read. */
static bool read_plain_tag(struct pythia_json *json, struct tag *tag)
{
    struct pythia_json_scalar found[3];
    const uint32_t *begin = pythia_json_mark(json);
    *tag = (struct tag){.key = {"", 0}, .type = {"", 0}, .value = {.kind = PYTHIA_JSON_NULL}};
    if (!pythia_json_match(json, "{\"key\":$,\"type\":$,\"value\":$}", found))
        return false;
    struct pythia_text value = found[2].text;
    bool plain = found[0].quoted && found[1].quoted;
    if (found[2].quoted) {
        tag->value.kind = PYTHIA_JSON_STRING;
        tag->value.text = value;
    } else if (PYTHIA_TEXT_IS(value, "true") || PYTHIA_TEXT_IS(value, "false")) {
        tag->value.kind = PYTHIA_JSON_BOOL;
        tag->value.integer = value.size == 4;
    } else {
        plain = plain && pythia_json_number(value, &tag->value);
    }
    tag->key = found[0].text;
    tag->type = found[1].text;
    if (!plain)
        pythia_json_again(json, begin);
    return plain;
}

/* Read a tag in any of the forms: the type may come after the value, so that the value is chosen
 * among the columns when all members are read. */
static int read_jaeger_tag(struct pythia__jaeger_reader *j, struct tag *tag)
{
    if (read_plain_tag(j->d.json, tag))
        return PYTHIA_OK;
    struct pythia_json_value values[COLUMNS];
    struct pythia_json *json = j->d.json;
    struct pythia_text member;
    for (size_t i = 0; i < COLUMNS; i++)
        values[i].kind = PYTHIA_JSON_NULL;
    *tag = (struct tag){.key = {"", 0}, .type = {"", 0}, .value = {.kind = PYTHIA_JSON_NULL}};
    int status = pythia__enter_object(&j->d);
    while (pythia_json_next_field(json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "key")) {
            status = pythia__read_text(&j->d, &tag->key);
        } else if (PYTHIA_TEXT_IS(member, "type") || PYTHIA_TEXT_IS(member, "value_type")) {
            status = pythia__read_text(&j->d, &tag->type);
        } else if (PYTHIA_TEXT_IS(member, "vType")) {
            status = read_model_type(j, tag);
        } else if (PYTHIA_TEXT_IS(member, "value")) {
            tag->container = pythia_json_mark(json);
            status = pythia__read_scalar(&j->d, &tag->value);
        } else {
            status = read_column(j, member, values);
        }
    }
    choose_column(tag, values);
    return status;
}

/* Numbers and truths may be written as strings, whose type says what they are. */
static void apply_tag_type(struct tag *tag)
{
    struct pythia_json_value *value = &tag->value;
    if (value->kind != PYTHIA_JSON_STRING)
        return;
    if (PYTHIA_TEXT_IS(tag->type, "bool") &&
        (PYTHIA_TEXT_IS(value->text, "true") || PYTHIA_TEXT_IS(value->text, "false"))) {
        value->kind = PYTHIA_JSON_BOOL;
        value->integer = PYTHIA_TEXT_IS(value->text, "true");
    } else if (PYTHIA_TEXT_IS(tag->type, "int64") || PYTHIA_TEXT_IS(tag->type, "float64")) {
        pythia_json_number(value->text, value); /* or it stays the text that it is */
    }
}

/* Append a tag to the attributes, below `prefix` if that is not empty. A real that is written
 * without a fraction stays a real: its type says so, and one key has one type. */
static int add_jaeger_tag(struct pythia__jaeger_reader *j, struct pythia_text prefix,
                          struct tag *tag)
{
    struct pythia_buf *attributes = &j->d.attributes;
    apply_tag_type(tag);
    uint32_t key = pythia__key_below(&j->d, prefix, tag->key);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    switch (tag->value.kind) {
    case PYTHIA_JSON_NULL:
        return PYTHIA_OK;
    case PYTHIA_JSON_BOOL:
        pythia_attributes_bool(attributes, key, tag->value.integer != 0);
        return PYTHIA_OK;
    case PYTHIA_JSON_INTEGER:
        if (PYTHIA_TEXT_IS(tag->type, "float64"))
            pythia_attributes_real(attributes, key, tag->value.real);
        else
            pythia_attributes_integer(attributes, key, tag->value.integer);
        return PYTHIA_OK;
    case PYTHIA_JSON_REAL:
        pythia_attributes_real(attributes, key, tag->value.real);
        return PYTHIA_OK;
    case PYTHIA_JSON_STRING:
        pythia__add_text(&j->d, key, tag->value.text);
        return PYTHIA_OK;
    case PYTHIA_JSON_OBJECT:
    case PYTHIA_JSON_ARRAY:
        break;
    }
    const uint32_t *behind = pythia_json_mark(j->d.json);
    pythia_json_again(j->d.json, tag->container);
    int status = pythia__add_value(&j->d, pythia_vocabulary_text(j->d.vocabulary, key));
    pythia_json_again(j->d.json, behind);
    return status;
}

static enum pythia_span_kind parse_span_kind(struct pythia_text text)
{
    static const char *const words[] = {"unspecified", "internal", "server",
                                        "client",      "producer", "consumer"};
    for (int i = 1; i < 6; i++)
        if (pythia_text_equal(text, pythia_text_of(words[i])))
            return (enum pythia_span_kind)i;
    return PYTHIA_SPAN_UNKNOWN;
}

/* Take a span's tag: some say what the span is, the others are attributes. */
static int take_span_tag(struct pythia__jaeger_reader *j, struct tag *tag,
                         struct pythia__jaeger_span *r)
{
    const struct pythia_json_value *value = &tag->value;
    bool text = value->kind == PYTHIA_JSON_STRING;
    if (PYTHIA_TEXT_IS(tag->key, "span.kind") && text) {
        r->out.span.kind = parse_span_kind(value->text);
        return PYTHIA_OK;
    }
    if ((PYTHIA_TEXT_IS(tag->key, "otel.scope.name") ||
         PYTHIA_TEXT_IS(tag->key, "otel.library.name")) &&
        text) {
        r->out.scope = pythia__key(&j->d, value->text);
        return r->out.scope == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
    }
    if (PYTHIA_TEXT_IS(tag->key, "error"))
        r->out.span.error |= (value->kind == PYTHIA_JSON_BOOL && value->integer) ||
                             (text && PYTHIA_TEXT_IS(value->text, "true"));
    else if (PYTHIA_TEXT_IS(tag->key, "otel.status_code"))
        r->out.span.error |= (text && PYTHIA_TEXT_IS(value->text, "ERROR")) ||
                             (value->kind == PYTHIA_JSON_INTEGER && value->integer == 2);
    return add_jaeger_tag(j, (struct pythia_text){"", 0}, tag);
}

int pythia__jaeger_read_tags(struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r)
{
    struct tag tag;
    int status = pythia__enter_array(&j->d);
    while (pythia_json_next_element(j->d.json, &status)) {
        status = read_jaeger_tag(j, &tag);
        if (status != PYTHIA_OK)
            return status;
        status =
            r ? take_span_tag(j, &tag, r) : add_jaeger_tag(j, (struct pythia_text){"", 0}, &tag);
    }
    return status;
}

/* ---- logs ---- */

/* Find the name of a log: its field "event", else "message". Passes over the fields. */
static int find_log_name(struct pythia__jaeger_reader *j, struct pythia_text *name,
                         struct pythia_text *key)
{
    struct tag tag;
    int status = pythia__enter_array(&j->d);
    while (pythia_json_next_element(j->d.json, &status)) {
        status = read_jaeger_tag(j, &tag);
        if (status != PYTHIA_OK)
            return status;
        bool event = PYTHIA_TEXT_IS(tag.key, "event");
        if (tag.value.kind < PYTHIA_JSON_INTEGER || tag.value.kind > PYTHIA_JSON_STRING)
            continue;
        if (event || (PYTHIA_TEXT_IS(tag.key, "message") && key->size == 0)) {
            *name = tag.value.text;
            *key = tag.key;
        }
    }
    return status;
}

/* Read the fields of a log as OTLP's events are read: the name, and the other fields below it;
 * below "log" if there is no name. The name may be the last field, so that they are read twice. */
static int read_log_event(struct pythia__jaeger_reader *j)
{
    struct pythia_text name = {"", 0}, name_key = {"", 0}, prefix = PYTHIA_TEXT("log");
    const uint32_t *begin = pythia_json_mark(j->d.json);
    int status = find_log_name(j, &name, &name_key);
    if (status != PYTHIA_OK)
        return status;
    if (name_key.size) {
        uint32_t key = pythia__key_below(&j->d, PYTHIA_TEXT("event"), name);
        if (key == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        pythia_attributes_bool(&j->d.attributes, key, true);
        prefix = pythia_vocabulary_text(j->d.vocabulary, key);
    }
    pythia_json_again(j->d.json, begin);
    struct tag tag;
    status = pythia__enter_array(&j->d);
    while (pythia_json_next_element(j->d.json, &status)) {
        status = read_jaeger_tag(j, &tag);
        if (status != PYTHIA_OK)
            return status;
        if (!name_key.size || !pythia_text_equal(tag.key, name_key))
            status = add_jaeger_tag(j, prefix, &tag);
    }
    return status;
}

static int read_log_fields(struct pythia__jaeger_reader *j)
{
    int status = pythia__event_begin(&j->d) ? read_log_event(j) : pythia_json_skip(j->d.json);
    pythia__event_end(&j->d);
    return status;
}

int pythia__jaeger_read_logs(struct pythia__jaeger_reader *j)
{
    struct pythia_text member;
    int status = pythia__enter_array(&j->d);
    while (pythia_json_next_element(j->d.json, &status)) {
        status = pythia__enter_object(&j->d);
        while (pythia_json_next_field(j->d.json, &member, &status))
            status =
                PYTHIA_TEXT_IS(member, "fields") ? read_log_fields(j) : pythia_json_skip(j->d.json);
    }
    return status;
}
