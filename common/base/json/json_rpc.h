/* SPDX-License-Identifier: ISC */
/* Messages of JSON-RPC 2.0, in which protocols of others come and are answered. */
#ifndef AGENTGRAPH_BASE_JSON_JSON_RPC_H
#define AGENTGRAPH_BASE_JSON_JSON_RPC_H

#include "base/arena.h"

#include <cjson/cJSON.h>

/* Borrowed from the body. */
struct json_rpc {
	const cJSON *id; /* a string or an integer; NULL: a notification */
	const char *method;
	const cJSON *params; /* an object, or NULL */
};

/* Its id, where that can be one; else NULL.  body may be anything. */
const cJSON *json_rpc_id(const cJSON *body);

/* Reads one.  What makes it none, as a sentence without a point; or NULL. */
const char *json_rpc_read(const cJSON *body, struct json_rpc *request);

/* {"jsonrpc", "id"} of a response, or of a notification, where id is NULL; in the arena. */
cJSON *json_rpc_message(struct arena *a, const cJSON *id);

#endif
