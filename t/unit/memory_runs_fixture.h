/* SPDX-License-Identifier: ISC */
/*
 * The inside of the engine in memory, and the runs of it; memory_history_fixture.h has its messages
 * and checkpoints.  One lock guards all; texts lie in one
 * arena and are never freed before the end, so a walk needs the lock only for a copy of the list.
 */
#ifndef AGENTGRAPH_UNIT_MEMORY_RUNS_FIXTURE_H
#define AGENTGRAPH_UNIT_MEMORY_RUNS_FIXTURE_H

#include "base/arena.h"
#include "memory_records_fixture.h"
#include "storage/runs.h"
#include "storage/threads.h"

#include <pthread.h>
#include <string.h>

struct memory_run;
struct memory_chunks;
struct memory_webhook;
struct memory_push;

/*
 * A place that was given: to a message, or to one that entered the context again.  Each names the
 * one that was the thread's end when it was given, so that whoever goes down from any of them has
 * all that the thread showed there, however often it went back.
 */
struct kept_place {
	int64_t before;        /* 0: nothing */
	int64_t message;       /* place of the message: this one, or where it is in the list */
	const char *id, *body; /* of the message; NULL: it is gone, or stands elsewhere */
};

struct kept_thread {
	struct kept_thread *next;
	struct thread thread;
	int64_t since;             /* when it began to wait for its calls */
	struct kept_place *places; /* the first has the number 1 */
	int64_t last;              /* how many there are */
	int64_t until, after;      /* the thread's end; the context begins behind after */
	int64_t bytes;             /* of all messages */

	struct checkpoint *checkpoints; /* the oldest first */
	size_t checkpoint_count;
	int64_t checkpoint; /* number of the one that the thread comes from, or 0 */
	bool changed;       /* since that one */
};

/* A place in line; the first of a thread holds its lease, whose generation is then not 0. */
struct place {
	struct lease lease; /* first, so that one pointer is both */
	struct place *next;
	char run_id[1024]; /* of the run whose it is, or "" */
	enum lease_order order;
};

struct memory_storage {
	struct records_storage with; /* first */
	pthread_mutex_t lock;        /* guards all that follows */
	pthread_cond_t moved;        /* in line */
	struct arena *arena;
	struct kept_thread *threads;
	int64_t rows;
	struct place *line;
	uint64_t generations;
	unsigned room, waiting;
	struct memory_run *runs;       /* the newest first */
	struct memory_chunks *chunks;  /* of all runs, the newest first */
	struct memory_webhook *outbox; /* the newest first */
	struct memory_push *pushes;
	struct shared *shared;
};

static inline struct memory_storage *memory_of(struct storage *st)
{
	return (struct memory_storage *)st;
}

static inline struct memory_storage *memory_lock(struct storage *st)
{
	pthread_mutex_lock(&memory_of(st)->lock);
	return memory_of(st);
}

/* For the end of an operation: returns ok. */
static inline bool memory_unlock(struct memory_storage *m, bool ok)
{
	pthread_mutex_unlock(&m->lock);
	return ok;
}

static inline bool memory_fails(struct error *err, const char *what)
{
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "%s", what);
}

static inline struct kept_thread *memory_find_row(struct memory_storage *m, int64_t row)
{
	struct kept_thread *k = m->threads;
	while (k && k->thread.row != row)
		k = k->next;
	return k;
}

static inline struct kept_thread *memory_find_id(struct memory_storage *m, const char *thread_id)
{
	struct kept_thread *k = m->threads;
	while (k && strcmp(k->thread.thread_id, thread_id) != 0)
		k = k->next;
	return k;
}

/* What is done to runs with the lock held. */

/* Whether the job of the run that writes is this engine's, if it has one. */
bool memory_run_may_write(struct memory_storage *m, const struct thread_change *change);

/* Before the thread is changed. */
void memory_run_bury(
    struct memory_storage *m, const struct thread_change *change, const struct kept_thread *before);

/* Where a change finds its run, as in the other engine. */
struct memory_run_place {
	int64_t thread_row;
	int64_t after, until;
};

void memory_run_write(struct memory_storage *m, const struct thread_change *change,
    const struct memory_run_place *place);

/* A record of a thread under its number, which is the highest; it has no job. */
void memory_run_add(struct memory_storage *m, int64_t thread_row, const struct run_record *record);

/* With their thread. */
void memory_runs_remove(struct memory_storage *m, int64_t thread_row);

/* Whether something of the thread is in the queue or runs; it takes the lock itself. */
bool memory_run_waits(struct storage *st, int64_t thread_row);

/* What the runs ask of the threads, with the lock held: whether it is still the thread's lease, and
 * whether a run has one. */
bool memory_holds(const struct memory_storage *m, const struct lease *lease);
bool memory_run_held(const struct memory_storage *m, const char *thread_id);

/* Makes a thread that is not there, without messages; its row is set. */
void memory_thread_make(struct memory_storage *m, struct thread *t);

/* The same with nothing but its row. */
struct kept_thread *memory_thread_add(struct memory_storage *m);

/* Its texts in an arena; those of the identity are from who. */
struct thread memory_thread_copy(struct arena *a, const struct thread *who, const struct thread *t);

/* Whether a search finds it there. */
bool memory_has_text(const char *text, const char *search);

extern const struct run_ops memory_runs;

#endif
