# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A person's life on a list, from invitation to removal, with a real Postfix on both sides and real mailboxes."""
import email
import email.policy
import json
import os
import smtplib
from datetime import datetime, timezone

import pytest

from support import postfix
from support.clock import DAY, now
from support.instance import HOST, need, wait_until

pytestmark = pytest.mark.main

ANNE, NEW, BOB, OLGA = "anne@people.example", "anne@new.example", "bob@people.example", "olga@people.example"
LIST = f"test@{HOST}"
# Each mail goes through a session of its own, which meets what Postfix behind refuses now.
SETTINGS = {"transport.relay": {"connection_idle": "0"},
            "site": {"held_notice_interval": "0", "max_autoresponses_per_day": "0"},
            "bounces": {"check_interval": "100ms", "probes": "no"}}
WISHES = ["subscription_policy=moderate", "send_welcome_message=yes", "topics_enabled=yes", "subject_prefix=",
          "topics=New cars: car,boats: boat", "bounce_score_threshold=1", "bounce_you_are_disabled_warnings=1",
          "digest_size_threshold=0"]


def body(letter):
    return letter.get_body(("plain",)).get_content()


class World:
    """Postfix in front, Listrunner, and a Postfix behind with a mailbox for each person."""

    def __init__(self, instances, clock):
        self.clock, self.read = clock, {}
        self.behind = postfix.behind([ANNE, NEW, BOB, OLGA])
        self.instance = instances(self.behind.port, settings=SETTINGS)
        self.front = postfix.front(HOST, self.instance.port)
        self.refuse()
        (self.behind.config / "transport").write_text(f"{HOST} smtp:[127.0.0.1]:{self.front.port}\n")
        with open(self.behind.config / "main.cf", "a") as main:
            main.write(f"smtpd_recipient_restrictions = check_recipient_access texthash:{self.behind.config}/access, "
                       f"permit_mynetworks, reject\ntransport_maps = texthash:{self.behind.config}/transport\n"
                       "max_use = 1\n")  # each session is a new process, which reads the tables anew

    def refuse(self, *addresses):
        (self.behind.config / "access").write_text("".join(f"{one} 550 5.1.1 User unknown\n" for one in addresses))

    def day(self, number):
        """Moves the clock to that day; returns it as vacations name it."""
        self.clock.days(number)
        return self.date(number)

    def date(self, number):
        return datetime.fromtimestamp(now() + self.clock.first + number * DAY, timezone.utc).strftime("%Y-%m-%d")

    def write(self, sender, to, subject="hello", text="Hi"):
        octets = (f"From: {sender}\r\nTo: {to}\r\nSubject: {subject}\r\nMessage-ID: <{os.urandom(8).hex()}@x.example>"
                  f"\r\n\r\n{text}\r\n").encode()
        with smtplib.SMTP("127.0.0.1", self.front.port, timeout=60) as client:
            client.sendmail(sender, [to], octets)

    def post(self, sender, subject):
        self.write(sender, LIST, subject)

    def ask(self, sender, text):
        self.write(sender, f"test-request@{HOST}", "", text)

    def new(self, who):
        box = self.behind.maildirs / who / "new"
        return sorted((path for path in box.glob("*") if path not in self.read.setdefault(who, set())),
                      key=lambda path: path.stat().st_mtime_ns)

    def mail(self, who):
        """The next mail in somebody's box: each is read, in order, so none may come that is not expected."""
        path = wait_until(lambda: self.new(who), 20, lambda: f"mail for {who}\n{self.instance.log_text()[-3000:]}")[0]
        self.read[who].add(path)
        return email.message_from_bytes(path.read_bytes(), policy=email.policy.default)

    def expect(self, who, subject):
        mail = self.mail(who)
        assert subject in mail["Subject"], (who, mail["Subject"], subject)
        return mail

    def answer(self, letter, sender, text=""):
        to = (letter["Reply-To"] or letter["From"]).addresses[0].addr_spec
        self.write(sender, to, f"Re: {letter['Subject']}", text)

    def asked(self, who, text):
        """Sends a command; the letter that asks to confirm it, which is the only answer."""
        self.ask(who, text)
        letter = self.mail(who)
        assert "confirm" in letter["Subject"]
        return letter

    def settings(self, who, text):
        """Sets something by mail, and confirms it."""
        self.answer(self.asked(who, f"set {text}"), who)
        assert "Your settings were changed." in body(self.mail(who))

    def nothing_more(self):
        def quiet():
            return self.front.empty() and self.behind.empty() and self.instance.idle()
        wait_until(lambda: quiet() and quiet(), 60, lambda: f"quiet\n{self.instance.log_text()[-3000:]}")
        left = {who: [path.read_text()[:2000] for path in self.new(who)] for who in (ANNE, NEW, BOB, OLGA)}
        assert not any(left.values()), left
        assert not self.instance.set_aside()

    def status(self, who):
        rows = map(json.loads, self.instance.cli("member", "ls", LIST, "--json").splitlines())
        return {row["address"]: row["delivery_status"] for row in rows}.get(who)

    def close(self):
        self.front.close()
        self.behind.close()


@pytest.fixture
def world(clock, instances, until_end):
    need(postfix.missing())
    made = until_end(World(instances, clock))
    made.behind.start()
    made.front.start()
    made.instance.start()
    clock.begin_day()  # vacations and bounces go by days
    made.instance.create_list("test", [BOB], owner=OLGA, settings=WISHES)
    yield made


def invited(world):
    world.instance.cli("member", "invite", LIST, f"Anne <{ANNE}>")
    world.answer(world.expect(ANNE, "invite"), ANNE, "Gern!")
    world.expect(ANNE, "Welcome")  # no moderator was asked, in spite of the policy


