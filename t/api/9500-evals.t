#!/bin/sh
# SPDX-License-Identifier: ISC
# Eval reports: the list, one run, and reports that lack something or have something else in its place.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

here=$TOP_SRCDIR/t/api
runs() { api GET /v1/evals/runs; }
run() { api GET "/v1/evals/runs/$1"; }

# put NAME TEXT: a report; it is put in place whole, as makers of reports do.
put() {
	printf '%s' "$2" >"new.$1"
	mv "new.$1" "eval_reports/$1.json"
}

# ids: those that are listed, on one line.
ids() {
	runs
	json '[.data.runs[].id] | join(" ")' "$BODY"
}

# alone TEXT: the only report, "r".
alone() {
	rm -rf eval_reports
	mkdir eval_reports
	put r "$1"
	runs
}

runs
is "$STATUS $(json '.data | tojson' "$BODY")" '200 {"runs":[]}' 'a directory that is missing is an empty list'
run nobody
is "$STATUS $(json '[.error_code, .detail] | join(" ")' "$BODY")" \
	"404 RESOURCE_NOT_FOUND Eval run 'nobody' not found" 'and every run is unknown'

# ---- two runs of one set

mkdir eval_reports
cp "$here/support_20260901_090000.json" "$here/support_20260902_103000.json" eval_reports/
runs
printf '%s' "$BODY" | jq -S '.data.runs[].ago |= "…" | .data' >got
jq -S . "$here/eval-runs.json" >wanted
ok 'cmp got wanted' 'the list has the newest first' || diag "$(diff got wanted)"
run support_20260902_103000
printf '%s' "$BODY" | jq -S .data >got
jq -S . "$here/eval-run.json" >wanted
ok 'cmp got wanted' 'a run is shown with its cases and compared with the one before' || diag "$(diff got wanted)"
run support_20260901_090000
facts <<'FACTS'
the first run of a set is compared with nothing :: .data.regression == null
parts without value are left out of the subtitle :: .data.sub == "support · 2026-09-01 09:00 · 0.0s"
thresholds that are equal count once :: .data.threshold == 70
a case without name has its id :: [.data.cases[].name] == ["refund", "hours"]
a case without texts has dashes :: [.data.cases[0] | .input, .expected, .actual] == ["—", "—", "—"]
FACTS
api HEAD /v1/evals/runs
is "$STATUS/$BODY" 200/ 'HEAD is answered'
api POST /v1/evals/runs '{}'
is "$STATUS $(header Allow)" '405 GET, HEAD, OPTIONS' 'other methods are not'
api GET /v1/evals/runs/
is "$STATUS" 404 'a trailing slash is another path'

# ---- order and numbers

rm -rf eval_reports && mkdir eval_reports
now=$(date +%s)
put b "{\"eval_set_id\":\"x\",\"timestamp\":$((now - 90))}"
put a "{\"eval_set_id\":\"x\",\"timestamp\":$((now - 90))}"
put c "{\"eval_set_id\":\"y\",\"timestamp\":$((now - 7300))}"
put d "{\"eval_set_id\":\"x\",\"timestamp\":$((now - 200000))}"
put e "{\"eval_set_id\":\"x\",\"timestamp\":$((now + 5000))}"
put f '{"eval_set_id":"x"}'
runs
facts <<'FACTS'
newest first, of equal times by name :: [.data.runs[].id] == ["e", "a", "b", "c", "d", "f"]
runs are counted within their set :: [.data.runs[].run] == ["#5", "#3", "#4", "#1", "#2", "#1"]
ages are told in their largest unit :: [.data.runs[].ago] == ["just now", "1m ago", "1m ago", "2h ago", "2d ago", "just now"]
a set without name has its id :: [.data.runs[].name] | unique == ["x", "y"]
FACTS
put b "{\"eval_set_id\":\"y\",\"timestamp\":$now}"
rm eval_reports/a.json
runs
facts <<'FACTS'
what was changed or removed is seen at once :: [.data.runs[].id] == ["e", "b", "c", "d", "f"]
and counts where it belongs now :: [.data.runs[].run] == ["#3", "#2", "#1", "#2", "#1"]
FACTS
put b '{"eval_set_id":"y","eval_set_name":"other","timestamp":5}'
is "$(runs; json '.data.runs[] | select(.id == "b").name' "$BODY")" other 'twice within a moment, too'

# ---- values

