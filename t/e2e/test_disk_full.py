# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The spool is full: LMTP says 4xx, what was accepted is kept, and all goes on when there is room."""
import itertools
import mailbox
import os
import re
import shutil
import smtplib
import subprocess
import time

import pytest

from support.attempts import Accounts, Senders
from support.corpus import Mail
from support.instance import HOST, let_through, wait_until
from support.load import missing_and_repeats
from support.post import post

MEMBERS = [f"m{i}@members.example.org" for i in range(3)]
SMALL_OCTETS = 24 * 1024 * 1024


def mount_tmpfs(mount, octets):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={octets}", "tmpfs", mount],
                          stderr=subprocess.DEVNULL).returncode == 0


def unmount(mount):
    wait_until(lambda: subprocess.run(["umount", mount], stderr=subprocess.DEVNULL).returncode == 0, 20,
               "the small file system to be idle")


@pytest.fixture
def small_disk(tmp_path_factory):
    """A journaled file system of its own in a file; without loop devices a tmpfs."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    place = tmp_path_factory.mktemp("spool")
    let_through(place)
    image, mount = place / "image", place / "mnt"
    mount.mkdir()
    with open(image, "wb") as file:
        file.truncate(SMALL_OCTETS)
    mkfs = ["mkfs.ext4", "-q", "-m", "0", "-J", "size=4", image]
    made = shutil.which("mkfs.ext4") and subprocess.run(mkfs).returncode == 0
    if not made or subprocess.run(["mount", "-o", "loop", image, mount], stderr=subprocess.DEVNULL).returncode != 0:
        if not mount_tmpfs(mount, SMALL_OCTETS):
            pytest.skip("neither a loop device nor a tmpfs can be mounted here")
    yield mount
    unmount(mount)


@pytest.fixture
def small_memory(tmp_path_factory):
    """A tmpfs of its own."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    mount = tmp_path_factory.mktemp("archive")
    let_through(mount)
    if not mount_tmpfs(mount, SMALL_OCTETS):
        pytest.skip("no tmpfs can be mounted here")
    yield mount
    unmount(mount)


def use_up(path):
    """Makes a file of whatever room there is, and of what the journal gives back only when it is written."""
    with open(path, "wb", buffering=0) as file:
        for piece in (65536, 1, 65536, 1):
            os.fsync(file.fileno())
            try:
                while True:
                    file.write(b"x" * piece)
            except OSError:
                pass


def fill(instance, address, number):
    """Sends mails of 100 kB until one is refused; those accepted, and the reply."""
    accepted = []
    for i in range(number, number + 1000):
        name = f"<full-{i}@example.net>"
        mail = Mail(name, post(message_id=name, body=("x" * 70 + "\n") * 1400))
        try:
            instance.lmtp_send(mail.octets, address)
        except smtplib.SMTPRecipientsRefused as error:
            return accepted, next(iter(error.recipients.values()))
        except smtplib.SMTPResponseException as error:
            return accepted, (error.smtp_code, error.smtp_error)
        accepted.append(mail)
    raise AssertionError("1000 mails of 100 kB went into a small spool")


def told_of_space(instance):
    return "mail is refused for now (452)" in instance.run("status").stdout


@pytest.mark.parametrize("min_free", ["4M", "0"])
def test_full_and_room_again(small_disk, instances, sinks, min_free):
    """The relay is away, so mail piles up; with min_free = 0 until the file system itself refuses."""
    away = sinks()
    away.stop()
    instance = instances(away.port, spool=small_disk / "spool", settings={
        "spool": {"min_free": min_free}, "out": {"minimal_backoff_time": "1s", "maximal_backoff_time": "1s"}}).start()
    address = instance.create_list("test", MEMBERS)
    accepted, reply = fill(instance, address, 0)
    print(f"\nmin_free={min_free}: {len(accepted)} mails accepted, then {reply}")
    assert accepted and 400 <= reply[0] < 500, reply
    assert fill(instance, address, 2000)[1][0] < 500
    assert instance.process.poll() is None
    filler = small_disk / "filler"
    if min_free != "0":  # a mail is refused a little before min_free is reached
        filler.write_bytes(b"x" * 500_000)
        numbers = itertools.count(4000, 1000)  # what was under way may end and leave room: fill that, too
        wait_until(lambda: told_of_space(instance) or fill(instance, address, next(numbers)) is None, 60,
                   "status to tell that mail is refused")
    if min_free == "0":  # not an octet is left: what is inside must neither be lost nor set aside for that
        use_up(filler)
    relay = sinks(port=away.port)
    if filler.exists():
        filler.unlink()
    instance.wait_idle(180)
    missing, repeats = missing_and_repeats([key for key in relay.copies().elements()
                                            if key[0] in {m.message_id for m in accepted}],
                                           accepted, MEMBERS)
    assert not missing and not repeats, (missing[:3], repeats)
    assert not instance.set_aside()
    instance.lmtp_send(post(message_id="<room@example.net>"), address)
    instance.wait_idle()
    wait_until(lambda: not told_of_space(instance), 20, "status to tell no more of the space")
    assert relay.copies()["<room@example.net>", MEMBERS[0]] == 1


