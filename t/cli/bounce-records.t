#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""bounce ls, show, stat, reset, rotate: what the runner bounces has written down."""
import json
import sqlite3

from harness import MISSING, USAGE, main

DAY = 86400
TODAY = 20778  # 2026-11-21
ANNE, BART, CRIS = "anne@example.org", "bart@example.org", "cris@sub.example.net"
LIST = "test@lists.example.com"


def fill(site):
    """Three members: ANNE has points, BART was disabled and warned, CRIS bounced on another list, too."""
    for name in ("test", "other"):
        site.run("list", "create", f"{name}@lists.example.com")
        site.run("member", "add", f"{name}@lists.example.com", ANNE, BART, CRIS)
    store = sqlite3.connect(site.database)
    keys = dict(store.execute("SELECT list_id, key FROM list"))
    members = {(row[0], row[1]): row[2] for row in store.execute("SELECT list, email, key FROM member")}

    def day(name, address, number, bounces, weight, status, reason):
        local, domain = address.split("@")
        store.execute("INSERT INTO bounce VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      (keys[f"{name}.lists.example.com"], f"{domain} {local}", number, address, bounces, weight,
                       "permanent" if weight == 100 else "temporary", status, reason, "verp", f"said {status}",
                       number * DAY * 1000000))

    def score(name, address, points, disabled_day, warnings, next_day):
        member = members[keys[f"{name}.lists.example.com"], address]
        store.execute("INSERT INTO bounce_score VALUES (?, ?, ?, 0, ?, ?, ?, 0)",
                      (member, points, TODAY * DAY * 1000000, disabled_day * DAY * 1000000, warnings,
                       next_day * DAY * 1000000))
        if disabled_day:
            store.execute("UPDATE member SET delivery_status = 2 WHERE key = ?", (member,))

    day("test", ANNE, TODAY - 40, 1, 100, "5.1.1", "user-unknown")
    day("test", ANNE, TODAY, 3, 25, "4.2.2", "mailbox-full")
    day("test", BART, TODAY, 1, 100, "5.1.1", "user-unknown")
    day("test", CRIS, TODAY, 2, 100, "5.1.1", "user-unknown")
    day("other", CRIS, TODAY - 1, 1, 100, "5.1.1", "user-unknown")
    score("test", ANNE, 125, 0, 0, TODAY + 7)
    score("test", BART, 0, TODAY, 2, TODAY + 3)
    score("other", CRIS, 100, 0, 0, TODAY + 6)
    store.commit()
    store.close()


def addresses(result):
    return [row["address"] for row in result.rows()]


def test_ls(site):
    fill(site)
    whole = site.run("bounce", "ls", "--json")
    assert addresses(whole) == [CRIS, ANNE, BART]  # by list, then domain
    anne, bart = whole.rows()[1:]
    assert (anne["score"], anne["delivery_status"], anne["status"], anne["reason"], anne["list"]) == (
        1.25, "enabled", "4.2.2", "mailbox-full", "test.lists.example.com")
    assert (bart["delivery_status"], bart["warnings"], bart["disabled_at"], bart["next_at"]) == (
        "by_bounces", 2, "2026-11-21T00:00:00Z", "2026-11-24T00:00:00Z")
    assert anne["disabled_at"] is None and anne["probe_at"] is None
    assert addresses(site.run("bounce", "ls", "--json", LIST)) == [ANNE, BART]
    assert addresses(site.run("bounce", "ls", "--json", "--domain=Sub.Example.Net")) == [CRIS]
    assert addresses(site.run("bounce", "ls", "--json", "--domain=example.net")) == []
    assert addresses(site.run("bounce", "ls", "--json", "--reason=user-unknown", LIST)) == [BART]
    assert addresses(site.run("bounce", "ls", "--json", f"--member={BART.upper()}")) == [BART]
    assert addresses(site.run("bounce", "ls", "--json", "--member=nobody@example.org")) == []
    assert site.run("bounce", "ls", "--names", LIST).out == f"{ANNE}\n{BART}\n"
    table = site.run("bounce", "ls").out
    assert table.splitlines()[0].split() == [
        "ADDRESS", "LIST", "SCORE", "DELIVERY", "STATUS", "REASON", "WARNED", "NEXT"]
    assert "1.25" in table and "by_bounces" in table
    # The list itself tells it, too.
    row, = [row for row in site.run("member", "ls", "--json", LIST).rows() if row["address"] == BART]
    assert row["delivery_status"] == "by_bounces"


def test_show(site):
    fill(site)
    rows = site.run("bounce", "show", "--json", "CRIS@sub.example.net").rows()
    assert [(row["day"], row["list"], row["bounces"], row["weight"], row["source"], row["text"]) for row in rows] == [
        ("2026-11-20", "other.lists.example.com", 1, 1, "verp", "said 5.1.1"),
        ("2026-11-21", "test.lists.example.com", 2, 1, "verp", "said 5.1.1")]
    assert len(site.run("bounce", "show", "--json", CRIS, LIST).rows()) == 1
    assert len(site.run("bounce", "show", "--json", ANNE, "--reason=mailbox-full").rows()) == 1
    shown = site.run("bounce", "show", ANNE).out
    assert "1.25" in shown and "2026-10-12" in shown and "said 4.2.2" in shown
    for options in ((), ("--json",), (LIST,)):
        none = site.run("bounce", "show", "nobody@example.org", *options, code=MISSING, says="nobody@example.org")
        assert none.out == ""
    site.run("bounce", "show", ANNE, "--since=0", code=MISSING, says=ANNE)
    assert '"weight":0.25' in site.run("bounce", "show", "--json", ANNE).out


