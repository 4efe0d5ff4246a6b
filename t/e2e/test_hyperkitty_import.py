# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mails of a list come from HyperKitty's database into the archive."""
import contextlib
import email
import email.policy
import sqlite3
import subprocess

import pytest

from support import mailman3, postgresql
from support.hyperkitty import MYSQL, Database, hash_of
from support.instance import HOST, prefix, wait_until

CATS, DOGS = f"cats@{HOST}", f"dogs@{HOST}"
BOUNDED = f"=_\n--=_\n--=_{hash_of('3@old.example')}_0--\n"  # as if its author knew what separates its parts


@pytest.fixture
def site(instances, sink):
    instance = instances(sink.port, settings={"archiver.maildir": {"index": "yes"}}).start()
    for name in ("cats", "dogs"):
        instance.create_list(name, ["m@members.example.org"])
    return instance


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path)
    made.add_list(1, "cats@old.example", f"cats.{HOST}")  # renamed since
    made.add_list(2, DOGS, None)
    return made


def bring(instance, address, where, *more, code=0):
    done = instance.run("archive", "import", "--hyperkitty", where, *more, address)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def archived(instance, name):
    """{Message-ID: mail} of a list's maildir, and the bytes of its files by their names."""
    octets = {path.name: path.read_bytes() for path in instance.archive.glob(f"maildir/{name}.{HOST}/new/*")}
    mails = [email.message_from_bytes(one, policy=email.policy.default) for one in octets.values()]
    return {mail["Message-ID"].strip("<>"): mail for mail in mails}, octets


def fill(database):
    database.add_mail(1, "1@old.example", "Grüße & <Käse>", "Größe\n\n-- \nAnne\n", sender_name='Jörg "J" <X>, Y')
    database.add_mail(1, "2@old.example", "Re: Grüße", "x" * 5000 + "\r\nend", in_reply_to="1@old.example",
                      timezone=-330,
                      files=[("Käse.png", "image/png", None, bytes(range(256)) * 300),
                             ("a.html", "text/html", "iso-8859-1", "<b>ü</b>".encode("latin-1")),
                             ("../../x\r\nY: z", "message/rfc822", "x\ny", b"From: a\n\nb"),
                             ("", "text/plain", None, b"")])
    database.add_mail(1, "3@old.example", "a\r\nX-Evil: yes", BOUNDED, sender_name="anne@old.example",
                      sender_id="anne@old.example>\nX-Evil: yes", timezone=9999,
                      files=[("b.txt", "text/plain", None, b"b")])
    database.add_mail(2, "1@old.example", "Bones", "Of dogs.\n")


def check(site):
    mails, _ = archived(site, "cats")
    first, second, third = (mails[f"{number}@old.example"] for number in (1, 2, 3))
    assert first["From"].addresses[0].display_name == 'Jörg "J" <X>, Y'
    assert first["From"].addresses[0].addr_spec == "anne@old.example"
    assert (first["Subject"], first.get_content()) == ("Grüße & <Käse>", "Größe\n\n-- \nAnne\n")
    assert first["Date"].datetime.isoformat() == "2019-03-04T13:35:56+01:00" and first["To"] == "cats@old.example"
    assert second["In-Reply-To"] == "<1@old.example>"
    assert second["Date"].datetime.isoformat() == "2019-03-04T07:06:56-05:30"
    text, image, page, mail, empty = second.iter_parts()
    assert text.get_content().replace("\r", "") == "x" * 5000 + "\nend"
    assert (image.get_filename(), image.get_content_type(), image.get_content()) == \
        ("Käse.png", "image/png", bytes(range(256)) * 300)
    assert (page.get_content_type(), page.get_content()) == ("text/html", "<b>ü</b>")
    assert mail.get_content_type() == "application/octet-stream" and mail.get_content() == b"From: a\n\nb"
    assert "/" not in mail.get_filename() and empty.get_content() == ""
    assert third["X-Evil"] is None and third["Date"].datetime.utcoffset().total_seconds() == 0
    text, file = third.iter_parts()
    assert (text.get_content(), file.get_content()) == (BOUNDED, "b")
    assert not any(one.defects for one in (first, second, third))
    assert set(mails) == {"1@old.example", "2@old.example", "3@old.example"}
    done = site.run("archive", "search", CATS, "Käse")
    assert done.returncode == 0 and "Grüße" in done.stdout and "Bones" not in done.stdout


