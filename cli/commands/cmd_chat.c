/* SPDX-License-Identifier: ISC */
/* agentgraph chat: a conversation on the terminal with any service that speaks this wire.  Each
 * line is a turn on one thread; the answer is shown as it streams, and a run that pauses asks
 * here. */
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "cli/command.h"
#include "cli/source/ask_url.h"
#include "cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define STOP_MS 10000 /* for the answer to a stop */

struct chat {
	struct url_answer answer; /* first: chat_is_interrupted gets its address */
	int interrupts;           /* at a terminal a signalfd for Ctrl-C, else -1 */
	struct url_service service;
	char *thread; /* NULL until the first run has told its id */

	struct url_lines lines; /* of the stream that arrives */
	char *streamed;         /* id of the message whose pieces were shown, or NULL */
	bool mid_line;          /* the cursor is behind text that ended no line */
	bool failed;            /* the last turn did */
	bool paused;            /* a run waits for an answer */
	cJSON *calls;   /* remote calls that wait for their results; the first is asked next */
	cJSON *results; /* the results that were given so far */
};

static void chat_show(struct chat *c, const char *text)
{
	terminal_put(text);
	if (*text)
		c->mid_line = text[strlen(text) - 1] != '\n';
}

static void chat_end_line(struct chat *c)
{
	if (c->mid_line)
		putchar('\n');
	c->mid_line = false;
	fflush(stdout);
}

/* A line about what happens beside the answer: "[add {"a":2}]". */
static void chat_note(struct chat *c, const char *what, const cJSON *value)
{
	char *json = value && !cJSON_IsString(value) ? json_print(value) : NULL;
	const char *detail = json ? json : value ? value->valuestring : "";
	chat_end_line(c);
	chat_show(c, "[");
	chat_show(c, what);
	if (*detail)
		chat_show(c, " ");
	chat_show(c, detail);
	chat_show(c, "]\n");
	free(json);
}

static void chat_fail(struct chat *c, const char *why)
{
	chat_end_line(c);
	complain(1, "%s", why);
	c->failed = true;
}

static void chat_on_message(struct chat *c, const cJSON *message)
{
	const char *id = json_str(message, "message_id");
	bool piece = cJSON_IsTrue(json_get(message, "delta"));
	bool shown = !piece && id && c->streamed && strcmp(id, c->streamed) == 0;
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		bool remote = json_str_is(block, "type", "remote_tool_call");
		if (json_str_is(block, "type", "text") && !shown) {
			const char *text = json_str(block, "text");
			chat_show(c, text ? text : "");
		} else if (json_str_is(block, "type", "tool_result")) {
			bool bad = cJSON_IsTrue(json_get(block, "is_error"));
			chat_note(c, bad ? "failed:" : "result:", json_get(block, "output"));
		} else if (remote || json_str_is(block, "type", "tool_call")) {
			const char *name = json_str(block, "name");
			chat_note(c, name ? name : "tool", json_get(block, "args"));
			if (remote)
				cJSON_AddItemToArray(c->calls, cJSON_Duplicate(block, true));
		}
	}
	if (piece) {
		if (id && !shown && (!c->streamed || strcmp(id, c->streamed) != 0)) {
			free(c->streamed);
			c->streamed = xstrdup(id);
		}
		fflush(stdout);
	} else {
		chat_end_line(c);
	}
}

