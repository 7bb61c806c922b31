#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The whole service under mixed load while processes are killed and the machine misbehaves; then everything that was
acknowledged is looked for.

CHAOS_SECONDS (600) is how long, CHAOS_SEED which faults in which order; the seed is printed, and the same one makes the
same sequence again.  CHAOS_PAUSE is the mean pause between two faults.  Prints TAP.
"""
import collections
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from client import Client
from faults import CONDITIONS, KILLS, Faults, Helpers
from guests import Guest, Historian, check_history
from load import Checker, Ledger, Pinger, orphaned_bytes, users
from runs import ATTEMPTS, SECRET, Ends, Follower, Receiver, Submitter, check_streams, check_told
from service import HERE, Service, become_subreaper, compile_shared, descendants, find_programs, kill, need, wait_for

SECONDS = int(os.environ.get("CHAOS_SECONDS", "600"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or int.from_bytes(os.urandom(3), "big")
PAUSE = float(os.environ.get("CHAOS_PAUSE", "2"))
DRAIN = 5

# How much larger a service may be afterwards, by what caches and the allocator keep; the processes compared are as young.
# A sanitizer pads what is allocated, and keeps what was freed for a while (as much as ASAN_OPTIONS below say).
ROOM_KIB = (512 if "-fsanitize=" in os.environ.get("CFLAGS", "") else 48) << 10
ROOM_DESCRIPTORS = 32 * 3 * 2  # as many threads as work at the same time connect to three databases, by two files, and keep that

results = []


def say(text):
    print("# " + text, flush=True)


def ok(good, name, *details):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name), flush=True)
    if not good:
        for detail in details:
            for line in detail if isinstance(detail, (list, set)) else [detail]:
                say("  " + str(line))
    return good


def graph(port):
    tools = [{"mcp": {"command": [sys.executable, os.path.join(HERE, "mcp.py")]}}]
    model = {"kind": "model", "provider": "openai", "model": "mock", "base_url": "http://127.0.0.1:%d/v1" % port,
             "retries": 0, "api_key_env": "CHAOS_KEY", "tools": "tools"}
    fork = {
        "nodes": {
            "left": {"kind": "exec", "command": os.path.join(HERE, "agent.sh"), "input": "last", "timeout": 10},
            "right": {"kind": "reply", "text": "right"},
            "join": {"kind": "reply", "text": "joined: {{user_text}}"},
        },
        "edges": [{"from": "START", "to": ["left", "right"], "join": "join"}, {"from": "left", "to": "join"},
                  {"from": "right", "to": "join"}, {"from": "join", "to": "END"}]}
    return {"fork": fork, "chaos": {
        "state": {"fields": {"notes": {"type": "array", "reducer": "append"}, "marks": {"type": "object", "reducer": "merge"}}},
        "nodes": {
            "echo": {"kind": "reply", "text": "echo: {{user_text}}"},
            "note": {"kind": "reply", "text": "noted", "update": {"notes": "{{user_text}}"}},
            "exec": {"kind": "exec", "command": os.path.join(HERE, "agent.sh"), "input": "last", "timeout": 10},
            "model": model,
            "tools": {"kind": "tools", "tools": tools},
            "fork": {"kind": "graph", "graph": "fork", "messages": "own"},
        },
        "edges": [
            {"from": "START", "if": [
                {"when": {"user_text": {"starts_with": "/note "}}, "to": "note"},
                {"when": {"user_text": {"matches": "^/(exec|slow) "}}, "to": "exec"},
                {"when": {"user_text": {"starts_with": "/fork "}}, "to": "fork"},
                {"when": {"user_text": {"matches": "^/(model|tool) "}}, "to": "model"}], "else": "echo"},
            {"from": "fork", "to": "END"},
            {"from": "model", "if": [{"when": {"tool_calls": True}, "to": "tools"}], "else": "END"},
            {"from": "tools", "to": "model"},
            {"from": "echo", "to": "END"}, {"from": "note", "to": "END"}, {"from": "exec", "to": "END"}]}}


def configuration(helpers, receiver):
    on = {"enabled": True}
    config = {"agent": "graph.json:chaos", "store": "builtin:store", "ag_ui": on, "openai": on, "mcp": on, "langgraph": on, "a2a": on,
              "runs": {"background": 4, "max_attempts": ATTEMPTS, "webhooks": [receiver.url]}}
    if helpers.socket:
        url = "unix://" + helpers.socket
        config.update({"cache": url, "rate_limit": {
            "backend": "cache", "cache": url, "requests": 1000000, "window": 5, "by": "ip", "fail_open": True}})
    return config


class Disk:
    """A small file system of its own for the state, where that can be mounted."""

    def __init__(self, work):
        self.path = os.path.join(work, "disk")
        os.mkdir(self.path)
        self.mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=%dm" % (512 + 4 * SECONDS), "none", self.path], stderr=subprocess.DEVNULL).returncode == 0

    def release(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.path])


class Storm(threading.Thread):
    """Causes faults of one kind, one after the other."""

    def __init__(self, faults, names, ended, seed, pause):
        super().__init__(daemon=True)
        self.faults, self.names, self.ended, self.pause = faults, names, ended, pause
        self.random = random.Random(seed)
        self.done = collections.Counter()

    def run(self):
        while not self.ended.wait(self.random.uniform(0.1, 2 * self.pause)):
            name = self.random.choice(self.names)
            self.done[name] += 1
            self.faults.act(name)


def reap_strays(service, helpers):
    """Reaps dead processes whose parent died before them."""
    known = helpers.pids() | {service.process.pid}
    for entry in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/children" % entry) as f:
            children = f.read().split()
        for pid in map(int, children):
            if pid not in known:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    pass


def strays(service, helpers):
    """Processes below this one that are not part of the service that runs now."""
    reap_strays(service, helpers)
    own = {service.process.pid} | {p.pid for p in service.processes()} | helpers.pids()
    return ["%d %s" % (p.pid, p.command()) for p in descendants(os.getpid()) if p.pid not in own]


class Level:
    """How much memory and how many descriptors the service has at rest."""

    def __init__(self, service):
        self.counts, self.descriptors = service.counts(), service.descriptors()
        self.pss, self.locks = service.pss(), service.shared_locks()

    def __str__(self):
        return "%s; PSS %d KiB %s; most descriptors %s; slots %d" % (
            self.counts, sum(self.pss.values()), self.pss, self.descriptors, self.locks)


def rested(service, before=None):
    """Waits until the helpers and executables of the load are gone, and the workers have given back what they needed.
    Helpers whose websocketd was killed are nobody's children any more: their slots tell of them."""
    wait_for(DRAIN + 55, lambda: not any(p.role in ("helper", "sh", "agent.sh", "sleep") for p in service.processes()) and
             (before is None or service.shared_locks() <= before.locks))
    time.sleep(2)
    wait_for(60, lambda: before is None or fits(before, Level(service)))  # workers look for rest every five seconds
    return Level(service)


