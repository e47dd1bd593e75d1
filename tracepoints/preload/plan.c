/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 9

/* ---- key-values ---- */

struct type_row {
    const char *name;
    enum pythia__source_type as;
    uint16_t bytes;
};

static const struct type_row type_rows[] = {
    {"i8", PYTHIA__AS_SIGNED, 1},    {"i16", PYTHIA__AS_SIGNED, 2},
    {"i32", PYTHIA__AS_SIGNED, 4},   {"i64", PYTHIA__AS_SIGNED, 8},
    {"u8", PYTHIA__AS_UNSIGNED, 1},  {"u16", PYTHIA__AS_UNSIGNED, 2},
    {"u32", PYTHIA__AS_UNSIGNED, 4}, {"u64", PYTHIA__AS_UNSIGNED, 8},
    {"bool", PYTHIA__AS_BOOL, 1},    {"f32", PYTHIA__AS_FLOAT, 4},
    {"f64", PYTHIA__AS_DOUBLE, 8},
};

/* A number without a sign, all of the text, from `least` to `most`; -1 if it is none. */
static long parse_plan_number(const char *text, long least, long most)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 6)
        return -1;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number >= least && number <= most ? number : -1;
}

/* Resident memory is the process's; all others are the thread's. */
const char *const pythia__metrics[PYTHIA__METRICS] = {
    "rss",    "read_bytes",   "write_bytes",  "cpu_ns",       "page_faults", "context_switches",
    "cycles", "instructions", "cache_misses", "branch_misses"};

static long parse_metric(const char *text)
{
    for (int i = 0; i < PYTHIA__METRICS; i++)
        if (strcmp(text, pythia__metrics[i]) == 0)
            return i;
    return -1;
}

/* The words are those of `pythia run --key`, so that a plan can be read and written by hand. */
static int parse_key_source(const char *text, struct pythia__key *out, char *why)
{
    long index = 0;
    if (strcmp(text, "ret") == 0) {
        out->from = PYTHIA__FROM_RETURN;
    } else if (strcmp(text, "caller") == 0) {
        out->from = PYTHIA__FROM_CALLER;
    } else if (strncmp(text, "arg", 3) == 0) {
        out->from = PYTHIA__FROM_ARGUMENT;
        index = parse_plan_number(text + 3, 0, PYTHIA__PLAN_ARG_MAX - 1);
    } else if (strncmp(text, "farg", 4) == 0) {
        out->from = PYTHIA__FROM_FLOATING;
        index = parse_plan_number(text + 4, 0, 7);
    } else {
        out->from = PYTHIA__FROM_METRIC;
        index = parse_metric(text);
    }
    out->index = (uint16_t)index;
    if (index >= 0)
        return 0;
    snprintf(why, 256,
             "'%.40s' is not a source of a key-value: expected arg0 to arg%d, farg0 to farg7, ret, "
             "caller or a metric (pythia run --help lists them)",
             text, PYTHIA__PLAN_ARG_MAX - 1);
    return -EINVAL;
}

static int parse_key_type(const char *text, struct pythia__key *out, char *why)
{
    for (size_t i = 0; i < sizeof(type_rows) / sizeof(type_rows[0]); i++)
        if (strcmp(text, type_rows[i].name) == 0) {
            out->as = type_rows[i].as;
            out->bytes = type_rows[i].bytes;
            return 0;
        }
    if (strncmp(text, "str", 3) == 0) {
        long bytes = text[3] ? parse_plan_number(text + 3, 1, 4096) : PYTHIA__PLAN_TEXT;
        out->as = PYTHIA__AS_TEXT;
        out->bytes = (uint16_t)bytes;
        if (bytes > 0)
            return 0;
    }
    snprintf(
        why, 256,
        "'%.40s' is not a type: expected i8 to i64, u8 to u64, bool, f32, f64, str, or str1 to "
        "str4096 for so many bytes at most",
        text);
    return -EINVAL;
}

/* Do source and type go together? */
static int check_key(const struct pythia__key *k, int typed, char *why)
{
    int floating = k->as == PYTHIA__AS_FLOAT || k->as == PYTHIA__AS_DOUBLE;
    const char *fault = NULL;
    if (k->from == PYTHIA__FROM_CALLER && typed)
        fault = "'caller' takes no type: it is a text, object+offset";
    else if (k->from == PYTHIA__FROM_METRIC && typed)
        fault = "metrics take no type: they are whole numbers";
    else if (k->from == PYTHIA__FROM_FLOATING && !floating)
        fault = "a farg is f32 or f64";
    else if (k->from == PYTHIA__FROM_ARGUMENT && floating)
        fault =
            "arguments that are f32 or f64 are counted by themselves: farg0 is the first of them";
    if (!fault)
        return 0;
    snprintf(why, 256, "%s", fault);
    return -EINVAL;
}

