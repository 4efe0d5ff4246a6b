# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner setup and listrunner probe, with a Postfix of the test's own."""
import base64
import json
import os
import pty
import re
import socket
import subprocess

import pytest

from support import exim, postfix
from support.instance import HOST, free_port, need, prefix, wait_until

OWNER = "root@example.org"


@pytest.fixture
def front(until_end):
    """A Postfix on loopback that knows of no lists."""
    need(postfix.missing())
    made = postfix.Postfix("setup", {"default_transport": "error:only lists are served here", "max_use": "1"})
    until_end(made)
    yield made.start()


def wire(front, instance):
    """README's lines."""
    with open(front.config / "main.cf", "a", encoding="utf-8") as main:
        main.write(f"relay_domains = {HOST}\n"
                   f"transport_maps = inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{instance.port} }} }}\n")
    front.reload()


def probe(instance, *words, code):
    done = instance.run("probe", "--json", *words, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout) if done.stdout else done.stderr


def test_probe(instances, front):
    instance = instances(front.port, settings={"site": {"site_owner": OWNER}}).start()
    assert "no domain yet" in probe(instance, code=66)
    instance.cli("domain", "create", HOST)
    assert "other.example.com" in probe(instance, "other.example.com", code=66)
    # Postfix does not know where the domain's mail goes: it refuses, and says so.
    row = wait_until(lambda: (told := probe(instance, "--timeout=3", code=1))["state"] == "not handed in" and told, 60,
                     "Postfix to have refused it in time")
    trace = row["text"].partition("listrunner trace ")[2][:12]
    assert f"{trace} list=" in instance.log_text() and "only lists are served here" in instance.log_text()
    wire(front, instance)
    instance.cli("restart", "--wait=30", "out")  # its connection is with a process that knows the old lines
    row = probe(instance, code=0)
    assert row["back"] and row["domain"] == HOST
    # Nothing of it stays.
    assert instance.cli("list", "ls") .count("probe") == 0
    assert instance.cli("held", "ls", "--json") == ""
    instance.wait_idle()
    assert not instance.set_aside()
    # The copies go nowhere.
    front.close()
    row = probe(instance, "--timeout=2", code=1)
    assert row["state"] == "not sent", row


def test_probe_that_waits_inside(instances, front):
    """Mail that waits in Listrunner's own queues was neither refused nor kept by the mail server."""
    settings = {f"runner.{name}": {"start": "no"} for name in ("in", "out")}
    instance = instances(front.port, settings={"site": {"site_owner": OWNER}, **settings}).start()
    instance.cli("domain", "create", HOST)
    assert probe(instance, "--timeout=1", code=1)["state"] == "not sent"
    wire(front, instance)
    instance.set({"runner.out": {"start": "yes"}})
    instance.cli("reload")
    row = probe(instance, "--timeout=20", code=1)
    assert row["state"] == "not copied", row


# ---- setup ----

@pytest.fixture
def place(instances, front):
    """Directories of an instance that has no configuration yet, and its setup; Postfix is front."""
    instance = instances(front.port)
    instance.config.unlink()
    ports = {"lmtp": instance.port, "ask": free_port()}
    ours = {"site.user": instance.user, "spool.directory": instance.spool, "spool.min_free": "1M",
            "master.runtime_directory": instance.directory / "run",
            "master.log_file": instance.directory / "lib" / "log"}
    ours.update((f"store.{key}", value) for key, value in instance.sections["store"].items())

    def setup(*words, code=0, says="", user=None, hostname=HOST):
        command = ["setup", "--yes", f"--lmtp=127.0.0.1:{ports['lmtp']}", f"--ask=127.0.0.1:{ports['ask']}"]
        command += ["--hostname", hostname] if hostname else []
        if not any(word.startswith("--domain") for word in words):
            command += ["--domain", HOST, "--owner", OWNER]
        for key, value in ours.items():
            command += ["--set", f"{key}={value}"]
        program = prefix() / "bin" / "listrunner"
        done = subprocess.run([program, "--config", instance.config, *map(str, command), *words],
                              env={**os.environ, "MAIL_CONFIG": str(front.config)}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=200, user=user)
        assert done.returncode == code and says in done.stdout + done.stderr, \
            f"code {done.returncode}, wanted {code} and '{says}'\n{done.stdout}{done.stderr}"
        return done.stdout

    instance.setup, instance.ports, instance.ours = setup, ports, ours
    yield instance
    instance.run("stop")


