#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""shunt: ls, retry, delete, on a spool that this test fills."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import time  # noqa: E402

from harness import MISSING, NOT_SO, USAGE, main  # noqa: E402
from spool import digest_of, write_entry  # noqa: E402

NOW = int(time.time() * 1e6)


def fault(**more):
    return {"queue": "in", "runner": "in", "reason": "there is no list", "time": NOW, "times": 2, "name": "x", **more}


def names(site, queue, suffix=".msg"):
    return [path.name[:58] for path in site.entries(queue, suffix)]


def rows_of(site, *words, **more):
    return site.run("shunt", *words, "--json", **more).rows()


def fill(site):
    """One that was shunted, one that crashed its runner, one stray; and three that nobody set aside."""
    shunted = write_entry(site, "shunt", fault=fault(), shunted=2)
    poison = write_entry(site, "pipeline", suffix=".psv", crashes=3)
    stray = write_entry(site, "shunt", suffix=".psv")
    for suffix in (".msg", ".bak", ".done"):
        write_entry(site, "out", suffix=suffix)
    return shunted, poison, stray


def test_ls(site):
    assert site.run("shunt", "ls").out == ""
    shunted, poison, stray = fill(site)
    rows = {row["name"]: row for row in rows_of(site, "ls")}
    assert set(rows) == {shunted, poison, stray}
    row = rows[shunted]
    assert (row["from"], row["runner"], row["times"], row["reason"]) == ("in", "in", 2, "there is no list")
    assert row["time"].endswith("Z") and row["list"] == "test.example.com" and row["state"] == "ready"
    row = rows[poison]
    assert row["from"] == "pipeline" and row["crashes"] == 3 and "died 3 times" in row["reason"]
    assert rows[stray]["from"] is None and "interrupted" in rows[stray]["reason"]
    assert site.run("shunt", "ls", "--names").out.split() == sorted([poison]) + sorted([shunted, stray])
    table = site.run("shunt", "ls").out
    assert "there is no list" in table and table.startswith("NAME")
    assert rows_of(site, "ls", "--list", "other@example.com") == []
    assert [row["name"] for row in rows_of(site, "ls", digest_of(poison)[:20])] == [poison]


def test_ls_shows_damage(site):
    name = write_entry(site, "in", suffix=".psv")
    path = site.spool / "in" / (name + ".psv")
    path.write_bytes(b"no entry at all")
    row, = rows_of(site, "ls")
    assert "octets long" in row["reason"] and row["from"] == "in"
    row, = rows_of(site, "retry", "--all", code=NOT_SO)
    assert row["result"] == "not touched" and path.exists()
    assert rows_of(site, "delete", "--all")[0]["result"] == "deleted" and not path.exists()


def test_retry(site):
    shunted, poison, stray = fill(site)
    rows = {row["name"]: row for row in rows_of(site, "retry", "--all", code=NOT_SO)}
    assert set(rows) == {shunted, poison, stray}
    assert rows[shunted]["result"] == "put back" and rows[shunted]["to"] == "in"
    back, = names(site, "in")
    shown = site.run("queue", "cat", back, "--json").rows()[0]
    assert back[17:] == shunted[17:] and "fault" not in shown["meta"] and shown["meta"]["shunted"] == 2
    assert abs(float(back.split("+")[0]) - time.time()) < 60
    assert rows[poison]["result"] == "put back" and names(site, "pipeline", ".psv") == []
    again, = names(site, "pipeline")
    assert again[17:] == poison[17:] and again == rows[poison]["new_name"]
    assert site.run("queue", "cat", again, "--json").rows()[0]["crashes"] == 0
    assert rows[stray]["result"] == "not touched" and "--to" in rows[stray]["reason"]
    row, = rows_of(site, "retry", stray, "--to", "out")
    assert row["to"] == "out" and stray[17:] in {name[17:] for name in names(site, "out")}
    assert os.listdir(site.spool / "shunt") == []
    site.run("shunt", "retry", "--all", "--to", "Not A Queue", code=USAGE, says="Not A Queue")


def test_retry_goes_back_under_the_hash_it_had(site):
    """The database has recorded the entry's effects under that hash."""
    before = write_entry(site, "in", arrival=1763644800)
    octets = (site.spool / "in" / (before + ".msg")).read_bytes()
    ordinal = site.run("queue", "cat", before, "--json").rows()[0]["meta"]["ordinal"]
    (site.spool / "in" / (before + ".msg")).unlink()
    shunted = write_entry(site, "shunt", arrival=1763644800, fault=fault(ordinal=ordinal))
    assert shunted[17:] != before[17:] and octets
    rows_of(site, "retry", shunted)
    assert names(site, "in")[0][17:] == before[17:]


def test_retry_of_what_was_not_set_aside(site):
    name = write_entry(site, "in")
    for words in ((), ("--dry-run",)):
        done = site.run("shunt", "retry", name, *words, code=NOT_SO)
        assert "not set aside" in done.out and "1 not touched" in done.out
    assert names(site, "in") == [name]


def test_delete(site):
    shunted, poison, stray = fill(site)
    kept = sorted(os.listdir(site.spool / "out"))
    site.run("shunt", "delete", code=USAGE, says="--all")
    assert [row["result"] for row in rows_of(site, "delete", "--all", "--dry-run")] == ["would be deleted"] * 3
    assert [row["name"] for row in rows_of(site, "delete", poison)] == [poison]
    assert {row["name"] for row in rows_of(site, "delete", "--queue", "shunt")} == {shunted, stray}
    assert os.listdir(site.spool / "shunt") == os.listdir(site.spool / "pipeline") == []
    assert sorted(os.listdir(site.spool / "out")) == kept, "what was not set aside is none of its business"
    assert rows_of(site, "delete", "--all") == []
    site.run("shunt", "delete", poison, code=MISSING)


def test_queue_verbs_leave_it_alone(site):
    shunted, poison, _ = fill(site)
    rows = site.run("queue", "hold", "--list", "test@example.com", "--json", code=NOT_SO).rows()
    assert shunted not in {row["name"] for row in rows}
    assert "shunt" in {row["name"]: row for row in rows}[poison]["reason"]


if __name__ == "__main__":
    main(globals())
