# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The database counts what hosts ask it while they have nothing to do."""
import re
import time
from collections import Counter

import pytest

from support import postgresql
from support.instance import HOST, free_port, let_through, wait_until
from support.post import post
from support.rest import serving
from test_hosts import ANNE, make_host, server, states  # noqa: F401: server is a fixture

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

ALLOWED = 10  # statements a second for each host
SECONDS = 40


def test_idle_hosts_ask_little(instances, sink, server, tmp_path):  # noqa: F811
    """Two hosts that have worked, and rest, with all runners but those for news and the mail server."""
    let_through(tmp_path)
    a, b = pair = [make_host(instances, sink, server, name) for name in "ab"]
    for host in pair:
        host.set({"site": {"web_url": "https://pages.example"},
                  "runner.web": {"start": "yes", "listen": f"127.0.0.1:{free_port()}"}})
        host.set(serving(tmp_path))
    a.create_list("talk", members=[ANNE])
    a.start()
    b.has_store = True
    b.start()
    wait_until(lambda: states(a) == {"a": "living", "b": "living"}, 30, "both hosts to live")
    for number, host in enumerate(pair, 1):
        host.lmtp_send(post(to=f"talk@{HOST}"), f"talk@{HOST}")
        wait_until(lambda: len(sink.transactions()) == number, 60, "the post to be out")
    for host in pair:
        host.wait_idle()
    server.record_statements()
    wait_until(server.statements, 60, "the database to tell what it is asked")
    begun, before = time.monotonic(), len(server.statements())
    time.sleep(SECONDS)
    took, asked = time.monotonic() - begun, server.statements()[before:]
    kinds = Counter(re.sub(r"\d+", "N", text)[:100] for text in asked)
    shown = "\n".join(f"{count / took:.2f} a second: {text}" for text, count in kinds.most_common())
    print(shown)
    renewed = sum(text.startswith("UPDATE host ") for text in asked)
    assert renewed >= 2 * len(pair), f"leases are renewed:\n{shown}"
    alone = sum(text.startswith("SELECT CAST(extract") for text in asked)
    assert alone <= renewed + 2 * len(pair), f"the clock is asked for in other statements but before a lease:\n{shown}"
    assert len(asked) <= ALLOWED * took * len(pair), f"{len(asked)} in {took:.0f} s:\n{shown}"
