# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner doctor: what it finds in a sound site, and in one that is wrong in many ways, with a Postfix and name
servers of the test's own."""
import base64
import json
import os
import re
import select
import signal
import socket
import subprocess

import pytest

from support import dns, postfix
from support.instance import HOST, free_port, need, prefix, wait_until
from support.post import post

OWNER = "root@example.org"
RELAY = "mx.example.com"
# An address that is public, in a zone of the test.
ADDRESS, REVERSE = "93.184.216.34", "216.184.93.in-addr.arpa"
GOOD = {
    "example.com": f"mx A {ADDRESS}\nlists MX 10 {RELAY}.\nlists TXT \"v=spf1 mx -all\"\n"
                   "_dmarc TXT \"v=DMARC1; p=none\"\n",
    REVERSE: f"34 PTR {RELAY}.\n",
}
BAD = {
    "example.com": f"mx A {ADDRESS}\nlists MX 10 gone.example.com.\nlists TXT \"v=spf1 mx -all\"\n"
                   "lists TXT \"v=spf1 -all\"\ns1._domainkey.lists TXT \"v=DKIM1; p=\"\n",
    REVERSE: "34 PTR elsewhere.example.com.\n",
}


@pytest.fixture
def site(instances, tmp_path):
    """An instance with a Postfix that has its lines; site.examine(zones) is what doctor finds."""
    need(postfix.missing())
    ask = free_port()
    front = postfix.Postfix("doctor", {"default_transport": "error:only lists are served here"})
    instance = instances(front.port, settings={
        "site": {"site_owner": OWNER, "hostname": RELAY}, "runner.mta": {"start": "yes", "listen": f"127.0.0.1:{ask}"}})
    with open(front.config / "main.cf", "a", encoding="utf-8") as main:
        main.write(f"relay_domains = {HOST}\n"
                   f"transport_maps = inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{instance.port} }} }}\n"
                   f"relay_recipient_maps = socketmap:inet:127.0.0.1:{ask}:recipients\n")
    servers = []

    def run(*words):
        program = prefix() / "bin" / "listrunner"
        return subprocess.run([program, "-c", instance.config, "doctor", *words], capture_output=True, text=True,
                              env={**os.environ, "MAIL_CONFIG": str(front.config)}, timeout=200)

    def examine(zones, *words, code, mode=0o644, timeout=20):
        servers.append(dns.Dns(zones).start())
        instance.set({"dns": {"servers": servers[-1].server}})
        instance.config.chmod(mode)
        done = run("--json", f"--timeout={timeout}", *words)
        assert done.returncode in code, done.stdout + done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [row for row in rows if row["subject"] != "time"]  # the test has no say in the clock

    instance.examine, instance.front, instance.doctor = examine, front, run
    try:
        front.start()
        yield instance
    finally:
        front.close()
        for server in servers:
            server.stop()


def key(instance, name="s1", bits=2048):
    """Makes a key and its section; returns the line that the DNS is to have, with the record in strings as OpenSSL and
    Python make it."""
    path = instance.directory / "lib" / f"key-{name}"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-out", path],
                   check=True, capture_output=True)
    done = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True,
                          capture_output=True)
    path.chmod(0o600)
    instance.own(path)
    instance.set({f"dkim.{name}": {"domain": HOST, "key_file": path}})
    return line(name, f"v=DKIM1; k=rsa; p={base64.b64encode(done.stdout).decode()}")


def line(name, record):
    strings = " ".join(f'"{record[at:at + 255]}"' for at in range(0, len(record), 255))
    return f"{name}._domainkey.{HOST}. TXT {strings}"


def with_keys(*lines):
    return {**GOOD, "example.com": GOOD["example.com"] + "".join(f"{line}\n" for line in lines)}


def test_sound(site):
    good = with_keys(key(site))
    site.start()
    site.cli("domain", "create", HOST)
    if os.getuid() == 0:
        (site.spool / "lost+found").mkdir()  # root's, of a file system of its own
    rows = site.examine(good, code=(0, 2), timeout=100)  # all answer, however slow the machine is
    assert {row["state"] for row in rows} == {"ok"} and not any(row["mend"] for row in rows), rows
    assert {row["subject"] for row in rows} == {"configuration", "permissions", "disk", "database", "service", "mta",
                                               "dns", "probe"}
    shown = [line.split()[:2] for line in site.doctor("--no-dns", "--no-probe").stdout.splitlines()]
    assert ["ok", "service"] in shown and ["ok", "dns"] not in shown and ["ok", "probe"] not in shown, shown
    # A post that waits for a person is known to the database alone.
    address = site.create_list("held", settings=["default_nonmember_action=hold"])
    site.lmtp_send(post(to=address), address)
    wait_until(lambda: site.cli("held", "ls", "--names"), 30, "the post to be held")
    shown = site.doctor("--no-dns", "--no-probe").stdout
    assert "something waits for a person" in shown, shown
    # A mail server that is away is not one that lacks lines.
    site.front.close()
    shown = site.doctor("--no-dns", "--timeout=2").stdout
    assert "listrunner dest show relay" in shown and "listrunner setup" not in shown, shown


