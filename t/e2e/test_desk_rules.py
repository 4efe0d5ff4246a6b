# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk: bans, rows of header fields, texts of letters, what came back, and members from outside."""
import html
import re

import pytest

from support.desk import CATS, Person, form_fields, write_to
from support.instance import HOST, wait_until
from support.pages import make_site

OLGA, ANNE, STRANGER = (f"{name}@example.org" for name in ("olga", "anne", "stranger"))
GOODBYE = f"{CATS}/templates/list:user:notice:goodbye"


@pytest.fixture
def site(instances, sink):
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE], owner=OLGA, settings=["default_nonmember_action=hold"])
    return instance


@pytest.fixture
def olga(site, sink):
    return Person(site, sink, OLGA)


def banned(instance):
    return instance.cli("ban", "ls", f"cats@{HOST}", "--json")


def test_bans(site, sink, olga):
    assert olga.send(f"{CATS}/bans", {"add": f"{STRANGER}\r\n^.*@spam\\.example$\r\n\r\n"}).status == 303
    olga.get(f"{CATS}/bans?done=1").says(STRANGER, "^.*@spam\\.example$", "In all: 2")
    nothing = olga.send(f"{CATS}/bans", {"add": " \r\n"})
    assert nothing.status == 303 and "It was done." not in olga.get(nothing.headers["Location"]).text
    assert STRANGER not in olga.get(f"{CATS}/bans?q=SPAM").says("spam").text
    write_to(site, "cats", STRANGER, "Banned")
    assert olga.waiting() == []
    # All or nothing, and what was typed stays.
    answer = olga.send(f"{CATS}/bans", {"add": "good@example.org\r\n^((<b>"})
    assert answer.status == 400 and "^((&lt;b&gt;" in answer.text and "<b>" not in answer.text.split("<h1>")[1]
    assert "good@example.org" not in banned(site)
    olga.send(f"{CATS}/bans", {"add": STRANGER})  # again is no fault
    assert olga.send(f"{CATS}/bans", {f"lift-{STRANGER}": "yes", "lift-none@example.org": "yes"}).status == 303
    assert STRANGER not in banned(site) and "spam" in banned(site)
    olga.get(f"{CATS}/log").says("Ban", STRANGER, "by a page")


def test_header_fields(site, sink, olga):
    path = f"{CATS}/header-matches"
    for header, pattern, target in (("X-Spam", "^yes", "discard"), ("X-Cat", "<i>mouse", "accept"),
                                    ("X-Dog", "woof", "")):
        assert olga.send(path, {"header": header, "pattern": pattern, "target": target}).status == 303
    page = olga.get(path).says("x-spam", "&lt;i&gt;mouse", "as the site says")
    marks = re.findall(r'name="remove" value="([^"]+)"', page.text)
    assert len(marks) == 3
    for fields in ({"header": "X Y", "pattern": "a"}, {"header": "X-Y", "pattern": "(("},
                   {"header": "", "pattern": "a"}, {"header": "X-Y", "pattern": "a", "target": "no-such"},
                   {"header": "X-Cat", "pattern": "<i>mouse"}):
        assert olga.send(path, fields).status == 400
    assert olga.send(path, {"remove": marks[0]}).status == 303
    # The same once more would meet the row that moved up.
    answer = olga.send(path, {"remove": marks[0]})
    assert answer.status == 400 and len(re.findall('name="remove"', olga.get(path).text)) == 2
    for wrong in ("0", "7.1", "x", "-1.0"):
        assert olga.send(path, {"remove": wrong}).status == 400
    write_to(site, "cats", STRANGER, "Mice", extra=["X-Cat: <i>mouse"])
    site.wait_idle()
    assert [mail["X-Cat"] for mail in sink.take_mail()[ANNE]] == ["<i>mouse"]
    olga.get(f"{CATS}/log").says("Header field", "x-spam")


