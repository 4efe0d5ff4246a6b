# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Addresses of the archives that lists had before they moved here lead to the same messages."""
import contextlib
import http.client
import re
import shutil
import subprocess

import pytest

from support import old_archive
from support.desk import sign_in
from support.instance import HOST, prefix
from support.pages import make_site

pytestmark = pytest.mark.skipif(not shutil.which("mhonarc"), reason="needs mhonarc")

ANNE, OLGA = "anne@example.org", "olga@example.org"
WEB = "https://pages.example"
PATHS = "/pipermail, /mailman/private, /sympa, /sympa/arcsearch_id, /wws/arc, /ezmlm-cgi, /lists/archive"


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


def bring(instance, name, count):
    mails = old_archive.mails(name, count)
    out = instance.cli("archive", "import", f"{name}@{HOST}", "-", input=old_archive.mbox(mails)).decode()
    assert f"{count} posts added" in out
    return mails


def map_of(kind, source, *paths, code=0):
    """Return the lines that old-links writes, and what it tells."""
    done = subprocess.run([prefix() / "share" / "listrunner" / "old-links", kind, source, *paths], capture_output=True)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr.decode()


def note(instance, address, kind, source, *paths, code=0, left_out=0):
    lines, told = map_of(kind, source, *paths, code=1 if left_out else 0)
    assert told.count("left out: ") == left_out, told
    return put(instance, address, lines, code)


def put(instance, address, lines, code=0):
    file = instance.directory / "old.map"
    file.write_bytes(lines)
    file.chmod(0o644)
    done = instance.run("archive", "old", address, file)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


def test_ten_thousand_addresses(site, sink, tmp_path):
    """Of two lists, in each form, and none leads to another message."""
    count, asked, seen = 860, 0, set()
    cookie = sign_in(site, sink, ANNE)
    for name in ("cats", "owls"):
        who = {} if name == "cats" else {"Cookie": cookie}
        mails, address = bring(site, name, count), f"{name}@{HOST}"
        pages = {kind: tmp_path / kind / name for kind in ("pipermail", "mhonarc", "ezmlm")}
        old_archive.pipermail(pages["pipermail"], mails)
        old_archive.mhonarc(pages["mhonarc"], mails)
        old_archive.ezmlm(pages["ezmlm"], mails)
        sympa = old_archive.sympa(tmp_path / f"{name}@old.example", mails)
        bare = sum(mail.bare for mail in mails)
        assert bare > 5
        for kind, source, path in (("pipermail", pages["pipermail"], f"/pipermail/{name}"),
                                   ("mhonarc", pages["mhonarc"], f"/lists/archive/{name}"),
                                   ("sympa", tmp_path / f"{name}@old.example", f"/sympa/arc/{name}"),
                                   ("ezmlm", pages["ezmlm"], f"/ezmlm-cgi?{name}")):
            assert "addresses noted, 0 of them" in note(site, address, kind, source, path, left_out=bare)
        for mail in mails:
            links = {f"/pipermail/{name}/{old_archive.pipermail_name(mail)}",
                     f"/lists/archive/{name}/msg{mail.number:05}.html", f"/sympa/arc/{name}/{sympa[mail.number]}",
                     f"/ezmlm-cgi/{name}/{mail.number + 1}"}
            if not mail.bare:
                links |= {f"/hyperkitty/list/{address}/message/{mail.hash}/",
                          f"/archives/list/{address}/message/{mail.hash}/",
                          f"/ezmlm-cgi?{name}:mss:{mail.number + 1}:201903:abcdef"}
            wanted = {where(site, link, **who) for link in links}
            assert len(wanted) == 1, (links, wanted)
            (page,) = wanted
            asked += len(links)
            if mail.bare:  # the map knows nothing of it
                assert page == 404, (links, page)
                continue
            assert page == f"{home(name)}/{mail.hash}", (links, page)
            site.pages.get(page.removeprefix(WEB), **who).says(f"Word {mail.number} of {name} &amp;")
            seen.add(page)
        assert len(seen) % (count - bare) == 0
    assert asked >= 10_000


