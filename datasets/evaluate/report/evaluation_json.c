/* An evaluation as JSON, "pythia.evaluation/1", written and read again. Nothing in a file is taken
 * on trust: names must be texts, and numbers that are missing are undefined. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "evaluation_results.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "write/json_writer.h"
#include "write/words.h"

#define SCHEMA "pythia.evaluation/1"

/* The numbers of a report and of a problem; one row serves writing and reading. */
struct number_name {
    const char *name;
    size_t offset;
    bool count;
};
#define OF_REPORT(member)  offsetof(struct pythia_evaluation_report, member)
#define OF_PROBLEM(member) offsetof(struct pythia__evaluation_problem, member)

static const struct number_name head[] = {
    {"trials", OF_REPORT(trials), true},     {"first_seed", OF_REPORT(first_seed), true},
    {"seeds", OF_REPORT(seeds), true},       {"points", OF_REPORT(points), true},
    {"requests", OF_REPORT(requests), true}, {"cycles", OF_REPORT(cycles), true}};
static const struct number_name price[] = {{"price_ns", OF_REPORT(price_ns), false},
                                           {"level", OF_REPORT(level), false}};
static const struct number_name of_problem[] = {{"nodes", OF_PROBLEM(nodes), true},
                                                {"requests", OF_PROBLEM(requests), true},
                                                {"first_request", OF_PROBLEM(first_request), true},
                                                {"causes", OF_PROBLEM(causes), true}};
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* ---- writing ---- */

/* A count that a file gave may be no whole number, or none that 64 bits hold. */
static json_t *make_evaluation_number(double number, bool count)
{
    return count && number >= 0 && number < 9e15 && number == floor(number)
               ? pythia__json_count((uint64_t)number)
               : pythia__json_real(number);
}

static void set_numbers(struct pythia__json *w, json_t *out, const void *from,
                        const struct number_name *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double number;
        memcpy(&number, (const char *)from + rows[i].offset, sizeof(number));
        pythia__json_set(w, out, rows[i].name, make_evaluation_number(number, rows[i].count));
    }
}

static json_t *make_evaluation_result(struct pythia__json *w,
                                      const struct pythia_evaluation_report *r,
                                      const struct pythia__evaluation_result *result)
{
    size_t count;
    const struct pythia__figure_name *names = pythia__evaluation_figures(r, &count);
    json_t *out = json_object();
    pythia__json_set(w, out, "problem", json_string(result->problem));
    pythia__json_set(w, out, "strategy", json_string(result->strategy));
    for (size_t i = 0; i < count; i++) {
        const struct pythia__figure_name *n = &names[i];
        json_t *number, *inner;
        if (!n->member)
            continue;
        number = make_evaluation_number(result->figures[n->figure], n->count);
        if (n->inner && !json_object_get(out, n->member))
            pythia__json_set(w, out, n->member, json_object());
        inner = n->inner ? json_object_get(out, n->member) : out;
        pythia__json_set(w, inner, n->inner ? n->inner : n->member, number);
    }
    return out;
}

static json_t *make_evaluation_problem(struct pythia__json *w,
                                       const struct pythia__evaluation_problem *p)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "name", json_string(p->name));
    pythia__json_set(w, out, "help", json_string(p->help));
    pythia__json_set(w, out, "shape", json_string(p->shape));
    set_numbers(w, out, p, of_problem, COUNT(of_problem));
    pythia__json_set(w, out, "generate", json_string(p->generate));
    return out;
}

static void add_lists(struct pythia__json *w, const struct pythia_evaluation_report *r, json_t *out)
{
    json_t *notes = json_array(), *strategies = json_array(), *problems = json_array(),
           *results = json_array();
    for (size_t i = 0; i < r->note_count; i++)
        pythia__json_append(w, notes, json_string(r->notes[i]));
    for (size_t i = 0; i < r->strategy_count; i++) {
        json_t *one = json_object();
        pythia__json_set(w, one, "name", json_string(r->strategies[i].name));
        pythia__json_set(w, one, "help", json_string(r->strategies[i].help));
        pythia__json_append(w, strategies, one);
    }
    for (size_t i = 0; i < r->problem_count; i++)
        pythia__json_append(w, problems, make_evaluation_problem(w, &r->problems[i]));
    for (size_t i = 0; i < r->result_count; i++)
        pythia__json_append(w, results, make_evaluation_result(w, r, &r->results[i]));
    pythia__json_set(w, out, "notes", notes);
    pythia__json_set(w, out, "strategies", strategies);
    pythia__json_set(w, out, "problems", problems);
    pythia__json_set(w, out, "results", results);
}

int pythia__evaluation_json(const struct pythia_evaluation_report *r, struct pythia_buf *out)
{
    struct pythia__json w = {0};
    json_t *document = json_object();
    pythia__json_set(&w, document, "schema", json_string(SCHEMA));
    pythia__json_set(&w, document, "complete", json_boolean(r->complete));
    set_numbers(&w, document, r, head, COUNT(head));
    pythia__json_set(&w, document, "profile", json_string(r->profile));
    set_numbers(&w, document, r, price, COUNT(price));
    add_lists(&w, r, document);
    int status = w.failed ? PYTHIA_ENOMEM : pythia__json_write(document, 1, 12, out);
    json_decref(document);
    return status;
}

/* ---- reading ---- */

static void get_numbers(const json_t *from, void *to, const struct number_name *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double number = pythia__number(from, rows[i].name);
        memcpy((char *)to + rows[i].offset, &number, sizeof(number));
    }
}

