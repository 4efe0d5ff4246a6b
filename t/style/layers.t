#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Files include only headers of folders that their folder may see: one table has the directions, lowest first."""
import os
import re

import tree

BASE = ["base", "base/trail"]
MAIL = ["mail", "mail/auth", "mail/bounce", "mail/mime", "mail/text"]
# The tables, which all above the store may see. They see neither the drivers nor the schema.
STORE = ["store", "store/archive", "store/hosts", "store/lists", "store/moving", "store/people", "store/posts"]
POSTING = ["posting", "posting/handlers", "posting/rules"]
LISTS = ["lists", "lists/archive", "lists/hosts", "lists/letters", "lists/making", "lists/moving", "lists/people",
         "lists/posts", "lists/site", "lists/sources", "lists/trial"]
CLI = ["cli", "cli/admin", "cli/archive", "cli/backup", "cli/lists", "cli/moving", "cli/people", "cli/queues"]

# A folder sees itself, and these. What is in none of these rows is in no layer.
FOLDERS = {
    "base": ["base/trail"],
    "base/trail": ["base"],
    "switchboard": BASE,
    "master": BASE,
    "net": BASE,
    "mail": BASE,
    "mail/auth": BASE + ["mail"],
    "mail/mime": BASE + ["mail"],
    "mail/bounce": BASE + ["mail", "mail/mime"],
    "mail/text": BASE + ["mail", "mail/mime"],
    "store": BASE + STORE + ["store/driver", "store/schema"],
    "store/driver": BASE + ["store", "store/hosts"],
    "store/schema": BASE + ["store", "store/driver"],
    "store/archive": BASE + ["store", "store/schema"],
    "store/hosts": BASE + ["store", "store/schema", "store/lists", "store/posts"],
    "store/lists": BASE + ["store", "store/people"],
    "store/people": BASE + ["store", "store/lists", "store/posts"],
    "store/posts": BASE + ["store", "store/lists", "store/people"],
    "store/moving": BASE + STORE + ["store/driver", "store/schema"],
    "posting": BASE + MAIL + STORE + POSTING,
    "posting/handlers": BASE + MAIL + STORE + POSTING,
    "posting/rules": BASE + MAIL + STORE + POSTING,
    "lists": BASE + MAIL + STORE + ["switchboard", "lists/letters", "lists/making", "lists/people"],
    "lists/hosts": BASE + MAIL + STORE + ["switchboard", "lists"],
    "lists/archive": BASE + MAIL + STORE + ["posting", "lists"],
    "lists/letters": BASE + MAIL + STORE + ["switchboard", "lists"],
    "lists/people": BASE + MAIL + STORE + ["switchboard", "lists", "lists/letters", "lists/posts"],
    "lists/posts": BASE + MAIL + STORE + ["switchboard", "lists", "lists/archive", "lists/hosts", "lists/letters",
                                          "lists/people"],
    "lists/sources": BASE + STORE + ["net", "lists", "lists/letters", "lists/people"],
    "lists/making": BASE + MAIL + STORE + ["switchboard", "lists", "lists/archive", "lists/letters", "lists/people",
                                           "lists/posts"],
    "lists/moving": BASE + MAIL + STORE + ["switchboard", "lists", "lists/letters", "lists/making", "lists/people"],
    "lists/site": BASE + MAIL + STORE + ["switchboard", "lists", "lists/hosts", "lists/making", "lists/posts"],
    # The rules and handlers are below what people may do with lists; only these two try them.
    "lists/trial": BASE + MAIL + STORE + POSTING + ["switchboard", "lists", "lists/archive", "lists/letters",
                                                    "lists/posts"],
    "runners": BASE + ["switchboard"],
    "runners/posts": BASE + MAIL + STORE + POSTING + LISTS + ["switchboard", "net", "runners"],
    "runners/server": BASE + MAIL + STORE + ["switchboard", "net", "lists/hosts", "lists/site", "runners"],
}
for folder in CLI:
    FOLDERS[folder] = BASE + MAIL + STORE + LISTS + CLI + ["switchboard"]
for folder in ("cli/admin", "cli/moving"):  # they ask the DNS, and listen for a copy of the mail
    FOLDERS[folder] = FOLDERS[folder] + ["net"]
# A runner sees all that is below it, the skeletons, and its own folder.
RUNNER = BASE + MAIL + STORE + POSTING + LISTS + ["switchboard", "net", "runners", "runners/posts", "runners/server"]
# Tables of settings are in the library below all others (base/config_table.h). They see base, and these headers.
SETTINGS = ("settings.c", "site_settings.c")
SETTINGS_SEE = ["posting/words.h", "lists/event_type.h", "lists/letters/template_host.h",
                "runners/server/http_settings.h"]

