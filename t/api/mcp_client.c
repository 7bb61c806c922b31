/* SPDX-License-Identifier: ISC */
/*
 * Drives the MCP client against one server.
 *
 *     mcp_client TIMEOUT-MS [CALL...] -- COMMAND [ARGUMENT...]
 *     mcp_client TIMEOUT-MS [CALL...] URL
 *
 * Without a CALL it lists the tools, a name a line.  A CALL is "NAME" or "NAME JSON"; "@list"
 * lists,
 * "@sleep MS" waits, "@wanted" makes the calls of the conformance suite's context, or all, "@all"
 * calls every tool without arguments it does not need, "@many N NAME JSON" makes N calls at once,
 * "@beside NAME JSON" makes one beside those that follow, "@time MS" is the time of those, "@await
 * FILE" waits for a file.
 * Each result is one line: "ok JSON", "error JSON" or "failed WHY".
 */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "tool/mcp/mcp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mcp_wait wait_from_now(int64_t ms)
{
	return (struct mcp_wait){.deadline_ms = clock_monotonic_ms() + ms};
}

static void print_result(bool ok, cJSON *output, const char *why)
{
	char *text = output ? json_print(output) : NULL;
	printf("%s %s\n", ok ? "ok" : output ? "error" : "failed", text ? text : why);
	fflush(stdout);
	free(text);
	cJSON_Delete(output);
}

/* Accepts with the defaults, as nobody is there to be asked. */
static bool answer_question(const cJSON *question, cJSON **answer, void *arg)
{
	const cJSON *property;
	(void)arg;
	*answer = cJSON_CreateObject();
	json_add_str(*answer, "action", "accept");
	cJSON *content = cJSON_AddObjectToObject(*answer, "content");
	cJSON_ArrayForEach(
	    property, json_get(json_get(question, "requestedSchema"), "properties")) {
		const cJSON *value = json_opt(property, "default");
		const char *type = json_str(property, "type");
		bool boolean = type && strcmp(type, "boolean") == 0;
		cJSON_AddItemToObject(content, property->string,
		    value         ? cJSON_Duplicate(value, true)
			: boolean ? cJSON_CreateTrue()
				  : cJSON_CreateString("x"));
	}
	return true;
}

static void call(struct mcp_server *server, int64_t ms, const char *name, const char *json)
{
	const struct mcp_wait wait = wait_from_now(ms);
	char why[MCP_WHY_SIZE];
	cJSON *args = json_parse(json, strlen(json), JSON_REQUEST_DEPTH, NULL), *output;
	const struct mcp_call call = {
	    .tool = name, .args = args, .wait = &wait, .ask = answer_question};
	bool ok = mcp_server_call(server, &call, &output, why);
	print_result(ok, output, why);
	cJSON_Delete(args);
}

static struct mcp_tools *tools_of(struct mcp_server *server, int64_t ms)
{
	const struct mcp_wait wait = wait_from_now(ms);
	char why[MCP_WHY_SIZE];
	struct mcp_tools *tools = mcp_server_tools(server, &wait, why);
	if (!tools)
		printf("failed %s\n", why);
	return tools;
}

static void list(struct mcp_server *server, int64_t ms)
{
	struct mcp_tools *tools = tools_of(server, ms);
	for (size_t i = 0; tools && i < tools->count; i++)
		puts(tools->items[i].name);
	fflush(stdout);
	mcp_tools_release(tools);
}

/* Arguments of the types that the schema asks for. */
static cJSON *made_up(const cJSON *parameters)
{
	cJSON *args = cJSON_CreateObject();
	const cJSON *property;
	cJSON_ArrayForEach(property, json_get(parameters, "properties")) {
		const char *type = json_str(property, "type");
		if (type && (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0))
			cJSON_AddNumberToObject(args, property->string, 5);
		else
			cJSON_AddStringToObject(args, property->string, "x");
	}
	return args;
}

static void call_all(struct mcp_server *server, int64_t ms)
{
	struct mcp_tools *tools = tools_of(server, ms);
	for (size_t i = 0; tools && i < tools->count; i++) {
		cJSON *args = made_up(tools->items[i].parameters);
		char *json = json_print(args);
		call(server, ms, tools->items[i].name, json);
		free(json);
		cJSON_Delete(args);
	}
	mcp_tools_release(tools);
}

struct one_of_many {
	struct mcp_server *server;
	int64_t ms;
	const char *name, *json;
	pthread_t thread;
};

static void *run_one(void *arg)
{
	struct one_of_many *one = arg;
	call(one->server, one->ms, one->name, one->json);
	return NULL;
}

