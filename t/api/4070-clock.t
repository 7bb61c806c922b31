#!/bin/sh
# SPDX-License-Identifier: ISC
# The wall clock steps, forwards and back, while the service runs.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

[ "${AGENTGRAPH_ENGINE-}" != postgresql ] || tap_skip_all 'with PostgreSQL the clock is the server'"'"'s'
command -v python3 >/dev/null || tap_skip_all 'no python3 here'
${CC:-cc} -shared -fPIC -o disturb.so "$TOP_SRCDIR/t/chaos/disturb.c" || tap_bail 'disturb.c does not compile'
head -c 24 /dev/zero >control

# step SECONDS: from now on the service's wall clock is that far off.
step() {
	python3 -c 'import struct, sys; open("control", "r+b").write(struct.pack("=q", int(sys.argv[1])))' "$1"
}

configure '"auth":"jwt","authorization":"ownership","rate_limit":{"requests":20,"window":3600,"by":"user"}'
CHAOS_CONTROL=$WORK/control LD_PRELOAD=$WORK/disturb.so ASAN_OPTIONS=verify_asan_link_order=0 api_start ||
	tap_bail 'the service does not start'

soon=$("$MINT" HS256 "$SECRET" "{\"user_id\":\"alice\",\"exp\":$(($(date +%s) + 600))}")
left() { header X-RateLimit-Remaining; }

with "$soon" POST /v1/graph/invoke "$(a_run one t1)"
is "$(said) $(left)" '200 19' 'before the step a request is counted'
created=$(json .data.messages[0].timestamp "$BODY")

step +3000
with "$soon" GET /v1/threads
is "$(said)" '403 EXPIRED_TOKEN Token has expired, please login again' 'an hour later the token has expired'
as alice POST /v1/graph/invoke "$(a_run two t1)"
is "$(said) $(left)" '200 18' 'the window of the limit has not moved'
ok "[ \"$(json '.data.messages[0].timestamp | floor' "$BODY")\" -ge $((${created%.*} + 2990)) ]" 'what is written has the new time'

step -3600
with "$soon" GET /v1/threads
is "$(said) $(left)" '200 17' 'when the clock goes back the token is good again, and the limit has not moved'
as alice POST /v1/graph/invoke "$(a_run three t1)"
is "$(said) $(reply)" '200 echo: three' 'a run goes on'
as alice GET /v1/threads/t1/messages
is "$(json '[.data.messages[] | select(.role == "user").content[0].text] | join(" ")' "$BODY")" 'one two three' \
	'messages keep the order in which they were written'
as alice POST /v1/graph/invoke "$(a_run four)"
is "$(said)" 200 'new threads are made'
as alice POST /v1/graph/invoke "$(a_run '/slow 2 50' t1)"
is "$(reply)" done 'and times of a node are not the wall clock'"'"'s'
serve_stop
is $? 0 'the service ends as always'

done_testing
