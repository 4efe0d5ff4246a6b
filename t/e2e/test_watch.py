# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mails that Listrunner sends itself through a Postfix, over IPv4 and IPv6 and by each slice, and faults of which a
program and a web server are told: once each, and once when they are gone."""
import contextlib
import http.server
import itertools
import json
import os
import re
import signal
import smtplib
import socket
import socketserver
import threading

import pytest

from support import postfix
from support.instance import HOST, free_port, need, wait_until
from support.serving import Serving

SLICES = 4
RELAY = "relay.example.org"
STAMP = r"\d{4}-\d\d-\d\dT[\d:]+Z"
# The master and all below it see a file of hosts of their own.
PRIVATE_HOSTS = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 'mount --bind "$0" /etc/hosts && exec "$@"']


class Told:
    """A program and a web server that keep what they are told; the server answers with `status`."""

    def __init__(self, directory, own):
        outer = self
        self.posted, self.status = [], 200
        self.directory = directory / "told"
        self.directory.mkdir()
        own(self.directory)
        self.program = directory / "tell"
        self.program.write_text('#!/bin/sh\n'
                                'printf "%s|%s|%s\\n" "$2" "$3" "$(tr "\\n" "~")" >>"$1/lines"\n')
        self.program.chmod(0o755)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if outer.status == 200:
                    outer.posted.append(body)
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def settings(self):
        return {"command": f"{self.program} {self.directory}", "url": f"http://127.0.0.1:{self.server.server_port}/"}

    def run(self, state=None):
        path = self.directory / "lines"
        lines = [line.split("|", 2) for line in path.read_text().splitlines()] if path.exists() else []
        return [(key, text) for word, key, text in lines if state in (None, word)]

    def keys(self, state):
        """Of what was told by each way, which must agree."""
        by_program = sorted(key for key, _ in self.run(state))
        by_server = sorted(one["key"] for one in self.posted if one["state"] == state)
        return by_program if by_program == by_server else None

    def settled(self, state):
        """The same, once what is just being told has been told by both."""
        return wait_until(lambda: [keys for keys in [self.keys(state)] if keys is not None], 60,
                          lambda: (self.run(), self.posted))[0]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def told(tmp_path, until_end):
    tmp_path.chmod(0o755)
    return lambda instance: until_end(Told(instance.directory, instance.own))


@pytest.fixture
def site(instances, told, until_end):
    """An instance behind a Postfix that has its lines, and who is told of its faults."""
    need(postfix.missing())
    ask = free_port()
    front = until_end(postfix.Postfix("watch", {"default_transport": "error:only lists are served here"}))
    instance = instances(front.port, settings={
        "runner.mta": {"start": "yes", "listen": f"127.0.0.1:{ask}"},
        "runner.in": {"instances": SLICES}, "runner.out": {"instances": 2}, "runner.pipeline": {"instances": 2},
        "master": {"stall_timeout": "1h"}})
    instance.told = told(instance)
    instance.set({"watch": {"canary": HOST, "interval": "1s", "patience": "30s", "look": "1s", "after": "0",
                            **instance.told.settings()}})
    with open(front.config / "main.cf", "a", encoding="utf-8") as main:
        main.write(f"relay_domains = {HOST}\n"
                   f"transport_maps = inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{instance.port} }} }}\n"
                   f"relay_recipient_maps = socketmap:inet:127.0.0.1:{ask}:recipients\n")
    instance.front = front
    instance.create_store()
    instance.cli("domain", "create", HOST)
    front.start()
    yield instance


def canaries(site):
    return site.status().get("canaries") or []


def name_of(row):
    return row["part"] if row["slice"] is None else f"{row['part']} {row['slice']}"


ALL = {"way", *(f"in {slice}" for slice in range(SLICES)), "out 0", "out 1"}


# Slices of other queues, which get an entry that does nothing.
OTHERS = {"archive 0", "digest 0", "virgin 0", "bounces 0", "command 0",
          *(f"{queue} {slice}" for queue in ("pipeline", "retry", "notice") for slice in (0, 1))}


def all_came(site, parts=frozenset(ALL)):
    rows = canaries(site)
    return {name_of(row) for row in rows if row["back_at"] and not row["queue"]} == parts


def all_taken(site):
    rows = {name_of(row) for row in canaries(site) if row["back_at"] and row["queue"]}
    return OTHERS <= rows <= OTHERS | {"nntp 0"}


def missing(site):
    return {name_of(row) for row in canaries(site) if row["missing"]}


def missing_by_metrics(site):
    """Parts of the way that the metrics have been missing for longer than 10 s, which is the patience here."""
    line = r'^listrunner_canary_missing_seconds\{part="(\w+)",slice="(\d*)"\} (\S+)$'
    found = re.findall(line, site.run("metrics").stdout, re.M)  # a process that stands still is a fault of it, too
    return {f"{part} {slice}".strip() for part, slice, seconds in found if float(seconds) > 10}


def told_of_canaries(site, state):
    return {key for key in site.told.keys(state) or () if key.split()[0] == "canary"}


def test_mail_goes_through_each_slice_and_comes_back(site):
    site.start()
    wait_until(lambda: all_came(site), 120, lambda: canaries(site))
    wait_until(lambda: all_taken(site), 60, lambda: canaries(site))
    for part in ("in, slice 3", "pipeline, slice 1", "retry, slice 0"):
        assert re.search(rf"^  {part} +\d+\w ago$", site.run("status").stdout, re.M), site.run("status").stdout
    log = site.log_text()
    seen = {int(number) for number, line in re.findall(r"in\[(\d)\](.*)", log) if "listrunner-canary." in line}
    assert seen == set(range(SLICES)), seen
    # The lists keep none of them.
    assert "listrunner-canary" not in site.cli("held", "ls")
    assert "listrunner_canary_missing_seconds" in site.cli("metrics")
    lists = site.cli("list", "show", f"listrunner-canary@{HOST}")
    assert re.search(r"advertised\W+(no|false)", lists), lists


def test_a_mail_server_that_stops_is_told_once(site):
    told = site.told
    site.start()
    wait_until(lambda: all_came(site), 120, lambda: canaries(site))
    site.front.stop()
    wait_until(lambda: "canary" in told_of_canaries(site, "fault"), 120, lambda: (told.run(), told.posted))
    done = site.run("status")
    assert done.returncode == 2 and "No mail that Listrunner sent itself through the mail server has" in done.stdout
    assert missing(site) == {"way"}, canaries(site)
    # A start tells nothing twice.
    site.stop()
    site.start()
    site.front.start()
    wait_until(lambda: "canary" in told_of_canaries(site, "gone"), 180,
               lambda: (told.run(), told.posted, canaries(site)))
    for state in ("fault", "gone"):
        assert told.settled(state).count("canary") == 1, (state, told.run())
    line = next(text for key, text in told.run("gone") if key == "canary")
    past = rf"This was so from {STAMP} to {STAMP}, and is over: No mail that Listrunner sent itself"
    assert re.match(rf"{HOST}: {past}", line) and "probe" not in line, line
    posted = next(one for one in told.posted if (one["state"], one["key"]) == ("gone", "canary"))
    assert re.match(past, posted["text"]) and "mend" not in posted, posted
    line = next(text for key, text in told.run("fault") if key == "canary")
    assert line.startswith(f"{HOST}: No mail that Listrunner sent itself") and "listrunner probe" in line, line


def test_slices_that_stand_still_are_named(site):
    """Of queues whose mail comes back, and of `others`, whose entry is taken. The process of out works the same slice
    of retry and notice."""
    site.start()
    wait_until(lambda: all_came(site) and all_taken(site), 120, lambda: canaries(site))
    ways, others = {("in", 2), ("out", 1)}, {("pipeline", 1), ("archive", 0)}
    pids = [child["pid"] for group in site.status()["runners"] for child in group["children"]
            if (group["runner"], child["instance"]) in ways | others]
    others |= {("retry", 1), ("notice", 1)}
    names = {f"{runner} {slice}" for runner, slice in ways | others}
    keys = {f"canary {name}" for name in names}
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: missing(site) == names, 180, lambda: canaries(site))
        wait_until(lambda: missing_by_metrics(site) == names, 120, lambda: site.run("metrics").stdout)
        wait_until(lambda: told_of_canaries(site, "fault") == keys, 60, lambda: site.told.run())
        done = site.run("status")
        for runner, slice in ways:
            assert f"slice {slice} of the queue {runner} has come back since" in done.stdout, done.stdout
        assert done.returncode == 2
        for other, slice in others:
            assert f"slice {slice} of the queue {other} has not been taken since" in done.stdout, done.stdout
            # No second one while the first lies there.
            assert len(list((site.spool / other).glob("*.msg"))) == 1
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    wait_until(lambda: told_of_canaries(site, "gone") == keys, 180, lambda: (site.told.run(), canaries(site)))
    wait_until(lambda: not missing(site), 60, lambda: canaries(site))
    assert site.told.settled("fault") == sorted(keys), site.told.run()


class Copier(socketserver.BaseRequestHandler):
    """Hands what comes to a port of 127.0.0.1, and its answers back."""

    def handle(self):
        with socket.create_connection(("127.0.0.1", self.server.server_address[1])) as other:
            back = threading.Thread(target=self.copy, args=(other, self.request), daemon=True)
            back.start()
            self.copy(self.request, other)
            back.join()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


class SixServer(Serving):
    address_family = socket.AF_INET6


class Six:
    """The same port of [::1]; can be cut off."""

    def __init__(self, port):
        self.port, self.server = port, None

    def open(self):
        self.server = SixServer(Copier, ("::1", self.port))

    def cut(self):
        if self.server:
            self.server.server_close()
        self.server = None


def has_six():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def by_name(site, *addresses):
    """The relay gets a name, with these addresses."""
    if os.getuid() != 0:
        pytest.skip("a private mount namespace is needed, which only root may make")
    hosts = site.directory / "hosts"
    hosts.write_text("".join(f"{address} {RELAY}\n" for address in addresses) + "127.0.0.1 localhost\n")
    hosts.chmod(0o644)
    site.wrapper = [*PRIVATE_HOSTS, hosts]
    site.set({"transport.relay": {"host": RELAY}, "runner.in": {"instances": None}})


def test_a_family_that_is_cut_off_is_named(site):
    if not has_six():
        pytest.skip("this machine has no IPv6")
    by_name(site, "127.0.0.1", "::1")
    six, told = Six(site.front.port), site.told
    try:
        six.open()
        site.start()
        wait_until(lambda: all_came(site, {"way", "ipv4", "ipv6", "out 0", "out 1"}), 120, lambda: canaries(site))
        assert re.search(r"^  ipv6 +\d+\w ago$", site.run("status").stdout, re.M), site.run("status").stdout
        six.cut()
        wait_until(lambda: missing(site) == {"ipv6"}, 180, lambda: canaries(site))
        wait_until(lambda: missing_by_metrics(site) == {"ipv6"}, 120, lambda: site.run("metrics").stdout)
        wait_until(lambda: "canary ipv6" in told_of_canaries(site, "fault"), 60, lambda: told.run())
        assert "over IPv6 has come back since" in site.run("status").stdout
        # A start forgets nothing of it, and other mail goes on.
        site.stop()
        site.start()
        wait_until(lambda: missing(site) == {"ipv6"}, 120, lambda: canaries(site))
        six.open()
        wait_until(lambda: "canary ipv6" in told_of_canaries(site, "gone"), 180, lambda: (told.run(), canaries(site)))
    finally:
        six.cut()
    assert told.settled("fault").count("canary ipv6") == 1, told.run()


def test_a_machine_without_a_route_of_ipv6_misses_nothing(site):
    """The relay's name has an address that this machine has no way to: a link-local one of no interface."""
    by_name(site, "127.0.0.1", "fe80::1")
    site.start()
    wait_until(lambda: all_came(site, {"way", "out 0", "out 1"}), 120, lambda: canaries(site))
    sent = site.log_text().count("to see it come back")
    wait_until(lambda: site.log_text().count("to see it come back") > sent + 12, 120, "more mails of the canary")
    assert not told_of_canaries(site, "fault") and all_came(site, {"way", "out 0", "out 1"}), canaries(site)


