#!/bin/sh
# SPDX-License-Identifier: ISC
# A memory store in a plug-in, and the store as nodes of a graph reach it.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/store.sh"

# compile NAME: NAME.c as a plug-in.
compile() {
	# shellcheck disable=SC2086 # flags are several words
	${CC:-cc} ${CPPFLAGS:--D_GNU_SOURCE -I$TOP_SRCDIR/common} ${CFLAGS:-} -shared -fPIC -o "$1.so" "$1.c" 2>compile.err ||
		tap_bail "$(cat compile.err)"
}

cat >store.c <<'C'
#include <agentgraph.h>
#include <string.h>
AG_PLUGIN;

/* Answers with what it was asked, so that the test sees it. */
static cJSON *memory(const cJSON *request)
{
	char *text = cJSON_PrintUnformatted(request);
	cJSON *m = cJSON_CreateObject();
	cJSON_AddStringToObject(m, "memory_id", "m1");
	cJSON_AddStringToObject(m, "content", text);
	cJSON_AddNumberToObject(m, "score", 7);
	cJSON_free(text);
	return m;
}
static ag_result put(const cJSON *request, cJSON **answer, void *data)
{
	const char *content = cJSON_GetStringValue(
	    cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(request, "memory"), "content"));
	(void)answer;
	(void)data;
	return strcmp(content, "fail") == 0 ? AG_ERROR : AG_OK;
}
static ag_result get(const cJSON *request, cJSON **answer, void *data)
{
	const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "memory_id"));
	(void)data;
	if (strcmp(id, "none"))
		*answer = memory(request);
	return AG_OK;
}
static ag_result change(const cJSON *request, cJSON **answer, void *data)
{
	const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "memory_id"));
	(void)data;
	*answer = cJSON_CreateBool(strcmp(id, "none") != 0);
	return AG_OK;
}
static ag_result many(const cJSON *request, cJSON **answer, void *data)
{
	(void)data;
	*answer = cJSON_CreateArray();
	cJSON_AddItemToArray(*answer, memory(request));
	cJSON_AddItemToArray(*answer, memory(request));
	return AG_OK;
}
static ag_result forget(const cJSON *request, cJSON **answer, void *data)
{
	(void)request;
	(void)data;
	*answer = cJSON_CreateNumber(4);
	return AG_OK;
}
const struct ag_store store = {AG_STORE, NULL, put, get, change, change, many, many, forget, NULL};
const struct ag_store partial = {AG_STORE, NULL, put, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
const unsigned nothing = 0;
C
compile store

configure '"store":"store.so:store"'
api_start
remember x '"config":{"user_id":"ann","k":1},"options":{"o":2}'
is "$STATUS" 200 'a plug-in stores'
like "$ID" '^[0-9a-f]{32}$' 'under an id that it is given'
remember fail
is "$(said)" '503 STORE_UNAVAILABLE Store is unavailable' 'when it fails, the store is not available'
api POST /v1/store/memories/none
is "$(said)" '404 RESOURCE_NOT_FOUND Memory not found' 'what it does not have is not found'
api POST /v1/store/memories/m1 '{"config":{"user_id":"ann","k":1},"options":{"o":2}}'
is "$(json '.data.memory.content | fromjson | [.scope.user_id, .config.k, .options.o, .memory_id] | map(tostring) | join(" ")' "$BODY")" \
	'ann 1 2 m1' 'it sees scope, config, options and id'
is "$(json '.data.memory | [.id, .score, .memory_type, .category, (.metadata | tojson), .user_id] | map(tostring) | join(" ")' "$BODY")" \
	'm1 1 episodic general {"category":"general"} null' 'what it leaves out is filled in'
find tea '"limit":1,"filters":{"a":1},"score_threshold":0.5,"retrieval_strategy":"hybrid","distance_metric":"manhattan"'
is "$(json '.data.results | length' "$BODY")" 1 'never more than the limit'
is "$(json '.data.results[0].content | fromjson | [.query, .limit, .filters.a, .score_threshold, .retrieval_strategy, .distance_metric, .max_tokens, .memory_type] | map(tostring) | join(" ")' "$BODY")" \
	'tea 1 1 0.5 hybrid manhattan 4000 null' 'a search is handed over whole'
api POST /v1/store/search '{"query":"x","filters":{"a":{"in":1}}}'
is "$STATUS" 422 'and checked before'
api PUT /v1/store/memories/none '{"content":"x"}'
is "$STATUS" 404 'an update of nothing'
api PUT /v1/store/memories/m1 '{"content":"x"}'
is "$STATUS" 200 'and of something'
api DELETE /v1/store/memories/none
is "$STATUS" 404 'a deletion of nothing'
api POST /v1/store/memories/forget '{}'
is "$(json .data.data.deleted_count "$BODY")" 4 'forget tells its number'
api POST /v1/store/memories/list
is "$(json '.data.memories | length' "$BODY")" 2 'list'
ok '[ ! -e "$STATE/store.db" ]' 'there is no database of ours'
serve_stop
for attribute in partial nothing missing; do
	configure "\"store\":\"store.so:$attribute\""
	"$AGENTGRAPH" check >out 2>&1
	is "$?" 1 "store.so:$attribute is refused"
	like "$(cat out)" 'agentgraph.json: store: ' 'with the key'
done

# ---- nodes ----

cat >agent.c <<'C'
#include <agentgraph.h>
#include <stdlib.h>
#include <string.h>
AG_PLUGIN;

/* "put TEXT" remembers; anything else tells what is found. */
static ag_result run(ag_run *r, const ag_state *state, void *data)
{
	const char *said = ag_user_text(state);
	const cJSON *answer;
	cJSON *body = cJSON_CreateObject();
	(void)data;
	if (strncmp(said, "put ", 4) == 0) {
		cJSON_AddStringToObject(body, "content", said + 4);
		if (ag_store_put(r, body, &answer) != AG_OK)
			return AG_ERROR;
		return ag_say(r, "%s", cJSON_GetObjectItemCaseSensitive(answer, "memory_id")->valuestring);
	}
	if (strncmp(said, "delete ", 7) == 0) {
		cJSON_Delete(body);
		return ag_say(r, "%d", ag_store_delete(r, said + 7, NULL, NULL));
	}
	if (strcmp(said, "nameless") == 0) {
		cJSON_Delete(body);
		return ag_say(r, "%d %d %d", ag_store_get(r, NULL, NULL, NULL),
		    ag_store_update(r, NULL, NULL, NULL), ag_store_delete(r, NULL, NULL, NULL));
	}
	cJSON_AddStringToObject(body, "query", said);
	if (ag_store_search(r, body, &answer) != AG_OK)
		return AG_ERROR;
	char *text = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(answer, "results"));
	ag_result result = ag_say(r, "%d: %s", cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(answer, "results")), text);
	cJSON_free(text);
	return result;
}
ag_graph_fn agent;

