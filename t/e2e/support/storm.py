# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Everything that can befall processes, at random, while mail flows.

A strike is one of: kill -9 of a process of any kind or of the master, other numbers of instances by SIGHUP, SIGSTOP and
later SIGCONT of any process, a graceful stop and a new start. Then the load pauses, the queues drain, and the accounts
are made: each accepted post came once to each member and archive, and what came twice was in flight at a kill."""
import os
import random
import shutil
import signal
import time
from collections import Counter, defaultdict
from pathlib import Path

from support.attempts import Senders
from support.instance import Instance, tool, wait_until
from support.powercut import BOUND_OF_ONE_CUT, RECIPIENTS, SESSIONS, examine, members
from support.sink import Sink

SCALED = ("in", "pipeline", "out", "archive")
KINDS = ("lmtp", "in", "pipeline", "virgin", "out", "out", "archive")  # out has most to lose
STRIKES = {"kill": 50, "kill master": 6, "rescale": 14, "pause": 25, "restart": 5}
SETTINGS = {
    "spool": {"batch_limit": 16},
    "transport.relay": {"concurrency": SESSIONS, "recipients_per_transaction": RECIPIENTS,
                        "pipelined_transactions": 4},
    "pipeline": {"verp_delivery_interval": 2},  # each second post: one recipient a transaction
    "out": {"recipients_per_entry": 12, "minimal_backoff_time": "1s", "maximal_backoff_time": "1s"},
    "master": {"restart_delay_min": "20ms", "restart_delay_max": "200ms", "stop_timeout": "10s"},
}


def usage_of(pid):
    """(resident octets, open descriptors) of a process, None when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE"), len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


