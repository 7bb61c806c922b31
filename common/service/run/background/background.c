/* SPDX-License-Identifier: ISC */
/* Executing a queued run: from the claim to its end, or back into the queue. */
#include "service/run/background/background.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "service/run/answers.h"
#include "service/run/stream/chunk.h"
#include "service/run/stream/keeper.h"
#include "service/run/stream/replay.h"
#include "service/run/turn.h"
#include "service/thread/change.h"

#define FOREVER_MS ((int64_t)1 << 40)
/* until waiting for a lease is tried again, when there was no room to wait */
#define NO_ROOM_MS 100
#define UNWRITTEN_MS 500 /* until writing the end of a run is tried again */
/* before a run is given up to a later attempt because the storage has failed */
#define AGAIN_MS 5000
#define LONG_MS 25000 /* the same when this was not its first attempt */
#define LOOK_MS 100   /* how often to look for orders meanwhile */

/* One attempt to execute a background run. */
struct attempt {
	struct call call;
	const struct background_host *host;
	const struct run_job *job;
	struct run_record record;
	struct run_background run;
	const struct told *told; /* what earlier attempts have told, or NULL */
	bool waited;             /* it had to wait for its thread */
};

/* ---- its thread ---- */

static struct lease *background_acquire(struct attempt *a, int64_t wait_ms)
{
	struct storage *storage = a->call.service->storage;
	struct error err = {0};
	struct lease *lease = storage->threads->lease_acquire(
	    storage, &a->call.ctx, a->job->thread_id, CLAIM_ENQUEUE, wait_ms, &err);
	error_release(&err);
	return lease;
}

/* Acquires the lease, however long that takes. */
static struct lease *background_lease(struct attempt *a)
{
	struct lease *lease = background_acquire(a, 0);
	if (lease)
		return lease;
	a->waited = true;
	a->host->waits(a->host->arg, true);
	chunk_keepers_hurry(a->call.service->keepers);
	while (!(lease = background_acquire(a, FOREVER_MS)))
		clock_sleep_ms(NO_ROOM_MS);
	a->host->waits(a->host->arg, false);
	return lease;
}

/* Fills in the run's record as it is now; false when the run was stopped, or its record removed,
 * since it was claimed.  The record of a run that has not begun follows from its job; if that was
 * claimed a moment ago, the first write will find out whether the run is still wanted. */
static bool background_is_wanted(struct attempt *a)
{
	struct call *call = &a->call;
	const struct run_job *job = a->job;
	if (job->attempt == 1 && !job->given_back && !a->waited) {
		a->record = (struct run_record){.number = job->number,
		    .run_id = job->run_id,
		    .status = RUN_QUEUED,
		    .created_at = job->created_at,
		    .job = job->row};
		return true;
	}
	return call_record(call, job->thread_id, job->run_id, &a->record) &&
	    a->record.job == job->row && run_status_goes_on(a->record.status);
}

/*
 * Marks the lease as that of the run, also where the graph is not run.  Then reads what a run that
 * goes on was ordered to do before its process died, or while nobody had it.  From lease_run on an
 * order comes through the lease; earlier ones were kept with the job (halt.h).
 */
static bool background_enter(struct attempt *a, struct lease *lease)
{
	struct call *call = &a->call;
	struct storage *storage = call->service->storage;
	return storage->threads->lease_run(
		   storage, &call->ctx, lease, a->job->run_id, &call->error) &&
	    (!a->job->answers_json ||
		storage->runs->ordered(
		    storage, &call->ctx, a->job->row, &a->run.ordered, &call->error));
}

/* ---- back into the queue ---- */

/* Whether the database has failed, and may be back for another attempt. */
static bool background_may_lose(const struct attempt *a)
{
	return a->call.error.kind == ERR_TRANSIENT_STORAGE &&
	    a->job->attempt < a->call.service->config->runs_max_attempts;
}

/* Leaves the run as if this process had died.  Until that is stored nobody else can have the run.
 * lease may be NULL.  False when the run's end is stored already. */
