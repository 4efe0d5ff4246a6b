# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Small posts made up for a test."""
import itertools

_numbers = itertools.count(1)


def post(sender="poster@example.net", subject="Weather", body="It rains.\n", extra=(), message_id=None,
         to="test@lists.example.com"):
    """A mail in wire form; extra: further header lines. Without to there is no To field."""
    message_id = message_id or f"<post-{next(_numbers)}@example.net>"
    lines = [f"From: {sender}", f"Subject: {subject}", f"Message-ID: {message_id}",
             "Date: Fri, 20 Nov 2026 13:20:00 +0000", *([f"To: {to}"] if to else []), *extra, ""]
    return "".join(f"{line}\r\n" for line in lines).encode() + body.encode().replace(b"\n", b"\r\n")