def posts_and_reads(world):
    world.post(ANNE, "first words")
    for who in (ANNE, BOB):
        world.expect(who, "first words")
    world.settings(ANNE, "digest mime")
    world.post(BOB, "in the digest")
    world.expect(BOB, "in the digest")
    world.instance.wait_idle()
    world.instance.cli("digest", "send", LIST)
    assert "in the digest" in world.expect(ANNE, "Digest").as_string()
    world.settings(ANNE, "digest off")


def chooses_topics(world):
    world.ask(ANNE, "set topics trains")
    answered = body(world.mail(ANNE))
    assert '"trains"' in answered and 'there are: "New cars",boats' in answered
    world.settings(ANNE, "topics \u201cnew cars\u201d")
    world.ask(ANNE, "set")
    assert 'topics "New cars"' in body(world.mail(ANNE))
    known, = json.loads(world.instance.cli("user", "export", ANNE))["memberships"]
    assert known["topics"] == {"names": ["New cars"], "nonmatching": False}
    for subject, comes in (("a boat", False), ("a car", True), ("weather", False)):
        world.post(BOB, subject)
        for who in (BOB, *([ANNE] if comes else [])):
            world.expect(who, subject)
    world.settings(ANNE, "nonmatching on")
    world.post(BOB, "more weather")
    for who in (ANNE, BOB):
        world.expect(who, "more weather")
    world.settings(ANNE, "topics all")


def is_away(world):
    world.settings(ANNE, f"vacation {world.date(2)}..{world.date(4)}")
    shown = json.loads(world.instance.cli("member", "show", LIST, ANNE, "--json"))
    assert shown["vacation_begins"] == f"{world.date(2)}T00:00:00Z" and shown["delivery_status"] == "enabled"
    for number, here in ((1, True), (3, False), (5, True)):
        world.day(number)
        world.instance.run_job("vacations")
        world.post(BOB, f"day {number}")
        for who in (BOB, *([ANNE] if here else [])):
            world.expect(who, f"day {number}")


def changes_the_address(world):
    world.answer(world.asked(ANNE, f"change {NEW}"), ANNE, "confirm")
    assert "new address" in body(world.mail(ANNE))
    world.answer(world.expect(NEW, "confirm"), NEW, "confirm")
    assert NEW in body(world.mail(NEW))
    assert (world.status(ANNE), world.status(NEW)) == (None, "enabled")


def is_moderated(world):
    world.instance.cli("member", "set", LIST, NEW, "--moderation=hold")
    world.post(NEW, "a long speech")
    world.expect(NEW, "waiting for approval")
    world.answer(world.expect(OLGA, "requires approval"), OLGA, "allow")
    assert "goes to the list" in body(world.mail(OLGA))
    for who in (NEW, BOB):
        world.expect(who, "a long speech")
    world.post(NEW, "a free word")
    for who in (NEW, BOB):
        world.expect(who, "a free word")


def bounces(world, subject):
    """Until nothing is sent to the person any more."""
    world.refuse(NEW)
    world.post(BOB, subject)
    world.expect(BOB, subject)
    world.expect(OLGA, f"{NEW} gets no more mail")
    wait_until(lambda: world.status(NEW) == "by_bounces", 20, "delivery to be disabled")


def comes_back(world):
    bounces(world, "lost")
    world.instance.wait_idle()  # the warning was refused, too
    world.refuse()
    world.settings(NEW, "delivery on")
    assert world.status(NEW) == "enabled"
    world.post(BOB, "found")
    for who in (NEW, BOB):
        world.expect(who, "found")


def leaves_and_rejoins(world):
    world.write(NEW, f"test-leave@{HOST}")
    world.answer(world.expect(NEW, "confirm"), NEW)
    world.expect(NEW, "You have left")
    world.post(BOB, "without her")
    world.expect(BOB, "without her")
    world.write(NEW, f"test-join@{HOST}")
    assert "waits for a moderator" in body(world.mail(NEW))
    world.answer(world.expect(OLGA, "wants to join"), OLGA, "accept")
    assert "accepted" in body(world.mail(OLGA))
    world.expect(NEW, "Welcome")


def is_removed(world):
    world.day(6)  # two bounces of one day count once
    bounces(world, "lost again")
    wait_until(lambda: world.instance.log_text().count("warnings=1 result=warned") == 2, 20, "the second warning")
    world.day(30)
    assert "removed" in world.expect(OLGA, f"{NEW} was removed")["Subject"]
    assert world.status(NEW) is None
    log = world.instance.log_text()
    assert f"address=<{NEW}> warnings=1 result=removed" in log
    world.nothing_more()
    def refused():
        return world.behind.log_text().count(f"<{NEW}>: Recipient address rejected")
    wait_until(lambda: refused() >= 4, 20, "Postfix to log what it refused")
    assert refused() == 4, "two posts and two warnings; no goodbye goes to an address that does not work"


def test_life(world):
    """Invited, joins, posts, digests, topics, away, another address, moderated, bounces and comes back, leaves, joins
    again, is removed. Each mail that arrives is expected; at the end no other has."""
    invited(world)
    posts_and_reads(world)
    chooses_topics(world)
    is_away(world)
    changes_the_address(world)
    is_moderated(world)
    comes_back(world)
    leaves_and_rejoins(world)
    is_removed(world)
    known = json.loads(world.instance.cli("user", "export", NEW))
    assert [one["address"] for one in known["addresses"]] == [NEW] and known["memberships"] == []
    for address in (NEW, ANNE):  # the address before the change is nobody's since
        world.instance.cli("user", "forget", address, "--yes")
    assert world.instance.run("user", "export", ANNE).returncode == 66
