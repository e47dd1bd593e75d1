#include "event_fields.h"

#include <string.h>

/* Of the kinds of a text: a string, or the label of an enumeration. NULL: it is none. */
static const char *find_label(const bt_field *field, bt_field_class_type type)
{
    bt_field_class_enumeration_mapping_label_array labels = NULL;
    uint64_t count = 0;
    int status =
        type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION
            ? (int)pythia__bt.field_enumeration_unsigned_get_mapping_labels(field, &labels, &count)
            : (int)pythia__bt.field_enumeration_signed_get_mapping_labels(field, &labels, &count);
    return status == 0 && count > 0 ? labels[0] : "";
}

static const char *find_string(const bt_field *field)
{
    bt_field_class_type type = pythia__bt.field_get_class_type(field);
    if (type == BT_FIELD_CLASS_TYPE_STRING)
        return pythia__bt.field_string_get_value(field);
    if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION ||
        type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
        return find_label(field, type);
    return NULL;
}

static bool read_integer(const bt_field *field, int64_t *out)
{
    bt_field_class_type type = pythia__bt.field_get_class_type(field);
    if (type == BT_FIELD_CLASS_TYPE_BOOL)
        *out = pythia__bt.field_bool_get_value(field);
    else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER ||
             type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)
        *out = (int64_t)pythia__bt.field_integer_unsigned_get_value(field);
    else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER ||
             type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
        *out = pythia__bt.field_integer_signed_get_value(field);
    else
        return false;
    return true;
}

static bool read_real(const bt_field *field, double *out)
{
    bt_field_class_type type = pythia__bt.field_get_class_type(field);
    int64_t integer = 0;
    if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
        *out = pythia__bt.field_real_single_precision_get_value(field);
    else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
        *out = pythia__bt.field_real_double_precision_get_value(field);
    else if (read_integer(field, &integer))
        *out = (double)integer;
    else
        return false;
    return true;
}

bool pythia__event_fields_integer(const bt_field *structure, const char *name, int64_t *out)
{
    const bt_field *field =
        structure ? pythia__bt.field_structure_borrow_member_field_by_name_const(structure, name)
                  : NULL;
    return field && read_integer(field, out);
}

static const bt_field *find_field(const bt_field *payload, struct pythia_lttng_field which)
{
    if (!payload)
        return NULL;
    if (which.name)
        return pythia__bt.field_structure_borrow_member_field_by_name_const(payload, which.name);
    const bt_field_class *class = pythia__bt.field_borrow_class_const(payload);
    return which.number < pythia__bt.field_class_structure_get_member_count(class)
               ? pythia__bt.field_structure_borrow_member_field_by_index_const(payload,
                                                                               which.number)
               : NULL;
}

/* What is wrong with the field of a slot that is not a text; NULL: nothing, and its value is read.
 */
static const char *read_number(const bt_field *field, bool is_real, int64_t *out)
{
    double real;
    if (!is_real && read_integer(field, out))
        return NULL;
    if (!read_real(field, &real))
        return find_string(field) ? "the field is a text: write 'text' after it"
                                  : "the field is no number";
    if (!is_real)
        return "the field is a real number: write 'real' after it";
    memcpy(out, &real, sizeof(real));
    return NULL;
}

static void copy_texts(const char *const *texts, struct pythia__event_values *out)
{
    size_t slots = (size_t)__builtin_popcount(out->texts), at = 0;
    for (unsigned k = 0; k < out->count; k++) {
        if (!(out->texts >> k & 1))
            continue;
        size_t capacity = sizeof(out->bytes) / slots, size = texts[k] ? strlen(texts[k]) : 0;
        char *to = out->bytes + capacity * at++;
        size = size < capacity ? size : capacity;
        memcpy(to, size ? texts[k] : "", size);
        if (size < capacity)
            to[size] = '\0';
        out->values[k] = (int64_t)size + 1;
    }
}

/* A number that is not there is told from a 0 by its mark as a text, which it is not. */
void pythia__event_fields_read(const struct pythia_lttng_rules *rules, size_t point, bool done,
                               const bt_field *payload, struct pythia__event_values *out)
{
    const struct pythia_probe_point *p = &pythia_lttng_rules_of(rules)->points[point];
    const char *texts[PYTHIA_PROBE_KEYS_MAX] = {NULL};
    out->texts = out->bad = 0;
    out->count = (uint16_t)p->key_count;
    for (unsigned k = 0; k < out->count; k++) {
        const struct pythia_probe_key *key = &p->keys[k];
        const char *why = NULL;
        out->values[k] = 0;
        if (key->done != done && !key->only)
            continue;
        const bt_field *field = find_field(payload, pythia_lttng_rules_field(rules, point, k));
        if (!field)
            why = "the event has no such field";
        else if (key->text && !(texts[k] = find_string(field)))
            why = "the field is no text";
        else if (!key->text)
            why = read_number(field, key->is_real, &out->values[k]);
        out->why[k] = why;
        out->bad |= (uint16_t)((why != NULL) << k);
        out->texts |= (uint16_t)((key->text != (why != NULL)) << k);
    }
    copy_texts(texts, out);
}
