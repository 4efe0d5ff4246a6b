# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Several transactions in one flight (pipelined_transactions)."""
import json
import re
import select
import signal
import socketserver
import threading
from collections import Counter

from support.dns import Dns
from support.instance import wait_until
from support.post import post
from support.serving import Serving

MEMBERS = [f"m{i}@members.example.org" for i in range(30)]
COMMAND = re.compile(rb"(?:BDAT (\d+) LAST|[A-Z][^\r\n]*)\r\n")


class Flights(Serving):
    """Answers when nothing more comes, and notes what came together: the transactions of each flight. After so many
    flights in all it hangs up instead (hang_up), or has trouble with the next one of four (trouble). One that is
    confused does not expect another transaction behind the first, one that forgets has not even heard it."""

    def __init__(self, keywords=("PIPELINING", "CHUNKING"), hang_up=0, refuse=b"(none)", trouble=0, manner=None):
        super().__init__(Session)
        self.keywords, self.hang_up, self.refuse = keywords, hang_up, refuse
        self.trouble, self.manner = trouble, manner
        self.lock, self.flights, self.taken, self.senders = threading.Lock(), [], [], []


class Session(socketserver.BaseRequestHandler):
    def flight(self):
        """Return what comes until nothing more has come for a moment."""
        octets = self.request.recv(1 << 20)
        while octets and select.select([self.request], [], [], 0.25)[0]:
            more = self.request.recv(1 << 20)
            if not more:
                break
            octets += more
        return octets

    def in_trouble(self, octets):
        """The first of four transactions after so many flights."""
        with self.server.lock:
            now = 0 < self.server.trouble <= len(self.server.flights) and octets.count(b"BDAT ") == 4
            self.server.trouble = 0 if now else self.server.trouble
            return now

    def answer(self, command, size):
        verb = command.split()[0].upper()
        if verb == b"EHLO":
            self.say("250-peer", *(f"250-{word}" for word in self.server.keywords), "250 SIZE")
        elif verb == b"MAIL" and self.troubled:
            self.sender = self.recipient = None
            self.say("451 4.3.0 not now")
        elif verb == b"MAIL" and self.server.manner == "confused" and self.messages:
            self.sender = self.recipient = None
            self.say("503 5.5.1 one at a time")
        elif verb == b"RCPT" and not self.sender:
            self.say("503 5.5.1 MAIL first")
        elif verb == b"MAIL":
            self.sender, self.recipient = re.search(rb"<(.*?)>", command)[1].decode(), None
            self.say("250 ok")
        elif verb == b"RCPT":
            good = self.server.refuse not in command
            self.recipient = re.search(rb"<(.*?)>", command)[1].decode() if good else None
            self.say("250 ok" if good else "550 5.1.1 nobody")
        elif size is not None and not self.recipient:
            self.say("503 5.5.1 nobody to send to")
        elif size is not None:
            with self.server.lock:
                self.server.taken.append(self.recipient)
                self.server.senders.append(self.sender)
            self.say("250 2.0.0 taken")
        else:
            self.say("221 bye" if verb == b"QUIT" else "250 ok")

    def say(self, *lines):
        self.replies += "".join(line + "\r\n" for line in lines).encode()

    def handle(self):
        self.request.sendall(b"220 hi\r\n")
        while octets := self.flight():
            self.replies, at, count, self.messages = b"", 0, 0, 0
            self.troubled = self.in_trouble(octets)
            while at < len(octets):
                command = COMMAND.match(octets, at)
                assert command, octets[at:at + 100]
                size = int(command[1]) if command[1] else None
                at = command.end() + (size or 0)
                count += size is not None
                if self.server.manner != "forgets" or not self.messages:
                    self.answer(command[0], size)
                self.messages += size is not None
            with self.server.lock:
                if count:
                    self.server.flights.append(count)
                if count and len(self.server.flights) == self.server.hang_up:
                    return
            self.request.sendall(self.replies)


