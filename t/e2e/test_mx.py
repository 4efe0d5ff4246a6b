# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail routed by DNS: real name servers with zones of our own."""
import json
import re
import select
import socket
import subprocess
import threading

import pytest

from support.certificate import Authority
from support.dns import Dns
from support.instance import free_port, let_through, tool, wait_until
from support.post import post

ZONE = """
two IN MX 10 a.two
two IN MX 20 b.two
a.two IN A 127.0.0.11
b.two IN A 127.0.0.12
equal IN MX 10 a.equal
equal IN MX 10 b.equal
equal IN MX 10 c.equal
equal IN MX 20 last.equal
a.equal IN A 127.0.0.21
b.equal IN A 127.0.0.22
c.equal IN A 127.0.0.23
last.equal IN A 127.0.0.24
null IN MX 0 .
nearlynull IN MX 0 .
nearlynull IN MX 10 a.two
implicit IN A 127.0.0.31
implicit IN AAAA ::1
nothing IN TXT "neither mail nor address"
dangling IN MX 10 gone.dangling
dangling IN MX 20 gone.too
halfdangling IN MX 10 gone.dangling
halfdangling IN MX 20 a.two
alias IN CNAME two
mxalias IN MX 10 www.mxalias
www.mxalias IN CNAME a.two
both IN MX 10 host.both
host.both IN A 127.0.0.41
host.both IN A 127.0.0.42
host.both IN AAAA ::1
host.both IN AAAA fd00::41
broken-host IN MX 10 mx.lame.test.
private-broken IN MX 10 a.two
private-broken IN MX 20 mx.lame.test.
half-broken IN MX 10 mx.lame.test.
half-broken IN MX 20 a.two
ours IN MX 10 before.ours
ours IN MX 20 me
ours IN MX 20 beside.ours
ours IN MX 30 after.ours
before.ours IN A 127.0.0.51
me IN A 127.0.0.52
beside.ours IN A 127.0.0.53
after.ours IN A 127.0.0.54
loop IN MX 10 me
loop IN MX 20 after.ours
unspecified IN MX 10 any.unspecified
any.unspecified IN A 0.0.0.0
xn--bcher-kva IN MX 10 a.two
many IN MX 10 many
hosted IN MX 10 mx.hosted
mx.hosted IN A 127.0.0.81
mx.hosted IN MX 10 mx.lame.test.
fresh IN MX 10 lasting
lasting IN A 127.0.0.62
short 3 IN MX 10 a.two
long 604800 IN MX 10 forever
forever 604800 IN A 127.0.0.61
forever 604800 IN AAAA ::1
""" + "".join(f"many IN A 127.0.1.{i}\n" for i in range(1, 201)) + "many IN AAAA ::1\n" + \
    "".join(f"d{i} IN MX 10 a.two\n" for i in range(1000))


@pytest.fixture(scope="module")
def dns():
    servers = Dns({"test": ZONE, "signed.example": "@ IN MX 10 mx\nmx IN A 127.0.0.71\n"}, broken=["lame.test"]).start()
    yield servers
    servers.stop()


def ask(dns, *domains, options=()):
    done = subprocess.run([tool("mx-lookup"), "--servers", dns.server, *options, *domains], capture_output=True,
                          text=True, check=True, timeout=180)
    return [json.loads(line) for line in done.stdout.splitlines()]


def one(dns, domain, *options):
    return ask(dns, domain, options=options)[0]


def refusal(answer):
    return answer["outcome"], answer["code"], answer["status"], answer["text"]


def test_preference(dns):
    answer = one(dns, "Two.TEST.")
    assert answer["hosts"] == ["10 a.two.test[127.0.0.11]:25", "20 b.two.test[127.0.0.12]:25"]
    assert answer["domain"] == "two.test" and answer["key"] == "a.two.test,b.two.test"


def test_equals_in_every_order(dns):
    answers = ask(dns, "equal.test", options=["--repeat", "200"])
    assert {len(answer["hosts"]) for answer in answers} == {4}
    assert {answer["hosts"][3] for answer in answers} == {"20 last.equal.test[127.0.0.24]:25"}
    assert len({tuple(answer["hosts"]) for answer in answers}) == 6  # each of 6 orders is missing once in 10**15 runs


