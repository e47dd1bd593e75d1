#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The memory that a benchmark points to. */
struct owned {
    char **arguments;
    struct pythia_run_pair *meta;
};

struct pythia__suite {
    json_t *document; /* names and meta are borrowed from it */
    struct pythia__benchmark *benchmarks;
    struct owned *owned; /* by benchmark */
    size_t count;
    int64_t repeat;
};

static int fail_suite(const char *path, size_t benchmark, const char *why)
{
    if (benchmark == SIZE_MAX)
        pythia_log(PYTHIA_LOG_ERROR, "%s: %s", path, why);
    else
        pythia_log(PYTHIA_LOG_ERROR, "%s: benchmark %zu: %s", path, benchmark + 1, why);
    return PYTHIA_EFORMAT;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        pythia_free(words[i]);
    pythia_free(words);
}

/* The words of a command as execv(3) takes them, owned by the caller. */
static int read_command(const json_t *list, char ***out)
{
    size_t count = json_array_size(list);
    char **arguments = pythia_calloc(count + 1, sizeof(*arguments));
    if (!arguments)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count; i++) {
        const json_t *word = json_array_get(list, i);
        if (!json_is_string(word))
            status = PYTHIA_EFORMAT;
        else if (!(arguments[i] =
                       pythia_strndup(json_string_value(word), json_string_length(word))))
            status = PYTHIA_ENOMEM;
        if (status != PYTHIA_OK) {
            free_words(arguments);
            return status;
        }
    }
    *out = arguments;
    return PYTHIA_OK;
}

/* Numbers are replaced by their texts in the document, which owns them then. */
static int read_benchmark_meta(json_t *meta, struct pythia__benchmark *b,
                               struct pythia_run_pair **out)
{
    const char *key;
    json_t *value;
    void *next;
    struct pythia_run_pair *pairs = pythia_calloc(json_object_size(meta) + 1, sizeof(*pairs));
    if (!pairs)
        return PYTHIA_ENOMEM;
    b->meta = *out = pairs;
    json_object_foreach_safe(meta, next, key, value)
    {
        char number[64];
        if (json_is_integer(value))
            snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else if (json_is_real(value))
            snprintf(number, sizeof(number), "%.17g", json_real_value(value));
        else if (!json_is_string(value))
            return PYTHIA_EFORMAT;
        if (!json_is_string(value) && json_object_set_new(meta, key, json_string(number)) != 0)
            return PYTHIA_ENOMEM;
        pairs[b->meta_count++] =
            (struct pythia_run_pair){key, json_string_value(json_object_get(meta, key))};
    }
    return PYTHIA_OK;
}

/* The benchmark is counted before it is checked, so that a failure frees what it has been given. */
static int read_benchmark(const char *path, struct pythia__suite *s, json_t *o, const char *suite)
{
    struct pythia__benchmark *b = &s->benchmarks[s->count];
    json_t *command = json_object_get(o, "command"), *meta = json_object_get(o, "meta");
    struct owned *owned = &s->owned[s->count];
    *b = (struct pythia__benchmark){.suite = suite,
                                    .name = json_string_value(json_object_get(o, "name"))};
    s->count++;
    if (!b->name || !*b->name)
        return fail_suite(path, s->count - 1, "has no \"name\"");
    for (size_t i = 0; i + 1 < s->count; i++)
        if (strcmp(s->benchmarks[i].name, b->name) == 0)
            return fail_suite(path, s->count - 1, "has the same name as an earlier one");
    if (json_array_size(command) == 0)
        return fail_suite(path, s->count - 1, "has no \"command\", a list of words");
    int status = read_command(command, &owned->arguments);
    if (status == PYTHIA_EFORMAT)
        return fail_suite(path, s->count - 1, "has a \"command\" with a word that is not text");
    if (status != PYTHIA_OK)
        return status;
    b->arguments = owned->arguments;
    if (meta && !json_is_object(meta))
        return fail_suite(path, s->count - 1, "has a \"meta\" that is not an object");
    status = read_benchmark_meta(meta, b, &owned->meta);
    if (status == PYTHIA_EFORMAT)
        return fail_suite(path, s->count - 1,
                          "has a \"meta\" value that is neither text nor a "
                          "number");
    return status;
}

/* The document is kept: benchmarks borrow their texts from it. */
static int read_suite_document(const char *path, struct pythia__suite *s)
{
    json_error_t why;
    s->document = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    json_t *list = json_object_get(s->document, "benchmarks"), *o;
    json_t *repeat = json_object_get(s->document, "repeat");
    const char *name = json_string_value(json_object_get(s->document, "suite"));
    size_t i;
    if (!s->document) {
        char text[256];
        if (why.line < 1)
            return fail_suite(path, SIZE_MAX, why.text);
        snprintf(text, sizeof(text), "line %d: %s", why.line, why.text);
        return fail_suite(path, SIZE_MAX, text);
    }
    if (!name || !*name)
        return fail_suite(path, SIZE_MAX, "the suite has no name (\"suite\")");
    if (json_array_size(list) == 0)
        return fail_suite(path, SIZE_MAX, "there is no list of \"benchmarks\"");
    if (repeat && (!json_is_integer(repeat) || json_integer_value(repeat) < 1 ||
                   json_integer_value(repeat) > 1000000))
        return fail_suite(path, SIZE_MAX, "\"repeat\" is not a number from 1 to 1000000");
    s->repeat = repeat ? json_integer_value(repeat) : 1;
    s->benchmarks = pythia_calloc(json_array_size(list), sizeof(*s->benchmarks));
    s->owned = pythia_calloc(json_array_size(list), sizeof(*s->owned));
    if (!s->benchmarks || !s->owned)
        return PYTHIA_ENOMEM;
    json_array_foreach (list, i, o) {
        int status = read_benchmark(path, s, o, name);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia__suite_read(const char *path, struct pythia__suite **out)
{
    struct pythia__suite *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    int status = read_suite_document(path, s);
    if (status != PYTHIA_OK) {
        pythia__suite_free(s);
        return status;
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia__suite_free(struct pythia__suite *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        free_words(s->owned[i].arguments);
        pythia_free(s->owned[i].meta);
    }
    pythia_free(s->benchmarks);
    pythia_free(s->owned);
    json_decref(s->document);
    pythia_free(s);
}

const struct pythia__benchmark *pythia__suite_benchmarks(const struct pythia__suite *s,
                                                         size_t *count, int64_t *repeat)
{
    *count = s->count;
    *repeat = s->repeat;
    return s->benchmarks;
}
