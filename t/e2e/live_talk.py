# SPDX-License-Identifier: ISC
"""Facts about live agents with realtime providers, each a function named by its first line: live_talk.py BASE LOG SET."""
import array
import asyncio
import json
import sys
import time

import facts
import websockets
from facts import same

BASE, LOG, SET = sys.argv[1].split("//")[1], sys.argv[2], sys.argv[3]


def fact(*sets):
    return lambda f: facts.fact(f) if SET in sets else f


def loud(ms):
    return array.array("h", [8000, -8000] * (8 * ms)).tobytes()


async def begin(model="good", **init):
    ws = await websockets.connect(f"ws://{BASE}/v1/graph/live", max_size=None)
    await ws.send(json.dumps({"model": model, **init}))
    return ws


async def say(ws, text):
    await ws.send(json.dumps({"type": "text", "text": text}))


async def speak(ws, ms):
    for _ in range(ms // 100):
        await ws.send(loud(100))


async def hear(ws, last="turn_complete", seconds=90):
    """Events up to one of type last, with the bytes of audio in between."""
    heard = []
    while True:
        message = await asyncio.wait_for(ws.recv(), seconds)
        if isinstance(message, bytes):
            if not heard or heard[-1][0] != "audio":
                heard.append(["audio", 0])
            heard[-1][1] += len(message)
            continue
        event = json.loads(message)
        heard.append([event.pop("type"), event])
        if heard[-1][0] == last:
            return heard


async def closed(ws, seconds=60):
    try:
        while True:
            await asyncio.wait_for(ws.recv(), seconds)
    except websockets.ConnectionClosed:
        return ws.close_code


def kinds(heard):
    return [kind for kind, _ in heard]


def of(heard, kind):
    return [value for k, value in heard if k == kind]


def joined(heard, kind="output_transcript"):
    """The text of a transcript's pieces, of which exactly the last one is finished."""
    pieces = of(heard, kind)
    same([e["finished"] for e in pieces], [False] * (len(pieces) - 1) + [True])
    return "".join(e["text"] for e in pieces)


def logged(key):
    """What the provider was sent with this type or member, with the connections' numbers."""
    with open(LOG, encoding="utf-8") as f:
        events = [json.loads(line) for line in f if line.endswith("\n")]  # it is still writing the last one
    return [(n, e) for n, e in events if e.get("type") == key or key in e]


def last_logged(key):
    return logged(key)[-1][1]


async def fatal(ws, text, seconds=90, code="provider_error"):
    (event,) = of(await hear(ws, "error", seconds), "error")
    same((event["code"], event["fatal"]), (code, True))
    assert text in event["message"], event
    same(await closed(ws), 1000)


# ---- both

@fact("openai", "gemini")
async def audio():
    """speech is sent at the provider's rate, and its answer comes with transcripts"""
    ws = await begin()
    await speak(ws, 1000 if SET == "gemini" else 600)
    heard = await hear(ws)
    same(sum(of(heard, "audio")), 24000)
    same(joined(heard), "Hi you")
    assert "hello" in joined(heard, "input_transcript")
    await ws.close()


@fact("openai", "gemini")
async def tool():
    """a tool is called, and its result sent back"""
    ws = await begin()
    await say(ws, "add")
    heard = await hear(ws)
    (call,), (result,) = of(heard, "tool_call"), of(heard, "tool_result")
    same((call["name"], call["args"], result["result"]), ("add", {"a": 2, "b": 3}, 5))
    if SET == "openai":
        same(last_logged("conversation.item.create")["item"],
             {"type": "function_call_output", "call_id": "call_1", "output": "5"})
    else:
        same(last_logged("toolResponse"),
             {"toolResponse": {"functionResponses": [{"id": "c1", "name": "add", "response": {"result": 5}}]}})
    await ws.close()


@fact("openai", "gemini")
async def manual():
    """without voice activity the bounds of speech are sent, and nothing outside of them"""
    ws = await begin(vad={"enabled": False})
    await speak(ws, 300)
    await ws.send(json.dumps({"type": "activity_start"}))
    await speak(ws, 400)
    await ws.send(json.dumps({"type": "activity_end"}))
    await hear(ws)
    if SET == "openai":
        bytes_of_400_ms = 400 * 48
        while not logged("committed"):
            await asyncio.sleep(0.05)
        assert abs(last_logged("committed")["committed"] - bytes_of_400_ms) < 480, last_logged("committed")
    else:
        sent = [e["realtimeInput"] for n, e in logged("realtimeInput") if n == logged("realtimeInput")[-1][0]]
        same([next(iter(e)) for e in sent], ["activityStart"] + ["audio"] * 4 + ["activityEnd"])
    await ws.close()


@fact("openai", "gemini")
async def broken():
    """a connection that breaks in the middle is made again, and the session goes on"""
    ws = await begin()
    await say(ws, "warn" if SET == "openai" else "add")
    await hear(ws)
    before = len(logged("path"))
    await say(ws, "break")
    while len(logged("path")) == before:
        await asyncio.sleep(0.05)
    await say(ws, "add")
    heard = await hear(ws)
    same((len(of(heard, "tool_result")), of(heard, "error")), (1, []))
    await ws.close()


@fact("openai", "gemini")
async def closes():
    """a provider that closes at once is a fatal error"""
    await fatal(await begin("closes"), "1008: no such thing")


@fact("openai", "gemini")
async def garbage():
    """so is one that talks nonsense, as text or as bytes"""
    for model in "garbage", "binary":
        await fatal(await begin(model), "no JSON object")


@fact("openai")
async def mute():
    """so is one that never answers"""
    started = time.monotonic()
    await fatal(await begin("mute"), "does not answer")
    assert time.monotonic() - started < 90


@fact("openai", "gemini")
async def ends():
    """after close the provider answers what was said, and then it is over"""
    ws = await begin()
    await speak(ws, 600)
    await say(ws, "add")
    await ws.send(json.dumps({"type": "close"}))
    heard = await hear(ws)
    while not of(heard, "tool_result"):
        heard += await hear(ws)
    same(await closed(ws), 1000)


# ---- OpenAI

@fact("openai")
async def session():
    """the session is asked for as the document and the client say"""
    ws = await begin(voice="cedar", vad={"start_sensitivity": "LOW", "silence_duration_ms": 700})
    await say(ws, "hello")
    heard = await hear(ws)
    same(joined(heard), "So be it")
    same(last_logged("path")["authorization"], "Bearer sk-secret")
    session = last_logged("session.update")["session"]
    same(session["tools"][0]["name"], "add")
    del session["tools"]
    pcm = {"type": "audio/pcm", "rate": 24000}
    same(session, {
        "type": "realtime", "instructions": "Be kind.", "output_modalities": ["audio"], "tool_choice": "auto",
        "audio": {"input": {"format": pcm, "transcription": {"model": "whisper-1"}, "turn_detection": {
            "type": "server_vad", "threshold": 0.7, "silence_duration_ms": 700}},
                  "output": {"format": pcm, "voice": "cedar", "speed": 1.25}}})
    await ws.close()


@fact("openai")
async def barge_in():
    """speech cuts the answer, and the model is told how much was heard"""
    ws = await begin()
    await say(ws, "long")
    while not isinstance(await ws.recv(), bytes):
        pass
    await asyncio.sleep(0.3)
    await speak(ws, 600)
    heard = await hear(ws, "interrupted")
    same(of(heard, "turn_complete"), [])
    same(joined(await hear(ws)), "Hi you")
    number = logged("path")[-1][0]
    cuts = []
    while not cuts:  # it is on its way
        await asyncio.sleep(0.05)
        cuts = [e for n, e in logged("conversation.item.truncate") if n == number]
    cut = cuts[0]
    assert 200 <= cut["audio_end_ms"] <= 2999, cut
    await ws.close()


@fact("openai")
async def errors():
    """an error that is none of the end is told, one that is ends the session"""
    ws = await begin()
    await say(ws, "warn")
    same(of(await hear(ws, "error"), "error"), [{"code": "hiccup", "message": "it hiccupped", "fatal": False}])
    await hear(ws)
    await say(ws, "fatal")
    await fatal(ws, "no money", code="insufficient_quota")
    await fatal(await begin("refuses"), "no such voice")


@fact("openai")
async def busy():
    """a response that something unseen is in the way of is asked for again"""
    ws = await begin()
    await say(ws, "busy")
    heard = await hear(ws)
    same((joined(heard), of(heard, "error")), ("So be it", []))
    await ws.close()


@fact("openai")
async def late():
    """what was heard is told once and whole, also when that is after the answer and the close"""
    ws = await begin("late", thread_id="late")
    await speak(ws, 600)
    await ws.send(json.dumps({"type": "close"}))
    heard = await hear(ws)
    same(of(heard, "input_transcript"), [{"text": "hello", "finished": False}])
    heard = [json.loads(m) for m in [await ws.recv(), await ws.recv()] if isinstance(m, str)]
    same([(e["type"], e["text"], e["finished"]) for e in heard],
         [("input_transcript", " there", False), ("input_transcript", "", True)])
    same(await closed(ws), 1000)


# ---- Gemini

@fact("gemini")
async def calling_turn():
    """the end of the turn that called is not that of the answer, which is waited for after a close"""
    ws = await begin()
    await say(ws, "add late")
    await ws.send(json.dumps({"type": "close"}))
    heard = await hear(ws)
    same(of(heard, "output_transcript"), [{"text": "Five", "finished": False}, {"text": "", "finished": True}])
    same(kinds(heard)[-3:], ["output_transcript", "output_transcript", "turn_complete"])
    same(await closed(ws), 1000)


@fact("gemini")
async def words():
    """a model that takes no turns is sent words"""
    ws = await begin("gemini-3.1-flash-live")
    await say(ws, "hello")
    heard = await hear(ws)
    same((joined(heard), of(heard, "error")), ("So be it", []))
    await ws.close()


@fact("gemini")
async def leave_early():
    """a text that was said before the provider leaves is answered before another connection is made"""
    ws = await begin()
    await say(ws, "leave early")
    heard = await hear(ws)
    same(joined(heard), "At last")
    same(len(of(heard, "session_update")), 1)
    await hear(ws, "session_update")
    await ws.close()


@fact("gemini")
async def setup():
    """the session is asked for as the document and the client say"""
    ws = await begin(voice="Kore", vad={"start_sensitivity": "LOW", "end_sensitivity": 0.9, "prefix_padding_ms": 20})
    await say(ws, "add")
    await hear(ws)
    assert last_logged("path")["path"].endswith("GenerativeService.BidiGenerateContent?key=g%2Fsecret")
    asked = last_logged("setup")["setup"]
    same(asked.pop("tools")[0]["functionDeclarations"][0]["name"], "add")
    same(asked, {
        "model": "models/good", "generationConfig": {
            "responseModalities": ["AUDIO"], "temperature": 0.5,
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}},
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "realtimeInputConfig": {"automaticActivityDetection": {
            "disabled": False, "startOfSpeechSensitivity": "START_SENSITIVITY_LOW",
            "endOfSpeechSensitivity": "END_SENSITIVITY_HIGH", "prefixPaddingMs": 20}},
        "sessionResumption": {}, "inputAudioTranscription": {}, "outputAudioTranscription": {}})
    await ws.close()


