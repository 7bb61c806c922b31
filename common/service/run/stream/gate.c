/* SPDX-License-Identifier: ISC */
/* Keeping chunks in a buffer, and letting them out when the gate opens. */
#include "service/run/stream/gate.h"

#include "service/thread/feed.h"

#include <string.h>

/* Most bytes that are held back.  They fit into the buffer of any socket, so letting them out never
 * blocks. */
#define KEPT_MAX 16384

void gate_send(struct gate *gate, const struct buf *text)
{
	pthread_mutex_lock(&gate->lock);
	while (gate->state == GATE_CLOSED && gate->kept.len + text->len > KEPT_MAX)
		pthread_cond_wait(&gate->moved, &gate->lock);
	if (gate->state == GATE_CLOSED) {
		buf_add(&gate->kept, &text->len, sizeof(text->len));
		buf_add(&gate->kept, text->data, text->len);
	}
	bool open = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	if (open)
		gate->behind->chunk(gate->behind, text->data, text->len);
}

bool gate_send_part(struct gate *gate, const struct buf *text)
{
	pthread_mutex_lock(&gate->lock);
	while (gate->state == GATE_CLOSED)
		pthread_cond_wait(&gate->moved, &gate->lock);
	bool open = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	return open && gate->behind->part(gate->behind, text->data, text->len);
}

struct gate_feeding {
	struct gate *gate;
	bool *begun;
};

static bool gate_feed_part(void *arg, struct buf *part)
{
	const struct gate_feeding *feeding = arg;
	*feeding->begun = true;
	return gate_send_part(feeding->gate, part);
}

bool gate_feed(struct gate *gate, struct call *call, const char *text, bool *begun)
{
	struct gate_feeding feeding = {gate, begun};
	struct buf part = {0};
	*begun = false;
	bool ok = feed_put(call, text, &part, gate_feed_part, &feeding);
	if (ok)
		gate_send(gate, &part);
	else if (*begun && error_is_set(&call->error))
		gate->behind->cut(gate->behind, call->error.cause);
	buf_release(&part);
	return !error_is_set(&call->error);
}

void gate_cork(struct gate *gate, bool on)
{
	if (gate->corked == on)
		return;
	gate->corked = on;
	pthread_mutex_lock(&gate->lock);
	bool open = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	if (open)
		sink_cork(gate->behind, on);
}

void gate_init(struct gate *gate, struct chunk_sink *behind)
{
	*gate = (struct gate){.behind = behind, .state = GATE_CLOSED};
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->moved, NULL);
}

void gate_release(struct gate *gate)
{
	buf_release(&gate->kept);
	pthread_cond_destroy(&gate->moved);
	pthread_mutex_destroy(&gate->lock);
}

/* Sets the state and lets out what was held back.  Call with the lock held. */
static void gate_move(struct gate *gate, int state)
{
	gate->state = state;
	if (state == GATE_OPEN && gate->kept.len) {
		const char *data = gate->kept.data, *end = data + gate->kept.len;
		sink_cork(gate->behind, true);
		for (size_t len; data < end; data += len) {
			memcpy(&len, data, sizeof(len));
			data += sizeof(len);
			gate->behind->chunk(gate->behind, data, len);
		}
		sink_cork(gate->behind, false);
	}
	buf_release(&gate->kept);
	pthread_cond_broadcast(&gate->moved);
}

void gate_settle(struct gate *gate, bool ok)
{
	pthread_mutex_lock(&gate->lock);
	if (gate->state == GATE_CLOSED)
		gate_move(gate, ok ? GATE_OPEN : GATE_SHUT);
	pthread_mutex_unlock(&gate->lock);
}

bool gate_open(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	bool complete = gate->state != GATE_SHUT;
	if (gate->state != GATE_OPEN)
		gate_move(gate, GATE_OPEN);
	pthread_mutex_unlock(&gate->lock);
	return complete;
}
