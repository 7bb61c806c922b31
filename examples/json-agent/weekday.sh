#!/bin/sh
# SPDX-License-Identifier: ISC
# A tool: it gets its arguments as one JSON object on standard input, and writes the result.  The method is Tomohiko
# Sakamoto's.
sed -n 's/.*"date":"\([0-9]\{4\}\)-\([0-9][0-9]\)-\([0-9][0-9]\)".*/\1 \2 \3/p' | awk '
{
	split("0 3 2 5 0 3 5 1 4 6 2 4", offset, " ")
	split("Sunday Monday Tuesday Wednesday Thursday Friday Saturday", name, " ")
	if ($2 < 1 || $2 > 12 || $3 < 1 || $3 > 31)
		exit
	year = $1 - ($2 < 3)
	day = year + int(year / 4) - int(year / 100) + int(year / 400) + offset[$2 + 0] + $3
	print name[day % 7 + 1]
	found = 1
}
END {
	if (!found) {
		print "expected a date as YYYY-MM-DD" > "/dev/stderr"
		exit 1
	}
}'
