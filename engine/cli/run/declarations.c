/* Declarations of trace points. JSON is a list of objects:
 *
 *     [{"name": "lookup", "module": "libstore.so", "function": "store_get",
 *       "keys": ["bytes=arg2:u32", "ret"], "error": "negative"}]
 *
 * and CSV has four columns: module, class, function, name. Everything that is wrong is told, with
 * file and line, not only the first. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "declarations.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "counters.h"
#include "plan.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define FILE_BYTES  ((size_t)64 << 20)
#define NAME_BYTES  200 /* as in records */
#define FIELD_BYTES 4096

static const char *const members[] = {"name",    "module",  "class",   "function",
                                      "keys",    "types",   "enabled", "error",
                                      "request", "metrics", "callback"};

/* ---- telling ---- */

static void report_line(struct pythia__declarations *d, const struct pythia__declaration *at,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
static void report_line(struct pythia__declarations *d, const struct pythia__declaration *at,
                        const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    pythia_log(PYTHIA_LOG_ERROR, "%s:%llu: %s", at->source, (unsigned long long)at->line, sentence);
    d->faults++;
}

/* ---- checking ---- */

static bool is_word(const char *text)
{
    size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return size > 0 && text[size] == '\0';
}

static bool is_plain_declaration(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

/* Names of functions go into the plan, whose fields end at tabs and lines, so control characters
 * are refused everywhere. */
static bool check_names(struct pythia__declarations *d, const struct pythia__declaration *p)
{
    const char *why;
    if (*p->name == '\0')
        report_line(d, p, "a point has no name");
    else if (strlen(p->name) > NAME_BYTES || !is_plain_declaration(p->name))
        report_line(d, p, "the name of a point has more than %d bytes, or control characters",
                    NAME_BYTES);
    else if (*p->function && !is_word(p->name))
        report_line(d, p, "'%s' is not a valid name: use letters, digits and _", p->name);
    else if (*p->class_name && !*p->function)
        report_line(d, p, "'%s' has a class but no function", p->name);
    else if (!is_plain_declaration(p->function) || !is_plain_declaration(p->module) ||
             !is_plain_declaration(p->class_name) || strlen(p->function) >= FIELD_BYTES ||
             strlen(p->module) >= FIELD_BYTES || strlen(p->class_name) >= FIELD_BYTES)
        report_line(d, p,
                    "'%s' has a module, class or function that is too long or contains control "
                    "characters",
                    p->name);
    else if (*p->function && (why = pythia__unhookable(p->function)))
        report_line(d, p, "'%s' cannot hook %s: %s", p->name, p->function, why);
    else
        return true;
    return false;
}

/* The keys, one by one, as the shim will read them. */
static bool check_keys(struct pythia__declarations *d, const struct pythia__declaration *p)
{
    struct pythia__key key;
    char why[256];
    size_t count = 0;
    for (const char *at = p->keys; *at;) {
        size_t size = strcspn(at, ",");
        if (pythia__key_parse(at, size, &key, why) != 0) {
            report_line(d, p, "key of '%s': %s", p->name, why);
            return false;
        }
        if (key.from == PYTHIA__FROM_METRIC && key.index >= PYTHIA__METRIC_COUNTERS)
            d->counters |= 1u << (key.index - PYTHIA__METRIC_COUNTERS);
        count++;
        at += size + (at[size] == ',');
    }
    if (count > PYTHIA__PLAN_KEYS) {
        report_line(d, p, "'%s' has %zu keys; at most %d are allowed", p->name, count,
                    PYTHIA__PLAN_KEYS);
        return false;
    }
    if (*p->function == '\0' &&
        (count || *p->error || *p->callback || strcmp(p->request, "-") != 0)) {
        report_line(d, p, "'%s' has no function; keys, error, request and callback require one",
                    p->name);
        return false;
    }
    return true;
}

static bool check_rest(struct pythia__declarations *d, const struct pythia__declaration *p)
{
    struct pythia__key key;
    enum pythia__error_kind error;
    char why[256];
    if (pythia__error_parse(p->error, &error) != 0) {
        report_line(d, p, "'%s' has the error '%s'; expected negative, zero, null or nonzero",
                    p->name, p->error);
        return false;
    }
    if (*p->request == '\0' || strcmp(p->request, "-") == 0)
        return true;
    if (pythia__key_parse(p->request, strlen(p->request), &key, why) != 0) {
        report_line(d, p, "the request of '%s': %s", p->name, why);
        return false;
    }
    if (key.from == PYTHIA__FROM_ARGUMENT && key.as != PYTHIA__AS_BOOL)
        return true;
    report_line(d, p, "the request of '%s' is named by an argument, a number or a text", p->name);
    return false;
}

/* The other declaration of the same name, or of the same function; NULL: there is none, and this
 * one is the next. PYTHIA_OK or PYTHIA_ENOMEM. */
static int find_same_name(struct pythia__declarations *d, const struct pythia__declaration *p,
                          const struct pythia__declaration **other, bool *by_name)
{
    struct pythia_buf key = {0};
    uint32_t places[2] = {0, 0};
    *other = NULL;
    if (!d->names && pythia_strtab_create(&d->names) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (int i = 0; i < (*p->function ? 2 : 1); i++) {
        pythia_buf_clear(&key);
        if (i == 0)
            pythia_buf_printf(&key, "n%s", p->name);
        else
            pythia_buf_printf(&key, "f%s\t%s\t%s", p->module, p->class_name, p->function);
        places[i] = pythia_strtab_intern(d->names, pythia_buf_text(&key));
        if (pythia_buf_status(&key) != PYTHIA_OK || places[i] == PYTHIA_STRTAB_NONE ||
            pythia_reach(&d->by_string, &d->string_capacity, places[i], sizeof(*d->by_string)) !=
                PYTHIA_OK) {
            pythia_buf_free(&key);
            return PYTHIA_ENOMEM;
        }
        size_t found = d->by_string[places[i]];
        if (found && !*other) {
            *other = &d->all[found - 1];
            *by_name = i == 0;
        }
    }
    pythia_buf_free(&key);
    for (int i = 0; i < 2 && !*other; i++)
        d->by_string[places[i]] = d->count + 1; /* 0 is the empty string's, which none has */
    return PYTHIA_OK;
}

static void free_one(struct pythia__declaration *p)
{
    char *owned[] = {p->name, p->module, p->class_name, p->function, p->types,
                     p->keys, p->error,  p->request,    p->callback, p->where};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
}

/* Keep a declaration, which is taken, if it is right. PYTHIA_OK or PYTHIA_ENOMEM. */
static int keep_declaration(struct pythia__declarations *d, struct pythia__declaration *p)
{
    bool same_name = false;
    if (!p->name || !p->module || !p->class_name || !p->function || !p->types || !p->keys ||
        !p->error || !p->request || !p->callback || !p->where) {
        free_one(p);
        return PYTHIA_ENOMEM;
    }
    const struct pythia__declaration *other = NULL;
    bool right = check_names(d, p) && check_keys(d, p) && check_rest(d, p);
    int status = right ? pythia_grow(&d->all, &d->capacity, d->count, sizeof(*d->all)) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    if (right && d->count == PYTHIA__PLAN_POINTS) {
        report_line(d, p, "there are more than %d points", PYTHIA__PLAN_POINTS);
        right = false;
    }
    if (right)
        status = find_same_name(d, p, &other, &same_name);
out:
    if (other)
        report_line(d, p, "'%s' is declared already%s, at %s:%llu", p->name,
                    same_name ? "" : " by another name", other->source,
                    (unsigned long long)other->line);
    if (!right || other || status != PYTHIA_OK)
        free_one(p);
    else
        d->all[d->count++] = *p;
    return status;
}

/* ---- JSON ---- */

/* The line on which the next object of a list begins: jansson tells lines of syntax errors only.
 * *at goes behind that object, *line to where that is. */
static uint64_t next_object_line(const char **at, const char *end, uint64_t *line)
{
    uint64_t begins = *line;
    int depth = 0;
    bool quoted = false;
    for (const char *c = *at; c < end; c++) {
        *line += *c == '\n';
        if (quoted && *c == '\\')
            c++; /* no line ends within a string */
        else if (*c == '"')
            quoted = !quoted;
        else if (!quoted && *c == '{' && depth++ == 0)
            begins = *line;
        else if (!quoted && *c == '}' && --depth == 0) {
            *at = c + 1;
            return begins;
        }
    }
    *at = end;
    return begins;
}

static char *copy_field_text(const char *text)
{
    return pythia_strndup(text, strlen(text));
}

/* A member that is a string; "" if it is not there; NULL: told, or no memory. */
static char *string_member(struct pythia__declarations *d, const struct pythia__declaration *p,
                           const json_t *object, const char *name, bool wanted, bool *right)
{
    const json_t *value = json_object_get(object, name);
    if (!value && !wanted)
        return copy_field_text("");
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value)) {
        report_line(d, p,
                    value ? "\"%s\" is not a string, or contains U+0000" : "a point has no \"%s\"",
                    name);
        *right = false;
        return copy_field_text("");
    }
    return copy_field_text(json_string_value(value));
}

/* A list of strings, with `separator` between. */
static char *list_member(struct pythia__declarations *d, const struct pythia__declaration *p,
                         const json_t *object, const char *name, char separator, bool *right)
{
    const json_t *list = json_object_get(object, name);
    struct pythia_buf all = {0};
    size_t i;
    const json_t *value;
    bool good = !list || json_is_array(list);
    json_array_foreach (list, i, value) {
        const char *text = json_string_value(value);
        good = good && text && *text && is_plain_declaration(text) && !strchr(text, separator);
        if (!good)
            break;
        if (i > 0)
            pythia_buf_putc(&all, separator);
        pythia_buf_puts(&all, text);
    }
    if (!good) {
        report_line(d, p, "\"%s\" is not a list of strings", name);
        *right = false;
    }
    char *joined =
        pythia_buf_status(&all) == PYTHIA_OK ? copy_field_text(all.bytes ? all.bytes : "") : NULL;
    pythia_buf_free(&all);
    return joined;
}

/* Metrics are keys that the shim knows by their names. */
static void add_metrics(struct pythia__declarations *d, struct pythia__declaration *p,
                        const json_t *object, bool *right)
{
    char *metrics = list_member(d, p, object, "metrics", ',', right);
    struct pythia_buf all = {0};
    for (const char *at = metrics; at && *at;) {
        size_t size = strcspn(at, ",");
        bool known = false;
        for (int i = 0; i < PYTHIA__METRICS; i++)
            known = known || (strlen(pythia__metrics[i]) == size &&
                              strncmp(pythia__metrics[i], at, size) == 0);
        if (!known) {
            report_line(d, p, "'%.*s' is not a metric; the metrics are " PYTHIA__METRIC_NAMES,
                        (int)(size < 40 ? size : 40), at);
            *right = false;
        }
        at += size + (at[size] == ',');
    }
    if (metrics && *metrics && p->keys) {
        pythia_buf_printf(&all, "%s%s%s", p->keys, *p->keys ? "," : "", metrics);
        pythia_free(p->keys);
        p->keys = pythia_buf_status(&all) == PYTHIA_OK ? copy_field_text(all.bytes) : NULL;
    } else if (!metrics) {
        pythia_free(p->keys);
        p->keys = NULL;
    }
    pythia_buf_free(&all);
    pythia_free(metrics);
}

static char *request_member(struct pythia__declarations *d, const struct pythia__declaration *p,
                            const json_t *object, bool *right)
{
    const json_t *value = json_object_get(object, "request");
    if (!value || json_is_boolean(value))
        return copy_field_text(json_is_true(value) ? "" : "-");
    if (json_is_string(value) && json_string_length(value) > 0)
        return copy_field_text(json_string_value(value));
    report_line(d, p,
                "\"request\" must be true, false, or the argument that names it: "
                "\"arg0:str\"");
    *right = false;
    return copy_field_text("-");
}

/* "FILE:FUNCTION", where FILE is a shared object (its name ends in .so, or has a slash in it) and
 * becomes a whole path, since the program may change its folder; or "module:function" of Python. */
static char *callback_member(struct pythia__declarations *d, const struct pythia__declaration *p,
                             const json_t *object, bool *right)
{
    char path[PATH_MAX], whole[PATH_MAX + 256];
    char *text = string_member(d, p, object, "callback", false, right);
    if (!text || !*text)
        return text;
    const char *colon = strrchr(text, ':');
    size_t size = colon ? (size_t)(colon - text) : 0;
    if (size == 0 || size >= sizeof(path) || !is_word(colon + 1) || strlen(colon + 1) > 200) {
        report_line(d, p,
                    "'%s' is no callback: expected \"FILE.so:FUNCTION\", or \"MODULE:FUNCTION\" of "
                    "Python",
                    text);
        *right = false;
        return text;
    }
    struct pythia_text file = {text, size};
    if (!memchr(text, '/', size) && !pythia_text_ends(file, PYTHIA_TEXT(".so")))
        return text;
    snprintf(path, sizeof(path), "%.*s", (int)size, text);
    char *resolved = realpath(path, NULL);
    if (!resolved || !is_plain_declaration(resolved)) {
        report_line(d, p, "the callback's file %s: %s", path,
                    resolved ? "its path contains control characters" : strerror(errno));
        *right = false;
        free(resolved);
        return text;
    }
    snprintf(whole, sizeof(whole), "%s%s", resolved, colon);
    free(resolved);
    pythia_free(text);
    return copy_field_text(whole);
}

static void check_members(struct pythia__declarations *d, const struct pythia__declaration *p,
                          json_t *object, bool *right)
{
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        bool known = false;
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            known = known || strcmp(key, members[i]) == 0;
        if (!known) {
            report_line(d, p,
                        "unknown member \"%s\"; the members are name, module, class, function, "
                        "keys, metrics, types, enabled, error, request and callback",
                        key);
            *right = false;
        }
    }
}