@fact("gemini")
async def barge_in_gemini():
    """speech cuts the answer"""
    ws = await begin()
    await say(ws, "long")
    while not isinstance(await ws.recv(), bytes):
        pass
    await speak(ws, 500)
    same(of(await hear(ws, "interrupted"), "turn_complete"), [])
    same(joined(await hear(ws)), "Hi you")
    await ws.close()


@fact("gemini")
async def cancelled():
    """the result of a call that was taken back is not sent"""
    ws = await begin()
    before = len(logged("toolResponse"))
    await say(ws, "cancel")
    heard = await hear(ws, "tool_result")
    heard += await hear(ws) if not of(heard, "turn_complete") else []
    same(joined(heard), "Never mind")
    await say(ws, "add")
    await hear(ws)
    same(len(logged("toolResponse")), before + 1)
    await ws.close()


@fact("gemini")
async def rotation():
    """before the provider leaves another connection goes on with the session's handle"""
    ws = await begin(thread_id="rotation")
    await say(ws, "leave")
    heard = await hear(ws, "go_away")
    handle = of(heard, "session_update")[0]["resumption_handle"]
    same(heard[-1][1], {"time_left": "1.5s"})
    await hear(ws, "session_update")
    same(last_logged("setup")["setup"]["sessionResumption"], {"handle": handle})
    await say(ws, "add")
    await hear(ws)
    await ws.close()


facts.tell()
