/* SPDX-License-Identifier: ISC */
/* Keeping chunks in a buffer, and letting them out when the gate opens. */
#include "service/run/gate.h"

#include <string.h>

/* Fits into the buffer of any socket, so that letting it out never blocks. */
#define KEPT_MAX 16384

static void gate_keep(struct gate *gate, const char *json, size_t len)
{
	buf_add(&gate->kept, (const char *)&len, sizeof(len));
	buf_add(&gate->kept, json, len);
}

static void gate_cork(struct chunk_sink *sink, bool on)
{
	if (sink->cork)
		sink->cork(sink, on);
}

static void let_out(struct gate *gate)
{
	size_t len;
	if (gate->kept.len == 0)
		return;
	const char *data = gate->kept.data, *end = data + gate->kept.len;
	gate_cork(gate->behind, true);
	for (; data < end; data += len) {
		memcpy(&len, data, sizeof(len));
		data += sizeof(len);
		gate->behind->chunk(gate->behind, data, len);
	}
	gate_cork(gate->behind, false);
	buf_release(&gate->kept);
}

static void pass(struct chunk_sink *sink, const char *json, size_t len)
{
	struct gate *gate = (struct gate *)sink;
	pthread_mutex_lock(&gate->lock);
	while (gate->state == GATE_CLOSED && gate->kept.len + len > KEPT_MAX)
		pthread_cond_wait(&gate->moved, &gate->lock);
	if (gate->state == GATE_CLOSED)
		gate_keep(gate, json, len);
	bool open = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	if (open)
		gate->behind->chunk(gate->behind, json, len);
}

static void pass_cork(struct chunk_sink *sink, bool on)
{
	struct gate *gate = (struct gate *)sink;
	pthread_mutex_lock(&gate->lock);
	bool open = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	if (open)
		gate_cork(gate->behind, on);
}

void gate_init(struct gate *gate, struct chunk_sink *behind)
{
	*gate = (struct gate){
	    .sink = {.chunk = pass, .cork = pass_cork}, .behind = behind, .state = GATE_CLOSED};
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->moved, NULL);
}

void gate_release(struct gate *gate)
{
	buf_release(&gate->kept);
	pthread_cond_destroy(&gate->moved);
	pthread_mutex_destroy(&gate->lock);
}

/* Called with the lock held. */
static void gate_move(struct gate *gate, int state)
{
	gate->state = state;
	if (state == GATE_OPEN)
		let_out(gate);
	else
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
