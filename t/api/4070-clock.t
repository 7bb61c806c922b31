#!/bin/sh
# SPDX-License-Identifier: ISC
# The wall clock is stepped, forwards and back, while the service runs.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

command -v python3 >/dev/null || tap_skip_all 'no python3 here'
${CC:-cc} -shared -fPIC -o disturb.so "$TOP_SRCDIR/t/chaos/disturb.c" || tap_bail 'disturb.c does not compile'
head -c 24 /dev/zero >control
clock=control patience=0

# With PostgreSQL the clock is the server's, of which the service hears every two seconds.
if [ -n "$PG_DIR" ]; then
	clock=$PG_DIR/control patience=20
	cp disturb.so control "$PG_DIR"
	CHAOS_CONTROL=$clock LD_PRELOAD=$PG_DIR/disturb.so "$TOP_SRCDIR/t/postgresql-server" crash "$PG_DIR" ||
		tap_bail 'PostgreSQL does not start'
fi

# step SECONDS [FILE]: from now on the wall clock is that far off.
step() {
	python3 -c 'import struct, sys; open(sys.argv[2], "r+b").write(struct.pack("=q", int(sys.argv[1])))' "$1" "${2-$clock}"
}

configure '"auth":"jwt","authorization":"ownership","rate_limit":{"requests":20,"window":3600,"by":"user"}'
CHAOS_CONTROL=$WORK/control LD_PRELOAD=$WORK/disturb.so ASAN_OPTIONS=verify_asan_link_order=0 api_start ||
	tap_bail 'the service does not start'

users=0
until_soon() { "$MINT" HS256 "$SECRET" "{\"user_id\":\"$1\",\"exp\":$(($(date +%s) + 600))}"; }
soon=$(until_soon alice)
left() { header X-RateLimit-Remaining; }

# hears STATUS: asks with tokens that expire, each of a user of its own, until an answer has that status.
hears() { wait_for $patience hears_once "$1"; }
hears_once() {
	users=$((users + 1))
	with "$(until_soon "user$users")" GET /v1/threads
	[ "$STATUS" = "$1" ]
}

with "$soon" POST /v1/graph/invoke "$(a_run one t1)"
is "$(said) $(left)" '200 19' 'before the step a request is counted'
created=$(json .data.messages[0].timestamp "$BODY")

if [ -n "$PG_DIR" ]; then
	step +3000 control
	sleep 3
	with "$(until_soon bob)" GET /v1/threads
	is "$(said)" 200 'the time of the machine itself does not matter'
fi
step +3000
hears 403
with "$soon" GET /v1/threads
is "$(said)" '403 EXPIRED_TOKEN Token has expired, please login again' 'an hour later the token has expired'
as alice POST /v1/graph/invoke "$(a_run two t1)"
is "$(said) $(left)" '200 18' 'the window of the limit has not moved'
ok "[ \"$(json '.data.messages[0].timestamp | floor' "$BODY")\" -ge $((${created%.*} + 2990)) ]" 'what is written has the new time'

step -3600
hears 200
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
