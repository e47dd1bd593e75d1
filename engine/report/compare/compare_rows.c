#include <string.h>

#include "compare_forms.h"
#include "sentences/sentences.h"

double pythia__number_in(const json_t *object, const char *key, const char *member)
{
    return pythia__number(json_object_get(object, key), member);
}

bool pythia__is_change_certain(const json_t *of, const char *key, double alpha)
{
    return pythia__number_in(of, key, "q") <= alpha; /* false for NaN */
}

static bool edge_changed(const json_t *edge, double alpha)
{
    return pythia__is_change_certain(edge, "clipped_ns", alpha) ||
           pythia__is_change_certain(edge, "clipped_variance_ns2", alpha);
}

static bool path_changed(const json_t *path, double alpha)
{
    return pythia__is_change_certain(path, "requests", alpha);
}

static bool point_changed(const json_t *point, double alpha)
{
    return pythia__is_change_certain(point, "requests", alpha) ||
           pythia__is_change_certain(point, "visits", alpha) ||
           pythia__is_change_certain(point, "failed", alpha);
}

static bool service_changed(const json_t *service, double alpha)
{
    (void)alpha;
    return pythia__number(service, "changed_edges") > 0;
}

static bool type_changed(const json_t *type, double alpha)
{
    (void)alpha;
    const char *status = pythia__string(type, "status");
    return strcmp(status, "same") != 0 && strcmp(status, "too_few") != 0;
}

static bool type_unchanged(const json_t *type, double alpha)
{
    return !type_changed(type, alpha);
}

struct pythia__compared_rows pythia__compared_rows(const json_t *of, enum pythia__compared what,
                                                   size_t top, double alpha)
{
    static const struct {
        const char *key, *noun;
        bool (*is_row)(const json_t *row, double alpha);
    } kinds[] = {
        [PYTHIA__COMPARED_SERVICES] = {"services", "service", service_changed},
        [PYTHIA__COMPARED_TYPES] = {"request_types", "changed type", type_changed},
        [PYTHIA__COMPARED_OTHER_TYPES] = {"request_types", "type", type_unchanged},
        [PYTHIA__COMPARED_EDGES] = {"edges", "edge", edge_changed},
        [PYTHIA__COMPARED_PATHS] = {"paths", "path", path_changed},
        [PYTHIA__COMPARED_POINTS] = {"trace_points", "trace point", point_changed},
    };
    return (struct pythia__compared_rows){.list = pythia__array(of, kinds[what].key),
                                          .noun = kinds[what].noun,
                                          .is_row = kinds[what].is_row,
                                          .top = top,
                                          .alpha = alpha};
}

const json_t *pythia__compared_next(struct pythia__compared_rows *rows)
{
    while (rows->at < json_array_size(rows->list)) {
        const json_t *row = json_array_get(rows->list, rows->at++);
        if (!rows->is_row(row, rows->alpha))
            continue;
        if (rows->shown < rows->top) {
            rows->shown++;
            return row;
        }
        rows->left++;
    }
    return NULL;
}

size_t pythia__compared_count(const json_t *of, enum pythia__compared what, double alpha)
{
    struct pythia__compared_rows rows = pythia__compared_rows(of, what, 0, alpha);
    (void)pythia__compared_next(&rows);
    return rows.left;
}

void pythia__compared_left(struct pythia_buf *to, const struct pythia__compared_rows *rows,
                           const char *before, const char *after)
{
    if (rows->left > 0)
        pythia_buf_printf(to, "%s %zu more %s%s%s", before, rows->left, rows->noun,
                          rows->left == 1 ? "" : "s", after);
}
