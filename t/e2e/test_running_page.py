# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The commands of doc/running.md are given as they stand there, section by section, to a site in which that has
happened which the section is about, and do what it says. Only paths and names differ."""
import re
import smtplib
import subprocess

import pytest

from support.corpus import TOP
from support.instance import prefix, wait_until
from support.limits import LimitedServer, Limits
from support.ports import free_port
from support.sink import Sink
from support.instance import tool

PAGE = (TOP / "doc" / "running.md").read_text()
SPAMMER = "spammer@example.net"


def sections():
    """{heading: [command]}"""
    found, heading = {}, None
    for line in PAGE.splitlines():
        if line.startswith("## ") or line.startswith("### "):
            heading = line.lstrip("# ")
        elif line.startswith("    "):
            found.setdefault(heading, []).append(line.strip())
    return found


class Administrator:
    """Gives the commands of a section to a site."""

    def __init__(self, instance, directory):
        self.instance, self.directory = instance, directory
        directory.chmod(0o777)
        store = instance.sections["store"].get("path")
        self.places = {"/var/backups": directory, "/var/lib/listrunner/archives": instance.archive,
                       "/etc/listrunner/listrunner.conf": instance.config, "/var/spool/listrunner": instance.spool,
                       "/srv": directory, "/var/lib/listrunner": store.parent if store else directory,
                       "-o listrunner -g listrunner": f"-o {instance.user}"}
        self.given, self.output = set(), {}

    def give(self, heading, *commands, codes=(0,), **names):
        """Give these commands of a section, or all, by their beginnings; names take the place of what stands there."""
        for command in sections()[heading]:
            if commands and not any(command.startswith(beginning) for beginning in commands):
                continue
            self.given.add((heading, command))
            self.output[command] = self.do(command, codes, names)

    def do(self, command, codes, names):
        instance = self.instance
        if command == "listrunner stop":
            assert instance.stop() == 0
            return ""
        if command == "listrunner start":
            instance.start()
            return ""
        for place, own in {**self.places, **names}.items():
            command = command.replace(place, str(own))
        shell = f'listrunner() {{ {prefix()}/bin/listrunner --config {instance.config} "$@"; }}; {command}'
        done = subprocess.run(["bash", "-c", shell], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120, cwd="/")
        assert done.returncode in codes, f"{command}: code {done.returncode}: {done.stdout}"
        return done.stdout

    def gave_all(self, heading, but=()):
        left = [command for command in sections()[heading]
                if (heading, command) not in self.given and not command.startswith(but or "\0")]
        assert not left, f"commands of {heading} that no test gives: {left}"


def post(instance, address, number, sender="poster@example.net", subject="post"):
    instance.lmtp_send(f"From: {sender}\r\nTo: {address}\r\nSubject: {subject}\r\n"
                       f"Message-ID: <{address.partition('@')[0]}.{number}@example.net>\r\n\r\nHello.\r\n".encode(),
                       address, sender=sender)


def two_lists(instance):
    return [instance.create_list(name, [f"a@{name}.example.org"]) for name in ("talk", "news")]


def got(sink):
    """Message-IDs of posts, as often as they came."""
    return sorted(mail.message_id.strip("<>") for mail in sink.transactions() if "@example.net" in mail.message_id)


def test_each_section_has_a_test():
    assert set(sections()) == {"Backup", "Restore", "One of both is left", "Upgrade", "The disk is full",
                               "The database is gone", "A relay refuses", "A spammer's night", "Moving the spool"}


@pytest.mark.sqlite
def test_backup_restore_upgrade(instances, sink, tmp_path):
    instance = instances(sink.port).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)
    post(instance, lists[0], 1)
    instance.wait_idle()
    admin.give("Backup")
    assert (tmp_path / "listrunner-1128" / "manifest").exists()
    assert list((tmp_path / "archives-1128").rglob("*")), "the archive was copied"
    post(instance, lists[1], 2)
    instance.wait_idle()
    admin.give("Restore")
    admin.gave_all("Restore")
    for address in lists:
        post(instance, address, 3)
    instance.wait_idle()
    assert got(sink) == ["news.2@example.net", "news.3@example.net", "talk.1@example.net", "talk.3@example.net"]
    assert instance.spool.with_name("spool.lost").is_dir()
    admin.give("Upgrade", "listrunner")
    admin.gave_all("Upgrade", but=("apt",))  # .ci/package-trial and etc/debian/tests install packages


@pytest.mark.sqlite
def test_one_of_both_is_left(instances, tmp_path, until_end):
    """Two posts of which nobody knows whether they were sent: one is sent, and one deleted, by their traces."""
    port = free_port()
    instance = instances(port).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)
    for address in lists:
        post(instance, address, 1)
    wait_until(lambda: len(instance.files("retry")["retry"]) == 2 and instance.files("out") == {"out": []}, 60,
               "posts to wait")
    admin.give("Backup", "listrunner")
    sink = until_end(Sink(tool("smtp-sink"), tmp_path / "sink", port=port))
    instance.try_again()
    post(instance, lists[0], 2)
    instance.wait_idle()
    assert instance.stop() == 0
    for path in (instance.spool, instance.directory / "trail"):
        path.rename(path.with_name(path.name + ".lost"))
        path.mkdir()
        instance.own(path)
    admin.give("One of both is left", "listrunner restore", codes=(1,))
    rows = instance.rows("queue", "ls", "hold")
    traces = {row["list"].partition(".")[0]: row["trace"] for row in rows}
    instance.start()
    admin.give("One of both is left", "listrunner trace", **{"027e93ddd49b": traces["talk"]})
    admin.give("One of both is left", "listrunner queue", **{"027e93ddd49b": traces["talk"],
                                                              "4ee2a1d3b7c9": traces["news"]})
    admin.gave_all("One of both is left")
    instance.try_again()
    instance.wait_idle()
    assert got(sink) == ["news.1@example.net", "talk.1@example.net", "talk.1@example.net", "talk.2@example.net"]
    assert instance.files("hold") == {"hold": []}


@pytest.mark.sqlite
def test_the_disk_is_full(instances, sink, tmp_path):
    """min_free is more than any disk has; t/e2e/test_disk_full.py fills a real one."""
    instance = instances(sink.port).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)

    def set_min_free(size):
        before = instance.pids("lmtp")
        instance.set({"spool": {"min_free": size}})
        instance.cli("reload")
        wait_until(lambda: instance.pids("lmtp") not in ([], before), 30, "another process at the door")
        instance.wait_ready()
    set_min_free("100000G")
    with pytest.raises(smtplib.SMTPException) as refused:
        post(instance, lists[0], 1)
    assert "452" in str(refused.value)
    admin.give("The disk is full", "listrunner status", codes=(2,))
    assert any("452" in text for text in admin.output.values()), admin.output
    set_min_free("1M")
    wait_until(lambda: instance.run("status").returncode == 0, 30, lambda: instance.run("status").stdout)
    admin.give("The disk is full", "df", "listrunner queue", "listrunner store")
    admin.give("The disk is full", "listrunner status")
    admin.gave_all("The disk is full")
    for address in lists:
        post(instance, address, 2)
    instance.wait_idle()
    assert got(sink) == ["news.2@example.net", "talk.2@example.net"]


@pytest.mark.sqlite
def test_the_database_is_gone(instances, sink, tmp_path):
    instance = instances(sink.port, settings={"master": {"restart_delay_max": "200ms"}}).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)
    post(instance, lists[0], 1)
    instance.wait_idle()
    admin.give("Backup", "listrunner")
    for path in instance.sections["store"]["path"].parent.glob("listrunner.db*"):
        path.unlink()
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        post(instance, lists[0], 2)
    assert refused.value.recipients[lists[0]][0] == 451
    admin.give("The database is gone", "listrunner status", codes=(1, 2))
    admin.give("The database is gone", "listrunner store check", codes=(66,))
    admin.give("The database is gone", "listrunner stop")
    admin.give("The database is gone", "listrunner restore", codes=(1,))
    admin.give("The database is gone", "listrunner start")
    admin.gave_all("The database is gone")
    for address in lists:
        post(instance, address, 3)
    instance.wait_idle()
    assert got(sink) == ["news.3@example.net", "talk.1@example.net", "talk.3@example.net"]


def test_a_relay_refuses(instances, tmp_path, until_end):
    server = until_end(LimitedServer(Limits(closed=(0, 1e9), closed_at="connect", closed_with="421 4.7.0 not today")))
    instance = instances(server.port, settings={
        "transport.relay": {"minimal_backoff_time": "1s", "maximal_backoff_time": "1s"}}).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)
    for address in lists:
        post(instance, address, 1)
    wait_until(lambda: instance.run("status").returncode == 2, 60, "status to tell of the relay")
    admin.give("A relay refuses", "listrunner status", codes=(2,))
    admin.give("A relay refuses", "listrunner dest ls", "listrunner dest show", "listrunner queue ls")
    assert "not today" in admin.output["listrunner dest show relay"]
    admin.give("A relay refuses", "listrunner queue expire", codes=(0, 1))
    admin.give("A relay refuses", "listrunner dest suspend", "listrunner dest rate")
    server.limits.closed = ()
    admin.give("A relay refuses", "listrunner dest resume", "listrunner queue requeue", codes=(0, 1))
    admin.gave_all("A relay refuses")
    instance.wait_idle()
    assert server.copies.pop("a@news.example.org", 1) == 1  # it went by that attempt, or was bounced
    server.copies.pop("poster@example.net", None)  # who is told of a post that reached nobody
    assert server.copies == {"a@talk.example.org": 1}


def test_a_spammers_night(instances, tmp_path, until_end):
    """A spam that is on its way out, one that is held, and one that comes later; what others write arrives."""
    port = free_port()
    instance = instances(port).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)
    post(instance, lists[0], 1, sender=SPAMMER)
    post(instance, lists[0], 2)
    wait_until(lambda: len(instance.files("retry")["retry"]) == 2, 60, "posts to wait")
    admin.give("A spammer's night", "listrunner list set talk@lists.example.com emergency=yes")
    post(instance, lists[0], 3, sender=SPAMMER)
    post(instance, lists[1], 3)
    wait_until(lambda: "talk.3@example.net" in instance.cli("held", "ls", "--json"), 60, "a spam to be held")
    admin.give("A spammer's night", "listrunner queue hold", codes=(0, 1))
    admin.give("A spammer's night", "listrunner queue delete", "listrunner ban", "listrunner held",
               "listrunner header-match", "listrunner list set talk@lists.example.com emergency=no")
    admin.gave_all("A spammer's night")
    assert instance.cli("held", "ls", "--json") == ""
    post(instance, lists[1], 4, sender=SPAMMER)
    post(instance, lists[1], 5, subject="Re: CHEAP watches")
    post(instance, lists[0], 6)
    sink = until_end(Sink(tool("smtp-sink"), tmp_path / "sink", port=port))
    instance.try_again()
    wait_until(lambda: "talk.6@example.net" in got(sink), 60, "the last post")
    instance.wait_idle()
    assert got(sink) == ["news.3@example.net", "talk.2@example.net", "talk.6@example.net"]


def test_moving_the_spool(instances, tmp_path, until_end):
    """Mail that waits goes out once from the new place, on the same spool."""
    port = free_port()
    instance = instances(port).start()
    lists = two_lists(instance)
    admin = Administrator(instance, tmp_path)
    for address in lists:
        post(instance, address, 1)
    wait_until(lambda: len(instance.files("retry")["retry"]) == 2 and instance.files("out") == {"out": []}, 60,
               "posts to wait")
    old, new = instance.spool, tmp_path / "listrunner-spool"
    admin.give("Moving the spool", "listrunner stop", "cp", "mv", "sed", "listrunner config", "listrunner spool")
    assert re.search(f"^directory = {new}$", instance.config.read_text(), re.MULTILINE)
    assert not old.exists() and {path.name for path in new.iterdir()} >= {".id", ".queues", "retry"}
    instance.spool = new
    sink = until_end(Sink(tool("smtp-sink"), tmp_path / "sink", port=port))
    admin.give("Moving the spool", "listrunner start")
    admin.gave_all("Moving the spool")
    instance.try_again()
    post(instance, lists[1], 2)
    instance.wait_idle()
    assert got(sink) == ["news.1@example.net", "news.2@example.net", "talk.1@example.net"]
    assert not instance.set_aside()
