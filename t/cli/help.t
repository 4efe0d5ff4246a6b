#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Global options, help, suggestions, exit codes of wrong calls."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import re  # noqa: E402

from harness import OK, TOP, USAGE, main, tool  # noqa: E402


def words(*verb):
    return [line for line in tool("help", "--words", *verb).out.splitlines() if line[:1].isalpha()]


def every_verb():
    """Paths of all verbs that run something."""
    for name in words():
        if name == "help":
            continue
        below = words(name)
        yield from ([(name, verb) for verb in below] if below else [(name,)])


def test_version(site):
    assert tool("--version").out.startswith("listrunner ")


def test_overview_names_every_verb(site):
    overview = tool("help").out
    for name in words():
        assert name == "help" or f"  {name} " in overview, name
    assert tool("--help").out == overview


def test_help_of_every_verb(site):
    seen = list(every_verb())
    assert ("list", "create") in seen and ("inject",) in seen and ("held", "accept") in seen
    for verb in seen:
        text = tool("help", *verb).out
        assert text.startswith("Usage: listrunner " + " ".join(verb)), text
        assert tool(*verb, "--help").out == text
        assert tool(verb[0], "--help").out == tool("help", verb[0]).out


def test_no_verb_is_wrong(site):
    assert "Usage:" in tool(code=USAGE).err
    assert "Verbs:" in tool("list", code=USAGE).err


def test_a_switch_takes_no_value(site):
    assert "--json takes no value" in tool("list", "ls", "--json=no", code=USAGE).err
    assert "--help takes no value" in tool("--help=no", "list", code=USAGE).err
    assert "--version takes no value" in tool("--version=2", code=USAGE).err
    assert "--json takes no value" in tool("queue", "ls", "in", "--json=", code=USAGE).err
    site.run("list", "create", "--", "--json=no", code=USAGE, says="'--json=no' is no list address")


def test_unknown_verbs_get_a_suggestion(site):
    assert "there is no verb 'lsit'; did you mean 'list'?" in tool("lsit", code=USAGE).err
    assert "did you mean 'create'?" in tool("list", "craete", code=USAGE).err
    assert "did you mean 'member'?" in tool("mem", code=USAGE).err
    nothing = tool("frobnicate", code=USAGE).err
    assert "'frobnicate'" in nothing and "did you mean" not in nothing
    assert "did you mean 'list'" in tool("help", "lis", code=USAGE).err


def test_unknown_options_are_named(site):
    for verb in every_verb():
        err = tool(*verb, "--frobnicate", code=USAGE).err
        assert "--frobnicate" in err and "See listrunner help " + " ".join(verb) in err, err


def test_missing_and_surplus_arguments(site):
    assert "arguments are missing: LIST ADDRESS..." in tool("member", "add", "x@example.com", code=USAGE).err
    assert "too many arguments: LIST" in tool("list", "show", "a", "b", code=USAGE).err
    assert "takes no arguments" in tool("domain", "ls", "a", code=USAGE).err


def test_double_dash_ends_options(site):
    site.run("list", "show", "--", "--json", code=66, says="there is no list --json")


def test_configuration_option_after_the_verb(site):
    assert tool("config", "check", "--offline", "-c", str(site.config)).code == OK
    assert "no-such-file" in tool("config", "check", "--config=/no-such-file", code=78).err


def test_the_manual_has_every_verb_option_and_code(site):
    manual = (TOP / "cli" / "listrunner.1").read_text()
    items = [line for line in manual.splitlines() if line.startswith(".It ")]
    for verb in every_verb():
        at = [i for i, line in enumerate(items) if line.startswith(".It Cm " + " ".join(verb))]
        assert at, f"listrunner.1 lacks {verb}"
        near = " ".join(items[at[0]:at[0] + 9]) + manual.split(items[at[0]], 1)[1].split("\n.It Cm ")[0]
        for line in tool("help", "--words", *verb).out.splitlines():
            option = line.split("\t")[0]
            assert not option.startswith("--") or option in ("--config", "--help") or f"Fl {option[1:]}" in near, (
                f"listrunner.1 lacks {option} of {verb}")
    codes = re.findall(r"TOOL_\w+ = (\d+)", (TOP / "cli" / "exit.h").read_text())
    assert len(codes) >= 7
    for code in codes:
        assert f".It {code}\n" in manual, f"listrunner.1 lacks exit code {code}"


if __name__ == "__main__":
    main(globals())