class Storm:
    """place: a new directory. pause: seconds between two posts of a sender, on average."""

    def __init__(self, place, seed, pause=0.01):
        self.place, self.seed = Path(place), seed
        self.chance = random.Random(seed)
        self.place.mkdir(parents=True, exist_ok=True)
        self.strikes, self.kills, self.bound = Counter(), Counter(), 0
        self.paused = []  # (when to go on, pid)
        self.instance = self.senders = None
        faults = ["rcpt p=0.01 do 450 4.2.1 busy", "dot p=0.01 do 451 4.3.0 later"]
        self.sink = Sink(tool("smtp-sink"), directory=self.place / "sink", faults=faults, options=["--latency", "3"])
        try:
            self._build(pause)
        except BaseException:
            self.close()
            raise

    def _build(self, pause):
        self.instance = Instance(self.sink.port, directory=self.place / "instance", settings=SETTINGS)
        self.instance.start()
        self.lists = members()
        for address, there in self.lists.items():
            self.instance.create_list(address.partition("@")[0], there)
        self.senders = Senders(self.instance, self.lists, self.seed, count=4, pause=pause)
        self.senders.start()

    # ---- strikes ----

    def processes(self):
        """{kind: [pid]} of what lives, without the master."""
        found = defaultdict(list)
        for pid in self.instance.leftovers():
            try:
                found[Path(f"/proc/{pid}/comm").read_text().strip()].append(pid)
            except OSError:
                continue
        found.pop("listrunner-mast", None)
        return found

    def _signal(self, pid, number):
        try:
            os.kill(pid, number)
            return True
        except ProcessLookupError:
            return False

    def _any_process(self):
        kind = self.chance.choice(KINDS)
        pids = self.processes().get(kind)
        return (kind, self.chance.choice(sorted(pids))) if pids else (kind, None)

    def _kill(self):
        kind, pid = self._any_process()
        if pid and self._signal(pid, signal.SIGKILL):
            self.kills[kind] += 1
            self.bound += BOUND_OF_ONE_CUT if kind == "out" else 0

    def _kill_master(self):
        """Its children leave by themselves or are ended by the next one; who is slow is killed, so all count."""
        self.instance.kill()
        self.instance.log.close()
        self.kills["master"] += 1
        self.bound += BOUND_OF_ONE_CUT
        time.sleep(self.chance.random() * 0.2)
        self.instance.start(wait=False)

    def _rescale(self):
        for name in self.chance.sample(SCALED, self.chance.randrange(1, len(SCALED) + 1)):
            self.instance.set({f"runner.{name}": {"instances": self.chance.choice((1, 2, 4))}})
        self.instance.set({"transport.relay": {"pipelined_transactions": self.chance.choice((1, 4))}})
        master = self.instance.process.pid
        caught = int(Path(f"/proc/{master}/status").read_text().split("SigCgt:")[1].split()[0], 16)
        if caught & 1 << signal.SIGHUP - 1:  # else it has only begun to start, and reads the file anyway
            os.kill(master, signal.SIGHUP)

    def _pause(self):
        pid = self.instance.process.pid if self.chance.random() < 0.1 else self._any_process()[1]
        if pid and self._signal(pid, signal.SIGSTOP):
            self.paused.append((time.monotonic() + self.chance.random() * 0.6, pid))

    def _restart(self):
        self._go_on(everybody=True)
        code = self.instance.stop(30)
        # A master that has not started anything yet, because it waits for an earlier one's children, ends at once.
        assert code in (0, -signal.SIGTERM), f"a graceful stop ended with {code}:\n{self.instance.log_text()[-3000:]}"
        self.instance.start(wait=False)

    def _go_on(self, everybody=False):
        now = time.monotonic()
        for item in [item for item in self.paused if everybody or item[0] <= now]:
            self.paused.remove(item)
            self._signal(item[1], signal.SIGCONT)

    def strike(self):
        code = self.instance.process.poll()
        assert code is None, f"the master ended with {code}:\n{self.instance.log_text()[-3000:]}"
        self._go_on()
        what = self.chance.choices(list(STRIKES), STRIKES.values())[0]
        self.strikes[what] += 1
        {"kill": self._kill, "kill master": self._kill_master, "rescale": self._rescale, "pause": self._pause,
         "restart": self._restart}[what]()

    def blow(self, strikes, pause):
        """So many strikes, with a pause (seconds, on average) after each; each is followed by work at times, so
        that something is done at all."""
        for number in range(strikes):
            self.strike()
            time.sleep(self.chance.random() * 2 * pause)
            if number % 10 == 9:
                before = self.senders.accepted()
                wait_until(lambda: self._go_on() or self.senders.accepted() > before, 60, "mail to be accepted", 0.01)

    # ---- afterwards ----

    def settle(self):
        """Lets everything drain; the accounts since the last time. Then all begins anew with an empty archive."""
        self._go_on(everybody=True)
        self.senders.stop()
        self.instance.wait_ready()
        self.instance.wait_idle(120)
        # Whole files of a killed lmtp are taken in five minutes later, or when their slice's runner starts: now.
        assert self.instance.stop(30) == 0, "a graceful stop of an idle Listrunner"
        self.instance.start()
        self.instance.wait_idle(120)
        accounts = examine(self.instance, self.sink.transactions(), self.senders.attempts, self.lists)
        if accounts.repeats > self.bound:
            accounts.faults.append(f"{accounts.repeats} repeats are more than {self.bound}")
        accounts.bound, self.bound = self.bound, 0
        if not accounts.faults:
            self._begin_anew()
        return accounts

    def _begin_anew(self):
        assert self.instance.stop(30) == 0, "a graceful stop of an idle Listrunner"
        for path in self.instance.archive.iterdir():
            shutil.rmtree(path)
        self.sink.purge()
        self.senders.forget()
        self.instance.start()
        self.senders.start()

    def close(self):
        try:
            if self.senders:
                self.senders.stop()
        finally:
            self._go_on(everybody=True)
            if self.instance:
                self.instance.close()
            self.sink.stop()

    def usage(self):
        """{kind: (resident octets, descriptors)}: of each kind the largest process."""
        found = {"master": usage_of(self.instance.process.pid)}
        for kind, pids in self.processes().items():
            of_kind = [usage for usage in map(usage_of, pids) if usage]
            if of_kind:
                found[kind] = (max(rss for rss, _ in of_kind), max(files for _, files in of_kind))
        return found


def summary(storm, accounts):
    return (f"strikes {dict(storm.strikes)}, killed {dict(storm.kills)}; {accounts.accepted} posts accepted and "
            f"{accounts.unknown} cut off, {accounts.delivered} copies delivered, {accounts.repeats} of them once more "
            f"(bound {accounts.bound})")
