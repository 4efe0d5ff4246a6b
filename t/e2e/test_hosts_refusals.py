# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A host refuses to work with a wrong clock, without the database, and with a spool that is another machine's."""
import http.client
import json
import re

import pytest

from support import postgresql
from support.clock import Clock
from support.instance import HOST, free_port, wait_until
from support.rest import Rest, serving
from test_hosts import ANNE, BOB, arrived, hosts, send, states, timer_of
from test_hosts import pair, server  # noqa: F401: fixtures
from test_mta import ask, question

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

HOUR = 3600


@pytest.mark.parametrize("apart, how", [(HOUR, "ahead of"), (-HOUR, "behind")])
def test_a_wrong_clock(pair, server, sink, tmp_path, monkeypatch, apart, how):  # noqa: F811
    """A host whose clock is set wrong while it runs gets no lease, and what only one may do passes to the other; when
    the clock is right again it goes on as the same start. One that is started with it waits, and says why."""
    a, b = pair
    by_name = {"a": a, "b": b}
    first = wait_until(lambda: timer_of(server), 30, "a claim to the timer's jobs")
    wrong, other = by_name[first], by_name["b" if first == "a" else "a"]
    wrong.stop()
    tmp_path.chmod(0o755)
    clock = Clock(tmp_path / "clock")
    with monkeypatch.context() as environment:
        environment.setenv("LISTRUNNER_CLOCK_FILE", str(tmp_path / "clock"))
        wrong.start()
    wait_until(lambda: states(other) == {"a": "living", "b": "living"}, 30, "both to live")
    other.cli("host", "drain", f"{'a' if first == 'b' else 'b'}.example.com")  # so that the claim is the wrong one's
    wait_until(lambda: timer_of(server) == first, 90, "the claim to come back")
    other.cli("host", "drain", "--undo", f"{'a' if first == 'b' else 'b'}.example.com")
    epoch = hosts(other)[first]["epoch"]
    clock.seconds(apart)
    wait_until(lambda: states(other)[first] == "dead", 60, "the lease to end")
    told = re.search(rf"the lease of this host is not renewed: the clock of this host is (\d+) s {how} that of the "
                     "database: set it", wrong.log_text())
    assert told and abs(int(told[1]) - HOUR) < 60, wrong.log_text()[-3000:]
    shown = re.search(rf"the clock of this host is (\d+) s {how}", " ".join(wrong.run("status").stdout.split()))
    assert shown and abs(int(shown[1]) - HOUR) < 60, wrong.run("status").stdout
    wait_until(lambda: timer_of(server) != first, 90, "the other one to take the timer over")
    send(other, "meanwhile")
    clock.seconds(0)
    wait_until(lambda: states(other) == {"a": "living", "b": "living"}, 30, "it to live again")
    assert hosts(other)[first]["epoch"] == epoch
    send(wrong, "again")
    wait_until(lambda: arrived(sink) == {(to, subject): 1 for to in (ANNE, BOB) for subject in ("meanwhile", "again")},
               60, lambda: f"the mail, not {arrived(sink)}")
    wrong.stop()
    clock.seconds(apart)
    with monkeypatch.context() as environment:
        environment.setenv("LISTRUNNER_CLOCK_FILE", str(tmp_path / "clock"))
        wrong.start(wait=False)
    wait_until(lambda: re.search(rf"host\[0\]: error: cannot start: the clock of this host is \d+ s {how} ",
                                 wrong.log_text()), 30, "the start to be refused")
    assert states(other)[first] == "stopped"
    clock.seconds(0)
    wait_until(lambda: states(other)[first] == "living", 90, "it to start by itself")


def test_no_database_to_ask(pair, server):  # noqa: F811
    """Programs that use no database start without it where this host worked the spool since the machine was started,
    under the name that it has; otherwise they wait until they can ask."""
    a, b = pair
    a.wait_idle()
    server.stop()
    refusal = "out[0]: error: cannot start: "
    assert a.kill_runner("out") == 1
    wait_until(lambda: a.pids("out") and a.log_text().count("out[0]: ready") == 2, 30, "out to start without it")
    assert refusal not in a.log_text()
    for instance, key, value in ((a, "boot", "another run of the machine"), (b, "name", "c.example.com")):
        said = json.loads((instance.spool / ".host").read_text())
        (instance.spool / ".host").write_text(json.dumps({**said, key: value}))
        assert instance.kill_runner("out") == 1
        wait_until(lambda: re.search(re.escape(refusal) + ".*Connection refused", instance.log_text()), 30,
                   lambda: f"out to wait: {instance.log_text()[-2000:]}")
    server.start()
    for instance in pair:
        instance.wait_ready(90)


def test_doors_of_a_spool_that_is_anothers(pair, server):  # noqa: F811
    """REST and pages answer 503 and change nothing, and the mail server is told to try again, while another machine
    works the spool; afterwards all answer."""
    a, b = pair
    a.stop()
    port, pages = free_port(), free_port()
    a.set({**serving(a.directory), "runner.mta": {"start": "yes", "listen": f"127.0.0.1:{port}"},
           "runner.web": {"start": "yes", "listen": f"127.0.0.1:{pages}"}})
    a.set({"site": {"hostname": "a.example.com", "web_url": f"http://127.0.0.1:{pages}"}})
    server.sql("UPDATE site.host SET boot = 'elsewhere', lease_until = 9000000000000000 WHERE name = 'a.example.com'",
               database="listrunner")
    a.start(wait=False)
    api = Rest(a)

    def asked():
        try:
            client = http.client.HTTPConnection("127.0.0.1", pages, timeout=20)
            client.request("GET", "/")
            return (ask(port, question("recipients", f"talk@{HOST}")).decode().partition(":")[2].split(" ")[0],
                    api.call("GET", "lists").status, client.getresponse().status)
        except OSError:
            return None
    assert wait_until(asked, 30, "the doors to be open") == ("TEMP", 503, 503)
    assert api.call("POST", "lists", fqdn_listname=f"new@{HOST}").status == 503
    assert api.call("PATCH", "listrunner/hosts/b.example.com", draining="yes").status == 503
    assert ":TEMP " in ask(port, question("domains", HOST)).decode()
    wait_until(lambda: "peer=127.0.0.1 result=503: the spool is worked, as a.example.com, by another machine" in
               a.log_text(), 20, "the log to tell")
    assert states(b) == {"a": "living", "b": "living"} and "new" not in b.cli("list", "ls")
    server.sql("UPDATE site.host SET lease_until = 1 WHERE name = 'a.example.com'", database="listrunner")
    wait_until(lambda: asked() == ("OK", 200, 200), 90, lambda: f"answers, not {asked()}")
