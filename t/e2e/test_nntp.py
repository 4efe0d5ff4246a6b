# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""News groups, with a real INN: posts go there once, articles come from there once, and none goes round."""
import email
import json
import os
import time

import pytest

from support import inn as news
from support.certificate import Authority
from support.instance import HOST, wait_until, write_secret
from test_loops import World

pytestmark = pytest.mark.skipif(news.missing() is not None, reason=str(news.missing()))

POST = ("From: Anne <anne@example.net>\r\nTo: {to}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@example.net>\r\n"
        "{more}\r\n{body}\r\n")
ARTICLE = ("From: Bart <bart@example.org>\nNewsgroups: {group}\nSubject: {subject}\nMessage-ID: <{subject}@news>\n\n"
           "hello\n")


@pytest.fixture
def server(tmp_path, until_end):
    tmp_path.chmod(0o755)
    made = until_end(news.Inn(Authority(tmp_path / "authority").certify("localhost")))
    made.authority = tmp_path / "authority" / "hosts-ca.crt"
    made.authority.chmod(0o644)
    for path in tmp_path.parents:
        if str(path).startswith(os.environ.get("TMPDIR", "/tmp")):
            path.chmod(path.stat().st_mode | 0o055)
    (tmp_path / "authority").chmod(0o755)
    yield made.start()


def start(instances, sink, server, **more):
    instance = instances(sink.port)
    password = instance.directory / "news.password"
    write_secret(password, f"{news.PASSWORD}\n")
    instance.set({"runner.nntp": {"start": "yes"},
                  "nntp": {"host": "localhost", "port": server.port, "user": news.USER, "password_file": password,
                           "poll_interval": "1s", "timeout": "60s", **more}})
    return instance.start()


def make_list(instance, name, group, *settings):
    return instance.create_list(name, members=[f"member@{name}.example"],
                                settings=[f"linked_newsgroup={group}", "gateway_to_news=yes", "gateway_to_mail=yes",
                                          "msg_footer=the footer\n", *settings])


def send(instance, to, subject, more="", body="text"):
    instance.lmtp_send(POST.format(to=to, subject=subject, more=more, body=body).encode(), to)


def copies(sink, name):
    """Subjects of what the list's member got."""
    return [email.message_from_bytes(one.octets)["Subject"] for one in sink.transactions()
            if f"member@{name}.example" in one.to]


def place(instance, address):
    rows = map(json.loads, instance.cli("news", "ls", "--json").splitlines())
    return next(row for row in rows if row["list"] == address)


def looked(instance, address):
    """Waits for one look at the group that begins after this call."""
    before = place(instance, address)["looked_at"]
    wait_until(lambda: place(instance, address)["looked_at"] not in (None, before), 15, "a look at the group")


def test_both_ways(instances, sink, server):
    server.post(ARTICLE.format(group="local.test", subject="old"))
    instance = start(instances, sink, server, tls="starttls", tls_ca_file=server.authority)
    address = make_list(instance, "test", "local.test", "nntp_prefix_subject_too=no")
    looked(instance, address)
    assert place(instance, address)["watermark"] == 1

    # Out: mended, from its author, without the list's own text; a line of one dot stays.
    send(instance, address, "outward", "Control: cancel <x@y>\r\nTo: other@example.org\r\nX-Empty:\r\n", ".\r\n..two")
    wait_until(lambda: len(server.articles("local.test")) == 2, 15, "the article")
    article = email.message_from_string(server.articles("local.test")[1])
    assert article["Message-ID"] == "<outward@example.net>" and article["From"] == "Anne <anne@example.net>"
    assert article["Subject"] == "outward" and article["Control"] is None and article["Received"] is None
    assert article["X-Original-To"] == "other@example.org" and article["List-Id"]
    assert article.get_payload() == ".\n..two"

    # In: what comes anew, once, in order; a crossposted article of a stranger; ours does not come back.
    for number in range(3):
        server.post(ARTICLE.format(group="local.test,local.other", subject=f"inward{number}"))
    wait_until(lambda: len(copies(sink, "test")) >= 4, 20, "the copies")
    looked(instance, address)
    looked(instance, address)
    instance.wait_idle()
    assert sorted(copies(sink, "test")) == ["[Test] inward0", "[Test] inward1", "[Test] inward2", "[Test] outward"]
    assert len(server.articles("local.test")) == 5, "nothing went back"
    assert place(instance, address)["watermark"] == 5 and not instance.set_aside()

    # A list that begins now, or catches up, leaves out what is there.
    other = make_list(instance, "other", "local.other")
    looked(instance, other)
    assert place(instance, other)["watermark"] == 3
    assert "local.other" in instance.cli("news", "catchup", other)
    server.post(ARTICLE.format(group="local.other", subject="fresh"))
    wait_until(lambda: copies(sink, "other") or place(instance, other)["watermark"] == 4, 15, "the look")
    instance.cli("list", "set", other, "gateway_to_mail=no")
    assert instance.run("news", "catchup", other).returncode == 1

    # The author posted it to another group himself: here it gets a Message-ID of ours.
    server.post(ARTICLE.format(group="local.moderated", subject="twice").replace("@news", "@example.net")
                .replace("\nSubject", "\nApproved: a@b\nSubject"))
    instance.cli("list", "set", other, "require_explicit_destination=no", "subject_prefix=")
    send(instance, other, "twice")
    wait_until(lambda: [one for one in server.articles("local.other") if "Subject: twice" in one], 15, "the article")
    mine = email.message_from_string(server.articles("local.other")[-1])
    assert mine["Message-ID"].endswith(".news@lists.example.com>")
    assert mine["X-Original-Message-ID"] == "<twice@example.net>"


