#!/bin/sh
# SPDX-License-Identifier: ISC
# Plays the model: asks for the tool weekday, and says what it found.  The state is one line of JSON.
set -eu

state=$(cat)

case $state in
*'"role":"tool"'*)
	printf '%s\n' "$state" |
		sed -n 's/.*"type":"tool_result",.*"output":"\([^"]*\)","is_error":.*/{"delta": "It is: \1"}/p'
	;;
*)
	date=$(printf '%s\n' "$state" | sed -n 's/.*,"user_text":"[^"]* \([-0-9]*\)","config":{.*/\1/p')
	printf '{"message": {"content": [{"type": "tool_call", "id": "weekday-%s", "name": "weekday", "args": {"date": "%s"}}]}}\n' \
		"$AGENTGRAPH_RUN_ID" "$date"
	;;
esac
