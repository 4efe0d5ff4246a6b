# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Automatic answers of a list: to mail for the owners, to posts, to mail for -request; what becomes of the mail, who
gets none, and that nobody gets it twice in a grace period."""
import time

import pytest

from support.instance import HOST

LIST, OWNER, REQUEST = (f"{name}@{HOST}" for name in ("test", "test-owner", "test-request"))
ANNE, SUE, OLGA = "anne@example.net", "sue@example.org", "olga@example.com"


class Site:
    def __init__(self, instance, sink):
        self.instance, self.sink = instance, sink
        self.numbers = iter(range(1000))

    def set(self, *settings):
        self.instance.cli("list", "set", LIST, *settings)

    def send(self, to, sender=SUE, **fields):
        """{recipient: [message]} of what comes of a mail."""
        lines = [f"From: {sender}", f"To: {to}", "Subject: hello", f"Message-ID: <{next(self.numbers)}@x>"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        self.instance.lmtp_send("\r\n".join([*lines, "", "Hi", ""]).encode(), to, sender=sender)
        self.instance.wait_idle()
        return self.sink.take_mail()


@pytest.fixture
def site(instances, sink):
    instance = instances(sink.port).start()
    instance.create_list("test", [ANNE], owner=OLGA, settings=["subject_prefix="])
    return Site(instance, sink)


def is_answer(letter, text):
    assert letter["Auto-Submitted"] == "auto-replied" and letter["In-Reply-To"] and letter["List-Id"]
    assert letter["Subject"] == "Automatic answer from Test: hello" and letter["From"].addresses[0].addr_spec == OWNER
    assert letter.get_content().replace("\r\n", "\n").startswith(text + "\n\n-- \n"), letter.get_content()


def test_respond_and_continue_post(site):
    site.set("autorespond_postings=respond_and_continue", "autoresponse_postings_text=Thanks from $list_name")
    found = site.send(LIST)
    assert sorted(found) == [ANNE, SUE] and found[ANNE][0]["Subject"] == "hello"
    is_answer(found[SUE][0], "Thanks from Test")
    assert sorted(site.send(LIST)) == [ANNE], "once in a grace period"


def test_respond_and_continue_owner(site):
    site.set("autorespond_owner=respond_and_continue", "autoresponse_owner_text=We read this")
    found = site.send(OWNER)
    assert sorted(found) == [OLGA, SUE]
    is_answer(found[SUE][0], "We read this")
    assert sorted(site.send(LIST)) == [ANNE], "each kind has its own setting"


@pytest.mark.main
def test_respond_and_discard_post(site):
    site.set("autorespond_postings=respond_and_discard", "autoresponse_postings_text=Nobody reads this")
    found = site.send(LIST)
    assert sorted(found) == [SUE]
    is_answer(found[SUE][0], "Nobody reads this")
    assert site.send(LIST) == {} and site.instance.cli("held", "ls", "--names") == ""


def test_respond_and_discard_owner(site):
    site.set("autorespond_owner=respond_and_discard")
    found = site.send(OWNER)
    assert sorted(found) == [SUE]
    is_answer(found[SUE][0], "Your message has arrived.")


def test_requests(site):
    site.set("autorespond_requests=respond_and_continue", "autoresponse_request_text=Join at $join_address")
    letters = site.send(REQUEST)[SUE]
    assert len(letters) == 2
    is_answer(next(letter for letter in letters if "Automatic" in letter["Subject"]), f"Join at test-join@{HOST}")
    site.set("autorespond_requests=respond_and_discard")
    assert site.send(REQUEST) == {}
    assert sorted(site.send(REQUEST, sender=ANNE)) == [ANNE]
    assert sorted(site.send(f"test-join@{HOST}")) == [SUE], "other addresses are not meant"


@pytest.mark.main
def test_grace_period(site):
    site.set("autorespond_owner=respond_and_discard", "autoresponse_grace_period=0")
    assert sorted(site.send(OWNER)) == sorted(site.send(OWNER)) == [SUE]
    site.set("autoresponse_grace_period=1d")
    assert site.send(OWNER) == {}
    assert sorted(site.send(OWNER, sender=ANNE)) == [ANNE]


@pytest.mark.main
def test_programs_get_no_answer(site):
    """RFC 3834, section 2."""
    site.set("autorespond_owner=respond_and_discard", "autorespond_postings=respond_and_continue",
             "autorespond_requests=respond_and_discard")
    for fields in ({"Auto_Submitted": "auto-generated"}, {"Precedence": "bulk"}, {"List_Id": "<other.example.org>"}):
        for to in (OWNER, REQUEST):
            assert site.send(to, **fields) == {}
    site.instance.lmtp_send(b"From: x@example.org\r\nSubject: hello\r\n\r\nHi\r\n", OWNER, sender="")
    assert site.send(OWNER, sender="mailer-daemon@example.org") == {}


def test_no_answer_to_what_is_rejected(site):
    site.set("autorespond_postings=respond_and_continue", "default_nonmember_action=discard")
    assert site.send(LIST) == {}


def test_died_before_the_hop(site):
    """The process dies when the store has noted that the injected mail was answered and thrown away, and before the
    entry is gone: the mail is still thrown away, and the answer leaves."""
    site.set("autorespond_postings=respond_and_discard")
    site.instance.stop()
    site.instance.cli("inject", f"--sender={SUE}", LIST, input=f"From: {SUE}\nTo: {LIST}\nSubject: hello\n\nHi\n")
    entry, = site.instance.files("in")["in"]
    with site.instance.database() as store:
        store.execute("INSERT INTO effect (entry, number, recorded_at) VALUES (?, 0, ?)",
                      (f"in:{entry.split('+')[1].split('.')[0]}", time.time_ns() // 1000))
    site.instance.start()
    site.instance.wait_idle()
    assert [transaction.to for transaction in site.sink.transactions()] == [[SUE]]
