#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Documents that are installed name only files that are installed, or say that they mean the source tree.

A paragraph says so, or one of the first three of the document does for all of it, with the words "source tree"."""
import os
import re

import tree

# Files that make install puts somewhere, from the fragments of the Makefile; nobase_ keeps the folders of a path.
LINE = re.compile(r"^(\w+)\s*\+?=((?:[^\\\n]|\\\n)*)", re.M)
DOCUMENTS = re.compile(r"dist_(doc|sysconf)_DATA|dist_man_MANS")
INSTALLED = re.compile(r"(nobase_)?(dist_)?(doc|man|sysconf|pkgdata|bashcompletion|pkginclude)_(DATA|MANS|HEADERS)")
PATH = re.compile(r"(?<![\w/.%$-])(?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*(?:/|\b)")
HEAD = 3


def variables():
    """(name, file) for each word that a fragment gives to a variable."""
    for fragment in ["Makefile.am"] + tree.files("Makefile.inc"):
        folder = os.path.dirname(fragment)
        for name, words in LINE.findall(tree.text(fragment)):
            for word in words.replace("\\\n", " ").split():
                yield name, os.path.normpath(word.replace("%D%", folder or "."))


def named_files(text):
    """Paths in a text that are files or folders of the tree."""
    for match in PATH.finditer(text):
        name = match[0].rstrip(".").rstrip("/")
        if ("/" in name or name.endswith(".md")) and os.path.exists(os.path.join(tree.TOP, name)):
            yield name


def faults(document, installed):
    text = re.sub(r"\\[&-]", "", tree.text(document))
    paragraphs = re.split(r"\n\s*\n|\n\.(?:Pp|Sh|Ss|It).*\n", text)
    if any("source tree" in " ".join(part.split()) for part in paragraphs[:HEAD]):
        return
    for part in paragraphs:
        if "source tree" not in " ".join(part.split()):
            for name in named_files(part):
                if name not in installed:
                    yield "%s names %s, which is not installed under that name" % (document, name)


used = list(variables())
files = set()
for variable, path in used:
    if INSTALLED.fullmatch(variable):
        files.add(path if variable.startswith("nobase_") else os.path.basename(path))
documents = sorted({path for variable, path in used if DOCUMENTS.fullmatch(variable) and "LICENSE" not in path})
tap = tree.Tap()
tap.result("there are documents", [] if len(documents) > 10 else ["found only %s" % documents])
tap.result("documents name what is installed", [fault for path in documents for fault in faults(path, files)])
# make does not see that an option has changed: programs compiled before would go on with the old directories.
fragments = "".join(tree.text(part) for part in ["Makefile.am"] + tree.files("Makefile.inc"))
options = re.findall(r"-D\w+=\S*\(\w*dir\)", fragments)
tap.result("no option of the compiler names a directory", ["%s belongs into config.h" % option for option in options])
tap.end()