def fits(before, after):
    return sum(after.pss.values()) <= sum(before.pss.values()) + ROOM_KIB


def run_users(service, ledger, seconds, seed, storms=()):
    ended = threading.Event()
    pinger = Pinger(service.port, ended)
    crowd = users(service.port, ledger, ended, seed)
    late = [Submitter] * 2 + [Follower, Historian, Guest]
    crowd += [kind(len(crowd) + n, service.port, ledger, ended, seed) for n, kind in enumerate(late)]
    for thread in crowd + [pinger]:
        thread.start()
    end = time.monotonic() + seconds
    calm = threading.Event()
    for storm in storms:
        storm.ended = calm
        storm.start()
    while time.monotonic() < end:
        time.sleep(min(5, max(0.1, end - time.monotonic())))
    calm.set()
    for storm in storms:
        storm.join(120)
    for storm in storms:
        storm.faults.restore()
    answered = wait_for(60, lambda: Client(service.port).request("GET", "/ping", timeout=5)[0] == 200)
    time.sleep(1)
    ended.set()
    hanging = [type(user).__name__ for user in crowd if user.join(150) or user.is_alive()]
    return answered, hanging, pinger.longest


def compare(before, after):
    ok(after.counts.get("worker") == before.counts.get("worker") and
       all(after.counts.get(role, 0) <= before.counts.get(role, 0) + (role == "python3") * 2 for role in after.counts),
       "there are as many processes as before", before.counts, after.counts)
    ok(all(after.descriptors[r] <= before.descriptors.get(r, 0) + ROOM_DESCRIPTORS for r in after.descriptors),
       "they have as many descriptors", before.descriptors, after.descriptors)
    ok(after.locks == before.locks, "they hold as many slots of the shared memory", before.locks, after.locks)
    ok(fits(before, after), "and as much memory, about", before.pss, after.pss)


