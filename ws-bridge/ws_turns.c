/* SPDX-License-Identifier: ISC */
/* The thread of the turns, the queue before it, and storage opened with the first. */
#include "ws-bridge/ws_session.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "service/run/socket.h"
#include "ws-bridge/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP_SIZE 65536
#define PIECE_SIZE (256 << 10) /* of a text; a longer one goes out in several records */

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
	struct buf record; /* this and the next are the thread's own */
	bool cut;          /* a message was broken off: the client gets nothing more */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	/* guarded by lock */
	struct frame *current; /* in hand, or about to be: it is handled whatever comes */
	struct frame *first, **last;
	size_t waiting, bytes;
	enum turns_end end;
	bool watched, stopping;
};

/* ---- the thread ---- */

/* Sends pieces of a text until at most keep bytes are left of it.  False when nobody reads any
 * more. */
static bool ws_turns_send_more(struct turns *turns, const char **json, size_t *len, size_t keep)
{
	bool read = !turns->cut;
	while (*len > keep && read) {
		size_t piece = *len > PIECE_SIZE ? utf8_cut(*json, PIECE_SIZE) : *len;
		buf_reset(&turns->record);
		record_more(&turns->record, *json, piece);
		output_chunk(turns->out, &turns->record);
		read = !output_is_muted(turns->out);
		*json += piece;
		*len -= piece;
	}
	return read;
}

static bool ws_turns_begin_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	return ws_turns_send_more((struct turns *)sink, &json, &len, 0);
}

static void ws_turns_send_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	struct turns *turns = (struct turns *)sink;
	if (!ws_turns_send_more(turns, &json, &len, PIECE_SIZE))
		return;
	buf_reset(&turns->record);
	record_text(&turns->record, json, len);
	output_chunk(turns->out, &turns->record);
}

static void ws_turns_cut_chunk(struct chunk_sink *sink, const char *why)
{
	struct turns *turns = (struct turns *)sink;
	log_warning("a message was broken off: %s", why);
	turns->cut = true;
}

static enum turns_end ws_turns_handle(struct turns *turns, const struct frame *frame)
{
	const struct ticket *ticket = turns->ticket;
	const struct socket_session session = {.credential_exp = ticket->credential_exp,
	    .path = ticket->route,
	    .address = ticket->address ? ticket->address : "unknown"};
	enum turns_end end = TURNS_GO_ON;
	struct call call;
	call_init(&call, turns->service, ticket->request_id);
	if (!turns->service->storage && !service_open_storage(turns->service, &call.error)) {
		log_error("%s", error_why(&call.error));
		/* a database that is away comes back, and the next frame looks again */
		if (call.error.kind == ERR_TRANSIENT_STORAGE)
			socket_refuse(&call, frame->text, frame->len, &turns->sink);
		else
			end = TURNS_FAILED;
		call_release(&call);
		return end;
	}
	cJSON *user = arena_json(call.arena, cJSON_Duplicate(ticket->user, true));
	const struct identity identity = ticket_identity(ticket, user);
	call_identify(&call, &identity);
	switch (frame->kind) {
	case FRAME_TEXT:
		if (socket_frame(&call, &session, frame->text, frame->len, &turns->sink) ==
		    SOCKET_EXPIRED)
			end = TURNS_EXPIRED;
		else if (turns->cut)
			end = TURNS_FAILED;
		break;
	case FRAME_BINARY:
		socket_refuse_binary(&call, &turns->sink);
		break;
	case FRAME_LARGE:
		socket_refuse_large(&call, &turns->sink);
		break;
	}
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
		enum turns_end end = ws_turns_handle(turns, frame);
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
	turns->sink.part = ws_turns_begin_chunk;
	turns->sink.cut = ws_turns_cut_chunk;
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

void turns_push(struct turns *turns, enum frame_kind kind, const char *text, size_t len)
{
	pthread_mutex_lock(&turns->lock);
	if (turns->end != TURNS_GO_ON) {
		pthread_mutex_unlock(&turns->lock);
		return;
	}
	if (kind != FRAME_TEXT)
		len = 0;
	struct frame *frame = xcalloc(1, sizeof(*frame) + len + 1);
	frame->kind = kind;
	frame->len = len;
	if (len)
		memcpy(frame->text, text, len);
	if (!turns->current) { /* nothing is in hand, so this frame is at once */
		turns->current = frame;
		pthread_cond_signal(&turns->work);
	} else {
		*turns->last = frame;
		turns->last = &frame->next;
		turns->waiting++;
		turns->bytes += len;
	}
	if (!turns->started) {
		int code = pthread_create(&turns->thread, NULL, ws_turns_work, turns);
		turns->started = code == 0;
		if (code)
			log_error("cannot start a thread: %s", strerror(code));
		if (code)
			ws_turns_finish(turns, TURNS_FAILED);
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
	struct turns_state state = {.busy = turns->current != NULL,
	    .waiting = turns->waiting,
	    .bytes = turns->bytes,
	    .end = turns->end};
	pthread_mutex_unlock(&turns->lock);
	return state;
}
