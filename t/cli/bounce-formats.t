#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""bounce parse on reports of many systems and languages, and on the same in other line ends, encodings and charsets,
and cut off at any line."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import base64  # noqa: E402
import json  # noqa: E402
import quopri  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

from harness import main, tool  # noqa: E402

DATA = Path(__file__).resolve().parent.parent / "data"
FILES = ("bounce-formats.txt", "bounce-wordings.txt")
RETURNED = """Return-Path: <list-bounces@lists.example.org>
Received: from lists.example.org by mx.example.org; Sat, 21 Nov 2026
From: poster@example.edu
To: list@lists.example.org
Subject: hello
Message-ID: <p@example.edu>

Ask other@example.edu about it."""
PLAIN = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"
CHARSETS = ("utf-16", "windows-1252", "iso-8859-2", "koi8-r", "shift_jis", "iso-2022-jp", "euc-jp", "gb18030", "euc-kr")


def cases():
    """{name: (mail as text, {address: (class, what it was known as)})}."""
    found = {}
    for block in "".join((DATA / file).read_text() for file in FILES).split("\n== ")[1:]:
        name, expected, mail = block.split("\n", 2)
        wanted = {}
        for words in filter(None, expected.removeprefix("=> ").split(", ")):
            words, _, origin = words.partition(" from ")
            address, what = words.rsplit(" ", 1)
            wanted[address.replace("\\x20", " ").lower()] = (what, origin or None)
        assert name not in found
        found[name] = (mail.rstrip("\n").replace("@RETURNED@", RETURNED) + "\n", wanted)
    assert len(found) > 250
    return found


def parse(mails):
    """{name: {address: (class, what it was known as)}} of {name: octets}."""
    with tempfile.TemporaryDirectory() as directory:
        paths = []
        for number, octets in enumerate(mails.values()):
            paths.append(Path(directory) / str(number))
            paths[-1].write_bytes(octets)
        rows = []
        for first in range(0, len(paths), 1000):
            rows += tool("bounce", "parse", "--json", *paths[first:first + 1000]).rows()
    assert [int(row["file"]) for row in rows] == list(range(len(mails)))
    return {name: {one["address"].lower(): (one["class"], one["known_as"]) for one in row["recipients"]}
            for name, row in zip(mails, rows)}


def is_right(what, found):
    """Is the class that was found the one that is wanted?"""
    return {"failed": found in ("permanent", "temporary"), "waits": found in ("delayed", "temporary")}.get(
        what, what == found)


def faults(wanted, found):
    bad = [f"wrong: {address}" for address in found if address not in wanted and f"?{address}" not in wanted]
    for address, (what, origin) in wanted.items():
        if address.startswith("?"):
            continue
        if address not in found:
            bad += [f"missing: {address}"] if what != "waits" or origin else []
            continue
        if not is_right(what, found[address][0]):
            bad.append(f"{address} is {found[address][0]}, not {what}")
        if found[address][1] != origin:
            bad.append(f"{address} was known as {found[address][1]}, not {origin}")
    return bad


def judge(mails, wanted):
    """mails: {(name, variant): octets}"""
    bad = {key: faults(wanted[key[0]], found) for key, found in parse(mails).items()}
    assert not any(bad.values()), json.dumps({" ".join(key): what for key, what in bad.items() if what}, indent=1)


def test_formats(site):
    every = cases()
    mails = {(name, "as it is"): mail.encode() for name, (mail, _) in every.items()}
    judge(mails, {name: one[1] for name, one in every.items()})


def test_line_ends_and_mbox(site):
    every = cases()
    mails = {}
    for name, (mail, _) in every.items():
        mails[name, "crlf"] = mail.replace("\n", "\r\n").encode()
        mails[name, "cr"] = mail.replace("\n", "\r").encode()
        mails[name, "mbox"] = b"From MAILER-DAEMON Sat Nov 21 10:00:00 2026\n" + mail.encode()
        mails[name, "cut out"] = b"\n\r\n" + mail.encode()
        mails[name, "mbox in mbox"] = b">From MAILER-DAEMON Sat Nov 21 10:00:00 2026\n" + mail.encode()
    judge(mails, {name: one[1] for name, one in every.items()})


def recoded(head, body, charset, encoding, encode):
    plain = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n"
    return head.replace(PLAIN, plain).encode() + b"\n" + encode(body.encode(charset))


def test_encodings(site):
    every = cases()
    mails = {}
    for name, (mail, _) in every.items():
        head, body = mail.split("\n\n", 1) if "\n\n" in mail else (mail, "")
        head += "\n"
        if PLAIN not in head:
            continue
        mails[name, "base64"] = recoded(head, body, "utf-8", "base64", base64.encodebytes)
        mails[name, "quoted-printable"] = recoded(head, body, "utf-8", "quoted-printable", quopri.encodestring)
        mails[name, "lying"] = head.replace("utf-8", "x-unknown").encode() + b"\n" + body.encode()
        for charset in CHARSETS:
            try:
                mails[name, charset] = recoded(head, body, charset, "base64", base64.encodebytes)
                if charset != "utf-16":
                    mails[name, f"{charset}, raw"] = recoded(head, body, charset, "8bit", bytes)
            except UnicodeEncodeError:
                continue
    assert len(mails) > 1000 and len({variant for _, variant in mails}) == 3 + 2 * len(CHARSETS) - 1
    judge(mails, {name: one[1] for name, one in every.items()})


def inside(mail, depth):
    """The mail's content below multiparts."""
    head, body = mail.split("\n\n", 1)
    lines, content = [], []
    for line in head.split("\n"):
        (content if line.lower().startswith("content-") else lines).append(line)
    inner = "\n".join(content) + "\n\n" + body
    for level in range(depth):
        mark = f"level-{level}"
        inner = f"Content-Type: multipart/mixed; boundary={mark}\n\n--{mark}\n{inner}\n--{mark}--\n"
    return "\n".join(lines) + "\n" + inner


def test_nested(site):
    every = {name: one for name, one in cases().items() if PLAIN in one[0].split("\n\n")[0] + "\n"}
    mails = {(name, f"depth {depth}"): inside(mail, depth).encode() for name, (mail, _) in every.items()
             for depth in (1, 3)}
    judge(mails, {name: one[1] for name, one in every.items()})


def test_cut(site):
    """Whatever the end that is missing, nothing is found that is not in the whole."""
    every = cases()
    mails = {}
    for name, (mail, _) in every.items():
        at = -1
        while (at := mail.find("\n", at + 1)) >= 0:
            mails[name, f"at {at}"] = mail[:at + 1].encode()
    allowed = {name: {address.lstrip("?") for address in one[1]} for name, one in every.items()}
    bad = {" ".join(key): sorted(set(found) - allowed[key[0]]) for key, found in parse(mails).items()}
    assert len(mails) > 4000 and not any(bad.values()), {key: what for key, what in bad.items() if what}


if __name__ == "__main__":
    main(globals())
