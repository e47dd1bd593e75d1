/* The time series that margo's monitoring writes beside its statistics
 * (<prefix>.<host>.<pid>.series.json), from margo-default-monitoring.c of mochi-margo 0.11 to 0.22:
 *
 *     {"address": A, "rpcs": {"yokan_put:1": {"timestamps": [S...], "count": [N...],
 *                                             "bulk_size": [BYTES...]}},
 *                    "pools": {"__primary__": {"timestamps": [S...], "size": [N...],
 *                                              "total_size": [N...]}}}
 *
 * Seconds are those of the Unix epoch. Each list beside the timestamps is a series, such as "rpc
 * yokan_put:1 count" and "pool __primary__ size". */
#include "series_margo.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/status.h"

#define SUFFIX     ".series.json"
#define LABEL_MAX  4096 /* bytes */
#define TIME_MAX_S 9e9  /* in ns just below 2^63 */
#define SECOND_NS  1e9

struct margo_series {
    struct pythia_series_csv *csv;
    const char *name;
    uint32_t process;
};

bool pythia__series_is_margo(struct pythia_text content)
{
    struct pythia_text text = pythia_text_trim(content);
    return text.size > 0 && text.bytes[0] == '{';
}

/* Jansson knows no lines of values, and margo writes all on one. */
static void report_margo(const struct margo_series *m, uint64_t line, uint64_t values,
                         const char *what, const char *sentence)
{
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EFORMAT, "%s%s%s", what, *what ? ": " : "", sentence);
    pythia_error_place(&why, m->name, line, 0);
    m->csv->counts.broken += values;
    m->csv->broken(m->csv->context, &why);
}

/* The process of "<prefix>.<host>.<pid>.series.json", 0 for other names. */
static uint32_t find_margo_process(const char *name)
{
    struct pythia_text text = pythia_text_of(name);
    uint64_t process = 0;
    if (!pythia_text_ends(text, pythia_text_of(SUFFIX)))
        return 0;
    text.size -= strlen(SUFFIX);
    size_t from = text.size;
    while (from > 0 && text.bytes[from - 1] != '.' && text.bytes[from - 1] != '/')
        from--;
    struct pythia_text number = {text.bytes + from, text.size - from};
    return pythia_text_unsigned(number, UINT32_MAX, &process) ? (uint32_t)process : 0;
}

static bool read_margo_point(const json_t *time, const json_t *value, uint64_t *time_ns,
                             double *number)
{
    double seconds = json_number_value(time);
    *number = json_number_value(value);
    if (!json_is_number(time) || !json_is_number(value) || !(seconds >= 0) ||
        seconds > TIME_MAX_S || !isfinite(*number))
        return false;
    *time_ns = (uint64_t)llround(seconds * SECOND_NS);
    return true;
}

/* A point that is no pair of numbers is broken, and so is each of the longer of two lists. */
static int add_margo_series(const struct margo_series *m, const json_t *times, const json_t *values,
                            struct pythia_text label)
{
    size_t count = json_array_size(times), all = json_array_size(values);
    if (label.size > LABEL_MAX) {
        report_margo(m, 1, 1, "", "a name has more than 4096 bytes");
        return PYTHIA_OK;
    }
    for (size_t i = 0; i < count || i < all; i++) {
        uint64_t time_ns;
        double value;
        if (!read_margo_point(json_array_get(times, i), json_array_get(values, i), &time_ns,
                              &value)) {
            report_margo(m, 1, 1, label.bytes, "a value or its timestamp is no number");
            continue;
        }
        if (pythia_series_set_add(m->csv->to, label, m->process, time_ns, value) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        m->csv->counts.rows++;
    }
    return PYTHIA_OK;
}

/* All lists of an RPC or a pool but the timestamps. */
static int add_margo_lists(const struct margo_series *m, const char *kind, const char *name,
                           json_t *lists, struct pythia_buf *label)
{
    const json_t *times = json_object_get(lists, "timestamps");
    const char *key;
    json_t *values;
    if (!json_is_array(times)) {
        report_margo(m, 1, 1, name, "has no timestamps");
        return PYTHIA_OK;
    }
    json_object_foreach (lists, key, values) {
        if (values == times || !json_is_array(values))
            continue;
        pythia_buf_clear(label);
        pythia_buf_printf(label, "%s %s %s", kind, name, key);
        int status = pythia_buf_status(label);
        if (status != PYTHIA_OK ||
            (status = add_margo_series(m, times, values, pythia_buf_text(label))) != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int add_margo_kind(const struct margo_series *m, const char *kind, json_t *all)
{
    struct pythia_buf label = {0};
    const char *name;
    json_t *lists;
    int status = PYTHIA_OK;
    json_object_foreach (all, name, lists)
        if ((status = add_margo_lists(m, kind, name, lists, &label)) != PYTHIA_OK)
            break;
    pythia_buf_free(&label);
    return status;
}

/* Margo gives all RPCs that it has no name for one key, "<unknown>", of which jansson keeps the last.
 */
static json_t *load_margo(const struct margo_series *m, struct pythia_text content,
                          json_error_t *why)
{
    json_t *document = json_loadb(content.bytes, content.size, JSON_REJECT_DUPLICATES, why);
    if (document || json_error_code(why) != json_error_duplicate_key)
        return document;
    report_margo(m, why->line > 0 ? (uint64_t)why->line : 1, 1, "",
                 "several RPCs or pools have one name, and only the last of them is read");
    return json_loadb(content.bytes, content.size, 0, why);
}

int pythia__series_margo_read(struct pythia_series_csv *csv, const char *name,
                              struct pythia_text content)
{
    const struct margo_series m = {csv, name, find_margo_process(name)};
    json_error_t why;
    json_t *document = load_margo(&m, content, &why);
    json_t *rpcs = json_object_get(document, "rpcs"), *pools = json_object_get(document, "pools");
    int status = PYTHIA_EFORMAT;
    if (!document)
        report_margo(&m, why.line > 0 ? (uint64_t)why.line : 1, 0, "is not JSON", why.text);
    else if (!json_is_object(rpcs) && !json_is_object(pools))
        report_margo(&m, 1, 0, "", "is no time series of margo: it has neither rpcs nor pools");
    else if ((status = add_margo_kind(&m, "rpc", rpcs)) == PYTHIA_OK)
        status = add_margo_kind(&m, "pool", pools);
    json_decref(document);
    return status;
}
