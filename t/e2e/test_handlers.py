# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Each handler alone, and all together: whatever mail goes in, Python's email reads what comes out without a defect
that the mail did not have, and what no handler is to touch is there octet for octet."""
import collections
import email
import email.parser
import email.policy
import os
import struct
import subprocess

import pytest

from support.corpus import SAMPLES
from support.instance import build
from support.wire import wire

pytestmark = pytest.mark.main

# These change the text or its parts; all others only fields of the header.
BODIES = {"decorate", "mime-delete", "dmarc wrap", "all", "all wrap", "all anonymous"}
OURS = ("From", "Reply-To", "Subject", "Message-ID")


class Driver:
    def __init__(self):
        self.process = subprocess.Popen([build() / "t" / "posting" / "each_handler"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def name(self):
        octets = b""
        while (octet := self.process.stdout.read(1)) != b"\0":
            assert octet, self.process.stderr.read().decode()
            octets += octet
        return octets.decode()

    def run(self, mail):
        """{variant: octets} of those that changed the mail."""
        self.process.stdin.write(struct.pack("=I", len(mail)) + mail)
        self.process.stdin.flush()
        found = {}
        while name := self.name():
            size, = struct.unpack("=I", self.process.stdout.read(4))
            found[name] = self.process.stdout.read(size)
        return found


@pytest.fixture(scope="module")
def driver():
    made = Driver()
    yield made
    made.process.stdin.close()
    assert made.process.wait(60) == 0


def body(octets):
    return octets.partition(b"\r\n\r\n")[2]


def defects(message):
    return collections.Counter(type(defect).__name__ for part in message.walk() for defect in part.defects)


def leaves(message):
    return [part.get_payload().rstrip() for part in message.walk() if not part.is_multipart()]


def check(name, before, read, variant, after):
    """A "multipart" without parts is one that Python cannot split, though we may."""
    now = email.message_from_bytes(after)
    # Where no reader finds the end of the header, what Python takes for parts changes as soon as one does.
    whole = not read.defects
    more = defects(now) - defects(read) if whole else collections.Counter(map(type, now.defects)) - \
        collections.Counter(map(type, read.defects))
    assert not more, (name, variant, more)
    if variant not in BODIES:
        assert body(after) in (body(before), before), (name, variant)  # all of a mail without a header is its body
        return
    if not whole:
        return
    kept = leaves(now)
    if variant in ("decorate", "dmarc wrap"):  # the text may stand between header and footer
        texts = [part.get_payload(decode=True) or b"" for part in now.walk() if not part.is_multipart()]
        everything = b"\0".join(texts)
        for part in read.walk():
            if not part.is_multipart() and part.get_content_maintype() != "multipart" and \
                    part.get_payload().rstrip() not in kept:
                assert part.get_content_maintype() == "text", (name, variant)
                content = (part.get_payload(decode=True) or b"").strip()
                assert content in everything or part.get_content_charset("us-ascii") != "utf-8", (name, variant)
    else:
        old = leaves(read)
        strangers = [part for part in now.walk() if not part.is_multipart() and part.get_payload().rstrip() not in old]
        for part in strangers:
            assert part.get_content_maintype() in ("text", "multipart"), (name, variant)
    fresh = email.parser.BytesParser(policy=email.policy.default).parsebytes(after, headersonly=True)
    for field in OURS:
        if str(now[field]) != str(read[field]):
            assert not fresh[field].defects, (name, variant, field, fresh[field].defects)


def test_every_mail(driver, list_mails, mime_mails):
    """The mail of t/data and a share of what is made, and all of LISTRUNNER_CORPUS."""
    step = 1 if os.environ.get("LISTRUNNER_CORPUS") else 4
    mails = [(path.name, wire(path.read_bytes())) for path in sorted(SAMPLES.glob("*.eml"))]
    mails += [(mail.name, mail.octets) for mail in [*list_mails[::step], *mime_mails]]
    seen = collections.Counter()
    for name, octets in mails:
        read = email.message_from_bytes(octets)
        for variant, after in driver.run(octets).items():
            seen[variant] += 1
            check(name, octets, read, variant, after)
    # Each variant had something to do.
    assert seen["all"] > 100 and BODIES | {"cleanse anonymous", "cook-headers", "dmarc", "rfc-2369", "subject-prefix",
                                           "tagger", "cleanse-dkim"} <= set(seen)
