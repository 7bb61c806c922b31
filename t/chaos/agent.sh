#!/bin/sh
# SPDX-License-Identifier: ISC
# A node of the chaos test: "/exec N" answers at once, "/slow N" in pieces.  It sleeps in a child process, so that there
# is one to kill.
read -r state
text=$(printf '%s' "$state" | sed 's/.*"text":"\(\/[a-z]* [^"]*\)".*/\1/')
[ -n "$text" ] || exit 1 # the sed that was to find it was killed
case $text in
/slow*)
	for piece in 'ran:' " $text"; do
		printf '{"delta": "%s"}\n' "$piece"
		sleep 0.3
	done
	;;
esac
printf '{"message": "ran: %s"}\n' "$text"