# Foreign headers and where they are at home.
HOMES = {
    r"ini\.h": ["base/config_read.c"],
    r"sqlite3\.h": ["store/driver/store_sqlite.c"],
    r"libpq.*": ["store/driver/libpq.h"],
    r"mysql\.h": ["store/driver/store_mysql.c"],
    r"(mysqld_error|errmsg)\.h": ["store/driver/store_mysql.c"],
    r"jansson\.h": ["base/control", "mail/", "switchboard/", "lists/", "runners/", "cli/", "master/"],
    r"event2/.*": ["net/", "master/", "runners/"],
    r"openssl/(ssl|err)\.h": ["net/"],
    r"ares.*": ["net/"],
    r"curl/.*": ["net/"],
    r"ldap\.h": ["lists/sources/source_internal"],
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


def seen_by(name):
    """The folders whose headers a file may include, or None."""
    folder = os.path.dirname(name)
    if folder in FOLDERS:
        return FOLDERS[folder] + [folder]
    return RUNNER + [folder] if re.fullmatch(r"runners/[^/]+", folder) else None


def ours(name, included):
    seen, folder = seen_by(name), os.path.dirname(included)
    settings = os.path.basename(name) in SETTINGS
    if settings:
        seen = BASE
    if seen is None:
        return "%s is in no layer" % name
    if not os.path.exists(os.path.join(tree.TOP, included)) and included not in GENERATED:
        return '%s includes "%s", which is no path from the top' % (name, included)
    if folder not in seen and not (settings and included in SETTINGS_SEE):
        return '%s includes "%s"; it may see %s' % (name, included, " ".join(seen))
    # The tables of the store refer to each other, whatever folder they are in.
    home = "store" if folder.startswith("store/") else folder
    if included.endswith("_internal.h") and not (os.path.dirname(name) + "/").startswith(home + "/"):
        return '%s includes "%s", which is for its own folder only' % (name, included)
    return None


def foreign(name, included):
    for pattern, homes in HOMES.items():
        if re.fullmatch(pattern, included) and not any(name.startswith(home) for home in homes):
            return "%s includes <%s>, at home in %s" % (name, included, " ".join(homes))
    return None


def order(name, includes):
    """A .c file begins with its own header, if it has one."""
    own = re.sub(r"\.c$", ".h", name)
    if name.endswith(".c") and os.path.exists(os.path.join(tree.TOP, own)) and includes and includes[0] != ('"', own):
        return '%s does not include "%s" first' % (name, own)
    return None


# Files that need each other, a pair of .c and .h (and its _internal.h) counting as one. Two may; these are more.
CIRCLES = [
    {"base/config", "base/config_check", "base/config_table"},
    {"lists/change", "lists/making/family", "lists/people/ban"},
    {"lists/trial/trial", "lists/trial/trial_judge", "lists/trial/trial_mail"},
    {"master/history", "master/scale", "master/supervisor", "master/worker"},
    {"posting/authenticity", "posting/list_cache", "posting/post"},
    {"runners/rest/resources", "runners/rest/rest", "runners/rest/scope"},
    {"runners/web/archive", "runners/web/desk", "runners/web/desk_try", "runners/web/web"},
]


def stem(name):
    return re.sub(r"(_internal)?\.[ch]$", "", name)


def circles(included):
    """The sets of stems, larger than two, in which each includes each over others (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(one):
        order[one] = low[one] = len(order)
        stack.append(one)
        for other in included.get(one, ()):
            if other not in order:
                visit(other)
            if other in stack:
                low[one] = min(low[one], low[other])
        if low[one] == order[one]:
            at = stack.index(one)
            if len(stack) - at > 2:
                found.append(set(stack[at:]))
            del stack[at:]

    for one in sorted(included):
        if one not in order:
            visit(one)
    return found


GENERATED = {"store/schema.h", "base/newest_schema.h"}  # made from store/schema/*.sql

tap = tree.Tap()
SOURCES = ["base", "switchboard", "mail", "net", "store", "posting", "lists", "runners", "master", "cli"]
included = {}
for source in SOURCES:
    faults = []
    for path in tree.files(".c", ".h", folders=[source]):
        found = INCLUDE.findall(tree.text(path))
        included.setdefault(stem(path), set()).update(
            stem(name) for quote, name in found if quote == '"' and stem(name) != stem(path))
        faults += [ours(path, included) if quote == '"' else foreign(path, included) for quote, included in found]
        faults.append(order(path, found))
    tap.result("%s keeps to its layer" % source, [fault for fault in faults if fault])
closed = circles(included)
tap.result("no circle of includes has grown", [
    "these include each other: %s" % " ".join(sorted(one))
    for one in closed if not any(one <= known for known in CIRCLES)])
tap.result("the circles that are named are there", [
    " ".join(sorted(known)) for known in CIRCLES if known not in closed])
tap.end()
