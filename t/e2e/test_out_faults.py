# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Servers that misbehave, each in its way, all at once: one post to members behind every one of them. Each member gets
it once, or is refused as the server said, or waits; more than once only where the server took it and never said so."""
import re
from collections import Counter

import pytest

from support.certificate import Authority
from support.instance import let_through, wait_until, write_secret
from support.post import post

MEMBERS = 6  # behind each server, in transactions of 3

ONCE = "once"        # everybody gets it exactly once
DOUBT = "doubt"      # the same, but a transaction of which no end was heard may come again
WAITS = "waits"      # nobody gets it, everybody waits


def refused(*numbers):
    """These are bounced, the others get it once."""
    return set(numbers)


QUICK = {"helo_timeout": "1s", "starttls_timeout": "1s", "mail_timeout": "1s", "rcpt_timeout": "1s",
         "data_init_timeout": "1s", "data_block_timeout": "1s", "data_done_timeout": "8s", "rset_timeout": "1s",
         "quit_timeout": "1s", "recipients_per_transaction": "3", "destination_dead_min": "1s",
         "destination_dead_max": "1s", "concurrency": "2", "tls_level": "none"}

SILENT = ("close", "stall", "reset", "half-close", "garbage", "endless")
PLAIN, LMTP = ["--without", "CHUNKING"], ["--lmtp"]
SLOWLY = ["--without", "PIPELINING"]


def cases():
    """{name: (faults, options of the sink, settings of the transport, what is to come of it)}"""
    found = {}

    def add(name, faults, outcome, options=(), **settings):
        found[name] = ([faults] if isinstance(faults, str) else faults, list(options), settings, outcome)

    add("good", [], ONCE)
    add("data", [], ONCE, PLAIN)
    add("one-by-one", [], ONCE, SLOWLY)
    add("bare", [], ONCE, PLAIN + SLOWLY + ["--without", "8BITMIME", "--without", "SIZE"])
    add("latency", [], ONCE, ["--latency", "30"])
    add("one-byte", [], ONCE, ["--one-byte"])
    add("slow", [], ONCE, ["--slow-read", "20000"])
    add("old", "helo times=1 do 502 5.5.1 no EHLO", ONCE, PLAIN)
    for action in SILENT + ("421 4.3.2 down", "450 4.3.2 not now", "554 5.3.2 not ever"):
        word = action.split()[0]
        # the greeting and EHLO: the server is not there, for everybody
        add(f"connect-{word}", f"connect times=2 do {action}", ONCE)
        if word not in ("450", "554"):
            add(f"helo-{word}", f"helo times=2 do {action}", ONCE)
    for action in SILENT + ("421 4.3.2 down", "450 4.2.1 busy"):
        word = action.split()[0]
        # with BDAT all of it is sent before a reply is heard: but nothing was received
        for kind, options in (("chunk", []), ("data", PLAIN)):
            add(f"mail-{word}-{kind}", f"mail times=2 do {action}", ONCE, options)
            add(f"rcpt-{word}-{kind}", f"rcpt match=^m1@ times=2 do {action}", ONCE, options)
            add(f"data-{word}-{kind}", f"data times=2 do {action}", ONCE, options)
            add(f"dot-{word}-{kind}", f"dot times=2 do {action}", ONCE if word.isdigit() else DOUBT, options)
    for kind, options in (("chunk", []), ("data", PLAIN)):
        add(f"mail-5-{kind}", "mail times=1 do 550 5.7.1 not you", ONCE, options)  # us, not a member
        add(f"rcpt-5-{kind}", ["rcpt match=^m1@ do 550 5.1.1 who", "rcpt match=^m4@ do 553 5.1.3 what"], refused(1, 4),
            options)
        add(f"rcpt-all-5-{kind}", "rcpt do 550 5.1.1 nobody", refused(*range(MEMBERS)), options)
        add(f"rcpt-552-{kind}", "rcpt match=^m2@ times=2 do 552 too many", ONCE, options)
        add(f"dot-5-{kind}", "dot do 554 5.7.1 spam", WAITS, options)
        add(f"data-5-{kind}", "data do 554 5.5.1 no", WAITS, options)
    for action in SILENT + ("421 4.3.2 down", "500 what"):
        word = action.split()[0]
        add(f"rset-{word}", ["rcpt match=^m[01]@ times=2 do 450 busy", "rcpt match=^m[0-2]@ skip=1 times=1 do 451 busy",
                             f"rset times=1 do {action}"], ONCE, PLAIN + SLOWLY)
        add(f"quit-{word}", f"quit times=2 do {action}", ONCE)
    add("long-rcpt", "rcpt match=^m3@ times=1 do 450 4.2.1 " + "x" * 60000, ONCE)
    add("too-long-rcpt", "rcpt match=^m3@ times=1 do 450 4.2.1 " + "x" * 70000, ONCE, PLAIN)
    # LMTP answers for each
    add("lmtp", [], ONCE, LMTP)
    add("lmtp-data", [], ONCE, LMTP + PLAIN)
    add("lmtp-450", "dot match=^m1@ times=1 do 452 4.2.2 full", ONCE, LMTP)
    add("lmtp-550", "dot match=^m1@ do 550 5.2.1 gone", refused(1), LMTP)
    for action in SILENT + ("421 4.3.2 down",):
        add(f"lmtp-{action.split()[0]}", f"dot match=^m1@ times=2 do {action}", DOUBT, LMTP)
    return found


def tls_cases(authority):
    found = {}

    def add(name, faults, outcome, certificate, options=(), **settings):
        found[name] = ([faults] if faults else [], ["--tls", str(certificate), *options],
                       {"tls_ca_file": authority.file, **settings}, outcome)

    good = authority.certify("127.0.0.1")
    named = authority.certify("mail.example.net")
    add("tls-may", None, ONCE, good, tls_level="may")
    add("tls-verify", None, ONCE, good, tls_level="verify")
    add("tls-name", None, ONCE, named, tls_level="verify", tls_verify_name="mail.example.net")
    add("tls-other-name", None, WAITS, named, tls_level="verify")
    add("tls-other-name-may", None, ONCE, named, tls_level="may")
    add("tls-expired", None, WAITS, authority.certify("127.0.0.1", -1), tls_level="verify")
    add("tls-expired-require", None, ONCE, authority.certify("127.0.0.1", -1), tls_level="require")
    add("tls-strange", None, WAITS, good, tls_level="verify", tls_ca_file="/etc/ssl/certs/ca-certificates.crt")
    add("tls-454", "starttls do 454 4.7.0 not now", ONCE, good, tls_level="may")
    add("tls-454-require", "starttls do 454 4.7.0 not now", WAITS, good, tls_level="require")
    add("tls-missing", None, WAITS, good, ["--without", "STARTTLS"], tls_level="require")
    for action in SILENT:
        add(f"tls-{action}-may", f"handshake times=4 do {action}", ONCE, good, tls_level="may")
        add(f"tls-{action}-verify", f"handshake times=2 do {action}", ONCE, good, tls_level="verify")
        add(f"tls-dot-{action}", f"dot times=2 do {action}", DOUBT, good, tls_level="verify")
    write_secret(authority.directory / "right", "a b=c\n")
    write_secret(authority.directory / "wrong", "abc\n")
    password = {"auth_user": "lists", "tls_level": "verify"}
    add("auth", None, ONCE, good, ["--auth", "lists a b=c"], auth_password_file=authority.directory / "right",
        **password)
    add("auth-login", None, ONCE, good, ["--auth", "lists a b=c"], auth_mechanisms="login",
        auth_password_file=authority.directory / "right", **password)
    add("auth-wrong", None, WAITS, good, ["--auth", "lists a b=c"], auth_password_file=authority.directory / "wrong",
        **password)
    add("auth-weaker", None, WAITS, good, ["--auth", "lists a b=c"], auth_mechanisms="scram-sha-256",
        auth_password_file=authority.directory / "right", **password)
    return found


class Server:
    """A sink that misbehaves, the transport to it, and the members behind it."""

    def __init__(self, name, sink, settings, outcome):
        self.name, self.sink, self.settings, self.outcome = name, sink, settings, outcome
        self.members = [f"m{i}@{name}.example" for i in range(MEMBERS)]

    @property
    def section(self):
        kind = "lmtp" if self.name.startswith("lmtp") else "smtp"
        return {"type": kind, "host": "127.0.0.1", "port": self.sink.port, **QUICK, **self.settings}

    def settled(self, bounced):
        """Whether every member has its fate, as far as there is one to come."""
        if self.outcome == WAITS:
            return True
        got = {to for envelope in self.sink.envelopes() if envelope["result"] != "refused" for to in envelope["to"]}
        return all(member in bounced or self.certain(member) for member in self.members) and \
            got | bounced >= set(self.members)

    def certain(self, member):
        return any(member in e["to"] and e["result"] == "accepted" for e in self.sink.envelopes())

    def check(self, bounced):
        envelopes = [e for e in self.sink.envelopes() if e["result"] != "refused"]
        certain = Counter(to for e in envelopes if e["result"] == "accepted" for to in e["to"])
        silent = Counter(to for e in envelopes if e["result"] == "silent" for to in e["to"])
        mine = bounced & set(self.members)
        if self.outcome == WAITS:
            assert not envelopes and not mine, self.name
            return
        if self.outcome is None:  # one transaction was refused, whichever
            assert len(mine) == 3, (self.name, mine)
        elif isinstance(self.outcome, set):
            assert mine == {self.members[i] for i in self.outcome}, (self.name, mine)
        else:
            assert not mine, (self.name, mine)
        assert not silent or self.outcome == DOUBT, (self.name, silent)
        for member in self.members:
            assert certain[member] == (0 if member in mine else 1), (self.name, member, certain, silent)
        verbs = {e["verb"] for e in envelopes}
        plain = "CHUNKING" in self.sink.process.args or self.name.startswith("helo-")  # without EHLO no BDAT
        assert verbs <= {"BDAT", "DATA"} if plain else verbs <= {"BDAT"}, self.name


def bounced_in(log):
    return set(re.findall(r"to=<([^>]*)>.* status=bounced", log))


def run(instances, sinks, found):
    servers = [Server(name, sinks(store=False, faults=faults, options=options), settings, outcome)
               for name, (faults, options, settings, outcome) in found.items()]
    instance = instances(servers[0].sink.port, settings={
        "out": {"transport_table": "\n  ".join(f"{s.name}.example:{s.name}" for s in servers),
                "minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "backoff_jitter": "0",
                "log_recipients": "yes"},
        **{f"transport.{s.name}": s.section for s in servers}}).start()
    address = instance.create_list("test", [member for s in servers for member in s.members])
    instance.lmtp_send(post(to=address, body="It rains.\n.dots\n" * 200), address)
    done = set()

    def all_settled():
        bounced = bounced_in(instance.log_text())
        done.update(s.name for s in servers if s.name not in done and s.settled(bounced))
        return len(done) == len(servers)
    wait_until(all_settled, 180, lambda: f"{[s.name for s in servers if s.name not in done]}", step=0.3)
    return instance, servers


def test_faults(instances, sinks):
    found = cases()
    instance, servers = run(instances, sinks, found)
    bounced = bounced_in(instance.log_text())
    for server in servers:
        server.check(bounced)
    assert any(s.sink.stats()["connections"] for s in servers)
    # what was lost after the end of data is said to be in doubt
    doubts = re.findall(r"to=<m\d@([^>]*)\.example>.* status=deferred doubt=", instance.log_text())
    assert {f"dot-{action}-{kind}" for action in SILENT for kind in ("chunk", "data")} <= set(doubts) | {
        "dot-garbage-chunk", "dot-garbage-data"}  # that one said something


def test_tls_and_auth(instances, sinks, tmp_path):
    let_through(tmp_path)
    authority = Authority(tmp_path / "tls")
    instance, servers = run(instances, sinks, tls_cases(authority))
    waiting = {f"{s.name}.example" for s in servers if s.outcome == WAITS}
    log = instance.log_text

    def not_put_off():
        """The first transaction's members are named; those behind it share one line that names nobody."""
        return waiting - set(re.findall(r"to=<[^>]*@([^>]*)>.* status=deferred", log()))
    wait_until(lambda: not not_put_off(), 30, lambda: f"mail to these to be put off: {sorted(not_put_off())}")
    bounced = bounced_in(log())
    for server in servers:
        server.check(bounced)
    by_name = {s.name: {(e["tls"], e["user"]) for e in s.sink.envelopes()} for s in servers}
    assert by_name["tls-may"] == by_name["tls-verify"] == by_name["tls-expired-require"] == {("TLSv1.3", None)}
    assert by_name["tls-454"] == {(None, None)}
    assert by_name["auth"] == by_name["auth-login"] == {("TLSv1.3", "lists")}
    for action in SILENT:
        assert by_name[f"tls-{action}-verify"] == {("TLSv1.3", None)}
    assert "a b=c" not in log() and "abc" not in log()
    assert "TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256 bits), verified" in log()
    # who was reached is named, also when nothing could be sent to it
    deferred = re.findall(r"relay=(\S+) .* status=deferred \((.*)\)", log())
    named = [relay for relay, text in deferred if not text.startswith("delivery temporarily suspended") and
             re.search("offers no TLS|authentication with|TLS with", text)]
    assert named and all(re.fullmatch(r"127\.0\.0\.1\[127\.0\.0\.1\]:\d+", relay) for relay in named), named
    for reason in ("IP address mismatch", "certificate has expired", "offers no TLS, without which nothing is sent",
                   "wrong", "none of the mechanisms allowed"):
        assert reason in log(), reason


@pytest.mark.parametrize("settings, message", [
    ({"auth_user": "lists"}, "auth_user: found \"lists\" without auth_password_file"),
    ({"auth_user": "lists", "auth_password_file": "/nonexistent", "tls_level": "none"},
     "found \"lists\" with tls_level = none"),
    ({"auth_mechanisms": "cram-md5"}, "found \"cram-md5\"; allowed are plain, login"),
    ({"tls_level": "maybe"}, "tls_level"),
    ({"type": "lmtp", "port": "25"}, "port: found 25; allowed with type = lmtp is any other"),
    ({"type": "lmtp", "host": "unix:relative"}, "allowed after unix: is an absolute path"),
    ({"auth_user": "lists", "auth_password_file": "/etc/passwd"},
     "/etc/passwd can be read or written by others (mode 644)"),
    ({"host": "[::1"}, "host: found \"[::1\"; allowed is a host name"),
    ({"type": "mx", "auth_user": "lists", "auth_password_file": "/nonexistent"}, "a password is for one relay"),
])
def test_configuration_is_checked(instances, settings, message):
    instance = instances(2525, settings={"transport.relay": settings})
    done = instance.run("config", "check")
    assert done.returncode != 0 and message in done.stdout + done.stderr, done.stdout + done.stderr
