# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""DMARC's tree walk through some hundred zones of a real DNS, made by chance with a fixed seed: what the copies of
posts say (Authentication-Results) and how they look (From) must be what another implementation says
(support/dmarc.py)."""
import email
import email.policy
import random
import re

from support.dns import Dns
from support.dmarc import World, evaluate, organization, targets

OURS = "lists.example.com"
ZONES = 240
POSTS_PER_ZONE = 2

# The kinds of domain at the top: {name: records of its own}.
TOPS = {"plain": [], "open": ["v=DMARC1; p=reject; sp=quarantine; np=reject; psd=y"],
        "quiet": ["v=DMARC1; p=none; psd=y"], "owned": ["v=DMARC1; p=quarantine; np=none"],
        "closed": ["v=DMARC1; p=reject; sp=none; psd=n"], "twice": ["v=DMARC1; p=reject; psd=y", "v=DMARC1; p=none"],
        "co.plain": ["v=DMARC1; p=reject; np=quarantine; psd=y"]}


def some_record(chance):
    if chance.random() < 0.06:
        return chance.choice(["v=spf1 -all", "v=DMARC1", "v=dmarc1; p=reject", "p=reject; v=DMARC1", "v=DMARC1; psd=n",
                              "v=DMARC1; p=reject; p=reject", "v=DMARC2; p=reject", "v=DMARC1; p=bad",
                              "v=DMARC1; sp=reject", "v=DMARC1; rua=mailto:a@x.example; sp=reject",
                              "v=DMARC1; p=reject; np=no; rua=nobody",
                              "v=DMARC1; p=reject; sp=; rua=mailto:a@x.example!9m"])
    words = ("none", "quarantine", "reject", "Reject")
    tags = [f"p={chance.choice(words)}"]
    for name, values, likely in (("sp", words, 0.4), ("np", words, 0.4), ("psd", "nnyyuX", 0.3), ("t", "yynY", 0.3),
                                 ("aspf", "srSx", 0.4), ("pct", ("0", "5", "x"), 0.2), ("rf", ("x",), 0.1),
                                 ("ri", ("0",), 0.1), ("new", ("1",), 0.1)):
        if chance.random() < likely:
            tags.append(f"{name}{chance.choice(('=', ' = '))}{chance.choice(values)}")
    chance.shuffle(tags)
    return chance.choice(("v=DMARC1; ", "v=DMARC1;", "v = DMARC1 ; ")) + chance.choice(("; ", ";")).join(tags)


def make(chance):
    """({zone: its lines}, {owner: [(type, value)]}, [a chain of names for each organization, the shortest first])."""
    zones = {name: [] for name in TOPS}
    records, chains = {}, []

    def add(zone, owner, kind, value):
        records.setdefault(owner, []).append((kind, value))
        shown = f'"{value}"' if kind == "TXT" else f"{value}." if kind == "CNAME" else value
        zones[zone].append(f"{owner}. IN {kind} {shown}")

    for top, texts in TOPS.items():
        for text in texts:
            add(top, f"_dmarc.{top}", "TXT", text)
    for number in range(ZONES):
        apex = f"o{number}.{chance.choice(list(TOPS))}"
        zones[apex] = []
        chain = [apex]
        for depth in range(chance.choice((1, 2, 3, 4, 6, 9, 11))):
            chain.append(f"{chance.choice('abcdef')}{depth}.{chain[-1]}")
        chains.append(chain)
        for at, name in enumerate(chain):
            roll = chance.random()
            if roll < 0.4:
                for _ in range(2 if chance.random() < 0.12 else 1):
                    add(apex, f"_dmarc.{name}", "TXT", some_record(chance))
                if chance.random() < 0.2:
                    add(apex, f"_dmarc.{name}", "TXT", "google-site-verification=x")
            elif roll < 0.45:
                add(apex, f"_dmarc.{name}", "CNAME", chance.choice((f"_dmarc.{apex}", f"nothing.{apex}")))
            if at and chance.random() < 0.25:
                kind, value = chance.choice((("A", "192.0.2.1"), ("MX", "10 mx.example."),
                                             ("CNAME", f"nothing.{apex}"), ("TXT", "words")))
                if kind != "CNAME" or len(chain) == at + 1 and f"_dmarc.{name}" not in records:
                    add(apex, name, kind, value)
        if chance.random() < 0.06:
            add(apex, f"*.{apex}", "TXT", some_record(chance))
    for zone in zones:
        records.setdefault(zone, []), records.setdefault(f"ns.{zone}", [])
    # An alias that leads to itself is the resolver's matter.
    for owner, all_of in list(records.items()):
        if ("CNAME", owner) in all_of:
            all_of.remove(("CNAME", owner))
            for lines in zones.values():
                lines[:] = [line for line in lines if line != f"{owner}. IN CNAME {owner}."]
            if not all_of:
                del records[owner]
    return {name: "\n".join(lines) + "\n" for name, lines in zones.items()}, records, chains


def questions(chance, chains):
    """(author's domain, domain of the envelope sender) for each post."""
    asked = []
    for chain in chains:
        for _ in range(POSTS_PER_ZONE):
            author = chance.choice(chain)
            if chance.random() < 0.25:
                author = f"gone.{author}"
            places = [author, chance.choice(chain), chain[0], f"mail.{author}", f"x.{chance.choice(chain)}",
                      author.split(".", 1)[1], chance.choice(chains)[0], "o1.plain"]
            envelope = chance.choice(places)
            asked.append((author, envelope))
    return asked


def told(copy):
    """(result, policy that receivers apply, is From the list's?)"""
    message = email.message_from_bytes(copy, policy=email.policy.default)
    own, = (" ".join(value.split()) for value in message.get_all("Authentication-Results", [])
            if value.startswith(OURS))
    result = re.search(r"dmarc=(\w+)", own)[1]
    policy = re.search(r"policy\.dmarc=(\w+)", own)
    return result, policy and policy[1], "via Test" in str(message["From"])


def test_the_other_implementation():
    """Its own examples are those of the RFC (4.10.2, 5.1.8, B.4)."""
    world = World({"_dmarc.example.com": [("TXT", "v=DMARC1; p=reject")],
                   "_dmarc.signing.example.com": [("TXT", "v=DMARC1; p=reject")],
                   "_dmarc.b.c.d.e.f.g.example.com": [("TXT", "v=DMARC1; p=none; psd=n")],
                   "_dmarc.bank.example": [("TXT", "v=DMARC1; p=reject; psd=y")],
                   "_dmarc.giant.bank.example": [("TXT", "v=DMARC1; p=quarantine")]})
    long = "a.b.c.d.e.f.g.h.i.j.mail.example.com"
    assert targets(long) == [long, *(long.split(".", at)[at] for at in range(6, 13))]
    assert organization(world, "signing.example.com") == organization(world, long) == "example.com"
    assert organization(world, "mail.a.b.c.d.e.f.g.example.com") == "example.com"
    assert evaluate(world, "giant.bank.example", "mail.giant.bank.example") == ("pass", "quarantine", "quarantine")
    assert evaluate(world, "giant.bank.example", "mail.mega.bank.example") == ("fail", "quarantine", "quarantine")
    assert evaluate(world, "mega.bank.example", "mail.mega.bank.example")[:2] == ("pass", "reject")
    assert evaluate(world, "example.net", "example.net") == ("none", None, None)


def test_hundreds_of_zones(instances, sink):
    chance = random.Random(9989)
    zones, records, chains = make(chance)
    zones["xn--bcher-kva.plain"] = '_dmarc IN TXT "v=DMARC1; p=reject"\n'
    records["_dmarc.xn--bcher-kva.plain"] = [("TXT", "v=DMARC1; p=reject")]
    asked = questions(chance, chains)
    asked += [("m.B\u00fccher.plain", "xn--bcher-kva.plain"), ("b\u00fccher.plain", "o1.plain")]
    world = World(records)
    expected = {str(number): evaluate(world, author.encode("idna").decode().lower(), envelope)
                for number, (author, envelope) in enumerate(asked)}
    # The zones show all that there is to be told apart.
    assert {result for result, _, _ in expected.values()} == {"none", "pass", "fail"}
    assert {one[1:] for one in expected.values()} >= {("none", "none"), ("quarantine", "quarantine"),
                                                      ("reject", "reject"), ("quarantine", "none"),
                                                      ("reject", "quarantine")}
    name_server = Dns(zones).start()
    try:
        settings = {"dns": {"servers": name_server.server, "timeout": "20s"},
                    "authentication": {"authserv_id": OURS, "trusted": "mx.test"}}
        instance = instances(sink.port, settings=settings).start()
        address = instance.create_list("test", members=["bart@example.org"], settings=[
            "dmarc_mitigate_action=munge_from", "default_nonmember_action=accept", "subject_prefix="])
        for number, (author, envelope) in enumerate(asked):
            mail = (f"Authentication-Results: mx.test; spf=pass smtp.mailfrom=x@{envelope}\r\n"
                    f"From: Anne <anne@{author}>\r\nTo: {address}\r\nSubject: {number}\r\nMessage-ID: <{number}@x>\r\n"
                    "\r\nbody\r\n")
            instance.lmtp_send(mail.encode(), address, sender=f"x@{envelope}")
        instance.wait_idle()
        found = {email.message_from_bytes(one.octets)["Subject"]: told(one.octets) for one in sink.transactions()}
    finally:
        name_server.stop()
    assert len(found) == len(asked)
    wrong = {number: (asked[int(number)], found[number], expected[number])
             for number, (result, published, applied) in expected.items()
             if found[number] != (result, applied, published not in (None, "none"))}
    assert not wrong
