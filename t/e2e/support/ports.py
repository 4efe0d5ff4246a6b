# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Ports on loopback for the servers of the tests. Tests that run at the same time get different ones: a process takes
blocks of them, each by binding a name that the system frees when the process has ended."""
import random
import socket
from pathlib import Path

BLOCK = 32  # ports

_claims, _left = [], []


def _claim():
    """Ports of a block that no other process has; of any block, when there are none left. No connection gets these
    ports by itself, so that a server that is started again finds its port free."""
    least = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    blocks = list(range(least // 2, least - BLOCK, BLOCK))
    random.shuffle(blocks)
    for first in blocks:
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0listrunner-test-ports-{first}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        break
    return random.sample(range(first, first + BLOCK), BLOCK)


def free_port():
    """One that was not given before, since that one may be bound later."""
    while True:
        if not _left:
            _left.extend(_claim())
        port = _left.pop()
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
