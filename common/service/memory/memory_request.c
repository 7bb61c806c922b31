/* SPDX-License-Identifier: ISC */
/* Checking the members of such a body, and the user and thread it is narrowed to. */
#include "service/memory/memory_request.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "graph/message/message.h"
#include "service/thread/change.h"
#include "service/thread/ident.h"
#include "storage/memory_filter.h"

#include <string.h>

#define DEFAULT_TOKENS 4000
#define DEFAULT_FOUND 10
#define DEFAULT_LISTED 100
#define RELATIONS_MOST 1000
#define FILTERS_SIZE_MOST 65536 /* they are compared with every memory of the scope */

static const struct choice types[] = {{"episodic", 0}, {"semantic", 0}, {"procedural", 0},
    {"entity", 0}, {"relationship", 0}, {"declarative", 0}, {"custom", 0}, {NULL, 0}};
static const struct choice strategies[] = {{"similarity", STRATEGY_SIMILARITY},
    {"temporal", STRATEGY_TEMPORAL}, {"relevance", STRATEGY_RELEVANCE}, {"hybrid", STRATEGY_HYBRID},
    {"graph_traversal", STRATEGY_GRAPH}, {NULL, 0}};
static const struct choice metrics[] = {{"cosine", METRIC_COSINE}, {"euclidean", METRIC_EUCLIDEAN},
    {"dot_product", METRIC_DOT_PRODUCT}, {"manhattan", METRIC_MANHATTAN}, {NULL, 0}};

const char *strategy_name(enum strategy strategy)
{
	return strategies[strategy].name;
}

const char *metric_name(enum vector_metric metric)
{
	return metrics[metric].name;
}

/* ---- members of a body ---- */

static bool memory_request_filled(const char *text)
{
	return !id_blank(text);
}

#define ROW(member, ...) FIELD(memory_request, member, __VA_ARGS__)
#define OBJECT .kind = &field_json, .types = TYPE_OBJECT
#define COUNT(most)                                    \
	.kind = &field_integer, .min = 1, .max = most, \
	.expected = "an integer between 1 and " #most, .wrong = "must be between 1 and " #most

static const struct field_row query_rows[] = {
    ROW(query, .kind = &field_text, .valid = memory_request_filled, .required = true,
	.wrong = "is required and cannot be empty"),
    FIELD_AT("score_threshold", memory_request, threshold, .kind = &field_number, .max = 1,
	.expected = "a number between 0 and 1", .wrong = "must be between 0 and 1"),
    ROW(max_tokens, COUNT(16000)),
    FIELD_AT("retrieval_strategy", memory_request, strategy, .kind = &field_choice,
	.choices = strategies),
    FIELD_AT("distance_metric", memory_request, metric, .kind = &field_choice, .choices = metrics),
    FIELDS_END,
};

static const struct field_row metadata_rows[] = {ROW(metadata, OBJECT), FIELDS_END};

static const struct field_row kind_rows[] = {
    ROW(memory_type, .kind = &field_filled, .choices = types),
    ROW(category, .kind = &field_filled),
    FIELDS_END,
};

static const struct field_row filter_rows[] = {
    FIELD_AT(
	"memory_type", memory_request, filter.memory_type, .kind = &field_filled, .choices = types),
    FIELD_AT("category", memory_request, filter.category, .kind = &field_filled),
    ROW(filters, OBJECT),
    FIELDS_END,
};

static const struct field_row found_rows[] = {ROW(limit, COUNT(100)), FIELDS_END};
static const struct field_row listed_rows[] = {ROW(limit, COUNT(1000)), FIELDS_END};

static const struct field_row common_rows[] = {
    ROW(config, OBJECT), ROW(options, OBJECT), FIELDS_END};

static bool memory_request_wrong(
    struct call *call, const char *name, const char *type, const char *expected)
{
	const char *where = arena_printf(call->arena, "body.%s", name);
	return error_wrong(&call->error, where, type, "%s", expected);
}

/* ---- the parts ---- */

static bool memory_request_read_content(struct call *call, const cJSON *body, const char **content)
{
	const cJSON *item = json_opt(body, "content");
	if (cJSON_IsString(item)) {
		*content = item->valuestring;
	} else if (cJSON_IsObject(item)) {
		struct buf text = {0};
		cJSON *message = arena_json(call->arena,
		    message_normalise(item, "body.content", MESSAGE_FROM_CLIENT,
			&call->service->ids, &call->error));
		if (!message)
			return false;
		message_text(message, &text);
		*content = arena_take(call->arena, &text);
	} else if (item) {
		return memory_request_wrong(
		    call, "content", "type_error", "must be a string or a message");
	}
	if (*content && !id_blank(*content))
		return true;
	return memory_request_wrong(
	    call, "content", item ? "value_error" : "missing", "is required and cannot be empty");
}

