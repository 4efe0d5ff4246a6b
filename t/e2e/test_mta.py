# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real Postfix asks Listrunner which addresses there are: it refuses strangers at its door, and needs no file."""
import signal
import smtplib
import socket
import time

import pytest

from support import exim, postfix
from support.instance import HOST, free_port, need, wait_until

OWNER = "root@example.org"
SUFFIXES = ("", "-owner", "-bounces", "-join", "-leave", "-subscribe", "-unsubscribe", "-confirm", "-request",
            "+detail", "-bounces+anne=example.org", "-confirm+abcdefgh")


@pytest.fixture
def world(instances, until_end):
    """An instance with the runner mta, and a Postfix in front of it with README's lines."""
    need(postfix.missing())
    instance = instances(free_port(), settings={
        "site": {"site_owner": OWNER},
        "runner.mta": {"start": "yes", "listen": f"127.0.0.1:{free_port()}"}}).start()
    instance.mta_port = int(instance.sections["runner.mta"]["listen"].rpartition(":")[2])
    maps = f"socketmap:inet:127.0.0.1:{instance.mta_port}"
    front = until_end(postfix.Postfix("front", {
        "relay_domains": f"{maps}:domains", "relay_recipient_maps": f"{maps}:recipients",
        "transport_maps": f"inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{instance.port} }} "
                          f"{{ alias.example.com = lmtp:[127.0.0.1]:{instance.port} }} }}",
        "virtual_alias_maps": f"{maps}:aliases",
        "max_use": "1",  # an smtpd remembers for 100 connections that a look-up failed
        "default_transport": "error:only lists are served here"}))
    front.start()
    yield instance, front


def rcpt(front, *addresses):
    """The codes of RCPT."""
    with smtplib.SMTP("127.0.0.1", front.port, timeout=120) as client:
        client.ehlo("test.example")
        client.mail("poster@example.net")
        return [client.rcpt(address)[0] for address in addresses]


def ask(port, request):
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        parts = iter(lambda: client.recv(4096), b"")
        return b"".join(parts)


def question(name, key):
    text = f"{name} {key}".encode()
    return b"%d:%s," % (len(text), text)


def test_postfix_asks(world):
    instance, front = world
    instance.create_list("talk", ["anne@example.org"])
    # Each address of a list, and nobody else's.
    assert set(rcpt(front, *(f"talk{suffix}@{HOST}" for suffix in SUFFIXES))) == {250}
    assert rcpt(front, f"nobody@{HOST}", f"talk-nothing@{HOST}", f"talks@{HOST}") == [550] * 3
    # A list that was created a second ago, and one that is gone.
    instance.cli("list", "create", f"fresh@{HOST}")
    assert rcpt(front, f"fresh@{HOST}") == [250]
    instance.cli("list", "remove", f"fresh@{HOST}", "--yes")
    assert rcpt(front, f"fresh@{HOST}") == [550]
    # Letters to the people behind the domain reach them.
    assert rcpt(front, f"postmaster@{HOST}", f"Abuse@{HOST}") == [250, 250]
    for name in ("aliases", "recipients"):
        assert ask(instance.mta_port, question(name, f"postmaster@{HOST}")) == b"19:OK root@example.org,"
    # Mail that Postfix takes is taken by the door.
    with smtplib.SMTP("127.0.0.1", front.port, timeout=120) as client:
        client.sendmail("anne@example.org", [f"talk@{HOST}"], b"From: anne@example.org\r\n"
                        b"To: talk@lists.example.com\r\nSubject: one\r\nMessage-ID: <one@example.org>\r\n\r\nHello\r\n")
    wait_until(lambda: "message-id=<one@example.org>" in instance.log_text(), 30, "the post to arrive")
    # Several questions in one piece; one that no client of the protocol would ask ends the connection.
    both = question("domains", HOST) + question("domains", "example.net") + question("transport", HOST)
    assert ask(instance.mta_port, both) == b"20:OK lists.example.com,9:NOTFOUND ,24:OK lmtp:[127.0.0.1]:8024,"
    assert b"PERM" in ask(instance.mta_port, question("nothing", "x"))
    assert b"PERM" in ask(instance.mta_port, b"EHLO there\r\n")


@pytest.mark.sqlite
def test_nobody_is_refused_for_good_by_a_fault_of_ours(world):
    instance, front = world
    instance.create_list("talk")
    database = instance.directory / "lib" / "listrunner.db"
    database.rename(database.with_suffix(".away"))
    wait_until(lambda: rcpt(front, f"talk@{HOST}") == [451], 20, "451 while the database is away")
    assert b"TEMP" in ask(instance.mta_port, question("recipients", f"other@{HOST}"))
    database.with_suffix(".away").rename(database)
    wait_until(lambda: rcpt(front, f"talk@{HOST}") == [250], 20, "250 again")
    # The whole of Listrunner is down.
    instance.stop(signal.SIGTERM)
    code = rcpt(front, f"talk@{HOST}")[0]
    assert 400 <= code < 500, code


