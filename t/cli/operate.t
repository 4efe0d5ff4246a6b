#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""queue: hold, release, requeue, delete, expire, edit-due, on a spool that this test fills."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import calendar  # noqa: E402
import fcntl  # noqa: E402
import signal  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402

from harness import MISSING, NOT_SO, TOOL, USAGE, main  # noqa: E402
from spool import digest_of, write_entry  # noqa: E402

LIST = "test@example.com"
OTHER = "other.example.com"
SELECTIVE = ("hold", "release", "requeue", "delete", "expire")


def names(site, queue, suffix=".msg"):
    return [path.name[:58] for path in site.entries(queue, suffix)]


def rows_of(site, *words, **more):
    return site.run("queue", *words, "--json", **more).rows()


def meta(site, name):
    return rows_of(site, "cat", name)[0]["meta"]


def test_nothing_asked_for(site):
    for verb in SELECTIVE:
        site.run("queue", verb, code=USAGE, says="say which")
    site.run("queue", "edit-due", "now", code=USAGE, says="say which")
    name = write_entry(site, "out")
    site.run("queue", "hold", "123456" if not digest_of(name).startswith("123456") else "654321", code=MISSING)
    site.run("queue", "hold", "short", code=USAGE, says="'short'")
    site.run("queue", "hold", "--queue", "nowhere", code=MISSING, says="'nowhere'")
    assert names(site, "out") == [name]


def test_hold_and_release(site):
    recipients = b"Danne@example.com\n bart@example.com\n"
    later = time.time() + 3600
    name = write_entry(site, "retry", recipients=recipients, due=later, attempts=3)
    row, = rows_of(site, "hold", name)
    assert row["result"] == "held" and row["queue"] == "retry" and row["to"] == "hold" and row["name"] == name
    assert names(site, "retry") == [] and names(site, "hold") == [name]
    kept = rows_of(site, "cat", name)[0]
    assert kept["meta"]["origin"]["queue"] == "retry" and kept["meta"]["attempts"] == 3
    assert kept["recipients"] == [{"address": "bart@example.com", "state": "todo"}], "who has it gets it no more"
    row, = rows_of(site, "release", digest_of(name)[:12])
    assert row["result"] == "released" and row["to"] == "retry"
    assert names(site, "hold") == [] and names(site, "retry") == [name], "same hash, same due time"
    assert "origin" not in meta(site, name)
    assert site.message("retry", name) == b"A: b\r\n\r\nc\r\n"


def test_release_what_was_not_held(site):
    name = write_entry(site, "hold")
    row, = rows_of(site, "release", name, code=NOT_SO)
    assert row["result"] == "not touched" and "where it came from" in row["reason"]
    assert names(site, "hold") == [name]


def test_release_before_anything_was_held(site):
    """The queue of what is held is there once something was; a name that is no queue at all is another thing."""
    site.run("list", "create", LIST)
    for words in ((), ("--dry-run",)):
        assert site.run("queue", "release", "--queue", "hold", *words).out == "nothing is held\n"
        assert site.run("queue", "release", "--list", LIST, *words).out == "nothing is held\n"
    assert site.run("queue", "release", "--queue", "hold", "--json").out == ""
    site.run("queue", "release", "--queue", "holt", code=MISSING, says="'holt'")
    site.run("queue", "release", "0123456789ab", "--queue", "hold", code=MISSING, says="0123456789ab")
    name = write_entry(site, "out")
    assert site.run("queue", "expire", "--queue", "retry").out == "0 entries expired, 0 not touched\n"
    site.run("queue", "hold", name)
    none = site.run("queue", "release", "--queue", "hold", "--sender", "x@y").out
    assert none == "0 entries released, 0 not touched\n"
    site.run("queue", "release", "--queue", "hold")
    assert site.run("queue", "release", "--queue", "hold").out == "nothing is held\n"


