/* Rules by libyaml's document, whose marks give the line of what is wrong. */
#include "pythia/probe_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "pythia/buf.h"
#include "pythia/elf_functions.h"
#include "pythia/kernel_points.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/usdt_operand.h"

#define MEMBERS         "service, provider, programs, points, include and layer"
#define FILE_MAX        ((size_t)1024 * 1024)
#define NAME_MAX_       120
#define PATH_BYTES      4095
#define LAYER_OF_FILE   ((enum pythia_layer)PYTHIA_LAYERS) /* it may be said after the points */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define SUFFIX_BYTES    8 /* of "__start" and "%return" */

struct reader {
    yaml_document_t document;
    struct pythia_probe_rules *out;
    const char *file, *service, *provider;
    bool included; /* by another file */
    bool of_events;
    enum pythia_layer layer;
    struct pythia_error *e;
};

static int read_file(struct reader *r);

static int refuse_node(struct reader *r, const yaml_node_t *node, const char *why)
{
    pythia_error_set(r->e, PYTHIA_EFORMAT, "%s", why);
    pythia_error_place(r->e, r->file, node ? node->start_mark.line + 1 : 1, 0);
    return PYTHIA_EFORMAT;
}

/* The plain text of a node, copied; NULL if it is none that may stand there. */
static const char *read_text(struct reader *r, const yaml_node_t *node, size_t max)
{
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.length == 0 ||
        node->data.scalar.length > max) {
        refuse_node(r, node, "a text of 1 to 120 bytes is expected (of a path, to 4095)");
        return NULL;
    }
    const char *text = (const char *)node->data.scalar.value;
    for (size_t i = 0; i < node->data.scalar.length; i++)
        if (text[i] < ' ' || text[i] > '~') {
            refuse_node(r, node, "a text has bytes that are not printable ASCII");
            return NULL;
        }
    char *copy = pythia_arena_alloc(&r->out->texts, node->data.scalar.length + 1);
    if (!copy) {
        pythia_error_set(r->e, PYTHIA_ENOMEM, "out of memory");
        return NULL;
    }
    memcpy(copy, text, node->data.scalar.length);
    copy[node->data.scalar.length] = '\0';
    return copy;
}

static bool is_text(const yaml_node_t *node, const char *text)
{
    return node->type == YAML_SCALAR_NODE &&
           strcmp((const char *)node->data.scalar.value, text) == 0;
}

