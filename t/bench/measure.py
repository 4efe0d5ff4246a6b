# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Share among the benchmarks a journaled file system, a sink, and counting the mail that reaches it."""
import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from support.instance import tool, wait_until
from support.sink import Sink


def say(text):
    print(text, flush=True)


def table(title, rows):
    """rows: (what, figure, note), made and printed one by one."""
    say(f"\n{title}")
    for row in rows:
        say("  " + "  ".join(f"{cell:<26}" if at == 0 else f"{cell:>14}" for at, cell in enumerate(row)))


def processor_time(pids):
    """Seconds, of all of them together."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def unmount(place):
    """A peer's last child may still be leaving."""
    wait_until(lambda: subprocess.run(["umount", place], stderr=subprocess.DEVNULL, check=False).returncode == 0, 60,
               f"{place} to be left")


@contextmanager
def journaled(directory):
    """A place on a file system with a journal: the one named, else a fresh ext4 on a loop device, of a server's size,
    and so with its length of journal."""
    if directory:
        yield Path(directory)
        return
    image = Path(tempfile.mkdtemp(prefix="bench-"))
    mount = image / "mount"
    mount.mkdir()
    with open(image / "ext4", "wb") as file:
        file.truncate(200 << 30)
    subprocess.run(["mkfs.ext4", "-q", image / "ext4"], check=True)
    subprocess.run(["mount", "-o", "loop,noinit_itable", image / "ext4", mount], check=True)
    mount.chmod(0o755)
    image.chmod(0o755)
    try:
        yield mount
    finally:
        unmount(mount)
        shutil.rmtree(image)


@contextmanager
def working_on(directory):
    """All temporary files are in such a place."""
    with journaled(directory) as place:
        before = tempfile.tempdir, os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = tempfile.tempdir = str(place)
        try:
            yield place
        finally:
            tempfile.tempdir = before[0]
            os.environ.pop("TMPDIR")
            if before[1] is not None:
                os.environ["TMPDIR"] = before[1]


def members(count):
    return [f"member{number}@d{number % 50}.example.org" for number in range(count)]


@contextmanager
def sink(**options):
    made = Sink(tool("smtp-sink"), store=False, **options)
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def running(peer, people):
    try:
        yield peer.start(people)
    finally:
        peer.close()


class Counter:
    """Recipients that reached the sink, counted from its log without reading it twice."""

    def __init__(self, log):
        self.log, self.at, self.count = log, 0, 0
        self.last = time.monotonic()
        self.times = []  # of each recipient, by the sink's clock

    def __call__(self):
        if not self.log.exists():
            return 0
        with open(self.log, "rb") as file:
            file.seek(self.at)
            chunk = file.read()
        chunk = chunk[:chunk.rfind(b"\n") + 1]
        self.at += len(chunk)
        new = 0
        for line in chunk.splitlines():
            envelope = json.loads(line)
            if envelope["result"] != "refused":
                new += len(envelope["to"])
                self.times.append((envelope["time"] / 1e6, len(envelope["to"])))
        if new:
            self.count += new
            self.last = time.monotonic()
        return self.count


def until_delivered(counter, wanted, seconds=60):
    wait_until(lambda: counter() >= wanted, seconds, lambda: f"{wanted} deliveries, there are {counter.count}",
               step=0.02)


class Cpu:
    """Processor time, user and system, of some processes from now on: of those that live and of those that they
    have waited for. pids() tells who they are."""

    def __init__(self, pids):
        self.pids = pids
        self.before = self._now()

    def _now(self):
        found = {}
        for pid in set(self.pids()):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return found

    def seconds(self):
        now = self._now()
        return sum(spent - self.before.get(pid, 0) for pid, spent in now.items())


def peak_memory(instance):
    """Largest resident size, in MB, that any of the instance's processes ever had."""
    worst = ("", 0)
    for pid in instance.leftovers():
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        worst = max(worst, (status["Name"].strip(), int(status["VmHWM"].split()[0]) / 1024), key=lambda pair: pair[1])
    return worst


def settle(place):
    """Sync the files written there, so that nobody pays for them later."""
    subprocess.run(["sync", "-f", place], check=True)


def journal_threads(place):
    """The kernel's thread that writes the journal of the file system mounted there."""
    device = subprocess.run(["findmnt", "-n", "-o", "SOURCE", "-T", place], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    names = subprocess.run(["ps", "-eo", "pid=,comm="], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [int(pid) for pid, comm in (line.split(None, 1) for line in names.splitlines())
            if comm.startswith(f"jbd2/{os.path.basename(device)}-")]


def favour(pids):
    """The highest priority for these, beside what else the machine does: also for the groups that the kernel makes of
    sessions."""
    for pid in pids:
        try:
            os.setpriority(os.PRIO_PROCESS, pid, -19)
            Path(f"/proc/{pid}/autogroup").write_text("-19")
        except OSError:
            continue  # it has ended, or there are no such groups


def block_workers():
    """The kernel's threads that write, for whoever asks, what goes to a loop device."""
    names = subprocess.run(["ps", "-eo", "pid=,comm="], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [int(pid) for pid, comm in (line.split(None, 1) for line in names.splitlines())
            if comm.startswith("kworker/u") or (comm.startswith("kworker/") and "H" in comm)]


@contextmanager
def first(pids):
    """Real-time priority for these, all their threads, and what they start meanwhile."""
    ranked = []
    for pid in pids:
        try:
            ranked += [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]
        except OSError:
            continue  # it has ended
    _rank(ranked, os.SCHED_FIFO, 20)
    try:
        yield
    finally:
        _rank(ranked, os.SCHED_OTHER, 0)


def _rank(threads, policy, priority):
    for thread in threads:
        try:
            os.sched_setscheduler(thread, policy, os.sched_param(priority))
        except OSError:
            continue
