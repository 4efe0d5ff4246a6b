# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A site with a real master and fake children, for the tests of t/master.

run(globals()) runs every test_NAME of a script, each in a Site of its own and
some beside each other, and prints TAP; names on the command line choose."""

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = os.path.abspath(os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__), "../..")))
BUILD = os.path.abspath(os.environ.get("top_builddir", SOURCE))
MASTER = os.path.join(BUILD, "listrunner-master")
TOOL = os.path.join(BUILD, "listrunner")
PYTHON = os.path.realpath(os.environ.get("PYTHON") or sys.executable)
BUILT_IN = ("lmtp", "in", "pipeline", "virgin", "out", "bounces", "archive", "defragment", "command", "digest", "nntp",
            "task", "rest")
AT_ONCE = 3  # tests
PATIENCE = 60.0  # seconds until a thing that must happen is called missing
TEST_LIMIT = 300  # seconds; a wait without a limit of its own must not keep the whole check


def until(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"in {patience} s there was no {what}")
        time.sleep(0.02)


HELD = []  # sockets


def free_port():
    """A socket stays bound to it, so that nobody else gets it until the master listens there."""
    HELD.append(socket.socket())
    HELD[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    HELD[-1].bind(("127.0.0.1", 0))
    return HELD[-1].getsockname()[1]


class Site:
    """A spool, a configuration and at most one running master."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="master-t-")
        self.process = None
        self.extra = {}
        self.master = {"stop_timeout": "5s", "restart_delay_min": "100ms", "restart_delay_max": "400ms",
                       "heartbeat_interval": "200ms"}
        self.runners = {"in": {"instances": 1}}
        self.journal_path = self.path("journal")
        for name in ("spool", "db"):
            os.mkdir(self.path(name))
        self.command = self.path("child")
        with open(os.path.join(SOURCE, "t/master/fake_child.py")) as child, open(self.command, "w") as file:
            file.write(f"#!{PYTHON}\n{child.read()}")  # no wrapper between the master and the child
        os.chmod(self.command, 0o755)
        open(self.journal_path, "w").close()
        self.modes({})
        self.configure()

    def path(self, name):
        return os.path.join(self.top, name)

    def modes(self, modes):
        with open(self.path("modes.new"), "w") as file:
            for runner, words in modes.items():
                file.write(f"{runner} {words}\n")
        os.rename(self.path("modes.new"), self.path("modes"))

    def configure(self, more=""):
        import pwd
        text = f"[site]\nuser = {pwd.getpwuid(os.geteuid()).pw_name}\n" + self.extra.get("site", "")
        text += f"[spool]\ndirectory = {self.path('spool')}\n" + self.extra.get("spool", "")
        text += f"[store]\npath = {self.path('db')}/x.db\n"
        text += f"[master]\nruntime_directory = {self.path('run')}\nlog_file = {self.path('logs/listrunner.log')}\n"
        text += "".join(f"{key} = {value}\n" for key, value in self.master.items())
        for name in list(BUILT_IN) + [name for name in self.runners if name not in BUILT_IN]:
            text += f"[runner.{name}]\n"
            if name in self.runners:
                keys = {"command": self.command, **self.runners[name]}
                text += "".join(f"{key} = {value}\n" for key, value in keys.items())
            else:
                text += "start = no\n"
        with open(self.path("l.conf"), "w") as file:
            file.write(text + more)

    def environment(self, **more):
        keep = {key: value for key, value in os.environ.items() if key not in ("NOTIFY_SOCKET", "WATCHDOG_USEC")}
        keep["LISTRUNNER_ALLOW_ROOT"] = "yes"  # whoever runs the tests
        return {**keep, "LISTRUNNER_TEST_MODES": self.path("modes"), "LISTRUNNER_TEST_JOURNAL": self.journal_path,
                **more}

    def start(self, wait=True, **environment):
        self.log = open(self.path("log"), "a")
        self.process = subprocess.Popen([MASTER, "-c", self.path("l.conf")], stderr=self.log,
                                        env=self.environment(**environment))
        if wait:
            until(lambda: self.said("running, pid=%d" % self.process.pid) or self.process.poll() is not None,
                  "running master")
            assert self.process.poll() is None, "the master ended: " + self.text()
        return self.process

    def text(self):
        with open(self.path("log")) as file:
            return file.read()

    def said(self, words):
        return words in self.text()

    def wait(self):
        return self.process.wait(PATIENCE)

    def stop(self):
        self.process.terminate()
        return self.wait()

    def ask(self, at="control", **request):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(self.path(f"run/{at}.sock"))
            client.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(client.makefile().readline())

    def children(self, runner="in"):
        for group in self.ask(verb="status")["runners"]:
            if group["runner"] == runner:
                return group["children"]
        return []

    def all_ready(self, runner, count):
        children = self.children(runner)
        return len(children) == count and all(child["state"] == "ready" for child in children) and children

    def renewed(self, runner, old):
        """All ready, and none of them the process that was."""
        children = self.children(runner)
        return children and all(c["state"] == "ready" and c["pid"] != old for c in children) and children

    def journal(self, runner=None, event=None):
        rows = []
        with open(self.journal_path) as file:
            for line in file:
                moment, name, instance, instances, pid, what = line.rstrip("\n").split(" ", 5)
                if (runner is None or name == runner) and (event is None or what.split()[0] == event):
                    rows.append((float(moment), name, int(instance), int(instances), int(pid), what))
        return rows

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for row in self.journal(event="start"):  # whatever a failed test left alive
            with contextlib.suppress(OSError):
                with open(f"/proc/{row[4]}/environ", "rb") as file:
                    if self.top.encode() in file.read():
                        os.kill(row[4], signal.SIGKILL)
        shutil.rmtree(self.top, ignore_errors=True)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def owned(rows):
    """(start, end, first, last of 256, pid) for each process of a journal."""
    spans = {}
    for moment, _, instance, instances, pid, what in rows:
        width = 256 // instances
        span = spans.setdefault(pid, [moment, None, instance * width, (instance + 1) * width, pid])
        if what.startswith("end") or what == "killed":
            span[1] = moment
    return list(spans.values())


