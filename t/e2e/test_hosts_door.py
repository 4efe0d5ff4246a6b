# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Hosts hand mail to each other through a door with certificates: parts of messages, and blocks of large posts."""
import base64
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections import Counter
from email import message_from_bytes

import pytest

from support import postgresql
from support.certificate import AUTHORITY, REQUEST, SIGNATURE, Authority, strict_context
from support.clock import HOUR
from support.fragments import fragment
from support.hosts import die, settings_with_door
from support.instance import HOST, free_port, let_through, wait_until, write_secret
from support.pages import Pages
from support.post import post

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

LIST = f"talk@{HOST}"


@pytest.fixture
def server():
    one = postgresql.Server()
    yield one
    one.remove()


class Site:
    """Hosts over one database, each with a certificate; started as they are asked for."""

    def __init__(self, instances, sink, server, directory):
        let_through(directory)
        self.instances, self.sink, self.server, self.directory = instances, sink, server, directory
        self.authority = Authority(directory / "authority")
        self.hosts = {}

    def make(self, name, settings=None):
        host = self.instances(self.sink.port)
        full = f"{name}.example.com"
        host.set({"store": {"path": None, "driver": "postgresql", "url": self.server.url("site")},
                  "site": {"hostname": full}})
        host.set(settings_with_door(host, self.authority, full))
        host.set(settings or {})
        host.has_store = bool(self.hosts)
        self.hosts[name] = host
        return host

    def arrived(self):
        """Counts of (recipient, subject)."""
        return Counter((to, message_from_bytes(one.octets.partition(b"\r\n\r\n")[0])["Subject"].split("] ")[-1])
                       for one in self.sink.transactions() for to in one.to)


@pytest.fixture
def site(instances, sink, server, tmp_path):
    return Site(instances, sink, server, tmp_path)


def waiting(host, *queues):
    """Names of entries. A hop's NAME.QUEUE-HASH.tmp is none yet."""
    return [name for names in host.files(*queues).values() for name in names if not name.endswith(".tmp")]


def context(certificate, authority):
    """Return what a client has for TLS; certificate: a file with both, or None."""
    made = strict_context(authority.file)
    if certificate:
        made.load_cert_chain(certificate)
    return made


class Client:
    """LMTP over TLS, as another host speaks it."""

    def __init__(self, port, tls, name):
        self.socket = tls.wrap_socket(socket.create_connection(("127.0.0.1", port), 60), server_hostname=name)
        self.file = self.socket.makefile("rwb")
        self.expect(b"220")

    def expect(self, code):
        line = self.file.readline()
        assert line.startswith(code), line
        while line[3:4] == b"-":
            line = self.file.readline()
        return line

    def say(self, line, code):
        self.file.write(line + b"\r\n")
        self.file.flush()
        return self.expect(code)

    def close(self):
        self.file.close()
        self.socket.close()


def refused(port, tls, name):
    """Whether the door closes without a word of LMTP."""
    try:
        client = Client(port, tls, name)
    except (OSError, AssertionError):
        return True
    client.close()
    return False


def test_who_comes_in(site, tmp_path):
    """A host of the site comes in. A stranger's certificate, an expired one, none, a name that is no host's, and a
    connection without TLS are refused with a line in the log."""
    a = site.make("a")
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    a_name = "a.example.com"
    good = Client(a.door, context(site.authority.certify(a_name), site.authority), a_name)
    good.say(b"LHLO a.example.com", b"250")
    good.say(b"MAIL FROM:<>", b"250")
    good.close()

    foreign = Authority(tmp_path / "foreign")
    cases = [(context(foreign.certify(a_name), site.authority), "its certificate is not valid here"),
             (context(site.authority.certify(a_name, days=-1), site.authority), "certificate has expired"),
             (context(None, site.authority), "peer did not return a certificate")]
    for tls, said in cases:
        before = a.log_text().count("refused a client at the door for hosts")
        assert refused(a.door, tls, a_name)
        wait_until(lambda: a.log_text().count("refused a client at the door for hosts") > before, 20, said)
        assert said in a.log_text()

    plain = socket.create_connection(("127.0.0.1", a.door), 60)
    plain.sendall(b"LHLO a.example.com\r\nMAIL FROM:<>\r\n")
    with contextlib.suppress(ConnectionResetError):
        assert b"250" not in plain.makefile("rb").read()
    plain.close()
    wait_until(lambda: len(re.findall("refused a client at the door for hosts", a.log_text())) >= 4, 20, "a line")

    other = Client(a.door, context(site.authority.certify("c.example.com"), site.authority), a_name)
    other.say(b"LHLO c.example.com", b"250")
    other.say(b"MAIL FROM:<>", b"550")
    other.close()
    wait_until(lambda: "in the name of c.example.com, which is no host of this site" in a.log_text(), 20, "its line")
    assert not waiting(a, "handover")


