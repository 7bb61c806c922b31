#include "graph/offer.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/message.h"

#include <stdlib.h>
#include <string.h>

#define SERVERS_MS 5000
#define MEDIA_MAX (64u << 20) /* bytes of one file; providers take less */

static const struct node *tools_node(const ag_run *run, const char *name)
{
	const ag_graph *graph = run_graph(run);
	return &graph->nodes[graph_node_index(graph, name)];
}

static void add_tools(struct offer *offer, const struct node_tools *tools)
{
	size_t count = offer->count + tools->count;
	offer->tools = xrealloc(offer->tools, (count + 1) * sizeof(*offer->tools));
	for (size_t i = 0; i < tools->count; i++) {
		const struct tool *tool = &tools->items[i];
		offer->tools[offer->count++] =
		    (struct chat_tool){tool->name, tool->description, tool->parameters};
	}
}

/* The client's tools come with the first node only: a name is offered once. */
void offer_open(struct offer *offer, ag_run *run, char *const *names)
{
	int64_t left = ag_time_left_ms(run);
	int64_t deadline = clock_monotonic_ms() + (left < SERVERS_MS ? left : SERVERS_MS);
	*offer = (struct offer){0};
	while (names && names[offer->node_count])
		offer->node_count++;
	offer->nodes = xcalloc(offer->node_count + 1, sizeof(*offer->nodes));
	for (size_t i = 0; i < offer->node_count; i++) {
		node_tools_get(tools_node(run, names[i]), i ? NULL : run_client_tools(run),
		    deadline, &offer->nodes[i]);
		add_tools(offer, &offer->nodes[i]);
	}
}

void offer_close(struct offer *offer)
{
	for (size_t i = 0; i < offer->node_count; i++)
		node_tools_release(&offer->nodes[i]);
	free(offer->nodes);
	free(offer->tools);
}

static const struct tool *offered(const struct offer *offer, const char *name)
{
	for (size_t i = 0; i < offer->node_count; i++) {
		const struct tool *tool = node_tools_find(&offer->nodes[i], name);
		if (tool)
			return tool;
	}
	return NULL;
}

cJSON *offer_mark(const struct offer *offer, cJSON *answer)
{
	cJSON *block;
	cJSON_ArrayForEach(block, json_get(answer, "content")) {
		const char *name = block_is(block, "tool_call") ? json_str(block, "name") : NULL;
		const struct tool *tool = name ? offered(offer, name) : NULL;
		if (tool && tool->source == TOOL_MCP)
			json_set(block, "tool_type", cJSON_CreateString("mcp"));
	}
	return answer;
}

static char *text_of(const cJSON *media, const char *key)
{
	const char *text = json_str(media, key);
	return text ? xstrdup(text) : NULL;
}

bool offer_media(const cJSON *media, struct chat_media *out, void *arg)
{
	ag_run *run = *(ag_run **)arg;
	out->mime_type = text_of(media, "mime_type");
	out->filename = text_of(media, "filename");
	out->text = ag_media_text(run, media);
	if (!out->mime_type)
		out->mime_type = xstrdup("application/octet-stream");
	if (!out->text)
		out->data = ag_media_data(run, media, MEDIA_MAX, &out->len);
	return out->text || out->data;
}
