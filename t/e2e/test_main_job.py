# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""What the runners in, pipeline and out do for a discussion list, each item of it seen from outside."""
import base64
import hashlib
import smtplib
import time

import pytest

from support.instance import HOST, wait_until
from support.post import post
from support.wire import field, fields, message_id

MEMBERS = [f"m{i}@members.example.org" for i in range(5)]


def delivered(instance, sink):
    instance.wait_idle()
    return sink.transactions()


def test_unknown_list_is_refused_at_rcpt(instance):
    instance.create_list("test", MEMBERS)
    client = instance.lmtp()
    client.ehlo()
    assert client.mail("poster@example.net")[0] == 250
    assert client.rcpt(f"nobody@{HOST}")[0] == 550
    assert client.rcpt("test@other.example.com")[0] == 550
    assert client.rcpt(f"test@{HOST}")[0] == 250
    client.close()


def test_members_get_a_copy_with_the_lists_header(instance, sink):
    address = instance.create_list("test", MEMBERS, settings=["subject_prefix=[Test] ", "display_name=Test",
                                                              "description=A test"])
    octets = post(subject="Weather", to=address)
    instance.lmtp_send(octets, address)
    copies = delivered(instance, sink)
    assert sorted(to for copy in copies for to in copy.to) == sorted(MEMBERS)
    assert len(copies) == 1, "five recipients of one relay belong into one transaction"
    copy = copies[0]
    assert copy.sender == f"test-bounces@{HOST}"
    assert field(copy.octets, "Subject") == "[Test] Weather"
    assert field(copy.octets, "List-Id").endswith(f"<test.{HOST}>")
    assert field(copy.octets, "List-Post") == f"<mailto:test@{HOST}>"
    assert f"mailto:test-request@{HOST}" in field(copy.octets, "List-Help")
    assert f"<mailto:test-join@{HOST}>" in field(copy.octets, "List-Subscribe")
    assert f"<mailto:test-leave@{HOST}>" in field(copy.octets, "List-Unsubscribe")
    assert f"<mailto:test-owner@{HOST}>" in field(copy.octets, "List-Owner")
    assert field(copy.octets, "Precedence") == "list"
    hashed = base64.b32encode(hashlib.sha1(message_id(octets).strip("<>").encode()).digest()).decode()
    assert fields(copy.octets, "Archived-At") == [f"<https://lists.example.com/archive/test.{HOST}/{hashed}>"]


def test_list_archive_names_the_archive(instances, sink):
    archive = {"list_url": "https://lists.example.com/archive/$list_id/"}
    instance = instances(sink.port, settings={"archiver.mbox": archive}).start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(), address)
    value = field(delivered(instance, sink)[0].octets, "List-Archive")
    assert value == f"<https://lists.example.com/archive/test.{HOST}/>"


def test_prefix_is_not_repeated_in_an_answer(instance, sink):
    address = instance.create_list("test", MEMBERS, settings=["subject_prefix=[Test] "])
    instance.lmtp_send(post(subject="Re: [Test] Weather"), address)
    assert field(delivered(instance, sink)[0].octets, "Subject").count("[Test]") == 1


def test_own_copy_is_left_out_where_the_member_says_so(instance, sink):
    address = instance.create_list("test", MEMBERS)
    instance.cli("member", "set", address, MEMBERS[1], "--receive-own-postings", "no")
    for sender in MEMBERS[:2]:
        instance.lmtp_send(post(sender=sender, message_id=f"<by-{sender}>"), address, sender=sender)
    delivered(instance, sink)
    copies = sink.copies()
    assert {to for name, to in copies if name == f"<by-{MEMBERS[0]}>"} == set(MEMBERS)
    assert {to for name, to in copies if name == f"<by-{MEMBERS[1]}>"} == set(MEMBERS) - {MEMBERS[1]}


def test_loop_is_stopped(instance, sink):
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<once@example.net>"), address)
    copy = delivered(instance, sink)[0]
    came_back = copy.octets.replace(b"<once@example.net>", b"<renamed@example.net>")
    instance.lmtp_send(came_back, address)
    delivered(instance, sink)
    assert {name for name, to in sink.copies() if to in MEMBERS} == {"<once@example.net>"}


def test_duplicate_is_stopped_on_its_list_only(instance, sink):
    one = instance.create_list("one", MEMBERS)
    two = instance.create_list("two", ["other@members.example.org"])
    octets = post(message_id="<twice@example.net>")
    for address in (one, one, two):
        instance.lmtp_send(octets, address)
        instance.wait_idle()
    assert sink.copies() == {("<twice@example.net>", to): 1 for to in [*MEMBERS, "other@members.example.org"]}


