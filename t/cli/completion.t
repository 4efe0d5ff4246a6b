#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Completion for bash: sourced into a real shell and asked."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import shlex  # noqa: E402
import subprocess  # noqa: E402

from harness import BUILD, TOP, main, tool  # noqa: E402

SCRIPT = TOP / "etc" / "completion" / "listrunner.bash"
LIST = "test@example.com"


def ask(site, line, breaks=None):
    """Return the words that the completion offers at the end of the line, sorted."""
    line = line.replace("listrunner ", f"listrunner -c {site.config} ", 1)
    setting = f"COMP_WORDBREAKS={shlex.quote(breaks)}\n" if breaks is not None else ""
    done = subprocess.run(
        ["bash", "--norc", "-c", f"""PATH={shlex.quote(str(BUILD))}:$PATH
. {shlex.quote(str(SCRIPT))}
{setting}COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}
_listrunner listrunner
printf '%s\\n' "${{COMPREPLY[@]}}" """],
        capture_output=True, text=True, check=False, cwd=site.path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return sorted(done.stdout.split())


def test_syntax(site):
    subprocess.run(["bash", "-n", SCRIPT], check=True)
    assert "complete -F _listrunner listrunner" in SCRIPT.read_text()


def verbs(*path):
    return sorted(w for w in tool("help", "--words", *path).out.splitlines() if w[:1].isalpha())


def test_verbs_are_those_of_the_table(site):
    assert ask(site, "listrunner ") == verbs()
    assert ask(site, "listrunner li") == ["list"]
    for verb in verbs():
        if verb != "help" and verbs(verb):
            assert ask(site, f"listrunner {verb} ") == verbs(verb), verb
    assert ask(site, "listrunner help list cr") == ["create"]


def test_options_are_those_of_the_table(site):
    for path in (["list", "create"], ["member", "set"], ["queue", "ls"], ["inject"]):
        known = sorted(w.split("\t")[0] for w in tool("help", "--words", *path).out.splitlines() if w.startswith("--"))
        assert ask(site, f"listrunner {' '.join(path)} --") == known
    assert ask(site, "listrunner --c") == ["--config"]


def test_choices(site):
    assert ask(site, "listrunner member add --role ") == ["member", "moderator", "nonmember", "owner"]
    assert ask(site, "listrunner member add --role=ow", breaks="") == ["--role=owner"]
    assert ask(site, "listrunner member add --role=ow", breaks="=") == ["owner"]
    assert ask(site, "listrunner list create --style a") == ["announce"]


def test_names_of_lists_and_settings(site):
    site.run("list", "create", LIST)
    site.run("list", "create", "tent@example.com")
    assert ask(site, "listrunner list show te", breaks="") == ["tent@example.com", LIST]
    assert ask(site, "listrunner list show test@exa", breaks=" @=:") == ["example.com"]
    assert ask(site, "listrunner list ls ") == ["example.com"]
    assert ask(site, "listrunner member ls --role owner tes", breaks="") == [LIST]
    assert ask(site, f"listrunner list get {LIST} subject_") == ["subject_prefix"]
    assert ask(site, f"listrunner list reset {LIST} emergency subject_") == ["subject_prefix"]


def test_names_are_not_run(site):
    site.run("list", "create", "x$(touch${IFS}run)`touch${IFS}run`@example.com", code=None)
    site.run("list", "create", "y$HOME@example.com", code=None)
    ask(site, "listrunner list show ", breaks="")
    assert not (site.path / "run").exists()


def test_queues_and_files(site):
    site.run("list", "create", LIST)
    row, = site.run("inject", LIST, "--json", data=b"A: b\n\n").rows()
    assert ask(site, "listrunner queue ls ") == ["in"]
    assert ask(site, "listrunner queue ls in i") == ["in"]
    assert ask(site, "listrunner queue cat 1") == [row["name"]]
    (site.path / "message.eml").touch()
    assert ask(site, f"listrunner inject {LIST} mess") == ["message.eml"]


def test_runners(site):
    site.config.write_text(site.config.read_text() + "[runner.count]\ncommand = /bin/true\n")
    assert ask(site, "listrunner restart cou") == ["count"]
    assert "in" in ask(site, "listrunner rescale ")


def test_a_site_without_anything_offers_nothing(site):
    assert ask(site, "listrunner list show ") == []
    site.config.unlink()
    assert ask(site, "listrunner list show ") == []


if __name__ == "__main__":
    main(globals())
