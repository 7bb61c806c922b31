# SPDX-License-Identifier: ISC
"""A whole service for the test alone, and what can be seen of its processes."""
import ctypes
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PR_SET_CHILD_SUBREAPER = 36

NAMES = {"agentgraph": "supervisor", "agentgraph-fcgi": "worker", "agentgraph-rela": "relay", "agentgraph-foll": "follower",
         "agentgraph-ws": "helper", "websocketd": "websocketd", "nginx": "nginx"}


def become_subreaper():
    """Makes orphans this process's children, so that none can hide, and lets SIGTERM clean up."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def free_port():
    """One that nobody has now, and that the kernel gives to nobody who does not ask for it."""
    while True:
        port = random.randrange(10000, 32000)
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return port


def wait_for(seconds, condition):
    """Waits so long, and at least two minutes, as a busy machine may take that for anything; what the condition said last."""
    end = time.monotonic() + max(seconds, 120)
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)


class Process:
    def __init__(self, pid, parent, name, state):
        self.pid, self.parent, self.name, self.state = pid, parent, name, state
        self.role = NAMES.get(name, name)

    def pss(self, kind="Pss"):
        """Memory in KiB; Pss_Anon does not depend on who else maps the same libraries."""
        try:
            with open("/proc/%d/smaps_rollup" % self.pid) as f:
                return sum(int(line.split()[1]) for line in f if line.startswith(kind + ":"))
        except OSError:
            return 0

    def descriptors(self):
        try:
            return len(os.listdir("/proc/%d/fd" % self.pid))
        except OSError:
            return 0

    def command(self):
        try:
            with open("/proc/%d/cmdline" % self.pid, "rb") as f:
                return f.read().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return "?"


def read_process(pid):
    try:
        with open("/proc/%s/stat" % pid) as f:
            text = f.read()
    except OSError:
        return None
    name = text[text.index("(") + 1:text.rindex(")")]
    fields = text[text.rindex(")") + 2:].split()
    return Process(int(pid), int(fields[1]), name, fields[0])


def descendants(root):
    """The processes below root without zombies, parents before their children."""
    every = [p for p in (read_process(e) for e in os.listdir("/proc") if e.isdigit()) if p]
    below = {}
    for process in every:
        below.setdefault(process.parent, []).append(process)
    found, queue = [], [root]
    while queue:
        for process in below.get(queue.pop(0), []):
            queue.append(process.pid)
            if process.state != "Z":
                found.append(process)
    return found


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class Service:
    def __init__(self, work, state, program, config, environment=None, options=()):
        self.work, self.state, self.program = work, state, program
        self.port = free_port()
        self.environment = environment or {}
        self.config = os.path.join(work, "agentgraph.json")
        self.options = list(options)
        self.process = None
        with open(self.config, "w") as f:
            json.dump(config, f)

    def start(self):
        """Tries once to start; False if the service ends without having answered."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("AGENTGRAPH", "MEDIA_", "RATE_"))}
        for name in ("GRAPH_PATH", "MODE", "ORIGINS", "ALLOWED_HOST", "JWT_SECRET_KEY", "http_proxy", "https_proxy"):
            env.pop(name, None)
        env.update(self.environment)
        # Output goes to a file: a pipe that nobody reads would hold up the service.
        said = os.path.join(self.work, "serve.out")
        with open(said, "w") as out, open(os.path.join(self.work, "serve.err"), "a") as err:
            self.process = subprocess.Popen(
                [self.program, "serve", "--state", self.state, "--config", self.config,
                 "--listen", "127.0.0.1:%d" % self.port] + self.options,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=self.work, start_new_session=True)

        def settled():
            with open(said) as f:
                return "serving" in f.read() or self.process.poll() is not None
        wait_for(90, settled)
        return self.process.poll() is None

    def start_again(self, seconds=60):
        """Tries again every tenth of a second, as systemd does with Restart=on-failure."""
        end = time.monotonic() + seconds
        while not self.start():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def stop(self):
        """Ends the service; returns its exit status."""
        self.process.terminate()
        try:
            return self.process.wait(150)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def processes(self, role=None):
        found = descendants(self.process.pid)
        return [p for p in found if role is None or p.role == role]

    def tree(self):
        me = read_process(self.process.pid)
        return ([me] if me else []) + self.processes()

    def pss(self, kind="Pss"):
        """Memory in KiB by role."""
        sums = {}
        for process in self.tree():
            sums[process.role] = sums.get(process.role, 0) + process.pss(kind)
        return sums

    def counts(self):
        counts = {}
        for process in self.tree():
            counts[process.role] = counts.get(process.role, 0) + 1
        return counts

    def descriptors(self):
        """For each role the most descriptors that a process has open."""
        most = {}
        for process in self.tree():
            most[process.role] = max(most.get(process.role, 0), process.descriptors())
        return most

    def shared_locks(self):
        """How many processes hold a slot of the shared memory."""
        try:
            st = os.stat(os.path.join(self.state, "shared"))
        except OSError:
            return 0
        # With the device, as files of other tests may have the same inode numbers in small file systems of their own.
        file = "%02x:%02x:%d" % (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino)
        with open("/proc/locks") as f:
            return sum(1 for line in f if file in line.split())

    def log(self):
        with open(os.path.join(self.work, "serve.err"), errors="replace") as f:
            return f.read()


def find_programs():
    """The build directory."""
    named = os.environ.get("AGENTGRAPH")
    if named:
        return os.path.dirname(os.path.abspath(named))
    return os.environ.get("top_builddir") or os.path.join(HERE, "../../_build")


def compile_shared(source, target):
    subprocess.run([os.environ.get("CC", "cc").split()[0], "-shared", "-fPIC", "-O1", "-o", target, source, "-ldl"], check=True)


def need(*tools):
    """Skips the test if one of these programs is missing."""
    for tool in tools:
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin"):
            print("1..0 # SKIP no %s here" % tool)
            sys.exit(0)
