#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""inject: single messages, mboxes, the corpus."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import hashlib  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402

from harness import CORPORA, LATER, MISSING, OK, USAGE, main  # noqa: E402

LIST = "test@example.com"


def cat(site, name):
    return site.run("queue", "cat", name, "--json").rows()[0]


def octets(site, name):
    head = site.run("queue", "cat", name, "--headers").raw
    return head + site.run("queue", "cat", name, "--body").raw


def put(site, data, *options):
    site.run("list", "create", LIST)
    return site.run("inject", LIST, "--json", *options, data=data).rows()


def test_a_message(site):
    row, = put(site, b"From: Anne <anne@x.org>\nMessage-ID: <one@x.org>\nSubject: hi\n\nbody\n.\n")
    entry = cat(site, row["name"])
    meta = entry["meta"]
    assert entry["queue"] == "in" and entry["state"] == "ready" and row["trace"] == meta["trace"]
    assert len(row["trace"]) == 12 and row["message_id"] == "one@x.org"
    assert meta["sender"] == "anne@x.org" and meta["to"] == "posting" and meta["list"] == "test.example.com"
    assert meta["recipient"] == LIST and meta["peer"] == "inject" and meta["8bit"] is False
    assert octets(site, row["name"]) == (
        b"From: Anne <anne@x.org>\r\nMessage-ID: <one@x.org>\r\nSubject: hi\r\n\r\nbody\r\n.\r\n"
    )


def test_line_ends(site):
    row, = put(site, b"A: b\r\nC: d\n\r\nx\ry\r\nlast")
    assert octets(site, row["name"]) == b"A: b\r\nC: d\r\n\r\nx\ry\r\nlast\r\n"


def test_senders(site):
    site.run("list", "create", LIST)
    data = b"Return-Path: <p@x.org>\nFrom: f@x.org\n\n"
    for options, sender in (((), "p@x.org"), (("--sender", "me@x.org"), "me@x.org"), (("--sender", "<>"), "")):
        row, = site.run("inject", LIST, "--json", *options, data=data).rows()
        assert cat(site, row["name"])["meta"]["sender"] == sender
    for wrong in ("not an address", "anne", "anne@x.org, bart@x.org", ""):
        site.run("inject", LIST, "--sender", wrong, data=b"From: a@x.org\n\nbody\n", code=USAGE,
                 says=f"--sender: '{wrong}'")


def test_owner_mail(site):
    row, = put(site, b"Subject: x\n\n", "--to", "owner")
    assert cat(site, row["name"])["meta"]["to"] == "owner"


def test_a_message_without_an_id_gets_one(site):
    row, = put(site, b"Subject: x\n\n\xe9\n")
    meta = cat(site, row["name"])["meta"]
    assert meta["message_id"].endswith("@lists.example.com") and meta["8bit"] is True


def test_the_same_message_twice_is_two_entries(site):
    site.run("list", "create", LIST)
    for _ in range(2):
        site.run("inject", LIST, data=b"A: b\n\nc\n")
    assert len(site.entries("in")) == 2


def test_a_file_and_a_table(site):
    site.run("list", "create", LIST)
    path = site.path / "message"
    path.write_bytes(b"Message-ID: <a@b>\n\n")
    out = site.run("inject", "test.example.com", path).out
    assert out.splitlines()[0].split() == ["TRACE", "ENTRY", "MESSAGE-ID"] and "a@b" in out


def test_what_is_refused(site):
    site.run("list", "create", LIST)
    site.run("inject", "none@example.com", data=b"A: b\n\n", code=MISSING, says="none@example.com")
    site.run("inject", LIST, site.path / "none", code=MISSING, says=str(site.path / "none"))
    site.run("inject", LIST, site.path, code=USAGE, says="Is a directory")  # it will not pass
    site.run("inject", LIST, data=b"", code=USAGE, says="standard input is empty")
    site.run("inject", LIST, data=b"hello\nA: b\n\n", code=USAGE, says="no header field")
    site.run("inject", LIST, "--mbox", data=b"A: b\n\n", code=USAGE, says="no mbox")
    site.run("inject", LIST, "--to", "bounces", data=b"A: b\n\n", code=USAGE, says="'bounces'")
    mbox = b"From a@b Thu Jan  1 00:00:00 2026\nA: b\n\nx\n\nFrom c@d Thu Jan  1 00:00:01 2026\nA: b\n\ny\n"
    site.run("inject", LIST, data=mbox, code=USAGE, says="--mbox")
    assert not (site.spool / "in").exists() or site.entries("in") == []
    shutil.rmtree(site.spool)
    site.run("inject", LIST, data=b"A: b\n\n", code=78, says=str(site.spool))


