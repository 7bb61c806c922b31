# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the scripts here share: TAP, and a scratch directory that goes away.  Sourced.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/_build}"
: "${CC:=cc}"
: "${CPPFLAGS:=-D_GNU_SOURCE -I$top_srcdir/common -I$top_srcdir -I$top_builddir/sql-gen}"
: "${CFLAGS:=-std=c11}"
LC_ALL=C
export LC_ALL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

tests=0

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

# test_that SENTENCE COMMAND...: passes when the command does; what it prints is shown when it does not.
test_that()
{
	sentence=$1
	shift
	tests=$((tests + 1))
	if "$@" >"$scratch/.out" 2>&1; then
		echo "ok $tests - $sentence"
	else
		echo "not ok $tests - $sentence"
		sed 's/^/# /' "$scratch/.out"
	fi
}

done_testing() { echo "1..$tests"; }

not() { ! "$@"; }

# c_files: the C files of the tree, without builds and distributions inside it.
c_files() { tree_files -name '*.[ch]'; }

# tree_files FIND-EXPRESSION...: paths below the current directory, sorted.
tree_files()
{
	find . \( -name '.?*' -o -name node_modules -o -path './_build*' -o -path './_deb' -o -path './agentgraph-[0-9]*' -o -path './*-gen' \) -prune \
		-o -type f \( "$@" \) -print | sed 's|^\./||' | sort
}

# named_files: the words in the Makefiles below the current directory, which every file of the tree is one of.
named_files() { cat Makefile.am ./*/Makefile.inc | tr -s '\\[:space:]' '\n' | sort -u; }
