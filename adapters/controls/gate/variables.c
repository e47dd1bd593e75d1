#include <math.h>
#include <pythia/variable.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pythia/gate_variables.h"
#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "pythia/text.h"

#define NO_MEMORY 1 /* a negative number would be an errno */

struct found {
    int process;
    size_t number; /* in the order in which they were found */
    json_t *shown; /* owned */
};

struct listing {
    struct found *all; /* owned */
    size_t count, capacity;
};

/* Names are other programs' bytes. */
static json_t *make_shown_text(const char *bytes)
{
    struct pythia_text text = pythia_text_of(bytes);
    if (pythia_text_is_sound(text))
        return json_stringn(text.bytes, text.size);
    char *room = pythia_realloc(NULL, 3 * text.size + 1, 1);
    json_t *out = room ? json_stringn(room, pythia_text_repair(text, room)) : NULL;
    pythia_free(room);
    return out;
}

static int note_variable(void *context, int process, const char *service,
                         const struct pythia_variable_info *v)
{
    static const char *const classes[] = {"state",   "level",         "size",        "timer",
                                          "counter", "highwatermark", "lowwatermark"};
    static const char *const bindings[] = {"process", "request"};
    static const char *const types[] = {"int",           "unsigned", "long",
                                        "unsigned long", "double",   "asked"};
    struct listing *l = context;
    if (pythia_grow(&l->all, &l->capacity, l->count, sizeof(*l->all)) != PYTHIA_OK)
        return NO_MEMORY;
    json_t *shown =
        json_pack("{s:i, s:o, s:o, s:s, s:s, s:s, s:o}", "process", process, "service",
                  make_shown_text(service), "name", make_shown_text(v->name), "class",
                  classes[v->of_class], "binding", bindings[v->binding], "type", types[v->type],
                  "value", isfinite(v->value) ? json_real(v->value) : json_null());
    if (!shown)
        return NO_MEMORY;
    l->all[l->count] = (struct found){process, l->count, shown};
    l->count++;
    return 0;
}

static int compare_process_variables(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int write_list(const struct listing *l, struct pythia_buf *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < l->count; i++)
        json_array_append(list, l->all[i].shown);
    int status = pythia_json_put_shown(out, list, JSON_INDENT(1), "\n");
    json_decref(list);
    return status;
}

/* Variables are listed in order of process and name: shared memory has no order of its own, and a
 * report must be the same twice. */
int pythia_gate_variables(const char *directory, struct pythia_buf *out, struct pythia_error *e)
{
    struct listing l = {NULL, 0, 0};
    char why[256] = "";
    int status = pythia_variables_list(directory, note_variable, &l, why);
    if (status < 0) {
        status = pythia_error_set(e, PYTHIA_EIO, "%s",
                                  *why ? why : "the programs' variables cannot be read");
        goto out;
    }
    if (status == NO_MEMORY) {
        status = pythia_error_set(e, PYTHIA_ENOMEM, "no memory to list variables");
        goto out;
    }
    if (l.count > 1)
        qsort(l.all, l.count, sizeof(*l.all), compare_process_variables);
    status = write_list(&l, out);
out:
    for (size_t i = 0; i < l.count; i++)
        json_decref(l.all[i].shown);
    pythia_free(l.all);
    return status;
}
