/* SPDX-License-Identifier: ISC */
/* Tasks, messages, states and artifacts of a peer, in either version, as one text. */
#include "tool/a2a/a2a_hearing.h"

#include "base/json/json.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX (16 << 20)
#define EVENT_MAX (8 << 20)
#define MOST_ARTIFACTS 1000 /* how many ids are kept, so that each artifact is told once */
#define ARTIFACT_ID_MAX 1024

/* What others say may have anything in it. */
enum a2a_outcome a2a_exchange_fail(struct a2a_exchange *x, const char *what, const char *why)
{
	snprintf(x->why, sizeof(x->why), "%s%s%s", what, why && *why ? ": " : "", why ? why : "");
	process_clean(x->why);
	return A2A_PEER_FAILED;
}

/* Appends the parts: texts as they are, data as JSON; files are left out. */
static void a2a_add_parts(struct buf *out, const cJSON *parts)
{
	const cJSON *part, *data;
	cJSON_ArrayForEach(part, parts) {
		const char *text = json_str(part, "text");
		if (text)
			buf_puts(out, text);
		else if ((data = json_opt(part, "data")))
			json_write(out, data);
	}
}

static void a2a_keep_id(char **slot, const cJSON *object, const char *name)
{
	const char *id = json_str(object, name);
	if (!id || !*id || *slot)
		return;
	*slot = xstrdup(id);
}

/* Fails with what is wrong with the peer's answer; returns false. */
static bool a2a_hear_wrong(struct a2a_hearing *h, const char *what)
{
	a2a_exchange_fail(h->x, what, NULL);
	h->wrong = true;
	return false;
}

static bool a2a_hear_text(struct a2a_hearing *h, const char *text)
{
	struct a2a_exchange *x = h->x;
	if (x->answer.len + strlen(text) > ANSWER_MAX)
		return a2a_hear_wrong(h, "its answer is too large");
	buf_puts(&x->answer, text);
	if (*text && x->on_text)
		x->on_text(text, x->arg);
	return true;
}

/* The text of that artifact so far; a new artifact's id is kept. */
static struct buf *a2a_artifact_text(struct a2a_hearing *h, const char *id)
{
	int at = 0;
	const cJSON *one;
	cJSON_ArrayForEach(one, h->x->artifacts) {
		if (strcmp(one->valuestring, id) == 0)
			return &h->texts[at];
		at++;
	}
	cJSON_AddItemToArray(h->x->artifacts, cJSON_CreateString(id));
	h->texts = xrealloc(h->texts, ((size_t)at + 1) * sizeof(*h->texts));
	h->texts[at] = (struct buf){0};
	return &h->texts[at];
}

/* Keeps what an answer says of its task; false where that is another one. */
static bool a2a_hear_ids(struct a2a_hearing *h, const cJSON *object, const char *name)
{
	const char *id = json_str(object, name);
	a2a_keep_id(&h->x->task, object, name);
	a2a_keep_id(&h->x->context, object, "contextId");
	return !id || !*id || strcmp(id, h->x->task) == 0 ||
	    a2a_hear_wrong(h, "it tells of another task");
}

/* Takes an artifact.  more: it goes on with one that has begun; else it is the whole of one, of
 * which a stream that ended early may have told a part. */
static bool a2a_hear_artifact(struct a2a_hearing *h, const cJSON *artifact, bool more)
{
	struct a2a_exchange *x = h->x;
	const char *id = json_str(artifact, "artifactId");
	struct buf text = {0};
	if (!id)
		id = "";
	if (strlen(id) > ARTIFACT_ID_MAX || cJSON_GetArraySize(x->artifacts) > MOST_ARTIFACTS)
		return a2a_hear_wrong(h, "its artifacts are too many, or have ids too long");
	if (json_has_str(x->told, id))
		return true;
	struct buf *told = a2a_artifact_text(h, id);
	a2a_add_parts(&text, json_get(artifact, "parts"));
	const char *rest = buf_str(&text);
	if (!more && strncmp(rest, buf_str(told), told->len) != 0)
		a2a_hear_wrong(h, "it changed what it had told");
	else if (!more)
		rest += told->len;
	bool between = *rest && x->answer.len && h->artifact && strcmp(h->artifact, id) != 0;
	bool ok = !h->wrong && (!between || a2a_hear_text(h, "\n\n")) && a2a_hear_text(h, rest);
	if (ok && *rest) {
		buf_puts(told, rest);
		free(h->artifact);
		h->artifact = xstrdup(id);
	}
	buf_release(&text);
	return ok;
}