def test_mail_that_comes_by_lmtp_over_one_kind_alone_is_named(instances, told):
    """A mail server that comes over IPv4 and IPv6 comes over IPv4 alone, and then over both again. The mails of watch
    itself go nowhere. The rows are made older than they are."""
    if not has_six():
        pytest.skip("this machine has no IPv6")
    instance = instances(free_port())
    instance.told = told(instance)
    instance.set({"runner.lmtp": {"listen": f"127.0.0.1:{instance.port} [::1]:{instance.port}"},
                  "watch": {"canary": HOST, "look": "1s", "after": "0", **instance.told.settings()}})
    instance.create_store()
    instance.cli("domain", "create", HOST)
    instance.start()
    wait_until(lambda: f"listrunner-canary-return@{HOST}" in instance.cli("list", "ls"), 60, "the canary's lists")
    numbers = itertools.count()

    def come(address, name="listrunner-canary"):
        with smtplib.LMTP(address, instance.port) as client:
            client.sendmail("mta@example.net", [f"{name}@{HOST}"],
                            f"From: mta@example.net\r\nTo: {name}@{HOST}\r\nSubject: x\r\n"
                            f"Message-ID: <{next(numbers)}@example.net>\r\n\r\nx\r\n")

    def doors():
        return {row["part"]: row["missing"] for row in canaries(instance) if row["part"].startswith("lmtp ")}

    def made_older(family, begun, ended):
        with instance.database() as store:
            store.execute("UPDATE canary_way SET sent_at = sent_at - ?, back_at = back_at - ? WHERE family = ?",
                          (begun * 3_600_000_000, ended * 3_600_000_000, family))

    come("127.0.0.1", instance.create_list("cats").split("@")[0])  # of another list
    come("::1")
    wait_until(lambda: rows_of(instance) == ["lmtp ipv6"], 60, lambda: rows_of(instance))
    assert not doors(), "one kind alone is no part"
    come("127.0.0.1", "listrunner-canary-return")
    wait_until(lambda: doors() == {"lmtp ipv4": False, "lmtp ipv6": False}, 60, doors)
    assert re.search(r"^  lmtp ipv6 +\d+\w ago$", instance.run("status").stdout, re.M), instance.run("status").stdout
    made_older("lmtp ipv4", 9, 0)
    made_older("lmtp ipv6", 9, 3)
    come("127.0.0.1")
    wait_until(lambda: doors() == {"lmtp ipv4": False, "lmtp ipv6": True}, 60, doors)
    assert "by LMTP over IPv6 since" in instance.run("status").stdout
    metrics = instance.cli("metrics")
    assert 'listrunner_canary_missing_seconds{part="lmtp ipv4",slice=""} 0\n' in metrics, metrics
    assert float(re.search(r'missing_seconds\{part="lmtp ipv6",slice=""\} (\S+)', metrics).group(1)) > 10000, metrics
    wait_until(lambda: "canary lmtp ipv6" in told_of_canaries(instance, "fault"), 60, lambda: instance.told.run())
    come("::1")
    wait_until(lambda: not doors(), 60, doors)
    wait_until(lambda: "canary lmtp ipv6" in told_of_canaries(instance, "gone"), 60, lambda: instance.told.run())
    come("127.0.0.1")
    wait_until(lambda: doors() == {"lmtp ipv4": False, "lmtp ipv6": False}, 60, doors)
    assert "canary lmtp ipv4" not in told_of_canaries(instance, "fault"), instance.told.run()
    instance.set({"watch": {"both_families": "no"}})
    instance.cli("reload")
    wait_until(lambda: not rows_of(instance), 60, lambda: rows_of(instance))


