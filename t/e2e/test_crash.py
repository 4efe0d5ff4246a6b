# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""kill -9 of random runners and of the master while mail flows: nothing lost, and only what was in flight
to the relay at the moment of a crash may arrive twice. The repeats are counted and printed with their bound."""
import os
import random
import signal
import threading
import time

import pytest

from support import corpus, postfix
from support.instance import need, wait_until
from support.load import Load, missing_and_repeats
from support.post import post
from support.wire import message_id
from test_postfix import Chain, MEMBERS

pytestmark = pytest.mark.proof

SEED = int(os.environ.get("LISTRUNNER_SEED", "1"))  # another one kills at other moments
CONCURRENCY = 4
RUNNERS = ("lmtp", "in", "pipeline", "out", "out", "out", "archive")  # out has most to lose
SETTINGS = {
    "transport.relay": {"concurrency": CONCURRENCY, "recipients_per_transaction": len(MEMBERS)},
    "master": {"restart_delay_min": "20ms", "restart_delay_max": "200ms"},
    "spool": {"batch_limit": 16},
    "runner.in": {"instances": 2}, "runner.out": {"instances": 2}, "runner.pipeline": {"instances": 2},
}
# The most deliveries that one crash of an instance of out repeats: per session the recipients of a transaction.
BOUND_OF_ONE_KILL = CONCURRENCY // SETTINGS["runner.out"]["instances"] * len(MEMBERS)


class Killer:
    """Kills until told to stop; counts the victims."""

    def __init__(self, instance, seed, master_share):
        self.instance, self.chance, self.master_share = instance, random.Random(seed), master_share
        self.kills = {name: 0 for name in (*RUNNERS, "master")}

    def strike(self):
        if self.chance.random() < self.master_share:
            self.instance.kill()
            self.kills["master"] += 1
            time.sleep(self.chance.random() * 0.1)
            self.instance.start(wait=False)
            return
        name = self.chance.choice(RUNNERS)
        pids = self.instance.pids(name)
        if pids:
            try:
                os.kill(self.chance.choice(pids), signal.SIGKILL)
                self.kills[name] += 1
            except ProcessLookupError:
                pass

    def while_alive(self, thread, pause, at_least):
        while thread.is_alive() or sum(self.kills.values()) < at_least:
            self.strike()
            time.sleep(self.chance.random() * pause)

    def bound(self):
        """Children of a killed master leave by themselves, but one that is slow is killed: it counts for all."""
        return (self.kills["out"] + self.kills["master"] * SETTINGS["runner.out"]["instances"]) * BOUND_OF_ONE_KILL


def judge(copies, mails, killer, load_retries):
    missing, repeats = missing_and_repeats(copies, mails, MEMBERS)
    count = sum(repeats.values())
    print(f"\nseed {SEED}: {len(mails)} mails to {len(MEMBERS)} members; killed {killer.kills}; "
          f"{load_retries} times the sender had to repeat; {count} copies arrived twice, the bound is {killer.bound()}")
    assert sum(killer.kills.values()) >= 20 and killer.kills["out"] > 0 and killer.kills["master"] > 0, killer.kills
    assert not missing, f"{len(missing)} copies lost: {missing[:5]}"
    assert count <= killer.bound()
    return repeats


@pytest.fixture(scope="session")
def mails(list_mails):
    return corpus.distinct(500, 1000)


def test_into_the_sink(instances, sinks, mails):
    sink = sinks(options=["--latency", "20"])
    instance = instances(sink.port, settings=SETTINGS).start()
    address = instance.create_list("test", MEMBERS)
    load = Load(instance, address, mails, pause=0.005)
    load.start()
    killer = Killer(instance, SEED, 0.1)
    killer.while_alive(load, 0.2, 30)
    load.finish(120)
    instance.wait_ready()
    instance.wait_idle(90)
    repeats = judge(sink.copies(), mails, killer, load.retries)
    assert not instance.set_aside(), "three crashes in a row on one entry are not what was done here"
    # A repeat is a whole transaction that was in flight: its recipients are those of one envelope.
    transactions = [t for t in sink.transactions() if any((t.message_id, to) in repeats for to in t.to)]
    assert all(len([t for t in transactions if t.message_id == name]) >= 2 for name in {name for name, _ in repeats})
    archive = list((instance.archive / "maildir").glob("*/new/*"))
    assert len(archive) == len(mails)


def test_backlog_of_single_copies(instances, sinks):
    """Entries of one recipient each: claimed by a thread beside the loop, ended and synced many at a time."""
    sessions, count, flight = 20, 1500, 4  # transactions that may be out together over a connection
    sink = sinks(options=["--latency", "5"])
    transport = {"concurrency": sessions, "initial_destination_concurrency": sessions}
    instance = instances(sink.port, settings={**SETTINGS, "transport.relay": transport,
                                              "runner.out": {"start": "no"}}).start()
    address = instance.create_list("test", MEMBERS[:1], settings=["archive_policy=never"])
    client = instance.lmtp()
    for number in range(count):
        instance.lmtp_send(post(message_id=f"<single{number}@example.net>"), address, client=client)
    wait_until(lambda: len(instance.files("out")["out"]) == count, 120, "the backlog")
    instance.set({"runner.out": {"start": "yes"}})
    instance.cli("reload")
    chance, kills = random.Random(SEED), 0
    while kills < 20 and len(sink.envelopes()) < count * 9 // 10:
        kills += instance.kill_runner("out")
        time.sleep(0.05 + chance.random() * 0.2)
    instance.wait_idle(90)
    arrived = sink.copies()
    repeats = sum(times - 1 for times in arrived.values())
    print(f"\nseed {SEED}: {count} mails, killed {kills} times; {repeats} arrived twice, "
          f"the bound is {kills * sessions * flight}")
    assert kills > 3
    assert {name for name, _ in arrived} == {f"<single{number}@example.net>" for number in range(count)}
    assert repeats <= kills * sessions * flight


def test_through_postfix(instances, mails, until_end):
    need(postfix.missing())
    chain = until_end(Chain(instances, settings=SETTINGS))
    some = mails[:200]
    sender = threading.Thread(target=chain.send, args=[some, 0.02], daemon=True)
    sender.start()
    killer = Killer(chain.instance, SEED, 0.1)
    killer.while_alive(sender, 0.2, 25)
    sender.join()
    chain.instance.wait_ready()
    chain.wait(len(some) * len(MEMBERS), 90)
    copies = [(message_id(octets), member) for member, box in chain.boxes() for octets in box]
    judge(copies, some, killer, 0)
