#!/bin/bash
# SPDX-License-Identifier: ISC
# agentgraph chat: turns, tools, pauses and remote calls from a pipe, and a person at a terminal who presses Ctrl-C.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# talk ARGUMENT…: the lines of standard input are what is typed; sets OUT, ERR and CODE.
talk() {
	"$AGENTGRAPH" chat "$@" >talk.out 2>talk.err
	CODE=$?
	OUT=$(cat talk.out)
	ERR=$(cat talk.err)
}

cat >agentgraph.json <<'END'
{"agent": "builtin:demo", "auth": "jwt",
 "remote_tools": [{"node": "tools", "name": "pick", "description": "Picks.", "parameters": {"type": "object"}},
                  {"node": "tools", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}]}
END
export JWT_SECRET_KEY=a-secret-of-at-least-32-characters JWT_ALGORITHM=HS256
serve_start --config agentgraph.json || tap_bail 'the service does not start'
AGENTGRAPH_TOKEN=$("$TOP_BUILDDIR/t/api/mint" HS256 "$JWT_SECRET_KEY" "{\"user_id\":\"ann\",\"exp\":$(($(date +%s) + 3600))}")
export AGENTGRAPH_TOKEN

talk "$BASE/" <<'END'
hello there

/add 2 3
/ask Which one?
{"colour": "red"}
/ask And now?
17
/remote pick {"n":1} && look {"n":2}
left
[true]
/slow 2 1
END
is "$CODE" 0 "a conversation from a pipe succeeds"
is "$OUT" 'echo: hello there
[add {"a":2,"b":3}]
[result: 5]
sum: 5
[asks: Which one?]
answer: {"colour":"red"}
[asks: And now?]
answer: 17
[pick {"n":1}]
[look {"n":2}]
remote: left, [true]
tick 1
tick 2
done' "and shows answers, tools, questions, and what waits for a result"
is "$ERR" "" "and nothing else"

talk "$BASE" --thread mine <<<'/context'
is "$OUT" "context: 1" "--thread names the thread"
talk --thread mine "$BASE" <<<'/context'
is "$OUT" "context: 3" "which goes on"

talk "$BASE" <<<'/error boom'
is "$CODE" 1 "a run that fails is told by the status"
is "$ERR" "agentgraph: Graph execution failed: boom" "with its reason"
AGENTGRAPH_TOKEN=wrong talk "$BASE" <<<'hello'
is "$CODE" 1 "a refused token, too"
like "$ERR" '^agentgraph: Invalid token' "in the service's words"
talk "$BASE/nowhere" <<<'hello'
is "$CODE:$ERR" "1:agentgraph: Not Found" "a service that is not there"
talk ftp://here </dev/null
is "$CODE" 2 "a URL of another kind is a usage error"
talk "$BASE" "$BASE" </dev/null
is "$CODE" 2 "two are one, too"
talk "$BASE" < <(printf '\033]0;title\007\302\233x\n')
is "$OUT" 'echo: ?]0;title??x' "control characters of an answer do not reach the terminal"
talk "$BASE" < <(printf '/error \033]0;title\007\n')
is "$ERR" 'agentgraph: Graph execution failed: ?]0;title?' "nor do those of an error"

# A person at a terminal: waits for what is shown, types, and interrupts a run, then the prompt.
cat >terminal.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
def await_text(text, seconds=30):
    global seen
    end = time.monotonic() + seconds
    while text not in seen:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        if not ready:
            sys.exit("never saw %r in %r" % (text, seen))
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            sys.exit("ended before %r: %r" % (text, seen))
        seen += data
    seen = seen[seen.index(text) + len(text):]
await_text(b"> ")
os.write(fd, b"/slow 100 800\n")
await_text(b"tick 2")
os.write(fd, b"\x03")
await_text(b"[stopped]")
await_text(b"> ")
os.write(fd, b"/ask Well?\n")
await_text(b"answer> ")
os.write(fd, b"yes\n")
await_text(b"answer: yes")
await_text(b"> ")
os.write(fd, b"\x03")
await_text(b"go on with: agentgraph chat --thread ")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
END
python3 terminal.py "$AGENTGRAPH" chat "$BASE" --thread stopped
ok $? "Ctrl-C stops a run, answers are asked for, and at the prompt it ends the conversation"
http GET /v1/threads/stopped/state "" -H "Authorization: Bearer $AGENTGRAPH_TOKEN"
is "$(json .data.state.execution_meta.status "$BODY")" completed "the thread went on after the stop"

serve_stop
cat >graph.json <<'END'
{"two": {"nodes": {
   "plan": {"kind": "reply", "text": "Both."}, "end": {"kind": "reply", "text": "Done."},
   "a": {"kind": "exec", "command": ["sh", "-c", "echo '{\"delta\": \"one\"}'; : >one; until [ -e three ]; do sleep 0.05; done; sleep 0.3; echo '{\"delta\": \" two\"}'"]},
   "b": {"kind": "exec", "command": ["sh", "-c", "until [ -e one ]; do sleep 0.05; done; sleep 0.4; echo '{\"delta\": \"three\"}'; : >three; sleep 1.2; echo '{\"delta\": \" four\"}'"]}},
 "edges": [{"from": "START", "to": "plan"}, {"from": "plan", "to": ["a", "b"], "join": "end"},
           {"from": "a", "to": "end"}, {"from": "b", "to": "end"}, {"from": "end", "to": "END"}]}}
END
echo '{"agent": "graph.json:two"}' >agentgraph.json
serve_start --config agentgraph.json || tap_bail 'the service does not start'
talk "$BASE" <<<'go'
is "$OUT" 'Both.
one two
three four
Done.' "what branches say side by side is not mixed up"
serve_stop
done_testing
