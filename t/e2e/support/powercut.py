# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The whole system on a disk of its own, whose power is cut under load.

A generation is one new file system and one Listrunner on it; a round is one cut: all processes are stopped (SIGSTOP),
the disk goes, the processes are killed, the file system is mounted again, and Listrunner starts, with another number of
instances. Every few rounds the load pauses, the queues drain, and the accounts are made."""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

from support import disk as disks
from support.attempts import ACCEPTED, UNKNOWN, Accounts, Senders
from support.instance import HOST, Instance, let_through, prefix, tool, wait_until
from support.sink import Sink

SESSIONS, RECIPIENTS = 4, 5  # of the relay; recipients of a transaction, and of those in one flight together
BOUND_OF_ONE_CUT = SESSIONS * RECIPIENTS  # what was in flight
MEMBERS = {"many": 23, "few": 3}
CUT = f"cut@{HOST}"    # gets its posts in parts
HELD = f"held@{HOST}"  # its posts are held until the accounts are made


def settings(mount, chance):
    """A configuration on the disk, whose counts and ways of syncing differ from start to start."""
    count = {name: {"instances": chance.choice((1, 2, 4))}
             for name in ("in", "pipeline", "out", "archive", "defragment")}
    return {
        "spool": {"batch_limit": chance.choice((1, 16, 256)), "sync": chance.choice(("fsync", "fsync", "syncfs"))},
        "store": {"path": mount / "lib" / "listrunner.db"},
        "transport.relay": {"concurrency": SESSIONS, "recipients_per_transaction": RECIPIENTS,
                            "pipelined_transactions": chance.choice((1, 4))},
        "pipeline": {"verp_delivery_interval": 2},  # each second post: one recipient a transaction
        "out": {"recipients_per_entry": 12, "minimal_backoff_time": "1s", "maximal_backoff_time": "1s"},
        "archiver.maildir": {"path": mount / "archive" / "maildir"},
        "archiver.mbox": {"path": mount / "archive" / "mbox"},
        "master": {"restart_delay_min": "20ms", "restart_delay_max": "200ms"},
        **{f"runner.{name}": keys for name, keys in count.items()},
    }


def members():
    return {f"{name}@{HOST}": [f"m{i}@{name}.example.org" for i in range(count)] for name, count in MEMBERS.items()}


def make_instance(sink_port, place, mount, chance):
    """An instance whose spool, database and archive are below mount."""
    let_through(place)
    instance = Instance(sink_port, directory=Path(place) / "instance", spool=mount / "spool",
                        settings=settings(mount, chance))
    instance.archive = mount / "archive"
    for name in ("lib", "archive"):
        (mount / name).mkdir(exist_ok=True)
        instance.own(mount / name)
    return instance


def state_of(pid):
    """States of a process's threads, "" when it is gone."""
    states = ""
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            states += path.read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
    return states


def freeze(instance):
    """Stops the master and all its children where they are; their ids. What waits for the disk stays so: it will
    not run on either."""
    stopped = set()
    while True:
        living = {instance.process.pid, *instance.leftovers()}
        for pid in living - stopped:
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                pass
        if living <= stopped:
            break
        stopped |= living
    wait_until(lambda: all(set(state_of(pid)) <= set("TtDZX") for pid in stopped), 20, "all processes to stop", 0.002)
    return stopped


