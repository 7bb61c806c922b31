/* SPDX-License-Identifier: ISC */
/* The keeper's thread and its jobs: opening a thread, adding messages, letting go. */
#include "service/live/live_parts.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/thread/change.h"
#include "service/thread/names.h"
#include "service/thread/threads.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A request that changes the thread is over by then, a session is not. */
#define LEASE_WAIT_MS 1000
#define STORE_WAIT_MS 30000 /* how long a storage that is away is waited for */
#define STORE_LAST_MS 1000  /* the same while the session opens or is to end */
#define STORE_PAUSE_MS 100  /* between two tries; doubled each time, up to STORE_REST_MS */
#define STORE_REST_MS 1000
#define BEHIND 16 /* jobs: see live_keeper_is_behind */
#define COMPLAINTS_LOGGED 10

enum job_kind { JOB_OPEN, JOB_ADD, JOB_HANDLE, JOB_LET_GO };

struct job {
	struct job *next;
	enum job_kind kind;
	cJSON *message;
	char *text; /* thread id, handle, or NULL */
};

struct live_keeper {
	struct service *service;
	const struct identity *identity;
	const char *request_id;
	int wake;
	bool started;
	pthread_t thread_handle;
	/* only the keeper's own thread changes these; others read them once the state is open */
	struct arena *arena;
	struct lease *lease;
	struct thread thread, found;
	char *metadata;
	const char *handle;
	struct error error;
	int64_t away; /* since when the storage takes nothing; 0: it does */
	pthread_mutex_t lock;
	pthread_cond_t work;
	/* guarded by lock */
	struct job *first, **last;
	size_t waiting; /* jobs in that list */
	enum live_keeper_state state;
	bool busy, stopping;
	unsigned complaints;
	char *unstored; /* why, for live_keeper_unstored; or NULL */
};

/* ---- what is done with the thread ---- */

static const struct thread_ops *live_keeper_ops_of(const struct live_keeper *k)
{
	return k->service->storage->threads;
}

static bool live_keeper_take_lease(struct live_keeper *k, struct call *call, const char *thread_id)
{
	struct storage *storage = k->service->storage;
	k->lease = live_keeper_ops_of(k)->lease_acquire(
	    storage, &call->ctx, thread_id, CLAIM_ENQUEUE, LEASE_WAIT_MS, &call->error);
	return k->lease ||
	    error_set(
		&call->error, ERR_THREAD_BUSY, "Thread %s is busy with another run", thread_id);
}

static void live_keeper_release_lease(struct live_keeper *k)
{
	if (k->lease)
		lease_drop(k->service->storage, NULL, k->lease);
	k->lease = NULL;
}

/* Reads the thread; what does not exist becomes a blank one.  False with the error set. */
static bool live_keeper_read(struct live_keeper *k, struct call *call, const char *thread_id)
{
	struct storage *storage = k->service->storage;
	if (live_keeper_ops_of(k)->get(
		storage, &call->ctx, k->arena, thread_id, &k->thread, &call->error))
		return true;
	thread_blank(
	    &k->thread, arena_strdup(k->arena, thread_id), arena_strdup(k->arena, call->user_id));
	return !error_is_set(&call->error);
}

static bool live_keeper_may_have(struct live_keeper *k, struct call *call)
{
	const struct permission permission = {"graph", "stream", k->thread.thread_id};
	if (call_permit(call, &permission) && (!k->thread.row || call_owns(call, &k->thread)))
		return true;
	if (call->error.kind == ERR_PERMISSION) {
		error_release(&call->error);
		error_set(&call->error, ERR_PERMISSION, "Not authorized to stream thread %s",
		    k->thread.thread_id);
	}
	return false;
}

/* Whether to wait for a storage that is away: only once, not for each job, so that a session that
 * is over ends. */
static bool live_keeper_may_wait(struct live_keeper *k)
{
	int64_t now = clock_monotonic_ms(), most = STORE_WAIT_MS;
	if (!k->away)
		k->away = now;
	pthread_mutex_lock(&k->lock);
	if (k->stopping || k->state == KEEPER_OPENING) /* while it opens, the client waits */
		most = STORE_LAST_MS;
	pthread_mutex_unlock(&k->lock);
	return now - k->away < most;
}

/* Stores the thread with what came; a lock that somebody holds too long is waited for, and a disk
 * that is full or a server that is away for some seconds. */
static bool live_keeper_store(struct live_keeper *k, struct call *call, const cJSON *messages)
{
	int64_t pause = STORE_PAUSE_MS;
	for (;; pause = 2 * pause < STORE_REST_MS ? 2 * pause : STORE_REST_MS) {
		struct change change = {.call = call, .lease = k->lease, .thread = k->thread};
		if (change_append(&change, messages)) {
			k->thread = change.thread;
			k->away = 0;
			return true;
		}
		if (call->error.kind != ERR_TRANSIENT_STORAGE || !live_keeper_may_wait(k))
			return false;
		error_release(&call->error);
		clock_sleep_ms(pause);
	}
}

