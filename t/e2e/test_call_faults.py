# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Installed programs whose n-th call that changes or syncs a file fails, or in which they are killed
(t/tools/failcall.c): what was accepted comes to each member and into each archive once, the log says what failed, and
the service goes on."""
import email
import errno
import os
import re
import shutil
import signal
import smtplib
import struct
import subprocess
import time

import pytest

from support.attempts import ACCEPTED, REFUSED, Accounts, Attempt
from support.instance import prefix, tool, wait_until
from support.post import post
from support.wire import body_sha

pytestmark = pytest.mark.proof

PLAN = "=qii80s"
FAR = 1 << 40
MEMBERS = [f"m{i}@members.example.org" for i in range(3)]
KILL = 0
# One way to fail at every call, the others at some.
WAYS = [(errno.EIO, 1), (errno.ENOSPC, 3), (KILL, 2)]
# Of this file the last octet written says that all is done; when it cannot be, the next start finds that out by itself.
UNTOLD = ".mbox.intent"
LETTERS = "".join(f"line {i}\n" for i in range(60))


class Plan:
    def __init__(self, instance, runners, under=None):
        under = under or f"{instance.spool}/:{instance.archive}/"
        self.path = instance.directory / "plan"
        self.path.write_bytes(bytes(struct.calcsize(PLAN)))
        instance.own(self.path)
        library = shutil.copy(tool("failcall.so"), instance.directory)
        os.chmod(library, 0o755)
        for name in runners:
            script = instance.directory / f"failing-{name}"
            program = prefix() / "libexec" / "listrunner" / name
            script.write_text(f"#!/bin/sh\nexport LD_PRELOAD={library} FAILCALL_PLAN={self.path} "
                              f"FAILCALL_UNDER={under}\nexec {program} \"$@\"\n")
            script.chmod(0o755)
            instance.set({f"runner.{name}": {"command": script}})
        self.arm(FAR, errno.EIO)

    def arm(self, calls, error):
        with open(self.path, "r+b") as file:
            file.write(struct.pack(PLAN, calls, error, 0, b""))

    def state(self):
        """(calls left, the call that failed and where, or "")."""
        left, _, hits, what = struct.unpack(PLAN, self.path.read_bytes())
        return left, what.split(b"\0")[0].decode() if hits else ""


class Site:
    """An instance with a runner that fails; every attempt to post is known."""

    def __init__(self, instances, sink, runner):
        self.sink, self.runner, self.attempts, self.count = sink, runner, {}, 0
        self.instance = instances(sink.port, settings={
            f"runner.{runner}": {"instances": 1}, "master": {"restart_delay_min": "10ms", "restart_delay_max": "20ms"}})
        self.plan = Plan(self.instance, [runner])
        self.instance.start()
        self.address = self.instance.create_list("test", MEMBERS)
        self.post()  # makes what is made once
        self.drain()

    def post(self):
        self.count += 1
        name = f"<{self.count}@load.example>"
        octets = post(message_id=name, to=self.address, body=f"{name}\n{LETTERS}")
        attempt = self.attempts[name] = Attempt(name, self.address, body_sha(octets))
        try:
            self.instance.lmtp_send(octets, self.address)
        except (smtplib.SMTPServerDisconnected, ConnectionError):
            return attempt
        except smtplib.SMTPResponseException as error:
            attempt.result = REFUSED
            assert 400 <= error.smtp_code < 500, error
            return attempt
        except smtplib.SMTPRecipientsRefused as error:
            attempt.result = REFUSED
            assert all(400 <= code < 500 for code, _ in error.recipients.values()), error
            return attempt
        attempt.result = ACCEPTED
        return attempt

    def drain(self):
        """Let nothing wait for a better time."""
        deadline = time.monotonic() + 60
        self.instance.wait_ready()
        while not self.instance.idle():
            assert time.monotonic() < deadline, self.instance.under_way()
            for queue in ("in", "archive"):
                if self.instance.files(queue)[queue]:
                    self.instance.run("queue", "edit-due", "now", "--queue", queue)
            time.sleep(0.02)

    def calls_of_one(self):
        """How many calls one post takes."""
        self.plan.arm(FAR, errno.EIO)
        self.post()
        self.drain()
        return FAR - self.plan.state()[0]

    def fail_at(self, number, error):
        """The name of the call that failed, "" when it did not come to that; and what the log said since."""
        before = len(self.instance.log_text())
        self.plan.arm(number, error)
        self.post()
        self.drain()
        _, what = self.plan.state()
        self.plan.arm(FAR, error)
        return what, self.instance.log_text()[before:]

    def judge(self):
        assert self.instance.stop(30) == 0
        self.instance.start()  # takes in what a killed server left whole
        self.drain()
        archive = self.instance.archive
        accounts = Accounts(self.attempts, {self.address: MEMBERS}, self.sink.transactions(), [archive / "maildir"],
                            [archive / "mbox"])
        assert not accounts.faults, accounts.faults[:10]
        assert not self.instance.set_aside()
        return accounts


@pytest.mark.parametrize("runner", ["lmtp", "archive", "in"])
def test_every_call(instances, sink, runner):
    if not tool("failcall.so").exists():
        pytest.skip("t/tools/failcall.so was not built")
    site = Site(instances, sink, runner)
    calls, failed = site.calls_of_one(), {}
    assert calls >= 5
    for error, step in WAYS:
        for number in range(1, calls + 1, step):
            what, said = site.fail_at(number, error)
            if not what:
                continue
            call = what.split()[0]
            failed[call] = failed.get(call, 0) + 1
            words = "signal 9 (Killed)" if error == KILL else os.strerror(error)
            if what.endswith(UNTOLD) and error != KILL:
                continue
            assert words in said, f"call {number} ({what}), {words}: {said}"
    accounts = site.judge()
    print(f"{runner}: {calls} calls a post; failed: {failed}; {len(site.attempts)} posts, "
          f"{accounts.accepted} accepted, {accounts.delivered} copies, {accounts.repeats} of them once more")
    assert accounts.repeats == 0 and len(failed) > 3
    assert sum(failed.values()) >= calls


def test_failing_starts(instances, sink):
    """A runner whose start fails in any of its calls, the syncs of recovery among them, works on nothing before another
    start has made them all; the master sees to that one."""
    if not tool("failcall.so").exists():
        pytest.skip("t/tools/failcall.so was not built")
    site = Site(instances, sink, "in")
    instance, failed, recoveries = site.instance, [], 0
    for number in range(1, 100):
        instance.set({"runner.in": {"start": "no"}})
        instance.cli("reload")
        wait_until(lambda: not instance.pids("in"), 30, "the runner to be gone")
        site.post()
        wait_until(lambda: instance.files("in")["in"], 30, "the post to wait")
        before = len(instance.log_text())
        site.plan.arm(number, errno.EIO)
        instance.set({"runner.in": {"start": "yes"}})
        instance.cli("reload")
        site.drain()
        said = instance.log_text()[before:]
        if "cannot start" not in said:
            break
        failed.append(site.plan.state()[1])
        recoveries += "cannot start: recovery of queue in" in said
    site.plan.arm(FAR, errno.EIO)
    print(f"calls of a start: {failed}; {recoveries} of recovery")
    assert recoveries > 3
    assert site.judge().repeats == 0


def test_damaged_entries(instances, sink):
    """Octets that go bad in the queues of the installed archive and out: whole in corrupt/, none delivered."""
    instance = instances(sink.port, settings={f"runner.{name}": {"start": "no"} for name in ("archive", "out")}).start()
    address = instance.create_list("test", MEMBERS)
    count = 12
    for number in range(count):
        instance.lmtp_send(post(message_id=f"<{number}@load.example>", to=address, body=LETTERS), address)
    wait_until(lambda: all(len(instance.files(queue)[queue]) == count for queue in ("archive", "out")), 30,
               "all entries in archive and out")
    instance.stop()
    damaged = {}
    for queue in ("archive", "out"):
        for number, name in enumerate(instance.files(queue)[queue][1:], 1):  # the first stays whole
            path = instance.spool / queue / name
            octets = bytearray(path.read_bytes())
            if number % 3 == 0:
                del octets[len(octets) * number // count:]
            else:
                octets[len(octets) * number // (count + 1)] ^= 1 << number % 8
            path.write_bytes(octets)
            damaged[bytes(octets)] = queue
    instance.set({f"runner.{name}": {"start": "yes"} for name in ("archive", "out")})
    instance.start()
    wait_until(lambda: not any(instance.files("archive", "out").values()), 30, "archive and out to be empty")
    kept = [(instance.spool / "corrupt" / name).read_bytes() for name in instance.files("corrupt")["corrupt"]]
    assert sorted(kept) == sorted(damaged)
    assert sorted(to for _, to in sink.copies()) == sorted(MEMBERS)
    assert len(list((instance.archive / "maildir").glob("*/new/*"))) == 1
    assert "panic" not in instance.log_text() and not instance.files("shunt")["shunt"]


class Digests:
    """A list of which Bart and Cora get digests, whose runner is killed; and what has come to them."""

    def __init__(self, instances, sink):
        self.sink, self.count = sink, 0
        self.instance = instances(sink.port, settings={
            "runner.digest": {"instances": 1}, "master": {"restart_delay_min": "10ms", "restart_delay_max": "20ms"}})
        self.plan = Plan(self.instance, ["digest"], f"{self.instance.spool}/:{self.instance.directory / 'lib'}/")
        self.instance.start()
        self.address = self.instance.create_list("test", ["bart@example.org", "cora@example.org", "dora@example.org"],
                                                 settings=["digest_size_threshold=0", "digest_post_threshold=2"])
        self.mode("bart", "mime_digests")
        self.mode("cora", "plaintext_digests")

    def mode(self, who, which):
        self.instance.cli("member", "set", self.address, f"{who}@example.org", "--delivery-mode", which)

    def drain(self):
        def done():
            if self.instance.files("digest")["digest"]:
                self.instance.run("queue", "edit-due", "now", "--queue", "digest")
            return self.instance.idle()
        self.instance.wait_ready()
        wait_until(done, 60, "nothing to be under way", 0.02)

    def post(self):
        self.count += 1
        self.instance.lmtp_send(post(message_id=f"<{self.count}@load.example>", subject=f"N{self.count}",
                                     to=self.address, body=f"body {self.count}.\n"), self.address)

    def round(self):
        """A post is collected, one makes an issue due, which is also the last one of who left the mode; one goes when
        asked for, and of two who ask at once one comes too late."""
        self.mode("dora", "mime_digests")
        self.post()
        self.drain()
        self.mode("dora", "regular")
        self.post()
        self.drain()
        self.post()
        self.drain()
        self.instance.cli("digest", "send", self.address)
        self.instance.run("digest", "send", self.address)
        self.drain()

    def killed_at(self, number):
        """The call in which the runner was killed, "" when there were fewer."""
        self.plan.arm(number, KILL)
        self.round()
        what = self.plan.state()[1]
        self.plan.arm(FAR, KILL)
        return what


def issues_of(sink, who):
    """[(subject, the bodies of its posts)] of the digests that somebody has got."""
    found = []
    for transaction in sink.transactions():
        subject = email.message_from_bytes(transaction.octets)["Subject"]
        if who in transaction.to and "Digest" in subject:
            found.append((subject, re.findall(rb"^body (\d+)\.\r?$", transaction.octets, re.MULTILINE)))
    return found


def test_digest(instances, sink):
    """The runner digest is killed in each call by which it changes its queue, the pipeline's and the store: each post
    is in one issue of each reader, once, no number is left out or used twice, and who leaves gets one last issue."""
    if not tool("failcall.so").exists():
        pytest.skip("t/tools/failcall.so was not built")
    site = Digests(instances, sink)
    rounds, killed = 0, []
    step = 1 if os.environ.get("LISTRUNNER_EXHAUSTIVE") else 9  # calls next to each other are much alike
    for number in range(1, 1000, step):
        what = site.killed_at(number)
        rounds += 1
        if not what:
            break
        killed.append(what)
    assert len(killed) >= 10 and any("lib/" in what for what in killed)
    posts = [str(number).encode() for number in range(1, site.count + 1)]
    numbers = [f"[Test] Digest, Vol 1, Issue {number}" for number in range(1, 2 * rounds + 1)]
    for who in ("bart@example.org", "cora@example.org"):
        issues = sorted(issues_of(sink, who), key=lambda issue: int(issue[0].split()[-1]))
        assert [subject for subject, _ in issues] == numbers
        assert [body for _, bodies in issues for body in bodies] == posts
    last = issues_of(sink, "dora@example.org")
    assert sorted(bodies for _, bodies in last) == sorted(posts[at:at + 2] for at in range(0, len(posts), 3))
    assert not site.instance.set_aside()
    print(f"digest: {len(killed)} calls: {killed}")


def test_held_accept(instances, sink):
    """`held accept` is killed in each of its calls, the timer settles what it left, and it is made again: each post
    goes out once, also when its runner put it off in between."""
    if not tool("failcall.so").exists():
        pytest.skip("t/tools/failcall.so was not built")
    instance = instances(sink.port, settings={"runner.pipeline": {"start": "no"}}).start()
    address = instance.create_list("test", MEMBERS, settings=["default_nonmember_action=hold"])
    plan, queue, killed, waiting = Plan(instance, []), instance.spool / "pipeline", 0, set()
    environment = {**os.environ, "LD_PRELOAD": str(instance.directory / "failcall.so"), "FAILCALL_PLAN": str(plan.path),
                   "FAILCALL_UNDER": f"{instance.spool}/:{instance.directory / 'lib'}/"}

    def held():
        return instance.cli("held", "ls", "--names").split()

    def copies():
        return sum(to in MEMBERS for _, to in sink.copies())

    for count in range(1, 1000):
        instance.lmtp_send(post(message_id=f"<{count}@load.example>", to=address, body=LETTERS), address)
        number, = wait_until(held, 20, "the post to be held")
        plan.arm((count + 1) // 2, KILL)
        code = subprocess.run([prefix() / "bin" / "listrunner", "--config", instance.config, "held", "accept", number],
                              env=environment, stdout=subprocess.DEVNULL).returncode
        assert code == (-signal.SIGKILL if plan.state()[1] else 0)
        killed += code != 0
        stored = {path.name for path in queue.glob("*.msg")} - waiting
        if count % 2 == 0 and stored:
            name, = stored
            (queue / name).rename(queue / ("2" + name[1:]))
        instance.run_job("outbox")
        if held():
            instance.cli("held", "accept", number)
        else:
            assert instance.run("held", "accept", number).returncode == 66
        waiting = {path.name for path in queue.glob("*.msg")}
        assert len(waiting) == count and not held(), plan.state()
        assert {path.name for path in queue.glob("*.tmp")} <= {path.name for path in queue.glob("*.unit=*")}
        if code == 0 and count % 2 == 0:
            break
    assert killed >= 20
    instance.cli("queue", "edit-due", "now", "--queue", "pipeline")
    instance.set({"runner.pipeline": {"start": "yes"}})
    instance.cli("reload")
    wait_until(lambda: copies() >= count * len(MEMBERS), 60, "all posts at all members")
    instance.wait_idle()
    assert copies() == count * len(MEMBERS) and not instance.set_aside()
