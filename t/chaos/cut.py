#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A proxy between an instance and its database: cut.py LISTEN TARGET, both Unix sockets.

SIGUSR1: each connection loses its next answer, and ends with that; what was asked has been done.  SIGUSR2: nothing
passes, either way, until the next SIGUSR2.
"""
import asyncio
import signal
import sys


class Line:
    def __init__(self):
        self.losing = set()    # connections whose next answer is lost
        self.connections = set()
        self.open = asyncio.Event()
        self.open.set()

    def lose(self):
        self.losing = set(self.connections)

    def shut(self):
        if self.open.is_set():
            self.open.clear()
        else:
            self.open.set()

    async def pass_on(self, key, reader, writer, answers):
        while data := await reader.read(65536):
            await self.open.wait()
            if answers and key in self.losing:
                return
            writer.write(data)
            await writer.drain()

    async def take(self, target, reader, writer):
        await self.open.wait()
        try:
            there, to_there = await asyncio.open_unix_connection(target)
        except OSError:
            writer.transport.abort()
            return
        key = object()
        self.connections.add(key)
        ways = [asyncio.ensure_future(self.pass_on(key, reader, to_there, False)),
                asyncio.ensure_future(self.pass_on(key, there, writer, True))]
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for way in done:
            way.exception()
        self.connections.discard(key)
        self.losing.discard(key)
        for side in (writer, to_there):
            side.transport.abort() if side is to_there else side.close()


async def main(listen, target):
    line = Line()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, line.lose)
    loop.add_signal_handler(signal.SIGUSR2, line.shut)
    server = await asyncio.start_unix_server(lambda r, w: line.take(target, r, w), listen)
    await server.serve_forever()


asyncio.run(main(sys.argv[1], sys.argv[2]))
