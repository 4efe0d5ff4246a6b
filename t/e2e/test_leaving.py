# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Leaving by each way and coming back by the answer to the letter; and when too many of one domain leave at once."""
import json
import re
import time

import pytest

from support.clock import DAY
from support.instance import HOST, wait_until
from test_bounces import complaint, signed
from test_commands import ANNE, BOB, People, body, sender_of, token

LINKS = {"pipeline": {"verp_delivery_interval": "1", "unsubscribe_url": "https://x.example/$token"}}
OLGA = "olga@example.com"
OPTIONS = ("--delivery-mode", "mime_digests", "--vacation", "2020-01-01..2999-12-31", "--topics", "one")


@pytest.fixture
def people(clock, instances, sink):
    instance = instances(sink.port, settings=LINKS).start()
    for name in ("test", "other"):
        instance.create_list(name, [ANNE, BOB], owner=OLGA, settings=["topics_enabled=yes", "topics=one: x"])
    return People(instance, sink)


def row(people, address):
    """Return what the list has of the member, less what is new when one comes back; None: it is no member."""
    shown = people.instance.run("member", "show", f"test@{HOST}", address, "--json")
    if shown.returncode != 0:
        return None
    return {name: value for name, value in json.loads(shown.stdout).items()
            if not re.search(r"(^|_)(id|joined|since|at)($|_)", name)}


def newest_change(people):
    """Of the list's log, who came or went last."""
    found = json.loads(people.instance.cli("list", "log", f"test@{HOST}", "--kind=member", "--limit=1", "--json"))
    return [found[key] for key in ("kind", "name", "before", "after")]


def leave_address(people, address):
    return signed(people.instance, "test", address, purpose="unsubscribe", local="leave")


def complain(people, address):
    copy = f"Return-Path: <{signed(people.instance, 'test', address)}>\r\nFrom: x@example.net\r\n\r\nhi"
    people.instance.lmtp_send(complaint(copy), f"test-bounces@{HOST}", sender="")


def link_of(people, address):
    people.write(BOB, "test", "hello", "Hello.")
    people.instance.wait_idle()
    copy = next(mail for mail in people.sink.transactions() if mail.to == [address])
    people.sink.purge()
    return re.search(rb"<https://x\.example/([^>]+)>", copy.octets)[1].decode()


def by_mail(people):
    people.write(ANNE, "test-leave")
    people.write(ANNE, sender_of(people.letter(ANNE)))


WAYS = {
    "mail": by_mail,
    "signed": lambda people: people.write(ANNE, leave_address(people, ANNE)),
    "one-click": lambda people: people.instance.cli("unsubscribe", link_of(people, ANNE)),
    "complaint": lambda people: complain(people, ANNE),
}


@pytest.mark.parametrize("goodbye", ("yes", "no"))
@pytest.mark.parametrize("way", WAYS)
def test_there_and_back(people, way, goodbye):
    cli, address = people.instance.cli, f"test@{HOST}"
    cli("list", "set", address, f"send_goodbye_message={goodbye}", "admin_notify_mchanges=no",
        "bounce_notify_owner_on_removal=no")
    if way != "one-click":  # which goes with a copy that comes at once
        cli("member", "set", address, ANNE, *OPTIONS)
    cli("member", "set", address, ANNE, "--moderation", "hold", "--language", "fr", "--acknowledge-posts", "yes")
    before = row(people, ANNE)
    WAYS[way](people)
    letter = people.letter(ANNE)
    assert row(people, ANNE) is None and people.members() == [BOB]
    log = people.instance.log_text()
    assert way == "one-click" or f"way={'mail' if way == 'signed' else way} result=done" in log
    assert newest_change(people) == ["member", ANNE, "member", {"signed": "mail"}.get(way, way)]
    assert sender_of(letter) == f"test-confirm+{token(letter)}@{HOST}"
    # thanks are no undo, and are told so
    people.write(ANNE, sender_of(letter), "Re: x", "Danke!\n\n> confirm nothing")
    assert row(people, ANNE) is None and "confirm" in body(people.letter(ANNE))
    people.write(BOB, sender_of(letter), "Re: x", "confirm")  # who has the letter can
    assert "confirmed" in body(people.letter(BOB)) and row(people, ANNE) == before
    assert newest_change(people) == ["member", ANNE, None, "member"]
    people.write(ANNE, sender_of(letter), "Re: x", "confirm")
    assert row(people, ANNE) == before and people.letter(ANNE)
    assert people.members(f"other@{HOST}") == [ANNE, BOB] and not people.instance.set_aside()


def test_too_late_or_not_wanted(people, clock):
    people.write(ANNE, leave_address(people, ANNE))
    anne = people.letter(ANNE)
    people.write(BOB, leave_address(people, BOB))
    bob = people.letter(BOB)
    people.instance.cli("ban", "add", f"--list=test@{HOST}", ANNE)
    people.write(ANNE, sender_of(anne), "", "confirm")
    assert "may not join" in body(people.letter(ANNE)) and people.members() == []
    clock.seconds(31 * DAY)
    people.instance.run_job("requests")
    people.write(BOB, sender_of(bob), "", "confirm")
    assert "too old" in body(people.letter(BOB)) and people.members() == []
    with people.instance.database() as database:
        assert database.execute("SELECT count(*) FROM departure").fetchone()[0] == 0


