# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Bounces: what comes back costs members points, in the end the membership; each once, and nobody is answered."""
import base64
import email
import email.policy
import hashlib
import hmac
import json
import os
import random
import re
import signal
import time
from collections import Counter

import pytest

from support import postfix
from support.clock import DAY, let_turn
from support.instance import HOST, need, wait_until

WEEK = 7 * DAY
SOON = {"bounces": {"check_interval": "100ms"}}


@pytest.fixture(autouse=True)
def one_day():
    """One bounce of a member counts on a day, and the owners get so many letters."""
    let_turn(DAY)


def report(address, status="5.1.1", action="failed", text="smtp; 550 5.1.1 user unknown", extra=""):
    return (f"From: MAILER-DAEMON@mx.example.org\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n"
            f"Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n\r\n"
            f"--x\r\n\r\nSorry.\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\n"
            f"Reporting-MTA: dns; mx.example.org\r\n\r\nFinal-Recipient: rfc822; {address}\r\nAction: {action}\r\n"
            f"Status: {status}\r\nDiagnostic-Code: {text}\r\n\r\n--x--\r\n{extra}").encode()


def complaint(original):
    return (f"From: fbl@provider.example\r\nSubject: complaint\r\nMIME-Version: 1.0\r\n"
            f"Content-Type: multipart/report; report-type=feedback-report; boundary=x\r\n\r\n"
            f"--x\r\n\r\nSpam.\r\n--x\r\nContent-Type: message/feedback-report\r\n\r\n"
            f"Feedback-Type: abuse\r\nUser-Agent: x/1\r\nVersion: 1\r\n\r\n"
            f"--x\r\nContent-Type: message/rfc822\r\n\r\n{original}\r\n--x--\r\n").encode()


PLAIN = b"From: someone@example.org\r\nSubject: hello\r\n\r\nIs this the list?\r\n"
VACATION = (b"From: anne@example.org\r\nSubject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\n"
            b"I am away until Monday.\r\n")


DIGITS = "abcdefghijklmnopqrstuvwxyz234567"


def brief(list_name, key):
    """The short name as store/lists/list.c describes it."""
    word = "".join(letter for letter in list_name if letter.isalnum())[:16]
    return f"{word}.{''.join(DIGITS[key >> 5 * place & 31] for place in reversed(range(13)))}"


