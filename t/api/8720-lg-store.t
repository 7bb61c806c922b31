#!/bin/sh
# SPDX-License-Identifier: ISC
# LangGraph's protocol: items of the store, which belong to their users, and what they look like as memories.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/lg.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

lg_configure
api GET '/lg/store/items?namespace=a&key=k'
lg_refused 503 STORE_NOT_CONFIGURED 'Store is not configured' 'without a store there are no items'
serve_stop
lg_configure '"store":"builtin:store"'

# put NAMESPACE KEY VALUE [MEMBERS]: an item; find BODY: a search.
put() { api PUT /lg/store/items "{\"namespace\":$1,\"key\":\"$2\",\"value\":$3${4:+,$4}}"; }
find() { api POST /lg/store/items/search "$1"; }
keys() { json '.items | map(.key) | join(" ")' "$BODY"; }

put '["users","ann"]' likes '{"what":"green tea","cups":3}'
is "$STATUS/$BODY" 204/ 'an item is stored'
api GET '/lg/store/items?namespace=users.ann&key=likes'
facts <<'TABLE'
and read :: [.namespace, .key, .value] == [["users", "ann"], "likes", {"what": "green tea", "cups": 3}]
with its times :: .created_at <= .updated_at
TABLE
put '["users","ann"]' likes '{"what":"coffee","cups":9}'
api GET '/lg/store/items?namespace=users.ann&key=likes'
is "$(json .value.what "$BODY")" coffee 'it is stored anew'
api GET '/lg/store/items?namespace=users.bob&key=likes'
is "$STATUS $BODY" '200 null' 'what is not there is null'
put '["users","bob"]' likes '{"what":"black tea","cups":1}'
put '["users"]' hidden '{"what":"tea"}' '"index":false'
put '["users2"]' other '{"what":"tea"}'
put '["doc"]' named '{"title":"herring","text":"salmon","n":1}' '"index":["title","title","n","gone",5]'
api POST /v1/store/search '{"query":"herring","filters":{"langgraph.1":"doc"}}'
is "$STATUS $(json '.data.results | map(.content) | tojson' "$BODY")" '200 ["named\nherring\n"]' \
	'an item is found by its key and the members that it names for that, each once'
api DELETE /lg/store/items '{"namespace":["doc"],"key":"named"}'
find '{"namespace_prefix":["users"]}'
is "$(keys)" 'hidden likes likes' 'a search without words has the newest first, below its namespace alone'
find '{"namespace_prefix":["users"],"limit":1,"offset":1}'
is "$(json '.items | map(.namespace | join("/")) | join(" ")' "$BODY")" users/bob 'in pages'
find '{"namespace_prefix":["users"],"filter":{"cups":{"$gt":2}}}'
is "$(json '.items[0].value.what' "$BODY") $(json '.items | length' "$BODY")" 'coffee 1' 'with conditions'
find '{"namespace_prefix":[],"filter":{"what":"tea"}}'
is "$(keys)" 'other hidden' 'of a value'
find '{"namespace_prefix":[],"filter":{"what":{"$in":["tea","coffee"]},"cups":{"$in":[5,9]}}}'
is "$(json '.items | map(.value.what) | join(" ")' "$BODY")" coffee 'or of several'
find '{"namespace_prefix":[],"filter":{"what":{"$in":[]}}}'
is "$STATUS $(keys)" '200 ' 'which may be none'
find '{"namespace_prefix":["users"],"query":"black tea"}'
is "$(json '.items[0] | [.value.what, (.score > 0)] | tojson' "$BODY")" '["black tea",true]' 'with words the best is the first'
api POST /lg/store/namespaces '{}'
is "$(json '.namespaces | map(join("/")) | sort | join(" ")' "$BODY")" 'users users/ann users/bob users2' 'namespaces are listed'
api POST /lg/store/namespaces '{"prefix":["users"],"max_depth":1}'
is "$(json '.namespaces | tojson' "$BODY")" '[["users"]]' 'to a depth'
api POST /lg/store/namespaces '{"suffix":["bob"],"limit":5}'
is "$(json '.namespaces | tojson' "$BODY")" '[["users","bob"]]' 'or by their end'
api POST /lg/store/namespaces '{"prefix":["*","bob"],"suffix":["users","*"]}'
is "$(json '.namespaces | tojson' "$BODY")" '[["users","bob"]]' 'where a star is any label'
api DELETE /lg/store/items '{"namespace":["users","bob"],"key":"likes"}'
is "$STATUS/$BODY" 204/ 'an item is deleted'
api DELETE /lg/store/items '{"namespace":["users","bob"],"key":"likes"}'
is "$STATUS" 204 'also one that is not there'
api GET '/lg/store/items?namespace=users.bob&key=likes'
is "$BODY" null 'and gone'

