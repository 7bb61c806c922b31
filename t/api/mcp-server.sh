#!/bin/sh
# SPDX-License-Identifier: ISC
# An MCP server on its standard streams that misbehaves.  Its arguments say how:
#
#   noise    writes lines that are not messages, and half of a character
#   deaf     ignores SIGTERM and the end of its input
#   stillborn  ends before it says anything         dumb     answers nothing at all
#   asks     asks questions of its own              children leaves programs behind
#   flood    writes without end                     long     writes one line without end
#   round    has one page of tools, which names another one
#   lingers  dies slowly: it falls silent, and stays until it is killed
#   blank    begins with 32 MiB of empty lines on its standard error
#
# Tools: echo, die, hang, change (there are more tools from then on), count (of processes that were started), big.
has() { case " $modes " in *" $1 "*) return 0 ;; esac; return 1; }
modes=$*
say() { printf '%s\n' "$1"; }
reply() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }

tool() {
	printf '{"name":"%s","description":"The tool %s","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}' "$1" "$1"
}

list() {
	if has round; then
		echo list >>lists
		reply "{\"tools\":[$(tool echo),$(tool count)],\"nextCursor\":\"\"}"
		return
	fi
	case $line in
	*'"cursor":"second"'*)
		if [ -f changed ]; then
			reply "{\"tools\":[$(tool hang),$(tool count),$(tool big),$(tool later)]}"
		else
			reply "{\"tools\":[$(tool hang),$(tool count),$(tool big),$(tool change)]}"
		fi
		;;
	*) reply "{\"tools\":[$(tool echo),$(tool die)],\"nextCursor\":\"second\"}" ;;
	esac
}

call() {
	case $line in
	*'"name":"echo"'*)
		text=$(printf '%s' "$line" | sed 's/.*"text":"\([^"]*\)".*/\1/')
		! has noise || text="$text\\ud83d"
		reply "{\"content\":[{\"type\":\"text\",\"text\":\"$text\"}]}"
		;;
	*'"name":"die"'*)
		has lingers || exit 3
		trap '' TERM
		exec >&-
		cat >/dev/null
		: >lingering
		exec sleep 1000
		;;
	*'"name":"hang"'*) : ;;
	*'"name":"count"'*) reply "{\"content\":[{\"type\":\"text\",\"text\":\"$(wc -l <starts | tr -d ' ')\"}]}" ;;
	*'"name":"big"'*) reply "{\"content\":[{\"type\":\"text\",\"text\":\"$(head -c 300000 /dev/zero | tr '\0' x)\"}]}" ;;
	*'"name":"change"'*)
		: >changed
		say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
		reply '{"content":[{"type":"text","text":"done"}]}'
		;;
	*) reply '{"content":[{"type":"text","text":"no such tool"}],"isError":true}' ;;
	esac
}

echo started >>starts
echo $$ >>pids
if has stillborn; then
	echo 'no licence' >&2
	exit 4
fi
if has deaf; then trap '' TERM; fi
if has children; then
	sleep 1000 &
	echo $! >>pids
	setsid sleep 1000 &
	echo $! >>strays
fi
if has blank; then head -c 33554432 /dev/zero | tr '\0' '\n' >&2; fi
if has flood; then while :; do yes garbage | head -n 50000; sleep 0.2; done; fi
if has long; then tr '\0' x </dev/zero; fi
while read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
	if has noise; then
		echo 'INFO a log line'
		echo '{"not": "a message"}'
		echo '{broken'
		printf '\377\376\n'
	fi
	if has dumb; then continue; fi
	case $line in
	*'"method":"initialize"'*)
		reply '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"t","version":"1"}}'
		;;
	*'"method":"notifications/initialized"'*)
		if has asks; then
			say '{"jsonrpc":"2.0","id":"p-1","method":"ping"}'
			say '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}'
			say '{"jsonrpc":"2.0","id":8,"method":"roots/list"}'
		fi
		;;
	*'"method":"notifications/cancelled"'*) printf '%s\n' "$line" >>cancelled ;;
	*'"method":"tools/list"'*) list ;;
	*'"method":"tools/call"'*) call ;;
	*) printf '%s\n' "$line" >>answers ;;
	esac
done
if has deaf; then sleep 1000; fi