def test_the_rest_waits(people):
    """A scanner at one company writes to the signed address of each member there."""
    cli, address = people.instance.cli, f"test@{HOST}"
    crowd = [f"p{number:02}@company.example" for number in range(40)]
    people.instance.add_members(address, crowd)
    for member in crowd[:30]:
        people.write(member, leave_address(people, member))
    people.write(ANNE, leave_address(people, ANNE))
    letters = people.letters()
    assert sorted(to for to, _ in letters) == sorted([*crowd[:10], ANNE, OLGA])
    told = next(letter for to, letter in letters if to == OLGA)
    assert "too many members at company.example" in told["Subject"] and "10 members" in body(told)
    assert people.members() == sorted([*crowd[10:], BOB])
    status = people.instance.run("status")
    assert status.returncode == 2 and "Of 1 mail domain too many left a list at once, so 20 more wait" in status.stdout
    figures = cli("metrics")
    assert "listrunner_leave_brakes 1\n" in figures and "listrunner_leave_brake_requests 20\n" in figures
    # One who answers a letter of ours goes; the owner lets another go, and sends a third back.
    people.write(crowd[35], "test-leave")
    people.write(crowd[35], sender_of(people.letter(crowd[35])))
    assert "left" in people.letter(crowd[35])["Subject"]
    waiting = [json.loads(line) for line in cli("pending", "ls", address, "--json").splitlines()]
    assert sorted(one["address"] for one in waiting) == crowd[10:30]
    cli("pending", "accept", str(waiting[0]["number"]))
    gone = people.letter(waiting[0]["address"])
    assert waiting[0]["address"] not in people.members()
    people.write(waiting[0]["address"], sender_of(gone), "", "confirm")
    assert "again" in body(people.letter(waiting[0]["address"]))
    assert waiting[0]["address"] in people.members()


def test_letter_cannot_be_written(people):
    """The complainer is off the list, and the letter comes when it can, whoever works then."""
    virgin = people.instance.spool / "virgin"
    wait_until(virgin.exists, 20, "the runner virgin")
    virgin.rmdir()
    complain(people, ANNE)
    wait_until(lambda: people.members() == [BOB], 20, "anne to be off the list")
    wait_until(lambda: "result=later" in people.instance.log_text(), 20, "the letter to fail")
    people.instance.kill_runner("bounces")
    people.instance.run("spool", "check", "--repair")
    letters = [letter for to, letter in people.letters() if to == ANNE]
    people.write(ANNE, sender_of(letters[0]), "", "confirm")
    people.letters()
    assert len(letters) == 1 and people.members() == [ANNE, BOB]


def test_killed_while_complaints_come(people):
    """kill -9 of the runner again and again: each complainer is off the list, and has one undo, which works."""
    crowd = [f"p@d{number:02}.example" for number in range(30)]
    people.instance.add_members(f"test@{HOST}", crowd)
    for number, member in enumerate(crowd):
        complain(people, member)
        if number % 6 == 5:
            people.instance.kill_runner("bounces")
    letters = [(to, letter) for to, letter in people.letters() if to in crowd]
    assert sorted(to for to, _ in letters) == crowd
    assert people.members() == [ANNE, BOB]
    for to, letter in letters[::10]:
        people.write(to, sender_of(letter), "", "confirm")
    people.letters()
    assert people.members() == sorted([ANNE, BOB, *(to for to, _ in letters[::10])])
    assert people.instance.set_aside() == []
    wait_until(lambda: people.instance.status()["healthy"], 20, "the runner to be back")
    with people.instance.database() as database:
        wait_until(lambda: database.execute("SELECT count(*) FROM outbox").fetchone()[0] == 0, 60,
                   "the rows of letters that a killed process kept to go")


def test_forms_have_caused_enough_letters(people):
    """The operator sees it: in status, its exit code and the metrics."""
    instance = people.instance
    instance.set({"site": {"max_form_letters_per_day": "3"}})
    assert instance.run("status").returncode == 0
    day = DAY * 1_000_000
    with instance.database() as database:
        ends = (int(time.time()) // DAY + 1) * day
        for number in range(2):  # whatever day it is when the test looks
            database.execute("DELETE FROM account WHERE kind = ?", ["form_site"])
            database.execute("INSERT INTO account (kind, who, ends_at, total) VALUES (?, ?, ?, ?)",
                             ["form_site", "site", ends + number * day, 4])
            database.commit()
            status = instance.run("status")
            if status.returncode != 0:
                break
    assert status.returncode == 2 and "have taken 3 forms to join today" in status.stdout
    shown = json.loads(instance.run("status", "--json").stdout)["form_letters"]
    assert shown == {"count": 3, "most": 3, "reached": True, "links": 0, "links_reached": False}
    assert 'listrunner_account_total{kind="form_site"} 4\n' in instance.cli("metrics")
