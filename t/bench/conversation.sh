# shellcheck shell=sh
# Measurements of runs, for t/bench/run: the length of the history, the first chunk, the tail, the memory.

json_post() { curl -sf -H 'Content-Type: application/json' -d @- "$@"; }

# fill COUNT: 64 threads h<COUNT>-0 … with COUNT messages each.
fill() {
	messages=$(awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "%s{\"role\":\"user\",\"content\":\"message %d of a long conversation\"}", i ? "," : "", i }')
	thread=0
	while [ "$thread" -lt 64 ]; do
		printf '{"messages":[%s]}' "$messages" | json_post "$BASE/v1/threads/h$1-$thread/messages" >/dev/null
		thread=$((thread + 1))
	done
}

# history_script COUNT: each request goes to the next of those threads.
history_script() {
	file=$(mktemp "$WORK/history.XXXXXX")
	cat >"$file" <<LUA
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local n = 0
request = function()
	n = n + 1
	return wrk.format(nil, nil, nil,
		'{"messages":[{"role":"user","content":"hello there"}],"config":{"thread_id":"h$1-' .. n % 64 .. '"}}')
end
LUA
	echo "$file"
}

# history: the rate on threads with 1,000 messages against that on threads with 10.
history() {
	fill 10
	fill 1000
	short=$(history_script 10) long=$(history_script 1000) round=0
	: >"$WORK/ratios"
	while [ "$round" -lt "$ROUNDS" ]; do
		round=$((round + 1))
		a=$(rate /v1/graph/invoke "$short") b=$(rate /v1/graph/invoke "$long")
		echo "$b $a" | awk '{ printf "%.3f %d %d\n", $1 / $2, $1, $2 }' >>"$WORK/ratios"
	done
	printf '%s  invoke on threads of 1,000 messages, of the rate on threads of 10; requests a second:' \
		"$(cut -d' ' -f1 "$WORK/ratios" | median)"
	awk '{ printf " %d/%d", $2, $3 } END { print "" }' "$WORK/ratios"
}

# timed FORMAT PATH: median of 200 requests of a new thread each, in milliseconds.
timed() {
	i=0
	while [ "$i" -lt 200 ]; do
		i=$((i + 1))
		curl -s -o /dev/null -w "%{$1}\n" -H 'Content-Type: application/json' \
			-d '{"messages":[{"role":"user","content":"hello there"}]}' "$BASE$2"
	done | awk '{ print $1 * 1000 }' | median
}

first_chunk() {
	invoke=$(timed time_total /v1/graph/invoke)
	chunk=$(timed time_starttransfer /v1/graph/stream)
	echo "$chunk $invoke" | awk '{ printf "%+.2f ms  first chunk of a stream (%.2f ms) after an invoke (%.2f ms), one client, medians\n", $1 - $2, $1, $2 }'
}

# tail: how far the slowest hundredth of invokes is from the middle, with PROCESSES and with eight processes.
tail_ratio() {
	script=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
	wrk -t 1 -c "$CONCURRENCY" -d "${SECONDS_EACH}s" --latency -s "$script" "$BASE/v1/graph/invoke" |
		awk -v c="$CONCURRENCY" '
			function ms(t) { return t ~ /us$/ ? t / 1000 : t ~ /ms$/ ? t + 0 : t * 1000 }
			$1 == "50%" { p50 = ms($2) } $1 == "99%" { p99 = ms($2) }
			END { printf "%.1f  p99 (%.1f ms) of invoke over its p50 (%.1f ms) at %d clients\n", p99 / p50, p99, p50, c }'
}

# memory: PSS of each worker, without and with what it shares.
memory() {
	for pid in $(pgrep -P "$SERVE_PID" -f agentgraph-fcgi); do
		awk -v name="$1" '$1 == "Pss:" { printf "%.1f MiB  PSS of a worker process, %s\n", $2 / 1024, name }' \
			"/proc/$pid/smaps_rollup"
	done
}
