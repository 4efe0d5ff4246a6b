# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The log of a list has who joined, left and chose what, whichever way it came, and nothing of whom was forgotten."""
import re

import pytest

from support.desk import CATS, Person, form_fields, write_to
from support.instance import HOST, let_through
from support.pages import letter_link, make_site
from support.rest import Rest, serving

OLGA, ANNE, BART, CARA, DORA, EMIL = (f"{name}@example.org" for name in
                                      ("olga", "anne", "bart", "cara", "dora", "emil"))
LIST = f"cats@{HOST}"


@pytest.fixture
def site(instances, sink, tmp_path):
    let_through(tmp_path)
    instance = make_site(instances, sink, **serving(tmp_path))
    for name, owner in (("cats", OLGA), ("dogs", BART)):
        instance.create_list(name, owner=owner, settings=["unsubscription_policy=open"])
    return instance


def rows(instance, *options):
    """kind, name, door, before, after; the newest first."""
    found = instance.rows("list", "log", LIST, *options)
    return [tuple(row[key] for key in ("kind", "name", "door", "before", "after")) for row in found]


def test_members_by_all_ways(site, sink):
    assert site.pages.join(f"cats.{HOST}", ANNE).status == 200
    site.pages.send(letter_link(site, sink, ANNE), {"confirm": "yes"})
    rest = Rest(site)
    for address in (BART, CARA, EMIL):
        assert rest.call("POST", "members", list_id=f"cats.{HOST}", subscriber=address, pre_verified="true",
                         pre_confirmed="true", pre_approved="true").status == 201
    olga = Person(site, sink, OLGA)
    preview = olga.send(f"{CATS}/members/add", {"people": f"{DORA}\r\n", "how": "member"})
    assert olga.confirm(f"{CATS}/members/add", preview).status in (200, 303)
    assert rows(site, "--kind=member") == [
        ("member", DORA, "page", None, "member"),
        *(("member", address, "rest", None, "member") for address in (EMIL, CARA, BART)),
        ("member", ANNE, "page", None, "member")]
    # Each leaves in another way.
    anne = Person(site, sink, ANNE)
    anne.send(anne.membership("Cats") + "/leave", {}).says("You have left")
    assert rest.call("DELETE", f"lists/cats.{HOST}/member/{BART}").status == 204
    site.cli("member", "remove", LIST, CARA)
    write_to(site, "cats-leave", EMIL)
    assert rows(site, "--kind=member")[:4] == [
        ("member", EMIL, "mail", "member", "mail"), ("member", CARA, "shell", "member", None),
        ("member", BART, "rest", "member", "rest"), ("member", ANNE, "page", "member", "page")]
    # The page shows all, or one kind, and ways in words.
    olga.get(f"{CATS}/log").says("Member", ANNE, BART, CARA, DORA, EMIL, "by REST", "in the shell", "left by a page")
    only = olga.get(f"{CATS}/log?kind=owner").says(OLGA)
    assert DORA not in only.text and '<option value="owner" selected>' in only.text
    assert olga.get(f"{CATS}/log?kind=%22%3Cb%3E").says(DORA).status == 200
    assert ANNE not in Person(site, sink, BART).get(f"/desk/list/dogs.{HOST}/log").text


def test_pages_of_one_kind(site, sink):
    """The link to earlier rows stays with the kind."""
    for number in range(60):
        site.cli("member", "add", LIST, f"p{number}@example.org")
        if number % 2:
            site.cli("ban", "add", "--list", LIST, f"b{number}@example.org")
    olga = Person(site, sink, OLGA)
    page = olga.get(f"{CATS}/log?kind=member")
    (link,) = re.findall(r'href="([^"]*)" rel="next"', page.text)
    later = olga.get(link.replace("&amp;", "&"))
    names = re.findall(r"Member <b><bdi>(.*?)</bdi>", page.text + later.text)
    assert names == [f"p{number}@example.org" for number in range(59, -1, -1)]
    assert "Ban <b>" not in page.text + later.text


def test_options(site, sink):
    """By the member on a page and by mail, by an owner with REST and in the shell; what stays is not told."""
    site.cli("member", "add", LIST, ANNE)
    anne = Person(site, sink, ANNE)
    assert anne.send(anne.membership("Cats"), {"duplicates": "off"}).says("Your settings were changed")
    site.cli("member", "set", LIST, ANNE, "--delivery-mode=mime_digests")
    site.cli("member", "set", LIST, ANNE, "--delivery-mode=mime_digests")
    rest = Rest(site)
    member = rest.call("GET", f"lists/cats.{HOST}/member/{ANNE}").json
    path = member["self_link"].split("/3.1/")[-1].split("/3.0/")[-1]
    assert rest.call("PATCH", path, moderation_action="hold").status == 204
    assert rest.call("PATCH", f"{path}/preferences", acknowledge_posts="true").status == 204
    write_to(site, "cats-request", ANNE, "set digest plain")
    (to,) = [found[0] for letter in sink.take_mail()[ANNE]
             if (found := re.search(r"cats-confirm\+\w+", str(letter["From"])))]
    write_to(site, to, ANNE)
    assert rows(site, "--kind=options") == [
        ("options", ANNE, "mail", "digest mime", "digest plain"),
        ("options", ANNE, "rest", "ack default", "ack on"),
        ("options", ANNE, "rest", "moderation default", "moderation hold"),
        ("options", ANNE, "shell", "digest default", "digest mime"),
        ("options", ANNE, "page", "duplicates default", "duplicates off")]
    Person(site, sink, OLGA).get(f"{CATS}/log?kind=options").says("Options of a member", "digest plain")


def test_whoever_is_forgotten(site, sink):
    """Rows about the person go, and those about the list have a pseudonym; those about others stay as they were."""
    olga = Person(site, sink, OLGA)
    site.cli("member", "add", LIST, ANNE)
    site.cli("member", "add", LIST, ANNE, "--role", "owner")
    site.cli("member", "add", LIST, f"jo{ANNE}")
    site.cli("member", "set", LIST, ANNE, "--hide-address=yes")
    shown = Person(site, sink, ANNE)
    path = f"{CATS}/settings/about"
    asked = shown.send(path, {**form_fields(shown.get(path).text), "set-info": f"Ask <{ANNE}>, not jo{ANNE}"})
    assert shown.confirm(path, asked).status == 303
    found = site.cli("person", "find", ANNE)
    assert "log of a list" in found and "change in the log of a list" in found and "value after" in found
    site.cli("person", "replace", ANNE, "--yes")
    log = site.cli("list", "log", LIST, "--json", "--limit=0")
    assert f'"{ANNE}"' not in log and f"<{ANNE}>" not in log and f"jo{ANNE}" in log
    assert re.search(r'"by": ?"person-\w+@pseudonym.invalid"', log) and OLGA in log
    assert ANNE not in olga.get(f"{CATS}/log").text.replace(f"jo{ANNE}", "")