def postconf(front, name):
    return subprocess.run(["/usr/sbin/postconf", "-c", front.config, "-h", name], check=True, capture_output=True,
                          text=True).stdout.strip()


def nothing_done(instance, front, before):
    assert not instance.config.exists() and not instance.status()
    assert not (instance.directory / "lib" / "listrunner.db").exists()
    assert (front.config / "main.cf").read_bytes() == before


def test_setup_twice(place, front):
    text = place.setup("--apply")
    assert "its copy came back" in text and f"MX   10 {HOST}." in text
    assert postconf(front, "relay_domains") == HOST
    assert postconf(front, "transport_maps") == f"inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{place.port} }} }}"
    assert postconf(front, "relay_recipient_maps") == f"socketmap:inet:127.0.0.1:{place.ports['ask']}:recipients"
    assert place.status()["healthy"]
    main, conf = (front.config / "main.cf").read_bytes(), place.config.read_bytes()
    # Again: all of it is there.
    text = place.setup("--apply")
    assert "stays as it is" in text and "Postfix has all its lines" in text and "its copy came back" in text
    assert (front.config / "main.cf").read_bytes() == main and place.config.read_bytes() == conf
    # A further domain beside the first, and the name of the host stays.
    text = place.setup("--apply", "--domain=more.example.com", "--owner", OWNER, hostname=None)
    assert f"more.example.com.  MX   10 {HOST}." in text
    assert postconf(front, "relay_domains") == f"{HOST}, more.example.com"
    assert place.config.read_bytes() == conf
    for domain in (HOST, "more.example.com"):
        assert json.loads(place.cli("probe", "--json", domain, timeout=120))["back"]


def test_setup_makes_a_key(place, front):
    """Mail is signed with it, and the record is that of the key; once more nothing is made."""
    text = place.setup("--apply", "--dkim")
    key, = (place.config.parent / "dkim").iterdir()
    assert key.stat().st_mode & 0o777 == 0o600 and place.config.stat().st_mode & 0o777 == 0o644
    assert os.getuid() != 0 or key.owner() == place.user
    name = re.search(r"\[dkim\.(\w+)\]\ndomain = " + HOST, place.config.read_text())[1]
    done = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], check=True,
                          capture_output=True)
    record, = re.findall(rf"^ +{name}\._domainkey\.{HOST}\. TXT (.*)$", text, re.M)
    assert f"p={base64.b64encode(done.stdout).decode()}" in record.replace('" "', ""), text
    again = place.setup("--apply", "--dkim")
    assert "is signed by a section" in again and record in again and place.config.read_text().count("[dkim.") == 1
    # A site that is there gets its key without a new configuration.
    other = place.setup("--apply", "--dkim", "--domain=more.example.com", "--owner", OWNER, hostname=None)
    assert f"{name}-2._domainkey.more.example.com. TXT" in other, other
    assert "is in order" in place.cli("config", "check") or "see the warnings" in place.cli("config", "check")
    place.wait_idle()
    assert "DKIM-Signature" not in place.log_text()
    assert "setup --dkim" in place.setup("--apply", "--domain=third.example.com", "--owner", OWNER, hostname=None)


def test_setup_prints_what_it_does_not_apply(place, front):
    before = (front.config / "main.cf").read_bytes()
    text = place.setup()
    assert f"postconf -e 'relay_domains = {HOST}'" in text and "postfix reload" in text
    assert (front.config / "main.cf").read_bytes() == before
    assert place.status()["healthy"]


