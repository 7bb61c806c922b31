/* SPDX-License-Identifier: ISC */
/* A server's session: the thread that keeps it, its list of tools, and the calls on it. */
#include "tool/mcp.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "tool/mcp_internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 30000 /* for a session to begin */
#define LIST_MS 30000
#define MOST_PAGES 100
#define SHORTEST_SECRET 4

struct mcp_server *mcp_server_new(const struct mcp_settings *settings)
{
	struct mcp_server *server = xcalloc(1, sizeof(*server));
	pthread_condattr_t attr;
	server->settings = *settings;
	pthread_mutex_init(&server->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&server->changed, &attr);
	pthread_condattr_destroy(&attr);
	return server;
}

const char *mcp_server_name(const struct mcp_server *server)
{
	return server->settings.name;
}

/* ---- The tools */

/* Some servers name a cursor on their only page, which leads to the same page again. */
static struct mcp_tools *list_tools(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	struct mcp_tools *tools = mcp_tools_new();
	char *cursor = NULL;
	bool ok = true, unsent;
	for (int page = 0; ok && page < MOST_PAGES; page++) {
		cJSON *params = cJSON_CreateObject();
		if (cursor)
			json_add_str(params, "cursor", cursor);
		cJSON *reply = mcp_exchange(server, "tools/list", params, wait, why, &unsent);
		const cJSON *result = json_get(reply, "result");
		ok = result != NULL;
		if (reply && !result)
			mcp_error_text(json_get(reply, "error"), why);
		const char *next = json_str(result, "nextCursor");
		bool again = next && cursor && strcmp(next, cursor) == 0;
		if (ok && !again && !mcp_tools_add(tools, result, server->settings.name))
			log_warning("mcp %s: offers too many tools", server->settings.name);
		free(cursor);
		cursor = again ? NULL : xstrdup(next);
		cJSON_Delete(reply);
		if (!cursor)
			break;
	}
	free(cursor);
	if (ok)
		return tools;
	mcp_tools_release(tools);
	return NULL;
}

static void set_tools(struct mcp_server *server, struct mcp_tools *tools)
{
	pthread_mutex_lock(&server->lock);
	struct mcp_tools *old = server->tools;
	server->tools = tools;
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
	mcp_tools_release(old);
}

/* ---- A session */

static bool keeper_stops(void *arg)
{
	struct mcp_server *server = arg;
	pthread_mutex_lock(&server->lock);
	bool closing = server->closing;
	pthread_mutex_unlock(&server->lock);
	return closing;
}

static struct mcp_wait keeper_wait(struct mcp_server *server, int64_t ms)
{
	return (struct mcp_wait){clock_monotonic_ms() + ms, keeper_stops, server};
}

/* What initialize agreed on; false with why. */
static bool agree(struct mcp_server *server, const cJSON *reply, char why[MCP_WHY_SIZE])
{
	const cJSON *result = json_get(reply, "result");
	const char *version = json_str(result, "protocolVersion");
	if (!result) {
		mcp_error_text(json_get(reply, "error"), why);
		return false;
	}
	if (!mcp_version_known(version)) {
		snprintf(why, MCP_WHY_SIZE,
		    "speaks version %.40s of the protocol, which is unknown",
		    version ? version : "(none)");
		return false;
	}
	pthread_mutex_lock(&server->lock);
	snprintf(server->version, sizeof(server->version), "%s", version);
	pthread_mutex_unlock(&server->lock);
	return true;
}

static bool greet(struct mcp_server *server, char why[MCP_WHY_SIZE])
{
	const struct mcp_wait wait = keeper_wait(server, START_MS);
	struct mcp_tools *tools = NULL;
	bool unsent;
	cJSON *reply = mcp_exchange(server, "initialize", mcp_hello(), &wait, why, &unsent);
	const cJSON *capabilities = json_get(json_get(reply, "result"), "capabilities");
	const cJSON *offer = json_opt(capabilities, "tools");
	if (reply && agree(server, reply, why)) {
		mcp_notify(server, "notifications/initialized", NULL);
		if (offer && server->settings.url && cJSON_IsTrue(json_get(offer, "listChanged")))
			mcp_http_listen(server);
		tools = offer ? list_tools(server, &wait, why) : mcp_tools_new();
	}
	if (tools)
		set_tools(server, tools);
	cJSON_Delete(reply);
	return tools != NULL;
}