alone '{}'
facts <<'FACTS'
a report may lack everything :: (.data.runs[0] | del(.ago)) == {id: "r", name: "", run: "#1", rate: 0, status: "fail", cases: 0}
FACTS
run r
facts <<'FACTS'
also when it is shown :: (.data | del(.stats)) == {title: " · run #1", sub: "0.0s", rate: 0, status: "fail", threshold: 80, cases: [], regression: null}
numbers have their defaults :: [.data.stats[].value] == ["0", "0", "0", "0.00", "0.0s", "0 tok"]
FACTS
alone '{"timestamp":1,"summary":[],"results":{},"eval_set_id":7,"eval_set_name":null,"config_used":"x"}'
facts <<'FACTS'
a wrong type counts as the default :: (.data.runs[0] | [.name, .rate, .cases]) == ["", 0, 0]
FACTS
run r
is "$STATUS $(json .data.sub "$BODY")" '200 1970-01-01 00:00 · 0.0s' 'in every place'
alone '{"summary":{"pass_rate":true,"total_cases":"3","passed_cases":2.5,"total_token_usage":[]},"results":[1,null,"x",[],{"eval_id":5,
	"passed":"yes","criterion_results":[null,{"score":"1","threshold":"x"}],"messages":[1,{"role":"user"},{"role":"user","content":[1,
	{"type":"text","text":4}]}],"metadata":[],"token_usage":7,"duration_seconds":null,"actual_response":{}}]}'
run r
facts <<'FACTS'
each case is a case, whatever it is :: [.data.cases[].id] == ["", "", "", "", ""]
scores of a wrong type are 0 :: .data.cases[4].score == 0
a text block without text is an empty input :: .data.cases[4].input == ""
thresholds of a wrong type are none :: .data.threshold == 80
counts of a wrong type are 0 :: [.data.stats[0, 1].value] == ["0", "0"]
FACTS
alone '{"timestamp":NaN,"eval_set_name":"NaN \"Infinity \u0000\ud800","summary":{"pass_rate":-Infinity,"total_cases":1e999},
	"results":[{"passed":true,"duration_seconds":Infinity,"actual_response":"[NaN,-Infinity]"}]}'
run r
facts <<'FACTS'
bare NaN and Infinity are read as 0 :: [.data.rate, .data.cases[0].lat] == [0, "0.0s"]
in a text they are text :: .data.cases[0].actual == "[NaN,-Infinity]"
characters that are none are replaced :: .data.title == "NaN \"Infinity \ufffd\ufffd · run #1"
FACTS
alone '{"summary":{"pass_rate":1e308,"total_cases":9223372036854775807,"failed_cases":9223372036854775807,"error_cases":1,
	"total_duration_seconds":-1e300},"timestamp":-1e300,"results":[{"criterion_results":[{"score":1e308,"threshold":1e308},{"score":1e308}]}]}'
run r
is "$STATUS $(json '.data | [.rate, .threshold, .cases[0].score, .stats[2].value] | tojson' "$BODY")" \
	'200 [0,0,0,"9223372036854775807"]' 'numbers beyond all measure harm nobody'
alone '{"summary":{"pass_rate":0.99999},"eval_set_id":"s"}'
is "$(json '.data.runs[0] | [.rate, .status] | tojson' "$BODY")" '[100,"fail"]' 'only a rate of 1 passes'

# ---- rounding

alone '{"eval_set_id":"s","summary":{"total_token_usage":{"total_tokens":999},"avg_duration_seconds":1.25},"results":[
	{"eval_id":"a","criterion_results":[{"criterion":"c","score":0.123456,"threshold":0.125}],"token_usage":{"total_tokens":1000}},
	{"eval_id":"b","passed":true,"token_usage":{"total_tokens":999}}]}'
run r
facts <<'FACTS'
halves of a threshold go to the even number :: .data.threshold == 12
criteria keep their score, their mean has two decimals :: [.data.cases[0].rubric[].value] == [0.123456, 0.12]
a thousand tokens are told in thousands :: [.data.cases[].cost] == ["1.0k tok", "999 tok"]
seconds are rounded as they are printed :: .data.stats[4].value == "1.2s"
the score of a case without criteria is its flag :: [.data.cases[].score] == [0.12, 1]
the mean is over all cases :: .data.stats[3].value == "0.56"
FACTS

# ---- conversations

