/* SPDX-License-Identifier: ISC */
/* The first frame of a live socket: what the client asks of the agent
 * (doc/protocol-live.md#the-first-frame). */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_CONFIG_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_CONFIG_H

#include "graph/live/live.h"
#include "service/service.h"

struct live_config {
	const char *thread_id;                     /* NULL: a new one */
	const char *model, *voice, *system_prompt; /* the client's, or the agent's, or NULL */
	bool text;
	const cJSON *vad;   /* the agent's with the client's over it */
	const cJSON *tools; /* for the provider: those that it may call */
};

enum live_init {
	LIVE_INIT_OK,
	LIVE_INIT_NO_OBJECT, /* close 1003 */
	LIVE_INIT_INVALID    /* invalid_config; call->error says why */
};

/* Reads the frame over the settings of the service's live agent.  What config points to lives as
 * long as call. */
enum live_init live_config_read(
    struct call *call, const char *text, size_t len, struct live_config *config);

/* The tool that the model may call by that name, or NULL. */
const struct tool *live_config_tool(
    const struct live_config *config, const struct live_agent *agent, const char *name);

#endif
