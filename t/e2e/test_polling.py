# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A kernel that refuses inotify: runners look for themselves, and say so."""
import os
import subprocess
from pathlib import Path

import pytest

from support.instance import wait_until
from support.post import post

WRAPPER = ["/usr/bin/python3", str(Path(__file__).parent / "support" / "without_inotify.py")]


@pytest.fixture(scope="module", autouse=True)
def refused():
    done = subprocess.run([*WRAPPER, "/usr/bin/true"], capture_output=True, check=False)
    if os.getuid() != 0 or done.returncode != 0:
        pytest.skip(f"no user namespace without inotify can be made: {done.stderr.decode()[-200:]}")


def test_mail_moves_without_inotify(instances, sink):
    instance = instances(sink.port, settings={"spool": {"poll_interval": "100ms"}})
    instance.wrapper = WRAPPER
    instance.start()
    address = instance.create_list("test", ["one@example.org", "two@example.org"])
    for number in range(3):  # each comes to queues that were empty
        instance.cli("inject", address, input=post(to=address).decode())
        wait_until(lambda wanted=2 * number + 2: sink.recipients() == wanted, 30, "both copies")
        instance.wait_idle()
    warnings = [line for line in instance.log_text().splitlines() if "inotify is refused" in line]
    for runner in ("in", "pipeline", "out", "archive"):
        assert any(f" {runner}[0]: warning: queue {runner}: " in line and "listed every 100 ms" in line
                   for line in warnings), (runner, warnings)
