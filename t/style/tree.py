# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Share among the style tests the files of the tree, and TAP."""
import os
import sys

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDERS = ["base", "cli", "doc", "etc", "lists", "mail", "master", "net", "posting", "runners", "store",
           "switchboard", "t"]
TOP_FILES = ["Makefile.am", "README.md", "bootstrap", "configure.ac", ".ci/debian",
             ".ci/package", ".ci/package-trial", ".ci/run", ".ci/system"]
GENERATED = {"__pycache__", ".libs", ".deps", "installed"}


def files(*suffixes, folders=FOLDERS):
    """Paths from the top, sorted; of the suffixes given, or all."""
    found = [name for name in TOP_FILES if folders is FOLDERS and os.path.exists(os.path.join(TOP, name))]
    for folder in folders:
        for directory, inner, names in os.walk(os.path.join(TOP, folder)):
            inner[:] = [name for name in inner if name not in GENERATED]
            found += [os.path.relpath(os.path.join(directory, name), TOP) for name in names]
    return sorted(name for name in found if not suffixes or name.endswith(suffixes))


def text(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


class Tap:
    """Each result is a list of faults; an empty one is ok."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def result(self, what, faults):
        self.count += 1
        self.failed += bool(faults)
        print("%s %d - %s" % ("not ok" if faults else "ok", self.count, what))
        for fault in faults:
            print("# %s" % fault)

    def skip(self, what, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, what, why))

    def end(self):
        """Under the TAP driver the lines speak; by hand the exit status does."""
        print("1..%d" % self.count)
        sys.exit(1 if self.failed and "top_srcdir" not in os.environ else 0)


def program_of(folder):
    """The program that is made in a folder of runners/. They have one name, but many tools take a folder called out for
    build output."""
    return {"outgoing": "out"}.get(folder, folder)
