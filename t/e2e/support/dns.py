# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Real DNS on loopback: nsd has the zones, unbound asks it as any resolver of a site would. All files are in a
temporary directory; stop() ends both."""
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .instance import free_port, wait_until

HEAD = """$TTL {ttl}
@ IN SOA ns hostmaster 1 3600 600 86400 {negative}
@ IN NS ns
ns IN A 127.0.0.1
"""


class Dns:
    """zones: {name of a zone: its records as zone file lines}. Zones in `broken` are configured and cannot be loaded:
    nsd answers SERVFAIL for them."""

    def __init__(self, zones, broken=(), ttl=600, negative=60):
        self.directory = Path(tempfile.mkdtemp(prefix="dns-"))
        self.authority, self.port = free_port(), free_port()
        for name, records in zones.items():
            (self.directory / name).write_text(HEAD.format(ttl=ttl, negative=negative) + records)
        for name in broken:
            (self.directory / name).write_text("this is no zone file\n")
        self.names = [*zones, *broken]
        self.processes = []

    @property
    def server(self):
        return f"127.0.0.1:{self.port}"

    def _start(self, *command):
        log = open(self.directory / f"{Path(command[0]).name}.log", "ab")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    def start(self):
        d = self.directory
        (d / "nsd.conf").write_text(
            f"server:\n ip-address: 127.0.0.1@{self.authority}\n username: \"\"\n chroot: \"\"\n zonesdir: {d}\n"
            f" database: \"\"\n pidfile: \"\"\n xfrdfile: {d}/xfrd\n zonelistfile: {d}/zones\n xfrdir: {d}\n"
            " server-count: 1\nremote-control:\n control-enable: no\n"
            + "".join(f"zone:\n name: {name}\n zonefile: {name}\n" for name in self.names))
        (d / "unbound.conf").write_text(
            f"server:\n interface: 127.0.0.1@{self.port}\n username: \"\"\n chroot: \"\"\n directory: {d}\n"
            " pidfile: \"\"\n use-syslog: no\n do-not-query-localhost: no\n module-config: iterator\n num-threads: 1\n"
            " access-control: 127.0.0.0/8 allow\n do-ip6: no\n"
            + "".join(f" local-zone: {name.split('.')[-1]}. nodefault\n" for name in self.names)
            + "remote-control:\n control-enable: no\n"
            + "".join(f"stub-zone:\n name: {name}\n stub-addr: 127.0.0.1@{self.authority}\n" for name in self.names))
        self._start("/usr/sbin/nsd", "-d", "-c", str(d / "nsd.conf"))
        self._start("/usr/sbin/unbound", "-d", "-p", "-c", str(d / "unbound.conf"))
        wait_until(self._answers, 20, "a DNS answer")
        return self

    def _answers(self):
        """A question for the SOA of the first zone has an answer without error."""
        for process in self.processes:
            assert process.poll() is None, self.log()
        labels = b"".join(bytes([len(part)]) + part.encode() for part in self.names[0].split("."))
        question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\0\x00\x06\x00\x01"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(1)
            try:
                client.sendto(question, ("127.0.0.1", self.port))
                answer = client.recv(4096)
            except OSError:
                time.sleep(0.05)
                return False
        return answer[3] & 15 == 0 and answer[7] > 0

    def log(self):
        return "\n".join(path.read_text(errors="replace") for path in self.directory.glob("*.log"))

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(60)
        self.processes = []
