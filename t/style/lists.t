#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every file of the tree is in a Makefile's list, and every file of a list is in the tree: else a test is never run, a
release lacks a file, or none can be made."""
import os
import re

import tree

# Files that configure makes from a file of the list, or that need none.
UNLISTED = {"configure.ac", "Makefile.am", "README.md", "bootstrap", ".ci/debian", ".ci/package", ".ci/package-trial",
            ".ci/run", ".ci/system", "base/listrunner.pc.in", "store/listrunner-store.pc.in"}

# Listed, distributed and installed with whatever is in it.
FOLDERS = ("etc/templates/",)

tap = tree.Tap()
fragments = [name for name in tree.files(".inc")]
lists = {}  # of each file of automake: its text, with whole paths and whole lines
for name in ["Makefile.am", *fragments]:
    lists[name] = tree.text(name).replace("\\\n", " ").replace("%D%", os.path.dirname(name)) \
        .replace("%C%", re.sub(r"\W", "_", os.path.dirname(name)))
whole = "\n".join(lists.values())
listed = set(re.findall(r"[^\s=]+", whole))
# A program without a list of sources has one, with its own name.
with_sources = set(re.findall(r"^(\w+)_SOURCES", whole, re.M))
default_sources = {f"{word}.c" for line in re.findall(r"^(?:\w+_PROGRAMS|fuzz_targets) \+?= (.*)", whole, re.M)
                   for word in line.split() if re.sub(r"\W", "_", word) not in with_sources}
listed |= default_sources
tap.result("every file is in a list", [name for name in tree.files()
                                       if name not in listed and name not in UNLISTED and name not in fragments
                                       and not name.startswith(FOLDERS)])
scripts = default_sources | {word for line in whole.split("\n")
                             if re.match(r"dist_check_SCRIPTS|once_tests|t_\w+_SOURCES", line) for word in line.split()}
tap.result("every test is run", [name for name in tree.files("-t.c", ".t", folders=["t"])
                                 if name not in scripts])
there = set(tree.files())
kept = re.compile(r"EXTRA_DIST|dist_|nobase_dist_|(?!BUILT|nodist)\w+_SOURCES")
lines = [line for line in whole.split("\n") if kept.match(line)]
tap.result("every file of a list is there", [word for line in lines for word in line.split()
                                             if re.search(r"\w/\w.*\.\w+$", word) and "$" not in word
                                             and word not in there])
tap.end()