def test_mails_are_made_of_what_is_there(site, database):
    fill(database)
    out = bring(site, CATS, database.done())
    assert "3 posts added" in out and "all else of their headers is lost" in out
    check(site)
    assert not archived(site, "dogs")[0]
    assert "1 posts added" in bring(site, DOGS, database.path)
    assert archived(site, "dogs")[0]["1@old.example"]["Subject"] == "Bones"


def test_mails_come_from_postgresql(site, database, server):
    fill(database)
    with contextlib.closing(postgresql.connect(server.url("public"))) as connection:
        database.copy_to(connection)
    assert "3 posts added" in bring(site, CATS, server.url("public"))
    check(site)


@pytest.fixture
def mailman(tmp_path):
    """Its site with three lists, of which HyperKitty knows two."""
    made = mailman3.Site(tmp_path / "mailman")
    made.add("domain", mail_host=HOST, description="", alias_domain=None)
    for name in ("cats", "dogs", "owls"):
        made.list(f"{name}@{HOST}")
    made.done()
    return ["--db", made.path, "--var", made.var]


def test_lists_come_with_their_archives(instances, sink, database, mailman, mysql, tmp_path):
    """In one command; a list that was here before keeps its own archive, and what refuses writes nothing."""
    fill(database)
    site = instances(sink.port, settings={"archiver.maildir": {"index": "yes"}})
    site.create_store()
    site.cli("domain", "create", HOST)
    site.cli("list", "create", DOGS, "--owner", "mine@example.com")
    with contextlib.closing(mysql.emptied("hyperkitty")) as connection:
        database.copy_to(connection, MYSQL)
    words = ["import", "mailman3", "--site", *mailman, "--hyperkitty"]
    (tmp_path / "none.db").write_bytes(b"")
    for where, said in ((tmp_path / "none.db", "no database of HyperKitty"), (mysql.url("nowhere"), "nowhere"),
                        (tmp_path / "gone.db", "no file")):
        done = site.run(*words, where)
        assert done.returncode > 1 and said in done.stderr and not done.stdout, done
    assert site.cli("list", "ls", "--names").split() == [DOGS]
    told = site.run(*words, mysql.url("hyperkitty"), "--dry-run")
    assert f"{CATS}: 3 mails of HyperKitty would come" in told.stdout and DOGS not in told.stdout.split("left out")[-1]
    assert site.cli("list", "ls", "--names").split() == [DOGS] and not archived(site, "cats")[0]
    told = site.run(*words, mysql.url("hyperkitty"))
    assert told.returncode == 1 and f"{CATS}: 3 posts added, 0 left out that were known" in told.stdout, told
    assert f"owls@{HOST}: HyperKitty has no such list" in told.stdout and f"{DOGS}: " not in told.stdout
    check(site)
    assert not archived(site, "dogs")[0]
    told = site.run(*words, database.done())  # the same in SQLite
    assert f"{CATS}: 0 posts added, 3 left out that were known" in told.stdout, told
    assert site.run("import", "mailman3", "--site", *mailman, "--files", tmp_path).returncode == 64


def test_an_archive_that_fails_stops_no_other(instances, sink, database, mailman):
    """It is named, the others come, and the exit code says so; run again, it goes on."""
    fill(database)
    site = instances(sink.port, settings={"archiver.maildir": {"index": "yes"}})
    site.create_store()
    words = ["import", "mailman3", "--site", *mailman, "--hyperkitty", database.done()]
    blocked = site.archive / "maildir" / f"cats.{HOST}"
    blocked.parent.mkdir(parents=True, exist_ok=True)
    for path in (site.archive, blocked.parent):
        site.own(path)
    blocked.write_text("no maildir")
    for _ in range(2):
        done = site.run(*words)
        assert done.returncode > 1 and f"the archive of cats.{HOST} is not whole: " in done.stderr, done
        assert "The archives are not complete; run it again to go on." in done.stdout, done
        assert f"dogs.{HOST}" not in done.stderr and archived(site, "dogs")[0].keys() == {"1@old.example"}
    blocked.unlink()
    done = site.run(*words)
    assert done.returncode == 0 and f"{CATS}: 3 posts added" in done.stdout and "not complete" not in done.stdout, done
    check(site)


