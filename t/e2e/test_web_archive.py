# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The archive on the pages of the runner web: reading, links that last, searching, saving, and what strangers may not
see."""
import contextlib
import gzip
import html
import http.client
import mailbox
import re
import socket
import threading
import urllib.parse
import xml.etree.ElementTree as xml
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP, default

import pytest

from support.desk import sign_in
from support.instance import HOST, wait_until
from support.pages import make_site, memory
from support.vectors import VECTORS, Tags
from support.post import post

ANNE, BART, OLGA = (f"{name}@example.org" for name in ("anne", "bart", "olga"))
WEB = "https://pages.example"  # of make_site()
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
def world(instances, sink):
    """Two lists with public archives, and one with a private one."""
    instance = make_site(instances, sink)
    for name in ("cats", "dogs", "owls"):
        instance.create_list(name, [ANNE, BART], owner=OLGA,
                             settings=["subject_prefix=", *(["archive_policy=private"] if name == "owls" else [])])
    return instance


def send(instance, name, number, *words, **more):
    send_soon(instance, name, number, *words, **more)
    instance.wait_idle()


def send_soon(instance, name, number, subject="", body="It rains.\n", answers=None, sender=ANNE, **more):
    extra = [f"References: <{name}-{answers}@example.net>"] if answers is not None else []
    octets = post(sender=sender, to=f"{name}@{HOST}", message_id=f"<{name}-{number}@example.net>", extra=extra,
                  subject=subject or f"Number {number}", body=body, **more)
    instance.lmtp_send(octets, f"{name}@{HOST}")


def home(name):
    return f"/archive/{name}.{HOST}"


def links(answer, pattern):
    return re.findall(rf'href="({pattern})"', answer.text)


def message_link(instance, name, subject):
    """The path of a message by its subject."""
    answer = instance.pages.get(f"{home(name)}/2026-11")
    found = re.search(rf'href="([^"]+)" dir="auto">{re.escape(html.escape(subject))}<', answer.text)
    assert found, answer.text
    return found.group(1)


def shown(answer):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", answer.text)))


@pytest.mark.main
def test_read(world, sink):
    """A thread as a tree and by date, its month, and the links that copies bring."""
    pages = world.pages
    pages.get(home("cats")).says("Nothing was posted yet")
    send(world, "cats", 2, "Re: Frost", "At night.\n\n> Is it cold?\n", answers=1, sender=f"Bart <{BART}>")
    send(world, "cats", 1, "Frost", "Is it cold?\n", sender=f"Anne <{ANNE}>")
    send(world, "cats", 3, "Harvest")
    send(world, "dogs", 4, "Bones")
    first = pages.get(home("cats")).says("Frost", "Harvest", "3", "November")
    assert "Bones" not in first.text and "Re: Frost" not in first.text
    (thread,) = links(first, r"[^\"]*/thread")
    tree = pages.get(thread)
    assert re.findall(r'<article class="mail([^"]*)" id="(\w+)"', tree.text)[0][0] == ""
    assert [deep for deep, _ in re.findall(r'<article class="mail([^"]*)" id="(\w+)"', tree.text)] == ["", " d1"]
    assert shown(tree).index("Is it cold?") < shown(tree).index("At night.")
    flat = pages.get(f"{thread}?view=flat")
    assert set(re.findall(r'id="(\w{32})"', flat.text)) == set(re.findall(r'id="(\w{32})"', tree.text))
    month = pages.get(f"{home('cats')}/2026-11").says("Frost", "Re: Frost", "Harvest", "November 2026")
    assert len(links(month, rf"{home('cats')}/\w{{32}}")) == 3
    assert pages.get(f"{home('cats')}/2026-10").status == 200
    for bad in ("2026-13", "2026-1", "1234-56", "A" * 32, "2026-11.mbox", "%00", "a%FFb", ".."):
        assert pages.get(f"{home('cats')}/{bad}").status == 404
    # The copies and the page name each other.
    (copy, *_), = [found for found in (sink.take_mail()[ANNE],)]
    link = copy["Archived-At"].strip("<>") if copy["Archived-At"].startswith(f"<{WEB}") else None
    found = [value.strip("<>") for value in copy.get_all("Archived-At") if WEB in value]
    assert found and (link is None or link in found)
    pages.get(found[0].removeprefix(WEB)).says("Frost", "Bart")
    # One message is no plural.
    for page in (pages.get(home("dogs")), pages.get(f"{home('dogs')}/2026-11")):
        assert "Bones" in page.text and "1 messages" not in page.text, page.text
    assert f"{WEB}{home('cats')}" in copy["List-Archive"]
    pages.get(f"/list/cats.{HOST}").says(f'href="{home("cats")}"')


def test_links_last_when_a_list_is_renamed(world):
    send(world, "cats", 1, "Frost")
    link = message_link(world, "cats", "Frost")
    world.cli("list", "rename", f"cats@{HOST}", f"lions@{HOST}")
    world.pages.get(link).says("Frost", f"lions@{HOST}")
    world.cli("archive", "index")  # made again: other numbers, the same links
    world.pages.get(link).says("Frost")
    send(world, "lions", 2, "Harvest")
    assert "Harvest" in world.pages.get(home("cats")).text


def test_a_list_that_is_made_anew_has_an_archive_of_its_own(world):
    send(world, "cats", 1, "Old secrets")
    link = message_link(world, "cats", "Old secrets")
    world.cli("list", "remove", f"cats@{HOST}", "--yes")
    assert world.pages.get(link).status == 404
    world.create_list("cats", [ANNE], owner=OLGA, settings=["subject_prefix="])
    assert world.pages.get(link).status == 404
    send(world, "cats", 2, "New words")
    fresh = links(world.pages.get(f"/list/cats.{HOST}"), r"/archive/[^\"]*")
    assert fresh == [f"/archive/cats.{HOST}~2"]
    answer = world.pages.get(fresh[0]).says("New words")
    assert "Old secrets" not in answer.text


@pytest.mark.main
def test_strangers_see_no_addresses(world, sink):
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Cc"] = f"Anne <{ANNE}>", f"cats@{HOST}", f"Zoe <zoe@far.example>"
    mail["Subject"], mail["Message-ID"] = f"Ask {BART} about it", "<secret-1@host.example>"
    mail["Date"] = "Fri, 20 Nov 2026 13:20:00 +0000"
    mail.set_content(f"Write to {BART} or mailto:{BART}?subject=x\n\n-- \nAnne {ANNE}\n")
    mail.add_attachment(f"to {BART}\n", filename="note.txt")
    mail.add_attachment(f"Caf\xe9: {BART}\n", filename="old.txt", charset="iso-8859-1")
    wide = f"\ufeffname\t{BART} \u4e2d".encode
    mail.add_attachment(wide("utf-16-le"), maintype="text", subtype="csv", filename="little.csv")
    mail.add_attachment(wide("utf-16-be"), maintype="application", subtype="octet-stream", filename="big.txt")
    mail.add_attachment(f"ATTENDEE:mailto:{BART}\n", subtype="calendar", filename="meet.ics")
    mail.add_attachment(f"%PDF {BART} \0".encode(), maintype="application", subtype="pdf", filename="made.pdf")
    mail.add_attachment("x\n", filename=f"{BART}.txt")
    mail.add_attachment(b"<script>alert(1)</script>", maintype="text", subtype="html", filename="page.html")
    world.lmtp_send(mail.as_bytes(), f"cats@{HOST}", sender=ANNE)
    send(world, "cats", 2, "Re: Ask", answers="none")
    (link,) = [one for one in links(world.pages.get(f"{home('cats')}/2026-11"), rf"{home('cats')}/\w{{32}}")
               if "Ask bart" in world.pages.get(one).text]
    thread = f"{link}/thread"
    for path in (home("cats"), f"{home('cats')}/2026-11", link, thread, f"{thread}?view=flat", f"{link}/raw",
                 f"{link}/mbox", f"{link}/atom", f"{home('cats')}/atom", f"{home('cats')}/search?q=bart",
                 f"{home('cats')}/search?q=example", "/search?q=bart"):
        answer = world.pages.get(path)
        assert answer.status == 200, path
        for domain in ("example.org", "far.example"):
            rest = re.sub("</?mark>", "", answer.text.replace("lists.example", ""))
            assert not re.search(rf"[\w.]@{re.escape(domain)}|%40{re.escape(domain)}", rest), (path, answer.text)
        assert "<script>alert" not in answer.text
    # Nobody may ask whether an address is here, either.
    assert "Nothing was found" in world.pages.get(f"{home('cats')}/search?q=from:{ANNE}").text
    assert "Nothing was found" not in world.pages.get(f"{home('cats')}/search?q=from:Anne").text
    raw = message_from_bytes(world.pages.get(f"{link}/raw").octets, policy=default)
    assert raw["From"].addresses[0].display_name == "Anne" and raw["From"].addresses[0].domain == "masked.invalid"
    assert raw["Message-ID"] == "<secret-1@host.example>" and "Write to bart@" in raw.get_content()
    # Nor in files that are text, whose other bytes stay; a member gets them as they came.
    world.wait_idle()
    sink.take_mail()
    cookie = sign_in(world, sink, ANNE)
    for name, masked, whole in (("note.txt", "to bart@\u2026".encode(), f"to {BART}".encode()),
                                ("old.txt", b"Caf\xe9: bart@...", f"Caf\xe9: {BART}".encode("latin-1")),
                                ("little.csv", "\ufeffname\tbart@\u2026 \u4e2d".encode("utf-16-le"), wide("utf-16-le")),
                                ("big.txt", "\ufeffname\tbart@\u2026 \u4e2d".encode("utf-16-be"), wide("utf-16-be")),
                                ("meet.ics", "ATTENDEE:mailto:bart@\u2026".encode(),
                                 f"ATTENDEE:mailto:{BART}".encode()),
                                ("made.pdf", f"%PDF {BART} \0".encode(), f"%PDF {BART} \0".encode())):
        (path,) = links(world.pages.get(link), rf"[^\"]*/{name}")
        assert world.pages.get(path).octets.rstrip() == masked, name
        assert world.pages.get(path, Cookie=cookie).octets.rstrip() == whole, name
    for path in links(world.pages.get(link), r"[^\"]*/file/[^\"]*"):
        assert "example.org" not in world.pages.get(path).headers["Content-Disposition"]
    # Files are saved, not run.
    for name, kind in (("note.txt", "text/plain"), ("page.html", "application/octet-stream")):
        (path,) = links(world.pages.get(link), rf"[^\"]*/{name}")
        answer = world.pages.get(path)
        assert answer.status == 200 and answer.headers["Content-Type"].startswith(kind)
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for path in (f"{link}/file/99/x", f"{link}/file/-1/x", f"{link}/file/x/x", f"{home('dogs')}/{link[-32:]}"):
        assert world.pages.get(path).status == 404


def test_what_mail_carries_is_text(world):
    """Known ways into a page, in each field that mail, names and settings can carry."""
    for number, vector in enumerate(VECTORS):
        mail = EmailMessage(policy=SMTP)
        mail["From"] = f'"{vector.replace(chr(34), "")}" <{ANNE}>'
        mail["To"], mail["Subject"] = f"cats@{HOST}", f"{vector} {number}"
        mail["Message-ID"], mail["Date"] = f"<x{number}@host.example>", "Fri, 20 Nov 2026 13:20:00 +0000"
        mail.set_content(f"{vector}\n\n> {vector}\n\n-- \n{vector}\n")
        mail.add_attachment(b"x", maintype="text", subtype="html", filename=f"{vector}.html")
        world.lmtp_send(mail.as_bytes(), f"cats@{HOST}", sender=ANNE)
        world.cli("list", "set", f"cats@{HOST}", f"description={vector}", f"display_name={vector}")
        world.wait_idle()
        query = urllib.parse.quote(vector)
        pages = [home("cats"), f"{home('cats')}/2026-11", f"{home('cats')}/search?q={query}", f"/search?q={query}",
                 f"{home('cats')}/atom", "/", f"/list/cats.{HOST}", f"{home('cats')}?before={query}"]
        pages += links(world.pages.get(f"{home('cats')}/2026-11"), rf"{home('cats')}/\w{{32}}")[-1:]
        pages += [f"{pages[-1]}/thread"]
        for path in pages:
            answer = world.pages.get(path)
            assert answer.status == 200, path
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            if path.endswith("/atom"):
                feed = xml.fromstring(answer.octets)
                for text in feed.findall("a:entry/a:content", ATOM) + feed.findall("a:entry/a:title", ATOM):
                    Tags().check(text.text)
            else:
                Tags().check(answer.text)


@pytest.mark.main
def test_private_and_no_archives(world):
    """Strangers read nothing of a private archive, whichever path they take, and nothing of a list without one."""
    send(world, "owls", 1, "Secret frost")
    send(world, "cats", 2, "Public frost")
    link = message_link(world, "cats", "Public frost").replace("cats", "owls")
    answer = world.pages.get(home("owls"))
    assert answer.status == 403 and "Secret" not in answer.text
    hashed = re.search(r"\w{32}", link).group(0)
    for path in ("2026-11", "2026-11.mbox.gz", hashed, f"{hashed}/thread", f"{hashed}/raw", f"{hashed}/mbox",
                 f"{hashed}/atom", "atom", "search?q=frost", f"{hashed}/file/0/x"):
        assert world.pages.get(f"{home('owls')}/{path}").status == 403
    everywhere = world.pages.get("/search?q=frost").says("Public frost")
    assert "Secret" not in everywhere.text
    for number in range(2, 25):  # more than one page of results: they leave room for what may be shown
        send_soon(world, "owls", number, "Secret frost")
    world.wait_idle()
    first = world.pages.get("/search?q=frost&by=date").says("Public frost")
    assert "behind=" not in first.text
    world.cli("list", "set", f"cats@{HOST}", "archive_policy=never")
    assert world.pages.get(home("cats")).status == 404
    assert "Public frost" not in world.pages.get("/search?q=frost").text  # though it is remembered as public
    world.cli("list", "set", f"cats@{HOST}", "archive_policy=public", "advertised=no")
    wait_until(lambda: "Public frost" not in world.pages.get("/search?q=frost").text, 60, "lists to be read anew")
    world.pages.get(home("cats")).says("Public frost")


@pytest.mark.main
def test_hidden_and_removed(world):
    for number, subject in enumerate(("Shown words", "Hidden words", "Removed words")):
        send(world, "cats", number, subject, body=f"text of {subject}\n", answers=0)
    paths = {word: message_link(world, "cats", f"{word} words") for word in ("Shown", "Hidden", "Removed")}
    for path in paths.values():
        world.pages.get(path)  # so that what was shown is remembered
        world.pages.get(f"{path}/thread")
    world.cli("archive", "hide", f"cats@{HOST}", paths["Hidden"][-32:], "--note", "at the wish of its author")
    world.cli("archive", "remove", f"cats@{HOST}", paths["Removed"][-32:], "--note", "by a court")
    hidden, removed = world.pages.get(paths["Hidden"]), world.pages.get(paths["Removed"])
    assert (hidden.status, removed.status) == (404, 410)
    hidden.says("at the wish of its author")
    removed.says("by a court")
    mbox = world.pages.get(f"{home('cats')}/2026-11.mbox.gz").octets
    for path in (home("cats"), f"{home('cats')}/2026-11", f"{paths['Shown']}/thread", f"{home('cats')}/atom",
                 f"{home('cats')}/search?q=words", "/search?q=words", f"{paths['Shown']}/mbox"):
        answer = world.pages.get(path)
        assert answer.status == 200
        assert "Hidden words" not in answer.text and "Removed words" not in answer.text, path
    assert b"Hidden words" not in gzip.decompress(mbox) and b"Shown words" in gzip.decompress(mbox)
    assert world.pages.get(f"{paths['Shown']}/thread").text.count("This message is not shown") == 2
    for path in (paths["Hidden"], paths["Removed"]):
        assert world.pages.get(f"{path}/raw").status in (404, 410)
    world.cli("archive", "unhide", f"cats@{HOST}", paths["Hidden"][-32:])
    world.pages.get(paths["Hidden"]).says("text of Hidden words")


@pytest.mark.main
def test_search(world):
    send(world, "cats", 1, "Frost in May", "The first night.\n")
    send(world, "cats", 2, "Weather", "late frost, said the radio\n")
    send(world, "dogs", 3, "Frost and dogs")
    found = lambda path: re.findall(r'<li><a href="[^"]*" dir="auto">([^<]*)<', world.pages.get(path).text)
    assert found(f"{home('cats')}/search?q=frost") == ["Frost in May", "Weather"]  # in the subject it counts more
    assert found(f"{home('cats')}/search?q=frost&by=date") == ["Weather", "Frost in May"]
    assert found(f"{home('cats')}/search?q=%22late+frost%22") == ["Weather"]
    assert found(f"{home('cats')}/search?q=subject:frost") == ["Frost in May"]
    assert sorted(found("/search?q=frost")) == ["Frost and dogs", "Frost in May", "Weather"]
    world.pages.get(f"{home('cats')}/search?q=radio").says("<mark>radio</mark>")
    # Text that is no date is a word; the page shows that it was looked for.
    world.pages.get(f"{home('cats')}/search?q=after:spring").says("Nothing was found", "Looked for", "after spring")
    assert found(f"{home('cats')}/search?q=snow") == [] and found(f"{home('cats')}/search?q=") == []
    for strange in ('"', "*", "a AND", "NEAR(", "%00", "%FF", "q" * 5000, "from:", "-", "after:9999999", "+" * 300):
        assert world.pages.get(f"{home('cats')}/search?q={urllib.parse.quote(strange, safe='%+')}").status == 200
    many = [f"{home('cats')}/search?q=frost&by=date&behind={behind}" for behind in ("0", "-1", "x", "9" * 30)]
    assert all(world.pages.get(path).status == 200 for path in many)


def search_on(port, path, found):
    """Search until somebody was told to wait. No page is checked, which would take longer than the search."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while not found:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            found.append((answer.status, answer.headers["Retry-After"], text))
    connection.close()


