# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk: what a setting, a ban or a header field would have done is shown before it is saved, by a process of its
own that is killed when nobody waits for it, and other pages are served meanwhile."""
import re
import socket
import urllib.parse
from pathlib import Path

import pytest

from support.desk import CATS, Person, form_fields, write_to
from support.instance import HOST, wait_until
from support.pages import make_site
from support.vectors import VECTORS, Tags

OLGA, MO, ANNE, BEA = (f"{name}@example.org" for name in ("olga", "mo", "anne", "bea"))
FORM = f"{CATS}/settings/moderation"
FAILED, LATE = "It could not be tried", "It took too long"
SHUT = {"set-default_member_action": "hold"}


@pytest.fixture
def start(instances, sink):
    def make(**settings):
        instance = make_site(instances, sink, **{"archiver.maildir": {"index": "yes"}, **settings})
        for name, owner in (("cats", OLGA), ("dogs", MO)):
            instance.create_list(name, [ANNE], owner=owner, settings=["default_nonmember_action=hold",
                                                                     "default_member_action=defer"])
        return instance
    return make


def foretold(instance, *words):
    """Counts of the shell, and the ids of the rows."""
    lines = instance.rows("list", "try", f"cats@{HOST}", *words)
    return lines[-1], {str(row["held"]) if row["held"] else row["id"] for row in lines[:-1]}


def shown(text):
    """Ids of the posts to which the page has links."""
    return set(re.findall(rf'<a href="(?:/desk/post/|/archive/[^"/]+/)([^"/]+)"><bdi>', text))


def unmarked(page):
    """A page without the mark of its forms, which holds the time."""
    return re.sub(r'name="mark" value="[^"]*"', "", page.text)


def test_what_is_shown_is_what_the_shell_says(start, sink):
    site = start()
    for number, subject in enumerate(VECTORS):
        write_to(site, "cats", ANNE if number % 2 else BEA, subject)
    olga = Person(site, sink, OLGA)
    page = olga.send(FORM, SHUT)
    total, ids = foretold(site, "default_member_action=hold")
    count, posts = total["would_be"]["held"], total["posts"]
    assert page.status == 200 and 0 < count < posts == len(VECTORS) and shown(page.text) == ids
    page.says(f"{count} of {posts} posts would have been held", 'name="confirm"')
    Tags().check(page.text)
    page = olga.send(FORM, SHUT, Accept_Language="de")
    page.says(f"Zurückgehalten worden wären: {count} von {posts} Beiträgen")
    for path in {f"/archive/cats.{HOST}/{one}" if not one.isdigit() else f"/desk/post/{one}" for one in ids}:
        assert olga.get(path).status == 200, path
    # A ban, and a header field, that are not there afterwards.
    for path, fields, words in (("bans", {"add": f"{ANNE}\r\n"}, ["--ban", ANNE]),
                                ("header-matches", {"header": "Subject", "pattern": "script", "target": "discard"},
                                 ["--header-match", "subject: script", "--action", "discard"])):
        before = unmarked(olga.get(f"{CATS}/{path}"))
        page = olga.send(f"{CATS}/{path}", {**fields, "try": "yes"})
        total, ids = foretold(site, *words)
        assert ids and shown(page.text) == ids
        for fate in ("held", "rejected", "discarded"):
            assert (f"posts would have been {fate}" in page.text) == (total["would_be"][fate] > 0), fate
        Tags().check(page.text)
        assert unmarked(olga.get(f"{CATS}/{path}")) == before
        assert olga.send(f"{CATS}/{path}", form_fields(page.text)).status == 303
        assert unmarked(olga.get(f"{CATS}/{path}")) != before
    assert olga.send(f"{CATS}/bans", {"add": "^((", "try": "yes"}).status == 400


def test_others_get_none(start, sink):
    site = start()
    mo = Person(site, sink, MO)
    for path, fields in (("settings/moderation", SHUT), ("bans", {"add": ANNE}),
                         ("header-matches", {"header": "X", "pattern": "y"})):
        assert mo.send(f"{CATS}/{path}", {**fields, "try": "yes"}).status == 404
        mo.send(f"/desk/list/dogs.{HOST}/{path}", {**fields, "try": "yes"}).says("There is no post to try it with")


def test_a_trial_that_fails(start, sink):
    site = start()
    write_to(site, "cats", ANNE, "Hello")
    olga = Person(site, sink, OLGA)
    place = site.archive / "maildir" / f"cats.{HOST}" / "new"
    place.rename(place.with_name("away"))
    place.symlink_to(place)
    page = olga.send(FORM, SHUT).says(FAILED)
    assert olga.confirm(FORM, page).status == 303
    assert site.cli("list", "get", f"cats@{HOST}", "default_member_action").strip() == "hold"


def trials(site):
    """Processes of trials of this site."""
    found, place = [], f"{site.config.parent}/".encode()  # the master hands on a copy of the configuration
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(place) for word in words) and b"--from-json=-" in words:
            found.append((int(path.parent.name), words))
    return found


class Browser:
    """Sends the form, and reads the first part of the answer."""

    def __init__(self, olga, fields):
        body = urllib.parse.urlencode({"mark": olga.mark, **fields})
        self.link = socket.create_connection(("127.0.0.1", olga.pages.port), timeout=60)
        self.link.sendall(f"POST {CATS}/settings/dmarc HTTP/1.1\r\nHost: x\r\nCookie: {olga.cookie}\r\n"
                          "Content-Type: application/x-www-form-urlencoded\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        self.text = ""
        while "It is being tried" not in self.text:
            assert self.read(), self.text

    def read(self):
        octets = self.link.recv(65536)
        self.text += octets.decode(errors="replace")
        return octets


SLOW = {"set-dmarc_mitigate_action": "reject"}


@pytest.fixture
def silent():
    """A name server that never answers, for which a trial waits."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{server.getsockname()[1]}"


def slow_site(start, silent, **web):
    site = start(dns={"servers": silent, "timeout": "60s"}, web=web)
    write_to(site, "cats", ANNE, "Hello")
    return site


def test_one_that_takes_too_long(start, sink, silent):
    site = slow_site(start, silent, trial_timeout="1s")
    olga = Person(site, sink, OLGA)
    browser = Browser(olga, SLOW)
    assert 'name="confirm"' in browser.text  # it can be saved already
    while browser.read():
        pass
    assert LATE in browser.text
    wait_until(lambda: not trials(site), 30, "the killed trial to be gone")
    answer = olga.send(f"{CATS}/settings/dmarc", {**form_fields(browser.text), "confirm": "yes"})
    assert answer.status == 303


def test_others_are_served_and_nobody_is_waited_for(start, sink, silent):
    site = slow_site(start, silent, trial_timeout="1h", max_trials="1")
    olga = Person(site, sink, OLGA)
    browser = Browser(olga, SLOW)
    wait_until(lambda: trials(site), 30, "the trial to run")
    ((_, words),) = trials(site)
    assert not any(b"reject" in word for word in words)  # no list of processes shows the change
    for _ in range(20):
        assert olga.get(f"{CATS}/log").status == 200
    olga.send(FORM, SHUT).says("Others are trying changes", 'name="confirm"')
    assert len(trials(site)) == 1
    browser.link.close()
    wait_until(lambda: not trials(site), 30, "the trial of who went away ends")
    again = []

    def runs_again():  # the page may be asked before the server has heard that the process ended: then it is full
        if not trials(site):
            again.append(Browser(olga, SLOW))
        return trials(site)

    wait_until(runs_again, 30, "another trial to run")
    site.stop()
    wait_until(lambda: not trials(site), 30, "the trial to end with the pages")
