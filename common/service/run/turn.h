/* SPDX-License-Identifier: ISC */
/*
 * One request to run the graph on a thread: from the lease to the end of the run
 * (doc/protocol-runs.md).
 *
 * A turn reads the body, takes the thread's lease, and decides what the input means for the thread
 * as it is: a new turn, an answer to a pause or to waiting remote calls, or no run at all because a
 * pause, or calls, must be reported again.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_TURN_H
#define AGENTGRAPH_SERVICE_RUN_TURN_H

#include "graph/run.h"
#include "service/run/run_input.h"
#include "service/service.h"

/* meta.note of TURN_REPORT_PAUSE */
#define MESSAGES_NOT_KEPT \
	"The messages of this request were not kept: the thread is paused and goes on with resume"

enum turn_action {
	TURN_RUN,            /* the graph runs */
	TURN_REPORT_PAUSE,   /* nothing is stored; the open pause is told again */
	TURN_REPORT_WAITING, /* answers were stored, others are missing; the graph does not run */
	TURN_NOTHING_NEW     /* nothing is stored, and nothing runs (run_input.only_new) */
};

struct turn {
	/* what is asked, and by whom */
	struct call *call;
	struct run_input in; /* messages that are new move from there to bring */
	const cJSON *user;   /* the latest user message of the request, or NULL */
	const char *run_id;
	struct chunk_keeper *keeper;             /* of its chunks, where they are kept */
	const struct push *push;                 /* who is told of its end, or NULL */
	const struct run_background *background; /* or NULL */

	/* what it is about, once open */
	struct lease *lease;
	struct thread thread; /* as stored, with row 0 for a new one; or as at the checkpoint */
	const struct checkpoint *checkpoint; /* that the run begins at, or NULL */
	struct thread stored;                /* then: the thread before it is there again */
	bool is_new;
	bool apart;       /* of no thread, and nothing is kept of it (turn_open_apart) */
	int64_t replaces; /* number of the record that has its run_id already, or 0 */

	/* what turn_run has decided */
	enum turn_action action;
	enum run_entry entry;
	const cJSON *answers; /* RUN_AGAIN: answers of the interrupted node */
	cJSON *bring; /* messages to add before the run, in order; the run takes them over */
	bool again;   /* the last of them is one that the thread has, said again */
	const cJSON *waiting;   /* remote calls that still wait */
	const char *waiting_id; /* of the message that asks for them */

	/* and done */
	int brought; /* how many messages bring had */
	ag_run *run; /* TURN_RUN, once turn_run began */
};

/* Reads the body, whose messages are the member key; false with every mistake in call->error.
 * Nothing is to be ended then. */
bool turn_read(struct turn *turn, struct call *call, const cJSON *body, const char *key);

/* The same, where calls may stand in the messages; which of them are new the caller looks at. */
bool turn_read_whole(struct turn *turn, struct call *call, const cJSON *body, const char *key);

/* The same for a request that was read already; in's trees live as long as the call. */
void turn_init(struct turn *turn, struct call *call, const struct run_input *in);

/* Finds the thread of a request that names none but answers a call that waits; the others stay
 * without.  False with call->error set. */
bool turn_find_thread(struct turn *turn);

/* What its multitask_strategy wants of another run that has the thread. */
enum lease_order turn_orders(const struct turn *turn);

/* Takes the lease as multitask_strategy says and reads the thread; false with call->error set:
 * busy, its id is that of a run that goes on, storage, somebody else's, no such checkpoint. */
bool turn_open(struct turn *turn);

/*
 * The same on no thread: the messages of the request are the whole context of a run that leaves no
 * thread, run or trace behind, and costs no transaction.  One that ends in tool messages goes on
 * behind the tools node.  Nodes see an id of a thread that there never is.
 */
void turn_open_apart(struct turn *turn);

/*
 * The same for a run in the background, whose lease the caller has taken: it is the turn's from
 * then on.  False with call->error set: the thread is gone, storage.
 */
bool turn_open_background(
    struct turn *turn, struct lease *lease, const struct run_background *background);

/* Of an open turn with neither input nor an answer: a pause before or behind a node is over, one in
 * which a node asks is told again. */
void turn_go_on(struct turn *turn);

/*
 * Decides and runs.  False with call->error set when the input does not fit the thread (nothing was
 * stored) or the run failed.  observer is what the run is watched by.
 */
bool turn_run(struct turn *turn, struct run_observer *observer);

/* Whether nodes have run, or might have: then a failure is the run's, and no mistake of what was
 * asked. */
bool turn_has_run(const struct turn *turn);

/* Logs why a turn whose answer has begun failed, where that is no mistake of the client's. */
void turn_log_failure(const struct turn *turn);

/*
 * Behind turn_run for a stream, of which the client has seen the beginning or not: the thread is
 * free before the last events go out, and a failure that is told is logged.  False: nothing is to
 * be told, and the error stands.
 */
bool turn_end_told(struct turn *turn, bool ok, bool begun);

/* Whether a background run is to be taken up again, after turn_run was true. */
bool turn_given_back(const struct turn *turn);

/* Gives the lease back; a turn that was never opened is fine. */
void turn_end(struct turn *turn);

/* The same where all is told but the terminator: chunks that are kept are on disk before. */
void turn_leave(struct turn *turn);

/* The message that asks for the calls that still wait, a new tree (TURN_REPORT_WAITING). */
cJSON *turn_waiting_message(const struct turn *turn);

/* The open interrupt, a new tree, or NULL. */
cJSON *turn_interrupt(const struct turn *turn);

/* Adds "interrupts", where several are open. */
void turn_add_interrupts(const struct turn *turn, cJSON *out);

/* The name the thread got in this turn, or NULL. */
const char *turn_thread_name(const struct turn *turn);

/* The AgentState as it is stored, in which the context is the call's feed (feed.h), a new tree;
 * in_node shows the run as going on, run as which of its branches has it, or NULL.  NULL with
 * call->error set. */
cJSON *turn_state(struct turn *turn, const ag_run *run, bool in_node);

#endif
