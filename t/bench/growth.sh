#!/bin/sh
# SPDX-License-Identifier: ISC
# How long a lone client waits, by how much the service already keeps: threads, messages in a thread, queued runs,
# files, memories of other users.  SIZES (1000 10000 100000) says how much, and KINDS (threads messages runs files
# memories) of what.  OUTPUT gets the points of each, growth-*.tsv, and their plots.  A result is the median time at the
# largest size divided by that at the smallest, for the call that grows most.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
. "$TOP_SRCDIR/t/bench/history.sh"

: "${SIZES:=1000 10000 100000}" "${KINDS:=threads messages runs files memories}" "${OUTPUT:=$TOP_BUILDDIR/t/bench}"
TOOL=${STORE:-$TOP_BUILDDIR/t/bench/store}
mkdir -p "$OUTPUT"

# asking METHOD PATH BODY [TYPE]: writes a script for wrk that sends this request; <N> is a number that counts up, and
# <R> that of something that was filled in.
asking() {
	file=$(mktemp "$WORK/asking.XXXXXX")
	printf '%s' "$3" >"$file.body"
	cat >"$file" <<LUA
local n = tonumber(os.getenv("FILLED"))
local filled, last = n, tonumber(os.getenv("LAST"))
local body = io.open("$file.body", "rb"):read("*a")
local function of(text)
	return (text:gsub("<N>", tostring(n)):gsub("<R>", tostring(math.random(1, math.max(filled, 1)))))
end
function init() math.randomseed(7) end
function request()
	n = n + 1
	return wrk.format("$1", of("$2"), {["Content-Type"] = "${4:-application/json}"}, body ~= "" and of(body) or nil)
end
function response()
	if last and n >= last then os.exit(0) end
end
LUA
	echo "$file"
}

# filled UNTIL SCRIPT: fills in from FILLED on, until there are UNTIL.
filled() {
	LAST=$1 wrk -t 1 -c 16 -d 3600s --timeout 60s -s "$2" "$BASE" >"$WORK/fill" 2>&1
	grep -E 'Non-2xx|Socket errors' "$WORK/fill" | sed 's/^/# /' >&2
	FILLED=$1
}

# point NAME SCRIPT: measures, and prints a line of the points for the size FILLED.
point() {
	LAST='' wrk -t 1 -c 1 -d "${SECONDS_EACH}s" --latency -s "$2" "$BASE" >"$WORK/wrk" 2>&1
	grep -E 'Non-2xx|Socket errors' "$WORK/wrk" | sed "s/^/# $1, $FILLED: /" >&2
	printf '%s\t%s\t%s\n' "$1" "$SIZE" "$(measured "$WORK/wrk" | tr ' ' '\t')"
}

# grown KEY: reports the result of growth-KEY.tsv, and plots it.
grown() {
	awk -F '\t' '
		!($1 in first) { first[$1] = $4 }
		{ last[$1] = $4 }
		END { for (name in first) printf "%s\t%s\t%s\n", last[name] / first[name], name, last[name] " ms after " first[name] }' \
		"$OUTPUT/growth-$1.tsv" | sort -rn | sed 1q >"$WORK/most"
	result "growth-$1" "$(cut -f 1 "$WORK/most")" "$(cut -f 2,3 "$WORK/most" | tr '\t' ' ')"
	awk -f "$TOP_SRCDIR/t/bench/plot.awk" -v title="$2" -v xlabel="$3" "$OUTPUT/growth-$1.tsv" >"$OUTPUT/growth-$1.svg"
}

threads() {
	FILLED=0
	in_new=$(asking POST /v1/graph/invoke '{"messages":[{"role":"user","content":"hello there"}],"config":{"thread_id":"g<N>"}}')
	for SIZE in $SIZES; do
		filled "$SIZE" "$in_new"
		point 'invoke, a new thread' "$(asking POST /v1/graph/invoke '{"messages":[{"role":"user","content":"hello there"}]}')"
		point 'invoke, one of them' \
			"$(asking POST /v1/graph/invoke '{"messages":[{"role":"user","content":"hello there"}],"config":{"thread_id":"g<R>"}}')"
		point 'messages of one' "$(asking GET '/v1/threads/g<R>/messages?limit=20' '')"
		point 'list of threads' "$(asking GET '/v1/threads?limit=20' '')"
		point 'list of runs' "$(asking GET '/v1/graph/runs?limit=20' '')"
		point 'completed runs' "$(asking GET '/v1/graph/runs?limit=20&status=completed' '')"
	done >"$OUTPUT/growth-threads.tsv"
}

