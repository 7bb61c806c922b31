#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Three instances over one PostgreSQL and one Redis, a balancer before them, mixed load; instances, the ways between them
and what they share fail.  Then everything that was acknowledged is looked for.

CHAOS_SECONDS (600), CHAOS_SEED and CHAOS_PAUSE are those of chaos.py; CHAOS_INSTANCES (3) is how many.  Prints TAP.
"""
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from chaos import Storm, configuration, graph, look_at_streams, look_for_ends, ok, results, say
from client import Client
from cluster_faults import INSTANCE, LEASE, SHARED, Cut, Database, InstanceFaults, SharedFaults
from faults import Helpers
from load import ALLOWED, Checker, Ledger, Pinger, users
from runs import SECRET, Ends, Follower, Receiver, Submitter
from service import (HERE, NAMES, Service, become_subreaper, compile_shared, descendants, find_programs, free_port, kill, need, wait_for)

SECONDS = int(os.environ.get("CHAOS_SECONDS", "600"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or int.from_bytes(os.urandom(3), "big")
PAUSE = float(os.environ.get("CHAOS_PAUSE", "2"))
INSTANCES = int(os.environ.get("CHAOS_INSTANCES", "3"))
DRAIN = 5

# As examples/cluster writes it, but it waits less long for an instance that hangs.
BALANCER = """daemon off;
pid {work}/balancer.pid;
error_log {work}/balancer.err;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
	uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
	map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
	upstream instances {{
{servers}
		keepalive 32;
	}}
	server {{
		listen 127.0.0.1:{port};
		client_max_body_size 0;
		location / {{
			proxy_pass http://instances;
			proxy_http_version 1.1;
			proxy_buffering off;
			proxy_request_buffering off;
			proxy_connect_timeout 2s;
			proxy_read_timeout 30s;
			proxy_set_header Host $http_host;
			proxy_set_header Upgrade $http_upgrade;
			proxy_set_header Connection $connection_upgrade;
		}}
	}}
}}
"""


class Cluster:
    """Everything that runs; stop ends it."""

    def __init__(self, work):
        self.work, self.instances, self.cuts, self.balancer = work, [], [], None
        self.helpers = Helpers(work)
        self.helpers.start()
        self.receiver = Receiver()
        self.database = Database(work, 256 + 2 * SECONDS)
        self.control = os.path.join(work, "control")
        with open(self.control, "wb") as f:
            f.write(bytes(24))
        compile_shared(os.path.join(HERE, "disturb.c"), os.path.join(work, "disturb.so"))
        for number in range(INSTANCES):
            self.add(os.path.join(work, "i%d" % number), number == INSTANCES - 1)
        self.port = free_port()

    def add(self, work, disturbed):
        """Adds an instance; one of them has a disturbed clock."""
        os.mkdir(work)
        with open(os.path.join(work, "graph.json"), "w") as f:
            json.dump(graph(self.helpers.port), f)
        config = configuration(self.helpers, self.receiver)
        cut = Cut(os.path.join(work, "database"), self.database)
        environment = {"DATABASE_URL": cut.url, "MEDIA_STORAGE_TYPE": "database", "MEDIA_MAX_SIZE_MB": "2", "CHAOS_KEY": "none",
                       "WEBHOOK_SECRET": SECRET, "ASAN_OPTIONS": "verify_asan_link_order=0:quarantine_size_mb=8"}
        if disturbed:
            environment.update({"LD_PRELOAD": os.path.join(self.work, "disturb.so"), "CHAOS_CONTROL": self.control})
        self.cuts.append(cut)
        self.instances.append(Service(work, os.path.join(work, "state"), os.path.join(find_programs(), "agentgraph"), config,
                                      environment, ["--processes", "2", "--threads", "16", "--drain", str(DRAIN)]))

    def start(self):
        """Starts all at the same time; one of them makes the schema."""
        starts = [threading.Thread(target=instance.start) for instance in self.instances]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
        servers = "\n".join("\t\tserver 127.0.0.1:%d max_fails=1 fail_timeout=1s;" % i.port for i in self.instances)
        path = os.path.join(self.work, "balancer.conf")
        with open(path, "w") as f:
            f.write(BALANCER.format(work=self.work, servers=servers, port=self.port))
        nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        self.balancer = subprocess.Popen([nginx, "-p", self.work, "-c", path, "-e", "stderr"], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return wait_for(30, self.answers)

    def answers(self):
        """Whether each instance serves what is stored."""
        return all(Client(port).request("GET", "/v1/threads?limit=1", timeout=5)[0] == 200
                   for port in [i.port for i in self.instances] + [self.port])

    def stop(self):
        """Ends all; returns the instances' exit statuses."""
        statuses = [i.stop() for i in self.instances if i.process and i.process.poll() is None]
        if self.balancer:
            self.balancer.terminate()
            self.balancer.wait()
        return statuses

    def release(self):
        for cut in self.cuts:
            kill(cut.process.pid)
            cut.process.wait()
        self.helpers.stop()
        self.database.stop()

    def strays(self):
        return ["%d %s" % (p.pid, p.command()) for p in descendants(os.getpid()) if p.name in NAMES and p.pid != self.helpers.provider.pid]


