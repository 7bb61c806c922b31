# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# How the benchmarks report results.  Sourced after lib.sh.
#
#	result KEY VALUE [FIGURES]   one row of t/bench/promises.tsv, measured; FIGURES are what VALUE was made of
#	built PROGRAM...             ends the benchmark when one is missing
#	rounds FILE COMMAND...       what the command prints, ROUNDS times, into FILE
#	ratio KEY FILE               the median of the ratios in FILE, whose lines are "MINE THEIRS", as a result
#
# A result is printed; and if RESULTS names a file, as in `make bench`, a line is appended to that.

PROMISES=$TOP_SRCDIR/t/bench/promises.tsv
: "${RESULTS=}"

# median: the median of the numbers on standard input, one a line.
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

built() {
	for program; do
		[ -x "$program" ] || tap_bail "$program is missing; \`make bench\` in a build directory makes it"
	done
}

result() {
	awk -F '\t' -v OFS='\t' -v key="$1" -v value="$2" -v figures="${3-}" -f "$TOP_SRCDIR/t/bench/result.awk" \
		-v keep="$RESULTS" "$PROMISES"
}

rounds() {
	rounds_file=$1
	shift
	: >"$rounds_file"
	round=0
	while [ "$round" -lt "$ROUNDS" ]; do
		round=$((round + 1))
		"$@" >>"$rounds_file"
	done
}

ratio() {
	result "$1" "$(awk '$2 > 0 { printf "%.4f\n", $1 / $2 }' "$2" | median)" \
		"$(awk '{ printf "%s%s/%s", (NR > 1 ? " " : ""), $1, $2 }' "$2")"
}
