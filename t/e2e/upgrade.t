#!/bin/sh
# SPDX-License-Identifier: ISC
# New programs are installed under a running service.
set -u
top_srcdir=${top_srcdir:-$(dirname "$0")/../..}
command -v python3 >/dev/null || {
	echo '1..0 # SKIP no python3 here'
	exit 0
}
exec python3 -B "$top_srcdir/t/chaos/upgrade.py"
