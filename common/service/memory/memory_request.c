/* SPDX-License-Identifier: ISC */
/* Checking the members of such a body, and the user and thread it is narrowed to. */
#include "service/memory/memory_request.h"

#include "base/json.h"
#include "graph/message.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "storage/memory_filter.h"

#include <inttypes.h>
#include <string.h>

#define DEFAULT_TOKENS 4000
#define MOST_TOKENS 16000
#define DEFAULT_FOUND 10
#define DEFAULT_LISTED 100
#define FILTERS_SIZE_MOST 65536 /* they are compared with every memory of the scope */

static const char *const types[] = {
    "episodic", "semantic", "procedural", "entity", "relationship", "declarative", "custom", NULL};
static const char *const strategies[] = {
    "similarity", "temporal", "relevance", "hybrid", "graph_traversal", NULL};
static const char *const metrics[] = {"cosine", "euclidean", "dot_product", "manhattan", NULL};

const char *strategy_name(enum strategy strategy)
{
	return strategies[strategy];
}

const char *metric_name(enum vector_metric metric)
{
	return metrics[metric];
}

/* ---- members of a body ---- */

static bool memory_request_wrong(
    struct call *call, const char *name, const char *type, const char *expected)
{
	const char *where = arena_printf(call->arena, "body.%s", name);
	return error_field(&call->error, ERR_VALIDATION, where, type, "%s %s", name, expected);
}

/* A member that is a string; *text stays as it was when it is absent. */
static bool memory_request_read_text(
    struct call *call, const cJSON *body, const char *name, const char **text)
{
	const cJSON *item = json_opt(body, name);
	if (item && !cJSON_IsString(item))
		return memory_request_wrong(call, name, "type_error", "must be a string");
	if (item)
		*text = arena_strdup(call->arena, item->valuestring);
	return true;
}

/* "": as if absent. */
static bool read_filled(struct call *call, const cJSON *body, const char *name, const char **text)
{
	const char *given = NULL;
	if (!memory_request_read_text(call, body, name, &given))
		return false;
	if (given && *given)
		*text = given;
	return true;
}

