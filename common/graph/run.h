/* SPDX-License-Identifier: ISC */
/*
 * The engine: one run of a graph over one thread.
 *
 * A run walks node by node, looks for a stop and the recursion limit between them, and writes a
 * checkpoint after each one in one transaction.  Who calls it holds the thread's lease, decides
 * where the run enters the graph, and hears of everything through an observer; /v1/graph/invoke and
 * /v1/graph/stream differ in their observers only.
 */
#ifndef AGENTGRAPH_GRAPH_RUN_H
#define AGENTGRAPH_GRAPH_RUN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/http/traceparent.h"
#include "base/id.h"
#include "config/config.h"
#include "graph/graph.h"
#include "storage/threads.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum run_event_kind {
	RUN_NODE_STARTS,   /* a node is about to run */
	RUN_PIECE,         /* a streamed piece of a message (delta true) */
	RUN_MESSAGE,       /* a message that joined the conversation */
	RUN_CUSTOM,        /* what a node tells of its own (ag_emit) */
	RUN_ATTEMPT_FAILS, /* an attempt of a node failed, and another one may follow */
	RUN_NODE_ENDS,     /* a node ended, the run goes on, and its checkpoint is on disk */
	RUN_SUBGRAPH_ENDS  /* the same of the node of a subgraph, whose nodes have told theirs; its
			      step is the latest of these */
};

struct run_event {
	enum run_event_kind kind;
	const char *node;
	int step;
	const cJSON *message; /* RUN_PIECE, RUN_MESSAGE */
	const char *json;     /* message as JSON; NULL where nobody has printed it, and for a
				 RUN_MESSAGE that is not stored yet */
	const char *reason;   /* RUN_NODE_ENDS: why the run goes no further, or NULL */
	const cJSON *data;    /* RUN_CUSTOM: {"name", "data"} */
	const cJSON *set;   /* at such an end, in a branch: its updates since it told some last, the
			       first of a list of objects with one member; NULL: none */
	const char *branch; /* the branch it comes from: "a", or "a/b" inside of that; NULL: none */
	bool hidden;        /* RUN_PIECE, RUN_MESSAGE: for traces, not for clients */
	bool again; /* RUN_MESSAGE: told before, hidden or by an earlier attempt of the run */
	char *traceparent; /* for a node in a branch, where to keep its own (TRACEPARENT_SIZE); else
			      NULL */
	bool cached;       /* RUN_NODE_ENDS: it did not run, its result was kept */
	const struct error *failure; /* RUN_ATTEMPT_FAILS; RUN_NODE_ENDS: why a node failed whose
					on_error follows; NULL: it ended well */
	int attempt;                 /* RUN_ATTEMPT_FAILS: its number, from 1 */
};

/*
 * Who watches a run.  A live one shows events as they happen; it keeps back what it shows until
 * settled says that the run's start is on disk, some milliseconds later at most, so that nobody
 * sees a run that a crash could undo.
 */
struct run_observer {
	bool live;
	void (*event)(struct run_observer *observer, ag_run *run, const struct run_event *event);

	/* The run's start is on disk, or could not be written.  Called from any thread, and
	 * possibly again; it must not block for long.  May be NULL. */
	void (*settled)(struct run_observer *observer, bool ok);
};

/* The event of an observer whose run nobody watches. */
void run_ignore_event(struct run_observer *observer, ag_run *run, const struct run_event *event);

/*
 * Tools that the client offers for one run and runs itself (doc/protocol-ag-ui.md#the-request),
 * beside the remote ones that tools nodes declare.  None has the name of a tool of the graph.
 */
struct client_tools {
	const struct tool *items;
	size_t count;
};

struct files;

/*
 * The memory store as nodes reach it: does what the route of that name does for the run's user,
 * "put", "search", "list", "get", "update", "delete" or "forget"; memory_id is NULL where the route
 * has none.  The data is a tree in that arena, NULL with err set; calls may come from several
 * threads at once, with an arena each.
 */
struct run_store {
	cJSON *(*ask)(void *arg, struct arena *arena, const char *action, const char *memory_id,
	    const cJSON *body, struct error *err);
	void *arg;
};

/*
 * What a run in the background has besides.  It has a record before it begins, and may be taken up
 * again after its process has died or has given it back.
 */
struct run_background {
	const struct run_record *record; /* as it is stored */
	const struct run_job *job;       /* as it was claimed */
	int64_t attempt;                 /* from 1 */
	const char *entered; /* what an earlier attempt kept of its beginning (entered_text), so
				that this one goes on (RUN_ON); NULL: it begins */
	enum lease_order ordered; /* what an earlier attempt was ordered, and did not live to do */
	const _Atomic bool *yields; /* true: it is to be given back before its next node */
	struct run_claim *claims;   /* what its process takes up next, or NULL */

	/* Called when no node runs any more, before the end is written; or NULL. */
	void (*stores)(void *arg);
	void *arg;
};