def test_searches_of_strangers_have_a_budget(world):
    """Several who search without an end are told to wait; the other pages come all the while."""
    for number in range(30):
        send(world, "cats", number, f"Frost {number}", "frost and rain\n" * 2000)  # a search takes longer than a robot
    found = []
    robots = [threading.Thread(target=search_on, args=(world.pages.port, f"{home('cats')}/search?q=frost+rain", found),
                               daemon=True) for _ in range(4)]
    for robot in robots:
        robot.start()
    wait_until(lambda: found, 120, "an answer that says to wait")
    status, seconds, text = found[0]
    assert status == 429 and int(seconds) >= 1 and "Whole months can be saved" in text
    assert world.pages.get(home("cats")).status == 200
    for robot in robots:
        robot.join(180)
    wait_until(lambda: world.pages.get(f"{home('cats')}/search?q=frost").status == 200, 60, "the budget to be paid off")


def test_save(world, tmp_path):
    """A month and a thread as mboxes, which Python's mailbox reads."""
    for number in range(250):
        send_quickly(world, number)
    world.wait_idle()
    assert world.pages.ask("HEAD", f"{home('cats')}/2026-11.mbox.gz").status == 200
    packed = world.pages.get(f"{home('cats')}/2026-11.mbox.gz")
    assert packed.headers["Content-Type"] == "application/gzip"
    (tmp_path / "month").write_bytes(gzip.decompress(packed.octets))
    month = mailbox.mbox(tmp_path / "month", factory=lambda file: message_from_bytes(file.read(), policy=default))
    assert sorted(mail["Subject"] for mail in month) == sorted(f"Täglich {number}" for number in range(250))
    assert all(f"From the text {number}" in body for number, body in
               ((mail["Subject"].split()[1], mail.get_content()) for mail in month))
    thread = message_link(world, "cats", "Täglich 0")
    (tmp_path / "thread").write_bytes(world.pages.get(f"{thread}/mbox").octets)
    assert len(mailbox.mbox(tmp_path / "thread")) == 250
    # Pages of a long thread and of a long month hold each message once.
    for begin, pattern in ((f"{thread}/thread", r'<article class="mail[^"]*" id="(\w{32})"'),
                           (f"{thread}/thread?view=flat", r'<article class="mail[^"]*" id="(\w{32})"'),
                           (f"{home('cats')}/2026-11", rf'<li><a href="{home("cats")}/(\w{{32}})"')):
        seen, path, count = [], begin, 0
        while path:
            answer = world.pages.get(path)
            seen += re.findall(pattern, answer.text)
            path = html.unescape((re.findall(r'<p class="more"><a href="([^"]*)"', answer.text) or [""])[0])
            count += 1
        assert len(seen) == len(set(seen)) == 250 and count > 1