def look_for_ends(ends, ledger, when, seconds):
    left = wait_for(seconds, lambda: not ends.left()) or ends.left()
    ok(left is True, "%s: every run that was queued has come to an end" % when, left)
    ends.acknowledge()
    say("%d queued runs: %s" % (len(ends.status), dict(collections.Counter(ends.reason.values()))))


def look_at_streams(client, ends, ledger, when):
    wrong = check_streams(client, ledger)
    ok(not wrong, "%s: %d streams have neither gap nor repetition" % (when, len(ledger.streams)), wrong[:10], len(wrong))
    wrong = check_told(client, ledger)
    ok(not wrong, "%s: streams tell all that their runs have made" % when, wrong[:10], len(wrong))
    left = wait_for(60, lambda: not ends.untold()) or ends.untold()
    ok(left is True, "%s: of each run somebody was told" % when, left[:10] if left is not True else "")
    wrong = ends.check()
    ok(not wrong, "%s: under one id" % when, wrong[:10], len(wrong))


def look(service, ledger, receiver, when):
    client = Client(service.port)
    ends, checker = Ends(client, ledger, receiver), Checker(client, ledger)
    look_for_ends(ends, ledger, when, 120)
    left = wait_for(40, lambda: not checker.running()) or checker.running()
    ok(left is True, "%s: nothing runs for ever" % when, left)
    wrong = checker.check()
    ok(not wrong, "%s: everything acknowledged is there, once and whole, and nothing else" % when, wrong[:20], len(wrong))
    look_at_streams(client, ends, ledger, when)
    wrong = check_history(client, ledger)
    ok(not wrong, "%s: %d checkpoints are as they were" % (when, len(ledger.history)), wrong[:10], len(wrong))


def databases(state):
    verdicts = {}
    for name in ("threads.db", "files.db", "store.db"):
        with sqlite3.connect("file:%s?mode=ro" % os.path.join(state, name), uri=True) as db:
            verdicts[name] = db.execute("PRAGMA integrity_check").fetchone()[0]
    return verdicts


