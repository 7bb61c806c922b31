/* SPDX-License-Identifier: ISC */
/*
 * A thermometer: converts degrees Celsius to Fahrenheit.
 *
 *     START → agent → tools → agent → END
 *
 * The node agent does what a model would: it asks for the tool, and says what came back.  The
 * state field readings counts the conversions on a thread.
 */
#include <agentgraph.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

AG_PLUGIN;

/* The tool.  If it fails the model sees the error, and the run goes on. */
static ag_result fahrenheit(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)data;
	double celsius = ag_number(cJSON_GetObjectItemCaseSensitive(args, "celsius"));
	if (isnan(celsius))
		return ag_fail(run, "celsius must be a number");
	if (celsius < -273.15)
		return ag_fail(run, "%g is below absolute zero", celsius);
	*output = cJSON_CreateNumber(celsius * 9 / 5 + 32);
	return AG_OK;
}

/* An assistant message with one tool call. */
static ag_result ask_for_tool(ag_run *run, double celsius)
{
	cJSON *message = cJSON_CreateObject();
	cJSON_AddStringToObject(message, "role", "assistant");
	cJSON *call = cJSON_CreateObject();
	cJSON_AddItemToArray(cJSON_AddArrayToObject(message, "content"), call);
	cJSON_AddStringToObject(call, "type", "tool_call");
	cJSON_AddStringToObject(call, "id", ag_run_id(run));
	cJSON_AddStringToObject(call, "name", "fahrenheit");
	cJSON *args = cJSON_AddObjectToObject(call, "args");
	cJSON_AddNumberToObject(args, "celsius", celsius);
	return ag_message(run, message);
}

static ag_result report(ag_run *run, const ag_state *state, const cJSON *result)
{
	const cJSON *output = cJSON_GetObjectItemCaseSensitive(result, "output");
	if (cJSON_IsString(output))
		return ag_say(run, "That went wrong: %s.", output->valuestring);
	ag_update(run, "readings", cJSON_CreateNumber(1));
	return ag_say(run, "%g °F. Readings so far: %g.", ag_number(output),
	    ag_number(ag_field(state, "readings")) + 1);
}

static bool is_from_tool(const cJSON *message)
{
	const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "role"));
	return role && strcmp(role, "tool") == 0;
}

static ag_result agent(ag_run *run, const ag_state *state, void *data)
{
	(void)data;
	const cJSON *last = ag_last_message(state);
	if (is_from_tool(last)) {
		const cJSON *content = cJSON_GetObjectItemCaseSensitive(last, "content");
		return report(run, state, cJSON_GetArrayItem(content, 0));
	}
	const char *text = ag_user_text(state);
	char *end;
	double celsius = strtod(text, &end);
	if (end == text || !isfinite(celsius))
		return ag_say(run, "Give me a number of degrees Celsius.");
	return ask_for_tool(run, celsius);
}

/* The conditional edge: leads to the tools if the last message asks for one. */
static const char *after_agent(const ag_state *state, void *data)
{
	(void)data;
	const cJSON *calls =
	    cJSON_GetObjectItemCaseSensitive(ag_last_message(state), "tools_calls");
	return cJSON_IsArray(calls) ? "tools" : AG_END;
}

ag_graph_fn assistant;

int assistant(ag_graph *graph)
{
	ag_graph_state_type(graph, "ThermometerState");
	ag_graph_field(graph, "readings", "integer", AG_ADD, NULL, "Conversions so far.");
	ag_graph_node(graph, "agent", agent, NULL);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "fahrenheit", "Converts degrees Celsius to Fahrenheit.",
	    "{\"type\": \"object\", \"properties\": {\"celsius\": {\"type\": \"number\"}}, "
	    "\"required\": [\"celsius\"]}",
	    fahrenheit, NULL);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_branch(graph, "agent", after_agent, NULL, (const char *[]){"tools", AG_END, NULL});
	ag_graph_edge(graph, "tools", "agent");
	return 0;
}
