# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Share among the tests of the command line a site in a temporary directory, and TAP."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

TOP = pathlib.Path(os.environ.get("top_srcdir", pathlib.Path(__file__).resolve().parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("top_builddir", ".")).resolve()
TOOL = str(BUILD / "listrunner")
# Where mail to test with is: what make-mail made, and what LISTRUNNER_CORPUS names.
CORPORA = [BUILD / "t" / "made-mail", *map(pathlib.Path, filter(None, [os.environ.get("LISTRUNNER_CORPUS")]))]

OK, NOT_SO, NOT_RUNNING, USAGE, MISSING, LATER, CONFIG = 0, 1, 3, 64, 66, 75, 78


class Skip(Exception):
    pass


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.raw = done.stdout
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    def rows(self):
        """The output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Site:
    """A configuration, an empty spool and an empty database."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="listrunner-cli-"))
        self.spool = self.path / "spool"
        self.spool.mkdir()
        self.database = self.path / "listrunner.db"
        self.config = self.path / "listrunner.conf"
        self.config.write_text(
            f"[site]\nhostname = lists.example.com\nuser = {user_name()}\n"
            f"[spool]\ndirectory = {self.spool}\n[store]\npath = {self.database}\n"
        )

        self.run("store", "create")

    def run(self, *words, data=b"", code=OK, says=None):
        """Runs a verb; the exit code must be `code`, and standard error hold `says`."""
        done = subprocess.run(
            [TOOL, "-c", str(self.config), *map(os.fspath, words)], input=data, capture_output=True, check=False
        )
        result = Result(done)
        shown = f"listrunner {words}: code {result.code}\nout: {result.out}\nerr: {result.err}"
        assert code is None or result.code == code, f"code {code} is wanted\n{shown}"
        assert says is None or says in result.err, f"'{says}' is wanted on standard error\n{shown}"
        assert code != OK or says is not None or result.err == "", f"standard error must be empty\n{shown}"
        return result

    def run_as_nobody(self, *words):
        """Runs a verb as the user nobody; what subprocess.run() says of it, as text. Root alone can. The program is a
        copy, because only its owner may be allowed to enter the directories above the build."""
        program = shutil.copy2(TOOL, self.path / "as-nobody")
        return subprocess.run([program, "-c", self.config, *words], user="nobody", group="nogroup", extra_groups=[],
                              capture_output=True, text=True, check=False)

    def entries(self, queue, suffix=".msg"):
        return sorted(path for path in (self.spool / queue).glob("*" + suffix))

    def message(self, queue, name):
        """The message octets of a ready entry, by the lengths in its first line (switchboard/entry.h)."""
        octets = (self.spool / queue / (name + ".msg")).read_bytes()
        head, rest = octets.split(b"\n", 1)
        meta, recipients, length = (int(digits) for digits in head.split()[2:5])
        return rest[meta + recipients:meta + recipients + length]


def read_terminal(leader, follower):
    """Return all that the programs write which have the follower, to the end of the last; close both."""
    os.close(follower)
    seen = b""
    try:
        while chunk := os.read(leader, 4096):
            seen += chunk
    except OSError:  # how Linux tells the end of a terminal
        pass
    os.close(leader)
    return seen


def on_terminal(*words):
    """Run a command on a terminal, and return the text that it writes there."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen([TOOL, *map(os.fspath, words)], stdout=follower)
    seen = read_terminal(leader, follower)
    assert process.wait() == OK, seen
    return seen.replace(b"\r\n", b"\n")  # which the terminal adds


def user_name():
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name


def tool(*words, code=OK):
    done = Result(subprocess.run([TOOL, *words], capture_output=True, check=False))
    assert done.code == code, f"listrunner {words}: {done.code}, {code} is wanted\n{done.out}{done.err}"
    return done


def main(tests):
    """Runs the functions of a module whose names begin with test_, each with a site of its own."""
    chosen = [(name, test) for name, test in tests.items() if name.startswith("test_")]
    print(f"1..{len(chosen)}")
    failed = 0
    for number, (name, test) in enumerate(chosen, 1):
        site = Site()
        label = f"{number} - {name[5:].replace('_', ' ')}"
        try:
            test(site)
            print(f"ok {label}", flush=True)
        except Skip as reason:
            print(f"ok {label} # SKIP {reason}", flush=True)
        except Exception:  # whatever it was, the test has failed and the next one is run
            failed += 1
            print(f"not ok {label}")
            print("".join("# " + line for line in traceback.format_exc().splitlines(True)), flush=True)
        finally:
            shutil.rmtree(site.path, ignore_errors=True)
    sys.exit(1 if failed else 0)
