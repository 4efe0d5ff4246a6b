#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Limits of size. What may be larger is named here, with the reason."""
import re

import tree

FILE_LINES = 800
HEADER_LINES = 200
FUNCTION_LINES = 80
PARAMETERS = 5
COLUMNS = 120

# "file" or "file:function" and why.
EXCEPTIONS = {
    "t/runners/posts-t.c": "all that in and pipeline do with a post, over one bench",
    "store/people/member.c:member_add": "a member is five values, and a struct would be filled at each call for one",
}

# A definition in this style: something like a name and a parenthesis in the
# first column, and the braces of the body in the first column too.
FUNCTION = re.compile(r"^(?P<head>[a-zA-Z_][^;{}=]*?\b(?P<name>\w+)\((?P<parameters>[^;{}]*?)\)[^;{}()=]*)\n\{\n"
                      r"(?P<body>.*?)^\}", re.M | re.S)


def functions(name):
    """(function, lines, parameters) of each definition in a C file."""
    for match in FUNCTION.finditer(tree.text(name)):
        parameters = re.sub(r"\([^()]*\)", "", match["parameters"])
        count = 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
        yield match["name"], match.group().count("\n") + 1, count


used = set()


def excepted(key):
    used.add(key)
    return key in EXCEPTIONS


tap = tree.Tap()
code = tree.files(".c", ".h", ".py", ".t", ".sh")
long_files, long_functions, wide_functions, wide_lines, lengths = [], [], [], [], []
for path in code:
    lines = tree.text(path).split("\n")
    limit = HEADER_LINES if path.endswith(".h") else FILE_LINES
    if len(lines) - 1 > limit and not excepted(path):
        long_files.append("%s: %d lines; allowed are %d" % (path, len(lines) - 1, limit))
    wide_lines += ["%s:%d: %d columns; allowed are %d" % (path, number, len(line), COLUMNS)
                   for number, line in enumerate(lines, 1) if len(line) > COLUMNS]
    for function, length, parameters in functions(path) if path.endswith(".c") else ():
        key = "%s:%s" % (path, function)
        if not path.startswith("t/"):
            lengths.append(length)
        if length > FUNCTION_LINES and not excepted(key):
            long_functions.append("%s: %d lines; allowed are %d" % (key, length, FUNCTION_LINES))
        if parameters > PARAMETERS + 1 and not excepted(key):  # a GError ** comes on top
            wide_functions.append("%s: %d parameters; allowed are %d and an error" % (key, parameters, PARAMETERS))

tap.result("files are short", long_files)
tap.result("functions are short", long_functions)
tap.result("functions have few parameters", wide_functions)
tap.result("lines are short", wide_lines)
tap.result("exceptions are needed", ["%s is no longer large: %s" % item for item in EXCEPTIONS.items()
                                     if item[0] not in used])
lengths.sort()
if lengths:
    print("# %d functions; half have at most %d lines, 95%% at most %d" %
          (len(lengths), lengths[len(lengths) // 2], lengths[len(lengths) * 95 // 100]))
tap.end()
