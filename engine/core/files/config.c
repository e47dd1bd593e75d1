/* YAML by libyaml's event parser, whose marks give line and column. */
#include "pythia/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define FILE_MAX    ((size_t)1024 * 1024)
#define DEPTH_MAX   8
#define NAME_MAX_   128
#define MEMBERS_MAX 4 /* that an option names */

struct pythia_config {
    const struct pythia_option *table;
    struct pythia_arena texts;
};

int pythia_config_create(const struct pythia_option *table, struct pythia_config **out)
{
    struct pythia_config *c = pythia_calloc(1, sizeof(*c));
    if (!c)
        return PYTHIA_ENOMEM;
    c->table = table;
    *out = c;
    return PYTHIA_OK;
}

void pythia_config_destroy(struct pythia_config *c)
{
    if (!c)
        return;
    pythia_arena_free(&c->texts);
    pythia_free(c);
}

static const struct pythia_option *find_option(const struct pythia_config *c, const char *name)
{
    for (const struct pythia_option *o = c->table; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

/* Set one option; a flag takes what YAML calls true and false. */
static int set_config_option(struct pythia_config *c, const struct pythia_option *o,
                             const char *text, size_t size, void *settings, struct pythia_error *e)
{
    char *copy = pythia_arena_alloc(&c->texts, size + 1);
    if (!copy)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the settings");
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (strlen(copy) != size)
        return pythia_error_set(e, PYTHIA_EUSAGE, "the value of %s contains a NUL byte", o->name);
    if (o->type != PYTHIA_OPTION_FLAG)
        return pythia_option_set(o, settings, copy, e);
    bool yes = strcmp(copy, "true") == 0 || strcmp(copy, "yes") == 0 || strcmp(copy, "1") == 0;
    bool no = strcmp(copy, "false") == 0 || strcmp(copy, "no") == 0 || strcmp(copy, "0") == 0;
    if (!yes && !no)
        return pythia_error_set(e, PYTHIA_EUSAGE, "%s must be true or false, not '%s'", o->name,
                                copy);
    *(bool *)(void *)((char *)settings + o->offset) = yes;
    return PYTHIA_OK;
}

/* ---- the file ---- */

struct reader {
    struct pythia_config *config;
    yaml_parser_t parser;
    const char *file;
    void *settings;
    struct pythia_error *e;
    char prefix[NAME_MAX_];                /* names of the maps around, each followed by a "-" */
    bool *seen;                            /* by option */
    size_t options;                        /* in the table */
    const struct pythia_config_list *list; /* NULL: the file is one map */
};

static int fail_at(struct reader *r, int status, const yaml_mark_t *at, const char *format,
                   const char *what)
{
    char place[64], text[512];
    snprintf(text, sizeof(text), format, what);
    snprintf(place, sizeof(place), "column %zu: ", at->column + 1);
    pythia_error_set(r->e, status, "%s%s", place, text);
    pythia_error_place(r->e, r->file, at->line + 1, at->index);
    return status;
}

/* YAML has more than settings need: anchors could make a small file large, and tags could make a
 * value something else than it looks like. */
static int next_event(struct reader *r, yaml_event_t *event)
{
    if (!yaml_parser_parse(&r->parser, event)) {
        const yaml_mark_t *at = r->parser.problem_mark.line || r->parser.problem_mark.column
                                    ? &r->parser.problem_mark
                                    : &r->parser.mark;
        if (r->parser.error == YAML_MEMORY_ERROR)
            return fail_at(r, PYTHIA_ENOMEM, at, "%s", "no memory");
        return fail_at(r, PYTHIA_EFORMAT, at, "it is not YAML: %s",
                       r->parser.problem ? r->parser.problem : "it cannot be read");
    }
    bool anchored = (event->type == YAML_SCALAR_EVENT &&
                     (event->data.scalar.anchor || event->data.scalar.tag)) ||
                    (event->type == YAML_MAPPING_START_EVENT &&
                     (event->data.mapping_start.anchor || event->data.mapping_start.tag)) ||
                    (event->type == YAML_SEQUENCE_START_EVENT &&
                     (event->data.sequence_start.anchor || event->data.sequence_start.tag));
    if (anchored || event->type == YAML_ALIAS_EVENT) {
        int status = fail_at(r, PYTHIA_EFORMAT, &event->start_mark, "%s",
                             "anchors, aliases and tags are not supported");
        yaml_event_delete(event);
        return status;
    }
    return PYTHIA_OK;
}

/* A setting's own error has no place yet. */
static int set_at(struct reader *r, const struct pythia_option *o, const yaml_event_t *event)
{
    struct pythia_error why = {0};
    int status = set_config_option(r->config, o, (const char *)event->data.scalar.value,
                                   event->data.scalar.length, r->settings, &why);
    if (status != PYTHIA_OK)
        return fail_at(r, status, &event->start_mark, "%s", why.sentence);
    return PYTHIA_OK;
}

/* Set an option to the text "NAME: VALUE" of an entry of a map. */
static int set_pair(struct reader *r, const struct pythia_option *o, const yaml_event_t *name,
                    const yaml_event_t *value)
{
    struct pythia_buf text = {0};
    struct pythia_error why = {0};
    pythia_buf_add(&text, name->data.scalar.value, name->data.scalar.length);
    pythia_buf_puts(&text, ": ");
    pythia_buf_add(&text, value->data.scalar.value, value->data.scalar.length);
    int status = pythia_buf_status(&text);
    if (status != PYTHIA_OK)
        goto out;
    status = set_config_option(r->config, o, text.bytes, text.size, r->settings, &why);
out:
    pythia_buf_free(&text);
    if (status != PYTHIA_OK)
        return fail_at(r, status, &name->start_mark, "%s", why.sentence);
    return PYTHIA_OK;
}

/* Keep the value of a member that the option names, by its place in `choices`. */
static int keep_member(struct reader *r, const struct pythia_option *o, const yaml_event_t *name,
                       const yaml_event_t *value, struct pythia_buf members[MEMBERS_MAX])
{
    int index = pythia_option_choice_index(o->choices, (const char *)name->data.scalar.value);
    if (index < 0)
        return fail_at(r, PYTHIA_EUSAGE, &name->start_mark, "the members must be %s", o->choices);
    if (members[index].size > 0)
        return fail_at(r, PYTHIA_EUSAGE, &name->start_mark, "%s is set twice",
                       (const char *)name->data.scalar.value);
    pythia_buf_add(&members[index], value->data.scalar.value, value->data.scalar.length);
    return pythia_buf_status(&members[index]);
}

/* The values of the members as one text, up to the first that is not there. */
static int set_members(struct reader *r, const struct pythia_option *o, const yaml_mark_t *at,
                       const struct pythia_buf members[MEMBERS_MAX])
{
    struct pythia_buf text = {0};
    struct pythia_error why = {0};
    for (size_t i = 0; i < MEMBERS_MAX && members[i].size > 0; i++)
        pythia_buf_printf(&text, "%s%.*s", i > 0 ? " " : "", (int)members[i].size,
                          members[i].bytes);
    int status = pythia_buf_status(&text);
    if (status != PYTHIA_OK)
        goto out;
    status =
        set_config_option(r->config, o, text.bytes ? text.bytes : "", text.size, r->settings, &why);
out:
    pythia_buf_free(&text);
    return status == PYTHIA_OK ? status : fail_at(r, status, at, "%s", why.sentence);
}

static int read_text_pairs(struct reader *r, const struct pythia_option *o,
                           struct pythia_buf members[MEMBERS_MAX])
{
    for (;;) {
        yaml_event_t name, value;
        int status = next_event(r, &name);
        if (status != PYTHIA_OK)
            return status;
        bool ended = name.type == YAML_MAPPING_END_EVENT;
        if (!ended && (status = next_event(r, &value)) == PYTHIA_OK) {
            if (name.type != YAML_SCALAR_EVENT || value.type != YAML_SCALAR_EVENT)
                status = fail_at(r, PYTHIA_EUSAGE, &value.start_mark,
                                 "%s requires a list of "
                                 "texts",
                                 o->name);
            else
                status = o->choices ? keep_member(r, o, &name, &value, members)
                                    : set_pair(r, o, &name, &value);
            yaml_event_delete(&value);
        }
        yaml_event_delete(&name);
        if (status != PYTHIA_OK || ended)
            return status;
    }
}

/* A map in a list of texts: "- a: b" is the text "a: b", unless the option names members. */
static int read_pairs_or_members(struct reader *r, const struct pythia_option *o,
                                 const yaml_mark_t *at)
{
    struct pythia_buf members[MEMBERS_MAX] = {0};
    int status = read_text_pairs(r, o, members);
    if (status == PYTHIA_OK && o->choices)
        status = set_members(r, o, at, members);
    for (size_t i = 0; i < MEMBERS_MAX; i++)
        pythia_buf_free(&members[i]);
    return status;
}

/* Only text lists repeat; a list for another option is an error at its beginning, not at its first
 * element. */
static int read_text_list(struct reader *r, const struct pythia_option *o,
                          const yaml_event_t *begin)
{
    if (o->type != PYTHIA_OPTION_TEXTS)
        return fail_at(r, PYTHIA_EUSAGE, &begin->start_mark, "%s requires one value, not a list",
                       o->name);
    for (;;) {
        yaml_event_t event;
        int status = next_event(r, &event);
        if (status != PYTHIA_OK)
            return status;
        bool ended = event.type == YAML_SEQUENCE_END_EVENT;
        if (event.type == YAML_SCALAR_EVENT)
            status = set_at(r, o, &event);
        else if (event.type == YAML_MAPPING_START_EVENT)
            status = read_pairs_or_members(r, o, &event.start_mark);
        else if (!ended)
            status = fail_at(r, PYTHIA_EUSAGE, &event.start_mark, "%s requires a list of texts",
                             o->name);
        yaml_event_delete(&event);
        if (status != PYTHIA_OK || ended)
            return status;
    }
}

static int read_map(struct reader *r, int depth);

/* Read the value of the name `key`. A map that is no option has names with that prefix: the same
 * options as on the command line, without a second table. */
static int read_setting(struct reader *r, const yaml_event_t *key, int depth)
{
    char name[NAME_MAX_ * 2];
    snprintf(name, sizeof(name), "%s%s", r->prefix, (const char *)key->data.scalar.value);
    const struct pythia_option *o = find_option(r->config, name);
    yaml_event_t event;
    int status = next_event(r, &event);
    if (status != PYTHIA_OK)
        return status;
    if (event.type == YAML_MAPPING_START_EVENT && !o) {
        size_t size = strlen(r->prefix);
        if (depth == DEPTH_MAX || strlen(name) + 2 > sizeof(r->prefix)) {
            status = fail_at(r, PYTHIA_EUSAGE, &event.start_mark, "%s is nested too deeply", name);
        } else {
            snprintf(r->prefix + size, sizeof(r->prefix) - size, "%s-",
                     (const char *)key->data.scalar.value);
            status = read_map(r, depth + 1);
            r->prefix[size] = '\0';
        }
    } else if (!o) {
        status = fail_at(r, PYTHIA_EUSAGE, &key->start_mark, "there is no setting %s", name);
    } else if (r->seen[o - r->config->table]) {
        status = fail_at(r, PYTHIA_EUSAGE, &key->start_mark, "%s is set twice", name);
    } else if (event.type == YAML_SEQUENCE_START_EVENT) {
        status = read_text_list(r, o, &event);
    } else if (event.type == YAML_SCALAR_EVENT) {
        status = set_at(r, o, &event);
    } else {
        status = fail_at(r, PYTHIA_EUSAGE, &event.start_mark, "%s requires a value", name);
    }
    if (o)
        r->seen[o - r->config->table] = true;
    yaml_event_delete(&event);
    return status;
}

static int read_map(struct reader *r, int depth)
{
    for (;;) {
        yaml_event_t event;
        int status = next_event(r, &event);
        if (status != PYTHIA_OK)
            return status;
        bool ended = event.type == YAML_MAPPING_END_EVENT;
        if (event.type == YAML_SCALAR_EVENT)
            status = read_setting(r, &event, depth);
        else if (!ended)
            status = fail_at(r, PYTHIA_EFORMAT, &event.start_mark, "%s",
                             "expected the name of a setting");
        yaml_event_delete(&event);
        if (status != PYTHIA_OK || ended)
            return status;
    }
}

/* A map of a list starts from the defaults; what is wrong with the whole of it is reported at its
 * beginning. */
static int read_list_entry(struct reader *r, const yaml_mark_t *at)
{
    struct pythia_error why = {0};
    pythia_options_default(r->config->table, r->settings);
    memset(r->seen, 0, r->options * sizeof(*r->seen));
    int status = read_map(r, 1);
    if (status != PYTHIA_OK)
        return status;
    status = r->list->take(r->list->context, &why);
    return status == PYTHIA_OK ? status : fail_at(r, status, at, "%s", why.sentence);
}

static int read_list(struct reader *r)
{
    for (;;) {
        yaml_event_t event;
        int status = next_event(r, &event);
        if (status != PYTHIA_OK)
            return status;
        bool ended = event.type == YAML_SEQUENCE_END_EVENT;
        if (event.type == YAML_MAPPING_START_EVENT)
            status = read_list_entry(r, &event.start_mark);
        else if (!ended)
            status = fail_at(r, PYTHIA_EFORMAT, &event.start_mark, "%s",
                             "entries of the list are lines of NAME: VALUE");
        yaml_event_delete(&event);
        if (status != PYTHIA_OK || ended)
            return status;
    }
}

/* Read one document, which is a map or a list of maps as asked for, or nothing at all. */
static int read_yaml_document(struct reader *r)
{
    int documents = 0;
    for (;;) {
        yaml_event_t event;
        int status = next_event(r, &event);
        if (status != PYTHIA_OK)
            return status;
        enum yaml_event_type_e type = event.type;
        yaml_mark_t at = event.start_mark;
        bool empty = type == YAML_SCALAR_EVENT && event.data.scalar.length == 0;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return PYTHIA_OK;
        if (type == YAML_DOCUMENT_START_EVENT && ++documents > 1)
            return fail_at(r, PYTHIA_EFORMAT, &at, "%s", "there is a second document");
        if (type == YAML_MAPPING_START_EVENT && !r->list)
            status = read_map(r, 1);
        else if (type == YAML_SEQUENCE_START_EVENT && r->list)
            status = read_list(r);
        else if (type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                 (type == YAML_SCALAR_EVENT && !empty))
            status = fail_at(r, PYTHIA_EFORMAT, &at, "%s",
                             r->list ? "there should be a list, each entry after a -"
                                     : "settings must be lines of NAME: VALUE");
        if (status != PYTHIA_OK)
            return status;
    }
}

static int parse_config(struct pythia_config *c, const struct pythia_config_list *list,
                        const char *name, const char *bytes, size_t size, void *settings,
                        struct pythia_error *e)
{
    size_t options = 0;
    while (c->table[options].name)
        options++;
    struct reader r = {.config = c,
                       .file = name,
                       .settings = settings,
                       .e = e,
                       .options = options,
                       .seen = pythia_calloc(options + 1, sizeof(bool)),
                       .list = list};
    if (!r.seen || !yaml_parser_initialize(&r.parser)) {
        pythia_free(r.seen);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", name);
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, size);
    int status = read_yaml_document(&r);
    yaml_parser_delete(&r.parser);
    pythia_free(r.seen);
    return status;
}

int pythia_config_parse(struct pythia_config *c, const char *name, const char *bytes, size_t size,
                        void *settings, struct pythia_error *e)
{
    return parse_config(c, NULL, name, bytes, size, settings, e);
}

static int parse_config_file(struct pythia_config *c, const struct pythia_config_list *list,
                             const char *path, FILE *file, void *settings, struct pythia_error *e)
{
    char *bytes = pythia_realloc(NULL, FILE_MAX + 1, 1);
    if (!bytes)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read it");
    int status;
    size_t size = fread(bytes, 1, FILE_MAX + 1, file);
    if (ferror(file))
        status = pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(errno));
    else if (size > FILE_MAX)
        status = pythia_error_set(e, PYTHIA_ELIMIT, "is larger than 1 MiB");
    else
        status = parse_config(c, list, path, bytes, size, settings, e);
    pythia_free(bytes);
    return status;
}

static int read_config_file(struct pythia_config *c, const struct pythia_config_list *list,
                            const char *path, void *settings, struct pythia_error *e)
{
    FILE *file = fopen(path, "re");
    int status = file ? parse_config_file(c, list, path, file, settings, e)
                      : pythia_error_set(e, PYTHIA_EIO, "cannot be opened: %s", strerror(errno));
    if (file)
        fclose(file);
    if (status != PYTHIA_OK)
        pythia_error_place(e, path, 0, 0);
    return status;
}

int pythia_config_read(struct pythia_config *c, const char *path, void *settings,
                       struct pythia_error *e)
{
    return read_config_file(c, NULL, path, settings, e);
}

int pythia_config_read_list(struct pythia_config *c, const char *path, void *settings,
                            const struct pythia_config_list *list, struct pythia_error *e)
{
    return read_config_file(c, list, path, settings, e);
}

/* ---- the environment ---- */

/* The option of a variable: OTLP_HTTP is otlp-http. */
static const struct pythia_option *find_variable(const struct pythia_config *c, const char *name,
                                                 size_t size)
{
    for (const struct pythia_option *o = c->table; o->name; o++) {
        size_t i = 0;
        while (i < size && o->name[i] &&
               (o->name[i] == '-' ? '_' : toupper((unsigned char)o->name[i])) == name[i])
            i++;
        if (i == size && !o->name[i])
            return o;
    }
    return NULL;
}

/* A list of texts is the part of a variable between commas, and replaces that of the file. */
static int set_variable(struct pythia_config *c, const struct pythia_option *o, const char *value,
                        void *settings, struct pythia_error *e)
{
    if (!o)
        return pythia_error_set(e, PYTHIA_EUSAGE, "there is no such setting");
    if (o->type == PYTHIA_OPTION_TEXTS)
        ((struct pythia_option_texts *)(void *)((char *)settings + o->offset))->count = 0;
    for (const char *at = value;; at++) {
        size_t size = o->type == PYTHIA_OPTION_TEXTS ? strcspn(at, ",") : strlen(at);
        int status = set_config_option(c, o, at, size, settings, e);
        if (status != PYTHIA_OK)
            return status;
        at += size;
        if (*at == '\0')
            return PYTHIA_OK;
    }
}

/* The error is placed at the variable, whose name needs a copy: it stands before a "=". */
int pythia_config_environment(struct pythia_config *c, const char *prefix, char *const *environment,
                              void *settings, struct pythia_error *e)
{
    size_t prefix_size = strlen(prefix);
    for (; *environment; environment++) {
        if (strncmp(*environment, prefix, prefix_size) != 0 || (*environment)[prefix_size] != '_')
            continue;
        const char *name = *environment + prefix_size + 1, *value = strchr(name, '=');
        if (!value)
            continue;
        const struct pythia_option *o = find_variable(c, name, (size_t)(value - name));
        int status = set_variable(c, o, value + 1, settings, e);
        if (status != PYTHIA_OK) {
            char place[NAME_MAX_];
            snprintf(place, sizeof(place), "%.*s", (int)(value - *environment), *environment);
            char *kept = pythia_arena_alloc(&c->texts, strlen(place) + 1);
            if (kept)
                memcpy(kept, place, strlen(place) + 1);
            pythia_error_place(e, kept ? kept : prefix, 0, 0);
            return status;
        }
    }
    return PYTHIA_OK;
}
