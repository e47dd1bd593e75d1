#include <math.h>

#include <jansson.h>

#include "profile_forms.h"
#include "pythia/status.h"
#include "write/json_writer.h"

static void set_times(struct pythia__json *w, json_t *to, const struct pythia_profile_times *t)
{
    pythia__json_set(w, to, "count", pythia__json_count(t->moments.weight));
    pythia__json_set(w, to, "total_ns", pythia__json_count(pythia_profile_sum_ns(t)));
    pythia__json_set(w, to, "mean_ns", pythia__json_real(pythia_exact_moments_mean(&t->moments)));
    pythia__json_set(w, to, "sd_ns", pythia__json_real(sqrt(pythia_profile_variance(t))));
    pythia__json_set(w, to, "min_ns", pythia__json_real(pythia_profile_min(t)));
    pythia__json_set(w, to, "p50_ns", pythia__json_real(pythia_profile_quantile(t, .5)));
    pythia__json_set(w, to, "p99_ns", pythia__json_real(pythia_profile_quantile(t, .99)));
    pythia__json_set(w, to, "max_ns", pythia__json_real(pythia_profile_max(t)));
}

static json_t *make_known_text(const struct pythia_vocabulary *v, uint32_t string)
{
    return string ? pythia__json_text(pythia_vocabulary_text(v, string)) : json_null();
}

/* null: not traced. */
static json_t *make_process(struct pythia__json *w, const struct pythia__profile_shown *s,
                            uint32_t process)
{
    if (process == PYTHIA_NONE)
        return json_null();
    const struct pythia_profile_process *x = pythia_profile_process(s->profile, process);
    json_t *object = json_object();
    pythia__json_set(w, object, "service", make_known_text(w->vocabulary, x->service));
    pythia__json_set(w, object, "host", make_known_text(w->vocabulary, x->host));
    pythia__json_set(w, object, "instance", make_known_text(w->vocabulary, x->instance));
    return object;
}

static void set_instances(struct pythia__json *w, const struct pythia__profile_shown *s,
                          uint32_t row, json_t *to)
{
    size_t count;
    const uint32_t *parts = pythia__profile_parts_of(s, row, &count);
    struct pythia__profile_imbalance most = pythia__profile_imbalance_of(s, parts, count);
    json_t *instances = json_array(), *imbalance = json_object();
    for (size_t i = 0; i < count; i++) {
        const struct pythia_profile_part *part = &s->parts[parts[i]];
        json_t *object = make_process(w, s, part->process);
        set_times(w, object, &part->times);
        pythia__json_append(w, instances, object);
    }
    pythia__json_set(w, imbalance, "process", make_process(w, s, most.process));
    pythia__json_set(w, imbalance, "calls", pythia__json_real(most.calls));
    pythia__json_set(w, imbalance, "time", pythia__json_real(most.time));
    pythia__json_set(w, to, "imbalance", imbalance);
    pythia__json_set(w, to, "instances", instances);
}

static json_t *make_slots(struct pythia__json *w, const struct pythia__profile_shown *s,
                          const uint64_t *values)
{
    json_t *slots = json_array();
    for (size_t i = 0; values && i < s->totals.slots; i++)
        pythia__json_append(w, slots,
                            pythia__json_count(pythia_profile_slot(s->profile, values, i)));
    return slots;
}

/* The trace points from the root on; by name the one there is. */
static json_t *make_row_name(struct pythia__json *w, const struct pythia__profile_shown *s,
                             const struct pythia_profile_row *row)
{
    json_t *points = json_array();
    const struct pythia_cct *cct = pythia_profile_cct(s->profile);
    if (row->tracepoint == PYTHIA_NONE)
        return points;
    if (row->node == PYTHIA_NONE) {
        pythia__json_append(w, points, pythia__json_point(w, row->tracepoint));
        return points;
    }
    for (uint32_t level = 1; level <= pythia_cct_depth(cct, row->node); level++)
        pythia__json_append(
            w, points,
            pythia__json_point(
                w, pythia_cct_tracepoint(cct, pythia_cct_ancestor(cct, row->node, level))));
    return points;
}

