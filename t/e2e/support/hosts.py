# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Hosts over one PostgreSQL with a standby, while mail flows and everything that can befall hosts does, at random.

Posts, joins, decisions of moderators and digests are asked of any host, and asked again of any when the answer did not
come, as a mail server and a person do. A strike is one of: kill -9 of a process, of a master, of a whole host; a
host that stands still for longer than its lease (SIGSTOP); the primary's end and the standby's promotion, at times with
the old primary back for a while; the standby's absence; a cut of a host from the database, from the other hosts, or
from both, by packets that are dropped. Then
all comes back, the queues drain, and the accounts are made."""
import contextlib
import http.client
import os
import random
import re
import signal
import smtplib
import socket
import subprocess
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

from support import postgresql
from support.attempts import ACCEPTED, REFUSED, Accounts, Attempt, last_flights
from support.certificate import Authority
from support.instance import HOST, Instance, free_port, let_through, tool, wait_until, write_secret
from support.post import post
from support.rest import Rest, serving
from support.sink import Sink
from support.wire import body_sha

LEASE = "10s"
LIMIT, RECIPIENTS = 6, 5  # connections to the sink, of all hosts together; recipients of a transaction
POSTED = {"small": 3, "large": 60, "held": 3, "digest": 3}  # lists, and how many members get each post by itself
READERS = ["reader1@digest.example.org", "reader2@digest.example.org"]
FAN_OUT_OVER = 40  # so that the list large is shared out
RUNNERS = ("lmtp", "in", "pipeline", "out", "out", "handover", "door", "digest", "task", "host", "rest", "virgin")
STRIKES = {"kill": 30, "kill master": 10, "kill host": 12, "freeze": 8, "fail over": 10, "no standby": 5, "cut": 25}


def die(instance):
    """All its processes end at once, as when the power goes: none may take its leave of the others."""
    processes = {instance.process.pid, *instance.leftovers()}
    for how in (signal.SIGSTOP, signal.SIGKILL):
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)
    instance.process.wait()


def settings_with_door(instance, authority, name, address="127.0.0.1"):
    """Return what gives a host a door for the others, and a certificate in its name."""
    both, key = authority.certify(name), instance.directory / "host.key"
    write_secret(key, both.with_suffix(".key").read_text())
    instance.door = free_port()
    where = f"{address}:{instance.door}"
    return {"host": {"lease": LEASE, "certificate_file": both.with_suffix(".crt"), "key_file": key,
                     "authority_file": authority.file, "address": where},
            "runner.door": {"listen": where}}


class Loopback:
    """All on one address, so nothing can be cut."""
    outside, databases, cuts = "127.0.0.1", ("127.0.0.1", "127.0.0.1"), ()

    def add(self, number):
        """Address of a host, and the words before those of its programs."""
        return "127.0.0.1", []


class Namespaces:
    """A network namespace with an address for each host; the databases, sinks and clients are outside, on a bridge in
    this process's own, which must be none of the machine's: everything that is made here ends with it."""
    outside, databases, cuts = "10.29.0.1", ("10.29.0.11", "10.29.0.12"), ("database", "peers", "both")

    def __init__(self):
        self.hosts = {}
        self._ip("link", "set", "lo", "up")
        self._ip("link", "add", "hosts", "type", "bridge")
        for address in (self.outside, *self.databases):
            self._ip("address", "add", f"{address}/24", "dev", "hosts")
        self._ip("link", "set", "hosts", "up")

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True)

    def add(self, number):
        name, address = f"host{number}", f"10.29.0.{21 + number}"
        within = ["nsenter", f"--net=/run/netns/{name}"]
        self._ip("netns", "add", name)
        self._ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        self._ip("link", "set", name, "master", "hosts", "up")
        for words in (["address", "add", f"{address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"],
                      ["link", "set", "lo", "up"]):
            self._ip("-n", name, *words)
        self.hosts[number] = address, within
        return address, within

    def cut(self, number, what):
        """Everything between the host and the others is dropped without a word."""
        others = list(self.databases) if what in ("database", "both") else []
        others += [address for other, (address, _) in self.hosts.items()
                   if other != number and what in ("peers", "both")]
        dropped = f"{{ {', '.join(others)} }} drop;"
        chains = [f"chain {hook} {{ type filter hook {hook} priority 0; ip {way} {dropped} }}"
                  for hook, way in (("input", "saddr"), ("output", "daddr"))]
        self._nft(number, "\n".join(["table inet cut {", *chains, "}\n"]))

    def mend(self, number):
        self._nft(number, "delete table inet cut\n")

    def _nft(self, number, text):
        subprocess.run([*self.hosts[number][1], "nft", "-f", "-"], input=text, text=True, check=True)


class Databases:
    """A primary and its synchronous standby, which change places."""

    def __init__(self, net):
        self.primary = self.standby = None
        self.are_two = False  # the old primary is back beside the new one
        self.primary = postgresql.Server(address=net.databases[0])
        self._follow(net.databases[1], free_port())
        one, other = self.primary, self.standby
        self.url = (one.url("site").replace(f"host={one.address}", f"host={one.address},{other.address}")
                    .replace(f"port={one.port}", f"port={one.port},{other.port}") + "&target_session_attrs=read-write")

    def _follow(self, address, port):
        self.standby = postgresql.Server(copy_of=self.primary, address=address, port=port)
        wait_until(lambda: self.primary.sql("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"), 60,
                   "the standby to follow")
        self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")

    def lose_standby(self):
        if self.standby.runs():
            self.standby.stop()

    def bring_standby_back(self):
        if not self.standby.runs():
            self.standby.start()

    def fail_over(self, pause, back=0):
        """The primary ends at once; after a pause the other one takes its place. The old one comes back as a second
        primary for so many seconds, and then gives its place to a new standby."""
        self.bring_standby_back()
        dead = self.primary
        dead.stop()
        time.sleep(pause)
        self.standby.promote()
        self.primary, self.standby = self.standby, None
        self.primary.sql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        if back:
            self.are_two = True
            dead.start()
            time.sleep(back)
        dead.remove()
        self.are_two = False
        self._follow(dead.address, dead.port)

    def close(self):
        for server in (self.standby, self.primary):
            if server:
                server.remove()


class Watch(threading.Thread):
    """How many connections the sink has at most, by the kernel's word: those that a client closed do not count. Reading
    takes a while, in which one may end and another begin, so only those count that two readings in a row have seen."""

    def __init__(self, address, port):
        super().__init__(daemon=True)
        self.mark = "".join(f"{int(part):02X}" for part in reversed(address.split("."))) + f":{port:04X}"
        self.most, self.of, self.halt = 0, "", threading.Event()

    def run(self):
        before = set()
        while not self.halt.wait(0.05):  # the kernel goes through all its connections for it
            rows = [line.split() for line in Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]]
            now = {row[2] for row in rows if row[1] == self.mark and row[3] == "01"}
            if len(both := now & before) > self.most:
                of_hosts = Counter(socket.inet_ntoa(bytes.fromhex(place[:8])[::-1]) for place in both)
                self.most, self.of = len(both), f"{time.strftime('%H:%M:%S')}: {dict(of_hosts)}"
            before = now

    def stop(self):
        self.halt.set()
        self.join()


class Clients:
    """Threads that ask random hosts for things, each as fast as it gets answers, less a pause."""

    def __init__(self, hosts, seed, pause, databases):
        self.hosts, self.seed, self.pause, self.databases = hosts, seed, pause, databases
        self.lists = {f"{name}@{HOST}": [f"m{i}@{name}.example.org" for i in range(count)]
                      for name, count in POSTED.items()}
        self.attempts, self.again, self.faults = {}, 0, []
        self.members, self.changes = {}, Counter()  # {address: whether it is a member}
        self.decided, self.lock = Counter(), threading.Lock()
        self.halt, self.threads = threading.Event(), []

    def start(self):
        kinds = (self._post, self._post, self._post, self._join, self._join, self._decide, self._decide, self._collect)
        for number, work in enumerate(kinds):
            self.threads.append(threading.Thread(target=self._run, args=[work, number], daemon=True))
            self.threads[-1].start()

    def stop(self):
        self.halt.set()
        for thread in self.threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in self.threads), "a client hangs"

    def _run(self, work, number):
        chance, made = random.Random(f"{self.seed}/{number}"), 0
        try:
            while not self.halt.is_set():
                made += 1
                work(chance, f"{number}.{made}")
                self.halt.wait(self.pause * chance.random() * 2)
        except Exception as error:
            self.faults.append(f"{work.__name__}: {error!r}")
            raise

    def _post(self, chance, number):
        """Until some host has acknowledged it. No host may refuse it for good."""
        name, address = f"<{number}@load.example>", chance.choice(sorted(self.lists))
        octets = post(message_id=name, subject=name, body=f"{name}\n" * chance.randrange(1, 60), to=address)
        attempt = self.attempts[name] = Attempt(name, address, body_sha(octets))
        while attempt.result != ACCEPTED:
            try:
                host = chance.choice(self.hosts)
                with contextlib.closing(host.lmtp(timeout=20)) as client:
                    host.lmtp_send(octets, address, client=client)
                attempt.result = ACCEPTED
            except (smtplib.SMTPException, OSError) as error:
                codes = [code for code, _ in getattr(error, "recipients", {}).values()]
                codes += [error.smtp_code] if isinstance(error, smtplib.SMTPResponseException) else []
                if any(code >= 500 for code in codes):
                    self.faults.append(f"{name} was refused for good: {error}")
                    return
                self.again += 1
                if self.halt.wait(0.2 + chance.random()):
                    return

    def ask(self, chance, verb, path, **fields):
        """The answer of some host; None when none came, or the host cannot know now."""
        try:
            answer = Rest(chance.choice(self.hosts)).call(verb, path, **fields)
        except (OSError, http.client.HTTPException):
            return None
        return None if answer.status >= 500 else answer

    def _change(self, chance, good, settled, words, **fields):
        """Asks until it is done. good: the status then; settled: that of what was done before by a request whose
        answer did not come. False: nobody knows whether it was."""
        lost = 0
        while True:
            doubtful = self.databases.are_two
            answer = self.ask(chance, *words, **fields)
            lost += answer is None
            # That it was done before is only read. A host that has not renewed its lease since the promotion may read
            # it from the old primary, in which nothing can be written.
            if answer is not None and (answer.status != settled or not (doubtful or self.databases.are_two)):
                if answer.status != good and (answer.status != settled or not lost):
                    self.faults.append(f"{words} {fields}: {answer.status} {answer.text} after {lost} without answer")
                self.changes[words[0]] += 1
                return True
            if self.halt.wait(0.2 + chance.random()):
                return False

    def _join(self, chance, number):
        """Somebody joins by one host, and at times leaves by another."""
        address = f"j{number}@people.example"
        if not self._change(chance, 201, 409, ("POST", "members"), list_id=f"join.{HOST}", subscriber=address,
                            pre_verified=True, pre_confirmed=True, pre_approved=True):
            return
        self.members[address] = True
        if chance.random() < 0.3:
            del self.members[address]  # unknown, until the answer comes
            if self._change(chance, 204, 404, ("DELETE", f"lists/join.{HOST}/member/{address}")):
                self.members[address] = False

    def verdict(self, name):
        """Return what the moderators think of a post: the same, whoever of them is asked, and how often."""
        return "discard" if random.Random(f"{self.seed}{name}").random() < 0.3 else "accept"

    def _decide(self, chance, _):
        """Both moderators decide on the same posts, and one comes too late. How many there were."""
        held = self.ask(chance, "GET", f"lists/held.{HOST}/held")
        entries = held.json.get("entries", []) if held else []
        for entry in entries[:20]:
            name = entry["subject"]
            answer = self.ask(chance, "POST", f"lists/held.{HOST}/held/{entry['request_id']}",
                              action=self.verdict(name))
            if answer and answer.status == 204:
                with self.lock:
                    self.decided[name] += 1
            elif answer and answer.status != 404:
                self.faults.append(f"{name} could not be decided: {answer.status} {answer.text}")
        return len(entries) if held else None

    def _collect(self, chance, _):
        self.ask(chance, "POST", f"lists/digest.{HOST}/digest", send="yes")
        self.halt.wait(5)

    def decide_the_rest(self):
        chance = random.Random(0)
        wait_until(lambda: self._decide(chance, "") == 0, 120, "no post to be held")

    def roster(self):
        entries = Rest(self.hosts[0]).call("GET", f"lists/join.{HOST}/roster/member").json.get("entries", [])
        return {entry["email"] for entry in entries}


class Trial:
    """place: a new directory. pause: seconds between two requests of a client, on average."""

    def __init__(self, place, seed, count, net, pause=0.3):
        self.place, self.seed, self.net = Path(place), seed, net
        self.chance = random.Random(seed)
        self.strikes, self.kills, self.cut, self.told = Counter(), 0, {}, lambda text: None
        self.back = []  # (when, what to do)
        self.frozen = {}  # number of a host -> processes that stand still
        self.hosts, self.databases, self.clients, self.watch = [], None, None, None
        self.place.mkdir(parents=True, exist_ok=True)
        let_through(self.place)
        faults = ["rcpt p=0.01 do 450 4.2.1 busy", "dot p=0.01 do 451 4.3.0 later"]
        self.sink = Sink(tool("smtp-sink"), directory=self.place / "sink", faults=faults, host=net.outside,
                         options=["--latency", "3"])
        try:
            self._build(count, pause)
        except BaseException:
            self.close()
            raise

    def _build(self, count, pause):
        self.databases, authority = Databases(self.net), Authority(self.place / "authority")
        for number in range(count):
            self.hosts.append(self._make_host(number, authority))
        first = self.hosts[0]
        for name, members in POSTED.items():
            first.create_list(name, [f"m{i}@{name}.example.org" for i in range(members)])
        first.cli("list", "set", f"held@{HOST}", "default_nonmember_action=hold")
        first.cli("list", "set", f"digest@{HOST}", "digests_enabled=true", "digest_size_threshold=0")
        first.add_members(f"digest@{HOST}", READERS)
        for reader in READERS:
            first.cli("member", "set", f"digest@{HOST}", reader, "--delivery-mode", "mime_digests")
        first.create_list("join")
        for host in self.hosts:
            host.has_store = True
            host.start()
        self.watch = Watch(self.net.outside, self.sink.port)
        self.watch.start()
        self.clients = Clients(self.hosts, self.seed, pause, self.databases)
        self.clients.start()

    def _make_host(self, number, authority):
        host, name = Instance(self.sink.port, directory=self.place / f"host{number}"), f"host{number}.example.com"
        host.lmtp_host, host.within = self.net.add(number)
        rest = serving(host.directory)
        rest["runner.rest"]["listen"] = f"{host.lmtp_host}:{free_port()}"
        host.set({
            "store": {"path": None, "driver": "postgresql", "url": self.databases.url},
            "site": {"hostname": name},
            "runner.lmtp": {"listen": f"{host.lmtp_host}:{host.port}"},
            "transport.relay": {"host": self.net.outside, "concurrency": LIMIT, "process_limit": 100,
                                "initial_destination_concurrency": LIMIT, "recipients_per_transaction": RECIPIENTS},
            "runner.out": {"instances": 1},  # each has a connection at least
            "out": {"minimal_backoff_time": "1s", "maximal_backoff_time": "1s"},
            "archiver.maildir": None, "archiver.mbox": None})
        host.set(rest)
        host.set(settings_with_door(host, authority, name, host.lmtp_host))
        host.set({"host": {"fan_out_over": FAN_OUT_OVER}})
        return host

    # ---- strikes ----

    def _later(self, least, most, work):
        self.back.append((time.monotonic() + self.chance.uniform(least, most), work))

    def _come_back(self, everything=False):
        for item in [item for item in self.back if everything or item[0] <= time.monotonic()]:
            self.back.remove(item)
            item[1]()

    def _living(self):
        return [number for number, host in enumerate(self.hosts)
                if host.process.poll() is None and number not in self.frozen]

    def _kill(self):
        number, runner = self.chance.choice(self._living()), self.chance.choice(RUNNERS)
        if self.hosts[number].kill_runner(runner):
            self.kills += 1
        return f"{runner} of host{number}"

    def _kill_master(self):
        number = self.chance.choice(self._living())
        self.hosts[number].kill()
        self.hosts[number].log.close()
        self.kills += 1
        self._later(0, 3, lambda: self.hosts[number].start(wait=False))
        return f"host{number}"

    def _kill_host(self):
        number = self.chance.choice(self._living())
        die(self.hosts[number])
        self.hosts[number].log.close()
        self.kills += 1
        self._later(2, 40, lambda: self.hosts[number].start(wait=False))
        return f"host{number}"

    def _freeze(self):
        """All processes of a host stand still for longer than its lease, and then go on as if nothing had been."""
        number = self.chance.choice(self._living())
        host = self.hosts[number]
        self.frozen[number] = {host.process.pid, *host.leftovers()}
        self._signal(number, signal.SIGSTOP)
        pause = self.chance.uniform(12, 40)

        def thaw():
            self._signal(number, signal.SIGCONT)
            del self.frozen[number]
        self._later(pause, pause, thaw)
        return f"host{number} for {pause:.0f} s"

    def _signal(self, number, what):
        for pid in self.frozen[number]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, what)

    def _fail_over(self):
        pause, back = self.chance.uniform(0, 8), self.chance.choice((0, 0, 15))
        self.databases.fail_over(pause, back)
        return f"promoted after {pause:.1f} s" + (f", and the old primary was back for {back} s" if back else "")

    def _lose_standby(self):
        self.databases.lose_standby()
        self._later(5, 30, self.databases.bring_standby_back)
        return "it is away"

    def _cut(self):
        whole = [number for number in range(len(self.hosts)) if number not in self.cut]
        if not whole:
            return "none is left"
        number, what = self.chance.choice(whole), self.chance.choice(self.net.cuts)
        self.net.cut(number, what)
        self.cut[number] = what

        def mend():
            self.net.mend(number)
            del self.cut[number]
        self._later(2, 60, mend)
        return f"host{number} from {what}"

    def strike(self):
        kinds = {kind: weight for kind, weight in STRIKES.items() if kind != "cut" or self.net.cuts}
        what = self.chance.choices(list(kinds), kinds.values())[0]
        if what not in ("cut", "no standby") and len(self._living()) < 2:
            what = "fail over"
        self.strikes[what] += 1
        done = {"kill": self._kill, "kill master": self._kill_master, "kill host": self._kill_host,
                "fail over": self._fail_over, "cut": self._cut,
                "freeze": self._freeze, "no standby": self._lose_standby}[what]()
        self.told(f"{what}: {done}")

    def blow(self, seconds, pause):
        """Strikes for so many seconds, with a pause (on average) after each."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            wake = time.monotonic() + self.chance.random() * 2 * pause
            while time.monotonic() < wake:
                self._come_back()
                time.sleep(0.1)
            self.strike()

    # ---- afterwards ----

    def settle(self):
        """Everything comes back and drains. What is wrong, in words."""
        self._come_back(everything=True)
        self.clients.stop()
        for host in self.hosts:
            host.wait_ready(180)
        self._drain()
        self.clients.decide_the_rest()
        self.hosts[0].run("digest", "send", f"digest@{HOST}")  # fails when no post waits
        # Whole files of a killed lmtp are taken in five minutes later, or when their slice's runner starts: now.
        for host in self.hosts:
            assert host.stop(60) == 0, "a graceful stop"
            host.start()
        self._drain()
        self.watch.stop()
        return [*self.clients.faults, *self._posts(), *self._digests(), *self._changes(), *self._hosts()]

    def _drain(self):
        for _ in range(2):  # what one hands to another
            for host in self.hosts:
                host.wait_idle(300)

    def _posts(self):
        for name, attempt in self.clients.attempts.items():
            if attempt.address.startswith("held@") and self.clients.verdict(name) == "discard":
                attempt.result = REFUSED
        posts = [one for one in self.sink.transactions()
                 if one.message_id in self.clients.attempts and not set(one.to) & set(READERS)]
        self.accounts = Accounts(self.clients.attempts, self.clients.lists, posts, flight=RECIPIENTS)
        faults = self.accounts.faults
        if self.accounts.repeats > self.kills * LIMIT * RECIPIENTS:
            faults.append(f"{self.accounts.repeats} repeats after {self.kills} kills")
        return faults

    def _digests(self):
        """Each reader has each post in one issue, and each issue once, but for what was under way at a kill; an issue
        has the same posts for all."""
        faults, issues, self.issues = [], defaultdict(list), set()
        transactions = [one for one in self.sink.transactions() if set(one.to) & set(READERS)]
        in_flight = last_flights(transactions, RECIPIENTS)
        for one in transactions:
            if one.result != "refused":
                names = re.findall(rb"^Message-ID: (<\S+@load\.example>)", one.octets, re.M)
                for reader in one.to:
                    issues[reader, one.message_id].append((id(one), tuple(name.decode() for name in names)))
        for (reader, issue), copies in issues.items():
            self.issues.add(issue)
            if len({names for _, names in copies} | {names for (_, other), found in issues.items() if other == issue
                                                     for _, names in found}) > 1:
                faults.append(f"the issue {issue} has not the same posts in each copy")
            if any(transaction not in in_flight for transaction, _ in copies[:-1]):
                faults.append(f"the issue {issue} came to {reader} {len(copies)} times")
        wanted = {name for name, attempt in self.clients.attempts.items()
                  if attempt.address == f"digest@{HOST}" and attempt.result == ACCEPTED}
        for reader in READERS:
            found = Counter(name for (to, _), copies in issues.items() if to == reader for name in copies[0][1])
            lost, twice = wanted - set(found), {name for name, count in found.items() if count > 1}
            if lost or twice:
                faults.append(f"{reader} lacks {sorted(lost)[:5]} ({len(lost)}) and has {sorted(twice)[:5]} "
                              f"({len(twice)}) more than once, in {len(self.issues)} issues")
        return faults

    def _changes(self):
        roster, known = self.clients.roster(), dict(self.clients.members)
        faults = [f"{address} {'joined' if is_member else 'left'}, which is confirmed and not so"
                  for address, is_member in known.items() if is_member != (address in roster)]
        faults += [f"{name} was decided {count} times" for name, count in self.clients.decided.items() if count > 1]
        return faults

    def _hosts(self):
        faults = [f"{host.directory.name} set aside {host.set_aside()[:5]}" for host in self.hosts if host.set_aside()]
        if self.watch.most > LIMIT:
            faults.append(f"{self.watch.most} connections at once, {self.watch.of}, where {LIMIT} are allowed")
        crash = [(host.directory.name, found[0]) for host in self.hosts
                 if (found := re.search(r".*signal (?:11|6|8|4)\b.*", host.log_text()))]
        return faults + [f"{name} crashed: {line}" for name, line in crash]

    def summary(self):
        accounts, clients = self.accounts, self.clients
        return (f"strikes {dict(self.strikes)}; {accounts.accepted} posts acknowledged, {accounts.unknown} given up, "
                f"{clients.again} tries more, {accounts.delivered} copies, {accounts.repeats} of them once more after "
                f"{self.kills} kills; {dict(clients.changes)} changes of members, {len(clients.decided)} decisions, "
                f"{len(self.issues)} issues of the digest; at most {self.watch.most} of {LIMIT} connections")

    def close(self):
        for _, work in self.back:
            with contextlib.suppress(Exception):
                work()
        if self.clients:
            self.clients.halt.set()
        if self.watch:
            self.watch.halt.set()
        for host in self.hosts:
            with contextlib.suppress(Exception):
                host.close()
        if self.databases:
            self.databases.close()
        self.sink.stop()
