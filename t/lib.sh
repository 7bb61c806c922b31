# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Shell library of the tests in t/api and t/e2e: TAP output, a service of one's own, requests.
#
#	. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
#	tap_plan 2
#	api GET /ping
#	is "$STATUS" 200 "ping is answered"
#	is "$(json .data "$BODY")" pong "with pong"
#
# Works in every POSIX shell.  Tests run the programs named by AGENTGRAPH and AGENTGRAPH_FCGI, by
# default those of the build directory.  A test runs in an empty directory of its own, WORK, with a
# clean environment: it sees no configuration file or setting of the person who runs it.  At the end
# all services that it started are stopped and WORK is removed.  With AGENTGRAPH_ENGINE=postgresql
# services have a PostgreSQL server, and a schema for each state directory; with
# AGENTGRAPH_POOLER=pgbouncer, too, they reach it through PgBouncer.  With AGENTGRAPH_ENGINE=pair
# each service is two instances over a PostgreSQL and a Redis, which are asked in turn.

# ---- where things are -------------------------------------------------------------------------

TOP_SRCDIR=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
TOP_BUILDDIR=$(cd "${top_builddir:-$TOP_SRCDIR/_build}" 2>/dev/null && pwd) || TOP_BUILDDIR=$PWD
[ -x "$TOP_BUILDDIR/agentgraph" ] || TOP_BUILDDIR=$PWD
AGENTGRAPH=${AGENTGRAPH:-$TOP_BUILDDIR/agentgraph}
AGENTGRAPH_FCGI=${AGENTGRAPH_FCGI:-$(dirname "$AGENTGRAPH")/agentgraph-fcgi}

WORK=$(mktemp -d "${TMPDIR:-/tmp}/agentgraph-test.XXXXXX") || exit 99
cd "$WORK" || exit 99
# pyenv's python3 is a script that looks for the real one, which takes ten times as long as that takes to start.
lib_shims=$(command -v python3)
case $lib_shims in
*/shims/python3)
	lib_shims=:${lib_shims%/python3}: lib_paths=:$PATH:
	[ ! -x /usr/bin/python3 ] || PATH=${lib_paths%%"$lib_shims"*}:${lib_paths#*"$lib_shims"}
	PATH=${PATH#:} PATH=${PATH%:}
	;;
esac
export LC_ALL=C.UTF-8 # so that wc counts characters, and sort has one order everywhere
# A worker that is told to end at once does not join its threads, and must be gone within a second.
export TSAN_OPTIONS="${TSAN_OPTIONS-report_thread_leaks=0 atexit_sleep_ms=0}"
unset GRAPH_PATH AGENTGRAPH_STATE_DIR MODE ORIGINS ALLOWED_HOST JWT_SECRET_KEY MAX_REQUEST_SIZE

PG_DIR=
PAIR=
[ "${AGENTGRAPH_ENGINE-}" != pair ] || PAIR=yes AGENTGRAPH_ENGINE=postgresql
[ "${AGENTGRAPH_ENGINE-}" = postgresql ] || unset DATABASE_URL

# database_of STATE: makes the service over that state directory, and commands about it, use a schema of its own.
database_of() {
	[ -n "$PG_DIR" ] || return 0
	pg_schema=t$(printf '%s' "$1" | cksum | cut -d ' ' -f 1)
	DATABASE_URL="postgresql:///postgres?host=$PG_DIR&user=agent&options=-csearch_path%3D$pg_schema"
	[ -z "${AGENTGRAPH_POOLER-}" ] || pooled_database "$pg_schema"
	export DATABASE_URL
}

# pooled_database NAME: as a pooler passes no options on, makes a role of that name, whose search path is the schema.
pooled_database() {
	psql "$DATABASE_URL" -X -q -c "CREATE ROLE $1 LOGIN SUPERUSER" -c "ALTER ROLE $1 SET search_path = $1" 2>/dev/null
	DATABASE_URL="postgresql:///postgres?host=$PG_DIR/pooler&user=$1"
}

# ---- TAP --------------------------------------------------------------------------------------

tap_count=0
tap_planned=
tap_failed=0
tap_pids=

# tap_plan N: announces N tests.  Without it, done_testing ends the file.
tap_plan() {
	tap_planned=$1
	echo "1..$1"
}

done_testing() {
	tap_planned=$tap_count
	echo "1..$tap_count"
}

# tap_skip_all REASON: nothing here can be tested on this machine.
tap_skip_all() {
	echo "1..0 # SKIP $*"
	tap_planned=0
	exit 0
}

# tap_bail REASON: nothing that follows makes sense.
tap_bail() {
	echo "Bail out! $*"
	exit 1
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# tap_result STATUS NAME
tap_result() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $2"
	return 1
}

# tap_report: reports a test for each line "ok NAME" or "failed NAME" of standard input; other lines are diagnostics.
tap_report() {
	while read -r verdict words; do
		case $verdict in
		ok) tap_result 0 "$words" ;;
		failed) tap_result 1 "$words" ;;
		*) diag "$words" ;;
		esac
	done
}

