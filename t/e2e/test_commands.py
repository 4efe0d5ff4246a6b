# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Joining, confirming and leaving by mail, judged by the letters that arrive and by who is a member then."""
import contextlib
import email
import email.policy
import json
import os
import re
import shutil
import smtplib
import sqlite3
import unicodedata

import pytest

from support import postfix
from support.instance import HOST, need, wait_until

ANNE, BOB = "anne@example.org", "bob@example.net"


def mail(sender, subject="", text="", **fields):
    lines = [f"From: {sender}", f"Subject: {subject}", f"Message-ID: <{os.urandom(8).hex()}@example.org>"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(lines + ["", *text.split("\n"), ""]).encode()


class People:
    """They write to the list, and read what comes back."""

    def __init__(self, instance, sink):
        self.instance, self.sink = instance, sink

    def write(self, sender, to, subject="", text="", client=None, **fields):
        to = to if "@" in to else f"{to}@{HOST}"
        self.instance.lmtp_send(mail(sender, subject, text, **fields), to, sender=sender, client=client)

    def letters(self, to=None):
        """Return what came since the last call, as [(recipient, message)], when all is done."""
        self.instance.wait_idle()
        found = [(address, letter) for address, letters in self.sink.take_mail().items() for letter in letters]
        for _, letter in found:
            assert letter["Auto-Submitted"] in ("auto-generated", "auto-replied")
        return [letter for address, letter in found if address == to] if to else found

    def letters_of_posts(self):
        """Waits for the posts, and takes their copies away."""
        self.instance.wait_idle()
        self.sink.purge()

    def letter(self, to):
        """The one letter that came, and went there."""
        found = self.letters()
        assert [address for address, _ in found] == [to], [(a, m["Subject"]) for a, m in found]
        return found[0][1]

    def members(self, address=f"test@{HOST}"):
        return sorted(self.instance.cli("member", "ls", address, "--names").split())


@pytest.fixture
def people(instance, sink):
    instance.create_list("test", owner="olga@example.com", settings=["send_welcome_message=yes"])
    return People(instance, sink)


def sender_of(letter):
    return letter["From"].addresses[0].addr_spec


def body(letter):
    return letter.get_body(("plain",)).get_content()


def token(letter):
    return re.search(r"confirm ([a-z2-7]{26})", body(letter)).group(1)


@pytest.mark.main
def test_join_confirm_and_leave(people):
    """A person's whole way, by answering letters with nothing in them."""
    people.write(ANNE, "test-join")
    asked = people.letter(ANNE)
    assert sender_of(asked) == f"test-confirm+{token(asked)}@{HOST}" and asked["List-Id"]
    assert people.members() == []
    people.write(ANNE, sender_of(asked), f"Re: {asked['Subject']}")
    welcome = people.letter(ANNE)
    assert "Welcome" in welcome["Subject"] and f"test-leave@{HOST}" in body(welcome)
    assert people.members() == [ANNE]
    people.write(ANNE, "test-unsubscribe")
    asked = people.letter(ANNE)
    assert people.members() == [ANNE]
    people.write(ANNE, sender_of(asked))
    assert "left" in people.letter(ANNE)["Subject"]
    assert people.members() == []


@pytest.mark.main
def test_commands_in_one_mail_get_one_answer(people):
    people.write(ANNE, "test-request", "AW: help", "> quoted\njoin\nGreetings, Anne\necho hello\nend\nleave\n")
    found = dict((letter["Subject"].split()[0], letter) for letter in people.letters(ANNE))
    assert sorted(found) == ["Please", "Your"]
    answer = body(found["Your"])
    for what in ("> help", "> join", "> echo hello", "Greetings, Anne", ANNE):
        assert what in answer
    assert "quoted" not in answer and "> leave" not in answer
    assert found["Your"]["Auto-Submitted"] == "auto-replied" and found["Your"]["In-Reply-To"]
    people.write(ANNE, "test-request", f"confirm {token(found['Please'])}")
    people.letters()
    assert people.members() == [ANNE]


@pytest.mark.main
def test_a_thousand_requests_for_somebody_send_one_letter(people):
    client = people.instance.lmtp()
    for number in range(1000):
        people.write(ANNE, "test-join" if number % 2 else "test-subscribe", client=client)
    client.close()
    people.letter(ANNE)
    text = people.instance.log_text()
    assert text.count("the person was asked within a day") == 999
    for _ in range(3):
        people.write("mallory@example.com", "test-request", f"join address={ANNE}")
    assert not [letter for letter in people.letters(ANNE)]


@pytest.mark.main
def test_forged_and_foreign_answers_do_nothing(people):
    """A From proves nothing; a token proves the address it was sent to, and no other."""
    people.write(ANNE, "test-join")
    asked = people.letter(ANNE)
    people.write(ANNE, f"test-confirm+{'a' * 26}")
    assert "not known" in body(people.letter(ANNE))
    people.write(ANNE, "test-confirm")
    assert people.letter(ANNE) and people.members() == []
    people.write(BOB, sender_of(asked))
    people.letters()
    assert people.members() == [ANNE]
    people.write(ANNE, sender_of(asked))
    assert "used already" in body(people.letter(ANNE))
    assert people.members() == [ANNE]


@pytest.mark.main
@pytest.mark.parametrize("fields", [{"Auto_Submitted": "auto-replied"}, {"Precedence": "bulk"},
                                    {"List_Id": "<other.example.com>"}], ids=["automatic", "bulk", "list"])
def test_programs_are_neither_believed_nor_answered(people, fields):
    people.write(ANNE, "test-join", **fields)
    people.write(ANNE, "test-request", "help", **fields)
    assert people.letters() == []
    people.write(ANNE, "test-join")
    asked = people.letter(ANNE)
    people.write(ANNE, sender_of(asked), "Out of office", **fields)
    assert people.letters() == [] and people.members() == []


@pytest.mark.main
@pytest.mark.parametrize("policy, consent", [("open", False), ("confirm", False), ("moderate", True),
                                             ("confirm_then_moderate", True)])
def test_policies(people, policy, consent):
    """A new address is confirmed in any case; then a moderator is asked, or not."""
    people.instance.cli("list", "set", f"test@{HOST}", f"subscription_policy={policy}",
                        f"unsubscription_policy={policy}", "admin_notify_mchanges=yes")
    people.write(ANNE, "test-join")
    asked = people.letter(ANNE)
    people.write(ANNE, sender_of(asked))
    found = people.letters()
    if not consent:
        assert sorted(address for address, _ in found) == [ANNE, "olga@example.com"]
        assert people.members() == [ANNE]
        people.write(ANNE, "test-leave")
        if policy == "confirm":
            people.write(ANNE, sender_of(people.letter(ANNE)))
        assert sorted(address for address, _ in people.letters()) == [ANNE, "olga@example.com"]
        assert people.members() == []
        return
    request = next(letter for address, letter in found if address == "olga@example.com")
    assert ANNE in request["Subject"] and people.members() == []
    assert "waits for a moderator" in body(next(letter for address, letter in found if address == ANNE))
    cli = people.instance.cli
    number = cli("pending", "ls", "--names").strip()
    assert f"pending accept {number}" in body(request)
    shown = people.instance.run("status")
    assert shown.returncode == 2 and "1 request to join or leave waits for a moderator, since 20" in shown.stdout, shown
    assert "listrunner pending ls" in shown.stdout and "\nlistrunner_moderator_requests 1\n" in cli("metrics")
    cli("pending", "defer", number)
    cli("pending", "accept", number)
    assert sorted(address for address, _ in people.letters()) == [ANNE, "olga@example.com"]
    assert people.members() == [ANNE] and cli("pending", "ls", "--names") == ""
    assert "All is well." in cli("status")
    people.write(ANNE, "test-leave")
    if policy == "confirm_then_moderate":
        people.write(ANNE, sender_of(people.letter(ANNE)))
    people.letters()
    number = cli("pending", "ls", "--names").strip()
    cli("pending", "reject", number, "--reason", "we need you")
    assert "we need you" in body(people.letter(ANNE)) and people.members() == [ANNE]


def mode_of(people, address):
    rows = people.instance.cli("member", "ls", f"test@{HOST}", "--json").splitlines()
    row = next(row for row in map(json.loads, rows) if row["address"] == address)
    return row["delivery_mode"], row["delivery_status"], row["acknowledge_posts"]


@pytest.mark.main
def test_settings_of_a_member(people):
    """A From sets nothing; the answer to the letter does. What was understood, and what not, is named."""
    people.instance.cli("member", "add", f"test@{HOST}", ANNE)
    people.write(ANNE, "test-request", "set digest mime ack on", "set digest sometimes\nset\n")
    asked, answer = people.letters(ANNE)
    if "confirm" not in asked["Subject"]:
        asked, answer = answer, asked
    assert "digest mime ack on" in body(asked) and mode_of(people, ANNE) == ("regular", "enabled", False)
    said = " ".join(body(answer).split())
    assert "> set digest mime ack on" in said and "allowed: off, plain, mime, summary" in said
    assert "    digest off\r\n" in body(answer)
    people.write(ANNE, sender_of(asked))
    assert "were changed" in body(people.letter(ANNE))
    assert mode_of(people, ANNE) == ("mime_digests", "enabled", True)
    people.write(BOB, "test-request", "set digest mime")
    assert "only members" in body(people.letter(BOB))
    people.write(ANNE, "test-request", "set vacation 2020-01-01..2999-12-31")
    people.write(ANNE, sender_of(next(m for m in people.letters(ANNE) if "confirm" in m["Subject"])))
    people.letters()
    assert mode_of(people, ANNE) == ("mime_digests", "by_user", True)


@pytest.mark.main
def test_mail_that_a_moderator_stopped_stays_so(people):
    """The member is told at once; the other member's own stop ends as asked."""
    for who, status in ((ANNE, "by_moderator"), (BOB, "by_user")):
        people.instance.cli("member", "add", f"test@{HOST}", who)
        people.instance.cli("member", "set", f"test@{HOST}", who, "--delivery-status", status)
        people.write(who, "test-request", "set delivery on")
    letters = dict(people.letters())
    assert "have stopped its mail for you" in " ".join(body(letters[ANNE]).split())
    assert "confirm" in letters[BOB]["Subject"]
    people.write(BOB, sender_of(letters[BOB]))
    people.letters()
    assert mode_of(people, ANNE)[1] == "by_moderator" and mode_of(people, BOB)[1] == "enabled"


def test_two_lines_of_settings_are_one_letter(people):
    """Two members, each with two lines: each gets one letter that asks for both, and the answer to it sets both."""
    for who in (ANNE, BOB):
        people.instance.cli("member", "add", f"test@{HOST}", who)
        people.write(who, "test-request", "", "set digest mime\nset ack on\n")
    found = people.letters()
    for who in (ANNE, BOB):
        letters = [letter for address, letter in found if address == who]
        asked, = (letter for letter in letters if "confirm" in letter["Subject"])
        answer, = (letter for letter in letters if "confirm" not in letter["Subject"])
        assert "    digest mime ack on" in body(asked), body(asked)
        assert "> set digest mime\r\n> set ack on\r\n" in body(answer), body(answer)
        people.write(who, sender_of(asked))
    people.letters()
    assert mode_of(people, ANNE) == mode_of(people, BOB) == ("mime_digests", "enabled", True)


@pytest.mark.main
@pytest.mark.parametrize("to, subject", [("test-join+digest", ""), ("test-request", "Re: join digest=mime")])
def test_joins_for_digests(people, to, subject):
    people.write(ANNE, to, subject)
    asked = next(letter for letter in people.letters(ANNE) if "confirm" in letter["Subject"])
    people.write(ANNE, sender_of(asked))
    people.letters()
    assert mode_of(people, ANNE)[0] == "mime_digests"


@pytest.mark.main
def test_another_address(people):
    """Both addresses have to agree; then the membership has moved. The moderator stays, and the owners are told."""
    new = "anne@new.example"
    people.instance.cli("member", "add", f"test@{HOST}", ANNE)
    people.instance.cli("member", "add", f"test@{HOST}", ANNE, "--role", "moderator")
    people.write(ANNE, "test-request", f"change {new}")
    first = next(letter for letter in people.letters(ANNE) if "confirm" in letter["Subject"])
    assert new in body(first)
    people.write(ANNE, sender_of(first), "Re: x", "I am away.\n\n> confirm")
    assert "Nothing was changed yet" in body(people.letter(ANNE))
    people.write(ANNE, sender_of(first), "Automatic reply: " + first["Subject"], "confirm")
    assert people.letters() == []
    people.write(ANNE, sender_of(first), text="confirm")
    found = people.letters()
    second = next(letter for address, letter in found if address == new)
    assert people.members() == [ANNE]
    people.write(new, sender_of(second), "AW: bestätigt", "Confirm\n\nBob")
    told = [address for address, letter in people.letters() if "keeps its role" in letter["Subject"]]
    assert people.members() == [new]
    assert people.instance.cli("member", "ls", f"test@{HOST}", "--role", "moderator", "--names").split() == [ANNE]
    assert ANNE in told and new not in told
    people.write(ANNE, "test-request", "change x@y.example")
    assert "on no list here" in body(people.letter(ANNE))


@pytest.mark.main
def test_what_a_list_tells(people):
    """who, as the setting says; info; lists. The answer goes to From alone."""
    address = f"test@{HOST}"
    people.instance.cli("list", "set", address, "description=About tests", "info=Two\nlines")
    people.instance.create_list("quiet", owner="olga@example.com", settings=["advertised=no"])
    people.instance.cli("member", "add", address, ANNE, BOB)
    people.instance.cli("member", "set", address, BOB, "--hide-address", "no")
    people.write(ANNE, "test-request", "who", "info\nlists\n")
    answer = body(people.letter(ANNE))
    assert "not shown to you" in answer and BOB not in answer
    assert "About tests" in answer and "    Two\r\n" in answer and f"test-join@{HOST}" in answer
    assert f"    test@{HOST}" in answer and "quiet" not in answer
    people.write("olga@example.com", "test-request", "who")
    answer = body(people.letter("olga@example.com"))
    assert ANNE in answer and BOB in answer
    people.instance.cli("list", "set", address, "member_roster_visibility=members")
    people.write(ANNE, "test-request", "who")
    answer = body(people.letter(ANNE))
    assert BOB in answer and f"    {ANNE}" not in answer and "do not show their address: 1" in answer
    people.write("mallory@example.com", "test-request", "who")
    assert "not shown" in body(people.letter("mallory@example.com"))


def test_no_answer_that_only_tells_of_a_letter(people):
    """A command alone that brings a letter brings nothing else; beside others, or what is no command, it is named."""
    people.write(ANNE, "test-request", "join")
    assert "confirm" in people.letter(ANNE)["Subject"]
    for text in ("info", "What a nice list."):
        people.instance.cli("list", "create", f"more@{HOST}")
        people.write(ANNE, "more-request", "join", text)
        asked, answer = sorted(people.letters(ANNE), key=lambda letter: "confirm" not in letter["Subject"])
        assert "> join" in body(answer) and f"> {text}" in body(answer) and "confirm" in asked["Subject"]
        people.instance.cli("list", "remove", f"more@{HOST}", "--yes")


def columns(line):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


@pytest.mark.parametrize("language, help_ends", [("en", "is not read"), ("de", "nicht gelesen"), ("fr", "pas lue"),
                                                 ("es", "no se lee"), ("ja", "読みません)"), ("zh_CN", "不再读取")])
def test_answers_are_easy_to_read(people, language, help_ends):
    """One command a line in the answer to help, one address a line in that to info, and no line too long."""
    address = f"test@{HOST}"
    people.instance.cli("list", "set", address, f"preferred_language={language}",
                        "info=" + "About the very many things that people write to this list about. " * 3)
    people.instance.cli("member", "add", address, ANNE)
    people.write(ANNE, "test-request", "help", "info\nset\nset digest maybe\nconfirm abcdefghijklmnopqrstuvwx23\n")
    lines = body(people.letter(ANNE)).splitlines()
    assert max(columns(line) for line in lines) <= 78, max(lines, key=columns)
    text = [line.strip() for line in lines]
    help_lines = text[text.index("> help"):text.index("> info")]
    assert {"set", "lists", "info", "end"} <= set(help_lines)
    assert any(line.startswith("digest off|plain|mime|summary  ") for line in help_lines)
    assert help_ends in help_lines[-2]
    info_lines = text[text.index("> info"):text.index("> set")]
    for suffix in ("", "-join", "-leave", "-request", "-owner"):
        assert sum(line.endswith(f"test{suffix}@{HOST}") for line in info_lines) == 1, suffix
    assert "ack off" in text[text.index("> set"):]
    assert ("found" in " ".join(text[text.index("> set digest maybe"):])) == (language == "en")


def test_get_posts_of_the_archive(people):
    """Members of a private list, anybody of a public one; so many and so large posts as one letter holds."""
    address, cli = f"test@{HOST}", people.instance.cli
    cli("list", "set", address, "archive_policy=private", "subject_prefix=")
    cli("member", "add", address, ANNE)
    people.write(ANNE, "test-request", "get 1..2")
    assert "has no post yet" in body(people.letter(ANNE))
    for number in range(1, 54):
        people.write(BOB, "test", f"post {number}", f"text of {number}\n>From here\nFrom there")
        if number < 5:
            people.letters_of_posts()  # so that these are archived in this order
    people.letters_of_posts()
    people.write(BOB, "test-request", "get 1")
    assert "for members" in body(people.letter(BOB))

    def posts(command, who=ANNE):
        people.write(who, "test-request", command)
        found = {"archive" in letter["Subject"]: letter for letter in people.letters(who)}
        attached = [part.get_content() for part in found[True].walk() if part.get_content_type() == "message/rfc822"] \
            if True in found else []
        return body(found[False]), attached

    answer, found = posts("get 2..4")
    assert "> get 2..4" in answer and [post["Subject"] for post in found] == ["post 2", "post 3", "post 4"]
    assert found[0].get_content().splitlines()[:3] == ["text of 2", ">From here", "From there"]
    answer, found = posts("get 1..")
    assert len(found) == 50 and "get 51.." in answer
    assert len(posts("get 53")[1]) == 1 and "1 to 53" in posts("get 54")[0]
    people.write(BOB, "test", "large", "x" * 70 + "\n" + "y" * 70 + "\n" + ("z" * 900 + "\n") * 1200)
    people.letters_of_posts()
    assert "too large" in posts("get 54")[0] and len(posts("get 53..54")[1]) == 1
    # Rotating archives moves the mbox away; the index beside it goes on.
    mbox, = people.instance.directory.rglob(f"test.{HOST}.mbox")
    mbox.rename(mbox.with_suffix(".old"))
    carl = "carl@example.org"  # anne had ten letters today
    cli("member", "add", address, carl)
    assert "has no post yet" in posts("get 1", carl)[0]
    people.write(BOB, "test", "after rotation", "a new one")
    people.letters_of_posts()
    answer, found = posts("get 1..2", carl)
    assert "has 1" in answer and [post["Subject"] for post in found] == ["after rotation"]
    cli("list", "set", address, "archive_policy=never")
    people.write(BOB, "test-request", "get 1")
    assert "No archive" in body(people.letter(BOB))


def test_who_as_asked_for(people):
    address = f"test@{HOST}"
    people.instance.cli("list", "set", address, "member_roster_visibility=public")
    people.instance.cli("member", "add", address, ANNE, BOB, "carl@example.org")
    for who in (ANNE, BOB, "carl@example.org"):
        people.instance.cli("member", "set", address, who, "--hide-address", "no")
    people.instance.cli("member", "set", address, ANNE, "--delivery-mode", "mime_digests")
    people.instance.cli("member", "set", address, BOB, "--delivery-status", "by_user")

    def shown(command):
        people.write(ANNE, "test-request", command)
        return set(re.findall(r"^    (\S+@\S+)", body(people.letter(ANNE)), re.M))
    assert shown("who") == {ANNE, BOB, "carl@example.org"}
    assert shown("who mode=digest") == {ANNE} and shown("who delivery=disabled") == {BOB}
    assert shown("who mode=regular delivery=enabled") == {"carl@example.org"}


@pytest.mark.main
def test_one_click_token(instances, sink):
    """The token of a copy's List-Unsubscribe, redeemed as a web server's program would."""
    instance = instances(sink.port, settings={"pipeline": {"verp_delivery_interval": "1",
                                                           "unsubscribe_url": "https://x.example/$token"}}).start()
    address = instance.create_list("test", [ANNE, BOB])
    people = People(instance, sink)
    people.write(BOB, "test")
    instance.wait_idle()
    copy = next(t for t in sink.transactions() if t.to == [ANNE])
    link = re.search(r"<https://x.example/([^>]+)>", email.message_from_bytes(copy.octets)["List-Unsubscribe"]).group(1)
    sink.purge()
    wrong = link[:-1] + ("a" if link[-1] != "a" else "b")
    assert instance.run("unsubscribe", wrong).returncode == 66 and people.members() == [ANNE, BOB]
    assert ANNE in instance.cli("unsubscribe", link)
    assert people.members() == [BOB]
    assert "left" in people.letter(ANNE)["Subject"]
    assert "nothing was changed" in instance.cli("unsubscribe", link) and people.letters() == []
    assert instance.run("pending", "accept", "7").returncode == 66
    assert instance.run("pending", "accept", "x").returncode == 64


def test_without_the_runner_its_addresses_are_refused_and_not_named(instances, sink):
    instance = instances(sink.port, settings={"runner.command": {"start": "no"}, "runner.bounces": {"start": "no"},
                                              "pipeline": {"verp_delivery_interval": "1",
                                                           "unsubscribe_url": "https://x.example/$token"}}).start()
    address = instance.create_list("test", [ANNE])
    people = People(instance, sink)
    for suffix in ("join", "subscribe", "leave", "unsubscribe", "request", "confirm", "confirm+abc"):
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            people.write(ANNE, f"test-{suffix}")
        assert refused.value.recipients[f"test-{suffix}@{HOST}"][0] == 550
    people.write(BOB, "test-owner")
    people.write(BOB, "test")
    instance.wait_idle()
    copy = next(t for t in sink.transactions() if t.to == [ANNE])
    head = email.message_from_bytes(copy.octets)
    assert not head["List-Subscribe"] and not head["List-Help"] and head["List-Post"] and head["List-Owner"]
    assert "mailto" not in head["List-Unsubscribe"] and "https://x.example/" in head["List-Unsubscribe"]
    instance.set({"runner.command": None})
    instance.cli("reload")
    instance.wait_ready()
    sink.purge()

    def taken():
        try:
            people.write(ANNE, "test-leave")
        except smtplib.SMTPRecipientsRefused:
            return False
        return True
    wait_until(taken, 10, "the address to be taken")
    people.write(BOB, "test")
    instance.wait_idle()
    copy = next(t for t in sink.transactions() if t.to == [ANNE] and b"List-Post" in t.octets)
    assert f"mailto:test-leave@{HOST}" in email.message_from_bytes(copy.octets)["List-Unsubscribe"]


@pytest.mark.parametrize("language", ["de", "fr", "es", "ja", "zh_CN"])
def test_letters_in_other_languages(people, language):
    people.instance.cli("list", "set", f"test@{HOST}", f"preferred_language={language}")
    people.write(ANNE, "test-request", "join", "nonsense\n")
    found = people.letters(ANNE)
    assert len(found) == 2
    asked = next(letter for letter in found if "confirm+" in letter["From"])
    assert "$" not in body(asked) and "Please" not in asked["Subject"]
    people.write(ANNE, sender_of(asked))
    welcome = people.letter(ANNE)
    assert "Welcome" not in welcome["Subject"] and "$" not in body(welcome)
    assert people.members() == [ANNE]


def test_tokens_are_not_in_the_log(people):
    people.write(ANNE, "test-join")
    asked = people.letter(ANNE)
    people.write(ANNE, sender_of(asked))
    people.letters()
    assert people.members() == [ANNE]
    assert token(asked) not in people.instance.log_text()


@pytest.mark.main
def test_letter_that_cannot_be_stored_comes_later(people):
    """The request is recorded, but its letter cannot be written into its queue: it is not forgotten meanwhile."""
    virgin = people.instance.spool / "virgin"
    virgin.mkdir(mode=0o750, exist_ok=True)
    shutil.chown(virgin, people.instance.user)
    virgin.chmod(0o550)
    try:
        people.write(ANNE, "test-join")
        wait_until(lambda: "at an earlier try" in people.instance.log_text(), 20, "a second try")
    finally:
        virgin.chmod(0o750)
    assert token(people.letter(ANNE))


@pytest.mark.main
@pytest.mark.sqlite
def test_failed_cleaning_of_the_outbox_leaves_no_transaction_open(people):
    """Everybody who writes would wait for it, and what the runner commits later would be gone when its process ends."""
    path = people.instance.directory / "lib" / "listrunner.db"

    def change(sql):
        with contextlib.closing(sqlite3.connect(path, timeout=60)) as database:
            database.execute(sql)

    change("CREATE TRIGGER stuck BEFORE DELETE ON outbox BEGIN SELECT RAISE(ABORT, 'stuck'); END")
    people.write(ANNE, "test-join")
    asked = people.letter(ANNE)
    people.write(BOB, "test-join")
    wait_until(lambda: "result=later" in people.instance.log_text(), 10, "the batch to fail")
    change("DROP TRIGGER stuck")
    people.letter(BOB)
    people.write(ANNE, sender_of(asked))
    people.letter(ANNE)
    assert people.members() == [ANNE]


@pytest.mark.main
def test_killed_at_work_nothing_is_lost_or_done_twice(people):
    """kill -9 of the runner again and again while people join and confirm: one letter each, and all are members."""
    names = [f"p{number}@example.org" for number in range(60)]
    client = people.instance.lmtp()

    def storm(messages):
        for number, (sender, to) in enumerate(messages):
            people.write(sender, to, client=client)
            if number % 6 == 5:
                people.instance.kill_runner("command")

    storm([(name, "test-join") for name in names])
    found = people.letters()
    letters = {address: letter for address, letter in found}
    assert sorted(address for address, _ in found) == sorted(names)
    storm([(name, sender_of(letters[name])) for name in names])
    found = people.letters()
    assert sorted(address for address, _ in found) == sorted(names)
    assert people.members() == sorted(names)
    assert people.instance.set_aside() == []
    wait_until(lambda: people.instance.status()["healthy"], 20, "the runner to be back")
    with people.instance.database() as database:
        wait_until(lambda: database.execute("SELECT count(*) FROM outbox").fetchone() == (0,), 20,
                   "no letter to be kept")


def test_through_postfix(instances, until_end):
    """From an MTA and back to one: what a mailbox holds is what a person answers."""
    need(postfix.missing())
    behind = until_end(postfix.behind([ANNE]).start())
    instance = instances(behind.port).start()
    front = until_end(postfix.front(HOST, instance.port).start())
    instance.create_list("test", settings=["send_welcome_message=yes"])
    box = behind.maildirs / ANNE / "new"

    def send(to, octets):
        with smtplib.SMTP("127.0.0.1", front.port, timeout=60) as client:
            client.sendmail(ANNE, [to], octets)

    def letter(subject):
        """The mail in the mailbox whose Subject has that, taken out of it."""
        def look():
            for path in box.iterdir() if box.is_dir() else ():
                found = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
                if subject in found["Subject"]:
                    path.unlink()
                    return found
            return None
        return wait_until(look, 30, lambda: f"'{subject}':\n{behind.log_text()[-2000:]}")

    members = People(instance, None).members
    send(f"test-join@{HOST}", mail(ANNE))
    asked = letter("Please confirm: join")
    send(sender_of(asked), mail(ANNE, f"Re: {asked['Subject']}"))
    letter("Welcome")
    assert members() == [ANNE]
    send(f"test-request@{HOST}", mail(ANNE, "unsubscribe"))
    asked = letter("Please confirm: leave")
    send(f"test-request@{HOST}", mail(ANNE, "Re: hello", f"confirm {token(asked)}\n> quoted\n"))
    letter("left")
    assert members() == []
