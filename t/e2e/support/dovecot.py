# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real Dovecot with its own configuration and directories, loopback only: LMTP into maildirs, and the passwords
of one user for others to ask. Needs root."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.instance import free_port, wait_until

# Of Dovecot 2.3, which Debian 12 has, and of 2.4, whose settings have other names.
CONFIG = {"2.3": """\
base_dir = {top}/run
state_dir = {top}/state
log_path = {top}/log
protocols = lmtp
instance_name = listrunner-test
mail_location = maildir:{top}/mail/%u
first_valid_uid = 1
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{certificate}
auth_mechanisms = plain login scram-sha-1 scram-sha-256
auth_username_chars =
passdb {{
  driver = passwd-file
  args = {top}/passwords
}}
userdb {{
  driver = static
  args = uid=65534 gid=65534 home={top}/mail/%u allow_all_users=yes
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {port}
  }}
  unix_listener {top}/lmtp {{
    mode = 0666
  }}
}}
service auth {{
  unix_listener {top}/auth {{
    mode = 0666
  }}
}}
""", "2.4": """\
dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
base_dir = {top}/run
state_dir = {top}/state
log_path = {top}/log
protocols {{
  lmtp = yes
}}
instance_name = listrunner-test
mail_driver = maildir
mail_path = {top}/mail/%{{user}}
mail_inbox_path = {top}/mail/%{{user}}
first_valid_uid = 1
ssl = yes
ssl_server_cert_file = {certificate}
ssl_server_key_file = {certificate}
auth_mechanisms = plain login scram-sha-1 scram-sha-256
auth_username_chars =
passdb passwd-file {{
  passwd_file_path = {top}/passwords
}}
userdb static {{
  fields {{
    uid = 65534
    gid = 65534
    home = {top}/mail/%{{user}}
  }}
  static_allow_all_users = yes
}}
service lmtp {{
  inet_listener lmtp {{
    listen = 127.0.0.1
    port = {port}
  }}
  unix_listener {top}/lmtp {{
    mode = 0666
  }}
}}
service auth {{
  unix_listener {top}/auth {{
    mode = 0666
  }}
}}
"""}


def version():
    """Of the installed program, its first two numbers."""
    said = subprocess.run(["/usr/sbin/dovecot", "--version"], capture_output=True, text=True, check=True).stdout
    return ".".join(said.split(".")[:2])


def missing():
    """Why there can be no Dovecot here, or None."""
    if os.getuid() != 0:
        return "Dovecot can only be started by root"
    return None if shutil.which("dovecot", path="/usr/sbin:/usr/bin") else "Dovecot is not installed"


class Dovecot:
    def __init__(self, certificate, user, password):
        self.top = Path(tempfile.mkdtemp(prefix="dovecot-"))
        self.top.chmod(0o755)
        self.port = free_port()
        self.maildirs, self.log = self.top / "mail", self.top / "log"
        for name in ("run", "state", "mail"):
            (self.top / name).mkdir()
        os.chown(self.maildirs, 65534, 65534)
        (self.top / "passwords").write_text(f"{user}:{{PLAIN}}{password}\n")
        self.config = self.top / "dovecot.conf"
        self.config.write_text(CONFIG[version()].format(top=self.top, port=self.port, certificate=certificate))
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["/usr/sbin/dovecot", "-F", "-c", self.config], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        wait_until(lambda: (self.top / "lmtp").exists() and (self.top / "auth").exists(), 20, self.log_text)
        return self

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else "Dovecot to start: it has no log"

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
        shutil.rmtree(self.top, ignore_errors=True)