def test_letters(site, sink, olga):
    """A text is shown filled in before it is saved, a wrong placeholder is named, and the letter has the text."""
    olga.get(f"{CATS}/templates").says(GOODBYE, "list:user:notice:welcome")
    form = form_fields(olga.get(GOODBYE).text)
    text = "Subject: Bye from $display_name\r\n\r\nFarewell, $user_address, said $list_name <b>now</b>.\r\n"
    answer = olga.send(GOODBYE, {**form, "text": text, "do": "preview"})
    preview = html.unescape(re.search(r'<pre class="preview">(.*?)</pre>', answer.text, re.S).group(1))
    assert preview == "Subject: Bye from Cats\n\nFarewell, [address], said Cats <b>now</b>.\n"
    assert "<b>now" not in answer.text
    assert "Farewell" not in olga.get(GOODBYE).text
    answer = olga.send(GOODBYE, {**form, "text": "$no_such", "do": "save"})
    assert answer.status == 400 and "no_such" in answer.text
    assert olga.send(GOODBYE, {**form, "text": "$no_such", "do": "preview"}).status == 400
    assert olga.send(GOODBYE, {**form, "in": "no language!", "text": text, "do": "save"}).status == 400
    assert olga.send(GOODBYE, {**form, "text": text, "do": "save"}).status == 303
    olga.get(GOODBYE).says("Farewell", "Back to the text of the site")
    olga.get(f"{CATS}/templates").says("your own text")
    site.cli("list", "set", f"cats@{HOST}", "send_goodbye_message=yes")
    anne = Person(site, sink, ANNE)
    anne.send(anne.membership("Cats") + "/leave", {})
    site.wait_idle()
    (letter,) = sink.take_mail()[ANNE]
    assert letter["Subject"] == "Bye from Cats" and f"Farewell, {ANNE}" in letter.get_body(("plain",)).get_content()
    assert olga.send(GOODBYE, {**form, "do": "remove"}).status == 303
    assert olga.send(GOODBYE, {**form, "do": "remove"}).status == 400
    assert "Farewell" not in olga.get(GOODBYE).text
    olga.get(f"{CATS}/log").says("Text of a letter", "list:user:notice:goodbye")
    # Letters about more than one list are worded by the site.
    for name in ("domain:admin:notice:new-list", "sign_in", "nonsense", "..%2f..%2fx"):
        assert olga.get(f"{CATS}/templates/{name}").status == 404
        assert olga.send(f"{CATS}/templates/{name}", {"text": "x", "do": "save"}).status == 404
    # Each that a list may word can be looked at, and its own text fits.
    for path in re.findall(rf'href="({CATS}/templates/[^"]+)"', olga.get(f"{CATS}/templates").text):
        shown = olga.get(path)
        assert shown.status == 200
        assert olga.send(path, {**form_fields(shown.text), "do": "preview"}).says("Preview").status == 200


def test_bounces_and_sources(instances, sinks):
    sink = sinks(faults=["rcpt match=^gone do 550 5.1.1 no <b>such</b> user"])
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE, "gone1@example.net", "gone2@example.net"], owner=OLGA)
    instance.create_list("dogs", [ANNE, "gone3@example.net"])
    olga = Person(instance, sink, OLGA)
    olga.get(f"{CATS}/bounces").says("Nothing came back", "At 5 points")
    for name in ("cats", "dogs"):
        write_to(instance, name, ANNE, "To all")
    wait_until(lambda: "gone2@" in olga.get(f"{CATS}/bounces").text, 60, "bounces")
    page = olga.get(f"{CATS}/bounces")
    page.says("In 90 days 2 came back", "gone1@example.net", "1.00 points", "&lt;b&gt;such")
    assert page.text.count("<rect") == 1 and "gone3" not in page.text and "<b>such" not in page.text
    # Sources of members are shown with their state, and nothing of them can be set.
    olga.get(f"{CATS}/sources").says("no sources of members")
    cats = f"cats@{HOST}"
    instance.cli("list", "source", "add", cats, "kennel", "list", f"dogs@{HOST}")
    instance.cli("list", "source", "add", cats, "web", "url", "http://127.0.0.1:1/x?key=hidden")
    instance.cli("list", "source", "add", f"dogs@{HOST}", "pound", "url", "http://127.0.0.1:1/pound")
    assert instance.run("list", "source", "refresh", cats).returncode != 0
    page = olga.get(f"{CATS}/sources").says("kennel", "Another list", "addresses given: 2", "web", "not read yet",
                                            "http://127.0.0.1:1/x?...", "The last try failed:")
    assert "hidden" not in page.text and "pound" not in page.text
    rows = {row.split("</bdi>")[0].split("<bdi>")[-1]: row for row in
            olga.get(f"{CATS}/members").text.split("<li>")[1:]}
    assert "from the source kennel" in rows["gone3@example.net"] and "source" not in rows[ANNE]