# ---- what others may have written there

api POST /v1/store/memories '{"content":"x","memory_type":"custom","category":"langgraph","metadata":{"langgraph":{"namespace":[1,null],"key":2}}}'
find '{}'
is "$STATUS $(keys)" '200 other hidden likes' 'a memory that is no item is none'
api POST /lg/store/namespaces '{}'
is "$STATUS" 200 'nor has it a namespace'

# ---- refused

# refused_item METHOD PATH BODY TEXT
refused_item() {
	api "$1" "/lg/store/$2" "$3"
	is "$STATUS $(json .detail "$BODY")" "422 $4" "$4"
}
labels='must be of at most 16 labels, texts without a point that are not empty'
refused_item PUT items '{"key":"k","value":{}}' 'namespace must be an array of texts'
refused_item PUT items '{"namespace":[],"key":"k","value":{}}' "namespace $labels"
refused_item PUT items "{\"namespace\":[\"a\"],\"key\":\"k\",\"value\":{},\"index\":$(list_of 1001)}" 'index must be an array of at most 1000'
refused_item PUT items '{"namespace":["a.b"],"key":"k","value":{}}' "namespace $labels"
refused_item PUT items '{"namespace":["a",1],"key":"k","value":{}}' "namespace $labels"
refused_item PUT items '{"namespace":["a"],"key":"k","value":1}' 'value must be an object'
refused_item PUT items '{"namespace":["a"],"key":"","value":{}}' 'key must not be empty'
refused_item PUT items '{"namespace":["a"],"key":"k","value":{},"ttl":5}' 'ttl is not supported'
refused_item POST items/search '{"namespace_prefix":[1]}' "namespace_prefix $labels"
refused_item POST namespaces '{"suffix":[null]}' "suffix $labels"
for condition in '{"$nin":[1]}' '{"$in":1}' '{"$in":[{}]}' '{"$eq":1,"$gt":0}' '{"$eq":[1]}' '{"$eq":{"$gt":1}}' '{"$gt":true}' '{}' '["x"]'; do
	refused_item POST items/search "{\"filter\":{\"a\":$condition}}" \
		'filter must have texts, numbers, booleans, {"$eq": value}, {"$in": [values]}, or objects of $ne, $gt, $gte, $lt, $lte'
done
refused_item POST items/search "{\"filter\":{\"a\":{\"\$in\":[$(seq -s, 1000)]}}}" \
	'filter must not have more than 1000 conditions and values'
refused_item POST items/search '{"limit":1000,"offset":1}' 'offset and limit must be at most 1000 together'
refused_item POST items/search '{"limit":101,"query":"x"}' 'offset and limit must be at most 100 together where words are searched for'
refused_item GET 'items?key=k' '' 'namespace is required'

# ---- whose they are

serve_stop
lg_configure '"store":"builtin:store","auth":"jwt","authorization":"ownership"'
alice=$(token alice) bob=$(token bob)
item='{"namespace":["mine"],"key":"k","value":{"of":"alice"}}'
with "$alice" PUT /lg/store/items "$item"
with "$bob" PUT /lg/store/items '{"namespace":["mine"],"key":"k","value":{"of":"bob"}}'
with "$alice" GET '/lg/store/items?namespace=mine&key=k' ''
is "$(json .value.of "$BODY")" alice 'an item of the same name is another for another user'
with "$alice" DELETE /lg/store/items '{"namespace":["mine"],"key":"k"}'
with "$bob" POST /lg/store/items/search '{"namespace_prefix":["mine"]}'
is "$(json '.items | map(.value.of) | join(" ")' "$BODY")" bob 'and nobody reaches those of others'
with "$alice" POST /lg/store/items/search '{"namespace_prefix":["mine"]}'
is "$(keys)" '' 'in neither way'

done_testing
