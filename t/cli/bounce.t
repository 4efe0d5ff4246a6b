#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""bounce parse: the command, and what it recognises in the corpus, by origin and beside flufl.bounce."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import collections  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402

from harness import CORPORA, MISSING, USAGE, main, tool  # noqa: E402

DEVS = [corpus / "bounces" / "dev" for corpus in CORPORA]

BOUNCE = b"""From: MAILER-DAEMON@mx.example
Subject: failure notice

Hi. This is the qmail-send program at mx.example.

<joe@example.com>:
Sorry, no mailbox here by that name. (#5.1.1)
"""

FLUFL = """
import email, json, sys
try:
    from flufl.bounce import all_failures
except ImportError:
    sys.exit(3)
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        message = email.message_from_binary_file(file)
    try:
        temporary, permanent = all_failures(message)
    except Exception:
        temporary, permanent = (), ()
    names = [sorted(a.decode("utf-8", "replace") if isinstance(a, bytes) else a for a in some)
             for some in (permanent, temporary)]
    print(json.dumps({"file": name.rsplit("/", 1)[-1], "permanent": names[0], "temporary": names[1]}))
"""


class Score:
    """The counts of bounces/README.md."""

    def __init__(self):
        self.all = self.exact = self.given = self.wrong = self.classes = self.right = self.others = self.alone = 0
        self.misses = []

    def take(self, name, expected, found):
        permanent = {address.lower() for address in found["permanent"]}
        temporary = {address.lower() for address in found["temporary"]}
        if expected["kind"] != "bounce":
            self.others += 1
            self.alone += not permanent
            return
        given = permanent | temporary
        allowed = {address for one in expected["recipients"] for address in one["accept"]}
        self.all += 1
        self.given += len(given)
        self.wrong += len(given - allowed)
        exact = given <= allowed and all(given & set(one["accept"]) for one in expected["recipients"])
        self.exact += exact
        if not exact:
            self.misses.append(name)
        for one in expected["recipients"]:
            if one.get("class"):
                wanted, other = (permanent, temporary) if one["class"] == "permanent" else (temporary, permanent)
                self.classes += 1
                self.right += bool(wanted & set(one["accept"]) and not other & set(one["accept"]))


def scores(lines):
    found = {row["file"]: row for row in map(json.loads, lines)}
    by_origin = collections.defaultdict(Score)
    expected = [row for dev in DEVS for row in json.loads((dev / "expected.json").read_text()).items()]
    for name, one in expected:
        if one["score"]:
            origins = [one["corpus"]] + ["all but crisp"] * (one["corpus"] != "crisp")
            for origin in origins:
                by_origin[origin].take(name, one, found[name])
    return by_origin


def mails():
    return sorted(str(path) for dev in DEVS for path in dev.glob("*.eml"))


def flufl_scores(names):
    done = subprocess.run(["/usr/bin/python3", "-c", FLUFL, *names], capture_output=True, check=False)
    return scores(done.stdout.splitlines()) if done.returncode == 0 else None


def test_one_mail(site):
    path = site.path / "one.eml"
    path.write_bytes(BOUNCE)
    assert tool("bounce", "parse", "--json", str(path)).rows() == [{
        "file": "one.eml", "kind": "bounce", "permanent": ["joe@example.com"], "temporary": [],
        "recipients": [{"address": "joe@example.com", "known_as": None, "class": "permanent", "outcome": "given up",
                        "status": "5.1.1", "phase": None, "about": "recipient", "reason": "user-unknown",
                        "text": "Sorry, no mailbox here by that name. (#5.1.1)"}]}]
    table = tool("bounce", "parse", str(path)).out
    assert "ADDRESS" in table and "joe@example.com" in table and "5.1.1" in table


EXPANDED = b"""From: MAILER-DAEMON@mx.example
Subject: Undelivered Mail Returned to Sender

This is the mail system at host mx.example.

<joe@example.com> (expanded from <kim@example.net>): delivery temporarily
    suspended: connect to mx.example.com: Connection timed out (#4.4.1)
"""


