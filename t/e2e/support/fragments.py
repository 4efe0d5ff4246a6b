# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Cutting mails into message/partial, as mail programs of the nineties did."""
import random
from email.message import EmailMessage
from email.policy import SMTP


def split_head(octets):
    """(header with its last line end, body) of a mail in wire form."""
    head, _, body = octets.partition(b"\r\n\r\n")
    return head + b"\r\n", body


def make_part(id, number, total, octets, sender, to, extra=()):
    """One part as bytes, made by the email package; octets become its body untouched."""
    part = EmailMessage(policy=SMTP)
    for name, value in (("From", sender), ("To", to), ("Subject", f"part {number}"),
                        ("Date", "Fri, 20 Nov 2026 13:20:00 +0000"), ("Message-ID", f"<{number}.{id}>"), *extra):
        part[name] = value
    part["MIME-Version"] = "1.0"
    part.add_header("Content-Type", "message/partial", id=id, number=str(number),
                    **({"total": str(total)} if total else {}))
    part.set_payload(octets.decode("ascii"))
    made = part.as_bytes()
    assert made.endswith(b"\r\n\r\n" + octets)
    return made


def cut(octets, count, dice):
    """count pieces that end at line ends, some of them empty."""
    lines = octets.splitlines(keepends=True)
    places = sorted(dice.randint(0, len(lines)) for _ in range(count - 1))
    edges = [0, *places, len(lines)]
    return [b"".join(lines[a:b]) for a, b in zip(edges, edges[1:])]


def fragment(octets, id, count, sender, to, dice=None):
    """The parts of a mail, in order; only the last one must say the total."""
    dice = dice or random.Random(1)
    pieces = cut(octets, count, dice)
    return [make_part(id, number, count if number == count or dice.random() < 0.5 else 0, piece, sender, to)
            for number, piece in enumerate(pieces, 1)]


def is_7bit(octets):
    return all(octet < 128 for octet in octets)
