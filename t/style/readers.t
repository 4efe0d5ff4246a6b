#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The table of a setting names each runner that reads it: else a reload would leave that runner with the old value
(base/config_table.h, readers)."""
import os
import re
import subprocess

import tree

READ = re.compile(r'\bconfig_(?:string|integer|bool|duration|size|list)\('
                  r'(?:[^"(),]|\([^()]*\))+,\s*"([a-z.]+)",\s*"(\w+)"')
FAMILY = re.compile(r'\bconfig_family(?:_sections)?\((?:[^"(),]|\([^()]*\))+,\s*"(\w+)"\)')
# A section of a family, by the name of its member.
MEMBER = re.compile(r'\bg_str(?:concat|dup_printf)\("(transport|reply|archiver)\.')
# Folders of what runners share. Their files belong to all runners, but for these, which only some programs link.
FRAMES = ("posts", "server")
LINKED = {"runners/posts/post_hop.c": ("in", "pipeline"), "runners/posts/fan_out.c": ("in", "pipeline"),
          "runners/posts/post_names.c": ("in", "pipeline"), "runners/server/lists.c": ("lmtp", "mta")}
# Read by list_posts.c into what the runners of posts share, and used only by in and pipeline, whose tables say so.
SHARED = {"pipeline", "archiver.", "rules", "handlers", "dkim.", "external.", "authentication"}

tap = tree.Tap()
program = os.path.join(os.environ.get("top_builddir", "build"), "doc", "settings_text")
told = subprocess.run([program, "readers"], check=True, stdout=subprocess.PIPE, text=True).stdout
# (section, key or *, runner or *); a family as "runner.".
known = {tuple(line.replace(".* ", ". ", 1).split()) for line in told.splitlines()}


def covered(runner, section, key):
    """A key of [runner.out] may be in the table of that section, or in that of its family."""
    if section in (runner, "runner." + runner):
        return True
    places = {section, section.split(".")[0] + "."}
    return any(place in places and name in ("*", key) and who in ("*", runner) for place, name, who in known)


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
    if parts[-1] in ("settings.c", "site_settings.c"):
        continue  # checks look at all of it
    shared = len(parts) == 2 or parts[1] in FRAMES
    for runner in LINKED.get(path, ("*" if shared else tree.program_of(parts[1]),)):
        for section, key in reads(path):
            count += 1
            if runner == "*" and section in SHARED:
                continue
            if not (covered(runner, section, key) if key else family_known(runner, section)):
                faults.append("%s reads [%s] %s; the table of that setting does not name %s" %
                              (path, section, key, runner))
tap.result("what runners read is in the tables", faults)
tap.result("reads were found", [] if count > 60 and len(known) > 10 else ["%d reads, %d rows" % (count, len(known))])
tap.end()
