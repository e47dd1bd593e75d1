/* The table of tools. */
#ifndef PYTHIA_MCP_TOOLS_H
#define PYTHIA_MCP_TOOLS_H

#include <jansson.h>

#include "pythia/mcp.h"

/* The result of tools/list. */
json_t *pythia__mcp_tools_list(bool changes);

/* The route for the parameters of tools/call: path and body of *out. NULL, or why they are
 * wrong. */
const char *pythia__mcp_tools_route(const json_t *parameters, bool changes,
                                    struct pythia_mcp_call *out);

#endif