static bool memory_request_read_conditions(
    struct call *call, const cJSON *body, struct memory_request *rq)
{
	if (!fields_read_body(&call->error, "body", body, filter_rows, rq))
		return false;
	if (!rq->filters || !rq->filters->child) {
		rq->filters = NULL;
		return true;
	}
	rq->filter.filters_json = arena_print(call->arena, rq->filters);
	if (strlen(rq->filter.filters_json) > FILTERS_SIZE_MOST)
		return memory_request_wrong(call, "filters", "value_error",
		    arena_printf(
			call->arena, "must not have more than %d bytes", FILTERS_SIZE_MOST));
	return memory_filter_check(rq->filters, "body.filters", &call->error);
}

/* Limits the relations: each becomes a row in the one transaction that stores the memory. */
static bool memory_request_relations_fit(struct call *call, const cJSON *metadata)
{
	const cJSON *relations = json_get(metadata, "relations");
	return !cJSON_IsArray(relations) || cJSON_GetArraySize(relations) <= RELATIONS_MOST ||
	    memory_request_wrong(call, "metadata.relations", "value_error",
		arena_printf(call->arena, "must be an array of at most %d", RELATIONS_MOST));
}

/* ---- whose ---- */

/* Reads whose memories the caller reaches: his own where there is authentication, or everybody's
 * (NULL).  A caller who may do anything with threads (allow_all) still reaches only his own. */
static bool memory_request_read_scope(struct call *call, unsigned parts, struct memory_request *rq)
{
	const struct config *config = call->service->config;
	bool known = config->auth != AUTH_NONE;
	const char *user_id = NULL, *thread_id;
	rq->filter.user_id = known ? call->owner : NULL;
	if (known && !call->owner && config->authorization == AUTHZ_ALLOW_ALL)
		rq->filter.user_id = call->user_id;
	if (!rq->filter.user_id) {
		const cJSON *item = json_opt(rq->config, "user_id");
		user_id = id_user_text(item, call->arena);
		if (item && !user_id)
			return memory_request_wrong(call, "config.user_id",
			    cJSON_IsString(item) ? "value_error" : "type_error",
			    "must be a string that is not empty, or an integer");
	}
	if (!rq->filter.user_id && (!known || (parts & MEMORY_NARROWED)))
		rq->filter.user_id = user_id;
	rq->owner = known || !user_id ? call->user_id : user_id;
	if (!thread_id_read(
		call, "body.config.thread_id", json_opt(rq->config, "thread_id"), &thread_id))
		return false;
	if (!thread_id || id_blank(thread_id))
		return true;
	rq->filter.thread_id = thread_id;
	return thread_id_check(call, "body.config.thread_id", thread_id);
}

bool memory_request_read(
    struct call *call, const cJSON *body, unsigned parts, struct memory_request *rq)
{
	struct error *err = &call->error;
	bool ok = true;
	*rq = (struct memory_request){
	    .limit = parts & MEMORY_QUERY ? DEFAULT_FOUND : DEFAULT_LISTED,
	    .max_tokens = DEFAULT_TOKENS,
	    .threshold = -1,
	    .strategy = STRATEGY_SIMILARITY,
	    .metric = METRIC_COSINE,
	    .memory_type = parts & MEMORY_KIND ? "episodic" : NULL,
	    .category = parts & MEMORY_KIND ? "general" : NULL,
	};
	if (parts & MEMORY_QUERY)
		ok = fields_read_body(err, "body", body, query_rows, rq);
	if (parts & MEMORY_CONTENT) {
		ok = memory_request_read_content(call, body, &rq->content) && ok;
		ok = fields_read_body(err, "body", body, metadata_rows, rq) &&
		    memory_request_relations_fit(call, rq->metadata) && ok;
	}
	if (parts & MEMORY_KIND)
		ok = fields_read_body(err, "body", body, kind_rows, rq) && ok;
	if (parts & MEMORY_FILTER)
		ok = memory_request_read_conditions(call, body, rq) && ok;
	if (parts & MEMORY_LIMIT)
		ok = fields_read_body(
			 err, "body", body, parts & MEMORY_QUERY ? found_rows : listed_rows, rq) &&
		    ok;
	return fields_read_body(err, "body", body, common_rows, rq) &&
	    memory_request_read_scope(call, parts, rq) && ok;
}

bool memory_id_check(struct call *call, const char *memory_id)
{
	bool utf8 = utf8_valid(memory_id, strlen(memory_id));
	if (utf8 && !id_blank(memory_id))
		return true;
	return error_wrong(&call->error, "path.memory_id", "value_error", "%s",
	    utf8 ? "is required and cannot be empty" : "must be valid UTF-8");
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
