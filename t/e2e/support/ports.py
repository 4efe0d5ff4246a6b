# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Ports on loopback for the servers of the tests."""
import random
import socket
from pathlib import Path

_given = set()


def free_port():
    """One that no connection gets by itself: a server that is started again shall find it free."""
    least = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.randrange(least // 2, least)))
            except OSError:
                continue
            port = probe.getsockname()[1]
            if port not in _given:  # one that was given before may be bound later
                _given.add(port)
                return port
