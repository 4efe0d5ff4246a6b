#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""ban and header-match: what they change, and what they say to wrong words."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import MISSING, NOT_SO, USAGE, main  # noqa: E402

LIST = "test@example.com"


def make_list(site):
    site.run("domain", "create", "example.com")
    site.run("list", "create", LIST)


def test_ban(site):
    make_list(site)
    site.run("ban", "add", "--list", LIST, "eve@example.net", "^.*@spam\\.example$")
    site.run("ban", "add", "mallory@example.net")
    assert [row["address"] for row in site.run("ban", "ls", "--json", LIST).rows()] == \
        ["^.*@spam\\.example$", "eve@example.net"]
    assert site.run("ban", "ls", "--names").out == "mallory@example.net\n"
    site.run("ban", "add", "--list", LIST, "Eve@Example.net", code=NOT_SO, says="banned already")
    site.run("ban", "add", LIST, "anne@example.net", code=USAGE, says=f"--list={LIST}")
    assert site.run("ban", "ls", "--names").out == "mallory@example.net\n"
    site.run("ban", "add", "nobody", code=USAGE, says="nobody")
    site.run("ban", "add", "^(", code=USAGE, says="regular expression")
    site.run("ban", "add", "--list", "none@example.com", "x@example.net", code=MISSING, says="none@example.com")
    site.run("ban", "remove", "eve@example.net", code=MISSING, says="whole site")
    site.run("ban", "remove", "--list", LIST, "eve@example.net")
    assert [row["address"] for row in site.run("ban", "ls", "--json", LIST).rows()] == ["^.*@spam\\.example$"]


def test_header_match(site):
    make_list(site)
    site.run("header-match", "add", "X-Spam-Flag", "^yes")
    site.run("header-match", "add", "--list", LIST, "--action=discard", "--tag=filter", "Subject", "viagra")
    site.run("header-match", "add", "--list", LIST, "--action=accept", "--at=0", "X-Ours", ".")
    rows = site.run("header-match", "ls", "--json", LIST).rows()
    assert [(row["position"], row["header"], row["action"], row["tag"]) for row in rows] == \
        [(0, "x-ours", "accept", None), (1, "subject", "discard", "filter")]
    site.run("header-match", "add", "--list", LIST, "subject", "viagra", code=NOT_SO)
    site.run("header-match", "add", "Sub ject", "x", code=USAGE, says="Sub ject")
    site.run("header-match", "add", "Subject", "[", code=USAGE, says="regular expression")
    site.run("header-match", "add", "Subject", "^(", code=USAGE, says="‘^(’ at char 2")
    site.run("header-match", "add", "--action=burn", "Subject", "x", code=USAGE, says="hold, reject, discard, accept")
    site.run("header-match", "add", "--action=Burn it", "Subject", "x", code=USAGE, says="Burn it")
    site.run("header-match", "remove", "--list", LIST, code=USAGE, says="POSITION")
    site.run("header-match", "remove", "--list", LIST, "7", code=MISSING, says="position 7")
    site.run("header-match", "remove", "--list", LIST, "--tag=filter")
    site.run("header-match", "remove", "--list", LIST, "0")
    assert site.run("header-match", "ls", "--json", LIST).rows() == []
    assert len(site.run("header-match", "ls", "--json").rows()) == 1


if __name__ == "__main__":
    main(globals())
