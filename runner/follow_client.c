/* SPDX-License-Identifier: ISC */
/* One connection from the web server: its request, the stream or the wait, and its end. */
#include "runner/follow.h"

#include "base/http/http_head.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "runner/follow_head.h"
#include "runner/follow_runs.h"
#include "service/a2a/a2a_follow.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/stream/lg_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MS 10000            /* a client has so long to send its request */
#define MEND_MS 5000             /* between two tries to have a run's end written */
#define MENDS 3                  /* after so many of them its followers are dropped */
#define COMMENT "3\r\n:\n\n\r\n" /* a comment among server-sent events, as a chunk of HTTP */
#define LAST_CHUNK "0\r\n\r\n"

enum client_stage {
	CLIENT_HEAD,   /* its request has not arrived yet */
	CLIENT_STREAM, /* it follows a run */
	CLIENT_WAIT,   /* it waits for the end of a run */
	CLIENT_LAST,   /* nothing follows what is being sent to it */
	CLIENT_GONE
};

struct follow_client {
	struct follow *follow;
	struct follow_client *previous, *next;
	struct follow_client *run_previous, *run_next; /* in the list of its run's clients */
	int fd;
	uint32_t armed; /* the events that epoll watches for; 0: epoll does not know fd */
	enum client_stage stage;
	struct buf head; /* what has come of the request */
	struct buf out;  /* what is sent to this client alone: heads, comments */
	size_t sent;     /* bytes of out */
	int64_t deadline;
	int64_t moved; /* when it last took something, or had nothing to take */
	int64_t spoke; /* when there was last something new to send */
	struct arena *arena;
	struct run_ticket ticket; /* what it may see */
	struct followed_run *run;

	/* Of a stream: */
	struct replay_place place;  /* how far it has got */
	struct follow_block *block; /* the one that is being sent, or NULL */
	size_t block_sent;
	struct a2a_follower *told; /* makes the blocks events of A2A; NULL: they go as they are */

	/* Of a wait: */
	const char *where; /* the path where the web server goes afterwards */
	int64_t began;
};

/* ---- beginning and ending ---- */

static void follow_client_watch(struct follow_client *client, uint32_t events)
{
	struct epoll_event event = {.events = events | EPOLLRDHUP, .data.ptr = client};
	if (client->fd < 0 || client->armed == event.events)
		return;
	if (epoll_ctl(client->follow->loop.epoll, client->armed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
		client->fd, &event) != 0)
		log_error("cannot watch a connection: %s", strerror(errno));
	client->armed = event.events;
}

struct follow_client *follow_client_next(const struct follow_client *client)
{
	return client->next;
}

void follow_client_new(struct follow *follow, int fd)
{
	struct follow_client *client = xcalloc(1, sizeof(*client));
	client->follow = follow;
	client->arena = arena_new();
	client->fd = fd;
	client->deadline = follow->loop.now + HEAD_MS;
	client->moved = client->spoke = follow->loop.now;
	client->next = follow->clients;
	if (client->next)
		client->next->previous = client;
	follow->clients = client;
	follow_client_watch(client, EPOLLIN);
}

/* The client stays in the list of its run until the end of the turn: somebody may be walking
 * through that list. */
void follow_client_drop(struct follow_client *client)
{
	struct follow *follow = client->follow;
	if (client->stage == CLIENT_GONE)
		return;
	client->stage = CLIENT_GONE;
	close(client->fd); /* epoll forgets it */
	client->fd = -1;
	if (client->next)
		client->next->previous = client->previous;
	if (client->previous)
		client->previous->next = client->next;
	else
		follow->clients = client->next;
	client->next = follow->dead;
	follow->dead = client;
}

void follow_client_sweep(struct follow *follow)
{
	while (follow->dead) {
		struct follow_client *client = follow->dead;
		struct followed_run *run = client->run;
		follow->dead = client->next;
		if (run) {
			if (client->run_next)
				client->run_next->run_previous = client->run_previous;
			if (client->run_previous)
				client->run_previous->run_next = client->run_next;
			else
				run->clients = client->run_next;
			followed_run_leave(&follow->runs, run);
		}
		follow_block_leave(client->block);
		a2a_follower_free(client->told);
		buf_release(&client->head);
		buf_release(&client->out);
		arena_free(client->arena);
		free(client);
	}
}

