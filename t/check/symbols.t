#!/bin/sh
# SPDX-License-Identifier: ISC
# A plug-in finds what the public header promises, and nothing else.
set -u
. "$(dirname "$0")/check.sh"

# declared HEADER: the functions that it declares, one a line.
declared()
{
	# shellcheck disable=SC2086 # flags are words
	$CC $CPPFLAGS -E -P "$1" | awk '
		BEGIN { RS = ";" }
		{ sub(/.*extern "C" *{/, "") }
		/^[ \t\n]*typedef/ { next }
		match($0, /ag_[a-z0-9_]+[ \t\n]*\([^*]/) { # not a pointer to a function
			name = substr($0, RSTART, RLENGTH)
			sub(/[^a-z0-9_].*/, "", name)
			print name
		}' | sort -u
}

# exported PROGRAM: the functions that a plug-in finds in it, one a line.
exported() { nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort -u; }

exports_all_of()
{
	declared "$1" >"$scratch/declared"
	exported "$2" >"$scratch/exported"
	[ -s "$scratch/declared" ] || echo "no function found in $1"
	[ -s "$scratch/exported" ] || echo "no function found in $2"
	comm -23 "$scratch/declared" "$scratch/exported" >"$scratch/absent"
	cat "$scratch/absent"
	[ ! -s "$scratch/absent" ]
}

exports_nothing_private() { [ -s "$scratch/exported" ] && not grep -v '^ag_' "$scratch/exported"; }

header=$top_srcdir/common/agentgraph.h
for program in agentgraph-fcgi agentgraph-ws agentgraph; do
	test_that "$program exports every function of agentgraph.h" exports_all_of "$header" "$top_builddir/$program"
	case $CFLAGS in
	*-fsanitize*) ;; # these bring symbols of their own
	*) test_that "$program exports no other function" exports_nothing_private ;;
	esac
done

printf 'void ag_never_written(int x);\n' >"$scratch/promise.h"
test_that 'a promise that is not kept is noticed' \
	not exports_all_of "$scratch/promise.h" "$top_builddir/agentgraph-fcgi"

done_testing
