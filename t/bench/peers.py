# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The programs that Listrunner is measured against, each set up as an experienced administrator would, with all its
files below TMPDIR. exim and mlmmj are taken from Debian's packages without installing
them where they would replace Postfix."""
import os
import pwd
import shutil
import smtplib
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.instance import Instance, free_port, wait_until
from support.postfix import Postfix

LIST_HOST = "lists.example.com"
SENDER = "poster@example.net"


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as client:
            return client.recv(3) == b"220"
    except OSError:
        return False


def generate(port, to, count, sessions, size, lmtp=False):
    """Postfix's generator: messages of that size in parallel sessions, each session for several messages."""
    subprocess.run(["smtp-source", *(["-L"] if lmtp else []), "-d", "-s", str(sessions), "-m", str(count), "-l",
                    str(size),
                    "-f", SENDER, "-t", to, f"127.0.0.1:{port}"], check=True)


def missing(peer):
    """The first of the packages a peer is made of that is not here, or None."""
    for package, path in peer.packages.items():
        if not any(Path("/").glob(path)):
            return package
    return None


class Listrunner:
    packages = {}
    name = "listrunner"
    share = 1
    counted = True

    def __init__(self, sink_port, settings=None):
        self.instance = Instance(sink_port, settings={
            "archiver.maildir": None, "archiver.mbox": None, "master": {"heartbeat_interval": "10s"},
            **(settings or {})})

    def start(self, members, name="bench"):
        self.list = self.instance.create_list(name, members, settings=["archive_policy=never"])
        self.instance.start()
        return self

    def post(self, count, sessions, size):
        generate(self.instance.port, self.list, count, sessions, size, lmtp=True)

    def close(self):
        self.instance.close()
        shutil.rmtree(self.instance.directory, ignore_errors=True)


class PostfixAlias:
    """A virtual alias that expands to the members, all relayed to the sink. The sender stays the poster."""
    packages = {"postfix": "usr/sbin/postfix"}
    name = "postfix"
    share = 1
    counted = True
    domain = "virtual_alias_domains"

    def __init__(self, sink_port, hold=False):
        self.postfix = Postfix("bench", {
            "relayhost": f"[127.0.0.1]:{sink_port}", self.domain: LIST_HOST, "default_process_limit": "100",
            "smtp_destination_concurrency_limit": "20", "default_destination_concurrency_limit": "20",
            "initial_destination_concurrency": "20", "virtual_alias_expansion_limit": "1000000", "in_flow_delay": "0",
            "qmgr_message_active_limit": "20000", "virtual_alias_recursion_limit": "1000",
            **({"smtpd_client_restrictions": "static:hold", "virtual_alias_domains": "", "relay_domains": LIST_HOST}
               if hold else {}),
        })

    def start(self, members, name="bench"):
        self.list = f"{name}@{LIST_HOST}"
        self.expand("virtual_alias_maps", f"{self.list} {', '.join(members)}\n")
        self.postfix.start()
        return self

    def expand(self, parameter, text):
        aliases = self.postfix.config / "aliases"
        aliases.write_text(text)
        main = self.postfix.config / "main.cf"
        others = [line for line in main.read_text().splitlines() if not line.startswith(f"{parameter} =")]
        main.write_text("\n".join([*others, f"{parameter} = texthash:{aliases}", ""]))

    def post(self, count, sessions, size):
        generate(self.postfix.port, self.list, count, sessions, size)

    def close(self):
        self.postfix.close()


class PostfixOwner(PostfixAlias):
    """aliases(5) with an owner-: as a list must (RFC 5321, 3.9.2), the copies bear the list's own sender. For that
    local(8) gives the mail to cleanup(8) again, and it passes through the queue twice."""
    name = "postfix, owner-"
    domain = "mydestination"

    def expand(self, parameter, text):
        local, members = text.split(" ", 1)
        name = local.split("@")[0]
        super().expand("alias_maps", f"{name} {members}owner-{name} owner\nowner /dev/null\n")
        with open(self.postfix.config / "master.cf", "a") as services:
            services.write("local unix - n n - - local\n")


EXIM = """\
spool_directory = {top}/spool
log_file_path = {top}/log/%slog
pid_file_path = {top}/pid
exim_path = {program}
keep_environment =
tls_advertise_hosts =
primary_hostname = exim.example.net
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
never_users =
trusted_users = root
acl_smtp_rcpt = accept_all
acl_smtp_data = accept_all
smtp_accept_max = 200
smtp_accept_queue_per_connection = 0
smtp_accept_max_per_connection = 0
smtp_connect_backlog = 200
queue_run_max = 20
remote_max_parallel = 20
recipients_max = 0
deliver_queue_load_max = 1000
log_selector = -all
begin acl
accept_all:
  accept
begin routers
list:
  driver = redirect
  domains = {host}
  file = {top}/lists/${{lookup{{$local_part}}dsearch{{{top}/lists}}}}
  forbid_pipe
  forbid_file
relay:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = smtp
begin transports
smtp:
  driver = smtp
  port = {sink}
  max_rcpt = 500
  connection_max_messages = 0
  hosts_try_fastopen =
  hosts_avoid_tls = *
  allow_localhost
begin retry
* * F,1h,1m
"""


