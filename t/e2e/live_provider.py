# SPDX-License-Identifier: ISC
"""A stand-in for OpenAI Realtime and Gemini Live with audio, written from the providers' public documentation.

live_provider.py LOG [CERTIFICATE KEY] prints its port.  The model's name says how it behaves.  Each line of LOG is the
number of a connection and what came on it.
"""
import array
import asyncio
import base64
import http
import json
import math
import ssl
import sys
import urllib.parse

import websockets

LOG = open(sys.argv[1], "a", buffering=1, encoding="utf-8")
COUNT = 0
HALF_SECOND = 24000  # bytes


def tone(ms, hz=24000):
    samples = array.array("h", (int(8000 * math.sin(2 * math.pi * 440 * i / hz)) for i in range(ms * hz // 1000)))
    return base64.b64encode(samples.tobytes()).decode()


class Peer:
    def __init__(self, ws):
        global COUNT
        COUNT += 1
        self.ws, self.number = ws, COUNT
        self.note({"path": ws.path, "authorization": ws.request_headers.get("Authorization")})

    def note(self, event):
        LOG.write(json.dumps([self.number, event]) + "\n")

    async def send(self, *events):
        for event in events:
            await self.ws.send(json.dumps(event))

    async def events(self):
        async for message in self.ws:
            event = json.loads(message)
            self.note(event)
            yield event

    async def misbehave(self, how):
        """Misbehaves as the model's name says, the same for both protocols; True if there is no more to do."""
        if how == "closes":
            await self.ws.close(1008, "no such thing")
        elif how == "garbage":
            await self.ws.send("{not json")
        elif how == "binary":
            await self.ws.send(bytes(range(256)))
        elif how == "mute":
            await asyncio.sleep(3600)
        else:
            return False
        await self.ws.wait_closed()
        return True


async def openai(peer, model):
    if await peer.misbehave(model):
        return
    heard, responses, called = 0, 0, False
    await peer.send({"type": "session.created", "session": {"type": "realtime"}})

    def created(request=None):
        nonlocal responses
        responses += 1
        return {"type": "response.created", "response": {"id": f"resp_{responses}", "status": "in_progress",
                                                         "metadata": (request or {}).get("metadata")}}

    def done(status="completed", **more):
        return {"type": "response.done", "response": {"id": f"resp_{responses}", "status": status, **more}}

    def said(text, audio):
        where = {"response_id": f"resp_{responses}", "item_id": f"item_{responses}", "output_index": 0,
                 "content_index": 0}
        words = [{"type": "response.output_audio_transcript.delta", "delta": word, **where} for word in text.split("|")]
        sound = [{"type": "response.output_audio.delta", "delta": tone(audio), **where}] if audio else []
        return words + sound + [{"type": "response.output_audio_transcript.done",
                                 "transcript": text.replace("|", ""), **where}]

    async for event in peer.events():
        kind = event["type"]
        if kind == "session.update":
            if model == "refuses":
                await peer.send({"type": "error", "error": {"type": "invalid_request_error", "code": "invalid_value",
                                                            "message": "no such voice"}})
                continue
            await peer.send({"type": "session.updated", "session": event["session"]})
            manual = event["session"]["audio"]["input"]["turn_detection"] is None
        elif kind == "input_audio_buffer.append":
            pcm = base64.b64decode(event["audio"])
            heard += len(pcm) if any(pcm) else 0
            if manual or heard < HALF_SECOND:
                continue
            heard -= HALF_SECOND
            await peer.send({"type": "input_audio_buffer.speech_started", "audio_start_ms": 0, "item_id": "item_u"})
            if called == "speaking":
                called = False
                await peer.send(done("cancelled", status_details={"reason": "turn_detected"}))
            await peer.send({"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 500, "item_id": "item_u"},
                            {"type": "input_audio_buffer.committed", "item_id": "item_u"})
            written = "conversation.item.input_audio_transcription."
            whole = {"type": written + "completed", "item_id": "item_u", "transcript": "hello there"}
            if model == "late":  # the transcript comes while it answers
                await peer.send(created(), {"type": written + "delta", "item_id": "item_u", "delta": "hello"},
                                *said("Hi |you", 500), done())
                await asyncio.sleep(1)
                await peer.send({"type": written + "delta", "item_id": "item_u", "delta": " there"}, whole)
            else:
                await peer.send(whole, created(), *said("Hi |you", 500), done())
        elif kind == "input_audio_buffer.commit":
            await peer.send({"type": "input_audio_buffer.committed", "item_id": "item_u"})
            peer.note({"committed": heard})
            heard = 0
        elif kind == "conversation.item.create":
            item = event["item"]
            text = item["content"][0]["text"] if item["type"] == "message" else ""
            if text == "break":
                await peer.send(created(), *said("I was ab", 0)[:1])
                await peer.ws.close(1011, "internal error")
            elif text == "warn":
                await peer.send({"type": "error", "error": {"type": "server_error", "code": "hiccup",
                                                            "message": "it hiccupped"}})
            elif text == "fatal":
                await peer.send({"type": "error", "error": {"type": "invalid_request_error",
                                                            "code": "insufficient_quota", "message": "no money"}})
            called = {"long": "long", "add": "add", "busy": "busy"}.get(text, called)
        elif kind == "response.create" and called == "busy":
            called = False
            await peer.send({"type": "error", "error": {
                "type": "invalid_request_error", "code": "conversation_already_has_active_response",
                "message": "Conversation already has an active response", "event_id": event.get("event_id")}})
        elif kind == "response.create":
            await peer.send(created(event.get("response")))
            if called == "long":
                called = "speaking"
                await peer.send(*said("A long |story", 3000)[:-1])
            elif called == "add":
                called = False
                await peer.send({"type": "response.output_item.done", "item": {
                    "type": "function_call", "status": "completed", "name": "add", "call_id": "call_1",
                    "arguments": "{\"a\": 2, \"b\": 3}"}}, done())
            else:
                await peer.send(*said("So be |it", 100), done())


async def gemini(peer, _):
    heard, ends_late = 0, False
    async for event in peer.events():
        if "setup" in event:
            setup = event["setup"]
            model = setup["model"].split("/")[1]
            if await peer.misbehave(model):
                return
            if setup["sessionResumption"].get("handle") == "stale":
                await peer.ws.close(1008, "session not found")
                return
            manual = setup["realtimeInputConfig"]["automaticActivityDetection"]["disabled"]
            await peer.ws.send(json.dumps({"setupComplete": {}}).encode())
            await peer.send({"sessionResumptionUpdate": {"newHandle": f"handle-{peer.number}", "resumable": True}})
        elif "clientContent" in event and model.startswith("gemini-3.1"):
            await peer.ws.close(1007, "Request contains an invalid argument")
        elif "text" in event.get("realtimeInput", {}):
            await peer.send(*spoken("So be it"), END_OF_TURN)
        elif "clientContent" in event:
            text = event["clientContent"]["turns"][0]["parts"][0]["text"]
            if text == "leave":
                await peer.send({"serverContent": {"outputTranscription": {"text": "Yes"}}},
                                {"serverContent": {"turnComplete": True}}, {"goAway": {"timeLeft": "1.5s"}})
            elif text == "leave early":  # before the answer
                await peer.send({"goAway": {"timeLeft": "20s"}})
                await asyncio.sleep(1)
                await peer.send(*spoken("At last"), END_OF_TURN)
            elif text in ("add", "add late"):
                ends_late = text == "add late"
                await peer.send({"toolCall": {"functionCalls": [{"id": "c1", "name": "add", "args": {"a": 2, "b": 3}}]}})
            elif text == "cancel":
                await peer.send({"toolCall": {"functionCalls": [{"id": "c2", "name": "add", "args": {"a": 1, "b": 1}}]}},
                                {"toolCallCancellation": {"ids": ["c2"]}},
                                {"serverContent": {"outputTranscription": {"text": "Never mind"}}},
                                {"serverContent": {"turnComplete": True}})
            elif text == "long":
                await peer.send({"serverContent": {"modelTurn": {"parts": [{"inlineData": {
                    "mimeType": "audio/pcm;rate=24000", "data": tone(3000)}}]}}})
            elif text == "break":
                await peer.ws.close(1011, "internal error")
        elif "toolResponse" in event:
            if ends_late:  # as some models do: the turn that called ends, and the answer takes its time
                await peer.send({"serverContent": {"outputTranscription": {"finished": True}}}, END_OF_TURN)
                await asyncio.sleep(4)
            await peer.send(*spoken("Five"), END_OF_TURN)
        elif "audio" in event.get("realtimeInput", {}):
            heard += len(base64.b64decode(event["realtimeInput"]["audio"]["data"]))
            if not manual and heard >= 16000:
                heard = 0
                await answer(peer)
        elif "activityEnd" in event.get("realtimeInput", {}):
            await answer(peer)


END_OF_TURN = {"serverContent": {"turnComplete": True}}


def spoken(text):
    return ({"serverContent": {"modelTurn": {"parts": [{"inlineData": {
        "mimeType": "audio/pcm;rate=24000", "data": tone(100)}}]}}},
            {"serverContent": {"outputTranscription": {"text": text}}})


async def answer(peer):
    await peer.send({"serverContent": {"interrupted": True}}, {"serverContent": {"turnComplete": True}},
                    {"serverContent": {"inputTranscription": {"text": "hello"}}},
                    {"serverContent": {"modelTurn": {"parts": [{"inlineData": {
                        "mimeType": "audio/pcm;rate=24000", "data": tone(500)}}]}}},
                    {"serverContent": {"outputTranscription": {"text": "Hi you"}}},
                    {"serverContent": {"generationComplete": True}}, {"serverContent": {"turnComplete": True}})


async def serve(ws, path):
    url = urllib.parse.urlsplit(path)
    model = urllib.parse.parse_qs(url.query).get("model", [""])[0]
    try:
        await (openai if url.path == "/v1/realtime" else gemini)(Peer(ws), model)
    except websockets.ConnectionClosed:
        pass


async def moved(path, headers):
    """What is below /moved is below /v1 now."""
    if path.startswith("/moved/"):
        return http.HTTPStatus.FOUND, [("Location", f"http://{headers['Host']}/v1/{path[7:]}")], b""
    return None


async def main():
    context = None
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
    async with websockets.serve(serve, "127.0.0.1", 0, ssl=context, max_size=None, process_request=moved) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
