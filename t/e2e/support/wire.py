# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail as octets: line ends, header and body, fields, no parser in between."""
import hashlib
import re


def wire(octets):
    """CRLF line ends, as a client sends them; the last line ended."""
    octets = re.sub(rb"\r\n|\n|\r", b"\r\n", octets)
    return octets if octets.endswith(b"\r\n") else octets + b"\r\n"


def fits(octets):
    """Whether no line is longer than SMTP allows (998 bytes): mail with longer ones leaves encoded."""
    return max(map(len, octets.split(b"\r\n"))) <= 998


def split(octets):
    """Header with its line ends, and body: what follows the first empty line."""
    if octets.startswith(b"\r\n"):
        return b"", octets[2:]
    header, empty, body = octets.partition(b"\r\n\r\n")
    return header + b"\r\n", body if empty else b""


def body_sha(octets):
    return hashlib.sha256(split(octets)[1]).hexdigest()


def fields(octets, name=None):
    """(name, value) of each header field, or the values of one; folded lines stay folded."""
    found = []
    for line in re.split(rb"\r\n(?![ \t])", split(octets)[0]):
        key, colon, value = line.partition(b":")
        if colon:
            found.append((key.rstrip().decode("latin-1"), value.strip().decode("utf-8", "surrogateescape")))
    if name is None:
        return found
    return [value for key, value in found if key.lower() == name.lower()]


def field(octets, name):
    values = fields(octets, name)
    return values[0] if values else None


def message_id(octets):
    value = field(octets, "Message-ID")
    return re.sub(r"\s+", "", value) if value else None