static void call_many(struct mcp_server *server, int64_t ms, char *words)
{
	size_t count = strtoul(strsep(&words, " "), NULL, 10);
	const char *name = strsep(&words, " ");
	struct one_of_many *all = xcalloc(count, sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		all[i] = (struct one_of_many){server, ms, name, words ? words : "{}", 0};
		pthread_create(&all[i].thread, NULL, run_one, &all[i]);
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(all[i].thread, NULL);
	free(all);
}

/* Starts a call, to be joined. */
static struct one_of_many *call_beside(struct mcp_server *server, int64_t ms, char *words)
{
	struct one_of_many *one = xcalloc(1, sizeof(*one));
	*one = (struct one_of_many){.server = server, .ms = ms, .name = strsep(&words, " ")};
	one->json = words ? words : "{}";
	pthread_create(&one->thread, NULL, run_one, one);
	return one;
}

/* The calls that the conformance suite wants, or all. */
static void call_wanted(struct mcp_server *server, int64_t ms)
{
	const char *text = getenv("MCP_CONFORMANCE_CONTEXT");
	cJSON *context =
	    json_parse(text ? text : "", text ? strlen(text) : 0, JSON_REQUEST_DEPTH, NULL);
	const cJSON *wanted = json_get(context, "toolCalls"), *item;
	mcp_tools_release(tools_of(server, ms));
	if (!wanted)
		call_all(server, ms);
	cJSON_ArrayForEach(item, wanted) {
		char *json = json_print(json_get(item, "arguments"));
		call(server, ms, json_str(item, "name"), json);
		free(json);
	}
	cJSON_Delete(context);
}

static void act(struct mcp_server *server, int64_t ms, char *words)
{
	const char *name = strsep(&words, " ");
	if (strcmp(name, "@list") == 0)
		list(server, ms);
	else if (strcmp(name, "@sleep") == 0)
		clock_sleep_ms(strtol(words, NULL, 10));
	else if (strcmp(name, "@all") == 0)
		call_all(server, ms);
	else if (strcmp(name, "@wanted") == 0)
		call_wanted(server, ms);
	else if (strcmp(name, "@many") == 0)
		call_many(server, ms, words);
	else if (strcmp(name, "@await") == 0)
		while (access(words, F_OK) != 0)
			clock_sleep_ms(20);
	else
		call(server, ms, name, words ? words : "{}");
}

static void set_command(struct command *command, char **argv)
{
	size_t count = 0;
	while (argv[count])
		count++;
	command->argv = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++)
		command->argv[i] = xstrdup(argv[i]);
	command->path = process_find(argv[0], ".");
	command_pass_environment(command);
}

/* The client's secret, where the conformance suite gives one. */
static void set_oauth(struct mcp_oauth_settings *oauth)
{
	const char *text = getenv("MCP_CONFORMANCE_CONTEXT");
	cJSON *context =
	    json_parse(text ? text : "", text ? strlen(text) : 0, JSON_REQUEST_DEPTH, NULL);
	const char *secret = json_str(context, "client_secret");
	if (secret)
		*oauth = (struct mcp_oauth_settings){
		    .client_id = xstrdup(json_str(context, "client_id")),
		    .client_secret = xstrdup(secret),
		    .issuer = xstrdup(json_str(context, "issuer"))};
	cJSON_Delete(context);
}

int main(int argc, char **argv)
{
	struct mcp_settings settings = {0};
	int first = 2, last;
	memory_init();
	if (argc < 3)
		return 2;
	int64_t ms = strtol(argv[1], NULL, 10);
	settings.timeout_ms = ms;
	for (last = first; last < argc && strcmp(argv[last], "--") != 0;)
		last++;
	if (last < argc)
		set_command(&settings.command, &argv[last + 1]);
	else
		settings.url = xstrdup(argv[--last]);
	settings.name = xstrdup(settings.url ? settings.url : "server"); /* as documents do */
	if (settings.url)
		set_oauth(&settings.oauth);
	struct mcp_server *server = mcp_server_new(&settings);
	if (first == last)
		list(server, ms);
	struct one_of_many *beside = NULL; /* one at most */
	char *beside_words = NULL;
	for (; first < last; first++) {
		char *words = xstrdup(argv[first]);
		if (strncmp(words, "@time ", 6) == 0)
			ms = strtol(words + 6, NULL, 10);
		else if (!beside && strncmp(words, "@beside ", 8) == 0)
			beside = call_beside(server, ms, (beside_words = words) + 8);
		else
			act(server, ms, words);
		if (words != beside_words)
			free(words);
	}
	if (beside)
		pthread_join(beside->thread, NULL);
	free(beside);
	free(beside_words);
	mcp_server_free(server);
	http_close_kept();
	return 0;
}
