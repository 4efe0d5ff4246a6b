# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""SMTP servers that bear only so much: one for each kind of refusal that mail hosts are known for."""
import asyncio
import logging
import random
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field


logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # clients that hang up are no news


@dataclass
class Limits:
    """Says what a server refuses; times in seconds, all of them divided by scale. 0 or None: no such limit."""
    scale: float = 1
    rate: float = 0             # recipients a second, saved up to burst
    burst: float = 1
    window: int = 0             # recipients in each minute by the clock
    transaction: int = 0        # recipients of a transaction
    transaction_style: str = "452"  # or 552, or close, or bare: 452 without a word of it
    errors: int = 0             # unknown recipients in a session
    connections: int = 0        # at a time
    connections_at: str = "connect"  # or mail, or rcpt
    grey: float = 0             # how long a recipient waits
    closed: tuple = ()          # (from, to) after the first connection
    closed_at: str = "mail"     # or connect
    closed_with: str = "421 4.7.28 unusual rate of mail, try again later"
    tarpit: float = 0           # seconds for each octet of an answer
    drop: bool = False          # closes after the data, which it keeps
    cut: float = 0              # chance that it closes after the data, which it does not keep
    cut_octets: int = 0         # closes when it has read so much of a message
    chance: float = 0           # that a recipient is told to come again
    delay: float = 0            # before each answer
    odd: dict = field(default_factory=dict)  # local part: the answer to its RCPT
    unknown: str = "dead"       # local parts that begin so are unknown
    refuse: object = None       # (stage, sender, recipient; at the end: the message) -> a reply, or None
    offers: tuple = ("PIPELINING", "8BITMIME", "SIZE")
    no_bdat: bool = False       # CHUNKING is offered and BDAT refused
    drops_pipelined: bool = False  # only the first command of what came together is answered


def is_established(connection):
    """Whether its client has not closed it, by the kernel's word (TCP_INFO begins with the state; 1 is ESTABLISHED)."""
    try:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == b"\x01"
    except OSError:  # closed here, too
        return False


class LimitedServer:
    """Serves until close(). What became of recipients: lists of (time, address), times from the first connection."""

    def __init__(self, limits, host="127.0.0.1", port=0):
        self.limits, self.host = limits, host
        self.taken, self.refused, self.copies, self.most_connections = [], [], {}, 0
        self.first, self.tokens, self.filled, self.minute, self.left = None, limits.burst, None, None, 0
        self.sessions, self.seen, self.open = 0, {}, set()
        self.asked, self.mails = Counter(), []  # (stage, sender domain, refused) -> times; (sender, recipient, octets)
        self.loop, self.random = asyncio.new_event_loop(), random.Random(16)
        started = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(port, started), daemon=True)
        self.thread.start()
        started.wait(60)

    def _run(self, port, started):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._serve, self.host, port, backlog=500))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()
        server.close()
        conversations = asyncio.all_tasks(self.loop)
        for conversation in conversations:
            conversation.cancel()
        self.loop.run_until_complete(asyncio.gather(*conversations, return_exceptions=True))
        self.loop.close()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

    def hang_up(self):
        """Close the connections that are open; their clients see it once they are used."""
        def shut():
            for connection in list(self.open):
                connection.shutdown(socket.SHUT_RDWR)
        self.loop.call_soon_threadsafe(shut)

    # ---- time and limits ----

    def now(self):
        """Seconds of the model's time since the first connection."""
        return 0 if self.first is None else (time.monotonic() - self.first) * self.limits.scale

    def shut(self, stage):
        limits = self.limits
        return limits.closed and limits.closed_at == stage and limits.closed[0] <= self.now() < limits.closed[1]

    def too_many(self, stage):
        limits = self.limits
        return limits.connections and limits.connections_at == stage and self.sessions > limits.connections

    def may_take(self):
        """Takes a token, if there is one."""
        limits, now = self.limits, self.now()
        if limits.window:
            if self.minute != now // 60:
                self.minute, self.left = now // 60, limits.window
            self.left -= 1
            return self.left >= 0
        if limits.rate:
            self.tokens = min(self.tokens + (now - (self.filled or 0)) * limits.rate, limits.burst)
            self.filled = now
            if self.tokens < 1:
                return False
            self.tokens -= 1
        return True

    def greyed(self, address):
        first = self.seen.setdefault(address, self.now())
        return self.limits.grey and self.now() - first < self.limits.grey

    # ---- the conversation ----

    async def _serve(self, reader, writer):
        self.sessions += 1
        if self.first is None:
            self.first = time.monotonic()
        connection = writer.get_extra_info("socket")
        self.open.add(connection)
        # One that the client has closed may not have been seen to end yet.
        self.most_connections = max(self.most_connections, sum(map(is_established, self.open)))
        try:
            await Conversation(self, reader, writer).run()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self.sessions -= 1
            self.open.discard(connection)
            writer.close()


