#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Many slow streams at the same time in one service, and how much memory all its processes take meanwhile.

STREAMS (1000) of `/slow STEPS MS` (20, 500) on builtin:demo; PROCESSES and THREADS must hold them all.  Prints TAP: all
streams are whole, and the sum of PSS stays below LIMIT_MIB (300).
"""
import asyncio
import json
import os
import resource
import shutil
import sys
import tempfile

from service import Service, become_subreaper, find_programs, need

STREAMS = int(os.environ.get("STREAMS", "1000"))
STEPS, MS = int(os.environ.get("STEPS", "20")), int(os.environ.get("MS", "500"))
PROCESSES, THREADS = os.environ.get("PROCESSES", "2"), os.environ.get("THREADS", "512")
LIMIT_MIB = int(os.environ.get("LIMIT_MIB", "300"))


async def stream(port, number, opened):
    """Reads a stream; returns whether it was whole, and the pauses between its pieces."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"messages": [{"role": "user", "content": "/slow %d %d" % (STEPS, MS)}],
                       "config": {"thread_id": "s%d" % number}}).encode()
    writer.write(b"POST /v1/graph/stream HTTP/1.0\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                 % (len(body), body))
    text = await reader.readuntil(b"\r\n\r\n")
    opened.append(number)
    text += await reader.read(-1)
    writer.close()
    return text.count(b'"delta":false') == STEPS + 1 and b'"status":"done"' in text[-600:]


async def measure(service):
    opened = []
    most, at_most = 0, {}
    before = sum(service.pss().values())
    tasks = []
    for number in range(STREAMS):
        tasks.append(asyncio.create_task(stream(service.port, number, opened)))
        if number % 50 == 49:
            await asyncio.sleep(0.05)
    together = 0
    while any(not task.done() for task in tasks):
        await asyncio.sleep(1)
        together = max(together, len(opened) - sum(task.done() for task in tasks))
        pss = await asyncio.to_thread(service.pss)
        if sum(pss.values()) > most:
            most, at_most = sum(pss.values()), pss
    whole = sum(task.exception() is None and task.result() for task in tasks)
    print("# at rest %.1f MiB; %d at the same time; at most %.1f MiB: %s" % (
        before / 1024, together, most / 1024, {role: "%.1f" % (kib / 1024) for role, kib in at_most.items()}))
    print("# threads %d" % sum(len(os.listdir("/proc/%d/task" % p.pid)) for p in service.processes("worker")))
    await asyncio.sleep(12)
    print("# at rest afterwards %.1f MiB" % (sum(service.pss().values()) / 1024))
    print("%sok 1 - all %d streams are whole (%d)" % ("" if whole == STREAMS else "not ", STREAMS, whole))
    good = together >= STREAMS * 9 // 10 and most <= LIMIT_MIB * 1024
    print("%sok 2 - together they took less than %d MiB" % ("" if good else "not ", LIMIT_MIB))
    return whole == STREAMS and good


def main():
    need("nginx", "websocketd")
    become_subreaper()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    work = tempfile.mkdtemp(prefix="agentgraph-streams.")
    os.chmod(work, 0o755)
    service = Service(work, os.path.join(work, "state"), os.path.join(find_programs(), "agentgraph"),
                      {"agent": "builtin:demo"}, {}, ["--processes", PROCESSES, "--threads", THREADS])
    try:
        good = service.start() and asyncio.run(measure(service))
    finally:
        service.stop()
        shutil.rmtree(work, ignore_errors=True)
    print("1..2")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
