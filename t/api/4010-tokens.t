#!/bin/sh
# SPDX-License-Identifier: ISC
# Where a token may be, which tokens are good, and what of them reaches the graph.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

configure '"auth":"jwt","authorization":"ownership"'
LOG_LEVEL=DEBUG api_start
alice=$(token alice)
again='Invalid token, please login again'

# header_gives VALUE EXPECTED NAME
header_gives() {
	api GET /v1/threads '' "Authorization: $1"
	is "$(said)" "$2" "$3"
}
header_gives "Bearer $alice" 200 'a bearer token is let in'
header_gives "bEaReR $alice" 200 'whatever the case of the scheme'
header_gives "Bearer   $alice  " 200 'and with blanks around it'
header_gives "Basic $alice" "403 REVOKED_TOKEN $again" 'another scheme is no credential'
header_gives "$alice" "403 REVOKED_TOKEN $again" 'nor is a token without one'
header_gives 'Bearer' "403 REVOKED_TOKEN $again" 'nor a scheme without a token'
header_gives 'Bearer ' "403 REVOKED_TOKEN $again" 'nor an empty one'
header_gives "Bearer$alice" "403 REVOKED_TOKEN $again" 'nor one that sticks to it'
header_gives "Bearer $(printf '\001')$alice" "403 REVOKED_TOKEN $again" 'nor one with a control character'
header_gives "Bearer $alice, Bearer $alice" "403 INVALID_TOKEN $again" 'two tokens are none'
header_gives "Bearer $alice x" "403 INVALID_TOKEN $again" 'nor is one with something behind it'

api GET "/v1/threads?token=$alice"
is "$(said)" "403 REVOKED_TOKEN $again" 'a token in the query is no credential'
api GET /v1/threads '' "Cookie: token=$alice" "X-Authorization: Bearer $alice" 'Sec-WebSocket-Protocol: service-bearer, t'
is "$(said)" "403 REVOKED_TOKEN $again" 'nor one anywhere else'
api GET /ping
is "$STATUS" 200 'ping needs none'
api GET /nowhere
is "$STATUS" 404 'an unknown path is told before anybody is asked'
api PATCH /v1/threads
is "$STATUS" 405 'and so is a wrong method'
api OPTIONS /v1/threads
is "$STATUS" 204 'and what a path can do'
api HEAD /v1/threads
is "$STATUS" 403 'HEAD is guarded like GET'
with "$alice" HEAD /v1/threads
is "$STATUS" 200 'and let in like it'

# The order of the checks: who, what, then the body.
api POST /v1/graph/invoke 'no JSON'
is "$STATUS" 403 'a stranger learns nothing of a body'
with "$(token alice ',"scopes":[]')" POST /v1/graph/invoke 'no JSON'
is "$(said)" '403 PERMISSION_ERROR Missing required scope: graph:invoke' 'nor does one without the scope'
as alice POST /v1/graph/invoke 'no JSON'
is "$STATUS" 422 'then it is read'

# Claims
as alice POST /v1/graph/invoke "$(a_run /whoami)"
is "$(reply)" alice 'the graph knows who asks'
with "$("$MINT" HS256 "$SECRET" "{\"user_id\":9007199254740993,\"exp\":$LATER}")" POST /v1/graph/invoke "$(a_run /whoami n1)"
is "$(reply)" 9007199254740993 'also when the id is a large integer'
as 9007199254740993 GET /v1/threads/n1
is "$STATUS|$(json .data.thread_data.user_id "$BODY")" '200|9007199254740993' 'which is the same as its text'

# forged MEMBERS NAME: nothing that a body says of the user counts.
forged() {
	as alice POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"/whoami\"}],$1}"
	is "$(reply)" alice "$2 in the body changes nothing"
}
forged '"config":{"user":{"user_id":"root"}}' config.user
forged '"config":{"user_id":"root"}' config.user_id
forged '"config":{"authz":{"user_id":"root","scopes":null}}' config.authz
forged '"config":{"_user":"root","_x":{"user_id":"root"}}' 'what begins with an underscore'
forged '"user":{"user_id":"root"},"user_id":"root"' 'a user beside config'
as alice POST /v1/graph/invoke "$(a_run hello)" 'X-User-Id: root' 'X-Forwarded-User: root'
is "$(json .data.meta.thread_id "$BODY" | wc -l)" 1 'nor does a header'
as alice GET /v1/threads
is "$(json '[.data.threads[].user_id] | unique | join(" ")' "$BODY")" alice 'all her threads are hers'

ok '! grep -qF "$alice" "$SERVE_ERR"' 'no token is in the log'
ok '! grep -qF "token=ey" "$SERVE_ERR"' 'and no query is'
serve_stop

# Other algorithms, issuer and audience
for algorithm in RS256 ES384; do
	"$MINT" --keys $algorithm private.pem public.pem
	JWT_SECRET_KEY=$(cat public.pem) JWT_ALGORITHM=$algorithm api_start
	with "$("$MINT" $algorithm @private.pem "{\"user_id\":\"alice\",\"exp\":$LATER}")" GET /v1/threads
	is "$STATUS" 200 "$algorithm: a token of the private key is let in"
	with "$("$MINT" HS256 @public.pem "{\"user_id\":\"alice\",\"exp\":$LATER}")" GET /v1/threads
	is "$(said)" "403 INVALID_TOKEN $again" "$algorithm: the public key is no secret"
	with "$("$MINT" HS256 @public.pem "{\"user_id\":\"alice\",\"exp\":$LATER}" "{\"alg\":\"$algorithm\"}")" GET /v1/threads
	is "$(said)" "403 INVALID_TOKEN $again" "$algorithm: nor under its name"
	serve_stop
done
JWT_ISSUER=me JWT_AUDIENCE=us api_start
with "$(token alice ',"iss":"me","aud":["them","us"]')" GET /v1/threads
is "$STATUS" 200 'the issuer and one of the audiences are right'
for claims in ',"aud":"us"' ',"iss":"me"' ',"iss":"you","aud":"us"' ',"iss":"me","aud":"them"'; do
	with "$(token alice "$claims")" GET /v1/threads
	is "$(said)" "403 INVALID_TOKEN $again" "not with only $claims"
done

done_testing
