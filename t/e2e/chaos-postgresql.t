#!/bin/sh
# SPDX-License-Identifier: ISC
# A short storm over two instances with one PostgreSQL, always the same.  make chaos ENGINE=postgresql makes a long one.
set -u
top_srcdir=${top_srcdir:-$(dirname "$0")/../..}
command -v python3 >/dev/null || {
	echo '1..0 # SKIP no python3 here'
	exit 0
}
CHAOS_SECONDS=${CHAOS_SECONDS:-20} CHAOS_SEED=${CHAOS_SEED:-11} CHAOS_PAUSE=${CHAOS_PAUSE:-1} CHAOS_INSTANCES=${CHAOS_INSTANCES:-2}
export CHAOS_SECONDS CHAOS_SEED CHAOS_PAUSE CHAOS_INSTANCES
exec python3 -B "$top_srcdir/t/chaos/cluster.py"
