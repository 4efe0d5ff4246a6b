# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mailman's own clients against our REST interface: the manual of mailmanclient example by example, its tests, and
those of Postorius, all as Debian ships them."""
import doctest
import gzip
from pathlib import Path

import pytest

from support import clients

MANUAL = Path("/usr/share/doc/python3-mailmanclient/src/using.rst")
PACKED = MANUAL.with_suffix(".rst.gz")


@pytest.fixture
def site(tmp_path, until_end):
    return until_end(clients.EmptySite(tmp_path))


@pytest.mark.skipif(not MANUAL.exists() and not PACKED.exists(), reason="this machine installs no /usr/share/doc")
def test_manual_of_mailmanclient(site):
    testing = pytest.importorskip("mailmanclient.testing.documentation")
    text = gzip.decompress(PACKED.read_bytes()).decode() if PACKED.exists() else MANUAL.read_text()
    examples = doctest.DocTestParser().get_doctest(site.localised(text), {"dump": testing.dump}, MANUAL.name, None, 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    done = runner.run(examples, out=said.append)
    assert done.attempted > 300 and done.failed == 0, "".join(said)


def test_mailmanclient(site, tmp_path):
    suite = (clients.PACKAGES / "mailmanclient/tests").glob("test_*.py")
    passed, failed = clients.run_suite(site, tmp_path / "suite", suite)
    assert not failed and passed > 30


@pytest.mark.proof
def test_postorius(site, tmp_path):
    clients.write_django(tmp_path)
    passed, failed = clients.run_suite(
        site, tmp_path / "suite", (clients.PACKAGES / "postorius/tests/mailman_api_tests").glob("test_*.py"),
        ["--nomigrations", "--ds=site_settings", f"--rootdir={tmp_path}", "-o", f"pythonpath={tmp_path}"], "class")
    assert not failed and passed > 250
