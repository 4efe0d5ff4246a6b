# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""DMARC: the policy is asked for in a real DNS, the copies have another From, and a name server that says nothing
stops no other mail."""
import base64
import email
import email.policy
import email.utils
import socket
import subprocess
import threading
import time

import dkim
import pytest

from support.dns import Dns
from support.instance import wait_until
from support.wire import field

MAIL = ("From: Anne Person <anne@{domain}>\r\nTo: {list}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@x>\r\n"
        "\r\nbody\r\n")


@pytest.fixture(scope="module")
def dns():
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


def make(instances, sink, server, timeout="20s"):
    instance = instances(sink.port, settings={"dns": {"servers": server, "timeout": timeout}}).start()
    settings = ["dmarc_mitigate_action=munge_from", "default_nonmember_action=defer"]
    address = instance.create_list("test", members=["bart@example.org"], settings=settings)
    return instance, address


@pytest.mark.main
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


@pytest.mark.main
@pytest.mark.parametrize("action", ["munge_from", "wrap_message"])
def test_no_form_of_from_gets_round_it(instances, sink, dns, action):
    """Python finds nobody but the list in the copies, whatever stood in From."""
    instance, address = make(instances, sink, dns.server)
    instance.cli("list", "set", address, f"dmarc_mitigate_action={action}")
    hidden = ["ceo@reject.test.", "me@plain.test, ceo@reject.test", "me@plain.test\r\nFrom: ceo@reject.test",
              "Board: ceo@reject.test;", "<me@plain.test> <ceo@reject.test>", "ceo@reject.test b",
              "ceo@reject.test <me@plain.test>", '"ceo@reject.test"@plain.test', "=?utf-8?q?ceo=40reject.test?="]
    plain = ["me@plain.test", "Me <me@plain.test>, you@plain.test", "me@plain.test (at home)"]
    for number, value in enumerate(hidden + plain):
        octets = f"From: {value}\r\nTo: {address}\r\nSubject: s{number}\r\nMessage-ID: <{number}@x>\r\n\r\nbody\r\n"
        instance.lmtp_send(octets.encode(), address, sender="me@plain.test")
    instance.wait_idle()
    found = copies(sink)
    assert len(found) == len(hidden + plain)
    for number, value in enumerate(hidden + plain):
        names = email.utils.getaddresses(found[f"s{number}"].get_all("From"))
        kept = [mailbox for _, mailbox in names] != [address]
        assert kept == (value in plain), value


@pytest.mark.main
def test_bans_and_an_unreadable_from(instances, sink, dns):
    """A post that may be by somebody who is banned waits for a person; a list without bans takes it."""
    instance, address = make(instances, sink, dns.server)
    other = instance.create_list("other", members=["cris@example.org"], settings=["default_nonmember_action=accept"])
    instance.cli("ban", "add", "--list", address, "ceo@reject.test")
    for number, value in enumerate(["ceo@reject.test", "ceo@reject.test.", "you@plain.test"]):
        for to in (address, other):
            octets = f"From: {value}\r\nTo: {to}\r\nSubject: {number}\r\nMessage-ID: <{number}@{to}>\r\n\r\nbody\r\n"
            instance.lmtp_send(octets.encode(), to, sender="me@plain.test")
    instance.wait_idle()
    got = {(to, email.message_from_bytes(one.octets)["Subject"].split()[-1])
           for one in sink.transactions() for to in one.to if to in ("bart@example.org", "cris@example.org")}
    assert got == {("bart@example.org", "2"), ("cris@example.org", "0"), ("cris@example.org", "1"),
                   ("cris@example.org", "2")}
    assert "cannot be read with certainty" in instance.cli("held", "ls", address, "--json")


def test_a_silent_server_stops_nobody_else(instances, sink):
    server = Silent()
    instance, address = make(instances, sink, server.server, timeout="60s")
    other = instance.create_list("other", members=["cris@example.org"], settings=["default_nonmember_action=defer"])
    for number in range(5):
        send(instance, address, f"d{number}.example", f"slow{number}")
    for number in range(20):
        send(instance, other, "example.net", f"fast{number}")
    wait_until(lambda: sum(name.startswith("fast") for name in copies(sink)) == 20, 60, "the other list's mail")
    assert len(copies(sink)) == 20, "others wait for the answers"
    server.speak()
    instance.wait_idle(120)
    found = copies(sink)
    assert len(found) == 25 and all("via Test" in str(found[f"slow{number}"]["From"]) for number in range(5))
    server.socket.close()


def test_wait_for_the_dns(instances, sink, dns):
    instance, address = make(instances, sink, "127.0.0.1:1", timeout="1s")
    instance.cli("list", "set", address, "dmarc_without_answer=wait")
    send(instance, address, "reject.test", "waiting")
    wait_until(lambda: "result=waits" in instance.log_text(), 20, "the post that waits")
    assert not sink.transactions() and not instance.idle()
    instance.set({"dns": {"servers": dns.server}})
    instance.cli("reload")

    def came():  # the runner may have it in hand
        instance.run("queue", "edit-due", "--queue", "in", "now")
        return "waiting" in copies(sink)
    wait_until(came, 30, "the copy")
    assert "via Test" in str(copies(sink)["waiting"]["From"])


def test_a_signature_that_holds_keeps_the_author(instances, sinks, tmp_path, until_end):
    """dmarc_keep_signed: what the author's domain signed and nobody changed needs no other From; all else does."""
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-out", key, "-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:1024"],
                   check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], check=True,
                            capture_output=True).stdout
    record = f"v=DKIM1; k=rsa; p={base64.b64encode(public).decode()}"
    line = f's._domainkey IN TXT "{record[:200]}" "{record[200:]}"\n'
    name_server = until_end(Dns({"signed.test": '_dmarc IN TXT "v=DMARC1; p=reject"\n' + line,
                       "strict.test": '_dmarc IN TXT "v=DMARC1; p=reject; adkim=s"\n' + line,
                       "test": "signed IN NS ns\nstrict IN NS ns\n"}).start())
    sink = sinks()
    instance = instances(sink.port, settings={"dns": {"servers": name_server.server, "timeout": "20s"}}).start()
    common = ["dmarc_mitigate_action=munge_from", "default_nonmember_action=defer", "dmarc_keep_signed=yes"]
    plain = instance.create_list("plain", members=["bart@example.org"], settings=[*common, "subject_prefix="])
    prefix = instance.create_list("prefix", members=["bart@example.org"], settings=common)
    footer = instance.create_list("footer", members=["bart@example.org"],
                                  settings=[*common, "subject_prefix=", "msg_footer=the end\n"])
    template = instance.create_list("template", members=["bart@example.org"],
                                    settings=[*common, "subject_prefix="])
    instance.cli("template", "set", "--list", template, "list:member:regular:footer", input="the end\n")
    for address, subject in ((plain, "whole"), (prefix, "prefixed"), (footer, "footed"), (plain, "broken"),
                             (template, "templated"), (plain, "sha1")):
        mail = MAIL.format(domain="signed.test", list=address, subject=subject).encode()
        signature = dkim.sign(mail, b"s", b"signed.test", key.read_bytes(), include_headers=[b"from", b"subject"],
                              signature_algorithm=b"rsa-sha1" if subject == "sha1" else b"rsa-sha256")
        mail = mail.replace(b"body", b"else") if subject == "broken" else mail
        instance.lmtp_send(signature + mail, address, sender="anne@signed.test")
    for domain in ("mail.signed.test", "mail.strict.test", "strict.test"):
        mail = MAIL.format(domain=domain, list=plain, subject=domain).encode()
        signer = domain.removeprefix("mail.").encode()
        mail = dkim.sign(mail, b"s", signer, key.read_bytes(), include_headers=[b"from", b"subject"]) + mail
        instance.lmtp_send(mail, plain, sender=f"anne@{domain}")
    send(instance, plain, "signed.test", "unsigned")
    instance.wait_idle()
    found = copies(sink)
    kept = {subject: "via" not in str(message["From"]) for subject, message in found.items()}
    assert kept == {"whole": True, "prefixed": False, "footed": False, "broken": False, "templated": False,
                    "sha1": False, "unsigned": False, "mail.signed.test": True, "mail.strict.test": False,
                    "strict.test": True}
    octets = next(one.octets for one in sink.transactions() if b"whole" in one.octets)
    assert dkim.verify(octets, dnsfunc=lambda name, timeout=5: record.encode())