alone '{"results":[{"metadata":{"turns":null},"actual_response":" USER:  hi \r\n\n\tAGENT:hello\nUSER:\nuser: x"},
	{"metadata":{"turns":1},"actual_response":" \n "},{"metadata":{},"actual_response":"USER: hi"}]}'
run r
facts <<'FACTS'
lines are told apart by their prefix :: .data.cases[0].conversation == [{role: "sim", text: "hi"}, {role: "agent", text: "hello"}, {role: "sim", text: ""}, {role: "agent", text: "user: x"}]
a conversation without lines is none :: .data.cases[1].conversation == null
the key turns makes a simulation :: [.data.cases[].type] == ["sim", "sim", "eval"]
other cases have no conversation :: .data.cases[2].conversation == null
FACTS
alone '{"results":[{"messages":[{"role":"assistant","content":"no"},{"role":"user","content":""},{"role":"user","content":[{"type":"image"}]},
	{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},{"role":"user","content":"late"}]}]}'
run r
is "$(json '.data.cases[0].input' "$BODY")" 'a b' 'the input is the first user message with a text'

# ---- comparison

rm -rf eval_reports && mkdir eval_reports
one='{"eval_set_id":"s","timestamp":1,"summary":{"pass_rate":0.5},"results":[{"eval_id":"a","passed":true},{"eval_id":"b"},
	{"eval_id":"gone","passed":true},{"eval_id":"twice","passed":true},{"eval_id":"twice"},
	{"eval_id":"even","passed":true,"criterion_results":[{"score":0.5}]}]}'
two='{"eval_set_id":"s","timestamp":2,"summary":{"pass_rate":0.5},"results":[{"eval_id":"b","passed":true},{"eval_id":"new"},
	{"eval_id":"twice"},{"eval_id":"a"},{"eval_id":"twice","passed":true,"name":"Last"},
	{"eval_id":"even","passed":true,"criterion_results":[{"score":0.504}]}]}'
put one "$one"
put two "$two"
run two
facts <<'FACTS'
cases of both runs are compared, in the order of this one :: [.data.regression.rows[].name] == ["b", "a", "Last", "even"]
a change shows its direction :: [.data.regression.rows[].dir] == ["up", "down", "up", "flat"]
and its size :: [.data.regression.rows[].delta] == ["0.00 → 1.00  ▲1.00", "1.00 → 0.00  ▼1.00", "0.00 → 1.00  ▲1.00", "0.50 → 0.50  —"]
flips are told :: [.data.regression.rows[].flip] == ["fail → pass", "pass → fail", "fail → pass", "pass (same)"]
staying is a flag :: [.data.regression.rows[].stay] == [false, false, false, true]
zero has a plus sign :: .data.regression.summary[0] == {label: "pass-rate drift", value: "+0.0pp", tone: "ok"}
what flipped is counted :: [.data.regression.summary[1, 2] | .value, .tone] == ["1", "bad", "2", "ok"]
scores are those of all cases :: .data.regression.summary[3] == {label: "avg score drift", value: "-0.17", tone: "warn"}
both runs are named :: .data.regression.note == {current: "run #2 (50.0%)", prev: "run #1 (50.0%)", suite: "same suite"}
FACTS
scored='{"criterion_results":[{"score":%s}]},{"criterion_results":[{"score":0.2}]},{"criterion_results":[{"score":%s}]}'
put one "{\"eval_set_id\":\"s\",\"timestamp\":1,\"summary\":{\"pass_rate\":0.30000000000000004},\"results\":[$(printf "$scored" 0.1 0.3)]}"
put two "{\"eval_set_id\":\"s\",\"timestamp\":2,\"summary\":{\"pass_rate\":0.3},\"results\":[$(printf "$scored" 0.3 0.1)]}"
run two
facts <<'FACTS'
the same scores in another order are no drift :: [.data.regression.summary[0, 3] | .value, .tone] == ["+0.0pp", "ok", "+0.00", "ok"]
FACTS

# ---- no reports

