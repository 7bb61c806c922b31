/* SPDX-License-Identifier: ISC */
/* A server's session: the thread that keeps it, and its list of tools. */
#include "tool/mcp/mcp.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "tool/mcp/mcp_internal.h"
#include "tool/mcp/mcp_version.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 30000 /* how long a session may take to begin */
#define LIST_MS 30000
#define LIST_REST_MS 1000 /* between the end of one listing and the next, at least */
#define MOST_PAGES 100
#define FRESH_MS 5000 /* how long a list is taken for fresh, at least and at most */
#define MOST_FRESH_MS 3600000

struct mcp_server *mcp_server_new(const struct mcp_settings *settings)
{
	struct mcp_server *server = xcalloc(1, sizeof(*server));
	server->settings = *settings;
	server->transport = settings->url ? &mcp_over_http : &mcp_over_stdio;
	if (settings->oauth.client_secret)
		server->oauth = mcp_oauth_new(&settings->oauth, settings->url);
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->changed, NULL);
	return server;
}

const char *mcp_server_name(const struct mcp_server *server)
{
	return server->settings.name;
}

/* ---- The tools */

/* Until when a list is fresh: a server with a session tells when it changes. */
static int64_t mcp_list_ends(struct mcp_server *server, const cJSON *result)
{
	int64_t ms = 0;
	if (!mcp_is_stateless(server))
		return INT64_MAX;
	json_integer(json_opt(result, "ttlMs"), &ms);
	ms = ms < FRESH_MS ? FRESH_MS : ms > MOST_FRESH_MS ? MOST_FRESH_MS : ms;
	return clock_monotonic_ms() + ms;
}

/* Whether a page has tools, and all of them are known. */
static bool mcp_page_is_known(const struct mcp_tools *tools, const cJSON *page)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, page) {
		const char *name = json_str(item, "name");
		if (!name || !mcp_tools_get(tools, name))
			return false;
	}
	return cJSON_GetArraySize(page) > 0;
}

/* Lists the tools, page by page.  On their last page some servers name a cursor that leads to pages
 * that were there already. */
static struct mcp_tools *mcp_list_tools(struct mcp_server *server, const struct mcp_wait *wait,
    int64_t *fresh_until, char why[MCP_WHY_SIZE])
{
	struct mcp_tools *tools = mcp_tools_new();
	bool ok = true, in_headers = server->settings.url && mcp_is_stateless(server);
	char *cursor = NULL;
	for (int page = 0; ok && page < MOST_PAGES; page++) {
		struct mcp_asked asked = {
		    .method = "tools/list", .params = cJSON_CreateObject(), .wait = wait};
		if (cursor)
			json_add_str(asked.params, "cursor", cursor);
		cJSON *reply = mcp_exchange(server, &asked, why);
		const cJSON *result = json_get(reply, "result");
		ok = result != NULL;
		if (reply && !result)
			mcp_error_text(json_get(reply, "error"), why);
		const char *next = json_str(result, "nextCursor");
		bool again = cursor &&
		    ((next && strcmp(next, cursor) == 0) ||
			mcp_page_is_known(tools, json_get(result, "tools")));
		if (ok && !again &&
		    !mcp_tools_add(tools, result, server->settings.name, in_headers))
			log_warning("mcp %s: offers too many tools", server->settings.name);
		free(cursor);
		cursor = again ? NULL : xstrdup(next);
		*fresh_until = mcp_list_ends(server, result);
		cJSON_Delete(reply);
		if (!cursor)
			break;
	}
	if (ok && cursor)
		log_warning(
		    "mcp %s: offers more than %d pages of tools, of which the rest is not seen",
		    server->settings.name, MOST_PAGES);
	free(cursor);
	if (ok)
		return tools;
	mcp_tools_release(tools);
	return NULL;
}

static void mcp_set_tools(struct mcp_server *server, struct mcp_tools *tools, int64_t fresh_until)
{
	pthread_mutex_lock(&server->lock);
	struct mcp_tools *old = server->tools;
	for (size_t i = 0; old && i < tools->count; i++) {
		const struct mcp_tool *before = mcp_tools_get(old, tools->items[i].name);
		tools->items[i].told = before && before->told;
	}
	server->tools = tools;
	server->fresh_until = fresh_until;
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
	mcp_tools_release(old);
}

