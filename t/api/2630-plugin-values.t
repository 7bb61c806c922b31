#!/bin/sh
# SPDX-License-Identifier: ISC
# What a careless plug-in may build: bytes that are not UTF-8, texts that are NULL, numbers at the limits of a double.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >careless.c <<'C'
#include <agentgraph.h>
#include <string.h>

AG_PLUGIN;

static const char *none; /* which the compiler cannot see through */

static ag_result nothing(ag_run *run, const ag_state *state)
{
	cJSON *answer;
	ag_delta(run, NULL);
	ag_reasoning_delta(run, NULL);
	ag_emit(run, NULL, NULL);
	ag_log(run, none);
	ag_fail(run, none);
	ag_say(run, none);
	return ag_say(run, "%p %d %d", (void *)ag_field(state, NULL), ag_remote_tool(run, NULL),
	    ag_chat(run, NULL, NULL, &answer));
}

static ag_result speak(ag_run *run, const ag_state *state, void *data)
{
	const char *what = ag_user_text(state);
	const cJSON *answer;
	(void)data;
	if (strcmp(what, "nothing") == 0)
		return nothing(run, state);
	ag_update(run, "seen", cJSON_CreateString("field \xe9"));
	ag_update(run, "number", cJSON_CreateNumber(9007199254740991.0));
	if (strcmp(what, "fail") == 0)
		return ag_fail(run, "bad \xe9");
	if (strcmp(what, "unnamed") == 0)
		return ag_update(run, NULL, cJSON_CreateString("lost"));
	if (strcmp(what, "ask") == 0)
		return ag_interrupt(run, "why \xe9", cJSON_CreateString("which \xe9"), &answer);
	if (strcmp(what, "store") == 0) {
		cJSON *body = cJSON_CreateObject();
		cJSON_AddStringToObject(body, "content", "kept \xe9");
		return ag_store_put(run, body, &answer) == AG_OK ? ag_say(run, "stored") : AG_ERROR;
	}
	if (strcmp(what, "delta") == 0) {
		cJSON *message = cJSON_CreateObject();
		ag_delta(run, "caf\xe9");
		cJSON_AddStringToObject(message, "role", "assistant");
		cJSON_AddStringToObject(message, "content", "caf\xe9");
		cJSON_AddNumberToObject(cJSON_AddObjectToObject(message, "metadata"), "\xe9", 0.1);
		return ag_message(run, message);
	}
	if (strcmp(what, "call") == 0 && strcmp(ag_node_name(run), "agent") == 0) {
		cJSON *message = cJSON_CreateObject();
		cJSON_AddStringToObject(message, "role", "assistant");
		cJSON_AddItemToObject(message, "content",
		    cJSON_Parse("[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"count\",\"args\":{}}]"));
		return ag_message(run, message);
	}
	return ag_say(run, "%s", "caf\xe9 \xc3\xa9 \xed\xa0\x80!");
}

static ag_result count(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)run, (void)args, (void)data;
	*output = cJSON_CreateObject();
	cJSON_AddNumberToObject(*output, "a", 9007199254740991.0);
	cJSON_AddNumberToObject(*output, "b", 4611686018427387904.0);
	cJSON_AddRawToObject(*output, "c", "9223372036854775807");
	cJSON_AddRawToObject(*output, "d", "{\"x\":[1]}");
	cJSON_AddRawToObject(*output, "e", "no json");
	cJSON_AddNumberToObject(*output, "f", 0.1);
	cJSON_AddStringToObject(*output, "g", "\xff");
	cJSON_AddNumberToObject(*output, "h", -123456789012345678.0);
	cJSON_AddNumberToObject(*output, "i", 1e300 * 1e300);
	return AG_OK;
}

static const char *route(const ag_state *state, void *data)
{
	(void)data;
	return strcmp(ag_user_text(state), "call") == 0 ? "tools" : AG_END;
}

int careless(ag_graph *graph)
{
	static const char *const targets[] = {"tools", AG_END, NULL};
	ag_graph_field(graph, "seen", "string", AG_REPLACE, NULL, "caf\xe9");
	ag_graph_field(graph, "number", "integer", AG_REPLACE, NULL, NULL);
	ag_graph_node(graph, "agent", speak, NULL);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "count", "counts \xe9", NULL, count, NULL);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_branch(graph, "agent", route, NULL, targets);
	ag_graph_edge(graph, "tools", AG_END);
	return 0;
}

