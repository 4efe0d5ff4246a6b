# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Copies carry DKIM signatures of the list's domain: Python's dkim module, which shares no code with ours, verifies
them against the public keys."""
import base64
import email
import email.policy
import subprocess

import dkim

POST = (b"From: Anne <anne@example.net>\r\nTo: test@lists.example.com\r\nSubject: hello\r\n world\r\n"
        b"Message-ID: <1@example.net>\r\n\r\nbody  \r\nna\xc3\xafve\r\n\r\n")


def make_key(instance, name, algorithm):
    path = instance.directory / f"{name}.pem"
    subprocess.run(["openssl", "genpkey", "-out", path, *algorithm], check=True, capture_output=True)
    instance.own(path)
    der = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True,
                         capture_output=True).stdout
    kind, public = ("rsa", der) if "rsa" in algorithm else ("ed25519", der[-32:])
    return path, f"v=DKIM1; k={kind}; p=".encode() + base64.b64encode(public)


def test_files_that_are_not_there_are_told(instances, sink):
    """Nothing stops for want of them, so only the check and the doctor can tell before mail goes out without."""
    instance = instances(sink.port)
    key, _ = make_key(instance, "key", ["-algorithm", "ed25519"])
    key.chmod(0o600)
    gone = instance.directory / "gone"
    instance.set({"dkim.here": {"domain": "lists.example.com", "key_file": key},
                  "dkim.gone": {"domain": "lists.example.com", "key_file": gone},
                  "dkim.off": {"domain": "lists.example.com", "key_file": gone, "enabled": "no"},
                  "hook.one": {"url": "https://example.org/", "secret_file": gone},
                  "nntp": {"user": "u", "password_file": gone},
                  "archiver.kitty": {"type": "hyperkitty", "url": "http://127.0.0.1/", "api_key_file": gone}})
    done = instance.run("config", "check")
    told = sorted(line.partition("warning: ")[2] or line for line in done.stderr.splitlines())
    assert done.returncode == 0 and told == sorted(f"[{setting}: there is no {gone}" for setting in (
        "dkim.gone] key_file", "hook.one] secret_file", "nntp] password_file", "archiver.kitty] api_key_file")), told
    instance.create_store()
    done = instance.run("doctor", "--no-dns", "--no-probe")
    assert f"[dkim.gone] key_file: there is no {gone}" in done.stdout, done.stdout


def test_copies_are_signed(instances, sink):
    instance = instances(sink.port)
    rsa, rsa_record = make_key(instance, "old", ["-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:2048"])
    edwards, edwards_record = make_key(instance, "new", ["-algorithm", "ed25519"])
    records = {b"old._domainkey.lists.example.com.": rsa_record, b"fresh._domainkey.lists.example.com.": edwards_record}
    instance.set({"dkim.old": {"domain": "lists.example.com", "key_file": rsa},
                  "dkim.new": {"domain": "lists.example.com", "selector": "fresh", "key_file": edwards},
                  "dkim.other": {"domain": "elsewhere.example", "key_file": rsa},
                  "dkim.gone": {"domain": "lists.example.com", "key_file": instance.directory / "none.pem"},
                  "dkim.off": {"domain": "lists.example.com", "key_file": rsa, "enabled": "no"}})
    instance.start()
    address = instance.create_list("test", members=["bart@example.org", "cris@example.org"],
                                   settings=["default_nonmember_action=accept", "msg_footer=--\nthe list\n"])
    instance.lmtp_send(POST, address)
    instance.wait_idle()
    transaction, = sink.transactions()
    octets = transaction.octets
    assert octets.lower().count(b"dkim-signature:") == 2
    asked = []

    def look_up(name, timeout=5):
        asked.append(name)
        return records[name]

    def verified(copy, index=0):
        try:
            return dkim.DKIM(copy).verify(index, dnsfunc=look_up)
        except dkim.ValidationError:
            return False

    assert verified(octets, 0) and verified(octets, 1)
    assert set(asked) == set(records)
    for old, new in ((b"world", b"World"), (b"body", b"bodi"), (b"the list", b"The list"), (b"anne@", b"eve@")):
        assert old in octets and not verified(octets.replace(old, new)), old
    assert not verified(b"From: eve@example.com\r\n" + octets)
    assert "none.pem" in instance.log_text()


def test_letters_and_digests_are_signed(instances, sink):
    instance = instances(sink.port)
    key, record = make_key(instance, "new", ["-algorithm", "ed25519"])
    instance.set({"dkim.new": {"domain": "lists.example.com", "key_file": key}})
    instance.start()
    address = instance.create_list("test", members=["bart@example.org"], settings=["default_nonmember_action=accept"])
    instance.cli("member", "add", address, "cris@example.org")
    instance.cli("member", "set", "--delivery-mode=mime_digests", address, "cris@example.org")
    asking = b"From: eve@example.org\r\nTo: x\r\nSubject: help\r\nMessage-ID: <2@example.org>\r\n\r\nhelp\r\n"
    instance.lmtp_send(asking, "test-request@lists.example.com", sender="eve@example.org")
    instance.lmtp_send(POST, address)
    instance.wait_idle()
    instance.cli("digest", "send", address)
    instance.wait_idle()
    found = {one.to[0]: one.octets for one in sink.transactions()}
    assert set(found) == {"bart@example.org", "cris@example.org", "eve@example.org"}
    for recipient, octets in found.items():
        assert dkim.verify(octets, dnsfunc=lambda name, timeout=5: record), recipient


def test_personal_copies_are_signed_one_by_one(instances, sinks):
    """Also when the next server takes no 8-bit octets, for which the copy is written in another way; and sealed."""
    sink, narrow = sinks(), sinks(options=["--without", "8BITMIME"])
    instance = instances(sink.port)
    rsa, rsa_record = make_key(instance, "old", ["-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:2048"])
    edwards, edwards_record = make_key(instance, "new", ["-algorithm", "ed25519"])
    records = {b"old._domainkey.lists.example.com.": rsa_record, b"new._domainkey.lists.example.com.": edwards_record}
    instance.set({"dkim.old": {"domain": "lists.example.com", "key_file": rsa, "use": "both"},
                  "dkim.new": {"domain": "lists.example.com", "key_file": edwards},
                  "authentication": {"authserv_id": "lists.example.com"},
                  "transport.narrow": {"host": "127.0.0.1", "port": narrow.port}})
    instance.start()
    members = ["bart@example.org", "cris@example.org", "dora@example.org"]
    common = ["default_nonmember_action=accept", "personalize=full", "msg_footer=to $user_address\n"]
    wide = instance.create_list("test", members=members, settings=common)
    other = instance.create_list("narrow", members=members, settings=[*common, "transport=narrow"])
    instance.lmtp_send(POST, wide)
    instance.lmtp_send(POST.replace(b"<1@", b"<2@"), other)
    instance.wait_idle()
    for server in (sink, narrow):
        found = {one.to[0]: one.octets for one in server.transactions()}
        assert set(found) == set(members)
        for member, octets in found.items():
            texts = [part.get_payload(decode=True) or b"" for part in email.message_from_bytes(octets).walk()]
            assert any(f"to {member}".encode() in text for text in texts)
            assert octets.count(b"DKIM-Signature:") == 2
            for index in (0, 1):
                assert dkim.DKIM(octets).verify(index, dnsfunc=lambda name, timeout=5: records[name]), member
            assert dkim.arc_verify(octets, dnsfunc=lambda name, timeout=5: records[name])[0] == dkim.CV_Pass
    assert all(b"\xc3" in one.octets for one in sink.transactions())
    assert not any(b"\xc3" in one.octets for one in narrow.transactions())
    # A message that is the same for all is signed by the pipeline, and again when it is converted.
    alike = instance.create_list("alike", members=members, settings=[common[0], "transport=narrow"])
    instance.lmtp_send(POST.replace(b"<1@", b"<3@"), alike)
    instance.wait_idle()
    same = [one.octets for one in narrow.transactions() if b"alike" in one.octets]
    assert same
    for octets in same:
        assert b"\xc3" not in octets and octets.count(b"DKIM-Signature:") == 2 and octets.count(b"ARC-Seal:") == 1
        for index in (0, 1):
            assert dkim.DKIM(octets).verify(index, dnsfunc=lambda name, timeout=5: records[name])
        assert dkim.arc_verify(octets, dnsfunc=lambda name, timeout=5: records[name])[0] == dkim.CV_Pass


def test_long_lines_leave_encoded_and_signed(instances, sink):
    """Lines of more than 998 bytes, of a body or of a field, leave short for all, with signatures of what they are
    then; what has none of them leaves as it came."""
    instance = instances(sink.port)
    key, record = make_key(instance, "new", ["-algorithm", "ed25519"])
    instance.set({"dkim.new": {"domain": "lists.example.com", "key_file": key}})
    instance.start()
    addresses = {"shared": instance.create_list("shared", ["bart@example.org", "cris@example.org"]),
                 "own": instance.create_list("own", ["dora@example.org", "eric@example.org"],
                                             settings=["personalize=individual"])}
    html = "<p>" + "".join(f"caf\u00e9 {number} &amp; " for number in range(900)) + "</p>\r\n"
    line = "\u00e9" * 499
    others = ", ".join(f"Number {number} <m{number}@example.net>" for number in range(150))
    for name, address in addresses.items():
        instance.lmtp_send((f"From: p@example.net\r\nTo: {address}, {others}\r\nSubject: long\r\nMIME-Version: 1.0\r\n"
                            f"Message-ID: <long.{name}@example.net>\r\nContent-Type: text/html; charset=utf-8\r\n"
                            f"Content-Transfer-Encoding: 8bit\r\n\r\n{html}").encode(), address)
        instance.lmtp_send((f"From: p@example.net\r\nTo: {address}\r\nSubject: short\r\nMIME-Version: 1.0\r\n"
                            f"Message-ID: <short.{name}@example.net>\r\nContent-Type: text/plain; charset=utf-8\r\n"
                            f"Content-Transfer-Encoding: 8bit\r\n\r\n{line}\r\n").encode(), address)
    instance.wait_idle()
    found = {"long": {}, "short": {}}
    for one in sink.transactions():
        mail = email.message_from_bytes(one.octets, policy=email.policy.default)
        kind = "long" if "long" in mail["Subject"] else "short"
        for recipient in one.to:
            found[kind][recipient] = (one.octets, mail)
    members = {f"{name}@example.org" for name in ("bart", "cris", "dora", "eric")}
    assert set(found["long"]) == set(found["short"]) == members
    for recipient, (octets, mail) in found["long"].items():
        assert max(map(len, octets.split(b"\r\n"))) <= 998, recipient
        assert mail.get_content().strip() == html.strip() and "m149@example.net" in mail["To"], recipient
        assert dkim.verify(octets, dnsfunc=lambda name, timeout=5: record), recipient
    for recipient, (octets, mail) in found["short"].items():
        assert line.encode() in octets and mail["Content-Transfer-Encoding"] == "8bit", recipient
        assert dkim.verify(octets, dnsfunc=lambda name, timeout=5: record), recipient
