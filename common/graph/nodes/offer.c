/* SPDX-License-Identifier: ISC */
/* Gathering a model's tools, and turning files into what a request can carry. */
#include "graph/nodes/offer.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/run_internal.h"

#include <stdlib.h>

#define SERVERS_MS 5000

void offer_open(struct offer *offer, ag_run *run, const char *name)
{
	int64_t left = ag_time_left_ms(run);
	int64_t deadline = clock_monotonic_ms() + (left < SERVERS_MS ? left : SERVERS_MS);
	*offer = (struct offer){0};
	if (!name)
		return;
	const ag_graph *graph = run_graph(run);
	node_tools_get(&graph->nodes[graph_node_index(graph, name)], run_client_tools(run),
	    deadline, &offer->node);
	offer->tools = xcalloc(offer->node.count + 1, sizeof(*offer->tools));
	for (size_t i = 0; i < offer->node.count; i++) {
		const struct tool *tool = &offer->node.items[i];
		offer->tools[offer->count++] =
		    (struct chat_tool){tool->name, tool->description, tool->parameters};
	}
}

void offer_close(struct offer *offer)
{
	node_tools_release(&offer->node);
	free(offer->tools);
}

cJSON *offer_mark(const struct offer *offer, cJSON *answer)
{
	cJSON *block;
	cJSON_ArrayForEach(block, json_get(answer, "content")) {
		if (!block_is(block, "tool_call"))
			continue;
		const char *name = json_str(block, "name");
		if (!name || !*name) {
			name = "unnamed"; /* answered as an unknown tool, and the model sees it */
			json_set(block, "name", cJSON_CreateString(name));
		}
		const struct tool *tool = node_tools_find(&offer->node, name);
		if (tool && tool->source == TOOL_MCP)
			json_set(block, "tool_type", cJSON_CreateString("mcp"));
	}
	return answer;
}

bool offer_media(const cJSON *media, struct chat_media *out, void *arg)
{
	ag_run *run = *(ag_run **)arg;
	if (out->max > 0) {
		out->data = run_media_data(run, media, out->max, &out->len);
		return out->data || out->len > out->max;
	}
	out->mime_type = xstrdup(json_str(media, "mime_type"));
	out->filename = xstrdup(json_str(media, "filename"));
	out->text = ag_media_text(run, media);
	if (!out->mime_type)
		out->mime_type = xstrdup("application/octet-stream");
	return true;
}
