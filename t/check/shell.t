#!/bin/sh
# SPDX-License-Identifier: ISC
# No script has an error that shellcheck finds.
set -u
. "$(dirname "$0")/check.sh"

command -v shellcheck >/dev/null || skip_all 'shellcheck is not installed'

# The shell scripts among the files that the build's lists name; configure is a word there, too.
scripts()
{
	named_files | grep -vx configure | while IFS= read -r file; do
		[ -f "$file" ] && IFS= read -r first <"$file" || continue
		case $first in
		'#!'*sh | '# shellcheck shell='*) echo "$file" ;;
		esac
	done
}

# A few at a time: all of them in one process take five times as long.
in_tree() { (cd "$top_srcdir" && scripts | grep "$2" '^t/' | xargs -n 8 shellcheck --format=gcc "$1"); }

test_that 'shellcheck warns of nothing in the scripts of the build and the examples' in_tree --severity=warning -v
test_that 'it finds no error in those of the tests' in_tree --severity=error -e

# shellcheck disable=SC2016 # for another shell
printf '#!/bin/sh\ncd /nowhere\nrm -rf $1/*\n' >"$scratch/careless.sh"
test_that 'a careless script is noticed' not shellcheck --severity=warning "$scratch/careless.sh"
printf '#!/bin/sh\nif [ -e x ; then\n' >"$scratch/wrong.sh"
test_that 'a wrong one, too' not shellcheck --severity=error "$scratch/wrong.sh"

done_testing
