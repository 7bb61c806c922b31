#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs that begin at a checkpoint: another answer, a changed message, branches of branches; pauses, waiting calls,
# contexts and summaries as they were then; by each route that runs the graph, and at each level of the history.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"

# Counts its turns, and does what the user says.
cat >twig.c <<'C'
#include <agentgraph.h>
#include <stdio.h>
#include <string.h>

AG_PLUGIN;

static ag_result ask_for_tools(ag_run *run, const char *content)
{
	cJSON *message = cJSON_CreateObject();
	cJSON_AddStringToObject(message, "role", "assistant");
	cJSON_AddItemToObject(message, "content", cJSON_Parse(content));
	return ag_message(run, message);
}

static ag_result ask_twice(ag_run *run)
{
	const cJSON *one, *two;
	if (ag_interrupt(run, "first", NULL, &one) == AG_PAUSE || ag_interrupt(run, "second", NULL, &two) == AG_PAUSE)
		return AG_PAUSE;
	return ag_say(run, "%s and %s", cJSON_GetStringValue(one), cJSON_GetStringValue(two));
}

static ag_result agent(ag_run *run, const ag_state *state, void *data)
{
	const char *what = ag_user_text(state);
	const cJSON *context = ag_context(state), *last = cJSON_GetArrayItem(context, cJSON_GetArraySize(context) - 1);
	char seen[64];
	(void)data;
	snprintf(seen, sizeof(seen), "%zu %s", ag_context_length(state), ag_summary(state) ? ag_summary(state) : "-");
	if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(last, "role")), "tool") == 0)
		return ag_say(run, "heard %zu", ag_context_length(state));
	ag_update(run, "turns", cJSON_CreateNumber(1));
	if (strcmp(what, "ask") == 0)
		return ask_twice(run);
	if (strcmp(what, "call") == 0)
		return ask_for_tools(run, "[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"strike\",\"args\":{}}]");
	if (strcmp(what, "pick") == 0)
		return ask_for_tools(run, "[{\"type\":\"tool_call\",\"id\":\"p1\",\"name\":\"pick\",\"args\":{}},"
		    "{\"type\":\"tool_call\",\"id\":\"p2\",\"name\":\"pick\",\"args\":{}}]");
	if (strcmp(what, "trim") == 0)
		ag_trim(run, cJSON_GetArrayItem(context, 1), "as said");
	if (strcmp(what, "fail") == 0)
		return ag_fail(run, "as asked");
	return ag_say(run, "%s", seen);
}

static ag_result strike(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	FILE *f = fopen("strikes", "a");
	(void)run, (void)args, (void)data;
	fputs("x\n", f);
	fclose(f);
	*output = cJSON_CreateString("struck");
	return AG_OK;
}

static ag_result close_up(ag_run *run, const ag_state *state, void *data)
{
	(void)state, (void)data;
	return ag_update(run, "closed", cJSON_CreateNumber(1));
}

static const char *route(const ag_state *state, void *data)
{
	const cJSON *context = ag_context(state), *last = cJSON_GetArrayItem(context, cJSON_GetArraySize(context) - 1);
	const cJSON *calls = cJSON_GetObjectItem(last, "tools_calls");
	(void)data;
	return cJSON_GetArraySize(calls) ? "tools" : "close";
}

