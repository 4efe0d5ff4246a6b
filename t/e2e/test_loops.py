# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail that comes back: lists that are each other's members and owners, by their addresses and by addresses outside
that are forwarded to them. The test forwards what a list sends to such an address, as the hosts outside would."""
import email
import email.policy
from collections import Counter

import pytest

from support.instance import HOST

LISTS = 20
OUTSIDE = "outside.example"
MARK = "Listrunner-Loop"


def address(number, suffix=""):
    return f"l{number % LISTS}{suffix}@{HOST}"


class World:
    """An instance and the hosts around it."""

    def __init__(self, instance, sink):
        self.instance, self.sink = instance, sink
        self.forwards = {}  # address outside: address of a list
        self.got = []  # (recipient, message) of all that left

    def alias(self, name, target):
        """An address outside that leads to a list."""
        self.forwards[f"{name}@{OUTSIDE}"] = target
        return f"{name}@{OUTSIDE}"

    def target(self, recipient):
        target = self.forwards.get(recipient, recipient)
        return target if target.endswith(f"@{HOST}") else None

    def send(self, to, text, sender="anne@example.net"):
        self.instance.lmtp_send(text.replace("\n", "\r\n").encode(), to, sender=sender)

    def rest(self, rounds, change=None):
        """Forward all that comes until nothing does any more; how many rounds it took."""
        for number in range(rounds):
            self.instance.wait_idle()
            came = self.sink.transactions()
            self.sink.purge()
            if not came:
                return number
            with self.instance.lmtp() as client:
                for one in came:
                    message = email.message_from_bytes(one.octets, policy=email.policy.compat32)
                    self.got += [(to, message) for to in one.to]
                    octets = change(one.octets) if change else one.octets
                    for back in filter(None, map(self.target, one.to)):  # smtplib reads one reply a transaction
                        self.instance.lmtp_send(octets, back, one.sender, client=client)
        raise AssertionError(f"{len(self.got)} mails left, and there are more after {rounds} rounds")


@pytest.fixture
def world(instances, sink):
    instance = instances(sink.port)
    # A chain and a pipeline of the site's own that know nothing of loops, and drop what they can.
    instance.set({"chain.open": {"rules": "truth:accept"},
                  "pipeline.bare": {"handlers": "member-recipients cleanse to-outgoing"},
                  "digest": {}, "site": {"max_autoresponses_per_day": "0", "held_notice_interval": "0s"}})
    instance.start()
    instance.create_store()
    return World(instance, sink)


POST = "From: anne@example.net\nTo: {0}\nSubject: once\nMessage-ID: <first@example.net>\n\nHello\n"


def make_list(world, i):
    """A list with two others as members, by their addresses, and ways to itself and others by addresses outside."""
    instance = world.instance
    settings = ["subject_prefix=", "digest_post_threshold=1", "digests_enabled=yes"]
    for every, at, more in ((3, 0, ["anonymous_list=yes"]), (7, 6, ["default_nonmember_action=hold"]),
                            (8, 3, ["posting_chain=open"]), (8, 5, ["posting_pipeline=bare"]),
                            (5, 0, ["autorespond_postings=respond_and_continue",
                                    "autorespond_owner=respond_and_continue"]),
                            (6, 1, ["dmarc_mitigate_action=wrap_message", "dmarc_mitigate_unconditionally=yes"])):
        settings += more if i % every == at else []
    other = address(i + 4, ("-owner", "+x", "-request", "-bounces")[i % 4])
    instance.create_list(f"l{i}", settings=settings, members=[
        f"human{i}@people.example", address(i + 1), address(i + 7),
        world.alias(f"self{i}", address(i, "+1")), world.alias(f"other{i}", other)])
    instance.cli("member", "add", address(i), "--role=owner",
                 world.alias(f"owner{i}", address(i + 1, "-owner") if i % 2 else address(i + 6)))
    if i % 4 == 0:
        digest = world.alias(f"digest{i}", address(i + 2, "+d"))
        instance.cli("member", "add", address(i), digest)
        instance.cli("member", "set", "--delivery-mode=mime_digests", address(i), digest)


def test_twenty_lists_that_lead_to_each_other(world):
    """How many mails leave, at most, for N lists: each takes the mail once for its members and once for its owners. Of
    each of these it makes at most a digest and two letters (it is held, it is answered), and each list takes each of
    those in the same two ways. Whatever is made of those is taken in these two ways once. Of each that is taken, 6
    copies, a digest and two letters leave. There are at most 10 places in a row."""
    for i in range(LISTS):
        make_list(world, i)
    world.send(address(0), POST.format(address(0)))
    rounds = world.rest(12)
    made = 2 * LISTS * 3
    taken = 2 * LISTS * (1 + made + 1)
    assert len(world.got) <= taken * (6 + 1 + 2) and rounds <= 11
    got = Counter(to for to, message in world.got if message["Subject"] == "once" and to.endswith("people.example"))
    assert set(got.values()) == {1} and len(got) > LISTS // 2
    assert all(message[MARK] for _, message in world.got)
    assert world.instance.files("shunt") == {"shunt": []}