/* ---- A session */

static bool mcp_keeper_stops(void *arg)
{
	struct mcp_server *server = arg;
	pthread_mutex_lock(&server->lock);
	bool closing = server->closing;
	pthread_mutex_unlock(&server->lock);
	return closing;
}

static struct mcp_wait mcp_keeper_wait(struct mcp_server *server, int64_t ms)
{
	return (struct mcp_wait){clock_monotonic_ms() + ms, mcp_keeper_stops, server};
}

static void mcp_set_version(struct mcp_server *server, const char *version)
{
	pthread_mutex_lock(&server->lock);
	snprintf(server->version, sizeof(server->version), "%s", version);
	pthread_mutex_unlock(&server->lock);
}

/* Asks without a session, and once more where the server refuses the version but says that it has
 * it.  NULL where that leads to nothing: *older where the server does not speak so, else it cannot
 * be asked now. */
static cJSON *mcp_discover(
    struct mcp_server *server, const struct mcp_wait *wait, bool *older, char why[MCP_WHY_SIZE])
{
	const char *latest = mcp_versions[0].name;
	cJSON *reply = NULL;
	bool again = true, refused = false;
	mcp_set_version(server, latest);
	for (int i = 0; i < 2 && again; i++) {
		struct mcp_asked asked = {
		    .method = "server/discover", .params = cJSON_CreateObject(), .wait = wait};
		cJSON_Delete(reply);
		reply = mcp_exchange(server, &asked, why);
		if (json_has_str(json_get(json_get(reply, "result"), "supportedVersions"), latest))
			return reply;
		const cJSON *error = json_get(reply, "error");
		again = json_has_str(json_get(json_get(error, "data"), "supported"), latest);
		/* without a reply the server may not know what it was asked, unless it wants to
		 * know who asks, has moved, or is not available now */
		int status = asked.status;
		refused = status && status / 100 != 3 && status != 401 && status != 403 &&
		    !(status >= 502 && status <= 504);
	}
	*older = reply || refused;
	cJSON_Delete(reply);
	mcp_set_version(server, "");
	return NULL;
}

static cJSON *mcp_initialize(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	struct mcp_asked asked = {.method = "initialize", .params = mcp_hello(), .wait = wait};
	cJSON *reply = mcp_exchange(server, &asked, why);
	if (!reply)
		return NULL;
	const cJSON *result = json_get(reply, "result");
	const char *version = json_str(result, "protocolVersion");
	if (result && mcp_version_known(version)) {
		mcp_set_version(server, version);
		mcp_notify(server, "notifications/initialized", NULL);
		return reply;
	}
	if (result)
		snprintf(why, MCP_WHY_SIZE,
		    "speaks version %.40s of the protocol, which is unknown",
		    version ? version : "(none)");
	else
		mcp_error_text(json_get(reply, "error"), why);
	cJSON_Delete(reply);
	return NULL;
}

/* Finds out how the server is spoken to; what it says of itself, or NULL with why. */
static cJSON *mcp_meet(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	bool older = false;
	char ignored[MCP_WHY_SIZE];
	if (!server->settings.url) {
		cJSON *reply = mcp_initialize(server, wait, why);
		return reply || mcp_stdio_is_over(server)
		    ? reply
		    : mcp_discover(server, wait, &older, ignored);
	}
	cJSON *reply = mcp_discover(server, wait, &older, why);
	return reply || !older ? reply : mcp_initialize(server, wait, why);
}

static bool mcp_greet(struct mcp_server *server, char why[MCP_WHY_SIZE])
{
	const struct mcp_wait wait = mcp_keeper_wait(server, START_MS);
	struct mcp_tools *tools = NULL;
	int64_t fresh_until = INT64_MAX;
	cJSON *reply = mcp_meet(server, &wait, why);
	const cJSON *capabilities = json_get(json_get(reply, "result"), "capabilities");
	const cJSON *offer = json_opt(capabilities, "tools");
	/* from some servers questions about calls come there, too */
	if (reply && offer && server->settings.url && !mcp_is_stateless(server))
		mcp_http_listen(server);
	if (reply)
		tools = offer ? mcp_list_tools(server, &wait, &fresh_until, why) : mcp_tools_new();
	if (tools)
		mcp_set_tools(server, tools, fresh_until);
	cJSON_Delete(reply);
	return tools != NULL;
}