def test_a_host_that_is_removed(site):
    """A host that was removed is refused on the connection that it has, too."""
    a, b = site.make("a"), site.make("b")
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    b.start()
    client = Client(a.door, context(site.authority.certify("b.example.com"), site.authority), "a.example.com")
    client.say(b"LHLO b.example.com", b"250")
    client.say(b"MAIL FROM:<>", b"250")
    b.stop()
    a.cli("host", "remove", "b.example.com")

    def is_refused():
        client.say(b"RSET", b"250")
        return client.say(b"MAIL FROM:<>", b"").startswith(b"550")
    wait_until(is_refused, 30, "the door to notice it")
    client.close()

    # While the database is away, each MAIL is answered at once, and few of them ask it.
    client = Client(a.door, context(site.authority.certify("a.example.com"), site.authority), "a.example.com")
    client.say(b"LHLO a.example.com", b"250")
    site.server.stop()
    wait_until(lambda: client.say(b"RSET", b"250") and client.say(b"MAIL FROM:<>", b"").startswith(b"451 4.3.0"), 30,
               "the door to notice it")
    for _ in range(50):
        client.say(b"RSET", b"250")
        client.say(b"MAIL FROM:<>", b"451 4.3.0")
    assert 1 <= a.log_text().count("nothing is taken from other hosts") < 25
    site.server.start()
    wait_until(lambda: client.say(b"RSET", b"250") and client.say(b"MAIL FROM:<>", b"").startswith(b"250"), 60,
               "the door to take entries again")
    client.close()


def test_certificates_as_documented(site, tmp_path):
    """The lines of doc/hosts.md make an authority and a certificate that the door takes, and that a host shows."""
    made = tmp_path / "made"
    made.mkdir()
    for line in (AUTHORITY, REQUEST, SIGNATURE):  # by a shell, as people give them
        subprocess.run(line.replace("a.example.org", "a.example.com"), shell=True, cwd=made, check=True, timeout=60,
                       stderr=subprocess.DEVNULL)
    a = site.make("a")
    write_secret(a.directory / "host.key", (made / "a.key").read_text())
    a.set({"host": {"certificate_file": made / "a.crt", "authority_file": made / "hosts-ca.crt"}})
    let_through(made)
    a.create_list("talk", members=["anne@example.org"])
    assert a.run("config", "check").returncode == 0, a.run("config", "check").stderr
    a.start()
    tls = strict_context(made / "hosts-ca.crt")
    tls.load_cert_chain(made / "a.crt", made / "a.key")
    client = Client(a.door, tls, "a.example.com")
    client.say(b"LHLO a.example.com", b"250")
    client.say(b"MAIL FROM:<>", b"250")
    client.close()
    tells_when_it_ends(a, site.authority, made / "a.crt")
    a.set({"host": {"key_file": None}})
    assert "key_file is missing beside it" in a.run("config", "check").stderr


def tells_when_it_ends(host, authority, file):
    """A certificate that ends in five days, or has ended, is told by status, doctor and metrics; one of 30 days, and
    the authority's, are not."""
    said = f"certificate {file} of [host] certificate_file"
    for days, words in ((30, None), (5, "expires at"), (-1, "expired at")):
        both = authority.certify("a.example.com", days=days)
        write_secret(host.directory / "host.key", both.with_suffix(".key").read_text())
        file.write_text(both.with_suffix(".crt").read_text())
        status, doctor = host.run("status"), host.run("doctor", "--no-dns", "--no-probe", "--json")
        found = [row for row in map(json.loads, doctor.stdout.splitlines()) if row["subject"] == "certificates"]
        assert f'setting="[host] certificate_file",file="{file}"' in host.cli("metrics")
        if not words:
            assert "certificate" not in status.stdout and [row["state"] for row in found] == ["ok"]
            continue
        assert f"{said} {words}" in status.stdout and status.returncode != 0, status
        assert len(found) == 1 and f"{said} {words}" in found[0]["text"], found
        assert found[0]["mend"].startswith("listrunner restart door; listrunner restart handover"), found
        assert (found[0]["state"], doctor.returncode) == (("warning", 2) if days > 0 else ("fault", 1)), doctor.stdout


