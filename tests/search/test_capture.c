/* Two captured OpenStack workloads, read as the programs read them. What is expected was computed
 * apart from the engine: the shares by a plain script in Python, from the formulas of rank.h over
 * the raw records, without any of this code; the rest is what the capture's makers wrote down
 * beside the traces (datasets/openstack/README.md). */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "pythia/diagnosis.h"
#include "pythia/mem.h"
#include "pythia/pipeline.h"
#include "pythia/rank.h"
#include "pythia/status.h"

#define REQUESTS 300

struct capture {
    struct pythia_vocabulary *vocabulary;
    struct pythia_request_types *types;
    struct pythia_groups *groups;
    struct pythia_diagnosis *diagnosis;
    struct pythia_pipeline_result result;
    size_t count; /* of requests, as they were read */
    struct {
        struct pythia_trace_id id;
        uint32_t type;     /* that we tell: number of a string */
        uint32_t recorded; /* what the client asked for: the same */
    } requests[REQUESTS];
};

static const char *const left_out[] = {PYTHIA_LEFT_OUT_DEFAULT};
static const struct pythia_groups_options grouping = {
    .fold = true, .types = {.left_out = left_out, .left_out_count = 1}};

/* ---- reading ---- */

static int begin(void *context)
{
    struct capture *c = context;
    pythia_groups_destroy(c->groups);
    c->groups = NULL;
    c->count = 0;
    return pythia_groups_create(c->vocabulary, &grouping, &c->groups);
}

static int take(void *context, const struct pythia_trace *trace)
{
    struct capture *c = context;
    assert_true(c->count < REQUESTS);
    c->requests[c->count].id = trace->id;
    c->requests[c->count++].type = pythia_request_type(c->types, trace);
    return pythia_groups_add(c->groups, trace);
}

static void problem(void *context, const struct pythia_error *why)
{
    char text[1024];
    fail_msg("%s", pythia_error_text(why, text, sizeof(text)));
}

/* "796da3ca-1f21-…" as a number. */
static struct pythia_trace_id id_of_text(const char *text)
{
    struct pythia_trace_id id = {0};
    for (size_t digits = 0; *text; text++) {
        const char *all = "0123456789abcdef", *digit = strchr(all, *text);
        if (!digit)
            continue;
        uint64_t *half = digits++ < 16 ? &id.high : &id.low;
        *half = *half << 4 | (uint64_t)(digit - all);
    }
    return id;
}

/* What the client wrote down: a request a line. */
static void read_truth(struct capture *c, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t known = 0;
    json_t *line;
    assert_non_null(file);
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *type = json_string_value(json_object_get(line, "type"));
        struct pythia_trace_id id = id_of_text(json_string_value(json_object_get(line, "base_id")));
        for (size_t i = 0; i < c->count; i++)
            if (c->requests[i].id.high == id.high && c->requests[i].id.low == id.low) {
                c->requests[i].recorded =
                    pythia_vocabulary_string(c->vocabulary, pythia_text_of(type));
                known++;
            }
        json_decref(line);
    }
    fclose(file);
    assert_int_equal(known, REQUESTS); /* each request was read, and none twice */
}

static struct capture *read_capture(const char *name)
{
    char path[512];
    const char *paths[] = {path};
    struct pythia_input *input = NULL;
    struct capture *c = calloc(1, sizeof(*c));
    size_t count;
    assert_non_null(c);
    snprintf(path, sizeof(path), "%s/openstack/%s.jsonl.zst", PYTHIA_DATASETS, name);
    assert_int_equal(pythia_vocabulary_create(&c->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_request_types_create(c->vocabulary, &grouping.types, &c->types),
                     PYTHIA_OK);
    assert_int_equal(pythia_input_create(paths, 1, false, problem, NULL, &input), PYTHIA_OK);
    struct pythia_pipeline_options reading = {.threads = 1, .expansion_max = PYTHIA_EXPANSION_MAX};
    struct pythia_consumer consumer = {begin, take, c, NULL};
    assert_int_equal(pythia_pipeline_run(c->vocabulary, input, &reading, &consumer, &c->result),
                     PYTHIA_OK);
    pythia_input_destroy(input);
    assert_int_equal(pythia_groups_finish(c->groups), PYTHIA_OK);
    assert_non_null(pythia_groups_types(c->groups, &count));
    struct pythia_diagnosis_options usual = {.min_cov = .05, .seed = 1};
    assert_int_equal(pythia_diagnose(c->groups, &usual, &c->diagnosis), PYTHIA_OK);
    snprintf(path, sizeof(path), "%s/openstack/truth/%s/requests.jsonl", PYTHIA_DATASETS, name);
    read_truth(c, path);
    return c;
}

static void free_capture(struct capture *c)
{
    pythia_diagnosis_destroy(c->diagnosis);
    pythia_groups_destroy(c->groups);
    pythia_request_types_destroy(c->types);
    pythia_vocabulary_destroy(c->vocabulary);
    free(c);
}

/* Both are read once, for all tests. */
static struct capture *contention, *baseline;

static int set_up(void **state)
{
    contention = read_capture("contention");
    baseline = read_capture("baseline");
    return 0;
}

static int tear_down(void **state)
{
    free_capture(contention);
    free_capture(baseline);
    return 0;
}

/* ---- request types ---- */

/* How many requests have both: a type that we tell, and one that was recorded. */
static size_t in_both(const struct capture *c, uint32_t type, uint32_t recorded)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->requests[i].type == type && c->requests[i].recorded == recorded;
    return count;
}

