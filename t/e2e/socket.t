#!/bin/sh
# SPDX-License-Identifier: ISC
# The turn socket through nginx, relay and websocketd, with a client that others wrote.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

need_websockets

cat >client.py <<'PYTHON'
"""Facts about WebSockets: one a function, named by its first line."""
import asyncio
import http.client
import json
import os
import signal
import sys
import time

import websockets
from facts import children, fact, same, tell

BASE, SERVE, STATE, CROWD = sys.argv[1].split("//")[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


def connect(path="/v1/graph/ws", **more):
    return websockets.connect(f"ws://{BASE}{path}", max_size=None, **more)


# ---- frames

def fresh(text, thread=None, **more):
    frame = {"messages": [{"role": "user", "content": text}], **more}
    if thread:
        frame["config"] = {"thread_id": thread}
    return json.dumps(frame)


def ends(chunk):
    return chunk["run_id"] is None or (chunk["event"] == "updates" and chunk["data"]["status"] == "done")


async def answer(ws):
    """The chunks up to the terminator, or the one that refuses a frame."""
    chunks = []
    while not chunks or not ends(chunks[-1]):
        message = await asyncio.wait_for(ws.recv(), 60)
        assert isinstance(message, str)
        chunks.append(json.loads(message))
    return chunks


async def turn(ws, *args, **more):
    await ws.send(fresh(*args, **more))
    return await answer(ws)


def text(chunks):
    """The last final message."""
    final = [c["message"] for c in chunks if c["event"] == "message" and not c["message"]["delta"]]
    return "".join(b.get("text", "") for b in final[-1]["content"])


def shape(value):
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shape(v) for v in value]
    return type(value).__name__


# ---- the service

def rest(method, path, body=None, headers=None):
    connection = http.client.HTTPConnection(BASE, timeout=30)
    head = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, None if body is None else json.dumps(body), {**head, **(headers or {})})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def sockets():
    return json.loads(rest("GET", "/v1/service")[1])["data"]["sockets"]


def stored(thread):
    _, content = rest("GET", f"/v1/threads/{thread}/messages")
    messages = json.loads(content).get("data", {}).get("messages", [])
    return [m["content"][0].get("text") for m in messages]


UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