def test_pages_of_lists_months_and_threads(site, tmp_path):
    (first, second, *_) = mails = bring(site, "cats", 30)
    old_archive.pipermail(tmp_path / "cats", mails)
    (tmp_path / "cats" / "2019q2").mkdir()
    (tmp_path / "cats" / "2019q2" / "date.html").write_text("<HTML></HTML>")
    sympa = old_archive.sympa(tmp_path / "cats@old.example", mails)
    (tmp_path / "ezmlm").mkdir()
    address = f"cats@{HOST}"
    note(site, address, "pipermail", tmp_path / "cats", "/pipermail/cats", "/mailman/private/cats")
    for path in ("/sympa/arc/cats", "/lists/archive/cats"):
        note(site, address, "sympa", tmp_path / "cats@old.example", path)
    old_archive.ezmlm(tmp_path / "ezmlm", mails)
    note(site, address, "ezmlm", tmp_path / "ezmlm", "/ezmlm-cgi?cats")
    cats, month = home("cats"), f"{home('cats')}/2019-01"
    for path, page in {
            "/pipermail/cats": cats, "/pipermail/cats/": cats, "/pipermail/cats/index.html": cats,
            "/pipermail/cats/2019-January/": month, "/mailman/private/cats/2019-January/thread.html": month,
            "/pipermail/cats/2019-January/subject.html": month, "/pipermail/cats/2019-January/author.html?x=1": month,
            "/pipermail/cats/2019-January/date.html": month, "/pipermail/cats/2019-January.txt": f"{month}.mbox.gz",
            "/pipermail/cats/2019-January.txt.gz": f"{month}.mbox.gz",
            "/pipermail/cats/2019q2/date.html": f"{cats}/2019-04",
            f"/hyperkitty/list/cats@{HOST}/": cats, f"/hyperkitty/list/cats@{HOST}/latest": cats,
            f"/hyperkitty/list/cats@{HOST}/2019/1/": month, f"/archives/list/cats%40{HOST}/2019/1/4/": month,
            f"/hyperkitty/list/cats@{HOST}/thread/{first.hash}/": f"{cats}/{first.hash}/thread",
            f"/hyperkitty/list/cats@{HOST}/message/{second.hash}/attachment/2/x.png": f"{cats}/{second.hash}",
            "/lists/archive/cats": cats, "/lists/archive/cats/2019-01/threads.html": month,
            "/sympa/info/cats": f"{WEB}/list/cats.{HOST}",  # no archive's, though below a path of old_archives
            "/sympa/arc/cats/2019-01/": month, "/sympa/arc/cats/2019-01/maillist.html": month, "/sympa/arc/cats": cats,
            f"/sympa/arc/cats/{sympa[1]}": f"{cats}/{second.hash}",
            f"/sympa/arcsearch_id/cats/2019-01/{second.id.replace('%', '%25')}": f"{cats}/{second.hash}",
            "/ezmlm-cgi?cats": cats, "/ezmlm-cgi?cats:iis:201901:abc": month, "/ezmlm-cgi/cats": cats,
            "/hyperkitty/": f"{WEB}/"}.items():
        assert where(site, path) == page, path
    answer = site.pages.ask("HEAD", f"/pipermail/cats/{old_archive.pipermail_name(second)}")
    assert (answer.status, answer.headers["Location"], answer.octets) == (301, f"{cats}/{second.hash}", b"")
    assert "max-age" in answer.headers["Cache-Control"]
    assert site.pages.send(f"/pipermail/cats/{old_archive.pipermail_name(second)}", {}).status == 405


def test_counted_in_the_mailbox_where_no_pages_are_left(site, tmp_path):
    """pipermail goes on counting in the next month."""
    mails, box = bring(site, "cats", 250), tmp_path / "cats.mbox"
    box.write_bytes(old_archive.mbox(mails))
    note(site, f"cats@{HOST}", "mbox", box, "/pipermail/cats", left_out=sum(mail.bare for mail in mails))
    for mail in mails:
        page = where(site, f"/pipermail/cats/{old_archive.pipermail_name(mail)}")
        assert page == (404 if mail.bare else f"{home('cats')}/{mail.hash}")
    assert where(site, "/pipermail/cats/2019-February/") == f"{home('cats')}/2019-02"
    assert where(site, "/pipermail/cats/2019-February/000250.html") == 404


def test_a_renamed_list_keeps_its_old_addresses(site, tmp_path):
    """Also when the index is made again; an address leads to whom it is given last."""
    (mail, *_) = mails = bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "cats", mails)
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats", "/pipermail/felines")
    site.cli("list", "rename", f"cats@{HOST}", f"lions@{HOST}")
    site.cli("archive", "index")
    note(site, f"lions@{HOST}", "pipermail", tmp_path / "cats", "/pipermail/kittens")
    page = f"{home('cats')}/{mail.hash}"
    assert where(site, f"/pipermail/felines/{old_archive.pipermail_name(mail)}") == page
    assert where(site, f"/pipermail/kittens/{old_archive.pipermail_name(mail)}") == page
    assert where(site, f"/pipermail/cats/{old_archive.pipermail_name(mail)}") == 404
    for address in (f"cats@{HOST}", f"lions@{HOST}", f"CATS@{HOST}"):
        assert where(site, f"/hyperkitty/list/{address}/message/{mail.hash.lower()}/") == page
    put(site, f"owls@{HOST}", b"/pipermail/kittens\t\n")
    assert where(site, "/pipermail/kittens") == 403