int twig(ag_graph *graph)
{
	static const char *const targets[] = {"tools", "close", NULL};
	ag_graph_field(graph, "turns", "integer", AG_ADD, NULL, NULL);
	ag_graph_field(graph, "closed", "integer", AG_ADD, NULL, NULL);
	ag_graph_node(graph, "agent", agent, NULL);
	ag_graph_tools(graph, "tools");
	ag_graph_tool(graph, "tools", "strike", "strikes", NULL, strike, NULL);
	ag_graph_node(graph, "close", close_up, NULL);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_branch(graph, "agent", route, NULL, targets);
	ag_graph_edge(graph, "tools", "agent");
	ag_graph_edge(graph, "close", AG_END);
	return 0;
}
C
# shellcheck disable=SC2086 # flags are several words
env -u MAKEFLAGS -u MAKELEVEL ${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o twig.so twig.c -lcjson || tap_bail 'twig.c does not compile'

# serves LEVEL [MEMBERS]
serves() {
	[ -z "${SERVE_PID-}" ] || serve_stop
	STATE='' SOCKET=''
	printf '{"agent":"twig.so:twig","history":{"level":"%s"},"remote_tools":[{"node":"tools","name":"pick","description":"Picks"}]%s}\n' \
		"$1" "${2:+,$2}" >agentgraph.json
	api_start
}
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
# at THREAD CHECKPOINT [MEMBERS]: the member config.
at() { thread "$1" "\"checkpoint_id\":\"$2\"${3:+,$3}"; }
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}
# state THREAD: turns, summary, status, and how long the context is.
state() {
	api GET "/v1/threads/$1/state"
	json '.data.state | "\(.turns) \(.context_summary) \(.execution_meta.status) \(.context | length)"' "$BODY"
}
# tip THREAD: the latest checkpoint.
tip() {
	api GET "/v1/threads/$1/history?limit=1"
	json '.data.history[0].checkpoint_id' "$BODY"
}
# of THREAD SOURCE NEXT: the latest checkpoint of that kind.
of() {
	api GET "/v1/threads/$1/history"
	json ".data.history | map(select(.source == \"$2\" and .next == $3))[0].checkpoint_id" "$BODY"
}
rewind() { api POST "/v1/threads/$1/rewind" "{\"checkpoint_id\":\"$2\"}"; }
# go_on THREAD CHECKPOINT [MEMBERS]: a run that brings nothing.
go_on() { api POST /v1/graph/invoke "{$(at "$1" "$2")${3:+,$3}}"; }
mine() { printf '{"message_id":"%s","role":"user","content":"%s"}' "$1" "$2"; }
# frame JSON: BODY is what a socket says.
frame() {
	printf 'T%s\n' "$1" >in
	PATH_INFO=/v1/graph/ws "$AGENTGRAPH_WS" --by-hand --state "$STATE" <in 2>>"$WORK/log" | sed -n 's/^T//p' >out
	BODY=$(cat out)
}
over() {
	api GET "/v1/threads/$1/runs/$2"
	case $(json .data.status "$BODY") in queued | running | null) return 1 ;; esac
}

for level in runs steps; do
	serves $level
	rm -f strikes

	# ---- another answer, a changed message

	api POST /v1/graph/invoke "$(run_body "[$(mine u1 one)]" "$(thread t)")"
	c1=$(tip t)
	api POST /v1/graph/invoke "$(run_body "[$(mine u2 two)]" "$(thread t)")"
	c2=$(tip t)
	is "$(texts t)|$(state t)" 'one|1 -|two|3 -|2 null completed 4' "$level: a conversation"
	api POST /v1/graph/invoke "$(run_body "[$(mine u2 TWO)]" "$(at t "$c1"),\"response_granularity\":\"full\"")"
	facts <<'TABLE'
a message is changed and keeps its id :: [said, .data.messages[0].message_id, .data.state.turns] == [["TWO", "3 -"], "u2", 2]
TABLE
	is "$(json "$facts_words"'.data.state.context | texts | join("|")' "$BODY")" 'one|1 -|TWO|3 -' 'the state that is told is that of its branch'
	is "$(texts t)|$(state t)" 'one|1 -|TWO|3 -|2 null completed 4' 'as the thread has it'
	c3=$(tip t)
	api GET "/v1/threads/t/history?limit=2"
	[ $level = steps ] || is "$(json '.data.history[0].parent_checkpoint_id' "$BODY")" "$c1" 'its checkpoint comes from the one that was named'
	invoke three "$(thread t)"
	c4=$(tip t)
	stream four "$(at t "$c2")"
	is "$STATUS|$(texts t)|$(state t)" '200|one|1 -|two|3 -|four|5 -|3 null completed 6' 'a stream goes on in the first branch'
	stream five "$(at t "$c4"),\"response_granularity\":\"full\""
	is "$(json "$facts_words"'map(select(.event == "state"))[0].state.context | texts | join("|")' "$(printf '%s' "$BODY" | jq -sc .)")" \
		'one|1 -|TWO|3 -|three|5 -|five|7 -' 'its chunks have the context of the branch'
	is "$(texts t)" 'one|1 -|TWO|3 -|three|5 -|five|7 -' 'and there and back'
	invoke six "$(at t "$c3")"
	invoke seven "$(thread t)"
	is "$(texts t)|$(state t)" 'one|1 -|TWO|3 -|six|5 -|seven|7 -|4 null completed 8' 'branches have branches'
	rewind t "$c2"
	is "$(texts t)|$(state t)" 'one|1 -|two|3 -|2 null completed 4' 'each of which is there still'
	invoke eight "$(at t "$(of t run null)")"
	is "$(texts t)" 'one|1 -|TWO|3 -|six|5 -|seven|7 -|eight|9 -' 'the deepest, too'
	api DELETE /v1/threads/t/messages/u1
	invoke nine "$(at t "$c2")"
	is "$(texts t)" '1 -|two|3 -|nine|4 -' 'what was deleted is in no branch'
	api POST /v1/graph/invoke "$(run_body "[$(mine u2 two)]" "$(at t "$c2")")"
	facts <<'TABLE'
