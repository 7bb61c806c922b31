/* SPDX-License-Identifier: ISC */
/*
 * Requests to a whole worker: whatever they are, each is answered once, with a status that is never
 * 500, except for limits that the request asked for; and an answer that claims to be JSON is.
 *
 * An input is requests as in HTTP, but with bare newlines, separated by lines "%%": method and
 * path, header lines, an empty line, the body.  They meet the demo graph with everything switched
 * on, in a state directory that is made anew now and then.  With the method FRAME the body is a
 * frame on the turn socket instead.
 */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/route/mount.h"
#include "fcgi/server.h"
#include "replay.h"
#include "scratch_service.h"
#include "service/run/socket.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LIFE 2000  /* inputs until the state is made anew */
#define REQUESTS 8 /* of an input, at most */
#define HEADERS 24 /* of a request, at most */

static const char configuration[] = "{\"agent\": \"builtin:demo\", \"store\": \"builtin:store\", "
				    "\"ag_ui\": {\"enabled\": true}, "
				    "\"openai\": {\"enabled\": true}, "
				    "\"langgraph\": {\"enabled\": true}, "
				    "\"history\": {\"trust_imports\": true}}";

static struct {
	struct server server;
	struct arena *arena;
	char dir[SCRATCH_SIZE];
	int inputs;
} world;

/* ---- the service ---- */

static void open_world(void)
{
	struct problems problems = {0};
	struct server *server = &world.server;
	server->service = scratch_service(world.dir, configuration);
	world.arena = arena_new();
	server->hygiene = hygiene_new(&server->service->config->env);
	server->routes = routes_mount(&routes, server->service->config, world.arena, &problems);
	atomic_store(&server->open, true);
	server->document = "{}";
	problems_release(&problems);
	world.inputs = 0;
}

static void close_world(void)
{
	if (!world.arena)
		return;
	hygiene_free(world.server.hygiene);
	service_close(world.server.service);
	arena_free(world.arena);
	world.arena = NULL;
	scratch_remove(world.dir);
}

static void renew_world(void)
{
	static bool first = true;
	if (first)
		atexit(close_world);
	first = false;
	if (world.arena && ++world.inputs < LIFE)
		return;
	close_world();
	open_world();
}

/* ---- a client ---- */

struct outside {
	struct client client; /* first */
	const char *body;
	size_t left;
	struct buf out;
};

static ssize_t on_read(struct client *client, char *out, size_t size)
{
	struct outside *o = (struct outside *)client;
	size_t got = size < o->left ? size : o->left;
	memcpy(out, o->body, got);
	o->body += got;
	o->left -= got;
	return (ssize_t)got;
}

static void on_write(struct client *client, const char *data, size_t len)
{
	buf_add(&((struct outside *)client)->out, data, len);
}

static void on_flush(struct client *client)
{
	(void)client;
}

/* "Content-Type: x" as CGI has it. */
static char *parameter(const char *line)
{
	const char *colon = strchr(line, ':');
	if (!colon)
		return xasprintf("HTTP_NOTHING=%s", line);
	char *name = xstrndup(line, (size_t)(colon - line));
	for (char *p = name; *p; p++)
		*p = *p == '-' || *p == '=' ? '_' : (char)toupper((unsigned char)*p);
	const char *value = colon + 1 + strspn(colon + 1, " ");
	bool plain = !strcmp(name, "CONTENT_TYPE") || !strcmp(name, "CONTENT_LENGTH") ||
	    !strcmp(name, "REMOTE_ADDR");
	char *pair = xasprintf("%s%s=%s", plain ? "" : "HTTP_", name, value);
	free(name);
	return pair;
}

/* Method, path and what stands behind its question mark. */
static size_t take_line(char *line, char **params)
{
	char *uri = strchr(line, ' ');
	if (uri)
		*uri++ = '\0';
	char *query = uri ? strchr(uri, '?') : NULL;
	params[0] = xasprintf("REQUEST_METHOD=%s", line);
	params[1] = xasprintf("REQUEST_URI=%s", uri ? uri : "/");
	params[2] = xasprintf("QUERY_STRING=%s", query ? query + 1 : "");
	return 3;
}

