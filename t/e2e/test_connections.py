# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Connections to the relay between one message and the next."""
import contextlib
import socketserver
import threading
import time

from support.hosts import Watch
from support.instance import wait_until
from support.post import post
from support.serving import Serving


def test_work_that_comes_while_a_connection_says_goodbye(instances, sinks):
    """A connection that rested too long says QUIT; what is to be sent before the answer takes another one."""
    sink = sinks(options=["--latency", "300"])
    instance = instances(sink.port, settings={"transport.relay": {"connection_idle": "100ms"}}).start()
    address = instance.create_list("test", ["one@example.org"])
    before = instance.pids("out")
    for number in range(6):  # somewhere between the QUIT and its answer for some of them
        instance.lmtp_send(post(message_id=f"<{number}@example.net>"), address)
        instance.wait_idle()
        time.sleep(0.05 * number)
    assert instance.pids("out") == before, "the runner died"
    assert len(sink.transactions()) == 6


class NoFarewell(Serving):
    """Takes mail and never answers QUIT."""

    def __init__(self):
        super().__init__(Session)
        self.lock, self.taken, self.farewells = threading.Lock(), 0, 0
        self.may_answer = lambda: True


class Session(socketserver.StreamRequestHandler):
    answers = {b"MAIL": b"250 ok", b"RCPT": b"250 ok", b"DATA": b"354 go on", b".": b"250 taken", b"EHLO": b"250 peer"}

    def handle(self):
        with contextlib.suppress(OSError):
            self.wfile.write(b"220 hi\r\n")
            for line in self.rfile:
                verb = line.split()[0] if line.strip() else b""
                if verb == b".":
                    wait_until(self.server.may_answer, 60, "the moment to take a mail")
                with self.server.lock:
                    self.server.taken += verb == b"."
                    self.server.farewells += verb == b"QUIT"
                if verb in self.answers:
                    self.wfile.write(self.answers[verb] + b"\r\n")


def test_no_more_connections_than_allowed_when_nobody_answers_quit(instances):
    server, limit, mails = NoFarewell(), 4, 40
    instance = instances(server.server_address[1], settings={"transport.relay": {
        "process_limit": str(limit), "transactions_per_connection": "1", "recipients_per_transaction": "1"}}).start()
    address = instance.create_list("test", [f"m{number}@example.org" for number in range(mails)])
    watch = Watch(*server.server_address)
    watch.start()
    server.may_answer = lambda: watch.most > 0  # connections end too soon for a watch that comes late
    instance.lmtp_send(post(), address)
    instance.wait_idle()
    wait_until(lambda: server.farewells >= mails - limit, 20, lambda: f"QUITs, there are {server.farewells}")
    watch.stop()
    print(f"\n{server.taken} mails, at most {watch.most} connections at once, {server.farewells} QUITs")
    assert server.taken == mails
    assert 0 < watch.most <= limit  # without the limit there would be one for each mail
    server.server_close()


def test_no_more_connections_than_allowed_while_a_refused_mail_is_forgotten(instances, sinks):
    """A connection that waits for the answer to RSET is one, though no mail is under way over it."""
    sink, limit = sinks(faults=["rcpt match=[02468]@ do 450 4.2.1 busy"], options=["--latency", "40"]), 2
    instance = instances(sink.port, settings={"transport.relay": {
        "concurrency": limit, "initial_destination_concurrency": limit, "recipients_per_transaction": 1,
        "pipelined_transactions": 1}}).start()
    address = instance.create_list("test", [f"m{number}@example.org" for number in range(40)])
    watch = Watch("127.0.0.1", sink.port)
    watch.start()
    instance.lmtp_send(post(), address)
    wait_until(lambda: sink.recipients() == 20 and not instance.files("out")["out"], 60, "all to be tried")
    watch.stop()
    assert watch.most == limit
