/* SPDX-License-Identifier: ISC */
/* The graph as an assistant, what it looks like and what it takes; and the server itself. */
#include "service/langgraph/lg_assistant.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/about.h"
#include "service/langgraph/langgraph.h"

#include <openssl/evp.h>
#include <string.h>

/* ---- the server ---- */

cJSON *lg_ok(struct call *call)
{
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(out, "ok");
	return out;
}

cJSON *lg_info(struct call *call)
{
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(out, "version", AGENTGRAPH_VERSION);
	json_add_str(out, "context", "agentgraph");
	cJSON *flags = json_add(out, "flags", cJSON_CreateObject());
	cJSON_AddTrueToObject(flags, "assistants");
	cJSON_AddFalseToObject(flags, "crons");
	return out;
}

cJSON *lg_error(struct call *call, const struct error_view *view)
{
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(out, "detail", view->detail);
	json_add_str(out, "code", view->code);
	return out;
}

/* ---- the assistant ---- */

const char *lg_graph_id(const struct call *call)
{
	return config_agent_name(call->service->config);
}

/* A version 5 UUID (RFC 9562) in the name space of the graphs of that server. */
const char *lg_assistant_id(struct call *call)
{
	static const unsigned char space[16] = {0x6b, 0xa7, 0xb8, 0x21, 0x9d, 0xad, 0x11, 0xd1,
	    0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
	unsigned char d[EVP_MAX_MD_SIZE] = {0};
	const char *name = lg_graph_id(call);
	struct buf text = {0};
	buf_add(&text, space, sizeof(space));
	buf_puts(&text, name);
	EVP_Digest(text.data, text.len, d, NULL, EVP_sha1(), NULL);
	buf_release(&text);
	return uuid_text(d, 5, arena_alloc(call->arena, UUID_SIZE));
}

bool lg_assistant_is(struct call *call, const char *id)
{
	return strcmp(id, lg_graph_id(call)) == 0 || strcmp(id, lg_assistant_id(call)) == 0;
}

bool lg_assistant_check(struct call *call, const char *id)
{
	return lg_assistant_is(call, id) ||
	    error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Assistant not found");
}

/* Nobody knows when it was made: all processes say the same time. */
static cJSON *lg_assistant_view(struct call *call)
{
	char time[ISO_TIME_SIZE];
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(out, "assistant_id", lg_assistant_id(call));
	json_add_str(out, "graph_id", lg_graph_id(call));
	json_add_str(out, "name", lg_graph_id(call));
	json_add_str(out, "description", NULL);
	json_add(out, "config", cJSON_CreateObject());
	json_add(out, "context", cJSON_CreateObject());
	cJSON *metadata = json_add(out, "metadata", cJSON_CreateObject());
	json_add_str(metadata, "created_by", "system");
	json_add_int(out, "version", 1);
	json_add_str(out, "created_at", clock_iso(0, time));
	json_add_str(out, "updated_at", clock_iso(0, time));
	return out;
}

struct lg_assistants_body {
	const char *graph_id, *name;
	const cJSON *metadata;
	int64_t limit, offset;
};

static const struct field_row lg_assistants_rows[] = {
    FIELD(lg_assistants_body, graph_id, .kind = &field_text),
    FIELD(lg_assistants_body, name, .kind = &field_text),
    FIELD(lg_assistants_body, metadata, FIELD_OBJECT),
    FIELD(lg_assistants_body, limit, .kind = &field_integer, .min = 1, .max = 1000,
	.expected = "between 1 and 1000"),
    FIELD(lg_assistants_body, offset, .kind = &field_integer, .expected = "an integer, 0 or more"),
    FIELDS_END,
};

cJSON *lg_assistants(struct call *call, const cJSON *body)
{
	struct lg_assistants_body b = {.limit = 10};
	if (!fields_read_body(&call->error, "body", body, lg_assistants_rows, &b))
		return NULL;
	cJSON *list = arena_json(call->arena, cJSON_CreateArray());
	cJSON *one = lg_assistant_view(call);
	const cJSON *item, *mine = json_get(one, "metadata");
	bool fits = b.offset == 0 && (!b.graph_id || lg_assistant_is(call, b.graph_id)) &&
	    (!b.name || strcasestr(lg_graph_id(call), b.name));
	cJSON_ArrayForEach(item, b.metadata)
		fits = fits && json_equal(item, json_get(mine, item->string));
	if (fits)
		cJSON_AddItemReferenceToArray(list, one);
	return list;
}

cJSON *lg_assistants_count(struct call *call, const cJSON *body)
{
	const cJSON *list = lg_assistants(call, body);
	return list ? arena_json(call->arena, json_new_int(cJSON_GetArraySize(list))) : NULL;
}

cJSON *lg_assistant(struct call *call, const char *assistant_id)
{
	return lg_assistant_check(call, assistant_id) ? lg_assistant_view(call) : NULL;
}

/* ---- what it looks like ---- */

static const char *lg_node_name(const char *name)
{
	return strcmp(name, AG_START) == 0 ? "__start__"
	    : strcmp(name, AG_END) == 0    ? "__end__"
					   : name;
}

cJSON *lg_assistant_graph(struct call *call, const char *assistant_id)
{
	if (!lg_assistant_check(call, assistant_id))
		return NULL;
	const cJSON *graph = graph_info(call), *item, *other;
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	cJSON *nodes = json_add(out, "nodes", cJSON_CreateArray());
	cJSON *edges = json_add(out, "edges", cJSON_CreateArray());
	cJSON_ArrayForEach(item, json_get(graph, "nodes")) {
		const char *name = lg_node_name(json_str(item, "id"));
		cJSON *node = json_append(nodes, cJSON_CreateObject());
		json_add_str(node, "id", name);
		json_add_str(node, "type", "runnable");
		cJSON *data = json_add(node, "data", cJSON_CreateObject());
		json_add_str(data, "name", name);
	}
	cJSON_ArrayForEach(item, json_get(graph, "edges")) {
		const char *source = json_str(item, "source");
		int ways = 0;
		cJSON_ArrayForEach(other, json_get(graph, "edges"))
			ways += strcmp(json_str(other, "source"), source) == 0;
		cJSON *edge = json_append(edges, cJSON_CreateObject());
		json_add_str(edge, "source", lg_node_name(source));
		json_add_str(edge, "target", lg_node_name(json_str(item, "target")));
		json_add(edge, "conditional", cJSON_CreateBool(ways > 1));
	}
	return out;
}

/* ---- what it takes ---- */

/* Messages, and the graph's own fields as its schema has them. */
static cJSON *lg_values_schema(struct call *call, const cJSON *schema, const char *title)
{
	const ag_graph *graph = call->service->graph;
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "title", arena_printf(call->arena, "%s%s", lg_graph_id(call), title));
	json_add_str(out, "type", "object");
	cJSON *properties = json_add(out, "properties", cJSON_CreateObject());
	cJSON *messages = json_add(properties, "messages", cJSON_CreateObject());
	json_add_str(messages, "title", "Messages");
	json_add_str(messages, "type", "array");
	json_add_str(json_add(messages, "items", cJSON_CreateObject()), "type", "object");
	for (size_t i = 0; i < graph->field_count; i++) {
		const char *name = graph->fields[i].name;
		const cJSON *field = json_get(json_get(schema, "properties"), name);
		if (field)
			json_add(properties, name, cJSON_Duplicate(field, true));
	}
	return out;
}

static cJSON *lg_open_schema(struct call *call, const char *title)
{
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "title", arena_printf(call->arena, "%s%s", lg_graph_id(call), title));
	json_add_str(out, "type", "object");
	json_add(out, "properties", cJSON_CreateObject());
	return out;
}

cJSON *lg_assistant_schemas(struct call *call, const char *assistant_id)
{
	if (!lg_assistant_check(call, assistant_id))
		return NULL;
	const cJSON *schema = graph_schema(call);
	cJSON *out = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(out, "graph_id", lg_graph_id(call));
	json_add(out, "input_schema", lg_values_schema(call, schema, "Input"));
	json_add(out, "output_schema", lg_values_schema(call, schema, "Output"));
	json_add(out, "state_schema", lg_values_schema(call, schema, "State"));
	json_add(out, "config_schema", lg_open_schema(call, "Config"));
	json_add(out, "context_schema", lg_open_schema(call, "Context"));
	return out;
}