static bool background_lose(struct attempt *a, const struct lease *lease)
{
	struct call *call = &a->call;
	struct storage *storage = call->service->storage;
	const struct run_job *job = a->job;
	struct error err = {0};
	enum lease_order order = ORDER_NONE;
	bool told = false, lost = true;
	log_warning("run %s of thread %s is to be taken up again: %s", job->run_id, job->thread_id,
	    error_why(&call->error));
	/* waits, so that the attempts outlast a disk that is full for some seconds and takes only
	 * what is small; ends early on an order */
	int64_t end = clock_monotonic_ms() + (job->attempt > 1 ? LONG_MS : AGAIN_MS);
	while (clock_monotonic_ms() < end && !*a->host->yield && order == ORDER_NONE) {
		clock_sleep_ms(LOOK_MS);
		if (lease)
			storage->threads->lease_ordered(storage, &call->ctx, lease, &order, &err);
		error_release(&err);
	}
	while (!storage->runs->lose(storage, &call->ctx, job, &lost, &err)) {
		if (!told)
			log_error("run %s of thread %s cannot go back into the queue: %s",
			    job->run_id, job->thread_id, error_why(&err));
		told = true;
		error_release(&err);
		if (*a->host->yield)
			return true; /* it is lost with the process */
		clock_sleep_ms(UNWRITTEN_MS);
	}
	return lost || told; /* if it failed once, the first try may have been stored */
}

/* ---- its end ---- */

/* Writes the end of a run that did not write it itself, and tries until that succeeds.  False where
 * the process ends before that, and the run is lost with it. */
static bool background_finish(
    struct attempt *a, enum run_status status, const struct error *failure)
{
	struct storage *storage = a->call.service->storage;
	const char *text = failure ? run_failure_json(a->call.arena, failure) : NULL;
	struct error err = {0};
	bool told = false;
	while (!storage->runs->finish(storage, &a->call.ctx, a->job->row, status, text, &err)) {
		if (!told)
			log_error("the end of run %s of thread %s cannot be stored: %s",
			    a->job->run_id, a->job->thread_id, error_why(&err));
		told = true;
		error_release(&err);
		if (*a->host->yield)
			return false;
		clock_sleep_ms(UNWRITTEN_MS);
	}
	return true;
}

static void background_fail(struct attempt *a, const struct lease *lease)
{
	if (!background_may_lose(a) || !background_lose(a, lease))
		background_finish(a, RUN_ERROR, &a->call.error);
}

/* ---- the run ---- */

/* Starts keeping the run's chunks.  Those of earlier attempts have numbers already, and may lack
 * what was stored last.  The error of a run that could not be opened is still set afterwards, for
 * its stream. */
static bool background_keep(struct attempt *a, struct turn *turn)
{
	struct call *call = &a->call;
	const struct run_job *job = a->job;
	struct run_record so_far = a->record;
	const struct chunk_keeper_setup setup = {.granularity = GRANULARITY_FULL,
	    .run_id = job->run_id,
	    .request_id = call->ctx.request_id};
	bool again = job->attempt > 1 || job->given_back;
	struct error of_run = {0};
	int64_t seq = 0;
	so_far.step = turn->thread.step;
	so_far.until = job->answers_json ? INT64_MAX : so_far.after + so_far.brought;
	error_move(&of_run, &call->error);
	if (!again || (a->told = replay_go_on(call, &so_far, &seq)))
		turn->keeper = chunk_keeper_new(call->service->keepers, &setup, &call->error);
	if (turn->keeper) {
		chunk_keeper_begin(
		    turn->keeper, (struct run_key){job->thread_row, job->number}, seq);
		error_move(&call->error, &of_run);
	}
	error_release(&of_run);
	return turn->keeper;
}

static void background_end(
    struct attempt *a, struct turn *turn, struct chunk_writer *writer, bool ok)
{
	struct storage *storage = a->call.service->storage;
	struct error err = {0};
	bool ended = true;
	/* whoever is told of the end finds the thread as the run leaves it */
	if (!storage->threads->lease_run(storage, &a->call.ctx, turn->lease, NULL, &err))
		error_release(&err);
	if (!ok)
		ended = background_finish(a, RUN_ERROR, &a->call.error);
	else if (turn->action == TURN_REPORT_PAUSE)
		ended = background_finish(a, RUN_INTERRUPTED, NULL);
	else if (turn->action == TURN_NOTHING_NEW) /* its calls were only reported again */
		ended = background_finish(a, RUN_COMPLETED, NULL);
	if (!ended) { /* whoever takes it up will tell how it ends */
		chunk_keeper_flush(turn->keeper);
		turn_end(turn);
		return;
	}
	chunk_outcome(writer, ok);
	turn_leave(turn);
	chunk_done(writer);
}

