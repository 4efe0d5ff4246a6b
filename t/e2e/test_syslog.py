# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""[site] log = syslog: a socket of ours stands where all see /dev/log. Without it mail goes on."""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from support.instance import wait_until
from support.post import post

# A /dev of its own for what it becomes, with a log that leads to $2.
PRIVATE_DEV = """
set -e
mount -t tmpfs none "$1"
for name in null zero full random urandom; do
    touch "$1/$name"
    mount --bind "/dev/$name" "$1/$name"
done
ln -s /proc/self/fd "$1/fd"
ln -s "$2" "$1/log"
mount --move "$1" /dev
shift 2
exec "$@"
"""
MAIL = 2 << 3
ERROR, INFO = 3, 6
LINE = re.compile(r"<(\d+)>\w{3} [ \d]\d \d\d:\d\d:\d\d ([^\[]+(?:\[\d+\])?)\[(\d+)\]: (.*)", re.S)


class Syslogd:
    """Return what came to the socket: [(priority, ident, pid, text)]."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self.socket = None
        self.open()

    def open(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.path.chmod(0o666)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while True:
            try:
                octets = self.socket.recv(65536)
            except OSError:
                return
            if not octets:
                return
            found = LINE.fullmatch(octets.decode())
            assert found, octets
            self.lines.append((int(found[1]), found[2], int(found[3]), found[4]))

    def close(self):
        if self.socket:
            self.socket.shutdown(socket.SHUT_RDWR)
            self.thread.join()
            self.socket.close()
            self.path.unlink()
        self.socket = None

    def of(self, ident):
        return [line for line in self.lines if line[1] == ident]


def private_mounts():
    words = ["unshare", "--mount", "--propagation", "private", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.fixture
def logged(instances, sink):
    if os.getuid() != 0 or not private_mounts():
        pytest.skip("a private mount namespace is needed, which only root may make")
    instance = instances(sink.port, settings={"site": {"log": "syslog"}})
    device, path = instance.directory / "dev", instance.directory / "syslog"
    device.mkdir()
    instance.syslog = Syslogd(path)
    instance.wrapper = ["unshare", "--mount", "--propagation", "private", "sh", "-c", PRIVATE_DEV, "sh", device, path]
    yield instance.start()
    instance.stop()
    instance.syslog.close()


def test_every_process_logs_there(logged, sink):
    address = logged.create_list("test", ["one@example.org"])
    logged.cli("inject", address, input=post(to=address).decode())
    wait_until(lambda: sink.recipients() == 1, 30, "the copy")
    syslog = logged.syslog
    for runner in ("in", "out"):
        pid, = logged.pids(runner)
        lines = wait_until(lambda: [line for line in syslog.of(f"{runner}[0]") if "list=test" in line[3]], 10,
                           f"a line of {runner}")
        assert {line[2] for line in lines} == {pid} and {line[0] for line in lines} == {MAIL | INFO}
    trace, = {line[3].split()[0] for line in syslog.of("in[0]") if "list=test" in line[3]}
    assert any(line[3].startswith(trace) for line in syslog.of("out[0]")), "one trace all the way"
    pid, = logged.pids("in")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: any(line[0] == MAIL | ERROR and f"died, pid={pid} " in line[3] for line in syslog.of("master")),
               10, "the master's word on it")
    logged.wait_ready()
    # Only what came before the configuration was read is elsewhere.
    assert "list=test" not in logged.log_text() and str(pid) not in logged.log_text()


def test_mail_goes_on_without_syslog(logged, sink):
    address = logged.create_list("test", ["one@example.org"])
    syslog = logged.syslog
    syslog.close()
    logged.cli("inject", address, input=post(to=address).decode())
    wait_until(lambda: sink.recipients() == 1, 30, "the copy")
    before = len(syslog.lines)
    syslog.open()
    logged.cli("inject", address, input=post(to=address).decode())
    wait_until(lambda: sink.recipients() == 2, 30, "the second copy")
    wait_until(lambda: any("list=test" in line[3] and line[1] == "out[0]" for line in syslog.lines[before:]), 10,
               "lines after syslogd is back")
