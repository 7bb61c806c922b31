# SPDX-License-Identifier: ISC
# Finds KEY in promises.tsv, prints VALUE beside what was promised, and appends the row to the file KEEP.

function met(value, bound) {
	if (bound == "-")
		return "-"
	return (bound ~ /^>=/ ? value + 0 >= substr(bound, 3) + 0 : value + 0 <= substr(bound, 3) + 0) ? "yes" : "NO"
}

function shown(value, unit) {
	if (value == "")
		return "nothing measured"
	return unit == "x" ? sprintf("%.2f", value) : sprintf("%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit)
}

$1 == key {
	found = 1
	verdict = value == "" ? "NO" : met(value, $3)
	printf "%s  %s%s", shown(value, $2), $4, ($5 == "-" ? "" : ", against " $5)
	if ($3 != "-")
		printf " (%s: %s)", $3, verdict == "yes" ? "met" : "NOT met"
	print (figures == "" ? "" : "; " figures)
	if (keep != "")
		print key, value, $2, $3, verdict, $4, $5, figures >> keep
}

END {
	if (!found) {
		print "no promise has the key " key > "/dev/stderr"
		exit 1
	}
}
