# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Each runner is kept to the files that its work needs: it reads no key that it does not use and writes no archive. A
probe takes the place of each of them; then the real ones work as ever. What is not kept so is told."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.instance import HOST, prefix, wait_until, write_secret
from support.outside import compile_runner
from support.post import post

RUNNERS = ("lmtp", "in", "pipeline", "virgin", "out", "bounces", "archive", "digest", "defragment", "command", "task",
           "nntp", "hooks", "rest", "web", "mta", "watch", "host", "door", "handover", "probe")
# The runners that may read each key, and those that may see the archives and write to them.
KEYS = {"dkim": {"in", "pipeline", "virgin", "out"}, "relay": {"out"}, "hook": {"hooks"}, "rest": {"rest"},
        "hyperkitty": {"archive"}, "news": {"nntp"}, "host": {"door", "handover"}, "beside": set()}
ARCHIVE_READERS, ARCHIVE_WRITERS = {"archive", "command", "web"}, {"archive"}


@pytest.fixture(scope="session", autouse=True)
def able():
    if not Path("/sys/kernel/security/lsm").exists():
        return
    if "landlock" not in Path("/sys/kernel/security/lsm").read_text():
        pytest.skip("this kernel has no Landlock")


@pytest.fixture
def probe(tmp_path):
    source = tmp_path / "probe.c"
    source.write_bytes((Path(__file__).parent / "support" / "probe.c").read_bytes())
    return compile_runner(source, tmp_path, "listrunner-store")


def probed(instance, lines):
    """{(runner, verb, path): result} of the latest start of each runner."""
    instance.probe_list.write_text("".join(f"{line}\n" for line in lines))
    pattern = re.compile(r"probe as=(\S+) does=(\S+) path=(\S+) result=(.*)")
    wanted = len(instance.probe_runners) * len(lines)
    instance.start(wait=False)

    def found():
        results = {match.groups()[:3]: match[4] for match in pattern.finditer(instance.log_text())}
        return results if len(results) == wanted else None
    return wait_until(found, 60, lambda: f"{wanted} results of probes:\n{instance.log_text()[-3000:]}")


def keep_keys(instance):
    """A file for each key, in two directories: that of the configuration, and that of the database. "beside" is named
    by no setting."""
    lib = instance.directory / "lib"
    keys = {name: (lib if name in ("rest", "beside") else instance.directory) / f"{name}.key" for name in KEYS}
    for path in keys.values():
        write_secret(path, "secret:secret\n")
    return keys


def probing(instances, sink, probe, runners):
    instance = instances(sink.port)
    keys = keep_keys(instance)
    instance.sources = instance.directory / "lib" / "sources"
    instance.sources.mkdir()
    instance.own(instance.sources)
    write_secret(instance.sources / "people", "a@example.org")
    instance.probe_list = instance.directory / "probes"
    instance.probe_runners = runners
    free = {name: {"command": probe, "start": "yes"} for name in runners}
    for name in ("rest", "web", "mta", "door"):
        free.setdefault(name, {})["listen"] = f"unix:{instance.directory}/run/{name}.sock"
    instance.set({f"runner.{name}": settings for name, settings in free.items()})
    instance.set({
        "site": {"web_url": "https://lists.example.com"},
        "runner.probe": {"x_list": instance.probe_list, "command": probe},
        "dkim.own": {"domain": HOST, "selector": "s", "key_file": keys["dkim"]},
        "transport.relay": {"auth_user": "u", "auth_password_file": keys["relay"], "auth_in_clear": "yes"},
        "hook.one": {"url": "http://127.0.0.1:1/", "secret_file": keys["hook"]},
        "rest": {"password_file": keys["rest"]},
        "host": {"certificate_file": keys["host"], "key_file": keys["host"], "authority_file": keys["host"]},
        "task": {"source_directories": instance.sources},
        "nntp": {"host": "127.0.0.1", "user": "u", "password_file": keys["news"]},
        "archiver.kitty": {"type": "hyperkitty", "url": "http://127.0.0.1:1/", "api_key_file": keys["hyperkitty"]},
    })
    for kind in ("maildir", "mbox"):
        (instance.archive / kind).mkdir()
        instance.own(instance.archive / kind)
        mail = instance.archive / kind / "mail"
        mail.write_text("private")
        instance.own(mail)
    for runner in RUNNERS:
        if runner not in runners:
            instance.set({f"runner.{runner}": {"start": "no"}})
    return instance, keys


