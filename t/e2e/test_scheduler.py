# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The scheduler of outgoing mail keeps its promises: a bad neighbour hurts nobody, small mail does not wait for large,
little is repeated after a crash, and what was learnt or ordered outlives a restart."""
import contextlib
import json
import os
import signal
import socket
import threading
import time

import pytest

from support.dns import Dns
from support.instance import wait_until
from support.post import post
from support.slow import SlowServer

FEW, MANY = 20, 10000
FRONT = 300  # posts
LIVE, POSTS = 500, 4
STUCK = 600


def settings(**transport):
    return {"transport.relay": transport}


def wire(number, to):
    return post(to=to, message_id=f"<{number}@sched.example.net>", body=f"number {number}\n")


def send(instance, address, number):
    instance.lmtp_send(wire(number, address), address)


def destinations(instance, *words):
    """{name: destination} as `dest ls` or `dest show` tells."""
    lines = instance.cli("dest", *(words or ["ls"]), "--json").splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


def numbers(sink):
    """Of each accepted transaction, in order: which mail it was."""
    return [int(t.message_id.strip("<>").split("@")[0]) for t in sink.transactions() if t.result == "accepted"]


class Silent(threading.Thread):
    """Accepts connections and never says a word."""

    def __init__(self, address, port):
        super().__init__(daemon=True)
        self.socket = socket.create_server((address, port), backlog=64)
        self.taken = []
        self.start()

    def run(self):
        try:
            while True:
                self.taken.append(self.socket.accept()[0])
        except OSError:
            pass  # closed

    def close(self):
        self.socket.close()
        for connection in self.taken:
            connection.close()


@contextlib.contextmanager
def standing_still(sink):
    """The sink answers nothing meanwhile, so that what is done does not depend on the speed of the machine."""
    sink.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        sink.process.send_signal(signal.SIGCONT)


def test_singles_before_the_rest_of_a_large_list(instances, sinks):
    """A list of 10,000 in 1,000 transactions is in front; singles that come behind it go among its first."""
    sink = sinks(options=["--latency", "2"])
    instance = instances(sink.port, settings=settings(concurrency=2, recipients_per_transaction=10)).start()
    large = instance.create_list("large", [f"m{number}@example.org" for number in range(MANY)])
    small = instance.create_list("small", ["one@example.org"])
    send(instance, large, 0)
    wait_until(lambda: sink.recipients() > 0, 30, "the list's first copies")
    with standing_still(sink):
        for number in range(1, FEW + 1):
            send(instance, small, number)
        wait_until(lambda: not any(instance.files("in", "pipeline").values()), 60, "the singles behind it")
    instance.wait_idle(90)
    order = numbers(sink)
    last = max(place for place, number in enumerate(order) if number > 0)
    before = sum(1 for number in order[:last] if number == 0)
    print(f"\nthe last of {FEW} singles came after {before} of the list's {order.count(0)} transactions")
    assert order.count(0) == MANY // 10 and sorted(set(order)) == list(range(FEW + 1))
    assert last < len(order) - 100, "the singles came behind the list"


def test_singles_before_the_rest_of_many_posts(instances, sinks):
    """More posts are in front than are at hand at once, and none of them ends soon: what is behind them is claimed."""
    sink = sinks(options=["--latency", "2"])
    transport = {"concurrency": 2, "recipients_per_transaction": 10}
    instance = instances(sink.port, settings=settings(**transport) | {"runner.out": {"start": "no"}}).start()
    large = instance.create_list("large", [f"m{number}@example.org" for number in range(200)])
    small = instance.create_list("small", ["one@example.org"])
    for number in range(FRONT):
        send(instance, large, 1000 + number)
    wait_until(lambda: instance.queue_stat()["out"]["ready"] == FRONT, 60, "the posts in the queue out")
    instance.set({"runner.out": {"start": "yes"}})
    instance.cli("reload")
    wait_until(lambda: sink.recipients() > 0, 30, "the first copies")
    with standing_still(sink):
        for number in range(1, 4):
            send(instance, small, number)
        wait_until(lambda: not any(instance.files("in", "pipeline").values()), 60, "the singles behind them")
    instance.wait_idle(180)
    order = numbers(sink)
    places = [place for place, number in enumerate(order) if number < 1000]
    last = max(places)
    print(f"\nthe last single came after {last - 2} of {len(order) - 3} transactions")
    assert len(order) == FRONT * 20 + 3 and len(places) == 3
    assert last < len(order) // 4, "the singles came behind the posts"


def flew(instance):
    """Whether several transactions were ever out together over one connection."""
    return any(found["flights"] for found in destinations(instance).values())


def kill_in_the_middle(instance, sink, kills, sizes):
    """Kills out again and again, as often as asked or until most copies are gone; returns how often that was and how
    many copies may come twice for it: sizes are of what is in flight where transactions went one by one, and where
    several went together."""
    bound = done = 0
    while done < kills and (seen := sink.recipients()) < MANY * 3 // 4:
        (pid,) = instance.pids("out")
        wait_until(lambda: sink.recipients() > seen + MANY // 20, 60, "more copies", step=0.002)
        bound += sizes[flew(instance)]
        os.kill(pid, signal.SIGKILL)
        done += sink.recipients() < MANY
        wait_until(lambda: instance.pids("out") not in ([], [pid]), 60, "another process")
    assert done >= 2, "the kills came too late to be in the middle"
    return done, bound


# Groups of 50; a copy for each at a relay that is near (one at a time) and at one that is not (four).
@pytest.mark.proof
@pytest.mark.parametrize("sessions, keys, latency, sizes, verp", [
    (4, {"recipients_per_transaction": 50}, 60, (50, 50), 0), (20, {}, 0, (1, 4), 1), (20, {}, 20, (1, 4), 1)])
def test_killed_in_a_large_entry(instances, sinks, sessions, keys, latency, sizes, verp):
    sink = sinks(options=["--latency", str(latency)])
    instance = instances(sink.port, settings={
        **settings(concurrency=sessions, initial_destination_concurrency=sessions, **keys),
        "pipeline": {"verp_delivery_interval": str(verp)}}).start()
    members = [f"m{number}@example.org" for number in range(MANY)]
    send(instance, instance.create_list("large", members), 0)
    wait_until(lambda: sink.recipients() > 0, 60, "the first copies", step=0.002)
    kills, bound = kill_in_the_middle(instance, sink, 5, [sessions * size for size in sizes])
    instance.wait_ready()
    instance.wait_idle(90)
    copies = sink.copies()
    repeats = sum(copies.values()) - len(copies)
    print(f"\n{repeats} copies of {MANY} came twice after {kills} kills; the bound is {bound}")
    assert len(copies) == MANY
    assert max(copies.values()) <= 1 + kills
    assert repeats <= bound
    if latency == 20:
        assert flew(instance), "the bound of several in a flight was not tried"


def test_throttled_destination_is_not_stormed(instances):
    """30 a second are borne, and there are more: few are refused once the pace is found."""
    server = SlowServer(rate=30, burst=30)
    port = server.server_address[1]
    dns = Dns({"slow.test": "@ IN MX 10 mx\nmx IN A 127.0.0.1\n"}).start()
    try:
        instance = instances(port, settings={
            **settings(type="mx", host=None, port=port, tls_level="none"), "dns": {"servers": dns.server}}).start()
        members = [f"m{number}@slow.test" for number in range(300)]
        send(instance, instance.create_list("test", members), 0)
        wait_until(lambda: len(server.taken) > 100, 60, "the pace to be found")
        (found,) = destinations(instance).values()
        assert found["state"] == "throttled" and "too fast" in found["reason"] and found["away_since"]
        instance.wait_idle(90)
        span = server.taken[-1] - server.taken[0]
        (found,) = destinations(instance).values()
        print(f"\n{len(server.taken)} taken in {span:.1f} s, {len(server.refused)} refused; learnt: {found['rate']}")
        assert len(server.taken) == len(members)
        assert found["throttled"] > 0 and found["died"] == 0
        assert len(server.refused) < 400, "all at once, and a few until the pace is found"
        assert instance.log_text().count("wants less mail") == 1
        assert ": alive, rate none." in instance.cli("dest", "resume", "slow.test")
    finally:
        dns.stop()
        server.server_close()


def test_suspend_resume_and_rate_outlive_a_restart(instances, sinks):
    sink = sinks()
    instance = instances(sink.port).start()
    address = instance.create_list("test", ["one@example.org"])
    send(instance, address, 1)
    instance.wait_idle()
    instance.cli("dest", "suspend", "relay")
    instance.cli("dest", "rate", "relay", "7200/h")
    send(instance, address, 2)
    wait_until(lambda: instance.files("out")["out"], 20, "the mail to wait")
    instance.stop()
    instance.start()
    relay = destinations(instance, "show", "relay")["relay"]
    assert (relay["state"], relay["rate"]) == ("suspended", "2/s")
    assert numbers(sink) == [1]
    assert "relay" in instance.cli("dest", "ls") and "suspended" in instance.cli("dest", "ls")
    assert "relay (transport relay, instance 0): alive, rate 2/s." in instance.cli("dest", "resume", "relay")
    instance.wait_idle()
    assert numbers(sink) == [1, 2]
    assert ": alive, rate none." in instance.cli("dest", "rate", "relay", "default")
    for words, code in ((("rate", "relay", "fast"), 64), (("suspend", "nowhere"), 64), (("show", "nowhere"), 66)):
        done = instance.run("dest", *words)
        assert done.returncode == code and done.stderr, words


def test_a_dead_relay_stays_dead_over_a_restart(instances, sinks):
    sink = sinks(faults=["connect do 554 5.3.2 not today"])
    instance = instances(sink.port, settings=settings(destination_dead_min="1h", destination_dead_max="1h")).start()
    address = instance.create_list("test", ["one@example.org"])
    for number in range(6):
        send(instance, address, number)
    wait_until(lambda: destinations(instance).get("relay", {}).get("state") == "dead", 20, "it to be dead")
    instance.stop()
    (path,) = (instance.spool / ".out").iterdir()
    kept = json.loads(path.read_text())
    assert kept["transports"]["relay"]["relay"]["deaths"] == 1
    instance.start()
    relay = destinations(instance)["relay"]
    assert relay["state"] == "dead" and relay["connections"] == relay["refused_connections"] == 0
    assert "not today" in relay["reason"]
    instance.stop()
    path.write_text(path.read_text()[:50])
    instance.start()
    assert ".json is passed over" in instance.log_text()
    relay = destinations(instance)["relay"]
    assert relay["state"] != "dead" or relay["refused_connections"] > 0, "it is tried anew"


def known(instance):
    """Return what out knows of its destinations that it must not forget."""
    found = destinations(instance)
    keys = ("window", "state", "rate", "deaths")
    return {name: tuple(found[name][key] for key in keys) for name in ("relay", "dead")}


def waiting(instance):
    """Entries that are put off by more than a minute: tried ones in retry, others where they were."""
    later = time.time() + 60
    return sorted(name for names in instance.files("out", "retry").values() for name in names
                  if name.endswith(".msg") and float(name.partition("+")[0]) > later)


def test_what_was_learnt_outlives_reloads_and_restarts(instances, sinks):
    """A window that has grown, a death, a rate that was ordered, and when refused mail is due: a reload that changes a
    setting of out's, one that does not, and a restart leave them as they are, while mail waits and flows."""
    sink, dead = sinks(options=["--latency", "20"]), sinks(faults=["connect do 554 5.3.2 not today"])
    instance = instances(sink.port, settings={
        **settings(recipients_per_transaction=1),
        "transport.dead": {"port": dead.port, "destination_dead_min": "1h", "destination_dead_max": "1h",
                           "backoff_schedule": "2h"},
        "out": {"transport_table": "dead.example:dead"}}).start()
    address = instance.create_list("test", [f"m{number}@example.org" for number in range(100)])
    gone = instance.create_list("gone", ["m@dead.example"])
    for number in range(6):
        send(instance, gone, number)
    wait_until(lambda: destinations(instance).get("dead", {}).get("state") == "dead", 30, "it to be dead")
    send(instance, address, 10)
    wait_until(lambda: sink.recipients() == 100, 60, "the first post")
    instance.cli("dest", "rate", "relay", "3000/s")
    wait_until(lambda: len(waiting(instance)) == 6, 30, "what cannot go now")
    before, waits = known(instance), waiting(instance)
    assert before["relay"][0] > 5 and before["relay"][2] == "3000/s" and before["dead"][1] == "dead"
    first = instance.pids("out")
    instance.cli("reload")
    assert instance.pids("out") == first, "nothing that concerns it has changed"
    for turn, change in enumerate(({"log_recipients": "no"}, {"clog_warn_time": "1h"}), 1):
        instance.set({"out": {"transport_table": "dead.example:dead", **change}})
        pids = instance.pids("out")
        send(instance, address, 10 + turn)  # some is on its way in the old process, the rest goes with the new one
        instance.cli("reload")
        wait_until(lambda: instance.pids("out") and instance.pids("out") != pids, 30, "another process")
        instance.wait_ready()
        wait_until(lambda: sink.recipients() == 100 * (turn + 1), 60, "the next post")
        after = known(instance)
        assert after["dead"] == before["dead"] and after["relay"][1:] == before["relay"][1:]
        assert after["relay"][0] >= before["relay"][0], "it began with a small window"
    instance.stop()
    instance.start()
    assert known(instance)["dead"] == before["dead"] and known(instance)["relay"][1:] == before["relay"][1:]
    assert waiting(instance) == waits, "what is due later stayed so"
    assert destinations(instance)["dead"]["refused_connections"] == 0, "a dead one was tried"
    assert set(sink.copies().values()) == {1}