def send_quickly(instance, number):
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"] = ANNE, f"cats@{HOST}", f"Täglich {number}"
    mail["Message-ID"], mail["Date"] = f"<cats-{number}@example.net>", "Fri, 20 Nov 2026 13:20:00 +0000"
    if number:
        mail["References"] = "<cats-0@example.net>"
    mail.set_content(f"From the text {number}\n")
    instance.lmtp_send(mail.as_bytes(), f"cats@{HOST}", sender=ANNE)


def test_feed(world):
    send(world, "cats", 1, "Frost & rain", "<b>bold</b>\n", sender=f"Anne <{ANNE}>")
    send(world, "cats", 2, "Harvest")
    answer = world.pages.get(f"{home('cats')}/atom")
    assert answer.headers["Content-Type"].startswith("application/atom+xml")
    feed = xml.fromstring(answer.octets)
    assert [html.unescape(one.text) for one in feed.findall("a:entry/a:title", ATOM)] == ["Harvest", "Frost & rain"]
    link = feed.findall("a:entry/a:link", ATOM)[1].get("href")
    world.pages.get(link.removeprefix(WEB)).says("Frost &amp; rain")
    assert "&lt;b&gt;bold" in feed.findall("a:entry/a:content", ATOM)[1].text
    assert feed.find("a:updated", ATOM).text.startswith("2026-11-20T13:20:00Z")
    world.pages.get(home("cats")).says(f'href="{home("cats")}/atom"')


