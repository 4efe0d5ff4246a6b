# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk: those who run lists decide about what waits, and nobody else does."""
import re

import pytest

from support.desk import Person, write_to
from support.instance import HOST
from support.pages import letter_link, make_site
from support.post import post

OLGA, DORA, ANNE, BART, NEW, STRANGER = (f"{name}@example.org" for name in
                                        ("olga", "dora", "anne", "bart", "new", "stranger"))


@pytest.fixture
def site(instances, sink):
    """Olga owns cats and moderates dogs, which Dora owns. Bart owns birds."""
    instance = make_site(instances, sink)
    for name, owner in (("cats", OLGA), ("dogs", DORA), ("birds", BART)):
        instance.create_list(name, [ANNE], owner=owner, settings=["default_nonmember_action=hold", "subject_prefix="])
    instance.cli("member", "add", f"dogs@{HOST}", OLGA, "--role", "moderator")
    return instance


def held(instance, name):
    return instance.cli("held", "ls", f"{name}@{HOST}")


def test_all_lists_oldest_first(site, sink):
    """One page has what waits on all own lists; two touches decide about one, one more about each further one."""
    for name, subject in (("dogs", "First"), ("birds", "Not mine"), ("cats", "Second"), ("dogs", "Third")):
        write_to(site, name, STRANGER, subject)
    olga = Person(site, sink, OLGA)
    assert [title for _, title in olga.waiting()] == ["First", "Second", "Third"]
    page = olga.get("/desk").says("not a member", STRANGER, "No post of this sender was held here before.")
    assert "Not mine" not in page.text and "no-store" in page.headers["Cache-Control"]
    olga.get("/my").says('href="/desk"')
    answer = olga.send("/desk", {olga.field("First"): "yes", olga.field("Second"): "yes", "do": "accept"})
    answer.says("Decided: 2")
    site.wait_idle()
    mail = sink.take_mail()
    assert sorted(str(one["Subject"]) for one in mail[ANNE]) == ["First", "Second"]
    assert [title for _, title in olga.waiting()] == ["Third"]
    # The sender's first post was accepted on this list.
    olga.get("/desk").says("accepted 1, rejected 0, discarded 0")
    # The log tells what was decided about, which is no value that was taken away.
    log = olga.get(f"/desk/list/cats.{HOST}/log?kind=post").text
    assert f"<b><bdi>{STRANGER}</bdi></b>: <bdi>Second</bdi>" in log and "<del>" not in log
    assert "accept</bdi></ins>" in log
    field = olga.field("Third")
    olga.send("/desk", {field: "yes", "do": "reject", "reason": "Off topic, sorry."}).says("Decided: 1")
    site.wait_idle()
    (letter,) = sink.take_mail()[STRANGER]
    assert "Off topic, sorry." in letter.get_body(("plain",)).get_content()
    # The same form again does nothing.
    olga.send("/desk", {field: "yes", "do": "accept"}).says("did not wait any more")
    site.wait_idle()
    assert ANNE not in sink.take_mail()
    olga.send("/desk", {"do": "accept"}).says("Nothing was ticked")
    assert "Not mine" in held(site, "birds")


@pytest.mark.main
def test_all_of_a_page_and_requests(site, sink):
    site.cli("list", "set", f"cats@{HOST}", "subscription_policy=confirm_then_moderate")
    for number in range(3):
        write_to(site, "cats", STRANGER, f"Post {number}")
    site.lmtp_send(post(sender=NEW, to=f"cats-join@{HOST}"), f"cats-join@{HOST}", sender=NEW)
    site.pages.send(letter_link(site, sink, NEW), {"confirm": "yes"})
    olga = Person(site, sink, OLGA)
    page = olga.get("/desk").text
    seen = {name: "yes" for name in re.findall(r'name="(seen-[\w-]+)"', page)}
    assert len(seen) == 4 and f"{NEW} wants to join" in page
    olga.send("/desk", {**seen, "do": "discard"}).says("Nothing was ticked")
    olga.send("/desk", {**seen, "all": "yes", "do": "allow"}).says("Decided: 4", "Nothing waits on your lists")
    site.wait_idle()
    assert sorted(mail["Subject"] for mail in sink.take_mail()[ANNE]) == ["Post 0", "Post 1", "Post 2"]
    assert NEW in site.cli("member", "ls", f"cats@{HOST}", "--names")


@pytest.mark.main
def test_foreign_ones_are_refused(site, sink):
    """A post on a list of others looks like one that was decided about, whatever is sent."""
    write_to(site, "birds", STRANGER, "Not mine")
    write_to(site, "cats", STRANGER, "Mine")
    olga, bart, anne = (Person(site, sink, address) for address in (OLGA, BART, ANNE))
    (foreign,) = [name for name, _ in bart.waiting()]
    own = olga.field("Mine")
    for word in ("accept", "discard", "ban", "defer"):
        olga.send("/desk", {foreign: "yes", "do": word}).says("did not wait any more")
    olga.send("/desk", {foreign: "yes", own: "yes", "do": "discard"}).says("Decided: 1", "did not wait any more")
    number = foreign.split("-")[1]
    assert bart.get(f"/desk/post/{number}").says("It rains.").status == 200
    for path in ("/desk/post/999999", "/desk/post/x"):
        assert (olga.get(path).status, anne.get(path).status, site.pages.get(path).status) == (404, 403, 303)
    assert bart.send("/desk", {foreign: "yes", "do": "accept"}, Sec_Fetch_Site="cross-site").status == 403
    assert "Not mine" in held(site, "birds") and "Mine" not in held(site, "cats")


@pytest.mark.main
def test_a_post_with_scripts_in_it(site, sink):
    evil = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>'
    write_to(site, "cats", STRANGER, evil, body=f"{evil}\njavascript:alert(1)\n")
    olga = Person(site, sink, OLGA)
    number = re.search(r'name="post-(\d+)"', olga.get("/desk").text).group(1)
    for path in ("/desk", f"/desk/post/{number}"):
        answer = olga.get(path).says("&lt;script&gt;")
        assert "<script" not in answer.text and "<img" not in answer.text
        assert "script-src" not in answer.headers["Content-Security-Policy"]
    olga.send("/desk", {f"post-{number}": "yes", "do": "discard"}).says("Decided: 1")
    write_to(site, "cats", STRANGER, "Again")
    (field,) = [name for name, _ in olga.waiting()]
    answer = olga.get(f"/desk/post/{field.split('-')[1]}").says("&lt;script&gt;", "discarded 1")
    assert "<script" not in answer.text and "<img" not in answer.text