static void chat_on_chunk(void *arg, const char *text, size_t len)
{
	struct chat *c = arg;
	cJSON *chunk = len ? json_parse(text, len, JSON_TRUSTED_DEPTH, NULL) : NULL;
	const cJSON *message = json_opt(chunk, "message"), *data = json_opt(chunk, "data");
	const char *thread = json_str(chunk, "thread_id");
	bool beside = json_opt(json_opt(chunk, "metadata"), "branch") != NULL;
	if (thread && !c->thread)
		c->thread = xstrdup(thread);
	/* branches speak at the same time, so of theirs only whole messages are shown */
	if (message && !(beside && cJSON_IsTrue(json_get(message, "delta"))))
		chat_on_message(c, message);
	if (json_str_is(data, "status", "error")) {
		const char *reason = json_str(data, "reason");
		chat_fail(c, reason ? reason : "the run failed");
	} else if (json_str_is(data, "status", "interrupted")) {
		const cJSON *interrupt = json_opt(data, "interrupt");
		const cJSON *value = json_opt(interrupt, "value");
		const cJSON *question = json_opt(value, "question");
		c->paused = true;
		chat_note(c, "asks:",
		    question    ? question
			: value ? value
				: json_get(interrupt, "reason"));
	}
	cJSON_Delete(chunk);
}

/* Whether Ctrl-C was pressed since the last look.  The signal is blocked in all threads and read
 * from a descriptor, so that no other thread takes it. */
static bool chat_is_interrupted(void *arg)
{
	const struct chat *c = arg;
	struct signalfd_siginfo info;
	return read(c->interrupts, &info, sizeof(info)) == sizeof(info);
}

/* POSTs body, which it takes, to path.  Without a limit the answer is a stream. */
static enum http_end chat_post(
    struct chat *c, const char *path, cJSON *body, struct http_response *response, int64_t limit_ms)
{
	enum http_end end;
	char *text = json_print(body), *url = xasprintf("%s%s", c->service.url, path);
	struct http_header headers[2];
	struct http_request request = url_request(&c->service, url, text, headers);
	if (limit_ms) {
		request.deadline_ms = clock_monotonic_ms() + limit_ms;
		end = http_call(&request, response);
	} else {
		request.stop = chat_is_interrupted;
		end = url_answer_take(&c->answer, &request, response);
	}
	cJSON_Delete(body);
	free(text);
	free(url);
	return end;
}

/* Runs the graph with body, an object to which the thread is added, and deletes it. */
static void chat_run(struct chat *c, cJSON *body)
{
	struct http_response response = {0};
	cJSON *config = cJSON_AddObjectToObject(body, "config");
	if (c->thread)
		json_add_str(config, "thread_id", c->thread);
	json_add_str(body, "response_granularity", "low");
	c->failed = c->paused = false;
	buf_reset(&c->lines.rest);
	enum http_end end = chat_post(c, "/v1/graph/stream", body, &response, 0);
	if (end == HTTP_STOPPED && c->thread) {
		/* a run goes on when its client leaves, so Ctrl-C tells the service */
		struct http_response stopped = {0};
		cJSON *order = cJSON_CreateObject();
		json_add_str(order, "thread_id", c->thread);
		chat_post(c, "/v1/graph/stop", order, &stopped, STOP_MS);
		chat_note(c, stopped.status == 200 ? "stopped" : "could not be stopped", NULL);
		http_response_release(&stopped);
	} else if (end != HTTP_DONE || c->answer.status != 200) {
		struct error err = {0};
		url_answer_refused(&c->service, &c->answer, &response, &err);
		chat_fail(c, err.detail);
		error_release(&err);
	}
	chat_end_line(c);
	http_response_release(&response);
}

/* The value of what a person typed: JSON if it is that, and neither a number nor a string; else
 * text. */
static cJSON *chat_answer(const char *line)
{
	cJSON *value = json_parse(line, strlen(line), JSON_REQUEST_DEPTH, NULL);
	if (value && !json_is_number(value) && !cJSON_IsString(value))
		return value;
	cJSON_Delete(value);
	return cJSON_CreateString(line);
}

/* Takes a line as an answer to a pause, the result of the first remote call that waits, or a
 * turn. */