/* Where it is enabled. A switch is for all processes of a service, so PROCESS cannot be given. */
static char *where_member(struct pythia__declarations *d, const struct pythia__declaration *p,
                          const json_t *object, bool *right)
{
    const json_t *value = json_object_get(object, "enabled");
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    const char *slash = strchr(text, '/');
    if (!value || json_is_boolean(value) || (slash && !strchr(slash + 1, '/')))
        return copy_field_text(text);
    report_line(d, p,
                "\"enabled\" must be true, false, or two patterns \"HOST/SERVICE\" of where it is");
    *right = false;
    return copy_field_text("");
}

/* All members are read even after an error, so that one run reports every mistake of a
 * declaration. */
static int take_object(struct pythia__declarations *d, const char *path, uint64_t line,
                       json_t *object)
{
    struct pythia__declaration p = {.source = path, .line = line};
    bool right = true;
    if (!json_is_object(object)) {
        report_line(d, &p, "a declaration must be an object: {\"name\": …, \"function\": …}");
        return PYTHIA_OK;
    }
    check_members(d, &p, object, &right);
    p.name = string_member(d, &p, object, "name", true, &right);
    p.function = string_member(d, &p, object, "function", true, &right);
    p.module = string_member(d, &p, object, "module", false, &right);
    p.class_name = string_member(d, &p, object, "class", false, &right);
    p.error = string_member(d, &p, object, "error", false, &right);
    p.keys = list_member(d, &p, object, "keys", ',', &right);
    add_metrics(d, &p, object, &right);
    p.types = list_member(d, &p, object, "types", '\x1f', &right);
    p.request = request_member(d, &p, object, &right);
    p.callback = callback_member(d, &p, object, &right);
    p.where = where_member(d, &p, object, &right);
    p.enabled = !json_is_false(json_object_get(object, "enabled"));
    if (right)
        return keep_declaration(d, &p);
    free_one(&p);
    return PYTHIA_OK;
}

