/* SPDX-License-Identifier: ISC */
/* Live agents in documents, and the tags of their tools. */
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"
#include "graph/live.h"
#include "model/realtime.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An array of texts as a list that ends with NULL and points into the document; NULL when it is
 * absent. */
static const char **document_live_read_tags(
    struct document *d, const struct place *at, const cJSON *tags)
{
	const cJSON *tag;
	size_t i = 0, count = 0;
	if (!tags)
		return NULL;
	const char **list = xcalloc((size_t)cJSON_GetArraySize(tags) + 1, sizeof(*list));
	cJSON_ArrayForEach(tag, tags) {
		if (document_is(d, PLACE_INDEX(at, i), tag, TYPE_STRING))
			list[count++] = tag->valuestring;
		i++;
	}
	return list;
}

void document_tool_tags(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	const char **tags =
	    document_live_read_tags(d, PLACE_KEY(at, "tags"), document_array(item, "tags"));
	const char *name = json_str(item, "name");
	int i = graph_node_index(d->graph, node);
	if (tags && name && i >= 0 && graph_tool_get(&d->graph->nodes[i], name))
		ag_graph_tool_tags(d->graph, node, name, tags);
	free(tags);
}

static const struct ag_live_provider *read_provider(
    struct document *d, const struct place *at, const char *name)
{
	const struct ag_live_provider *provider = name ? live_provider(name) : NULL;
	if (name && !provider)
		document_problem(
		    d, at, "expected one of %s, found '%s'", live_provider_names(), name);
	return provider;
}

/* An array or a text, as in the first frame of a socket. */
static bool document_live_read_modalities(
    struct document *d, const struct place *at, const cJSON *item)
{
	if (cJSON_IsArray(item))
		item = item->child && !item->child->next ? item->child : NULL;
	else if (!cJSON_IsString(item))
		return false; /* absent, or reported */
	const char *word = cJSON_GetStringValue(item);
	if (word && strcasecmp(word, "TEXT") == 0)
		return true;
	if (!word || strcasecmp(word, "AUDIO") != 0)
		document_problem(d, at, "expected exactly one of AUDIO, TEXT");
	return false;
}

static char *document_live_read_vad(struct document *d, const struct place *at, const cJSON *vad)
{
	const cJSON *member;
	const char *expected;
	cJSON_ArrayForEach(member, vad) {
		if (!live_vad_fits(member->string, member, &expected))
			document_problem(d, PLACE_KEY(at, member->string), "expected %s", expected);
	}
	return vad ? json_print(vad) : NULL;
}

struct spot {
	struct document *document;
	const struct place *at;
};

static void document_live_report(const char *key, const char *text, void *arg)
{
	const struct spot *spot = arg;
	document_problem(spot->document, PLACE_KEY(spot->at, key), "%s", text);
}

/* What only providers have that are reached over the network. */
static struct realtime_settings *document_live_read_settings(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	static const char *const keys[] = {"base_url", "api_key_env", "extra"};
	const struct realtime_reporter reporter = {document_live_report, &(struct spot){d, at}};
	if (live_provider(name) == &realtime_provider) {
		struct realtime_settings *settings = realtime_settings_new(name, item, &reporter);
		ag_graph_on_free(d->graph, realtime_settings_free, settings);
		if (settings && realtime_settings_lack(settings))
			document_warning(d, at,
			    "no session can be had: expected the environment "
			    "variable %s, for the key, to be set",
			    realtime_settings_lack(settings));
		return settings;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (json_opt(item, keys[i]))
			document_problem(
			    d, PLACE_KEY(at, keys[i]), "provider '%s' has no such setting", name);
	}
	return NULL;
}

static void document_live_check_tools(struct document *d, const struct place *at, const char *name)
{
	const char *kind = name ? json_str(json_get(d->nodes, name), "kind") : NULL;
	if (name && (!kind || strcmp(kind, "tools") != 0))
		document_problem(d, at, "expected the name of a tools node, '%s' is none", name);
}

void document_live(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	size_t errors = d->graph->problems.errors;
	const cJSON *modalities = json_get(item, "modalities");
	const char **tags = document_live_read_tags(
	    d, PLACE_KEY(at, "tools_tags"), document_array(item, "tools_tags"));
	char *vad = document_live_read_vad(d, PLACE_KEY(at, "vad"), document_object(item, "vad"));
	const char *provider = json_str(item, "provider");
	const struct ag_live live = {
	    .kind = AG_LIVE,
	    .provider = read_provider(d, PLACE_KEY(at, "provider"), provider),
	    .data = provider ? document_live_read_settings(d, at, provider, item) : NULL,
	    .model = json_str(item, "model"),
	    .voice = json_str(item, "voice"),
	    .system_prompt = json_str(item, "system_prompt"),
	    .text = document_live_read_modalities(d, PLACE_KEY(at, "modalities"), modalities),
	    .tools = json_str(item, "tools"),
	    .tools_tags = tags,
	    .vad = vad,
	};
	document_live_check_tools(d, PLACE_KEY(at, "tools"), live.tools);
	if (d->graph->problems.errors == errors && live.provider)
		ag_graph_live(d->graph, name, &live);
	cJSON_free(vad);
	free(tags);
}

bool document_is_live_tools(const struct document *d, const char *name)
{
	const cJSON *node;
	cJSON_ArrayForEach(node, d->nodes) {
		const char *kind = json_str(node, "kind"), *tools = json_str(node, "tools");
		if (kind && tools && strcmp(kind, "live") == 0 && strcmp(tools, name) == 0)
			return true;
	}
	return false;
}
