#!/bin/sh
# SPDX-License-Identifier: ISC
# The live socket through nginx, relay and websocketd, with clients that others wrote, and the one in examples/.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

need_websockets

cat >client.py <<'PYTHON'
"""Facts about live sockets: one a function, named by its first line."""
import array
import asyncio
import http.client
import json
import math
import os
import signal
import sys
import time
import uuid

import websockets
from facts import children, fact, same, tell

BASE, SERVE, DRAIN = sys.argv[1].split("//")[1], int(sys.argv[2]), float(sys.argv[3])


def connect(path="/v1/graph/live", **more):
    return websockets.connect(f"ws://{BASE}{path}", max_size=None, **more)


# ---- audio

def tone(ms, level=8000, hz=16000, pitch=300):
    return array.array("h", (int(level * math.sin(2 * math.pi * pitch * i / hz)) for i in range(ms * hz // 1000)))


def silence(ms):
    return array.array("h", [0]) * (16 * ms)


async def speak(ws, samples, packet=1600):
    for i in range(0, len(samples), packet):
        await ws.send(samples[i:i + packet].tobytes())


# ---- the socket

async def begin(**init):
    ws = await connect()
    await ws.send(json.dumps(init))
    return ws


async def say(ws, text):
    await ws.send(json.dumps({"type": "text", "text": text}))


async def hear(ws, last="turn_complete", seconds=90):
    """Events up to one of type last, with the audio as ["audio", bytes] in between."""
    heard = []
    while True:
        message = await asyncio.wait_for(ws.recv(), seconds)
        if isinstance(message, bytes):
            if not heard or heard[-1][0] != "audio":
                heard.append(["audio", b""])
            heard[-1][1] += message
            continue
        event = json.loads(message)
        heard.append([event.pop("type"), event])
        if heard[-1][0] == last:
            return heard


def kinds(heard):
    return [kind for kind, _ in heard]


def of(heard, kind):
    return [value for k, value in heard if k == kind]


def joined(heard, kind="output_transcript"):
    """The text of its pieces, of which exactly the last one is finished."""
    pieces = of(heard, kind)
    same([e["finished"] for e in pieces], [False] * (len(pieces) - 1) + [True])
    return "".join(e["text"] for e in pieces)


async def closed(ws, seconds=60):
    try:
        while True:
            await asyncio.wait_for(ws.recv(), seconds)
    except websockets.ConnectionClosed:
        return ws.close_code, ws.close_reason


# ---- the service

def rest(method, path, body=None):
    connection = http.client.HTTPConnection(BASE, timeout=30)
    head = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, None if body is None else json.dumps(body), head)
    response = connection.getresponse()
    content = json.loads(response.read())
    connection.close()
    return response.status, content


def sockets():
    return rest("GET", "/v1/service")[1]["data"]["sockets"]


def stored(thread):
    _, content = rest("GET", f"/v1/threads/{thread}/messages")
    return [[m["role"], m["content"][0].get("text", m["content"][0].get("output"))]
            for m in content.get("data", {}).get("messages", [])]


def helpers():
    """Processes of live sockets, whoever their parent is by now."""
    found, below = [], [SERVE]
    while below:
        below += children(below.pop())
        for pid in below:
            try:
                with open(f"/proc/{pid}/cmdline") as f:
                    if "agentgraph-ws" in f.read().split("\0")[0] and pid not in found:
                        found.append(pid)
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


async def until(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.05)


# ---- the graph

@fact
async def graph():
    """the graph says that it is live, and is refused everywhere else"""
    same(rest("GET", "/v1/graph")[1]["data"]["info"]["is_realtime"], True)
    body = {"messages": [{"role": "user", "content": "x"}]}
    for path in "/v1/graph/invoke", "/v1/graph/stream":
        status, content = rest("POST", path, body)
        same((status, content["error_code"], content["detail"]),
             (422, "GRAPH_IS_LIVE", "This graph is a live (realtime) agent; connect to /v1/graph/live"))
    async with connect("/v1/graph/ws") as ws:
        chunk = json.loads(await ws.recv())
        same((chunk["event"], chunk["data"]["error_code"], chunk["data"]["reason"]),
             ("error", "GRAPH_IS_LIVE",
              "This graph is a live (realtime) agent; connect to /v1/graph/live instead of /v1/graph/ws."))
        same(await closed(ws), (1008, "Graph is live"))


# ---- talking

@fact
async def utterance():
    """an utterance is repeated at 24000 Hz, with its events in order"""
    ws = await begin()
    await speak(ws, silence(300) + tone(800) + silence(600))
    heard = await hear(ws)
    same(kinds(heard), ["input_transcript", "audio", "output_transcript", "turn_complete"])
    text = {"text": "heard 800 ms", "finished": True}
    same([heard[0][1], heard[2][1], heard[3][1]], [text, text, {}])
    same(len(heard[1][1]), 800 * 48)
    samples = array.array("h", heard[1][1])
    assert 7700 < max(samples) < 8300
    await ws.close()


@fact
async def text():
    """a text is said back, word by word, with a tone"""
    ws = await begin(modalities=["AUDIO"])
    await say(ws, "good day")
    heard = await hear(ws)
    same([e["text"] for e in of(heard, "output_transcript")], ["you", " said:", " good", " day"])
    same([e["finished"] for e in of(heard, "output_transcript")], [False] * 3 + [True])
    same([len(b) for b in of(heard, "audio")], [9600])
    await ws.close()


@fact
async def text_modality():
    """in TEXT there are no binary frames"""
    ws = await begin(modalities=" Text ")
    await say(ws, "hi")
    await speak(ws, tone(200) + silence(600))
    heard = await hear(ws) + await hear(ws)
    same(of(heard, "audio"), [])
    same(of(heard, "input_transcript"), [{"text": "heard 200 ms", "finished": True}])
    await ws.close()


@fact
async def tool():
    """a tool is called by the server, with events that tell of it"""
    ws = await begin(thread_id="tool")
    await say(ws, "/add 2 3")
    heard = await hear(ws)
    (call,), (result,) = of(heard, "tool_call"), of(heard, "tool_result")
    same((call["name"], call["args"], result), ("add", {"a": 2, "b": 3}, {"id": call["id"], "result": 5}))
    same(joined(heard), "sum: 5")
    await ws.close()
    await until(lambda: ["assistant", "sum: 5"] in stored("tool"))
    same(stored("tool"), [["user", "/add 2 3"], ["tool", 5], ["assistant", "sum: 5"]])


@fact
async def manual():
    """without voice activity the client bounds what it says"""
    ws = await begin(vad={"enabled": False}, modalities="TEXT")
    await speak(ws, tone(500) + silence(1000))
    await ws.send(json.dumps({"type": "activity_start"}))
    await speak(ws, tone(250))
    await ws.send(json.dumps({"type": "activity_end"}))
    same((await hear(ws))[0], ["input_transcript", {"text": "heard 250 ms", "finished": True}])
    await ws.close()


@fact
async def barge_in():
    """speech interrupts the agent, whose audio is never far ahead"""
    ws = await begin()
    started = time.monotonic()
    await say(ws, "/long")
    ahead = 0
    while ahead < 48000:  # a second of it comes at once
        message = await asyncio.wait_for(ws.recv(), 90)
        ahead += len(message) if isinstance(message, bytes) else 0
    await asyncio.sleep(0.5)
    await speak(ws, tone(200))
    heard = await hear(ws, "interrupted")
    seconds = time.monotonic() - started
    audio = (ahead + sum(len(b) for b in of(heard, "audio"))) / 48000
    assert 1 <= audio <= 1.01 + seconds, f"{audio} s of audio in {seconds} s"
    same(of(heard, "turn_complete"), [])
    await speak(ws, silence(600))
    same(of(await hear(ws), "input_transcript")[0]["text"], "heard 200 ms")
    await ws.close()


@fact
async def other_events():
    """the other events have their fields"""
    ws = await begin(thread_id="events", modalities="TEXT")
    for command in "/session", "/agent Ann", "/warn careful", "/go-away":
        await say(ws, command)
    heard = await hear(ws, "go_away")
    handle = heard[0][1]["resumption_handle"]
    same(heard, [["session_update", {"resumption_handle": handle}], ["agent_changed", {"author": "Ann"}],
                 ["error", {"code": "demo", "message": "careful", "fatal": False}], ["go_away", {"time_left": "5s"}]])
    await say(ws, "/session")
    same(await hear(ws, "session_update"), [["session_update", {"resumption_handle": handle}]])
    await until(lambda: rest("GET", "/v1/threads/events")[1]["data"]["thread_data"]["metadata"] == {"resumption_handle": handle})
    await ws.close()
    await until(lambda: not helpers())
    ws = await begin(thread_id="events", modalities="TEXT")
    await say(ws, "/session")
    same(await hear(ws, "session_update"), [["session_update", {"resumption_handle": handle}]])
    await say(ws, "/fatal enough")
    same(await hear(ws, "error"), [["error", {"code": "demo", "message": "enough", "fatal": True}]])
    same(await closed(ws), (1000, ""))


# ---- the first frame

@fact
async def bad_init():
    """a first frame that is none closes with 1003 and no event"""
    for frame in "nonsense", "[1]", '"x"', b"\0\0", "":
        async with connect() as ws:
            await ws.send(frame)
            try:
                heard = await asyncio.wait_for(ws.recv(), 60)
            except websockets.ConnectionClosed:
                heard = None
            same((heard, ws.close_code, ws.close_reason), (None, 1003, "Invalid init frame"))


@fact
async def invalid_config():
    """a wrong type is told with the field, and closes"""
    for frame, message in [({"voice": 5}, "voice must be a string"),
                           ({"modalities": ["AUDIO", "TEXT"]}, "modalities must be exactly one of AUDIO, TEXT"),
                           ({"thread_id": "-1"}, "thread_id must be a positive integer")]:
        ws = await begin(**frame)
        same(await hear(ws, "error"), [["error", {"code": "invalid_config", "message": message, "fatal": True}]])
        same(await closed(ws), (1000, ""))


@fact
async def new_thread():
    """without a thread_id a thread is made before the first event"""
    before = {t["thread_id"] for t in rest("GET", "/v1/threads")[1]["data"]["threads"]}
    ws = await begin(modalities="TEXT")
    await say(ws, "/warn now")
    await hear(ws, "error")
    after = {t["thread_id"] for t in rest("GET", "/v1/threads")[1]["data"]["threads"]}
    same([str(uuid.UUID(t)) for t in after - before], list(after - before))
    same(len(after - before), 1)
    await ws.close()


@fact
async def busy():
    """a second socket on a thread is told, and closed"""
    ws = await begin(thread_id="busy")
    await say(ws, "/warn here")
    await hear(ws, "error")
    second = await begin(thread_id="busy")
    same(await hear(second, "error"), [["error", {
        "code": "thread_busy", "message": "Thread busy is busy with another run", "fatal": True}]])
    same(await closed(second), (1000, ""))
    await until(lambda: sockets() == {"turn": 0, "live": 1})
    await ws.close()
    await until(lambda: sockets() == {"turn": 0, "live": 0})
    await until(lambda: not helpers())


# ---- frames

@fact
async def frames():
    """frames that mean nothing are ignored, and so is one of more than 1 MiB"""
    ws = await begin(modalities="TEXT")
    for frame in "nonsense", "[]", '{"type": "image", "data": ""}', "{}", b"", b"\1", silence(100).tobytes()[:-1]:
        await ws.send(frame)
    await ws.send(bytes(1 << 20))
    await ws.send(b"\x7f" * ((1 << 20) + 1))
    await say(ws, "still here")
    same(joined(await hear(ws)), "you said: still here")
    await ws.send(bytes(960) * 1000)
    await say(ws, "and now")
    same(joined(await hear(ws)), "you said: and now")
    await ws.close()


@fact
async def many_frames():
    """2000 frames at once are all heard by who keeps up"""
    ws = await begin(vad={"enabled": False}, modalities="TEXT")
    await say(ws, "ready?")
    await hear(ws)
    await ws.send(json.dumps({"type": "activity_start"}))
    for _ in range(2000):
        await ws.send(silence(10).tobytes())
    await ws.send(json.dumps({"type": "activity_end"}))
    same((await hear(ws))[0][1]["text"], "heard 20000 ms")
    await ws.close()


@fact
async def echo():
    """an echo comes back frame by frame, none waits for another"""
    ws = await begin()
    await say(ws, "/echo on")
    for _ in range(20):
        await ws.send(tone(100).tobytes())
        same(len(await asyncio.wait_for(ws.recv(), 60)), 4800)
    await ws.close()


# ---- the end

@fact
async def graceful():
    """close lets the agent finish, and then closes with 1000"""
    ws = await begin(thread_id="graceful")
    await speak(ws, tone(1500))
    await ws.send(json.dumps({"type": "close"}))
    heard = await hear(ws)
    same(of(heard, "input_transcript")[0]["text"], "heard 1500 ms")
    same(sum(len(b) for b in of(heard, "audio")), 1500 * 48)
    same(await closed(ws), (1000, ""))
    await until(lambda: stored("graceful") == [["user", "heard 1500 ms"], ["assistant", "heard 1500 ms"]])


@fact
async def drain():
    """an agent that goes on for longer is cut"""
    ws = await begin()
    await say(ws, "/long")
    await ws.send(json.dumps({"type": "close"}))
    started = time.monotonic()
    heard = []
    try:
        while True:
            heard.append(await asyncio.wait_for(ws.recv(), DRAIN + 60))
    except websockets.ConnectionClosed:
        pass
    same(ws.close_code, 1000)
    assert time.monotonic() - started > DRAIN - 0.5
    assert not [e for e in heard if isinstance(e, str)]
    assert sum(map(len, heard)) < 9000 * 48, "of ten seconds nearly all were heard"


@fact
async def vanish():
    """a client that vanishes in the middle leaves nothing behind once the time to finish is over"""
    await until(lambda: not helpers())
    ws = await begin(thread_id="vanish")
    await say(ws, "kept")
    await hear(ws)
    await say(ws, "/long")
    await asyncio.wait_for(ws.recv(), 60)
    ws.transport.abort()
    await asyncio.sleep(0.5)
    assert helpers(), "the agent was not let finish"
    again = await begin(thread_id="vanish", modalities="TEXT")
    await say(again, "back")
    same(joined(await hear(again)), "you said: back")
    await again.close()
    await until(lambda: not helpers(), DRAIN + 60)
    same(stored("vanish"), [["user", "kept"], ["assistant", "you said: kept"], ["user", "/long"],
                            ["user", "back"], ["assistant", "you said: back"]])


@fact
async def helper_dies():
    """a helper that is killed closes its client with 1011, and the thread can be talked on"""
    await until(lambda: not helpers())
    ws = await begin(thread_id="killed", modalities="TEXT")
    await say(ws, "one")
    await hear(ws)
    await until(lambda: ["assistant", "you said: one"] in stored("killed"))
    os.kill(helpers()[0], signal.SIGKILL)
    same(await closed(ws), (1011, "Internal error"))
    ws = await begin(thread_id="killed", modalities="TEXT")
    await say(ws, "two")
    same(joined(await hear(ws)), "you said: two")
    await ws.close()
    await until(lambda: len(stored("killed")) == 4)


@fact
async def stopping():
    """a stop closes with 1001"""
    ws = await begin(thread_id="stopped")
    await say(ws, "/long")
    await asyncio.wait_for(ws.recv(), 60)
    os.kill(SERVE, signal.SIGTERM)
    same(await closed(ws), (1001, "Shutting down"))


tell()
PYTHON

# ---- the client of examples/

# A second of 300 Hz as a WAV file.
"$python" - >in.wav <<'PYTHON'
import array, math, sys, wave
with wave.open(sys.stdout.buffer, "wb") as f:
    f.setnchannels(1), f.setsampwidth(2), f.setframerate(16000)
    f.setnframes(16000)
    f.writeframesraw(array.array("h", (int(8000 * math.sin(math.pi * 300 * i / 8000)) for i in range(16000))).tobytes())
PYTHON

# shellcheck disable=SC2086 # flags are words
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra ${CPPFLAGS:-} -o live-client \
	"$TOP_SRCDIR/examples/live-client/live-client.c" -lwslay
ok $? 'the example of a client is built'

printf 'REALTIME_DRAIN_TIMEOUT=4\n' >settings
echo '{"agent": "builtin:live-demo", "auth": null, "env": "settings"}' >agent.json
serve_start --config agent.json || tap_bail 'the rest needs a service'
host=${BASE#http://}

./live-client -t hello -i '{"thread_id":"wav"}' "$host" in.wav out.wav >events
is $? 0 'it plays a file to the agent'
is "$(jq -rs 'map(.type) | unique | join(" ")' events)" 'input_transcript output_transcript turn_complete' \
	'and prints the events'
like "$(cat events)" '"heard 1000 ms","finished":true' 'all of the file was heard'
is "$("$python" -c 'import wave; f = wave.open("out.wav"); print(f.getparams()[:4])')" '(1, 2, 24000, 28800)' \
	'what the agent says is a WAV file'
./live-client -f "$host" - out.wav >events
is "$? $(cat events)" '0 ' 'without a file it says nothing'
./live-client -i '{"voice": 5}' "$host" - out.wav >events
is $? 1 'a fatal error is a failure'
printf 'RIFFnonsense' >bad.wav
./live-client "$host" bad.wav out.wav 2>err
is "$? $(cat err)" '1 live-client: bad.wav: it is no WAV file' 'a file that is none is refused'

PYTHONPATH=$TOP_SRCDIR/t/e2e "$python" -B client.py "$BASE" "$SERVE_PID" 4 >facts 2>trouble || {
	ok 1 'the client came to its end'
	diag "$(cat trouble)"
	kill "$SERVE_PID"
}
tap_report <facts
wait "$SERVE_PID"
is $? 0 'with live sockets open a stop is a clean end too'
unlike "$(cat "$SERVE_ERR")" 'Sanitizer|assert' 'nothing complains'

# ---- other people's threads, and production

. "$TOP_SRCDIR/t/api/auth.sh"
cat >private.json <<JSON
{"agent": "builtin:live-demo", "auth": "jwt", "authorization": "ownership", "env": "private"}
JSON
printf 'JWT_SECRET_KEY=%s\nJWT_ALGORITHM=HS256\nMODE=production\nORIGINS=https://example.org\n' "$SECRET" >private
STATE=
serve_start --config private.json || tap_bail 'the rest needs a service'
host=${BASE#http://}
./live-client -k "$(token alice)" -i '{"thread_id":"hers"}' -t mine "$host" - out.wav >events
is $? 0 'with a token one talks'
./live-client -k "$(token bob)" -i '{"thread_id":"hers"}' -t mine "$host" - out.wav >events
is "$? $(cat events)" \
	'1 {"type":"error","code":"not_authorized","message":"Not authorized to stream thread hers","fatal":true}' \
	'on a thread of somebody else one does not'
./live-client "$host" - out.wav 2>err
is "$? $(cat err)" '1 live-client: the handshake was refused: HTTP/1.1 403 Forbidden' 'nor without a token'
kill "$SERVE_PID"
wait "$SERVE_PID"
done_testing