def test_by_list_and_queue(site):
    ours = sorted([write_entry(site, "out"), write_entry(site, "retry"), write_entry(site, "in")])
    other = write_entry(site, "out", list_id=OTHER)
    out = site.run("queue", "hold", "--list", LIST).out
    assert "3 entries held, 0 not touched" in out
    assert names(site, "out") == [other] and names(site, "hold") == ours
    site.run("queue", "release", "--list", "TEST.example.com", "--queue", "hold")
    site.run("queue", "hold", "--queue", "out", "--queue", "retry")
    assert names(site, "out") == names(site, "retry") == [] and len(names(site, "in")) == 1
    site.run("queue", "release", "--queue", "out", code=USAGE, says="release is for entries of hold")


def test_an_unknown_list_is_told(site):
    write_entry(site, "out")
    site.run("list", "create", "another@example.com")
    for verb in ("delete", "hold", "release", "requeue"):
        site.run("queue", verb, "--list=typo@example.com", code=MISSING, says="there is no list typo.example.com")
    site.run("shunt", "retry", "--list=typo.example.com", code=MISSING, says="there is no list typo.example.com")


def test_by_sender_and_recipient(site):
    first = write_entry(site, "out", sender="test-bounces@example.com", recipients=b" anne@Example.COM\n bart@x.org\n")
    second = write_entry(site, "out", sender="", recipients=b" cris@example.org\nDdora@example.net\n")
    third = write_entry(site, "in", posted_by="eve@example.edu")
    would = rows_of(site, "hold", "--recipient", "*@example.com", "--dry-run")
    assert [row["name"] for row in would] == [first] and would[0]["result"] == "would be held"
    assert rows_of(site, "hold", "--recipient", "*@example.net", "--dry-run") == [], "she has it already"
    assert [row["name"] for row in rows_of(site, "hold", "--sender", "<>", "--queue", "out", "--dry-run")] == [second]
    assert [row["name"] for row in rows_of(site, "hold", "--sender", "EVE@*", "--dry-run")] == [third]
    assert [row["name"] for row in rows_of(site, "hold", "--sender", "*bounces@example.???", "--dry-run")] == [first]
    assert len(names(site, "out")) == 2 and not (site.spool / "hold").exists(), "a dry run moves nothing"


def test_by_trace(site):
    name = write_entry(site, "out", trace="abcdefabcdef")
    write_entry(site, "out")
    assert [row["name"] for row in rows_of(site, "delete", "--trace", "abcdefabcdef")] == [name]
    assert len(names(site, "out")) == 1


def test_delete(site):
    name, other = write_entry(site, "out"), write_entry(site, "out")
    left = site.spool / "retry"
    left.mkdir()
    left = left / f"1763644800.000001+{'0' * 40}.out-{digest_of(name)}.tmp"
    left.write_bytes(b"a part of what it would have become")
    row, = rows_of(site, "delete", name)
    assert row["result"] == "deleted" and "to" not in row
    assert names(site, "out") == [other] and not left.exists(), "with what an undone run left of it"
    assert os.listdir(site.spool / "out") == [other + ".msg"]
    site.run("queue", "cat", name, code=MISSING)


def test_requeue(site):
    name = write_entry(site, "retry", due=time.time() + 9000, crashes=2, attempts=7, last_reply="451 later",
                       expire=True)
    row, = rows_of(site, "requeue", name)
    assert row["to"] == "out" and names(site, "retry") == []
    new, = names(site, "out")
    shown = rows_of(site, "cat", new)[0]
    assert new[17:] == name[17:] and shown["state"] == "ready" and shown["crashes"] == 0
    assert not {"attempts", "last_reply", "expire"} & set(shown["meta"]), "one more attempt would be the last"
    site.run("queue", "requeue", new)
    assert names(site, "out")[0][17:] == name[17:] and len(names(site, "out")) == 1, "into its own queue, too"
    own = write_entry(site, "retry", due=time.time() + 9000, attempts=7, priority="notice")
    row, = rows_of(site, "requeue", "--dry-run", own)
    assert row["to"] == "notice"
    row, = rows_of(site, "requeue", own)
    assert row["to"] == "notice" and names(site, "notice")[0][17:] == own[17:] and names(site, "retry") == []


