# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A PostgreSQL server of Debian's package, on loopback, in a directory of its own."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

from support.ports import free_port

OWNER = "postgres"  # who runs it when the tests run as root, whom PostgreSQL refuses to serve
ROLE = "listrunner"


def programs():
    """The directory of initdb and others, of the newest release that is installed; None without one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return found[-1].parent if found else None


def connect(url):
    """A connection whose execute() takes SQL as that of sqlite3 does."""
    import psycopg2  # only who uses it needs the package

    class Connection(psycopg2.extensions.connection):
        def execute(self, sql, values=()):
            cursor = self.cursor()
            cursor.execute(sql.replace("?", "%s"), values)
            return cursor

    return psycopg2.connect(url, connection_factory=Connection)


def children(parent):
    found = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


class Server:
    """One server, started. copy_of: another one, which it follows until it is promoted. address: where it is asked, by
    others of that network, too."""

    def __init__(self, copy_of=None, durable=False, connections=300, address="127.0.0.1", port=None):
        self.durable, self.connections, self.address = durable, connections, address
        self.directory = Path(tempfile.mkdtemp(prefix="listrunner-pg-"))
        self.data, self.log, self.port = self.directory / "data", self.directory / "log", port or free_port()
        if os.getuid() == 0:
            shutil.chown(self.directory, OWNER)
        self.directory.chmod(0o755)
        if copy_of:
            self.tool("pg_basebackup", "-D", self.data, "-h", copy_of.directory, "-p", copy_of.port, "-R",
                      "-X", "stream", "-c", "fast")
        else:
            self.tool("initdb", "-D", self.data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
            with (self.data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all samenet trust\n")
        self.start()
        if not copy_of:
            self.sql(f"CREATE ROLE {ROLE} LOGIN", f"CREATE DATABASE {ROLE} OWNER {ROLE}")

    def tool(self, name, *arguments):
        as_owner = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"] if os.getuid() == 0 else []
        done = subprocess.run([*as_owner, str(programs() / name), *map(str, arguments)], cwd="/", text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, f"{name}: {done.stdout}"
        return done.stdout

    def start(self):
        # Tests do not prove that PostgreSQL survives a power cut, so its syncs are left out unless asked for.
        settings = {"port": self.port, "unix_socket_directories": self.directory, "listen_addresses": self.address,
                    "fsync": "on" if self.durable else "off", "max_connections": self.connections,
                    "wal_level": "replica", "hot_standby": "on"}
        self.log.touch()
        if os.getuid() == 0:
            shutil.chown(self.log, OWNER)
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self.tool("pg_ctl", "-D", self.data, "-l", self.log, "-o", options, "-w", "-t", "60", "start")

    def runs(self):
        return (self.data / "postmaster.pid").exists()

    def stop(self, how="immediate"):
        self.tool("pg_ctl", "-D", self.data, "-m", how, "-w", "-t", "60", "stop")

    def become_standby_of(self, other):
        """Begin anew as a copy of the other one, at the same address."""
        shutil.rmtree(self.data)
        self.tool("pg_basebackup", "-D", self.data, "-h", other.directory, "-p", other.port, "-R", "-X", "stream",
                  "-c", "fast")
        self.start()

    @contextlib.contextmanager
    def standing_still(self):
        """No process of it runs; the kernel goes on taking connections for it."""
        master = int((self.data / "postmaster.pid").read_text().split("\n")[0])
        stopped = []
        try:
            while new := [pid for pid in [master, *children(master)] if pid not in stopped]:
                for pid in new:
                    stopped.append(pid)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def promote(self):
        self.tool("pg_ctl", "-D", self.data, "-w", "-t", "60", "promote")

    def sql(self, *statements, database="postgres"):
        """As the superuser; the rows of all results."""
        words = [word for statement in statements for word in ("-c", statement)]
        return self.tool("psql", "-h", self.directory, "-p", self.port, "-qAtX", "-v", "ON_ERROR_STOP=1",
                         "-d", database, *words).split("\n")[:-1]

    def record_statements(self):
        """Write what is asked from now on into the log, for statements()."""
        self.sql("ALTER SYSTEM SET log_line_prefix = '%u|'", "ALTER SYSTEM SET log_statement = 'all'",
                 "SELECT pg_reload_conf()")

    def statements(self):
        """The first lines of all that the role was seen to ask, in order. What goes to the server in one piece with
        semicolons is one; what is prepared once and asked again counts each time."""
        said = re.compile(rf"^{ROLE}\|LOG:  (?:statement|execute [^:]*): (.*)")
        with self.log.open() as lines:
            return [match[1] for line in lines if (match := said.match(line))]

    def demand_passwords(self):
        """Of everybody who comes by TCP, from now on."""
        rules = self.data / "pg_hba.conf"
        rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        self.sql("SELECT pg_reload_conf()")

    def url(self, schema=None, port=None):
        """Over TCP; schema: its name, in which an "@" stays for who replaces it."""
        options = urllib.parse.quote(f'-csearch_path="{schema}"', safe="@") if schema else ""
        return (f"postgresql:///{ROLE}?host={self.address}&port={port or self.port}&user={ROLE}"
                + (f"&options={options}" if options else ""))

    def remove(self):
        """Stop it, and leave nothing of it."""
        if self.runs():
            self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


class Pooler:
    """PgBouncer in transaction mode before a server: fewer processes of the server than there are connections."""

    def __init__(self, server):
        self.directory, self.port = Path(tempfile.mkdtemp(prefix="listrunner-pgb-")), free_port()
        if os.getuid() == 0:
            shutil.chown(self.directory, OWNER)
        settings = self.directory / "pgbouncer.ini"
        settings.write_text(f"[databases]\n* = host=127.0.0.1 port={server.port} user={ROLE}\n[pgbouncer]\n"
                            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
                            "auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n"
                            f"logfile = {self.directory}/log\n")
        as_owner = ["-u", OWNER] if os.getuid() == 0 else []
        self.process = subprocess.Popen(["/usr/sbin/pgbouncer", "-q", *as_owner, settings], cwd="/")
        deadline = time.monotonic() + 20
        while subprocess.run([programs() / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            assert self.process.poll() is None and time.monotonic() < deadline, (self.directory / "log").read_text()
            time.sleep(0.1)

    def stop(self):
        """At once: after SIGTERM, PgBouncer 1.23 and later ones wait until all clients have gone, and older ones ignore
        SIGQUIT where their parent does, as the background of a shell."""
        self.process.kill()
        self.process.wait(60)
        shutil.rmtree(self.directory, ignore_errors=True)
