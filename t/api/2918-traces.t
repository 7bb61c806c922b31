#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances over one PostgreSQL: each shows the traces of both at once, in the order in which the runs began; and
# neither throws away traces or files of the other.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/files.sh"
. "$TOP_SRCDIR/t/api/instances.sh"

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
export MEDIA_STORAGE_TYPE=memory
begin a
begin b

observe() { api GET "/v1/observability/$1${2:+?run_id=$2}"; }
# run NAME THREAD TEXT ID: a run through that instance.
run() { on "$1" invoke "$3" "$(thread "$2" "\"run_id\":\"$4\"")"; }

run a x hello xa
run b y '/add 2 3' yb
on b observe x
is "$(json '.data | [.run_ids, .run.thread_id, .run.status, .run.tool_calls] | tojson' "$BODY")" '[["xa"],"x","done",0]' 'a trace is there at once through the other instance'
on a observe y
is "$(json '.data | [.run_ids, .run.thread_id, .run.status, .run.tool_calls] | tojson' "$BODY")" '[["yb"],"y","done",1]' 'each has its own records'

ids=
for n in 1 2 3 4 5 6 7 8 9 10 11; do
	run a many hello "a$n"
	run b many hello "b$n"
	ids="$ids a$n b$n"
	on b observe many "a$n"
	seen=$(json '[.data.run.status, (.data.run.events | length)] | tojson' "$BODY")
	[ "$seen" = '["done",5]' ] || break
done
is "$seen" '["done",5]' 'each is whole as soon as its run has ended'
kept=$(printf '%s' "$ids" | cut -d ' ' -f 4-)
for name in a b; do
	on $name observe many
	is "$(json '.data | .run_ids | join(" ")' "$BODY")" "$kept" "instance $name shows the twenty latest, oldest first"
	is "$(json .data.run.run_id "$BODY")" b11 'and of these the latest'
done

run a again '/add 1 1' same
run b again hello same
on a observe again
is "$(json '.data | [.run_ids, .run.tool_calls] | tojson' "$BODY")" '[["same"],0]' 'a run id that is used again on the other instance replaces its run'
run a again '/add 1 1' same
on b observe again
is "$(json '.data | [.run_ids, .run.tool_calls] | tojson' "$BODY")" '[["same"],1]' 'and the other way round'

# A machine that is busy may have missed a short run altogether; a longer one it sees.
for ms in 300 1000 5000 20000; do
	on a in_background slow invoke "/slow 1 $ms" "$(thread "slow$ms")"
	on b wait_for 30 is_running "slow$ms"
	states=
	while on b observe "slow$ms" && state=$(json '.data.run.status // "none"' "$BODY"); do
		[ "${states##* }" = "$state" ] || states="$states $state"
		case $state in done | error) break ;; esac
	done
	collect slow
	case $states in *running*) break ;; esac
done
like "$states" '^ (none )?running done$' 'a run of the other instance is seen while it goes on, and to end as it does'

on b api DELETE /v1/threads/y '{}'
run a y hello new
on b observe y
is "$(json '.data.run_ids | join(" ")' "$BODY")" new 'with a thread its traces go, wherever they are from, and not those of who has its name next'
run a soon hello old
on b api DELETE /v1/threads/soon '{}'
run a soon hello new
on a observe soon
is "$(json '.data.run_ids | join(" ")' "$BODY")" new 'even if they had not been told yet'

on a upload lost.txt text/plain lost
lost=$FILE
on a upload old.txt text/plain old
old=$FILE
has() { on "$1" api GET "/v1/files/$2" && [ "$STATUS" = "$3" ]; }
ok 'has a "$old" 200' 'a file in memory is served by the instance that has it'
ok 'has b "$old" 404' 'and is no file elsewhere'
mkdir none
"$AGENTGRAPH" threads list --state none >/dev/null
is $? 0 'a command looks into the database'
ok 'has a "$old" 200' 'which takes no file away'
days_ago() { PG_DIR=$PG outside none "UPDATE files SET touched_at = touched_at - $2 * 86400000000 WHERE file_id = '$1'"; }
days_ago "$lost" 100
days_ago "$old" 40
printf '{"agent":"builtin:demo","retention":{"files_days":30}}\n' >agentgraph.json
begin c
c_log=$SERVE_ERR
run c many hello c1
on c observe many
is "$(json '.data.run_ids[-3:] | join(" ")' "$BODY")" 'a11 b11 c1' 'an instance that begins throws nothing away that others have'
ok 'wait_for 20 grep -q "retention: .* are gone" "$c_log"' 'it sees to what is old'
like "$(grep retention: "$c_log")" ': 1 files ' 'takes away the record that nobody with the bytes took away for long'
ok 'has a "$lost" 404' 'so that it is not there for ever'
ok 'has a "$old" 200' 'and leaves others to who has them'

on a in_background dead stream '/slow 100 500' "$(thread dead),\"recursion_limit\":100"
on b wait_for 30 is_running dead
kill -9 $(on a workers)
collect dead
failed() { observe dead && [ "$(json .data.run.status "$BODY")" = error ]; }
ok 'on b wait_for 20 failed' 'a run whose process died on the other instance has failed'

done_testing
