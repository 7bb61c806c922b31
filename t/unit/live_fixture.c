/* SPDX-License-Identifier: ISC */
/* A live session with a provider and a client that the test plays. */
#include "live_fixture.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/live/live_internal.h"
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake fake;
int64_t fake_now = 1000;

/* ---- the provider */

static void *fake_open(ag_live_session *session, const struct ag_live_setup *setup, void *data)
{
	char *tools = json_print(setup->tools), *vad = json_print(setup->vad);
	fake.opened++;
	CU_ASSERT_PTR_EQUAL(data, &fake);
	buf_printf(&fake.asked, "%s,%s,%s,%s,%s,%s,%s|", setup->model ? setup->model : "-",
	    setup->voice ? setup->voice : "-", setup->system_prompt ? setup->system_prompt : "-",
	    setup->text ? "TEXT" : "AUDIO", vad, tools,
	    setup->resumption_handle ? setup->resumption_handle : "-");
	cJSON_free(tools);
	cJSON_free(vad);
	if (fake.refuses)
		return NULL;
	CU_ASSERT_PTR_NULL(fake.session);
	fake.session = session;
	bool *ready = xcalloc(1, sizeof(*ready));
	return ready;
}

static void fake_close(void *connection)
{
	fake.closed++;
	fake.session = NULL;
	free(connection);
}

static bool fake_takes(void *connection)
{
	(void)connection;
	return !fake.stalls;
}

static void fake_audio(void *connection, const void *pcm, size_t bytes)
{
	int16_t first;
	(void)connection;
	memcpy(&first, pcm, sizeof(first));
	buf_printf(&fake.heard, "audio %zu %d|", bytes, first);
}

static void fake_text(void *connection, const char *text)
{
	(void)connection;
	buf_printf(&fake.heard, "text %s|", text);
	if (fake.replies)
		fake.replies(fake.session);
}

static void fake_activity(void *connection, bool starts)
{
	(void)connection;
	buf_printf(&fake.heard, "%s|", starts ? "start" : "end");
}

static void fake_tool_result(
    void *connection, const char *call_id, const char *name, const cJSON *result, bool is_error)
{
	char *json = json_print(result);
	(void)connection;
	buf_printf(
	    &fake.heard, "result %s %s %s%s|", call_id, name, json, is_error ? " failed" : "");
	cJSON_free(json);
}

static void fake_finish(void *connection)
{
	(void)connection;
	buf_puts(&fake.heard, "finish|");
	if (!fake.stubborn)
		fake.next = ag_live_ended;
}

static int fake_descriptor(void *connection, short *events)
{
	(void)connection, (void)events;
	return -1;
}

static int64_t fake_step(void *connection, int64_t now)
{
	bool *ready = connection;
	void (*next)(ag_live_session *) = fake.next;
	CU_ASSERT_EQUAL(now, fake_now);
	if (fake.loses) {
		ag_live_lost(fake.session, "no \xff route");
		return -1;
	}
	if (!*ready && !fake.silent) {
		*ready = true;
		ag_live_ready(fake.session);
		if (fake.closes)
			ag_live_lost(fake.session, "closed");
	}
	if (*ready && next) {
		fake.next = NULL;
		next(fake.session);
	}
	return -1;
}

const struct ag_live_provider fake_provider = {AG_LIVE_PROVIDER, fake_open, fake_close, fake_takes,
    fake_audio, fake_text, fake_activity, fake_tool_result, fake_finish, fake_descriptor,
    fake_step};

/* ---- the service */

static ag_result tool_twice(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)run, (void)data;
	*output = json_new_double(2 * ag_number(json_get(args, "n")));
	return AG_OK;
}

static ag_result tool_broken(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)args, (void)output, (void)data;
	return ag_fail(run, "broken");
}

static ag_result tool_slow(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)args, (void)data;
	while (!ag_stop_requested(run))
		usleep(1000);
	*output = cJSON_CreateString(ag_thread_id(run));
	return AG_OK;
}

