# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A database that today's programs filled is opened by those of a later version, all at once: nothing of it is lost or
changed, and what came with the later schema works on it. The later version is today's with one step more."""
import json
import re
import shutil
import sqlite3

import pytest

from support import later
from support.instance import HOST, build, let_through, prefix, wait_until
from test_bounces import SOON, delivery, report, rows, signed, standing

pytestmark = pytest.mark.sqlite

TODAY, LATER = 1, 2  # the schemas of the two versions
ANNE, BART = "anne@example.org", "bart@example.org"
MEMBERS = [ANNE, BART, *(f"m{number}@members.example.net" for number in range(60))]
OWNER = "owner@example.com"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The prefix of the later version."""
    return later.make(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def install(made, monkeypatch):
    """Puts the programs of the later version in the place of today's."""
    def put(instance):
        monkeypatch.setenv("LISTRUNNER_BUILD", str(build()))
        monkeypatch.setenv("LISTRUNNER_PREFIX", str(made))
        instance.set(later.commands(made))
    return put


def columns(path):
    """{table: its columns}."""
    with sqlite3.connect(path) as store:
        tables = [name for name, in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: [name for name, in store.execute("SELECT name FROM pragma_table_info(?)", [table])]
                for table in tables if table not in ("schema_migration", "schema_least")}


def dump(path, wanted):
    """{table: its rows}, of the columns wanted: {table: names}."""
    with sqlite3.connect(path) as store:
        return {table: sorted(map(repr, store.execute(f"SELECT {', '.join(names)} FROM {table}")))
                for table, names in wanted.items()}


def part(number, total):
    return (f"From: p@example.net\r\nTo: test@{HOST}\r\nSubject: in parts\r\n"
            f"Message-ID: <part{number}@example.net>\r\nMIME-Version: 1.0\r\n"
            f"Content-Type: message/partial; id=\"abc@example.net\"; number={number}; total={total}"
            f"\r\n\r\n" + ("Content-Type: text/plain\r\nSubject: whole\r\n\r\nfirst " if number == 1 else "second")
            + "\r\n").encode()


def post(instance, address, subject, sender="p@example.net"):
    instance.lmtp_send(f"From: {sender}\r\nTo: {address}\r\nSubject: {subject}\r\n"
                       f"Message-ID: <{subject}@example.net>\r\n\r\nHello.\r\n".encode(), address)
    instance.wait_idle()


def fill(instance):
    """Data of every kind, by the programs themselves."""
    address = instance.create_list("test", MEMBERS, owner=OWNER, settings=["defragment=on", "bounce_score_threshold=1"])
    closed = instance.create_list("closed", [BART], owner=OWNER, settings=["default_nonmember_action=hold"])
    instance.cli("member", "set", address, MEMBERS[5], "--delivery-status=by_user")
    post(instance, address, "first")
    post(instance, closed, "held")
    instance.lmtp_send(report(BART), f"test-bounces@{HOST}", sender="")
    instance.lmtp_send(part(1, 2), address)
    instance.wait_idle()
    return address, closed


def shown(instance, address, closed):
    return [re.sub(r'"age":\d+', "", instance.cli(*words)) for words in
            (("list", "ls", "--json"), ("list", "show", address), ("list", "show", closed),
             ("member", "ls", address, "--json"), ("member", "ls", closed, "--json"), ("held", "ls", "--json"))]


def schema(path):
    with sqlite3.connect(path) as store:
        return store.execute("SELECT max(number) FROM schema_migration").fetchone()[0]