def test_strangers_learn_nothing_of_a_private_archive(site, sink, tmp_path):
    (mail, *_) = mails = bring(site, "owls", 5)
    bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "owls", mails)
    note(site, f"owls@{HOST}", "pipermail", tmp_path / "owls", "/pipermail/owls", "/mailman/private/owls")
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
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats", "/pipermail/cats")
    for path in ("/pipermail/cats/2019-January/000005.html", "/pipermail/dogs/2019-January/000001.html",
                 "/pipermail/cats/../../etc/passwd", "/pipermail/cats/%2e%2e/000001.html", "/pipermail/cats/a%2fb",
                 "/pipermail/cats/%00", "/pipermail/%00/2019-January/000001.html", "/pipermail/cats/%ff%fe/000001.html",
                 "/pipermail/cats/2019-January/000001.html%00", "/pipermail/cats/2019-Januar/000001.html",
                 "/pipermail/cats/2019-January/99999999999999999999.html", "/pipermail/cats/0000-January/000001.html",
                 "/pipermailx/cats/2019-January/000001.html", "/pipermail/cats/2019-January/attachments/x.html",
                 f"/hyperkitty/list/cats@{HOST}/message/{'1' * 32}/", f"/hyperkitty/list/cats@{HOST}/message/../x/",
                 f"/hyperkitty/list/cats@{HOST}/2019/13/", "/hyperkitty/list/cats/", "/hyperkitty/admin/",
                 "/ezmlm-cgi?cats:mss:1:201901:x", "/ezmlm-cgi?%00:mss:1", "/pipermail/cats?%zz",
                 "/sympa/arc/cats/2019-99/msg00001.html",
                 "/pipermail/" + "a/" * 3000, "/pipermail/cats/" + "x" * 8000):
        assert where(site, path) == 404, path
    # A request that is too long is refused, maybe before it was sent whole, and the runner lives.
    for length in (60_000, 10_000_000):
        with contextlib.suppress(ConnectionError, http.client.BadStatusLine):
            assert site.pages.get("/pipermail/cats/" + "x" * length).status in (400, 414, 431)
    assert where(site, f"/pipermail/cats/{old_archive.pipermail_name(mails[1])}") == f"{home('cats')}/{mails[1].hash}"


def test_pages_that_say_little(site, tmp_path):
    """Told and left out; so are lines of a map that are none, and messages that are not here are counted."""
    mails = bring(site, "cats", 5)
    pages = tmp_path / "cats"
    old_archive.pipermail(pages, mails)
    (lost := pages / "2019-January" / "000777.html").write_text("<HTML><H1>Nothing</H1>")
    lost.with_name("000778.html").write_bytes(b"\0\xff" * 1000)
    lost.with_name("000779.html").symlink_to("/etc/passwd")
    lines, told = map_of("pipermail", pages, "/pipermail/cats", code=1)
    assert "left out: 2019-January/000777.html" in told and "000778" in told and b"000779" not in lines, told
    out = put(site, f"cats@{HOST}", b"# a map\n\n" + lines + b"/pipermail/cats/x\tnobody@example.org\nno path\n"
              b"/\xff\t1@b.example\n", code=1)
    assert "1 of them of messages that are not in the archive; 2 lines left out" in out
    assert re.search(r"left out: line \d+: no path: it is no path, a tab", out), out
    assert where(site, f"/pipermail/cats/{old_archive.pipermail_name(mails[4])}") == f"{home('cats')}/{mails[4].hash}"
    for path in ("/pipermail/cats/2019-January/000777.html", "/pipermail/cats/x"):
        assert where(site, path) == 404
    assert site.run("archive", "old", f"cats@{HOST}").returncode == 64
    assert site.run("archive", "old", f"cats@{HOST}", tmp_path / "none").returncode not in (0, 1)


def test_a_damaged_table_hurts_no_other_address(site, tmp_path):
    """It is told; what needs no table goes on, and all does when it was made again."""
    (mail, *_) = mails = bring(site, "cats", 5)
    old_archive.pipermail(tmp_path / "cats", mails)
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats", "/pipermail/cats")
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
    note(site, f"cats@{HOST}", "pipermail", tmp_path / "cats", "/pipermail/cats")
    assert where(site, path) == page
    for file in table.parent.glob("old.db*"):  # under the eyes of who has it open
        file.unlink()
    assert where(site, path) == 404


def test_wrong_settings_are_named(site):
    for key, word in (("old_archives", "pipermail"), ("old_hyperkitty", "lists"), ("old_pages", "hypermail:/x")):
        site.set({"web": {"old_archives": None, key: word}})
        done = site.run("config", "check")
        told = done.stderr + done.stdout
        assert done.returncode != 0 and key in told and word in told
        site.set({"web": {key: None}})
