/* How long a cycle takes over many request types: bench_cycle [TYPES [ROWS [CALLS [TURNS]]]].
 *
 * TURNS of the types (calls.h) are looked at in a cycle (0: all), the others wait. Prints one JSON
 * object of CPU seconds:
 *
 * - of cycles with requests of their own, gathered as pythiad gathers them: what it does at the end
 *   of one before anything else can go on, which is to make the evidence ready and to decide; the
 *   longest and the median, of the evidence alone the median, and what letting go of it takes; and
 *   the first such cycle by each strategy;
 * - of decisions over the same evidence again and again, the longest of cycles until every type has
 *   been looked at once and of at least three; how many types it looked at; the time of one type
 *   that is looked at, and of all the rest, which is the same in every cycle; in how many cycles
 *   each had its turn; and the shares with their errors alone: the least of several runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "cycle/evidence.h"
#include "pythia/diagnosis.h"
#include "pythia/effects.h"
#include "pythia/random.h"
#include "pythia/report.h"
#include "pythia/search.h"
#include "pythia/shares.h"
#include "pythia/status.h"
#include "pythia/type_choice.h"
#include "pythia/verdict.h"

#define RUNS         5
#define CYCLES       3
#define FRESH        7 /* cycles with requests of their own; */
#define ALONE        3 /* of them, how often evidence is made ready alone */
#define CALLS        256
#define TURNS        16 /* as pythiad has them */
#define REPORT_TYPES 50

/* What the decisions of a search took. */
struct decisions {
    double longest_s; /* of a cycle */
    size_t looked;    /* problems, in it */
    size_t cycles;    /* until each had been looked at */
};

static const struct pythia_search_options measuring;

/* The requests of one cycle, as pythiad takes them in. */
static void gather(struct bench *b, struct pythia__evidence_context *c, struct pythia__evidence *e)
{
    must(pythia__evidence_begin(c, e, b->skeleton, b->open), "evidence");
    for (size_t t = 0; t < b->types; t++)
        for (size_t i = 0; i < b->rows; i++) {
            const struct pythia_trace *trace = request(b, t, b->next + i, false);
            uint32_t type = pythia_request_type(b->namer, trace);
            must(pythia_critical_path_find(&c->path, trace, grouping.latency), "a path");
            must(pythia__evidence_add(c, e, 0, type, false, trace, NULL), "evidence");
        }
    b->next += b->rows;
}

static uint64_t turns_so_far(const struct pythia_cycle *cycle, size_t *without)
{
    uint64_t turns = 0;
    *without = 0;
    for (size_t i = 0; i < cycle->problem_count; i++) {
        turns += cycle->problems[i].cycles;
        *without += cycle->problems[i].cycles == 0;
    }
    return turns;
}

/* Cycles one after the other, and what the end of each took (`search` NULL: nobody decides). The
 * evidence of the last one is for the caller to free. */
static void run(struct bench *b, struct pythia_search *search, size_t cycles, double *took_s,
                struct pythia__evidence *e)
{
    struct pythia__evidence_context context;
    struct pythia_cycle cycle;
    must(pythia__evidence_context_init(&context, b->vocabulary, &grouping, &measuring, 0),
         "evidence");
    for (size_t i = 0; i < cycles; i++) {
        gather(b, &context, e);
        double begun = cpu_s();
        must(pythia__evidence_decide(e, search, i + 1, (double)b->rows, &cycle), "a cycle");
        took_s[i] = cpu_s() - begun;
    }
    e->effects = NULL;
    pythia__evidence_context_free(&context);
    pythia_search_destroy(search);
}

static double let_go(struct pythia__evidence *e)
{
    double begun = cpu_s();
    pythia__evidence_free(e);
    return cpu_s() - begun;
}

