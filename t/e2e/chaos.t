#!/bin/sh
# SPDX-License-Identifier: ISC
# A short storm, always the same: kills, a full and a slow disk, outages, steps of the clock.  make chaos makes a long one.
set -u
top_srcdir=${top_srcdir:-$(dirname "$0")/../..}
command -v python3 >/dev/null || {
	echo '1..0 # SKIP no python3 here'
	exit 0
}
CHAOS_SECONDS=${CHAOS_SECONDS:-40} CHAOS_SEED=${CHAOS_SEED:-7} CHAOS_PAUSE=${CHAOS_PAUSE:-1}
export CHAOS_SECONDS CHAOS_SEED CHAOS_PAUSE
exec python3 -B "$top_srcdir/t/chaos/chaos.py"
