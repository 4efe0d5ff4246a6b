# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The spool of a host is lost for good: what was in it is told, what refers to it is mended, and the other host's is
left alone."""
import json
from collections import Counter

import pytest

from support import postgresql
from support.instance import HOST, wait_until
from support.post import post
from test_hosts import die, hosts, server, states  # noqa: F401: server is a fixture
from test_hosts_limits import MEMBERS, counter, pair  # noqa: F401: fixtures

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

NAME = "b.example.com"


def send(instance, name, message_id, to="talk"):
    address = f"{to}@{HOST}"
    instance.lmtp_send(post(subject=name, to=address, message_id=message_id), address)


def lost(instance, *options):
    rows = instance.cli("host", "remove", "--lost", NAME, "--json", *options).splitlines()
    return Counter((row["kind"], row["name"]) for row in map(json.loads, rows))


def test_lost(pair, counter, server):  # noqa: F811
    """A post that was under way is told, and goes out when it is sent again; one that had gone out does not; a post
    that was held on either host is kept, and the lost one's moderators are told again."""
    a, b = pair
    a.start()
    b.start()
    for name in ("held-a", "held-b"):
        a.create_list(name, members=MEMBERS[:1], owner="owner@example.com",
                      settings=["default_nonmember_action=hold"])
    send(b, "gone out", "<gone@x>", "other")
    wait_until(lambda: len(counter.taken) == 2, 60, "the post to be out")
    b.wait_idle()
    b.stop()
    b.start()  # it looks at its spool then, and later once a minute
    wait_until(lambda: server.sql(f"SELECT 1 FROM site.host WHERE name = '{NAME}' AND empty_at > (SELECT max(seen_at) "
                                  "FROM site.message_id)", database="listrunner"), 130, "b to see its spool empty")
    counter.open.clear()
    send(b, "lost", "<lost@x>")
    send(a, "foreign", "<foreign@x>")
    send(b, "held on b", "<held-b@x>", "held-b")
    send(a, "held on a", "<held-a@x>", "held-a")
    wait_until(lambda: server.sql("SELECT count(*) FROM site.held WHERE told = 1", database="listrunner") == ["2"], 60,
               "the posts to be held")
    wait_until(lambda: server.sql("SELECT count(*) FROM site.message_id", database="listrunner") == ["5"], 60,
               "all to be judged")
    refused = a.run("host", "remove", "--lost", NAME)
    assert refused.returncode == 1 and "lives: stop it first" in refused.stderr, refused
    die(b)
    wait_until(lambda: states(a)["b"] == "dead", 30, "the lease of b to end")
    # It ends four leases after the host was last heard of, which may be over by now.
    server.sql(f"UPDATE site.host SET share_until = {2 ** 62} WHERE name = '{NAME}'", database="listrunner")
    refused = a.run("host", "remove", "--lost", "--dry-run", NAME)
    assert refused.returncode == 1 and "may be cut off and at work" in refused.stderr, refused
    server.sql(f"UPDATE site.host SET share_until = 1 WHERE name = '{NAME}'", database="listrunner")
    expected = {("post", "lost@x"): 1, ("notice", "held-b@x"): 1}
    assert lost(a, "--dry-run") == expected
    shown = a.cli("host", "remove", "--lost", "--dry-run", NAME)
    assert "Nothing was changed." in shown and "Its spool was last seen empty at" in shown, shown
    assert states(a)["b"] == "dead"
    assert lost(a) == expected
    assert list(hosts(a)) == ["a"]
    told = dict(row.split("|") for row in server.sql("SELECT message_id || '|' || told FROM site.held",
                                                     database="listrunner"))
    assert told["held-a@x"] == "1"
    assert told["held-b@x"] in "02"  # 2: the timer has gathered it for a notice already
    counter.open.set()
    wait_until(lambda: Counter(counter.taken)[MEMBERS[0]] >= 2, 60, "the post of a to go out")
    a.wait_idle()
    before = Counter(counter.taken)
    for name in ("gone", "lost", "foreign"):
        send(a, f"{name} again", f"<{name}@x>", "other" if name == "gone" else "talk")
    a.wait_idle()
    after = Counter(counter.taken) - before
    assert {to: count for to, count in after.items() if to in MEMBERS} == {to: 1 for to in MEMBERS}, after
    assert a.run("host", "remove", NAME, "--dry-run").returncode == 64
    assert a.run("host", "remove", "--lost", NAME).returncode == 66
    assert {row["message_id"] for row in map(json.loads, a.cli("held", "ls", "--json").splitlines())} == {
        "held-b@x", "held-a@x"}