/* jansson knows no lines of values, so the lines of objects are found by walking over the text
 * beside it. */
static int read_json(struct pythia__declarations *d, const char *path, struct pythia_text text,
                     struct pythia_error *e)
{
    json_error_t why;
    json_t *list = json_loadb(text.bytes, text.size, JSON_REJECT_DUPLICATES, &why), *object;
    const char *at = text.bytes, *end = text.bytes + text.size;
    uint64_t line = 1;
    size_t i;
    int status = PYTHIA_OK;
    if (!list || !json_is_array(list)) {
        pythia_error_set(e, PYTHIA_EFORMAT, "%s%s", list ? "" : "is not JSON: ",
                         list ? "declarations must be a list of objects: [{…}, …]" : why.text);
        pythia_error_place(e, path, list || why.line < 1 ? 1 : (uint64_t)why.line,
                           list ? 0 : (uint64_t)why.position);
        json_decref(list);
        return PYTHIA_EFORMAT;
    }
    json_array_foreach (list, i, object) {
        uint64_t begins = json_is_object(object) ? next_object_line(&at, end, &line) : line;
        if ((status = take_object(d, path, begins, object)) != PYTHIA_OK)
            break;
    }
    json_decref(list);
    return status;
}

/* ---- CSV ---- */

#define COLUMNS 4

