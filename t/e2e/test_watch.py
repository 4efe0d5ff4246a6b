# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A mail that Listrunner sends itself through a Postfix, and faults of which a program and a web server are told: once
each, and once when they are gone."""
import http.server
import json
import re
import threading

import pytest

from support import postfix
from support.instance import HOST, free_port, need, wait_until

STAMP = r"\d{4}-\d\d-\d\dT[\d:]+Z"


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
        "runner.in": {"instances": 2}, "runner.out": {"instances": 2}})
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


def canary(site):
    return site.status().get("canary") or {}


def came(site):
    return canary(site).get("back_at") is not None


def told_of_canary(site, state):
    return "canary" in (site.told.keys(state) or ())


def test_mail_goes_out_and_comes_back(site):
    site.start()
    wait_until(lambda: site.log_text().count("to see it come back") > 2 and came(site), 120, lambda: canary(site))
    assert re.search(r"^Mail that Listrunner sends itself .* came back last: \d+\w ago$", site.run("status").stdout,
                     re.M), site.run("status").stdout
    # The lists keep none of them.
    assert "listrunner-canary" not in site.cli("held", "ls")
    assert re.search(r"^listrunner_canary_missing_seconds \S+$", site.cli("metrics"), re.M), site.cli("metrics")
    lists = site.cli("list", "show", f"listrunner-canary@{HOST}")
    assert re.search(r"advertised\W+(no|false)", lists), lists


def test_a_mail_server_that_stops_is_told_once(site):
    told = site.told
    site.start()
    wait_until(lambda: came(site), 120, lambda: canary(site))
    site.front.stop()
    wait_until(lambda: told_of_canary(site, "fault"), 120, lambda: (told.run(), told.posted))
    done = site.run("status")
    assert done.returncode == 2 and "No mail that Listrunner sent itself through the mail server has" in done.stdout
    assert canary(site)["missing"], canary(site)
    # A start tells nothing twice.
    site.stop()
    site.start()
    site.front.start()
    wait_until(lambda: told_of_canary(site, "gone"), 180,
               lambda: (told.run(), told.posted, canary(site)))
    for state in ("fault", "gone"):
        assert told.settled(state).count("canary") == 1, (state, told.run())
    line = next(text for key, text in told.run("gone") if key == "canary")
    past = rf"This was so from {STAMP} to {STAMP}, and is over: No mail that Listrunner sent itself"
    assert re.match(rf"{HOST}: {past}", line) and "probe" not in line, line
    posted = next(one for one in told.posted if (one["state"], one["key"]) == ("gone", "canary"))
    assert re.match(past, posted["text"]) and "mend" not in posted, posted
    line = next(text for key, text in told.run("fault") if key == "canary")
    assert line.startswith(f"{HOST}: No mail that Listrunner sent itself") and "listrunner probe" in line, line


def test_what_cannot_be_told_is_told_later(site):
    """Mail for a queue that nobody works, beside a web server that is broken."""
    told = site.told
    told.status = 500
    site.set({"watch": {"canary": None}, "runner.watch": {"start": "yes"}, "runner.archive": {"start": "no"}})
    site.start()
    assert not came(site)
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