def check_single_owner(rows):
    spans = owned(rows)
    for i, one in enumerate(spans):
        for other in spans[i + 1:]:
            if one[2] < other[3] and other[2] < one[3]:
                first, second = sorted((one, other))
                assert first[1] is not None and first[1] <= second[0], f"two owners: {first} {second}"


def rescale_by_reload(site, count):
    site.runners["in"]["instances"] = count
    site.configure()
    assert site.ask(verb="reload")["ok"]
    until(lambda: site.all_ready("in", count), f"{count} instances")


def kill_master(site):
    site.process.kill()
    site.process.wait()


class Skip(Exception):
    pass


def too_long(signum, frame):
    raise TimeoutError(f"the test took longer than {TEST_LIMIT} s")


TESTS = []  # (name, function), set before the processes that run them are forked


def run_one(index):
    """The words before the number, those behind the name, and the lines of the report."""
    site = Site()
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_LIMIT)
    try:
        TESTS[index][1](site)
        if site.process and site.process.poll() is None:
            assert site.stop() == 0, "exit code at the end"
        if os.path.exists(site.path("log")):
            for words in ("Sanitizer", "runtime error", "panic:", "cannot be; nothing changes"):
                assert not site.said(words), site.text()
        return "ok", "", []
    except Skip as reason:
        return "ok", f" # SKIP {reason}", []
    except Exception:
        log = site.text() if os.path.exists(site.path("log")) else ""
        return "not ok", "", (traceback.format_exc() + log).splitlines()
    finally:
        signal.alarm(0)
        site.close()


def run(functions):
    """AT_ONCE tests run at a time, because they wait for processes more than they compute."""
    TESTS[:] = [(name[5:], function) for name, function in functions.items() if name.startswith("test_")]
    if len(sys.argv) > 1:
        TESTS[:] = [test for test in TESTS if test[0] in sys.argv[1:]]
    print(f"1..{len(TESTS)}", flush=True)
    failed = 0
    with multiprocessing.get_context("fork").Pool(AT_ONCE) as pool:
        for index, (word, more, lines) in enumerate(pool.imap(run_one, range(len(TESTS)))):
            failed += word != "ok"
            print(f"{word} {index + 1} - {TESTS[index][0]}{more}")
            for line in lines:
                print("# " + line)
            sys.stdout.flush()
        pool.close()
        pool.join()
    sys.exit(1 if failed else 0)