/* Split a line, in place, at commas; a field may stand in quotes, and then has "" for a quote.
 * Returns how many there are, -1 if a quote is wrong. */
static int split_fields(char *line, char *fields[COLUMNS + 1])
{
    int count = 0;
    for (char *from = line;;) {
        while (*from == ' ')
            from++;
        char *to = from;
        if (count <= COLUMNS)
            fields[count < COLUMNS ? count : COLUMNS] = from;
        count++;
        bool quoted = *from == '"';
        if (quoted) {
            for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
                from += *from == '"';
                *to++ = *from;
            }
            if (*from++ != '"')
                return -1;
            while (*from == ' ')
                from++;
            if (*from && *from != ',')
                return -1;
        } else {
            size_t size = strcspn(from, ",");
            from += size;
            for (to = from; size > 0 && to[-1] == ' '; size--)
                to--;
        }
        bool more = *from == ',';
        *to = '\0';
        if (!more)
            return count;
        from++;
    }
}

/* The columns of JSON that CSV does not have get their defaults. */
static int take_csv_line(struct pythia__declarations *d, const char *path, uint64_t number,
                         char *line)
{
    char *fields[COLUMNS + 1];
    struct pythia__declaration p = {.source = path, .line = number, .enabled = true};
    size_t size = strlen(line);
    if (size > 0 && line[size - 1] == '\r')
        line[--size] = '\0';
    if (line[strspn(line, " ")] == '\0' || line[strspn(line, " ")] == '#')
        return PYTHIA_OK;
    int count = split_fields(line, fields);
    if (count != COLUMNS) {
        report_line(d, &p,
                    count < 0 ? "a quote is not closed, or is closed before the end of its field"
                              : "%d columns; expected 4: "
                                "\"module\",\"class\",\"function\",\"name\"",
                    count);
        return PYTHIA_OK;
    }
    p.module = copy_field_text(fields[0]);
    p.class_name = copy_field_text(fields[1]);
    p.function = copy_field_text(fields[2]);
    p.name = copy_field_text(fields[3]);
    p.types = copy_field_text("");
    p.keys = copy_field_text("");
    p.error = copy_field_text("");
    p.request = copy_field_text("-");
    p.callback = copy_field_text("");
    p.where = copy_field_text("");
    return keep_declaration(d, &p);
}