static void close_transport(struct mcp_server *server)
{
	if (server->settings.url)
		mcp_http_close(server);
	else
		mcp_stdio_close(server);
}

static void strike(char *text, const char *secret)
{
	size_t len = strlen(secret);
	for (char *p = text; len >= SHORTEST_SECRET && (p = strstr(p, secret)); p += len)
		memset(p, '*', len);
}

/* Who refuses a key may repeat it. */
static void strike_headers(const struct mcp_server *server, char *text)
{
	for (size_t i = 0; i < server->settings.header_count; i++) {
		const char *value = server->settings.headers[i].value;
		const char *blank = strrchr(value, ' ');
		strike(text, value);
		if (blank) /* behind the name of a scheme */
			strike(text, blank + 1);
	}
}

/* Tells how the attempt ended. */
static void mcp_settle(struct mcp_server *server, bool ok, const char *why)
{
	pthread_mutex_lock(&server->lock);
	server->attempts++;
	server->wanted = false;
	if (ok) {
		server->state = MCP_READY;
	} else {
		server->state = MCP_DOWN;
		server->failures++;
		server->retry_at = clock_monotonic_ms() + mcp_retry_ms(server->failures);
		snprintf(server->why, sizeof(server->why), "%s", why);
	}
	size_t count = ok ? server->tools->count : 0;
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
	if (ok)
		log_info("mcp %s: ready, tools: %zu", server->settings.name, count);
	else
		log_warning("mcp %s: not available: %s", server->settings.name, why);
}

static void mcp_begin(struct mcp_server *server)
{
	char why[MCP_WHY_SIZE] = "";
	close_transport(server); /* what is left of the one before */
	pthread_mutex_lock(&server->lock);
	unsigned session = ++server->session;
	server->state = MCP_STARTING;
	server->stale = false;
	server->silences = 0;
	server->version[0] = '\0';
	pthread_mutex_unlock(&server->lock);
	bool ok = server->settings.url || mcp_stdio_open(server, session, why);
	ok = ok && greet(server, why);
	if (!ok) {
		close_transport(server);
		strike_headers(server, why);
	}
	mcp_settle(server, ok, why);
}

static void list_again(struct mcp_server *server)
{
	char why[MCP_WHY_SIZE] = "";
	const struct mcp_wait wait = keeper_wait(server, LIST_MS);
	struct mcp_tools *tools = list_tools(server, &wait, why);
	if (tools)
		set_tools(server, tools);
	else
		log_warning("mcp %s: its tools changed and cannot be listed: %s",
		    server->settings.name, why);
}

/* ---- The keeper: begins sessions and follows changes */

enum task { TASK_NONE, TASK_BEGIN, TASK_LIST, TASK_ANSWER };

static enum task next_task(struct mcp_server *server)
{
	bool may = server->state == MCP_IDLE ||
	    (server->state == MCP_DOWN && clock_monotonic_ms() >= server->retry_at);
	if (server->wanted && may)
		return TASK_BEGIN;
	if (server->state != MCP_READY)
		return TASK_NONE;
	if (server->answer_count)
		return TASK_ANSWER;
	return server->stale ? TASK_LIST : TASK_NONE;
}

static void *mcp_keep(void *arg)
{
	struct mcp_server *server = arg;
	pthread_mutex_lock(&server->lock);
	while (!server->closing) {
		enum task task = next_task(server);
		if (task == TASK_NONE) {
			pthread_cond_wait(&server->changed, &server->lock);
			continue;
		}
		if (task == TASK_LIST)
			server->stale = false;
		pthread_mutex_unlock(&server->lock);
		if (task == TASK_BEGIN)
			mcp_begin(server);
		else if (task == TASK_LIST)
			list_again(server);
		else
			mcp_http_send_answers(server);
		pthread_mutex_lock(&server->lock);
	}
	pthread_mutex_unlock(&server->lock);
	close_transport(server);
	return NULL;
}

