#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""fragments: ls, show, release, drop, on an index that this test fills."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import json  # noqa: E402
import re  # noqa: E402
import sqlite3  # noqa: E402
import time  # noqa: E402

from harness import LATER, MISSING, NOT_SO, USAGE, main, tool  # noqa: E402
from spool import digest_of, write_entry  # noqa: E402

LIST = "test@example.com"


def fill(site, digit="a", host=None, state=0, total=4, numbers=(1, 3)):
    """A set whose key is the digit 64 times."""
    if not site.run("list", "ls", "--names").out:
        site.run("list", "create", LIST)
    host = host or site.run("config", "show", "--defaults").out.split("hostname = ")[1].split()[0]
    now = int(time.time() * 1e6)
    with sqlite3.connect(site.database) as store:
        (key,) = store.execute("SELECT key FROM list").fetchone()
        store.execute("INSERT INTO fragment_set "
                      "VALUES (?, ?, 'anne@example.org', ?, ?, ?, 0, ?, ?, 20, ?, ?, 0, NULL, ?)",
                      (digit * 64, key, f"{digit}@x", host, state, total, len(numbers), now - 90_000_000,
                       now + 3_600_000_000, "it is so" if state == 2 else None))
        for number in numbers:
            store.execute("INSERT INTO fragment_part VALUES (?, ?, ?, 10, 'd')",
                          (digit * 64, number, f"{digit}{number}".ljust(40, "0")))
    store.close()


def test_ls(site):
    fill(site)
    fill(site, "b", state=2, total=0)
    (row,) = site.run("fragments", "ls", "--json").rows()
    assert row["set"] == "a" * 16 and row["list"] == "test.example.com" and row["state"] == "open"
    assert (row["parts"], row["total"], row["octets"]) == (2, 4, 20)
    assert (row["sender"], row["id"]) == ("anne@example.org", "a@x")
    assert 80 < row["age"] < 200 and 3000 < row["expires_in"] <= 3600
    all = site.run("fragments", "ls", "--all", "--json", LIST).rows()
    assert [row["state"] for row in all] == ["open", "quarantined"]
    assert site.run("fragments", "ls", "--names").out == "a" * 16 + "\n"
    table = site.run("fragments", "ls").out.splitlines()
    assert table[0].split()[:2] == ["SET", "LIST"] and len(table) == 2
    site.run("fragments", "ls", "nobody@example.com", code=MISSING, says="nobody@example.com")


def test_show(site):
    fill(site)
    shown = json.loads(site.run("fragments", "show", "aaaa", "--json").out)
    assert shown["missing"] == [2, 4] and [part["number"] for part in shown["parts"]] == [1, 3]
    assert shown["set"] == "a" * 64
    assert re.search(r"missing: *2, ?4$", site.run("fragments", "show", "aaaaaa").out, re.M)
    site.run("fragments", "show", "bbbb", code=MISSING, says="bbbb")
    site.run("fragments", "show", "a", code=USAGE, says="4 hex digits")


def test_decide(site):
    fill(site)
    fill(site, "b", state=2)
    fill(site, "c", state=1)
    fill(site, "d", host="elsewhere.example.com")
    assert site.run("fragments", "release", "aaaa").out == "a" * 16 + " released\n"
    assert site.run("fragments", "drop", "bbbb").out == "b" * 16 + " dropped\n"
    wakes = [json.loads(path.read_bytes().split(b"\n")[1]) for path in site.entries("defragment")]
    assert [wake["fragment_wake"][0] for wake in wakes] == ["a", "b"]
    assert all(wake["shard"] == wake["fragment_wake"] for wake in wakes)
    site.run("fragments", "drop", "cccc", code=NOT_SO, says="joined already")
    site.run("fragments", "drop", "aaaa", code=NOT_SO, says="released already")
    site.run("fragments", "release", "dddd", code=USAGE, says="elsewhere.example.com")
    site.run("fragments", "release", "eeee", code=MISSING, says="eeee")
    assert len(site.entries("defragment")) == 2


def write_part(site, number, queue="defragment", **more):
    return write_entry(site, queue, message=b"part %d\r\n\r\nx\r\n" % number, posted_by="anne@example.org", **more)


def fill_joined(site, parts, settled=0):
    """An index that says that the last of these entries joined the set."""
    fill(site, state=1, total=len(parts), numbers=())
    with sqlite3.connect(site.database) as store:
        for number, name in enumerate(parts, 1):
            store.execute("INSERT INTO fragment_part VALUES (?, ?, ?, 10, 'd')", ("a" * 64, number, digest_of(name)))
        store.execute("UPDATE fragment_set SET parts = ?, joined_by = ?, settled = ?, ended_at = 5",
                      (len(parts), digest_of(parts[-1]), settled))
    store.close()


