# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A site leaves as lines of JSON, and comes into another: all of it, or some lists, among others."""
import base64
import hashlib
import json
import os
import re
import signal
import stat
import subprocess
import time

import pytest

from support import postgresql
from support.corpus import TOP
from support.instance import HOST, Instance, prefix, wait_until

OTHER = "other.example.org"
HASH = "$6$rounds=1000$abcdefgh$" + "x" * 86
NOW = 1_780_000_000_000_000
POST = b"From: a@example.net\nSubject: caf\xe9\nMessage-ID: <%d@example.net>\n\nfirst \xff\n"
# What stands for itself in a file without secrets.
SECRETS = ("token", "secret", "moderator_letter")


def key(instance, sql, *values):
    with instance.database() as database:
        return database.execute(sql, values).fetchone()[0]


def insert(instance, table, **values):
    with instance.database() as database:
        database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                         list(values.values()))


def new_key(number):
    """A key of some day of the past."""
    return (NOW // 1000 * 1000 + number) << 11


def digest(word):
    return hashlib.sha256(word.encode()).hexdigest()


def fill(instance):
    """Two of every kind of row, on two lists of one domain, and a list of another."""
    instance.create_store()
    run = instance.cli
    run("domain", "create", HOST, "--description", "Zürich")
    run("domain", "create", OTHER)
    run("domain", "alias", OTHER, "alias.example.org")
    for address in (f"talk@{HOST}", f"news@{HOST}", f"quiet@{OTHER}"):
        run("list", "create", address, "--owner", "olga@example.com")
    run("list", "set", f"talk@{HOST}", "description=Über dies & das", "info=Zeile 1\nZeile 2", "advertised=false",
        "topics=cats: cat|kitten", "linked_newsgroup=local.talk", "accept_these_nonmembers=^.*@good\\.example$")
    run("user", "create", "Anne.M@Example.com", "--display-name", "Anne Müller 日本")
    run("address", "add", "anne.second@example.net")
    run("address", "link", "anne.m@example.com", "anne.second@example.net")
    run("address", "verify", "anne.m@example.com")
    run("user", "password", "anne.m@example.com", input="a long word and more\n")
    run("user", "set", "anne.m@example.com", "server_owner=yes", "receive_own_postings=no", "preferred_language=de",
        "preferred_address=Anne.M@example.com")
    run("user", "create", "Dora@example.com", "--display-name", "Dora")
    run("user", "set", "dora@example.com", "delivery_mode=summary_digests")
    for address in ("anne.second@example.net", "dora@example.com"):
        run("address", "set", address, "hide_address=no")
    for name in ("talk", "news"):
        address = f"{name}@{HOST}"
        for member in ("anne.m@example.com", "bob@example.com", "carol@example.net"):
            run("member", "add", address, member)
        run("member", "set", address, "bob@example.com", "--delivery-mode", "mime_digests", "--moderation", "hold")
        run("member", "add", address, "mod@example.com", "--role", "moderator")
        run("ban", "add", "--list", address, "evil@example.com", "^.*@evil\\.example$")
        run("header-match", "add", "--list", address, "x-spam-flag", "^yes", "--action", "discard", "--tag", "spam")
        run("header-match", "add", "--list", address, "subject", "buy")
        run("template", "set", "list:user:notice:welcome", "-", "--list", address, input="Subject: Hi\n\n$user_name ü")
        run("template", "set", "list:user:notice:goodbye", "--list", address, "--language", "de", "-", input="Weg.\n")
    run("ban", "add", "site-evil@example.com", "^.*@worse\\.example$")
    run("header-match", "add", "x-virus", "yes")
    run("header-match", "add", "x-virus", "maybe", "--action", "reject")
    run("template", "set", "list:user:notice:hold", input="Waits.\n")
    run("template", "set", "list:member:regular:footer", "--domain", OTHER, input="-- \n$display_name\n")
    run("token", "create", "--name", "one", "--list", f"talk@{HOST}")
    run("token", "create", "--name", "two", "--metrics")
    with instance.database() as database:
        lists = dict(database.execute("SELECT list_name, key FROM list").fetchall())
        people = dict(database.execute("SELECT email, person FROM address").fetchall())
        members = {(key, email): member for key, email, member in database.execute(
            "SELECT list, email, key FROM member WHERE role = 0").fetchall()}
        addresses = dict(database.execute("SELECT email, key FROM address").fetchall())
    for number in range(2):
        insert(instance, "secret", key=new_key(number), octets=bytes([0, 1, 255] * 10 + [number] * 2),
               replaced_at=NOW if number == 0 else 0)
        insert(instance, "domain_owner", mail_host=(HOST, OTHER)[number], person=people["olga@example.com"])
    with instance.database() as database:
        database.execute("UPDATE counter SET value = 2000 WHERE name IN ('held', 'pending')")
        database.execute("UPDATE member SET by_person = 1 WHERE email = 'Anne.M@Example.com'")
    insert(instance, "site_preference", one=1, delivery_mode=1, preferred_language="fr")
    for email in ("bob@example.com", "carol@example.net"):
        insert(instance, "stranger_address", address=addresses[email])
    for place, name in enumerate(("talk", "news")):
        fill_list(instance, lists[name], place * 1000, members, addresses)
    return instance


def fill_list(instance, list_key, base, members, addresses):
    def add(table, **values):
        insert(instance, table, list=list_key, **values)

    insert(instance, "list_setting", list=list_key, name="moderator_password", value=HASH)
    with instance.database() as database:
        database.execute("UPDATE list SET held_last = 9, archive = 2, post_id = 1234, last_post_at = ? WHERE key = ?",
                         (NOW, list_key))
        database.execute("DELETE FROM digest WHERE list = ?", (list_key,))
        database.execute("DELETE FROM news WHERE list = ?", (list_key,))
    add("digest", volume=7, next_number=3, sent_at=NOW, waiting=2, octets=200, first_at=NOW + base)
    add("news", newsgroup="local.talk", watermark=77, looked_at=NOW, fault="")
    for number, email in enumerate(("bob@example.com", "carol@example.net")):
        member, word = members[list_key, email], f"{base}.{number}"
        add("digest_post", key=new_key(base + 10 + number), message=POST % number)
        add("digest_last", address=addresses[email], mode=number + 1)
        insert(instance, "bounce_score", member=member, score=150 + number, last_bounce_at=NOW, probe_at=1,
               disabled_at=2, warnings=number, next_at=NOW + 3, warned_at=4)
        insert(instance, "vacation", member=member, begins_at=NOW, ends_at=NOW + 86400, begun=number)
        insert(instance, "stranger", member=member, seen_at=NOW + number)
        for day in (20000, 20001):
            add("bounce", folded=" ".join(reversed(email.split("@"))), day=day, email=email, bounces=1, weight=100,
                **{"class": "hard"}, status="5.1.1", reason="no such user", source="dsn", text="550 é", last_at=NOW)
        add("bounce_count", day=20000 + number, what="sent", number=5)
        add("held", number=base + 1 + number, list_number=8 + number,
            message_id=f"<{word}@example.net>" * number or None,
            subject="café", sender=email, reason="the reason", meta='{"a":1}', held_at=NOW, message=POST % number,
            told=number, token=digest("held" + word), asked_until=NOW, room=2000 + number, stranger=number)
        add("pending", number=base + 3 + number, kind=number, folded=" ".join(reversed(email.split("@"))),
            address=email, display_name="N é", facts=5, waits_for=number, token=digest("request" + word), made_at=NOW,
            asked_at=NOW, expires_at=NOW + 86400, delivery_mode=2, delivery_status=None, by_person=0, welcome=number,
            detail=None, way=number)
        add("ticket", token=digest("ticket" + word), moderator="mod@example.com", first=base + 1,
            last=base + 1 + number, first_request=base + 3, last_request=base + 4, expires_at=NOW + 86400)
        add("autoresponse", kind=("owner", "request")[number], address=email, entry="1.2+ab", answered_at=NOW)
        add("departure", key=new_key(base + 20 + number), folded=f"example.org gone{number}", domain="example.org",
            address=f"gone{number}@example.org", way=1, counts=1, left_at=NOW, expires_at=NOW + 9,
            token=digest("left" + word), by_person=0, given_name="Gone", delivery_mode=1, topics="cats",
            topics_unmatched=1, vacation_begins_at=5, vacation_ends_at=6, vacation_begun=1)
        add("leave_brake", domain=f"d{number}.example", closed_at=NOW, closed_until=NOW + 9, gone=10, waiting=3,
            told_at=NOW)
        add("pace", address=email, first_at=NOW, began_at=NOW, posts=3, past=40)
        add("list_log", key=new_key(base + 30 + number), made_at=NOW + number, door="shell", made_by="root",
            kind="setting", name="info", before=None, after="new é")
    add("held_notice", told_at=NOW + base)
    add("held_sum", room=4001, strangers=2001)


@pytest.fixture
def site(instances, sink):
    return fill(instances(sink.port))


@pytest.fixture
def empty(instances, sink):
    made = instances(sink.port)
    made.create_store()
    return made


@pytest.fixture(scope="module")
def server():
    if not postgresql.programs():
        pytest.skip("PostgreSQL's server is missing")
    made = postgresql.Server()
    yield made
    made.remove()


def export(instance, *words):
    """The lines, without the first: that says which site, and when."""
    first, *lines = instance.cli("export", *words, timeout=300).splitlines()
    assert json.loads(first)["row"] == "listrunner-export"
    return lines


def bring(instance, path, *words, code=0):
    done = instance.run("import", "listrunner", path, *words, timeout=300)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def tables(instance):
    """All rows of the store."""
    with instance.database() as database:
        names = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()]
        return {name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"').fetchall())) for name in names}


def check_there_and_back(site, there, tmp_path):
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text().splitlines()[1:]
    kinds = [json.loads(line)["row"] for line in before]
    for kind in set(kinds) - {"end", "site_preferences"}:
        assert kinds.count(kind) >= 2, f"{kind}: the test has no two of them"
    expected = bring(there, path, "--dry-run")
    assert len(export(there)) < 5, "a dry run writes nothing"
    told = bring(there, path)
    assert told.replace("brought in", "would come") == expected
    assert "0 left out, 0 without an equal here, 0 changed" in told
    assert export(there) == before
    there.cli("store", "check")
    return path, kinds


def test_there_and_back(site, empty, tmp_path):
    path, kinds = check_there_and_back(site, empty, tmp_path)
    described = set(re.findall(r"^### `(\w+)`$", (TOP / "doc" / "export.md").read_text(), re.MULTILINE))
    assert set(kinds) <= described and described - set(kinds) <= {"list"}, "the test has all that there is"
    # What stands beside the rows is made with them.
    for instance in (site, empty):
        assert [row["number"] for row in map(json.loads, instance.cli("held", "ls", "--json").splitlines())] == \
            [1, 2, 1001, 1002]
    sums = "SELECT kind, sum(total) FROM span GROUP BY kind ORDER BY kind"
    for sql in (sums, "SELECT room, strangers FROM held_sum", "SELECT count(*) FROM member"):
        with site.database() as one, empty.database() as two:
            assert one.execute(sql).fetchall() == two.execute(sql).fetchall(), sql
    # Keys that come later are new.
    empty.cli("user", "create", "later@example.com")
    # A list that was removed can be brought again; nobody else comes back who left since.
    empty.cli("member", "remove", f"talk@{HOST}", "bob@example.com")
    empty.cli("list", "remove", f"quiet@{OTHER}", "--yes")
    bring(empty, path)
    assert "bob@example.com" not in empty.cli("member", "ls", f"talk@{HOST}", "--names")
    assert f"quiet@{OTHER}" in empty.cli("list", "ls", "--names")


def test_by_way_of_postgresql(site, instances, sink, server, tmp_path):
    between = instances(sink.port)
    between.set({"store": {"path": None, "driver": "postgresql", "url": server.url("between")}})
    between.create_store()
    check_there_and_back(site, between, tmp_path)
    back = instances(sink.port)
    back.create_store()
    between.cli("export", "-o", tmp_path / "back.jsonl")
    bring(back, tmp_path / "back.jsonl")
    assert export(back) == export(site)


@pytest.mark.sqlite
def test_again_changes_nothing(site, empty, tmp_path):
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    bring(empty, path)
    before = tables(empty)
    bring(empty, path)
    assert tables(empty) == before
