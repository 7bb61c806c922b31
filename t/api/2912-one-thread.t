#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances over one PostgreSQL, and one thread to which sixteen clients write: each acknowledged turn is there
# once, and none is refused.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/instances.sh"

CLIENTS=8 TURNS=8 # of each instance; of each client

# client NAME: says its turns one after the other, and notes what it was told of each.
client() {
	WORK=$WORK/$1
	mkdir "$WORK"
	for turn in $(seq "$TURNS"); do
		invoke "$1-$turn" "$(thread t)"
		echo "$1-$turn $STATUS $(json '"\(.error_code // "fine") \(.detail // "")"' "$BODY")"
	done >"$WORK/told"
}

printf '{"agent":"builtin:demo","runs":{"wait_timeout":120}}\n' >agentgraph.json
begin a --threads 64
begin b --threads 64

clients=
for i in $(seq "$CLIENTS"); do
	for instance in a b; do
		on "$instance" client "$instance$i" &
		clients="$clients $!"
	done
done
# shellcheck disable=SC2086 # words
wait $clients
cat "$WORK"/[ab]*/told >told

all=$((2 * CLIENTS * TURNS))
is "$(grep -c ' 200 fine' told)" "$all" "all $all turns are answered" || diag "$(grep -v ' 200 fine' told)"
sed -n 's/ 200 fine.*//p' told | sort >acknowledged

api GET "/v1/threads/t/messages?limit=1000"
said='.data.messages[] | select(.role == "user") | .content[0].text'
json "$said" "$BODY" | sort >stored
is "$(diff acknowledged stored)" '' 'and each is there once'
is "$(json '[.data.messages[].content[0].text] | [range(0; length; 2) as $i | .[$i + 1] == "echo: " + .[$i]] | all' "$BODY")" \
	true 'with its answer behind it'

refused=0
for i in $(seq 10); do
	for instance in a b; do
		on "$instance" in_background "new_$instance" invoke "of $instance" "$(thread "new-$i")"
	done
	for instance in a b; do
		collect "new_$instance"
		[ "$STATUS" = 200 ] || refused=$((refused + 1))
	done
done
is "$refused" 0 'nor is one refused where both make the thread'

done_testing
