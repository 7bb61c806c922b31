#!/bin/sh
# SPDX-License-Identifier: ISC
# An agent that says how its machine is doing.
#
# The state comes as one line of JSON on standard input.  Each line on standard output is a JSON object; here all of them
# are {"delta": TEXT}, pieces of the answer.  If the script fails, so does the node, and the last line on standard error
# says why.
set -eu

# The user's text, still escaped as in a JSON string, so that it can go into another one as it is.
text=$(sed -n 's/.*,"user_text":"\(.*\)","config":{.*/\1/p')

say() { printf '{"delta": "%s"}\n' "$1"; }

# say_lines: says its standard input, line by line.
say_lines()
{
	tr '\t' ' ' | tr -d '\000-\011\013-\037' | sed 's/[\\"]/\\&/g' |
		while IFS= read -r line; do say "$line\\n"; done
}

case $text in
disk)
	df -P / | say_lines
	;;
load)
	uptime | say_lines
	;;
sum\ *)
	printf '%s\n' "${text#sum }" | awk '{ for (i = 1; i <= NF; i++) sum += $i; print sum + 0 }' | say_lines
	;;
"")
	echo "there is no text to answer" >&2
	exit 1
	;;
*)
	say "I know disk, load, and sum NUMBER..., but not: "
	printf '%s\n' "$text" | tr ' ' '\n' | while IFS= read -r word; do say "$word "; done
	;;
esac
