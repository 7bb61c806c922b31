/* SPDX-License-Identifier: ISC */
/* Listing, reading, removing and adding messages, and which of them are known. */
#include "service/thread/messages.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "graph/message/message.h"
#include "service/files/media.h"
#include "service/thread/feed.h"
#include "service/thread/ident.h"
#include "service/thread/page.h"
#include "service/thread/threads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

cJSON *messages_list(struct call *call, const char *thread_id, const struct list_query *query)
{
	struct thread thread;
	struct page page;
	thread_id_check(call, "path.thread_id", thread_id);
	if (!page_read(call, query, &page) || !thread_find(call, thread_id, &thread))
		return NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddItemToObject(
	    data, "messages", feed_messages(call, thread.row, &thread.view, &page));
	return data;
}

/* Checks both ids of the path; reports all mistakes. */
static bool messages_check_ids(struct call *call, const char *thread_id, const char *message_id)
{
	bool ok = thread_id_check(call, "path.thread_id", thread_id);
	return message_id_check(call, message_id) && ok;
}

cJSON *message_read(struct call *call, const char *thread_id, const char *message_id)
{
	struct storage *storage = call->service->storage;
	struct thread thread;
	const char *body;
	if (!messages_check_ids(call, thread_id, message_id) ||
	    !thread_find(call, thread_id, &thread) ||
	    !thread_message_get(storage, &call->ctx, call->arena, thread.row, &thread.view,
		message_id, &body, &call->error))
		return NULL;
	if (body)
		return arena_json(call->arena, cJSON_CreateRaw(body));
	error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Message not found");
	return NULL;
}

/* ---- remove ---- */

/* Messages that are to be deleted. */
struct messages_going {
	cJSON *ids;
	int64_t bytes;
};

static bool messages_note_going(void *arg, const char *id, const char *body_json)
{
	struct messages_going *going = arg;
	json_append(going->ids, cJSON_CreateString(id));
	going->bytes += (int64_t)strlen(body_json);
	return true;
}

static bool messages_find_going(
    struct change *change, const cJSON *ids, bool all, struct messages_going *going)
{
	struct call *call = change->call;
	struct storage *storage = call->service->storage;
	const struct thread *t = &change->thread;
	const struct page whole = {.limit = INT64_MAX};
	const cJSON *id;
	if (all)
		return storage->threads->message_list(storage, &call->ctx, t->row, &t->view, &whole,
		    messages_note_going, going, &call->error);
	size_t count = 0, size = (size_t)cJSON_GetArraySize(ids) + 1;
	const char **wanted = arena_alloc(call->arena, size * sizeof(*wanted));
	cJSON_ArrayForEach(id, ids)
		wanted[count++] = id->valuestring;
	if (!storage->threads->messages_get(storage, &call->ctx, t->row, &t->view, wanted, count,
		messages_note_going, going, &call->error))
		return false;
	return (size_t)cJSON_GetArraySize(going->ids) == count ||
	    error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Message not found");
}

/* Whether the thread will have room for those of adds that it then does not have. */
static bool messages_have_room(struct change *change, const struct messages_going *going, bool all,
    const cJSON *adds, const bool *asked)
{
	struct call *call = change->call;
	struct thread after = change->thread;
	size_t size = (size_t)cJSON_GetArraySize(adds) + 1;
	struct thread_write w = {.thread = &after};
	struct new_message *stored = arena_alloc(call->arena, size * sizeof(*stored));
	const bool *repeated = messages_repeated(call, adds);
	const struct message_known *known = messages_known(call, &after, adds, asked);
	const cJSON *message;
	if (!known)
		return false;
	cJSON_ArrayForEach(message, adds) {
		bool stays = known->known && !all && !json_has_str(going->ids, message_id(message));
		if (!*repeated++ && !stays)
			stored[w.message_count++].body_json = arena_print(call->arena, message);
		known++;
	}
	w.messages = stored;
	after.message_bytes -= going->bytes;
	return thread_write_fits(call->service->storage, &w, &call->error);
}

bool messages_drop(
    struct change *change, const cJSON *ids, bool all, const cJSON *adds, const bool *asked)
{
	struct call *call = change->call;
	struct messages_going going = {.ids = arena_json(call->arena, cJSON_CreateArray())};
	if (!messages_find_going(change, ids, all, &going))
		return false;
	if (!going.ids->child)
		return true;
	if (!messages_have_room(change, &going, all, adds, asked))
		return false;
	change->thread.message_bytes -= going.bytes;
	return change_remove(change, going.ids);
}

cJSON *message_remove(
    struct call *call, const char *thread_id, const char *message_id, const cJSON *body)
{
	struct change change;
	cJSON *ids = arena_json(call->arena, cJSON_CreateArray());
	json_append(ids, cJSON_CreateString(message_id));
	bool ok = messages_check_ids(call, thread_id, message_id);
	if (!config_check(call, body) || !ok || !change_begin(&change, call, thread_id))
		return NULL;
	ok = change_exists(&change) && messages_drop(&change, ids, false, NULL, NULL);
	change_end(&change);
	if (!ok)
		return NULL;
	return call_done(call, "Message deleted successfully");
}

/* ---- add ---- */

cJSON *messages_read(struct call *call, const cJSON *messages, const char *where)
{
	cJSON *out = arena_json(call->arena, cJSON_CreateArray());
	const cJSON *item;
	int i = 0;
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			break; /* more would not be reported */
		const char *at = where ? arena_printf(call->arena, "%s[%d]", where, i++)
				       : json_str(item, MESSAGE_AT);
		cJSON *message = message_normalise(
		    item, at, MESSAGE_FROM_CLIENT, &call->service->ids, &call->error);
		if (message)
			cJSON_AddItemToArray(out, message);
	}
	return error_is_set(&call->error) ? NULL : out;
}

