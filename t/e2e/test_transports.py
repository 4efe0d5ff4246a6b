# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A transport has limits of its own: how long its mail waits, how fast it goes; and who clogs the others."""
import re
import socket
import socketserver
import time
from datetime import datetime

import pytest

from support.dns import Dns
from support.instance import wait_until
from support.post import post
from support.serving import Serving

REFUSED = ["rcpt do 450 4.2.2 mailbox full"]


def parse(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def send(instance, address):
    instance.lmtp_send(post(to=address), address)


def attempts(log, domain):
    return len(re.findall(rf"to=<m1@{re.escape(domain)}>.* status=deferred", log))


@pytest.mark.main
def test_each_transport_has_its_schedule(instances, sinks):
    """A list has members behind three transports, all of which refuse: each is tried again by its own law, and whoever
    is accepted at last had one copy."""
    soon, late, usual = sinks(faults=REFUSED), sinks(faults=REFUSED), sinks(faults=REFUSED)
    instance = instances(usual.port, settings={
        "out": {"transport_table": "soon.example:soon .late.example:late", "minimal_backoff_time": "30m",
                "maximal_backoff_time": "30m", "backoff_jitter": "0"},
        "transport.soon": {"port": soon.port, "backoff_schedule": "1s 2s"},
        "transport.late": {"port": late.port, "minimal_backoff_time": "1h", "maximal_backoff_time": "2h"}}).start()
    domains = ["soon.example", "a.late.example", "b.late.example", "usual.example"]
    send(instance, instance.create_list("test", [f"m{i}@{domain}" for domain in domains for i in range(4)]))
    wait_until(lambda: attempts(instance.log_text(), "soon.example") >= 4, 60, "four attempts at the first")
    wait_until(lambda: len(instance.files("retry")["retry"]) == 3, 10, "an entry for each law")
    wait_until(lambda: all(attempts(instance.log_text(), domain) for domain in domains), 30, "the lines of each")
    tried = {domain: attempts(instance.log_text(), domain) for domain in domains}
    assert [tried[domain] for domain in domains[1:]] == [1, 1, 1], tried
    rows = instance.rows("queue", "ls", "retry")
    waits = sorted(((parse(row["due"]) - parse(row["arrival"])).total_seconds(), row["todo"]) for row in rows)
    assert [todo for _, todo in waits] == [4, 4, 8]
    assert waits[0][0] < 600 and 1795 <= waits[1][0] <= 1900 and 3595 <= waits[2][0] <= 3700, waits


def test_a_transport_has_a_rate(instances, sinks, until_end):
    """Three domains of one transport share its rate, those of the other one go at once."""
    sink, other = sinks(store=False, host="127.0.0.2"), sinks()
    zone = "".join(f"{name} IN MX 10 mx.{name}\nmx.{name} IN A 127.0.0.2\n" for name in ("x", "y", "z"))
    dns = until_end(Dns({"rate.test": zone}).start())
    instance = instances(other.port, settings={
        "dns": {"servers": dns.server}, "out": {"transport_table": ".rate.test:slow"},
        "transport.slow": {"type": "mx", "port": sink.port, "tls_level": "none", "transport_rate": "20/s",
                           "transport_burst": "4", "recipients_per_transaction": "2", "group_by_mx": "no"},
    }).start()
    slow = [f"m{i}@{name}.rate.test" for name in ("x", "y", "z") for i in range(20)]
    address = instance.create_list("test", slow + [f"m{i}@fast.example" for i in range(50)])
    begun = time.time()  # not the first copy, which may be late
    send(instance, address)
    instance.wait_idle(60)
    times = sorted(e["time"] / 1e6 for e in sink.envelopes() for _ in e["to"])
    assert len(times) == len(slow) and other.recipients() == 50
    # 4 at once and one transaction that overdraws; whatever the machine does, the rest cannot come sooner.
    assert times[-1] - begun >= (len(slow) - 4 - 2) / 20 - 0.05, times[-1] - begun


@pytest.mark.main
def test_a_clog_is_told_of(instances, sinks):
    sink = sinks()
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and never says a word
        instance = instances(sink.port, settings={
            "out": {"transport_table": "stuck.example:stuck", "message_active_limit": "20"},
            "transport.stuck": {"port": silent.getsockname()[1], "initial_destination_concurrency": "1"}}).start()
        stuck = instance.create_list("stuck", ["m@stuck.example"])
        for _ in range(10):
            send(instance, stuck)
        wait_until(lambda: " takes up " in instance.log_text(), 30, "a word about it")
        (line,) = [line for line in instance.log_text().splitlines() if " takes up " in line]
        assert re.search(r"transport stuck: mail for destination stuck .* [5-9] of 20 active entries", line), line
        send(instance, instance.create_list("test", ["m@example.org"]))
        wait_until(lambda: sink.recipients() == 1, 30, "other mail")
        assert instance.log_text().count(" takes up ") == 1


def test_a_rate_outlives_a_restart(instances, sinks):
    sink, slow = sinks(), sinks()
    instance = instances(sink.port, settings={
        "out": {"transport_table": "slow.example:slow"},
        "transport.slow": {"port": slow.port, "transport_rate": "1/h"}}).start()
    slowly, soon = instance.create_list("slowly", ["m@slow.example"]), instance.create_list("soon", ["m@example.org"])
    send(instance, slowly)
    wait_until(lambda: slow.recipients() == 1, 30, "the one that may go")
    instance.stop()
    instance.start()
    send(instance, slowly)
    wait_until(lambda: instance.files("out")["out"], 30, "the next to be there")
    send(instance, soon)
    wait_until(lambda: sink.recipients() == 1, 30, "mail by the other transport")
    assert slow.recipients() == 1 and len(instance.files("out")["out"]) == 1


@pytest.mark.main
@pytest.mark.parametrize("key, value", [("backoff_schedule", "1m 2x"), ("transport_rate", "7/y")])
def test_nonsense_is_refused(instances, sinks, key, value):
    instance = instances(sinks().port, settings={"transport.relay": {key: value}})
    done = instance.run("config", "check")
    lines = instance.config.read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if line.startswith(key))
    assert done.returncode != 0 and f"{instance.config}:{number}: [transport.relay] {key}: found" in done.stderr


