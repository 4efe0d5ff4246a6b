# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A system that allows few open files: a backlog for many lists is worked off in smaller batches, without a fault."""
from support.instance import HOST
from support.post import post

MEMBERS = ["a@members.example.org", "b@members.example.org"]
HELD_UP = ("in", "pipeline", "archive", "out")
LISTS, POSTS, FILES = 60, 240, 200


def test_backlog_for_many_lists(instances, sink):
    instance = instances(sink.port, settings={f"runner.{name}": {"start": "no"} for name in HELD_UP})
    instance.wrapper = ["prlimit", f"--nofile={FILES}:{FILES}", "--"]
    instance.start()
    addresses = [instance.create_list(f"list{number}", MEMBERS) for number in range(LISTS)]
    names, client = [], instance.lmtp()
    for number in range(POSTS):
        names.append(f"<{number}@example.net>")
        instance.lmtp_send(post(message_id=names[-1], to=addresses[number % LISTS]), addresses[number % LISTS],
                           client=client)
    instance.set({f"runner.{name}": {"start": "yes"} for name in HELD_UP})
    instance.cli("reload")
    instance.wait_idle(120)
    log = instance.log_text()
    # inotify is refused where the system has too few for all tests that run at this time.
    faults = [line for line in log.splitlines()
              if "open files" in line and "at most" not in line and "inotify" not in line]
    assert not faults, faults[:5]
    assert "at most" in log and not instance.set_aside()
    copies = sink.copies()
    assert sorted(copies.elements()) == sorted((name, member) for name in names for member in MEMBERS)
    for number in range(LISTS):
        box = instance.archive / "maildir" / f"list{number}.{HOST}" / "new"
        assert len(list(box.iterdir())) == POSTS // LISTS
        assert (instance.archive / "mbox" / f"list{number}.{HOST}.mbox").read_bytes().count(b"\nMessage-ID: ") == \
            POSTS // LISTS
