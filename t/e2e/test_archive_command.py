# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The index beside a maildir archive: each archived post once, whatever fails; import, export and search."""
import contextlib
import json
import mailbox
import os
import re
import subprocess
import time

import pytest

from support.instance import HOST, wait_until
from support.post import post

MEMBERS = ["m@members.example.org"]


@pytest.fixture
def indexed(instances, sink):
    instance = instances(sink.port, settings={"archiver.maildir": {"index": "yes"}})
    instance.start()
    return instance


def send(instance, address, numbers, word="frost"):
    client = instance.lmtp()
    for number in numbers:
        instance.lmtp_send(post(message_id=f"<{number}@x>", subject=f"About {number}", body=f"{word} number{number}\n"),
                           address, client=client)


def found(instance, address, *words):
    done = instance.run("archive", "search", "--json", "--limit=1000", address, *words)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def index_file(instance):
    return (instance.archive / "maildir" / ".index" / "index.db").resolve()


def in_maildir(instance, name="test"):
    return len(list(instance.archive.glob(f"maildir/{name}.{HOST}/new/*")))


def test_posts_are_found(indexed):
    first, second = indexed.create_list("test", MEMBERS), indexed.create_list("other", MEMBERS)
    send(indexed, first, range(20))
    send(indexed, second, range(20, 25))
    indexed.wait_idle()
    rows = found(indexed, first, "frost")
    assert sorted(row["subject"] for row in rows) == sorted(f"[Test] About {number}" for number in range(20))
    assert len(found(indexed, second, "frost")) == 5
    (row,) = found(indexed, first, "number7")
    assert "frost number7" in row["snippet"] and (indexed.archive / "maildir").glob(f"*/new/{row['file']}")
    assert found(indexed, first, "number21") == []


def test_killed_again_and_again_each_post_is_there_once(indexed):
    address = indexed.create_list("test", MEMBERS)
    for number in range(60):
        send(indexed, address, [number])
        if number % 6 == 5:
            indexed.kill_runner("archive")
    indexed.wait_idle()
    assert in_maildir(indexed) == 60 and len(found(indexed, address, "frost")) == 60


def test_damaged_index_is_made_again_while_posts_are_archived(indexed):
    address = indexed.create_list("test", MEMBERS)
    send(indexed, address, range(30))
    indexed.wait_idle()
    indexed.stop()
    with open(index_file(indexed), "r+b") as file:
        length = file.seek(0, 2)
        file.seek(0)
        file.write(b"x" * length)
    indexed.start()
    send(indexed, address, range(30, 40))
    indexed.wait_idle()
    assert in_maildir(indexed) == 40
    wait_until(lambda: len(found(indexed, address, "frost")) == 40, 20, "the index to be whole")
    assert "set aside and made again" in indexed.log_text()
    assert (indexed.archive / "maildir" / ".index" / "damaged.db").exists()


def test_lost_index_is_made_again(indexed):
    address = indexed.create_list("test", MEMBERS)
    send(indexed, address, range(10))
    indexed.wait_idle()
    for path in (indexed.archive / "maildir" / ".index").iterdir():
        path.unlink()
    send(indexed, address, range(10, 12))
    indexed.wait_idle()
    wait_until(lambda: len(found(indexed, address, "frost")) == 12, 20, "the index to be whole")


def test_index_that_cannot_be_written_is_told_and_caught_up_with(indexed):
    address = indexed.create_list("test", MEMBERS)
    send(indexed, address, range(3))
    indexed.wait_idle()
    aside = indexed.archive / "maildir" / ".index"
    away = aside.rename(aside.with_name("away"))
    aside.write_text("no directory")
    send(indexed, address, range(3, 9))
    indexed.wait_idle()
    assert in_maildir(indexed) == 9
    wait_until(lambda: "lacks posts" in indexed.run("status").stdout, 20, "the trouble to be told")
    aside.unlink()
    away.rename(aside)
    wait_until(lambda: len(found(indexed, address, "frost")) == 9, 30, "the index to be whole")
    wait_until(lambda: "lacks posts" not in indexed.run("status").stdout, 20, "the trouble to be over")


