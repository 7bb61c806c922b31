#!/bin/sh
# SPDX-License-Identifier: ISC
# The example of a plug-in that decides who may use the service, built and tried; and files that are no such plug-in.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

cp "$TOP_SRCDIR"/examples/auth-plugin/* .
chmod u+w ./*
# The flags of this build are not those of whoever writes a plug-in.
env -u CFLAGS -u CPPFLAGS -u MAKEFLAGS -u MAKELEVEL make -s AGENTGRAPH_INCLUDE="$TOP_SRCDIR/common" >make.out 2>&1
ok $? 'the example is built' || diag "$(cat make.out)"
long=$(printf '%0130d' 0)
printf '# the team\n! of all others\n%s ann sales\n!%0510dkey-of-none ann sales\n' "$long" 0 >>keys.txt
AUTH_KEYS=$PWD/keys.txt
export AUTH_KEYS
jq '.langgraph = {enabled: true}' agentgraph.json >more.json && mv more.json agentgraph.json
api_start

ask() { with "$1" POST /v1/graph/invoke "$(a_run /whoami "$2")"; }

ask key-of-ann sales-1
is "$(reply)" ann 'a key is a user'
ask key-of-bob sales-1
is "$(said)" '403 PERMISSION_ERROR Not authorized to invoke graph' 'the plug-in says who may run what'
ask key-of-guy guests-1
is "$(said)" '403 PERMISSION_ERROR Missing required scope: graph:invoke' 'and what scopes there are'
ask key-of-eve sales-1
is "$(said)" '403 ACCOUNT_SUSPENDED The account of eve is suspended' 'an account is refused with a code of its own'
ask key-of-nobody sales-1
is "$(said)" '403 AUTHENTICATION_FAILED This API key is not known' 'an unknown key with a status'
for key in '#' '!' "${long%000}" key-of-none; do
	ask "$key" sales-1
	is "$(said)" '403 AUTHENTICATION_FAILED This API key is not known' "nor is a part of another line one: $key"
done
api GET /v1/threads
is "$(said)" '401 AUTHENTICATION_FAILED An API key is needed' 'which can be 401'
is "$(header WWW-Authenticate)" Bearer 'and then says which scheme is wanted'
api GET /v1/threads/sales-1 '' 'X-Api-Key: key-of-ann'
is "$STATUS" 200 'headers can be read'
api GET /v1/threads '' 'X-Api-Key: key-of-sue'
is "$(json '.data.threads | length' "$BODY")" 0 'lists hold the own threads'
with key-of-sue POST /v1/threads/new/messages '{"messages":[{"role":"user","content":"x"}]}'
is "$STATUS" 200 'an id can be the word that asks a run for a new thread'
for action in fix stop; do
	for config in '' ',"config":{"thread_id":"support-1"}'; do
		with key-of-bob POST "/v1/graph/$action" "{\"thread_id\":\"new\"$config}"
		is "$(said)" "403 PERMISSION_ERROR Not authorized to $action graph" "that thread is asked about before a $action"
	done
done
with key-of-bob POST /lg/threads/prune '{"thread_ids":["sales-1"]}'
is "$STATUS" 403 'nor is a thread that only a body names deleted by everybody'
with key-of-bob POST /lg/threads/search '{"ids":["sales-1","sales-1"],"select":["values"]}'
is "$STATUS $BODY" '200 []' 'or found'
with key-of-bob POST /lg/threads '{"thread_id":"sales-1","if_exists":"do_nothing","config":{"thread_id":"x"}}'
is "$STATUS" 403 'or read because it is there already'
with key-of-ann POST /lg/threads/search '{"ids":["sales-1","sales-1"],"select":["thread_id"]}'
is "$(printf '%s' "$BODY" | jq -c .)" '[{"thread_id":"sales-1"}]' 'who may read it finds it, once'
api DELETE /v1/threads/sales-1 '{}' 'X-Api-Key: key-of-ann'
is "$STATUS" 403 'not everybody deletes'
api DELETE /v1/threads/sales-1 '{}' 'X-Api-Key: key-of-sue'
is "$STATUS" 200 'staff does'
api GET /v1/threads '' 'X-Api-Key: key-of-ann' 'Upgrade: websocket'
is "$STATUS" 200 'a header for an upgrade elsewhere means nothing'
api GET /v1/graph/ws '' 'Upgrade: websocket' 'Connection: Upgrade' 'Sec-WebSocket-Version: 13' \
	'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
is "$(said) $(json .close_code "$BODY")" '403 AUTHENTICATION_FAILED An API key is needed 1008' \
	'a WebSocket is always refused with 403'
ok '! grep -q key-of "$SERVE_ERR"' 'no key is in the log'
sed -i /ann/d keys.txt
ask key-of-ann sales-2
is "$STATUS" 403 'a key that is taken out is refused at once'
serve_stop

# refuses MEMBERS TEXT NAME: neither check nor serve takes it.
refuses() {
	configure "$1"
	"$AGENTGRAPH" check >out 2>&1
	is $? 1 "$3: check finds it"
	like "$(cat out)" "$2" 'and says what it is'
}
plugin='"auth":{"method":"custom","path"'
refuses "$plugin:\"none.so:keys\"}" 'auth.path: .*/none.so: expected a loadable plug-in' 'no such file'
refuses "$plugin:\"auth.so:nothing\"}" "expected it to export the struct ag_auth 'nothing'" 'no such name'
refuses "$plugin:\"auth.so:teams\"}" "expected 'teams' to be a struct ag_auth" 'another struct'
refuses "$plugin:\"auth.so:keys\"},\"authorization\":\"auth.so:keys\"" \
	"authorization: .*expected 'keys' to be a struct ag_authorization" 'another one'