static enum live_keeper_state live_keeper_begin(
    struct live_keeper *k, struct call *call, const char *thread_id)
{
	struct thread blank; /* it belongs to the call, which ends before the session */
	bool opened = k->service->storage || service_open_storage(k->service, &call->error);
	if (thread_id) {
		/* the owner is checked first: a stranger must not learn that the thread is busy */
		opened = opened && live_keeper_read(k, call, thread_id) &&
		    live_keeper_may_have(k, call) && live_keeper_take_lease(k, call, thread_id) &&
		    live_keeper_read(k, call, thread_id) &&
		    (!k->thread.row || call_owns(call, &k->thread));
	} else {
		opened = opened && thread_take_new(call, NULL, CLAIM_ENQUEUE, &k->lease, &blank) &&
		    live_keeper_read(k, call, blank.thread_id) && live_keeper_may_have(k, call);
	}
	if (opened && !k->thread.row) {
		k->thread.thread_name = names_make(&call->service->names, NULL, k->arena);
		opened = live_keeper_store(k, call, NULL);
	}
	if (!opened) {
		if (k->service->storage)
			live_keeper_release_lease(k);
		error_move(&k->error, &call->error);
		return KEEPER_REFUSED;
	}
	cJSON *metadata = json_parse_own(k->thread.metadata_json);
	k->handle = arena_strdup(k->arena, json_str(metadata, THREAD_RESUMPTION_HANDLE));
	cJSON_Delete(metadata);
	k->found = k->thread;
	return KEEPER_OPEN;
}

/* Takes the lease again, for one write.  Others may have changed or deleted the thread, and a new
 * one with its id may be somebody else's. */
static bool live_keeper_borrow(struct live_keeper *k, struct call *call)
{
	struct storage *storage = k->service->storage;
	const char *id = k->found.thread_id;
	if (!live_keeper_take_lease(k, call, id))
		return false;
	bool found =
	    live_keeper_ops_of(k)->get(storage, &call->ctx, k->arena, id, &k->thread, &call->error);
	return (found && k->thread.row == k->found.row) || thread_not_found(call);
}

static bool live_keeper_change(struct live_keeper *k, struct call *call, struct job *job)
{
	cJSON *messages = NULL;
	if (job->kind == JOB_HANDLE) {
		cJSON *metadata = json_parse_own(k->thread.metadata_json);
		if (!metadata)
			metadata = cJSON_CreateObject();
		if (job->text)
			json_set(metadata, THREAD_RESUMPTION_HANDLE, cJSON_CreateString(job->text));
		else
			cJSON_DeleteItemFromObjectCaseSensitive(metadata, THREAD_RESUMPTION_HANDLE);
		cJSON_free(k->metadata);
		k->thread.metadata_json = k->metadata = json_print(metadata);
		cJSON_Delete(metadata);
	}
	if (job->message) {
		messages = arena_json(call->arena, cJSON_CreateArray());
		cJSON_AddItemToArray(messages, job->message);
		job->message = NULL;
	}
	return live_keeper_store(k, call, messages);
}

/* ---- the thread that does it ---- */

/* A client that goes on where nothing is stored must not fill the log. */
static void live_keeper_complain(struct live_keeper *k, const struct error *err)
{
	if (k->complaints < COMPLAINTS_LOGGED)
		log_error("what was said on thread %s is not stored: %s", k->found.thread_id,
		    error_why(err));
	pthread_mutex_lock(&k->lock);
	if (k->complaints++ == 0)
		k->unstored = xstrdup(err->detail);
	pthread_mutex_unlock(&k->lock);
}

static enum live_keeper_state live_keeper_do(
    struct live_keeper *k, struct job *job, enum live_keeper_state state)
{
	struct call call;
	bool borrowed;
	call_init(&call, k->service, k->request_id);
	call_identify(&call, k->identity);
	switch (job->kind) {
	case JOB_OPEN:
		state = live_keeper_begin(k, &call, job->text);
		break;
	case JOB_ADD:
	case JOB_HANDLE:
		if (state != KEEPER_OPEN)
			break;
		borrowed = !k->lease;
		if ((borrowed && !live_keeper_borrow(k, &call)) ||
		    !live_keeper_change(k, &call, job))
			live_keeper_complain(k, &call.error);
		if (borrowed)
			live_keeper_release_lease(k);
		break;
	case JOB_LET_GO:
		live_keeper_release_lease(k);
		break;
	}
	call_release(&call);
	return state;
}

static void live_keeper_job_free(struct job *job)
{
	cJSON_Delete(job->message);
	free(job->text);
	free(job);
}

