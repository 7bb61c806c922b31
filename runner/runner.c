/* SPDX-License-Identifier: ISC */
/* Slots, the threads that run in them, and the one that claims. */
#include "runner/runner.h"

#include "base/arena.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/run/background/background.h"
#include "storage/queue.h"
#include "storage/runs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOK_MS 2000     /* the queue is looked at so often, even if nobody rings */
#define WAITING_MOST 256 /* runs that may wait for a busy conversation without a slot */
#define BRISK_MS 50      /* a run this short lets another one begin while its end is written */
#define AHEAD_MS 200     /* a task that has waited so long for a slot goes back */

struct task {
	struct task *next; /* in the list of those in hand */
	struct runner *runner;
	struct arena *arena;
	struct run_job job;
	struct run_claim next_claim;
	struct background_host host;
	int64_t begun_ms;
	bool has_slot;
};

struct runner {
	struct service *service;
	_Atomic bool yield;
	_Atomic bool content; /* nothing more is to be claimed now; written with the lock held */
	int done;             /* eventfd */
	pthread_t dispatcher;
	bool dispatches;
	pthread_mutex_t lock;
	pthread_cond_t room; /* signalled when more may be claimed, or a slot returned to */
	pthread_cond_t work; /* signalled when a task was handed over, or it is time to go */
	pthread_cond_t turn; /* signalled when a task may get its first slot */
	/* guarded by lock */
	struct task *tasks;  /* those that execute */
	struct task *handed; /* claimed, and not taken by a thread yet; or NULL */
	unsigned slots;
	unsigned taken, reserved; /* slots with a run, and those left to the retries */
	unsigned waiting;         /* runs that gave their slot up to wait for a busy conversation */
	unsigned returning;       /* those of them that want a slot again */
	unsigned storing;         /* runs that gave their slot up because their nodes have ended */
	unsigned ahead;           /* tasks that have not had a slot yet */
	bool brisk;               /* the latest run was short, so storing and executing overlap */
	unsigned threads, idle;
	bool stopping;
};

/* Jobs that are claimed and not over, without those that wait for a busy conversation. */
static unsigned runner_in_hand(const struct runner *r)
{
	return r->taken + r->reserved + r->returning + r->storing + r->ahead;
}

/* How many jobs may be in hand.  Short runs mostly wait for the disk, and can do so together. */
static unsigned runner_most(const struct runner *r)
{
	return r->brisk ? 2 * r->slots : r->slots;
}

/* To be called, with the lock held, whenever one of the numbers above has changed. */
static void runner_weigh(struct runner *r)
{
	r->content = r->stopping || r->returning || runner_in_hand(r) > runner_most(r);
}

/* Tells whoever waits for a slot that one may be free; the lock is held. */
static void runner_tell_free(struct runner *r)
{
	if (r->returning)
		pthread_cond_broadcast(&r->room);
	else if (r->ahead)
		pthread_cond_signal(&r->turn);
}

/* ---- claiming ---- */

static struct task *task_new(struct runner *r, struct arena *arena)
{
	struct task *task = arena_alloc(arena, sizeof(*task));
	*task = (struct task){.runner = r, .arena = arena};
	return task;
}

/* Claims a job that is ready, or the job of that row unless it is 0; NULL when there is none. */
static struct task *task_claim(struct runner *r, int64_t row, int64_t *next_due)
{
	struct storage *storage = r->service->storage;
	struct arena *arena = arena_new();
	struct task *task = task_new(r, arena);
	struct error err = {0};
	*next_due = INT64_MAX;
	if (storage->runs->claim(
		storage, NULL, arena, row, clock_now(), &task->job, next_due, &err))
		return task;
	if (error_is_set(&err)) {
		log_error("the queue of runs cannot be read: %s", error_why(&err));
		*next_due = INT64_MAX; /* a job that is due cannot be had now */
	}
	error_release(&err);
	arena_free(arena);
	return NULL;
}

static bool task_give_back(struct runner *r, const struct task *task)
{
	struct storage *storage = r->service->storage;
	struct error err = {0};
	bool given = storage->runs->give_back(storage, NULL, &task->job, &err);
	if (!given)
		log_error("run %s of thread %s cannot be given back: %s", task->job.run_id,
		    task->job.thread_id, error_why(&err));
	error_release(&err);
	return given;
}

/* ---- executing ---- */

/* Called by the task's thread, before and after it waits for the lease. */
static void task_waits(void *arg, bool waits)
{
	struct task *task = arg;
	struct runner *r = task->runner;
	pthread_mutex_lock(&r->lock);
	if (waits && r->waiting < WAITING_MOST) {
		task->has_slot = false;
		r->taken--;
		r->waiting++;
		runner_weigh(r);
		runner_tell_free(r);
		pthread_cond_broadcast(&r->room);
	} else if (!waits && !task->has_slot) {
		r->returning++;
		runner_weigh(r);
		while (r->taken + r->reserved >= r->slots && r->taken && !r->yield)
			pthread_cond_wait(&r->room, &r->lock);
		r->returning--;
		r->waiting--;
		r->taken++;
		runner_weigh(r);
		runner_tell_free(r); /* another one may have become free meanwhile */
		task->has_slot = true;
	}
	pthread_mutex_unlock(&r->lock);
}

