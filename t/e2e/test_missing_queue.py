# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The directory of a queue is taken away: mail waits where it is, everybody who asks is told, and all goes on by itself
when the directory is back."""
import json
import os
import signal
import smtplib

import pytest

from support.instance import wait_until
from support.post import post

MEMBERS = ["m1@members.example.org", "m2@members.example.org"]


@pytest.fixture
def running(instances, sink):
    instance = instances(sink.port).start()
    return instance, [instance.create_list(name, MEMBERS) for name in ("one", "two")]


def delivered(sink):
    return sum(len(one.to) for one in sink.transactions())


def statuses(instance):
    status = instance.run("status", "--json")
    return status.returncode, [one["queue"] for one in json.loads(status.stdout)["missing"]]


def metric(instance, line):
    return line in instance.cli("metrics").splitlines()


@pytest.mark.parametrize("repair", [True, False])
def test_out_is_removed(running, sink, repair):
    """Under a runner that works it, and before others that write into it."""
    instance, lists = running
    out = instance.spool / "out"
    wait_until(out.exists, 20, "the runner out")
    out.rmdir()
    for address in lists * 2:
        instance.lmtp_send(post(to=address), address)
    wait_until(lambda: instance.log_text().count("result=later") >= 4, 30, "posts put back")
    assert not out.exists() and len(instance.files("in")["in"]) == 4
    wait_until(lambda: statuses(instance) == (1, ["out"]), 20, "status to tell")
    assert "The directory of the queue out is missing" in instance.run("status").stdout
    assert metric(instance, 'listrunner_queue_missing{queue="out"} 1')
    check = instance.run("spool", "check")
    assert check.returncode == 1 and "missing" in check.stdout and "out" in check.stdout
    if repair:
        instance.run("spool", "check", "--repair")
    else:
        out.mkdir(mode=0o750)
        instance.own(out)
    wait_until(lambda: delivered(sink) == 8, 60, "all copies")
    assert not instance.files("shunt")["shunt"]
    wait_until(lambda: statuses(instance) == (0, []), 30, "status to be well")
    assert instance.run("spool", "check").returncode == 0


def test_out_cannot_be_used(running, sink):
    """Something else is in its place: an empty directory would mend nothing, and nobody is told to make one."""
    instance, (address, _) = running
    out, aside = instance.spool / "out", instance.directory / "aside"
    wait_until(out.exists, 20, "the runner out")
    out.rename(aside)
    out.touch()
    instance.lmtp_send(post(to=address), address)
    wait_until(lambda: statuses(instance) == (1, ["out"]), 20, "status to tell")
    told = instance.run("status").stdout
    assert "out cannot be used, and mail for it waits (Not a directory):" in told and "--repair" not in told, told
    check = instance.run("spool", "check", "--repair")
    assert check.returncode != 0 and "is gone" not in check.stdout + check.stderr
    assert "something else is in its place; move that away" in check.stderr, check.stderr
    out.unlink()
    aside.rename(out)
    wait_until(lambda: delivered(sink) == 2, 60, "the copies")
    wait_until(lambda: statuses(instance) == (0, []), 30, "status to be well")


def test_in_is_removed(running, sink):
    """The door says 4xx, the command line and REST that it may pass; nobody makes it anew."""
    instance, (address, _) = running
    queue = instance.spool / "in"
    wait_until(queue.exists, 20, "the runner in")
    queue.rmdir()
    with pytest.raises(smtplib.SMTPDataError) as refused:
        instance.lmtp_send(post(to=address), address)
    assert refused.value.smtp_code == 451
    done = instance.run("inject", address, input=post(to=address).decode())
    assert done.returncode == 75 and "was there and is gone" in done.stderr
    wait_until(lambda: statuses(instance) == (1, ["in"]), 20, "status to tell")
    assert not queue.exists()
    instance.run("spool", "check", "--repair")
    instance.lmtp_send(post(to=address), address)
    wait_until(lambda: delivered(sink) == 2, 60, "the copies")


def test_in_dies_while_out_is_gone(running, sink):
    """Mail that waited for the queue that is gone waits on; the runner that starts anew serves others."""
    instance, (one, two) = running
    out = instance.spool / "out"
    wait_until(out.exists, 20, "the runner out")
    instance.cli("list", "set", two, "default_member_action", "hold")
    instance.cli("list", "set", two, "default_nonmember_action", "hold")
    out.rename(instance.spool / "Elsewhere")
    instance.lmtp_send(post(to=one), one)
    wait_until(lambda: "result=later" in instance.log_text(), 30, "the post put back")
    before, = instance.pids("in")
    os.kill(before, signal.SIGKILL)
    # Mail that comes before another process has looked for the first time waits, too.
    wait_until(lambda: instance.log_text().count("master: in[0]: ready") == 2, 30, "another process")
    instance.lmtp_send(post(to=two), two)
    wait_until(lambda: len(instance.cli("held", "ls", "--json").splitlines()) == 1, 30, "the post to be held")
    wait_until(lambda: len(instance.files("in")["in"]) == 1, 30, "its entry to go")
    wait_until(lambda: statuses(instance) == (1, ["out"]), 20, "status to tell")
    (instance.spool / "Elsewhere").rename(out)
    wait_until(lambda: sum(len(set(one.to) & set(MEMBERS)) for one in sink.transactions()) == 2, 60, "the copies")
    wait_until(lambda: not instance.files("in")["in"], 30, "its queue to be empty")
    assert not instance.files("shunt")["shunt"]