/* What a run is made of.  All of it outlives the run. */
struct run_setup {
	const ag_graph *graph;
	struct storage *storage;
	struct storage_context ctx;
	/* Whose leaving ends the run before its next node; NULL: it goes on without its client. */
	const struct waiter *client;
	struct files *files;    /* those that messages refer to; NULL: there are none */
	struct run_store store; /* all-zero: there is none */
	struct lease *lease;    /* NULL: the run has no thread, and nothing of it is kept */
	struct arena *arena;
	const struct id_source *ids;
	const cJSON *config; /* as nodes see it */
	const char *run_id;
	int64_t replaces;            /* the record that its own takes the place of, or 0 */
	bool keeps;                  /* its record says that its chunks are kept */
	const struct push *push;     /* who is told of its end (storage/runs.h), or NULL */
	const struct thread *thread; /* what the run goes on from; row 0 for a new thread */
	/* A checkpoint that the run's first write puts the thread back to, and the thread as it is
	 * stored until then.  NULL: the run goes on from the thread as it is stored. */
	const struct checkpoint *rewind;
	const struct thread *stored;
	enum history_level history; /* which checkpoints its writes keep */
	struct run_observer *observer;
	int64_t recursion_limit;
	double node_timeout, tool_timeout; /* seconds */
	int parallel;                      /* branches at once; 0: the usual number (region.h) */
	int64_t elements;                  /* of all its maps; 0: the usual number */
	const char *cache_dir;             /* where results of nodes are kept; NULL: nowhere */
	const _Atomic bool *stop; /* true stops a tool that is called alone (run_tool); else NULL */
	struct client_tools client_tools;
	struct trace_headers trace;              /* for calls out (run_trace) */
	const struct run_background *background; /* or NULL */
};

/* A run that has not begun, in the setup's arena; what the setup points to lives as long. */
ag_run *run_new(const struct run_setup *setup);

/* Replaces custom fields before the run (initial_state, doc/protocol-runs.md#invoke); false with
 * err set on a wrong type. */
bool run_initial_state(ag_run *run, const cJSON *initial, struct error *err);

/* Adds a message (taken over) to the context before the first node runs. */
void run_bring(ag_run *run, cJSON *message);

/* Where a run enters. */
enum run_entry {
	RUN_FROM_START, /* a new turn */
	RUN_AGAIN,      /* the node that interrupted runs again, with the answers so far */
	RUN_AT_NEXT,    /* the node before which the run paused */
	RUN_AFTER_NODE, /* where the edge from the latest node leads */
	RUN_ON          /* in the background: before the node at which an earlier attempt ended */
};

/*
 * Executes.  answers is the array of answers for RUN_AGAIN (borrowed), else NULL.  How it ended is
 * in run_thread(run)->status, RUN_RUNNING when it was given back; false with err set when it failed
 * (RUN_ERROR, or the storage refused).
 */
bool run_execute(ag_run *run, enum run_entry entry, const cJSON *answers, struct error *err);

/* The thread as the run left it, and the number of the last step. */
const struct thread *run_thread(const ag_run *run);
int run_steps(const ag_run *run);

/* What the thread shows since the run's latest checkpoint; NULL before that: it is to be read. */
const struct thread_view *run_view(const ag_run *run);

/* What was spent on answers of models that did not become messages of the run: those that subgraphs
 * have not kept, those of silent nodes, and notes on what left the context. */
const struct run_usage *run_spent_apart(const ag_run *run);

/* Of its record, once that is on disk; zeros while there is none. */
struct run_key run_record_key(const ag_run *run);

/* A failure as the client is told of it, with all that it takes to tell it again
 * (run_record.error_json); in the arena. */
const char *run_failure_json(struct arena *a, const struct error *failure);

/* The graph that it walks. */
const ag_graph *run_graph(const ag_run *run);

/* The tools that the client offers for this run. */
const struct client_tools *run_client_tools(const ag_run *run);

/* The graph's own state fields as they are now, inside a subgraph those of the outermost graph; the
 * run owns them. */
const cJSON *run_fields(const ag_run *run);

/* The messages of the run; inside a subgraph with messages of its own those of the run around it.
 */
const cJSON *run_messages_shown(const ag_run *run);

/* What the node has asked that the latest of ag_answers answers: the value of its interrupt.  NULL
 * where it asked nothing, or where that is no longer known. */
const cJSON *run_question(const ag_run *run);

/* Gives the node that runs less time than the run's node_timeout. */
void run_limit_node(ag_run *run, double seconds);

/* Whether the run is a new turn, and no answer to a pause or to remote calls, whatever messages it
 * was brought. */
bool run_is_new_turn(const ag_run *run);

/*
 * What calls to models and tools carry, so that what they record belongs to this run.  The parent
 * is the span of the node that runs, so it is asked for anew at each call and copied by who keeps
 * it.
 */
struct trace_headers run_trace(const ag_run *run);

/* ag_stop_requested for those who ask with a void pointer. */
static inline bool run_stop_requested(void *run)
{
	return ag_stop_requested(run);
}

/* The node that runs or ran last, and every message of this run, what it was brought included. */
const char *run_node(const ag_run *run);
const cJSON *run_messages(const ag_run *run);

/* What the run's message at that place (run_messages) is stored as; the run owns it.  NULL where
 * nothing is kept. */
const char *run_message_json(const ag_run *run, size_t place);

/* The AgentState as it is now, with that context (taken over): a new tree.  in_node: a node runs,
 * so the run is shown as going on. */
cJSON *run_state(const ag_run *run, bool in_node, cJSON *context);

/* The context as an array that the run owns; NULL where it cannot be read: then the node fails,
 * whatever it returns. */
const cJSON *run_context(ag_run *run);

/* Whether all that the node has asked of the conversation could be read.  A node that was told less
 * had better do nothing that others see. */
bool run_has_read(const ag_run *run);

/*
 * Calls one tool of a tools node outside of any run, for a live agent.  setup's run_id, observer,
 * lease and recursion_limit are not used; its stop ends the call.  *output is then the
 * result, or what the model sees of the failure, a new tree; false on failure.
 */
bool run_tool(const struct run_setup *setup, const struct node *node, const char *name,
    const cJSON *args, cJSON **output);

#endif