def test_files(instances):
    instance = instances(free_port(), settings={"site": {"site_owner": OWNER}})
    place = instance.directory / "lib" / "mta"
    ran = instance.directory / "lib" / "ran"
    program = instance.directory / "lib" / "note"
    program.write_text(f'#!/bin/sh\necho "$@" >> {ran}\n')
    program.chmod(0o755)
    instance.set({"mta": {"maps_directory": place, "maps_command": program}})
    instance.start()
    instance.create_list("talk")
    people = {f"postmaster@{HOST}", f"abuse@{HOST}"}
    wanted = people | {f"talk{suffix}@{HOST}" for suffix in SUFFIXES if "+" not in suffix}

    def keys(name):
        path = place / name
        lines = path.read_text().splitlines() if path.exists() else []
        return {line.split()[0] for line in lines if not line.startswith("#")}

    wait_until(lambda: keys("recipients") == wanted and "transport" in (ran.read_text() if ran.exists() else ""), 20,
               lambda: f"the files; there is {keys('recipients')}")
    wait_until(lambda: keys("domains") == keys("transport") == {HOST}, 20, "the domain")
    wait_until(lambda: keys("aliases") == people, 20, "the people behind the domain")
    assert f"postmaster@{HOST} {OWNER}\n" in (place / "aliases").read_text()
    assert (place / "transport").read_text().endswith(f"{HOST} lmtp:[127.0.0.1]:8024\n")
    all_of_them = " ".join(str(place / name) for name in ("recipients", "domains", "aliases", "transport"))
    wait_until(lambda: all_of_them in ran.read_text().splitlines(), 20, "the command for all files")
    # At once when a list comes or goes, not each time after the minute of the timer.
    begun = time.monotonic()
    instance.cli("list", "create", f"more@{HOST}")
    wait_until(lambda: f"more@{HOST}" in keys("recipients"), 20, "the new list in the file")
    instance.cli("list", "remove", f"more@{HOST}", "--yes")
    wait_until(lambda: keys("recipients") == wanted, 20, "the list to be gone from the file")
    instance.cli("domain", "create", "more.example.com")
    wait_until(lambda: "more.example.com" in keys("domains"), 20, "the new domain")
    instance.cli("domain", "remove", "more.example.com")
    wait_until(lambda: keys("domains") == {HOST}, 20, "the domain to be gone")
    assert time.monotonic() - begun < 120
    # A list has such a name; the site's owner would be one of them himself.
    instance.create_list("abuse")
    wait_until(lambda: keys("aliases") == {f"postmaster@{HOST}"}, 20, "the list to have its name")
    assert (place / "recipients").read_text().count(f"abuse@{HOST} ") == 1
    instance.set({"site": {"site_owner": f"postmaster@{HOST}"}})
    instance.cli("mta", "maps")
    assert keys("aliases") == set() and f"postmaster@{HOST}" not in keys("recipients")
    # By hand, for Exim.
    instance.cli("mta", "maps", "--format", "exim", "--directory", instance.directory / "lib" / "exim")
    assert f"talk-owner@{HOST}: talk.{HOST}\n" in (instance.directory / "lib" / "exim" / "recipients").read_text()
    assert not (instance.directory / "lib" / "exim" / "transport").exists()
    done = instance.run("mta", "maps", "--format", "sendmail")
    assert done.returncode == 64 and "none of postfix, exim" in done.stderr
    instance.set({"mta": None})
    done = instance.run("mta", "maps")
    assert done.returncode == 64 and "maps_directory" in done.stderr


