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

/* A message that is shown when a subgraph that may run again has ended. */
struct held_message {
	struct held_message *next;
	ag_run *run;
	struct run_event event;
};

struct branch {
	struct run_observer observer; /* first: what the branch's run tells */
	struct region *region;
	const char *name, *path; /* of its first node; with those of the branches around it */
	const cJSON *item;       /* of a map its element, else NULL */
	struct arena *arena;     /* once its turn has come */
	ag_run run;
	size_t own; /* how many of the run's messages it began with */
	char traceparent[TRACEPARENT_SIZE];

	enum branch_entry how;
	int at;                 /* the node, or the fork behind it that the branch is in */
	const char *name_at;    /* the same as it was kept, or NULL */
	const cJSON *interrupt; /* what it waits for, or NULL */
	const char *kind;       /* and how it came to (state.h) */
	const cJSON *waiting;   /* calls at the client, or NULL */
	const cJSON *within;    /* the region that it is in, as kept, or NULL */
	cJSON *called;          /* ids of all calls that it asked the client for */
	size_t charged;         /* of a subgraph's own messages: counted by an earlier run */
	const cJSON *input;     /* fields that a subgraph began with, or NULL */
	cJSON *output;          /* updates that it leaves, or NULL */
	cJSON *ids;             /* of those of its messages that the run has */

	enum verdict verdict; /* when it has ended */
	struct error error;

	struct branch *holder, *outer_holder; /* the subgraphs around its nodes that may run again,
						 the inner ones first; or NULL */
	/* guarded by run_side.lock */
	struct held_message *held, **held_end; /* of a holder */
	bool said;                             /* of a holder: somebody was shown what it said */
	char *stable;         /* how it is kept while others run, JSON, or NULL: as it began */
	struct region *inner; /* that it is in now */
	bool inside;          /* which stable says, without that region */
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
	/* guarded by run_side.lock */
	_Atomic bool over;       /* a branch failed or was stopped: others end after their steps */
	size_t next;             /* the first that has not begun */
	const struct node *last; /* that ended in it */
};

/* What the branches of one run share. */
struct run_side {
	ag_run *root;
	int parallel;          /* threads at once */
	int64_t elements_most; /* of all maps */
	_Atomic int step;      /* of the latest step */
	pthread_mutex_t lock;
	/* guarded by it */
	int threads;      /* beside the run's own */
	int64_t elements; /* that maps have had */
	struct region *region;
	cJSON *calls;              /* ids of those that were asked for, in any branch */
	int64_t kept;              /* which writing of the region is on disk; 0: none */
	size_t kept_bytes, behind; /* of it, and of what has arrived since */
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

/* Its messages so far, but for those that it began with, are the run's that forked, and it has them
 * from there. */
void branch_hand_on(struct branch *b);

/* It has arrived: a subgraph leaves what its output says, as long as its messages are there; and
 * what nodes have read of the thread is not kept until all have arrived.  False with its error set
 * where the output could not be read. */
bool branch_end(struct branch *b);

/* Hands what the branches have said and set to the run that forked; how the region ended. */
enum verdict region_close(struct region *region, struct error *err);

/* Leaves nothing of an attempt of a subgraph but what it has cost and why it failed. */
void subgraph_drop(struct region *region, struct error *err);

/* The messages of the run that forked, as references, but for those of other branches. */
void branch_take_messages(struct branch *b, const ag_run *parent);

/* Takes over how it was kept (began): before, and once it has its run's messages. */
void branch_restore(struct branch *b);
void branch_say_kept(struct branch *b);

/* The branch is where it stands, at its join, or behind a node of a subgraph: a background run
 * keeps that, and has it on disk then. */
void branch_keep(struct branch *b);

/* Whether nodes of the subgraph have checkpoints of their own: it is in no branch, and none of what
 * it says is held back. */
bool branch_has_checkpoints(const struct branch *b);

/* The checkpoint behind a node of it, place being what follows: the thread has what has been said
 * so far.  False with b->error set. */
bool branch_checkpoint(struct branch *b, int place);

/* The region that the branch is in now, or NULL; the lock is held. */
void branch_set_inner(struct branch *b, struct region *region);

/* Holds a message of the run back, if its holder (or NULL) still does; the lock is held. */
bool held_keep(struct branch *holder, ag_run *run, const struct run_event *event);

/* A node of the branch has said a piece, whether anybody watches or not: unless that is hidden, no
 * subgraph around it runs again, and what they hold is shown. */
void held_show_all(struct branch *b);

/* The subgraph does not run again: what it holds is for the next one around it, or shown. */
void held_hand(struct branch *b);

/* How it is kept, of a region that nobody runs any more: a new tree. */
cJSON *region_json(const struct region *region);

/* The same of a branch, without a region that it is in now, and of a region without its branches,
 * which are to enter *branches. */
cJSON *branch_json(const struct branch *b);
cJSON *region_frame(const struct region *region, cJSON **branches);

#endif