/* Call a function for each member of a map. */
static int read_map(struct reader *r, const yaml_node_t *node,
                    int (*member)(struct reader *r, void *of, const yaml_node_t *name,
                                  const yaml_node_t *value),
                    void *of)
{
    if (node->type != YAML_MAPPING_NODE)
        return refuse_node(r, node, "a map of names to values is expected");
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        int status = member(r, of, yaml_document_get_node(&r->document, pair->key),
                            yaml_document_get_node(&r->document, pair->value));
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* The name of an argument, "order_id" or "title text". Events have names, and the probe that begins
 * a function. */
static bool read_argument_name(struct reader *r, const char *text, struct pythia_probe_key *key)
{
    size_t size = strspn(text, NAME_CHARACTERS);
    char *name = pythia_arena_alloc(&r->out->texts, size + 1);
    key->text = strcmp(text + size, " text") == 0;
    key->is_real = r->of_events && strcmp(text + size, " real") == 0;
    if (!name || size == 0 || (text[size] && !key->text && !key->is_real) ||
        (key->done && !r->of_events))
        return false;
    memcpy(name, text, size);
    name[size] = '\0';
    key->argument_name = name;
    key->argument = PYTHIA_PROBE_ARGUMENT_NAMED;
    return true;
}

/* "start 1", "start 3 int", "done 2 text"; "start order_id", "start title text". */
static bool read_argument(struct reader *r, const char *text, struct pythia_probe_key *key)
{
    char *end;
    key->done = strncmp(text, "done ", 5) == 0;
    if (!key->done && strncmp(text, "start ", 6) != 0)
        return false;
    const char *which = text + (key->done ? 5 : 6);
    if (*which < '0' || *which > '9')
        return read_argument_name(r, which, key);
    unsigned long number = strtoul(which, &end, 10);
    key->text = strcmp(end, " text") == 0;
    key->is_int = strcmp(end, " int") == 0;
    key->is_real = r->of_events && strcmp(end, " real") == 0;
    key->argument = (uint8_t)(number - 1);
    return number >= 1 && number <= PYTHIA_USDT_OPERANDS_MAX &&
           (key->text || key->is_int || key->is_real || !*end);
}

static int read_key(struct reader *r, void *of, const yaml_node_t *name, const yaml_node_t *value)
{
    struct pythia_probe_point *point = of;
    if (point->key_count == PYTHIA_PROBE_KEYS_MAX)
        return refuse_node(r, name, "a point has more than 8 keys");
    struct pythia_probe_key *key = &point->keys[point->key_count];
    key->name = read_text(r, name, NAME_MAX_);
    const char *text = key->name ? read_text(r, value, NAME_MAX_) : NULL;
    if (!text)
        return r->e->status;
    if (!read_argument(r, text, key))
        return refuse_node(r, value,
                           r->of_events
                               ? "a key is 'start FIELD' or 'done FIELD', the name or the number "
                                 "of a field, and 'text', 'int' or 'real' after it if it is one"
                               : "a key is 'start N' or 'done N', the number of an argument, "
                                 "and 'text' or 'int' after it if it is one; or 'start NAME', an "
                                 "argument of a function");
    point->has_names |= key->argument_name != NULL;
    point->key_count++;
    return PYTHIA_OK;
}

struct point_reader {
    struct pythia_probe_point *point;
    const char *type, *function;
    const yaml_node_t *node, *type_node, *function_node, *only;
};

/* "only: {KEY: TEXT}", once the keys are known: the order of members does not matter. */
static int read_only(struct reader *r, void *of, const yaml_node_t *name, const yaml_node_t *value)
{
    struct pythia_probe_point *point = of;
    for (size_t i = 0; i < point->key_count; i++)
        if (is_text(name, point->keys[i].name) && point->keys[i].text && !point->keys[i].done) {
            point->keys[i].only = read_text(r, value, NAME_MAX_);
            return point->keys[i].only ? PYTHIA_OK : r->e->status;
        }
    return refuse_node(r, name, "'only' names a key that is a text of the probe that begins it");
}

/* "kernel: [TOPIC, TOPIC]". */
static int read_kernel(struct reader *r, struct pythia_probe_point *point, const yaml_node_t *value)
{
    static const char expected[] =
        "kernel is a list of waits, block_io, page_faults, system_calls and retransmits";
    if (value->type != YAML_SEQUENCE_NODE)
        return refuse_node(r, value, expected);
    for (const yaml_node_item_t *item = value->data.sequence.items.start;
         item < value->data.sequence.items.top; item++) {
        const yaml_node_t *node = yaml_document_get_node(&r->document, *item);
        const struct pythia_kernel_topic *topic = pythia_kernel_topics;
        while (topic->name && !is_text(node, topic->name))
            topic++;
        if (!topic->name)
            return refuse_node(r, node, expected);
        point->kernel_events |= topic->events;
        point->kernel_sums |= topic->sums;
    }
    return PYTHIA_OK;
}

/* "wait: KIND". */
static int read_wait(struct reader *r, struct pythia_probe_point *point, const yaml_node_t *value)
{
    const char *name = read_text(r, value, NAME_MAX_);
    enum pythia_kernel_sum wait =
        name ? pythia_kernel_wait_find(pythia_text_of(name)) : PYTHIA_KERNEL_SUMS;
    if (!name)
        return r->e->status;
    if (wait == PYTHIA_KERNEL_SUMS)
        return refuse_node(r, value, "a wait is " PYTHIA_KERNEL_WAIT_NAMES);
    point->is_wait = true;
    point->wait = (uint8_t)wait;
    point->kernel_events = pythia_kernel_wait_events();
    return PYTHIA_OK;
}

static int read_point_member(struct reader *r, void *of, const yaml_node_t *name,
                             const yaml_node_t *value)
{
    struct point_reader *p = of;
    static const char *const names[] = {"start", "done", "function", "type"};
    const char **const texts[] = {&p->point->probes[0], &p->point->probes[1], &p->function,
                                  &p->type};
    for (int i = 0; i < 4; i++) {
        if (!is_text(name, names[i]))
            continue;
        *texts[i] = read_text(r, value, NAME_MAX_);
        p->function_node = i == 2 ? value : p->function_node;
        p->type_node = i == 3 ? value : p->type_node;
        return *texts[i] ? PYTHIA_OK : r->e->status;
    }
    if (is_text(name, "only")) {
        p->only = value;
        return PYTHIA_OK;
    }
    if (is_text(name, "kernel"))
        return read_kernel(r, p->point, value);
    if (is_text(name, "wait"))
        return read_wait(r, p->point, value);
    if (is_text(name, "keys"))
        return read_map(r, value, read_key, p->point);
    if (!is_text(name, "request"))
        return refuse_node(
            r, name,
            "a point has start, done, function, request, type, keys, kernel, only and wait");
    p->point->request = is_text(value, "true");
    if (!p->point->request && !is_text(value, "false"))
        return refuse_node(r, value, "request is true or false");
    return PYTHIA_OK;
}

/* The name of a probe: that of the point, or of its function, and a suffix. */
static const char *complete_probe(struct reader *r, const char *name, const char *suffix)
{
    size_t size = strlen(name) + SUFFIX_BYTES;
    char *out = pythia_arena_alloc(&r->out->texts, size);
    if (!out) {
        pythia_error_set(r->e, PYTHIA_ENOMEM, "out of memory");
        return NULL;
    }
    snprintf(out, size, "%s%s", name, suffix);
    return out;
}

static int complete_probes(struct reader *r, const struct point_reader *p)
{
    static const char *const suffixes[][2] = {{"__start", "__done"}, {"", PYTHIA_FUNCTION_RETURN}};
    struct pythia_probe_point *point = p->point;
    if (point->is_wait && (p->function || point->probes[0] || point->probes[1] || p->type ||
                           point->request || point->key_count || point->kernel_sums))
        return refuse_node(r, p->node, "a wait has no probes, and no other members");
    if (point->is_wait) {
        point->provider = PYTHIA_KERNEL_PROVIDER;
        point->layer = PYTHIA_LAYER_KERNEL;
        return PYTHIA_OK;
    }
    point->layer = LAYER_OF_FILE;
    if (point->has_names && !p->function && !r->of_events)
        return refuse_node(r, p->node, "arguments of functions have names, those of probes do not");
    if (p->function && (point->probes[0] || point->probes[1]))
        return refuse_node(r, p->function_node, "a point has either a function or start and done");
    point->provider = p->function ? PYTHIA_FUNCTION_PROVIDER : NULL;
    for (int i = 0; i < 2; i++) {
        if (!point->probes[i])
            point->probes[i] = complete_probe(r, p->function ? p->function : point->name,
                                              suffixes[p->function != NULL][i]);
        if (!point->probes[i])
            return r->e->status;
    }
    return PYTHIA_OK;
}

static int find_type(struct reader *r, const struct point_reader *p)
{
    p->point->type = -1;
    if (!p->type)
        return PYTHIA_OK;
    for (size_t i = 0; i < p->point->key_count; i++)
        if (strcmp(p->point->keys[i].name, p->type) == 0 && p->point->keys[i].text &&
            !p->point->keys[i].done)
            p->point->type = (int)i;
    return p->point->type >= 0 && p->point->request
               ? PYTHIA_OK
               : refuse_node(r, p->type_node,
                             "a type is a key of a request, and a text of the probe that begins "
                             "it");
}

static int read_point(struct reader *r, void *of, const yaml_node_t *name, const yaml_node_t *value)
{
    struct pythia_probe_rules *rules = of;
    if (rules->point_count == PYTHIA_PROBE_POINTS_MAX)
        return refuse_node(r, name, "there are more than 256 points");
    struct point_reader p = {.point = &rules->points[rules->point_count], .node = value};
    p.point->name = read_text(r, name, NAME_MAX_);
    if (!p.point->name)
        return r->e->status;
    int status = read_map(r, value, read_point_member, &p);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < rules->point_count; i++)
        if (strcmp(rules->points[i].name, p.point->name) == 0)
            return refuse_node(r, name, "two points have this name");
    status = complete_probes(r, &p);
    if (status != PYTHIA_OK)
        return status;
    if (p.only && p.function)
        return refuse_node(r, p.only, "'only' is for points with start and done");
    if (p.only && (status = read_map(r, p.only, read_only, p.point)) != PYTHIA_OK)
        return status;
    rules->point_count++;
    return find_type(r, &p);
}

