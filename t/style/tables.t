#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Everything that is reached by a table is in it: verbs of the command line, REST resources, tables of settings, rules
and handlers of posts.

One that is forgotten compiles, and is not there for anybody."""
import re

import tree

# The words that define one, the folder, and the file with the table, whose rows are the same names.
TABLES = [
    ("cli", r"^const Command (cmd_\w+) = ", "cli/commands.c", r"&(cmd_\w+),"),
    ("runners/rest", r"^const RestRoute (rest_\w+)\[\] = ", "runners/rest/routes.c", r"\b(rest_\w+),"),
    ("", r"^const ConfigSettings (\w+)_settings\b", "runners/settings.c", r"_\((\w+)\)"),
]


def body(page, start):
    """The table: from the array, or the list of rows, to the first empty line."""
    return re.search(start + r".*?\n\n", page, re.S)[0]


tap = tree.Tap()
for folder, definition, table, row in TABLES:
    made = {name for path in tree.files(".c", folders=[folder] if folder else ["lists", "master", "posting", "runners",
                                                                               "store", "switchboard", "base", "mail"])
            for name in re.findall(definition, tree.text(path), re.M)}
    listed = set(re.findall(row, body(tree.text(table), r"(?:\[\] = \{|#define FOLDERS)")))
    faults = ["%s is not in the table of %s" % (name, table) for name in sorted(made - listed)]
    tap.result("%s has all of %d" % (table, len(made)), faults if len(made) > 10 else ["too few were found"])

# Rules and handlers: each has a name in words.h, and a place in what is built in. The page of the runner in has an item
# for each rule but the one that says nothing.
words = tree.text("posting/words.h")
for kind, place in (("rule", "posting/chain.c"), ("handler", "posting/pipeline.c")):
    made = {name: word for path in tree.files(".c", folders=["posting/%ss" % kind])
            for name, word in re.findall(r'^const %s %s_(\w+) = \{\s*\.name = "([^"]+)"' % (kind.capitalize(), kind),
                                         tree.text(path), re.M)}
    named = dict(re.findall(r'_\((\w+), "([^"]+)"\)', re.search(r"POSTING_%sS.*?\n\n" % kind.upper(), words, re.S)[0]))
    faults = ["%s_%s has another name in posting/words.h, or none" % (kind, name)
              for name in sorted(made) if named.get(name) != made[name]]
    faults += ["%s_%s is nowhere in %s" % (kind, name, place) for name in sorted(made)
               if not re.search(r"&%s_%s\b" % (kind, name), tree.text(place))]
    if kind == "rule":
        page = tree.text("runners/in/listrunner-in.8")
        faults += ["runners/in/listrunner-in.8 has no item %s" % word for word in sorted(set(made.values()) - {"truth"})
                   if ".It %s\n" % word not in page]
    tap.result("the %d %ss are named and have a place" % (len(made), kind),
               faults if len(made) > 20 else ["too few were found"])
tap.end()
