#!/bin/sh
# SPDX-License-Identifier: ISC
# A PostgreSQL that refuses: once, as others were in the way, and the turn is made all the same; or for some seconds all
# that is not small, like one whose disk is full, which a run in the background outlasts and a stop does not wait for.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

sql() { psql "$DATABASE_URL" -X -q -A -t -c "$1"; }
submit() {
	api POST /v1/graph/runs "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"config\":{\"thread_id\":\"$1\",\"run_id\":\"r\"}}"
	is "$STATUS" 202 'a run is queued'
}
refused() { grep "thread $1 is to be taken up again: .*(53100)" "$SERVE_ERR"; }
over() {
	api GET "/v1/threads/$1/runs/r"
	[ "$(json .data.finished_at "$BODY")" != null ]
}

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
api_start --config agentgraph.json

# ---- once

sql "CREATE SEQUENCE once;
	CREATE FUNCTION once() RETURNS trigger LANGUAGE plpgsql AS
	\$\$BEGIN IF nextval('once') = 1 THEN RAISE EXCEPTION 'once' USING ERRCODE = TG_ARGV[0]; END IF; RETURN NULL; END\$\$"
while read -r state status words; do
	sql "SELECT setval('once', 1, false); CREATE TRIGGER once AFTER INSERT ON messages EXECUTE FUNCTION once('$state')" >/dev/null
	invoke hello "$(thread "once")"
	is "$(sql 'SELECT last_value > 0 AND is_called FROM once') $STATUS" "t $status" "$words"
	sql 'DROP TRIGGER once ON messages'
done <<'STATES'
40001 200 a transaction that others have undone is done again
40P01 200 so is one that got stuck with another one
57P01 200 or whose session was ended
25P04 200 also because it took too long for the server's administrator
53100 503 on a full disk there is 503
23514 500 and what will never pass is an error
STATES
api GET '/v1/threads/once/messages?limit=100'
is "$(json '.data.messages | length' "$BODY")" 8 'of all these nothing is there twice'

# ---- for some seconds

sql "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
	\$\$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END\$\$"
sql 'CREATE TRIGGER full_disk BEFORE INSERT ON messages EXECUTE FUNCTION full_disk()'
submit stopped
submit outlasts
ok 'wait_for 20 refused stopped' 'of which nothing can be stored'
ok 'wait_for 20 refused outlasts' 'nor of another one'
api POST /v1/threads/stopped/runs/r/stop '{}'
ok 'wait_for 30 over stopped' 'it can be stopped all the same, and at once'
is "$(json .data.status "$BODY")" stopped 'as one that is stopped'
sleep 2 # in which all attempts would be over
sql 'DROP TRIGGER full_disk ON messages'
ok 'wait_for 60 over outlasts' 'when there is room again the other one ends'
is "$(json '.data.status, .data.error' "$BODY" | xargs)" 'completed null' 'as if nothing had been'
serve_stop

# ---- to a node that reads

cat >graph.json <<'JSON'
{"g": {"nodes": {
		"say": {"kind": "reply", "text": "said"},
		"tell": {"kind": "exec", "command": ["jq", "-c", "{delta: (.context | length | tostring)}"],
			"on_error": "say"},
		"ask": {"kind": "model", "provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0, "api_key_env": "HOME"}},
	"edges": [
		{"from": "START", "if": [{"when": {"user_text": {"starts_with": "/ask"}}, "to": "ask"},
			{"when": {"user_text": {"starts_with": "/tell"}}, "to": "tell"}], "else": "say"},
		{"from": "say", "to": "END"}, {"from": "ask", "to": "END"}, {"from": "tell", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:g"}\n' >agentgraph.json
api_start --config agentgraph.json
invoke hello "$(thread now)"
is "$STATUS" 200 'a thread has a past'
invoke hello "$(thread later)"
is "$STATUS" 200 'and another one'
invoke hello "$(thread told)"
is "$STATUS" 200 'and a third'
sql "CREATE FUNCTION away() RETURNS boolean LANGUAGE plpgsql AS
	\$\$BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = 'disk_full'; END\$\$;
	ALTER TABLE bodies RENAME TO real_bodies;
	CREATE VIEW bodies AS SELECT row, body FROM real_bodies WHERE away()"
invoke /ask "$(thread now)"
is "$STATUS $(json .error.code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'which its model cannot be told for now'
api POST /v1/graph/runs '{"messages":[{"role":"user","content":"/ask"}],"config":{"thread_id":"later","run_id":"r"}}'
is "$STATUS" 202 'a run is queued'
ok 'wait_for 20 grep -q "thread later is to be taken up again: node ask: " "$SERVE_ERR"' 'which is not over for that'
invoke /tell "$(thread now)"
is "$STATUS $(json .error.code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'nor can a program, for which on_error is not meant'
api POST /v1/graph/runs '{"messages":[{"role":"user","content":"/tell"}],"config":{"thread_id":"told","run_id":"r"}}'
is "$STATUS" 202 'one with a program is queued'
ok 'wait_for 20 grep -q "thread told is to be taken up again: node tell: " "$SERVE_ERR"' 'which is not over either'
sql 'DROP VIEW bodies; ALTER TABLE real_bodies RENAME TO bodies'
ok 'wait_for 60 over later' 'when it can be read again it ends'
is "$(json '.data.attempt, .data.error.code' "$BODY" | xargs)" '2 NODE_ERROR' 'as its model says, which is not there'
ok 'wait_for 60 over told' 'the other one ends'
is "$(json '.data.attempt, .data.status' "$BODY" | xargs)" '2 completed' 'well'
api GET /v1/threads/told/messages
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 3 'and its program was told all there is'
done_testing
