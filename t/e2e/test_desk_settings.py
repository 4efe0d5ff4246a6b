# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk: settings of a list, shown before they are saved, written into its log by all ways, and undone."""
import re

import pytest

from support.desk import CATS, Person, form_fields
from support.instance import HOST, let_through
from support.pages import make_site
from support.rest import Rest, serving

OLGA, MO = "olga@example.org", "mo@example.org"


@pytest.fixture
def site(instances, sink, tmp_path):
    let_through(tmp_path)
    instance = make_site(instances, sink, **serving(tmp_path))
    for name in ("cats", "dogs"):
        instance.create_list(name, owner=OLGA if name == "cats" else MO, settings=["description=Old"])
    instance.cli("member", "add", f"cats@{HOST}", MO, "--role", "moderator")
    return instance


def get(instance, setting, name="cats"):
    return instance.cli("list", "get", f"{name}@{HOST}", setting).rstrip("\n")


def change(person, group, values, confirm=True):
    """Fill in the form of a group, look at the difference, and save it."""
    path = f"{CATS}/settings/{group}"
    shown = person.send(path, {**form_fields(person.get(path).text), **{f"set-{name}": value
                                                                   for name, value in values.items()}})
    return person.confirm(path, shown) if confirm else shown


def rows(person):
    """The log, the newest first: kind and name, by whom and how, before, after."""
    text = person.get(f"{CATS}/log").text
    found = []
    for row in re.findall(r"<li>(.*?)</li>", text, re.S):
        row = re.sub(r'<span class="unseen">.*?</span>', "", row)
        row = re.sub(r"(<(del|ins)>)<bdi>(.*?)</bdi>(</\2>)", r"\1\3\4", row, flags=re.S)
        found.append({"what": " ".join(re.search(r"<p>(\w+(?: \w+)*) <b><bdi>(.*?)</bdi>", row).groups()),
                      "by": re.search(r" · <bdi>(.*?)</bdi> · (.*?)</p>", row).groups(),
                      **{key: (re.findall(rf"<{tag}>(.*?)</{tag}>", row, re.S) or [None])[0]
                         for key, tag in (("before", "del"), ("after", "ins"))},
                      "key": (re.findall(r'name="undo" value="(\d+)"', row) or [None])[0]})
    return found


@pytest.mark.main
def test_form_of_each_group(site, sink):
    """Each form sent back as it came changes nothing."""
    site.cli("list", "set", f"cats@{HOST}", "info=\nA line, and\n  another <b>one</b>\n",
             "accept_these_nonmembers=^a\\,b@x$,c@y.example", "msg_footer=$list_name\n")
    before = site.cli("list", "show", f"cats@{HOST}", "--json")
    olga = Person(site, sink, OLGA)
    groups = re.findall(rf'href="{CATS}/settings/(\w+)"', olga.get(f"{CATS}/settings").text)
    assert len(groups) > 10
    names = set()
    for group in groups:
        path = f"{CATS}/settings/{group}"
        sent = form_fields(olga.get(path).text)
        names |= {name for name in sent if name.startswith("set-")}
        olga.send(path, sent).says("nothing was changed")
    assert len(names) > 90 and site.cli("list", "show", f"cats@{HOST}", "--json") == before
    assert rows(olga)[0]["by"][1] == "in the shell"


@pytest.mark.main
def test_difference_is_shown_before_it_is_saved(site, sink):
    olga = Person(site, sink, OLGA)
    shown = change(olga, "about", {"description": "New & <b>bold</b>", "info": "a\r\nb"}, confirm=False)
    shown.says("<del>", "Old</del>", "New &amp; &lt;b&gt;bold", "(empty)", "a\nb</ins>")
    assert get(site, "description") == "Old" and "set-preferred_language" not in shown.text
    answer = olga.confirm(f"{CATS}/settings/about", shown)
    assert answer.status == 303
    olga.get(answer.headers["Location"]).says("Saved.")
    assert get(site, "description") == "New & <b>bold</b>" and get(site, "info") == "a\nb"
    assert olga.get(f"{CATS}/settings/nonsense").status == 404
    # The same form again: there is nothing left to change.
    olga.confirm(f"{CATS}/settings/about", shown).says("nothing was changed")
    # Words are told one by one.
    change(olga, "moderation", {"accept_these_nonmembers": "a@x.example\r\n^b\\,c@y$"})
    assert get(site, "accept_these_nonmembers") == "a@x.example,^b\\,c@y$"
    shown = change(olga, "moderation", {"accept_these_nonmembers": "^b\\,c@y$\nd@x.example"}, confirm=False)
    assert re.findall(r"<(del|ins)>.*?</span>(.*?)</", shown.text) == [("del", "a@x.example"), ("ins", "d@x.example")]


def test_somebody_else_changes_it_meanwhile(site, sink):
    olga = Person(site, sink, OLGA)
    shown = change(olga, "about", {"description": "Mine"}, confirm=False)
    site.cli("list", "set", f"cats@{HOST}", "description=Of somebody else")
    answer = olga.confirm(f"{CATS}/settings/about", shown)
    assert answer.status == 409
    answer.says("since you looked", "Of somebody else")
    assert get(site, "description") == "Of somebody else"
    olga.confirm(f"{CATS}/settings/about", answer)
    assert get(site, "description") == "Mine"


