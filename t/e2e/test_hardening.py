# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The compiler and the linker have put their defences against memory errors into the installed programs."""
import platform
import re
import subprocess

import pytest
from support.instance import build, prefix

PROGRAMS = sorted(path for folder in ("bin", "sbin", "libexec/listrunner") for path in (prefix() / folder).iterdir())


def readelf(program, *options):
    return subprocess.run(["readelf", "--wide", *options, program], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module", autouse=True)
def hardened():
    asked = subprocess.run([build() / "config.status", "--config"], check=True, capture_output=True, text=True).stdout
    if "--disable-hardening" in asked or "--enable-sanitizers" in asked:
        pytest.skip("built without hardening")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_program_is_hardened(program):
    head = readelf(program, "--file-header")
    segments = readelf(program, "--program-headers")
    dynamic = readelf(program, "--dynamic")
    assert re.search(r"Type: +DYN", head) and re.search(r"FLAGS_1\).*\bPIE\b", dynamic), "no PIE"
    assert "GNU_RELRO" in segments, "relocations stay writable"
    assert re.search(r"\((BIND_NOW|FLAGS_1)\).*\bNOW\b|\(FLAGS\).*BIND_NOW", dynamic), "symbols are bound late"
    assert re.search(r"GNU_STACK.* RW +0x", segments), "the stack is executable"


def test_functions_of_the_c_library_check_sizes():
    checked = [program.name for program in PROGRAMS if re.search(r"__\w+_chk\b", readelf(program, "--dyn-syms"))]
    assert checked, "_FORTIFY_SOURCE has no effect"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_every_file_was_compiled_so(program):
    """By the compiler's own record: a program without arrays on the stack shows no other mark of the protector, and
    that of control-flow protection is lost where the C library's start files lack it."""
    wanted = ["-fstack-protector-strong", "-fstack-clash-protection"]
    wanted += ["-fcf-protection"] if platform.machine() == "x86_64" else []
    records = set(re.findall(r"DW_AT_producer .*", readelf(program, "--debug-dump=info", "--dwarf-depth=1")))
    if not records:
        pytest.skip("installed without debugging information")
    assert not [record for record in records if not all(word in record for word in wanted)]
