#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pythia/compare.h"
#include "pythia/compare_report.h"
#include "pythia/groups_merge.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/splitting.h"
#include "shared/terminal.h"

struct settings {
    struct pythia__read_settings read;
    int format;
    const char *output;
    int64_t min_requests, rows, top;
    double alpha;
    bool verbose;
    struct pythia_option_texts before, after, split;
};

#define SEED 1 /* of the permutations that a split asks for */

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html", "text", OPTION(format),
                  "Format of the report"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", OPTION(output),
                       "Write the report to a file; the file is replaced only when the report is "
                       "complete (default standard output)"),
    PYTHIA_FLAG("verbose", 0, OPTION(verbose),
                "As text: everything, with the full names of trace points and request types, "
                "instead of the short form"),
    {"before", 0, PYTHIA_OPTION_TEXTS, "PATH", NULL, NULL, 0, 0, OPTION(before),
     "Another path of BEFORE; may be given several times"},
    {"after", 0, PYTHIA_OPTION_TEXTS, "PATH", NULL, NULL, 0, 0, OPTION(after),
     "Another path of AFTER; may be given several times"},
    PYTHIA__SPLIT_OPTION(OPTION(split)),
    PYTHIA_REAL("alpha", 0, "P", "0.05", 1e-12, .5, OPTION(alpha),
                "Accepted rate of false changes over all tests"),
    PYTHIA_INTEGER("min-requests", 0, "N", "30", 4, 1e9, OPTION(min_requests),
                   "Fewest requests of a type, on each side, with which it is compared"),
    PYTHIA_INTEGER("top", 'n', "N", "10", 1, 1e9, OPTION(top),
                   "Most types, services, and, for each type, edges, paths and trace points to "
                   "show, except in the short form; JSON has all"),
    PYTHIA_INTEGER("rows", 0, "N", "8192", 64, 1e6, OPTION(rows),
                   "Complete requests to keep per type and side, for its edges; counts, means and "
                   "quantiles use all requests"),
    {0},
};

/* One side while it is read. */
struct side {
    const struct settings *s;
    const struct side *other;        /* that was read before; NULL: none */
    struct pythia_grouping_key *key; /* of both; NULL: there is none */
    struct pythia__reading reading;
    struct pythia_side *side;
    struct pythia_side **parts; /* owned, of each thread; they are parts of `side` */
    size_t part_count;
    const char *paths[PYTHIA_OPTION_TEXTS_MAX + 1];
    int count;
};