class Nonsense:
    """A name server that answers each question as it is told to: with octets made from the question."""

    def __init__(self, make):
        self.make, self.asked = make, 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.server = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                question, peer = self.socket.recvfrom(4096)
                self.asked += 1
                answer = self.make(question)
                if answer:
                    self.socket.sendto(answer, peer)
            except OSError:
                return


def answer(question, records=b"", count=0, code=0):
    end = question.index(b"\0", 12) + 5  # behind the name, its type and class
    return question[:2] + bytes((0x81, 0x80 | code)) + b"\0\1\0" + bytes((count,)) + b"\0\0\0\0" + question[12:end] + \
        records


def txt(text):
    return b"\xc0\x0c\0\x10\0\1\0\0\0\x3c\0" + bytes((len(text) + 1, len(text))) + text


class Silent(Nonsense):
    """Keeps all questions until it is to speak; what it says then is that it failed."""

    def __init__(self):
        self.lock, self.kept = threading.Lock(), []
        super().__init__(None)

    def serve(self):
        while True:
            try:
                question, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            with self.lock:
                if self.kept is None:
                    self.socket.sendto(answer(question, code=2), peer)
                else:
                    self.kept.append((question, peer))

    def speak(self):
        with self.lock:
            for question, peer in self.kept:
                self.socket.sendto(answer(question, code=2), peer)
            self.kept = None