def name(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as f:
            return os.path.basename(f.read().split("\0")[0])
    except (FileNotFoundError, ProcessLookupError):
        return ""


def member(program):
    return next((p for p in children(SERVE) if name(p) == program), None)


def helpers():
    return [p for p in children(member("websocketd") or 0) + children(SERVE) if name(p) == "agentgraph-ws"]


async def until(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.05)


async def closed(ws):
    await asyncio.wait_for(ws.wait_closed(), 60)
    return ws.close_code, ws.close_reason


# ---- turns

@fact
async def chunks():
    """a frame is answered with the chunks of the HTTP stream, in the same shapes"""
    for granularity in "low", "partial", "full":
        body = {"messages": [{"role": "user", "content": "/add 2 3"}], "response_granularity": granularity}
        response, content = rest("POST", "/v1/graph/stream", body)
        streamed = [json.loads(line) for line in content.splitlines()]
        async with connect() as ws:
            got = await turn(ws, "/add 2 3", response_granularity=granularity)
        same(shape(got), shape(streamed))
        same([c["event"] for c in got], [c["event"] for c in streamed])
        same(text(got), "sum: 5")


@fact
async def conversation():
    """the socket stays open across runs, and a thread goes on"""
    async with connect() as ws:
        thread = (await turn(ws, "first"))[0]["thread_id"]
        got = await turn(ws, "/context", thread)
        same(text(got), "context: 3")
        same({c["thread_id"] for c in got}, {thread})
        other = (await turn(ws, "elsewhere"))[0]["thread_id"]
        assert other != thread
        same(text(await turn(ws, "two\nlines\r\x1b é \U0001f600", thread)), "echo: two\nlines\r\x1b é \U0001f600")


@fact
async def remote_tool():
    """a remote tool call is answered by a resume frame"""
    async with connect() as ws:
        got = await turn(ws, '/remote where {"x": 1}', "remote")
        calls = [b for c in got if c["event"] == "message" for b in c["message"]["content"]
                 if b["type"] == "remote_tool_call"]
        same(len(calls), 1)
        result = {"role": "tool", "content": [{"type": "tool_result", "call_id": calls[0]["id"], "output": "Berlin"}]}
        await ws.send(json.dumps({"invoke_type": "resume", "tool_result": [result],
                                  "config": {"thread_id": "remote"}}))
        same(text(await answer(ws)), "remote: Berlin")


@fact
async def pause():
    """a pause is told, and answered by resume in a fresh frame"""
    async with connect() as ws:
        got = await turn(ws, "/ask Which one?", "pause")
        same([c["data"]["status"] for c in got if c["event"] == "updates"], ["interrupted", "done"])
        await ws.send(json.dumps({"resume": "blue", "config": {"thread_id": "pause"}}))
        same(text(await answer(ws)), "answer: blue")


@fact
async def checkpoint():
    """a frame begins at a checkpoint, and one that cannot is refused"""
    def latest():
        return json.loads(rest("GET", "/v1/threads/branches/history?limit=1")[1])["data"]["history"][0]["checkpoint_id"]

    async with connect() as ws:
        await turn(ws, "one", "branches")
        first = latest()
        await turn(ws, "two", "branches")
        second = latest()
        at = {"thread_id": "branches", "checkpoint_id": first}
        same(text(await turn(ws, "/context", config=at)), "context: 3")
        same(stored("branches"), ["one", "echo: one", "/context", "context: 3"])
        await turn(ws, "three", config={**at, "checkpoint_id": second})
        same(stored("branches"), ["one", "echo: one", "two", "echo: two", "three", "echo: three"])
        for config, code, reason in (
                ({**at, "checkpoint_id": "none"}, "RESOURCE_NOT_FOUND", "Checkpoint not found"),
                ({"checkpoint_id": first}, "VALIDATION_ERROR", "Invalid request: config.checkpoint_id needs a thread_id")):
            [refused] = await turn(ws, "x", config=config)
            same((refused["data"]["error_code"], refused["data"]["reason"]), (code, reason))
        await ws.send(json.dumps({"config": at}))
        same([c["data"].get("reason") for c in await answer(ws)], ["Nothing follows this checkpoint", None])
        await turn(ws, "/ask Which?", "branches")
        pause = {**at, "checkpoint_id": latest()}
        await ws.send(json.dumps({"resume": "red", "config": {"thread_id": "branches"}}))
        await answer(ws)
        await ws.send(json.dumps({"config": pause}))
        same([c["data"]["status"] for c in await answer(ws) if c["event"] == "updates"], ["interrupted", "done"])
        await ws.send(json.dumps({"resume": "blue", "config": {"thread_id": "branches"}}))
        same(text(await answer(ws)), "answer: blue")


@fact
async def mistakes():
    """a frame that is refused leaves the socket open"""
    frames = [("{", "frame is not valid JSON"), ("[]", "frame must be a JSON object"),
              (b"\0\1", "binary frames are not accepted"), ("{}", "messages must not be empty for invoke_type='fresh'"),
              ('{"invoke_type": "resume", "tool_result": [{}]}', "config.thread_id is required for invoke_type='resume'"),
              (" " * 50001, "frame exceeds 50000 bytes"), (" " * 1000000, "frame exceeds 50000 bytes")]
    async with connect() as ws:
        for frame, reason in frames:
            await ws.send(frame)
            got = await answer(ws)
            same([(c["event"], c["data"]["reason"], c["run_id"], c["metadata"]) for c in got],
                 [("error", "Invalid request: " + reason, None, None)])
        same(text(await turn(ws, "still here")), "echo: still here")


@fact
async def fragments():
    """a frame may come in fragments"""
    whole = fresh("in pieces")
    async with connect() as ws:
        await ws.send([whole[:10], whole[10:11], whole[11:]])
        same(text(await answer(ws)), "echo: in pieces")


@fact
async def one_at_a_time():
    """runs on one socket follow each other, however many frames come at once"""
    async with connect() as ws:
        await ws.send(fresh("/slow 1 300"))
        for i in range(40):
            await ws.send(fresh(f"number {i}"))
        same(text(await answer(ws)), "done")
        for i in range(40):
            got = await answer(ws)
            same(len({c["run_id"] for c in got}), 1)
            same(text(got), f"echo: number {i}")


@fact
async def large():
    """a large answer arrives whole"""
    words = "w" * 40000
    async with connect() as ws:
        same(text(await turn(ws, words)), "echo: " + words)


@fact
async def stop():
    """a run is stopped over HTTP from elsewhere"""
    async with connect() as ws:
        await ws.send(fresh("/slow 100 500", "stopped", response_granularity="partial", recursion_limit=100))
        for _ in range(4):
            await ws.recv()
        response, content = rest("POST", "/v1/graph/stop", {"thread_id": "stopped"})
        same(json.loads(content)["data"]["running"], True)
        got = await answer(ws)
        same([c["data"]["status"] for c in got[-2:]], ["stopped", "done"])


# ---- the handshake

@fact
async def bearer():
    """a bearer offer is echoed, and the first name of any other"""
    async with connect(subprotocols=["service-bearer", "a.b.c"]) as ws:
        same(ws.subprotocol, "service-bearer")
    async with connect(subprotocols=["graphql-ws", "chat", "x"]) as ws:
        same(ws.subprotocol, "graphql-ws")


@fact
async def upgrade_required():
    """a request without an upgrade is 426"""
    response, content = rest("GET", "/v1/graph/ws")
    same((response.status, response.headers["Upgrade"]), (426, "websocket"))
    same(json.loads(content)["error_code"], "UPGRADE_REQUIRED")


@fact
async def forged():
    """a ticket that a client sends gets nowhere, and the internal location cannot be asked for"""
    async with connect(extra_headers={"X-Agentgraph-Ticket": "forged", "X-Accel-Redirect": "/ping"}) as ws:
        same(text(await turn(ws, "in")), "echo: in")
    response, content = rest("GET", "/_agentgraph/relay/v1/graph/ws", None, UPGRADE)
    same((response.status, json.loads(content)["error_code"]), (404, "NOT_FOUND"))


@fact
async def many():
    """over max_connections a handshake is refused, in the shape of all errors"""
    held = [await connect() for _ in range(60)]
    response, content = rest("GET", "/v1/graph/ws", None, {**UPGRADE, "Origin": "http://page"})
    body = json.loads(content)
    same((response.status, response.headers["X-WebSocket-Close-Code"]), (503, "1013"))
    same((body["error_code"], body["detail"], body["close_code"]),
         ("TOO_MANY_CONNECTIONS", "Too many connections", 1013))
    same(body["metadata"]["request_id"], response.headers["X-Request-ID"])
    same(body["metadata"]["timestamp"], response.headers["X-Timestamp"])
    same(response.headers["X-Frame-Options"], "DENY")
    same([response.headers[h] for h in ("Access-Control-Allow-Origin", "Vary", "X-RateLimit-Limit")],
         ["http://page", "Origin", "100000"])
    assert int(response.headers["X-RateLimit-Remaining"]) < 100000
    same(sockets(), {"turn": 60, "live": 0})
    for ws in held:
        await ws.close()
    await until(lambda: sockets() == {"turn": 0, "live": 0})
    async with connect() as ws:
        same(text(await turn(ws, "room")), "echo: room")


@fact
async def live():
    """the live socket says that the graph is not live, and closes"""
    async with connect("/v1/graph/live") as ws:
        event = json.loads(await ws.recv())
        same((event["type"], event["code"], event["fatal"]), ("error", "not_live", True))
        same(await closed(ws), (1008, "Graph is not live"))


@fact
async def close_codes():
    """a client's close is answered with its own code, and its helper leaves"""
    await until(lambda: not helpers())
    for code in 1000, 1001, 3001, 4999:
        ws = await connect()
        await ws.close(code, "bye")
        same(ws.close_code, code)
    await until(lambda: not helpers())


# ---- clients that vanish

@fact
async def vanish():
    """a client that vanishes does not stop its run"""
    ws = await connect()
    await ws.send(fresh("/slow 4 200", "vanished"))
    await ws.recv()
    ws.transport.abort()
    await until(lambda: stored("vanished")[-1:] == ["done"])
    same(stored("vanished"), ["/slow 4 200", "tick 1", "tick 2", "tick 3", "tick 4", "done"])
    await until(lambda: not helpers())


@fact
async def vanish_at_once():
    """nor does one that vanishes as soon as the frame is sent"""
    ws = await connect()
    await ws.send(fresh("/slow 1 10", "hasty"))
    await ws.close()
    await until(lambda: stored("hasty")[-1:] == ["done"])


@fact
async def crowd():
    """a crowd of clients that vanish leaves as many finished runs and no process"""
    for batch in range(4):
        sockets = await asyncio.gather(*[connect().__aenter__() for _ in range(CROWD)])
        for i, ws in enumerate(sockets):
            await ws.send(fresh("/slow 1 200", f"crowd-{batch}-{i}"))
        for ws in sockets:
            await asyncio.wait_for(ws.recv(), 60)
            ws.transport.abort()
        await until(lambda: not helpers())
    for batch in range(4):
        for i in range(CROWD):
            same(stored(f"crowd-{batch}-{i}")[-1:], ["done"])


# ---- processes that die

@fact
async def helper_dies():
    """a helper that is killed closes its client with 1011, and the thread with it goes on"""
    async with connect() as ws:
        await ws.send(fresh("/slow 100 500", "killed", recursion_limit=100))
        await ws.recv()
        os.kill(helpers()[0], signal.SIGKILL)
        try:
            while True:
                await asyncio.wait_for(ws.recv(), 60)
        except websockets.ConnectionClosed:
            pass
        same(await closed(ws), (1011, "Internal error"))
    async with connect() as ws:
        same(text(await turn(ws, "again", "killed")), "echo: again")
        same(len(helpers()), 1)


@fact
async def websocketd_dies():
    """websocketd is replaced when it dies; runs in flight end by themselves"""
    ws = await connect()
    await ws.send(fresh("/slow 6 200", "orphan"))
    await ws.recv()
    first = member("websocketd")
    os.kill(first, signal.SIGKILL)
    try:
        while True:
            await asyncio.wait_for(ws.recv(), 60)
    except websockets.ConnectionClosed:
        pass
    same(ws.close_code, 1011)
    await until(lambda: stored("orphan")[-1:] == ["done"])
    await until(lambda: member("websocketd") not in (None, first))
    await until(lambda: not helpers())
    await again("after websocketd")


async def again(word):
    """A turn as soon as the service can have one."""
    end = time.monotonic() + 90
    while True:
        try:
            async with connect() as ws:
                same(text(await turn(ws, word)), "echo: " + word)
                return
        except (websockets.InvalidStatusCode, websockets.InvalidMessage, OSError):
            assert time.monotonic() < end, "sockets do not come back"
            await asyncio.sleep(0.1)


@fact
async def relay_dies():
    """so is the relay, with new connections waiting meanwhile; its clients' runs end by themselves, with megabytes to say"""
    for _ in range(20):
        rest("POST", "/v1/threads/unrelayed/messages", {"messages": [{"role": "user", "content": "x" * 40000}]})
    ws = await connect()
    await ws.send(fresh("/slow 6 200", "unrelayed", response_granularity="full"))
    await ws.recv()
    first = member("agentgraph-relay")
    os.kill(first, signal.SIGKILL)
    async with connect() as other:
        same(text(await turn(other, "after relay")), "echo: after relay")
    assert member("agentgraph-relay") != first
    try:
        while True:
            await asyncio.wait_for(ws.recv(), 60)
    except websockets.ConnectionClosed:
        pass
    await until(lambda: stored("unrelayed")[-1:] == ["done"])
    await until(lambda: not helpers())


@fact
async def no_relay():
    """without a relay to be had a handshake is 503, in the shape of all errors"""
    path = STATE + "/run/relay.sock"
    os.rename(path, path + ".away")
    response, content = rest("GET", "/v1/graph/ws", None, UPGRADE)
    os.rename(path + ".away", path)
    body = json.loads(content)
    same((response.status, response.headers["X-WebSocket-Close-Code"]), (503, "1013"))
    same((body["error_code"], body["close_code"]), ("SERVICE_UNAVAILABLE", 1013))
    same(list(body), ["detail", "error_code", "error", "metadata", "close_code"])
    same(body["metadata"]["request_id"], response.headers["X-Request-ID"])


# ---- reload and stop

@fact
async def reload():
    """after a reload new connections have the new configuration, and old ones go on; files do not count before"""
    old = await connect()
    for name in "settings", "agent.json":
        os.rename(name, name + ".away")
        with open(name, "w") as f:
            f.write("{")
    async with connect() as ws:
        same(text(await turn(ws, "x" * 400)), "echo: " + "x" * 400)
    os.rename("agent.json.away", "agent.json")
    with open("settings", "w") as f:
        f.write("MAX_REQUEST_SIZE=300\n")
    with open("agent.json") as f:
        config = json.load(f)
    config["websocket"]["max_connections"] = 3
    with open("agent.json", "w") as f:
        json.dump(config, f)
    os.kill(SERVE, signal.SIGHUP)
    end = time.monotonic() + 90
    while True:
        async with connect() as ws:
            got = await turn(ws, "x" * 400)
        if got[0]["event"] == "error":
            break
        assert time.monotonic() < end, "the new limit does not count"
        await asyncio.sleep(0.1)
    same(got[0]["data"]["reason"], "Invalid request: frame exceeds 300 bytes")
    same(text(await turn(old, "x" * 400)), "echo: " + "x" * 400)
    held = [await connect(), await connect()]
    await until(lambda: rest("GET", "/v1/graph/ws", None, UPGRADE)[0].status == 503)
    for ws in held + [old]:
        await ws.close()
    with open("settings", "w") as f:
        f.write("MAX_REQUEST_SIZE=20000000\n")
    os.kill(SERVE, signal.SIGHUP)
    got = None
    while not got:  # the relay, which stays, closes with 1009 what is more than twice that
        try:
            async with connect() as ws:
                await ws.send("x" * 30000000)
                got = await answer(ws)
        except (websockets.ConnectionClosed, websockets.InvalidStatusCode):
            assert time.monotonic() < end, "the larger limit does not count"
            await asyncio.sleep(0.1)
    same(got[0]["data"]["reason"], "Invalid request: frame exceeds 20000000 bytes")


@fact
async def stopping():
    """a stop closes every client with 1001, and lets runs in flight end"""
    idle, busy = await connect(), await connect()
    await busy.send(fresh("/slow 4 200", "last"))
    await busy.recv()
    os.kill(SERVE, signal.SIGTERM)
    for ws in idle, busy:
        try:
            while True:
                await asyncio.wait_for(ws.recv(), 60)
        except websockets.ConnectionClosed:
            pass
        same((ws.close_code, ws.close_reason), (1001, "Shutting down"))


tell()
PYTHON

printf 'MAX_REQUEST_SIZE=50000\n' >settings
cat >agent.json <<'JSON'
{"agent": "builtin:demo", "auth": null, "env": "settings", "websocket": {"max_connections": 60},
 "rate_limit": {"requests": 100000},
 "remote_tools": [{"node": "tools", "name": "where", "description": "Where the user is"}]}
JSON

serve_start --config agent.json || tap_bail 'the rest needs a service'
state=$STATE
like "$(stat -c '%a %F' "$STATE/run/relay.sock")" '^600 socket' "the relay's socket is for its owner alone"
crowd=50 # four times; sanitizers make processes slow to start
case ${CFLAGS-} in *-fsanitize*) crowd=5 ;; esac
PYTHONPATH=$TOP_SRCDIR/t/e2e "$python" -B client.py "$BASE" "$SERVE_PID" "$STATE" $crowd >facts 2>trouble || {
	ok 1 'the client came to its end'
	diag "$(cat trouble)"
	kill "$SERVE_PID"
}
tap_report <facts
wait "$SERVE_PID"
is $? 0 'with WebSockets open a stop is a clean end too'
ok '[ ! -e "$state/run/relay.sock" ]' "which leaves no socket of the relay's"

