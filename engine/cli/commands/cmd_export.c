#include <stddef.h>
#include <string.h>

#include "export_shares.h"
#include "pythia/critical_path.h"
#include "pythia/export.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/output.h"

struct settings {
    struct pythia__read_settings read;
    int to;
    int64_t traces;
    const char *output;
    bool shares;
};

static const struct pythia_option options[] = {
    PYTHIA_CHOICE("to", 't', "chrome|dot|folded|zipkin", "chrome", offsetof(struct settings, to),
                  "Format: chrome (Perfetto), dot (Graphviz), folded (flame graphs) or zipkin"),
    PYTHIA_INTEGER("traces", 0, "N", "0", 0, 1e12, offsetof(struct settings, traces),
                   "Write only the first N complete traces; 0: all"),
    PYTHIA_FLAG(
        "shares", 's', offsetof(struct settings, shares),
        "Colour spans on critical paths by the share of the latency variance that their trace "
        "points account for, and show it as a counter; only for chrome. Reads the input twice"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

#define PIECE_BYTES ((size_t)1024 * 1024)

struct exporting {
    const struct settings *s;
    struct pythia__reading reading;
    const struct pythia_export_ops *ops;
    struct pythia_export_state state;
    struct pythia_critical_path path;
    struct pythia_buf piece;              /* made, not yet written */
    struct pythia__export_shares *shares; /* NULL: not asked for */
    struct pythia__output output;
};

static int write_piece(struct exporting *x)
{
    int status = pythia_buf_status(&x->piece);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__output_add(&x->output, pythia_buf_text(&x->piece));
    pythia_buf_clear(&x->piece);
    return status;
}

static int begin_export(void *context)
{
    struct exporting *x = context;
    pythia_buf_clear(&x->piece);
    x->state = (struct pythia_export_state){.vocabulary = x->reading.vocabulary};
    x->ops->begin(&x->state, &x->piece);
    return pythia__output_restart(&x->output);
}

static int export_trace(void *context, const struct pythia_trace *trace)
{
    struct exporting *x = context;
    if (x->s->traces > 0 && x->state.traces >= (uint64_t)x->s->traces)
        return PYTHIA_OK;
    int status = pythia_critical_path_find(&x->path, trace, x->reading.groups.latency);
    if (status != PYTHIA_OK)
        return status;
    if (x->shares)
        x->state.shares = pythia__export_shares_of(x->shares, trace, &x->state.share_count);
    x->ops->trace(&x->state, trace, &x->path, &x->piece);
    return x->piece.size < PIECE_BYTES ? pythia_buf_status(&x->piece) : write_piece(x);
}

static int export_all(struct exporting *x)
{
    struct pythia_consumer consumer = {begin_export, export_trace, x};
    int status = pythia__reading_run(&x->reading, &consumer);
    if (status != PYTHIA_OK)
        return status;
    x->ops->end(&x->state, &x->piece);
    return write_piece(x);
}

static int refuse_shares(void)
{
    pythia_log(PYTHIA_LOG_ERROR, "--shares requires --to chrome");
    return PYTHIA_EUSAGE;
}

/* The output is opened only after shares are learnt, which may fail, so that an older file stays
 * as it is. */
static int run_export_command(const void *settings, char *const *operands, int count)
{
    struct exporting x = {.s = settings};
    size_t formats;
    x.ops = pythia_exports(&formats)[x.s->to];
    int code;
    int status =
        pythia__reading_begin(&x.reading, &x.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK)
        goto out;
    if (x.s->shares && strcmp(x.ops->name, "chrome") != 0)
        status = refuse_shares();
    else if (x.s->shares)
        status = pythia__export_shares_learn(&x.reading, &x.shares);
    if (status != PYTHIA_OK)
        goto out;
    if ((status = pythia__output_begin(&x.output, x.s->output)) != PYTHIA_OK) {
        pythia__output_end(&x.output, status);
        goto out;
    }
    status = pythia__output_end(&x.output, export_all(&x));
out:
    code = pythia__reading_exit(&x.reading, status);
    pythia__export_shares_destroy(x.shares);
    pythia_critical_path_free(&x.path);
    pythia_buf_free(&x.piece);
    pythia__reading_end(&x.reading);
    return code;
}

const struct pythia__command pythia__cmd_export = {
    .name = "export",
    .operands = "PATH...",
    .summary = "Write traces in the format of another tool",
    .description = "Reads traces in any format that pythia replay reads and writes them, repaired "
                   "and complete, for Perfetto, Graphviz, flame graph tools or Zipkin. The "
                   "critical path is marked where the format allows it.",
    .examples =
        "# Look at requests in Perfetto\n"
        "pythia export --to chrome --traces 20 --output requests.json "
        "datasets/openstack/contention.jsonl.zst\n"
        "# The same, coloured by what accounts for the variance of their latency\n"
        "pythia export --to chrome --shares --traces 20 --output requests.json "
        "datasets/openstack/contention.jsonl.zst\n"
        "# A flame graph of all critical paths\n"
        "pythia export --to folded datasets/openstack/contention.jsonl.zst > paths.folded\n",
    .exits = PYTHIA__EXITS_READING,
    .see_also = "pythia-replay(1), pythia-profile(1)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_export_command,
};