class Conversation:
    def __init__(self, server, reader, writer):
        self.server, self.limits, self.reader, self.writer = server, server.limits, reader, writer
        self.errors, self.recipients, self.sender, self.text = 0, [], "", b""

    async def say(self, text):
        limits = self.limits
        if limits.delay:
            await asyncio.sleep(limits.delay / limits.scale)
        if limits.tarpit:
            for octet in f"{text}\r\n".encode():
                await asyncio.sleep(limits.tarpit / limits.scale)
                self.writer.write(bytes([octet]))
        else:
            self.writer.write(f"{text}\r\n".encode())

    def refused(self, stage, recipient=None):
        """The reply of limits.refuse; None: it is not refused."""
        reply = self.limits.refuse(stage, self.sender, recipient) if self.limits.refuse else None
        self.server.asked[(stage, (self.sender or "").partition("@")[2], bool(reply))] += 1
        return reply

    async def run(self):
        server = self.server
        if reply := self.refused("connect"):
            return await self.say(reply)
        if server.shut("connect"):
            return await self.say(self.limits.closed_with)
        if server.too_many("connect"):
            return await self.say("421 4.7.0 too many connections from your host")
        await self.say("220 limited.example ESMTP")
        while line := await self.reader.readline():
            if not await self.command(line.decode("utf-8", "replace").strip()):
                return None
            if self.limits.drops_pipelined:
                while self.reader._buffer:  # all that came with it
                    await self.reader.read(65536)
        return None

    async def command(self, line):
        """False: the connection is over."""
        verb, _, words = line.partition(" ")
        method = getattr(self, "on_" + verb.lower(), None)
        if method is None:
            await self.say("500 5.5.2 what?")
            return True
        return await method(words) is not False

    async def on_ehlo(self, _):
        lines = ["limited.example", *self.limits.offers, *(["CHUNKING"] if self.limits.no_bdat else [])]
        for line in lines[:-1]:
            self.writer.write(f"250-{line}\r\n".encode())
        await self.say(f"250 {lines[-1]}")

    async def on_helo(self, _):
        await self.say("250 limited.example")

    async def on_mail(self, words):
        self.recipients, self.sender = [], words.partition("<")[2].partition(">")[0]
        server = self.server
        if reply := self.refused("mail"):
            self.sender = None
            return await self.say(reply)
        if server.shut("mail"):
            await self.say(self.limits.closed_with)
            return not self.limits.closed_with.startswith("421")
        if server.too_many("mail"):
            await self.say("450 4.7.1 too many connections")
            return True
        await self.say("250 2.1.0 ok")
        return True

    async def on_rcpt(self, words):
        server, limits = self.server, self.limits
        address = words.partition("<")[2].partition(">")[0]
        local = address.partition("@")[0]
        if self.sender is None:
            return await self.say("503 5.5.1 MAIL first")
        if reply := self.refused("rcpt", address):
            return await self.say(reply)
        if limits.errors and self.errors >= limits.errors:
            await self.say("421 4.7.0 limited.example Error: too many errors")
            return False
        if local.startswith(limits.unknown):
            self.errors += 1
            await self.say("550 5.1.1 no such user")
        elif local in limits.odd:
            await self.say(limits.odd[local])
        elif limits.transaction and len(self.recipients) >= limits.transaction:
            if limits.transaction_style == "close":
                return False
            await self.say({"552": "552 5.5.3 too many recipients", "bare": "452 try later"}.get(
                limits.transaction_style, "452 4.5.3 too many recipients"))
        elif server.too_many("rcpt"):
            await self.say("450 4.7.1 too many connections")
        elif server.greyed(address):
            await self.say("450 4.2.0 greylisted, come back later")
        elif limits.chance and server.random.random() < limits.chance:
            await self.say("451 4.1.8 not now")
        elif not server.may_take():
            server.refused.append((server.now(), address))
            await self.say("450 4.7.1 too fast, slow down")
        else:
            self.recipients.append(address)
            await self.say("250 2.1.5 ok")
        return True

    async def keep(self):
        server = self.server
        if server.random.random() < self.limits.cut:
            return False
        if self.recipients and (reply := self.refused("end", self.text)):
            self.recipients = []
            return await self.say(reply)
        for address in self.recipients:
            server.taken.append((server.now(), address))
            server.copies[address] = server.copies.get(address, 0) + 1
            server.mails.append((self.sender, address, self.text))
        taken, self.recipients = self.recipients, []
        if self.limits.drop:
            return False
        await self.say("250 2.0.0 taken" if taken else "554 5.5.1 for nobody")
        return True

    async def on_data(self, _):
        if not self.recipients:
            return await self.say("554 5.5.1 for nobody")
        if reply := self.refused("data"):
            return await self.say(reply)
        await self.say("354 go on")
        size, self.text = 0, b""
        while (line := await self.reader.readline()) != b".\r\n":
            size += len(line)
            self.text += line
            if not line or 0 < self.limits.cut_octets <= size:
                return False
        return await self.keep()

    async def on_bdat(self, words):
        size = int(words.split()[0])
        await self.reader.readexactly(size)
        if self.limits.no_bdat:
            return await self.say("503 5.5.1 BDAT? never heard of it")
        return await self.keep()

    async def on_rset(self, _):
        self.recipients = []
        await self.say("250 2.0.0 ok")

    async def on_noop(self, _):
        await self.say("250 2.0.0 ok")

    async def on_quit(self, _):
        await self.say("221 2.0.0 bye")
        return False