def test_each_fault_is_named_with_what_mends_it(site):
    right = key(site)
    site.start()
    site.cli("domain", "create", HOST)
    with open(site.front.config / "main.cf", "a", encoding="utf-8") as main:
        main.write("transport_maps =\n")
    site.front.reload()
    if os.getuid() == 0:
        (site.spool / "theirs").mkdir()
        os.chown(site.spool / "theirs", 0, 0)
        trail = site.directory / "trail"
        os.chown(trail, 0, 0)
    rows = site.examine(BAD, code=(1,), mode=0o666)
    found = {(row["subject"], row["state"]): [] for row in rows}
    for row in rows:
        found[row["subject"], row["state"]].append(f"{row['text']} | {row['mend']}")

    def has(subject, state, *words):
        texts = found.get((subject, state), [])
        assert any(all(word in text for word in words) for text in texts), (subject, state, words, rows)

    has("permissions", "fault", "anybody on this system can change", "chmod o-w")
    if os.getuid() == 0:
        has("permissions", "fault", str(site.spool / "theirs"), "chown -R")
        has("permissions", "fault", str(trail), "chown -R")
    has("mta", "warning", "postconf -e 'transport_maps = inline:", "postfix reload")
    has("dns", "fault", f"gone.example.com, the MX of {HOST}, has no address")
    has("dns", "fault", "has 2 SPF records")
    has("dns", "fault", f"s1._domainkey.{HOST} was revoked", right)
    has("dns", "warning", "no DMARC record", f"_dmarc.{HOST}. TXT")
    has("dns", "fault", ADDRESS, "does not lead back", "PTR")
    has("probe", "fault", "listrunner setup")
    # Without name server and mail the doctor finds that Listrunner does not run.
    site.stop()
    rows = site.examine(GOOD, "--no-dns", code=(1,))
    assert any(row["subject"] == "service" and "does not run" in row["text"] for row in rows), rows
    database = site.sections["store"].get("path")
    if database and os.path.exists(database):  # a check mends none that is gone
        os.rename(database, f"{database}.away")
        row, = [row for row in site.examine(GOOD, "--no-dns", code=(1,)) if row["subject"] == "database"]
        assert "listrunner store create" in row["text"] and row["mend"] is None, row
        os.rename(f"{database}.away", database)
    # A configuration that cannot be read is the only finding.
    site.config.write_text(site.config.read_text() + "nonsense\n")
    done = site.run("doctor", "--json")
    assert done.returncode == 1
    assert {json.loads(line)["subject"] for line in done.stdout.splitlines()} == {"configuration"}


