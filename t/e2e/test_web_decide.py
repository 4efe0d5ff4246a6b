# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The page of a moderator: what it says was done, was done; and all that waits can be reached."""
import contextlib
import re

import pytest

from support.instance import HOST
from support.pages import link_in, make_site
from support.post import post

ANNE, OLGA, MAX = (f"{name}@example.org" for name in ("anne", "olga", "max"))


@pytest.fixture
def world(instances, sink):
    """A site whose two lists hold what strangers write."""
    instance = make_site(instances, sink)
    for name, owner in (("cats", OLGA), ("dogs", MAX)):
        instance.create_list(name, [ANNE], owner=owner)
        instance.cli("list", "set", f"{name}@{HOST}", "default_nonmember_action=hold",
                     "subscription_policy=moderate", "admin_immed_notify=no")
    return instance


def hold(world, count, name="cats", first=0):
    """Posts of as many strangers."""
    for at in range(first, first + count):
        sender = f"stranger{at}@example.net"
        world.lmtp_send(post(to=f"{name}@{HOST}", sender=sender, subject=f"Post {at}",
                             message_id=f"<{name}{at}@example.net>"), f"{name}@{HOST}", sender=sender)
    world.wait_idle()


def ask_to_join(world, sender, name="cats"):
    world.lmtp_send(f"From: {sender}\r\nTo: {name}-join@{HOST}\r\nMessage-ID: <{sender}>\r\n\r\n".encode(),
                    f"{name}-join@{HOST}", sender=sender)
    world.wait_idle()


def notice(world, sink, owner=OLGA):
    """The link in a letter about a post that comes now, made to be about all that waits on cats."""
    world.cli("list", "set", f"cats@{HOST}", "admin_immed_notify=yes")
    hold(world, 1, first=999)
    link = link_in(sink.take_mail()[owner][0])
    with world.database() as database:
        database.execute("UPDATE ticket SET first = 1, last = 99999, first_request = 1, last_request = 99999")
    world.cli("held", "discard", waiting(world)[-1])
    return link


def numbers(page, kind="post"):
    return list(dict.fromkeys(re.findall(rf'name="{kind}-(\d+)"', page.text)))


def waiting(world):
    return [line.split()[0] for line in world.cli("held", "ls").splitlines()[1:]]


@contextlib.contextmanager
def broken(world, number):
    """A held post whose metadata was damaged: nothing can be made of it."""
    with world.database() as database:
        (meta,), = database.execute("SELECT meta FROM held WHERE number = ?", (number,)).fetchall()
        database.execute("UPDATE held SET meta = ? WHERE number = ?", ("{", number))
    yield
    with world.database() as database:
        database.execute("UPDATE held SET meta = ? WHERE number = ?", (meta, number))


def test_one_that_cannot_be_decided_keeps_none_of_the_others(world, sink):
    hold(world, 3)
    link = notice(world, sink)
    one, two, three = numbers(world.pages.get(link))
    with broken(world, two):
        answer = world.pages.send(link, {f"post-{number}": "accept" for number in (one, two, three)})
        assert answer.status == 200
        answer.says("Decided: 2", "could not be done")
        assert waiting(world) == [two] and numbers(answer) == [two]
    world.wait_idle()
    assert len(sink.take_mail()[ANNE]) == 2
    world.pages.send(link, {f"post-{two}": "accept"}).says("Decided: 1", "Nothing waits")
    world.wait_idle()
    assert len(sink.take_mail()[ANNE]) == 1


def test_what_is_no_decision_is_not_counted(world, sink):
    """A word that there is not, or not for requests; what somebody else decided meanwhile is told."""
    hold(world, 2)
    link = notice(world, sink)
    one, two = numbers(world.pages.get(link))
    answer = world.pages.send(link, {f"post-{one}": "nonsense", f"post-{two}": "later"})
    answer.says("could not be done")
    assert "Decided" not in answer.text and "did not wait" not in answer.text and waiting(world) == [one, two]
    world.cli("held", "discard", one)
    answer = world.pages.send(link, {f"post-{one}": "accept", f"post-{two}": "discard"})
    answer.says("Decided: 1", "did not wait")
    assert "could not be done" not in answer.text


def test_all_pages_of_what_waits(world, sink):
    """More posts than a page has, and more requests: each is on one page, and is decided there."""
    hold(world, 103)
    for at in range(2):
        ask_to_join(world, f"nina{at}@example.org")
        link_of_person = link_in(sink.take_mail()[f"nina{at}@example.org"][0])
        world.pages.send(link_of_person, {"confirm": "yes"})
    link = notice(world, sink)
    first = world.pages.get(link)
    assert len(numbers(first)) == 100
    further = re.search(r'<a href="([^"]+)" rel="next"', first.text).group(1).replace("&amp;", "&")
    second = world.pages.get(further)
    assert len(numbers(second)) == 3 and not set(numbers(first)) & set(numbers(second))
    assert 'rel="next"' not in second.text and f'href="{link}"' in second.text
    assert sorted(numbers(first) + numbers(second), key=int) == waiting(world)
    action = re.search(r'<form method="post" action="([^"]+)"', second.text).group(1).replace("&amp;", "&")
    last = numbers(second)[-1]
    answer = world.pages.send(action, {f"post-{last}": "discard"}).says("Decided: 1")
    assert numbers(answer) == numbers(second)[:-1]
    for query in ("?after=x", "?after=-1", "?after=99999999999999999999", "?after=", "?after=0&after_request=%00"):
        assert world.pages.get(link + query).status == 200


def test_a_reason_of_any_length(world, sink):
    """It is cut between characters where it is longer than the page says."""
    hold(world, 1)
    link = notice(world, sink)
    page = world.pages.get(link)
    most = int(re.search(r'<textarea[^>]* maxlength="(\d+)"', page.text).group(1))
    number, = numbers(page)
    reason = "\U0001f408" * most + "END"
    world.pages.send(link, {f"post-{number}": "reject", "reason": reason}).says("Decided: 1")
    world.wait_idle()
    told, = sink.take_mail()["stranger0@example.net"]
    text = "".join(told.get_body(("plain",)).get_content().split())
    assert "\U0001f408" * most in text and "END" not in text


@pytest.mark.sqlite
def test_what_was_done_is_never_called_undone(world, sink):
    """The page behind a decision fails: it must not say that nothing was changed."""
    hold(world, 1)
    link = notice(world, sink)
    number, = numbers(world.pages.get(link))
    with world.database() as database:
        database.execute("CREATE TRIGGER gone AFTER DELETE ON held BEGIN UPDATE list SET list_id = 'gone.example.com' "
                         "WHERE list_name = 'cats'; END")
    answer = world.pages.send(link, {f"post-{number}": "discard"})
    assert waiting(world) == []
    assert "Nothing was changed" not in answer.text
    answer.says("It was done")
