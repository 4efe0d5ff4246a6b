# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Nobody's refusal stops anybody else: servers that bear only so much, each in its way."""
import bisect
import json
import re
import socket
import time

import pytest

from support.dns import Dns
from support.instance import free_port, wait_until
from support.limits import LimitedServer, Limits
from support.post import post

SOON = {"minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "backoff_jitter": "0"}
DIRECT = {"host": None, "type": "mx", "tls_level": "none"}


@pytest.fixture
def limited(until_end):
    """Makes servers: limited(errors=20)."""
    def make(host="127.0.0.1", port=0, **limits):
        return until_end(LimitedServer(Limits(**limits), host=host, port=port))
    return make


@pytest.fixture
def dns(until_end):
    made = Dns({"x.test": "@ IN MX 10 mx\nmx IN A 127.0.0.1\n",
                "two.test": "@ IN MX 10 a\n@ IN MX 20 b\na IN A 127.0.0.1\nb IN A 127.0.0.2\n"})
    return until_end(made.start())


def send(instance, address, number=0):
    instance.lmtp_send(post(to=address, message_id=f"<{number}@refusal.example.net>"), address)


def destination(instance, name):
    return json.loads(instance.cli("dest", "show", name, "--json").splitlines()[0])


def all_have_one(server, members):
    return lambda: len(server.copies) == len(members) and set(server.copies.values()) == {1}


@pytest.mark.main
def test_errors_of_a_session_concern_the_session(instances, limited):
    """A server that says goodbye after 20 unknown recipients, as Postfix does: the rest goes over another."""
    server = limited(errors=20)
    instance = instances(server.port).start()
    live = [f"m{number}@example.org" for number in range(200)]
    dead = [f"dead{number}@example.org" for number in range(40)]
    send(instance, instance.create_list("test", live + dead))
    wait_until(all_have_one(server, live), 20, lambda: f"200 copies, there are {len(server.copies)}")
    instance.wait_idle(20)
    assert instance.log_text().count(" status=bounced ") == 40
    assert destination(instance, "relay")["state"] == "alive" and " wants less mail" not in instance.log_text()


@pytest.mark.parametrize("style", ["452", "552", "close", "bare"])
def test_the_size_of_transactions_is_learnt(instances, limited, style):
    """A server that takes 100 recipients a transaction gets the rest at once, and never more again."""
    server = limited(transaction=100, transaction_style=style)
    instance = instances(server.port).start()
    members = [f"m{number}@example.org" for number in range(1000)]
    address = instance.create_list("test", members)
    send(instance, address)
    wait_until(all_have_one(server, members), 20, lambda: f"1000 copies, there are {len(server.copies)}")
    assert destination(instance, "relay")["transaction_recipients"] == 100
    assert "takes 100 recipients in a transaction" in instance.log_text()
    instance.stop()
    instance.start()  # it is remembered
    server.copies.clear()
    send(instance, address, 1)
    wait_until(all_have_one(server, members), 20, lambda: f"1000 copies, there are {len(server.copies)}")
    assert instance.log_text().count("recipients in a transaction") == 1


@pytest.mark.parametrize("stage", ["connect", "mail", "rcpt"])
def test_few_connections(instances, limited, stage):
    server = limited(connections=3, connections_at=stage)
    instance = instances(server.port, settings={"transport.relay": {"recipients_per_transaction": 1}}).start()
    members = [f"m{number}@example.org" for number in range(150)]
    send(instance, instance.create_list("test", members))
    wait_until(all_have_one(server, members), 20, lambda: f"150 copies, there are {len(server.copies)}")


@pytest.mark.main
def test_one_refusal_of_many(instances, limited, dns):
    """A transaction of 300 is refused for its rate once: they are there a few seconds later."""
    server = limited(closed=(0, 0.5))
    instance = instances(server.port, settings={"transport.relay": {**DIRECT, "port": server.port},
                                                "dns": {"servers": dns.server}}).start()
    members = [f"m{number}@x.test" for number in range(300)]
    send(instance, instance.create_list("test", members))
    wait_until(all_have_one(server, members), 20, lambda: f"300 copies, there are {len(server.copies)}")


@pytest.mark.parametrize("stage, words", [
    ("mail", "421 4.7.28 unusual rate of mail"), ("connect", "421 4.7.28 unusual rate of mail"),
    ("connect", "421 4.3.2 not now"), ("mail", "451 4.3.2 not now")])
def test_closed_for_a_while(instances, limited, dns, stage, words):
    """Whatever it says for eight seconds or more, what waits is there soon after; other mail waits for nobody."""
    server, well = limited(closed=(0, 1e9), closed_at=stage, closed_with=words), limited()
    instance = instances(well.port, settings={
        "transport.direct": {**DIRECT, "port": server.port},
        "dns": {"servers": dns.server}, "out": {"transport_table": "x.test:direct"}}).start()
    members = [f"m{number}@x.test" for number in range(40)]
    send(instance, instance.create_list("both", [*members, "m@example.org"]))
    wait_until(lambda: well.copies, 5, "the one who can be reached")
    state = wait_until(lambda: destination(instance, "x.test")["state"] in ("throttled", "dead", "probing"), 5,
                       "it to be known")
    assert state
    send(instance, instance.create_list("other", ["n@example.org"]), 1)
    wait_until(lambda: len(well.copies) == 2, 5, "another list's mail")
    server.limits.closed = (0, 8)
    wait_until(all_have_one(server, members), 40, lambda: f"40 copies, there are {len(server.copies)}")
    instance.wait_idle(20)


@pytest.mark.parametrize("order", ["dead", "suspended"])
def test_transports_are_independent(instances, limited, order):
    """The default relay is dead, or suspended, before this process has seen anything else."""
    well = limited()
    instance = instances(free_port(), settings={
        "transport.well": {"port": well.port}, "out": {"transport_table": "well.example:well"}}).start()
    if order == "suspended":
        instance.cli("dest", "suspend", "relay")
    stuck = instance.create_list("stuck", ["m@example.org"])
    for number in range(20):
        send(instance, stuck, number)
    if order == "dead":
        wait_until(lambda: destination(instance, "relay")["state"] == "dead", 10, "it to be dead")
    instance.stop()
    instance.start()
    send(instance, instance.create_list("well", ["m@well.example"]), 100)
    wait_until(lambda: well.copies, 5, "mail by the other transport")


def test_an_entry_is_not_hostage(instances, limited):
    """More posts than may be held have one member behind a suspended relay: all others are reached, the one greylisted
    meanwhile is tried again, and what waits comes when it may."""
    well, shut = limited(grey=2), limited()
    instance = instances(well.port, settings={
        "transport.shut": {"port": shut.port},
        "out": {"transport_table": "shut.example:shut", "message_active_limit": "20", **SOON}}).start()
    send(instance, instance.create_list("first", ["m@shut.example"]))
    wait_until(lambda: shut.copies, 10, "the way to be known")
    shut.copies.clear()
    instance.cli("dest", "suspend", "shut")
    members = [f"m{number}@example.org" for number in range(10)]
    address = instance.create_list("test", [*members, "m@shut.example"])
    for number in range(60):
        send(instance, address, number)
    wait_until(lambda: sum(well.copies.values()) == 600, 40,
               lambda: f"600 copies, there are {sum(well.copies.values())}")
    assert not shut.copies
    wait_until(lambda: (found := destination(instance, "shut"))["parked"] >= 50 and found["waiting"] == 0, 20,
               lambda: f"what waits to be shown, not {destination(instance, 'shut')}")
    found = destination(instance, "shut")
    assert found["state"] == "suspended" and found["away_since"], found
    instance.cli("dest", "resume", "shut")
    wait_until(lambda: shut.copies.get("m@shut.example") == 60, 10, lambda: f"60 copies, there are {shut.copies}")
    instance.wait_idle(20)


def test_an_order_before_the_hosts_are_known(instances, limited, dns):
    """A domain is suspended before there was mail for it. Its hosts become known while the same post is still under way
    to somebody else; it comes as soon as the domain is resumed."""
    server, slow = limited(), limited(delay=0.5)
    instance = instances(server.port, settings={
        "transport.relay": {**DIRECT, "port": server.port}, "transport.slow": {"port": slow.port},
        "dns": {"servers": dns.server}, "out": {"transport_table": "slow.example:slow"}}).start()
    instance.cli("dest", "suspend", "x.test")
    send(instance, instance.create_list("test", ["m@x.test", "m@slow.example"]))
    wait_until(lambda: slow.copies, 20, "the one who can be reached")
    wait_until(lambda: destination(instance, "x.test")["parked"], 10, "the other one to leave memory")
    assert not server.copies and destination(instance, "x.test")["state"] == "suspended"
    instance.cli("dest", "resume", "x.test")
    wait_until(lambda: server.copies, 10, "the other one")
    instance.wait_idle(20)
    assert "Sanitizer" not in instance.log_text()


@pytest.mark.main
def test_many_destinations_away(instances, until_end):
    """A post to 40 domains, none of which can be reached, waits as one entry and not as 40."""
    zone = "".join(f"d{number} IN MX 10 mx{number}\nmx{number} IN A 127.0.0.1\n" for number in range(40))
    names = until_end(Dns({"s.test": zone}).start())
    instance = instances(free_port(), settings={"transport.relay": {**DIRECT, "port": free_port()},
                                                "dns": {"servers": names.server}}).start()
    send(instance, instance.create_list("test", [f"m@d{number}.s.test" for number in range(40)]))
    wait_until(lambda: instance.files("retry")["retry"] and not instance.files("out")["out"], 20, "them to wait")
    assert len(instance.files("retry")["retry"]) == 1


@pytest.mark.main
def test_what_waits_ends(instances):
    """The relay is away for longer than mail is tried: that is no member's matter."""
    instance = instances(free_port(), settings={"out": {"maximal_queue_lifetime": "4s", **SOON}}).start()
    address = instance.create_list("test", ["m@example.org"])
    send(instance, address)
    wait_until(lambda: "result=expired" in instance.log_text(), 20, "the end of its time")
    wait_until(lambda: "reached nobody" in instance.log_text(), 20, "its author to be told")
    assert not instance.rows("bounce", "ls", address)


@pytest.mark.parametrize("dead, told", [(40, True), (39, False), (2, True)])
def test_who_reached_nobody_by_domain(instances, limited, dead, told, until_end):
    """Each of four instances has the mail of some domains, or of none: that a post reached nobody is told once; not
    where one of forty members got it."""
    zone = "".join(f"d{number} IN MX 10 mx\n" for number in range(40)) + "mx IN A 127.0.0.1\n"
    server = limited()
    names = until_end(Dns({"s.test": zone}).start())
    instance = instances(server.port, settings={
        "transport.relay": {**DIRECT, "port": server.port}, "dns": {"servers": names.server}, "out": SOON,
        "runner.out": {"instances": 4}}).start()
    members = [f"{'dead' if number < dead else 'm'}{number}@d{number}.s.test"
               for number in range(40 if dead > 2 else 2)]
    address = instance.create_list("test", members, settings=["default_nonmember_action=accept"])
    send(instance, address)
    wait_until(lambda: len(set(re.findall(r"queue=bounces address=<(dead[^>]*)>", instance.log_text()))) == dead,
               60, "all bounces to be counted")
    wait_until(lambda: len(server.copies) == len(members) - dead, 30, "the others to be delivered")
    wait_until(lambda: instance.queue_stat()["bounces"]["ready"] == 0, 30, "the last bounce to be worked")
    wait_until(lambda: "reached nobody" in instance.log_text() or not told, 30, "the author to be told")
    assert instance.log_text().count("reached nobody") == told


def test_doubt_ends(instances, limited):
    """A server that keeps every message and never says so gets it until the end of its time. No member is charged with
    that, and the owner is told."""
    server, well = limited(drop=True), limited()
    instance = instances(server.port, settings={
        "out": {**SOON, "maximal_queue_lifetime": "15s", "transport_table": "owners.example:well"},
        "transport.relay": {"destination_dead_max": "1s"}, "transport.well": {"port": well.port}}).start()
    members = [f"m{number}@example.org" for number in range(5)]
    address = instance.create_list("test", members, owner="anne@owners.example")
    send(instance, address)
    wait_until(lambda: "result=expired" in instance.log_text(), 60, "the end of its time")
    instance.wait_idle(60)
    log = instance.log_text()
    assert set(server.copies) == set(members), server.copies
    assert log.count("doubt=may_have_been_delivered") >= 5 and " repeat=1 " in log
    assert not instance.rows("bounce", "ls", address) and " result=scored" not in log
    assert set(well.copies) == {"anne@owners.example"}, well.copies


def test_a_server_that_hangs_up_at_the_end(instances, limited):
    """Half of all transactions end without an answer, and nothing is kept of them: everybody gets the post all the
    same, however often it takes."""
    server = limited(cut=0.5)
    instance = instances(server.port, settings={"out": {**SOON, "maximal_backoff_time": "1s"},
                                                "transport.relay": {"destination_dead_max": "1s"}}).start()
    members = [f"m{number}@example.org" for number in range(30)]
    send(instance, instance.create_list("test", members))
    wait_until(lambda: set(server.copies) == set(members), 120, lambda: f"all of {len(members)}: {len(server.copies)}")
    instance.wait_idle(60)
    assert max(server.copies.values()) == 1 and "status=bounced" not in instance.log_text()


def test_a_server_that_hangs_up_in_the_middle(instances, limited):
    """It closes after 100 KB of 2 MB: the post was not delivered, as the log says, and is when the server is well."""
    server = limited(cut_octets=100_000)
    instance = instances(server.port, settings={
        "out": {**SOON, "maximal_backoff_time": "1s"},
        "transport.relay": {"destination_dead_max": "1s"}}).start()
    members = [f"m{number}@example.org" for number in range(3)]
    address = instance.create_list("test", members)
    instance.lmtp_send(post(to=address, body="It rains all day.\n" * 110_000), address)
    wait_until(lambda: instance.log_text().count("while sending the message") >= 4, 60, "some attempts")
    server.limits.cut_octets = 0
    wait_until(lambda: set(server.copies) == set(members), 60, lambda: f"all copies: {server.copies}")
    instance.wait_idle(60)
    log = instance.log_text()
    assert max(server.copies.values()) == 1 and "doubt=" not in log and "status=bounced" not in log


@pytest.mark.main
@pytest.mark.parametrize("answer", ["354 go on", "150 wait", "who are you?"])
def test_an_odd_answer_is_one_recipients(instances, sinks, answer):
    """Its others get their copy once, or twice where the message was under way with the commands."""
    faults = [f"rcpt match=^odd@ do {answer}"] if answer[:3].isdigit() else ["rcpt match=^odd@ do garbage"]
    sink = sinks(faults=faults)
    instance = instances(sink.port, settings={"out": SOON}).start()
    members = [f"m{number}@example.org" for number in range(5)]
    send(instance, instance.create_list("test", ["odd@example.org", *members]))

    def counts():
        return {to: count for (_, to), count in sink.copies().items()}
    wait_until(lambda: set(members) <= set(counts()), 60, lambda: f"a copy for each, there are {counts()}")
    tries = instance.log_text().count("to=<odd@example.org>")
    wait_until(lambda: instance.log_text().count("to=<odd@example.org>") >= tries + 3, 60, "three more tries")
    assert max(counts()[member] for member in members) <= 2, counts()


def test_what_a_server_does_not_bear(instances, limited):
    """One offers CHUNKING and refuses BDAT, one offers PIPELINING and drops what is behind the first command: they get
    their mail without, and are asked for it no more."""
    chunks, pipes = limited(no_bdat=True), limited(drops_pipelined=True)
    instance = instances(chunks.port, settings={
        "out": {"transport_table": "pipes.example:pipes", **SOON},
        "transport.pipes": {"port": pipes.port, "rcpt_timeout": "1s", "mail_timeout": "1s"}}).start()
    address = instance.create_list("test", ["m@example.org", "n@example.org", "m@pipes.example", "n@pipes.example"])
    for number in range(3):
        send(instance, address, number)
    wait_until(lambda: sum(chunks.copies.values()) == sum(pipes.copies.values()) == 6, 30,
               lambda: f"12 copies, there are {chunks.copies} {pipes.copies}")
    log = instance.log_text()
    assert log.count(" does not bear BDAT") == 1 and log.count(" does not bear PIPELINING") == 1
    assert "status=bounced" not in log and " doubt=" not in log


@pytest.mark.main
def test_the_second_mail_host(instances, limited, dns):
    """The first of two mail hosts says 4xx, the second takes it."""
    port = free_port()
    first, second = limited(port=port, grey=1000), limited(host="127.0.0.2", port=port)
    instance = instances(port, settings={"transport.relay": {**DIRECT, "port": port},
                                         "dns": {"servers": dns.server}}).start()
    members = [f"m{number}@two.test" for number in range(5)]
    send(instance, instance.create_list("test", members))
    wait_until(all_have_one(second, members), 10, lambda: f"5 copies, there are {second.copies}")
    assert not first.copies and len(first.seen) == 5


@pytest.mark.main
@pytest.mark.parametrize("fault", ["mail match=bounces do 555 5.5.4 unsupported parameter",
                                   "dot do 550 5.6.7 needs SMTPUTF8"])
def test_what_is_not_the_members(instances, sinks, dns, fault):
    """A mail host refuses the protocol: members are not scored for that; or the mail itself: not in full."""
    sink = sinks(faults=[fault])
    instance = instances(sink.port, settings={"transport.relay": {**DIRECT, "port": sink.port},
                                              "dns": {"servers": dns.server}}).start()
    send(instance, instance.create_list("test", ["m@x.test"]))
    wait_until(lambda: "address=<m@x.test>" in instance.log_text(), 20, "the refusal to be counted")
    log = instance.log_text()
    assert (" result=not-the-member's" in log or not fault.startswith("mail")) and " score=1.00" not in log


@pytest.mark.main
def test_an_owner_who_cannot_be_reached(instances, sinks):
    """Mail to the list's owner is refused for good: the owner of the site hears of it."""
    sink = sinks(faults=["rcpt match=^boss@ do 550 5.1.1 left long ago"])
    instance = instances(sink.port).start()
    address = instance.create_list("test", owner="boss@example.org")
    instance.lmtp_send(post(to=address), address.replace("test@", "test-owner@"))
    (told,) = wait_until(sink.transactions, 20, "a word about it")
    instance.wait_idle(20)
    assert told.to == ["postmaster@lists.example.com"] and told.sender == ""
    assert b"boss@example.org cannot be reached" in told.octets and b"left long ago" in told.octets


@pytest.mark.parametrize("outs, limit, most", [(1, 3, 3), (4, 8, 8)])
def test_a_group_of_mail_hosts_has_one_limit(instances, limited, outs, limit, most, until_end):
    """16 domains with one mail host, and one or four processes: no more connections than it is said to bear."""
    server = limited(delay=0.01)
    zone = "mx IN A 127.0.0.1\n" + "".join(f"d{number} IN MX 10 mx\n" for number in range(16))
    names = until_end(Dns({"g.test": zone}).start())
    instance = instances(server.port, settings={
        "transport.relay": {**DIRECT, "port": server.port, "concurrency": limit, "recipients_per_transaction": 1},
        "dns": {"servers": names.server}, "runner.out": {"instances": outs}}).start()
    members = [f"m{number}@d{domain}.g.test" for domain in range(16) for number in range(8)]
    send(instance, instance.create_list("test", members))
    wait_until(all_have_one(server, members), 40, lambda: f"128 copies, there are {len(server.copies)}")
    assert server.most_connections <= most


@pytest.mark.parametrize("kind", ["relay", "mail hosts"])
def test_instances_share_a_rate(instances, limited, kind, until_end):
    """Four processes send no faster together than the rate that is set for a relay, or for mail hosts of 16 domains."""
    server, rate = limited(), 20
    zone = "mx IN A 127.0.0.1\n" + "".join(f"d{number} IN MX 10 mx\n" for number in range(16))
    names = until_end(Dns({"g.test": zone}).start())
    instance = instances(server.port, settings={
        "transport.relay": {**(DIRECT if kind == "mail hosts" else {}), "port": server.port,
                            "destination_rate": f"{rate}/s", "recipients_per_transaction": 1},
        "dns": {"servers": names.server}, "runner.out": {"instances": 4}}).start()
    members = [f"m{number}@d{domain}.g.test" for domain in range(16) for number in range(2)]
    address = instance.create_list("test", members)
    for number in range(4):  # whose entries are in different slices
        send(instance, address, number)
    wait_until(lambda: sum(server.copies.values()) == 128, 40, lambda: f"128 copies, there are {server.copies}")
    times = sorted(when for when, _ in server.taken)
    # Each process may save up one. On a slow machine there may be a rush in between, but never more in all.
    assert times[-1] - times[0] >= (len(times) - 8) / (1.25 * rate), times


@pytest.mark.main
def test_many_recipients_wait_for_nothing(instances, limited):
    """100,000 members behind a suspended destination, in a post of a few others and before the post of another list."""
    well, shut = limited(), limited()
    instance = instances(well.port, settings={
        "transport.shut": {"port": shut.port}, "out": {"transport_table": "shut.example:shut"}}).start()
    instance.cli("dest", "suspend", "shut", "--transport", "shut")
    many = instance.create_list("many", [f"m{number}@shut.example" for number in range(100_000)] + ["a@example.org"])
    other = instance.create_list("other", ["b@example.org"])
    send(instance, many, 1)
    wait_until(lambda: len(instance.files("out")["out"]) == 1 or well.copies, 20, "the post in out", step=0.005)
    send(instance, other, 2)
    wait_until(lambda: len(well.copies) == 2, 20, lambda: f"two copies, there are {well.copies}")
    wait_until(lambda: destination(instance, "shut")["parked"] >= 1, 20, "what waits to leave memory")
    assert destination(instance, "shut")["waiting_recipients"] == 0 and not shut.copies


@pytest.mark.main
def test_the_clock_is_set_back(clock, instances, limited, dns):
    """A destination that asks for less rests for seconds, also when the clock goes back by an hour meanwhile: the next
    post is there long before. (A copy that was put off until a time of day waits for that, as with Postfix.) However
    slow the machine is, it is no hour."""
    server = limited(closed=(0, 1e9))
    instance = instances(server.port, settings={"transport.relay": {**DIRECT, "port": server.port},
                                                "dns": {"servers": dns.server}}).start()
    members = [f"m{number}@x.test" for number in range(30)]
    address = instance.create_list("test", members)
    send(instance, address)
    wait_until(lambda: " wants less mail" in instance.log_text(), 20, "a refusal")
    clock.seconds(-3600)
    server.limits.closed = ()
    send(instance, address, 1)
    wait_until(all_have_one(server, members), 600, lambda: f"30 copies, there are {len(server.copies)}")


@pytest.mark.parametrize("verb", ["delete", "hold", "requeue", "expire", "delete of a list that is gone"])
def test_what_out_holds_can_be_taken(instances, limited, verb):
    """Entries wait in memory for a server that never answers, each after another member was deferred: the command gets
    those that are not under way, also when their list was removed in the meantime. Other mail goes on meanwhile."""
    later, well = limited(odd={"grey": "450 4.2.0 come later"}), limited()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        instance = instances(silent.getsockname()[1], settings={
            "out": {"transport_table": "later.test:later, well.test:well", "minimal_backoff_time": "1h"},
            "transport.later": {"host": "127.0.0.1", "port": later.port},
            "transport.well": {"host": "127.0.0.1", "port": well.port},
            "transport.relay": {"concurrency": 1, "initial_destination_concurrency": 1}}).start()
        address = instance.create_list("test", ["m@example.org", "grey@later.test"])
        other = instance.create_list("other", ["m@well.test"])
        for number in range(10):
            send(instance, address, number)
        wait_until(lambda: destination(instance, "relay")["waiting"] == 9 and
                   destination(instance, "later")["deferred"] == 10, 20, "them to be in memory")
        if "gone" in verb:
            instance.cli("list", "remove", "--yes", address)
        done = instance.run("queue", verb.split()[0], f"--list={address}")
        assert "9 entries " in done.stdout and "1 not touched" in done.stdout, done.stdout + done.stderr
        if verb in ("requeue", "expire"):  # they are tried again at once, and end when they have expired
            wait_until(lambda: destination(instance, "relay")["waiting"] == 9 or verb == "expire", 20, "them again")
        else:
            assert len(instance.files("out")["out"]) == 1
        send(instance, other, 10)
        wait_until(lambda: well.copies, 10, "other mail")


def test_mail_that_waited_keeps_its_order(instances, sinks):
    """Mail that waits for a suspended destination leaves in the order of its arrival, however often it was looked at,
    but for one or two that were being looked at when it was resumed."""
    sink = sinks()
    instance = instances(sink.port, settings={"transport.relay": {"concurrency": 1}}).start()
    address = instance.create_list("test", ["m@example.org"])
    instance.cli("dest", "suspend", "relay")
    for number in range(40):
        send(instance, address, number)
    wait_until(lambda: destination(instance, "relay")["parked"] == 40, 30, "all of them to wait")
    time.sleep(4)  # they come and are put off again, each at a time of its own
    wait_until(lambda: destination(instance, "relay")["parked"] == 40, 30, "all of them to wait")
    instance.cli("dest", "resume", "relay")
    wait_until(lambda: len(sink.transactions()) == 40, 30, lambda: f"40 mails, there are {len(sink.transactions())}")
    order = [int(t.message_id.strip("<").partition("@")[0]) for t in sink.transactions()]
    rising = []  # its length is that of the longest part in order
    for number in order:
        at = bisect.bisect_left(rising, number)
        rising[at:at + 1] = [number]
    assert len(rising) >= 38, order
