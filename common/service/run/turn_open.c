/* SPDX-License-Identifier: ISC */
/* Opening the thread of a turn, which may be busy or be wanted as it was earlier, and giving it
 * back. */
#include "service/run/turn.h"

#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/files/media.h"
#include "service/history/earlier.h"
#include "service/run/answers.h"
#include "service/run/records.h"
#include "service/run/stream/keeper.h"
#include "service/thread/change.h"
#include "storage/runs.h"

void turn_init(struct turn *turn, struct call *call, const struct run_input *in)
{
	*turn = (struct turn){.call = call, .in = *in, .run_id = in->run_id};
	turn->user = message_last(in->messages, "user");
	if (!turn->run_id)
		turn->run_id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
}

static bool turn_read_input(
    struct turn *turn, struct call *call, const cJSON *body, const char *key, bool whole)
{
	struct run_input in;
	*turn = (struct turn){.call = call};
	if (call->service->graph->live)
		return error_set(&call->error, ERR_GRAPH_IS_LIVE, NULL);
	if (!run_input_read(call, body, key, whole, &in))
		return false;
	turn_init(turn, call, &in);
	return true;
}

bool turn_read(struct turn *turn, struct call *call, const cJSON *body, const char *key)
{
	return turn_read_input(turn, call, body, key, false);
}

bool turn_read_whole(struct turn *turn, struct call *call, const cJSON *body)
{
	return turn_read_input(turn, call, body, "messages", true);
}

/* Existing clients forget the id of a thread that their first request made, so answers without an
 * id go to the caller's thread in which the call waits.  The route's permission was asked without a
 * thread, so it is asked again. */
bool turn_find_thread(struct turn *turn)
{
	struct call *call = turn->call;
	struct storage *storage = call->service->storage;
	const cJSON *message;
	if (turn->in.thread_id || !turn->in.messages->child)
		return true;
	cJSON_ArrayForEach(message, turn->in.messages) {
		if (!message_is(message, "tool") || !answers_call(message))
			return true;
	}
	const char *call_id = answers_call(turn->in.messages->child);
	if (!storage->threads->waiting(storage, &call->ctx, call->arena, call->user_id, call_id,
		&turn->in.thread_id, &call->error))
		return false;
	struct permission permission = call->permission;
	permission.resource_id = turn->in.thread_id;
	return !permission.resource || !permission.resource_id || call_permit(call, &permission);
}

bool turn_none_queued(struct call *call, const char *thread_id)
{
	struct storage *storage = call->service->storage;
	bool queued = false;
	return storage->runs->queued_due(
		   storage, &call->ctx, thread_id, clock_now(), 1, &queued, &call->error) &&
	    (!queued || thread_refuse_busy(call, thread_id));
}

/* Finds the record of an earlier run with the id that the client chose; it will be replaced.  A run
 * that was in the queue when the thread was asked for may have begun, and ended, meanwhile. */
static bool turn_find_replaced(struct turn *turn, int64_t asked)
{
	struct call *call = turn->call;
	struct run_record record;
	if (turn->in.run_id && !turn->is_new &&
	    call_record(call, turn->thread.thread_id, turn->run_id, &record)) {
		if (record_is_active(&record) || (record.job && record.finished_at > asked))
			return record_refuse_active(call, turn->run_id);
		turn->replaces = record.number;
	}
	return !error_is_set(&call->error);
}

enum lease_order turn_orders(const struct turn *turn)
{
	static const enum lease_order orders[] = {
	    [CLAIM_INTERRUPT] = ORDER_STOP, [CLAIM_ROLLBACK] = ORDER_ROLLBACK};
	return orders[turn->in.claim];
}

/* The other run is stopped before its thread is open, so this checks first that the caller owns the
 * thread, and that the request would not be refused anyway.  While the thread does not exist, there
 * is nobody to stop. */
static bool turn_may_interrupt(struct turn *turn)
{
	struct call *call = turn->call;
	struct thread thread;
	if (turn->in.claim < CLAIM_INTERRUPT)
		return true;
	if (!files_resolve(call, turn->in.messages))
		return false;
	if (!call->owner)
		return true;
	if (thread_stored(call, turn->in.thread_id, &thread))
		return call_owns(call, &thread);
	turn->in.claim = CLAIM_ENQUEUE;
	return !error_is_set(&call->error);
}

