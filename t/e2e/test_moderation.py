# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Held posts: who is told, how a moderator decides by answering, and what Approved does, judged by the mail that
arrives."""
import os
import re
import time

import pytest

from support import rest
from support.corpus import SAMPLES
from support.instance import HOST, let_through, wait_until
from support.post import post

pytestmark = pytest.mark.main

OLGA, MARK, SUE, ANNE = "olga@example.com", "mark@example.com", "sue@example.org", "anne@example.net"
LIST = f"test@{HOST}"
SETTINGS = ["subject_prefix=", "default_nonmember_action=hold"]


class Moderated:
    """A list with a member, an owner and a moderator."""

    def __init__(self, instance, sink):
        self.instance, self.sink = instance, sink

    def post(self, sender=SUE, subject="hello", text="Hi", **fields):
        lines = [f"From: {sender}", f"To: {LIST}", f"Subject: {subject}", f"Message-ID: <{os.urandom(8).hex()}@x>"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        self.instance.lmtp_send("\r\n".join([*lines, "", text, ""]).encode(), LIST, sender=sender)

    def answer(self, to, text="", subject="Re: held", sender=OLGA, octets=None, **fields):
        lines = [f"From: {sender}", f"To: {to}", f"Subject: {subject}", f"Message-ID: <{os.urandom(8).hex()}@x>"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        self.instance.lmtp_send(octets or "\r\n".join([*lines, "", text, ""]).encode(), to, sender=sender)

    def mail(self):
        """{recipient: [message]} of what came since the last call, when all is done."""
        self.instance.wait_idle()
        return self.sink.take_mail()

    def notices(self):
        """The letters about held posts, by moderator."""
        return {who: letters for who, letters in self.mail().items() if who in (OLGA, MARK)}

    def held(self):
        return self.instance.cli("held", "ls", "--names").split()


def reply_to(letter):
    return letter["Reply-To"].addresses[0].addr_spec


def body(letter):
    return letter.get_body(("plain",)).get_content()


@pytest.fixture
def moderated(instances, sink):
    instance = instances(sink.port, settings={"site": {"held_notice_interval": "0"}}).start()
    instance.create_list("test", [ANNE], owner=OLGA, settings=SETTINGS)
    instance.cli("member", "add", LIST, MARK, "--role", "moderator")
    return Moderated(instance, sink)


def test_notice_carries_the_post_and_a_way_to_answer(moderated):
    moderated.post(text="x" * 70 + "\r\n" + "y\r\n" * 60000)
    found = moderated.mail()
    assert sorted(found) == sorted([OLGA, MARK, SUE])
    assert "waiting for approval" in found[SUE][0]["Subject"]
    letters = [found[OLGA][0], found[MARK][0]]
    for who, letter in zip((OLGA, MARK), letters):
        assert letter["To"].addresses[0].addr_spec == who and letter["List-Id"]
        assert letter["Auto-Submitted"] == "auto-generated"
        assert len(letter.as_bytes()) < 64 * 1024
        attached = [part for part in letter.walk() if part.get_content_type() == "message/rfc822"]
        assert attached[0].get_content()["Subject"] == "hello"
        assert re.fullmatch(rf"test-confirm\+[a-z2-7]{{26}}@{HOST}", reply_to(letter))
    assert reply_to(letters[0]) != reply_to(letters[1])


@pytest.mark.parametrize("client", ["thunderbird", "outlook", "gmail"])
def test_answer_from_three_kinds_of_client(moderated, client):
    """Bottom posting with quoted text; a reply above an unquoted original, with an HTML alternative; HTML alone with a
    Chinese Re:."""
    moderated.post()
    to = reply_to(moderated.notices()[OLGA][0])
    octets = (SAMPLES / f"decision-{client}.eml").read_bytes().replace(b"@TO@", to.encode()).replace(b"\n", b"\r\n")
    moderated.answer(to, octets=octets)
    found = moderated.mail()
    assert moderated.held() == []
    answered = body(found[OLGA][0])
    if client == "thunderbird":
        assert found[ANNE][0]["Subject"] == "hello" and "goes to the list" in answered
    elif client == "outlook":
        assert "gehört nicht hierher" in body(found[SUE][0]) and "für Hilfe" in body(found[SUE][0])
        assert "\naccept" not in body(found[SUE][0]) and ANNE not in found
    else:
        assert sorted(found) == [OLGA] and "discarded" in answered


@pytest.mark.parametrize("client", ["thunderbird", "outlook", "gmail"])
def test_request_decided_from_three_kinds_of_client(moderated, client):
    """The same answers to the letter about somebody who wants to join: accepted, rejected with a reason, dropped."""
    cli = moderated.instance.cli
    cli("list", "set", LIST, "subscription_policy=moderate", "send_welcome_message=yes")
    moderated.answer(f"test-join@{HOST}", subject="", sender=SUE)
    asked = moderated.mail()[SUE][0]
    moderated.answer(asked["From"].addresses[0].addr_spec, sender=SUE)
    found = moderated.mail()
    assert sorted(found) == sorted([OLGA, MARK, SUE]) and SUE in found[OLGA][0]["Subject"]
    to, other = reply_to(found[OLGA][0]), reply_to(found[MARK][0])
    assert to != other and f"pending accept {cli('pending', 'ls', '--names').strip()}" in body(found[OLGA][0])
    octets = (SAMPLES / f"decision-{client}.eml").read_bytes().replace(b"@TO@", to.encode()).replace(b"\n", b"\r\n")
    moderated.answer(to, octets=octets)
    found = moderated.mail()
    assert cli("pending", "ls", "--names") == ""
    members = cli("member", "ls", LIST, "--names").split()
    if client == "thunderbird":
        assert SUE in members and "was accepted" in body(found[OLGA][0]) and "Welcome" in found[SUE][0]["Subject"]
    elif client == "outlook":
        assert SUE not in members and "gehört nicht hierher" in body(found[SUE][0])
    else:
        assert SUE not in members and sorted(found) == [OLGA] and "was dropped" in body(found[OLGA][0])
    moderated.answer(other, "accept", sender=MARK)  # somebody has decided already
    assert sorted(moderated.mail()) == [MARK] and cli("member", "ls", LIST, "--names").split() == members


def test_a_token_works_once_and_for_its_post_alone(moderated):
    moderated.post(subject="one")
    first = reply_to(moderated.notices()[OLGA][0])
    moderated.post(subject="two")
    second = moderated.notices()
    other = reply_to(second[MARK][0])
    number = moderated.held()[-1]
    moderated.answer(first, f"discard {number}\r\n")
    assert len(moderated.held()) == 2 and "another letter" in body(moderated.mail()[OLGA][0])
    moderated.answer(first, "accept")
    assert len(moderated.mail()[ANNE]) == 1
    moderated.answer(first, "accept")
    found = moderated.mail()
    assert ANNE not in found and "already" in body(found[OLGA][0])
    # A forged From changes nothing: the answer goes to whom the token was sent to.
    moderated.answer(other, "defer", sender="mallory@example.com")
    assert sorted(moderated.mail()) == [MARK] and moderated.held() == [number]
    moderated.answer(f"test-confirm+{'a' * 26}@{HOST}", "accept")
    moderated.mail()
    assert moderated.held() == [number]
    moderated.answer(other, "", subject="Out of office: accept", Auto_Submitted="auto-replied")
    assert moderated.mail() == {} and moderated.held() == [number]


def test_allow_lets_the_sender_post_from_now_on_and_ban_does_not(moderated):
    moderated.post(subject="one")
    moderated.answer(reply_to(moderated.notices()[OLGA][0]), subject="Re: allow")
    assert moderated.mail()[ANNE][0]["Subject"] == "one"
    moderated.post(subject="two")
    assert moderated.mail()[ANNE][0]["Subject"] == "two"
    moderated.post(sender="eve@example.org")
    moderated.answer(reply_to(moderated.notices()[MARK][0]), "ban", sender=MARK)
    moderated.mail()
    assert moderated.held() == []
    moderated.post(sender="eve@example.org")
    assert ANNE not in moderated.mail() and moderated.held() == []


def test_approved_in_header_and_first_line(moderated):
    """With the right password the post passes; right or wrong, nobody sees it."""
    given = moderated.instance.directory / "given"  # not as an argument, which everybody on the host can see
    given.write_text("open sesame\n")
    moderated.instance.cli("list", "set", LIST, "--file", f"moderator_password={given}")
    assert "sesame" not in moderated.instance.cli("list", "show", LIST)
    given.write_text("x" * 1024)
    refused = moderated.instance.run("list", "set", LIST, "--file", f"moderator_password={given}")
    assert refused.returncode != 0 and "longer than 1023 bytes" in refused.stderr
    moderated.post(subject="header", Approved="open sesame")
    moderated.post(subject="line", text="Approved: open sesame\r\n\r\nHello")
    found = moderated.mail()
    assert sorted(letter["Subject"] for letter in found[ANNE]) == ["header", "line"] and sorted(found) == [ANNE]
    for letter in found[ANNE]:
        assert b"sesame" not in letter.as_bytes() and b"pproved" not in letter.as_bytes()
    moderated.post(subject="wrong", text="Approved: open barley\r\n\r\nHello", X_Approve="open barley")
    found = moderated.mail()
    assert sorted(found) == sorted([OLGA, MARK, SUE])
    for letters in found.values():
        assert b"barley" not in letters[0].as_bytes()
    assert "barley" not in moderated.instance.cli("held", "show", moderated.held()[0])
    moderated.instance.cli("list", "set", LIST, "moderator_password=")
    moderated.post(subject="none", Approved="open sesame")
    assert ANNE not in moderated.mail()


def test_letters_without_the_posts(clock, instances, sink):
    """With admin_notify_held_with_attachment off, no letter about one post, several or what waits has them."""
    instance = instances(sink.port, settings={"site": {"held_notice_interval": "1h"}}).start()
    instance.create_list("test", [ANNE], owner=OLGA, settings=[*SETTINGS, "admin_notify_held_with_attachment=no"])
    one = Moderated(instance, sink)
    for subject in ("first", "second", "third"):
        one.post(subject=subject, text="The words of the post")
    letters = one.mail()[OLGA]
    clock.seconds(3601)
    for job in ("held-notices", "reminders"):
        instance.run_job(job)
        letters += one.mail()[OLGA]
    assert len(letters) == 3
    for letter in letters:
        assert b"The words of the post" not in letter.as_bytes() and b"message/rfc822" not in letter.as_bytes()
    assert "The message itself is not attached. Until" in body(letters[0])
    assert "None of them is attached." in body(letters[1])
    one.answer(reply_to(letters[0]), "accept")
    assert [mail["Subject"] for mail in one.mail()[ANNE]] == ["first"]


def test_forwarded_by_rest(instances, sink, tmp_path):
    """As Mailman 3.3.10 does it: the post goes whole to each address, before the verdict removes it."""
    let_through(tmp_path)
    instance = instances(sink.port, settings=rest.serving(tmp_path)).start()
    instance.create_list("test", [ANNE], owner=OLGA, settings=SETTINGS)
    one, api = Moderated(instance, sink), rest.Rest(instance)
    one.post(text="The words of the post")
    one.mail()
    held = f"lists/test.{HOST}/held/{api.call('GET', f'lists/test.{HOST}/held').json['entries'][0]['request_id']}"
    assert api.call("POST", held, action="defer", forward="judge@example.org").status == 204
    found = one.mail()
    assert list(found) == ["judge@example.org"] and b"The words of the post" in found["judge@example.org"][0].as_bytes()
    assert len(one.held()) == 1
    both = ["judge@example.org", "jury@example.org"]
    assert api.json("POST", held, {"action": "discard", "forward": both}).status == 204
    assert sorted(one.mail()) == both and one.held() == []
    assert api.call("POST", held, action="discard", forward="judge@example.org").status == 404 and one.mail() == {}


def test_placeholders_of_mailmans_texts(moderated):
    """Placeholders that only some letters of Mailman have: the reminder, a refusal, and the last answer of a day."""
    one, texts = moderated, {"list:admin:notice:pending": "Waiting: $data", "list:user:notice:no-more-today":
                             "$sender_email wrote $count times", "list:user:notice:refuse": "[$request] $reason"}
    for name, text in texts.items():
        path = one.instance.directory / "text"
        path.write_text(text)
        one.instance.cli("template", "set", name, path, "--list", LIST)
    one.instance.cli("list", "set", LIST, "subscription_policy=moderate", "max_days_to_hold=0")
    one.post(subject="held")
    one.answer(f"test-join@{HOST}", subject="", sender="new@example.org")
    asked = one.mail()["new@example.org"][0]
    one.answer(asked["From"].addresses[0].addr_spec, sender="new@example.org")
    one.mail()
    one.instance.run_job("reminders")
    reminder = body(one.mail()[OLGA][0])
    assert "Waiting: " in reminder and '"held"' in reminder and "new@example.org" in reminder
    one.instance.cli("pending", "reject", one.instance.cli("pending", "ls", "--names").split()[0], "--reason=full")
    assert "[To join the list] full" in body(one.mail()["new@example.org"][0])
    for _ in range(12):
        one.answer(f"test-request@{HOST}", subject="help", sender="often@example.org")
    assert any("often@example.org wrote 10 times" in body(letter) for letter in one.mail()["often@example.org"])


def test_many_posts_are_one_letter(clock, instances, sink):
    """The first is told at once; what comes within held_notice_interval is told together, by the timer."""
    instance = instances(sink.port, settings={"site": {"held_notice_interval": "1h"}}).start()
    instance.create_list("test", [ANNE], owner=OLGA, settings=SETTINGS)
    one = Moderated(instance, sink)
    for number in range(30):
        one.post(sender=f"s{number}@example.org", subject=f"post {number}")
    found = one.mail()
    assert len(found[OLGA]) == 1 and len(one.held()) == 30
    clock.seconds(3601)
    instance.run_job("held-notices")
    letters = one.mail()[OLGA]
    assert len(letters) == 1 and "29 posts" in letters[0]["Subject"] and "post 29" in body(letters[0])
    assert len(letters[0].as_bytes()) < 64 * 1024
    one.answer(reply_to(letters[0]), f"accept {one.held()[-1]}\r\ndiscard all\r\n")
    found = one.mail()
    assert len(found[ANNE]) == 1 and len(one.held()) == 1
    instance.run_job("reminders")
    letters = one.mail()[OLGA]
    assert len(letters) == 1 and "1 posts" in letters[0]["Subject"] and "post 0" in body(letters[0])


def test_burst(moderated):
    """Of posts that come at once, those above the usual number are held, exactly; others post meanwhile."""
    moderated.instance.cli("list", "set", LIST, "burst_factor=2", "burst_least=5", "default_nonmember_action=defer")
    with moderated.instance.lmtp() as client:
        for number in range(20):
            octets = f"From: {SUE}\r\nTo: {LIST}\r\nSubject: {number}\r\nMessage-ID: <{number}@x>\r\n\r\nHi\r\n"
            moderated.instance.lmtp_send(octets.encode(), LIST, sender=SUE, client=client)
    moderated.post(sender="bob@example.org", subject="other")
    found = moderated.mail()
    assert len(found[ANNE]) == 6 and len(moderated.held()) == 15
    assert f"The sender {SUE} has posted 5 messages within an hour" in moderated.instance.cli("held", "ls")
    moderated.instance.cli("held", "accept", moderated.held()[0])
    assert len(moderated.mail()[ANNE]) == 1


def test_sender_confirms(moderated):
    """A stranger's post waits for the stranger: the answer to the letter lets this post pass, and no other."""
    one = moderated
    one.instance.cli("list", "set", LIST, "sender_confirmation=yes")
    for subject in ("first", "second"):
        one.post(subject=subject)
    found = one.mail()
    assert list(found) == [SUE] and len(found[SUE]) == len(one.held()) == 2
    first, second = sorted(found[SUE], key=lambda letter: "second" in body(letter))
    assert first["Auto-Submitted"] == "auto-replied" and "confirm" in first["Subject"]
    assert "first" in body(first) and "first" not in body(second) and "Hi" not in body(first)
    assert "has not confirmed" in one.instance.cli("held", "ls")
    assert " held" not in one.instance.run("status").stdout
    back = dict(to=first["From"].addresses[0].addr_spec, subject="Re: " + first["Subject"], sender=SUE)
    # A program that answers confirms nothing.
    one.answer(**back, Auto_Submitted="auto-replied")
    assert one.mail() == {} and len(one.held()) == 2
    one.answer(**back)
    found = one.mail()
    assert [mail["Subject"] for mail in found.pop(ANNE)] == ["first"] and len(one.held()) == 1
    assert list(found) == [SUE] and "goes to the list" in body(found[SUE][0])
    one.answer(**back)
    found = one.mail()
    assert list(found) == [SUE] and "used already" in body(found[SUE][0]) and len(one.held()) == 1
    # The timer tells no moderator, and ends what nobody confirms.
    one.instance.run_job("held-notices")
    one.instance.run_job("reminders")
    assert one.mail() == {}
    with one.instance.database() as database:
        database.execute("UPDATE held SET asked_until = asked_until - 100 * 86400000000")
    one.instance.run_job("held-expiry")
    assert one.held() == [] and "did not confirm" in one.instance.log_text()
    one.answer(to=second["From"].addresses[0].addr_spec, sender=SUE)
    assert "good no more" in body(one.mail()[SUE][0])
    # Nobody can answer for a robot: a moderator decides. The person's language is that of the letter.
    one.post(sender="robot@example.org", Auto_Submitted="auto-generated")
    assert sorted(one.mail()) == [MARK, OLGA]
    one.instance.cli("list", "set", LIST, "preferred_language=de")
    one.post(sender="neu@example.org")
    letter = one.mail()["neu@example.org"][0]
    assert "bestätigen" in letter["Subject"] and "Ihrer Adresse" in body(letter)
    number = one.held()[-1]
    one.instance.cli("held", "accept", number)
    assert len(one.mail()[ANNE]) == 1


