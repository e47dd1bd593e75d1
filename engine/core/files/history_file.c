/* The file:
 *
 *   {"schema": "pythia.history/1",
 *    "trace_points": [[id, opened, explained_ppb, localised], ...]}    in order of id, each once
 *
 * explained_ppb are billionths of the variance of a group, summed over the times it was opened. */
#include "pythia/history_file.h"

#include "json_file.h"
#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

#define SCHEMA "pythia.history/1"

/* ---- writing ---- */

static json_t *pack_integer(uint64_t number)
{
    return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number);
}

static json_t *write_row(const struct pythia_history *history, struct pythia_text id)
{
    struct pythia_history_record r = pythia_history_find(history, id);
    json_t *row = json_array();
    bool failed = json_array_append_new(row, json_stringn(id.bytes, id.size)) != 0;
    failed = json_array_append_new(row, pack_integer(r.opened)) != 0 || failed;
    failed = json_array_append_new(row, pack_integer(r.explained_ppb)) != 0 || failed;
    failed = json_array_append_new(row, pack_integer(r.localised)) != 0 || failed;
    if (failed) {
        json_decref(row);
        return NULL;
    }
    return row;
}

/* The order is that of the ids, so that equal histories are equal files. */
int pythia_history_file_write(const struct pythia_history *history, struct pythia_buf *out)
{
    struct pythia_text *ids = NULL;
    size_t count = 0;
    int status = pythia_history_sorted(history, &ids, &count);
    if (status != PYTHIA_OK)
        return status;
    status = PYTHIA_ENOMEM;
    json_t *file = json_object(), *rows = json_array();
    if (json_object_set_new(file, "schema", json_string(SCHEMA)) != 0 ||
        json_object_set(file, "trace_points", rows) != 0)
        goto out;
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(rows, write_row(history, ids[i])) != 0)
            goto out;
    status = pythia_json_put_shown(out, file, JSON_COMPACT, "\n");
out:
    json_decref(rows);
    json_decref(file);
    pythia_free(ids);
    return status;
}

/* ---- reading: nothing in the file is taken on trust ---- */

static int fail_row(struct pythia_error *e, size_t row, const char *why)
{
    return pythia_error_set(e, PYTHIA_EFORMAT,
                            "is not a valid record of searches: trace point %zu %s", row, why);
}

static int read_history_row(struct pythia_history *h, const json_t *row, size_t i,
                            struct pythia_error *e)
{
    const json_t *name = json_array_get(row, 0);
    uint64_t n[3];
    if (!json_is_string(name) || !pythia__json_numbers(row, 1, n, 3))
        return fail_row(e, i, "is not an id with three whole numbers");
    struct pythia_text id = {json_string_value(name), json_string_length(name)};
    struct pythia_history_record r = {.opened = n[0], .explained_ppb = n[1], .localised = n[2]};
    if (r.opened == 0)
        return fail_row(e, i, "was never opened");
    if (!pythia_history_is_possible(&r))
        return fail_row(e, i, "explained more, or was the cause more often, than it was opened");
    if (pythia_history_find(h, id).opened)
        return fail_row(e, i, "is listed twice");
    return pythia_history_add_record(h, id, &r);
}

static int read_history_rows(struct pythia_history *h, const json_t *rows, struct pythia_error *e)
{
    if (!json_is_array(rows))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is not a valid record of searches: no trace_points");
    int status = PYTHIA_OK;
    for (size_t i = 0; i < json_array_size(rows); i++)
        if ((status = read_history_row(h, json_array_get(rows, i), i, e)) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

static int take_rows(json_t *file, const char *name, struct pythia_history **out,
                     struct pythia_error *e)
{
    struct pythia_history *h = NULL;
    int status = pythia_history_create(&h);
    if (status != PYTHIA_OK ||
        (status = read_history_rows(h, json_object_get(file, "trace_points"), e)) != PYTHIA_OK)
        goto out;
    json_decref(file);
    *out = h;
    return PYTHIA_OK;
out:
    json_decref(file);
    if (status == PYTHIA_ENOMEM)
        pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read it");
    pythia_error_place(e, name, 0, 0);
    pythia_history_destroy(h);
    return status;
}

int pythia_history_file_read(const char *path, struct pythia_history **out, struct pythia_error *e)
{
    json_t *file = NULL;
    int status = pythia__json_file_read(path, SCHEMA, "record of searches", &file, e);
    if (status != PYTHIA_OK)
        return status;
    return take_rows(file, path, out, e);
}

int pythia_history_file_parse(const char *name, struct pythia_text bytes,
                              struct pythia_history **out, struct pythia_error *e)
{
    json_t *file = NULL;
    int status = pythia__json_parse(name, bytes, SCHEMA, "record of searches", &file, e);
    if (status != PYTHIA_OK)
        return status;
    return take_rows(file, name, out, e);
}