static struct job *live_keeper_take_job(struct live_keeper *k)
{
	struct job *job = k->first;
	if (!job)
		return NULL;
	k->first = job->next;
	if (!k->first)
		k->last = &k->first;
	k->waiting--;
	return job;
}

static void live_keeper_wake(struct live_keeper *k)
{
	uint64_t one = 1;
	if (write(k->wake, &one, sizeof(one)) < 0)
		return; /* it is full of wake-ups already */
}

static void *live_keeper_work(void *arg)
{
	struct live_keeper *k = arg;
	log_request(k->request_id);
	pthread_mutex_lock(&k->lock);
	for (;;) {
		struct job *job;
		while (!(job = live_keeper_take_job(k)) && !k->stopping)
			pthread_cond_wait(&k->work, &k->lock);
		if (!job)
			break;
		enum live_keeper_state state = k->state;
		k->busy = true;
		pthread_mutex_unlock(&k->lock);
		state = live_keeper_do(k, job, state);
		live_keeper_job_free(job);
		pthread_mutex_lock(&k->lock);
		k->state = state;
		k->busy = false;
		live_keeper_wake(k);
	}
	pthread_mutex_unlock(&k->lock);
	log_request(NULL);
	return NULL;
}

/* ---- the others' side ---- */

struct live_keeper *live_keeper_new(
    struct service *service, const struct identity *identity, const char *request_id, int wake_fd)
{
	struct live_keeper *k = xcalloc(1, sizeof(*k));
	k->service = service;
	k->identity = identity;
	k->request_id = request_id;
	k->wake = wake_fd;
	k->arena = arena_new();
	k->last = &k->first;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->work, NULL);
	return k;
}

void live_keeper_end(struct live_keeper *k)
{
	struct job *job;
	pthread_mutex_lock(&k->lock);
	k->stopping = true;
	pthread_cond_signal(&k->work);
	pthread_mutex_unlock(&k->lock);
	if (k->started)
		pthread_join(k->thread_handle, NULL);
	while ((job = live_keeper_take_job(k)))
		live_keeper_job_free(job);
	if (k->service->storage)
		live_keeper_release_lease(k);
}

void live_keeper_free(struct live_keeper *k)
{
	error_release(&k->error);
	free(k->unstored);
	cJSON_free(k->metadata);
	arena_free(k->arena);
	pthread_cond_destroy(&k->work);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static void live_keeper_add_job(
    struct live_keeper *k, enum job_kind kind, cJSON *message, const char *text)
{
	struct job *job = xcalloc(1, sizeof(*job));
	*job = (struct job){.kind = kind, .message = message, .text = xstrdup(text)};
	pthread_mutex_lock(&k->lock);
	*k->last = job;
	k->last = &job->next;
	k->waiting++;
	if (!k->started && k->state == KEEPER_OPENING) {
		int code = pthread_create(&k->thread_handle, NULL, live_keeper_work, k);
		k->started = code == 0;
		if (code != 0) {
			error_set(&k->error, ERR_INTERNAL, NULL);
			error_cause(&k->error, "cannot start a thread: %s", strerror(code));
			k->state = KEEPER_REFUSED;
			live_keeper_wake(k);
		}
	}
	pthread_cond_signal(&k->work);
	pthread_mutex_unlock(&k->lock);
}

void live_keeper_open(struct live_keeper *k, const char *thread_id)
{
	live_keeper_add_job(k, JOB_OPEN, NULL, thread_id);
}

void live_keeper_add(struct live_keeper *k, cJSON *message)
{
	live_keeper_add_job(k, JOB_ADD, message, NULL);
}

void live_keeper_set_handle(struct live_keeper *k, const char *handle)
{
	live_keeper_add_job(k, JOB_HANDLE, NULL, handle);
}

void live_keeper_let_go(struct live_keeper *k)
{
	if (k->started)
		live_keeper_add_job(k, JOB_LET_GO, NULL, NULL);
}

enum live_keeper_state live_keeper_state(struct live_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	enum live_keeper_state state = k->state;
	pthread_mutex_unlock(&k->lock);
	return state;
}

const struct error *live_keeper_error(const struct live_keeper *k)
{
	return &k->error;
}

const struct thread *live_keeper_thread(const struct live_keeper *k)
{
	return &k->found;
}

const char *live_keeper_handle(const struct live_keeper *k)
{
	return k->handle;
}

char *live_keeper_unstored(struct live_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	char *why = k->unstored;
	k->unstored = NULL;
	pthread_mutex_unlock(&k->lock);
	return why;
}

bool live_keeper_is_behind(struct live_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	bool behind = k->waiting >= BEHIND;
	pthread_mutex_unlock(&k->lock);
	return behind;
}

bool live_keeper_rests(struct live_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	bool rests = !k->started || (!k->first && !k->busy);
	pthread_mutex_unlock(&k->lock);
	return rests;
}