def test_two_lists_with_one_group(instances, sink, server):
    """Two lists that are each other's members, and have one group both ways: a mail and an article come to rest."""
    instance = start(instances, sink, server, tls="starttls", tls_ca_file=server.authority)
    world = World(instance, sink)
    lists = [make_list(instance, name, "local.test", "subject_prefix=", "nntp_prefix_subject_too=no",
                       "require_explicit_destination=no") for name in ("round", "about")]
    for name, address, other in zip(("round", "about"), lists, reversed(lists)):
        instance.cli("member", "add", address, other, world.alias(name, other.replace("@", "+x@")))
        looked(instance, address)
    send(instance, lists[0], "mail")
    server.post(ARTICLE.format(group="local.test", subject="news"))
    before = -1
    while before != (before := (len(world.got), len(server.articles("local.test")))):
        for address in lists * 2:
            looked(instance, address)
        world.rest(8)
        assert len(world.got) <= 40
    for name in ("round", "about"):
        subjects = [message["Subject"] for to, message in world.got if to == f"member@{name}.example"]
        assert sorted(subjects) == ["mail", "news"], name
    articles = [email.message_from_string(text)["Subject"] for text in server.articles("local.test")]
    assert sorted(articles) == ["mail", "news"] and not instance.set_aside()
    assert not [to for to, message in world.got if not to.endswith((HOST, ".example"))]


def test_what_the_server_refuses_is_mended(instances, sink, server):
    """Octets that are no UTF-8, NULs, long lines, dates and ids that are none: all come to the group, none to shunt."""
    instance = start(instances, sink, server)
    address = make_list(instance, "test", "local.test", "subject_prefix=", "default_nonmember_action=accept",
                        "require_explicit_destination=no", "max_message_size=0")
    long, ids = b"x" * 1200, b"".join(b"<%d@example.net>" % number for number in range(200))
    mails = [(b"Subject: J\xf6rg", b"text"), (b"Subject: s\r\nX-A: \xed\xa0\x80 \x81", b"text"),
             (b"Subject: s", b"a\0b"), (b"Subject: a\0b\1c\x7fd\x0be", b"text"), (b"Subject: " + long, b"text"),
             (b"Subject: " + b"word " * 400, b"text"), (b"Subject: s\r\nReferences: " + ids, b"text"),
             (b"Subject: s\r\nX-A: a\r\n " + long + b"\r\n b", b"text"),
             (b"Subject: s\r\nX-" + long + b": a", b"text"),
             (b"Subject: \xc3\xb6" + b"\xc3\xb6" * 700, b"text"), (b"Subject: s\r\nDate: yesterday", b"text"),
             (b"Subject: s\r\nDate: Mon, 23 Nov 2099 10:00:00 +0000", b"text"),
             (b"Subject: s\r\nExpires: soon", b"text"),
             (b"Subject: s\r\nArchive: no\r\nArchive: yes\r\nBcc: a@b\r\nBcc: c@d", b"text"),
             (b"Subject: s\r\nMessage-ID: <a[1]@b>", b"text"), (b"Subject: s\r\nMessage-ID: <a..b@c>", b"text"),
             (b"Subject: s\r\nOrganization: \xf6", b"text"), (b"Subject: \x01\r\n a", b"text")]
    for fields, text in mails:
        instance.lmtp_send(b"From: Anne <anne@example.net>\r\nTo: %s\r\n%s\r\n\r\n%s\r\n"
                           % (address.encode(), fields, text), address)
    instance.wait_idle()
    assert not instance.set_aside(), instance.cli("shunt", "ls")
    assert len(server.articles("local.test")) == len(mails)


