# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Hosts over one PostgreSQL, of which one stands still while it holds locks of the database: the others go on, they say
for whom they waited, and what the one was doing is done once when it goes on, too."""
import contextlib
import os
import signal
import subprocess
import threading
from collections import Counter
from email import message_from_bytes

import pytest

from support import disk, postgresql
from support.instance import HOST, let_through, prefix, wait_until
from support.post import post
from support.rest import Rest, serving

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

ANNE, BOB = "anne@example.org", "bob@example.net"
LOCKED = ("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%@a.example.com' AND "
          "wait_event_type = 'Lock'")
SCHEMA_WAITS = ("SELECT a.application_name, a.query FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid "
                "WHERE l.locktype = 'advisory' AND NOT l.granted AND l.objsubid = 1 AND "
                "(l.classid::bigint << 32 | l.objid::bigint) = 'site'::regnamespace::oid::bigint << 31")
WITHIN = LOCKED + " AND application_name LIKE 'listrunner%'"


@pytest.fixture
def server():
    one = postgresql.Server()
    yield one
    one.remove()


def two_hosts(instances, sink, server, spool=None):
    """Hosts a, whose spool may be given, and b, with lists talk@ and other@. Both run, and have REST."""
    hosts = []
    for name in "ab":
        host = instances(sink.port, spool=spool if name == "a" else None)
        host.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site")},
                  "site": {"hostname": f"{name}.example.com"}, "host": {"lease": "10s"}})
        host.set(serving(host.directory))
        hosts.append(host)
    a, b = hosts
    a.create_list("talk", members=[ANNE, BOB])
    a.create_list("other", members=[ANNE])
    a.start()
    b.has_store = True
    b.start()
    return a, b


@pytest.fixture
def pair(instances, sink, server):
    return two_hosts(instances, sink, server)


def send(instance, subject, name="talk"):
    instance.lmtp_send(post(subject=subject, to=f"{name}@{HOST}"), f"{name}@{HOST}")


def arrived(sink):
    """Counts of (recipient, subject)."""
    return Counter((to, message_from_bytes(one.octets)["Subject"].split("] ")[-1])
                   for one in sink.transactions() for to in one.to)


def letters(sink, address):
    return sum("Welcome" in subject for (to, subject) in arrived(sink).elements() if to == address)


def join(instance, address):
    return Rest(instance).call("POST", "members", list_id=f"talk.{HOST}", subscriber=address, pre_verified=True,
                               pre_confirmed=True, pre_approved=True, send_welcome_message=True)


@contextlib.contextmanager
def stopped(host):
    """No process of the host runs."""
    pids = {host.process.pid, *host.leftovers()}
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def frozen_within(host, server, work):
    """The host stands still within the transaction of a post to talk@, or within that of a change: the server has done
    what was asked, and is asked nothing more."""
    with contextlib.closing(postgresql.connect(server.url("site"))) as connection:
        connection.execute("LOCK TABLE effect, member IN SHARE ROW EXCLUSIVE MODE")
        work()
        wait_until(lambda: server.sql(LOCKED, database="listrunner") != ["0"], 60, "host a to be within")
        with stopped(host):
            connection.rollback()
            yield


def test_a_frozen_host_stops_nobody(pair, sink, server):
    a, b = pair
    joining = threading.Thread(target=join, args=(a, "carl@example.org"))
    for subject, work in (("its post", lambda: send(a, "its post")), ("its join", joining.start)):
        with frozen_within(a, server, work):
            for name in ("talk", "other"):
                send(b, f"{subject} {name}", name)
            assert join(b, f"{subject.replace(' ', '-')}@example.org").status == 201
            wanted = {(ANNE, f"{subject} talk"), (BOB, f"{subject} talk"), (ANNE, f"{subject} other")}
            wait_until(lambda: wanted <= set(arrived(sink)), 60, lambda: f"the posts of b: {arrived(sink)}")
        a.wait_ready()
        a.wait_idle()
    joining.join(60)
    assert not joining.is_alive()
    wait_until(lambda: (ANNE, "its post") in arrived(sink), 60, "the post of a")
    for host in pair:
        host.wait_idle()
        assert host.set_aside() == []
    came = arrived(sink)
    assert set(came.values()) == {1} and came[BOB, "its post"] == 1, came
    told = [line for line in b.log_text().splitlines() if "for a lock of the database that" in line]
    assert any("@a.example.com" in line for line in told), told


def test_a_frozen_disk_stops_nobody(instances, sink, server, tmp_path):
    """The disk of host a's spool stands still. A change at a is made nevertheless, and all goes on at b; when the disk
    goes on, the letter of the change comes, once."""
    if why := disk.cannot_freeze(tmp_path):
        pytest.skip(why)
    let_through(tmp_path)
    place = tmp_path / "disk"
    place.mkdir()
    let_through(place)
    own, a = disk.ShutdownDisk("ext4", place).mount(), None
    let_through(own.mount_point)
    try:
        a, b = two_hosts(instances, sink, server, own.mount_point / "spool")
        assert join(a, "anton@example.org").status == 201  # makes what is made once
        wait_until(lambda: letters(sink, "anton@example.org") == 1, 60, "the first letter")
        wait_until(lambda: [host["parts"] for host in b.rows("host", "ls")] == [2, 2], 120, "each to have its part of "
                   "the limits")
        joining = threading.Thread(target=join, args=(a, "carl@example.org"))
        with own.frozen():
            joining.start()
            wait_until(lambda: "carl@example.org" in b.cli("member", "ls", f"talk@{HOST}"), 60, "the change at a")
            for name in ("talk", "other"):
                send(b, f"meanwhile {name}", name)
            assert join(b, "dora@example.org").status == 201
            wanted = {(ANNE, "meanwhile talk"), (BOB, "meanwhile talk"), (ANNE, "meanwhile other")}
            wait_until(lambda: wanted <= set(arrived(sink)), 60, lambda: f"the posts of b: {arrived(sink)}")
            assert letters(sink, "carl@example.org") == 0 and joining.is_alive()
        joining.join(120)
        wait_until(lambda: letters(sink, "carl@example.org") > 0, 120, "the letter of the change")
        for host in (a, b):
            host.wait_ready(120)
            host.wait_idle()
            assert host.set_aside() == []
        assert letters(sink, "carl@example.org") == letters(sink, "dora@example.org") == 1
    finally:
        if a:
            a.close()
        own.close()


def test_a_stopped_import_stops_nobody_for_long(pair, server, tmp_path):
    """The server ends its transaction after a minute. When it goes on, it says why it failed, and nothing of it is
    there."""
    a, b = pair
    a.create_list("third", members=[ANNE, BOB])
    exported = tmp_path / "third.json"
    exported.write_text(a.cli("export", "--list", f"third@{HOST}"))
    a.cli("list", "remove", "--yes", f"third@{HOST}")
    with contextlib.closing(postgresql.connect(server.url("site"))) as connection:
        connection.execute("LOCK TABLE member IN SHARE ROW EXCLUSIVE MODE")
        command = [prefix() / "bin" / "listrunner", "--config", a.config, "import", "listrunner", "-"]
        with open(exported, "rb") as given, \
                subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            wait_until(lambda: server.sql(WITHIN, database="listrunner") != ["0"], 60, "the import to be within")
            process.send_signal(signal.SIGSTOP)
            connection.rollback()
            wait_until(lambda: join(b, "dora@example.org").status == 201, 180, "the lock of the schema to be free", 5)
            process.send_signal(signal.SIGCONT)
            told = process.communicate(timeout=60)[0].decode()
    assert process.returncode != 0 and "this process stood still in a transaction, which was undone" in told, told
    assert "third" not in a.cli("list", "ls")


def test_the_timer_waits_for_no_post(pair, server):
    """Its jobs run while another transaction holds its part of the lock of the schema, as that of each post does. One
    that wanted the whole lock would wait, and hold up all posts that come behind it."""
    a, _ = pair
    a.cli("list", "set", f"talk@{HOST}", "default_nonmember_action=hold")
    for number in range(2):
        send(a, f"stranger {number}")
    wait_until(lambda: len(a.cli("held", "ls", "--names").split()) == 2, 60, "the posts to be held")
    with contextlib.closing(postgresql.connect(server.url("site"))) as connection:
        connection.execute("SELECT pg_advisory_xact_lock_shared('site'::regnamespace::oid::bigint << 31)")
        for job in (name for name in a.jobs() if "@" not in name):  # the others are b's own
            a.run_job(job)
            assert server.sql(SCHEMA_WAITS, database="listrunner") == []
