#!/bin/sh
# SPDX-License-Identifier: ISC
# After a busy time a process gives back the threads and the memory that it needed.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/load.sh"

CLIENTS=24

threads() { find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l; }

memory() { awk '$1 == "Pss:" { print $2 }' "/proc/$1/smaps_rollup"; }

# shared_memory: what it counts of the file that processes share.
shared_memory() { awk '/^[0-9a-f]+-/ { it = /\/shared$/ } it && $1 == "Rss:" { print $2 }' "/proc/$worker/smaps"; }

# burst: runs of three fifths of a second, a client each, or longer where a busy machine does not begin all of them within
# that; sets statuses to how often each came, and busy to the number of threads.
burst() {
	for ms in 200 1000 5000; do
		seq $CLIENTS | sed "s|.*|burst-& & /slow 3 $ms|" | turns $CLIENTS >statuses
		busy=$(threads "$worker")
		[ "$busy" -lt $((before + CLIENTS - 1)) ] || break
	done
	statuses=$(cut -d ' ' -f 1 statuses | sort | uniq -c | tr -s ' ')
}

few_threads() { [ "$(threads "$worker")" -le $((before + 1)) ]; }

# less_memory: than at the peak; what a sanitizer keeps does not count.
less_memory() {
	case ${CFLAGS-} in *-fsanitize=*) return 0 ;; esac
	[ "$(memory "$worker")" -lt $((peak * 9 / 10)) ]
}

less_shared() { [ "$(shared_memory)" -lt $((shared / 2)) ]; }

printf '{"agent": "builtin:demo"}\n' >agentgraph.json
export GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0 # the stacks of threads that ended are no room for others
serve_start --processes 1 --threads 32
ok $? 'the service starts'
worker=$(workers)
before=$(threads "$worker")

burst
is "$statuses" " $CLIENTS 200" 'many clients at once are answered'
ok $((busy < before + CLIENTS - 1)) 'each by a thread of its own'
seq 400 | sed 's|.*|more-& & hello|' | turns 16 >more
peak=$(memory "$worker") shared=$(shared_memory)
wait_for 30 few_threads
ok $? 'which end when there is nothing to do'
wait_for 30 less_memory
ok $? 'and what they took goes back'
wait_for 30 less_shared
ok $? 'and of what processes share each counts what it looks at'

# With no room for a stack, which sanitizers do not survive, runs take the threads that are there.  Only now, because a
# thread that finds no heap of its own takes a page for the least that it allocates.
case ${CFLAGS-} in
*-fsanitize=*) ;;
*)
	size=$(awk '$1 == "VmSize:" { print $2 }' "/proc/$worker/status")
	prlimit --as=$(((size + 768) * 1024)): --pid "$worker"
	seq 3 | sed 's|.*|few-& & /slow 90 700|' | turns 3 >few &
	few=$!
	sleep 2 # once a second it is tried again
	prlimit --as=unlimited: --pid "$worker"
	is "$(curl -s -o ping -w '%{http_code}' --max-time 40 "$BASE/ping")" 200 'threads that could not begin do later'
	for n in 1 2 3; do http POST /v1/graph/stop "{\"thread_id\":\"few-$n\"}"; done
	wait $few
	is "$(cut -d ' ' -f 1 few | uniq -c | tr -s ' ')" ' 3 200' 'and nothing is lost'
	grep -q 'cannot start a thread' "$WORK"/*err*
	ok $? 'which the log tells'
	;;
esac

burst
is "$statuses" " $CLIENTS 200" 'then as many are answered again'
ok $((busy < before + CLIENTS - 1)) 'by as many threads'
serve_stop
ok $? 'the service stops'
done_testing
