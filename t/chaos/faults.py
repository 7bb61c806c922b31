# SPDX-License-Identifier: ISC
"""What can go wrong with a machine.  Each fault is a method of Faults; all of them end by themselves."""
import os
import signal
import struct
import subprocess
import sys
import time

from service import HERE, free_port, kill, wait_for


class Helpers:
    """What the service depends on: Redis, a provider of models."""

    def __init__(self, work, redis=True):
        self.work = work
        self.socket = os.path.join(work, "redis.sock") if redis else None
        self.port = free_port()
        self.redis = self.provider = None

    def start_redis(self):
        if self.socket:
            self.redis = subprocess.Popen(
                ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--appendonly", "no"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.work)
            wait_for(10, lambda: os.path.exists(self.socket))

    def start_provider(self):
        self.provider = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "provider.py"), str(self.port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.work)

    def start(self):
        self.start_redis()
        self.start_provider()

    def stop(self):
        for process in (self.redis, self.provider):
            if process:
                process.kill()
                process.wait()

    def pids(self):
        return {p.pid for p in (self.redis, self.provider) if p}


class Faults:
    def __init__(self, service, helpers, random, control=None, disk=None, say=print):
        self.service, self.helpers, self.random = service, helpers, random
        self.control, self.disk, self.say = control, disk, say
        self.settings = [0, 0, 0]
        self.steps = 0  # steps of the clock, counted before and after each
        self.lost = []  # what did not come back

    # ---- processes ----

    def victims(self, role):
        return sorted(self.service.processes(role), key=lambda p: p.pid)

    def kill_one(self, role):
        found = self.victims(role)
        if found:
            kill(self.random.choice(found).pid)
        return len(found)

    def kill_worker(self):
        self.kill_one("worker")

    def kill_workers(self):
        for process in self.victims("worker"):
            kill(process.pid)

    def kill_relay(self):
        self.kill_one("relay")

    def kill_follower(self):
        self.kill_one("follower")

    def kill_websocketd(self):
        self.kill_one("websocketd")

    def kill_helper(self):
        self.kill_one("helper")

    def kill_nginx_worker(self):
        found = [p for p in self.victims("nginx") if p.parent != self.service.process.pid]
        if found:
            kill(self.random.choice(found).pid)

    def kill_nginx(self):
        for process in self.victims("nginx"):
            if process.parent == self.service.process.pid:
                kill(process.pid)

    def kill_program(self):
        """Kills an executable of a node, or an MCP server."""
        found = [p for p in self.service.processes() if p.name in ("sh", "dash", "agent.sh", "sleep", "python3", "agentgraph-extr")]
        if found:
            kill(self.random.choice(found).pid)

    def stop_worker(self):
        """Lets a worker hang for a while, as in a debugger or on a machine that swaps."""
        found = self.victims("worker")
        if not found:
            return
        pid = self.random.choice(found).pid
        kill(pid, signal.SIGSTOP)
        time.sleep(self.random.uniform(0.2, 2))
        kill(pid, signal.SIGCONT)

    def kill_service(self):
        kill(self.service.process.pid)
        self.service.process.wait()
        if not self.service.start_again():
            self.lost.append("the service did not start again")

    def reload(self):
        kill(self.service.process.pid, signal.SIGHUP)

    # ---- what it depends on ----

    def stop_redis(self):
        if self.helpers.socket:
            kill(self.helpers.redis.pid, signal.SIGSTOP)
            time.sleep(self.random.uniform(1, 4))
            kill(self.helpers.redis.pid, signal.SIGCONT)

    def kill_redis(self):
        if self.helpers.socket:
            kill(self.helpers.redis.pid)
            self.helpers.redis.wait()
            time.sleep(self.random.uniform(0, 3))
            self.helpers.start_redis()

    def kill_provider(self):
        kill(self.helpers.provider.pid)
        self.helpers.provider.wait()
        time.sleep(self.random.uniform(0, 3))
        self.helpers.start_provider()

    def stop_provider(self):
        kill(self.helpers.provider.pid, signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 4))
        kill(self.helpers.provider.pid, signal.SIGCONT)

    # ---- the machine ----

    def set(self, place, value):
        self.settings[place] = value
        with open(self.control, "r+b") as f:
            f.write(struct.pack("qqq", *self.settings))

    def set_clock(self, seconds):
        self.steps += 1
        self.set(0, seconds)
        self.steps += 1

    def step_clock(self):
        if self.control:
            self.set_clock(self.random.choice([-86400, -3600, -5, 0, 5, 3600, 86400 * 40]))

    def slow_disk(self):
        if self.control:
            self.set(1, self.random.choice([20000, 100000, 400000]))
            self.set(2, self.random.choice([0, 1000, 5000]))
            time.sleep(self.random.uniform(1, 4))
            self.set(1, 0)
            self.set(2, 0)

    def full_disk(self):
        if not self.disk:
            return
        fill = os.path.join(self.disk, "fill")
        try:
            with open(fill, "wb", buffering=0) as f:
                while True:
                    f.write(bytes(65536))
        except OSError:
            pass
        time.sleep(self.random.uniform(1, 4))
        os.unlink(fill)

    def restore(self):
        if self.control:
            self.settings = [0, 0, 0]
            self.set_clock(0)
        if self.disk and os.path.exists(os.path.join(self.disk, "fill")):
            os.unlink(os.path.join(self.disk, "fill"))

    def act(self, name):
        getattr(self, name)()


KILLS = ["kill_worker", "kill_worker", "kill_workers", "kill_relay", "kill_follower", "kill_websocketd", "kill_helper", "kill_helper",
         "kill_nginx_worker", "kill_nginx", "kill_program", "kill_program", "stop_worker", "kill_service", "reload"]
CONDITIONS = ["stop_redis", "kill_redis", "kill_provider", "stop_provider", "step_clock", "step_clock", "slow_disk", "full_disk"]