def test_commands_for_several_domains_keep_each_other(site):
    """Run as they are printed, they leave Postfix with the lines of all domains."""
    more = ("lists.example.net", "lists.example.org")
    site.start()
    for domain in (HOST, *more, "own.example.net"):
        site.cli("domain", "create", domain)
    with open(site.front.config / "main.cf", "a", encoding="utf-8") as main:
        main.write("mydestination = own.example.net\n")
    rows = [row for row in site.examine(GOOD, "--no-dns", "--no-probe", code=(1,)) if row["subject"] == "mta"]
    assert [row["state"] for row in rows] == ["fault", "warning"] and "mydestination" in rows[0]["text"], rows
    subprocess.run(rows[1]["mend"].partition(" && ")[0], shell=True, check=True,
                   env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin", "MAIL_CONFIG": str(site.front.config)})
    rows = [row for row in site.examine(GOOD, "--no-dns", "--no-probe", code=(1,)) if row["subject"] == "mta"]
    assert [row["state"] for row in rows] == ["fault"], rows
    text = (site.front.config / "main.cf").read_text(encoding="utf-8")
    for domain in (HOST, *more):
        assert f"{{ {domain} = lmtp:" in text, text
    assert f"relay_domains = {HOST}, {more[0]}, {more[1]}\n" in text, text


def test_command_for_a_new_domain_has_those_before_it(site, monkeypatch):
    """So the last one that was printed is enough."""
    more = ("lists.example.net", "lists.example.org")
    monkeypatch.setenv("MAIL_CONFIG", str(site.front.config))
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
    site.create_store()
    told = [site.cli("domain", "create", domain) for domain in (HOST, *more)][-1]
    command = re.search("Postfix does not hand over its mail yet: (.*?) && ", told).group(1)
    subprocess.run(command, shell=True, check=True)
    text = (site.front.config / "main.cf").read_text(encoding="utf-8")
    for domain in (HOST, *more):
        assert f"{{ {domain} = lmtp:" in text and domain in re.search("relay_domains = (.*)", text).group(1), text


def read_all(pipe):
    """Reads what is in the pipe now, and waits for nothing."""
    octets = b""
    while select.select([pipe], [], [], 0)[0] and (more := os.read(pipe.fileno(), 65536)):
        octets += more
    return octets.decode()


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_findings_are_in_a_pipe_before_the_next_is_known(instances, words):
    """A name server takes a question and does not answer. The examination stands still from the moment at which the
    question came, so that what is in the pipe was written before."""
    instance = instances(free_port())
    instance.create_store()
    for domain in (HOST, "other.example.com"):
        instance.cli("domain", "create", domain)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(120)
        instance.set({"dns": {"servers": f"127.0.0.1:{silent.getsockname()[1]}"}})
        with subprocess.Popen([prefix() / "bin" / "listrunner", "-c", instance.config, "doctor", "--no-probe", *words],
                              stdout=subprocess.PIPE) as running:
            try:
                question = silent.recv(4096)
                running.send_signal(signal.SIGSTOP)
                shown = read_all(running.stdout)
            finally:
                running.kill()
    assert HOST.split(".")[0].encode() in question, question
    if words:
        subjects = [json.loads(line)["subject"] for line in shown.splitlines()]
    else:
        first, *lines = shown.splitlines()
        assert first.startswith(f"Examining the site of {instance.config}: ") and "then the DNS" in first, shown
        assert "probe" not in first, shown
        subjects = [line.split()[1] for line in lines if not line.startswith(" ")]
    assert {"configuration", "permissions", "disk", "database", "service"} <= set(subjects), shown


def test_no_name_server_answers(site):
    site.start()
    site.cli("domain", "create", HOST)
    rows = site.examine({"example.net": ""}, "--no-probe", code=(1, 2))
    assert any(row["subject"] == "dns" for row in rows if row["state"] != "ok"), rows


def test_keys_of_dkim_and_the_dns(site):
    """Of several keys each is looked at for itself: what the DNS has, and how long the key is."""
    right, other, gone, long_ago, tried, twice = (key(site, name) for name in (
        "right", "other", "gone", "revoked", "tried", "twice"))
    short = key(site, "short", bits=1024)
    foreign = key(site, "away")
    site.set({"dkim.away": {"domain": "example.net"}})  # of no domain here
    useless = site.directory / "lib" / "useless"
    useless.write_text("this is no key\n")
    useless.chmod(0o600)
    site.own(useless)
    site.set({"dkim.useless": {"domain": HOST, "key_file": useless}})
    site.create_store()
    site.cli("domain", "create", HOST)
    mistaken = foreign.replace("away._domainkey", "{name}._domainkey")
    zones = with_keys(right, mistaken.format(name="other"), line("revoked", "v=DKIM1; p="),
                      tried.replace('"v=DKIM1; k=rsa', '"t=y;" "v=DKIM1; k=rsa'), twice,
                      mistaken.format(name="twice"), short,
                      f"gone._domainkey.{HOST}. TXT \"v=spf1 -all\"")
    rows = [row for row in site.examine(zones, "--no-probe", code=(1,), timeout=100) if row["subject"] == "dns"]

    def of(name):
        return [(row["state"], row["text"], row["mend"]) for row in rows if f"[dkim.{name}]" in row["text"]]

    assert not of("right") and not of("away"), rows
    for name, state, words, mend in (
            ("other", "fault", "another key", other), ("gone", "fault", "no key at", gone),
            ("revoked", "fault", "was revoked", long_ago), ("tried", "warning", "t=y", tried),
            ("twice", "warning", "has 2 keys", twice), ("short", "warning", "has 1024 bits; 2048 are advised", None),
            ("useless", "fault", "signs nothing", None)):
        (found, text, given), = of(name)
        assert found == state and words in text, (name, rows)
        assert given == mend if mend else "openssl genpkey" in given, (name, rows)
    # With the lines that it gave in the zone, these are sound.
    for name in ("tried", "twice", "short", "useless"):
        site.set({f"dkim.{name}": None})
    rows = site.examine(with_keys(right, other, gone, long_ago), "--no-probe", code=(0, 1, 2), timeout=100)
    assert not [row for row in rows if row["subject"] == "dns" and row["state"] != "ok"], rows
