#!/bin/sh
# SPDX-License-Identifier: ISC
# What happens to a test that does not end, or leaves something behind: toy tests, with a limit of a second.
set -u
. "$(dirname "$0")/check.sh"

for tool in timeout setsid ps; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done

# A length of sleep that nobody else has, to know the toys' processes by.
long=9$$

# toy NAME: a test script of standard input.
toy()
{
	{
		echo '#!/bin/sh'
		cat
	} >"$scratch/$1" && chmod +x "$scratch/$1"
}

# limited NAME [ARGUMENT...]: runs the toy; what it prints is then in the file said, and its status in $status.
limited()
{
	name=$1
	shift
	(cd "$scratch" && "$top_srcdir/t/limit" "./$name" "$@") >"$scratch/said" 2>&1 </dev/null
	status=$?
}

said() { grep -Eq -e "$1" "$scratch/said" || { cat "$scratch/said" && false; }; }
nothing_runs() { ps -e -o args= | not grep "^[s]leep $long"; }

# ---- One that ends

TEST_TIMES=$scratch/times
export TEST_TIMES
toy good <<'END'
printf 'ok 1 - %s\n' "$2"
echo mistake >&2
exit 3
END
limited good one 'two  words'
printf 'ok 1 - two  words\nmistake\n' >"$scratch/expected"
test_that 'a test has its arguments and says what it says' cmp "$scratch/said" "$scratch/expected"
test_that 'and ends with its own status' test "$status" = 3
test_that 'how long it took is noted' grep -Eqx '[0-9]+\.[0-9] [0-9]+\.[0-9] good' "$scratch/times"
toy input <<'END'
cat
END
echo typed | "$top_srcdir/t/limit" "$scratch/input" >"$scratch/said"
test_that 'it can read' test "$(cat "$scratch/said")" = typed
toy interrupted <<'END'
kill -s INT $$
END
limited interrupted
test_that 'it can be interrupted' test "$status" = 130

# ---- One that does not end

TEST_SECONDS=3
export TEST_SECONDS
toy hanging <<END
trap 'echo cleaned; exit 1' TERM
echo 'ok 1 - begun'
printf 'half a line'
sleep $long
END
limited hanging
test_that 'a test that does not end bails out' said '^Bail out! not over after 3 s$'
test_that 'it fails' test "$status" = 1
test_that 'what it had said stands' said '^ok 1 - begun$'
test_that 'what hangs is named' said "^# .*[0-9] .* sleep $long"
test_that 'it can clean up' said '^cleaned$'
test_that 'nothing of it runs on' nothing_runs

toy deaf <<END
trap '' TERM
setsid sh -c 'sleep ${long}1; sleep ${long}2' &
sleep $long
sleep $long
END
TEST_GRACE=1 limited deaf
test_that 'one that does not want to end is killed' said '^# killed'
test_that 'with all that it has started' nothing_runs

if [ -f "$top_srcdir/build-aux/tap-driver.sh" ]; then
	sh "$top_srcdir/build-aux/tap-driver.sh" --test-name hanging --log-file "$scratch/log" --trs-file "$scratch/trs" \
		--comments -- "$top_srcdir/t/limit" "$scratch/hanging" >"$scratch/said" 2>&1
	test_that 'make check counts that as an error' said '^ERROR: hanging - Bail out! not over after 3 s$'
	test_that 'and shows what hung' said "^# hanging: .*[0-9] .* sleep $long"
fi

# ---- One that is ended

TEST_SECONDS=100
"$top_srcdir/t/limit" "$scratch/hanging" >"$scratch/said" 2>&1 &
limit=$!
tries=0
while nothing_runs >/dev/null && [ $((tries += 1)) -lt 400 ]; do sleep 0.05; done
kill -s TERM $limit
wait $limit
test_that 'who ends the run ends the test' nothing_runs
test_that 'which cleans up' said '^.*cleaned$'

# ---- One that comes late

TEST_END=$(date +%s) limited good
test_that 'no test begins when the time of the run is over' said '^Bail out! not begun, because the time of the run is over$'
test_that 'which is a failure' test "$status" = 1

# ---- One that leaves something behind

toy untidy <<END
sleep $long &
setsid sleep ${long}1 &
sleep 0.2
echo 1..0
exit 2
END
(
	limited untidy
	echo "$status" >"$scratch/status"
) | cat
test_that 'what a test leaves behind is named' said "^# .*[0-9] .* sleep ${long}1"
test_that 'and ended' nothing_runs
test_that 'its status is its own' test "$(cat "$scratch/status")" = 2

done_testing
