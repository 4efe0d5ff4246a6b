#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""One master a spool, one owner a slice, and no way back to root."""
import fcntl
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from site_rig import MASTER, PATIENCE, PYTHON, TOOL, SOURCE, Skip, alive, check_single_owner, free_port  # noqa: E402
from site_rig import kill_master, run, until  # noqa: E402


def test_second_master(site):
    site.start()
    pid = site.process.pid
    second = subprocess.run([MASTER, "-c", site.path("l.conf")], capture_output=True, text=True,
                            env=site.environment(), timeout=PATIENCE)
    assert second.returncode == 75, second
    for words in (f"pid {pid} ", socket.gethostname(), "since 20"):
        assert words in second.stderr, second.stderr
    assert site.all_ready("in", 1)  # and nothing happened to the first
    assert len(site.journal(event="start")) == 1


def test_orphans(site):
    """kill -9 of the master: the new one waits for each old child, whatever its slice was."""
    site.runners["in"] = {"instances": 4, "listen": f"127.0.0.1:{free_port()}"}
    site.configure()
    site.modes({"in": "leak linger=0.6"})  # it does not notice that its master has died
    site.start()
    old = [child["pid"] for child in site.children()]
    kill_master(site)
    time.sleep(0.2)
    assert all(alive(pid) for pid in old)
    site.modes({})
    site.runners["in"]["instances"] = 1  # other slices, which overlap
    site.configure()
    site.start()
    assert not any(alive(pid) for pid in old)
    assert site.all_ready("in", 1)
    rows = site.journal("in")
    assert len([row for row in rows if row[5].startswith("end")]) == 4
    check_single_owner(rows)


def test_orphans_deaf(site):
    site.master["stop_timeout"] = "1s"
    site.configure()
    site.modes({"in": "deaf leak"})
    site.start()
    old = site.children()[0]["pid"]
    kill_master(site)
    site.modes({})
    before = time.monotonic()
    site.start()
    assert time.monotonic() - before >= 1 and not alive(old)
    assert site.said("killed") and site.all_ready("in", 1)


def wait_for_deaf(site, patience):
    """A master that waits for a child of the one before, which has the socket, too; the child."""
    site.master["stop_timeout"] = patience
    site.runners["in"]["listen"] = f"127.0.0.1:{free_port()}"
    site.configure()
    site.modes({"in": "deaf leak"})
    site.start()
    old = site.children()[0]["pid"]
    kill_master(site)
    site.modes({})
    site.start(wait=False)
    until(lambda: site.said("asked to finish"), "master that waits")
    return old


def test_reload_while_waiting(site):
    """SIGHUP comes before there is anything to reload."""
    old = wait_for_deaf(site, "3s")
    site.process.send_signal(signal.SIGHUP)
    until(lambda: site.process.poll() is not None or site.said("running, pid=%d" % site.process.pid), "running master")
    assert site.process.poll() is None and not alive(old), site.text()
    assert site.all_ready("in", 1)


def test_stop_while_waiting(site):
    """SIGTERM ends the wait, at once and in order; nothing was started."""
    old = wait_for_deaf(site, "60s")
    site.process.terminate()
    assert site.wait() == 0, site.text()
    assert site.said("told to stop before any child was started") and not site.said("killed")
    assert alive(old) and len(site.journal("in", event="start")) == 1
    os.kill(old, signal.SIGKILL)


def test_btrfs(site):
    """The spool's file system is looked at, and a bad choice is told."""
    make = (f"truncate -s 120M {site.path('image')} && PATH=$PATH:/sbin:/usr/sbin && "
            f"mkfs.btrfs -q {site.path('image')} && mount -o loop {site.path('image')} {site.path('spool')}")
    if os.geteuid() != 0 or subprocess.run(["/bin/sh", "-c", make], check=False).returncode != 0:
        raise Skip("needs root, mkfs.btrfs and a loop device")
    try:
        site.start()
        assert site.said(f"[spool] directory: {site.path('spool')} is on btrfs that is mounted without notreelog")
        check = subprocess.run([TOOL, "-c", site.path("l.conf"), "config", "check"], capture_output=True, text=True,
                               env=site.environment(), timeout=PATIENCE)
        assert check.returncode == 0 and "without notreelog" in check.stderr, check
    finally:
        site.stop()
        subprocess.run(["umount", site.path("spool")], check=True)


def test_polite_orphans(site):
    """The pipe's end alone makes a child leave."""
    site.start()
    old = site.children()[0]["pid"]
    kill_master(site)
    until(lambda: not alive(old), "end of the orphan")
    assert site.journal(event="end")[0][5] == "end orphaned"


