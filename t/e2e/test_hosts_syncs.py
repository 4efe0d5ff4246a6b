# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""No file is synced in a transaction: a disk that stands still must not keep the locks of the database, for which all
hosts of the site wait. Each sync of the installed programs is noted with the state of the connection (heldsync.c)."""
import os
import shutil
import subprocess
from collections import Counter

import pytest

from support import postgresql
from support.instance import HOST, prefix, tool, wait_until
from support.post import post
from support.rest import Rest, serving
from test_hosts import server  # noqa: F401: server is a fixture

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

RUNNERS = ("lmtp", "in", "pipeline", "command", "bounces", "digest", "task", "rest", "virgin", "archive")
ANNE, BART, CORA, DORA = (f"{name}@example.org" for name in ("anne", "bart", "cora", "dora"))
LIST = f"talk@{HOST}"


class Watched:
    """The programs of an instance with the library before them, and what it has noted."""

    def __init__(self, instance):
        library = shutil.copy(tool("heldsync.so"), instance.directory)
        os.chmod(library, 0o755)
        self.instance, self.log = instance, instance.directory / "syncs"
        self.log.write_text("")
        instance.own(self.log)
        self.environment = {"LD_PRELOAD": str(library), "HELDSYNC_LOG": str(self.log)}
        for name in RUNNERS:
            script = instance.directory / f"watched-{name}"
            script.write_text(f"#!/bin/sh\nexport LD_PRELOAD={library} HELDSYNC_LOG={self.log}\n"
                              f"exec {prefix()}/libexec/listrunner/{name} \"$@\"\n")
            script.chmod(0o755)
            instance.set({f"runner.{name}": {"command": script}})

    def cli(self, *words):
        subprocess.run([prefix() / "bin" / "listrunner", "--config", self.instance.config, *words], check=True,
                       env={**os.environ, **self.environment}, stdout=subprocess.DEVNULL, timeout=180)

    def syncs(self):
        """[(held, free or none; program; path)]"""
        return [line.split(" ", 2) for line in self.log.read_text().splitlines()]


def held(instance):
    return instance.cli("held", "ls", "--names").split()


def use(watched, sink):
    """Everything that a site does: posts, digests, commands, letters, decisions, and changes by REST and the shell."""
    instance, api = watched.instance, Rest(watched.instance)
    instance.cli("member", "set", LIST, BART, "--delivery-mode", "mime_digests")
    for number in range(3):
        instance.lmtp_send(post(subject=f"{number}", to=LIST, sender=ANNE), LIST, sender=ANNE)
    wait_until(lambda: any(row["posts"] == 3 for row in instance.rows("digest", "ls", LIST)), 60, "the digest's posts")
    watched.cli("digest", "send", LIST)
    for command in ("join", "request"):
        instance.lmtp_send(post(subject="help", to=f"talk-{command}@{HOST}", sender=CORA), f"talk-{command}@{HOST}",
                           sender=CORA)
    instance.lmtp_send(post(subject="stranger", to=LIST, sender="x@example.net"), LIST, sender="x@example.net")
    instance.lmtp_send(post(subject="another", to=LIST, sender="y@example.net"), LIST, sender="y@example.net")
    wait_until(lambda: len(held(instance)) == 2, 60, "the posts to be held")
    one, other = held(instance)
    watched.cli("held", "accept", one)
    assert api.call("POST", f"lists/talk.{HOST}/held/{other}", action="reject", comment="no").status == 204
    assert api.call("POST", "members", list_id=f"talk.{HOST}", subscriber=DORA, pre_verified="true",
                    pre_confirmed="true", pre_approved="true", send_welcome_message="true").status == 201
    watched.cli("member", "add", LIST, "eve@example.org")
    instance.run_job("outbox")
    instance.run_job("held-notices")
    instance.wait_idle()
    assert any("Welcome" in letter["Subject"] for letter in sink.take_mail()[DORA])


def test_no_file_is_synced_in_a_transaction(instances, sink, server):  # noqa: F811
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site")}})
    instance.set(serving(instance.directory))
    watched = Watched(instance)
    instance.create_list("talk", members=[ANNE, BART], owner="olga@example.com",
                         settings=["default_nonmember_action=hold", "digest_size_threshold=0"])
    instance.start()
    use(watched, sink)
    syncs = watched.syncs()
    print(Counter((state, program) for state, program, _ in syncs))
    programs = {program for state, program, _ in syncs if state == "free"}
    assert {"in", "command", "digest", "rest", "task", "listrunner"} <= programs, "they ask the database, and sync"
    assert [sync for sync in syncs if sync[0] == "held"] == []
