#!/bin/sh
# SPDX-License-Identifier: ISC
# The log in a form for machines.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

export AGENTGRAPH_LOG_FORMAT=json LOGGER_NAME=mine LOG_LEVEL=DEBUG
api_start
api GET /v1/graph
invoke '/error my password=hunter2 is gone' "$(thread t | sed 's/}$/,"run_id":"run-1"}/')"
id=$(header X-Request-ID)
like "$id" '^[0-9a-f-]{36}$' 'the answer has an id'
grep '^{' "$SERVE_ERR" >"$WORK/lines"
ok 'jq -e . "$WORK/lines" >/dev/null' 'every line is JSON'
line=$(grep "$id" "$WORK/lines" | grep '"ERROR"' | head -1)
is "$(json .request_id "$line")" "$id" 'a failure is logged under the id of its answer'
is "$(json .run_id "$line")" run-1 'and of its run'
is "$(json .logger "$line")" mine 'with the name that was chosen'
like "$(json .time "$line")" '^20[0-9-]+T[0-9:.]+Z$' 'and the time'
like "$(json .message "$line")" ' \(node agent\)$' 'and the node'
like "$(json .message "$line")" 'password=\*\*\*REDACTED\*\*\*' 'secrets are taken out'
unlike "$(cat "$SERVE_ERR")" hunter2 'of every line'
api GET "/v1/graph?token=abc"
grep -q '"message":"GET /v1/graph 200' "$SERVE_ERR"
ok $? 'requests are lines at the level DEBUG'
serve_stop

STATE=
AGENTGRAPH_LOG_FORMAT=yaml
! api_start >/dev/null
ok $? 'an unknown format is refused'
like "$(cat "$SERVE_ERR")" 'AGENTGRAPH_LOG_FORMAT: expected plain or json' 'by its name'
done_testing
