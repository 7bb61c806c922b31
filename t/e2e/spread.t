#!/bin/sh
# SPDX-License-Identifier: ISC
# Which process of the pool answers: requests are spread over all of them, one by one and many at once, even after one
# was replaced or the service reloaded; and a process that is stopped gets none.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/load.sh"

# It says which worker has started it, and stays in hand for as long as the user says.
cat >who.sh <<'END_OF_NODE'
#!/bin/sh
read -r state
sleep "$(printf '%s' "$state" | sed 's/.*"user_text":"\([0-9.]*\)".*/\1/')"
echo "{\"message\": \"$PPID\"}"
END_OF_NODE
chmod +x who.sh
cat >graph.json <<'END_OF_GRAPH'
{"g": {"nodes": {"who": {"kind": "exec", "command": "./who.sh", "timeout": 100}},
	"edges": [{"from": "START", "to": "who"}, {"from": "who", "to": "END"}]}}
END_OF_GRAPH
echo '{"agent": "graph.json:g"}' >agent.json
serve_start --config agent.json || tap_bail 'the rest needs a service'

# asks HOW-MANY SECONDS PARALLEL: so many runs; answers has the worker of each, a line each.
asks() {
	rm -rf said && mkdir said
	for i in $(seq "$1"); do
		printf 'next\nurl = "%s/v1/graph/invoke"\nheader = "Content-Type: application/json"\n' "$BASE"
		printf 'data = "{\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"%s\\"}]}"\n' "$2"
		printf 'output = "said/%s"\nmax-time = 60\n' "$i"
	done | sed 1d >asks
	if [ "$3" -gt 1 ]; then
		curl -s --parallel --parallel-immediate --parallel-max "$3" -K asks
	else
		curl -s -K asks
	fi
	for i in $(seq "$1"); do
		jq -r '.data.messages[-1].content[0].text' "said/$i" 2>/dev/null || echo none
	done >answers
}

# spread HOW-MANY SECONDS PARALLEL LEAST NAME: asks; each worker of the service has so many of the answers, and nobody else
# has any.  A machine that is busy with other things may let one process wait for its turn, but not five times.
spread() {
	for try in 1 2 3 4 5; do
		asks "$1" "$2" "$3"
		parts "$4" && break
	done
	is "$(wc -l <now | tr -d ' ') $(cat wrong)" '2 ' "$5" || diag "$(sort answers | uniq -c)"
}

parts() {
	least=$1
	workers >now
	while read -r pid; do
		[ "$(grep -cx "$pid" answers)" -ge "$least" ] || echo "$pid has too few"
	done <now >wrong
	grep -vxFf now answers >>wrong
	[ ! -s wrong ]
}

two_workers() { [ "$(workers | wc -l)" -eq 2 ] && pings; }

spread 40 0 1 15 'requests that come one by one are spread'
spread 40 2 40 5 'as are those that come at once'

kill -9 "$(workers | head -n 1)"
wait_for 30 two_workers
both_answer() { asks 4 0 1 && [ "$(sort -u answers | wc -l)" -eq 2 ]; }
wait_for 60 both_answer
spread 30 0 1 11 'after a worker was replaced requests are spread'
spread 40 2 40 5 'also those that come at once'

old=$(workers)
kill -HUP "$SERVE_PID"
only_new() { two_workers && for pid in $old; do ! alive "$pid" || return 1; done; }
wait_for 20 only_new
spread 30 0 1 11 'and after a reload'
spread 40 2 40 5 'at once, too'

stopped=$(workers | head -n 1)
kill -STOP "$stopped"
asks 12 0 1
is "$(sort -u answers)" "$(workers | grep -vx "$stopped")" 'a worker that is stopped takes no request from the others'
kill -CONT "$stopped"
spread 30 0 1 11 'and when it goes on it has its part again'
serve_stop
is $? 0 'the service stops as it should'
done_testing
