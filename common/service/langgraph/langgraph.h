/* SPDX-License-Identifier: ISC */
/*
 * LangGraph's protocol, over the service's own runs, threads, history and memories
 * (doc/protocol-langgraph.md).  Each function is one route: ids come percent-decoded from the path,
 * and bodies may be NULL.  NULL or false means that call->error is set.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LANGGRAPH_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LANGGRAPH_H

#include "service/langgraph/lg_values.h"

cJSON *lg_ok(struct call *call);
cJSON *lg_info(struct call *call);

/* The body of an answer with an error, in the call's arena. */
cJSON *lg_error(struct call *call, const struct error_view *view);

/* ---- the one assistant, which is the graph ---- */

cJSON *lg_assistants(struct call *call, const cJSON *body);
cJSON *lg_assistants_count(struct call *call, const cJSON *body);
cJSON *lg_assistant(struct call *call, const char *assistant_id);
cJSON *lg_assistant_graph(struct call *call, const char *assistant_id);
cJSON *lg_assistant_schemas(struct call *call, const char *assistant_id);

/* ---- threads: a struct lg_reply has values that are read while it is sent ---- */

bool lg_thread_create(struct call *call, const cJSON *body, struct lg_reply *reply);
bool lg_thread_read(struct call *call, const char *thread_id, struct lg_reply *reply);
bool lg_thread_update(
    struct call *call, const char *thread_id, const cJSON *body, struct lg_reply *reply);
bool lg_thread_remove(struct call *call, const char *thread_id);
/* Deletes those of several threads that exist; returns {"pruned_count"}. */
cJSON *lg_threads_prune(struct call *call, const cJSON *body);
bool lg_thread_copy(struct call *call, const char *thread_id, struct lg_reply *reply);
bool lg_threads_search(struct call *call, const cJSON *body, struct lg_reply *reply);
cJSON *lg_threads_count(struct call *call, const cJSON *body);

/* ---- states ---- */

/* checkpoint_id NULL: the state as it is now. */
bool lg_state_read(
    struct call *call, const char *thread_id, const char *checkpoint_id, struct lg_reply *reply);
/* The state at the checkpoint that the body names. */
bool lg_state_named(
    struct call *call, const char *thread_id, const cJSON *body, struct lg_reply *reply);
cJSON *lg_state_update(struct call *call, const char *thread_id, const cJSON *body);
bool lg_history(
    struct call *call, const char *thread_id, const cJSON *body, struct lg_reply *reply);

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct lg_history_query {
	const char *limit, *before;
};
bool lg_history_by_query(struct call *call, const char *thread_id,
    const struct lg_history_query *query, struct lg_reply *reply);

#endif