def chaos(work, disk):
    import json
    state = os.path.join(disk.path, "state")
    helpers = Helpers(work, redis=bool(shutil.which("redis-server")))
    helpers.start()
    receiver = Receiver()
    Submitter.hook = receiver.url
    with open(os.path.join(work, "graph.json"), "w") as f:
        json.dump(graph(helpers.port), f)
    control = os.path.join(work, "control")
    with open(control, "wb") as f:
        f.write(bytes(24))
    library = os.path.join(work, "disturb.so")
    compile_shared(os.path.join(HERE, "disturb.c"), library)
    environment = {"LD_PRELOAD": library, "CHAOS_CONTROL": control, "MEDIA_STORAGE_PATH": os.path.join(disk.path, "uploads"),
                   "CHAOS_KEY": "none", "ASAN_OPTIONS": "verify_asan_link_order=0:quarantine_size_mb=8", "MEDIA_MAX_SIZE_MB": "2",
                   "WEBHOOK_SECRET": SECRET}
    service = Service(work, state, os.path.join(find_programs(), "agentgraph"), configuration(helpers, receiver), environment,
                      ["--processes", "2", "--threads", "32", "--drain", str(DRAIN)])
    try:
        storm(service, helpers, receiver, control, disk, state, os.path.join(disk.path, "uploads"))
    finally:
        if service.process and service.process.poll() is None:
            service.stop()
        helpers.stop()
        wait_for(DRAIN + 10, lambda: not strays(service, helpers))
        for stray in descendants(os.getpid()):
            kill(stray.pid)
        if not all(results):
            keep = os.environ.get("CHAOS_LOG")
            if keep:
                shutil.copy(os.path.join(work, "serve.err"), keep)
            for line in service.log().splitlines()[-40:]:
                say("  log: " + line)


def storm(service, helpers, receiver, control, disk, state, uploads):
    if not ok(service.start(), "the service starts"):
        return
    ledger = Ledger()
    answered, hanging, _ = run_users(service, ledger, min(10, max(4, SECONDS / 20)), "calm")
    ok(answered and not hanging and not ledger.odd, "it serves a mixed load", hanging, ledger.odd[:10])
    calm = sum(ledger.counts.values())
    before = rested(service)
    say("at rest before: %s" % before)

    say("seed %d, %d seconds, %s" % (SEED, SECONDS, "on a small disk" if disk.mounted else "no small disk (needs root)"))
    faults = Faults(service, helpers, random.Random(SEED), control, disk.path if disk.mounted else None, say)
    ledger.clock_steps, ledger.expires = (lambda: faults.steps), True
    storms = [Storm(faults, KILLS, None, SEED, PAUSE), Storm(faults, CONDITIONS, None, SEED + 1, 1.5 * PAUSE)]
    answered, hanging, outage = run_users(service, ledger, SECONDS, SEED, storms)
    say("faults: %s" % dict(sum((s.done for s in storms), collections.Counter())))
    say("answers by status: %s; acknowledged writes: %d; longest silence %.1f s" % (
        dict(sorted(ledger.counts.items())), ledger.acknowledged(), outage))
    ok(answered, "the service answers afterwards", service.process.poll())
    ok(not faults.lost, "what died came back", faults.lost)
    ok(not hanging, "no client hangs", hanging)
    ok(not ledger.odd, "no answer is odd", sorted(set(ledger.odd))[:20], len(ledger.odd))
    ok(ledger.counts.get(200, 0) > calm, "most of it was served all the same", ledger.counts)
    look(service, ledger, receiver, "after the storm")
    after = rested(service, before)
    say("at rest after: %s" % after)
    compare(before, after)
    left = wait_for(DRAIN + 10, lambda: not strays(service, helpers)) or strays(service, helpers)
    ok(left is True, "no process is left over", left)

    ok(service.stop() == 0, "the service stops as it should")
    left = wait_for(DRAIN + 10, lambda: not strays(service, helpers)) or strays(service, helpers)
    ok(left is True, "with all its processes", left)
    ok(set(databases(state).values()) == {"ok"}, "its databases are sound", databases(state))
    ok(service.start(), "it starts again")
    look(service, ledger, receiver, "after a restart")
    unknown, lost = orphaned_bytes(uploads, os.path.join(state, "files.db"))
    ok(not unknown and not lost, "every file has its record, and every record its file", unknown, lost)
    ok(service.stop() == 0, "and stops")


def main():
    need("nginx", "websocketd", "cc")
    become_subreaper()
    work = tempfile.mkdtemp(prefix="agentgraph-chaos.")
    os.chmod(work, 0o755)
    disk = Disk(work)
    try:
        chaos(work, disk)
    finally:
        disk.release()
        shutil.rmtree(work, ignore_errors=True)
    print("1..%d" % len(results))
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
