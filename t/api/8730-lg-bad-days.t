#!/bin/sh
# SPDX-License-Identifier: ISC
# LangGraph's protocol on bad days: things of somebody else, invalid ids, bodies that are too large, and a map over many
# elements on a long thread.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/lg.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

# run_of TEXT [MEMBERS]: a body.
run_of() { printf '{"assistant_id":"demo","input":{"messages":[%s]}%s}' "$(human "$1")" "${2:+,$2}"; }

# ---- somebody else's

lg_configure '"auth":"jwt","authorization":"ownership"'
alice=$(token alice) bob=$(token bob)
with "$alice" POST /lg/threads '{"thread_id":"hers"}'
with "$bob" POST /lg/threads '{"thread_id":"his"}'
with "$alice" POST /lg/threads/hers/runs "$(run_of hi '"after_seconds":600')"
run=$(json .run_id "$BODY")
for path in join stream; do
	with "$bob" GET "/lg/threads/hers/runs/$run/$path"
	is "$STATUS" 403 "$path of a foreign run is forbidden"
	with "$bob" GET "/lg/threads/his/runs/$run/$path"
	lg_refused 404 RESOURCE_NOT_FOUND 'Run not found' 'it is no run of another thread'
	with "$alice" GET "/lg/threads/hers/runs/none/$path"
	lg_refused 404 RESOURCE_NOT_FOUND 'Run not found' 'nor is one of no name'
done
for path in join stream; do
	with "$(token alice ',"scopes":["graph:read","graph:stream"]')" GET \
		"/lg/threads/hers/runs/$run/$path?cancel_on_disconnect=1"
	lg_refused 403 PERMISSION_ERROR 'Missing required scope: graph:stop' "a $path that stops a run needs the right to stop"
done
with "$bob" POST /lg/threads/prune '{"thread_ids":["none","hers"]}'
is "$STATUS" 403 'a foreign thread is not deleted among several'
with "$bob" POST /lg/runs/cancel "{\"thread_id\":\"hers\",\"run_ids\":[\"$run\"]}"
is "$STATUS" 403 'nor is a run cancelled'
with "$bob" POST /lg/runs/cancel "{\"thread_id\":\"his\",\"run_ids\":[\"$run\"]}"
is "$STATUS" 204 'as one of another thread it is passed over'
with "$alice" GET "/lg/threads/hers/runs/$run"
is "$(json .status "$BODY")" pending 'and waits as before'
with "$bob" POST /lg/threads/search '{"ids":["hers"]}'
is "$BODY" '[]' 'nor is her thread found by its id'

with "$alice" POST /lg/runs/cancel '{"status":"pending"}'
lg_refused 422 VALIDATION_ERROR 'status is not supported: run_ids names the runs' 'runs are not cancelled by their status'
api POST /lg/runs/crons '{}'
lg_refused 404 NOT_FOUND 'Not Found' 'a path that is not served is refused in the form of the protocol'

# ---- ids that are none

for id in x 1.5 -2 '1 2' 0x10 ''; do
	with "$alice" GET "/lg/threads/hers/runs/$run/stream" '' "Last-Event-ID: $id"
	[ -n "$id" ] || continue
	lg_refused 422 VALIDATION_ERROR 'Last-Event-ID must be the id of an event, or -1' "an event has no id like $id"