def new_ledger():
    ledger = Ledger()
    # The balancer answers for an instance that is gone; one that was cut off says that another has the thread.
    ledger.allowed, ledger.codes = ALLOWED + (502, 504), ("THREAD_BUSY", "RUN_LOST")
    return ledger


def run_users(cluster, ledger, seconds, seed, storms=()):
    """Returns how long nobody answered, and the clients that hang."""
    ended, calm = threading.Event(), threading.Event()
    Submitter.hook = cluster.receiver.url
    crowd = users(cluster.port, ledger, ended, seed)
    crowd += [kind(100 + n, cluster.port, ledger, ended, seed) for n, kind in enumerate([Submitter] * 3 + [Follower] * 3)]
    pinger = Pinger(cluster.port, ended)
    for thread in crowd + [pinger]:
        thread.start()
    for storm in storms:
        storm.ended = calm
        storm.start()
    time.sleep(seconds)
    calm.set()
    for storm in storms:
        storm.join(120)
        storm.faults.restore()
    wait_for(60, cluster.answers)
    time.sleep(1)
    ended.set()
    end = time.monotonic() + 120
    hanging = [user.last_id() for user in crowd if user.join(max(0, end - time.monotonic())) or user.is_alive()]
    return pinger.longest, hanging


def look(cluster, ledger, when):
    """Looks through each instance, as each must know everything."""
    client = Client(cluster.port)
    ends = Ends(client, ledger, cluster.receiver)
    look_for_ends(ends, ledger, when, LEASE + 60)
    left = wait_for(40, lambda: not Checker(client, ledger).running()) or Checker(client, ledger).running()
    ok(left is True, "%s: no thread is left running" % when, left)
    for number, instance in enumerate(cluster.instances):
        wrong = Checker(Client(instance.port), ledger).check()
        ok(not wrong, "%s: instance %d has everything acknowledged once, and nothing else" % (when, number), wrong[:20], len(wrong))
    look_at_streams(client, ends, ledger, when)


def storm(cluster):
    if not ok(cluster.start(), "%d instances that start together serve" % INSTANCES):
        return
    ledger = new_ledger()
    _, hanging = run_users(cluster, ledger, min(10, max(4, SECONDS / 20)), "calm")
    ok(not hanging and not ledger.odd and set(ledger.counts) <= {200, 202, 404, 101}, "they serve a mixed load", hanging,
       ledger.odd[:10], ledger.counts)
    look(cluster, ledger, "before the storm")

    say("seed %d, %d seconds, %s" % (SEED, SECONDS, "on a small disk" if cluster.database.mounted else "no small disk (needs root)"))
    of_instances = InstanceFaults(cluster.instances, cluster.cuts, cluster.helpers, random.Random(SEED), say)
    shared = SharedFaults(cluster.database, cluster.helpers, random.Random(SEED + 1), cluster.control, say)
    ledger.clock_steps = lambda: shared.steps
    storms = [Storm(of_instances, INSTANCE, None, SEED, PAUSE), Storm(shared, SHARED, None, SEED + 1, 1.5 * PAUSE)]
    supervisors = [i.process.pid for i in cluster.instances]
    outage, hanging = run_users(cluster, ledger, SECONDS, SEED, storms)
    say("faults: %s" % dict(sum((s.done for s in storms), collections.Counter())))
    say("answers by status: %s; acknowledged writes: %d; longest silence %.1f s" % (
        dict(sorted(ledger.counts.items())), ledger.acknowledged(), outage))
    ok(cluster.answers(), "all instances answer afterwards", [i.process.poll() for i in cluster.instances])
    ok(not of_instances.lost + shared.lost, "what died came back", of_instances.lost + shared.lost)
    restarted = sum(pid != i.process.pid for pid, i in zip(supervisors, cluster.instances))
    ok(restarted <= storms[0].done["kill_instance"], "no other instance was started again")
    ok(not hanging, "no client hangs", hanging)
    ok(not ledger.odd, "no answer is odd", sorted(set(ledger.odd))[:20], len(ledger.odd))
    look(cluster, ledger, "after the storm")
    ok(set(cluster.stop()) == {0}, "the instances stop as they should")
    left = wait_for(DRAIN + 10, lambda: not cluster.strays()) or cluster.strays()
    ok(left is True, "with all their processes", left)


def main():
    need("nginx", "websocketd", "cc", "redis-server", "psql")
    why = subprocess.run([os.path.join(HERE, "../postgresql-server"), "there"], stdout=subprocess.PIPE, text=True)
    if why.returncode != 0:
        print("1..0 # SKIP " + why.stdout.strip())
        return 0
    become_subreaper()
    work = tempfile.mkdtemp(prefix="agentgraph-chaos.")
    os.chmod(work, 0o755)
    cluster = Cluster(work)
    try:
        storm(cluster)
    finally:
        cluster.stop()
        cluster.release()
        for stray in descendants(os.getpid()):
            kill(stray.pid)
        if not all(results):
            for instance in cluster.instances:
                for line in instance.log().splitlines()[-25:]:
                    say("  log: " + line)
            if os.environ.get("CHAOS_LOG"):
                shutil.copytree(work, os.environ["CHAOS_LOG"], ignore=lambda _, names: [n for n in names if not n.endswith((".err", ".json"))
                                and not n.startswith("i")], dirs_exist_ok=True)
        shutil.rmtree(work, ignore_errors=True)
    print("1..%d" % len(results))
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
