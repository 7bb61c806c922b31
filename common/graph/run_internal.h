/* SPDX-License-Identifier: ISC */
/*
 * What the files of the engine share.  They use each other in one direction: run.c walks and forks
 * (region.h), a step runs a node (step.c), a node asks and speaks (node_api.c, nodes/), and below
 * them stands what a run has, what is told of it and what is stored.
 */
#ifndef AGENTGRAPH_GRAPH_RUN_INTERNAL_H
#define AGENTGRAPH_GRAPH_RUN_INTERNAL_H

#include "base/buf.h"
#include "base/json/json.h"
#include "graph/others.h"
#include "graph/run.h"
#include "storage/runs.h"

#include <stdatomic.h>

/* How deeply what nodes leave may be nested.  The storage wraps it in more levels, and what is
 * deeper could not be read from there again. */
#define STORED_DEPTH (JSON_TRUSTED_DEPTH - 100)

/* What begins the detail of a run's failures; step_pass_over takes it off again. */
#define GRAPH_FAILED "Graph execution failed: "

struct ag_state {
	ag_run *run;
};

/* Messages of the run in order: those it was given, then those its nodes made. */
struct run_messages {
	cJSON *array;               /* every message, in output form */
	struct new_message *stored; /* the same as the storage takes them */
	size_t count, size;
	size_t brought;  /* how many it was given */
	size_t written;  /* how many were handed to a write */
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
	double seconds;   /* the time it has */
	int64_t deadline; /* its end, monotonic ms */
	/* {field: value}, a field may come twice; applied when the node ends well */
	cJSON *updates;
	cJSON *messages;                /* array of messages, added when the node ends well */
	cJSON *held;                    /* in messages: the first that is not shown yet */
	bool holds;                     /* nothing but pieces is shown before it ends */
	bool streamed;                  /* a piece was said, whether anybody watches or not */
	char open_id[UUID_SIZE];        /* the message that deltas are building; "" when none */
	struct piece *text, *reasoning; /* of the open message; NULL: none yet */
	int answers_used;
	bool cached;         /* it did not run: what it leaves was kept */
	bool untold;         /* its end is to be told when it is stored */
	bool acts;           /* a tool did more than answer */
	bool cut;            /* a model's answer was cut off */
	bool completed;      /* it ended well */
	const char *leaves;  /* id of the last message that leaves the context (ag_trim), or NULL */
	const char *summary; /* what takes the place of what leaves; NULL: nothing new */
	const char *failure; /* text of ag_fail */
	bool unread;         /* the conversation could not be read when the node asked for it */
	bool away;           /* because the storage is away for the moment */
	cJSON *pause;        /* the interrupt object when the node pauses */
	cJSON *waiting;      /* remote calls left unanswered, an array of blocks; or NULL */
	const char *waiting_id; /* id of the message that they stand in */
	cJSON *declined;        /* calls that a person refused, their ids as members; or NULL */
	cJSON *changed;         /* arguments that a person changed, by the ids of calls; or NULL */
	cJSON *renewed;         /* new ids of calls, by the ids that these came with; or NULL */
};

/* The limit of the subgraphs around a node that ends first. */
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
	bool placed;          /* a write of the run has set thread.view to what the thread shows */
	cJSON *fields;
	const cJSON *initial; /* fields that the run was given (run_initial_state), or NULL */
	bool fields_changed;  /* since they were printed for a write */
	struct run_messages messages;
	cJSON *context;     /* as loaded, the run's messages included; NULL while nobody asked */
	const char *leaves; /* the last message that leaves the context with the next write */
	const struct checkpoint *rewind; /* what the next write puts the thread back to, or NULL */
	const cJSON *answers;
	const char *asked;     /* id of the message whose calls the last pause left open, or NULL */
	const cJSON *question; /* what the node asked that is answered now; or NULL */
	const char *error; /* what the latest node with on_error failed of, in setup.config too; or
			      NULL */
	enum run_entry entry;
	const struct thread *before; /* the thread as the run found it, when it began */
	int step;
	int64_t spent;    /* steps that count for the recursion limit: a region has as many as its
			     longest branch */
	bool rolled_back; /* the thread is as it was; none of the run's messages are stored */
	struct node_frame frame;
	struct run_side *side;          /* what its branches share (region.h); NULL: it had none */
	struct branch *branch;          /* whose run it is, or NULL */
	cJSON *log;                     /* of a branch: its updates, each an object of one member */
	int log_told;                   /* how many of these were told */
	const struct others *hidden;    /* of a branch: messages that others said, or NULL */
	const struct others *not_its;   /* of a branch: calls that others asked for, or NULL */
	const ag_run *outer;            /* of a subgraph: the run around it; else NULL */
	const struct time_limit *limit; /* of the subgraphs around it, or NULL */
	bool apart;             /* of a subgraph with messages of its own: it sees those alone */
	struct run_usage usage; /* of answers that are no message of the run (run_spent_apart) */
	const cJSON *region;    /* the one that the run is in, as it is kept, or NULL */
	char *region_text; /* pause_json of the latest write in a region, freed with the arena */
	struct tool_call *call; /* the call whose own run this is (tool_calls.h), or NULL */

	struct run_record record; /* the latest that a write was handed */

	/* The first write, which may be put off until the first checkpoint (defer.h).  Until it is
	 * done a thread of the storage may be at work on it, so a copy of a run is made without
	 * these. */
	atomic_bool begun; /* it is on disk */
	struct thread start_thread;
	struct run_record start_record;
	struct thread_write start_write;
	struct deferred *pending;
};