def test_null_mx(dns):
    assert refusal(one(dns, "null.test")) == ("never", 556, "5.1.10", "null.test takes no mail (null MX)")
    assert one(dns, "nearlynull.test")["hosts"] == ["10 a.two.test[127.0.0.11]:25"]


def test_implicit(dns):
    answer = one(dns, "implicit.test")
    assert answer["hosts"] == ["0 implicit.test[::1]:25", "0 implicit.test[127.0.0.31]:25"]
    assert answer["key"] == "implicit.test"


def test_no_way(dns):
    assert refusal(one(dns, "nothing.test")) == \
        ("never", 550, "5.4.4", "nothing.test has neither a mail host (MX) nor an address")
    assert refusal(one(dns, "nowhere.test")) == ("never", 550, "5.4.4", "domain nowhere.test does not exist")
    answer = one(dns, "dangling.test")
    assert refusal(answer)[:3] == ("never", 550, "5.4.4")
    assert answer["text"] == "no mail host of dangling.test has an address (gone.dangling.test, gone.too.test)"
    assert refusal(one(dns, "unspecified.test"))[:3] == ("never", 550, "5.4.4")
    assert one(dns, "halfdangling.test")["hosts"] == ["20 a.two.test[127.0.0.11]:25"]


def test_aliases(dns):
    assert one(dns, "alias.test")["hosts"] == one(dns, "two.test")["hosts"]
    assert one(dns, "mxalias.test")["hosts"] == ["10 www.mxalias.test[127.0.0.11]:25"]


def test_both_families(dns):
    hosts = one(dns, "both.test")["hosts"]
    assert [":" in host.split("[")[1].split("]")[0] for host in hosts] == [True, False, True, False]
    assert len(set(hosts)) == 4
    hosts = one(dns, "many.test")["hosts"]  # the answer has to come by TCP
    assert len(hosts) == 5 and "10 many.test[::1]:25" in hosts
    hosts = one(dns, "equal.test", "--limit", "2")["hosts"]
    assert len(hosts) == 2 and not any("last" in host for host in hosts)


def test_private_addresses(dns):
    """Nobody's records make mail go to what only this host reaches; it waits, so that a site may allow it."""
    words = "are loopback or private addresses ([out] mx_private_addresses)"
    for domain in ("two.test", "me.test", "[127.0.0.52]", "[10.1.2.3]", "[IPv6:::1]"):
        answer = refusal(one(dns, domain, "--public"))
        assert answer[:3] == ("later", 450, "4.4.4") and words in answer[3], domain
    answer = refusal(one(dns, "private-broken.test", "--public"))
    assert answer[:3] == ("later", 450, "4.4.3") and "mx.lame.test" in answer[3]
    assert one(dns, "private-broken.test")["hosts"] == ["10 a.two.test[127.0.0.11]:25"]
    assert one(dns, "[192.0.3.1]", "--public")["hosts"] == ["0 192.0.3.1[192.0.3.1]:25"]
    assert one(dns, "[10.1.2.3]")["hosts"] == ["0 10.1.2.3[10.1.2.3]:25"]


def test_trouble_is_not_for_ever(dns):
    for domain in ("lame.test", "below.lame.test", "broken-host.test"):
        answer = one(dns, domain)
        assert (answer["outcome"], answer["code"], answer["status"]) == ("later", 450, "4.4.3"), answer
        assert "no name server has an answer now" in answer["text"]
    assert one(dns, "half-broken.test")["hosts"] == ["20 a.two.test[127.0.0.11]:25"]


def test_no_name_server():
    done = subprocess.run([tool("mx-lookup"), "--servers", f"127.0.0.1:{free_port()}", "two.test"],
                          capture_output=True, text=True, check=True, timeout=180)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["status"]) == ("later", "4.4.3")


def test_loops_back(dns):
    for own in ("me.test", "ME.test", "127.0.0.52"):
        assert one(dns, "ours.test", "--own", own)["hosts"] == ["10 before.ours.test[127.0.0.51]:25"]
        assert refusal(one(dns, "loop.test", "--own", own)) == \
            ("never", 554, "5.4.6", "mail for loop.test loops back to myself (me.test)")
    assert refusal(one(dns, "[127.0.0.52]", "--own", "127.0.0.52"))[:3] == ("never", 554, "5.4.6")
    assert len(one(dns, "ours.test")["hosts"]) == 4


