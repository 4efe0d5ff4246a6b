#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Comments begin with what a thing does, also the comments and docstrings of tests in Python; headers say byte."""
import os
import re

import tree

OPENING = re.compile(r"/\*[\s*]*(What|Who|Whose|Whoever|Those|Such)\b")
PYTHON = re.compile(r'(?: *"""| *# )(What|Who|Whose|Whoever|Those|Such)\b')


def in_python():
    """Yield the files of t/ that are written in Python."""
    for path in tree.files(folders=["t/e2e", "t/cli", "t/master", "t/style", "t/bench", "t/tools"]):
        ending = os.path.splitext(path)[1]
        if ending == ".py" or (ending in ("", ".t") and re.match("#!.*python3\n", tree.text(path))):
            yield path


def opens(before, line):
    """Return the wrong word that a docstring or comment begins with; lines that go on with a comment may have any."""
    found = PYTHON.match(line)
    goes_on = line.lstrip().startswith("#") and before.lstrip().startswith("#")
    return found[1] if found and not goes_on else None


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
wrong = []
for path in in_python():
    lines = tree.text(path).split("\n")
    wrong += ["%s:%d: begins with %s" % (path, at + 1, opens(lines[at - 1], line))
              for at, line in enumerate(lines) if opens(lines[at - 1], line)]
tap.result("no comment or docstring of a test in Python begins so", wrong)
tap.result("comments were found", [] if count > 5000 else ["%d comments" % count])
tap.end()
