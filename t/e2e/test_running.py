# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Backup and restore (doc/running.md). A backup that is made while posts go through is of one moment. A spool and a
database of different ages are made to fit when they are restored: each post goes to each member once, as far as that
can be known, and the report names the rest."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from support.instance import HOST, prefix, tool, wait_until
from support.ports import free_port
from support.sink import Sink

TWO = {"runner.in": {"instances": 2}, "runner.out": {"instances": 2}}


def members(name):
    return [f"a@{name}.example.org", f"b@{name}.example.org"]


def wait_put_off(instance, count):
    """So many mails wait for a relay that is away, and nothing is under way before. Read downstream, as mail moves. One
    whose relay is known to be dead waits in out without being tried."""
    def waiting():
        found = instance.files("in", "pipeline", "virgin", "out", "retry")
        waits = {name.partition("+")[2] for name in found["out"] + found["retry"]}
        return len(waits) >= count and not any(found[queue] for queue in ("in", "pipeline", "virgin"))
    wait_until(waiting, 60, f"{count} mails to wait")


def post(instance, address, number, client=None):
    name = address.partition("@")[0]
    instance.lmtp_send(f"From: p@example.net\r\nTo: {address}\r\nSubject: post {number}\r\n"
                       f"Message-ID: <{name}.{number}@example.net>\r\n\r\nHello.\r\n".encode(), address, client=client)


@contextlib.contextmanager
def flood(instance, lists):
    """Posts to each list, one after the other; in [0] is how many each got so far."""
    sent, ended = [0], threading.Event()

    def run():
        with contextlib.closing(instance.lmtp()) as client:
            while not ended.is_set():
                for address in lists:
                    post(instance, address, sent[0], client)
                sent[0] += 1
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield sent
    finally:
        ended.set()
        thread.join()


def copies(sink):
    """How often each member got each post: {(message id, address): times}. Letters of our own do not count."""
    return Counter((mail.message_id.strip("<>"), to) for mail in sink.transactions() for to in mail.to
                   if "@example.net" in mail.message_id)


def each_once(ids):
    """Return what copies() tells when each post went to both members of its list, once."""
    return {(identifier, member): 1 for identifier in ids for member in members(identifier.partition(".")[0])}


def without_relay(instances):
    """A started instance whose relay is not there yet, at this port, and two lists."""
    port = free_port()
    instance = instances(port, settings=TWO).start()
    return port, instance, [instance.create_list(name, members(name)) for name in ("one", "two")]


def back_up(instance, tmp_path):
    tmp_path.chmod(0o777)
    instance.cli("backup", tmp_path / "backup")
    return tmp_path / "backup"


def rows_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def kinds(rows):
    return sorted((row["kind"], (row["list"] or "").partition(".")[0], (row["message_id"] or "").partition("@")[0])
                  for row in rows)


def lose_spool(instance):
    shutil.rmtree(instance.spool)
    instance.spool.mkdir()
    instance.own(instance.spool)


def lose_database(instance):
    for path in instance.sections["store"]["path"].parent.glob("listrunner.db*"):
        path.unlink()


def stopped(pids):
    """Return the processes that stand still."""
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"]


def children(instance):
    return [child["pid"] for runner in instance.status()["runners"] for child in runner["children"]]


def renew(instance, runner):
    """Another process plays the runner, and all are well."""
    def pids():
        return {child["pid"] for group in instance.status()["runners"] if group["runner"] == runner
                for child in group["children"]}
    before = pids()
    for pid in before:
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: pids().isdisjoint(before) and instance.status()["healthy"], 30, f"another process of {runner}")


# ---- backup ----