/* A key without a name is called as its source is, and one without a type is a signed number of 64
 * bits, as most arguments are. */
int pythia__key_parse(const char *text, size_t bytes, struct pythia__key *out, char *why)
{
    char copy[128];
    struct pythia__key k = {.as = PYTHIA__AS_SIGNED, .bytes = 8};
    if (bytes == 0 || bytes >= sizeof(copy) || memchr(text, '\0', bytes)) {
        snprintf(why, 256, "a key has 1 to %zu bytes: \"arg0:i64\" or \"name=arg0:i64\"",
                 sizeof(copy) - 1);
        return -EINVAL;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    char *equals = strchr(copy, '='), *source = equals ? equals + 1 : copy,
         *colon = strchr(source, ':');
    if (colon)
        *colon = '\0';
    size_t name_bytes = equals ? (size_t)(equals - copy) : strlen(source);
    if (name_bytes == 0 || name_bytes >= sizeof(k.name) || memchr(copy, ',', name_bytes)) {
        snprintf(why, 256, "the name of a key-value has 1 to %zu bytes, without a comma",
                 sizeof(k.name) - 1);
        return -EINVAL;
    }
    memcpy(k.name, copy, name_bytes);
    k.name_bytes = (uint8_t)name_bytes;
    if (parse_key_source(source, &k, why) != 0)
        return -EINVAL;
    if (k.from == PYTHIA__FROM_METRIC && !equals)
        k.name_bytes = (uint8_t)snprintf(k.name, sizeof(k.name), "metric.%s", source);
    if (k.from == PYTHIA__FROM_CALLER)
        k.as = PYTHIA__AS_PLACE;
    if (k.from == PYTHIA__FROM_FLOATING)
        k.as = PYTHIA__AS_DOUBLE;
    if ((colon && parse_key_type(colon + 1, &k, why) != 0) ||
        check_key(&k, colon != NULL, why) != 0)
        return -EINVAL;
    *out = k;
    return 0;
}

int pythia__error_parse(const char *text, enum pythia__error_kind *out)
{
    static const struct {
        const char *name;
        enum pythia__error_kind kind;
    } rows[] = {{"", PYTHIA__ERROR_NEVER},
                {"-", PYTHIA__ERROR_NEVER},
                {"negative", PYTHIA__ERROR_NEGATIVE},
                {"zero", PYTHIA__ERROR_ZERO},
                {"null", PYTHIA__ERROR_ZERO},
                {"nonzero", PYTHIA__ERROR_NONZERO}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(text, rows[i].name) == 0) {
            *out = rows[i].kind;
            return 0;
        }
    return -EINVAL;
}

/* ---- lines ---- */

static int read_keys(char *field, struct pythia__declared *out)
{
    char why[256];
    char *rest = NULL;
    for (char *key = strtok_r(field, ",", &rest); key; key = strtok_r(NULL, ",", &rest)) {
        if (out->key_count == PYTHIA__PLAN_KEYS ||
            pythia__key_parse(key, strlen(key), &out->keys[out->key_count], why) != 0)
            return -EINVAL;
        out->key_count++;
    }
    return 0;
}

static int read_flags(char *field, struct pythia__declared *out)
{
    char why[256], *request = strchr(field, ',');
    if (request)
        *request++ = '\0';
    out->open = strcmp(field, "open") == 0;
    out->request = request != NULL;
    if (request && strncmp(request, "request=", 8) == 0)
        return pythia__key_parse(request + 8, strlen(request + 8), &out->request_key, why);
    return !request || strcmp(request, "request") == 0 ? 0 : -EINVAL;
}

/* Fields are separated by tabs and cut in place: the names of the points stay in the text of the
 * plan. */
int pythia__plan_next(char **text, struct pythia__declared *out)
{
    static char nothing[] = "";
    char *line = *text, *field[FIELDS];
    if (*line == '\0')
        return 0;
    char *end = strchr(line, '\n');
    if (!end || strncmp(line, "point\t", 6) != 0)
        return -EINVAL;
    *end = '\0';
    *text = end + 1;
    line += 6;
    for (int i = 0; i < FIELDS; i++) {
        char *tab = strchr(line, '\t');
        if ((tab == NULL) != (i == FIELDS - 1))
            return -EINVAL;
        if (tab)
            *tab = '\0';
        field[i] = strcmp(line, "-") == 0 ? nothing : line;
        line = tab ? tab + 1 : line;
    }
    *out = (struct pythia__declared){.name = field[0],
                                     .module = field[1],
                                     .class_name = field[2],
                                     .function = field[3],
                                     .types = field[6],
                                     .callback = field[8]};
    if (read_flags(field[4], out) != 0 || pythia__error_parse(field[5], &out->error) != 0 ||
        read_keys(field[7], out) != 0)
        return -EINVAL;
    return 1;
}

/* ---- what fits ---- */

/* "<length><name>" at the beginning of a mangled name; returns what comes after it, or NULL. */
static const char *after_name(const char *symbol, const char *name, size_t bytes)
{
    char length[24];
    int digits = snprintf(length, sizeof(length), "%zu", bytes);
    if (strncmp(symbol, length, (size_t)digits) != 0 || strncmp(symbol + digits, name, bytes) != 0)
        return NULL;
    return symbol + digits + bytes;
}

/* Itanium C++ ABI, 5.1.4: _Z N [qualifiers] <prefix>… <name> E <parameters>; "std" is St. */
int pythia__declared_is(const char *class_name, const char *function, const char *symbol)
{
    if (*class_name == '\0')
        return strcmp(symbol, function) == 0;
    if (strncmp(symbol, "_ZN", 3) != 0)
        return 0;
    symbol += 3;
    while (*symbol == 'K' || *symbol == 'V' || *symbol == 'R' || *symbol == 'O')
        symbol++;
    for (const char *part = class_name; *part;) {
        const char *end = strstr(part, "::");
        size_t bytes = end ? (size_t)(end - part) : strlen(part);
        if (bytes == 3 && part == class_name && strncmp(part, "std", 3) == 0 &&
            strncmp(symbol, "St", 2) == 0)
            symbol += 2;
        else if (!(symbol = after_name(symbol, part, bytes)))
            return 0;
        part += bytes + (end ? 2 : 0);
    }
    symbol = after_name(symbol, function, strlen(function));
    return symbol && *symbol == 'E';
}

/* A function that returns twice, on another stack or not at all cannot be hooked by changing its
 * return address; a function that inspects its caller would see the hook. */
const char *pythia__unhookable(const char *function)
{
    static const struct {
        const char *name, *why;
    } rows[] = {
        {"setjmp", "it returns twice"},
        {"_setjmp", "it returns twice"},
        {"__setjmp", "it returns twice"},
        {"sigsetjmp", "it returns twice"},
        {"__sigsetjmp", "it returns twice"},
        {"getcontext", "it returns twice"},
        {"vfork", "it returns twice, on one stack"},
        {"__vfork", "it returns twice, on one stack"},
        {"longjmp", "it does not return"},
        {"_longjmp", "it does not return"},
        {"siglongjmp", "it does not return"},
        {"__longjmp_chk", "it does not return"},
        {"setcontext", "it does not return"},
        {"swapcontext", "it returns on another stack"},
        {"makecontext", "what it makes does not return"},
        {"clone", "it returns on another stack"},
        {"__clone", "it returns on another stack"},
        {"dlopen", "it looks at who calls it"},
        {"dlmopen", "it looks at who calls it"},
        {"dlsym", "it looks at who calls it"},
        {"dlvsym", "it looks at who calls it"},
        {"__tls_get_addr", "compilers call it by rules of its own"},
        {"mcount", "compilers call it by rules of its own"},
        {"_mcount", "compilers call it by rules of its own"},
        {"__fentry__", "compilers call it by rules of its own"},
        {"__cxa_throw", "it unwinds the stack"},
        {"__cxa_rethrow", "it unwinds the stack"},
        {"__cyg_profile_func_enter", "it is what hooks others"},
        {"__cyg_profile_func_exit", "it is what hooks others"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(function, rows[i].name) == 0)
            return rows[i].why;
    if (strncmp(function, "_Unwind_", 8) == 0)
        return "it unwinds the stack";
    if (strncmp(function, "pythia_", 7) == 0)
        return "it is of this library";
    return NULL;
}

int pythia__module_is(const char *module, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t bytes = strlen(module);
    if (bytes == 0 || fnmatch(module, name, 0) == 0 || fnmatch(module, path, 0) == 0)
        return 1;
    /* "libz.so" is "libz.so.1.2.13" too, and "libz" both. */
    return strncmp(name, module, bytes) == 0 &&
           (strncmp(name + bytes, ".so", 3) == 0 ||
            (bytes > 3 && strcmp(module + bytes - 3, ".so") == 0 && name[bytes] == '.'));
}
