#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""New programs under a running service: installed over the old ones, SIGHUP, and no request fails.  Prints TAP."""
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

from chaos import graph
from client import Client
from faults import Helpers
from load import Checker, Deleter, Ledger, Poster, Reader, Rememberer, SocketUser, Talker, Uploader
from service import Service, become_subreaper, find_programs, need, wait_for

PROGRAMS = ["agentgraph", "agentgraph-fcgi", "agentgraph-follow", "agentgraph-relay", "agentgraph-runner", "agentgraph-ws", "agentgraph-extract"]
ROLES = ("supervisor", "worker", "relay", "follower", "helper")

results = []


def ok(good, name, *details):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name), flush=True)
    for detail in details if not good else ():
        print("#   %s" % (detail,))


def install(source, target, names=PROGRAMS):
    """Installs as install(1) and package managers do: first under another name, so that nobody sees half a file."""
    for name in names:
        if os.path.exists(os.path.join(source, name)):
            new = os.path.join(target, name + ".new")
            shutil.copy2(os.path.join(source, name), new)
            os.rename(new, os.path.join(target, name))


def old_programs(service):
    """Processes whose program is no longer the file at its path."""
    found = []
    for process in service.tree():
        if process.role in ROLES:
            try:
                if os.readlink("/proc/%d/exe" % process.pid).endswith("(deleted)"):
                    found.append((process.role, process.pid))
            except OSError:
                pass
    return found


class Visitor(SocketUser):
    """Uses sockets, and notes how its connections ended."""
    codes = set()

    def closed(self, code):
        Visitor.codes.add(code)


def crowd(port, ledger, sockets, ended):
    kinds = [Talker] * 4 + [Poster, Deleter, Uploader, Rememberer, Reader]
    people = [kind(n, port, ledger, ended, "upgrade") for n, kind in enumerate(kinds)]
    return people + [Visitor(n, port, sockets, ended, "upgrade") for n in (20, 21)]


def upgrade(service, bin_directory, build):
    ledger, sockets, ended = Ledger(), Ledger(), threading.Event()
    people = crowd(service.port, ledger, sockets, ended)
    pid = service.process.pid
    for person in people:
        person.start()
    time.sleep(1.5)

    install(build, bin_directory)
    ok(len(old_programs(service)) >= 4, "after an installation the old programs run on")
    os.kill(pid, signal.SIGHUP)
    left = wait_for(30, lambda: not old_programs(service)) or old_programs(service)
    ok(left is True, "after SIGHUP they are replaced", left)
    ok(service.process.poll() is None and "this is agentgraph" in service.log(), "the supervisor is the same process")
    time.sleep(1)

    with open(os.path.join(bin_directory, "agentgraph.new"), "w") as f:
        f.write("#!/bin/sh\nexit 1\n")
    os.chmod(f.name, 0o755)
    os.rename(f.name, os.path.join(bin_directory, "agentgraph"))
    os.kill(pid, signal.SIGHUP)
    ok(wait_for(10, lambda: "goes on with what it has" in service.log()), "a new program that does not work is refused")
    install(build, bin_directory)
    os.kill(pid, signal.SIGHUP)
    os.kill(pid, signal.SIGHUP)
    left = wait_for(30, lambda: not old_programs(service)) or old_programs(service)
    ok(left is True, "the next one is taken", left)
    time.sleep(1.5)
    ended.set()
    for person in people:
        person.join(60)

    ok(set(ledger.counts) <= {200, 404} and not ledger.odd, "no request failed, of %d" % sum(ledger.counts.values()),
       ledger.counts, ledger.odd[:5])
    ok(sockets.counts.get(101, 0) > 3 and not sockets.odd, "sockets are opened all the time", sockets.counts, sockets.odd[:5])
    ok(Visitor.codes <= {None, 1001}, "one that is closed is told to come again", Visitor.codes)
    for name, each in (("requests", ledger), ("sockets", sockets)):
        checker = Checker(Client(service.port), each)
        ok(wait_for(20, lambda: not checker.running()), "nothing of the %s runs on" % name)
        # Both have used the thread "shared".
        wrong = [w for w in checker.check() if "nobody sent" not in w]
        ok(not wrong, "all that was acknowledged of the %s is there" % name, wrong[:10])
    counts = service.counts()
    ok(counts.get("worker") == 2 and counts.get("relay") == 1 and counts.get("follower") == 1, "as many processes run as before", counts)
    ok(service.stop() == 0, "the service stops as it should")


def main():
    need("nginx", "websocketd")
    become_subreaper()
    work = tempfile.mkdtemp(prefix="agentgraph-upgrade.")
    os.chmod(work, 0o755)
    bin_directory, build = os.path.join(work, "bin"), find_programs()
    os.mkdir(bin_directory)
    install(build, bin_directory)
    helpers = Helpers(work, redis=False)
    helpers.start()
    with open(os.path.join(work, "graph.json"), "w") as f:
        json.dump(graph(helpers.port), f)
    service = Service(work, os.path.join(work, "state"), os.path.join(bin_directory, "agentgraph"),
                      {"agent": "graph.json:chaos", "store": "builtin:store", "ag_ui": {"enabled": True}},
                      {"CHAOS_KEY": "none"}, ["--processes", "2", "--threads", "32", "--drain", "10"])
    try:
        ok(service.start(), "the service starts")
        upgrade(service, bin_directory, build)
    finally:
        if service.process.poll() is None:
            service.stop()
        helpers.stop()
        if not all(results):
            print("\n".join("#   log: " + line for line in service.log().splitlines()[-30:]))
        shutil.rmtree(work, ignore_errors=True)
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
