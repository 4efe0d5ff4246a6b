# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""DMARC: the policy is asked for in a real DNS, the copies have another From, and a name server that says nothing
stops no other mail."""
import email
import email.policy
import socket
import time

import pytest

from support.dns import Dns
from support.instance import wait_until
from support.wire import field

MAIL = ("From: Anne Person <anne@{domain}>\r\nTo: {list}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@x>\r\n"
        "\r\nbody\r\n")


@pytest.fixture(scope="module")
def dns():
    # nsd has no TLD of these, so nothing stands above their zones.
    it = Dns({"reject.test": '_dmarc IN TXT "v=DMARC1; p=reject; sp=none"\n',
              "quarantine.test": '_dmarc IN TXT "v=DM" "ARC1; p=quarantine"\n',
              "plain.test": '@ IN TXT "v=spf1 -all"\n',
              "test": "reject IN NS ns\n"}, broken=["broken.test"]).start()
    yield it
    it.stop()


def send(instance, address, domain, subject):
    octets = MAIL.format(domain=domain, list=address, subject=subject).encode()
    instance.lmtp_send(octets, address, sender=f"anne@{domain}")


def copies(sink):
    """Subject -> From and Reply-To of the copy."""
    found = {}
    for transaction in sink.transactions():
        message = email.message_from_bytes(transaction.octets, policy=email.policy.default)
        assert not message.defects
        found[message["Subject"].split()[-1]] = message
    return found


def make(instances, sink, server, timeout="2s"):
    instance = instances(sink.port, settings={"dns": {"servers": server, "timeout": timeout}}).start()
    settings = ["dmarc_mitigate_action=munge_from", "default_nonmember_action=defer"]
    address = instance.create_list("test", members=["bart@example.org"], settings=settings)
    return instance, address


def test_only_whom_the_policy_demands(instances, sink, dns):
    instance, address = make(instances, sink, dns.server)
    domains = {"reject.test": True, "quarantine.test": True, "plain.test": False, "here.reject.test": False,
               "broken.test": True}
    for number, domain in enumerate(domains):
        send(instance, address, domain, f"s{number}")
    instance.wait_idle()
    found = copies(sink)
    for number, (domain, munged) in enumerate(domains.items()):
        message = found[f"s{number}"]
        author = f"Anne Person <anne@{domain}>"
        assert str(message["From"]) == (f"Anne Person via Test <{address}>" if munged else author), domain
        assert message["Reply-To"] == (author if munged else None), domain
    assert "dmarc=unknown" in instance.log_text()
    # The archive keeps the author.
    kept = [path.read_bytes() for path in instance.directory.rglob("*") if "archive" in str(path) and path.is_file()]
    assert all(b"via Test" not in field(octets, "From").encode() for octets in kept if field(octets, "From"))


def test_a_silent_server_stops_nobody_else(instances, sink):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        instance, address = make(instances, sink, f"127.0.0.1:{silent.getsockname()[1]}", timeout="4s")
        other = instance.create_list("other", members=["cris@example.org"],
                                     settings=["default_nonmember_action=defer"])
        begun = time.monotonic()
        for number in range(5):
            send(instance, address, f"d{number}.example", f"slow{number}")
        for number in range(20):
            send(instance, other, "example.net", f"fast{number}")
        wait_until(lambda: sum(name.startswith("fast") for name in copies(sink)) == 20, 4, "the other list's mail")
        assert time.monotonic() - begun < 4
        instance.wait_idle()
        found = copies(sink)
        assert len(found) == 25 and all("via Test" in str(found[f"slow{number}"]["From"]) for number in range(5))


def test_wait_for_the_dns(instances, sink, dns):
    instance, address = make(instances, sink, "127.0.0.1:1", timeout="1s")
    instance.cli("list", "set", address, "dmarc_without_answer=wait")
    send(instance, address, "reject.test", "waiting")
    wait_until(lambda: "result=waits" in instance.log_text(), 20, "the post that waits")
    assert not sink.transactions() and not instance.idle()
    instance.set({"dns": {"servers": dns.server}})
    instance.cli("reload")
    instance.cli("queue", "edit-due", "--queue", "in", "now")
    wait_until(lambda: "waiting" in copies(sink), 30, "the copy")
    assert "via Test" in str(copies(sink)["waiting"]["From"])
