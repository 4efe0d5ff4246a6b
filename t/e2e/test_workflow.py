# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Joining, leaving and deciding between two real Postfix, judged by what lies in people's mailboxes: each policy with
each answer, and kill -9 of the runner at each step. One instance serves all."""
import email
import email.policy
import os
import smtplib

import pytest

from support import postfix
from support.instance import HOST, Instance, wait_until

OLGA = "olga@example.net"
POLICIES = ("open", "confirm", "moderate", "confirm_then_moderate")
MODERATED = POLICIES[2:]
CASES = [(policy, answer) for policy in POLICIES for answer in ("silence", "yes", "twice")] + \
        [(policy, answer) for policy in MODERATED for answer in ("accept", "reject", "discard", "defer", "ban")]
PEOPLE = [f"p{number}@example.org" for number in range(len(CASES))]
CROWD = [f"c{number}@example.org" for number in range(12)]

pytestmark = [pytest.mark.skipif(postfix.missing() is not None, reason=str(postfix.missing())),
              pytest.mark.xdist_group("workflow")]


class Place:
    """An instance between two Postfix, and the mailboxes behind."""

    def __init__(self, directory):
        self.behind = postfix.behind([OLGA, *PEOPLE, *CROWD]).start()
        self.instance = Instance(self.behind.port, directory=directory).start()
        self.front = postfix.front(HOST, self.instance.port).start()
        for policy in POLICIES:
            self.instance.create_list(policy.replace("_", "-"), owner=OLGA, settings=[
                f"subscription_policy={policy}", "send_welcome_message=yes", "admin_notify_mchanges=no"])

    def close(self):
        self.front.close()
        self.instance.close()
        self.behind.close()

    def send(self, sender, to, subject="", text=""):
        octets = (f"From: {sender}\r\nTo: {to}\r\nSubject: {subject}\r\nMessage-ID: <{os.urandom(8).hex()}@x>\r\n\r\n"
                  f"{text}\r\n").encode()
        with smtplib.SMTP("127.0.0.1", self.front.port, timeout=60) as client:
            client.sendmail(sender, [to], octets)

    def settle(self):
        """Waits until no mail is on its way."""
        wait_until(lambda: self.front.empty() and not self.instance.under_way() and self.instance.idle() and
                   self.behind.empty(), 60, "all mail to arrive")

    def box(self, address):
        """Return what lies in a mailbox, taken out of it."""
        found = []
        folder = self.behind.maildirs / address / "new"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            found.append(email.message_from_bytes(path.read_bytes(), policy=email.policy.default))
            path.unlink()
        return found

    def members(self, policy):
        return self.instance.cli("member", "ls", f"{policy.replace('_', '-')}@{HOST}", "--names").split()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = Place(tmp_path_factory.mktemp("listrunner"))
    yield made
    made.close()


def back(letter):
    """Where an answer to the letter goes."""
    return (letter["Reply-To"] or letter["From"]).addresses[0].addr_spec


def body(letter):
    return letter.get_body(("plain",)).get_content()


@pytest.fixture(scope="module")
def courses(place):
    """{case: {step: what came}}: all cases go their way side by side, one step after the other."""
    found = {case: {"who": who} for case, who in zip(CASES, PEOPLE)}

    def step(name, mails):
        for case, course in found.items():
            for mail in mails(case, course):
                place.send(*mail)
        place.settle()
        requests = place.box(OLGA)
        for (policy, _), course in found.items():
            course[name] = place.box(course["who"])
            course[f"{name} olga"] = [letter for letter in requests
                                      if course["who"] in letter["Subject"] + body(letter)]
            course[f"{name} member"] = course["who"] in place.members(policy)

    def join(case, course):
        return [(course["who"], f"{case[0].replace('_', '-')}-join@{HOST}")]

    def confirm(case, course):
        times = {"silence": 0, "twice": 2}.get(case[1], 1)
        asked, = course["asked"]
        return [(course["who"], back(asked), f"Re: {asked['Subject']}", "Yes, please.\r\n\r\n> quoted")] * times

    def decide(case, course):
        text = "reject so be it" if case[1] == "reject" else case[1]
        return [(OLGA, back(letter), f"Re: {letter['Subject']}", text) for letter in course["told olga"]
                if case[1] not in ("silence", "yes", "twice")]
    step("asked", join)
    step("told", confirm)
    step("decided", decide)
    step("again", join)
    return found


@pytest.mark.parametrize("policy, answer", CASES)
def test_each_policy_and_each_answer(courses, policy, answer):
    """A new address is asked in any case; then the policy decides whom else."""
    course = courses[policy, answer]
    told = {letter["Subject"].split()[0]: body(letter) for letter in course["told"]}
    again = "".join(body(letter) for letter in course["again"])
    assert not course["asked member"] and course["asked olga"] == []
    if answer == "silence":
        assert not course["again member"] and told == {} and again == ""  # one letter a day
        return
    if policy not in MODERATED:
        assert course["told member"] and "Welcome" in told and course["told olga"] == []
        assert len(course["told"]) == (2 if answer == "twice" else 1)
        assert answer != "twice" or "used already" in told["Your"]
        assert "on the list already" in again
        return
    assert not course["told member"] and len(course["told olga"]) == 1
    assert any("waits for a moderator" in body(letter) for letter in course["told"])
    if answer in ("yes", "twice"):
        assert not course["again member"]
        return
    assert len(course["decided olga"]) == 1 and course["decided member"] == (answer == "accept")
    assert len(course["decided"]) == (answer in ("accept", "reject"))
    assert answer != "reject" or "so be it" in body(course["decided"][0])
    assert {"accept": "on the list already", "ban": "may not join"}.get(answer, "") in again
    assert answer != "defer" or again == ""


def test_killed_at_each_step(place):
    """kill -9 of the runner while people join, confirm, are decided about and leave: nobody is joined twice, and each
    letter comes, once."""
    policy, name = "confirm_then_moderate", "confirm-then-moderate"

    def storm(mails):
        for number, mail in enumerate(mails):
            place.send(*mail)
            if number % 3 == 2:
                place.instance.kill_runner("command")
        place.settle()

    def one_each(word):
        """The letter of each person; all have the word in the Subject. What sends mail was never killed."""
        boxes = {who: place.box(who) for who in CROWD}
        for who, found in boxes.items():
            assert len(found) == 1 and word in found[0]["Subject"], (who, [letter["Subject"] for letter in found])
        return {who: found[0] for who, found in boxes.items()}

    storm([(who, f"{name}-join@{HOST}") for who in CROWD])
    asked = one_each("confirm")
    storm([(who, back(asked[who]), "Re: yes") for who in CROWD])
    one_each("Your request")
    requests = place.box(OLGA)
    assert sorted(who for who in CROWD for letter in requests if f" {who} " in letter["Subject"]) == sorted(CROWD)
    storm([(OLGA, back(letter), "Re: it", "accept") for letter in requests])
    one_each("Welcome")
    assert len(place.box(OLGA)) == len(CROWD)
    assert sorted(set(place.members(policy)) & set(CROWD)) == sorted(CROWD)
    place.instance.cli("list", "set", f"{name}@{HOST}", "unsubscription_policy=confirm")
    storm([(who, f"{name}-leave@{HOST}") for who in CROWD])
    asked = one_each("confirm")
    storm([(who, back(asked[who]), "Re: yes") for who in CROWD])
    one_each("left")
    assert not set(place.members(policy)) & set(CROWD) and place.instance.set_aside() == []
    wait_until(lambda: place.instance.status()["healthy"], 20, "the runner to be back")
