#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Comments of headers begin with what a thing does, and say byte."""
import re

import tree

# Not yet brought to it.
LATER = {
    "base/child.h", "base/clock.h", "base/config.h", "base/config_check.h", "base/config_internal.h",
    "base/config_table.h", "base/mailbox.h", "base/mount.h", "cli/doctor.h", "master/group.h", "master/plan.h",
    "master/reap.h", "master/scale.h", "master/slices.h", "master/status.h", "master/watch.h",
    "runners/defragment/defragment.h", "runners/outgoing/batch.h", "runners/outgoing/claims.h",
    "runners/outgoing/content.h", "runners/outgoing/destination.h", "runners/outgoing/judge.h",
    "runners/outgoing/pool.h", "runners/outgoing/reply_table.h", "runners/outgoing/report.h",
    "runners/outgoing/saved_state.h", "runners/outgoing/transport.h"}
OPENING = re.compile(r"/\*[\s*]*(What|Who|Whose|Whoever|Those|Such)\b")

tap = tree.Tap()
openings, words = [], []
for path in tree.files(".h"):
    text = tree.text(path)
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        place = "%s:%d" % (path, text.count("\n", 0, comment.start()) + 1)
        if OPENING.match(comment[0]) and path not in LATER:
            openings.append("%s: begins with %s" % (place, OPENING.match(comment[0])[1]))
        if re.search(r"\boctet\b", comment[0], re.I):
            words.append("%s: says octet" % place)
tap.result("no comment of a header begins with What, Who, Whose, Those or Such", openings)
tap.result("no comment of a header says octet", words)
tap.end()
