#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""New configurations, counts and commands for a running master."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from site_rig import MASTER, TOOL, alive, check_single_owner, free_port, rescale_by_reload  # noqa: E402
from site_rig import run, until  # noqa: E402


def test_refused_reload(site):
    site.start()
    before = site.children()[0]["pid"]
    site.configure("[runner.in]\nno_such_key = 1\n[nonsense]\nx = y\n")
    reply = site.ask(verb="reload")
    assert not reply["ok"] and "no_such_key" in reply["error"] and "nonsense" in reply["error"], reply
    assert site.said("the old one stays in force")
    status = site.ask(verb="status")
    assert "no_such_key" in status["fault"]
    # A child that dies now must not read the broken file.
    with open(f"/proc/{before}/environ", "rb") as file:
        config = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)[b"LISTRUNNER_CONFIG"].decode()
    with open(config) as file:
        assert "nonsense" not in file.read()
    site.process.send_signal(signal.SIGHUP)
    until(lambda: site.text().count("the old one stays in force") == 2, "second refusal")
    assert site.children()[0]["pid"] == before
    site.extra["spool"] = ""
    site.configure()
    assert site.ask(verb="reload")["ok"] and site.ask(verb="status")["fault"] is None
    text = open(site.path("l.conf")).read().replace(site.path("spool"), site.path("db"))
    with open(site.path("l.conf"), "w") as file:
        file.write(text)
    reply = site.ask(verb="reload")
    assert not reply["ok"] and "[spool] directory" in reply["error"], reply
    assert site.children()[0]["pid"] == before


def test_reload_touches_only_changed(site):
    site.runners = {"defragment": {}, "out": {}, "count": {"x_file": "/a"}, "archive": {}}
    site.configure()
    site.start()
    before = {name: site.children(name)[0]["pid"] for name in site.runners}
    site.runners["count"]["x_file"] = "/b"
    site.runners["more"] = {"instances": 2}
    del site.runners["archive"]
    site.configure("[reply.own]\nmatch = too fast\n")
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.all_ready("more", 2) and site.renewed("count", before["count"]) and
          site.renewed("out", before["out"]) and
          not site.children("archive"), "the new plan")
    after = {name: site.children(name)[0]["pid"] for name in ("defragment", "out", "count")}
    assert after["defragment"] == before["defragment"]
    assert after["out"] != before["out"] and after["count"] != before["count"]
    until(lambda: site.journal(event="hup"), "a child that is told to reopen, not to go")
    assert [row[1] for row in site.journal(event="hup")] == ["defragment"]
    site.extra["spool"] = "batch_limit = 17\n"
    site.configure("[reply.own]\nmatch = too fast\n")
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.renewed("defragment", before["defragment"]), "restart of all")
    until(lambda: site.renewed("count", after["count"]), "restart of all")
    check_single_owner(site.journal("defragment"))


def test_listen_moves(site):
    """A socket that nobody has any more is closed: who connects there must not wait for nobody."""
    old, new = (free_port() for _ in range(2))
    site.runners["in"]["listen"] = f"127.0.0.1:{old}"
    site.configure()
    site.start()
    socket.create_connection(("127.0.0.1", old)).close()
    site.runners["in"]["listen"] = f"127.0.0.1:{new}"
    before = site.children()[0]["pid"]
    site.configure()
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.renewed("in", before), "the runner with its new socket")
    socket.create_connection(("127.0.0.1", new)).close()
    try:
        socket.create_connection(("127.0.0.1", old)).close()
        raise AssertionError("the old socket still takes connections")
    except ConnectionRefusedError:
        pass


def test_listen_by_another_name(site):
    """The same address by a name: the same socket, and nobody is refused meanwhile. Two runners cannot have it."""
    port = free_port()
    site.runners["in"]["listen"] = f"127.0.0.1:{port}"
    site.configure()
    site.start()
    before = site.children()[0]["pid"]
    site.runners["in"]["listen"] = f"localhost:{port}"
    site.configure()
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.renewed("in", before), "the runner with its socket by a name")
    socket.create_connection(("127.0.0.1", port)).close()
    site.runners["out"] = {"listen": f"127.0.0.1:{port}"}
    site.configure()
    reply = site.ask(verb="reload")
    assert not reply["ok"] and f"127.0.0.1:{port} is an address of [runner.in], too" in reply["error"], reply
    socket.create_connection(("127.0.0.1", port)).close()


def test_rescale(site):
    site.runners["out"] = {"instances": 2}
    site.configure()
    site.modes({"in": "linger=0.3"})
    site.start()
    others = [child["pid"] for child in site.children("out")]
    for count in (4, 2, 1, 8):
        rescale_by_reload(site, count)
    assert site.ask(verb="rescale", runner="in", instances=2)["ok"]
    until(lambda: site.all_ready("in", 2), "2 instances")
    site.ask(verb="rescale", runner="in", instances=4)
    site.ask(verb="rescale", runner="in", instances=16)  # while it changes: the last word counts
    until(lambda: site.all_ready("in", 16), "16 instances")
    assert site.ask(verb="reload")["ok"]  # back to the file
    until(lambda: site.all_ready("in", 8), "8 instances")
    assert [child["pid"] for child in site.children("out")] == others
    assert not site.journal("out", "term")
    for count in (0, 3, 512, -1, "4"):
        assert not site.ask(verb="rescale", runner="in", instances=count)["ok"]
    assert not site.ask(verb="rescale", runner="nobody", instances=2)["ok"]
    assert site.stop() == 0
    check_single_owner(site.journal("in"))
    assert not site.said("somebody else has its slice")  # the order is the master's, not the locks'