static int memory_request_index_of(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static const char *memory_request_one_of(struct call *call, const char *const *names)
{
	const char *text = "must be one of";
	for (int i = 0; names[i]; i++)
		text = arena_printf(call->arena, "%s%s %s", text, i ? "," : "", names[i]);
	return text;
}

/* One of the names; *index stays as it was when the member is absent. */
static bool memory_request_read_choice(
    struct call *call, const cJSON *body, const char *name, const char *const *names, int *index)
{
	const char *given = NULL;
	if (!memory_request_read_text(call, body, name, &given))
		return false;
	if (!given)
		return true;
	int found = memory_request_index_of(names, given);
	if (found < 0)
		return memory_request_wrong(
		    call, name, "value_error", memory_request_one_of(call, names));
	*index = found;
	return true;
}

static bool memory_request_read_type(struct call *call, const cJSON *body, const char **type)
{
	const char *given = NULL;
	if (!read_filled(call, body, "memory_type", &given))
		return false;
	if (given && memory_request_index_of(types, given) < 0)
		return memory_request_wrong(
		    call, "memory_type", "value_error", memory_request_one_of(call, types));
	if (given)
		*type = given;
	return true;
}

static bool read_count(
    struct call *call, const cJSON *body, const char *name, int64_t most, int64_t *value)
{
	const cJSON *item = json_opt(body, name);
	if (!item)
		return true;
	if (!json_integer(item, value))
		return memory_request_wrong(call, name,
		    json_is_number(item) ? "value_error" : "type_error",
		    arena_printf(call->arena, "must be an integer between 1 and %" PRId64, most));
	if (*value < 1 || *value > most)
		return memory_request_wrong(call, name, "value_error",
		    arena_printf(call->arena, "must be between 1 and %" PRId64, most));
	return true;
}

static bool memory_request_read_object(
    struct call *call, const cJSON *body, const char *name, const cJSON **object)
{
	*object = json_opt(body, name);
	return !*object || cJSON_IsObject(*object) ||
	    memory_request_wrong(call, name, "type_error", "must be an object");
}

/* ---- the parts ---- */

static const char *message_content(struct call *call, const cJSON *message)
{
	struct buf text = {0};
	cJSON *full = arena_json(call->arena,
	    message_normalise(
		message, "body.content", MESSAGE_FROM_CLIENT, &call->service->ids, &call->error));
	if (!full)
		return NULL;
	message_text(full, &text);
	const char *content = arena_strdup(call->arena, buf_str(&text));
	buf_release(&text);
	return content;
}

static bool memory_request_read_content(struct call *call, const cJSON *body, const char **content)
{
	const cJSON *item = json_opt(body, "content");
	if (cJSON_IsString(item))
		*content = item->valuestring;
	else if (cJSON_IsObject(item) && !(*content = message_content(call, item)))
		return false;
	else if (item && !cJSON_IsObject(item))
		return memory_request_wrong(
		    call, "content", "type_error", "must be a string or a message");
	if (*content && !id_blank(*content))
		return true;
	return memory_request_wrong(
	    call, "content", item ? "value_error" : "missing", "is required and cannot be empty");
}

static bool memory_request_read_kind(
    struct call *call, const cJSON *body, struct memory_request *rq)
{
	rq->memory_type = "episodic";
	rq->category = "general";
	bool ok = memory_request_read_type(call, body, &rq->memory_type);
	return read_filled(call, body, "category", &rq->category) && ok;
}

static bool read_conditions(struct call *call, const cJSON *body, struct memory_request *rq)
{
	bool ok = memory_request_read_type(call, body, &rq->filter.memory_type);
	ok = read_filled(call, body, "category", &rq->filter.category) && ok;
	ok = memory_request_read_object(call, body, "filters", &rq->filters) && ok;
	if (!ok)
		return false;
	if (!rq->filters || !rq->filters->child) {
		rq->filters = NULL;
		return true;
	}
	char *text = json_print(rq->filters);
	arena_defer(call->arena, cJSON_free, text);
	rq->filter.filters_json = text;
	if (strlen(text) > FILTERS_SIZE_MOST)
		return memory_request_wrong(call, "filters", "value_error",
		    arena_printf(
			call->arena, "must not have more than %d bytes", FILTERS_SIZE_MOST));
	return memory_filter_check(rq->filters, "body.filters", &call->error);
}

static bool read_threshold(struct call *call, const cJSON *body, double *threshold)
{
	const cJSON *item = json_opt(body, "score_threshold");
	if (!item)
		return true;
	if (!json_number(item, threshold))
		return memory_request_wrong(
		    call, "score_threshold", "type_error", "must be a number between 0 and 1");
	return (*threshold >= 0 && *threshold <= 1) ||
	    memory_request_wrong(call, "score_threshold", "value_error", "must be between 0 and 1");
}

static bool memory_request_read_query(
    struct call *call, const cJSON *body, struct memory_request *rq)
{
	int strategy = rq->strategy, metric = rq->metric;
	bool ok = memory_request_read_text(call, body, "query", &rq->query);
	if (ok && (!rq->query || id_blank(rq->query)))
		ok = memory_request_wrong(call, "query", rq->query ? "value_error" : "missing",
		    "is required and cannot be empty");
	ok = read_threshold(call, body, &rq->threshold) && ok;
	ok = read_count(call, body, "max_tokens", MOST_TOKENS, &rq->max_tokens) && ok;
	ok = memory_request_read_choice(call, body, "retrieval_strategy", strategies, &strategy) &&
	    ok;
	ok = memory_request_read_choice(call, body, "distance_metric", metrics, &metric) && ok;
	rq->strategy = (enum strategy)strategy;
	rq->metric = (enum vector_metric)metric;
	return ok;
}

/* ---- whose ---- */

/* Who a caller that authentication knows reaches: NULL for everybody.  That a caller may do
 * anything with threads (allow_all) says nothing of memories. */
static const char *memory_request_reach(const struct call *call)
{
	const struct config *config = call->service->config;
	if (config->auth == AUTH_NONE)
		return NULL;
	if (!call->owner && config->authorization == AUTHZ_ALLOW_ALL)
		return call->user_id;
	return call->owner;
}

static bool read_user(struct call *call, const cJSON *config, const char **user_id)
{
	const cJSON *item = json_opt(config, "user_id");
	int64_t number;
	*user_id = NULL;
	if (!item)
		return true;
	if (cJSON_IsString(item) && !id_blank(item->valuestring))
		*user_id = item->valuestring;
	else if (json_integer(item, &number))
		*user_id = arena_printf(call->arena, "%" PRId64, number);
	return *user_id ||
	    memory_request_wrong(call, "config.user_id",
		cJSON_IsString(item) ? "value_error" : "type_error",
		"must be a string that is not empty, or an integer");
}

static bool read_scope(struct call *call, unsigned parts, struct memory_request *rq)
{
	bool known = call->service->config->auth != AUTH_NONE;
	const char *user_id = NULL, *thread_id;
	rq->filter.waiter = call->waiter;
	rq->filter.user_id = memory_request_reach(call);
	if (!rq->filter.user_id && !read_user(call, rq->config, &user_id))
		return false;
	if (!rq->filter.user_id && (!known || (parts & MEMORY_NARROWED)))
		rq->filter.user_id = user_id;
	rq->owner = known || !user_id ? call->user_id : user_id;
	if (!thread_id_read(
		call, "body.config.thread_id", json_opt(rq->config, "thread_id"), &thread_id))
		return false;
	if (thread_id && !id_blank(thread_id))
		rq->filter.thread_id = thread_id;
	return true;
}

static void memory_request_set_defaults(struct memory_request *rq, unsigned parts)
{
	*rq = (struct memory_request){
	    .limit = parts & MEMORY_QUERY ? DEFAULT_FOUND : DEFAULT_LISTED,
	    .max_tokens = DEFAULT_TOKENS,
	    .threshold = -1,
	    .strategy = STRATEGY_SIMILARITY,
	    .metric = METRIC_COSINE,
	};
}

bool memory_request_read(
    struct call *call, const cJSON *body, unsigned parts, int64_t most, struct memory_request *rq)
{
	bool ok = true;
	memory_request_set_defaults(rq, parts);
	if (parts & MEMORY_QUERY)
		ok = memory_request_read_query(call, body, rq) && ok;
	if (parts & MEMORY_CONTENT) {
		ok = memory_request_read_content(call, body, &rq->content) && ok;
		ok = memory_request_read_object(call, body, "metadata", &rq->metadata) && ok;
	}
	if (parts & MEMORY_KIND)
		ok = memory_request_read_kind(call, body, rq) && ok;
	if (parts & MEMORY_FILTER)
		ok = read_conditions(call, body, rq) && ok;
	if (parts & MEMORY_LIMIT)
		ok = read_count(call, body, "limit", most, &rq->limit) && ok;
	bool objects = memory_request_read_object(call, body, "config", &rq->config);
	objects = memory_request_read_object(call, body, "options", &rq->options) && objects;
	return objects && read_scope(call, parts, rq) && ok;
}

bool memory_id_check(struct call *call, const char *memory_id)
{
	bool utf8 = utf8_valid(memory_id, strlen(memory_id));
	if (utf8 && !id_blank(memory_id))
		return true;
	return error_field(&call->error, ERR_VALIDATION, "path.memory_id", "value_error",
	    utf8 ? "memory_id is required and cannot be empty" : "memory_id must be valid UTF-8");
}

cJSON *memory_metadata(const cJSON *metadata, const char *category)
{
	static const char *const reserved[] = {"content", "user_id", "thread_id", "memory_type",
	    "category", "timestamp", "memory_id", NULL};
	cJSON *out = metadata ? cJSON_Duplicate(metadata, true) : cJSON_CreateObject();
	for (int i = 0; reserved[i]; i++)
		cJSON_DeleteItemFromObjectCaseSensitive(out, reserved[i]);
	if (category)
		json_add_str(out, "category", category);
	return out;
}
