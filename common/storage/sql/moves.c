/* SPDX-License-Identifier: ISC */
/* Telling others what a transaction has moved. */
#include "storage/sql/moves.h"

#include "storage/queue.h"
#include "storage/sql/engine.h"

bool moves_tell(struct storage *st, const struct moves *moves)
{
	struct engine *e = engine_of(st);
	if (moves->waiting)
		queue_waiting_add(e->shared, moves->waiting);
	if (moves->queue)
		bell_ring(e->shared, BELL_QUEUE);
	if (moves->outbox)
		bell_ring(e->shared, BELL_OUTBOX);
	if (moves->dropped)
		sweeper_wake(e->sweeper);
	if (moves->trims)
		sweeper_trim(e->sweeper, moves->trims, st->history_keep);
	return true;
}
