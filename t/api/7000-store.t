#!/bin/sh
# SPDX-License-Identifier: ISC
# /v1/store: bodies, defaults, ranges, envelopes and messages of its seven routes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/store.sh"
json_fast=jq # some facts are about the order of members

# ---- without a store ----

configure
api_start
for route in 'POST memories' 'POST search' 'POST memories/list' 'POST memories/x' 'PUT memories/x' \
	'DELETE memories/x' 'POST memories/forget'; do
	for body in '{}' 'no json' ''; do
		api "${route%% *}" "/v1/store/${route#* }" "$body"
		is "$(said)" '503 STORE_NOT_CONFIGURED Store is not configured' "$route is 503 without a store, body '$body'"
	done
done
serve_stop

# ---- one memory ----

with_store
api_start
api GET /v1/graph
is "$(json .data.info.store "$BODY")" true 'the graph is told to have a store'
remember 'Likes tea'
is "$STATUS $(json '.success, .message, .metadata.message' "$BODY" | tr '\n' ' ')" \
	'200 true Memory stored successfully Memory stored successfully ' 'a memory is stored'
like "$ID" '^[0-9a-f]{32}$' 'its id has 32 hexadecimal digits'
is "$(json '.data | keys | join(" ")' "$BODY")" memory_id 'and is all of the data'
api POST "/v1/store/memories/$ID"
is "$(json '.data.memory | [.content, .score, .memory_type, .category, .user_id, .thread_id, (.vector | length)] | map(tostring) | join("|")' "$BODY")" \
	'Likes tea|0|episodic|general|anonymous|null|0' 'it is read with the defaults, without a body'
is "$(json '.data.memory | .memory_id == .id and .metadata == {category: "general"}' "$BODY")" true 'id twice, category also in metadata'
like "$(json .data.memory.timestamp "$BODY")" '^[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z$' 'timestamp is ISO'
is "$(json '.data.memory | keys | join(" ")' "$BODY")" \
	'category content id memory_id memory_type metadata score thread_id timestamp user_id vector' 'and these are all members'
first=$ID
remember 'Works in Berlin' '"memory_type":"semantic","category":"work","metadata":{"city":"Berlin","n":12345678901234567890,
	"content":1,"user_id":1,"thread_id":1,"memory_type":1,"category":1,"timestamp":1,"memory_id":1},"options":{"x":1},"config":{"thread_id":7,"other":1}'
api POST "/v1/store/memories/$ID" '{"config":{},"options":{}}'
is "$(json '.data.memory | .metadata | keys | join(" ")' "$BODY")" 'category city n' 'reserved metadata is dropped'
like "$BODY" '"n":12345678901234567890' 'large numbers stay'
is "$(json '.data.memory | .metadata.category + .category + .memory_type + .thread_id' "$BODY")" workworksemantic7 'category and type are kept, a thread may be an integer'
remember 'x' '"memory_type":"","category":"","metadata":null,"config":null,"options":null'
api POST "/v1/store/memories/$ID"
is "$(json '.data.memory | .memory_type + .category' "$BODY")" episodicgeneral '"" stands for the defaults, null for nothing'
api POST /v1/store/memories '{"content":{"role":"user","content":[{"type":"text","text":"one "},{"type":"text","text":"two"}]}}'
api POST "/v1/store/memories/$(json .data.memory_id "$BODY")"
is "$(json .data.memory.content "$BODY")" 'one two' 'a message is stored as its text'
for type in episodic semantic procedural entity relationship declarative custom; do
	remember "$type" "\"memory_type\":\"$type\",\"category\":\"types\""
	is "$STATUS" 200 "memory_type $type is stored"
done

# ---- changing ----

api PUT "/v1/store/memories/$first" '{"content":"Likes coffee"}'
is "$STATUS $(json '[.message, .data.success, .data.data.memory_id] | map(tostring) | join("|")' "$BODY")" \
	"200 Memory updated successfully|true|$first" 'an update says so'
