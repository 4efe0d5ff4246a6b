#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""queue: ls, cat, stat, on a spool that this test fills."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fcntl  # noqa: E402
import pathlib  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402

from harness import CONFIG, MISSING, NOT_SO, TOOL, USAGE, Skip, main  # noqa: E402
from spool import write_entry  # noqa: E402

LIST = "test@example.com"


def fill(site, count=3):
    site.run("list", "create", LIST)
    site.run("list", "create", "other@example.com")
    rows = []
    for i in range(count):
        rows += site.run("inject", LIST, "--json", data=b"Subject: %d\n\nbody %d\n" % (i, i)).rows()
    return [row["name"] for row in rows]


def move(site, name, suffix, queue="in", to=None):
    path = site.spool / queue / (name + ".msg")
    return path.rename(path.with_name((to or name) + suffix))


def test_empty(site):
    assert site.run("queue", "stat").out == "" and site.run("queue", "ls").out == ""
    site.run("queue", "stat", "in", code=MISSING, says="'in'")
    site.run("queue", "ls", "no/way", code=MISSING, says="'no/way'")
    assert list(site.spool.iterdir()) == [], "looking makes nothing"


def test_no_spool(site):
    site.spool.rmdir()
    site.run("queue", "stat", code=CONFIG, says=str(site.spool))


def test_stat_counts_by_state(site):
    names = fill(site, 6)
    move(site, names[0], ".bak")
    move(site, names[1], ".done")
    move(site, names[2], ".psv")
    later = f"{int(time.time()) + 3600}.000000" + names[3][17:]
    move(site, names[3], ".msg", to=later)
    (site.spool / "in" / (names[4] + ".tmp")).write_bytes(b"x" * 10)
    (site.spool / "in" / "README").write_bytes(b"")
    row, = site.run("queue", "stat", "in", "--json").rows()
    assert [row[key] for key in ("ready", "waiting", "claimed", "decided", "preserved", "writing", "foreign")] == [
        2, 1, 1, 1, 1, 1, 1]
    assert row["octets"] == sum(path.stat().st_size for path in (site.spool / "in").iterdir())
    assert 3500 < row["next_due_in"] <= 3600 and 0 <= row["oldest_age"] < 60
    table = site.run("queue", "stat").out.splitlines()
    assert table[0].split()[:3] == ["QUEUE", "READY", "WAITING"] and table[1].split()[:3] == ["in", "2", "1"]
    assert site.run("queue", "stat", "--names").out == "in\n"


def test_ls_in_order_of_due_time(site):
    names = fill(site)
    rows = site.run("queue", "ls", "--json").rows()
    assert [row["name"] for row in rows] == names == sorted(names)
    row = rows[0]
    assert row["queue"] == "in" and row["state"] == "ready" and row["list"] == "test.example.com"
    assert row["size"] == len(b"Subject: 0\r\n\r\nbody 0\r\n") and row["todo"] == row["done"] == row["bounced"] == 0
    assert row["due"].endswith("Z") and row["age"] >= 0 and len(row["trace"]) == 12
    head, first = site.run("queue", "ls", "in").out.splitlines()[:2]
    assert head.split()[:4] == ["QUEUE", "NAME", "STATE", "AGE"] and names[0] in first


def test_ls_filters(site):
    names = fill(site)
    site.run("inject", "other@example.com", data=b"A: b\n\n")
    move(site, names[0], ".bak")
    assert len(site.run("queue", "ls", "--json", "--limit", "2").rows()) == 2
    assert site.run("queue", "ls", "--names", "--state", "claimed").out.split() == [names[0]]
    assert site.run("queue", "ls", "--names", "--list", LIST).out.split() == names
    assert site.run("queue", "ls", "--names", "--list", "TEST.example.com", "--state=ready").out.split() == names[1:]
    site.run("list", "create", "empty@example.com")
    assert site.run("queue", "ls", "--names", "--list", "empty@example.com").out == ""
    site.run("queue", "ls", "--state", "asleep", code=USAGE, says="'asleep'")


def test_ls_limit(site):
    """The first N of what fits, whatever lies before, and in whatever order the directory has them."""
    now = int(time.time())
    site.run("list", "create", LIST)
    dues = [(i * 37) % 101 - 50 for i in range(100)]
    written = [(due, write_entry(site, "out", list_id="test.example.com" if due % 13 == 0 else "other.example.com",
                                 due=now + 3600 * due)) for due in dues]
    names = [name for _, name in sorted(written)]
    fitting = [name for due, name in sorted(written) if due % 13 == 0]
    assert site.run("queue", "ls", "--names").out.split() == names
    for limit in (0, 1, 2, 3, 7, 50, 99, 100, 101):
        assert site.run("queue", "ls", "--names", "--limit", str(limit)).out.split() == names[:limit]
        assert site.run("queue", "ls", "--names", "--list", LIST,
                        "--limit", str(limit)).out.split() == fitting[:limit]
    move(site, names[-1], ".bak", "out")
    assert site.run("queue", "ls", "--names", "--state=claimed", "--limit=1").out.split() == names[-1:]
    write_entry(site, "retry", due=now)
    assert len(site.run("queue", "ls", "--names", "--limit", "101").out.split()) == 101
    assert len(site.run("queue", "ls", "--names", "--limit", "100").out.split()) == 100