def test_one_dead_among_many(instances, sinks, until_end):
    """One domain's server accepts and hangs, LIVE others work: every post reaches all of those while it does."""
    sink = sinks(store=False)
    silent = until_end(Silent("127.0.0.2", sink.port))
    zone = "".join(f"d{number} IN MX 10 mx.d{number}\nmx.d{number} IN A 127.0.0.1\n" for number in range(LIVE))
    zone += "dead IN MX 10 mx.dead\nmx.dead IN A 127.0.0.2\n"
    dns = until_end(Dns({"mx.test": zone}).start())
    instance = instances(sink.port, settings={
        **settings(type="mx", port=sink.port, host=None, tls_level="none", helo_timeout="1h"),
        "dns": {"servers": dns.server},
    }).start()
    live = [f"m@d{number}.mx.test" for number in range(LIVE)]
    dead = [f"m{number}@dead.mx.test" for number in range(500)]
    address = instance.create_list("test", dead + live)
    for number in range(POSTS):
        send(instance, address, number)
    wait_until(lambda: sink.recipients() >= LIVE * POSTS, 90,
               lambda: f"{LIVE * POSTS} copies, there are {sink.recipients()}")
    found = destinations(instance)
    (stuck,) = destinations(instance, "show", "dead.mx.test").values()
    print(f"\n{sink.recipients()} copies to {len(found) - 1} destinations; the dead one holds {stuck['busy']} "
          f"connections, {stuck['waiting_recipients']} recipients wait for it")
    assert len(found) == LIVE + 1 and stuck["busy"] <= 5 and stuck["sent"] == 0
    assert len(instance.files("retry")["retry"]) == 0, "the living were put off"
    assert instance.stop(30) == 0
    assert sink.recipients() == LIVE * POSTS


