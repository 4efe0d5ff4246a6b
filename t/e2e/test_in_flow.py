# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The in-flow brake: a burst is taken at the speed of the disk; when nobody works the queue behind the door, a flood is
slowed down, status says so, and it ends by itself when the queue is worked again."""
import os
import re
import signal
import threading
import time

from support.instance import wait_until
from support.post import post

LIMIT, SESSIONS, DELAY = 200, 5, 0.5


def pour(instance, address, count, numbers):
    """Posts over one session each from as many threads; returns the seconds that took."""
    def feed(share):
        with instance.lmtp() as client:
            for number in share:
                instance.lmtp_send(post(to=address, message_id=f"<{number}@flow.example.net>"), address, client=client)
    part = count // SESSIONS
    shares = [[next(numbers) for _ in range(part)] for _ in range(SESSIONS)]
    threads = [threading.Thread(target=feed, args=(share,)) for share in shares]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun


def stored(instance):
    return len(instance.files("in")["in"])


def test_flood_is_slowed_and_burst_is_not(instances, sink):
    instance = instances(sink.port, settings={
        "lmtp": {"in_flow_limit": LIMIT, "in_flow_delay": "500ms"}})
    instance.start()
    address = instance.create_list("test", ["anne@example.org"])
    stopped, = instance.pids("in")
    os.kill(stopped, signal.SIGSTOP)
    numbers = iter(range(1_000_000))

    held = "each reply to a post is held for 0.5 s from now on"
    pour(instance, address, LIMIT, numbers)
    assert held not in instance.log_text(), "the burst was slowed down"
    pour(instance, address, LIMIT // 4, numbers)  # now there are too many
    wait_until(lambda: pour(instance, address, SESSIONS, numbers) > DELAY and held in instance.log_text(), 60,
               "the brake", step=0.2)
    here = stored(instance)
    flood = pour(instance, address, 4 * SESSIONS, numbers)
    assert flood > 3.5 * DELAY  # four replies over each session, and clocks that differ a little
    assert stored(instance) == here + 4 * SESSIONS

    done = wait_until(lambda: (told := instance.run("status")).returncode == 2 and told, 30, "status to tell")
    assert re.search(r"lmtp\[0\]: mail comes in faster than it leaves: (more than )?\d+ entries wait in in, pipeline "
                     r"and out; since 20\S+Z each reply to a post is held for 0\.5 s", done.stdout), done.stdout
    door, = [group["children"][0] for group in instance.status()["runners"] if group["runner"] == "lmtp"]
    assert door["healthy"] and "held for 0.5 s" in door["notice"]
    assert 'listrunner_notice{runner="lmtp",instance="0"} 1' in instance.cli("metrics")

    os.kill(stopped, signal.SIGCONT)
    instance.wait_idle()
    wait_until(lambda: "\nAll is well." in instance.run("status").stdout, 10, lambda: instance.run("status").stdout)
    assert instance.run("status").returncode == 0
    assert 'listrunner_notice{runner="lmtp",instance="0"} 0' in instance.cli("metrics")
    wait_until(lambda: pour(instance, address, SESSIONS, numbers) < DELAY, 60, "mail to be taken at once")
    instance.wait_idle()
    log = instance.log_text()
    assert log.count(held) == 1
    ended = re.search(r"intake runs free again after \d+ s: (\d+) replies were held", log)
    assert int(ended.group(1)) >= 4 * SESSIONS
    copies = sink.copies()
    assert len(copies) == next(numbers) and set(copies.values()) == {1}
