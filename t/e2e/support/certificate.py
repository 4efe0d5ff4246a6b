# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Certificates signed by an authority of our own, made by openssl(1)."""
import subprocess


def _openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"openssl {' '.join(map(str, words))}: {done.stdout}"


def _validity(days):
    """Words for so many days from now on, or until yesterday. OpenSSL 3.5 takes no days below 0, 3.0 no dates."""
    listed = subprocess.run(["openssl", "x509", "-help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if days > 0 or "-not_before" not in listed.stdout:
        return "-days", days
    return "-not_before", "20200101000000Z", "-not_after", "20200102000000Z"


class Authority:
    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.key, self.file = directory / "ca.key", directory / "ca.pem"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "90",
                 "-subj", "/CN=Test authority", "-keyout", self.key, "-out", self.file)

    def certify(self, name, days=60):
        """The path of a file with key and certificate for a name or 127.0.0.1; days below 0: expired."""
        stem = self.directory / f"{name.replace('.', '-')}{days:+}"
        request, extension, both = (stem.with_suffix(suffix) for suffix in (".csr", ".ext", ".pem"))
        kind = "IP" if name.replace(".", "").isdigit() else "DNS"
        extension.write_text(f"subjectAltName={kind}:{name}\n")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                 "-keyout", stem.with_suffix(".key"), "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial",
                 *_validity(days), "-extfile", extension, "-out", stem.with_suffix(".crt"))
        both.write_text(stem.with_suffix(".key").read_text() + stem.with_suffix(".crt").read_text())
        both.chmod(0o644)
        return both
