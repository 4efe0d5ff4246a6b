# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A directory for tests: OpenLDAP's slapd with an mdb of its own, on loopback."""
import os
import shutil
import subprocess
from pathlib import Path

from support.instance import wait_until
from support.ports import free_port

BASE = "dc=example,dc=com"
READER = f"cn=reader,{BASE}"
MODULES = [Path("/usr/lib/ldap"), *Path("/usr/lib").glob("*-linux-gnu/ldap")]


def program(name):
    return shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")


class Slapd:
    """certificate: a file with key and certificate, for StartTLS.
    size: how many entries one search gives without pages; a page may not be larger either, since hard counts."""

    def __init__(self, directory, people, password="s3cret", size=500,
                 certificate=None):
        self.directory, self.password = Path(directory), password
        (self.directory / "db").mkdir(parents=True)
        modules = next((place for place in MODULES if list(place.glob("back_mdb*"))), None)
        self.config = self.directory / "slapd.conf"
        self.config.write_text("".join(f"include /etc/ldap/schema/{name}.schema\n"
                                       for name in ("core", "cosine", "inetorgperson")) +
                               (f"modulepath {modules}\nmoduleload back_mdb\n" if modules else "") +
                               (f"TLSCertificateFile {certificate}\nTLSCertificateKeyFile {certificate}\n"
                                if certificate else "") +
                               f"pidfile {self.directory}/pid\nargsfile {self.directory}/args\n"
                               f"database mdb\nsuffix {BASE}\nrootdn cn=root,{BASE}\nrootpw root\n"
                               f"directory {self.directory}/db\nmaxsize 1073741824\nindex objectClass eq\n"
                               f"sizelimit size.soft={size} size.hard={size} size.prtotal=unlimited\n"
                               f"access to attrs=userPassword by anonymous auth\n"
                               f"access to * by dn.exact={READER} read by * none\n")
        ldif = self.directory / "all.ldif"
        with ldif.open("w") as file:
            file.write(f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n\n"
                       f"dn: ou=people,{BASE}\nobjectClass: organizationalUnit\nou: people\n\n"
                       f"dn: {READER}\nobjectClass: person\ncn: reader\nsn: r\nuserPassword: {password}\n\n")
            for address, name in people:
                file.write(self.entry(address, name) + "\n")
        subprocess.run([program("slapadd"), "-q", "-f", self.config, "-l", ldif], check=True, timeout=300)
        self.process = None
        self.port = free_port()

    @staticmethod
    def entry(address, name):
        return (f"dn: cn={name},ou=people,{BASE}\nobjectClass: inetOrgPerson\ncn: {name}\nsn: {name}\n"
                f"mail: {address}\nmail: second-{address}\n")

    def start(self, tls=None):
        """tls: the authority of a server that wants no password in plain text."""
        self.tls = tls
        self.log = (self.directory / "log").open("ab")
        self.process = subprocess.Popen([program("slapd"), "-d", "0", "-f", self.config, "-h",
                                         f"ldap://127.0.0.1:{self.port}/"], stdout=self.log, stderr=self.log)
        wait_until(lambda: self.modify("", check=False) == 0, 60, "slapd to answer")
        return self

    def modify(self, ldif, check=True):
        """Changes entries; the exit code of ldapmodify."""
        encrypted = ["-ZZ"] if self.tls else []
        environment = {**os.environ, "LDAPTLS_CACERT": str(self.tls)} if self.tls else None
        done = subprocess.run([program("ldapmodify"), *encrypted, "-x", "-H", f"ldap://127.0.0.1:{self.port}", "-D",
                               f"cn=root,{BASE}", "-w", "root"], input=ldif, text=True, timeout=60,
                              env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert not check or done.returncode == 0, done.stdout
        return done.returncode

    def url(self, rest="?mail,cn?sub?(objectClass=inetOrgPerson)"):
        return f"ldap://127.0.0.1:{self.port}/ou=people,{BASE}{rest}"

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.process = None