void mcp_server_free(struct mcp_server *server)
{
	if (!server)
		return;
	pthread_mutex_lock(&server->lock);
	server->closing = true;
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
	if (server->has_keeper)
		pthread_join(server->keeper, NULL);
	mcp_tools_release(server->tools);
	for (size_t i = 0; i < server->answer_count; i++)
		buf_release(&server->answers[i]);
	free(server->answers);
	free(server->session_id);
	for (size_t i = 0; i < server->settings.header_count; i++) {
		free((char *)server->settings.headers[i].name);
		free((char *)server->settings.headers[i].value);
	}
	free(server->settings.headers);
	free(server->settings.url);
	free(server->settings.name);
	command_release(&server->settings.command);
	pthread_mutex_destroy(&server->lock);
	pthread_cond_destroy(&server->changed);
	free(server);
}

/* ---- What callers need */

/* Waits for a session, with the lock held; false with why. */
static bool await_session(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	unsigned attempts = server->attempts;
	const char *name = server->settings.name;
	if (!server->has_keeper)
		server->has_keeper = mcp_thread(&server->keeper, mcp_keep, server);
	if (!server->has_keeper) {
		snprintf(why, MCP_WHY_SIZE, "no thread could be started");
		return false;
	}
	while (server->state != MCP_READY) {
		bool down = server->state == MCP_DOWN;
		if (down &&
		    (server->attempts != attempts || clock_monotonic_ms() < server->retry_at)) {
			snprintf(why, MCP_WHY_SIZE, "mcp %.60s is not available: %.400s", name,
			    server->why);
			return false;
		}
		server->wanted = true;
		pthread_cond_broadcast(&server->changed);
		pthread_mutex_unlock(&server->lock);
		bool over = mcp_is_over(wait);
		pthread_mutex_lock(&server->lock);
		if (over) {
			snprintf(why, MCP_WHY_SIZE, "mcp %.60s did not get ready in time", name);
			return false;
		}
		if (server->state != MCP_READY)
			mcp_pause(server, wait->deadline_ms);
	}
	return true;
}

struct mcp_tools *mcp_server_tools(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	struct mcp_tools *tools = NULL;
	pthread_mutex_lock(&server->lock);
	if (await_session(server, wait, why)) {
		tools = server->tools;
		atomic_fetch_add(&tools->holders, 1);
	}
	pthread_mutex_unlock(&server->lock);
	return tools;
}

bool mcp_server_is_down(struct mcp_server *server)
{
	pthread_mutex_lock(&server->lock);
	bool down = server->state == MCP_DOWN && clock_monotonic_ms() < server->retry_at;
	pthread_mutex_unlock(&server->lock);
	return down;
}

/* One try; NULL with why. */
static cJSON *call_once(struct mcp_server *server, const char *tool, const cJSON *args,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE], bool *unsent)
{
	*unsent = false;
	pthread_mutex_lock(&server->lock);
	bool ready = await_session(server, wait, why);
	pthread_mutex_unlock(&server->lock);
	if (!ready)
		return NULL;
	cJSON *params = cJSON_CreateObject();
	json_add_str(params, "name", tool);
	cJSON_AddItemToObject(params, "arguments", cJSON_Duplicate(args, true));
	return mcp_exchange(server, "tools/call", params, wait, why, unsent);
}

bool mcp_server_call(struct mcp_server *server, const char *tool, const cJSON *args,
    const struct mcp_wait *wait, cJSON **output, char why[MCP_WHY_SIZE])
{
	struct mcp_wait own = *wait;
	int64_t deadline = clock_monotonic_ms() + server->settings.timeout_ms;
	bool unsent, is_error;
	*output = NULL;
	*why = '\0';
	if (deadline < own.deadline_ms)
		own.deadline_ms = deadline;
	cJSON *reply = call_once(server, tool, args, &own, why, &unsent);
	if (!reply && unsent) /* a session that had ended unnoticed */
		reply = call_once(server, tool, args, &own, why, &unsent);
	if (!reply)
		return false;
	pthread_mutex_lock(&server->lock);
	server->failures = 0; /* it was good for something: the next failure is the first again */
	pthread_mutex_unlock(&server->lock);
	const cJSON *result = json_get(reply, "result");
	if (result)
		*output = mcp_output(result, &is_error);
	else
		mcp_error_text(json_get(reply, "error"), why);
	cJSON_Delete(reply);
	return result && !is_error;
}