def test_mail_behind_what_is_stuck(instances, sinks, until_end):
    """However many entries wait for one domain's server that hangs, those that came later and have a way go."""
    sink = sinks(store=False)
    silent = until_end(Silent("127.0.0.2", sink.port))
    zone = "live IN MX 10 mx.live\nmx.live IN A 127.0.0.1\ndead IN MX 10 mx.dead\nmx.dead IN A 127.0.0.2\n"
    dns = until_end(Dns({"mx.test": zone}).start())
    instance = instances(sink.port, settings={
        **settings(type="mx", port=sink.port, host=None, tls_level="none", helo_timeout="1h"),
        "dns": {"servers": dns.server}, "runner.out": {"start": "no"},
    }).start()
    ways = {name: instance.create_list(name, [f"m@{name}.mx.test"]) for name in ("dead", "live")}
    with instance.lmtp() as client:
        for number in range(STUCK + FEW):
            address = ways["dead" if number < STUCK else "live"]
            instance.lmtp_send(wire(number, address), address, client=client)
    wait_until(lambda: len(instance.files("out")["out"]) == STUCK + FEW, 60, "the backlog")
    instance.set({"runner.out": {"start": "yes"}})
    instance.cli("reload")
    wait_until(lambda: sink.recipients() == FEW, 60, lambda: f"{FEW} copies, there are {sink.recipients()}")
    (stuck,) = destinations(instance, "show", "mx.dead.mx.test").values()
    assert stuck["waiting"] + stuck["busy"] == STUCK and stuck["sent"] == 0
    assert instance.stop(30) == 0


