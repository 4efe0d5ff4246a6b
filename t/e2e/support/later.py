# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The programs of a later version: today's objects, linked anew with one step of the schema more, 002-later.sql."""
import shutil
import subprocess
from pathlib import Path

from support.corpus import TOP
from support.instance import build, let_through, need

STEPS = ["store/schema/001-initial.sql", "t/store/002-later.sql"]
MADE_FROM_STEPS = ["store/schema.c", "base/newest_schema.h"]


def make(place):
    """Return a prefix with the programs of the later version, made in this directory."""
    need(None if (build() / "Makefile").exists() else "there is no build directory to link programs from")
    objects, made = place / "build", place / "later"
    shutil.copytree(build(), objects, ignore=lambda top, names: {"install", "t"} & set(names) if Path(top) == build()
                    else {name for name in names if name.endswith(".log")}, symlinks=True)
    for name in MADE_FROM_STEPS:
        (objects / name).unlink()
    done = subprocess.run(["make", "-C", objects, "-j2", "install-binPROGRAMS", "install-sbinPROGRAMS",
                           "install-runnerPROGRAMS", f"store_schema={' '.join(STEPS)}", f"bindir={made}/bin",
                           f"sbindir={made}/sbin", f"runnerdir={made}/libexec/listrunner"],
                          cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    shutil.rmtree(objects)
    let_through(made)
    return made


def commands(made):
    """Settings by which a master starts the runners of the later version."""
    return {f"runner.{program.name}": {"command": program} for program in (made / "libexec" / "listrunner").iterdir()}
