#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""mandoc finds nothing to warn of in a manual page, every program has one, and systemd takes the service file."""
import os
import re
import shutil
import subprocess

import tree

SECTIONS = tuple(f".{number}" for number in range(1, 9))
SERVICE = "etc/listrunner.service"

tap = tree.Tap()
# Manuals that are made from the tables of settings are in the build.
MADE = ["listrunner.conf.5", "listrunner-list.5"]
BUILD = os.path.abspath(os.environ.get("top_builddir", "build"))
pages = tree.files(*SECTIONS) + [os.path.join(BUILD, "doc", name) for name in MADE]


def lint(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], cwd=tree.TOP, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [line for line in done.stdout.splitlines() if "mandoc.db" not in line]


def verify():
    """Its man pages are not installed yet, nor are its programs: of these it may complain."""
    unit = os.path.join(os.environ.get("top_builddir", "."), SERVICE)
    if not os.path.exists(unit):
        return ["%s is missing" % unit]
    with open(unit, encoding="utf-8") as file:
        text = re.sub(r"^Documentation=.*\n", "", file.read(), flags=re.M)
    own = os.path.join(os.environ.get("TMPDIR", "/tmp"), "listrunner-%d.service" % os.getpid())
    with open(own, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^(ExecStart\w*)=\S+", r"\1=/bin/true", text, flags=re.M))
    try:
        done = subprocess.run(["systemd-analyze", "verify", own], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    finally:
        os.unlink(own)
    named = [line for line in done.stdout.splitlines() if os.path.basename(own) in line]
    return named or (["systemd-analyze verify: %d" % done.returncode] if done.returncode else [])


if shutil.which("mandoc"):
    tap.result("manual pages are clean", [fault for page in pages for fault in lint(page)])
else:
    tap.skip("manual pages are clean", "mandoc is not installed")

programs = {"listrunner.1", "listrunner-master.8"}
folders = {path.split("/")[1] for path in tree.files(".inc") if path.startswith("runners/") and path.count("/") == 2}
programs |= {"listrunner-%s.8" % tree.program_of(folder) for folder in folders}
tap.result("the build made its pages", [page for page in pages if not os.path.exists(os.path.join(tree.TOP, page))])
tap.result("every program has a page", sorted(programs - {os.path.basename(page) for page in pages}))

if shutil.which("systemd-analyze"):
    tap.result("systemd takes the service file", verify())
else:
    tap.skip("systemd takes the service file", "systemd-analyze is not installed")
tap.end()
