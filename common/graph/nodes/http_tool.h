/* SPDX-License-Identifier: ISC */
/*
 * Tools that are requests over HTTP.
 *
 * Names in {{ }} stand for members of the arguments ({{city}}, {{place.lat}}).  In the URL their
 * values are percent-encoded, and none may stand before its path, so that arguments decide nothing
 * about where a request goes.  A member that is missing is empty in texts; a query member or body
 * member that is nothing but such a name is left out.  Objects and arrays become their JSON.
 *
 * The answer is the result, as JSON when it is that, else as text; a status of 300 and above is an
 * error result that names it.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_HTTP_TOOL_H
#define AGENTGRAPH_GRAPH_NODES_HTTP_TOOL_H

#include "agentgraph.h"
#include "base/http/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TOOL_TIMEOUT_MS 300000    /* the default, and the most (doc/protocol-runs.md#invoke) */
#define HTTP_TOOL_MAX_OUTPUT (1 << 20) /* the default: a result is read by a model */

struct template;

struct http_tool {
	struct template *url;
	const char *method;          /* lives in the document; NULL: GET, or POST with a body */
	struct http_header *headers; /* malloc'd */
	size_t header_count;
	const cJSON *query; /* lives in the document, as does body; or NULL */
	const cJSON *body;  /* the text "arguments" stands for all of them */
	int64_t timeout_ms;
	size_t max_output;
};

/* Whether no name stands in the scheme, host or port of url, which is http or https. */
bool http_tool_url_fits(const char *url);

/* The function of such a tool (ag_tool_fn); data is its struct http_tool. */
ag_result http_tool(ag_run *run, const cJSON *args, cJSON **output, void *data);

/* Frees tool and what it owns. */
void http_tool_free(void *tool);

#endif
