/* SPDX-License-Identifier: ISC */
/* Queueing a run: checks the body, makes the thread where there is none, and adds the job. */
#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/texts.h"
#include "graph/state.h"
#include "service/files/media.h"
#include "service/history/earlier.h"
#include "service/run/answers.h"
#include "service/run/background/background.h"
#include "service/run/background/webhook.h"
#include "service/run/halt.h"
#include "service/run/records.h"
#include "service/run/turn.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "storage/queue.h"

#include <string.h>

/* How often to try when others delete or make the thread meanwhile: for an eighth of a second. */
#define THREAD_ATTEMPTS 8

/* Who is refused a lease later than that has waited for it. */
#define AT_ONCE_MS 100

struct submission {
	struct call *call;
	struct turn turn;
	double delay;
	const cJSON *metadata;
	struct run_job job;
	struct background_beside beside;
	bool is_known; /* the thread has a run of that id */
};

static const struct field_row submission_rows[] = {
    FIELD(submission, delay, .kind = &field_number, .max = BACKGROUND_DELAY_MAX,
	.expected = BACKGROUND_DELAY_EXPECTED),
    FIELD(submission, metadata, .kind = &field_json, .types = TYPE_OBJECT,
	.expected = METADATA_EXPECTED),
    FIELDS_END,
};

/* ---- the body ---- */

/* Reads the body as for invoke, and the members that only queued runs have; reports all
 * mistakes. */
static bool submission_read(struct submission *s, const cJSON *body)
{
	struct error *err = &s->call->error;
	const cJSON *webhook = json_opt(body, "webhook");
	const char *url = webhook ? cJSON_GetStringValue(webhook) : NULL;
	bool ok = s->beside.modes ? turn_read_whole(&s->turn, s->call, body)
				  : turn_read(&s->turn, s->call, body, "messages");
	if (!ok && err->kind != ERR_VALIDATION)
		return false;
	fields_read_body(err, "body", body, submission_rows, s);
	char *text = s->metadata ? json_print(s->metadata) : NULL;
	if (text && strlen(text) > METADATA_MAX)
		error_wrong(err, "body.metadata", "value_error", "must be " METADATA_EXPECTED);
	s->job.metadata_json = text ? text : "{}";
	if (text)
		arena_defer(s->call->arena, cJSON_free, text);
	if (webhook && webhook_check(s->call, url ? url : ""))
		s->job.webhook_url = url;
	return !error_is_set(err);
}

/* The body that is stored with the job: ids are added, and members that have been dealt with
 * removed. */
static const char *submission_body(struct submission *s, const cJSON *body)
{
	static const char *const heeded[] = {"config", "thread_id", "webhook", "delay", "metadata",
	    "multitask_strategy", BACKGROUND_MODES, BACKGROUND_GOES_ON, BACKGROUND_MESSAGE_RESUMES,
	    BACKGROUND_ANSWERS, NULL};
	const cJSON *config = json_opt(body, "config"), *item;
	cJSON *out = cJSON_CreateObject(), *ids = cJSON_CreateObject();
	cJSON_ArrayForEach(item, config) {
		if (strcmp(item->string, "run_id") != 0 && strcmp(item->string, "thread_id") != 0)
			json_refer(ids, item->string, item);
	}
	cJSON_ArrayForEach(item, body) {
		if (!texts_has(heeded, item->string))
			json_refer(out, item->string, item);
	}
	json_add_str(ids, "run_id", s->job.run_id);
	cJSON_AddItemToObject(out, "config", ids);
	json_add_str(out, "thread_id", s->job.thread_id);
	if (s->beside.modes)
		json_add_int(out, BACKGROUND_MODES, s->beside.modes);
	if (s->beside.goes_on)
		cJSON_AddTrueToObject(out, BACKGROUND_GOES_ON);
	if (s->beside.message_resumes)
		cJSON_AddTrueToObject(out, BACKGROUND_MESSAGE_RESUMES);
	if (s->beside.answers)
		json_add_str(out, BACKGROUND_ANSWERS, s->beside.answers);
	char *text = arena_print(s->call->arena, out);
	cJSON_Delete(out);
	return text;
}

