# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Fixtures of the end-to-end tests. Environment: LISTRUNNER_PREFIX, an installed Listrunner (default
build/install); LISTRUNNER_BUILD, its build directory, for t/tools (default: the prefix's parent)."""
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True

from support import corpus  # noqa: E402
from support.instance import Instance, prefix, tool  # noqa: E402
from support.sink import Sink  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "corpus: runs over more mail when LISTRUNNER_CORPUS names some")
    missing = [str(path) for path in (prefix() / "sbin" / "listrunner-master", prefix() / "bin" / "listrunner",
                                      tool("smtp-sink"))
               if not path.exists()]
    if missing:
        raise pytest.UsageError(f"not there: {', '.join(missing)}; "
                                "run ./bootstrap build, or set LISTRUNNER_PREFIX and LISTRUNNER_BUILD")


def pytest_collection_modifyitems(items):
    for item in items:
        if {"list_mails", "mime_mails"} & set(item.fixturenames):
            item.add_marker("corpus")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    setattr(item, f"report_{call.when}", outcome.get_result())


@pytest.fixture
def sinks(tmp_path):
    """Makes sinks: sinks(faults=[...]); all are ended at the end."""
    made = []

    def make(**options):
        made.append(Sink(tool("smtp-sink"), directory=tmp_path / f"sink{len(made)}", **options))
        return made[-1]
    yield make
    for sink in made:
        sink.stop()


@pytest.fixture
def sink(sinks):
    return sinks()


@pytest.fixture
def instances(request, tmp_path_factory):
    """Makes instances, not started; all are ended at the end, and their logs shown when the test failed."""
    made = []

    def make(sink_port, **options):
        directory = tmp_path_factory.mktemp("listrunner")
        made.append(Instance(sink_port, directory=directory, **options))
        return made[-1]
    yield make
    failed = getattr(request.node, "report_call", None) is not None and request.node.report_call.failed
    for instance in made:
        instance.close()
        if failed:
            print(f"---- log of {instance.directory} (its end) ----\n{instance.log_text()[-8000:]}")
        shutil.rmtree(instance.directory / "archive", ignore_errors=True)


@pytest.fixture
def instance(instances, sink):
    """A started instance whose relay is the sink."""
    return instances(sink.port).start()


@pytest.fixture(scope="session")
def list_mails():
    return corpus.lists()


@pytest.fixture(scope="session")
def mime_mails():
    return corpus.mime()
