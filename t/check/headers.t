#!/bin/sh
# SPDX-License-Identifier: ISC
# Every header includes what it needs.
set -u
. "$(dirname "$0")/check.sh"

# shellcheck disable=SC2086 # flags are words
compiles_alone() { printf '#include "%s"\n' "$1" | $CC $CPPFLAGS $CFLAGS -fsyntax-only -x c -; }

cd "$top_srcdir" || exit
for header in $(tree_files -name '*.h'); do
	test_that "$header compiles alone" compiles_alone "$top_srcdir/$header"
done

printf 'size_t length(struct nobody_knows x);\n' >"$scratch/needy.h"
test_that 'a header that needs another one first is refused' not compiles_alone "$scratch/needy.h"

done_testing
