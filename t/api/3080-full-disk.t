#!/bin/sh
# SPDX-License-Identifier: ISC
# A full disk: a thread can still be deleted.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

[ -z "$PG_DIR" ] || tap_skip_all 'the disk of a database server is its own'
[ "$(id -u)" -eq 0 ] && mkdir disk && mount -t tmpfs -o size=50m none disk 2>/dev/null ||
	tap_skip_all 'only root can mount a small disk'
unmount() {
	code=$?
	umount -l "$WORK/disk" 2>/dev/null
	(exit "$code")
	tap_end
}
trap unmount EXIT

STATE=$WORK/disk/state
printf '{"agent": "builtin:demo"}\n' >agentgraph.json
api_start --config agentgraph.json
wait_for 30 test -s "$STATE/reserve"
ok $? 'some room is kept'
long=$(repeat 90000 x)
for i in $(seq 20); do
	put 7 "$(user "m$i" "$long")"
done
is "$STATUS" 200 'a thread is filled'
dd if=/dev/zero of=disk/fill bs=4k >/dev/null 2>&1
for i in $(seq 400); do
	put 8 "$(user "n$i" "$long")"
	[ "$STATUS" = 200 ] || break
done
refused 503 TRANSIENT_STORAGE_ERROR 'Storage is temporarily unavailable' 'on a full disk nothing more is stored'
kill -HUP "$SERVE_PID"
failed() { "$AGENTGRAPH" status --state "$STATE" | grep -q ', which failed; 0 done, 1 failed'; }
ok 'wait_for 30 failed' 'status says that a reload failed for it'
serve_stop
dd if=/dev/zero of=disk/fill bs=4k oflag=append conv=notrunc >/dev/null 2>&1
STATE=$WORK/disk/state
api_start --config agentgraph.json
ok $? 'it starts again all the same'
api DELETE /v1/threads/7 '{}'
is "$STATUS" 200 'but a thread is deleted'
api GET /v1/threads/7
not_found 'Thread not found' 'and gone'
rm disk/fill
put 8 "$(user again "$long")"
is "$STATUS" 200 'with room again messages are stored'
api DELETE /v1/threads/8 '{}'
wait_for 20 test -s "$STATE/reserve"
ok $? 'and some room is kept again'
serve_stop
done_testing
