# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Runners built outside the tree, against the installed Listrunner and nothing else."""
import os
import shutil
import subprocess

import pytest

from support.instance import let_through, prefix

WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]


def environment():
    """Return the environment of a stranger: pkg-config finds the installed tree."""
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    return {**os.environ, "PKG_CONFIG_PATH": str(prefix() / "lib" / "pkgconfig")}


def link_flags():
    """Archives built with sanitizers need their run time in whatever links them."""
    symbols = subprocess.run(["nm", prefix() / "lib" / "liblistrunner.a"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    return ["-fsanitize=address,undefined"] if "__asan_" in symbols.stdout else []


def compile_runner(source, place, package="listrunner"):
    """Compiles one file into a program beside it, by the flags of pkg-config alone. Returns its path."""
    let_through(place)
    program = place / source.stem
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], env=environment(), stdout=subprocess.PIPE,
                           check=True, text=True).stdout.split()
    done = subprocess.run(["cc", "-std=gnu17", "-O1", "-g", *WARNINGS, source, "-o", program, *link_flags(), *flags],
                          cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return program