# ok COND NAME: COND is an exit status (ok $? "…") or a command (ok '[ -e file ]' "…").
ok() {
	case $1 in
	'' | *[!0-9]*)
		eval "$1"
		tap_result $? "$2" && return
		diag "failed: $1"
		;;
	*)
		tap_result "$1" "$2" && return
		diag "exit status $1"
		;;
	esac
	return 1
}

# is GOT EXPECTED NAME
is() {
	[ "$1" = "$2" ]
	tap_result $? "$3" && return
	diag "     got: $1"
	diag "expected: $2"
	return 1
}

# like GOT REGEX NAME: an extended regular expression matches one line of GOT.
like() {
	grep -Eq -e "$2" <<END
$1
END
	tap_result $? "$3" && return
	diag "     got: $1"
	diag "expected to match: $2"
	return 1
}

# unlike GOT REGEX NAME
unlike() {
	! grep -Eq -e "$2" <<END
$1
END
	tap_result $? "$3" && return
	diag "     got: $1"
	diag "expected not to match: $2"
	return 1
}

tap_end() {
	tap_status=$?
	trap - EXIT HUP INT TERM
	for tap_pid in $tap_pids; do
		tap_stop "$tap_pid"
	done
	if grep -hE -A 60 '(ERROR|WARNING): [A-Za-z]+Sanitizer|: runtime error: ' "$WORK"/err.* 2>/dev/null; then
		echo "# a sanitizer complained"
		tap_failed=$((tap_failed + 1))
	fi
	[ -z "$PG_DIR" ] || "$TOP_SRCDIR/t/postgresql-server" stop "$PG_DIR"
	cd / && rm -rf "$WORK"
	[ "$tap_status" -eq 0 ] || exit "$tap_status"
	if [ "${tap_planned:--1}" -ne "$tap_count" ]; then
		echo "# planned ${tap_planned:-no} tests, ran $tap_count"
		exit 1
	fi
	[ "$tap_failed" -eq 0 ]
	exit $?
}
trap tap_end EXIT
trap 'exit 130' HUP INT TERM

if [ "${AGENTGRAPH_ENGINE-}" = postgresql ]; then
	why=$("$TOP_SRCDIR/t/postgresql-server" there) || tap_skip_all "$why"
	[ -e "$TOP_BUILDDIR/agentgraph-postgresql.so" ] || tap_skip_all 'the module for PostgreSQL was not built'
	PG_DIR=$("$TOP_SRCDIR/t/postgresql-server" start $$) || tap_bail "PostgreSQL does not start"
	[ -z "${AGENTGRAPH_POOLER-}" ] || "$TOP_SRCDIR/t/postgresql-server" pooler "$PG_DIR" || tap_bail "PgBouncer does not start"
fi

# Skips a test that two instances cannot pass: a table lists these with the reasons.
if [ -n "$PAIR" ]; then
	why=$(sed -n "s/^$(basename "$0")	//p" "$TOP_SRCDIR/t/api/pair.tsv")
	[ -z "$why" ] || tap_skip_all "$why"
	command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'
	command -v redis-server >/dev/null || tap_skip_all 'redis-server is not installed'
	redis-server --port 0 --unixsocket "$WORK/pair.redis" --save '' --appendonly no >"$WORK/pair.out" 2>&1 &
	tap_pids=$!
	CACHE_URL=unix://$WORK/pair.redis
	export CACHE_URL
fi

# ---- processes --------------------------------------------------------------------------------