/* Decisions over the same evidence. */
static struct decisions decide(struct bench *b, const struct pythia__evidence *e, size_t turns)
{
    struct pythia_search *search = begin_search(b, turns, NULL);
    struct pythia_cycle cycle;
    struct decisions out = {.cycles = 0};
    size_t without = b->types, looked = 0;
    for (size_t i = 0; i < CYCLES || without > 0; i++) {
        double begun = cpu_s();
        must(pythia_search_cycle(search, e->groups, e->hits, e->hit_capacity, &cycle), "a cycle");
        double took = cpu_s() - begun;
        out.cycles += without > 0;
        size_t so_far = turns_so_far(&cycle, &without);
        if (took > out.longest_s) {
            out.longest_s = took;
            out.looked = so_far - looked;
        }
        looked = so_far;
    }
    pythia_search_destroy(search);
    return out;
}

/* Shares with their errors of each type, from rows as they are kept. */
static double share(const struct bench *b, const struct pythia_groups *groups, double *sum)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    double *times = NULL, begun = 0;
    struct pythia_share *shares = NULL;
    *sum = 0;
    double spent = 0;
    for (size_t t = 0; t < count; t++) {
        const struct pythia_row *first = pythia_sample_row(types[t].rows, 0);
        size_t edges = first->shape->edge_count, rows = pythia_sample_count(types[t].rows);
        if (!times) {
            times = calloc(edges * rows, sizeof(*times));
            shares = calloc(edges, sizeof(*shares));
        }
        for (size_t i = 0; i < rows; i++) {
            const struct pythia_row *row = pythia_sample_row(types[t].rows, i);
            for (size_t e = 0; e < edges; e++)
                times[e * rows + i] = (double)row->times_ns[e];
        }
        begun = cpu_s();
        must(pythia_shares(times, rows, edges, NULL, shares), "shares");
        spent += cpu_s() - begun;
        for (size_t e = 0; e < edges; e++)
            *sum += shares[e].share + shares[e].se;
    }
    (void)b;
    free(times);
    free(shares);
    return spent;
}

/* What a report of pythiad takes, made of so many types (0: all), and its parts. */
struct report {
    double diagnosis_s, document_s, json_s, html_s;
    size_t html_bytes;
};

static struct pythia_diagnosis *diagnose(const struct pythia_groups *groups, size_t types)
{
    struct pythia_diagnosis_options how = {.look = 1};
    struct pythia_diagnosis *diagnosis = NULL;
    uint32_t *names;
    must(pythia_types_choose(groups, NULL, types, &names, &how.only_count), "the types");
    how.only = names;
    must(pythia_diagnose(groups, &how, &diagnosis), "a diagnosis");
    free(names);
    return diagnosis;
}

static double write_form(const struct pythia_report *report, enum pythia_report_format form,
                         size_t *bytes)
{
    struct pythia_buf out = {0};
    double begun = cpu_s();
    must(pythia_report_write(report, form, NULL, &out), "a form of the report");
    double took = cpu_s() - begun;
    *bytes = out.size;
    pythia_buf_free(&out);
    return took;
}

static struct report make_report(const struct bench *b, const struct pythia__evidence *e,
                                 size_t types)
{
    static const char *const paths[] = {"bench"};
    const struct pythia_pipeline_result input = {.counts = b->counts};
    struct pythia_verdicts verdicts = {0};
    struct report out = {0};
    double begun = cpu_s();
    struct pythia_diagnosis *diagnosis = diagnose(e->groups, types);
    out.diagnosis_s = cpu_s() - begun;
    begun = cpu_s();
    must(pythia_verdicts_judge(&verdicts, diagnosis, e->groups), "verdicts");
    struct pythia_report_source source = {.paths = paths,
                                          .path_count = 1,
                                          .live = true,
                                          .input = &input,
                                          .vocabulary = b->vocabulary,
                                          .groups = e->groups,
                                          .diagnosis = diagnosis,
                                          .verdicts = &verdicts};
    struct pythia_report *report;
    must(
        pythia_report_create(&source, 1u << PYTHIA_REPORT_JSON | 1u << PYTHIA_REPORT_HTML, &report),
        "a report");
    out.document_s = cpu_s() - begun;
    out.json_s = write_form(report, PYTHIA_REPORT_JSON, &out.html_bytes);
    out.html_s = write_form(report, PYTHIA_REPORT_HTML, &out.html_bytes);
    pythia_report_destroy(report);
    pythia_verdicts_free(&verdicts);
    pythia_diagnosis_destroy(diagnosis);
    return out;
}

