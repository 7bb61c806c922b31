/* SPDX-License-Identifier: ISC */
/* Requests and their replies, and what a server says unasked. */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "tool/mcp/mcp_headers.h"
#include "tool/mcp/mcp_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_SIZE (512 << 10)
#define FIRST_RETRY_MS 500
#define LAST_RETRY_MS 30000
#define STOP_POLL_MS 100
#define LOG_WINDOW_MS 10000 /* the window in which a server's lines in the log are counted */
#define LOG_LINES 50
#define NOTIFY_MS 2000
#define MOST_QUESTIONS 8 /* that wait for the answers of one call */
#define SILENCES 2       /* calls without a sign of life until the session is given up */

bool mcp_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	bool started = pthread_create(thread, &attr, run, arg) == 0;
	pthread_attr_destroy(&attr);
	return started;
}

const char *mcp_server_shown(const struct mcp_server *server)
{
	const struct mcp_settings *settings = &server->settings;
	const char *slash = strrchr(settings->name, '/');
	if (settings->named)
		return settings->name;
	return settings->url ? "server" : slash ? slash + 1 : settings->name;
}

/* ---- Waiting */

void mcp_pause(struct mcp_server *server, int64_t until_ms)
{
	int64_t most = clock_monotonic_ms() + STOP_POLL_MS;
	clock_cond_wait(&server->changed, &server->lock, until_ms < most ? until_ms : most);
}

bool mcp_is_over(const struct mcp_wait *wait)
{
	return clock_monotonic_ms() >= wait->deadline_ms || (wait->stop && wait->stop(wait->arg));
}

int64_t mcp_retry_ms(unsigned failures)
{
	int64_t ms = FIRST_RETRY_MS;
	for (unsigned i = 1; i < failures && ms < LAST_RETRY_MS; i++)
		ms *= 2;
	return ms < LAST_RETRY_MS ? ms : LAST_RETRY_MS;
}

/* ---- What the server says */

void mcp_log(struct mcp_server *server, const char *line)
{
	int64_t now = clock_monotonic_ms();
	pthread_mutex_lock(&server->lock);
	if (now - server->log_from >= LOG_WINDOW_MS) {
		server->log_from = now;
		server->log_lines = 0;
	}
	unsigned lines = ++server->log_lines;
	pthread_mutex_unlock(&server->lock);
	if (lines > LOG_LINES)
		return;
	char *text = xstrndup(line, 1000);
	for (size_t i = 0; i < server->settings.header_count; i++)
		redact_known(text, server->settings.headers[i].value);
	log_info("mcp %s: %s", server->settings.name, process_clean(text));
	free(text);
	if (lines == LOG_LINES)
		log_warning("mcp %s: writes much; more lines are left out for a while",
		    server->settings.name);
}

static void mcp_session_take_reply(struct mcp_server *server, cJSON *message)
{
	int64_t id = mcp_reply_id(message);
	if (json_opt(message, "error")) /* some servers write a result of null beside it */
		cJSON_DeleteItemFromObjectCaseSensitive(message, "result");
	pthread_mutex_lock(&server->lock);
	for (struct mcp_pending *p = server->pending; p; p = p->next) {
		if (p->id != id || p->reply)
			continue;
		p->reply = message;
		p->done_at = clock_monotonic_ms();
		message = NULL;
		pthread_cond_broadcast(&server->changed);
		break;
	}
	pthread_mutex_unlock(&server->lock);
	cJSON_Delete(message); /* an answer that nobody waits for any more */
}

/* The call that a question is about.  Over standard streams the server does not say: then it is the
 * only call that can be asked, if there is just one, because another may be another user's. */
static struct mcp_pending *mcp_session_asked(
    const struct mcp_server *server, struct mcp_pending *pending)
{
	struct mcp_pending *only = NULL;
	if (pending)
		return pending->call && pending->call->ask ? pending : NULL;
	for (struct mcp_pending *p = server->pending; p; p = p->next) {
		if (only && p->call)
			return NULL;
		only = p->call ? p : only;
	}
	return only && only->call->ask ? only : NULL;
}

