# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""public-inbox of the distribution with one archive, to be measured beside ours."""
import os
import subprocess
import time
from pathlib import Path

from support.instance import free_port, wait_until

IMPORT = """my $inbox = PublicInbox::Config->new->lookup_name("peer");
open my $file, "<", $ARGV[0] or die; PublicInbox::InboxWritable->new($inbox)->import_mbox($file, "mboxo");"""


class PublicInbox:
    """One process, with its index of all words, as ours has one."""

    def __init__(self, directory, mbox, address):
        self.directory, self.port = Path(directory), free_port()
        environment = {**os.environ, "HOME": str(self.directory), "PI_CONFIG": str(self.directory / "config")}
        began = time.monotonic()
        subprocess.run(["public-inbox-init", "-V2", "-L", "full", "peer", self.directory / "inbox",
                        "http://127.0.0.1/peer", address], env=environment, check=True, capture_output=True)
        subprocess.run(["perl", "-MPublicInbox::Config", "-MPublicInbox::InboxWritable", "-e", IMPORT, mbox],
                       env=environment, check=True)
        self.seconds = time.monotonic() - began
        self.process = subprocess.Popen(["public-inbox-httpd", "-W0", "-l", f"127.0.0.1:{self.port}"], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.answers, 60, "public-inbox")

    def answers(self):
        return subprocess.run(["wrk", "-t1", "-c1", "-d1s", self.url], capture_output=True, check=False).returncode == 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/peer/"

    def pids(self):
        """Its own, and those of git, which reads the mails."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def close(self):
        self.process.terminate()
        self.process.wait()