a message that is there already is said again :: said == ["two", "4 -"]
TABLE
	is "$(texts t)" '1 -|two|3 -|two|4 -' 'under another id'

	# ---- in the background, and by frames

	api POST /v1/graph/runs "$(run_body "[$(user ten)]" "$(at t "$c1" '"run_id":"b1"')")"
	is "$STATUS" 202 'a run is queued'
	wait_for 30 over t b1
	is "$(json .data.status "$BODY")|$(texts t)" 'completed|1 -|ten|2 -' 'which begins at the checkpoint'
	api POST /v1/graph/runs "$(run_body "[$(user ten)]" "$(at t "$c1" '"run_id":"b1"')")"
	is "$STATUS $(json '.data | "\(.run_id) \(.status)"' "$BODY")" '202 b1 completed' 'it can be submitted again'
	frame "{\"messages\":[$(user eleven)],$(at t "$c1")}"
	is "$(texts t)" '1 -|eleven|2 -' 'so does a frame'
	frame "{$(at t 0000000000000001)}"
	is "$(json '"\(.event) \(.data.error_code) \(.data.reason) \(.run_id)"' "$BODY")" 'error RESOURCE_NOT_FOUND Checkpoint not found null' \
		'one for a checkpoint that there is not is refused'
	frame "{\"config\":{\"checkpoint_id\":\"$c1\"}}"
	is "$(json '"\(.data.error_code) \(.data.reason)"' "$BODY")" 'VALIDATION_ERROR Invalid request: config.checkpoint_id needs a thread_id' \
		'and one without a thread'

	# ---- what is refused

	here=$(texts t) now=$(state t) tip=$(tip t)
	for route in invoke stream runs; do
		api POST "/v1/graph/$route" "$(run_body "[$(user x)]" "$(at t 0000000000000001)")"
		is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' "$route: no such checkpoint"
		api POST "/v1/graph/$route" "$(run_body "[$(user x)]" "$(at nobody "$c1")")"
		is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' "$route: no such thread"
		api POST "/v1/graph/$route" "$(run_body "[$(user x)]" "\"config\":{\"checkpoint_id\":\"$c1\"}")"
		is "$(said)" '422 VALIDATION_ERROR config.checkpoint_id needs a thread_id' "$route: it needs a thread"
		api POST "/v1/graph/$route" "$(run_body "[$(user x)]" "$(thread t '"checkpoint_id":7')")"
		is "$(said)" '422 VALIDATION_ERROR config.checkpoint_id must be a string' "$route: and is a text"
	done
	for route in invoke runs; do
		api POST "/v1/graph/$route" "{$(at t "$c1")}"
		is "$(said)" '422 INVALID_INPUT Nothing follows this checkpoint' "$route: nothing follows the end of a run"
	done
	api POST /v1/graph/stream "{\"messages\":[],$(at t "$c1")}"
	is "$STATUS|$(printf '%s' "$BODY" | jq -sr '.[0].data.reason')" '200|Nothing follows this checkpoint' 'a stream says it in a chunk'
	api POST /v1/graph/invoke "{\"resume\":1,$(at t "$c1")}"
	is "$(said)" '422 INVALID_INPUT Nothing to resume: this thread is not paused at an interrupt' 'nor is there anything to resume'
	api POST /v1/graph/invoke "$(run_body "[$(answer c9 1)]" "$(at t "$c1")")"
	is "$(json .error_code "$BODY")" INVALID_INPUT 'or to answer'
	is "$(texts t)|$(state t)|$(tip t)" "$here|$now|$tip" 'what is refused leaves the thread where it was'
	api GET /v1/threads/nobody
	is "$STATUS" 404 'and makes none'
	invoke fail "$(at t "$c1")"
	is "$(json .error_code "$BODY")|$(texts t)" 'NODE_ERROR|1 -|fail' 'a run that fails is one'

	# ---- a pause with answers

	invoke ask "$(thread p)"
	p0=$(tip p)
	resume '"red"' p
	p1=$(tip p)
	resume '"blue"' p
	is "$(texts p)" 'ask|red and blue' 'two questions are answered'
	api POST /v1/graph/invoke "{\"resume\":\"green\",$(at p "$p1")}"
	is "$(texts p)" 'ask|red and green' 'the second one again, and the first answer counts still'
	go_on p "$p0"
	is "$STATUS $(json '.data | "\(.meta.interrupt.reason) \(.messages | length)"' "$BODY")" '200 first 0' 'a pause is told again'
	is "$(state p)" '0 null interrupted 1' 'and is that of the thread'
	resume '"black"' p
	resume '"white"' p
	is "$(texts p)" 'ask|black and white' 'so it can be answered'
	invoke other "$(at p "$p1")"
	is "$(json '.data.meta | "\(.interrupt.reason) \(.note != null)"' "$BODY")" 'second true' 'what is said there is not kept'
	stream_body="{$(at p "$p0")}"
	api POST /v1/graph/stream "$stream_body"
	is "$(printf '%s' "$BODY" | jq -sr 'map(.data.status) | join(" ")')" 'interrupted done' 'a stream tells it as well'

	# ---- calls that wait at the client

	invoke pick "$(thread w)"
	w0=$(tip w)
	api POST /v1/graph/invoke "$(run_body "[$(answer p1 1)]" "$(thread w)")"
	api POST /v1/graph/invoke "$(run_body "[$(answer p2 2)]" "$(thread w)")"
	is "$(json "$facts_words"'said[-1]' "$BODY")" 'heard 4' 'both calls are answered'
	w1=$(tip w)
	api POST /v1/graph/invoke "$(run_body "[$(answer p2 3)]" "$(at w "$w0")")"
	is "$(json '.data.messages[0].content | map(.id) | join(" ")' "$BODY")" p1 'one of them alone, and the other waits'
	api GET /v1/threads/w/state
	is "$(json '.data.state.execution_meta.interrupt_data.call_ids | join(" ")' "$BODY")" p1 'in the thread, too'
	go_on w "$w0"
	is "$(said)" '422 INVALID_INPUT Nothing follows this checkpoint' 'no node is next'
	rewind w "$w1"
	rewind w "$(of w update null)"
	api GET /v1/threads/w/state
	is "$(json '.data.state.execution_meta.interrupt_data.call_ids | join(" ")' "$BODY")" p1 'the answer given so far was kept'
	api POST /v1/graph/invoke "$(run_body "[$(answer p1 4)]" "$(thread w)")"
	is "$(json "$facts_words"'said[-1]' "$BODY")" 'heard 4' 'and the other one completes it'
	invoke pick "$(thread gone)"
	g0=$(tip gone)
	api GET /v1/threads/gone/messages
	asked=$(json '.data.messages[-1].message_id' "$BODY")
	api DELETE "/v1/threads/gone/messages/$asked"
	rewind gone "$g0"
	is "$(json '"\(.data.state.execution_meta.interrupt_data)"' "$BODY")" null 'calls whose message is gone do not wait any more'

	# ---- contexts and summaries

	invoke one "$(thread s)"
	s1=$(tip s)
	invoke trim "$(thread s)"
	s2=$(tip s)
	is "$(state s)" '2 as said completed 2' 'a context is trimmed'
	invoke two "$(thread s)"
	invoke three "$(at s "$s1")"
	is "$(texts s)|$(state s)" 'one|1 -|three|3 -|2 null completed 4' 'before that it is whole'
	invoke four "$(at s "$s2")"
	is "$(texts s)|$(state s)" 'one|1 -|trim|3 -|four|3 as said|3 as said completed 4' 'after that it has its summary'
	api DELETE /v1/threads/s/state
	is "$(state s)" '0 null idle 0' 'it is cleared'
	invoke five "$(at s "$s2")"
	is "$(state s)" '3 as said completed 4' 'and there again'

	# ---- another run that has the thread

	invoke first "$(thread x '"run_id":"x1"')"
	x1=$(tip x)
	api POST /v1/graph/invoke "$(run_body "[$(user second)]" "$(at x "$x1" '"run_id":"x1"')")"
	is "$STATUS|$(texts x)" '200|first|1 -|second|3 -' 'an id of a run that is over comes again'
	api POST /v1/graph/invoke "$(run_body "[$(user third)]" "$(at x "$x1"),\"initial_state\":{\"turns\":10}")"
	is "$(state x)" '11 null completed 4' 'initial values count'
