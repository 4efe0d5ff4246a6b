# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Packages of Debian that a test needs and that are not installed, because their scripts would start a server or take
the place of another one. They are fetched and unpacked below the build, once for all tests."""
import fcntl
import os
import shutil
import subprocess

from support.instance import build


def run(directory, *words):
    return subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True).stdout


def with_needs(package):
    """The package, and what it needs that is not installed."""
    plan = run("/", "apt-get", "-s", "install", "--no-install-recommends", package)
    return [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]


def unpacked(name, find_packages):
    """Return the directory that holds what is in packages, as "/" would if they were installed; None where they cannot
    be had. The packages are those that find_packages() names. LISTRUNNER_NO_PACKAGES, which ./bootstrap --no-packages
    sets, forbids to fetch any."""
    place = build() / "unpacked" / name
    if place.is_dir():
        return place
    if os.environ.get("LISTRUNNER_NO_PACKAGES"):
        return None
    place.parent.mkdir(exist_ok=True)
    with open(place.with_suffix(".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test may be at it
        if place.is_dir():
            return place
        unfinished = place.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        (unfinished / "root").mkdir(parents=True)
        try:
            run(unfinished, "apt-get", "download", *find_packages())
            for package in unfinished.glob("*.deb"):
                run(unfinished, "dpkg", "-x", package, "root")
        except (OSError, subprocess.CalledProcessError):
            return None
        (unfinished / "root").rename(place)
        shutil.rmtree(unfinished)
    return place
