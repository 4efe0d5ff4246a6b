# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A person on a list as the shell sees it; test_life.py has the whole by mail."""
import json
import os
import re

import pytest

from support.instance import HOST

pytestmark = pytest.mark.main

ANNE, NEW = "anne@example.org", "anne@new.example"


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def body(letter):
    return letter.get_body(("plain",)).get_content()


class Mailboxes:
    """Writes to the list, and reads what comes back."""

    def __init__(self, instance, sink):
        self.instance, self.sink = instance, sink

    def write(self, sender, to, subject="", text=""):
        octets = (f"From: {sender}\r\nTo: {to}@{HOST}\r\nSubject: {subject}\r\n"
                  f"Message-ID: <{os.urandom(8).hex()}@example.org>\r\n\r\n{text}\r\n")
        to = to if "@" in to else f"{to}@{HOST}"
        self.instance.lmtp_send(octets.encode(), to, sender=sender)

    def letters(self):
        self.instance.wait_idle()
        found = [(to, letter) for to, letters in self.sink.take_mail().items() for letter in letters]
        return found

    def letter(self, to):
        (address, letter), = self.letters()
        assert address == to
        return letter

    def answer(self, letter, sender, text=""):
        self.write(sender, letter["From"].addresses[0].addr_spec, f"AW: {letter['Subject']}", text)


def test_life_of_a_person(instance, sink):
    """Invited, joins, sets options, is away, changes the address, is shown what is known, leaves, is forgotten."""
    address = instance.create_list("test", owner="olga@example.com",
                                   settings=["subscription_policy=moderate", "send_welcome_message=yes"])
    cli, mail = instance.cli, Mailboxes(instance, sink)
    assert "is invited" in cli("member", "invite", address, f"Anne <{ANNE}>")
    assert instance.run("member", "invite", address, ANNE).returncode == 1  # once a day
    invitation = mail.letter(ANNE)
    assert "invite" in body(invitation) and cli("member", "ls", address, "--names") == ""
    mail.answer(invitation, ANNE, "Gern!\r\n\r\n-- \r\nAnne")
    assert "Welcome" in mail.letter(ANNE)["Subject"]  # no moderator was asked, in spite of the policy
    member, = rows(cli("member", "ls", address, "--json"))
    assert (member["address"], member["display_name"], member["as_user"]) == (ANNE, "Anne", False)
    user = member["user_id"]

    cli("member", "set", address, ANNE, "--vacation", "2020-01-01..2999-12-31", "--language", "de")
    member, = rows(cli("member", "ls", address, "--json"))
    assert (member["delivery_status"], member["preferred_language"]) == ("by_user", "de")
    cli("member", "set", address, ANNE, "--vacation", "off")
    assert rows(cli("member", "ls", address, "--json"))[0]["delivery_status"] == "enabled"

    assert "a letter went" in cli("address", "change", ANNE, NEW, "--ask")
    mail.answer(mail.letter(NEW), NEW, "confirm")
    assert NEW in body(mail.letter(NEW))
    assert cli("member", "ls", address, "--names").split() == [NEW]
    assert rows(cli("user", "show", NEW, "--json"))[0]["addresses"] == [NEW]
    assert instance.run("user", "show", ANNE).returncode == 66  # the old address is nobody's

    known = json.loads(cli("user", "export", NEW))
    assert known["user_id"] == user and [m["address"] for m in known["memberships"]] == [NEW]
    assert [a["address"] for a in known["addresses"]] == [NEW] and known["addresses"][0]["verified_on"]
    mail.write(NEW, "test-leave")
    asked = mail.letter(NEW)
    assert "bestätigen" in asked["Subject"]  # in the language of the person
    mail.answer(asked, NEW)
    mail.letters()
    assert cli("member", "ls", address, "--names") == ""
    assert instance.run("user", "forget", NEW).returncode == 64
    cli("user", "forget", NEW, "--yes")
    cli("user", "forget", ANNE, "--yes")
    for verb in (("user", "show", user), ("user", "export", ANNE), ("address", "show", NEW)):
        assert instance.run(*verb).returncode == 66


def test_people_in_the_shell(instances, sink):
    """Users, addresses and what they prefer; every refusal names what is wrong and has its exit code."""
    instance = instances(sink.port).start()
    address = instance.create_list("test")
    cli, run = instance.cli, instance.run
    user = cli("user", "create", ANNE, "--display-name", "Änne").strip()
    assert re.fullmatch("[0-9a-f]{32}", user)
    assert run("user", "create", ANNE).returncode == 1 and run("user", "create", "nonsense").returncode == 64
    cli("address", "add", "--user", user, NEW)
    cli("address", "verify", ANNE, NEW)
    assert ANNE in cli("user", "ls")
    cli("user", "set", user, f"preferred_address={NEW}", "delivery_mode=mime_digests", "server_owner=yes")
    assert NEW in cli("user", "ls") and ANNE not in cli("user", "ls")
    cli("address", "set", ANNE, "hide_address=no", "delivery_mode=plaintext_digests")
    cli("member", "add", address, ANNE, NEW)
    modes = {row["address"]: row["delivery_mode"] for row in rows(cli("member", "ls", address, "--json"))}
    assert modes == {ANNE: "plaintext_digests", NEW: "mime_digests"}
    shown, = rows(cli("user", "show", ANNE, "--json"))
    assert (shown["display_name"], shown["preferred_address"], shown["server_owner"]) == ("Änne", NEW, True)
    assert rows(cli("user", "ls", "änne", "--json"))[0]["user_id"] == user
    assert cli("user", "ls", "--server-owners", "--names").split() == [NEW]
    for verb, code, word in ((("user", "set", user, "colour=red"), 64, "colour"),
                             (("user", "set", user, "hide_address=maybe"), 64, "maybe"),
                             (("user", "set", user, "preferred_language=xx"), 64, "xx"),
                             (("user", "set", user, "preferred_address=x@y.example"), 66, "x@y.example"),
                             (("user", "show", "0123"), 66, "0123"),
                             (("user", "merge", user, ANNE), 64, "same user"),
                             (("address", "change", ANNE, "test-owner@" + HOST), 64, "test-owner"),
                             (("address", "change", "x@y.example", NEW), 66, "x@y.example"),
                             (("member", "set", address, ANNE, "--vacation", "soon"), 64, "soon"),
                             (("member", "set", address, ANNE, "--language", "xx"), 64, "xx")):
        answer = run(*verb)
        assert answer.returncode == code and word in answer.stderr, (verb, answer)
    cli("user", "create", "other@example.net")
    cli("user", "merge", user, "other@example.net")
    assert sorted(cli("address", "ls", user, "--names").split()) == [ANNE, NEW, "other@example.net"]
    cli("address", "unlink", "other@example.net")
    assert run("user", "show", "other@example.net").returncode == 66
    cli("user", "forget", "other@example.net", "--yes")
    assert run("address", "show", "other@example.net").returncode == 66


def test_links_that_lead_nowhere_are_refused(instances, sink):
    instance = instances(sink.port)
    for url in ("http://x.example/$token", "https://x.example/", "x.example/$token"):
        instance.set({"pipeline": {"unsubscribe_url": url}})
        answer = instance.run("config", "check")
        assert answer.returncode == 78 and "unsubscribe_url" in answer.stderr and url in answer.stderr, answer
