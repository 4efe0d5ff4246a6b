#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Comments begin with what a thing does, also those of tests and the docstrings of t/e2e; headers say byte."""
import re

import tree

OPENING = re.compile(r"/\*[\s*]*(What|Who|Whose|Whoever|Those|Such)\b")
DOCSTRING = re.compile(r'^ *"""(What|Who|Whose|Whoever|Those|Such)\b', re.M)

tap = tree.Tap()
openings, words, count = [], [], 0
for path in tree.files(".c", ".h"):
    header = path.endswith(".h")
    text = tree.text(path)
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        place = "%s:%d" % (path, text.count("\n", 0, comment.start()) + 1)
        count += 1
        if OPENING.match(comment[0]):
            openings.append("%s: begins with %s" % (place, OPENING.match(comment[0])[1]))
        if header and re.search(r"\boctet\b", comment[0], re.I):
            words.append("%s: says octet" % place)
tap.result("no comment begins with What, Who, Whose, Those or Such", openings)
tap.result("no comment of a header says octet", words)
docstrings = ["%s:%d: begins with %s" % (path, tree.text(path).count("\n", 0, found.start()) + 1, found[1])
              for path in tree.files(".py", folders=["t/e2e"]) for found in DOCSTRING.finditer(tree.text(path))]
tap.result("no docstring of t/e2e begins so", docstrings)
tap.result("comments were found", [] if count > 5000 else ["%d comments" % count])
tap.end()
