#!/bin/sh
# SPDX-License-Identifier: ISC
# Lists the documents of this folder in the field documents, each as {"name": "a.txt"}.
set -eu

for file in *.txt; do
	printf '%s\n' "$file"
done | awk '{ printf "%s{\"name\": \"%s\"}", n++ ? ", " : "{\"update\": {\"documents\": [", $0 } END { print "]}}" }'