def end(instance, pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    instance.process.wait()
    wait_until(lambda: not instance.leftovers(), 20, "killed processes to be gone", 0.005)
    instance.log.close()


def bounce_faults(database, reports):
    """Reports of members that bounced which did not count, or more than once, in words."""
    query = "SELECT email, sum(bounces) FROM bounce GROUP BY email"
    counted, faults = dict(database.execute(query)), []
    for member in {member for member, _ in reports} | set(counted):
        results = [attempt.result for name, attempt in reports if name == member]
        least, found = results.count(ACCEPTED), counted.get(member, 0)
        if not least <= found <= least + results.count(UNKNOWN):
            faults.append(f"{least} bounces of {member} were accepted and {results.count(UNKNOWN)} cut off, "
                          f"{found} were counted")
    return faults


def examine(instance, transactions, attempts, lists, reports=()):
    """The accounts of a drained system."""
    accounts = Accounts(attempts, lists, transactions, [instance.archive / "maildir"], [instance.archive / "mbox"],
                        flight=RECIPIENTS)
    if instance.set_aside():
        accounts.faults.append(f"set aside: {instance.set_aside()}")
    for queue in sorted(path for path in instance.spool.iterdir() if path.is_dir()):
        left = [name for name in os.listdir(queue) if name.endswith((".msg", ".bak", ".done")) or name.count(".") > 2]
        if left:
            accounts.faults.append(f"left in {queue.name}: {left}")
    database = sqlite3.connect(f"file:{instance.sections['store']['path']}?mode=ro", uri=True)
    try:
        said = [row[0] for row in database.execute("PRAGMA integrity_check")]
        broken = database.execute("PRAGMA foreign_key_check").fetchall()
        waiting = database.execute("SELECT key, parts FROM fragment_set WHERE state = 0").fetchall()
        counted = database.execute("SELECT * FROM fragment_waiting WHERE sets OR parts OR octets").fetchall()
        accounts.faults += bounce_faults(database, reports)
        accounts.bounces = sum(attempt.result == ACCEPTED for _, attempt in reports)
    finally:
        database.close()
    if said != ["ok"] or broken:
        accounts.faults.append(f"the database: {said} {broken}")
    if waiting or counted:
        accounts.faults.append(f"sets of parts that are open, and counted: {waiting} {counted}")
    return accounts


class Generation:
    """place: a new directory. kind: of the file system. switch: cut on cutdisk instead of by a shutdown. keep: save
    the image of every cut since the last accounts, for inspection. syncs: False makes fsync do nothing for the
    runners that do not write to the database. treelog: btrfs is mounted as it is by default."""

    def __init__(self, place, kind, seed, switch=False, keep=False, syncs=True, treelog=False):
        self.place, self.seed, self.keep = Path(place), seed, keep
        self.chance, self.treelog = random.Random(seed), treelog
        self.place.mkdir(parents=True)
        self.cuts, self.saved, self.history = 0, [], []
        self.disk = self.sink = self.instance = self.senders = None
        try:
            self._build(kind, switch, syncs)
        except BaseException:
            self.close()
            raise

    def _build(self, kind, switch, syncs):
        self.disk = (disks.SwitchDisk if switch else disks.ShutdownDisk)(kind, self.place)
        self.disk.mount(self._options())
        # Some are refused for a while, so that the queue retry is in use; some refusals are of the whole message.
        faults = ["rcpt p=0.01 do 450 4.2.1 busy", "dot p=0.01 do 451 4.3.0 later"]
        self.sink = Sink(tool("smtp-sink"), directory=self.place / "sink", faults=faults, options=["--latency", "3"])
        self.lists = members()
        self.lists[HELD] = [f"m{i}@held.example.org" for i in range(2)]
        if syncs:  # without, parts get lost, and those that are left would be waited for
            self.lists[CUT] = [f"m{i}@cut.example.org" for i in range(3)]
        self.instance = make_instance(self.sink.port, self.place, self.disk.mount_point, self.chance)
        if not syncs:
            self._leave_out_syncs()
        self.instance.start()
        wishes = {CUT: ["defragment=on"], HELD: ["default_nonmember_action=hold", "admin_immed_notify=false",
                                                 "respond_to_post_requests=false"]}
        for address, there in self.lists.items():
            self.instance.create_list(address.partition("@")[0], there, settings=wishes.get(address, []))
        if not syncs:  # the database at least is there: it may have been made by one of those
            subprocess.run(["sync", "-f", self.disk.mount_point], check=True)
        self.senders = Senders(self.instance, self.lists, self.seed, count=4, pause=0.003, in_parts={CUT},
                               bounced=set(members()))
        self.senders.start()

    def _leave_out_syncs(self):
        """Runs those that do not write to the database with libeatmydata; the master hands no LD_PRELOAD down."""
        for name in ("lmtp", "pipeline", "out", "archive"):
            script = self.place / f"{name}-without-syncs"
            program = prefix() / "libexec" / "listrunner" / name
            script.write_text(f"#!/bin/sh\nLD_PRELOAD=libeatmydata.so exec {program} \"$@\"\n")
            script.chmod(0o755)
            self.instance.set({f"runner.{name}": {"command": script}})

    def _options(self):
        """With notreelog an fsync of btrfs is a commit; its log does not keep what it promised (INTERNALS.md)."""
        options = ["noatime"] + (["notreelog"] if self.disk.kind == "btrfs" and not self.treelog else [])
        if self.disk.kind in ("ext4", "btrfs") and self.chance.random() < 0.5:
            options.append("commit=1")
        return ",".join(options)

    def round(self):
        """One cut, under load or, one time in four, in the middle of the recovery from the one before."""
        if self.cuts == 0 or self.chance.random() < 0.75:
            before, some = self.senders.accepted(), self.chance.randrange(1, 40)
            wait_until(lambda: self._alive() and self.senders.accepted() >= before + some, 60,
                       lambda: f"mail to be accepted\n{self.instance.log_text()[-3000:]}", 0.002)
        else:
            time.sleep(self.chance.random() * 0.15)
        pids = freeze(self.instance)
        self.history.append(self.disk.cut(self.chance))
        end(self.instance, pids)
        self.disk.unmount()
        self.cuts += 1
        if self.keep:
            self.saved.append(self.place / f"image-after-cut-{self.cuts}")
            self.disk.save(self.saved[-1])
        self.disk.mount(self._options())
        self.instance.set(settings(self.disk.mount_point, self.chance))
        self.instance.start(wait=False)

    def _alive(self):
        code = self.instance.process.poll()
        assert code is None, f"the master ended with code {code}:\n{self.instance.log_text()[-3000:]}"
        return True

    def settle(self):
        """Lets everything drain; the accounts since the file system was made."""
        self.senders.stop()
        self.instance.wait_ready()
        left = self._parts_left()
        self.instance.wait_idle(120)
        held = self.instance.cli("held", "ls", "--names").split()
        if held:
            self.instance.cli("held", "accept", *held)
            self.instance.wait_idle(60)
        accounts = examine(self.instance, self.sink.transactions(), self.senders.attempts, self.lists,
                           self.senders.reports)
        accounts.faults += [f"{part} waits for parts that do not come" for part in left]
        if accounts.repeats > self.cuts * BOUND_OF_ONE_CUT:
            accounts.faults.append(f"{accounts.repeats} repeats are more than {self.cuts} cuts x {BOUND_OF_ONE_CUT}")
        if not accounts.faults:
            while self.saved:
                self.saved.pop().unlink()
        self.senders.start()
        return accounts

    def _parts_left(self, seconds=60):
        """Return the parts that are still in the queue then: every set was sent whole. (NAME.tmp is no entry yet.)"""
        deadline = time.monotonic() + seconds
        while True:
            left = [name for name in self.instance.files("defragment")["defragment"] if not name.endswith(".tmp")]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    def close(self, remove=True):
        """Ends it. Without remove everything stays for inspection, unmounted."""
        try:
            if self.senders:
                self.senders.stop()
        finally:
            if self.instance and self.instance.process and self.instance.process.poll() is None:
                end(self.instance, freeze(self.instance))
            for part in (self.sink, self.disk):
                if part:
                    part.close()
            if remove:
                shutil.rmtree(self.place)


def summary(kind, generation, accounts):
    return (f"{kind}: {generation.cuts} cuts, {accounts.accepted} posts accepted and {accounts.unknown} cut off, "
            f"{accounts.bounces} bounces, "
            f"{accounts.delivered} copies delivered, {accounts.repeats} of them once more "
            f"(bound {generation.cuts} x {SESSIONS} sessions x {RECIPIENTS} recipients = "
            f"{generation.cuts * BOUND_OF_ONE_CUT})")
