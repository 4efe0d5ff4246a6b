# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Changes and their mail are made together, and one that is stuck keeps no other from being made."""
import contextlib
import sqlite3
import time

import pytest

from support import rest
from support.instance import HOST, wait_until
from support.post import post
from support.rest import Rest

pytestmark = [pytest.mark.sqlite, pytest.mark.main]

ANNE = "anne@example.org"
STUCK, UNDECIDED = "0123456789abcdef" * 2, "fedcba9876543210" * 2


def prepared(instance, queue, tag, number):
    """A file as a killed change leaves it, which holds a letter that the instance wrote."""
    folder = instance.spool / queue
    path = folder / f"{time.time():.6f}+{str(number) * 40}.unit={tag}.tmp"
    path.write_bytes(b"no whole entry")
    instance.own(path)
    return path


def change(instance, sql, values=()):
    with contextlib.closing(sqlite3.connect(instance.directory / "lib" / "listrunner.db", timeout=60)) as database:
        with database:
            return database.execute(sql, values).fetchall()


def test_one_that_is_stuck_holds_nothing_up(tmp_path):
    """A committed unit cannot be put into its queue, whose directory nobody may write into; and one that was never
    decided lies there, too."""
    with rest.site(tmp_path, {"runner.virgin": {"start": "no"}}) as instance:
        address = instance.create_list("test", settings=["default_nonmember_action=hold"])
        instance.create_list("other", owner="owner@example.net")
        instance.lmtp_send(post(message_id="<1@example.net>", to=address), address)
        number, = wait_until(lambda: instance.cli("held", "ls", "--names").split(), 20, "the post to be held")
        instance.run_job("outbox")
        folder = instance.spool / "virgin"
        wait_until(folder.exists, 10, "the queue")
        files = [prepared(instance, "virgin", STUCK, 1), prepared(instance, "virgin", UNDECIDED, 2)]
        folder.chmod(0o550)
        try:
            change(instance, "INSERT INTO outbox_unit VALUES (?, 'virgin', 1700000000000000, 0, 0, ?)",
                   [STUCK, (instance.spool / ".id").read_text().strip()])
            instance.cli("held", "discard", number)
            instance.cli("ban", "add", "spam@example.org")
            before = instance.pids("rest")
            instance.kill_runner("rest")
            wait_until(lambda: instance.pids("rest") not in ([], before), 20, "rest to be back")
            api = Rest(instance)
            wait_until(lambda: api.call("GET", "lists").status == 200, 20, "rest to answer")
            assert api.call("POST", "bans", email="more@example.org").status == 201
            made = api.call("POST", "members", list_id=f"test.{HOST}", subscriber=ANNE, pre_verified="true",
                            pre_confirmed="true", pre_approved="true", send_welcome_message="true")
            assert made.status == 201, "the letter waits in the database until it can be written"
            assert ANNE in instance.cli("member", "ls", address)
            assert change(instance, "SELECT count(*) FROM outbox_unit WHERE queues = '* virgin'") == [(1,)]
            assert "nobody has made sure" in instance.run("status").stdout
        finally:
            folder.chmod(0o750)
        instance.run_job("outbox")
        assert files[0].with_name(files[0].name[:58] + ".msg").exists()
        assert not files[0].exists() and not files[1].exists()
        assert sum(ANNE.encode() in path.read_bytes() for path in folder.glob("*.msg")) == 1, "the letter that waited"
        assert change(instance, "SELECT * FROM outbox_unit") == []
