# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The page of a moderator: what it says was done, was done; and all that waits can be reached."""
import contextlib
import re

import pytest

from support.desk import write_to
from support.instance import HOST
from support.pages import leave_link, letter_link, link_in, make_site
from support.post import post

ANNE, OLGA, MAX, CORA = (f"{name}@example.org" for name in ("anne", "olga", "max", "cora"))


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
        world.lmtp_send(post(to=f"{name}@{HOST}", sender=sender, subject=f"Post {at}"), f"{name}@{HOST}", sender=sender)
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


def own_notice(world, sink, name, owner):
    """The link in a letter about one post of the list, and its number."""
    world.cli("list", "set", f"{name}@{HOST}", "admin_immed_notify=yes")
    hold(world, 1, name)
    link = link_in(sink.take_mail()[owner][0])
    return link, numbers(world.pages.get(link))[0]


def test_a_ticket_that_has_expired(world, sink):
    link, number = own_notice(world, sink, "cats", OLGA)
    other, _ = own_notice(world, sink, "dogs", MAX)
    with world.database() as database:
        database.execute("UPDATE ticket SET expires_at = 1 WHERE moderator = ?", (OLGA,))
    for path in ("", f"/post/{number}", f"/post/{number}/file/0/x"):
        answer = world.pages.get(link + path)
        assert answer.status == 404
        answer.says("too old")
    assert world.pages.send(link, {f"post-{number}": "accept"}).status == 404
    assert number in waiting(world) and world.pages.get(other).status == 200


def test_a_ticket_is_for_its_own_list(world, sink):
    """The numbers of another list's posts lead nowhere: neither to the post nor to its files, nor to a decision."""
    link, own = own_notice(world, sink, "cats", OLGA)
    _, theirs = own_notice(world, sink, "dogs", MAX)
    with world.database() as database:  # the numbers alone do not give the right
        database.execute("UPDATE ticket SET first = 1, last = 99999 WHERE moderator = ?", (OLGA,))
    assert world.pages.get(f"{link}/post/{own}").status == 200
    for path in (f"/post/{theirs}", f"/post/{theirs}/file/0/x", "/post/0", "/post/x", f"/post/{own}x",
                 f"/post/{own}/file/x/x", f"/post/{own}/file/99/x"):
        assert world.pages.get(link + path).status == 404, path
    world.pages.send(link, {f"post-{theirs}": "discard"}).says("did not wait")
    assert waiting(world) == [own, theirs]


def test_who_is_no_moderator_any_more_sees_nothing(world, sink):
    link, number = own_notice(world, sink, "cats", OLGA)
    other, theirs = own_notice(world, sink, "dogs", MAX)
    world.cli("member", "remove", f"cats@{HOST}", OLGA, "--role", "owner")
    for path in ("", f"/post/{number}", f"/post/{number}/file/0/x"):
        answer = world.pages.get(link + path)
        assert answer.status == 403 and "stranger0" not in answer.text and "Post 0" not in answer.text
        answer.says("no moderator")
    assert world.pages.send(link, {f"post-{number}": "accept"}).status == 403 and waiting(world) == [number, theirs]
    assert world.pages.get(f"{other}/post/{theirs}").status == 200


@pytest.mark.sqlite
@pytest.mark.parametrize("event", ["DELETE ON held", "INSERT ON outbox_unit", "INSERT ON member", "DELETE ON member"])
def test_a_store_that_fails(instances, sink, event):
    """Each button answers that nothing was changed, and nothing was; the same form works when the store does."""
    world = make_site(instances, sink, pipeline={"verp_delivery_interval": "1"})
    world.create_list("cats", [ANNE], owner=OLGA)
    write_to(world, "cats", CORA)
    leave = leave_link(sink.take_mail()[ANNE][0])
    world.pages.join(f"cats.{HOST}", CORA)
    confirm = letter_link(world, sink, CORA)
    world.cli("list", "set", f"cats@{HOST}", "default_nonmember_action=hold")
    decide, number = own_notice(world, sink, "cats", OLGA)
    join = {"mark": world.pages.form_mark(f"cats.{HOST}"), "address": "dora@example.org"}
    buttons = {"DELETE ON held": (decide, {f"post-{number}": "discard"}),
               "INSERT ON outbox_unit": (f"/list/cats.{HOST}/join", join),
               "INSERT ON member": (confirm, {"confirm": "yes"}), "DELETE ON member": (leave, {"leave": "yes"})}
    path, fields = buttons[event]
    with world.database() as database:
        database.execute(f"CREATE TRIGGER bad BEFORE {event} BEGIN SELECT RAISE(ABORT, 'bad'); END")
    answer = world.pages.send(path, fields)
    assert answer.status == 503 and answer.headers["Retry-After"]
    answer.says("Nothing was changed")
    assert waiting(world) == [number] and world.members() == [ANNE]
    assert not world.under_way() and not sink.take_mail()
    with world.database() as database:
        database.execute("DROP TRIGGER bad")
    assert world.pages.send(path, fields).status == 200
