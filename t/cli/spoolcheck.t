#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""spool check: every kind of finding, what is repaired, and that nothing else is moved."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fcntl  # noqa: E402
import struct  # noqa: E402
import time  # noqa: E402

from harness import CONFIG, NOT_SO, main  # noqa: E402
from spool import digest_of, write_entry  # noqa: E402

ZERO = "0" * 40


def check(site, *words, **more):
    """Rows by (level, kind)."""
    found = {}
    for row in site.run("spool", "check", "--json", *words, **more).rows():
        assert set(row) == {"level", "kind", "queue", "file", "text"} and row["text"], row
        found.setdefault((row["level"], row["kind"]), []).append(row)
    return found


def everything(site):
    """Every file and what is in it, but no record of a queue's directory: any look at a queue may make one."""
    return {str(path.relative_to(site.spool)): path.read_bytes() if path.is_file() else None
            for path in site.spool.rglob("*") if path.parent.name != ".queues"}


def test_clean(site):
    found = check(site)
    assert set(found) == {("note", "missing")}, found
    assert list(site.spool.iterdir()) == []
    found = check(site, "--repair")
    made = {row["queue"] for row in found["repaired", "missing"]}
    assert {"in", "pipeline", "out", "retry", "archive"} <= made and "lmtp" not in made
    assert all((site.spool / queue).stat().st_mode & 0o777 == 0o750 for queue in made)
    for queue in ("in", "out"):
        write_entry(site, queue)
    for path in site.spool.glob("*/*.msg"):
        path.chmod(0o640)
    for name in (".master", ".out"):  # what the master and the runner out keep there
        (site.spool / name).mkdir(exist_ok=True)
    found = check(site)
    assert set(found) == {("note", "unserved")}, "no master runs; that is no fault"
    assert "2 entries are sound; 0 faults" in site.run("spool", "check").out


def fill(site):
    """One of each finding; returns the names of the files."""
    check(site, "--repair")
    files = {}
    name = write_entry(site, "in")
    path = site.spool / "in" / (name + ".msg")
    path.write_bytes(path.read_bytes().replace(b"A: b", b"X: b"))
    files["damaged"] = path
    name = write_entry(site, "out", suffix=".bak")
    path = site.spool / "out" / (name + ".bak")
    path.write_bytes(path.read_bytes()[:-5])
    files["held"] = path
    files["stray"] = site.spool / "archive" / f"1763644800.000001+{ZERO}.in-{ZERO}.tmp"
    files["stray"].write_bytes(b"some octets")
    files["child"] = site.spool / "archive" / f"1763644800.000002+{ZERO}.out-{digest_of(name)}.tmp"
    files["child"].write_bytes(b"its parent is there")
    files["foreign"] = site.spool / "in" / "README"
    files["foreign"].write_bytes(b"")
    files["strange"] = site.spool / "in" / f"1763644800.000003+{'1' * 40}.msg"
    files["strange"].mkdir()
    files["command"] = site.spool / "retry" / (write_entry(site, "retry", suffix=".opc") + ".opc")
    files["abandoned"] = site.spool / "in" / f"1763644800.000004+{'2' * 40}.tmp"
    files["abandoned"].write_bytes(b"")
    os.utime(files["abandoned"], (time.time() - 7 * 86400,) * 2)
    files["unsettled"] = site.spool / "in" / f"1763644800.000005+{'3' * 40}.unit={'4' * 32}.tmp"
    files["unsettled"].write_bytes(b"prepared")
    os.utime(files["unsettled"], (time.time() - 7200,) * 2)
    (site.spool / "in" / f"1763644800.000006+{'3' * 40}.unit={'5' * 32}.tmp").write_bytes(b"just prepared")
    for ours in (".units", ".outbox-key"):
        (site.spool / ours).write_bytes(b"")
    files["mode"] = site.spool / "in" / (write_entry(site, "in") + ".msg")
    files["mode"].chmod(0o644)
    for queue in ("hold", "shunt", "corrupt"):
        write_entry(site, queue)
    write_entry(site, "count")
    write_entry(site, "pipeline", suffix=".psv", crashes=3)
    (site.spool / "passwords.txt").write_bytes(b"")
    for path in site.spool.glob("*/*"):
        if path.is_file() and path != files["mode"]:
            path.chmod(0o640)
    return files


