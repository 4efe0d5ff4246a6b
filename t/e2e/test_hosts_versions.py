# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Hosts are upgraded one after the other: programs work on the schema of the next version, which they do not know, and
refuse that of a version that is no neighbour. The later version is played by the steps that it would apply."""
import json
import re

import pytest

from support import postgresql
from support.corpus import TOP
from support.instance import HOST, wait_until
from support.post import post
from test_hosts import ANNE, BOB, CORA, WORKERS, arrived, hosts, recipient_code, send, states
from test_hosts import pair, server  # noqa: F401: fixtures

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

KNOWN = len(sorted((TOP / "store" / "schema").glob("[0-9]*.sql")))
EXPANDS = [  # a table, a column in each table that posts and people go through, an index
    *(f"ALTER TABLE site.{table} ADD COLUMN later_{table} bigint NOT NULL DEFAULT 7"
      for table in ("list", "member", "address", "person", "held", "effect", "message_id", "digest", "digest_post",
                    "pending", "host", "claim", "job", "outbox_unit", "outbox", "bounce", "list_setting", "domain")),
    "CREATE TABLE site.later (list bigint PRIMARY KEY REFERENCES site.list (key) ON DELETE CASCADE)",
    "CREATE INDEX later_member ON site.member (joined_at)"]


def apply(server, number, statements, least):  # noqa: F811
    """Do what a program that knows the step does, without its programs."""
    server.sql(*statements, f"INSERT INTO site.schema_migration VALUES ({number}, 'later', 1)",
               *([f"INSERT INTO site.schema_least VALUES ({number}, {least})"] if least else []),
               "GRANT ALL ON ALL TABLES IN SCHEMA site TO listrunner", database="listrunner")


def forget(server, number):  # noqa: F811
    server.sql(f"DELETE FROM site.schema_migration WHERE number = {number}",
               f"DELETE FROM site.schema_least WHERE number = {number}", database="listrunner")


def use(host, name, sink):
    """Everything that a site does each day, on one host."""
    host.create_list(name, members=[ANNE], owner="owner@example.com",
                     settings=["default_nonmember_action=hold", "digests_enabled=true", "digest_size_threshold=0"])
    host.add_members(f"{name}@{HOST}", [BOB, CORA])
    host.cli("member", "set", f"{name}@{HOST}", CORA, "--delivery-mode", "mime_digests")
    host.cli("list", "set", f"{name}@{HOST}", f"description=The list {name}")
    host.lmtp_send(post(sender=ANNE, subject=f"{name} member", to=f"{name}@{HOST}"), f"{name}@{HOST}")
    host.lmtp_send(post(subject=f"{name} stranger", to=f"{name}@{HOST}"), f"{name}@{HOST}")
    host.lmtp_send(f"From: dora@example.org\r\nTo: {name}-join@{HOST}\r\nSubject: x\r\n"
                   f"Message-ID: <join-{name}@x>\r\n\r\n".encode(), f"{name}-join@{HOST}", sender="dora@example.org")
    host.wait_idle()
    held = {row["subject"]: row["number"] for row in map(json.loads, host.cli("held", "ls", "--json").splitlines())}
    host.cli("held", "accept", str(held[f"{name} stranger"]))
    host.wait_idle()
    host.cli("digest", "send", f"{name}@{HOST}")
    host.wait_idle()
    host.cli("list", "try", f"{name}@{HOST}", "subject_prefix=[x] ")
    assert host.set_aside() == [], host.log_text()
    counts = arrived(sink)
    for subject in (f"{name} member", f"{name} stranger"):
        assert {to: counts[to, subject] for to in (ANNE, BOB, CORA)} == {ANNE: 1, BOB: 1, CORA: 0}, counts
    assert any(to == CORA and "igest" in subject for to, subject in counts), counts
    assert any(to == "dora@example.org" for to, _ in counts), counts
    assert "error" not in re.sub(r"errors?=0", "", host.log_text()), host.log_text()


def test_the_version_before_works_on_the_next_schema(pair, server, sink):  # noqa: F811
    """It goes on, starts anew, and does all that it did; what it does not know of stays as it is."""
    a, b = pair
    apply(server, KNOWN + 1, EXPANDS, KNOWN)
    use(a, "before", sink)  # it was open
    b.stop()
    b.start()
    use(b, "after", sink)
    wait_until(lambda: states(a) == {"a": "living", "b": "living"}, 30, "both to live")
    assert hosts(a)["b"]["connections"] > 0
    assert hosts(a)["b"]["schema"] == hosts(a)["a"]["schema"] > 0
    wait_until(lambda: b.run("status").returncode == 0, 30, lambda: b.run("status").stdout)
    assert b.run("store", "check").returncode == 0, b.run("store", "check")
    assert server.sql("SELECT DISTINCT later_member FROM site.member", database="listrunner") == ["7"]
    a.stop()
    b.stop()
    copied = b.run("store", "copy", "configured", b.directory / "lib" / "copy.db")
    assert copied.returncode == 78 and "copy it by the newer version" in copied.stderr, copied


@pytest.mark.parametrize("least", [KNOWN + 1, None], ids=["contracted", "says nothing"])
def test_a_version_that_is_no_neighbour_refuses(pair, server, sink, least):  # noqa: F811
    """It says so in one sentence and changes nothing, and its mail waits in front; the host that runs goes on until it
    is started anew."""
    a, b = pair
    send(a, "before")  # so that all programs of a have the database open
    a.wait_idle()
    apply(server, KNOWN + 1, EXPANDS, KNOWN)
    apply(server, KNOWN + 2, [], least)
    sentence = (f"has schema {KNOWN + 2}, but this program knows only up to {KNOWN} and is too old for it: it was used "
                "by a newer version; install that version")
    b.stop()
    b.start(wait=False)
    wait_until(lambda: all(re.search(rf"{runner}\[0\]: error: .*{re.escape(sentence)}", b.log_text())
                           for runner in (*(name for name in WORKERS if name not in ("out", "archive")), "host")), 30,
               lambda: f"all to refuse: {b.log_text()[-3000:]}")
    assert recipient_code(b) == 451
    refused = b.run("list", "ls")
    assert refused.returncode == 78 and sentence in refused.stderr and refused.stderr.count("\n") == 1, refused
    warned = b.run("config", "check")
    assert warned.returncode == 0 and sentence in warned.stderr, warned
    send(a, "goes on")
    a.wait_idle()
    assert arrived(sink) == {(to, subject): 1 for to in (ANNE, BOB) for subject in ("before", "goes on")}
    forget(server, KNOWN + 2)
    b.wait_ready(90)
    wait_until(lambda: recipient_code(b) == 250, 30, "b to take mail")
    send(b, "as well")
    wait_until(lambda: arrived(sink)[BOB, "as well"] == 1, 60, "the mail")