def test_strangers_share_their_pages(world):
    """All get the same bytes, and a page that did not change is not sent again; a new post changes it."""
    send(world, "cats", 1, "Frost")
    pages = [home("cats"), f"{home('cats')}/2026-11", message_link(world, "cats", "Frost"),
             f"{home('cats')}/search?q=frost"]
    for path in pages:
        one = world.pages.get(path, X_Forwarded_For="192.0.2.1")
        other = world.pages.get(path, X_Forwarded_For="192.0.2.2", Cookie="a=b")
        assert one.octets == other.octets and one.headers["ETag"] == other.headers["ETag"]
        assert "public" in one.headers["Cache-Control"] and "Cookie" in one.headers["Vary"]
        again = world.pages.get(path, If_None_Match=one.headers["ETag"])
        assert again.status == 304 and again.octets == b""
        assert world.pages.get(path, Accept_Language="de", If_None_Match=one.headers["ETag"]).status == 200
    before = world.pages.get(home("cats")).headers["ETag"]
    send(world, "cats", 2, "Harvest")
    assert world.pages.get(home("cats"), If_None_Match=before).status == 200


def test_below_a_path(instances, sink):
    """Links hold where the pages are below a path of the site."""
    instance = make_site(instances, sink, site={"web_url": "https://example.org/mail/"})
    instance.create_list("cats", [ANNE], settings=["subject_prefix="])
    send(instance, "cats", 1, "Frost")
    first = instance.pages.get(f"/mail{home('cats')}")
    for path in links(first, r"/[^\"#]+"):
        answer = instance.pages.get(path)
        assert path.startswith("/mail/") and answer.status == (303 if path == "/mail/my" else 200), path
        assert answer.headers.get("Location", "/mail/").startswith("/mail/"), path
    feed = xml.fromstring(instance.pages.get(f"/mail{home('cats')}/atom").octets)
    assert feed.find("a:entry/a:id", ATOM).text.startswith(f"https://example.org/mail{home('cats')}/")