def test_names(dns):
    assert one(dns, "bücher.test")["hosts"] == ["10 a.two.test[127.0.0.11]:25"]
    assert one(dns, "BÜCHER.test")["domain"] == "xn--bcher-kva.test"
    assert one(dns, "[192.0.2.1]", "--port", "2525")["hosts"] == ["0 192.0.2.1[192.0.2.1]:2525"]
    assert one(dns, "[IPv6:2001:db8::1]")["hosts"] == ["0 2001:db8::1[2001:db8::1]:25"]
    for name in ("a..test", "a/b.test", "x" * 64 + ".test", "a b.test", "[not an address]", ".", "x." * 127 + "test"):
        assert refusal(one(dns, name))[:3] == ("never", 501, "5.1.2"), name


def test_lifetime_and_memory(dns):
    wait_until(lambda: 4 <= one(dns, "short.test")["lifetime"] <= 5, 20, "the shortest lifetime that is kept")
    assert 300 < one(dns, "fresh.test")["lifetime"] <= 600  # no other test has asked for it
    assert 86000 < one(dns, "long.test")["lifetime"] <= 86400  # bounded
    assert 20 < one(dns, "never-heard.test")["lifetime"] <= 60  # of the SOA
    domains = [f"d{i}.test" for i in range(1000)]
    *answers, figures = ask(dns, *domains, options=["--repeat", "2", "--figures", "--cache", "100"])
    assert len(answers) == 2000 and {answer["outcome"] for answer in answers} == {"found"}
    assert figures == {"lookups": 2000, "cached": 100, "entries": 100}
    *answers, figures = ask(dns, *domains, options=["--repeat", "2", "--figures"])
    assert figures == {"lookups": 2000, "cached": 1000, "entries": 1000}


def domain_of(question):
    """The name that a DNS message asks about, behind the 12 bytes of its header."""
    return question[12:question.index(b"\0", 12)]


class GoBetween:
    """Passes questions to the name servers and answers back, one at a time, and counts the domains with a question that
    is open: one that is asked again, since this is slow, counts once."""

    def __init__(self, server):
        self.server, self.open, self.most = (server.split(":")[0], int(server.split(":")[1])), {}, 0
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.front.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.front.getsockname()[1]}"
        threading.Thread(target=self._questions, daemon=True).start()

    def _questions(self):
        while True:
            octets, client = self.front.recvfrom(65536)
            self.open[octets[:2]] = client, domain_of(octets)
            ready = True
            while ready:  # what else is asked before the first has its answer
                ready, _, _ = select.select([self.front], [], [], 0.01)
                if ready:
                    more, client = self.front.recvfrom(65536)
                    self.open[more[:2]] = client, domain_of(more)
                    self.back.sendto(more, self.server)
            self.most = max(self.most, len({domain for _, domain in self.open.values()}))
            self.back.sendto(octets, self.server)
            while self.open:
                answer = self.back.recv(65536)
                client, _ = self.open.pop(answer[:2], (None, None))
                if client:
                    self.front.sendto(answer, client)


def test_questions_at_a_time(dns):
    """Questions for 1,000 domains at once would overflow the servers' sockets, and be asked again after a time-out."""
    between = GoBetween(dns.server)
    done = subprocess.run([tool("mx-lookup"), "--servers", between.address, *(f"d{i}.test" for i in range(1000))],
                          capture_output=True, text=True, check=True, timeout=180)
    assert {json.loads(line)["outcome"] for line in done.stdout.splitlines()} == {"found"}
    assert 10 < between.most < 200  # one that is asked again, and answered late, counts twice


# ---- the out runner ----

DELIVERED = {"two.test": "second", "alias.test": "second", "implicit.test": "implicit", "equal.test": "equal",
             "ours.test": "before"}
BOUNCED = {"null.test": "5.1.10", "nothing.test": "5.4.4", "nowhere.test": "5.4.4", "dangling.test": "5.4.4",
           "loop.test": "5.4.6"}
