#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every header compiles alone and once; every file says whose it is. What has compiled is noted in t/style/headers-seen
of the build directory: a header is compiled again when it, one that it includes or the compiler's command changed."""
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

# Formats that have no comments, or whose first line is read by a machine.
NO_HEAD = (".json", ".md", ".in", ".csv", ".eml", ".mbox", ".txt", ".gitignore", ".out", ".pdf", ".svg", ".png", ".po",
           "LICENSE", "/README.Debian", "/debian/changelog", "/debian/copyright", "/source/format")
HEAD = "SPDX-License-Identifier: BSD-2-Clause\n"
HEAD_NEXT = "Copyright (c) 2026 The Listrunner authors"
# Where somebody's machine shows through.
MACHINE = re.compile(r"/home/\w|/root/")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)(:|\(| [a-z])|\bnot (yet )?implemented")


def command():
    """The compiler with its options."""
    words = shlex.split(os.environ.get("CC") or "cc")
    words += shlex.split(os.environ.get("CPPFLAGS") or "-D_GNU_SOURCE -I" + tree.TOP)
    words.append("-I" + os.environ.get("top_builddir", "build"))  # config.h, for base/prefix.h
    words += shlex.split(os.environ.get("CFLAGS") or
                         subprocess.getoutput("pkg-config --cflags glib-2.0 jansson libevent"))
    return [*words, "-Werror", "-fsyntax-only", "-x", "c", "-"]


def compiles(name):
    """None, or what the compiler says of a file that holds only this include."""
    twice = '#include "%s"\n#include "%s"\nextern int end;\n' % (name, name)
    done = subprocess.run(command(), check=False, input=twice, capture_output=True, text=True)
    words = [line for line in done.stderr.splitlines() if "error" in line] or ["the compiler gave no reason"]
    return None if done.returncode == 0 else "%s: %s" % (name, words[0])


@functools.cache
def includes(name):
    """The header and those of ours that it includes, directly or not."""
    found, new = set(), [name]
    while new:
        name = new.pop()
        if name not in found and os.path.exists(os.path.join(tree.TOP, name)):
            found.add(name)
            new += re.findall(r'^#include "([^"]+)"', tree.text(name), re.M)
    return found


def state(name):
    """A hash of all that decides whether the header compiles."""
    parts = [*command(), *(part for inner in sorted(includes(name)) for part in (inner, tree.text(inner)))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def those_that_fail(names):
    seen = Path(os.environ.get("top_builddir", "build"), "t", "style", "headers-seen")
    before = json.loads(seen.read_text(encoding="ascii")) if seen.exists() else {}
    now = {name: state(name) for name in names}
    changed = [name for name in names if before.get(name) != now[name]]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        failed = {name: fault for name, fault in zip(changed, pool.map(compiles, changed)) if fault}
    seen.parent.mkdir(parents=True, exist_ok=True)
    seen.write_text(json.dumps({name: now[name] for name in names if name not in failed}), encoding="ascii")
    return list(failed.values())


def has_head(name):
    lines = tree.text(name).split("\n", 3)
    if lines[0].startswith("#!"):
        lines.pop(0)
    return len(lines) > 1 and (lines[0] + "\n").endswith(HEAD) and HEAD_NEXT in lines[1]


tap = tree.Tap()
headers = tree.files(".h")
tap.result("%d headers compile alone" % len(headers), those_that_fail(headers))
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
