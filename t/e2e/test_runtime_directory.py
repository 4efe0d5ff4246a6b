# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The runtime directory is removed under a running site: it comes back, with all that was in it."""
import os
import re
import shutil
import signal
import socket
import stat
import subprocess

import pytest

from support.instance import prefix, wait_until
from support.post import post


def delivered(sink):
    return sum(len(one.to) for one in sink.transactions())


def is_well(instance):
    return instance.run("status").returncode == 0


@pytest.fixture
def running(instances, sink):
    instance = instances(sink.port)
    own = instance.directory / "own"
    own.mkdir()
    instance.own(own)
    instance.runtime = own / "run"
    instance.set({"master": {"runtime_directory": instance.runtime},
                  "runner.lmtp": {"listen": f"127.0.0.1:{instance.port} unix:{instance.runtime}/lmtp"}})
    instance.start()
    return instance, instance.create_list("test", ["m@members.example.org"])


def test_it_is_made_with_those_above(instances, sink):
    instance = instances(sink.port)
    instance.set({"master": {"runtime_directory": instance.directory / "no" / "such" / "run"}})
    instance.runtime = instance.directory / "no" / "such" / "run"
    assert instance.start().status()["healthy"]


def test_directories_of_others_are_named(instances, sink):
    """Each message has the setting, the path and the reason."""
    if os.getuid() != 0:
        pytest.skip("only root can take a directory from its user")
    instance = instances(sink.port)
    instance.create_store()
    log = instance.directory / "of-root.log"
    log.touch()
    program = prefix() / "bin" / "listrunner"
    for user in (None, 65533):  # one without a name, too
        done = subprocess.run([program, "-c", instance.config, "start", "--log", log], user=user,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 75 and f"open the log {log} as the user" in done.stderr and \
            "Permission denied" in done.stderr, done.stderr
    os.chown(instance.spool, 0, 0)
    instance.spool.chmod(0o755)
    done = instance.run("start", "--log", instance.directory / "lib" / "log")
    assert done.returncode == 75 and "[spool] directory" in done.stderr and str(instance.spool) in done.stderr and \
        "Permission denied" in done.stderr, done.stderr


def test_it_is_made_again(running, sink):
    instance, address = running
    wait_until(lambda: is_well(instance), 30, "a healthy start")
    first = (instance.runtime / "out-0.sock").stat().st_ctime_ns
    pids = instance.pids("in")
    shutil.rmtree(instance.runtime)
    os.kill(pids[0], signal.SIGKILL)
    wait_until(lambda: (instance.runtime / "control.sock").exists() and is_well(instance), 30, "status to answer")
    for name in ("lmtp", "out-0.sock", "control.sock"):
        wait_until(lambda: (instance.runtime / name).exists(), 30, name)
        assert stat.S_ISSOCK((instance.runtime / name).stat().st_mode)
    # Only the user and its group may speak to a runner, and no crash leaves keys in a core file.
    lmtp = (instance.runtime / "lmtp").stat()
    assert (lmtp.st_mode & 0o777, lmtp.st_gid) == (0o660, os.stat(f"/proc/{instance.pids('lmtp')[0]}").st_gid)
    for runner in ("lmtp", "out"):
        limits = open(f"/proc/{instance.pids(runner)[0]}/limits").read()
        assert re.search(r"Max core file size +0 +0 ", limits), limits
    assert (instance.runtime / "out-0.sock").stat().st_ctime_ns != first
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(instance.runtime / "lmtp"))
        wait_until(lambda: client.recv(3) == b"220", 30, "a greeting", step=0)
    instance.lmtp_send(post(to=address), address)
    wait_until(lambda: delivered(sink) == 1, 60, "the copy")
    assert instance.run("reload").returncode == 0
    instance.stop()
    assert not instance.leftovers()


def test_it_cannot_be_made(running, sink):
    """A file in its place: runners are started nevertheless, and the command line says what is the matter."""
    instance, address = running
    wait_until(lambda: is_well(instance), 30, "a healthy start")
    pids = instance.pids("in")
    shutil.rmtree(instance.runtime)
    instance.runtime.write_text("")
    os.kill(pids[0], signal.SIGKILL)
    instance.lmtp_send(post(to=address), address)
    wait_until(lambda: delivered(sink) == 1, 60, "the copy")
    status = instance.run("status")
    assert status.returncode != 0
    wait_until(lambda: "nobody can ask" in instance.log_text(), 30, "a line in the log")
    os.unlink(instance.runtime)
    wait_until(lambda: is_well(instance), 30, "status to answer")