/* Called by the task's thread when its nodes have ended.  A run that took long keeps its slot for
 * the moment that is left. */
static void task_stores(void *arg)
{
	struct task *task = arg;
	struct runner *r = task->runner;
	bool was_brisk;
	pthread_mutex_lock(&r->lock);
	was_brisk = r->brisk;
	r->brisk = clock_monotonic_ms() - task->begun_ms <= BRISK_MS;
	if (r->brisk && task->has_slot) {
		task->has_slot = false;
		r->taken--;
		r->storing++;
		runner_tell_free(r);
	}
	runner_weigh(r);
	if (r->brisk && !was_brisk)
		pthread_cond_broadcast(&r->room);
	pthread_mutex_unlock(&r->lock);
}

/* Waits for a task's first slot, with the lock held; false when none comes in time, or it is time
 * to go. */
static bool task_take_slot(struct runner *r)
{
	int64_t due = clock_monotonic_ms() + AHEAD_MS;
	bool late = false;
	while (r->taken + r->reserved >= r->slots || r->returning) {
		if (late || r->stopping)
			return false;
		late = !clock_cond_wait(&r->turn, &r->lock, due);
	}
	r->taken++;
	r->ahead--;
	return true;
}

/* Gives a task back that got no slot in time: runs take long now.  With the lock held; it is held
 * again afterwards.  False when it could not be given back and stays: as long as this process
 * lives, nobody else takes it for lost. */
static bool task_leave(struct runner *r, struct task *task)
{
	bool left;
	r->brisk = false;
	runner_weigh(r);
	pthread_mutex_unlock(&r->lock);
	left = task_give_back(r, task);
	if (!left)
		clock_sleep_ms(AHEAD_MS);
	pthread_mutex_lock(&r->lock);
	if (!left && !r->stopping)
		return false;
	arena_free(task->arena);
	r->ahead--;
	runner_weigh(r);
	return true;
}

/* Executes the task and frees it, with the lock held; it is held again afterwards.  Returns the
 * task that was claimed together with the end of this one, or NULL. */
static struct task *task_execute(struct runner *r, struct task *task)
{
	struct task **link = &r->tasks, *next = NULL;
	task->has_slot = true;
	task->begun_ms = clock_monotonic_ms();
	task->next_claim = (struct run_claim){.arena = arena_new(), .unless = &r->content};
	task->host = (struct background_host){.yield = &r->yield,
	    .waits = task_waits,
	    .stores = task_stores,
	    .arg = task,
	    .claims = &task->next_claim};
	task->next = r->tasks;
	r->tasks = task;
	pthread_mutex_unlock(&r->lock);
	background_execute(r->service, &task->job, &task->host);
	pthread_mutex_lock(&r->lock);
	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	*(task->has_slot ? &r->taken : &r->storing) -= 1;
	if (task->next_claim.job.row) {
		next = task_new(r, task->next_claim.arena);
		next->job = task->next_claim.job;
		r->ahead++;
	} else {
		arena_free(task->next_claim.arena);
	}
	arena_free(task->arena);
	runner_weigh(r);
	return next;
}

/* Wakes the owner if nothing is in hand any more; the lock is held. */
static void runner_tell_done(struct runner *r)
{
	uint64_t one = 1;
	if (r->stopping && !r->taken && !r->waiting && !r->storing && !r->ahead &&
	    write(r->done, &one, sizeof(one)) < 0)
		log_error("nobody is told that all runs are over: %s", strerror(errno));
}

/* Claims a job for a thread whose run has ended without claiming one, unless its slot is wanted.
 * With the lock held; it is held again afterwards. */
static struct task *task_claim_more(struct runner *r)
{
	struct task *task;
	int64_t ignored;
	if (r->content || queue_waiting(r->service->shared) <= 0)
		return NULL;
	r->ahead++;
	pthread_mutex_unlock(&r->lock);
	task = task_claim(r, 0, &ignored);
	pthread_mutex_lock(&r->lock);
	r->ahead -= !task;
	return task;
}

