# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real GNU Mailman 3 on loopback, with all its files in a temporary directory. Its programs are those of the system,
else those of packages that are unpacked below the build. Needs root, who starts it as nobody: Mailman refuses root."""
import contextlib
import os
import pwd
import shutil
import smtplib
import subprocess
import tempfile
from pathlib import Path

from support import packages
from support.instance import free_port, wait_until

LIBRARY = "usr/lib/python3/dist-packages"
USER = "nobody"

CONFIG = """\
[mailman]
layout: here
site_owner: postmaster@example.com
[paths.here]
var_dir: {top}/var
bin_dir: {top}/bin
queue_dir: $var_dir/queue
[mta]
incoming: mailman.mta.null.NullMTA
lmtp_host: 127.0.0.1
lmtp_port: {lmtp}
smtp_host: 127.0.0.1
smtp_port: {smtp}
[webservice]
hostname: 127.0.0.1
port: {rest}
workers: 1
"""
IDLE = ("nntp", "archive", "bounces", "retry", "task", "out", "digest")

# Unpacked packages are found beside those of the system; some names are packages of both.
PROGRAM = """\
#!/usr/bin/python3
import site
import sys
library = {library!r}
site.addsitedir(library)
for name in ("flufl", "zope", "lazr"):
    if name in sys.modules:
        sys.modules[name].__path__.append("/{here}/" + name)
from mailman.bin.{name} import main
sys.exit(main())
"""


def root():
    """Return what Mailman is below, or None."""
    if (Path("/") / LIBRARY / "mailman").is_dir():
        return Path("/")
    return packages.unpacked("mailman", lambda: packages.with_needs("mailman3"))


def missing():
    """Why there can be no Mailman here, or None."""
    if os.getuid() != 0:
        return "Mailman is started by root, as nobody"
    if not root():
        return "the packages of GNU Mailman 3 cannot be fetched"
    return None


class Core:
    """database: where it is in place of a file. started: runners that start beside the usual ones; "out" sends to port
    self.smtp."""

    def __init__(self, database=None, started=()):
        self.top = Path(tempfile.mkdtemp(prefix="mailman-"))
        self.rest, self.lmtp, self.smtp = free_port(), free_port(), free_port()
        (self.top / "bin").mkdir()
        (self.top / "var").mkdir()
        library = root() / LIBRARY
        if root() != Path("/"):  # nobody may not be able to reach the build
            library = Path(shutil.copytree(library, self.top / "library", symlinks=True))
        for name in ("master", "runner", "mailman"):
            program = self.top / "bin" / name
            program.write_text(PROGRAM.format(library=str(library), here=LIBRARY, name=name))
            program.chmod(0o755)
        self.config = self.top / "mailman.cfg"
        lines = [CONFIG.format(top=self.top, lmtp=self.lmtp, smtp=self.smtp, rest=self.rest)]
        lines += [f"[runner.{name}]\nstart: no\n" for name in IDLE if name not in started]
        if database:
            kind = "mysql.MySQLDatabase" if database.startswith("mysql") else "postgresql.PostgreSQLDatabase"
            lines.append(f"[database]\nclass: mailman.database.{kind}\nurl: {database}\n")
        self.config.write_text("".join(lines))
        user = pwd.getpwnam(USER)
        for path in (self.top, self.top / "bin", self.top / "var", self.config):
            os.chown(path, user.pw_uid, user.pw_gid)
        self.process = None

    def start(self):
        self.output = open(self.top / "output", "wb")
        self.process = subprocess.Popen(
            ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups", self.top / "bin" / "master", "-C",
             self.config], stdout=self.output, stderr=self.output, stdin=subprocess.DEVNULL, cwd=self.top)
        wait_until(self.answers, 120, "Mailman to answer", step=0.3)
        return self

    def client(self):
        from mailmanclient import Client
        return Client(f"http://127.0.0.1:{self.rest}/3.1", "restadmin", "restpass")

    def answers(self):
        assert self.process.poll() is None, (self.top / "output").read_text()
        with contextlib.suppress(Exception):
            with smtplib.LMTP("127.0.0.1", self.lmtp, timeout=5):
                return bool(self.client().system)
        return False

    def send(self, octets, to, sender):
        with smtplib.LMTP("127.0.0.1", self.lmtp, timeout=60) as client:
            client.sendmail(sender, [to], octets)

    def waiting(self):
        """How many mails its runners have to do yet, but for those that go out."""
        return [path for name in ("in", "command", "pipeline", "virgin") for path in
                (self.top / "var" / "queue" / name).glob("*.[pb]*")]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
            self.process = None

    def close(self):
        self.stop()
        shutil.rmtree(self.top, ignore_errors=True)
