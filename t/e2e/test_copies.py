# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Copies of their own: the sender by which a bounce tells who it was, the link to unsubscribe, the list's text
with the member's name in it. What the poster wrote stays as it was, judged by Python's email."""
import base64
import email
import email.message
import email.policy
import re

import pytest

from support.wire import field, fits, message_id, split

NAMES = {"anne@example.org": "Anne Person", "bart@example.org": "Bärt Ünger", "cat@example.net": ""}
FOOTER = "--\nTo $user_address, who is $user_name_or_address; list $display_name.\n"


def make_list(instance, name="test", personalize="individual", footer=FOOTER):
    address = instance.create_list(name, settings=[f"personalize={personalize}", f"msg_footer={footer}"])
    lines = "".join(f"{person} <{member}>\n" if person else f"{member}\n" for member, person in NAMES.items())
    instance.cli("member", "import", address, "-", input=lines)
    return address


def parts(octets):
    """Type and decoded octets of every leaf."""
    message = email.message_from_bytes(octets, policy=email.policy.compat32)
    return [(part.get_content_type(), part.get_payload(decode=True) or b"") for part in message.walk()
            if not part.is_multipart()]


def footer_of(octets):
    """The list's text as a reader sees it: the end of the last text part."""
    content, raw = parts(octets)[-1]
    assert content == "text/plain"
    message = email.message_from_bytes(octets)
    leaf = [part for part in message.walk() if not part.is_multipart()][-1]
    return raw.decode(leaf.get_content_charset() or "ascii", "replace").replace("\r\n", "\n")


def send_one(instance, address, octets):
    instance.lmtp_send(octets, address)
    instance.wait_idle()


PLAIN = (b"From: poster@example.net\r\nTo: test@lists.example.com\r\nSubject: hello\r\nMessage-ID: <1@example.net>\r\n"
         b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
         b"na\xc3\xafve\r\n.dot\r\n..\r\nend\r\n")


@pytest.mark.main
def test_each_has_a_copy(instances, sink):
    instance = instances(sink.port, settings={
        "pipeline": {"unsubscribe_url": "https://lists.example.com/u/$token"}}).start()
    address = make_list(instance)
    send_one(instance, address, PLAIN)
    copies = {t.to[0]: t for t in sink.transactions()}
    assert len(sink.transactions()) == 3 and set(copies) == set(NAMES)
    assert all(len(t.to) == 1 for t in copies.values())
    local, host = address.split("@")
    senders = {member: t.sender for member, t in copies.items()}
    tokens = set()
    for member, copy in copies.items():
        user, domain = member.split("@")
        assert re.fullmatch(rf"{local}-bounces\+{user}={domain}\+[a-z2-7]{{12}}@{host}", senders[member])
        body = split(copy.octets)[1]
        assert body.startswith(split(PLAIN)[1]), "what the poster wrote has changed"
        text = body[len(split(PLAIN)[1]):].decode().replace("\r\n", "\n")
        assert text == f"--\nTo {member}, who is {NAMES[member] or member}; list Test.\n"
        links = re.fullmatch(r"<https://lists\.example\.com/u/([A-Za-z0-9_.-]+)>,\s+<mailto:test-leave@[a-z.]+>",
                             field(copy.octets, "List-Unsubscribe"))
        assert links, field(copy.octets, "List-Unsubscribe")
        tokens.add(links[1])
        assert field(copy.octets, "List-Unsubscribe-Post") == "List-Unsubscribe=One-Click"
    assert len(tokens) == 3


@pytest.mark.main
def test_full_names_the_member_in_to(instances, sink):
    instance = instances(sink.port).start()
    address = make_list(instance, personalize="full")
    send_one(instance, address, PLAIN)
    for copy in sink.transactions():
        message = email.message_from_bytes(copy.octets, policy=email.policy.default)
        to, = message["To"].addresses
        assert (to.addr_spec, to.display_name) == (copy.to[0], NAMES[copy.to[0]])
        assert address in [a.addr_spec for a in message["Cc"].addresses]
    sink.purge()
    send_one(instance, address, f"Reply-To: {address}\r\n".encode() + PLAIN.replace(b"1@example.net", b"2@example.net"))
    replies = [email.message_from_bytes(copy.octets) for copy in sink.transactions()]
    assert replies and [(copy["Reply-To"], copy["Cc"]) for copy in replies] == [(address, None)] * len(replies)


@pytest.mark.main
def test_who_is_named_in_the_post(instances, sink):
    """The copy of who has the mail already says so; who wants no copy then gets none, and is not in Cc any more."""
    instance = instances(sink.port).start()
    address = make_list(instance, footer="")
    instance.cli("member", "set", address, "cat@example.net", "--receive-list-copy=no")
    others = b"Cc: ANNE@example.org, Cat <cat@example.net>, Eve <eve@example.com>\r\n"
    send_one(instance, address, others + PLAIN)
    copies = {t.to[0]: email.message_from_bytes(t.octets) for t in sink.transactions()}
    assert {member: copy["X-Mailman-Copy"] for member, copy in copies.items()} == {
        "anne@example.org": "yes", "bart@example.org": "no"}
    for copy in copies.values():
        assert email.utils.getaddresses([copy["Cc"]]) == [("", "ANNE@example.org"), ("Eve", "eve@example.com")]
    sink.purge()
    send_one(instance, address, PLAIN.replace(b"1@example.net", b"2@example.net"))
    assert [email.message_from_bytes(t.octets)["X-Mailman-Copy"] for t in sink.transactions()] == [None] * 3