def test_what_each_runner_may_reach(instances, sink, probe):
    instance, keys = probing(instances, sink, probe, RUNNERS)
    database = instance.sections["store"].get("path")
    archives = [instance.archive / kind / "mail" for kind in ("maildir", "mbox")]
    beside = [instance.directory / "lib" / "new", instance.archive / "new", instance.archive / "maildir" / "new"]
    # x_list, which all of them have to read, is a path of [runner.probe] alone; it lies where the others may read.
    instance.probe_list = instance.spool / "probes"
    instance.set({"runner.probe": {"x_list": instance.probe_list}})
    people = instance.sources / "people"
    lines = [f"read {path}" for path in (*keys.values(), *archives, instance.config, people, "/etc/passwd")]
    lines += [f"write {path}" for path in (*archives, *beside, people, instance.spool / "tried", "/dev/null")]
    lines += [f"write {database}"] if database else []
    results = probed(instance, lines)

    def who(verb, path):
        return {runner for (runner, done, place), result in results.items()
                if (done, place) == (verb, str(path)) and result == "done"}
    for name, path in keys.items():
        assert who("read", path) == KEYS[name], name
    for path in archives:
        assert who("read", path) == ARCHIVE_READERS, path
        assert who("write", path) == ARCHIVE_WRITERS, path
    assert who("write", beside[0]) == who("write", beside[1]) == set()
    assert who("write", beside[2]) == ARCHIVE_WRITERS
    assert who("read", instance.config) == who("write", people) == set()
    assert who("read", people) == {"task"}
    for line in (("read", "/etc/passwd"), ("write", instance.spool / "tried"), ("write", "/dev/null")):
        assert who(*line) == set(RUNNERS), line
    assert not database or who("write", database) == set(RUNNERS)
    assert set(results.values()) == {"done", "refused"}


