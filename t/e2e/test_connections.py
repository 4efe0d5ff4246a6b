# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Connections to the relay between one message and the next."""
import time

from support.post import post


def test_work_that_comes_while_a_connection_says_goodbye(instances, sinks):
    """A connection that rested too long says QUIT; what is to be sent before the answer takes another one."""
    sink = sinks(options=["--latency", "300"])
    instance = instances(sink.port, settings={"transport.relay": {"connection_idle": "100ms"}}).start()
    address = instance.create_list("test", ["one@example.org"])
    before = instance.pids("out")
    for number in range(6):  # somewhere between the QUIT and its answer for some of them
        instance.lmtp_send(post(message_id=f"<{number}@example.net>"), address)
        instance.wait_idle()
        time.sleep(0.05 * number)
    assert instance.pids("out") == before, "the runner died"
    assert len(sink.transactions()) == 6