def state_of(site):
    """(state, numbers of the parts) of the only set."""
    shown = json.loads(site.run("fragments", "show", "aaaa", "--json").out)
    return shown["state"], [part["number"] for part in shown["parts"]]


def test_joiner_deleted(site):
    """It was to join the set, did not (it is still there), and never will: the other parts are no leftovers."""
    parts = [write_part(site, 1), write_part(site, 2)]
    fill_joined(site, parts)
    site.run("queue", "delete", digest_of(parts[1]))
    assert state_of(site) == ("open", [1])
    assert len(site.entries("defragment")) == 1


def test_joiner_deleted_elsewhere(site):
    """The same where it was set aside: held, preserved, in shunt under another name, damaged."""
    first = write_part(site, 1)
    held = write_part(site, 2, "hold", origin={"queue": "defragment", "due": 5, "time": 6})
    preserved = write_part(site, 3, suffix=".psv")
    damaged = write_part(site, 4)
    path = site.spool / "defragment" / (damaged + ".msg")
    path.write_bytes(path.read_bytes().replace(b"part 4", b"part 5"))
    before = "1763644800.000001+" + "c" * 40
    shunted = write_part(site, 5, "shunt", fault={"queue": "defragment", "name": before + ".msg"})
    for joiner, words, known in ((held, ("queue", "delete", "--queue", "hold"), held),
                                 (preserved, ("shunt", "delete"), preserved),
                                 (damaged, ("queue", "delete"), damaged), (shunted, ("shunt", "delete"), before)):
        fill_joined(site, [first, known])
        site.run(*words, digest_of(joiner))
        assert state_of(site) == ("open", [1]), words
        with sqlite3.connect(site.database) as store:
            store.execute("DELETE FROM fragment_part")
            store.execute("DELETE FROM fragment_set")
        store.close()


def test_joiner_held(site):
    parts = [write_part(site, 1), write_part(site, 2, due=time.time() + 9000)]
    fill_joined(site, parts)
    site.run("queue", "hold", parts[1])
    assert state_of(site) == ("open", [1])
    row, = site.run("queue", "release", parts[1], "--json").rows()
    assert row["to"] == "defragment"
    (back,) = [path.name for path in site.entries("defragment") if digest_of(path.name) == digest_of(parts[1])]
    assert float(back.split("+")[0]) <= time.time(), "handled at once: it may be the last one now"


def test_part_deleted(site):
    """One that waits goes out of the index with its entry; held, it is still known."""
    parts = [write_part(site, 1), write_part(site, 2)]
    fill(site, total=3, numbers=())
    with sqlite3.connect(site.database) as store:
        for number, name in enumerate(parts, 1):
            store.execute("INSERT INTO fragment_part VALUES (?, ?, ?, 10, 'd')", ("a" * 64, number, digest_of(name)))
    store.close()
    site.run("queue", "hold", parts[0])
    assert state_of(site) == ("open", [1, 2])
    site.run("queue", "delete", parts[1])
    assert state_of(site) == ("open", [1])
    site.run("queue", "delete", "--queue", "hold")
    assert state_of(site) == ("open", [])


def test_settled_stays(site):
    parts = [write_part(site, 1), write_part(site, 2)]
    fill_joined(site, parts, settled=1)
    site.run("queue", "delete", "--queue", "defragment")
    assert state_of(site) == ("joined", [1, 2]) and site.entries("defragment") == []


def test_index_not_there(site):
    """Without the index a part is not deleted; other entries are."""
    parts = [write_part(site, 1), write_part(site, 2)]
    fill_joined(site, parts)
    other = write_entry(site, "out")
    kept = site.database.read_bytes()
    for path in site.path.glob("listrunner.db*"):
        path.unlink()
    site.database.write_bytes(b"this is no database" * 100)
    site.run("queue", "delete", other)
    site.run("queue", "delete", parts[0], code=None)
    assert len(site.entries("defragment")) == 2
    site.database.write_bytes(kept)
    site.run("queue", "delete", parts[0])
    assert len(site.entries("defragment")) == 1


def test_completion_words(site):
    words = tool("help", "--words", "fragments").out.split()
    assert {"ls", "show", "release", "drop"} <= set(words)


main(globals())