def test_what_comes_in(site):
    """Data that is no entry, or is for a queue that is none of other hosts', is refused for good."""
    a = site.make("a")
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    client = Client(a.door, context(site.authority.certify("a.example.com"), site.authority), "a.example.com")
    client.say(b"LHLO a.example.com", b"250")
    label = {"entry": "b.example.com:" + "0" * 40, "meta": {"list": f"talk.{HOST}"}}
    shunt, out = (json.dumps({**label, "queue": queue}).encode() for queue in ("shunt", "out"))
    for inside in (b"", b"Subject: mail\r\n\r\n", b"listrunner-entry 1\n" + shunt + b"\n\nx",
                   b"listrunner-entry 1\n" + out + b"\na@b.example\n"):
        client.say(b"MAIL FROM:<>", b"250")
        client.say(b"RCPT TO:<out@a.example.com>", b"250")
        client.say(b"DATA", b"354")
        client.say(base64.b64encode(inside) + b"\r\n.", b"554")
    client.say(b"MAIL FROM:<>", b"250")
    client.say(b"RCPT TO:<out@a.example.com>", b"250")
    client.say(b"BDAT 0 LAST", b"554")
    client.close()
    assert not waiting(a, "handover", "out", "shunt", "corrupt")


def test_an_old_one_is_put_back(site, clock):
    """An entry that was handed over long ago is set aside, and is worked when a person puts it back."""
    a = site.make("a", {"store": {"remember": "1d"}})
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGSTOP)
    client = Client(a.door, context(site.authority.certify("a.example.com"), site.authority), "a.example.com")
    client.say(b"LHLO a.example.com", b"250")
    label = {"entry": "b.example.com:" + "0" * 40, "queue": "out",
             "meta": {"list": f"talk.{HOST}", "envelope_sender": f"talk-bounces@{HOST}"}}
    inside = f"listrunner-entry 1\n{json.dumps(label)}\nanne@example.org\n\nSubject: late\r\n\r\nmail\r\n"
    client.say(b"MAIL FROM:<>", b"250")
    client.say(b"RCPT TO:<out@a.example.com>", b"250")
    client.say(b"DATA", b"354")
    client.say(base64.b64encode(inside.encode()) + b"\r\n.", b"250")
    client.close()
    clock.seconds(20 * HOUR)
    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: waiting(a, "shunt"), 30, "it to be set aside")
    assert "so long ago" in a.cli("shunt", "ls")
    a.cli("shunt", "retry", "--all")
    wait_until(site.arrived, 60, lambda: f"the mail; set aside: {a.cli('shunt', 'ls', '--json')}")
    assert site.arrived() == {("anne@example.org", "late"): 1}


def test_a_drained_host(site):
    """One that is drained takes nothing from other hosts, even from one that does not know of it yet."""
    a = site.make("a")
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    client = Client(a.door, context(site.authority.certify("a.example.com"), site.authority), "a.example.com")
    client.say(b"LHLO a.example.com", b"250")

    def answers(code):
        client.say(b"RSET", b"250")
        return client.say(b"MAIL FROM:<>", b"").startswith(code)
    wait_until(lambda: answers(b"250"), 30, "the door to take entries")
    a.cli("host", "drain", "a.example.com")
    wait_until(lambda: answers(b"451"), 30, "the door to refuse")
    client.say(b"RCPT TO:<out@a.example.com>", b"503")
    a.cli("host", "drain", "a.example.com", "--undo")
    wait_until(lambda: answers(b"250"), 30, "the door to take entries again")
    client.close()


class FalseDoor:
    """A server in the place of a host's door, with a certificate that is not the host's. What it is told is kept."""

    def __init__(self, port, certificate):
        self.told, self.refused = [], 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.listening = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            try:
                with self.context.wrap_socket(connection, server_side=True) as client:
                    client.sendall(b"220 ready\r\n")
                    while octets := client.recv(1 << 16):
                        self.told.append(octets)
                        client.sendall(b"250 yes\r\n")
            except OSError:
                self.refused += 1

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


