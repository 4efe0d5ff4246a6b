# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Servers of others as receivers, with TLS: Postfix (SMTP, BDAT, SCRAM), Dovecot (LMTP by TCP and by a socket) and exim
(SMTP, with and without BDAT). Real mail arrives in their maildirs as it was sent."""
import json
import os
import re
from collections import Counter

import pytest

from support import corpus, dovecot, exim, postfix
from support.certificate import Authority
from support.instance import let_through, need, wait_until, write_secret
from support.wire import body_sha, message_id, split, wire

# One after the other: they unpack and start the same exim.
pytestmark = pytest.mark.xdist_group("peers")

USER, PASSWORD = "lists", "a, b=c \N{LATIN SMALL LETTER O WITH DIAERESIS}"
LINE_MAX = 998  # what RFC 5322 allows; Postfix cuts longer lines


def is_plain(mail):
    """Say whether every server must take the mail as it is: Postfix cuts long lines, and ends a header at a line that
    is no field and at 100 KB; Dovecot keeps no NUL."""
    header = split(mail.octets)[0].split(b"\r\n")[:-1]
    fields = all(re.match(rb"[!-9;-~]+[ \t]*:|[ \t]+\S", line) for line in header)
    return b"\0" not in mail.octets and max(map(len, mail.octets.split(b"\r\n"))) <= LINE_MAX and fields and \
        sum(map(len, header)) < 60000


@pytest.fixture(scope="module")
def mails(list_mails, mime_mails):
    found = list_mails[::25] + mime_mails[::2]
    seen, chosen = set(), []
    for mail in found:
        name = message_id(mail.octets)
        if name and name not in seen and is_plain(mail):
            seen.add(name)
            chosen.append(mail)
    assert len(chosen) >= 4
    return chosen


@pytest.fixture
def authority(tmp_path):
    let_through(tmp_path)
    made = Authority(tmp_path / "tls")
    write_secret(tmp_path / "password", PASSWORD + "\n")
    return made


@pytest.fixture
def peers(authority, until_end):
    need(postfix.missing() or dovecot.missing())
    certificate = authority.certify("127.0.0.1")
    lmtp = until_end(dovecot.Dovecot(certificate, USER, PASSWORD))
    smtp = until_end(postfix.behind(["one@postfix.example", "two@postfix.example"], {
        "smtpd_tls_chain_files": certificate, "smtpd_tls_security_level": "encrypt", "smtpd_tls_auth_only": "yes",
        "smtpd_sasl_auth_enable": "yes", "smtpd_sasl_type": "dovecot", "smtpd_sasl_path": f"{lmtp.top}/auth",
        "smtpd_sasl_security_options": "noanonymous", "mynetworks": "192.0.2.1/32",
        "smtpd_recipient_restrictions": "permit_sasl_authenticated, reject",
        "smtpd_relay_restrictions": "permit_sasl_authenticated, reject", "smtpd_tls_loglevel": "1"}))
    lmtp.start()
    smtp.start()
    yield smtp, lmtp


def arrived(maildirs, member):
    """SHA-256 of each body in a maildir, in wire form."""
    return Counter(body_sha(wire(path.read_bytes())) for path in (maildirs / member).glob("new/*"))


def test_mail_arrives_as_it_was_sent(instances, authority, peers, mails):
    smtp, lmtp = peers
    secure = {"host": "127.0.0.1", "tls_level": "verify", "tls_ca_file": authority.file}
    instance = instances(smtp.port, settings={
        "out": {"transport_table": "postfix.example:relay dovecot.example:lmtp socket.example:socket",
                "minimal_backoff_time": "1s", "maximal_backoff_time": "2s"},
        "transport.relay": {**secure, "auth_user": USER, "auth_password_file": authority.directory.parent / "password",
                            "auth_mechanisms": "scram-sha-256"},
        "transport.lmtp": {**secure, "type": "lmtp", "port": lmtp.port},
        "transport.socket": {"type": "lmtp", "host": f"unix:{lmtp.top}/lmtp"}}).start()
    members = [f"{name}@{domain}" for domain in ("postfix.example", "dovecot.example", "socket.example")
               for name in ("one", "two")]
    address = instance.create_list("test", members)
    instance.lmtp_send_all(mails, address)
    instance.wait_idle(90)
    wanted = Counter(body_sha(mail.octets) for mail in mails)
    for member in members:
        maildirs = smtp.maildirs if member.endswith("@postfix.example") else lmtp.maildirs
        wait_until(lambda: sum(arrived(maildirs, member).values()) >= len(mails), 30,
                   lambda: f"{len(mails)} mails for {member}: {smtp.log_text()[-1500:]}{lmtp.log_text()[-1500:]}")
        assert arrived(maildirs, member) == wanted, member
    assert PASSWORD not in instance.log_text()
    log = instance.log_text()
    for port in (smtp.port, lmtp.port):
        assert re.search(rf"TLS with 127\.0\.0\.1\[127\.0\.0\.1\]:{port}: TLSv1\.3 with cipher \S+ \(\d+ bits\), "
                         "verified", log), port
    wait_until(lambda: "sasl_method=SCRAM-SHA-256, sasl_username=lists" in smtp.log_text(), 30, smtp.log_text)


@pytest.mark.parametrize("chunking", [True, False])
def test_exim(instances, authority, mails, chunking, until_end):
    need(exim.missing())
    members = [f"{name}@exim.example" for name in ("one", "two", "a+b=c")]
    server = until_end(exim.Exim(authority.certify("127.0.0.1"), members, chunking))
    server.start()
    instance = instances(server.port, settings={
        "out": {"minimal_backoff_time": "1s", "maximal_backoff_time": "2s"},
        "transport.relay": {"host": "127.0.0.1", "tls_level": "verify", "tls_ca_file": authority.file}}).start()
    address = instance.create_list("test", [*members, "stranger@other.example"])
    instance.lmtp_send_all(mails, address)
    instance.wait_idle(90)
    wanted = Counter(body_sha(mail.octets) for mail in mails)
    for member in members:
        wait_until(lambda: sum(arrived(server.maildirs, member).values()) >= len(mails), 60,
                   lambda: f"{len(mails)} mails for {member}: {server.log_text()[-1500:]}")
        assert arrived(server.maildirs, member) == wanted, member
    log = instance.log_text()
    assert re.search(rf"TLS with 127\.0\.0\.1\[127\.0\.0\.1\]:{server.port}: TLSv1\.3 .* verified", log)
    strangers = re.findall(r"to=<stranger@other\.example> .* status=(\w+)", log)
    assert strangers and set(strangers) == {"bounced"}
    # Exim's mark of mail that came by BDAT.
    wait_until(lambda: (" K S=" in server.log_text()) == chunking, 30, server.log_text)


def deliver_in_flights(instances, server, members, strange, **keys):
    """A copy for each, four transactions together over one connection, with strangers between the members."""
    transport = {"concurrency": "1", "initial_destination_concurrency": "1", "pipelined_transactions": "4", **keys}
    strangers = {f"{name}@{strange}" for name in "acegi"}
    instance = instances(server.port, settings={"transport.relay": transport,
                                                "pipeline": {"verp_delivery_interval": "1"}}).start()
    address = instance.create_list("test", [*members, *strangers])
    mails = corpus.sample_thread()[:3]
    for mail in mails:
        instance.lmtp_send(mail.octets, address)
    instance.wait_idle(90)
    log, wanted = instance.log_text(), Counter(body_sha(mail.octets) for mail in mails)
    for member in members:
        wait_until(lambda: sum(arrived(server.maildirs, member).values()) >= len(mails), 60,
                   lambda: f"{len(mails)} mails for {member}: {server.log_text()[-1500:]}{log[-3000:]}")
        assert arrived(server.maildirs, member) == wanted, member
    assert set(re.findall(r"to=<(\S+)> .* status=bounced", log)) == strangers
    assert "status=deferred" not in log and "doubt=" not in log
    (relay,) = map(json.loads, instance.cli("dest", "ls", "--json").splitlines())
    assert relay["flights"] >= 3, relay


def test_flights_into_postfix(instances, until_end):
    need(postfix.missing())
    members = [f"{name}@postfix.example" for name in "bdfhjklmnop"]
    smtp = until_end(postfix.behind(members))
    smtp.start()
    deliver_in_flights(instances, smtp, members, "postfix.example")


def test_flights_into_exim(instances, authority, until_end):
    need(exim.missing())
    members = [f"{name}@exim.example" for name in "bdfhjklmnop"]
    server = until_end(exim.Exim(authority.certify("127.0.0.1"), members, True))
    server.start()
    deliver_in_flights(instances, server, members, "other.example", tls_level="require")


@pytest.mark.parametrize("mechanism", ["plain", "login", "scram-sha-1"])
def test_other_mechanisms(instances, authority, peers, mechanism):
    smtp, _ = peers
    instance = instances(smtp.port, settings={
        "transport.relay": {"host": "127.0.0.1", "tls_level": "verify", "tls_ca_file": authority.file,
                            "auth_user": USER, "auth_password_file": authority.directory.parent / "password",
                            "auth_mechanisms": mechanism}}).start()
    address = instance.create_list("test", ["one@postfix.example"])
    mail = corpus.sample_thread()[0]
    instance.lmtp_send(mail.octets, address)
    wait_until(lambda: arrived(smtp.maildirs, "one@postfix.example") == Counter([body_sha(mail.octets)]), 30,
               lambda: smtp.log_text()[-1500:] + instance.log_text()[-1500:])
    wait_until(lambda: f"sasl_method={mechanism.upper()}, sasl_username=lists" in smtp.log_text(), 30, smtp.log_text)


def test_wrong_password_waits(instances, authority, peers):
    smtp, _ = peers
    write_secret(authority.directory.parent / "wrong", "wrong\n")
    instance = instances(smtp.port, settings={
        "transport.relay": {"host": "127.0.0.1", "tls_level": "verify", "tls_ca_file": authority.file,
                            "auth_user": USER, "auth_password_file": authority.directory.parent / "wrong"}}).start()
    address = instance.create_list("test", ["one@postfix.example"])
    instance.lmtp_send(corpus.sample_thread()[0].octets, address)
    wait_until(lambda: "535 5.7.8" in instance.log_text(), 30, lambda: instance.log_text()[-1500:])
    assert not os.path.exists(smtp.maildirs / "one@postfix.example")
    wait_until(lambda: "SCRAM-SHA-256" in smtp.log_text(), 30, smtp.log_text)
    assert "PLAIN" not in smtp.log_text()


@pytest.mark.parametrize("delimiter", ["+", "-"])
def test_postfix_makes_the_senders(instances, delimiter, until_end):
    """XVERP: one transaction for all, and each copy has a sender that names its recipient, in the list's own form."""
    need(postfix.missing())
    members = ["one@postfix.example", "two.b@postfix.example"]
    smtp = until_end(postfix.behind(members, {"smtpd_authorized_verp_clients": "127.0.0.0/8"}))
    smtp.start()
    instance = instances(smtp.port, settings={
        "pipeline": {"verp_delivery_interval": "1"}, "lmtp": {"verp_delimiter": delimiter},
        "transport.relay": {"xverp": "yes"}}).start()
    address = instance.create_list("test", members)
    mail = corpus.sample_thread()[0]
    instance.lmtp_send(mail.octets, address)
    instance.wait_idle()
    for member in members:
        wait_until(lambda: arrived(smtp.maildirs, member) == Counter([body_sha(mail.octets)]), 30, smtp.log_text)
        (path,) = (smtp.maildirs / member).glob("new/*")
        user, domain = member.split("@")
        sender = f"test-bounces{delimiter}{user}={domain}@{address.partition('@')[2]}"
        assert f"Return-Path: <{sender}>" in path.read_text(errors="replace"), member
        assert instance.lmtp().sendmail("", [sender], b"Subject: back\r\n\r\nno\r\n") == {}
    assert len(set(re.findall(r"relay=\S+( conn_use=\d+)? .*status=sent \((.*)\)", instance.log_text()))) == 1
