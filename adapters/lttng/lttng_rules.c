#include "pythia/lttng_rules.h"

#include <stdio.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/elf_functions.h"
#include "pythia/hash_table.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia_lttng_rules {
    struct pythia_probe_rules rules;
    char *path;                                                 /* owned */
    struct pythia_buf text;                                     /* of the file */
    struct pythia_lttng_field (*fields)[PYTHIA_PROBE_KEYS_MAX]; /* by point; owned */
    struct pythia_hash_table by_event; /* 2 * point, and 1 more for the event that ends it */
};

bool pythia_lttng_rules_has_events(const struct pythia_lttng_rules *r, size_t point)
{
    const struct pythia_probe_point *p = &r->rules.points[point];
    return !p->is_wait && strcmp(p->provider, PYTHIA_FUNCTION_PROVIDER) != 0;
}

void pythia_lttng_rules_event(const struct pythia_lttng_rules *r, size_t point, bool done,
                              char out[PYTHIA_LTTNG_EVENT_BYTES])
{
    const struct pythia_probe_point *p = &r->rules.points[point];
    snprintf(out, PYTHIA_LTTNG_EVENT_BYTES, "%s:%s", p->provider, p->probes[done]);
}

/* The fields of keys, instead of which each key gets a slot of its own. */
static int take_fields(struct pythia_lttng_rules *r)
{
    for (size_t i = 0; i < r->rules.point_count; i++) {
        struct pythia_probe_point *p = &r->rules.points[i];
        for (size_t k = 0; k < p->key_count; k++) {
            struct pythia_probe_key *key = &p->keys[k];
            r->fields[i][k] = (struct pythia_lttng_field){key->argument_name, key->argument};
            key->argument = (uint8_t)k;
        }
        if (!pythia_lttng_rules_has_events(r, i))
            continue;
        for (unsigned done = 0; done < 2; done++) {
            char name[PYTHIA_LTTNG_EVENT_BYTES];
            pythia_lttng_rules_event(r, i, done, name);
            int status = pythia_hash_table_add(&r->by_event, pythia_hash_bytes(name, strlen(name)),
                                               (uint32_t)(2 * i + done));
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

int pythia_lttng_rules_parse(const char *path, struct pythia_text text,
                             struct pythia_lttng_rules **out, struct pythia_error *e)
{
    struct pythia_lttng_rules *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    int status = pythia_event_rules_parse(path, text.bytes, text.size, &r->rules, e);
    if (status != PYTHIA_OK) {
        pythia_free(r);
        return status;
    }
    r->fields = pythia_calloc(r->rules.point_count, sizeof(*r->fields));
    r->path = pythia_strndup(path, strlen(path));
    pythia_buf_add(&r->text, text.bytes, text.size);
    status = r->fields && r->path ? pythia_buf_status(&r->text) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = take_fields(r);
    if (status != PYTHIA_OK) {
        pythia_lttng_rules_free(r);
        return pythia_error_set(e, status, "out of memory");
    }
    *out = r;
    return PYTHIA_OK;
}

int pythia_lttng_rules_read(const char *path, struct pythia_lttng_rules **out,
                            struct pythia_error *e)
{
    struct pythia_buf text = {0};
    unsigned long long others = 0;
    int status = pythia_rules_file_read(path, &text, e);
    if (status == PYTHIA_OK)
        status = pythia_lttng_rules_parse(path, pythia_buf_text(&text), out, e);
    pythia_buf_free(&text);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < (*out)->rules.point_count; i++)
        others += !pythia_lttng_rules_has_events(*out, i);
    if (others > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Points that are functions or waits of the kernel are no events of LTTng, and "
                   "are left out: points=%llu",
                   others);
    return PYTHIA_OK;
}

void pythia_lttng_rules_free(struct pythia_lttng_rules *r)
{
    if (!r)
        return;
    pythia_hash_table_free(&r->by_event);
    pythia_probe_rules_free(&r->rules);
    pythia_free(r->fields);
    pythia_free(r->path);
    pythia_buf_free(&r->text);
    pythia_free(r);
}

const char *pythia_lttng_rules_path(const struct pythia_lttng_rules *r)
{
    return r->path;
}

struct pythia_text pythia_lttng_rules_text(const struct pythia_lttng_rules *r)
{
    return pythia_buf_text(&r->text);
}

const struct pythia_probe_rules *pythia_lttng_rules_of(const struct pythia_lttng_rules *r)
{
    return &r->rules;
}

struct pythia_lttng_field pythia_lttng_rules_field(const struct pythia_lttng_rules *r, size_t point,
                                                   size_t slot)
{
    return r->fields[point][slot];
}

static bool is_event(const void *owner, uint32_t index, const void *key)
{
    char name[PYTHIA_LTTNG_EVENT_BYTES];
    pythia_lttng_rules_event(owner, index / 2, index % 2, name);
    return strcmp(name, key) == 0;
}

size_t pythia_lttng_rules_find(const struct pythia_lttng_rules *r, const char *event, bool *done)
{
    uint32_t index = pythia_hash_table_find(&r->by_event, pythia_hash_bytes(event, strlen(event)),
                                            is_event, r, event);
    *done = index % 2;
    return index == PYTHIA_HASH_TABLE_NONE ? SIZE_MAX : index / 2;
}
