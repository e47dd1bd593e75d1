#include "mcp_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX         40 /* trace points that a call may name */
#define ID_MAX_BYTES    512
#define DECISIONS_MAX   200
#define DECISIONS_USUAL "20"

enum arguments { TAKES_NONE, TAKES_COUNT, TAKES_IDS };

static const struct tool {
    const char *name, *path, *description;
    enum arguments takes;
    bool changes;
} tools[] = {
    {"verdicts", "/v1/verdicts",
     "The current verdict for each request type: where its latency variance arises, which "
     "key-value explains it, with what confidence, since when, and what would refute it.",
     TAKES_NONE, false},
    {"report", "/v1/report?format=markdown",
     "The report of the last cycle: groups of requests, the share of the variance of each segment "
     "of their critical paths, keys that explain it, and trace points to open next.",
     TAKES_NONE, false},
    {"groups", "/v1/groups", "The groups of requests of the last cycle, with their numbers.",
     TAKES_NONE, false},
    {"points", "/v1/points",
     "Each trace point that can be switched: open or closed, pinned, hits, price, and the last "
     "decision about it.",
     TAKES_NONE, false},
    {"decisions", "/v1/decisions", "The latest decisions: what was opened and closed, and why.",
     TAKES_COUNT, false},
    {"status", "/v1/status", "The state of pythiad: its activity, requests, cycles, limits.",
     TAKES_NONE, false},
    {"plan", "/v1/plan",
     "What it would cost to open trace points, in ns and percent of a request. Changes nothing.",
     TAKES_IDS, false},
    {"open", "/v1/open", "Open trace points by hand, until they are unpinned.", TAKES_IDS, true},
    {"close", "/v1/close", "Close trace points by hand, until they are unpinned.", TAKES_IDS, true},
    {"unpin", "/v1/unpin", "Return trace points to the search.", TAKES_IDS, true},
};
#define TOOLS (sizeof(tools) / sizeof(tools[0]))

/* The JSON Schema of the arguments. */
static json_t *schema_of(enum arguments takes)
{
    if (takes == TAKES_IDS)
        return json_pack("{s:s, s:{s:{s:s, s:{s:s, s:i}, s:i, s:i}}, s:[s], s:b}", "type", "object",
                         "properties", "trace_points", "type", "array", "items", "type", "string",
                         "maxLength", ID_MAX_BYTES, "minItems", 1, "maxItems", IDS_MAX, "required",
                         "trace_points", "additionalProperties", 0);
    if (takes == TAKES_COUNT)
        return json_pack("{s:s, s:{s:{s:s, s:i, s:i}}, s:b}", "type", "object", "properties",
                         "count", "type", "integer", "minimum", 1, "maximum", DECISIONS_MAX,
                         "additionalProperties", 0);
    return json_pack("{s:s, s:{}, s:b}", "type", "object", "properties", "additionalProperties", 0);
}

json_t *pythia__mcp_tools_list(bool changes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < TOOLS; i++) {
        const struct tool *t = &tools[i];
        if (t->changes && !changes)
            continue;
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:{s:b, s:b}}", "name", t->name,
                                              "description", t->description, "inputSchema",
                                              schema_of(t->takes), "annotations", "readOnlyHint",
                                              !t->changes, "openWorldHint", 0));
    }
    return json_pack("{s:o}", "tools", list);
}

/* Ids of trace points go into a JSON body: any text is safe there, and an endless one is not meant
 * seriously. NULL: that is no list of them. */
static char *body_of_ids(const json_t *arguments)
{
    const json_t *ids = json_object_get(arguments, "trace_points"), *id;
    size_t i, count = json_array_size(ids);
    if (count < 1 || count > IDS_MAX)
        return NULL;
    json_array_foreach (ids, i, id) {
        if (!json_is_string(id) || json_string_length(id) > ID_MAX_BYTES)
            return NULL;
    }
    json_t *body = json_pack("{s:O}", "trace_points", ids);
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    return text;
}

/* The path with the argument `count`. False: that is no number in range. */
static bool path_of_count(const struct tool *t, const json_t *arguments, char *path, size_t size)
{
    const json_t *count = json_object_get(arguments, "count");
    if (!count) {
        snprintf(path, size, "%s?count=" DECISIONS_USUAL, t->path);
        return true;
    }
    json_int_t number = json_integer_value(count);
    snprintf(path, size, "%s?count=%d", t->path, (int)(number & 0xffff));
    return json_is_integer(count) && number >= 1 && number <= DECISIONS_MAX;
}

const char *pythia__mcp_tools_route(const json_t *parameters, bool changes,
                                    struct pythia_mcp_call *out)
{
    const char *name = json_string_value(json_object_get(parameters, "name"));
    const json_t *arguments = json_object_get(parameters, "arguments");
    const struct tool *t = NULL;
    for (size_t i = 0; name && i < TOOLS; i++)
        if (strcmp(tools[i].name, name) == 0 && (changes || !tools[i].changes))
            t = &tools[i];
    if (!t)
        return "there is no such tool";
    if (arguments && !json_is_object(arguments))
        return "\"arguments\" must be an object";
    snprintf(out->path, sizeof(out->path), "%s", t->path);
    if (t->takes == TAKES_COUNT && !path_of_count(t, arguments, out->path, sizeof(out->path)))
        return "\"count\" must be a number from 1 to 200";
    if (t->takes == TAKES_IDS && !(out->body = body_of_ids(arguments)))
        return "\"trace_points\" must be a list of 1 to 40 ids";
    return NULL;
}