def test_an_address_made_from_another(site):
    path = site.path / "one.eml"
    path.write_bytes(EXPANDED)
    row, = tool("bounce", "parse", "--json", str(path)).rows()
    one, = row["recipients"]
    assert (one["address"], one["known_as"]) == ("joe@example.com", "kim@example.net")
    assert (one["class"], one["outcome"], one["status"]) == ("temporary", "given up", "4.4.1")
    assert row["permanent"] == [] and row["temporary"] == ["joe@example.com"]
    table = tool("bounce", "parse", str(path)).out
    assert "kim@example.net" in table and "given up" in table


def test_any_text_is_json(site):
    """Bytes that JSON has to escape, and bytes that are no UTF-8, may stand anywhere."""
    path = site.path / 'a "quoted\\ \x01name\n'
    path.write_bytes(BOUNCE.replace(b"no mailbox here", b'no "mail\\box" \xff\x1b here'))
    row, = tool("bounce", "parse", "--json", str(path)).rows()
    one, = row["recipients"]
    assert row["file"] == path.name and '"mail\\box" \u00ff' in one["text"], row


def test_a_delayed_mail_is_not_given_up(site):
    path = site.path / "one.eml"
    path.write_bytes(EXPANDED.replace(b"Undelivered Mail Returned to Sender", b"Delayed Mail (still being retried)"))
    row, = tool("bounce", "parse", "--json", str(path)).rows()
    assert [(one["class"], one["outcome"]) for one in row["recipients"]] == [("delayed", "will be tried again")]


def test_needs_no_configuration(site):
    site.config.unlink()
    row, = site.run("bounce", "parse", "--json", "-", data=BOUNCE).rows()
    assert row["permanent"] == ["joe@example.com"]


def test_a_missing_file_stops_no_other(site):
    path = site.path / "one.eml"
    path.write_bytes(BOUNCE)
    result = site.run("bounce", "parse", "--json", site.path / "none", path, code=MISSING, says="none")
    assert [row["file"] for row in result.rows()] == ["one.eml"]
    assert "FILE..." in tool("bounce", "parse", code=USAGE).err


def test_ordinary_mail(site):
    path = site.path / "mail"
    path.write_bytes(b"From: joe@example.com\nSubject: hi\n\nUnable to deliver message to <ann@example.com>\n")
    row, = tool("bounce", "parse", "--json", str(path)).rows()
    assert row["kind"] == "not-bounce" and row["recipients"] == []


def test_corpus(site):
    names = mails()
    ours = scores(tool("bounce", "parse", "--json", *names).out.splitlines())
    theirs = flufl_scores(names)
    for origin in sorted(ours):
        score = ours[origin]
        beside = "not installed"
        if theirs:
            other = theirs[origin]
            beside = f"exact {other.exact}, class {other.right}, left alone {other.alone}, wrong {other.wrong}"
        print(f"# {origin:13} exact {score.exact} of {score.all}, class {score.right} of {score.classes}, left alone "
              f"{score.alone} of {score.others}, wrong {score.wrong} of {score.given}; flufl.bounce: {beside}")
    assert not ours["made"].misses, ours["made"].misses
    whole, crisp = ours["all but crisp"], ours["crisp"]
    assert whole.exact >= 0.985 * whole.all, whole.misses
    assert crisp.exact >= 0.9 * crisp.all, crisp.misses
    given, wrong = whole.given + crisp.given, whole.wrong + crisp.wrong
    assert given - wrong >= 0.99 * given
    assert whole.right + crisp.right >= 0.98 * (whole.classes + crisp.classes)
    assert whole.alone == whole.others
    for origin in theirs or ():
        assert ours[origin].exact >= theirs[origin].exact and ours[origin].alone >= theirs[origin].alone, origin


def test_ordinary_mail_of_the_corpus(site):
    """Nobody fails in mail that people wrote."""
    boxes = sorted(path for corpus in CORPORA for path in corpus.glob("lists/*.mbox"))
    paths = []
    for box in boxes:
        for number, mail in enumerate(box.read_bytes().split(b"\n\nFrom ")[:400]):
            paths.append(site.path / f"{box.stem}-{number}")
            paths[-1].write_bytes(mail[mail.index(b"\n") + 1:])
    rows = tool("bounce", "parse", "--json", *map(str, paths)).rows()
    assert len(rows) == len(paths) > 100
    found = [row for row in rows if row["recipients"]]
    assert not found, found[:5]


if __name__ == "__main__":
    main(globals())
