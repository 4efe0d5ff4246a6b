# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real Postfix in front and behind: 500 real mails, 20 members, each once, in order, body for body."""
import mailbox
import smtplib
import time
from collections import Counter

import pytest

from support import corpus, postfix
from support.instance import HOST, Instance, need, wait_until
from support.wire import body_sha, message_id, wire

MEMBERS = [f"m{i}@members.example.org" for i in range(20)]
THREAD_LIMIT = 8
SECONDS = 240


class Chain:
    """Postfix → Listrunner → Postfix → maildirs."""

    def __init__(self, instances, settings=None):
        self.parts = []
        try:
            self.behind = self.keep(postfix.behind(MEMBERS)).start()
            self.instance: Instance = instances(self.behind.port, settings=settings).start()
            self.front = self.keep(postfix.front(HOST, self.instance.port)).start()
        except BaseException:
            self.close()
            raise
        self.address = self.instance.create_list("test", MEMBERS)

    def keep(self, part):
        self.parts.append(part)
        return part

    def close(self):
        for part in self.parts:
            part.close()

    def send(self, mails, pause=0.0):
        with smtplib.SMTP("127.0.0.1", self.front.port, timeout=60) as client:
            for mail in mails:
                client.sendmail("poster@example.net", [self.address], mail.octets, ["BODY=8BITMIME"])
                time.sleep(pause)

    def received(self):
        return sum(1 for path in self.behind.maildirs.glob("*/new/*"))

    def wait(self, wanted, seconds=60):
        """Until the maildirs have so many mails and nothing is on its way."""
        wait_until(lambda: self.received() >= wanted, seconds,
                   lambda: f"{wanted} mails in the maildirs; {self.received()} are there, "
                   f"Postfix empty: front {self.front.empty()}, behind {self.behind.empty()}\n"
                   f"{self.instance.log_text()[-2000:]}", step=0.1)
        # Repeats count as mails, too. A file that qmgr found locked lies LOCKED_DELAY, whatever the other settings say.
        wait_until(self.front.empty, 30 + postfix.LOCKED_DELAY, "Postfix in front to be done")
        self.instance.wait_idle()
        wait_until(self.behind.empty, 30, "Postfix behind to be done")

    def boxes(self):
        """For each member its mails in the order of delivery."""
        for member in MEMBERS:
            directory = self.behind.maildirs / member / "new"
            names = sorted(directory.iterdir(), key=lambda path: path.stat().st_mtime_ns)
            yield member, [wire(name.read_bytes()) for name in names]


@pytest.fixture
def chain(instances, until_end):
    need(postfix.missing())
    return lambda **options: until_end(Chain(instances, **options))


@pytest.fixture(scope="session")
def mails(list_mails):
    return corpus.distinct(500, THREAD_LIMIT)


def assert_each_once_in_order(chain, mails):
    bodies = {mail.message_id: body_sha(mail.octets) for mail in mails}
    thread = {mail.message_id: mail.thread for mail in mails}
    order = {}
    for mail in mails:
        order.setdefault(mail.thread, []).append(mail.message_id)
    for member, box in chain.boxes():
        names = [message_id(octets) for octets in box]
        counted = Counter(names)
        assert counted == Counter(bodies.keys()), \
            f"{member}: double {[n for n, c in counted.items() if c > 1][:3]}, " \
            f"missing {list(set(bodies) - set(counted))[:3]}"
        differ = [name for name, octets in zip(names, box) if body_sha(octets) != bodies[name]]
        assert not differ, f"{member}: bodies differ: {differ[:3]}"
        got = {}
        for name in names:
            got.setdefault(thread[name], []).append(name)
        wrong = [key for key in order if got[key] != order[key]]
        assert not wrong, f"{member}: out of order: {wrong[:3]}"


def test_500_mails_to_20_members(chain, mails):
    one = chain()
    done = 0
    for mails_of_round in corpus.rounds(mails):
        one.send(mails_of_round)
        done += len(mails_of_round)
        one.wait(done * len(MEMBERS), SECONDS)
    assert_each_once_in_order(one, mails)
    archive = mailbox.mbox(one.instance.archive / "mbox" / f"test.{HOST}.mbox", create=False)
    assert sorted(mail["Message-ID"].replace("\n", "").strip()
                  for mail in archive) == sorted(mail.message_id for mail in mails)
