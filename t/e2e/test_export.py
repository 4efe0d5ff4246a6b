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

from support.corpus import TOP
from support.instance import HOST, prefix

OTHER = "other.example.org"
HASH = "$6$rounds=1000$abcdefgh$" + "x" * 86
NOW = 1_780_000_000_000_000
POST = b"From: a@example.net\nSubject: caf\xe9\nMessage-ID: <%d@example.net>\n\nfirst \xff\n"
# The kinds of rows that a file without secrets leaves out.
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
        database.execute("UPDATE counter SET value = 2000 WHERE name IN ('held', 'pending', 'scheduled')")
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
        add("scheduled", number=base + 5 + number, message_id=f"<{word}@example.net>" * number or None, subject="café",
            sender=email, author=email * number or None, meta='{"a":1}', made_at=NOW, due_at=NOW + 86400 + number,
            message=POST % number)
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
        add("list_source", key=new_key(base + 40 + number), name=f"source{number}", kind=(0, 4)[number],
            place=("/etc/people", "ldaps://ldap.example.com/dc=example")[number], query=None,
            bind_dn="cn=reader" if number else None, password_file="/etc/secret" if number else None,
            refresh_interval=3600_000_000 * number, welcome=number, made_at=NOW, tried_at=NOW + 1, read_at=NOW + 2,
            due_at=NOW + 3, given=4, kept_out=5, bad=6, fault="é" * number, turn=0)
        add("member_source", folded=" ".join(reversed(email.split("@"))), source=new_key(base + 40 + number),
            address=email, member=member, made=number, given_at=NOW)
        add("source_left", folded=f"example.org left{number}", address=f"Left{number}@example.org",
            way=("mail", "")[number], left_at=NOW)
        add("pace", address=email, first_at=NOW, began_at=NOW, posts=3, past=40)
        add("list_log", key=new_key(base + 30 + number), made_at=NOW + number, door="shell", made_by="root",
            kind="setting", name="info", before=None, after="new é")
    add("held_notice", told_at=NOW + base)
    add("held_sum", room=4001, strangers=2001)


@pytest.fixture
def site(instances, sink):
    return fill(instances(sink.port))


def export(instance, *words):
    """The lines, without the first: that says which site, and when."""
    first, *lines = instance.cli("export", *words, timeout=300).splitlines()
    assert json.loads(first)["row"] == "listrunner-export"
    return lines


def bring(instance, path, *words, code=0, site=True):
    done = instance.run("import", "listrunner", *["--site"] * site, path, *words, timeout=300)
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
    # Numbers and texts that belong to the rows are made with them.
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