/* Forget what the grouping key has seen of this side, but not of the other. */
static int forget_side(const struct side *side)
{
    size_t count = 0;
    const struct pythia_type *types =
        side->other ? pythia_groups_types(pythia_side_groups(side->other->side), &count) : NULL;
    int status = PYTHIA_OK;
    if (side->key)
        pythia_grouping_key_forget(side->key);
    for (size_t i = 0; side->key && i < count; i++)
        if ((status = pythia_grouping_key_see(side->key, types[i].part)) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

static void destroy_side_parts(struct side *side)
{
    for (size_t i = 0; i < side->part_count; i++)
        pythia_side_destroy(side->parts[i]);
    pythia_free(side->parts);
    side->parts = NULL;
    side->part_count = 0;
}

static int begin_side(void *context)
{
    struct side *side = context;
    destroy_side_parts(side);
    pythia_side_destroy(side->side);
    side->side = NULL;
    int status = forget_side(side);
    if (status != PYTHIA_OK)
        return status;
    side->reading.groups.rows_per_type = (size_t)side->s->rows;
    side->reading.groups.rows = (size_t)side->s->rows * 4;
    return pythia_side_create(side->reading.vocabulary, &side->reading.groups, &side->side);
}

static int add_to_side(void *context, const struct pythia_trace *trace)
{
    struct side *side = context;
    return pythia_side_add(side->side, trace);
}

static int divide_side(void *context, size_t count)
{
    struct side *side = context;
    side->parts = pythia_calloc(count, sizeof(struct pythia_side *));
    if (!side->parts)
        return PYTHIA_ENOMEM;
    for (; side->part_count < count; side->part_count++) {
        int status = pythia_side_create_part(side->side, count, &side->parts[side->part_count]);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int add_to_side_part(void *context, size_t part, const struct pythia_trace *trace)
{
    struct side *side = context;
    return pythia_side_add(side->parts[part], trace);
}

static int unite_side(void *context)
{
    struct side *side = context;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < side->part_count && status == PYTHIA_OK; i++) {
        struct pythia_side *part = side->parts[i];
        side->parts[i] = NULL;
        status = pythia_side_join(side->side, part);
    }
    if (status != PYTHIA_OK)
        return status;
    return pythia_groups_are_whole(pythia_side_groups(side->side)) ? PYTHIA_OK : 1;
}

static const struct pythia_consumer_parts parts_of_side = {divide_side, add_to_side_part,
                                                           unite_side};

static int order_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Find the files of a side. */
static int open_side(struct side *side, const char *first, const struct pythia_option_texts *more,
                     const struct pythia__reading *other)
{
    side->paths[side->count++] = first;
    for (size_t i = 0; i < more->count; i++)
        side->paths[side->count++] = more->texts[i];
    qsort(side->paths, (size_t)side->count, sizeof(char *), order_paths);
    return pythia__reading_begin_with(&side->reading, &side->s->read, side->paths, side->count,
                                      other);
}

/* The key that splits the requests of both sides. */
static int make_common_key(struct side sides[2])
{
    const struct settings *s = sides[0].s;
    struct pythia__reading *const readings[] = {&sides[0].reading, &sides[1].reading};
    struct pythia_grouping_key *key;
    int status = pythia__splitting_begin(&s->split, sides[0].reading.vocabulary, &key);
    sides[0].key = sides[1].key = key; /* NULL after a failure */
    if (status != PYTHIA_OK)
        return status;
    status = pythia__splitting_learn(key, readings, 2, s->rows, s->alpha, SEED);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < 2; i++)
        sides[i].reading.groups.key = key;
    return PYTHIA_OK;
}

static int read_each(struct side sides[2])
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < 2; i++) {
        /* A grouping key knows one thread. */
        struct pythia_consumer consumer = {begin_side, add_to_side, &sides[i],
                                           sides[i].key ? NULL : &parts_of_side};
        sides[i].other = i ? &sides[0] : NULL;
        if ((status = pythia__reading_run(&sides[i].reading, &consumer)) != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Names of parts are right when both sides have been read, and those of paths when the second has
 * not changed what the first taught: types of both sides are matched by name. */
static int read_both_sides(struct side sides[2])
{
    const struct pythia__reading *first = &sides[0].reading;
    int status = make_common_key(sides);
    if (status != PYTHIA_OK)
        return status;
    uint64_t changes = pythia__reading_changes(first);
    if ((status = read_each(sides)) != PYTHIA_OK)
        return status;
    if (pythia__reading_changes(first) != changes &&
        ((status = pythia__reading_again(first)) != PYTHIA_OK ||
         (status = pythia__reading_again(&sides[1].reading)) != PYTHIA_OK ||
         (status = read_each(sides)) != PYTHIA_OK))
        return status;
    for (size_t i = 0; i < 2; i++)
        if ((status = pythia_side_finish(sides[i].side)) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

static struct pythia_compare_input input_of(const struct side *side)
{
    return (struct pythia_compare_input){side->paths, (size_t)side->count, &side->reading.result,
                                         side->key};
}

static int write_comparison(const struct settings *s, const struct side sides[2],
                            const struct pythia_comparison *c)
{
    struct pythia_compare_input before = input_of(&sides[0]), after = input_of(&sides[1]);
    const struct pythia_compare_source source = {c, sides[0].reading.vocabulary, &before, &after,
                                                 (size_t)s->top};
    const struct pythia__terminal terminal = pythia__terminal_of(s->output);
    const struct pythia_report_view view = {terminal.width, terminal.colour, terminal.ascii};
    const enum pythia_report_format format = s->format == PYTHIA_REPORT_TEXT && !s->verbose
                                                 ? PYTHIA_REPORT_BRIEF
                                                 : (enum pythia_report_format)s->format;
    struct pythia_buf text = {0};
    int status = pythia_compare_report_write(&source, format, &view, &text);
    if (status == PYTHIA_OK)
        status = pythia__write_output(s->output, pythia_buf_text(&text));
    pythia_buf_free(&text);
    return status;
}

/* The worse of the two, or else what the comparison says. */
static int exit_of_comparison(const struct side sides[2], const struct pythia_comparison *c,
                              int status)
{
    for (size_t i = 0; i < 2; i++) {
        int code = pythia__reading_exit(&sides[i].reading, status);
        if (code != PYTHIA__EXIT_DONE)
            return code;
    }
    assert(c); /* or its status would have told why not */
    if (!pythia__splitting_tell(sides[0].key, false))
        return PYTHIA__EXIT_FAILED;
    return c->changed        ? PYTHIA__EXIT_DONE
           : c->compared > 0 ? PYTHIA__EXIT_NOTHING
                             : PYTHIA__EXIT_TOO_FEW;
}

/* Standard input can be read once: it is a part of one side at most. */
static bool reads_input_twice(const struct settings *s, char *const *operands, int count)
{
    size_t times = 0;
    for (int i = 0; i < count; i++)
        times += strcmp(operands[i], "-") == 0;
    for (size_t i = 0; i < s->before.count; i++)
        times += strcmp(s->before.texts[i], "-") == 0;
    for (size_t i = 0; i < s->after.count; i++)
        times += strcmp(s->after.texts[i], "-") == 0;
    return times > 1;
}

static int run_compare_command(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct side sides[2] = {{.s = s}, {.s = s}};
    struct pythia_comparison *c = NULL;
    struct pythia_compare_options how = {.alpha = s->alpha,
                                         .min_requests = (size_t)s->min_requests};
    if (reads_input_twice(s, operands, count)) {
        pythia_log(PYTHIA_LOG_ERROR, "standard input (-) can be read only once");
        return PYTHIA__EXIT_USAGE;
    }
    int code;
    int status = open_side(&sides[0], operands[0], &s->before, NULL);
    if (status != PYTHIA_OK)
        goto out;
    status = open_side(&sides[1], operands[count - 1], &s->after, &sides[0].reading);
    if (status != PYTHIA_OK || (status = read_both_sides(sides)) != PYTHIA_OK ||
        (status = pythia_compare(sides[0].side, sides[1].side, &how, &c)) != PYTHIA_OK)
        goto out;
    status = write_comparison(s, sides, c);
out:
    code = exit_of_comparison(sides, c, status);
    pythia_comparison_destroy(c);
    pythia_grouping_key_destroy(sides[0].key);
    for (size_t i = 2; i-- > 0;) { /* the second borrows from the first */
        destroy_side_parts(&sides[i]);
        pythia_side_destroy(sides[i].side);
        pythia__reading_end(&sides[i].reading);
    }
    return code;
}

const struct pythia__command pythia__cmd_compare = {
    .name = "compare",
    .operands = "BEFORE AFTER",
    .summary = "Show what changed between two sets of captured traces",
    .description =
        "Reads two sets of traces, matches their requests by type, and reports what changed: on "
        "which edges of the critical path requests take longer, and in which services; which "
        "edges vary more; which paths and trace points are new, gone, or hit more or less often; "
        "where spans fail more often.\n\n"
        "Times on edges add up to the duration of a request, so their changes add up to the "
        "change of its mean, and each accounts for a share of it. A change is reported if it is "
        "significant after correction for all tests, and not due to a single slow request. Edges "
        "that make requests slower come first, ordered by the least they cost: the lower bound of "
        "the change, times how common the type is. Such an edge takes significantly longer, by at "
        "least a hundredth of the mean duration before, and its requests did not get faster "
        "overall. Time between a caller and its callee is attributed to the callee, unless the "
        "caller waits longer for nearly everything it calls.\n\n"
        "BEFORE and AFTER are each a file, a folder (all files in it) or - for standard input; "
        "--before and --after add more. The exit status is 0 if something changed, 3 if nothing "
        "did, and 4 if there were too few requests.",
    .examples = "# What did the new version change?\n"
                "pythia compare traces/monday traces/tuesday\n"
                "# Compare three quiet hours with a busy one\n"
                "pythia compare --before 02.jsonl --before 03.jsonl 01.jsonl 04.jsonl\n",
    .exits = "0 something changed, 1 failed (also: part of the input could not be read), 2 wrong "
             "usage, 3 nothing changed, 4 too few requests.",
    .see_also = "pythia-replay(1), pythia-comparison(5)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = 2,
    .run = run_compare_command,
};