def test_setup_keeps_a_configuration_of_its_own(place, front):
    before = (front.config / "main.cf").read_bytes()
    theirs = "[site]\nsite_owner = somebody@example.net\n"
    place.config.write_text(theirs)
    text = place.setup("--apply", code=78)  # it has faults where this host has no such directories
    place.config.write_text(theirs + f"user = {place.user}\n[spool]\ndirectory = {place.spool}\n[store]\n"
                            f"path = {place.directory}/lib/listrunner.db\n")
    text = place.setup("--apply", code=1, says="says otherwise")
    assert "-[site] site_owner = somebody@example.net\n+[site] site_owner = root@example.org\n" in text
    assert "[site] user" not in text
    assert place.config.read_text().startswith(theirs)
    assert not (place.directory / "lib" / "listrunner.db").exists()
    assert (front.config / "main.cf").read_bytes() == before


def test_setup_names_what_is_wrong(place, front):
    before = (front.config / "main.cf").read_bytes()
    place.setup("--domain=lists", "--owner", OWNER, code=64, says="--domain: found 'lists'")
    place.setup(f"--domain={HOST}", "--owner", f"me@{HOST}", code=64, says="in the domain of the lists")
    place.setup(f"--domain={HOST}", code=64, says="--owner is missing")
    place.setup("--mta=sendmail", code=64, says="none of postfix, exim, none")
    place.setup("--set", "verbose=yes", code=64, says="SECTION.KEY=VALUE")
    place.setup("--set", "site.nonsense=yes", code=78, says="nonsense")
    place.setup("--lmtp=no-such-host.invalid:8024", code=78, says="no-such-host.invalid")
    place.setup("--set", "transport.relay.host=no-such-host.invalid", code=78, says="no-such-host.invalid")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", place.ports["ask"]))
        taken.listen()
        place.setup(code=75, says=f"127.0.0.1:{place.ports['ask']}, [runner.mta] listen, is taken")
    nothing_done(place, front, before)
    # Postfix's settings that contradict.
    for line, says in ((f"mydestination = {HOST}", "it is in mydestination"),
                       ("relay_domains = other.example", "takes any address in them"),
                       (f"transport_maps = inline:{{ {{ {HOST} = smtp:elsewhere }} }}", "elsewhere")):
        (front.config / "main.cf").write_bytes(before + line.encode() + b"\n")
        place.setup("--apply", code=64, says=says)
        nothing_done(place, front, before + line.encode() + b"\n")


