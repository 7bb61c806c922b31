/* SPDX-License-Identifier: ISC */
/* Giving an order through the lease, or ending a run that no process has. */
#include "service/run/halt.h"

#include "service/thread/change.h"
#include "storage/runs.h"

#include <string.h>

static bool halt_is_meant(const struct lease_aim *aim, const char *run_id)
{
	return !aim ||
	    ((!aim->only || strcmp(aim->only, run_id) == 0) &&
		(!aim->but || strcmp(aim->but, run_id) != 0));
}

bool halt_run(struct call *call, const char *thread_id, const struct lease_aim *aim, bool *running)
{
	struct storage *storage = call->service->storage;
	struct lease *lease;
	struct thread thread;
	int64_t rows[1];
	size_t room = 0;
	if (!storage->threads->lease_stop(
		storage, &call->ctx, thread_id, aim, running, &call->error))
		return false;
	bool left = !*running && call_thread(call, thread_id, &thread) &&
	    thread_is_left(call, &thread) && halt_is_meant(aim, thread.run_id);
	if (!left)
		return !error_is_set(&call->error);
	*running = true;
	/* a process that takes it up at this moment looks for orders once it has the lease */
	if (!storage->runs->recover(storage, &call->ctx, call->service->config->runs_max_attempts,
		rows, &room, &call->error) ||
	    !storage->runs->stop_queued(storage, &call->ctx, thread_id, thread.run_id,
		aim ? aim->order : ORDER_STOP, &call->error))
		return false;
	if (!aim || aim->order != ORDER_ROLLBACK || call->service->config->runs_background)
		return true;
	/* nobody will take it up, and taking the thread carries out the order */
	if (!thread_take(call, thread_id, CLAIM_ENQUEUE, &lease, &thread))
		return false;
	lease_drop(storage, &call->ctx, lease);
	return true;
}

bool halt_one(struct call *call, const char *thread_id, const char *run_id, enum lease_order order)
{
	struct storage *storage = call->service->storage;
	const struct lease_aim aim = {.order = order, .only = run_id};
	bool running;
	return storage->runs->stop_queued(
		   storage, &call->ctx, thread_id, run_id, order, &call->error) &&
	    halt_run(call, thread_id, &aim, &running);
}
