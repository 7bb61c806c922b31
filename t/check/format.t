#!/bin/sh
# SPDX-License-Identifier: ISC
# The sources are formatted by clang-format.  Versions differ with the same settings, so only this one will do.
set -u
. "$(dirname "$0")/check.sh"

style=$top_srcdir/.clang-format

find_formatter()
{
	for formatter in clang-format-14 clang-format; do
		case $("$formatter" --version 2>/dev/null) in *'version 14.'*) return 0 ;; esac
	done
	return 1
}

# is_formatted FILE...: names those that are not.
is_formatted()
{
	"$formatter" --style="file:$style" --dry-run -Werror "$@" 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error:.*//p' | uniq |
		not grep .
}

every_file_is_formatted()
{
	cd "$top_srcdir" || return
	# shellcheck disable=SC2046 # no path has a space
	is_formatted $(c_files)
}

find_formatter || skip_all 'clang-format 14 is not installed'

test_that 'every C file has the form of .clang-format (else: make format)' every_file_is_formatted

printf 'int  main( void ) {return 0;}\n' >"$scratch/ugly.c"
test_that 'a file of another form is refused' not is_formatted "$scratch/ugly.c"

done_testing
