# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Entries that crash their runner: the others pass them, and after three crashes they are set aside."""
import subprocess
import time

import pytest

from support.instance import TOP, prefix, wait_until
from support.outside import compile_runner
from support.post import post

# The delays of a real site.
DELAYS = {"restart_delay_min": "1s", "restart_delay_max": "1m"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    place = tmp_path_factory.mktemp("poison")
    return compile_runner(TOP / "t" / "e2e" / "support" / "poison.c", place)


@pytest.fixture
def site(instances, sink, program):
    """A site whose posts go to the runner, too; it does not run yet."""
    instance = instances(sink.port, settings={
        "pipeline": {"copy_to": "poison"}, "master": DELAYS,
        "runner.poison": {"command": program, "start": "no"}}).start()
    instance.address = instance.create_list("test", ["m@members.example.org"])
    return instance


def send(site, subjects):
    client = site.lmtp()
    for subject in subjects:
        site.lmtp_send(post(subject=subject), site.address, client=client)
    site.wait_idle()
    wait_until(lambda: len(site.files("poison")["poison"]) == len(subjects), 10, "the posts to reach its queue")


def through(site):
    return len(site.files("handled")["handled"])


def preserved(site):
    return [name for name in site.files("poison")["poison"] if name.endswith(".psv")]


def run(site):
    site.set({"runner.poison": {"start": "yes"}})
    site.cli("reload")
    return time.monotonic()


def test_others_pass_it(site):
    send(site, ["poison"] + ["good"] * 100)
    begun = run(site)
    wait_until(lambda: through(site) == 100, 5, lambda: f"100 good posts, there are {through(site)}", step=0.01)
    passed = time.monotonic() - begun
    assert not preserved(site), "they waited until the poison was set aside"
    wait_until(lambda: len(preserved(site)) == 1, 20, "the poison to be set aside")
    aside = time.monotonic() - begun
    print(f"\n100 good ones after {passed:.2f} s, the poison aside after {aside:.2f} s")
    assert len(site.files("poison")["poison"]) == 1
    assert "crashed its runner 3 times" in site.log_text()

    # Put back by a person it does the same once more, and holds up nobody either.
    name, = preserved(site)
    site.cli("shunt", "retry", name.removesuffix(".psv"))
    early = []
    for _ in range(5):
        before = through(site)
        site.lmtp_send(post(subject="good"), site.address)
        wait_until(lambda: through(site) == before + 1, 10, "a good post to pass", step=0.01)
        early.append(not preserved(site))
    assert any(early), "all waited until the poison was set aside"
    wait_until(lambda: len(preserved(site)) == 1, 20, "the poison to be set aside again")


def test_several_among_others(site):
    subjects = ["good"] * 60
    for place in (0, 20, 40):
        subjects[place] = "poison"
    send(site, subjects)
    begun = run(site)
    wait_until(lambda: through(site) == 57, 30, lambda: f"57 good posts, there are {through(site)}", step=0.01)
    print(f"\n57 good ones after {time.monotonic() - begun:.2f} s")
    wait_until(lambda: len(preserved(site)) == 3, 60, "the poison to be set aside")
    assert through(site) == 57
    print(f"the poison aside after {time.monotonic() - begun:.2f} s")


EIGHT_BITS = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]


@pytest.fixture
def deadly(tmp_path):
    """A library that makes programs die of a text with X-Poison in it when they write it in base64."""
    library = tmp_path / "poison_encode.so"
    source = TOP / "t" / "e2e" / "support" / "poison_encode.c"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", source, "-o", library, *flags], check=True)
    return library


def test_the_last_runner_names_what_it_works_on(instances, sinks, deadly):
    """`out` has many entries in hand. One that kills it while a copy is made for a server that takes 7 bits is set
    aside, and the others go."""
    narrow = sinks(options=["--without", "8BITMIME"])
    instance = instances(narrow.port, settings={"master": {"restart_delay_min": "10ms", "restart_delay_max": "20ms"}})
    library = instance.directory / deadly.name
    library.write_bytes(deadly.read_bytes())
    library.chmod(0o755)
    script = instance.directory / "deadly-out"
    script.write_text(f"#!/bin/sh\nLD_PRELOAD={library} exec {prefix()}/libexec/listrunner/out \"$@\"\n")
    script.chmod(0o755)
    instance.set({"runner.out": {"command": script, "start": "no"}})
    instance.start()
    address = instance.create_list("test", ["m@members.example.org"])
    client = instance.lmtp()
    for number in range(20):
        if number in (0, 10):
            instance.lmtp_send(post(extra=EIGHT_BITS, body="X-Poison \u00fc\u00fc\n"), address, client=client)
        instance.lmtp_send(post(extra=EIGHT_BITS, body="\u00fc\n"), address, client=client)
    wait_until(lambda: len(instance.files("out")["out"]) == 22, 20, "the posts to reach out")
    instance.set({"runner.out": {"start": "yes"}})
    instance.cli("reload")
    wait_until(lambda: len(instance.set_aside()) == 2, 40,
               lambda: f"two posts set aside\n{instance.log_text()[-2000:]}")
    instance.wait_idle()
    assert len({copy.message_id for copy in narrow.transactions()}) == 20
    assert instance.log_text().count("crashed its runner 3 times") == 2