def signed(instance, list_name, recipient, purpose="copy", when=None, local="bounces"):
    """The address as mail/bounce/verp.h describes it, made from the secret in the database."""
    with instance.database() as store:
        secret, = store.execute("SELECT octets FROM secret ORDER BY key DESC LIMIT 1").fetchone()
        list_key, = store.execute("SELECT key FROM list WHERE list_name = ?", [list_name]).fetchone() or [0]
    key = hmac.digest(bytes(secret), f"listrunner verp {purpose} 1".encode(), "sha256")
    week = int((when or time.time()) // WEEK) % 1024
    octets = f"{list_name}.{HOST}".encode() + b"\0" + week.to_bytes(2, "big") + recipient.lower().encode()
    proof = base64.b32encode(hmac.digest(key, octets, "sha256")).decode().lower()[:10]
    tag = DIGITS[week >> 5] + DIGITS[week & 31] + proof
    name = f"{list_name}-{local}"
    if len(name) > 42:
        name = f"{brief(list_name, list_key)}-{local}"
    if len(name) + 1 + len(recipient) + 1 + len(tag) <= 64:
        return f"{name}+{recipient.replace('@', '=')}+{tag}@{HOST}"
    hashed = base64.b32encode(hashlib.sha256(recipient.lower().encode()).digest()).decode().lower()[:8]
    return f"{name}+={hashed}{tag}@{HOST}"


def rows(instance, *words):
    return instance.rows("bounce", *words)


def standing(instance, address):
    """address: (score, delivery status) of all who have a score or were disabled."""
    return {row["address"]: (float(row["score"]), row["delivery_status"]) for row in rows(instance, "ls", address)}


def delivery(instance, address):
    return {row["address"]: row["delivery_status"] for row in
            map(json.loads, instance.cli("member", "ls", address, "--json").splitlines())}


def counted(instance, address):
    return {row["address"]: row["bounces"] for row in rows(instance, "ls", address)}


def subjects(mails):
    """How often each came, without the list's address before the colon."""
    found = (email.message_from_bytes(mail, policy=email.policy.default)["Subject"] for mail in mails)
    return Counter(subject.partition(": ")[2] for subject in found)


# ---- the whole course, with a real Postfix that refuses ----

MEMBERS = [f"m{i}@members.example.org" for i in range(17)]
UNKNOWN, FULL, GONE = "unknown@members.example.org", "full@members.example.org", "gone@members.example.org"
OWNER = "owner@members.example.org"


class Refusing:
    """Postfix behind us. UNKNOWN and FULL are refused at RCPT; GONE is taken and sent on to who refuses it,
    so that Postfix reports it by mail to our -bounces address."""

    def __init__(self, far_port):
        self.far_port = far_port
        self.postfix = postfix.behind([*MEMBERS, GONE, OWNER])
        self.maildirs = self.postfix.maildirs
        self.config = self.postfix.config
        (self.config / "access").write_text(f"{UNKNOWN} 550 5.1.1 User unknown\n{FULL} 552 5.2.2 Mailbox full\n")
        with open(self.config / "main.cf", "a") as main:
            main.write(f"smtpd_recipient_restrictions = check_recipient_access texthash:{self.config}/access, "
                       f"permit_mynetworks, reject\ntransport_maps = texthash:{self.config}/transport\n")
        self.route(1)

    def route(self, port):
        (self.config / "transport").write_text(
            f"{GONE} smtp:[127.0.0.1]:{self.far_port}\n{HOST} lmtp:inet:127.0.0.1:{port}\n")

    def box(self, address):
        return [path.read_bytes() for path in sorted((self.maildirs / address / "new").glob("*"))]


@pytest.fixture
def refusing(sinks):
    need(postfix.missing())
    made = Refusing(sinks(faults=["rcpt do 550 5.1.1 the mailbox is gone"]).port)
    yield made
    made.postfix.close()


def course(instances, refusing, clock):
    instance = instances(refusing.postfix.port, settings=SOON)
    refusing.route(instance.port)
    refusing.postfix.start()
    instance.start()
    address = instance.create_list("test", [*MEMBERS, UNKNOWN, FULL, GONE], owner=OWNER,
                                   settings=["bounce_score_threshold=2", "bounce_temporary_weight=50",
                                             "bounce_you_are_disabled_warnings=2"])
    return instance, address


def settled(instance, refusing):
    """Until nothing moves here nor there: what comes back passes through both."""
    def quiet():
        return refusing.postfix.empty() and instance.idle() and refusing.postfix.empty() and instance.idle()
    wait_until(quiet, 60, lambda: f"quiet: {instance.under_way()}\n{instance.log_text()[-3000:]}")


def post(instance, refusing, address, number):
    instance.lmtp_send(f"From: p@example.net\r\nTo: {address}\r\nSubject: {number}\r\n"
                       f"Message-ID: <{number}@example.net>\r\n\r\nHello.\r\n".encode(), address)
    settled(instance, refusing)


@pytest.mark.main
def test_course(instances, refusing, clock):
    instance, address = course(instances, refusing, clock)

    post(instance, refusing, address, 1)
    assert standing(instance, address) == {UNKNOWN: (1, "enabled"), GONE: (1, "enabled"), FULL: (0.5, "enabled")}
    post(instance, refusing, address, 2)  # the day has counted
    assert standing(instance, address) == {UNKNOWN: (1, "enabled"), GONE: (1, "enabled"), FULL: (0.5, "enabled")}
    assert {row["source"] for row in rows(instance, "show", UNKNOWN)} == {"smtp"}
    assert {row["source"] for row in rows(instance, "show", GONE)} <= {"report", "verp"}
    assert [row["bounces"] for row in rows(instance, "show", UNKNOWN)] == [2]

    clock.days(1)  # two are at the threshold: probed, the probes come back
    post(instance, refusing, address, 3)
    status = delivery(instance, address)
    assert status[UNKNOWN] == status[GONE] == "by_bounces" and status[FULL] == "enabled"
    assert Counter(status.values()) == {"enabled": 18, "by_bounces": 2}
    clock.days(2)
    post(instance, refusing, address, 4)
    clock.days(3)
    post(instance, refusing, address, 5)
    assert delivery(instance, address)[FULL] == "by_bounces"
    for member in MEMBERS:
        assert len(refusing.box(member)) == 5
    wait_until(lambda: instance.log_text().count("warnings=1 result=warned") == 3, 20, "first warnings")
    settled(instance, refusing)
    for member, posts in ((UNKNOWN, 3), (FULL, 5)):  # and a probe, and the first warning
        def refusals():
            return refusing.postfix.log_text().count(f"<{member}>: Recipient address rejected")
        wait_until(lambda: refusals() >= posts + 2, 20, "Postfix to log what it refused")
        assert refusals() == posts + 2, refusing.postfix.log_text()

    clock.days(5)
    assert instance.cli("bounce", "reset", address, FULL).startswith(FULL)
    assert delivery(instance, address)[FULL] == "enabled"
    clock.days(9)  # the second warning, a week after the first
    wait_until(lambda: instance.log_text().count("warnings=2 result=warned") == 2, 20, "second warnings")
    assert set(delivery(instance, address)) == {*MEMBERS, UNKNOWN, FULL, GONE}
    clock.days(17)
    wait_until(lambda: set(delivery(instance, address)) == {*MEMBERS, FULL}, 20, "two removals")
    settled(instance, refusing)
    assert subjects(refusing.box(OWNER)) == {f"{member} gets no more mail": 1 for member in (UNKNOWN, GONE, FULL)} | {
        f"{member} was removed": 1 for member in (UNKNOWN, GONE)}
    assert not instance.set_aside()

    by_domain = rows(instance, "stat", address, "--by=all")
    assert {(row["domain"], row["status"]) for row in by_domain} == {
        ("members.example.org", "5.1.1"), ("members.example.org", "5.2.2")}


# ---- exactly once ----

def status_of(instance):
    """The exit code and the lines of `listrunner status`."""
    done = instance.run("status")
    return done.returncode, done.stdout


@pytest.mark.main
def test_one_reply_for_many(instances, sinks, clock):
    """One provider refuses all its 200 members with one reply, and dead mailboxes with replies of their own: nobody is
    charged for the first, whatever the days; the dead are. The reply is named as long as it is said."""
    sink = sinks(faults=["rcpt match=^dead@ do 550 5.1.1 User unknown", "rcpt match=@big.example do 550 5.0.0 go away"])
    instance = instances(sink.port, settings={**SOON, "bounces": {**SOON["bounces"], "probes": "no"}}).start()
    many = [f"m{number}@big.example" for number in range(200)]
    few = ["one@big.example", "two@big.example"]
    rules = ["bounce_score_threshold=3"]
    address = instance.create_list("test", [*many, "dead@big.example", "ann@good.example"], settings=rules)
    other = instance.create_list("other", [*few, "dead@good.example", "bob@good.example"], settings=rules)
    clock.begin_day()
    for day in range(5):
        clock.days(day)
        for list_address in (address, other):
            instance.lmtp_send(f"From: p@example.net\r\nTo: {list_address}\r\nSubject: {day}\r\n"
                               f"Message-ID: <{day}.{list_address}>\r\n\r\nHello.\r\n".encode(), list_address)
        instance.wait_idle(120)
        if day in (0, 4):
            code, text = status_of(instance)
            assert code != 0 and "200 members at big.example" in text and "550 5.0.0 go away" in text, text
            assert "test.lists" in text and "other.lists" not in text, text
    by_bounces = {member for member, status in delivery(instance, address).items() if status == "by_bounces"}
    assert by_bounces == {"dead@big.example"}, by_bounces
    assert not set(standing(instance, address)) & set(many)
    assert {member for member, status in delivery(instance, other).items() if status == "by_bounces"} == {
        *few, "dead@good.example"}
    clock.days(7)
    code, text = status_of(instance)
    assert "big.example" not in text, text


@pytest.mark.main
def test_dead_mailboxes_of_one_domain(instances, sinks, clock):
    """A company closes: its members' mailboxes are unknown with one reply. The first day costs nothing, as that may be
    a directory that fails; from the second on they are charged."""
    sink = sinks(faults=["rcpt match=@closed.example do 550 5.1.1 User unknown"])
    instance = instances(sink.port, settings={"bounces": {**SOON["bounces"], "probes": "no"}}).start()
    gone = [f"m{number}@closed.example" for number in range(8)]
    address = instance.create_list("test", [*gone, *(f"m{number}@good.example" for number in range(8))],
                                   settings=["bounce_score_threshold=2"])
    clock.begin_day()
    for day in range(3):
        clock.days(day)
        instance.lmtp_send(f"From: p@example.net\r\nTo: {address}\r\nSubject: {day}\r\n"
                           f"Message-ID: <{day}@example.net>\r\n\r\nHello.\r\n".encode(), address)
        instance.wait_idle(60)
        scores = standing(instance, address)
        assert {member: scores.get(member, (0, "enabled")) for member in gone} == {
            member: [(0, "enabled"), (1, "enabled"), (0, "by_bounces")][day] for member in gone}, (day, scores)


@pytest.mark.main
def test_killed_runner_scores_once(instances, sink, clock):
    """kill -9 of the runner in the middle of its work, again and again."""
    members = [f"k{i}@k{i % 7}.example.org" for i in range(120)]
    instance = instances(sink.port, settings={"bounces": {"max_owner_notices_per_day": "0", "check_interval": "1s"},
                                              "spool": {"batch_limit": "8"}}).start()
    address = instance.create_list("test", members, owner="boss@example.net",
                                   settings=["bounce_notify_owner_on_bounce_increment=yes"])
    dice = random.Random(5)
    mails = [member for member in members for _ in range(3)]
    dice.shuffle(mails)
    killed = 0
    with instance.lmtp() as client:
        for number, member in enumerate(mails):
            words = "".join(chr(ord("a") + int(digit)) for digit in member.partition("@")[0][1:])  # no brake closes
            instance.lmtp_send(report(member, text=f"smtp; 550 5.1.1 user unknown {words}"), f"test-bounces@{HOST}",
                               sender="", client=client)
            if number % 60 == 29:
                pid, = wait_until(lambda: instance.pids("bounces"), 20, "the runner to be started again")
                time.sleep(dice.uniform(0.0, 0.2))
                os.kill(pid, signal.SIGKILL)
                killed += 1
    assert killed == 6
    instance.wait_idle()
    assert standing(instance, address) == {member: (1, "enabled") for member in members}
    days = rows(instance, "stat", address, "--by=all")
    assert sum(row["bounces"] for row in days) == len(mails) and sum(row["members"] for row in days) == len(members)
    assert subjects(mail.octets for mail in sink.transactions()) == {
        f"mail to {member} came back": 1 for member in members}
    assert not instance.set_aside()


def rewritten(octets, path, list_id, ordinal=None):
    """The entry as out writes it once more after a crash: with another ordinal, and so another name, when it cuts its
    refusals another way; else under the same name."""
    head, rest = octets.split(b"\n", 1)
    words = head.split(b" ")
    meta_length, recipients_length, length = (int(digits) for digits in words[2:5])
    meta = json.loads(rest[:meta_length])
    ordinal = meta["ordinal"] if ordinal is None else ordinal
    meta["ordinal"] = ordinal
    meta["writing"] ^= random.getrandbits(47) + 1
    line = json.dumps(meta, separators=(",", ":"), sort_keys=True).encode() + b"\n"
    message = rest[meta_length + recipients_length:][:length]
    name = hashlib.sha1(message + b"\0" + list_id.encode() + b"\0%d\0%d" % (meta["arrival"], ordinal)).hexdigest()
    words[2] = b"%010d" % len(line)
    words[6] = hashlib.sha1(line + b" ".join(words[2:5])).hexdigest().encode()
    fresh = path.with_name("fresh.tmp")
    fresh.write_bytes(b" ".join(words) + b"\n" + line + message + f"\nend listrunner 1 {name}\n".encode())
    os.chown(fresh, path.parent.stat().st_uid, path.parent.stat().st_gid)
    again = path.with_name(f"{path.name.partition('+')[0]}+{name}.msg")
    fresh.rename(again)
    return again


def test_refused_twice(instances, sinks, clock):
    """out may report a recipient in two entries after a crash: it counts once, and is told once."""
    sink = sinks(faults=["rcpt match=^gone@ do 550 5.1.1 gone"])
    instance = instances(sink.port, settings=SOON).start()
    address = instance.create_list("test", ["gone@example.org", "anne@example.org"], owner="boss@example.net",
                                   settings=["bounce_notify_owner_on_bounce_increment=yes"])
    pid, = instance.pids("bounces")
    os.kill(pid, signal.SIGSTOP)
    try:
        instance.lmtp_send(f"From: p@example.net\r\nTo: {address}\r\nSubject: x\r\n\r\nHi.\r\n".encode(), address)
        entry = wait_until(lambda: next((instance.spool / "bounces").glob("*.msg"), None), 20, "a refusal")
        octets = entry.read_bytes()
        assert rewritten(octets, entry, f"test.{HOST}", 7) != entry
    finally:
        os.kill(pid, signal.SIGCONT)
    instance.wait_idle()
    assert not entry.exists()
    again = rewritten(octets, entry, f"test.{HOST}")  # the runner had taken it when out died before its mark
    assert again == entry
    instance.stop()
    instance.start()
    instance.wait_idle()
    log = instance.log_text()
    assert not entry.exists() and log.count("result=scored") == 1 and log.count("result=done-before") == 2
    assert standing(instance, address) == {"gone@example.org": (1, "enabled")}
    assert [row["bounces"] for row in rows(instance, "show", "gone@example.org")] == [1]
    assert sum(mail.to == ["boss@example.net"] for mail in sink.transactions()) == 1
    assert not instance.set_aside()


# ---- wrong ends ----

class Ends:
    """A list whose bounces are looked at one by one."""

    def __init__(self, instance, sink, settings=()):
        self.instance, self.sink = instance, sink
        self.members = ["anne@example.org", "bart@example.org",
                        "somebody.with.a.very.long.name@department.university.example.org"]
        self.address = instance.create_list("test", self.members, owner="boss@example.net", settings=settings)

    def send(self, octets, to=None, ends=None):
        """Hands in one mail; waits until all is quiet. A line of the log that says how it ended must hold ends."""
        before = len(self.instance.log_text())
        self.instance.lmtp_send(octets, to or f"test-bounces@{HOST}", sender="")
        self.instance.wait_idle()
        lines = [line for line in self.instance.log_text()[before:].splitlines()
                 if "bounces[0]: " in line and "result=" in line]
        assert lines and (ends is None or any(ends in line for line in lines)), lines

    def standing(self):
        return standing(self.instance, self.address)

    def sent(self):
        return [to for mail in self.sink.transactions() for to in mail.to]


@pytest.fixture
def ends(instances, sink, clock):
    return Ends(instances(sink.port, settings=SOON).start(), sink)


@pytest.mark.main
def test_signed(ends):
    anne, bart, long = ends.members
    other = report("nobody@elsewhere.example")
    ends.send(other, signed(ends.instance, "test", anne), "result=scored")
    ends.send(other, signed(ends.instance, "test", anne).upper(), "result=not-counted")  # the same day
    ends.send(other, signed(ends.instance, "test", long), "result=scored")
    assert ends.standing() == {anne: (1, "enabled"), long: (1, "enabled")}
    assert "+=" in signed(ends.instance, "test", long)
    ends.send(report(bart, "4.2.2"), signed(ends.instance, "test", bart), "result=scored")
    ends.send(report(bart), signed(ends.instance, "test", bart), "result=scored")  # the graver one counts
    assert ends.standing()[bart] == (1, "enabled")
    assert ends.sent() == []


def expanded(address, origin):
    return (f"From: MAILER-DAEMON@mx.example.org\r\nSubject: Undelivered Mail Returned to Sender\r\n\r\n"
            f"This is the mail system at host mx.example.org.\r\n\r\n<{address}> (expanded from <{origin}>): host\r\n"
            f"    mx.example.org[192.0.2.1] said: 550 5.1.1 unknown user\r\n").encode()


@pytest.mark.main
def test_an_address_made_from_another(ends):
    """The recipient counts when it is a member, else the address that it was made from; never both."""
    anne, bart, long = ends.members
    ends.send(expanded(anne, bart), None, "result=scored")
    assert ends.standing() == {anne: (1, "enabled")}
    ends.send(expanded("alias@elsewhere.example", bart), None,
              f"address=<{bart}> reported=<alias@elsewhere.example> source=report")
    assert ends.standing() == {anne: (1, "enabled"), bart: (1, "enabled")}
    ends.send(expanded("alias@elsewhere.example", "other@elsewhere.example"), None, "result=no-member")
    ends.send(expanded("alias@elsewhere.example", long), signed(ends.instance, "test", long), "result=scored")
    assert set(ends.standing()) == {anne, bart, long} and ends.sent() == []


@pytest.mark.main
def test_not_ours(ends):
    anne, bart, long = ends.members
    good = signed(ends.instance, "test", anne)
    forged = good.replace("anne=", "bart=")
    ends.send(report(bart), forged, "we did not write that address")
    ends.send(report(bart), signed(ends.instance, "other", bart).replace("other-", "test-"), "we did not write")
    ends.send(report(bart), signed(ends.instance, "test", bart, purpose="unsubscribe"), "we did not write")
    ends.send(report(anne), signed(ends.instance, "test", anne, when=time.time() - 8 * WEEK), "too long ago")
    hashed = signed(ends.instance, "test", long)
    ends.send(report(long), hashed.replace("+=", "+=aa"), "we did not write")  # of another length
    ends.send(report(long), hashed.replace(hashed[14:16], "zz" if hashed[14] != "z" else "yy"), "we did not write")
    ends.send(report("nobody@elsewhere.example"), None, "result=no-member")
    ends.send(report(f"test-bounces@{HOST}"), None, "result=no-member")  # of what we sent there: a bounce of a bounce
    ends.send(report("nobody@example.org"), signed(ends.instance, "test", "nobody@example.org"), "result=no-member")
    ends.send(report(bart), signed(ends.instance, "test", bart, purpose="probe"), "result=scored")  # none is out
    assert ends.standing().get(bart) == (1, "enabled") and anne not in ends.standing()
    assert ends.sent() == []


def test_no_failures(ends):
    anne = ends.members[0]
    to = signed(ends.instance, "test", anne)
    for number in (None, to):
        ends.send(report(anne, "4.4.1", "delayed", "smtp; 451 try later"), number, "delayed")
        ends.send(report(anne, "2.0.0", "delivered", "smtp; 250 ok"), number, "(success)")
        ends.send(VACATION, number, "(auto-reply)")
    assert ends.standing() == {} and ends.sent() == []


@pytest.mark.main
def test_complaints(ends):
    anne, bart, long = ends.members
    ends.send(complaint("From: x@example.net\r\nTo: bart@example.org\r\n\r\nhi"), None, "names no copy of ours")
    assert bart in delivery(ends.instance, ends.address)
    ends.send(complaint(f"Return-Path: <{signed(ends.instance, 'test', bart)}>\r\nFrom: x@example.net\r\n\r\nhi"), None,
              "result=removed")
    failed = complaint(f"Return-Path: <{signed(ends.instance, 'test', anne)}>\r\nFrom: x@example.net\r\n\r\nhi")
    for kind in (b"auth-failure", b"not-spam"):  # nobody complains of the mail
        ends.send(failed.replace(b"Feedback-Type: abuse", b"Feedback-Type: " + kind), None, "complains of nothing")
        ends.send(failed.replace(b"Feedback-Type: abuse", b"Feedback-Type: " + kind),
                  signed(ends.instance, "test", anne), "complains of nothing")
    forwarded = len(ends.sent())
    leave = signed(ends.instance, "test", anne, purpose="unsubscribe", local="leave")
    ends.instance.cli("list", "set", ends.address, "bounce_complaint_action=disable")
    ends.send(complaint(f"List-Unsubscribe: <mailto:{leave}>\r\nFrom: x@example.net\r\n\r\nhi"), None,
              "result=disabled")
    ends.instance.cli("list", "set", ends.address, "bounce_complaint_action=ignore")
    ends.send(complaint("From: x@example.net\r\n\r\nhi"), signed(ends.instance, "test", long), "result=not-counted")
    assert delivery(ends.instance, ends.address) == {anne: "by_user", long: "enabled"}
    sent = ends.sent()  # bart can undo it
    assert set(sent) == {"boss@example.net", bart} and sent.count(bart) == 1 and len(sent) == forwarded + 1


def test_forwarding(ends):
    for where, receiver in (("administrators", "boss@example.net"), ("site_owner", f"postmaster@{HOST}")):
        ends.instance.cli("list", "set", ends.address, f"forward_unrecognized_bounces_to={where}")
        ends.send(PLAIN, None, "result=forwarded")
        assert ends.sent()[-1] == receiver
    ends.instance.cli("list", "set", ends.address, "forward_unrecognized_bounces_to=discard")
    ends.send(PLAIN, None, "result=discarded")
    ends.instance.cli("list", "set", ends.address, "process_bounces=no")
    ends.send(report(ends.members[0]), None, "does not process bounces")
    assert len(ends.sent()) == 2 and ends.standing() == {}
    for mail in ends.sink.transactions():
        assert mail.sender == "" and b"Is this the list?" in mail.octets


def test_bomb(instances, sink, clock):
    """Anybody can send to -bounces: what that costs others is bounded, and nobody gets an answer."""
    instance = instances(sink.port, settings={"bounces": {"max_owner_notices_per_day": "3",
                                                          "max_unsigned_per_day": "20"}}).start()
    ends = Ends(instance, sink)
    anne, bart, _ = ends.members
    with instance.lmtp() as client:
        for number in range(30):
            octets = PLAIN if number % 2 else report(anne)
            instance.lmtp_send(octets, f"test-bounces@{HOST}", sender="victim@example.com", client=client)
    instance.wait_idle()
    ends.send(report(bart), None, "max_unsigned_per_day")
    ends.send(report(bart), signed(instance, "test", bart), "result=scored")  # what is signed still counts
    assert ends.standing() == {anne: (1, "enabled"), bart: (1, "enabled")}
    assert ends.sent() == ["boss@example.net"] * 3
    assert sum(b"Further ones of today" in mail.octets for mail in sink.transactions()) == 1
    clock.days(1)
    ends.send(PLAIN, None, "result=forwarded")


def test_bomb_of_recipients(instances, sink, clock):
    """One report that names many costs a bounded number of members a point; the log tells of the others."""
    instance = instances(sink.port, settings={"bounces": {"max_unsigned_recipients": "5"}}).start()
    members = [f"m{number}@example.org" for number in range(12)]
    address = instance.create_list("test", members)
    late = "late@example.org"
    blocks = [f"Final-Recipient: rfc822; {late}\r\nAction: delayed\r\nStatus: 4.4.1\r\n\r\n"]
    blocks += [f"Final-Recipient: rfc822; {member}\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n" for member in members]
    many = report("nobody@example.org").decode().replace("Final-Recipient", "".join(blocks) + "Final-Recipient", 1)
    instance.lmtp_send(many.encode(), f"test-bounces@{HOST}", sender="")
    instance.wait_idle()
    assert standing(instance, address) == {member: (1, "enabled") for member in members[:5]}
    assert "recipients=8 result=not-counted (more than max_unsigned_recipients in one mail)" in instance.log_text()
    instance.lmtp_send(many.encode(), signed(instance, "test", members[9]), sender="")  # it is about that one alone
    instance.wait_idle()
    assert standing(instance, address) == {member: (1, "enabled") for member in [*members[:5], members[9]]}


@pytest.mark.main
def test_list_that_is_gone(ends):
    pid, = ends.instance.pids("bounces")
    os.kill(pid, signal.SIGSTOP)
    ends.instance.lmtp_send(report(ends.members[0]), f"test-bounces@{HOST}", sender="")
    ends.instance.cli("list", "remove", "--yes", ends.address)
    os.kill(pid, signal.SIGCONT)
    ends.instance.wait_idle()
    assert "result=discarded (the list is gone)" in ends.instance.log_text()
    assert not ends.instance.set_aside() and ends.sent() == []


@pytest.mark.main
def test_probe_that_arrives(ends, clock):
    """Nothing comes back of it: the member stays, with a clean slate."""
    anne = ends.members[0]
    ends.instance.cli("list", "set", ends.address, "bounce_score_threshold=1")
    ends.send(report(anne), None, "result=probed")
    probe, = ends.sink.transactions()
    assert probe.to == [anne] and probe.sender == signed(ends.instance, "test", anne, purpose="probe")
    assert b"Precedence" not in probe.octets.partition(b"\r\n\r\n")[0]
    assert ends.standing() == {anne: (0, "enabled")}
    clock.days(11)
    wait_until(lambda: ends.standing() == {}, 20, "the probe to count as arrived")
    ends.send(report(anne), signed(ends.instance, "test", anne, purpose="probe"), "result=probed")  # late: a new one
    assert delivery(ends.instance, ends.address)[anne] == "enabled"


@pytest.mark.parametrize("attached", [True, False])
def test_what_came_back_is_in_the_probe(ends, attached):
    anne = ends.members[0]
    ends.instance.cli("list", "set", ends.address, "bounce_score_threshold=1",
                      f"probe_add_dsn={'yes' if attached else 'no'}")
    ends.send(report(anne), None, "result=probed")
    probe, = ends.sink.transactions()
    assert probe.to == [anne]
    assert (b"message/rfc822" in probe.octets and b"message/delivery-status" in probe.octets) == attached


@pytest.mark.parametrize("length", [34, 35, 43, 60, 64])
def test_long_list_names(instances, sink, clock, length):
    """However long its name, a list's copies and probes are signed: forged reports bring a probe and nothing worse."""
    instance = instances(sink.port, settings={**SOON, "pipeline": {"verp_delivery_interval": "1"}}).start()
    name = ("announcements-of-the-" + "department-" * 5)[:length - 1] + "z"
    anne, long = "anne@example.org", "somebody.with.a.very.long.name@department.university.example.org"
    address = instance.create_list(name, [anne, long], owner="boss@example.net",
                                   settings=["bounce_score_threshold=1", "bounce_you_are_disabled_warnings=0"])
    instance.lmtp_send(f"From: p@example.net\r\nTo: {address}\r\nSubject: x\r\n\r\nHi.\r\n".encode(), address)
    instance.wait_idle()
    copies = {mail.to[0]: mail for mail in sink.transactions()}
    assert set(copies) == {anne, long}
    plain = f"{name}-bounces@{HOST}" if length <= 56 else copies[long].sender.partition("+")[0] + f"@{HOST}"
    for member, mail in copies.items():
        assert mail.sender == signed(instance, name, member)
        assert len(mail.sender.partition("@")[0]) <= 64
    for day in range(3):  # anybody can write these
        clock.days(day)
        for member in (anne, long):
            instance.lmtp_send(report(member), plain, sender="")
            instance.wait_idle()
    assert delivery(instance, address) == {anne: "enabled", long: "enabled"}
    probes = sink.transactions()[2:]
    assert sorted(mail.to[0] for mail in probes) == [anne] * 3 + [long] * 3
    for number, mail in enumerate(probes):
        when = time.time() + number // 2 * DAY
        assert mail.sender == signed(instance, name, mail.to[0], purpose="probe", when=when)
    spam = complaint(f"Return-Path: <{copies[long].sender}>\r\nFrom: x@example.net\r\n\r\nhi")
    instance.lmtp_send(report(anne), signed(instance, name, anne, purpose="probe", when=clock.now()), sender="")
    instance.lmtp_send(spam, plain, sender="")
    wait_until(lambda: delivery(instance, address) == {}, 20, lambda: f"both gone: {delivery(instance, address)}")
    assert "result=disabled" in instance.log_text() and not instance.set_aside()
    instance.wait_idle()
    for mail in sink.transactions():
        owner, = re.findall(r"[^<>@: ]+-owner@", mail.octets.decode())[:1] or ["-"]
        assert len(mail.sender.partition("@")[0]) <= 64 and len(owner) <= 65


@pytest.mark.main
def test_enabled_again(ends, clock):
    """A member whom a person enables again is neither warned nor removed."""
    anne = ends.members[0]
    ends.instance.cli("list", "set", ends.address, "bounce_score_threshold=1", "bounce_you_are_disabled_warnings=1")
    ends.send(report(anne), None, "result=probed")
    ends.send(report(anne), ends.sink.transactions()[-1].sender, "result=disabled")
    wait_until(lambda: "warnings=1 result=warned" in ends.instance.log_text(), 20, "the first warning")
    ends.send(report(anne), None, "disabled-already")
    ends.instance.cli("member", "set", ends.address, anne, "--delivery-status=enabled")
    clock.days(8)
    wait_until(lambda: ends.standing() == {}, 20, "the slate to be clean")
    assert anne in delivery(ends.instance, ends.address)


def test_secret_can_change(ends):
    anne, bart, _ = ends.members
    before = signed(ends.instance, "test", anne)
    ends.instance.cli("bounce", "rotate")
    assert signed(ends.instance, "test", anne) != before
    ends.send(report(anne), before, "result=scored")
    ends.send(report(bart), signed(ends.instance, "test", bart), "result=scored")
    for words in (("config", "show"), ("bounce", "ls"), ("status",)):
        assert "secret" not in ends.instance.run(*words).stdout.lower()