static int read_programs(struct reader *r, const yaml_node_t *value)
{
    if (value->type != YAML_SEQUENCE_NODE)
        return refuse_node(r, value, "programs is a list of paths");
    for (const yaml_node_item_t *item = value->data.sequence.items.start;
         item < value->data.sequence.items.top; item++) {
        const yaml_node_t *node = yaml_document_get_node(&r->document, *item);
        if (r->out->program_count == PYTHIA_PROBE_PROGRAMS_MAX)
            return refuse_node(r, node, "there are more than 16 programs");
        const char *path = read_text(r, node, PATH_BYTES);
        if (!path)
            return r->e->status;
        r->out->programs[r->out->program_count++] = path;
    }
    return PYTHIA_OK;
}

/* Read another file, whose name is relative to the folder of this one. */
static int include_file(struct reader *r, const yaml_node_t *node)
{
    struct pythia_buf path = {0};
    const char *name = read_text(r, node, PATH_BYTES), *slash = strrchr(r->file, '/');
    if (!name)
        return r->e->status;
    if (r->included)
        return refuse_node(r, node, "a file that is included includes no other");
    pythia_buf_printf(&path, "%.*s%s", *name == '/' || !slash ? 0 : (int)(slash - r->file) + 1,
                      r->file, name);
    struct reader inner = {.out = r->out, .e = r->e, .included = true, .of_events = r->of_events};
    int status = pythia_buf_status(&path);
    if (status != PYTHIA_OK)
        goto out;
    inner.file = path.bytes;
    status = read_file(&inner);
out:
    if (status != PYTHIA_OK && !r->e->source[0])
        pythia_error_place(r->e, r->file, node->start_mark.line + 1, 0);
    pythia_buf_free(&path);
    return status;
}

