# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""smtp-sink, our SMTP server for tests (t/tools/smtp-sink.c)."""
import email
import email.policy
import json
import os
import signal
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from support.ports import free_port
from support.wire import message_id


class Transaction:
    def __init__(self, envelope, octets):
        self.envelope, self.octets = envelope, octets
        self.to, self.sender = envelope["to"], envelope["from"]
        self.result, self.time = envelope["result"], envelope["time"] / 1e6

    @property
    def message_id(self):
        return message_id(self.octets)


class Sink:
    """A running sink. store: keeps whole messages; else only the log of envelopes. port 0: one that stays free while
    the sink is stopped."""

    def __init__(self, program, directory=None, store=True, port=0, faults=(), options=(), host="127.0.0.1",
                 log=None):
        self.directory = Path(directory or tempfile.mkdtemp(prefix="sink-"))
        self.directory.mkdir(parents=True, exist_ok=True)
        self.store, self.log = self.directory / "store", Path(log or self.directory / "log")
        command = [str(program), "--listen", f"{host}:{port or free_port()}", "--log", str(self.log),
                   "--stats", str(self.directory / "stats"), *options]
        if store:
            command += ["--store", str(self.store)]
        for fault in faults:
            command += ["--fault", fault]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.strip().isdigit(), f"smtp-sink did not start: {' '.join(command)}"
        self.port = int(line)
        self._read = {}

    def transactions(self):
        """All messages kept so far, in order."""
        for path in sorted(self.store.glob("*.mail")):
            if path.name not in self._read:
                head, _, octets = path.read_bytes().partition(b"\n")
                self._read[path.name] = Transaction(json.loads(head), octets)
        return [self._read[name] for name in sorted(self._read)]

    def purge(self):
        """Forgets what was kept so far."""
        for path in self.store.glob("*.mail"):
            path.unlink()
        self._read = {}

    def take_mail(self):
        """Return what was kept so far, which is forgotten then, as {recipient: [message]}."""
        found = {}
        for transaction in self.transactions():
            message = email.message_from_bytes(transaction.octets, policy=email.policy.default)
            for address in transaction.to:
                found.setdefault(address, []).append(message)
        for name in self._read:  # and no other, which came meanwhile
            (self.store / name).unlink()
        self._read = {}
        return found

    def envelopes(self):
        """The log: what was received, whether it was kept or not."""
        if not self.log.exists():
            return []
        lines = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def recipients(self):
        """Recipients accepted so far."""
        return sum(len(e["to"]) for e in self.envelopes() if e["result"] != "refused")

    def copies(self):
        """How often each (message id, recipient) arrived."""
        return Counter((t.message_id, to) for t in self.transactions() if t.result != "refused" for to in t.to)

    def stats(self):
        os.kill(self.process.pid, signal.SIGUSR1)
        self.stop()
        return json.loads((self.directory / "stats").read_text())

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()

    close = stop