@pytest.mark.main
@pytest.mark.parametrize("interval", [0, 1, 2])
def test_verp_by_interval(instances, sink, interval):
    instance = instances(sink.port, settings={"pipeline": {"verp_delivery_interval": interval}}).start()
    address = instance.create_list("test", list(NAMES))
    for number in range(1, 5):
        send_one(instance, address, PLAIN.replace(b"<1@", b"<%d@" % number))
    copies = sink.transactions()
    for number in range(1, 5):
        of_post = [t for t in copies if t.message_id.strip("<>") == f"{number}@example.net"]
        signed = interval and number % interval == 0
        assert len(of_post) == (3 if signed else 1)
        assert all(("+" in t.sender) == bool(signed) for t in of_post)
        assert sorted(to for t in of_post for to in t.to) == sorted(NAMES)
        assert all(split(t.octets)[1] == split(PLAIN)[1] for t in of_post)


def test_text_around_mail_of_every_kind(instances, sink, mime_mails):
    """The list's text is added to each mail of the corpus, and what the mail holds stays as it was."""
    instance = instances(sink.port).start()
    mails = [mail for mail in mime_mails if message_id(mail.octets) and field(mail.octets, "From")][::3]
    mails = [mail for mail in mails if fits(mail.octets)]
    lists = {}
    seen = {}
    for mail in mails:
        turn = seen[message_id(mail.octets)] = seen.get(message_id(mail.octets), -1) + 1
        if turn not in lists:
            lists[turn] = make_list(instance, name=f"l{turn}")
        instance.lmtp_send(mail.octets, lists[turn])
    instance.wait_idle(120)
    got = {}
    for copy in sink.transactions():
        got.setdefault((copy.message_id, copy.sender.split("-")[0], copy.to[0]), copy)
    seen = {}
    for mail in mails:
        turn = seen[message_id(mail.octets)] = seen.get(message_id(mail.octets), -1) + 1
        for member, name in NAMES.items():
            copy = got[message_id(mail.octets), f"l{turn}", member]
            text = footer_of(copy.octets)
            assert f"To {member}, who is " in text and text.rstrip("\n").endswith(f"list L{turn}."), mail.name
            assert split(mail.octets)[1].rstrip(b"\r\n") in copy.octets or \
                field(mail.octets, "Content-Type").lower().startswith("multipart/mixed"), mail.name
            before, after = parts(mail.octets), parts(copy.octets)
            assert len(after) in (len(before), len(before) + 1), mail.name
            for (kind, content), (new_kind, new_content) in zip(before, after):
                assert kind == new_kind, mail.name
                assert new_content.rstrip(b"\r\n").startswith(content.rstrip(b"\r\n")), mail.name


def test_file_names_of_every_form(instance, sink):
    """A list that takes no .exe takes none by any name that a mail program may read; the list beside it takes all."""
    strict = instance.create_list("test", ["anne@example.org"],
                                  settings=["filter_content=yes", "filter_extensions=exe"])
    other = instance.create_list("other", ["anne@example.org"])
    inner = email.message.EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("words")
    inner.add_attachment(b"MZ-inner", "application", "octet-stream", filename="x.exe")
    encoded = base64.encodebytes(inner.as_bytes()).replace(b"\n", b"\r\n").decode()
    attachment = "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; {}\r\n\r\nMZ-seen\r\n"
    parts = [attachment.format(name) for name in (
        'filename="x.txt"; filename*=utf-8\'\'x.exe', "filename=x.txt; filename=x.exe", 'filename="x.exe."',
        'filename="x.exe "', "filename*0=x.; filename*1=exe", 'filename="=?utf-8?b?eC5leGU=?="')]
    parts += [attachment.format("filename=x.txt").replace("stream", "stream; name=x.exe", 1),
              f"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n{encoded}"]
    for number, hidden in enumerate(parts):
        for address in (strict, other):
            send_one(instance, address, (
                f"From: poster@example.net\r\nTo: {address}\r\nSubject: {number}\r\n"
                f"Message-ID: <{number}@example.net>\r\n"
                "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nthe text\r\n"
                f"--b\r\n{hidden}--b--\r\n").encode())
    copies = [email.message_from_bytes(transaction.octets) for transaction in sink.transactions()]
    assert len(copies) == 2 * len(parts)
    for copy in copies:
        leaves = [part.get_payload(decode=True) or b"" for part in copy.walk() if not part.is_multipart()]
        leaves += [base64.b64decode(part.get_payload(0).get_payload()) for part in copy.walk()
                   if part.get_content_type() == "message/rfc822" and part["Content-Transfer-Encoding"] == "base64"]
        assert any(b"the text" in leaf for leaf in leaves)
        seen = any(b"MZ" in leaf or base64.b64encode(b"MZ-inner") in leaf for leaf in leaves)
        assert seen == ("other" in copy["List-Id"]), copy.as_string()
