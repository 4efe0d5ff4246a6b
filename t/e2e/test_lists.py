# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Lists get other addresses, are copied and removed, and domains have aliases: seen by mail, and killed amidst."""
import json
import signal
import smtplib
import subprocess
import time

import pytest

from support.instance import HOST, prefix, wait_until

pytestmark = pytest.mark.main

NEW = "news.example.com"


def post(instance, address, name, sender="anne@example.org"):
    """The replies to RCPT and DATA, as one number: 250, or the refusal."""
    with smtplib.LMTP("127.0.0.1", instance.port) as client:
        try:
            client.sendmail(sender, [address], f"From: {sender}\r\nTo: {address}\r\nSubject: {name}\r\n"
                            f"Message-ID: <{name}@example.org>\r\n\r\nHello\r\n".encode())
        except smtplib.SMTPRecipientsRefused as refused:
            return refused.recipients[address][0]
    return 250


def arrived(sink, name):
    """(recipient, mail) of each copy."""
    return [(to, mail) for mail in sink.transactions() for to in mail.to if name + "@example.org" in mail.message_id]


@pytest.fixture
def instance(instances, sink):
    one = instances(sink.port).start()
    one.create_list("talk", ["anne@example.org", "bart@example.org"], owner="olga@example.org",
                    settings=("require_explicit_destination=true",))
    return one


def test_renamed_copied_aliased(instance, sink):
    talk = f"talk@{HOST}"
    assert post(instance, talk, "one") == 250
    wait_until(lambda: len(arrived(sink, "one")) == 2, 30, "the first post")
    # Another address, in another domain.
    done = instance.run("list", "rename", talk, f"chat@{NEW}")
    assert done.returncode == 66 and f"there is no domain {NEW}" in done.stderr, done
    instance.cli("domain", "create", NEW)
    said = instance.cli("list", "rename", talk, f"chat@{NEW}")
    assert f"talk.{HOST}, as before" in said
    assert post(instance, f"chat@{NEW}", "two") == 250
    assert post(instance, talk, "three") == 250  # the address that the List-Id is made of
    assert post(instance, f"chat@{HOST}", "none") == 550
    for name in ("two", "three"):
        wait_until(lambda: len(arrived(sink, name)) == 2, 30, f"post {name}")
    mail = arrived(sink, "three")[0][1].octets
    assert f"List-Post: <mailto:chat@{NEW}>".encode() in mail and f"<talk.{HOST}>".encode() in mail
    assert instance.run("list", "create", talk).returncode == 1
    assert instance.run("list", "create", f"talk-owner@{HOST}").returncode == 64
    # An alias of its domain.
    instance.cli("domain", "alias", NEW, "alias.example.com")
    assert instance.run("domain", "alias", HOST, "alias.example.com").returncode == 1
    assert post(instance, "chat@alias.example.com", "four") == 250
    wait_until(lambda: len(arrived(sink, "four")) == 2, 30, "the post by the alias")
    done = instance.run("list", "create", "x@alias.example.com")
    assert done.returncode == 64 and "is the alias of another domain" in done.stderr, done
    instance.cli("domain", "alias", NEW)
    assert post(instance, "chat@alias.example.com", "five") == 550
    # A copy, with and without members.
    instance.cli("list", "set", f"chat@{NEW}", "subject_prefix=[kept] ", "--file", "moderator_password=-",
                 input="secret\n")
    instance.cli("ban", "add", "--list", f"chat@{NEW}", "eve@example.org")
    instance.cli("list", "copy", f"chat@{NEW}", f"empty@{HOST}")
    instance.cli("list", "copy", "--members", f"chat@{NEW}", f"full@{HOST}")
    assert instance.cli("list", "get", f"full@{HOST}", "subject_prefix") == "[kept] \n"
    assert instance.cli("member", "ls", "--names", f"empty@{HOST}") == ""
    assert instance.cli("member", "ls", "--names", f"full@{HOST}") == "anne@example.org\nbart@example.org\n"
    assert instance.cli("member", "ls", "--names", "--role", "owner", f"empty@{HOST}") == "olga@example.org\n"
    assert "eve@example.org" in instance.cli("ban", "ls", f"empty@{HOST}")
    assert instance.run("list", "copy", f"chat@{NEW}", f"full@{HOST}").returncode == 1
    assert instance.run("list", "copy", f"nothing@{NEW}", f"full2@{HOST}").returncode == 66
    # The answer names all that is removed; archives stay unless they are asked for, too.
    place = instance.archive / "maildir" / f"talk.{HOST}"
    instance.wait_idle()
    assert place.exists()
    done = instance.run("list", "remove", f"chat@{NEW}")
    assert done.returncode == 64 and "has 2 members, which would be gone for good" in done.stderr, done
    said = instance.cli("list", "remove", "--yes", f"chat@{NEW}")
    assert "removed, with 2 members" in said and f"its archive {place} stays" in said and place.exists()
    assert post(instance, talk, "six") == 550
    def in_mbox():
        return sorted(path.name for path in (instance.archive / "mbox").glob(f"talk.{HOST}.*"))
    assert in_mbox() == [f"talk.{HOST}.mbox{end}" for end in ("", ".index", ".intent")]
    # A list that is made with that List-Id later does not get the archive.
    instance.create_list("talk", ["carl@example.org"])
    assert post(instance, talk, "seven") == 250
    second = instance.archive / "maildir" / f"talk.{HOST}~2" / "new"
    wait_until(lambda: second.is_dir() and list(second.iterdir()), 30, "the archive of the second list")
    instance.wait_idle()
    assert not any(b"seven" in file.read_bytes() for file in (place / "new").iterdir())
    instance.cli("list", "remove", "--yes", talk)
    said = instance.cli("list", "remove", "--yes", "--archive", talk)  # what earlier commands left
    assert not second.exists() and f"talk.{HOST}~2" in said
    assert not place.exists() and str(place) in said and not in_mbox()
    assert instance.run("list", "remove", "--yes", "--archive", talk).returncode == 66


def test_killed_in_the_midst(instance):
    """Whenever a rename, a copy or a removal is killed, it was done whole or not at all."""
    program = prefix() / "bin" / "listrunner"
    members = "".join(f"m{i}@members.example.org\n" for i in range(3000))
    instance.cli("member", "import", f"talk@{HOST}", input=members)
    for attempt in range(12):
        name = f"copy{attempt}@{HOST}"
        process = subprocess.Popen([program, "--config", instance.config, "list", "copy", "--members", f"talk@{HOST}",
                                    name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.05 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = instance.run("list", "show", "--json", name)
        whole = done.returncode == 0
        assert done.returncode in (0, 66), done
        assert not whole or json.loads(done.stdout)["members"] == 3002, done.stdout
        instance.cli("list", "copy", "--members", f"talk@{HOST}", f"gone@{HOST}")
        process = subprocess.Popen([program, "--config", instance.config, "list", "remove", "--yes", f"gone@{HOST}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.03 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = instance.run("list", "show", "--json", f"gone@{HOST}")
        assert done.returncode == 66 or json.loads(done.stdout)["members"] == 3002, done
        instance.run("list", "remove", "--yes", f"gone@{HOST}")