def test_index_damaged_gone_and_files_lost(world):
    """A post that is missing on the disk is a page that says so; the pages come back by themselves."""
    send(world, "cats", 1, "Frost")
    send(world, "dogs", 2, "Bones")
    link, other = message_link(world, "cats", "Frost"), message_link(world, "dogs", "Bones")
    for path in (world.archive / "maildir" / f"cats.{HOST}" / "new").iterdir():
        path.unlink()
    world.set({"web": {"max_header_size": "20K"}})
    world.cli("reload")  # forget what was shown
    wait_until(lambda: world.pages.get(link).status == 404, 60, "the new process")
    world.pages.get(other).says("Bones")
    index = world.archive / "maildir" / ".index"
    real = (index / "index.db").resolve()
    real.write_bytes(b"nonsense" * 1000)
    wait_until(lambda: world.pages.get(other).status == 200, 90, "the index to be made again")
    world.pages.get(other).says("Bones")


def test_a_thread_of_which_a_file_is_gone(world):
    """The others are shown, on the page as in the feed."""
    for number in range(3):
        send(world, "cats", number, f"Number {number}", f"text of {number}\n", answers=0 if number else None)
    for path in (world.archive / "maildir" / f"cats.{HOST}" / "new").iterdir():
        if b"text of 1" in path.read_bytes():
            path.unlink()
    link, gone = (message_link(world, "cats", f"Number {number}") for number in (0, 1))
    for path in (f"{link}/thread", f"{link}/thread?view=flat"):
        answer = world.pages.get(path).says("text of 0", "text of 2", "This message is not shown")
        assert answer.status == 200 and "Number 1" not in answer.text
    feed = xml.fromstring(world.pages.get(f"{home('cats')}/atom").octets)
    assert len(feed.findall("a:entry", ATOM)) == 2
    assert world.pages.get(gone).status == 404