# Measures several threads of this length, so that a measurement adds little to each.
in_thread() {
	FILLED=0
	LONG=0
	for SIZE in $SIZES; do
		printf '{"messages":[%s]}' "$(messages 1000)" >"$WORK/past"
		while [ "$LONG" -lt "$SIZE" ]; do
			seq 1 4 | sed "s|.*|$BASE/v1/threads/long&/messages|" | posted "$WORK/past" >&2 || return
			LONG=$((LONG + 1000))
		done
		FILLED=4
		point 'invoke' "$(asking POST /v1/graph/invoke '{"messages":[{"role":"user","content":"hello there"}],"config":{"thread_id":"long<R>"}}')"
		point 'latest messages' "$(asking GET '/v1/threads/long<R>/messages?limit=20' '')"
		point 'history' "$(asking GET '/v1/threads/long<R>/history?limit=20' '')"
	done >"$OUTPUT/growth-messages.tsv"
}

queued() {
	FILLED=0
	later=$(asking POST /v1/graph/runs '{"messages":[{"role":"user","content":"hello there"}],"delay":86400,"config":{"thread_id":"q<N>"}}')
	for SIZE in $SIZES; do
		filled "$SIZE" "$later"
		point 'invoke' "$(asking POST /v1/graph/invoke '{"messages":[{"role":"user","content":"hello there"}]}')"
		point 'submission' "$(asking POST /v1/graph/runs '{"messages":[{"role":"user","content":"hello there"}],"delay":86400}')"
		point 'queued runs' "$(asking GET '/v1/graph/runs?limit=20&status=queued' '')"
	done >"$OUTPUT/growth-runs.tsv"
}

files() {
	FILLED=0
	crlf=$(printf '\r')
	upload=$(asking POST /v1/files/upload "--cut$crlf
Content-Disposition: form-data; name=\"file\"; filename=\"note.txt\"$crlf
Content-Type: text/plain$crlf
$crlf
a small file$crlf
--cut--$crlf
" 'multipart/form-data; boundary=cut')
	for SIZE in $SIZES; do
		filled "$SIZE" "$upload"
		file=$(printf 'a file' | curl -sf -F 'file=@-;filename=a.txt' "$BASE/v1/files/upload" | jq -r .data.file_id)
		point 'upload' "$upload"
		point 'download' "$(asking GET "/v1/files/$file" '')"
		point 'facts of a file' "$(asking GET "/v1/files/$file/info" '')"
	done >"$OUTPUT/growth-files.tsv"
}

# stored BODY: stores a memory; prints its id.
stored() { curl -sf --json "$1" "$BASE/v1/store/memories" | jq -r .data.memory_id; }

# Measures a user who has a thousand memories, while others have a hundred each.
memories() {
	for SIZE in $SIZES; do
		"$TOOL" fill "$STATE" "$SIZE" 100 || return
		FILLED=$SIZE
		id=$(stored '{"content":"to be changed","config":{"user_id":"writer"}}')
		point 'store' "$(asking POST /v1/store/memories '{"content":"memory number <N>","config":{"user_id":"writer"}}')"
		point 'change' "$(asking PUT "/v1/store/memories/$id" '{"content":"memory number <N>"}')"
		point 'get' "$(asking POST "/v1/store/memories/$id" '')"
		point 'list' "$(asking POST /v1/store/memories/list '{"limit":20,"config":{"user_id":"bench"}}')"
		curl -sf -o "$WORK/warm" --json '{"query":"life","config":{"user_id":"bench"}}' "$BASE/v1/store/search"
		for strategy in similarity relevance hybrid; do
			point "search, $strategy" "$(asking POST /v1/store/search \
				'{"query":"what was number <R> of a life","retrieval_strategy":"'$strategy'","config":{"user_id":"bench"}}')"
		done
	done >"$OUTPUT/growth-memories.tsv"
}

export FILLED LAST
echo '{"agent": "builtin:demo", "store": "builtin:store", "threads": {"max_bytes": null}}' >agentgraph.json
bench_start
for kind in $KINDS; do
	case $kind in
	threads) threads && grown threads 'Calls of one client, over what is kept' 'threads' ;;
	messages) in_thread && grown messages 'Calls on a long thread' 'messages in the thread' ;;
	runs) queued && grown runs 'Calls beside a queue' 'runs queued' ;;
	files) files && grown files 'Calls beside files' 'files' ;;
	memories) memories && grown memories 'Calls beside memories of others' 'memories' ;;
	esac
done
tap_plan 0
