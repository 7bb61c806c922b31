/* SPDX-License-Identifier: ISC */
/* The thread of the turns, the queue before it, and storage opened with the first. */
#include "ws_turns.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "record.h"
#include "service/run/socket.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP_SIZE 65536

struct frame {
	struct frame *next;
	enum frame_kind kind;
	size_t len;
	char text[]; /* NUL-terminated */
};

struct turns {
	struct chunk_sink sink; /* first: a sink is its turns */
	struct service *service;
	struct output *out;
	const struct ticket *ticket;
	struct buf record; /* the thread's own */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	/* guarded by lock */
	struct frame *current; /* in hand, or about to be taken: it is run whatever comes */
	struct frame *first, **last;
	size_t waiting, bytes;
	enum turns_end end;
	bool watched, stopping;
};

/* ---- the thread ---- */

static void ws_turns_send_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	struct turns *turns = (struct turns *)sink;
	buf_reset(&turns->record);
	record_text(&turns->record, json, len);
	output_chunk(turns->out, &turns->record);
}

static bool open_storage(struct service *service)
{
	struct error err = {0};
	bool open = service_open_storage(service, &err);
	if (!open)
		log_error("%s", *err.cause ? err.cause : err.detail);
	error_release(&err);
	return open;
}

static enum turns_end ws_turns_answer(
    struct turns *turns, struct call *call, const struct frame *frame)
{
	const struct ticket *ticket = turns->ticket;
	const struct socket_session session = {
	    ticket->credential_exp, ticket->route, ticket->address ? ticket->address : "unknown"};
	switch (frame->kind) {
	case FRAME_TEXT:
		return socket_frame(call, &session, frame->text, frame->len, &turns->sink) ==
			SOCKET_EXPIRED
		    ? TURNS_EXPIRED
		    : TURNS_GO_ON;
	case FRAME_BINARY:
		socket_refuse_binary(call, &turns->sink);
		break;
	case FRAME_LARGE:
		socket_refuse_large(call, &turns->sink);
		break;
	}
	return TURNS_GO_ON;
}

/* Who was let in by the handshake.  A user without an id is nobody, whatever name threads get. */
static void ws_turns_identify(struct call *call, const struct ticket *ticket)
{
	cJSON *user = arena_json(call->arena, cJSON_Duplicate(ticket->user, true));
	const struct identity identity = {
	    user, json_str(user, "user_id"), ticket->verified, ticket->credential_exp};
	call_identify(call, &identity);
}

static enum turns_end handle(struct turns *turns, const struct frame *frame)
{
	struct call call;
	if (!turns->service->storage && !open_storage(turns->service))
		return TURNS_FAILED;
	call_init(&call, turns->service, turns->ticket->request_id);
	ws_turns_identify(&call, turns->ticket);
	enum turns_end end = ws_turns_answer(turns, &call, frame);
	call_release(&call);
	if (turns->record.size > KEEP_SIZE)
		buf_release(&turns->record);
	return end;
}

static struct frame *ws_turns_take_first(struct turns *turns)
{
	struct frame *frame = turns->first;
	if (!frame)
		return NULL;
	turns->first = frame->next;
	if (!turns->first)
		turns->last = &turns->first;
	turns->waiting--;
	turns->bytes -= frame->len;
	return frame;
}

/* Called with the lock held.  After an end nothing more is handled. */
static void ws_turns_finish(struct turns *turns, enum turns_end end)
{
	free(turns->current);
	turns->current = NULL;
	if (turns->end == TURNS_GO_ON)
		turns->end = end;
	if (turns->end == TURNS_GO_ON && !turns->stopping)
		turns->current = ws_turns_take_first(turns);
	if (turns->watched || end != TURNS_GO_ON)
		output_wake(turns->out);
}

static void *ws_turns_work(void *arg)
{
	struct turns *turns = arg;
	log_request(turns->ticket->request_id);
	pthread_mutex_lock(&turns->lock);
	for (;;) {
		while (!turns->current && !turns->stopping)
			pthread_cond_wait(&turns->work, &turns->lock);
		const struct frame *frame = turns->current;
		if (!frame)
			break;
		pthread_mutex_unlock(&turns->lock);
		enum turns_end end = handle(turns, frame);
		output_flush(turns->out);
		pthread_mutex_lock(&turns->lock);
		ws_turns_finish(turns, end);
	}
	pthread_mutex_unlock(&turns->lock);
	log_request(NULL);
	return NULL;
}

/* ---- the others' side ---- */

struct turns *turns_new(struct service *service, const struct ticket *ticket, struct output *out)
{
	struct turns *turns = xcalloc(1, sizeof(*turns));
	turns->sink.chunk = ws_turns_send_chunk;
	turns->service = service;
	turns->out = out;
	turns->ticket = ticket;
	turns->last = &turns->first;
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->work, NULL);
	return turns;
}

void turns_free(struct turns *turns)
{
	turns_drop_waiting(turns);
	pthread_mutex_lock(&turns->lock);
	turns->stopping = true;
	pthread_cond_signal(&turns->work);
	pthread_mutex_unlock(&turns->lock);
	if (turns->started)
		pthread_join(turns->thread, NULL);
	buf_release(&turns->record);
	pthread_cond_destroy(&turns->work);
	pthread_mutex_destroy(&turns->lock);
	free(turns);
}

static struct frame *frame_new(enum frame_kind kind, const char *text, size_t len)
{
	bool is_text = kind == FRAME_TEXT;
	struct frame *frame = xcalloc(1, sizeof(*frame) + (is_text ? len : 0) + 1);
	frame->kind = kind;
	if (is_text) {
		frame->len = len;
		memcpy(frame->text, text, len);
	}
	return frame;
}

/* Called with the lock held: a frame that finds nothing in hand is in hand at once. */
static void enqueue(struct turns *turns, struct frame *frame)
{
	if (!turns->current) {
		turns->current = frame;
		pthread_cond_signal(&turns->work);
		return;
	}
	*turns->last = frame;
	turns->last = &frame->next;
	turns->waiting++;
	turns->bytes += frame->len;
}

static void ws_turns_start(struct turns *turns)
{
	int code = pthread_create(&turns->thread, NULL, ws_turns_work, turns);
	turns->started = code == 0;
	if (turns->started)
		return;
	log_error("cannot start a thread: %s", strerror(code));
	ws_turns_finish(turns, TURNS_FAILED);
}

void turns_push(struct turns *turns, enum frame_kind kind, const char *text, size_t len)
{
	pthread_mutex_lock(&turns->lock);
	if (turns->end == TURNS_GO_ON) {
		enqueue(turns, frame_new(kind, text, len));
		if (!turns->started)
			ws_turns_start(turns);
	}
	pthread_mutex_unlock(&turns->lock);
}

void turns_drop_waiting(struct turns *turns)
{
	struct frame *frame;
	pthread_mutex_lock(&turns->lock);
	while ((frame = ws_turns_take_first(turns)))
		free(frame);
	pthread_mutex_unlock(&turns->lock);
}

struct turns_state turns_look(struct turns *turns, bool watch)
{
	pthread_mutex_lock(&turns->lock);
	turns->watched = watch;
	struct turns_state state = {
	    turns->current != NULL, turns->waiting, turns->bytes, turns->end};
	pthread_mutex_unlock(&turns->lock);
	return state;
}
