/* SPDX-License-Identifier: ISC */
/* Checking ids of threads and messages, and reading those that are numbers. */
#include "service/thread/ident.h"

#include "base/json/json.h"

#include <inttypes.h>
#include <string.h>

static bool ident_refuse(struct call *call, const char *where, const char *type, const char *text)
{
	return error_field(&call->error, ERR_VALIDATION, where, type, "%s", text);
}

/* Ids from paths are any bytes, so UTF-8 comes first. */
bool thread_id_check(struct call *call, const char *where, const char *thread_id)
{
	bool utf8 = thread_id && utf8_valid(thread_id, strlen(thread_id));
	if (!thread_id || (utf8 && id_blank(thread_id)))
		return ident_refuse(call, where, thread_id ? "value_error" : "missing",
		    "thread_id cannot be empty or whitespace");
	if (!utf8 || !id_valid(thread_id))
		return ident_refuse(call, where, "value_error",
		    "thread_id must be 1 to 255 characters without control characters");
	if (id_not_positive(thread_id))
		return ident_refuse(
		    call, where, "value_error", "thread_id must be a positive integer");
	return true;
}

bool message_id_check(struct call *call, const char *message_id)
{
	const char *where = "path.message_id";
	bool utf8 = utf8_valid(message_id, strlen(message_id));
	if (utf8 && id_blank(message_id))
		return ident_refuse(
		    call, where, "value_error", "message_id is required and cannot be empty");
	if (!utf8 || !id_valid(message_id))
		return ident_refuse(call, where, "value_error",
		    "message_id must be 1 to 255 characters without control characters");
	return true;
}

/* Text of an id, or NULL when it is neither a string nor an integer,
 * which may be beyond 64 bits. */
static const char *ident_id_text(struct call *call, const cJSON *item)
{
	int64_t value;
	if (json_integer(item, &value))
		return arena_printf(call->arena, "%" PRId64, value);
	if (cJSON_IsString(item) ||
	    (cJSON_IsRaw(item) && json_is_number(item) &&
		item->valuestring[strspn(item->valuestring, "-0123456789")] == '\0'))
		return arena_strdup(call->arena, item->valuestring);
	return NULL;
}

bool thread_id_read(struct call *call, const char *where, const cJSON *item, const char **id)
{
	*id = NULL;
	if (!item || cJSON_IsNull(item))
		return true;
	*id = ident_id_text(call, item);
	if (!*id)
		return ident_refuse(
		    call, where, "type_error", "thread_id must be a string or an integer");
	return true;
}

bool thread_id_read_new(struct call *call, const char *where, const cJSON *item, const char **id)
{
	if (!thread_id_read(call, where, item, id) || !*id)
		return !error_is_set(&call->error);
	if (id_blank(*id) || strcmp(*id, "new") == 0) {
		*id = NULL;
		return true;
	}
	return thread_id_check(call, where, *id);
}

/* The thread_id of an object; NULL for none.  "new" stands for none only where the request may make
 * the thread. */
static const char *ident_named(struct call *call, const cJSON *object, bool makes)
{
	const char *id = ident_id_text(call, json_opt(object, "thread_id"));
	return id && !id_blank(id) && !(makes && strcmp(id, "new") == 0) ? id : NULL;
}

const char *thread_id_of(struct call *call, const cJSON *body, bool makes)
{
	const char *top = ident_named(call, body, makes);
	const char *inner = ident_named(call, json_opt(body, "config"), makes);
	if (makes && top && inner && strcmp(top, inner) != 0)
		return NULL;
	return top ? top : inner;
}
