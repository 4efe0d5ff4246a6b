#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Each setting in listrunner.conf(5) and listrunner-list(5) says what its value may be: a number, a size and a time
have a unit and a range, a text says what is filled in, and what is written freely has an example."""
import os
import re

import tree

BUILD = os.path.abspath(os.environ.get("top_builddir", "build"))
ITEM = re.compile(r"^\.It Cm (\w+)(?: No = ([^\n]*))?\n\.Pq Em (\w+)\n(.*?)(?=^\.It |^\.El)", re.M | re.S)
MEASURED = {"integer", "duration", "size", "number", "time"}
FREE = {"line", "text", "words"}
# A port has a range and no unit; a size whose range ends with the disk has no range.
NO_RANGE = {"min_free"}

tap = tree.Tap()


def page(name):
    with open(os.path.join(BUILD, "doc", name), encoding="utf-8") as file:
        return ITEM.findall(file.read())


def faults(items, free):
    found = []
    for name, default, kind, body in items:
        if kind in MEASURED and "Unit: " not in body:
            found.append("%s (%s) has no unit" % (name, kind))
        if kind in MEASURED and not re.search(r"\bFrom \S+ to \S+\.", body) and name not in NO_RANGE:
            found.append("%s (%s) has no range" % (name, kind))
        if not default.strip() and not re.search(r"Default: (none|empty)\.", body):
            found.append("%s has no default" % name)
        if kind == "text" and "Filled in: " not in body:
            found.append("%s does not say what is filled in" % name)
        if kind in free and ".Bd " not in body:
            found.append("%s (%s) has no example" % (name, kind))
    return found


site, lists = page("listrunner.conf.5"), page("listrunner-list.5")
tap.result("settings were found", [] if len(site) > 150 and len(lists) > 70 else ["%d, %d" % (len(site), len(lists))])
tap.result("settings of the site are explained", faults(site, set()))
tap.result("settings of lists are explained", faults(lists, FREE))
tap.end()
