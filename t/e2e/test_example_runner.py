# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""doc/example-runner: built by pkg-config only, fed by copy_to, supervised, rescaled; its counts are exact."""
import os
import shutil
import signal
import subprocess

import pytest

from support.corpus import TOP
from support.instance import HOST, let_through, prefix, wait_until
from support.load import Load
from support.corpus import Mail
from support.post import post

MEMBERS = ["m@members.example.org"]


@pytest.fixture
def program(tmp_path_factory):
    """The example, built in a copy of its folder against the installed tree and nothing else."""
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    place = tmp_path_factory.mktemp("example")
    let_through(place)
    for name in ("count.c", "Makefile"):
        shutil.copy(TOP / "doc" / "example-runner" / name, place)
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix() / "lib" / "pkgconfig")}
    flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    # Archives built with sanitizers need their run time in whatever links them.
    symbols = subprocess.run(["nm", prefix() / "lib" / "liblistrunner.a"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    link = "-fsanitize=address,undefined" if "__asan_" in symbols.stdout else ""
    done = subprocess.run(["make", "-C", place, f"CFLAGS=-O1 -g {' '.join(flags)}", f"LDFLAGS={link}"], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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
        for pid in instance.pids("count"):
            try:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
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
