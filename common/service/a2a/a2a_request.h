/* SPDX-License-Identifier: ISC */
/* A message of JSON-RPC (doc/protocol-a2a.md#messages): its method, in which version of the
 * protocol, and what is wrong with it. */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_REQUEST_H
#define AGENTGRAPH_SERVICE_A2A_A2A_REQUEST_H

#include "service/a2a/a2a_service.h"

#define A2A_LATEST "1.0"
#define A2A_OLD "0.3" /* the version of a request that names none */

enum a2a_code {
	A2A_PARSE_ERROR = -32700,
	A2A_INVALID_REQUEST = -32600,
	A2A_METHOD_NOT_FOUND = -32601,
	A2A_INVALID_PARAMS = -32602,
	A2A_INTERNAL_ERROR = -32603,
	A2A_TASK_NOT_FOUND = -32001,
	A2A_TASK_NOT_CANCELABLE = -32002,
	A2A_PUSH_NOT_SUPPORTED = -32003,
	A2A_UNSUPPORTED_OPERATION = -32004,
	A2A_CONTENT_TYPE = -32005,
	A2A_NO_EXTENDED_CARD = -32007,
	A2A_VERSION_NOT_SUPPORTED = -32009
};

struct a2a_request {
	const cJSON *id; /* NULL: a notification */
	const char *method;
	const cJSON *params; /* an object, or NULL */
	bool old;            /* the request is of version 0.3 */
};

/* Reads a request; false with the fault in call->error. */
bool a2a_request_read(struct call *call, const struct a2a_post *post, struct a2a_request *rq);

/* Reads the version that a header names; false with the fault set. */
bool a2a_version_read(struct call *call, const char *version, bool *old);

/* Sets an error of the protocol; always false. */
bool a2a_fault(struct call *call, enum a2a_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets what must hold for a member of params, such as "message.parts[0]"; always false. */
bool a2a_wrong(struct call *call, const char *member, const char *must);

#endif
