#!/bin/sh
# SPDX-License-Identifier: ISC
# Counts the words of a document, which the map's element names.
set -eu

name=$(sed -n 's/.*"item":{"name":"\([^"]*\)".*/\1/p')
words=$(wc -w <"$name")
printf '{"update": {"words": %d, "report": ["%s: %d"]}}\n' "$words" "$name" "$words"