def test_archive_disk_full(small_disk, instances, sink):
    """Only the archive has no room: the members get their copies at once, the archive each post once when it has."""
    instance = instances(sink.port)
    place = small_disk / "archive"
    place.mkdir()
    instance.own(place)
    instance.set({"archiver.maildir": {"path": place / "maildir"}, "archiver.mbox": {"path": place / "mbox"},
                  "archiver.program": {"type": "command", "command": f"/usr/bin/tee -a {instance.directory}/output"}})
    output = instance.directory / "output"
    output.touch()
    instance.own(output)
    instance.start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<before@example.net>"), address)
    instance.wait_idle()
    use_up(small_disk / "filler")
    names = [f"<tight-{i}@example.net>" for i in range(20)]
    for name in names:
        instance.lmtp_send(post(message_id=name, body=("x" * 70 + "\n") * 200), address)
    wait_until(lambda: len(sink.copies()) == (len(names) + 1) * len(MEMBERS), 30, "the members' copies")
    wait_until(lambda: "No space left" in instance.log_text(), 30, "the archive to complain")
    (small_disk / "filler").unlink()
    instance.wait_idle(60)
    wanted = sorted(["<before@example.net>", *names])
    name = f"test.{HOST}"
    assert sorted(mail["Message-ID"] for mail in mailbox.mbox(place / "mbox" / f"{name}.mbox", create=False)) == wanted
    assert sorted(mail["Message-ID"] for mail in mailbox.Maildir(place / "maildir" / name, create=False)) == wanted
    assert sorted(re.findall("Message-ID: (<.*>)", output.read_text())) == wanted, "the program ran once for each"
    assert not instance.set_aside()


def test_archive_disk_full_again_and_again(small_memory, instances, sink):
    """The archive's disk has room and has none, by turns, while posts keep coming: those that come again share their
    batches with fresh ones. Each post is in each archive once."""
    instance = instances(sink.port, settings={"runner.archive": {"instances": 1}})
    place = small_memory / "archive"
    place.mkdir()
    instance.own(place)
    instance.set({"archiver.maildir": {"path": place / "maildir"}, "archiver.mbox": {"path": place / "mbox"}})
    instance.start()
    lists = {instance.create_list(name, MEMBERS[:1]): MEMBERS[:1] for name in ("test", "other")}
    senders, filler = Senders(instance, lists, 1, count=2, pause=0.004), small_memory / "filler"
    senders.start()

    def failed():
        return instance.log_text().count("result=batch-failed")
    for full, room in ((2.2, 0.2), (3.3, 0.1)):  # what is tried again after a second finds it full, too
        use_up(filler)
        begun = failed()
        time.sleep(full)
        wait_until(lambda: failed() > begun, 60, "a batch to fail")
        filler.unlink()
        time.sleep(room)
    senders.stop()
    wait_until(lambda: instance.run("queue", "edit-due", "now", "--queue", "archive") and instance.idle(), 60,
               "the archive to have all")
    accounts = Accounts(senders.attempts, lists, sink.transactions(), [place / "maildir"], [place / "mbox"])
    print(f"\n{accounts.accepted} posts")
    assert not accounts.faults, accounts.faults[:10]
    assert not instance.set_aside()


def test_archive_queue_full(small_disk, instances, sink):
    """One archiver has done its work, the copy that another keeps for later finds no room in the queue: the post comes
    again, and who has stored it is not asked again."""
    instance = instances(sink.port, spool=small_disk / "spool", settings={
        "spool": {"min_free": "0"}, "runner.archive": {"start": "no"}})
    output, away = instance.directory / "output", instance.directory / "away"
    output.touch()
    away.touch()
    instance.own(output)
    instance.set({"archiver.program": {"type": "command", "command": f"/usr/bin/tee -a {output}"},
                  "archiver.away": {"type": "command", "command": f"/bin/sh -c '! [ -e {away} ] || exit 75'"}})
    instance.start()
    address = instance.create_list("test", MEMBERS)
    instance.lmtp_send(post(message_id="<tight@example.net>"), address)
    wait_until(lambda: list(instance.under_way()) == ["archive"], 30, "all else to end")
    use_up(small_disk / "filler")
    instance.set({"runner.archive": {"start": "yes"}})
    instance.cli("reload")
    wait_until(lambda: instance.log_text().count("queue=archive result=later") >= 3, 30, "the hop to fail three times")
    away.unlink()
    (small_disk / "filler").unlink()
    instance.wait_idle(60)
    assert re.findall("Message-ID: (<.*>)", output.read_text()) == ["<tight@example.net>"]
    assert not instance.set_aside()


def test_trail_full(small_memory, instances, sink):
    """The trail's own disk is full: posts go out all the same, status and its exit code tell it, the metrics count it,
    and it ends by itself when there is room."""
    instance = instances(sink.port, settings={"trail": {"directory": small_memory / "trail"}}).start()
    lists = [instance.create_list(name, MEMBERS) for name in ("one", "two")]
    assert instance.run("status").returncode == 0
    filler = small_memory / "filler"
    use_up(filler)
    for i, address in enumerate(lists):
        instance.lmtp_send(post(message_id=f"<trail-{i}@example.net>"), address)

    def told():
        done = instance.run("status")
        lines = [line for line in done.stdout.splitlines() if "the trail cannot be written since" in line]
        assert bool(lines) == (done.returncode != 0), done.stdout
        return lines

    wait_until(told, 60, "status to tell of the trail")
    wait_until(lambda: any("out[" in line for line in told()), 60, "out to tell it, too")
    assert all(str(small_memory / "trail") in line and "No space left" in line for line in told()), told()
    assert re.search(r'^listrunner_\w*notice\{.*\} 1$', instance.run("metrics").stdout, re.M)
    instance.wait_idle(60)
    assert len(list(sink.copies().elements())) == 2 * len(MEMBERS)
    filler.unlink()
    wait_until(lambda: not told(), 60, "the trail to be written again without new mail")
    assert len(instance.run("trace", "trail-1@example.net").stdout.splitlines()) > 2
