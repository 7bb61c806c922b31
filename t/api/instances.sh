# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Several instances over one PostgreSQL, which lib.sh has started.  Sourced after it.
#
#	begin NAME [OPTION...]   starts the instance of that name, or starts it again
#	on NAME COMMAND...       has that instance answer
#
# Each instance has a state directory of its own, state_NAME.  Processes in the variable frozen are continued at the
# end.

STATE=$WORK/state
database_of "$STATE"
PG=$PG_DIR
PG_DIR= # all keep the address that is set now, and the server stops after them
trap 'for pid in ${frozen-}; do kill -CONT "$pid"; done; "$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT

begin() {
	instance=$1
	shift
	STATE=$WORK/$instance SOCKET=
	mkdir -p -m 700 "$STATE"
	api_start "$@" || tap_bail "instance $instance does not start"
	eval "state_$instance=\$STATE socket_$instance=\$SOCKET pid_$instance=\$SERVE_PID"
}

on() {
	eval "STATE=\$state_$1 SOCKET=\$socket_$1 SERVE_PID=\$pid_$1"
	shift
	"$@"
}
