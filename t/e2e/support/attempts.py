# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Load of which every attempt can be told from every other, and the accounts afterwards.

An attempt to hand in a post has a Message-ID of its own. So it is known of each whether it was accepted (then every
member gets it), refused (then nobody does), or neither: the connection ended before the reply came, and the post is
there wholly or not at all."""
import mailbox
import random
import smtplib
import threading
import time
from collections import defaultdict
from pathlib import Path

from support.fragments import fragment
from support.post import post
from support.wire import body_sha, message_id, wire

ACCEPTED, REFUSED, UNKNOWN = "accepted", "refused", "unknown"


class Attempt:
    def __init__(self, name, address, body_sha):
        self.name, self.address, self.body_sha, self.result = name, address, body_sha, UNKNOWN


def bounce_report(address):
    """Return what a mail host writes of an address that it does not know."""
    return (f"From: MAILER-DAEMON@mx.example.org\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n"
            f"Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n\r\n"
            f"--x\r\n\r\nSorry.\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\n"
            f"Reporting-MTA: dns; mx.example.org\r\n\r\nFinal-Recipient: rfc822; {address}\r\nAction: failed\r\n"
            f"Status: 5.1.1\r\n\r\n--x--\r\n").encode()


class Senders:
    """Threads that hand in posts, each as fast as it gets replies, less a pause. lists: {address: members}.
    on_accepted: called with the Message-ID as soon as the 250 is there. in_parts: lists that get each post cut into
    parts (message/partial) in any order; a part is said again until it is taken, so every such post is accepted.
    bounced: of these lists some posts come back from a member, as reports to LIST-bounces."""

    def __init__(self, instance, lists, seed, count=4, pause=0.0, on_accepted=None, in_parts=(), bounced=()):
        self.instance, self.lists, self.seed, self.pause = instance, lists, seed, pause
        self.count, self.on_accepted, self.in_parts, self.bounced = count, on_accepted, in_parts, bounced
        self.attempts = {}
        self.reports = []  # of (member, Attempt)
        self.errors, self.threads, self.serial = [], [], 0
        self.halt = threading.Event()

    def start(self):
        self.halt.clear()
        self.serial += 1
        self.threads = [threading.Thread(target=self._run, args=[number], daemon=True) for number in range(self.count)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        """No more posts; raises what went wrong in the threads."""
        self.halt.set()
        for thread in self.threads:
            thread.join(180)
        assert not any(thread.is_alive() for thread in self.threads), "a sender hangs"
        self.threads = []
        if self.errors:
            raise self.errors[0]

    def accepted(self):
        return sum(attempt.result == ACCEPTED for attempt in list(self.attempts.values()))

    def forget(self):
        """Forget what was sent so far: it is accounted for."""
        self.attempts = {}
        self.reports = []

    def _run(self, number):
        chance = random.Random(f"{self.seed}/{self.serial}/{number}")
        client, made = None, 0
        try:
            while not self.halt.is_set():
                made += 1
                client = self._send(client, f"<{self.serial}.{number}.{made}@load.example>", chance)
                if client is None:
                    time.sleep(0.02)
                time.sleep(self.pause * chance.random() * 2)
        except Exception as error:  # raised again by stop(), in the test's own thread
            self.errors.append(error)

    def _send(self, client, name, chance):
        """The client, for the next post; None when the connection is no more."""
        try:
            client = client or smtplib.LMTP("127.0.0.1", self.instance.port, timeout=30)
        except (OSError, smtplib.SMTPException):
            return None
        address = chance.choice(sorted(self.lists))
        lines = 2000 if chance.random() < 0.03 else chance.randrange(1, 60)
        octets = post(message_id=name, body="".join(f"{name} line {n} of {lines}\n" for n in range(lines)), to=address)
        attempt = self.attempts[name] = Attempt(name, address, body_sha(octets))
        if address in self.in_parts:
            return self._send_parts(client, attempt, octets, chance)
        client = self._offer(client, attempt, octets, address)
        if attempt.result == ACCEPTED and self.on_accepted:
            self.on_accepted(name)
        if client and address in self.bounced and chance.random() < 0.5:
            client = self._send_report(client, address, chance)
        return client

    def _send_report(self, client, address, chance):
        member, attempt = chance.choice(self.lists[address]), Attempt("report", address, None)
        self.reports.append((member, attempt))
        return self._offer(client, attempt, bounce_report(member), address.replace("@", "-bounces@"))

    def _offer(self, client, attempt, octets, address):
        """One try; the client, or None."""
        try:
            self.instance.lmtp_send(octets, address, client=client)
        except smtplib.SMTPResponseException as error:
            return self._refused(attempt, {address: (error.smtp_code, error.smtp_error)}, client)
        except smtplib.SMTPRecipientsRefused as error:
            return self._refused(attempt, error.recipients, client)
        except (OSError, smtplib.SMTPServerDisconnected):
            return None
        attempt.result = ACCEPTED
        return client

    def _send_parts(self, client, attempt, octets, chance):
        parts = fragment(octets, attempt.name.strip("<>"), chance.randint(2, 6), "poster@example.net", attempt.address,
                         chance)
        parts += [part for part in parts if chance.random() < 0.1]
        chance.shuffle(parts)
        for part in parts:
            client = self._insist(client, part, attempt.address)
        attempt.result = ACCEPTED
        if self.on_accepted:
            self.on_accepted(attempt.name)
        return client

    def _insist(self, client, octets, address):
        """Until it gets its 250, over whatever connection; that."""
        while True:
            try:
                client = client or smtplib.LMTP("127.0.0.1", self.instance.port, timeout=30)
                self.instance.lmtp_send(octets, address, client=client)
                return client
            except (smtplib.SMTPException, OSError) as error:
                codes = [code for code, _ in getattr(error, "recipients", {}).values()]
                codes += [error.smtp_code] if isinstance(error, smtplib.SMTPResponseException) else []
                assert all(400 <= code < 500 for code in codes), error
                client = client if codes and client.sock else None
                time.sleep(0.02)

    @staticmethod
    def _refused(attempt, replies, client):
        attempt.result = REFUSED
        assert all(400 <= code < 500 for code, _ in replies.values()), f"{attempt.name}: {replies}"
        return client if client.sock else None


def last_flights(transactions, flight):
    """Ids of each session's last transactions that had no more recipients together than a flight may have, and of its
    last one in any case. Those that were refused as a whole count: they were under way, too."""
    sessions = defaultdict(list)
    for t in transactions:
        sessions[t.envelope["session"]].append(t)
    found = set()
    for of_session in sessions.values():
        recipients = 0
        for t in reversed(of_session):
            recipients += len(t.to)
            if t is not of_session[-1] and recipients > flight:
                break
            found.add(id(t))
    return found


class Accounts:
    """Accounts for what came of the attempts. flight: recipients that may be under way at once over a connection, in
    several transactions; 0 for one transaction at a time. faults: violations in words; repeats: recipients that got a
    copy once more; delivered, accepted: counts."""

    def __init__(self, attempts, lists, transactions, maildirs=(), mboxes=(), flight=0):
        self.attempts, self.lists, self.faults, self.repeats = attempts, lists, [], 0
        self.accepted = sum(attempt.result == ACCEPTED for attempt in attempts.values())
        self.unknown = sum(attempt.result == UNKNOWN for attempt in attempts.values())
        kept = [t for t in transactions if t.result != "refused"]
        self.delivered = sum(len(t.to) for t in kept)
        arrived = self._members(kept, last_flights(transactions, flight))
        for archive, found in [*((path, self._maildir(path)) for path in maildirs),
                               *((path, self._mbox(path)) for path in mboxes)]:
            self._archive(archive, found, arrived)

    def _fault(self, text):
        self.faults.append(text)

    def _members(self, transactions, in_flight):
        """Checks the members' copies; the names of attempts that arrived. in_flight: ids of transactions that may have
        been under way when their session ended."""
        copies = defaultdict(list)
        for t in transactions:
            attempt = self.attempts.get(t.message_id)
            if attempt is None or attempt.result == REFUSED:
                self._fault(f"{t.message_id} was never accepted, but arrived: {t.envelope}")
            elif body_sha(t.octets) != attempt.body_sha:
                self._fault(f"{t.message_id} arrived with another body: {t.envelope}")
            for to in t.to:
                copies[t.message_id, to].append(t)
        arrived = {name for name, _ in copies}
        for name, attempt in self.attempts.items():
            if attempt.result == ACCEPTED or name in arrived:
                lost = [to for to in self.lists[attempt.address] if (name, to) not in copies]
                if lost:
                    self._fault(f"{name} ({attempt.result}) did not reach {len(lost)} members of {attempt.address}: "
                                f"{lost[:5]}")
        for (name, to), found in copies.items():
            self.repeats += len(found) - 1
            for t in found[:-1]:
                if id(t) not in in_flight:
                    self._fault(f"{name} came to {to} again, though its first transaction was not in flight: "
                                f"{[t.envelope for t in found]}")
        return arrived

    def _archive(self, archive, found, arrived):
        for name, shas in found.items():
            attempt = self.attempts.get(name)
            if attempt is None or attempt.result == REFUSED:
                self._fault(f"{name} was never accepted, but is in {archive}")
            elif len(shas) > 1:
                self._fault(f"{name} is {len(shas)} times in {archive}")
            elif attempt.body_sha not in shas:
                self._fault(f"{name} has another body in {archive}")
        for name, attempt in self.attempts.items():
            if (attempt.result == ACCEPTED or name in arrived) and name not in found:
                self._fault(f"{name} ({attempt.result}) is not in {archive}")

    @staticmethod
    def _maildir(path):
        """{Message-ID: [digest of the body]} of all maildirs below path."""
        found = defaultdict(list)
        for file in Path(path).glob("*/new/*"):
            octets = wire(file.read_bytes())
            found[message_id(octets)].append(body_sha(octets))
        return found

    @staticmethod
    def _mbox(path):
        found = defaultdict(list)
        for file in Path(path).glob("*.mbox"):
            box = mailbox.mbox(file, create=False)
            for key in box.keys():
                octets = wire(box.get_bytes(key))
                found[message_id(octets)].append(body_sha(octets))
            box.close()
        return found
