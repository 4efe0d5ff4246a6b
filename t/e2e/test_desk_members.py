# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk: members of a list are searched, added, removed and saved."""
import csv
import io
import re

import pytest

from support.desk import CATS, Person
from support.instance import HOST
from support.pages import letter_link, make_site

OLGA, ANNE, BART = (f"{name}@example.org" for name in ("olga", "anne", "bart"))
ADD = f"{CATS}/members/add"


@pytest.fixture
def site(instances, sink):
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE, BART], owner=OLGA)
    instance.create_list("dogs", [ANNE], owner=BART)
    return instance


def shown(answer):
    return re.findall(r'name="member-\w+" value="yes"> <bdi>(.*?)</bdi>', answer.text)


def test_search(site, sink):
    lines = "".join(f"Person Nr{number} <p{number:03}@host{number % 7}.example>\n" for number in range(250))
    site.cli("member", "import", f"cats@{HOST}", input=lines)
    olga = Person(site, sink, OLGA)
    first = olga.get(f"{CATS}/members").says("In all: 252")
    seen, answer = shown(first), first
    while (after := re.search(r'href="([^"]*)" rel="next"', answer.text)):
        answer = olga.get(after.group(1).replace("&amp;", "&"))
        seen += shown(answer)
    assert len(seen) == len(set(seen)) == 252 and {ANNE, BART} <= set(seen)
    for typed, found in (("p017@", ["p017@host3.example"]), ("nr17", 11), ("NR249", ["p249@host4.example"]),
                         ("p0*@host1.ex*", 15), ("*249*", 1), ("nobody", 0), (" anne ", [ANNE]), ("%", 0), ("_", 0)):
        answer = olga.get(f"{CATS}/members?q={typed.replace('%', '%25').replace(' ', '+')}")
        assert shown(answer) == found or len(shown(answer)) == found, typed
    assert shown(olga.get(f"{CATS}/members?role=owner")) == [OLGA]
    evil = olga.get(f"{CATS}/members?q=%22%3E%3Cscript%3E&role=%3Cb%3E&after=nonsense")
    assert evil.status == 404 and "<script" not in evil.text
    assert "<script" not in olga.get(f"{CATS}/members?q=%22%3E%3Cscript%3E").text


@pytest.mark.main
def test_add_with_a_preview(site, sink):
    site.cli("ban", "add", "--list", f"cats@{HOST}", "spam@example.org")
    olga = Person(site, sink, OLGA)
    text = f"new@example.org\r\nNora <b>N</b> <nora@example.org>\r\nAnne@example.org\r\nspam@example.org\r\n" \
           f"nonsense\r\nnew@example.org\r\ncats@{HOST}\r\n"
    preview = olga.send(ADD, {"people": text, "how": "member"})
    preview.says("without a letter: 2", "There already: 1", "Left out: 3", "Nora &lt;b&gt;N")
    assert "<b>N" not in preview.text and site.members() == [ANNE, BART]
    answer = olga.confirm(ADD, preview)
    assert answer.status == 303 and set(site.members()) == {ANNE, BART, "new@example.org", "nora@example.org"}
    olga.get(answer.headers["Location"]).says("It was done.")
    # Once more: they are there already.
    olga.confirm(ADD, preview)
    assert len(site.members()) == 4
    site.wait_idle()
    assert not {"new@example.org", "nora@example.org"} & set(sink.take_mail())
    lines = 'name,address\n"=cmd()",formula@example.org\n"A, B",ab@example.org'
    preview = olga.send(ADD, {"people": lines, "how": "member"})
    preview.says("without a letter: 2")
    olga.confirm(ADD, preview)
    row = site.cli("member", "ls", f"cats@{HOST}", "--json")
    assert "A, B" in row and "=cmd()" in row
    # Nothing at all, and a header that names no address.
    olga.send(ADD, {"people": "", "how": "member"}).says("without a letter: 0")
    site.cli("member", "add", f"cats@{HOST}", "mod@example.org", "--role", "moderator")
    olga.send(ADD, {"people": "mod@example.org\nanne@example.org", "how": "moderator", "confirm": "yes"})
    assert site.members(role="moderator") == [ANNE, "mod@example.org"]


def test_invite(site, sink):
    """A person who is asked is a member when the letter was answered."""
    olga = Person(site, sink, OLGA)
    preview = olga.send(ADD, {"people": "new@example.org", "how": "invite"}).says("asks them to join: 1")
    olga.confirm(ADD, preview)
    assert site.members() == [ANNE, BART]
    site.pages.send(letter_link(site, sink, "new@example.org"), {"confirm": "yes"})
    assert "new@example.org" in site.members()


@pytest.mark.main
def test_remove(site, sink):
    olga, bart = Person(site, sink, OLGA), Person(site, sink, BART)
    ids = dict(re.findall(r'name="(member-\w+)" value="yes"> <bdi>(.*?)</bdi>', olga.get(f"{CATS}/members").text))
    anne, = [name for name, address in ids.items() if address == ANNE]
    asked = olga.send(f"{CATS}/members", {"role": "member", anne: "yes"}).says("Remove them?", ANNE)
    assert BART not in asked.text and site.members() == [ANNE, BART]
    assert olga.send(f"{CATS}/members", {"role": "member"}).status == 400
    # An id of another list, and one in another role.
    foreign, = re.findall(r'name="(member-\w+)"', bart.get(f"/desk/list/dogs.{HOST}/members").text)
    for fields in ({foreign: "yes"}, {anne: "yes", "role": "owner"}, {"member-x": "yes"}):
        assert olga.send(f"{CATS}/members", {"role": "member", "confirm": "yes", **fields}).status == 400
    assert site.members("dogs") == [ANNE] and site.members() == [ANNE, BART]
    assert olga.confirm(f"{CATS}/members", asked).status == 303
    assert site.members() == [BART]
    # The last owner stays.
    owner, = re.findall(r'name="(member-\w+)"', olga.get(f"{CATS}/members?role=owner").text)
    olga.send(f"{CATS}/members", {"role": "owner", owner: "yes", "confirm": "yes"}).says("would have no owner")
    assert site.members(role="owner") == [OLGA]
    olga.get(f"{CATS}/log").says(ANNE, "by a page")


def test_csv(site, sink):
    """All members of more than one portion, and no formula among the names; what was saved can be added again."""
    lines = "".join(f"p{number:04}@host.example\n" for number in range(1200))
    site.cli("member", "import", f"cats@{HOST}", input=lines)
    site.cli("member", "add", f"cats@{HOST}", "formula@example.org", "--display-name", '=HYPERLINK("x")')
    olga = Person(site, sink, OLGA)
    answer = olga.get(f"{CATS}/members.csv?role=member")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="cats-member.csv"'
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.octets.decode(), newline="")))
    assert [row["address"] for row in rows] == site.members() and len(rows) == 1203
    (row,) = [row for row in rows if row["address"] == "formula@example.org"]
    assert row["name"] == "'=HYPERLINK(\"x\")"
    site.cli("member", "remove", f"cats@{HOST}", "formula@example.org")
    some = [answer.text.splitlines()[0], *[line for line in answer.text.splitlines() if "formula" in line]]
    preview = olga.send(ADD, {"people": "\r\n".join(some), "how": "member"}).says("without a letter: 1")
    olga.confirm(ADD, preview)
    assert '"=HYPERLINK(\\"x\\")"' in site.cli("member", "ls", f"cats@{HOST}", "--json")