/* A thread: executes the task that was handed over, and then those that it claims itself. */
static void *runner_work(void *arg)
{
	struct runner *r = arg;
	pthread_mutex_lock(&r->lock);
	while (!r->stopping || r->handed) {
		struct task *task = r->handed;
		if (!task) {
			r->idle++;
			pthread_cond_wait(&r->work, &r->lock);
			r->idle--;
			continue;
		}
		r->handed = NULL;
		pthread_cond_broadcast(&r->room);
		while (task) {
			if (task_take_slot(r)) {
				struct task *next = task_execute(r, task);
				task = next ? next : task_claim_more(r);
			} else if (task_leave(r, task)) {
				task = NULL;
			}
		}
		runner_tell_free(r);
		pthread_cond_broadcast(&r->room);
		runner_tell_done(r);
	}
	r->threads--;
	pthread_cond_broadcast(&r->room);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* Gives the task to a thread that has nothing to do, or to a new one; the lock is held. */
static void runner_hand_over(struct runner *r, struct task *task)
{
	pthread_t thread;
	int code = 0;
	while (r->handed)
		pthread_cond_wait(&r->room, &r->lock);
	r->handed = task;
	if (r->idle) {
		pthread_cond_signal(&r->work);
		return;
	}
	code = pthread_create(&thread, NULL, runner_work, r);
	if (code == 0) {
		pthread_detach(thread);
		r->threads++;
		return;
	}
	log_error("cannot start a thread: %s", strerror(code));
	r->handed = NULL;
	while (!task_leave(r, task))
		continue;
}

/* ---- the thread that claims ---- */

static void *runner_dispatch(void *arg)
{
	struct runner *r = arg;
	struct shared *shared = r->service->shared;
	pthread_mutex_lock(&r->lock);
	while (!r->stopping) {
		if (runner_in_hand(r) >= runner_most(r) || r->handed) {
			pthread_cond_wait(&r->room, &r->lock);
			continue;
		}
		r->ahead++;
		runner_weigh(r);
		pthread_mutex_unlock(&r->lock);
		uint32_t seen = bell_word(shared, BELL_QUEUE);
		int64_t next_due;
		struct task *task = task_claim(r, 0, &next_due);
		pthread_mutex_lock(&r->lock);
		if (task) {
			runner_hand_over(r, task);
			continue;
		}
		r->ahead--;
		runner_weigh(r);
		pthread_cond_broadcast(&r->room);
		if (r->stopping)
			break;
		pthread_mutex_unlock(&r->lock);
		int64_t left_ms =
		    next_due == INT64_MAX ? LOOK_MS : (next_due - clock_now()) / 1000 + 1;
		left_ms = left_ms < 0 ? 0 : left_ms > LOOK_MS ? LOOK_MS : left_ms;
		bell_wait(shared, BELL_QUEUE, seen, left_ms);
		pthread_mutex_lock(&r->lock);
	}
	runner_tell_done(r);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* ---- the owner's side ---- */

static struct runner *runner_make(struct service *service, unsigned slots)
{
	struct runner *r = xcalloc(1, sizeof(*r));
	r->service = service;
	r->slots = slots;
	r->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->room, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_cond_init(&r->turn, NULL);
	return r;
}

static struct runner *runner_fail(struct runner *r, int code, struct error *err)
{
	error_set(err, ERR_INTERNAL, "cannot execute runs in the background: %s", strerror(code));
	runner_free(r);
	return NULL;
}

struct runner *runner_new(struct service *service, unsigned slots, struct error *err)
{
	struct runner *r = runner_make(service, slots);
	int code = r->done < 0 ? errno : pthread_create(&r->dispatcher, NULL, runner_dispatch, r);
	if (code)
		return runner_fail(r, code, err);
	r->dispatches = true;
	return r;
}

struct runner *runner_new_alone(struct service *service, int64_t row, struct error *err)
{
	struct runner *r = runner_make(service, 1);
	int64_t ignored;
	if (r->done < 0)
		return runner_fail(r, errno, err);
	struct task *task = task_claim(r, row, &ignored);
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	runner_weigh(r);
	if (task) {
		r->ahead = 1;
		runner_hand_over(r, task);
	}
	runner_tell_done(r);
	pthread_mutex_unlock(&r->lock);
	return r;
}

unsigned runner_reserve(struct runner *r, unsigned slots)
{
	pthread_mutex_lock(&r->lock);
	unsigned taken = r->taken;
	r->reserved = slots;
	runner_weigh(r);
	pthread_cond_broadcast(&r->room);
	pthread_mutex_unlock(&r->lock);
	return taken;
}

void runner_stop(struct runner *r)
{
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	runner_weigh(r);
	pthread_cond_broadcast(&r->work);
	pthread_cond_broadcast(&r->turn);
	pthread_cond_broadcast(&r->room);
	runner_tell_done(r);
	pthread_mutex_unlock(&r->lock);
	bell_ring(r->service->shared, BELL_QUEUE);
}

void runner_yield(struct runner *r)
{
	pthread_mutex_lock(&r->lock);
	r->yield = true;
	pthread_cond_broadcast(&r->room);
	pthread_mutex_unlock(&r->lock);
}

void runner_abandon(struct runner *r)
{
	pthread_mutex_lock(&r->lock);
	for (struct task *task = r->tasks; task; task = task->next)
		task_give_back(r, task);
	pthread_mutex_unlock(&r->lock);
}

int runner_done(const struct runner *r)
{
	return r->done;
}

void runner_free(struct runner *r)
{
	if (r->dispatches)
		pthread_join(r->dispatcher, NULL);
	pthread_mutex_lock(&r->lock);
	while (r->threads)
		pthread_cond_wait(&r->room, &r->lock);
	pthread_mutex_unlock(&r->lock);
	if (r->done >= 0)
		close(r->done);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->turn);
	pthread_cond_destroy(&r->room);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
