# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Any address that can be a member can post, gets mail, and is counted when mail for it comes back."""
from support.instance import HOST
from support.post import post
from support.wire import split
from test_bounces import SOON, report, standing

ODD = ["foo..bar@docomo.example", "foo.@ezweb.example", ".foo@docomo.example", '"a b"@example.org',
       "a@[192.0.2.1]", "user@localhost"]
QUOTED = {"foo..bar@docomo.example": '"foo..bar"@docomo.example', "foo.@ezweb.example": '"foo."@ezweb.example'}


def log_ends(instance, before):
    return [line for line in instance.log_text()[before:].splitlines() if "result=" in line]


def test_odd_addresses(instances, sink):
    instance = instances(sink.port, settings=SOON).start()
    address = instance.create_list("test", ODD, settings=["default_nonmember_action=discard"])
    listed = instance.cli("member", "ls", address, "--names").splitlines()
    assert sorted(listed) == sorted(ODD)
    for number, member in enumerate(ODD):
        sender = QUOTED.get(member, member)  # as servers and mail programs write it that keep to RFC 5321
        instance.lmtp_send(post(sender=sender, subject=f"Post {number}", to=address), address, sender=sender)
    instance.wait_idle()
    for number in range(len(ODD)):
        copies = [copy for copy in sink.transactions() if f" Post {number}\r\n".encode() in copy.octets]
        assert sorted(to for copy in copies for to in copy.to) == sorted(ODD)
    # Of one reply for all nobody would be charged.
    for member, word in zip(ODD, ("one", "two", "three", "four", "five", "six")):
        before = len(instance.log_text())
        instance.lmtp_send(report(QUOTED.get(member, member), text=f"smtp; 550 5.1.1 user unknown {word}"),
                           f"test-bounces@{HOST}", sender="")
        instance.wait_idle()
        ends = log_ends(instance, before)
        assert any("result=scored" in line for line in ends), (member, ends)
    assert standing(instance, address) == {member: (1, "enabled") for member in ODD}


def test_broken_header(instances, sink):
    """A line that is no field ends the header; on an anonymous list a person looks at what stands below."""
    instance = instances(sink.port).start()
    address = instance.create_list("test", ["anne@example.org"])
    octets = (b"From: anne@example.org\r\nTo: " + address.encode() + b"\r\nSubject: x\r\n"
              b"Message-ID: <1@example.org>\r\nno field\r\nFrom: secret@example.net\r\n"
              b"Message-ID: <2@example.net>\r\n\r\nbody\r\n")
    instance.lmtp_send(octets, address, sender="anne@example.org")
    instance.wait_idle()
    copy, = sink.transactions()
    assert copy.octets.endswith(octets[octets.index(b"no field"):])
    assert b"\r\nList-Id: " in copy.octets[:copy.octets.index(b"no field")]
    assert split(copy.octets)[1] == b"body\r\n"
    instance.cli("list", "set", address, "anonymous_list=yes")
    instance.lmtp_send(octets.replace(b"<1@", b"<3@"), address, sender="anne@example.org")
    instance.wait_idle()
    assert not [copy for copy in sink.transactions()[1:] if "anne@example.org" in copy.to and b"body" in copy.octets
                and copy.sender == f"test-bounces@{HOST}"]
    held = instance.rows("held", "ls", address)
    assert [row["reason"] for row in held if "header" in row["reason"]]
