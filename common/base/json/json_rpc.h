/* SPDX-License-Identifier: ISC */
/* Requests of JSON-RPC 2.0, as protocols of others bring them. */
#ifndef AGENTGRAPH_BASE_JSON_JSON_RPC_H
#define AGENTGRAPH_BASE_JSON_JSON_RPC_H

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

#endif
