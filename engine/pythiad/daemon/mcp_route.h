/* The Model Context Protocol (mcp.h) over HTTP. */
#ifndef PYTHIA_PYTHIAD_MCP_ROUTE_H
#define PYTHIA_PYTHIAD_MCP_ROUTE_H

#include "listen/http_server.h"

/* POST /mcp, by the transport "streamable HTTP": a message, answered with JSON. No stream is
 * offered, and no session kept. Whoever has the control role is offered the tools that change
 * something. */
void pythia__mcp_handle(void *context, struct pythia__http_exchange *x);

#endif
