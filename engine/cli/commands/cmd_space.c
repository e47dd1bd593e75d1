#include <inttypes.h>
#include <stddef.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/space_traces.h"

/* ---- space build ---- */

struct build_settings {
    struct pythia__read_settings read;
    const char *output;
};

static const struct pythia_option build_options[] = {
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct build_settings, output),
                       "Write the search space to a file (default standard output)"),
    {0},
};

static int run_build(const void *settings, char *const *operands, int count)
{
    const struct build_settings *s = settings;
    struct pythia__reading reading = {0};
    struct pythia_space *space = NULL;
    struct pythia_buf text = {0};
    int code;
    int status = pythia__reading_begin(&reading, &s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK ||
        (status = pythia_space_create(reading.vocabulary, &space)) != PYTHIA_OK ||
        (status = pythia__space_from_traces(&reading, space)) != PYTHIA_OK ||
        (status = pythia_space_file_write(space, &text)) != PYTHIA_OK)
        goto out;
    status = pythia__write_output(s->output, pythia_buf_text(&text));
out:
    code = pythia__reading_exit(&reading, status);
    pythia_buf_free(&text);
    pythia_space_destroy(space);
    pythia__reading_end(&reading);
    return code;
}

const struct pythia__command pythia__cmd_space_build = {
    .name = "space build",
    .operands = "PATH...",
    .summary = "Make a search space from fully instrumented traces",
    .description = "Reads traces that were taken with every trace point open and records which "
                   "trace points there are, in which calling contexts, and which event follows "
                   "which on critical paths. With that, pythia replay --space can predict what a "
                   "closed trace point would show. The file grows with the number of calling "
                   "contexts, not of traces.",
    .examples =
        "# The search space of a capture\n"
        "pythia space build --output openstack.space datasets/openstack/baseline.jsonl.zst\n",
    .exits = PYTHIA__EXITS_READING,
    .see_also = "pythia-space-show(1), pythia-replay(1), pythiad(8)",
    .options = build_options,
    .read_offset = offsetof(struct build_settings, read),
    .settings_size = sizeof(struct build_settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_build,
};

/* ---- space show ---- */

struct show_settings {
    bool skeleton;
    const char *output;
};

static const struct pythia_option show_options[] = {
    PYTHIA_FLAG("skeleton", 0, offsetof(struct show_settings, skeleton),
                "List only the trace points of the skeleton, one per line, as pythia replay "
                "--open takes them"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct show_settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

/* The nodes of a tree in the order of their names are the tree, printed from its root. */
static int show_type(const struct pythia_space *space, const struct pythia_space_type *t,
                     struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(space);
    uint32_t *order = NULL, count = 0;
    int status = pythia_cct_sorted_nodes(t->cct, &order, &count);
    if (status != PYTHIA_OK)
        return status;
    pythia_shown_add(out, pythia_vocabulary_text(v, t->name), SIZE_MAX);
    pythia_buf_printf(
        out,
        "\n%" PRIu64
        " requests, %u contexts; calls and time on the critical path are means of a request\n",
        t->requests, count - 1);
    double requests = t->requests ? (double)t->requests : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (order[i] == PYTHIA_CCT_ROOT)
            continue;
        const struct pythia_space_node *n = &t->nodes[order[i]];
        pythia_buf_printf(out, "%8.2f calls %10.3f ms  %*s", (double)n->calls / requests,
                          (double)n->time_ns / requests / 1e6,
                          2 * ((int)pythia_cct_depth(t->cct, order[i]) - 1), "");
        pythia_shown_add(
            out, pythia_vocabulary_tracepoint_id(v, pythia_cct_tracepoint(t->cct, order[i])),
            SIZE_MAX);
        pythia_buf_printf(out, "%s%s%s\n", n->root ? "  [root]" : "", n->entry ? "  [entry]" : "",
                          pythia_space_node_outlives(n) ? "  [outlives its parent]" : "");
    }
    pythia_buf_putc(out, '\n');
    pythia_free(order);
    return pythia_buf_status(out);
}

/* The counts come first because the trees below them fill many screens. */
static int show_all(const struct pythia_space *space, struct pythia_buf *out)
{
    size_t count, points = 0, kept = 0;
    const struct pythia_space_type *types = pythia_space_types(space, &count);
    bool *skeleton = pythia_space_skeleton(space), *all = pythia_space_points(space);
    int status = PYTHIA_ENOMEM;
    if (!skeleton || !all)
        goto out;
    for (uint32_t i = 0; i < pythia_vocabulary_tracepoints(pythia_space_vocabulary(space)); i++) {
        points += all[i];
        kept += skeleton[i];
    }
    pythia_buf_printf(out,
                      "%zu request type%s, %zu trace points, %zu of them in the skeleton (marked "
                      "in brackets)\n\n",
                      count, count == 1 ? "" : "s", points, kept);
    for (size_t i = 0; i < count; i++)
        if ((status = show_type(space, &types[i], out)) != PYTHIA_OK)
            goto out;
    status = PYTHIA_OK;
out:
    pythia_free(skeleton);
    pythia_free(all);
    return status;
}

static int show_skeleton(const struct pythia_space *space, struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(space);
    bool *skeleton = pythia_space_skeleton(space);
    for (uint32_t i = 0; skeleton && i < pythia_vocabulary_tracepoints(v);
         i++) /* a file lists them in order of name */
        if (skeleton[i]) {
            pythia_buf_text_add(out, pythia_vocabulary_tracepoint_id(v, i));
            pythia_buf_putc(out, '\n');
        }
    bool made = skeleton != NULL;
    pythia_free(skeleton);
    return made ? pythia_buf_status(out) : PYTHIA_ENOMEM;
}

static int run_space_show(const void *settings, char *const *operands, int count)
{
    (void)count;
    const struct show_settings *s = settings;
    struct pythia_vocabulary *vocabulary = NULL;
    struct pythia_space *space = NULL;
    struct pythia_buf text = {0};
    struct pythia_error why = {0};
    int status = pythia_vocabulary_create(&vocabulary);
    if (status != PYTHIA_OK || (status = pythia_space_create(vocabulary, &space)) != PYTHIA_OK ||
        (status = pythia_space_file_read(operands[0], space, &why)) != PYTHIA_OK)
        goto out;
    status = s->skeleton ? show_skeleton(space, &text) : show_all(space, &text);
    status = pythia__write_text(s->output, status, &text);
out:
    if (why.status != PYTHIA_OK) {
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    } else if (status == PYTHIA_ENOMEM) {
        pythia__fail(status);
    }
    pythia_space_destroy(space);
    pythia_vocabulary_destroy(vocabulary);
    return status == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}

const struct pythia__command pythia__cmd_space_show = {
    .name = "space show",
    .operands = "FILE",
    .summary = "Show a search space",
    .description = "Prints the calling contexts of each request type as a tree, with calls and "
                   "time, and marks the skeleton: the trace points without which a request could "
                   "not be seen at all. These are roots, entry points of services, and points "
                   "whose spans outlive their parents.",
    .examples = "# Which trace points could be opened, and which are the skeleton\n"
                "pythia space show openstack.space\n"
                "# A list of open points to edit\n"
                "pythia space show --skeleton openstack.space > open.txt\n",
    .exits = PYTHIA__EXITS_ALONE,
    .see_also = "pythia-space-build(1), pythia-replay(1)",
    .options = show_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct show_settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_space_show,
};
