/* SPDX-License-Identifier: ISC */
/*
 * What the files of the engine share, which use each other one way: run.c walks and forks
 * (region.h), a step runs a node (step.c), a node asks and speaks (node_api.c, nodes/), and below
 * them are what a run has, what is told of it and what is stored.
 */
#ifndef AGENTGRAPH_GRAPH_RUN_INTERNAL_H
#define AGENTGRAPH_GRAPH_RUN_INTERNAL_H

#include "base/buf.h"
#include "base/json/json.h"
#include "graph/run.h"
#include "storage/runs.h"

#include <stdatomic.h>

/* Levels of what nodes leave.  What is deeper could not be read from the storage again, where it
 * lies in other levels. */
#define STORED_DEPTH (JSON_TRUSTED_DEPTH - 100)

/* What begins the detail of a run's failures; step_pass_over takes it off again. */
#define GRAPH_FAILED "Graph execution failed: "

struct ag_state {
	ag_run *run;
};

/* Messages of the run in order: those it was given, then those its nodes made. */
struct run_messages {
	cJSON *array;               /* every message, in output form */
	struct new_message *stored; /* the same for the storage */
	size_t count, size;
	size_t brought;  /* how many it was given */
	size_t written;  /* how many a write has been handed */
	size_t restored; /* how many an earlier attempt has stored */
};

/* What follows a node, or the entry into the graph. */
enum verdict {
	GO_ON,
	AT_END,
	WAITS_FOR_CLIENT, /* remote calls are open */
	PAUSED,
	WAS_STOPPED,
	GIVEN_BACK, /* to be taken up again before the next node */
	FAILED
};

/* What lives as long as one execution of a node. */
struct node_frame {
	const struct node *node;
	double seconds;          /* the time it has */
	int64_t deadline;        /* its end, monotonic ms */
	cJSON *updates;          /* array of {field: value}, applied when the node ends well */
	cJSON *messages;         /* array of messages, added when the node ends well */
	cJSON *held;             /* in messages: the first that is not shown yet */
	bool holds;              /* nothing but pieces is shown before it ends */
	bool streamed;           /* a piece was said, whether anybody watches or not */
	char open_id[UUID_SIZE]; /* the message that deltas are building; "" when none */
	struct piece *text, *reasoning; /* of the open message; NULL: none yet */
	int answers_used;
	bool cached;            /* it did not run: what it leaves was kept */
	bool acts;              /* a tool did more than answer */
	bool completed;         /* it ended well */
	const char *leaves;     /* ag_trim: id of the last message that leaves the context */
	const char *summary;    /* what takes the place of what leaves; NULL: nothing new */
	const char *failure;    /* text of ag_fail */
	bool unread;            /* it was told less of the conversation than there is */
	bool away;              /* since the storage is away for now */
	cJSON *pause;           /* the interrupt object when the node pauses */
	const char *waiting_id; /* id of the message that holds remote calls left unanswered */
	cJSON *declined;        /* calls that a person refused, their ids as members; or NULL */
	cJSON *changed;         /* arguments that a person changed, by the ids of calls; or NULL */
	cJSON *waiting;         /* those calls, an array of blocks; NULL when there are none */
	cJSON *renewed;         /* ids that calls of this node have in place of others; or NULL */
};

/* The time that subgraphs have, of those around a node the first that ends. */
struct time_limit {
	int64_t end; /* monotonic ms */
	double seconds;
	const struct node *node;
};

struct run_side;
struct branch;