/* The type that most requests of a recorded one have. */
static uint32_t type_of(const struct capture *c, const char *name)
{
    uint32_t recorded = pythia_vocabulary_string(c->vocabulary, pythia_text_of(name));
    uint32_t best = PYTHIA_NONE;
    for (size_t i = 0; i < c->count; i++)
        if (best == PYTHIA_NONE ||
            in_both(c, c->requests[i].type, recorded) > in_both(c, best, recorded))
            best = c->requests[i].type;
    return best;
}

static void the_recorded_types_are_told_apart_for_299_of_300(void **state)
{
    static const struct {
        const char *name;
        size_t requests;
    } recorded[] = {{"server_create", 106}, {"server_delete", 82}, {"server_list", 32},
                    {"flavor_list", 24},    {"image_list", 18},    {"server_show", 15},
                    {"volume_list", 11},    {"volume_create", 8},  {"volume_delete", 4}};
    const struct capture *both[] = {contention, baseline};
    for (size_t i = 0; i < 2; i++) {
        const struct capture *c = both[i];
        size_t right = 0, all = 0;
        uint32_t types[9];
        for (size_t k = 0; k < 9; k++) {
            uint32_t string =
                pythia_vocabulary_string(c->vocabulary, pythia_text_of(recorded[k].name));
            size_t asked = 0;
            for (size_t n = 0; n < c->count; n++)
                asked += c->requests[n].recorded == string;
            assert_int_equal(asked, recorded[k].requests);
            types[k] = type_of(c, recorded[k].name);
            for (size_t n = 0; n < k; n++) /* no two of them are one */
                assert_int_not_equal(types[k], types[n]);
            right += in_both(c, types[k], string);
            all += asked;
        }
        assert_int_equal(all, REQUESTS);
        assert_int_equal(right, 299);
        size_t count; /* fetching a token is no part of what was asked for */
        const struct pythia_type *all_types = pythia_groups_types(c->groups, &count);
        assert_int_equal(count, 9);
        for (size_t k = 0; k < count; k++)
            assert_null(strstr(pythia_vocabulary_text(c->vocabulary, all_types[k].name).bytes,
                               "auth/tokens"));
    }
}

/* ---- shares ---- */

/* All requests of a recorded type, ranked: whatever path they took. */
static struct pythia_ranking rank_type(const struct capture *c, const char *name)
{
    struct pythia_rank_options usual = {.level = .95, .alpha = .05, .seed = 1};
    struct pythia_ranking ranking;
    uint32_t type = type_of(c, name);
    size_t count, rows;
    const struct pythia_type *types = pythia_groups_types(c->groups, &count);
    while (count > 0 && types->name != type)
        types++, count--;
    assert_true(count > 0);
    rows = pythia_sample_count(types->rows);
    assert_int_equal(rows, types->moments.n);
    const struct pythia_row **all = calloc(rows, sizeof(*all));
    for (size_t i = 0; i < rows; i++)
        all[i] = pythia_sample_row(types->rows, i);
    assert_int_equal(pythia_rank(all, rows, pythia_groups_cct(c->groups), &usual, &ranking),
                     PYTHIA_OK);
    assert_int_equal(ranking.rows, rows);
    free(all);
    return ranking;
}

static double sum_of_shares(const struct pythia_ranking *r)
{
    double sum = 0;
    for (size_t e = 0; e < r->edge_count; e++)
        sum += r->edges[e].share.share;
    return sum;
}

static const char *point(const struct capture *c, uint32_t tracepoint)
{
    return pythia_vocabulary_tracepoint_id(c->vocabulary, tracepoint).bytes;
}

struct expected_edge {
    const char *context, *from, *to;
    uint8_t from_event, to_event;
    double share;
};

enum { START = PYTHIA_EVENT_START, END = PYTHIA_EVENT_END };

#define ALLOCATIONS "wsgi:placement:GET:/allocations/{id}"
#define CONDUCTOR   "rpc:nova.conductor.manager.ConductorManager."

