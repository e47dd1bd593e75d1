#include "json_file.h"

#include <string.h>

#include "pythia/buf.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

int pythia__json_parse(const char *name, struct pythia_text bytes, const char *schema,
                       const char *what, json_t **out, struct pythia_error *e)
{
    json_error_t why;
    json_t *file = json_loadb(bytes.bytes ? bytes.bytes : "", bytes.size, 0, &why);
    if (!file) {
        pythia_error_place(e, name, why.line > 0 ? (uint64_t)why.line : 1, (uint64_t)why.position);
        return pythia_error_set(e, PYTHIA_EFORMAT, "is not JSON: %s", why.text);
    }
    const char *found = json_string_value(json_object_get(file, "schema"));
    if (!found || strcmp(found, schema) != 0) {
        pythia_error_place(e, name, 0, 0);
        pythia_error_set(e, PYTHIA_EFORMAT,
                         "is not a %s of this version: expected schema %s, "
                         "found %s",
                         what, schema, found ? found : "none");
        json_decref(file);
        return PYTHIA_EFORMAT;
    }
    *out = file;
    return PYTHIA_OK;
}

int pythia__json_file_read(const char *path, const char *schema, const char *what, json_t **out,
                           struct pythia_error *e)
{
    struct pythia_buf bytes = {0};
    int status = pythia_file_read(path, &bytes, e);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__json_parse(path, pythia_buf_text(&bytes), schema, what, out, e);
out:
    pythia_buf_free(&bytes);
    return status;
}

bool pythia__json_numbers(const json_t *row, size_t first, uint64_t *values, size_t count)
{
    if (json_array_size(row) != first + count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(row, first + i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        values[i] = (uint64_t)json_integer_value(value);
    }
    return true;
}
