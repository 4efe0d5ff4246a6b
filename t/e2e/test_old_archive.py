# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Addresses of the archives that lists had before they moved here lead to the same messages."""
import contextlib
import http.client
import re
import shutil

import pytest

from support import old_archive
from support.desk import sign_in
from support.instance import HOST
from support.pages import make_site

pytestmark = pytest.mark.skipif(not shutil.which("mhonarc"), reason="needs mhonarc")

ANNE, OLGA = "anne@example.org", "olga@example.org"
WEB = "https://pages.example"
PATHS = ("pipermail:/pipermail, pipermail:/mailman/private, hyperkitty:/hyperkitty, hyperkitty:/archives, "
         "sympa:/sympa, sympa:/wws, ezmlm:/ezmlm-cgi, mhonarc:/lists/archive")


def home(name):
    return f"{WEB}/archive/{name}.{HOST}"


def where(instance, path, **headers):
    """Where an old address leads to."""
    answer = instance.pages.get(path, **headers)
    return answer.headers["Location"] if answer.status == 301 else answer.status


@pytest.fixture
def site(instances, sink):
    instance = make_site(instances, sink, **{"web": {"old_archives": PATHS}})
    for name in ("cats", "owls"):
        instance.create_list(name, [ANNE], owner=OLGA,
                             settings=["subject_prefix=", *(["archive_policy=private"] if name == "owls" else [])])
    return instance


def bring(instance, name, count, *options):
    mails = old_archive.mails(name, count)
    out = instance.cli("archive", "import", *options, f"{name}@{HOST}", "-", input=old_archive.mbox(mails)).decode()
    assert f"{count} posts added" in out
    return mails


def note(instance, *words, code=0):
    done = instance.run("archive", "old", *words)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


def test_ten_thousand_addresses(site, sink, tmp_path):
    """Of two lists, in each form, and none leads to another message."""
    count, asked, seen = 860, 0, set()
    cookie = sign_in(site, sink, ANNE)
    for number, name in enumerate(("cats", "owls")):
        who = {} if name == "cats" else {"Cookie": cookie}
        mails, address = bring(site, name, count), f"{name}@{HOST}"
        pages = {kind: tmp_path / kind / name for kind in ("pipermail", "mhonarc", "ezmlm")}
        old_archive.pipermail(pages["pipermail"], mails)
        old_archive.mhonarc(pages["mhonarc"], mails)
        old_archive.ezmlm(pages["ezmlm"], mails)
        sympa = old_archive.sympa(tmp_path / f"{name}@old.example", mails)
        assert sum(mail.bare for mail in mails) > 5
        for words in ((address, "pipermail", pages["pipermail"]), (address, "mhonarc", pages["mhonarc"]),
                      (address, "sympa", tmp_path / f"{name}@old.example"),
                      ("--name", number + 1, address, "ezmlm", pages["ezmlm"])):
            assert f"{count} old addresses noted, 0 of them" in note(site, *words)
        for mail in mails:
            links = {f"/pipermail/{name}/{old_archive.pipermail_name(mail)}",
                     f"/lists/archive/{name}/msg{mail.number:05}.html", f"/sympa/arc/{name}/{sympa[mail.number]}",
                     f"/ezmlm-cgi?{number + 1}:mss:{mail.number + 1}:201903:abcdef"}
            if not mail.bare:
                links |= {f"/hyperkitty/list/{address}/message/{mail.hash}/",
                          f"/archives/list/{address}/message/{mail.hash}/"}
            wanted = {where(site, link, **who) for link in links}
            assert len(wanted) == 1, (links, wanted)
            (page,) = wanted
            assert re.fullmatch(rf"{re.escape(home(name))}/[A-Z2-7]{{32}}", str(page)), (links, page)
            assert mail.bare or page.endswith(mail.hash)
            site.pages.get(page.removeprefix(WEB), **who).says(f"Word {mail.number} of {name} &amp;")
            seen.add(page)
            asked += len(links)
    assert asked >= 10_000 and len(seen) == 2 * count