def test_killed_while_senders_confirm(moderated):
    """kill -9 of the runners: each stranger gets a letter whose answer works, and each post reaches the list once."""
    one, strangers = moderated, [f"s{number}@example.org" for number in range(12)]
    one.instance.cli("list", "set", LIST, "sender_confirmation=yes")

    def storm(runner, acts):
        for number, act in enumerate(acts):
            act()
            if number % 4 == 3:
                one.instance.kill_runner(runner)
        return one.mail()

    letters = storm("in", [lambda who=who: one.post(sender=who, subject=who) for who in strangers])
    assert sorted(letters) == sorted(strangers) and all(len(found) == 1 for found in letters.values())
    answers = storm("command", [lambda who=who: one.answer(letters[who][0]["From"].addresses[0].addr_spec, sender=who)
                                for who in strangers])
    assert sorted(mail["Subject"] for mail in answers[ANNE]) == sorted(strangers) and one.held() == []


def test_held_too_long_is_discarded(moderated):
    moderated.post()
    moderated.mail()
    moderated.instance.cli("list", "set", LIST, "max_days_to_hold=2")
    moderated.instance.run_job("held-expiry")
    assert len(moderated.held()) == 1
    with moderated.instance.database() as database:
        database.execute("UPDATE held SET held_at = held_at - 3 * 86400000000")
    moderated.instance.run_job("held-expiry")
    assert moderated.held() == [] and "max_days_to_hold" in moderated.instance.log_text()