def rows_of(instance):
    with instance.database() as store:
        return [family for family, in store.execute("SELECT family FROM canary_way "
                                                    "WHERE family IN ('lmtp ipv4', 'lmtp ipv6')", ())]


def test_what_cannot_be_told_is_told_later(site):
    """Mail for a queue that nobody works, beside a web server that is broken."""
    told = site.told
    told.status = 500
    site.set({"watch": {"canary": None}, "runner.watch": {"start": "yes"}, "runner.archive": {"start": "no"}})
    site.start()
    assert canaries(site) == []
    site.lmtp_send(b"From: a@example.net\r\nSubject: x\r\n\r\nx\r\n", site.create_list("kept"))
    wait_until(lambda: "unworked archive" in [key for key, _ in told.run("fault")], 90, lambda: told.run())
    wait_until(lambda: "the operator could not be told" in site.run("status").stdout, 60,
               lambda: site.run("status").stdout)
    assert not told.posted
    told.status = 200
    wait_until(lambda: told.posted, 60, "what was to be told")
    wait_until(lambda: "the operator could not be told" not in site.run("status").stdout, 60,
               lambda: site.run("status").stdout)
    assert len(told.run("fault")) == len({key for key, _ in told.run("fault")}), told.run()


def test_a_database_that_is_away_is_told(site):
    if "path" not in site.sections["store"]:
        pytest.skip("it takes the file away")
    told, path = site.told, site.sections["store"]["path"]
    site.set({"watch": {"canary": None}, "runner.watch": {"start": "yes"}})
    site.start()
    away = path.with_suffix(".away")
    path.rename(away)
    wait_until(lambda: "database" in (told.keys("fault") or ()), 90, lambda: (told.run(), told.posted))
    assert not told.run("gone"), told.run()
    away.rename(path)
    wait_until(lambda: "database" in (told.keys("gone") or ()), 90, lambda: (told.run(), told.posted))


def test_settings_are_checked(instances):
    instance = instances(1, settings={"watch": {"url": "ftp://example.org/"}})
    done = instance.run("config", "check")
    assert done.returncode != 0 and "[watch] url" in done.stderr + done.stdout
    instance.set({"watch": {"url": None, "command": "/bin/true"}})
    done = instance.run("config", "check")
    assert done.returncode != 0 and "set start = yes, or [watch] canary" in done.stderr + done.stdout
    instance.set({"runner.watch": {"start": "yes", "instances": 2}})
    done = instance.run("config", "check")
    assert done.returncode != 0 and "[runner.watch] instances" in done.stderr + done.stdout
