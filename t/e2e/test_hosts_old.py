# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A database that is older than the one that the hosts worked with: none of them takes it for the right one before a
person says so."""
import json
import smtplib

import pytest

from support import postgresql
from support.instance import HOST, free_port, wait_until
from support.post import post
from test_hosts import ANNE, BOB, arrived, make_host, send, server  # noqa: F401: server is a fixture

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

LIST, HELD = f"talk@{HOST}", f"held@{HOST}"


def known(host):
    """Return what a host has noted of its database: system, timeline and number."""
    system, timeline, count, _ = (host.spool / ".database").read_text().split()
    return system, int(timeline), int(count)


def counters(server):  # noqa: F811
    return server.sql("SELECT * FROM site.counter ORDER BY name", database="listrunner")


def wait_noted(host):
    """Until it has noted that it works with the database as it is now."""
    before = known(host)[2]
    wait_until(lambda: known(host)[2] > before, 60, "the host to renew its lease")


def is_refused(host, why):
    """Whether status says why the database is not used, and exits with the code for that."""
    done = host.run("status")
    return done.returncode != 0 and why in done.stdout


def code(host, name="talk"):
    with host.lmtp() as client:
        client.ehlo("x")
        client.mail("poster@example.net")
        return client.rcpt(f"{name}@{HOST}")[0]


def members_got(sink):
    return {(to, subject): count for (to, subject), count in arrived(sink).items() if to in (ANNE, BOB)}


@pytest.fixture
def pair(instances, sink, server):  # noqa: F811
    a, b = (make_host(instances, sink, server, name) for name in "ab")
    a.create_list("talk", members=[ANNE, BOB])
    a.create_list("held", members=[ANNE], settings=["default_nonmember_action=hold"])
    a.start()
    b.has_store = True
    b.start()
    return a, b


def settle(host):
    """Say that the database is the right one from now on; the rows of what could not be known, by kind."""
    assert host.stop() == 0
    done = host.run("restore", "--only", "database", "--json")
    assert done.returncode in (0, 1), done
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    host.start()
    return [row["kind"] for row in rows]


def test_a_dump_of_before(pair, sink, server):  # noqa: F811
    """The database is put back from a dump while the spools know more. No host works with it before it was made to fit
    the spool of that host; then no number of a post is given twice, and what was decided is not asked again."""
    a, b = pair
    send(a, "first")
    for subject in ("decided", "waits"):
        send(a, subject, "held")
    rows = wait_until(lambda: len(found := a.rows("held", "ls")) == 2 and found, 60, "two posts to be held")
    for host in pair:
        host.wait_idle()
        wait_noted(host)
    dump = server.tool("pg_dump", "-h", server.directory, "-p", server.port, "-Fp", "--clean", "listrunner")
    (server.directory / "dump").write_text(dump)
    decided = next(row for row in rows if row["subject"] == "decided")
    a.cli("held", "accept", str(decided["number"]))
    for at, host in enumerate(pair):
        send(host, f"since{at}")
    for host in pair:
        host.wait_idle()
        wait_noted(host)
    last = server.sql("SELECT post_id FROM site.list WHERE list_name = 'talk'", database="listrunner")
    server.sql("ALTER ROLE listrunner NOLOGIN",
               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'listrunner'")
    server.tool("psql", "-h", server.directory, "-p", server.port, "-q", "-d", "listrunner", "-f",
                server.directory / "dump")
    server.sql("ALTER ROLE listrunner LOGIN")
    old = counters(server)
    for host in pair:
        wait_until(lambda host=host: is_refused(host, "it is an old copy: it lacks what was written from"), 60,
                   "the old database to be refused")
    assert a.run("member", "add", LIST, "cy@example.org").returncode != 0
    assert counters(server) == old, "nobody wrote there"
    assert "decided" in settle(a)
    assert [row["subject"] for row in a.rows("held", "ls")] == ["waits"]
    assert is_refused(b, "it is an old copy"), "nobody looked at what b has"
    settle(b)
    wait_noted(b)
    assert "old copy" not in b.run("status").stdout, b.run("status").stdout
    assert server.sql("SELECT post_id FROM site.list WHERE list_name = 'talk'", database="listrunner") >= last
    send(b, "after")
    for host in pair:
        host.wait_idle()
    assert members_got(sink) == {(to, subject): 1 for to in (ANNE, BOB)
                                 for subject in ("first", "since0", "since1", "after")} | {(ANNE, "decided"): 1}


def test_a_database_made_anew(instances, sink, server):  # noqa: F811
    """The database is lost with all copies of it. A new one can be made beside the spool, and the host works with that
    when it was said that it is the right one from now on."""
    a = make_host(instances, sink, server, "a")
    a.create_list("talk", members=[ANNE])
    a.start()
    wait_noted(a)
    assert a.stop() == 0
    server.sql("DROP SCHEMA site CASCADE", database="listrunner")
    made = a.run("store", "create")
    assert made.returncode == 0, made.stderr
    refused = a.run("list", "ls")
    assert refused.returncode != 0 and "it is not the database that this host worked with" in refused.stderr
    (a.spool / ".site").unlink()
    taken = a.run("restore", "--only", "database")
    assert taken.returncode == 0, taken.stderr
    a.create_list("talk", members=[BOB])
    a.start()
    send(a, "after")
    a.wait_idle()
    assert members_got(sink) == {(BOB, "after"): 1}


@pytest.fixture
def standby(server):  # noqa: F811
    one = postgresql.Server(copy_of=server, port=free_port())
    yield one
    one.remove()


def test_an_old_primary(instances, sink, server, standby):  # noqa: F811
    """The standby was promoted, and the old primary comes back as a second one: all go on with the new one, though the
    old one stands first in the URL. When the old one is left alone, status names it, and nothing is written to it."""
    url = server.url("site").replace(f"host={server.address}", f"host={server.address},{standby.address}")
    a, b = (make_host(instances, sink, server, name) for name in "ab")
    for host in (a, b):
        host.set({"store": {"url": url.replace(f"port={server.port}", f"port={server.port},{standby.port}")}})
    a.create_list("talk", members=[ANNE])
    a.start()
    b.has_store = True
    b.start()
    for host in (a, b):
        wait_noted(host)
        assert known(host)[1] == 1
    server.stop()
    standby.promote()
    for host in (a, b):
        wait_until(lambda host=host: known(host)[1] == 2, 120, "the host to work with the new primary")
    server.start()
    old = counters(server)
    a.cli("member", "add", LIST, BOB)
    assert a.stop() == 0
    a.start()
    for at, host in enumerate((a, b)):
        send(host, f"post{at}")
    for host in (a, b):
        host.wait_idle()
        wait_noted(host)
        assert known(host)[1] == 2
    assert members_got(sink) == {(to, f"post{at}"): 1 for to in (ANNE, BOB) for at in range(2)}
    assert counters(server) == old, "nobody wrote there"
    standby.stop()
    for host in (a, b):
        wait_until(lambda host=host: is_refused(host, "it is an old primary, of timeline 1"), 120,
                   "the old primary to be refused")
    with pytest.raises(smtplib.SMTPException):
        for _ in range(100):
            a.lmtp_send(post(to=f"new@{HOST}"), f"new@{HOST}")
    assert code(a, "new") == 451
    assert counters(server) == old, "nobody wrote there"
    settle(a)
    assert BOB not in a.cli("member", "ls", LIST), "what the old one does not have is lost"
    send(a, "again")
    a.wait_idle()
    assert members_got(sink)[(ANNE, "again")] == 1


def test_the_standby_is_away(pair, sink, server):  # noqa: F811
    """Commits wait for a standby that is not there: status and the log name it, on each host, and when the database
    does without it all goes on."""
    server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    for host in pair:
        wait_until(lambda host=host: is_refused(host, "the database waits for its synchronous standby"), 120,
                   "the standby to be missed")
    server.sql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    for at, host in enumerate(pair):
        wait_until(lambda host=host: "synchronous standby" not in host.run("status").stdout, 120, "all to go on")
        send(host, f"post{at}")
    for host in pair:
        host.wait_idle()
    assert members_got(sink) == {(to, f"post{at}"): 1 for to in (ANNE, BOB) for at in range(2)}