def test_foreign_owner(site):
    """A lock without a record: the slice waits, the others work."""
    site.runners["in"]["instances"] = 2
    site.configure()
    os.mkdir(site.path("spool/.master"))
    with open(site.path("spool/.master/in.slices"), "wb") as holder:
        # struct flock for F_OFD_SETLK (37): type, whence, start, length, pid
        fcntl.fcntl(holder, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 200, 10, 0))
        site.start()
        states = [child["state"] for child in site.children()]
        assert states == ["ready", "waiting for orphan"], states
        assert not site.ask(verb="status")["healthy"]
    until(lambda: site.all_ready("in", 2), "freed slice")
    assert site.text().count("somebody else has its slice") == 1


def become_nobody(site, *own):
    """The site of a master that is started as root and becomes the user nobody, who owns the paths."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    if subprocess.run(["/bin/sh", "-c", f"test -x '{PYTHON}'"], user="nobody", check=False).returncode != 0:
        raise Skip(f"the user nobody cannot run {PYTHON}")
    user = pwd.getpwnam("nobody")
    for path in (site.path("spool"), site.path("db"), site.journal_path, *own):
        os.chown(path, user.pw_uid, user.pw_gid)
    os.chmod(site.top, 0o755)
    site.configure()
    with open(site.path("l.conf")) as file:
        text = file.read().replace("user = root", "user = nobody")
    with open(site.path("l.conf"), "w") as file:
        file.write(text)
    return user


def test_privileges(site):
    """Root binds, then the master and its children are [site] user for good."""
    site.runners["in"]["listen"] = f"unix:{site.path('sock')}"
    user = become_nobody(site, site.top)
    site.start()
    child = site.children()[0]["pid"]
    for pid in (site.process.pid, child):
        with open(f"/proc/{pid}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        assert set(status["Uid"].split()) == {str(user.pw_uid)}, status["Uid"]
        assert set(status["Gid"].split()) == {str(user.pw_gid)}, status["Gid"]
        assert "0" not in status["Groups"].split(), status["Groups"]
        assert status["NoNewPrivs"] == "1" and int(status["CapEff"], 16) == 0
    assert os.stat(site.path("run")).st_uid == user.pw_uid
    assert site.ask(verb="reload")["ok"]
    kill_master(site)
    site.start()  # what the first one left belongs to the same user
    assert not alive(child) and site.all_ready("in", 1)


def test_as_systemd_starts_it(site):
    """The service manager makes RuntimeDirectory= for User=, and the master finds it so."""
    become_nobody(site)
    with open(os.path.join(SOURCE, "etc/listrunner.service.in")) as unit:
        settings = dict(line.strip().split("=", 1) for line in unit if "=" in line and not line.startswith("#"))
    assert settings["User"] == "listrunner" and settings["RuntimeDirectory"] == "listrunner"
    os.mkdir(site.path("run"), int(settings["RuntimeDirectoryMode"], 8))
    os.chown(site.path("run"), pwd.getpwnam("nobody").pw_uid, -1)
    site.start()
    assert site.all_ready("in", 1)


def test_foreign_runtime_directory(site):
    become_nobody(site)
    os.mkdir(site.path("run"), 0o755)
    refused = subprocess.run([MASTER, "-c", site.path("l.conf")], capture_output=True, text=True,
                             env=site.environment(), timeout=PATIENCE)
    assert refused.returncode == 78, refused
    for words in ("[master] runtime_directory", site.path("run"), "the user nobody"):
        assert words in refused.stderr, refused.stderr


def test_planted_link(site):
    """The spool is the user's to write in; root must not be led out of it and give away what is not the user's."""
    become_nobody(site)
    os.mkdir(site.path("precious"), 0o755)
    os.symlink(site.path("precious"), site.path("spool/.master"))
    refused = subprocess.run([MASTER, "-c", site.path("l.conf")], capture_output=True, text=True,
                             env=site.environment(), timeout=PATIENCE)
    assert refused.returncode == 75, refused
    assert os.stat(site.path("precious")).st_uid == 0 and os.listdir(site.path("precious")) == []


def test_forged_record(site):
    """The records of slices are the user's to write, too: root must end no process by them that the user could not."""
    become_nobody(site)
    site.master["stop_timeout"] = "1s"
    become_nobody(site)
    stranger = subprocess.Popen(["sleep", "1000"])
    try:
        with open(f"/proc/{stranger.pid}/stat") as file:
            started = file.read().rsplit(")", 1)[1].split()[19]
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        os.mkdir(site.path("spool/.master"))
        record = f"{stranger.pid} {started} {boot} 1".ljust(127) + "\n"
        with open(site.path("spool/.master/in.slices"), "w") as file:
            file.write(record)
        for path in ("spool/.master", "spool/.master/in.slices"):
            shutil.chown(site.path(path), "nobody")
        site.start()
        assert stranger.poll() is None
        assert site.said(f"process {stranger.pid} "), site.text()
    finally:
        stranger.kill()
        stranger.wait()
    until(lambda: site.all_ready("in", 1), "the slice, free when its owner has ended")


run(globals())
