# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A whole Listrunner in a temporary directory: configuration, master, the command line, LMTP."""
import contextlib
import json
import os
import pwd
import re
import signal
import smtplib
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from support import postgresql
from support.corpus import TOP
from support.ports import free_port

HOST = "lists.example.com"
# Work in progress is in these queues, in the order it flows; what rests in the others waits for a person or a later
# runner.
FLOW = ("bounces", "command", "task", "in", "digest", "nntp", "pipeline",
        "virgin", "archive", "count", "notice", "handover", "out", "retry")


def prefix():
    return Path(os.environ.get("LISTRUNNER_PREFIX", TOP / "build" / "install"))


def build():
    return Path(os.environ.get("LISTRUNNER_BUILD", prefix().parent))


def tool(name):
    """A program of t/tools, built but not installed."""
    return build() / "t" / "tools" / name


def need(why):
    """Skips the test for this reason, unless it is None."""
    import pytest  # programs without it use this module, too

    if why:
        pytest.skip(why)


def below(first):
    """A process and all that it started, directly or not, and that live."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {first}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def service_user():
    """Return the user that a master started by root becomes: nobody, if nobody can run the programs there; else
    root."""
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid()).pw_name
    program = prefix() / "libexec" / "listrunner" / "archive"
    try:
        reachable = subprocess.run(["/usr/bin/test", "-x", program], user="nobody", group="nogroup",
                                   extra_groups=[]).returncode
    except (OSError, KeyError, PermissionError):
        reachable = 1
    return "nobody" if reachable == 0 else "root"


def let_through(directory):
    """The service's user may enter it, and what is above it in the place for temporary files."""
    top, place = Path(tempfile.gettempdir()).resolve(), Path(directory).resolve()
    for path in (place, *place.parents):
        if top in path.parents:
            path.chmod(path.stat().st_mode | 0o055)


def write_secret(path, text):
    """A file that only the service's user may read."""
    path.write_text(text)
    path.chmod(0o600)
    if os.getuid() == 0:
        os.chown(path, pwd.getpwnam(service_user()).pw_uid, -1)


INOTIFY_LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")
INOTIFY_OF_INSTANCE = 24  # the master and each runner have one


def inotify_left(user):
    """How many more inotify instances Linux lends the user."""
    uid, used = pwd.getpwnam(user).pw_uid, 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == uid:
                used += sum(os.readlink(link.path) == "anon_inode:inotify" for link in os.scandir(process / "fd"))
    return int(INOTIFY_LIMIT.read_text()) - used


def wait_for_inotify(user):
    """Wait, a minute at most, until other tests have left inotify instances for a Listrunner: one that gets none polls,
    and that is not what is tested."""
    deadline = time.monotonic() + 60
    while inotify_left(user) < INOTIFY_OF_INSTANCE and time.monotonic() < deadline:
        time.sleep(1)


LEAST_PATIENCE = 60  # seconds: a machine may have many times the work that it can do


def wait_until(condition, seconds, what, step=0.05):
    """The condition's first true value; AssertionError, naming what, when it did not come within the seconds, which are
    at least LEAST_PATIENCE. Looks less often the longer it takes: a look may cost as much as what it waits for."""
    seconds = max(seconds, LEAST_PATIENCE)
    deadline, pause = time.monotonic() + seconds, step
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {seconds} s for {what() if callable(what) else what}"
        time.sleep(pause)
        pause = min(pause * 1.2, 4 * step)


