/* SPDX-License-Identifier: ISC */
/* The agent as a tool (doc/protocol-mcp.md#the-tool): how it is listed, and what its arguments
 * mean. */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_OFFER_H
#define AGENTGRAPH_SERVICE_MCP_MCP_OFFER_H

#include "service/run/run_input.h"

struct mcp_offer;

/* Makes the tool as the configuration says, which must outlive it.  A mistake in the schema of the
 * arguments is added to problems. */
struct mcp_offer *mcp_offer_new(const struct config *config, struct problems *problems);
void mcp_offer_free(struct mcp_offer *offer); /* NULL is fine */

const char *mcp_offer_name(const struct mcp_offer *offer);

/* The tool as tools/list shows it; borrowed. */
const cJSON *mcp_offer_tool(const struct mcp_offer *offer);

/* Brings arguments, an object, into the shape of a run; false with the mistake in call->error. */
bool mcp_offer_read(struct call *call, const cJSON *arguments, struct run_input *in);

#endif
