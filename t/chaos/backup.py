#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Backups of a service under load, each restored by serving from it: what was acknowledged before the backup began is
there, and nothing that nobody wrote.  Prints TAP."""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from chaos import graph
from client import Client
from faults import Helpers
from load import Checker, Ledger, users
from service import Service, become_subreaper, find_programs, need, wait_for

results = []


def ok(good, name, *details):
    results.append(bool(good))
    print("%sok %d - %s" % ("" if good else "not ", len(results), name), flush=True)
    for detail in details if not good else ():
        print("#   %s" % (detail,))


def required(then, now):
    """What a backup that was begun with this earlier ledger must have, and may have."""
    ledger = Ledger()
    ledger.turns = {m: t[:3] + [m in then.turns and then.turns[m][3]] for m, t in now.turns.items()}
    ledger.posted = {m: [p[0], m in then.posted and then.posted[m][1]] for m, p in now.posted.items()}
    ledger.marks = {k: then.marks.get(k, False) for k in now.marks}
    ledger.files = then.files
    for memory, allowed in now.memories.items():
        unchanged = then.memories.get(memory) == allowed
        ledger.memories[memory] = allowed if unchanged else {None} | now.wrote[memory]
    ledger.deleted = then.deleted
    return ledger


def snapshot(ledger):
    """Copies the ledger.  Writers go on meanwhile, so the copy may have to be tried again."""
    then = Ledger()
    for name in ("turns", "posted", "marks", "files", "memories", "deleted"):
        while True:
            try:
                setattr(then, name, copy.deepcopy(getattr(ledger, name)))
                break
            except RuntimeError:
                continue
    return then


def back_up(service, uploads, target):
    """Backs up as doc/operating.md says: the databases, then the files."""
    done = subprocess.run([service.program, "backup", "--state", service.state, "--config", service.config, target],
                          env=dict(os.environ, **service.environment), cwd=service.work, capture_output=True, text=True)
    shutil.copytree(uploads, target + ".uploads", ignore=shutil.ignore_patterns("incoming"))
    return done.returncode == 0, done.stdout + done.stderr


def main():
    need("nginx", "websocketd")
    become_subreaper()
    work = tempfile.mkdtemp(prefix="agentgraph-backup.")
    os.chmod(work, 0o755)
    helpers = Helpers(work, redis=False)
    helpers.start()
    with open(os.path.join(work, "graph.json"), "w") as f:
        json.dump(graph(helpers.port), f)
    config = {"agent": "graph.json:chaos", "store": "builtin:store", "ag_ui": {"enabled": True}}
    program, uploads = os.path.join(find_programs(), "agentgraph"), os.path.join(work, "uploads")
    options = ["--processes", "2", "--threads", "32", "--drain", "5"]
    service = Service(work, os.path.join(work, "state"), program, config,
                      {"CHAOS_KEY": "none", "MEDIA_STORAGE_PATH": uploads}, options)
    try:
        ok(service.start(), "the service starts")
        ledger, ended, taken = Ledger(), threading.Event(), []
        crowd = users(service.port, ledger, ended, "backup")
        for user in crowd:
            user.start()
        for number in range(3):
            time.sleep(2)
            then, target = snapshot(ledger), os.path.join(work, "backup%d" % number)
            done, said = back_up(service, uploads, target)
            ok(done and then.acknowledged() > 0, "a backup is made under load, after %d writes" % then.acknowledged(), said)
            taken.append((then, target))
        time.sleep(1)
        ended.set()
        for user in crowd:
            user.join(60)
        ok(set(ledger.counts) <= {200, 101, 404} and not ledger.odd, "no request failed", ledger.counts, ledger.odd[:5])
        ok(service.stop() == 0, "the service stops")
        for then, target in taken:
            restored = Service(work, target, program, config,
                               {"CHAOS_KEY": "none", "MEDIA_STORAGE_PATH": target + ".uploads"}, options)
            ok(restored.start(), "a service starts from the backup")
            checker = Checker(Client(restored.port), required(then, ledger))
            ok(wait_for(20, lambda: not checker.running()), "nothing runs in it")
            wrong = checker.check()
            ok(not wrong, "all that was acknowledged before is in it", wrong[:10], len(wrong))
            ok(restored.stop() == 0, "and it stops")
    finally:
        if service.process.poll() is None:
            service.stop()
        helpers.stop()
        shutil.rmtree(work, ignore_errors=True)
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
