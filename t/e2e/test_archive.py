# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The archive runner: every post once in every archive, readable by Python's mailbox, whatever fails."""
import email
import http.server
import mailbox
import os
import random
import re
import shutil
import signal
import threading
import time

import pytest

from support.corpus import sample_thread
from support.instance import HOST, free_port, wait_until, write_secret
from support.post import post
from support.wire import body_sha, message_id, wire

MEMBERS = ["m@members.example.org"]


def mbox_mails(instance, name="test"):
    """The mails of the mbox as octets, read by Python's mailbox, the mboxrd quoting taken off."""
    box = mailbox.mbox(instance.archive / "mbox" / f"{name}.{HOST}.mbox", create=False)
    return [wire(re.sub(rb"(?m)^>(>*From )", rb"\1", box.get_bytes(key))) for key in box.keys()]


def maildir_mails(instance, name="test"):
    box = mailbox.Maildir(instance.archive / "maildir" / f"{name}.{HOST}", create=False)
    return [wire(box.get_bytes(key)) for key in box.keys()]


def script(instance, text):
    """A program that the service's user can run."""
    path = instance.directory / "archiver"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    output = instance.directory / "output"
    output.mkdir()
    instance.own(output)
    return path


@pytest.mark.main
def test_mailbox_reads_what_was_posted(instance, list_mails):
    mails = sample_thread() + list({mail.message_id: mail for mail in list_mails[::4]}.values())
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send_all(mails, address)
    instance.wait_idle()
    wanted = sorted(body_sha(mail.octets) for mail in mails)
    assert sorted(body_sha(octets) for octets in mbox_mails(instance)) == wanted
    assert sorted(body_sha(octets) for octets in maildir_mails(instance)) == wanted


def test_mailbox_reads_what_came_from_odd_senders(instance):
    """An mbox's From_ lines are ASCII to Python's mailbox, whatever the sender's address is."""
    instance.create_list("test", MEMBERS)
    senders = ["j\u00f6s\u00e9@b\u00fccher.example", "<>", "a~b@example.net"]
    for number, sender in enumerate(senders):
        octets = post(message_id=f"<{number}@example.net>", sender="x@example.net")
        instance.cli("inject", f"--sender={sender}", f"test@{HOST}", input=octets.decode())
    instance.wait_idle()
    box = mailbox.mbox(instance.archive / "mbox" / f"test.{HOST}.mbox", create=False)
    assert sorted(mail["Message-ID"] for mail in box) == [f"<{number}@example.net>" for number in range(len(senders))]
    lines = sorted(mail.get_from().split()[0] for mail in box)
    assert lines == ["MAILER-DAEMON", "a~b@example.net", "j__s__@b__cher.example"]


def test_list_with_a_long_name_is_archived(instance):
    """A List-Id may be longer than a file's name."""
    domain = ".".join(letter * 60 for letter in "abcd")
    for name in ("one", "two"):
        address = f"{name}@{domain}"
        instance.cli("list", "create", address)
        instance.cli("list", "set", address, "default_nonmember_action=accept", "require_explicit_destination=false")
        instance.cli("inject", "--sender=x@example.net", address, input=post(message_id=f"<{name}@x>").decode())
    instance.wait_idle(20)
    boxes = [mailbox.mbox(path, create=False) for path in instance.archive.glob("mbox/*.mbox")]
    assert sorted([mail["Message-ID"] for mail in box] for box in boxes) == [["<one@x>"], ["<two@x>"]]
    assert len(list(instance.archive.glob("maildir/*/new/*"))) == 2


@pytest.mark.main
def test_no_archive_where_the_policy_says_never(instance):
    address = instance.create_list("test", MEMBERS, settings=["archive_policy=never"])
    instance.lmtp_send(post(), address)
    instance.wait_idle()
    assert not list(instance.archive.rglob("*.mbox")) and not list(instance.archive.rglob("*.listrunner"))