/* Keeps a question for whoever waits for the call; false when there is nobody to be asked. */
static bool mcp_session_take_question(
    struct mcp_server *server, struct mcp_pending *pending, cJSON *message)
{
	if (strcmp(json_str(message, "method"), "elicitation/create") != 0)
		return false;
	pthread_mutex_lock(&server->lock);
	struct mcp_pending *asked = mcp_session_asked(server, pending);
	if (asked && !asked->questions)
		asked->questions = cJSON_CreateArray();
	if (asked && cJSON_GetArraySize(asked->questions) >= MOST_QUESTIONS)
		asked = NULL;
	if (asked)
		cJSON_AddItemToArray(asked->questions, message);
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
	if (!asked)
		mcp_log(server, "asks something, and nobody can be asked for the call: cancelled");
	return asked != NULL;
}

static void mcp_session_take_notification(struct mcp_server *server, const cJSON *message)
{
	const char *method = json_str(message, "method");
	const cJSON *params = json_get(message, "params");
	if (strcmp(method, "notifications/tools/list_changed") == 0) {
		pthread_mutex_lock(&server->lock);
		server->stale = true;
		pthread_cond_broadcast(&server->changed);
		pthread_mutex_unlock(&server->lock);
	} else if (strcmp(method, "notifications/message") == 0) {
		char *data = json_print(json_get(params, "data"));
		mcp_log(server, data);
		free(data);
	}
}

static void mcp_session_take_message(
    struct mcp_server *server, struct mcp_pending *pending, cJSON *message)
{
	char *text;
	switch (mcp_kind_of(message)) {
	case MCP_REPLY:
		mcp_session_take_reply(server, message);
		return;
	case MCP_REQUEST:
		if (mcp_session_take_question(server, pending, message))
			return;
		text = mcp_answer_text(message, mcp_own_answer(json_str(message, "method")));
		server->transport->answer(server, text);
		free(text);
		break;
	case MCP_NOTIFICATION:
		mcp_session_take_notification(server, message);
		break;
	case MCP_NO_MESSAGE:
		mcp_log(server, "sent JSON that is no message");
		break;
	}
	cJSON_Delete(message);
}

bool mcp_take(struct mcp_server *server, struct mcp_pending *pending, const char *text, size_t len)
{
	cJSON *message = json_parse_mended(text, len, JSON_REQUEST_DEPTH);
	if (!message)
		return false;
	pthread_mutex_lock(&server->lock);
	server->silences = 0;
	pthread_mutex_unlock(&server->lock);
	if (!cJSON_IsArray(message)) {
		mcp_session_take_message(server, pending, message);
		return true;
	}
	while (message->child)
		mcp_session_take_message(
		    server, pending, cJSON_DetachItemViaPointer(message, message->child));
	cJSON_Delete(message);
	return true;
}

bool mcp_answer_questions(
    struct mcp_server *server, struct mcp_pending *pending, const struct mcp_wait *wait)
{
	while (!mcp_is_over(wait)) {
		pthread_mutex_lock(&server->lock);
		cJSON *first = pending->questions ? pending->questions->child : NULL;
		cJSON *question =
		    first ? cJSON_DetachItemViaPointer(pending->questions, first) : NULL;
		pthread_mutex_unlock(&server->lock);
		if (!question)
			return !pending->given_up;
		const struct mcp_call *call = pending->call;
		cJSON *answer = NULL;
		if (!pending->given_up)
			pending->given_up =
			    !call->ask(json_get(question, "params"), &answer, call->arg);
		char *text = mcp_answer_text(question, answer ? answer : mcp_elicited("cancel"));
		server->transport->answer(server, text);
		server->transport->send_answers(server, wait);
		free(text);
		cJSON_Delete(question);
	}
	return !pending->given_up;
}

void mcp_lose(struct mcp_server *server, unsigned session, const char *fmt, ...)
{
	char why[MCP_WHY_SIZE];
	va_list args;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	pthread_mutex_lock(&server->lock);
	bool current = server->session == session;
	bool was_ready = current && server->state == MCP_READY && !server->closing;
	if (current) {
		for (struct mcp_pending *p = server->pending; p; p = p->next) {
			if (p->reply || p->lost)
				continue;
			p->lost = true;
			p->done_at = clock_monotonic_ms();
		}
		memcpy(server->why, why, sizeof(why));
		free(server->session_id);
		server->session_id = NULL;
		/* a session that was good for something may be followed by another at once */
		if (server->state == MCP_READY) {
			server->state = ++server->failures < 2 ? MCP_IDLE : MCP_DOWN;
			if (server->state == MCP_DOWN)
				server->retry_at =
				    clock_monotonic_ms() + mcp_retry_ms(server->failures);
		}
	}
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
	if (was_ready)
		log_warning("mcp %s: %s", server->settings.name, why);
}