@pytest.mark.sqlite
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount file systems")
def test_no_site_yet():
    """Where no configuration is installed, every command names the one that makes it; one that was named and is not
    there is a mistake in the name."""
    folder = prefix() / "etc" / "listrunner"
    empty = ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"',
             str(folder)]
    if not folder.is_dir() or subprocess.run([*empty, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("cannot mount here")
    environment = {name: value for name, value in os.environ.items() if name != "LISTRUNNER_CONFIG"}

    def said(*words):
        done = subprocess.run([*empty, str(prefix() / "bin" / "listrunner"), *words], env=environment, check=False,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode != 0, done
        return done.stdout + done.stderr

    for words in (["status"], ["start"], ["list", "ls"], ["config", "check"], ["doctor"]):
        assert f'{folder / "listrunner.conf"}: there is no such file' in said(*words), words
        assert '"listrunner setup" makes one' in said(*words) and "does not exist" not in said(*words), words
    other = said("--config", "/no/such/file", "status")
    assert "/no/such/file: found no readable file" in other and "setup" not in other


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount file systems")
def test_setup_on_a_disk_that_is_full_or_read_only(place, front):
    before = (front.config / "main.cf").read_bytes()
    lib = place.directory / "lib"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8M", "small", lib], check=False).returncode != 0:
        pytest.skip("cannot mount here")
    try:
        place.own(lib)
        place.setup("--apply", code=75, says=f"the file system of {lib} is full")
        nothing_done(place, front, before)
        subprocess.run(["mount", "-o", "remount,ro,size=64M", lib], check=True)
        place.setup("--apply", code=75, says=f"{lib} is on a file system that is read-only")
        nothing_done(place, front, before)
        # Nobody but root may make the database: what was done before goes again.
        subprocess.run(["mount", "-o", "remount,rw,size=64M", lib], check=True)
        os.chown(lib, 0, 0)
        lib.chmod(0o755)
        place.setup("--apply", code=75, says="was removed again")
        nothing_done(place, front, before)
        place.own(lib)
        place.setup("--apply")
    finally:
        place.run("stop")
        subprocess.run(["umount", "-l", lib], check=True)


def test_setup_asks_on_a_terminal(place, front):
    """Facts that the options do not say are asked for; a wrong answer is named, and asked for again."""
    def converse(*answers):
        leader, follower = pty.openpty()
        options = ["--mta=postfix", f"--lmtp=127.0.0.1:{place.ports['lmtp']}", f"--ask=127.0.0.1:{place.ports['ask']}",
                   "--hostname", HOST, *(f"--set={key}={value}" for key, value in place.ours.items())]
        process = subprocess.Popen([prefix() / "bin" / "listrunner", "--config", place.config, "setup", *options],
                                   env={**os.environ, "MAIL_CONFIG": str(front.config)}, stdin=follower,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        os.close(follower)
        os.write(leader, "".join(f"{answer}\n" for answer in answers).encode())
        text = process.communicate(timeout=200)[0]
        os.close(leader)
        return process.returncode, text

    before = (front.config / "main.cf").read_bytes()
    code, text = converse("lists", "\x04")  # the end of the input
    assert code == 64 and "found 'lists'" in text, text
    nothing_done(place, front, before)
    # Not to touch Postfix is an answer, too.
    code, text = converse("lists", "", HOST, "nobody in particular", OWNER, "yours", "no")
    assert "nobody can be asked" not in text and "--domain: found nothing" in text, text
    assert "found 'yours'; allowed is yes or no" in text, text
    assert "found 'lists'" in text and "--owner: found 'nobody in particular'" in text, text
    assert code == 0 and "Put these lines into Postfix's configuration now?" in text, text
    assert (front.config / "main.cf").read_bytes() == before and place.status()["healthy"]
    code, text = converse(HOST, OWNER, "")
    assert code == 0 and "its copy came back" in text, text
    assert postconf(front, "relay_domains") == HOST


def test_setup_prints_what_exim_needs(instances):
    """With the printed lines in its configuration, a real Exim brings a probe back."""
    need(exim.missing())
    front = exim.Server()
    instance = instances(front.port)
    instance.config.unlink()
    maps = instance.directory / "lib" / "mta"
    wanted = {"site.user": instance.user, "spool.directory": instance.spool, "spool.min_free": "1M",
              "master.runtime_directory": instance.directory / "run",
              "master.log_file": instance.directory / "lib" / "log", "mta.maps_directory": maps,
              "transport.relay.port": front.port}
    wanted.update((f"store.{key}", value) for key, value in instance.sections["store"].items())
    command = [prefix() / "bin" / "listrunner", "--config", instance.config, "setup", "--yes", "--mta=exim",
               "--domain", HOST, "--owner", OWNER, "--hostname", HOST, f"--lmtp=127.0.0.1:{instance.port}",
               *(f"--set={key}={value}" for key, value in wanted.items())]
    path = f"{front.program.parent}:/usr/bin:/bin"
    try:
        done = subprocess.run(command, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
        blocks = re.findall(r"^(listrunner:\n(?:  .*\n)+)", done.stdout, re.M)
        assert len(blocks) == 2 and f"dc_relay_domains='{HOST}'" in done.stdout, done.stdout
        front.configure(f"tls_advertise_hosts =\nacl_smtp_rcpt = ours\nbegin acl\nours:\n  accept domains = {HOST}\n"
                        f"         endpass\n         verify = recipient\n  deny\nbegin routers\n{blocks[0]}"
                        f"begin transports\n{blocks[1]}begin retry\n* * F,1h,1m\n")
        front.start()
        row = json.loads(instance.cli("probe", "--json", timeout=120))
        assert row["back"], front.log_text()
    finally:
        instance.run("stop")
        front.close()


@pytest.mark.skipif(os.getuid() != 0, reason="nobody else can become another user")
def test_setup_by_somebody_who_may_not(place, front):
    """Postfix's configuration is root's: who may not change it learns so before anything is done."""
    before = (front.config / "main.cf").read_bytes()
    place.config = place.directory / "lib" / "listrunner.conf"
    place.setup("--apply", code=75, says=f"change Postfix's configuration in {front.config}", user=place.user)
    nothing_done(place, front, before)