static void mcp_begin(struct mcp_server *server)
{
	char why[MCP_WHY_SIZE] = "";
	server->transport->close(server); /* what is left of the one before */
	pthread_mutex_lock(&server->lock);
	unsigned session = ++server->session;
	server->state = MCP_STARTING;
	server->stale = false;
	server->silences = 0;
	server->version[0] = '\0';
	while (server->answer_count) /* what the old session asked */
		buf_release(&server->answers[--server->answer_count]);
	pthread_mutex_unlock(&server->lock);
	bool ok = server->settings.url || mcp_stdio_open(server, session, why);
	ok = ok && mcp_greet(server, why);
	if (!ok)
		server->transport->close(server);
	/* Tells how the attempt ended. */
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
		log_info("mcp %s: ready, offers %zu tools", server->settings.name, count);
	else
		log_warning("mcp %s: not available: %s", server->settings.name, why);
}

/* ---- The keeper: begins sessions and follows changes */

enum task { TASK_NONE, TASK_BEGIN, TASK_REST, TASK_LIST, TASK_ANSWER };

static enum task mcp_keeper_task(struct mcp_server *server)
{
	bool may = server->state == MCP_IDLE ||
	    (server->state == MCP_DOWN && clock_monotonic_ms() >= server->retry_at);
	if (server->wanted && may)
		return TASK_BEGIN;
	if (server->state != MCP_READY)
		return TASK_NONE;
	if (server->answer_count)
		return TASK_ANSWER;
	if (!server->stale)
		return TASK_NONE;
	return clock_monotonic_ms() < server->list_from ? TASK_REST : TASK_LIST;
}

static void *mcp_keep(void *arg)
{
	struct mcp_server *server = arg;
	pthread_mutex_lock(&server->lock);
	while (!server->closing) {
		enum task task = mcp_keeper_task(server);
		if (task == TASK_NONE) {
			pthread_cond_wait(&server->changed, &server->lock);
			continue;
		}
		if (task == TASK_REST) {
			mcp_pause(server, server->list_from);
			continue;
		}
		if (task == TASK_LIST) {
			server->stale = false;
			server->fresh_until = clock_monotonic_ms() + FRESH_MS;
		}
		pthread_mutex_unlock(&server->lock);
		if (task == TASK_BEGIN) {
			mcp_begin(server);
		} else if (task == TASK_LIST) {
			char why[MCP_WHY_SIZE] = "";
			const struct mcp_wait wait = mcp_keeper_wait(server, LIST_MS);
			int64_t fresh_until;
			struct mcp_tools *tools = mcp_list_tools(server, &wait, &fresh_until, why);
			if (tools)
				mcp_set_tools(server, tools, fresh_until);
			else
				log_warning("mcp %s: its tools changed and cannot be listed: %s",
				    server->settings.name, why);
		} else {
			const struct mcp_wait wait = mcp_keeper_wait(server, LIST_MS);
			server->transport->send_answers(server, &wait);
		}
		pthread_mutex_lock(&server->lock);
		if (task != TASK_ANSWER)
			server->list_from = clock_monotonic_ms() + LIST_REST_MS;
	}
	pthread_mutex_unlock(&server->lock);
	server->transport->close(server);
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
	mcp_oauth_free(server->oauth);
	free(server->settings.url);
	free(server->settings.name);
	command_release(&server->settings.command);
	pthread_mutex_destroy(&server->lock);
	pthread_cond_destroy(&server->changed);
	free(server);
}

/* ---- What callers need */

/* Waits for a session, with the lock held; false with why. */
static bool mcp_await_session(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	unsigned attempts = server->attempts;
	const char *name = mcp_server_shown(server);
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
	if (mcp_await_session(server, wait, why)) {
		tools = server->tools;
		atomic_fetch_add(&tools->holders, 1);
		if (clock_monotonic_ms() >= server->fresh_until && !server->stale) {
			/* the old list still counts until a new one is there */
			server->stale = true;
			pthread_cond_broadcast(&server->changed);
		}
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
