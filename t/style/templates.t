#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A letter says the same in every language: each translated template has the placeholders of the English one."""
import os
import re

import tree

TEMPLATES = os.path.join(tree.TOP, "etc", "templates")


def read(language, name):
    return tree.text(os.path.join("etc", "templates", language, name))


def placeholders(text):
    return set(re.findall(r"\$\{?(\w+)", text))


tap = tree.Tap()
for language in sorted(os.listdir(TEMPLATES)):
    faults = []
    for name in sorted(os.listdir(os.path.join(TEMPLATES, language))):
        if not os.path.exists(os.path.join(TEMPLATES, "en", name)):
            faults.append("%s/%s has no English original" % (language, name))
            continue
        here, original = read(language, name), read("en", name)
        if name == "answers.txt":
            sentences = [dict(re.findall(r"(?m)^(\w+): (.*)$", text)) for text in (here, original)]
            faults += ["%s/%s: %s" % (language, name, key) for key in sorted(sentences[0].keys() ^ sentences[1].keys())]
            faults += ["%s/%s: %s" % (language, name, key) for key in sorted(sentences[0].keys() & sentences[1].keys())
                       if placeholders(sentences[0][key]) != placeholders(sentences[1][key])]
            continue
        odd = placeholders(here) ^ placeholders(original)
        faults += ["%s/%s: $%s is in one of the two only" % (language, name, word) for word in sorted(odd)]
        if not here.startswith("Subject: ") and not name.endswith("_footer.txt") and name != "help.txt":
            faults.append("%s/%s does not begin with Subject" % (language, name))
    tap.result("templates in %s" % language, faults)
# Rules say their reasons in English; a letter has those of answers.txt in their place.
known = {re.sub(r"\$\w+", "%", line) for line in re.findall(r"(?m)^reason_\w+: (.*)$", read("en", "answers.txt"))}
faults = []
for name in tree.files(".c", folders=["posting/rules"]):
    for literal in re.findall(r'post_add_reason\(post,\s*((?:"[^"]*"(?:\s*PRId64)?\s*)+)', tree.text(name)):
        said = "".join(re.findall(r'"([^"]*)"', literal.replace("PRId64", '"d"')))
        said = re.sub(r"%(?:zu|u|d|s)", "%", said)
        if said != "%" and said not in known:
            faults.append("%s: %s" % (name, said))
tap.result("the reasons of rules are translated", faults)
tap.end()