def fill(path):
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def test_full_disk_of_the_index(instances, sink):
    """The index has a file system of its own, which is full: posts are archived, and indexed when there is room."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    instance = instances(sink.port, settings={"archiver.maildir": {"index": "yes"}})
    aside = instance.archive / "maildir" / ".index"
    aside.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", aside], check=False).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    try:
        for path in (aside.parent, aside):
            instance.own(path)
        instance.start()
        address = instance.create_list("test", MEMBERS)
        fill(aside / "filler")
        send(instance, address, range(12))
        instance.wait_idle()
        assert in_maildir(instance) == 12
        wait_until(lambda: "lacks posts" in instance.run("status").stdout, 20, "the trouble to be told")
        (aside / "filler").unlink()
        wait_until(lambda: len(found(instance, address, "frost")) == 12, 30, "the index to be whole")
        instance.stop()
    finally:
        instance.kill()
        subprocess.run(["umount", "-l", aside], check=False)


def write_mbox(path, numbers):
    box = mailbox.mbox(path)
    for number in numbers:
        mail = mailbox.mboxMessage(
            f"From: Anne <anne@example.org>\nSubject: old {number}\nMessage-ID: <old{number}@x>\n"
            f"Date: Tue, {number % 28 + 1} Feb 2005 10:{number:02}:00 +0000\n\n"
            f"From here on snow{number}.\n>From there too.\n")
        mail.set_from("anne@example.org Tue Feb  1 10:00:00 2000")  # all the same: their Dates say more
        box.add(mail)
    box.flush()
    path.chmod(0o644)


def mails_of(text):
    """Mails of one second may stand in another order."""
    return sorted(mail.strip() for mail in f"\n{text}".split("\nFrom MAILER"))


def test_import_and_export(indexed, tmp_path):
    address = indexed.create_list("test", MEMBERS)
    send(indexed, address, range(3))
    indexed.wait_idle()
    write_mbox(tmp_path / "old.mbox", range(50))
    assert "50 posts added, 0 left out" in indexed.cli("archive", "import", address, tmp_path / "old.mbox")
    assert "0 posts added, 50 left out" in indexed.cli("archive", "import", address, tmp_path / "old.mbox")
    assert len(found(indexed, address, "before:2006")) == 50 and len(found(indexed, address, "after:2006")) == 3
    (row,) = found(indexed, address, "snow17")
    assert row["date"] == "2005-02-18T10:17:00Z" and row["from"] == "Anne <anne@example.org>"
    octets = indexed.cli("archive", "export", address, "-")
    (tmp_path / "new.mbox").write_text(octets)
    box = mailbox.mbox(tmp_path / "new.mbox", create=False)
    subjects = [mail["Subject"] for mail in box]
    assert len(subjects) == 53 and subjects[0] == "old 0" and subjects[-1].startswith("[Test]")
    # The exported mails can be imported again, and are the same.
    other = indexed.create_list("other", MEMBERS)
    assert "53 posts added" in indexed.cli("archive", "import", other, tmp_path / "new.mbox")
    again = indexed.cli("archive", "export", other, "-")
    assert mails_of(again) == mails_of(octets)
    assert indexed.idle()


def test_import_names_other_mails_with_a_message_id_that_is_there(indexed, tmp_path):
    """Whether the first came in this import or an earlier one."""
    def mail(number, text):
        return (f"From x Mon Mar  2 10:0{number}:00 2020\nFrom: a@example.org\nSubject: s\n"
                f"Message-ID: <{number}@example.org>\n\n{text}\n\n")

    address = indexed.create_list("cats")
    box = tmp_path / "box"
    box.write_text(mail(1, "One.") + mail(2, "Two.") + mail(1, "Another.") + mail(2, "> Two. "))
    for added, known in ((2, 2), (0, 4)):
        done = indexed.run("archive", "import", address, box)
        assert done.returncode == 1 and f"{added} posts added, {known} left out" in done.stdout, done.stdout
        assert done.stderr.count("another mail with this Message-ID") == 1 and "<1@example.org>" in done.stderr
    box.write_text(mail(1, "One.") + mail(2, "Two."))
    assert "0 posts added, 2 left out" in indexed.cli("archive", "import", address, box)


def test_import_of_unusual_mailboxes(indexed, tmp_path):
    """Mails behind From_ lines without a time that can be read come, too. Lines that may begin a mail and were taken as
    text are told. An empty file is no post."""
    address, other = indexed.create_list("test", MEMBERS), indexed.create_list("other", MEMBERS)
    lines = ["From mboxrd@z Thu Jan  1 00:00:00 1970", "From ", "From MAILER-DAEMON", "From - 8/27/2023",
             "From anne@example.org\tFri, 20 Nov 2020 13:20:00 +0000", "From a@b Wed Dec 31 23:59:59 1969"]
    box = tmp_path / "old.mbox"
    box.write_text("\ufeff" + "\n".join(
        f"{line}\nFrom: anne at example.org (Anne Frost)\nMessage-ID: <{at}@x>\n"
        f"Date: Mon, 2 Mar 2020 10:0{at}:00 +0000\n\nsnow\n" for at, line in enumerate(lines)))
    done = indexed.run("archive", "import", address, box)
    assert done.returncode == 0 and f"{len(lines)} posts added" in done.stdout and not done.stderr, done
    rows = found(indexed, address, "snow")
    assert sorted(row["date"] for row in rows) == [f"2020-03-02T10:0{at}:00Z" for at in range(len(lines))]
    assert {row["from"] for row in rows} == {"Anne Frost <anne@example.org>"}
    assert len(found(indexed, address, "from:anne@example.org")) == len(lines)
    box.write_text(box.read_text() + "\nbut\nFrom bart@example.org Mon Mar  2 10:00:00 2020\nSubject: y\n\nhail\n")
    done = indexed.run("archive", "import", other, box)
    assert done.returncode == 1 and f"{len(lines)} posts added" in done.stdout, done
    assert f"taken as text: 1 (line {7 * len(lines) + 2})" in done.stderr, done
    box.write_text("")
    done = indexed.run("archive", "import", address, box)
    assert done.returncode == 0 and "0 posts added" in done.stdout, done


def test_the_time_of_an_imported_post(indexed, tmp_path):
    """A post arrived when the last host of its way says so. Where there is none, the mailbox says it, unless it
    contradicts the Date; then the Date does. A time that lies ahead counts for nothing."""
    address = indexed.create_list("test", MEMBERS)
    first, last = (f"Received: from {host} by lists.old.example; {day} Feb 2005 09:00:00 +0000\n"
                   for host, day in (("first.example", "Tue, 8"), ("last.example", "Wed, 9")))
    ahead = last.replace("2005", "2095")
    date = "Date: Mon, 7 Feb 2005 09:00:00 +0000\n"
    cases = [("way", "Thu Feb 10 09:00:00 2005", last + first + date, "2005-02-09"),
             ("mailbox", "Thu Feb 10 09:00:00 2005", date, "2005-02-10"),
             ("date", "Sat Feb 10 09:00:00 2001", date, "2005-02-07"),
             ("dateless", "Thu Feb 10 09:00:00 2005", "", "2005-02-10"),
             ("ahead", "Thu Feb 10 09:00:00 2005", ahead + date, "2005-02-10")]
    box = tmp_path / "old.mbox"
    box.write_text("".join(f"From anne@example.org {at}\n{fields}From: anne@example.org\nSubject: {name}\n"
                           f"Message-ID: <{name}@x>\n\nsnow\n\n" for name, at, fields, _ in cases))
    box.chmod(0o644)
    assert f"{len(cases)} posts added" in indexed.cli("archive", "import", address, box)
    files = [path for path in indexed.archive.glob(f"maildir/test.{HOST}/*/*") if path.is_file()]
    days = {re.search(r"^Subject: (.*)$", path.read_text(), re.M).group(1):
            time.strftime("%Y-%m-%d", time.gmtime(int(path.name.split(".")[0]))) for path in files}
    assert days == {name: day for name, _, _, day in cases}


def test_import_of_a_maildir_and_after_an_interruption(indexed, tmp_path):
    address = indexed.create_list("test", MEMBERS)
    box = mailbox.Maildir(indexed.directory / "dir", factory=None)
    for number in range(30):
        box.add(f"Subject: m{number}\r\nMessage-ID: <m{number}@x>\r\nDate: Tue, 1 Feb 2005 10:00:00 +0000\r\n"
                "\r\nsnow\r\n")
    for path in (indexed.directory / "dir", *(indexed.directory / "dir").rglob("*")):
        path.chmod(0o755)
    assert "30 posts added" in indexed.cli("archive", "import", address, indexed.directory / "dir")
    # The files are there and the index is not: as if it had been killed between the two.
    for path in (indexed.archive / "maildir" / ".index").iterdir():
        path.unlink()
    assert "0 posts added, 30 left out" in indexed.cli("archive", "import", address, indexed.directory / "dir")
    assert in_maildir(indexed) == 30 and len(found(indexed, address, "snow")) == 30


@pytest.mark.parametrize("kind, places, others", [
    ("mlmmj", ["1", "2", "10"], ["index", "2~"]),
    ("ezmlm", ["0/01", "0/99", "1/00", "10/00"], ["0/index", "threads/200403", "subjects/ab/cdef", "authors/12"]),
    ("sympa", ["2019-02/arctxt/1", "2019-03/arctxt/1", "2019-03/arctxt/2"], ["2019-03/msg00001.html", "index/1"])])
def test_import_of_files_that_are_numbers(indexed, tmp_path, kind, places, others):
    """As other systems keep archives: in the order of the numbers, without what lies beside, and twice changes nothing.
    What a link leads to is no mail of it."""
    address, other = indexed.create_list("test", MEMBERS), indexed.create_list("other", MEMBERS)
    above = tmp_path / kind
    for number, place in enumerate([*places, *others]):
        path = above / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Subject: {place}\nMessage-ID: <{number}@x>\n\nsnow {kind}\n")
        os.utime(path, (1100000000 + number, 1100000000 + number))
    (tmp_path / "secret").write_text("Subject: secret\n\nsnow\n")
    (above / "77").symlink_to(tmp_path / "secret")
    (above / "78").symlink_to(tmp_path)
    for more in (0, 1):
        told = indexed.cli("archive", "import", address, above)
        assert f"{0 if more else len(places)} posts added, {len(places) * more} left out" in told
    rows = found(indexed, address, "snow")
    assert sorted((row["date"], row["subject"]) for row in rows) == [
        (f"2004-11-09T11:33:{20 + number}Z", place) for number, place in enumerate(places)]
    assert found(indexed, other, "snow") == []
    done = indexed.run("archive", "import", address, above / "empty")
    assert done.returncode == 66, done
    (above / "empty").mkdir()
    done = indexed.run("archive", "import", address, above / "empty")
    assert done.returncode == 64 and "without files that are numbers" in done.stderr, done


def test_made_again_while_posts_come(indexed):
    address = indexed.create_list("test", MEMBERS)
    send(indexed, address, range(40))
    indexed.wait_idle()
    old = index_file(indexed)
    indexed.cli("archive", "index")
    assert index_file(indexed) != old and not old.exists()
    assert len(found(indexed, address, "frost")) == 40
    send(indexed, address, range(40, 50))
    indexed.wait_idle()
    wait_until(lambda: len(found(indexed, address, "frost")) == 50, 20, "the new index to have all posts")
    assert "of which 0 were missing" in indexed.cli("archive", "index", address)


def test_hidden_and_removed(indexed):
    address = indexed.create_list("test", MEMBERS)
    send(indexed, address, range(3))
    indexed.wait_idle()
    hashes = {row["subject"][-1]: row["hash"] for row in found(indexed, address, "frost")}
    indexed.cli("archive", "hide", "--note=for now", address, hashes["0"])
    indexed.cli("archive", "remove", "--note=by a court", address, hashes["1"])
    assert [row["hash"] for row in found(indexed, address, "frost")] == [hashes["2"]]
    indexed.cli("archive", "unhide", address, hashes["0"])
    assert len(found(indexed, address, "frost")) == 2
    assert "number1" not in indexed.cli("archive", "export", address, "-")
    assert indexed.run("archive", "unhide", address, hashes["1"]).returncode == 64
    assert indexed.run("archive", "hide", address, "A" * 32).returncode == 66


def test_what_is_refused(instance, tmp_path):
    address = instance.create_list("test", MEMBERS)
    done = instance.run("archive", "search", address, "frost")
    assert done.returncode == 78 and "index = yes" in done.stderr
    instance.set({"archiver.maildir": {"index": "yes"}})
    (tmp_path / "none").write_text("Subject: no mbox\n\ntext\n")
    assert instance.run("archive", "search", address, "!").returncode == 64
    assert instance.run("archive", "search", address, "frost").returncode == 66
    assert instance.run("archive", "import", address, tmp_path / "none").returncode == 64
    done = instance.run("archive", "import", address, tmp_path)
    assert done.returncode == 64 and "no maildir" in done.stderr, done.stderr
    assert instance.run("archive", "search", address, "frost").returncode == 1
    assert instance.run("archive", "export", address, tmp_path / "none").returncode == 1
