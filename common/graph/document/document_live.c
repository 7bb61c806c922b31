/* SPDX-License-Identifier: ISC */
/* Live agents in documents, and the names of tools. */
#include "base/json/json.h"
#include "base/texts.h"
#include "graph/document/document.h"
#include "graph/live/live.h"
#include "model/realtime/realtime.h"

#include <string.h>
#include <strings.h>

void document_tool_name(
    struct document *d, const struct place *at, const char *node, const char *name)
{
	int i = graph_node_index(d->graph, node);
	const struct node *tools = i >= 0 ? &d->graph->nodes[i] : NULL;
	if (!graph_name_valid(name))
		document_problem(d, at, "expected 1 to " GRAPH_NAME_LETTERS);
	else if (tools && graph_tool_get(tools, name))
		document_problem(d, at, "another tool of this node is called '%s'", name);
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

static void document_live_report(const char *key, const char *text, void *arg)
{
	const struct document_spot *spot = arg;
	document_problem(spot->document, PLACE_KEY(spot->at, key), "%s", text);
}

/* What only providers have that are reached over the network. */
static struct realtime_settings *document_live_read_settings(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	static const char *const keys[] = {"base_url", "api_key_env", "extra"};
	const struct realtime_reporter reporter = {
	    document_live_report, &(struct document_spot){d, at}};
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

/* What none of the providers understands is a mistake; a socket's first frame may have it. */
static void document_live_check_vad(struct document *d, const struct place *at, const cJSON *vad)
{
	const cJSON *member;
	const char *expected;
	cJSON_ArrayForEach(member, vad) {
		const struct place *place = PLACE_KEY(at, member->string);
		bool fits = live_vad_fits(member->string, member, &expected);
		if (!expected)
			document_problem(d, place,
			    "unknown key; expected one of enabled, start_sensitivity, "
			    "end_sensitivity, prefix_padding_ms, silence_duration_ms");
		else if (!fits)
			document_problem(d, place, "expected %s", expected);
		else if (strstr(member->string, "sensitivity") &&
		    realtime_sensitivity(vad, member->string) < 0)
			document_problem(d, place, "expected LOW, HIGH or a number from 0 to 1");
	}
}

struct live_object {
	struct ag_live live;
	const char *provider;
	const cJSON *modalities, *tools_tags, *vad;
};

#define TEXT(name) FIELD_AT(#name, live_object, live.name, .kind = &field_text)

DOCUMENT_SHAPE(live, DOCUMENT_KIND,
    FIELD(live_object, provider, .kind = &field_text, .required = true), TEXT(model), TEXT(voice),
    FIELD(live_object, modalities, .kind = &field_json, .types = TYPE_STRING | TYPE_ARRAY),
    TEXT(system_prompt), TEXT(tools), FIELD(live_object, tools_tags, FIELD_ARRAY),
    FIELD(live_object, vad, FIELD_OBJECT), FIELD_ONLY("base_url", .types = TYPE_STRING),
    FIELD_ONLY("api_key_env", .types = TYPE_STRING), FIELD_ONLY("extra", .types = TYPE_OBJECT));

void document_live(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct live_object given = {.live = {.kind = AG_LIVE}};
	struct ag_live *live = &given.live;
	document_read(d, at, item, &shape_live, &given);
	size_t errors = d->graph->problems.errors;
	if (given.provider) {
		live->provider = live_provider(given.provider);
		live->data = document_live_read_settings(d, at, given.provider, item);
		if (!live->provider)
			document_problem(d, PLACE_KEY(at, "provider"),
			    "expected one of %s, found '%s'", live_provider_names(),
			    given.provider);
	}
	live->text =
	    document_live_read_modalities(d, PLACE_KEY(at, "modalities"), given.modalities);
	document_live_check_vad(d, PLACE_KEY(at, "vad"), given.vad);
	if (live->tools && !json_str_is(json_get(d->nodes, live->tools), "kind", "tools"))
		document_problem(d, PLACE_KEY(at, "tools"),
		    "expected the name of a tools node, '%s' is none", live->tools);
	char *vad = given.vad ? json_print(given.vad) : NULL;
	live->tools_tags = document_names(d, PLACE_KEY(at, "tools_tags"), given.tools_tags);
	live->vad = vad;
	if (d->graph->problems.errors == errors && live->provider)
		ag_graph_live(d->graph, name, live);
	cJSON_free(vad);
	texts_free(live->tools_tags);
}

bool document_is_live_tools(const struct document *d, const char *name)
{
	const cJSON *node;
	cJSON_ArrayForEach(node, d->nodes) {
		if (json_str_is(node, "kind", "live") && json_str_is(node, "tools", name))
			return true;
	}
	return false;
}
