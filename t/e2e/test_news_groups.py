# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""News groups whose numbers have gaps, go back, or are nonsense, on a server made for this."""
import email
import json
import mailbox

import pytest

from support.instance import wait_until
from support.news_server import NewsServer

GROUP = "local.test"


def article(number):
    return (f"From: Bart <bart@example.org>\nNewsgroups: {GROUP}\nSubject: a{number}\nMessage-ID: <{number}@news>\n\n"
            "hello\n")


class Gateway:
    def __init__(self, instance, sink, server):
        self.instance, self.sink, self.server = instance, sink, server
        self.instance.set({"runner.nntp": {"start": "yes"},
                           "nntp": {"host": "127.0.0.1", "port": server.port, "poll_interval": "1s", "timeout": "60s"}})
        self.instance.start()
        self.address = self.instance.create_list("test", members=["member@example.org"], settings=[
            f"linked_newsgroup={GROUP}", "gateway_to_news=yes", "gateway_to_mail=yes", "subject_prefix=",
            "default_nonmember_action=accept"])

    def place(self):
        row, = map(json.loads, self.instance.cli("news", "ls", "--json").splitlines())
        return row

    def looked(self):
        """Waits for one look at the group that begins after this call."""
        before = self.place()["looked_at"]
        wait_until(lambda: self.place()["looked_at"] not in (None, before), 15, "a look at the group")

    def add(self, *numbers):
        self.server.groups[GROUP].update((number, article(number)) for number in numbers)

    def copies(self):
        return [email.message_from_bytes(one.octets)["Subject"] for one in self.sink.transactions()]

    def got(self, count, seconds=30):
        wait_until(lambda: len(self.copies()) >= count, seconds, lambda: f"{count} copies, of {self.copies()}")
        self.instance.wait_idle()
        return self.copies()

    def post(self, subject):
        self.instance.lmtp_send(f"From: anne@example.net\r\nTo: {self.address}\r\nSubject: {subject}\r\n"
                                f"Message-ID: <{subject}@example.net>\r\n\r\nhello\r\n".encode(), self.address)


@pytest.fixture
def gateway(instances, sink):
    made = []

    def make(numbers=(1,), **options):
        server = NewsServer({GROUP: {number: article(number) for number in numbers}}, **options)
        made.append(server)
        return Gateway(instances(sink.port), sink, server)
    yield make
    for server in made:
        server.close()


@pytest.mark.parametrize("knows", [("LISTGROUP",), ("OVER",), ("XOVER",), ("NEXT",)])
def test_a_gap_of_millions(gateway, knows):
    it = gateway(knows=knows)
    it.looked()
    it.looked()
    assert it.place()["watermark"] == 1
    before = len(it.server.commands)
    it.add(3000000, 3000001, 3000005)
    assert sorted(it.got(3)) == ["a3000000", "a3000001", "a3000005"]
    assert it.place()["watermark"] == 3000005
    assert len(it.server.commands) - before < 200
    assert it.server.count("ARTICLE") == 3


def test_the_place_is_kept_where_a_session_ends(gateway):
    """The server knows nothing but ARTICLE, and hangs up after some commands; other posts go out meanwhile."""
    it = gateway(knows=(), session_most=40)
    it.looked()
    it.add(*range(2, 12), 90)
    assert set(it.got(11, 60)) == {f"a{number}" for number in (*range(2, 12), 90)}
    assert it.place()["watermark"] == 90
    it.server.groups[GROUP][2000000] = article(2000000)
    wait_until(lambda: it.place()["watermark"] > 100, 30, "the place to go on")
    it.post("outward")
    wait_until(lambda: it.server.posted, 15, "the article")


def test_a_connection_is_lost(gateway):
    """Each time that an article is posted: status says so, and the posts go later."""
    it = gateway()
    it.looked()
    it.instance.cli("list", "set", it.address, "gateway_to_mail=no")
    it.server.lost = 1000
    it.post("first")
    it.post("second")
    wait_until(lambda: "the news server cannot be used" in it.instance.run("status").stdout, 20, "status to tell")
    it.server.lost = 0
    wait_until(lambda: len(it.server.posted) == 2, 60, "both articles")
    wait_until(lambda: it.instance.run("status").returncode == 0, 20, "status to be well")
    assert not it.instance.set_aside()


def test_posts_do_not_wait_for_articles(gateway):
    it = gateway()
    it.looked()
    it.add(*range(2, 402))
    it.server.delay.clear()
    wait_until(lambda: it.server.count("ARTICLE") == 1, 15, "the first article")
    it.post("outward")
    wait_until(lambda: it.instance.files("nntp")["nntp"], 15, "the entry")
    it.server.delay.set()
    wait_until(lambda: it.server.posted, 15, "the article")
    before = it.server.commands[:it.server.commands.index("POST")]
    assert sum(command.startswith("ARTICLE") for command in before) <= 50
    assert len(it.got(401, 60)) == 401


def test_in_the_order_of_their_numbers(gateway):
    it = gateway()
    it.looked()
    it.add(*range(2, 62))
    it.got(60)
    kept, = (it.instance.directory / "archive" / "mbox").glob("test*.mbox")
    assert [mail["Subject"] for mail in mailbox.mbox(kept)] == [f"a{number}" for number in range(2, 62)]


@pytest.mark.parametrize("empty", ["0 0 0", "0 1 0", "0 6 5", "0 3 2", "0 1 5"])
def test_an_empty_group_moves_nothing(gateway, empty):
    it = gateway(range(1, 6))
    it.looked()
    assert it.place()["watermark"] == 5
    it.server.groups[GROUP].clear()
    it.server.marks[GROUP] = empty
    it.looked()
    it.looked()
    assert it.place()["watermark"] == 5 and not it.place()["fault"]
    it.add(*range(1, 7))
    del it.server.marks[GROUP]
    assert it.got(1) == ["a6"]
    it.looked()
    assert it.copies() == ["a6"] and it.place()["watermark"] == 6


def test_a_group_made_anew(gateway):
    it = gateway(range(1, 6))
    it.looked()
    it.server.groups[GROUP] = {1: article(1), 2: article(2)}
    wait_until(lambda: it.place()["fault"], 15, "the fault")
    assert "news catchup" in it.place()["fault"] and it.place()["watermark"] == 5
    assert "news catchup" in it.instance.run("status").stdout
    assert "article 1" in it.instance.cli("news", "catchup", it.address, "1")
    assert it.got(1) == ["a2"]
    assert it.place()["watermark"] == 2
    wait_until(lambda: not it.place()["fault"], 15, "the fault to go")
    it.add(3, 4)
    it.instance.cli("list", "set", it.address, "gateway_to_mail=no")
    assert it.instance.run("news", "catchup", it.address, "x").returncode != 0


@pytest.mark.parametrize("last", [2147483647, 9999999999999999, 9000000000000000000])
def test_nonsense_ends_soon(gateway, last):
    it = gateway()
    it.looked()
    it.server.marks[GROUP] = f"{last} 1 {last}"
    it.looked()
    it.looked()
    it.post("outward")
    wait_until(lambda: it.server.posted, 15, "the article")
    assert it.server.count("ARTICLE") < 10 and it.place()["watermark"] == 1
    del it.server.marks[GROUP]
    it.add(2)
    assert "a2" in it.got(2)