# wait_for SECONDS COMMAND…: repeats the command until it succeeds, at first quickly and then every 50 ms.  It counts
# tries, so that a slow machine has more time, but not without end.
wait_for() {
	wait_tries=$(($1 * 20))
	read -r wait_now _ </proc/uptime
	wait_end=$((${wait_now%.*} + 30 + 10 * $1))
	wait_pause=0.01
	shift
	while ! "$@" >/dev/null 2>&1; do
		wait_tries=$((wait_tries - 1))
		read -r wait_now _ </proc/uptime
		[ "$wait_tries" -gt 0 ] && [ "${wait_now%.*}" -lt "$wait_end" ] || return 1
		[ $((wait_tries % 10)) -ne 0 ] || wait_pause=0.05
		sleep $wait_pause
	done
}

# alive PID, gone PID: whether the process exists (a zombie does not).
alive() {
	{ read -r alive_stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	case ${alive_stat##*)} in
	' Z'*) return 1 ;;
	esac
}

gone() {
	! alive "$1"
}

# children PID: the process ids of its children, whichever of its threads started them.
children() {
	cat "/proc/$1/task/"*"/children" 2>/dev/null
}

# tap_stop PID [SECONDS]: ends a process by SIGTERM, and after 20 seconds, or as many as given, by SIGKILL.  The exit
# status is the process's.
tap_stop() {
	kill "$1" 2>/dev/null
	if ! wait_for "${2:-20}" gone "$1"; then
		diag "killed, because it does not end: $(ps -o pid=,stat=,etime=,wchan=,args= -p "$1" | cut -c 1-200)"
		kill -9 "$1" 2>/dev/null
		wait_for 20 gone "$1" || return 1
	fi
	wait "$1" 2>/dev/null
}

# ---- a service --------------------------------------------------------------------------------

STATE=
SOCKET=
BASE=

# outside FILE SQL: executes SQL on the service's database FILE, as somebody else would; on PostgreSQL, where there is
# one for all.
outside() {
	if [ -n "$PG_DIR" ]; then
		psql "$DATABASE_URL" -X -q -A -t -c "$2"
	else
		sqlite3 -cmd '.timeout 5000' "$1" "$2"
	fi
}

# lock_threads STATE SECONDS: locks the threads against writers for so long, as somebody else who writes; sets lock_pid.
lock_threads() {
	{
		[ -z "$PG_DIR" ] || printf 'BEGIN;\nLOCK TABLE threads IN EXCLUSIVE MODE;\nSELECT 1;\n'
		[ -n "$PG_DIR" ] || printf 'BEGIN IMMEDIATE;\nSELECT 1;\n'
		sleep "$2"
	} | if [ -n "$PG_DIR" ]; then
		psql "$DATABASE_URL" -X -q -A -t
	else
		sqlite3 -bail -cmd '.timeout 5000' "$1/threads.db"
	fi >"$WORK/locked" &
	lock_pid=$!
	wait_for 30 test -s "$WORK/locked"
}

# nginx_head: the first lines of the configuration of an nginx that a test itself starts and ends.  Run by root, its
# workers would else belong to another user.
nginx_head() {
	echo 'daemon off;'
	[ "$(id -u)" -ne 0 ] || echo 'user root;'
	echo "pid $WORK/nginx.pid;"
}

# nginx_paths: directives for an nginx that a test starts, which would else write to where nginx is installed.
nginx_paths() {
	for nginx_path in client_body fastcgi proxy scgi uwsgi; do
		echo "${nginx_path}_temp_path $WORK/$nginx_path;"
	done
}

# free_port: prints a port that nobody has now, of those that the kernel gives to nobody who does not ask for it.
free_port() {
	python3 -c '
import random, socket
while True:
    port = random.randrange(10000, 32000)
    with socket.socket() as s:
        if s.connect_ex(("127.0.0.1", port)) != 0:
            break
print(port)'
}

# need_websockets: sets python to one that has the client library.  Without that, websocketd or nginx the test is
# skipped.
need_websockets() {
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import websockets' 2>/dev/null && break
	done
	"$python" -c 'import websockets' 2>/dev/null || tap_skip_all 'python3-websockets is not installed'
	command -v websocketd >/dev/null || tap_skip_all 'websocketd is not installed'
	command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'
}

# serve_start [ARGUMENT…]: starts the whole service on a free port, with two processes by default.
# Uses the state directory STATE, or a new one.  Sets BASE, SERVE_PID, STATE, SERVE_OUT and
# SERVE_ERR.  If the service does not start, this shows its messages and fails.
serve_start() {
	serve_run --listen 127.0.0.1:0 "$@" || return 1
	BASE=$(serve_base "$SERVE_OUT")
	if [ -n "$PAIR" ]; then
		pair_begin 127.0.0.1:0 "${BASE#http://}" "$(serve_base "$SERVE_OUT.2" | sed 's|^http://||')" || return 1
		BASE=http://$(cat "$WORK/pair.at")
	fi
	[ -n "$BASE" ]
}

serve_base() { sed -n 's/^agentgraph: serving .* on \(http:.*\)$/\1/p' "$1"; }

# api_start [ARGUMENT…]: starts one worker process without nginx, for `api`.  Sets SOCKET as well.
api_start() {
	SOCKET=$(mktemp -u "$WORK/fcgi.XXXXXX")
	[ -z "$PAIR" ] || pair_begin "$SOCKET" "$SOCKET.1" "$SOCKET.2"
	serve_run --no-nginx --processes 1 --threads 8 --socket "$SOCKET${PAIR:+.1}" "$@"
}

# pair_begin LISTEN TARGET TARGET: starts a proxy that asks two instances in turn; the file pair.at says where it
# listens.
pair_begin() {
	rm -f "$WORK/pair.at"
	"$TOP_SRCDIR/t/api/pair.py" "$@" >"$WORK/pair.at" &
	tap_pids="$tap_pids $!"
	wait_for 30 test -s "$WORK/pair.at"
}

# pair_second ARGUMENT...: starts the second instance like serve_launch, with a state directory of its own.
pair_second() {
	[ ! -s "$STATE.2.pid" ] || tap_stop "$(cat "$STATE.2.pid")" 120
	for pair_argument in "$@"; do
		shift
		[ "$pair_argument" != "$SOCKET.1" ] || pair_argument=$SOCKET.2
		set -- "$@" "$pair_argument"
	done
	serve_launch "$STATE.2" "$SERVE_OUT.2" "$@"
	echo "$!" >"$STATE.2.pid"
}

# serve_launch STATE OUT ARGUMENT...: starts an instance; its process is $!.
serve_launch() {
	launch_state=$1 launch_out=$2
	shift 2
	"$AGENTGRAPH" serve --state "$launch_state" --processes 2 --drain 5 "$@" >"$launch_out" 2>>"$SERVE_ERR" </dev/null &
	tap_pids="$! $tap_pids"
}

serve_run() {
	[ -n "$STATE" ] || STATE=$(mktemp -d "$WORK/state.XXXXXX")
	database_of "$STATE"
	SERVE_OUT=$(mktemp "$WORK/out.XXXXXX")
	SERVE_ERR=$(mktemp "$WORK/err.XXXXXX")
	[ -z "$PAIR" ] || pair_second "$@"
	serve_launch "$STATE" "$SERVE_OUT" "$@"
	SERVE_PID=$!
	wait_for 60 serve_settled
	serve_says "$SERVE_OUT" && return 0
	diag "the service did not start:"
	diag "$(cat "$SERVE_ERR")"
	return 1
}

serve_settled() {
	serve_says "$SERVE_OUT" && { [ -z "$PAIR" ] || serve_says "$SERVE_OUT.2"; } || gone "$SERVE_PID"
}

serve_says() {
	while read -r serve_line; do
		case $serve_line in 'agentgraph: serving'*) return 0 ;; esac
	done <"$1"
	return 1
}