@pytest.mark.sqlite
def test_one_moment(instances, sink):
    """Posts before the backup are delivered or in it, each once, on two lists with two slices; it is restored to
    another place, which is empty, and to no other."""
    instance = instances(sink.port, settings=TWO).start()
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    with flood(instance, lists) as before:
        wait_until(lambda: before[0] > 20, 60, "posts to go through")
        sure = before[0]  # these were accepted before the backup began
        backup = instance.directory / "backup"
        instance.cli("backup", backup)
        after = before[0]
        wait_until(lambda: before[0] > after + 5, 60, "posts to go on")
    instance.wait_idle()
    assert instance.stop() == 0
    assert not (instance.spool / ".backup").exists()
    assert (backup / "manifest").exists() and not (backup / "begun").exists()
    assert (backup / "files" / instance.config.relative_to("/")).read_text() == instance.config.read_text()
    gone = copies(sink)
    assert set(gone.values()) == {1}
    sink.purge()
    other = instances(sink.port, settings=TWO)
    (other.spool / "foreign").touch()
    refused = other.run("restore", backup)
    assert refused.returncode == 1 and "foreign" in refused.stderr, refused
    (other.spool / "foreign").unlink()
    database_file = other.sections["store"]["path"]
    database_file.touch()
    refused = other.run("restore", backup)
    assert refused.returncode == 1 and str(database_file) in refused.stderr, refused
    assert os.listdir(other.spool) == []
    database_file.unlink()
    assert other.run("restore", backup / "spool").returncode == 66
    other.cli("restore", backup)
    for name in (".outbox-key", "in"):
        assert (other.spool / name).stat().st_mode == (instance.spool / name).stat().st_mode, name
    other.has_store = True
    other.start()
    other.wait_idle()
    assert not other.set_aside() and other.files("hold") == {"hold": []}
    again = copies(sink)
    assert all(times == 1 for times in again.values()), "none twice by the restored site"
    with other.database() as store:
        known = {row[0] for row in store.execute("SELECT message_id FROM message_id")}
    for name in ("one", "two"):
        there = [any(f"{name}.{n}@example.net" in row for row in known) for n in range(before[0])]
        assert all(there[:sure]), "accepted before the backup, and not known to what was restored"
        assert there == sorted(there, reverse=True), "one is missing between others: they are not of one moment"
    refused = other.run("restore", backup)
    assert refused.returncode == 1 and "running" in refused.stderr, refused


PAUSE = """
import socket, sys
control = socket.socket(socket.AF_UNIX)
control.connect(sys.argv[1])
control.sendall(b'{"verb":"pause"}\\n')
print(control.recv(1000).decode(), flush=True)
sys.stdin.read()
"""


