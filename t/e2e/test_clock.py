# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The clock was ahead for a moment, or is set back or forward by years: the timer and every queue go on at once."""
import pytest

from support.clock import DAY, HOUR
from support.instance import HOST, wait_until
from support.post import post

ANNE, BART = "anne@example.org", "bart@example.org"


def held_and_due(instance):
    """How many entries wait to be tried again, and {job: runs} of the timer."""
    return len(instance.files("retry").get("retry", [])), {name: row["runs"] for name, row in instance.jobs().items()}


YEAR = 365 * DAY


@pytest.mark.parametrize("before, after", [(25 * HOUR, 0), (400 * DAY, 0), (0, -3 * YEAR), (0, 3 * YEAR)],
                         ids=["a day ahead", "a year ahead", "set back by years", "set forward by years"])
def test_a_clock_that_jumps(instances, sinks, clock, before, after):
    sink = sinks(faults=[f"rcpt match=^{ANNE} times=1 do 450 4.2.1 busy just now"])
    instance = instances(sink.port, settings={"out": {"minimal_backoff_time": "20s", "maximal_backoff_time": "20s"}})
    for name in ("cats", "dogs"):
        instance.create_list(name, [ANNE] if name == "cats" else [BART])
    clock.seconds(before)
    instance.start()
    instance.run_job("outbox")
    instance.lmtp_send(post(to=f"cats@{HOST}", message_id="<1@example.net>"), f"cats@{HOST}")
    wait_until(lambda: held_and_due(instance)[0] == 1, 60, "the copy to be put off")
    runs = held_and_due(instance)[1]
    clock.seconds(after)
    instance.lmtp_send(post(to=f"dogs@{HOST}", message_id="<2@example.net>"), f"dogs@{HOST}")
    wait_until(lambda: sink.copies()["<1@example.net>", ANNE] + sink.copies()["1@example.net", ANNE] == 1, 90,
               "the copy that was put off")
    wait_until(lambda: sink.copies()["<2@example.net>", BART] + sink.copies()["2@example.net", BART] == 1, 60, "a post")
    often = ("outbox", "held-notices", "scheduled", "digests", "vacations", "templates", "sources")
    wait_until(lambda: all(held_and_due(instance)[1][name] > runs[name] for name in often), 130,
               lambda: f"the jobs of each minute: {runs}, {held_and_due(instance)[1]}")
    assert not instance.set_aside()
