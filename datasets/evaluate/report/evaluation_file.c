/* An evaluation that was written as JSON, read again. Nothing in the file is taken on trust: what
 * the forms rely on is looked at here, and numbers that are missing are undefined to them. */
#include <string.h>

#include <jansson.h>

#include "pythia/evaluation_report.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "write/words.h"

#define SCHEMA "pythia.evaluation/1"

/* Is it a list of objects that have these texts? `also` may be NULL. */
static bool is_list(const json_t *list, const char *text, const char *also)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (!json_is_string(json_object_get(one, text)) ||
            (also && !json_is_string(json_object_get(one, also))))
            return false;
    }
    return json_array_size(list) > 0;
}

static bool are_texts(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return false;
    return json_is_array(list);
}

static int check_evaluation_file(const json_t *file, struct pythia_error *e)
{
    const char *schema = pythia__string(file, "schema");
    if (strcmp(schema, SCHEMA) != 0)
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is no evaluation of this version: wanted schema %s, found %.100s",
                                SCHEMA, schema[0] ? schema : "none");
    if (!is_list(json_object_get(file, "strategies"), "name", NULL) ||
        !is_list(json_object_get(file, "problems"), "name", "help") ||
        !is_list(json_object_get(file, "results"), "problem", "strategy") ||
        !are_texts(json_object_get(file, "notes")))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is no evaluation that can be read: strategies, problems, results "
                                "and notes have to be lists, with names");
    return PYTHIA_OK;
}

static int parse_evaluation_file(const char *path, const struct pythia_buf *bytes, json_t **out,
                                 struct pythia_error *e)
{
    json_error_t why;
    *out = json_loadb(bytes->bytes ? bytes->bytes : "", bytes->size, 0, &why);
    if (*out)
        return check_evaluation_file(*out, e);
    pythia_error_place(e, path, why.line > 0 ? (uint64_t)why.line : 1, (uint64_t)why.position);
    return pythia_error_set(e, PYTHIA_EFORMAT, "is not JSON: %s", why.text);
}

int pythia_evaluation_report_read(const char *path, json_t **out, struct pythia_error *e)
{
    struct pythia_buf bytes = {0};
    json_t *file = NULL;
    int status = pythia_file_read(path, &bytes, e);
    if (status != PYTHIA_OK)
        goto out;
    status = parse_evaluation_file(path, &bytes, &file, e);
out:
    pythia_buf_free(&bytes);
    if (status != PYTHIA_OK) {
        pythia_error_place(e, path, 0, 0);
        json_decref(file);
        return status;
    }
    *out = file;
    return PYTHIA_OK;
}
