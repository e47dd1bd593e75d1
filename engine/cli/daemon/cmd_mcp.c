/* `pythia mcp`: the Model Context Protocol (mcp.h) on standard input and output, in front of a
 * pythiad. A message is a line of JSON-RPC 2.0; each request gets one line. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pythia/mcp.h"
#include "pythia/status.h"
#include "shared/ask_daemon.h"
#include "shared/command.h"

struct settings {
    struct pythia__daemon_settings daemon;
    bool allow_changes;
    double timeout_s;
};

static const struct pythia_option options[] = {
    PYTHIA__DAEMON_OPTIONS(offsetof(struct settings, daemon)),
    PYTHIA_FLAG("allow-changes", 0, offsetof(struct settings, allow_changes),
                "Also offer the tools that open and close trace points; pythiad still requires "
                "the control role"),
    PYTHIA_REAL("timeout-seconds", 0, "S", "10", .1, 3600, offsetof(struct settings, timeout_s),
                "Longest wait for pythiad"),
    {0},
};

/* Write the answer as a line. False: the client is gone, or there is no memory. */
static bool write_line(const struct pythia_buf *answer)
{
    return pythia_buf_status(answer) == PYTHIA_OK && puts(answer->bytes) >= 0 &&
           fflush(stdout) == 0;
}

static void ask_route(const struct settings *s, struct pythia_mcp_call *call,
                      struct pythia_buf *answer)
{
    struct pythia_web_answer said = {0};
    int status = pythia__ask_daemon(&s->daemon, call->path, call->body, s->timeout_s, true, &said);
    if (status == PYTHIA_OK)
        pythia_mcp_result(call, said.status, said.body.bytes ? said.body.bytes : "", said.body.size,
                          answer);
    else
        pythia_mcp_fail(call,
                        "pythiad does not answer: is it running? pythia mcp --address names its "
                        "address",
                        answer);
    pythia_buf_free(&said.body);
}

static bool handle_rpc_line(const struct settings *s, const char *line, size_t size)
{
    struct pythia_mcp_call call;
    struct pythia_buf answer = {0};
    if (line[strspn(line, " \t\r\n")] == '\0' && strlen(line) == size)
        return true;
    enum pythia_mcp_step step = pythia_mcp_take(line, size, s->allow_changes, &call, &answer);
    if (step == PYTHIA_MCP_CALL)
        ask_route(s, &call, &answer);
    bool done = step == PYTHIA_MCP_SILENCE || write_line(&answer);
    pythia_buf_free(&answer);
    return done;
}

/* A line at most PYTHIA_MCP_MESSAGE_MAX + 1 bytes long is kept; the rest of a longer one is
 * skipped. Returns its size without the newline, or -1 at the end. */
static ptrdiff_t read_line(struct pythia_buf *line)
{
    int c = EOF;
    pythia_buf_clear(line);
    while ((c = getchar()) != EOF && c != '\n')
        if (line->size <= PYTHIA_MCP_MESSAGE_MAX)
            pythia_buf_putc(line, (char)c);
    return c == EOF && line->size == 0 ? -1 : (ptrdiff_t)line->size;
}

static int run_mcp(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct pythia_buf line = {0};
    (void)operands;
    (void)count;
    for (ptrdiff_t size; (size = read_line(&line)) >= 0;)
        if (!handle_rpc_line(s, line.bytes ? line.bytes : "", (size_t)size))
            break;
    int code = pythia_buf_status(&line) == PYTHIA_OK && !ferror(stdout) ? PYTHIA__EXIT_DONE
                                                                        : PYTHIA__EXIT_FAILED;
    pythia_buf_free(&line);
    return code;
}

const struct pythia__command pythia__cmd_mcp = {
    .name = "mcp",
    .operands = "",
    .summary = "Let an assistant query a running pythiad (Model Context Protocol)",
    .description =
        "A server of the Model Context Protocol on standard input and output: an assistant starts "
        "it (the command pythia with the argument mcp) and queries a running pythiad through it. "
        "Its tools are verdicts, report, groups, points, decisions, status and plan, which are "
        "read-only. --allow-changes adds open, close and unpin, for which pythiad still requires "
        "the control role (pythiad(8)).\n\n"
        "An answer has at most 200 KB; it says what was left out. Names and values in answers "
        "come from the traced programs; a notice before each answer marks them as data. The "
        "server ends when its input does. An assistant that speaks HTTP needs no server of its "
        "own: pythiad accepts the same messages at POST /mcp (pythiad(8)).",
    .examples = "# List the tools by hand\n"
                "printf '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}\\n"
                "' | pythia mcp\n",
    .exits = PYTHIA__EXITS_ALONE,
    .see_also = "pythia-ctl(1), pythiad(8)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = 0,
    .run = run_mcp,
};