def serve(instances, server, **keys):
    transport = {"concurrency": "2", "initial_destination_concurrency": "2", "pipelined_transactions": "4", **keys}
    instance = instances(server.port, settings={"transport.relay": transport,
                                                "pipeline": {"verp_delivery_interval": "1"}}).start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<flight@example.net>"), address)
    return instance


def relay_of(instance):
    (relay,) = instance.rows("dest", "ls")
    return relay


def has_flights(instance):
    """False also while out has just begun, and does not answer yet."""
    asked = instance.run("dest", "ls", "--json")
    return asked.returncode == 0 and any(json.loads(line)["flights"] > 0 for line in asked.stdout.splitlines())


def test_each_once(instances):
    with Flights(refuse=b"m7@") as server:
        serve(instances, server).wait_idle()
        assert Counter(server.taken) == Counter(set(MEMBERS) - {"m7@members.example.org"})
        assert len(set(server.senders)) == len(server.senders), "each has a sender of its own"
        assert max(server.flights) == 4 and len(server.flights) <= 12, server.flights


def test_one_at_a_time_where_the_server_cannot(instances):
    with Flights(keywords=["PIPELINING"]) as server:
        server.keywords = ["CHUNKING"]
        serve(instances, server).wait_idle()
        assert Counter(server.taken) == Counter(MEMBERS) and max(server.flights) == 1


def test_a_lost_flight_repeats_no_more_than_itself(instances):
    with Flights(hang_up=3) as server:
        instance = serve(instances, server, minimal_backoff_time="1s", maximal_backoff_time="1s")
        wait_until(lambda: set(server.taken) == set(MEMBERS) and not instance.under_way(), 60, "all to have it")
        repeated = {name: count for name, count in Counter(server.taken).items() if count > 1}
        assert 0 < len(repeated) <= 4 and max(repeated.values()) == 2, repeated
        assert "in doubt" in instance.log_text() or "dsn=4.4.2" in instance.log_text()


def test_no_more_recipients_than_one_transaction_may_have(instances):
    for most in (1, 3):
        with Flights() as server:
            serve(instances, server, recipients_per_transaction=str(most)).wait_idle()
            assert Counter(server.taken) == Counter(MEMBERS) and max(server.flights) == most


def test_no_more_transactions_than_a_connection_may_have(instances):
    with Flights() as server:
        serve(instances, server, transactions_per_connection="3").wait_idle()
        assert Counter(server.taken) == Counter(MEMBERS) and max(server.flights) == 3


def test_stopped_and_changed_in_a_flight(instances, sinks):
    """All that is under way comes to its end; nobody gets the post twice. The sink stands still from when several were
    seen at once until the process was told to end, or nearly so."""
    sink = sinks(options=["--latency", "50"])
    transport = {"concurrency": "2", "initial_destination_concurrency": "2", "pipelined_transactions": "4"}
    instance = instances(sink.port, settings={"transport.relay": transport,
                                              "pipeline": {"verp_delivery_interval": "1"}}).start()
    address = instance.create_list("test", [f"m{i}@members.test" for i in range(1000)])
    instance.lmtp_send(post(message_id="<flight@example.net>"), address)

    def go_on():
        sink.process.send_signal(signal.SIGCONT)

    def stands_still():
        sink.process.send_signal(signal.SIGSTOP)
        return has_flights(instance) or go_on()
    for turn, change in enumerate((None, "59m", None, "58m"), 1):
        wait_until(lambda: sink.recipients() > 60 * turn, 60, "some more copies")
        wait_until(stands_still, 60, "several at once")
        pids = instance.pids("out")
        threading.Timer(0.3, go_on).start()
        if change:
            instance.set({"out": {"clog_warn_time": change}})
            instance.cli("reload")
            wait_until(lambda: instance.pids("out") not in ([], pids), 30, "another process")
        else:
            instance.stop()
            instance.start()
    assert sink.recipients() < 1000, "the last stop came too late to be in the middle"
    instance.wait_idle()
    assert sink.recipients() == 1000 and set(sink.copies().values()) == {1}
    assert "broken off" not in instance.log_text()