def test_rescale_kills_deaf(site):
    site.master["stop_timeout"] = "4s"
    site.configure()
    site.modes({"in": "deaf"})
    site.start()
    first = site.children()[0]["pid"]
    site.modes({})
    site.ask(verb="rescale", runner="in", instances=2)
    time.sleep(0.5)
    assert alive(first) and len(site.journal(event="start")) == 1
    until(lambda: site.all_ready("in", 2), "2 instances")
    assert not alive(first) and site.said("has not ended within stop_timeout")


def test_restart(site):
    site.runners["out"] = {}
    site.configure()
    site.start()
    before = {name: site.children(name)[0]["pid"] for name in ("in", "out")}
    assert site.ask(verb="restart", runner="out")["ok"]
    until(lambda: site.renewed("out", before["out"]), "new out")
    assert site.children("in")[0]["pid"] == before["in"]
    assert site.ask(verb="restart")["ok"]
    until(lambda: site.renewed("in", before["in"]), "new in")
    assert not site.ask(verb="restart", runner="nobody")["ok"]


def tool(site, *words):
    return subprocess.run([TOOL, "-c", site.path("l.conf"), *words], capture_output=True, text=True,
                          env=site.environment(), timeout=60)


def test_master_that_stands_still(site):
    """A person who watches must be told, not kept waiting."""
    site.start()
    os.kill(site.process.pid, signal.SIGSTOP)
    try:
        done = subprocess.run([TOOL, "-c", site.path("l.conf"), "status"], capture_output=True, text=True,
                              timeout=60, check=False)
    finally:
        os.kill(site.process.pid, signal.SIGCONT)
    assert done.returncode == 75 and "does not answer" in done.stderr, done


def test_stop_with_nobody_left(site):
    """There is no child to wait for, so the master ends in the turn that answers: the answer goes out all the same."""
    site.modes({"in": "die"})
    site.start()
    until(lambda: all(not child["pid"] for child in site.children()), "a child that waits to be started")
    assert site.ask(verb="stop") == {"ok": True}
    assert site.wait() == 0


def test_instances_by_load(site):
    site.master["scale_interval"] = "100ms"
    site.runners = {"in": {"instances": "auto", "max_instances": 4}, "count": {"instances": 2}}
    site.configure()
    site.modes({"in": "late", "count": "late"})
    site.start()

    def group(name="in"):
        return next(one for one in site.ask(verb="status")["runners"] if one["runner"] == name)

    until(lambda: site.all_ready("in", 4), "four processes", 60)
    assert (group()["least"], group()["most"]) == (1, 4) and group()["scaled"]["why"] == "entries wait"
    assert site.said("in: entries wait: 1 instances become 2") and site.said("in: entries wait: 2 instances become 4")
    assert group("count")["instances"] == 2 and group("count")["scaled"] is None  # its number is fixed
    shown = subprocess.run([TOOL, "-c", site.path("l.conf"), "status"], capture_output=True, text=True, check=False)
    assert "4 instances of 1 to 4 since" in shown.stdout, shown
    pids = {child["pid"] for child in site.children()}
    site.master["scale_interval"] = "1h"
    site.runners["in"]["max_instances"] = 8  # a reload keeps the number, within other limits
    site.configure()
    assert site.ask(verb="reload")["ok"]
    assert group()["most"] == 8 and group()["instances"] == 4 and {child["pid"] for child in site.children()} == pids
    site.runners["in"]["max_instances"] = 2
    site.configure()
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.all_ready("in", 2), "two processes")
    site.modes({})  # nothing waits any more
    site.master["scale_interval"] = "100ms"
    site.configure()
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.all_ready("in", 1), "one process", 60)
    assert site.said("nothing waits, and half of them can do the work: 2 instances become 1")
    check_single_owner(site.journal("in"))


def test_command_line(site):
    for verb in ("status", "stop", "reload", "restart"):
        assert tool(site, verb).returncode == 3, verb
    assert tool(site, "store", "create").returncode == 0
    started = tool(site, "start", "--program", MASTER)
    assert started.returncode == 0, started
    try:
        pid = site.ask(verb="status")["pid"]
        assert os.getsid(pid) != os.getsid(0) and os.readlink(f"/proc/{pid}/cwd") == "/"
        assert tool(site, "start", "--program", MASTER).returncode == 1
        shown = tool(site, "status")
        assert shown.returncode == 0 and "All is well." in shown.stdout and str(pid) in shown.stdout, shown
        assert json.loads(tool(site, "status", "--json").stdout)["pid"] == pid
        assert tool(site, "rescale", "in", "4", "--wait", "50").returncode == 0
        assert len(site.children()) == 4
        assert tool(site, "rescale", "in", "3").returncode == 64
        assert tool(site, "rescale", "nobody", "4").returncode == 64
        assert tool(site, "restart", "in", "--wait", "50").returncode == 0
        site.modes({"in": "die"})
        assert tool(site, "restart").returncode == 0
        until(lambda: tool(site, "status").returncode == 1, "exit code 1")
        site.configure("[nonsense]\n")
        refused = tool(site, "reload")
        assert refused.returncode == 78 and "nonsense" in refused.stderr, refused
        assert "nonsense" in tool(site, "status").stdout  # which works with a broken file
    finally:
        stopped = tool(site, "stop")
    assert stopped.returncode == 0 and not alive(pid), stopped
    failed = tool(site, "start", "--program", MASTER)
    assert failed.returncode == 78 and "nonsense" in failed.stderr, failed


run(globals())
