#include "mcp_route.h"

#include "pythia/mcp.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define JSON_TYPE "application/json"

/* The answer of the route that a tool is, as the result of the call. */
static char *wrap_result(void *context, unsigned status, const char *bytes, size_t *size)
{
    struct pythia_mcp_call *call = context;
    struct pythia_buf answer = {0};
    pythia_mcp_result(call, (long)status, bytes, *size, &answer);
    pythia_free(call);
    if (pythia_buf_status(&answer) != PYTHIA_OK)
        pythia_buf_free(&answer);
    *size = answer.size;
    return answer.bytes;
}

static void answer_message(struct pythia__http_exchange *x, struct pythia_buf *answer)
{
    if (pythia_buf_status(answer) == PYTHIA_OK) {
        pythia__http_answer(x, 200, JSON_TYPE, answer->bytes, answer->size);
        return;
    }
    pythia_buf_free(answer);
    pythia__http_say(x, 503, "out of memory\n");
}

/* The call is moved to memory of its own: the route may answer later. */
static void forward_call(struct pythia__http_exchange *x, const struct pythia_mcp_call *call)
{
    struct pythia_mcp_call *kept = pythia_malloc(sizeof(*kept));
    if (!kept) {
        struct pythia_mcp_call lost = *call;
        struct pythia_buf answer = {0};
        pythia_mcp_fail(&lost, "out of memory", &answer);
        answer_message(x, &answer);
        return;
    }
    *kept = *call;
    kept->body = NULL;
    pythia__http_forward(x, kept->path, call->body, wrap_result, kept);
}

void pythia__mcp_handle(void *context, struct pythia__http_exchange *x)
{
    const char *revision = pythia__http_header(x, "MCP-Protocol-Version");
    bool changes = pythia__http_has_role(x, PYTHIA__ROLE_CONTROL);
    struct pythia_mcp_call call;
    struct pythia_buf answer = {0};
    size_t size;
    const char *bytes = pythia__http_body(x, &size);
    (void)context;
    if (revision && !pythia_mcp_knows(revision)) {
        pythia__http_say(x, 400, "this revision of the protocol is not supported\n");
        return;
    }
    enum pythia_mcp_step step = pythia_mcp_take(bytes ? bytes : "", size, changes, &call, &answer);
    if (step == PYTHIA_MCP_CALL)
        forward_call(x, &call);
    else if (step == PYTHIA_MCP_SILENCE)
        pythia__http_answer(x, 202, NULL, NULL, 0);
    else
        answer_message(x, &answer);
}
