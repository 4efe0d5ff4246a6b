#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Files include only files of folders that they may include: one table has the directions."""
import os
import re

import tree

# A layer is a path prefix; the longest that fits a file is its layer. What it
# may include are path prefixes too; its own folder is always among them,
# except in runners/, where the skeletons do not see each other.
LAYERS = {
    "base/": ["base/"],
    "switchboard/": ["base/", "switchboard/"],
    "mail/": ["base/", "mail/"],
    "net/": ["base/", "net/"],
    "store/": ["base/", "store/"],
    "posting/": ["base/", "mail/", "store/", "posting/"],
    "lists/": ["base/", "mail/", "store/", "switchboard/draft.h", "switchboard/intake.h", "switchboard/meta.h",
               "switchboard/name.h", "switchboard/prepared.h", "switchboard/spool.h", "lists/"],
    # The rules and handlers are below what people may do with lists, which alone tries them.
    "lists/trial": ["base/", "mail/", "store/", "switchboard/meta.h", "switchboard/spool.h", "posting/", "lists/"],
    # It looks into entries, and changes none.
    "lists/queue_shape": ["base/", "mail/copy.h", "switchboard/", "lists/keys.h", "lists/queue_shape"],
    "master/": ["base/", "master/"],
    "cli/": ["base/", "mail/", "net/dns_wait.h", "store/", "switchboard/", "lists/", "cli/"],
    "lists/keys.h": [],
    "runners/process": ["base/", "runners/process"],
    "runners/runner": ["base/", "switchboard/", "runners/process.h", "runners/runner", "runners/sweep.h"],
    "runners/sweep": ["base/", "switchboard/", "runners/sweep"],
    "runners/list_runner": ["base/", "switchboard/", "mail/", "store/", "posting/", "lists/", "runners/runner.h",
                            "runners/kept_rows.h", "lists/keys.h", "runners/units.h",
                            "runners/list_runner"],
    "runners/kept_rows": ["base/", "switchboard/", "store/", "lists/", "runners/runner.h", "runners/list_runner.h",
                          "runners/kept_rows"],
    "runners/orders": ["base/", "switchboard/", "lists/queue_shape.h", "lists/site_state.h", "runners/orders"],
    "runners/units": ["base/", "switchboard/", "store/", "lists/", "runners/runner.h", "runners/units"],
    "runners/list_posts": ["base/", "switchboard/", "mail/", "store/", "posting/", "lists/", "runners/runner.h",
                           "lists/keys.h", "runners/list_runner.h", "runners/list_posts"],
    "runners/names": ["base/", "mail/domain_name.h", "mail/names.h", "net/dns.h", "runners/names"],
    "runners/post_names": ["base/", "mail/", "posting/", "store/list_setting.h", "runners/runner.h", "lists/keys.h",
                           "runners/list_posts.h", "runners/list_runner.h", "runners/names.h", "runners/post_names"],
    "runners/copy_sign": ["base/", "switchboard/", "mail/", "lists/keys.h", "runners/copy_sign"],
    "runners/post_hop": ["base/", "switchboard/", "mail/", "store/", "posting/", "lists/", "runners/runner.h",
                         "lists/keys.h", "runners/list_posts.h", "runners/post_hop", "runners/blocks.h",
                         "runners/fan_out.h",
                         "runners/copies.h", "runners/copy_sign.h"],
    "runners/fan_out": ["base/", "store/host.h", "store/store.h", "switchboard/meta.h", "runners/fan_out"],
    "runners/blocks": ["base/", "switchboard/", "store/topic.h", "posting/", "runners/blocks", "runners/copies.h"],
    "runners/copies": ["base/", "mail/", "posting/", "runners/copies"],
    "runners/lists": ["base/", "mail/", "net/mx.h", "store/", "switchboard/spool.h", "lists/this_host.h",
                      "runners/lists"],
    "runners/listener": ["base/", "net/", "runners/server.h", "runners/listener"],
    "runners/server": ["base/", "runners/process.h", "runners/server"],
    "runners/http": ["base/", "runners/server.h", "runners/http"],
}
LAYERS["lists/shadow"] = LAYERS["lists/trial"]
# Members come from web servers, too.
LAYERS["lists/source_url"] = LAYERS["lists/"] + ["net/http_client.h"]
LAYERS["lists/post_archivers"] = LAYERS["lists/trial"]
LAYERS["cli/cmd_shadow"] = LAYERS["cli/"] + ["net/lmtp_door.h", "net/lmtp_server.h"]
# A runner sees all that is below it, the skeletons, and its own folder.
RUNNER = ["base/", "switchboard/", "mail/", "net/", "store/", "posting/", "lists/", "runners/runner.h",
          "runners/process.h", "runners/sweep.h",
          "runners/listener.h", "runners/lists.h",
          "runners/http.h", "runners/http_guard.h", "runners/http_path.h", "runners/list_posts.h",
          "runners/list_runner.h", "runners/kept_rows.h", "runners/names.h", "runners/orders.h",
          "runners/post_names.h",
          "runners/post_hop.h",
          "runners/copy_sign.h", "lists/keys.h", "runners/units.h"]

# Foreign headers and where they are at home.
HOMES = {
    r"ini\.h": ["base/config_read.c"],
    r"sqlite3\.h": ["store/store_sqlite.c"],
    r"libpq.*": ["store/libpq.h"],
    r"mysql\.h": ["store/libmariadb.h"],
    r"(mysqld_error|errmsg)\.h": ["store/store_mysql.c"],
    r"jansson\.h": ["base/control", "mail/", "switchboard/", "lists/", "runners/", "cli/", "master/"],
    r"event2/.*": ["net/", "master/", "runners/"],
    r"openssl/(ssl|err)\.h": ["net/"],
    r"ares.*": ["net/"],
    r"curl/.*": ["net/"],
    r"ldap\.h": ["lists/source_ldap"],
    r"gmime/.*": ["mail/", "posting/", "runners/"],
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


# Tables of settings are in the library below all others (base/config_table.h).
SETTINGS = ("settings.c", "site_settings.c")


def allowed_for(name):
    if os.path.basename(name) in SETTINGS:
        return ["base/", "posting/words.h", "lists/event_type.h", "lists/moving/old_address.h",
                "lists/template_host.h", "runners/http_settings.h"]
    layers = [prefix for prefix in LAYERS if name.startswith(prefix)]
    if layers:
        return LAYERS[max(layers, key=len)]
    folder = re.match(r"runners/[^/]+/", name)
    return RUNNER + [folder.group()] if folder else None


def ours(name, included):
    allowed = allowed_for(name)
    if allowed is None:
        return "%s is in no layer" % name
    if not os.path.exists(os.path.join(tree.TOP, included)) and included not in GENERATED:
        return '%s includes "%s", which is no path from the top' % (name, included)
    if not any(included.startswith(prefix) for prefix in allowed):
        return '%s includes "%s"; allowed are %s' % (name, included, " ".join(allowed) or "none")
    if included.endswith("_internal.h") and os.path.dirname(included) != os.path.dirname(name):
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
    {"lists/ban", "lists/change", "lists/family", "lists/setting_check", "lists/style"},
    {"lists/confirm", "lists/departure", "lists/held_post", "lists/leave", "lists/leave_brake", "lists/options",
     "lists/people", "lists/subscription"},
    {"lists/trial", "lists/trial_judge", "lists/trial_mail"},
    {"master/group", "master/pause", "master/sampler", "master/scaler", "master/supervisor", "master/worker"},
    {"posting/authenticity", "posting/authors", "posting/loop", "posting/post", "posting/rule"},
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
