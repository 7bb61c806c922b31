#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances that wait for one thread, and make ids at the same time: neither is passed over again and again, and no
# id is given twice.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/instances.sh"

printf '{"agent":"builtin:demo","runs":{"wait_timeout":120}}\n' >agentgraph.json
export SNOWFLAKE_EPOCH=1723323246031 # one setting makes ids snowflakes
begin a --threads 64
begin b --threads 64

# ---- turns

on a in_background first invoke '/slow 40 100' "$(thread t),\"recursion_limit\":90"
on b wait_for 30 is_running t
for i in 1 2 3 4 5 6 7 8; do
	on a in_background "a$i" invoke "/slow 1 100 a" "$(thread t)"
	on b in_background "b$i" invoke "/slow 1 100 b" "$(thread t)"
done
collect first
for i in 1 2 3 4 5 6 7 8; do
	collect "a$i" && status=$STATUS && collect "b$i"
	[ "$status $STATUS" = '200 200' ] || break
done
is "$status $STATUS" '200 200' 'all that wait are served'
on a api GET '/v1/threads/t/messages?limit=200'
order=$(json '[.data.messages[] | select(.role == "user").content[0].text | select(startswith("/slow 1 ")) | .[-1:]] | join("")' "$BODY")
is "${#order}" 16 'once each'
# The longest row of one of them, while the other one still waited.
passed=$(printf '%s' "$order" | sed 's/a*$//; s/b*$//' | grep -oE 'a+|b+' | awk '{ if (length > most) most = length } END { print most + 0 }')
ok "[ $passed -le 4 ]" 'and neither instance is passed over more than a few times'
diag "$order"

# ---- ids

for i in 1 2 3 4 5 6 7 8; do
	for name in a b; do on $name in_background "$name$i" invoke '/slow 30 1' '"recursion_limit":90'; done
done
for i in 1 2 3 4 5 6 7 8; do
	for name in a b; do collect "$name$i" && json '.data | .meta.thread_id, .meta.run_id, .messages[].message_id' "$BODY"; done
done >ids
ok '[ "$(wc -l <ids)" -ge 500 ]' 'two instances make ids at the same time'
is "$(sort ids | uniq -d)" '' 'and none twice'
is "$(while read -r id; do echo $(((id >> 17) & 127)); done <ids | sort -u | wc -l)" 2 'because each has a node of its own'
done_testing