static void check_type(const struct capture *c, const char *type, size_t requests, size_t edges,
                       const struct expected_edge *expected, size_t count)
{
    struct pythia_ranking r = rank_type(c, type);
    const struct pythia_cct *cct = pythia_groups_cct(c->groups);
    assert_int_equal(r.rows, requests);
    assert_int_equal(r.edge_count, edges);
    assert_true(fabs(sum_of_shares(&r) - 1) < 1e-9);
    for (size_t i = 0; i < count; i++) {
        const struct pythia_edge *edge = pythia_cct_edge_at(cct, r.edges[i].edge);
        assert_string_equal(point(c, pythia_cct_tracepoint(cct, edge->context)),
                            expected[i].context);
        assert_string_equal(point(c, edge->from_tracepoint), expected[i].from);
        assert_int_equal(edge->from_event, expected[i].from_event);
        assert_string_equal(point(c, edge->to_tracepoint), expected[i].to);
        assert_int_equal(edge->to_event, expected[i].to_event);
        assert_true(fabs(r.edges[i].share.share - expected[i].share) < 1e-4);
    }
    pythia_ranking_free(&r);
}

static void shares_are_those_of_the_independent_check(void **state)
{
    static const struct expected_edge create[] = {
        {"build_semaphore", "build_semaphore", "build_semaphore", START, END, .9692}};
    check_type(contention, "server_create", 106, 269, create, 1);
    static const struct expected_edge delete[] = {
        {"rpc:nova.compute.manager.ComputeManager.terminate_instance", CONDUCTOR "object_action",
         CONDUCTOR "object_class_action_versions", END, START, .2262},
        {ALLOCATIONS, ALLOCATIONS, ALLOCATIONS, START, END, .1840}};
    check_type(contention, "server_delete", 82, 324, delete, 2);
    static const struct expected_edge quiet[] = {
        {"do_build_and_run_instance", ALLOCATIONS, CONDUCTOR "object_action", END, START, .3954},
        {"virt_spawn", "virt_spawn", "virt_spawn", START, END, .1906}};
    check_type(baseline, "server_create", 106, 256, quiet, 2);
}

static void shares_of_every_group_add_up_to_1(void **state)
{
    const struct capture *both[] = {contention, baseline};
    size_t ranked = 0;
    for (size_t i = 0; i < 2; i++)
        for (size_t g = 0; g < both[i]->diagnosis->group_count; g++) {
            const struct pythia_ranking *r = &both[i]->diagnosis->groups[g].ranking;
            if (r->edge_count == 0) /* too few */
                continue;
            assert_true(fabs(sum_of_shares(r) - 1) < 1e-9);
            ranked++;
        }
    assert_true(ranked >= 6); /* creating, deleting and listing servers, in both */
}

/* ---- the diagnosis ---- */

static uint32_t name_of(const struct capture *c, const struct pythia_group *g)
{
    return c->diagnosis->types[g->type].type->name;
}

static void the_wait_at_the_semaphore_makes_the_difference(void **state)
{
    const struct pythia_group *top = &contention->diagnosis->groups[0];
    const struct pythia_share *share = &top->ranking.edges[0].share;
    assert_int_equal(name_of(contention, top), type_of(contention, "server_create"));
    assert_int_equal(top->count, 104);
    assert_int_equal(top->status, PYTHIA_GROUP_DIAGNOSED);
    assert_int_equal(top->cause, PYTHIA_CAUSE_EDGE);
    assert_true(top->ranking.localised);
    assert_true(share->share >= .95);
    assert_true(share->low <= .97 && share->high >= .97);
    const struct pythia_explanation *first = &top->explanations.found[0];
    assert_true(top->explanations.found_count > 0);
    assert_string_equal(first->name, "queue_length");
    assert_int_equal(first->kind, PYTHIA_KEY_NUMERIC);
    assert_true(first->result.q < .001);
    assert_rel_equal(first->low, 0, 0);
    assert_rel_equal(first->high, 12, 0);
}

/* Is that the name of a key, wherever it was? */
static bool is_of(const char *key, const char *attribute)
{
    size_t size = strlen(attribute);
    return strncmp(key, attribute, size) == 0 && (key[size] == '\0' || key[size] == '@');
}

static bool explained_by(const struct pythia_explanations *x, const char *attribute)
{
    for (size_t i = 0; i < x->found_count; i++)
        if (is_of(x->found[i].name, attribute))
            return true;
    return false;
}