@pytest.mark.main
def test_command_gets_the_mail_and_its_circumstances(instances, sink):
    instance = instances(sink.port)
    program = script(instance, 'cat >"$1/$LISTRUNNER_ENTRY"; env | grep ^LISTRUNNER_ >"$1/$LISTRUNNER_ENTRY.env"')
    instance.set({"archiver.program": {"type": "command", "command": f"{program} {instance.directory}/output"}})
    instance.start()
    address = instance.create_list("test", MEMBERS)
    octets = post(message_id="<told@example.net>")
    instance.lmtp_send(octets, address)
    instance.wait_idle()
    (mail,) = [path for path in (instance.directory / "output").iterdir() if path.suffix != ".env"]
    assert re.fullmatch("[0-9a-f]{40}", mail.name) and body_sha(wire(mail.read_bytes())) == body_sha(octets)
    told = dict(line.split("=", 1) for line in mail.with_suffix(".env").read_text().splitlines())
    assert told["LISTRUNNER_LIST"] == f"test.{HOST}" and told["LISTRUNNER_MESSAGE_ID"] == "told@example.net"
    assert told["LISTRUNNER_SENDER"] == "poster@example.net" and told["LISTRUNNER_REPEAT"] == "no"


class HyperKitty:
    """Return what Listrunner sees of HyperKitty: one resource, and whether it is up."""

    def __init__(self, port):
        self.got, self.answers, outer = [], [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                octets = self.rfile.read(int(self.headers["Content-Length"]))
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                parts = email.message_from_bytes(head + octets).get_payload()
                form = {part.get_param("name", header="content-disposition"): part for part in parts}
                outer.got.append((self.path, self.headers["Authorization"], form["mlist"].get_payload(),
                                  form["message"].get_filename(), octets))
                code = outer.answers.pop(0) if outer.answers else 200
                self.send_response(code)
                self.end_headers()
                self.wfile.write(b'{"url": "x"}' if code == 200 else b'{"error": "no"}')

            def log_message(self, *words):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def test_hyperkitty(instances, sink):
    """A mail is handed over once; with the server down it waits; what the server will never take goes to shunt."""
    kitty = HyperKitty(free_port())  # which nobody else gets while it is down
    instance = instances(sink.port)
    key = instance.directory / "key"
    write_secret(key, "secret\n")
    url = f"http://127.0.0.1:{kitty.port}/hk/"
    instance.set({"archiver.web": {"type": "hyperkitty", "url": url, "api_key_file": key}})
    instance.start()
    address = instance.create_list("test", MEMBERS, settings=["archivers=web"])
    octets = post(message_id="<kitty@example.net>")
    instance.lmtp_send(octets, address)
    instance.wait_idle()
    (path, authorization, mlist, name, form), = kitty.got
    assert (path, authorization, mlist, name) == ("/hk/api/mailman/archive", "Token secret", address, "message.txt")
    assert b"Message-ID: <kitty@example.net>" in form
    copy = email.message_from_bytes(sink.transactions()[0].octets)
    wanted = f"{url}list/{address}/"
    assert copy["List-Archive"] == f"<{wanted}>" and copy["Archived-At"].startswith(f"<{wanted}message/")
    kitty.stop()
    instance.lmtp_send(post(message_id="<late@example.net>"), address)
    wait_until(lambda: "archiver=web result=later" in instance.log_text(), 20, "the refused connection")
    wait_until(lambda: "the archiver web cannot be used" in instance.run("status").stdout, 20, "status to say so")
    again = HyperKitty(kitty.port)
    again.answers = [500]
    wait_until(lambda: len(again.got) == 2, 40, "the mail that waited")
    instance.wait_idle()
    wait_until(lambda: instance.run("status").returncode == 0, 20, "all to be well")
    again.answers = [400]
    instance.lmtp_send(post(message_id="<never@example.net>"), address)
    wait_until(lambda: instance.files("shunt")["shunt"], 20, "shunt")
    instance.wait_idle()
    assert len(again.got) == 3
    again.stop()


@pytest.mark.main
def test_archive_by_mail(instances, sink):
    """The service gets posts of public lists, and no others; a bounce of it comes to the list."""
    instance = instances(sink.port)
    instance.set({"archiver.service": {"type": "mail-archive", "address": "archive@service.example"}})
    instance.start()
    for name, policy in (("test", "public"), ("inner", "private")):
        address = instance.create_list(name, MEMBERS, settings=["archivers=service", f"archive_policy={policy}"])
        instance.lmtp_send(post(message_id=f"<{name}@example.net>", to=address), address)
    instance.wait_idle()
    copies = [t for t in sink.transactions() if "archive@service.example" in t.to]
    assert [(t.message_id, t.sender, t.to) for t in copies] == [
        ("<test@example.net>", f"test-bounces@{HOST}", ["archive@service.example"])]
    others = {t.message_id for t in sink.transactions() if t not in copies}
    assert others == {"<test@example.net>", "<inner@example.net>"}


@pytest.mark.skipif(not shutil.which("mhonarc"), reason="needs mhonarc")
def test_mhonarc(instances, sink):
    """MHonArc makes a page of each post, once; those of a private list are not for everybody on the host."""
    instance = instances(sink.port)
    pages = instance.directory / "pages"
    pages.mkdir()
    instance.own(pages)
    instance.set({"archiver.pages": {"type": "mhonarc", "path": pages}})
    instance.start()
    address = instance.create_list("test", MEMBERS, settings=["archivers=pages"])
    for number in range(2):
        instance.lmtp_send(post(subject=f"Page {number}", message_id=f"<page{number}@example.net>"), address)
    instance.wait_idle()
    made = pages / f"test.{HOST}"
    assert sorted(path.name for path in made.glob("msg*.html")) == ["msg00000.html", "msg00001.html"]
    assert "Page 1" in (made / "maillist.html").read_text()
    address = instance.create_list("closed", MEMBERS, settings=["archivers=pages", "archive_policy=private"])
    closed = pages / f"closed.{HOST}"
    closed.mkdir(mode=0o755)  # by somebody
    instance.own(closed)
    instance.lmtp_send(post(message_id="<closed@example.net>"), address)
    instance.wait_idle()
    assert len(list(closed.glob("msg*.html"))) == 1
    for path in (closed, *closed.iterdir()):
        assert path.stat().st_mode & 0o007 == 0, path
    assert (made / "msg00000.html").stat().st_mode & 0o004


@pytest.mark.main
def test_failing_archiver_keeps_its_own_copy(instances, sink):
    """Later: tried again until it works. Never: shunted. The other archives have the post at once, and once."""
    instance = instances(sink.port)
    program = script(instance, 'case "$LISTRUNNER_MESSAGE_ID" in\n'
                     'never@*) exit 1 ;;\n'
                     'later@*) [ -e "$1/tried" ] || { touch "$1/tried"; exit 75; } ;;\n'
                     'esac\ncat >"$1/$LISTRUNNER_MESSAGE_ID.$LISTRUNNER_REPEAT"')
    instance.set({"archiver.program": {"type": "command", "command": f"{program} {instance.directory}/output"}})
    instance.start()
    address = instance.create_list("test", MEMBERS)
    names = ["good", "later", "never"]
    for name in names:
        instance.lmtp_send(post(message_id=f"<{name}@example.net>"), address)
    wait_until(lambda: len(mbox_mails(instance)) == 3 if (instance.archive / "mbox" / f"test.{HOST}.mbox").exists()
               else False,
               10, "the mbox to have all three")
    instance.wait_idle(30)
    output = [path.name for path in (instance.directory / "output").iterdir()]
    assert sorted(output) == ["good@example.net.no", "later@example.net.yes", "tried"]
    (shunted,) = instance.files("shunt")["shunt"]
    shown = instance.cli("queue", "cat", "--json", shunted)
    assert "exit code 1" in shown and '"program"' in shown
    assert sorted(map(message_id, mbox_mails(instance))) == sorted(map(message_id, maildir_mails(instance)))
    assert len(maildir_mails(instance)) == 3


@pytest.mark.parametrize("does", ["sleep 1000", "while :; do cat /etc/hostname; echo . >&2; sleep 0.05; done"],
                         ids=["silent", "writing"])
def test_command_that_takes_too_long_is_killed_with_what_it_started(instances, sink, does):
    """The limit is for the whole run: that the program writes all the time is no excuse."""
    instance = instances(sink.port, settings={"archive": {"command_timeout": "1s"}})
    program = script(instance, f'[ -e "$1/tried" ] && exit 0\ntouch "$1/tried"\n({does}) & echo $! >"$1/pid"\nwait')
    instance.set({"archiver.program": {"type": "command", "command": f"{program} {instance.directory}/output"}})
    instance.start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(), address)
    pid = wait_until(lambda: (instance.directory / "output" / "pid").exists()
                     and (instance.directory / "output" / "pid").read_text().strip(), 10, "the program to start")
    instance.wait_idle(30)
    assert not os.path.exists(f"/proc/{pid}")
    assert "took too long" in instance.log_text() and not instance.files("shunt")["shunt"]


