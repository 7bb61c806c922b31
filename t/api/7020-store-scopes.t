#!/bin/sh
# SPDX-License-Identifier: ISC
# Whose memories a caller reaches, by every kind of authorization and every route.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/store.sh"

# reached: "list search get put delete" as counts and statuses, for the one who asks by `ask`, of ID.
reached() {
	ask POST /v1/store/memories/list "{${1-}}"
	reach_list=$(json '.data.memories | length' "$BODY")
	ask POST /v1/store/search "{\"query\":\"tea\"${1:+,$1}}"
	reach_search=$(json '.data.results | length' "$BODY")
	ask POST /v1/store/memories/"$ID" "{${1-}}"
	reach_get=$STATUS
	ask PUT /v1/store/memories/"$ID" "{\"content\":\"tea\"${1:+,$1}}"
	echo "$reach_list $reach_search $reach_get $STATUS"
}

# ---- without authentication: by config ----

ask() { api "$@"; }
with_store
api_start
remember 'tea' "$(user ann '"thread_id":"t1"')"
hers=$ID
remember 'tea' "$(user bob '"thread_id":"t1"')"
his=$ID
remember 'tea'
ID=$hers
is "$(reached)" '3 3 200 200' 'without config.user_id everything is reached'
is "$(reached "$(user ann)")" '1 1 200 200' 'with it what is theirs'
is "$(reached "$(user bob)")" '1 1 404 404' 'and nothing else'
is "$(reached '"config":{"thread_id":"t1"}')" '2 2 200 200' 'a thread narrows'
is "$(reached "$(user ann '"thread_id":"t2"')")" '0 0 404 200' 'reading, not changing by id'
is "$(reached "$(user ann '"thread_id":"t1"')")" '1 1 200 200' 'two users can have a thread of the same id'
for strategy in relevance temporal hybrid graph_traversal; do
	find tea "\"retrieval_strategy\":\"$strategy\",$(user bob)"
	is "$(json '.data.results | map(.memory_id) | join(",")' "$BODY")" "$his" "$strategy keeps to the user"
	find tea "\"retrieval_strategy\":\"$strategy\",\"config\":{\"thread_id\":\"t1\"}"
	is "$(json '.data.results | length' "$BODY")" 2 "$strategy keeps to the thread"
done
# Links do not lead to others.
remember 'tea with Eve' "\"metadata\":{\"relations\":[\"$hers\"],\"entity\":\"x\"},$(user bob)"
remember 'Eve' "\"metadata\":{\"entity\":\"x\"},$(user ann)"
find 'tea with Eve' "\"retrieval_strategy\":\"graph_traversal\",$(user bob)"
is "$(json '.data.results | map(.user_id) | unique | join(",")' "$BODY")" bob 'links lead to nobody else'
api DELETE "/v1/store/memories/$his" "{$(user ann)}"
is "$STATUS" 404 'nobody deletes what is not theirs'
api POST /v1/store/memories/forget "{$(user bob '"thread_id":"t1"')}"
is "$(json .data.data.deleted_count "$BODY")" 1 'forget keeps to user and thread'
api POST /v1/store/memories/forget "{$(user bob)}"
is "$(json .data.data.deleted_count "$BODY")" 1 'and to the user'
api POST /v1/store/memories/list
is "$(json '.data.memories | map(.user_id) | sort | join(",")' "$BODY")" ann,ann,anonymous 'the others are still there'
serve_stop

# ---- with authentication ----

