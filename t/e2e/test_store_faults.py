# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Entries of one batch of which one cannot be stored, or is the same as another: the others are done, and it is done
once, later or not at all."""
import contextlib
import os
import signal
import sqlite3

import pytest

from support.instance import HOST, wait_until
from support.post import post

pytestmark = [pytest.mark.sqlite, pytest.mark.main]

ANNE, BOB = "anne@example.org", "bob@example.net"


def change(instance, sql):
    with contextlib.closing(sqlite3.connect(instance.directory / "lib" / "listrunner.db", timeout=60)) as database:
        database.executescript(sql)


@contextlib.contextmanager
def batch(instance, runner, count):
    """Hold the runner while entries are put into its queue: it claims these together."""
    pid, = instance.pids(runner)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
        wait_until(lambda: len(instance.files(runner)[runner]) == count, 20, "entries in the queue")
    finally:
        os.kill(pid, signal.SIGCONT)


def ask_to_join(instance, sender, name):
    octets = f"From: {sender}\r\nSubject: \r\nMessage-ID: <{os.urandom(8).hex()}@example.org>\r\n\r\n".encode()
    instance.lmtp_send(octets, f"{name}-join@{HOST}", sender=sender)


def test_a_request_that_cannot_be_stored_is_undone(instance, sink):
    """It left nothing behind that makes the next try believe that all is done."""
    for name in ("one", "two"):
        instance.create_list(name, owner="olga@example.com")
    change(instance, "CREATE TRIGGER bad BEFORE INSERT ON outbox WHEN EXISTS (SELECT 1 FROM pending JOIN list ON "
                     "list.key = pending.list WHERE pending.number = (SELECT max(number) FROM pending) AND "
                     "pending.address = 'anne@example.org' AND list.list_name = 'one') "
                     "BEGIN SELECT RAISE(ABORT, 'bad'); END")
    with batch(instance, "command", 3):
        for sender, name in ((ANNE, "one"), (BOB, "two"), (ANNE, "two")):
            ask_to_join(instance, sender, name)
    wait_until(lambda: "result=later" in instance.log_text(), 20, "the request to fail")
    wait_until(lambda: len(sink.transactions()) == 2, 20, "the letters of the others")
    assert {address for one in sink.transactions() for address in one.to} == {ANNE, BOB}
    sink.purge()
    change(instance, "DROP TRIGGER bad")
    wait_until(lambda: sink.transactions(), 60, "the letter that was missing")
    instance.wait_idle()
    letter, = sink.take_mail()[ANNE]
    assert f"one@{HOST}" in str(letter)
    with contextlib.closing(sqlite3.connect(instance.directory / "lib" / "listrunner.db")) as database:
        assert database.execute("SELECT count(*) FROM pending").fetchone() == (3,)


def test_the_same_post_twice_in_one_batch(instance, sink):
    """Each list gets it once."""
    for name in ("one", "two"):
        instance.create_list(name, members=[ANNE, BOB])
    with batch(instance, "in", 3):
        for name in ("one", "two", "one"):
            address = f"{name}@{HOST}"
            instance.lmtp_send(post(to=address, message_id="<same@example.net>"), address)
    instance.wait_idle()
    assert sorted(address for one in sink.transactions() for address in one.to) == sorted([ANNE, BOB] * 2)
    assert instance.log_text().count("result=discard") == 1