class Instance:
    def __init__(self, sink_port, directory=None, spool=None, settings=None):
        self.directory = Path(directory or tempfile.mkdtemp(prefix="listrunner-"))
        self.directory.mkdir(parents=True, exist_ok=True)
        self.user = service_user()
        if self.user == "root":
            os.environ["LISTRUNNER_ALLOW_ROOT"] = "yes"
        self.port = free_port()
        self.config = self.directory / "listrunner.conf"
        self.log_path = self.directory / "log"
        self.spool = Path(spool or self.directory / "spool")
        self.archive = self.directory / "archive"
        self.process = None
        self.has_store = False
        self.lmtp_host = "127.0.0.1"  # where its LMTP is asked
        self.within = []   # words before those of each program, of one that becomes it
        self.wrapper = []  # the same, of the master alone
        for path in (self.spool, self.directory / "lib", self.directory / "run", self.archive,
                     self.directory / "trail"):
            path.mkdir(exist_ok=True)
            self.own(path)
        let_through(self.directory)
        self.sections = {
            "site": {"user": self.user, "hostname": HOST, "site_owner": f"postmaster@{HOST}"},
            "spool": {"directory": self.spool, "min_free": "1M"},
            "task": {"reminder_time": "never"},  # else posts that are held have one more letter at that time of the day
            "trail": {"directory": self.directory / "trail"},
            "refused": {"directory": self.directory / "refused"},
            "store": self.store_settings(),
            "master": {"runtime_directory": self.directory / "run", "heartbeat_interval": "1s",
                       "restart_delay_min": "100ms", "restart_delay_max": "2s", "stop_timeout": "10s"},
            "runner.lmtp": {"listen": f"127.0.0.1:{self.port}"},
            "transport.relay": {"host": "127.0.0.1", "port": sink_port},
            "archiver.maildir": {"type": "maildir", "path": self.archive / "maildir"},
            "archiver.mbox": {"type": "mbox", "path": self.archive / "mbox",
                              "permalink": "https://lists.example.com/archive/$list_id/$hash"},
        }
        self.set(settings or {})

    def store_settings(self):
        """A file, or a schema of its own on the server that t/tools/with-postgresql started."""
        if os.environ.get("LISTRUNNER_STORE") == "postgresql":
            name = f"{self.directory.name}-{os.urandom(3).hex()}"
            return {"driver": "postgresql", "url": os.environ["LISTRUNNER_STORE_WHERE"].replace("@", name)}
        return {"path": self.directory / "lib" / "listrunner.db"}

    @contextlib.contextmanager
    def database(self):
        """The store itself, with execute(SQL, values), in which "?" stands for each value; committed at the end."""
        store = self.sections["store"]
        if "url" in store:
            connection = postgresql.connect(store["url"])
        else:
            connection = sqlite3.connect(store["path"], timeout=60)
        with contextlib.closing(connection):
            yield connection
            connection.commit()

    def own(self, path):
        if os.getuid() == 0:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    def set(self, settings):
        """Merges {section: {key: value}}; a value or section of None is taken out. Replaces the file, since a process
        may be reading it."""
        for section, keys in settings.items():
            if keys is None:
                self.sections.pop(section, None)
                continue
            there = self.sections.setdefault(section, {})
            there.update(keys)
            for key in [key for key, value in there.items() if value is None]:
                del there[key]
        lines = []
        if any(keys.get("type") == "mx" for keys in self.sections.values()):  # its hosts are at 127.0.0.0/8 here
            self.sections.setdefault("out", {}).setdefault("mx_private_addresses", "yes")
        for section, keys in self.sections.items():
            lines += [f"[{section}]"] + [f"{key} = {value}" for key, value in keys.items()] + [""]
        new = self.config.with_suffix(".new")
        new.write_text("\n".join(lines))
        new.replace(self.config)

    # ---- the command line ----

    def run(self, *words, input=None, timeout=180):
        program = prefix() / "bin" / "listrunner"
        return subprocess.run([*self.within, program, "--config", self.config, *map(str, words)], input=input,
                              timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=not isinstance(input, bytes))

    def cli(self, *words, input=None, timeout=180):
        """Output of a command that must succeed."""
        done = self.run(*words, input=input, timeout=timeout)
        assert done.returncode == 0, \
            f"listrunner {' '.join(map(str, words))}: code {done.returncode}: {done.stderr}{done.stdout}"
        return done.stdout

    def rows(self, *words):
        """The rows that a command, which must succeed, prints with --json."""
        return [json.loads(line) for line in self.cli(*words, "--json").splitlines()]

    def members(self, name="cats", role="member"):
        """The addresses that have a role on a list of HOST."""
        return self.cli("member", "ls", f"{name}@{HOST}", "--names", "--role", role).split()

    def member(self, name, address):
        """The row of one of a list's members."""
        (row,) = [row for row in self.rows("member", "ls", f"{name}@{HOST}") if row["address"] == address]
        return row

    def jobs(self):
        """{name: row} of what the timer does. What each host does for itself bears its name behind "@"."""
        own = "@" + self.sections["site"]["hostname"]
        rows = map(json.loads, self.cli("task", "ls", "--json").splitlines())
        return {row["name"].removesuffix(own): row for row in rows}

    def run_job(self, name):
        """Have the timer do a job, and wait until it has."""
        def orders():
            return {entry.partition("+")[2][:40] for entry in self.files("task")["task"]}
        before, others = wait_until(lambda: self.jobs().get(name), 20, f"the job {name}")["runs"], orders()
        self.cli("task", "run", name)
        ours = orders() - others  # until they are gone, a run may be one that had begun before
        wait_until(lambda: not ours & orders() and self.jobs()[name]["runs"] > before, 20, f"the job {name}")
        assert not self.jobs()[name]["fault"], self.jobs()[name]

    def create_store(self):
        """The database, once in the life of the instance: never anew when it has gone. One may be there from before."""
        if not self.has_store:
            done = self.run("store", "create")
            assert done.returncode in (0, 1), f"listrunner store create: code {done.returncode}: {done.stderr}"
            self.has_store = True

    def create_list(self, name="test", members=(), owner=None, settings=()):
        """name@HOST; anybody may post unless settings (NAME=VALUE) say otherwise. Returns its address."""
        address = f"{name}@{HOST}"
        self.create_store()
        self.cli("list", "create", address, *(["--owner", owner] if owner else []))
        self.cli("list", "set", address, "default_nonmember_action=accept", "default_member_action=accept",
                 "require_explicit_destination=false", "max_message_size=0", "max_num_recipients=0",
                 "administrivia=false", "send_welcome_message=false", *settings)
        if members:
            self.add_members(address, members)
        return address

    def add_members(self, address, members):
        path = self.directory / "members.txt"
        path.write_text("".join(f"{member}\n" for member in members))
        self.cli("member", "import", address, path, timeout=300)

    def status(self):
        done = self.run("status", "--json")
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def queue_stat(self):
        """{queue: {state: files}} as the command line says."""
        lines = self.cli("queue", "stat", "--json").splitlines()
        return {row["queue"]: row for row in map(json.loads, lines)}

    # ---- the master ----

    def start(self, wait=True):
        program = prefix() / "sbin" / "listrunner-master"
        self.create_store()
        wait_for_inotify(self.user)
        self.log = open(self.log_path, "ab")
        begin = self.log.tell()
        self.process = subprocess.Popen([*self.within, *self.wrapper, program, "-c", self.config],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True, cwd="/")
        if wait:
            self.wait_ready(begin=begin)
        return self

    def wait_ready(self, seconds=30, begin=None):
        """Waits until all runners are; begin is where the log was at the start, so that status is not asked before the
        master says so there (or some seconds have passed, where its log is elsewhere)."""
        patient = time.monotonic() + 5

        def ready():
            assert self.process.poll() is None, \
                f"the master ended with code {self.process.returncode}:\n{self.log_text()[-3000:]}"
            told = begin is None or b"master: running" in self.log_path.read_bytes()[begin:]
            if not told and time.monotonic() < patient:
                return False
            status = self.status()
            children = [child for runner in status.get("runners", []) for child in runner["children"]]
            return children and status["healthy"] and all(child["state"] == "ready" for child in children)
        wait_until(ready, seconds, lambda: f"all runners to be ready:\n{self.log_text()[-3000:]}")

    def pids(self, runner):
        """Process ids of a runner's instances that live."""
        for group in self.status().get("runners", []):
            if group["runner"] == runner:
                return [child["pid"] for child in group["children"] if child["pid"]]
        return []

    def kill_runner(self, runner):
        """kill -9 of a runner's processes; how many. One that ended since the master looked does not count."""
        killed = 0
        for pid in self.pids(runner):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        return killed

    def stop(self, seconds=20):
        """A graceful stop; returns the master's exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(max(seconds, LEAST_PATIENCE))
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.close()
        return self.process.returncode

    def kill(self):
        """kill -9 of the master alone."""
        self.process.kill()
        self.process.wait()

    def leftovers(self):
        """Processes that were started with our configuration and still live."""
        marks = [f"LISTRUNNER_CONFIG={path}".encode()
                 for path in (self.config, self.directory / "run" / "config-in-force")]
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if any(mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for mark in marks):
                    found.append(int(pid))
            except OSError:
                continue
        return found

    def close(self):
        """Ends everything that is ours."""
        self.stop()
        for pid in self.leftovers():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    # ---- mail ----

    def lmtp(self, timeout=180):
        return smtplib.LMTP(self.lmtp_host, self.port, timeout=timeout)

    def lmtp_send(self, octets, to, sender="poster@example.net", client=None):
        """Hands one mail in; raises smtplib's exceptions when it is refused."""
        with_client = client or self.lmtp()
        try:
            options = ["BODY=8BITMIME"] if any(octet > 127 for octet in octets) else []
            return with_client.sendmail(sender, [to] if isinstance(to, str) else to, octets, options)
        finally:
            if client is None:
                with_client.close()

    def lmtp_send_all(self, mails, to):
        """Hands these in, one after the other, over one connection."""
        client = self.lmtp()
        for mail in mails:
            self.lmtp_send(mail.octets, to, client=client)
        client.quit()

    def files(self, *queues):
        """Entry files by queue, straight from the spool."""
        found = {}
        for queue in queues:
            path = self.spool / queue
            found[queue] = sorted(name for name in os.listdir(path)
                                  if not name.startswith(".")) if path.is_dir() else []
        return found

    def under_way(self):
        """Entry files that will move by themselves. The queues are read downstream, so what moves meanwhile is seen.
        NAME.tmp is no entry yet: its writer never said 250, and if it was killed the file stays for the sweep."""
        resting = re.compile(r"\d+\.\d+\+[0-9a-f]{40}\.(tmp|psv)")
        moving = {queue: [name for name in names if not resting.fullmatch(name)]
                  for queue, names in self.files(*FLOW).items()}
        return {queue: names for queue, names in moving.items() if names}

    def idle(self):
        """True when nothing is on its way, as the files and the command line say."""
        if self.under_way():
            return False
        stat = self.queue_stat()
        moving = ("ready", "waiting", "claimed", "decided")
        quiet = all(stat[queue][state] == 0 for queue in FLOW if queue in stat for state in moving)
        return quiet and not self.under_way()  # once more: an entry may go back to a queue that was read before

    def set_aside(self):
        """Return what waits for a person: preserved files, and all of shunt and corrupt."""
        preserved = [name for names in self.files(*FLOW).values() for name in names if name.endswith(".psv")]
        return preserved + [name for names in self.files("shunt", "corrupt").values() for name in names]

    def try_again(self):
        """Make due now what was put off, also what a runner has in hand at first."""
        wait_until(lambda: self.run("queue", "requeue", "--queue", "retry").returncode == 0, 60, "all to be requeued")

    def wait_idle(self, seconds=60):
        def left():
            names = {queue: (len(names), names[:3]) for queue, names in self.under_way().items()}
            return f"empty queues; there are {names}\n{self.log_text()[-3000:]}"
        wait_until(self.idle, seconds, left)

    def log_text(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