/* A message of a request by its id. */
struct entry {
	const char *id;
	int place;
};

static int messages_by_id(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->id, b->id);
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

bool *messages_repeated(struct call *call, const cJSON *messages)
{
	size_t size = (size_t)cJSON_GetArraySize(messages) + 1;
	struct entry *entries = arena_alloc(call->arena, size * sizeof(*entries));
	bool *repeated = arena_alloc(call->arena, size);
	const cJSON *message;
	int count = 0;
	cJSON_ArrayForEach(message, messages) {
		entries[count] = (struct entry){message_id(message), count};
		count++;
	}
	qsort(entries, (size_t)count, sizeof(*entries), messages_by_id);
	for (int i = 1; i < count; i++)
		repeated[entries[i].place] = strcmp(entries[i - 1].id, entries[i].id) == 0;
	return repeated;
}

const struct message_known *messages_known(
    struct call *call, const struct thread *thread, const cJSON *messages, const bool *asked)
{
	struct storage *storage = call->service->storage;
	size_t count = 0, size = (size_t)cJSON_GetArraySize(messages) + 1;
	struct message_known *known = arena_alloc(call->arena, size * sizeof(*known));
	bool any = false;
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		if (!asked || asked[count]) {
			known[count].message_id = message_id(message);
			any = true;
		}
		count++;
	}
	if (thread->row && any &&
	    !storage->threads->messages_known(
		storage, &call->ctx, thread->row, &thread->view, known, count, &call->error))
		return NULL;
	return known;
}

bool messages_store(struct change *change, const cJSON *messages, cJSON *ids)
{
	struct call *call = change->call;
	size_t count = 0, size = (size_t)cJSON_GetArraySize(messages) + 1;
	struct new_message *stored = arena_alloc(call->arena, size * sizeof(*stored));
	const bool *repeated = messages_repeated(call, messages);
	const struct message_known *known = messages_known(call, &change->thread, messages, NULL);
	const cJSON *message;
	if (!known)
		return false;
	cJSON_ArrayForEach(message, messages) {
		if (!*repeated && !known->in_context)
			stored[count++] = (struct new_message){known->message_id,
			    known->known ? NULL : arena_print(call->arena, message)};
		repeated++;
		known++;
	}
	if (!change_store(change, stored, count))
		return false;
	for (size_t i = 0; ids && i < count; i++)
		cJSON_AddItemToArray(ids, cJSON_CreateString(stored[i].message_id));
	return true;
}

/* metadata of the request joins that of a message; keys the message has stay. */
static void messages_join_metadata(cJSON *message, const cJSON *metadata)
{
	struct json_members known;
	cJSON *own = json_get(message, "metadata");
	const cJSON *item;
	json_members_init(&known, own);
	cJSON_ArrayForEach(item, metadata) {
		if (!json_members_get(&known, item->string))
			cJSON_AddItemToObject(own, item->string, cJSON_Duplicate(item, true));
	}
	json_members_release(&known);
}

/* Checks that metadata, repeated in all messages, takes no more than a client could have sent with
 * each of them. */
static bool messages_metadata_fits(struct call *call, const cJSON *messages, const cJSON *metadata)
{
	int64_t most = call->service->config->env.max_request_size;
	int64_t count = cJSON_GetArraySize(messages);
	char *text = json_print(metadata);
	int64_t size = (int64_t)strlen(text);
	cJSON_free(text);
	if (size * count <= most)
		return true;
	return error_wrong(&call->error, "body.metadata", "value_error",
	    "must not exceed %" PRId64 " bytes in all messages together", most);
}

struct messages_body {
	const cJSON *metadata, *messages;
};

static const struct field_row body_rows[] = {
    FIELD(messages_body, metadata, .kind = &field_json, .types = TYPE_OBJECT),
    FIELD(messages_body, messages, .kind = &field_json, .types = TYPE_ARRAY, .min = 1,
	.required = true, .wrong = "must not be empty"),
    FIELDS_END,
};

static cJSON *messages_read_body(struct call *call, const char *thread_id, const cJSON *body)
{
	struct messages_body given = {0};
	change_check(call, thread_id, body);
	fields_read_body(&call->error, "body", body, body_rows, &given);
	cJSON *read = messages_read(call, given.messages, "body.messages"), *message;
	if (!read || !given.metadata)
		return read;
	if (!messages_metadata_fits(call, read, given.metadata))
		return NULL;
	cJSON_ArrayForEach(message, read)
		messages_join_metadata(message, given.metadata);
	return read;
}

cJSON *messages_add(struct call *call, const char *thread_id, const cJSON *body)
{
	struct change change;
	cJSON *messages = messages_read_body(call, thread_id, body);
	if (!messages || !change_begin(&change, call, thread_id))
		return NULL;
	cJSON *data = call_done(call, "Messages put successfully");
	cJSON *inner = cJSON_AddObjectToObject(data, "data");
	cJSON_AddStringToObject(inner, "thread_id", change.thread.thread_id);
	cJSON *ids = cJSON_AddArrayToObject(inner, "message_ids");
	bool ok = files_resolve(call, messages) && messages_store(&change, messages, ids);
	change_end(&change);
	return ok ? data : NULL;
}
