#include "report_sentence.h"

#include <string.h>

#include "sentences.h"

static bool is_few(const json_t *edge)
{
    return json_is_object(json_object_get(edge, "rests_on"));
}

/* An edge that rests on a handful of requests is only better than another such edge. */
static bool is_better(const json_t *edge, const json_t *best)
{
    if (!best || is_few(edge) != is_few(best))
        return !best || is_few(best);
    return pythia__number(edge, "share") > pythia__number(best, "share");
}

const json_t *pythia__largest_edge(const json_t *group)
{
    const json_t *edges = pythia__array(group, "edges"), *best = NULL;
    for (size_t i = 0; i < json_array_size(edges); i++) {
        const json_t *edge = json_array_get(edges, i);
        if (is_better(edge, best))
            best = edge;
    }
    return best;
}

const char *pythia__key_name(const json_t *explanation, const char **before)
{
    static const struct {
        const char *prefix, *words;
    } kinds[] = {{"count:", "how often requests hit"}, {"has:", "whether requests hit"}};
    const char *key = pythia__string(explanation, "key");
    *before = "";
    if (!json_is_true(json_object_get(explanation, "structural")))
        return key;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t size = strlen(kinds[i].prefix);
        if (strncmp(key, kinds[i].prefix, size) == 0) {
            *before = kinds[i].words;
            return key + size;
        }
    }
    return key;
}

static void add_name(struct pythia__names *names, const char *name)
{
    if (name && name[strspn(name, " ")] && names->count < PYTHIA__SENTENCE_NAMES)
        names->names[names->count++] = name;
}

/* Those that tell a group from others of its type; a sentence says three of each kind at most. */
static void add_names(struct pythia__names *names, const json_t *of, const char *kind)
{
    const json_t *list = pythia__array(json_object_get(of, "unlike"), kind);
    for (size_t i = 0; i < json_array_size(list) && i < 3; i++)
        add_name(names, json_string_value(json_array_get(list, i)));
}

/* The ends of the places that a verdict names. */
static void add_places(struct pythia__names *names, const json_t *verdict, const char *member)
{
    const json_t *list = pythia__array(verdict, member);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *edge = json_object_get(json_array_get(list, i), "edge");
        add_name(names, pythia__string(json_object_get(edge, "from"), "trace_point"));
        add_name(names, pythia__string(json_object_get(edge, "to"), "trace_point"));
    }
}

static void add_verdict(struct pythia__names *names, const json_t *verdict)
{
    add_places(names, verdict, "found");
    add_places(names, verdict, "also_seen");
    add_name(names, pythia__string(json_object_get(verdict, "explanation"), "key"));
}

void pythia__names_of(struct pythia__names *names, const json_t *of)
{
    const json_t *edge = pythia__largest_edge(of), *inclusive = pythia__array(of, "inclusive");
    const json_t *key = json_array_get(pythia__array(of, "explanations"), 0);
    const json_t *own = json_object_get(json_object_get(of, "own_time"), "edge");
    size_t depth = json_array_size(inclusive);
    const char *before;
    *names = (struct pythia__names){0};
    if (!edge)
        edge = of; /* a suggestion has the ends of its edge itself */
    add_name(names, pythia__string(json_object_get(edge, "from"), "trace_point"));
    add_name(names, pythia__string(json_object_get(edge, "to"), "trace_point"));
    if (own)
        add_name(names, pythia__string(json_object_get(own, "from"), "trace_point"));
    if (depth > 0)
        add_name(names, json_string_value(json_array_get(inclusive, depth - 1)));
    add_name(names, pythia__string(key, "key"));
    add_name(names, pythia__key_name(key, &before));
    add_names(names, of, "passes");
    add_names(names, of, "lacks");
    add_verdict(names, of);
    add_verdict(names, json_object_get(of, "finding"));
}

/* A name stands between what cannot be a part of it, or a shorter one would be found in a longer.
 */
static bool is_boundary(char c)
{
    return c == '\0' || strchr(" .,;()", c) != NULL;
}

/* Names have colons in them; one before a blank ends the name. */
static bool is_end(const char *after)
{
    return is_boundary(*after) || (after[0] == ':' && after[1] == ' ');
}

/* The size of the longest name that stands at `at`, or 0. */
static size_t name_at(const struct pythia__names *names, const char *begin, const char *at)
{
    size_t best = 0;
    if (at > begin && !is_boundary(at[-1]))
        return 0;
    for (size_t i = 0; i < names->count; i++) {
        size_t size = strlen(names->names[i]);
        if (size > best && strncmp(at, names->names[i], size) == 0 && is_end(at + size))
            best = size;
    }
    return best;
}

size_t pythia__sentence_piece(const struct pythia__names *names, const char *begin, const char *at,
                              bool *is_name)
{
    size_t size = name_at(names, begin, at);
    *is_name = size > 0;
    while (!*is_name && at[size] && !name_at(names, begin, at + size))
        size++;
    return size;
}