class Exim:
    """A redirect router that reads the members from a file, all sent to the sink. A large list is a list of lists: exim
    reads no file over 1 MB, and defers an address that one router turns into more than 65,535."""
    packages = {}  # unpacked, see below
    name = "exim"
    share = 1
    counted = False  # its deliveries are nobody's children: their processor time is not known
    LARGEST = 20000

    def __init__(self, sink_port):
        self.top = Path(tempfile.mkdtemp(prefix="exim-"))
        self.top.chmod(0o755)
        self.program = self.unpack()
        self.port = free_port()
        user = pwd.getpwnam("Debian-exim").pw_uid
        for name in ("spool", "log"):
            (self.top / name).mkdir()
            os.chown(self.top / name, user, user)
        (self.top / "conf").write_text(EXIM.format(top=self.top, port=self.port, host=LIST_HOST, sink=sink_port,
                                                   program=self.program))

    def roots(self):
        return [self.process.pid]

    def log(self):
        return "".join(path.read_text() for path in (self.top / "log").glob("*log"))

    def unpack(self):
        """exim's package replaces Postfix when installed, so it is only unpacked; its user and library are needed."""
        try:
            pwd.getpwnam("Debian-exim")
        except KeyError:
            subprocess.run(["useradd", "--system", "--no-create-home", "Debian-exim"], check=True)
        packages = Path(tempfile.gettempdir()) / "exim-packages"
        if not packages.exists():
            packages.mkdir()
            for words in (["apt-get", "install", "-y", "libidn12"], ["apt-get", "download", "exim4-daemon-light"]):
                subprocess.run(words, cwd=packages, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for package in packages.glob("*.deb"):
                subprocess.run(["dpkg", "-x", package, packages / "root"], check=True)
        packages.chmod(0o755)
        return packages / "root" / "usr/sbin/exim4"

    def start(self, members, name="bench"):
        self.list = f"{name}@{LIST_HOST}"
        lists = self.top / "lists"
        lists.mkdir()
        parts = [members[at:at + self.LARGEST] for at in range(0, len(members), self.LARGEST)]
        for number, part in enumerate(parts):
            (lists / f"{name}-{number}").write_text("".join(f"{member}\n" for member in part))
        (lists / name).write_text("".join(f"{name}-{n}@{LIST_HOST}\n" for n in range(len(parts))))
        self.process = subprocess.Popen([self.program, "-C", self.top / "conf", "-bdf"], start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: answers(self.port), 10, "exim to answer")
        return self

    def post(self, count, sessions, size):
        generate(self.port, self.list, count, sessions, size)

    def close(self):
        os.killpg(self.process.pid, 15)
        self.process.wait()
        shutil.rmtree(self.top, ignore_errors=True)


class Mlmmj:
    """mlmmj's own programs, started for each post as an MTA's pipe transport does, without the
    cost of the MTA in front."""
    packages = {"mlmmj": "usr/bin/mlmmj-receive"}
    name = "mlmmj"
    share = 10  # so slow that fewer posts say as much

    def __init__(self, sink_port):
        self.top = Path(tempfile.mkdtemp(prefix="mlmmj-"))
        self.sink_port = sink_port

    def start(self, members, name="bench"):
        self.list = f"{name}@{LIST_HOST}"
        spool = self.top / name
        for folder in ("archive", "bounce", "control", "digesters.d", "incoming", "moderation", "nomailsubs.d", "queue",
                       "queue/discarded", "requeue", "subconf", "subscribers.d", "text", "unsubconf"):
            (spool / folder).mkdir(parents=True)
        control = {"listaddress": self.list, "relayhost": "127.0.0.1", "smtpport": str(self.sink_port), "owner": SENDER,
                   "maxverprecips": "500", "verp": ""}
        for key, value in control.items():
            if key != "verp":
                (spool / "control" / key).write_text(f"{value}\n")
        by_letter = {}
        for member in members:
            by_letter.setdefault(member[0], []).append(member)
        for letter, group in by_letter.items():
            (spool / "subscribers.d" / letter).write_text("".join(f"{member}\n" for member in group))
        self.spool = spool
        return self

    def post(self, count, sessions, size):
        body = b"x" * 62 + b"\n"

        def one(number):
            octets = (f"Return-Path: <{SENDER}>\nFrom: {SENDER}\nTo: {self.list}\n"
                      f"Message-ID: <{number}.{os.getpid()}@bench.example.net>\nSubject: {number}\n\n").encode()
            octets += body * ((size - len(octets)) // len(body))
            subprocess.run(["/usr/bin/mlmmj-receive", "-F", "-L", str(self.spool)], input=octets, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(one, range(count)))

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


MAILMAN = """\
[mailman]
layout: here
site_owner: owner@{host}
[paths.here]
var_dir: {top}/var
bin_dir: /usr/lib/mailman3/bin
[database]
class: mailman.database.postgresql.PostgreSQLDatabase
url: postgresql://list@/mailman?host={top}/database
[mta]
incoming: mailman.mta.null.NullMTA
smtp_host: 127.0.0.1
smtp_port: {sink}
lmtp_host: 127.0.0.1
lmtp_port: {port}
[runner.in]
instances: 2
sleep_time: 0.1s
[runner.pipeline]
instances: 2
sleep_time: 0.1s
[runner.out]
instances: 2
sleep_time: 0.1s
[runner.command]
sleep_time: 0.1s
[runner.virgin]
sleep_time: 0.1s
[runner.rest]
start: no
[runner.digest]
start: no
[runner.nntp]
start: no
[dmarc]
resolver_timeout: 0s
resolver_lifetime: 0s
"""

# The program for `mailman shell`: the list as ours is, open to the poster, without an archive.
MAILMAN_LIST = """\
from mailman.interfaces.action import Action
from mailman.interfaces.archiver import ArchivePolicy
from mailman.interfaces.member import MemberRole
from mailman.interfaces.usermanager import IUserManager
from mailman.utilities.datetime import now
from zope.component import getUtility


def fill(mlist):
    mlist.default_nonmember_action = Action.accept
    mlist.archive_policy = ArchivePolicy.never
    mlist.digests_enabled = mlist.send_welcome_message = mlist.admin_immed_notify = False
    manager = getUtility(IUserManager)
    with open("{top}/members") as file:
        for line in file:
            address = manager.create_address(line.strip())
            address.verified_on = now()
            mlist.subscribe(address, MemberRole.member)
"""


class Mailman:
    """Mailman 3 core with a PostgreSQL of its own, two runners for each step (its queues are sliced, too)."""
    name = "mailman"
    share = 10  # so slow that fewer posts say as much
    packages = {"mailman3": "usr/lib/mailman3/bin/master", "postgresql": "usr/lib/postgresql/*/bin/initdb",
                "python3-psycopg2": "usr/lib/python3/dist-packages/psycopg2/__init__.py"}
    user = "list"

    def __init__(self, sink_port):
        self.top = Path(tempfile.mkdtemp(prefix="mailman-"))
        self.port = free_port()
        configuration = MAILMAN.format(top=self.top, host=LIST_HOST, port=self.port, sink=sink_port)
        (self.top / "mailman.cfg").write_text(configuration)
        (self.top / "filler.py").write_text(MAILMAN_LIST.format(top=self.top))
        shutil.chown(self.top, self.user)
        self.processes = []

    def command(self, *words):
        return ["runuser", "-u", self.user, "--", "env", f"PYTHONPATH={self.top}", *map(str, words)]

    def run(self, *words):
        subprocess.run(self.command(*words), cwd=self.top, check=True, stdout=subprocess.DEVNULL)

    def mailman(self, *words):
        self.run("/usr/lib/mailman3/bin/mailman", "-C", self.top / "mailman.cfg", *words)

    def launch(self, *words):
        self.processes.append(subprocess.Popen(self.command(*words), cwd=self.top, start_new_session=True,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))

    def start_database(self):
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        database = self.top / "database"
        self.run(programs / "initdb", "-D", database, "-A", "trust", "-E", "UTF8")
        self.launch(programs / "postgres", "-D", database, "-k", database, "-c", "listen_addresses=")
        wait_until(lambda: subprocess.run([programs / "pg_isready", "-q", "-h", database], check=False).returncode == 0,
                   30, "PostgreSQL to answer")
        self.run(programs / "createdb", "-h", database, "mailman")

    def start(self, members, name="bench"):
        self.list = f"{name}@{LIST_HOST}"
        self.start_database()
        (self.top / "members").write_text("".join(f"{member}\n" for member in members))
        self.mailman("create", self.list)
        self.mailman("shell", "-l", self.list, "-r", "filler.fill")
        self.launch("/usr/lib/mailman3/bin/master", "-C", self.top / "mailman.cfg")
        wait_until(lambda: answers(self.port), 60, "Mailman to answer")
        return self

    def change(self, *settings):
        """Sets attributes of the list, each as "name = value" in Python."""
        (self.top / "changer.py").write_text("".join((
            "from mailman.interfaces.mime import FilterAction\nfrom mailman.interfaces.mailinglist import "
            "DMARCMitigateAction\n\n\ndef change(mlist):\n", *(f"    mlist.{setting}\n" for setting in settings))))
        self.mailman("shell", "-l", self.list, "-r", "changer.change")

    def lmtp(self):
        return smtplib.LMTP("127.0.0.1", self.port, timeout=120)

    def pids(self, runner):
        said = subprocess.run(["pgrep", "-f", f"{self.top}.*--runner={runner}:"], capture_output=True, text=True,
                              check=False)
        return [int(pid) for pid in said.stdout.split()]

    def post(self, count, sessions, size):
        generate(self.port, self.list, count, sessions, size, lmtp=True)

    def close(self):
        for process in reversed(self.processes):
            os.killpg(process.pid, 15)
            process.wait()
        shutil.rmtree(self.top, ignore_errors=True)
