/* SPDX-License-Identifier: ISC */
/* A branch: what it begins with (region_begin.c), what it leaves (region_end.c), and how it is kept
 * (region_kept.c). */
#ifndef AGENTGRAPH_GRAPH_REGION_REGION_BRANCH_H
#define AGENTGRAPH_GRAPH_REGION_REGION_BRANCH_H

#include "base/http/traceparent.h"
#include "base/log/log.h"
#include "graph/run_internal.h"

#include <pthread.h>

struct region;

/* Where a branch goes on. */
enum branch_entry {
	BRANCH_BEFORE,  /* the node is to run */
	BRANCH_AT,      /* the same, after a pause before it */
	BRANCH_AGAIN,   /* the node asked, and runs again with the answers */
	BRANCH_AFTER,   /* the node has ended */
	BRANCH_IN,      /* in the region that follows the node */
	BRANCH_ARRIVED, /* it is at the join */
	BRANCH_START,   /* where the subgraph begins */
};

/* A message that is held back until a subgraph that may run again has ended. */
struct held_message {
	struct held_message *next;
	ag_run *run;
	struct run_event event;
};

struct branch {
	/* first, so that it leads to the branch; gets what the branch's run tells */
	struct run_observer observer;
	struct region *region;
	/* the name of its first node; the same behind those of the branches around it */
	const char *name, *path;
	const cJSON *item;   /* in a map the element it is for, else NULL */
	struct arena *arena; /* made once its turn has come */
	ag_run run;
	size_t own; /* how many messages of its run it began with */
	char traceparent[TRACEPARENT_SIZE];

	enum branch_entry how;
	int at;                 /* the node, or the place of the region that the branch is in */
	const char *name_at;    /* the name of that node as it was kept, or NULL */
	const cJSON *interrupt; /* what it waits for, or NULL */
	const char *kind;       /* the kind of that pause (state.h) */
	const cJSON *waiting;   /* calls at the client, or NULL */
	const cJSON *within;    /* the region that it is in, as that was kept; or NULL */
	cJSON *called;          /* ids of all calls that it asked the client for */
	size_t charged;     /* of a subgraph's own messages, how many an earlier run has counted */
	const cJSON *input; /* fields that a subgraph began with, or NULL */
	cJSON *output;      /* updates that a subgraph leaves, or NULL */
	cJSON *ids;         /* ids of the messages that it has handed to the run that forked */

	enum verdict verdict; /* when it has ended */
	struct error error;

	struct branch *holder, *outer_holder; /* the subgraphs around its nodes that may run again,
						 the inner ones first; or NULL */
	/* guarded by run_side.lock */
	struct held_message *held, **held_end; /* of a holder */
	bool said;    /* of a holder: what it said was shown, so that it does not run again */
	char *stable; /* how it is kept while others run, as JSON; NULL: as it began */
	struct region *inner; /* the region that it is in now */
	bool inside;          /* stable says that it is in there, and leaves that region out */
	const cJSON *began;   /* how it was kept when the region was left, or NULL */
};

struct region {
	ag_run *parent;
	const struct edge *edge;
	enum verdict (*walk)(struct branch *b);
	struct log_ids ids;
	struct time_limit limit; /* of a subgraph with a timeout; node NULL: none */
	struct branch *items;
	size_t count;
	/* of messages and calls, as they were kept when the region was left */
	struct branch_texts ids_kept, calls_kept;
	/* guarded by run_side.lock */
	_Atomic bool over;       /* a branch failed or was stopped: others end after their steps */
	size_t next;             /* the first that has not begun */
	const struct node *last; /* the last node that ended in it */
};

/* What the branches of one run share. */
struct run_side {
	ag_run *root;
	int parallel;          /* how many threads it may have at once */
	int64_t elements_most; /* how many elements all maps may have */
	_Atomic int step;      /* number of the latest step */
	pthread_mutex_t lock;
	/* guarded by it */
	int threads;      /* how many it has beside its own */
	int64_t elements; /* how many elements maps have had */
	struct region *region;
	cJSON *calls;              /* ids of the calls that were asked for in any branch */
	int64_t kept;              /* when the region on disk was written; 0: none is */
	size_t kept_bytes, behind; /* how long that is, and all that has arrived since */
};

/* Whether it is a subgraph with messages of its own. */
static inline bool branch_is_own(const struct branch *b)
{
	return b->region->edge->into && b->region->edge->into->sub->own;
}

/* The branches of fork, or those that kept describes; none has begun. */
struct region *region_open(ag_run *run, const struct edge *fork, const cJSON *kept);

/* Lets threads walk each branch, the calling one as well, so that branches run even where no other
 * can be had. */
void region_work_together(struct region *region, enum verdict (*walk)(struct branch *b));

/* What the branch begins with, or goes on with; false with b->error set. */
bool branch_begin(struct branch *b);

/* Hands the messages that the branch has made so far to the run that forked; the branch has
 * references to them from then on. */
void branch_hand_on(struct branch *b);

/* The branch has arrived.  A subgraph makes its output, as long as its messages are there; and what
 * nodes have read of the thread is freed, not kept until all have arrived.  False with its error
 * set where something could not be read. */
bool branch_end(struct branch *b);

/* Hands what the branches have said and set to the run that forked, and says how the region
 * ended. */
enum verdict region_close(struct region *region, struct error *err);

/* Leaves nothing of an attempt of a subgraph but what it has cost and why it failed. */
void subgraph_drop(struct region *region, struct error *err);

/* Gives the branch the messages of the run that forked, as references, except those of other
 * branches. */
void branch_take_messages(struct branch *b, const ag_run *parent);

/* Take over how the branch was kept (began): the first before it has the messages of the run that
 * forked, the second after that. */
void branch_restore(struct branch *b);
void branch_say_kept(struct branch *b);

/* Notes how far the branch is: at its join, or behind a node of a subgraph.  Of a background run
 * this is on disk then. */
void branch_keep(struct branch *b);

/* Whether nodes of the subgraph have checkpoints of their own: only where it is in no branch, and
 * nothing that it says is held back. */
bool branch_has_checkpoints(const struct branch *b);

/* Writes the checkpoint behind a node of the subgraph, where place is what follows: the thread then
 * has all that was said so far.  False with b->error set. */
bool branch_checkpoint(struct branch *b, int place);

/* Sets the region that the branch is in now, or NULL; the lock is held. */
void branch_set_inner(struct branch *b, struct region *region);

/* Holds a message of the run back; false where holder is NULL, or holds nothing back any more.  The
 * lock is held. */
bool held_keep(struct branch *holder, ag_run *run, const struct run_event *event);

/* For a node of the branch that has said a piece, whether anybody watches or not: unless that is
 * hidden, no subgraph around it runs again, and all that these hold back is shown. */
void held_show_all(struct branch *b);

/* For a subgraph that does not run again: what it holds back goes to the next one around it that
 * holds, or is shown. */
void held_hand_on(struct branch *b);

/* How a region is kept that nobody runs any more: a new tree. */
cJSON *region_json(const struct region *region);

/* The same of a branch, without the region that it is in now; and of a region without its branches,
 * which are to be added to *branches. */
cJSON *branch_json(const struct branch *b);
cJSON *region_frame(const struct region *region, cJSON **branches);

#endif
