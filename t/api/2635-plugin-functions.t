#!/bin/sh
# SPDX-License-Identifier: ISC
# What a plug-in can ask and build: branches and maps in C, steps and times, answers, memories, files, who calls.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/files.sh"

cat >able.c <<'C'
#include <agentgraph.h>
#include <stdlib.h>
#include <string.h>

AG_PLUGIN;

static ag_result store(ag_run *run)
{
	const cJSON *answer;
	int listed, gone;
	for (int i = 0; i < 2; i++) {
		cJSON *body = cJSON_CreateObject();
		cJSON_AddStringToObject(body, "content", i ? "tea" : "coffee");
		if (ag_store_put(run, body, &answer) != AG_OK)
			return AG_ERROR;
	}
	if (ag_store_list(run, NULL, &answer) != AG_OK)
		return AG_ERROR;
	listed = cJSON_GetArraySize(cJSON_GetObjectItem(answer, "memories"));
	if (ag_store_forget(run, NULL, &answer) != AG_OK)
		return AG_ERROR;
	gone = cJSON_GetObjectItem(cJSON_GetObjectItem(answer, "data"), "deleted_count")->valueint;
	return ag_say(run, "%d listed, %d gone", listed, gone);
}

static ag_result ask(ag_run *run)
{
	const cJSON *answers = ag_answers(run), *first, *second;
	int before = answers ? cJSON_GetArraySize(answers) : -1;
	if (ag_interrupt(run, "one", NULL, &first) != AG_OK || ag_interrupt(run, "two", NULL, &second) != AG_OK)
		return AG_PAUSE;
	return ag_say(run, "%d answers, %s and %s", before, first->valuestring, second->valuestring);
}

static ag_result file(ag_run *run, const ag_state *state)
{
	const cJSON *block = cJSON_GetObjectItem(ag_last_message(state), "content")->child;
	char *text = ag_media_text(run, block->next);
	ag_result result = ag_say(run, "it says %s", text ? text : "nothing");
	free(text);
	return result;
}

static ag_result look(ag_run *run, const ag_state *state, void *data)
{
	const char *what = ag_user_text(state);
	int64_t left = ag_time_left_ms(run);
	char *fields;
	(void)data;
	if (strcmp(what, "store") == 0)
		return store(run);
	if (strcmp(what, "ask") == 0)
		return ask(run);
	if (strcmp(what, "file") == 0)
		return file(run, state);
	fields = cJSON_PrintUnformatted(ag_fields(state));
	ag_say(run, "step %d, attempt %u, %s, %s", ag_step(run), ag_attempt(run),
	    left > 0 && left <= 5000 ? "in time" : "no time", fields);
	free(fields);
	return AG_OK;
}

static ag_result branch(ag_run *run, const ag_state *state, void *data)
{
	(void)state, (void)data;
	return ag_update(run, "order", cJSON_CreateString(ag_node_name(run)));
}

static ag_result each(ag_run *run, const ag_state *state, void *data)
{
	const cJSON *config = ag_config(run);
	double item = cJSON_GetObjectItem(config, "item")->valuedouble;
	double index = cJSON_GetObjectItem(config, "index")->valuedouble;
	(void)state, (void)data;
	return ag_update(run, "found", cJSON_CreateNumber(10 * item + index));
}

static ag_result end(ag_run *run, const ag_state *state, void *data)
{
	(void)state, (void)data;
	return ag_say(run, "the end");
}