def test_last_letters_of_a_list(instances, sink):
    """Mail that was written before a list was removed arrives, and nothing waits for a person."""
    instance = instances(sink.port, settings={"runner.virgin": {"start": "no"}}).start()
    address = instance.create_list("test", settings=["default_nonmember_action=reject"])
    instance.lmtp_send(post(to=address), address, sender="poster@example.net")
    wait_until(lambda: instance.files("virgin")["virgin"], 20, "the letter to wait")
    instance.cli("list", "remove", address, "--yes")
    instance.set({"runner.virgin": {"start": None}})
    instance.cli("reload")
    wait_until(sink.transactions, 20, "the letter")
    assert [transaction.to for transaction in sink.transactions()] == [["poster@example.net"]]
    assert not instance.set_aside()


@pytest.mark.parametrize("moment", range(4))
def test_killed_while_deciding(moderated, moment):
    """Whenever the runner is killed, the post reaches the list once and the moderator is told once."""
    moderated.post()
    to = reply_to(moderated.notices()[OLGA][0])
    moderated.answer(to, "accept")
    time.sleep(0.004 * moment)
    moderated.instance.kill_runner("command")
    wait_until(lambda: moderated.held() == [], 20, "the decision")
    found = moderated.mail()
    assert len(found[ANNE]) == 1 and len(found[OLGA]) == 1
