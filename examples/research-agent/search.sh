#!/bin/sh
# SPDX-License-Identifier: ISC
# search.sh FIELD: puts the lines of FIELD.txt that contain the user's text into the state field FIELD.
set -eu

# The user's text, still escaped as in a JSON string.
text=$(sed -n 's/.*,"user_text":"\(.*\)","config":{.*/\1/p')
[ -r "$1.txt" ] || { echo "$1.txt cannot be read" >&2; exit 1; }
found=$(grep -iF -e "$text" "$1.txt" | sed 's/[\\"]/\\&/g' | awk '{ printf "%s%s", n++ ? "; " : "", $0 }') || :
printf '{"update": {"%s": "%s"}}\n' "$1" "${found:-nothing}"
