/* SPDX-License-Identifier: ISC */
/* Finding threads, and taking them with their leases. */
#include "service/thread/change.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/thread/ident.h"
#include "storage/runs.h"

#include <string.h>

#define ID_ATTEMPTS 5 /* doc/protocol.md#ids */

/* How long a stop waits for the record of a run that it finds in flight. */
#define STORED_MS 5000

/* How often to look whether a run whose process died goes on. */
#define LEFT_LOOK_MS 50

bool thread_refuse_busy(struct call *call, const char *thread_id)
{
	return error_set(
	    &call->error, ERR_THREAD_BUSY, "Thread %s is busy with another run", thread_id);
}

static int64_t thread_wait_ms(const struct call *call)
{
	return (int64_t)(call->service->config->run_wait_timeout * 1000);
}

struct lease *lease_take(struct call *call, const char *thread_id, enum lease_claim claim)
{
	struct storage *storage = call->service->storage;
	struct lease *lease = storage->threads->lease_acquire(
	    storage, &call->ctx, thread_id, claim, thread_wait_ms(call), &call->error);
	if (!lease && !error_is_set(&call->error))
		thread_refuse_busy(call, thread_id);
	return lease;
}

void lease_drop(struct storage *storage, const struct storage_context *ctx, struct lease *lease)
{
	struct error err = {0};
	if (!storage->threads->lease_release(storage, ctx, lease, &err))
		log_warning("a thread is not free at once: %s", error_why(&err));
	error_release(&err);
}

bool thread_is_left(struct call *call, const struct thread *thread)
{
	struct run_record record;
	return thread->status == RUN_RUNNING &&
	    call_record(call, thread->thread_id, thread->run_id, &record) && record.job &&
	    record.status == RUN_RUNNING;
}

bool thread_take(struct call *call, const char *thread_id, enum lease_claim claim,
    struct lease **lease, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	int64_t deadline = clock_monotonic_ms() + thread_wait_ms(call);
	for (;;) {
		*lease = lease_take(call, thread_id, claim);
		if (!*lease)
			return false;
		if (!storage->threads->lease_thread(
			storage, &call->ctx, call->arena, *lease, NULL, thread, &call->error))
			thread_blank(thread, thread_id, call->user_id);
		bool left = !error_is_set(&call->error) && thread_is_left(call, thread);
		if (left && !call->service->config->runs_background)
			left = left_end(call, *lease, thread) && thread_is_left(call, thread);
		if (!left && !error_is_set(&call->error))
			return true;
		lease_drop(storage, &call->ctx, *lease);
		*lease = NULL;
		if (!left)
			return false;
		if (claim == CLAIM_REJECT || clock_monotonic_ms() >= deadline)
			return thread_refuse_busy(call, thread_id);
		clock_sleep_ms(LEFT_LOOK_MS);
	}
}

bool thread_take_new(struct call *call, const char *wanted, enum lease_claim claim,
    struct lease **lease, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	const char *owner = NULL;
	*lease = NULL;
	/* an existing thread may be busy, so look before waiting for it */
	if (wanted &&
	    !storage->threads->owner(
		storage, &call->ctx, call->arena, wanted, &owner, &call->error))
		return false;
	if (!wanted && id_is_unheard(&call->service->ids)) {
		const char *id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
		*lease = lease_take(call, id, CLAIM_UNHEARD);
		thread_blank(thread, id, call->user_id);
		return *lease;
	}
	for (int i = 0; !owner && i < (wanted ? 1 : ID_ATTEMPTS); i++) {
		const char *id = wanted;
		if (!id)
			id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
		if (!thread_take(call, id, claim, lease, thread))
			return false;
		if (!thread->row)
			return true;
		lease_drop(storage, &call->ctx, *lease);
		*lease = NULL;
	}
	if (!wanted)
		return error_set(&call->error, ERR_INTERNAL, NULL);
	return error_set(&call->error, ERR_THREAD_EXISTS, "Thread %s exists already", wanted);
}

bool thread_not_found(struct call *call)
{
	return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Thread not found");
}

bool thread_find(struct call *call, const char *thread_id, struct thread *thread)
{
	if (!thread_id_check(call, "path.thread_id", thread_id))
		return false;
	if (call_thread(call, thread_id, thread))
		return call_owns(call, thread);
	return thread_not_found(call);
}

/* Where the thread says that it is running but no run has it, it is read again: if it has not
 * changed, the run's process has died; else the run has just ended.  One in the background that has
 * died goes on, where there is a runner, so its thread does not wait for a new turn, but for the
 * run. */
bool thread_look(
    struct call *call, const char *thread_id, struct thread *thread, struct run_flags *flags)
{
	struct storage *storage = call->service->storage;
	const char *seen = NULL, *run_id;
	*flags = (struct run_flags){0};
	for (;;) {
		if (!thread_find(call, thread_id, thread))
			return false;
		if (!storage->threads->lease_running(storage, &call->ctx, thread_id,
			&flags->running, &flags->stop_requested, &call->error))
			return false;
		if (flags->running || thread->status != RUN_RUNNING)
			return true;
		run_id = thread->run_id ? thread->run_id : "";
		if (seen && strcmp(seen, run_id) == 0) {
			flags->running =
			    call->service->config->runs_background && thread_is_left(call, thread);
			return !error_is_set(&call->error);
		}
		seen = run_id;
	}
}

bool thread_stored(struct call *call, const char *thread_id, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	bool running, stop;
	for (int waited = 0;; waited++) {
		if (call_thread(call, thread_id, thread))
			return true;
		if (error_is_set(&call->error) || !call->permission.resource ||
		    !storage->threads->lease_running(
			storage, &call->ctx, thread_id, &running, &stop, &call->error) ||
		    !running)
			return false;
		if (waited >= STORED_MS)
			return error_set(&call->error, ERR_TRANSIENT_STORAGE, NULL);
		clock_sleep_ms(1);
	}
}
