/* In what groups of one request type differ: each is told apart from the largest of them by the
 * trace points on its path. */
#include <string.h>

#include "pythia/buf.h"
#include "pythia/status.h"
#include "pythia/text.h"
#include "sentences.h"

/* An object whose keys are the trace points on the group's path, identifiers in them replaced, no
 * deeper than its level tells structures apart; NULL when out of memory. */
static json_t *collect_passed_points(const json_t *group)
{
    json_t *out = json_object();
    const json_t *path = pythia__array(group, "path"), *event;
    double level = pythia__number(group, "level");
    size_t i;
    json_array_foreach (path, i, event) {
        struct pythia_text point = pythia_text_of(pythia__string(event, "trace_point"));
        struct pythia_buf room = {0};
        if (!(pythia__number(event, "depth") < level))
            continue;
        size_t capacity = point.size * 3 + 8;
        char *template = pythia_buf_reserve(&room, capacity);
        size_t size = template ? pythia_text_template(point, template, capacity) : 0;
        int failed = !template || json_object_setn_new(out, size ? template : point.bytes,
                                                       size ? size : point.size, json_true()) != 0;
        pythia_buf_free(&room);
        if (failed) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* The keys of `points` that `others` lacks; NULL when out of memory. */
static json_t *only_in(json_t *points, json_t *others)
{
    json_t *out = json_array(), *value;
    const char *name;
    json_object_foreach (points, name, value)
        if (!json_object_get(others, name) && json_array_append_new(out, json_string(name)) != 0) {
            json_decref(out);
            return NULL;
        }
    return out;
}

/* NULL when out of memory. */
static json_t *compare_with_largest(const json_t *group, const json_t *largest)
{
    json_t *own = collect_passed_points(group), *other = collect_passed_points(largest),
           *out = NULL;
    if (own && other) {
        json_t *more = only_in(own, other), *less = only_in(other, own);
        out = json_pack("{s:s, s:o, s:o}", "group", pythia__string(largest, "id"), "passes", more,
                        "lacks", less);
    }
    json_decref(own);
    json_decref(other);
    return out;
}

/* Of a group in a brief report there may be no more than what a line shows. */
static bool is_brief(const json_t *group)
{
    return !json_object_get(group, "path");
}

/* The largest group of each request type, by the type's name; NULL when out of memory. */
static json_t *largest_of_types(json_t *groups)
{
    json_t *largest = json_object(), *group;
    size_t i;
    json_array_foreach (groups, i, group) {
        if (is_brief(group))
            continue;
        const char *type = pythia__string(group, "request_type");
        const json_t *best = json_object_get(largest, type);
        if ((!best || pythia__number(group, "count") > pythia__number(best, "count")) &&
            json_object_set(largest, type, group) != 0) {
            json_decref(largest);
            return NULL;
        }
    }
    return largest;
}

int pythia__report_unlike(json_t *groups)
{
    json_t *all = largest_of_types(groups), *group;
    int status = all ? PYTHIA_OK : PYTHIA_ENOMEM;
    size_t i;
    json_array_foreach (groups, i, group) {
        if (is_brief(group))
            continue;
        const json_t *largest = json_object_get(all, pythia__string(group, "request_type"));
        json_t *out = largest == group ? json_null()
                      : largest        ? compare_with_largest(group, largest)
                                       : NULL;
        if (json_object_set_new(group, "unlike", out) != 0)
            status = PYTHIA_ENOMEM;
    }
    json_decref(all);
    return status;
}

/* "A, B and 3 more" */
static void add_names(struct pythia_buf *to, const json_t *names)
{
    size_t count = json_array_size(names), shown = count > 3 ? 2 : count;
    for (size_t i = 0; i < shown; i++)
        pythia_buf_printf(to, "%s%s",
                          i == 0           ? ""
                          : i + 1 == count ? " and "
                                           : ", ",
                          json_string_value(json_array_get(names, i)));
    if (count > shown)
        pythia_buf_printf(to, " and %zu more", count - shown);
}

void pythia__add_unlike(struct pythia_buf *to, const json_t *group)
{
    const json_t *unlike = json_object_get(group, "unlike"),
                 *more = pythia__array(unlike, "passes"), *less = pythia__array(unlike, "lacks");
    if (!json_is_object(unlike))
        return;
    pythia_buf_puts(to, "Unlike most of their type, they ");
    if (json_array_size(more)) {
        pythia_buf_puts(to, "pass ");
        add_names(to, more);
    }
    if (json_array_size(less)) {
        pythia_buf_puts(to, json_array_size(more) ? ", and not " : "do not pass ");
        add_names(to, less);
    }
    if (!json_array_size(more) && !json_array_size(less))
        pythia_buf_puts(to, "pass the same trace points in another order");
    pythia_buf_putc(to, '.');
}
