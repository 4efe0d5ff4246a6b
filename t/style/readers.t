#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""What a runner reads of the configuration, the master knows it to depend on (master/plan.c): else a reload would
leave it with the old value."""
import re

import tree

TABLE = re.compile(r'^    \{"([a-z.]+)", (NULL|"\w+"), "([*a-z]+)"\},$', re.M)
READ = re.compile(r'\bconfig_(?:string|integer|bool|duration|size|list)\('
                  r'(?:[^"(),]|\([^()]*\))+,\s*"([a-z.]+)",\s*"(\w+)"')
FAMILY = re.compile(r'\bconfig_family\((?:[^"(),]|\([^()]*\))+,\s*"(\w+)"\)')
# A section of a family, by the name of its member.
MEMBER = re.compile(r'\bg_str(?:concat|dup_printf)\("(transport|reply|archiver)\.')
# Who links these files of runners/; the others there belong to all.
LINKED = {"runners/post_hop.c": ("in", "pipeline"), "runners/blocks.c": ("in", "pipeline")}
# Read into what all list runners share, and used only by in and pipeline, which have them in the table.
SHARED = {"pipeline", "archiver."}

tap = tree.Tap()
table = TABLE.findall(tree.text("master/plan.c"))
known = {(section, key.strip('"'), runner) for section, key, runner in table}


def covered(runner, section, key):
    if section in (runner, "runner." + runner):
        return True
    return any(entry[0] == section and entry[1] in ("NULL", key) and entry[2] in ("*", runner) for entry in known)


def reads(path):
    """(section, key) of each look at a setting; key "" for any of a family."""
    text = tree.text(path)
    return ([(section, key) for section, key in READ.findall(text)] +
            [(family + ".", "") for family in FAMILY.findall(text) + MEMBER.findall(text)])


def family_known(runner, section):
    return any(entry[0] == section and entry[2] in ("*", runner) for entry in known)


faults, count = [], 0
for path in tree.files(".c", folders=["runners"]):
    parts = path.split("/")
    for runner in LINKED.get(path, (parts[1] if len(parts) > 2 else "*",)):
        for section, key in reads(path):
            count += 1
            if runner == "*" and section in SHARED:
                continue
            if not (covered(runner, section, key) if key else family_known(runner, section)):
                faults.append("%s reads [%s] %s; master/plan.c does not say so of %s" % (path, section, key, runner))
tap.result("what runners read is in the master's table", faults)
tap.result("reads were found", [] if count > 60 and len(table) > 10 else ["%d reads, %d rows" % (count, len(table))])
tap.end()
