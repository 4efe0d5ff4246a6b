#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The master answers questions about its state to whom it may, and writes its log (site_rig.py, fake_child.py)."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from site_rig import PATIENCE, Skip, TOOL, run, until  # noqa: E402

NAME = "17000000%02d.000001+" + "ab" * 20


def put(site, queue, *suffixes):
    """Empty files with names of entries, each an hour younger than the one before."""
    os.makedirs(site.path(f"spool/{queue}"), exist_ok=True)
    for number, suffix in enumerate(suffixes):
        path = site.path(f"spool/{queue}/{NAME % number}{suffix}")
        open(path, "w").close()
        os.utime(path, (1700000000 + 3600 * number,) * 2)


def waiting(site):
    reply = site.ask(verb="status")
    assert reply["pending"] == 0, reply
    return {(one["kind"], one["queue"]): one for one in reply["waiting"]}


def test_nothing_waits(site):
    put(site, "in", ".msg", ".bak", ".done", ".tmp")
    put(site, "command", ".tmp", ".done")
    site.start()
    assert waiting(site) == {}


def test_what_waits(site):
    site.runners["out"] = {}
    site.configure()
    put(site, "in", ".msg", ".psv", ".psv")
    put(site, "retry", ".msg")
    put(site, "notice", ".msg")
    put(site, "command", ".msg", ".msg", ".bak", ".psv")
    put(site, "shunt", ".msg")
    put(site, "hold", ".msg", ".msg")
    put(site, "corrupt", ".msg", "")
    os.symlink("nowhere", site.path("spool/in/" + NAME % 8 + ".psv"))
    os.mkdir(site.path("spool/in/" + NAME % 9 + ".psv"))
    site.start()
    found = waiting(site)
    assert {key: one["count"] for key, one in found.items()} == {
        ("preserved", "in"): 2, ("strange", "in"): 2, ("unworked", "command"): 3, ("preserved", "command"): 1,
        ("shunt", "shunt"): 1,
        ("hold", "hold"): 2, ("corrupt", "corrupt"): 2}, found
    assert found["hold", "hold"]["since"] == "2023-11-14T22:13:20Z", "the oldest"
    assert found["preserved", "in"]["since"] == "2023-11-14T23:13:20Z"
    assert site.ask(verb="status")["healthy"]
    figures = site.ask(verb="metrics")["metrics"]
    assert 'listrunner_waiting_entries{kind="hold",queue="hold"} 2\n' in figures, figures
    os.unlink(site.path("spool/hold/" + NAME % 0 + ".msg"))
    assert waiting(site)["hold", "hold"]["count"] == 1, "at once"


def test_a_runner_that_is_not_started_leaves_its_queue_unworked(site):
    site.runners["out"] = {}
    site.configure()
    put(site, "out", ".msg")
    put(site, "retry", ".msg", ".msg")
    site.start()
    assert waiting(site) == {}
    site.runners["out"] = {"start": "no"}
    site.configure()
    assert site.ask(verb="reload")["ok"]
    until(lambda: {key: one["count"] for key, one in waiting(site).items()} ==
          {("unworked", "out"): 1, ("unworked", "retry"): 2}, "entries that nobody works")


def test_a_long_queue_is_counted_bit_by_bit(site):
    """In many turns of the loop; one who asks in the meantime gets the short queues, and is told that more may come."""
    os.mkdir(site.path("spool/in"))
    put(site, "shunt", ".msg")
    for number in range(40000):
        suffix = ".psv" if number % 10000 == 0 else ".msg"
        os.close(os.open(site.path(f"spool/in/1700000000.{number:06d}+" + "ab" * 20 + suffix), os.O_CREAT))
    site.start()
    reply = site.ask(verb="status")
    assert "shunt" in [one["kind"] for one in reply["waiting"]], "short queues first"
    until(lambda: site.ask(verb="status")["pending"] == 0, "the whole count")
    assert waiting(site)["preserved", "in"]["count"] == 4


def test_why_a_child_is_not_ready(site):
    site.master.update(restart_delay_min="30s", restart_delay_max="60s")
    site.configure()
    site.modes({"in": "config"})
    site.start()
    assert site.said("0 of 1 children are well; in[0] is not ready: exit 78")
    child = site.children()[0]
    assert 0 < child["down_for"] < PATIENCE and child["retry_in"] > 50 and "key x is wrong" in child["last_exit"]
    site.modes({})
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.all_ready("in", 1), "ready child")
    assert site.children()[0]["down_for"] is None


