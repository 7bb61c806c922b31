/* SPDX-License-Identifier: ISC */
/* The runs that somebody follows, and what was read of them lately. */
#ifndef AGENTGRAPH_RUNNER_FOLLOW_RUNS_H
#define AGENTGRAPH_RUNNER_FOLLOW_RUNS_H

#include "service/run/stream/replay.h"

#include <stdbool.h>
#include <stdint.h>

struct follow_client;

/* How a reader is told of a run. */
struct follow_form {
	bool events; /* server-sent ones, else lines */
	enum granularity granularity;
	const struct kept_words *words; /* and not by chunks, or NULL */
	unsigned modes;                 /* of those */
};

/* Some of a stream as it is sent, in a chunk of HTTP,
 * the same for all who stand at its beginning. */
struct follow_block {
	unsigned users; /* clients that are at it, and the run's list */
	uint32_t count; /* of chunks_count, before it was read: later it may be another one */
	struct follow_form form;
	struct replay_place from, to;
	bool ends; /* the terminator is in it, and the end of the body */
	char *data;
	size_t len;
	size_t text, text_len; /* what lies in the chunk: where, and how much */
	struct follow_block *next;
};

/* Where there was nothing to read. */
struct followed_dry {
	bool known;
	struct follow_form form;
	uint32_t count; /* of chunks_count, before it was tried */
	struct replay_place place;
};

/* What is known of a run beside its chunks. */
enum followed_state {
	FOLLOWED_ACTIVE, /* it is queued, or goes on */
	FOLLOWED_OVER,
	FOLLOWED_GONE /* there is no such record any more */
};

#define FOLLOWED_DRY 7

struct followed_run {
	struct followed_run *next; /* in its slot of the table */
	struct followed_run *list_previous, *list_next;
	struct follow_client *clients;
	int64_t thread_row, number;
	char *thread_id, *run_id;
	uint32_t seen; /* of chunks_count, when its clients were woken last */
	enum followed_state state;
	bool queued;
	bool unkept;             /* of one that is over: it has left no chunks */
	struct replay_tail tail; /* of one that is over */
	int64_t ended_at;  /* when that was seen, by the clock of the loop, as is what follows;
			    * 0: nobody is about to write its end */
	int64_t looked_at; /* 0: never */
	int64_t look_at;   /* when to look again; INT64_MAX: not before something happens */
	int64_t mend_at;   /* not before that is its end asked for again */
	int mends;         /* how often it was */

	/* The latest blocks, the newest first. */
	struct follow_block *blocks;
	struct followed_dry dry[FOLLOWED_DRY]; /* by form, of some the latest */
};

#define FOLLOWED_SLOTS 4096

struct followed_runs {
	struct service *service;
	struct followed_run *first;
	int64_t look_at; /* the earliest of them */
	struct followed_run *slots[FOLLOWED_SLOTS];
};

/* The run of these keys, which is there until followed_run_leave finds it without clients. */
struct followed_run *followed_run_get(struct followed_runs *runs, int64_t thread_row,
    int64_t number, const char *thread_id, const char *run_id);
void followed_run_leave(struct followed_runs *runs, struct followed_run *run);

/* Whether its counter has moved since this was asked last. */
bool followed_run_moved(struct followed_runs *runs, struct followed_run *run);

/*
 * What comes at a place, which the caller gives back; NULL where there is nothing yet, or, with err
 * set, where it cannot be read.
 */
struct follow_block *followed_run_next(struct followed_runs *runs, struct followed_run *run,
    const struct follow_form *form, const struct replay_place *place, struct error *err);
void follow_block_leave(struct follow_block *block); /* NULL is fine */

/* Something may have happened to it: it is to be looked at soon. */
void followed_run_doubt(struct followed_runs *runs, struct followed_run *run, int64_t now);

/* Looks at those for which it is time: reads their records, where they may be over.  fn is called
 * for each that is, at each look. */
void followed_runs_look(
    struct followed_runs *runs, int64_t now, void (*fn)(struct followed_run *run));

/* Whether its end has been missing for so long that nobody is about to write it. */
bool followed_run_lacks_end(const struct followed_run *run, int64_t now);

#endif
