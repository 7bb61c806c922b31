/* SPDX-License-Identifier: ISC */
/*
 * How much of a conversation a model is shown: where to cut a context that has grown too long.
 *
 * Tokens are estimated, four bytes to one, because every provider counts its own way.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_WINDOW_H
#define AGENTGRAPH_GRAPH_NODES_WINDOW_H

#include <cjson/cJSON.h>
#include <stddef.h>

#define WINDOW_BYTES_PER_TOKEN 4

/* Limits of a context; 0: none of that kind. */
struct window {
	size_t max_messages;
	size_t max_tokens;
	double keep; /* the share of the limits that is left after a cut, so that cuts are rare */
};

/*
 * How many of the oldest messages have to go; 0 when the context is within its limits.  A tool's
 * result never stays without its call, nor a call without its result; where that leaves a choice,
 * what stays begins with a user message.  The last message always stays.
 */
size_t window_cut(const struct window *window, const cJSON *context);

/* Estimated tokens of one message. */
size_t window_tokens(const cJSON *message);

#endif
