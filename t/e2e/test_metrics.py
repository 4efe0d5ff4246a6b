# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Figures for Prometheus: of the command line, and of the control socket as a scraper asks it."""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from support import rest
from support.corpus import TOP
from support.instance import HOST, wait_until
from support.post import post

FEW = 20
TWO = {"runner.out": {"instances": 2}}


class UnixHTTP(http.client.HTTPConnection):
    """HTTP as a scraper speaks it, over a UNIX socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def scrape(path, page="/metrics"):
    """Status, type and text of a page on a control socket."""
    client = UnixHTTP(path)
    with contextlib.closing(client):
        client.request("GET", page, headers={"Accept": "text/plain"})
        reply = client.getresponse()
        return reply.status, reply.getheader("Content-Type"), reply.read().decode()


def families_of(text):
    """Names of the families of a text for Prometheus, of which each is whole and in one piece."""
    found = []
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            found.append(line.split()[2])
        elif not line.startswith("#"):
            assert line.startswith(found[-1]), line
            float(line.rsplit(" ", 1)[1])
    assert len(found) == len(set(found))
    return found


@pytest.mark.main
def test_metrics(instances, sinks):
    sink = sinks()
    instance = instances(sink.port, settings=TWO).start()
    address = instance.create_list("test", [f"m{number}@example.org" for number in range(FEW)])
    instance.lmtp_send(post(to=address, message_id="<1@metrics.example.net>", body="x\n"), address)
    instance.wait_idle()
    text = instance.cli("metrics")
    lines = text.splitlines()
    sent = [line for line in lines if line.startswith("listrunner_destination_sent_total{")]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in sent) == FEW
    assert 'transport="relay",destination="relay",instance="' in sent[0]
    assert {f'listrunner_up{{runner="out",instance="{number}"}} 1' for number in (0, 1)} <= set(lines)
    families = families_of(text)
    seen = [known for known in instance.status()["destinations"] if known["sent"]]
    assert sum(known["sent"] for known in seen) == FEW
    assert all(known["seconds"]["count"] == known["transactions"] for known in seen)

    path = instance.directory / "run" / "control.sock"
    status, kind, page = scrape(path)
    assert status == 200 and kind.startswith("text/plain; version=0.0.4")
    of_store = ("_account_", "_fragment_", "_held_", "_leave_brake", "_strangers", "_moderator_requests",
                "_task_", "_outbox_", "_source_", "_template_")
    assert set(families_of(page)) == {name for name in families if not any(word in name for word in of_store)}
    assert set(sent) <= set(page.splitlines())
    assert scrape(path, "/other")[0] == 404


def test_metrics_beside_one_that_hangs(instances, sinks):
    """The master answers, with what the others know, and says who did not."""
    instance = instances(sinks().port, settings=TWO).start()
    path = instance.directory / "run" / "control.sock"
    hung = next(child["pid"] for runner in instance.status()["runners"] if runner["runner"] == "out"
                for child in runner["children"] if child["instance"] == 1)
    os.kill(hung, signal.SIGSTOP)
    try:
        with socket.socket(socket.AF_UNIX) as client:  # replies come in order, also behind one that takes its time
            client.settimeout(30)
            client.connect(str(path))
            client.sendall(b'{"verb":"metrics"}\n{"verb":"status"}\n{"verb":"nothing"}\n')
            client.shutdown(socket.SHUT_WR)
            replies = [json.loads(line) for line in client.makefile()]
        metrics, status, refused = replies
        assert metrics["ok"] and metrics["fault"] == "out-1 does not answer"
        assert 'listrunner_up{runner="out",instance="1"} 1' in metrics["metrics"].splitlines()
        assert status["ok"] and status["runners"] and not refused["ok"]
        assert scrape(path)[2].splitlines()[-1] == "# out-1 does not answer"
        result = instance.run("metrics")
        assert result.returncode == 1 and "out-1 does not answer" in result.stderr
    finally:
        os.kill(hung, signal.SIGCONT)
    wait_until(lambda: scrape(path)[2].splitlines()[-1][0] != "#", 30, "the figures of both")


def test_a_body_that_a_token_may_not_send_is_not_waited_for(tmp_path):
    """It is refused by the head of the request; others are waited for, since they may send what follows."""
    with rest.site(tmp_path) as site:
        api = rest.Rest(site)
        assert api.call("POST", "domains", mail_host="example.com").status == 201
        assert api.call("POST", "lists", fqdn_listname="ant@example.com").status == 201

        def begin(*scope):
            token = site.cli("token", "create", *scope).strip()
            connection = socket.create_connection(api.place, timeout=60)
            connection.sendall(f"POST /3.1/lists HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                               "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n".encode())
            return connection

        for scope in (["--metrics"], ["--read-only"], ["--verbs", "get,patch"],
                      ["--list", "ant@example.com", "--read-only"]):
            with begin(*scope) as connection:
                answer = b"".join(iter(lambda: connection.recv(10000), b""))  # until it is closed
                assert b" 403 " in answer.split(b"\r\n")[0] and answer.count(b"HTTP/1.1") == 1, scope
        for scope in (["--list", "ant@example.com"], ["--verbs", "post"]):
            with begin(*scope) as connection:
                connection.settimeout(0.5)
                with pytest.raises(TimeoutError):
                    connection.recv(1000)


MONITORING = TOP / "etc" / "monitoring"


def of_several_hosts():
    """Figures that one host alone has not."""
    return {"listrunner_host_up"}


@pytest.mark.parametrize("name", ["listrunner-rules.yml", "listrunner-dashboard.json"])
def test_monitoring_names_figures_that_there_are(instances, sink, name):
    """Each figure of the rules for Prometheus and of the dashboard for Grafana is one of "listrunner metrics"."""
    instance = instances(sink.port, settings={"watch": {"canary": HOST, "interval": "1s"}})
    address = instance.create_list("test", ["anne@example.org"])
    instance.start()
    instance.lmtp_send(post(to=address, message_id="<1@rules.example.net>", body="x\n"), address)
    wait_until(lambda: "canary" in instance.cli("metrics"), 60, "a mail of the canary")
    there = set(families_of(instance.cli("metrics"))) | of_several_hosts()
    text = (MONITORING / name).read_text()
    named = set(re.findall(r"\blistrunner_\w+", text))
    assert len(named) > 10
    assert not {re.sub(r"_(bucket|sum|count)$", "", figure) for figure in named if figure not in there} - there
    if name.endswith(".json"):
        panels = json.loads(text)["panels"]
        assert len({panel["id"] for panel in panels}) == len(panels)
        assert all(panel["title"] and panel["targets"] for panel in panels)
        return
    # Prometheus has an own label of that name, and gives ours another one.
    assert not re.search(r"\$labels\.instance\b|\((?:\w+, *)*instance\b", text)
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "rules", MONITORING / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_commands_of_the_rules_are_there(instances, sink):
    """Each command that an alert tells a person to run is a verb of the command line."""
    instance = instances(sink.port)

    def verbs(*words):
        return [line.split("\t")[0] for line in instance.cli("help", "--words", *words).splitlines()]

    actions = re.findall(r'action: "([^"]+)"', (MONITORING / "listrunner-rules.yml").read_text())
    commands = {part.strip() for action in actions for part in action.split(";")} - {
        "journalctl -u listrunner", "systemctl status listrunner"}
    assert len(commands) > 8
    for program, verb, *rest in map(str.split, commands):
        assert program == "listrunner" and verb in verbs(), (verb, rest)
        assert not rest or rest[0] in verbs(verb), (verb, rest)
