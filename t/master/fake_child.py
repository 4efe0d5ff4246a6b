#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A child that speaks base/contract.h, for master.t.

What it does is read from the file named by LISTRUNNER_TEST_MODES: lines
"RUNNER WORD...", looked up anew at every start. It appends one line for
everything that happens to LISTRUNNER_TEST_JOURNAL, with a monotonic time, so
that the test can put the events of all children in order.
"""
import os
import signal
import time

RUNNER = os.environ["LISTRUNNER_RUNNER"]
INSTANCE = os.environ["LISTRUNNER_INSTANCE"]
INSTANCES = os.environ["LISTRUNNER_INSTANCES"]
JOURNAL = os.environ["LISTRUNNER_TEST_JOURNAL"]
stopping = False
linger = 0.0


def note(event):
    line = f"{time.monotonic():.6f} {RUNNER} {INSTANCE} {INSTANCES} {os.getpid()} {event}\n"
    fd = os.open(JOURNAL, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, line.encode())
    os.close(fd)


def words():
    with open(os.environ["LISTRUNNER_TEST_MODES"]) as file:
        for line in file:
            if line.split()[:1] == [RUNNER]:
                return line.split()[1:]
    return []


def say(text):
    data = text if isinstance(text, bytes) else text.encode()
    try:
        os.write(3, data)
    except BrokenPipeError:
        leave("orphaned")


def beat(progress, backlog=0, holding="-", oldest="0"):
    say(f"beat progress={progress} done={progress} backlog={backlog} oldest={oldest} holding={holding}\n")


def leave(why, code=0):
    if linger:
        time.sleep(linger)
    note(f"end {why}")
    os._exit(code)


def on_term(number, frame):
    global stopping
    note("term")
    stopping = True


def on_hup(number, frame):
    note("hup")


def main():
    global linger
    modes = words()
    options = dict(word.split("=", 1) for word in modes if "=" in word)
    linger = float(options.get("linger", 0))
    signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in modes else on_term)
    signal.signal(signal.SIGHUP, on_hup)
    note("start")
    if "environment" in modes:
        for name in sorted(os.environ):
            note(f"env {name}")
        note(f"outside {os.environ['LISTRUNNER_OUTSIDE']}")
        note("fds " + ",".join(sorted(os.listdir("/proc/self/fd"), key=int)))
        note("stdin " + os.readlink("/proc/self/fd/0"))
    if "config" in modes:
        say("fault key x is wrong\n")
        leave("config", 78)
    if "die" in modes:
        leave("die", int(options.get("code", 70)))
    if "mute" not in modes:
        time.sleep(float(options.get("startup", 0)))
        say("ready\n")
        note("ready")
    if "garbage" in modes:
        say(b"\x00\xff\xfe nonsense\nbeat progress=-1\n" + b"x" * 3000 + b"\nbeat progress=7 done=7 back")
        time.sleep(0.05)
        say(b"log=0 oldest=12.000345 holding=-\n")
        while not stopping:
            time.sleep(0.05)
        leave("asked")
    if "hang" in modes:
        beat(1, 3, options.get("holding", "1700000000.000001+" + "ab" * 20))
        while True:
            time.sleep(60)
    if "crash" in modes:  # at work
        done = int(options.get("done", 1))
        say(f"beat progress=1 done={done} backlog=3 oldest=0 holding=x charged=1\n")
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGSEGV)
    if "kill" in modes:  # as the kernel does when memory runs out
        say(f"beat progress=1 done=1 backlog=3 oldest=0 holding={options.get('holding', 'x')} charged=1\n")
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
    if "leak" in modes:  # ignores the broken pipe: an orphan that only a signal ends
        while not stopping:
            time.sleep(0.05)
        leave("asked")
    progress = 0
    while not stopping:
        progress += 1
        if "stuck" in modes:
            beat(1, 5, "stuck-entry")
        elif "late" in words():  # much waits
            beat(progress, 1000, oldest=f"{time.time() - 60:.6f}")
        else:
            beat(progress)
        time.sleep(0.1)
    leave("asked")


main()
