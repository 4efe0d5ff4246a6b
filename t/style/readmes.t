#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The table of files in a folder's README.md names each .c and .h file of the folder, and none that is not there.

The table begins with `| file |`. Its first column has names in backquotes: a file, a stem for both files of a pair,
`x.[ch]`, or a pattern such as `cmd_*.c`. A name of either file of a pair names both. The other columns may name files
that belong to the row, with their ending. A settings.c needs no row, nor does a folder. A folder of the product with
two files or more has such a table, unless it is a list of its own elsewhere (LISTED)."""
import fnmatch
import os
import re

import tree

LISTED = {"posting/rules", "posting/handlers"}  # posting/words.h


def tables(page):
    """The rows of each table that begins with | file |, as lists of cells."""
    inside = False
    for line in page.split("\n"):
        if not line.startswith("|"):
            inside = False
        elif re.match(r"\| *file *\|", line):
            inside = True
        elif inside and not re.fullmatch(r"[-:| ]+", line):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def quoted(cell):
    return re.findall(r"`([^`\s]+)`", cell)


def stem(name):
    return re.sub(r"\.(c|h|\[ch\])$", "", name)


def named(rows):
    """Yield the files that the table names: in the first column all, elsewhere those with the ending of a source."""
    for row in rows:
        for name in quoted(row[0]):
            yield name
        for cell in row[1:]:
            for name in quoted(cell):
                if re.fullmatch(r"[\w*-]+\.(c|h)", name):
                    yield name


def faults(folder):
    rows = list(tables(tree.text(folder + "/README.md")))
    inside = os.listdir(os.path.join(tree.TOP, folder))
    stems = {stem(name) for name in inside if name.endswith((".c", ".h"))}
    names = list(named(rows))
    patterns = {stem(name) for name in names}
    wrong = ["%s/README.md does not name %s" % (folder, one) for one in sorted(stems)
             if one != "settings" and not any(fnmatch.fnmatchcase(one, pattern) for pattern in patterns)]
    for name in names:
        if name.endswith("/"):
            there = name.rstrip("/") in inside
        else:
            there = fnmatch.filter(inside, name) or fnmatch.filter(stems, stem(name))
        if not there:
            wrong.append("%s/README.md names %s, which is not there" % (folder, name))
    return wrong


PRODUCT = [name for name in tree.FOLDERS if name not in ("doc", "etc", "t")]
stems_of = {}
for path in tree.files(".c", ".h", folders=PRODUCT):
    if os.path.basename(path) != "settings.c":
        stems_of.setdefault(os.path.dirname(path), set()).add(stem(path))
pages = tree.files("README.md", folders=PRODUCT)
with_table = {os.path.dirname(page) for page in pages if any(tables(tree.text(page)))}

tap = tree.Tap()
for folder in sorted(with_table):
    tap.result("%s/README.md names its files" % folder, faults(folder))
tap.result("folders have a table of their files", [
    "%s has %d files and no table in a README.md" % (folder, len(found)) for folder, found in sorted(stems_of.items())
    if len(found) > 1 and folder not in with_table | LISTED])
tap.result("tables were found", [] if len(with_table) >= 20 else ["%d tables" % len(with_table)])
tap.end()
