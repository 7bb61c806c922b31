/* SPDX-License-Identifier: ISC */
/* Messages and answers of chat models, and a provider that gives them. */
#include "chat_fixture.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "http_fixture.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS_MAX 64

static struct http_fixture *server;

/* The lock guards the script and what was seen. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct step steps[STEPS_MAX];
static size_t step_count;
static unsigned requests;
static struct buf head;
static cJSON *body;
static atomic_int heard_pieces; /* by all callers */

static struct step next_step(const struct peer_request *rq)
{
	pthread_mutex_lock(&lock);
	buf_reset(&head);
	buf_puts(&head, rq->head);
	cJSON_Delete(body);
	body = json_parse(rq->body, rq->body_len, JSON_TRUSTED_DEPTH, NULL);
	size_t i = requests++;
	struct step step = {.kind = STEP_CUT, .body = ""};
	if (step_count > 0)
		step = steps[i < step_count ? i : step_count - 1];
	pthread_mutex_unlock(&lock);
	return step;
}

/* How many of the bytes go out at once. */
static size_t portion(enum step_kind kind, const char *bytes)
{
	const char *end = kind == STEP_HEARD ? strstr(bytes, "\n\n") : NULL;
	if (kind == STEP_BYTES)
		return 1;
	return end ? (size_t)(end - bytes) + 2 : strlen(bytes);
}

static bool wait_heard(int before)
{
	for (int i = 0; heard_pieces == before && i < 10000; i++)
		usleep(1000);
	return heard_pieces > before;
}

static bool send_stream(int fd, const struct step *step)
{
	bool sent = peer_puts(fd,
	    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n");
	size_t len;
	for (const char *p = step->body; sent && *p; p += len) {
		char size[32];
		int before = heard_pieces;
		len = portion(step->kind, p);
		snprintf(size, sizeof(size), "%zx\r\n", len);
		sent = peer_puts(fd, size) && peer_send(fd, p, len) && peer_puts(fd, "\r\n");
		if (step->kind == STEP_HEARD && p[len])
			sent = sent && wait_heard(before);
	}
	return sent;
}

static bool flood(int fd, const struct step *step)
{
	struct buf block = {0};
	bool sent = peer_puts(fd,
	    step->headers ? step->headers
			  : "HTTP/1.1 200 OK\r\nContent-Type: "
			    "text/event-stream\r\n\r\n");
	while (block.len < 1 << 20)
		buf_puts(&block, step->body);
	for (int i = 0; sent && i < 100; i++)
		sent = peer_send(fd, block.data, block.len);
	buf_release(&block);
	return false;
}

static bool answer(int fd, const struct peer_request *rq, void *arg)
{
	(void)arg;
	struct step step = next_step(rq);
	switch (step.kind) {
	case STEP_WHOLE:
		return peer_reply(fd, step.status,
		    step.headers ? step.headers : "Content-Type: application/json\r\n", step.body);
	case STEP_STREAM:
	case STEP_BYTES:
	case STEP_HEARD:
		return send_stream(fd, &step) && peer_puts(fd, "0\r\n\r\n");
	case STEP_CUT:
		if (*step.body)
			send_stream(fd, &step);
		return false;
	case STEP_STALL:
		send_stream(fd, &step);
		peer_hang(fd);
		return false;
	case STEP_PINGS:
		for (bool sent = send_stream(fd, &step); sent; usleep(100000))
			sent = peer_puts(fd, "10\r\n: hm\n\ndata: {}\n\n\r\n");
		return false;
	case STEP_NEVER:
		peer_hang(fd);
		return false;
	case STEP_FLOOD:
		return flood(fd, &step);
	}
	return false;
}

void provider_start(void)
{
	static const char *const variables[] = {"http_proxy", "https_proxy", "all_proxy",
	    "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_API_KEY"};
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
	setenv("OPENAI_API_KEY", "sk-openai-secret", 1);
	setenv("ANTHROPIC_API_KEY", "sk-anthropic-secret", 1);
	setenv("GEMINI_API_KEY", "gemini-secret", 1);
	server = http_fixture_start(answer, NULL);
}

void provider_stop(void)
{
	http_fixture_stop(server);
	buf_release(&head);
	cJSON_Delete(body);
}

void provider_script(const struct step *script, size_t count)
{
	if (count > STEPS_MAX)
		abort();
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++)
		steps[i] = script[i];
	step_count = count;
	requests = 0;
	pthread_mutex_unlock(&lock);
}

