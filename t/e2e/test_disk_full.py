# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The spool is full: LMTP says 4xx, what was accepted is kept, and all goes on when there is room."""
import os
import shutil
import smtplib
import subprocess

import pytest

from support.corpus import Mail
from support.instance import wait_until
from support.load import missing_and_repeats
from support.post import post

MEMBERS = [f"m{i}@members.example.org" for i in range(3)]
SPOOL_OCTETS = 24 * 1024 * 1024


@pytest.fixture
def small_spool(tmp_path_factory):
    """A journaled file system of its own in a file; without loop devices a tmpfs."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    place = tmp_path_factory.mktemp("spool")
    for above in (place, *list(place.parents)[:2]):
        above.chmod(0o755)
    image, mount = place / "image", place / "mnt"
    mount.mkdir()
    with open(image, "wb") as file:
        file.truncate(SPOOL_OCTETS)
    made = shutil.which("mkfs.ext4") and subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-J", "size=4", image]).returncode == 0
    if not made or subprocess.run(["mount", "-o", "loop", image, mount], stderr=subprocess.DEVNULL).returncode != 0:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SPOOL_OCTETS}", "tmpfs", mount], stderr=subprocess.DEVNULL).returncode != 0:
            pytest.skip("neither a loop device nor a tmpfs can be mounted here")
    yield mount / "spool"
    wait_until(lambda: subprocess.run(["umount", mount], stderr=subprocess.DEVNULL).returncode == 0, 20, "the small file system to be idle")


def fill(instance, address, number):
    """Sends mails of 100 kB until one is refused; those accepted, and the reply."""
    accepted = []
    for i in range(number, number + 1000):
        name = f"<full-{i}@example.net>"
        mail = Mail(name, post(message_id=name, body=("x" * 70 + "\n") * 1400), None, name)
        try:
            instance.lmtp_send(mail.octets, address)
        except smtplib.SMTPRecipientsRefused as error:
            return accepted, next(iter(error.recipients.values()))
        except smtplib.SMTPResponseException as error:
            return accepted, (error.smtp_code, error.smtp_error)
        accepted.append(mail)
    raise AssertionError("1000 mails of 100 kB went into a small spool")


@pytest.mark.parametrize("min_free", ["4M", "0"])
def test_full_and_room_again(instances, sinks, small_spool, min_free):
    """The relay is away, so mail piles up; with min_free = 0 until the file system itself refuses."""
    away = sinks()
    away.stop()
    instance = instances(away.port, spool=small_spool, settings={
        "spool": {"min_free": min_free}, "out": {"minimal_backoff_time": "1s", "maximal_backoff_time": "1s"}}).start()
    address = instance.create_list("test", MEMBERS)
    accepted, reply = fill(instance, address, 0)
    print(f"\nmin_free={min_free}: {len(accepted)} mails accepted, then {reply}")
    assert accepted and 400 <= reply[0] < 500, reply
    assert fill(instance, address, 2000)[1][0] < 500
    assert instance.process.poll() is None
    filler = small_spool.parent / "filler"
    if min_free == "0":  # not an octet is left: what is inside must neither be lost nor set aside for that
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(b"x" * 65536)
                    file.flush()
            except OSError:
                pass
    relay = sinks(port=away.port)
    if filler.exists():
        filler.unlink()
    instance.wait_idle(90)
    missing, repeats = missing_and_repeats([key for key in relay.copies().elements() if key[0] in {m.message_id for m in accepted}],
                                           accepted, MEMBERS)
    assert not missing and not repeats, (missing[:3], repeats)
    assert not instance.files("shunt", "corrupt")["shunt"]
    late, _ = post(message_id="<room@example.net>"), None
    instance.lmtp_send(late, address)
    instance.wait_idle()
    assert relay.copies()["<room@example.net>", MEMBERS[0]] == 1