def test_archives_need_a_place(empty, database, mailman):
    """An archiver without an index is refused before a list comes."""
    done = empty.run("import", "mailman3", "--site", *mailman, "--hyperkitty", database.done())
    assert done.returncode == 78 and "index = yes" in done.stderr and not done.stdout, done
    assert not empty.cli("list", "ls", "--names").strip()


def test_again_only_what_is_new_comes(site, database):
    """A mail that came another way, with its whole header, stays as it is."""
    site.cli("archive", "import", CATS, "-", input=b"From a@b Mon Mar  4 12:34:56 2019\nFrom: real@old.example\n"
             b"Message-ID: <2@old.example>\nDate: Mon, 4 Mar 2019 12:34:56 +0000\nX-Own: yes\n\ntext\n")
    fill(database)
    out = bring(site, CATS, database.done())
    assert "2 posts added, 1 left out that were known" in out
    before = archived(site, "cats")
    assert before[0]["2@old.example"]["X-Own"] == "yes"
    out = bring(site, CATS, database.path)
    assert "0 posts added, 3 left out that were known" in out and "is lost" not in out
    assert archived(site, "cats")[1] == before[1]


def test_interrupted_it_goes_on(site, database):
    """Killed between two batches, and again: each mail is there once."""
    count = 3500
    for number in range(count):
        database.add_mail(1, f"{number}@old.example", content=f"Number {number}.\n" + "word " * 200)
    running = subprocess.Popen([prefix() / "bin" / "listrunner", "--config", site.config, "archive", "import",
                                "--hyperkitty", database.done(), CATS], stdout=subprocess.DEVNULL)
    wait_until(lambda: len(archived_names(site)) >= 1000 or running.poll() is not None, 60, "the first batch")
    running.kill()
    running.wait()
    out = bring(site, CATS, database.path)
    assert len(archived_names(site)) == count, out
    assert len(archived(site, "cats")[0]) == count
    assert f"0 posts added, {count} left out" in bring(site, CATS, database.path)


def archived_names(site):
    return list(site.archive.glob(f"maildir/cats.{HOST}/new/*"))


def test_files_in_a_folder_of_their_own(site, database, tmp_path):
    """As HYPERKITTY_ATTACHMENT_FOLDER has them; one that is gone is told."""
    name = database.add_mail(1, "1@old.example", files=[("a.txt", "text/plain", "utf-8", None),
                                                        ("b.txt", "text/plain", "utf-8", None)])
    folder = tmp_path / "files" / "old.example" / "cats" / name[0:2] / name[2:4] / name[4:6] / "1"
    folder.mkdir(parents=True)
    (folder / "0").write_text("Größe")
    out = bring(site, CATS, database.done(), "--files", tmp_path / "files", code=1)
    assert "1 files of mails are left out" in out and "say --files" not in out
    (mail,) = archived(site, "cats")[0].values()
    _, only = mail.iter_parts()
    assert (only.get_filename(), only.get_content()) == ("a.txt", "Größe")
    database.add_mail(2, "2@old.example", files=[("a.txt", "text/plain", "utf-8", None)])
    assert "say --files" in bring(site, DOGS, database.done(), code=1)


def test_what_is_no_database_of_hyperkitty_is_named(site, database, tmp_path):
    database.add_mail(1, "")
    assert "1 mails are left out that have no Message-ID" in bring(site, CATS, database.done(), code=1)
    site.create_list("owls", [])
    done = site.run("archive", "import", "--hyperkitty", database.path, f"owls@{HOST}")
    assert done.returncode > 1 and f"no list owls@{HOST}" in done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE hyperkitty_mailinglist (id INTEGER)")
        other.commit()
    (tmp_path / "none.db").write_bytes(b"x" * 5000)
    for path, told in (("other.db", "no database of HyperKitty"), ("none.db", "none.db"), ("gone.db", "no file")):
        done = site.run("archive", "import", "--hyperkitty", tmp_path / path, CATS)
        assert done.returncode > 1 and told in done.stderr, done.stderr
    assert site.run("archive", "import", "--hyperkitty", database.path, CATS, "-").returncode == 64
    assert site.run("archive", "import", CATS).returncode == 64
    assert not archived(site, "owls")[0]
