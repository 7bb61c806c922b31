/* SPDX-License-Identifier: ISC */
/*
 * A message of a host (doc/protocol-mcp.md#messages): what it is, in which version of the protocol,
 * and what is wrong with it.
 */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_REQUEST_H
#define AGENTGRAPH_SERVICE_MCP_MCP_REQUEST_H

#include "service/mcp/mcp_service.h"
#include "tool/mcp/mcp_version.h"

struct mcp_request {
	const cJSON *id; /* NULL: a notification */
	const char *method;
	const cJSON *params; /* an object, or NULL */
	const cJSON *meta;   /* an object, or NULL */
	const struct mcp_version *version;
};

/* Reads a message and its headers; false with the fault in call->error. */
bool mcp_request_read(struct call *call, const struct mcp_post *post, struct mcp_request *rq);

/*
 * Sets an error of the protocol; always false.  Hosts of the versions with a handshake expect
 * errors of a method in an answer with status 200; those of the stateless one expect a status for
 * each error, which is also used while the version is not known and rq->version is NULL.
 */
bool mcp_fault(struct call *call, const struct mcp_request *rq, enum mcp_code code, const char *fmt,
    ...) __attribute__((format(printf, 4, 5)));

#endif