find coffee '"limit":1'
is "$(found)" 'Likes coffee' 'and is found by its new content'
api PUT "/v1/store/memories/$first" '{"content":"Likes milk","metadata":{"k":"v"}}'
api PUT "/v1/store/memories/$first" '{"content":"Likes oat milk","metadata":null}'
api POST "/v1/store/memories/$first"
is "$(json '.data.memory | .content, (.metadata | tojson)' "$BODY" | tr '\n' ' ')" \
	'Likes oat milk {"k":"v","category":"general"} ' 'metadata is replaced when it is given'
api DELETE "/v1/store/memories/$first"
is "$STATUS $(json '[.message, .data.success, .data.data.memory_id] | map(tostring) | join("|")' "$BODY")" \
	"200 Memory deleted successfully|true|$first" 'a deletion says so'
for method in POST PUT DELETE; do
	api $method "/v1/store/memories/$first" '{"content":"x"}'
	is "$(said)" '404 RESOURCE_NOT_FOUND Memory not found' "$method of what is gone is 404"
	api $method /v1/store/memories/%20%09 '{"content":"x"}'
	is "$(said)" '422 VALIDATION_ERROR memory_id is required and cannot be empty' "$method of a blank id is 422"
	api $method /v1/store/memories/%ff '{"content":"x"}'
	is "$STATUS" 400 "$method of no UTF-8 is no path"
done
find 'oat milk' '"retrieval_strategy":"relevance"'
is "$(found)" '' 'what is deleted is not found'

# ---- list and forget, which no id can be ----

api POST /v1/store/memories/list
is "$(json '.data.memories[0].content, .message' "$BODY" | tr '\n' ' ')" 'custom OK ' 'the newest is listed first, without a body'
api POST /v1/store/memories/list '{"limit":2}'
is "$(found)" custom,declarative 'up to the limit'
api PUT /v1/store/memories/list '{"content":"x"}'
is "$STATUS" 404 'PUT list is about an id'
api DELETE /v1/store/memories/forget
is "$STATUS" 404 'so is DELETE forget'
api GET /v1/store/memories/list
is "$STATUS $(header Allow)" '405 DELETE, OPTIONS, POST, PUT' 'there is no GET'
api POST /v1/store/memories/
is "$STATUS" 404 'a trailing slash is another path'
api POST /v1/store/memories/forget
is "$(said)" '422 VALIDATION_ERROR Request body is required' 'forget needs a body'
api POST /v1/store/memories/forget '{"category":"types","memory_type":"entity"}'
is "$(json '[.message, .data.success, .data.data.deleted_count] | map(tostring) | join("|")' "$BODY")" \
	'Memories removed successfully|true|1' 'it tells how many it forgot'
api POST /v1/store/memories/forget '{"category":"types","memory_type":"entity"}'
is "$STATUS $(json .data.data.deleted_count "$BODY")" '200 0' 'and that there was nothing'
api POST /v1/store/memories/forget '{"filters":{"city":"Berlin"}}'
is "$(json .data.data.deleted_count "$BODY")" 1 'by metadata too'
api POST /v1/store/memories/forget '{"memory_type":"","category":"","filters":{}}'
is "$(json .data.data.deleted_count "$BODY")" 8 'without a condition it forgets everything'
api POST /v1/store/memories/list '{}'
is "$(json '.data.memories | length' "$BODY")" 0 'and then there is nothing'

# ---- mistakes ----

# bad PATH BODY TEXT
bad() {
	api POST "/v1/store/$1" "$2"
	is "$(said)" "422 VALIDATION_ERROR $3" "$1 $2"
}
for content in '' '"content":""' '"content":"  "' '"content":null' '"content":{"role":"user","content":" "}'; do
	bad memories "{$content}" 'content is required and cannot be empty'
	api PUT /v1/store/memories/x "{$content}"
	is "$(said)" '422 VALIDATION_ERROR content is required and cannot be empty' "PUT {$content}"