def test_killed_again_and_again(instances, sink, list_mails):
    """kill -9 of the archive's instances while they work: each post once in the mbox and once in the maildir. A third
    archiver takes the time that this test needs to kill them."""
    instance = instances(sink.port, settings={"runner.archive": {"instances": 2, "start": "no"},
                                              "archiver.slow": {"type": "command", "command": "/bin/sleep 0.01"},
                                              "master": {"restart_delay_min": "10ms",
                                                         "restart_delay_max": "20ms"}}).start()
    mails = list({mail.message_id: mail for mail in list_mails}.values())[:300]
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send_all(mails, address)
    wait_until(lambda: len(instance.files("archive")["archive"]) == len(mails), 60, "all posts in the queue archive")
    instance.set({"spool": {"batch_limit": 8}, "runner.archive": {"start": "yes"}})
    instance.cli("reload")
    chance, kills, deadline = random.Random(5), 0, time.monotonic() + 300
    while kills < 20 and instance.files("archive")["archive"] and time.monotonic() < deadline:
        for pid in instance.pids("archive"):
            if chance.random() < 0.7:
                try:
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
        time.sleep(chance.random() * 0.03)
    instance.wait_idle(60)
    if instance.set_aside():  # killed three times over one entry: an operator lets it be tried again
        instance.cli("shunt", "retry", "--all")
        wait_until(lambda: not instance.files("archive")["archive"], 30, "the entries tried again")
    assert kills >= 5, f"only {kills} kills: the test is too fast for itself"
    wanted = sorted(mail.message_id for mail in mails)
    assert sorted(map(message_id, mbox_mails(instance))) == wanted
    assert sorted(map(message_id, maildir_mails(instance))) == wanted
    assert not instance.set_aside()


@pytest.mark.main
def test_archive_without_room_waits(instances, sink):
    """The archive's directory cannot be written: posts still reach the members, and the archive gets them later."""
    instance = instances(sink.port).start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<first@example.net>"), address)
    instance.wait_idle()
    place = instance.archive / "mbox"
    moved = instance.archive / "away"
    place.rename(moved)
    place.symlink_to(instance.archive / "nowhere" / "mbox")  # in the way, and no directory
    instance.stop()
    instance.start(wait=False)
    wait_until(lambda: _posted(instance, address, "<second@example.net>"), 20, "LMTP to take the post")
    wait_until(lambda: ("<second@example.net>", MEMBERS[0]) in sink.copies(), 20, "the member's copy")
    assert len(maildir_mails(instance)) == 1 and instance.files("archive")["archive"]
    place.unlink()
    moved.rename(place)
    instance.cli("reload")
    instance.wait_idle(60)
    assert [message_id(octets) for octets in mbox_mails(instance)] == ["<first@example.net>", "<second@example.net>"]
    assert len(maildir_mails(instance)) == 2


def _posted(instance, address, name):
    try:
        instance.lmtp_send(post(message_id=name), address)
        return True
    except OSError:
        return False