PUT_OFF = {"lame.test": "4.4.3", "broken-host.test": "4.4.3"}
# The hosts that listen; the preferred host of two.test does not, nor does anybody on IPv6.
HOSTS = {"second": ("127.0.0.12", "b.two.test"), "implicit": ("127.0.0.31", "implicit.test"),
         "before": ("127.0.0.51", "before.ours.test"), "equal": ("127.0.0.22", "b.equal.test")}


def fates(log):
    """{address: [(dsn, status)]} as the log has it."""
    found = {}
    for address, dsn, status in re.findall(r"to=<([^>]*)>.* dsn=(\S+) status=(\w+)", log):
        found.setdefault(address, []).append((dsn, status))
    return found


def test_runner_delivers_by_mx(dns, instances, sinks, tmp_path):
    let_through(tmp_path)
    authority, port = Authority(tmp_path / "tls"), free_port()
    there = {name: sinks(store=False, host=host, port=port, options=["--tls", str(authority.certify(certified))])
             for name, (host, certified) in HOSTS.items()}
    instance = instances(port, settings={
        "dns": {"servers": dns.server}, "out": {"default_transport": "direct", "own_names": "me.test",
                "minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "log_recipients": "yes"},
        "transport.direct": {"type": "mx", "port": port, "tls_level": "verify", "tls_ca_file": authority.file,
                             "connect_timeout": "2s"}}).start()
    domains = [*DELIVERED, *BOUNCED, *PUT_OFF]
    address = instance.create_list("test", [f"m{i}@{domain}" for domain in domains for i in range(3)])
    instance.lmtp_send(post(to=address), address)

    def settled():
        seen = fates(instance.log_text())
        done = {a for a, ways in seen.items() if any(status != "deferred" for _, status in ways)}
        return all(f"m{i}@{d}" in (seen if d in PUT_OFF else done) for d in domains for i in range(3))
    wait_until(settled, 60, lambda: f"every recipient's fate:\n{fates(instance.log_text())}")
    seen = fates(instance.log_text())
    got = {name: sorted(to for e in sink.envelopes() for to in e["to"]) for name, sink in there.items()}
    for domain in domains:
        for i in range(3):
            member, ways = f"m{i}@{domain}", seen[f"m{i}@{domain}"]
            copies = sum(member in names for names in got.values())
            if domain in BOUNCED:
                ends = [way for way in ways if way[1] != "deferred"]  # where the name servers are slow
                assert ends == [(BOUNCED[domain], "bounced")] and copies == 0, (member, ways)
            elif domain in PUT_OFF:
                assert {way for way in ways} == {(PUT_OFF[domain], "deferred")} and copies == 0, (member, ways)
            else:
                assert copies == 1 and ways[-1][1] == "sent", (member, ways)
                assert member in got[DELIVERED[domain]], (member, got)
    assert {e["tls"] for sink in there.values() for e in sink.envelopes()} == {"TLSv1.3"}
    assert "(256 bits), verified" in instance.log_text()


def test_domain_named_as_the_host_of_another(dns, instances, sinks, tmp_path):
    """Mail for hosted.test flows while nobody knows where that for its mail host, as a domain, goes."""
    let_through(tmp_path)
    port = free_port()
    sink = sinks(store=False, host="127.0.0.81", port=port)
    instance = instances(port, settings={
        "dns": {"servers": dns.server}, "out": {"default_transport": "direct", "minimal_backoff_time": "1s",
                "maximal_backoff_time": "1s", "log_recipients": "yes"},
        "transport.direct": {"type": "mx", "port": port, "tls_level": "none"}}).start()
    first = instance.create_list("first", ["m@hosted.test"])
    both = instance.create_list("both", ["m@hosted.test", "m@mx.hosted.test"])

    def ways(member, wanted):
        return fates(instance.log_text()).get(member, []).count(wanted)
    for turn, address in enumerate((first, both, both, first), 1):
        instance.lmtp_send(post(to=address), address)
        wait_until(lambda: ways("m@hosted.test", ("2.0.0", "sent")) == turn and
                   ways("m@mx.hosted.test", ("4.4.3", "deferred")) >= turn - 1, 30,
                   lambda: f"turn {turn}:\n{fates(instance.log_text())}")
    assert [e["to"] for e in sink.envelopes()] == [["m@hosted.test"]] * 4