/* ---- sending ---- */

static bool follow_client_pending(const struct follow_client *client)
{
	return client->sent < client->out.len ||
	    (client->block && client->block_sent < client->block->len);
}

/* The client went away by itself.  A run that is not to go on without it is stopped. */
static void follow_client_lose(struct follow_client *client)
{
	bool follows = client->stage == CLIENT_STREAM || client->stage == CLIENT_WAIT;
	if (follows && client->ticket.cancels && client->run->state == FOLLOWED_ACTIVE)
		follow_cancel(client->follow->mender, client->run->thread_id, client->run->run_id);
	follow_client_drop(client);
}

/* Sends the bytes from *sent to len; false when the socket takes no more, for now or for good. */
static bool follow_client_put(
    struct follow_client *client, const char *data, size_t len, size_t *sent)
{
	while (*sent < len) {
		ssize_t put = send(client->fd, data + *sent, len - *sent, MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno != EAGAIN)
			follow_client_lose(client);
		if (put < 0)
			return false;
		*sent += (size_t)put;
		client->moved = client->follow->loop.now;
	}
	return true;
}

static bool follow_client_flush(struct follow_client *client)
{
	if (!follow_client_put(client, client->out.data, client->out.len, &client->sent))
		return false;
	buf_release(&client->out);
	client->sent = 0;
	return !client->block ||
	    follow_client_put(client, client->block->data, client->block->len, &client->block_sent);
}

/* Moves on after a block that was sent as a whole. */
static void follow_client_end_block(struct follow_client *client)
{
	struct follow_block *block = client->block;
	if (!block)
		return;
	client->place = block->to;
	client->block = NULL;
	client->block_sent = 0;
	if (block->ends)
		client->stage = CLIENT_LAST;
	follow_block_leave(block);
}

/* Adds one event of A2A, as a chunk of HTTP. */
static void follow_client_tell(void *arg, const char *json, size_t len)
{
	static const char before[] = "data: ", after[] = "\n\n";
	struct follow_client *client = arg;
	buf_printf(&client->out, "%zx\r\n%s", strlen(before) + len + strlen(after), before);
	buf_add(&client->out, json, len);
	buf_printf(&client->out, "%s\r\n", after);
}

/* Takes the next block of the run; false when there is none yet. */
static bool follow_client_take_block(struct follow_client *client)
{
	struct follow *follow = client->follow;
	struct run_ticket *ticket = &client->ticket;
	struct follow_form form = {.events = ticket->events,
	    .granularity = (enum granularity)ticket->granularity,
	    .words = ticket->langgraph ? &lg_words : NULL,
	    .modes = (unsigned)ticket->modes};
	const struct run_key run = {client->run->thread_row, client->run->number};
	struct error err = {0};
	struct follow_block *block = NULL;
	/* what its request has named may stand in the first chunks; one that comes between the two
	 * looks is left for the next time */
	if (!form.words || !(form.modes & LG_LATER) ||
	    (lg_words_modes(follow->runs.service->storage, NULL, run, &form.modes, &err) &&
		!(form.modes & LG_LATER)))
		block = followed_run_next(&follow->runs, client->run, &form, &client->place, &err);
	ticket->modes = form.modes;
	client->block = block;
	if (error_is_set(&err)) {
		log_warning("a stream was broken off: %s", error_why(&err));
		follow_client_drop(client);
	}
	error_release(&err);
	if (block && client->told) { /* events of A2A are sent in its place */
		a2a_follower_read(client->told, block->data + block->text, block->text_len);
		if (block->ends) {
			a2a_follower_end(client->told, true);
			buf_puts(&client->out, LAST_CHUNK);
		}
		client->block_sent = block->len;
	}
	if (follow_client_pending(client)) /* a block may have nothing that this client sees */
		client->spoke = follow->loop.now;
	return block;
}

/* Has the end written of a run that is over and lacks one; false when that was tried often
 * enough. */