def test_ls_limit_is_a_number_of_entries(site):
    fill(site)
    for words in (("queue", "ls", "--limit"), ("dest", "ls", "--limit"), ("queue", "shape", "--top")):
        site.run(*words[:2], f"{words[2]}=-5", code=USAGE, says=f"{words[2]}: -5")


def test_ls_of_an_unknown_list(site):
    fill(site)
    site.run("queue", "ls", "--list=typo@example.com", code=MISSING, says="there is no list typo.example.com")


def test_who_may_only_read_can_look(site):
    if os.geteuid() != 0:
        raise Skip("not root")
    name = fill(site)[0]
    for path in [site.path, *site.path.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o444)
    for words in (("queue", "ls", "in", "--json"), ("queue", "shape"), ("queue", "stat"), ("queue", "cat", name)):
        done = site.run_as_nobody(*words)
        assert done.returncode == 0 and done.stdout and not done.stderr, done


def test_ls_shows_damage_and_goes_on(site):
    names = fill(site)
    path = site.spool / "in" / (names[1] + ".msg")
    path.write_bytes(path.read_bytes().replace(b"body 1", b"BODY 1"))
    done = site.run("queue", "ls", "--json", says=names[1])
    assert [row["name"] for row in done.rows()] == names and "fault" in done.rows()[1]


def test_cat(site):
    name, = fill(site, 1)
    out = site.run("queue", "cat", name).out
    assert "queue:" in out and "test.example.com" in out and out.endswith("\r\n\r\nbody 0\r\n")
    assert site.run("queue", "cat", name + ".msg", "--headers").raw == b"Subject: 0\r\n\r\n"
    assert site.run("queue", "cat", name, "--body").raw == b"body 0\r\n"
    digits = name.split("+")[1]
    assert site.run("queue", "cat", digits[:8], "--json").rows()[0]["name"] == name
    move(site, name, ".psv")
    assert site.run("queue", "cat", digits, "--json").rows()[0]["state"] == "preserved"


def test_cat_errors(site):
    name, = fill(site, 1)
    other = "012345" if name.split("+")[1].startswith("123456") else "123456"
    site.run("queue", "cat", other, code=MISSING, says=other)
    site.run("queue", "cat", "12", code=USAGE, says="'12'")
    site.run("queue", "cat", "zzzzzzzz", code=USAGE, says="'zzzzzzzz'")
    site.run("queue", "cat", name, "--headers", "--body", code=USAGE, says="--body")
    path = site.spool / "in" / (name + ".msg")
    twin = site.spool / "in" / ("1111111111.000000" + name[17:] + ".msg")
    twin.write_bytes(path.read_bytes())
    site.run("queue", "cat", name.split("+")[1], code=NOT_SO, says="2 entries")
    twin.unlink()
    path.write_bytes(path.read_bytes()[:-5])
    site.run("queue", "cat", name, code=NOT_SO, says=name)


def test_recipients_are_counted_and_shown(site):
    """An entry with marks, written by hand as the format says (switchboard/entry.h)."""
    import hashlib

    lines = b" a@x.org\nDb@x.org\nBc@x.org\n a\xe9@x.org\n"
    message = b"A: b\r\n\r\nc\r\n"
    meta = b'{"arrival":1763644800000042,"list":"test.example.com","ordinal":1}\n'
    blank = b"".join(b" " + line[1:] + b"\n" for line in lines.splitlines())
    lengths = b"%010d %012d %012d" % (len(meta), len(lines), len(message))
    digest = hashlib.sha1(message + b"\0test.example.com\0" + b"1763644800000042\0" + b"1").hexdigest()
    name = "1763644800.000042+" + digest
    head = hashlib.sha1(meta + blank + lengths).hexdigest().encode()
    queue = site.spool / "out"
    queue.mkdir()
    (queue / (name + ".bak")).write_bytes(
        b"listrunner 1 " + lengths + b" 0 " + head + b"\n" + meta + lines + message
        + b"\nend listrunner 1 " + digest.encode() + b"\n"
    )
    done = site.run("queue", "ls", "out", "--json")
    row = done.rows()[0]
    assert (row["todo"], row["done"], row["bounced"], row["state"]) == (2, 1, 1, "claimed"), row
    shown = site.run("queue", "cat", name, "--json").rows()[0]["recipients"]
    assert [one["state"] for one in shown] == ["todo", "done", "bounced", "todo"]
    assert shown[1]["address"] == "b@x.org"
    assert "bounced  c@x.org" in site.run("queue", "cat", name).out


