#!/bin/bash
# SPDX-License-Identifier: ISC
# How bash completes agentgraph's command lines.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$top_srcdir/cli/completion/agentgraph"

# completes WORD… EXPECTED: the last of the words is what the cursor stands behind.
completes() {
	COMP_WORDS=("$AGENTGRAPH" "${@:1:$#-1}")
	COMP_CWORD=$(($# - 1))
	_agentgraph 2>completion.err
	is "${COMPREPLY[*]}" "${*: -1}" "agentgraph ${*:1:$#-1}<Tab>"
}

complete -p agentgraph >completion.out
is "$(cat completion.out)" "complete -F _agentgraph agentgraph" "it is bound to the command"
completes s "serve status"
completes help ba backup
completes threads "" "list show history copy export import"
completes runs s "show stop submit"
completes serve --so "--socket --socket-mode --socket-group"
completes runs submit --w "--webhook --wait"
completes runs list --status "" "queued running completed interrupted stopped error"
completes threads list --status "" "idle running completed interrupted stopped error"
completes runs follow t r --granularity "" "low partial full"
completes graph --format m mermaid
completes init here r react
completes serve --processes "" ""
completes nobody --x ""
mkdir directory && touch file
completes serve --config f file
completes backup --state d directory
completes serve --state f ""

# Whatever a synopsis has is completed, and nothing else; and the manual has it.
manual=$TOP_SRCDIR/man/agentgraph.1
for command in $("$AGENTGRAPH" help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
	synopsis=$("$AGENTGRAPH" help "$command" | sed '/^$/q' | grep -oE -- '--[a-z-]+' | sort -u | tr '\n' ' ')
	COMP_WORDS=("$AGENTGRAPH" "$command" --)
	COMP_CWORD=2
	_agentgraph
	is "$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' ' | sed 's/^ $//')" "$synopsis" "all options of $command"
	is "$(for option in $synopsis; do grep -q -- "Fl ${option#-}\\b" "$manual" || echo "$option"; done)" '' 'which the manual has'
	ok 'grep -qE "^\.(Ss|Cm) $command( |$)" "$manual"' 'as it has the command'
done
done_testing