class Listening(Serving):
    """An SMTP server that notes the commands of the envelope; it offers what it is told to."""

    def __init__(self, *offers):
        super().__init__(Envelopes)
        self.offers, self.heard = offers, []

    def commands(self, verb):
        return sorted(line for line in self.heard if line.startswith(verb))


class Envelopes(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 hi\r\n")
        for line in self.rfile:
            verb = line.split()[0].upper()
            if verb in (b"MAIL", b"RCPT"):
                self.server.heard.append(line.decode().strip())
            if verb == b"EHLO":
                self.wfile.write("".join(f"250-{offer}\r\n" for offer in ("peer", *self.server.offers)).encode())
            if verb == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                while self.rfile.readline() not in (b".\r\n", b""):
                    pass
            self.wfile.write(b"250 ok\r\n")


def test_servers_are_asked_for_reports(instances):
    """Reports that the poster asked for end at the list; those that the list wants are asked of servers that offer
    DSN."""
    server, deaf, plain = Listening("DSN", "SIZE"), Listening("DSN", "SIZE"), Listening("SIZE")
    instance = instances(server.server_address[1], settings={
        "out": {"transport_table": "deaf.example:deaf plain.example:plain"},
        "transport.deaf": {"port": deaf.port, "dsn": "no"},
        "transport.plain": {"port": plain.port}}).start()
    address = instance.create_list("test", ["a+b=c@example.org", "m@deaf.example", "m@plain.example"])
    send(instance, address)
    instance.wait_idle()
    (mail,), (rcpt,) = server.commands("MAIL"), server.commands("RCPT")
    trace = re.search(r" out\[0\]: (\w+) list=test\..* to=<a\+b=c@example\.org>", instance.log_text()).group(1)
    assert re.fullmatch(rf"MAIL FROM:<test-bounces[^>]*> SIZE=\d+ RET=HDRS ENVID={trace}", mail), mail
    assert rcpt == "RCPT TO:<a+b=c@example.org> NOTIFY=FAILURE ORCPT=rfc822;a+2Bb+3Dc@example.org"
    for other in (deaf, plain):
        assert [re.sub(r"SIZE=\d+$", "", line) for line in other.commands("MAIL")] == [
            re.sub(r"SIZE=.*", "", mail)]
        assert len(other.commands("RCPT")) == 1 and "NOTIFY" not in other.commands("RCPT")[0]