static void a2a_hear_status(struct a2a_hearing *h, const cJSON *status)
{
	static const struct {
		const char *name, *old;
		enum a2a_hearing_state state;
	} states[] = {{"TASK_STATE_SUBMITTED", "submitted", A2A_WORKS},
	    {"TASK_STATE_WORKING", "working", A2A_WORKS},
	    {"TASK_STATE_COMPLETED", "completed", A2A_DONE},
	    {"TASK_STATE_INPUT_REQUIRED", "input-required", A2A_ASKS},
	    {"TASK_STATE_FAILED", "failed", A2A_FAILED},
	    {"TASK_STATE_CANCELED", "canceled", A2A_FAILED},
	    {"TASK_STATE_REJECTED", "rejected", A2A_FAILED},
	    {"TASK_STATE_AUTH_REQUIRED", "auth-required", A2A_FAILED}};
	const char *name = json_str(status, "state");
	h->state = name ? A2A_ELSEWHERE : A2A_UNKNOWN;
	for (size_t i = 0; name && i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(states[i].name, name) == 0 || strcmp(states[i].old, name) == 0)
			h->state = states[i].state;
	buf_reset(&h->status);
	a2a_add_parts(&h->status, json_get(json_get(status, "message"), "parts"));
	if (h->state == A2A_ELSEWHERE || (h->state == A2A_FAILED && !h->status.len)) {
		buf_reset(&h->status);
		buf_puts(&h->status, name);
	}
}

static bool a2a_hear_task(struct a2a_hearing *h, const cJSON *task)
{
	const cJSON *artifact;
	if (!a2a_hear_ids(h, task, "id"))
		return false;
	a2a_hear_status(h, json_get(task, "status"));
	cJSON_ArrayForEach(artifact, json_get(task, "artifacts"))
		if (!a2a_hear_artifact(h, artifact, false))
			return false;
	return true;
}

/* Takes a result, of either version of the protocol; false ends the reading. */
static bool a2a_hear_result(struct a2a_hearing *h, const cJSON *result)
{
	const char *kind = json_str(result, "kind");
	const cJSON *task = json_get(result, "task"), *message = json_get(result, "message"),
		    *status = json_get(result, "statusUpdate"),
		    *artifact = json_get(result, "artifactUpdate");
	if (kind && strcmp(kind, "task") == 0)
		task = result;
	else if (kind && strcmp(kind, "message") == 0)
		message = result;
	else if (kind && strcmp(kind, "status-update") == 0)
		status = result;
	else if (kind && strcmp(kind, "artifact-update") == 0)
		artifact = result;
	else if (json_get(result, "status") && json_str(result, "id")) /* GetTask of 1.0 */
		task = result;
	if (cJSON_IsObject(task))
		return a2a_hear_task(h, task);
	if (cJSON_IsObject(message)) {
		struct buf text = {0};
		a2a_keep_id(&h->x->context, message, "contextId");
		a2a_add_parts(&text, json_get(message, "parts"));
		h->state = A2A_SAID;
		bool ok = a2a_hear_text(h, buf_str(&text));
		buf_release(&text);
		return ok;
	}
	const cJSON *update = status ? status : artifact;
	if (!a2a_hear_ids(h, update, "taskId"))
		return false;
	if (status)
		a2a_hear_status(h, json_get(status, "status"));
	if (artifact)
		return a2a_hear_artifact(
		    h, json_get(artifact, "artifact"), cJSON_IsTrue(json_get(artifact, "append")));
	return true;
}

/* Fails with what the peer says, without our headers' values: it may repeat the key that it
 * refuses. */