@pytest.mark.sqlite
def test_dash_is_standard_output(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert site.cli("export", "-o", "-").splitlines()[1:] == export(site)
    assert not (tmp_path / "-").exists()
    # A password is asked for by its name alone, which no list of processes shows.
    site.cli("list", "set", f"talk@{HOST}", "moderator_password", input="a long word and more\n")
    hashes = "SELECT value FROM list_setting WHERE name = 'moderator_password'"
    with site.database() as database:
        values = [row[0] for row in database.execute(hashes).fetchall()]
    assert len(set(values) - {HASH}) == 1 and "a long word and more" not in values


@pytest.mark.skipif(os.geteuid() != 0, reason="a file is to be another user's")
def test_file_of_another(site, tmp_path):
    """A file that somebody else has put there, and could read afterwards, is not written."""
    path = tmp_path / "export"
    path.touch(0o600)
    os.chown(path, 65534, 65534)
    done = site.run("export", "--output", path)
    assert done.returncode == 1 and str(path) in done.stderr, done
    assert path.stat().st_size == 0 and path.exists()


# ---- some of it ----

def test_some_lists(site, empty, tmp_path):
    """Into a site that has lists and people of its own, one of whom is on the list that comes."""
    path = tmp_path / "some.jsonl"
    site.cli("export", "--list", f"talk@{HOST}", "-o", path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["list"] for line in lines if "list" in line} == {f"talk.{HOST}"}
    assert {line["email"].lower() for line in lines if line["row"] == "address"} == {
        "anne.m@example.com", "anne.second@example.net", "bob@example.com", "carol@example.net", "mod@example.com",
        "olga@example.com"}, "nobody who is not of the list"
    assert not [line for line in lines if line.get("server_owner")], "rights over a site are not those of a list"
    assert not {"secret", "token", "site_ban", "counter", "domain_owner"} & {line["row"] for line in lines}
    assert export(site, "--domain", HOST) == export(site, "--list", f"news@{HOST}", "--list", f"talk@{HOST}")
    empty.cli("domain", "create", HOST)
    empty.cli("list", "create", f"mine@{HOST}")
    empty.cli("user", "create", "bob@example.com", "--display-name", "My Bob")
    empty.cli("member", "add", f"mine@{HOST}", "bob@example.com")
    mine = tables(empty) if "path" in empty.sections["store"] else None
    number = next(number for number, line in enumerate(lines, 1) if line.get("email") == "bob@example.com")
    for words in (("--dry-run",), ()):
        told = bring(empty, path, *words)
        assert f"changed: line {number}: address bob@example.com: the address is here already" in told
        assert mine is None or not words or tables(empty) == mine, "a dry run writes nothing"
    bob = json.loads(empty.cli("user", "show", "bob@example.com", "--json"))
    assert bob["display_name"] == "My Bob"
    with empty.database() as database:
        lonely = database.execute("SELECT count(*) FROM person WHERE key NOT IN (SELECT person FROM address)")
        assert lonely.fetchone()[0] == 0, "nobody is there without an address"
        for sql in ("SELECT sum(total) FROM span WHERE kind = 5", "SELECT count(*) FROM person WHERE stands_in = 0"):
            assert database.execute(sql).fetchone()[0] == 5, sql
    assert empty.cli("member", "ls", f"talk@{HOST}", "--names").split() == \
        site.cli("member", "ls", f"talk@{HOST}", "--names").split()
    assert empty.cli("member", "ls", f"mine@{HOST}", "--names").split() == ["bob@example.com"]
    wrong = site.run("export", "--list", f"nobody@{HOST}", "-o", tmp_path / "none.jsonl")
    assert wrong.returncode == 66 and not ((tmp_path / "none.jsonl").exists() and (tmp_path / "none.jsonl").read_text())
    site.cli("export", "--list", f"talk@{HOST}", "-o", tmp_path / "none.jsonl")
    assert site.run("export", "-o", path).returncode == 1 and json.loads(path.read_text().splitlines()[-1])["lines"]


def rewrite(path, edit):
    """Let edit() change the lines of an export, each as an object; the last one counts them."""
    lines = edit([json.loads(line) for line in path.read_text().splitlines()])
    lines[-1]["lines"] = len(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


SITE_ROWS = {
    "tokens": "SELECT count(*) FROM token", "owners of the site": "SELECT count(*) FROM person WHERE server_owner = 1",
    "passwords": "SELECT count(*) FROM person WHERE password IS NOT NULL",
    "owners of domains": "SELECT count(*) FROM domain_owner", "bans": "SELECT count(*) FROM ban WHERE list IS NULL",
    "keys": "SELECT count(*) FROM secret WHERE octets <> x'00' AND length(octets) = 32",
    "aliases": "SELECT count(*) FROM domain WHERE alias_domain IS NOT NULL",
    "header matches": "SELECT count(*) FROM header_match WHERE list IS NULL",
    "texts": "SELECT count(*) FROM template WHERE place NOT IN (SELECT list_id FROM list)",
    "sources": "SELECT count(*) FROM list_source", "preferences": "SELECT count(*) FROM person_preference",
    "verified": "SELECT count(*) FROM address WHERE verified_at > 0",
    "several addresses": "SELECT count(*) FROM person p WHERE (SELECT count(*) FROM address WHERE person = p.key) > 1",
    "members by user": "SELECT count(*) FROM member WHERE by_person = 1",
    "settings of the site": "SELECT count(*) FROM list_setting WHERE name = 'linked_newsgroup'",
    "log": "SELECT count(*) FROM list_log WHERE made_by = 'root' AND after = 'new é'",
    "facts for all lists": "SELECT count(*) FROM pending WHERE kind = 2 OR facts & 16 OR NOT facts & 64",
    "foreign queues": "SELECT count(*) FROM held WHERE meta LIKE '%recipients%'",
    "old archives": "SELECT count(*) FROM list WHERE archive <> 0"}


def rows_of_site(instance):
    with instance.database() as database:
        return {name: database.execute(sql).fetchone()[0] for name, sql in SITE_ROWS.items()}


@pytest.mark.sqlite
def test_a_file_can_do_what_a_token_can(site, empty, instances, sink, tmp_path):
    """A list's file, made to take over the site, brings two lists with all that is theirs, and nothing else."""
    path = tmp_path / "some.jsonl"
    site.cli("user", "set", "bob@example.com", "server_owner=yes")
    site.cli("list", "set", f"talk@{HOST}", f"accept_these_nonmembers=x@example.net,@quiet.{OTHER},@talk.{HOST}")
    site.cli("export", "-o", path)

    def take_over(lines):
        made = []
        for line in lines:
            if line["row"] == "request" and line["number"] % 2:
                line = line | {"kind": "change_address", "facts": 16 + 4, "detail": "eve@example.net"}
            if line["row"] == "held":
                line["meta"] = json.dumps({"to": "posting", "recipients": ["victim@example.net"]})
            if line["row"] == "template":
                made.append(line | {"name": "list:user:action:change-new", "language": "fr"})
            made.append(line)
        return made
    rewrite(path, take_over)
    for address in (HOST, OTHER):
        empty.cli("domain", "create", address)
    empty.cli("user", "create", "victim@example.net")
    before = rows_of_site(empty)
    dry = bring(empty, path, "--dry-run", "--rest", site=False, code=1)
    told = bring(empty, path, "--rest", site=False, code=1)
    assert told.replace("brought in", "would come") == dry
    assert rows_of_site(empty) == before
    for kind in ("token: 2", "site_ban: 2", "domain_owner: 2", "source: 4", "site_template: 2", "secret", "domain",
                 "site_header_match: 2", "address: ", "user: ", "server_owner: 2", "setting: 2", "log", "request: 2"):
        assert f"needs --site: {kind}" in told, kind
    assert told.count("is the site's alone to set") == 4 and "with it" not in told
    for name in (f"talk@{HOST}", f"news@{HOST}", f"quiet@{OTHER}"):
        for role in ("member", "owner", "moderator"):
            assert [a.lower() for a in empty.cli("member", "ls", name, "--role", role, "--names").split()] == \
                [a.lower() for a in site.cli("member", "ls", name, "--role", role, "--names").split()], (name, role)
        assert empty.cli("ban", "ls", name) == site.cli("ban", "ls", name)
    for kind in ("held", "scheduled", "header_match", "digest_post", "departure", "bounce_score", "source_left"):
        count = f"SELECT count(*) FROM {kind}"
        with empty.database() as one, site.database() as two:
            missing = 2 if kind == "header_match" else 0
            assert one.execute(count).fetchone()[0] == two.execute(count).fetchone()[0] - missing, kind
    with empty.database() as database:  # who may post to talk does not tell who is on another list
        assert database.execute("SELECT value FROM list_setting WHERE name = 'accept_these_nonmembers'").fetchall() == [
            (f"x@example.net,@talk.{HOST}",)]
    # With --site all of it comes, and each row that gives power over the site is named before.
    there = instances(sink.port)
    there.create_store()
    named = bring(there, path, "--dry-run")
    for words in ("server_owner: ", "token: ", "alias.example.org", "site-evil@example.com",
                  f"{HOST}, olga@example.com",
                  "list:user:notice:hold", "source0", "x-virus", "secret: "):
        assert re.search(rf"^of the site: .*{re.escape(words)}", named, re.MULTILINE), words
    bring(there, path)
    assert rows_of_site(there)["tokens"] == 2


def test_without_secrets(site, empty, tmp_path):
    """Nothing in the file is good for a password or a token, and the file comes in all the same."""
    with site.database() as database:
        hashes = [row[0] for sql in (
            "SELECT password FROM person", "SELECT digest FROM token", "SELECT token FROM ticket",
            "SELECT token FROM held", "SELECT token FROM pending", "SELECT token FROM departure",
            "SELECT value FROM list_setting WHERE name = 'moderator_password'") for row in
            database.execute(sql).fetchall() if row[0]]
        keys = [base64.b64encode(bytes(row[0])).decode() for row in
                database.execute("SELECT octets FROM secret").fetchall()]
    assert len(hashes) >= 13 and len(keys) >= 2
    whole, without = "\n".join(export(site)), "\n".join(export(site, "--no-secrets"))
    for word in hashes + keys:
        assert word in whole and word not in without
    assert not set(SECRETS) & {json.loads(line)["row"] for line in without.splitlines()}
    path = tmp_path / "site.jsonl"
    site.cli("export", "--no-secrets", "-o", path)
    bring(empty, path)
    assert "\n".join(export(empty, "--no-secrets")) == without


# ---- refusals ----

def change(path, place, **fields):
    """Line `place`, from 1, with other fields; None takes one away."""
    lines = path.read_text().splitlines()
    row = {**json.loads(lines[place - 1]), **fields}
    lines[place - 1] = json.dumps({name: value for name, value in row.items() if value is not None},
                                   ensure_ascii=False)
    return "\n".join(lines) + "\n"


def refused(instance, text, *words, code=1, path=None):
    """Return what an import says that writes nothing."""
    path = path or instance.directory / "file.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = export(instance)
    done = instance.run("import", "listrunner", "--site", path, timeout=120)
    told = done.stdout + done.stderr
    assert done.returncode == code, (done.returncode, told)
    for word in words:
        assert word in told, (word, told)
    assert export(instance) == before, "nothing is written"


def test_what_cannot_come(site, empty, tmp_path):
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    lines = path.read_text().splitlines()

    def line_of(**fields):
        return next(number for number, line in enumerate(lines, 1) if fields.items() <= json.loads(line).items())

    talk = {"list": f"talk.{HOST}"}
    for fields, other, word in (
            ({"row": "member", "email": "bob@example.com"} | talk, {"role": "king"},
             "member bob@example.com: its field role has a value that is not allowed"),
            ({"row": "member", "email": "bob@example.com"} | talk, {"joined_at": "now"}, "its field joined_at"),
            ({"row": "member", "email": "bob@example.com"} | talk, {"joined_at": None},
             "its field joined_at is missing"),
            ({"row": "member", "email": "bob@example.com"} | talk, {"email": "x@nowhere.example"}, "x@nowhere.example"),
            ({"row": "address", "email": "carol@example.net"}, {"email": "no address"}, "is no e-mail address"),
            ({"row": "held"} | talk, {"message": "$$$$"}, "its field message"),
            ({"row": "held"} | talk, {"number": -1}, "the number -1 is not allowed"),
            ({"row": "ban"} | talk, {"id": "f" * 32}, "its field id"),
            ({"row": "user", "display_name": "Dora"}, {"display_name": "D\r\nBcc: x@example.net"},
             "its field display_name"),
            ({"row": "domain"}, {"description": 5}, "its field description"),
            ({"row": "list"} | talk, {"settings": []}, "its field settings"),
            ({"row": "list"} | talk, {"settings": {"info": 5}}, "info: the value of a setting is a text"),
            ({"row": "list"} | talk, {"post_id": "1"}, "its field post_id"),
            ({"row": "list"} | talk, {"address": "nothing"}, "nothing")):
        number = line_of(**fields)
        place = f"line {number}: " if other.get("address") != "nothing" else f"talk.{HOST}: "
        refused(empty, change(path, number, **other), f"left out: {place}", word, "Nothing was written, since")
    # All other rows come in, where that is asked for.
    broken = tmp_path / "broken.jsonl"
    broken.write_text(change(path, line_of(row="member", email="bob@example.com", **talk), role="king"))
    told = bring(empty, broken, "--rest", code=1)
    assert "left out: line" in told
    assert "carol@example.net" in empty.cli("member", "ls", f"talk@{HOST}", "--names")
    assert "bob@example.com" not in empty.cli("member", "ls", f"talk@{HOST}", "--names")


def test_a_list_that_is_there(site, empty, tmp_path):
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    empty.cli("domain", "create", HOST)
    empty.cli("list", "create", f"talk@{HOST}", "--owner", "mine@example.com")
    refused(empty, path.read_text(), f"left out: talk.{HOST}: a list talk@{HOST} with the List-Id talk.{HOST} is there "
            "already")
    bring(empty, path, "--rest", code=1)
    assert empty.cli("member", "ls", f"talk@{HOST}", "--names") == ""
    assert "bob@example.com" in empty.cli("member", "ls", f"news@{HOST}", "--names")


def test_a_file_that_is_no_export(site, empty, tmp_path):
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    text = path.read_text()
    lines = text.splitlines()
    for broken, words in (
            ("", ["no file that listrunner export wrote"]), ("{}\n", ["no file that listrunner export wrote"]),
            ("\x00" * 100, ["no file that listrunner export wrote"]),
            (change(path, 1, version=2), ["version 2 ", "version 1"])):
        refused(empty, broken, *words, code=78)
    middle = len(lines) // 2
    for broken, words in (
            ("\n".join(lines[:-1]) + "\n", ["ends early", f"after line {len(lines) - 1}"]),
            ("\n".join(lines[:-1])[:-5], ["ends early"]),
            ("\n".join(lines[:middle] + lines[middle + 1:]) + "\n", [f"line {len(lines) - 1}: "]),
            ("\n".join(lines[:5] + ["[" * 100000] + lines[5:]) + "\n", ["line 6: ", "depth"]),
            ("\n".join(lines[:5] + ["[]"] + lines[5:]) + "\n", ["line 6: it is no object"]),
            ("\n".join(lines[:5] + ['{"row":"member"}'] + lines[5:]) + "\n", ["line 6: it stands behind another list"]),
            ("\n".join(lines[:5] + ['{"row":"a","row":"b"}'] + lines[5:]) + "\n", ["line 6: ", "duplicate"]),
            ("\n".join(lines[:5]).encode() + b"\n{\"row\":\"\xff\"}\n", ["line 6: ", "decode"])):
        refused(empty, broken, *words, "Nothing was written.", code=78)
    # A line without an end takes no more memory than one line may have.
    done = subprocess.run(f"(cat {path} | head -n 1; tr '\\0' a < /dev/zero | head -c 400000000) | "
                          f"(ulimit -v 1500000; {prefix()}/bin/listrunner --config {empty.config} import listrunner -)",
                          shell=True, text=True, capture_output=True, timeout=120)
    assert done.returncode == 78 and "line 2 is too long" in done.stderr, done


def test_what_is_not_known_is_told_once(site, empty, tmp_path):
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    lines = path.read_text().splitlines()
    new = [json.dumps({**json.loads(line), "shoe_size": 43}) if '"row":"member"' in line else line
           for line in lines[:-1]]
    new += ['{"row":"from_tomorrow","list":"x"}', '{"row":"from_tomorrow"}']
    new.append(json.dumps({"row": "end", "lines": len(new) + 1}))
    path.write_text("\n".join(new) + "\n")
    told = bring(empty, path)
    assert told.count("member.shoe_size: ") == 1 and told.count("from_tomorrow: ") == 1, told
    assert export(empty) == lines[1:]


# ---- interruptions ----

@pytest.mark.sqlite
def test_a_store_that_fails(site, empty, tmp_path):
    """Whatever row the database refuses: nothing is written, and the next run brings all."""
    path = tmp_path / "site.jsonl"
    site.cli("export", "-o", path)
    before = tables(empty)
    for table in ("person", "address", "list_setting", "member", "held", "ticket", "list_log", "moved"):
        with empty.database() as database:
            database.execute(f"CREATE TRIGGER broken AFTER INSERT ON {table} WHEN (SELECT count(*) FROM {table}) > 1 "
                             "BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END")
        done = empty.run("import", "listrunner", "--site", path)
        assert done.returncode == 75 and "the disk is on fire" in done.stderr, (table, done.stderr, done.stdout)
        with empty.database() as database:
            database.execute("DROP TRIGGER broken")
        assert tables(empty) == before, table
    bring(empty, path)
    assert export(empty) == export(site)


def test_many_members(instances, sink, tmp_path):
    """Memory does not grow with the members; kill -9 leaves nothing, and the next run brings all."""
    def peak(instance, *words):
        done = subprocess.run(["/usr/bin/env", "python3", "-c", """if True:
            import resource, subprocess, sys
            done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)""",
                               prefix() / "bin" / "listrunner", "--config", instance.config, *map(str, words)],
                              capture_output=True, text=True, timeout=300)
        kibibytes, code = map(int, done.stdout.split())
        assert code == 0, done.stderr
        return kibibytes

    figures = []
    for count in (100, int(os.environ.get("LISTRUNNER_MEMBERS", "20000"))):
        source, there = instances(sink.port), instances(sink.port)
        source.create_list("talk", [f"M {number} <m{number}@d{number % 7}.example.org>" for number in range(count)])
        there.create_store()
        path = tmp_path / f"{count}.jsonl"
        begun = time.monotonic()
        out = peak(source, "export", "-o", path)
        middle = time.monotonic()
        if count > 100:
            process = subprocess.Popen([prefix() / "bin" / "listrunner", "--config", there.config, "import",
                                        "listrunner", path], stdout=subprocess.DEVNULL)
            time.sleep(0.3)  # wherever that is
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert len(export(there)) < 5 or process.returncode == 0
        again = time.monotonic()
        into = peak(there, "import", "listrunner", "--site", path)
        figures.append((out, into))
        print(f"{count} members: out {middle - begun:.1f} s, {out} KiB; "
              f"in {time.monotonic() - again:.1f} s, {into} KiB")
        assert export(there) == export(source)
    assert figures[1][0] < figures[0][0] + 16384 and figures[1][1] < figures[0][1] + 32768, figures