COMMANDS = [{"verb": "stop"}, {"verb": "reload"}, {"verb": "restart"},
            {"verb": "rescale", "runner": "in", "instances": 2}]


def as_somebody(site, *requests, at="control"):
    """Replies to a process of another user; of the control socket's group where it asks there."""
    if at == "control":
        os.chown(site.path("run/control.sock"), 0, 65534)
    os.chmod(site.top, 0o755)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(1)
            for request in requests:
                os.write(writing, json.dumps(site.ask(at, **request)).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as replies:
        lines = replies.readlines()
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines]


def test_who_may_look_may_not_command(site):
    if os.geteuid() != 0:
        raise Skip("not root")
    site.start()
    pid = site.children()[0]["pid"]
    replies = as_somebody(site, {"verb": "status"}, {"verb": "metrics"}, *COMMANDS)
    assert len(replies) == 6
    assert replies[0]["ok"] and replies[1]["ok"] and "listrunner_up" in replies[1]["metrics"]
    for reply in replies[2:]:
        assert not reply["ok"] and reply["forbidden"] and "only root and the user" in reply["error"], reply
    assert site.said("command refused")
    assert site.children()[0]["pid"] == pid and site.process.poll() is None
    assert site.ask(verb="reload")["ok"]


def test_the_socket_for_monitoring_takes_no_command(site):
    site.master["monitor_socket_mode"] = "666"
    site.configure()
    site.start()
    pid = site.children()[0]["pid"]
    for command in COMMANDS:
        reply = site.ask("monitor", **command)
        assert not reply["ok"] and reply["forbidden"] and "status, metrics and history alone" in reply["error"], reply
    assert site.children()[0]["pid"] == pid and site.process.poll() is None
    os.unlink(site.path("run/monitor.sock"))
    until(lambda: os.path.exists(site.path("run/monitor.sock")) and
          os.stat(site.path("run/monitor.sock")).st_mode & 0o777 == 0o666, "another socket, with its mode")
    if os.geteuid() == 0:
        replies = as_somebody(site, {"verb": "status"}, {"verb": "metrics"}, {"verb": "stop"}, at="monitor")
        assert [reply["ok"] for reply in replies] == [True, True, False]
    assert site.stop() == 0 and not os.path.exists(site.path("run/monitor.sock"))


def test_the_socket_for_monitoring_is_for_the_group_unless_told(site):
    site.start()
    assert oct(os.stat(site.path("run/monitor.sock")).st_mode & 0o777) == "0o660"


def write_log(site):
    """The lines of the file that is there now."""
    with open(site.path("logs/l.log")) as file:
        return file.read()


def links(pid):
    return {os.readlink(f"/proc/{pid}/fd/{number}") for number in (1, 2)}


def test_the_log_is_opened_anew(site):
    """By the master itself; what a real child does is tested with whole instances."""
    os.mkdir(site.path("logs"))
    site.start(wait=False, LISTRUNNER_LOG_FILE=site.path("logs/l.log"))
    until(lambda: os.path.exists(site.path("logs/l.log")) and "running, pid" in write_log(site), "running master")
    until(lambda: site.all_ready("in", 1), "a child that hears signals")
    os.rename(site.path("logs/l.log"), site.path("logs/l.log.1"))
    site.process.send_signal(signal.SIGHUP)
    until(lambda: os.path.exists(site.path("logs/l.log")) and "read again" in write_log(site), "new log")
    assert links(site.process.pid) == {site.path("logs/l.log")}
    until(lambda: len(site.journal(event="hup")) == 1, "the child to be told of the first")
    os.rename(site.path("logs/l.log"), site.path("logs/l.log.2"))
    with open(site.path("l.conf"), "a") as file:
        file.write("[runner.in]\nnonsense = 1\n")
    assert not site.ask(verb="reload")["ok"], "also when the new configuration is refused"
    assert "refused" in write_log(site)
    until(lambda: len(site.journal(event="hup")) == 2, "the child to be told of it")


def test_status_over_a_stop(site):
    """--watch goes on while no master is there, and shows the next one."""
    site.start()
    watch = subprocess.Popen([TOOL, "-c", site.path("l.conf"), "status", "--watch"], stdout=subprocess.PIPE, text=True)
    lines = []
    assert "Listrunner" in watch.stdout.readline()
    assert site.stop() == 0
    while "has stopped, or does not answer" not in "".join(lines):
        lines.append(watch.stdout.readline())
        assert lines[-1], lines
    site.start()
    while "something waits" not in lines[-1]:  # there is no database
        lines.append(watch.stdout.readline())
        assert lines[-1], lines
    watch.terminate()
    watch.wait()


run(globals())
