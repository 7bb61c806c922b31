/* SPDX-License-Identifier: ISC */
/* Messages of JSON-RPC 2.0, which some protocols are made of. */
#ifndef AGENTGRAPH_BASE_JSON_JSON_RPC_H
#define AGENTGRAPH_BASE_JSON_JSON_RPC_H

#include "base/arena.h"

#include <cjson/cJSON.h>

/* A request or a notification; borrowed from the body. */
struct json_rpc {
	const cJSON *id; /* a string or an integer; NULL: a notification */
	const char *method;
	const cJSON *params; /* an object, or NULL */
};

/* The id of a message, if it is a valid one; else NULL.  body may be anything. */
const cJSON *json_rpc_id(const cJSON *body);

/* Reads a message.  Returns NULL, or what is wrong with it, as a sentence without a full stop. */
const char *json_rpc_read(const cJSON *body, struct json_rpc *request);

/* {"jsonrpc", "id"} of a response, or of a notification, where id is NULL; in the arena. */
cJSON *json_rpc_message(struct arena *a, const cJSON *id);

#endif
