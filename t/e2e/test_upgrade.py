# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A database that an older Listrunner filled is opened by today's programs, all at once: nothing of it is lost or
changed, and what came with later schemas works on it."""
import json
import os
import re
import shutil
import sqlite3

import pytest

from support.corpus import TOP
from support.instance import HOST, let_through, wait_until
from test_bounces import SOON, delivery, report, rows, signed, standing

pytestmark = pytest.mark.sqlite

SCHEMA = sorted((TOP / "store" / "schema").glob("[0-9]*.sql"))
WORDS = {"@integer@": "INTEGER", "@text@": "TEXT", "@blob@": "BLOB", "@clustered@": "STRICT, WITHOUT ROWID",
         "@table@": "STRICT"}  # as the driver has them
# The oldest, the three that came last, and every fifth between them.
LEVELS = sorted({1, 2, *range(5, len(SCHEMA), 5), *range(len(SCHEMA) - 2, len(SCHEMA) + 1)})
ANNE, BART = "anne@example.org", "bart@example.org"
MEMBERS = [ANNE, BART, *(f"m{number}@members.example.net" for number in range(60))]
OWNER = "owner@example.com"


def tables(store):
    return [name for name, in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            if name not in ("schema_migration", "schema_least")]


def columns(store, table):
    return [name for name, in store.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", [table])]


def dump(path, wanted):
    """{table: its rows}, of the columns wanted: {table: names}."""
    with sqlite3.connect(path) as store:
        return {table: sorted(map(repr, store.execute(f"SELECT {', '.join(names)} FROM {table}")))
                for table, names in wanted.items()}


def shape(path):
    with sqlite3.connect(path) as store:
        return sorted(" ".join(repr(row).replace("\\n", " ").split())
                      for row in store.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))


def make_older(path, level):
    """Makes the database what the program with that many schemas would have, with the same data; {table: columns} of
    it."""
    old = path.with_name("old.db")
    with sqlite3.connect(old) as store:
        store.execute("PRAGMA application_id = 1281979252")
        store.execute("CREATE TABLE schema_migration (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, "
                      "applied_at INTEGER NOT NULL) STRICT")
        for number, file in enumerate(SCHEMA[:level], 1):
            sql = file.read_text()
            for word, text in WORDS.items():
                sql = sql.replace(word, text)
            store.executescript(sql)
            store.execute("INSERT INTO schema_migration VALUES (?, ?, 1)", [number, file.stem[4:]])
        store.execute("ATTACH ? AS new", [str(path)])
        there = {name for name, in store.execute("SELECT name FROM new.sqlite_schema")}
        # A later schema may have dropped a table or column, whose data went with it.
        kept = {table: columns(store, table) for table in tables(store) if table in there}
        for table, names in kept.items():
            now = {name for name, in store.execute("SELECT name FROM pragma_table_info(?, 'new')", [table])}
            names[:] = [name for name in names if name in now]
            store.execute(f"DELETE FROM main.{table}")
            store.execute(f"INSERT INTO main.{table} ({', '.join(names)}) SELECT {', '.join(names)} FROM new.{table}")
        store.commit()
        store.execute("DETACH new")
    owner = path.stat()
    for stale in path.parent.glob(path.name + "-*"):
        stale.unlink(missing_ok=True)  # a connection that is collected now removes it, too
    old.rename(path)
    os.chown(path, owner.st_uid, owner.st_gid)
    path.chmod(owner.st_mode & 0o777)
    return kept


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


def fill(instance, level):
    """Data of every kind, by the programs themselves."""
    address = instance.create_list("test", MEMBERS, owner=OWNER, settings=["defragment=on", "bounce_score_threshold=1"])
    closed = instance.create_list("closed", [BART], owner=OWNER, settings=["default_nonmember_action=hold"])
    instance.cli("member", "set", address, MEMBERS[5], "--delivery-status=by_user")
    post(instance, address, "first")
    post(instance, closed, "held")
    instance.lmtp_send(report(BART), f"test-bounces@{HOST}", sender="")
    if level > 2:  # who knew no parts kept none
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


def test_looks_change_nothing(instances, sink, tmp_path, monkeypatch):
    """Commands that look leave an older database as it is and say which it is, as do those that would change something;
    copies are of the older one. A start, and "store upgrade", say from where to where."""
    instance = instances(sink.port).start()
    address, closed = fill(instance, len(SCHEMA))
    assert instance.stop() == 0
    database, newest, level = instance.directory / "lib" / "listrunner.db", len(SCHEMA), 25
    kept = make_older(database, level)
    (instance.spool / ".site").unlink()  # no site was named then
    before = dump(database, kept)
    said = f"has schema {level}, and this program wants {newest}"
    for words in (("list", "ls"), ("list", "show", address), ("member", "ls", address), ("held", "ls"), ("host", "ls"),
                  ("export",), ("pending", "ls"), ("list", "try", address, "emergency=yes"),
                  ("list", "create", f"new@{HOST}"), ("member", "add", address, "new@example.org"),
                  ("store", "compact"), ("import", "mlmmj", "--dry-run", tmp_path)):
        done = instance.run(*words)
        assert done.returncode != 0 and said in done.stderr, (words, done)
    for words in (("status",), ("doctor", "--no-dns", "--no-probe"), ("metrics",), ("queue", "ls"), ("task", "ls")):
        instance.run(*words)
    assert f"schema {level} and is brought to {newest}" in instance.cli("config", "check")
    assert f"schema {level} (older" in instance.cli("store", "check")
    let_through(tmp_path)
    (tmp_path / "copies").mkdir()
    instance.own(tmp_path / "copies")
    copy, backup = tmp_path / "copies" / "copy.db", tmp_path / "copies" / "backup"
    instance.cli("store", "backup", copy)
    instance.cli("backup", backup)
    for path in (database, copy, backup / "listrunner.db"):
        assert schema(path) == level and dump(path, kept) == before, path

    # Neither may a process that an older master of the same version has started, as when a package is just replaced.
    version = instance.cli("--version").split()[-1]
    for number in (newest - 1, ""):
        monkeypatch.setenv("LISTRUNNER_VERSION", version)
        monkeypatch.setenv("LISTRUNNER_SCHEMA", str(number))
        done = instance.run("list", "ls")
        assert done.returncode != 0 and said in done.stderr, done
        assert schema(database) == level
    monkeypatch.delenv("LISTRUNNER_VERSION")
    monkeypatch.delenv("LISTRUNNER_SCHEMA")

    assert f"schema {level} and is brought to {newest}" in instance.cli("store", "upgrade")
    assert schema(database) == newest and instance.cli("list", "ls")
    assert "brought" not in instance.cli("store", "upgrade")
    shutil.rmtree(instance.spool)
    instance.spool.mkdir()
    instance.own(instance.spool)
    for path in database.parent.glob(database.name + "*"):
        path.unlink()
    instance.cli("restore", backup)  # as it was, for the program of then, or for a start
    assert schema(database) == level
    assert f"schema {level} and is brought to {newest}" in instance.cli("start", "--log", database.parent / "log")
    assert schema(database) == newest and instance.cli("held", "ls")
    instance.cli("stop")


@pytest.mark.parametrize("level", LEVELS)
def test_upgrade(instances, sink, level):
    instance = instances(sink.port, settings={**SOON, "pipeline": {"verp_delivery_interval": "1"}}).start()
    database = instance.directory / "lib" / "listrunner.db"
    address, closed = fill(instance, level)
    before = shown(instance, address, closed)
    copy = next(mail.sender for mail in sink.transactions() if mail.to == [ANNE])
    assert instance.stop() == 0
    fresh = shape(database)
    kept = make_older(database, level)
    kept.pop("job", None)  # what the timer does each minute it may do between the looks
    if "site" not in kept:  # who knew no sites named none in the spool
        (instance.spool / ".site").unlink()
    rows_before = dump(database, kept)
    assert level == len(SCHEMA) or shape(database) != fresh
    for name in ("list", "member", "address", "held", "effect", "message_id", "list_setting"):
        assert rows_before[name]
    sent = len(sink.transactions())

    instance.start()  # all runners open it at the same time
    assert shape(database) == fresh
    assert shown(instance, address, closed) == before
    assert dump(database, kept) == rows_before
    with sqlite3.connect(database) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert store.execute("PRAGMA foreign_key_check").fetchall() == []
        assert [number for number, in store.execute("SELECT number FROM schema_migration ORDER BY number")] == list(
            range(1, len(SCHEMA) + 1))

    post(instance, address, "second")
    got = [mail.to[0] for mail in sink.transactions()[sent:]]
    assert sorted(got) == sorted(set(MEMBERS) - {MEMBERS[5]})
    if level > 2:
        instance.lmtp_send(part(2, 2), address)
        wait_until(lambda: len([mail for mail in sink.transactions() if b"first \r\nsecond" in mail.octets]) == 61,
                   20, "the parts to be put together and delivered")
        instance.wait_idle()
    number, = [row["number"] for row in map(json.loads, instance.cli("held", "ls", "--json").splitlines())]
    instance.cli("held", "accept", str(number))
    instance.wait_idle()
    assert sink.transactions()[-1].to == [BART]
    assert standing(instance, address) == ({BART: (0, "enabled")} if level > 1 else {})  # probed before
    instance.lmtp_send(report(ANNE), copy, sender="")  # signed with a secret, which 002 keeps
    instance.wait_idle()
    assert ("we did not write that address" in instance.log_text()) == (level == 1)
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
