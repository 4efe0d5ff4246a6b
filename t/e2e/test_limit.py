# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A test that waits for ever fails, whatever it waits for, and those after it run."""
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
WAITS = """
import queue, socket, subprocess, threading, time, pytest
SLEEP = ["/bin/sleep", "1000"]

@pytest.fixture
def process():
    one = subprocess.Popen(SLEEP)
    yield one
    one.wait()

@pytest.fixture
def slow():
    time.sleep(1000)

def test_process():
    subprocess.run(SLEEP)

def test_thread():
    thread = threading.Thread(target=time.sleep, args=(1000,), daemon=True)
    thread.start()
    thread.join()

def test_queue():
    queue.Queue().get()

def test_socket():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.accept()

def test_loop():
    while True:
        try:
            time.sleep(0.1)
            raise OSError
        except Exception:
            pass

def test_setup(slow):
    pass

def test_teardown(process):
    pass

def test_both(process):
    process.wait()
"""
GOOD = """
def test_good():
    pass
"""
DEAF = """
import signal, time

def test_deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(1000)
"""


def run(tmp_path, tests, *words):
    (tmp_path / "test_waits.py").write_text(tests)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "conftest", "-q",
                           "-c", "/dev/null", "--tb=line", "--limit=1", *words, "test_waits.py"], cwd=tmp_path,
                          timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "PYTHONPATH": str(HERE)})
    return done.stdout


def test_every_wait_ends(tmp_path):
    said = run(tmp_path, WAITS + GOOD)
    assert re.search(r"\b6 failed, 2 passed, 3 errors\b", said), said
    assert said.count("took longer than 1 s") >= 9, said


def test_what_no_signal_ends(tmp_path):
    """A call that goes on after signals ends the process, and another one runs the tests that are left."""
    said = run(tmp_path, DEAF + GOOD, "-n", "1")
    assert re.search(r"\b1 failed, 1 passed\b", said) and "test_deaf" in said, said