/* Whether the checkpoint that the request names, if any, exists in a thread of the caller's; else
 * false with call->error set.  Changes nothing, and waits for nobody. */
static bool turn_checkpoint_exists(struct turn *turn)
{
	struct call *call = turn->call;
	struct thread thread;
	struct checkpoint checkpoint;
	if (!turn->in.checkpoint_id)
		return true;
	if (!thread_stored(call, turn->in.thread_id, &thread))
		return !error_is_set(&call->error) && earlier_not_found(call);
	return call_owns(call, &thread) &&
	    earlier_find(call, &thread, turn->in.checkpoint_id, &checkpoint);
}

/* Replaces turn->thread by the thread as it was at the checkpoint. */
static bool turn_go_back(struct turn *turn)
{
	struct call *call = turn->call;
	struct checkpoint *checkpoint;
	if (!turn->in.checkpoint_id)
		return true;
	checkpoint = arena_alloc(call->arena, sizeof(*checkpoint));
	if (!earlier_take(call, &turn->thread, turn->in.checkpoint_id, checkpoint))
		return false;
	turn->checkpoint = checkpoint;
	turn->stored = turn->thread;
	turn->thread = checkpoint->thread;
	return true;
}

bool turn_open(struct turn *turn)
{
	struct call *call = turn->call;
	struct storage *storage = call->service->storage;
	if (!turn_find_thread(turn))
		return false;
	if (!turn->in.thread_id)
		return turn->is_new =
			   thread_take_new(call, NULL, turn->in.claim, &turn->lease, &turn->thread);
	if (!turn_checkpoint_exists(turn) ||
	    !record_may_begin(call, turn->in.thread_id, turn->in.run_id) ||
	    !turn_may_interrupt(turn))
		return false;
	/* queued runs have their place before this one, or are stopped with the one in flight */
	if (!storage->runs->stop_queued(
		storage, &call->ctx, turn->in.thread_id, NULL, turn_orders(turn), &call->error))
		return false;
	int64_t asked = clock_now();
	if (!thread_take(call, turn->in.thread_id, turn->in.claim, &turn->lease, &turn->thread))
		return false;
	turn->is_new = turn->thread.row == 0;
	return (turn->is_new || call_owns(call, &turn->thread)) &&
	    turn_find_replaced(turn, asked) &&
	    (turn->is_new || turn->in.claim != CLAIM_REJECT ||
		turn_none_queued(call, turn->thread.thread_id)) &&
	    turn_go_back(turn);
}

void turn_open_apart(struct turn *turn)
{
	struct call *call = turn->call;
	const char *id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
	thread_blank(&turn->thread, id, call->user_id);
	turn->is_new = turn->apart = true;
}

bool turn_open_background(
    struct turn *turn, struct lease *lease, const struct run_background *background)
{
	struct call *call = turn->call;
	struct storage *storage = call->service->storage;
	turn->lease = lease;
	turn->background = background;
	if (storage->threads->lease_thread(storage, &call->ctx, call->arena, lease, background->job,
		&turn->thread, &call->error)) {
		turn->is_new = turn->thread.created_at == background->record->created_at;
		return background->entered || turn_go_back(turn);
	}
	return thread_not_found(call);
}

void turn_go_on(struct turn *turn)
{
	const struct thread *thread = &turn->thread;
	bool asked = thread->status == RUN_INTERRUPTED && thread->pause_json &&
	    thread_pause_kind(thread) == PAUSE_BY_NODE;
	turn->after_failure = thread->status == RUN_ERROR || thread->status == RUN_RUNNING;
	if (asked || turn->after_failure)
		turn->in.has_resume = false;
}

void turn_end(struct turn *turn)
{
	if (turn->lease)
		lease_drop(turn->call->service->storage, &turn->call->ctx, turn->lease);
	turn->lease = NULL;
}

void turn_leave(struct turn *turn)
{
	if (turn->keeper && turn->lease)
		chunk_keeper_take_lease(turn->keeper, turn->lease);
	else
		turn_end(turn);
	turn->lease = NULL;
}