def test_more_entries_than_descriptors(instances, sinks):
    """The runner holds no more entries than leave it the descriptors that it needs to work."""
    sink = sinks(store=False, options=["--latency", "5"])
    instance = instances(sink.port, settings={"runner.out": {"start": "no"}, **settings(concurrency=5)})
    instance.wrapper = ["prlimit", "--nofile=640"]
    instance.start()
    address = instance.create_list("test", ["one@example.org"])
    with instance.lmtp() as client:
        for number in range(800):
            instance.lmtp_send(wire(number, address), address, client=client)
    wait_until(lambda: len(instance.files("out")["out"]) == 800, 60, "the backlog")
    instance.set({"runner.out": {"start": "yes"}})
    instance.cli("reload")
    instance.wait_idle(50)
    assert sink.recipients() == 800
    log = instance.log_text()
    # inotify is refused where the system has too few for all tests that run at this time.
    faults = [line for line in log.splitlines() if "Too many open files" in line and "inotify" not in line]
    assert not faults and "at most 320 entries are held at a time, not 20000" in log, faults[:5]


def test_connections_are_used_on(instances, sinks, until_end):
    """More destinations than connections: one that is open has more of the same mail rather than to be closed for the
    next, but not for ever."""
    sink = sinks(options=["--latency", "40"], store=False)  # long enough for all names to be known
    domains = {"a": 30, **{f"d{number}": 10 for number in range(8)}}
    zone = "".join(f"{domain} IN MX 10 mx.{domain}\nmx.{domain} IN A 127.0.0.1\n" for domain in domains)
    dns = until_end(Dns({"mx.test": zone}).start())
    instance = instances(sink.port, settings={
        **settings(type="mx", port=sink.port, host=None, tls_level="none", process_limit=2,
                   initial_destination_concurrency=1, concurrency=1),
        "dns": {"servers": dns.server}, "pipeline": {"verp_delivery_interval": 1},
    }).start()
    people = [f"m{number}@{domain}.mx.test" for domain, count in domains.items() for number in range(count)]
    address = instance.create_list("test", people)
    send(instance, address, 1)
    wait_until(lambda: sink.recipients() >= len(people), 60, lambda: f"{sink.recipients()} copies")
    of_session, places = {}, {}
    for place, envelope in enumerate(sink.envelopes()):
        of_session.setdefault(envelope["session"], []).append(envelope["to"][0].partition("@")[2])
        places.setdefault(envelope["session"], []).append(place)
    assert sum(map(len, of_session.values())) == len(people)
    assert all(len(set(used)) == 1 for used in of_session.values())
    assert len(of_session) <= 2 * len(domains), of_session  # one each would be the best, 110 the worst
    for of_one in places.values():
        waited = [begun for begun, *_ in places.values() if len(of_one) > 21 and begun > of_one[21]]
        assert not waited, "another destination had to wait until this one had all"
