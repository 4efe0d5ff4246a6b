# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Power cuts of real file systems under load: what got its 250 is delivered once and archived once, what comes twice
was in flight at the cut. t/bench/powercut does thousands of them."""
import os
from pathlib import Path

import pytest

from support import disk
from support.powercut import Generation, summary


# One after the other: who writes to the same disk meanwhile would make its cache durable sooner.
pytestmark = [pytest.mark.proof, pytest.mark.sqlite, pytest.mark.xdist_group("powercut")]

SEED = os.environ.get("LISTRUNNER_SEED", "1")
ROUNDS = int(os.environ.get("LISTRUNNER_CUTS", "6"))


@pytest.mark.parametrize("kind, switch", [("ext4", False), ("xfs", False), ("ext4", True), ("btrfs", True)])
def test_power_cuts(kind, switch, tmp_path):
    why = disk.missing(kind, tmp_path, switch)
    if why:
        pytest.skip(f"no power cuts of {kind}: {why}")
    generation = Generation(tmp_path / "g", kind, f"{SEED}/{kind}/{switch}", switch)
    done = False
    try:
        rounds = ROUNDS // 2 if switch else ROUNDS
        for number in range(rounds):
            generation.round()
            if number % 4 == 3 or number == rounds - 1:
                accounts = generation.settle()
                print(f"\nseed {SEED}, {summary(kind, generation, accounts)}")
                assert not accounts.faults, accounts.faults[:10]
        done = True
    finally:
        if not done:
            print(f"\nseed {SEED}, cuts: {generation.history}\n---- log (its end) ----\n"
                  f"{generation.instance.log_text()[-8000:]}")
        generation.close()


def test_cuts_find_missing_syncs(tmp_path):
    """The same without syncs: what this is for is found. (Without, passing would say little.)"""
    why = disk.missing("ext4", tmp_path)
    if why is None and not any(Path("/usr/lib").glob("*/libeatmydata.so")):
        why = "libeatmydata.so is missing (package libeatmydata1)"
    if why:
        pytest.skip(why)
    generation = Generation(tmp_path / "g", "ext4", f"{SEED}/no syncs", syncs=False)
    faults = []
    try:
        while not faults and generation.cuts < 30:
            generation.round()
            faults = generation.settle().faults
    finally:
        generation.close()
    assert faults, f"none of {generation.cuts} cuts without syncs did harm: seed {SEED}"
    print(f"\nwithout syncs: {len(faults)} faults after {generation.cuts} cuts, such as: {faults[0][:300]}")