def test_pages_of_lists_months_and_threads(site, tmp_path):
    (first, second, *_) = mails = bring(site, "cats", 30)
    old_archive.pipermail(tmp_path / "cats", mails)
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats")
    for kind in ("mhonarc", "sympa", "ezmlm"):
        note(site, f"cats@{HOST}", kind, "--name", "Cats")
    cats, month = home("cats"), f"{home('cats')}/2019-03"
    for path, page in {
            "/pipermail/cats": cats, "/pipermail/cats/": cats, "/pipermail/cats/index.html": cats,
            "/pipermail/Cats/2019-March/": month, "/mailman/private/cats/2019-March/thread.html": month,
            "/pipermail/cats/2019-March/subject.html": month, "/pipermail/cats/2019-March/author.html": month,
            "/pipermail/cats/2019-March/date.html": month, "/pipermail/cats/2019-March.txt": f"{month}.mbox.gz",
            "/pipermail/cats/2019-March.txt.gz": f"{month}.mbox.gz",
            "/pipermail/cats/2019q2/date.html": f"{cats}/2019-04",
            f"/hyperkitty/list/cats@{HOST}/": cats, f"/hyperkitty/list/cats@{HOST}/latest": cats,
            f"/hyperkitty/list/cats@{HOST}/2019/3/": month, f"/archives/list/cats%40{HOST}/2019/3/4/": month,
            f"/hyperkitty/list/cats@{HOST}/thread/{first.hash}/": f"{cats}/{first.hash}/thread",
            f"/hyperkitty/list/cats@{HOST}/message/{second.hash}/attachment/2/x.png": f"{cats}/{second.hash}",
            "/lists/archive/cats/maillist.html": cats, "/lists/archive/cats/2019-03/thrd2.html": month,
            "/sympa/arc/cats/2019-03/": month, "/wws/arc/cats/2019-03/mail1.html": month, "/sympa/arc/cats": cats,
            f"/sympa/arcsearch_id/cats/2019-01/{second.id.replace('%', '%25')}": f"{cats}/{second.hash}",
            "/ezmlm-cgi?cats": cats, "/ezmlm-cgi?cats:iis:201903:abc": month, "/ezmlm-cgi/cats": cats,
            "/hyperkitty/": f"{WEB}/"}.items():
        assert where(site, path) == page, path
    answer = site.pages.ask("HEAD", f"/pipermail/cats/{old_archive.pipermail_name(second)}")
    assert (answer.status, answer.headers["Location"], answer.octets) == (301, f"{cats}/{second.hash}", b"")
    assert "max-age" in answer.headers["Cache-Control"]
    assert site.pages.send(f"/pipermail/cats/{old_archive.pipermail_name(second)}", {}).status == 405


def test_counted_in_the_mailbox_where_no_pages_are_left(site):
    """Given again it changes nothing, and pipermail goes on counting in the next month."""
    mails = bring(site, "cats", 150, "--pipermail")
    again = site.cli("archive", "import", "--pipermail", f"cats@{HOST}", "-", input=old_archive.mbox(mails)).decode()
    assert "0 posts added" in again
    for mail in mails:
        page = where(site, f"/pipermail/cats/{old_archive.pipermail_name(mail)}")
        site.pages.get(page.removeprefix(WEB)).says(f"Word {mail.number} of cats &amp;")
    assert where(site, "/pipermail/cats/2019-March/000150.html") == 404


def test_a_renamed_list_keeps_its_old_addresses(site, tmp_path):
    """Also when it gets an old name by hand, and when the index is made again."""
    (mail, *_) = mails = bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "felines", mails)
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "felines")
    site.cli("list", "rename", f"cats@{HOST}", f"lions@{HOST}")
    site.cli("archive", "index")
    note(site, "--name", "kittens", f"lions@{HOST}", "pipermail")
    page = f"{home('cats')}/{mail.hash}"
    assert where(site, f"/pipermail/felines/{old_archive.pipermail_name(mail)}") == page
    assert where(site, f"/pipermail/kittens/{old_archive.pipermail_name(mail)}") == page
    assert where(site, f"/pipermail/cats/{old_archive.pipermail_name(mail)}") == 404
    for address in (f"cats@{HOST}", f"lions@{HOST}", f"CATS@{HOST}"):
        assert where(site, f"/hyperkitty/list/{address}/message/{mail.hash.lower()}/") == page
    # A name goes to whom it is given last, and that is told.
    assert f"led to cats.{HOST} until now" in note(site, "--name", "kittens", f"owls@{HOST}", "pipermail")
    assert where(site, f"/pipermail/kittens/{old_archive.pipermail_name(mail)}") == 403


def test_strangers_learn_nothing_of_a_private_archive(site, sink, tmp_path):
    (mail, *_) = mails = bring(site, "owls", 5)
    bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "owls", mails)
    note(site, f"owls@{HOST}", "pipermail", tmp_path / "owls")
    there = [f"/mailman/private/owls/{old_archive.pipermail_name(mail)}", "/mailman/private/owls/",
             f"/hyperkitty/list/owls@{HOST}/message/{mail.hash}/"]
    not_there = ["/mailman/private/owls/2019-January/000777.html", "/pipermail/owls/1999-May/",
                 f"/hyperkitty/list/owls@{HOST}/message/{'A' * 32}/",
                 f"/hyperkitty/list/owls@{HOST}/thread/{'A' * 32}/"]
    answers = [site.pages.get(path) for path in there + not_there]
    assert {(answer.status, answer.octets, answer.headers["Cache-Control"]) for answer in answers} == {
        (403, answers[0].octets, "no-store")}
    answers[0].says("/sign-in")
    cookie = sign_in(site, sink, ANNE)
    for path in (there[0], there[2]):
        answer = site.pages.get(path, Cookie=cookie)
        assert (answer.status, answer.headers["Location"]) == (301, f"{home('owls')}/{mail.hash}")
        assert answer.headers["Cache-Control"] == "no-store"
    assert site.pages.get(not_there[0], Cookie=cookie).status == 404
    site.cli("list", "set", f"owls@{HOST}", "archive_policy=never")
    assert {site.pages.get(path, Cookie=cookie).status for path in there + not_there} == {404}


