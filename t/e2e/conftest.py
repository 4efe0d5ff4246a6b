# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Fixtures of the end-to-end tests. Environment: LISTRUNNER_PREFIX, an installed Listrunner (default
build/install); LISTRUNNER_BUILD, its build directory, for t/tools (default: the prefix's parent).

Tests of a file may share what takes long to make, and yet each runs alone and in any order. --order=reversed turns the
tests of each file round, and --order=NUMBER shuffles them, always in the same way for the same number.

--limit=SECONDS says how long the setup of a test may take at most, and its call, and its teardown.

--turn=hour:SECONDS and --turn=day:SECONDS move the clock of the programs, so that an hour or a day (UTC) begins so many
seconds after each test does. The clock of the test itself stays, so those that compare the two may fail."""
import contextlib
import faulthandler
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = not sys.pycache_prefix  # nothing is written beside the tests

from support import corpus, mariadb, page_check, pages, postgresql  # noqa: E402
from support.clock import DAY, HOUR, Clock, turn_soon  # noqa: E402
from support.instance import Instance, let_through, prefix, service_user, tool  # noqa: E402
from support.sink import Sink  # noqa: E402

LIMIT, LONG_LIMIT = 1200, 3600  # seconds; the second one for tests that are known to take minutes


pages.checks.append(page_check.check_page)


def turn(word):
    period, _, seconds = word.partition(":")
    return {"hour": HOUR, "day": DAY}[period], int(seconds)


def pytest_addoption(parser):
    parser.addoption("--turn", type=turn, metavar="hour|day:SECONDS", help="let an hour or a day begin in each test")
    parser.addoption("--limit", type=float, metavar="SECONDS", help="how long each part of a test may take at most")
    parser.addoption("--order", type=lambda word: word if word == "reversed" else int(word), metavar="reversed|NUMBER",
                     help="run the tests of each file in another order")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.real_stderr = os.dup(2)  # which pytest takes away while a test runs
    # Not pytest's own place, /tmp/pytest-of-USER: whoever starts pytest there closes it to the service's user again.
    if not config.option.basetemp:
        config.option.basetemp = tempfile.mkdtemp(prefix="listrunner-e2e-")
    config.addinivalue_line("markers", "corpus: runs over more mail when LISTRUNNER_CORPUS names some")
    config.addinivalue_line("markers", "main: one of the main ways, which the short check takes (t/check)")
    config.addinivalue_line("markers", "sqlite: looks into the file of SQLite, breaks it or locks it")
    config.addinivalue_line("markers", "proof: takes minutes, so it runs only with LISTRUNNER_THOROUGH or by its name")
    missing = [str(path) for path in (prefix() / "sbin" / "listrunner-master", prefix() / "bin" / "listrunner",
                                      tool("smtp-sink"))
               if not path.exists()]
    if missing:
        raise pytest.UsageError(f"not there: {', '.join(missing)}; "
                                "run ./bootstrap build, or set LISTRUNNER_PREFIX and LISTRUNNER_BUILD")
    if os.getuid() == 0 and service_user() == "root":
        raise pytest.UsageError(f"root's tests run Listrunner as nobody, who may not enter what is above {prefix()}; "
                                f"run them by t/tools/reachable {prefix().parent} COMMAND...")


def pytest_sessionfinish(session, exitstatus):
    """Remove what tests left; when one failed it is for people to look at."""
    if exitstatus == 0 and not hasattr(session.config, "workerinput"):
        shutil.rmtree(session.config.option.basetemp, ignore_errors=True)


def reorder(items, order):
    """Within each file, so that what its tests share is still made once."""
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    for path, tests in files.items():
        if order == "reversed":
            tests.reverse()
        else:
            random.Random(f"{order} {path.name}").shuffle(tests)
    items[:] = [item for tests in files.values() for item in tests]


def pytest_collection_modifyitems(config, items):
    if config.option.order is not None:
        reorder(items, config.option.order)
    for item in items:
        if {"list_mails", "mime_mails"} & set(item.fixturenames):
            item.add_marker("corpus")
    if os.environ.get("LISTRUNNER_STORE", "sqlite") != "sqlite":
        for item in items:
            if item.get_closest_marker("sqlite"):
                item.add_marker(pytest.mark.skip(reason="it is about SQLite"))
    named = config.option.keyword or any(".py" in word for word in config.args)
    if not os.environ.get("LISTRUNNER_THOROUGH") and not named:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("proof")])
        items[:] = [item for item in items if not item.get_closest_marker("proof")]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if item.config.option.turn is not None:
        turn_soon(*item.config.option.turn)


@contextlib.contextmanager
def limit(item):
    """A part of a test that takes too long fails where it waits, and so does what waits on after it. One that no signal
    ends, because a library retries its call, ends the process, which xdist starts anew; so does each in a process of
    xdist that runs its tests in another thread than the first, which no signal reaches. pytest-timeout has one limit
    for all parts of a test: once it has passed, the teardown may wait for ever."""
    slow = item.get_closest_marker("proof") or item.get_closest_marker("corpus")
    seconds = item.config.option.limit or (LONG_LIMIT if slow else LIMIT)
    signalled = threading.current_thread() is threading.main_thread()

    def too_long(*_):
        pytest.fail(f"took longer than {seconds:g} s")
    if signalled:
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds / 10, 1))
    faulthandler.dump_traceback_later(3 * seconds if signalled else seconds, exit=True, file=item.config.real_stderr)
    try:
        yield
    finally:
        if signalled:
            signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    with limit(item):
        yield


pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    setattr(item, f"report_{call.when}", outcome.get_result())


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
def until_end():
    """until_end(thing) returns it, and closes or else stops it when the test has ended; the last one first."""
    with contextlib.ExitStack() as stack:
        def keep(thing):
            stack.callback(getattr(thing, "close", None) or thing.stop)
            return thing
        yield keep


@pytest.fixture
def sinks(tmp_path, until_end):
    """Makes sinks: sinks(faults=[...])."""
    numbers = itertools.count()
    return lambda **options: until_end(Sink(tool("smtp-sink"), directory=tmp_path / f"sink{next(numbers)}", **options))


@pytest.fixture
def clock(tmp_path, monkeypatch):
    """Of the instances that are started in this test; to be named before what starts them."""
    let_through(tmp_path)
    monkeypatch.setenv("LISTRUNNER_CLOCK_FILE", str(tmp_path / "clock"))
    return Clock(tmp_path / "clock")


@pytest.fixture
def instance(instances, sink):
    """A started instance whose relay is the sink."""
    return instances(sink.port).start()


@pytest.fixture
def empty(instances, sink):
    """An instance with a store, not started."""
    made = instances(sink.port)
    made.create_store()
    return made


@pytest.fixture(scope="module")
def server():
    """A server of PostgreSQL for the tests of a file."""
    if not postgresql.programs():
        pytest.skip("PostgreSQL's server is missing")
    made = postgresql.Server()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def mysql():
    """A server of MariaDB for the tests of a file."""
    if mariadb.missing():
        pytest.skip(mariadb.missing())
    made = mariadb.Server()
    yield made
    made.remove()


@pytest.fixture(scope="session")
def list_mails():
    return corpus.lists()


@pytest.fixture(scope="session")
def mime_mails():
    return corpus.mime()