int able(ag_graph *graph)
{
	static const char *const targets[] = {"b", "a", NULL};
	ag_graph_field(graph, "items", "array", AG_REPLACE, "[3,1,2]", NULL);
	ag_graph_field(graph, "order", "array", AG_APPEND, NULL, NULL);
	ag_graph_field(graph, "found", "array", AG_APPEND, NULL, NULL);
	ag_graph_node(graph, "look", look, NULL);
	ag_graph_node(graph, "a", branch, NULL);
	ag_graph_node(graph, "b", branch, NULL);
	ag_graph_node(graph, "mid", branch, NULL);
	ag_graph_node(graph, "each", each, NULL);
	ag_graph_node(graph, "end", end, NULL);
	ag_graph_edge(graph, AG_START, "look");
	ag_graph_branches(graph, "look", targets, "mid");
	ag_graph_edge(graph, "a", "mid");
	ag_graph_edge(graph, "b", "mid");
	ag_graph_map(graph, "mid", "items", "each", "end", 2);
	ag_graph_edge(graph, "each", "end");
	ag_graph_edge(graph, "end", AG_END);
	ag_graph_interrupt_after(graph, "mid");
	return 0;
}

static ag_result authenticate(ag_request *request, void *data)
{
	(void)data;
	return ag_refuse(request, 403, "%s %s %s %s", ag_request_method(request), ag_request_path(request),
	    ag_request_address(request), ag_request_is_websocket(request) ? "upgrades" : "asks");
}

const struct ag_auth auth = {.kind = AG_AUTH, .authenticate = authenticate};
C
# shellcheck disable=SC2046,SC2086
env -u MAKEFLAGS -u MAKELEVEL ${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" $(pkg-config --cflags libcjson) \
	-shared -fPIC -o able.so able.c -lcjson
ok $? 'the plug-in is built'
echo '{"agent":"able.so:able","store":"builtin:store"}' >agentgraph.json

full='"response_granularity":"full"'
invoke hello "$(thread t '"node_timeout":5'),$full"
facts <<'TABLE'
a node is told its step, attempt, time and fields :: said[-1] == "step 1, attempt 1, in time, {\"items\":[3,1,2],\"order\":[],\"found\":[]}"
a run pauses after the node that says so :: .data.meta.interrupt | [.node, .reason] == ["mid", "interrupt_after"]
branches enter in the order of targets :: .data.state.order == ["b", "a", "mid"]
TABLE
resume null t "$full"
facts <<'TABLE'
a map calls its node for each element :: .data.state.found == [30, 11, 22]
and goes on at the join :: said == ["the end"]
TABLE
api GET /v1/graph
facts <<'TABLE'
the graph shows both :: [.data.edges[] | select(.join) | [.source, .target, .join, .map, .limit]] == [["look", "b", "mid", null, null], ["look", "a", "mid", null, null], ["mid", "each", "end", "items", 2]]
and where it pauses :: .data.info.interrupt_after == ["mid"]
TABLE

invoke ask "$(thread q)"
facts <<'TABLE'
a node asks :: .data.meta.interrupt.reason == "one"
TABLE
resume '"x"' q
facts <<'TABLE'
twice :: .data.meta.interrupt.reason == "two"
TABLE
resume '"y"' q
facts <<'TABLE'
and sees its answers :: said[-1] == "2 answers, x and y"
TABLE
invoke store
facts <<'TABLE'
it lists and forgets memories :: said[-1] == "2 listed, 2 gone"
TABLE
upload a.txt text/plain 'some words'
api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"file\"},{\"type\":\"document\",\"file_id\":\"$FILE\"}]}]}"
facts <<'TABLE'
and reads the text of a file :: said[-1] == "it says some words"
TABLE
serve_stop

echo '{"agent":"able.so:able","auth":{"method":"custom","path":"able.so:auth"}}' >agentgraph.json
api_start
api POST '/v1/graph/invoke?x=1' "$(run_body "[$(user hello)]")"
is "$(json '"\(.error_code) \(.detail)"' "$BODY")" 'AUTHENTICATION_FAILED POST /v1/graph/invoke 127.0.0.1 asks' \
	'an authentication is told who asks for what'
api GET /v1/graph/ws '' 'Upgrade: websocket' 'Connection: Upgrade' 'Sec-WebSocket-Version: 13' \
	'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
is "$(json .detail "$BODY")" 'GET /v1/graph/ws 127.0.0.1 upgrades' 'and of an upgrade'

done_testing
