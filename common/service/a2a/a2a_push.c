/* SPDX-License-Identifier: ISC */
/* The configurations of push notifications: read, shown and kept. */
#include "service/a2a/a2a_push.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "service/run/background/webhook.h"

#include <string.h>

#define PUSHES_MOST 10 /* most configs of one task */
#define SECRET_MAX 4096

static bool a2a_push_there(struct call *call)
{
	return call->service->storage->pushes ||
	    a2a_fault(call, A2A_PUSH_NOT_SUPPORTED,
		"Push notifications are not there: the service names no addresses for them");
}

/* ---- reading ---- */

struct a2a_push {
	const char *task_id, *id, *url, *token, *scheme, *credentials;
	const cJSON *config, *authentication, *schemes;
};

/* Whether text can be the value of a header. */
static bool a2a_secret_valid(const char *text)
{
	size_t len = strlen(text);
	for (const char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			return false;
	return len <= SECRET_MAX && *text != ' ' && text[len - 1] != ' ';
}

#define SECRET                                            \
	.kind = &field_filled, .valid = a2a_secret_valid, \
	.expected = "at most 4096 printable characters of ASCII"
#define PUSH_ROWS                                                          \
	FIELD(a2a_push, id, .kind = &field_filled, .valid = id_valid,      \
	    .expected = "1 to 255 characters without control characters"), \
	    FIELD(a2a_push, url, .kind = &field_filled, .required = true), \
	    FIELD(a2a_push, token, SECRET), FIELD(a2a_push, authentication, FIELD_OBJECT)

static const struct field_row push_rows[] = {
    FIELD_AT("taskId", a2a_push, task_id, .kind = &field_filled), PUSH_ROWS, FIELDS_END};
static const struct field_row old_push_rows[] = {
    FIELD_AT("taskId", a2a_push, task_id, .kind = &field_text, .required = true),
    FIELD_AT("pushNotificationConfig", a2a_push, config, FIELD_OBJECT, .required = true),
    FIELDS_END};
static const struct field_row authentication_rows[] = {
    FIELD(a2a_push, scheme, SECRET, .required = true), FIELD(a2a_push, credentials, SECRET),
    FIELDS_END};
static const struct field_row old_authentication_rows[] = {
    FIELD(a2a_push, schemes, .kind = &field_json, .types = TYPE_ARRAY, .required = true),
    FIELD(a2a_push, credentials, SECRET), FIELDS_END};

/* Reads a configuration; at is its path in params, "" for params itself. */
static bool a2a_push_read(
    struct call *call, bool old, const char *at, const cJSON *given, struct a2a_push *push)
{
	const char *below = arena_printf(call->arena, "body.params%s%s", *at ? "." : "", at);
	const char *inner = arena_printf(call->arena, "%s.authentication", below);
	fields_read_body(&call->error, below, given, push_rows, push);
	if (push->authentication)
		fields_read_body(&call->error, inner, push->authentication,
		    old ? old_authentication_rows : authentication_rows, push);
	if (push->schemes) { /* only the first one is used */
		push->scheme = cJSON_GetStringValue(push->schemes->child);
		if (!push->scheme || !*push->scheme || !a2a_secret_valid(push->scheme))
			error_wrong(&call->error, arena_printf(call->arena, "%s.schemes", inner),
			    "value_error", "must be an array of names");
	}
	if (push->url && !webhook_allows(&call->service->config->runs_webhooks, push->url))
		error_wrong(&call->error, arena_printf(call->arena, "%s.url", below), "value_error",
		    "must begin with one of the configured addresses");
	return !error_is_set(&call->error);
}

/* Makes a push of it, still without its task, and without an id where none was given. */
static struct push *a2a_push_make(struct call *call, bool old, const struct a2a_push *given)
{
	struct push *push = arena_alloc(call->arena, sizeof(*push));
	cJSON *how = arena_json(call->arena, cJSON_CreateObject());
	json_add(how, "old", cJSON_CreateBool(old));
	if (given->token)
		json_add_str(how, "token", given->token);
	if (given->scheme)
		json_add_str(how, "scheme", given->scheme);
	if (given->credentials)
		json_add_str(how, "credentials", given->credentials);
	char *text = json_print(how);
	arena_defer(call->arena, cJSON_free, text);
	*push = (struct push){.id = given->id, .url = given->url, .how_json = text};
	if (!push->id && !old) /* in 0.3 its id is the task's */
		push->id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
	return push;
}

bool a2a_push_given(struct call *call, const struct a2a_request *rq, const char *at,
    const cJSON *given, struct push **push)
{
	struct a2a_push read = {0};
	*push = NULL;
	if (!given)
		return true;
	if (!a2a_push_there(call) || !a2a_push_read(call, rq->old, at, given, &read))
		return false;
	*push = a2a_push_make(call, rq->old, &read);
	return true;
}

/* ---- kept ---- */

static enum run_status a2a_push_status(const struct a2a_task *task)
{
	return a2a_state_is_over(task->state)   ? RUN_STOPPED
	    : task->state == A2A_INPUT_REQUIRED ? RUN_INTERRUPTED
						: RUN_RUNNING;
}

void a2a_push_of_new(struct push *push, const char *task_id)
{
	push->task = task_id;
	if (!push->id)
		push->id = task_id;
}

bool a2a_push_add(struct call *call, struct push *push, const struct a2a_task *task)
{
	struct storage *storage = call->service->storage;
	struct a2a_task now;
	bool room;
	if (!push)
		return true;
	a2a_push_of_new(push, task->id);
	push->number = task->runs[task->count - 1].number;
	if (!storage->runs->push_put(storage, &call->ctx, task->thread.row, push,
		a2a_push_status(task), PUSHES_MOST, &room, &call->error))
		return false;
	if (!room)
		return a2a_fault(call, A2A_INVALID_PARAMS,
		    "A task has at most %d push notification configs", PUSHES_MOST);
	/* what the task became after it was read is told, too */
	if (a2a_state_is_over(task->state) || !a2a_task_read(call, task->id, &now))
		return !error_is_set(&call->error);
	enum run_status status = a2a_push_status(&now);
	if (status == RUN_RUNNING || (status == a2a_push_status(task) && now.count == task->count))
		return true;
	const struct run_record *latest = &now.runs[now.count - 1];
	return storage->runs->pushes_tell(storage, &call->ctx,
	    (struct run_key){now.thread.row, latest->number},
	    now.state == A2A_CANCELED && latest->status == RUN_INTERRUPTED ? RUN_STOPPED : RUN_IDLE,
	    &call->error);
}

/* ---- the methods ---- */

/* A push as its owner gave it, without what only the receiver may know. */
static cJSON *a2a_push_view(struct call *call, bool old, const struct push *push)
{
	cJSON *how = arena_json(call->arena, json_parse_own(push->how_json));
	const char *token = json_str(how, "token"), *scheme = json_str(how, "scheme");
	cJSON *out = cJSON_CreateObject(), *config = out;
	json_add_str(out, "taskId", push->task);
	if (old)
		config = json_add(out, "pushNotificationConfig", cJSON_CreateObject());
	json_add_str(config, "id", push->id);
	json_add_str(config, "url", push->url);
	if (token)
		json_add_str(config, "token", token);
	if (!scheme)
		return out;
	cJSON *authentication = json_add(config, "authentication", cJSON_CreateObject());
	if (old)
		json_append(json_add(authentication, "schemes", cJSON_CreateArray()),
		    cJSON_CreateString(scheme));
	else
		json_add_str(authentication, "scheme", scheme);
	return out;
}

cJSON *a2a_push_set(struct call *call, const struct a2a_request *rq)
{
	struct a2a_push given = {0};
	struct a2a_task task;
	const cJSON *config = rq->params;
	const char *at = "";
	if (!a2a_push_there(call))
		return NULL;
	if (rq->old) {
		if (!fields_read_body(
			&call->error, "body.params", rq->params, old_push_rows, &given))
			return NULL;
		config = given.config;
		at = "pushNotificationConfig";
	}
	const char *task_id = given.task_id;
	if (!a2a_push_read(call, rq->old, at, config, &given))
		return NULL;
	task_id = task_id ? task_id : given.task_id;
	if (!task_id) {
		a2a_wrong(call, "taskId", "a string");
		return NULL;
	}
	struct push *push = a2a_push_make(call, rq->old, &given);
	if (!a2a_task_find(call, task_id, "invoke", &task) || !a2a_push_add(call, push, &task))
		return NULL;
	return arena_json(call->arena, a2a_push_view(call, rq->old, push));
}

struct a2a_push_named {
	const char *task_id, *id;
	struct push items[PUSHES_MOST];
	struct push_list list; /* the task's items */
	struct a2a_task task;
};

static const struct field_row push_named_rows[] = {
    FIELD_AT("taskId", a2a_push_named, task_id, .kind = &field_text, .required = true),
    FIELD(a2a_push_named, id, .kind = &field_filled), FIELDS_END};
static const struct field_row old_push_named_rows[] = {
    FIELD_AT("id", a2a_push_named, task_id, .kind = &field_text, .required = true),
    FIELD_AT("pushNotificationConfigId", a2a_push_named, id, .kind = &field_filled), FIELDS_END};

static bool a2a_pushes_read(struct call *call, const struct a2a_request *rq, const char *action,
    struct a2a_push_named *named)
{
	struct storage *storage = call->service->storage;
	*named = (struct a2a_push_named){.list = {.items = named->items, .limit = PUSHES_MOST}};
	return a2a_push_there(call) &&
	    fields_read_body(&call->error, "body.params", rq->params,
		rq->old ? old_push_named_rows : push_named_rows, named) &&
	    a2a_task_find(call, named->task_id, action, &named->task) &&
	    storage->runs->pushes_read(storage, &call->ctx, call->arena, named->task.thread.row,
		named->task_id, &named->list, &call->error);
}

/* Finds the push that is named; where version 0.3 names none, the one that was set without a name,
 * or the first. */
static const struct push *a2a_push_find(
    struct call *call, const struct a2a_request *rq, struct a2a_push_named *named)
{
	const char *id = named->id ? named->id : rq->old ? named->task_id : "";
	for (size_t i = 0; i < named->list.count; i++)
		if (strcmp(named->items[i].id, id) == 0)
			return &named->items[i];
	if (rq->old && !named->id && named->list.count)
		return named->items;
	a2a_fault(call, A2A_TASK_NOT_FOUND,
	    "Task '%.150s' has no push notification config '%.100s'", named->task_id, id);
	return NULL;
}

cJSON *a2a_push_get(struct call *call, const struct a2a_request *rq)
{
	struct a2a_push_named named;
	if (!a2a_pushes_read(call, rq, "read", &named))
		return NULL;
	const struct push *push = a2a_push_find(call, rq, &named);
	return push ? arena_json(call->arena, a2a_push_view(call, rq->old, push)) : NULL;
}

cJSON *a2a_push_list(struct call *call, const struct a2a_request *rq)
{
	struct a2a_push_named named;
	if (!a2a_pushes_read(call, rq, "read", &named))
		return NULL;
	cJSON *list = arena_json(call->arena, cJSON_CreateArray());
	for (size_t i = 0; i < named.list.count; i++)
		json_append(list, a2a_push_view(call, rq->old, &named.items[i]));
	if (rq->old)
		return list;
	cJSON *result = arena_json(call->arena, cJSON_CreateObject());
	json_refer(result, "configs", list);
	json_add_str(result, "nextPageToken", "");
	return result;
}

cJSON *a2a_push_remove(struct call *call, const struct a2a_request *rq)
{
	struct storage *storage = call->service->storage;
	struct a2a_push_named named;
	if (!a2a_pushes_read(call, rq, "invoke", &named))
		return NULL;
	const struct push *push = a2a_push_find(call, rq, &named);
	if (!push ||
	    !storage->runs->push_remove(
		storage, &call->ctx, named.task.thread.row, push->task, push->id, &call->error))
		return NULL;
	return arena_json(call->arena, rq->old ? cJSON_CreateNull() : cJSON_CreateObject());
}
