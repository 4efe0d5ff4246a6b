#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Limits of size. What may be larger is named here, with the reason."""
import collections
import os
import re
import sys

import tree

FILE_LINES = 1200
HEADER_LINES = 250
FOLDER_FILES = 60  # .c and .h, outside t/
FUNCTION_LINES = 130
PARAMETERS = 5
COLUMNS = 120
# How finely the product may be cut (doc/style.md, "Functions and files"). A commit that lowers a number lowers its
# limit; none raises one.
FUNCTIONS_PER_1000_LINES = 55.4
CALLED_ONCE_PERCENT = 27.6

# "file" or "file:function" and why.
EXCEPTIONS = {
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


# Comments, strings and characters: a name in them is no use of it.
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# The first line of a static function or of its prototype; and each use of a name, with "(" when it is a call.
STATIC = re.compile(r"^static\b[^;{}=()]*?\b(\w+)\(", re.M)
USE = re.compile(r"\b[A-Za-z_]\w*(?:\s*\()?")


def statics(text):
    """How many static functions a C file has, and the names of those that one place calls and nothing points to."""
    text = NO_CODE.sub(" ", text)
    named = collections.Counter(STATIC.findall(text))
    uses = collections.Counter(USE.findall(text))
    calls, pointers = collections.Counter(), collections.Counter()
    for use, count in uses.items():
        (calls if use.endswith("(") else pointers)[use.rstrip("( \n")] += count
    return len(named), [name for name, heads in named.items() if calls[name] == heads + 1 and not pointers[name]]


used = set()


def excepted(key):
    used.add(key)
    return key in EXCEPTIONS


tap = tree.Tap()
code = tree.files(".c", ".h", ".py", ".t", ".sh")
long_files, long_functions, wide_functions, wide_lines, lengths = [], [], [], [], []
product_lines, static_count, called_once = 0, 0, []
in_folder = collections.Counter()
for path in code:
    lines = tree.text(path).split("\n")
    limit = HEADER_LINES if path.endswith(".h") else FILE_LINES
    if len(lines) - 1 > limit and not excepted(path):
        long_files.append("%s: %d lines; allowed are %d" % (path, len(lines) - 1, limit))
    wide_lines += ["%s:%d: %d columns; allowed are %d" % (path, number, len(line), COLUMNS)
                   for number, line in enumerate(lines, 1) if len(line) > COLUMNS]
    if path.endswith((".c", ".h")) and not path.startswith("t/"):
        in_folder[os.path.dirname(path)] += 1
    if path.endswith(".c") and not path.startswith(("t/", "doc/")):
        product_lines += len(lines) - 1
        count, once = statics(tree.text(path))
        static_count += count
        called_once += ["%s: %s" % (path, name) for name in once]
    for function, length, parameters in functions(path) if path.endswith(".c") else ():
        key = "%s:%s" % (path, function)
        if not path.startswith(("t/", "doc/")):
            lengths.append(length)
        if length > FUNCTION_LINES and not excepted(key):
            long_functions.append("%s: %d lines; allowed are %d" % (key, length, FUNCTION_LINES))
        if parameters > PARAMETERS + 1 and not excepted(key):  # a GError ** comes on top
            wide_functions.append("%s: %d parameters; allowed are %d and an error" % (key, parameters, PARAMETERS))

tap.result("files are short", long_files)
tap.result("folders have few files", ["%s: %d .c and .h files; allowed are %d: divide it by subject" %
                                      (folder, count, FOLDER_FILES) for folder, count in sorted(in_folder.items())
                                      if count > FOLDER_FILES])
tap.result("functions are short", long_functions)
tap.result("functions have few parameters", wide_functions)
tap.result("lines are short", wide_lines)
tap.result("exceptions are needed", ["%s is no longer large: %s" % item for item in EXCEPTIONS.items()
                                     if item[0] not in used])
lengths.sort()


def may_only_fall(what, number, constant, limit):
    """A number of the whole product that no commit may raise."""
    print("# %s: %.1f; allowed are %.1f (%s)" % (what, number, limit, constant))
    tap.result(what + " only fall", [
        "%.1f, and %s is %.1f: tell the new code in fewer functions. Write steps that are called once into the "
        "function that takes them, with a comment that says why (doc/style.md, \"Functions and files\"); "
        "\"t/style/size.t once\" lists them. Do not raise the limit." % (number, constant, limit)]
        if round(number, 1) > limit else [])


if lengths:
    may_only_fall("functions per 1,000 lines", 1000 * len(lengths) / product_lines, "FUNCTIONS_PER_1000_LINES",
                  FUNCTIONS_PER_1000_LINES)
    may_only_fall("static functions called once, in percent", 100 * len(called_once) / max(static_count, 1),
                  "CALLED_ONCE_PERCENT", CALLED_ONCE_PERCENT)
if "once" in sys.argv[1:]:
    print("".join("# called once: %s\n" % name for name in called_once), end="")
if lengths:
    print("# %d functions; half have at most %d lines, 95%% at most %d" %
          (len(lengths), lengths[len(lengths) // 2], lengths[len(lengths) * 95 // 100]))
tap.end()
