# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The LMTP door and the clients that people use: Python's smtplib, swaks, Postfix's smtp-source and lmtp(8). Only the
runner lmtp is started, so that what it stored stays in the queues."""
import shutil
import smtplib
import socket
import subprocess

import pytest

from support import postfix
from support.instance import HOST, free_port, need, wait_until

OTHERS = ("in", "pipeline", "virgin", "out", "bounces", "archive", "defragment")


@pytest.fixture
def door(instances):
    """An instance that only takes mail in, on IPv4, IPv6 and a UNIX socket; with a list."""
    made = instances(free_port(), settings={f"runner.{name}": {"start": "no"} for name in OTHERS})
    made.port6 = free_port()
    made.unix = str(made.directory / "run" / "lmtp")
    made.set({"runner.lmtp": {"listen": f"127.0.0.1:{made.port}, [::1]:{made.port6}, unix:{made.unix}"},
              "lmtp": {"max_message_size": "1M", "memory_limit": "64M"}})
    made.address = made.create_list("test")
    return made.start()


def stored(door, queue="in"):
    """Entries of a queue: {name: octets}; every one must be whole."""
    found = {}
    for name in door.files(queue)[queue]:
        assert name.endswith(".msg")
        octets = (door.spool / queue / name).read_bytes()
        assert octets.endswith(b"\nend listrunner 1 " + name[18:58].encode() + b"\n"), name
        found[name] = octets
    return found


def find_program(name):
    found = shutil.which(name, path="/usr/bin:/usr/sbin:/bin")
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.main
@pytest.mark.parametrize("way", ["ipv4", "ipv6", "unix"])
def test_smtplib(door, way):
    host, port = {"ipv4": ("127.0.0.1", door.port), "ipv6": ("::1", door.port6), "unix": (door.unix, 0)}[way]
    with smtplib.LMTP(host, port, timeout=120) as client:
        client.ehlo()
        offered = {"pipelining", "8bitmime", "smtputf8", "size", "chunking", "enhancedstatuscodes"}
        assert offered <= client.esmtp_features.keys()
        assert client.sendmail("anne@example.net", [door.address], b"Subject: a\r\n\r\n.\r\n..b\r\n") == {}
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            client.sendmail("anne@example.net", [f"nobody@{HOST}"], b"x")
        assert refused.value.recipients[f"nobody@{HOST}"] == (550, b"5.1.1 There is no such list here")
        with pytest.raises(smtplib.SMTPSenderRefused) as large:
            client.sendmail("anne@example.net", [door.address], b"x" * 2_000_000)
        assert large.value.smtp_code == 552
    (octets,) = stored(door).values()
    assert b"\nSubject: a\r\n\r\n.\r\n..b\r\n\nend" in octets


@pytest.mark.main
def test_too_large_for_a_list(door):
    """A post that is far above what its list takes is refused for that list alone, before or after its content."""
    other = f"large@{HOST}"
    door.cli("list", "create", other)
    door.cli("list", "set", door.address, "max_message_size=40", "refuse_message_size=100")
    text = b"Subject: large\r\n\r\n" + b"0123456789\r\n" * 20_000
    with smtplib.LMTP("127.0.0.1", door.port, timeout=120) as client:
        client.ehlo()
        client.mail("anne@example.net", [f"SIZE={len(text)}"])
        assert client.rcpt(door.address) == (552, b"5.3.4 The message is larger than this list takes")
        assert client.rcpt(f"test-owner@{HOST}")[0] == client.rcpt(other)[0] == 250
        client.rset()
        client.mail("anne@example.net")
        assert client.rcpt(door.address)[0] == client.rcpt(other)[0] == 250
        client.docmd("DATA")
        client.send(text + b".\r\n")
        assert client.getreply()[0] == 552
        assert client.getreply()[0] == 250
        door.cli("list", "set", door.address, "refuse_message_size=0")
        client.mail("anne@example.net", [f"SIZE={len(text)}"])
        assert client.rcpt(door.address)[0] == 250
        client.rset()
    assert len(stored(door)) == 1


@pytest.mark.main
def test_international_domain(door):
    """A list's domain is known by its name in the DNS; mail to it is taken in both spellings."""
    door.cli("list", "create", "test@xn--bcher-kva.example")
    with smtplib.LMTP("127.0.0.1", door.port, timeout=120) as client:
        client.ehlo()
        client.mail("anne@example.net", ["SMTPUTF8"])
        assert client.rcpt("test@xn--bcher-kva.example")[0] == 250
        assert client.rcpt("test-owner@B\u00dccher.example")[0] == 250
        assert client.rcpt("test@b\u00fcrger.example")[0] == 550
        client.rset()


def test_swaks(door):
    swaks = find_program("swaks")
    to = f"{door.address},test-owner@{HOST},test-bounces+bart=example.net@{HOST},nobody@{HOST}"
    for server in (["--server", "127.0.0.1", "--port", str(door.port)], ["--socket", door.unix]):
        words = [swaks, "--protocol", "LMTP", "--pipeline", "--from", "anne@example.net", "--to", to, *server]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180)
        assert done.stdout.count("250 2.0.0 Stored as") == 3, done.stdout
        assert done.stdout.count("550 5.1.1") == 1, done.stdout
    assert len(stored(door)) == 4
    assert len(stored(door, "bounces")) == 2


