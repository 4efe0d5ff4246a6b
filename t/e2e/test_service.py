# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The service unit lets Listrunner do its work, as far as that can be seen without a systemd that runs; .ci/package
starts one."""
import os
import pwd
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from support.instance import HOST, build, wait_until


def test_exposure():
    """The figure that systemd-analyze(1) gives to a unit, from 0 (safe) to 10: at most 2.0."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20",
                           build() / "etc" / "listrunner.service"], capture_output=True, text=True,
                          env={**os.environ, "SYSTEMD_COLORS": "0"})
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze is too old")
    assert done.returncode == 0 and "Overall exposure level" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give capabilities")
def test_low_port_without_root(instances, sink):
    """Started as the unit starts it, as the user and with the right to bind low ports, the master has its port, and its
    runners have no such right."""
    with socket.socket() as probe:  # one that is free
        for port in range(1000, 1023):
            try:
                probe.bind(("127.0.0.1", port))
                break
            except OSError:
                continue
        else:
            pytest.skip("no low port is free")
    instance = instances(sink.port, settings={"runner.lmtp": {"listen": f"127.0.0.1:{port}"}})
    account = pwd.getpwnam(instance.user)
    instance.wrapper = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups",
                        "--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service",
                        "--bounding-set=-all,+net_bind_service", "--no-new-privs"]
    instance.create_store()
    instance.start()
    instance.port = port
    address = instance.create_list("talk", ["anne@example.org"])
    instance.lmtp_send(f"From: poster@example.net\r\nTo: {address}\r\nSubject: low\r\n"
                       f"Message-ID: <low@example.net>\r\n\r\nHello.\r\n".encode(), address)
    wait_until(lambda: sink.recipients() == 1, 30, "the copy")
    for runner in ("lmtp", "in", "out"):
        for pid in instance.pids(runner):
            status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                          if ":\t" in line)
            assert int(status["CapEff"], 16) == int(status["CapAmb"], 16) == int(status["CapPrm"], 16) == 0, status
    assert HOST in address
