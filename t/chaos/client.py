# SPDX-License-Identifier: ISC
"""A client's side of the service: requests, streams, sockets.  Nothing here raises: a status of 0 means no answer."""
import base64
import http.client
import json
import os
import socket
import struct


class Client:
    def __init__(self, port):
        self.port = port

    def request(self, method, path, body=None, headers=None, timeout=60):
        """(status, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def json(self, method, path, body=None, timeout=60):
        """(status, document); the document is None if the body is not JSON."""
        data = None if body is None else json.dumps(body).encode()
        status, text = self.request(method, path, data, {"Content-Type": "application/json"} if data else {}, timeout)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, None

    def upload(self, name, kind, data):
        boundary = "----chaos" + os.urandom(8).hex()
        head = ('--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\nContent-Type: %s\r\n\r\n'
                % (boundary, name, kind)).encode()
        body = head + data + ("\r\n--%s--\r\n" % boundary).encode()
        status, text = self.request("POST", "/v1/files/upload", body,
                                    {"Content-Type": "multipart/form-data; boundary=" + boundary})
        try:
            return status, json.loads(text)
        except ValueError:
            return status, None


def run_body(thread, message, text):
    return {"messages": [{"role": "user", "content": text, "message_id": message}], "config": {"thread_id": thread}}


def chunks_end(chunks, final):
    """Whether these are the chunks of a run that ended well, with that answer."""
    if not chunks or any(c.get("event") == "error" for c in chunks):
        return False
    done = chunks[-1].get("event") == "updates" and (chunks[-1].get("data") or {}).get("status") == "done"
    texts = [part.get("text") for c in chunks if c.get("event") == "message" and not c["message"]["delta"]
             for part in c["message"]["content"]]
    return done and final in texts


class Socket:
    """The turn socket, RFC 6455 by hand: text frames, and what a server may send besides."""

    def __init__(self, port, timeout=60):
        self.data = b""
        self.s = socket.create_connection(("127.0.0.1", port), timeout)
        self.s.sendall(("GET /v1/graph/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
                        % base64.b64encode(os.urandom(16)).decode()).encode())
        while b"\r\n\r\n" not in self.data:
            self._more()
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        self.status = int(head.split()[1])
        self.code = None  # of the close frame

    def _more(self):
        piece = self.s.recv(65536)
        if not piece:
            raise ConnectionError
        self.data += piece

    def _take(self, size):
        while len(self.data) < size:
            self._more()
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def _send(self, kind, data):
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x80 | kind]) + (bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size))
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def send(self, document):
        self._send(1, json.dumps(document).encode())

    def receive(self):
        """The next text frame as a document; None at the close."""
        text = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7f
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            data = self._take(size)
            kind = first & 0x0f
            if kind == 8:
                self.code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
                return None
            if kind == 9:
                self._send(10, data)
            elif kind in (0, 1):
                text += data
                if first & 0x80:
                    return json.loads(text)

    def turn(self, body):
        """All chunks of one run; a rejected frame has a single one, without metadata."""
        self.send(body)
        chunks = []
        while True:
            chunk = self.receive()
            if chunk is None:
                return chunks
            chunks.append(chunk)
            done = chunk.get("event") == "updates" and (chunk.get("data") or {}).get("status") == "done"
            if done or not chunk.get("metadata"):
                return chunks

    def close(self):
        try:
            self._send(8, struct.pack(">H", 1000))
            while self.receive() is not None:
                pass
        except (OSError, ValueError):
            pass
        self.s.close()
