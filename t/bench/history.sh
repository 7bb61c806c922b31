# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Threads with a history, for the benchmarks of runs.  Sourced after http.sh.

# messages COUNT: COUNT messages, as elements of a JSON array.
messages() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "%s{\"role\":\"user\",\"content\":\"message %d of a long conversation\"}", (i ? "," : ""), i }'
}

# posted FILE: posts that body to each address on standard input, four at a time.
posted() {
	sed "s|.*|url = \"&\"\noutput = /dev/null\ndata-binary = @$1\nheader = \"Content-Type: application/json\"\nnext|" |
		sed '$d' >"$1.requests"
	curl -sf -Z --parallel-max 4 -K "$1.requests" 2>"$1.errors" || tap_bail "no thread was filled: $(cat "$1.errors")"
}

# history_fill COUNT THREADS: makes threads hCOUNT-0, hCOUNT-1 … with COUNT messages each.
history_fill() {
	printf '{"messages":[%s]}' "$(messages "$1")" >"$WORK/past"
	seq 0 $(($2 - 1)) | sed "s|.*|$BASE/v1/threads/h$1-&/messages|" | posted "$WORK/past"
}

# history_script COUNT THREADS TEXT: a script for wrk whose requests go to these threads in turn.
history_script() {
	lua_script "return wrk.format(nil, nil, nil,
		'{\"messages\":[{\"role\":\"user\",\"content\":\"$3\"}],\"config\":{\"thread_id\":\"h$1-' .. n % $2 .. '\"}}')"
}

# measured FILE: prints what wrk --latency wrote there as "RATE P50 P99", with times in milliseconds.
measured() {
	awk '
		function ms(t) { return t ~ /us$/ ? t / 1000 : t ~ /ms$/ ? t + 0 : t * 1000 }
		$1 == "50%" { p50 = ms($2) }
		$1 == "99%" { p99 = ms($2) }
		$1 == "Requests/sec:" { rate = $2 }
		END { print rate, p50, p99 }' "$1"
}
