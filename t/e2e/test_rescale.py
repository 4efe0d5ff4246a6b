# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Instances of every queue runner go 1, 4, 2 by reload while mail flows: nothing lost, nothing twice."""
import pytest

from support import corpus
from support.instance import wait_until
from support.load import Load, missing_and_repeats

pytestmark = pytest.mark.main

MEMBERS = [f"m{i}@members.example.org" for i in range(10)]
RUNNERS = ("in", "pipeline", "out", "archive")


def rescale(instance, count):
    instance.set({f"runner.{name}": {"instances": count} for name in RUNNERS})
    instance.cli("reload")

    def there():
        groups = {group["runner"]: group for group in instance.status()["runners"]}
        return all(len([c for c in groups[name]["children"]
                        if c["state"] == "ready"]) == count == groups[name]["instances"]
                   for name in RUNNERS)
    wait_until(there, 20, lambda: f"{count} instances of each: {instance.status()}")


def test_1_4_2_under_load(instances, sinks, list_mails):
    sink = sinks(options=["--latency", "2"])
    instance = instances(sink.port).start()
    address = instance.create_list("test", MEMBERS)
    mails = corpus.distinct(500, 1000)
    load = Load(instance, address, mails, pause=0.03)  # so that it lasts, however long a reload takes
    load.start()
    moments = []
    for count in (4, 2, 1, 4, 2):
        if len(moments) == 3:
            load.pause = 0
        before = len(load.accepted)
        wait_until(lambda: len(load.accepted) >= before + 40 or not load.is_alive(), 30, "mail to flow")
        moments.append(len(load.accepted))
        rescale(instance, count)
    load.finish(60)
    assert moments[2] < len(mails), f"the load ended before the rescaling: {moments}"
    instance.wait_idle()
    missing, repeats = missing_and_repeats(sink.copies().elements(), mails, MEMBERS)
    assert not missing and not repeats, (missing[:3], repeats)
    assert load.retries == 0, "the door stays open"
    assert len(list((instance.archive / "maildir").glob("*/new/*"))) == len(mails)


def test_refused_count_leaves_all_as_it_was(instance):
    before = {group["runner"]: [child["pid"] for child in group["children"]] for group in instance.status()["runners"]}
    instance.set({"runner.in": {"instances": 3}})
    refused = instance.run("reload")
    assert refused.returncode != 0
    assert "instances" in refused.stderr and "3" in refused.stderr and "4" in refused.stderr, refused.stderr
    after = {group["runner"]: [child["pid"] for child in group["children"]] for group in instance.status()["runners"]}
    assert after == before
