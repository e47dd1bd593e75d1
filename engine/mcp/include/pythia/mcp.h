/* A server of the Model Context Protocol (revision 2025-06-18), without its transport: messages of
 * JSON-RPC 2.0 come in, and answers go out. Each tool is one route of pythiad's control interface,
 * which the caller asks:
 *
 *   message ──pythia_mcp_take──> answer, or nothing, or a call ──(caller asks the route)──
 *   pythia_mcp_result──> answer */
#ifndef PYTHIA_MCP_H
#define PYTHIA_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"

#define PYTHIA_MCP_MESSAGE_MAX ((size_t)1 << 20) /* bytes; none that a client sends is near it */
#define PYTHIA_MCP_ANSWER_MAX  200000            /* bytes: what an assistant can read at once */

/* A route that has to be asked. */
struct pythia_mcp_call {
    char path[64]; /* with its query */
    char *body;    /* posted; NULL: GET */
    char *id;      /* of the message, as JSON */
};

enum pythia_mcp_step {
    PYTHIA_MCP_SILENCE, /* a notification: there is no answer */
    PYTHIA_MCP_ANSWER,
    PYTHIA_MCP_CALL,
};

/* Take a message. `changes`: offer the tools that open and close trace points, too. Appends the
 * answer to `answer` (one line without its end), or fills *call, whose texts are owned by the
 * caller until pythia_mcp_result or _fail. What is no message gets an answer that says so. */
enum pythia_mcp_step pythia_mcp_take(const char *bytes, size_t size, bool changes,
                                     struct pythia_mcp_call *call, struct pythia_buf *answer);

/* Append the answer to a call, from what the route said: its status of HTTP and body. Text out of
 * traces is marked as data. Frees the call. */
void pythia_mcp_result(struct pythia_mcp_call *call, long status, const char *bytes, size_t size,
                       struct pythia_buf *answer);
/* As above, if the route gave no answer: `why` says what to do. */
void pythia_mcp_fail(struct pythia_mcp_call *call, const char *why, struct pythia_buf *answer);

/* Is that a revision of the protocol that is spoken here? */
bool pythia_mcp_knows(const char *revision);

#endif
