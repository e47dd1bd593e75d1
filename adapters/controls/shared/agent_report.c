/* An agent's report:
 *
 *     {"service": "shop", "instance": "host:4711:5f3c",       who it is
 *      "applied": "9c1185a5c5e9fc54",                         the list that it has in force
 *      "points": [{"id": "shop:http:GET", "price_ns": 3100.5, "hits": 17, "open_by_default":
 * true}], "refused": ["shop:x"]}                                 points that it cannot switch
 *
 * Only the first two must be there; other members are passed over. Points are those that are new or
 * have changed, hits those since the last report. One point that is no good is refused by itself:
 * the others of a report count. */
#include <inttypes.h>
#include <math.h>

#include <jansson.h>

#include "agent_state.h"
#include "pythia/status.h"

#define PRICE_MAX 1e12 /* ns: a thousand seconds */
#define HITS_MAX  UINT64_C(0x7fffffffffffffff)

static struct pythia_text read_json_text(const json_t *value)
{
    if (!json_is_string(value))
        return (struct pythia_text){"", 0};
    return (struct pythia_text){json_string_value(value), json_string_length(value)};
}

static int refuse_report(struct pythia__agents *a, struct pythia_error *e, const char *why,
                         const char *what)
{
    a->numbers.refused_reports++;
    return pythia_error_set(e, PYTHIA_EFORMAT, "the report %s%s", why, what);
}

static int fail_report_memory(struct pythia_error *e)
{
    return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
}

static int parse_report(struct pythia__agents *a, const char *bytes, size_t size, json_t **out,
                        struct pythia_error *e)
{
    json_error_t why = {.text = ""};
    json_t *report = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &why);
    if (!report && json_error_code(&why) != json_error_out_of_memory && why.text[0] &&
        why.line >= 0) {
        pythia_error_place(e, "report", (uint64_t)why.line, (uint64_t)why.position);
        return refuse_report(a, e, "is not JSON: ", why.text);
    }
    if (!report)
        return fail_report_memory(e);
    if (!json_is_object(report)) {
        json_decref(report);
        return refuse_report(a, e, "is not an object", "");
    }
    *out = report;
    return PYTHIA_OK;
}

/* May this service have a point of that id? */
static bool id_is_sound(const struct pythia__agents *a, const struct pythia__agent_service *service,
                        struct pythia_text id)
{
    if (!pythia__agents_name(id, PYTHIA__ID_BYTES))
        return false;
    struct pythia_text name = service->name;
    return !a->options.own_ids ||
           (id.size > name.size + 1 && pythia_text_starts(id, name) && id.bytes[name.size] == ':');
}

/* A member that is not there is `none`; one of another kind, or out of range, is no good. */
static bool read_report_number(const json_t *value, double most, double none, double *out)
{
    *out = none;
    if (!value || json_is_null(value))
        return true;
    if (!json_is_number(value))
        return false;
    *out = json_number_value(value);
    return *out >= 0 && *out <= most;
}

/* 1: taken; 0: refused; negative: no memory. */
static int take_reported_point(struct pythia__agents *a, struct pythia__agent_service *service,
                               const json_t *point)
{
    struct pythia_text id = read_json_text(json_object_get(point, "id"));
    double price_ns, hits;
    const json_t *by_default = json_object_get(point, "open_by_default");
    if (!id_is_sound(a, service, id) ||
        !read_report_number(json_object_get(point, "price_ns"), PRICE_MAX, NAN, &price_ns) ||
        !read_report_number(json_object_get(point, "hits"), 1e15, 0, &hits) ||
        (by_default && !json_is_boolean(by_default)))
        return 0;
    struct pythia__agent_point *known;
    int status = pythia__agents_point(a, service, id, true, &known);
    if (status != PYTHIA_OK)
        return status == PYTHIA_ELIMIT ? 0 : status;
    if (!isnan(price_ns))
        known->price_ns = price_ns;
    uint64_t more = (uint64_t)hits;
    known->hits = known->hits > HITS_MAX - more ? HITS_MAX : known->hits + more;
    if (by_default && json_is_true(by_default) != known->open_by_default) {
        known->open_by_default = json_is_true(by_default);
        service->changes++;
    }
    return 1;
}

static int take_reported_points(struct pythia__agents *a, struct pythia__agent_service *service,
                                const json_t *points, size_t *taken, size_t *refused)
{
    for (size_t i = 0; i < json_array_size(points); i++) {
        int status = take_reported_point(a, service, json_array_get(points, i));
        if (status < 0)
            return status;
        *(status ? taken : refused) += 1;
    }
    a->numbers.refused_points += *refused;
    return PYTHIA_OK;
}

/* Points that the agent cannot switch count as refused until something else is wished for. */
static void take_refusals(struct pythia__agents *a, struct pythia__agent_service *service,
                          const json_t *ids)
{
    struct pythia__agent_point *point;
    for (size_t i = 0; i < json_array_size(ids); i++)
        if (pythia__agents_point(a, service, read_json_text(json_array_get(ids, i)), false,
                                 &point) == PYTHIA_OK)
            point->refused = a->set;
}

/* All of a report is checked before any of it is taken; a point that is not sound is refused by
 * itself, so that one bad name does not cost the others. */
static int take_agent_report(struct pythia__agents *a, const json_t *report, uint64_t now_ns,
                             size_t *taken, size_t *refused, struct pythia_error *e)
{
    struct pythia_text service = read_json_text(json_object_get(report, "service"));
    struct pythia_text instance = read_json_text(json_object_get(report, "instance"));
    const json_t *points = json_object_get(report, "points");
    const json_t *ids = json_object_get(report, "refused");
    if (!pythia__agents_name(service, PYTHIA__SERVICE_BYTES))
        return refuse_report(
            a, e, "has no service: expected text of 1 to 256 bytes without control characters", "");
    if (!pythia__agents_name(instance, PYTHIA__INSTANCE_BYTES))
        return refuse_report(
            a, e, "has no instance: expected text of 1 to 128 bytes without control characters",
            "");
    if ((points && !json_is_array(points)) || (ids && !json_is_array(ids)))
        return refuse_report(a, e, "has points or refused that are not arrays", "");
    struct pythia__agent *agent;
    int status = pythia__agents_agent(a, service, instance, true, &agent);
    if (status == PYTHIA_ELIMIT) {
        a->numbers.refused_reports++;
        return pythia_error_set(e, status, "there are %zu agents already, the most that are taken",
                                a->options.agents_max);
    }
    if (status != PYTHIA_OK)
        return fail_report_memory(e);
    pythia__agents_seen(a, service, instance, read_json_text(json_object_get(report, "applied")),
                        now_ns);
    status = take_reported_points(a, agent->service, points, taken, refused);
    take_refusals(a, agent->service, ids);
    a->numbers.reports++;
    if (status != PYTHIA_OK)
        return fail_report_memory(e);
    return PYTHIA_OK;
}

int pythia__agents_report(struct pythia__agents *a, const char *bytes, size_t size, uint64_t now_ns,
                          size_t *taken, size_t *refused, struct pythia_error *e)
{
    json_t *report = NULL;
    *taken = *refused = 0;
    int status = parse_report(a, bytes, size, &report, e);
    if (status != PYTHIA_OK)
        return status;
    status = take_agent_report(a, report, now_ns, taken, refused, e);
    json_decref(report);
    return status;
}
