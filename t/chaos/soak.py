#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A long run without faults: SOAK_REQUESTS (1000000) turns, and how much memory each process takes meanwhile.

Most are invokes on new and old threads; beside them SOAK_SOCKETS (2) WebSockets make turns, new ones every SOAK_SLICE
(10) seconds.  Prints samples of PSS, and by how much the anonymous memory of each role grew after the first tenth: the slope
times the turns.  Prints TAP: nothing failed; nothing grew by more than GROWTH (1024) KiB; at rest all is as small as it
was; no descriptors leak.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from service import HERE, Service, become_subreaper, find_programs, need

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "1000000"))
GROWTH = int(os.environ.get("GROWTH", "1024"))
SOCKETS = int(os.environ.get("SOAK_SOCKETS", "2"))
TURNS = os.path.join(find_programs(), "t/bench/turns")
SLICE = max(2, int(os.environ.get("SOAK_SLICE", "10")))  # seconds between two samples
ROOM_KIB = 8 << 10


def slice_of(service, number):
    """Runs one slice; returns the turns that were answered, and everything else that came."""
    sockets = [subprocess.Popen([TURNS, str(service.port), "socket", str(SLICE)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) for _ in range(SOCKETS)]
    done = subprocess.run(
        ["wrk", "-t1", "-c16", "-d%ds" % SLICE, "--timeout", "60s", "-s", os.path.join(HERE, "soak.lua"),
         "http://127.0.0.1:%d" % service.port],
        env=dict(os.environ, SOAK_SEED=str(number)), capture_output=True, text=True)
    requests = re.search(r"(\d+) requests in", done.stdout)
    bad = re.findall(r"^status \d+", done.stdout, re.M) + re.findall(r"Socket errors:.*", done.stdout)
    turns = int(requests.group(1)) if requests else 0
    for client in sockets:
        said = client.communicate()[0].strip()
        if client.returncode == 0:
            turns += int(float(said) * SLICE)
        else:
            bad.append(said)
    return turns, bad


def slope(points):
    """The slope of the points (x, y), by least squares."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    over = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / over if over else 0.0


def show(done, pss):
    print("# %8d  %s  all %d KiB" % (done, "  ".join("%s %d" % item for item in sorted(pss.items())), sum(pss.values())), flush=True)


def soak(service):
    slice_of(service, 0)  # so that every thread has worked once
    time.sleep(12)
    rest, descriptors = service.pss(), service.descriptors()
    show(0, rest)
    done, number, samples, bad, began = 0, 0, [], [], time.monotonic()
    while done < REQUESTS:
        number += 1
        answered, wrong = slice_of(service, number)
        if not answered:
            bad.append("nothing was answered")
            break
        done += answered
        bad += wrong
        show(done, service.pss())
        samples.append((done, service.pss("Pss_Anon")))
    print("# %d turns, %d a second" % (done, done / (time.monotonic() - began)))
    later = [sample for sample in samples if sample[0] > done / 10] or samples
    grown = {role: slope([(x, anon.get(role, 0)) for x, anon in later]) * done for role in rest}
    print("# anonymous memory after the first tenth grew by so many KiB: %s" % {r: round(g) for r, g in grown.items()})
    time.sleep(12)
    after = service.pss()
    show(done, after)
    return [(not bad, "every turn is answered: %s" % bad[:3]),
            (max(grown.values()) <= GROWTH, "after the first tenth nothing grows by more than %d KiB" % GROWTH),
            (sum(after.values()) <= sum(rest.values()) + ROOM_KIB, "at rest it is about as small as it was"),
            (all(n <= descriptors[r] + 8 for r, n in service.descriptors().items()), "and has as many descriptors")]


def main():
    need("nginx", "websocketd", "wrk")
    become_subreaper()
    work = tempfile.mkdtemp(prefix="agentgraph-soak.")
    os.chmod(work, 0o755)
    service = Service(work, os.path.join(work, "state"), os.path.join(find_programs(), "agentgraph"),
                      {"agent": "builtin:demo", "store": "builtin:store"}, {}, ["--processes", "2", "--threads", "16"])
    try:
        results = soak(service) if service.start() else [(False, "the service starts")]
    finally:
        service.stop()
        shutil.rmtree(work, ignore_errors=True)
    for number, (good, name) in enumerate(results, 1):
        print("%sok %d - %s" % ("" if good else "not ", number, name))
    print("1..%d" % len(results))
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