def test_stat(site):
    fill(site)

    def sums(*words):
        return [(row["period"], row["domain"], row["status"], row["class"], row["members"], row["bounces"])
                for row in site.run("bounce", "stat", "--json", *words).rows()]
    assert sums("--by=all") == [
        ("all", "example.org", "4.2.2", "temporary", 1, 3), ("all", "example.org", "5.1.1", "permanent", 2, 2),
        ("all", "sub.example.net", "5.1.1", "permanent", 2, 3)]
    assert sums("--by=month", LIST, "--domain=example.org", "--reason=user-unknown") == [
        ("2026-10", "example.org", "5.1.1", "permanent", 1, 1), ("2026-11", "example.org", "5.1.1", "permanent", 1, 1)]
    assert sums("--by=all", f"--member={BART}") == [("all", "example.org", "5.1.1", "permanent", 1, 1)]
    assert [row[0] for row in sums(LIST)] == ["2026-10-12", "2026-11-21", "2026-11-21", "2026-11-21"]
    assert sums("--by=week", "--domain=sub.example.net") == [
        ("2026-W47", "sub.example.net", "5.1.1", "permanent", 2, 3)]
    head = site.run("bounce", "stat").out.splitlines()[0].split()
    assert head == ["PERIOD", "DOMAIN", "STATUS", "CLASS", "MEMBERS", "BOUNCES"]


def test_reset(site):
    fill(site)
    assert "1 member without" in site.run("bounce", "reset", LIST, BART).out
    row, = [row for row in site.run("member", "ls", "--json", LIST).rows() if row["address"] == BART]
    assert row["delivery_status"] == "enabled"
    assert addresses(site.run("bounce", "ls", "--json")) == [CRIS, ANNE]
    site.run("bounce", "reset", LIST, CRIS, "nobody@example.org", code=MISSING, says="no member has a score")
    assert "1 member without" in site.run("bounce", "reset", LIST).out
    assert addresses(site.run("bounce", "ls", "--json")) == [CRIS]
    site.run("bounce", "reset", "--domain=example.org", "other@lists.example.com", code=MISSING, says="example.org")
    site.run("bounce", "reset", "--domain=sub.example.net", "other@lists.example.com")
    assert site.run("bounce", "ls", "--json").out == ""
    assert len(site.run("bounce", "show", "--json", CRIS).rows()) == 2  # what happened is still known


def test_reset_everywhere(site):
    fill(site)
    site.run("bounce", "reset", "--reason=mailbox-full", f"--member={BART}", code=MISSING, says=BART)
    assert "1 member without" in site.run("bounce", "reset", "--reason=mailbox-full").out
    assert addresses(site.run("bounce", "ls", "--json")) == [CRIS, BART]
    assert "1 member without" in site.run("bounce", "reset", f"--member={CRIS}").out
    assert "1 member without" in site.run("bounce", "reset", "--domain=example.org").out
    assert site.run("bounce", "ls", "--json").out == ""
    site.run("bounce", "reset", LIST, ANNE, f"--member={BART}", code=USAGE, says="exclude each other")
    site.run("bounce", "reset", code=USAGE, says="LIST is missing")


def test_rotate(site):
    fill(site)
    for number in (1, 2):
        site.run("bounce", "rotate")
        store = sqlite3.connect(site.database)
        assert store.execute("SELECT COUNT(*), MIN(LENGTH(octets)) FROM secret").fetchone() == (number, 32)
        store.close()


def test_refusals(site):
    site.database.rename(site.path / "aside")
    site.run("bounce", "ls", code=MISSING, says="listrunner store create")
    (site.path / "aside").rename(site.database)
    fill(site)
    site.run("bounce", "ls", "none@lists.example.com", code=MISSING, says="none@lists.example.com")
    site.run("bounce", "ls", "--reason=because", code=USAGE, says="user-unknown, mailbox-full")
    site.run("bounce", "stat", "--by=year", code=USAGE, says="day, week, month, all")
    site.run("bounce", "show", ANNE, "--since=yesterday", code=USAGE, says="12h, 30d, 4w")
    site.run("bounce", "reset", LIST, ANNE, "--domain=example.org", code=USAGE, says="exclude each other")


def test_since(site):
    fill(site)
    store = sqlite3.connect(site.database)
    store.execute("UPDATE bounce SET day = CAST(strftime('%s', 'now') AS INTEGER) / 86400 - (? - day)", (TODAY,))
    store.commit()
    store.close()
    assert len(site.run("bounce", "show", "--json", ANNE).rows()) == 2
    assert len(site.run("bounce", "show", "--json", ANNE, "--since=30d").rows()) == 1
    assert json.loads(site.run("bounce", "stat", "--json", "--by=all", "--since=12h", "--domain=example.org").out
                      .splitlines()[0])["bounces"] == 3


if __name__ == "__main__":
    main(globals())
