#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A round robin: pair.py LISTEN TARGET...

Each connection to LISTEN goes to the next TARGET: paths of Unix sockets, or HOST:PORT; HOST:0 is a port of the kernel's
choice.  What it listens on is said on standard output.  A target that is not there is passed over.
"""
import asyncio
import itertools
import select
import sys


async def dial(targets, turn):
    for _ in targets:
        where = targets[next(turn) % len(targets)]
        try:
            if where.startswith("/"):
                return await asyncio.open_unix_connection(where)
            return await asyncio.open_connection(*where.rsplit(":", 1))
        except OSError:
            pass
    raise ConnectionError


def is_gone(socket):
    """Whether who is behind it has closed it, and not only its own way."""
    poll = select.poll()
    poll.register(socket.fileno(), 0)
    return any(events & select.POLLHUP for _, events in poll.poll(0))


async def pass_on(reader, writer, socket):
    """One way, to its end; whoever is gone ends both."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if is_gone(socket):
            writer.transport.abort()
        else:
            writer.write_eof()
    except OSError:
        writer.transport.abort()


async def serve(listen, targets):
    turn = itertools.count()

    async def take(reader, writer):
        try:
            to_reader, to_writer = await dial(targets, turn)
        except OSError:
            writer.transport.abort()
            return
        there = asyncio.ensure_future(pass_on(reader, to_writer, writer.get_extra_info("socket")))
        await pass_on(to_reader, writer, to_writer.get_extra_info("socket"))
        there.cancel()  # who has answered is asked no more
        for side in (writer, to_writer):
            side.close()

    if listen.startswith("/"):
        server = await asyncio.start_unix_server(take, listen)
    else:
        host, port = listen.rsplit(":", 1)
        server = await asyncio.start_server(take, host, int(port))
        listen = "%s:%d" % server.sockets[0].getsockname()[:2]
    print(listen, flush=True)
    await server.serve_forever()


asyncio.run(serve(sys.argv[1], sys.argv[2:]))
