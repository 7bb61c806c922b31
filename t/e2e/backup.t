#!/bin/sh
# SPDX-License-Identifier: ISC
# Backups under load, and services that are restored from them.
set -u
top_srcdir=${top_srcdir:-$(dirname "$0")/../..}
command -v python3 >/dev/null || {
	echo '1..0 # SKIP no python3 here'
	exit 0
}
exec python3 -B "$top_srcdir/t/chaos/backup.py"
