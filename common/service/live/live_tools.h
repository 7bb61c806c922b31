/* SPDX-License-Identifier: ISC */
/* Tool calls of a live session: each on a thread of its own, so that none holds up the audio. */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_TOOLS_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_TOOLS_H

#include "service/service.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define LIVE_TOOLS_MOST 16 /* calls at a time; more are refused, which the model is told */

struct live_tools;

/* What the tools of one session see.  All of it outlives the calls. */
struct live_tools_setup {
	struct service *service;
	const struct node *node; /* with the tools */
	const struct thread *thread;
	const cJSON *config;
	const char *request_id;
	int wake; /* an eventfd, written when a call has ended */
};

struct tool_done {
	struct tool_done *next;
	char *id, *name;
	unsigned epoch; /* as given to live_tools_start */
	cJSON *output;
	bool is_error;
};

/* Nothing runs yet; setup is copied, and what it points to lives as long. */
struct live_tools *live_tools_new(const struct live_tools_setup *setup);

/* Asks the calls that go on to stop, and waits for them for up to wait_ms.  False when one goes on
 * all the same: it then still uses the setup, and the memory of this is never given back. */
bool live_tools_free(struct live_tools *tools, int64_t wait_ms);

/* Calls a tool; args is taken over.  What comes of it is among those that are taken later. */
void live_tools_start(
    struct live_tools *tools, const char *id, const char *name, cJSON *args, unsigned epoch);

/* The same for one that is not to be made. */
void live_tools_refuse(struct live_tools *tools, const char *id, const char *name, unsigned epoch);

/* A call that has ended, which the caller frees, or NULL. */
struct tool_done *live_tools_take(struct live_tools *tools);
void tool_done_free(struct tool_done *done);

/* Asks the calls that go on to stop. */
void live_tools_stop(struct live_tools *tools);

/* Calls whose end was not taken yet. */
size_t live_tools_open(struct live_tools *tools);

#endif