static int read_includes(struct reader *r, const yaml_node_t *value)
{
    if (value->type != YAML_SEQUENCE_NODE)
        return refuse_node(r, value, "include is a list of files");
    for (const yaml_node_item_t *item = value->data.sequence.items.start;
         item < value->data.sequence.items.top; item++) {
        int status = include_file(r, yaml_document_get_node(&r->document, *item));
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int read_member(struct reader *r, void *of, const yaml_node_t *name,
                       const yaml_node_t *value)
{
    struct pythia_probe_rules *rules = of;
    bool service = is_text(name, "service");
    if (service || is_text(name, "provider")) {
        const char *text = read_text(r, value, NAME_MAX_ / 2);
        r->service = service ? text : r->service;
        r->provider = service ? r->provider : text;
        return text ? PYTHIA_OK : r->e->status;
    }
    if (is_text(name, "programs"))
        return read_programs(r, value);
    if (is_text(name, "points"))
        return read_map(r, value, read_point, rules);
    if (is_text(name, "include"))
        return read_includes(r, value);
    if (is_text(name, "layer") && value->type == YAML_SCALAR_NODE &&
        pythia_layer_find(pythia_text_of((const char *)value->data.scalar.value), &r->layer))
        return PYTHIA_OK;
    if (is_text(name, "layer"))
        return refuse_node(r, value, "a layer is " PYTHIA_LAYER_NAMES);
    return refuse_node(r, name, "rules have " MEMBERS);
}

/* A hit is of one point: a probe cannot begin or end two. Points of a file that includes this one
 * may have no provider yet; they are compared when that file has ended. */
static bool shares_probe(const struct pythia_probe_rules *rules, size_t index)
{
    const struct pythia_probe_point *point = &rules->points[index];
    bool shares = strcmp(point->probes[0], point->probes[1]) == 0;
    for (size_t i = 0; i < index && !shares; i++)
        for (int k = 0; k < 4; k++)
            shares |= rules->points[i].provider && !rules->points[i].is_wait &&
                      strcmp(rules->points[i].provider, point->provider) == 0 &&
                      strcmp(rules->points[i].probes[k / 2], point->probes[k % 2]) == 0;
    return shares;
}

static bool shares_wait(const struct pythia_probe_rules *rules, size_t index)
{
    bool shares = false;
    for (size_t i = 0; i < index; i++)
        shares |= rules->points[i].is_wait && rules->points[i].wait == rules->points[index].wait;
    return shares;
}

/* Give the points from `first` on what the file says for all of them, and look for hits that would
 * be of two points. */
static int complete_points(struct reader *r, const yaml_node_t *root, size_t first)
{
    for (size_t i = first; i < r->out->point_count; i++) {
        struct pythia_probe_point *point = &r->out->points[i];
        point->provider = point->provider ? point->provider : r->provider;
        point->layer = point->layer == LAYER_OF_FILE ? r->layer : point->layer;
        if (!point->provider)
            return refuse_node(r, root, "points that are no functions need a provider");
        if (point->is_wait && shares_wait(r->out, i))
            return refuse_node(r, root, "two points are the same wait");
        if (!point->is_wait && shares_probe(r->out, i))
            return refuse_node(r, root, "two points have a probe in common");
    }
    return PYTHIA_OK;
}

static int read_root(struct reader *r, const yaml_node_t *root)
{
    size_t first = r->out->point_count; /* those before it are of the file that includes this one */
    if (!root)
        return refuse_node(r, NULL, "the file is empty");
    int status = read_map(r, root, read_member, r->out);
    if (status != PYTHIA_OK)
        return status;
    if (r->out->point_count == first ||
        (!r->included && (!r->service || (r->out->program_count == 0 && !r->of_events))))
        return refuse_node(r, root, "rules have " MEMBERS);
    return complete_points(r, root, first);
}

/* Load the document of a text, and read it. */
static int read_document(struct reader *r, yaml_parser_t *parser)
{
    if (!yaml_parser_load(parser, &r->document)) {
        if (!parser->problem) /* not all of libyaml says so by parser->error */
            return pythia_error_set(r->e, PYTHIA_ENOMEM, "out of memory");
        pythia_error_set(r->e, PYTHIA_EFORMAT, "invalid YAML: %s", parser->problem);
        pythia_error_place(r->e, r->file, parser->problem_mark.line + 1, 0);
        return PYTHIA_EFORMAT;
    }
    int status = read_root(r, yaml_document_get_root_node(&r->document));
    yaml_document_delete(&r->document);
    return status;
}

static int parse_rules(struct reader *r, const char *bytes, size_t size)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return pythia_error_set(r->e, PYTHIA_ENOMEM, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
    int status = read_document(r, &parser);
    yaml_parser_delete(&parser);
    return status;
}

int pythia_rules_file_read(const char *path, struct pythia_buf *text, struct pythia_error *e)
{
    size_t got = 1;
    FILE *file = fopen(path, "re");
    while (file && got > 0 && text->size <= FILE_MAX) {
        char *to = pythia_buf_reserve(text, 4096);
        got = to ? fread(to, 1, 4096, file) : 0;
        text->size += got;
    }
    int status = PYTHIA_OK;
    if (!file || ferror(file))
        status = pythia_error_set(e, PYTHIA_EIO, "%s: %s", path, strerror(errno));
    else if (pythia_buf_status(text) != PYTHIA_OK)
        status = pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    else if (text->size > FILE_MAX)
        status = pythia_error_set(e, PYTHIA_ELIMIT, "%s: more than 1 MiB of rules", path);
    if (file)
        fclose(file);
    return status;
}

static int read_file(struct reader *r)
{
    struct pythia_buf text = {0};
    int status = pythia_rules_file_read(r->file, &text, r->e);
    if (status == PYTHIA_OK)
        status = parse_rules(r, text.bytes ? text.bytes : "", text.size);
    pythia_buf_free(&text);
    return status;
}

/* Read from bytes, or from the file itself (NULL), into rules that are whole or not at all. */
static int make_rules(const char *name, const char *bytes, size_t size, bool of_events,
                      struct pythia_probe_rules *out, struct pythia_error *e)
{
    struct pythia_probe_rules rules = {
        .points = pythia_calloc(PYTHIA_PROBE_POINTS_MAX, sizeof(*rules.points))};
    struct reader r = {.out = &rules, .file = name, .of_events = of_events, .e = e};
    if (!rules.points)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    int status = bytes ? parse_rules(&r, bytes, size) : read_file(&r);
    rules.service = r.service;
    rules.provider = r.provider;
    if (status != PYTHIA_OK) {
        pythia_probe_rules_free(&rules);
        return status;
    }
    *out = rules;
    return PYTHIA_OK;
}

int pythia_probe_rules_parse(const char *name, const char *bytes, size_t size,
                             struct pythia_probe_rules *out, struct pythia_error *e)
{
    return make_rules(name, bytes, size, false, out, e);
}

int pythia_probe_rules_read(const char *path, struct pythia_probe_rules *out,
                            struct pythia_error *e)
{
    return make_rules(path, NULL, 0, false, out, e);
}

int pythia_event_rules_parse(const char *name, const char *bytes, size_t size,
                             struct pythia_probe_rules *out, struct pythia_error *e)
{
    return make_rules(name, bytes ? bytes : "", size, true, out, e);
}

void pythia_probe_rules_free(struct pythia_probe_rules *rules)
{
    pythia_free(rules->points);
    pythia_arena_free(&rules->texts);
    *rules = (struct pythia_probe_rules){0};
}
