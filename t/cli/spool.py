# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Entries written by hand, as switchboard/entry.h describes them."""

import hashlib
import itertools
import json
import time

_ordinals = itertools.count(1)


def digest_of(name):
    return name.split("+")[1][:40]


def write_entry(site, queue, list_id="test.example.com", message=b"A: b\r\n\r\nc\r\n",
                recipients=b" anne@example.com\n", due=None, suffix=".msg", crashes=0,
                sender="test-bounces@example.com", posted_by=None, arrival=None, **more):
    """Writes an entry and returns its name. What is in `more` becomes metadata."""
    arrival = int((arrival if arrival is not None else time.time() - 60) * 1e6)
    meta = {"arrival": arrival, "list": list_id, "ordinal": next(_ordinals), **more}
    if posted_by is None:
        meta["envelope_sender"] = sender
    else:
        meta["sender"] = posted_by
        recipients = b""
    head = json.dumps(meta, separators=(",", ":"), sort_keys=True).encode() + b"\n"
    digest = hashlib.sha1(message + f"\0{list_id}\0{arrival}\0{meta['ordinal']}".encode()).hexdigest()
    due = int(due * 1e6) if due is not None else arrival
    name = f"{due // 1000000:010d}.{due % 1000000:06d}+{digest}"
    blank = b"".join(b" " + line[1:] for line in recipients.splitlines(True))
    lengths = b"%010d %012d %012d" % (len(head), len(recipients), len(message))
    checksum = hashlib.sha1(head + blank + lengths).hexdigest().encode()
    directory = site.spool / queue
    directory.mkdir(exist_ok=True)
    (directory / (name + suffix)).write_bytes(
        b"listrunner 1 %s %d %s\n" % (lengths, crashes, checksum) + head + recipients + message
        + b"\nend listrunner 1 " + digest.encode() + b"\n")
    return name
