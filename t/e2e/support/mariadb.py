# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A MariaDB server of Debian's package, on loopback, in a directory of its own."""
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.parse
from pathlib import Path

from support.certificate import Authority
from support.instance import wait_until
from support.ports import free_port

SCRIPTS = [Path("/usr/share") / name for name in ("mysql", "mariadb")]
DATABASES = "mailman", "core", "hyperkitty", "sympa"
USER, SECRET = "mailman", "secret"  # the second one may come by TLS alone
PASSWORD = "p@ss:w/rd%?#"  # all that a URL takes apart


def missing():
    """Why there is none, or None."""
    if not shutil.which("mariadbd", path="/usr/sbin"):
        return "mariadb-server-core is not installed"
    return None if importlib.util.find_spec("pymysql") else "python3-pymysql is not installed"


def script(rest):
    """Of those that make its own tables; where they are and how their names begin differs between releases."""
    return next(path for top in SCRIPTS for name in ("mysql", "mariadb") if (path := top / f"{name}{rest}").exists())


class Server:
    """One server, started, with databases that are empty and its user's."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="listrunner-my-"))
        self.data, self.socket, self.port = self.directory / "data", self.directory / "socket", free_port()
        # A server that starts removes what others have in the same tmpdir.
        self.common = ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.data}", f"--tmpdir={self.directory}",
                       "--innodb-log-file-size=4M",
                       "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M",
                       *(["--user=root"] if os.getuid() == 0 else [])]
        self.data.mkdir()
        first = "CREATE DATABASE mysql;\nUSE mysql;\nSET @skip_auth_anonymous = 1;\nSET @auth_root_socket = NULL;\n"
        tables = "".join(script(f"_system_tables{part}.sql").read_text() for part in ("", "_data"))
        done = subprocess.run([*self.common, "--bootstrap", "--skip-networking"], text=True, input=first + tables,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
        self.authority = Authority(self.directory / "authority")
        self.start()
        made = [f"CREATE DATABASE {name} CHARACTER SET utf8mb4" for name in DATABASES]
        made += [f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'"]
        made += [f"CREATE USER {SECRET}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL"]
        made += [f"GRANT ALL ON {name}.* TO {user}@'127.0.0.1'" for name in DATABASES for user in (USER, SECRET)]
        connection = self.connect(user="root", password="", unix_socket=str(self.socket))
        for statement in made:
            connection.cursor().execute(statement)
        connection.close()

    def start(self):
        self.log = (self.directory / "log").open("ab")
        certificate = self.authority.certify("127.0.0.1")
        self.process = subprocess.Popen(
            [*self.common, f"--port={self.port}", "--bind-address=127.0.0.1", f"--socket={self.socket}",
             "--skip-name-resolve", "--performance-schema=OFF", f"--ssl-cert={certificate}",
             f"--ssl-key={certificate}"], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)
        wait_until(self.answers, 120, "MariaDB to answer")

    def answers(self):
        assert self.process.poll() is None, (self.directory / "log").read_text()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def connect(self, database=None, **how):
        import pymysql  # only who uses it needs the package
        how = how or {"host": "127.0.0.1", "port": self.port, "user": USER, "password": PASSWORD}
        return pymysql.connect(**how, database=database, charset="utf8mb4", autocommit=False)

    def emptied(self, name):
        """A connection to one of them, which holds nothing."""
        connection = self.connect(name)
        cursor = connection.cursor()
        for statement in (f"DROP DATABASE {name}", f"CREATE DATABASE {name} CHARACTER SET utf8mb4", f"USE {name}"):
            cursor.execute(statement)
        return connection

    def url(self, database, password=PASSWORD, port=None, user=USER, more="?charset=utf8mb4&use_unicode=1"):
        """As Mailman writes it."""
        word = urllib.parse.quote(password, safe="")
        return f"mysql+pymysql://{user}:{word}@127.0.0.1:{port or self.port}/{database}{more}"

    def remove(self):
        """Stop it, and leave nothing of it."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Cut:
    """A port before a server, that ends each connection once the server has said so many bytes."""

    def __init__(self, port, after):
        self.after, self.to = after, port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.carry, args=(one,), daemon=True).start()

    def carry(self, one):
        with one, socket.create_connection(("127.0.0.1", self.to)) as server:
            for end in (one, server):  # the many small questions are not to wait for one another
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=self.forward, args=(server, one, self.after), daemon=True)
            back.start()
            self.forward(one, server, None)
            back.join()

    @staticmethod
    def forward(source, to, most):
        try:
            while most is None or most > 0:
                octets = source.recv(65536 if most is None else min(65536, most))
                if not octets:
                    break
                most = most and most - len(octets)
                to.sendall(octets)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