static ag_result authenticate(ag_request *request, void *data)
{
	const char *key = ag_request_credential(request);
	cJSON *user = cJSON_CreateObject();
	(void)data;
	if (!key)
		return ag_let_in(request, user);
	if (strcmp(key, "odd") == 0)
		cJSON_AddNumberToObject(user, "user_id", 9007199254740991.0);
	else if (strcmp(key, "even") == 0)
		cJSON_AddNumberToObject(user, "user_id", 9007199254740990.0);
	else if (strcmp(key, "raw") == 0)
		cJSON_AddRawToObject(user, "user_id", "9223372036854775807");
	else
		cJSON_AddStringToObject(user, "user_id", "ann \xe9");
	cJSON_AddStringToObject(user, "name", "\xe9");
	return ag_let_in(request, user);
}

const struct ag_auth auth = {.kind = AG_AUTH, .authenticate = authenticate};
C
env -u MAKEFLAGS -u MAKELEVEL ${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o careless.so careless.c -lcjson
ok $? 'the plug-in is built'
echo '{"agent":"careless.so:careless","auth":{"method":"custom","path":"careless.so:auth"},"store":"builtin:store"}' >agentgraph.json

# as KEY METHOD PATH [BODY]
as() {
	api "$2" "$3" "${4-}" "Authorization: Bearer $1"
	printf '%s' "$BODY" | iconv -f utf-8 -t utf-8 >utf8 2>&1 || fail "$2 $3 answers UTF-8" || diag "$BODY"
}
say() { as odd POST "/v1/graph/${2-invoke}" "$(run_body "[$(user "$1")]" "\"response_granularity\":\"full\"")"; }

say hello
is "$STATUS" 200 'a run that says no UTF-8 goes well'
facts <<'TABLE'
each byte that is none is U+FFFD :: last | text == "caf\ufffd \u00e9 \ufffd\ufffd\ufffd!"
also in fields :: .data.state.seen == "field \ufffd"
TABLE
is "$(printf '%s' "$BODY" | grep -o '"number":[0-9]*' | sort -u)" '"number":9007199254740991' 'a field is exact'
as odd GET "/v1/threads/$(json .data.meta.thread_id "$BODY")/messages"
facts <<'TABLE'
so it is stored :: .data.messages[1] | text == "caf\ufffd \u00e9 \ufffd\ufffd\ufffd!"
TABLE
say delta stream
chunks <<'TABLE'
pieces are streamed so :: map(.message | select(. and .delta).content[0].text) == ["caf\ufffd"]
with what is beside them :: map(.message | select(. and (.delta | not)).metadata) == [{"\ufffd": 0.1}]
TABLE
say ask
facts <<'TABLE'
an interrupt as well :: .data.meta.interrupt | [.reason, .value] == ["why \ufffd", "which \ufffd"]
TABLE
say fail
is "$STATUS|$(json .detail "$BODY" | tr '\357\277\275' '???' | tr -s '?')" '500|Graph execution failed: bad ?' 'and a failure'
say nothing
is "$STATUS $(json '.data.messages | map(.content[].text) | join("|")' "$BODY")" '200 nothing||(nil) 0 -1' 'NULL is an empty text'
say unnamed
is "$STATUS $(json .detail "$BODY")" "500 Graph execution failed: there is no state field '', which node agent sets" \
	'also as the name of a field'
say store
is "$STATUS" 200 'a memory is stored'
as odd POST /v1/store/memories/list '{}'
facts <<'TABLE'
with its text made valid :: .data.memories | map([.content, .user_id]) == [["kept \ufffd", "9007199254740991"]]
TABLE
as even POST /v1/store/memories/list '{}'
is "$(json '.data.memories | length' "$BODY")" 0 'a user whose number is one less has memories of their own'
as raw POST /v1/graph/invoke "$(run_body "[$(user hi)]" "$(thread raw)")"
as raw GET /v1/threads/raw
is "$(json .data.thread_data.user_id "$BODY")" 9223372036854775807 'a raw number is exact to 64 bits'
as text POST /v1/graph/invoke "$(run_body "[$(user hi)]" "$(thread text)")"
as text GET /v1/threads/text
facts <<'TABLE'
a user is somebody by valid text :: .data.thread_data.user_id == "ann \ufffd"
TABLE
say call
is "$(printf '%s' "$BODY" | grep -o '"output":{[^}]*}[^}]*}' | sort -u)" \
	'"output":{"a":9007199254740991,"b":4611686018427387904,"c":9223372036854775807,"d":{"x":[1]},"e":null,"f":0.1,"g":"'"$(printf '\357\277\275')"'","h":-123456789012345680,"i":null}' \
	'what a tool gives is exact'
as odd GET /v1/graph/tools
facts <<'TABLE'
descriptions are text :: .data.nodes[0].tools[0].description == "counts \ufffd"
TABLE
as odd GET /v1/graph:StateSchema
facts <<'TABLE'
of fields too :: .data.properties.seen.description == "caf\ufffd"
TABLE

done_testing
