# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Two hosts over a primary and its standby, which are killed at random while people post, join, decide and read
digests. t/bench/hosts does it with three, which are cut off from each other, too, and for as long as wanted."""
import os

import pytest

from support import postgresql
from support.hosts import Loopback, Trial

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is missing")]

SEED = os.environ.get("LISTRUNNER_SEED", "3")
SECONDS = int(os.environ.get("LISTRUNNER_SECONDS", "40"))


def test_hosts_in_a_storm(tmp_path):
    trial, faults = Trial(tmp_path / "storm", SEED, 2, Loopback()), None
    trial.told = print
    try:
        trial.blow(SECONDS, 3)
        faults = trial.settle()
        print(f"\nseed {SEED}: {trial.summary()}")
        assert not faults, faults[:10]
        assert trial.kills > 0 and trial.strikes["fail over"] > 0 and trial.clients.decided and trial.issues
        assert {"POST", "DELETE"} <= set(trial.clients.changes)
    finally:
        if faults is None or faults:
            for host in trial.hosts:
                print(f"\n---- log of {host.directory} (its end) ----\n{host.log_text()[-8000:]}")
        trial.close()