def test_false_doors(site, tmp_path):
    """A post for the archives of two hosts is told to neither of two servers in their places: one has a certificate of
    another authority, the other that of another host. When the hosts are back, each archives it once."""
    kept = {"archiver.maildir": {"host": "b.example.com"}, "archiver.mbox": {"host": "c.example.com"}}
    a, b, c = (site.make(name, kept) for name in "abc")
    a.create_list("talk", members=["anne@example.org"])
    for host in (b, c):
        host.set({"runner.door": {"listen": f"127.0.0.1:{free_port()}"}})  # not where the others look for it
    foreign = Authority(tmp_path / "foreign").certify("b.example.com")
    doors = [FalseDoor(b.door, foreign), FalseDoor(c.door, site.authority.certify("d.example.com"))]
    for host in (a, b, c):
        host.start()
    a.lmtp_send(post(subject="private", to=LIST), LIST)
    wait_until(lambda: all(door.refused or door.told for door in doors), 60, lambda: [door.refused for door in doors])
    assert not any(door.told for door in doors), [door.told for door in doors]
    assert waiting(a, "handover")
    for door in doors:
        door.close()
    for host in (b, c):
        host.set({"runner.door": {"listen": f"127.0.0.1:{host.door}"}})
        host.cli("reload")
    wait_until(lambda: archived(b) == {"private": 1} and not waiting(a, "handover"), 90, lambda: archived(b))
    assert not any(door.told for door in doors)


FAN_OUT = {"host": {"fan_out_over": 100}, "transport.relay": {"recipients_per_transaction": 50}}


def members(count):
    return [f"m{number}@example{number % 7}.org" for number in range(count)]


def three(site, count, settings=None):
    for name in "abc":
        host = site.make(name, FAN_OUT)
        host.set(settings or {})
        if name == "a":
            host.create_list("talk", members=members(count))
        host.start()
    wait_until(lambda: all(f"{name}.example.com" in site.hosts["a"].cli("host", "ls") for name in "abc"), 30, "hosts")
    return [site.hosts[name] for name in "abc"]


def everybody(site, count, subjects):
    return Counter({(to, subject): 1 for to in members(count) for subject in subjects})


def accepted(host):
    return host.log_text().count("queue=handover to=out result=accepted")


def test_fan_out(site):
    """A post to 3,000, of the greatest size that is taken, goes out over three hosts, to each member once; a small one
    stays where it came."""
    a, b, c = three(site, 3000, {"lmtp": {"max_message_size": "320K", "memory_limit": "640K"},
                                 "defragment": {"max_size": "320K"}})
    a.create_list("small", members=members(100))
    a.lmtp_send(post(subject="large", to=LIST, body=("x" * 70 + "\r\n") * 4400), LIST)
    a.lmtp_send(post(subject="little", to=f"small@{HOST}"), f"small@{HOST}")
    wanted = everybody(site, 3000, ["large"]) + everybody(site, 100, ["little"])
    wait_until(lambda: sum(site.arrived().values()) >= 3100, 120, lambda: f"{sum(site.arrived().values())} copies")
    for host in (a, b, c):
        host.wait_idle()
        assert host.set_aside() == []
    assert site.arrived() == wanted
    assert accepted(b) >= 1 and accepted(c) >= 1
    assert a.log_text().count("to=out result=handed-over") == accepted(b) + accepted(c)
    wait_until(lambda: a.run("status").returncode == 0, 30, lambda: a.run("status").stdout)


def test_by_domain(site):
    """Where mail goes straight to its domains, each instance of each host has recipients of its own domains, and each
    member is in one block, though most are of one domain."""
    settings = {"transport.relay": {"type": "mx", "host": None, "port": None, "recipients_per_transaction": None},
                "runner.out": {"start": "no", "instances": 2}}
    hosts = three(site, 300, settings)
    many = [f"m{number}@large.example" for number in range(300, 1000)]
    hosts[0].add_members(LIST, many)
    hosts[0].lmtp_send(post(subject="one", to=LIST), LIST)
    wait_until(lambda: all(waiting(host, "out") for host in hosts) and not
               any(waiting(host, "in", "pipeline", "handover") for host in hosts), 60, "the blocks")

    def recipients(host):
        text = b"".join((host.spool / "out" / name).read_bytes() for name in waiting(host, "out"))
        return re.findall(r"^ (m[0-9]+@[a-z0-9.]+)", text.decode(), re.M)

    found = [recipients(host) for host in hosts]
    assert Counter(sum(found, [])) == Counter(members(300) + many)
    assert min(map(len, found)) >= 200, list(map(len, found))


