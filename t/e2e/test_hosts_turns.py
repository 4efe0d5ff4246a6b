# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""How often a post waits for the database, counted by a proxy before it."""
import pytest

from support import postgresql
from support.instance import HOST, wait_until
from support.post import post
from support.turns import TurnCounter
from test_hosts import server  # noqa: F401: server is a fixture

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

ALLOWED = 4  # round trips of the runner `in` for a post to a list that is in the cache
POSTS = 8
MEMBERS = [f"m{number}@example.org" for number in range(10)]
OF_IN = "INSERT INTO message_id"  # no other process asks this


def test_a_post_makes_few_round_trips(instances, sink, server):  # noqa: F811
    """Posts that come alone, of a member who writes the envelope with another address."""
    counter = TurnCounter(server.port, words=[OF_IN])
    try:
        instance = instances(sink.port)
        instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site", port=counter.port)}})
        instance.create_list("talk", members=MEMBERS)
        instance.start()
        counts = []
        for number in range(POSTS):
            before = counter.turns(OF_IN)
            instance.lmtp_send(post(subject=f"{number}", to=f"talk@{HOST}", sender=MEMBERS[0]), f"talk@{HOST}")
            wait_until(lambda: len(sink.transactions()) == number + 1, 60, "the post to be out")
            instance.wait_idle()
            counts.append(counter.turns(OF_IN) - before)
        print("round trips of in, post by post:", counts)
        cached = sorted(counts[2:])  # the first posts prepare the statements
        assert all(len(one.to) == len(MEMBERS) for one in sink.transactions())
        assert 0 < cached[0] and cached[len(cached) // 2] <= ALLOWED, counts
        assert cached[-1] <= ALLOWED + 1, f"some may read the keys anew, the more the slower the machine is: {counts}"
    finally:
        counter.stop()
