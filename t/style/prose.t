#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Comments begin with what a thing does, also those of tests; comments of headers say byte."""
import re

import tree

OPENING = re.compile(r"/\*[\s*]*(What|Who|Whose|Whoever|Those|Such)\b")

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
tap.result("comments were found", [] if count > 5000 else ["%d comments" % count])
tap.end()