def test_expire(site):
    name = write_entry(site, "retry", due=time.time() + 9000)
    write_entry(site, "in")
    rows_of(site, "expire", "--list", LIST)
    new, = names(site, "retry")
    assert new[17:] == name[17:] and new < name and meta(site, new)["expire"] is True
    site.run("queue", "expire", "--queue", "in", code=USAGE, says="of out or notice or retry, not of in")


def test_edit_due(site):
    name = write_entry(site, "out")
    row, = rows_of(site, "edit-due", "+1h30m", name)
    assert abs(float(row["new_name"].split("+")[0]) - time.time() - 5400) < 60
    assert names(site, "out") == [row["new_name"]]
    row, = rows_of(site, "edit-due", "2030-01-02T03:04:05Z", "--queue", "out")
    assert row["new_name"].startswith(f"{calendar.timegm((2030, 1, 2, 3, 4, 5))}.000000+")
    row, = rows_of(site, "edit-due", "now", row["new_name"])
    assert abs(float(row["new_name"].split("+")[0]) - time.time()) < 60
    for wrong in ("tomorrow", "+", "+1x", "+h", "2030-13-01T00:00:00Z", "1969-01-01T00:00:00Z", "+99999999999"):
        site.run("queue", "edit-due", wrong, "--queue", "out", code=USAGE, says="no time")
    assert names(site, "out") == [row["new_name"]]


def test_what_a_runner_holds_is_not_touched(site):
    kept = {}
    for suffix in (".bak", ".done", ".psv"):
        name = write_entry(site, "out", suffix=suffix)
        kept[name] = "runner" if suffix != ".psv" else "preserved"
    temporary = site.spool / "out" / f"1763644800.000001+{'0' * 40}.in-{'1' * 40}.tmp"
    temporary.write_bytes(b"x")
    before = sorted(os.listdir(site.spool / "out"))
    for verb in ("hold", "requeue", "delete", "expire"):
        rows = rows_of(site, verb, "--queue", "out", code=NOT_SO)
        assert {row["name"] for row in rows} == set(kept)
        for row in rows:
            assert row["result"] == "not touched" and kept[row["name"]] in row["reason"], row
    assert "held by a runner, not touched" in site.run("queue", "delete", "--list", LIST, code=NOT_SO).out
    assert sorted(os.listdir(site.spool / "out")) == before


def test_damaged(site):
    name = write_entry(site, "out")
    path = site.spool / "out" / (name + ".msg")
    octets = path.read_bytes()
    path.write_bytes(octets.replace(b"A: b", b"X: b"))
    row, = rows_of(site, "hold", name, code=NOT_SO)
    assert "SHA-1" in row["reason"] and names(site, "out") == [name]


def test_killed_on_the_way(site):
    """Stopped by a signal while it works; the next command brings it to its end, and says nothing of it."""
    for _ in range(400):
        write_entry(site, "out")
    for delay in (0.02, 0.05, 0.1, 0.2):
        process = subprocess.Popen([TOOL, "-c", site.config, "queue", "hold", "--queue", "out"],
                                   stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        site.run("queue", "edit-due", "now", "--queue", "corrupt", code=MISSING)  # anything that opens the spool
        site.run("queue", "release", "--queue", "hold", code=None)
    site.run("queue", "hold", "--queue", "out")
    found = [path.name for path in site.spool.glob("[!.]*/*")]
    assert len(found) == 400 and all(name.endswith(".msg") for name in found), found[:5]
    assert len({name[17:] for name in found}) == 400


def test_one_command_at_a_time(site):
    name = write_entry(site, "out")
    with open(site.spool / ".operator", "w", encoding="ascii") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        process = subprocess.Popen([TOOL, "-c", site.config, "queue", "delete", name], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        assert "another command" in process.stderr.readline()
        assert names(site, "out") == [name]
    assert process.wait() == 0 and names(site, "out") == []
    process.stderr.close()


if __name__ == "__main__":
    main(globals())
