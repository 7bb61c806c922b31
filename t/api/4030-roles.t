#!/bin/sh
# SPDX-License-Identifier: ISC
# Scopes and roles, and whom each kind of authorization lets reach what.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

# may CLAIMS METHOD PATH [BODY]: the answer to bob with these claims.
may() {
	claims=$1
	shift
	with "$(token bob "$claims")" "$@"
	said
}
needs() { echo "403 PERMISSION_ERROR Missing required scope: $1"; }
hello=$(a_run hello hers)

configure '"auth":"jwt","authorization":{"backend":"rbac","roles":{"reader":["graph:read","checkpointer:read"],
	"writer":["graph:invoke"],"admin":["*"]},"default_scopes":["graph:read"]}'
api_start
as alice POST /v1/graph/invoke "$hello"
is "$(said)" "$(needs graph:invoke)" 'without a role there are the default scopes'
as alice GET /v1/graph
is "$STATUS" 200 'which everybody has'
with "$(token alice ',"role":"admin"')" POST /v1/graph/invoke "$hello"
is "$STATUS" 200 'a role grants what it says'
is "$(may ',"roles":["reader"]' GET /v1/threads)" 200 'one of a list'
is "$(may ',"roles":["reader"]' POST /v1/graph/invoke "$(a_run hello)")" "$(needs graph:invoke)" 'and no more'
is "$(may ',"roles":["reader","writer"]' POST /v1/graph/invoke "$(a_run hello)")" 200 'several add up'
is "$(may ',"roles":"writer","role":"admin"' GET /v1/threads)" "$(needs checkpointer:read)" 'roles count before role'
is "$(may ',"roles":["root","*"],"scopes":["graph:invoke"]' POST /v1/graph/invoke "$(a_run hello)")" \
	"$(needs graph:invoke)" 'an unknown role adds nothing, and scopes do not count'
is "$(may ',"role":"admin","scopes":[]' DELETE /v1/threads/none '{}')" '404 RESOURCE_NOT_FOUND Thread not found' \
	'an asterisk grants all, whatever the scopes say'
is "$(may ',"role":"admin"' GET /v1/threads/hers)" '403 PERMISSION_ERROR Not authorized to read checkpointer' \
	'but not the threads of others'
is "$(may ',"role":"admin"' GET /v1/threads | wc -l)" 1 'the list is there'
with "$(token bob ',"role":"admin"')" GET /v1/threads
is "$(json '[.data.threads[].user_id] | unique | join(" ")' "$BODY")" bob 'and holds his own'
serve_stop

configure '"auth":"jwt","authorization":{"type":"roles","role_scopes":{"all":["*"]},"isolation":"none"}'
api_start
with "$(token alice ',"role":"all"')" POST /v1/graph/invoke "$hello"
is "$(may ',"role":"all"' GET /v1/threads/hers)" 200 'without isolation threads are common'
with "$(token bob ',"role":"all"')" GET /v1/threads
is "$(json '[.data.threads[].user_id] | join(" ")' "$BODY")" alice 'in lists, too'
with "$(token bob ',"role":"all"')" POST /v1/graph/invoke "$hello"
with "$(token bob ',"role":"all"')" GET /v1/threads/hers
is "$(json .data.thread_data.user_id "$BODY")" alice 'a run on it leaves the thread to its owner'
is "$(may '' GET /v1/graph)" "$(needs graph:read)" 'an empty list of scopes denies everything'
serve_stop

# listed: the ids in the list of the last answer.
listed() { json '[.data.threads[].thread_id] | sort | join(" ")' "$BODY"; }

for name in allow_all default none; do
	configure "\"auth\":\"jwt\",\"authorization\":\"$name\""
	api_start
	as alice POST /v1/graph/invoke "$hello"
	is "$(may '' POST /v1/graph/invoke "$hello")" 200 "$name: everybody may do anything"
	as bob GET /v1/threads
	is "$(listed)" hers "$name: and sees everything"
	is "$(may ',"scopes":["graph:read"]' POST /v1/graph/invoke "$hello")" "$(needs graph:invoke)" "$name: but for their scopes"
	serve_stop
done

# What holds when nothing is said depends on the mode.
configure '"auth":"jwt"'
api_start
as alice POST /v1/graph/invoke "$hello"
is "$(may '' GET /v1/threads/hers)" 200 'in development everybody reaches everything'
serve_stop
MODE=production CORS_ALLOW_CREDENTIALS=false api_start
as alice POST /v1/graph/invoke "$hello"
is "$(may '' GET /v1/threads/hers)" '403 PERMISSION_ERROR Not authorized to read checkpointer' 'in production it is ownership'
serve_stop

# One address with many ways: a call of MCP that asks to be told of progress is a stream.
configure '"auth":"jwt","mcp":{"enabled":true}'
api_start
call='"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo","arguments":{"message":"hi"}'
is "$(may ',"scopes":["graph:invoke"]' POST /v1/mcp "{$call}}")" 200 'a call of a tool takes graph:invoke'
is "$(may ',"scopes":["graph:invoke"]' POST /v1/mcp "{$call,\"_meta\":{\"progressToken\":1}}}")" "$(needs graph:stream)" \
	'one with progress graph:stream, too'
is "$(may ',"scopes":["graph:invoke","graph:stream"]' POST /v1/mcp "{$call,\"_meta\":{\"progressToken\":1}}}")" 200 'and is let in by it'
serve_stop

# What deletes messages takes what deleting takes, also as part of a run or of an update.
configure '"auth":"jwt","langgraph":{"enabled":true}'
api_start
gone='"messages":[{"type":"remove","id":"__remove_all__"}]'
may ',"scopes":["graph:invoke"]' POST /lg/threads/t/runs/wait "{\"assistant_id\":\"demo\",\"if_not_exists\":\"create\",\"input\":{\"messages\":[\"hi\"]}}" >/dev/null
is "$(may ',"scopes":["graph:invoke"]' POST /lg/threads/t/runs/wait "{\"assistant_id\":\"demo\",\"input\":{$gone}}")" \
	"$(needs checkpointer:delete)" 'a run that removes messages takes checkpointer:delete'
is "$(may ',"scopes":["checkpointer:write"]' POST /lg/threads/t/state "{\"values\":{$gone}}")" \
	"$(needs checkpointer:delete)" 'so does an update'
is "$(may ',"scopes":["checkpointer:write","checkpointer:delete"]' POST /lg/threads/t/state "{\"values\":{$gone}}")" 200 \
	'and is let in by it'
serve_stop

# Without authentication nothing of this counts.
configure '"authorization":"ownership"'
MODE=production CORS_ALLOW_CREDENTIALS=false api_start
api POST /v1/graph/invoke "$hello" 'Authorization: Bearer nonsense'
is "$STATUS" 200 'without authentication credentials are not looked at'
api POST /v1/graph/invoke "$(a_run /whoami)"
is "$(reply)" anonymous 'and everybody is anonymous'
api GET /v1/threads/hers
is "$(json .data.thread_data.user_id "$BODY")" anonymous 'who owns what is made then'
state=$STATE
serve_stop
configure '"auth":"jwt","authorization":"ownership"'
STATE=$state api_start
as alice GET /v1/threads/hers
is "$STATUS" 403 'and later nobody else does'

done_testing