refuses "$plugin:\"auth.c:keys\"}" 'expected a loadable plug-in' 'no plug-in'
refuses "$plugin:7}" 'auth.path' 'no text'
refuses '"auth":{"method":"custom"}' 'auth.path' 'no path'
AUTH_KEYS=$PWD/none
refuses "$plugin:\"auth.so:keys\"}" 'auth.path: auth.so:keys: the plug-in refused to start' 'one that does not want'
like "$(cat out)" "AUTH_KEYS must name a file .*$AUTH_KEYS" 'and the example says why'

# A plug-in that misbehaves.
cat >bad.c <<'C'
#include <agentgraph.h>
#include <stdlib.h>
#include <string.h>
AG_PLUGIN;
static ag_result answer(ag_request *rq, void *data)
{
	const char *how = ag_request_credential(rq);
	(void)data;
	if (!how)
		return AG_OK;
	if (!strcmp(how, "fails"))
		return AG_ERROR;
	if (!strcmp(how, "forges"))
		return ag_let_in(rq, cJSON_Parse("{\"user_id\":\"f\",\"authz\":{\"scopes\":[]}}"));
	if (!strcmp(how, "team"))
		return ag_let_in(rq, cJSON_Parse("{\"team\":\"x\"}"));
	return ag_refuse(rq, atoi(how), "text");
}
const struct ag_auth bad = {.kind = AG_AUTH, .authenticate = answer};
const struct ag_auth empty = {.kind = AG_AUTH};
const struct ag_auth old = {.kind = AG_AUTH + 1, .authenticate = answer};
C
# shellcheck disable=SC2046
cc -std=c11 -fPIC -shared -I"$TOP_SRCDIR/common" $(pkg-config --cflags libcjson) -o bad.so bad.c
refuses "$plugin:\"bad.so:empty\"}" 'expected it to have a function authenticate' 'one without the function'
refuses "$plugin:\"bad.so:old\"}" "expected 'old' to be a struct ag_auth of plug-in interface" 'one of another interface'

configure "$plugin:\"bad.so:bad\"}"
api_start
with fails GET /v1/threads
is "$(said)" '500 INTERNAL_ERROR An unexpected error occurred. Please contact support.' 'a plug-in that fails is a 500'
with 200 GET /v1/threads
is "$STATUS" 500 'and so is one that refuses with a good status'
with 418 GET /v1/threads
is "$(said)" '418 AUTHENTICATION_FAILED text' 'any other status is its own'
api POST /v1/graph/invoke "$(a_run /whoami t)"
is "$STATUS $(reply)" '200 anonymous' 'without a word everybody is anonymous'
api GET /v1/threads/t
is "$(json .data.thread_data.user_id "$BODY")" anonymous 'and owns things as such'
with forges POST /v1/graph/invoke "$(a_run /whoami)"
is "$(reply)" f 'what it says of authorization is not believed'
serve_stop

configure "$plugin:\"bad.so:bad\"},\"authorization\":\"ownership\""
api_start
api GET /v1/threads
is "$(said)" '403 PERMISSION_ERROR Not authorized to read checkpointer' 'under ownership nobody anonymous reaches a thread'
with team GET /v1/threads
is "$STATUS" 403 'nor does a user without an id'
with forges GET /v1/threads
is "$STATUS" 200 'one with an id does'
serve_stop

# What else an authorization may say, and is told.
cat >scope.c <<'C'
#include <agentgraph.h>
#include <stdio.h>
AG_PLUGIN;
static void note(const char *what)
{
	FILE *file = fopen("noted", "a");
	fprintf(file, "%s\n", what);
	fclose(file);
}
static int open_scope(void **data) { *data = "owner"; return 0; }
static int open_all(void **data) { *data = "none"; return 0; }
static ag_decision decide(const cJSON *user, const char *resource, const char *action, const char *id, void *data)
{
	(void)user, (void)resource, (void)action, (void)id, (void)data;
	return AG_ALLOW;
}
static const char *scope(void *data) { return data; }
static void forget(const char *thread_id, void *data) { (void)data; note(thread_id); }
static void end(void *data) { (void)data; note("the end"); }
const struct ag_authorization own = {.kind = AG_AUTHORIZATION, .open = open_scope, .authorize = decide,
    .isolation_scope = scope, .evict = forget, .close = end};
const struct ag_authorization all = {.kind = AG_AUTHORIZATION, .open = open_all, .authorize = decide,
    .isolation_scope = scope};
C
# shellcheck disable=SC2046
cc -std=c11 -fPIC -shared -I"$TOP_SRCDIR/common" $(pkg-config --cflags libcjson) -o scope.so scope.c
listed() { json '.data.threads | map(.thread_id) | tojson' "$BODY"; }
configure "$plugin:\"bad.so:bad\"},\"authorization\":\"scope.so:own\""
api_start
state=$STATE
with forges POST /v1/graph/invoke "$(a_run hello f1)"
api POST /v1/graph/invoke "$(a_run hello a1)"
api GET /v1/threads
is "$(listed)" '["a1"]' 'a plug-in can say that lists hold the own'
api DELETE /v1/threads/f1 '{}'
is "$STATUS $(grep f1 noted | sort -u)" '200 f1' 'it is told which thread is deleted'
with forges POST /v1/graph/invoke "$(a_run hello f2)"
rm noted
serve_stop
is "$(tail -n 1 noted)" 'the end' 'and of the end'
STATE=$state
configure "$plugin:\"bad.so:bad\"},\"authorization\":\"scope.so:all\""
api_start
api GET /v1/threads
is "$(listed)" '["f2","a1"]' 'or those of everybody'

done_testing