static const char *submission_caller(struct call *call)
{
	cJSON *out = cJSON_CreateObject();
	json_refer(out, "user", call->user);
	json_add_str(out, "user_id", call->identity.user_id);
	cJSON_AddBoolToObject(out, "verified", call->identity.verified);
	cJSON_AddBoolToObject(out, "guarded", call->permission.resource != NULL);
	json_add_str(out, "request_id", call->ctx.request_id);
	json_add_str(out, "traceparent", call->trace.parent);
	json_add_str(out, "tracestate", call->trace.state);
	char *text = arena_print(call->arena, out);
	cJSON_Delete(out);
	return text;
}

/* ---- the queue ---- */

/* Whether the queue has room.  The gauge counts delayed jobs, too, so where it is high the due ones
 * are counted. */
static bool submission_has_room(struct submission *s)
{
	struct call *call = s->call;
	struct storage *storage = call->service->storage;
	int64_t most = call->service->config->runs_queue;
	bool full = false;
	if (queue_waiting(call->service->shared) < most)
		return true;
	if (most &&
	    !storage->runs->queued_due(
		storage, &call->ctx, NULL, clock_now(), most, &full, &call->error))
		return false;
	return (most && !full) || error_set(&call->error, ERR_QUEUE_FULL, NULL);
}

/* Checks the checkpoint that the run is to begin at, which is done again when it begins. */
static bool submission_may_go_back(struct submission *s, const struct thread *thread)
{
	const struct run_input *in = &s->turn.in;
	struct checkpoint checkpoint;
	return !in->checkpoint_id ||
	    (earlier_take(s->call, thread, in->checkpoint_id, &checkpoint) &&
		(in->has_resume || in->by_state || in->messages->child ||
		    earlier_goes_on(s->call, &checkpoint)));
}

/* Queues a run on an existing thread. */
static bool submission_add(struct submission *s, struct thread *thread, enum submit_result *result)
{
	struct call *call = s->call;
	struct storage *storage = call->service->storage;
	const struct lease_aim others = {.order = s->job.orders, .but = s->job.run_id};
	struct lease *lease = NULL;
	struct run_record known;
	bool running;
	if (!call_owns(call, thread))
		return false;
	s->is_known =
	    s->turn.in.run_id && call_record(call, s->job.thread_id, s->job.run_id, &known);
	if (s->is_known || error_is_set(&call->error))
		return s->is_known;
	bool ok = answers_calls_known(call, thread, &s->turn.in) &&
	    submission_may_go_back(s, thread) && submission_has_room(s);
	/* With the strategy reject, the run is refused unless it has the thread to itself.  The
	 * lease is held until the run is queued, so that of several at once only one gets
	 * through. */
	if (ok && s->turn.in.claim == CLAIM_REJECT) {
		lease = lease_take(call, s->job.thread_id, CLAIM_REJECT);
		ok = lease && turn_none_queued(call, s->job.thread_id);
	}
	ok = ok &&
	    storage->runs->submit(storage, &call->ctx, NULL, thread, &s->job, result, &call->error);
	if (lease)
		lease_drop(storage, &call->ctx, lease);
	if (!ok || *result != SUBMIT_DONE || !s->job.orders)
		return ok;
	/* other queued runs are stopped already; now stop the one that has the thread */
	return halt_run(call, s->job.thread_id, &others, &running);
}

/* Queues a run on a thread that does not exist; *result is SUBMIT_THREAD_GONE where it does by now,
 * or where so many wait to make it that there is no room for one more. */
