/* SPDX-License-Identifier: ISC */
/*
 * Live agents: what a graph keeps of one, and what the service hears from its provider.
 *
 * A live graph has one live agent, to which START leads, and tools nodes.  It is never run by the
 * engine (run.h): service/live/live.h serves it.
 */
#ifndef AGENTGRAPH_GRAPH_LIVE_LIVE_H
#define AGENTGRAPH_GRAPH_LIVE_LIVE_H

#include "agentgraph.h"
#include "graph/graph.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* A live agent as it was compiled. */
struct live_agent {
	const struct ag_live_provider *provider;
	void *data;
	char *model, *voice, *system_prompt; /* or NULL */
	bool text;
	char *tools_name;         /* name of the tools node, or NULL */
	const struct node *tools; /* that node, once compiled */
	const char *const *tags;  /* ends with NULL; NULL: all tools */
	cJSON *vad;               /* an object */
};

/* A copy of live; its mistakes go to the graph's problems, and the result is never NULL. */
struct live_agent *live_agent_new(ag_graph *graph, const char *name, const struct ag_live *live);
void live_agent_free(struct live_agent *agent);

/* Finds the graph's live agent and checks what a graph with one may have; mistakes go to
 * graph->problems. */
void live_compile(ag_graph *graph);

/* Whether value is a fit voice-activity setting of that name; *expected says what would be, and is
 * NULL where only a provider may know the name. */
bool live_vad_fits(const char *name, const cJSON *value, const char **expected);

/* The provider that documents call by that name, or NULL; and the names of all, "demo, …". */
const struct ag_live_provider *live_provider(const char *name);
const char *live_provider_names(void);

/* The one that comes with the library (builtin:live-demo). */
extern const struct ag_live_provider live_demo_provider;

enum live_event_kind {
	LIVE_READY,
	LIVE_AUDIO,
	LIVE_INPUT_TRANSCRIPT,
	LIVE_OUTPUT_TRANSCRIPT,
	LIVE_TOOL_CALL,
	LIVE_TURN_COMPLETE,
	LIVE_INTERRUPTED,
	LIVE_SESSION_UPDATE,
	LIVE_GO_AWAY,
	LIVE_AGENT_CHANGED,
	LIVE_ERROR,
	LIVE_LOST,
	LIVE_ENDED
};

/* What a provider reported.  Texts are UTF-8 and valid during the call. */
struct live_event {
	enum live_event_kind kind;
	/* a transcript, handle or author, what went wrong, or the name of a tool */
	const char *text;
	const char *id; /* id of a tool call, or code of an error; or NULL */
	cJSON *args;    /* of a tool call: an object, taken over by who handles the event */
	bool flag;      /* of a transcript: it is finished; of an error: it is fatal */
	double seconds; /* of LIVE_GO_AWAY; below 0: unknown */
	const void *pcm;
	size_t bytes;
};

/* Who opens a connection embeds this in what it keeps of it. */
struct ag_live_session {
	void (*event)(ag_live_session *session, const struct live_event *event);
};

#endif
