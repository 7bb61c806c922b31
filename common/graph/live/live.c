/* SPDX-License-Identifier: ISC */
/* The live calls of agentgraph.h, and the check of a graph that has a live agent. */
#include "graph/live/live.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "base/utf8.h"
#include "model/realtime/realtime.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Providers by name */

static const struct {
	const char *name;
	const struct ag_live_provider *provider;
} providers[] = {
    {"demo", &live_demo_provider}, {"gemini", &realtime_provider}, {"openai", &realtime_provider}};

#define PROVIDER_COUNT (sizeof(providers) / sizeof(providers[0]))

const struct ag_live_provider *live_provider(const char *name)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		if (strcmp(providers[i].name, name) == 0)
			return providers[i].provider;
	}
	return NULL;
}

const char *live_provider_names(void)
{
	static char names[200]; /* filled while a graph is built, by one thread */
	names[0] = '\0';
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		strncat(names, i ? ", " : "", sizeof(names) - strlen(names) - 1);
		strncat(names, providers[i].name, sizeof(names) - strlen(names) - 1);
	}
	return names;
}

/* ---- Building */

void live_agent_free(struct live_agent *agent)
{
	if (!agent)
		return;
	free(agent->model);
	free(agent->voice);
	free(agent->system_prompt);
	free(agent->tools_name);
	texts_free(agent->tags);
	cJSON_Delete(agent->vad);
	free(agent);
}

bool live_vad_fits(const char *name, const cJSON *value, const char **expected)
{
	int64_t ms;
	if (strcmp(name, "enabled") == 0) {
		*expected = "true or false";
		return cJSON_IsBool(value);
	}
	if (strcmp(name, "start_sensitivity") == 0 || strcmp(name, "end_sensitivity") == 0) {
		*expected = "a string or a number";
		return cJSON_IsString(value) || json_is_number(value);
	}
	if (strcmp(name, "prefix_padding_ms") == 0 || strcmp(name, "silence_duration_ms") == 0) {
		*expected = "an integer from 0 to 60000";
		return json_integer(value, &ms) && ms >= 0 && ms <= 60000;
	}
	*expected = NULL;
	return true;
}

static void graph_live_problem(ag_graph *graph, const char *name, const char *expected)
{
	problems_add(
	    &graph->problems, "%s: live agent '%s': expected %s", graph->name, name, expected);
}

static cJSON *graph_live_read_vad(ag_graph *graph, const char *name, const char *text)
{
	cJSON *vad =
	    text ? json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL) : cJSON_CreateObject();
	const cJSON *member;
	const char *expected;
	if (!cJSON_IsObject(vad)) {
		graph_live_problem(graph, name, "vad to be a JSON object");
		cJSON_Delete(vad);
		return cJSON_CreateObject();
	}
	cJSON_ArrayForEach(member, vad) {
		if (!live_vad_fits(member->string, member, &expected))
			problems_add(&graph->problems, "%s: live agent '%s': vad.%s: expected %s",
			    graph->name, name, member->string, expected);
	}
	return vad;
}

struct live_agent *live_agent_new(ag_graph *graph, const char *name, const struct ag_live *live)
{
	struct live_agent *agent = xcalloc(1, sizeof(*agent));
	if (!live || live->kind != AG_LIVE) {
		graph_live_problem(graph, name, "a struct ag_live of this version");
		return agent;
	}
	const struct ag_live_provider *p = live->provider;
	if (!p || p->kind != AG_LIVE_PROVIDER || !p->open || !p->close || !p->takes || !p->audio ||
	    !p->text || !p->activity || !p->tool_result || !p->finish || !p->descriptor || !p->step)
		graph_live_problem(
		    graph, name, "a provider of this version with all its functions");
	agent->provider = p;
	agent->data = live->data;
	agent->model = xstrdup(live->model);
	agent->voice = xstrdup(live->voice);
	agent->system_prompt = xstrdup(live->system_prompt);
	agent->text = live->text;
	agent->tools_name = xstrdup(live->tools);
	agent->tags = texts_copy(live->tools_tags);
	agent->vad = graph_live_read_vad(graph, name, live->vad);
	return agent;
}

/* ---- Compiling */

/* Reports all that the engine would have to run: it has no place beside a live agent. */
static void graph_live_check_others(ag_graph *graph, const struct node *live)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		if (node == live || node->is_tools)
			continue;
		if (node->live)
			graph_live_problem(
			    graph, node->name, "no second one: a graph has one at most");
		else
			problems_add(&graph->problems,
			    "%s: node '%s': expected only tools nodes beside the live agent '%s'",
			    graph->name, node->name, live->name);
	}
}