static void check_json(const char *text, size_t len)
{
	cJSON *body = json_parse(text, len, JSON_TRUSTED_DEPTH, NULL);
	require(body != NULL);
	cJSON_Delete(body);
}

static void check_answer(const struct buf *out, bool head)
{
	int status = 200;
	require(out->len > 0);
	const char *text = buf_str((struct buf *)out);
	if (!strncmp(text, "Status: ", 8))
		status = atoi(text + 8);
	const char *end = strstr(text, "\r\n\r\n");
	require(end != NULL);
	require(status >= 200 && status < 600);
	/* limits that a run may ask for */
	require(status != 500 || strstr(end, "\"GRAPH_RECURSION_LIMIT\"") ||
	    strstr(end, "\"NODE_TIMEOUT\""));
	const char *type =
	    strcasestr(text, "\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n");
	const char *body = end + 4;
	if (type && type < end && !head && status != 204 && status != 304)
		check_json(body, out->len - (size_t)(body - text));
}

/* ---- a client on the turn socket ---- */

/* The parts of a chunk that came so far. */
struct joined {
	struct chunk_sink sink;
	struct buf text;
};

static bool on_part(struct chunk_sink *sink, const char *json, size_t len)
{
	buf_add(&((struct joined *)sink)->text, json, len);
	return true;
}

static void on_chunk(struct chunk_sink *sink, const char *json, size_t len)
{
	struct buf *text = &((struct joined *)sink)->text;
	on_part(sink, json, len);
	check_json(text->data, text->len);
	buf_reset(text);
}

static void frame(const char *text, size_t len)
{
	static const struct socket_session session = {0, "/v1/graph/ws", "127.0.0.1"};
	struct joined joined = {.sink = {.chunk = on_chunk, .part = on_part}};
	struct call call;
	call_init(&call, world.server.service, "fuzz");
	require(socket_frame(&call, &session, text, len, &joined.sink) == SOCKET_GOES_ON);
	call_release(&call);
	buf_release(&joined.text);
}

static void request(char *text, size_t size)
{
	char *params[HEADERS + 4] = {0};
	char *end = memmem(text, size, "\n\n", 2);
	bool head = !strncmp(text, "HEAD ", 5);
	if (end && !strncmp(text, "FRAME", 5)) {
		frame(end + 2, size - (size_t)(end + 2 - text));
		return;
	}
	struct outside o = {
	    .client = {.params = params, .read = on_read, .write = on_write, .flush = on_flush},
	    .body = ""};
	struct response buffers = {0};
	size_t count = 0;
	if (end) {
		*end = '\0';
		o.body = end + 2;
		o.left = size - (size_t)(end + 2 - text);
	}
	for (char *line; (line = strsep(&text, "\n")) && count < HEADERS;)
		if (!count)
			count = take_line(line, params);
		else
			params[count++] = parameter(line);
	server_answer(&world.server, &o.client, &buffers, NULL);
	check_answer(&o.out, head);
	response_release(&buffers);
	buf_release(&o.out);
	for (size_t i = 0; i < count; i++)
		free(params[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char between[] = "\n%%\n";
	/* these make the demo wait, fail, or go on to the limit */
	if (memmem(data, size, "/slow", 5) || memmem(data, size, "/error", 6) ||
	    memmem(data, size, "/loop", 5))
		return 0;
	renew_world();
	char *copy = xmalloc(size + 1), *at = copy, *next;
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	for (int n = 0; n < REQUESTS && at; n++, at = next) {
		size_t left = size - (size_t)(at - copy);
		next = memmem(at, left, between, sizeof(between) - 1);
		size_t len = next ? (size_t)(next - at) : left;
		if (next) {
			*next = '\0';
			next += sizeof(between) - 1;
		}
		request(at, len);
	}
	free(copy);
	return 0;
}