def test_a_host_that_hangs(site):
    """Blocks for a host that takes connections and says nothing are delivered by the one that has them, and blocks for
    one that is drained, too."""
    a, b, c = three(site, 600)
    for pid in b.pids("door"):
        os.kill(pid, signal.SIGSTOP)
    a.lmtp_send(post(subject="one", to=LIST), LIST)
    wait_until(lambda: sum(site.arrived().values()) >= 600, 120, lambda: f"{sum(site.arrived().values())} copies")
    assert re.search("result=refused host=b.example.com", a.log_text())
    assert "to=out result=taken-back" in a.log_text()
    for pid in b.pids("door"):
        os.kill(pid, signal.SIGCONT)
    a.cli("host", "drain", "c.example.com")
    a.lmtp_send(post(subject="two", to=LIST), LIST)
    wait_until(lambda: sum(site.arrived().values()) >= 1200, 120, lambda: f"{sum(site.arrived().values())} copies")
    for host in (a, b, c):
        host.wait_idle()
        assert host.set_aside() == []
    assert site.arrived() == everybody(site, 600, ["one", "two"])
    assert accepted(c) == 1


def test_an_answer_is_lost(site):
    """The sender is killed when the other host has the entry and the sender does not know: the copy that comes again is
    known by its name. And a block that was taken back is not worked by the host that finds it later."""
    a, b, c = three(site, 600)
    for host in (b, c):
        for pid in host.pids("handover"):
            os.kill(pid, signal.SIGSTOP)
    kept = a.directory / "kept"
    kept.mkdir()
    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGSTOP)
    a.lmtp_send(post(subject="one", to=LIST), LIST)
    wait_until(lambda: [name.rpartition(".")[2] for name in waiting(a, "handover")] == ["msg", "msg"], 60, "the blocks")
    for name in waiting(a, "handover"):
        shutil.copy2(a.spool / "handover" / name, kept / name)
    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: waiting(b, "handover") and waiting(c, "handover") and not waiting(a, "handover"), 30,
               "the blocks at the others")
    # As the spool is when the process died before it noted the answer.
    first = {name: len(waiting(host, "handover")) for name, host in (("b", b), ("c", c))}
    a.stop()
    for file in kept.iterdir():
        target = a.spool / "handover" / (file.name.split(".msg")[0].split(".bak")[0] + ".msg")
        shutil.copy2(file, target)
        shutil.chown(target, a.user)
    a.start()
    wait_until(lambda: not waiting(a, "handover"), 30, "the blocks to go again")
    assert {name: len(waiting(host, "handover")) for name, host in (("b", b), ("c", c))} == \
        {name: 2 * count for name, count in first.items()}
    for host in (b, c):
        for pid in host.pids("handover"):
            os.kill(pid, signal.SIGCONT)
    for host in (a, b, c):
        host.wait_idle()
        assert host.set_aside() == []
    assert site.arrived() == everybody(site, 600, ["one"])
    assert (b.log_text() + c.log_text()).count("result=repeated") == sum(first.values())


def test_adopted(site):
    """A block that a host had accepted when it died is given to nobody else: it goes out when its spool is adopted. If
    the spool is lost, it is told."""
    a, b, c = three(site, 600)
    for pid in b.pids("out"):
        os.kill(pid, signal.SIGSTOP)
    a.lmtp_send(post(subject="one", to=LIST), LIST)
    wait_until(lambda: accepted(b) == 1 and waiting(b, "out") and not waiting(b, "handover"), 60, "the block at b")
    die(b)
    for host in (a, c):
        host.wait_idle()
    assert sum(site.arrived().values()) == 400, "the parts of a and c"
    wait_until(lambda: json.loads(a.cli("host", "ls", "--json").splitlines()[1])["state"] == "dead", 60, "b to be dead")
    a.lmtp_send(post(subject="two", to=LIST), LIST)
    wait_until(lambda: sum(site.arrived().values()) >= 1000, 60, "the second post by a and c")
    site.server.sql("UPDATE site.host SET share_until = 1 WHERE name = 'b.example.com'", database="listrunner")
    lost = a.rows("host", "remove", "--lost", "--dry-run", "b.example.com")
    assert [(row["kind"], row["list"]) for row in lost] == [("block", f"talk.{HOST}")], lost
    a.run("host", "adopt", "b.example.com", "--spool", b.spool, timeout=180)
    for host in (a, c):
        host.wait_idle()
    assert site.arrived() == everybody(site, 600, ["one", "two"])


