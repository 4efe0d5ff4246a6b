# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The measuring instrument measured: smtp-sink takes what it should, keeps it octet for octet, and fails as told."""
import json
import smtplib
import socket
import time

import pytest

from support.post import post


def client(sink):
    made = smtplib.SMTP("127.0.0.1", sink.port, timeout=60)
    made.ehlo("test")
    return made


def test_keeps_envelope_and_octets(sink):
    octets = post(body=".dot\n..two\nFrom here\n" + "x" * 200000 + "\n", message_id="<kept@example.net>")
    with client(sink) as smtp:
        smtp.sendmail("a@example.net", ["b@example.org", "c@example.org"], octets)
    (got,) = sink.transactions()
    assert (got.sender, got.to, got.octets) == ("a@example.net", ["b@example.org", "c@example.org"], octets)
    assert got.result == "accepted" and abs(got.time - time.time()) < 60 and got.envelope["size"] == len(octets)


def test_faults_hit_what_they_name(sinks):
    sink = sinks(faults=["rcpt match=^bad@ do 550 5.1.1 gone", "rcpt match=^busy@ times=1 do 450 4.2.1 busy",
                         "mail match=^nobody@ do 553 5.1.8 no"])
    with client(sink) as smtp:
        refused = smtp.sendmail("a@example.net", ["bad@example.org", "busy@example.org", "good@example.org"], post())
        assert refused == {"bad@example.org": (550, b"5.1.1 gone"), "busy@example.org": (450, b"4.2.1 busy")}
        assert smtp.sendmail("a@example.net", ["busy@example.org"], post()) == {}
        with pytest.raises(smtplib.SMTPSenderRefused):
            smtp.sendmail("nobody@example.net", ["good@example.org"], post())
    assert [t.to for t in sink.transactions()] == [["good@example.org"], ["busy@example.org"]]


def test_close_after_dot_keeps_the_message(sinks):
    sink = sinks(faults=["dot skip=1 times=1 do close"])
    smtp = client(sink)
    smtp.sendmail("a@example.net", ["b@example.org"], post())
    with pytest.raises(smtplib.SMTPServerDisconnected):
        smtp.sendmail("a@example.net", ["b@example.org"], post())
    assert [t.result for t in sink.transactions()] == ["accepted", "silent"]


def test_refusal_at_dot_and_421(sinks):
    sink = sinks(faults=["dot times=1 do 452 4.3.1 full", "rset do 421 4.3.2 going down"])
    smtp = client(sink)
    with pytest.raises(smtplib.SMTPDataError):
        smtp.sendmail("a@example.net", ["b@example.org"], post())
    with pytest.raises((smtplib.SMTPServerDisconnected, smtplib.SMTPSenderRefused, OSError)):
        for _ in range(2):
            smtp.rset()
            smtp.sendmail("a@example.net", ["b@example.org"], post())
    assert [t.result for t in sink.transactions()] == ["refused"] and sink.recipients() == 0


def test_connect_refusal_and_stall(sinks):
    sink = sinks(faults=["connect times=1 do 421 4.3.2 no", "helo do stall"])
    with socket.create_connection(("127.0.0.1", sink.port), 60) as first:
        assert first.recv(100).startswith(b"421") and first.recv(100) == b""
    with socket.create_connection(("127.0.0.1", sink.port), 60) as second:
        second.recv(100)
        second.sendall(b"EHLO test\r\n")
        second.settimeout(0.3)
        with pytest.raises(socket.timeout):
            second.recv(100)


@pytest.mark.parametrize("options", [["--one-byte"], ["--latency", "20"], ["--slow-read", "100000"]])
def test_slow_but_right(sinks, options):
    sink = sinks(options=options)
    octets = post(body="y" * 3000 + "\n")
    before = time.monotonic()
    with client(sink) as smtp:
        smtp.sendmail("a@example.net", ["b@example.org"], octets)
    assert sink.transactions()[0].octets == octets
    if "--latency" in options:
        assert time.monotonic() - before > 0.1


def test_figures(sinks):
    sink = sinks(store=False)
    with client(sink) as smtp:
        for _ in range(3):
            smtp.sendmail("a@example.net", ["b@example.org", "c@example.org"], post())
    assert len(sink.envelopes()) == 3 and not sink.store.exists()
    figures = sink.stats()
    assert (figures["transactions"], figures["recipients"], figures["connections"]) == (3, 6, 1)
    assert figures["last"] >= figures["first"] > 0 and json.dumps(figures)
