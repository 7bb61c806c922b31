# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Two whole services over one PostgreSQL, whose directory is PG.  Sourced after lib.sh.  The first one's address is
# first, and its process first_pid; BASE is the address of the second.  With CONTROL, disturb.c sets the first one's
# clock from that file.

STATE=$WORK/state
database_of "$STATE"
PG=$PG_DIR
PG_DIR= # both keep the address that is set now
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
printf '{"agent":"builtin:demo","runs":{"background":2}}\n' >agentgraph.json
STATE=$WORK/a
mkdir -m 700 "$STATE"
if [ -n "${CONTROL-}" ]; then
	CHAOS_CONTROL=$CONTROL LD_PRELOAD=$WORK/disturb.so ASAN_OPTIONS=verify_asan_link_order=0 serve_start
else
	serve_start
fi || tap_bail 'the first instance does not start'
first=$BASE first_pid=$SERVE_PID
STATE=$WORK/b
mkdir -m 700 "$STATE"
serve_start || tap_bail 'the second instance does not start'