def test_lost_before_it_was_accepted(site):
    """A block that a host's door took is told when its spool is lost before the host has looked at it. If the host that
    had handed it over has it still, for the answer was lost, it goes out from there, and is told no more."""
    a, b, c = three(site, 600)
    for host in (a, b):
        for pid in host.pids("handover"):
            os.kill(pid, signal.SIGSTOP)
    a.lmtp_send(post(subject="one", to=LIST), LIST)
    wait_until(lambda: len(waiting(a, "handover")) == 2, 60, "the blocks")
    kept = {name: (a.spool / "handover" / name).read_bytes() for name in waiting(a, "handover")}
    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: not waiting(a, "handover") and waiting(b, "handover"), 60, "the block at b")
    die(b)
    for host in (a, c):
        host.wait_idle()
    assert sum(site.arrived().values()) == 400, "the parts of a and c"
    wait_until(lambda: json.loads(a.cli("host", "ls", "--json").splitlines()[1])["state"] == "dead", 60, "b to be dead")
    site.server.sql("UPDATE site.host SET share_until = 1 WHERE name = 'b.example.com'", database="listrunner")

    def lost():
        found = a.rows("host", "remove", "--lost", "--dry-run", "b.example.com")
        return [(row["kind"], row["list"]) for row in found]

    assert lost() == [("block", f"talk.{HOST}")]
    a.stop()
    for name, octets in kept.items():
        target = a.spool / "handover" / re.sub(r"\.[0-9a-z]+$", ".msg", name)
        target.write_bytes(octets)
        shutil.chown(target, a.user)
    a.start()
    wait_until(lambda: sum(site.arrived().values()) >= 600, 600, lambda: f"{sum(site.arrived().values())} copies")
    for host in (a, c):
        host.wait_idle()
        assert host.set_aside() == []
    assert site.arrived() == everybody(site, 600, ["one"])
    assert lost() == []


def test_the_door_cannot_note(site):
    """A block that a door has stored and cannot note is delivered by the host that has it, and by nobody else."""
    a, b, c = three(site, 600)
    for pid in b.pids("handover"):
        os.kill(pid, signal.SIGSTOP)
    spool, = site.server.sql("SELECT spool FROM site.host WHERE name = 'b.example.com'", database="listrunner")
    site.server.sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$ BEGIN RAISE EXCEPTION 'the test'; END $$",
                    f"CREATE TRIGGER refuse BEFORE INSERT ON site.handed FOR EACH ROW WHEN (NEW.spool = '{spool}') "
                    "EXECUTE FUNCTION refuse()", database="listrunner")
    a.lmtp_send(post(subject="one", to=LIST), LIST)
    wait_until(lambda: sum(site.arrived().values()) >= 600, 60, lambda: f"{sum(site.arrived().values())} copies")
    assert "is stored, and not noted" in b.log_text() and waiting(b, "handover")
    assert "to=out result=taken-back" in a.log_text()
    site.server.sql("DROP TRIGGER refuse ON site.handed", database="listrunner")
    for pid in b.pids("handover"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: "result=repeated" in b.log_text(), 60, "the copy at b to be dropped")
    for host in (a, b, c):
        host.wait_idle()
        assert host.set_aside() == []
    assert site.arrived() == everybody(site, 600, ["one"])


SLOW = {"transport.relay": {"concurrency": 2, "recipients_per_transaction": 10}}