rm -rf eval_reports && mkdir eval_reports eval_reports/dir.json outside
put ok '{"eval_set_id":"ok"}'
put empty ''
put cut '{"eval_set_id":"s"'
put array '[]'
put word NaN
put comma '{"a":1,}'
put key '{NaN:1}'
put text '{"timestamp":"1"}'
put null '{"timestamp":null}'
put flag '{"timestamp":true}'
printf '{"eval_set_id":"\377"}' >eval_reports/latin.json
printf '\357\273\277{}' >eval_reports/mark.json
printf '{"a":"x\0y"}' >eval_reports/nul.json
printf '{"a":NaN,\0"b":1}' >eval_reports/nul2.json
printf '{"a":%s1%s}' "$(printf '%01200d' 0 | tr 0 '[')" "$(printf '%01200d' 0 | tr 0 ']')" >eval_reports/deep.json
mkfifo eval_reports/pipe.json
echo '{"eval_set_id":"secret"}' >outside/secret.json
ln -s ../outside/secret.json eval_reports/link.json
ln -s loop.json eval_reports/loop.json
ln -s nowhere eval_reports/dangling.json
echo '{}' >eval_reports/notes.txt
echo '{}' >eval_reports/.json
echo '{}' >eval_reports/UPPER.JSON
printf '{}' >"eval_reports/$(printf 'not-\377-text').json"
put 'white space & "quotes"' '{}'
is "$(ids)" 'ok white space & "quotes"' 'only regular files with a JSON object are reports'
run 'white%20space%20%26%20%22quotes%22'
is "$STATUS" 200 'any name can be asked for'
for id in link loop pipe dir cut ../outside/secret ..%2Foutside%2Fsecret %2E%2E%2Foutside%2Fsecret .%2Fok ok.json OK '' %20; do
	run "$id"
	is "$STATUS" 404 "'$id' is no run"
done
api GET "/v1/evals/runs/$(printf '%02000d' 0)"
is "$STATUS" 404 'nor is a very long id'

# ---- many

rm -rf eval_reports && mkdir eval_reports
awk 'BEGIN {
	for (i = 0; i < 10000; i++) {
		file = sprintf("eval_reports/s_%05d.json", i)
		printf "{\"eval_set_id\":\"s%d\",\"timestamp\":%d,\"results\":[{\"eval_id\":\"a\",\"actual_response\":\"%0500d\"}]}\n",
			i % 7, 1788000000 + i, 0 >file
		close(file)
	}
}'

# What has just been written is read again each time, so later tries are quicker ones.
listed_quickly() {
	started=$(date +%s%3N)
	runs
	took=$(($(date +%s%3N) - started))
	[ "$took" -lt 1000 ]
}
ok 'wait_for 60 listed_quickly' 'ten thousand reports are listed in less than a second' || diag "$took ms"
is "$(json '.data.runs | [length, .[0].id, .[0].run] | tojson' "$BODY")" '[10000,"s_09999","#1429"]' 'all of them'

# ---- large ones

rm -rf eval_reports && mkdir eval_reports
{
	printf '{"eval_set_id":"large","timestamp":1,"results":[{"eval_id":"a","passed":true,"actual_trajectory":["'
	head -c 12000000 /dev/zero | tr '\0' x
	printf '"]}],"summary":{"pass_rate":1,"total_cases":1}}'
} >eval_reports/large.json
truncate -s 80M eval_reports/sparse.json
run large
is "$STATUS $(json '[.data.rate, .data.cases[0].status] | tojson' "$BODY")" '200 [100,"pass"]' 'a report of megabytes is read'
is "$(ids)" large 'one without end is not'
chmod 000 eval_reports/large.json
[ "$(id -u)" = 0 ] || is "$(ids)" '' 'nor one that must not be read'
chmod 600 eval_reports/large.json

# ---- public, whatever the configuration

printf '{"agent":"builtin:demo","auth":"jwt","authorization":"ownership"}' >agentgraph.json
serve_stop
MODE=production JWT_ALGORITHM=HS256 JWT_SECRET_KEY=0123456789abcdef0123456789abcdef api_start
runs
is "$STATUS" 200 'no credential is asked for'
run large
is "$STATUS" 200 'not in production either'
api GET /v1/graph
is "$STATUS" 403 'elsewhere it is'

printf '{"agent":"builtin:demo","evaluation":{"serve":false}}' >agentgraph.json
serve_stop
api_start
runs
is "$STATUS $(json .detail "$BODY")" '404 Not Found' 'evaluation.serve false takes the routes away'
run large
is "$STATUS $(json .detail "$BODY")" '404 Not Found' 'both of them'
api GET /openapi.json
is "$(json '[.paths | keys[] | select(contains("evals"))] | length' "$BODY")" 0 'and out of the API reference'

done_testing
