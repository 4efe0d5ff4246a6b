# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mailman's own Python client against our REST interface: its manual, example by example, as Debian ships both."""
import doctest
import gzip
from pathlib import Path

import pytest

from support import rest

MANUAL = Path("/usr/share/doc/python3-mailmanclient/src/using.rst")


def manual():
    packed = MANUAL.with_suffix(".rst.gz")
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode()
    return MANUAL.read_text()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """What the manual begins with: nothing, and the archivers that Mailman has."""
    from support.instance import Instance, let_through, tool
    from support.sink import Sink
    directory = tmp_path_factory.mktemp("clients")
    let_through(directory)
    sink = Sink(tool("smtp-sink"), directory=directory / "sink")
    instance = Instance(sink.port, directory=directory / "site")
    instance.set(rest.settings(directory))
    place = instance.sections["runner.rest"]["listen"]
    instance.set({"site": {"site_owner": "changeme@example.com"}, "rest": {"base_url": f"http://{place}"},
                  "archiver.maildir": None, "archiver.mbox": None})
    instance.create_store()
    instance.start()
    yield f"http://{place}"
    instance.stop()
    instance.close()
    sink.close()


@pytest.mark.skipif(not MANUAL.exists() and not MANUAL.with_suffix(".rst.gz").exists(),
                    reason="the documents of python3-mailmanclient are not installed")
def test_the_manual_of_mailmanclient(empty):
    testing = pytest.importorskip("mailmanclient.testing.documentation")
    text = manual().replace("http://localhost:9001", empty).replace("'restpass'", repr(rest.PASSWORD))
    examples = doctest.DocTestParser().get_doctest(text, {"dump": testing.dump}, "using.rst", "using.rst", 0)
    said = []
    done = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
        examples, out=said.append)
    assert done.attempted > 300 and done.failed == 0, "".join(said)