def test_nonmember_is_held_rejected_or_dropped_as_the_list_says(instance, sink):
    lists = {}
    for action in ("hold", "reject", "discard", "accept"):
        lists[action] = instance.create_list(action, MEMBERS, settings=[f"default_nonmember_action={action}"])
        instance.lmtp_send(post(message_id=f"<{action}@example.net>", to=lists[action]), lists[action])
    delivered(instance, sink)
    to_members = {name for name, to in sink.copies() if to in MEMBERS}
    assert to_members == {"<accept@example.net>"}
    held = instance.cli("held", "ls", "--json")
    assert held.count(f"hold.{HOST}") + held.count(lists["hold"]) >= 1 and len(held.splitlines()) == 1
    notices = [t for t in sink.transactions() if "poster@example.net" in t.to]
    assert any("reject" in (field(t.octets, "From") or "") + (field(t.octets, "Subject") or "") for t in notices), \
        [fields(t.octets) for t in notices]
    assert all(t.sender == "" or t.sender.startswith(("hold-", "reject-")) for t in notices)
    assert not any(field(t.octets, "From") and "discard" in field(t.octets, "From") for t in notices)


def test_null_sender_is_never_answered(instance, sink):
    address = instance.create_list("test", MEMBERS, settings=["default_nonmember_action=reject"])
    instance.lmtp_send(post(sender="mailer-daemon@example.net"), address, sender="")
    delivered(instance, sink)
    assert [t.to for t in sink.transactions()] == []


def test_owner_mail_reaches_the_owners(instance, sink):
    instance.create_list("test", MEMBERS, owner="owner@example.org")
    instance.lmtp_send(post(message_id="<ask@example.net>"), f"test-owner@{HOST}")
    delivered(instance, sink)
    assert sink.copies() == {("<ask@example.net>", "owner@example.org"): 1}


def test_one_transaction_for_two_lists(instance, sink):
    one, two = (instance.create_list(name, [f"{name}@members.example.org"]) for name in ("one", "two"))
    instance.lmtp_send(post(message_id="<both@example.net>"), [one, two])
    delivered(instance, sink)
    assert sink.copies() == {("<both@example.net>", f"{name}@members.example.org"): 1 for name in ("one", "two")}


def test_temporary_refusal_is_retried_and_permanent_becomes_a_bounce_entry(instances, sinks):
    sink = sinks(faults=["rcpt match=^m1@ times=2 do 450 4.2.1 busy", "rcpt match=^m2@ do 550 5.1.1 gone"])
    instance = instances(sink.port, settings={"out": {"minimal_backoff_time": "1s",
                                                      "maximal_backoff_time": "1s"}}).start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<hard@example.net>"), address)
    wait_until(lambda: instance.files("retry")["retry"], 20, "an entry in retry", step=0.01)
    delivered(instance, sink)
    wanted = [to for to in MEMBERS if to != "m2@members.example.org"]
    assert sink.copies() == {("<hard@example.net>", to): 1 for to in wanted}
    shown = instance.cli("bounce", "show", "m2@members.example.org")
    assert "5.1.1" in shown
    assert "m1@members.example.org" not in instance.cli("bounce", "ls", address)


def test_relay_away_and_back(instances, sinks):
    first = sinks()
    first.stop()
    instance = instances(first.port, settings={"out": {"minimal_backoff_time": "1s",
                                                       "maximal_backoff_time": "1s"}}).start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<later@example.net>"), address)
    wait_until(lambda: instance.files("retry")["retry"], 20, "an entry in retry", step=0.01)
    second = sinks(port=first.port)
    delivered(instance, second)
    assert second.copies() == {("<later@example.net>", to): 1 for to in MEMBERS}


def test_every_message_answered_for_itself(instance):
    """LMTP gives one reply a recipient: the known list's mail is taken though the other recipient is refused."""
    address = instance.create_list("test", MEMBERS)
    refused = instance.lmtp_send(post(), [address, f"nobody@{HOST}"])
    assert list(refused) == [f"nobody@{HOST}"] and refused[f"nobody@{HOST}"][0] == 550
    with pytest.raises(smtplib.SMTPRecipientsRefused):
        instance.lmtp_send(post(), f"nobody@{HOST}")


def test_idle_latency(instance, sink):
    """Nobody waits on a clock: three hops in less time than any poll interval."""
    address = instance.create_list("test", MEMBERS)
    took = []
    for _ in range(5):
        before = time.time()
        octets = post()
        instance.lmtp_send(octets, address)
        wait_until(lambda: any(t.message_id == message_id(octets) for t in sink.transactions()), 10, "the copy",
                   step=0.005)
        took.append(sink.transactions()[-1].time - before)
    assert sorted(took)[2] < 0.5, took