static bool follow_client_mend(struct follow *follow, struct followed_run *run)
{
	if (run->mends++ == MENDS) {
		log_warning("streams of run %s have no end, and are broken off", run->run_id);
		run->state = FOLLOWED_GONE;
		return false;
	}
	run->mend_at = follow->loop.now + MEND_MS;
	follow_mend(follow->mender, run->thread_id, run->run_id);
	followed_run_doubt(&follow->runs, run, follow->loop.now + MEND_MS);
	return true;
}

/* The client has seen all chunks that there are.  False when there may be something to send now. */
static bool follow_client_at_end(struct follow_client *client)
{
	struct follow *follow = client->follow;
	struct followed_run *run = client->run;
	bool over = run->state == FOLLOWED_OVER;
	bool whole = run->tail.done && client->place.after >= run->tail.seq;
	if (run->state == FOLLOWED_GONE || (follow->stopping && run->mends)) {
		follow_client_drop(client);
	} else if (over && (whole || (run->unkept && client->told))) {
		if (client->told)
			a2a_follower_end(client->told, whole);
		buf_puts(&client->out, LAST_CHUNK);
		client->stage = CLIENT_LAST;
		return false;
	} else if (followed_run_lacks_end(run, follow->loop.now) &&
	    follow->loop.now >= run->mend_at && !follow_client_mend(follow, run)) {
		follow_client_drop(client);
	}
	return true;
}

/* Sends until the socket takes no more, or one block was read: then it is the others' turn. */
static void follow_client_push(struct follow_client *client)
{
	bool read = false, dry = false;
	while (client->stage != CLIENT_GONE && !dry) {
		if (!follow_client_flush(client))
			break;
		follow_client_end_block(client);
		if (client->stage == CLIENT_LAST && !follow_client_pending(client)) {
			follow_client_drop(client);
			return;
		}
		if (client->stage != CLIENT_STREAM || read)
			break;
		read = follow_client_take_block(client);
		dry = !read && client->stage == CLIENT_STREAM && follow_client_at_end(client);
	}
	if (client->stage == CLIENT_GONE)
		return;
	if (dry && client->run->state == FOLLOWED_ACTIVE)
		followed_run_doubt(&client->follow->runs, client->run, client->follow->loop.now);
	bool more = follow_client_pending(client) || (read && client->stage == CLIENT_STREAM);
	follow_client_watch(client, more ? EPOLLOUT : 0);
}

/* ---- waits ---- */

/* Has the web server ask a worker for the result; the ticket tells the worker who is asking. */
static void follow_client_send_on(struct follow_client *client)
{
	struct run_ticket ticket = client->ticket;
	struct limit_verdict limit;
	if (client->stage != CLIENT_WAIT)
		return;
	ticket.kind = RUN_TICKET_WAITED;
	if (ticket.limit) {
		int64_t waited = (client->follow->loop.now - client->began) / 1000;
		limit = *ticket.limit;
		limit.reset_after = limit.reset_after > waited ? limit.reset_after - waited : 0;
		ticket.limit = &limit;
	}
	if (ticket.silent)
		follow_head_silent(&client->out);
	else
		follow_head_waited(&client->out, client->where,
		    run_ticket_sign(&client->follow->settings->key, &ticket, client->arena));
	client->stage = CLIENT_LAST;
	client->moved = client->follow->loop.now;
	follow_client_push(client);
}

/* ---- the request ---- */

static bool follow_client_read_ticket(struct follow_client *client, size_t len, struct error *err)
{
	struct run_ticket *ticket = &client->ticket;
	struct follow_head head;
	if (!follow_head_parse(client->head.data, len, &head))
		return error_set(err, ERR_BAD_REQUEST, "The request is malformed");
	if (!run_ticket_verify(
		&client->follow->settings->key, head.ticket, client->arena, ticket, err))
		return false;
	bool waits = ticket->kind == RUN_TICKET_WAIT;
	client->where = arena_strdup(client->arena, head.waited);
	if (ticket->kind == RUN_TICKET_WAITED || (waits && !client->where) ||
	    ticket->granularity < GRANULARITY_LOW || ticket->granularity > GRANULARITY_FULL)
		return ticket_refuse(err, "for another place");
	if (ticket->a2a)
		client->told = a2a_follower_new(
		    client->follow->settings->service, ticket->a2a, follow_client_tell, client);
	return !ticket->a2a || client->told || ticket_refuse(err, "without a task");
}

