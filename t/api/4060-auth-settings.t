#!/bin/sh
# SPDX-License-Identifier: ISC
# Settings that would leave the service unguarded keep it from starting.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

"$MINT" --keys RS256 rsa.pem rsa.pub
"$MINT" --keys ES256 ec.pem ec.pub

# start_fails TEXT NAME [VARIABLE=VALUE...]: check and the worker refuse the present configuration with that text.
start_fails() {
	text=$1 name=$2
	shift 2
	env "$@" "$AGENTGRAPH" check >out 2>&1
	is $? 1 "$name: check refuses"
	like "$(cat out)" "$text" "$name: and says why"
	env "$@" "$AGENTGRAPH" serve --no-nginx --socket "$WORK/s" --state "$WORK/st" >out 2>&1
	ok "[ $? != 0 ]" "$name: it does not start"
}

configure '"auth":"jwt"'
start_fails 'JWT_SECRET_KEY: expected a value' 'no secret' -u JWT_SECRET_KEY
start_fails 'JWT_SECRET_KEY: expected a value' 'an empty secret' JWT_SECRET_KEY=
start_fails 'JWT_ALGORITHM: expected a value' 'no algorithm' -u JWT_ALGORITHM
start_fails 'JWT_ALGORITHM: expected HS256' 'an unknown algorithm' JWT_ALGORITHM=PS256
start_fails 'JWT_ALGORITHM: expected HS256' 'none' JWT_ALGORITHM=none
start_fails 'JWT_SECRET_KEY: expected at least 32 bytes' 'a short secret in production' \
	JWT_SECRET_KEY=short MODE=production CORS_ALLOW_CREDENTIALS=false
start_fails 'JWT_SECRET_KEY: expected a public key as PEM' 'a secret for RS256' JWT_ALGORITHM=RS256
start_fails 'expected a public RSA key as PEM' 'a curve for RS256' JWT_ALGORITHM=RS256 "JWT_SECRET_KEY=$(cat ec.pub)"
start_fails 'expected a public RSA key as PEM' 'a private key' JWT_ALGORITHM=RS256 "JWT_SECRET_KEY=$(cat rsa.pem)"
start_fails 'expected the public key of a curve of 256 bits' 'an RSA key for ES256' \
	JWT_ALGORITHM=ES256 "JWT_SECRET_KEY=$(cat rsa.pub)"
start_fails 'expected the public key of a curve of 384 bits' 'another curve' \
	JWT_ALGORITHM=ES384 "JWT_SECRET_KEY=$(cat ec.pub)"
unlike "$(cat out)" 'BEGIN' 'and no key is shown'

configure '"auth":"basic"'
start_fails 'auth: expected null' 'an unknown kind'
configure '"auth":"jwt","authorization":"owner"'
start_fails "Unknown authorization backend 'owner'. Use a 'module:attr' path or one of: allow_all, default, none, ownership." \
	'an unknown authorization'
configure '"auth":"jwt","authorization":{"backend":"acl"}'
start_fails 'Unknown authorization backend config: {"backend":"acl"}' 'an unknown backend'
configure '"authorization":"owner"'
start_fails "Unknown authorization backend 'owner'" 'one that nobody asks'

configure '"auth":"jwt"'
JWT_SECRET_KEY=short "$AGENTGRAPH" check >out 2>&1
is $? 0 'a short secret is taken in development'
like "$(cat out)" 'warning: .*at least 32 bytes' 'with a warning'
configure ''
"$AGENTGRAPH" check >out 2>&1
like "$(cat out)" 'warning: authentication is off' 'that nobody is asked is worth a warning'

done_testing