done

# ---- nodes in between, at steps

invoke call "$(thread n)"
is "$(texts n)|$(wc -l <strikes)" 'call|||heard 3|1' 'a tool is called'
next=$(of n step '"tools"')
go_on n "$next" '"response_granularity":"full"'
is "$STATUS|$(json "$facts_words"'said | join("|")' "$BODY")|$(wc -l <strikes)" '200||heard 3|2' 'the run goes on at the node that was next, which calls again'
is "$(json '.data.state | "\(.turns) \(.closed)"' "$BODY")" '1 1' 'with the fields of then'
is "$(texts n)" 'call|||heard 3' 'the thread has this branch alone'
rewind n "$next"
go_on n "$(tip n)"
is "$STATUS|$(texts n)|$(wc -l <strikes)" '200|call|||heard 3|3' 'so it does where the thread was brought back'
invoke hello "$(at n "$next")"
is "$(texts n)" 'call||hello|3 -' 'with a message a new turn begins there'
close=$(of n step '"close"')
stream_at() { api POST /v1/graph/stream "{$(at n "$1"),\"response_granularity\":\"full\"}"; }
stream_at "$close"
is "$(printf '%s' "$BODY" | jq -sr 'map(select(.data.status == "node_invoked").data.node) | join(" ")')" close 'a stream goes on there, too'
api POST /v1/graph/runs "{$(at n "$next" '"run_id":"bg"')}"
wait_for 30 over n bg
is "$(json .data.status "$BODY")|$(wc -l <strikes)" 'completed|4' 'and a run in the background'
frame "{$(at n "$next")}"
is "$(printf '%s' "$BODY" | jq -sr 'last.data.status')|$(wc -l <strikes)" 'done|5' 'and a frame'
asked=$(api GET "/v1/threads/n/history/$next"; json '.data.messages[-1].message_id' "$BODY")
api DELETE "/v1/threads/n/messages/$asked"
go_on n "$next"
is "$STATUS|$(json '.data.messages | map(.role) | join(" ")' "$BODY")" '200|assistant tool assistant' \
	'calls of a message that is gone are not made, the node asks for them again'

