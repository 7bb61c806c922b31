#!/bin/sh
# SPDX-License-Identifier: ISC
# Puts the documents of this folder into the field documents: {"name": "a.txt"} for each.
set -eu

for file in *.txt; do
	printf '%s\n' "$file"
done | awk '{ printf "%s{\"name\": \"%s\"}", n++ ? ", " : "{\"update\": {\"documents\": [", $0 } END { print "]}}" }'
