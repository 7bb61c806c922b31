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
#include "base/id.h"
#include "graph/graph.h"
#include "storage/storage.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum run_event_kind {
	RUN_NODE_STARTS, /* a node is about to run */
	RUN_PIECE,       /* a streamed piece of a message (delta true) */
	RUN_MESSAGE,     /* a message that joined the conversation */
	RUN_NODE_ENDS    /* a node ended well and its checkpoint is on disk */
};

struct run_event {
	enum run_event_kind kind;
	const char *node;
	int step;
	const cJSON *message; /* RUN_PIECE, RUN_MESSAGE */
	const char *json;     /* RUN_MESSAGE: the same as text, or NULL while it is not stored */
	const char *reason;   /* RUN_NODE_ENDS: why the run goes no further, or NULL */
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

/* What a run is made of.  All of it outlives the run. */
struct run_setup {
	const ag_graph *graph;
	struct storage *storage;
	struct lease *lease;
	struct arena *arena;
	const struct id_source *ids;
	const cJSON *config; /* as nodes see it */
	const char *run_id;
	const struct thread *thread; /* as stored; row 0 for a new one */
	struct run_observer *observer;
	int recursion_limit;
	double node_timeout, tool_timeout; /* seconds */
};

ag_run *run_new(const struct run_setup *setup);

/* Replaces custom fields before the run (initial_state, WIRE 4.2); false with err set on a wrong
 * type. */
bool run_initial_state(ag_run *run, const cJSON *initial, struct error *err);

/* Adds a message (taken over) to the context before the first node runs. */
void run_bring(ag_run *run, cJSON *message);

/* Where a run enters. */
enum run_entry {
	RUN_FROM_START, /* a new turn */
	RUN_AGAIN,      /* the node that interrupted runs again, with the answers so far */
	RUN_AT_NEXT,    /* the node before which the run paused */
	RUN_AFTER_NODE  /* where the edge from the latest node leads */
};

/*
 * Executes.  answers is the array of answers for RUN_AGAIN (borrowed), else NULL.  How it ended is
 * in run_thread(run)->status; false with err set when it failed (RUN_ERROR, or the storage
 * refused).
 */
bool run_execute(ag_run *run, enum run_entry entry, const cJSON *answers, struct error *err);

/* The thread as the run left it, and the number of the last step. */
const struct thread *run_thread(const ag_run *run);
int run_steps(const ag_run *run);
int run_limit(const ag_run *run);

/* Where things that live as long as the run are kept. */
struct arena *run_arena(const ag_run *run);

/* Gives the node that runs less time than the run's node_timeout. */
void run_limit_node(ag_run *run, double seconds);

/* Whether it is a new turn, whatever it was brought, and no answer to a pause or remote calls. */
bool run_is_new_turn(const ag_run *run);

/* The node that runs or ran last, and every message of this run, what it was brought included. */
const char *run_node(const ag_run *run);
const cJSON *run_messages(const ag_run *run);

/*
 * The AgentState now, a new tree; in_node shows the run as going on (the chunks of nodes).  NULL
 * with err set when the context cannot be read.
 */
cJSON *run_state(ag_run *run, bool in_node, struct error *err);

/* The context as an array that the run owns; NULL with err set. */
const cJSON *run_context(ag_run *run, struct error *err);

#endif
