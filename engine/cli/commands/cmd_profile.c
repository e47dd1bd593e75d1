#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "profile_spans.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "shared/command.h"

struct settings {
    struct pythia__read_settings read;
    int64_t top;
    int by;
    const char *output;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("top", 'n', "N", "20", 1, 1e9, offsetof(struct settings, top),
                   "Most callpaths to show"),
    PYTHIA_CHOICE(
        "by", 0, "exclusive|inclusive|calls|name|leaf|level", "exclusive",
        offsetof(struct settings, by),
        "Order callpaths by exclusive time, inclusive time, or hits. Or add up all spans, not "
        "only those on critical paths: by name, by name of spans without children (leaf), or by "
        "name and level"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

/* The time that all requests together spent in a calling context, on their critical paths. */
struct callpath {
    uint64_t exclusive_ns, inclusive_ns, visits;
};

struct profiling {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia_groups *groups;
    struct callpath *paths;             /* by node */
    struct pythia__span_profile *spans; /* of all spans, instead */
};

#define BY_SPANS 3 /* the first of the choices that ask for these */

static int restart_profile(void *context)
{
    struct profiling *p = context;
    pythia__span_profile_destroy(p->spans);
    p->spans = NULL;
    if (p->s->by >= BY_SPANS)
        return pythia__span_profile_create((enum pythia__span_profile_by)(p->s->by - BY_SPANS),
                                           &p->spans);
    pythia_groups_destroy(p->groups);
    p->groups = NULL;
    p->reading.groups.rows_per_type = p->reading.groups.rows =
        64; /* totals are of all: samples are not asked for */
    return pythia_groups_create(p->reading.vocabulary, &p->reading.groups, &p->groups);
}

static int add_to_profile(void *context, const struct pythia_trace *trace)
{
    struct profiling *p = context;
    return p->spans ? pythia__span_profile_add(p->spans, trace)
                    : pythia_groups_add(p->groups, trace);
}

static int add_up(struct profiling *p)
{
    const struct pythia_cct *cct = pythia_groups_cct(p->groups);
    const struct pythia_edge_total *totals = pythia_groups_edge_totals(p->groups);
    p->paths = pythia_calloc(pythia_cct_nodes(cct), sizeof(*p->paths));
    if (!p->paths)
        return PYTHIA_ENOMEM;
    for (uint32_t e = 0; e < pythia_cct_edges(cct); e++) {
        const struct pythia_edge *edge = pythia_cct_edge_at(cct, e);
        p->paths[edge->context].exclusive_ns += totals[e].time_ns;
        if (edge->from_event == PYTHIA_EVENT_START) /* each visit leaves its start once */
            p->paths[edge->context].visits += totals[e].visits;
        for (uint32_t node = edge->context; node != PYTHIA_NONE;
             node = pythia_cct_parent(cct, node))
            p->paths[node].inclusive_ns += totals[e].time_ns;
    }
    return PYTHIA_OK;
}

static uint64_t make_path_key(const struct profiling *p, uint32_t node)
{
    const struct callpath *path = &p->paths[node];
    return p->s->by == 0 ? path->exclusive_ns : p->s->by == 1 ? path->inclusive_ns : path->visits;
}

/* Nodes come in order of name, and the sort is stable: ties stay so. */
static bool has_more(const void *context, uint32_t a, uint32_t b)
{
    return make_path_key(context, a) > make_path_key(context, b);
}

static void add_path_context(const struct profiling *p, uint32_t node, struct pythia_buf *to)
{
    const struct pythia_cct *cct = pythia_groups_cct(p->groups);
    uint32_t chain[64];
    size_t depth = 0;
    bool cut = false;
    for (; node != PYTHIA_CCT_ROOT; node = pythia_cct_parent(cct, node)) {
        if (depth == sizeof(chain) / sizeof(chain[0])) {
            cut = true;
            break;
        }
        chain[depth++] = pythia_cct_tracepoint(cct, node);
    }
    pythia_buf_puts(to, cut ? "... > " : depth ? "" : "(between the roots)");
    while (depth-- > 0) {
        pythia_shown_add(to, pythia_vocabulary_tracepoint_id(p->reading.vocabulary, chain[depth]),
                         SIZE_MAX);
        pythia_buf_puts(to, depth ? " > " : "");
    }
}

static int print_profile(struct profiling *p)
{
    const struct pythia_cct *cct = pythia_groups_cct(p->groups);
    const struct pythia_exact_moments *all = pythia_groups_moments(p->groups);
    uint32_t *nodes = NULL, count = 0;
    struct pythia_buf text = {0};
    int status = pythia_cct_sorted_nodes(cct, &nodes, &count);
    if (status != PYTHIA_OK)
        return status;
    uint32_t *scratch = pythia_calloc(count, sizeof(*scratch));
    if (!scratch) {
        pythia_free(nodes);
        return PYTHIA_ENOMEM;
    }
    pythia_sort_indexes(nodes, count, scratch, has_more, p);
    double total = (double)p->paths[PYTHIA_CCT_ROOT].inclusive_ns, requests = (double)all->weight;
    pythia__add_requests_seen(&text, all->weight, all->n);
    pythia_buf_printf(
        &text, ", %.3f s on critical paths, %u callpaths; ms and visits are means of a request\n",
        total / 1e9, count - 1);
    pythia_buf_puts(&text, "exclusive ms      %  inclusive ms      %   visits  callpath\n");
    for (uint32_t i = 0; i < count && i < (uint64_t)p->s->top; i++) {
        const struct callpath *path = &p->paths[nodes[i]];
        if (path->visits == 0 && path->exclusive_ns == 0)
            continue;
        pythia_buf_printf(&text, "%12.3f %6.2f  %12.3f %6.2f %8.2f  ",
                          (double)path->exclusive_ns / requests / 1e6,
                          total > 0 ? 100 * (double)path->exclusive_ns / total : 0,
                          (double)path->inclusive_ns / requests / 1e6,
                          total > 0 ? 100 * (double)path->inclusive_ns / total : 0,
                          (double)path->visits / requests);
        add_path_context(p, nodes[i], &text);
        pythia_buf_putc(&text, '\n');
    }
    if ((status = pythia_buf_status(&text)) != PYTHIA_OK)
        goto out;
    status = pythia__write_output(p->s->output, pythia_buf_text(&text));
out:
    pythia_buf_free(&text);
    pythia_free(scratch);
    pythia_free(nodes);
    return status;
}

static int print_spans(const struct profiling *p)
{
    struct pythia_buf text = {0};
    int status =
        pythia__span_profile_print(p->spans, p->reading.vocabulary, (size_t)p->s->top, &text);
    status = pythia__write_text(p->s->output, status, &text);
    return status;
}

static int print_paths(struct profiling *p)
{
    int status = pythia_groups_finish(p->groups);
    if (status != PYTHIA_OK || (status = add_up(p)) != PYTHIA_OK)
        return status;
    return print_profile(p);
}

static int run_profile(const void *settings, char *const *operands, int count)
{
    struct profiling p = {.s = settings};
    int code;
    int status =
        pythia__reading_begin(&p.reading, &p.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_consumer consumer = {restart_profile, add_to_profile, &p};
    if ((status = pythia__reading_run(&p.reading, &consumer)) != PYTHIA_OK)
        goto out;
    status = p.spans ? print_spans(&p) : print_paths(&p);
out:
    code = pythia__reading_exit(&p.reading, status);
    pythia_free(p.paths);
    pythia__span_profile_destroy(p.spans);
    pythia_groups_destroy(p.groups);
    pythia__reading_end(&p.reading);
    return code;
}

const struct pythia__command pythia__cmd_profile = {
    .name = "profile",
    .operands = "PATH...",
    .summary = "Show where requests spend their time, by callpath",
    .description = "Adds up the critical paths of all requests and lists the calling contexts in "
                   "which most of the time is spent: the chain of trace points, the time in the "
                   "last of them without and with its calls, and how often a request hits it.\n\n"
                   "With --by name, leaf or level it adds up the durations of all spans instead, "
                   "including spans that run in parallel, as HiQ does for its trees.",
    .examples = "# The ten callpaths with the most exclusive time\n"
                "pythia profile --top 10 datasets/openstack/contention.jsonl.zst\n"
                "# The time of each name, wherever it is called\n"
                "pythia profile --by name datasets/openstack/contention.jsonl.zst\n",
    .exits = PYTHIA__EXITS_READING,
    .see_also = "pythia-replay(1), pythia-tree(1)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_profile,
};
