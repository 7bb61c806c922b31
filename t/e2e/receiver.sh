# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Starts a receiver of webhooks, webhook_receiver.py: it writes each request as a line to the file log, and answers as
# the file mode says.  Sourced after lib.sh.  RECEIVER is its address, WEBHOOK_SECRET the secret with which the service
# is to sign.

command -v python3 >/dev/null || tap_skip_all 'no python3 here'
echo ok >mode
: >log
python3 "$TOP_SRCDIR/t/e2e/webhook_receiver.py" port log mode 2>receiver.err &
tap_pids="$! $tap_pids"
wait_for 20 test -s port || tap_bail "the receiver does not start: $(cat receiver.err)"
RECEIVER=http://127.0.0.1:$(cat port)
WEBHOOK_SECRET=whsec_$(printf 'agentgraph-webhook-tests' | base64)
export WEBHOOK_SECRET