def memory_kb(site, *words):
    """The most memory that a verb had until it wrote what is more than the pipe holds: so it is still there."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    command = [TOOL, "-c", str(site.config), *words]
    with subprocess.Popen(command, stdout=write) as process, os.fdopen(read, "rb") as out:
        os.close(write)
        out.read(1)
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        out.read()
        assert process.wait() == 0
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1))


def test_many_names(site):
    """Counting opens nothing: 20,000 empty files that are no entries are counted all the same."""
    queue = site.spool / "out"
    queue.mkdir()
    for i in range(20000):
        (queue / f"17636448{i % 100:02d}.{i:06d}+{i:040x}.msg").touch()
    began = time.monotonic()
    assert site.run("queue", "stat", "--json").rows()[0]["ready"] == 20000
    assert time.monotonic() - began < 60
    assert len(site.run("queue", "ls", "--names", "--limit", "3").out.split()) == 3
    whole = memory_kb(site, "queue", "ls", "--names")
    assert memory_kb(site, "queue", "ls", "--names", "--limit", "400") + 512 < whole


def test_shape(site):
    """The bounds are those of qshape: below 5 minutes, below 10, 20 ... and the rest."""
    now = time.time()
    for minutes in (0, 4, 5.1, 9, 10.1, 19, 20.1, 40.1, 640.1, 1278, 1280.1, 100000):
        write_entry(site, "out", arrival=now - 60 * minutes, recipients=b" a@Example.COM\n b@example.com\nDc@x.org\n")
    write_entry(site, "retry", arrival=now, recipients=b" d@example.net\n", sender="", suffix=".bak")
    write_entry(site, "hold", arrival=now)
    rows = {row["domain"]: row for row in site.run("queue", "shape", "--json").rows()}
    assert list(rows) == ["TOTAL", "example.com", "example.net"]
    columns = ["5", "10", "20", "40", "80", "160", "320", "640", "1280", "1280+"]
    assert [rows["example.com"][key] for key in columns] == [4, 4, 4, 2, 2, 0, 0, 0, 4, 4]
    assert rows["TOTAL"]["total"] == 25 and rows["TOTAL"]["5"] == 5
    table = site.run("queue", "shape").out.splitlines()
    assert table[0].split() == ["T"] + columns and table[1].split()[:2] == ["TOTAL", "25"]
    senders = {row["domain"]: row["total"] for row in site.run("queue", "shape", "-s", "--json").rows()}
    assert senders == {"TOTAL": 13, "example.com": 12, "MAILER-DAEMON": 1}
    few = site.run("queue", "shape", "-b", "3", "-t", "10", "-l", "-n", "1", "--json", "out").rows()
    assert [row["domain"] for row in few] == ["TOTAL", "example.com"]
    assert [few[1][key] for key in ("10", "20", "20+")] == [8, 4, 12]
    assert site.run("queue", "shape", "--json", "hold").rows()[0]["total"] == 1
    write_entry(site, "in", list_id="other.example.com", arrival=now, posted_by="x@example.com")
    write_entry(site, "shunt", list_id="", arrival=now - 6000, posted_by="x@example.com", suffix=".psv")
    rows = site.run("queue", "shape", "--list", "--json").rows()
    lists = {(row["list"], row.get("queue")): row["total"] for row in rows}
    assert lists == {("TOTAL", None): 3, ("other.example.com", "in"): 1, ("test.example.com", "hold"): 1,
                     ("(no list)", "shunt"): 1}
    site.run("queue", "shape", "--list", "--sender", code=USAGE, says="--list")
    site.run("queue", "shape", "-b", "1", code=USAGE, says="--buckets")
    site.run("queue", "shape", "-t", "0", code=USAGE, says="--tick")
    site.run("queue", "shape", "nowhere", code=MISSING, says="'nowhere'")


def test_copies_of_their_own(site):
    """Behind the address of a recipient who gets a personal copy stand its sender and a token; they are no address."""
    name = write_entry(site, "out", recipients=b" anne@example.com\tl-bounces+anne=example.com+x@lists.net\ttoken.1\n")
    assert [row["domain"] for row in site.run("queue", "shape", "--json").rows()] == ["TOTAL", "example.com"]
    assert [one["address"] for one in site.run("queue", "cat", "--json", name).rows()[0]["recipients"]] == \
        ["anne@example.com"]
    assert len(site.run("queue", "hold", "--recipient", "*@example.com", "--dry-run", "--json").rows()) == 1
    assert site.run("queue", "hold", "--recipient", "*token.1", "--dry-run", "--json").rows() == []


if __name__ == "__main__":
    main(globals())
