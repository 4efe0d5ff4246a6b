# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real exim with its own configuration, spool and log, loopback only. Behind us, with TLS on, it takes everything and
delivers into maildirs; before us it does what our manual tells it. Its package would take Postfix's place, so it is
only unpacked. Needs root."""
import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from support import packages
from support.instance import free_port, prefix, wait_until

GENERAL = """\
spool_directory = {top}/spool
log_file_path = {top}/log/%slog
pid_file_path = {top}/pid
exim_path = {program}
keep_environment =
primary_hostname = exim.example.net
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
never_users =
"""

CONFIG = """\
tls_advertise_hosts = *
tls_certificate = {certificate}
tls_privatekey = {certificate}
acl_smtp_mail = only_tls
acl_smtp_rcpt = ours
acl_smtp_data = all
chunking_advertise_hosts = {chunking}
dsn_advertise_hosts = *
message_size_limit = 50M
smtp_accept_max = 50
smtp_accept_queue_per_connection = 0
recipients_max = 0
log_selector = +tls_cipher +received_recipients
begin acl
only_tls:
  deny condition = ${{if eq{{$tls_in_cipher}}{{}}}}
       message = not in clear text
  accept
ours:
  deny domains = ! {domain}
  accept
all:
  accept
begin routers
here:
  driver = accept
  transport = maildir
begin transports
maildir:
  driver = appendfile
  directory = ${{lookup{{$local_part@$domain}}dsearch,ret=full{{{top}/mail}}}}
  maildir_format
  check_string =
  escape_string =
begin retry
* * F,1h,1m
"""


def unpack():
    """The path of the program; None when it cannot be had."""
    root = packages.unpacked("exim", lambda: packages.with_needs("exim4-daemon-light"))
    program = root and root / "usr/sbin/exim4"
    return program if program and program.exists() else None


def missing():
    """Why there can be no exim here, or None."""
    if os.getuid() != 0:
        return "exim can only be started by root"
    return None if unpack() else "the package exim4-daemon-light cannot be fetched"


def user():
    """The user that Debian's exim is built to run as."""
    try:
        return pwd.getpwnam("Debian-exim")
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", "Debian-exim"], check=True)
        return pwd.getpwnam("Debian-exim")


class Server:
    """One exim; its configuration is the text, after the general settings."""

    def __init__(self):
        self.top = Path(tempfile.mkdtemp(prefix="exim-"))
        self.top.chmod(0o755)
        self.port, self.program, self.owner = free_port(), unpack(), user()
        for name in ("spool", "log"):
            (self.top / name).mkdir()
            os.chown(self.top / name, self.owner.pw_uid, self.owner.pw_gid)
        self.process = None

    def configure(self, text):
        general = GENERAL.format(top=self.top, port=self.port, program=self.program)
        (self.top / "conf").write_text(general + text)

    def start(self):
        self.process = subprocess.Popen([self.program, "-C", self.top / "conf", "-bdf", "-q1m"],
                                        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.top / "said", "wb"))
        wait_until(self.answers, 10, lambda: f"exim to answer: {self.log_text()}")
        return self

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as client:
                return client.recv(3) == b"220"
        except OSError:
            return False

    def log_text(self):
        return "".join(path.read_text(errors="replace") for path in
                       [self.top / "said", *sorted((self.top / "log").iterdir())] if path.exists())

    def close(self):
        if self.process:
            os.killpg(self.process.pid, 15)
            self.process.wait(60)
        shutil.rmtree(self.top, ignore_errors=True)


class Exim(Server):
    """Behind us: takes mail for the addresses, which share a domain."""

    def __init__(self, certificate, addresses, chunking=True):
        super().__init__()
        self.maildirs = self.top / "mail"
        self.maildirs.mkdir()
        for address in addresses:
            (self.maildirs / address).mkdir()
            os.chown(self.maildirs / address, self.owner.pw_uid, self.owner.pw_gid)
        own = self.top / "certificate"
        shutil.copy(certificate, own)
        own.chmod(0o644)
        self.configure(CONFIG.format(top=self.top, certificate=own, domain=addresses[0].partition("@")[2],
                                     chunking="*" if chunking else ""))


class Front(Server):
    """Before us, with the lines of listrunner-mta(8); mail for others goes to the relay's port."""

    def __init__(self, maps, port, relay):
        super().__init__()
        page = (prefix() / "share/man/man8/listrunner-mta.8").read_text()
        lines = re.search(r"maps_format = exim .*?\.Bd[^\n]*\n(.*?)\.Ed", page, re.S).group(1).replace("\\\\", "\\")
        for told, ours in (("/var/lib/listrunner/mta", str(maps)), ("port = 8024", f"port = {port}")):
            assert told in lines
            lines = lines.replace(told, ours)
        main, acl, routers, transports = re.split(r"begin \w+\n", lines)
        self.configure(f"""tls_advertise_hosts =
acl_smtp_rcpt = ours
{main}
begin acl
ours:
{acl}
  deny message = relay not permitted
begin routers
{routers}
others:
  driver = manualroute
  transport = relay
  route_list = * 127.0.0.1
  self = send
begin transports
{transports}
relay:
  driver = smtp
  port = {relay}
  allow_localhost
begin retry
* * F,1h,1m
""")