def test_an_index_that_was_replaced_after_a_fault_tells_no_secrets(world):
    """Lists have other numbers in it, so nothing counts that is remembered of them."""
    world.create_list("zebras", [ANNE], settings=["subject_prefix="])
    send(world, "zebras", 1, "Public frost")
    send(world, "owls", 2, "Secret frost")
    world.pages.get("/search?q=frost").says("Public frost")
    index = world.archive / "maildir" / ".index" / "index.db"
    real = index.resolve()
    real.write_bytes(b"nonsense" * 1000)
    real.with_name(f"{real.name}-wal").write_bytes(b"")
    octets = post(sender=ANNE, to=f"zebras@{HOST}", message_id="<zebras-3@example.net>", body="It rains.\n")
    world.lmtp_send(octets, f"zebras@{HOST}")  # so that what was read before is read anew
    wait_until(lambda: world.pages.get("/search?q=frost").status == 503, 20, "the damage to be seen")
    world.cli("archive", "index")
    answer = world.pages.get("/search?q=frost")
    assert answer.status == 200 and "Secret" not in answer.text
    answer.says("Public frost")


def test_large_pages_do_not_multiply(instances, sink):
    """A thread that very many read and do not take is in memory once."""
    world = make_site(instances, sink, lmtp={"max_message_size": "100M"})
    world.create_list("cats", [ANNE], settings=["subject_prefix=", "max_message_size=0"])
    for number in range(20):
        answers = 0 if number else None
        send(world, "cats", number, body="frost and rain all day long, it says\n" * 30000, answers=answers)
    thread = message_link(world, "cats", "Number 0") + "/thread"
    size = len(world.pages.get(thread).octets)
    assert size > 20_000_000
    pid, = world.pids("web")
    before = memory(pid)
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", world.pages.port))
            client.sendall(f"GET {thread} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        assert memory(pid) - before < 5 * size
    assert len(world.pages.get(thread).octets) == size