# serve_stop: stops the service that was started last, within two minutes; the exit status is the service's.
serve_stop() {
	[ -z "$PAIR" ] || tap_stop "$(cat "$STATE.2.pid")" 120
	tap_stop "$SERVE_PID" 120
	set -- $?
	tap_pids=$(printf '%s\n' $tap_pids | grep -vx "$SERVE_PID")
	STATE=
	SOCKET=
	return "$1"
}

# serve_spent: hundredths of a second of processor time that the workers of the service have taken.
serve_spent() {
	for serve_pid in $(pgrep -P "$SERVE_PID${PAIR:+,$(cat "$STATE.2.pid")}" -f agentgraph-fcgi); do
		sed 's/.*) //' "/proc/$serve_pid/stat"
	done | awk '{ sum += $12 + $13 } END { print sum + 0 }'
}

# ---- requests ---------------------------------------------------------------------------------

# Tests spend most of their time on starting processes, so these two, which run thousands of times, start few.
ASK=$TOP_BUILDDIR/t/api/ask
LOOK=$TOP_BUILDDIR/t/api/look
[ -x "$LOOK" ] || LOOK=false # jq does what it cannot

# api METHOD PATH [BODY [HEADER…]]: sends one request straight to a worker; a HEADER is "Name:
# value".  Starts the worker if none runs yet.  An empty BODY is none.  Sets STATUS, HEADERS
# (without carriage returns) and BODY; the file RAW has the answer as it came.  The client goes away
# after API_TIMEOUT seconds (60).  Its address is API_ADDRESS (127.0.0.1).
api() {
	[ -n "$SOCKET" ] || api_start || return 1
	[ -x "$ASK" ] || tap_bail "$ASK was not built (make check builds it)"
	RAW=$WORK/answer
	request_method=$1 request_uri=$2 request_body=${3-}
	[ $# -lt 3 ] || shift
	shift 2
	printf '%s' "$request_body" >"$WORK/request"
	"$ASK" "$WORK" "${API_TIMEOUT:-60}" "$SOCKET" "${API_ADDRESS-127.0.0.1}" "$request_method" "$request_uri" "$@" \
		<"$WORK/request"
	HEADERS= BODY= STATUS=none
	. "$WORK/answer.sh"
	api_record
}

# If AGENTGRAPH_RECORD names a directory, keeps each request and its answer there for t/api/openapi.mjs: method, URI,
# status, headers, body, and the body of the answer, each followed by a zero byte.
api_record() {
	[ -n "${AGENTGRAPH_RECORD-}" ] && [ -s "$RAW" ] || return 0
	case $HEADERS in *X-Accel-Redirect:*) return 0 ;; esac
	[ -d "$AGENTGRAPH_RECORD" ] || mkdir -p "$AGENTGRAPH_RECORD"
	printf '%s\0%s\0%s\0%s\0%s\0%s\0' "$request_method" "$request_uri" "$STATUS" "$HEADERS" "$request_body" "$BODY" \
		>>"$AGENTGRAPH_RECORD/${0##*/}.records"
}