static ag_graph *build(void)
{
	static const char *const own[] = {"a", "b", NULL};
	static const char *const a[] = {"a", "x", NULL}, *const b[] = {"b", NULL},
				 *const x[] = {"x", NULL};
	ag_graph *graph = graph_new("test");
	const struct ag_live live = {.kind = AG_LIVE,
	    .provider = &fake_provider,
	    .data = &fake,
	    .model = "m1",
	    .voice = "v1",
	    .tools = "tools",
	    .tools_tags = own,
	    .vad = "{\"enabled\": true}"};
	ag_graph_live(graph, "agent", &live);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "twice", "", NULL, tool_twice, NULL);
	ag_graph_tool(graph, "tools", "broken", "", NULL, tool_broken, NULL);
	ag_graph_tool(graph, "tools", "slow", "", NULL, tool_slow, NULL);
	ag_graph_tool(graph, "tools", "hidden", "", NULL, tool_twice, NULL);
	ag_graph_tool_tags(graph, "tools", "twice", a);
	ag_graph_tool_tags(graph, "tools", "broken", b);
	ag_graph_tool_tags(graph, "tools", "slow", b);
	ag_graph_tool_tags(graph, "tools", "hidden", x);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_edge(graph, "agent", AG_END);
	CU_ASSERT_TRUE_FATAL(graph_compile(graph));
	return graph;
}

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(unit_path(name), "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

struct service *live_service(const char *settings, const char *more)
{
	static const char *const variables[] = {
	    "MODE", "ORIGINS", "REALTIME_INPUT_QUEUE_MAXSIZE", "REALTIME_MAX_FRAME_BYTES"};
	static int count;
	struct problems problems = {0};
	char text[600], state[40];
	for (size_t i = 0; i < UNIT_COUNT(variables); i++)
		unsetenv(variables[i]); /* a dotenv file before may have set it */
	snprintf(state, sizeof(state), "state-%d", count++);
	put_file("settings", settings);
	snprintf(text, sizeof(text),
	    "{\"agent\": \"builtin:live-demo\", \"env\": \"settings\", \"websocket\": "
	    "{\"realtime_models\": [\"m2\"]}%s}",
	    more);
	put_file("agent.json", text);
	char *file = xstrdup(unit_path("agent.json")), *dir = xstrdup(unit_path(state));
	const struct config_source source = {.file = file, .state_dir = dir};
	struct service *service = service_load(&source, &problems);
	for (size_t i = 0; !service && i < problems.count; i++)
		printf("# %s\n", problems.items[i].text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(service);
	problems_release(&problems);
	free(file);
	free(dir);
	graph_free(service->graph);
	service->graph = build();
	buf_release(&fake.heard);
	buf_release(&fake.asked);
	fake = (struct fake){0};
	return service;
}

/* ---- the client */

static const char *text_of(const cJSON *event)
{
	static const char *const keys[] = {
	    "text", "message", "result", "resumption_handle", "time_left", "author", "name"};
	static char text[600];
	*text = '\0';
	for (size_t i = 0; i < UNIT_COUNT(keys); i++) {
		const cJSON *item = json_get(event, keys[i]);
		char *json = item ? json_print(item) : NULL;
		if (json)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s",
			    cJSON_IsString(item) ? item->valuestring : json);
		cJSON_free(json);
	}
	return text;
}

static const char *mark(const cJSON *event, const char *key)
{
	return cJSON_IsTrue(json_get(event, key)) ? "!" : "";
}

static void on_event(struct live_sink *sink, const char *json, size_t len)
{
	struct client *c = (struct client *)sink;
	cJSON *event = json_parse(json, len, JSON_REQUEST_DEPTH, NULL);
	CU_ASSERT_TRUE_FATAL(cJSON_IsObject(event));
	const char *code = json_str(event, "code");
	buf_printf(&c->heard, "%s%s%s%s%s%s|", json_str(event, "type"), mark(event, "finished"),
	    mark(event, "fatal"), code ? " " : "", code ? code : "", text_of(event));
	cJSON_Delete(event);
}

static void on_audio(struct live_sink *sink, const void *pcm, size_t bytes)
{
	struct client *c = (struct client *)sink;
	(void)pcm;
	buf_printf(&c->heard, "audio %zu|", bytes);
}

static void on_close(struct live_sink *sink, int code, const char *reason)
{
	struct client *c = (struct client *)sink;
	if (code == 1000) /* who hears it finds everything stored */
		CU_ASSERT_TRUE(!c->live->keeper || live_keeper_rests(c->live->keeper));
	buf_printf(&c->heard, "close %d %s|", code, reason ? reason : "");
}

static bool is_full(struct live_sink *sink)
{
	return ((struct client *)sink)->full;
}

static int64_t read_clock(void)
{
	return fake_now;
}

void client_open(struct client *c, struct service *service, const char *init)
{
	static const struct identity anonymous = {.user_id = "anonymous"};
	*c = (struct client){.sink = {on_event, on_audio, on_close, is_full}};
	const struct live_setup setup = {service, &anonymous, "request", &c->sink, read_clock};
	c->live = live_new(&setup);
	if (init)
		live_text(c->live, init, strlen(init));
	client_settle(c);
}

void client_free(struct client *c)
{
	CU_ASSERT_TRUE(live_free(c->live));
	buf_release(&c->heard);
}

void client_settle(struct client *c)
{
	struct pollfd fds[LIVE_FDS];
	int64_t end = clock_monotonic_ms() + 10000;
	for (int quiet = 0; quiet < 3 && clock_monotonic_ms() < end;) {
		int wait = live_poll(c->live, fds);
		int ready = poll(fds, LIVE_FDS, wait == 0 ? 0 : 5);
		bool busy = c->live->state == LIVE_PREPARES ||
		    (c->live->keeper && !live_keeper_rests(c->live->keeper));
		quiet = ready > 0 || wait == 0 || busy ? 0 : quiet + 1;
		live_step(c->live);
	}
}

void client_settle_tools(struct client *c)
{
	client_settle(c);
	for (int i = 0; i < 1000 && c->live->tools && live_tools_open(c->live->tools); i++)
		client_settle(c);
}

void client_pass(struct client *c, int64_t ms)
{
	struct pollfd fds[LIVE_FDS];
	int64_t end = fake_now + ms;
	while (fake_now < end) {
		int wait = live_poll(c->live, fds);
		fake_now = wait >= 0 && fake_now + wait < end ? fake_now + wait : end;
		client_settle(c);
	}
}

void client_does(struct client *c, void (*next)(ag_live_session *session))
{
	fake.next = next;
	client_settle(c);
}

static void say(ag_live_session *s, char *line)
{
	const char *verb = strsep(&line, " ");
	bool finished = verb[strlen(verb) - 1] == '!';
	if (strncmp(verb, "in", 2) == 0 && strlen(verb) <= 3)
		ag_live_input_transcript(s, line, finished);
	else if (strncmp(verb, "out", 3) == 0)
		ag_live_output_transcript(s, line, finished);
	else if (strcmp(verb, "audio") == 0) {
		static const char pcm[100];
		ag_live_audio(s, pcm, (size_t)atoi(line));
	} else if (strcmp(verb, "complete") == 0)
		ag_live_turn_complete(s);
	else if (strcmp(verb, "interrupted") == 0)
		ag_live_interrupted(s);
	else if (strcmp(verb, "ended") == 0)
		ag_live_ended(s);
	else if (strcmp(verb, "handle") == 0)
		ag_live_session_update(s, line);
	else if (strcmp(verb, "agent") == 0)
		ag_live_agent_changed(s, line);
	else if (strcmp(verb, "away") == 0)
		ag_live_go_away(s, atoi(line));
	else if (strcmp(verb, "lost") == 0)
		ag_live_lost(s, line);
	else if (strcmp(verb, "error") == 0 || strcmp(verb, "fatal") == 0) {
		const char *code = strsep(&line, " ");
		ag_live_error(s, *code ? code : NULL, *verb == 'f', "%s", line);
	} else if (strcmp(verb, "call") == 0) {
		const char *id = strsep(&line, " "), *tool = strsep(&line, " ");
		ag_live_tool_call(s, id, tool, cJSON_Parse(line));
	} else
		CU_FAIL_FATAL("the provider does not know what to say");
}

static void say_script(ag_live_session *s)
{
	char *script = xstrdup(fake.script), *rest = script, *line;
	while ((line = strsep(&rest, "|")) && *line)
		say(s, line);
	free(script);
}

void client_says(struct client *c, const char *script)
{
	fake.script = script;
	client_does(c, say_script);
}

static const char *taken(struct buf *from)
{
	static struct buf text;
	buf_reset(&text);
	buf_puts(&text, buf_str(from));
	buf_reset(from);
	return buf_str(&text);
}

const char *client_heard(struct client *c)
{
	return taken(&c->heard);
}

const char *fake_heard(void)
{
	return taken(&fake.heard);
}

static bool note_message(void *arg, const char *id, const char *body_json)
{
	struct buf *text = arg;
	(void)id;
	cJSON *message = json_parse(body_json, strlen(body_json), JSON_TRUSTED_DEPTH, NULL);
	char *said = ag_message_text(message);
	const cJSON *block = json_get(message, "content")->child;
	char *output = json_print(json_get(block, "output"));
	buf_printf(text, "%s: %s|", json_str(message, "role"), *said ? said : output);
	cJSON_free(output);
	free(said);
	cJSON_Delete(message);
	return true;
}

const char *stored(struct service *service, const char *thread_id)
{
	static struct buf text;
	const struct page page = {.limit = 100};
	struct arena *arena = arena_new();
	struct error err = {0};
	struct thread thread;
	struct storage *st = service->storage;
	buf_reset(&text);
	if (!st->threads->get(st, NULL, arena, thread_id, &thread, &err))
		buf_puts(&text, "none");
	else
		CU_ASSERT_TRUE(st->threads->message_list(
		    st, NULL, thread.row, NULL, &page, note_message, &text, &err));
	arena_free(arena);
	return buf_str(&text);
}
