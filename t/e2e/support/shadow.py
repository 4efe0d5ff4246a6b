# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner shadow of an instance that is not started, as a process on a port of its own, with a clock that tests
move."""
import json
import os
import smtplib
import subprocess

from support.clock import Clock
from support.instance import prefix, wait_until
from support.ports import free_port

HOUR = 3600


class Shadow:
    def __init__(self, instance, *options):
        self.instance, self.options = instance, options
        self.port = free_port()
        self.clock = Clock(instance.directory / "clock")
        self.state = instance.directory / "spool" / ".shadow"
        self.report = self.state / "report"
        self.output = open(instance.directory / "shadow-output", "ab")
        self.process = None

    def start(self):
        command = [prefix() / "bin" / "listrunner", "--config", self.instance.config, "shadow", "--lmtp",
                   f"127.0.0.1:{self.port}", *map(str, self.options)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output,
                                        env={**os.environ, "LISTRUNNER_CLOCK_FILE": str(self.clock.path)})
        wait_until(self.answers, 30, self.said)
        return self

    def said(self):
        return (self.instance.directory / "shadow-output").read_text()

    def answers(self):
        assert self.process.poll() is None, self.said()
        try:
            with self.client():
                return True
        except OSError:
            return False

    def client(self):
        return smtplib.LMTP("127.0.0.1", self.port, timeout=60)

    def send(self, octets, recipients, sender):
        """One copy by the MTA; smtplib reads but the first of the replies, of which LMTP has one a recipient."""
        with self.client() as client:
            client.ehlo()
            replies = [client.mail(sender, ["BODY=8BITMIME"]), *(client.rcpt(recipient) for recipient in recipients),
                       client.data(octets), *(client.getreply() for _ in recipients[1:])]
        return [code for code, _ in replies]

    def stop(self):
        """The exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def lines(self):
        return [json.loads(line) for line in self.report.read_text().splitlines()] if self.report.exists() else []

    def waiting(self):
        """How many posts wait for their time."""
        keys = {path.name[:40] for path in self.state.glob("*.*") if path.suffix in (".post", ".copy", ".seen")}
        return len(keys)

    def pass_hour(self):
        """Let an hour and more pass; returns the lines that came into the report by it."""
        before = len(self.lines())
        self.clock.seconds(self.clock.offset + HOUR + 10)
        wait_until(lambda: self.waiting() == 0, 120, lambda: f"all to be reported: {self.said()}")
        return self.lines()[before:]

    def summary(self, *words):
        return self.instance.run("shadow", "--summary", self.report, *words)

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.output.close()