done
bad memories '{"content":5}' 'content must be a string or a message'
bad memories '{"content":["x"]}' 'content must be a string or a message'
bad memories '{"content":{"role":"boss","content":"x"}}' 'role must be one of user, assistant, system, tool'
types='memory_type must be one of episodic, semantic, procedural, entity, relationship, declarative, custom'
bad memories '{"content":"x","memory_type":"Semantic"}' "$types"
bad memories '{"content":"x","category":5}' 'category must be a string'
bad memories '{"content":"x","metadata":[]}' 'metadata must be an object'
bad memories "{\"content\":\"x\",\"metadata\":{\"relations\":$(jq -cn '[range(1001) | tostring]')}}" \
	'metadata.relations must be an array of at most 1000'
bad memories '{"content":"x","config":[]}' 'config must be an object'
bad memories '{"content":"x","options":"a"}' 'options must be an object'
bad memories '{"content":"x","config":{"user_id":1.5}}' 'config.user_id must be a string that is not empty, or an integer'
bad memories '{"content":"x","config":{"user_id":" "}}' 'config.user_id must be a string that is not empty, or an integer'
bad memories '{"content":"x","config":{"thread_id":{}}}' 'thread_id must be a string or an integer'
bad memories '{"content":"x","config":{"thread_id":-1}}' 'thread_id must be a positive integer'
bad memories "$(printf '{"content":"\377"}')" 'Request body must be valid JSON'
api POST /v1/store/memories '{"content":"a\u0000b"}'
is "$STATUS" 422 'U+0000 is refused'
for query in '' '"query":""' '"query":" 　"' '"query":null'; do
	bad search "{$query}" 'query is required and cannot be empty'
done
bad search '{"query":5}' 'query must be a string'
bad search '{"query":"x","memory_type":"y"}' "$types"
bad search '{"query":"x","retrieval_strategy":"y"}' \
	'retrieval_strategy must be one of similarity, temporal, relevance, hybrid, graph_traversal'
bad search '{"query":"x","distance_metric":"l2"}' 'distance_metric must be one of cosine, euclidean, dot_product, manhattan'
for limit in 0 -1 101 1e9; do bad search "{\"query\":\"x\",\"limit\":$limit}" 'limit must be between 1 and 100'; done
bad search '{"query":"x","limit":"5"}' 'limit must be an integer between 1 and 100'
bad search '{"query":"x","limit":1.5}' 'limit must be an integer between 1 and 100'
bad search '{"query":"x","max_tokens":16001}' 'max_tokens must be between 1 and 16000'
bad search '{"query":"x","max_tokens":0}' 'max_tokens must be between 1 and 16000'
bad search '{"query":"x","score_threshold":1.1}' 'score_threshold must be between 0 and 1'
bad search '{"query":"x","score_threshold":-0.1}' 'score_threshold must be between 0 and 1'
bad search '{"query":"x","score_threshold":true}' 'score_threshold must be a number between 0 and 1'
bad memories/list '{"limit":0}' 'limit must be between 1 and 1000'
bad memories/list '{"limit":1001}' 'limit must be between 1 and 1000'
bad search '{"query":"x","filters":[]}' 'filters must be an object'
bad search '{"query":"x","filters":{"a":{}}}' 'filters.a must have one of gt, gte, lt, lte, ne, exists'
bad search '{"query":"x","filters":{"a":{"in":[1]}}}' 'filters.a must have only gt, gte, lt, lte, ne, exists'
bad search '{"query":"x","filters":{"a":{"gt":true}}}' 'filters.a must have a number or a string for gt'
bad search '{"query":"x","filters":{"a":{"exists":1}}}' 'filters.a must have true or false for exists'
bad memories/forget '{"filters":{"a":[[1]]}}' 'filters.a must be an array of strings, numbers or booleans'
api POST /v1/store/search '{"query":" ","limit":0,"max_tokens":0,"distance_metric":"x"}'
is "$(json '.error.details | map(.loc | join(".")) | sort | join(" ")' "$BODY")" \
	'body.distance_metric body.limit body.max_tokens body.query' 'all mistakes are told'
find 'x' '"limit":25.0,"max_tokens":16000,"score_threshold":1'
is "$STATUS" 200 'the ends of the ranges are fine'

done_testing
