/* SPDX-License-Identifier: ISC */
/* The settings of an embedder, its requests in batches, and reading the answers. */
#include "model/embed/embed.h"

#include "base/http/http.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "config/environment/environment.h"
#include "model/provider.h"
#include "model/retry.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOME "https://api.openai.com/v1"
#define DEFAULT_RETRIES 2
#define DEFAULT_TOTAL_MS 60000
#define CONNECT_MS 10000
#define BATCH_TEXTS 128
#define BATCH_BYTES ((size_t)250000)
#define MAX_ANSWER ((size_t)256 << 20)
/* Bytes of an answer that has no vectors; the rest is not kept. */
#define MAX_ERROR ((size_t)64 << 10)
#define MAX_SAID 500

struct embedder {
	char *url, *model;
	char *bearer; /* "Bearer …", or NULL */
	char *key;    /* the same without the word, or NULL */
	size_t dimensions;
	bool ask_dimensions;
	int retries;
};

/* ---- At start-up */

struct embedder *embedder_new(const struct embed_target *target, char **problem)
{
	const char *usual = environment_text("OPENAI_BASE_URL");
	const char *url = target->base_url ? target->base_url : usual ? usual : HOME;
	const char *variable = target->api_key_env ? target->api_key_env : "OPENAI_API_KEY";
	const char *key = environment_text(variable);
	*problem = NULL;
	if (!target->model || !*target->model)
		*problem = xstrdup("model must be the name of a model");
	else if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
		*problem = xstrdup("base_url must be an http or https URL");
	else if (target->dimensions < 1 || target->dimensions > EMBED_MAX_DIMENSIONS)
		*problem =
		    xasprintf("dimensions must be a number from 1 to %d", EMBED_MAX_DIMENSIONS);
	else if (!key && (target->api_key_env || strcmp(url, HOME) == 0))
		*problem =
		    xasprintf("the environment variable %s, for the key, must be set", variable);
	if (*problem)
		return NULL;
	char *base = url_base(url);
	struct embedder *e = xcalloc(1, sizeof(*e));
	e->url = xasprintf("%s/embeddings", base);
	free(base);
	e->model = xstrdup(target->model);
	e->key = xstrdup(key);
	e->bearer = key ? xasprintf("Bearer %s", key) : NULL;
	e->dimensions = target->dimensions;
	e->ask_dimensions = target->ask_dimensions;
	e->retries = target->retries < 0 ? DEFAULT_RETRIES : target->retries;
	return e;
}

void embedder_free(struct embedder *e)
{
	if (!e)
		return;
	secret_free(e->bearer);
	secret_free(e->key);
	free(e->url);
	free(e->model);
	free(e);
}

size_t embedder_dimensions(const struct embedder *e)
{
	return e->dimensions;
}

/* ---- Asking */

struct embed_answer {
	const struct embed_wait *wait;
	struct http_response response;
	struct buf body;
};

static bool embed_on_data(const char *data, size_t len, void *arg)
{
	struct embed_answer *answer = arg;
	bool good = answer->response.status / 100 == 2;
	size_t room = (good ? MAX_ANSWER : MAX_ERROR) - answer->body.len;
	if (good && len > room)
		return false;
	buf_add(&answer->body, data, len < room ? len : room);
	return true;
}

static bool embed_on_stop(void *arg)
{
	const struct embed_wait *wait = ((struct embed_answer *)arg)->wait;
	return wait->stop && wait->stop(wait->arg);
}

static bool embed_fail(struct error *err, const struct embedder *e, const char *why)
{
	error_set(err, ERR_STORE_UNAVAILABLE, "Store is unavailable");
	return error_cause(err, "embedding model %s: %s", e->model, why);
}

static bool embed_take_answer(const struct embedder *e, struct embed_answer *answer, size_t count,
    float *vectors, struct error *err)
{
	const struct http_response *response = &answer->response;
	struct buf why = {0};
	if (response->end == HTTP_DONE && response->status / 100 == 2) {
		const char *wrong = embed_scan(
		    buf_str(&answer->body), answer->body.len, count, e->dimensions, vectors);
		return !wrong || embed_fail(err, e, wrong);
	}
	if (response->end == HTTP_REFUSED) {
		buf_puts(&why, "the answer is too large");
	} else if (response->end != HTTP_DONE) {
		clean_text(&why, response->reason, e->key, MAX_SAID);
	} else {
		cJSON *body = chat_parse(answer->body.data, answer->body.len);
		char *message = chat_error_message(body);
		buf_printf(&why, "it answered %d%s", response->status, message ? ": " : "");
		if (message)
			clean_text(&why, message, e->key, MAX_SAID);
		free(message);
		cJSON_Delete(body);
	}
	embed_fail(err, e, buf_str(&why));
	buf_release(&why);
	return false;
}

/* One batch, with its tries; *status is that of the last answer, or 0. */
static bool embedder_ask_batch(const struct embedder *e, const char *const *texts, size_t count,
    float *vectors, const struct embed_wait *patience, int *status, struct error *err)
{
	cJSON *asked = cJSON_CreateObject();
	json_add_str(asked, "model", e->model);
	cJSON *input = cJSON_AddArrayToObject(asked, "input");
	for (size_t i = 0; i < count; i++)
		cJSON_AddItemToArray(input, cJSON_CreateString(texts[i]));
	json_add_str(asked, "encoding_format", "float");
	if (e->ask_dimensions)
		json_add_int(asked, "dimensions", (int64_t)e->dimensions);
	char *body = json_print(asked);
	cJSON_Delete(asked);
	const struct http_header headers[] = {{"Content-Type", "application/json"},
	    {"Accept", "application/json"}, {"Authorization", e->bearer}};
	struct embed_answer answer = {0};
	const struct http_request request = {.url = e->url,
	    .headers = headers,
	    .header_count = e->bearer ? 3 : 2,
	    .body = body,
	    .body_len = strlen(body),
	    .connect_ms = CONNECT_MS,
	    .deadline_ms = patience->deadline_ms,
	    .on_data = embed_on_data,
	    .stop = embed_on_stop,
	    .arg = &answer};
	bool done = false;
	for (unsigned tries = 1, again = 1; again; tries++) {
		struct http_response *response = &answer.response;
		answer = (struct embed_answer){.wait = patience};
		http_call(&request, response);
		int64_t wait = retry_helps(response) && tries <= (unsigned)e->retries
		    ? retry_wait_ms(response, tries, patience->deadline_ms)
		    : -1;
		*status = response->end == HTTP_DONE ? response->status : 0;
		again = wait >= 0 && retry_sleep(wait, patience->stop, patience->arg);
		if (!again)
			done = embed_take_answer(e, &answer, count, vectors, err);
		http_response_release(response);
		buf_release(&answer.body);
	}
	free(body);
	return done;
}

bool embed_texts(const struct embedder *e, const char *const *texts, size_t count, float *vectors,
    const struct embed_wait *wait, bool *refused, struct error *err)
{
	const struct embed_wait usual = {.deadline_ms = clock_monotonic_ms() + DEFAULT_TOTAL_MS};
	int status = 0;
	while (count > 0) {
		size_t n = 1, bytes = strlen(texts[0]); /* texts and bytes of one request */
		while (n < count && n < BATCH_TEXTS && (bytes += strlen(texts[n])) <= BATCH_BYTES)
			n++;
		if (!embedder_ask_batch(e, texts, n, vectors, wait ? wait : &usual, &status, err)) {
			if (refused)
				*refused = status == 400 || status == 413 || status == 422;
			return false;
		}
		texts += n;
		count -= n;
		vectors += n * e->dimensions;
	}
	return true;
}