def test_every_kind(site):
    files = fill(site)
    before = everything(site)
    found = check(site, code=NOT_SO)
    assert everything(site) == before, "nothing is moved unasked"
    by_kind = {key: {row["file"] for row in rows} for key, rows in found.items()}
    assert by_kind["fault", "damaged"] == {files["damaged"].name, files["held"].name}
    held, = (row for row in found["fault", "damaged"] if row["file"] == files["held"].name)
    assert "held by a runner, not touched" in held["text"]
    assert by_kind["fault", "stray"] == {files["stray"].name}, "one whose parent is there is none"
    assert by_kind["note", "foreign"] == {"README", "passwords.txt"}
    assert by_kind["fault", "strange"] == {files["strange"].name}
    assert by_kind["fault", "command"] == {files["command"].name}
    assert by_kind["note", "abandoned"] == {files["abandoned"].name}
    assert by_kind["fault", "unsettled"] == {files["unsettled"].name}
    assert by_kind["fault", "mode"] == {files["mode"].name}
    assert by_kind["note", "left"] == {files["held"].name}
    assert {row["queue"] for row in found["note", "waiting"]} == {"hold", "shunt", "corrupt"}
    assert [row["queue"] for row in found["note", "preserved"]] == ["pipeline"]
    assert [row["queue"] for row in found["fault", "unserved"]] == ["count"], "nobody is configured for it"
    assert "no runner for this queue" in found["fault", "unserved"][0]["text"]


def test_repair(site):
    files = fill(site)
    octets = files["damaged"].read_bytes()
    found = check(site, "--repair", code=NOT_SO)
    assert {row["file"] for row in found["repaired", "damaged"]} == {
        files["damaged"].name[:58], files["strange"].name[:58]}
    kept, = (path for path in (site.spool / "corrupt").iterdir() if path.name == files["damaged"].name)
    assert kept.read_bytes() == octets and not files["damaged"].exists()
    assert files["strange"].with_suffix(".psv").is_dir(), "what cannot be copied is preserved where it is"
    assert (site.spool / "shunt" / (files["stray"].name[:58] + ".psv")).read_bytes() == b"some octets"
    assert not files["stray"].exists()
    assert not files["command"].exists() and files["command"].with_suffix(".msg").exists()
    for kind in ("held", "child", "foreign", "abandoned", "unsettled", "mode"):
        assert files[kind].exists(), kind
    after = everything(site)
    again = check(site, "--repair", code=NOT_SO)
    assert ("repaired", "damaged") not in again and ("repaired", "stray") not in again
    assert everything(site) == after, "there is nothing left to mend"


def test_who_serves_what(site):
    """The locks of a master and of a runner, held by this test as they hold them."""
    check(site, "--repair")
    name = write_entry(site, "in")
    (site.spool / "in" / (name + ".msg")).chmod(0o640)
    (site.spool / ".master").mkdir()
    first = int(digest_of(name)[:2], 16)

    def lock(path, start, length):
        file = open(site.spool / ".master" / path, "w", encoding="ascii")
        fcntl.fcntl(file, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, start, length, 0))  # F_OFD_SETLK
        return file

    with lock("lock", 0, 0):
        found = check(site, code=NOT_SO)
        assert "no process serves their slice" in found["fault", "unserved"][0]["text"]
        with lock("in.slices", first ^ 0x80, 1):
            assert ("fault", "unserved") in check(site, code=NOT_SO), "another slice"
        with lock("in.slices", first, 1):
            assert check(site) == {}
            path = site.spool / "in" / (name + ".msg")
            path.rename(path.with_suffix(".bak"))
            assert check(site) == {}, "it is in good hands"
    assert ("note", "left") in check(site)


def test_another_file_system(site):
    (site.spool / "in").symlink_to("/proc")
    found = check(site)
    assert [row["file"] for row in found["note", "foreign"]] == ["in"]
    site.spool.joinpath("in").unlink()
    site.spool.rmdir()
    site.run("spool", "check", code=CONFIG, says=str(site.spool))


def test_wrong_owner(site):
    if os.getuid() != 0:
        return
    check(site, "--repair")
    name = write_entry(site, "in")
    path = site.spool / "in" / (name + ".msg")
    path.chmod(0o640)
    os.chown(path, 12345, -1)
    row, = check(site, code=NOT_SO)["fault", "owner"]
    assert "12345" in row["text"]


if __name__ == "__main__":
    main(globals())
