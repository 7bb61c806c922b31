#!/bin/sh
# SPDX-License-Identifier: ISC
# What the log says about requests.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

export LOG_LEVEL=DEBUG LOGGER_NAME=my-agent
api GET '/ping?token=sesame'
id=$(header X-Request-ID)
wait_for 30 grep -q 'GET /ping' "$SERVE_ERR"
line=$(grep 'GET /ping' "$SERVE_ERR" | tail -n 1)
like "$line" "request_id=$id" 'a request is logged with its id'
like "$line" 'DEBUG my-agent\[[0-9]+\]' 'level, name and process'
like "$line" 'GET /ping 200 [0-9]+ ms$' 'method, path, status and time'
unlike "$(cat "$SERVE_ERR")" sesame 'but without its query'

api GET "/v1/threads/$(printf '%%0d%%0aINFO')"
unlike "$(cat "$SERVE_ERR")" '^INFO' 'a path cannot add a line'
api POST /v1/graph/invoke '{'
id=$(header X-Request-ID)
like "$(grep "$id" "$SERVE_ERR")" '422 VALIDATION_ERROR: Request body must be valid JSON' 'a refusal is logged with its reason'
serve_stop

export LOG_LEVEL=INFO
api GET /ping
api GET /nope
id=$(header X-Request-ID)
unlike "$(cat "$SERVE_ERR")" 'GET /' 'by default requests are not logged'
like "$(grep "$id" "$SERVE_ERR")" 'INFO .*404 [A-Z_]*NOT_FOUND' 'but why one was refused'
serve_stop

export IS_DEBUG=false
api GET /nope
unlike "$(cat "$SERVE_ERR")" NOT_FOUND 'which can be switched off'

done_testing
