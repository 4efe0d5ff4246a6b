# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real Postfix with its own configuration, queue and data directories; loopback only. Needs root."""
import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.instance import below, free_port, wait_until

LOCKED_DELAY = 60  # seconds: how long qmgr(8) leaves a file alone that it found locked; not configurable

# Services that a relay on loopback needs; nothing is chrooted.
MASTER = """\
{host}:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


def missing():
    """Why there can be no Postfix here, or None."""
    if os.getuid() != 0:
        return "Postfix can only be started by root"
    if not shutil.which("postfix", path="/usr/sbin:/usr/bin"):
        return "Postfix is not installed"
    return None


class Postfix:
    def __init__(self, name, settings, host="127.0.0.1", port=None):
        self.directory = Path(tempfile.mkdtemp(prefix=f"postfix-{name}-"))
        self.directory.chmod(0o755)
        self.config, self.queue = self.directory / "etc", self.directory / "queue"
        self.log = self.directory / "log"
        self.host, self.port = host, port or free_port()
        owner = pwd.getpwnam("postfix")
        for path in (self.config, self.queue, self.directory / "data"):
            path.mkdir()
        os.chown(self.directory / "data", owner.pw_uid, owner.pw_gid)
        main = {
            "compatibility_level": "3.6", "queue_directory": self.queue, "data_directory": self.directory / "data",
            "maillog_file": self.log, "maillog_file_prefixes": self.directory,
            "myhostname": f"{name}.example.net", "mydestination": "", "mynetworks": "127.0.0.0/8",
            "inet_interfaces": "127.0.0.1",
            "inet_protocols": "ipv4", "alias_maps": "", "alias_database": "", "local_recipient_maps": "",
            "smtp_dns_support_level": "disabled", "disable_dns_lookups": "yes", "biff": "no", "relayhost": "",
            "message_size_limit": "0", "mailbox_size_limit": "0", "virtual_mailbox_limit": "0",
            "line_length_limit": "4096",
            "smtp_line_length_limit": "0", "lmtp_line_length_limit": "0", "disable_mime_output_conversion": "yes",
            "smtpd_recipient_restrictions": "permit_mynetworks, reject",
            "smtpd_relay_restrictions": "permit_mynetworks, reject",
            "smtpd_client_connection_count_limit": "0", "smtpd_client_connection_rate_limit": "0",
            "smtpd_recipient_limit": "10000",
            # Back-off is in whole seconds. After 1 s (perhaps a few ms) the next queue run may come while the delivery
            # agent still has the file open: "skipped, still being delivered", and qmgr puts it off by LOCKED_DELAY.
            "smtputf8_enable": "no", "queue_run_delay": "1s", "minimal_backoff_time": "2s",
            "maximal_backoff_time": "4s", "transport_retry_time": "1s",
            "command_directory": "/usr/sbin", "daemon_directory": "/usr/lib/postfix/sbin",
            "shlib_directory": "/usr/lib/postfix",
            "setgid_group": "postdrop", "mail_owner": "postfix", **settings,
        }
        (self.config / "main.cf").write_text("".join(f"{key} = {value}\n" for key, value in main.items()))
        (self.config / "master.cf").write_text(MASTER.format(host=host, port=self.port))

    def _run(self, *words):
        return subprocess.run(["/usr/sbin/postfix", "-c", self.config, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

    def start(self):
        done = self._run("start")
        assert done.returncode == 0, f"postfix start: {done.stdout}\n{self.log_text()}"
        wait_until(self.answers, 10, lambda: f"Postfix to answer:\n{self.log_text()}")
        return self

    def reload(self):
        done = self._run("reload")
        assert done.returncode == 0, done.stdout

    def answers(self):
        import socket
        try:
            with socket.create_connection((self.host, self.port), 1) as client:
                return client.recv(3) == b"220"
        except OSError:
            return False

    def pids(self):
        """Its processes: master and those below it."""
        return below(int((self.queue / "pid" / "master.pid").read_text()))

    def empty(self):
        """True when no mail is in its queues."""
        for queue in ("maildrop", "incoming", "active", "deferred"):
            if any(names for _, _, names in os.walk(self.queue / queue)):
                return False
        return True

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self):
        self._run("stop")
        wait_until(lambda: not self.running(), 20, "Postfix to stop")

    def close(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def running(self):
        """Whether a master(8) holds the lock of its file: what "postfix status" asks, without its shell scripts."""
        try:
            with open(self.queue / "pid" / "master.pid", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True


def front(host, lmtp_port):
    """Takes mail for the host's lists and hands it to our LMTP server."""
    return Postfix("front", {
        "relay_domains": host, "relay_recipient_maps": "", "relay_transport": f"lmtp:inet:127.0.0.1:{lmtp_port}",
        "default_transport": "error:only lists are served here",
    })


def behind(addresses, settings=None):
    """Takes everything for the addresses and delivers to a maildir each, below maildirs."""
    domains = sorted({address.partition("@")[2] for address in addresses})
    made = Postfix("behind", {"virtual_mailbox_domains": " ".join(domains),
                              "default_transport": "error:no such domain here",
                              "virtual_minimum_uid": "1", "virtual_uid_maps": "static:65534",
                              "virtual_gid_maps": "static:65534", **(settings or {})})
    made.maildirs = made.directory / "maildirs"
    made.maildirs.mkdir()
    os.chown(made.maildirs, 65534, 65534)
    (made.config / "mailboxes").write_text("".join(f"{address} {address}/\n" for address in addresses))
    with open(made.config / "main.cf", "a") as main:
        main.write(f"virtual_mailbox_base = {made.maildirs}\nvirtual_mailbox_maps = texthash:{made.config}/mailboxes\n")
    return made
