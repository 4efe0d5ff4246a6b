# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The message's octets are the sender's: with nothing configured to change, every body arrives as it was."""
import base64
import email
import re
from collections import defaultdict

import pytest

from support.certificate import Authority
from support.corpus import Mail, sample_thread
from support.instance import HOST
from support.wire import body_sha, field, fits, message_id, split, wire

# By BDAT and by DATA, in clear text and over TLS.
MEMBERS = ["one@members.example.org", "two@data.example.org", "three@tls.example.org", "four@tlsdata.example.org"]
WAYS = (("BDAT", None), ("DATA", None), ("BDAT", "TLSv1.3"), ("DATA", "TLSv1.3"))


class All:
    """A sink for each domain, each of which knows but one way."""

    def __init__(self, sinks, certificate):
        self.sinks = [sinks(options=[*(["--without", "CHUNKING"] if verb == "DATA" else []),
                                     *(["--tls", str(certificate)] if tls else [])]) for verb, tls in WAYS]

    def transactions(self):
        for sink, way in zip(self.sinks, WAYS):
            assert {(copy.envelope["verb"], copy.envelope["tls"]) for copy in sink.transactions()} <= {way}
        return [copy for sink in self.sinks for copy in sink.transactions()]


@pytest.fixture
def sink(sinks, tmp_path):
    return All(sinks, Authority(tmp_path / "tls").certify("127.0.0.1"))


@pytest.fixture
def instance(instances, sink):
    first, *others = sink.sinks
    names = [member.partition("@")[2].partition(".")[0] for member in MEMBERS[1:]]
    return instances(first.port, settings={
        "out": {"transport_table": " ".join(f"{name}.example.org:{name}" for name in names)},
        **{f"transport.{name}": {"host": "127.0.0.1", "port": other.port, "tls_level": "require" if tls else "none"}
           for name, other, (_, tls) in zip(names, others, WAYS[1:])}}).start()


def spread(mails):
    """Numbers the mails that share a Message-ID, so that each can go to a list that has not seen it."""
    seen = defaultdict(int)
    for mail in mails:
        name = message_id(mail.octets)
        yield (seen[name] if name else 0), mail
        seen[name] += name is not None


def send_all(instance, mails):
    """Sends each mail to a list of its turn, all of which have the same members; how many were sent."""
    lists, client = [], instance.lmtp()
    for turn, mail in spread(mails):
        while len(lists) <= turn:
            lists.append(instance.create_list(f"list{len(lists)}", MEMBERS))
        instance.lmtp_send(mail.octets, lists[turn], client=client)
    client.quit()
    instance.wait_idle(120)


def looks_like_header(octets):
    return re.match(rb"[!-9;-~]+[ \t]*:", octets) is not None


def assert_bodies(sink, mails):
    whole = [mail for mail in mails if looks_like_header(mail.octets) and fits(mail.octets)]
    broken = [mail for mail in mails if not looks_like_header(mail.octets) and fits(mail.octets)]
    wanted, got = defaultdict(int), defaultdict(int)
    for mail in whole:
        for member in MEMBERS:
            wanted[member, body_sha(mail.octets)] += 1
    copies = [t for t in sink.transactions()]
    for copy in copies:
        for member in copy.to:
            got[member, body_sha(copy.octets)] += 1
    differ = {key: (count, got[key]) for key, count in wanted.items() if got[key] < count}
    assert not differ, f"{len(differ)} of {len(wanted)} bodies did not arrive as they were sent: " + ", ".join(
        mail.name for mail in whole if (MEMBERS[0], body_sha(mail.octets)) in differ)[:2000]
    for mail in broken:  # its first line is no field: a body without header, or a header with a line to be passed over
        body = split(mail.octets)[1]
        assert any(copy.octets.endswith(mail.octets) or (body and split(copy.octets)[1] == body)
                   for copy in copies), mail.name
    assert sum(len(copy.to) for copy in copies) == len(mails) * len(MEMBERS)


def test_bodies_of_list_mail(instance, sink, list_mails):
    send_all(instance, list_mails)
    assert_bodies(sink, list_mails)


def test_bodies_of_awkward_mail(instance, sink, mime_mails):
    send_all(instance, mime_mails)
    assert_bodies(sink, mime_mails)


def test_header_octets_that_are_not_ours_stay(instance, sink, list_mails):
    """Field by field: what the list does not set arrives in the octets and the order that it had."""
    mails = [mail for turn, mail in spread(list_mails[::9]) if turn == 0]
    send_all(instance, mails)
    by_id = {copy.message_id: copy for copy in sink.transactions()}
    ours = (b"list-", b"precedence", b"archived-at", b"x-mailman", b"x-message-id-hash", b"message-id-hash",
            b"x-beenthere", b"errors-to", b"sender", b"subject", b"reply-to", b"cc", b"to", b"return-path",
            b"delivered-to", b"received", b"approved", b"x-approve", b"urgent", b"return-receipt-to",
            b"disposition-notification-to", b"x-confirm-reading-to", b"x-pmrqc", b"mail-followup-to")
    for mail in mails:
        header, copied = split(mail.octets)[0], split(by_id[message_id(mail.octets)].octets)[0]
        kept = [line for line in unfold(header) if not line.lower().startswith(ours)]
        there = iter(unfold(copied))
        missing = [line for line in kept if not any(line == other for other in there)]
        assert not missing, f"{mail.name}: {missing[:3]}"