const char *provider_url(void)
{
	return http_fixture_url(server, "");
}

unsigned provider_connections(void)
{
	return http_fixture_accepted(server);
}

unsigned provider_requests(void)
{
	pthread_mutex_lock(&lock);
	unsigned count = requests;
	pthread_mutex_unlock(&lock);
	return count;
}

bool provider_comes_to(unsigned count)
{
	for (int i = 0; i < 20000 && provider_requests() < count; i++)
		usleep(1000);
	return provider_requests() == count;
}

const char *provider_head(void)
{
	return buf_str(&head);
}

const cJSON *provider_body(void)
{
	return body;
}

void heard_release(struct heard *h)
{
	buf_release(&h->text);
	buf_release(&h->reasoning);
}

cJSON *json_from(const char *text)
{
	char *copy = xstrdup(text);
	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	cJSON *json = json_parse(copy, strlen(copy), JSON_TRUSTED_DEPTH, NULL);
	if (!json) {
		fprintf(stderr, "not JSON: %s\n", copy);
		abort();
	}
	free(copy);
	return json;
}

static void show_problem(const char *path, const char *text, void *arg)
{
	(void)arg;
	fprintf(stderr, "settings: %s: %s\n", path, text);
}

struct chat_model *model_from(const char *settings)
{
	cJSON *json = json_from(settings);
	if (!json_get(json, "base_url"))
		json_add_str(json, "base_url", provider_url());
	struct chat_model *m = chat_model_new(json, &(struct chat_reporter){show_problem, NULL});
	cJSON_Delete(json);
	if (!m)
		abort();
	return m;
}

static bool hear(struct heard *h, struct buf *where, const char *piece)
{
	buf_puts(where, piece);
	h->pieces++;
	heard_pieces++;
	return !(h->refuse && h->stop_after && h->pieces >= h->stop_after);
}

static bool on_text(const char *piece, void *arg)
{
	struct heard *h = arg;
	return hear(h, &h->text, piece);
}

static bool on_reasoning(const char *piece, void *arg)
{
	struct heard *h = arg;
	return hear(h, &h->reasoning, piece);
}

static bool stop(void *arg)
{
	const struct heard *h = arg;
	return !h->refuse && h->stop_after && h->pieces >= h->stop_after;
}

enum chat_end ask_with(const char *settings, struct chat_request *request, struct heard *heard,
    struct chat_result *result)
{
	struct chat_model *m = model_from(settings);
	if (heard) {
		request->on_text = on_text;
		request->on_reasoning = on_reasoning;
		request->stop = stop;
		request->arg = heard;
	}
	enum chat_end end = chat_call(m, request, result);
	chat_model_free(m);
	return end;
}

enum chat_end ask(const char *settings, struct heard *heard, struct chat_result *result)
{
	cJSON *messages = json_from("[{'role':'user','content':[{'type':'text','text':'hi'}]}]");
	struct chat_request request = {.messages = messages};
	enum chat_end end = ask_with(settings, &request, heard, result);
	cJSON_Delete(messages);
	return end;
}

const char *at(const cJSON *json, const char *path)
{
	static char *texts[16];
	static unsigned next;
	char *copy = xstrdup(path), *rest = copy, *key;
	while (json && (key = strsep(&rest, "/")))
		json =
		    cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(key)) : json_get(json, key);
	free(copy);
	char **text = &texts[next++ % 16];
	free(*text);
	*text = !json              ? xstrdup("(none)")
	    : cJSON_IsString(json) ? xstrdup(json->valuestring)
				   : json_print(json);
	return *text;
}

static void note_problem(const char *path, const char *text, void *arg)
{
	buf_printf(arg, "%s: %s\n", path, text);
}

void settings_are_refused(const char *settings, const char *problems)
{
	struct buf noted = {0};
	cJSON *json = json_from(settings);
	const struct chat_reporter reporter = {note_problem, &noted};
	struct chat_model *m = chat_model_new(json, &reporter);
	CU_ASSERT_PTR_NULL(m);
	CU_ASSERT_STRING_EQUAL(buf_str(&noted), problems);
	chat_model_free(m);
	buf_release(&noted);
	cJSON_Delete(json);
}
