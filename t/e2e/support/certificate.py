# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Certificates signed by an authority of our own, made by the lines that doc/hosts.md gives to people."""
import re
import shlex
import ssl
import subprocess

from support.corpus import TOP

AUTHORITY, REQUEST, SIGNATURE = re.findall(r"^ +(openssl .*)$", (TOP / "doc" / "hosts.md").read_text(), re.M)
HOST = "a.example.org"  # whose key and certificate those lines make: a.key, a.crt


def _run(line, directory):
    done = subprocess.run(shlex.split(line), cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0, f"{line}: {done.stdout}"


def _validity(days):
    """Words for so many days from now on, or until yesterday. OpenSSL 3.5 takes no days below 0, 3.0 no dates."""
    listed = subprocess.run(["openssl", "x509", "-help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=60)
    if days > 0 or "-not_before" not in listed.stdout:
        return f"-days {days}"
    return "-not_before 20200101000000Z -not_after 20200102000000Z"


def strict_context(authority_file):
    """Return what a client has for TLS that verifies as strictly as Python 3.13 and later do of themselves."""
    made = ssl.create_default_context(cafile=authority_file)
    made.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return made


class Authority:
    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.key, self.file = directory / "hosts-ca.key", directory / "hosts-ca.crt"
        _run(AUTHORITY, directory)

    def certify(self, name, days=60):
        """The path of a file with key and certificate for a name or 127.0.0.1; days below 0: expired."""
        stem = self.directory / f"{name.replace('.', '-')}{days:+}"
        both = stem.with_suffix(".pem")
        for line in (REQUEST, SIGNATURE):
            if name.replace(".", "").isdigit():
                line = line.replace(f"DNS:{HOST}", f"IP:{name}")
            line = line.replace(HOST, name).replace("-days 365", _validity(days))
            _run(re.sub(r"\ba\.(key|csr|crt)\b", rf"{stem.name}.\1", line), self.directory)
        both.write_text(stem.with_suffix(".key").read_text() + stem.with_suffix(".crt").read_text())
        both.chmod(0o644)
        return both
