/* SPDX-License-Identifier: ISC */
/* A client of the worker: requests as FastCGI brings them. */
#include "client_fixture.h"

#include "base/memory.h"
#include "fcgi/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ssize_t fake_read(struct client *client, char *out, size_t size)
{
	struct fake_client *fake = (struct fake_client *)client;
	fake->reads++;
	size_t left = fake->len - fake->taken;
	if (left == 0)
		return fake->cut ? -1 : 0;
	/* In small pieces, as a network brings them. */
	size_t n = size < 7 ? size : 7;
	n = n < left ? n : left;
	memcpy(out, fake->body + fake->taken, n);
	fake->taken += n;
	return (ssize_t)n;
}

static void fake_write(struct client *client, const char *data, size_t len)
{
	buf_add(&((struct fake_client *)client)->out, data, len);
}

static void fake_flush(struct client *client)
{
	((struct fake_client *)client)->flushes++;
}

void fake_client_init(struct fake_client *fake, const char *body, size_t len, bool cut)
{
	*fake = (struct fake_client){
	    .client = {.read = fake_read, .write = fake_write, .flush = fake_flush},
	    .body = body,
	    .len = len,
	    .cut = cut,
	};
}

static void take_apart(struct answer *answer, const char *text)
{
	const char *blank = strstr(text, "\r\n\r\n");
	size_t head = blank ? (size_t)(blank - text) + 2 : strlen(text);
	answer->head = xstrndup(text, head);
	answer->body = xstrdup(blank ? blank + 4 : "");
	answer->json = cJSON_Parse(answer->body);
	sscanf(text, "Status: %d", &answer->status);
}

static const char *find_body(const char *const params[])
{
	for (; *params; params++)
		if (!strncmp(*params, "BODY=", 5))
			return *params + 5;
	return "";
}

struct answer fixture_answer(
    const struct route_table *table, const struct environment *env, const char *const params[])
{
	struct config config = {.env = *env, .auth = env->jwt_secret ? AUTH_JWT : AUTH_NONE};
	struct problems problems = {0};
	struct service service = {
	    .config = &config,
	    .access = access_open(&config, NULL, NULL, &problems),
	    .limiter = limiter_open(&config, &problems),
	};
	struct server server = {.service = &service,
	    .open = true,
	    .hygiene = hygiene_new(&config.env),
	    .routes = table,
	    .document = "{}",
	    .console = ""};
	struct response buffers = {0};
	struct fake_client fake;
	struct answer answer = {0};
	const char *body = find_body(params);
	fake_client_init(&fake, body, strlen(body), false);
	fake.client.params = (char **)params;
	server_answer(&server, &fake.client, &buffers, NULL);
	take_apart(&answer, buf_str(&fake.out));
	answer.flushes = fake.flushes;
	answer.reads = fake.reads;
	response_release(&buffers);
	buf_release(&fake.out);
	hygiene_free(server.hygiene);
	access_close(service.access);
	limiter_close(service.limiter);
	return answer;
}

void fixture_answer_end(struct answer *answer)
{
	free(answer->head);
	free(answer->body);
	cJSON_Delete(answer->json);
}

bool fixture_has_line(const struct answer *answer, const char *line)
{
	size_t len = strlen(line);
	for (const char *at = answer->head; (at = strstr(at, line)); at += len)
		if ((at == answer->head || at[-1] == '\n') && at[len] == '\r')
			return true;
	return false;
}

const char *fixture_header(const struct answer *answer, const char *name)
{
	static char value[512];
	char start[64];
	snprintf(start, sizeof(start), "\n%s: ", name);
	const char *at = strstr(answer->head, start);
	if (!at)
		return NULL;
	at += strlen(start);
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, "\r"), at);
	return value;
}
