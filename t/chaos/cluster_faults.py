# SPDX-License-Identifier: ISC
"""What can go wrong with several instances and what they share."""
import os
import signal
import subprocess
import sys
import time

from faults import Faults, Helpers
from service import HERE, descendants, kill, wait_for

SERVER = os.path.join(HERE, "../postgresql-server")
LEASE = 10  # seconds after which an instance that says nothing is given up


class Database:
    """A PostgreSQL for the test alone, on a small disk if one can be mounted."""

    def __init__(self, work, size):
        env = dict(os.environ, PG_SETTINGS="-c max_connections=200")
        self.directory = subprocess.run([SERVER, "start", str(os.getpid())], env=env, check=True, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE).stdout.strip()
        self.env = env
        self.url = "postgresql:///chaos?user=agent&host="
        self.disk = os.path.join(self.directory, "disk")
        os.mkdir(self.disk)
        owner = os.stat(os.path.join(self.directory, "data"))
        self.mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=%dm,uid=%d,gid=%d,mode=700" % (size, owner.st_uid, owner.st_gid), "none", self.disk],
            stderr=subprocess.DEVNULL).returncode == 0
        if self.mounted:
            self.ask("CREATE TABLESPACE small LOCATION '%s'" % self.disk, "postgres")
        self.ask("CREATE DATABASE chaos" + (" TABLESPACE small" if self.mounted else ""), "postgres")

    def ask(self, sql, database="chaos"):
        """What psql prints, or None if it fails."""
        done = subprocess.run(["psql", "-h", self.directory, "-U", "agent", "-d", database, "-X", "-q", "-A", "-t", "-c", sql],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def do(self, what, argument):
        return subprocess.run([SERVER, what, argument], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode == 0

    def stop(self):
        if self.mounted:
            subprocess.run([SERVER, "crash", self.directory + "."], env=self.env, stdin=subprocess.DEVNULL)
            subprocess.run(["umount", "-l", self.disk])
        self.do("stop", self.directory)


class Cut:
    """The way from an instance to the database, which can be cut."""

    def __init__(self, directory, database):
        os.mkdir(directory)
        socket = os.path.join(directory, ".s.PGSQL.5432")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "cut.py"), socket, os.path.join(database.directory, ".s.PGSQL.5432")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = database.url + directory
        wait_for(20, lambda: os.path.exists(socket))

    def lose_answers(self):
        kill(self.process.pid, signal.SIGUSR1)

    def shut(self):
        kill(self.process.pid, signal.SIGUSR2)

    open = shut


def family(service):
    return [service.process.pid] + [p.pid for p in descendants(service.process.pid)]


class InstanceFaults(Faults):
    """Faults of one instance at a time, so that there is always another one."""

    def __init__(self, instances, cuts, helpers, random, say):
        super().__init__(instances[0], helpers, random, None, None, say)
        self.instances, self.cuts = instances, cuts

    def act(self, name):
        at = self.random.randrange(len(self.instances))
        self.service, self.cut = self.instances[at], self.cuts[at]
        super().act(name)

    def past(self):
        """Seconds for which a fault lasts: a moment, or longer than the others wait."""
        return self.random.choice([self.random.uniform(0.5, 4), LEASE + self.random.uniform(1, 4)])

    def freeze(self):
        frozen = family(self.service)
        for pid in frozen:
            kill(pid, signal.SIGSTOP)
        time.sleep(self.past())
        for pid in frozen:
            kill(pid, signal.SIGCONT)

    def cut_off(self):
        self.cut.shut()
        time.sleep(self.past())
        self.cut.open()

    def kill_instance(self):
        for pid in family(self.service):
            kill(pid)
        self.service.process.wait()
        time.sleep(self.random.choice([0, LEASE + 3]))
        if not self.service.start_again():
            self.lost.append("an instance did not start again")

    def lose_answers(self):
        for _ in range(self.random.randrange(1, 20)):
            self.cut.lose_answers()
            time.sleep(0.1)


class SharedFaults(Faults):
    """Faults of the database, of Redis and the provider, and of one machine's clock."""

    def __init__(self, database, helpers, random, control, say):
        super().__init__(None, helpers, random, control, database.disk if database.mounted else None, say)
        self.database = database

    def end_sessions(self):
        for _ in range(self.random.randrange(1, 10)):
            self.database.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'chaos' AND random() < 0.7", "postgres")
            time.sleep(0.1)

    def crash_database(self):
        away = self.random.choice([0, self.random.uniform(0, 5)])
        if away:
            self.database.do("crash", self.database.directory + ".")
            time.sleep(away)
        if not self.database.do("crash", self.database.directory):
            self.lost.append("the database did not start again")


INSTANCE = ["freeze", "cut_off", "kill_instance", "lose_answers", "lose_answers", "kill_worker", "kill_follower", "reload"]
SHARED = ["end_sessions", "end_sessions", "crash_database", "crash_database", "kill_redis", "stop_redis", "full_disk", "step_clock",
          "kill_provider"]
