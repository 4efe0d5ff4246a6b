#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every header compiles alone and once; every file says whose it is."""
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

import tree

# Formats that have no comments, or whose first line is read by a machine.
NO_HEAD = (".json", ".md", ".in", ".csv", ".eml", ".mbox", ".txt", ".gitignore", ".out", ".pdf", ".svg", ".png", ".po",
           "LICENSE", "/README.Debian", "/debian/changelog", "/debian/copyright", "/source/format")
HEAD = "SPDX-License-Identifier: BSD-2-Clause\n"
HEAD_NEXT = "Copyright (c) 2026 The Listrunner authors"
# Where somebody's machine shows through.
MACHINE = re.compile(r"/home/\w|/root/")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)(:|\(| [a-z])|\bnot (yet )?implemented")


def compiles(name):
    """None, or what the compiler says of a file that holds only this include."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    flags = shlex.split(os.environ.get("CPPFLAGS") or "-D_GNU_SOURCE -I" + tree.TOP)
    flags.append("-I" + os.environ.get("top_builddir", "build"))  # config.h, for base/prefix.h
    flags += shlex.split(os.environ.get("CFLAGS") or
                         subprocess.getoutput("pkg-config --cflags glib-2.0 jansson libevent"))
    done = subprocess.run(compiler + flags + ["-Werror", "-fsyntax-only", "-x", "c", "-"], check=False,
                          input='#include "%s"\n#include "%s"\nextern int end;\n' % (name, name),
                          capture_output=True, text=True)
    words = [line for line in done.stderr.splitlines() if "error" in line] or ["the compiler gave no reason"]
    return None if done.returncode == 0 else "%s: %s" % (name, words[0])


def has_head(name):
    lines = tree.text(name).split("\n", 3)
    if lines[0].startswith("#!"):
        lines.pop(0)
    return len(lines) > 1 and (lines[0] + "\n").endswith(HEAD) and HEAD_NEXT in lines[1]


tap = tree.Tap()
headers = tree.files(".h")
with ThreadPoolExecutor(2) as pool:
    tap.result("%d headers compile alone" % len(headers), [fault for fault in pool.map(compiles, headers) if fault])
# The compiler warns of it in base/prefix.h, which is compiled by itself and only includes another.
tap.result("headers have #pragma once", [name for name in headers
                                         if "\n#pragma once\n" not in tree.text(name) and name != "base/prefix.h"])

texts = []
for path in tree.files():
    try:
        tree.text(path)
        texts.append(path)
    except UnicodeDecodeError:
        pass  # a message with octets of its own, in t/data
tap.result("files begin with the two SPDX lines",
           [name for name in texts if not name.endswith(NO_HEAD) and "/data/" not in name
            and tree.text(name) and not has_head(name)])
ours = [name for name in texts if not name.startswith(("t/style/", "t/data/"))]
tap.result("no paths of somebody's machine", [name for name in ours if MACHINE.search(tree.text(name))])
tap.result("nothing is left for later", [name for name in ours if UNFINISHED.search(tree.text(name))])
tap.end()