static void chat_take(struct chat *c, const char *line)
{
	cJSON *body = cJSON_CreateObject();
	if (c->paused) {
		cJSON_AddItemToObject(body, "resume", chat_answer(line));
	} else if (cJSON_GetArraySize(c->calls)) {
		cJSON *call = cJSON_DetachItemFromArray(c->calls, 0);
		cJSON *message = cJSON_CreateObject(), *result = cJSON_CreateObject();
		json_add_str(result, "type", "tool_result");
		json_add_str(result, "call_id", json_str(call, "id"));
		cJSON_AddItemToObject(result, "output", chat_answer(line));
		json_add_str(message, "role", "tool");
		cJSON_AddItemToArray(cJSON_AddArrayToObject(message, "content"), result);
		cJSON_AddItemToArray(c->results, message);
		cJSON_Delete(call);
		if (cJSON_GetArraySize(c->calls)) {
			cJSON_Delete(body);
			return;
		}
		cJSON_AddItemToObject(body, "messages", c->results);
		c->results = cJSON_CreateArray();
	} else {
		cJSON *message = cJSON_CreateObject();
		json_add_str(message, "role", "user");
		json_add_str(message, "content", line);
		cJSON_AddItemToArray(cJSON_AddArrayToObject(body, "messages"), message);
	}
	chat_run(c, body);
}

/* Shows on a terminal what is expected next, and waits for it; false when the person has had
 * enough. */
static bool chat_prompt(struct chat *c)
{
	const char *call = json_str(cJSON_GetArrayItem(c->calls, 0), "name");
	struct pollfd wake[] = {{STDIN_FILENO, POLLIN, 0}, {c->interrupts, POLLIN, 0}};
	if (c->paused)
		chat_show(c, "answer");
	else if (call)
		chat_show(c, call);
	fputs("> ", stdout);
	fflush(stdout);
	c->mid_line = false;
	while (poll(wake, 2, -1) < 0 && errno == EINTR)
		continue;
	return !wake[1].revents;
}

static int chat_talk(struct chat *c)
{
	bool terminal = c->interrupts >= 0, failed = false;
	char *line = NULL;
	size_t size = 0;
	while (!terminal || chat_prompt(c)) {
		if (getline(&line, &size, stdin) < 0)
			break;
		line[strcspn(line, "\r\n")] = '\0';
		if (!*line)
			continue;
		chat_take(c, line);
		failed = failed || c->failed;
	}
	if (terminal)
		printf("\n%s%s\n", c->thread ? "go on with: agentgraph chat --thread " : "",
		    c->thread ? c->thread : "");
	free(line);
	return failed && !terminal ? 1 : 0;
}

int cmd_chat(int argc, char **argv)
{
	const char *thread = NULL, *token = getenv("AGENTGRAPH_TOKEN");
	const struct option_spec specs[] = {{"--thread", OPTION_TEXT, &thread, 0, 0}, OPTION_END};
	struct error err = {0};
	int operands = options_parse(specs, argc, argv, &err);
	if (operands > 1)
		error_set(&err, ERR_INVALID_INPUT, "chat takes one URL, got %d", operands);
	const char *url = operands == 1 ? argv[0] : "http://127.0.0.1:8080";
	if (operands == 1)
		url_service_check(url, &err);
	if (err.detail[0])
		return complain(EXIT_USAGE, "%s; see agentgraph help chat", err.detail);

	struct chat c = {.interrupts = -1,
	    .thread = xstrdup(thread),
	    .calls = cJSON_CreateArray(),
	    .results = cJSON_CreateArray()};
	c.lines = (struct url_lines){.take = chat_on_chunk, .arg = &c};
	c.answer = (struct url_answer){.take = url_lines, .arg = &c.lines};
	url_service_open(&c.service, url, token);
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
		sigset_t interrupt;
		sigemptyset(&interrupt);
		sigaddset(&interrupt, SIGINT);
		pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
		c.interrupts = signalfd(-1, &interrupt, SFD_NONBLOCK | SFD_CLOEXEC);
	}

	int status = chat_talk(&c);
	if (c.interrupts >= 0)
		close(c.interrupts);
	url_service_close(&c.service);
	free(c.thread);
	free(c.streamed);
	cJSON_Delete(c.calls);
	cJSON_Delete(c.results);
	buf_release(&c.lines.rest);
	buf_release(&c.answer.refusal);
	return status;
}
