#!/bin/sh
# SPDX-License-Identifier: ISC
# Streams whose chunks are kept against plain ones, many at once; and how soon a client that joins sees the first chunk.
# WORDS, READERS and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

: "${WORDS:=200}" "${READERS:=100}"
CONCURRENCY=32
MESSAGES="\"messages\":[{\"role\":\"user\",\"content\":\"$(printf "%0${WORDS}d" 0 | sed 's/0/ab /g')\"}]"

both() { echo "$(rate /v1/graph/stream "$kept") $(rate /v1/graph/stream "$plain")"; }

# joins: milliseconds to the first chunk of a run that is going on.
joins() {
	i=0
	while [ "$i" -lt "$READERS" ]; do
		i=$((i + 1))
		curl -s -o /dev/null -m 0.5 -w '%{time_starttransfer}\n' "$BASE/v1/threads/long/runs/one/stream"
	done | awk '{ print $1 * 1000 }' | median
}

command -v wrk >/dev/null || tap_skip_all 'wrk is not installed'
serve_start || tap_bail 'there is no service to measure'
kept=$(post_script "{$MESSAGES,\"resumable\":true}") plain=$(post_script "{$MESSAGES}")
rounds rates both
ratio streams rates
curl -s -o /dev/null -H 'Content-Type: application/json' "$BASE/v1/graph/runs" \
	-d '{"messages":[{"role":"user","content":"/slow 1000 500"}],"config":{"thread_id":"long","run_id":"one"}}'
result join "$(joins)"
tap_plan 0
