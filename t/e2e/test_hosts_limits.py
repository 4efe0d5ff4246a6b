# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Limits toward a destination hold over all hosts of a site together, also while hosts come and go."""
import contextlib
import json
import select
import socketserver
import threading
import time

import pytest

from support import postgresql
from support.instance import HOST, wait_until
from support.limits import is_established
from support.post import post
from support.serving import Serving
from test_hosts import die, hosts, make_host, server, states  # noqa: F401: server is a fixture

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

LIMIT = 4
MEMBERS = [f"member{number}@example.org" for number in range(60)]


class Counter(Serving):
    """An SMTP server that counts connections, and answers the end of a message when `open` is set."""
    def __init__(self):
        super().__init__(Connection)
        self.lock, self.open = threading.Lock(), threading.Event()
        self.open.set()
        self.connections, self.most, self.taken = set(), 0, []

    def held(self):
        """How many there are whose clients have not closed them, whether or not this server has seen that yet."""
        with self.lock:
            return sum(map(is_established, self.connections))

    def begin(self, connection):
        with self.lock:
            self.connections.add(connection)
        self.most = max(self.most, self.held())

    def end(self, connection):
        with self.lock:
            self.connections.discard(connection)



class Connection(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def has_gone(self):
        """Whether the client, which says nothing before it is answered, has closed the connection."""
        return bool(select.select([self.connection], [], [], 0)[0])

    def handle(self):
        self.server.begin(self.connection)
        try:
            self.talk()
        except OSError:
            pass
        finally:
            self.server.end(self.connection)

    def talk(self):
        to = []
        self.say("220 counter.example.org")
        for line in self.rfile:
            verb = line[:4].upper().strip()
            if verb == b"DATA":
                self.say("354 go on")
                for text in self.rfile:
                    if text == b".\r\n":
                        break
                else:
                    return
                time.sleep(0.05)
                self.server.open.wait(600)
                if self.has_gone():
                    return
                with self.server.lock:
                    self.server.taken += to
                to = []
            elif verb == b"RCPT":
                to.append(line.decode().partition("<")[2].partition(">")[0])
            elif verb == b"QUIT":
                self.say("221 bye")
                return
            self.say("250 ok")


@pytest.fixture
def counter():
    one = Counter()
    yield one
    one.open.set()
    one.server_close()


@pytest.fixture
def pair(instances, sink, server, counter):  # noqa: F811
    """Hosts a and b that send by one relay, and the lists talk@ and other@; not started."""
    a, b = (make_host(instances, sink, server, name) for name in "ab")
    for host in (a, b):
        host.set({"transport.relay": {"port": counter.server_address[1], "concurrency": LIMIT,
                                      "initial_destination_concurrency": LIMIT, "recipients_per_transaction": 1,
                                      "process_limit": 100, "pipelined_transactions": 1},
                  "runner.out": {"instances": 1}})
    a.create_list("talk", members=MEMBERS)
    a.create_list("other", members=MEMBERS[:2])
    b.has_store = True
    return a, b


def parts(instance):
    return {name: row["parts"] for name, row in hosts(instance).items()}


def send(instance, subject, name="talk"):
    instance.lmtp_send(post(subject=subject, to=f"{name}@{HOST}"), f"{name}@{HOST}")


def test_limits_hold_while_hosts_come_and_go(pair, server, counter):  # noqa: F811
    """Never are there more connections than the limit allows one host, and all mail arrives."""
    a, b = pair
    a.start()
    wait_until(lambda: parts(a) == {"a": 1}, 30, "a to have it all")
    send(a, "alone")
    wait_until(lambda: counter.most == LIMIT, 30, lambda: f"all of the limit to be used, not {counter.most}")
    b.start()
    send(b, "second")
    wait_until(lambda: parts(a) == {"a": 2, "b": 2}, 30, lambda: f"halves, not {parts(a)}")
    for number in range(3):
        send(a, f"a{number}")
        send(b, f"b{number}")
    die(b)
    # The part is its own for four leases. They may be over before a slow machine has looked.
    server.sql(f"UPDATE site.host SET share_until = {2 ** 62} WHERE name = 'b.example.com'", database="listrunner")
    wait_until(lambda: states(a)["b"] == "dead", 30, "the lease of b to end")
    assert parts(a) == {"a": 2, "b": 2}, "it may be cut off, and at work"
    server.sql("UPDATE site.host SET share_until = 1 WHERE name = 'b.example.com'", database="listrunner")
    wait_until(lambda: parts(a)["a"] == 1, 30, "a to have it all again")
    send(a, "alone again")
    b.start()
    wait_until(lambda: parts(a) == {"a": 2, "b": 2}, 30, lambda: f"halves again, not {parts(a)}")
    send(b, "back")
    b.stop()
    assert parts(a)["b"] == 0
    wait_until(lambda: parts(a)["a"] == 1, 30, "a to have it all at once")
    b.start()
    sent = 2 + 6 + 2
    wait_until(lambda: len(counter.taken) >= sent * len(MEMBERS), 120, lambda: f"all mail, not {len(counter.taken)}")
    assert counter.most == LIMIT


def test_what_is_under_way_counts(pair, counter):
    """A new host sends nothing as long as the first one has all connections in use, and its half from then on."""
    a, b = pair
    counter.open.clear()
    a.start()
    send(a, "stuck")
    wait_until(lambda: counter.held() == LIMIT, 30, "all connections in use")
    b.start()
    send(b, "waits", "other")
    wait_until(lambda: "one part of 2 is this host's; hosts=2" in a.log_text(), 30, "a to know of b")
    renewals = hosts(a)["a"]["seen_at"]
    wait_until(lambda: hosts(a)["a"]["seen_at"] > renewals, 30, "a to renew once more")
    assert parts(a) == {"a": 1, "b": 0}
    assert counter.held() == LIMIT
    counter.open.set()
    wait_until(lambda: parts(a) == {"a": 2, "b": 2}, 30, lambda: f"halves, not {parts(a)}")
    wait_until(lambda: len(counter.taken) == len(MEMBERS) + 2, 60, "all mail")
    assert counter.most == LIMIT


def out_of(instance):
    """Return what the master says of the process that sends; {} as long as there is none."""
    groups = [group for group in instance.status().get("runners", []) if group["runner"] == "out"]
    return groups[0]["children"][0] if groups else {}


def test_a_host_begins_with_what_the_database_says(pair, server, counter):  # noqa: F811
    """The part that a host had when it died is another's by now: it is not used while the host begins anew."""
    a, b = pair
    counter.open.clear()
    a.start()
    b.start()
    wait_until(lambda: parts(a) == {"a": 2, "b": 2}, 30, lambda: f"halves, not {parts(a)}")
    send(b, "cut")
    wait_until(lambda: counter.held() == LIMIT // 2, 30, "b to send")
    die(b)
    wait_until(lambda: states(a)["b"] == "dead", 30, "the lease of b to end")
    server.sql("UPDATE site.host SET share_until = 1 WHERE name = 'b.example.com'", database="listrunner")
    wait_until(lambda: parts(a)["a"] == 1, 30, "a to have it all")
    counter.open.set()
    send(a, "grows")
    wait_until(lambda: len(counter.taken) >= len(MEMBERS), 60, "a to send more and more at once")
    counter.open.clear()
    send(a, "whole")
    wait_until(lambda: counter.held() == LIMIT, 30, "a to use it all")
    with contextlib.closing(postgresql.connect(server.url("site"))) as other:
        other.execute("LOCK TABLE counter IN EXCLUSIVE MODE")  # from which the host's epoch is drawn
        b.start(wait=False)
        wait_until(lambda: out_of(b).get("holding"), 60, "b to have the mail in hand that it had before")
        seen = out_of(b)["progress"]
        wait_until(lambda: out_of(b)["progress"] >= seen + 3, 60, "b to go on")
        assert counter.held() == LIMIT
        other.rollback()
    counter.open.set()
    wait_until(lambda: parts(a) == {"a": 2, "b": 2}, 60, lambda: f"halves, not {parts(a)}")
    wait_until(lambda: len(counter.taken) >= 3 * len(MEMBERS), 120, lambda: f"all mail, not {len(counter.taken)}")
    assert counter.most == LIMIT


def test_who_is_known_may_come_back(pair):
    """A host has the whole of the limits for ever only if no other one is known that could come back and take it while
    the first is cut off from the database."""
    a, b = pair

    def unlimited():
        return json.loads((a.spool / ".host").read_text())["share_until"] == 2 ** 63 - 1
    a.start()
    wait_until(unlimited, 30, "a to be alone")
    b.start()
    wait_until(lambda: parts(a) == {"a": 2, "b": 2}, 30, lambda: f"halves, not {parts(a)}")
    assert not unlimited()
    b.stop()
    wait_until(lambda: parts(a) == {"a": 1, "b": 0}, 30, lambda: f"the whole, not {parts(a)}")
    renewed = hosts(a)["a"]["seen_at"]
    wait_until(lambda: hosts(a)["a"]["seen_at"] != renewed, 30, "a to renew its lease")
    assert not unlimited()
    a.cli("host", "remove", "b.example.com")
    wait_until(unlimited, 30, "a to be alone again")


def test_a_host_that_was_alone_needs_no_database(pair, server, counter):  # noqa: F811
    """It goes on with what it has in its queue, also when it is started anew while the database is away."""
    a = pair[0]
    counter.open.clear()
    a.start()
    send(a, "stuck")
    wait_until(lambda: counter.held() == LIMIT, 30, "all connections in use")
    server.stop()
    die(a)
    wait_until(lambda: counter.held() == 0, 30, "the connections of the dead to be closed")
    a.start(wait=False)
    counter.open.set()
    wait_until(lambda: len(counter.taken) >= len(MEMBERS), 60, lambda: f"all mail, not {len(counter.taken)}")
    assert sorted(counter.taken) == sorted(MEMBERS)
    assert counter.most == LIMIT
