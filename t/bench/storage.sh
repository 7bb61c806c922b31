#!/bin/sh
# SPDX-License-Identifier: ISC
# How many new threads the storage engine takes from 64 writers in two processes, against one writer.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${SECONDS_EACH:=3}" "${ROUNDS:=5}"
STORAGE=${STORAGE:-$TOP_BUILDDIR/t/bench/storage}
built "$STORAGE"

# both: the rates of many writers and of one.
both() {
	"$STORAGE" -p 2 -t 32 -s "$SECONDS_EACH" create | awk '$2 == "x" { rate[n++] = $4 + 0 } END { print rate[1], rate[0] }'
}

rounds rates both
ratio writers rates
tap_plan 0