def test_kills(site):
    """While posts go out, one host after the other is killed and comes back: each member has each post, and more than
    once only what was in flight."""
    hosts = three(site, 900, SLOW)
    dice = random.Random(7)
    subjects = [f"post {number}" for number in range(6)]
    for subject in subjects:
        sender, victim = dice.sample(hosts, 2)
        sender.lmtp_send(post(subject=subject, to=LIST), LIST)
        before = sum(site.arrived().values())
        wait_until(lambda: sum(site.arrived().values()) > before + 100, 60, "some copies")
        die(victim)
        victim.start()
    wait_until(lambda: len(site.arrived()) == 900 * len(subjects), 240, lambda: f"{len(site.arrived())} copies")
    for host in hosts:
        host.wait_idle(120)
        assert host.set_aside() == []
    arrived = site.arrived()
    assert set(arrived) == set(everybody(site, 900, subjects))
    # Each of two connections has a transaction of 10 recipients in flight, and one behind it.
    repeats = sum(count - 1 for count in arrived.values())
    assert repeats <= len(subjects) * 2 * 2 * 10, f"{repeats} repeats"


def test_parts_wait_for_their_host(site):
    """A part whose message is joined on a host that is away waits for that host: it is not joined anywhere else."""
    a, b = site.make("a"), site.make("b")
    a.create_list("talk", members=["anne@example.org"], settings=["defragment=on", "subject_prefix="])
    a.start()
    b.start()
    first, second = fragment(post(subject="whole", to=LIST, body="line\n" * 200), "p1@cut.example", 2,
                             "poster@example.net", LIST, random.Random(5))
    b.lmtp_send(first, LIST)
    wait_until(lambda: "result=opened" in b.log_text(), 60, "the set")
    b.stop()
    a.lmtp_send(second, LIST)
    wait_until(lambda: "wait for the host b.example.com" in a.run("status").stdout, 60, lambda: a.run("status").stdout)
    assert "result=taken-back" not in a.log_text() and waiting(a, "handover")
    b.start()
    wait_until(site.arrived, 90, lambda: f"{waiting(a, 'defragment', 'handover')} {waiting(b, 'defragment')}")
    assert site.arrived() == {("anne@example.org", "whole"): 1}
    assert "result=taken-back" not in a.log_text()


def archived(host):
    """Counts of the subjects in the archive of a host."""
    files = (host.archive / "maildir").glob("*/*/*")
    return Counter(message_from_bytes(file.read_bytes())["Subject"].split("] ")[-1] for file in files if
                   file.parent.name in ("new", "cur"))


def test_archive(site):
    """The archive of a list is on one host. A post that came to another waits, visibly, while that one is away, and is
    archived once, though it is handed over twice and the host that has the archive dies."""
    kept = {"archiver.maildir": {"host": "b.example.com"}, "archiver.mbox": None}
    a, b = site.make("a", kept), site.make("b", kept)
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    a.lmtp_send(post(subject="early", to=LIST), LIST)
    wait_until(lambda: "wait for the host b.example.com" in a.run("status").stdout, 30, "status to say so")
    assert a.run("status").returncode != 0
    wait_until(lambda: site.arrived() == {("anne@example.org", "early"): 1}, 30, "the post to be out")
    b.start()
    b.lmtp_send(post(subject="at b", to=LIST), LIST)
    wait_until(lambda: len(archived(b)) == 2, 60, lambda: archived(b))
    wait_until(lambda: "wait for the host" not in a.run("status").stdout, 20, "status to be well")

    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGSTOP)
    a.lmtp_send(post(subject="twice", to=LIST), LIST)
    wait_until(lambda: waiting(a, "handover"), 30, "the post in the queue")
    name, = waiting(a, "handover")
    octets = (a.spool / "handover" / name).read_bytes()
    for pid in b.pids("handover"):
        os.kill(pid, signal.SIGSTOP)
    for pid in a.pids("handover"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: waiting(b, "handover") and not waiting(a, "handover"), 30, "the post at b")
    die(b)
    b.start()
    again = a.spool / "handover" / name
    again.with_suffix(".new").write_bytes(octets)
    shutil.chown(again.with_suffix(".new"), a.user)
    again.with_suffix(".new").rename(again)  # as if the answer had been lost
    wait_until(lambda: "result=repeated" in b.log_text(), 60, "the second copy")
    for host in (a, b):
        host.wait_idle()
        assert host.set_aside() == []
    assert archived(b) == {"early": 1, "at b": 1, "twice": 1}
    assert archived(a) == {}

    # The archive moves: a post that waits for the host which had it goes where it is now.
    b.stop()
    a.lmtp_send(post(subject="moved", to=LIST), LIST)
    wait_until(lambda: "wait for the host b.example.com" in a.run("status").stdout, 30, "status to say so")
    a.set({"archiver.maildir": {"host": None}})
    a.cli("reload")
    wait_until(lambda: archived(a) == {"moved": 1}, 90, lambda: archived(a))
    a.set({"archiver.maildir": {"host": "b.example.com"}, "host": {"certificate_file": None}})
    assert "by the doors of hosts" in a.run("config", "check").stderr