def pause(instance):
    """A process of the site's user that has all others stand still."""
    words = {"user": instance.user, "extra_groups": []} if os.getuid() == 0 and instance.user != "root" else {}
    process = subprocess.Popen([sys.executable, "-c", PAUSE, instance.directory / "run" / "control.sock"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", **words)
    return process, json.loads(process.stdout.readline())


def test_pause_ends(instances, sink):
    """All stand still while somebody holds the pause, and go on when that process is killed; the next master ends those
    that a killed one left standing still."""
    instance = instances(sink.port, settings={"master": {"stop_timeout": "2s"}}).start()
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    pids = children(instance)
    first, reply = pause(instance)
    assert reply["ok"] and stopped(pids) == pids
    second, reply = pause(instance)
    assert not reply["ok"] and stopped(pids) == pids
    second.kill()
    second.wait()
    assert stopped(pids) == pids, "the pause is the first one's"
    first.kill()
    first.wait()
    wait_until(lambda: not stopped(pids), 10, "all to go on")  # long before the pause's own end after 20 s
    assert "a pause took too long" not in instance.log_text()
    post(instance, lists[0], 1)
    wait_until(lambda: copies(sink) == each_once(["one.1@example.net"]), 60, "a post to go through")
    third, reply = pause(instance)
    instance.kill()
    third.kill()
    third.wait()
    assert stopped(pids) == pids
    instance.start()
    assert not set(pids) & set(children(instance))
    post(instance, lists[1], 1)
    wait_until(lambda: copies(sink) == each_once(["one.1@example.net", "two.1@example.net"]), 60,
               "a post to go through")


@pytest.mark.sqlite
def test_begun_anew(instances, sink):
    """A file that is there is never written over; a backup that was killed is begun anew, and the site works on."""
    instance = instances(sink.port).start()
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    (instance.spool / ".out").mkdir(exist_ok=True)
    instance.own(instance.spool / ".out")
    for number in range(300):  # something to copy, so that a kill hits the middle
        path = instance.spool / ".out" / f"padding-{number}"
        path.write_bytes(os.urandom(1000))
        instance.own(path)
    backup = instance.directory / "backup"
    program = prefix() / "bin" / "listrunner"
    pids = children(instance)
    for look in (backup, instance.spool / ".backup", backup / "listrunner.db", backup / "spool"):
        killed = subprocess.Popen([program, "--config", instance.config, "backup", backup])
        wait_until(lambda: look.exists() or killed.poll() is not None, 20, "the backup to begin", step=0.001)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        wait_until(lambda: not stopped(pids), 10, "all to go on")
        if (backup / "manifest").exists():
            shutil.rmtree(backup)
    for number, address in enumerate(lists):
        post(instance, address, number)
    wait_until(lambda: copies(sink) == each_once(["one.0@example.net", "two.1@example.net"]), 60,
               "mail to be delivered after that")
    # The leftovers of a killed backup go by themselves, but not while another one is at work.
    aside = instance.spool / ".backup"
    (aside / "moment" / "out").mkdir(parents=True, exist_ok=True)
    (aside / "moment" / "out" / "mail").write_bytes(b"removed since")
    subprocess.run(["chown", "-R", "--reference", instance.spool, aside], check=True)
    lock = os.open(aside, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        renew(instance, "task")
        instance.cli("task", "run", "outbox")
        assert (aside / "moment" / "out" / "mail").exists()
    finally:
        os.close(lock)
    renew(instance, "task")
    instance.cli("task", "run", "outbox")  # which comes by itself within a minute
    wait_until(lambda: not (aside / "moment").exists(), 30, "what was left to go")
    instance.cli("backup", backup)
    assert (backup / "manifest").exists() and not (backup / "begun").exists()
    assert not (instance.spool / ".backup").exists()
    refused = instance.run("backup", backup)
    assert refused.returncode == 1 and str(backup) in refused.stderr, refused
    assert instance.run("backup", "/dev/full/backup").returncode == 75
    assert HOST in (backup / "files" / instance.config.relative_to("/")).read_text()


@pytest.mark.sqlite
def test_a_change_that_is_being_made(instances, sink, tmp_path):
    """A change that somebody is making when a backup begins is in it whole: its rows and its files."""
    instance = instances(sink.port)
    instance.create_store()
    for name in ("one", "two"):
        instance.create_list(name, members(name))
    tmp_path.chmod(0o777)
    backup, noted = tmp_path / "backup", instance.spool / ".backup" / "moment"
    (instance.spool / ".out").mkdir(exist_ok=True)
    with instance.database() as store:
        store.isolation_level = None
        before, = store.execute("SELECT value FROM store_version").fetchone()
        store.execute("BEGIN IMMEDIATE")
        store.execute("UPDATE store_version SET value = value + 1000")
        running = subprocess.Popen([prefix() / "bin" / "listrunner", "--config", instance.config, "backup", backup])
        try:
            wait_until(lambda: noted.exists() or running.poll() is not None, 60, "names to be noted")
            (instance.spool / ".out" / "of-the-change").write_bytes(b"x")
            instance.own(instance.spool / ".out" / "of-the-change")
            store.execute("COMMIT")
            assert running.wait(120) == 0
        finally:
            running.kill()
    with contextlib.closing(sqlite3.connect(backup / "listrunner.db")) as copy:
        assert copy.execute("SELECT value FROM store_version").fetchone()[0] >= before + 1000
    assert (backup / "spool" / ".out" / "of-the-change").exists()


def test_configuration_by_a_relative_path(instances, sink):
    """The configuration lies in the backup under its whole path, however it was named."""
    instance = instances(sink.port)
    instance.create_store()
    backup, above = instance.directory / "backup", instance.directory / "some" / "where"
    above.mkdir(parents=True)
    words = [prefix() / "bin" / "listrunner", "--config", f"../../{instance.config.name}", "backup", backup]
    done = subprocess.run(words, cwd=above, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert HOST in (backup / "files" / instance.config.relative_to("/")).read_text()


# ---- restore of one of both ----

def relay(tmp_path, port):
    return Sink(tool("smtp-sink"), tmp_path / f"sink-{port}", port=port)


@pytest.mark.parametrize("trail", [True, False], ids=["trail", "no trail"])
def test_old_spool(instances, tmp_path, trail, until_end):
    """The spool is older than the database: what was sent since the backup does not go again, by the trail, or waits
    for a person without one; what waited goes once."""
    port, instance, lists = without_relay(instances)
    for address in lists:
        post(instance, address, 1)  # waits, since there is no relay
    wait_put_off(instance, 2)
    assert instance.stop() == 0
    for address in lists:  # is taken, and nobody works on it
        name = address.partition("@")[0]
        instance.cli("inject", address, "-", input=f"From: p@example.net\r\nTo: {address}\r\nSubject: x\r\n"
                     f"Message-ID: <{name}.2@example.net>\r\n\r\nHello.\r\n")
    backup = back_up(instance, tmp_path)
    sink = until_end(relay(tmp_path, port))
    instance.start()
    instance.try_again()
    for address in lists:
        post(instance, address, 3)
    instance.wait_idle()
    once = each_once(f"{name}.{number}@example.net" for name in ("one", "two") for number in (1, 2, 3))
    assert copies(sink) == once
    assert instance.stop() == 0
    lose_spool(instance)
    if not trail:
        shutil.rmtree(instance.directory / "trail")
    done = instance.run("restore", "--only", "spool", "--json", backup)
    assert done.returncode == 1, done
    first = "sent" if trail else "unknown"
    found = kinds(rows_of(done))
    assert found == sorted([(first, "one", "one.1"), (first, "two", "two.1"), ("worked-on", "one", "one.2"),
                            ("worked-on", "two", "two.2"), ("taken", "one", "one.3"), ("taken", "two", "two.3")])
    assert all(("2 recipients" in row["text"]) == trail for row in rows_of(done))
    instance.start()
    instance.wait_idle()
    assert copies(sink) == once, "something went a second time"
    assert len(instance.files("hold")["hold"]) == (2 if trail else 4)
    post(instance, lists[0], 4)
    instance.wait_idle()
    assert copies(sink) == {**once, **each_once(["one.4@example.net"])}


@pytest.mark.parametrize("trail", [True, False], ids=["trail", "no trail"])
def test_old_spool_that_only_delivered(instances, tmp_path, trail, until_end):
    """Since the backup nothing was taken, and what waited was delivered: the database has no trace of that."""
    port, instance, lists = without_relay(instances)
    for address in lists:
        post(instance, address, 1)
    wait_put_off(instance, 2)
    backup = back_up(instance, tmp_path)
    sink = until_end(relay(tmp_path, port))
    instance.try_again()
    instance.wait_idle()
    once = each_once(f"{name}.1@example.net" for name in ("one", "two"))
    assert copies(sink) == once
    assert instance.stop() == 0
    lose_spool(instance)
    if not trail:
        shutil.rmtree(instance.directory / "trail")
    done = instance.run("restore", "--only", "spool", "--json", backup)
    first = "sent" if trail else "unknown"
    assert kinds(rows_of(done)) == [(first, "one", "one.1"), (first, "two", "two.1")], done
    instance.start()
    instance.try_again()
    instance.wait_idle()
    assert copies(sink) == once, "something went a second time"
    assert len(instance.files("hold")["hold"]) == (0 if trail else 2)


@pytest.mark.sqlite
def test_old_spool_and_database(instances, sink):
    """Both are older than the trail: a post that nobody had worked on, and that went out since, waits for a person."""
    instance = instances(sink.port, settings=TWO)
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    for address in lists:
        name = address.partition("@")[0]
        instance.cli("inject", address, "-", input=f"From: p@example.net\r\nTo: {address}\r\nSubject: x\r\n"
                     f"Message-ID: <{name}.1@example.net>\r\n\r\nHello.\r\n")
    backup = instance.directory / "backup"
    instance.cli("backup", backup)
    instance.start()
    instance.wait_idle()
    once = each_once(["one.1@example.net", "two.1@example.net"])
    assert copies(sink) == once
    assert instance.stop() == 0
    lose_spool(instance)
    database = Path(instance.sections["store"]["path"])
    lose_database(instance)
    shutil.copy(backup / "listrunner.db", database)
    instance.own(database)
    done = instance.run("restore", "--only", "spool", "--json", backup)
    assert kinds(rows_of(done)) == [("worked-on", "one", "one.1"), ("worked-on", "two", "two.1")], done
    instance.start()
    instance.wait_idle()
    assert copies(sink) == once, "something went a second time"


def test_old_spool_of_a_busy_site(instances, sink, tmp_path):
    """The backup is made while posts are in every state, and the site works on. Then each post that was taken went to
    each member once, or the report names it; nothing went twice, by the site before and the restored one together."""
    instance = instances(sink.port, settings=TWO).start()
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    backup = tmp_path / "backup"
    tmp_path.chmod(0o777)
    with flood(instance, lists) as sent:
        wait_until(lambda: sent[0] > 50, 60, "posts to go through")
        instance.cli("backup", backup)
        after = sent[0]
        wait_until(lambda: sent[0] > after + 50, 60, "posts to go on")
    instance.wait_idle()
    assert instance.stop() == 0
    lose_spool(instance)
    done = instance.run("restore", "--only", "spool", "--json", backup)
    assert done.returncode == 1, done
    rows = rows_of(done)
    assert any(row["kind"] == "taken" for row in rows)
    named = {row["message_id"] for row in rows if row["unknown"]}
    instance.start()
    instance.wait_idle()
    assert not instance.set_aside()
    all_of_them = each_once(f"{name}.{number}@example.net" for name in ("one", "two") for number in range(sent[0]))
    there = copies(sink)
    assert [key for key, times in there.items() if times != 1] == [], "something went twice"
    missing = {identifier for identifier, member in all_of_them if (identifier, member) not in there}
    assert missing <= named


@pytest.mark.sqlite
def test_old_spool_goes_on(instances, tmp_path, until_end):
    """Mail that the spool had and nobody has worked on since goes to each member once, though the database is later."""
    port, instance, lists = without_relay(instances)
    for address in lists:
        post(instance, address, 1)
    wait_put_off(instance, 2)
    backup = back_up(instance, tmp_path)
    post(instance, lists[0], 2)  # so the database and the trail are later; nobody gets it
    wait_put_off(instance, 3)
    assert instance.stop() == 0
    lose_spool(instance)
    done = instance.run("restore", "--only", "spool", "--json", backup)
    assert done.returncode == 1 and kinds(rows_of(done)) == [("taken", "one", "one.2")], done
    sink = until_end(relay(tmp_path, port))
    instance.start()
    instance.try_again()
    instance.wait_idle()
    assert copies(sink) == each_once(["one.1@example.net", "two.1@example.net"])


@pytest.mark.sqlite
def test_old_database(instances, tmp_path, until_end):
    """The database is older than the spool: what waits goes once, the numbers of posts go on behind those in use, a
    post that was accepted meanwhile is not held, and the report names what the database does not have."""
    port, instance, lists = without_relay(instances)
    instance.cli("list", "set", lists[1], "default_nonmember_action=hold")
    post(instance, lists[1], 1)
    held = wait_until(lambda: instance.rows("held", "ls"), 60, "a post to be held")
    backup = back_up(instance, tmp_path)
    instance.cli("held", "accept", str(held[0]["number"]))
    third = instance.create_list("three", members("three"))
    for address in (lists[0], third):
        post(instance, address, 2)
    wait_put_off(instance, 3)
    post(instance, lists[1], 3)  # is held, and lost with the database
    wait_until(lambda: "two.3@example.net" in instance.cli("held", "ls", "--json"), 60, "a post to be held")
    assert instance.stop() == 0
    lose_database(instance)
    assert instance.run("restore", backup).returncode == 1, "the spool is in its place"
    done = instance.run("restore", "--only", "database", "--json", backup)
    assert done.returncode == 1, done
    assert kinds(rows_of(done)) == sorted([
        ("database", "", ""), ("decided", "two", "two.1"), ("held", "two", "two.3"), ("list", "three", ""),
        ("number", "one", ""), ("number", "two", "")])
    sink = until_end(relay(tmp_path, port))
    instance.start()
    assert instance.cli("held", "ls", "--json") == ""
    instance.try_again()
    post(instance, lists[0], 4)
    instance.wait_idle()
    ids = ["two.1@example.net", "one.2@example.net", "three.2@example.net", "one.4@example.net"]
    assert copies(sink) == each_once(ids)
    with instance.database() as store:
        assert list(store.execute("SELECT post_id FROM list WHERE list_name = 'one'")) == [(3,)]


@pytest.mark.sqlite
def test_old_database_of_a_busy_site(instances, sink, tmp_path):
    """The site is stopped in the middle of its work, and its database is from before: each post goes to each member
    once all the same, for the spool has what was not finished."""
    instance = instances(sink.port, settings=TWO).start()
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    backup = tmp_path / "backup"
    tmp_path.chmod(0o777)
    with flood(instance, lists) as sent:
        wait_until(lambda: sent[0] > 50, 60, "posts to go through")
        instance.cli("backup", backup)
        after = sent[0]
        wait_until(lambda: sent[0] > after + 50, 60, "posts to go on")
    assert instance.stop() == 0
    lose_database(instance)
    assert instance.run("restore", "--only", "database", "--json", backup).returncode == 1
    instance.start()
    instance.wait_idle()
    assert not instance.set_aside() and instance.files("hold") == {"hold": []}
    assert copies(sink) == each_once(f"{name}.{number}@example.net"
                                     for name in ("one", "two") for number in range(sent[0]))


@pytest.mark.sqlite
def test_restore_interrupted(instances, sink):
    """No master starts on half a restore; the same command makes it whole, and puts nothing there twice."""
    instance = instances(sink.port)
    lists = [instance.create_list(name, members(name)) for name in ("one", "two")]
    for address in lists:
        instance.cli("inject", address, "-", input=f"From: p@example.net\r\nTo: {address}\r\nSubject: x\r\n"
                     f"Message-ID: <{address.partition('@')[0]}.1@example.net>\r\n\r\nHello.\r\n")
    backup = instance.directory / "backup"
    instance.cli("backup", backup)
    lose_spool(instance)
    lose_database(instance)
    whole = backup / "listrunner.db"
    whole.rename(backup / "away")
    assert instance.run("restore", backup).returncode == 75
    assert os.listdir(instance.spool / "in"), "the spool was put there before"
    started = subprocess.run([prefix() / "sbin" / "listrunner-master", "-c", instance.config], timeout=60,
                             stderr=subprocess.PIPE, text=True)
    assert started.returncode == 78 and "restore" in started.stderr, started
    (backup / "away").rename(whole)
    instance.cli("restore", backup)
    instance.start()
    instance.wait_idle()
    assert copies(sink) == each_once(["one.1@example.net", "two.1@example.net"])
