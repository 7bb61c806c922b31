#!/bin/sh
# Scripts are read by shellcheck, too.
set -u
. "$(dirname "$0")/check.sh"

command -v shellcheck >/dev/null || skip_all 'shellcheck is not installed'

# Whatever in the tree says in its first line that a shell runs it.
scripts()
{
	echo bootstrap
	echo .ci/run
	tree_files -name '*.t' -o -name '*.sh' -o -perm -u+x | while IFS= read -r file; do
		case $file in configure | build-aux/*-sh) continue ;; esac
		head -n 1 "$file" | grep -qE '^#!.*sh$|^# shellcheck shell=' && echo "$file"
	done
}

# What the library of a script assigns is unknown to it (SC2154).
has_no_warning() { shellcheck --severity=warning --exclude=SC2154 "$@"; }

the_tree_has_no_warning()
{
	cd "$top_srcdir" || return
	# shellcheck disable=SC2046 # no path has a space
	has_no_warning $(scripts | sort -u)
}

test_that 'shellcheck warns of nothing' the_tree_has_no_warning

# shellcheck disable=SC2016 # for another shell
printf '#!/bin/sh\ncd /nowhere\nrm -rf $1/*\n' >"$scratch/careless.sh"
test_that 'a careless script is noticed' not has_no_warning "$scratch/careless.sh"

done_testing