static json_t *make_row(struct pythia__json *w, const struct pythia__profile_shown *s, uint32_t at)
{
    static const char *const sides[] = {[PYTHIA_PROFILE_LOCAL] = "local",
                                        [PYTHIA_PROFILE_ORIGIN] = "origin",
                                        [PYTHIA_PROFILE_TARGET] = "target"};
    const struct pythia_profile_row *row = &s->rows[at];
    json_t *object = json_object();
    double all = (double)s->totals.request_ns;
    pythia__json_set(w, object, "callpath", make_row_name(w, s, row));
    if (row->level > 0)
        pythia__json_set(w, object, "level", pythia__json_count(row->level));
    pythia__json_set(w, object, "side", json_string(sides[row->side]));
    pythia__json_set(w, object, "peer", make_known_text(w->vocabulary, row->peer));
    pythia__json_set(w, object, "more_peers", json_boolean(row->peers));
    set_times(w, object, &row->times);
    pythia__json_set(w, object, "exclusive_ns", pythia__json_count(row->exclusive_ns));
    pythia__json_set(w, object, "share",
                     pythia__json_real((double)pythia_profile_sum_ns(&row->times) / all));
    if (s->view->instances)
        set_instances(w, s, at, object);
    if (s->view->slots) {
        pythia__json_set(w, object, "slot_counts", make_slots(w, s, row->counts));
        pythia__json_set(w, object, "slot_ns", make_slots(w, s, row->ns));
    }
    return object;
}

static json_t *make_pair(struct pythia__json *w, const struct pythia__profile_shown *s,
                         const struct pythia_profile_pair *pair)
{
    json_t *object = json_object();
    pythia__json_set(w, object, "callpath", make_row_name(w, s, &s->rows[pair->row]));
    pythia__json_set(w, object, "origin", make_process(w, s, pair->origin));
    pythia__json_set(w, object, "target", make_process(w, s, pair->target));
    pythia__json_set(w, object, "count", pythia__json_count(pair->calls));
    pythia__json_set(w, object, "origin_ns",
                     pair->origin == PYTHIA_NONE ? json_null()
                                                 : pythia__json_count(pair->origin_ns));
    pythia__json_set(w, object, "target_ns",
                     pair->target == PYTHIA_NONE ? json_null()
                                                 : pythia__json_count(pair->target_ns));
    return object;
}

static json_t *make_profile_json(struct pythia__json *w, const struct pythia__profile_shown *s)
{
    const struct pythia_profile_totals *t = &s->totals;
    json_t *report = json_object(), *rows = json_array(), *pairs = json_array();
    pythia__json_set(w, report, "schema", json_string("pythia.profile/1"));
    pythia__json_set(w, report, "requests", pythia__json_count(t->requests));
    pythia__json_set(w, report, "requests_seen", pythia__json_count(t->seen));
    pythia__json_set(w, report, "request_ns", pythia__json_count(t->request_ns));
    pythia__json_set(w, report, "spans", pythia__json_count(t->spans));
    pythia__json_set(w, report, "calls", pythia__json_count(t->calls));
    pythia__json_set(w, report, "calls_without_target", pythia__json_count(t->no_target));
    pythia__json_set(w, report, "calls_without_origin", pythia__json_count(t->no_origin));
    pythia__json_set(w, report, "row_count", pythia__json_count(s->row_count));
    if (s->view->slots) {
        pythia__json_set(w, report, "slot_width_ns", pythia__json_count(t->slot_ns));
        pythia__json_set(w, report, "first_slot_ns", pythia__json_count(t->first_slot_ns));
    }
    for (size_t i = 0; i < s->count; i++)
        pythia__json_append(w, rows, make_row(w, s, s->order[i]));
    pythia__json_set(w, report, "rows", rows);
    for (size_t i = 0; s->view->pairs && i < s->pair_count; i++)
        pythia__json_append(w, pairs, make_pair(w, s, &s->pairs[s->pair_order[i]]));
    if (s->view->pairs)
        pythia__json_set(w, report, "pairs", pairs);
    else
        json_decref(pairs);
    return report;
}

int pythia__profile_json(const struct pythia__profile_shown *s, struct pythia_buf *out)
{
    struct pythia__json w = {.vocabulary = pythia_profile_vocabulary(s->profile)};
    json_t *report = make_profile_json(&w, s);
    int status = w.failed ? PYTHIA_ENOMEM : pythia__json_write(report, 1, 12, out);
    json_decref(report);
    pythia__json_close(&w);
    return status;
}