# http METHOD PATH [BODY [CURL-ARGUMENT…]]: sends one request through nginx at BASE.  Sets the same variables.  The
# client goes away after HTTP_TIMEOUT seconds (120).
http() {
	RAW=$WORK/answer
	request_method=$1 request_uri=$2 request_body=${3-}
	[ $# -lt 3 ] || shift
	shift 2
	[ "$request_method" != HEAD ] || set -- --head "$@"
	if [ -n "$request_body" ]; then
		printf '%s' "$request_body" >"$WORK/request"
		set -- -H 'Content-Type: application/json' --data-binary "@$WORK/request" "$@"
	fi
	curl -s --max-time "${HTTP_TIMEOUT:-120}" --path-as-is -X "$request_method" -D "$WORK/headers" -o "$RAW" "$@" \
		"$BASE$request_uri" || true
	HEADERS=$(tr -d '\r' <"$WORK/headers")
	BODY=$(tr -d '\000' <"$RAW" 2>/dev/null)
	STATUS=${HEADERS#* }
	STATUS=${STATUS%%[!0-9]*}
}

# header NAME: the value of that header of the last answer.
header() {
	sed -n "/^$1:/I{s/^[^:]*: *//p;q}" <<END
$HEADERS
END
}

# jq 1.6 reads its own definitions when it starts, which took half of the processor time of t/api.  gojq takes less than
# half of that, but orders the members of objects in its own way; look, which only knows paths, takes a tenth.
json_fast=jq
! command -v gojq >/dev/null || json_fast=gojq

# json_for EXPRESSION: sets json_jq to the program that evaluates it as expected.
json_for() {
	case $1 in
	*keys_unsorted* | *entries*) json_jq=jq ;;
	*) json_jq=$json_fast ;;
	esac
}

# json EXPRESSION [TEXT]: prints jq's raw output for TEXT, or for standard input.
json() {
	json_for "$1"
	if [ $# -eq 1 ]; then
		$json_jq -r "$1"
		return
	fi
	case $1 in
	[.\"]*)
		"$LOOK" "$1" <<END && return
$2
END
		;;
	esac
	$json_jq -r "$1" <<END
$2
END
}

# sorted EXPRESSION: prints what jq finds in standard input, with the members of objects in the order of their names.
sorted() {
	case $json_fast in
	gojq) gojq -c "$1" ;;
	*) jq -Sc "$1" ;;
	esac
}