struct ag_run {
	struct run_setup setup;
	struct ag_state state;
	struct thread thread; /* as the next write will store it */
	bool placed;          /* what it shows is in thread.view, since a write of the run */
	cJSON *fields;
	const cJSON *initial; /* fields that the run was given (run_initial_state), or NULL */
	bool fields_changed;  /* since they were printed for a write */
	struct run_messages messages;
	cJSON *context;     /* as loaded, the run's messages included; NULL while nobody asked */
	const char *leaves; /* for the next write */
	const struct checkpoint *rewind; /* the same */
	const cJSON *answers;
	const char *asked;     /* id of the message whose calls the last pause left open, or NULL */
	const cJSON *question; /* what the node asked that is answered now; or NULL */
	const char *error; /* what the latest node with on_error failed of, in setup.config too; or
			      NULL */
	enum run_entry entry;
	const struct thread *before; /* the thread as the run found it, when it began */
	int step;
	int64_t spent;    /* of the recursion limit: a region counts as its longest branch */
	bool rolled_back; /* the thread is as it was; none of the run's messages are stored */
	struct node_frame frame;
	struct run_side *side;          /* what its branches share (region.h); NULL: it had none */
	struct branch *branch;          /* whose run it is, or NULL */
	cJSON *log;                     /* of a branch: its updates, each an object of one member */
	const cJSON *hidden;            /* of a branch: ids of messages that others said, or NULL */
	const cJSON *not_its;           /* and of calls that they asked the client for, or NULL */
	const ag_run *outer;            /* of a subgraph: the run around it; else NULL */
	const struct time_limit *limit; /* of the subgraphs around it, or NULL */
	bool apart;             /* of a subgraph with messages of its own: it sees those alone */
	struct run_usage usage; /* of answers that are no message of the run (run_spent_apart) */
	const cJSON *region;    /* the one that the run is in, as it is kept, or NULL */
	char *region_text;      /* with what is kept beside it, as the latest write has it */
	struct tool_call *call; /* of the run that one of several calls is given (tool_calls.h) */

	struct run_record record; /* the latest that a write was handed */

	/* the first write, which may wait for the first checkpoint (defer.h): until then a thread
	 * of the storage's is at it, so that a copy of the run has none of this */
	atomic_bool begun; /* it is on disk */
	struct thread start_thread;
	struct run_record start_record;
	struct thread_write start_write;
	struct deferred *pending;
};

/* ---- What it has: run_context.c and run_state.c */

/* Adds to the run's messages (taken over) and to a loaded context. */
void run_append(ag_run *run, cJSON *message);

/* What somebody reads of the conversation that err says cannot be read: the step fails of that,
 * whatever its node makes of the rest. */
void run_unread(ag_run *run, const struct error *err);

/* Whether nodes and edges were told all that they have asked of the conversation since the step was
 * opened, or since this was asked; false with err set.  Where the storage is away for now, that is
 * what the run fails of, and one in the background may be taken up again. */
bool run_was_told(ag_run *run, struct error *err);

/* Sets err to what the frame says that its node failed of. */
void run_set_failure(const ag_run *run, struct error *err);

/* Frees what nodes have read of the thread; it is read anew when it is asked for. */
void run_drop_context(ag_run *run);

/* Whether it is a tool's result for one of those calls (ids; NULL: none). */
bool run_answers_other(const cJSON *message, const cJSON *calls);

/* What nodes find in config from here on beside the rest; value is borrowed. */
void run_set_config(ag_run *run, const char *name, const cJSON *value);

/* The same of config.error; text is copied. */
void run_set_error(ag_run *run, const char *text);

/* What somebody else wants of the run. */
bool run_ordered(const ag_run *run, enum lease_order *order, struct error *err);

/* The place that an edge chooses; GRAPH_UNSET with err set when it names none of its targets. */
int run_choose(ag_run *run, const struct edge *edge, struct error *err);

/* ---- What is told of it: run_tell.c */

/* Adds a message that is in output form already (taken over) to what the node makes. */
void run_add_message(ag_run *run, cJSON *message);

/* Shows the message that was held back, if there is one, and a piece of the next (json: the same as
 * text, or NULL). */
void run_show_piece(ag_run *run, const cJSON *piece, const char *json);

/* Shows the event {"name", "data"} (borrowed) behind what was said before. */
void run_show_custom(ag_run *run, const cJSON *data);

/* ag_media_data, which says of a stored file that has more than max bytes by *len how many. */
void *run_media_data(ag_run *run, const cJSON *media, size_t max, size_t *len);

