# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A server that bears a rate and no more."""
import socketserver
import threading
import time

from .serving import Serving


class SlowServer(Serving):
    """An SMTP server that takes `rate` recipients a second, saved up to `burst`, and refuses the rest as too fast."""

    def __init__(self, rate, burst):
        super().__init__(Session)
        self.rate, self.burst, self.tokens, self.filled = rate, burst, burst, time.monotonic()
        self.lock, self.taken, self.refused = threading.Lock(), [], []

    def take(self):
        with self.lock:
            now = time.monotonic()
            self.tokens = min(self.tokens + (now - self.filled) * self.rate, self.burst)
            self.filled = now
            good = self.tokens >= 1
            self.tokens -= good
            (self.taken if good else self.refused).append(now)
            return good


class Session(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        self.say("220 slow.example.org")
        for line in self.rfile:
            verb = line.split(b" ")[0].strip().upper()
            if verb == b"RCPT":
                self.say("250 2.1.5 ok" if self.server.take() else "450 4.7.1 too fast, try again more slowly")
            elif verb == b"DATA":
                self.say("354 go on")
                while self.rfile.readline() not in (b".\r\n", b""):
                    pass
                self.say("250 2.0.0 ok")
            elif verb == b"QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 ok")