/* Ten may build at once, so that the queue is always empty. */
static void without_a_contention_no_queue_explains_anything(void **state)
{
    size_t groups = 0;
    uint32_t create = type_of(baseline, "server_create");
    for (size_t g = 0; g < baseline->diagnosis->group_count; g++) {
        const struct pythia_group *group = &baseline->diagnosis->groups[g];
        assert_false(explained_by(&group->explanations, "queue_length"));
        groups += name_of(baseline, group) == create && group->status == PYTHIA_GROUP_DIAGNOSED;
    }
    for (size_t t = 0; t < baseline->diagnosis->type_count; t++)
        assert_false(explained_by(&baseline->diagnosis->types[t].explanations, "queue_length"));
    assert_true(groups > 0); /* they differ all the same, for other reasons */
}

/* nova asks for the allocations of each server on the host. */
static void the_number_of_calls_explains_how_long_a_delete_takes(void **state)
{
    const struct capture *both[] = {contention, baseline};
    for (size_t i = 0; i < 2; i++) {
        uint32_t delete = type_of(both[i], "server_delete");
        size_t explained = 0;
        for (size_t g = 0; g < both[i]->diagnosis->group_count; g++) {
            const struct pythia_group *group = &both[i]->diagnosis->groups[g];
            if (name_of(both[i], group) != delete || group->status != PYTHIA_GROUP_DIAGNOSED)
                continue;
            const struct pythia_explanation *first = &group->explanations.found[0];
            assert_true(group->explanations.found_count > 0);
            assert_string_equal(first->name, "count:" ALLOCATIONS);
            assert_int_equal(first->kind, PYTHIA_KEY_COUNT);
            assert_true(first->result.q < .001);
            explained += group->count;
        }
        assert_true(explained >= 75); /* nearly all of the 82 */
    }
}

/* ---- identifiers ---- */

static bool is_same(const struct pythia_row_value *a, const struct pythia_row_value *b)
{
    if (a->size != b->size)
        return false;
    return a->size == PYTHIA_ROW_NUMBER ? a->number == b->number
                                        : memcmp(a->text, b->text, a->size) == 0;
}

static const struct pythia_row_value *value_of(const struct pythia_row *row, uint32_t key)
{
    for (uint32_t v = 0; v < row->value_count; v++)
        if (row->values[v].key == key)
            return &row->values[v];
    return NULL;
}

/* A text that is another one in each request that has it, which are as many as are asked for, says
 * nothing, however its key is named; and so does a number that is called an id, of a row say. */
static bool is_identifier(const struct pythia_group *g, uint32_t key, const char *name)
{
    size_t present = 0;
    for (size_t i = 0; i < g->sampled; i++) {
        const struct pythia_row_value *value = value_of(g->rows[i], key), *other;
        if (!value)
            continue;
        if (value->size == PYTHIA_ROW_NUMBER && !strstr(name, "_id"))
            return false;
        present++;
        for (size_t k = 0; k < i; k++)
            if ((other = value_of(g->rows[k], key)) && is_same(value, other))
                return false;
    }
    return present >= 30;
}

static void identifiers_explain_nothing_and_are_said_to_be_skipped(void **state)
{
    const struct pythia_group *top = &contention->diagnosis->groups[0];
    const struct pythia_keys *keys = pythia_groups_keys(contention->groups);
    size_t identifiers = 0, numbers = 0;
    for (uint32_t key = 0; key < pythia_keys_count(keys); key++) {
        const char *name = pythia_keys_attribute(keys, key).bytes;
        if (!is_identifier(top, key, name))
            continue;
        bool skipped = false;
        for (size_t i = 0; i < top->explanations.skipped_count; i++)
            skipped = skipped || is_of(top->explanations.skipped[i].name, name);
        assert_true(skipped);
        assert_false(explained_by(&top->explanations, name));
        identifiers++;
        numbers += strstr(name, "_id") != NULL;
    }
    assert_true(numbers > 0 && identifiers > numbers);
}

static void all_of_it_was_read(void **state)
{
    const struct capture *both[] = {contention, baseline};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(both[i]->count, REQUESTS);
        assert_int_equal(both[i]->result.failed_files, 0);
        for (size_t d = 0; d < PYTHIA_DROPS; d++)
            assert_int_equal(both[i]->result.counts.dropped[d], 0);
    }
    assert_int_equal(contention->result.counts.kept, 36133); /* spans, as its makers counted them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_was_read),
        cmocka_unit_test(the_recorded_types_are_told_apart_for_299_of_300),
        cmocka_unit_test(shares_are_those_of_the_independent_check),
        cmocka_unit_test(shares_of_every_group_add_up_to_1),
        cmocka_unit_test(the_wait_at_the_semaphore_makes_the_difference),
        cmocka_unit_test(without_a_contention_no_queue_explains_anything),
        cmocka_unit_test(the_number_of_calls_explains_how_long_a_delete_takes),
        cmocka_unit_test(identifiers_explain_nothing_and_are_said_to_be_skipped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
