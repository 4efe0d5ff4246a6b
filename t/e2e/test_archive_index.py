# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The index that a maildir archiver keeps beside its posts: each post once, whatever happens to it or to the runner."""
import contextlib
import os
import signal
import sqlite3

import pytest

from support.instance import HOST, wait_until
from support.post import post

pytestmark = pytest.mark.main

LISTS = ("cats", "dogs")


def make(instances, sink):
    instance = instances(sink.port)
    instance.set({"archiver.maildir": {"index": "yes"}})
    instance.start()
    for name in LISTS:
        instance.create_list(name, ["anne@example.org"], settings=["subject_prefix="])
    instance.index = instance.archive / "maildir" / ".index" / "index.db"
    return instance


def send(instance, name, number, answers=None):
    extra = [f"References: <{name}-{answers}@example.net>"] if answers is not None else []
    instance.lmtp_send(post(to=f"{name}@{HOST}", message_id=f"<{name}-{number}@example.net>", extra=extra,
                            subject=f"Number {number}"), f"{name}@{HOST}")


def rows(instance):
    """{list: (posts, threads, subjects in order)} as the index has them."""
    with contextlib.closing(sqlite3.connect(f"file:{instance.index}?mode=ro", uri=True)) as index:
        return {name: (posts, index.execute("SELECT count(*) FROM thread WHERE list = ? AND posts > 0",
                                            (number,)).fetchone()[0],
                       [row[0] for row in index.execute("SELECT subject FROM message WHERE list = ? ORDER BY id",
                                                        (number,))])
                for number, name, posts in index.execute("SELECT number, name, posts FROM list")}


def test_each_post_once(instances, sink):
    instance = make(instances, sink)
    for number, answers in ((2, 1), (1, None), (3, None)):  # an answer that comes before its question
        for name in LISTS:
            send(instance, name, number, answers)
            instance.wait_idle()
    assert rows(instance) == {f"{name}.{HOST}": (3, 2, ["Number 2", "Number 1", "Number 3"]) for name in LISTS}
    # The runner is killed again and again; posts come all the while.
    for number in range(4, 24):
        send(instance, LISTS[number % 2], number)
        if number % 4 == 0:
            for pid in instance.pids("archive"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    instance.wait_idle()
    wait_until(lambda: sum(posts for posts, _, _ in rows(instance).values()) == 26, 60, "all posts in the index")
    for _, _, subjects in rows(instance).values():
        assert len(set(subjects)) == len(subjects) == 13


def make_older(path):
    """Lets the index look like one of an older version."""
    with contextlib.closing(sqlite3.connect(path)) as index:
        index.execute("UPDATE schema_migration SET number = number - 1")
        index.commit()


def test_a_lost_or_damaged_index_is_made_again(instances, sink):
    """Archiving goes on meanwhile, and the log says what happened."""
    instance = make(instances, sink)
    for number in range(3):
        send(instance, "cats", number)
    instance.wait_idle()
    for harm in (lambda: instance.index.unlink(), lambda: instance.index.write_bytes(b"no database\n" * 1000),
                 lambda: make_older(instance.index)):
        before = rows(instance)[f"cats.{HOST}"][0]
        instance.stop()
        harm()
        for leftover in ("-wal", "-shm"):
            instance.index.with_name(instance.index.name + leftover).unlink(missing_ok=True)
        instance.own(instance.index.parent)
        instance.start()
        send(instance, "cats", f"after {before}")
        instance.wait_idle()

        def whole():
            try:
                return rows(instance).get(f"cats.{HOST}", (0,))[0] == before + 1
            except sqlite3.DatabaseError:
                return False
        wait_until(whole, 60, lambda: f"the index to be made again: {instance.log_text()[-1500:]}")
    assert not instance.set_aside()