# ---- off

serves off
invoke one "$(thread t)"
api POST /v1/threads/t/copy '{"thread_id":"c"}'
c0=$(tip c)
invoke two "$(thread c)"
invoke three "$(at c "$c0")"
is "$STATUS|$(texts c)" '200|one|1 -|three|3 -' 'off: a run begins at what is there'
rewind c "$(of c update null)"
is "$(texts c)" 'one|1 -|two|3 -' 'and what it left is kept'

# ---- those of others

serves runs '"auth":"jwt","authorization":"ownership"'
as alice POST /v1/graph/invoke "$(run_body "[$(user one)]" "$(thread hers)")"
as alice GET /v1/threads/hers/history
hers=$(json '.data.history[0].checkpoint_id' "$BODY")
as bob POST /v1/graph/invoke "$(run_body "[$(user one)]" "$(thread his)")"
for route in invoke stream runs; do
	as bob POST "/v1/graph/$route" "$(run_body "[$(user x)]" "$(at his "$hers")")"
	is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' "$route: a checkpoint is that of its thread"
	as bob POST "/v1/graph/$route" "$(run_body "[$(user x)]" "$(at hers "$hers")")"
	stranger=$(said)
	as bob POST "/v1/graph/$route" "$(run_body "[$(user x)]" "$(thread hers)")"
	is "$stranger" "$(said)" "$route: and that thread is somebody else's"
done
as bob GET "/v1/threads/hers/state"
stranger=$(said)
for request in 'GET history' "GET history/$hers" 'POST rewind' 'POST copy'; do
	as bob "${request%% *}" "/v1/threads/hers/${request#* }" "$([ "${request%% *}" = GET ] || printf '{"checkpoint_id":"%s"}' "$hers")"
	is "$STATUS $(json .error_code "$BODY")" "${stranger% Not*}" "$request is refused like her thread"
done
as alice POST /v1/threads/hers/copy '{"thread_id":"his"}'
is "$(said)" '409 THREAD_EXISTS Thread his exists already' 'an id of somebody else is taken'
as alice POST /v1/threads/hers/copy '{"thread_id":"copy"}'
is "$(json .data.thread_data.user_id "$BODY")" alice 'a copy belongs to who made it'
done_testing
