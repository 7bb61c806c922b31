/* SPDX-License-Identifier: ISC */
/* Ending a run whose process has died, in place of the process that would take it up. */
#include "service/thread/change.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "graph/run.h"
#include "storage/runs.h"

#define LET_GO_MS 500 /* between tries, while the database is away */
#define LET_GO_TRIES 20

/* Gives up the job that this process has claimed: while it has the job, nobody else can find it
 * lost. */
static void left_let_go(struct call *call, const struct run_job *job)
{
	struct storage *storage = call->service->storage;
	struct error err = {0};
	bool lost;
	for (int tries = 1; !storage->runs->lose(storage, &call->ctx, job, &lost, &err); tries++) {
		if (tries == LET_GO_TRIES)
			log_error("run %s of thread %s is not free before this process ends: %s",
			    job->run_id, job->thread_id, error_why(&err));
		error_release(&err);
		if (tries == LET_GO_TRIES)
			return;
		clock_sleep_ms(LET_GO_MS);
	}
}

/* Puts the thread back, by beginning the run as a later attempt would: that heeds the order before
 * any node. */
static void left_put_back(struct call *call, struct lease *lease, const struct thread *thread,
    const struct run_record *record, const struct run_job *job)
{
	static const _Atomic bool never;
	struct run_observer observer = {.event = run_ignore_event};
	struct error err = {0};
	const struct run_background background = {.record = record,
	    .attempt = job->attempt,
	    .entered = job->answers_json,
	    .ordered = ORDER_ROLLBACK,
	    .yields = &never};
	const struct run_setup setup = {.graph = call->service->graph,
	    .storage = call->service->storage,
	    .ctx = call->ctx,
	    .files = call->service->files,
	    .lease = lease,
	    .arena = call->arena,
	    .ids = &call->service->ids,
	    .config = arena_json(call->arena, cJSON_CreateObject()),
	    .run_id = record->run_id,
	    .thread = thread,
	    .observer = &observer,
	    .background = &background};
	call->service->storage->runs->begins(call->service->storage, job);
	if (!run_execute(run_new(&setup), RUN_ON, NULL, &err)) {
		log_error("run %s of thread %s failed while it was put back: %s", record->run_id,
		    thread->thread_id, error_why(&err));
		left_let_go(call, job);
	}
	error_release(&err);
}

bool left_end(struct call *call, struct lease *lease, struct thread *thread)
{
	struct storage *storage = call->service->storage;
	enum lease_order order;
	struct run_record record;
	struct run_job job;
	int64_t rows[1], ignored;
	size_t room = 0;
	bool ok = call_record(call, thread->thread_id, thread->run_id, &record) &&
	    storage->runs->recover(storage, &call->ctx, call->service->config->runs_max_attempts,
		rows, &room, &call->error) &&
	    storage->runs->ordered(storage, &call->ctx, record.job, &order, &call->error);
	if (!ok)
		return !error_is_set(&call->error);
	if (order != ORDER_ROLLBACK)
		storage->runs->finish(storage, &call->ctx, record.job,
		    order ? RUN_STOPPED : RUN_ERROR, NULL, &call->error);
	else if (storage->runs->claim(
		     storage, &call->ctx, call->arena, record.job, 0, &job, &ignored, &call->error))
		left_put_back(call, lease, thread, &record, &job);
	return !error_is_set(&call->error) && call_thread(call, thread->thread_id, thread);
}
