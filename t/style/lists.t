#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every file of the tree is in a Makefile's list: else a test is never run, or a release lacks it."""
import os
import re

import tree

# Files that configure makes from a file of the list, or that need none.
UNLISTED = {"configure.ac", "Makefile.am", "README.md", "bootstrap", ".ci/debian", ".ci/package", ".ci/package-trial",
            ".ci/run", ".ci/system", "base/listrunner.pc.in", "store/listrunner-store.pc.in"}

# Listed, distributed and installed with whatever is in it.
FOLDERS = ("etc/templates/",)

tap = tree.Tap()
listed = set(re.findall(r"\S+", tree.text("Makefile.am")))
fragments = [name for name in tree.files(".inc")]
for fragment in fragments:
    text = tree.text(fragment).replace("%D%", os.path.dirname(fragment))
    listed |= set(re.findall(r"[^\s=]+", text))
tap.result("every file is in a list", [name for name in tree.files()
                                       if name not in listed and name not in UNLISTED and name not in fragments
                                       and not name.startswith(FOLDERS)])
scripts = {word for makefile in ["Makefile.am", *fragments]
           for line in re.sub(r"\\\n", " ", tree.text(makefile)).split("\n")
           if re.match(r"dist_check_SCRIPTS|once_tests|t_\w+_SOURCES", line)
           for word in line.replace("%D%", os.path.dirname(makefile)).split()}
tap.result("every test is run", [name for name in tree.files("-t.c", ".t", folders=["t"])
                                 if name not in scripts])
tap.end()
