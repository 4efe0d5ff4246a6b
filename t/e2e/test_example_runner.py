# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Runners outside the tree, built by pkg-config only, fed by copy_to: the installed example, supervised and rescaled,
its counts exact; those of the documents; one that reads headers, settings and members."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.instance import HOST, let_through, prefix, wait_until
from support.load import Load
from support.outside import WARNINGS, compile_runner, environment, link_flags
from support.corpus import Mail
from support.post import post

MEMBERS = ["m@members.example.org"]


@pytest.fixture
def program(tmp_path_factory):
    """The example, built in a copy of its installed folder against the installed tree and nothing else."""
    place = tmp_path_factory.mktemp("example")
    let_through(place)
    for path in (prefix() / "share" / "listrunner" / "examples" / "runner").iterdir():
        shutil.copy(path, place)
    done = subprocess.run(["make", "-C", place, f"CFLAGS=-O1 -g {' '.join(WARNINGS)}",
                           f"LDFLAGS={' '.join(link_flags())}"], env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return place / "count"


def counts(instance):
    """{list: posts}, the sum over the instances' files."""
    result = {}
    for path in (instance.directory / "count").glob("*-of-*"):
        if path.suffix != ".new":
            word, number = path.read_text().split("\n", 1)[0].split()
            assert word == "count"
            name = path.name.rsplit(".", 1)[0]
            result[name] = result.get(name, 0) + int(number)
    return result


def test_counts_exactly_supervised_and_rescaled(instances, sink, program):
    instance = instances(sink.port)
    (instance.directory / "count").mkdir()
    instance.own(instance.directory / "count")
    instance.set({"pipeline": {"copy_to": "count"},
                  "master": {"restart_delay_min": "20ms", "restart_delay_max": "100ms"},
                  "runner.count": {"command": program, "instances": 2, "x_directory": instance.directory / "count"}})
    instance.start()
    one, two = (instance.create_list(name, MEMBERS) for name in ("one", "two"))
    assert len(instance.pids("count")) == 2
    for i in range(5):
        instance.lmtp_send(post(), two)
    mails = [Mail(f"post {i}", post(message_id=f"<count-{i}@example.net>")) for i in range(300)]
    load = Load(instance, one, mails, pause=0.005)
    load.start()
    kills = 0
    while load.is_alive() and kills < 6:
        kills += instance.kill_runner("count")
        wait_until(lambda: len(instance.pids("count")) == 2, 10, "the master to start it again")
    assert kills >= 4
    instance.set({"runner.count": {"instances": 4}})
    instance.cli("reload")
    wait_until(lambda: len(instance.pids("count")) == 4, 20, "four instances")
    load.finish(60)
    instance.wait_idle()
    assert counts(instance) == {f"one.{HOST}": len(mails), f"two.{HOST}": 5}
    assert sink.recipients() == len(mails) + 5


def test_a_setting_that_is_missing_is_named(instances, sink, program):
    instance = instances(sink.port, settings={"runner.count": {"command": program}}).start(wait=False)
    wait_until(lambda: "x_directory" in instance.log_text(), 10, "the log to name the key")
    wait_until(lambda: instance.status().get("healthy") is False, 10, "the status to say so")
    assert instance.run("status").returncode != 0


def fed(instances, sink, program, name, **keys):
    """A running site whose posts go to the program, too."""
    return instances(sink.port, settings={"pipeline": {"copy_to": name},
                                          f"runner.{name}": {"command": program, **keys}}).start()


def documented(pattern, text):
    """The C file in an installed document, as a reader would copy it."""
    return re.search(pattern, text, re.S)[1]


def test_the_runner_of_the_manual_page(instances, sink, tmp_path):
    page = (prefix() / "share" / "man" / "man7" / "listrunner-runner.7").read_text()
    source = tmp_path / "senders.c"
    source.write_text(documented(r"\.Bd[^\n]*\n(#include.*?)\.Ed", page).replace("\\e", "\\"))
    instance = fed(instances, sink, compile_runner(source, tmp_path), "senders")
    instance.lmtp_send(post(sender="anne@example.org"), instance.create_list("test", MEMBERS))
    wait_until(lambda: f"list=test.{HOST} from=anne@example.org" in instance.log_text(), 10, "its line in the log")


def test_the_runner_of_the_readme(instances, sink, tmp_path):
    text = (prefix() / "share" / "listrunner" / "doc" / "runners" / "README.md").read_text()
    source = tmp_path / "count.c"
    source.write_text(documented(r"```c\n(.*?)```", text))
    instance = fed(instances, sink, compile_runner(source, tmp_path), "count")
    address = instance.create_list("test", MEMBERS)
    for _ in range(2):
        instance.lmtp_send(post(), address)
    wait_until(lambda: f"list=test.{HOST}: post 2 since the start" in instance.log_text(), 10, "its line in the log")


def test_one_that_reads_headers_settings_and_members(instances, sink, tmp_path):
    source = Path(__file__).parent / "support" / "strangers.c"
    (tmp_path / "strangers.c").write_bytes(source.read_bytes())
    instance = fed(instances, sink, compile_runner(tmp_path / "strangers.c", tmp_path, "listrunner-store"), "strangers",
                   x_queue="strange")
    address = instance.create_list("test", MEMBERS, owner="owner@example.org", settings=["description=Rain and sun"])
    for sender in (MEMBERS[0], "stranger@example.net"):
        instance.lmtp_send(post(sender=f'"A, B" <{sender}>'), address, sender)
    wait_until(lambda: len(instance.files("strange")["strange"]) == 1, 10, "the stranger's post in its queue")
    instance.wait_idle()
    name, = instance.files("strange")["strange"]
    entry = json.loads(instance.cli("queue", "cat", "--json", name.removesuffix(".msg")))
    assert entry["meta"]["strange"] == {"from": "stranger@example.net", "list": address, "members": 1,
                                        "description": "Rain and sun", "owner": "owner@example.org"}
