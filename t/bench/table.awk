# SPDX-License-Identifier: ISC
# Prints the table of all promises in Markdown, from promises.tsv and the results.

function met(word) { return word == "-" ? "" : word == "yes" ? "yes" : "**no**" }

function shown(value, unit) {
	if (value == "")
		return "nothing"
	return unit == "x" ? sprintf("%.2f", value) : sprintf("%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit)
}

function against(baseline) { return baseline == "-" ? "" : baseline }

function promised(bound, unit) {
	if (bound == "-")
		return ""
	return (bound ~ /^>=/ ? "≥ " : "≤ ") substr(bound, 3) (unit == "x" ? "" : " " unit)
}

BEGIN {
	FS = "\t"
	print "| what | measured | against | promised | met |"
	print "|---|--:|---|--:|---|"
}

FNR == 1 { file++ }

FNR == 1 || /^#/ { next }

file == 1 {
	value[$1] = $2
	verdict[$1] = $5
	next
}

$1 in value { printf "| %s | %s | %s | %s | %s |\n", $4, shown(value[$1], $2), against($5), promised($3, $2), met(verdict[$1]); next }

{ printf "| %s | not measured | %s | %s | |\n", $4, against($5), promised($3, $2) }