void live_compile(ag_graph *graph)
{
	for (size_t i = 0; i < graph->node_count && !graph->live; i++) {
		if (graph->nodes[i].live)
			graph->live = &graph->nodes[i];
	}
	const struct node *live = graph->live;
	const struct edge *start = graph->start;
	if (!live)
		return;
	struct live_agent *agent = live->live;
	int i = agent->tools_name ? graph_node_index(graph, agent->tools_name) : GRAPH_UNSET;
	if (i >= 0 && graph->nodes[i].is_tools)
		agent->tools = &graph->nodes[i];
	if (agent->tools && (agent->tools->approve_all || agent->tools->approve))
		problems_add(&graph->problems,
		    "%s: live agent '%s': expected tools without 'approval', '%s' has it: a live "
		    "conversation cannot pause",
		    graph->name, live->name, agent->tools_name);
	if (!agent->tools && agent->tools_name)
		problems_add(&graph->problems,
		    "%s: live agent '%s': expected tools to be a tools node, '%s' is none",
		    graph->name, live->name, agent->tools_name);
	graph_live_check_others(graph, live);
	if (start && (start->fn || strcmp(start->names[0], live->name) != 0))
		graph_live_problem(
		    graph, live->name, "the edge from START to lead to it, and nowhere else");
	if (live->interrupt_before || live->interrupt_after)
		graph_live_problem(
		    graph, live->name, "no interrupt: a conversation does not pause");
}

/* ---- Reporting */

static void graph_live_tell(ag_live_session *session, enum live_event_kind kind)
{
	const struct live_event event = {.kind = kind};
	session->event(session, &event);
}

/* A copy of a text from elsewhere, made valid UTF-8. */
static char *graph_live_clean(const char *text)
{
	char *copy = xstrdup(text);
	if (copy)
		utf8_repair(copy);
	return copy;
}

static void graph_live_tell_text(
    ag_live_session *session, enum live_event_kind kind, const char *text, bool flag)
{
	char *copy = graph_live_clean(text);
	const struct live_event event = {.kind = kind, .text = copy, .flag = flag};
	session->event(session, &event);
	free(copy);
}

void ag_live_ready(ag_live_session *session)
{
	graph_live_tell(session, LIVE_READY);
}

void ag_live_audio(ag_live_session *session, const void *pcm, size_t bytes)
{
	const struct live_event event = {
	    .kind = LIVE_AUDIO, .pcm = pcm, .bytes = bytes & ~(size_t)1};
	if (event.bytes)
		session->event(session, &event);
}

void ag_live_input_transcript(ag_live_session *session, const char *text, bool finished)
{
	graph_live_tell_text(session, LIVE_INPUT_TRANSCRIPT, text, finished);
}

void ag_live_output_transcript(ag_live_session *session, const char *text, bool finished)
{
	graph_live_tell_text(session, LIVE_OUTPUT_TRANSCRIPT, text, finished);
}

void ag_live_tool_call(ag_live_session *session, const char *id, const char *name, cJSON *args)
{
	char *call_id = graph_live_clean(id ? id : ""), *tool = graph_live_clean(name ? name : "");
	args = json_adopt(args);
	if (!cJSON_IsObject(args)) { /* a model's may be anything; tools get objects */
		cJSON_Delete(args);
		args = cJSON_CreateObject();
	}
	const struct live_event event = {
	    .kind = LIVE_TOOL_CALL, .id = call_id, .text = tool, .args = args};
	session->event(session, &event);
	free(call_id);
	free(tool);
}

void ag_live_turn_complete(ag_live_session *session)
{
	graph_live_tell(session, LIVE_TURN_COMPLETE);
}

void ag_live_interrupted(ag_live_session *session)
{
	graph_live_tell(session, LIVE_INTERRUPTED);
}

void ag_live_session_update(ag_live_session *session, const char *handle)
{
	graph_live_tell_text(session, LIVE_SESSION_UPDATE, handle, false);
}

void ag_live_go_away(ag_live_session *session, double seconds)
{
	const struct live_event event = {.kind = LIVE_GO_AWAY, .seconds = seconds};
	session->event(session, &event);
}

void ag_live_agent_changed(ag_live_session *session, const char *author)
{
	graph_live_tell_text(session, LIVE_AGENT_CHANGED, author ? author : "", false);
}

void ag_live_error(ag_live_session *session, const char *code, bool fatal, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args), *id = graph_live_clean(code);
	va_end(args);
	utf8_repair(text);
	const struct live_event event = {.kind = LIVE_ERROR, .text = text, .id = id, .flag = fatal};
	session->event(session, &event);
	free(text);
	free(id);
}

void ag_live_lost(ag_live_session *session, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	graph_live_tell_text(session, LIVE_LOST, text, false);
	free(text);
}

void ag_live_ended(ag_live_session *session)
{
	graph_live_tell(session, LIVE_ENDED);
}