@pytest.mark.main
def test_refused_values(site, sink):
    """All or nothing, with what was typed and what is wrong; what the site answers for stays its own."""
    olga = Person(site, sink, OLGA)
    for confirm in (False, True):
        answer = olga.send(f"{CATS}/settings/about", {
            "set-description": "Good", "set-preferred_language": "xx-nonsense<i>", "set-advertised": "perhaps",
            **({"confirm": "yes"} if confirm else {})})
        assert answer.status == 400 and 'value="xx-nonsense&lt;i&gt;"' in answer.text
        answer.says('id="fault-preferred_language"', 'id="fault-advertised"', 'value="Old"')
        assert 'id="fault-description"' not in answer.text and get(site, "description") == "Old"
    form = olga.get(f"{CATS}/settings/delivery").text
    assert "disabled" in re.search(r'<input id="set-transport"[^>]*>', form).group()
    olga.send(f"{CATS}/settings/delivery", {"set-transport": "other"}).says("fault-transport")
    olga.send(f"{CATS}/settings/waiting", {"set-max_held_size": "900"}).says("fault-max_held_size")
    olga.send(f"{CATS}/settings/delivery", {"set-posting_chain": "no-such"}).says("fault-posting_chain")
    # The members of another's list.
    foreign = {"set-accept_these_nonmembers": f"@dogs@{HOST}"}
    olga.send(f"{CATS}/settings/moderation", foreign).says("no list that you own")
    site.cli("member", "add", f"dogs@{HOST}", OLGA, "--role", "owner")
    assert change(olga, "moderation", {"accept_these_nonmembers": f"@dogs@{HOST}"}).status == 303
    # Nor do they come back by an undo, when the list is another's again.
    site.cli("list", "set", f"cats@{HOST}", "accept_these_nonmembers=")
    key = rows(olga)[0]["key"]
    site.cli("member", "remove", f"dogs@{HOST}", OLGA, "--role", "owner")
    assert key and rows(olga)[0]["key"] is None
    assert olga.send(f"{CATS}/log", {"undo": key}).status == 400 and get(site, "accept_these_nonmembers") == ""


def test_log_of_all_ways_and_undo(site, sink):
    olga = Person(site, sink, OLGA)
    change(olga, "about", {"description": "By a page"})
    site.cli("list", "set", f"cats@{HOST}", "description=In the shell")
    log = rows(olga)
    assert [(row["what"], row["before"], row["after"]) for row in log[:2]] == [
        ("Setting description", "By a page", "In the shell"), ("Setting description", "Old", "By a page")]
    assert log[0]["by"][1] == "in the shell" and log[1]["by"] == (OLGA, "by a page")
    rest = Rest(site)
    assert rest.call("PATCH", f"lists/cats.{HOST}/config", description="By REST").status == 204
    assert rest.call("PATCH", f"lists/cats.{HOST}/config", description="By REST").status == 204  # no change
    assert [row["by"] for row in rows(olga)[:2]] == [("restadmin", "by REST"), log[0]["by"]]
    olga.send(f"{CATS}/log", {"undo": rows(olga)[0]["key"]})
    log = rows(olga)[2:]
    assert log[0]["key"] and not log[1]["key"]  # the older one was changed since
    answer = olga.send(f"{CATS}/log", {"undo": log[0]["key"]})
    assert answer.status == 303 and get(site, "description") == "By a page"
    olga.get(answer.headers["Location"]).says("It was undone.")
    again = olga.send(f"{CATS}/log", {"undo": log[0]["key"]})
    assert again.status == 409 and get(site, "description") == "By a page"
    assert rows(olga)[0]["by"] == (OLGA, "by a page")
    # A password is changed, and never shown.
    path = f"{CATS}/settings/moderation"
    shown = olga.send(path, {"set-moderator_password": "a secret phrase"}).says("another password")
    olga.confirm(path, shown)
    (row,) = [row for row in rows(olga) if row["what"] == "Setting moderator_password"]
    assert row["before"] is row["after"] is row["key"] is None
    assert "secret phrase" not in olga.get(path).text + olga.get(f"{CATS}/log").text
    shown = olga.send(path, {"drop-moderator_password": "yes"}).says("no password any more")
    olga.send(path, {**form_fields(shown.text), "drop-moderator_password": "yes", "confirm": "yes"})
    # Settings of the site alone are undone by the site alone.
    site.cli("list", "set", f"cats@{HOST}", "max_held_size=50")
    (row,) = [row for row in rows(olga) if row["what"] == "Setting max_held_size"]
    assert row["key"] is None
    # Bans by moderators and others are there, too; an undo of another list's row is none.
    site.cli("ban", "add", "--list", f"cats@{HOST}", "spam@example.org")
    assert rows(olga)[0]["what"] == "Ban spam@example.org"
    ban = rows(olga)[0]["key"]
    answer = olga.send(f"{CATS}/log?kind=ban", {"undo": ban})
    assert answer.status == 303 and '"ban" selected' in olga.get(answer.headers["Location"]).says("It was undone.").text
    assert site.cli("ban", "ls", f"cats@{HOST}", "--names") == ""
    assert rows(olga)[0]["before"] == "banned" and rows(olga)[0]["after"] is None and not rows(olga)[1]["key"]
    assert olga.send(f"{CATS}/log", {"undo": ban}).status == 409
    site.cli("list", "set", f"dogs@{HOST}", "description=Foreign")
    mo = Person(site, sink, MO)
    (key,) = re.findall(r'name="undo" value="(\d+)"', mo.get(f"/desk/list/dogs.{HOST}/log").text)[:1]
    assert olga.send(f"{CATS}/log", {"undo": key}).status == 400 and get(site, "description", "dogs") == "Foreign"