static void tell_report(const char *name, const struct report *r)
{
    printf(", \"%s\": {\"page_s\": %.6f, \"diagnosis_s\": %.6f, \"document_s\": %.6f, "
           "\"json_s\": %.6f, \"html_s\": %.6f, \"html_bytes\": %zu}",
           name, r->diagnosis_s + r->document_s + r->html_s, r->diagnosis_s, r->document_s,
           r->json_s, r->html_s, r->html_bytes);
}

static size_t number_of(int argc, char **argv, int at, size_t usual, size_t least, size_t most)
{
    size_t number = argc > at ? strtoul(argv[at], NULL, 10) : usual;
    if (number < least || number > most) {
        fprintf(stderr, "usage: bench_cycle [TYPES [ROWS [CALLS [TURNS]]]]\n");
        exit(2);
    }
    return number;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    return numbers[count / 2];
}

/* The first cycle by each strategy of the table. */
static void tell_strategies(struct bench *b)
{
    size_t count;
    const struct pythia_strategy *const *strategies = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++) {
        double first_s;
        struct pythia__evidence e = {0};
        run(b, begin_search(b, b->turns, strategies[i]), 1, &first_s, &e);
        pythia__evidence_free(&e);
        printf("%s\"%s\": %.6f", i ? ", " : "{", strategies[i]->name, first_s);
    }
    printf("}");
}

int main(int argc, char **argv)
{
    static struct bench b;
    b.types = number_of(argc, argv, 1, 1000, 1, sizeof(b.roots) / sizeof(b.roots[0]));
    b.rows = number_of(argc, argv, 2, 512, 1, 100000);
    b.call_count = number_of(argc, argv, 3, 25, 1, CALLS);
    b.turns = number_of(argc, argv, 4, TURNS, 0, 100000);
    begin(&b);
    printf("{\"strategies\": ");
    tell_strategies(&b);
    double evidence_s[ALONE], cycle_s[FRESH], shares = INFINITY, sum = 0;
    struct pythia__evidence e = {0};
    run(&b, NULL, ALONE, evidence_s, &e);
    double let_go_s = let_go(&e);
    run(&b, begin_search(&b, b.turns, NULL), FRESH, cycle_s, &e);
    double usual_s = median(cycle_s, FRESH);
    struct decisions some = {.longest_s = INFINITY}, all = some;
    for (int i = 0; i < RUNS; i++) {
        struct decisions next = decide(&b, &e, b.turns);
        some = next.longest_s < some.longest_s ? next : some;
        next = decide(&b, &e, 0);
        all = next.longest_s < all.longest_s ? next : all;
        shares = fmin(shares, share(&b, e.groups, &sum));
    }
    struct report all_types = make_report(&b, &e, 0), usual = make_report(&b, &e, REPORT_TYPES);
    double each = all.longest_s / (double)all.looked;
    printf(", \"types\": %zu, \"rows\": %zu, \"edges\": %zu, \"cycle_s\": %.6f, "
           "\"cycle_longest_s\": %.6f, \"evidence_s\": %.6f, \"let_go_s\": %.6f, "
           "\"looked_at\": %zu, \"decision_s\": %.6f, \"cycles_until_all\": %zu, "
           "\"each_s\": %.9f, \"rest_s\": %.6f, \"all_s\": %.6f, \"shares_s\": %.6f, "
           "\"sum\": %.9f",
           b.types, b.rows, 2 * b.call_count + 1, usual_s, cycle_s[FRESH - 1],
           median(evidence_s, ALONE), let_go_s, some.looked, some.longest_s, some.cycles, each,
           some.longest_s - each * (double)some.looked, all.longest_s, shares, sum);
    tell_report("report", &usual);
    tell_report("report_of_all", &all_types);
    printf("}\n");
    pythia__evidence_free(&e);
    end(&b);
    return 0;
}
