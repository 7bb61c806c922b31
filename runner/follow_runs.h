/* SPDX-License-Identifier: ISC */
/* The runs that somebody follows, and what was read of them lately. */
#ifndef AGENTGRAPH_RUNNER_FOLLOW_RUNS_H
#define AGENTGRAPH_RUNNER_FOLLOW_RUNS_H

#include "service/run/stream/replay.h"

#include <stdbool.h>
#include <stdint.h>

struct follow_client;

/* The form in which a reader gets a run. */
struct follow_form {
	bool events; /* as server-sent events, else as lines */
	enum granularity granularity;
	const struct kept_words *words; /* another protocol's events in place of chunks, or NULL */
	unsigned modes;                 /* which of those events */
};

/* A piece of a stream as it is sent, framed as a chunk of HTTP.  All clients that have got as far
 * as its beginning share it. */
struct follow_block {
	unsigned users; /* clients that are being sent it, and one for the run's list */
	uint32_t count; /* chunks_count before it was read: after that there may be more to read */
	struct follow_form form;
	struct replay_place from, to;
	bool ends; /* it has the terminator of the run, and the end of the body */
	char *data;
	size_t len;
	size_t text, text_len; /* the part of data between the framing */
	struct follow_block *next;
};

/* A place where nothing was found to read, so that not every reader looks there in the storage. */
struct followed_dry {
	bool known;
	struct follow_form form;
	uint32_t count; /* chunks_count before that look */
	struct replay_place place;
};

/* What the record of a run said last. */
enum followed_state {
	FOLLOWED_ACTIVE, /* it is queued, or goes on */
	FOLLOWED_OVER,
	FOLLOWED_GONE /* the record does not exist any more */
};

#define FOLLOWED_DRY 7

struct followed_run {
	struct followed_run *next; /* in its slot of the table */
	struct followed_run *list_previous, *list_next;
	struct follow_client *clients;
	int64_t thread_row, number;
	char *thread_id, *run_id;
	uint32_t seen; /* chunks_count when its clients were last woken */
	enum followed_state state;
	bool queued;

	/* Once it is over: */
	bool unkept; /* its chunks were not kept */
	struct replay_tail tail;

	/* Times by the clock of the loop. */
	int64_t ended_at;  /* when it was seen to be over; 0: nobody is about to write its end */
	int64_t looked_at; /* when its record was last read; 0: never */
	int64_t look_at;   /* when to read it again; INT64_MAX: only when something happens */
	int64_t mend_at;   /* its end is not asked for again before that time */
	int mends;         /* how often it was asked for */

	struct follow_block *blocks;           /* those read lately, the newest first */
	struct followed_dry dry[FOLLOWED_DRY]; /* one for each form; other words share the last */
};

#define FOLLOWED_SLOTS 4096

struct followed_runs {
	struct service *service;
	struct followed_run *first;
	int64_t look_at; /* the earliest look_at of all runs */
	struct followed_run *slots[FOLLOWED_SLOTS];
};

/* The run with these keys, which is added when it is new. */
struct followed_run *followed_run_get(struct followed_runs *runs, int64_t thread_row,
    int64_t number, const char *thread_id, const char *run_id);

/* Removes the run if it has no clients any more. */
void followed_run_leave(struct followed_runs *runs, struct followed_run *run);

/* Whether chunks were written since this was last asked. */
bool followed_run_moved(struct followed_runs *runs, struct followed_run *run);

/*
 * The block at a place, which the caller gives back with follow_block_leave.  NULL when there is
 * nothing there yet, or, with err set, when it cannot be read.
 */
struct follow_block *followed_run_next(struct followed_runs *runs, struct followed_run *run,
    const struct follow_form *form, const struct replay_place *place, struct error *err);
void follow_block_leave(struct follow_block *block); /* NULL is fine */

/* Has the run's record looked at soon, because something may have happened to it. */
void followed_run_doubt(struct followed_runs *runs, struct followed_run *run, int64_t now);

/* Reads the records of the runs for which it is time, as they may be over.  fn is called for each
 * run that is, at every look. */
void followed_runs_look(
    struct followed_runs *runs, int64_t now, void (*fn)(struct followed_run *run));

/* Whether the run is over and its end has been missing for so long that nobody will write it. */
bool followed_run_lacks_end(const struct followed_run *run, int64_t now);

#endif