static bool submission_add_new(
    struct submission *s, struct thread *thread, enum submit_result *result)
{
	struct call *call = s->call;
	struct storage *storage = call->service->storage;
	struct lease *lease;
	bool is_new = !s->turn.in.thread_id; /* its id was just made, and nobody else has it */
	if (s->turn.in.checkpoint_id)
		return earlier_not_found(call);
	if (!submission_has_room(s))
		return false;
	int64_t began = clock_monotonic_ms();
	*result = SUBMIT_THREAD_GONE;
	lease = lease_take(call, s->job.thread_id,
	    is_new && id_is_unheard(&call->service->ids) ? CLAIM_UNHEARD
		: s->turn.in.claim == CLAIM_REJECT       ? CLAIM_REJECT
							 : CLAIM_ENQUEUE);
	if (!lease) {
		bool waited = clock_monotonic_ms() - began >= AT_ONCE_MS;
		if (call->error.kind != ERR_THREAD_BUSY || s->turn.in.claim == CLAIM_REJECT ||
		    waited)
			return false;
		error_release(&call->error);
		return true;
	}
	is_new = is_new || !call_thread(call, s->job.thread_id, thread);
	if (is_new) {
		thread_blank(thread, s->job.thread_id, call->user_id);
		thread->created_at = thread->updated_at = s->job.created_at;
	}
	bool ok = !error_is_set(&call->error) &&
	    (!is_new || answers_calls_known(call, thread, &s->turn.in)) &&
	    (!is_new ||
		storage->runs->submit(
		    storage, &call->ctx, lease, thread, &s->job, result, &call->error));
	lease_drop(storage, &call->ctx, lease);
	return ok;
}

/* Queues the run, trying again where others make or delete the thread meanwhile. */
static bool submission_queue(struct submission *s)
{
	struct call *call = s->call;
	enum submit_result result = SUBMIT_THREAD_GONE;
	struct thread thread;
	for (int i = 0; i < THREAD_ATTEMPTS && result == SUBMIT_THREAD_GONE; i++) {
		if (i)
			clock_sleep_ms(1 << (i - 1));
		bool found = s->turn.in.thread_id && call_thread(call, s->job.thread_id, &thread);
		if (error_is_set(&call->error) ||
		    !(found ? submission_add(s, &thread, &result)
			    : submission_add_new(s, &thread, &result)))
			return false;
		if (s->is_known)
			return true;
		s->turn.in.thread_id = s->job.thread_id;
	}
	s->is_known = result == SUBMIT_KNOWN;
	return result != SUBMIT_THREAD_GONE || thread_refuse_busy(call, s->job.thread_id);
}

bool background_configured(struct call *call)
{
	return call->service->config->runs_background ||
	    error_set(&call->error, ERR_RUNS_NOT_CONFIGURED, NULL);
}

cJSON *background_submit(
    struct call *call, const cJSON *body, const struct background_beside *beside)
{
	struct submission s = {.call = call};
	if (beside)
		s.beside = *beside;
	if (!background_configured(call))
		return NULL;
	/* files are checked again when the run begins */
	if (!submission_read(&s, body) || !files_resolve(call, s.turn.in.messages) ||
	    !turn_find_thread(&s.turn))
		return NULL;
	s.job.run_id = s.turn.run_id;
	s.job.fresh_id = !s.turn.in.run_id;
	s.job.thread_id = s.turn.in.thread_id
	    ? s.turn.in.thread_id
	    : id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
	s.job.created_at = clock_now();
	s.job.due_at = s.job.created_at + (int64_t)(s.delay * 1e6);
	s.job.orders = turn_orders(&s.turn);
	s.job.push = s.beside.push;
	s.job.body_json = submission_body(&s, body);
	s.job.caller_json = submission_caller(call);
	if (!submission_queue(&s))
		return NULL;
	if (s.is_known)
		return record_read(call, s.job.thread_id, s.job.run_id);
	const struct run_record record = {.run_id = s.job.run_id,
	    .thread_id = s.job.thread_id,
	    .status = RUN_QUEUED,
	    .created_at = s.job.created_at,
	    .node = AG_START,
	    .job = s.job.row,
	    .attempt = 1,
	    .metadata_json = s.job.metadata_json,
	    .webhook = {.url = s.job.webhook_url}};
	return arena_json(call->arena, record_view(call, &record));
}