/* Executes the run, and tells all chunks that were not told before. */
static void background_perform(struct attempt *a, struct turn *turn, bool ok)
{
	const struct run_job *job = a->job;
	struct storage *storage = a->call.service->storage;
	struct chunk_writer writer;
	struct error err = {0};
	chunk_writer_init(&writer, turn, NULL);
	writer.told = a->told;
	if (job->attempt > 1 && !job->given_back && !a->run.ordered)
		chunk_restarted(&writer, job->attempt);
	ok = ok && turn_run(turn, &writer.observer);
	if (!ok && background_may_lose(a))
		chunk_keeper_flush(turn->keeper);
	if (ok && turn_given_back(turn)) {
		/* whoever takes it up goes on numbering from there */
		chunk_keeper_flush(turn->keeper);
		turn_end(turn);
		if (!storage->runs->give_back(storage, &a->call.ctx, job, &err))
			log_error("run %s of thread %s cannot be given back: %s", job->run_id,
			    job->thread_id, error_why(&err));
		error_release(&err);
	} else if (!ok && a->call.error.kind == ERR_THREAD_BUSY) {
		turn_end(turn); /* the run was stopped or given back; its end is not ours to tell */
	} else if (!ok && background_may_lose(a) && background_lose(a, turn->lease)) {
		turn_end(turn);
	} else {
		background_end(a, turn, &writer, ok);
	}
	chunk_writer_release(&writer);
}

static void background_run(struct attempt *a, struct lease *lease)
{
	struct call *call = &a->call;
	const struct run_job *job = a->job;
	struct turn turn;
	const cJSON *body = arena_json(call->arena, json_parse_own(job->body_json));
	a->run = (struct run_background){.record = &a->record,
	    .job = job,
	    .attempt = job->attempt,
	    .entered = job->answers_json,
	    .yields = a->host->yield,
	    .claims = a->host->claims,
	    .stores = a->host->stores,
	    .arg = a->host->arg};
	metrics_count(METRIC_ATTEMPTS, 1);
	metrics_gauge(GAUGE_BACKGROUND, 1);
	int64_t modes = json_int(body, BACKGROUND_MODES, 0);
	bool ok = background_enter(a, lease) &&
	    (modes ? turn_read_whole(&turn, call, body) : turn_read(&turn, call, body, "messages"));
	if (!ok)
		turn = (struct turn){.call = call, .run_id = job->run_id};
	turn.in.message_resumes = cJSON_IsTrue(json_get(body, BACKGROUND_MESSAGE_RESUMES));
	turn.in.answers = json_str(body, BACKGROUND_ANSWERS);
	turn.in.modes = modes;
	turn.thread.thread_id = job->thread_id;
	ok = turn_open_background(&turn, lease, &a->run) && ok;
	if (modes) /* a client of LangGraph, which sends messages and results again */
		ok = ok && answers_calls_known(call, &turn.thread, &turn.in) &&
		    answers_drop_known(call, &turn.thread, &turn.in);
	if (ok && cJSON_IsTrue(json_get(body, BACKGROUND_GOES_ON)))
		turn_go_on(&turn);
	if (background_keep(a, &turn)) {
		background_perform(a, &turn, ok);
		chunk_keeper_end(turn.keeper);
	} else {
		turn_log_failure(&turn);
		background_fail(a, turn.lease);
		turn_end(&turn);
	}
	metrics_gauge(GAUGE_BACKGROUND, -1);
}

void background_execute(
    struct service *service, const struct run_job *job, const struct background_host *host)
{
	struct attempt a = {.host = host, .job = job};
	struct call *call = &a.call;
	call_init(call, service, NULL);
	struct lease *lease = background_lease(&a);
	service->storage->runs->begins(service->storage, job);
	/* who sent it */
	cJSON *caller = arena_json(call->arena, json_parse_own(job->caller_json));
	const struct identity identity = {.user = json_get(caller, "user"),
	    .user_id = json_str(caller, "user_id"),
	    .verified = cJSON_IsTrue(json_get(caller, "verified"))};
	call->ctx.request_id = json_str(caller, "request_id");
	call->trace.parent = json_str(caller, "traceparent");
	call->trace.state = json_str(caller, "tracestate");
	call_identify(call, &identity);
	if (cJSON_IsTrue(json_get(caller, "guarded")))
		call->permission = (struct permission){"graph", "invoke", job->thread_id};
	log_request(call->ctx.request_id);
	if (background_is_wanted(&a))
		background_run(&a, lease);
	else
		lease_drop(service->storage, &call->ctx, lease);
	if (!a.run.record && error_is_set(&call->error)) /* nor could its record be read */
		background_fail(&a, NULL);
	log_request(NULL);
	call_release(call);
}
