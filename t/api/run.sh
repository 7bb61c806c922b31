# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of running the graph share.  Sourced after lib.sh; needs jq.
#
# TEXT, VALUE and MEMBERS are written as they stand in JSON: a quote in TEXT is \", and MEMBERS is
# a part of an object, such as '"response_granularity":"full"'.

command -v jq >/dev/null || tap_skip_all 'jq is not installed'

# run_body MESSAGES [MEMBERS]: a request's body.
run_body() {
	printf '{"messages":%s%s}' "$1" "${2:+,$2}"
}

# user TEXT [MEMBERS]: a user message.
user() {
	printf '{"role":"user","content":"%s"%s}' "$1" "${2:+,$2}"
}

# thread ID [MEMBERS]: the member config, with that thread.
thread() {
	printf '"config":{"thread_id":"%s"%s}' "$1" "${2:+,$2}"
}

# invoke TEXT [MEMBERS], stream TEXT [MEMBERS]: run the graph on what a user says.
invoke() { api POST /v1/graph/invoke "$(run_body "[$(user "$1")]" "${2-}")"; }
stream() { api POST /v1/graph/stream "$(run_body "[$(user "$1")]" "${2-}")"; }

# resume VALUE THREAD [MEMBERS]: the answer to a pause.
resume() {
	api POST /v1/graph/invoke "{\"resume\":$1,$(thread "$2")${3:+,$3}}"
}

# answer CALL VALUE: a tool message with the result of a call.
answer() {
	printf '{"role":"tool","content":[{"type":"tool_result","call_id":"%s","output":%s}]}' "$1" "$2"
}

# in_background NAME COMMAND...: sends a request; `collect NAME` waits for the answer later.
in_background() {
	[ -n "$SOCKET" ] || api_start || return 1
	mkdir -p "$WORK/$1"
	(
		WORK=$WORK/$1
		shift
		"$@"
		printf '%s' "$STATUS" >"$WORK/status"
		printf '%s' "$BODY" >"$WORK/body"
	) &
	eval "background_$1=$!"
}

# collect NAME: sets STATUS and BODY.
collect() {
	eval "wait \$background_$1"
	STATUS=$(cat "$WORK/$1/status")
	BODY=$(cat "$WORK/$1/body")
}

# is_running THREAD: whether a run is going on there.
is_running() {
	api GET "/v1/threads/$1/state"
	case $BODY in *'"is_running":true'*) return 0 ;; esac
	return 1
}

# workers: the process ids of the workers of the service that was started last.
workers() {
	for worker in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$worker/exe") in */agentgraph-fcgi) echo "$worker" ;; esac
	done
}

# jq functions with short names, for the facts below.
facts_words='
def text: [.content[]? | select(.type == "text").text] | join("");
def types: [.content[]?.type];
def texts: map(text);
def said: .data.messages | texts;
def last: .data.messages[-1];
def uuid7: test("^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
def pieces: map(select(.event == "message" and .message.delta));
def finals: map(select(.event == "message" and (.message.delta | not)).message);
def events: map(if .event == "updates" then .data.status
	elif .event != "message" then .event
	elif .message.delta then "piece" else .message.role end);
'

# facts <<TABLE: a line "NAME :: EXPRESSION" for each fact; jq finds the expression true for BODY.
# chunks <<TABLE: the same for the lines of BODY as one array.
facts() { facts_hold '.'; }
chunks() { facts_hold '[., inputs]'; }

facts_hold() {
	facts_table=$(cat)
	printf '%s\n' "$facts_table" >"$WORK/facts.table"
	{
		printf '%s\n' "$facts_words $1 | (empty"
		sed 's/^.* :: \(.*\)$/, (try (\1) catch "error: \\(.)" | if . == true then "yes" else tojson end)/' "$WORK/facts.table"
		echo ')'
	} >"$WORK/facts.jq"
	json_for "$facts_table"
	$json_jq -r -f "$WORK/facts.jq" <<-END >"$WORK/facts" 2>"$WORK/facts.err" || diag "$(cat "$WORK/facts.err")"
		$BODY
	END
	while IFS= read -r facts_line; do
		facts_got=
		IFS= read -r facts_got <&3 || :
		[ "$facts_got" = yes ]
		tap_result $? "${facts_line%% :: *}" || facts_explain "$1" "${facts_line##* :: }"
	done <"$WORK/facts.table" 3<"$WORK/facts"
}

# Says why a fact does not hold: prints the left side of its ==, and the answer.
facts_explain() {
	diag "$2"
	diag "left side: $(printf '%s' "$BODY" | jq -c "$facts_words $1 | (${2% == *})" 2>&1)"
	diag "status $STATUS, answer: $(printf '%.3000s' "$BODY")"
}

# make_speaker FILE: makes a node for a graph that calls it under two names.  It says half of its answer, waits until
# the other one has done so, and then says the rest.
make_speaker() {
	cat >"$1" <<-'SH'
		#!/bin/sh
		echo "{\"delta\": \"$1 \"}"
		: >"$1.here"
		until [ -e "$2.here" ]; do sleep 0.02; done
		echo '{"delta": "says"}'
	SH
	chmod +x "$1"
}

# waiting_steps: writes graph.json with a graph "steps" of two nodes, a and b.  Each writes a line to marks, and ends
# once there is a file "go".
waiting_steps() {
	cat >step.sh <<-SH
		#!/bin/sh
		cat >/dev/null
		echo mark >>"$WORK/marks"
		i=0
		until [ -e "$WORK/go" ] || [ \$i = 300 ]; do
			sleep 0.1
			i=\$((i + 1))
		done
	SH
	chmod +x step.sh
	cat >graph.json <<-'JSON'
		{"steps": {
		  "nodes": {"a": {"kind": "exec", "command": "./step.sh"}, "b": {"kind": "exec", "command": "./step.sh"}},
		  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "END"}]}}
	JSON
}

# leaves COMMAND...: sends a request whose client goes away while the first of these nodes runs; then lets the node end.
leaves() {
	rm -f marks go
	in_background client "$@"
	wait_for 30 test -s marks
	# shellcheck disable=SC2154 # in_background sets it
	for process in $(children "$background_client"); do kill "$process"; done
	collect client 2>/dev/null
	touch go
}