static void follow_client_admit(struct follow_client *client)
{
	struct follow *follow = client->follow;
	const struct run_ticket *ticket = &client->ticket;
	struct followed_run *run = followed_run_get(
	    &follow->runs, ticket->thread_row, ticket->number, ticket->thread_id, ticket->run_id);
	client->run = run;
	client->run_next = run->clients;
	if (client->run_next)
		client->run_next->run_previous = client;
	run->clients = client;
	client->began = follow->loop.now;
	client->place.after = ticket->after;
	client->place.in.skip = ticket->skip;
	if (ticket->kind == RUN_TICKET_WAIT) {
		client->stage = CLIENT_WAIT;
		client->deadline = follow->loop.now + (ticket->until - clock_now()) / 1000;
		followed_run_doubt(&follow->runs, run, follow->loop.now);
		follow_client_watch(client, 0);
		return;
	}
	client->stage = CLIENT_STREAM;
	follow_head_stream(&client->out);
	if (client->told)
		a2a_follower_begin(client->told);
	follow_client_push(client);
}

static void follow_client_read_head(struct follow_client *client)
{
	struct buf *head = &client->head;
	size_t room = FOLLOW_HEAD_LONGEST - head->len;
	ssize_t got = recv(client->fd, buf_reserve(head, room), room, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		follow_client_drop(client);
		return;
	}
	head->len += (size_t)got;
	head->data[head->len] = '\0';
	size_t len = http_head_length(head->data, head->len);
	if (!len) {
		if (head->len == FOLLOW_HEAD_LONGEST)
			follow_client_drop(client);
		return;
	}
	struct error err = {0};
	if (follow_client_read_ticket(client, len, &err)) {
		follow_client_admit(client);
	} else {
		log_warning("a request was refused: %s", error_why(&err));
		follow_head_error(&client->out, &err, client->ticket.request_id);
		client->stage = CLIENT_LAST;
		follow_client_push(client);
	}
	error_release(&err);
	buf_release(head);
}

/* ---- what happens to it ---- */

void follow_client_event(struct follow_client *client, uint32_t events)
{
	if (client->stage == CLIENT_GONE)
		return; /* dropped earlier in this turn */
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		follow_client_lose(client);
	else if (client->stage == CLIENT_HEAD)
		follow_client_read_head(client);
	else
		follow_client_push(client);
}

void follow_clients_wake(struct followed_run *run)
{
	/* clients that are dropped on the way stay in the list until the end of the turn */
	for (struct follow_client *c = run->clients; c; c = c->run_next) {
		if (c->stage == CLIENT_STREAM && !follow_client_pending(c))
			follow_client_push(c);
		else if (c->stage == CLIENT_WAIT && run->state != FOLLOWED_ACTIVE)
			follow_client_send_on(c);
		else if (c->stage == CLIENT_WAIT)
			followed_run_doubt(&c->follow->runs, run, c->follow->loop.now);
	}
}

void follow_client_tick(struct follow_client *client)
{
	const struct follow *follow = client->follow;
	if (client->stage == CLIENT_HEAD) {
		if (follow->loop.now >= client->deadline)
			follow_client_drop(client);
	} else if (client->stage == CLIENT_WAIT) {
		if (client->run->state != FOLLOWED_ACTIVE || follow->loop.now >= client->deadline)
			follow_client_send_on(client);
	} else if (!follow_client_pending(client)) {
		bool hears = client->ticket.events || client->told;
		client->moved = follow->loop.now;
		if (hears && follow->loop.now - client->spoke >= follow->settings->silence_ms) {
			buf_puts(&client->out, COMMENT);
			client->spoke = follow->loop.now;
			follow_client_push(client);
		}
		if (client->stage == CLIENT_STREAM && client->run->state != FOLLOWED_ACTIVE)
			follow_client_push(client);
	} else if (follow->loop.now - client->moved >= follow->settings->stall_ms) {
		log_info("a client took nothing for %lld s: closed",
		    (long long)(follow->settings->stall_ms / 1000));
		follow_client_lose(client);
	}
}

void follow_client_stop(struct follow_client *client)
{
	if (client->stage == CLIENT_HEAD)
		follow_client_drop(client);
	else
		follow_client_send_on(client);
}
