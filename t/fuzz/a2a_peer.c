/* SPDX-License-Identifier: ISC */
/*
 * Agents that are called by A2A: whatever their cards, answers and streams are, a call ends with an
 * answer, a question or a reason, all of them text, and each piece of an answer is reported once.
 *
 * An input is the answers to the requests, in turn, separated by lines "%%"; one that begins with
 * an exclamation mark has the status of an error.
 */
#include "tool/a2a/a2a_peer.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES 2 /* the second one goes on from the result of the first */

static struct {
	const char *at;
	size_t len;
	size_t piece; /* bytes that arrive at once */
} input;

/* The next answer; NULL: there is none. */
static const char *next_answer(size_t *len)
{
	static const char between[] = "\n%%\n";
	const char *answer = input.at;
	if (!input.len)
		return NULL;
	const char *end = memmem(input.at, input.len, between, strlen(between));
	*len = end ? (size_t)(end - answer) : input.len;
	size_t taken = end ? *len + strlen(between) : *len;
	input.at += taken;
	input.len -= taken;
	return answer;
}

/* Takes the place of the HTTP client. */
enum http_end http_call(const struct http_request *request, struct http_response *response)
{
	size_t len = 0;
	const char *answer = next_answer(&len);
	response->end = answer ? HTTP_DONE : HTTP_NO_CONNECT;
	response->status = !answer ? 0 : len && *answer == '!' ? 500 : 200;
	if (answer && !request->on_data)
		buf_add(&response->body, answer, len);
	for (size_t i = 0; request->on_data && i < len; i += input.piece) {
		size_t n = len - i < input.piece ? len - i : input.piece;
		char *copy = malloc(n); /* without an end, and without spare room */
		memcpy(copy, answer + i, n);
		bool more = request->on_data(copy, n, request->arg);
		free(copy);
		if (!more)
			return response->end = HTTP_REFUSED;
	}
	return response->end;
}

static void hear(const char *piece, void *arg)
{
	*(size_t *)arg += strlen(piece);
}

static void check(enum a2a_outcome outcome, const struct a2a_exchange *x, size_t heard)
{
	require(utf8_valid(buf_str(&x->answer), x->answer.len));
	require(utf8_valid(buf_str(&x->question), x->question.len));
	require(utf8_valid(x->why, strlen(x->why)));
	require(cJSON_IsArray(x->artifacts) && heard == x->answer.len);
	require(outcome != A2A_PEER_FAILED || *x->why);
	require((outcome == A2A_PEER_ASKS) == (x->question.len > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct a2a_peer *peer = a2a_peer_new("https://peer.example/agent", NULL, 0);
	char *context = NULL, *task = NULL;
	input.at = (const char *)data;
	input.len = size;
	input.piece = 1 + size % 31;
	for (int i = 0; i < MESSAGES; i++) {
		size_t heard = 0;
		struct a2a_exchange x = {.text = "hello",
		    .context_id = context,
		    .task_id = task,
		    .deadline_ms = clock_monotonic_ms(), /* nothing is waited for */
		    .on_text = hear,
		    .arg = &heard};
		enum a2a_outcome outcome = a2a_peer_send(peer, &x);
		check(outcome, &x, heard);
		free(context);
		free(task);
		context = xstrdup(x.context);
		task = xstrdup(x.task);
		a2a_exchange_release(&x);
	}
	free(context);
	free(task);
	a2a_peer_free(peer);
	return 0;
}
