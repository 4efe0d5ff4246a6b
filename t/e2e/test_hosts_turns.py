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
POSTS, RCPTS = 8, 20
MEMBERS = [f"m{number}@example.org" for number in range(10)]
OF_DOOR = "FROM moved WHERE list"  # nor this
OF_IN = "INSERT INTO message_id"  # no other process asks this


def test_a_post_makes_few_round_trips(instances, sink, server, until_end):  # noqa: F811
    """Posts that come alone, of a member who writes the envelope with another address."""
    counter = until_end(TurnCounter(server.port, words=[OF_IN]))
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


def test_an_address_that_is_known_is_asked_for_once(instances, sink, server, until_end):  # noqa: F811
    """RCPT to the owners, or with a detail, costs the door one question: whether lists have changed. From which system
    a list came is known as long as the list is."""
    counter = until_end(TurnCounter(server.port, words=[OF_DOOR]))
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site", port=counter.port)}})
    instance.create_list("talk", members=MEMBERS, owner="olga@example.com")
    instance.start()
    counts = {}
    with instance.lmtp() as client:
        client.ehlo_or_helo_if_needed()
        for local in ("talk-owner", "talk+detail"):
            for times in (2, RCPTS):  # the first asks
                before = counter.turns(OF_DOOR)
                for _ in range(times):
                    client.mail("x@example.net")
                    assert client.rcpt(f"{local}@{HOST}")[0] == 250
                    client.rset()
                counts[local] = counter.turns(OF_DOOR) - before
    assert counter.turns(OF_DOOR) > 0
    assert all(count <= RCPTS + 2 for count in counts.values()), counts