def test_pages_of_an_archive(site):
    """Readers who ask another host for pages of an archive are sent to the host that keeps it, and told to come again
    while that is away, or where both have one address and no proxy tells them apart."""
    def settings(name):
        return {"archiver.maildir": {"host": "b.example.com"}, "archiver.mbox": None,
                "site": {"web_url": f"https://{name}.pages.example"},
                "runner.web": {"listen": f"127.0.0.1:{free_port()}"}}
    a, b = site.make("a", settings("a")), site.make("b", settings("b"))
    a.create_list("talk", members=["anne@example.org"])
    a.start()
    b.start()
    a.lmtp_send(post(subject="Of cats", to=LIST), LIST)
    home, here, there = f"/archive/talk.{HOST}", Pages(a), Pages(b)
    wait_until(lambda: there.get(home).status == 200 and "Of cats" in there.get(home).text, 60, "the post to be shown")

    def answer(path):
        found = here.get(path)
        return found.status, found.headers["Location"]

    wait_until(lambda: answer(home)[0] == 302, 90, lambda: answer(home))
    for path in (home, f"{home}/atom", f"{home}/search?q=cats&by=date", "/search?q=cats"):
        assert answer(path) == (302, f"https://b.pages.example{path}")
        assert there.get(path).status == 200
    assert answer("/hyperkitty/list/x@y.example/")[0] == 302
    assert here.get(f"/list/talk.{HOST}").status == 200
    refused = a.run("archive", "index")
    assert refused.returncode == 78 and "kept by the host b.example.com" in refused.stderr, refused

    def wait_for_503():
        wait_until(lambda: answer(home)[0] == 503, 90, lambda: answer(home))
        page = here.get(home).says("The archive cannot be read at the moment")
        assert page.headers["Retry-After"] == "60"

    a.set({"site": {"web_url": "https://b.pages.example/"}})
    a.cli("reload")
    wait_for_503()
    assert "the host b.example.com, whose web_url is that of this one" in a.log_text()
    a.set({"site": {"web_url": "https://a.pages.example"}})
    a.cli("reload")
    wait_until(lambda: answer(home)[0] == 302, 90, lambda: answer(home))
    die(b)
    wait_for_503()
    assert "the host b.example.com, which does not live" in a.log_text()


def test_parts(site):
    """Parts of messages come to either host, and each message is joined where its first part came to."""
    plenty = {"defragment": {"max_parts": 100}}
    a, b = site.make("a", plenty), site.make("b", plenty)
    a.create_list("talk", members=["anne@example.org"], settings=["defragment=on", "subject_prefix="])
    a.start()
    b.start()
    dice = random.Random(5)
    whole = [post(subject=f"whole {number}", to=LIST, body="line\n" * 200) for number in range(8)]
    rest = []
    for number, octets in enumerate(whole):
        first, *others = fragment(octets, f"p{number}@cut.example", 4, "poster@example.net", LIST, dice)
        (a, b)[number % 2].lmtp_send(first, LIST)
        rest += [((a, b)[dice.randrange(2)], one) for one in others[1:]] + [((b, a)[number % 2], others[0])]
    wait_until(lambda: all(host.log_text().count("result=opened") == 4 for host in (a, b)), 60, "the sets")
    dice.shuffle(rest)
    for host, octets in rest:
        host.lmtp_send(octets, LIST)
    wait_until(lambda: len(site.sink.transactions()) >= 8, 90,
               lambda: f"{waiting(a, 'defragment', 'handover')} {waiting(b, 'defragment', 'handover')}")
    for host in (a, b):
        host.wait_idle()
        wait_until(lambda: not waiting(host, "defragment"), 60, "the parts to be gone")
        assert host.set_aside() == []
    assert site.arrived() == {("anne@example.org", f"whole {number}"): 1 for number in range(8)}
    assert all("to=defragment result=accepted" in host.log_text() for host in (a, b))
