/* SPDX-License-Identifier: ISC */
/* Reading the frame's members: thread, model, modalities, voice activity, tags, tools. */
#include "service/live/live_parts.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/texts.h"
#include "service/thread/ident.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool live_config_invalid(struct call *call, const char *field, const char *expected)
{
	return error_set(&call->error, ERR_VALIDATION, "%s must be %s", field, expected);
}

/* ---- modalities */

static bool live_config_is_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	while (isspace((unsigned char)*text))
		text++;
	if (strncasecmp(text, word, len) != 0)
		return false;
	text += len;
	while (isspace((unsigned char)*text))
		text++;
	return !*text;
}

static bool live_config_read_modalities(
    struct call *call, const cJSON *frame, struct live_config *config)
{
	const cJSON *item = json_opt(frame, "modalities");
	if (!item)
		return true;
	if (cJSON_IsArray(item))
		item = item->child && !item->child->next ? item->child : NULL;
	const char *word = cJSON_GetStringValue(item);
	if (!word || (!live_config_is_word(word, "AUDIO") && !live_config_is_word(word, "TEXT")))
		return live_config_invalid(call, "modalities", "exactly one of AUDIO, TEXT");
	config->text = live_config_is_word(word, "TEXT");
	return true;
}

/* ---- voice activity */

static bool live_config_read_vad(struct call *call, const cJSON *frame,
    const struct live_agent *agent, struct live_config *config)
{
	const cJSON *asked = json_opt(frame, "vad"), *member;
	const char *expected;
	cJSON *vad = arena_json(call->arena, cJSON_Duplicate(agent->vad, true));
	config->vad = vad;
	if (asked && !cJSON_IsObject(asked))
		return live_config_invalid(call, "vad", "an object");
	cJSON_ArrayForEach(member, asked) {
		if (cJSON_IsNull(member))
			continue;
		if (!live_vad_fits(member->string, member, &expected))
			return live_config_invalid(
			    call, arena_printf(call->arena, "vad.%s", member->string), expected);
		if (expected)
			json_set(vad, member->string, cJSON_Duplicate(member, true));
	}
	return true;
}

/* ---- tools */

/* The agent's own tags: what it says, or else whatever its tools have. */
static bool live_config_has_tag(const struct live_agent *agent, const char *tag)
{
	if (agent->tags)
		return texts_has(agent->tags, tag);
	for (size_t i = 0; agent->tools && i < agent->tools->tool_count; i++) {
		if (texts_has(agent->tools->tools[i].tags, tag))
			return true;
	}
	return false;
}

/* The tags that are asked for and that the agent has, ended by NULL; the agent's own when that
 * leaves none.  False with the error set. */
static bool live_config_read_tags(
    struct call *call, const cJSON *frame, const struct live_agent *agent, const char *const **tags)
{
	const cJSON *asked = json_opt(frame, "tools_tags"), *item;
	const cJSON *first = cJSON_IsArray(asked) ? asked->child : asked;
	size_t count = 0, size = cJSON_IsArray(asked) ? (size_t)cJSON_GetArraySize(asked) : 1;
	const char **kept = arena_alloc(call->arena, (size + 1) * sizeof(*kept));
	if (asked && !cJSON_IsArray(asked) && !cJSON_IsString(asked))
		return live_config_invalid(call, "tools_tags", "a string or an array of strings");
	for (item = first; item; item = item->next) {
		if (!cJSON_IsString(item))
			return live_config_invalid(
			    call, "tools_tags", "a string or an array of strings");
		if (live_config_has_tag(agent, item->valuestring))
			kept[count++] = item->valuestring;
		if (!cJSON_IsArray(asked))
			break; /* the items that follow are other members of the frame */
	}
	*tags = count ? kept : agent->tags;
	return true;
}

static bool live_config_is_offered(const struct tool *tool, const char *const *tags)
{
	if (!tool->fn)
		return false; /* a client's tool: this socket has no frame for its result */
	for (size_t i = 0; tags && tool->tags && tool->tags[i]; i++) {
		if (texts_has(tags, tool->tags[i]))
			return true;
	}
	return !tags;
}

static bool live_config_read_tools(struct call *call, const cJSON *frame,
    const struct live_agent *agent, struct live_config *config)
{
	const char *const *tags = NULL;
	cJSON *tools = arena_json(call->arena, cJSON_CreateArray());
	config->tools = tools;
	if (!live_config_read_tags(call, frame, agent, &tags))
		return false;
	for (size_t i = 0; agent->tools && i < agent->tools->tool_count; i++) {
		const struct tool *tool = &agent->tools->tools[i];
		if (!live_config_is_offered(tool, tags))
			continue;
		cJSON *item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "name", tool->name);
		cJSON_AddStringToObject(item, "description", tool->description);
		cJSON_AddItemToObject(item, "parameters", cJSON_Duplicate(tool->parameters, true));
		cJSON_AddItemToArray(tools, item);
	}
	return true;
}

const struct tool *live_config_tool(
    const struct live_config *config, const struct live_agent *agent, const char *name)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, config->tools) {
		if (strcmp(json_str(item, "name"), name) == 0)
			return graph_tool_get(agent->tools, name);
	}
	return NULL;
}

/* ---- the frame */

static const struct field_row frame_rows[] = {
    {.key = "model", .types = TYPE_STRING, .offset = FIELD_NOWHERE}, /* live_config_read */
    FIELD(live_config, voice, .kind = &field_text),
    FIELD(live_config, system_prompt, .kind = &field_text),
    FIELDS_END,
};

static void live_config_report(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	(void)fault;
	(void)found;
	char *expected = field_expected(f);
	live_config_invalid(reader->where, path, expected);
	free(expected);
}

enum live_init live_config_read(
    struct call *call, const char *text, size_t len, struct live_config *config)
{
	const struct live_agent *agent = call->service->graph->live->live;
	size_t values = call->values; /* in each frame */
	cJSON *frame = arena_json(
	    call->arena, json_parse_within(text, len, JSON_REQUEST_DEPTH, &values, NULL));
	*config = (struct live_config){.model = agent->model,
	    .voice = agent->voice,
	    .system_prompt = agent->system_prompt,
	    .text = agent->text};
	if (!cJSON_IsObject(frame))
		return LIVE_INIT_NO_OBJECT;
	const struct field_reader reader = {.report = live_config_report, .where = call};
	const char *id = NULL;
	bool ok = thread_id_read(call, "body.thread_id", json_opt(frame, "thread_id"), &id);
	if (ok && id && !id_blank(id) && strcmp(id, "new") != 0) {
		config->thread_id = id;
		ok = thread_id_check(call, "body.thread_id", id);
	}
	ok = ok && fields_read(&reader, frame, frame_rows, config) &&
	    live_config_read_modalities(call, frame, config) &&
	    live_config_read_vad(call, frame, agent, config) &&
	    live_config_read_tools(call, frame, agent, config);
	const struct string_list *models = &call->service->config->websocket.realtime_models;
	const char *asked = json_str(frame, "model");
	size_t i = 0;
	while (asked && i < models->count && strcmp(models->items[i], asked) != 0)
		i++;
	if (asked && i < models->count)
		config->model = asked;
	else if (asked)
		log_info("model '%.80s' is not in websocket.realtime_models: ignored", asked);
	return ok ? LIVE_INIT_OK : LIVE_INIT_INVALID;
}