/* Whether it is a list of objects that have these texts. `also` may be NULL. */
static bool is_list(const json_t *list, const char *text, const char *also)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (!json_is_string(json_object_get(one, text)) ||
            (also && !json_is_string(json_object_get(one, also))))
            return false;
    }
    return json_array_size(list) > 0;
}

static bool are_texts(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return false;
    return json_is_array(list);
}

static int check_evaluation_file(const json_t *file, struct pythia_error *e)
{
    const char *schema = pythia__string(file, "schema");
    if (strcmp(schema, SCHEMA) != 0)
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is not an evaluation of this version: expected schema %s, found "
                                "%.100s",
                                SCHEMA, schema[0] ? schema : "none");
    if (!is_list(json_object_get(file, "strategies"), "name", NULL) ||
        !is_list(json_object_get(file, "problems"), "name", "help") ||
        !is_list(json_object_get(file, "results"), "problem", "strategy") ||
        !are_texts(json_object_get(file, "notes")))
        return pythia_error_set(
            e, PYTHIA_EFORMAT,
            "is not a valid evaluation: strategies, problems, results and notes "
            "must be lists, with names");
    return PYTHIA_OK;
}

static void read_figures(const struct pythia_evaluation_report *r, const json_t *from,
                         struct pythia__evaluation_result *to)
{
    size_t count;
    const struct pythia__figure_name *names = pythia__evaluation_figures(r, &count);
    for (size_t i = 0; i < PYTHIA__FIGURES; i++)
        to->figures[i] = NAN;
    for (size_t i = 0; i < count; i++)
        if (names[i].member)
            to->figures[names[i].figure] =
                names[i].inner
                    ? pythia__number(json_object_get(from, names[i].member), names[i].inner)
                    : pythia__number(from, names[i].member);
}

static const char *read_json_name(struct pythia_evaluation_report *r, const json_t *from,
                                  const char *member)
{
    return pythia__evaluation_copy(r, pythia__string(from, member));
}

static void read_lists(struct pythia_evaluation_report *r, const json_t *notes,
                       const json_t *strategies, const json_t *problems, const json_t *results)
{
    for (size_t i = 0; i < r->note_count; i++)
        r->notes[i] = pythia__evaluation_copy(r, json_string_value(json_array_get(notes, i)));
    for (size_t i = 0; i < r->strategy_count; i++) {
        const json_t *one = json_array_get(strategies, i);
        r->strategies[i] = (struct pythia__evaluation_strategy){read_json_name(r, one, "name"),
                                                                read_json_name(r, one, "help")};
    }
    for (size_t i = 0; i < r->problem_count; i++) {
        const json_t *one = json_array_get(problems, i);
        r->problems[i] =
            (struct pythia__evaluation_problem){.name = read_json_name(r, one, "name"),
                                                .help = read_json_name(r, one, "help"),
                                                .shape = read_json_name(r, one, "shape"),
                                                .generate = read_json_name(r, one, "generate")};
        get_numbers(one, &r->problems[i], of_problem, COUNT(of_problem));
    }
    r->timed = json_object_get(json_array_get(results, 0), "decision_ns") != NULL;
    for (size_t i = 0; i < r->result_count; i++) {
        const json_t *one = json_array_get(results, i);
        r->results[i].problem = read_json_name(r, one, "problem");
        r->results[i].strategy = read_json_name(r, one, "strategy");
        read_figures(r, one, &r->results[i]);
    }
}

static int read_evaluation_document(const json_t *file, struct pythia_evaluation_report *r)
{
    const json_t *notes = pythia__array(file, "notes"),
                 *strategies = pythia__array(file, "strategies"),
                 *problems = pythia__array(file, "problems"),
                 *results = pythia__array(file, "results");
    int status = pythia__evaluation_reserve(r, json_array_size(notes), json_array_size(strategies),
                                            json_array_size(problems), json_array_size(results));
    if (status != PYTHIA_OK)
        return status;
    r->complete = json_is_true(json_object_get(file, "complete"));
    r->profile = read_json_name(r, file, "profile");
    get_numbers(file, r, head, COUNT(head));
    get_numbers(file, r, price, COUNT(price));
    read_lists(r, notes, strategies, problems, results);
    return r->failed ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static int parse_evaluation_file(const char *name, struct pythia_text text,
                                 struct pythia_evaluation_report **out, struct pythia_error *e)
{
    json_error_t why;
    json_t *file = json_loadb(text.size ? text.bytes : "", text.size, 0, &why);
    if (!file) {
        pythia_error_place(e, name, why.line > 0 ? (uint64_t)why.line : 1, (uint64_t)why.position);
        return pythia_error_set(e, PYTHIA_EFORMAT, "is not JSON: %s", why.text);
    }
    struct pythia_evaluation_report *r = NULL;
    int status = check_evaluation_file(file, e);
    if (status != PYTHIA_OK)
        goto out;
    r = pythia_calloc(1, sizeof(*r));
    status = r ? read_evaluation_document(file, r) : PYTHIA_ENOMEM;
out:
    json_decref(file);
    if (status != PYTHIA_OK) {
        pythia_error_place(e, name, 0, 0);
        pythia_evaluation_report_destroy(r);
        return status;
    }
    *out = r;
    return PYTHIA_OK;
}

int pythia_evaluation_report_read(const char *path, struct pythia_evaluation_report **out,
                                  struct pythia_error *e)
{
    struct pythia_buf bytes = {0};
    int status = pythia_file_read(path, &bytes, e);
    if (status == PYTHIA_OK)
        status = parse_evaluation_file(path, pythia_buf_text(&bytes), out, e);
    else
        pythia_error_place(e, path, 0, 0);
    pythia_buf_free(&bytes);
    return status;
}
