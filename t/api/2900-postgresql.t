#!/bin/sh
# SPDX-License-Identifier: ISC
# A service over PostgreSQL: what is stored, and a database that goes away and comes back.  2910 has several instances.
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

say() { api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}],\"config\":{\"thread_id\":\"t1\"}}"; }

STATE=$WORK/state
mkdir -m 700 "$STATE"
database_of "$STATE"
DATABASE_URL="$DATABASE_URL&password=sesame"
PG=$PG_DIR
PG_DIR= # the service has the address that is set now, and the server is this test's to stop
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT

"$AGENTGRAPH" check --state "$STATE" 2>checked
ok $? 'check finds the database'
like "$(cat checked)" 'database: PostgreSQL [0-9.]* at .*, database postgres as agent, schema t[0-9]*, which the first start makes' \
	'and says where it is'
"$AGENTGRAPH" check --state "$STATE" 2>checked
like "$(cat checked)" 'which the first start makes' 'a check has made nothing'
printf '{"agent":"builtin:demo","rate_limit":{"requests":1000,"window":60}}\n' >limited.json
"$AGENTGRAPH" check --config limited.json --state "$STATE" 2>checked
like "$(cat checked)" 'warning: rate_limit.backend: "memory" counts what this instance is asked' 'what counts for one instance alone is told'

api_start
like "$(cat "$SERVE_ERR")" 'database: PostgreSQL' 'serve says what it connects to'
say hello
is "$STATUS" 200 'a run'
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'echo: hello' 'is answered'
api GET /v1/graph
is "$(json .data.info.checkpointer_type "$BODY")" postgresql 'the engine is told'
ok '[ ! -e "$STATE/threads.db" ]' 'no SQLite database is made'

"$TOP_SRCDIR/t/postgresql-server" crash "$PG."
say away
is "$STATUS" 503 'without its database it answers 503'
is "$(json .error.code "$BODY")" TRANSIENT_STORAGE_ERROR 'that passes'
unlike "$BODY" 'PostgreSQL|socket|agent' 'and tells no insides'
"$TOP_SRCDIR/t/postgresql-server" crash "$PG"
say back
is "$STATUS" 200 'when that is there again it goes on without a restart'
api GET /v1/threads/t1/messages
is "$(json '[.data.messages[].content[0].text] | join("|")' "$BODY")" 'hello|echo: hello|back|echo: back' 'and has all'

for pid in $(children "$SERVE_PID"); do kill -9 "$pid"; done
kill -9 "$SERVE_PID"
wait_for 20 gone "$SERVE_PID"
ERR=$SERVE_ERR
api_start
api GET /v1/threads/t1/messages
is "$(json '.data.messages | length' "$BODY")" 4 'a killed service has all when it is started again'
serve_stop
unlike "$(cat "$ERR" "$SERVE_ERR" checked)" sesame 'the password is in no log'

done_testing
