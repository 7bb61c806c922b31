/* SPDX-License-Identifier: ISC */
/*
 * A turn: one request to run the graph on a thread, from the lease to the end of the run
 * (doc/protocol-runs.md).
 *
 * It reads the body, takes the thread's lease, and decides what the input means for the thread: a
 * new turn, an answer to a pause or to waiting remote calls, or no run at all because a pause, or
 * calls, must be reported again.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_TURN_H
#define AGENTGRAPH_SERVICE_RUN_TURN_H

#include "graph/run.h"
#include "service/run/run_input.h"
#include "service/service.h"

/* the note of TURN_REPORT_PAUSE */
#define MESSAGES_NOT_KEPT \
	"The messages of this request were not kept: the thread is paused and goes on with resume"

enum turn_action {
	TURN_RUN,            /* the graph runs */
	TURN_REPORT_PAUSE,   /* no message is stored; the open pause is reported again */
	TURN_REPORT_WAITING, /* answers were stored, others are missing; the graph does not run */
	TURN_NOTHING_NEW     /* nothing is stored, and nothing runs (run_input.only_new) */
};

struct turn {
	/* what is asked, and by whom */
	struct call *call;
	struct run_input in; /* new messages are moved from there to bring */
	const cJSON *user;   /* the latest user message of the request, or NULL */
	const char *run_id;
	struct chunk_keeper *keeper;             /* keeps its chunks, or NULL */
	const struct push *push;                 /* who is told of its end, or NULL */
	const struct run_background *background; /* or NULL */

	/* what the turn is about, once it is open */
	struct lease *lease;
	/* as stored, with row 0 for a new one; or as it was at the checkpoint */
	struct thread thread;
	const struct checkpoint *checkpoint; /* where the run begins, or NULL */
	struct thread stored;                /* with a checkpoint: the thread as it is stored */
	bool is_new;
	bool apart;       /* it has no thread, and nothing of it is stored (turn_open_apart) */
	int64_t replaces; /* number of an earlier record with its run_id, or 0 */

	/* what turn_run has decided */
	enum turn_action action;
	enum run_entry entry;
	const cJSON *answers; /* with RUN_AGAIN: answers for the interrupted node */
	cJSON *bring; /* messages to add before the run, in order; the run takes them over */
	bool again;   /* the last of them is a message of the thread that is said again */
	const cJSON *waiting;   /* remote calls that still wait */
	const char *waiting_id; /* id of the message that asks for them */
	bool after_failure;     /* it goes on where the latest run failed (turn_go_on) */

	/* what it has done */
	int brought; /* how many messages bring had */
	ag_run *run; /* with TURN_RUN, once turn_run has begun */
};

/* Reads the body, whose messages are the member key.  False with every mistake in call->error, and
 * nothing to end. */
bool turn_read(struct turn *turn, struct call *call, const cJSON *body, const char *key);

/* The same of the member messages, which may be a whole conversation, with the calls in it; the
 * caller finds the new ones. */
bool turn_read_whole(struct turn *turn, struct call *call, const cJSON *body);

/* Begins a turn for a request that was read already; in's trees must live as long as the call. */
void turn_init(struct turn *turn, struct call *call, const struct run_input *in);

/* Finds the thread of a request that names none but answers a call that waits.  Other requests stay
 * without.  False with call->error set. */
bool turn_find_thread(struct turn *turn);

/* What the request's multitask_strategy orders another run to do that has the thread. */
enum lease_order turn_orders(const struct turn *turn);

/* Whether no run that is due waits for the thread in the queue; else, or where the storage fails,
 * false with call->error set. */
bool turn_none_queued(struct call *call, const char *thread_id);

/* Takes the lease as multitask_strategy says and reads the thread.  False with call->error set when
 * the thread is busy or somebody else's, the run's id is that of a run that goes on, the checkpoint
 * does not exist, or the storage fails. */
bool turn_open(struct turn *turn);

/*
 * Opens a turn without a thread: the messages of the request are the whole context.  The run leaves
 * no thread, record or trace behind, and costs no transaction.  If the messages end with tool
 * messages, it goes on behind the tools node.  Nodes see the id of a thread that never exists.
 */
void turn_open_apart(struct turn *turn);

/*
 * Opens a turn for a background run.  The turn takes over the lease.  False with call->error set
 * when the thread is gone, or the storage fails.
 */
bool turn_open_background(
    struct turn *turn, struct lease *lease, const struct run_background *background);

/* Lets an open turn that has neither input nor an answer go on: a pause before or behind a node is
 * over; one in which a node asks is reported again; and where the latest run failed, or lost its
 * process, the node at which it did runs again. */
void turn_go_on(struct turn *turn);

/*
 * Decides what the input means, and runs the graph, watched by observer.  False with call->error
 * set when the input does not fit the thread (nothing was stored), or the run failed.
 */
bool turn_run(struct turn *turn, struct run_observer *observer);

/* Whether nodes may have run: then a failure is the run's, not a mistake in the request. */
bool turn_has_run(const struct turn *turn);

/* Logs why a turn failed whose answer has begun, unless it is the client's mistake. */
void turn_log_failure(const struct turn *turn);

/*
 * Ends the turn of a stream after turn_run returned ok: the thread is free before the last events
 * go out, and a failure is logged.  begun says whether the client has got the beginning of the
 * stream.  False when nothing is to be told in the stream, and the error stands.
 */
bool turn_end_told(struct turn *turn, bool ok, bool begun);

/* Whether a background run is to be given back to the queue, after turn_run returned true. */
bool turn_given_back(const struct turn *turn);

/* Ends the turn and gives the lease back; a turn that was never opened is fine. */
void turn_end(struct turn *turn);

/* The same when all but the terminator is told.  With kept chunks, the thread is free only when
 * those are on disk. */
void turn_leave(struct turn *turn);

/* The open interrupt, a new tree, or NULL. */
cJSON *turn_interrupt(const struct turn *turn);

/* Adds "interrupts" to out, where several are open. */
void turn_add_interrupts(const struct turn *turn, cJSON *out);

/* Adds "note" to out, where messages of the request were not kept. */
void turn_add_note(const struct turn *turn, cJSON *out);

/* The name the thread got in this turn, or NULL. */
const char *turn_thread_name(const struct turn *turn);

/* The AgentState as it is stored, a new tree whose context is the call's feed (feed.h).  in_node
 * shows the run as going on; run is the branch whose state is shown, or NULL.  NULL with
 * call->error set. */
cJSON *turn_state(struct turn *turn, const ag_run *run, bool in_node);

#endif