/* Lines are cut in place by NULs, so a NUL in the file would end a line unnoticed. */
static int read_csv(struct pythia__declarations *d, const char *path, struct pythia_text text,
                    struct pythia_error *e)
{
    int status = PYTHIA_OK;
    uint64_t number = 1;
    if (memchr(text.bytes, '\0', text.size)) {
        pythia_error_set(e, PYTHIA_EFORMAT, "it contains a NUL byte");
        pythia_error_place(e, path, 1, 0);
        return PYTHIA_EFORMAT;
    }
    char *all = pythia_strndup(text.bytes, text.size), *line = all;
    if (!all)
        return PYTHIA_ENOMEM;
    while (line && *line) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        if ((status = take_csv_line(d, path, number++, line)) != PYTHIA_OK)
            goto out;
        line = end ? end + 1 : NULL;
    }
out:
    pythia_free(all);
    return status;
}

/* ---- files ---- */

/* Files may be pipes, so the size is limited while reading instead of asked for. */
static int read_declaration_file(const char *path, struct pythia_buf *to, struct pythia_error *e)
{
    FILE *file = fopen(path, "rb");
    size_t got = 0;
    char *room = NULL;
    if (file)
        while (to->size <= FILE_BYTES && (room = pythia_buf_reserve(to, 65536)) &&
               (got = fread(room, 1, 65536, file)) > 0)
            to->size += got;
    int number = file && room && !ferror(file) ? 0 : errno;
    if (file)
        fclose(file);
    if (file && !room)
        return PYTHIA_ENOMEM;
    if (number || !file) {
        pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(number));
        pythia_error_place(e, path, 0, 0);
        return PYTHIA_EIO;
    }
    if (to->size <= FILE_BYTES)
        return PYTHIA_OK;
    pythia_error_set(e, PYTHIA_EFORMAT, "it is larger than 64 MiB");
    pythia_error_place(e, path, 0, 0);
    return PYTHIA_EFORMAT;
}