def test_moderated(instances, sink, server):
    instance = start(instances, sink, server)
    address = make_list(instance, "test", "local.moderated", "newsgroup_moderation=moderated",
                        "default_nonmember_action=defer")
    looked(instance, address)
    send(instance, address, "held")
    wait_until(lambda: "held" in instance.cli("held", "ls"), 15, "the held post")
    assert not server.articles("local.moderated")
    number = json.loads(instance.cli("held", "ls", "--json").splitlines()[0])["number"]
    instance.cli("held", "accept", number)
    wait_until(lambda: server.articles("local.moderated"), 15, "the article")
    article = email.message_from_string(server.articles("local.moderated")[0])
    assert article["Approved"] == address and article["Subject"] == "[Test] held"
    # Somebody approved this one already.
    server.post(ARTICLE.format(group="local.moderated", subject="inward").replace("\n\n", "\nApproved: a@b\n\n", 1))
    wait_until(lambda: "[Test] inward" in copies(sink, "test"), 15, "the copy")
    # A group that the server does not know, and one that does not take it.
    instance.cli("list", "set", address, "linked_newsgroup=local.none", "newsgroup_moderation=none")
    send(instance, address, "refused")
    wait_until(lambda: instance.files("shunt")["shunt"], 15, "the refused post")
    assert "local.none" in instance.cli("shunt", "ls")
    wait_until(lambda: "no group local.none" in instance.run("status").stdout, 15, "the status")
    assert "no group" in place(instance, address)["fault"]


def test_server_down(instances, sink, server):
    instance = start(instances, sink, server)
    address = make_list(instance, "test", "local.test")
    looked(instance, address)
    server.stop()
    send(instance, address, "waiting")
    wait_until(lambda: "news server" in instance.run("status").stdout, 15, "the status")
    assert instance.run("status").returncode not in (0, 1)
    wait_until(lambda: copies(sink, "test") == ["[Test] waiting"], 15, "the copy, which does not wait")
    server.start()

    def posted():  # the runner may have it in hand, and put it off once more
        instance.run("queue", "edit-due", "--queue", "nntp", "now")
        return len(server.articles("local.test")) == 1
    wait_until(posted, 60, "the article")
    wait_until(lambda: "news server" not in instance.run("status").stdout, 15, "the status")


def test_killed(instances, sink, server):
    """kill -9 again and again: each article comes once, each post goes once."""
    instance = start(instances, sink, server)
    address = make_list(instance, "test", "local.test")
    looked(instance, address)
    inward, outward = [f"in{number}" for number in range(25)], [f"out{number}" for number in range(25)]
    for number in range(25):
        server.post(ARTICLE.format(group="local.test", subject=inward[number]))
        send(instance, address, outward[number])
        if number % 6 == 5:
            instance.kill_runner("nntp")
            time.sleep(0.2)
    instance.run("queue", "edit-due", "--queue", "nntp", "now")
    wait_until(lambda: len(server.articles("local.test")) >= 50, 60, "the articles")
    wait_until(lambda: len(copies(sink, "test")) >= 50, 60, lambda: f"the copies: {copies(sink, 'test')}")
    looked(instance, address)
    instance.wait_idle()
    subjects = [email.message_from_string(one)["Subject"] for one in server.articles("local.test")]
    assert sorted(subjects) == sorted(inward + [f"[Test] {one}" for one in outward])
    assert sorted(copies(sink, "test")) == sorted(f"[Test] {one}" for one in inward + outward)