def test_looks_change_nothing(instances, sink, tmp_path, monkeypatch, install):
    """Commands that look leave an older database as it is and say which it is, as do those that would change something;
    copies are of the older one. A start, and "store upgrade", say from where to where."""
    instance = instances(sink.port).start()
    address, closed = fill(instance)
    assert instance.stop() == 0
    database = instance.directory / "lib" / "listrunner.db"
    kept = columns(database)
    before = dump(database, kept)
    install(instance)
    said = f"has schema {TODAY}, and this program wants {LATER}"
    for words in (("list", "ls"), ("list", "show", address), ("member", "ls", address), ("held", "ls"), ("host", "ls"),
                  ("export",), ("pending", "ls"), ("list", "try", address, "emergency=yes"),
                  ("list", "create", f"new@{HOST}"), ("member", "add", address, "new@example.org"),
                  ("store", "compact"), ("import", "mlmmj", "--dry-run", tmp_path)):
        done = instance.run(*words)
        assert done.returncode != 0 and said in done.stderr, (words, done)
    for words in (("status",), ("doctor", "--no-dns", "--no-probe"), ("metrics",), ("queue", "ls"), ("task", "ls")):
        instance.run(*words)
    assert f"schema {TODAY} and is brought to {LATER}" in instance.cli("config", "check")
    assert f"schema {TODAY} (older" in instance.cli("store", "check")
    let_through(tmp_path)
    (tmp_path / "copies").mkdir()
    instance.own(tmp_path / "copies")
    copy, backup = tmp_path / "copies" / "copy.db", tmp_path / "copies" / "backup"
    instance.cli("store", "backup", copy)
    instance.cli("backup", backup)
    for path in (database, copy, backup / "listrunner.db"):
        assert schema(path) == TODAY and dump(path, kept) == before, path

    # Neither may a process that an older master of the same version has started, as when a package is just replaced.
    version = instance.cli("--version").split()[-1]
    for number in (TODAY, ""):
        monkeypatch.setenv("LISTRUNNER_VERSION", version)
        monkeypatch.setenv("LISTRUNNER_SCHEMA", str(number))
        done = instance.run("list", "ls")
        assert done.returncode != 0 and said in done.stderr, done
        assert schema(database) == TODAY
    monkeypatch.delenv("LISTRUNNER_VERSION")
    monkeypatch.delenv("LISTRUNNER_SCHEMA")

    assert f"schema {TODAY} and is brought to {LATER}" in instance.cli("store", "upgrade")
    assert schema(database) == LATER and instance.cli("list", "ls")
    assert "brought" not in instance.cli("store", "upgrade")
    shutil.rmtree(instance.spool)
    instance.spool.mkdir()
    instance.own(instance.spool)
    for path in database.parent.glob(database.name + "*"):
        path.unlink()
    instance.cli("restore", backup)  # as it was, for the program of then, or for a start
    assert schema(database) == TODAY
    assert f"schema {TODAY} and is brought to {LATER}" in instance.cli(
        "start", "--program", prefix() / "sbin" / "listrunner-master", "--log", database.parent / "log")
    assert schema(database) == LATER and instance.cli("held", "ls")
    instance.cli("stop")


def test_upgrade(instances, sink, install):
    instance = instances(sink.port, settings={**SOON, "pipeline": {"verp_delivery_interval": "1"}}).start()
    database = instance.directory / "lib" / "listrunner.db"
    address, closed = fill(instance)
    before = shown(instance, address, closed)
    copy = next(mail.sender for mail in sink.transactions() if mail.to == [ANNE])
    assert instance.stop() == 0
    kept = columns(database)
    kept.pop("job")  # what the timer does each minute it may do between the looks
    kept.pop("host")  # says which version it runs, and since when
    kept.pop("claim")
    rows_before = dump(database, kept)
    for name in ("list", "member", "address", "held", "effect", "message_id", "list_setting"):
        assert rows_before[name]
    sent = len(sink.transactions())

    install(instance)
    instance.start()  # all runners open it at the same time
    assert shown(instance, address, closed) == before
    assert dump(database, kept) == rows_before
    with sqlite3.connect(database) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert store.execute("PRAGMA foreign_key_check").fetchall() == []
        assert store.execute("SELECT number, name FROM schema_migration ORDER BY number").fetchall() == [
            (1, "initial"), (2, "later")]
        assert store.execute("SELECT DISTINCT later_member FROM member").fetchall() == [(7,)]
        assert store.execute("SELECT count(*) FROM later").fetchall() == [(2,)]

    post(instance, address, "second")
    got = [mail.to[0] for mail in sink.transactions()[sent:]]
    assert sorted(got) == sorted(set(MEMBERS) - {MEMBERS[5]})
    instance.lmtp_send(part(2, 2), address)
    wait_until(lambda: len([mail for mail in sink.transactions() if b"first \r\nsecond" in mail.octets]) == 61,
               20, "the parts to be put together and delivered")
    instance.wait_idle()
    number, = [row["number"] for row in map(json.loads, instance.cli("held", "ls", "--json").splitlines())]
    instance.cli("held", "accept", str(number))
    instance.wait_idle()
    assert sink.transactions()[-1].to == [BART]
    assert standing(instance, address) == {BART: (0, "enabled")}  # probed before
    instance.lmtp_send(report(ANNE), copy, sender="")  # signed with a secret of before
    instance.wait_idle()
    assert "we did not write that address" not in instance.log_text()
    instance.lmtp_send(report(ANNE), f"test-bounces@{HOST}", sender="")
    instance.wait_idle()
    probe = [mail for mail in sink.transactions() if mail.sender == signed(instance, "test", ANNE, purpose="probe")]
    assert [mail.to for mail in probe] == [[ANNE]]
    instance.lmtp_send(report(ANNE), probe[0].sender, sender="")
    wait_until(lambda: delivery(instance, address)[ANNE] == "by_bounces", 20, "the member to be disabled")
    assert [row["reason"] for row in rows(instance, "ls", address, f"--member={ANNE}")] == ["user-unknown"]
    assert instance.cli("bounce", "reset", address, ANNE).startswith(ANNE)
    instance.wait_idle()
    assert not instance.set_aside()