int pythia__declarations_read(struct pythia__declarations *d, const char *path,
                              struct pythia_error *e)
{
    struct pythia_buf bytes = {0};
    int status = read_declaration_file(path, &bytes, e);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_text_ends(pythia_text_of(path), PYTHIA_TEXT(".csv"))
                 ? read_csv(d, path, pythia_buf_text(&bytes), e)
                 : read_json(d, path, pythia_buf_text(&bytes), e);
out:
    pythia_buf_free(&bytes);
    return status;
}

void pythia__declarations_free(struct pythia__declarations *d)
{
    for (size_t i = 0; i < d->count; i++)
        free_one(&d->all[i]);
    pythia_free(d->all);
    pythia_free(d->by_string);
    pythia_strtab_destroy(d->names);
    *d = (struct pythia__declarations){0};
}

void pythia__declarations_place(struct pythia__declarations *d, const char *host,
                                const char *service)
{
    for (size_t i = 0; i < d->count; i++) {
        struct pythia__declaration *p = &d->all[i];
        char *slash = strchr(p->where, '/');
        if (!slash)
            continue;
        *slash = '\0';
        p->enabled = (!*p->where || fnmatch(p->where, host, 0) == 0) &&
                     (!slash[1] || fnmatch(slash + 1, service, 0) == 0);
        *slash = '/';
    }
}

static void add_csv_field(struct pythia_buf *to, const char *text)
{
    pythia_buf_putc(to, '\t');
    pythia_buf_puts(to, *text ? text : "-");
}

void pythia__declarations_plan(const struct pythia__declarations *d, struct pythia_buf *to)
{
    pythia_buf_puts(to, PYTHIA__PLAN_HEAD);
    for (size_t i = 0; i < d->count; i++) {
        const struct pythia__declaration *p = &d->all[i];
        pythia_buf_puts(to, "point");
        add_csv_field(to, p->name);
        add_csv_field(to, p->module);
        add_csv_field(to, p->class_name);
        add_csv_field(to, p->function);
        add_csv_field(to, p->enabled ? "open" : "closed");
        if (strcmp(p->request, "-") != 0)
            pythia_buf_printf(to, ",request%s%s", *p->request ? "=" : "", p->request);
        add_csv_field(to, p->error);
        add_csv_field(to, p->types);
        add_csv_field(to, p->keys);
        add_csv_field(to, p->callback);
        pythia_buf_putc(to, '\n');
    }
}

/* The reason why a counter cannot be counted here. */
static const char *explain_counter(int status)
{
    switch (status) {
    case -ENOENT:
    case -ENODEV:
    case -EOPNOTSUPP:
        return "this machine has no such counter, as most virtual machines";
    case -EACCES:
    case -EPERM:
        return "it takes CAP_PERFMON, or kernel.perf_event_paranoid to be 2 or less";
    default:
        return strerror(-status);
    }
}

void pythia__declarations_warn(const struct pythia__declarations *d)
{
    for (unsigned i = 0; i < PYTHIA__COUNTERS; i++) {
        int status = d->counters >> i & 1 ? pythia__counter_try((enum pythia__counter)i) : 0;
        if (status != 0)
            pythia_log(PYTHIA_LOG_WARNING,
                       "%s are not counted: %s. cpu_ns, page_faults and context_switches are "
                       "counted everywhere",
                       pythia__metrics[PYTHIA__METRIC_COUNTERS + i], explain_counter(status));
    }
}
