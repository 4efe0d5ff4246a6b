# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Several transactions in one flight (pipelined_transactions)."""
import re
import select
import socketserver
import threading
from collections import Counter

from support.instance import wait_until
from support.post import post

MEMBERS = [f"m{i}@members.example.org" for i in range(30)]
COMMAND = re.compile(rb"(?:BDAT (\d+) LAST|[A-Z][^\r\n]*)\r\n")


class Flights(socketserver.ThreadingTCPServer):
    """Answers when nothing more comes, and notes what came together: the transactions of each flight. After so many
    flights in all it hangs up instead."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, keywords=("PIPELINING", "CHUNKING"), hang_up=0, refuse=b"(none)"):
        super().__init__(("127.0.0.1", 0), Session)
        self.keywords, self.hang_up, self.refuse = keywords, hang_up, refuse
        self.lock, self.flights, self.taken, self.senders = threading.Lock(), [], [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]


class Session(socketserver.BaseRequestHandler):
    def flight(self):
        """What comes until nothing more has come for a moment."""
        octets = self.request.recv(1 << 20)
        while octets and select.select([self.request], [], [], 0.1)[0]:
            more = self.request.recv(1 << 20)
            if not more:
                break
            octets += more
        return octets

    def answer(self, command, size):
        verb = command.split()[0].upper()
        if verb == b"EHLO":
            self.say("250-peer", *(f"250-{word}" for word in self.server.keywords), "250 SIZE")
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
            self.replies, at, count = b"", 0, 0
            while at < len(octets):
                command = COMMAND.match(octets, at)
                assert command, octets[at:at + 100]
                size = int(command[1]) if command[1] else None
                at = command.end() + (size or 0)
                count += size is not None
                self.answer(command[0], size)
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


def test_each_once(instances):
    with Flights(refuse=b"m7@") as server:
        serve(instances, server).wait_idle()
        assert Counter(server.taken) == Counter(set(MEMBERS) - {"m7@members.example.org"})
        assert len(set(server.senders)) == len(server.senders), "each has a sender of its own"
        assert max(server.flights) == 4 and len(server.flights) <= 10, server.flights


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
