#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The life of children under the real master (site_rig.py, fake_child.py):
one behaviour a test."""
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from site_rig import MASTER, PATIENCE, alive, free_port, rescale_by_reload, run, until  # noqa: E402


def test_readiness(site):
    site.modes({"in": "startup=3"})
    site.runners["in"]["instances"] = 2
    site.configure()
    before = time.monotonic()
    site.start(wait=False)
    until(lambda: os.path.exists(site.path("run/control.sock")), "control socket")
    until(lambda: {c["state"] for c in site.children()} == {"starting"}, "starting children")
    assert oct(os.stat(site.path("run/control.sock")).st_mode & 0o777) == "0o660"
    until(lambda: site.all_ready("in", 2), "ready children")
    assert time.monotonic() - before >= 3
    child = until(lambda: [c for c in site.children() if c["progress"] > 2], "beats")[0]
    assert child["done"] == child["progress"] and child["backlog"] == 0 and child["holding"] is None
    status = site.ask(verb="status")
    assert status["healthy"] and status["pid"] == site.process.pid and status["config"] == site.path("l.conf")
    assert site.stop() == 0


def test_contract(site):
    site.runners["in"]["listen"] = f"127.0.0.1:{free_port()}, unix:{site.path('sock')}"
    site.modes({"in": "environment"})
    site.configure()
    site.start(SECRET_OF_THE_SITE="x", NOTIFY_SOCKET="", LC_TIME="C")
    names = {row[5].split()[1] for row in site.journal(event="env")}
    for name in ("CONFIG", "RUNNER", "INSTANCE", "INSTANCES", "LISTEN_FDS", "LOCK_FD"):
        assert "LISTRUNNER_" + name in names, name
    assert "LC_TIME" in names and "SECRET_OF_THE_SITE" not in names and "NOTIFY_SOCKET" not in names, names
    pid = site.journal(event="start")[0][4]
    links = {int(fd): os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    assert sorted(links) == [0, 1, 2, 3, 4, 5, 6], links
    assert links[0] == "/dev/null" and links[1] == links[2] == site.path("log"), links
    assert links[3].startswith("pipe:") and links[4].startswith("socket:") and links[5].startswith("socket:"), links
    assert links[6] == site.path("spool/.master/in.slices"), links
    with open(f"/proc/{pid}/status") as file:
        status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    assert status["NoNewPrivs"].strip() == "1"
    assert int(status["SigBlk"], 16) == 0 and not int(status["SigIgn"], 16) & 1 << signal.SIGHUP - 1
    with socket.socket(socket.AF_UNIX) as client:  # the master listens for its children
        client.connect(site.path("sock"))
    site.stop()
    assert not os.path.exists(site.path("sock"))


def test_back_off(site):
    site.modes({"in": "die code=75"})
    site.start()
    until(lambda: len(site.journal(event="start")) >= 6, "six starts")
    # The first time at once. By the master's word: how long a start takes depends on the machine.
    delays = re.findall(r" in\[0\]: starts again in (\S+) s", open(site.path("log")).read())
    assert delays[:4] == ["0.1", "0.2", "0.4", "0.4"], delays
    child = until(lambda: [c for c in site.children() if c["state"] == "throttled"], "throttled child")[0]
    assert child["pid"] is None and not child["healthy"] and child["retry_in"] <= 0.4
    assert child["last_exit"].startswith("exit 75"), child
    assert not site.ask(verb="status")["healthy"]
    site.modes({})
    until(lambda: site.all_ready("in", 1), "recovered child")
    assert site.ask(verb="status")["healthy"]


def test_first_death_at_once(site):
    site.master.update(restart_delay_min="30s", restart_delay_max="60s")
    site.configure()
    site.start()
    pid = site.children()[0]["pid"]
    os.kill(pid, signal.SIGSEGV)
    child = until(lambda: [c for c in site.children() if c["state"] == "ready" and c["pid"] != pid], "new child", 25)[0]
    assert child["restarts"] == 1 and "signal 11" in child["last_exit"], child


def test_loop_is_told(site):
    """A child that dies again and again, and is ready in between, is not well."""
    site.master.update(restart_delay_min="50ms", restart_delay_max="50s")
    site.configure()
    site.start()
    for _ in range(3):
        assert site.ask(verb="status")["healthy"]
        pid = site.children()[0]["pid"]
        os.kill(pid, signal.SIGSEGV)
        child = until(lambda: [c for c in site.children() if c["state"] == "ready" and c["pid"] != pid], "new child")[0]
    assert child["deaths"] == 3 and not child["healthy"], child
    assert not site.ask(verb="status")["healthy"]


def test_killed_from_outside(site):
    """The next process learns it: no entry is charged, unless it is the same one again and again."""
    site.master.update(restart_delay_min="10ms", restart_delay_max="10ms")
    def told():
        return [row[5].split()[1] for row in site.journal(event="outside")]
    site.modes({"in": "environment kill"})
    site.configure()
    site.start(wait=False)
    until(lambda: len(told()) >= 7, "seven starts")
    assert told()[:7] == ["1"] * 5 + ["0"] * 2
    assert "from outside" in site.children()[0]["last_exit"]
    site.modes({"in": "environment kill holding=other"})
    until(lambda: told()[-1] == "1", "another entry in hand")
    site.modes({"in": "environment crash"})
    until(lambda: told()[-2:] == ["0", "0"], "crashes")


def test_crashes_at_work(site):
    """A child that gets something done between its crashes is started at once each time."""
    site.master.update(restart_delay_min="30s", restart_delay_max="60s")
    site.configure()
    site.modes({"in": "crash"})
    site.start(wait=False)
    until(lambda: len(site.journal(event="start")) >= 6, "six starts", 25)


def test_crashes_charged(site):
    """One that gets nothing done waits, but not longer each time."""
    site.master.update(restart_delay_min="100ms", restart_delay_max="60s")
    site.configure()
    site.modes({"in": "crash done=0"})
    site.start(wait=False)
    until(lambda: len(site.journal(event="start")) >= 12, "twelve starts", 40)  # doubled: 51 s
    starts = [row[0] for row in site.journal(event="start")]
    assert all(b - a >= 0.1 for a, b in zip(starts[1:], starts[2:])), starts


def test_config_exit(site):
    site.master.update(restart_delay_min="100ms", restart_delay_max="60s")
    site.configure()
    site.modes({"in": "config"})
    site.start()
    child = until(lambda: [c for c in site.children() if c["state"] == "failed config"], "failed child")[0]
    assert child["last_exit"].endswith("key x is wrong") and child["retry_in"] > 50, child
    time.sleep(0.5)
    assert len(site.journal(event="start")) == 1  # it does not spin
    site.modes({})
    assert site.ask(verb="reload")["ok"]  # and it need not wait
    until(lambda: site.all_ready("in", 1), "child after the reload")


def test_missing_program(site):
    os.rename(site.command, site.command + ".kept")
    shutil.copy("/bin/true", site.command)
    site.start(wait=False)
    until(lambda: site.said("died"), "death")
    os.rename(site.command, site.command + ".gone")
    child = until(lambda: [c for c in site.children() if c["state"] == "failed config"], "failed child")[0]
    assert "No such file" in child["last_exit"], child


def test_stall(site):
    entry = "1700000000.000001+" + "ab" * 20
    site.master["stall_timeout"] = "3s"
    site.configure()
    site.modes({"in": "hang"})
    site.start(wait=False)
    first = until(lambda: site.journal(event="start"), "start")[0][4]
    site.modes({})  # for the next one; the first has read its own
    until(lambda: site.said("has stalled"), "stall")
    until(lambda: site.children()[0]["pid"] not in (first, None), "new process")
    line = [line for line in site.text().splitlines() if "has stalled" in line][0]
    assert f"pid {first} " in line and f"holding={entry}" in line, line
    assert "signal 9" in site.children()[0]["last_exit"]
    time.sleep(3.5)  # one that beats is left alone
    assert site.text().count("has stalled") == 1


def test_stuck_but_beating(site):
    site.master["stall_timeout"] = "8s"
    site.configure()
    site.modes({"in": "stuck"})
    site.start()
    first = site.children()[0]["pid"]
    child = until(lambda: [c for c in site.children() if c["stalled"]], "stalled child")[0]
    assert child["pid"] == first and not site.ask(verb="status")["healthy"]
    began = time.monotonic()
    until(lambda: site.children()[0]["pid"] not in (first, None), "new process")
    assert time.monotonic() - began > 1  # shown after half the time, killed after all of it
    assert "holding=stuck-entry" in site.text()


def test_mute_start(site):
    site.master["stall_timeout"] = "1s"
    site.configure()
    site.modes({"in": "mute leak"})
    site.start(wait=False)
    until(lambda: site.said("has stalled"), "stall of a child that is never ready")


def test_garbage(site):
    site.modes({"in": "garbage"})
    site.start()
    child = until(lambda: [c for c in site.children() if c["progress"] == 7], "beat in two pieces")[0]
    assert child["oldest"] == "12.000345" and child["restarts"] == 0, child
    assert site.text().count("garbage") == 1


def test_graceful_stop(site):
    site.runners["in"]["instances"] = 4
    site.configure()
    site.modes({"in": "linger=3"})
    site.start()
    before = time.monotonic()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(site.path("run/control.sock"))
        client.sendall(b'{"verb":"stop"}\n')
        stream = client.makefile()
        assert json.loads(stream.readline()) == {"ok": True}
        assert not site.ask(verb="reload")["ok"]
        assert site.ask(verb="status")["state"] == "stopping"
        assert stream.readline() == ""  # the end is the master's end
    assert site.wait() == 0 and time.monotonic() - before >= 3
    assert len(site.journal(event="end")) == 4 and not os.path.exists(site.path("run/control.sock"))


def test_stop_kills(site):
    site.master["stop_timeout"] = "1s"
    site.configure()
    site.modes({"in": "deaf"})
    site.start()
    before = time.monotonic()
    assert site.stop() == 0
    assert 1 <= time.monotonic() - before < PATIENCE
    assert not alive(site.journal(event="start")[0][4])


def notify_socket(site, abstract):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.settimeout(PATIENCE)
    name = f"\0listrunner-test-{os.getpid()}" if abstract else site.path("notify")
    server.bind(name)
    return server, name.replace("\0", "@")


def read_until(server, words):
    seen = []
    while True:
        seen.append(server.recv(4096).decode())
        if words in seen[-1]:
            return seen


def test_notify(site):
    server, name = notify_socket(site, False)
    site.modes({"in": "startup=0.5"})
    site.start(wait=False, NOTIFY_SOCKET=name, WATCHDOG_USEC="400000")
    seen = read_until(server, "READY=1")
    assert f"MAINPID={site.process.pid}" in seen[-1]
    assert site.all_ready("in", 1)  # not before
    read_until(server, "WATCHDOG=1")
    before = time.monotonic()
    for _ in range(12):  # some may have come while this process did not run
        read_until(server, "WATCHDOG=1")
    assert 0.5 < time.monotonic() - before < PATIENCE
    site.process.send_signal(signal.SIGHUP)
    seen = read_until(server, "RELOADING=1")
    assert "MONOTONIC_USEC=" in seen[-1]
    read_until(server, "READY=1")
    site.process.terminate()
    read_until(server, "STOPPING=1")
    assert site.wait() == 0


def test_notify_abstract(site):
    server, name = notify_socket(site, True)
    site.start(wait=False, NOTIFY_SOCKET=name)
    read_until(server, "READY=1")
    site.process.terminate()
    seen = read_until(server, "STOPPING=1")
    assert not any("WATCHDOG" in message for message in seen)
    site.wait()


def test_stop_told_again_and_again(site):
    """However late a second SIGTERM comes, the end is the graceful one that the first asked for."""
    for _ in range(20):
        site.start()
        while site.process.poll() is None:
            site.process.terminate()
        assert site.wait() == 0


def test_control_garbage(site):
    site.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(site.path("run/control.sock"))
        stream = client.makefile()
        for line in (b"\n", b"{}\n", b"[1]\n", b'{"verb":7}\n', b'{"verb":"dance"}\n', b"\xff\xfe\n", b'"status"\n'):
            client.sendall(line)
            assert json.loads(stream.readline())["ok"] is False
        client.sendall(b'{"verb":"status"}\n{"verb":"status"}\n')
        assert json.loads(stream.readline())["ok"] and json.loads(stream.readline())["ok"]
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(site.path("run/control.sock"))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(b"x" * 300000)
            assert client.recv(10) == b""
    crowd = [socket.socket(socket.AF_UNIX) for _ in range(100)]
    for client in crowd:
        client.connect(site.path("run/control.sock"))
    time.sleep(0.2)
    for client in crowd:
        client.close()
    until(lambda: site.all_ready("in", 1), "answer after the crowd")


def test_no_descriptors(site):
    """A call that the system refuses is tried again, and nothing spins meanwhile."""
    site.start()
    pid = site.children()[0]["pid"]
    time.sleep(0.1)  # the connection is closed
    limits = resource.prlimit(site.process.pid, resource.RLIMIT_NOFILE)
    held = len(os.listdir(f"/proc/{site.process.pid}/fd"))
    resource.prlimit(site.process.pid, resource.RLIMIT_NOFILE, (held, limits[1]))
    os.kill(pid, signal.SIGKILL)
    until(lambda: site.said("Too many open files"), "refusal")
    with contextlib.ExitStack() as stack:
        for _ in range(3):  # one of them must go unanswered
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(site.path("run/control.sock"))
        with open(f"/proc/{site.process.pid}/stat") as file:
            before = int(file.read().rsplit(")", 1)[1].split()[11])
        time.sleep(1)
        with open(f"/proc/{site.process.pid}/stat") as file:
            spent = int(file.read().rsplit(")", 1)[1].split()[11]) - before
        assert spent < 30, f"{spent} hundredths of a second of processor time in one second"
    resource.prlimit(site.process.pid, resource.RLIMIT_NOFILE, limits)
    child = until(lambda: site.renewed("in", pid), "new child")[0]
    assert child["restarts"] == 1, child


def test_no_leaks(site):
    def held():
        return len(os.listdir(f"/proc/{site.process.pid}/fd"))
    site.master.update(restart_delay_min="10ms", restart_delay_max="20ms")
    site.configure()
    site.start()
    site.children()
    until(lambda: site.all_ready("in", 1), "ready child")
    time.sleep(0.2)
    before = held()
    for _ in range(5):
        pid = site.children()[0]["pid"]
        os.kill(pid, signal.SIGKILL)
        until(lambda: site.renewed("in", pid), "new child")
    for count in (4, 1):
        rescale_by_reload(site, count)
    until(lambda: held() <= before, f"return to {before} descriptors")


def test_idle(site):
    """Nothing but beats, stall checks and the watchdog wakes the master."""
    site.modes({"in": "leak"})  # says ready, then nothing
    site.start()
    site.children()
    time.sleep(0.3)

    def switches():
        with open(f"/proc/{site.process.pid}/status") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    before = switches()
    time.sleep(2)
    assert switches() - before <= 2, switches() - before


def test_check_only(site):
    good = subprocess.run([MASTER, "-t", "-c", site.path("l.conf")], capture_output=True, text=True, timeout=PATIENCE,
                         env=site.environment())
    assert good.returncode == 0 and "is good" in good.stdout, good
    site.runners["in"]["instances"] = 3
    site.configure()
    bad = subprocess.run([MASTER, "-t", "-c", site.path("l.conf")], capture_output=True, text=True, timeout=PATIENCE,
                         env=site.environment())
    assert bad.returncode == 78 and "instances" in bad.stderr and "l.conf:" in bad.stderr, bad
    assert not os.path.exists(site.path("run"))
    assert subprocess.run([MASTER, "-x"], capture_output=True, timeout=PATIENCE).returncode == 64


run(globals())