/* ---- Requests */

/* Tells the server to give up, and gives the session up when it shows no sign of life. */
static void mcp_session_cancel(struct mcp_server *server, const struct mcp_pending *pending,
    const struct mcp_wait *wait, const char *why)
{
	cJSON *params = cJSON_CreateObject();
	json_add_int(params, "requestId", pending->id);
	json_add_str(params, "reason", why);
	mcp_notify(server, "notifications/cancelled", params);
	if (clock_monotonic_ms() < wait->deadline_ms)
		return;
	pthread_mutex_lock(&server->lock);
	unsigned session = server->session;
	bool silent = ++server->silences >= SILENCES && server->state == MCP_READY;
	pthread_mutex_unlock(&server->lock);
	if (silent)
		mcp_lose(server, session, "does not answer any more");
}

bool mcp_is_stateless(const struct mcp_server *server)
{
	return mcp_version_is_stateless(server->version);
}

static void mcp_session_forget(struct mcp_server *server, struct mcp_pending *pending)
{
	pthread_mutex_lock(&server->lock);
	struct mcp_pending **link = &server->pending;
	while (*link != pending)
		link = &(*link)->next;
	*link = pending->next;
	pthread_mutex_unlock(&server->lock);
	cJSON_Delete(pending->questions);
	cJSON_Delete(pending->headers);
}

cJSON *mcp_exchange(struct mcp_server *server, struct mcp_asked *asked, char why[MCP_WHY_SIZE])
{
	struct mcp_pending pending = {.call = asked->call};
	*why = '\0';
	pthread_mutex_lock(&server->lock);
	pending.id = ++server->next_id;
	pending.next = server->pending;
	server->pending = &pending;
	bool stateless = mcp_is_stateless(server);
	if (stateless)
		mcp_add_meta(asked->params, server->version);
	pthread_mutex_unlock(&server->lock);
	if (stateless && server->settings.url)
		pending.headers = mcp_headers_new(asked->method, asked->params, asked->parameters);
	char *text = mcp_request_text(pending.id, asked->method, asked->params);
	enum mcp_sent sent = server->transport->send(server, text, &pending, asked->wait, why);
	free(text);
	mcp_session_forget(server, &pending);
	asked->unsent = sent == MCP_UNSENT && !pending.reply;
	asked->status = pending.status;
	if (pending.reply)
		return pending.reply;
	if (*why)
		return NULL;
	if (pending.lost) {
		pthread_mutex_lock(&server->lock);
		snprintf(
		    why, MCP_WHY_SIZE, "mcp %.60s: %.400s", mcp_server_shown(server), server->why);
		pthread_mutex_unlock(&server->lock);
	} else {
		snprintf(why, MCP_WHY_SIZE,
		    pending.given_up         ? "nobody answered what the server asks"
			: sent == MCP_UNSENT ? "the server has ended, or does not read"
			: clock_monotonic_ms() >= asked->wait->deadline_ms ? "timed out"
									   : "stopped");
	}
	if (sent == MCP_SENT && !pending.lost && strcmp(asked->method, "initialize") != 0)
		mcp_session_cancel(server, &pending, asked->wait, why);
	return NULL;
}

/* Over HTTP without a session there are none: a request is cancelled by the end of
 * its connection. */
void mcp_notify(struct mcp_server *server, const char *method, cJSON *params)
{
	char *text = mcp_notification_text(method, params), why[MCP_WHY_SIZE];
	const struct mcp_wait wait = {.deadline_ms = clock_monotonic_ms() + NOTIFY_MS};
	pthread_mutex_lock(&server->lock);
	bool stateless = mcp_is_stateless(server);
	pthread_mutex_unlock(&server->lock);
	if (!server->settings.url || !stateless)
		server->transport->send(server, text, NULL, &wait, why);
	free(text);
}