/* ---- What it has: run_context.c and run_state.c */

/* Adds to the run's messages (taken over) and to a loaded context. */
void run_append(ag_run *run, cJSON *message);

/* Notes that the conversation cannot be read, for the reason in err: the step fails of that,
 * whatever its node makes of it. */
void run_note_unread(ag_run *run, const struct error *err);

/* Whether all could be read that nodes and edges have asked of the conversation since the step was
 * opened, or since this was last called; false with err set.  Where the storage is away for the
 * moment, the run fails of that, and one in the background may be taken up again. */
bool run_could_read(ag_run *run, struct error *err);

/* Sets err to the failure that the frame has of its node. */
void run_set_failure(const ag_run *run, struct error *err);

/* Frees what nodes have read of the thread; it is read anew when it is asked for. */
void run_drop_context(ag_run *run);

/* Whether the message is a tool's result for one of the calls (an array of ids, or NULL), or for
 * one that other branches have asked for. */
bool run_answers_other(const cJSON *message, const cJSON *calls, const struct others *others);

/* Sets a member of config, as nodes find it from here on; value is borrowed. */
void run_set_config(ag_run *run, const char *name, const cJSON *value);

/* Sets config.error, and run->error, to a copy of text. */
void run_set_error(ag_run *run, const char *text);

/* The same as ag_media_data; of a stored file that has more than max bytes, *len says how many. */
void *run_media_data(ag_run *run, const cJSON *media, size_t max, size_t *len);

/* What somebody has ordered of the run, ORDER_NONE included; false with err set. */
bool run_ordered(const ag_run *run, enum lease_order *order, struct error *err);

/* The place that an edge chooses; GRAPH_UNSET with err set when it names none of its targets. */
int run_choose(ag_run *run, const struct edge *edge, struct error *err);

/* ---- What is told of it: run_tell.c */

/* Adds a message that is in output form already (taken over) to what the node makes. */
void run_add_message(ag_run *run, cJSON *message);

/* Shows the messages that were held back, and a piece of the next one (json: the piece as text, or
 * NULL). */
void run_show_piece(ag_run *run, const cJSON *piece, const char *json);

/* Shows the event {"name", "data"} (borrowed) after what was said before. */
void run_show_custom(ag_run *run, const cJSON *data);

/* Tells that the node of the frame begins, and, after its messages, that it has ended.  failure
 * is that of a node whose on_error follows, else NULL. */
void run_tell_start(ag_run *run);
void run_tell_end(ag_run *run, enum verdict verdict, const struct error *failure);

/* Tells that the subgraph of the node has ended, which is no step. */
void run_tell_subgraph(ag_run *run, const struct node *node);

/* Tells traces that an attempt of the node, which may be a subgraph, failed of err. */
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

/* Stores how far a run is in a region that goes on.  source is what the history calls this
 * checkpoint; CHECKPOINT_NONE: it has none. */
bool checkpoint_region(ag_run *run, enum checkpoint_source source, struct error *err);

/*
 * Puts the stored thread back to where it was before the run, without the messages that the run
 * stored, and ends the record; failure is why the run failed, or NULL.  run->thread is then that
 * thread with the status of this run: stopped, or error.
 */
bool checkpoint_roll_back(ag_run *run, const struct error *failure, struct error *err);

/* Stores thread and record alone, after a checkpoint_save that the thread has no room for: with the
 * fields it had and without new messages.  A thread that is not stored stays so. */
bool checkpoint_end(ag_run *run, const struct error *failure, struct error *err);

/* What a run in the background has entered the graph with, as JSON for its first write; the run
 * owns it. */
const char *entered_text(ag_run *run);

/* Puts a run that has done nothing yet where its earlier attempts left it, but for its messages. */
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

/* Whether the time of the subgraphs around the node is up. */
bool step_is_late(const ag_run *run);

/* Whether it is not; false with err set. */
bool step_in_time(ag_run *run, struct error *err);

/* Whether its recursion limit has room for another step; false with err set. */
bool step_in_limit(const ag_run *run, struct error *err);

/* The step of a subgraph that need not run, because its result was kept (taken over).  Its end is
 * told at once in a branch, which stores nothing, else left to whoever stores it (untold). */
bool step_say_kept(ag_run *run, const struct node *node, cJSON *kept, struct error *err);

/* Whether the node has an on_error, and the failure is one for it: not so where the storage is away
 * for a moment. */
static inline bool step_may_pass_over(const struct node *node, const struct error *failure)
{
	return node->on_error != GRAPH_UNSET && failure->kind != ERR_TRANSIENT_STORAGE;
}

/* Lets on_error follow a node that failed: what the node left is dropped, but for the failure,
 * which nodes find in config.error. */
void step_pass_over(ag_run *run, const struct error *failure);

/* Applies updates ({field: value}, emptied) of the node called by with the reducers, all of them or
 * none. */
bool step_update(ag_run *run, const char *by, cJSON *updates, struct error *err);

#endif
