#!/bin/sh
# SPDX-License-Identifier: ISC
# What access control costs: runs with a token, ownership and a rate limit by user against runs with all of it off, each
# on a service and an nginx of its own.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

# bearer SECRET: a token for somebody (HS256).
bearer() {
	python3 - "$1" <<'PYTHON'
import base64, hashlib, hmac, sys

def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")

text = b64(b'{"alg":"HS256","typ":"JWT"}') + b"." + b64(b'{"user_id":"somebody","exp":4102444800}')
print((text + b"." + b64(hmac.new(sys.argv[1].encode(), text, hashlib.sha256).digest())).decode())
PYTHON
}

# access_service NAME CONFIGURATION: starts one; sets BASE.
access_service() {
	mkdir "$WORK/$1" || exit 1
	printf '%s\n' "$2" >"$WORK/$1/agentgraph.json"
	SOCKET=$WORK/$1/socket STATE=
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" \
		--config "$WORK/$1/agentgraph.json" || exit 1
	bench_nginx || exit 1
	curl -sf "$BASE/ping" >/dev/null || exit 1
}

# rates: the rates with and without access control.
rates() {
	BASE=$guarded
	with=$(rate /v1/graph/invoke "$script")
	BASE=$open
	echo "$with $(rate /v1/graph/invoke "$script")"
}

JWT_SECRET_KEY=0123456789abcdef0123456789abcdef JWT_ALGORITHM=HS256
export JWT_SECRET_KEY JWT_ALGORITHM
access_service open '{"agent":"builtin:demo"}'
open=$BASE
access_service guarded '{"agent":"builtin:demo","auth":"jwt","authorization":"ownership",
	"rate_limit":{"requests":1000000000,"window":60,"by":"user"}}'
guarded=$BASE
script=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
echo "wrk.headers[\"Authorization\"] = \"Bearer $(bearer "$JWT_SECRET_KEY")\"" >>"$script"
rounds ratios rates
ratio access ratios
tap_plan 0