# said THREAD: the texts of its messages, from a service on the same state.
STATE=$state
api_start
api GET /v1/threads/last/messages
is "$(json '[.data.messages[].content[0].text] | join("|")' "$BODY")" '/slow 4 200|tick 1|tick 2|tick 3|tick 4|done' \
	'the run in flight at the stop is stored whole'
is "$(stat -c '%a %F' "$SOCKET.relay")" '660 socket' "without nginx the relay's socket is beside the other, and the group may use it"

# descendants PID: all processes below it, whichever of its threads started them.
descendants() {
	for descendant in $(children "$1"); do
		echo "$descendant"
		descendants "$descendant"
	done
}
all_gone() { for process; do alive "$process" && return 1; done; return 0; }

everybody=$(descendants "$SERVE_PID")
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
# shellcheck disable=SC2086 # a list of words
ok 'wait_for 30 all_gone $everybody' 'nothing survives kill -9 of the supervisor'
ok 'wait_for 30 test ! -e "$SOCKET.relay"' "not even the relay's socket"

AGENTGRAPH_WEBSOCKETD=/nowhere/websocketd "$AGENTGRAPH" serve --state other --listen 127.0.0.1:0 >out 2>err
is $? 1 'it does not start without websocketd'
like "$(cat err)" 'websocketd was not found \(/nowhere/websocketd\)' 'and names what is missing'
AGENTGRAPH_WEBSOCKETD=/bin/false timeout 100 "$AGENTGRAPH" serve --state other --listen 127.0.0.1:0 >out 2>err
is $? 1 'nor with one that ends at once'
like "$(cat err)" 'websocketd could not start' 'and says so'
done_testing