def test_an_mbox(site):
    mbox = (
        b"From a@x.org Thu Jan  1 00:00:00 2026\nMessage-ID: <1@x>\n\n>From here\n>>From there\n\nFrom me to you\n\n"
        b"From - Thu Jan  1 00:00:01 2026\nFrom: b@x.org\nMessage-ID: <2@x>\n\ny\n\n"
    )
    rows = put(site, mbox, "--mbox")
    assert [row["message_id"] for row in rows] == ["1@x", "2@x"]
    assert octets(site, rows[0]["name"]).endswith(b"\r\n\r\nFrom here\r\n>From there\r\n\r\nFrom me to you\r\n")
    assert octets(site, rows[1]["name"]).endswith(b"\r\n\r\ny\r\n")
    assert [cat(site, row["name"])["meta"]["sender"] for row in rows] == ["a@x.org", "b@x.org"]


def test_one_message_with_its_from_line(site):
    row, = put(site, b"From a@x.org Thu Jan  1 00:00:00 2026\nMessage-ID: <1@x>\n\nz\n")
    assert octets(site, row["name"]) == b"Message-ID: <1@x>\r\n\r\nz\r\n"


def sha1(data):
    return hashlib.sha1(data).hexdigest()


def test_the_list_archives_of_the_corpus(site):
    """Every message of every archive arrives, with the octets its index has (line ends aside)."""
    site.run("list", "create", LIST)
    total = 0
    for archive in sorted(path for corpus in CORPORA for path in corpus.glob("lists/*.mbox")):
        index = json.loads(archive.with_suffix(".json").read_text())["messages"]
        rows = site.run("inject", LIST, "--mbox", "--json", archive).rows()
        assert len(rows) == len(index), f"{archive.name}: {len(rows)} of {len(index)}"
        for row, known in zip(rows, index):
            if known["message_id"]:
                assert row["message_id"] == known["message_id"].strip("<>"), (archive.name, known["n"])
            got = site.message("in", row["name"]).replace(b"\r\n", b"\n")
            # In archives of the mboxo kind ">From " may be the writer's own; the index takes it for that.
            quoted = re.sub(rb"(?m)^(>*From )", rb">\1", got)
            assert known["sha1"] in (sha1(got), sha1(got[:-1]), sha1(quoted)), (archive.name, known["n"])
        total += len(index)
    assert site.run("queue", "stat", "in", "--json").rows()[0]["ready"] == total >= 600


def test_the_awkward_mails_of_the_corpus(site):
    """Single mails with line ends of all kinds: what is stored is the wire form, octet for octet."""
    site.run("list", "create", LIST)
    stored = refused = 0
    for path in sorted(path for corpus in CORPORA for path in corpus.glob("mime/*/*")):
        if path.suffix not in (".eml", ".msg", ".txt") or "mbox__" in path.name or "summary" in path.name:
            continue
        raw = path.read_bytes()
        done = site.run("inject", LIST, "--json", path, code=None)
        if done.code != OK:
            assert done.code == USAGE and path.name in done.err, (path, done.code, done.err)
            refused += 1
            continue
        stored += 1
        if not raw.startswith(b"From "):
            row, = done.rows()
            expected = raw if raw.endswith(b"\n") else raw + b"\r\n"
            expected = expected.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            assert site.message("in", row["name"]) == expected, path
    assert stored > 80 and refused < stored / 10, (stored, refused)


if __name__ == "__main__":
    main(globals())