done
with "$alice" GET "/lg/threads/hers/runs/$run/stream?stream_mode=values&stream_mode=odd"
is "$STATUS" 422 'one mode of several is checked'
modes=$(printf '&stream_mode=values%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)
with "$alice" GET "/lg/threads/hers/runs/$run/stream?$modes"
is "$STATUS" 422 'and so is how many there are'
for id in -1 0 8 99999999999999999999999999; do
	with "$alice" GET "/lg/threads/hers/runs/$run/stream" '' "Last-Event-ID: $id"
	is "$STATUS $(header X-Accel-Redirect | sed 's/.*\///')" '200 stream' "the id $id may be one"
done

with "$alice" POST /lg/threads/silent/runs/stream \
	"{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(human hi)]},\"stream_mode\":[\"debug\",\"tools\"],\"stream_resumable\":true,\"if_not_exists\":\"create\"}"
with "$alice" GET "/lg$(header Content-Location)/stream"
modes=$(header X-Agentgraph-Ticket | cut -d . -f 2 | tr -- -_ +/ | jq -Rr '@base64d | fromjson.modes')
is "$STATUS $((modes % 64))" '200 0' 'modes that tell nothing tell nothing when the stream is taken up, either'

# ---- bodies

deep=$(printf '[%.0s' $(seq 600))
with "$alice" POST /lg/threads/hers/runs/wait "{\"assistant_id\":\"demo\",\"input\":{\"messages\":$deep"
is "$STATUS" 422 'JSON that is too deep is none'
{
	printf '{"assistant_id":"demo","input":{"messages":['
	for i in $(seq 3000); do printf '{"type":"odd"},'; done
	printf '"x"]}}'
} >many
with "$alice" POST /lg/threads/hers/runs/wait "$(cat many)"
is "$STATUS" 422 'of many mistakes'
ok "[ ${#BODY} -lt 20000 ]" 'some are told'
jq -cn '{assistant_id: "demo", command: {update: ([range(100000) | ["k\(.)", 1]] + [["k0", 2]])}}' >many
API_TIMEOUT=15
with "$alice" POST /lg/runs/wait "$(cat many)"
lg_refused 422 VALIDATION_ERROR 'command.update must be an object or an array of pairs with different names' 'many pairs take no time'
unset API_TIMEOUT
with "$alice" PUT /lg/threads/hers/state '{}'
is "$STATUS" 405 'a method that a path has not is refused'
serve_stop

# ---- a map over many elements, on a thread that is long

STATE=
cat >graph.json <<'JSON'
{"each": {"state": {"fields": {"items": {"type": "array"}, "sum": {"type": "integer", "reducer": "add"}}},
  "nodes": {"w": {"kind": "reply", "text": "did {{index}}", "update": {"sum": 1}}},
  "edges": [{"from": "START", "map": "items", "to": "w", "join": "END"}, {"from": "w", "to": "END"}]}}
JSON
lg_configure
printf '{"agent":"graph.json:each","langgraph":{"enabled":true},"runs":{"background":1}}\n' >agentgraph.json
long=$(printf 'a long text %.0s' $(seq 40))
{
	printf '{"values":{"messages":['
	for i in $(seq 2000); do printf '{"type":"human","content":"%s %s"},' "$i" "$long"; done
	printf '{"type":"ai","content":"the last"}]}}'
} >past
api POST /lg/threads '{"thread_id":"long"}'
api POST /lg/threads/long/state "$(cat past)"
is "$STATUS" 200 'a thread is long'
given() { printf '{"assistant_id":"each","input":{"messages":[%s],"items":[%s]},"stream_mode":["values","updates"]%s}' "$(human go)" "$1" "$2"; }
elements=$(seq -s , 100)
for members in '' ',"stream_resumable":true'; do
	api POST /lg/threads/long/runs/stream "$(given "$elements" "$members")"
	printf '%s\n' "$BODY" >streamed
	is "$(grep -c '^event: updates' streamed) $(grep -c '"w":{.*"sum":' streamed) $(grep -c '^event: values' streamed)" '100 100 1' \
		"a map of 100 tells 100 updates, each with what its branch has set, and the whole once, at its end ($members)"
	is "$(tail -n 6 streamed | grep -c '^event: end')" 1 'which is the last but one'
done
is "$(grep '^event: values' -A1 streamed | tail -n 1 | cut -c7- | jq '.sum, (.messages | length > 2000)' | tr '\n' ' ')" '200 true ' 'with all that the branches have set and said'
api POST /lg/threads '{"thread_id":"short"}'
api POST /lg/threads/short/runs/stream "$(given '1,2' '')"
events
facts <<'TABLE'
a short one is told at the beginning, too :: of("values") | map(.messages | map(.content)) == [["go"], ["go", "did 0", "did 1"]]
and what each branch has said :: of("updates") | map(.w.messages | map(.content)[]) | sort == ["did 0", "did 1"]
TABLE

cat >graph.json <<'JSON'
{"own": {"nodes": {"s": {"kind": "graph", "graph": "in", "messages": "own", "cache": {"key": ["user_text"], "ttl": 60}}, "e": {"kind": "reply", "text": "out"}},
  "edges": [{"from": "START", "to": "s"}, {"from": "s", "if": [{"when": {"user_text": {"contains": "last"}}, "to": "END"}], "else": "e"}, {"from": "e", "to": "END"}]},
 "in": {"nodes": {"i": {"kind": "reply", "text": "in"}}, "edges": [{"from": "START", "to": "i"}, {"from": "i", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:own","langgraph":{"enabled":true}}\n' >agentgraph.json
serve_stop
api POST /lg/threads '{"thread_id":"own"}'
# own TEXT MODE [MEMBERS [PATH]]
own() {
	api POST "${4-/lg/threads/own/runs/stream}" "{\"assistant_id\":\"own\",\"input\":{\"messages\":[$(human "$1")]},\"stream_mode\":\"$2\"${3-}}"
	events
}
for members in '' ',"stream_resumable":true'; do
	own "go ${#members}" updates "$members"
	facts <<'TABLE'
what a subgraph says at its end is an update of its node :: of("updates") | map([keys[0], (.[] | .messages // [] | .[].content)]) == [["s/i"], ["s", "in"], ["e", "out"]]
TABLE
	own "go ${#members}" values "$members"
	facts <<'TABLE'
one whose result is kept has said it at its end :: of("values") | map(.messages[-1].content) | .[1:] == ["in", "out"]
TABLE
	own "event ${#members}" events "$members"
	facts <<'TABLE'
only what has begun ends :: of("events") | [map(select(.event == "on_chain_start").name), map(select(.event == "on_chain_end").name)] == [["s/i", "e"], ["s/i", "e"]]
TABLE
	own "last one ${#members}" updates "$members"
	facts <<'TABLE'
also where it comes last :: of("updates")[-1] | [keys[0], (.s.messages | map(.content))] == ["s", ["in"]]
TABLE
	own "last ${#members}" values "$members"
	facts <<'TABLE'
where one comes last, what it has said is told at the end :: of("values") | map(.messages[-1].content)[-1] == "in"
TABLE
done
own 'last of all' values '' /lg/runs/stream
facts <<'TABLE'
and not before, without a thread as well :: of("values") | map(.messages | length) == [1, 1, 2]
TABLE

# serves_subgraph MESSAGES EDGES: a graph with a subgraph s that says in, and nodes that say their names.
serves_subgraph() {
	jq -n --arg messages "$1" --argjson edges "$2" '
		def says: {(.): {kind: "reply", text: .}};
		([$edges[].from] - ["START"] | map(says) | add) + {s: {kind: "graph", graph: "in", messages: $messages, output: {seen: "yes"}}} |
		{own: {state: {fields: {seen: {type: "string"}}}, nodes: ., edges: $edges},
		 in: {nodes: ("in" | says), edges: [{from: "START", to: "in"}, {from: "in", to: "END"}]}}' >graph.json
	serve_stop
	api POST /lg/threads '{"thread_id":"own","if_exists":"do_nothing"}'
}
serves_subgraph own '[{"from":"START","to":["s","b"],"join":"j"},{"from":"s","to":"a"},{"from":"a","to":"j"},{"from":"b","to":"j"},{"from":"j","to":"END"}]'
for members in '' ',"stream_resumable":true'; do
	own go updates "$members"
	facts <<'TABLE'
in a branch, too, with what it sets :: of("updates") | [.[] | .s // empty | .seen, (.messages | map(.content))] == ["yes", ["in"]]
and the next node there has its own alone :: of("updates") | [.[] | .a // empty | .seen, (.messages | map(.content))] == [null, ["a"]]
TABLE
done
serves_subgraph own '[{"from":"START","to":"s"},{"from":"s","to":["a","b"],"join":"j"},{"from":"a","to":"j"},{"from":"b","to":"j"},{"from":"j","to":"END"}]'
for members in '' ',"stream_resumable":true'; do
	own go updates "$members"
	facts <<'TABLE'
and before branches :: of("updates") | map([keys[0], (.[] | .messages // [] | .[].content)]) | .[1] == ["s", "in"] and .[-1] == ["j", "j"]
TABLE
done
serves_subgraph shared '[{"from":"START","to":"s"},{"from":"s","to":"j"},{"from":"j","to":"END"}]'
own go values '' /lg/runs/stream
facts <<'TABLE'
of one that shares its messages the values have them at once :: of("values") | map([.seen, (.messages | length)]) == [["", 1], ["", 2], ["yes", 2], ["yes", 3]]
TABLE

# what a run that goes on behind the last node of a subgraph tells first
cat >graph.json <<'JSON'
{"own": {"state": {"fields": {"seen": {"type": "string"}, "other": {"type": "string"}}},
  "nodes": {"s": {"kind": "graph", "graph": "in", "messages": "own", "output": {"seen": "yes"}}, "z": {"kind": "reply", "text": "z"}},
  "edges": [{"from": "START", "to": "s"}, {"from": "s", "to": "z"}, {"from": "z", "to": "END"}]},
 "in": {"nodes": {"i": {"kind": "reply", "text": "in"}}, "interrupt_after": ["i"],
  "edges": [{"from": "START", "to": "i"}, {"from": "i", "to": "END"}]}}
JSON
serve_stop
for members in '' ',"stream_resumable":true'; do
	api POST "/lg/threads/behind${#members}/runs/wait" \
		"{\"assistant_id\":\"own\",\"input\":{\"other\":\"o\",\"messages\":[$(human go)]},\"if_not_exists\":\"create\"}"
	api POST "/lg/threads/behind${#members}/runs/stream" "{\"assistant_id\":\"own\",\"input\":null,\"stream_mode\":[\"updates\"]$members}"
	events
	facts <<'TABLE'
is what it has set alone :: of("updates") | map([.s.seen, .s.other]) == [["yes", null], [null, null]]
TABLE
done
api GET "/lg$(header Content-Location)/stream"
is "$(header X-Agentgraph-Ticket | cut -d . -f 2 | tr -- -_ +/ | jq -Rr '@base64d | fromjson.modes')" 66 'and it knows which modes were asked for'

cat >graph.json <<'JSON'
{"own": {"state": {"fields": {"sum": {"type": "integer", "reducer": "add"}}},
  "nodes": {"a": {"kind": "reply", "text": "a"}, "b": {"kind": "reply", "text": "b"}, "c": {"kind": "reply", "text": "c", "update": {"sum": 1}},
    "d": {"kind": "reply", "text": "d", "update": {"sum": 1}}, "e": {"kind": "reply", "text": "e"}, "f": {"kind": "reply", "text": "f"}},
  "edges": [{"from": "START", "to": ["a", "b"], "join": "f"}, {"from": "a", "to": ["c", "d"], "join": "e"}, {"from": "c", "to": "e"},
    {"from": "d", "to": "e"}, {"from": "e", "to": "f"}, {"from": "b", "to": "f"}, {"from": "f", "to": "END"}]}}
JSON
serve_stop
api POST /lg/threads '{"thread_id":"own","if_exists":"do_nothing"}'
own go updates
facts <<'TABLE'
what branches in a branch set is told by them, and outside of all :: of("updates") | map(to_entries[] | [.key, .value.sum]) | sort == [["a", null], ["b", null], ["c", 1], ["d", 1], ["e", null], ["f", 2]]
TABLE

# ---- a call behind text that came in pieces

cat >graph.json <<'JSON'
{"own": {"nodes": {"e": {"kind": "exec", "command": ["sh", "-c", "echo '{\"delta\":\"I look\"}'; echo '{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"I look\"},{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"look\",\"args\":{\"n\":1}}]}}'"]}},
  "edges": [{"from": "START", "to": "e"}, {"from": "e", "to": "END"}]}}
JSON
serve_stop
api POST /lg/threads '{"thread_id":"own","if_exists":"do_nothing"}'
for members in '' ',"stream_resumable":true'; do
	own "call ${#members}" messages-tuple "$members"
	facts <<'TABLE'
a call comes in a last piece behind the text :: of("messages") | map(.[0]) | map(.type, .content, .id) | .[0:2] + .[3:5] + [.[2] == .[5]] == ["AIMessageChunk", "I look", "AIMessageChunk", "", true]
in the form by which clients put pieces together :: of("messages")[-1] | [.[0].tool_calls[0].args.n, .[0].tool_call_chunks[0].args, .[1].tags] == [1, "{\"n\":1}", []]
TABLE
done

# ---- what failed goes on

cat >mayfail <<'SH'
#!/bin/sh
cat >/dev/null
[ -e well ] && echo "{\"message\": \"$1 did\"}" || echo "{\"error\": \"$1 is ill\"}"
SH
chmod +x mayfail
exec_node() { printf '{"kind": "exec", "command": ["./mayfail", "%s"]}' "$1"; }
cat >graph.json <<JSON
{"own": {"nodes": {"a": {"kind": "reply", "text": "first"}, "b": $(exec_node b), "c": {"kind": "reply", "text": "last"}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "END"}]},
 "ask": {"nodes": {"x": {"kind": "interrupt", "value": "x?", "reply": "x {{answer}}"}, "y": {"kind": "interrupt", "value": "y?", "reply": "y {{answer}}"},
   "j": {"kind": "reply", "text": "joined"}},
  "edges": [{"from": "START", "to": ["x", "y"], "join": "j"}, {"from": "x", "to": "j"}, {"from": "y", "to": "j"}, {"from": "j", "to": "END"}]},
 "in": {"nodes": {"x": $(exec_node x)}, "edges": [{"from": "START", "to": "x"}, {"from": "x", "to": "END"}]},
 "sub": {"nodes": {"a": {"kind": "reply", "text": "first"}, "s": {"kind": "graph", "graph": "in"}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "s"}, {"from": "s", "to": "END"}]}}
JSON
serve_stop
# goes_on_is THREAD MEMBERS TEXTS NAME: tests what a run without input leaves there.
goes_on_is() {
	api POST "/lg/threads/$1/runs/wait" "{\"assistant_id\":\"${GRAPH-own}\",\"input\":null$2}"
	is "$STATUS $(json '.messages // [] | map(.content) | join(" ")' "$BODY")" "200 $3" "$4" || diag "$BODY"
}
new='"if_not_exists":"create"'
api POST /lg/threads/f/runs/wait "{\"assistant_id\":\"own\",\"input\":{\"messages\":[$(human go)]},$new}"
is "$(json .__error__.error "$BODY")" NODE_ERROR 'a node fails'
failed=$(json '.__error__ | tojson' "$BODY")
api GET /lg/threads/f/state
is "$(json '[.next, (.tasks | map([.name, (.error | fromjson)]))] | tojson' "$BODY")" "[[],[[\"b\",$failed]]]" 'so the state says who has loaded the page again'
: >well
goes_on_is f '' 'go first b did last' 'without input the run goes on with that node'
api GET /lg/threads/f/state
is "$(json '.tasks | tojson' "$BODY")" '[]' 'and the failure is gone'
api POST /lg/threads/f/runs/wait '{"assistant_id":"own","input":null}'
is "$STATUS" 422 'and once only'
api POST /lg/threads/l/runs/wait "{\"assistant_id\":\"own\",\"input\":{\"messages\":[$(human go)]},$new,\"config\":{\"recursion_limit\":2}}"
is "$(json .__error__.error "$BODY")" GRAPH_RECURSION_LIMIT 'a run comes to its limit'
goes_on_is l '' 'go first b did last' 'without input it goes on behind it'
rm well
serve_stop
printf '{"agent":"graph.json:sub","langgraph":{"enabled":true},"runs":{"background":1}}\n' >agentgraph.json
GRAPH=sub
api POST /lg/threads/i/runs/wait "{\"assistant_id\":\"sub\",\"input\":{\"messages\":[$(human go)]},$new}"
: >well
api POST /lg/threads/i/runs '{"assistant_id":"sub","input":null}'
run=$(json .run_id "$BODY")
over() { api GET "/lg/threads/i/runs/$run" && case $(json .status "$BODY") in pending | running) false ;; esac; }
wait_for 20 over
api GET /lg/threads/i/state
is "$(json '.values.messages | map(.content) | join(" ")' "$BODY")" 'go first x did' 'a subgraph runs again as a whole, in the background, too'

serve_stop
printf '{"agent":"graph.json:ask","langgraph":{"enabled":true}}\n' >agentgraph.json
GRAPH=ask
api POST /lg/threads/q/runs/wait "{\"assistant_id\":\"ask\",\"input\":{\"messages\":[$(human go)]},$new}"
last=$(json '.__interrupt__[1].id' "$BODY")
goes_on_is q ",\"command\":{\"resume\":{\"$last\":\"yes\"}}" 'go y yes' 'of several questions an answer may name the last'
goes_on_is q ',"command":{"resume":"no"}' 'go y yes x no joined' 'the only one that is left needs no name'
api POST /lg/threads/r/runs/wait "{\"assistant_id\":\"ask\",\"input\":{\"messages\":[$(human go)]},$new}"
first=$(json '.__interrupt__[0].id' "$BODY") last=$(json '.__interrupt__[1].id' "$BODY")
goes_on_is r ",\"command\":{\"resume\":{\"__agui_resume_map__\":{\"$last\":{\"status\":\"resolved\",\"payload\":\"yes\"}}}}" 'go y yes' \
	'CopilotKit wraps what it answers'
goes_on_is r ",\"command\":{\"resume\":{\"__agui_cancelled__\":true,\"interrupt_id\":\"$first\"}}" 'go y yes x  joined' 'and what somebody cancelled'

done_testing
