# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The spool of a host that died is worked by another one, under the dead host's name, and never by two masters."""
import signal
import subprocess

import pytest

from support import postgresql
from support.instance import prefix, wait_until
from test_hosts import die, hosts, server, states  # noqa: F401: server is a fixture
from test_hosts_limits import MEMBERS, counter, pair, send  # noqa: F401: fixtures

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

NAME = "b.example.com"


@pytest.fixture
def stuck(pair, counter):  # noqa: F811
    """Host b died with mail in its spool, and a lives; its lease has ended."""
    a, b = pair
    a.start()
    b.start()
    counter.open.clear()
    send(b, "from b")
    wait_until(lambda: counter.held() > 0, 60, "mail of b to be under way")
    refused = a.run("host", "adopt", NAME, "--spool", b.spool)
    assert refused.returncode == 1 and "lives: nobody else may work its spool" in refused.stderr, refused
    die(b)
    wait_until(lambda: states(a)["b"] == "dead", 30, "the lease of b to end")
    return a, b


def adopt(a, b):
    command = [prefix() / "bin" / "listrunner", "--config", a.config, "host", "adopt", NAME, "--spool", b.spool]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def takes_mail(instance):
    with instance.lmtp() as client:
        client.ehlo_or_helo_if_needed()
        return client.mail("x@example.net")[0] == 250


def test_adopted(stuck, counter):  # noqa: F811
    """All its mail goes out once, and then it may come back."""
    a, b = stuck
    epoch = hosts(a)["b"]["epoch"]
    one = adopt(a, b)
    wait_until(lambda: hosts(a)["b"]["epoch"] > epoch, 60, "the next epoch of b")
    wait_until(lambda: counter.held() > 0, 60, "its mail to be under way again")
    wait_until(lambda: states(a) == {"a": "living", "b": "draining"}, 30, "b to be drained")
    second = a.run("host", "adopt", NAME, "--spool", b.spool)
    assert second.returncode == 1 and "lives" in second.stderr, second
    b.start(wait=False)
    assert b.process.wait(120) != 0
    assert "has a master already" in b.log_text()
    counter.open.set()
    out, log = one.communicate(timeout=120)
    assert one.returncode == 0 and f"The spool of {NAME} is empty." in out, (one.returncode, out, log[-3000:])
    assert sorted(counter.taken) == sorted(MEMBERS), "each once: none was answered before b died"
    assert states(a)["b"] == "stopped"
    b.start()
    a.cli("host", "drain", "--undo", NAME)
    wait_until(lambda: states(a) == {"a": "living", "b": "living"}, 30, "b to be back")
    wait_until(lambda: takes_mail(b), 30, "b to hear of that")
    send(b, "again", "other")
    wait_until(lambda: len(counter.taken) == len(MEMBERS) + 2, 60, "its mail")


def test_not_by_two(stuck, server, counter):  # noqa: F811
    """Where no lock reaches, as from another machine or in a copy: who has no lease and epoch takes nothing. One that
    is told to end goes on when it is given again."""
    a, b = stuck
    copy = b.directory / "copy"
    subprocess.run(["cp", "-a", b.spool, copy], check=True)  # with its owner
    one = adopt(a, b)
    wait_until(lambda: states(a)["b"] == "draining", 60, "b to be adopted")
    wait_until(lambda: counter.held() > 0, 60, "its mail to be under way again")
    one.send_signal(signal.SIGTERM)
    counter.open.set()
    out, log = one.communicate(timeout=120)
    assert one.returncode in (0, 1), (one.returncode, out, log[-3000:])
    wait_until(lambda: states(a)["b"] == "stopped", 30, "the lease to be given back")
    b.spool, original = copy, b.spool
    b.set({"spool": {"directory": copy}})
    b.start(wait=False)
    wait_until(lambda: "is older than the last start of" in b.log_text(), 30, "the copy to be refused")
    b.stop()
    b.spool = original
    b.set({"spool": {"directory": original}})
    server.sql(f"UPDATE site.host SET boot = 'elsewhere', lease_until = 9000000000000000 WHERE name = '{NAME}'",
               database="listrunner")
    refused = a.run("host", "adopt", NAME, "--spool", b.spool)
    assert refused.returncode == 1 and "lives" in refused.stderr
    b.start(wait=False)
    wait_until(lambda: f"the spool is worked, as {NAME}, by another machine" in b.log_text(), 30, "b to be refused")
    b.stop()
    server.sql(f"UPDATE site.host SET lease_until = 1 WHERE name = '{NAME}'", database="listrunner")
    last = adopt(a, b)
    out, log = last.communicate(timeout=120)
    assert last.returncode == 0, (out, log[-3000:])
    assert sorted(counter.taken) == sorted(MEMBERS)


def test_wrong_words(stuck, counter):  # noqa: F811
    """Another host's spool, no spool, no such host."""
    a, b = stuck
    counter.open.set()
    foreign = a.run("host", "adopt", NAME, "--spool", a.spool)
    assert foreign.returncode == 78 and f"is not that of the host {NAME}" in foreign.stderr, foreign
    assert a.run("host", "adopt", "c.example.com", "--spool", b.spool).returncode == 66
    assert a.run("host", "adopt", NAME, "--spool", a.directory).returncode == 66
    assert a.run("host", "adopt", NAME).returncode == 64
    assert not (a.directory / ".id").exists()
