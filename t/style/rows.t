#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every row of switchboard/INTERNALS.md has a row in t/switchboard/PROOF.md, which names a test that is there.

A reference is `FILE: NAME`, or `NAME` after one, or `FILE` for all its tests. FILE is a name without
its ending: t/**/FILE.c (NAME is the last part of a test's path, or begins a row of the table that
the paths are made of), t/e2e/FILE.py (NAME is a function), t/**/FILE.t."""
import os
import re

import tree

PAGE = "t/switchboard/PROOF.md"
ROWS = "switchboard/INTERNALS.md"
# Lines of C that give a test its path, or a part of it.
NAMING = re.compile(r'\b(?:ADD\w*|\w*TEST\w*|g_test_add\w*)\(|^\s+\{"')
QUOTED = re.compile(r'"([^"\\]*)"')


def tables(page):
    """(first cell, last cell, line number, header) of each row."""
    header = None
    for number, line in enumerate(page.split("\n"), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            header = None
        elif header is None:
            header = cells
        elif not re.fullmatch(r"[-:| ]+", line):
            yield cells[0], cells[-1] if len(cells) == len(header) else "", number, header


def sources():
    """Name without extension -> paths, of all that holds tests."""
    found = {}
    for path in tree.files("-t.c", ".t", ".py", folders=["t"]):
        found.setdefault(os.path.splitext(os.path.basename(path))[0], []).append(path)
    return found


def names(path):
    """Return the names by which a reference may call a test of this file."""
    lines = tree.text(path).split("\n")
    if path.endswith(".py"):
        return {match[1] for match in (re.match(r" *def (test_\w+)", line) for line in lines) if match}
    if path.endswith(".c"):
        lines = [line for line in lines if NAMING.search(line)]
    return {string.rsplit("/", 1)[-1] for line in lines for string in QUOTED.findall(line)}


def faults(row, cell, number, known):
    """Return the faults of a row's references."""
    references = re.findall(r"`([^`]+)`", cell)
    if not references:
        return ["%s:%d: %s names no test" % (PAGE, number, row)]
    wrong, file = [], None
    for reference in references:
        if reference in known:
            file = reference
            continue
        if ": " in reference:
            file, reference = reference.split(": ", 1)
        if file not in known:
            wrong.append("%s:%d: %s: there is no test file %s" % (PAGE, number, row, file))
        elif not any(reference in names(path) for path in known[file]):
            wrong.append("%s:%d: %s: %s has no test \"%s\"" % (PAGE, number, row, file, reference))
    return wrong


tap = tree.Tap()
KNOWN = sources()
TABLES = {}
for first, last, line_number, head in tables(tree.text(PAGE)):
    if head[0] not in ("state", "no.", "what fails"):
        continue  # figures
    TABLES.setdefault(id(head), []).append((first, last, line_number, head))
for rows in TABLES.values():
    problems = []
    for first, last, line_number, head in rows:
        problems += faults(first, last, line_number, KNOWN)
    tap.result("%d rows (%s) have their tests" % (len(rows), ", ".join(row[0] for row in rows)[:60]), problems)
def firsts(page):
    return {first for first, _, _, head in tables(tree.text(page)) if head[0] in ("state", "no.", "what fails")}


tap.result("both pages have the same rows",
           ["only in one page: %s" % row for row in sorted(firsts(PAGE) ^ firsts(ROWS))])
tap.result("there are rows of states, transitions, recovery and failure",
           [] if sum(len(rows) for rows in TABLES.values()) >= 40 else ["too few rows were found"])
tap.end()