def test_a_confused_server_costs_nothing(instances):
    """Told that a second transaction is not expected, it gets them one by one; no recipient is blamed."""
    with Flights(manner="confused") as server:
        instance = serve(instances, server)
        instance.wait_idle()
        assert Counter(server.taken) == Counter(MEMBERS)
        assert sorted(server.flights)[-2:] == [1, 4] and "status=bounced" not in instance.log_text()


def test_a_forgetful_server_costs_one_flight(instances):
    """A message that stood behind is never answered: in doubt, it comes again, alone; the same after a restart."""
    with Flights(manner="forgets") as server:
        instance = serve(instances, server, rset_timeout="5s", minimal_backoff_time="1s", maximal_backoff_time="1s")
        wait_until(lambda: len(server.taken) == len(MEMBERS) and not instance.under_way(), 60, "all to have it")
        assert Counter(server.taken) == Counter(MEMBERS)
        assert sorted(server.flights)[-2:] == [1, 4] and instance.log_text().count("may_have_been_delivered") == 3
        instance.stop()
        instance.start()
        instance.lmtp_send(post(message_id="<again@example.net>"), "test@lists.example.com")
        wait_until(lambda: len(server.taken) == 2 * len(MEMBERS), 60, "the next post")
        assert sorted(server.flights)[-2:] == [1, 4]


def test_one_flight_is_one_failure(instances):
    """Four transactions refused by a server in trouble, all sent before it said so: with a window of four that is a
    quarter of a cohort, not a whole one."""
    with Flights(trouble=4) as server:
        keys = {"concurrency": "4", "initial_destination_concurrency": "4", "minimal_backoff_time": "1s",
                "maximal_backoff_time": "1s"}
        instance = serve(instances, server, **keys)
        wait_until(lambda: len(server.taken) == len(MEMBERS) and not instance.under_way(), 60, "all to have it")
        assert Counter(server.taken) == Counter(MEMBERS)
        assert instance.log_text().count("not now") == 4 and relay_of(instance)["died"] == 0


def send_to_sink(instances, sink, count=200, **keys):
    """Of one post with a copy for each: what out knows of the destination then."""
    transport = {"concurrency": "2", "initial_destination_concurrency": "2", **keys}
    out = {"dns": {"servers": transport.pop("name_servers")}} if "name_servers" in transport else {}
    instance = instances(sink.port, settings={"transport.relay": transport, **out,
                                              "pipeline": {"verp_delivery_interval": "1"}}).start()
    address = instance.create_list("test", [f"m{i}@members.test" for i in range(count)])
    instance.lmtp_send(post(message_id="<flight@example.net>"), address)
    instance.wait_idle()
    assert set(sink.copies().values()) == {1} and sink.recipients() == count
    return relay_of(instance)


def test_default_toward_a_slow_relay(instances, sinks):
    relay = send_to_sink(instances, sinks(options=["--latency", "20"]))
    assert relay["flights"] > 10, relay


def test_default_toward_a_near_relay(instances, sinks):
    relay = send_to_sink(instances, sinks(), count=3000)
    within, whole = relay["seconds"]["buckets"][0][1], relay["transactions"]
    print(f"\n{within} of {whole} transactions were answered within 5 ms, {relay['flights']} flights")
    assert relay["flights"] == 0 or within < whole / 2, relay  # a machine that busy makes any relay slow


def test_default_toward_mail_hosts(instances, sinks, until_end):
    sink = sinks(options=["--latency", "20"])
    dns = until_end(Dns({"members.test": "@ IN MX 10 mx\nmx IN A 127.0.0.1\n"}).start())
    keys = {"type": "mx", "port": sink.port, "host": None, "tls_level": "none", "name_servers": dns.server}
    assert send_to_sink(instances, sink, **keys)["flights"] == 0
    other = sinks(options=["--latency", "20"])
    keys |= {"port": other.port, "pipelined_transactions": "4"}
    assert send_to_sink(instances, other, **keys)["flights"] > 10
