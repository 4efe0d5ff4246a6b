# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A stranger sends whatever costs something, for a day: mail that is held, asks, guesses or is answered, and requests
to REST. It stays within bounds in each hour, keeps nobody else from leaving and joining, and when its time is over
there are as many rows and files, and as much disk and memory in use, as before."""
import re
import smtplib
import sqlite3
from pathlib import Path

import pytest

from support.clock import DAY
from support.instance import HOST
from support.rest import Rest, serving

pytestmark = pytest.mark.sqlite

ANNE, VICTIM, OLGA = "anne@members.example.org", "victim@example.org", "olga@owners.example.org"
BOMBER = "Received: from x (x [198.51.100.{}]) by mx.example.com; Thu, 1 Jan 2026 00:00:00 +0000"
HOME = "Received: from y (y [192.0.2.1]) by mx.example.com; Thu, 1 Jan 2026 00:00:00 +0000"
LISTS = (f"test@{HOST}", f"other@{HOST}")
LETTERS_OF_HOST = 60
HOURS, HOUR, ROUNDS = 24, 3600, 10  # rounds of the bomber in an hour
LEAVES_AT = 12  # the hour in which the victim answers a letter of the first
MEMORY = 8 << 10  # KiB that a runner may have more at the end than after the first hour
DISK = 2_000_000  # bytes that may stay in use; the database gives back what is more than that
LOG = 8_000_000  # bytes that SQLite's log may have, which is written anew from 4 MB on
JOBS = ("held-expiry", "requests", "strangers", "tickets", "autoresponses", "outbox", "outbox", "records")
# Tables with rows of the timer, of the orders that this test gives it, and with one row, now zero, of each list.
OWN = ("job", "outbox_unit", "held_sum")


def rows(instance):
    with sqlite3.connect(f"file:{instance.directory}/lib/listrunner.db?mode=ro", uri=True) as database:
        tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
                for name in tables if name not in OWN}


def files(instance):
    """{path: bytes on the disk} of all files and directories below spool and lib, but for the notes that out
    makes now and then."""
    return {str(path): path.stat().st_blocks * 512
            for top in (instance.spool, instance.directory / "lib") for path in top.rglob("*")
            if path.parent != instance.spool / ".out"}


def memory(instance):
    """{(runner, process): KiB that it has of its own}."""
    def of(pid):
        return int(re.search(r"^RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)[1])
    return {(group["runner"], child["pid"]): of(child["pid"])
            for group in instance.status()["runners"] for child in group["children"]}


def figure(instance, name):
    return float(re.search(rf"^listrunner_{re.escape(name)} (\S+)$", instance.cli("metrics"), re.M)[1])


class Bomber:
    """Sends over one connection, in the name of whomever it likes."""

    def __init__(self, client):
        self.client, self.sent, self.refused = client, 0, 0

    def send(self, sender, to, *lines, text="x", host=7):
        self.sent += 1
        head = [BOMBER.format(host), f"From: {sender}", f"Message-ID: <{self.sent}@bomber.example>", *lines]
        octets = "\r\n".join(head + ["", text, ""]).encode()
        try:
            self.client.sendmail(sender, [to], octets)
        except (smtplib.SMTPDataError, smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused) as refusal:
            assert "552" in str(refusal), refusal
            self.refused += 1

    def an_hour(self, hour):
        for at in range(hour * ROUNDS, (hour + 1) * ROUNDS):
            name = "test" if at % 2 else "other"
            self.send(f"evil{at}@example.net", f"{name}@{HOST}", f"To: {name}@{HOST}", text="spam\r\n" * 4000)
            self.send(f"evil{at}@example.net", f"{name}@{HOST}", f"To: {name}@{HOST}", "Approved: sesame")
            self.send(VICTIM, f"{name}-request@{HOST}", text="help\r\nbuy this")
            self.send(f"vic.tim+{at}@example.org", f"{name}-join@{HOST}", host=7 + at % 100)
            self.send(f"evil{at}@example.net", f"{name}-request@{HOST}", text=f"join address=victim+{at}@example.org")
            self.send(ANNE, f"{name}-leave@{HOST}")
            self.send(ANNE, f"{name}-request@{HOST}", text="help")
            self.send(f"evil{at}@example.net", f"{name}-confirm+{at:a>26}@{HOST}".replace("0", "b").replace("1", "c"))
        for _ in range(2):
            self.send("evil@example.net", f"test@{HOST}", text="spam\r\n" * 40000)


def confirm(instance, sink, to):
    """The person answers the letter that came to the address, from home."""
    instance.wait_idle()
    asked = [letter for letter in sink.take_mail()[to] if "confirm" in letter["Subject"]][-1]
    answer(instance, to, asked["From"].addresses[0].addr_spec, asked["Subject"])
    instance.wait_idle()


def answer(instance, sender, to, subject=""):
    head = [HOME, f"From: {sender}", f"Subject: Re: {subject}", f"Message-ID: <{to}{subject[:4]}>", "", "", ""]
    octets = "\r\n".join(head).encode()
    instance.lmtp_send(octets, to, sender=sender)


def leave_and_join(instance, sink, asked):
    """A member answers one of the letters that ask whether to leave, and comes back."""
    answer(instance, ANNE, asked["From"].addresses[0].addr_spec, asked["Subject"])
    instance.wait_idle()
    left = [address for address in LISTS if ANNE not in instance.cli("member", "ls", address, "--names")]
    assert len(left) == 1
    answer(instance, ANNE, left[0].replace("@", "-join@"))
    instance.wait_idle()
    if ANNE not in instance.cli("member", "ls", left[0], "--names"):
        confirm(instance, sink, ANNE)
    assert ANNE in instance.cli("member", "ls", left[0], "--names")


def test_a_day_of_a_bomber(clock, instances, sink, tmp_path):
    start = DAY - clock.now() % DAY + 60  # soon after midnight, since letters are counted by the day
    clock.seconds(start)
    settings = serving(tmp_path)
    settings.setdefault("site", {}).update(max_letters_per_host_per_day=LETTERS_OF_HOST, site_owner=OLGA)
    instance = instances(sink.port, settings=settings).start()
    api, guess = Rest(instance), Rest(instance, password="guess")
    for address in LISTS:
        instance.create_list(address.split("@")[0], [ANNE], owner=OLGA, settings=[
            "max_message_size=40", "max_held_size=1", "refuse_message_size=100", "max_days_to_hold=3",
            "admin_immed_notify=no", "default_nonmember_action=hold",
            "moderator_password=open", "send_goodbye_message=no", "send_welcome_message=no"])
    assert api.call("GET", "lists").status == 200
    for job in JOBS:  # which makes files that stay
        instance.run_job(job)
    instance.wait_idle()
    sink.purge()
    rows_before, files_before = rows(instance), files(instance)

    letters = {}
    with instance.lmtp() as client:
        bomber = Bomber(client)
        for hour in range(HOURS):
            clock.seconds(start + hour * HOUR)
            bomber.an_hour(hour)
            for verb in ("GET", "POST"):
                assert guess.call(verb, "lists", fqdn_listname="x" * 10000).status in (401, 429)
            instance.wait_idle(120)
            assert api.call("GET", "lists").status == 200
            assert bomber.refused == 2 * (hour + 1)
            assert figure(instance, "held_bytes") == figure(instance, "held_bytes_strangers") <= 2 * (1 << 19)
            assert figure(instance, 'account_greatest{kind="host_letters"}') <= LETTERS_OF_HOST + 1
            assert figure(instance, 'account_greatest{kind="passwords"}') <= 2 * 10
            for to, found in sink.take_mail().items():
                letters.setdefault(to, []).extend(found)
            victims = sum(len(found) for to, found in letters.items() if to.replace(".", "").startswith("victim"))
            assert victims <= 10 + 1 + 10 + 10, letters.keys()
            asked = [letter for letter in letters[ANNE] if "confirm" in letter["Subject"]]
            assert len(asked) == (2 if hour <= LEAVES_AT else 3) and len(letters[ANNE]) <= 3 + 10 + 1
            if hour == 0:
                memory_before = memory(instance)
            if hour == LEAVES_AT:
                leave_and_join(instance, sink, asked[0])

    for _ in range(2):  # spent tokens are known for a while after they were
        clock.seconds(clock.offset + 70 * DAY)
        for job in JOBS:
            instance.run_job(job)
    rows_after, files_after = rows(instance), files(instance)
    rows_before["list_log"] += 2  # a member has left and come back
    assert not {name: (rows_before[name], count) for name, count in rows_after.items() if count > rows_before[name]}
    assert figure(instance, "held_bytes") == figure(instance, "strangers") == 0
    assert len(files_after) <= len(files_before), sorted(files_after.keys() - files_before.keys())
    log = f"{instance.directory}/lib/listrunner.db-wal"
    assert files_after.pop(log) < LOG
    assert sum(files_after.values()) < sum(files_before.values()) + DISK - files_before[log]
    memory_after = memory(instance)
    assert memory_after.keys() == memory_before.keys(), "no process was started anew"
    assert not {who: (before, memory_after[who]) for who, before in memory_before.items()
                if memory_after[who] > before + MEMORY}
