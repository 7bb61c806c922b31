#!/bin/sh
# SPDX-License-Identifier: ISC
# Every route except the public ones asks who the caller is, whether they may, and whose thread it is: a new route is
# tested as soon as it is in the table.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

configure '"auth":"jwt","authorization":"ownership","ag_ui":{"enabled":true},"openai":{"enabled":true},"langgraph":{"enabled":true},"mcp":{"enabled":true},"a2a":{"enabled":true},"store":"builtin:store"'
"$AGENTGRAPH_FCGI" --routes >routes || tap_bail 'the routes cannot be printed'
# What this version cannot serve is not configured.
"$AGENTGRAPH" check >check.out 2>&1 || configure '"auth":"jwt","authorization":"ownership"'

right=$(token alice)
expired=$("$MINT" HS256 "$SECRET" '{"user_id":"alice","exp":1}')
wrong_signature=$("$MINT" HS256 "another$SECRET" "{\"user_id\":\"alice\",\"exp\":$LATER}")
wrong_algorithm=$("$MINT" HS384 "$SECRET" "{\"user_id\":\"alice\",\"exp\":$LATER}")
none=$("$MINT" none '' "{\"user_id\":\"alice\",\"exp\":$LATER}")
no_user_id=$("$MINT" HS256 "$SECRET" "{\"sub\":\"alice\",\"exp\":$LATER}")
no_exp=$("$MINT" HS256 "$SECRET" '{"user_id":"alice"}')
no_scope=$(token alice ',"scopes":["other:scope"]')
foreign=$(token bob)

again='Invalid token, please login again'
body='{"thread_id":"hers","threadId":"hers","runId":"r1","state":{},"tools":[],"context":[],"forwardedProps":{},
	"config":{"thread_id":"hers"},"model":"demo","metadata":{"thread_id":"hers"},"messages":[{"id":"m1","role":"user","content":"hi"}],"query":"x","content":"x",
	"if_exists":"do_nothing","assistant_id":"demo","if_not_exists":"create","input":{"messages":[{"type":"human","content":"hi"}]},"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo","arguments":{"message":"hi","thread_id":"hers"}}}'
a2a_body='{"jsonrpc":"2.0","id":1,"method":"message/send","params":{
	"message":{"messageId":"m2","role":"user","contextId":"hers","parts":[{"kind":"text","text":"hi"}]}}}'

# ask TOKEN: the route that is tested, with that token; "" is none.
ask() {
	set -- "$1" ${1:+"Authorization: Bearer $1"}
	shift
	case $path in
	/v1/graph/ws | /v1/graph/live)
		set -- "$@" 'Upgrade: websocket' 'Connection: Upgrade' 'Sec-WebSocket-Version: 13' \
			'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
		;;
	esac
	case "$method $path" in
	GET\ *) api "$method" "$uri" '' "$@" ;;
	*' /v1/a2a') api "$method" "$uri" "$a2a_body" "$@" ;;
	*) api "$method" "$uri" "$body" "$@" ;;
	esac
}

# refused TOKEN STATUS-CODE-TEXT WHAT
refused() {
	ask "$1"
	is "$(said)" "$2" "$method $path: $3"
}

# names_thread: whether the request is about the thread.
names_thread() {
	case "$resource $path" in
	*'{thread_id}'*) return 0 ;;
	'checkpointer /v1/threads' | 'checkpointer /lg/threads') [ "$method" = POST ] ;;
	'graph /lg/assistants'* | 'graph /lg/runs/'*) return 1 ;;
	'graph /v1/graph/ws' | 'graph /v1/graph/live') return 1 ;;
	graph\ *) [ "$method" = POST ] ;;
	*) return 1 ;;
	esac
}

# With an Authorization header of his own, so that alice's thread is there whatever came before.
make_thread() { with "$right" POST /v1/graph/invoke "$(a_run hello hers)"; }

api_start
make_thread
is "$STATUS" 200 'there is a thread'

while read -r method path permission; do
	uri=$(printf '%s' "$path" | sed 's/{thread_id}/hers/; s/{[a-z_]*}/fedcba9876543210fedcba9876543210/')
	resource=${permission%%:*} action=${permission##*:}
	if [ "$permission" = public ] || [ "$permission" = reference ]; then
		ask ''
		ok "[ $STATUS != 401 ] && [ $STATUS != 403 ]" "$method $path is public"
		continue
	fi
	status=403
	case $path in /v1/ag-ui | /v1/chat/completions | /v1/models* | /v1/mcp | /v1/a2a | /v1/config/multimodal | /lg/*) status=401 ;; esac
	refused '' "$status REVOKED_TOKEN $again" 'no token'
	[ $status = 403 ] || is "$(header WWW-Authenticate | sed 's/ .*//')" Bearer "$method $path: which scheme is wanted"
	refused "$expired" "$status EXPIRED_TOKEN Token has expired, please login again" 'an expired token'
	refused "$wrong_signature" "$status INVALID_TOKEN $again" 'a wrong signature'
	refused "$wrong_algorithm" "$status INVALID_TOKEN $again" 'a wrong algorithm'
	refused "$none" "$status INVALID_TOKEN $again" 'the algorithm none'
	refused "$no_user_id" "$status INVALID_TOKEN Invalid token, user_id missing" 'no user_id'
	refused "$no_exp" "$status INVALID_TOKEN $again" 'no exp'
	refused "$no_scope" "403 PERMISSION_ERROR Missing required scope: $permission" 'a missing scope'
	if names_thread; then
		foreign_text="Not authorized to $action $resource"
		[ "$path" != /v1/ag-ui ] || foreign_text='Not allowed to access this thread'
		refused "$foreign" "403 PERMISSION_ERROR $foreign_text" 'a thread of somebody else'
	fi
	ask "$right"
	ok "[ $STATUS != 401 ] && [ $STATUS != 403 ] && [ $STATUS != 500 ]" "$method $path: the right token"
	make_thread
done <routes

make_thread
is "$STATUS" 200 'the thread could be made again in the end'
ok "[ $(wc -l <routes) -gt 15 ]" 'there were routes to test'
for secret in "$right" "$expired" "$none" "$SECRET"; do
	ok '! grep -qF "$secret" "$SERVE_ERR"' 'no token, and no secret, is in the log'
done

done_testing
