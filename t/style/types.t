#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Types differ in the whole tree, so that a search and a debugger find one thing."""
import re

import tree

FOLDERS = [name for name in tree.FOLDERS if name not in ("doc", "etc", "t")]
# Names that two files have still.
TWICE = {"Fault", "Host", "Pace", "Session", "Watch"}
MADE = re.compile(r"^(?:struct ([A-Z]\w+) \{|\} ([A-Z]\w+);)", re.M)

made = {}
for path in tree.files(".c", ".h", folders=FOLDERS):
    for found in MADE.finditer(tree.text(path)):
        made.setdefault(found[1] or found[2], set()).add(path)
clashes = {name: sorted(places) for name, places in made.items() if len(places) > 1}

tap = tree.Tap()
tap.result("types have one name each", ["%s: %s" % (name, ", ".join(places)) for name, places in sorted(clashes.items())
                                        if name not in TWICE])
tap.result("exceptions are needed", sorted(TWICE - set(clashes)))
tap.end()