def test_mail_for_the_people_who_run_the_site(instances, sink):
    """postmaster@ and abuse@ of a list's domain, and of its alias, at our own door."""
    instance = instances(sink.port, settings={"site": {"site_owner": OWNER}}).start()
    instance.create_list("talk")
    instance.cli("domain", "alias", HOST, "alias.example.com")
    octets = (b"From: anne@example.org\r\nTo: x\r\nSubject: spam\r\nMessage-ID: <one@example.org>\r\n\r\n"
              b"Gr\xc3\xbc\xc3\x9fe\r\n")
    people = [f"postmaster@{HOST}", f"Abuse@{HOST}", "postmaster@alias.example.com"]
    instance.lmtp_send(octets, people, sender="anne@example.org")
    instance.wait_idle()
    found = sink.transactions()
    assert [(t.sender, t.to) for t in found] == [("anne@example.org", [OWNER])] * 3
    assert all(t.octets.startswith(b"Listrunner-Loop: ") and t.octets.endswith(octets) for t in found)
    sink.purge()
    # Nobody else; not where a list has the name; not what the setting leaves out, nor what would come back for ever.
    instance.create_list("abuse", ["bart@example.org"])

    def replies(*addresses):
        with smtplib.LMTP("127.0.0.1", instance.port) as client:
            client.ehlo()
            client.mail("anne@example.org")
            return [client.rcpt(address)[0] for address in addresses]
    assert replies(f"hostmaster@{HOST}", "postmaster@example.net", f"postmaster+x@{HOST}", f"abuse@{HOST}") == [
        550, 550, 550, 250]
    for owner, roles, codes in ((OWNER, "hostmaster", [250, 550]), (OWNER, "", [550, 550]),
                                (f"hostmaster@{HOST}", "hostmaster postmaster", [550, 550])):
        instance.set({"site": {"site_owner": owner, "role_addresses": roles}})
        instance.cli("reload")

        def replies_now():
            try:
                return replies(f"hostmaster@{HOST}", f"postmaster@{HOST}")
            except (smtplib.SMTPServerDisconnected, smtplib.SMTPConnectError):
                return None  # it met the process that goes
        wait_until(lambda: replies_now() == codes, 20, f"{codes}")
    instance.set({"site": {"role_addresses": "a@b"}})
    done = instance.run("config", "check")
    assert done.returncode == 78 and "role_addresses" in done.stderr and '"a@b"' in done.stderr


def test_mail_for_the_site_that_cannot_be_delivered_goes_back(instances, sinks):
    sink = sinks(faults=[f"rcpt match=^{OWNER} do 550 5.1.1 no such person"])
    instance = instances(sink.port, settings={"site": {"site_owner": OWNER}}).start()
    instance.create_list("talk")
    for sender in ("anne@example.org", ""):
        octets = f"From: <{sender}>\r\nSubject: spam\r\nMessage-ID: <one@example.org>\r\n\r\nText\r\n".encode()
        instance.lmtp_send(octets, f"postmaster@{HOST}", sender=sender)
    instance.wait_idle()
    (to, (report,)), = sink.take_mail().items()
    assert to == "anne@example.org" and report.get_content_type() == "multipart/report" and report["Auto-Submitted"]
    assert "no such person" in report.get_body(("plain",)).get_content() and OWNER in report.as_string()
    assert instance.set_aside() == []


@pytest.mark.xdist_group("peers")  # exim is unpacked once
def test_exim(instances, sink, until_end):
    """The lines of the manual: each address of a list is taken and comes to us as it was; strangers are refused."""
    need(exim.missing())
    instance = instances(sink.port, settings={"site": {"site_owner": OWNER}})
    place = instance.directory / "lib" / "mta"
    instance.set({"mta": {"maps_directory": place, "maps_format": "exim"}})
    instance.start()
    instance.create_list("talk", ["anne@example.org"], settings=["subscription_policy=open"])
    wait_until(lambda: (place / "recipients").exists() and "talk-owner" in (place / "recipients").read_text(), 20,
               "the files")
    front = until_end(exim.Front(place, instance.port, sink.port))
    front.start()
    codes = rcpt(front, *(f"talk{suffix}@{HOST}" for suffix in SUFFIXES), f"postmaster@{HOST}")
    assert set(codes) == {250}, front.log_text()
    strangers = (f"nobody@{HOST}", f"talk-nothing@{HOST}", f"talks+x@{HOST}", "anne@example.net")
    assert rcpt(front, *strangers) == [550] * 4
    with smtplib.SMTP("127.0.0.1", front.port, timeout=120) as client:
        for number, to in enumerate((f"talk@{HOST}", f"talk-bounces+anne=example.org@{HOST}", f"postmaster@{HOST}",
                                     f"talk-join+digest@{HOST}")):
            client.sendmail("bert@example.org", [to], f"From: bert@example.org\r\nTo: {to}\r\nSubject: one\r\n"
                            f"Message-ID: <{number}@example.org>\r\n\r\nHello\r\n".encode())
    wait_until(lambda: {address for t in sink.transactions() for address in t.to} == {
        "anne@example.org", OWNER, "bert@example.org"}, 30, lambda: front.log_text()[-2000:])
    wait_until(lambda: "to=bounces" in instance.log_text(), 30, "the bounce")
    wait_until(lambda: f"talk-bounces+anne=example.org@{HOST}" in front.log_text(), 30, "Exim's line of it")
