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

from harness import MISSING, NOT_SO, USAGE, main, tool  # noqa: E402

LIST = "test@example.com"


def fill(site, digit="a", host=None, state=0, total=4, numbers=(1, 3)):
    """A set whose key is the digit 64 times."""
    if not site.database.exists():
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


def test_completion_words(site):
    words = tool("help", "--words", "fragments").out.split()
    assert {"ls", "show", "release", "drop"} <= set(words)


main(globals())