def test_return_path_of_the_way_to_us_is_gone(instance, sink, list_mails, mime_mails):
    """RFC 5321, 4.4: it tells of a final delivery; what goes on has none, nor do copies for owners or archive."""
    mails = [mail for turn, mail in spread([*list_mails, *mime_mails]) if turn == 0 and return_paths(mail.octets)]
    assert len(mails) >= 50
    send_all(instance, mails)
    instance.create_list("owned", MEMBERS, owner="owner@example.org")
    instance.lmtp_send(mails[0].octets, f"owned-owner@{HOST}")
    instance.wait_idle()
    copies = sink.transactions()
    assert {to for copy in copies for to in copy.to} == {"owner@example.org", *MEMBERS}
    archived = list(instance.archive.glob("maildir/*/new/*"))
    assert len(archived) == len(mails)
    assert not [path for path in archived if return_paths(path.read_bytes().replace(b"\n", b"\r\n"))]
    assert not [copy.message_id for copy in copies if return_paths(copy.octets)]


def return_paths(octets):
    return [line for line in unfold(split(octets)[0]) if line.lower().startswith(b"return-path")]


def unfold(header):
    """Fields with their folds, as they are."""
    result = []
    for line in header.split(b"\r\n")[:-1]:
        if line[:1] in (b" ", b"\t") and result:
            result[-1] += b"\r\n" + line
        else:
            result.append(line)
    return result


def test_dkim_signature_survives(instance, sink, list_mails):
    dkim = pytest.importorskip("dkim", reason="python3-dkim is not installed")
    from nacl.signing import SigningKey
    key = SigningKey.generate()
    record = b"v=DKIM1; k=ed25519; p=" + base64.b64encode(bytes(key.verify_key))
    address = instance.create_list("signed", MEMBERS)
    signed = []
    for mail in sample_thread() + [mail for turn, mail in spread(list_mails[::40]) if turn == 0
                                   and field(mail.octets, "From")]:
        head = dkim.sign(mail.octets, b"sel", b"example.com", base64.b64encode(bytes(key)),
                         canonicalize=(b"simple", b"simple"), include_headers=[b"From", b"Date", b"Message-ID"],
                         signature_algorithm=b"ed25519-sha256")
        signed.append(Mail(mail.name, head + mail.octets))
    for mail in signed:
        assert dkim.verify(mail.octets, dnsfunc=lambda name, timeout=5: record), f"{mail.name} was not signed well"
        instance.lmtp_send(mail.octets, address)
    instance.wait_idle()
    copies = sink.transactions()
    assert len(copies) == len(MEMBERS) * len(signed)
    for copy in copies:
        assert dkim.verify(copy.octets, dnsfunc=lambda name, timeout=5: record), field(copy.octets, "Message-ID")
    tampered = copies[0].octets[:-3] + b"!\r\n"
    assert not dkim.verify(tampered, dnsfunc=lambda name, timeout=5: record), "this verifier would accept anything"


def leaves(octets):
    """Type, charset and decoded octets of every leaf; line ends of text are those of the wire."""
    message = email.message_from_bytes(octets)
    return [(part.get_content_type(), part.get_content_charset(), wire(part.get_payload(decode=True) or b"").rstrip())
            for part in message.walk() if not part.is_multipart()]


def can_be_downgraded(octets):
    """Mail in MIME, every 8-bit part of which may be encoded: none is signed."""
    message = email.message_from_bytes(octets)
    kinds = {part.get_content_type() for part in message.walk()}
    return message["MIME-Version"] is not None and "multipart/signed" not in kinds and not message.defects and \
        not any(part.defects for part in message.walk())


def test_seven_bits_where_the_server_takes_no_more(instances, sinks, list_mails, mime_mails):
    """A server without 8BITMIME gets every mail in 7 bits, with the same parts in it; mail that is in 7 bits as it came
    goes as it came; and a server that takes 8 bits gets them."""
    eight, seven = sinks(), sinks(options=["--without", "8BITMIME"])
    instance = instances(eight.port, settings={
        "out": {"transport_table": "seven.example.org:seven"},
        "transport.seven": {"host": "127.0.0.1", "port": seven.port}}).start()
    mails = [mail for mail in [*list_mails, *mime_mails] if looks_like_header(mail.octets) and message_id(mail.octets)]
    mails = [mail for turn, mail in spread(mails) if turn == 0]
    address = instance.create_list("test", ["one@members.example.org", "two@seven.example.org"])
    instance.lmtp_send_all(mails, address)
    instance.wait_idle(120)
    as_it_is = {copy.message_id: copy.octets for copy in eight.transactions()}
    changed = {copy.message_id: copy.octets for copy in seven.transactions()}
    assert set(as_it_is) == set(changed) and len(as_it_is) == len(mails)
    encoded = same = 0
    for name, original in as_it_is.items():
        header, body = split(original)
        if body.isascii():
            assert split(changed[name])[1] == body, name
            same += 1
        elif can_be_downgraded(original):
            assert split(changed[name])[1].isascii(), name
            assert leaves(changed[name]) == leaves(original), name
            encoded += 1
    print(f"\n{len(mails)} mails: {same} in 7 bits as they came, {encoded} made so, "
          f"{len(mails) - same - encoded} that cannot be")
    assert same > 0 and encoded > 0