/* Tells that the node of the frame begins, and that it has ended, after its messages; failure is of
 * a node that on_error follows, else NULL. */
void run_tell_start(ag_run *run);
void run_tell_end(ag_run *run, enum verdict verdict, const struct error *failure);

/* Tells traces that an attempt of the node, or of the graph that it is, failed of err. */
void run_tell_attempt(
    ag_run *run, const struct node *node, int attempt, const struct error *failure);

/* ---- What is stored of it: checkpoint.c and entered.c */

/* The first write of a run: thread, its new messages, status running.  It is on disk when the
 * observer is told, at the latest with the first checkpoint.  False, and nothing is written, where
 * the thread has no room for the messages.  A run without lease writes nothing, here and below, and
 * its observer is told at once. */
bool checkpoint_begin(ag_run *run, struct error *err);

/* Makes the first write durable. */
bool checkpoint_settle(ag_run *run, struct error *err);

/* Stores thread, fields and new messages in one transaction, and the end of the run with the
 * record, when the thread says that it is over; failure is then why, or NULL. */
bool checkpoint_save(ag_run *run, const struct error *failure, struct error *err);

/* Stores where a run is between its nodes, as a region that it is in goes on; source: for the
 * history, CHECKPOINT_NONE for none. */
bool checkpoint_region(ag_run *run, enum checkpoint_source source, struct error *err);

/*
 * Puts the stored thread back to where it was before the run, without the messages that the run
 * stored, and ends the record; failure is why the run failed, or NULL.  run->thread is that thread
 * then, but that it has the status of this run: stopped, or error.
 */
bool checkpoint_roll_back(ag_run *run, const struct error *failure, struct error *err);

/* Stores thread and record alone, after a checkpoint_save that the thread has no room for: with the
 * fields it had and without new messages.  A thread that is not stored stays so. */
bool checkpoint_end(ag_run *run, const struct error *failure, struct error *err);

/* What a run in the background entered with, for its first write; the run's. */
const char *entered_text(ag_run *run);

/* Makes a run that has done nothing yet the one that its earlier attempts left, but for its
 * messages. */
void entered_restore(ag_run *run);

/* ---- A step of it: node_api.c, tools_node.c and step.c */

/* An interrupt object (doc/protocol-messages.md#interrupts) with a new id, a new tree; value is
 * borrowed. */
cJSON *interrupt_new(const char *node, const char *reason, const cJSON *value);

/* Runs the calls that wait for a tools node (asking.h, ag_graph_tools). */
ag_result tools_node_run(ag_run *run);

/* Runs one node, with all its attempts.  FAILED with err set; on WAS_STOPPED and
 * GIVEN_BACK the order came between two attempts, and nothing of the node is left. */
enum verdict step_node(ag_run *run, const struct node *node, struct error *err);

/* After an attempt of a node that failed of err: waits for the next one.  GO_ON, or what step_node
 * says of an order that came meanwhile. */
enum verdict step_again(ag_run *run, const struct node *node, int attempt, struct error *err);

/* Whether the subgraphs around the node have time left; false with err set. */
bool step_in_time(ag_run *run, struct error *err);

/* Whether its recursion limit has room for another step; false with err set. */
bool step_in_limit(const ag_run *run, struct error *err);

/* A step of a subgraph that did not run, since what it leaves was kept (taken over). */
bool step_say_kept(ag_run *run, const struct node *node, cJSON *kept, struct error *err);

/* Whether the failure of a node is one that its on_error is for: it is not where the storage is
 * away for a moment. */
static inline bool step_passes_over(const struct node *node, const struct error *failure)
{
	return node->on_error != GRAPH_UNSET && failure->kind != ERR_TRANSIENT_STORAGE;
}

/* The node failed and has on_error: nothing of it is left but what failed. */
void step_pass_over(ag_run *run, const struct error *failure);

/* Applies updates ({field: value}, emptied) of the node called by with the reducers, all of them or
 * none. */
bool step_update(ag_run *run, const char *by, cJSON *updates, struct error *err);

#endif