int agent(ag_graph *graph)
{
	ag_graph_node(graph, "run", run, NULL);
	ag_graph_edge(graph, AG_START, "run");
	ag_graph_edge(graph, "run", AG_END);
	return 0;
}
C
compile agent
said_by() { as "$1" POST /v1/graph/invoke "$(a_run "$2")"; }
printf '{"agent":"agent.so:agent","auth":"jwt","store":"builtin:store"}' >agentgraph.json
api_start
said_by alice 'put likes tea'
like "$(reply)" '^[0-9a-f]{32}$' 'a node stores a memory'
hers=$(reply)
said_by alice tea
like "$(reply)" '^1: .*likes tea' 'and finds it'
said_by bob tea
is "$(reply)" '0: []' 'for its user alone'
as alice POST "/v1/store/memories/$hers"
is "$(json .data.memory.user_id "$BODY")" alice 'whose memory it is'
said_by bob "delete $hers"
is "$(reply)" -1 'nobody else deletes it'
said_by alice nameless
is "$(reply)" '-1 -1 -1' 'a call about one memory needs its id'
as alice POST "/v1/store/memories/$hers"
is "$STATUS" 200 'and does not forget all of them'
said_by alice ' '
is "$STATUS" 500 'a mistake is a failure of the node'
like "$BODY" 'query is required and cannot be empty' 'that says what was wrong'
serve_stop
printf '{"agent":"agent.so:agent","auth":"jwt"}' >agentgraph.json
api_start
said_by alice 'put x'
like "$BODY" 'Store is not configured' 'without a store a node is told so'

done_testing