def test_addresses_that_nobody_made(site, tmp_path):
    mails = bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "cats", mails)
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats")
    for path in ("/pipermail/cats/2019-January/000005.html", "/pipermail/dogs/2019-January/000001.html",
                 "/pipermail/cats/../../etc/passwd", "/pipermail/cats/%2e%2e/000001.html", "/pipermail/cats/a%2fb",
                 "/pipermail/cats/%00", "/pipermail/%00/2019-January/000001.html", "/pipermail/cats/%ff%fe/000001.html",
                 "/pipermail/cats/2019-January/000001.html%00", "/pipermail/cats/2019-Januar/000001.html",
                 "/pipermail/cats/2019-January/99999999999999999999.html", "/pipermail/cats/0000-January/000001.html",
                 "/pipermailx/cats/2019-January/000001.html", "/pipermail/cats/2019-January/attachments/x.html",
                 f"/hyperkitty/list/cats@{HOST}/message/{'1' * 32}/", f"/hyperkitty/list/cats@{HOST}/message/../x/",
                 f"/hyperkitty/list/cats@{HOST}/2019/13/", "/hyperkitty/list/cats/", "/hyperkitty/admin/",
                 "/ezmlm-cgi?cats:mss:1:201901:x", "/ezmlm-cgi?%00:mss:1", "/sympa/arc/cats/2019-99/msg00001.html",
                 "/pipermail/" + "a/" * 3000, "/pipermail/cats/" + "x" * 8000):
        assert where(site, path) == 404, path
    # What is longer than a request may be is refused, maybe before it was sent whole, and the runner lives.
    for length in (60_000, 10_000_000):
        with contextlib.suppress(ConnectionError, http.client.BadStatusLine):
            assert site.pages.get("/pipermail/cats/" + "x" * length).status in (400, 414, 431)
    assert where(site, f"/pipermail/cats/{old_archive.pipermail_name(mails[1])}") == f"{home('cats')}/{mails[1].hash}"


def test_pages_that_say_little(site, tmp_path):
    """Known by subject and time where the mail had no Message-ID; told and left out where nobody can know."""
    mails = bring(site, "cats", 50)
    pages = tmp_path / "cats"
    old_archive.pipermail(pages, mails)
    (lost := pages / "2019-January" / "000777.html").write_text("<HTML><H1>Nothing</H1>")
    lost.with_name("000778.html").write_bytes(b"\0\xff" * 1000)
    lost.with_name("000779.html").symlink_to("/etc/passwd")
    out = note(site, f"cats@{HOST}", "pipermail", pages, code=1)
    assert "50 old addresses noted" in out and "2 pages left out" in out
    assert "left out: 2019-January/000777.html" in out and "000779" not in out
    page = where(site, f"/pipermail/cats/{old_archive.pipermail_name(mails[42])}")
    site.pages.get(page.removeprefix(WEB)).says("Word 42 of cats &amp;")
    assert where(site, "/pipermail/cats/2019-January/000777.html") == 404
    for words in (("hyperkitty", pages), ("pipermail",), ("mbox", pages)):
        assert site.run("archive", "old", f"cats@{HOST}", *words).returncode == 64
    assert site.run("archive", "old", f"cats@{HOST}", "pipermail", tmp_path / "none").returncode not in (0, 1)


def test_a_damaged_table_hurts_no_other_address(site, tmp_path):
    """It is told; what needs no table goes on, and all does when it was made again."""
    (mail, *_) = mails = bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "cats", mails)
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats")
    path, page = f"/pipermail/cats/{old_archive.pipermail_name(mail)}", f"{home('cats')}/{mail.hash}"
    (table,) = site.archive.glob("*/.index/old.db")
    table.write_bytes(b"x" * table.stat().st_size)
    assert where(site, path) == 503
    assert where(site, f"/hyperkitty/list/cats@{HOST}/message/{mail.hash}/") == page
    site.pages.get(page.removeprefix(WEB)).says("Word 0 of cats")
    assert "old.db" in site.log_text()
    for file in table.parent.glob("old.db*"):
        file.unlink()
    assert where(site, path) == 404
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats")
    assert where(site, path) == page
    for file in table.parent.glob("old.db*"):  # under the eyes of who has it open
        file.unlink()
    assert where(site, path) == 404


def test_wrong_settings_are_named(site):
    for word in ("pipermail", "pipermail:lists", "hypermail:/x"):
        site.set({"web": {"old_archives": word}})
        done = site.run("config", "check")
        told = done.stderr + done.stdout
        assert done.returncode != 0 and "old_archives" in told and word in told