@pytest.mark.parametrize("reuse", [[], ["-d"]], ids=["connect-each", "keep"])
def test_smtp_source(door, reuse):
    source = find_program("smtp-source")
    load = ["-s", "50", "-m", "500", "-l", "4096", "-f", "anne@example.net", "-t", door.address]
    subprocess.run([source, "-L", *reuse, *load, f"inet:127.0.0.1:{door.port}"], check=True, timeout=180)
    assert len(stored(door)) == 500


def test_two_instances_share_the_sockets(door):
    door.set({"runner.lmtp": {"instances": 2}})
    door.cli("reload")
    wait_until(lambda: len(door.pids("lmtp")) == 2, 20, "two instances")
    test_smtp_source(door, [])


def test_postfix(door):
    need(postfix.missing())
    front = postfix.front(HOST, door.port).start()
    try:
        body = "".join(f".line {number}\r\n" for number in range(200)) + ".\r\n..\r\n"
        with smtplib.SMTP("127.0.0.1", front.port, timeout=120) as client:
            for number in range(50):
                client.sendmail("anne@example.net", [door.address, f"test-owner@{HOST}"],
                                f"Message-ID: <{number}@example.net>\r\nSubject: {number}\r\n\r\n{body}".encode())
        wait_until(lambda: len(door.files("in")["in"]) == 100 and front.empty(), 60, lambda: front.log_text()[-3000:])
    finally:
        front.close()
    wanted = body.encode()
    for octets in stored(door).values():
        assert wanted in octets


def talk(door, *pieces):
    """Says the pieces, each after something was heard; returns all replies."""
    heard = b""
    with socket.create_connection(("127.0.0.1", door.port), 30) as client:
        for piece in pieces:
            heard += client.recv(65536)
            client.sendall(piece)
        while octets := client.recv(65536):
            heard += octets
    return heard.decode()


@pytest.mark.main
def test_smuggling(door):
    """Line ends that a laxer reader would take for the end neither end the message nor get past us."""
    to = b"RCPT TO:<" + door.address.encode() + b">\r\nDATA\r\n"
    inner = b"MAIL FROM:<evil@example.org>\r\n" + to + b"Subject: inner\r\n\r\nx\r\n.\r\n"
    for end in (b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r\n", b"\r.\r", b"\r\n.\r\r\n"):
        replies = talk(door, b"LHLO c\r\n", b"MAIL FROM:<a@example.net>\r\n" + to,
                       b"Subject: outer\r\n\r\nx" + end + inner + b"QUIT\r\n")
        assert "554 5.6.0" in replies and "Stored" not in replies, (end, replies)
    assert stored(door) == {}


@pytest.mark.main
def test_stop_finishes_what_is_in_progress(door):
    client = smtplib.LMTP("127.0.0.1", door.port, timeout=120)
    client.ehlo()
    client.mail("anne@example.net")
    client.rcpt(door.address)
    door.process.terminate()
    assert client.data(b"Subject: late\r\n\r\nx\r\n")[0] == 250
    assert client.getreply()[0] == 421
    client.close()
    assert door.stop() == 0
    assert len(stored(door)) == 1


def say_all(door, octets):
    """Sends all at once, says no more, and returns everything that comes back until the server closes."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(door.unix)
        client.sendall(octets)
        client.shutdown(socket.SHUT_WR)
        heard = b""
        while piece := client.recv(65536):
            heard += piece
    return heard


@pytest.mark.main
def test_all_at_once_and_no_more(door):
    """More replies than are kept at a time, mail among them, and the sending side closed before the first."""
    mail = f"MAIL FROM:<anne@example.net>\r\nRCPT TO:<{door.address}>\r\nDATA\r\nSubject: x\r\n\r\nx\r\n.\r\n".encode()
    heard = say_all(door, b"LHLO client.example\r\n" + b"NOOP\r\n" * 10000 + 2 * mail + b"QUIT\r\n")
    assert heard.count(b"\r\n250 2.0.0 Ok") == 10000
    assert heard.count(b"\r\n250 2.0.0 Stored") == len(stored(door)) == 2
    assert heard.endswith(b"\r\n221 2.0.0 Bye\r\n")


@pytest.mark.main
def test_endless_message_id(door):
    """A line that is longer than one may be is no reason to refuse the mail, and none to carry it all about."""
    name = b"i" * 500_000
    with smtplib.LMTP("127.0.0.1", door.port, timeout=120) as client:
        client.ehlo()
        assert client.sendmail("anne@example.net", [door.address], b"Message-ID: <%s>\r\n\r\n" % name) == {}
    (octets,) = stored(door).values()
    head, message = octets.split(b"\nMessage-ID:", 1)
    assert name in message and len(head) < 5000 and b'"message_id":"' + b"i" * 998 + b'"' in head
