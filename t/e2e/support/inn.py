# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real INN on loopback, with all its files in a temporary directory: groups local.* that anybody with the password
may read and post to. Needs root, who starts it as the user news. Its programs are those of the system, else those of
packages that are unpacked below the build."""
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from support import packages
from support.instance import free_port, wait_until

NEWS = "usr/lib/news"  # below the root of the system, or below that of what was unpacked
USER, PASSWORD = "listrunner", "secret"

INN_CONF = """\
mta: "/bin/false %s"
pathhost: news.example.com
domain: example.com
organization: Test
ovmethod: tradindexed
hismethod: hisv6
enableoverview: true
runasuser: news
runasgroup: news
port: {port}
addinjectiondate: true
doinnwatch: false
nnrpdloadlimit: 0
pgpverify: false
icdsynccount: 1
artcutoff: 0
pathnews: {news}
pathbin: {news}/bin
pathetc: {top}/etc
pathdb: {top}/db
pathrun: {top}/run
pathlog: {top}/log
pathhttp: {top}/log
pathfilter: {top}/filter
pathspool: {top}/spool
patharticles: {top}/spool/articles
pathoverview: {top}/spool/overview
pathoutgoing: {top}/spool/outgoing
pathincoming: {top}/spool/incoming
patharchive: {top}/spool/archive
pathtmp: {top}/tmp
{tls}
"""

READERS = """\
auth "all" {{
  hosts: "*"
  auth: "ckpasswd -f {top}/etc/passwords"
}}
access "all" {{
  users: "*"
  newsgroups: "*"
  access: RPA
}}
"""


def root():
    """Return what the programs of INN are below, or None. The package is not installed: that fails on a host whose name
    has no domain, and wants cron and a daemon."""
    if (Path("/") / NEWS / "bin/innd").exists():
        return Path("/")
    return packages.unpacked("inn", lambda: ["inn2", "inn2-inews", "libcanlock3"])


def missing():
    """Why there can be no INN here, or None."""
    if os.getuid() != 0:
        return "INN can only be started by root"
    if not root():
        return "the packages of INN cannot be fetched"
    return None


class Inn:
    def __init__(self, certificate=None):
        self.top = Path(tempfile.mkdtemp(prefix="inn-"))
        self.port = free_port()
        self.process = None
        for name in ("etc", "db", "run", "log", "filter", "tmp", "spool/articles", "spool/overview", "spool/outgoing",
                     "spool/incoming/bad", "spool/incoming/tmp", "spool/archive"):
            (self.top / name).mkdir(parents=True)
        tls = ""
        if certificate:
            shutil.copy(certificate, self.top / "etc" / "tls.pem")
            (self.top / "etc" / "tls.pem").chmod(0o600)
            tls = f"tlscertfile: {self.top}/etc/tls.pem\ntlskeyfile: {self.top}/etc/tls.pem\n"
        hashed = subprocess.run(["openssl", "passwd", "-6", PASSWORD], capture_output=True, text=True,
                                check=True).stdout
        self.root = root()
        if self.root != Path("/"):  # the user news may not be able to reach the build
            self.root = Path(shutil.copytree(self.root, self.top / "root", symlinks=True))
        files = {
            "etc/inn.conf": INN_CONF.format(top=self.top, port=self.port, tls=tls, news=self.root / NEWS),
            "etc/readers.conf": READERS.format(top=self.top),
            "etc/passwords": f"{USER}:{hashed}",
            "etc/storage.conf": "method tradspool {\n newsgroups: *\n class: 0\n}\n",
            "etc/newsfeeds": "ME:!*/!local::\n",
            "etc/incoming.conf": "streaming: true\nmax-connections: 8\n",
            "etc/expire.ctl": "/remember/:11\n*:A:1:10:never\n",
            "etc/control.ctl": "all:*:*:drop\n",
            "etc/moderators": "*:moderator@example.com\n",
            "db/active": "".join(f"{group} 0000000000 0000000001 {flag}\n" for group, flag in (
                ("control", "n"), ("control.cancel", "n"), ("junk", "n"), ("local.test", "y"), ("local.other", "y"),
                ("local.moderated", "m"))),
            "db/history": "",
            "db/active.times": "",
            "db/newsgroups": "",
        }
        for name, text in files.items():
            (self.top / name).write_text(text)
        user = pwd.getpwnam("news")
        for path in (self.top, *self.top.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        self.environment = {**os.environ, "INNCONF": str(self.top / "etc" / "inn.conf")}
        if self.root != Path("/"):
            library, = self.root.glob("usr/lib/*/libcanlock.so.3")
            self.environment["LD_LIBRARY_PATH"] = f"{self.root / NEWS}:{library.parent}"
        self.run("makedbz", "-i", "-o")

    def run(self, program, *words):
        done = subprocess.run([self.root / NEWS / "bin" / program, *words], env=self.environment,
                              user="news", group="news", extra_groups=[], cwd=self.top, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, f"{program}: {done.stdout}"

    def start(self):
        log = open(self.top / "log" / "innd", "ab")
        self.process = subprocess.Popen([self.root / NEWS / "bin/innd", "-f", "-P", str(self.port), "-4", "127.0.0.1"],
                                        env=self.environment,
                                        user="news", group="news", extra_groups=[], cwd=self.top,
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._answers, 20, lambda: f"INN:\n{self.log()}")
        return self

    def log(self):
        return "\n".join(path.read_text(errors="replace") for path in (self.top / "log").iterdir() if path.is_file())

    def _answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.settimeout(20)
                return connection.recv(100).startswith(b"200")
        except OSError:
            return False

    def stop(self):
        if self.process:
            self.run("ctlinnd", "-t", "10", "shutdown", "end of the test")
            self.process.wait(60)
            self.process = None

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait(60)
        shutil.rmtree(self.top, ignore_errors=True)

    # ---- as a reader does ----

    def talk(self, *commands):
        """The replies to commands; with a block, [line with the code, lines...]."""
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection, connection.makefile("rwb") as stream:
            def say(command):
                stream.write(command.encode("utf-8", "surrogateescape") + b"\r\n")
                stream.flush()
                first = stream.readline().decode("utf-8", "surrogateescape").rstrip("\r\n")
                lines = [first]
                while first[:3] in ("220", "221", "224", "215"):
                    line = stream.readline().decode("utf-8", "surrogateescape").rstrip("\r\n")
                    if line == ".":
                        break
                    lines.append(line[1:] if line.startswith("..") else line)
                return lines
            stream.readline()
            for login in ("MODE READER", f"AUTHINFO USER {USER}", f"AUTHINFO PASS {PASSWORD}"):
                reply = say(login)
            assert reply[0].startswith("281"), reply
            return [say(command) for command in commands]

    def post(self, text):
        """Posts an article; the server's last word."""
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection, connection.makefile("rwb") as stream:
            stream.readline()
            for command in ("MODE READER", f"AUTHINFO USER {USER}", f"AUTHINFO PASS {PASSWORD}", "POST"):
                stream.write(command.encode() + b"\r\n")
                stream.flush()
                reply = stream.readline()
            assert reply.startswith(b"340"), reply
            stream.write(text.replace("\n", "\r\n").encode() + b"\r\n.\r\n")
            stream.flush()
            return stream.readline().decode()

    def articles(self, group):
        """Of a group, in order: text with LF."""
        (reply,), = self.talk(f"GROUP {group}")
        code, count, first, last, *_ = reply.split()
        assert code == "211", reply
        if count == "0":
            return []
        found = self.talk(f"GROUP {group}", *(f"ARTICLE {n}" for n in range(int(first), int(last) + 1)))[1:]
        return ["\n".join(article[1:]) for article in found if article[0].startswith("220")]
