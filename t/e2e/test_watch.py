# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mails that Listrunner sends itself through a Postfix, by each slice, and faults of which a program and a web server
are told: once each, and once when they are gone."""
import http.server
import json
import re
import threading

import pytest

from support import postfix
from support.instance import HOST, free_port, wait_until

SLICES = 4


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

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def told(tmp_path):
    tmp_path.chmod(0o755)
    made = []

    def make(instance):
        made.append(Told(instance.directory, instance.own))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture
def site(instances, told):
    """An instance behind a Postfix that has its lines, and who is told of its faults."""
    why = postfix.missing()
    if why:
        pytest.skip(why)
    ask = free_port()
    front = postfix.Postfix("watch", {"default_transport": "error:only lists are served here"})
    instance = instances(front.port, settings={
        "runner.mta": {"start": "yes", "listen": f"127.0.0.1:{ask}"},
        "runner.in": {"instances": SLICES}, "runner.out": {"instances": 2}})
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
    try:
        front.start()
        yield instance
    finally:
        front.close()


def canaries(site):
    return site.status().get("canaries") or []


def all_came(site):
    rows = canaries(site)
    return len(rows) == SLICES and all(row["back_at"] for row in rows)


def test_mail_goes_through_each_slice_and_comes_back(site):
    site.start()
    wait_until(lambda: all_came(site), 60, lambda: canaries(site))
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
    wait_until(lambda: all_came(site), 60, lambda: canaries(site))
    site.front.stop()
    wait_until(lambda: any(key.startswith("canary ") for key, _ in told.run("fault")), 90, lambda: told.run())
    done = site.run("status")
    assert done.returncode == 2 and "A mail that Listrunner sent itself through the mail server" in done.stdout
    wait_until(lambda: {f"canary {slice}" for slice in range(SLICES)} <= set(told.keys("fault") or ()), 60,
               lambda: (told.run(), told.posted))
    # A start tells nothing twice.
    site.stop()
    site.start()
    site.front.start()
    wait_until(lambda: {f"canary {slice}" for slice in range(SLICES)} <= set(told.keys("gone") or ()), 120,
               lambda: (told.run(), told.posted, canaries(site)))
    for state in ("fault", "gone"):
        keys = [key for key in told.keys(state) if key.startswith("canary ")]
        assert keys == sorted(set(keys)), (state, keys)
    line = next(text for key, text in told.run("fault") if key == "canary 0")
    assert line.startswith(f"{HOST}: A mail that Listrunner sent itself") and "listrunner probe" in line, line


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