static enum a2a_outcome a2a_hear_failure(struct a2a_hearing *h, const char *what, const char *said)
{
	char *text = xstrdup(said ? said : "");
	for (size_t i = 0; i < h->header_count; i++)
		redact_known(text, h->headers[i].value);
	enum a2a_outcome outcome = a2a_exchange_fail(h->x, what, text);
	free(text);
	return outcome;
}

static bool a2a_hear(struct a2a_hearing *h, const char *text, size_t len)
{
	cJSON *response = json_parse_mended(text, len, JSON_REQUEST_DEPTH);
	const cJSON *error = json_opt(response, "error"), *result = json_opt(response, "result");
	bool goes_on = false;
	if (error) {
		const char *message = json_str(error, "message");
		a2a_hear_failure(h, "it refused the message", message);
		h->wrong = true;
		h->refused = message;
	} else if (cJSON_IsObject(result)) {
		goes_on = a2a_hear_result(h, result);
	} else {
		a2a_hear_wrong(h, "it answered with something that is no response");
	}
	cJSON_Delete(response);
	return goes_on;
}

static bool a2a_on_event(const struct sse_event *event, void *arg)
{
	struct a2a_hearing *h = arg;
	bool goes_on = a2a_hear(h, event->data, event->len);
	bool over = h->state != A2A_WORKS && h->state != A2A_UNKNOWN;
	h->over_at = over ? clock_monotonic_ms() : 0;
	return goes_on;
}

/* An answer that begins with a brace is one document, whatever it is called. */
bool a2a_hearing_data(const char *data, size_t len, void *arg)
{
	struct a2a_hearing *h = arg;
	if (!h->decided) {
		size_t blank = 0; /* a piece has no end that could be looked for */
		while (blank < len && data[blank] && strchr(" \t\r\n", data[blank]))
			blank++;
		if (blank == len)
			return true;
		h->decided = true;
		h->events = data[blank] != '{';
	}
	if (h->events)
		return sse_feed(&h->sse, data, len);
	if (h->first.len + len > EVENT_MAX) {
		a2a_exchange_fail(h->x, "its answer is too large", NULL);
		h->wrong = true;
		return false;
	}
	buf_add(&h->first, data, len);
	return true;
}

void a2a_hearing_begin(struct a2a_hearing *h)
{
	sse_release(&h->sse);
	h->sse = (struct sse){.max = EVENT_MAX, .on_event = a2a_on_event, .arg = h};
	h->refused = false;
	h->decided = false;
	h->over_at = 0;
	buf_reset(&h->first);
}

bool a2a_hearing_finish(struct a2a_hearing *h)
{
	if (h->wrong || !h->decided)
		return !h->wrong;
	return (h->events ? sse_finish(&h->sse) : a2a_hear(h, h->first.data, h->first.len)) &&
	    !h->wrong;
}

enum a2a_outcome a2a_hearing_end(struct a2a_hearing *h)
{
	struct a2a_exchange *x = h->x;
	switch (h->state) {
	case A2A_ASKS:
		buf_puts(&x->question, h->status.len ? buf_str(&h->status) : "?");
		return A2A_PEER_ASKS;
	case A2A_FAILED:
		return a2a_hear_failure(h, "its task failed", buf_str(&h->status));
	case A2A_ELSEWHERE:
		return a2a_hear_failure(
		    h, "its task is in a state that is not known", buf_str(&h->status));
	case A2A_DONE:
		if (!x->answer.len && h->status.len)
			a2a_hear_text(h, buf_str(&h->status));
		return A2A_PEER_DONE;
	case A2A_SAID:
		return A2A_PEER_DONE;
	case A2A_WORKS:
	case A2A_UNKNOWN:
		break;
	}
	return a2a_exchange_fail(x, "it did not say what became of the message", NULL);
}

void a2a_hearing_release(struct a2a_hearing *h)
{
	buf_release(&h->status);
	buf_release(&h->first);
	for (int i = 0; i < cJSON_GetArraySize(h->x->artifacts); i++)
		buf_release(&h->texts[i]);
	free(h->texts);
	free(h->artifact);
	sse_release(&h->sse);
}
