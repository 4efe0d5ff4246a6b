# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Kills, pauses, rescaling and restarts at random while mail flows: nothing lost, nothing twice but what was in flight.
t/bench/storm does it for hours."""
import os

import pytest

from support.storm import Storm, summary

pytestmark = pytest.mark.proof

SEED = os.environ.get("LISTRUNNER_SEED", "1")
STRIKES = int(os.environ.get("LISTRUNNER_STRIKES", "90"))


def test_storm(tmp_path):
    storm = Storm(tmp_path / "storm", SEED)
    accounts = None
    try:
        storm.blow(STRIKES, 0.1)
        accounts = storm.settle()
        print(f"\nseed {SEED}: {summary(storm, accounts)}")
        assert not accounts.faults, accounts.faults[:10]
        assert storm.kills["out"] > 0 and storm.kills["master"] > 0 and accounts.repeats + accounts.unknown > 0
    finally:
        if accounts is None or accounts.faults:
            print(f"\nseed {SEED}\n---- log (its end) ----\n{storm.instance.log_text()[-8000:]}")
        storm.close()