# row MEMBERS NAME OWN OTHERS NARROWED: what alice reaches of her own memory, of bob's, and of his by config.user_id.
row() {
	with_store "\"auth\":\"jwt\",$1"
	api_start
	for user in alice bob; do
		as $user POST /v1/store/memories "{\"content\":\"tea\",$(user mallory)}"
		eval "id_$user=\$(json .data.memory_id \"\$BODY\")"
	done
	ask() { as alice "$@"; }
	ID=$id_alice
	is "$(reached)" "$3" "$2: her own"
	ID=$id_bob
	is "$(reached)" "$4" "$2: his"
	is "$(reached "$(user bob)")" "$5" "$2: his, when she says so"
	as bob POST "/v1/store/memories/$id_bob"
	is "$(json .data.memory.user_id "$BODY")" bob "$2: who wrote it is the verified user"
	as alice DELETE "/v1/store/memories/$id_bob"
	is "$STATUS" "${4##* }" "$2: deleting his"
	serve_stop
}
row '"authorization":"ownership"' ownership '1 1 200 200' '1 1 404 404' '1 1 404 404'
row '"authorization":"allow_all"' allow_all '1 1 200 200' '1 1 404 404' '1 1 404 404'
row '"authorization":{"backend":"rbac","default_scopes":["store:read","store:write","store:delete"]}' 'roles, owner' \
	'1 1 200 200' '1 1 404 404' '1 1 404 404'
row '"authorization":{"backend":"rbac","isolation":"none","default_scopes":["store:read","store:write","store:delete"]}' \
	'roles, none' '2 2 200 200' '2 2 200 200' '1 1 200 200'

# In a run: the memories of its user alone, also where the routes reach all.
cat >agent.sh <<'END'
#!/bin/sh
jq -c '{message: {content: [{type: "tool_call", id: "c1", name: "memory", args: (.user_text | fromjson)}]}}'
END
chmod +x agent.sh
cat >graph.json <<'END'
{"g": {"nodes": {"agent": {"kind": "exec", "command": "./agent.sh"},
  "tools": {"kind": "tools", "tools": [{"kind": "memory"}]}},
 "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "to": "tools"}, {"from": "tools", "to": "END"}]}}
END
printf '%s\n' '{"agent":"graph.json:g","store":"builtin:store","auth":"jwt","authorization":{"backend":"rbac",
	"isolation":"none","default_scopes":["graph:invoke","store:read","store:write"]}}' >agentgraph.json
api_start
# tool USER ACTION [MEMBERS]: what the tool answers, of the memory ID.
tool() {
	as "$1" POST /v1/graph/invoke \
		"$(a_run "{\\\"action\\\":\\\"$2\\\",\\\"memory_id\\\":\\\"$ID\\\",\\\"content\\\":\\\"coffee\\\"}")"
	json '.data.messages[-1].content[0] | if .is_error then "no: \(.output)" else "done" end' "$BODY"
}
as bob POST /v1/store/memories '{"content":"tea"}'
ID=$(json .data.memory_id "$BODY")
as alice POST "/v1/store/memories/$ID"
is "$STATUS" 200 'by a route she reaches what is his'
is "$(tool alice update)" 'no: Memory not found' 'a tool of her run does not rewrite it'
is "$(tool alice forget)" 'no: Memory not found' 'nor delete it'
is "$(tool bob update)" 'done' 'that of his rewrites it'
is "$(tool bob forget)" 'done' 'and deletes it'
serve_stop

with_store '"auth":"jwt","authorization":{"backend":"rbac","default_scopes":["store:read"]}'
api_start
as alice POST /v1/store/memories/list
is "$(said)" 200 'store:read reads'
as alice POST /v1/store/memories '{"content":"x"}'
is "$(said)" '403 PERMISSION_ERROR Missing required scope: store:write' 'but does not write'
as alice POST /v1/store/memories/forget '{}'
is "$(said)" '403 PERMISSION_ERROR Missing required scope: store:delete' 'or forget'
as alice DELETE /v1/store/memories/x
is "$(said)" '403 PERMISSION_ERROR Missing required scope: store:delete' 'or delete'
as alice PUT /v1/store/memories/x 'no json'
is "$(said)" '403 PERMISSION_ERROR Missing required scope: store:write' 'whatever the body is'

done_testing