def test_where_a_database_sorts(instances, sink, probe, tmp_path, monkeypatch):
    """SQLite may write the files that it needs to sort, as it does for an archive's index, whichever database the site
    has, and whatever TMPDIR the master was started with."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    instance, _ = probing(instances, sink, probe, ("archive", "probe"))
    instance.probe_list = instance.spool / "probes"
    instance.set({"runner.probe": {"x_list": instance.probe_list}})
    results = probed(instance, [f"write {tmp_path}/new", "sort :memory:"])
    assert {(verb, result) for (_, verb, _), result in results.items()} == {("write", "refused"), ("sort", "done")}


def test_without_it_all_of_it_is_reached(instances, sink, probe):
    """So that the test above shows what Landlock does, and not the owners of files."""
    instance, keys = probing(instances, sink, probe, ("lmtp", "probe"))
    instance.set({"master": {"confine": "no"}})
    lines = [f"read {keys['dkim']}", f"write {instance.archive / 'maildir' / 'mail'}", "run /usr/bin/true"]
    results = probed(instance, lines)
    assert len(results) == 6 and set(results.values()) == {"done"}
    assert "No runner is kept to its files, because of [master] confine." in instance.run("status").stdout


def test_one_runner_left_free(instances, sink, probe):
    instance, keys = probing(instances, sink, probe, ("lmtp", "bounces", "probe"))
    instance.set({"runner.probe": {"confine": "no"}})
    instance.probe_list = instance.spool / "probes"
    instance.set({"runner.probe": {"x_list": instance.probe_list}})
    results = probed(instance, [f"read {keys['dkim']}", "run /usr/bin/true"])
    assert {who for (who, *_), result in results.items() if result == "done"} == {"probe"}
    assert "The runner probe is not kept to its files, because of [runner.probe] confine." in \
        instance.run("status").stdout


# The master and all below it see another /etc.
PRIVATE_ETC = ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"']


def test_name_servers_behind_a_link(instances, sink, probe):
    """Where the file is a link out of /etc, as on SUSE, what it leads to is read, also when it is replaced: so is what
    lies beside it, and nothing else."""
    if os.getuid() != 0:
        pytest.skip("a private mount namespace is needed, which only root may make")
    instance, _ = probing(instances, sink, probe, ("in", "probe"))
    instance.probe_list = instance.spool / "probes"
    instance.set({"runner.probe": {"x_list": instance.probe_list}})
    etc, real = instance.directory / "etc", instance.directory / "netconfig" / "resolv.conf"
    subprocess.run(["cp", "-a", "/etc", etc], check=True)
    real.parent.mkdir()
    new, beside = real.with_name("new.conf"), instance.directory / "beside.conf"
    for path in (real, new, beside):
        path.write_text("nameserver 127.0.0.1\n")
    (etc / "resolv.conf").unlink()
    (etc / "resolv.conf").symlink_to(real)
    instance.wrapper = [*PRIVATE_ETC, etc]
    results = probed(instance, ["read /etc/resolv.conf", f"read {new}", f"read {beside}"])
    assert {who for (who, _, path), result in results.items() if result == "done"} == {"in", "probe"}
    assert {path for (_, _, path), result in results.items() if result == "done"} == {"/etc/resolv.conf", str(new)}


def test_a_file_of_a_setting_that_is_replaced(instances, sink, probe):
    instance, keys = probing(instances, sink, probe, ("probe",))
    held = instance.directory / "held"
    held.write_text("one")
    instance.own(held)
    instance.set({"runner.probe": {"x_held": held}, "master": {"heartbeat_interval": "100ms"}})
    line = f"write {held}"
    assert probed(instance, [line]) == {("probe", "write", str(held)): "done"}
    new = instance.directory / "held.new"
    new.write_text("two")
    instance.own(new)
    new.replace(held)
    wait_until(lambda: f"{held} is another file now" in instance.log_text(), 30, "the probe to see it")
    tried = f"does=write path={held} result=done"
    wait_until(lambda: instance.log_text().count(tried) == 2, 30, "the probe to write to the new one")
    instance.wait_ready()
    log = instance.log_text()
    child, = [child for group in instance.status()["runners"] if group["runner"] == "probe"
              for child in group["children"]]
    assert re.search(rf"probe\[0\]: left to be started anew, pid=\d+: {re.escape(str(held))} is another file", log)
    assert "died" not in log and (child["restarts"], child["renewals"]) == (0, 1), child
    assert child["last_exit"].startswith("started anew: ")
    metrics = instance.run("metrics").stdout
    assert re.search(r'listrunner_renewals_total\{runner="probe",instance="0"\} 1', metrics)
    assert re.search(r'listrunner_restarts_total\{runner="probe",instance="0"\} 0', metrics)


def confined(instance):
    """The runners whose processes are restricted: those notice that the directory of templates is another one."""
    texts = Path(instance.sections["site"]["template_directory"])
    texts.rename(texts.with_suffix(".old"))
    shutil.copytree(texts.with_suffix(".old"), texts)

    def found():
        told = re.findall(rf" (\w+)\[\d+\]: {re.escape(str(texts))} is another file now", instance.log_text())
        return set(told)
    return found


def with_texts(instance):
    texts = instance.directory / "texts"
    shutil.copytree(prefix() / "share" / "listrunner" / "templates", texts)
    instance.set({"site": {"template_directory": texts}})


def test_the_real_ones(instances, sink):
    """All processes are restricted, and posts reach members and archives."""
    instance = instances(sink.port, settings={"site": {"web_url": "https://lists.example.com"},
                                              "runner.mta": {"start": "yes"}})
    for name in ("web", "mta"):
        instance.set({f"runner.{name}": {"listen": f"unix:{instance.directory}/run/{name}.sock"}})
    with_texts(instance)
    instance.start()
    names = {group["runner"] for group in instance.status()["runners"]}
    assert {"lmtp", "in", "out", "archive", "web", "mta"} <= names
    found = confined(instance)
    wait_until(lambda: found() == names, 60, lambda: f"{names - found()} to notice it")
    instance.wait_ready()
    address = instance.create_list("test", ["a@members.example.org", "b@members.example.org"])
    instance.lmtp_send(post(), address)
    wait_until(lambda: sink.recipients() == 2, 30, "both members to get it")
    instance.wait_idle()
    assert list((instance.archive / "maildir").rglob("new/*")) and list((instance.archive / "mbox").glob("*.mbox"))
    assert "not kept to" not in instance.run("status").stdout + instance.log_text()


def test_external_programs_leave_their_runners_free(instances, sink, tmp_path):
    program = tmp_path / "scan"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    instance = instances(sink.port, settings={"external.scan": {"command": program}, "rules": {"external": "scan"}})
    with_texts(instance)
    instance.start()
    said = instance.run("status").stdout
    for name in ("in", "pipeline"):
        line = f"The runner {name} is not kept to its files, because of [external.scan] command."
        assert line in said and line in instance.run("doctor", "--no-dns", "--no-probe").stdout
    names = {group["runner"] for group in instance.status()["runners"]}
    found = confined(instance)
    wait_until(lambda: names - found() == {"in", "pipeline"}, 60, lambda: f"{names - found()} to notice it")


def test_a_kernel_without_landlock(instances, sink):
    instance = instances(sink.port)
    instance.wrapper = [sys.executable, str(Path(__file__).parent / "support" / "without_landlock.py")]
    instance.start()
    instance.lmtp_send(post(), instance.create_list("test", ["a@members.example.org"]))
    wait_until(lambda: sink.recipients() == 1, 30, "the member to get it")
    assert instance.log_text().count("no runner can be kept to its files") == 1
    sentence = "No runner is kept to its files by the kernel: it was built without Landlock."
    assert sentence in instance.run("status").stdout
    assert sentence in instance.run("doctor", "--no-dns", "--no-probe").stdout
    assert instance.status()["healthy"]


def test_a_wrong_value_is_refused(instances, sink):
    for section in ("master", "runner.in"):
        instance = instances(sink.port, settings={section: {"confine": "perhaps"}})
        done = instance.run("config", "check")
        assert done.returncode != 0 and f"[{section}] confine: found \"perhaps\"; allowed is yes" in done.stderr
