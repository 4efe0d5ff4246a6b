# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A backup that is made while posts go through holds spool and database of one moment: what the spool had then is
delivered once by the site that it is restored to, on two lists."""
import shutil
import signal
import subprocess
import threading

import pytest

from support.instance import HOST, prefix, wait_until

pytestmark = pytest.mark.sqlite


def post(instance, address, number):
    name = address.partition("@")[0]
    instance.lmtp_send(f"From: p@example.net\r\nTo: {address}\r\nSubject: post {number}\r\n"
                       f"Message-ID: <{name}.{number}@example.net>\r\n\r\nHello.\r\n".encode(), address)


def restore(instance, backup):
    """As doc/running.md says."""
    shutil.rmtree(instance.spool)
    instance.spool.mkdir()
    instance.own(instance.spool)
    for path in instance.sections["store"]["path"].parent.glob("listrunner.db*"):
        path.unlink()
    subprocess.run(["cp", "-a", f"{backup}/spool/.", f"{instance.spool}/"], check=True)
    subprocess.run(["cp", "-a", backup / "listrunner.db", instance.sections["store"]["path"]], check=True)


def test_one_moment(instances, sink):
    """Posts before the backup are delivered or in it, each once; posts after it that the backup cannot know are
    not doubled either."""
    instance = instances(sink.port).start()
    lists = [instance.create_list(name, [f"a@{name}.example.org", f"b@{name}.example.org"]) for name in ("one", "two")]
    before, ended = [0], threading.Event()

    def flood():
        while not ended.is_set():
            for address in lists:
                post(instance, address, before[0])
            before[0] += 1
    thread = threading.Thread(target=flood)
    thread.start()
    try:
        wait_until(lambda: before[0] > 20, 60, "posts to go through")
        sure = before[0]  # these were accepted before the backup began
        backup = instance.directory / "backup"
        instance.cli("backup", backup)
        after = before[0]
        wait_until(lambda: before[0] > after + 5, 60, "posts to go on")
    finally:
        ended.set()
        thread.join()
    instance.wait_idle()
    assert instance.stop() == 0
    assert not (instance.spool / ".backup").exists()
    assert (backup / "manifest").exists() and not (backup / "begun").exists()
    assert (backup / "files" / instance.config.relative_to("/")).read_text() == instance.config.read_text()
    gone = sink.transactions()
    assert len({(tuple(mail.to), mail.octets) for mail in gone}) == len(gone)
    restore(instance, backup)
    instance.start()
    instance.wait_idle()
    assert not instance.set_aside()
    again = sink.transactions()[len(gone):]
    assert len({(tuple(mail.to), mail.octets) for mail in again}) == len(again), "none twice by the restored site"
    known = {row for row, in database(instance, "SELECT message_id FROM message_id")}
    for name in ("one", "two"):
        there = [any(f"{name}.{n}@example.net" in row for row in known) for n in range(before[0])]
        assert all(there[:sure]), "accepted before the backup, and not known to what was restored"
        assert there == sorted(there, reverse=True), "one is missing between others: they are not of one moment"


def database(instance, sql):
    with instance.database() as store:
        return list(store.execute(sql))


def test_begun_anew(instances, sink):
    """What is there is never written over; a backup that was killed is begun anew, and the site works on."""
    instance = instances(sink.port).start()
    lists = [instance.create_list(name, ["a@example.org"]) for name in ("one", "two")]
    backup = instance.directory / "backup"
    program = prefix() / "bin" / "listrunner"
    for _ in range(5):
        killed = subprocess.Popen([program, "--config", instance.config, "backup", backup])
        wait_until(lambda: backup.exists() or killed.poll() is not None, 20, "the backup to begin")
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        if (backup / "manifest").exists():
            shutil.rmtree(backup)
    for number, address in enumerate(lists):
        post(instance, address, number)
    wait_until(lambda: len(sink.transactions()) == 2, 60, "mail to be delivered after that")
    instance.cli("backup", backup)
    assert (backup / "manifest").exists()
    refused = instance.run("backup", backup)
    assert refused.returncode == 1 and str(backup) in refused.stderr, refused
    assert instance.run("backup", "/dev/full/backup").returncode == 75
    assert HOST in (backup / "files" / instance.config.relative_to("/")).read_text()
