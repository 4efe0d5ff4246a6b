#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Each text of the pages is in the catalogue of each language, with the same values and tags in it, and no
catalogue has a text that no template has. With an argument: print the entries that this catalogue lacks."""
import re
import sys
from pathlib import Path

import tree

TEXT = re.compile(r"\{\{#_\}\}(.*?)\{\{/_\}\}", re.S)
ENTRY = re.compile(r'^msgid ((?:".*"\s*)+)^msgstr ((?:".*"\s*)+)', re.M)
MARKED = re.compile(r'\bN_\(((?:\s*"[^"]*")+)\)')  # of one string or several
PART = re.compile(r"\{\{[^}]*\}\}|<[^>]*>")


def quoted(lines):
    return "".join(re.findall(r'"(.*)"', lines)).replace('\\"', '"').replace("\\n", "\n")


def texts():
    """text -> names of templates and programs that have it."""
    found = {}
    for path in sorted(Path(tree.TOP, "etc/web").glob("*.mustache")):
        for text in TEXT.findall(path.read_text()):
            found.setdefault(" ".join(text.split()), []).append(path.name)
    for path in [*sorted(Path(tree.TOP, "runners/web").glob("*.c")), Path(tree.TOP, "lists/site/attention.c")]:
        for text in MARKED.findall(path.read_text()):
            found.setdefault(quoted(text), []).append(path.name)
    return found


def entries(path):
    return {quoted(key): quoted(text) for key, text in ENTRY.findall(path.read_text()) if quoted(key)}


def main():
    wanted = texts()
    if len(sys.argv) > 1:
        there = entries(Path(sys.argv[1]))
        for text, names in wanted.items():
            if text not in there:
                escaped = text.replace('"', '\\"')
                print(f'#: {" ".join(names)}\nmsgid "{escaped}"\nmsgstr ""\n')
        return
    tap = tree.Tap()
    for path in sorted(Path(tree.TOP, "etc/web/po").glob("*.po")):
        there = entries(path)
        faults = [f"lacks: {text}" for text in wanted if not there.get(text)]
        faults += [f"is of no template: {text}" for text in there if text not in wanted]
        faults += [f"has other values or tags: {text}" for text, translated in there.items()
                   if translated and sorted(PART.findall(text)) != sorted(PART.findall(translated))]
        tap.result(path.name, faults)
    tap.end()


main()
