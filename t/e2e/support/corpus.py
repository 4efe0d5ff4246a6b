# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail to test with: what t/tools/make-mail makes, our sample thread, and the mail that LISTRUNNER_CORPUS names."""
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

from support.wire import message_id, wire

TOP = Path(__file__).resolve().parents[3]
SAMPLES = TOP / "t" / "data"


class Mail:
    """One mail: octets in wire form, and what the index says of it."""

    def __init__(self, name, octets, thread=None):
        self.name, self.octets, self.thread = name, wire(octets), thread
        self.message_id = message_id(self.octets)


def folders(name):
    """Where mail of a kind ("lists", "mime", "partial", "bounces") is: made here, then that from outside."""
    made = Path(os.environ.get("LISTRUNNER_BUILD") or TOP / "build") / "t" / "made-mail"
    if not (made / "made").exists():
        subprocess.run([TOP / "t" / "tools" / "make-mail", made], check=True)
    outside = os.environ.get("LISTRUNNER_CORPUS")
    found = [place / name for place in [made, *([Path(outside)] if outside else [])]]
    for place in found:
        assert place.is_dir(), f"{place} is not there: does LISTRUNNER_CORPUS name the right directory?"
    return found


def mbox_raw(path):
    """The raw mails of an mbox: without From_ line and the empty line before the next; still quoted."""
    mails, lines = [], None
    empty_before = True
    for line in path.read_bytes().splitlines(keepends=True):
        if empty_before and line.startswith(b"From "):
            if lines is not None:
                mails.append(lines)
            lines = []
        elif lines is not None:
            lines.append(line)
        empty_before = line in (b"\n", b"\r\n")
    if lines is not None:
        mails.append(lines)
    for lines in mails:
        if lines and lines[-1] in (b"\n", b"\r\n"):
            lines.pop()
    return mails


def unquote(lines, quoting):
    """mboxrd: one '>' less. In an mboxo file nobody can tell whose the '>' is: it stays."""
    if not quoting.startswith("mboxrd"):
        return b"".join(lines)
    return b"".join(line[1:] if re.match(rb">+From ", line) else line for line in lines)


def mbox(path):
    """The mails of an mbox with its index; the index's SHA-1 proves that they were cut as meant."""
    index = json.loads(path.with_suffix(".json").read_text())
    raw = mbox_raw(path)
    assert len(raw) == len(index["messages"]), f"{path}: {len(raw)} mails, index has {len(index['messages'])}"
    mails = []
    for lines, entry in zip(raw, index["messages"]):
        octets = unquote(lines, index["about"]["quoting"])
        assert hashlib.sha1(octets).hexdigest() == entry["sha1"], f"{path} mail {entry['n']} is not what the index says"
        mails.append(Mail(f"{path.stem}/{entry['n']}", octets, (path.stem, entry.get("thread"))))
    return mails


def lists():
    """All list mail."""
    return [mail for place in folders("lists") for path in sorted(place.glob("*.mbox")) for mail in mbox(path)]


def distinct(count, thread_limit):
    """count mails with Message-IDs of their own, at most thread_limit of a thread, in order of their archive."""
    chosen, seen, depth = [], set(), {}
    for mail in lists():
        known = mail.message_id is None or mail.message_id in seen or mail.thread[1] is None
        if known or depth.get(mail.thread, 0) >= thread_limit:
            continue
        seen.add(mail.message_id)
        depth[mail.thread] = depth.get(mail.thread, 0) + 1
        chosen.append(mail)
    assert len(chosen) >= count, f"only {len(chosen)} mails are distinct"
    return chosen[:count]


def is_automatic_reply(octets):
    """Whether its header says so (RFC 3834): a list discards such mail."""
    return re.search(rb"^Auto-Submitted:[ \t]*auto-replied", octets.partition(b"\r\n\r\n")[0],
                     re.IGNORECASE | re.MULTILINE) is not None


def mime():
    """The awkward mails that a list passes on; an mbox's From_ line before one of them is no part of it."""
    mails = [Mail(name, re.sub(rb"\AFrom [^\n]*\n", b"", (place / name).read_bytes())) for place in folders("mime")
             for name in sorted(json.loads((place / "expected.json").read_text())) if "/" in name]
    return [mail for mail in mails if not is_automatic_reply(mail.octets)]


def rounds(mails):
    """Lists of mails such that no two of one list are of one thread, and threads keep their order."""
    result, depth = [], {}
    for mail in mails:
        place = depth.get(mail.thread, 0)
        depth[mail.thread] = place + 1
        while len(result) <= place:
            result.append([])
        result[place].append(mail)
    return result


def sample_thread():
    return [Mail(path.name, path.read_bytes(), ("sample", 1)) for path in sorted(SAMPLES.glob("thread-*.eml"))]