def late(question):
    time.sleep(3)
    return answer(question, txt(b"v=DMARC1; p=reject"), 1)


@pytest.mark.parametrize("make, known", [
    (lambda question: b"garbage", None),
    (lambda question: b"\xff\xff" + answer(question)[2:], None),
    (lambda question: answer(question, txt(b"v=DMARC1; p=reject")[:-5], 1), None),
    (lambda question: answer(question, b"\xc0\xff" + txt(b"x"), 1), None),
    (lambda question: answer(question, code=2), None),
    (lambda question: answer(question, txt(b"\0\xff; v=DMARC1"), 1), False),
    (lambda question: answer(question, code=3), False),
    (late, True),
], ids=["garbage", "wrong id", "cut", "loop", "failure", "no record", "no name", "late"])
def test_nonsense(instances, sink, make, known):
    """An answer that leaves the policy unknown is treated as dmarc_without_answer says; nothing is lost, and nothing
    goes twice."""
    server = Nonsense(make)
    # A late answer comes after the first of three tries: two questions are answered one after the other.
    timeout = "1s" if known is None else "20s"
    instance = instances(sink.port, settings={"dns": {"servers": server.server, "timeout": timeout}}).start()
    for action in ("mitigate", "pass", "wait"):
        address = instance.create_list(action, members=["bart@example.org"], settings=[
            "dmarc_mitigate_action=munge_from", "default_nonmember_action=defer", f"dmarc_without_answer={action}"])
        send(instance, address, "example.net", action)
    expected = {"mitigate": known is not False, "pass": bool(known), "wait": bool(known)}
    if known is None:
        del expected["wait"]
    wait_until(lambda: len(copies(sink)) >= len(expected), 20, "the copies")
    if known is None:
        wait_until(lambda: "result=waits" in instance.log_text(), 20, "the post that waits")
        assert instance.files("in")["in"]
    else:
        instance.wait_idle()
    assert {subject: "via" in str(message["From"]) for subject, message in copies(sink).items()} == expected
    assert len(sink.transactions()) == len(expected) and server.asked and not instance.set_aside()
    server.socket.close()
